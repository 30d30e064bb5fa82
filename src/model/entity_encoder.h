/* Encodes entities that are given by their facts. An entity without a seen neighbour is encoded
 * from its unseen neighbours. The vector of such a neighbour is its own encoding, made from its
 * seen neighbours for the relation that leads back. */
#ifndef KITH_MODEL_ENTITY_ENCODER_H
#define KITH_MODEL_ENTITY_ENCODER_H

#include "model/model.h"
#include "rules/view.h"

/* An entity in a query, with all of its usable facts in the model's 2m numbering. Its id is that of
 * the graph, or, following these, of the session's names. */
typedef struct kith__query_entity {
    uint32_t entity;
    /* facts of the graph first, in the order in which the model reads them */
    const kith_neighbor *facts;
    size_t count;
    kith__span sorted; /* the same facts, sorted and without duplicates */
} kith__query_entity;

/* Neighbour lists that are built one after the other. */
typedef struct kith__made_lists {
    kith__neighbor_lists lists; /* `entities` is their number */
    size_t offset_capacity, at_capacity, denominator_capacity;
} kith__made_lists;

typedef struct kith__entity_encoder {
    const kith_model *model;
    kith__encoder *encoder;
    /* lists of the entities to encode, and of their unseen neighbours */
    kith__made_lists queried, unseen;
    kith_neighbor *link; /* per unseen neighbour: the fact that leads to it */
    size_t link_capacity;
    float *vectors; /* per unseen neighbour: its vector */
    size_t vector_capacity;
    uint8_t *kept, *relations; /* scratch of kith__list_cut */
    size_t kept_capacity;
    kith_neighbor *facts; /* facts of entities of the graph */
    size_t fact_capacity;
} kith__entity_encoder;

kith_status kith__entity_encoder_init(kith__entity_encoder *e, const kith_model *model,
                                      kith__pool *pool, kith_error *error);
void kith__entity_encoder_release(kith__entity_encoder *e);

/* Encode each entity for its query. Request i of the encoder is that of asked[i], and its visit v
 * is neighbour v of its cut list. `known` has the facts of unseen neighbours; if NULL, unseen
 * neighbours are not used. */
kith_status kith__encode_queried(kith__entity_encoder *e, const kith__view *known,
                               const kith__query_entity *queried, const uint32_t *queries,
                               size_t count, kith_error *error);
/* A neighbour of such an encoding, with the id of the entity that it represents. */
kith_neighbor kith__encoded_neighbor(const kith__entity_encoder *e, kith_neighbor neighbor);

/* Whether one of the neighbours has an input embedding. */
bool kith__has_seen_neighbor(kith__span facts, uint32_t seen);
/* Whether an entity can be encoded: it has a seen neighbour, or an unseen one that has a seen
 * neighbour. `known` may be NULL. */
bool kith__leads_to_seen(const kith__view *known, kith__span facts, uint32_t seen);

/* Encode entities of the graph from all their facts; `known` (may be NULL) is as above. */
typedef struct kith__encode_request {
    uint32_t entity, query;
} kith__encode_request;
kith_status kith__encode_from_graph(float *vectors, kith__entity_encoder *e,
                                    const kith__index *known,
                                    const kith__encode_request *requests, size_t count,
                                    kith_error *error);

/* Append the facts that the graph and `known` (may be NULL) have about an entity to `facts`, which
 * grows if necessary. Sets `count` to their number. */
kith_status kith__read_graph_facts(size_t *count, kith_neighbor **facts, size_t *used,
                                   size_t *capacity, const kith_graph *graph,
                                   const kith__index *known, uint32_t entity, kith_error *error);

#endif
