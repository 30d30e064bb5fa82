/* Encodes entities that are given by their facts. One without a seen neighbour is encoded from its
 * unseen ones: each takes part through an encoding of its own, made from its seen neighbours for
 * the relation that leads back. */
#ifndef KITH_MODEL_ENTITY_ENCODER_H
#define KITH_MODEL_ENTITY_ENCODER_H

#include "model/model.h"
#include "rules/view.h"

/* An entity as it is asked about: all facts about it that are of use, in the model's 2m numbering.
 * The id is the graph's, or of the session's names behind them. */
typedef struct kith__query_entity {
    uint32_t entity;
    const kith_neighbor *facts; /* the graph's first, in the order in which the model reads them */
    size_t count;
    kith__span sorted; /* the same, each once */
} kith__query_entity;

/* Neighbour lists that are made one after the other. */
typedef struct kith__made_lists {
    kith__neighbor_lists lists; /* `entities` says how many */
    size_t offset_capacity, at_capacity, denominator_capacity;
} kith__made_lists;

typedef struct kith__entity_encoder {
    const kith_model *model;
    kith__encoder *encoder;
    kith__made_lists asked, unseen; /* of the entities at hand, and of their unseen neighbours */
    kith_neighbor *link; /* of each of the latter: the fact that leads to it */
    size_t link_capacity;
    float *vectors; /* and its vector */
    size_t vector_capacity;
    uint8_t *kept, *relations; /* scratch of kith__list_cut */
    size_t kept_capacity;
    kith_neighbor *facts; /* of entities of the graph */
    size_t fact_capacity;
} kith__entity_encoder;

kith_status kith__entity_encoder_init(kith__entity_encoder *e, const kith_model *model,
                                      kith__pool *pool, kith_error *error);
void kith__entity_encoder_release(kith__entity_encoder *e);

/* Encode entities, each for a query: request i of the encoder is that of asked[i], and visit v of
 * it is neighbour v of its cut list. `known` has the facts of unseen neighbours; NULL leaves these
 * out. */
kith_status kith__encode_asked(kith__entity_encoder *e, const kith__view *known,
                               const kith__query_entity *asked, const uint32_t *queries,
                               size_t count, kith_error *error);
/* A neighbour of such an encoding, with the entity that it is. */
kith_neighbor kith__encoded_neighbor(const kith__entity_encoder *e, kith_neighbor neighbor);

/* Whether a neighbour has an input embedding. */
bool kith__has_seen_neighbor(kith__span facts, uint32_t seen);
/* Whether there is anything to encode an entity from: a seen neighbour, or an unseen one that has a
 * seen neighbour. `known` may be NULL. */
bool kith__is_near_seen(const kith__view *known, kith__span facts, uint32_t seen);

/* Encode entities of the graph, by all that it knows about them; `known` (or NULL) as above. */
typedef struct kith__encode_request {
    uint32_t entity, query;
} kith__encode_request;
kith_status kith__encode_from_graph(float *vectors, kith__entity_encoder *e,
                                    const kith__index *known,
                                    const kith__encode_request *requests, size_t count,
                                    kith_error *error);

/* Add the facts that the graph and `known` (or NULL) have about an entity to `facts`, which grows;
 * says how many they are. */
kith_status kith__read_graph_facts(size_t *count, kith_neighbor **facts, size_t *used,
                                   size_t *capacity, const kith_graph *graph,
                                   const kith__index *known, uint32_t entity, kith_error *error);

#endif
