/* Arrays that are kept from batch to batch: they grow, and soon stop growing. */
#ifndef KITH_EMBED_FLOATS_H
#define KITH_EMBED_FLOATS_H

#include "core/mem.h"

typedef struct kith__floats {
    float *at;
    size_t capacity;
} kith__floats;

/* Make room for so many, whose values are then unknown; -1 where memory is short. */
static inline int kith__floats_reserve(kith__floats *floats, size_t need)
{
    return kith__renew(&floats->at, &floats->capacity, need, sizeof *floats->at);
}

#endif
