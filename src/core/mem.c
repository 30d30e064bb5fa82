#include "core/mem.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Only tests set this; it counts down to the allocation that must fail. */
static atomic_size_t fail_at;

void kith__mem_fail_at(size_t n)
{
    atomic_store(&fail_at, n);
}

static int refused(size_t count, size_t size, size_t *bytes)
{
    if (atomic_load_explicit(&fail_at, memory_order_relaxed) != 0 &&
        atomic_fetch_sub(&fail_at, 1) == 1)
        return 1;
    if (__builtin_mul_overflow(count, size, bytes) || *bytes > PTRDIFF_MAX)
        return 1;
    if (*bytes == 0)
        *bytes = 1;
    return 0;
}

void *kith__alloc(size_t count, size_t size)
{
    size_t bytes;
    return refused(count, size, &bytes) ? NULL : malloc(bytes);
}

void *kith__calloc(size_t count, size_t size)
{
    size_t bytes;
    return refused(count, size, &bytes) ? NULL : calloc(bytes, 1);
}

void *kith__realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    return refused(count, size, &bytes) ? NULL : realloc(old, bytes);
}

void kith__free(void *memory)
{
    free(memory);
}

char *kith__strdup(const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = kith__alloc(length, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

int kith__reserve(void *array_pointer, size_t *capacity, size_t need, size_t size)
{
    void **array = array_pointer;
    size_t wanted = *capacity < 16 ? 16 : *capacity;

    if (need <= *capacity)
        return 0;
    while (wanted < need) {
        if (wanted > SIZE_MAX / 2)
            return -1;
        wanted *= 2;
    }
    void *grown = kith__realloc(*array, wanted, size);
    if (!grown)
        return -1;
    *array = grown;
    *capacity = wanted;
    return 0;
}
