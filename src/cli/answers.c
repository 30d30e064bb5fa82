#include "cli/answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run_files.h"
#include "core/numbers.h"

enum {
    NAMED = 10, /* ignored facts that are told one by one */
    SHOWN = 10  /* neighbours that are shown to a person */
};

/* ---- cutting ---- */

/* People who quote a whole fact for the shell write \t for a tab. */
static void make_tabs(char *text)
{
    char *to = text;

    if (strchr(text, '\t') || !strstr(text, "\\t")) /* a backslash may be part of a name */
        return;
    for (const char *from = text; *from; to++)
        if (from[0] == '\\' && from[1] == 't') {
            *to = '\t';
            from += 2;
        } else {
            *to = *from++;
        }
    *to = '\0';
}

/* One field, up to the mark or the end; a quoted one ends at the quote before it. */
static char *next_field(char **rest, char mark)
{
    char *field = *rest, *end;

    if (mark == ' ' && field[0] == '"' && (end = strchr(field + 1, '"')) &&
        (end[1] == ' ' || end[1] == '\0')) {
        *end = '\0';
        *rest = end[1] ? end + 2 : NULL;
        return field + 1;
    }
    end = strchr(field, mark);
    if (end)
        *end = '\0';
    *rest = end ? end + 1 : NULL;
    return field;
}

bool cut_fields(fields *out, const char *text, char why[256])
{
    char *rest = out->copy = strdup(text);
    size_t count = 0, empty = 0;

    if (!rest) {
        snprintf(why, 256, "out of memory");
        return false;
    }
    make_tabs(rest);
    char mark = strchr(rest, '\t') ? '\t' : ' ';
    while (rest) {
        const char *field = next_field(&rest, mark);
        empty += *field == '\0';
        if (count < 3)
            out->name[count] = field;
        count++;
    }
    if (count == 3 && empty == 0)
        return true;
    if (count != 3)
        snprintf(why, 256,
                 "found %zu field%s, expected 3: subject, relation and object, separated "
                 "by tabs, or by spaces with names that contain one in double quotes",
                 count, count == 1 ? "" : "s");
    else
        snprintf(why, 256, "found an empty field, expected subject, relation and object");
    free(out->copy);
    out->copy = NULL;
    return false;
}

bool cut_question(fields *out, const char *text, char why[256])
{
    int asked = 0;

    if (!cut_fields(out, text, why))
        return false;
    for (int i = 0; i < 3; i++)
        if (strcmp(out->name[i], "?") == 0) {
            out->name[i] = NULL;
            asked++;
        }
    if (asked > 0 && asked < 3)
        return true;
    snprintf(why, 256,
             asked == 0 ? "has no '?', expected one for the unknown"
                        : "has only '?', expected a name");
    free(out->copy);
    out->copy = NULL;
    return false;
}

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

/* Facts come first to be refused: reading a run takes longer than reading a command line. */
static int say_facts(asking *a, const command *self)
{
    kith_error error;
    char why[256];

    for (size_t i = 0; i < a->facts.count; i++) {
        fields f;
        if (!cut_fields(&f, a->facts.at[i], why))
            return usage_error(self, "fact %zu, '%.200s': %s", i + 1, a->facts.at[i], why);
        kith_status status =
            kith_session_add(NULL, a->session, f.name[0], f.name[1], f.name[2], &error);
        free(f.copy);
        if (status != KITH_OK) {
            put(stderr, "kith: fact %zu: %s\n", i + 1, error.message);
            return status == KITH_ERR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
        }
    }
    for (size_t i = 0; i < a->files.count; i++) {
        const char *path = strcmp(a->files.at[i], "-") == 0 ? "/dev/stdin" : a->files.at[i];
        const kith_open_options open = {.threads = (unsigned)a->common.threads};
        kith_graph *said = NULL;
        kith_status status = kith_graph_open(&said, path, &open, &error);
        if (status == KITH_OK)
            status = kith_session_add_graph(a->session, said, &error);
        kith_graph_free(said);
        if (status != KITH_OK)
            return failure(&error);
    }
    return EXIT_SUCCESS;
}

