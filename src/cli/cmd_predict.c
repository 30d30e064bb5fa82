#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/lines.h"

/* Results are written one by one, because there may be many. */
static int put_compact(json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;

    json_decref(value);
    if (!text || !json_is_whole()) {
        free(text);
        return out_of_memory();
    }
    put_json_text(stdout, text);
    free(text);
    return EXIT_SUCCESS;
}

enum { FORMAT_TEXT, FORMAT_TSV, FORMAT_JSONL, AT_ONCE = 256 };

/* ---- one result ---- */

static int print_one(const query_arguments *a, const kith_question *q, const result *r,
                     size_t number)
{
    const kith_graph *graph = kith_model_graph(a->model);

    if (a->format == FORMAT_TSV) {
        print_rows(r, q, number, graph);
    } else if (a->format == FORMAT_JSONL) {
        int status = put_compact(result_json(r, q, graph));
        say("\n");
        return status;
    } else if (r->error.status == KITH_OK) {
        if (number > 1)
            say("\n");
        print_result(r, q, graph);
    }
    return EXIT_SUCCESS;
}

/* Missing facts are printed as they are found. */
typedef struct {
    const query_arguments *a;
    const kith_question *question;
    size_t number, shown;
} showing;

static void begin_missing(const showing *s)
{
    if (s->a->format == FORMAT_TSV)
        return;
    if (s->number > 1)
        say("\n");
    print_missing_head(s->question, kith_model_graph(s->a->model));
}

static int show_missing(void *context, const kith_missing_fact *fact)
{
    showing *s = context;
    const kith_graph *graph = kith_model_graph(s->a->model);

    if (s->shown++ == 0)
        begin_missing(s);
    if (s->a->format == FORMAT_TSV)
        print_missing_row(fact, s->number, s->shown, graph);
    else
        print_missing_fact(fact, s->shown, graph);
    fflush(stdout);
    return 0;
}

static void end_missing(const showing *s, const kith_missing *missing)
{
    if (s->a->format == FORMAT_TSV && s->shown == 0)
        print_rows(&(result){.missing = (kith_missing *)(uintptr_t)missing}, s->question, s->number,
                   kith_model_graph(s->a->model));
    if (s->shown == 0)
        begin_missing(s);
    if (s->a->format == FORMAT_TEXT)
        print_missing_end(missing);
}

/* Ask one question and print its result; the caller releases it. */
static int ask_and_print(result *r, query_arguments *a, const questions *q, size_t index,
                         size_t number)
{
    showing s = {a, &q->at[index], number, 0};
    bool shows = a->format != FORMAT_JSONL;
    kith_error error;

    if (ask_question(r, a, q, index, shows ? show_missing : NULL, &s, &error) != KITH_OK)
        return failure(&error);
    if (!r->missing || !shows)
        return print_one(a, &q->at[index], r, number);
    end_missing(&s, r->missing);
    return EXIT_SUCCESS;
}

/* ---- questions of the command line ---- */

static int print_all_json(const query_arguments *a, const questions *q, const result *results)
{
    int status = EXIT_SUCCESS;

    say("{\"results\": [\n");
    for (size_t i = 0; i < q->count && status == EXIT_SUCCESS; i++) {
        status = put_compact(result_json(&results[i], &q->at[i], kith_model_graph(a->model)));
        say("%s\n", i + 1 < q->count ? "," : "");
    }
    say("], \"ignored\": ");
    if (status == EXIT_SUCCESS)
        status = put_compact(ignored_json(a->session));
    say(", \"warnings\": ");
    if (status == EXIT_SUCCESS)
        status = put_compact(warnings_json(a->model));
    say("}\n");
    return status;
}

/* Print the error messages of questions that failed, and return the exit status of the first. */
static int tell_failures(const questions *q, const result *results, size_t *failed)
{
    int status = EXIT_SUCCESS;

    *failed = 0;
    for (size_t i = 0; i < q->count; i++)
        if (results[i].error.status != KITH_OK) {
            int own = failure(&results[i].error);
            status = status == EXIT_SUCCESS ? own : status;
            ++*failed;
        }
    return status;
}

