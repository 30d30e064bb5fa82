#include "model/linear.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/mem.h"
#include "nn/kernels.h"
#include "nn/log_sum.h"

/* Rows are padded with zeros, so that kernels can use whole blocks. */
enum {
    N = KITH__FEATURES_COUNT,
    STRIDE = (N + KITH__LANES - 1) / KITH__LANES * KITH__LANES,
    PIECES = 16,
    ITERATIONS = 25
};

typedef struct {
    double loss, gradient[N], hessian[STRIDE][STRIDE];
    /* For the current query: scaled rows that are included, and their shares. */
    double x[KITH__MOST_ROWS][STRIDE], share[KITH__MOST_ROWS];
} sums;

typedef struct {
    const kith__row_table *rows;
    const uint32_t *queries;
    size_t count;
    const double *scale;
    double weight[N], towards[N]; /* of scaled features */
    double ridge;
    kith__pool *pool;
    size_t pieces;
    sums piece[];
} fitting;

void kith__linear_scales(double scale[N], const kith__row_table *rows, double least)
{
    double sum[N] = {0}, squares[N] = {0}, count = (double)rows->rows;

    for (size_t i = 0; i < rows->rows; i++)
        for (int k = 0; k < N; k++) {
            double x = rows->feature[i * KITH__FEATURES_COUNT + (size_t)k];
            sum[k] += x;
            squares[k] += x * x;
        }
    for (int k = 0; k < N; k++) {
        double variance = squares[k] / count - sum[k] / count * (sum[k] / count);
        scale[k] = variance > 1e-10 ? 1 / fmax(sqrt(variance), least) : 0;
    }
}

static void scaled(double *x, const fitting *f, size_t row)
{
    for (int k = 0; k < N; k++)
        x[k] = f->scale[k] * f->rows->feature[row * KITH__FEATURES_COUNT + (size_t)k];
    for (int k = N; k < STRIDE; k++)
        x[k] = 0;
}

static double score_of(const fitting *f, const double *x)
{
    double sum = 0;

    for (int k = 0; k < N; k++)
        sum += f->weight[k] * x[k];
    return sum;
}

/* For a softmax: gradient = mean x - x of the correct row, hessian = covariance of x. */
static void add_query(sums *s, const fitting *f, size_t query)
{
    size_t from = f->rows->first[query], count = f->rows->first[query + 1] - from, used = 0;
    size_t right = f->rows->right[query] - from;
    double top, mean[STRIDE] = {0}, minus = -1;

    for (size_t i = 0; i < count; i++) {
        scaled(s->x[i], f, from + i);
        s->share[i] = f->rows->offset[from + i] + score_of(f, s->x[i]);
    }
    double score = s->share[right], sum = kith__exp_all(s->share, count, &top);
    s->loss += top - score;
    s->loss += log(sum);
    for (int k = 0; k < N; k++)
        s->gradient[k] -= s->x[right][k];
    for (size_t i = 0; i < count; i++) {
        if (s->share[i] < 1e-7 * sum)
            continue;
        s->share[used] = s->share[i] / sum;
        if (used < i)
            memcpy(s->x[used], s->x[i], sizeof s->x[i]);
        for (int k = 0; k < N; k++)
            mean[k] += s->share[used] * s->x[used][k];
        used++;
    }
    for (int k = 0; k < N; k++)
        s->gradient[k] += mean[k];
    kith__add_squares(s->hessian[0], s->share, s->x[0], used, STRIDE);
    kith__add_squares(s->hessian[0], &minus, mean, 1, STRIDE);
}

static void add_piece(void *context, size_t piece)
{
    fitting *f = context;
    sums *s = &f->piece[piece];

    memset(s, 0, offsetof(sums, x));
    for (size_t i = f->count * piece / f->pieces; i < f->count * (piece + 1) / f->pieces; i++)
        add_query(s, f, f->queries[i]);
}

