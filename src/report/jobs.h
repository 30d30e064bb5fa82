/* Running the jobs of a plan: commands of kith itself as child processes, several at once. */
#ifndef KITH_REPORT_JOBS_H
#define KITH_REPORT_JOBS_H

#include "report/plan.h"

/* Called while jobs run: when a job has ended, with the job and its duration in seconds; and every
 * second, with NULL. `left` are the estimated remaining seconds. */
typedef void (*jobs_show)(void *context, const plan *p, const job *ended, double seconds,
                          double left);
/* Called if another process uses the folder, before waiting for it. */
typedef void (*jobs_wait)(void *context);

typedef struct jobs_options {
    unsigned at_once;
    jobs_show show;
    jobs_wait wait; /* or NULL */
    void *context;
} jobs_options;

/* Run the jobs that are not done. If a job fails, its message is stored, and the others are still
 * run. Ctrl-C and SIGTERM are passed on to the commands, which write a checkpoint; `signal` is then
 * set to the number of the signal. */
kith_status jobs_run(plan *p, const jobs_options *options, int *signal, kith_error *error);

size_t jobs_count(const plan *p, job_state state);
/* The fraction of a running job that is done, 0 to 1. */
double job_fraction(const job *j);
/* Estimated seconds of a job that is not finished, with several running at once. */
double job_seconds(const plan *p, const job *j, unsigned at_once);
/* Estimated seconds of all unfinished jobs. */
double jobs_seconds(const plan *p, unsigned at_once);
/* "1:23:45" or "2:03". */
const char *duration_text(char out[32], double seconds);
/* {"processor", "cores", "system"} */
json_t *machine_json(void);

#endif
