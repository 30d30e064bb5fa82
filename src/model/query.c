#include "model/query.h"

#include "core/mem.h"
#include "graph/graph.h"

size_t kith__queries_of(kith__query *queries, const kith_triple *facts, size_t count,
                          kith_predict predict, uint32_t candidates)
{
    size_t made = 0;

    for (size_t i = 0; i < count; i++) {
        if (predict != KITH_PREDICT_SUBJECT && facts[i].object < candidates)
            queries[made++] = (kith__query){facts[i], false};
        if (predict != KITH_PREDICT_OBJECT && facts[i].subject < candidates)
            queries[made++] = (kith__query){facts[i], true};
    }
    return made;
}

int kith__known_answers(kith__span *known, kith__known_buffer *buffer, const kith_graph *graph,
                        const kith__query *q)
{
    uint32_t s = kith__known_side(q), query = kith__directed_query(graph, q);
    uint32_t relation = q->fact.relation + (q->subject_hidden ? graph->relations.count : 0);
    size_t count = 0;

    for (uint64_t i = graph->offset[s]; i < graph->offset[s + 1]; i++) {
        if (graph->neighbors[i].relation != relation)
            continue;
        if (kith__reserve(&buffer->at, &buffer->capacity, count + 1, sizeof *buffer->at))
            return -1;
        buffer->at[count++] = (kith_neighbor){query, graph->neighbors[i].entity};
    }
    *known = (kith__span){buffer->at, kith__sort_facts(buffer->at, count)};
    return 0;
}
