#include <stdlib.h>

#include "cli/cli.h"
#include "cli/held_out.h"

/* Print the weights of one relation, in both directions, or the common ones. */
static void print_weights(const kith_model *model, uint32_t relation)
{
    const char *name;
    double common, weight[2];
    kith_evidence_part part;
    int own[2];

    if (relation == UINT32_MAX) {
        say("\n  %-14s %-34s %9s\n", "part", "what", "weight");
    } else {
        for (int side = 0; side < 2; side++)
            own[side] = kith_model_relation_weight(&weight[side], model, relation, side, 0);
        say("\n  Weights for %s, objects asked for: %s; subjects: %s\n\n",
            kith_graph_relation_name(kith_model_graph(model), relation),
            own[0] ? "its own" : "the common ones", own[1] ? "its own" : "the common ones");
        say("  %-14s %-34s %9s %9s %9s\n", "part", "what", "common", "objects", "subjects");
    }
    for (size_t i = 0; (name = kith_model_fusion_weight(&common, &part, model, i)); i++) {
        for (int side = 0; side < 2; side++)
            kith_model_relation_weight(&weight[side], model, relation, side, i);
        if (common == 0 && weight[0] == 0 && weight[1] == 0)
            continue;
        say("  %-14s %-34s %9.4f", kith_part_name(part), name, common);
        if (relation != UINT32_MAX)
            say(" %9.4f %9.4f", weight[0], weight[1]);
        say("\n");
    }
}

static void print_fusion(const kith_model *model, const kith_fusion_info *info, uint32_t relation)
{
    char text[GROUPED];

    say("\nRules\n");
    for (unsigned part = 1; part < KITH_PART_ALL; part <<= 1)
        if (kith_part_mined((kith_evidence_part)part))
            say("  %-9s %16s\n", kith_part_name((kith_evidence_part)part),
                grouped(text, kith_model_rule_count(model, (kith_evidence_part)part)));
    say("\nFusion\n  fitted on %16s facts of held-out entities\n", grouped(text, info->queries));
    say("  calibration %14s of them: the calibration split\n",
        grouped(text, info->calibration_queries));
    say("  loss %21.4f on the calibration split\n", info->loss);
    if (info->own_weights > 0)
        say("  own weights %14s directed relations; regularisation strength %g\n",
            grouped(text, info->own_weights), info->regularization);
    print_weights(model, relation);
}

static void print_info(const kith_model *model, const char *folder, uint32_t relation)
{
    const kith_graph *graph = kith_model_graph(model);
    const kith_settings *settings = kith_model_settings(model);
    kith_fusion_info *info = NULL;
    const char *name;
    char text[64], number[GROUPED];

    say("%s\n\nGraph\n", folder);
    say("  relations %16s\n", grouped(number, kith_graph_seen_relation_count(graph)));
    say("  seen entities %12s\n", grouped(number, kith_graph_seen_entity_count(graph)));
    say("  train facts %14s\n", grouped(number, kith_graph_facts(graph, KITH_TRAIN).count));
    say("\nSettings\n");
    for (size_t i = 0; (name = kith_settings_name(i, NULL, NULL)); i++)
        if (kith_settings_applies(settings, name))
            say("  %-20s %s\n", name, kith_settings_get(text, sizeof text, settings, name));
    if (kith_model_fusion(&info, model, NULL) == KITH_OK && info->fused)
        print_fusion(model, info, relation);
    print_held_out(model);
    kith_fusion_info_free(info);
}

/* A common weight; with a relation, also its weights for queries for objects and for subjects. */
static json_t *weight_json(const kith_model *model, size_t index, uint32_t relation)
{
    double weight;
    kith_evidence_part part;
    const char *name = kith_model_fusion_weight(&weight, &part, model, index);
    json_t *object =
        name ? json_pack("{ss ss sf}", "part", kith_part_name(part), "name", name, "weight", weight)
             : NULL;

    if (object && relation != UINT32_MAX) {
        kith_model_relation_weight(&weight, model, relation, 0, index);
        json_object_set_new(object, "objects", json_real(weight));
        kith_model_relation_weight(&weight, model, relation, 1, index);
        json_object_set_new(object, "subjects", json_real(weight));
    }
    return object;
}

