#include "run/held_out_file.h"

#include <math.h>

#include "core/json.h"
#include "graph/graph.h"
#include "run/json_file.h"

static const char file_name[] = "metrics.json";
static const char former_correct[] = "right"; /* in runs of development versions of 0.2.0 */

/* ---- writing ---- */

static json_t *bins_json(const kith_reliability *bins)
{
    json_t *rows = json_array();

    for (int i = 0; i < KITH__RELIABILITY_BINS; i++)
        json_array_append_new(rows, json_pack("{sI sf sf}", "answers", (json_int_t)bins[i].answers,
                                              "predicted", bins[i].predicted, "correct",
                                              bins[i].correct));
    return rows;
}

static const char *const table_names[KITH__PROBABILITY_TABLES] = {"one_relation", "any_relation",
                                                                  "if_any"};

static json_t *table_json(const kith__probability_table *table)
{
    const kith_probability_table *t = &table->shown;

    return json_pack("{sI sI sI sI sf sf sf so}", "answers", (json_int_t)t->answers, "correct",
                     (json_int_t)t->correct, "at_least_half", (json_int_t)t->at_least_half,
                     "at_least_half_correct", (json_int_t)t->at_least_half_correct,
                     "calibration_error", t->calibration_error, "log_loss", t->log_loss,
                     "base_rate_log_loss", t->base_rate_log_loss, "bins", bins_json(table->bins));
}

static json_t *probabilities_json(const kith__probability_tables *p)
{
    json_t *object = json_pack("{sI sI}", "entities", (json_int_t)p->entities, "queries",
                               (json_int_t)p->queries);

    for (int i = 0; i < KITH__PROBABILITY_TABLES; i++)
        json_object_set_new(object, table_names[i], table_json(&p->of[i]));
    return object;
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
        kith__json_set(&object, "bins", bins_json(h->bins));
    }
    if (object && h->probabilities.entities > 0)
        kith__json_set(&object, "probabilities", probabilities_json(&h->probabilities));
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

static bool read_bins(kith_reliability *bins, double *calibration_error, const json_t *object)
{
    const json_t *rows = json_object_get(object, "bins");
    bool good = json_array_size(rows) == KITH__RELIABILITY_BINS &&
                read_share(calibration_error, object, "calibration_error", 1);

    for (size_t i = 0; good && i < KITH__RELIABILITY_BINS; i++) {
        const json_t *row = json_array_get(rows, i);
        good = read_count(&bins[i].answers, row, "answers") &&
               read_share(&bins[i].predicted, row, "predicted", 1) &&
               read_share(&bins[i].correct, row,
                          json_object_get(row, "correct") ? "correct" : former_correct, 1);
    }
    return good;
}

static bool read_table(kith__probability_table *table, const json_t *object)
{
    kith_probability_table *t = &table->shown;

    return read_count(&t->answers, object, "answers") &&
           read_count(&t->correct, object, "correct") && t->correct <= t->answers &&
           read_count(&t->at_least_half, object, "at_least_half") &&
           read_count(&t->at_least_half_correct, object, "at_least_half_correct") &&
           read_bins(table->bins, &t->calibration_error, object) &&
           read_share(&t->log_loss, object, "log_loss", 100) &&
           read_share(&t->base_rate_log_loss, object, "base_rate_log_loss", 100);
}

static bool read_probabilities(kith__probability_tables *p, const json_t *object)
{
    bool good = read_count(&p->entities, object, "entities") && p->entities > 0 &&
                read_count(&p->queries, object, "queries");

    for (int i = 0; good && i < KITH__PROBABILITY_TABLES; i++)
        good = read_table(&p->of[i], json_object_get(object, table_names[i]));
    return good;
}

static bool read_held_out(kith__held_out *h, const json_t *object)
{
    const json_t *probabilities = json_object_get(object, "probabilities");

    return read_metrics(h, object) &&
           (!json_object_get(object, "bins") ||
            read_bins(h->bins, &h->calibration_error, object)) &&
           (!probabilities || read_probabilities(&h->probabilities, probabilities));
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
    if (!read_held_out(h, object))
        TRY(kith__fail(error, KITH_ERR_INPUT, "%s/%s: a number is missing or cannot be used",
                       folder, file_name));
cleanup:
    json_decref(object);
    return status;
}
