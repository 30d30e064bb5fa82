/* Presets: values for all settings at once. */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "embed/aggregators/aggregator.h"
#include "embed/decoders/decoder.h"
#include "embed/losses/loss.h"

/* Where the authors' program differs from the paper; everything else is in `usual`. */
static void apply_release(kith_settings *s)
{
    s->attention_width = KITH_WIDTH_2D;
    s->logic_denominator = KITH_LOGIC_ONE_PLUS_MAX;
    s->self_confidence = KITH_SELF_ROW_MEAN;
    s->normalize = 1;
    s->corrupt = KITH_CORRUPT_PREDICTED;
    s->neighbors = KITH_NEIGHBORS_FIRST;
    s->padding = 1;
}

static void apply_paper(kith_settings *s)
{
    s->attention_width = KITH_WIDTH_D;
    s->logic_denominator = KITH_LOGIC_MAX;
    s->self_confidence = KITH_SELF_ONE;
    s->normalize = 0;
    s->corrupt = KITH_CORRUPT_EITHER;
    s->neighbors = KITH_NEIGHBORS_RANDOM;
    s->padding = 0;
}

/* The authors' model in fewer epochs: larger steps that decrease towards the end. */
static void apply_paper_fast(kith_settings *s)
{
    apply_release(s);
    s->lr = .005;
    s->schedule = KITH_SCHEDULE_LINEAR;
    s->epochs = 300;
    s->eval_every = 25;
    s->patience = 0;
}

/* The settings that reached the best results per minute of training, chosen on pseudo-unseen
 * entities of FB15k; the model itself is that of the authors' program. */
void kith__settings_embedding(kith_settings *s)
{
    apply_release(s);
    s->unseen_neighbors = 1;
    s->aggregator = kith__choice_find(kith__aggregator_names(), "table");
    s->decoder = kith__choice_find(kith__decoder_names(), "transe");
    s->loss = kith__choice_find(kith__loss_names(), "softmax");
    s->subtask = 0;
    s->normalize = 0;
    s->neighbors = KITH_NEIGHBORS_SAMPLED;
    s->max_neighbors = 256;
    s->mask = 1;
    s->padding = 0;
    s->batch = 2048;
    s->directions = KITH_DIRECTIONS_BOTH;
    s->reciprocal = 1;
    s->candidate_vectors = KITH_CANDIDATES_INPUT;
    s->shared_negatives = 2000;
    s->scale = 2;
    s->lr = .004;
    s->schedule = KITH_SCHEDULE_LINEAR;
    s->table_lr = 10;
    s->epochs = 12;
    s->eval_every = 12;
}

static void apply_rules(kith_settings *s)
{
    apply_release(s);
    s->evidence = KITH_EVIDENCE_RULES;
    s->unseen_neighbors = 1;
    s->aggregator = kith__choice_find(kith__aggregator_names(), "mean");
}

/* For triplet classification: the settings of the paper's tables for it, with rules. */
static void apply_triplets(kith_settings *s)
{
    apply_release(s);
    s->evidence = KITH_EVIDENCE_FUSED;
    s->margin = 300;
    s->l2 = .001;
    s->epochs = 40;
    s->eval_every = 0;
}

static void apply_kith(kith_settings *s)
{
    kith__settings_embedding(s);
    s->subtask = 1; /* improves ranks where many facts have no supporting rule */
    s->evidence = KITH_EVIDENCE_FUSED;
    s->eval_every = 0;
}

/* The default first. */
static const struct {
    const char *name, *help;
    void (*apply)(kith_settings *);
} presets[] = {
    {"kith", "rules, proximity and an embedding, combined by a fitted fusion", apply_kith},
    {"triplets", "the same for labelled facts (triplet classification)", apply_triplets},
    {"rules", "rules and proximity, without an embedding", apply_rules},
    {"embedding", "an embedding alone, tuned for few epochs", kith__settings_embedding},
    {"release", "the Logic Attention Network as in the authors' program", apply_release},
    {"paper", "the same as in the paper's text", apply_paper},
    {"paper-fast", "release in 300 epochs instead of 1,000", apply_paper_fast},
};
enum { PRESETS = sizeof presets / sizeof *presets };

const char *kith_settings_preset(size_t index, const char **help)
{
    if (index >= PRESETS)
        return NULL;
    if (help)
        *help = presets[index].help;
    return presets[index].name;
}

/* Values that presets do not set. */
static kith_settings usual(void)
{
    kith_settings s = {.subtask = 1,
                       .dim = 100,
                       .predict = KITH_PREDICT_AUTO,
                       .max_neighbors = 64,
                       .batch = 1024,
                       .negatives = 1,
                       .directions = KITH_DIRECTIONS_PREDICTED,
                       .candidate_vectors = KITH_CANDIDATES_ENCODED,
                       .shared_negatives = 1000,
                       .scale = 1,
                       .lr = .001,
                       .margin = 1,
                       .schedule = KITH_SCHEDULE_CONSTANT,
                       .table_lr = 1,
                       .adam = KITH_ADAM_DENSE,
                       .epsilon = KITH_EPSILON_OUTSIDE,
                       .epochs = 1000,
                       .eval_every = 50,
                       .eval_facts = 1000,
                       .patience = 5,
                       .seed = 1};

    s.aggregator = kith__choice_find(kith__aggregator_names(), "lan");
    s.decoder = kith__choice_find(kith__decoder_names(), "transe");
    s.loss = kith__choice_find(kith__loss_names(), "margin");
    return s;
}

kith_status kith__settings_init(kith_settings *settings, const char *preset, kith_error *error)
{
    char names[128] = "";

    for (size_t i = 0, used = 0; i < PRESETS; i++) {
        if (preset && strcmp(preset, presets[i].name) == 0) {
            *settings = usual();
            presets[i].apply(settings);
            return KITH_OK;
        }
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 i == 0             ? ""
                                 : i + 1 == PRESETS ? " or "
                                                    : ", ",
                                 presets[i].name);
    }
    return kith__fail(error, KITH_ERR_ARGUMENT, "there is no preset '%s', expected %s",
                      preset ? preset : "", names);
}

kith_status kith_settings_new(kith_settings **settings, const char *preset, kith_error *error)
{
    if (!settings)
        return kith__null_argument(error, __func__);

    kith_settings *s = kith__calloc(1, sizeof *s);
    kith_status status = s ? kith__settings_init(s, preset, error) : kith__no_memory(error);

    *settings = NULL;
    if (status == KITH_OK)
        *settings = s;
    else
        kith__free(s);
    return status;
}

/* When starting from an earlier run, smaller batches reach the same result in a third of the epochs
 * (docs/TRIED.md). */
kith_status kith_settings_start_from(kith_settings *settings, kith_error *error)
{
    enum { BATCH = 512, PARTS = 3 };

    if (!settings)
        return kith__null_argument(error, __func__);
    if (kith__loss_get(settings->loss)->negatives == KITH__SHARED && settings->batch > BATCH) {
        settings->batch = BATCH;
        settings->epochs = (settings->epochs + PARTS - 1) / PARTS;
    }
    return KITH_OK;
}

void kith_settings_free(kith_settings *settings)
{
    kith__free(settings);
}
