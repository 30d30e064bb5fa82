#include "train/query_scores.h"

#include <string.h>

#include "core/mem.h"
#include "embed/query_vector.h"
#include "nn/kernels.h"
#include "train/query_block.h"

enum { PIECES = KITH__QUERY_PIECES };

void kith__query_scores_init(kith__query_scores *x, const kith__scoring *scoring)
{
    x->scoring = scoring;
    x->by_encoding = scoring->settings->candidate_vectors == KITH_CANDIDATES_ENCODED;
}

static void release_pass(kith__query_pass *p)
{
    kith__free(p->query_vectors.at);
    kith__free(p->query_vector_gradients.at);
    kith__free(p->by_answer.at);
    kith__free(p->loss.at);
}

void kith__query_scores_release(kith__query_scores *x)
{
    kith__shared_candidates_release(&x->input);
    for (int i = 0; i < PIECES; i++)
        kith__shared_candidates_release(&x->encoded[i]);
    release_pass(&x->out);
    release_pass(&x->in);
    kith__free(x->order);
    kith__free(x->spare);
    kith__free(x->request);
    kith__free(x->group);
    kith__free(x->scratch.at);
    kith__free(x->ids);
    kith__free(x->listed);
}

/* ---- encodings ---- */

static uint32_t inverse_of(const kith__query_scores *x, uint32_t query)
{
    uint32_t m = (uint32_t)kith__trans(x->scoring->params)->rows / 2;
    return query < m ? query + m : query - m;
}

static size_t shared_count(const kith__query_scores *x)
{
    return x->batch->shared->shared_count;
}

static size_t shared_request(const kith__query_scores *x, size_t group, size_t place)
{
    return 2 * x->count + group * shared_count(x) + place;
}

static void find_groups(kith__query_scores *x)
{
    bool fixed = kith__query_is_fixed(x);

    x->groups = 0;
    for (size_t i = 0; i < x->count; i++) {
        x->groups += i == 0 || (!fixed && x->order[i].major != x->order[i - 1].major);
        x->group[i] = (uint32_t)x->groups - 1;
    }
}

static bool begins_group(const kith__query_scores *x, size_t i)
{
    return i == 0 || x->group[i] != x->group[i - 1];
}

static int sort_queries(kith__query_scores *x)
{
    const kith__train_query *queries = x->batch->queries;

    if (kith__renew(&x->order, &x->order_capacity, x->count, sizeof *x->order) ||
        kith__renew(&x->spare, &x->spare_capacity, x->count, sizeof *x->spare) ||
        kith__renew(&x->group, &x->group_capacity, x->count, sizeof *x->group))
        return -1;
    for (size_t i = 0; i < x->count; i++)
        x->order[i] = (kith__item){queries[i].query, queries[i].known, (uint32_t)i};
    kith__radix_sort(x->order, x->spare, x->count, kith__trans(x->scoring->params)->rows,
                     kith__ent(x->scoring->params)->rows);
    find_groups(x);
    return 0;
}

/* The known side is encoded for the query, candidates for its inverse. A masked fact is masked for
 * the known side and the answer. */
static void request_query(kith__query_scores *x, size_t i)
{
    const kith__train_query *q = kith__query_at(x, i);
    uint32_t back = inverse_of(x, q->query);
    kith_neighbor from_known = {q->query, q->answer}, from_answer = {back, q->known};
    kith__encoder *e = x->scoring->encoder;
    bool mask = x->scoring->settings->mask;

    x->request[i] = kith__encoder_request(e, q->known, q->query, mask ? &from_known : NULL);
    if (x->by_encoding)
        x->request[kith__answer_request(x, i)] =
            kith__encoder_request(e, q->answer, back, mask ? &from_answer : NULL);
}

static void request_shared(kith__query_scores *x, size_t i)
{
    uint32_t back = inverse_of(x, kith__query_at(x, i)->query);

    for (size_t j = 0; j < shared_count(x); j++)
        x->request[shared_request(x, x->group[i], j)] =
            kith__encoder_request(x->scoring->encoder, x->batch->shared->shared[j], back, NULL);
}

static kith_status request(void *self, const kith__batch *batch, kith_error *error)
{
    kith__query_scores *x = self;

    x->batch = batch;
    x->count = batch->count;
    x->stride = kith__padded(shared_count(x));
    if (sort_queries(x))
        return kith__no_memory(error);
    size_t more = x->by_encoding ? x->count + x->groups * shared_count(x) : 0;
    if (kith__renew(&x->request, &x->request_capacity, x->count + more, sizeof *x->request))
        return kith__no_memory(error);
    for (size_t i = 0; i < x->count; i++)
        request_query(x, i);
    for (size_t i = 0; x->by_encoding && i < x->count; i++)
        if (begins_group(x, i))
            request_shared(x, i);
    return KITH_OK;
}

