/* Newcomers whose answers are known: entities described by 10 to 90 % of their facts
 * (graph/make/descriptions.h), each in a session of its own and queried as by a user. Overall
 * probabilities are fitted and measured on these. */
#ifndef KITH_EVAL_NEWCOMERS_H
#define KITH_EVAL_NEWCOMERS_H

#include "graph/make/descriptions.h"
#include "session/answer.h"

typedef struct kith__newcomers {
    kith_model *model;
    /* the same model over train only: support facts about a newcomer, including hidden ones, must
     * not count as facts of another entity */
    kith_model *apart;
    const kith__descriptions *described;
    size_t count;
} kith__newcomers;

/* Made from the model's graph; `described` must outlive them. */
kith_status kith__newcomers_init(kith__newcomers *newcomers, kith_model *model,
                                 const kith__descriptions *described, kith_error *error);
void kith__newcomers_release(kith__newcomers *newcomers);
/* Whether a fact with this answer was hidden: then the answer is correct. */
bool kith__newcomer_hides(const kith__newcomers *newcomers, size_t newcomer, uint32_t query,
                          uint32_t answer);
/* Whether any answer to a query was hidden. */
bool kith__newcomer_hides_any(const kith__newcomers *newcomers, size_t newcomer, uint32_t query);

/* A question about a newcomer, with the scores of all seen entities. It is the only new entity of
 * its session, so these are all candidates but itself. */
typedef struct kith__newcomer_question {
    size_t newcomer;
    uint32_t query;
    kith__scored_query row;
    kith__workspace *workspace;
} kith__newcomer_question;
/* Called for the questions of one newcomer in sequence on one thread, but for different newcomers
 * concurrently. */
typedef kith_status (*kith__newcomer_call)(void *context, const kith__newcomer_question *question,
                                           kith_error *error);
/* Ask all questions that S ? ? and ? ? S consider: for each side the 64 relations that it most
 * likely has, and of these only those with a P(has r) of at least `least_has`. `watch` may be
 * NULL. */
kith_status kith__newcomers_ask(const kith__newcomers *newcomers, double least_has,
                                kith__watch *watch, kith__newcomer_call call, void *context,
                                kith_error *error);

#endif
