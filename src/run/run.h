/* The folder that a training run lives in:
 *   config.json              settings, version, hashes of the data: config.h
 *   graph/                   the graph, as ids with their names
 *   model.safetensors        the best weights by dev, or the last ones: weights.c
 *   calibration.json         what turns scores into probabilities: weights.c
 *   rules.safetensors, fusion.json   rule evidence and its weights: fusion_files.h
 *   has_relation.json, overall.json  what overall probabilities are made of
 *   metrics.json             what training measured on held-out entities: held_out_file.h
 *   checkpoint.safetensors   weights, Adam's state and where training stands: checkpoint.c
 *   history.jsonl            one object per epoch: history.c
 *   cache.bin                the graph once more, to be mapped: cache.h
 *   lock                     there while the run is trained: lock.h
 * Every file but graph/, history.jsonl and cache.bin holds its own checksum (core/checksum.h); the
 * graph has its hashes in config.json. */
#ifndef KITH_RUN_RUN_H
#define KITH_RUN_RUN_H

#include "model/model.h"

/* The state of training. */
typedef struct kith__position {
    uint32_t epoch;      /* epochs done */
    uint64_t batch;      /* batches done of the next one */
    double loss_sum;     /* over those batches' facts */
    uint64_t facts;      /* in those batches */
    double seconds;      /* spent on them */
    double best;         /* best metric on dev, below 0 if there is none yet */
    uint32_t best_epoch;
    uint32_t looks;      /* evaluations on dev since the best one */
    bool finished;
} kith__position;

/* What the optimiser keeps in addition to the parameters. */
typedef struct kith__moments {
    const kith__params *m, *v;
    uint64_t steps;
} kith__moments;

/* How a new run is made. */
typedef struct kith__run_options {
    uint64_t derived; /* the hash that a cache of the run must have (kith__derived_hash); 0: unknown */
    bool replace;     /* an older run made by kith, which contains nothing else */
    /* NULL: none. Writes more files into the folder before it appears under its name. */
    kith_status (*fill)(void *context, const char *folder, kith_error *error);
    void *context;
} kith__run_options;

/* Create the folder and its parents, whole or not at all. It must not exist, or be empty, or be
 * replaced. `options` may be NULL. */
kith_status kith__run_create(const char *folder, const kith_graph *graph,
                             const kith_settings *settings, const kith__run_options *options,
                             kith_error *error);
/* Remove the files of a run, and its folder if nothing else is in it. */
void kith__run_remove(const char *folder);
/* Whether there is a run at all. */
kith_status kith__run_check(const char *folder, kith_error *error);
/* Read settings and graph, and make a model with initial values from them. */
kith_status kith__run_open(kith_model **model, const char *folder, unsigned threads,
                           kith_error *error);

kith_status kith__run_save_model(const char *folder, const kith_model *model, kith_error *error);
kith_status kith__run_load_model(const char *folder, kith_model *model, kith_error *error);
/* A table with values that are not finite, or so large that scores would not be; NULL: none. */
const kith__table *kith__run_unusable_table(const kith_model *model);
kith_status kith__run_save_position(const char *folder, const kith__position *position,
                                    const kith_model *model, const kith__moments *moments,
                                    kith_error *error);
/* A run without a checkpoint is at its beginning. */
kith_status kith__run_load_position(kith__position *position, const char *folder,
                                    kith_model *model, kith__moments *moments, kith_error *error);

/* The calibration of a model without rules; a run may lack it. */
kith_status kith__run_save_calibration(const char *folder, const kith_model *model,
                                       kith_error *error);
kith_status kith__run_load_calibration(const char *folder, kith_model *model, kith_error *error);

/* Add a line for an epoch. */
kith_status kith__run_log(const char *folder, const kith_progress *progress, const char *metric,
                          kith_error *error);
/* Drop the lines after an epoch, which a killed run may have written. */
kith_status kith__run_cut_log(const char *folder, uint32_t epoch, kith_error *error);

#endif
