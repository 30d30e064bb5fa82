/* Open a knowledge graph, count it, and print the neighbours of its first entity.
 *   cc neighbors.c $(pkg-config --cflags --libs kith) -o neighbors
 *   ./neighbors SOURCE */
#include <kith/kith.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    kith_graph *graph = NULL;
    kith_error error;

    if (argc != 2) {
        fprintf(stderr, "usage: neighbors SOURCE\n");
        return 2;
    }
    if (kith_graph_open(&graph, argv[1], NULL, &error) != KITH_OK) {
        fprintf(stderr, "neighbors: %s\n", error.message);
        return 1;
    }
    uint32_t relations = kith_graph_relation_count(graph);
    printf("%s: %u entities, %u relations, %zu training facts\n", kith_graph_layout(graph),
           kith_graph_entity_count(graph), relations, kith_graph_facts(graph, KITH_TRAIN).count);

    kith_neighborhoods around = kith_graph_neighborhoods(graph);
    printf("%s\n", kith_graph_entity_label(graph, 0));
    for (uint64_t i = around.offset[0]; i < around.offset[1]; i++) {
        uint32_t r = around.at[i].relation; /* ids from `relations` on are inverse relations */
        printf("  %s %s %s\n", r < relations ? "->" : "<-",
               kith_graph_relation_name(graph, r < relations ? r : r - relations),
               kith_graph_entity_label(graph, around.at[i].entity));
    }
    kith_graph_free(graph);
    return 0;
}
