#include "train/fit_overall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "eval/newcomers.h"
#include "nn/logistic.h"
#include "train/holdout.h"

/* Answers below `least_likely` are not used; the first step extrapolates to them. */
enum { BEST = 10 };
static const double least_likely = .0005, least_has = .005;

/* ---- examples ---- */

typedef struct {
    kith__overall_example *at;
    size_t count, capacity;
} example_list;

typedef struct {
    const kith__newcomers *newcomers;
    example_list *lists; /* per newcomer */
} collecting;

/* Append the likeliest answers to a list of the BEST by score, each once. */
static kith_status add_likeliest(uint32_t best[2 * BEST], size_t *count, kith__workspace *a,
                                 const kith__scored_query *row, kith_error *error)
{
    size_t found, before = *count;
    kith_status status;

    TRY(kith__likeliest(&found, a, row, BEST, false, error));
    for (size_t i = 0; i < found; i++) {
        size_t at = 0;
        while (at < before && best[at] != a->best[i])
            at++;
        if (at == before)
            best[(*count)++] = a->best[i];
    }
cleanup:
    return status;
}

static kith_status collect(void *context, const kith__newcomer_question *q, kith_error *error)
{
    collecting *c = context;
    example_list *list = &c->lists[q->newcomer];
    kith__workspace *a = q->workspace;
    const kith__scored_query *row = &q->row;
    uint32_t best[2 * BEST];
    size_t count = kith__best_unknown(best, BEST, row->scores, a->width, row->shares->known);
    bool answered = kith__newcomer_hides_any(c->newcomers, q->newcomer, q->query);
    kith_status status;

    TRY(add_likeliest(best, &count, a, row, error));
    if (kith__reserve(&list->at, &list->capacity, list->count + count, sizeof *list->at))
        TRY(kith__no_memory(error));
    for (size_t i = 0; i < count; i++) {
        kith__chance chance = kith__chance_of(a, row, best[i]);
        if (!(chance.has * chance.if_one >= least_likely))
            continue;
        kith__overall_example *e = &list->at[list->count++];
        kith__overall_inputs(e->inputs, row->shares, chance);
        e->description = (uint32_t)q->newcomer;
        e->query = q->query;
        e->answered = answered;
        e->entity = (uint32_t)(q->newcomer % c->newcomers->described->distinct);
        e->right = kith__newcomer_hides(c->newcomers, q->newcomer, q->query, best[i]);
    }
cleanup:
    return status;
}

static kith_status join(kith__overall_example **all, size_t *total, const collecting *c,
                        kith_error *error)
{
    *total = 0;
    for (size_t i = 0; i < c->newcomers->count; i++)
        *total += c->lists[i].count;
    if (!(*all = kith__alloc(*total, sizeof **all)))
        return kith__no_memory(error);
    kith__overall_example *to = *all;
    for (size_t i = 0; i < c->newcomers->count; i++) {
        if (c->lists[i].count > 0)
            memcpy(to, c->lists[i].at, c->lists[i].count * sizeof *to);
        to += c->lists[i].count;
    }
    return KITH_OK;
}

/* ---- the first step ---- */

static const double as_is[KITH__OVERALL_INPUTS] = {0, 1, 0, 0, 0, 1};

/* Answers about one entity are similar to each other, so with few entities the weights are
 * regularised more strongly towards the plain product. The last one is hardly regularised: in a
 * small graph too, many candidates have their only possible fact. */
static void fit_weights(kith__overall *o, const kith__sample *samples, size_t count, double fix)
{
    double usual = 20 + 2000. / o->entities;
    double strength[KITH__OVERALL_INPUTS] = {4, usual, usual + fix, usual, usual, 5 + fix};

    memcpy(o->weight, as_is, sizeof as_is);
    kith__logistic_fit(o->weight, KITH__OVERALL_INPUTS, strength, samples, count);
}

static kith_status fit_first(kith__overall *o, const kith__overall_example *examples, size_t count,
                             kith_error *error)
{
    kith__sample *samples = kith__calloc(count, sizeof *samples);

    if (!samples)
        return kith__no_memory(error);
    for (size_t i = 0; i < count; i++) {
        memcpy(samples[i].x, examples[i].inputs, sizeof examples[i].inputs);
        samples[i].truth = examples[i].right;
    }
    fit_weights(o, samples, count, 0);
    if (!kith__overall_is_monotone(o))
        fit_weights(o, samples, count, 1e9);
    if (!kith__overall_is_monotone(o))
        memcpy(o->weight, as_is, sizeof as_is);
    kith__free(samples);
    return KITH_OK;
}

