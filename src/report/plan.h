/* The jobs that experiments need, each of one or two kith commands. Jobs that several experiments
 * share are run once. */
#ifndef KITH_REPORT_PLAN_H
#define KITH_REPORT_PLAN_H

#include <sys/types.h>

#include "report/experiment.h"

/* Raised only when a change of kith changes results, so that finished runs of earlier versions are
 * repeated. */
enum {
    RESULTS_VERSION = 1,
    RULES_VERSION = 4 /* raised only for results of models with rules */
};

typedef enum job_kind { JOB_TRAIN, JOB_STATISTICS, JOB_EXPLAIN } job_kind;
typedef enum job_state { JOB_WAITING, JOB_RUNNING, JOB_DONE, JOB_FAILED } job_state;

typedef struct job {
    job_kind kind;
    job_state state;
    char *folder; /* under the output folder */
    /* results version, hash of the data, settings: equal identities give equal results */
    json_t *identity;
    json_t *info; /* for users: experiment, model, data, seed */
    /* paths of the data; `on` is NULL unless another graph is used for evaluation */
    char *source, *on;
    double estimate; /* seconds of CPU time, from the experiment */
    double epochs;
    size_t needs;  /* the job that must be done first, or SIZE_MAX */
    bool was_done; /* done before this start of the program */
    char *message; /* why it failed, or NULL */

    /* while it runs */
    pid_t pid;
    int step;
    double began;
    double trained;   /* seconds of its training step in this start */
    double before;    /* the fraction done in earlier starts, 0 to 1 */
    json_t *commands; /* as a user would type them */
} job;

typedef struct plan_options {
    const char *data, *output; /* folders */
    bool quick;
    unsigned threads; /* of each command */
} plan_options;

typedef struct plan {
    plan_options options;
    /* with "cells": {"model", "data", "seed", "job"}, and "missing": data sets that are not there,
     * or have a "message" about why they cannot be used */
    json_t *experiments;
    job *jobs;
    size_t count, capacity;
    json_t *sources; /* for each path: hash, facts, test, labels, test_labels */
} plan;

/* Takes ownership of the experiments. Data sets that are missing or cannot be used are listed, not
 * an error. */
kith_status plan_make(plan *p, json_t *experiments, const plan_options *options, kith_error *error);
/* Look again at which jobs are done. */
void plan_update(plan *p);
void plan_release(plan *p);

/* The results of a finished job; NULL if it is not finished. */
json_t *job_results(const job *j);
/* A path inside a folder, or inside a job's, to be freed; NULL if out of memory. */
char *path_in(const char *folder, const char *name);
char *job_path(const job *j, const char *name);
/* A setting of an experiment as text; whole numbers have all their digits. */
const char *value_text(char out[64], const json_t *value);
/* "LAN, Subject-10, seed 1" */
json_t *job_title(const job *j);

#endif
