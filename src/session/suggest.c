/* Suggestions for names that do not exist. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "session/answer.h"

/* How different a name is. Names that differ only in case come first, then names that begin with
 * the text as a whole word ("dog" of dog.n.01), names that contain it as a word, names that begin
 * with it, and names that differ in a few letters; last those that contain it. */
enum {
    LONGEST = 255,
    MOST_OFF = 3,
    SAME = 0,
    FIRST_WORD = 1,
    WORD = 2,
    BEGINS = 3,
    OFF = 10, /* plus the number of letters */
    CONTAINS = 20,
    UNLIKE = 100,
    SUGGESTED = 3
};

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

/* How far a name is from the typed text; UNLIKE if it is not similar. */
static int unlikeness(const char *name, const char *text, size_t length)
{
    size_t name_length = strlen(name);
    int limit = (length + 2) / 5 < MOST_OFF ? (int)((length + 2) / 5) : MOST_OFF;
    int word = length >= 2 ? words(name, text, length) : UNLIKE;

    if (name_length == length && strcasecmp(name, text) == 0)
        return SAME;
    if (word < UNLIKE)
        return word;
    if (length >= 2 && strncasecmp(name, text, length) == 0)
        return BEGINS;
    int off = distance(text, length, name, name_length, limit);
    if (off <= limit)
        return OFF + off;
    return length >= 4 && strcasestr(name, text) ? CONTAINS : UNLIKE;
}

typedef struct {
    uint32_t id;
    int off;
} guess;

/* Keep the nearest, the earlier of equal ones first. */
static size_t insert(guess *guesses, size_t count, size_t most, guess next)
{
    size_t i = count < most ? count : most - 1;

    if (count == most && guesses[most - 1].off <= next.off)
        return count;
    for (; i > 0 && guesses[i - 1].off > next.off; i--)
        guesses[i] = guesses[i - 1];
    guesses[i] = next;
    return count < most ? count + 1 : count;
}

/* The part after the last separator of an IRI or a prefix. */
static const char *local_part(const char *name)
{
    const char *local = name + strlen(name);

    while (local > name && !strchr("/#:", local[-1]))
        local--;
    return *local ? local : name;
}

/* An IRI is also matched by its last part, whatever prefix was typed. */
static int name_unlikeness(const char *name, const char *text, size_t length)
{
    int off = unlikeness(name, text, length);

    if (!strstr(name, "://"))
        return off;
    const char *local = local_part(text);
    return least_of(off, unlikeness(local_part(name), local, strlen(local)));
}

/* By its name or its label, whichever is closer. */
static int how_unlike(const kith_graph *graph, uint32_t id, const char *name, const char *text,
                      size_t length, bool relation)
{
    int off = name_unlikeness(name, text, length);

    if (relation ? !graph->relation_labels : !graph->label_start)
        return off;
    int label = unlikeness(relation ? kith_graph_relation_label(graph, id)
                                    : kith_graph_entity_label(graph, id),
                           text, length);
    return label < off ? label : off;
}

static size_t suggest(uint32_t *ids, size_t most, const kith_graph *graph, const char *text,
                      bool relation)
{
    uint32_t all = relation ? graph->seen_relations : graph->seen_entities;
    size_t length = strlen(text), count = 0;
    guess guesses[16];

    most = most < 16 ? most : 16;
    for (uint32_t id = 0; most > 0 && id < all; id++) {
        const char *name = relation ? kith_graph_relation_name(graph, id)
                                    : kith_graph_entity_name(graph, id);
        int off = how_unlike(graph, id, name, text, length, relation);
        if (off < UNLIKE)
            count = insert(guesses, count, most, (guess){id, off});
    }
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
static size_t suggest_names(const char *names[SUGGESTED], const kith_session *s, const char *text,
                            bool relation)
{
    const kith_graph *graph = s->model->graph;
    uint32_t ids[SUGGESTED];
    size_t length = strlen(text), count = suggest(ids, SUGGESTED, graph, text, relation);
    guess guesses[SUGGESTED];

    for (size_t i = 0; i < count; i++) {
        const char *name = relation ? kith_graph_relation_name(graph, ids[i])
                                    : kith_graph_entity_name(graph, ids[i]);
        guesses[i] = (guess){ids[i], how_unlike(graph, ids[i], name, text, length, relation)};
    }
    for (uint32_t i = 0; !relation && i < s->entities.count; i++) {
        int off = unlikeness(kith__names_get(&s->entities, i), text, length);
        if (off < UNLIKE)
            count = insert(guesses, count, SUGGESTED, (guess){graph->entities.count + i, off});
    }
    for (size_t i = 0; i < count; i++)
        names[i] = relation ? kith_graph_relation_name(graph, guesses[i].id)
                            : kith__session_name(s, guesses[i].id);
    return count;
}

const char *kith__did_you_mean(char out[KITH__MEANT], const kith_session *session,
                               const char *text, bool relation)
{
    const char *names[SUGGESTED];
    size_t count = session->no_suggestions ? 0 : suggest_names(names, session, text, relation);
    size_t used = 0;
    char quoted[KITH__QUOTED], shortened[LONGEST];

    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *name = names[i];
        if (kith_graph_short_name(shortened, sizeof shortened, session->model->graph, name) > 0)
            name = shortened;
        used += (size_t)snprintf(out + used, KITH__MEANT - used, "%s%s",
                                 i == 0 ? "; did you mean " : i + 1 < count ? ", " : " or ",
                                 kith__quote(quoted, name, strlen(name)));
    }
    if (count > 0)
        snprintf(out + used, KITH__MEANT - used, "?");
    return out;
}
