#include "rules/implication.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* Which relations each seen entity has, each once, and the other way round. */
typedef struct {
    uint64_t *entity_offset;
    uint32_t *relation; /* of entity e: relation[entity_offset[e]] ..., ascending */
    uint64_t *relation_offset;
    uint32_t *entity; /* with relation r */
} incidence;

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static size_t distinct(uint32_t *ids, size_t count)
{
    size_t kept = 0;

    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || ids[i] != ids[i - 1])
            ids[kept++] = ids[i];
    return kept;
}

static void release_incidence(incidence *in)
{
    kith__free(in->entity_offset);
    kith__free(in->relation);
    kith__free(in->relation_offset);
    kith__free(in->entity);
}

static int list_relations(incidence *in, const kith_graph *graph)
{
    uint32_t n = kith_graph_seen_entity_count(graph);
    kith_neighborhoods hood = kith_graph_neighborhoods(graph);
    size_t used = 0;

    in->entity_offset = kith__alloc((size_t)n + 1, sizeof *in->entity_offset);
    in->relation = kith__alloc(hood.offset[n], sizeof *in->relation);
    if (!in->entity_offset || !in->relation)
        return -1;
    for (uint32_t e = 0; e < n; e++) {
        size_t count = (size_t)(hood.offset[e + 1] - hood.offset[e]);
        in->entity_offset[e] = used;
        for (size_t i = 0; i < count; i++)
            in->relation[used + i] = kith__directed(graph, hood.at[hood.offset[e] + i].relation);
        used += distinct(in->relation + used, count);
    }
    in->entity_offset[n] = used;
    return 0;
}

static int list_entities(incidence *in, uint32_t entities, uint32_t relations)
{
    size_t total = (size_t)in->entity_offset[entities];

    in->relation_offset = kith__calloc((size_t)relations + 2, sizeof *in->relation_offset);
    in->entity = kith__alloc(total, sizeof *in->entity);
    if (!in->relation_offset || !in->entity)
        return -1;
    /* One place further on than needed, so that filling leaves every offset where it belongs. */
    for (size_t i = 0; i < total; i++)
        in->relation_offset[in->relation[i] + 2]++;
    for (uint32_t r = 0; r < relations; r++)
        in->relation_offset[r + 1] += in->relation_offset[r];
    for (uint32_t e = 0; e < entities; e++)
        for (uint64_t i = in->entity_offset[e]; i < in->entity_offset[e + 1]; i++)
            in->entity[in->relation_offset[in->relation[i] + 1]++] = e;
    return 0;
}

/* ---- counting, one implied relation at a time ---- */

typedef struct {
    kith__implications *rules;
    const incidence *in;
    kith__implication **column; /* per implied relation, while it is counted */
    uint32_t *length;
    size_t pieces;
    bool no_memory;
} counting;

static int stronger_first(const void *a, const void *b)
{
    const kith__implication *x = a, *y = b;
    if (x->confidence != y->confidence)
        return x->confidence < y->confidence ? 1 : -1;
    return (x->relation > y->relation) - (x->relation < y->relation);
}

/* Entities with r2 are gone through, and each relation that one of them has gets a count. */
static void count_column(counting *c, uint32_t implied, uint32_t *support, uint32_t *met)
{
    const incidence *in = c->in;
    uint32_t met_count = 0, kept = 0;

    for (uint64_t i = in->relation_offset[implied]; i < in->relation_offset[implied + 1]; i++) {
        uint32_t e = in->entity[i];
        for (uint64_t k = in->entity_offset[e]; k < in->entity_offset[e + 1]; k++)
            if (support[in->relation[k]]++ == 0)
                met[met_count++] = in->relation[k];
    }
    kith__implication *column = kith__alloc(met_count, sizeof *column);
    if (!column) /* set only, never cleared: pieces run at once */
        c->no_memory = true;
    for (uint32_t i = 0; i < met_count; i++) {
        uint32_t r = met[i];
        if (column && r != implied)
            column[kept++] = (kith__implication){r, support[r],
                                          (float)support[r] / (float)c->rules->frequency[r]};
        support[r] = 0;
    }
    if (column)
        qsort(column, kept, sizeof *column, stronger_first);
    c->column[implied] = column;
    c->length[implied] = kept;
}

