#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/progress.h"

static const char *const part_names[KITH_SPLITS] = {"train", "dev", "test", "aux"};

static double share(size_t part, size_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* ---- as text ---- */

static void print_number(const char *what, uint64_t number)
{
    char text[GROUPED];
    say("  %-20s %12s\n", what, grouped(text, number));
}

static void print_part(const kith_stats *s, int part)
{
    const kith_split_stats *of = s->splits[part];
    char text[GROUPED];

    if (part != KITH_TRAIN && of->facts == 0)
        return;
    say("  %-20s %12s", part_names[part], grouped(text, of->facts));
    if (of->untrue > 0)
        say("  %s labelled false", grouped(text, of->untrue));
    if (of->unusable > 0)
        say("  %s with a relation that train lacks", grouped(text, of->unusable));
    if (of->leaked > 0)
        say("  %s also in train", grouped(text, of->leaked));
    putchar('\n');
}

static void print_degrees(const kith_stats *s)
{
    enum { WIDTH = 40 };
    char drawn[3 * WIDTH + 4], range[48], text[GROUPED];
    size_t most = 1;

    for (size_t i = 0; i < s->bucket_count; i++)
        if (s->buckets[i]->entities > most)
            most = s->buckets[i]->entities;
    say("\nEntities by number of neighbours\n");
    for (size_t i = 0; i < s->bucket_count; i++) {
        const kith_degree_bucket *b = s->buckets[i];
        if (b->low == b->high)
            snprintf(range, sizeof range, "%llu", (unsigned long long)b->low);
        else
            snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)b->low,
                     (unsigned long long)b->high);
        say("  %15s %10s %s\n", range, grouped(text, b->entities),
            bar(drawn, share(b->entities, most), WIDTH));
    }
}

static void print_relations(const kith_stats *s, const kith_graph *graph)
{
    char text[GROUPED];
    size_t train = s->splits[KITH_TRAIN]->facts;

    say("\nMost common relations\n");
    for (size_t i = 0; i < s->common_count; i++)
        say("  %10s  %4.1f %%  %s\n", grouped(text, s->common[i]->facts),
            100 * share(s->common[i]->facts, train), relation_text(graph, s->common[i]->relation));
    say("\nRepeated by other facts (train)\n");
    say("  %4.1f %% of facts: another relation links the same subject to the same object\n"
        "  %4.1f %% of facts: some fact links the object back to the subject\n",
        100 * share(s->duplicate_facts, train), 100 * share(s->inverse_facts, train));
    say("  Relations where this holds for at least 80 %% of the facts: %zu and %zu\n",
        s->duplicate_relations, s->inverse_relations);
}

static void print_stats(const kith_stats *s, const kith_graph *graph, const char *path)
{
    char text[GROUPED];

    say("%s (%s)\n\n", path, kith_graph_layout(graph));
    print_number("relations", s->relations);
    print_number("seen entities", s->seen);
    print_number("unseen entities", s->unseen);
    print_number("isolated entities", s->isolated);
    say("\nFacts\n");
    for (int part = 0; part < KITH_SPLITS; part++)
        print_part(s, part);
    if (kith_graph_report(graph)->labels > 0)
        say("  %-20s %12s  read as labels, not as facts\n", "labels",
            grouped(text, kith_graph_report(graph)->labels));
    say("\nNeighbours per entity\n");
    print_number("min", s->neighbors_min);
    print_number("max", s->neighbors_max);
    say("  %-20s %12.1f\n", "mean", s->neighbors_mean);
    print_degrees(s);
    print_relations(s, graph);
}

/* ---- as JSON ---- */

static json_t *degrees_json(const kith_stats *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->bucket_count; i++)
        json_array_append_new(list, json_pack("{sIsIsI}", "low", (json_int_t)s->buckets[i]->low,
                                              "high", (json_int_t)s->buckets[i]->high, "entities",
                                              (json_int_t)s->buckets[i]->entities));
    return list;
}

