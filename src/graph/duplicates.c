#include "graph/duplicates.h"

#include "core/mem.h"
#include "graph/triple_set.h"

enum { MOST_RANGES = 16, AHEAD = 16, FACTS_PER_PIECE = 4096 };

/* Each piece handles the triples in its range of hashes, in file order, so the first of equal
 * triples stays whatever the number of pieces. */
typedef struct {
    const kith_triple *at;
    size_t count, pieces;
    uint8_t *drop; /* one byte per triple, so that pieces never write to the same byte */
    struct {
        uint32_t *slots; /* index + 1 of a triple, 0 free */
        size_t mask;     /* number of slots, a power of two, less one */
        size_t dropped;
        bool no_memory;
    } piece[MOST_RANGES];
} dedupe;

static size_t share_of(uint64_t hash, size_t pieces)
{
    return (size_t)(((hash >> 40) * pieces) >> 24);
}

static void look_up(dedupe *d, size_t piece, size_t i, uint64_t hash)
{
    uint32_t *slots = d->piece[piece].slots;
    size_t mask = d->piece[piece].mask;

    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        if (slots[at] == 0) {
            slots[at] = (uint32_t)i + 1;
            return;
        }
        if (kith__triple_equal(d->at[slots[at] - 1], d->at[i])) {
            d->drop[i] = 1;
            d->piece[piece].dropped++;
            return;
        }
    }
}

static bool make_slots(dedupe *d, size_t piece)
{
    size_t mine = 0, slots = 16;

    for (size_t i = 0; i < d->count; i++)
        mine += share_of(kith__triple_hash(d->at[i]), d->pieces) == piece;
    while (slots < mine + mine / 4)
        slots *= 2;
    d->piece[piece].mask = slots - 1;
    d->piece[piece].slots = kith__calloc(slots, sizeof *d->piece[piece].slots);
    d->piece[piece].no_memory = d->piece[piece].slots == NULL;
    return !d->piece[piece].no_memory;
}

static void dedupe_piece(void *context, size_t piece)
{
    dedupe *d = context;
    uint64_t hashes[AHEAD];
    size_t waiting[AHEAD], queued = 0;

    if (!make_slots(d, piece))
        return;
    /* A slot is prefetched AHEAD triples before it is read. */
    for (size_t i = 0; i < d->count; i++) {
        uint64_t hash = kith__triple_hash(d->at[i]);
        if (share_of(hash, d->pieces) != piece)
            continue;
        size_t turn = queued % AHEAD;
        if (queued >= AHEAD)
            look_up(d, piece, waiting[turn], hashes[turn]);
        hashes[turn] = hash;
        waiting[turn] = i;
        queued++;
        __builtin_prefetch(&d->piece[piece].slots[hash & d->piece[piece].mask]);
    }
    size_t left = queued < AHEAD ? queued : AHEAD;
    for (size_t k = queued - left; k < queued; k++)
        look_up(d, piece, waiting[k % AHEAD], hashes[k % AHEAD]);
}

static void compact(kith__facts *facts, const uint8_t *drop)
{
    size_t to = 0;

    for (size_t i = 0; i < facts->count; i++) {
        if (drop[i])
            continue;
        facts->at[to] = facts->at[i];
        if (facts->truth)
            facts->truth[to] = facts->truth[i];
        to++;
    }
    facts->count = to;
}

kith_status kith__drop_duplicates(size_t *all, kith__facts *facts, kith__pool *pool,
                                  kith_error *error)
{
    dedupe d = {.at = facts->at, .count = facts->count, .pieces = 1};
    size_t dropped = 0;
    kith_status status = KITH_OK;

    if (facts->count < 2)
        return KITH_OK;
    if (facts->count >= UINT32_MAX)
        return kith__fail(error, KITH_ERR_INPUT,
                          "a split has %zu facts, expected fewer than 2^32 - 1", facts->count);
    if (pool)
        d.pieces = kith__pool_pieces(pool, facts->count, FACTS_PER_PIECE, MOST_RANGES);
    d.drop = kith__calloc(facts->count, 1);
    if (!d.drop)
        return kith__no_memory(error);
    if (pool)
        kith__pool_run(pool, dedupe_piece, &d, d.pieces);
    else
        dedupe_piece(&d, 0);
    for (size_t i = 0; i < d.pieces; i++) {
        dropped += d.piece[i].dropped;
        if (d.piece[i].no_memory)
            status = kith__no_memory(error);
        kith__free(d.piece[i].slots);
    }
    if (status == KITH_OK && dropped > 0)
        compact(facts, d.drop);
    *all += dropped;
    kith__free(d.drop);
    return status;
}

/* ---- while facts are read ---- */

enum { FIRST_CHECK = 1 << 20, SAMPLED = 64 };

/* Estimate how many facts are distinct from those whose hash is a multiple of SAMPLED: equal facts
 * are sampled together. */
static int sample(size_t *met, size_t *distinct, const kith__facts *facts)
{
    kith__triple_set set;
    int added = 0;

    *met = *distinct = 0;
    if (kith__triple_set_init(&set, facts->count / SAMPLED))
        return -1;
    for (size_t i = 0; i < facts->count && added >= 0; i++) {
        if (kith__triple_hash(facts->at[i]) >> 32 & (SAMPLED - 1))
            continue;
        added = kith__triple_set_add(&set, facts->at[i]);
        ++*met;
        *distinct += added > 0;
    }
    kith__triple_set_release(&set);
    return added < 0 ? -1 : 0;
}

/* In a graph too small to be sampled, all facts count as distinct. */
static int check(kith__facts *facts, kith__collector *c)
{
    size_t met, distinct;

    if (sample(&met, &distinct, facts))
        return -1;
    if ((met == 0 || distinct < met / 4 * 3) &&
        kith__drop_duplicates(&c->dropped, facts, NULL, NULL) != KITH_OK)
        return -1;
    c->check_at = 2 * facts->count < FIRST_CHECK ? FIRST_CHECK : 2 * facts->count;
    return 0;
}

int kith__collect(kith__facts *facts, kith__collector *c, kith_triple triple, const int8_t *truth)
{
    if (facts->count >= FIRST_CHECK && facts->count >= c->check_at && check(facts, c))
        return -1;
    return truth ? kith__facts_add_labelled(facts, triple, *truth) : kith__facts_add(facts, triple);
}
