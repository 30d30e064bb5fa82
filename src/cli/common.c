#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "core/numbers.h"

/* ---- messages ---- */

/* "kith split SOURCE -o DIR [OPTIONS]" */
static void print_usage(FILE *out, const command *self)
{
    fprintf(out, "usage: kith %s %s", self->name, self->operand);
    if (self->also)
        fprintf(out, " %s", self->also);
    for (size_t i = 0; i < self->option_count; i++) {
        const option_row *row = &self->options[i];
        if (row->required && row->letter)
            fprintf(out, " -%c %s", row->letter, row->argument);
        else if (row->required)
            fprintf(out, " --%s %s", row->name, row->argument);
    }
    fprintf(out, " [OPTIONS]\n");
}

int usage_error(const command *self, const char *format, ...)
{
    va_list arguments;

    put(stderr, "kith %s: ", self->name);
    va_start(arguments, format);
    vput(stderr, format, arguments);
    va_end(arguments);
    putc('\n', stderr);
    print_usage(stderr, self);
    put(stderr, "Try 'kith help %s'.\n", self->name);
    return EXIT_USAGE;
}

int failure(const kith_error *error)
{
    if (error->status == KITH_ERR_STOPPED) {
        put(stderr, "kith: stopped\n");
        return stopped_status();
    }
    put(stderr, "kith: %s\n", error->message);
    return error->status == KITH_ERR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
}

int out_of_memory(void)
{
    put(stderr, "kith: out of memory\n");
    return EXIT_FAILED;
}

int print_help(const command *self)
{
    printf("kith %s - %s\n\n", self->name, self->summary);
    print_usage(stdout, self);
    printf("\n%s\n", self->about);
    if (self->more)
        self->more();
    printf("\noptions:\n");
    print_options(self);
    printf("\nexamples:\n%s", self->examples);
    if (self->takes_settings) {
        putchar('\n');
        print_settings_help(self);
    }
    return EXIT_SUCCESS;
}

/* ---- JSON ---- */

json_t *text_json(const char *text)
{
    json_t *value = json_string(text);
    char *plain = value ? NULL : strdup(text);

    for (char *c = plain; c && *c; c++)
        if ((unsigned char)*c > 0x7f)
            *c = '?';
    if (plain)
        value = json_string(plain);
    free(plain);
    return value;
}

json_t *value_json(const char *text)
{
    uint64_t count;
    double real;

    if (kith__parse_count(&count, text, 0, INT64_MAX))
        return json_integer((json_int_t)count);
    if (kith__parse_real(&real, text, -1e300, 1e300))
        return json_real(real);
    if (strcmp(text, "on") == 0 || strcmp(text, "off") == 0)
        return json_boolean(text[1] == 'n');
    return text_json(text);
}

json_t *splits_json(const size_t counts[KITH_SPLITS])
{
    static const char *const names[KITH_SPLITS] = {"train", "dev", "test", "aux"};
    json_t *object = json_object();

    for (int split = 0; split < KITH_SPLITS; split++)
        json_object_set_new(object, names[split], json_integer((json_int_t)counts[split]));
    return object;
}

json_t *facts_json(const kith_graph *graph)
{
    size_t counts[KITH_SPLITS];

    for (int split = 0; split < KITH_SPLITS; split++)
        counts[split] = kith_graph_facts(graph, (kith_split)split).count;
    return splits_json(counts);
}

json_t *relation_json(const kith_graph *graph, uint32_t relation, int inverse)
{
    return json_pack("{so sb}", "relation", text_json(kith_graph_relation_name(graph, relation)),
                     "inverse", inverse);
}

json_t *implication_json(const kith_implication *rule, const kith_graph *graph)
{
    return json_pack("{so so sf sI}", "premise",
                     relation_json(graph, rule->premise, rule->premise_inverse), "conclusion",
                     relation_json(graph, rule->conclusion, rule->conclusion_inverse),
                     "confidence", rule->confidence, "support", (json_int_t)rule->support);
}

json_t *warnings_json(const kith_model *model)
{
    json_t *list = json_array();
    const char *warning;

    for (size_t i = 0; (warning = kith_model_warning(model, i)); i++)
        json_array_append_new(list, text_json(warning));
    return list;
}

static bool json_failed;

static void *allocate_json(size_t size)
{
    void *block = malloc(size);

    json_failed = json_failed || !block;
    return block;
}

void watch_json(void)
{
    json_set_alloc_funcs(allocate_json, free);
}

bool json_is_whole(void)
{
    return !json_failed;
}

