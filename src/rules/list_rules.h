/* What the lists of implications and of rules share. */
#ifndef KITH_RULES_LIST_RULES_H
#define KITH_RULES_LIST_RULES_H

#include "core/status.h"

/* The caller's options over the usual ones. */
kith_status kith__rules_options(kith_rules_options *used, const kith_rules_options *given,
                                kith_error *error);

#endif
