/* What the lists of implications and of rules share. */
#ifndef KITH_RULES_LIST_RULES_H
#define KITH_RULES_LIST_RULES_H

#include "core/status.h"
#include "rules/evidence.h"

/* The caller's options over the usual ones. */
kith_status kith__rules_options(kith_rules_options *used, const kith_rules_options *given,
                                kith_error *error);

/* The strongest rules. Direct and path rules are those of the evidence, with the counts that they were
 * mined from; constant rules and examples are of its facts. */
kith_status kith__rules_list(kith_rules **rules, const kith_graph *graph,
                             const kith__evidence *evidence, const kith_rules_options *options,
                             kith_error *error);

#endif
