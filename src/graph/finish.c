/* From facts as read to a graph: duplicates dropped, train's ids first, neighbourhoods in CSR
 * form. */
#include <string.h>

#include "core/mem.h"
#include "graph/duplicates.h"
#include "graph/graph.h"

enum { MOST_RANGES = 16, AHEAD = 16, FACTS_PER_PIECE = 4096, TICK = 1 << 14 };

/* ---- seen ids first ---- */

/* New ids, marked entries first, in order. Returns how many are marked. */
static uint32_t number_marked_first(uint32_t *ids, const uint8_t *marked, uint32_t count)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++)
        if (marked[i])
            ids[i] = next++;
    uint32_t seen = next;
    for (uint32_t i = 0; i < count; i++)
        if (!marked[i])
            ids[i] = next++;
    return seen;
}

static bool is_identity(const uint32_t *ids, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] != i)
            return false;
    return true;
}

static kith_status reorder_names(kith__names *names, const uint32_t *ids, kith_error *error)
{
    kith__names ordered = {0};
    uint32_t *old = kith__alloc(names->count, sizeof *old);
    kith_status status = KITH_OK;

    if (!old || kith__names_init(&ordered))
        TRY(kith__no_memory(error));
    for (uint32_t i = 0; i < names->count; i++)
        old[ids[i]] = i;
    for (uint32_t i = 0; i < names->count; i++) {
        const char *name = kith__names_get(names, old[i]);
        size_t length = kith__names_length(names, old[i]);
        if (kith__names_add(&ordered, name, length, kith__names_hash(name, length)) == KITH__NO_ID)
            TRY(kith__no_memory(error));
    }
    kith__names_release(names);
    *names = ordered;
    memset(&ordered, 0, sizeof ordered);
cleanup:
    kith__names_release(&ordered);
    kith__free(old);
    return status;
}

static kith_status reorder_labels(kith_graph *graph, const uint32_t *ids, kith_error *error)
{
    uint64_t *start = kith__alloc(graph->entities.count, sizeof *start);

    if (!start)
        return kith__no_memory(error);
    for (uint32_t i = 0; i < graph->entities.count; i++)
        start[ids[i]] = graph->label_start[i];
    kith__free(graph->label_start);
    graph->label_start = start;
    return KITH_OK;
}

static void renumber_facts(kith_graph *graph, const uint32_t *entities, const uint32_t *relations)
{
    for (int split = 0; split < KITH_SPLITS; split++)
        for (size_t i = 0; i < graph->splits[split].count; i++) {
            kith_triple *t = &graph->splits[split].at[i];
            *t = (kith_triple){entities[t->subject], relations[t->relation], entities[t->object]};
        }
}

static kith_status put_seen_first(kith_graph *graph, kith_error *error)
{
    uint32_t n = graph->entities.count, m = graph->relations.count;
    uint8_t *seen = kith__calloc((size_t)n + m, 1);
    uint32_t *ids = kith__alloc((size_t)n + m, sizeof *ids);
    const kith__facts *train = &graph->splits[KITH_TRAIN];
    kith_status status = KITH_OK;

    if (!seen || !ids)
        TRY(kith__no_memory(error));
    for (size_t i = 0; i < train->count; i++) {
        seen[train->at[i].subject] = seen[train->at[i].object] = 1;
        seen[(size_t)n + train->at[i].relation] = 1;
    }
    memset(seen + n, 1, graph->fixed_relations);
    graph->seen_entities = number_marked_first(ids, seen, n);
    graph->seen_relations = number_marked_first(ids + n, seen + n, m);
    bool entities_moved = !is_identity(ids, n), relations_moved = !is_identity(ids + n, m);
    if (entities_moved)
        TRY(reorder_names(&graph->entities, ids, error));
    if (entities_moved && graph->label_start)
        TRY(reorder_labels(graph, ids, error));
    if (relations_moved)
        TRY(reorder_names(&graph->relations, ids + n, error));
    if (entities_moved || relations_moved)
        renumber_facts(graph, ids, ids + n);
cleanup:
    kith__free(seen);
    kith__free(ids);
    return status;
}

/* ---- neighbourhoods ---- */

/* Each piece fills the lists of a range of entities and reads all facts, so every list is in file
 * order and no two pieces write to the same place. */
typedef struct {
    const kith_graph *graph;
    kith__watch *watch;
    uint32_t bound[MOST_RANGES + 1];
    uint64_t *offset, *cursor;
    kith_neighbor *at;
} connect;

typedef void (*visitor)(connect *c, uint32_t entity, uint32_t relation, uint32_t neighbor);

static void count_one(connect *c, uint32_t entity, uint32_t relation, uint32_t neighbor)
{
    (void)relation;
    (void)neighbor;
    c->cursor[entity]++;
}

