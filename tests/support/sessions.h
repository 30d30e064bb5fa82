/* Sessions on small models: facts and questions in a word. */
#ifndef KITH_TESTS_SESSIONS_H
#define KITH_TESTS_SESSIONS_H

#include "support.h"

kith_settings settings_with(const char *aggregator);
kith_graph *graph_with_unseen(uint64_t seed);
kith_session *session_of(kith_model *model);
kith_fact_use say(kith_session *session, const char *s, const char *r, const char *o);
kith_answers *asked_with(kith_session *session, const char *s, const char *r, const char *o,
                         kith_ask_options options);
kith_answers *asked(kith_session *session, const char *s, const char *r, const char *o);

/* A question that must be refused, with each of the parts in its message. */
void refused_question(kith_session *session, kith_question q, kith_status status, const char *part,
                      const char *other);

void same_answers(const kith_answers *a, const kith_answers *b);

/* A small graph that everybody understands. */
kith_graph *teams(void);

const char *name_of(const kith_graph *graph, uint32_t entity);

/* As kith train makes it, in a folder of its own. */
kith_model *trained_model(const kith_graph *graph, const kith_settings *s);

kith_explanation *explained_query(kith_session *session, const char *s, const char *r,
                                  const char *o);

#endif
