#include "core/stages.h"

#include <time.h>

enum { INTERVAL = 50 * 1000 * 1000 }; /* nanoseconds between two calls */

/* The coarse clock is read without a system call and is at most some milliseconds late. */
static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void kith__watch_init(kith__watch *watch, kith_watch_call call, void *context)
{
    *watch = (kith__watch){.call = call, .context = context, .stage = "", .began = now()};
    pthread_mutex_init(&watch->lock, NULL);
}

void kith__watch_release(kith__watch *watch)
{
    if (watch)
        pthread_mutex_destroy(&watch->lock);
}

kith_work_options kith__watched_by(const kith__watch *watch, unsigned threads)
{
    return (kith_work_options){.threads = threads,
                               .watch = watch ? watch->call : NULL,
                               .context = watch ? watch->context : NULL};
}

/* Called with the lock held. */
static void report(kith__watch *watch, uint64_t time)
{
    kith_stage stage = {.size = sizeof stage,
                        .name = watch->stage,
                        .done = atomic_load(&watch->done),
                        .total = atomic_load(&watch->total),
                        .seconds = (double)(time - watch->began) * 1e-9};

    atomic_store(&watch->next, time + INTERVAL);
    if (watch->call(watch->context, &stage) != 0)
        atomic_store(&watch->stopped, true);
}

static bool is_stopped(const kith__watch *watch)
{
    return atomic_load_explicit(&watch->stopped, memory_order_relaxed);
}

/* A thread that finds the lock taken leaves the report to the thread that holds it. */
static int report_if_due(kith__watch *watch)
{
    uint64_t time = now();

    if (time >= atomic_load_explicit(&watch->next, memory_order_relaxed) && !is_stopped(watch) &&
        pthread_mutex_trylock(&watch->lock) == 0) {
        if (time >= atomic_load(&watch->next) && !is_stopped(watch))
            report(watch, time);
        pthread_mutex_unlock(&watch->lock);
    }
    return is_stopped(watch);
}

kith_status kith__watch_begin(kith__watch *watch, const char *name, uint64_t total,
                              kith_error *error)
{
    if (!watch || !watch->call)
        return KITH_OK;
    pthread_mutex_lock(&watch->lock);
    watch->stage = name;
    watch->began = now();
    atomic_store(&watch->done, 0);
    atomic_store(&watch->total, total);
    if (!is_stopped(watch))
        report(watch, watch->began);
    pthread_mutex_unlock(&watch->lock);
    return kith__watch_status(watch, error);
}

int kith__watch_tick(kith__watch *watch, uint64_t done, uint64_t total)
{
    if (!watch || !watch->call)
        return 0;
    atomic_store_explicit(&watch->done, done, memory_order_relaxed);
    atomic_store_explicit(&watch->total, total, memory_order_relaxed);
    return report_if_due(watch);
}

int kith__watch_add(kith__watch *watch, uint64_t more)
{
    if (!watch || !watch->call)
        return 0;
    atomic_fetch_add_explicit(&watch->done, more, memory_order_relaxed);
    return report_if_due(watch);
}

kith_status kith__watch_status(const kith__watch *watch, kith_error *error)
{
    if (!watch || !is_stopped(watch))
        return KITH_OK;
    return kith__fail(error, KITH_ERR_STOPPED, "stopped while %s", watch->stage);
}