static void add_up(sums *total, fitting *f)
{
    if (f->pool)
        kith__pool_run(f->pool, add_piece, f, f->pieces);
    else
        add_piece(f, 0);
    memset(total, 0, offsetof(sums, x));
    for (size_t p = 0; p < f->pieces; p++) {
        total->loss += f->piece[p].loss;
        for (int k = 0; k < N; k++) {
            total->gradient[k] += f->piece[p].gradient[k];
            for (int j = 0; j <= k; j++)
                total->hessian[k][j] += f->piece[p].hessian[k][j];
        }
    }
    for (int k = 0; k < N; k++) {
        double off = f->weight[k] - f->towards[k];
        total->loss += f->ridge / 2 * off * off;
        total->gradient[k] += f->ridge * off;
        total->hessian[k][k] += f->ridge;
    }
}

/* Solve H x = g for a positive definite H, in place (Cholesky). */
static void solve(double h[STRIDE][STRIDE], double *x)
{
    for (int k = 0; k < N; k++) {
        for (int j = 0; j <= k; j++) {
            double sum = h[k][j];
            for (int i = 0; i < j; i++)
                sum -= h[k][i] * h[j][i];
            h[k][j] = k == j ? sqrt(fmax(sum, 1e-12)) : sum / h[j][j];
        }
    }
    for (int k = 0; k < N; k++) {
        for (int i = 0; i < k; i++)
            x[k] -= h[k][i] * x[i];
        x[k] /= h[k][k];
    }
    for (int k = N - 1; k >= 0; k--) {
        for (int i = k + 1; i < N; i++)
            x[k] -= h[i][k] * x[i];
        x[k] /= h[k][k];
    }
}

/* Newton steps, each halved until the loss decreases. */
static void descend(fitting *f, sums *s)
{
    kith__watch *watch = kith__pool_watch(f->pool);

    add_up(s, f);
    for (int i = 0; i < ITERATIONS && !kith__watch_add(watch, 1); i++) {
        double before = s->loss, step[N], old[N], length = 1;
        memcpy(step, s->gradient, sizeof step);
        memcpy(old, f->weight, sizeof old);
        solve(s->hessian, step);
        do {
            for (int k = 0; k < N; k++)
                f->weight[k] = old[k] - length * step[k];
            add_up(s, f);
            length /= 2;
        } while (!(s->loss <= before) && length > 1e-3);
        if (!(s->loss <= before)) {
            memcpy(f->weight, old, sizeof old);
            return;
        }
        if (before - s->loss < 1e-7 * fabs(before))
            return;
    }
}

kith_status kith__linear_fit(float weight[N], const kith__row_table *rows, const double scale[N],
                             const uint32_t *queries, size_t count, double ridge, kith__pool *pool,
                             kith_error *error)
{
    size_t pieces = pool ? PIECES : 1;
    fitting *f = kith__calloc(1, sizeof *f + (pieces + 1) * sizeof *f->piece);

    if (!f)
        return kith__no_memory(error);
    f->rows = rows;
    f->queries = queries;
    f->count = count;
    f->scale = scale;
    f->ridge = ridge;
    f->pool = pool;
    f->pieces = pieces;
    for (int k = 0; k < N; k++)
        f->weight[k] = f->towards[k] = scale[k] > 0 ? (double)weight[k] / scale[k] : 0;
    descend(f, &f->piece[pieces]);
    for (int k = 0; k < N; k++)
        if (scale[k] > 0)
            weight[k] = (float)(f->weight[k] * scale[k]);
    kith__free(f);
    return kith__watch_status(kith__pool_watch(pool), error);
}

double kith__linear_loss(const float weight[N], const kith__row_table *rows, size_t query)
{
    double score[KITH__MOST_ROWS], top;
    size_t from = rows->first[query], to = rows->first[query + 1];

    for (size_t i = from; i < to; i++)
        score[i - from] =
            rows->offset[i] + kith__linear(weight, rows->feature + i * KITH__FEATURES_COUNT);
    double right = score[rows->right[query] - from], sum = kith__exp_all(score, to - from, &top);
    return log(sum) + top - right;
}
