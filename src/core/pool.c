#include "core/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "core/mem.h"

struct kith__pool {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    pthread_t *threads;
    unsigned helpers; /* threads beside the caller's */
    int looks;        /* how often one that waits looks before it sleeps */
    atomic_ulong round;
    atomic_uint working;
    atomic_bool stopping;
    void (*work)(void *, size_t);
    void *context;
    size_t pieces;
    atomic_size_t next;
};

static void take_pieces(kith__pool *pool)
{
    size_t piece;
    while ((piece = atomic_fetch_add(&pool->next, 1)) < pool->pieces)
        pool->work(pool->context, piece);
}

/* Steps follow each other within microseconds, and waking a thread takes longer than that: who
 * waits looks for a moment, then sleeps. Where each has a core to itself the moment is about a
 * millisecond, which is more than what a batch's caller does alone between two steps. */
enum { LOOKS_ALONE = 1000, LOOKS_CROWDED = 100 };

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static bool has_work(kith__pool *pool, unsigned long done)
{
    return atomic_load(&pool->round) != done || atomic_load(&pool->stopping);
}

static void await_work(kith__pool *pool, unsigned long done)
{
    for (int look = 0; look < pool->looks; look++) {
        if (has_work(pool, done))
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->lock);
    while (!has_work(pool, done))
        pthread_cond_wait(&pool->begin, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void await_end(kith__pool *pool)
{
    for (int look = 0; look < pool->looks; look++) {
        if (atomic_load(&pool->working) == 0)
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->working) > 0)
        pthread_cond_wait(&pool->end, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void *help(void *argument)
{
    kith__pool *pool = argument;
    unsigned long done = 0;

    for (;;) {
        await_work(pool, done);
        if (atomic_load(&pool->stopping))
            break;
        done = atomic_load(&pool->round);
        take_pieces(pool);
        if (atomic_fetch_sub(&pool->working, 1) == 1) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->end);
            pthread_mutex_unlock(&pool->lock);
        }
    }
    return NULL;
}

kith__pool *kith__pool_new(unsigned threads)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (threads == 0)
        threads = cores < 1 ? 1 : (unsigned)cores;
    kith__pool *pool = kith__calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, NULL);
    pool->looks = (long)threads <= cores ? LOOKS_ALONE : LOOKS_CROWDED;
    pool->threads = kith__alloc(threads, sizeof *pool->threads);
    if (!pool->threads) {
        kith__pool_free(pool);
        return NULL;
    }
    /* A system that gives fewer threads than asked for still gets the work done. */
    while (pool->helpers + 1 < threads &&
           pthread_create(&pool->threads[pool->helpers], NULL, help, pool) == 0)
        pool->helpers++;
    return pool;
}

void kith__pool_free(kith__pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->stopping, true);
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->helpers; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->end);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->lock);
    kith__free(pool->threads);
    kith__free(pool);
}

unsigned kith__pool_size(const kith__pool *pool)
{
    return pool->helpers + 1;
}

void kith__pool_run(kith__pool *pool, void (*work)(void *, size_t), void *context, size_t pieces)
{
    pool->work = work;
    pool->context = context;
    pool->pieces = pieces;
    atomic_store(&pool->next, 0);
    if (pieces > 1 && pool->helpers > 0) {
        pthread_mutex_lock(&pool->lock);
        atomic_store(&pool->working, pool->helpers);
        atomic_fetch_add(&pool->round, 1);
        pthread_cond_broadcast(&pool->begin);
        pthread_mutex_unlock(&pool->lock);
    }
    take_pieces(pool);
    if (pieces > 1 && pool->helpers > 0)
        await_end(pool);
}