/* ---- the second step ---- */

/* Groups have GROUP answers at the top and more below, where many answers have little influence.
 * The second step needs FEWEST correct and FEWEST wrong answers, from at least FEWEST_FOR_STEPS
 * entities. */
enum { GROUP = 40, FEWEST = 60, FEWEST_FOR_STEPS = 100 };
static const double growth = 1.15, towards_first = 2;
/* `S ? ?` shows the ten best pairs of an entity, so these have a higher weight. They are correct
 * less often than other answers with the same score, which rank behind ten more likely ones. */
static const double weight_of_shown = 5;

/* Weighted sums over the answers of one group. */
typedef struct {
    double weight, score, right, first; /* first: probabilities by the first step */
    size_t begin, end;
} group;

typedef struct {
    double score, weight;
    uint32_t entity;
    bool right;
} scored;

/* Give the best answers of a description, and those that tie with the last of them, the weight of
 * shown ones. */
static void weigh_shown(scored *answers, size_t count)
{
    double best[BEST] = {0};
    size_t listed = 0;

    for (size_t i = 0; i < count; i++) {
        double score = answers[i].score;
        if (listed == BEST && score <= best[BEST - 1])
            continue;
        size_t at = listed < BEST ? listed++ : BEST - 1;
        for (; at > 0 && best[at - 1] < score; at--)
            best[at] = best[at - 1];
        best[at] = score;
    }
    for (size_t i = 0; i < count; i++)
        answers[i].weight = answers[i].score >= best[listed - 1] ? weight_of_shown : 1;
}

static int by_score(const void *a, const void *b)
{
    const scored *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    if (x->entity != y->entity)
        return x->entity < y->entity ? -1 : 1;
    if (x->right != y->right)
        return x->right - y->right;
    return x->weight < y->weight ? -1 : x->weight > y->weight;
}

static group sum_group(const scored *answers, size_t begin, size_t end)
{
    group g = {.begin = begin, .end = end};

    for (size_t i = begin; i < end; i++) {
        double weight = answers[i].weight;
        g.weight += weight;
        g.score += weight * answers[i].score;
        g.right += weight * answers[i].right;
        g.first += weight * kith__sigmoid(answers[i].score);
    }
    return g;
}

/* Cut answers into groups from the top down; the last group gets the rest. Returns their number. */
static size_t cut_groups(group groups[KITH__MOST_KNOTS], const scored *answers, size_t count)
{
    size_t made = 0, end = count;
    double size = GROUP;

    while (end > 0) {
        size_t taken = made == KITH__MOST_KNOTS - 1 || end < 2 * (size_t)size ? end : (size_t)size;
        while (taken < end && answers[end - taken - 1].score == answers[end - taken].score)
            taken++; /* equal scores stay in the same group */
        groups[made++] = sum_group(answers, end - taken, end);
        end -= taken;
        size *= growth;
    }
    return made;
}

static double share_right(const group *g)
{
    double count = (double)(g->end - g->begin);
    double right = g->right / g->weight, first = g->first / g->weight;

    return (count * right + towards_first * first) / (count + towards_first);
}

/* Pool adjacent violators: merge adjacent groups in the wrong order. */
static size_t pool(group *groups, size_t count)
{
    size_t kept = 0;

    for (size_t i = count; i-- > 0;) { /* from the lowest to the highest score */
        group next = groups[i];
        while (kept > 0 && share_right(&groups[count - kept]) >= share_right(&next)) {
            const group *last = &groups[count - kept];
            next = (group){last->weight + next.weight,
                           last->score + next.score,
                           last->right + next.right,
                           last->first + next.first,
                           last->begin,
                           next.end};
            kept--;
        }
        groups[count - ++kept] = next;
    }
    return kept;
}