int print_json(json_t *value)
{
    char *text = value ? json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) : NULL;

    json_decref(value);
    if (!text || !json_is_whole()) {
        free(text);
        return out_of_memory();
    }
    put_json_text(stdout, text);
    free(text);
    if (putchar('\n') == EOF) {
        put(stderr, "kith: cannot write the result: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    return EXIT_SUCCESS;
}

/* ---- sources and runs ---- */

static void note_warnings(const kith_model *model)
{
    const char *warning;

    for (size_t i = 0; (warning = kith_model_warning(model, i)); i++)
        note("warning: %s\n", warning);
}

kith_status open_run(kith_model **model, const char *folder, const common_arguments *a,
                     kith_error *error)
{
    const kith_work_options options = work_options(a);
    kith_status status = kith_model_open(model, folder, &options, error);

    if (status == KITH_OK)
        note_warnings(*model);
    return status;
}

void note_report(const kith_graph *graph)
{
    const kith_load_report *report = kith_graph_report(graph);

    if (report->bad_lines > 0)
        note("skipped %zu bad line%s; the first: %s\n", report->bad_lines,
             report->bad_lines == 1 ? "" : "s", report->first_bad);
    if (report->duplicates > 0)
        note("dropped %zu duplicate fact%s\n", report->duplicates,
             report->duplicates == 1 ? "" : "s");
}

/* A table with one row per entity can be misread as facts: "name,team,city". */
static void note_many_relations(const kith_graph *graph)
{
    enum { FEWEST = 20 };
    size_t facts = kith_graph_facts(graph, KITH_TRAIN).count;
    uint32_t relations = kith_graph_seen_relation_count(graph);

    if (facts >= FEWEST && relations > facts / 2)
        note("found %u relations in %zu facts: is the second column the relation? (--columns "
             "chooses others)\n",
             relations, facts);
}

/* Whether the graph is a file in columns without a header row, of which the first fact has three
 * names that no other fact of train has. */
static bool begins_apart(const kith_graph *graph)
{
    const char *layout = kith_graph_layout(graph);
    kith_facts facts = kith_graph_facts(graph, KITH_TRAIN);
    bool columns = strncmp(layout, "file of triples in columns", 26) == 0;

    if (!columns || strstr(layout, ", header row") || facts.count < 3)
        return false;
    kith_triple first = facts.at[0];
    for (size_t i = 1; i < facts.count; i++) {
        kith_triple t = facts.at[i];
        if (t.relation == first.relation || t.subject == first.subject ||
            t.object == first.object || t.subject == first.object || t.object == first.subject)
            return false;
    }
    return true;
}

static void note_first_row(const kith_graph *graph)
{
    if (!begins_apart(graph))
        return;
    kith_triple first = kith_graph_facts(graph, KITH_TRAIN).at[0];
    note("the names of the first row, '%.60s', '%.60s' and '%.60s', occur nowhere else; if it is a "
         "header row, name the columns: --columns '%.60s,%.60s,%.60s'\n",
         kith_graph_entity_name(graph, first.subject),
         kith_graph_relation_name(graph, first.relation),
         kith_graph_entity_name(graph, first.object),
         kith_graph_entity_name(graph, first.subject),
         kith_graph_relation_name(graph, first.relation),
         kith_graph_entity_name(graph, first.object));
}

const char *source_path(const char *given)
{
    return strcmp(given, "-") == 0 ? "/dev/stdin" : given;
}

/* A run is not a source, but contains one. */
static void hint_at_run(const char *path, kith_error *error)
{
    char config[4096];

    if (error->status == KITH_ERR_INPUT &&
        snprintf(config, sizeof config, "%s/config.json", path) < (int)sizeof config &&
        access(config, F_OK) == 0)
        snprintf(error->message, sizeof error->message,
                 "%.400s is a run, expected a graph; its graph is %.400s/graph", path, path);
}

kith_status open_source(kith_graph **graph, const char *path, const common_arguments *a,
                        kith_error *error)
{
    const kith_open_options options = {.skip_bad = a->skip_bad,
                                       .threads = (unsigned)a->threads,
                                       .columns = a->columns,
                                       .watch = show_stage,
                                       .context = watching(a)};
    kith_status status = kith_graph_open(graph, source_path(path), &options, error);

    if (status != KITH_OK)
        hint_at_run(path, error);
    if (status == KITH_OK) {
        note_report(*graph);
        note_many_relations(*graph);
        note_first_row(*graph);
    }
    return status;
}

kith_status open_run_on(kith_model **model, const common_arguments *a, kith_error *error)
{
    const kith_work_options options = work_options(a);
    kith_graph *graph = NULL;

    if (!a->on)
        return open_run(model, a->operand, a, error);
    kith_status status = open_source(&graph, a->on, a, error);
    if (status == KITH_OK)
        status = kith_model_open_on(model, a->operand, graph, &options, error);
    if (status == KITH_OK)
        note_warnings(*model);
    kith_graph_free(graph);
    return status;
}
