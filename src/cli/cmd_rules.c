#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

typedef struct {
    const char *relation;
    uint64_t top, min_support;
    kith_open_options open;
    bool json;
} arguments;

static json_t *rules_json(const kith_rule *rules, size_t count, const kith_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            list, json_pack("{ss sb ss sb sf sI}", "premise",
                            kith_graph_relation_name(graph, rules[i].premise), "premise_inverse",
                            rules[i].premise_inverse, "conclusion",
                            kith_graph_relation_name(graph, rules[i].conclusion),
                            "conclusion_inverse", rules[i].conclusion_inverse, "confidence",
                            rules[i].confidence, "support", (json_int_t)rules[i].support));
    return json_pack("{so}", "rules", list);
}

static void print_rules(const kith_rule *rules, size_t count, const kith_graph *graph)
{
    char text[GROUPED];

    printf("confidence    support  rule (an entity that has the first also has the second)\n");
    for (size_t i = 0; i < count; i++)
        printf("    %.4f %10s  %s%s => %s%s\n", rules[i].confidence,
               grouped(text, rules[i].support), kith_graph_relation_name(graph, rules[i].premise),
               rules[i].premise_inverse ? " (inverse)" : "",
               kith_graph_relation_name(graph, rules[i].conclusion),
               rules[i].conclusion_inverse ? " (inverse)" : "");
    if (count == 0)
        printf("none\n");
}

static int show(const command *self, const arguments *a, const char *path)
{
    kith_graph *graph = NULL;
    kith_rule *rules = NULL;
    kith_error error;
    uint32_t relation = UINT32_MAX;
    size_t count = 0;
    int status = EXIT_SUCCESS;

    if (open_source(&graph, path, &a->open, &error) != KITH_OK)
        return failure(&error);
    if (a->relation && (kith_graph_find_relation(&relation, graph, a->relation) != KITH_OK ||
                        relation >= kith_graph_seen_relation_count(graph)))
        status = usage_error(self, "train has no relation '%s'", a->relation);
    else if (kith_graph_rules(&rules, &count, graph, relation, (uint32_t)a->min_support,
                              (size_t)a->top, a->open.threads, &error) != KITH_OK)
        status = failure(&error);
    else if (a->json)
        status = print_json(rules_json(rules, count, graph));
    else
        print_rules(rules, count, graph);
    kith_rules_free(rules);
    kith_graph_free(graph);
    return status;
}

static int run(const command *self, int argc, char **argv)
{
    enum { RELATION = 256, TOP, SUPPORT, JSON, SKIP_BAD, THREADS };
    static const struct option options[] = {{"relation", required_argument, NULL, RELATION},
                                            {"top", required_argument, NULL, TOP},
                                            {"min-support", required_argument, NULL, SUPPORT},
                                            {"json", no_argument, NULL, JSON},
                                            {"skip-bad", no_argument, NULL, SKIP_BAD},
                                            {"threads", required_argument, NULL, THREADS},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    arguments a = {.top = 20, .min_support = 1};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        uint64_t number = 0;
        if ((option == TOP || option == SUPPORT || option == THREADS) &&
            (!parse_count(&number, optarg) || number > UINT32_MAX ||
             (option == THREADS && number > 1024)))
            return usage_error(self, "found '%s', expected a number", optarg);
        switch (option) {
        case RELATION:
            a.relation = optarg;
            break;
        case TOP:
            a.top = number;
            break;
        case SUPPORT:
            a.min_support = number;
            break;
        case THREADS:
            a.open.threads = (unsigned)number;
            break;
        case SKIP_BAD:
            a.open.skip_bad = 1;
            break;
        case JSON:
            a.json = true;
            break;
        case 'h':
            return print_help(self);
        default:
            return bad_option(self, option, argv);
        }
    }
    if (argc - optind != 1)
        return usage_error(self, "found %d sources, expected one", argc - optind);
    return show(self, &a, argv[optind]);
}

const command cmd_rules = {
    .name = "rules",
    .summary = "show which relations imply which",
    .usage = "SOURCE [--relation NAME] [--top K] [--min-support N] [--json]",
    .help = "A rule r1 => r2 says that an entity with r1 also has r2; its confidence is the share of\n"
            "the entities with r1 for which that is so, its support how many they are. Rules are\n"
            "counted over train, in both directions of each relation.\n\n"
            "  --relation NAME   only rules that conclude this relation or its inverse\n"
            "  --top K           how many to show, strongest first (default: 20)\n"
            "  --min-support N   only rules with that support or more (default: 1)\n"
            "  --json            print one JSON object\n"
            "  --skip-bad        count bad lines and go on, instead of stopping at the first\n"
            "  --threads N       use N threads (default: one per core)\n"
            "  -h, --help        print this help\n\n"
            "examples:\n"
            "  kith rules /usr/share/wordnet --top 10\n"
            "  kith rules FB15k --relation /people/person/nationality --min-support 20\n",
    .run = run,
};
