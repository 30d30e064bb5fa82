/* Lists of results as the public header shows them: arrays of pointers, so that a caller who was compiled
 * with an older header finds its elements when they have grown. */
#ifndef KITH_CORE_LISTS_H
#define KITH_CORE_LISTS_H

#include <stddef.h>

/* `count` pointers to zeroed elements of `size` bytes, which follow each other in memory from the first one
 * on. Pointers and elements are one block, which kith__list_free frees; NULL where memory is short. */
void *kith__list_new(size_t count, size_t size);
/* The same with a copy of an array's elements. */
void *kith__list_of(const void *elements, size_t count, size_t size);
void kith__list_free(const void *list);

#endif
