#include "embed/neighbor_lists.h"

#include <string.h>

#include "core/mem.h"
#include "core/rng.h"

enum { TICK = 1 << 8 };

/* The largest P(r' => r) over the entity's other relations r'. Rules are stored strongest first, so
 * the first one whose body is present is the largest. */
static float redundancy(uint32_t relation, const kith__implications *rules, const uint8_t *there)
{
    for (uint64_t i = rules->offset[relation]; i < rules->offset[relation + 1]; i++)
        if (there[rules->at[i].relation])
            return rules->at[i].confidence;
    return 0;
}

void kith__logic_denominators(float *denominator, const kith_neighbor *at, size_t count,
                              const kith__implications *rules, const kith_settings *settings,
                              uint8_t *relations)
{
    for (size_t i = 0; i < count; i++)
        relations[at[i].relation] = 1;
    for (size_t i = 0; i < count; i++) {
        float most = redundancy(at[i].relation, rules, relations);
        if (settings->logic_denominator == KITH_LOGIC_ONE_PLUS_MAX)
            denominator[i] = 1 + most;
        else
            denominator[i] = most > 0 ? most : 1;
    }
    for (size_t i = 0; i < count; i++)
        relations[at[i].relation] = 0;
}

/* Choose `cap` of the list, every subset being equally likely, in file order. */
static void choose(uint8_t *kept, size_t count, size_t cap, kith__rng *rng)
{
    size_t wanted = cap;

    for (size_t i = 0; i < count; i++) {
        kept[i] = kith__rng_below(rng, count - i) < wanted;
        wanted -= kept[i];
    }
}

static bool keeps_all(const kith_settings *settings)
{
    return settings->neighbors == KITH_NEIGHBORS_ALL ||
           settings->neighbors == KITH_NEIGHBORS_SAMPLED;
}

size_t kith__list_cap(const kith_settings *settings)
{
    return keeps_all(settings) ? SIZE_MAX : settings->max_neighbors;
}

size_t kith__list_cut(kith_neighbor *at, float *denominator, size_t count, uint32_t entity,
                      const kith__implications *rules, const kith_settings *settings, uint8_t *kept,
                      uint8_t *relations)
{
    size_t cap = settings->max_neighbors, used = 0;

    if (denominator)
        kith__logic_denominators(denominator, at, count, rules, settings, relations);
    if (keeps_all(settings) || count <= cap)
        return count;
    if (settings->neighbors == KITH_NEIGHBORS_FIRST)
        return cap;
    kith__rng rng;
    kith__rng_init(&rng, settings->seed, UINT64_C(1) << 40 | entity);
    choose(kept, count, cap, &rng);
    for (size_t i = 0; i < count; i++) {
        if (!kept[i])
            continue;
        at[used] = at[i];
        if (denominator)
            denominator[used] = denominator[i];
        used++;
    }
    return used;
}

typedef struct {
    kith_neighbor *at;
    float *denominator;
    uint8_t *kept, *relations;
    size_t capacity;
} scratch;

static int scratch_reserve(scratch *s, size_t count)
{
    size_t capacity[3] = {s->capacity, s->capacity, s->capacity};

    if (kith__reserve(&s->at, &capacity[0], count, sizeof *s->at) ||
        kith__reserve(&s->denominator, &capacity[1], count, sizeof *s->denominator) ||
        kith__reserve(&s->kept, &capacity[2], count, 1))
        return -1;
    s->capacity = capacity[0];
    return 0;
}

/* The entity's neighbours in the graph, with relations numbered as in train. */
static size_t read_list(scratch *s, const kith_graph *graph, uint32_t entity)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);
    size_t count = (size_t)(hood.offset[entity + 1] - hood.offset[entity]);

    for (size_t i = 0; i < count; i++) {
        kith_neighbor next = hood.at[hood.offset[entity] + i];
        s->at[i] = (kith_neighbor){kith__directed(graph, next.relation), next.entity};
    }
    return count;
}

/* One entity's list, stored from `to`; returns how many were kept. */
static size_t fill_list(kith__neighbor_lists *lists, size_t to, scratch *s, const kith_graph *graph,
                        uint32_t entity, const kith__implications *rules,
                        const kith_settings *settings)
{
    size_t count = read_list(s, graph, entity);
    size_t kept = kith__list_cut(s->at, lists->denominator ? s->denominator : NULL, count, entity,
                                 rules, settings, s->kept, s->relations);

    if (kept > 0 && lists->own_at)
        memcpy(lists->own_at + to, s->at, kept * sizeof *s->at);
    if (kept > 0 && lists->denominator)
        memcpy(lists->denominator + to, s->denominator, kept * sizeof *s->denominator);
    return kept;
}

