/* The state of an encoder, for the files of src/embed/encoder and for aggregators; others use
 * encoder.h. */
#ifndef KITH_EMBED_ENCODER_STATE_H
#define KITH_EMBED_ENCODER_STATE_H

#include "core/buffers.h"
#include "embed/encoder/encoder.h"

enum { KITH__PIECES = 16 /* of forward work */, KITH__KEEP_BYTES = 1 << 29 };

/* The distinct encodings of a batch of requests, by (query, entity, mask). */
typedef struct kith__plan {
    kith__buffers buffers;
    kith__item *requests, *sorted; /* major: query, minor: entity, index: the request's */
    kith_neighbor *request_mask;
    size_t request_count;
    uint32_t *encoding_of; /* per request */
    size_t count;
    uint32_t *entity, *query; /* per encoding, as all members below */
    kith_neighbor *mask;
    size_t *first_visit; /* count + 1 */
    uint32_t *query_row; /* which row of az */
    uint8_t *active;     /* whether grad is set */
    float *out, *grad;   /* rows: the vector, and its gradient */
} kith__plan;

/* One for each neighbour of each encoding: those of encoding i are first_visit[i] .. first_visit[i
 * + 1] - 1. */
typedef struct kith__visits {
    kith__buffers buffers;
    size_t count;
    kith_neighbor *neighbor;
    uint32_t *encoding;
    float *c, *logit, *logic, *weight;
    float *column; /* P(. => q), one per piece */
    /* An encoding's visits are handled in blocks; stored from the first visit of each block: the
     * rows of its relations, each once or occasionally twice, and which of them each visit has. */
    uint32_t *relation_ids;
    uint8_t *which, *id_count; /* per visit; per first visit */
    /* The visits sorted by neighbour and relation. */
    kith__item *items, *spare; /* major: entity, minor: relation, index: visit */
    uint32_t *item_encoding;   /* per item */
    size_t *row_start;         /* items of the k-th distinct neighbour */
    size_t rows;
    size_t piece_rows[KITH__PIECES]; /* how many of them each piece found */
} kith__visits;

/* Products of tables, per distinct row of the batch. */
typedef struct kith__products {
    kith__buffers buffers;
    uint32_t *relation_row;  /* per relation, its row + 1; 0 if the batch lacks it */
    uint32_t *relation_of;   /* per row */
    uint8_t *relation_marks; /* per piece and relation */
    size_t relation_rows;
    uint32_t *query_of;
    size_t query_rows;
    float *unit, *inverse_norm; /* w_r and 1 / |trans_r| */
    float *be, *bw, *az;        /* B e, B w and A z, times KITH__POWER_SCALE; or B e + b and B w */
    float *b_bias;              /* b, if gates have one */
    bool has_be;                /* be is up to date with the parameters */
    float *ez;                  /* 2^az */
    float *be_most, *bw_most, *az_most; /* per row, the largest |value| */
    float *b_transposed, *a_transposed; /* W_a's halves, d x h */
    float *b_plain, *a_plain;           /* h x d */
    float u_sum;                        /* of att_u */
    const float **row_pointer;
    float *scratch, *partial; /* of pieces; of sums over rows */
} kith__products;

/* Vectors for the next queries, computed together. The values of the eight lie side by side. */
typedef struct kith__lookahead {
    kith__buffers buffers;
    uint32_t prefetched[KITH__LOOKAHEAD];
    size_t count, pairs;         /* pairs of neighbour and relation; 0: not numbered yet */
    float *out[KITH__LOOKAHEAD]; /* as the plan's */
    uint32_t *pair_of;           /* per visit */
    float *pair_logit, *lanes;   /* per pair; per piece and neighbour of an encoding */
    size_t most_visits;          /* of one encoding */
} kith__lookahead;

/* The backward pass. Only distinct neighbours with an active visit take part. */
typedef struct kith__backward {
    kith__buffers buffers;
    kith__gradients *gradients;                /* where they are added, during the pass */
    float *weight_gradient, *logit_gradient;   /* per visit */
    kith__item *active_items, *some_items;     /* visits of active encodings; all items, or some */
    uint32_t *active_encoding, *some_encoding; /* per item */
    size_t active_visits;
    uint32_t *active_rows;
    size_t *active_start; /* items before each of them, and the total at the end */
    size_t active_count;
    uint32_t *relation_slot, *query_slot;        /* per row: its slot among the active ones */
    uint32_t *active_relations, *active_queries; /* rows */
    size_t active_relation_count, active_query_count;
    size_t pieces; /* each has its own gaz, gbw, gunit, gu */
    float *gbe, *gaz, *gbw, *gunit, *gu, *ga, *gb, *gz;
} kith__backward;

struct kith__encoder {
    const kith__aggregator *aggregator;
    const kith_settings *settings;
    const kith__neighbor_lists *lists;
    const kith__implications *rules; /* NULL without logic weights */
    const kith__params *params;
    kith__pool *pool;
    kith__watch *watch;  /* of the current forward pass; NULL: none */
    size_t d, ds, h, hs; /* widths of embeddings and attention layer or gates, and their strides */
    bool multiplies;     /* B e and B w are needed, by attention or gates */
    bool keeps;          /* a backward pass will follow: keep what is costly to recompute, */
    size_t keep_bytes;   /* up to this many bytes */
    const kith__table *trans, *att_w, *att_u, *queries; /* NULL if the model has none */
    /* if the order matters: 0 for the list's order, else a seed for shuffling */
    uint64_t order_seed;
    kith__plan plan;
    kith__visits visits;
    kith__products products;
    kith__lookahead ahead;
    kith__backward back;
    void *aggregator_state;
    void (*free_state)(void *);
    bool no_memory;
};

/* The vector of a neighbour: its input embedding, or the vector that replaces it. */
static inline const float *kith__input(const kith__encoder *e, uint32_t neighbor)
{
    return neighbor < e->lists->seen
               ? kith__row(kith__ent(e->params), neighbor)
               : e->lists->vectors + (size_t)(neighbor - e->lists->seen) * e->ds;
}
static inline size_t kith__degree(const kith__encoder *e, size_t i)
{
    return e->plan.first_visit[i + 1] - e->plan.first_visit[i];
}
/* Whether the current forward pass must stop; called every few microseconds. */
static inline bool kith__encoder_stops(kith__encoder *e)
{
    return e->watch && kith__watch_add(e->watch, 0);
}
/* out += sum of weight T over the visits of encoding i. */
void kith__sum_weighted(kith__encoder *encoder, size_t i);
/* T of a visit. */
void kith__visit_vector(float *out, const kith__encoder *encoder, size_t visit);

#endif
