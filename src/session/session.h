/* What a session is: facts that one user has said, by entity. */
#ifndef KITH_SESSION_SESSION_H
#define KITH_SESSION_SESSION_H

#include "graph/names.h"
#include "graph/triple_set.h"
#include "model/workspace.h"

#define KITH__NO_LINK SIZE_MAX

/* An entity that facts tell about. Ids that the graph lacks follow its own. */
typedef struct kith__described {
    uint32_t entity;
    size_t first, last; /* links, KITH__NO_LINK where there are none */
    size_t facts;       /* of use */
} kith__described;

/* A fact as one of its ends sees it: links 2 i and 2 i + 1 belong to fact i. */
typedef struct kith__link {
    kith_neighbor neighbor; /* in the model's 2m numbering */
    size_t next, previous;
} kith__link;

struct kith_session {
    bool no_suggestions; /* in messages about unknown names */
    kith_model *model;
    kith__candidate_cache *cache; /* the model's */
    kith__names entities, relations; /* that the graph lacks */
    kith_triple *facts; /* ids of the graph, or of the session's names behind them */
    uint8_t *uses;
    uint8_t *news; /* whether a fact was the first with one of its names */
    kith__link *links; /* two per fact */
    size_t fact_count, fact_capacity, use_capacity, news_capacity, link_capacity;
    kith__triple_set used;
    kith__overlay added; /* the used facts over those of the model's rules, where it has any */
    kith__described *described;
    size_t described_count, described_capacity;
    size_t *newcomers; /* of the described, those that train lacks */
    size_t newcomer_count, newcomer_capacity;
    size_t *slots; /* entity to described: its number + 1, 0 is free */
    size_t slot_count;
};

/* The id of a name, of the graph or of the session; KITH__NO_ID where neither has it. */
uint32_t kith__session_find(const kith_session *session, const char *name);
const char *kith__session_name(const kith_session *session, uint32_t entity);
/* NULL where no fact tells about it. */
const kith__described *kith__session_described(const kith_session *session, uint32_t entity);

#endif
