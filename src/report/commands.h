/* The command lines of jobs: kith train, eval, explain and stats. */
#ifndef KITH_REPORT_COMMANDS_H
#define KITH_REPORT_COMMANDS_H

#include "report/plan.h"

typedef struct command_line {
    char **argv; /* ends with NULL */
    size_t argc, capacity;
    const char *output; /* the file in the job's folder that gets stdout */
    bool no_memory;     /* an argument is missing */
} command_line;

/* The command of a job's step, released by the caller; false past the last step. */
bool command_make(command_line *c, const plan *p, const job *j, int step);
void command_release(command_line *c);
/* The command as a user would type it. */
json_t *command_text(const command_line *c);
/* All steps of a job as text. */
json_t *commands_json(const plan *p, const job *j);

#endif
