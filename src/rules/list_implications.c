/* The strongest rules, for people. */
#include <stdlib.h>

#include "core/mem.h"
#include "rules/implication.h"

static int stronger_first(const void *a, const void *b)
{
    const kith_implication *x = a, *y = b;

    if (x->confidence != y->confidence)
        return x->confidence < y->confidence ? 1 : -1;
    if (x->support != y->support)
        return x->support < y->support ? 1 : -1;
    if (x->conclusion != y->conclusion)
        return x->conclusion < y->conclusion ? -1 : 1;
    if (x->conclusion_inverse != y->conclusion_inverse)
        return x->conclusion_inverse - y->conclusion_inverse;
    if (x->premise != y->premise)
        return x->premise < y->premise ? -1 : 1;
    return x->premise_inverse - y->premise_inverse;
}

static kith_implication readable(const kith_graph *graph, uint32_t implied,
                                 const kith__implication *rule)
{
    uint32_t m = kith_graph_seen_relation_count(graph);
    return (kith_implication){.premise = kith__undirected(graph, rule->relation),
                       .conclusion = kith__undirected(graph, implied),
                       .premise_inverse = rule->relation >= m,
                       .conclusion_inverse = implied >= m,
                       .support = rule->support,
                       .confidence = rule->confidence};
}

kith_status kith_graph_implications(kith_implication **out, size_t *count, const kith_graph *graph,
                             uint32_t conclusion, uint32_t min_support, size_t top,
                             unsigned threads, kith_error *error)
{
    kith__pool *pool = kith__pool_new(threads);
    kith__implications *rules = NULL;
    kith_implication *list = NULL;
    size_t used = 0, capacity = 0;
    kith_status status = KITH_OK;

    if (!pool)
        TRY(kith__no_memory(error));
    TRY(kith__implications_new(&rules, graph, pool, error));
    for (uint32_t r = 0; r < rules->relations; r++) {
        if (conclusion != UINT32_MAX && kith__undirected(graph, r) != conclusion)
            continue;
        for (uint64_t i = rules->offset[r]; i < rules->offset[r + 1]; i++) {
            if (rules->at[i].support < min_support)
                continue;
            if (kith__reserve(&list, &capacity, used + 1, sizeof *list))
                TRY(kith__no_memory(error));
            list[used++] = readable(graph, r, &rules->at[i]);
        }
    }
    if (used > 0)
        qsort(list, used, sizeof *list, stronger_first);
    *out = list;
    *count = used < top ? used : top;
    list = NULL;
cleanup:
    kith__free(list);
    kith__implications_free(rules);
    kith__pool_free(pool);
    return status;
}

void kith_implications_free(kith_implication *rules)
{
    kith__free(rules);
}
