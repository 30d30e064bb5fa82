/* model.safetensors and calibration.json: what the embedding has learned. */
#include <math.h>
#include <stdio.h>

#include "core/mem.h"
#include "embed/tensors.h"
#include "graph/graph.h"
#include "run/config.h"
#include "run/json_file.h"
#include "run/run.h"

/* A score is at most about a thousand coordinates times three vectors, each the sum of at most a
 * few million rows. With this bound it stays far below the largest float. */
static const float LARGEST = 1e6f;

/* ---- model.safetensors ---- */

kith_status kith__run_save_model(const char *folder, const kith_model *model, kith_error *error)
{
    const kith__tensor_group group = {"", &model->params};
    kith__note note = {.key = "kith"};
    char *path = kith__path_join(folder, "model.safetensors");

    snprintf(note.value, sizeof note.value, "%s", kith_version());
    kith_status status = path ? kith__tensors_save(path, &group, 1, &note, 1, error)
                              : kith__no_memory(error);
    kith__free(path);
    return status;
}

const kith__table *kith__run_unusable_table(const kith_model *model)
{
    for (size_t i = 0; i < model->params.tables; i++) {
        const kith__table *t = &model->params.table[i];
        bool good = true;
        for (size_t k = 0; k < t->rows * t->stride; k++)
            good &= fabsf(t->at[k]) <= LARGEST;
        if (!good)
            return t;
    }
    return NULL;
}

kith_status kith__run_load_model(const char *folder, kith_model *model, kith_error *error)
{
    const kith__tensor_group group = {"", &model->params};
    char *path = kith__path_join(folder, "model.safetensors");
    kith_status status =
        path ? kith__tensors_load(path, &group, 1, NULL, 0, model->run_format >= 3,
                                  kith__pool_watch(model->pool), error)
             : kith__no_memory(error);
    kith__free(path);
    if (status == KITH_ERR_IO && !kith__path_exists(folder, "model.safetensors"))
        return kith__fail(
            error, KITH_ERR_INPUT,
            "%s: has no model.safetensors yet; train it first: kith train --resume %s", folder,
            folder);
    const kith__table *broken = status == KITH_OK ? kith__run_unusable_table(model) : NULL;
    if (broken)
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s/model.safetensors: the table '%s' has values that are not finite, or "
                          "so large that scores would not be (above %g)", folder,
                          broken->spec->name, (double)LARGEST);
    return status;
}

/* ---- calibration.json ---- */

kith_status kith__run_save_calibration(const char *folder, const kith_model *model,
                                       kith_error *error)
{
    const float *c = model->calibration.weight;

    return kith__json_save(folder, "calibration.json",
                           json_pack("{si s[fff]}", "format", KITH__RUN_FORMAT, "calibration",
                                     (double)c[0], (double)c[1], (double)c[2]),
                           error);
}

kith_status kith__run_load_calibration(const char *folder, kith_model *model, kith_error *error)
{
    json_t *object = NULL;
    double w[3];
    kith_status status = KITH_OK;

    if (!kith__path_exists(folder, "calibration.json"))
        goto cleanup; /* answers then have scores only */
    TRY(kith__json_load(&object, NULL, folder, "calibration.json", model->run_format >= 3, error));
    if (json_unpack(object, "{s[FFF]}", "calibration", &w[0], &w[1], &w[2]) != 0 ||
        !(fabs(w[0]) <= LARGEST) || !(fabs(w[1]) <= LARGEST) || !(fabs(w[2]) <= LARGEST))
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s/calibration.json: has no three finite numbers of calibration", folder));
    for (int i = 0; i < 3; i++)
        model->calibration.weight[i] = (float)w[i];
    model->calibration.fitted = true;
cleanup:
    json_decref(object);
    return status;
}
