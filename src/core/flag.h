/* A flag that threads set and that is never cleared: a piece of work has failed, which the caller
 * then reports. */
#ifndef KITH_CORE_FLAG_H
#define KITH_CORE_FLAG_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct {
    atomic_bool raised;
} kith__flag;

static inline void kith__flag_raise(kith__flag *flag)
{
    atomic_store_explicit(&flag->raised, true, memory_order_relaxed);
}

static inline bool kith__flag_raised(const kith__flag *flag)
{
    return atomic_load_explicit(&flag->raised, memory_order_relaxed);
}

#endif
