#include "rules/relation_table.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "rules/incidence.h"
#include "rules/mine.h"

/* Type scores ignore hints once the relations used have this many owners in total, so that no table
 * takes too long to build. */
enum { MOST_OWNERS = 1 << 22 };
static const float least_hint = .01f;

size_t kith__relation_table_bytes(const kith__index *x)
{
    return (size_t)x->entities * (2 * sizeof(uint32_t) + 2 * sizeof(float));
}

void kith__relation_table_free(kith__relation_table *t)
{
    if (!t)
        return;
    kith__free(t->answer_first);
    kith__free(t->answered);
    kith__free(t->type_score);
    kith__free(t->type_score_all);
    kith__free(t->hints);
    kith__free(t);
}

static void count_answers(kith__relation_table *t, const kith__index *x)
{
    for (uint32_t e = x->seen; t->unseen && e < x->entities; e++)
        t->answered[e] = (uint32_t)kith__reached(x, e, kith__inverse(x, t->relation)).count;
    for (uint64_t i = x->owner_offset[t->relation]; i < x->owner_offset[t->relation + 1]; i++) {
        uint32_t s = x->owner[i];
        kith__span answers = kith__reached(x, s, t->relation);
        t->answer_first[s] = (uint32_t)(answers.at - (x->at + x->offset[s])) + 1;
        for (size_t k = 0; k < answers.count; k++)
            t->answered[answers.at[k].entity]++;
    }
}

/* Count, for each other relation, how many of the answers have it. */
static void count_relations(kith__tally *tally, const kith__index *x, uint32_t answering)
{
    for (uint64_t i = x->owner_offset[answering]; i < x->owner_offset[answering + 1]; i++) {
        kith__span facts = kith__facts_of(x, x->owner[i]);
        for (size_t k = 0; k < facts.count; k++) {
            uint32_t r = facts.at[k].relation;
            if (r == answering || (k > 0 && facts.at[k - 1].relation == r))
                continue;
            if (tally->count[r]++ == 0)
                tally->met[tally->met_count++] = r;
        }
    }
}

static float adds_to_all(float confidence)
{
    return -logf(1 - (confidence < .999f ? confidence : .999f));
}

/* Raise the scores of all seen entities that have a relation. */
static void score_owners(kith__relation_table *t, const kith__index *x, kith__type_hint hint)
{
    float best = logf(1 + 100 * hint.confidence), adds = adds_to_all(hint.confidence);

    for (uint64_t i = x->owner_offset[hint.relation]; i < x->owner_offset[hint.relation + 1]; i++) {
        uint32_t e = x->owner[i];
        if (best > t->type_score[e])
            t->type_score[e] = best;
        t->type_score_all[e] += adds;
    }
}

static int by_relation(const void *a, const void *b)
{
    const kith__type_hint *x = a, *y = b;
    return x->relation < y->relation ? -1 : x->relation > y->relation;
}

static uint64_t owners_of(const kith__index *x, uint32_t relation)
{
    return x ? x->owner_offset[relation + 1] - x->owner_offset[relation] : 0;
}

static void add_hints(kith__relation_table *t, const kith__index *x, const kith__index *learned,
                      const kith__tally *tally)
{
    size_t owners_in_all = 0;

    for (uint32_t i = 0; i < tally->met_count; i++) {
        uint32_t r = tally->met[i];
        uint64_t owners = owners_of(x, r), all = owners + owners_of(learned, r);
        kith__type_hint hint = {r, kith__shrunk(tally->count[r], (double)all)};
        if (hint.confidence < least_hint || (owners_in_all += (size_t)owners) > MOST_OWNERS)
            continue;
        score_owners(t, x, hint);
        t->hints[t->hint_count++] = hint;
    }
    if (t->hint_count > 1)
        qsort(t->hints, t->hint_count, sizeof *t->hints, by_relation);
}

static void score_types(kith__relation_table *t, const kith__index *x, const kith__index *learned,
                        const kith__tally *tally)
{
    add_hints(t, x, learned, tally);
    for (uint32_t e = 0; e < x->seen; e++)
        if (t->type_score_all[e] > 0)
            t->type_score_all[e] = logf(1 + t->type_score_all[e]);
    for (uint32_t e = x->seen; t->unseen && e < x->entities; e++)
        kith__type_scores(&t->type_score[e], &t->type_score_all[e], t, kith__facts_of(x, e),
                          (kith__span){NULL, 0});
}

static float hint_of(const kith__relation_table *t, uint32_t relation)
{
    size_t low = 0, high = t->hint_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->hints[middle].relation < relation)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->hint_count && t->hints[low].relation == relation ? t->hints[low].confidence : 0;
}

/* Each relation of the facts counts once, and is skipped if `counted` has it too. */
static void add_scores(float *best, float *sum, const kith__relation_table *t, kith__span facts,
                       kith__span counted)
{
    for (size_t k = 0; k < facts.count; k++) {
        uint32_t r = facts.at[k].relation;
        if (k > 0 && facts.at[k - 1].relation == r)
            continue;
        float confidence = hint_of(t, r);
        if (confidence == 0 || kith__span_of(counted, r).count > 0)
            continue;
        *best = fmaxf(*best, logf(1 + 100 * confidence));
        *sum += adds_to_all(confidence);
    }
}

void kith__type_scores(float *best, float *all, const kith__relation_table *t, kith__span facts,
                       kith__span other)
{
    *best = *all = 0;
    add_scores(best, all, t, facts, (kith__span){NULL, 0});
    add_scores(best, all, t, other, facts);
    if (*all > 0)
        *all = logf(1 + *all);
}

kith__relation_table *kith__relation_table_new(const kith__index *x, const kith__index *learned,
                                               uint32_t relation, bool unseen)
{
    kith__relation_table *t = kith__calloc(1, sizeof *t);
    kith__tally tally = {0};

    if (!t)
        return NULL;
    t->relation = relation;
    t->unseen = unseen;
    t->answer_first = kith__calloc(x->entities, sizeof *t->answer_first);
    t->answered = kith__calloc(x->entities, sizeof *t->answered);
    t->type_score = kith__calloc(x->entities, sizeof *t->type_score);
    t->type_score_all = kith__calloc(x->entities, sizeof *t->type_score_all);
    bool failed = !t->answer_first || !t->answered || !t->type_score || !t->type_score_all ||
                  kith__tally_init(&tally, x->relations);
    if (!failed) {
        count_relations(&tally, x, kith__inverse(x, relation));
        if (learned)
            count_relations(&tally, learned, kith__inverse(x, relation));
        t->hints = kith__alloc(tally.met_count, sizeof *t->hints);
        failed = !t->hints;
    }
    if (!failed) {
        count_answers(t, x);
        score_types(t, x, learned, &tally);
    }
    kith__tally_release(&tally);
    if (!failed)
        return t;
    kith__relation_table_free(t);
    return NULL;
}
