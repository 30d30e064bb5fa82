/* What a session is: facts that one user has said, by entity, and room to answer in. */
#ifndef KITH_SESSION_SESSION_H
#define KITH_SESSION_SESSION_H

#include "run/fusion_files.h"
#include "graph/names.h"
#include "graph/triple_set.h"
#include "session/candidate_cache.h"

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

enum { KITH__QUERIES_TOGETHER = 16 };

/* Room for answering, one for each thread that answers. */
typedef struct kith__workspace {
    kith__pool *pool; /* of one thread */
    kith__neighbor_lists lists; /* of the entities at hand; `entities` says how many */
    size_t at_capacity, denominator_capacity;
    kith__encoder *encoder;
    size_t stride; /* of vectors */
    kith_neighbor *facts; /* of those entities, uncut */
    size_t fact_count, fact_capacity;
    uint8_t *kept, *relations, *marks; /* marks: one per candidate, all 0 between questions */
    size_t kept_capacity;
    float *query_vectors, *scores; /* of KITH__QUERIES_TOGETHER questions */
    float *block;         /* their scores in one panel of candidates */
    kith__fusion_workspace *fusing; /* NULL where the model has no rule evidence */
    kith_neighbor *sorted; /* facts of the entity that was fused last */
    size_t sorted_capacity;
    uint32_t *best; /* candidates of one row of scores */
    size_t best_capacity;
    struct {
        double log_sum, log_known; /* what probabilities are made from */
    } shares[KITH__QUERIES_TOGETHER];
    struct kith__workspace *next;
} kith__workspace;

struct kith_session {
    kith_model *model;
    kith__candidate_cache *shared;
    kith__names entities, relations; /* that the graph lacks */
    kith_triple *facts; /* ids of the graph, or of the session's names behind them */
    uint8_t *uses;
    kith__link *links; /* two per fact */
    size_t fact_count, fact_capacity, use_capacity, link_capacity;
    kith__triple_set used;
    kith__described *described;
    size_t described_count, described_capacity;
    size_t *newcomers; /* of the described, those that train lacks */
    size_t newcomer_count, newcomer_capacity;
    size_t *slots; /* entity to described: its number + 1, 0 is free */
    size_t slot_count;
    kith__workspace *workspaces;
};

/* The id of a name, of the graph or of the session; KITH__NO_ID where neither has it. */
uint32_t kith__session_find(const kith_session *session, const char *name);
const char *kith__session_name(const kith_session *session, uint32_t entity);
/* NULL where no fact tells about it. */
const kith__described *kith__session_described(const kith_session *session, uint32_t entity);

/* All facts about an entity, those of the graph first, in the model's numbering, behind what is in the
 * asker's `facts`; says how many, and how many of them are the graph's (may be NULL). */
kith_status kith__session_facts(size_t *count, size_t *of_graph, kith__workspace *workspace,
                                const kith_session *session, uint32_t entity, kith_error *error);

#endif
