/* What the score of an answer is made of. */
#ifndef KITH_SESSION_CONTRIBUTIONS_H
#define KITH_SESSION_CONTRIBUTIONS_H

#include "session/answer.h"

/* Take apart the final scores of the first `compared` answers of an explanation whose neighbours are
 * known. The workspace must hold what scoring the question left in it. */
kith_status kith__find_contributions(kith_explanation *explanation, kith_session *session,
                                     kith__workspace *workspace, const kith__query_entity *asked,
                                     uint32_t query, const float *scores, kith_error *error);
void kith__contributions_free(kith_contributions *contributions, size_t count);

#endif