static int print_results(const query_arguments *a, const questions *q, const result *results)
{
    size_t failed;
    int status = EXIT_SUCCESS, reported = tell_failures(q, results, &failed);

    if (a->common.json)
        status = print_all_json(a, q, results);
    else if (failed == q->count && a->format == FORMAT_TEXT)
        return reported;
    for (size_t i = 0; !a->common.json && status == EXIT_SUCCESS && i < q->count; i++)
        status = print_one(a, &q->at[i], &results[i], i + 1);
    return status != EXIT_SUCCESS ? status : reported;
}

static int answer_together(query_arguments *a, const questions *q)
{
    result *results = calloc(q->count + 1, sizeof *results);
    kith_error error;
    int status;

    if (!results)
        return out_of_memory();
    status = ask_questions(results, a, q, &error) == KITH_OK ? print_results(a, q, results)
                                                             : failure(&error);
    release_results(results, q->count);
    free(results);
    return status;
}

static int answer_in_turn(query_arguments *a, const questions *q)
{
    int status = EXIT_SUCCESS, reported = EXIT_SUCCESS;

    for (size_t i = 0; status == EXIT_SUCCESS && i < q->count; i++) {
        result r = {0};
        status = ask_and_print(&r, a, q, i, i + 1);
        if (status == EXIT_SUCCESS && r.error.status != KITH_OK) {
            int own = failure(&r.error);
            reported = reported == EXIT_SUCCESS ? own : reported;
        }
        release_results(&r, 1);
    }
    return status != EXIT_SUCCESS ? status : reported;
}

/* Without rules, runs have no probability to compare. */
static void note_no_probability(const query_arguments *a)
{
    kith_fusion_info *info = NULL;
    kith_error error;

    if (!(a->min_probability > 0) || !a->model)
        return;
    if (kith_model_fusion(&info, a->model, &error) == KITH_OK && !info->fused)
        note("the run has no probability that --min-probability could compare, so it omits all "
             "answers that are not known\n");
    kith_fusion_info_free(info);
}

static int answer(query_arguments *a, const questions *q)
{
    note_no_probability(a);
    if (a->format == FORMAT_TSV)
        print_table_head();
    print_ignored(a->session, kith_model_graph(a->model), 0, JSON_NAMES_ALL);
    return a->common.json || can_ask_together(q) ? answer_together(a, q) : answer_in_turn(a, q);
}

/* ---- questions of a file ---- */

/* The line number of a question, and why it cannot be asked. */
typedef struct {
    size_t number;
    char why[256];
} question_line;

typedef struct {
    query_arguments *a;
    questions q;     /* of the current batch */
    result *results; /* AT_ONCE results, parallel to the lines */
    question_line *lines;
    size_t done, failed;
    bool both; /* the questions ask about an entity in both directions */
} batch;

/* The result of a line, with the reason if it could not be asked. */
static int print_line(batch *b, size_t i, const char *why)
{
    result *r = &b->results[i];

    if (why[0]) {
        r->error.status = KITH_ERR_INPUT;
        snprintf(r->error.message, sizeof r->error.message, "%s", why);
    }
    return print_one(b->a, &b->q.at[i], r, b->done + i + 1);
}

static int answer_line(batch *b, size_t i, bool answered)
{
    const question_line *line = &b->lines[i];
    int status = answered || line->why[0]
                     ? print_line(b, i, line->why)
                     : ask_and_print(&b->results[i], b->a, &b->q, i, b->done + i + 1);
    const kith_error *error = &b->results[i].error;

    b->failed += error->status != KITH_OK;
    if (status == EXIT_SUCCESS && error->status != KITH_OK && b->a->format == FORMAT_TEXT)
        put(stderr, "kith: %s:%zu: question %zu: %s\n", source_path(b->a->query_file), line->number,
            b->done + i + 1, error->message);
    return status;
}

static int flush_batch(batch *b)
{
    int status = EXIT_SUCCESS;
    kith_error error;

    b->q.about = b->both ? 0 : b->q.count;
    bool together = can_ask_together(&b->q);
    memset(b->results, 0, b->q.count * sizeof *b->results);
    if (together && ask_questions(b->results, b->a, &b->q, &error) != KITH_OK)
        status = failure(&error);
    for (size_t i = 0; status == EXIT_SUCCESS && i < b->q.count; i++)
        status = answer_line(b, i, together);
    release_results(b->results, b->q.count);
    for (size_t i = 0; i < b->q.count; i++)
        free(b->q.held[i].copy);
    b->done += b->q.count;
    b->q.count = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_SUCCESS)
        status = EXIT_FAILED; /* main reports the reason */
    return status;
}

