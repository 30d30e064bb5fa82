/* Settings as the library uses them; users access them by name (kith.h). */
#ifndef KITH_EMBED_SETTINGS_H
#define KITH_EMBED_SETTINGS_H

#include "core/status.h"

typedef enum kith_logic_denominator {
    KITH_LOGIC_MAX,         /* max P(r' => r), 1 if that is 0 or there is no other relation */
    KITH_LOGIC_ONE_PLUS_MAX /* 1 + max P(r' => r) */
} kith_logic_denominator;
typedef enum kith_self_confidence { KITH_SELF_ONE, KITH_SELF_ROW_MEAN } kith_self_confidence;
typedef enum kith_neighbors_kept {
    KITH_NEIGHBORS_FIRST,
    KITH_NEIGHBORS_RANDOM,
    KITH_NEIGHBORS_ALL,
    KITH_NEIGHBORS_SAMPLED /* all, but a sample per epoch in training */
} kith_neighbors_kept;
typedef enum kith_directions {
    KITH_DIRECTIONS_PREDICTED, /* a fact is a query for the side that is predicted */
    KITH_DIRECTIONS_BOTH       /* for both sides */
} kith_directions;
typedef enum kith_candidate_vectors {
    KITH_CANDIDATES_ENCODED, /* answers are scored by their encodings */
    KITH_CANDIDATES_INPUT    /* by their input embeddings, if they have one */
} kith_candidate_vectors;
typedef enum kith_schedule {
    KITH_SCHEDULE_CONSTANT,
    KITH_SCHEDULE_LINEAR /* the learning rate falls to 0 at the end of the last epoch */
} kith_schedule;
typedef enum kith_predict {
    KITH_PREDICT_OBJECT,
    KITH_PREDICT_SUBJECT,
    KITH_PREDICT_BOTH,
    KITH_PREDICT_AUTO /* the side of test on which the unseen entities are */
} kith_predict;
typedef enum kith_corrupt {
    KITH_CORRUPT_PREDICTED, /* the side that is predicted; either if both are */
    KITH_CORRUPT_OBJECT,
    KITH_CORRUPT_SUBJECT,
    KITH_CORRUPT_EITHER
} kith_corrupt;
typedef enum kith_adam { KITH_ADAM_DENSE, KITH_ADAM_LAZY } kith_adam;
typedef enum kith_epsilon {
    KITH_EPSILON_OUTSIDE, /* sqrt(v) + epsilon, as in TensorFlow */
    KITH_EPSILON_INSIDE   /* sqrt(v / correction) + epsilon, as in the Adam paper */
} kith_epsilon;

typedef enum kith_evidence_mode {
    KITH_EVIDENCE_NONE,  /* the embedding alone */
    KITH_EVIDENCE_RULES, /* rules alone, no embedding */
    KITH_EVIDENCE_FUSED  /* both, weighted on entities held out of train */
} kith_evidence_mode;

enum { KITH_WIDTH_D = -1, KITH_WIDTH_2D = -2 };

/* Aggregator, decoder and loss are rows of tables: set them by name. */
struct kith_settings {
    kith_evidence_mode evidence;
    int unseen_neighbors; /* facts of unseen entities count for other entities too */
    int aggregator;
    int decoder;
    int loss;
    int subtask; /* apply the loss to input embeddings too */
    uint32_t dim;
    int64_t attention_width; /* or KITH_WIDTH_D, KITH_WIDTH_2D */
    kith_logic_denominator logic_denominator;
    kith_self_confidence self_confidence;
    int normalize; /* TransE on vectors of length 1 */
    kith_predict predict;
    kith_corrupt corrupt;
    kith_neighbors_kept neighbors;
    uint32_t max_neighbors;
    int mask;    /* hide the fact being trained on from the neighbourhoods */
    int padding; /* mean and lstm: a trained neighbour fills the list up to max_neighbors */
    uint32_t batch, negatives;
    kith_directions directions; /* of softmax queries */
    int reciprocal;             /* softmax: separate decoder relations for inverse relations */
    kith_candidate_vectors candidate_vectors; /* which vectors of answers are scored */
    uint32_t shared_negatives;                /* of softmax: per batch */
    double scale;                             /* factor of scores, before softmax */
    double lr, margin, l2;
    kith_schedule schedule;
    double table_lr; /* factor of lr, for the tables of the aggregator `table` */
    kith_adam adam;
    kith_epsilon epsilon;
    uint32_t epochs, eval_every, eval_facts, patience;
    uint64_t seed;
};

/* Like kith_settings_new, into the caller's struct. */
kith_status kith__settings_init(kith_settings *settings, const char *preset, kith_error *error);
/* The index of a value among choices "a|b|c"; -1 if it is none of them. */
int kith__choice_find(const char *choices, const char *value);
/* The attention layer's width in units. */
uint32_t kith__attention_width(const kith_settings *settings);
/* The preset "embedding", applied to settings from kith__settings_init. */
void kith__settings_embedding(kith_settings *settings);
/* Fails for incompatible values, such as ComplEx with an odd width. */
kith_status kith__settings_check(const kith_settings *settings, kith_error *error);
/* Version 0.1 had settings, and values of settings, that were dropped. Fails, with advice, if
 * training used one: `value` is that of config.json, NULL if it is missing. */
kith_status kith__settings_check_dropped(const char *name, const char *value, kith_error *error);
/* The names of dropped settings, by index; NULL after the last. */
const char *kith__settings_dropped(size_t index);
/* The value by which older runs without a setting behaved; NULL if all runs have it. */
const char *kith__settings_value_before(const char *name);
/* The name of a setting in version 0.1, if that differs; else its name. */
const char *kith__settings_former_name(const char *name);

#endif