static void count_piece(void *context, size_t piece)
{
    counting *c = context;
    uint32_t relations = c->rules->relations;
    uint32_t *support = kith__calloc(relations, sizeof *support);
    uint32_t *met = kith__alloc(relations, sizeof *met);

    if (!support || !met)
        c->no_memory = true;
    /* Relations of like frequency are spread over the pieces. */
    for (size_t r = piece; support && met && r < relations; r += c->pieces)
        count_column(c, (uint32_t)r, support, met);
    kith__free(support);
    kith__free(met);
}

static int join_columns(counting *c)
{
    kith__implications *rules = c->rules;
    size_t total = 0;

    for (uint32_t r = 0; r < rules->relations; r++) {
        rules->offset[r] = total;
        total += c->length[r];
    }
    rules->offset[rules->relations] = total;
    rules->at = kith__alloc(total, sizeof *rules->at);
    if (!rules->at)
        return -1;
    for (uint32_t r = 0; r < rules->relations; r++) {
        if (c->length[r] > 0)
            memcpy(rules->at + rules->offset[r], c->column[r], c->length[r] * sizeof *rules->at);
        for (uint32_t i = 0; i < c->length[r]; i++)
            rules->self_mean[c->column[r][i].relation] += c->column[r][i].confidence;
    }
    for (uint32_t r = 0; r < rules->relations; r++)
        rules->self_mean[r] /= (float)(rules->relations + 1);
    return 0;
}

static int count_rules(kith__implications *rules, const incidence *in, kith__pool *pool)
{
    counting c = {.rules = rules, .in = in, .pieces = kith__pool_size(pool) * 4};
    int failed;

    c.column = kith__calloc(rules->relations, sizeof *c.column);
    c.length = kith__calloc(rules->relations, sizeof *c.length);
    failed = !c.column || !c.length;
    if (!failed)
        kith__pool_run(pool, count_piece, &c, c.pieces);
    failed = failed || c.no_memory || join_columns(&c);
    for (uint32_t r = 0; c.column && r < rules->relations; r++)
        kith__free(c.column[r]);
    kith__free(c.column);
    kith__free(c.length);
    return failed ? -1 : 0;
}

kith_status kith__implications_new(kith__implications **out, const kith_graph *graph,
                                   kith__pool *pool, kith_error *error)
{
    kith__implications *rules = kith__calloc(1, sizeof *rules);
    uint32_t relations = 2 * kith_graph_seen_relation_count(graph);
    uint32_t entities = kith_graph_seen_entity_count(graph);
    incidence in = {0};
    kith_status status = KITH_OK;

    if (!rules)
        return kith__no_memory(error);
    rules->relations = relations;
    rules->frequency = kith__alloc(relations, sizeof *rules->frequency);
    rules->offset = kith__alloc((size_t)relations + 1, sizeof *rules->offset);
    rules->self_mean = kith__calloc(relations, sizeof *rules->self_mean);
    if (!rules->frequency || !rules->offset || !rules->self_mean || list_relations(&in, graph) ||
        list_entities(&in, entities, relations))
        TRY(kith__no_memory(error));
    for (uint32_t r = 0; r < relations; r++)
        rules->frequency[r] = (uint32_t)(in.relation_offset[r + 1] - in.relation_offset[r]);
    if (count_rules(rules, &in, pool))
        TRY(kith__no_memory(error));
    *out = rules;
    rules = NULL;
cleanup:
    release_incidence(&in);
    kith__implications_free(rules);
    return status;
}

void kith__implications_free(kith__implications *rules)
{
    if (!rules)
        return;
    if (!rules->mapped) {
        kith__free(rules->frequency);
        kith__free(rules->offset);
        kith__free(rules->at);
        kith__free(rules->self_mean);
    }
    kith__free(rules);
}

float kith__implications_self(const kith__implications *rules, uint32_t relation, kith__self self)
{
    return self == KITH__SELF_ONE ? 1 : rules->self_mean[relation];
}
