#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/answers.h"
#include "cli/lines.h"
#include "cli/progress.h"
#include "cli/signals.h"

typedef struct {
    common_arguments common;
    const char *output, *relation, *names_file, *facts_file;
    text_list tables, entities;
    int format, inverse;
} arguments;

/* The names of rows, allocated or borrowed. */
typedef struct {
    const char **names, **labels;
    char **made;
    size_t made_count;
} row_names;

static void free_names(row_names *n)
{
    for (size_t i = 0; i < n->made_count; i++)
        free(n->made[i]);
    free(n->made);
    free(n->names);
    free(n->labels);
}

/* ---- tables ---- */

static int name_entities(row_names *n, const kith_graph *graph, size_t count)
{
    n->names = calloc(count + 1, sizeof *n->names);
    n->labels = calloc(count + 1, sizeof *n->labels);
    if (!n->names || !n->labels)
        return out_of_memory();
    for (uint32_t i = 0; i < count; i++) {
        n->names[i] = kith_graph_entity_name(graph, i);
        n->labels[i] = kith_graph_entity_label(graph, i);
    }
    return EXIT_SUCCESS;
}

/* If there are inverses, they follow all relations. */
static int name_relations(row_names *n, const kith_graph *graph, size_t count)
{
    size_t relations = kith_graph_seen_relation_count(graph);

    n->names = calloc(count + 1, sizeof *n->names);
    n->made = calloc(count + 1, sizeof *n->made);
    if (!n->names || !n->made)
        return out_of_memory();
    for (size_t i = 0; i < count; i++) {
        const char *name = kith_graph_relation_name(graph, (uint32_t)(i % relations));
        if (i >= relations) {
            if (asprintf(&n->made[n->made_count], "%s (inverse)", name) < 0)
                return out_of_memory();
            name = n->made[n->made_count++];
        }
        n->names[i] = name;
    }
    return EXIT_SUCCESS;
}

static int save(const arguments *a, const char *name, kith_vectors v, const row_names *n)
{
    const kith_work_options work = work_options(&a->common);
    kith_error error;
    char *stem = NULL;

    v.names = n->names;
    v.labels = n->labels;
    if (asprintf(&stem, "%s/%s", a->output, name) < 0)
        return out_of_memory();
    kith_status status = kith_vectors_save(&v, stem, (kith_vector_format)a->format, &work, &error);
    free(stem);
    if (status != KITH_OK)
        return failure(&error);
    say("%s/%s: %zu vectors of %zu numbers\n", a->output, name, v.rows, v.columns);
    return EXIT_SUCCESS;
}

static int export_table(const arguments *a, const kith_model *model, const kith_table *t)
{
    const kith_graph *graph = kith_model_graph(model);
    row_names n = {0};
    int status = EXIT_SUCCESS;

    if (t->of == KITH_ROWS_ENTITIES)
        status = name_entities(&n, graph, t->rows);
    else if (t->of != KITH_ROWS_OTHER)
        status = name_relations(&n, graph, t->rows);
    if (status == EXIT_SUCCESS)
        status = save(a, t->name,
                      (kith_vectors){
                          .at = t->at, .rows = t->rows, .columns = t->columns, .stride = t->stride},
                      &n);
    free_names(&n);
    return status;
}

/* Whether to write a table: those of --table, or without it all whose rows have names, unless
 * encodings are written instead. */
static bool wanted(const arguments *a, const kith_table *t)
{
    for (size_t i = 0; i < a->tables.count; i++)
        if (strcmp(a->tables.at[i], t->name) == 0)
            return true;
    return a->tables.count == 0 && !a->relation && t->of != KITH_ROWS_OTHER;
}

static int export_tables(const arguments *a, const kith_model *model, const kith_tables *tables)
{
    int status = EXIT_SUCCESS;

    for (size_t i = 0; status == EXIT_SUCCESS && i < tables->count; i++)
        if (wanted(a, tables->at[i]))
            status = export_table(a, model, tables->at[i]);
    return status;
}

static bool has_table(const kith_tables *tables, const char *name)
{
    for (size_t i = 0; i < tables->count; i++)
        if (strcmp(tables->at[i]->name, name) == 0)
            return true;
    return false;
}

static int check_tables(const arguments *a, const command *self, const kith_tables *tables)
{
    if (tables->count == 0) {
        put(stderr, "kith: %s: has rules only and no embedding, so there are no vectors\n",
            a->common.operand);
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < a->tables.count; i++)
        if (!has_table(tables, a->tables.at[i]))
            return usage_error(self, "the model has no table '%s'; one that every model has is ent",
                               a->tables.at[i]);
    return EXIT_SUCCESS;
}

