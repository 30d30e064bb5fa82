#include "graph/make/holdout.h"

#include <string.h>

#include "core/mem.h"
#include "core/rng.h"

enum { LEAST_KEPT = 4 }; /* train keeps at least a quarter of its facts */

typedef struct {
    const kith_graph *source;
    const kith__holdout_options *options;
    kith__rng rng;
    uint32_t *order;
    uint8_t *out, *seen; /* per entity */
    uint32_t *links;     /* per held-out entity: number of facts with seen entities */
    uint32_t *hide;      /* how many of these are still to be hidden */
    size_t hide_between; /* how many facts between held-out entities are still to be hidden */
    kith__facts split[KITH_SPLITS];
} holding;

static size_t wanted_of(const holding *h, size_t entities)
{
    size_t wanted = (size_t)(h->options->share * (double)entities + .5);
    return wanted > 0 ? wanted : 1;
}

/* Draw facts until enough entities are held out. */
static void choose_by_facts(holding *h)
{
    const kith__facts *train = &h->source->splits[KITH_TRAIN];
    size_t wanted = wanted_of(h, h->source->seen_entities), chosen = 0;

    for (size_t i = 0; i < train->count && chosen < wanted; i++) {
        kith_triple t = train->at[h->order[i]];
        bool subject =
            h->options->subjects && (!h->options->objects || kith__rng_next(&h->rng) >> 63);
        uint32_t e = subject ? t.subject : t.object;
        chosen += !h->out[e];
        h->out[e] = 1;
    }
}

static size_t count_kept(const holding *h)
{
    const kith__facts *train = &h->source->splits[KITH_TRAIN];
    size_t kept = 0;

    for (size_t i = 0; i < train->count; i++)
        kept += !h->out[train->at[i].subject] && !h->out[train->at[i].object];
    return kept;
}

/* Draw uniformly among the entities that may be held out. */
static void choose_evenly(holding *h)
{
    const kith__facts *train = &h->source->splits[KITH_TRAIN];
    uint32_t entities = h->source->seen_entities;
    size_t left = 0;

    memset(h->out, 0, h->source->entities.count);
    for (size_t i = 0; i < train->count; i++) {
        h->out[train->at[i].subject] |= h->options->subjects;
        h->out[train->at[i].object] |= h->options->objects;
    }
    for (uint32_t e = 0; e < entities; e++)
        left += h->out[e];
    size_t wanted = wanted_of(h, left);
    for (uint32_t e = 0; e < entities; e++)
        if (h->out[e]) {
            h->out[e] = kith__rng_below(&h->rng, left--) < wanted;
            wanted -= h->out[e];
        }
}

/* If most facts involve a few entities, such as facts that link people to cities and occupations,
 * drawing by facts would hold out all of these entities and leave hardly any facts. */
static void choose(holding *h)
{
    choose_by_facts(h);
    if (count_kept(h) < h->source->splits[KITH_TRAIN].count / LEAST_KEPT)
        choose_evenly(h);
}

/* The held-out end of a fact whose other end is seen; else UINT32_MAX. */
static uint32_t newcomer_of(const holding *h, kith_triple t)
{
    if (h->out[t.subject] && h->seen[t.object])
        return t.subject;
    return h->out[t.object] && h->seen[t.subject] ? t.object : UINT32_MAX;
}

/* Whether both ends are held out, and each is also linked to a seen entity. */
static bool is_between(const holding *h, kith_triple t)
{
    return h->options->between && t.subject != t.object && h->links[t.subject] > 0 &&
           h->links[t.object] > 0;
}

static void count_links(holding *h)
{
    const kith__facts *train = &h->source->splits[KITH_TRAIN];
    size_t between = 0, most = h->options->most_queries / 16;

    for (size_t i = 0; i < train->count; i++)
        if (newcomer_of(h, train->at[i]) != UINT32_MAX)
            h->links[newcomer_of(h, train->at[i])]++;
    for (size_t i = 0; i < train->count; i++)
        between += is_between(h, train->at[i]);
    h->hide_between = between / 5 < most ? between / 5 : most;
}

