/* Progress of training on a terminal. */
#ifndef KITH_CLI_PROGRESS_H
#define KITH_CLI_PROGRESS_H

#include "cli/cli.h"

typedef struct display {
    const char *title; /* before every line */
    double began, shown;
    double facts, last_facts; /* trained on since it began, and in the epoch at hand */
    bool terminal, quiet;
} display;

void display_begin(display *d, bool quiet, const char *title);
void display_end(const display *d);
/* A kith_progress_call; its context is a display. */
int show_progress(void *context, const kith_progress *progress);
/* A kith_watch_call for the stages that have no epochs; its context is a display. */
int show_stage(void *context, const kith_stage *stage);

#endif
