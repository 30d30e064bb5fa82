/* Errors of single questions in a batch, as kith_answers_batch and kith_verdicts show them. */
#ifndef KITH_SESSION_ERRORS_H
#define KITH_SESSION_ERRORS_H

#include "core/status.h"

typedef struct kith__errors {
    kith_error **at; /* NULL for questions without an error */
    size_t count;
} kith__errors;

/* Nonzero if out of memory. */
int kith__errors_init(kith__errors *errors, size_t count);
int kith__errors_set(kith__errors *errors, size_t index, const kith_error *error);
void kith__errors_release(kith__errors *errors);

/* The caller's list, which takes ownership of the errors. */
const kith_error *const *kith__errors_take(kith__errors *errors);
void kith__errors_free(const kith_error *const *list, size_t count);

#endif
