#include "report/explain_reasons.h"

#include <math.h>
#include <string.h>

#include "report/pages.h"
#include "report/rule_form.h"

enum { REASONS = 6, EXPLAINED = 3, NAMED = 3 };

static kith_evidence_part kind_of(const json_t *reason)
{
    const char *name = text_of(reason, "kind");
    return kith_part_find(name, strlen(name));
}

/* The name of the entity that a variable of a rule stands for. */
static const char *value_of(char variable, const json_t *reason, const char *who,
                            const char *answer)
{
    switch (variable) {
    case 's':
        return who;
    case 'o':
        return answer;
    case 'x':
    case 'c':
        return text_of(reason, "between");
    case 'y':
        return text_of(reason, "between_second");
    default:
        return "";
    }
}

/* ---- how much a fact supports the best answer ---- */

static bool is_inverse(const json_t *relation)
{
    return json_is_true(json_object_get(relation, "inverse"));
}

/* Whether the rule applies to this fact of the entity. */
static bool uses(const json_t *reason, const json_t *neighbor, const char *answer)
{
    const json_t *first = json_object_get(reason, "first");
    rule_atom atom = rule_form_of(kind_of(reason)).body[0];
    const char *end = value_of(atom.to, reason, "", answer);

    return atom.from == 's' && strcmp(text_of(neighbor, "entity"), end) == 0 &&
           strcmp(text_of(neighbor, "relation"), text_of(first, "relation")) == 0 &&
           is_inverse(neighbor) == is_inverse(first);
}

double rule_weight(const json_t *explained, const json_t *neighbor)
{
    const json_t *best = json_array_get(json_object_get(explained, "contributions"), 0), *reason;
    double weight = 0;
    size_t i;

    json_array_foreach(json_object_get(best, "reasons"), i, reason)
        if (uses(reason, neighbor, text_of(best, "entity")))
            weight = fmax(weight, number_of(reason, "confidence"));
    return weight;
}

/* ---- words ---- */

/* "from -relation-> to", with the arrow pointing from subject to object. Direction marks preserve
 * this order for names in right-to-left script. */
static void put_step(text_buffer *words, const char *relation, bool inverse, const char *to)
{
    text_add(words,
             inverse ? MARK_LTR " \xe2\x86\x90 %s" MARK_LTR " \xe2\x80\x94 " MARK_LTR "%s"
                     : MARK_LTR " \xe2\x80\x94 %s" MARK_LTR " \xe2\x86\x92 " MARK_LTR "%s",
             relation, to);
}

/* The same for {"relation": NAME, "inverse": false}. */
static void put_relation(text_buffer *words, const json_t *relation, const char *to)
{
    put_step(words, text_of(relation, "relation"), is_inverse(relation), to);
}

static json_t *taken(text_buffer *words)
{
    json_t *made = safe_string(words->at ? words->at : "");
    text_release(words);
    return made;
}

/* Whether two reasons are the same path rule, through different entities. */
static bool is_same_path(const json_t *a, const json_t *b)
{
    return rule_form_of(kind_of(a)).count > 1 && kind_of(a) == kind_of(b) &&
           json_equal(json_object_get(a, "first"), json_object_get(b, "first")) &&
           json_equal(json_object_get(a, "second"), json_object_get(b, "second")) &&
           strcmp(text_of(json_object_get(a, "third"), "relation"),
                  text_of(json_object_get(b, "third"), "relation")) == 0 &&
           is_inverse(json_object_get(a, "third")) == is_inverse(json_object_get(b, "third"));
}

static bool was_listed(const json_t *reasons, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (is_same_path(json_array_get(reasons, k), json_array_get(reasons, i)))
            return true;
    return false;
}

/* What a reason passes through that an earlier one of the same path does not: one entity, or for a
 * rule of three steps perhaps both. */
static json_t *difference(const json_t *from, const json_t *other, const kith_graph *graph)
{
    static const char *const keys[] = {"between", "between_second"};
    text_buffer words = {0};

    for (int i = 0; i < 2; i++)
        if (strcmp(text_of(other, keys[i]), text_of(from, keys[i])) != 0)
            text_add(&words, "%s" MARK_LTR "%s", words.at ? MARK_LTR " and then " : "",
                     label_of(graph, text_of(other, keys[i])));
    return taken(&words);
}

/* "; also through A, B and 3 others" */
static void put_others(text_buffer *words, const json_t *reasons, size_t i, const kith_graph *graph)
{
    const json_t *reason = json_array_get(reasons, i);
    json_t *names = json_array();

    for (size_t k = i + 1; k < json_array_size(reasons); k++) {
        const json_t *other = json_array_get(reasons, k);
        json_t *name = is_same_path(reason, other) ? difference(reason, other, graph) : NULL;
        if (name && json_string_length(name) > 0 && !has_text(names, json_string_value(name)))
            json_array_append(names, name);
        json_decref(name);
    }
    size_t count = json_array_size(names);
    for (size_t k = 0; k < count && k < NAMED; k++)
        text_add(words, "%s%s", k == 0 ? "; also through " : ", ",
                 json_string_value(json_array_get(names, k)));
    if (count > NAMED)
        text_add(words, MARK_LTR " and %zu other%s", count - NAMED, count > NAMED + 1 ? "s" : "");
    json_decref(names);
}

