/* The output of kith eval about overall probabilities. */
#include <math.h>

#include "cli/eval_probabilities.h"
#include "cli/held_out.h"

static double standard_error(const kith_reliability *bin)
{
    return bin->answers ? sqrt(bin->correct * (1 - bin->correct) / (double)bin->answers) : 0;
}

/* ---- as text ---- */

static void print_table(const char *title, const kith_probability_table *t)
{
    char text[GROUPED];

    say("\n%-14s %9s %9s %9s %9s\n", title, "answers", "mean", "correct", "error");
    for (size_t i = 0; i < t->bin_count; i++)
        if (t->bins[i]->answers > 0)
            say("  .%zu to %-6s %9s %9.3f %9.3f %9.3f\n", i,
                i == 9 ? "1" : (char[]){'.', (char)('1' + i), 0},
                grouped(text, t->bins[i]->answers), t->bins[i]->predicted, t->bins[i]->correct,
                standard_error(t->bins[i]));
    say("  expected calibration error %.4f, log-loss %.4f (%.4f without any model)\n",
        t->calibration_error, t->log_loss, t->base_rate_log_loss);
    say("  %s answers have .5 or more, ", grouped(text, t->at_least_half));
    say("%s of them correct; ", grouped(text, t->at_least_half_correct));
    say("of all answers, %s are correct\n", grouped(text, t->correct));
}

void print_probabilities(const kith_probability_eval *e)
{
    char text[GROUPED];

    say("\nProbabilities: %s entities unseen in training, each with 10 to 90 %% of its facts "
        "hidden\n",
        grouped(text, e->entities));
    print_table("S r ?", e->relations);
    print_table("S ? ?", e->pairs);
    print_table("S r ? if any", e->if_any);
}

/* ---- as JSON ---- */

static json_t *table_json(const kith_probability_table *t)
{
    json_t *object = json_pack("{sI sI sI sI}", "answers", (json_int_t)t->answers, "correct",
                               (json_int_t)t->correct, "at_least_half",
                               (json_int_t)t->at_least_half, "at_least_half_correct",
                               (json_int_t)t->at_least_half_correct);
    json_t *bins = json_array();

    for (size_t i = 0; i < t->bin_count; i++) {
        json_t *bin = bin_json(t->bins[i]);
        if (t->bins[i]->answers > 0)
            json_object_set_new(bin, "standard_error", json_real(standard_error(t->bins[i])));
        json_array_append_new(bins, bin);
    }
    if (t->answers > 0)
        json_object_update_new(object, json_pack("{sf sf sf}", "expected_error",
                                                 t->calibration_error, "log_loss", t->log_loss,
                                                 "base_rate_log_loss", t->base_rate_log_loss));
    json_object_set_new(object, "bins", bins);
    return object;
}

json_t *probabilities_json(const kith_probability_eval *e)
{
    return json_pack("{sI sI so so so}", "entities", (json_int_t)e->entities, "queries",
                     (json_int_t)e->queries, "one_relation", table_json(e->relations),
                     "any_relation", table_json(e->pairs), "if_any", table_json(e->if_any));
}
