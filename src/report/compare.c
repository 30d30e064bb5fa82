#include "report/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files.h"
#include "core/mem.h"

const metric_info metric_table[METRICS] = {
    [METRIC_MR] = {"mr", "MR", false, 1, 1},
    [METRIC_MRR] = {"mrr", "MRR", true, 1, 3},
    [METRIC_HITS1] = {"hits1", "Hits@1", true, 100, 1},
    [METRIC_HITS3] = {"hits3", "Hits@3", true, 100, 1},
    [METRIC_HITS10] = {"hits10", "Hits@10", true, 100, 1},
    [METRIC_ACCURACY] = {"accuracy", "Accuracy", true, 100, 1},
};

metric metric_by_key(const char *key)
{
    int m = 0;

    while (m < METRICS && strcmp(metric_table[m].key, key) != 0)
        m++;
    return (metric)m;
}

const char *hits_at(metric m)
{
    static const char *const keys[METRICS] = {
        [METRIC_HITS1] = "1", [METRIC_HITS3] = "3", [METRIC_HITS10] = "10"};

    return keys[m];
}

/* ---- outcomes ---- */

/* FNV-1a over the texts with a separator that occurs in no name. With 100,000 queries the
 * probability of a collision is 3e-10. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return (hash ^ '\t') * UINT64_C(1099511628211);
}

uint64_t outcome_key(const char *subject, const char *relation, const char *object,
                     const char *hidden)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    return hash_text(hash_text(hash_text(hash_text(hash, subject), relation), object), hidden);
}

static outcome *append(outcomes *o, uint64_t key, int kind, int facts)
{
    if (kith__reserve(&o->at, &o->capacity, o->count + 1, sizeof *o->at))
        return NULL;
    outcome *added = &o->at[o->count++];
    *added = (outcome){.key = key, .kind = kind, .facts = facts};
    for (int m = 0; m < METRICS; m++)
        added->value[m] = NAN;
    return added;
}

kith_status outcomes_add_rank(outcomes *o, uint64_t key, double rank, int kind, int facts,
                              kith_error *error)
{
    outcome *to = append(o, key, kind, facts);

    if (!to)
        return kith__no_memory(error);
    to->value[METRIC_MR] = rank;
    to->value[METRIC_MRR] = 1 / rank;
    to->value[METRIC_HITS1] = rank <= 1;
    to->value[METRIC_HITS3] = rank <= 3;
    to->value[METRIC_HITS10] = rank <= 10;
    return KITH_OK;
}

kith_status outcomes_add_verdict(outcomes *o, uint64_t key, bool correct, int kind, int facts,
                                 kith_error *error)
{
    outcome *to = append(o, key, kind, facts);

    if (!to)
        return kith__no_memory(error);
    to->value[METRIC_ACCURACY] = correct;
    return KITH_OK;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const outcome *)a)->key, y = ((const outcome *)b)->key;
    return (x > y) - (x < y);
}

void outcomes_sort(outcomes *o)
{
    if (o->count > 0)
        qsort(o->at, o->count, sizeof *o->at, by_key);
}

void outcomes_release(outcomes *o)
{
    kith__free(o->at);
    *o = (outcomes){0};
}

kith_status outcomes_of_eval(outcomes *o, const kith_eval *result, const kith_graph *graph,
                             kith_error *error)
{
    kith_status status = KITH_OK;

    *o = (outcomes){0};
    for (size_t i = 0; status == KITH_OK && i < result->rank_count; i++) {
        const kith_rank *r = result->ranks[i];
        const char *hidden = r->subject_hidden ? "subject" : "object";
        uint64_t key = outcome_key(kith_graph_entity_name(graph, r->fact.subject),
                                   kith_graph_relation_name(graph, r->fact.relation),
                                   kith_graph_entity_name(graph, r->fact.object),
                                   result->classification ? "" : hidden);
        status = result->classification
                     ? outcomes_add_verdict(o, key, r->correct, r->kind, r->facts, error)
                     : outcomes_add_rank(o, key, r->realistic, r->kind, r->facts, error);
    }
    outcomes_sort(o);
    return status;
}

/* ---- files of ranks ---- */

enum { COLUMNS = 16 };

static size_t cut_at_tabs(char *line, char *fields[COLUMNS])
{
    size_t count = 0;

    line[strcspn(line, "\n")] = '\0'; /* a name may contain a carriage return */
    while (line && count < COLUMNS) {
        fields[count++] = line;
        line = strchr(line, '\t');
        if (line)
            *line++ = '\0';
    }
    return count;
}

static int column_of(char *const *names, size_t count, const char *wanted)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], wanted) == 0)
            return (int)i;
    return -1;
}

/* The columns that are needed, of a table of ranks or of classified facts. */
typedef struct rank_columns {
    int subject, relation, object, hidden, realistic, correct; /* -1: missing */
    size_t count;
} rank_columns;

static kith_status read_header(rank_columns *c, char *const *names, size_t count, const char *path,
                               kith_error *error)
{
    *c = (rank_columns){column_of(names, count, "subject"),
                        column_of(names, count, "relation"),
                        column_of(names, count, "object"),
                        column_of(names, count, "hidden"),
                        column_of(names, count, "realistic"),
                        column_of(names, count, "correct"),
                        count};
    const char *missing = c->subject < 0                       ? "subject"
                          : c->relation < 0                    ? "relation"
                          : c->object < 0                      ? "object"
                          : c->correct < 0 && c->hidden < 0    ? "hidden"
                          : c->correct < 0 && c->realistic < 0 ? "realistic"
                                                               : NULL;

    return missing ? kith__fail(error, KITH_ERR_INPUT, "%s: line 1: found no column '%s'", path,
                                missing)
                   : KITH_OK;
}

