#include "rules/index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "rules/implication.h"

enum { PIECES = 64, TICK = 1 << 12 };

static int by_relation(const void *a, const void *b)
{
    const kith_neighbor *x = a, *y = b;

    if (x->relation != y->relation)
        return x->relation < y->relation ? -1 : 1;
    return x->entity < y->entity ? -1 : x->entity > y->entity;
}

size_t kith__sort_facts(kith_neighbor *at, size_t count)
{
    size_t kept = 0;

    if (count > 1)
        qsort(at, count, sizeof *at, by_relation);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || by_relation(&at[i - 1], &at[i]) != 0)
            at[kept++] = at[i];
    return kept;
}

kith__span kith__span_of(kith__span all, uint32_t relation)
{
    size_t low = 0, high = all.count, from;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (all.at[middle].relation < relation)
            low = middle + 1;
        else
            high = middle;
    }
    from = low;
    for (high = all.count; low < high;) {
        size_t middle = (low + high) / 2;
        if (all.at[middle].relation <= relation)
            low = middle + 1;
        else
            high = middle;
    }
    if (all.count == 0) /* `at` may then be NULL */
        return all;
    return (kith__span){all.at + from, low - from};
}

int kith__span_has(kith__span some, uint32_t entity)
{
    size_t low = 0, high = some.count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (some.at[middle].entity < entity)
            low = middle + 1;
        else
            high = middle;
    }
    return low < some.count && some.at[low].entity == entity;
}

/* ---- building ---- */

typedef struct {
    kith__index *index;
    const kith_graph *graph;
    kith__watch *watch;
} building;

/* The graph has no duplicate facts in a split, so sorting never shortens a list. */
static void sort_piece(void *context, size_t piece)
{
    building *b = context;
    kith_neighborhoods hood = kith_graph_neighborhoods(b->graph);
    kith__index *x = b->index;
    uint32_t from = (uint32_t)((uint64_t)x->entities * piece / PIECES);
    uint32_t to = (uint32_t)((uint64_t)x->entities * (piece + 1) / PIECES);

    for (uint64_t i = hood.offset[from]; i < hood.offset[to]; i++)
        x->at[i] =
            (kith_neighbor){kith__directed(b->graph, hood.at[i].relation), hood.at[i].entity};
    for (uint32_t e = from; e < to; e++) {
        if (e % TICK == 0 && kith__watch_add(b->watch, 0))
            return;
        if (x->offset[e + 1] - x->offset[e] > 1)
            qsort(x->at + x->offset[e], (size_t)(x->offset[e + 1] - x->offset[e]), sizeof *x->at,
                  by_relation);
    }
}

/* Calls once for each relation of each seen entity. */
static void each_owned(const kith__index *x, uint64_t *next, uint32_t *owner)
{
    for (uint32_t e = 0; e < x->seen; e++)
        for (uint64_t i = x->offset[e]; i < x->offset[e + 1]; i++) {
            uint32_t r = x->at[i].relation;
            if (i > x->offset[e] && x->at[i - 1].relation == r)
                continue;
            if (owner)
                owner[next[r]] = e;
            next[r]++;
        }
}

/* Calls once for each fact of an unseen entity with a seen one. */
static void each_later(const kith__index *x, uint64_t *next, uint32_t *later)
{
    for (uint32_t e = x->seen; e < x->entities; e++)
        for (uint64_t i = x->offset[e]; i < x->offset[e + 1]; i++) {
            uint32_t other = x->at[i].entity;
            if (other >= x->seen)
                continue;
            if (later)
                later[next[other]] = e;
            next[other]++;
        }
}

/* Build one list per key, stored one after the other: first count, then fill. */
static int make_lists(uint64_t **offset, uint32_t **list, const kith__index *x, uint32_t lists,
                      void (*each)(const kith__index *, uint64_t *, uint32_t *))
{
    uint64_t *next = kith__alloc((size_t)lists + 1, sizeof *next);

    *offset = kith__calloc((size_t)lists + 1, sizeof **offset);
    if (next && *offset) {
        each(x, *offset + 1, NULL);
        for (uint32_t k = 0; k < lists; k++)
            (*offset)[k + 1] += (*offset)[k];
        memcpy(next, *offset, (size_t)lists * sizeof *next);
        *list = kith__alloc((size_t)(*offset)[lists], sizeof **list);
        if (*list)
            each(x, next, *list);
    }
    kith__free(next);
    return *list ? 0 : -1;
}

/* The lists of the graph's neighbourhoods, sorted. */
static int fill_from_graph(kith__index *x, const kith_graph *graph, kith__pool *pool)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);
    building b = {x, graph, kith__pool_watch(pool)};

    x->at = kith__alloc((size_t)hood.offset[x->entities], sizeof *x->at);
    if (!x->at)
        return -1;
    memcpy(x->offset, hood.offset, ((size_t)x->entities + 1) * sizeof *x->offset);
    kith__pool_run(pool, sort_piece, &b, PIECES);
    return 0;
}

static bool is_support(const kith__index *x, const kith_graph *graph, kith_facts aux, size_t i)
{
    uint32_t trained = kith_graph_seen_entity_count(graph);
    kith_triple t = aux.at[i];

    return t.relation < x->relations / 2 && (!aux.truth || aux.truth[i] > 0) &&
           (t.subject >= trained || t.object >= trained);
}

