#include "core/lists.h"

#include <stdint.h>
#include <string.h>

#include "core/mem.h"

enum { ALIGNMENT = 16 };

void *kith__list_new(size_t count, size_t size)
{
    size_t pointers, bytes;

    if (__builtin_mul_overflow(count, sizeof(void *), &pointers) ||
        __builtin_add_overflow(pointers, ALIGNMENT, &pointers) ||
        __builtin_mul_overflow(count, size, &bytes))
        return NULL;
    pointers = pointers / ALIGNMENT * ALIGNMENT;
    if (__builtin_add_overflow(bytes, pointers, &bytes))
        return NULL;
    char **list = kith__calloc(bytes, 1);
    for (size_t i = 0; list && i < count; i++)
        list[i] = (char *)list + pointers + i * size;
    return list;
}

void *kith__list_of(const void *elements, size_t count, size_t size)
{
    char **list = kith__list_new(count, size);

    if (list && count > 0)
        memcpy(list[0], elements, count * size);
    return list;
}

void kith__list_free(const void *list)
{
    kith__free((void *)(uintptr_t)list);
}
