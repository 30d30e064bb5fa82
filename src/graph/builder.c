/* Builds graphs in memory: names and facts are collected and finished in the same way as by the
 * readers. */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/options.h"
#include "core/utf8.h"
#include "graph/duplicates.h"
#include "graph/graph.h"
#include "graph/labels.h"

struct kith_builder {
    kith_graph *graph; /* under construction; NULL if finishing failed */
    kith__collector collectors[KITH_SPLITS];
    size_t label_capacity, label_used, label_starts;
    int relation_labels; /* how many were set: a later one replaces an earlier one */
};

kith_status kith_builder_new(kith_builder **out, kith_error *error)
{
    if (!out)
        return kith__fail(error, KITH_ERR_ARGUMENT, "no pointer given for the builder");
    kith_builder *builder = kith__calloc(1, sizeof *builder);
    if (builder)
        builder->graph = kith__graph_new();
    if (!builder || !builder->graph) {
        kith__free(builder);
        return kith__no_memory(error);
    }
    *out = builder;
    return KITH_OK;
}

void kith_builder_free(kith_builder *builder)
{
    if (!builder)
        return;
    kith_graph_free(builder->graph);
    kith__free(builder);
}

/* ---- checks of arguments ---- */

static kith_status check_builder(const kith_builder *builder, kith_error *error)
{
    if (!builder)
        return kith__fail(error, KITH_ERR_ARGUMENT, "no builder given");
    if (!builder->graph)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the builder failed to build its graph; it can only be freed");
    return KITH_OK;
}

static kith_status check_split(kith_split split, bool untrue, kith_error *error)
{
    if ((unsigned)split >= KITH_SPLITS)
        return kith__fail(error, KITH_ERR_ARGUMENT, "found the split %d, expected 0 to %d",
                          (int)split, KITH_SPLITS - 1);
    if (untrue && split != KITH_DEV && split != KITH_TEST)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "found a false fact for train or aux, expected it in dev or test");
    return KITH_OK;
}

static kith_status check_name(const char *name, const char *what, kith_error *error)
{
    char quoted[KITH__QUOTED];

    if (!name || name[0] == '\0')
        return kith__fail(error, KITH_ERR_ARGUMENT, "no name given for the %s", what);
    size_t length = strlen(name);
    if (strpbrk(name, "\t\n\r") || !kith__utf8_valid(name, length))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "found the %s %s, expected UTF-8 without tabs and line ends", what,
                          kith__quote(quoted, name, length));
    return KITH_OK;
}

/* ---- names ---- */

static kith_status add_name(uint32_t *id, kith__names *names, const char *name, kith_error *error)
{
    size_t length = strlen(name);

    *id = kith__names_add(names, name, length, kith__names_hash(name, length));
    return *id == KITH__NO_ID ? kith__no_memory(error) : KITH_OK;
}

static kith_status add_names(uint32_t *ids, kith__names *names, const char *const *given,
                             size_t count, const char *what, kith_error *error)
{
    kith_status status = KITH_OK;

    if (count > 0 && !given)
        return kith__fail(error, KITH_ERR_ARGUMENT, "no names given");
    for (size_t i = 0; i < count; i++)
        TRY(check_name(given[i], what, error));
    for (size_t i = 0; i < count; i++) {
        uint32_t id;
        TRY(add_name(&id, names, given[i], error));
        if (ids)
            ids[i] = id;
    }
cleanup:
    return status;
}

kith_status kith_builder_add_entities(uint32_t *ids, kith_builder *builder,
                                      const char *const *names, size_t count, kith_error *error)
{
    kith_status status = check_builder(builder, error);

    if (status != KITH_OK)
        return status;
    return add_names(ids, &builder->graph->entities, names, count, "entity", error);
}

kith_status kith_builder_add_relations(uint32_t *ids, kith_builder *builder,
                                       const char *const *names, size_t count, kith_error *error)
{
    kith_status status = check_builder(builder, error);

    if (status != KITH_OK)
        return status;
    return add_names(ids, &builder->graph->relations, names, count, "relation", error);
}

/* ---- facts ---- */

/* The first false fact of a split labels all earlier facts as true. */
static int label_all(kith__facts *facts)
{
    if (facts->truth)
        return 0;
    if (kith__reserve(&facts->truth, &facts->truth_capacity, facts->count + 1, 1))
        return -1;
    memset(facts->truth, 1, facts->count);
    return 0;
}

static int add_fact(kith_builder *builder, kith_split split, kith_triple triple, int8_t truth)
{
    kith__facts *facts = &builder->graph->splits[split];

    if (!truth && label_all(facts))
        return -1;
    return kith__collect(facts, &builder->collectors[split], triple, facts->truth ? &truth : NULL);
}

kith_status kith_builder_add(kith_builder *builder, kith_split split, const char *subject,
                             const char *relation, const char *object, int truth, kith_error *error)
{
    kith_triple t;
    kith_status status;

    TRY(check_builder(builder, error));
    TRY(check_split(split, !truth, error));
    TRY(check_name(subject, "subject", error));
    TRY(check_name(relation, "relation", error));
    TRY(check_name(object, "object", error));
    TRY(add_name(&t.subject, &builder->graph->entities, subject, error));
    TRY(add_name(&t.relation, &builder->graph->relations, relation, error));
    TRY(add_name(&t.object, &builder->graph->entities, object, error));
    if (add_fact(builder, split, t, truth != 0))
        TRY(kith__no_memory(error));
cleanup:
    return status;
}

