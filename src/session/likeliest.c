/* Probabilities of the candidates of a query, and the order in which answers are listed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "nn/topk.h"
#include "session/answer.h"

/* Candidates are grouped by the number of facts in which they already are the answer. Within a
 * group the higher score is likelier. */
enum { GROUPS = KITH__MOST_COUNTED + 1, NOT_LISTED = GROUPS };

/* ---- groups ---- */

static uint8_t capped(size_t facts)
{
    return (uint8_t)(facts < KITH__MOST_COUNTED ? facts : KITH__MOST_COUNTED);
}

/* A fact with the entity of the query is not counted: it is the known answer itself, or hidden. */
static uint8_t group_of(const kith__workspace *a, const kith__scored_query *row, uint32_t candidate)
{
    if (!a->fusion)
        return 0;
    const kith__evidence_query *e = &a->fusion->evidence_query;
    size_t facts = kith__evidence_answered(e, candidate);
    kith__spans own =
        kith__view_reached(&e->view, candidate, kith__inverse(e->view.base, row->query));
    return capped(facts - (facts > 0 && kith__spans_has(&own, row->entity)));
}

static kith_status find_groups(kith__workspace *a, const kith__scored_query *row, bool known_too,
                               kith_error *error)
{
    if (kith__renew(&a->groups, &a->group_capacity, a->width, sizeof *a->groups))
        return kith__no_memory(error);
    memset(a->groups, 0, a->width);
    if (a->fusion) {
        const kith__evidence_query *e = &a->fusion->evidence_query;
        const kith__overlay *added = e->view.added;
        size_t count = a->width < e->view.base->entities ? a->width : e->view.base->entities;
        for (size_t c = 0; c < count; c++)
            a->groups[c] = capped(e->table->answered[c]);
        for (size_t i = 0; added && i < added->slots.count; i++)
            if (added->touched[i].entity < a->width)
                a->groups[added->touched[i].entity] = group_of(a, row, added->touched[i].entity);
    }
    for (size_t i = 0; i < row->shares->known.count; i++) {
        uint32_t c = row->shares->known.at[i].entity;
        if (c < a->width)
            a->groups[c] = known_too ? group_of(a, row, c) : NOT_LISTED;
    }
    return KITH_OK;
}

/* ---- probabilities ---- */

static bool has_probabilities(const kith__workspace *a, const kith__scored_query *row)
{
    return a->model->calibration.fitted && !isnan(row->chances.has);
}

static kith__chance chance_in(const kith__workspace *a, const kith__scored_query *row, float score,
                              uint8_t group)
{
    return (kith__chance){row->chances.has,
                          kith__probability(&a->model->calibration, row->shares, score),
                          row->chances.again[group]};
}

kith__chance kith__chance_of(const kith__workspace *a, const kith__scored_query *row,
                             uint32_t candidate)
{
    return chance_in(a, row, row->scores[candidate], group_of(a, row, candidate));
}

kith__probabilities kith__probabilities_of(const kith__workspace *a, const kith__scored_query *row,
                                           uint32_t candidate)
{
    const kith__overall *overall = &a->model->overall;
    kith__chance chance = kith__chance_of(a, row, candidate);
    kith__probabilities p = {.overall = kith__overall_probability(overall, row->shares, chance),
                             .has = chance.has,
                             .if_any = chance.if_one,
                             .if_one = chance.if_one};

    kith__overall_interval(&p.low, &p.high, overall, row->shares, chance);
    if (!isnan(p.overall))
        p.has = kith__overall_has(&p.if_any, p.has, p.overall);
    return p;
}

/* ---- order ---- */

typedef struct {
    double probability; /* 0 if the model has none: then only scores count */
    float score;
    uint32_t entity;
} listed;

static int likelier_first(const void *a, const void *b)
{
    const listed *x = a, *y = b;

    if (x->probability != y->probability)
        return x->probability > y->probability ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->entity > y->entity) - (x->entity < y->entity);
}

