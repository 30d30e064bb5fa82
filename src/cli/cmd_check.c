#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/answers.h"
#include "cli/lines.h"
#include "cli/progress.h"
#include "core/numbers.h"
#include "core/rng.h"

enum { USUAL_TOP = 50, REASON = sizeof(kith_error) + 64 };

typedef struct {
    query_arguments a; /* first, because arguments are parsed into it */
    int graph;
    uint64_t sample; /* 0: not given, as for --top */
} checking;

/* Facts to check. The names of facts of the graph belong to the graph, those of a file to
 * `held`. */
typedef struct {
    kith_question *at;
    fields *held; /* NULL for facts of the graph */
    size_t count, capacity;
    size_t skipped; /* lines that could not be read, and are not among the facts */
} facts;

/* ---- facts ---- */

static bool grow(facts *f)
{
    size_t wanted = f->capacity ? 2 * f->capacity : 1024;
    kith_question *at = realloc(f->at, wanted * sizeof *at);
    if (at)
        f->at = at;
    fields *held = at ? realloc(f->held, wanted * sizeof *held) : NULL;
    if (held)
        f->held = held;
    f->capacity = held ? wanted : f->capacity;
    return held != NULL;
}

static bool add_cut(facts *f, fields cut, kith_question question)
{
    if (!cut.copy || (f->count == f->capacity && !grow(f))) {
        free(cut.copy);
        return false;
    }
    f->held[f->count] = cut;
    f->at[f->count++] = question;
    return true;
}

/* A line that is not a fact is kept without relation and object, and reported like other errors.
 * The reason stands after its text. */
static bool add_bad(facts *f, const char *line, size_t length, const char *why)
{
    fields cut = {.copy = malloc(length + strlen(why) + 2)};

    if (cut.copy) {
        memcpy(cut.copy, line, length);
        cut.copy[length] = '\0';
        strcpy(cut.copy + length + 1, why);
    }
    return add_cut(f, cut, (kith_question){.subject = cut.copy});
}

/* As in any source, a name may begin with '#', and only a line that is not a fact is a comment. One
 * with spaces alone is a comment if a space follows the '#'. */
static bool add_line(facts *f, const char *line, const kith_graph *graph)
{
    char why[256];
    fields cut = {0};

    if (!line[0] || (line[0] == '#' && line[1] == ' ' && !strchr(line, '\t')))
        return true;
    if (cut_fields(&cut, line, why))
        return add_cut(f, cut, meant_question(graph, &cut));
    return line[0] == '#' || add_bad(f, line, strlen(line), why);
}

/* The rows of a file that is opened, and the graph that knows their names. */
typedef struct {
    facts *f;
    const kith_graph *graph;
} rows;

static int add_row(void *context, const kith_row *row)
{
    rows *r = context;
    fields cut = {0};
    char *at;

    if (row->problem && row->whole_length > 0 && row->whole[0] == '#')
        return 0;
    if (row->problem)
        return !add_bad(r->f, row->whole, row->whole_length, row->problem);
    at = cut.copy = malloc(row->length[0] + row->length[1] + row->length[2] + 3);
    for (int i = 0; at && i < 3; i++) {
        cut.name[i] = at;
        at = mempcpy(at, row->text[i], row->length[i]);
        *at++ = '\0';
    }
    return !cut.copy || !add_cut(r->f, cut, meant_question(r->graph, &cut));
}

static bool add_named(facts *f, const kith_graph *graph, kith_triple t)
{
    const char *names[3] = {kith_graph_entity_name(graph, t.subject),
                            kith_graph_relation_name(graph, t.relation),
                            kith_graph_entity_name(graph, t.object)};
    fields held = {0};
    char *at;

    at = held.copy = malloc(strlen(names[0]) + strlen(names[1]) + strlen(names[2]) + 3);
    for (int i = 0; at && i < 3; i++) {
        held.name[i] = at;
        at = stpcpy(at, names[i]) + 1;
    }
    return add_cut(f, held, (kith_question){held.name[0], held.name[1], held.name[2]});
}

/* Of a source that is not in columns, such as RDF, only the facts are known. */
static int read_source(facts *f, const kith_graph *graph)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    bool good = true;

    f->skipped = kith_graph_report(graph)->bad_lines;

    for (size_t i = 0; i < train.count && good; i++)
        good = add_named(f, graph, train.at[i]);
    return good ? EXIT_SUCCESS : out_of_memory();
}