/* ---- buffers ---- */

static void load_inputs(kith__query_scores *x)
{
    for (size_t j = 0; j < shared_count(x); j++)
        kith__shared_candidate_set(&x->input, x->scoring, j,
                                   kith__query_input(x, x->batch->shared->shared[j]));
    kith__shared_candidates_pack(&x->input, x->scoring);
}

static void load_encodings(const kith__query_scores *x, kith__shared_candidates *to, size_t group)
{
    for (size_t j = 0; j < shared_count(x); j++)
        kith__shared_candidate_set(to, x->scoring, j,
                                   kith__query_encoded(x, shared_request(x, group, j)));
    kith__shared_candidates_pack(to, x->scoring);
}

static int prepare_shared(kith__query_scores *x)
{
    bool fixed = kith__query_is_fixed(x);

    if (!x->by_encoding || x->scoring->settings->subtask) {
        if (kith__shared_candidates_reserve(&x->input, x->scoring, shared_count(x), PIECES))
            return -1;
        load_inputs(x);
    }
    if (!x->by_encoding)
        return 0;
    for (int i = 0; i < (fixed ? 1 : PIECES); i++)
        if (kith__shared_candidates_reserve(&x->encoded[i], x->scoring, shared_count(x),
                                            fixed ? PIECES : 1))
            return -1;
    if (fixed)
        load_encodings(x, &x->encoded[0], 0);
    return 0;
}

static int reserve_pass(const kith__query_scores *x, kith__query_pass *p)
{
    size_t floats = x->count * x->scoring->ds;
    return kith__floats_reserve(&p->query_vectors, floats) ||
           kith__floats_reserve(&p->query_vector_gradients, floats) ||
           kith__floats_reserve(&p->by_answer, x->count) ||
           kith__floats_reserve(&p->loss, x->count);
}

static kith_status prepare(void *self, kith_error *error)
{
    kith__query_scores *x = self;

    if (prepare_shared(x) || reserve_pass(x, &x->out) ||
        (x->scoring->settings->subtask && reserve_pass(x, &x->in)) || kith__query_blocks_reserve(x))
        return kith__no_memory(error);
    return KITH_OK;
}

/* ---- scores and their loss ---- */

static kith__query_run run_of(kith__query_scores *x, kith__pass pass)
{
    bool encodings = pass == KITH__BY_ENCODINGS;

    return (kith__query_run){.x = x,
                             .pass = encodings ? &x->out : &x->in,
                             .encoded_known = encodings,
                             .by_encoding = encodings && x->by_encoding};
}

/* Where a piece begins; between groups, if each has its own candidates. */
static size_t piece_start(const kith__query_scores *x, size_t piece)
{
    size_t i = x->count * piece / PIECES;

    while (!kith__query_is_fixed(x) && i > 0 && i < x->count && !begins_group(x, i))
        i++;
    return i;
}

/* Propagate the shared candidates' gradients of a group to its encodings, which no other group
 * has. */
static void close_group(const kith__query_scores *x, kith__shared_candidates *s, size_t group)
{
    for (size_t j = 0; j < s->count; j++)
        kith__shared_candidate_backward(
            kith__encoder_grad(x->scoring->encoder,
                               kith__query_encoding(x, shared_request(x, group, j))),
            s, x->scoring, j);
    memset(s->gradient.at, 0, s->stride * x->scoring->ds * sizeof(float));
}

static void run_piece(void *context, size_t piece)
{
    const kith__query_run *c = context;
    kith__query_scores *x = c->x;
    bool grouped = c->by_encoding && !kith__query_is_fixed(x);
    size_t last = piece_start(x, piece + 1), to;

    for (size_t from = piece_start(x, piece); from < last; from = to) {
        for (to = from + 1; to < last && to - from < KITH__QUERY_BLOCK && !begins_group(x, to);
             to++)
            ;
        if (kith__encoder_tick(x->scoring->encoder))
            return;
        if (grouped && begins_group(x, from))
            load_encodings(x, &x->encoded[piece], x->group[from]);
        kith__query_block_run(c, piece, from, to);
        if (grouped && (to == x->count || begins_group(x, to)))
            close_group(x, &x->encoded[piece], x->group[from]);
    }
}

