/* Suggestions for names that do not exist. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "session/answer.h"

/* How different a name is. Names that differ only in case come first, then those that are the text
 * but for a prefix, a number of the sense, spaces, '_' and '-' (dog.n.01 and pkg:dog for "dog"),
 * names that begin with the text as whole words, names that contain it as words, names that begin
 * with it, names that differ in a few letters, names of which a word does; last those that contain
 * it. Of these, names with fewer other letters are nearer. */
enum {
    LONGEST = 255,
    MOST_OFF = 3,
    SAME = 0,
    NEARLY = 1,
    FIRST_WORD = 2,
    WORD = 3,
    BEGINS = 4,
    OFF = 10, /* plus the number of letters */
    WORD_OFF = 14,
    CONTAINS = 20,
    UNLIKE = 100,
    LETTERS = 256, /* what one of the above weighs against a letter too many */
    SUGGESTED = 3
};

/* The text as typed, and its letters without what NEARLY ignores. */
typedef struct {
    const char *text;
    size_t length;
    char core[LONGEST + 1];
    size_t core_length;
} typed;

/* The same of a name; the first `own` letters of the core do not number a sense. */
typedef struct {
    const char *text;
    size_t length;
    char core[LONGEST + 1];
    size_t core_length, own;
} candidate;

static char lower(char c)
{
    return (char)tolower((unsigned char)c);
}

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

/* The number of letters changed, added, omitted or swapped with the next, ignoring case; more than
 * `limit` if it exceeds that. */
