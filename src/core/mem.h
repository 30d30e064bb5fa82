/* Allocation with overflow-checked sizes, in one place so that tests can make the n-th allocation
 * fail. */
#ifndef KITH_CORE_MEM_H
#define KITH_CORE_MEM_H

#include <stddef.h>

/* Memory for `count` items of `size` bytes, or NULL. A count of 0 gives a pointer that can be
 * freed. kith__calloc gives zeroed memory. */
void *kith__alloc(size_t count, size_t size);
void *kith__calloc(size_t count, size_t size);
/* Changes the size; returns NULL on failure, and `old` stays valid. */
void *kith__realloc(void *old, size_t count, size_t size);
void kith__free(void *memory);
char *kith__strdup(const char *text);

/* Zeroed memory that begins at a multiple of 64 bytes. */
void *kith__calloc_aligned(size_t count, size_t size);
/* Grow an array aligned to 64 bytes whose contents need not be kept; -1 if out of memory. */
int kith__renew(void *array_pointer, size_t *capacity, size_t need, size_t size);

/* Grow an array to at least `need` items, with some slack. Returns 0, or -1 if out of memory; the
 * array is then unchanged. */
int kith__reserve(void *array_pointer, size_t *capacity, size_t need, size_t size);
/* The same for an array that is still empty: exactly `need` items, no slack. */
int kith__reserve_exactly(void *array_pointer, size_t *capacity, size_t need, size_t size);

/* For tests: let the n-th allocation from now fail, once; 0 disables this. */
void kith__mem_fail_at(size_t n);
/* For tests: whether that allocation has failed since. */
int kith__mem_failed(void);
/* For tests: start or stop counting the bytes requested, and how many were counted. */
void kith__mem_count(int on);
size_t kith__mem_counted(void);

#endif