/* ---- encodings ---- */

static int add_name(row_names *n, size_t *count, const char *name, const kith_graph *graph)
{
    uint32_t entity;

    if ((*count & (*count + 1)) == 0) { /* one below a power of two: double the capacity */
        const char **names = realloc(n->names, 2 * (*count + 1) * sizeof *names);
        const char **labels = names ? realloc(n->labels, 2 * (*count + 1) * sizeof *labels) : NULL;
        n->names = names ? names : n->names;
        n->labels = labels ? labels : n->labels;
        if (!names || !labels)
            return out_of_memory();
    }
    n->names[*count] = n->labels[*count] = name;
    if (kith_graph_find_entity(&entity, graph, name) == KITH_OK)
        n->labels[*count] = kith_graph_entity_label(graph, entity);
    (*count)++;
    return EXIT_SUCCESS;
}

/* Read one name per line. */
static int read_names(row_names *n, size_t *count, const char *path, const kith_graph *graph)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    line_reader lines = {.in = in, .path = source_path(path)};
    size_t made_capacity = 0;
    int status = EXIT_SUCCESS;

    if (!in) {
        put(stderr, "kith: %s: cannot open: %s\n", path, strerror(errno));
        return EXIT_FAILED;
    }
    while (status == EXIT_SUCCESS && next_line(&lines)) {
        if (lines.length == 0)
            continue;
        if (n->made_count == made_capacity) {
            made_capacity = made_capacity ? 2 * made_capacity : 64;
            char **made = realloc(n->made, made_capacity * sizeof *made);
            if (!made) {
                status = out_of_memory();
                break;
            }
            n->made = made;
        }
        if (!(n->made[n->made_count] = strdup(lines.text)))
            status = out_of_memory();
        else
            status = add_name(n, count, n->made[n->made_count++], graph);
    }
    if (in != stdin)
        fclose(in);
    return end_lines(&lines) == EXIT_SUCCESS ? status : EXIT_FAILED;
}

/* The entities to encode: those named, else the new ones, else all of train. */
static int choose_entities(row_names *n, size_t *count, const arguments *a,
                           const kith_session *session, const kith_graph *graph)
{
    bool named = a->entities.count > 0 || a->names_file;
    size_t newcomers = named ? 0 : kith_session_newcomer_count(session);
    int status = EXIT_SUCCESS;

    for (size_t i = 0; status == EXIT_SUCCESS && i < a->entities.count; i++)
        status = add_name(n, count, a->entities.at[i], graph);
    if (status == EXIT_SUCCESS && a->names_file)
        status = read_names(n, count, a->names_file, graph);
    for (size_t i = 0; status == EXIT_SUCCESS && i < newcomers; i++)
        if (kith_session_newcomer_at(session, i).facts > 0)
            status = add_name(n, count, kith_session_newcomer_at(session, i).name, graph);
    uint32_t seen = !named && newcomers == 0 ? kith_graph_seen_entity_count(graph) : 0;
    for (uint32_t i = 0; status == EXIT_SUCCESS && i < seen; i++)
        status = add_name(n, count, kith_graph_entity_name(graph, i), graph);
    if (status == EXIT_SUCCESS && *count == 0) {
        put(stderr, "kith: there is no entity to encode\n");
        return EXIT_USAGE;
    }
    return status;
}

static int encode_all(const arguments *a, kith_session *session, const kith_graph *graph,
                      size_t dim)
{
    row_names n = {0};
    size_t count = 0;
    kith_error error;
    int status = choose_entities(&n, &count, a, session, graph);
    float *vectors = status == EXIT_SUCCESS ? calloc(count * dim, sizeof *vectors) : NULL;

    if (status == EXIT_SUCCESS && !vectors)
        status = out_of_memory();
    for (size_t i = 0; status == EXIT_SUCCESS && i < count; i++) {
        if (kith_session_encode(vectors + i * dim, session, n.names[i], a->relation, a->inverse,
                                &error) != KITH_OK)
            status = failure(&error);
        else if (show_count(&a->common, "encoding", i + 1, count))
            status = stopped_status();
    }
    if (status == EXIT_SUCCESS)
        status =
            save(a, "encodings",
                 (kith_vectors){.at = vectors, .rows = count, .columns = dim, .stride = dim}, &n);
    free(vectors);
    free_names(&n);
    return status;
}

static size_t width_of(const kith_model *model)
{
    char text[64];

    kith_settings_get(text, sizeof text, kith_model_settings(model), "dim");
    return strtoul(text, NULL, 10);
}

