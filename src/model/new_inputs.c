#include "model/new_inputs.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/rng.h"
#include "graph/graph.h"
#include "nn/kernels.h"

/* ROUNDS was chosen on graphs trained on (docs/TRIED.md). */
enum { REQUESTS_AT_ONCE = 4096, ROUNDS = 4 };

/* ---- rows from encodings ---- */

/* Encode entities beginning with `from` until a batch is full. Returns the next entity. */
static kith_status encode_some(uint32_t *next, const kith__table *rows, const kith_model *model,
                               const kith__neighbor_lists *lists, uint32_t from, kith_error *error)
{
    kith__encoder *e = model->encoder;
    size_t requests = 0;
    uint32_t to = from;
    kith_status status = KITH_OK;

    kith__encoder_begin(e);
    for (; to < lists->seen && requests < REQUESTS_AT_ONCE; to++)
        for (size_t k = 0; k < kith__list_count(lists, to); k++, requests++)
            kith__encoder_request(e, to, lists->at[lists->offset[to] + k].relation, NULL);
    *next = to;
    if (requests == 0)
        return KITH_OK;
    TRY(kith__encoder_forward(e, error));
    for (uint32_t i = from, request = 0; i < to; i++) {
        size_t count = kith__list_count(lists, i);
        if (count > 0)
            memset(kith__row(rows, i), 0, rows->stride * sizeof *rows->at);
        for (size_t k = 0; k < count; k++, request++)
            kith__axpy(kith__row(rows, i), 1 / (float)count, kith__encoder_answer(e, request),
                       rows->stride);
    }
cleanup:
    return status;
}

kith_status kith__encode_rows(const kith__table *rows, const kith_model *model,
                              const kith__neighbor_lists *lists, kith_error *error)
{
    kith_status status = KITH_OK;

    kith__encoder_use(model->encoder, lists, 0);
    for (uint32_t from = 0; from < lists->seen;)
        TRY(encode_some(&from, rows, model, lists, from, error));
cleanup:
    kith__encoder_use(model->encoder, model->lists, 0);
    return status;
}

/* ---- a whole new graph ---- */

/* Each entity starts as a trained one that its name chooses, so that the order of facts does not
 * matter. Vectors that all differ are needed: by them the encoder recognises neighbours. */
static void borrow_rows(const kith_model *model, const kith__table *from)
{
    const kith__table *ent = kith__ent(&model->params);

    for (uint32_t e = 0; e < ent->rows; e++) {
        const char *name = kith_graph_entity_name(model->graph, e);
        kith__rng rng;
        kith__rng_init(&rng, model->settings.seed, kith__names_hash(name, strlen(name)));
        uint32_t row = (uint32_t)kith__rng_below(&rng, from->rows);
        memcpy(kith__row(ent, e), kith__row(from, row), ent->stride * sizeof *ent->at);
    }
}

/* Move a row halfway to an encoding, scaled to the length of the row. */
static void move_row(float *row, const float *encoding, size_t width)
{
    double length = sqrt(kith__dot(encoding, encoding, width));
    double scale = length > 0 ? sqrt(kith__dot(row, row, width)) / length : 0;

    for (size_t c = 0; length > 0 && c < width; c++)
        row[c] += (float)(.5 * (scale * encoding[c] - row[c]));
}

static kith_status refine_rows(const kith_model *model, kith_error *error)
{
    const kith__table *ent = kith__ent(&model->params);
    kith__table encoded = *ent;
    kith_status status = KITH_OK;

    encoded.at = kith__calloc_aligned(ent->rows * ent->stride, sizeof *encoded.at);
    if (!encoded.at)
        TRY(kith__no_memory(error));
    for (int round = 0; round < ROUNDS; round++) {
        TRY(kith__encode_rows(&encoded, model, model->lists, error));
        for (size_t e = 0; e < ent->rows; e++)
            move_row(kith__row(ent, e), kith__row(&encoded, e), ent->stride);
    }
cleanup:
    kith__free(encoded.at);
    return status;
}

kith_status kith__adopt_embedding(const kith_model *model, const kith_model *trained,
                                  kith_error *error)
{
    for (size_t i = 0; i < model->params.tables; i++) {
        const kith__table *to = &model->params.table[i], *from = &trained->params.table[i];
        if (to->spec->rows == KITH__ENTITIES)
            borrow_rows(model, from);
        else if (to->spec->rows != KITH__ENTITY_ROWS) /* new entities have 0 there */
            memcpy(to->at, from->at, to->rows * to->stride * sizeof *to->at);
    }
    return refine_rows(model, error);
}
