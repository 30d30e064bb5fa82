#include "graph/known.h"

#include "core/mem.h"

static size_t count_facts(const kith_graph *graph)
{
    size_t total = 0;

    for (int split = 0; graph && split < KITH_SPLITS; split++)
        total += kith_graph_facts(graph, split).count;
    return total;
}

/* A fact of another graph in this one's ids; false if a name is missing here. */
static bool translate(kith_triple *t, const kith_graph *graph, const kith_graph *from)
{
    return kith_graph_find_entity(&t->subject, graph, kith_graph_entity_name(from, t->subject)) ==
               KITH_OK &&
           kith_graph_find_relation(&t->relation, graph,
                                    kith_graph_relation_name(from, t->relation)) == KITH_OK &&
           kith_graph_find_entity(&t->object, graph, kith_graph_entity_name(from, t->object)) ==
               KITH_OK;
}

static void add_facts(kith__known *k, const kith_graph *graph, const kith_graph *from,
                      bool subject_hidden)
{
    for (int split = 0; split < KITH_SPLITS; split++) {
        kith_facts facts = kith_graph_facts(from, split);
        for (size_t i = 0; i < facts.count; i++) {
            kith_triple t = facts.at[i];
            if ((facts.truth && !facts.truth[i]) || (from != graph && !translate(&t, graph, from)))
                continue;
            k->at[k->count++] = subject_hidden ? (kith__item){t.object, t.relation, t.subject}
                                               : (kith__item){t.subject, t.relation, t.object};
        }
    }
}

kith_status kith__known_init(kith__known *k, const kith_graph *graph, const kith_graph *more,
                             bool subject_hidden, kith_error *error)
{
    size_t total = count_facts(graph) + count_facts(more);
    kith__item *spare = kith__alloc(total, sizeof *spare);

    k->count = 0;
    k->at = kith__alloc(total, sizeof *k->at);
    if (!k->at || !spare) {
        kith__free(spare);
        return kith__no_memory(error);
    }
    add_facts(k, graph, graph, subject_hidden);
    if (more)
        add_facts(k, graph, more, subject_hidden);
    kith__radix_sort(k->at, spare, k->count, kith_graph_entity_count(graph),
                     kith_graph_relation_count(graph));
    kith__free(spare);
    return KITH_OK;
}

/* The index of the first fact with this known side and relation, or where it would be inserted. */
static size_t known_find(const kith__known *k, uint32_t entity, uint32_t relation)
{
    size_t low = 0, high = k->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const kith__item *at = &k->at[middle];
        if (at->major < entity || (at->major == entity && at->minor < relation))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void kith__known_mark(uint8_t *marks, size_t count, const kith__known *k, uint32_t entity,
                       uint32_t relation, uint8_t value)
{
    for (size_t i = known_find(k, entity, relation);
         i < k->count && k->at[i].major == entity && k->at[i].minor == relation; i++)
        if (k->at[i].index < count)
            marks[k->at[i].index] = value;
}

void kith__known_release(kith__known *k)
{
    kith__free(k->at);
    *k = (kith__known){0};
}

bool kith__known_has(const kith__known *k, uint32_t entity, uint32_t relation, uint32_t answer)
{
    size_t i = known_find(k, entity, relation);

    while (i < k->count && k->at[i].major == entity && k->at[i].minor == relation) {
        if (k->at[i].index == answer)
            return true;
        i++;
    }
    return false;
}
