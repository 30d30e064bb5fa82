#include "run/held_out_file.h"

#include <math.h>

#include "core/json.h"
#include "graph/graph.h"
#include "run/json_file.h"

static const char file_name[] = "metrics.json";
static const char former_correct[] = "right"; /* in runs of development versions of 0.2.0 */

/* ---- writing ---- */

static json_t *bins_json(const kith__held_out *h)
{
    json_t *rows = json_array();

    for (int i = 0; i < KITH__RELIABILITY_BINS; i++)
        json_array_append_new(rows,
                              json_pack("{sI sf sf}", "answers", (json_int_t)h->bins[i].answers,
                                        "predicted", h->bins[i].predicted, "correct",
                                        h->bins[i].correct));
    return rows;
}

kith_status kith__held_out_save(const char *folder, const kith__held_out *h, kith_error *error)
{
    const kith_metrics *m = &h->metrics;
    json_t *object;

    if (h->entities == 0)
        return KITH_OK;
    object = json_pack("{sI sI sf sf sf sf sf}", "entities", (json_int_t)h->entities, "queries",
                       (json_int_t)m->queries, "mr", m->mr, "mrr", m->mrr, "hits1", m->hits1,
                       "hits3", m->hits3, "hits10", m->hits10);
    if (object && h->calibration_error >= 0) {
        kith__json_set(&object, "calibration_error", json_real(h->calibration_error));
        kith__json_set(&object, "bins", bins_json(h));
    }
    return kith__json_save(folder, file_name, object, error);
}

/* ---- reading ---- */

static bool read_share(double *number, const json_t *object, const char *name, double most)
{
    const json_t *value = json_object_get(object, name);

    *number = json_number_value(value);
    return json_is_number(value) && *number >= 0 && *number <= most;
}

static bool read_count(size_t *count, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    *count = (size_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 0 &&
           json_integer_value(value) <= UINT32_MAX;
}

static bool read_metrics(kith__held_out *h, const json_t *object)
{
    kith_metrics *m = &h->metrics;
    size_t entities = 0;
    bool good =
        read_count(&entities, object, "entities") && entities > 0 &&
        read_count(&m->queries, object, "queries") &&
        read_share(&m->mr, object, "mr", UINT32_MAX) && read_share(&m->mrr, object, "mrr", 1) &&
        read_share(&m->hits1, object, "hits1", 1) && read_share(&m->hits3, object, "hits3", 1) &&
        read_share(&m->hits10, object, "hits10", 1);

    h->entities = (uint32_t)entities;
    return good;
}

static bool read_bins(kith__held_out *h, const json_t *object)
{
    const json_t *rows = json_object_get(object, "bins");
    bool good = json_array_size(rows) == KITH__RELIABILITY_BINS &&
                read_share(&h->calibration_error, object, "calibration_error", 1);

    for (size_t i = 0; good && i < KITH__RELIABILITY_BINS; i++) {
        const json_t *row = json_array_get(rows, i);
        good = read_count(&h->bins[i].answers, row, "answers") &&
               read_share(&h->bins[i].predicted, row, "predicted", 1) &&
               read_share(&h->bins[i].correct, row,
                          json_object_get(row, "correct") ? "correct" : former_correct, 1);
    }
    return good;
}

kith_status kith__held_out_open(kith_model *model, const char *folder, kith_error *error)
{
    kith__held_out *h = &model->held_out;
    json_t *object = NULL;
    kith_status status;

    *h = (kith__held_out){.calibration_error = -1};
    if (!kith__path_exists(folder, file_name))
        return KITH_OK;
    TRY(kith__json_load(&object, NULL, folder, file_name, true, error));
    if (!read_metrics(h, object) || (json_object_get(object, "bins") && !read_bins(h, object)))
        TRY(kith__fail(error, KITH_ERR_INPUT, "%s/%s: a number is missing or cannot be used",
                       folder, file_name));
cleanup:
    json_decref(object);
    return status;
}
