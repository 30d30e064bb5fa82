/* Structs that the caller fills and whose first member is their size, as the caller knows them. */
#ifndef KITH_CORE_OPTIONS_H
#define KITH_CORE_OPTIONS_H

#include "core/status.h"

/* Copy what the caller gave over the defaults that `own`, of `known` bytes, holds. `given` may
 * be NULL; a size of 0 stands for `first`, the size of the first version that had one. What a
 * newer caller has beyond what is known here must be zero. */
kith_status kith__options_copy(void *own, size_t known, size_t first, const void *given,
                               kith_error *error);
/* Defaults to the caller's struct, of which it knows `size` bytes. */
void kith__options_give(void *options, size_t size, const void *defaults, size_t known);

#endif
