/* The metrics that training measured on held-out entities, for eval and info. */
#ifndef KITH_CLI_HELD_OUT_H
#define KITH_CLI_HELD_OUT_H

#include "cli/cli.h"

/* Print a table, or why there is none. */
void print_held_out(const kith_model *model);
/* NULL if training measured nothing. */
json_t *held_out_json(const kith_model *model);

void print_reliability(const kith_reliability *const *bins, size_t count, double error);
json_t *reliability_json(const kith_reliability *const *bins, size_t count, double error);
/* One bin of it; without answers, it has nothing else. */
json_t *bin_json(const kith_reliability *bin);
/* Without queries, it has nothing else. */
json_t *metrics_json(const kith_metrics *metrics);
void print_metrics_head(const char *title);
void print_metrics(const char *name, const kith_metrics *metrics);

#endif
