#include "rankings.h"
#include "model/classify.h"

kith_settings quick(const char *aggregator, const char *predict)
{
    kith_settings s;

    assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
    set(&s, "aggregator", aggregator);
    set(&s, "predict", predict);
    s.dim = 8;
    s.max_neighbors = 8;
    return s;
}

kith_eval *evaluated(kith_model *model, kith_split split, int all_candidates)
{
    kith_eval_options options = {
        .split = split, .candidates = all_candidates ? KITH_ANSWERS_ALL : KITH_ANSWERS_SEEN};
    kith_eval *result;
    kith_error error;

    if (kith_graph_facts(kith_model_graph(model), split).truth &&
        kith__classifier_fit(model, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a classifier", error.message);
    if (kith_evaluate(&result, model, &options, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a result", error.message);
    return result;
}

kith_graph *random_graph(uint64_t seed, bool labels)
{
    const random_shape shape = {.entities = 30,
                                .relations = 4,
                                .train = 80,
                                .dev = 40,
                                .test = 40,
                                .aux = 30,
                                .labels = labels,
                                .overlap = true};
    kith__rng rng;

    kith__rng_init(&rng, seed, 5);
    return opened(random_folder(&rng, &shape));
}
