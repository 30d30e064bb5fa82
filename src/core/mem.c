#include "core/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Blocks of at least LARGE bytes are aligned for huge pages: tables read at random would otherwise
 * spend most of their time on address translation, and page faults are costly with many threads. */
enum { HUGE_PAGE = 2 << 20, LARGE = 4 << 20 };

/* Set by tests only: counts down to the allocation that must fail. */
static atomic_size_t fail_at;
static atomic_bool counting;
static atomic_size_t counted;

void kith__mem_fail_at(size_t n)
{
    atomic_store(&fail_at, n);
}

int kith__mem_failed(void)
{
    return atomic_load(&fail_at) == 0;
}

void kith__mem_count(int on)
{
    atomic_store(&counting, on);
    if (on)
        atomic_store(&counted, 0);
}

size_t kith__mem_counted(void)
{
    return atomic_load(&counted);
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
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add(&counted, *bytes);
    return 0;
}

static void *alloc_large(size_t bytes)
{
    bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *memory = aligned_alloc(HUGE_PAGE, bytes);
    if (memory)
        madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

void *kith__alloc(size_t count, size_t size)
{
    size_t bytes;
    if (refused(count, size, &bytes))
        return NULL;
    return bytes < LARGE ? malloc(bytes) : alloc_large(bytes);
}

void *kith__calloc(size_t count, size_t size)
{
    size_t bytes;
    if (refused(count, size, &bytes))
        return NULL;
    if (bytes < LARGE)
        return calloc(bytes, 1);
    void *memory = alloc_large(bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

void *kith__realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (refused(count, size, &bytes))
        return NULL;
    return realloc(old, bytes);
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

void *kith__calloc_aligned(size_t count, size_t size)
{
    const size_t line = 64;
    size_t bytes;
    if (refused(count, size, &bytes))
        return NULL;
    bytes = (bytes + line - 1) / line * line;
    void *memory = bytes < LARGE ? aligned_alloc(line, bytes) : alloc_large(bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

int kith__renew(void *array_pointer, size_t *capacity, size_t need, size_t size)
{
    void **array = array_pointer;

    if (*array && need <= *capacity) /* never return NULL, even for zero items */
        return 0;
    /* Some slack, so that arrays soon stop growing; the sizes of large ones vary less between
     * batches. */
    size_t wanted = need + need / (need > LARGE / size ? 16 : 4) + 64;
    kith__free(*array);
    *capacity = 0;
    *array = kith__calloc_aligned(wanted, size);
    if (!*array)
        return -1;
    *capacity = wanted;
    return 0;
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
    /* A large block is moved, because only a new block gets huge pages from its first byte. */
    bool move = *array && wanted > LARGE / size;
    void *grown = move ? kith__alloc(wanted, size) : kith__realloc(*array, wanted, size);
    if (!grown)
        return -1;
    if (move) {
        memcpy(grown, *array, *capacity * size);
        kith__free(*array);
    }
    *array = grown;
    *capacity = wanted;
    return 0;
}

int kith__reserve_exactly(void *array_pointer, size_t *capacity, size_t need, size_t size)
{
    void **array = array_pointer;

    *array = kith__alloc(need, size);
    *capacity = *array ? need : 0;
    return *array ? 0 : -1;
}
