/* Explanations, and the contributions to the score of an answer. */
#ifndef KITH_SESSION_CONTRIBUTIONS_H
#define KITH_SESSION_CONTRIBUTIONS_H

#include "session/answer.h"

/* An explanation under construction: the arrays that kith_explanation lists. */
typedef struct kith__score_parts {
    kith__answers answers;
    uint32_t relation;
    kith_contributions *contributions;
    size_t contribution_count;
    kith_weighing weighing;
    kith_weighted_neighbor *neighbors;
    size_t neighbor_count;
    kith_implication *implications; /* that neighbours point to, two each */
    size_t unread;
    kith_ablation *ablations;
    size_t ablation_count;
    size_t compared;
    kith_rank_change **changes; /* a list, `compared` for each ablation */
} kith__score_parts;

/* Split the final scores of the first `compared` answers of an explanation whose neighbours are
 * known. The workspace must be as scoring the question left it. */
kith_status kith__find_contributions(kith__score_parts *explanation, kith_session *session,
                                     kith__workspace *workspace, const kith__query_entity *queried,
                                     uint32_t query, const float *scores, kith_error *error);
/* Answer and explain a resolved question in a workspace whose candidates are chosen. The caller
 * releases the parts, on failure too (explanations.c). */
kith_status kith__explain(kith__score_parts *explanation, kith_session *session,
                          kith__workspace *workspace, const kith__resolved *resolved,
                          const kith_ask_options *options, kith_error *error);
void kith__contributions_free(kith_contributions *contributions, size_t count);

#endif