int begin_asking(asking *a, const command *self)
{
    a->ask = (kith_ask_options){.top = (size_t)a->common.top,
                                .new_only = a->new_only,
                                .relations = a->relations,
                                .threads = (unsigned)a->common.threads};
    kith_error error;

    if (open_run(&a->model, a->common.operand, (unsigned)a->common.threads, &error) != KITH_OK ||
        kith_session_new(&a->session, a->model, &error) != KITH_OK)
        return failure(&error);
    tell_unfinished(a->common.operand);
    return say_facts(a, self);
}

void end_asking(asking *a)
{
    kith_session_free(a->session);
    kith_model_free(a->model);
}

/* ---- questions ---- */

static bool is_star(const asking *a, const char *name)
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

/* A question about "*" becomes one about each newcomer. */
static int spread_question(questions *q, size_t *capacity, const asking *a, kith_question question)
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

int read_questions(questions *q, const asking *a, const command *self)
{
    size_t capacity = 0;
    int status = EXIT_SUCCESS;
    char why[256];

    *q = (questions){.held = calloc(a->queries.count, sizeof *q->held)};
    for (size_t i = 0; q->held && status == EXIT_SUCCESS && i < a->queries.count; i++) {
        fields *f = &q->held[i];
        if (!cut_question(f, a->queries.at[i], why))
            return usage_error(self, "query '%.200s': %s", a->queries.at[i], why);
        q->held_count++;
        status =
            spread_question(q, &capacity, a, (kith_question){f->name[0], f->name[1], f->name[2]});
    }
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

/* ---- for people ---- */

char *readable_entity(const kith_graph *graph, uint32_t entity)
{
    const char *name = kith_graph_entity_name(graph, entity);
    const char *label = kith_graph_entity_label(graph, entity);
    char *text = NULL;

    if (strcmp(name, label) == 0)
        return strdup(name);
    return asprintf(&text, "%s (%s)", label, name) < 0 ? NULL : text;
}

/* A name of the question, with its label where the graph has one; to be freed. */
static char *readable_name(const kith_graph *graph, const char *name)
{
    uint32_t entity;

    if (name && kith_graph_find_entity(&entity, graph, name) == KITH_OK)
        return readable_entity(graph, entity);
    return strdup(name ? name : "?");
}

static void print_question(const kith_question *q, const kith_graph *graph)
{
    char *subject = readable_name(graph, q->subject), *object = readable_name(graph, q->object);

    say("%s  %s  %s\n", subject ? subject : "", q->relation ? q->relation : "?",
        object ? object : "");
    free(subject);
    free(object);
}

void print_answers(const kith_answers *answers, const kith_question *q, const kith_graph *graph)
{
    print_question(q, graph);
    for (size_t i = 0; i < answers->count; i++) {
        const kith_answer *a = &answers->at[i];
        char *entity = readable_entity(graph, a->entity);
        say("%4zu  %10.4f", i + 1, a->score);
        if (!isnan(a->probability))
            say("  %5.1f %%", 100 * a->probability);
        if (!q->relation)
            say("  %s", kith_graph_relation_name(graph, a->relation));
        say("  %s%s\n", entity ? entity : "", a->known ? "  [known]" : "");
        free(entity);
    }
    if (answers->count == 0)
        say("      no answer\n");
    if (answers->relations < answers->all_relations)
        say("      over %zu of %zu relations: those that the entity's own imply most\n",
            answers->relations, answers->all_relations);
}

/* What may have been meant by a fact that is of no use; the text lives in `out`. */
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
        used += (size_t)snprintf(out + used, 512 - used, "%s'%.100s'",
                                 i == 0          ? "; did you mean "
                                 : i + 1 < count ? ", "
                                                 : " or ",
                                 relation ? kith_graph_relation_name(graph, ids[i])
                                          : kith_graph_entity_name(graph, ids[i]));
    if (count > 0)
        snprintf(out + used, 512 - used, "?");
    return out;
}

