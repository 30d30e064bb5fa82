#include "core/radix.h"

#include <stdbool.h>
#include <string.h>

/* Up to 2^14 streams are written to at a time: more passes with fewer took longer, because a batch's
 * items fit in the second cache. */
enum { MOST_BITS = 14 };

static uint32_t key_of(const kith__item *item, bool major)
{
    return major ? item->major : item->minor;
}

static void pass(kith__item *to, const kith__item *from, size_t count, bool major, int shift,
                 int bits)
{
    size_t start[(1 << MOST_BITS) + 1];
    uint32_t mask = (UINT32_C(1) << bits) - 1;

    memset(start, 0, (mask + 2) * sizeof *start);
    for (size_t i = 0; i < count; i++)
        start[(key_of(&from[i], major) >> shift & mask) + 1]++;
    for (uint32_t b = 0; b < mask; b++)
        start[b + 1] += start[b];
    for (size_t i = 0; i < count; i++)
        to[start[key_of(&from[i], major) >> shift & mask]++] = from[i];
}

static int bits_of(uint64_t bound)
{
    int bits = 0;
    while (bits < 32 && (bound - 1) >> bits > 0)
        bits++;
    return bits;
}

void kith__radix_sort(kith__item *items, kith__item *spare, size_t count, uint64_t majors,
                      uint64_t minors)
{
    kith__item *from = items, *to = spare, *swap;

    for (int key = 0; key < 2; key++) {
        int bits = bits_of(key == 0 ? minors : majors);
        int passes = (bits + MOST_BITS - 1) / MOST_BITS;
        for (int p = 0; p < passes; p++) {
            int first = bits * p / passes, end = bits * (p + 1) / passes;
            pass(to, from, count, key == 1, first, end - first);
            swap = from, from = to, to = swap;
        }
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}
