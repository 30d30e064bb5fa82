/* Arrays that are kept from batch to batch, so they soon stop growing. */
#ifndef KITH_EMBED_FLOATS_H
#define KITH_EMBED_FLOATS_H

#include "core/mem.h"

typedef struct kith__floats {
    float *at;
    size_t capacity;
} kith__floats;

/* Reserve this many floats, whose values are then undefined; -1 if out of memory. */
static inline int kith__floats_reserve(kith__floats *floats, size_t need)
{
    return kith__renew(&floats->at, &floats->capacity, need, sizeof *floats->at);
}

#endif