/* Adds a row; false if its number is wrong. */
static bool read_row(kith_status *status, outcomes *o, char *const *f, size_t count,
                     const rank_columns *c, kith_error *error)
{
    bool verdict = c->correct >= 0;
    char *end;

    if (count != c->count)
        return false;
    uint64_t key =
        outcome_key(f[c->subject], f[c->relation], f[c->object], verdict ? "" : f[c->hidden]);
    double value = strtod(f[verdict ? c->correct : c->realistic], &end);
    if (*end || !(verdict ? value == 0 || value == 1 : value >= 1))
        return false;
    *status = verdict ? outcomes_add_verdict(o, key, value == 1, -1, -1, error)
                      : outcomes_add_rank(o, key, value, -1, -1, error);
    return true;
}

static kith_status read_rows(outcomes *o, FILE *in, const char *path, kith_error *error)
{
    char *line = NULL, *f[COLUMNS];
    size_t capacity = 0, number = 0;
    rank_columns columns = {0};
    kith_status status = KITH_OK;

    while (status == KITH_OK && getline(&line, &capacity, in) > 0) {
        size_t count = cut_at_tabs(line, f);
        if (number++ == 0)
            status = read_header(&columns, f, count, path, error);
        else if (!read_row(&status, o, f, count, &columns, error))
            status =
                kith__fail(error, KITH_ERR_INPUT, "%s: line %zu: expected %zu columns with a rank",
                           path, number, columns.count);
    }
    free(line);
    return status;
}

kith_status outcomes_read(outcomes *o, const char *path, kith_error *error)
{
    FILE *in = kith__regular_open(path, false);

    *o = (outcomes){0};
    if (!in)
        return kith__fail(error, KITH_ERR_IO, "%s: cannot read: %m", path);
    kith_status status = read_rows(o, in, path, error);
    fclose(in);
    if (status != KITH_OK)
        outcomes_release(o);
    outcomes_sort(o);
    return status;
}

/* ---- the same queries ---- */

static const outcome *find(const outcomes *o, uint64_t key)
{
    const outcome wanted = {.key = key};
    return o->count ? bsearch(&wanted, o->at, o->count, sizeof *o->at, by_key) : NULL;
}

static bool in_all(const outcomes *of, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i++)
        if (!find(&of[i], key))
            return false;
    return true;
}

size_t outcomes_intersect(outcomes *of, size_t count)
{
    size_t kept = 0;

    if (count == 0)
        return 0;
    for (size_t i = 0; i < of[0].count; i++)
        if (in_all(of + 1, count - 1, of[0].at[i].key))
            of[0].at[kept++] = of[0].at[i];
    of[0].count = kept;
    for (size_t k = 1; k < count; k++) {
        size_t stay = 0;
        for (size_t i = 0; i < of[k].count; i++) {
            const outcome *first = find(&of[0], of[k].at[i].key);
            if (!first)
                continue;
            of[k].at[stay] = of[k].at[i];
            of[k].at[stay].kind = first->kind;
            of[k].at[stay++].facts = first->facts;
        }
        of[k].count = stay;
    }
    return kept;
}

kith_status outcomes_average(outcomes *mean, const outcomes *of, size_t count, kith_error *error)
{
    *mean = (outcomes){0};
    for (size_t i = 0; count > 0 && i < of[0].count; i++) {
        if (!in_all(of + 1, count - 1, of[0].at[i].key))
            continue;
        outcome *to = append(mean, 0, 0, 0);
        if (!to) {
            outcomes_release(mean);
            return kith__no_memory(error);
        }
        *to = of[0].at[i];
        for (size_t k = 1; k < count; k++)
            for (int m = 0; m < METRICS; m++)
                to->value[m] += find(&of[k], to->key)->value[m];
        for (int m = 0; m < METRICS; m++)
            to->value[m] /= (double)count;
    }
    return KITH_OK; /* they are in the order of the first list, which is sorted */
}

/* ---- statistics ---- */

static bool belongs(const outcome *o, grouping by, int group)
{
    return by == GROUP_ALL || (by == GROUP_KIND ? o->kind : o->facts) == group;
}

/* Mean and variance in one pass (Welford), without cancellation. */
typedef struct moments {
    size_t count;
    double mean, squares;
} moments;

static void add_value(moments *m, double value)
{
    double off = value - m->mean;

    m->count++;
    m->mean += off / (double)m->count;
    m->squares += off * (value - m->mean);
}

static estimate estimate_of(const moments *m)
{
    double n = (double)m->count;
    return (estimate){m->count, m->count > 0 ? m->mean : NAN,
                      m->count > 1 ? sqrt(m->squares / (n - 1) / n) : NAN};
}

estimate outcomes_estimate(const outcomes *o, metric m, grouping by, int group)
{
    moments sum = {0};

    for (size_t i = 0; i < o->count; i++)
        if (belongs(&o->at[i], by, group))
            add_value(&sum, o->at[i].value[m]);
    return estimate_of(&sum);
}

estimate outcomes_difference(const outcomes *a, const outcomes *b, metric m, grouping by, int group)
{
    moments sum = {0};

    for (size_t i = 0; i < a->count; i++) {
        const outcome *other = belongs(&a->at[i], by, group) ? find(b, a->at[i].key) : NULL;
        if (other)
            add_value(&sum, other->value[m] - a->at[i].value[m]);
    }
    return estimate_of(&sum);
}

int significance(const estimate *d)
{
    if (!(d->error >= 0) || d->mean == 0)
        return 0;
    double errors = d->error > 0 ? fabs(d->mean) / d->error : INFINITY;
    return errors >= 3 ? 3 : errors >= 2 ? 2 : 0;
}
