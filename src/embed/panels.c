#include "embed/panels.h"

#include "core/mem.h"
#include "nn/kernels.h"
#include "nn/match.h"

int kith__panels_reserve(kith__panels *p, size_t count, size_t d)
{
    p->count = count;
    p->d = d;
    return kith__renew(&p->at.at, &p->at.capacity, kith__panel_count(p) * KITH__PANEL * d,
                       sizeof *p->at.at);
}

void kith__panels_pack(kith__panels *p, const float *rows, size_t stride)
{
    for (size_t j = 0; j < kith__panel_count(p) * KITH__PANEL; j++) {
        float *to = p->at.at + j / KITH__PANEL * KITH__PANEL * p->d + j % KITH__PANEL;
        for (size_t k = 0; k < p->d; k++)
            to[k * KITH__PANEL] = j < p->count ? rows[j * stride + k] : 0;
    }
}

void kith__panels_release(kith__panels *p)
{
    kith__free(p->at.at);
    *p = (kith__panels){0};
}

void kith__panel_score(float *scores, size_t stride, const kith__panels *p, size_t panel,
                       const float *const *query_vectors, size_t count, bool distance, float weight,
                       float *scratch)
{
    const float *matrix = p->at.at + panel * KITH__PANEL * p->d;
    size_t from = panel * KITH__PANEL, left = p->count - from;
    size_t columns = left < KITH__PANEL ? left : KITH__PANEL;

    if (distance)
        kith__rows_l1(scratch, query_vectors, count, matrix, p->d, KITH__PANEL);
    else
        kith__rows_times(scratch, query_vectors, count, matrix, p->d, KITH__PANEL, 0);
    if (distance)
        weight = -weight;
    for (size_t i = 0; i < count; i++) {
        float *to = scores + i * stride + from;
        const float *score = scratch + i * KITH__PANEL;
        for (size_t j = 0; j < columns; j++)
            to[j] = weight * score[j];
    }
}
