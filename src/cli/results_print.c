/* Results as text, as JSON and as rows of a table. */
#include <math.h>
#include <stdlib.h>

#include "cli/answers.h"

/* ---- verdicts ---- */

const char *likely_word(const kith_verdict *v)
{
    return v->likely < 0 ? "unknown" : v->likely ? "likely" : "unlikely";
}

const char *verdict_word(const kith_verdict *v)
{
    if (v->known)
        return "known";
    return likely_word(v);
}

/* Print the verdict of the classifier, without a probability if the run has none. */
static void print_classified(const kith_verdict *v)
{
    if (isnan(v->probability))
        say("      %s", v->likely ? "likely" : "unlikely");
    else
        say("      %5.1f %%  %s", 100 * v->probability, v->likely ? "likely" : "unlikely");
    say(", by the classifier fitted on labels%s\n",
        v->known ? ", judged with the fact itself hidden" : "");
}

void print_verdict(const kith_verdict *v, const kith_question *q, const kith_graph *graph)
{
    char *who = readable_name(graph, v->subject_asked ? q->object : q->subject);

    print_question(q, graph);
    if (v->known)
        say("      known: a fact of the graph, or one that was given\n");
    if (v->classified) {
        print_classified(v);
    } else if (!isnan(v->probability)) {
        say("      %5.1f %%", 100 * v->probability);
        if (is_wide(v->low, v->high))
            print_interval(v->low, v->high);
        say("  %s%s\n", v->likely ? "likely" : "unlikely",
            v->known ? ", judged with the fact itself hidden" : "");
        say("      %5.1f %%  that %s has a '%s' fact beyond the known ones\n", 100 * v->has,
            who ? who : "", relation_name_text(graph, q->relation));
        say("      %5.1f %%  that this one is true, if there is any\n",
            100 * v->probability_if_any);
    } else if (v->alone) {
        say("      no probability: no other fact of %s is known\n", who ? who : "");
    }
    if (v->candidates > 0)
        say("      rank %zu of %zu %s, score %.4f\n", v->rank, v->candidates,
            v->subject_asked ? "subjects" : "objects", v->score);
    free(who);
}

static bool ranks_below(const kith_answer *a, const kith_verdict *v)
{
    if (v->classified || isnan(a->probability) || a->probability == v->probability)
        return a->score <= v->score;
    return a->probability < v->probability;
}

/* In the explanation of a fact, the first answer is the entity of the fact itself. The others are
 * the best ones, which may rank below it. */
void print_against(const kith_verdict *v, const kith_explanation *e, const kith_question *q,
                   const kith_graph *graph)
{
    enum { SHOWN = 3 };
    char *who = readable_name(graph, v->subject_asked ? q->object : q->subject);
    bool intervals = some_wide(e->answers);
    size_t shown = 0;

    if (v->has < .5)
        say("  against: %s is unlikely to have another '%s' fact\n", who ? who : "",
            relation_name_text(graph, q->relation));
    free(who);
    if (e->contribution_count > 0 && e->contributions[0]->feature_count > 0 &&
        e->contributions[0]->reason_count == 0)
        say("  against: no supporting rule\n");
    for (size_t i = 1; i < e->answers->count && shown < SHOWN; i++) {
        const kith_answer *a = e->answers->at[i];
        if (a->known || ranks_below(a, v))
            continue;
        char *entity = readable_entity(graph, a->entity);
        say("  against: %s ranks above it", entity ? entity : "");
        if (!isnan(a->probability) && !v->classified) { /* which is not of the classifier */
            say(", %.1f %%", 100 * a->probability);
            if (intervals)
                print_interval(a->low, a->high);
        }
        say("\n");
        free(entity);
        shown++;
    }
}

static void set_real(json_t *object, const char *key, double value)
{
    if (!isnan(value))
        json_object_set_new(object, key, json_real(value));
}

