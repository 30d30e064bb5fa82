#include "model/entity_encoder.h"

#include <string.h>

#include "core/mem.h"
#include "graph/graph.h"

enum { ENTITIES_AT_ONCE = 1024, FACTS_AT_ONCE = 1 << 16 };

/* ---- creating and freeing ---- */

static void lists_init(kith__made_lists *made, const kith_model *model)
{
    made->lists.seen = model->lists->seen;
    made->lists.relations = model->lists->relations;
    made->lists.cap = SIZE_MAX; /* lists are cut before they are stored */
}

static void lists_release(kith__made_lists *made)
{
    kith__free(made->lists.own_offset);
    kith__free(made->lists.own_at);
    kith__free(made->lists.denominator);
}

kith_status kith__entity_encoder_init(kith__entity_encoder *e, const kith_model *model,
                                      kith__pool *pool, kith_error *error)
{
    kith_status status = KITH_OK;

    *e = (kith__entity_encoder){.model = model};
    lists_init(&e->queried, model);
    lists_init(&e->unseen, model);
    e->relations = kith__calloc(model->lists->relations, 1);
    if (!e->relations)
        TRY(kith__no_memory(error));
    TRY(kith__encoder_new(&e->encoder, &model->settings, &e->queried.lists, model->rules,
                          &model->params, pool, error));
cleanup:
    if (status != KITH_OK)
        kith__entity_encoder_release(e);
    return status;
}

void kith__entity_encoder_release(kith__entity_encoder *e)
{
    kith__encoder_free(e->encoder);
    lists_release(&e->queried);
    lists_release(&e->unseen);
    kith__free(e->link);
    kith__free(e->vectors);
    kith__free(e->kept);
    kith__free(e->relations);
    kith__free(e->facts);
    *e = (kith__entity_encoder){0};
}

/* ---- neighbours ---- */

bool kith__has_seen_neighbor(kith__span facts, uint32_t seen)
{
    for (size_t i = 0; i < facts.count; i++)
        if (facts.at[i].entity < seen)
            return true;
    return false;
}

static bool is_encoded(const kith__view *known, uint32_t entity, uint32_t seen)
{
    kith__spans facts = kith__view_facts(known, entity);
    return kith__has_seen_neighbor(facts.base, seen) || kith__has_seen_neighbor(facts.added, seen);
}

bool kith__leads_to_seen(const kith__view *known, kith__span facts, uint32_t seen)
{
    if (kith__has_seen_neighbor(facts, seen))
        return true;
    for (size_t i = 0; known && i < facts.count; i++)
        if (is_encoded(known, facts.at[i].entity, seen))
            return true;
    return false;
}

/* ---- lists ---- */

static void begin_lists(kith__made_lists *made)
{
    made->lists.entities = 0;
    made->lists.vectors = NULL;
    made->lists.vector_count = 0;
}

/* Reserve space for one more list of at most `most` neighbours; NULL if out of memory. */
static kith_neighbor *reserve_list(kith__entity_encoder *e, kith__made_lists *made, size_t most)
{
    kith__neighbor_lists *lists = &made->lists;
    size_t count = lists->entities, used = count > 0 ? (size_t)lists->own_offset[count] : 0;

    if (kith__reserve(&lists->own_offset, &made->offset_capacity, count + 2,
                      sizeof *lists->own_offset) ||
        kith__reserve(&lists->own_at, &made->at_capacity, used + most + 1, sizeof *lists->own_at) ||
        kith__reserve(&e->kept, &e->kept_capacity, most, 1) ||
        (e->model->rules && kith__reserve(&lists->denominator, &made->denominator_capacity,
                                          used + most, sizeof *lists->denominator)))
        return NULL;
    lists->own_offset[count] = used;
    lists->offset = lists->own_offset;
    lists->at = lists->own_at;
    return lists->own_at + used;
}

/* The last reserved list now has `count` neighbours; cut it to what the settings keep. */
static void end_list(kith__entity_encoder *e, kith__made_lists *made, uint32_t entity, size_t count)
{
    const kith__implications *rules = e->model->rules;
    kith__neighbor_lists *lists = &made->lists;
    size_t used = (size_t)lists->own_offset[lists->entities];

    lists->own_offset[++lists->entities] =
        used + kith__list_cut(lists->own_at + used, rules ? lists->denominator + used : NULL, count,
                              entity, rules, &e->model->settings, e->kept, e->relations);
}

static size_t copy_seen(kith_neighbor *to, kith__span facts, uint32_t seen)
{
    size_t count = 0;

    for (size_t i = 0; i < facts.count; i++)
        if (facts.at[i].entity < seen)
            to[count++] = facts.at[i];
    return count;
}