static int distance(const char *a, size_t a_length, const char *b, size_t b_length, int limit)
{
    int rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *row = rows[2];

    if (a_length > LONGEST || b_length > LONGEST ||
        (a_length > b_length ? a_length - b_length : b_length - a_length) > (size_t)limit)
        return limit + 1;
    for (size_t j = 0; j <= b_length; j++)
        last[j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        int least = row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least_of(last[j - 1] + (lower(a[i - 1]) != lower(b[j - 1])),
                              least_of(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = least_of(row[j], before[j - 2] + 1);
            least = least_of(least, row[j]);
        }
        if (least > limit)
            return limit + 1;
        int *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[b_length];
}

/* Whether the text occurs at `at` as whole words. */
static bool is_word_at(const char *name, const char *at, size_t length)
{
    return (at == name || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]);
}

static int words(const char *name, const char *text, size_t length)
{
    for (const char *at = name; (at = strcasestr(at, text)); at++)
        if (is_word_at(name, at, length))
            return at == name ? FIRST_WORD : WORD;
    return UNLIKE;
}

/* The part after the last separator of an IRI or a prefix. */
static const char *local_part(const char *name)
{
    const char *local = name + strlen(name);

    while (local > name && !strchr("/#:", local[-1]))
        local--;
    return *local && *local != ' ' ? local : name;
}

/* Copy letters in lower case, without spaces, '_' and '-'; at most LONGEST - `used` of them. */
static size_t squeeze(char *core, size_t used, const char *name, size_t length)
{
    for (size_t i = 0; i < length && used < LONGEST; i++)
        if (!strchr(" _-", name[i]))
            core[used++] = lower(name[i]);
    core[used] = '\0';
    return used;
}

/* The length without endings that number senses: that of "dog" in dog.n.01 and in dog_1. */
static size_t without_sense(const char *name, size_t length)
{
    for (;;) {
        size_t at = length;
        while (at > 0 && isdigit((unsigned char)name[at - 1]))
            at--;
        if (at == length && at > 0 && isalpha((unsigned char)name[at - 1]))
            at--;
        if (at == length || at < 2 || !strchr("._#-", name[at - 1]))
            return length;
        length = at - 1;
    }
}

static typed typed_text(const char *text)
{
    typed t = {.text = text, .length = strlen(text)};

    t.core_length = squeeze(t.core, 0, text, t.length);
    return t;
}

static candidate candidate_name(const char *name)
{
    candidate c = {.text = name, .length = strlen(name)};
    const char *local = local_part(name);
    size_t length = strlen(local), sense = without_sense(local, length);

    c.own = squeeze(c.core, 0, local, sense);
    c.core_length = squeeze(c.core, c.own, local + sense, length - sense);
    return c;
}

/* The least distance between the text and one word of a name. */
static int word_distance(const char *name, const typed *t, int limit)
{
    int least = limit + 1;

    for (const char *at = name; *at;) {
        size_t length = strcspn(at, " _-");
        if (length > 0)
            least = least_of(least, distance(t->text, t->length, at, length, limit));
        at += length + (at[length] != '\0');
    }
    return least;
}

static bool is_nearly(const candidate *c, const typed *t)
{
    return t->core_length > 0 && (c->core_length == t->core_length || c->own == t->core_length) &&
           memcmp(c->core, t->core, t->core_length) == 0;
}

/* In what way a name is like the text; UNLIKE if it is not. */
static int likeness(const candidate *c, const typed *t)
{
    int limit = (t->length + 2) / 5 < MOST_OFF ? (int)((t->length + 2) / 5) : MOST_OFF, off;
    int word = t->length >= 2 ? words(c->text, t->text, t->length) : UNLIKE;

    if (c->length == t->length && strcasecmp(c->text, t->text) == 0)
        return SAME;
    if (is_nearly(c, t))
        return NEARLY;
    if (word < UNLIKE)
        return word;
    if ((t->length >= 2 && strncasecmp(c->text, t->text, t->length) == 0) ||
        (t->core_length >= 4 && strncmp(c->core, t->core, t->core_length) == 0))
        return BEGINS;
    if ((off = distance(t->text, t->length, c->text, c->length, limit)) <= limit)
        return OFF + off;
    if (t->length >= 5 && (off = word_distance(c->text, t, limit)) <= limit)
        return WORD_OFF + off;
    return t->length >= 4 && strcasestr(c->text, t->text) ? CONTAINS : UNLIKE;
}

/* How far a name is from the typed text; at least UNLIKE * LETTERS if it is not similar. */
static int unlikeness(const char *name, const typed *t)
{
    const candidate c = candidate_name(name);
    size_t extra = c.own > t->core_length ? c.own - t->core_length : t->core_length - c.own;

    return likeness(&c, t) * LETTERS + (int)(extra < LETTERS ? extra : LETTERS - 1);
}

/* ---- the nearest names ---- */

typedef struct {
    uint32_t id;
    int off;
    bool added; /* by the session */
    const char *name;
} guess;

/* What to search for: the text, its last part for IRIs, whatever prefix was typed, and where. */
typedef struct {
    typed whole, local;
    const kith_graph *graph;
    bool relation;
} search;

static search search_for(const kith_graph *graph, const char *text, bool relation)
{
    return (search){typed_text(text), typed_text(local_part(text)), graph, relation};
}

static bool is_nearer(const guess *a, const guess *b)
{
    if (a->off != b->off)
        return a->off < b->off;
    return a->added != b->added ? a->added : strcmp(a->name, b->name) < 0;
}

static size_t insert(guess *guesses, size_t count, size_t most, guess next)
{
    size_t i = count < most ? count : most - 1;

    if (next.off >= UNLIKE * LETTERS ||
        (count == most && !is_nearer(&next, &guesses[most - 1])))
        return count;
    for (; i > 0 && is_nearer(&next, &guesses[i - 1]); i--)
        guesses[i] = guesses[i - 1];
    guesses[i] = next;
    return count < most ? count + 1 : count;
}

static int name_unlikeness(const char *name, const search *s)
{
    int off = unlikeness(name, &s->whole);

    return strstr(name, "://") ? least_of(off, unlikeness(local_part(name), &s->local)) : off;
}

static const char *name_of(const search *s, uint32_t id)
{
    return s->relation ? kith_graph_relation_name(s->graph, id)
                       : kith_graph_entity_name(s->graph, id);
}

/* NULL if none has a label. */
static const char *label_of(const search *s, uint32_t id)
{
    if (s->relation)
        return s->graph->relation_labels ? kith_graph_relation_label(s->graph, id) : NULL;
    return s->graph->label_start ? kith_graph_entity_label(s->graph, id) : NULL;
}

/* By its name or its label, whichever is closer. */
static int how_unlike(const search *s, uint32_t id)
{
    const char *label = label_of(s, id);
    int off = name_unlikeness(name_of(s, id), s);

    return label ? least_of(off, unlikeness(label, &s->whole)) : off;
}

/* Relations of train, and entities with facts, in train or among the support facts. */
static size_t search_graph(guess *guesses, size_t count, size_t most, const search *s)
{
    const kith_graph *g = s->graph;
    uint32_t all = s->relation ? g->seen_relations : g->entities.count;

    for (uint32_t id = 0; id < all; id++)
        if (s->relation || id < g->seen_entities || g->offset[id + 1] > g->offset[id])
            count = insert(guesses, count, most,
                           (guess){id, how_unlike(s, id), false, name_of(s, id)});
    return count;
}

static size_t suggest(uint32_t *ids, size_t most, const kith_graph *graph, const char *text,
                      bool relation)
{
    const search s = search_for(graph, text, relation);
    guess guesses[16];

    most = most < 16 ? most : 16;
    size_t count = most > 0 ? search_graph(guesses, 0, most, &s) : 0;
    for (size_t i = 0; i < count; i++)
        ids[i] = guesses[i].id;
    return count;
}

size_t kith_graph_suggest_entities(uint32_t *ids, size_t most, const kith_graph *graph,
                                   const char *text)
{
    if (!ids || !graph || !text)
        return 0;
    return suggest(ids, most, graph, text, false);
}

size_t kith_graph_suggest_relations(uint32_t *ids, size_t most, const kith_graph *graph,
                                    const char *text)
{
    if (!ids || !graph || !text)
        return 0;
    return suggest(ids, most, graph, text, true);
}

/* The nearest names of the graph and of what the session has added to it. */
static size_t suggest_names(guess guesses[SUGGESTED], const kith_session *session, const search *s)
{
    const kith_graph *graph = session->model->graph;
    size_t count = 0;

    for (uint32_t i = 0; !s->relation && i < session->entities.count; i++) {
        const char *name = kith__names_get(&session->entities, i);
        count = insert(guesses, count, SUGGESTED,
                       (guess){graph->entities.count + i, unlikeness(name, &s->whole), true, name});
    }
    return search_graph(guesses, count, SUGGESTED, s);
}

/* Append "'dog.n.01'", or "'wd:Q208' (Player 8)" if it has a label. */
static size_t append_name(char out[KITH__MEANT], size_t used, const search *s, const guess *g)
{
    char quoted[KITH__QUOTED], shortened[LONGEST];
    const char *name = g->name, *label = g->added ? NULL : label_of(s, g->id);

    if (kith_graph_short_name(shortened, sizeof shortened, s->graph, name) > 0)
        name = shortened;
    used += (size_t)snprintf(out + used, KITH__MEANT - used, "%s",
                             kith__quote(quoted, name, strlen(name)));
    if (!label || strcmp(label, g->name) == 0)
        return used;
    kith__quote(quoted, label, strlen(label));
    return used + (size_t)snprintf(out + used, KITH__MEANT - used, " (%.*s)",
                                   (int)strlen(quoted) - 2, quoted + 1);
}

const char *kith__did_you_mean(char out[KITH__MEANT], const kith_session *session,
                               const char *text, bool relation)
{
    const search s = search_for(session->model->graph, text, relation);
    guess guesses[SUGGESTED];
    size_t count = session->no_suggestions ? 0 : suggest_names(guesses, session, &s), used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(out + used, KITH__MEANT - used, "%s",
                                 i == 0 ? "; did you mean " : i + 1 < count ? ", " : " or ");
        used = append_name(out, used, &s, &guesses[i]);
    }
    if (count > 0)
        snprintf(out + used, KITH__MEANT - used, "?");
    return out;
}