static json_t *relations_json(const kith_stats *s, const kith_graph *graph)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->common_count; i++)
        json_array_append_new(list,
                              json_pack("{sssI}", "relation",
                                        kith_graph_relation_name(graph, s->common[i]->relation),
                                        "fact_count", (json_int_t)s->common[i]->facts));
    return list;
}

static json_t *stats_json(const kith_stats *s, const kith_graph *graph, const char *path)
{
    const kith_load_report *report = kith_graph_report(graph);
    size_t facts[KITH_SPLITS], untrue[KITH_SPLITS], unusable[KITH_SPLITS], leaked[KITH_SPLITS];

    for (int part = 0; part < KITH_SPLITS; part++) {
        facts[part] = s->splits[part]->facts;
        untrue[part] = s->splits[part]->untrue;
        unusable[part] = s->splits[part]->unusable;
        leaked[part] = s->splits[part]->leaked;
    }
    json_t *object =
        json_pack("{so ss sI sI sI sI so}", "source", text_json(path), "layout",
                  kith_graph_layout(graph), "relations", (json_int_t)s->relations, "seen_entities",
                  (json_int_t)s->seen, "unseen_entities", (json_int_t)s->unseen,
                  "isolated_entities", (json_int_t)s->isolated, "facts", splits_json(facts));

    if (!object)
        return NULL;
    json_object_set_new(object, "labelled_false", splits_json(untrue));
    json_object_set_new(object, "relation_not_in_train", splits_json(unusable));
    json_object_set_new(object, "also_in_train", splits_json(leaked));
    json_object_update_new(
        object,
        json_pack("{s{sI sI sf} sI sI sI sI sI sI}", "neighbors", "min",
                  (json_int_t)s->neighbors_min, "max", (json_int_t)s->neighbors_max, "mean",
                  s->neighbors_mean, "duplicate_facts", (json_int_t)s->duplicate_facts,
                  "inverse_facts", (json_int_t)s->inverse_facts, "duplicate_relations",
                  (json_int_t)s->duplicate_relations, "inverse_relations",
                  (json_int_t)s->inverse_relations, "duplicates_dropped",
                  (json_int_t)report->duplicates, "bad_lines", (json_int_t)report->bad_lines));
    json_object_set_new(object, "labels_read", json_integer((json_int_t)report->labels));
    json_object_set_new(object, "degrees", degrees_json(s));
    json_object_set_new(object, "common_relations", relations_json(s, graph));
    return object;
}

static int run(const command *self, void *arguments)
{
    const common_arguments *a = arguments;
    kith_graph *graph = NULL;
    kith_error error;
    kith_stats *stats = NULL;
    const kith_work_options work = work_options(a);
    int status = EXIT_SUCCESS;

    (void)self;
    if (open_source(&graph, a->operand, a, &error) != KITH_OK ||
        kith_graph_stats(&stats, graph, &work, &error) != KITH_OK)
        status = failure(&error);
    else if (a->json)
        status = print_json(stats_json(stats, graph, a->operand));
    else
        print_stats(stats, graph, a->operand);
    kith_stats_free(stats);
    kith_graph_free(graph);
    return status;
}

static const option_row options[] = {OPTION_SKIP_BAD, OPTION_COLUMNS, OPTION_THREADS, OPTION_QUIET,
                                     OPTION_JSON};

const command cmd_stats = {
    .name = "stats",
    .group = GROUP_DATA,
    .summary = "show what is in a knowledge graph",
    .operand = "SOURCE",
    .most_operands = 1,
    .about =
        "Counts relations, entities, facts and neighbours, lists the most common relations, and\n"
        "counts facts and relations that repeat or invert others. Seen entities are in train.\n"
        "Unseen entities are not, but occur in a test fact whose relation is in train. The\n"
        "neighbours of seen entities come from train, in both directions; those of other entities\n"
        "come from aux.",
    OPTIONS(options),
    .arguments_size = sizeof(common_arguments),
    .examples = "  kith stats /usr/share/wordnet\n"
                "  kith stats triples.tsv.gz --json\n",
    .run = run,
};
