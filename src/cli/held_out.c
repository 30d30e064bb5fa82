#include "cli/held_out.h"

#include "cli/eval_probabilities.h"

/* ---- as text ---- */

void print_metrics_head(const char *title)
{
    say("\n%-14s %9s %9s %8s %8s %8s %8s\n", title, "queries", "MR", "MRR", "Hits@1", "Hits@3",
        "Hits@10");
}

void print_metrics(const char *name, const kith_metrics *m)
{
    char text[GROUPED];

    if (m->queries == 0)
        return;
    say("  %-12s %9s %9.1f %8.4f %8.4f %8.4f %8.4f\n", name, grouped(text, m->queries), m->mr,
        m->mrr, m->hits1, m->hits3, m->hits10);
}

void print_reliability(const kith_reliability *const *bins, size_t count, double error)
{
    char text[GROUPED];

    if (error < 0)
        return;
    say("\n%-14s %9s %9s %9s\n", "Prob. if one", "answers", "mean", "correct");
    for (size_t i = 0; i < count; i++)
        if (bins[i]->answers > 0)
            say("  .%zu to %-6s %9s %9.3f %9.3f\n", i,
                i == 9 ? "1" : (char[]){'.', (char)('1' + i), 0}, grouped(text, bins[i]->answers),
                bins[i]->predicted, bins[i]->correct);
    say("  expected calibration error %.4f\n", error);
}

void print_held_out(const kith_model *model)
{
    kith_held_out *h = NULL;
    char text[GROUPED];

    if (kith_model_held_out(&h, model, NULL) != KITH_OK) {
        say("\n  Training measured nothing on held-out entities: it does so for runs with rules "
            "that "
            "are\n  trained from scratch, where enough entities can be held out.\n");
        return;
    }
    print_metrics_head("Held out");
    print_metrics("realistic", h->metrics);
    say("\n  Training measured this on %s entities that it had held out, with a model that had not "
        "seen\n  them and weights that were not fitted on them.\n",
        grouped(text, h->entities));
    print_reliability(h->reliability, h->reliability_count, h->calibration_error);
    if (h->probabilities)
        print_probabilities(h->probabilities);
    else
        say("\n  The percentages of kith predict were not measured: that needs 50 entities in the\n"
            "  calibration split, and there were fewer.\n");
    kith_held_out_free(h);
}

/* ---- as JSON ---- */

json_t *metrics_json(const kith_metrics *m)
{
    if (m->queries == 0)
        return json_pack("{si}", "queries", 0);
    return json_pack("{sI sf sf s{sf sf sf}}", "queries", (json_int_t)m->queries, "mr", m->mr,
                     "mrr", m->mrr, "hits", "1", m->hits1, "3", m->hits3, "10", m->hits10);
}

json_t *bin_json(const kith_reliability *bin)
{
    if (bin->answers == 0)
        return json_pack("{si}", "answers", 0);
    return json_pack("{sI sf sf}", "answers", (json_int_t)bin->answers, "predicted",
                     bin->predicted, "correct", bin->correct);
}

json_t *reliability_json(const kith_reliability *const *bins, size_t count, double error)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, bin_json(bins[i]));
    return json_pack("{sf so}", "expected_error", error, "bins", rows);
}

json_t *held_out_json(const kith_model *model)
{
    kith_held_out *h = NULL;
    json_t *object;

    if (kith_model_held_out(&h, model, NULL) != KITH_OK)
        return NULL;
    object = metrics_json(h->metrics);
    if (object)
        json_object_set_new(object, "entities", json_integer((json_int_t)h->entities));
    if (object && h->calibration_error >= 0)
        json_object_set_new(object, "reliability",
                            reliability_json(h->reliability, h->reliability_count,
                                             h->calibration_error));
    if (object && h->probabilities)
        json_object_set_new(object, "probabilities", probabilities_json(h->probabilities));
    kith_held_out_free(h);
    return object;
}
