/* Answers and explanations as text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"
#include "report/rule_form.h"

enum {
    NAMED = 10, /* ignored facts that are listed individually */
    SHOWN = 10  /* neighbours shown */
};

/* ---- answers ---- */

static const kith_session *naming;

void name_new_entities_by(const kith_session *session)
{
    naming = session;
}

const char *name_of_entity(const kith_graph *graph, uint32_t entity)
{
    const char *name = entity < kith_graph_entity_count(graph) || !naming
                           ? kith_graph_entity_name(graph, entity)
                           : kith_session_entity_name(naming, entity);
    return name ? name : "";
}

const char *label_of_entity(const kith_graph *graph, uint32_t entity)
{
    return entity < kith_graph_entity_count(graph) ? kith_graph_entity_label(graph, entity)
                                                   : name_of_entity(graph, entity);
}

char *readable_entity(const kith_graph *graph, uint32_t entity)
{
    const char *name = name_of_entity(graph, entity);
    const char *label = label_of_entity(graph, entity);
    char *text = NULL;

    if (strcmp(name, label) == 0)
        return strdup(name_text(graph, name));
    return asprintf(&text, "%s (%s)", label, name_text(graph, name)) < 0 ? NULL : text;
}

char *readable_name(const kith_graph *graph, const char *name)
{
    uint32_t entity;

    if (name && kith_graph_find_entity(&entity, graph, name) == KITH_OK)
        return readable_entity(graph, entity);
    return strdup(name ? name_text(graph, name) : "?");
}

void print_question(const kith_question *q, const kith_graph *graph)
{
    char *subject = readable_name(graph, q->subject), *object = readable_name(graph, q->object);

    say("%s  %s  %s\n", subject ? subject : "",
        q->relation ? relation_name_text(graph, q->relation) : "?", object ? object : "");
    free(subject);
    free(object);
}

/* The unknown part of the question: the relation and the entity, on its side of the fact. */
static void print_pair(const kith_answer *a, const kith_question *q, const kith_graph *graph,
                       const char *entity)
{
    const char *relation = relation_text(graph, a->relation);

    if (q->relation)
        say("  %s", entity);
    else if (q->subject && q->object)
        say("  %s", relation);
    else if (q->subject && a->is_subject) /* queried in both directions */
        say("  %s  %s  %s", entity, relation, q->subject);
    else
        say("  %s  %s", relation, entity);
}

bool is_wide(double low, double high)
{
    static const double wide = .1;

    return high - low >= wide;
}

bool some_wide(const kith_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++) {
        const kith_answer *a = answers->at[i];
        if (!a->known && !isnan(a->probability) && is_wide(a->low, a->high))
            return true;
    }
    return false;
}

void print_interval(double low, double high)
{
    say(" [%.0f-%.0f %%]", 100 * low, 100 * high);
}

static bool same_in_text(double a, double b)
{
    return lround(1000 * a) == lround(1000 * b);
}

/* The overall probability, if the model has one, with its interval if `intervals`. `if any` assumes
 * that an answer is missing; it is omitted if that is as good as certain. */
static void print_probability(const kith_answer *a, const kith_question *q, bool intervals)
{
    if (a->known) {
        say("%9s", "");
        return;
    }
    if (isnan(a->probability)) { /* pairs are not in its order, so it would confuse */
        if (q->relation && !isnan(a->probability_if_any))
            say("  %5.1f %% if any", 100 * a->probability_if_any);
        return;
    }
    say("  %5.1f %%", 100 * a->probability);
    if (intervals)
        print_interval(a->low, a->high);
    if (q->relation && !same_in_text(a->probability_if_any, a->probability))
        say(" (%.1f %% if any)", 100 * a->probability_if_any);
}

void print_answers(const kith_answers *answers, const kith_question *q, const kith_graph *graph)
{
    bool intervals = some_wide(answers);

    print_question(q, graph);
    for (size_t i = 0; i < answers->count; i++) {
        const kith_answer *a = answers->at[i];
        char *entity = readable_entity(graph, a->entity);
        say("%4zu  %10.4f", i + 1, a->score);
        print_probability(a, q, intervals);
        print_pair(a, q, graph, entity ? entity : "");
        say("%s\n", a->known ? "  [known]" : "");
        free(entity);
    }
    if (answers->count == 0)
        say("      no answer\n");
    if (answers->relations < answers->all_relations)
        say("      over %zu of %zu relations: those that the entity's own imply most\n",
            answers->relations, answers->all_relations);
}

