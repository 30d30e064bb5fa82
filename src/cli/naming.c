/* Names as users read and type them: IRIs with prefixes, and labels. */
#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"

/* ---- names for display ---- */

const char *name_text(const kith_graph *graph, const char *name)
{
    enum { AT_ONCE = 8, LONGEST = 512 };
    static char texts[AT_ONCE][LONGEST]; /* one line may use several at once */
    static unsigned next;
    char *text = texts[next++ % AT_ONCE];

    return kith_graph_short_name(text, LONGEST, graph, name) > 0 ? text : name;
}

const char *relation_text(const kith_graph *graph, uint32_t relation)
{
    enum { AT_ONCE = 4, LONGEST = 1024 };
    static char texts[AT_ONCE][LONGEST];
    static unsigned next;
    const char *name = kith_graph_relation_name(graph, relation);
    const char *label = kith_graph_relation_label(graph, relation);

    if (!name || strcmp(name, label) == 0)
        return name ? name_text(graph, name) : "";
    char *text = texts[next++ % AT_ONCE];
    snprintf(text, LONGEST, "%.500s (%s)", label, name_text(graph, name));
    return text;
}

const char *relation_name_text(const kith_graph *graph, const char *name)
{
    uint32_t relation;

    return kith_graph_find_relation(&relation, graph, name) == KITH_OK
               ? relation_text(graph, relation)
               : name_text(graph, name);
}

/* ---- resolving names ---- */

/* The entity that a user means. A name that the graph does not have is returned unchanged: it may
 * be that of a new entity. A label of several entities is noted if `tell`. */
static const char *meant_entity(const kith_graph *graph, const char *name, bool tell)
{
    uint32_t entity;
    kith_error error;
    kith_status status = kith_graph_resolve_entity(&entity, graph, name, &error);

    if (status == KITH_OK)
        return kith_graph_entity_name(graph, entity);
    if (status == KITH_ERR_ARGUMENT && tell)
        note("%s; give one of these names to mean it\n", error.message);
    return name;
}

static const char *meant_relation(const kith_graph *graph, const char *name, bool tell)
{
    uint32_t relation;
    kith_error error;
    kith_status status = kith_graph_resolve_relation(&relation, graph, name, &error);

    if (status == KITH_OK)
        return kith_graph_relation_name(graph, relation);
    if (status == KITH_ERR_ARGUMENT && tell)
        note("%s; give one of these names to mean it\n", error.message);
    return name;
}

bool find_train_relation(uint32_t *relation, const kith_graph *graph, const char *name,
                         char why[512])
{
    enum { MEANT = 3 };
    uint32_t similar[MEANT];
    kith_error error;
    kith_status status = kith_graph_resolve_relation(relation, graph, name, &error);
    size_t used = 0, count;

    if (status == KITH_OK && *relation < kith_graph_seen_relation_count(graph))
        return true;
    if (status == KITH_ERR_ARGUMENT) { /* a label that several entities have */
        snprintf(why, 512, "%.500s", error.message);
        return false;
    }
    used = (size_t)snprintf(why, 512, "train has no relation '%.100s'", name);
    count = kith_graph_suggest_relations(similar, MEANT, graph, name);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(why + used, 512 - used, "%s'%.100s'%s",
                                 i == 0          ? "; did you mean "
                                 : i + 1 < count ? ", "
                                                 : " or ",
                                 relation_text(graph, similar[i]), i + 1 < count ? "" : "?");
    return false;
}

static kith_question meant(const kith_graph *graph, const fields *f, bool tell)
{
    return (kith_question){f->name[0] ? meant_entity(graph, f->name[0], tell) : NULL,
                           f->name[1] ? meant_relation(graph, f->name[1], tell) : NULL,
                           f->name[2] ? meant_entity(graph, f->name[2], tell) : NULL};
}

kith_question meant_question(const kith_graph *graph, const fields *f)
{
    return meant(graph, f, false);
}

kith_question meant_fact(const kith_graph *graph, const fields *f)
{
    return meant(graph, f, true);
}
