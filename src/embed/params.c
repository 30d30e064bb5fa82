#include "embed/params.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/rng.h"
#include "embed/aggregators/aggregator.h"
#include "embed/settings.h"
#include "nn/kernels.h"

/* The tables of every model. */
static const kith__table_spec common[] = {
    [KITH__ENT] = {"ent", KITH__ENTITIES, KITH__DIM, false, KITH__XAVIER},
    [KITH__REL] = {"rel", KITH__RELATIONS, KITH__DIM, false, KITH__XAVIER},
    [KITH__TRANS] = {"trans", KITH__DIRECTED, KITH__DIM, true, KITH__XAVIER},
};
static const kith__table_spec both_ways = {"rel", KITH__DIRECTED, KITH__DIM, false, KITH__XAVIER};

static int add_table(kith__params *params, const kith__table_spec *spec, const size_t *sizes)
{
    kith__table *t = &params->table[params->tables];
    size_t floats;

    if (params->tables == KITH__MOST_TABLES)
        return -1;
    *t = (kith__table){.spec = spec, .rows = sizes[spec->rows], .cols = sizes[spec->cols]};
    t->stride = kith__padded(t->cols);
    if (__builtin_mul_overflow(t->rows, t->stride, &floats) ||
        __builtin_add_overflow(params->floats, floats, &params->floats))
        return -1;
    params->tables++;
    return 0;
}

static int place_tables(kith__params *params)
{
    size_t used = 0;

    params->block = kith__calloc_aligned(params->floats, sizeof *params->block);
    if (!params->block)
        return -1;
    for (size_t i = 0; i < params->tables; i++) {
        params->table[i].at = params->block + used;
        used += params->table[i].rows * params->table[i].stride;
    }
    return 0;
}

kith_status kith__params_init(kith__params *params, const kith_settings *settings,
                              uint32_t entities, uint32_t relations, size_t rules,
                              kith_error *error)
{
    const kith__aggregator *agg = kith__aggregator_get(settings->aggregator);
    size_t d = settings->dim;
    const size_t sizes[KITH__SIZES] = {
        [KITH__ONE] = 1,          [KITH__ENTITIES] = entities, [KITH__RELATIONS] = relations,
        [KITH__DIRECTED] = 2 * (size_t)relations, [KITH__DIM] = d, [KITH__2DIM] = 2 * d,
        [KITH__4DIM] = 4 * d,     [KITH__HIDDEN] = kith__attention_width(settings),
        [KITH__LANE] = KITH__LANES, [KITH__ENTITY_ROWS] = kith__padded(entities) / KITH__LANES,
        [KITH__PAIR_ROWS] = kith__padded(rules + 2 * (size_t)relations) / KITH__LANES};
    int failed = 0;

    memset(params, 0, sizeof *params);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        failed |= add_table(
            params, i == KITH__REL && settings->reciprocal ? &both_ways : &common[i], sizes);
    for (size_t i = 0; i < agg->tables && !failed; i++)
        if (!agg->table[i].only_padded || settings->padding)
            failed |= add_table(params, &agg->table[i].spec, sizes);
    if (failed || place_tables(params))
        return kith__no_memory(error);
    return KITH_OK;
}

kith_status kith__params_like(kith__params *params, const kith__params *model, kith_error *error)
{
    *params = *model;
    params->block = NULL;
    return place_tables(params) ? kith__no_memory(error) : KITH_OK;
}

void kith__params_release(kith__params *params)
{
    kith__free(params->block);
    memset(params, 0, sizeof *params);
}

enum { TICK = 256 }; /* rows */

/* Two normal numbers at a time (Box, Muller 1958). */
static double draw_normal(kith__rng *rng)
{
    double radius = sqrt(-2 * log(1 - kith__rng_unit(rng)));
    return radius * cos(2 * M_PI * kith__rng_unit(rng));
}

static void start_table(kith__table *t, kith__rng *rng, kith__watch *watch)
{
    double in = t->rows == 1 ? (double)t->cols : (double)t->rows, out = (double)t->cols;
    double deviation = sqrt(2 / (in + out));

    if (t->spec->start == KITH__ZERO) {
        memset(t->at, 0, t->rows * t->stride * sizeof *t->at);
        return;
    }
    for (size_t r = 0; r < t->rows; r++) {
        if (r % TICK == 0 && kith__watch_add(watch, 0))
            return;
        for (size_t c = 0; c < t->cols; c++) {
            float *value = &kith__row(t, r)[c];
            if (t->spec->start == KITH__LSTM_BIAS) /* 1 for the forget gate, the second quarter */
                *value = c >= t->cols / 4 && c < t->cols / 2;
            else
                *value = (float)(deviation * draw_normal(rng));
        }
    }
}

kith_status kith__params_start(kith__params *params, uint64_t seed, kith__watch *watch,
                               kith_error *error)
{
    for (size_t i = 0; i < params->tables; i++) {
        kith__rng rng;
        kith__rng_init(&rng, seed, UINT64_C(1) << 41 | i);
        start_table(&params->table[i], &rng, watch);
    }
    return kith__watch_status(watch, error);
}

const kith__table *kith__params_find(const kith__params *params, const char *name)
{
    for (size_t i = 0; i < params->tables; i++)
        if (strcmp(params->table[i].spec->name, name) == 0)
            return &params->table[i];
    return NULL;
}

bool kith__table_broken(const kith__table *table)
{
    for (size_t k = 0; k < table->rows * table->stride; k++)
        if (!isfinite(table->at[k]))
            return true;
    return false;
}

const kith__table *kith__params_broken(const kith__params *params)
{
    for (size_t i = 0; i < params->tables; i++)
        if (kith__table_broken(&params->table[i]))
            return &params->table[i];
    return NULL;
}