/* The interval of a probability, if there is one. */
static void set_interval(json_t *object, double probability, double low, double high)
{
    if (isnan(probability))
        return;
    set_real(object, "low", low);
    set_real(object, "high", high);
}

json_t *verdict_json(const kith_verdict *v)
{
    json_t *object = json_pack("{ss sb sb sI sI}", "verdict", verdict_word(v), "known", v->known,
                               "subject_asked", v->subject_asked, "rank", (json_int_t)v->rank,
                               "candidates", (json_int_t)v->candidates);
    set_real(object, "score", (double)v->score);
    set_real(object, "probability", v->probability);
    if (!v->classified) { /* whose probability is not computed from these */
        set_interval(object, v->probability, v->low, v->high);
        set_real(object, "has", v->has);
        set_real(object, "probability_if_any", v->probability_if_any);
    }
    json_object_set_new(object, "classified", json_boolean(v->classified));
    return object;
}

/* ---- missing facts ---- */

void print_missing_head(const kith_question *q, const kith_graph *graph)
{
    say("?  %s  ?\n", q->relation ? relation_name_text(graph, q->relation) : "?");
}

void print_missing_fact(const kith_missing_fact *f, size_t rank, const kith_graph *graph)
{
    char *subject = readable_entity(graph, f->fact.subject);
    char *object = readable_entity(graph, f->fact.object);

    say("%4zu  ", rank);
    if (isnan(f->probability)) {
        say("%8.4f", f->score);
    } else {
        say("%5.1f %%", 100 * f->probability);
        print_interval(f->low, f->high);
    }
    say("  %s  %s  %s\n", subject ? subject : "", relation_text(graph, f->fact.relation),
        object ? object : "");
    free(subject);
    free(object);
}

void print_missing_end(const kith_missing *m)
{
    if (m->count == 0)
        say("      no answer\n");
    say("      from %zu of %zu questions%s\n", m->queries, m->possible,
        m->complete ? "; no other has a likelier answer" : "; --questions N asks more");
}

static void print_missing(const kith_missing *m, const kith_question *q, const kith_graph *graph)
{
    print_missing_head(q, graph);
    for (size_t i = 0; i < m->count; i++)
        print_missing_fact(m->at[i], i + 1, graph);
    print_missing_end(m);
}

static json_t *missing_json(const kith_missing *m, const kith_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < m->count; i++) {
        const kith_missing_fact *f = m->at[i];
        json_t *one = json_pack(
            "{so so so sf}", "subject", text_json(name_of_entity(graph, f->fact.subject)),
            "relation", text_json(kith_graph_relation_name(graph, f->fact.relation)), "object",
            text_json(name_of_entity(graph, f->fact.object)), "score", f->score);
        set_relation_label(one, graph, f->fact.relation);
        set_real(one, "probability", f->probability);
        set_interval(one, f->probability, f->low, f->high);
        set_real(one, "has", f->has);
        set_real(one, "probability_if_any", f->probability_if_any);
        json_array_append_new(list, one);
    }
    return list;
}

/* ---- any result ---- */

void print_result(const result *r, const kith_question *q, const kith_graph *graph)
{
    if (r->omitted) {
        print_question(q, graph);
        say("      no answer\n");
    } else if (r->kind == ASKS_TRUTH)
        print_verdict(r->verdict, q, graph);
    else if (r->kind == ASKS_MISSING)
        print_missing(r->missing, q, graph);
    else
        print_answers(r->answers, q, graph);
}

