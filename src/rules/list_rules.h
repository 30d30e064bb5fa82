/* Lists the strongest rules for users, and has what the lists of implications and of rules
 * share. */
#ifndef KITH_RULES_LIST_RULES_H
#define KITH_RULES_LIST_RULES_H

#include <stdbool.h>

#include "core/flag.h"
#include "core/status.h"
#include "rules/best.h"
#include "rules/evidence.h"

/* Merge the caller's options with the defaults, and check them. */
kith_status kith__rules_options(kith_rules_options *used, const kith_graph *graph,
                                const kith_rules_options *given, kith_error *error);

/* List the strongest rules, by the options as kith__rules_options gives them. Mined rules come from
 * the evidence, with the counts they were mined with, or from the graph if there is none (NULL);
 * rules with constants, and examples, come from its facts. A pool of NULL is out of memory. */
kith_status kith__rules_list(kith_rules **rules, const kith_graph *graph,
                             const kith__evidence *evidence, kith__pool *pool,
                             const kith_rules_options *options, kith_error *error);

/* ---- for kinds of rules with constants ---- */

/* The work is divided into pieces, each with its own list. */
enum { KITH__LISTING_PIECES = 64 };

typedef struct kith__listing {
    const kith_graph *graph;
    const kith__index *index;
    kith__watch *watch;
    const kith_rules_options *options;
    kith__best best[KITH__LISTING_PIECES + 1]; /* one per piece; the last one merges them */
    kith__flag no_memory;
} kith__listing;

/* Whether rules with this conclusion are to be listed. */
bool kith__listing_concludes(const kith__listing *listing, uint32_t conclusion);
/* A rule without constants in public form; the confidence of `rule` may be unset. */
kith_rule kith__listing_rule(const kith__listing *listing, unsigned part, uint32_t conclusion,
                             const kith__rule *rule);
void kith__listing_add(kith__listing *listing, size_t piece, const kith_rule *rule);
/* A relation of such a rule, as numbered in the index. */
uint32_t kith__listing_relation(const kith__listing *listing, uint32_t relation, int inverse);
/* For the argument of kith__rule_kind.find_examples: the rule, and a function that records an
 * example of where it holds or fails. */
const kith_rule *kith__listed_rule(const void *listed);
void kith__listed_example(void *listed, bool holds, kith_rule_example example);

#endif