static void place_one(connect *c, uint32_t entity, uint32_t relation, uint32_t neighbor)
{
    c->at[c->cursor[entity]++] = (kith_neighbor){relation, neighbor};
}

/* Prefetch the cursors of a later fact, and the places that an earlier one's cursors point to. */
static inline __attribute__((always_inline)) void
look_ahead(const connect *c, const kith_triple *at, uint32_t low, uint32_t width, bool placing)
{
    const kith_triple *far = at + 2 * AHEAD, *proximity = at + AHEAD;

    if (far->subject - low < width)
        __builtin_prefetch(&c->cursor[far->subject], 1);
    if (far->object - low < width)
        __builtin_prefetch(&c->cursor[far->object], 1);
    if (placing && proximity->subject - low < width)
        __builtin_prefetch(&c->at[c->cursor[proximity->subject]], 1);
    if (placing && proximity->object - low < width)
        __builtin_prefetch(&c->at[c->cursor[proximity->object]], 1);
}

/* Inlined into its two callers, so that `visit` costs no call. */
static inline __attribute__((always_inline)) void visit_edges(connect *c, size_t piece,
                                                              visitor visit)
{
    const kith_graph *g = c->graph;
    const uint32_t inverse = g->relations.count, low = c->bound[piece];
    const uint32_t width = c->bound[piece + 1] - low, seen = g->seen_entities;
    const kith__facts *train = &g->splits[KITH_TRAIN], *aux = &g->splits[KITH_AUX];

    for (size_t i = 0; i < train->count; i++) {
        kith_triple t = train->at[i];
        if (i % TICK == 0 && i > 0 && kith__watch_add(c->watch, TICK))
            return;
        if (i + 2 * AHEAD < train->count)
            look_ahead(c, &train->at[i], low, width, visit == place_one);
        if (t.subject - low < width)
            visit(c, t.subject, t.relation, t.object);
        if (t.object - low < width)
            visit(c, t.object, t.relation + inverse, t.subject);
    }
    for (size_t i = 0; i < aux->count; i++) {
        kith_triple t = aux->at[i];
        if (t.relation >= g->seen_relations)
            continue;
        if (t.subject - low < width && t.subject >= seen && t.object < seen)
            visit(c, t.subject, t.relation, t.object);
        if (t.object - low < width && t.object >= seen && t.subject < seen)
            visit(c, t.object, t.relation + inverse, t.subject);
    }
}

static void count_piece(void *context, size_t piece)
{
    visit_edges(context, piece, count_one);
}

static void place_piece(void *context, size_t piece)
{
    visit_edges(context, piece, place_one);
}

static void bound_by_count(connect *c, uint32_t entities, size_t pieces)
{
    for (size_t i = 0; i <= pieces; i++)
        c->bound[i] = (uint32_t)((uint64_t)entities * i / pieces);
}

static void bound_by_neighbors(connect *c, uint32_t entities, size_t pieces)
{
    uint64_t total = c->offset[entities];
    uint32_t e = 0;

    for (size_t i = 1; i < pieces; i++) {
        while (e < entities && c->offset[e] < total / pieces * i)
            e++;
        c->bound[i] = e;
    }
}

static kith_status build_neighborhoods(kith_graph *graph, kith__pool *pool, kith__watch *watch,
                                       kith_error *error)
{
    uint32_t n = graph->entities.count;
    size_t facts = graph->splits[KITH_TRAIN].count + graph->splits[KITH_AUX].count;
    size_t pieces = kith__pool_pieces(pool, facts, FACTS_PER_PIECE, MOST_RANGES);
    connect c = {.graph = graph, .watch = watch};
    kith_status status;

    TRY(kith__watch_begin(watch, "building neighbourhoods",
                          2 * pieces * graph->splits[KITH_TRAIN].count, error));
    c.offset = graph->offset = kith__calloc((size_t)n + 1, sizeof *graph->offset);
    c.cursor = kith__calloc((size_t)n + 1, sizeof *c.cursor);
    if (!c.offset || !c.cursor)
        TRY(kith__no_memory(error));
    bound_by_count(&c, n, pieces);
    kith__pool_run(pool, count_piece, &c, pieces);
    TRY(kith__watch_status(watch, error));
    for (uint32_t e = 0; e < n; e++) { /* from counts to offsets */
        c.offset[e + 1] = c.offset[e] + c.cursor[e];
        c.cursor[e] = c.offset[e];
    }
    c.at = graph->neighbors = kith__alloc(c.offset[n], sizeof *c.at);
    if (!c.at)
        TRY(kith__no_memory(error));
    bound_by_neighbors(&c, n, pieces);
    kith__pool_run(pool, place_piece, &c, pieces);
    TRY(kith__watch_status(watch, error));
cleanup:
    kith__free(c.cursor);
    return status;
}

