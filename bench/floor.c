/* How fast could training possibly be here? Take batches as training makes them from a run, and
 * count the neighbours that they visit; then only stream the rows of those visits and apply tanh to
 * as many values, and say what that costs for an epoch, as key=value lines. bench-floor RUN
 * [THREADS [BATCHES]] A visit reads four rows: the neighbour's embedding and its product with the
 * attention layer, and the same two of the relation. Visits of encodings that have a gradient are
 * made once more, as the backward pass makes them. There are no matrix products, no sorting, no
 * optimiser. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/mem.h"
#include "core/rng.h"
#include "model/model.h"
#include "embed/settings.h"
#include "nn/kernels.h"
#include "train/step.h"

enum { PIECES = 16 };

typedef struct {
    const kith__encoder *encoder;
    size_t ds, hs;
    float *ent, *trans; /* n and 2m rows of ds floats */
    float *be, *bw;     /* n and 2m rows of hs floats */
    float *sums;        /* per piece ds + hs floats */
    bool backward;
} stream;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static float *random_rows(size_t rows, size_t width, kith__rng *rng)
{
    float *at = kith__calloc_aligned(rows * width, sizeof *at);
    for (size_t i = 0; at && i < rows * width; i++)
        at[i] = (float)(kith__rng_unit(rng) * .2 - .1);
    return at;
}

static int stream_init(stream *s, const kith_model *model, kith__rng *rng)
{
    const kith__neighbor_lists *lists = model->lists;

    s->encoder = model->encoder;
    s->ds = kith__padded(model->settings.dim);
    s->hs = kith__padded(kith__attention_width(&model->settings));
    s->ent = random_rows(lists->seen, s->ds, rng);
    s->trans = random_rows(lists->relations, s->ds, rng);
    s->be = random_rows(lists->seen, s->hs, rng);
    s->bw = random_rows(lists->relations, s->hs, rng);
    s->sums = kith__calloc_aligned(PIECES * (s->ds + s->hs), sizeof *s->sums);
    return s->ent && s->trans && s->be && s->bw && s->sums ? 0 : -1;
}

static void stream_piece(void *context, size_t piece)
{
    stream *s = context;
    const kith__encoder *e = s->encoder;
    float *sum = s->sums + piece * (s->ds + s->hs), *layer = sum + s->ds;
    size_t all = kith__encoder_count(e), to = all * (piece + 1) / PIECES, count;

    for (size_t i = all * piece / PIECES; i < to; i++) {
        const kith_neighbor *neighbors = kith__encoder_neighbors(&count, e, i);
        if (s->backward && !kith__encoder_active(e, i))
            continue;
        for (size_t v = 0; v < count; v++) {
            kith_neighbor at = neighbors[v];
            kith__axpy2(sum, .5f, s->ent + at.entity * s->ds, .5f, s->trans + at.relation * s->ds,
                        s->ds);
            kith__minus(layer, s->be + at.entity * s->hs, .5f, s->bw + at.relation * s->hs, s->hs);
            kith__tanh(layer, layer, s->hs);
        }
    }
}

/* A batch as training draws it: facts, and as many false ones on the predicted side. */
static void draw(kith_triple *positive, kith_triple *negative, size_t count,
                 const kith_model *model, kith__rng *rng)
{
    kith_facts facts = kith_graph_facts(model->graph, KITH_TRAIN);
    kith_corrupt corrupt = model->settings.corrupt;

    for (size_t i = 0; i < count; i++) {
        uint32_t entity = (uint32_t)kith__rng_below(rng, model->lists->seen);
        bool object = corrupt == KITH_CORRUPT_EITHER ? kith__rng_next(rng) >> 63
                                                     : corrupt == KITH_CORRUPT_OBJECT;
        negative[i] = positive[i] = facts.at[kith__rng_below(rng, facts.count)];
        *(object ? &negative[i].object : &negative[i].subject) = entity;
    }
}

typedef struct {
    double visits, active, seconds; /* over all batches */
} totals;

static kith_status measure(totals *all, kith_model *model, size_t batches, kith_error *error)
{
    size_t count = model->settings.batch;
    kith_triple *positive = kith__alloc(count, sizeof *positive);
    kith_triple *negative = kith__alloc(count, sizeof *negative);
    kith__encoder *e = model->encoder;
    kith__engine step = {0};
    const kith__batch batch = {count, positive, negative, 1, NULL, NULL};
    stream s = {0};
    kith__rng rng;
    kith_status status = KITH_OK;

    kith__rng_init(&rng, 1, 0);
    if (!positive || !negative || stream_init(&s, model, &rng))
        TRY(kith__no_memory(error));
    TRY(kith__engine_init(&step, e, &model->params, &model->settings, error));
    for (size_t b = 0; b < batches; b++) {
        draw(positive, negative, count, model, &rng);
        TRY(kith__engine_run(&step, &batch, error));
        kith__gradients_clear(&step.gradients);
        for (size_t i = 0; i < kith__encoder_count(e); i++) {
            size_t visits;
            kith__encoder_neighbors(&visits, e, i);
            all->active += kith__encoder_active(e, i) ? (double)visits : 0;
            all->visits += (double)visits;
        }
        double began = now();
        s.backward = false;
        kith__pool_run(model->pool, stream_piece, &s, PIECES);
        s.backward = true;
        kith__pool_run(model->pool, stream_piece, &s, PIECES);
        all->seconds += now() - began;
    }
cleanup:
    kith__engine_release(&step);
    kith__free(positive);
    kith__free(negative);
    kith__free(s.ent);
    kith__free(s.trans);
    kith__free(s.be);
    kith__free(s.bw);
    kith__free(s.sums);
    return status;
}

int main(int argc, char **argv)
{
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    size_t batches = argc > 3 ? (size_t)atol(argv[3]) : 40;
    kith_model *model = NULL;
    kith_error error;
    totals all = {0};

    if (argc < 2 || batches == 0) {
        fprintf(stderr, "usage: bench-floor RUN [THREADS [BATCHES]]\n");
        return 2;
    }
    if (kith_model_open(&model, argv[1], &(kith_work_options){.threads = threads}, &error) !=
            KITH_OK ||
        measure(&all, model, batches, &error) != KITH_OK) {
        fprintf(stderr, "bench-floor: %s\n", error.message);
        kith_model_free(model);
        return EXIT_FAILURE;
    }
    double epoch = (double)kith_graph_facts(model->graph, KITH_TRAIN).count / model->settings.batch;
    double scale = epoch / (double)batches;
    printf("visits_per_epoch=%.0f\nactive_visits_per_epoch=%.0f\nfloor_seconds_per_epoch=%.4f\n",
           all.visits * scale, all.active * scale, all.seconds * scale);
    kith_model_free(model);
    return EXIT_SUCCESS;
}
