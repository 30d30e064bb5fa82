/* What is likely true of an entity that a trained run has never met, and why.
 *   newcomer RUN SUBJECT RELATION OBJECT... QUERY-RELATION
 * Facts come in threes about the first subject; the last argument is what is asked about it.
 *   cc newcomer.c $(pkg-config --cflags --libs kith) -o newcomer */
#include <kith/kith.h>
#include <stdio.h>

static int fail(const kith_error *error)
{
    fprintf(stderr, "newcomer: %s\n", error->message);
    return 1;
}

static void print(const kith_explanation *why, const kith_graph *graph)
{
    for (size_t i = 0; i < why->answers->count; i++)
        printf("%8.3f  %s\n", why->answers->at[i]->score,
               kith_graph_entity_label(graph, why->answers->at[i]->entity));
    for (size_t i = 0; i < why->neighbor_count; i++) {
        const kith_weighted_neighbor *fact = why->neighbors[i];
        printf("because of %s %s, with weight %.3f\n",
               kith_graph_relation_name(graph, fact->relation),
               kith_graph_entity_label(graph, fact->entity), fact->weight);
    }
}

int main(int argc, char **argv)
{
    kith_model *model = NULL;
    kith_session *session = NULL;
    kith_explanation *why;
    kith_error error;
    int status = 0;

    if (argc < 6 || argc % 3 != 0) {
        fprintf(stderr, "usage: newcomer RUN SUBJECT RELATION OBJECT... QUERY-RELATION\n");
        return 2;
    }
    /* Any number of sessions, on as many threads, may share a model. */
    if (kith_model_open(&model, argv[1], NULL, &error) != KITH_OK ||
        kith_session_new(&session, model, &error) != KITH_OK) {
        status = fail(&error);
    } else {
        for (int i = 2; i + 3 < argc && status == 0; i += 3) {
            kith_fact_use use;
            if (kith_session_add(&use, session, argv[i], argv[i + 1], argv[i + 2], &error) !=
                KITH_OK)
                status = fail(&error);
            else if (use != KITH_FACT_USED)
                printf("not used: %s %s %s: %s\n", argv[i], argv[i + 1], argv[i + 2],
                       kith_fact_use_text(use));
        }
    }
    if (status == 0) {
        const kith_question question = {argv[2], argv[argc - 1], NULL};
        const kith_ask_options options = {.top = 3};
        if (kith_session_explain(&why, session, &question, &options, &error) != KITH_OK) {
            status = fail(&error);
        } else {
            print(why, kith_model_graph(model));
            kith_explanation_free(why);
        }
    }
    kith_session_free(session);
    kith_model_free(model);
    return status;
}
