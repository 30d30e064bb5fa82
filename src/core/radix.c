#include "core/radix.h"

#include <stdbool.h>
#include <string.h>

/* Up to 2^14 streams are written at a time. More passes with fewer streams took longer, because the
 * items of a batch fit in the second-level cache. Each thread has its own counts. */
enum { MOST_BITS = 14, MOST_PIECES = 4, LEAST_A_PIECE = 4096 };

typedef struct {
    kith__item *to;
    const kith__item *from;
    size_t count, pieces;
    bool major;
    int shift;
    uint32_t mask;
    uint32_t (*start)[1 << MOST_BITS]; /* per piece */
} pass;

static uint32_t key_of(const pass *p, const kith__item *item)
{
    return (p->major ? item->major : item->minor) >> p->shift & p->mask;
}

static void count_piece(void *context, size_t piece)
{
    const pass *p = context;
    uint32_t *start = p->start[piece];
    size_t to = p->count * (piece + 1) / p->pieces;

    memset(start, 0, (p->mask + (size_t)1) * sizeof *start);
    for (size_t i = p->count * piece / p->pieces; i < to; i++)
        start[key_of(p, &p->from[i])]++;
}

static void move_piece(void *context, size_t piece)
{
    const pass *p = context;
    uint32_t *start = p->start[piece];
    size_t to = p->count * (piece + 1) / p->pieces;

    for (size_t i = p->count * piece / p->pieces; i < to; i++)
        p->to[start[key_of(p, &p->from[i])]++] = p->from[i];
}

/* Equal keys keep the order of the pieces. */
static void place(const pass *p)
{
    uint32_t total = 0;

    for (size_t key = 0; key <= p->mask; key++)
        for (size_t piece = 0; piece < p->pieces; piece++) {
            uint32_t count = p->start[piece][key];
            p->start[piece][key] = total;
            total += count;
        }
}

static void run_pieces(kith__pool *pool, void (*work)(void *, size_t), pass *p)
{
    if (p->pieces == 1)
        work(p, 0);
    else
        kith__pool_run(pool, work, p, p->pieces);
}

static int bits_of(uint64_t bound)
{
    int bits = 0;
    while (bits < 32 && (bound - 1) >> bits > 0)
        bits++;
    return bits;
}

static void sort(kith__pool *pool, kith__item *items, kith__item *spare, size_t count,
                 uint64_t majors, uint64_t minors, size_t pieces,
                 uint32_t (*start)[1 << MOST_BITS])
{
    kith__item *from = items, *to = spare, *swap;

    for (int key = 0; key < 2; key++) {
        int bits = bits_of(key == 0 ? minors : majors);
        int passes = (bits + MOST_BITS - 1) / MOST_BITS;
        for (int k = 0; k < passes; k++) {
            int first = bits * k / passes, end = bits * (k + 1) / passes;
            pass p = {to, from, count, pieces, key == 1, first,
                      (UINT32_C(1) << (end - first)) - 1, start};
            run_pieces(pool, count_piece, &p);
            place(&p);
            run_pieces(pool, move_piece, &p);
            swap = from, from = to, to = swap;
        }
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}

void kith__radix_sort(kith__item *items, kith__item *spare, size_t count, uint64_t majors,
                      uint64_t minors)
{
    uint32_t start[1][1 << MOST_BITS];
    sort(NULL, items, spare, count, majors, minors, 1, start);
}

void kith__radix_sort_on(kith__pool *pool, kith__item *items, kith__item *spare, size_t count,
                         uint64_t majors, uint64_t minors)
{
    uint32_t start[MOST_PIECES][1 << MOST_BITS];
    size_t pieces = kith__pool_size(pool);

    if (pieces > MOST_PIECES)
        pieces = MOST_PIECES;
    if (pieces > count / LEAST_A_PIECE + 1)
        pieces = count / LEAST_A_PIECE + 1;
    sort(pool, items, spare, count, majors, minors, pieces, start);
}
