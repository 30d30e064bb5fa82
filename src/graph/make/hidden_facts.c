#include "graph/make/hidden_facts.h"

#include "core/mem.h"
#include "core/rng.h"

typedef struct {
    const kith__facts *train;
    uint32_t *order;
    uint32_t *left;  /* per entity: number of facts of train that are not hidden */
    uint8_t *hidden; /* per fact */
} hiding;

static void count_facts(hiding *h)
{
    for (size_t i = 0; i < h->train->count; i++) {
        h->left[h->train->at[i].subject]++;
        h->left[h->train->at[i].object]++;
    }
}

/* A loop counts twice for its entity. */
static bool may_hide(const hiding *h, kith_triple t)
{
    uint32_t least = t.subject == t.object ? 2 : 1;
    return h->left[t.subject] > least && h->left[t.object] > least;
}

static void choose(hiding *h, const kith__hidden_facts_options *options)
{
    size_t count = h->train->count, hidden = 0;
    size_t wanted = (size_t)(options->share * (double)count);
    kith__rng rng;

    kith__rng_init(&rng, options->seed, UINT64_C(1) << 47 | options->draw);
    if (wanted > options->most)
        wanted = options->most;
    kith__rng_order(&rng, h->order, count);
    for (size_t i = 0; i < count && hidden < wanted; i++) {
        kith_triple t = h->train->at[h->order[i]];
        if (!may_hide(h, t))
            continue;
        h->left[t.subject]--;
        h->left[t.object]--;
        h->hidden[h->order[i]] = 1;
        hidden++;
    }
}

kith_status kith__graph_hide_facts(kith_graph **graph, const kith_graph *source,
                                   const kith__hidden_facts_options *options, kith__pool *pool,
                                   kith_error *error)
{
    const kith__facts *train = &source->splits[KITH_TRAIN];
    hiding h = {.train = train,
                .order = kith__alloc(train->count, sizeof *h.order),
                .left = kith__calloc(source->entities.count, sizeof *h.left),
                .hidden = kith__calloc(train->count, 1)};
    kith__facts split[KITH_SPLITS] = {{0}};
    kith_status status = KITH_OK;

    if (!h.order || !h.left || !h.hidden)
        TRY(kith__no_memory(error));
    count_facts(&h);
    choose(&h, options);
    for (size_t i = 0; i < train->count; i++)
        if (kith__facts_add(&split[h.hidden[i] ? KITH_TEST : KITH_TRAIN], train->at[i]))
            TRY(kith__no_memory(error));
    TRY(kith__graph_adopt(graph, source, split, pool, error));
cleanup:
    kith__free(h.order);
    kith__free(h.left);
    kith__free(h.hidden);
    for (int i = 0; i < KITH_SPLITS; i++)
        kith__facts_release(&split[i]);
    return status;
}
