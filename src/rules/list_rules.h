/* The strongest rules for people; and what the lists of implications and of rules share. */
#ifndef KITH_RULES_LIST_RULES_H
#define KITH_RULES_LIST_RULES_H

#include <stdbool.h>

#include "core/flag.h"
#include "core/status.h"
#include "rules/best.h"
#include "rules/evidence.h"

/* The caller's options over the usual ones. */
kith_status kith__rules_options(kith_rules_options *used, const kith_rules_options *given,
                                kith_error *error);

/* The strongest rules. Mined rules are those of the evidence, with the counts that they were mined
 * from; rules with constants and examples are of its facts. */
kith_status kith__rules_list(kith_rules **rules, const kith_graph *graph,
                             const kith__evidence *evidence, const kith_rules_options *options,
                             kith_error *error);

/* ---- for the kinds of rules that have constants ---- */

/* Work is cut in pieces, each with a list of its own. */
enum { KITH__LISTING_PIECES = 64 };

typedef struct kith__listing {
    const kith_graph *graph;
    const kith__index *index;
    kith__watch *watch;
    const kith_rules_options *options;
    kith__best best[KITH__LISTING_PIECES + 1]; /* the last is of all */
    kith__flag no_memory;
} kith__listing;

/* Whether rules with this conclusion are asked for. */
bool kith__listing_concludes(const kith__listing *listing, uint32_t conclusion);
/* A rule as people see it, without constants; `rule` needs no confidence. */
kith_rule kith__listing_rule(const kith__listing *listing, unsigned part, uint32_t conclusion,
                             const kith__rule *rule);
void kith__listing_add(kith__listing *listing, size_t piece, const kith_rule *rule);
/* A relation of such a rule as the index has it. */
uint32_t kith__listing_relation(const kith__listing *listing, uint32_t relation, int inverse);
/* Of what kith__rule_kind.find_examples is given: the rule, and an example of where it holds or
 * fails. */
const kith_rule *kith__listed_rule(const void *listed);
void kith__listed_example(void *listed, bool holds, kith_rule_example example);

#endif
