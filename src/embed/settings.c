/* One table defines the names, values and help of all settings; the command line, config.json and
 * the help are generated from it. */
#include "embed/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "embed/aggregators/aggregator.h"
#include "embed/decoders/decoder.h"
#include "embed/losses/loss.h"
#include "core/numbers.h"

typedef enum { CHOICE, SWITCH, COUNT, REAL, SEED, WIDTH, AGGREGATOR, DECODER, LOSS } kind;

/* What a setting requires: without it, the setting has no effect. */
typedef enum {
    ANY,
    EMBEDDING, /* all below need an embedding too */
    ATTENTION,
    LOGIC,
    DISTANCE, /* a decoder that is a distance */
    CUT,      /* lists of neighbours that may be cut */
    PADDABLE, /* an aggregator that supports padding */
    TABLES,   /* tables with their own learning rate */
    CORRUPTED, /* a loss over true and false facts */
    MARGIN,    /* a loss with a margin */
    SHARED,    /* a loss over negatives that queries share */
    SCALED,    /* a loss over scaled scores */
    EVALUATED /* training evaluates on dev */
} need;

typedef struct {
    const char *name;
    kind kind;
    size_t offset;
    /* of a CHOICE: the values in the order of its enum; of a number: its range, for help */
    const char *choices;
    double low, high;    /* of numbers */
    const char *help;
    need need;
} setting;

#define AT(field) offsetof(kith_settings, field)

