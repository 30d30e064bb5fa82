/* The output of kith eval about overall probabilities, as text and as JSON. */
#ifndef KITH_CLI_EVAL_PROBABILITIES_H
#define KITH_CLI_EVAL_PROBABILITIES_H

#include "cli/cli.h"

void print_probabilities(const kith_probability_eval *eval);
json_t *probabilities_json(const kith_probability_eval *eval);

#endif
