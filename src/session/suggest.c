/* Names like one that does not exist. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "graph/graph.h"
#include "session/answer.h"

enum { LONGEST = 255, MOST_OFF = 3, BEGINS = 10, CONTAINS = 20, UNLIKE = 100, SUGGESTED = 3 };

static char lower(char c)
{
    return (char)tolower((unsigned char)c);
}

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

/* How many letters are changed, added, left out or swapped with the next, without regard to case; or
 * more than `limit` where it is more. */
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

/* How far a name is from what was typed; UNLIKE where it is not like it at all. */
static int unlikeness(const char *name, const char *text, size_t length)
{
    size_t name_length = strlen(name);
    int limit = (length + 2) / 5 < MOST_OFF ? (int)((length + 2) / 5) : MOST_OFF;
    int off = distance(text, length, name, name_length, limit);

    if (off <= limit)
        return off;
    if (length >= 2 && strncasecmp(name, text, length) == 0)
        return BEGINS;
    if (length >= 4 && strcasestr(name, text))
        return CONTAINS;
    return UNLIKE;
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
        int off = unlikeness(name, text, length);
        if (!relation && graph->label_start) {
            int label = unlikeness(kith_graph_entity_label(graph, id), text, length);
            off = label < off ? label : off;
        }
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
    return suggest(ids, most, graph, text, false);
}

size_t kith_graph_suggest_relations(uint32_t *ids, size_t most, const kith_graph *graph,
                                    const char *text)
{
    return suggest(ids, most, graph, text, true);
}

const char *kith__did_you_mean(char out[KITH__MEANT], const kith_graph *graph, const char *text,
                               bool relation)
{
    uint32_t ids[SUGGESTED];
    size_t count = suggest(ids, SUGGESTED, graph, text, relation), used = 0;
    char quoted[KITH__QUOTED];

    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *name = relation ? kith_graph_relation_name(graph, ids[i])
                                    : kith_graph_entity_name(graph, ids[i]);
        used += (size_t)snprintf(out + used, KITH__MEANT - used, "%s%s",
                                 i == 0 ? "; did you mean " : i + 1 < count ? ", " : " or ",
                                 kith__quote(quoted, name, strlen(name)));
    }
    if (count > 0)
        snprintf(out + used, KITH__MEANT - used, "?");
    return out;
}
