/* Films, their directors and countries: a graph to which newcomers are added. */
#ifndef KITH_TESTS_FILMS_H
#define KITH_TESTS_FILMS_H

#include "support.h"

typedef const char *const said_fact[3];

/* People, where they were born, where that is, and whose citizens they are; and films. */
kith_graph *films(void);

kith_model *trained_with(const kith_graph *graph, const char *evidence, const char *aggregator);
kith_model *trained(const kith_graph *graph, const char *evidence);
kith_session *session_with(kith_model *model, said_fact *facts, size_t count);

/* Some people come later, with facts among themselves and with others. */
const char *grown_films(bool with_aux);

const char *name_in(const kith_graph *graph, uint32_t entity);
extern said_fact lyon[];
kith_explanation *explained(kith_session *session, kith_question q);

#endif
