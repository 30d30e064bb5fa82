#include <string.h>

#include "core/mem.h"
#include "core/options.h"
#include "graph/graph.h"
#include "graph/triple_set.h"

/* A relation counts as a duplicate or an inverse of another if this share of its facts is. */
static const double covered = .8;

enum { BUCKETS = 64, COMMON = 10, TICK = 1 << 14 };

/* The public struct, and the arrays that it points to. */
typedef struct {
    kith_stats shown;
    kith_degree_bucket buckets[BUCKETS];
    kith_relation_count common[COMMON];
    const kith_degree_bucket *bucket_list[BUCKETS];
    const kith_relation_count *common_list[COMMON];
    kith_split_stats splits[KITH_SPLITS];
    const kith_split_stats *split_list[KITH_SPLITS];
    kith__watch *watch;
} counting;

/* ---- entities and splits ---- */

static kith_status count_unseen(kith_stats *stats, const kith_graph *graph, kith_error *error)
{
    const kith__facts *test = &graph->splits[KITH_TEST];
    uint8_t *met = kith__calloc(graph->entities.count, 1);

    if (!met)
        return kith__no_memory(error);
    for (size_t i = 0; i < test->count; i++) {
        kith_triple t = test->at[i];
        if (t.relation < graph->seen_relations)
            met[t.subject] = met[t.object] = 1;
    }
    for (uint32_t e = graph->seen_entities; e < graph->entities.count; e++)
        stats->unseen += met[e];
    kith__free(met);
    return KITH_OK;
}

static kith_status count_isolated(kith_stats *stats, const kith_graph *graph, kith_error *error)
{
    uint8_t *met = kith__calloc(graph->entities.count, 1);

    if (!met)
        return kith__no_memory(error);
    for (int split = 0; split < KITH_SPLITS; split++)
        for (size_t i = 0; i < graph->splits[split].count; i++)
            met[graph->splits[split].at[i].subject] = met[graph->splits[split].at[i].object] = 1;
    for (uint32_t e = 0; e < graph->entities.count; e++)
        stats->isolated += !met[e];
    kith__free(met);
    return KITH_OK;
}

static void count_part(kith_split_stats *stats, const kith_graph *graph, int split)
{
    const kith__facts *facts = &graph->splits[split];

    stats->facts = facts->count;
    for (size_t i = 0; i < facts->count; i++) {
        stats->untrue += facts->truth && !facts->truth[i];
        stats->unusable += facts->at[i].relation >= graph->seen_relations;
    }
}

/* Look up train's facts in the other splits, which are small. */
static kith_status count_leaked(kith_split_stats *stats, const kith_graph *graph, int split,
                                kith_error *error)
{
    const kith__facts *facts = &graph->splits[split], *train = &graph->splits[KITH_TRAIN];
    kith__triple_set set;
    int added = 0;

    if (facts->count == 0)
        return KITH_OK;
    if (kith__triple_set_init(&set, facts->count))
        return kith__no_memory(error);
    for (size_t i = 0; i < facts->count && added >= 0; i++)
        if (!facts->truth || facts->truth[i])
            added = kith__triple_set_add(&set, facts->at[i]);
    for (size_t i = 0; i < train->count && added >= 0; i++)
        stats->leaked += kith__triple_set_has(&set, train->at[i]);
    kith__triple_set_release(&set);
    return added < 0 ? kith__no_memory(error) : KITH_OK;
}

/* ---- neighbours ---- */

/* 1, 2, 3-5, 6-10, 11-20, 21-50, 51-100 ... up to the largest. */
static void make_buckets(counting *c)
{
    kith_stats *stats = &c->shown;
    static const unsigned steps[] = {2, 5, 10};
    uint64_t low = 1, high = 1, ten = 1;

    for (size_t i = 0; low <= stats->neighbors_max && i < BUCKETS; i++) {
        c->buckets[i] = (kith_degree_bucket){low, high, 0};
        stats->bucket_count = i + 1;
        low = high + 1;
        high = steps[i % 3] * ten;
        if (i % 3 == 2)
            ten *= 10;
    }
}

static void count_neighbors(counting *c, const kith_graph *graph)
{
    kith_stats *stats = &c->shown;
    const uint64_t *offset = graph->offset;
    uint32_t n = graph->entities.count;

    for (uint32_t e = 0; e < n; e++) {
        uint64_t degree = offset[e + 1] - offset[e];
        if (degree == 0)
            continue;
        if (stats->connected++ == 0 || degree < stats->neighbors_min)
            stats->neighbors_min = degree;
        if (degree > stats->neighbors_max)
            stats->neighbors_max = degree;
    }
    if (stats->connected > 0)
        stats->neighbors_mean = (double)offset[n] / (double)stats->connected;
    make_buckets(c);
    for (uint32_t e = 0; e < n; e++) {
        uint64_t degree = offset[e + 1] - offset[e];
        size_t i = 0;
        while (degree > 0 && degree > c->buckets[i].high)
            i++;
        c->buckets[i].entities += degree > 0;
    }
}

/* ---- relations ---- */

/* How often an entity is linked to each of its neighbours, per direction: an open-addressing table,
 * reset for each entity. */
typedef struct {
    struct link {
        uint32_t entity, out, in;
    } *slots;
    size_t capacity, mask;
} links;

static int links_reset(links *l, size_t neighbors)
{
    size_t wanted = 8;

    while (wanted < neighbors * 2)
        wanted *= 2;
    if (kith__reserve(&l->slots, &l->capacity, wanted, sizeof *l->slots))
        return -1;
    memset(l->slots, 0xff, wanted * sizeof *l->slots);
    l->mask = wanted - 1;
    return 0;
}

static struct link *links_at(links *l, uint32_t entity)
{
    size_t at = (entity * 0x9e3779b97f4a7c15u >> 32) & l->mask;

