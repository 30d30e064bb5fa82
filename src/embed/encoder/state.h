/* What an encoder holds, for the files of src/embed/encoder and for aggregators; others use encoder.h. */
#ifndef KITH_EMBED_ENCODER_STATE_H
#define KITH_EMBED_ENCODER_STATE_H

#include "embed/encoder/encoder.h"

enum { KITH__PIECES = 16 /* of forward work */, KITH__KEEP_BYTES = 1 << 29 };

struct kith__encoder {
    const kith__aggregator *aggregator;
    const kith_settings *settings;
    const kith__neighbor_lists *lists;
    const kith__implications *rules; /* NULL without logic weights */
    const kith__params *params;
    kith__pool *pool;
    size_t d, ds, h, hs; /* widths of embeddings and attention layer or gates, and their strides */
    bool multiplies;     /* B e and B w are needed: by attention or gates */
    bool keeps;          /* a backward pass will follow: keep for it what is costly to make again, */
    size_t keep_bytes;   /* up to so many bytes */
    const kith__table *trans, *att_w, *att_u, *queries; /* NULL where the model has none */
    float u_sum;                                        /* of att_u */

    uint64_t order_seed; /* where the order matters: 0 as in the list, else shuffled */

    /* Encodings: by (query, entity), each once. */
    kith__item *requests, *sorted; /* major: query, minor: entity, index: the request's */
    kith_neighbor *request_mask;
    size_t request_count, request_capacity, sorted_capacity, mask_capacity;
    uint32_t *encoding_of; /* per request */
    size_t encoding_of_capacity;
    size_t count;
    uint32_t *entity, *query;
    kith_neighbor *mask;
    size_t *first_visit; /* count + 1 */
    uint32_t *query_row; /* which row of az */
    uint8_t *active;     /* whether grad is set */
    size_t count_capacity[6];
    kith__floats out, grad;

    /* Visits: those of encoding i are first_visit[i] .. first_visit[i + 1] - 1. */
    size_t visits;
    kith_neighbor *neighbor;
    uint32_t *encoding;
    size_t neighbor_capacity, visit_encoding_capacity;
    kith__floats c, logit, logic, weight, weight_gradient, logit_gradient;
    /* Each encoding's visits are taken some at a time; from the first of these on: the rows of their
     * relations, each once or now and then twice, and which of them each visit has. */
    uint32_t *relation_ids;
    uint8_t *which, *id_count; /* per visit; per first visit */
    size_t relation_ids_capacity, which_capacity, id_count_capacity;

    /* The same by neighbour and relation. */
    kith__item *items, *spare; /* major: entity, minor: relation, index: visit */
    uint32_t *item_encoding;   /* per item */
    size_t item_capacity, spare_capacity, item_encoding_capacity;
    size_t *row_start; /* items of the k-th distinct neighbour */
    size_t row_capacity, rows;
    size_t piece_rows[KITH__PIECES]; /* of which each piece found so many */

    /* Products, per distinct row of the batch. */
    uint32_t *relation_row; /* per relation, its row + 1; 0 where the batch lacks it */
    uint32_t *relation_of;  /* per row */
    uint8_t *relation_marks; /* per piece and relation */
    size_t relation_rows;
    uint32_t *query_of;
    size_t query_rows, query_of_capacity;
    kith__floats unit, inverse_norm; /* w_r and 1 / |trans_r| */
    kith__floats be, bw, az; /* B e, B w and A z, times KITH__POWER_SCALE; or B e + b and B w */
    kith__floats b_bias;     /* b, where gates have one */
    bool has_be; /* be is that of the parameters as they are */
    kith__floats ez;                       /* 2^az */
    kith__floats be_most, bw_most, az_most; /* per row, the largest |value| */
    kith__floats b_transposed, a_transposed; /* W_a's halves, d x h */

    /* Vectors for expected queries, made together. Values of the eight lie beside each other. */
    uint32_t expected[KITH__LOOKAHEAD];
    size_t expected_count, pairs; /* pairs of neighbour and relation; 0: not numbered yet */
    kith__floats ahead[KITH__LOOKAHEAD]; /* as out */
    uint32_t *pair_of;                       /* per visit */
    size_t pair_capacity;
    kith__floats pair_logit, lanes; /* per pair; per piece and neighbour of an encoding */
    size_t most_visits;             /* of one encoding */

    /* Backward. Of the distinct neighbours only those with an active visit take part. */
    kith__gradients *gradients; /* where they go, while backward runs */
    kith__item *active_items, *some_items; /* visits of active encodings; all items, or some */
    uint32_t *active_encoding, *some_encoding; /* per item */
    size_t active_visits, some_capacity, some_encoding_capacity;
    uint32_t *active_rows;
    size_t *active_start; /* items before each of them, and all at the end */
    size_t active_count, active_capacity, active_start_capacity;
    uint32_t *relation_slot, *query_slot;         /* per row: its place among the active ones */
    uint32_t *active_relations, *active_queries; /* rows */
    size_t active_relation_count, active_query_count;
    size_t slot_capacity[4];
    size_t pieces; /* of backward: each has its own gaz, gbw, gunit, gu */
    kith__floats gbe, gaz, gbw, gunit, gu, ga, gb, gz, partial, b_plain, a_plain, products;
    const float **row_pointer;
    size_t pointer_capacity;
    kith__floats column; /* P(. => q), one per piece */
    void *aggregator_state;
    void (*free_state)(void *);
    bool no_memory;
};

/* For aggregators. */
static inline size_t kith__degree(const kith__encoder *e, size_t i)
{
    return e->first_visit[i + 1] - e->first_visit[i];
}
/* out += sum of weight T over the visits of encoding i. */
void kith__sum_weighted(kith__encoder *encoder, size_t i);
/* T of a visit. */
void kith__visit_vector(float *out, const kith__encoder *encoder, size_t visit);

#endif
