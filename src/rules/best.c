#include "rules/best.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static char *item_at(const kith__best *b, size_t i)
{
    return (char *)b->at + i * b->size;
}

static size_t held_at_most(const kith__best *b)
{
    return b->top < SIZE_MAX / 8 ? 4 * b->top + 64 : SIZE_MAX;
}

void kith__best_sort(kith__best *b)
{
    if (b->count > 1)
        qsort(b->at, b->count, b->size, b->compare);
    if (b->count >= b->top) {
        b->count = b->top;
        b->full = true;
    }
}

int kith__best_add(kith__best *b, const void *item)
{
    if (b->full && (b->top == 0 || b->compare(item, item_at(b, b->top - 1)) >= 0))
        return 0;
    if (b->count >= held_at_most(b))
        kith__best_sort(b);
    if (kith__reserve(&b->at, &b->capacity, b->count + 1, b->size))
        return -1;
    memcpy(item_at(b, b->count++), item, b->size);
    return 0;
}

void kith__best_release(kith__best *b)
{
    kith__free(b->at);
    b->at = NULL;
    b->count = b->capacity = 0;
    b->full = false;
}