/* What the user may have meant by a fact that cannot be used; the text is in `out`. */
static const char *meant(char out[512], const kith_session_fact *f, const kith_graph *graph)
{
    uint32_t ids[3];
    bool relation = f->use == KITH_FACT_NO_RELATION;
    size_t count = 0, used = 0;

    out[0] = '\0';
    if (relation)
        count = kith_graph_suggest_relations(ids, 3, graph, f->relation);
    else if (f->use == KITH_FACT_NO_NEIGHBOR &&
             !(count = kith_graph_suggest_entities(ids, 3, graph, f->object)))
        count = kith_graph_suggest_entities(ids, 3, graph, f->subject);
    for (size_t i = 0; i < count && used < 400; i++)
        used +=
            (size_t)snprintf(out + used, 512 - used, "%s'%.100s'",
                             i == 0          ? "; did you mean "
                             : i + 1 < count ? ", "
                                             : " or ",
                             relation ? relation_text(graph, ids[i])
                                      : name_text(graph, kith_graph_entity_name(graph, ids[i])));
    if (count > 0)
        snprintf(out + used, 512 - used, "?");
    return out;
}

void print_ignored(const kith_session *session, const kith_graph *graph, size_t from,
                   const char *how)
{
    size_t listed = 0, more = 0;
    char text[512];

    for (size_t i = from; i < kith_session_fact_count(session); i++) {
        kith_session_fact f = kith_session_fact_at(session, i);
        if (f.use == KITH_FACT_USED)
            continue;
        if (listed == NAMED) {
            more++;
            continue;
        }
        listed++;
        note("ignored '%.200s %.200s %.200s': %s%s\n", f.subject, f.relation, f.object,
             kith_fact_use_text(f.use), meant(text, &f, graph));
    }
    if (more > 0)
        note("ignored %zu more fact%s%s\n", more, more == 1 ? "" : "s", how);
}

/* ---- explanations: one function per section, in the order of the struct ---- */

enum { ANSWERS_SHOWN = 3, REASONS_SHOWN = 5 };

static const char *direction(int inverse)
{
    return inverse ? " (inverse)" : "";
}

/* The fact with readable names; the queried entity is on its side. */
static char *readable_fact(const kith_weighted_neighbor *n, const kith_question *q,
                           const kith_graph *graph)
{
    const char *relation = relation_text(graph, n->relation);
    char *who = readable_name(graph, q->subject ? q->subject : q->object);
    char *entity = readable_entity(graph, n->entity), *text = NULL;

    if (asprintf(&text, "%s  %s  %s", n->inverse ? entity : who, relation,
                 n->inverse ? who : entity) < 0)
        text = NULL;
    free(who);
    free(entity);
    return text;
}

static void print_atom(const kith_graph *graph, uint32_t relation, int inverse, const char *from,
                       const char *to)
{
    say("%s  %s  %s", inverse ? to : from, relation_text(graph, relation),
        inverse ? from : to);
}

/* The name that a variable of a rule stands for; to be freed. */
static char *value_of(char variable, const kith_reason *r, const kith_question *q, uint32_t answer,
                      const kith_graph *graph)
{
    switch (variable) {
    case 's':
        return readable_name(graph, q->subject ? q->subject : q->object);
    case 'o':
        return readable_entity(graph, answer);
    case 'x':
    case 'c':
        return readable_entity(graph, r->between);
    case 'y':
        return readable_entity(graph, r->between_second);
    default:
        return strdup("(any)");
    }
}