static int export_encodings(const arguments *a, kith_model *model)
{
    const kith_open_options open = {.threads = (unsigned)a->common.threads,
                                    .columns = a->common.columns,
                                    .watch = show_stage,
                                    .context = watching(&a->common)};
    const kith_work_options work = work_options(&a->common);
    kith_session *session = NULL;
    kith_graph *facts = NULL;
    kith_error error;
    int status = EXIT_SUCCESS;

    if (kith_session_new(&session, model, &error) != KITH_OK ||
        (a->facts_file &&
         (kith_graph_open(&facts, source_path(a->facts_file), &open, &error) != KITH_OK ||
          kith_session_add_graph(session, facts, &work, &error) != KITH_OK)))
        status = failure(&error);
    else
        print_ignored(session, kith_model_graph(model), 0, "");
    if (status == EXIT_SUCCESS)
        status = encode_all(a, session, kith_model_graph(model), width_of(model));
    kith_graph_free(facts);
    kith_session_free(session);
    return status;
}

static int export_run(const arguments *a, const command *self)
{
    kith_model *model = NULL;
    kith_tables *tables = NULL;
    kith_error error;
    int status;

    if (open_run(&model, a->common.operand, &a->common, &error) != KITH_OK)
        return failure(&error);
    if (kith_model_tables(&tables, model, &error) != KITH_OK) {
        kith_model_free(model);
        return failure(&error);
    }
    status = check_tables(a, self, tables);
    if (status == EXIT_SUCCESS && mkdir(a->output, 0777) != 0 && errno != EEXIST) {
        put(stderr, "kith: %s: cannot create the folder: %s\n", a->output, strerror(errno));
        status = EXIT_FAILED;
    }
    if (status == EXIT_SUCCESS)
        status = export_tables(a, model, tables);
    if (status == EXIT_SUCCESS && a->relation)
        status = export_encodings(a, model);
    kith_tables_free(tables);
    kith_model_free(model);
    return status;
}

/* ---- the command line ---- */

static int run(const command *self, void *given)
{
    const arguments *a = given;
    bool encodes = a->entities.count > 0 || a->names_file || a->facts_file || a->inverse;

    if (!a->relation && encodes)
        return usage_error(self, "an encoding is for a query relation, expected --relation NAME");
    return export_run(a, self);
}

static const option_row options[] = {
    OPTION_OUTPUT("the folder to write to; created if it is missing", arguments, output,
                  .required = true),
    {"format", 0, "npy|word2vec|tsv",
     "the files to write: NAME.npy for NumPy, with NAME.names.tsv (npy); NAME.txt (word2vec); or "
     "NAME.vectors.tsv and NAME.metadata.tsv for embedding viewers (tsv)",
     OPTION_CHOICE, offsetof(arguments, format), "npy"},
    {"table", 0, "NAME", "write only this table; may be given several times", OPTION_TEXTS,
     offsetof(arguments, tables), .otherwise = "all whose rows have names"},
    {"relation", 0, "NAME", "write the encodings of entities for this query relation", OPTION_TEXT,
     offsetof(arguments, relation)},
    {"inverse", 0, NULL, "encode as objects of the relation, not as subjects", OPTION_FLAG,
     offsetof(arguments, inverse)},
    {"entity", 0, "NAME", "an entity to encode; may be given several times", OPTION_TEXTS,
     offsetof(arguments, entities)},
    {"entities", 0, "FILE", "entities to encode, one per line; - for standard input", OPTION_TEXT,
     offsetof(arguments, names_file)},
    {"facts", 0, "FILE", "facts about new entities, which are encoded if no entity is named",
     OPTION_TEXT, offsetof(arguments, facts_file)},
    OPTION_COLUMNS,
    OPTION_THREADS,
    OPTION_QUIET,
};

const command cmd_export = {
    .name = "export",
    .group = GROUP_EXCHANGE,
    .summary = "write the vectors of a model for other programs",
    .operand = "RUN",
    .most_operands = 1,
    .about =
        "Writes the parameter tables of a run: ent (input embeddings of entities) and the tables\n"
        "of relations, rel, trans and, if the model has it, query. With --relation, writes the\n"
        "encodings of entities for that query relation instead: those of the entities named, or\n"
        "of the new ones in --facts, or of all in train. Each file is written completely or not\n"
        "at all; a tab or line end in a name becomes a space.",
    OPTIONS(options),
    .arguments_size = sizeof(arguments),
    .examples = "  kith export run -o vectors\n"
                "  kith export run -o vectors --relation lives_in --facts new.tsv --format tsv\n",
    .run = run,
};
