#include "fuse/calibrate.h"

#include <math.h>
#include <string.h>

double kith__share_logit(double log_share)
{
    double share = fmin(fmax(exp(log_share), 1e-6), 1 - 1e-6);
    return log(share / (1 - share));
}

double kith__calibrated(const float w[KITH__CALIBRATION], double log_share, double log_known)
{
    return 1 / (1 + exp(-(w[0] * kith__share_logit(log_share) + w[1] * log_known + w[2])));
}

/* Solve h x = g for a positive definite h, in place (Gauss). */
static void solve(double h[KITH__CALIBRATION][KITH__CALIBRATION], double *g)
{
    enum { N = KITH__CALIBRATION };

    for (int k = 0; k < N; k++)
        for (int j = k + 1; j < N; j++) {
            double by = h[j][k] / h[k][k];
            for (int i = k; i < N; i++)
                h[j][i] -= by * h[k][i];
            g[j] -= by * g[k];
        }
    for (int k = N - 1; k >= 0; k--) {
        for (int j = k + 1; j < N; j++)
            g[k] -= h[k][j] * g[j];
        g[k] /= h[k][k];
    }
}

static double dot(const double *w, const double *x)
{
    double sum = 0;

    for (int k = 0; k < KITH__CALIBRATION; k++)
        sum += w[k] * x[k];
    return sum;
}

/* -log of how likely the samples are, with a slight pull towards (1, 0, 0). */
static double calibration_loss(const double *w, const kith__sample *samples, size_t count)
{
    double loss = ((w[0] - 1) * (w[0] - 1) + w[1] * w[1] + w[2] * w[2]) / 2;

    for (size_t i = 0; i < count; i++) {
        double z = dot(w, samples[i].x);
        loss += fmax(z, 0) + log1p(exp(-fabs(z))) - (samples[i].truth ? z : 0);
    }
    return loss;
}

static void calibration_step(double *step, const double *w, const kith__sample *samples, size_t count)
{
    enum { N = KITH__CALIBRATION };
    double h[N][N] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

    memcpy(step, (double[N]){w[0] - 1, w[1], w[2]}, N * sizeof *step);
    for (size_t i = 0; i < count; i++) {
        const double *x = samples[i].x;
        double p = 1 / (1 + exp(-dot(w, x)));
        for (int k = 0; k < N; k++) {
            step[k] += (p - samples[i].truth) * x[k];
            for (int j = 0; j < N; j++)
                h[k][j] += p * (1 - p) * x[k] * x[j];
        }
    }
    solve(h, step);
}

/* Logistic regression by Newton's method. Steps are halved until the loss falls: where shares are far
 * too sure, a whole one leads away. */
void kith__calibration_fit(float out[KITH__CALIBRATION], const kith__sample *samples, size_t count)
{
    enum { N = KITH__CALIBRATION, STEPS = 30 };
    double w[N] = {1, 0, 0}, next[N], step[N], loss = calibration_loss(w, samples, count);

    for (int i = 0; i < STEPS; i++) {
        double before = loss, length = 1;
        calibration_step(step, w, samples, count);
        do {
            for (int k = 0; k < N; k++)
                next[k] = w[k] - length * step[k];
            loss = calibration_loss(next, samples, count);
            length /= 2;
        } while (!(loss <= before) && length > 1e-6);
        if (!(loss <= before))
            break;
        memcpy(w, next, sizeof w);
    }
    for (int k = 0; k < N; k++)
        out[k] = (float)w[k];
}
