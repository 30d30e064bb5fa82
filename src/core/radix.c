#include "core/radix.h"

#include <stdbool.h>
#include <string.h>

#include "core/mem.h"

/* Up to 2^14 streams are written at a time. More passes with fewer streams took longer, because the
 * items of a batch fit in the second-level cache. Each thread has its own counts, which are too
 * large for some stacks; without memory for them, there are more passes with FEW_BITS. */
enum { MOST_BITS = 14, FEW_BITS = 9, MOST_PIECES = 4, LEAST_A_PIECE = 4096 };

typedef struct {
    kith__item *to;
    const kith__item *from;
    size_t count, pieces;
    bool major;
    int shift;
    uint32_t mask;
    uint32_t *start; /* for each piece, mask + 1 of them */
} pass;

static uint32_t key_of(const pass *p, const kith__item *item)
{
    return (p->major ? item->major : item->minor) >> p->shift & p->mask;
}

static uint32_t *start_of(const pass *p, size_t piece)
{
    return p->start + piece * (p->mask + (size_t)1);
}

static void count_piece(void *context, size_t piece)
{
    const pass p = *(const pass *)context; /* a copy, which the counts cannot be part of */
    uint32_t *start = start_of(&p, piece);
    size_t to = p.count * (piece + 1) / p.pieces;

    memset(start, 0, (p.mask + (size_t)1) * sizeof *start);
    for (size_t i = p.count * piece / p.pieces; i < to; i++)
        start[key_of(&p, &p.from[i])]++;
}

static void move_piece(void *context, size_t piece)
{
    const pass p = *(const pass *)context;
    uint32_t *start = start_of(&p, piece);
    size_t to = p.count * (piece + 1) / p.pieces;

    for (size_t i = p.count * piece / p.pieces; i < to; i++)
        p.to[start[key_of(&p, &p.from[i])]++] = p.from[i];
}

/* Equal keys keep the order of the pieces. */
static void place(const pass *p)
{
    const size_t keys = p->mask + (size_t)1;
    uint32_t total = 0;

    for (size_t key = 0; key < keys; key++)
        for (size_t at = key; at < p->pieces * keys; at += keys) {
            uint32_t count = p->start[at];
            p->start[at] = total;
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

static int passes_of(int bits, int most)
{
    return (bits + most - 1) / most;
}

/* `p` has the items, the number of pieces and the counts. */
static void sort(kith__pool *pool, pass p, kith__item *spare, const int bits[2], int most)
{
    kith__item *items = p.to, *from = items, *to = spare, *swap;

    for (int key = 0; key < 2; key++) {
        int passes = passes_of(bits[key], most);
        for (int k = 0; k < passes; k++) {
            int end = bits[key] * (k + 1) / passes;
            p.to = to;
            p.from = from;
            p.major = key == 1;
            p.shift = bits[key] * k / passes;
            p.mask = (UINT32_C(1) << (end - p.shift)) - 1;
            run_pieces(pool, count_piece, &p);
            place(&p);
            run_pieces(pool, move_piece, &p);
            swap = from, from = to, to = swap;
        }
    }
    if (from != items)
        memcpy(items, from, p.count * sizeof *items);
}

/* The most bits of a pass. */
static int widest(const int bits[2])
{
    int most = 0;

    for (int key = 0; key < 2; key++) {
        int passes = passes_of(bits[key], MOST_BITS);
        int wide = passes ? (bits[key] + passes - 1) / passes : 0;
        most = wide > most ? wide : most;
    }
    return most;
}

void kith__radix_sort_on(kith__pool *pool, kith__item *items, kith__item *spare, size_t count,
                         uint64_t majors, uint64_t minors)
{
    const int bits[2] = {bits_of(minors), bits_of(majors)};
    uint32_t few[1 << FEW_BITS];
    size_t pieces = pool ? kith__pool_size(pool) : 1;
    int wide = widest(bits);

    if (pieces > MOST_PIECES)
        pieces = MOST_PIECES;
    if (pieces > count / LEAST_A_PIECE + 1)
        pieces = count / LEAST_A_PIECE + 1;
    bool few_suffice = pieces << wide <= 1 << FEW_BITS;
    uint32_t *many = few_suffice ? NULL : kith__alloc(pieces << wide, sizeof *many);
    if (many || few_suffice)
        sort(pool,
             (pass){.to = items, .count = count, .pieces = pieces, .start = many ? many : few},
             spare, bits, MOST_BITS);
    else
        sort(pool, (pass){.to = items, .count = count, .pieces = 1, .start = few}, spare, bits,
             FEW_BITS);
    kith__free(many);
}

void kith__radix_sort(kith__item *items, kith__item *spare, size_t count, uint64_t majors,
                      uint64_t minors)
{
    kith__radix_sort_on(NULL, items, spare, count, majors, minors);
}