/* The list of an unseen neighbour; -1 if out of memory. */
static int add_unseen(kith__entity_encoder *e, const kith__view *known, kith_neighbor link)
{
    kith__spans facts = kith__view_facts(known, link.entity);
    uint32_t seen = e->model->lists->seen, row = e->unseen.lists.entities;
    kith_neighbor *at = reserve_list(e, &e->unseen, facts.count);

    if (!at || kith__reserve(&e->link, &e->link_capacity, row + 1, sizeof *e->link))
        return -1;
    size_t count = copy_seen(at, facts.base, seen);
    count += copy_seen(at + count, facts.added, seen);
    e->link[row] = link;
    end_list(e, &e->unseen, link.entity, count);
    return 0;
}

/* For an entity without a seen neighbour: list the unseen ones that have one, as rows of vectors
 * that are computed later. */
static int add_far(kith__entity_encoder *e, const kith__view *known,
                   const kith__query_entity *queried, kith_neighbor *to)
{
    uint32_t seen = e->model->lists->seen;
    size_t count = 0;

    for (size_t i = 0; known && i < queried->count; i++) {
        kith_neighbor link = queried->facts[i];
        if (!is_encoded(known, link.entity, seen))
            continue;
        to[count++] = (kith_neighbor){link.relation, seen + e->unseen.lists.entities};
        if (add_unseen(e, known, link))
            return -1;
    }
    end_list(e, &e->queried, queried->entity, count);
    return 0;
}

static int make_lists(kith__entity_encoder *e, const kith__view *known,
                      const kith__query_entity *queried, size_t count)
{
    uint32_t seen = e->model->lists->seen;

    begin_lists(&e->queried);
    begin_lists(&e->unseen);
    for (size_t i = 0; i < count; i++) {
        const kith__span facts = {queried[i].facts, queried[i].count};
        kith_neighbor *to = reserve_list(e, &e->queried, facts.count);
        if (!to)
            return -1;
        if (kith__has_seen_neighbor(facts, seen))
            end_list(e, &e->queried, queried[i].entity, copy_seen(to, facts, seen));
        else if (add_far(e, known, &queried[i], to))
            return -1;
    }
    return 0;
}

/* ---- encodings ---- */

/* Encode each unseen neighbour for the relation that leads back, as training encodes both ends of a
 * fact. */
static kith_status encode_unseen(kith__entity_encoder *e, kith_error *error)
{
    kith__neighbor_lists *lists = &e->unseen.lists;
    size_t ds = kith__encoder_stride(e->encoder);
    kith_status status = KITH_OK;

    if (kith__renew(&e->vectors, &e->vector_capacity, lists->entities * ds, sizeof *e->vectors))
        TRY(kith__no_memory(error));
    kith__encoder_use(e->encoder, lists, 0);
    kith__encoder_begin(e->encoder);
    for (uint32_t i = 0; i < lists->entities; i++)
        kith__encoder_request(e->encoder, i,
                              kith__flip(e->link[i].relation, lists->relations / 2), NULL);
    TRY(kith__encoder_forward(e->encoder, error));
    for (size_t i = 0; i < lists->entities; i++)
        memcpy(e->vectors + i * ds, kith__encoder_answer(e->encoder, i), ds * sizeof *e->vectors);
    e->queried.lists.vectors = e->vectors;
    e->queried.lists.vector_count = lists->entities;
cleanup:
    return status;
}

kith_status kith__encode_queried(kith__entity_encoder *e, const kith__view *known,
                               const kith__query_entity *queried, const uint32_t *queries,
                               size_t count, kith_error *error)
{
    kith_status status = KITH_OK;

    if (make_lists(e, known, queried, count))
        TRY(kith__no_memory(error));
    if (e->unseen.lists.entities > 0)
        TRY(encode_unseen(e, error));
    kith__encoder_use(e->encoder, &e->queried.lists, 0);
    kith__encoder_begin(e->encoder);
    for (size_t i = 0; i < count; i++)
        kith__encoder_request(e->encoder, (uint32_t)i, queries[i], NULL);
    TRY(kith__encoder_forward(e->encoder, error));
cleanup:
    return status;
}

kith_neighbor kith__encoded_neighbor(const kith__entity_encoder *e, kith_neighbor neighbor)
{
    uint32_t seen = e->model->lists->seen;
    return neighbor.entity < seen ? neighbor : e->link[neighbor.entity - seen];
}

/* ---- entities of the graph ---- */