static double run(void *self, kith__pass pass)
{
    kith__query_scores *x = self;
    kith__query_run c = run_of(x, pass);
    double sum = 0;

    kith__pool_run(kith__encoder_pool(x->scoring->encoder), run_piece, &c, PIECES);
    for (size_t i = 0; i < x->count; i++)
        sum += c.pass->loss.at[i];
    return sum / (double)x->count;
}

/* ---- gradients ---- */

static void known_backward(float *to, const kith__query_run *c, size_t i, const float *known)
{
    kith__query_scores *x = c->x;
    const kith__params *params = x->scoring->params;
    uint32_t query = kith__query_at(x, i)->query;
    float *relation = kith__gradient_row(c->gradients, kith__rel(&c->gradients->dense),
                                         kith__relation_row(params, query));

    kith__query_vector_backward(to, relation,
                                c->pass->query_vector_gradients.at + i * x->scoring->ds,
                                x->scoring->settings, params, known, query,
                                kith__query_block_vectors(x, 0));
}

static void to_encodings(void *self, kith__gradients *gradients)
{
    kith__query_scores *x = self;
    kith__encoder *e = x->scoring->encoder;
    kith__query_run c = run_of(x, KITH__BY_ENCODINGS);

    c.gradients = gradients;
    for (size_t i = 0; i < x->count; i++)
        known_backward(kith__encoder_grad(e, kith__query_encoding(x, i)), &c, i,
                       kith__query_encoded(x, i));
    if (!x->by_encoding)
        return;
    for (size_t i = 0; i < x->count; i++)
        if (c.pass->by_answer.at[i] != 0)
            kith__query_answer_backward(
                kith__encoder_grad(e, kith__query_encoding(x, kith__answer_request(x, i))), &c, i,
                kith__query_block_vectors(x, 0));
    if (!kith__query_is_fixed(x))
        return;
    kith__shared_candidates_sum(&x->encoded[0], x->scoring);
    close_group(x, &x->encoded[0], 0);
}

/* Answers whose entity belongs to this piece, in the order of queries. */
static void answer_piece(void *context, size_t piece)
{
    const kith__query_run *c = context;
    const kith__query_scores *x = c->x;

    for (size_t i = 0; i < x->count; i++) {
        uint32_t entity = kith__query_at(x, i)->answer;
        if (c->pass->by_answer.at[i] != 0 && entity % PIECES == piece)
            kith__query_answer_backward(kith__gradient_of(c->gradients, entity), c, i,
                                        kith__query_block_vectors(x, piece));
    }
}

static int make_rows(const kith__query_scores *x, kith__gradients *gradients)
{
    int failed = 0;

    for (size_t j = 0; j < shared_count(x); j++)
        failed |= kith__gradient_make(gradients, x->batch->shared->shared[j]);
    for (size_t i = 0; i < x->count; i++) {
        failed |= kith__gradient_make(gradients, kith__query_at(x, i)->known);
        failed |= kith__gradient_make(gradients, kith__query_at(x, i)->answer);
    }
    return failed;
}

/* If candidates are input embeddings, those of the pass on encodings; then everything of the other
 * pass. */
static kith_status to_inputs(void *self, kith__gradients *gradients, kith_error *error)
{
    kith__query_scores *x = self;
    kith__pool *pool = kith__encoder_pool(x->scoring->encoder);
    kith__query_run out = run_of(x, KITH__BY_ENCODINGS), in = run_of(x, KITH__BY_INPUTS);
    bool subtask = x->scoring->settings->subtask;

    out.gradients = in.gradients = gradients;
    if (x->by_encoding && !subtask)
        return KITH_OK;
    if (make_rows(x, gradients))
        return kith__no_memory(error);
    kith__shared_candidates_sum(&x->input, x->scoring);
    for (size_t j = 0; j < shared_count(x); j++)
        kith__shared_candidate_backward(
            kith__gradient_of(gradients, x->batch->shared->shared[j]), &x->input, x->scoring, j);
    if (!x->by_encoding)
        kith__pool_run(pool, answer_piece, &out, PIECES);
    if (!subtask)
        return KITH_OK;
    kith__pool_run(pool, answer_piece, &in, PIECES);
    for (size_t i = 0; i < x->count; i++) {
        uint32_t known = kith__query_at(x, i)->known;
        known_backward(kith__gradient_of(gradients, known), &in, i, kith__query_input(x, known));
    }
    return KITH_OK;
}

const kith__scorer kith__query_scorer = {request, prepare, run, to_encodings, to_inputs};
