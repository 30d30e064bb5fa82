/* The engine of training: requests to the encoder, scores, the loss, and gradients back through the
 * decoder and the encoder. A scorer decides which vectors are scored, embed/losses how scores
 * become a loss. */
#include "train/step.h"

#include <string.h>

#include "core/mem.h"
#include "embed/query_vector.h"
#include "nn/kernels.h"

kith_status kith__engine_init(kith__engine *s, kith__encoder *encoder, const kith__params *params,
                              const kith_settings *settings, kith_error *error)
{
    const kith__loss *loss = kith__loss_get(settings->loss);
    kith_status status;

    memset(s, 0, sizeof *s);
    s->scoring = (kith__scoring){.encoder = encoder,
                                 .settings = settings,
                                 .params = params,
                                 .decoder = kith__decoder_get(settings->decoder),
                                 .loss = loss,
                                 .d = settings->dim,
                                 .ds = kith__encoder_stride(encoder),
                                 .unit = kith__is_unit(settings)};
    if (loss->negatives == KITH__SHARED) {
        s->scorer = &kith__query_scorer;
        s->scorer_state = &s->queries;
        kith__query_scores_init(&s->queries, &s->scoring);
    } else {
        s->scorer = &kith__fact_scorer;
        s->scorer_state = &s->facts;
        TRY(kith__fact_scores_init(&s->facts, &s->scoring, error));
    }
    TRY(kith__gradients_init(&s->gradients, params, error));
cleanup:
    return status;
}

void kith__engine_release(kith__engine *s)
{
    kith__gradients_release(&s->gradients);
    kith__fact_scores_release(&s->facts);
    kith__query_scores_release(&s->queries);
    memset(s, 0, sizeof *s);
}

double kith__engine_loss(const kith__engine *s)
{
    return s->loss_out + s->loss_in + s->penalty;
}

/* Add l2 / 2 times the sum of squares of the encoder's parameters, without input embeddings. */
static void add_penalty(kith__engine *s)
{
    const kith__params *params = s->scoring.params;
    double l2 = s->scoring.settings->l2, sum = 0;

    s->penalty = 0;
    if (l2 == 0)
        return;
    for (size_t i = 1; i < params->tables; i++) {
        const kith__table *t = &params->table[i];
        for (size_t r = 0; t->spec->decayed && r < t->rows; r++) {
            sum += kith__dot(kith__row(t, r), kith__row(t, r), t->stride);
            kith__axpy(kith__gradient_row(&s->gradients, &s->gradients.dense.table[i], r),
                       (float)l2, kith__row(t, r), t->stride);
        }
    }
    s->penalty = l2 / 2 * sum;
}

kith_status kith__engine_run(kith__engine *s, const kith__batch *batch, kith_error *error)
{
    kith__encoder *encoder = s->scoring.encoder;
    void *self = s->scorer_state;
    kith_status status;

    kith__encoder_begin(encoder);
    kith__encoder_keep(encoder);
    TRY(s->scorer->request(self, batch, error));
    TRY(kith__encoder_forward(encoder, error));
    TRY(s->scorer->prepare(self, error));
    s->loss_out = s->scorer->run(self, KITH__BY_ENCODINGS);
    s->loss_in = s->scoring.settings->subtask ? s->scorer->run(self, KITH__BY_INPUTS) : 0;
    TRY(kith__encoder_status(encoder, error));
    s->scorer->to_encodings(self, &s->gradients);
    TRY(kith__encoder_status(encoder, error));
    TRY(kith__encoder_backward(encoder, &s->gradients, error));
    TRY(s->scorer->to_inputs(self, &s->gradients, error));
    TRY(kith__encoder_status(encoder, error));
    add_penalty(s);
cleanup:
    return status;
}
