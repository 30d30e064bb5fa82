/* A session: the facts that one user has added, by entity. */
#ifndef KITH_SESSION_SESSION_H
#define KITH_SESSION_SESSION_H

#include "graph/names.h"
#include "graph/triple_set.h"
#include "model/workspace.h"

#define KITH__NO_LINK SIZE_MAX

/* An entity described by facts. Ids that the graph lacks follow its own. */
typedef struct kith__described {
    uint32_t entity;
    size_t first, last; /* first and last link, KITH__NO_LINK if there are none */
    size_t facts;       /* number of usable facts */
} kith__described;

/* A fact from the side of one of its ends: links 2 i and 2 i + 1 belong to fact i. */
typedef struct kith__link {
    kith_neighbor neighbor; /* in the model's 2m numbering */
    size_t next, previous;
} kith__link;

/* What a fact introduced: names that the graph lacks, and described entities. */
typedef struct kith__news {
    uint8_t entities, relations, described, newcomers;
    bool shared; /* names that other facts of the same graph may share; then the counts are 0 */
} kith__news;

struct kith_session {
    bool no_suggestions; /* do not suggest names in messages about unknown ones */
    kith_model *model;
    kith__candidate_cache *cache;    /* belongs to the model */
    kith__names entities, relations; /* names that the graph lacks */
    /* ids below the graph's counts are the graph's, the others those of the session's names */
    kith_triple *facts;
    uint8_t *uses;
    kith__news *news;
    kith__link *links; /* two per fact */
    size_t fact_count, fact_capacity, use_capacity, news_capacity, link_capacity;
    kith__triple_set used;
    size_t loops; /* used facts from an entity to itself */
    /* index of the used facts on top of the model's fact base, if the model has rules */
    kith__overlay added;
    kith__described *described;
    size_t described_count, described_capacity;
    size_t *newcomers; /* described entities that are not in train */
    size_t newcomer_count, newcomer_capacity;
    size_t *slots; /* hash table from an entity to its index in the described ones + 1; 0: free */
    size_t slot_count;
};

/* The id of a name in the graph or the session; KITH__NO_ID if neither has it. */
uint32_t kith__session_find(const kith_session *session, const char *name);
const char *kith__session_name(const kith_session *session, uint32_t entity);
uint32_t kith__session_find_relation(const kith_session *session, const char *name);
/* The id of a name, which is added to the session if neither has it. KITH__NO_ID if out of
 * memory. */
uint32_t kith__session_add_entity(kith_session *session, const char *name);
uint32_t kith__session_add_relation(kith_session *session, const char *name);
/* Whether added facts are indexed: for all questions, or only to classify facts. */
bool kith__session_indexes(const kith_model *model);

/* ---- described entities (described.c) ---- */

/* The description of an entity; NULL if no fact describes it. */
const kith__described *kith__session_described(const kith_session *session, uint32_t entity);
/* Like kith__session_described, but adds a missing entity; NULL if out of memory. Valid until the
 * next call. */
kith__described *kith__session_describe(kith_session *session, uint32_t entity);
/* Append a neighbour to an entity's list of links, and remove the last one. */
void kith__session_link(kith_session *session, kith__described *d, size_t link,
                        kith_neighbor neighbor);
void kith__session_unlink(kith_session *session, uint32_t entity);
/* Keep only the first described entities and newcomers. */
void kith__session_forget(kith_session *session, size_t described, size_t newcomers);

#endif
