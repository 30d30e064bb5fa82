/* Sample questions about unseen entities of a data set, for case studies. */
#ifndef KITH_REPORT_CASES_H
#define KITH_REPORT_CASES_H

#include <jansson.h>

#include "core/status.h"

/* Returns an array of {"subject", "relation", "object", "text", "answers", "ranked"}: the hidden
 * side is null, "text" is the argument for `kith explain --query`, "answers" are those in test,
 * "ranked" are some of them as {"answer", "text"}: the arguments for the facts themselves. `wanted`
 * may have "count", "seed", "min_facts" and "max_facts", or instead of a sample "questions": a list
 * of [subject, relation, object], one of them null. */
kith_status cases_sample(json_t **questions, const char *source, const json_t *wanted,
                         unsigned threads, kith_error *error);

#endif
