#include "embed/gradients.h"

#include <string.h>

kith_status kith__gradients_init(kith__gradients *g, const kith__params *params, kith_error *error)
{
    kith__params shape = *params;
    kith_status status;

    memset(g, 0, sizeof *g);
    g->stride = kith__ent(params)->stride;
    shape.floats -= kith__ent(&shape)->rows * kith__ent(&shape)->stride;
    shape.table[KITH__ENT].rows = 0;
    status = kith__params_like(&g->dense, &shape, error);
    g->row_of = kith__calloc(kith__ent(params)->rows, sizeof *g->row_of);
    bool failed = !g->row_of;
    for (size_t i = 1; i < params->tables; i++) {
        g->touched[i] = kith__calloc(params->table[i].rows, 1);
        failed |= !g->touched[i];
    }
    if (status == KITH_OK && failed)
        status = kith__no_memory(error);
    if (status != KITH_OK)
        kith__gradients_release(g);
    return status;
}

void kith__gradients_release(kith__gradients *g)
{
    kith__params_release(&g->dense);
    for (size_t i = 0; i < KITH__MOST_TABLES; i++)
        kith__free(g->touched[i]);
    kith__free(g->row_of);
    kith__free(g->entity);
    kith__free(g->ent.at);
    memset(g, 0, sizeof *g);
}

/* Growing keeps the contents, which kith__renew does not. */
int kith__gradients_reserve(kith__gradients *g, size_t rows)
{
    kith__floats larger = {0};
    size_t used = g->rows * g->stride;

    if (rows * g->stride <= g->ent.capacity)
        return 0;
    if (used == 0) /* free first, so that both blocks do not exist at once */
        return kith__renew(&g->ent.at, &g->ent.capacity, rows * g->stride, sizeof *g->ent.at);
    if (kith__renew(&larger.at, &larger.capacity, rows * g->stride, sizeof *larger.at))
        return -1;
    memcpy(larger.at, g->ent.at, used * sizeof *larger.at);
    kith__free(g->ent.at);
    g->ent = larger;
    return 0;
}

int kith__gradient_make(kith__gradients *g, uint32_t entity)
{
    size_t rows = g->rows;

    if (kith__gradient_make_raw(g, entity))
        return -1;
    if (g->rows > rows)
        memset(g->ent.at + rows * g->stride, 0, g->stride * sizeof *g->ent.at);
    return 0;
}

int kith__gradient_make_raw(kith__gradients *g, uint32_t entity)
{
    if (g->row_of[entity])
        return 0;
    if ((g->rows + 1) * g->stride > g->ent.capacity &&
        kith__gradients_reserve(g, g->rows + g->rows / 4 + 64))
        return -1;
    if (kith__reserve(&g->entity, &g->entity_capacity, g->rows + 1, sizeof *g->entity))
        return -1;
    g->entity[g->rows] = entity;
    g->row_of[entity] = (uint32_t)++g->rows;
    return 0;
}

float *kith__gradient_row(kith__gradients *g, const kith__table *table, size_t row)
{
    size_t index = (size_t)(table - g->dense.table);
    g->touched[index][row] = 1;
    return kith__row(table, row);
}

void kith__gradients_clear(kith__gradients *g)
{
    for (size_t i = 0; i < g->rows; i++)
        g->row_of[g->entity[i]] = 0;
    g->rows = 0;
    for (size_t t = 1; t < g->dense.tables; t++) {
        const kith__table *table = &g->dense.table[t];
        for (size_t r = 0; r < table->rows; r++)
            if (g->touched[t][r]) {
                memset(kith__row(table, r), 0, table->stride * sizeof *table->at);
                g->touched[t][r] = 0;
            }
    }
}