void print_ignored(const kith_session *session, const kith_graph *graph, size_t from)
{
    size_t told = 0, more = 0;
    char text[512];

    for (size_t i = from; i < kith_session_fact_count(session); i++) {
        kith_session_fact f = kith_session_fact_at(session, i);
        if (f.use == KITH_FACT_USED)
            continue;
        if (told == NAMED) {
            more++;
            continue;
        }
        told++;
        note("ignored '%.200s %.200s %.200s': %s%s\n", f.subject, f.relation, f.object,
             kith_fact_use_text(f.use), meant(text, &f, graph));
    }
    if (more > 0)
        note("ignored %zu more facts; --json names all\n", more);
}

/* ---- for programs ---- */

static json_t *name_json(const char *name)
{
    return name ? text_json(name) : json_null();
}

json_t *question_json(const kith_question *q)
{
    return json_pack("{so so so}", "subject", name_json(q->subject), "relation",
                     name_json(q->relation), "object", name_json(q->object));
}

static void set_entity(json_t *object, const kith_graph *graph, uint32_t entity)
{
    const char *name = kith_graph_entity_name(graph, entity);
    const char *label = kith_graph_entity_label(graph, entity);

    json_object_set_new(object, "entity", text_json(name));
    if (strcmp(name, label) != 0)
        json_object_set_new(object, "label", text_json(label));
}

json_t *answers_json(const kith_answers *answers, const kith_question *q, const kith_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < answers->count; i++) {
        const kith_answer *a = &answers->at[i];
        json_t *answer = json_object();
        if (!q->relation)
            json_object_set_new(answer, "relation",
                                text_json(kith_graph_relation_name(graph, a->relation)));
        set_entity(answer, graph, a->entity);
        json_object_set_new(answer, "score", json_real(a->score));
        if (!isnan(a->probability))
            json_object_set_new(answer, "probability", json_real(a->probability));
        json_object_set_new(answer, "known", json_boolean(a->known));
        json_array_append_new(list, answer);
    }
    return list;
}

json_t *ignored_json(const kith_session *session)
{
    json_t *list = json_array();

    for (size_t i = 0; i < kith_session_fact_count(session); i++) {
        kith_session_fact f = kith_session_fact_at(session, i);
        if (f.use != KITH_FACT_USED)
            json_array_append_new(list,
                                  json_pack("{so so so ss}", "subject", text_json(f.subject),
                                            "relation", text_json(f.relation), "object",
                                            text_json(f.object), "why", kith_fact_use_text(f.use)));
    }
    return list;
}

/* ---- explanations: one function per section, in the order of the struct ---- */

enum { GROUNDS_SHOWN = 3, REASONS_SHOWN = 5 };

static const char *direction(int inverse)
{
    return inverse ? " (inverse)" : "";
}

/* The fact, with the entity that is asked about in its place. */
static char *readable_fact(const kith_weighted_neighbor *n, const kith_question *q,
                           const kith_graph *graph)
{
    const char *relation = kith_graph_relation_name(graph, n->relation);
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
    say("%s  %s  %s", inverse ? to : from, kith_graph_relation_name(graph, relation),
        inverse ? from : to);
}

/* The facts behind a rule, with their names. */
static void print_reason(const kith_reason *r, const kith_question *q, uint32_t answer,
                         const kith_graph *graph)
{
    char *who = readable_name(graph, q->subject ? q->subject : q->object);
    char *to = readable_entity(graph, answer);
    char *between = r->between == UINT32_MAX ? NULL : readable_entity(graph, r->between);

    say("  %.3f  %-13s (%c) %6u of %-6u ", r->confidence, kith_part_name(r->kind),
        kith_part_letter(r->kind), r->support, r->body_count);
    print_atom(graph, r->first, r->first_inverse, r->kind == KITH_PART_SHARED ? to : who,
               r->kind == KITH_PART_DIRECT ? to
               : between                   ? between
                                           : "");
    if (r->kind == KITH_PART_PATH) {
        say("\n%43s", "");
        print_atom(graph, r->second, r->second_inverse, between ? between : "", to ? to : "");
    }
    putchar('\n');
    free(who);
    free(to);
    free(between);
}

