/* Which entities of a graph are candidates when many queries are scored at once: for ranking a
 * split, and for fitting weights on held-out entities.
 *
 * To fit weights for unseen candidates too, make the set of the held-out graph with
 * KITH_ANSWERS_ALL, over evidence with aux (kith__evidence_new), and give it to
 * kith__fusion_sweep. In the callback,
 *   - f->scores has `width` scores by id, NAN for entities that are not candidates, such as an
 *     unseen entity that the query is about;
 *   - kith__fusion_features gives the features of any candidate; those of unseen candidates lack
 *     the embedding and are weighted by kith__weights.unseen;
 *   - a query may hide an unseen entity: kith__is_candidate says whether it is a candidate. */
#ifndef KITH_MODEL_ANSWER_SET_H
#define KITH_MODEL_ANSWER_SET_H

#include "model/model.h"

typedef struct kith__answer_set {
    size_t candidates; /* the entities 0 .. candidates - 1 are scored with all evidence */
    size_t width;      /* scores are by id, for ids below this */
    uint32_t *unseen;  /* in addition to them, or instead; ascending */
    size_t unseen_count;
    bool only;         /* `unseen` replaces the other candidates */
    uint8_t *excluded; /* per id below `width`: 1 if it is not a candidate; NULL: all are */
} kith__answer_set;

/* The entities 0 .. count - 1. Needs no release. */
static inline kith__answer_set kith__answers_below(size_t count)
{
    return (kith__answer_set){.candidates = count, .width = count};
}

/* The candidates of a model's graph: the model's candidates, unseen entities with a fact of the
 * evidence, or both. If facts of unseen entities do not count (kith__model_knows_unseen), all
 * entities are scored in the same way, by their encodings. */
kith_status kith__answer_set_init(kith__answer_set *set, const kith_model *model,
                                  const kith__evidence *evidence, kith_candidate_set which,
                                  kith_error *error);
void kith__answer_set_release(kith__answer_set *set);

static inline bool kith__is_candidate(const kith__answer_set *set, uint32_t entity)
{
    return entity < set->width && !(set->excluded && set->excluded[entity]);
}

#endif
