/* Growing buffers with one owner, which releases them all at once. They are kept from batch to
 * batch, so they soon stop growing. */
#ifndef KITH_CORE_BUFFERS_H
#define KITH_CORE_BUFFERS_H

#include <stddef.h>

typedef struct kith__buffers {
    struct kith__buffer *first;
} kith__buffers;

/* Reserve space for `count` items of `size` bytes, aligned to 64 bytes, at *array_pointer, which is
 * NULL at first. A buffer that grows loses its contents; new buffers are zeroed. Returns -1 if out
 * of memory. Buffers of two owners may be swapped. */
int kith__buffer_reserve(kith__buffers *owner, void *array_pointer, size_t count, size_t size);
/* Like kith__buffer_reserve, but keeps the contents. */
int kith__buffer_extend(kith__buffers *owner, void *array_pointer, size_t count, size_t size);
/* Free all buffers; the pointers to them are not cleared. */
void kith__buffers_release(kith__buffers *owner);

/* For a member of a struct that owns its buffers as `buffers`. */
#define KITH__GROW(phase, member, count)                                                           \
    kith__buffer_reserve(&(phase)->buffers, &(phase)->member, count, sizeof *(phase)->member)
#define KITH__EXTEND(phase, member, count)                                                         \
    kith__buffer_extend(&(phase)->buffers, &(phase)->member, count, sizeof *(phase)->member)

#endif
