#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/answers.h"
#include "cli/progress.h"
#include "report/rule_form.h"

typedef struct {
    common_arguments common;
    const char *relation;
    unsigned kinds; /* flags of kith_evidence_part; 0 for implications */
    uint64_t min_support;
    int examples;
} arguments;

static json_t *implications_json(const kith_implications *rules, const kith_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < rules->count; i++)
        json_array_append_new(list, implication_json(rules->at[i], graph));
    return json_pack("{so}", "rules", list);
}

static void print_implications(const kith_implications *rules, const kith_graph *graph)
{
    char text[GROUPED];

    say("confidence    support  rule (an entity that has the first also has the second)\n");
    for (size_t i = 0; i < rules->count; i++) {
        const kith_implication *r = rules->at[i];
        say("    %.4f %10s  %s%s => %s%s\n", r->confidence, grouped(text, r->support),
            relation_text(graph, r->premise), r->premise_inverse ? " (inverse)" : "",
            relation_text(graph, r->conclusion),
            r->conclusion_inverse ? " (inverse)" : "");
    }
    if (rules->count == 0)
        say("none\n");
}

/* ---- rules that name an answer ---- */

/* The text of a variable of a rule: the variable itself, or the name of a constant. */
static const char *variable_text(char text[2], char variable, const kith_rule *r,
                                 const kith_graph *graph)
{
    uint32_t constant = variable == 'c' ? r->constant : variable == 'o' ? r->answer : UINT32_MAX;

    text[0] = variable;
    text[1] = '\0';
    return constant == UINT32_MAX ? text
                                  : name_text(graph, kith_graph_entity_label(graph, constant));
}

static void print_atom(const kith_rule *r, rule_atom atom, uint32_t relation, int inverse,
                       const kith_graph *graph)
{
    char text[2];

    say("%s(%s", relation_text(graph, relation),
        variable_text(text, inverse ? atom.to : atom.from, r, graph));
    say(", %s)", variable_text(text, inverse ? atom.from : atom.to, r, graph));
}

static void print_answer_rule(const kith_rule *r, const kith_graph *graph)
{
    const uint32_t relation[RULE_ATOMS] = {r->first, r->second, r->third};
    const int inverse[RULE_ATOMS] = {r->first_inverse, r->second_inverse, r->third_inverse};
    rule_form form = rule_form_of(r->kind);
    char support[GROUPED], body_count[GROUPED];

    say("    %.4f %8s of %-8s %-8s  ", r->confidence, grouped(support, r->support),
        grouped(body_count, r->body_count), kith_part_name(r->kind));
    for (size_t i = 0; i < form.count; i++) {
        if (i > 0)
            say(", ");
        print_atom(r, form.body[i], relation[i], inverse[i], graph);
    }
    say(" => ");
    print_atom(r, form.conclusion, r->conclusion, r->conclusion_inverse, graph);
    putchar('\n');
}

/* Print example facts, without the constant, which the rule already shows. */
static void print_examples(const kith_rule *r, const kith_rule_example *const *at, size_t count,
                           const char *what, const kith_graph *graph)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t value[] = {at[i]->subject, at[i]->between, at[i]->between_second,
                                  at[i]->object};
        const char *separator = " ";
        say("%36s", what);
        for (size_t k = 0; k < sizeof value / sizeof *value; k++) {
            if (value[k] == UINT32_MAX || value[k] == r->constant)
                continue;
            say("%s%c = %s", separator, "sxyo"[k],
                name_text(graph, kith_graph_entity_label(graph, value[k])));
            separator = ", ";
        }
        say("\n");
    }
}

static void print_answer_rules(const kith_rules *rules, const kith_graph *graph, bool examples)
{
    say("confidence    correct of      kind      rule\n");
    for (size_t i = 0; i < rules->count; i++) {
        const kith_rule *r = rules->at[i];
        print_answer_rule(r, graph);
        if (!examples)
            continue;
        print_examples(r, r->holds, r->holds_count, "holds:", graph);
        print_examples(r, r->fails, r->fails_count, "fails:", graph);
    }
    if (rules->count == 0)
        say("none\n");
}

