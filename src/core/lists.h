/* Lists of results as the public header shows them: arrays of pointers, so that a caller compiled
 * with an older header still finds the elements after they have grown. */
#ifndef KITH_CORE_LISTS_H
#define KITH_CORE_LISTS_H

#include <stddef.h>

/* `count` pointers to zeroed elements of `size` bytes, which are contiguous in memory. Pointers and
 * elements are one block, freed by kith__list_free; NULL if out of memory. */
void *kith__list_new(size_t count, size_t size);
/* Like kith__list_new, with a copy of an array's elements. */
void *kith__list_of(const void *elements, size_t count, size_t size);
void kith__list_free(const void *list);

#endif