static const setting table[] = {
    {"evidence", CHOICE, AT(evidence), "none|rules|fused", 0, 0,
     "an embedding alone (none), rules alone, or both fused", ANY},
    {"unseen-neighbors", SWITCH, AT(unseen_neighbors), "on|off", 0, 0,
     "use the facts of unseen entities in queries about other entities too", ANY},
    {"aggregator", AGGREGATOR, AT(aggregator), NULL, 0, 0,
     "how an entity's neighbours are combined into one vector", EMBEDDING},
    {"decoder", DECODER, AT(decoder), NULL, 0, 0, "the scoring function of facts", EMBEDDING},
    {"loss", LOSS, AT(loss), NULL, 0, 0, "the loss that training minimises", EMBEDDING},
    {"subtask", SWITCH, AT(subtask), "on|off", 0, 0, "apply the loss to input embeddings too",
     EMBEDDING},
    {"dim", COUNT, AT(dim), "N", 1, 65536, "width of the embeddings", EMBEDDING},
    {"attention-width", WIDTH, AT(attention_width), "d|2d|N", 1, 65536,
     "width of the attention layer", ATTENTION},
    {"logic-denominator", CHOICE, AT(logic_denominator), "max|one-plus-max", 0, 0,
     "the denominator of the logic weight", LOGIC},
    {"self-confidence", CHOICE, AT(self_confidence), "one|row-mean", 0, 0, "the value of P(r => r)",
     LOGIC},
    {"normalize", SWITCH, AT(normalize), "on|off", 0, 0, "scale vectors to length 1 (TransE)",
     DISTANCE},
    {"predict", CHOICE, AT(predict), "object|subject|both|auto", 0, 0,
     "the side of a fact that evaluation predicts", ANY},
    {"corrupt", CHOICE, AT(corrupt), "predicted|object|subject|either", 0, 0,
     "the side of a fact that negatives replace", CORRUPTED},
    {"neighbors", CHOICE, AT(neighbors), "first|random|all|sampled", 0, 0,
     "which neighbours are used if an entity has more than the cap", EMBEDDING},
    {"max-neighbors", COUNT, AT(max_neighbors), "N", 1, 4294967295.0,
     "the cap on an entity's neighbours", CUT},
    {"mask", SWITCH, AT(mask), "on|off", 0, 0,
     "hide the fact being trained on from the neighbourhoods of its entities", EMBEDDING},
    {"padding", SWITCH, AT(padding), "on|off", 0, 0,
     "pad short lists of neighbours with a trained vector (mean, lstm)", PADDABLE},
    {"batch", COUNT, AT(batch), "N", 1, 1 << 20, "facts per training step", EMBEDDING},
    {"negatives", COUNT, AT(negatives), "N", 1, 4096, "negatives per fact", CORRUPTED},
    {"directions", CHOICE, AT(directions), "predicted|both", 0, 0,
     "which sides of a fact are predicted in training (softmax)", SHARED},
    {"reciprocal", SWITCH, AT(reciprocal), "on|off", 0, 0,
     "use separate decoder vectors for inverse relations (softmax)", SHARED},
    {"candidate-vectors", CHOICE, AT(candidate_vectors), "encoded|input", 0, 0,
     "which vectors of candidates are scored: encodings or input embeddings", EMBEDDING},
    {"shared-negatives", COUNT, AT(shared_negatives), "N", 1, 1 << 20,
     "negatives that all queries of a batch share (softmax)", SHARED},
    {"scale", REAL, AT(scale), "X", 0, 1e6, "factor by which scores are multiplied (softmax)",
     SCALED},
    {"lr", REAL, AT(lr), "X", 0, 10, "learning rate", EMBEDDING},
    {"schedule", CHOICE, AT(schedule), "constant|linear", 0, 0,
     "keep the learning rate constant, or reduce it to 0 by the end", EMBEDDING},
    {"table-lr", REAL, AT(table_lr), "X", 0, 1000,
     "learning rate of the aggregator table, as a multiple of lr", TABLES},
    {"margin", REAL, AT(margin), "X", 0, 1e6, "margin of the margin loss", MARGIN},
    {"l2", REAL, AT(l2), "X", 0, 10, "weight decay of the encoder, without input embeddings",
     EMBEDDING},
    {"adam", CHOICE, AT(adam), "dense|lazy", 0, 0,
     "update all rows, or only those that a step uses", EMBEDDING},
    {"epsilon", CHOICE, AT(epsilon), "outside|inside", 0, 0,
     "where Adam adds epsilon: as in TensorFlow (outside) or as in its paper (inside)", EMBEDDING},
    {"epochs", COUNT, AT(epochs), "N", 1, 1e9, "passes over the training facts", EMBEDDING},
    {"eval-every", COUNT, AT(eval_every), "N", 0, 1e9,
     "epochs between evaluations on dev; 0: never", EMBEDDING},
    {"eval-facts", COUNT, AT(eval_facts), "N", 0, 4294967295.0,
     "dev facts to evaluate on, drawn at random; 0: all", EVALUATED},
    {"patience", COUNT, AT(patience), "N", 0, 1e9,
     "stop after this many evaluations without improvement; 0: never", EVALUATED},
    {"seed", SEED, AT(seed), "N", 0, 0,
     "random seed; on the same machine, the same seed gives the same model, byte for byte", ANY},
};
enum { SETTINGS = sizeof table / sizeof *table };

static const char *choices_of(const setting *s)
{
    switch (s->kind) {
    case AGGREGATOR:
        return kith__aggregator_names();
    case DECODER:
        return kith__decoder_names();
    case LOSS:
        return kith__loss_names();
    default:
        return s->choices;
    }
}

static bool is_met(const kith_settings *s, need what)
{
    const kith__aggregator *agg = kith__aggregator_get(s->aggregator);
    const kith__loss *loss = kith__loss_get(s->loss);
    bool met = false;

    if (what == ANY || s->evidence == KITH_EVIDENCE_RULES)
        return what == ANY;
    switch (what) {
    case ATTENTION:
        return agg->attention;
    case LOGIC:
        return agg->logic;
    case DISTANCE:
        return kith__decoder_get(s->decoder)->distance;
    case CUT:
        return s->neighbors != KITH_NEIGHBORS_ALL;
    case PADDABLE:
    case TABLES:
        for (size_t i = 0; i < agg->tables; i++)
            met |= what == TABLES ? agg->table[i].spec.own_rate : agg->table[i].only_padded;
        return met;
    case CORRUPTED:
        return loss->negatives == KITH__CORRUPTED;
    case MARGIN:
        return loss->margin;
    case SHARED:
        return loss->negatives == KITH__SHARED;
    case SCALED:
        return loss->scaled;
    case EVALUATED:
        return s->eval_every > 0;
    default:
        return true;
    }
}