static json_t *examples_json(const kith_rule_example *const *at, size_t count,
                             const kith_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++) {
        json_t *one = json_pack("{so so}", "subject",
                                text_json(kith_graph_entity_name(graph, at[i]->subject)), "object",
                                text_json(kith_graph_entity_name(graph, at[i]->object)));
        if (at[i]->between != UINT32_MAX)
            json_object_set_new(one, "between",
                                text_json(kith_graph_entity_name(graph, at[i]->between)));
        if (at[i]->between_second != UINT32_MAX)
            json_object_set_new(one, "between_second",
                                text_json(kith_graph_entity_name(graph, at[i]->between_second)));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *answer_rules_json(const kith_rules *rules, const kith_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < rules->count; i++) {
        const kith_rule *r = rules->at[i];
        json_t *one = json_pack(
            "{ss so so sf sI sI so so}", "kind", kith_part_name(r->kind), "first",
            relation_json(graph, r->first, r->first_inverse), "conclusion",
            relation_json(graph, r->conclusion, r->conclusion_inverse), "confidence", r->confidence,
            "support", (json_int_t)r->support, "body_count", (json_int_t)r->body_count, "holds",
            examples_json(r->holds, r->holds_count, graph), "fails",
            examples_json(r->fails, r->fails_count, graph));
        if (r->second != UINT32_MAX)
            json_object_set_new(one, "second", relation_json(graph, r->second, r->second_inverse));
        if (r->third != UINT32_MAX)
            json_object_set_new(one, "third", relation_json(graph, r->third, r->third_inverse));
        if (r->constant != UINT32_MAX)
            json_object_set_new(one, "constant",
                                text_json(kith_graph_entity_name(graph, r->constant)));
        if (r->answer != UINT32_MAX)
            json_object_set_new(one, "answer", text_json(kith_graph_entity_name(graph, r->answer)));
        json_array_append_new(list, one);
    }
    return json_pack("{so}", "rules", list);
}

static int show_answer_rules(const arguments *a, const kith_graph *graph,
                             const kith_rules_options *options)
{
    kith_rules *rules = NULL;
    kith_error error;
    int status = EXIT_SUCCESS;

    if (kith_graph_rules(&rules, graph, options, &error) != KITH_OK)
        return failure(&error);
    if (a->common.json)
        status = print_json(answer_rules_json(rules, graph));
    else
        print_answer_rules(rules, graph, a->examples);
    kith_rules_free(rules);
    return status;
}

static int show_implications(const arguments *a, const kith_graph *graph,
                             const kith_rules_options *options)
{
    kith_implications *rules = NULL;
    kith_error error;
    int status = EXIT_SUCCESS;

    if (kith_graph_implications(&rules, graph, options, &error) != KITH_OK)
        return failure(&error);
    if (a->common.json)
        status = print_json(implications_json(rules, graph));
    else
        print_implications(rules, graph);
    kith_implications_free(rules);
    return status;
}

/* List the rules of the run, with examples from another graph. */
static int show_on(const command *self, const arguments *a, kith_rules_options *options)
{
    kith_model *model = NULL;
    kith_rules *rules = NULL;
    kith_error error;
    char why[512];
    int status = EXIT_SUCCESS;

    if (open_run_on(&model, &a->common, &error) != KITH_OK)
        return failure(&error);
    const kith_graph *graph = kith_model_graph(model);
    if (a->relation && !find_train_relation(&options->conclusion, graph, a->relation, why))
        status = usage_error(self, "%s", why);
    else if (kith_model_rules(&rules, model, options, &error) != KITH_OK)
        status = failure(&error);
    else if (a->common.json)
        status = print_json(answer_rules_json(rules, graph));
    else
        print_answer_rules(rules, graph, a->examples);
    kith_rules_free(rules);
    kith_model_free(model);
    return status;
}

/* Open a source, or the graph in the folder of a run. */
static kith_status open_graph(kith_graph **graph, const arguments *a, const char *path,
                              kith_error *error)
{
    char inner[4096];

    if (snprintf(inner, sizeof inner, "%s/config.json", path) < (int)sizeof inner &&
        access(inner, F_OK) == 0) {
        snprintf(inner, sizeof inner, "%s/graph", path);
        path = inner;
    }
    return open_source(graph, path, &a->common, error);
}

