#include <stdlib.h>

#include "cli/cli.h"

static const char *part_name(int part)
{
    switch (part) {
    case 'E':
        return "embedding";
    case 'N':
        return "near";
    case '*':
        return "rules";
    case '-':
        return "prior";
    default:
        return (const char *[]){"A", "B", "C", "D"}[part - 'A'];
    }
}

static void print_fusion(const kith_model *model, const kith_fusion_info *info)
{
    char text[GROUPED];
    const char *name;
    double weight;
    int part;

    printf("\nRules\n  kind A %19s\n", grouped(text, info->rules_a));
    printf("  kind B %19s\n", grouped(text, info->rules_b));
    printf("\nFusion\n  fitted on %16s facts of held-out entities\n", grouped(text, info->queries));
    printf("  set aside %16s of them to calibrate\n", grouped(text, info->set_aside));
    printf("  loss there %15.4f\n", info->loss);
    if (info->own > 0)
        printf("  of their own %13s relations, by direction, have weights, pulled by %g to these\n",
               grouped(text, info->own), info->pull);
    printf("\n  %-10s %-32s %9s\n", "part", "what", "weight");
    for (size_t i = 0; (name = kith_model_fusion_weight(&weight, &part, model, i)); i++)
        if (weight != 0)
            printf("  %-10s %-32s %9.4f\n", part_name(part), name, weight);
}

static void print_info(const kith_model *model, const char *folder)
{
    const kith_graph *graph = kith_model_graph(model);
    const kith_settings *settings = kith_model_settings(model);
    kith_fusion_info info;
    const char *name;
    char text[64], number[GROUPED];

    printf("%s\n\nGraph\n", folder);
    printf("  relations %16s\n", grouped(number, kith_graph_seen_relation_count(graph)));
    printf("  seen entities %12s\n", grouped(number, kith_graph_seen_entity_count(graph)));
    printf("  train facts %14s\n", grouped(number, kith_graph_facts(graph, KITH_TRAIN).count));
    printf("\nSettings\n");
    for (size_t i = 0; (name = kith_settings_name(i, NULL, NULL)); i++)
        printf("  %-20s %s\n", name, kith_settings_get(text, sizeof text, settings, name));
    kith_model_fusion(&info, model);
    if (info.fused)
        print_fusion(model, &info);
}

static json_t *fusion_json(const kith_model *model, const kith_fusion_info *info)
{
    json_t *weights = json_array();
    const char *name;
    double weight;
    int part;

    for (size_t i = 0; (name = kith_model_fusion_weight(&weight, &part, model, i)); i++)
        json_array_append_new(weights, json_pack("{ss ss sf}", "part", part_name(part), "name",
                                                 name, "weight", weight));
    return json_pack("{sb sI sI sI sI sf s[fff] sI sf so}", "embedding", info->embedding,
                     "rules_a", (json_int_t)info->rules_a, "rules_b", (json_int_t)info->rules_b,
                     "queries", (json_int_t)info->queries, "set_aside",
                     (json_int_t)info->set_aside, "loss", info->loss, "calibration",
                     info->calibration[0], info->calibration[1], info->calibration[2],
                     "own_weights", (json_int_t)info->own, "pull", info->pull, "weights", weights);
}

static json_t *info_json(const kith_model *model, const char *folder)
{
    const kith_graph *graph = kith_model_graph(model);
    json_t *values = json_object(), *object;
    kith_fusion_info info;
    const char *name;
    char text[64];

    for (size_t i = 0; (name = kith_settings_name(i, NULL, NULL)); i++)
        json_object_set_new(values, name,
                            json_string(kith_settings_get(text, sizeof text,
                                                          kith_model_settings(model), name)));
    object = json_pack("{so s{sI sI sI} so}", "run", text_json(folder), "graph", "relations",
                       (json_int_t)kith_graph_seen_relation_count(graph), "seen_entities",
                       (json_int_t)kith_graph_seen_entity_count(graph), "train_facts",
                       (json_int_t)kith_graph_facts(graph, KITH_TRAIN).count, "settings", values);
    kith_model_fusion(&info, model);
    if (object && info.fused)
        json_object_set_new(object, "fusion", fusion_json(model, &info));
    return object;
}

static int run(const command *self, int argc, char **argv)
{
    enum { JSON = 256 };
    static const struct option options[] = {{"json", no_argument, NULL, JSON},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    bool json = false;
    kith_model *model;
    kith_error error;
    int option, status = EXIT_SUCCESS;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option == 'h')
            return print_help(self);
        if (option != JSON)
            return bad_option(self, option, argv);
        json = true;
    }
    if (argc - optind != 1)
        return usage_error(self, "found %d runs, expected one", argc - optind);
    if (kith_model_open(&model, argv[optind], 1, &error) != KITH_OK)
        return failure(&error);
    if (json)
        status = print_json(info_json(model, argv[optind]));
    else
        print_info(model, argv[optind]);
    kith_model_free(model);
    return status;
}

const command cmd_info = {
    .name = "info",
    .summary = "show what a trained run is made of",
    .usage = "RUN [--json]",
    .help = "Prints the run's graph, its settings and, where it has rules, how many there are, what\n"
            "their fusion with the embedding was fitted on and how it weighs them.\n\n"
            "  --json                  print one JSON object\n"
            "  -h, --help              print this help\n\n"
            "examples:\n"
            "  kith info run\n",
    .run = run,
};