    while (l->slots[at].entity != UINT32_MAX && l->slots[at].entity != entity)
        at = (at + 1) & l->mask;
    if (l->slots[at].entity == UINT32_MAX)
        l->slots[at] = (struct link){entity, 0, 0};
    return &l->slots[at];
}

typedef struct {
    size_t facts, duplicate, inverse;
} tally;

static void tally_entity(tally *tallies, links *l, const kith_graph *graph, uint32_t e)
{
    const kith_neighbor *list = graph->neighbors + graph->offset[e];
    size_t count = (size_t)(graph->offset[e + 1] - graph->offset[e]);
    uint32_t inverse = graph->relations.count;

    for (size_t i = 0; i < count; i++) {
        struct link *link = links_at(l, list[i].entity);
        if (list[i].relation < inverse)
            link->out++;
        else
            link->in++;
    }
    for (size_t i = 0; i < count; i++) {
        if (list[i].relation >= inverse)
            continue;
        tally *t = &tallies[list[i].relation];
        const struct link *link = links_at(l, list[i].entity);
        t->facts++;
        t->duplicate += link->out > 1;
        /* A loop would be its own inverse. */
        t->inverse += list[i].entity != e && link->in > 0;
    }
}

static void sum_tallies(kith_stats *stats, const tally *tallies, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++) {
        const tally *t = &tallies[r];
        stats->duplicate_facts += t->duplicate;
        stats->inverse_facts += t->inverse;
        stats->duplicate_relations += (double)t->duplicate >= covered * (double)t->facts;
        stats->inverse_relations += (double)t->inverse >= covered * (double)t->facts;
    }
}

/* The ten most common, by insertion sort; ties keep the order of their ids. */
static void find_common(counting *c, const tally *tallies, uint32_t count)
{
    kith_stats *stats = &c->shown;

    for (uint32_t r = 0; r < count; r++) {
        size_t at = stats->common_count;
        while (at > 0 && c->common[at - 1].facts < tallies[r].facts)
            at--;
        if (at >= COMMON)
            continue;
        if (stats->common_count < COMMON)
            stats->common_count++;
        memmove(&c->common[at + 1], &c->common[at],
                (stats->common_count - at - 1) * sizeof *c->common);
        c->common[at] = (kith_relation_count){r, tallies[r].facts};
    }
}

static kith_status count_relations(counting *c, const kith_graph *graph, kith_error *error)
{
    tally *tallies = kith__calloc(graph->seen_relations, sizeof *tallies);
    links l = {0};
    kith_status status = KITH_OK;

    if (!tallies)
        TRY(kith__no_memory(error));
    for (uint32_t e = 0; e < graph->seen_entities; e++) {
        if (links_reset(&l, (size_t)(graph->offset[e + 1] - graph->offset[e])))
            TRY(kith__no_memory(error));
        tally_entity(tallies, &l, graph, e);
        if (e % TICK == 0 && kith__watch_tick(c->watch, e, graph->seen_entities))
            TRY(kith__watch_status(c->watch, error));
    }
    sum_tallies(&c->shown, tallies, graph->seen_relations);
    find_common(c, tallies, graph->seen_relations);
cleanup:
    kith__free(l.slots);
    kith__free(tallies);
    return status;
}

void kith_stats_free(kith_stats *stats)
{
    kith__free(stats);
}

static kith_status count_all(counting *c, const kith_graph *graph, kith_error *error)
{
    kith_stats *stats = &c->shown;
    kith_status status;

    TRY(kith__watch_begin(c->watch, "counting facts", KITH_SPLITS, error));
    for (int split = 0; split < KITH_SPLITS; split++)
        count_part(&c->splits[split], graph, split);
    for (int split = KITH_DEV; split < KITH_SPLITS; split++) {
        TRY(count_leaked(&c->splits[split], graph, split, error));
        if (kith__watch_add(c->watch, 1))
            TRY(kith__watch_status(c->watch, error));
    }
    TRY(count_unseen(stats, graph, error));
    TRY(count_isolated(stats, graph, error));
    count_neighbors(c, graph);
    TRY(kith__watch_begin(c->watch, "counting relations", graph->seen_entities, error));
    TRY(count_relations(c, graph, error));
cleanup:
    return status;
}

static void make_lists(counting *c)
{
    for (size_t i = 0; i < c->shown.bucket_count; i++)
        c->bucket_list[i] = &c->buckets[i];
    for (size_t i = 0; i < c->shown.common_count; i++)
        c->common_list[i] = &c->common[i];
    for (size_t i = 0; i < KITH_SPLITS; i++)
        c->split_list[i] = &c->splits[i];
    c->shown.splits = c->split_list;
    c->shown.split_count = KITH_SPLITS;
    c->shown.buckets = c->bucket_list;
    c->shown.common = c->common_list;
}

kith_status kith_graph_stats(kith_stats **out, const kith_graph *graph,
                             const kith_work_options *given, kith_error *error)
{
    if (!out || !graph)
        return kith__fail(error, KITH_ERR_ARGUMENT, "no graph given");

    kith_work_options options = {0};
    kith__watch watch;
    counting *c = kith__calloc(1, sizeof *c);
    kith_status status =
        kith__options_copy(&options, sizeof options, sizeof options, given, error);

    kith__watch_init(&watch, options.watch, options.context);
    TRY(status);
    if (!c)
        TRY(kith__no_memory(error));
    c->watch = &watch;
    c->shown.relations = graph->seen_relations;
    c->shown.seen = graph->seen_entities;
    TRY(count_all(c, graph, error));
    make_lists(c);
    *out = &c->shown;
    c = NULL;
cleanup:
    kith__free(c);
    kith__watch_release(&watch);
    return status;
}
