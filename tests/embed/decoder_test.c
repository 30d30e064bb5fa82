/* Decoders: finite differences, formulas, query vectors. */
#include <math.h>

#include "nn/kernels.h"
#include "train/step.h"
#include "support.h"
#include "tables.h"

enum { DIM = 8, WIDTHS = 5 };

static const size_t widths[WIDTHS] = {4, 8, 12, 20, 100};

typedef struct {
    float *row[3]; /* s, q, o */
    float *gradient[3], *scratch, *query_vector;
} vectors;

static void vectors_init(vectors *v, size_t width, kith__rng *rng)
{
    size_t stride = kith__padded(width);

    for (int i = 0; i < 3; i++) {
        v->row[i] = kith__calloc_aligned(stride, sizeof(float));
        v->gradient[i] = kith__calloc_aligned(stride, sizeof(float));
        for (size_t k = 0; k < width; k++)
            v->row[i][k] = (float)(2 * kith__rng_unit(rng) - 1);
    }
    v->scratch = kith__calloc_aligned(6 * stride, sizeof(float));
    v->query_vector = kith__calloc_aligned(stride, sizeof(float));
}

static void vectors_release(vectors *v)
{
    for (int i = 0; i < 3; i++) {
        kith__free(v->row[i]);
        kith__free(v->gradient[i]);
    }
    kith__free(v->scratch);
    kith__free(v->query_vector);
}

static double scored(const vectors *v, const kith__decoder *d, bool normalize, size_t width)
{
    return kith__decode(d, normalize, v->row[0], v->row[1], v->row[2], width, v->scratch);
}

/* The gradient by way of vectors of length 1, as a step takes it. */
static void decode_backward(const kith__decoder *d, bool normalize, vectors *v, float g,
                            size_t width)
{
    size_t stride = kith__padded(width);
    float inverse[3], *unit = v->scratch, *gradient = v->scratch + 3 * stride;

    if (!normalize || !d->distance) {
        d->backward(v->gradient[0], v->gradient[1], v->gradient[2], g, v->row[0], v->row[1],
                    v->row[2], width);
        return;
    }
    for (int i = 0; i < 3; i++)
        inverse[i] = kith__normalize(unit + i * stride, v->row[i], width);
    memset(gradient, 0, 3 * stride * sizeof *gradient);
    d->backward(gradient, gradient + stride, gradient + 2 * stride, g, unit, unit + stride,
                unit + 2 * stride, width);
    for (int i = 0; i < 3; i++)
        kith__normalize_backward(v->gradient[i], gradient + i * stride, unit + i * stride,
                                 inverse[i], width);
}

static void check_decoder(const kith__decoder *d, bool normalize, size_t width, kith__rng *rng)
{
    const double start = .25;
    const float g = 1.7f, step = 2e-3f;
    size_t kinks = 0;
    vectors v;

    vectors_init(&v, width, rng);
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < width; k++)
            v.gradient[i][k] = (float)start; /* backward adds */
    decode_backward(d, normalize, &v, g, width);
    double middle = scored(&v, d, normalize, width);
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < width; k++) {
            float before = v.row[i][k];
            v.row[i][k] = before + step;
            double above = scored(&v, d, normalize, width);
            v.row[i][k] = before - step;
            double below = scored(&v, d, normalize, width);
            v.row[i][k] = before;
            double expected = start + g * (above - below) / (2 * (double)step);
            double off = fabs(v.gradient[i][k] - expected);
            double gap = g * fabs(above - 2 * middle + below) / (double)step;
            kinks += off > 6e-3;
            if (off > 6e-3 && off > .75 * gap)
                fail_msg("%s%s of width %zu, row %d[%zu]: found %.6g, expected %.6g", d->name,
                         normalize ? " scaled" : "", width, i, k, (double)v.gradient[i][k],
                         expected);
        }
    assert_true(kinks * 4 <= 3 * width);
    vectors_release(&v);
}

static void decoder__gradients_agree_with_differences(void **state)
{
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 7, 0);
    for (int i = 0; i < DECODERS; i++)
        for (int w = 0; w < WIDTHS; w++)
            for (int normalize = 0; normalize < 2; normalize++)
                check_decoder(kith__decoder_get(i), normalize, widths[w], &rng);
}

