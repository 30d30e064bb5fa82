/* Input embeddings of entities that training has not seen. */
#ifndef KITH_MODEL_NEW_INPUTS_H
#define KITH_MODEL_NEW_INPUTS_H

#include "model/model.h"

/* For each entity with a list: its row becomes the mean of its encodings from that list, one for
 * each of its facts, as the query that the fact answers. Rows of other entities stay. `rows` has
 * the shape of the model's input embeddings, and may be these if no neighbour is encoded itself. */
kith_status kith__encode_rows(const kith__table *rows, const kith_model *model,
                              const kith__neighbor_lists *lists, kith_error *error);

/* Take the parameters of an embedding trained on another graph with the same relation ids. The
 * model's entities, which training has not seen, borrow input embeddings of trained entities, which
 * are then moved towards their encodings from their neighbours, a few times (docs/MODEL.md). Both
 * models must have the same settings and implications. */
kith_status kith__adopt_embedding(const kith_model *model, const kith_model *trained,
                                  kith_error *error);

#endif
