/* Packs candidates for comparison with query vectors, both for sweeps and for single questions. */
#ifndef KITH_MODEL_CANDIDATES_H
#define KITH_MODEL_CANDIDATES_H

#include "embed/panels.h"
#include "model/model.h"

/* Pack the input embeddings of the entities 0 .. count - 1, scaled to length 1 if the decoder needs
 * it. */
kith_status kith__pack_inputs(kith__panels *panels, const kith_model *model, size_t count,
                              kith_error *error);

#endif
