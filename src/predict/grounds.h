/* What the score of an answer is made of. */
#ifndef KITH_PREDICT_GROUNDS_H
#define KITH_PREDICT_GROUNDS_H

#include "predict/answer.h"

/* Take apart the scores of the first `compared` answers of an explanation whose neighbours are known.
 * The asker's encoder must hold the asked entity. */
kith_status kith__find_grounds(kith_explanation *explanation, kith_session *session,
                               kith__asker *asker, const kith__asked *asked, uint32_t query,
                               kith_error *error);
void kith__grounds_free(kith_grounds *grounds, size_t count);

#endif
