/* Progress on a terminal, and stopping after a signal, for all commands. */
#ifndef KITH_CLI_PROGRESS_H
#define KITH_CLI_PROGRESS_H

#include "cli/cli.h"

typedef struct display {
    char title[64]; /* printed before every line */
    double began, shown;
    double facts, last_facts; /* facts trained on since the beginning, and in the current epoch */
    bool terminal, quiet;
} display;

void display_begin(display *d, bool quiet, const char *title);
void display_end(const display *d);
/* A kith_progress_call; its context is a display. */
int show_progress(void *context, const kith_progress *progress);
/* A kith_watch_call; its context is a display. Shows the stage with its rate and the remaining
 * time, and stops the work after a signal. */
int show_stage(void *context, const kith_stage *stage);

/* The display of a command that does not train. After the first call, Ctrl-C and SIGTERM end the
 * program within half a second. */
display *watching(const common_arguments *a);
/* For loops in commands: show that `done` of `total` are done. Nonzero after a signal. */
int show_count(const common_arguments *a, const char *name, size_t done, size_t total);
/* Options for a library call: the threads and the display. */
kith_work_options work_options(const common_arguments *a);

#endif
