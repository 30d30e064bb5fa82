/* Allocation with overflow-checked products, in one place so that tests can make the n-th fail. */
#ifndef KITH_CORE_MEM_H
#define KITH_CORE_MEM_H

#include <stddef.h>

/* Room for `count` items of `size` bytes, or NULL. A count of 0 gives a pointer that can be freed.
 * kith__calloc gives zeroed room. */
void *kith__alloc(size_t count, size_t size);
void *kith__calloc(size_t count, size_t size);
/* Changes the size; on failure NULL, and `old` stays valid. */
void *kith__realloc(void *old, size_t count, size_t size);
void kith__free(void *memory);
char *kith__strdup(const char *text);

/* Zeroed memory that begins at a multiple of 64 bytes. */
void *kith__calloc_aligned(size_t count, size_t size);
/* A growing array that begins at a multiple of 64 bytes and need not keep what is in it; -1 where
 * memory is short. */
int kith__renew(void *array_pointer, size_t *capacity, size_t need, size_t size);

/* Make room for `need` items in a growing array. Returns 0, or -1 where memory is short (and the
 * array is as it was). */
int kith__reserve(void *array_pointer, size_t *capacity, size_t need, size_t size);
/* The same for an array that is still empty, and not a byte more. */
int kith__reserve_exactly(void *array_pointer, size_t *capacity, size_t need, size_t size);

/* For tests: the n-th allocation from now fails, once; 0 turns it off. */
void kith__mem_fail_at(size_t n);
/* For tests: whether the allocation that was to fail has come since. */
int kith__mem_failed(void);
/* For tests: count the bytes that are asked for from now on, or stop; and how many they were. */
void kith__mem_count(int on);
size_t kith__mem_counted(void);

#endif
