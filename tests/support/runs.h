/* Training small runs, and what their folders say. */
#ifndef KITH_TESTS_RUNS_H
#define KITH_TESTS_RUNS_H

#include "support.h"

extern const char *run_source; /* a folder with every part, and a relation that train lacks */
extern kith_graph *run_graph;
int make_graph(void **state);
int free_graph(void **state);

/* Few and small steps; dev is looked at every other epoch. */
kith_settings quick_settings(const char *aggregator);

kith_train_end train_in(const char *folder, const kith_graph *on, const kith_settings *s,
                        const kith_train_options *options);
const char *trained_run(const kith_graph *on, const kith_settings *s, unsigned threads);
bool same_model(const char *a, const char *b);

/* The epochs of history.jsonl, as "1 2 3", each line being one object. */
const char *epochs_of(const char *folder);

/* A number of history.jsonl; -1 where the line has none. */
double logged(const char *folder, int epoch, const char *key);

/* Of the softmax loss with few entities: all that it has, in small. */
void set_softmax(kith_settings *s, int variant);

typedef struct {
    size_t calls, stop_at; /* the call that asks to stop, from 1 */
    size_t epochs, evaluated, best;
    double dev;
} run_watch;

int on_progress(void *context, const kith_progress *p);

/* A run that was stopped after its first step, its weights then changed. */
const char *stopped_with(const kith_settings *s, const char *table, float value);

#endif