const char *kith_settings_name(size_t index, const char **help, const char **choices)
{
    if (index >= SETTINGS)
        return NULL;
    if (help)
        *help = table[index].help;
    if (choices)
        *choices = choices_of(&table[index]);
    return table[index].name;
}

/* ---- choices: "a|b|c" ---- */

int kith__choice_find(const char *choices, const char *value)
{
    size_t length = strlen(value);

    for (int i = 0;; i++) {
        size_t here = strcspn(choices, "|");
        if (here == length && memcmp(choices, value, length) == 0)
            return i;
        if (choices[here] == '\0')
            return -1;
        choices += here + 1;
    }
}

static void print_choice(char *text, size_t size, const char *choices, int index)
{
    for (; index > 0; index--)
        choices += strcspn(choices, "|") + 1;
    snprintf(text, size, "%.*s", (int)strcspn(choices, "|"), choices);
}

static void print_real(char *text, size_t size, double number)
{
    locale_t before = kith__plain_numbers();

    snprintf(text, size, "%.9g", number);
    if (strtod(text, NULL) != number) /* nine digits are not enough */
        snprintf(text, size, "%.17g", number);
    kith__usual_numbers(before);
}

/* ---- setting ---- */

static bool store(kith_settings *settings, const setting *s, const char *value)
{
    char *field = (char *)settings + s->offset;
    uint64_t count;
    int index;

    switch (s->kind) {
    case SWITCH:
        index = kith__choice_find("on|off", value);
        if (index >= 0)
            *(int *)field = index == 0;
        return index >= 0;
    case CHOICE:
    case AGGREGATOR:
    case DECODER:
    case LOSS:
        index = kith__choice_find(choices_of(s), value);
        if (index >= 0)
            *(int *)field = index;
        return index >= 0;
    case WIDTH:
        if (strcmp(value, "d") == 0 || strcmp(value, "2d") == 0)
            *(int64_t *)field = value[0] == 'd' ? KITH_WIDTH_D : KITH_WIDTH_2D;
        else if (kith__parse_count(&count, value, (uint64_t)s->low, (uint64_t)s->high))
            *(int64_t *)field = (int64_t)count;
        else
            return false;
        return true;
    case SEED:
        return kith__parse_count((uint64_t *)field, value, 0, INT64_MAX);
    case REAL:
        return kith__parse_real((double *)field, value, s->low, s->high);
    case COUNT:
        if (!kith__parse_count(&count, value, (uint64_t)s->low, (uint64_t)s->high))
            return false;
        *(uint32_t *)field = (uint32_t)count;
        return true;
    }
    return false;
}