/* At least one of an entity's facts with seen entities must not be hidden, so that something is
 * known about it. */
static void count_hidden(holding *h)
{
    for (uint32_t e = 0; e < h->source->seen_entities; e++) {
        uint64_t facts = h->source->offset[e + 1] - h->source->offset[e];
        uint32_t hidden = facts / 5 < h->options->most_hidden ? (uint32_t)(facts / 5)
                                                              : h->options->most_hidden;
        uint32_t most = h->links[e] > 0 ? h->links[e] - 1 : 0;
        hidden = hidden > 0 ? hidden : 1;
        h->hide[e] = hidden < most ? hidden : most;
    }
}

static int keep_train(holding *h)
{
    const kith__facts *train = &h->source->splits[KITH_TRAIN];

    for (size_t i = 0; i < train->count; i++) {
        kith_triple t = train->at[i];
        if (h->out[t.subject] || h->out[t.object])
            continue;
        h->seen[t.subject] = h->seen[t.object] = 1;
        if (kith__facts_add(&h->split[KITH_TRAIN], t))
            return -1;
    }
    return 0;
}

/* Whether a fact that links a held-out entity to a seen one is hidden. */
static bool hides_link(holding *h, kith_triple t, uint32_t newcomer)
{
    bool may_ask = newcomer == t.subject ? h->options->subjects : h->options->objects;
    bool hides = h->hide[newcomer] > 0 && may_ask &&
                 h->split[KITH_TEST].count < h->options->most_queries;

    h->hide[newcomer] -= hides;
    return hides;
}

static bool hides_between(holding *h)
{
    bool hides = h->hide_between > 0 && h->split[KITH_TEST].count < h->options->most_queries;

    h->hide_between -= hides;
    return hides;
}

/* Facts of held-out entities: the first ones in the shuffled order are hidden. */
static int part_facts(holding *h)
{
    const kith__facts *train = &h->source->splits[KITH_TRAIN];

    for (size_t i = 0; i < train->count; i++) {
        kith_triple t = train->at[h->order[i]];
        uint32_t newcomer = newcomer_of(h, t);
        if (newcomer == UINT32_MAX && !is_between(h, t))
            continue;
        bool hides = newcomer == UINT32_MAX ? hides_between(h) : hides_link(h, t, newcomer);
        if (kith__facts_add(&h->split[hides ? KITH_TEST : KITH_AUX], t))
            return -1;
    }
    return 0;
}

kith_status kith__graph_hold_out(kith_graph **graph, const kith_graph *source,
                                 const kith__holdout_options *options, kith__pool *pool,
                                 kith_error *error)
{
    holding h = {.source = source, .options = options};
    size_t n = source->entities.count, facts = source->splits[KITH_TRAIN].count;
    kith_status status = KITH_OK;

    kith__rng_init(&h.rng, options->seed, UINT64_C(1) << 43);
    h.order = kith__alloc(facts, sizeof *h.order);
    h.out = kith__calloc(n, 1);
    h.seen = kith__calloc(n, 1);
    h.links = kith__calloc(n, sizeof *h.links);
    h.hide = kith__calloc(n, sizeof *h.hide);
    if (!h.order || !h.out || !h.seen || !h.links || !h.hide)
        TRY(kith__no_memory(error));
    kith__rng_order(&h.rng, h.order, facts);
    choose(&h);
    if (keep_train(&h))
        TRY(kith__no_memory(error));
    count_links(&h);
    count_hidden(&h);
    if (part_facts(&h))
        TRY(kith__no_memory(error));
    TRY(kith__graph_adopt(graph, source, h.split, pool, error));
cleanup:
    kith__free(h.order);
    kith__free(h.out);
    kith__free(h.seen);
    kith__free(h.links);
    kith__free(h.hide);
    for (int split = 0; split < KITH_SPLITS; split++)
        kith__facts_release(&h.split[split]);
    return status;
}
