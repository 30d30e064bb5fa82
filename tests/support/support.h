/* What the test programs share: temporary files, comparisons that print both values, random graphs.
 */
#ifndef KITH_TESTS_SUPPORT_H
#define KITH_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <kith/kith.h>

#include "core/rng.h"
#include "embed/settings.h"

/* ---- files ---- */

/* A new empty folder; all of them are removed when the program ends. */
const char *new_folder(void);
/* Text as by printf, in one of a few buffers that are used in turn. */
const char *format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
/* A copy that lives as long as the program. */
const char *keep(const char *text);
/* Write FOLDER/NAME and return its path, which lives as long as the program. */
const char *put(const char *folder, const char *name, const char *text);
const char *put_bytes(const char *folder, const char *name, const void *bytes, size_t length);
/* The same, compressed; each text becomes a separate gzip member or zstd frame. */
const char *put_gzip(const char *folder, const char *name, const char *text, const char *more);
const char *put_zstd(const char *folder, const char *name, const char *text, const char *more);
/* A file in a new folder. */
const char *file(const char *name, const char *text);
/* The content of a file, to be freed; the test fails if there is none. */
char *contents(const char *path, size_t *length);
bool exists(const char *path);
/* Update the checksum in a JSON or safetensors file of a run. */
void reseal(const char *folder, const char *name);
bool same_bytes(const char *path, const char *other);
/* How many entries a folder has. */
size_t entries(const char *folder);
/* A folder of the data beside the checkout, or NULL after a line that says that it is missing. */
const char *shared_data(const char *name);

/* ---- text that grows ---- */

typedef struct {
    char *at;
    size_t length, capacity;
} draft;

void add(draft *t, const char *pattern, ...) __attribute__((format(printf, 2, 3)));
void draft_release(draft *t);

/* ---- assertions ---- */

#define assert_contains(message, split) check_contains(message, split, __FILE__, __LINE__)
void check_contains(const char *message, const char *split, const char *file, int line);

/* ---- failing allocations ---- */

/* Let the first, the second ... allocation fail until there are no more: the call must say so, but
 * it may do without some. */
void fail_each_allocation(kith_status (*call)(void *context, kith_error *error), void *context);

/* ---- random numbers ---- */

unsigned below(kith__rng *rng, unsigned bound);
float uniform(kith__rng *rng, float low, float high);

/* ---- graphs ---- */

/* Open what must open. */
kith_graph *opened(const char *path);
/* The warnings of a model, without that its graph is small. */
const char *warning_of(const kith_model *model, size_t index);
kith_graph *opened_with(const char *path, unsigned threads, bool skip_bad);
/* Open what must be refused with that status; the message must contain each of the texts, the last
 * of which is NULL. */
void refused(const char *path, kith_status status, ...) __attribute__((sentinel));
/* The same with a number of threads. */
void refused_with(const char *path, unsigned threads, kith_status status, ...)
    __attribute__((sentinel));

/* Whether two evaluations have the same ranks. */
bool equal_ranks(const kith_eval *a, const kith_eval *b);

/* The statistics of a graph; their lists live until the next call. */
kith_stats stats_of(const kith_graph *graph);

/* The i-th fact of a split as "subject relation object", with its label if it has one. */
const char *fact(const kith_graph *graph, kith_split split, size_t i);
/* All facts of a split, each followed by a ';'. */
const char *facts(const kith_graph *graph, kith_split split);

/* ---- models ---- */

/* Set a setting by name, to a value that must be accepted. */
void set(kith_settings *settings, const char *name, const char *value);
/* A model with initial values, on one thread or several. */
kith_model *model_with(const kith_graph *graph, const kith_settings *settings);
kith_model *model_on(const kith_graph *graph, const kith_settings *settings, unsigned threads);
/* Open a run that must open, on one thread. */
kith_model *opened_model(const char *folder);
float score_of(kith_model *model, kith_triple fact);

/* ---- runs ---- */

/* Where a run can be made, in a new folder. */
const char *new_run(void);
/* FOLDER/NAME. */
const char *in(const char *folder, const char *name);
/* A copy of a run that can be damaged. */
const char *copy_run(const char *folder);

/* ---- comparing graphs ---- */

#define assert_same_graph(a, b) check_same_graph(a, b, __FILE__, __LINE__)
void check_same_graph(const kith_graph *a, const kith_graph *b, const char *file, int line);

/* A folder with a random graph: all splits, sometimes with labels or facts in two splits. */
typedef struct {
    unsigned entities, relations, train, dev, test, aux;
    bool labels; /* of dev and test */
    bool overlap; /* facts of train again in dev and test */
    bool maps;    /* ids, with entity2id.txt and relation2id.txt */
} random_shape;

const char *random_folder(kith__rng *rng, const random_shape *shape);

#endif
