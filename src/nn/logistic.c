#include "nn/logistic.h"

#include <math.h>
#include <string.h>

enum { N = KITH__MOST_LOGISTIC, STEPS = 30 };

typedef struct {
    size_t n, count;
    const double *strength;
    const kith__sample *samples;
    double towards[N];
} fitting;

/* Solve h x = g for a positive definite h, in place (Gaussian elimination). */
static void solve(double h[N][N], double *g, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (size_t j = k + 1; j < n; j++) {
            double by = h[j][k] / h[k][k];
            for (size_t i = k; i < n; i++)
                h[j][i] -= by * h[k][i];
            g[j] -= by * g[k];
        }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++)
            g[k] -= h[k][j] * g[j];
        g[k] /= h[k][k];
    }
}

static double dot(const double *w, const double *x, size_t n)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++)
        sum += w[k] * x[k];
    return sum;
}

/* The negative log-likelihood of the samples, plus the regularisation. */
static double loss_of(const fitting *f, const double *w)
{
    double loss = 0;

    for (size_t k = 0; k < f->n; k++)
        loss += f->strength[k] * (w[k] - f->towards[k]) * (w[k] - f->towards[k]) / 2;
    for (size_t i = 0; i < f->count; i++) {
        double z = dot(w, f->samples[i].x, f->n);
        loss += fmax(z, 0) + log1p(exp(-fabs(z))) - (f->samples[i].truth ? z : 0);
    }
    return loss;
}

static void newton_step(double *step, const fitting *f, const double *w)
{
    double h[N][N] = {{0}};

    for (size_t k = 0; k < f->n; k++) {
        step[k] = f->strength[k] * (w[k] - f->towards[k]);
        h[k][k] = f->strength[k];
    }
    for (size_t i = 0; i < f->count; i++) {
        const double *x = f->samples[i].x;
        double p = kith__sigmoid(dot(w, x, f->n));
        for (size_t k = 0; k < f->n; k++) {
            step[k] += (p - f->samples[i].truth) * x[k];
            for (size_t j = 0; j < f->n; j++)
                h[k][j] += p * (1 - p) * x[k] * x[j];
        }
    }
    solve(h, step, f->n);
}

/* Newton's method. Steps are halved until the loss falls, because a full step can overshoot where
 * predictions are far too confident. */
void kith__logistic_fit(double *w, size_t n, const double *strength, const kith__sample *samples,
                        size_t count)
{
    fitting f = {n, count, strength, samples, {0}};
    double next[N], step[N], loss;

    memcpy(f.towards, w, n * sizeof *w);
    loss = loss_of(&f, w);
    for (int i = 0; i < STEPS; i++) {
        double before = loss, length = 1;
        newton_step(step, &f, w);
        do {
            for (size_t k = 0; k < n; k++)
                next[k] = w[k] - length * step[k];
            loss = loss_of(&f, next);
            length /= 2;
        } while (!(loss <= before) && length > 1e-6);
        if (!(loss <= before))
            return;
        memcpy(w, next, n * sizeof *w);
    }
}
