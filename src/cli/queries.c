/* The input of predict, explain and shell: the run, facts and questions. */
#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/progress.h"
#include "cli/run_files.h"
#include "core/numbers.h"

/* ---- the command line ---- */

bool parse_relations(void *to, const char *text)
{
    size_t *relations = to;
    uint64_t number = SIZE_MAX;

    if (strcmp(text, "all") != 0 && !kith__parse_count(&number, text, 1, UINT32_MAX))
        return false;
    *relations = (size_t)number;
    return true;
}

kith_status say_source(query_arguments *a, const char *path, kith_error *error)
{
    const kith_open_options open = {.threads = (unsigned)a->common.threads,
                                    .columns = a->common.columns,
                                    .watch = show_stage,
                                    .context = watching(&a->common)};
    const kith_work_options work = work_options(&a->common);
    kith_graph *said = NULL;
    kith_status status =
        kith_graph_open(&said, strcmp(path, "-") == 0 ? "/dev/stdin" : path, &open, error);

    if (status == KITH_OK)
        status = kith_session_add_graph(a->session, said, &work, error);
    kith_graph_free(said);
    return status;
}

/* Add the facts of the command line to the session: those of --fact, then those of --facts. */
static int say_facts(query_arguments *a, const command *self)
{
    kith_error error;
    char why[256];

    for (size_t i = 0; i < a->facts.count; i++) {
        fields f;
        if (!cut_fields(&f, a->facts.at[i], why))
            return usage_error(self, "fact %zu, '%.200s': %s", i + 1, a->facts.at[i], why);
        kith_question q = meant_question(kith_model_graph(a->model), &f);
        kith_status status =
            kith_session_add(NULL, a->session, q.subject, q.relation, q.object, &error);
        free(f.copy);
        if (status != KITH_OK) {
            put(stderr, "kith: fact %zu: %s\n", i + 1, error.message);
            return status == KITH_ERR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
        }
    }
    for (size_t i = 0; i < a->files.count; i++)
        if (say_source(a, a->files.at[i], &error) != KITH_OK)
            return failure(&error);
    return EXIT_SUCCESS;
}

int begin_queries(query_arguments *a, const command *self)
{
    a->ask = (kith_ask_options){.top = (size_t)a->common.top,
                                .new_only = a->new_only,
                                .relations = a->relations,
                                .threads = (unsigned)a->common.threads,
                                .candidates = candidate_set_at(a->candidates),
                                .watch = show_stage,
                                .context = watching(&a->common)};
    kith_error error;

    if (open_run_on(&a->model, &a->common, &error) != KITH_OK ||
        kith_session_new(&a->session, a->model, &error) != KITH_OK)
        return failure(&error);
    name_new_entities_by(a->session);
    tell_unfinished(a->common.operand);
    return say_facts(a, self);
}

void end_queries(query_arguments *a)
{
    name_new_entities_by(NULL);
    kith_session_free(a->session);
    kith_model_free(a->model);
}

/* ---- questions ---- */

static bool is_star(const query_arguments *a, const char *name)
{
    uint32_t entity;
    return name && strcmp(name, "*") == 0 &&
           kith_graph_find_entity(&entity, kith_model_graph(a->model), name) != KITH_OK;
}

static int add_question(questions *q, size_t *capacity, kith_question question)
{
    if (q->count == *capacity) {
        size_t wanted = *capacity ? 2 * *capacity : 16;
        kith_question *grown = realloc(q->at, wanted * sizeof *grown);
        if (!grown)
            return out_of_memory();
        q->at = grown;
        *capacity = wanted;
    }
    q->at[q->count++] = question;
    return EXIT_SUCCESS;
}

/* Replace a question about "*" by one about each new entity. */
static int spread_question(questions *q, size_t *capacity, const query_arguments *a,
                           kith_question question)
{
    bool subject = is_star(a, question.subject);
    int status = EXIT_SUCCESS;

    if (!subject && !is_star(a, question.object))
        return add_question(q, capacity, question);
    for (size_t i = 0; status == EXIT_SUCCESS && i < kith_session_newcomer_count(a->session); i++) {
        kith_newcomer newcomer = kith_session_newcomer_at(a->session, i);
        *(subject ? &question.subject : &question.object) = newcomer.name;
        if (newcomer.facts > 0)
            status = add_question(q, capacity, question);
    }
    return status;
}

static int read_question(questions *q, size_t *capacity, const query_arguments *a,
                         const command *self, const char *text)
{
    fields *f = &q->held[q->held_count];
    char why[256];

    if (!cut_any_question(f, text, why))
        return usage_error(self, "query '%.200s': %s", text, why);
    q->held_count++;
    return spread_question(q, capacity, a, meant_question(kith_model_graph(a->model), f));
}

int read_questions(questions *q, const query_arguments *a, const command *self)
{
    size_t capacity = 0;
    int status = EXIT_SUCCESS;

    *q = (questions){.held = calloc(a->queries.count + 1, sizeof *q->held)};
    if (!q->held)
        return out_of_memory();
    if (a->queries.count + a->about.count == 0)
        return usage_error(self, "missing --query 'S R ?'");
    for (size_t i = 0; status == EXIT_SUCCESS && i < a->queries.count; i++)
        status = read_question(q, &capacity, a, self, a->queries.at[i]);
    q->about = q->count;
    for (size_t i = 0; status == EXIT_SUCCESS && i < a->about.count; i++)
        status = spread_question(
            q, &capacity, a,
            meant_question(kith_model_graph(a->model), &(fields){.name = {a->about.at[i]}}));
    if (status == EXIT_SUCCESS && q->count == 0) {
        put(stderr, "kith: no usable fact tells about a new entity, so '*' stands for none\n");
        return EXIT_USAGE;
    }
    return status;
}

void free_questions(questions *q)
{
    for (size_t i = 0; i < q->held_count; i++)
        free(q->held[i].copy);
    free(q->held);
    free(q->at);
}

/* ---- the whole command ---- */

int ask_and(int (*answer)(query_arguments *a, const questions *q), const command *self,
            query_arguments *a)
{
    questions q = {0};
    int status = begin_queries(a, self);

    if (status == EXIT_SUCCESS)
        status = read_questions(&q, a, self);
    if (status == EXIT_SUCCESS)
        status = answer(a, &q);
    free_questions(&q);
    end_queries(a);
    return status;
}