/* {"direct": 12, "path": 3} */
static json_t *rules_json(const kith_model *model)
{
    json_t *counts = json_object();

    for (unsigned part = 1; part < KITH_PART_ALL; part <<= 1)
        if (kith_part_mined((kith_evidence_part)part))
            json_object_set_new(
                counts, kith_part_name((kith_evidence_part)part),
                json_integer(
                    (json_int_t)kith_model_rule_count(model, (kith_evidence_part)part)));
    return counts;
}

static json_t *fusion_json(const kith_model *model, const kith_fusion_info *info, uint32_t relation)
{
    json_t *weights = json_array(), *weight;

    for (size_t i = 0; (weight = weight_json(model, i, relation)); i++)
        json_array_append_new(weights, weight);
    return json_pack("{sb so sI sI sf s[fff] sI sf so}", "embedding", info->embedding,
                     "rules", rules_json(model), "queries", (json_int_t)info->queries,
                     "calibration_queries", (json_int_t)info->calibration_queries, "loss",
                     info->loss, "calibration", info->calibration[0], info->calibration[1],
                     info->calibration[2], "own_weights", (json_int_t)info->own_weights,
                     "regularization", info->regularization, "weights", weights);
}

static json_t *info_json(const kith_model *model, const char *folder, uint32_t relation)
{
    const kith_graph *graph = kith_model_graph(model);
    json_t *values = json_object(), *object;
    kith_fusion_info *info = NULL;
    const char *name;
    char text[64];

    for (size_t i = 0; (name = kith_settings_name(i, NULL, NULL)); i++)
        if (kith_settings_applies(kith_model_settings(model), name))
            json_object_set_new(
                values, name,
                value_json(kith_settings_get(text, sizeof text, kith_model_settings(model), name)));
    object = json_pack("{so s{sI sI so} so}", "run", text_json(folder), "graph", "relations",
                       (json_int_t)kith_graph_seen_relation_count(graph), "seen_entities",
                       (json_int_t)kith_graph_seen_entity_count(graph), "facts", facts_json(graph),
                       "settings", values);
    if (object && kith_model_fusion(&info, model, NULL) == KITH_OK && info->fused)
        json_object_set_new(object, "fusion", fusion_json(model, info, relation));
    kith_fusion_info_free(info);
    json_t *held_out = held_out_json(model);
    if (object && held_out)
        json_object_set_new(object, "held_out", held_out);
    return object;
}

static int show(const command *self, const common_arguments *a, const char *relation_name)
{
    uint32_t relation = UINT32_MAX;
    kith_model *model;
    kith_error error;
    char why[512];
    int status = EXIT_SUCCESS;

    if (open_run(&model, a->operand, a, &error) != KITH_OK)
        return failure(&error);
    if (relation_name &&
        !find_train_relation(&relation, kith_model_graph(model), relation_name, why))
        status = usage_error(self, "%s", why);
    else if (a->json)
        status = print_json(info_json(model, a->operand, relation));
    else
        print_info(model, a->operand, relation);
    kith_model_free(model);
    return status;
}

typedef struct {
    common_arguments common;
    const char *relation;
} arguments;

static int run(const command *self, void *given)
{
    const arguments *a = given;
    return show(self, &a->common, a->relation);
}

static const option_row options[] = {
    {"relation", 0, "NAME", "also show the weights of this relation", OPTION_TEXT,
     offsetof(arguments, relation)},
    OPTION_THREADS,
    OPTION_QUIET,
    OPTION_JSON,
};

const command cmd_info = {
    .name = "info",
    .group = GROUP_MODELS,
    .summary = "show the settings, rules and weights of a run",
    .operand = "RUN",
    .most_operands = 1,
    .about =
        "Prints the size of the run's graph and the run's settings. If the run has rules, also\n"
        "prints their number, what the fusion was fitted on, the weights of its features, and\n"
        "the metrics that training measured on held-out entities.",
    OPTIONS(options),
    .arguments_size = sizeof(arguments),
    .examples = "  kith info run\n"
                "  kith info run --relation /people/person/nationality\n",
    .run = run,
};
