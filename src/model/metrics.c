#include "model/metrics.h"

#include <math.h>

void kith__metrics_add(kith_metrics *m, double rank)
{
    m->queries++;
    m->mr += rank;
    m->mrr += 1 / rank;
    m->hits1 += rank <= 1;
    m->hits3 += rank <= 3;
    m->hits10 += rank <= 10;
}

void kith__metrics_finish(kith_metrics *m)
{
    double n = m->queries ? (double)m->queries : 1;

    m->mr /= n;
    m->mrr /= n;
    m->hits1 /= n;
    m->hits3 /= n;
    m->hits10 /= n;
}

void kith__reliability_add(kith_reliability *bins, double probability, int correct)
{
    if (isnan(probability))
        return;
    int row = (int)(probability * KITH__RELIABILITY_BINS);
    kith_reliability *to = &bins[row < KITH__RELIABILITY_BINS ? row : KITH__RELIABILITY_BINS - 1];

    to->answers++;
    to->predicted += probability;
    to->correct += correct;
}

double kith__reliability_finish(kith_reliability *bins)
{
    double error = 0, answers = 0;

    for (int i = 0; i < KITH__RELIABILITY_BINS; i++) {
        double n = (double)bins[i].answers;
        error += fabs(bins[i].predicted - bins[i].correct);
        answers += n;
        bins[i].predicted /= n > 0 ? n : 1;
        bins[i].correct /= n > 0 ? n : 1;
    }
    return answers > 0 ? error / answers : -1;
}