kith_status kith__read_graph_facts(size_t *count, kith_neighbor **facts, size_t *used,
                                   size_t *capacity, const kith_graph *g, const kith__index *known,
                                   uint32_t entity, kith_error *error)
{
    bool there = entity < g->entities.count;
    uint64_t from = there ? g->offset[entity] : 0, to = there ? g->offset[entity + 1] : 0;
    kith__span all = {NULL, 0};
    size_t before = *used;

    if (known && entity < known->entities)
        all = kith__facts_of(known, entity);
    if (kith__reserve(facts, capacity, *used + (size_t)(to - from) + all.count, sizeof **facts))
        return kith__no_memory(error);
    for (uint64_t i = from; i < to; i++)
        (*facts)[(*used)++] = (kith_neighbor){kith__directed(g, g->neighbors[i].relation),
                                              g->neighbors[i].entity};
    /* add facts with unseen entities, which the graph's neighbourhoods lack */
    for (size_t i = 0; all.count > to - from && i < all.count; i++)
        if (all.at[i].entity >= g->seen_entities)
            (*facts)[(*used)++] = all.at[i];
    *count = *used - before;
    return KITH_OK;
}

/* A batch of requests, each with its index among all. */
typedef struct {
    const kith__encode_request *all;
    size_t place[ENTITIES_AT_ONCE], count;
} batch;

/* Whether the model's lists have no neighbour of an entity, but `known` has one. */
static bool is_far(const kith__entity_encoder *e, const kith__index *known, uint32_t entity)
{
    return known && kith__list_count(e->model->lists, entity) == 0 &&
           kith__facts_of(known, entity).count > 0;
}

/* Collect the next requests that are far, or the next that are not; returns where to continue. */
static size_t next_batch(batch *b, const kith__entity_encoder *e, const kith__index *known,
                         bool far, size_t from, size_t count)
{
    size_t facts = 0;

    b->count = 0;
    for (; from < count && b->count < ENTITIES_AT_ONCE && facts < FACTS_AT_ONCE; from++) {
        uint32_t entity = b->all[from].entity;
        if (is_far(e, known, entity) != far)
            continue;
        b->place[b->count++] = from;
        for (size_t i = 0; far && i < kith__facts_of(known, entity).count; i++)
            facts += kith__facts_of(known, kith__facts_of(known, entity).at[i].entity).count;
    }
    return from;
}

/* Encode from the model's lists. */
static kith_status encode_near(kith__entity_encoder *e, const batch *b, kith_error *error)
{
    kith__encoder_use(e->encoder, e->model->lists, 0);
    kith__encoder_begin(e->encoder);
    for (size_t i = 0; i < b->count; i++) {
        kith__encode_request request = b->all[b->place[i]];
        kith__encoder_request(e->encoder, request.entity, request.query, NULL);
    }
    return kith__encoder_forward(e->encoder, error);
}

static kith_status encode_far(kith__entity_encoder *e, const kith__index *known, const batch *b,
                              kith_error *error)
{
    const kith__view view = {.base = known};
    kith__query_entity queried[ENTITIES_AT_ONCE];
    uint32_t queries[ENTITIES_AT_ONCE];
    size_t used = 0;
    kith_status status = KITH_OK;

    for (size_t i = 0; i < b->count; i++) {
        queried[i] = (kith__query_entity){.entity = b->all[b->place[i]].entity};
        queries[i] = b->all[b->place[i]].query;
        TRY(kith__read_graph_facts(&queried[i].count, &e->facts, &used, &e->fact_capacity,
                                   e->model->graph, known, queried[i].entity, error));
    }
    for (size_t i = 0, start = 0; i < b->count; start += queried[i++].count)
        queried[i].facts = e->facts + start;
    TRY(kith__encode_queried(e, &view, queried, queries, b->count, error));
cleanup:
    return status;
}

kith_status kith__encode_from_graph(float *vectors, kith__entity_encoder *e,
                                    const kith__index *known,
                                    const kith__encode_request *requests, size_t count,
                                    kith_error *error)
{
    size_t ds = kith__encoder_stride(e->encoder);
    batch b = {.all = requests};
    kith_status status = KITH_OK;

    for (int far = 0; far <= (known != NULL); far++)
        for (size_t from = 0; from < count;) {
            from = next_batch(&b, e, known, far, from, count);
            if (b.count == 0)
                continue;
            TRY(far ? encode_far(e, known, &b, error) : encode_near(e, &b, error));
            for (size_t i = 0; i < b.count; i++)
                memcpy(vectors + b.place[i] * ds, kith__encoder_answer(e->encoder, i),
                       ds * sizeof *vectors);
        }
cleanup:
    return status;
}