/* The facts that a rule applies to, with readable names. */
static void print_reason(const kith_reason *r, const kith_question *q, uint32_t answer,
                         const kith_graph *graph)
{
    const uint32_t relation[RULE_ATOMS] = {r->first, r->second, r->third};
    const int inverse[RULE_ATOMS] = {r->first_inverse, r->second_inverse, r->third_inverse};
    rule_form form = rule_form_of(r->kind);

    say("  %.3f  %-13s %6u of %-6u ", r->confidence, kith_part_name(r->kind), r->support,
        r->body_count);
    for (size_t i = 0; i < form.count; i++) {
        char *from = value_of(form.body[i].from, r, q, answer, graph);
        char *to = value_of(form.body[i].to, r, q, answer, graph);
        if (i > 0)
            say("\n%40s", "");
        print_atom(graph, relation[i], inverse[i], from ? from : "", to ? to : "");
        free(from);
        free(to);
    }
    putchar('\n');
}

/* The facts of the shortest path to the answer. A path of one fact is already among the reasons. */
static void print_path(const kith_contributions *g, const kith_question *q, const kith_graph *graph)
{
    char *from = readable_name(graph, q->subject ? q->subject : q->object);

    for (size_t i = 0; g->path_count > 1 && i < g->path_count; i++) {
        char *to = readable_entity(graph, g->path[i]->entity);
        say("  %-37s ", i == 0 ? "shortest path" : "");
        print_atom(graph, g->path[i]->relation, g->path[i]->inverse, from ? from : "",
                   to ? to : "");
        putchar('\n');
        free(from);
        from = to;
    }
    free(from);
}

static void print_contributions(const kith_explanation *e, const kith_question *q,
                          const kith_graph *graph)
{
    for (size_t i = 0; i < e->contribution_count && i < ANSWERS_SHOWN; i++) {
        const kith_contributions *g = e->contributions[i];
        if (g->feature_count == 0)
            break; /* without rules, the neighbours explain everything */
        char *entity = readable_entity(graph, g->entity);
        say("\n  %s: %.3f = rules %+.3f, proximity %+.3f, prior %+.3f, embedding %+.3f\n",
            entity ? entity : "", g->score, g->rules, g->proximity, g->prior, g->embedding);
        if (i == 0 && g->reason_count > 0)
            say("  conf.  kind          correct of       because\n");
        for (size_t k = 0; k < g->reason_count && k < REASONS_SHOWN; k++)
            print_reason(g->reasons[k], q, g->entity, graph);
        if (g->reason_count > REASONS_SHOWN)
            say("  and %zu more; --json has all\n", g->reason_count - REASONS_SHOWN);
        if (g->reason_count == 0)
            say("  no supporting rule\n");
        print_path(g, q, graph);
        free(entity);
    }
}

/* Whether the embedding, if there is one, reads the fact. */
static bool is_read(const kith_weighted_neighbor *n)
{
    return n->place != SIZE_MAX;
}

static double weight_of(const kith_explanation *e, const kith_weighted_neighbor *n)
{
    return e->weighing == KITH_WEIGH_MAX ? n->wins : n->weight;
}

static void print_weight(const kith_explanation *e, const kith_weighted_neighbor *n, double most)
{
    enum { WIDTH = 20 };
    char text[3 * WIDTH + 4];
    double value = weight_of(e, n);

    if (e->weighing == KITH_WEIGH_NONE) {
        say("  ");
        return;
    }
    if (!isnan(n->logic) && !isnan(n->attention))
        say("  %7.4f  %7.4f  %7.4f", value, n->logic, n->attention);
    else if (e->weighing == KITH_WEIGH_MAX)
        say("  %7u", n->wins);
    else
        say("  %7.4f", value);
    bar(text, most > 0 ? value / most : 0, WIDTH);
    int columns = 0;
    for (const char *c = text; *c; c++)
        columns += (*c & 0xc0) != 0x80;
    say("  %s%*s  ", text, WIDTH - columns, "");
}