/* Add a question with its error message, or "", and answer the batch when it is full. */
static int add_question(batch *b, fields held, kith_question question, size_t number,
                        const char *why)
{
    question_line *line = &b->lines[b->q.count];

    line->number = number;
    snprintf(line->why, sizeof line->why, "%s", why);
    b->q.held[b->q.count] = held;
    b->q.at[b->q.count++] = question;
    return b->q.count == AT_ONCE ? flush_batch(b) : EXIT_SUCCESS;
}

/* Add a question about each new entity. The last one owns the names that all of them use. */
static int add_questions(batch *b, fields f, int star, kith_question question, size_t number)
{
    size_t i = 0;
    const char *name = next_newcomer(&i, b->a);
    int status = EXIT_SUCCESS;

    if (!name)
        return add_question(b, f, question, number, NO_NEWCOMER);
    while (name && status == EXIT_SUCCESS) {
        fill_star(&question, star, name);
        name = next_newcomer(&i, b->a);
        status = add_question(b, name ? (fields){0} : f, question, number, "");
    }
    if (name)
        free(f.copy);
    return status;
}

/* "about ENTITY", as in the shell, unless the line is a question about an entity "about". */
#define ABOUT "about "
static bool is_about(const query_arguments *a, const char *text)
{
    fields f = {0};
    char why[256];
    uint32_t entity;

    if (strncmp(text, ABOUT, strlen(ABOUT)) != 0 || !text[strspn(text + 6, " ") + 6])
        return false;
    if (!cut_any_question(&f, text, why))
        return true;
    bool open = !f.name[1] || !f.name[2];
    free(f.copy);
    return !open &&
           kith_graph_find_entity(&entity, kith_model_graph(a->model), "about") != KITH_OK;
}

/* Questions about an entity in both directions are a batch of their own. */
static int add_about(batch *b, const char *name, size_t number)
{
    fields f;
    int status = b->q.count > 0 ? flush_batch(b) : EXIT_SUCCESS;

    if (status != EXIT_SUCCESS)
        return status;
    if (!cut_name(&f, name + strspn(name, " ")))
        return out_of_memory();
    kith_question question = meant_question(kith_model_graph(b->a->model), &f);
    int star = star_of(b->a, &f);
    b->both = true;
    status = star < 0 ? add_question(b, f, question, number, "")
                      : add_questions(b, f, star, question, number);
    if (status == EXIT_SUCCESS && b->q.count > 0)
        status = flush_batch(b);
    b->both = false;
    return status;
}

/* A line that is not a question keeps its place in the output: it is added as an empty question
 * with an error. */
static int add_line(batch *b, const char *text, size_t number)
{
    fields f = {0};
    char why[256];

    if (is_about(b->a, text))
        return add_about(b, text + strlen(ABOUT), number);
    if (!cut_any_question(&f, text, why)) {
        f = (fields){.copy = strdup(text)};
        return f.copy ? add_question(b, f, (kith_question){f.copy, "", ""}, number, why)
                      : out_of_memory();
    }
    kith_question question = meant_question(kith_model_graph(b->a->model), &f);
    int star = star_of(b->a, &f);
    return star < 0 ? add_question(b, f, question, number, "")
                    : add_questions(b, f, star, question, number);
}

static int answer_lines(batch *b, FILE *in)
{
    line_reader lines = {.in = in, .path = source_path(b->a->query_file)};
    int status = EXIT_SUCCESS;

    while (status == EXIT_SUCCESS && next_line(&lines))
        if (lines.text[0] && lines.text[0] != '#')
            status = add_line(b, lines.text, lines.number);
    if (status == EXIT_SUCCESS && b->q.count > 0)
        status = flush_batch(b);
    if (b->failed > 0)
        note("%zu of %zu questions failed\n", b->failed, b->done);
    if (end_lines(&lines) != EXIT_SUCCESS)
        status = EXIT_FAILED;
    return status == EXIT_SUCCESS && b->failed > 0 ? EXIT_FAILED : status;
}

