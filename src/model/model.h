/* A model: settings, graph, lists, parameters and an encoder over them. */
#ifndef KITH_MODEL_MODEL_H
#define KITH_MODEL_MODEL_H

#include <pthread.h>

#include "embed/encoder/encoder.h"

struct kith_model {
    kith_settings settings; /* predict and corrupt resolved: never auto or predicted */
    const kith_graph *graph;
    kith_graph *own_graph; /* the same where the model must free it */
    kith__pool *pool;
    kith__implications *rules; /* NULL without logic weights */
    kith__neighbor_lists *lists;
    kith__params params;
    kith__encoder *encoder;
    bool calibrated; /* without rule evidence: whether scores mean probabilities, and by which */
    float calibration[3]; /* numbers (fuse/calibrate.h) */
    struct kith__fused *fused; /* rule evidence and its fusion with the embedding; NULL without */
    void (*free_fused)(struct kith__fused *fused);
    pthread_mutex_t lock; /* of what follows */
    void *shared;         /* what sessions have in common, made by the first of them */
    void (*free_shared)(void *);
    int run_format; /* of the run that it was read from; 0: none */
    char warning[2][400];
    size_t warnings;
};

/* Which side the unseen entities of test stand on decides what is predicted. */
kith_predict kith__resolve_predict(const kith_settings *settings, const kith_graph *graph);

/* As kith_model_new, but all parameters are 0. `rules` and `lists` are made where they are NULL, and
 * else become the model's, also on failure. */
kith_status kith__model_make(kith_model **model, const kith_graph *graph,
                             const kith_settings *settings, unsigned threads,
                             kith__implications *rules, kith__neighbor_lists *lists,
                             kith_error *error);

/* Something that whoever opened the model should know (kith_model_warning). */
void kith__model_warn(kith_model *model, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