static uint32_t count_entities(const scored *answers, const group *g, uint32_t *marks,
                               uint32_t mark)
{
    uint32_t count = 0;

    for (size_t i = g->begin; i < g->end; i++) {
        count += marks[answers[i].entity] != mark;
        marks[answers[i].entity] = mark;
    }
    return count;
}

static void make_knots(kith__overall *o, const scored *answers, size_t count, uint32_t *marks)
{
    group groups[KITH__MOST_KNOTS];
    size_t made = cut_groups(groups, answers, count), kept = pool(groups, made);

    /* The lowest groups are last. */
    for (size_t i = 0; i < kept; i++) {
        const group *g = &groups[made - 1 - i];
        o->knot[i] = (kith__knot){.at = g->score / g->weight,
                                  .probability = fmin(fmax(share_right(g), 1e-6), 1 - 1e-6),
                                  .answers = (uint32_t)(g->end - g->begin),
                                  .entities = count_entities(answers, g, marks, (uint32_t)i + 1)};
    }
    o->knots = kept;
}

static kith_status fit_second(kith__overall *o, const kith__overall_example *examples, size_t count,
                              uint32_t entities, kith_error *error)
{
    scored *answers = kith__alloc(count, sizeof *answers);
    uint32_t *marks = kith__calloc(entities, sizeof *marks);
    size_t right = 0;
    kith_status status = KITH_OK;

    if (!answers || !marks)
        TRY(kith__no_memory(error));
    for (size_t i = 0; i < count; i++) {
        answers[i] = (scored){.score = kith__overall_score(o, examples[i].inputs),
                              .entity = examples[i].entity,
                              .right = examples[i].right};
        right += examples[i].right;
    }
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && examples[to].description == examples[from].description;)
            to++;
        weigh_shown(answers + from, to - from);
    }
    qsort(answers, count, sizeof *answers, by_score);
    if (entities >= FEWEST_FOR_STEPS && right >= FEWEST && count - right >= FEWEST)
        make_knots(o, answers, count, marks);
cleanup:
    kith__free(answers);
    kith__free(marks);
    return status;
}

/* ---- both steps ---- */

kith_status kith__overall_fit_examples(kith__overall *o, const kith__overall_example *examples,
                                       size_t count, uint32_t entities, kith_error *error)
{
    kith_status status = KITH_OK;

    *o = (kith__overall){.fitted = false};
    if (count == 0)
        return KITH_OK;
    o->entities = entities;
    o->answers = (uint32_t)count;
    TRY(fit_first(o, examples, count, error));
    TRY(fit_second(o, examples, count, entities, error));
    o->fitted = true;
cleanup:
    return status;
}

/* Whether fitting did not use these entities (train/holdout.h). */
static bool all_are_apart(const kith__descriptions *described)
{
    for (size_t i = 0; i < described->distinct; i++)
        if (!kith__is_calibration_entity(described->entities[i]))
            return false;
    return true;
}

kith_status kith__overall_fit(kith__overall *overall, kith__probability_tables *tables,
                              kith_model *model, const kith__descriptions *described,
                              kith_error *error)
{
    kith__newcomers newcomers;
    collecting c = {.newcomers = &newcomers};
    kith__overall_example *examples = NULL;
    size_t count = 0;
    kith_status status;

    *overall = (kith__overall){.fitted = false};
    if (tables)
        *tables = (kith__probability_tables){0};
    if (!model->has.fitted || !model->calibration.fitted || !model->fused)
        return KITH_OK;
    status = kith__newcomers_init(&newcomers, model, described, error);
    if (status != KITH_OK)
        return status;
    if (!(c.lists = kith__calloc(newcomers.count, sizeof *c.lists)))
        TRY(kith__no_memory(error));
    TRY(kith__newcomers_ask(&newcomers, least_has, kith__pool_watch(model->pool), collect, &c,
                            error));
    TRY(join(&examples, &count, &c, error));
    TRY(kith__overall_fit_examples(overall, examples, count, (uint32_t)described->distinct, error));
    if (tables && all_are_apart(described))
        TRY(kith__overall_measure(tables, examples, count, (uint32_t)described->distinct, error));
cleanup:
    for (size_t i = 0; c.lists && i < newcomers.count; i++)
        kith__free(c.lists[i].at);
    kith__free(c.lists);
    kith__free(examples);
    kith__newcomers_release(&newcomers);
    return status;
}
