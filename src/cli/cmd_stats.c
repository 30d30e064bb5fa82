#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char *const part_names[KITH_SPLITS] = {"train", "dev", "test", "aux"};

static double share(size_t part, size_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* ---- for people ---- */

static void print_number(const char *what, uint64_t number)
{
    char text[GROUPED];
    say("  %-20s %12s\n", what, grouped(text, number));
}

static void print_part(const kith_stats *s, int part)
{
    char text[GROUPED];

    if (part != KITH_TRAIN && s->facts[part] == 0)
        return;
    say("  %-20s %12s", part_names[part], grouped(text, s->facts[part]));
    if (s->untrue[part] > 0)
        say("  %s labelled false", grouped(text, s->untrue[part]));
    if (s->unusable[part] > 0)
        say("  %s with a relation that train lacks", grouped(text, s->unusable[part]));
    if (s->leaked[part] > 0)
        say("  %s also in train", grouped(text, s->leaked[part]));
    putchar('\n');
}

static void print_degrees(const kith_stats *s)
{
    enum { WIDTH = 40 };
    char drawn[3 * WIDTH + 4], range[48], text[GROUPED];
    size_t most = 1;

    for (size_t i = 0; i < s->bucket_count; i++)
        if (s->buckets[i].entities > most)
            most = s->buckets[i].entities;
    say("\nEntities by number of neighbours\n");
    for (size_t i = 0; i < s->bucket_count; i++) {
        const kith_degree_bucket *b = &s->buckets[i];
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
    size_t train = s->facts[KITH_TRAIN];

    say("\nCommonest relations\n");
    for (size_t i = 0; i < s->common_count; i++)
        say("  %10s  %4.1f %%  %s\n", grouped(text, s->common[i].facts),
               100 * share(s->common[i].facts, train),
               kith_graph_relation_name(graph, s->common[i].relation));
    say("\nRepeated by other facts (train)\n");
    say("  %4.1f %% of facts have their pair linked by another relation the same way, %4.1f %% "
           "the other way\n", 100 * share(s->duplicate_facts, train),
           100 * share(s->inverse_facts, train));
    say("  %zu relations are mostly duplicates (80 %% of their facts), %zu mostly inverses\n",
           s->duplicate_relations, s->inverse_relations);
}

static void print_stats(const kith_stats *s, const kith_graph *graph, const char *path)
{
    say("%s (%s)\n\n", path, kith_graph_layout(graph));
    print_number("relations", s->relations);
    print_number("seen entities", s->seen);
    print_number("unseen entities", s->unseen);
    print_number("isolated entities", s->isolated);
    say("\nFacts\n");
    for (int part = 0; part < KITH_SPLITS; part++)
        print_part(s, part);
    say("\nNeighbours per entity\n");
    print_number("min", s->neighbors_min);
    print_number("max", s->neighbors_max);
    say("  %-20s %12.1f\n", "mean", s->neighbors_mean);
    print_degrees(s);
    print_relations(s, graph);
}

/* ---- for programs ---- */

static json_t *degrees_json(const kith_stats *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->bucket_count; i++)
        json_array_append_new(list, json_pack("{sIsIsI}", "low", (json_int_t)s->buckets[i].low,
                                              "high", (json_int_t)s->buckets[i].high, "entities",
                                              (json_int_t)s->buckets[i].entities));
    return list;
}

static json_t *relations_json(const kith_stats *s, const kith_graph *graph)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->common_count; i++)
        json_array_append_new(
            list, json_pack("{sssI}", "relation",
                            kith_graph_relation_name(graph, s->common[i].relation), "facts",
                            (json_int_t)s->common[i].facts));
    return list;
}

static json_t *parts_json(const size_t counts[KITH_SPLITS])
{
    json_t *object = json_object();
    for (int part = 0; part < KITH_SPLITS; part++)
        json_object_set_new(object, part_names[part], json_integer((json_int_t)counts[part]));
    return object;
}

