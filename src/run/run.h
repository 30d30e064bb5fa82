/* The folder of a training run:
 *   config.json              settings, version, hashes of the data: config.h
 *   graph/                   the graph, as ids with their names
 *   model.safetensors        the best weights on dev, or the last ones: weights.c
 *   calibration.json         the calibration of scores: weights.c
 *   rules.safetensors, fusion.json   rule evidence and its weights: fusion_files.h
 *   has_relation.json, overall.json  models for overall probabilities
 *   metrics.json             what training measured on held-out entities: held_out_file.h
 *   checkpoint.safetensors   weights, Adam's state, position of training: checkpoint.c
 *   history.jsonl            one object per epoch: history.c
 *   cache.bin                the graph again, in a form to be mapped: cache.h
 *   lock                     exists while the run is trained: lock.h
 * Every file except graph/, history.jsonl and cache.bin contains its own checksum
 * (core/checksum.h); config.json has the hashes of the graph. */
#ifndef KITH_RUN_RUN_H
#define KITH_RUN_RUN_H

#include "model/model.h"

/* The state of training. */
typedef struct kith__position {
    uint32_t epoch;  /* epochs done */
    uint64_t batch;  /* batches done of the next one */
    double loss_sum; /* over those batches' facts */
    uint64_t facts;  /* in those batches */
    double seconds;  /* spent on them */
    double best;     /* best metric on dev, below 0 if there is none yet */
    uint32_t best_epoch;
    uint32_t since_best; /* evaluations on dev since the best one */
    bool finished;
} kith__position;

/* What the optimiser keeps in addition to the parameters. */
typedef struct kith__moments {
    const kith__params *m, *v;
    uint64_t steps;
} kith__moments;

/* How a new run is made. */
typedef struct kith__run_options {
    /* the hash that a cache of the run must have (kith__derived_hash); 0: unknown */
    uint64_t derived;
    bool replace; /* replace an older run made by kith, if the folder contains nothing else */
    /* Called before the folder appears under its name, to write more files into it; may be NULL. */
    kith_status (*fill)(void *context, const char *folder, kith_error *error);
    void *context;
    kith_watch_call watch; /* while the graph is written; NULL: none */
    void *watch_context;
    /* Becomes the lock of the new run, which is taken before the folder appears; NULL: none. */
    struct kith__run_lock *lock;
} kith__run_options;

/* Create the folder, whole or not at all, and its parents. The folder must be missing, empty, or,
 * with `replace`, an older run. `options` may be NULL. */
kith_status kith__run_create(const char *folder, const kith_graph *graph,
                             const kith_settings *settings, const kith__run_options *options,
                             kith_error *error);
/* Remove the files of a run, and its folder if nothing else is in it. */
void kith__run_remove(const char *folder);
/* Whether it is a folder, not a link to one, with nothing in it but the files of a run. */
bool kith__run_removable(const char *folder);
/* Fails if the folder does not contain a run. */
kith_status kith__run_check(const char *folder, kith_error *error);
/* Read settings and graph, and create a model from them with initial values. */
kith_status kith__run_open(kith_model **model, const char *folder,
                           const kith_work_options *options, kith_error *error);

kith_status kith__run_save_model(const char *folder, const kith_model *model, kith_error *error);
kith_status kith__run_load_model(const char *folder, kith_model *model, kith_error *error);
/* The first table with values that are not finite, or so large that scores would not be finite;
 * NULL if there is none. */
const kith__table *kith__run_unusable_table(const kith_model *model);
kith_status kith__run_save_position(const char *folder, const kith__position *position,
                                    const kith_model *model, const kith__moments *moments,
                                    kith_error *error);
/* For a run without a checkpoint, the position is the beginning. */
kith_status kith__run_load_position(kith__position *position, const char *folder,
                                    kith_model *model, kith__moments *moments, kith_error *error);

/* The calibration of a model without rules. A run may lack it. */
kith_status kith__run_save_calibration(const char *folder, const kith_model *model,
                                       kith_error *error);
kith_status kith__run_load_calibration(const char *folder, kith_model *model, kith_error *error);

/* Add a line for an epoch. */
kith_status kith__run_log(const char *folder, const kith_progress *progress, const char *metric,
                          kith_error *error);
/* Drop the lines after an epoch, which a killed run may have written. */
kith_status kith__run_cut_log(const char *folder, uint32_t epoch, kith_error *error);

#endif
