#include "core/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include "core/cores.h"
#include "core/mem.h"

struct kith__pool {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    pthread_t *threads;
    unsigned helpers;     /* threads other than the caller's */
    bool more_than_cores; /* there are more threads than cores */
    atomic_bool crowded;  /* other processes need the cores too */
    pthread_t measured;   /* the thread that the counts below belong to */
    uint64_t next_check, interrupted, worked;
    atomic_ulong round;
    atomic_uint working;
    atomic_bool stopping;
    void (*work)(void *, size_t);
    void *context;
    size_t pieces;
    kith__watch *watch;
    atomic_size_t next;
};

static void take_pieces(kith__pool *pool)
{
    size_t piece;
    while ((piece = atomic_fetch_add(&pool->next, 1)) < pool->pieces)
        pool->work(pool->context, piece);
}

/* ---- spinning ---- */

/* Steps follow each other within microseconds, and waking a thread takes longer than that, so a
 * waiting thread spins for a moment before it sleeps. Spinning takes time from other threads that
 * need the core, so threads stop spinning when the cores are crowded: when the scheduler has
 * interrupted the calling thread more than once per BUSY microseconds of its CPU time. */
enum {
    SPIN = 200 * 1000,              /* nanoseconds */
    SPINS_PER_CHECK = 16,              /* pauses between two readings of the clock */
    CHECK_EVERY = 50 * 1000 * 1000, /* nanoseconds between two calls of getrusage */
    BUSY = 20 * 1000                /* microseconds of the thread's CPU time */
};

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t microseconds(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_usec;
}

/* Find out, every CHECK_EVERY nanoseconds, whether other threads compete for the cores. */
static void check_crowding(kith__pool *pool)
{
    uint64_t time = now();
    struct rusage used;

    if (time < pool->next_check || getrusage(RUSAGE_THREAD, &used) != 0)
        return;
    pool->next_check = time + CHECK_EVERY;
    uint64_t worked = microseconds(used.ru_utime) + microseconds(used.ru_stime);
    uint64_t interrupted = (uint64_t)used.ru_nivcsw;
    bool same = pthread_equal(pool->measured, pthread_self());
    bool crowded = same && (interrupted - pool->interrupted) * BUSY > worked - pool->worked;
    pool->measured = pthread_self();
    pool->interrupted = interrupted;
    pool->worked = worked;
    atomic_store_explicit(&pool->crowded, crowded, memory_order_relaxed);
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool may_spin(const kith__pool *pool)
{
    return !pool->more_than_cores && !atomic_load_explicit(&pool->crowded, memory_order_relaxed);
}

/* Spin for at most SPIN nanoseconds; returns whether the awaited event occurred. */
static bool spin(kith__pool *pool, bool (*came)(kith__pool *, unsigned long), unsigned long done)
{
    uint64_t end = 0;

    if (came(pool, done))
        return true;
    while (may_spin(pool)) {
        for (int i = 0; i < SPINS_PER_CHECK; i++) {
            pause_briefly();
            if (came(pool, done))
                return true;
        }
        uint64_t time = now();
        if (end == 0)
            end = time + SPIN;
        else if (time >= end)
            break;
    }
    return false;
}

static bool work_came(kith__pool *pool, unsigned long done)
{
    return atomic_load(&pool->round) != done || atomic_load(&pool->stopping);
}

static bool end_came(kith__pool *pool, unsigned long done)
{
    (void)done;
    return atomic_load(&pool->working) == 0;
}

static void await_work(kith__pool *pool, unsigned long done)
{
    if (spin(pool, work_came, done))
        return;
    pthread_mutex_lock(&pool->lock);
    while (!work_came(pool, done))
        pthread_cond_wait(&pool->begin, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void await_end(kith__pool *pool)
{
    if (spin(pool, end_came, 0))
        return;
    pthread_mutex_lock(&pool->lock);
    while (!end_came(pool, 0))
        pthread_cond_wait(&pool->end, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- threads ---- */

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

unsigned kith__pool_wanted(unsigned threads)
{
    unsigned wanted = threads == 0 ? kith__cores() : threads;
    return wanted > KITH__MOST_THREADS ? KITH__MOST_THREADS : wanted;
}

kith__pool *kith__pool_new(unsigned threads)
{
    unsigned cores = threads == 1 ? 1 : kith__cores();

    threads = kith__pool_wanted(threads == 0 ? cores : threads);
    kith__pool *pool = kith__calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, NULL);
    pool->more_than_cores = threads > cores;
    pool->threads = kith__alloc(threads, sizeof *pool->threads);
    if (!pool->threads) {
        kith__pool_free(pool);
        return NULL;
    }
    /* If fewer threads than requested can be started, the work is still done. */
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

size_t kith__pool_pieces(const kith__pool *pool, size_t items, size_t least, size_t most)
{
    size_t pieces = kith__pool_size(pool), worth = items / least + 1;

    if (pieces > worth)
        pieces = worth;
    return pieces > most ? most : pieces;
}

void kith__pool_run(kith__pool *pool, void (*work)(void *, size_t), void *context, size_t pieces)
{
    pool->work = work;
    pool->context = context;
    pool->pieces = pieces;
    atomic_store(&pool->next, 0);
    if (pieces > 1 && pool->helpers > 0) {
        check_crowding(pool);
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

void kith__pool_set_watch(kith__pool *pool, kith__watch *watch)
{
    pool->watch = watch;
}

kith__watch *kith__pool_watch(const kith__pool *pool)
{
    return pool ? pool->watch : NULL;
}