static json_t *stats_json(const kith_stats *s, const kith_graph *graph, const char *path)
{
    kith_load_report report = kith_graph_report(graph);
    json_t *object = json_pack(
        "{soss sIsIsIsI s{sIsIsf} sIsIsIsI sIsI}", "source", text_json(path), "layout",
        kith_graph_layout(graph), "relations", (json_int_t)s->relations, "seen",
        (json_int_t)s->seen, "unseen", (json_int_t)s->unseen, "isolated", (json_int_t)s->isolated,
        "neighbors", "min", (json_int_t)s->neighbors_min, "max", (json_int_t)s->neighbors_max,
        "mean", s->neighbors_mean, "duplicate_facts", (json_int_t)s->duplicate_facts,
        "inverse_facts", (json_int_t)s->inverse_facts, "duplicate_relations",
        (json_int_t)s->duplicate_relations, "inverse_relations", (json_int_t)s->inverse_relations,
        "duplicates_dropped", (json_int_t)report.duplicates, "bad_lines",
        (json_int_t)report.bad_lines);
    for (int part = 0; object && part < KITH_SPLITS; part++)
        json_object_set_new(object, part_names[part], json_integer((json_int_t)s->facts[part]));
    if (object) {
        json_object_set_new(object, "labelled_false", parts_json(s->untrue));
        json_object_set_new(object, "relation_not_in_train", parts_json(s->unusable));
        json_object_set_new(object, "also_in_train", parts_json(s->leaked));
        json_object_set_new(object, "degrees", degrees_json(s));
        json_object_set_new(object, "commonest_relations", relations_json(s, graph));
    }
    return object;
}

static int run(const command *self, int argc, char **argv)
{
    enum { JSON = 256, SKIP_BAD, THREADS };
    static const struct option options[] = {{"json", no_argument, NULL, JSON},
                                            {"skip-bad", no_argument, NULL, SKIP_BAD},
                                            {"threads", required_argument, NULL, THREADS},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    kith_open_options open = {0};
    kith_graph *graph = NULL;
    kith_error error;
    kith_stats stats;
    bool json = false;
    uint64_t threads;
    int option, status;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        switch (option) {
        case JSON:
            json = true;
            break;
        case SKIP_BAD:
            open.skip_bad = 1;
            break;
        case THREADS:
            if (!parse_count(&threads, optarg) || threads > 1024)
                return usage_error(self, "--threads is '%s', expected a number up to 1024", optarg);
            open.threads = (unsigned)threads;
            break;
        case 'h':
            return print_help(self);
        default:
            return bad_option(self, option, argv);
        }
    }
    if (argc - optind != 1)
        return usage_error(self, "found %d sources, expected one", argc - optind);
    if (open_source(&graph, argv[optind], &open, &error) != KITH_OK ||
        kith_graph_stats(&stats, graph, &error) != KITH_OK) {
        status = failure(&error);
    } else if (json) {
        status = print_json(stats_json(&stats, graph, argv[optind]));
    } else {
        print_stats(&stats, graph, argv[optind]);
        status = EXIT_SUCCESS;
    }
    kith_graph_free(graph);
    return status;
}

const command cmd_stats = {
    .name = "stats",
    .summary = "show what is in a knowledge graph",
    .usage = "SOURCE [--json] [--skip-bad] [--threads N]",
    .help = "Seen entities are those of train; unseen ones are in test facts whose relation train\n"
            "has, but not in train. Neighbours of seen entities come from train, in both\n"
            "directions; those of other entities from aux.\n\n"
            "  --json        print one JSON object\n"
            "  --skip-bad    count bad lines and go on, instead of stopping at the first\n"
            "  --threads N   use N threads (default: one per core)\n"
            "  -h, --help    print this help\n\n"
            "examples:\n"
            "  kith stats /usr/share/wordnet\n"
            "  kith stats triples.tsv.gz --json\n",
    .run = run,
};
