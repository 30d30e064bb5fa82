/* Names as users read and type them: short names for IRIs, and labels. */
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"

enum { LONGEST = 4096, LISTED = 3 };

static uint32_t find(const kith__names *names, const char *name, size_t length)
{
    return names->start ? kith__names_find(names, name, length, kith__names_hash(name, length))
                        : KITH__NO_ID;
}

size_t kith_graph_short_name(char *text, size_t size, const kith_graph *graph, const char *name)
{
    char shortened[LONGEST];

    if (!graph || !name || (size > 0 && !text))
        return 0;
    size_t length = kith__prefixes_shorten(shortened, sizeof shortened, &graph->prefixes, name);
    /* A short name that is also another entity's name would be ambiguous. */
    if (length == 0 || length >= size || find(&graph->entities, shortened, length) != KITH__NO_ID ||
        find(&graph->relations, shortened, length) != KITH__NO_ID)
        return 0;
    memcpy(text, shortened, length + 1);
    return length;
}

/* By name, by <IRI>, or by prefix. */
static uint32_t find_name(const kith_graph *graph, const kith__names *names, const char *text)
{
    size_t length = strlen(text);
    char iri[LONGEST];
    uint32_t id = find(names, text, length);

    if (id == KITH__NO_ID && length > 2 && text[0] == '<' && text[length - 1] == '>')
        id = find(names, text + 1, length - 2);
    if (id == KITH__NO_ID &&
        (length = kith__prefixes_expand(iri, sizeof iri, &graph->prefixes, text)) > 0)
        id = find(names, iri, length);
    return id;
}

static kith_status ambiguous(const kith_graph *graph, const char *label, const uint32_t *ids,
                             size_t count, bool relations, kith_error *error)
{
    char list[LISTED * KITH__QUOTED] = "", quoted[KITH__QUOTED];
    size_t used = 0;

    for (size_t i = 0; i < count && i < LISTED; i++) {
        const char *name = relations ? kith_graph_relation_name(graph, ids[i])
                                     : kith_graph_entity_name(graph, ids[i]);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ",
                                 kith__quote(quoted, name, strlen(name)));
    }
    return kith__fail(error, KITH_ERR_ARGUMENT, "%s is the label of %zu %s: %s%s",
                      kith__quote(quoted, label, strlen(label)), count,
                      relations ? "relations" : "entities", list,
                      count > LISTED ? " and others" : "");
}

static kith_status find_label(uint32_t *entity, const kith_graph *graph, const char *label,
                              kith_error *error)
{
    uint32_t ids[LISTED];
    size_t count = 0;

    for (uint32_t e = 0; graph->label_start && e < graph->entities.count; e++)
        if (graph->label_start[e] > 0 &&
            strcmp(graph->label_bytes + graph->label_start[e] - 1, label) == 0) {
            if (count < LISTED)
                ids[count] = e;
            count++;
        }
    if (count == 0)
        return KITH_ERR_NOT_FOUND;
    if (count > 1)
        return ambiguous(graph, label, ids, count, false, error);
    *entity = ids[0];
    return KITH_OK;
}

static kith_status find_relation_label(uint32_t *relation, const kith_graph *graph,
                                       const char *label, kith_error *error)
{
    uint32_t ids[LISTED];
    size_t count = 0;

    for (uint32_t r = 0; graph->relation_labels && r < graph->relations.count; r++)
        if (strcmp(kith_graph_relation_label(graph, r), label) == 0) {
            if (count < LISTED)
                ids[count] = r;
            count++;
        }
    if (count == 0)
        return KITH_ERR_NOT_FOUND;
    if (count > 1)
        return ambiguous(graph, label, ids, count, true, error);
    *relation = ids[0];
    return KITH_OK;
}

static kith_status no_such(const char *what, const char *text, kith_error *error)
{
    char quoted[KITH__QUOTED];

    return kith__fail(error, KITH_ERR_NOT_FOUND, "the graph has no %s %s", what,
                      kith__quote(quoted, text, strlen(text)));
}

kith_status kith_graph_resolve_entity(uint32_t *entity, const kith_graph *graph, const char *text,
                                      kith_error *error)
{
    if (!entity || !graph || !text)
        return kith__fail(error, KITH_ERR_ARGUMENT, "no name given to look up");
    uint32_t id = find_name(graph, &graph->entities, text);
    if (id != KITH__NO_ID) {
        *entity = id;
        return KITH_OK;
    }
    kith_status status = find_label(entity, graph, text, error);
    return status == KITH_ERR_NOT_FOUND ? no_such("entity", text, error) : status;
}

kith_status kith_graph_resolve_relation(uint32_t *relation, const kith_graph *graph,
                                        const char *text, kith_error *error)
{
    if (!relation || !graph || !text)
        return kith__fail(error, KITH_ERR_ARGUMENT, "no name given to look up");
    uint32_t id = find_name(graph, &graph->relations, text);
    if (id != KITH__NO_ID) {
        *relation = id;
        return KITH_OK;
    }
    kith_status status = find_relation_label(relation, graph, text, error);
    return status == KITH_ERR_NOT_FOUND ? no_such("relation", text, error) : status;
}
