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

size_t used_facts(const kith_session *session)
{
    size_t count = 0;

    for (size_t i = 0; i < kith_session_fact_count(session); i++)
        count += kith_session_fact_at(session, i).use == KITH_FACT_USED;
    return count;
}

/* Reasons for which facts of a source are ignored: those of kith_fact_use, and two more. */
enum { REPEATED_IN_SOURCE = KITH_FACT_USES, NOT_TRAIN, REASONS };

/* "ignored 3 (2 known already, 1 repeated in the source)"; one reason has no number. */
static void tell_reasons(added_facts *added, const size_t counts[REASONS])
{
    static const char *const reasons[REASONS] = {
        [KITH_FACT_REPEATED] = "known already",
        [KITH_FACT_NO_RELATION] = "with a relation that training has not seen",
        [KITH_FACT_NO_NEIGHBOR] = "between entities that training has not seen",
        [REPEATED_IN_SOURCE] = "repeated in the source",
        [NOT_TRAIN] = "of dev or test"};
    size_t used = strlen(added->text);
    const char *separator = "";

    used += (size_t)snprintf(added->text + used, sizeof added->text - used, ", ignored %zu (",
                             added->ignored);
    for (int i = 0; i < REASONS; i++) {
        if (!reasons[i] || counts[i] == 0)
            continue;
        char number[32] = "";
        if (counts[i] < added->ignored)
            snprintf(number, sizeof number, "%zu ", counts[i]);
        used += (size_t)snprintf(added->text + used, sizeof added->text - used, "%s%s%s",
                                 separator, number, reasons[i]);
        separator = ", ";
    }
    snprintf(added->text + used, sizeof added->text - used, ")");
}

/* Report how many facts of a source were used, and why others were ignored. `before` facts had been
 * added earlier. */
static void count_added(added_facts *added, const kith_session *session, size_t before,
                        const kith_graph *source)
{
    size_t counts[REASONS] = {[REPEATED_IN_SOURCE] = kith_graph_report(source)->duplicates,
                              [NOT_TRAIN] = kith_graph_facts(source, KITH_DEV).count +
                                            kith_graph_facts(source, KITH_TEST).count};

    for (size_t i = before; i < kith_session_fact_count(session); i++)
        counts[kith_session_fact_at(session, i).use]++;
    *added = (added_facts){.used = counts[KITH_FACT_USED]};
    for (int i = 0; i < REASONS; i++)
        added->ignored += i == KITH_FACT_USED ? 0 : counts[i];
    snprintf(added->text, sizeof added->text, "added %zu fact%s", added->used,
             added->used == 1 ? "" : "s");
    if (added->ignored > 0)
        tell_reasons(added, counts);
}

kith_status say_source(added_facts *added, query_arguments *a, const char *path,
                       kith_error *error)
{
    size_t before = kith_session_fact_count(a->session);
    const kith_open_options open = {.threads = (unsigned)a->common.threads,
                                    .columns = a->common.columns,
                                    .watch = show_stage,
                                    .context = watching(&a->common)};
    const kith_work_options work = work_options(&a->common);
    kith_graph *said = NULL;
    kith_status status = kith_graph_open(&said, source_path(path), &open, error);

    if (status == KITH_OK)
        status = kith_session_add_graph(a->session, said, &work, error);
    if (status == KITH_OK)
        count_added(added, a->session, before, said);
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
        kith_question q = meant_fact(kith_model_graph(a->model), &f);
        kith_status status =
            kith_session_add(NULL, a->session, q.subject, q.relation, q.object, &error);
        free(f.copy);
        if (status != KITH_OK) {
            put(stderr, "kith: fact %zu: %s\n", i + 1, error.message);
            return status == KITH_ERR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
        }
    }
    for (size_t i = 0; i < a->files.count; i++) {
        added_facts added;
        if (say_source(&added, a, a->files.at[i], &error) != KITH_OK)
            return failure(&error);
        if (added.ignored > 0)
            note("%s: %s\n", source_path(a->files.at[i]), added.text);
    }
    return EXIT_SUCCESS;
}