/* The decoders whose formula plain_score has, in its numbering. */
static const char *const of_papers[] = {"transe", "distmult", "complex", "analogy"};

enum { OF_PAPERS = sizeof of_papers / sizeof *of_papers };

static double plain_score(int decoder, const vectors *v, size_t width)
{
    const float *s = v->row[0], *q = v->row[1], *o = v->row[2];
    size_t from = decoder == 3 ? width / 2 : 0, h = (width - from) / 2;
    double sum = 0;

    if (decoder == 0)
        for (size_t k = 0; k < width; k++)
            sum -= fabs((double)s[k] + q[k] - o[k]);
    if (decoder == 1 || decoder == 3)
        for (size_t k = 0; k < (decoder == 1 ? width : from); k++)
            sum += (double)s[k] * q[k] * o[k];
    if (decoder >= 2) /* Re(s q conj(o)), complex numbers as (real, imaginary) pairs */
        for (size_t k = from; k < from + h; k++) {
            double re = (double)s[k] * q[k] - (double)s[k + h] * q[k + h];
            double im = (double)s[k] * q[k + h] + (double)s[k + h] * q[k];
            sum += re * o[k] + im * o[k + h];
        }
    return sum;
}

static void decoder__scores_are_what_the_papers_say(void **state)
{
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 8, 0);
    for (int i = 0; i < OF_PAPERS * WIDTHS; i++) {
        int paper = i / WIDTHS, w = i % WIDTHS, d = 0;
        while (strcmp(decoders[d], of_papers[paper]) != 0)
            assert_true(++d < DECODERS);
        vectors v;
        vectors_init(&v, widths[w], &rng);
        double found = scored(&v, kith__decoder_get(d), false, widths[w]);
        double expected = plain_score(paper, &v, widths[w]);
        if (fabs(found - expected) > 2e-5)
            fail_msg("%s: found %.8g, expected %.8g", decoders[d], found, expected);
        vectors_release(&v);
    }
}

static void decoder__aim_gives_the_score_for_either_hidden_side(void **state)
{
    kith__rng rng;

    (void)state;
    kith__rng_init(&rng, 9, 0);
    for (int i = 0; i < DECODERS; i++)
        for (int w = 0; w < WIDTHS; w++)
            for (int side = 0; side < 2; side++) {
                const kith__decoder *d = kith__decoder_get(i);
                size_t stride = kith__padded(widths[w]);
                vectors v;
                vectors_init(&v, widths[w], &rng);
                for (size_t k = 0; k < stride; k++)
                    v.query_vector[k] = 5; /* what was there before must not matter */
                d->query_vector(v.query_vector, v.row[side ? 2 : 0], v.row[1], side, widths[w]);
                const float *hidden = v.row[side ? 0 : 2];
                double found = d->distance ? -kith__l1(v.query_vector, hidden, stride)
                                           : kith__dot(v.query_vector, hidden, stride);
                double expected = scored(&v, d, false, widths[w]);
                if (fabs(found - expected) > 2e-5)
                    fail_msg("%s of width %zu, %s hidden: found %.8g, expected %.8g", d->name,
                             widths[w], side ? "subject" : "object", found, expected);
                vectors_release(&v);
            }
}

static void decoder__a_vector_of_zeros_is_scored_without_nan(void **state)
{
    (void)state;
    for (int i = 0; i < DECODERS; i++) {
        kith__rng rng;
        vectors v;
        kith__rng_init(&rng, 10, 0);
        vectors_init(&v, DIM, &rng);
        memset(v.row[0], 0, DIM * sizeof(float));
        assert_true(isfinite(scored(&v, kith__decoder_get(i), true, DIM)));
        decode_backward(kith__decoder_get(i), true, &v, 1, DIM);
        for (int k = 0; k < DIM; k++)
            assert_true(isfinite(v.gradient[0][k]) && isfinite(v.gradient[2][k]));
        vectors_release(&v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoder__scores_are_what_the_papers_say),
        cmocka_unit_test(decoder__gradients_agree_with_differences),
        cmocka_unit_test(decoder__aim_gives_the_score_for_either_hidden_side),
        cmocka_unit_test(decoder__a_vector_of_zeros_is_scored_without_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