static size_t count_kept(const kith_graph *graph, const kith_settings *settings)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);
    size_t total = 0;

    for (uint32_t e = 0; e < kith_graph_entity_count(graph); e++) {
        size_t count = (size_t)(hood.offset[e + 1] - hood.offset[e]);
        bool cut = !keeps_all(settings) && count > settings->max_neighbors;
        total += cut ? settings->max_neighbors : count;
    }
    return total;
}

/* Whether the graph's own neighbourhoods can be used, cut at the cap. */
static bool can_borrow(const kith_graph *graph, const kith_settings *settings)
{
    return settings->neighbors != KITH_NEIGHBORS_RANDOM &&
           kith_graph_relation_count(graph) == kith_graph_seen_relation_count(graph);
}

static int reserve_lists(kith__neighbor_lists *lists, const kith_graph *graph,
                     const kith__implications *rules, const kith_settings *settings)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);
    size_t total = (size_t)hood.offset[lists->entities];

    lists->offset = hood.offset;
    lists->at = hood.at;
    lists->cap = kith__list_cap(settings);
    if (!can_borrow(graph, settings)) {
        total = count_kept(graph, settings);
        lists->offset = lists->own_offset =
            kith__alloc((size_t)lists->entities + 1, sizeof *lists->own_offset);
        lists->at = lists->own_at = kith__alloc(total, sizeof *lists->own_at);
        if (!lists->own_offset || !lists->own_at)
            return -1;
    }
    lists->denominator = rules ? kith__calloc(total, sizeof *lists->denominator) : NULL;
    return rules && !lists->denominator ? -1 : 0;
}

static kith_status fill_lists(kith__neighbor_lists *lists, const kith_graph *graph,
                              const kith__implications *rules, const kith_settings *settings,
                              kith__watch *watch, kith_error *error)
{
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);
    scratch s = {.relations = kith__calloc(lists->relations, 1)};
    size_t used = 0;
    kith_status status = KITH_OK;

    if (!s.relations)
        TRY(kith__no_memory(error));
    for (uint32_t e = 0; e < lists->entities; e++) {
        if (e % TICK == 0 && kith__watch_add(watch, 0))
            TRY(kith__watch_status(watch, error));
        if (scratch_reserve(&s, (size_t)(hood.offset[e + 1] - hood.offset[e])))
            TRY(kith__no_memory(error));
        if (lists->own_offset)
            lists->own_offset[e] = used;
        used += fill_list(lists, (size_t)(lists->own_offset ? used : hood.offset[e]), &s, graph, e,
                          rules, settings);
    }
    if (lists->own_offset)
        lists->own_offset[lists->entities] = used;
cleanup:
    kith__free(s.at);
    kith__free(s.denominator);
    kith__free(s.kept);
    kith__free(s.relations);
    return status;
}

kith_status kith__neighbor_lists_new(kith__neighbor_lists **out, const kith_graph *graph,
                                     const kith__implications *rules, const kith_settings *settings,
                                     kith__watch *watch, kith_error *error)
{
    kith__neighbor_lists *lists = kith__calloc(1, sizeof *lists);
    kith_status status = KITH_OK;

    if (!lists)
        return kith__no_memory(error);
    lists->entities = kith_graph_entity_count(graph);
    lists->seen = kith_graph_seen_entity_count(graph);
    lists->relations = 2 * kith_graph_seen_relation_count(graph);
    if (reserve_lists(lists, graph, rules, settings))
        TRY(kith__no_memory(error));
    if (lists->own_at || lists->denominator)
        TRY(fill_lists(lists, graph, rules, settings, watch, error));
    *out = lists;
    lists = NULL;
cleanup:
    kith__neighbor_lists_free(lists);
    return status;
}