/* The facts that lead to the answer, one after the other. A single one is among what rules go by. */
static void print_path(const kith_contributions *g, const kith_question *q, const kith_graph *graph)
{
    char *from = readable_name(graph, q->subject ? q->subject : q->object);

    for (size_t i = 0; g->path_count > 1 && i < g->path_count; i++) {
        char *to = readable_entity(graph, g->path[i].entity);
        say("  %-40s ", i == 0 ? "shortest path" : "");
        print_atom(graph, g->path[i].relation, g->path[i].inverse, from ? from : "", to ? to : "");
        putchar('\n');
        free(from);
        from = to;
    }
    free(from);
}

static void print_grounds(const kith_explanation *e, const kith_question *q,
                          const kith_graph *graph)
{
    for (size_t i = 0; i < e->contribution_count && i < GROUNDS_SHOWN; i++) {
        const kith_contributions *g = &e->contributions[i];
        if (g->feature_count == 0)
            break; /* no rules: the neighbours say all */
        char *entity = readable_entity(graph, g->entity);
        say("\n  %s: %.3f = rules %+.3f, proximity %+.3f, prior %+.3f, embedding %+.3f\n",
            entity ? entity : "", g->score, g->rules, g->proximity, g->prior, g->embedding);
        if (i == 0 && g->reason_count > 0)
            say("  conf.  kind              correct of     because\n");
        for (size_t k = 0; k < g->reason_count && k < REASONS_SHOWN; k++)
            print_reason(&g->reasons[k], q, g->entity, graph);
        if (g->reason_count > REASONS_SHOWN)
            say("  and %zu more; --json has all\n", g->reason_count - REASONS_SHOWN);
        if (g->reason_count == 0)
            say("  no supporting rule\n");
        print_path(g, q, graph);
        free(entity);
    }
}

static double weight_of(const kith_explanation *e, size_t i)
{
    return e->weighing == KITH_WEIGH_MAX ? e->neighbors[i].wins : e->neighbors[i].weight;
}

static void print_weight(const kith_explanation *e, const kith_weighted_neighbor *n, double most)
{
    enum { WIDTH = 20 };
    char text[3 * WIDTH + 4];
    double value = weight_of(e, (size_t)(n - e->neighbors));

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

    if (n->rule.confidence > 0)
        say("%12s%s%s => %s%s, confidence %.4f, support %s\n", "",
            kith_graph_relation_name(graph, n->rule.premise), direction(n->rule.premise_inverse),
            kith_graph_relation_name(graph, n->rule.conclusion),
            direction(n->rule.conclusion_inverse), n->rule.confidence,
            grouped(text, n->rule.support));
    else if (!isnan(n->logic))
        say("%12sno rule leads from it to the relation asked for\n", "");
    if (n->redundant_with.confidence > 0)
        say("%12sredundant with %s%s, which implies it: confidence %.4f, support %s\n", "",
            kith_graph_relation_name(graph, n->redundant_with.premise),
            direction(n->redundant_with.premise_inverse), n->redundant_with.confidence,
            grouped(text, n->redundant_with.support));
}

/* Neighbours with the same relation have the same rules, which are told once. */
static bool told_before(const kith_explanation *e, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (e->neighbors[k].relation == e->neighbors[i].relation &&
            e->neighbors[k].inverse == e->neighbors[i].inverse)
            return true;
    return false;
}

static void print_neighbors(const kith_explanation *e, const kith_question *q,
                            const kith_graph *graph)
{
    size_t shown = e->neighbor_count < SHOWN ? e->neighbor_count : SHOWN;

    if (e->weighing == KITH_WEIGH_NONE)
        say("\n  known facts\n");
    else
        say("\n  facts by weight, for %s\n", kith_graph_relation_name(graph, e->relation));
    if (e->weighing == KITH_WEIGH_MAX)
        say("  coordinates in which the fact is the largest\n");
    else if (shown > 0 && !isnan(e->neighbors[0].logic) && !isnan(e->neighbors[0].attention))
        say("   weight =  logic + attention\n");
    for (size_t i = 0; i < shown; i++) {
        char *fact = readable_fact(&e->neighbors[i], q, graph);
        print_weight(e, &e->neighbors[i], weight_of(e, 0));
        say("%s%s\n", fact ? fact : "", e->neighbors[i].added ? "" : "  [graph]");
        if (!told_before(e, i))
            print_rules_of(&e->neighbors[i], graph);
        free(fact);
    }
    if (e->neighbor_count > shown)
        say("  and %zu more; --json has all\n", e->neighbor_count - shown);
    if (e->unread > 0)
        say("  %zu more facts exceed the number of neighbours that the model reads\n", e->unread);
}

