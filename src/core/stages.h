/* Progress and stopping of long work: one watch is passed down to everything that takes long. */
#ifndef KITH_CORE_STAGES_H
#define KITH_CORE_STAGES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/status.h"

/* Any number of threads may tick at once; the caller's function is called by one thread at a time,
 * about twenty times a second. All calls below accept a NULL watch and then do nothing. */
typedef struct kith__watch {
    kith_watch_call call; /* NULL: no progress is reported */
    void *context;
    pthread_mutex_t lock; /* held while `call` runs */
    const char *stage;
    _Atomic uint64_t done, total;
    uint64_t began;        /* when the stage began, in nanoseconds of the monotonic clock */
    _Atomic uint64_t next; /* when `call` is due again */
    atomic_bool stopped;
} kith__watch;

void kith__watch_init(kith__watch *watch, kith_watch_call call, void *context);
void kith__watch_release(kith__watch *watch);

/* Options that pass the watch (may be NULL) on to a call of the library. If that call is
 * stopped, it says so by its status alone. */
kith_work_options kith__watched_by(const kith__watch *watch, unsigned threads);

/* Begin a stage and report it at once. `name` must outlive the stage; `total` 0 means unknown. Do
 * not call this while other threads tick. KITH_ERR_STOPPED if the caller wants to stop. */
kith_status kith__watch_begin(kith__watch *watch, const char *name, uint64_t total,
                              kith_error *error);

/* Report how much of the stage is done: cheap enough to call every few microseconds. Nonzero once
 * the work must stop; it stays nonzero. */
int kith__watch_tick(kith__watch *watch, uint64_t done, uint64_t total);
/* For threads that each know only how much they have done since their last call. */
int kith__watch_add(kith__watch *watch, uint64_t more);

/* KITH_OK, or KITH_ERR_STOPPED with its message: what a function returns after a nonzero tick. */
kith_status kith__watch_status(const kith__watch *watch, kith_error *error);

#endif
