/* Options structs: the caller fills them, and their first member is the size of the struct as the
 * caller was compiled with it. */
#ifndef KITH_CORE_OPTIONS_H
#define KITH_CORE_OPTIONS_H

#include "core/status.h"

/* Copy the caller's options over the defaults in `own`, which has `known` bytes. `given` may be
 * NULL. A size of 0 stands for `first`, the size of the first version that had a size. Fields
 * beyond `known`, of a caller with a newer header, must be zero. */
kith_status kith__options_copy(void *own, size_t known, size_t first, const void *given,
                               kith_error *error);
/* Copy the defaults to the caller's struct, which has `size` bytes. */
void kith__options_give(void *options, size_t size, const void *defaults, size_t known);

#endif
