#include "core/radix.h"

#include <stdbool.h>
#include <string.h>

enum { DIGIT = 11, BUCKETS = 1 << DIGIT };

static uint32_t digit_of(const kith__item *item, bool major, int shift)
{
    return ((major ? item->major : item->minor) >> shift) & (BUCKETS - 1);
}

static void pass(kith__item *to, const kith__item *from, size_t count, bool major, int shift)
{
    size_t start[BUCKETS + 1] = {0};

    for (size_t i = 0; i < count; i++)
        start[digit_of(&from[i], major, shift) + 1]++;
    for (int b = 0; b < BUCKETS; b++)
        start[b + 1] += start[b];
    for (size_t i = 0; i < count; i++)
        to[start[digit_of(&from[i], major, shift)]++] = from[i];
}

void kith__radix_sort(kith__item *items, kith__item *spare, size_t count, uint64_t majors,
                      uint64_t minors)
{
    kith__item *from = items, *to = spare, *swap;

    for (int key = 0; key < 2; key++) {
        uint64_t bound = key == 0 ? minors : majors;
        for (int shift = 0; shift < 32 && (bound - 1) >> shift > 0; shift += DIGIT) {
            pass(to, from, count, key == 1, shift);
            swap = from, from = to, to = swap;
        }
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}
