/* Error handling: functions return a status; the message goes into the caller's kith_error. */
#ifndef KITH_CORE_STATUS_H
#define KITH_CORE_STATUS_H

#include <kith/kith.h>

/* Run a call; on failure jump to the function's `cleanup:` label. Needs a local variable
 * `status`. */
#define TRY(call)                       \
    do {                                \
        status = (call);                \
        if (status != KITH_OK)          \
            goto cleanup;               \
    } while (0)

/* Fill in the error, if it is not NULL, and return `code`. */
kith_status kith__fail(kith_error *error, kith_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
kith_status kith__no_memory(kith_error *error);
/* For a public function that got NULL for a required argument; `call` is its name. */
kith_status kith__null_argument(kith_error *error, const char *call);

/* Quote bytes for a message: control characters and bad UTF-8 are escaped, long text is cut.
 * Returns `out`, which must have KITH__QUOTED bytes. */
#define KITH__QUOTED 96
const char *kith__quote(char out[KITH__QUOTED], const char *text, size_t length);

#endif
