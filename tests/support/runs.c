#include <jansson.h>

#include "run/run.h"
#include "runs.h"
#include "train/adam.h"

const char *run_source; /* a folder with every part, and a relation that train lacks */

kith_graph *run_graph;

int make_graph(void **state)
{
    const random_shape shape = {.entities = 24,
                                .relations = 4,
                                .train = 90,
                                .dev = 20,
                                .test = 20,
                                .aux = 20,
                                .maps = true,
                                .overlap = true};
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 11, 0);
    run_source = random_folder(&rng, &shape);
    run_graph = opened(run_source);
    return 0;
}

int free_graph(void **state)
{
    (void)state;
    kith_graph_free(run_graph);
    return 0;
}

kith_settings quick_settings(const char *aggregator)
{
    kith_settings s;

    assert_int_equal(kith__settings_init(&s, "release", NULL), KITH_OK);
    set(&s, "aggregator", aggregator);
    s.dim = 8;
    s.batch = 32;
    s.lr = .02;
    s.epochs = 4;
    s.eval_every = 2;
    s.patience = 0;
    s.max_neighbors = 8;
    return s;
}

kith_train_end train_in(const char *folder, const kith_graph *on, const kith_settings *s,
                        const kith_train_options *options)
{
    kith_train_end end = KITH_TRAIN_STOPPED;
    kith_error error;

    if (kith_train(&end, folder, on, s, options, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a run", error.message);
    return end;
}

const char *trained_run(const kith_graph *on, const kith_settings *s, unsigned threads)
{
    const kith_train_options options = {.threads = threads, .checkpoint_seconds = 100};
    const char *folder = new_run();

    assert_int_equal(train_in(folder, on, s, &options), KITH_TRAIN_FINISHED);
    return folder;
}

bool same_model(const char *a, const char *b)
{
    return same_bytes(in(a, "model.safetensors"), in(b, "model.safetensors"));
}

const char *epochs_of(const char *folder)
{
    size_t length;
    char *text = contents(in(folder, "history.jsonl"), &length), *rest = text, *line;
    static char all[256];

    all[0] = '\0';
    while ((line = strsep(&rest, "\n")) && *line) {
        json_t *entry = json_loads(line, 0, NULL);
        if (!json_is_number(json_object_get(entry, "loss")) ||
            !json_is_number(json_object_get(entry, "seconds")))
            fail_msg("found the line '%s', expected an object with loss and seconds", line);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%lld", all[0] ? " " : "",
                 (long long)json_integer_value(json_object_get(entry, "epoch")));
        json_decref(entry);
    }
    free(text);
    return all;
}

double logged(const char *folder, int epoch, const char *key)
{
    size_t length;
    char *text = contents(in(folder, "history.jsonl"), &length), *rest = text, *line = NULL;

    for (int i = 0; i < epoch; i++)
        line = strsep(&rest, "\n");
    json_t *entry = line ? json_loads(line, 0, NULL) : NULL, *value = json_object_get(entry, key);
    double number = json_is_number(value) ? json_number_value(value) : -1;
    json_decref(entry);
    free(text);
    return number;
}

void set_softmax(kith_settings *s, int variant)
{
    static const char *const candidates[] = {"input", "encoded"};
    static const char *const schedules[] = {"linear", "constant"};

    set(s, "loss", "softmax");
    set(s, "candidate-vectors", candidates[variant % 2]);
    set(s, "directions", variant % 3 ? "predicted" : "both");
    set(s, "reciprocal", variant % 5 < 2 ? "on" : "off");
    set(s, "schedule", schedules[variant / 2 % 2]);
    set(s, "neighbors", "sampled");
    s->shared_negatives = variant % 4 == 3 ? 1000 : 10; /* more than there are: all */
    s->max_neighbors = 5;
    s->table_lr = 3;
}

int on_progress(void *context, const kith_progress *p)
{
    run_watch *w = context;

    assert_true(p->facts <= p->facts_total && p->epoch >= 1 && p->epoch <= p->epochs);
    w->epochs += (size_t)p->epoch_done;
    w->evaluated += (size_t)p->evaluated;
    w->best += (size_t)p->best;
    if (p->best)
        w->dev = p->dev;
    return ++w->calls == w->stop_at;
}

const char *stopped_with(const kith_settings *s, const char *table, float value)
{
    run_watch w = {.stop_at = 1};
    kith_train_options options = {.threads = 1, .progress = on_progress, .context = &w};
    const char *folder = new_run();
    kith__position at;
    kith_model *model = NULL;
    kith__adam_state adam;

    assert_int_equal(train_in(folder, run_graph, s, &options), KITH_TRAIN_STOPPED);
    assert_int_equal(kith__run_open(&model, folder, &(kith_work_options){.threads = 1}, NULL),
                     KITH_OK);
    assert_int_equal(kith__adam_init(&adam, &model->params, NULL), KITH_OK);
    kith__moments moments = {&adam.m, &adam.v, 0};
    assert_int_equal(kith__run_load_position(&at, folder, model, &moments, NULL), KITH_OK);
    assert_int_equal(at.batch, 1);
    for (size_t t = 0; t < model->params.tables; t++)
        for (size_t r = 0; r < model->params.table[t].rows; r++)
            if (!table || strcmp(model->params.table[t].spec->name, table) == 0)
                kith__row(&model->params.table[t], r)[0] = value;
    assert_int_equal(kith__run_save_position(folder, &at, model, &moments, NULL), KITH_OK);
    kith__adam_release(&adam);
    kith_model_free(model);
    return folder;
}