/* ---- duplicates of train, found in the neighbourhoods ---- */

/* A duplicate fact gives its subject the same neighbour twice. Checking list by list takes a
 * fraction of the time of a table of all facts, and nearly every graph has no duplicates. */
typedef struct {
    const kith_graph *graph;
    kith__watch *watch;
    size_t pieces;
    struct {
        bool found, no_memory;
    } piece[4 * MOST_RANGES];
} search;

typedef struct {
    uint64_t *at;
    size_t capacity;
} key_table;

static uint64_t key_of(kith_neighbor n)
{
    return (uint64_t)n.relation << 32 | n.entity;
}

/* Whether a list has the same outgoing neighbour twice; -1 if out of memory. */
static int has_repeat(const kith_neighbor *list, size_t count, uint32_t inverse, key_table *table)
{
    size_t slots = 8;

    while (slots < 2 * count)
        slots *= 2;
    if (kith__reserve(&table->at, &table->capacity, slots, sizeof *table->at))
        return -1;
    memset(table->at, 0xff, slots * sizeof *table->at); /* no key is all ones */
    for (size_t i = 0; i < count; i++) {
        uint64_t key = key_of(list[i]);
        if (list[i].relation >= inverse)
            continue;
        size_t at = (key * 0x9e3779b97f4a7c15u >> 32) & (slots - 1);
        for (; table->at[at] != UINT64_MAX; at = (at + 1) & (slots - 1))
            if (table->at[at] == key)
                return 1;
        table->at[at] = key;
    }
    return 0;
}

static void search_piece(void *context, size_t piece)
{
    search *s = context;
    const kith_graph *g = s->graph;
    uint64_t total = g->offset[g->seen_entities];
    uint64_t from = total * piece / s->pieces, to = total * (piece + 1) / s->pieces;
    key_table table = {0};
    uint32_t low = 0, high = g->seen_entities;
    int found = 0;

    while (low < high) { /* find the first entity whose list begins at or after `from` */
        uint32_t middle = low + (high - low) / 2;
        if (g->offset[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t e = low; e < g->seen_entities && g->offset[e] < to && !found; e++) {
        if (e % TICK == 0 && kith__watch_add(s->watch, 0))
            break;
        found = has_repeat(g->neighbors + g->offset[e], (size_t)(g->offset[e + 1] - g->offset[e]),
                           g->relations.count, &table);
    }
    s->piece[piece].found = found > 0;
    s->piece[piece].no_memory = found < 0;
    kith__free(table.at);
}

static kith_status find_repeats(bool *found, const kith_graph *graph, kith__pool *pool,
                                kith__watch *watch, kith_error *error)
{
    search s = {.graph = graph,
                .watch = watch,
                .pieces = 4 * kith__pool_pieces(pool, graph->splits[KITH_TRAIN].count,
                                                FACTS_PER_PIECE, MOST_RANGES)};

    *found = false;
    kith__pool_run(pool, search_piece, &s, s.pieces);
    for (size_t i = 0; i < s.pieces; i++) {
        *found |= s.piece[i].found;
        if (s.piece[i].no_memory)
            return kith__no_memory(error);
    }
    return kith__watch_status(watch, error);
}

static kith_status drop_train_duplicates(kith_graph *graph, kith__pool *pool, kith__watch *watch,
                                         kith_error *error)
{
    bool found;
    kith_status status;

    TRY(kith__watch_begin(watch, "looking for duplicates", 0, error));
    TRY(find_repeats(&found, graph, pool, watch, error));
    if (!found)
        goto cleanup;
    TRY(kith__drop_duplicates(&graph->report.duplicates, &graph->splits[KITH_TRAIN], pool, error));
    kith__free(graph->offset);
    kith__free(graph->neighbors);
    graph->offset = NULL;
    graph->neighbors = NULL;
    TRY(build_neighborhoods(graph, pool, watch, error));
cleanup:
    return status;
}

kith_status kith__graph_finish(kith_graph *graph, kith__pool *pool, kith__watch *watch,
                               kith_error *error)
{
    kith_status status = KITH_OK;

    if (graph->relations.count > UINT32_MAX / 2)
        return kith__fail(error, KITH_ERR_INPUT,
                          "the graph has %u relations, expected at most 2^31 so that each has an "
                          "inverse", graph->relations.count);
    for (int split = KITH_DEV; split < KITH_SPLITS; split++)
        TRY(kith__drop_duplicates(&graph->report.duplicates, &graph->splits[split], pool, error));
    TRY(kith__watch_status(watch, error));
    TRY(put_seen_first(graph, error));
    TRY(build_neighborhoods(graph, pool, watch, error));
    TRY(drop_train_duplicates(graph, pool, watch, error));
cleanup:
    return status;
}
