#include "model/candidates.h"

#include "core/mem.h"
#include "embed/query_vector.h"

static kith_status pack_units(kith__panels *panels, const kith__table *ent, size_t count,
                              kith_error *error)
{
    float *units = kith__calloc_aligned(count * ent->stride, sizeof *units);

    if (!units)
        return kith__no_memory(error);
    for (size_t i = 0; i < count; i++)
        kith__normalize(units + i * ent->stride, kith__row(ent, i), ent->cols);
    kith__panels_pack(panels, units, ent->stride);
    kith__free(units);
    return KITH_OK;
}

kith_status kith__pack_inputs(kith__panels *panels, const kith_model *model, size_t count,
                              kith_error *error)
{
    const kith__table *ent = kith__ent(&model->params);

    if (kith__panels_reserve(panels, count, ent->cols))
        return kith__no_memory(error);
    if (kith__is_unit(&model->settings))
        return pack_units(panels, ent, count, error);
    kith__panels_pack(panels, ent->at, ent->stride);
    return KITH_OK;
}