static listed listed_in(const kith__workspace *a, const kith__scored_query *row, uint32_t candidate,
                        uint8_t group)
{
    float score = row->scores[candidate];
    double p = 0;

    if (has_probabilities(a, row))
        p = kith__overall_probability(&a->model->overall, row->shares,
                                      chance_in(a, row, score, group));
    return (listed){p, score, candidate};
}

/* The best of each group by score; returns their number. `ids` has room for `most` per group, or
 * for all of a smaller group. */
static size_t best_by_group(listed *to, uint32_t *ids, const kith__workspace *a,
                            const kith__scored_query *row, const size_t sizes[GROUPS])
{
    kith__topk best[GROUPS];
    size_t count = 0;

    for (int g = 0; g < GROUPS; ids += sizes[g], g++)
        best[g] = kith__topk_begin(ids, sizes[g], row->scores);
    for (size_t c = 0; c < a->width; c++)
        if (a->groups[c] != NOT_LISTED)
            kith__topk_offer(&best[a->groups[c]], (uint32_t)c);
    for (int g = 0; g < GROUPS; g++)
        for (size_t i = 0; i < best[g].count; i++)
            to[count++] = listed_in(a, row, best[g].ids[i], (uint8_t)g);
    return count;
}

kith_status kith__likeliest(size_t *count, kith__workspace *a, const kith__scored_query *row,
                            size_t most, bool known_too, kith_error *error)
{
    size_t sizes[GROUPS + 1] = {0}, total = 0;
    listed *found = NULL;
    kith_status status;

    TRY(find_groups(a, row, known_too, error));
    for (size_t c = 0; c < a->width; c++)
        sizes[a->groups[c]]++;
    for (int g = 0; g < GROUPS; g++)
        total += sizes[g] = sizes[g] < most ? sizes[g] : most;
    if (kith__reserve(&a->best, &a->best_capacity, total, sizeof *a->best) ||
        !(found = kith__alloc(total, sizeof *found)))
        TRY(kith__no_memory(error));
    total = best_by_group(found, a->best, a, row, sizes);
    qsort(found, total, sizeof *found, likelier_first);
    *count = total < most ? total : most;
    for (size_t i = 0; i < *count; i++)
        a->best[i] = found[i].entity;
cleanup:
    kith__free(found);
    return status;
}

/* ---- ranks ---- */

/* Scores of a group from `before` on rank before a candidate, those up to `after` behind it. */
typedef struct {
    float before, after;
} bounds;

/* Most candidates are decided by their scores and what is known about others of their group. */
static bool ranks_before(bounds *b, const kith__workspace *a, const kith__scored_query *row,
                         uint32_t c, const listed *than)
{
    float score = row->scores[c];

    if (score >= b->before)
        return true;
    if (score <= b->after || isnan(score))
        return false;
    listed other = {than->probability, score, c}; /* equal scores of a group are equally likely */
    if (score != than->score || a->groups[c] != a->groups[than->entity])
        other = listed_in(a, row, c, a->groups[c]);
    bool before = likelier_first(&other, than) < 0;
    bool tied = other.probability == than->probability && score == than->score;
    if (before && !tied)
        b->before = score;
    else if (!tied)
        b->after = score;
    return before;
}

kith_status kith__rank_listed(size_t *rank, kith__workspace *a, const kith__scored_query *row,
                              uint32_t candidate, kith_error *error)
{
    bounds in[GROUPS];
    kith_status status = find_groups(a, row, false, error);

    if (status != KITH_OK)
        return status;
    a->groups[candidate] = group_of(a, row, candidate);
    listed than = listed_in(a, row, candidate, a->groups[candidate]);
    for (int g = 0; g < GROUPS; g++)
        in[g] = (bounds){INFINITY, -INFINITY};
    *rank = 1;
    for (size_t c = 0; c < a->width; c++)
        if (a->groups[c] != NOT_LISTED && c != candidate)
            *rank += ranks_before(&in[a->groups[c]], a, row, (uint32_t)c, &than);
    return KITH_OK;
}
