/* Verdicts by the run's own classifier, which was fitted on labels. */
#ifndef KITH_SESSION_CLASSIFY_H
#define KITH_SESSION_CLASSIFY_H

#include "session/answer.h"

/* Replace probability and verdict by those of the classifier. The fact is given in ids of the graph
 * or the session; it is hidden if it is known. Changes the workspace's facts and candidates. */
kith_status kith__classify_fact(kith_verdict *verdict, kith_session *session,
                                kith__workspace *workspace, kith_triple fact, kith_error *error);

#endif