/* As the help of --candidates says. */
static bool proposes_new(const kith_model *model)
{
    const kith_settings *settings = kith_model_settings(model);
    char evidence[32], unseen[32];

    kith_settings_get(evidence, sizeof evidence, settings, "evidence");
    kith_settings_get(unseen, sizeof unseen, settings, "unseen-neighbors");
    return strcmp(evidence, "none") != 0 && strcmp(unseen, "off") != 0;
}

static void note_not_proposed(const query_arguments *a)
{
    size_t i = 0;

    if (a->ask.candidates == KITH_ANSWERS_ALL && !proposes_new(a->model) && next_newcomer(&i, a))
        note("new entities are not among the answers: the run has no rules, or "
             "--unseen-neighbors off\n");
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
    int status = say_facts(a, self);
    if (status == EXIT_SUCCESS)
        note_not_proposed(a);
    return status;
}

void end_queries(query_arguments *a)
{
    name_new_entities_by(NULL);
    kith_session_free(a->session);
    kith_model_free(a->model);
}

/* ---- questions ---- */

int star_of(const query_arguments *a, const fields *f)
{
    uint32_t entity;

    for (int i = 0; i < 3; i += 2)
        if (f->name[i] && !f->quoted[i] && strcmp(f->name[i], "*") == 0 &&
            kith_graph_find_entity(&entity, kith_model_graph(a->model), "*") != KITH_OK)
            return i;
    return -1;
}

const char *next_newcomer(size_t *index, const query_arguments *a)
{
    while (*index < kith_session_newcomer_count(a->session)) {
        kith_newcomer newcomer = kith_session_newcomer_at(a->session, (*index)++);
        if (newcomer.facts > 0)
            return newcomer.name;
    }
    return NULL;
}

void fill_star(kith_question *question, int star, const char *name)
{
    *(star == 0 ? &question->subject : &question->object) = name;
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

/* A question about "*" becomes one about each new entity. If there is none, the question is an
 * error that does not stop the others. */
static int spread_question(questions *q, size_t *capacity, const query_arguments *a,
                           const fields *f, const char *text)
{
    kith_question question = meant_question(kith_model_graph(a->model), f);
    size_t before = q->count, i = 0;
    int status = EXIT_SUCCESS, star = star_of(a, f);

    if (star < 0)
        return add_question(q, capacity, question);
    for (const char *name; status == EXIT_SUCCESS && (name = next_newcomer(&i, a));) {
        fill_star(&question, star, name);
        status = add_question(q, capacity, question);
    }
    if (status == EXIT_SUCCESS && q->count == before) {
        put(stderr, "kith: query '%.200s': %s\n", text, NO_NEWCOMER);
        q->failed = true;
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
    return spread_question(q, capacity, a, f, text);
}

/* The quotes of a literal are part of the name. */
static int read_about(questions *q, size_t *capacity, const query_arguments *a, const char *text)
{
    fields *f = &q->held[q->held_count];
    uint32_t entity;

    if (!cut_name(f, text))
        return out_of_memory();
    q->held_count++;
    if (f->quoted[0] &&
        kith_graph_find_entity(&entity, kith_model_graph(a->model), text) == KITH_OK)
        f->name[0] = text;
    return spread_question(q, capacity, a, f, text);
}

int read_questions(questions *q, const query_arguments *a, const command *self)
{
    size_t capacity = 0;
    int status = EXIT_SUCCESS;

    *q = (questions){.held = calloc(a->queries.count + a->about.count + 1, sizeof *q->held)};
    if (!q->held)
        return out_of_memory();
    if (a->queries.count + a->about.count == 0)
        return usage_error(self, "missing --query 'S R ?'");
    for (size_t i = 0; status == EXIT_SUCCESS && i < a->queries.count; i++)
        status = read_question(q, &capacity, a, self, a->queries.at[i]);
    q->about = q->count;
    for (size_t i = 0; status == EXIT_SUCCESS && i < a->about.count; i++)
        status = read_about(q, &capacity, a, a->about.at[i]);
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
    if (status == EXIT_SUCCESS && q.failed)
        status = EXIT_USAGE;
    free_questions(&q);
    end_queries(a);
    return status;
}
