/* How long answers about new entities take: opening a run, a question whose candidates are not
 * encoded yet, one whose candidates are, and many new entities at once.
 *   bench-predict RUN [ENTITIES]
 * New entities are made of ten facts each, drawn at random. */
#include <kith/kith.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FACTS = 10, COLD = 15, HOT = 200 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void must(kith_status status, const kith_error *error)
{
    if (status == KITH_OK)
        return;
    fprintf(stderr, "bench-predict: %s\n", error->message);
    exit(1);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, double *times, size_t count)
{
    qsort(times, count, sizeof *times, by_size);
    printf("%s_ms=%.3f\n%s_least_ms=%.3f\n", name, times[count / 2], name, times[0]);
}

static void describe(kith_session *session, const kith_graph *graph, const char *name)
{
    kith_error error;

    for (int k = 0; k < FACTS; k++)
        must(kith_session_add(NULL, session, name,
                              kith_graph_relation_name(graph, (uint32_t)rand() %
                                                       kith_graph_seen_relation_count(graph)),
                              kith_graph_entity_name(graph, (uint32_t)rand() %
                                                     kith_graph_seen_entity_count(graph)),
                              &error), &error);
}

static double ask(kith_session *session, const kith_graph *graph, uint32_t relation)
{
    kith_question question = {"new", kith_graph_relation_name(graph, relation), NULL};
    kith_answers *answers;
    kith_error error;
    double began = now();

    must(kith_session_ask(&answers, session, &question, NULL, &error), &error);
    double took = now() - began;
    kith_answers_free(answers);
    return took;
}

static void time_single(kith_session *session, const kith_graph *graph)
{
    uint32_t relations = kith_graph_seen_relation_count(graph);
    double cold[COLD], hot[HOT];

    describe(session, graph, "new");
    printf("first_ms=%.3f\n", ask(session, graph, 0));
    for (uint32_t i = 0; i < COLD; i++)
        cold[i] = ask(session, graph, (i + 1) % relations);
    for (uint32_t i = 0; i < HOT; i++)
        hot[i] = ask(session, graph, 1 % relations);
    report("cold", cold, COLD);
    report("hot", hot, HOT);
}

static void time_many(kith_session *session, const kith_graph *graph, size_t count)
{
    kith_question *questions = calloc(count, sizeof *questions);
    kith_answers_batch *batch;
    char (*names)[32] = calloc(count, sizeof *names);
    kith_error error;

    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "new %zu", i);
        describe(session, graph, names[i]);
        questions[i] = (kith_question){names[i], kith_graph_relation_name(graph, 0), NULL};
    }
    for (unsigned threads = 1; threads <= 2; threads++) {
        const kith_ask_options options = {.threads = threads};
        double least = 1e30;
        for (int round = 0; round < 3; round++) {
            double began = now();
            must(kith_session_ask_all(&batch, session, questions, count, &options, &error), &error);
            double took = now() - began;
            least = took < least ? took : least;
            kith_answers_batch_free(batch);
        }
        printf("many_%u_per_second=%.0f\n", threads, (double)count / least * 1e3);
    }
    free(questions);
    free(names);
}

int main(int argc, char **argv)
{
    size_t entities = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
    kith_model *model;
    kith_session *session;
    kith_error error;
    double began = now();

    if (argc < 2) {
        fprintf(stderr, "usage: bench-predict RUN [ENTITIES]\n");
        return 2;
    }
    must(kith_model_open(&model, argv[1], &(kith_work_options){.threads = 2}, &error), &error);
    printf("open_ms=%.3f\n", now() - began);
    must(kith_session_new(&session, model, &error), &error);
    time_single(session, kith_model_graph(model));
    time_many(session, kith_model_graph(model), entities);
    kith_session_free(session);
    kith_model_free(model);
    return 0;
}
