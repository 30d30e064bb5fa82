#include "rules/implication.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/flag.h"
#include "core/mem.h"
#include "rules/incidence.h"

/* ---- counting, one implied relation at a time ---- */

typedef struct {
    kith__implications *rules;
    const kith__incidence *in;
    kith__implication **column; /* per implied relation, while it is counted */
    uint32_t *length;
    size_t pieces, most;
    atomic_size_t pairs; /* counted so far; counting stops beyond `most` */
    kith__watch *watch;
    kith__flag no_memory;
} counting;

static int stronger_first(const void *a, const void *b)
{
    const kith__implication *x = a, *y = b;
    if (x->confidence != y->confidence)
        return x->confidence < y->confidence ? 1 : -1;
    return (x->relation > y->relation) - (x->relation < y->relation);
}

static void count_column(counting *c, uint32_t implied, kith__tally *tally)
{
    uint32_t kept = 0;

    kith__count_together(tally, c->in, implied);
    kith__implication *column = kith__alloc(tally->met_count, sizeof *column);
    if (!column)
        kith__flag_raise(&c->no_memory);
    for (uint32_t i = 0; i < tally->met_count; i++) {
        uint32_t r = tally->met[i], support = tally->count[r];
        if (column && r != implied)
            column[kept++] = (kith__implication){
                r, support, (float)support / (float)c->rules->frequency[r]};
        tally->count[r] = 0;
    }
    if (column)
        qsort(column, kept, sizeof *column, stronger_first);
    c->column[implied] = column;
    c->length[implied] = kept;
    c->pairs += kept;
}

static void count_piece(void *context, size_t piece)
{
    counting *c = context;
    uint32_t relations = c->rules->relations;
    kith__tally tally;

    if (kith__tally_init(&tally, relations))
        kith__flag_raise(&c->no_memory);
    /* Relations of similar frequency are spread over the pieces. */
    for (size_t r = piece;
         !kith__flag_raised(&c->no_memory) && c->pairs <= c->most && r < relations &&
         !kith__watch_add(c->watch, 0);
         r += c->pieces)
        count_column(c, (uint32_t)r, &tally);
    kith__tally_release(&tally);
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

static kith_status too_many(const kith_graph *graph, const kith__incidence *in, size_t most,
                            kith_error *error)
{
    uint32_t widest = 0;
    char quoted[KITH__QUOTED];

    for (uint32_t e = 1; e < in->entities; e++)
        if (in->entity_offset[e + 1] - in->entity_offset[e] >
            in->entity_offset[widest + 1] - in->entity_offset[widest])
            widest = e;
    const char *name = kith_graph_entity_name(graph, widest);
    return kith__fail(error, KITH_ERR_ARGUMENT,
                      "logic weights would need implications for more than %zu pairs of relations: "
                      "%s has %llu relations; use --preset rules, or an aggregator without logic "
                      "weights such as --aggregator mean",
                      most, kith__quote(quoted, name ? name : "?", name ? strlen(name) : 1),
                      (unsigned long long)(in->entity_offset[widest + 1] -
                                           in->entity_offset[widest]));
}

static kith_status count_rules(kith__implications *rules, const kith_graph *graph,
                               const kith__incidence *in, size_t most, kith__pool *pool,
                               kith_error *error)
{
    counting c = {.rules = rules,
                  .in = in,
                  .pieces = kith__pool_size(pool) * 4,
                  .most = most,
                  .watch = kith__pool_watch(pool)};
    kith_status status = KITH_OK;

    c.column = kith__calloc(rules->relations, sizeof *c.column);
    c.length = kith__calloc(rules->relations, sizeof *c.length);
    if (!c.column || !c.length)
        TRY(kith__no_memory(error));
    kith__pool_run(pool, count_piece, &c, c.pieces);
    TRY(kith__watch_status(c.watch, error));
    if (c.pairs > most)
        TRY(too_many(graph, in, most, error));
    if (kith__flag_raised(&c.no_memory) || join_columns(&c))
        TRY(kith__no_memory(error));
cleanup:
    for (uint32_t r = 0; c.column && r < rules->relations; r++)
        kith__free(c.column[r]);
    kith__free(c.column);
    kith__free(c.length);
    return status;
}

kith_status kith__implications_new(kith__implications **out, const kith_graph *graph, size_t most,
                                   kith__pool *pool, kith_error *error)
{
    kith__implications *rules = kith__calloc(1, sizeof *rules);
    uint32_t relations = 2 * kith_graph_seen_relation_count(graph);
    kith__incidence in = {0};
    kith_status status = KITH_OK;

    if (!rules)
        return kith__no_memory(error);
    rules->relations = relations;
    rules->frequency = kith__alloc(relations, sizeof *rules->frequency);
    rules->offset = kith__alloc((size_t)relations + 1, sizeof *rules->offset);
    rules->self_mean = kith__calloc(relations, sizeof *rules->self_mean);
    if (!rules->frequency || !rules->offset || !rules->self_mean)
        TRY(kith__no_memory(error));
    TRY(kith__incidence_init(&in, graph, kith__pool_watch(pool), error));
    for (uint32_t r = 0; r < relations; r++)
        rules->frequency[r] = kith__frequency(&in, r);
    TRY(count_rules(rules, graph, &in, most, pool, error));
    *out = rules;
    rules = NULL;
cleanup:
    kith__incidence_release(&in);
    kith__implications_free(rules);
    return status;
}

kith_status kith__implications_copy(kith__implications **out, const kith__implications *rules,
                                    kith_error *error)
{
    size_t relations = rules->relations, count = (size_t)rules->offset[relations];
    kith__implications *copy = kith__calloc(1, sizeof *copy);

    if (!copy)
        return kith__no_memory(error);
    copy->relations = rules->relations;
    copy->frequency = kith__alloc(relations, sizeof *copy->frequency);
    copy->offset = kith__alloc(relations + 1, sizeof *copy->offset);
    copy->at = kith__alloc(count + 1, sizeof *copy->at);
    copy->self_mean = kith__alloc(relations, sizeof *copy->self_mean);
    if (!copy->frequency || !copy->offset || !copy->at || !copy->self_mean) {
        kith__implications_free(copy);
        return kith__no_memory(error);
    }
    memcpy(copy->frequency, rules->frequency, relations * sizeof *copy->frequency);
    memcpy(copy->offset, rules->offset, (relations + 1) * sizeof *copy->offset);
    memcpy(copy->at, rules->at, count * sizeof *copy->at);
    memcpy(copy->self_mean, rules->self_mean, relations * sizeof *copy->self_mean);
    *out = copy;
    return KITH_OK;
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