static const setting *find(const char *name)
{
    for (size_t i = 0; name && i < SETTINGS; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

kith_status kith_settings_set(kith_settings *settings, const char *name, const char *value,
                              kith_error *error)
{
    if (!settings || !name || !value)
        return kith__null_argument(error, __func__);

    const setting *s = find(name);

    if (!s)
        return kith__fail(error, KITH_ERR_NOT_FOUND, "unknown setting '%s'", name ? name : "");
    if (!value)
        return kith__fail(error, KITH_ERR_ARGUMENT, "%s has no value", name);
    if (store(settings, s, value))
        return KITH_OK;
    if (s->kind == COUNT || s->kind == REAL || s->kind == WIDTH)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "%s is '%s', expected %s%s from %.10g to %.10g", name, value,
                          s->kind == WIDTH ? "d, 2d or " : "",
                          s->kind == REAL ? "a number" : "a whole number", s->low, s->high);
    return kith__fail(error, KITH_ERR_ARGUMENT, "%s is '%s', expected %s", name, value,
                      s->kind == SEED ? "a whole number" : choices_of(s));
}

const char *kith_settings_get(char *text, size_t size, const kith_settings *settings,
                              const char *name)
{
    if (!text || !settings || !name)
        return NULL;

    const setting *s = find(name);

    if (!s)
        return NULL;
    const char *field = (const char *)settings + s->offset;
    switch (s->kind) {
    case SWITCH:
        snprintf(text, size, "%s", *(const int *)field ? "on" : "off");
        break;
    case CHOICE:
    case AGGREGATOR:
    case DECODER:
    case LOSS:
        print_choice(text, size, choices_of(s), *(const int *)field);
        break;
    case WIDTH:
        if (*(const int64_t *)field < 0)
            snprintf(text, size, "%s", *(const int64_t *)field == KITH_WIDTH_D ? "d" : "2d");
        else
            snprintf(text, size, "%" PRId64, *(const int64_t *)field);
        break;
    case SEED:
        snprintf(text, size, "%" PRIu64, *(const uint64_t *)field);
        break;
    case REAL:
        print_real(text, size, *(const double *)field);
        break;
    case COUNT:
        snprintf(text, size, "%" PRIu32, *(const uint32_t *)field);
        break;
    }
    return text;
}

int kith_settings_applies(const kith_settings *settings, const char *name)
{
    if (!settings || !name)
        return 0;

    const setting *s = find(name);

    return s && is_met(settings, s->need);
}

uint32_t kith__attention_width(const kith_settings *settings)
{
    if (settings->attention_width < 0)
        return settings->dim * (settings->attention_width == KITH_WIDTH_D ? 1 : 2);
    return (uint32_t)settings->attention_width;
}

/* Whether a field holds a value that kith_settings_set accepts. */
static bool in_range(const kith_settings *settings, const setting *s)
{
    const char *field = (const char *)settings + s->offset, *choices = choices_of(s);
    int64_t width = 0;
    double number = 0;
    int count = 1;

    switch (s->kind) {
    case SWITCH:
        return true;
    case CHOICE:
    case AGGREGATOR:
    case DECODER:
    case LOSS:
        for (; *choices; choices++)
            count += *choices == '|';
        return *(const int *)field >= 0 && *(const int *)field < count;
    case SEED:
        return *(const uint64_t *)field <= INT64_MAX;
    case WIDTH:
        width = *(const int64_t *)field;
        return width == KITH_WIDTH_D || width == KITH_WIDTH_2D ||
               ((double)width >= s->low && (double)width <= s->high);
    case REAL:
        number = *(const double *)field;
        break;
    case COUNT:
        number = *(const uint32_t *)field;
        break;
    }
    return number >= s->low && number <= s->high;
}

kith_status kith__settings_check(const kith_settings *settings, kith_error *error)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (!in_range(settings, &table[i]))
            return kith__fail(error, KITH_ERR_ARGUMENT, "the setting %s is out of its range",
                              table[i].name);
    const kith__decoder *decoder = kith__decoder_get(settings->decoder);
    if (settings->dim % decoder->width_multiple != 0)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the decoder %s needs a dim that is a multiple of %u, found %u",
                          decoder->name, decoder->width_multiple, settings->dim);
    if (settings->reciprocal && kith__loss_get(settings->loss)->negatives != KITH__SHARED)
        return kith__fail(
            error, KITH_ERR_ARGUMENT,
            "reciprocal relations need the loss softmax: another trains none of them");
    if (!(settings->scale > 0))
        return kith__fail(error, KITH_ERR_ARGUMENT, "the scale is %g, expected more than 0",
                          settings->scale);
    if (!(settings->lr > 0))
        return kith__fail(error, KITH_ERR_ARGUMENT, "the lr is %g, expected more than 0",
                          settings->lr);
    return KITH_OK;
}