static int answer_file(query_arguments *a)
{
    batch b = {
        .a = a,
        .q = {.at = calloc(AT_ONCE, sizeof *b.q.at), .held = calloc(AT_ONCE, sizeof *b.q.held)},
        .results = calloc(AT_ONCE, sizeof *b.results),
        .lines = calloc(AT_ONCE, sizeof *b.lines)};
    bool is_stdin = strcmp(a->query_file, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(a->query_file, "r");
    int status = EXIT_FAILED;

    if (!in)
        put(stderr, "kith: %s: cannot open: %s\n", a->query_file, strerror(errno));
    else if (!b.q.at || !b.q.held || !b.results || !b.lines)
        status = out_of_memory();
    else {
        print_ignored(a->session, kith_model_graph(a->model), 0, JSON_NAMES_ALL);
        if (a->format == FORMAT_TSV)
            print_table_head();
        status = answer_lines(&b, in);
    }
    if (in && !is_stdin)
        fclose(in);
    free(b.q.at);
    free(b.q.held);
    free(b.results);
    free(b.lines);
    return status;
}

static int run(const command *self, void *arguments)
{
    query_arguments *a = arguments;

    if (a->common.json && a->format != FORMAT_TEXT)
        return usage_error(self, "found --json and --format, expected one of them");
    if (!a->query_file)
        return ask_and(answer, self, a);
    if (a->queries.count + a->about.count > 0)
        return usage_error(self, "found --queries and --query or --about, expected one of them");
    for (size_t i = 0; i < a->files.count; i++)
        if (strcmp(a->files.at[i], "-") == 0 && strcmp(a->query_file, "-") == 0)
            return usage_error(self, "--facts and --queries both read standard input");
    if (a->common.json)
        a->format = FORMAT_JSONL;
    int status = begin_queries(a, self);
    note_no_probability(a);
    if (status == EXIT_SUCCESS)
        status = answer_file(a);
    end_queries(a);
    return status;
}

static const option_row options[] = {
    QUERY_OPTIONS,
    {"queries", 0, "FILE",
     "queries from a file, one per line, as --query takes them, or 'about ENTITY'; - for standard "
     "input. A query "
     "that fails does not stop the others, but makes the exit status 1",
     OPTION_TEXT, offsetof(query_arguments, query_file)},
    {"format", 0, "text|tsv|jsonl",
     "print answers as text, as a table with a row per answer, or as one JSON object per query",
     OPTION_CHOICE, offsetof(query_arguments, format), "text"},
    {"min-probability", 0, "P",
     "omit answers and verdicts whose probability is below P, but not known facts", OPTION_NUMBER,
     offsetof(query_arguments, min_probability), .low = 0, .high = 1,
     .expected = "a number from 0 to 1"},
};

const command cmd_predict = {
    .name = "predict",
    .group = GROUP_QUESTIONS,
    .summary = "predict what is likely true of a new entity",
    .operand = "RUN",
    .most_operands = 1,
    .about =
        "Answers queries about an entity from a few facts about it, without retraining. The\n"
        "entity may be new or part of the graph. Answers are listed best first. Facts that cannot\n"
        "be used, for example because training had no such relation, are reported and ignored.\n\n"
        "A query is a fact with ? for each unknown:\n"
        "  'S R ?', '? R O'   which entity?\n"
        "  'S ? ?', '? ? O'   what else is likely about an entity? (--about S: both)\n"
        "  'S ? O'            which relation?\n"
        "  'S R O'            is it true?\n"
        "  '? R ?', '? ? ?'   which facts does the graph most likely lack?\n\n"
        "N % beside an answer is the probability that it is true; [low-high %] is its 95 %\n"
        "confidence interval, shown in lists in which one is wide, and always for '? R ?'.\n"
        "(N % if any) is the probability assuming that the query has an answer that is not known\n"
        "yet; a run without rules has only this one. Answers are sorted by the probability that\n"
        "they are true, then by score.",
    OPTIONS(options),
    .arguments_size = sizeof(query_arguments),
    .examples = "  kith predict run --fact 'dee plays_for Bulls' --query 'dee lives_in ?'\n"
                "  kith predict run --fact 'dee plays_for \"LA Lakers\"' --query 'dee lives_in ?'\n"
                "  kith predict run --facts new.tsv --query '* lives_in ?' --top 3 --json\n"
                "  kith predict run --query '? lives_in Chicago' --new-only\n"
                "  kith predict run --facts new.tsv --query 'dee lives_in Boston' --about dee\n"
                "  kith predict run --queries questions.txt --format tsv --min-probability 0.5\n"
                "  kith predict run --query '? lives_in ?' --top 20\n",
    .run = run,
};
