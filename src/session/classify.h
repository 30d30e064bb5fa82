/* Facts by the run's own classifier, which was fitted on labels. */
#ifndef KITH_SESSION_CLASSIFY_H
#define KITH_SESSION_CLASSIFY_H

#include "session/answer.h"

/* Put the classifier's probability and verdict in the place of those by rank. The fact is given in ids
 * of the graph or the session; it is hidden where it is known. The workspace's facts and candidates are
 * others afterwards. */
kith_status kith__classify_fact(kith_verdict *verdict, kith_session *session,
                                kith__workspace *workspace, kith_triple fact, kith_error *error);

#endif
