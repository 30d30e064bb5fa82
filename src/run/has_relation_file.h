/* has_relation.json: the model of P(has r) (model/has_relation.h). */
#ifndef KITH_RUN_HAS_RELATION_FILE_H
#define KITH_RUN_HAS_RELATION_FILE_H

#include "model/has_relation.h"

kith_status kith__has_relation_save(const char *folder, const kith__has_relation *has,
                                    kith_error *error);
/* A run may lack the file: then the model has no P(has r). */
kith_status kith__has_relation_load(kith__has_relation *has, const char *folder, bool required,
                                    kith_error *error);

#endif
