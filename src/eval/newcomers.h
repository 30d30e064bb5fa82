/* Newcomers whose facts are known: entities that a random share of their facts describes
 * (graph/make/descriptions.h), each in a session of its own, and asked about as a user would. Overall
 * probabilities are fitted on these, and measured by them. */
#ifndef KITH_EVAL_NEWCOMERS_H
#define KITH_EVAL_NEWCOMERS_H

#include "graph/make/descriptions.h"
#include "session/answer.h"

typedef struct kith__newcomers {
    kith_model *model;
    kith_model *apart; /* the same over train alone: what support facts say about a newcomer, also
                          those that are hidden, must not count as another entity's */
    const kith__descriptions *described;
    size_t count;
} kith__newcomers;

/* Of the model's graph; `described` has to outlive them. */
kith_status kith__newcomers_init(kith__newcomers *newcomers, kith_model *model,
                                 const kith__descriptions *described, kith_error *error);
void kith__newcomers_release(kith__newcomers *newcomers);
/* Whether a fact with this answer was hidden: such an answer is right. */
bool kith__newcomer_hides(const kith__newcomers *newcomers, size_t newcomer, uint32_t query,
                          uint32_t answer);

/* A question about a newcomer, with the scores of all seen entities. */
typedef struct kith__newcomer_question {
    size_t newcomer;
    uint32_t query;
    double has; /* P(has r) */
    kith__workspace *workspace; /* scores and shares are in row 0 */
} kith__newcomer_question;
/* Called for the questions of one newcomer after the other on one thread, but for those of different
 * newcomers at once. */
typedef kith_status (*kith__newcomer_call)(void *context, const kith__newcomer_question *question,
                                           kith_error *error);
/* Ask all that S ? ? and ? ? S look at: of each side the 64 relations that it likeliest has, and of these
 * only those with a P(has r) of `least_has` or more. `watch` may be NULL. */
kith_status kith__newcomers_ask(const kith__newcomers *newcomers, double least_has,
                                kith__watch *watch, kith__newcomer_call call, void *context,
                                kith_error *error);

#endif