kith_status kith__neighbor_lists_capped(kith__neighbor_lists **out,
                                        const kith__neighbor_lists *lists, size_t cap,
                                        kith_error *error)
{
    kith__neighbor_lists *capped = kith__calloc(1, sizeof *capped);
    size_t used = 0;

    if (!capped)
        return kith__no_memory(error);
    capped->entities = lists->entities;
    capped->seen = lists->seen;
    capped->relations = lists->relations;
    capped->cap = SIZE_MAX;
    capped->own_offset = kith__calloc((size_t)lists->entities + 1, sizeof *capped->own_offset);
    for (uint32_t e = 0; capped->own_offset && e < lists->entities; e++) {
        size_t count = kith__list_count(lists, e);
        used += e >= lists->seen ? 0 : count < cap ? count : cap;
        capped->own_offset[e + 1] = used;
    }
    capped->own_at = kith__alloc(used, sizeof *capped->own_at);
    capped->offset = capped->own_offset;
    capped->at = capped->own_at;
    bool logic = lists->denominator || lists->packed;
    capped->denominator = logic ? kith__alloc(used, sizeof *capped->denominator) : NULL;
    if (!capped->offset || !capped->at || (logic && !capped->denominator)) {
        kith__neighbor_lists_free(capped);
        return kith__no_memory(error);
    }
    *out = capped;
    return KITH_OK;
}

void kith__neighbor_lists_draw(kith__neighbor_lists *capped, const kith__neighbor_lists *lists,
                               uint64_t seed)
{
    for (uint32_t e = 0; e < lists->seen; e++) {
        uint64_t to = capped->offset[e], end = capped->offset[e + 1];
        kith__rng rng;
        kith__rng_init(&rng, seed, e);
        for (uint64_t s = lists->offset[e]; to < end; s++) { /* every subset is equally likely */
            uint64_t left = lists->offset[e + 1] - s;
            if (left > end - to && kith__rng_below(&rng, left) >= end - to)
                continue;
            capped->own_at[to] = lists->at[s];
            if (capped->denominator)
                capped->denominator[to] = kith__denominator(lists, s);
            to++;
        }
    }
}

/* ---- packing ---- */

enum { PACK_PIECES = 64 };

typedef struct {
    kith__neighbor_lists *lists;
    uint16_t *packed;
} packing;

/* Rules are stored strongest first, so the rule behind the denominator is found by binary search.
 * Another rule with the same confidence serves as well. */
static uint16_t rule_behind(const kith__neighbor_lists *lists, uint64_t place)
{
    const kith__implications *rules = lists->rules;
    uint64_t first = rules->offset[lists->at[place].relation];
    uint64_t low = first, high = rules->offset[lists->at[place].relation + 1];
    float wanted = lists->denominator[place], most = lists->one_plus ? 1 : 0;

    if (wanted == 1)
        return 0;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (most + rules->at[middle].confidence > wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint16_t)(low - first + 1);
}

static void pack_piece(void *context, size_t piece)
{
    const packing *p = context;
    const kith__neighbor_lists *lists = p->lists;
    uint64_t to = (uint64_t)lists->entities * (piece + 1) / PACK_PIECES;

    /* Entries beyond the cap are never read. */
    for (uint64_t e = (uint64_t)lists->entities * piece / PACK_PIECES; e < to; e++)
        for (size_t k = 0; k < kith__list_count(lists, (uint32_t)e); k++)
            p->packed[lists->offset[e] + k] = rule_behind(lists, lists->offset[e] + k);
}

void kith__neighbor_lists_pack(kith__neighbor_lists *lists, const kith__implications *rules,
                               const kith_settings *settings, kith__pool *pool)
{
    packing p = {.lists = lists};

    if (!lists->denominator || lists->mapped || lists->relations > UINT16_MAX)
        return;
    p.packed = kith__calloc((size_t)lists->offset[lists->entities], sizeof *p.packed);
    if (!p.packed)
        return;
    lists->rules = rules;
    lists->one_plus = settings->logic_denominator == KITH_LOGIC_ONE_PLUS_MAX;
    kith__pool_run(pool, pack_piece, &p, PACK_PIECES);
    kith__free(lists->denominator);
    lists->denominator = NULL;
    lists->packed = p.packed;
}

void kith__neighbor_lists_free(kith__neighbor_lists *lists)
{
    if (!lists)
        return;
    if (!lists->mapped) {
        kith__free(lists->own_offset);
        kith__free(lists->own_at);
        kith__free(lists->denominator);
        kith__free(lists->packed);
    }
    kith__free(lists);
}