json_t *result_json(const result *r, const kith_question *q, const kith_graph *graph)
{
    json_t *object = json_pack("{so}", "query", question_json(q));

    if (r->error.status != KITH_OK) {
        json_object_set_new(object, "error", text_json(r->error.message));
    } else if (r->omitted) {
        json_object_set_new(object, "answers", json_array());
    } else if (r->kind == ASKS_TRUTH) {
        json_object_update_new(object, verdict_json(r->verdict));
    } else if (r->kind == ASKS_MISSING) {
        json_object_set_new(object, "missing", missing_json(r->missing, graph));
        json_object_set_new(object, "queries", json_integer((json_int_t)r->missing->queries));
        json_object_set_new(object, "possible", json_integer((json_int_t)r->missing->possible));
        json_object_set_new(object, "complete", json_boolean(r->missing->complete));
    } else {
        json_object_set_new(object, "answers", answers_json(r->answers, q, graph));
    }
    return object;
}

/* ---- rows ---- */

void print_table_head(void)
{
    say("question\trank\tsubject\trelation\tobject\tprobability\tlow\thigh\tprobability_if_"
        "any\tknown\tverdict\tstatus\n");
}

static void print_number(double number)
{
    if (!isnan(number))
        say("%.6g", number);
    say("\t");
}

typedef struct {
    double probability, low, high, if_any;
    int known;
    const char *verdict;
} row;

static void print_row(size_t number, size_t rank, const char *subject, const char *relation,
                      const char *object, const row *r)
{
    say("%zu\t%zu\t%s\t%s\t%s\t", number, rank, subject, relation, object);
    print_number(r->probability);
    print_number(isnan(r->probability) ? NAN : r->low);
    print_number(isnan(r->probability) ? NAN : r->high);
    print_number(r->if_any);
    say("%d\t%s\tok\n", r->known, r->verdict);
}

/* A row for a question that has no other: it failed, or nothing answers it. */
static void print_bare_row(size_t number, const kith_question *q, const char *status)
{
    say("%zu\t\t%s\t%s\t%s\t\t\t\t\t\t\t%s\n", number, q->subject ? q->subject : "?",
        q->relation ? q->relation : "?", q->object ? q->object : "?", status);
}

static void print_verdict_row(const kith_verdict *v, const kith_question *q, size_t number)
{
    const row r = {v->probability,
                   v->classified ? NAN : v->low,
                   v->classified ? NAN : v->high,
                   v->classified ? NAN : v->probability_if_any,
                   v->known,
                   verdict_word(v)};

    print_row(number, v->rank, q->subject, q->relation, q->object, &r);
}

static void print_answer_row(const kith_answer *a, const kith_question *q, size_t number,
                             size_t rank, const kith_graph *graph)
{
    const char *entity = name_of_entity(graph, a->entity);
    const char *queried = q->subject && !(q->object && a->is_subject) ? q->subject : q->object;
    const row r = {a->probability, a->low, a->high, a->probability_if_any, a->known, ""};

    print_row(number, rank, a->is_subject ? entity : queried,
              kith_graph_relation_name(graph, a->relation), a->is_subject ? queried : entity, &r);
}

void print_missing_row(const kith_missing_fact *f, size_t number, size_t rank,
                       const kith_graph *graph)
{
    const row r = {f->probability, f->low, f->high, f->probability_if_any, 0, ""};

    print_row(number, rank, name_of_entity(graph, f->fact.subject),
              kith_graph_relation_name(graph, f->fact.relation),
              name_of_entity(graph, f->fact.object), &r);
}

void print_rows(const result *r, const kith_question *q, size_t number, const kith_graph *graph)
{
    if (r->error.status != KITH_OK)
        print_bare_row(number, q, r->error.message);
    else if (r->omitted || (r->answers && r->answers->count == 0) ||
             (r->missing && r->missing->count == 0))
        print_bare_row(number, q, "no answer");
    else if (r->kind == ASKS_TRUTH)
        print_verdict_row(r->verdict, q, number);
    for (size_t i = 0; r->answers && i < r->answers->count; i++)
        print_answer_row(r->answers->at[i], q, number, i + 1, graph);
    for (size_t i = 0; r->missing && i < r->missing->count; i++)
        print_missing_row(r->missing->at[i], number, i + 1, graph);
}
