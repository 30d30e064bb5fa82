#include "core/buffers.h"

#include <stdint.h>
#include <string.h>

#include "core/mem.h"

enum { HEADER = 64, LARGE = 1 << 22 };

/* The header before the items. */
struct kith__buffer {
    struct kith__buffer *next, **link; /* link: the pointer to this header */
    size_t bytes;                      /* size of the items */
};
_Static_assert(sizeof(struct kith__buffer) <= HEADER, "items begin at a multiple of 64 bytes");

static struct kith__buffer *header_of(void *items)
{
    return items ? (struct kith__buffer *)((char *)items - HEADER) : NULL;
}

static void drop(struct kith__buffer *b)
{
    if (!b)
        return;
    *b->link = b->next;
    if (b->next)
        b->next->link = b->link;
    kith__free(b);
}

static struct kith__buffer *make(kith__buffers *owner, size_t count, size_t size)
{
    size_t bytes, all;

    if (__builtin_mul_overflow(count, size, &bytes) || __builtin_add_overflow(bytes, HEADER, &all))
        return NULL;
    struct kith__buffer *b = kith__calloc_aligned(all, 1);
    if (!b)
        return NULL;
    *b = (struct kith__buffer){owner->first, &owner->first, bytes};
    if (b->next)
        b->next->link = &b->next;
    owner->first = b;
    return b;
}

static int grow(kith__buffers *owner, void **array, size_t count, size_t size, size_t kept)
{
    struct kith__buffer *old = header_of(*array), *b;
    size_t need, wanted;

    if (__builtin_mul_overflow(count, size, &need))
        return -1;
    if (old && need <= old->bytes) /* never return NULL, even for zero items */
        return 0;
    /* Large buffers vary less from batch to batch, so they get less slack. */
    wanted = count + count / (count > LARGE / size ? 16 : 4) + 64;
    if (kept == 0) { /* free first, so that both blocks do not exist at once */
        drop(old);
        *array = old = NULL;
    }
    b = make(owner, wanted, size);
    if (!b)
        return -1;
    if (old)
        memcpy((char *)b + HEADER, *array, old->bytes);
    drop(old);
    *array = (char *)b + HEADER;
    return 0;
}

int kith__buffer_reserve(kith__buffers *owner, void *array_pointer, size_t count, size_t size)
{
    return grow(owner, array_pointer, count, size, 0);
}

int kith__buffer_extend(kith__buffers *owner, void *array_pointer, size_t count, size_t size)
{
    return grow(owner, array_pointer, count, size, 1);
}

void kith__buffers_release(kith__buffers *owner)
{
    while (owner->first)
        drop(owner->first);
}