static void print_rules_of(const kith_weighted_neighbor *n, const kith_graph *graph)
{
    char text[GROUPED];

    if (n->rule)
        say("%12s%s%s => %s%s, confidence %.4f, support %s\n", "",
            relation_text(graph, n->rule->premise), direction(n->rule->premise_inverse),
            relation_text(graph, n->rule->conclusion),
            direction(n->rule->conclusion_inverse), n->rule->confidence,
            grouped(text, n->rule->support));
    else if (!isnan(n->logic))
        say("%12sno rule leads from it to the relation asked for\n", "");
    if (n->redundant_with)
        say("%12sredundant with %s%s, which implies it: confidence %.4f, support %s\n", "",
            relation_text(graph, n->redundant_with->premise),
            direction(n->redundant_with->premise_inverse), n->redundant_with->confidence,
            grouped(text, n->redundant_with->support));
}

/* Neighbours with the same relation have the same rules, which are printed once. */
static bool listed_before(const kith_explanation *e, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (e->neighbors[k]->relation == e->neighbors[i]->relation &&
            e->neighbors[k]->inverse == e->neighbors[i]->inverse)
            return true;
    return false;
}

/* The neighbours from a place on, up to another, as far as there is room. */
static void print_facts(const kith_explanation *e, size_t from, size_t to, const kith_question *q,
                        const kith_graph *graph)
{
    size_t shown = to - from < SHOWN ? to - from : SHOWN;

    for (size_t i = from; i < from + shown; i++) {
        char *fact = readable_fact(e->neighbors[i], q, graph);
        if (is_read(e->neighbors[i]))
            print_weight(e, e->neighbors[i], weight_of(e, e->neighbors[0]));
        else
            say("  ");
        say("%s%s\n", fact ? fact : "", e->neighbors[i]->added ? "" : "  [graph]");
        if (!listed_before(e, i))
            print_rules_of(e->neighbors[i], graph);
        free(fact);
    }
    if (to - from > shown)
        say("  and %zu more; --json has all\n", to - from - shown);
}

static void print_neighbors(const kith_explanation *e, const kith_question *q,
                            const kith_graph *graph)
{
    size_t read = 0;

    while (read < e->neighbor_count && is_read(e->neighbors[read]))
        read++;
    if (e->weighing == KITH_WEIGH_NONE)
        say("\n  known facts\n");
    else
        say("\n  facts by weight, for %s\n", relation_text(graph, e->relation));
    if (e->weighing == KITH_WEIGH_MAX)
        say("  coordinates in which the fact is the largest\n");
    else if (read > 0 && !isnan(e->neighbors[0]->logic) && !isnan(e->neighbors[0]->attention))
        say("   weight =  logic + attention\n");
    print_facts(e, 0, read, q, graph);
    if (read < e->neighbor_count)
        say("\n  facts used by rules and proximity only\n");
    print_facts(e, read, e->neighbor_count, q, graph);
    if (e->unread > 0)
        say("  %zu more fact%s not used\n", e->unread, e->unread == 1 ? " is" : "s are");
}

static void print_ablations(const kith_explanation *e, const kith_question *q,
                           const kith_graph *graph)
{
    if (e->ablation_count > 0)
        say("\n  ranks of the first answers among all candidates when a fact is left out\n");
    for (size_t i = 0; i < e->ablation_count; i++) {
        const kith_ablation *l = e->ablations[i];
        char *fact = readable_fact(e->neighbors[l->neighbor], q, graph);
        char *best = readable_entity(graph, l->best);
        say("  without  %s\n", fact ? fact : "");
        for (size_t k = 0; k < e->compared && k < ANSWERS_SHOWN; k++) {
            char *entity = readable_entity(graph, e->answers->at[k]->entity);
            say("%12s%5zu -> %-5zu %9.4f -> %-9.4f  %s\n", "", l->changes[k]->rank,
                l->changes[k]->rank_masked, l->changes[k]->score, l->changes[k]->score_masked,
                entity ? entity : "");
            free(entity);
        }
        if (l->best != e->answers->at[0]->entity)
            say("%12sthe first answer is then %s\n", "", best ? best : "");
        free(fact);
        free(best);
    }
}

void print_explanation(const kith_explanation *e, const kith_question *q, const kith_graph *graph)
{
    static void (*const sections[])(const kith_explanation *, const kith_question *,
                                    const kith_graph *) = {print_contributions, print_neighbors,
                                                           print_ablations};

    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        sections[i](e, q, graph);
}