static void print_left_out(const kith_explanation *e, const kith_question *q,
                           const kith_graph *graph)
{
    if (e->ablation_count > 0)
        say("\n  ranks of the first answers among all candidates when a fact is left out\n");
    for (size_t i = 0; i < e->ablation_count; i++) {
        const kith_ablation *l = &e->left_out[i];
        char *fact = readable_fact(&e->neighbors[l->neighbor], q, graph);
        char *best = readable_entity(graph, l->best);
        say("  without  %s\n", fact ? fact : "");
        for (size_t k = 0; k < e->compared && k < GROUNDS_SHOWN; k++) {
            char *entity = readable_entity(graph, e->answers.at[k].entity);
            say("%12s%5zu -> %-5zu %9.4f -> %-9.4f  %s\n", "", l->moves[k].rank,
                l->moves[k].rank_masked, l->moves[k].score, l->moves[k].score_masked,
                entity ? entity : "");
            free(entity);
        }
        if (l->best != e->answers.at[0].entity)
            say("%12sthe first answer is then %s\n", "", best ? best : "");
        free(fact);
        free(best);
    }
}

void print_explanation(const kith_explanation *e, const kith_question *q, const kith_graph *graph)
{
    static void (*const sections[])(const kith_explanation *, const kith_question *,
                                    const kith_graph *) = {print_grounds, print_neighbors,
                                                           print_left_out};

    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        sections[i](e, q, graph);
}

static json_t *rule_json(const kith_implication *rule, const kith_graph *graph)
{
    return json_pack("{so sb so sb sf sI}", "premise",
                     text_json(kith_graph_relation_name(graph, rule->premise)), "premise_inverse",
                     rule->premise_inverse, "conclusion",
                     text_json(kith_graph_relation_name(graph, rule->conclusion)),
                     "conclusion_inverse", rule->conclusion_inverse, "confidence", rule->confidence,
                     "support", (json_int_t)rule->support);
}

static void set_real(json_t *object, const char *key, double value)
{
    if (!isnan(value))
        json_object_set_new(object, key, json_real(value));
}

static json_t *reason_json(const kith_reason *r, const kith_graph *graph)
{
    json_t *one = json_pack("{ss so sb sf sI sI}", "kind", kith_part_name(r->kind), "first",
                            text_json(kith_graph_relation_name(graph, r->first)), "first_inverse",
                            r->first_inverse, "confidence", r->confidence, "support",
                            (json_int_t)r->support, "body_count", (json_int_t)r->body_count);

    if (r->second != UINT32_MAX) {
        json_object_set_new(one, "second", text_json(kith_graph_relation_name(graph, r->second)));
        json_object_set_new(one, "second_inverse", json_boolean(r->second_inverse));
    }
    if (r->between != UINT32_MAX)
        json_object_set_new(one, "between", text_json(kith_graph_entity_name(graph, r->between)));
    return one;
}

static json_t *step_json(const kith_step *s, const kith_graph *graph)
{
    json_t *one =
        json_pack("{so sb}", "relation", text_json(kith_graph_relation_name(graph, s->relation)),
                  "inverse", s->inverse);
    set_entity(one, graph, s->entity);
    return one;
}