/* The beginning of each list, with space for its facts in the graph and for those of aux. */
static void count_with_aux(uint64_t *next, const kith__index *x, const kith_graph *graph,
                           kith_facts aux)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);

    memset(next, 0, ((size_t)x->entities + 1) * sizeof *next);
    for (uint32_t e = 0; e < x->entities; e++)
        next[e + 1] = hood.offset[e + 1] - hood.offset[e];
    for (size_t i = 0; i < aux.count; i++)
        if (is_support(x, graph, aux, i)) {
            next[aux.at[i].subject + 1]++;
            next[aux.at[i].object + 1]++;
        }
    for (uint32_t e = 0; e < x->entities; e++)
        next[e + 1] += next[e];
}

static void put_with_aux(kith__index *x, uint64_t *next, const kith_graph *graph, kith_facts aux)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);
    uint32_t m = x->relations / 2;

    for (uint32_t e = 0; e < x->entities; e++)
        for (uint64_t i = hood.offset[e]; i < hood.offset[e + 1]; i++)
            x->at[next[e]++] =
                (kith_neighbor){kith__directed(graph, hood.at[i].relation), hood.at[i].entity};
    for (size_t i = 0; i < aux.count; i++)
        if (is_support(x, graph, aux, i)) {
            kith_triple t = aux.at[i];
            x->at[next[t.subject]++] = (kith_neighbor){t.relation, t.object};
            x->at[next[t.object]++] = (kith_neighbor){t.relation + m, t.subject};
        }
}

typedef struct {
    kith__index *index;
    const uint64_t *end; /* of each list; a list begins where the previous one ends */
    uint64_t *count;     /* of each list, without duplicates */
    kith__watch *watch;
} sorting;

static void sort_lists(void *context, size_t piece)
{
    const sorting *s = context;
    uint32_t entities = s->index->entities;
    uint32_t from = (uint32_t)((uint64_t)entities * piece / PIECES);
    uint32_t to = (uint32_t)((uint64_t)entities * (piece + 1) / PIECES);

    for (uint32_t e = from; e < to; e++) {
        uint64_t start = e == 0 ? 0 : s->end[e - 1];
        if (e % TICK == 0 && kith__watch_add(s->watch, 0))
            return;
        s->count[e] = kith__sort_facts(s->index->at + start, (size_t)(s->end[e] - start));
    }
}

/* Move the lists together: facts of aux that the graph's lists also have were counted twice, but
 * are stored once. */
static void close_gaps(kith__index *x, const uint64_t *end, const uint64_t *count)
{
    x->offset[0] = 0;
    for (uint32_t e = 0; e < x->entities; e++) {
        memmove(x->at + x->offset[e], x->at + (e == 0 ? 0 : end[e - 1]),
                (size_t)count[e] * sizeof *x->at);
        x->offset[e + 1] = x->offset[e] + count[e];
    }
}

static int fill_with_aux(kith__index *x, const kith_graph *graph, kith__pool *pool)
{
    kith_facts aux = kith_graph_facts(graph, KITH_AUX);
    uint64_t *next = kith__alloc((size_t)x->entities + 1, sizeof *next);
    uint64_t *count = kith__alloc((size_t)x->entities + 1, sizeof *count);

    if (next && count) {
        count_with_aux(next, x, graph, aux);
        x->at = kith__alloc((size_t)next[x->entities], sizeof *x->at);
    }
    if (next && count && x->at) {
        put_with_aux(x, next, graph, aux);
        kith__watch *watch = kith__pool_watch(pool);
        kith__pool_run(pool, sort_lists, &(sorting){x, next, count, watch}, PIECES);
        if (!kith__watch_add(watch, 0))
            close_gaps(x, next, count);
    }
    kith__free(next);
    kith__free(count);
    return x->at ? 0 : -1;
}

static kith_status make(kith__index **out, const kith_graph *graph, bool with_aux, kith__pool *pool,
                        kith_error *error)
{
    kith__index *x = kith__calloc(1, sizeof *x);
    kith_status status = KITH_OK;

    if (!x)
        return kith__no_memory(error);
    x->entities = kith_graph_entity_count(graph);
    x->seen = with_aux ? x->entities : kith_graph_seen_entity_count(graph);
    x->relations = 2 * kith_graph_seen_relation_count(graph);
    x->offset = kith__alloc((size_t)x->entities + 1, sizeof *x->offset);
    x->facts = kith__calloc(x->relations, sizeof *x->facts);
    if (!x->offset || !x->facts ||
        (with_aux ? fill_with_aux(x, graph, pool) : fill_from_graph(x, graph, pool)))
        TRY(kith__no_memory(error));
    TRY(kith__watch_status(kith__pool_watch(pool), error));
    if (make_lists(&x->owner_offset, &x->owner, x, x->relations, each_owned))
        TRY(kith__no_memory(error));
    (void)kith__watch_add(kith__pool_watch(pool), 0);
    TRY(kith__watch_status(kith__pool_watch(pool), error));
    if (make_lists(&x->later_offset, &x->later, x, x->seen, each_later))
        TRY(kith__no_memory(error));
    for (uint64_t i = 0; i < x->offset[x->seen]; i++)
        x->facts[x->at[i].relation]++;
    *out = x;
    x = NULL;
cleanup:
    kith__index_free(x);
    return status;
}

kith_status kith__index_new(kith__index **out, const kith_graph *graph, kith__pool *pool,
                            kith_error *error)
{
    return make(out, graph, false, pool, error);
}

kith_status kith__index_new_with_aux(kith__index **out, const kith_graph *graph, kith__pool *pool,
                                     kith_error *error)
{
    return make(out, graph, kith_graph_facts(graph, KITH_AUX).count > 0, pool, error);
}

void kith__index_free(kith__index *x)
{
    if (!x)
        return;
    kith__free(x->offset);
    kith__free(x->at);
    kith__free(x->owner_offset);
    kith__free(x->owner);
    kith__free(x->facts);
    kith__free(x->later_offset);
    kith__free(x->later);
    kith__free(x);
}
