/* Aggregators: how an entity's neighbours become one vector. To add one, write <name>.c and add
 * a row to KITH__AGGREGATORS.
 *
 * The encoder (encoder.h) prepares the visits of a batch, one for each neighbour of each encoding:
 * the factor c = w . e of T_r(e) = e - c w, the attention's logit where asked for, the logic weight
 * where asked for. The aggregator turns them into a vector, and the vector's gradient into one per
 * visit. */
#ifndef KITH_EMBED_AGGREGATORS_AGGREGATOR_H
#define KITH_EMBED_AGGREGATORS_AGGREGATOR_H

#include "embed/params.h"

typedef struct kith__encoder kith__encoder;

/* A neighbour's part in an encoding's vector; NAN if the aggregator has no such weight. */
typedef struct kith__neighbor_weight {
    float weight;    /* the factor of its T in the vector */
    float logic;     /* the rules' part of the weight, */
    float attention; /* and the attention's */
    uint32_t wins;   /* coordinates of the vector that come from this neighbour */
} kith__neighbor_weight;

typedef struct kith__aggregator {
    const char *name;
    bool query_aware; /* the vector depends on the query, not only on the entity */
    bool logic;       /* needs logic weights */
    bool ordered;     /* the order of neighbours matters; training shuffles it in each epoch */
    enum { KITH__NO_ATTENTION, KITH__GLOBAL_ATTENTION, KITH__QUERY_ATTENTION } attention;
    /* weights are the softmax of the logits plus the logic weights, as far as requested; several
     * queries can then be encoded at once */
    bool weighted;
    bool gated;    /* uses the gates' input of a visit, B T + b, with B of 4 ds rows (nn/lstm.h) */
    size_t tables; /* tables other than ent, rel and trans */
    struct {
        kith__table_spec spec;
        bool only_padded; /* exists only with the setting `padding` */
    } table[5];
    /* Allocate for a batch whose encodings and visits are known; -1 if out of memory. */
    int (*prepare)(kith__encoder *encoder);
    /* Encoding i: set its `out` row, which is 0. Runs on any thread. */
    void (*forward)(kith__encoder *encoder, size_t i);
    /* Encoding i: from its `grad` row set `weight` of its visits, so that a visit's T has the
     * gradient weight times grad, and `logit_gradient`, from `weight_gradient`. NULL: nothing to
     * do. Runs on any thread. */
    void (*backward)(kith__encoder *encoder, size_t i);
    /* The gradient of a visit's T, if it is not weight times grad. */
    void (*visit_gradient)(float *gradient, const kith__encoder *encoder, size_t i, size_t visit);
    /* If gated: set the encoder's b_plain, b_transposed and b_bias; give the gradient of a visit's
     * B T, which stays valid until the backward pass ends; and add B's gradient, hs x ds, to the
     * parameters' gradients. */
    void (*make_matrix)(kith__encoder *encoder);
    const float *(*gate_gradient)(const kith__encoder *encoder, size_t visit);
    void (*add_matrix)(kith__encoder *encoder, const float *gradient);
    /* Work over all encodings together, after forward and before the visits' gradients are read.
     * Runs on the caller's thread; may use the pool. If out of memory, sets the encoder's
     * no_memory, which its caller reports. */
    void (*forward_all)(kith__encoder *encoder);
    void (*backward_all)(kith__encoder *encoder);
    /* For explanations: how neighbours are weighted, and the weight of a visit of encoding i; its
     * members are NAN and 0 on entry. NULL if the vector is not a sum over neighbours. */
    kith_weighing weighing;
    void (*explain)(kith__neighbor_weight *weight, const kith__encoder *encoder, size_t i,
                    size_t visit);
    /* What a visit adds to the vector, if it is not weight times T. */
    void (*share)(float *share, const kith__encoder *encoder, size_t i, size_t visit);
} kith__aggregator;

/* One row per aggregator, in the order of the setting's values: the object's name, and the name
 * that users type. */
/* clang-format off */
#define KITH__AGGREGATORS(ROW) \
    ROW(mean, "mean") \
    ROW(sum, "sum") \
    ROW(max, "max") \
    ROW(lstm, "lstm") \
    ROW(attention_global, "attention-global") \
    ROW(attention_query, "attention-query") \
    ROW(logic, "logic") \
    ROW(lan, "lan") \
    ROW(table, "table")
/* clang-format on */

#define KITH__DECLARE(object, name) extern const kith__aggregator kith__agg_##object;
KITH__AGGREGATORS(KITH__DECLARE)
#undef KITH__DECLARE

const kith__aggregator *kith__aggregator_get(int index);
const char *kith__aggregator_names(void); /* "a|b|c" */

#endif