static int read_lines(facts *f, const char *path, const kith_graph *graph)
{
    FILE *in = fopen(path, "re");
    line_reader lines = {.in = in, .path = path, .takes_nul = true};
    bool good = true;

    if (!in) {
        put(stderr, "kith: %s: cannot open: %s\n", path, strerror(errno));
        return EXIT_FAILED;
    }
    while (good && next_line(&lines))
        good = lines.has_nul ? add_bad(f, lines.text, strlen(lines.text), "found a NUL byte")
                             : add_line(f, lines.text, graph);
    fclose(in);
    int status = end_lines(&lines);
    return good ? status : out_of_memory();
}

/* Copy the rest of standard input to memory; returns a file descriptor, or -1. */
static int copy_stdin(void)
{
    int copy = memfd_create("standard input", MFD_CLOEXEC);
    char buffer[1 << 16];
    ssize_t got = -1, written = 0;

    while (copy >= 0 && written >= 0 && (got = read(STDIN_FILENO, buffer, sizeof buffer)) > 0)
        for (ssize_t at = 0; at < got && written >= 0; at += written)
            written = write(copy, buffer + at, (size_t)(got - at));
    return got == 0 && written >= 0 ? copy : -1;
}

/* The format of facts is detected before their lines are read, so standard input must be a file
 * that can be opened twice from its beginning. */
