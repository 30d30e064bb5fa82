/* Creates the table of a relation (fact_base.h). */
#ifndef KITH_RULES_RELATION_TABLE_H
#define KITH_RULES_RELATION_TABLE_H

#include "rules/fact_base.h"

/* `learned` (may be NULL) is another graph whose facts also count for type scores. NULL if out of
 * memory. */
kith__relation_table *kith__relation_table_new(const kith__index *index, const kith__index *learned,
                                               uint32_t relation, bool unseen);
void kith__relation_table_free(kith__relation_table *table);
/* The size of a table in bytes, without its hints. */
size_t kith__relation_table_bytes(const kith__index *index);

#endif