/* One answer that is explained, and what is said about it. */
typedef struct explained_answer {
    const json_t *one;    /* its entry in "contributions" */
    const char *who;      /* the known entity */
    const char *relation; /* that links the two */
    bool inverse;         /* the answer is the subject */
    const kith_graph *graph;
} explained_answer;

/* A rule of one step is read as a fact unless its conclusion is said. */
static void put_conclusion(text_buffer *words, const explained_answer *a)
{
    text_add(words, MARK_LTR " \xe2\x87\x92 " MARK_LTR "%s", a->who);
    put_step(words, a->relation, a->inverse, short_name(a->one, a->graph));
}

/* The facts that a rule applies to, as a path, and how often the rule was correct. */
static json_t *reason_words(const explained_answer *a, size_t i)
{
    static const char *const keys[RULE_ATOMS] = {"first", "second", "third"};
    const json_t *reasons = json_object_get(a->one, "reasons"),
                 *reason = json_array_get(reasons, i);
    const char *answer = short_name(a->one, a->graph);
    rule_form form = rule_form_of(kind_of(reason));
    text_buffer words = {0};

    text_put(&words, form.body[0].from == 'o' ? answer : a->who);
    for (size_t k = 0; k < form.count; k++) {
        char to = form.body[k].to;
        const char *name = value_of(to, reason, a->who, answer);
        put_relation(&words, json_object_get(reason, keys[k]),
                     to == 's' || to == 'o' ? name : label_of(a->graph, name));
    }
    put_others(&words, reasons, i, a->graph);
    if (kind_of(reason) == KITH_PART_SHARED)
        text_put(&words, MARK_LTR ", which known answers have in common");
    else if (form.count == 1)
        put_conclusion(&words, a);
    text_add(&words, MARK_LTR ". Correct in %.0f of %.0f cases, confidence %.3f.",
             number_of(reason, "support"), number_of(reason, "body_count"),
             number_of(reason, "confidence"));
    return taken(&words);
}

static json_t *path_words(const json_t *path, const char *who, const kith_graph *graph)
{
    text_buffer words = {0};
    const json_t *step;
    size_t i;

    text_add(&words, "Shortest path: %s", who);
    json_array_foreach(path, i, step)
        put_step(&words, text_of(step, "relation"), is_inverse(step), short_name(step, graph));
    return taken(&words);
}

/* ---- blocks ---- */

static json_t *reasons_list(const explained_answer *a)
{
    const json_t *reasons = json_object_get(a->one, "reasons");
    const json_t *path = json_object_get(a->one, "path");
    json_t *items = json_array();
    size_t rules = 0;

    for (size_t i = 0; i < json_array_size(reasons); i++)
        if (!was_listed(reasons, i) && rules++ < REASONS)
            json_array_append_new(items, reason_words(a, i));
    if (rules > REASONS)
        json_array_append_new(items, format_string("%zu more rule%s.", rules - REASONS,
                                                   rules > REASONS + 1 ? "s" : ""));
    if (json_array_size(path) > 1)
        json_array_append_new(items, path_words(path, a->who, a->graph));
    if (json_array_size(items) == 0)
        json_array_append_new(items, json_string("No supporting rule."));
    return json_pack("{ss so}", "type", "list", "items", items);
}

static json_t *points(const json_t *one, const char *part)
{
    double value = number_of(one, part);
    return format_string("%s %s%.3f", part, value < 0 ? "\xe2\x88\x92" : "+", fabs(value));
}

/* The parts add up to the score; "rest" is within "embedding". */
static void add_score(json_t *document, const json_t *one)
{
    static const char *const parts[] = {"rules", "proximity", "prior", "embedding"};
    text_buffer words = {0};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (number_of(one, parts[i]) != 0) {
            json_t *part = points(one, parts[i]);
            text_add(&words, "%s%s", words.at ? ", " : " = ", json_string_value(part));
            json_decref(part);
        }
    document_text(document, "Score %.3f%s.", number_of(one, "score"), words.at ? words.at : "");
    text_release(&words);
}

/* Whether the answers are subjects of the explained relation. */
static bool is_inverse_question(const json_t *explained)
{
    const json_t *first = json_array_get(json_object_get(explained, "answers"), 0);
    const json_t *said = json_object_get(first, "is_subject");

    if (said)
        return json_is_true(said);
    return known_entity(explained) != text_of(json_object_get(explained, "query"), "subject");
}

void explain_reasons(json_t *document, const json_t *explained, const kith_graph *graph)
{
    explained_answer a = {.who = label_of(graph, known_entity(explained)),
                     .relation = text_of(explained, "explained"),
                     .inverse = is_inverse_question(explained),
                     .graph = graph};
    size_t i;

    json_array_foreach(json_object_get(explained, "contributions"), i, a.one) {
        if (i == EXPLAINED || json_array_size(json_object_get(a.one, "features")) == 0)
            break; /* without rules, the neighbourhood explains everything */
        json_t *title = entity_title(a.one);
        json_t *heading = format_string("Why %s", json_string_value(title));
        document_heading(document, 3, json_string_value(heading));
        add_score(document, a.one);
        document_add(document, reasons_list(&a));
        json_decref(heading);
        json_decref(title);
    }
}