static int show(const command *self, const arguments *a, const char *path)
{
    kith_graph *graph = NULL;
    kith_error error;
    kith_rules_options options;
    char why[512];
    int status;

    kith_rules_options_init(&options);
    options.kinds = a->kinds;
    options.min_support = (uint32_t)a->min_support;
    options.top = (size_t)a->common.top;
    options.threads = (unsigned)a->common.threads;
    options.watch = show_stage;
    options.context = watching(&a->common);
    if (a->common.on)
        return show_on(self, a, &options);
    if (open_graph(&graph, a, path, &error) != KITH_OK)
        return failure(&error);
    if (a->relation && !find_train_relation(&options.conclusion, graph, a->relation, why))
        status = usage_error(self, "%s", why);
    else
        status = a->kinds ? show_answer_rules(a, graph, &options)
                          : show_implications(a, graph, &options);
    kith_graph_free(graph);
    return status;
}

/* Whether every character is the letter of a kind that can be listed. */
static bool is_letters(const char *text)
{
    for (; *text; text++) {
        kith_evidence_part kind = kith_part_find(text, 1);
        if (!kith_part_listed(kind) || kith_part_letter(kind) != *text)
            return false;
    }
    return true;
}

/* Parse "direct,path" or "AB" to flags of kinds that can be listed. */
static bool parse_kinds(void *to, const char *text)
{
    unsigned *kinds = to;
    bool letters = is_letters(text);

    for (size_t length; *text; text += length + (text[length] == ',')) {
        length = letters ? 1 : strcspn(text, ",");
        kith_evidence_part kind = kith_part_find(text, length);
        if (!kith_part_listed(kind))
            return false;
        *kinds |= kind;
    }
    return *kinds != 0;
}

static void print_kinds(void)
{
    for (unsigned part = 1; part < KITH_PART_ALL; part <<= 1)
        if (kith_part_listed((kith_evidence_part)part))
            say("  %-10s (%c)  %s\n", kith_part_name((kith_evidence_part)part),
                kith_part_letter((kith_evidence_part)part),
                kith_part_form((kith_evidence_part)part));
}

static int run(const command *self, void *given)
{
    const arguments *a = given;

    if (a->examples && !a->kinds && !a->common.on)
        return usage_error(self, "--examples needs --kind");
    return show(self, a, a->common.operand);
}

static const option_row options[] = {
    {"kind", 0, "KINDS",
     "list rules that predict an answer, of these kinds: names from the list above, "
     "separated by commas, or letters, such as AB",
     OPTION_CHECKED, offsetof(arguments, kinds), .take = parse_kinds,
     .expected = "a list of kinds such as direct,path or AB (kith rules --help lists them)"},
    {"examples", 0, NULL, "show facts for which each rule is correct and for which it is wrong",
     OPTION_FLAG, offsetof(arguments, examples)},
    {"relation", 0, "NAME", "only rules that conclude this relation or its inverse", OPTION_TEXT,
     offsetof(arguments, relation)},
    OPTION_TOP("number of rules to show, strongest first", "20"),
    {"min-support", 0, "N", "only rules with at least this support", OPTION_INTEGER,
     offsetof(arguments, min_support), "1", .high = UINT32_MAX},
    {"on", 0, "SOURCE",
     "list the rules that predictions use (as --kind does), learned by the run, with examples and "
     "constant rules from another graph that shares its relations",
     OPTION_TEXT, offsetof(common_arguments, on)},
    OPTION_SKIP_BAD,
    OPTION_COLUMNS,
    OPTION_THREADS,
    OPTION_QUIET,
    OPTION_JSON,
};

const command cmd_rules = {
    .name = "rules",
    .group = GROUP_DATA,
    .summary = "list the rules that a graph supports",
    .operand = "SOURCE|RUN",
    .most_operands = 1,
    .about =
        "Lists implications between relations: r1 => r2 says that an entity with r1 also has r2.\n"
        "The support is the number of entities with both, the confidence their share among those\n"
        "with r1. Implications are counted over train, in both directions of each relation.\n\n"
        "With --kind, lists the rules that predictions use instead. They predict an answer o to\n"
        "the query q(s, ?), and are shown with how often they were correct. The confidence of\n"
        "rules with few examples is lowered. The kinds are:",
    .more = print_kinds,
    OPTIONS(options),
    .arguments_size = sizeof(arguments),
    .examples = "  kith rules /usr/share/wordnet --top 10\n"
                "  kith rules FB15k --relation /people/person/nationality --min-support 20\n"
                "  kith rules FB15k --kind direct,path --examples --relation "
                "/people/person/nationality\n",
    .run = run,
};