static void grounds_json(json_t *object, const kith_explanation *e, const kith_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < e->contribution_count; i++) {
        const kith_contributions *g = &e->contributions[i];
        json_t *one =
            json_pack("{sf sf sf sf sf sf}", "score", g->score, "rules", g->rules, "proximity",
                      g->proximity, "prior", g->prior, "embedding", g->embedding, "rest", g->rest);
        json_t *features = json_array(), *reasons = json_array(), *neighbors = json_array();
        json_t *path = json_array();
        set_entity(one, graph, g->entity);
        for (size_t k = 0; k < g->feature_count; k++)
            json_array_append_new(
                features, json_pack("{ss ss# sf sf}", "name", g->features[k].name, "part",
                                    (char[]){kith_part_letter(g->features[k].part)}, 1, "value",
                                    g->features[k].value, "points", g->features[k].points));
        for (size_t k = 0; k < g->reason_count; k++)
            json_array_append_new(reasons, reason_json(&g->reasons[k], graph));
        for (size_t k = 0; g->neighbors && k < e->neighbor_count; k++)
            json_array_append_new(neighbors, json_real(g->neighbors[k]));
        json_object_set_new(one, "features", features);
        for (size_t k = 0; k < g->path_count; k++)
            json_array_append_new(path, step_json(&g->path[k], graph));
        json_object_set_new(one, "reasons", reasons);
        json_object_set_new(one, "path", path);
        json_object_set_new(one, "neighbors", neighbors);
        json_array_append_new(list, one);
    }
    json_object_set_new(object, "contributions", list);
}

static void neighbors_json(json_t *object, const kith_explanation *e, const kith_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < e->neighbor_count; i++) {
        const kith_weighted_neighbor *n = &e->neighbors[i];
        json_t *entry = json_pack("{so sb sb}", "relation",
                                  text_json(kith_graph_relation_name(graph, n->relation)),
                                  "inverse", n->inverse, "added", n->added);
        set_entity(entry, graph, n->entity);
        set_real(entry, "weight", n->weight);
        set_real(entry, "logic", n->logic);
        set_real(entry, "attention", n->attention);
        if (e->weighing == KITH_WEIGH_MAX)
            json_object_set_new(entry, "wins", json_integer(n->wins));
        if (n->rule.confidence > 0)
            json_object_set_new(entry, "rule", rule_json(&n->rule, graph));
        if (n->redundant_with.confidence > 0)
            json_object_set_new(entry, "redundant_with", rule_json(&n->redundant_with, graph));
        json_array_append_new(list, entry);
    }
    json_object_set_new(object, "neighbors", list);
    json_object_set_new(object, "unread", json_integer((json_int_t)e->unread));
}

static void left_out_json(json_t *object, const kith_explanation *e, const kith_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < e->ablation_count; i++) {
        const kith_ablation *l = &e->left_out[i];
        json_t *moves = json_array();
        for (size_t k = 0; k < e->compared; k++) {
            json_t *move = json_pack("{sI sI sf sf}", "rank", (json_int_t)l->moves[k].rank,
                                     "rank_without", (json_int_t)l->moves[k].rank_masked, "score",
                                     l->moves[k].score, "score_without", l->moves[k].score_masked);
            set_entity(move, graph, e->answers.at[k].entity);
            json_array_append_new(moves, move);
        }
        json_array_append_new(
            list, json_pack("{sI so so}", "neighbor", (json_int_t)l->neighbor, "first",
                            text_json(kith_graph_entity_name(graph, l->best)), "answers", moves));
    }
    json_object_set_new(object, "without", list);
}

void explanation_json(json_t *object, const kith_explanation *e, const kith_graph *graph)
{
    static void (*const sections[])(json_t *, const kith_explanation *, const kith_graph *) = {
        grounds_json, neighbors_json, left_out_json};

    json_object_set_new(object, "explained",
                        text_json(kith_graph_relation_name(graph, e->relation)));
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        sections[i](object, e, graph);
}

/* ---- the whole command ---- */

int ask_and(int (*answer)(asking *a, const questions *q), const command *self, asking *a)
{
    questions q = {0};
    int status = begin_asking(a, self);

    if (status == EXIT_SUCCESS)
        status = read_questions(&q, a, self);
    if (status == EXIT_SUCCESS)
        status = answer(a, &q);
    free_questions(&q);
    end_asking(a);
    return status;
}
