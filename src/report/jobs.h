/* Running the jobs of a plan: commands of kith itself as child processes, several at once. */
#ifndef KITH_REPORT_JOBS_H
#define KITH_REPORT_JOBS_H

#include "report/plan.h"

/* Called every second while jobs run: with a job that has just ended and the seconds it took, or with NULL
 * and the seconds that are left. */
typedef void (*jobs_show)(void *context, const plan *p, const job *ended, double seconds);

typedef struct jobs_options {
    unsigned at_once;
    jobs_show show;
    void *context;
} jobs_options;

/* Run what is not done. A job that fails keeps its message and does not stop the others. Ctrl-C and
 * SIGTERM are passed on to the commands, which keep a checkpoint; `signal` is then its number. */
kith_status jobs_run(plan *p, const jobs_options *options, int *signal, kith_error *error);

size_t jobs_count(const plan *p, job_state state);
/* How much of a running job is done, 0 to 1. */
double job_fraction(const job *j);
/* Seconds for a job on this machine, before any has been timed; several run at once. */
double job_seconds(const plan *p, const job *j, unsigned at_once);
/* The same for all that is left. */
double jobs_seconds(const plan *p, unsigned at_once);
/* "1:23:45" or "2:03". */
const char *duration_text(char out[32], double seconds);
/* {"processor", "cores", "system"} */
json_t *machine_json(void);

#endif