static int keep_stdin(void)
{
    struct stat found;
    int copy;

    if (fstat(STDIN_FILENO, &found) == 0 && S_ISREG(found.st_mode) &&
        lseek(STDIN_FILENO, 0, SEEK_CUR) == 0)
        return EXIT_SUCCESS;
    copy = copy_stdin();
    if (copy < 0 || dup2(copy, STDIN_FILENO) < 0) {
        put(stderr, "kith: /dev/stdin: cannot read: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    close(copy);
    return EXIT_SUCCESS;
}

/* Whether the lines of a file can be read again as they are: not those of a pipe or of a
 * compressed file. */
static bool can_read_lines(const char *path)
{
    static const char magic[2][5] = {"\x1f\x8b", "\x28\xb5\x2f\xfd"};
    struct stat found;
    char first[5] = "";
    FILE *in = stat(path, &found) == 0 && S_ISREG(found.st_mode) ? fopen(path, "re") : NULL;

    if (!in)
        return false;
    size_t count = fread(first, 1, 4, in);
    fclose(in);
    return !(count >= 2 && memcmp(first, magic[0], 2) == 0) &&
           !(count == 4 && memcmp(first, magic[1], 4) == 0);
}

static void clear_facts(facts *f)
{
    for (size_t i = 0; f->held && i < f->count; i++)
        free(f->held[i].copy);
    f->count = 0;
}

/* Every line of a file in columns is reported, including bad and repeated ones. Without commas or a
 * header row, lines are cut as facts of the command line are, so that quotes and \t work. In other
 * files, lines that cannot be read are skipped, and count as failed. */
static int read_file(facts *f, const char *path, const common_arguments *a, const kith_graph *known)
{
    rows r = {f, known};
    const kith_open_options options = {.skip_bad = 1,
                                       .threads = (unsigned)a->threads,
                                       .columns = a->columns,
                                       .row = add_row,
                                       .row_context = &r};
    kith_graph *graph = NULL;
    kith_error error;
    int status = EXIT_SUCCESS;

    if (strcmp(path, "-") == 0 && (status = keep_stdin()) != EXIT_SUCCESS)
        return status;
    path = source_path(path);
    if (kith_graph_open(&graph, path, &options, &error) != KITH_OK)
        return failure(&error);
    if (can_read_lines(path) &&
        strcmp(kith_graph_layout(graph), "file of triples in columns") == 0) {
        clear_facts(f);
        status = read_lines(f, path, known);
    } else if (f->count == 0) {
        note_report(graph);
        status = read_source(f, graph);
    }
    kith_graph_free(graph);
    return status;
}

/* The facts of train, or a random sample of them. */
static int read_graph(facts *f, const kith_graph *graph, size_t sample, uint64_t seed)
{
    kith_facts train = kith_graph_facts(graph, KITH_TRAIN);
    kith__rng rng;

    f->at = calloc(train.count ? train.count : 1, sizeof *f->at);
    if (!f->at)
        return out_of_memory();
    kith__rng_init(&rng, seed, 0);
    if (sample == 0 || sample > train.count)
        sample = train.count;
    for (size_t i = 0, left = sample; i < train.count && left > 0; i++) {
        if (kith__rng_below(&rng, train.count - i) >= left)
            continue;
        kith_triple t = train.at[i];
        left--;
        f->at[f->count++] = (kith_question){kith_graph_entity_name(graph, t.subject),
                                            kith_graph_relation_name(graph, t.relation),
                                            kith_graph_entity_name(graph, t.object)};
    }
    return EXIT_SUCCESS;
}

static void free_facts(facts *f)
{
    clear_facts(f);
    free(f->held);
    free(f->at);
}

/* ---- results ---- */

typedef struct {
    const kith_verdict *verdict;
    size_t fact;
} place;

/* A fact without evidence is not suspicious. */
static double plausibility(const kith_verdict *v)
{
    if (v->alone && isnan(v->probability))
        return INFINITY;
    return isnan(v->probability) ? -(double)v->rank : v->probability;
}

static int least_plausible_first(const void *a, const void *b)
{
    const place *x = a, *y = b;
    double left = plausibility(x->verdict), right = plausibility(y->verdict);

    if (left != right)
        return left < right ? -1 : 1;
    if (x->verdict->rank != y->verdict->rank)
        return x->verdict->rank > y->verdict->rank ? -1 : 1;
    return (x->fact > y->fact) - (x->fact < y->fact);
}

/* The order of the facts shown: that of the file, or the least plausible facts of the graph
 * first. */
static size_t order_facts(place *order, const checking *c, const facts *f,
                          const kith_verdicts *verdicts)
{
    size_t count = 0;

    for (size_t i = 0; i < f->count; i++)
        if (verdicts->at[i] || !c->graph)
            order[count++] = (place){verdicts->at[i], i};
    if (!c->graph)
        return count;
    qsort(order, count, sizeof *order, least_plausible_first);
    return count < c->a.common.top ? count : (size_t)c->a.common.top;
}

/* All facts of the graph are known, so only likely_word is informative. */
static const char *word_of(const checking *c, const kith_verdict *v)
{
    return c->graph ? likely_word(v) : verdict_word(v);
}

/* Why a fact cannot be checked. For a line that is not a fact, see add_bad. */
static const char *reason_of(char text[REASON], const kith_question *q, const kith_error *error)
{
    static const char unknown[] = "nothing is known about ";

    if (!q->relation && q->subject)
        return q->subject + strlen(q->subject) + 1;
    if (strncmp(error->message, unknown, strlen(unknown)) != 0)
        return error->message;
    snprintf(text, REASON, "%s; facts about it can be given with --facts", error->message);
    return text;
}

static void print_number(double number)
{
    if (!isnan(number))
        say("%.6g", number);
    say("\t");
}

static void print_row(const checking *c, const kith_question *q, const kith_verdict *v,
                      const kith_error *error)
{
    char text[REASON];

    say("%s\t%s\t%s\t", q->subject, q->relation ? q->relation : "", q->object ? q->object : "");
    if (error) {
        say("\t\t\t\t\t%s\n", reason_of(text, q, error));
        return;
    }
    bool measured = !isnan(v->probability) && !v->classified;
    print_number(v->probability);
    print_number(measured ? v->low : NAN);
    print_number(measured ? v->high : NAN);
    if (v->candidates > 0)
        say("%zu", v->rank);
    say("\t%s\tok\n", word_of(c, v));
}

static json_t *row_json(const checking *c, const kith_question *q, const kith_verdict *v,
                        const kith_error *error)
{
    json_t *object = question_json(q);
    char text[REASON];

    if (error)
        json_object_set_new(object, "error", text_json(reason_of(text, q, error)));
    else
        json_object_update_new(object, verdict_json(v));
    if (!error)
        json_object_set_new(object, "verdict", json_string(word_of(c, v)));
    return object;
}

static int print_checked(const checking *c, const facts *f, const place *order, size_t shown,
                         const kith_verdicts *verdicts)
{
    json_t *list = c->a.common.json ? json_array() : NULL;

    if (!list)
        say("subject\trelation\tobject\tprobability\tlow\thigh\trank\tverdict\tstatus\n");
    for (size_t i = 0; i < shown; i++) {
        size_t at = order[i].fact;
        if (list)
            json_array_append_new(list,
                                  row_json(c, &f->at[at], order[i].verdict, verdicts->errors[at]));
        else
            print_row(c, &f->at[at], order[i].verdict, verdicts->errors[at]);
    }
    if (!list)
        return EXIT_SUCCESS;
    return print_json(json_pack(
        "{so sI sI so so}", "results", list, "checked", (json_int_t)(f->count - verdicts->failed),
        "failed", (json_int_t)(verdicts->failed + f->skipped), "ignored",
        ignored_json(c->a.session), "warnings", warnings_json(c->a.model)));
}

static int check_facts(checking *c, const facts *f)
{
    size_t capacity = f->count ? f->count : 1, failed = 0;
    kith_verdicts *verdicts = NULL;
    kith_error error;
    place *order = calloc(capacity, sizeof *order);
    int status = order ? EXIT_SUCCESS : out_of_memory();
    kith_ask_options options;

    kith_ask_options_init(&options);
    options.threads = (unsigned)c->a.common.threads;
    options.watch = show_stage;
    options.context = watching(&c->a.common);
    if (status == EXIT_SUCCESS && kith_session_judge_all(&verdicts, c->a.session, f->at, f->count,
                                                         &options, &error) != KITH_OK)
        status = failure(&error);
    if (status == EXIT_SUCCESS) {
        failed = verdicts->failed + f->skipped;
        size_t shown = order_facts(order, c, f, verdicts);
        status = print_checked(c, f, order, shown, verdicts);
    }
    if (failed > 0)
        note("%zu of %zu facts cannot be checked\n", failed, f->count + f->skipped);
    kith_verdicts_free(verdicts);
    free(order);
    return status == EXIT_SUCCESS && failed > 0 ? EXIT_FAILED : status;
}

static int run(const command *self, void *arguments)
{
    checking *c = arguments;
    text_list operands = c->a.common.operands;
    facts f = {0};

    if (c->graph ? operands.count != 1 : operands.count != 2)
        return usage_error(self, "%s",
                           c->graph ? "found a file and --graph, expected one of them"
                                    : "expected RUN and FILE, or RUN and --graph");
    if (!c->graph && (c->a.common.top || c->sample))
        return usage_error(self, "--%s is for --graph; the facts of a file are all checked",
                           c->a.common.top ? "top" : "sample");
    c->a.common.top = c->a.common.top ? c->a.common.top : USUAL_TOP;
    for (size_t i = 0; !c->graph && i < c->a.files.count; i++)
        if (strcmp(c->a.files.at[i], "-") == 0 && strcmp(operands.at[1], "-") == 0)
            return usage_error(self, "--facts and FILE both read standard input");
    int status = begin_queries(&c->a, self);
    if (status == EXIT_SUCCESS)
        print_ignored(c->a.session, kith_model_graph(c->a.model), 0, JSON_NAMES_ALL);
    if (status == EXIT_SUCCESS)
        status =
            c->graph
                ? read_graph(&f, kith_model_graph(c->a.model), (size_t)c->sample, c->a.common.seed)
                : read_file(&f, operands.at[1], &c->a.common, kith_model_graph(c->a.model));
    if (status == EXIT_SUCCESS)
        status = check_facts(c, &f);
    free_facts(&f);
    end_queries(&c->a);
    return status;
}

static const option_row options[] = {
    {"graph", 0, NULL,
     "check the facts that the run was trained on, hiding each while it is checked, and "
     "list the least plausible ones",
     OPTION_FLAG, offsetof(checking, graph)},
    OPTION_TOP("with --graph: number of facts to list", .otherwise = "50"),
    {"sample", 0, "N", "with --graph: check a random sample of N facts", OPTION_INTEGER,
     offsetof(checking, sample), .low = 1, .high = UINT32_MAX, .otherwise = "all"},
    OPTION_SEED("seed of the sample"),
    OPTION_FACT("a known fact to add to the graph; may be given several times"),
    OPTION_FACTS("known facts to add to the graph, in any format that kith reads"),
    OPTION_COLUMNS,
    OPTION_THREADS,
    OPTION_QUIET,
    OPTION_JSON,
};

const command cmd_check = {
    .name = "check",
    .group = GROUP_QUESTIONS,
    .summary = "estimate how likely facts are to be true",
    .operand = "RUN [FILE]",
    .most_operands = -1,
    .about =
        "Reads facts from FILE, in any format of a SOURCE, or from standard input (-), one per\n"
        "line with tab-separated fields. Prints a table with the probability of each fact, its\n"
        "rank among the candidates and a verdict: known, likely (50 % or more) or unlikely. A\n"
        "known fact is hidden while it is checked. If a line cannot be checked, its last column\n"
        "has the reason, the other lines are checked, and the exit status is 1.\n\n"
        "With --graph, checks the facts of the run's own graph and lists the least plausible\n"
        "ones, which may be errors. Each fact is hidden from the known facts of its entities, but\n"
        "rules, weights and embeddings were learned with it.",
    OPTIONS(options),
    .arguments_size = sizeof(checking),
    .examples = "  kith check run facts.tsv\n"
                "  zcat facts.csv.gz | grep born_in | kith check run -\n"
                "  kith check run --graph --top 50\n"
                "  kith check run --graph --sample 10000 --json\n",
    .run = run,
};