static kith_status check_facts(const kith_graph *graph, kith_facts facts, kith_error *error)
{
    uint32_t entities = graph->entities.count, relations = graph->relations.count;

    if (facts.count > 0 && !facts.at)
        return kith__fail(error, KITH_ERR_ARGUMENT, "no facts given");
    for (size_t i = 0; i < facts.count; i++) {
        kith_triple t = facts.at[i];
        if (t.subject >= entities || t.object >= entities || t.relation >= relations)
            return kith__fail(
                error, KITH_ERR_ARGUMENT,
                "fact %zu is (%u, %u, %u), but there are %u entities and %u relations", i,
                t.subject, t.relation, t.object, entities, relations);
    }
    return KITH_OK;
}

kith_status kith_builder_add_facts(kith_builder *builder, kith_split split, kith_facts facts,
                                   kith_error *error)
{
    kith_status status;
    bool untrue = false;

    TRY(check_builder(builder, error));
    for (size_t i = 0; facts.truth && i < facts.count; i++)
        untrue = untrue || facts.truth[i] != 1;
    TRY(check_split(split, untrue, error));
    TRY(check_facts(builder->graph, facts, error));
    kith__facts *own = &builder->graph->splits[split];
    size_t need = own->count + facts.count;
    /* Reserve all memory first, so that a failure adds none of the facts. */
    if ((untrue && label_all(own)) ||
        kith__reserve(&own->at, &own->capacity, need, sizeof *own->at) ||
        (own->truth && kith__reserve(&own->truth, &own->truth_capacity, need, 1)))
        TRY(kith__no_memory(error));
    if (facts.count > 0)
        memcpy(own->at + own->count, facts.at, facts.count * sizeof *facts.at);
    for (size_t i = 0; own->truth && i < facts.count; i++)
        own->truth[own->count + i] = !facts.truth || facts.truth[i] == 1;
    own->count = need;
cleanup:
    return status;
}

/* ---- labels ---- */

/* Entities added later have no label. */
static int reach_label(kith_builder *builder)
{
    kith_graph *graph = builder->graph;
    size_t have = builder->label_starts, need = graph->entities.count;

    if (have >= need)
        return 0;
    uint64_t *grown = kith__realloc(graph->label_start, need, sizeof *grown);
    if (!grown)
        return -1;
    memset(grown + have, 0, (need - have) * sizeof *grown);
    graph->label_start = grown;
    builder->label_starts = need;
    return 0;
}

kith_status kith_builder_set_label(kith_builder *builder, uint32_t entity, const char *label,
                                   kith_error *error)
{
    kith_status status = check_builder(builder, error);

    if (status != KITH_OK)
        return status;
    kith_graph *graph = builder->graph;
    if (entity >= graph->entities.count)
        return kith__fail(error, KITH_ERR_ARGUMENT, "found the entity %u, but there are %u", entity,
                          graph->entities.count);
    if (label && (status = check_name(label, "label", error)) != KITH_OK)
        return status;
    size_t length = label ? strlen(label) + 1 : 0;
    if (reach_label(builder) || kith__reserve(&graph->label_bytes, &builder->label_capacity,
                                              builder->label_used + length, 1))
        return kith__no_memory(error);
    graph->label_start[entity] = label ? builder->label_used + 1 : 0;
    if (label)
        memcpy(graph->label_bytes + builder->label_used, label, length);
    builder->label_used += length;
    return KITH_OK;
}

/* A relation without a label has its name as the label. */
kith_status kith_builder_set_relation_label(kith_builder *builder, uint32_t relation,
                                            const char *label, kith_error *error)
{
    kith_status status = check_builder(builder, error);

    if (status != KITH_OK)
        return status;
    kith_graph *graph = builder->graph;
    if (relation >= graph->relations.count)
        return kith__fail(error, KITH_ERR_ARGUMENT, "found the relation %u, but there are %u",
                          relation, graph->relations.count);
    if (label && (status = check_name(label, "label", error)) != KITH_OK)
        return status;
    const char *name = kith__names_get(&graph->relations, relation);
    if (kith__relation_label_set(graph, name, strlen(name), label ? label : name,
                                 ++builder->relation_labels))
        return kith__no_memory(error);
    return KITH_OK;
}

/* ---- the graph ---- */

static kith_status finish(kith_graph *graph, const kith_open_options *options, kith_error *error)
{
    kith__watch watch;
    kith__pool *pool = kith__pool_new(options->threads);

    if (!pool)
        return kith__no_memory(error);
    kith__watch_init(&watch, options->watch, options->context);
    kith_status status = kith__graph_finish(graph, pool, &watch, error);
    kith__watch_release(&watch);
    kith__pool_free(pool);
    return status;
}

kith_status kith_builder_finish(kith_graph **out, kith_builder *builder,
                                const kith_open_options *given, kith_error *error)
{
    kith_open_options options = {0};
    kith_graph *graph = NULL, *empty = NULL;
    kith_status status;

    TRY(kith__options_copy(&options, sizeof options, sizeof options, given, error));
    TRY(check_builder(builder, error));
    if (!out)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "no pointer given for the graph"));
    if (builder->graph->splits[KITH_TRAIN].count == 0)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT, "train has no facts, expected at least one"));
    if (!(empty = kith__graph_new()) || (builder->graph->label_start && reach_label(builder)))
        TRY(kith__no_memory(error));
    graph = builder->graph;
    builder->graph = NULL;
    snprintf(graph->layout, sizeof graph->layout, "graph from memory");
    for (int split = 0; split < KITH_SPLITS; split++)
        graph->report.duplicates += builder->collectors[split].dropped;
    TRY(finish(graph, &options, error));
    *out = graph;
    graph = NULL;
    memset(builder, 0, sizeof *builder);
    builder->graph = empty;
    empty = NULL;
cleanup:
    kith_graph_free(graph);
    kith_graph_free(empty);
    return status;
}
