#include "session/errors.h"

#include <stdint.h>

#include "core/mem.h"

int kith__errors_init(kith__errors *errors, size_t count)
{
    *errors = (kith__errors){.at = kith__calloc(count, sizeof *errors->at), .count = count};
    return errors->at ? 0 : -1;
}

int kith__errors_set(kith__errors *errors, size_t index, const kith_error *error)
{
    kith_error *copy = kith__alloc(1, sizeof *copy);

    if (!copy)
        return -1;
    *copy = *error;
    errors->at[index] = copy;
    return 0;
}

void kith__errors_release(kith__errors *errors)
{
    kith__errors_free(kith__errors_take(errors), errors->count);
}

const kith_error *const *kith__errors_take(kith__errors *errors)
{
    const kith_error *const *list = (const kith_error *const *)errors->at;

    errors->at = NULL;
    return list;
}

void kith__errors_free(const kith_error *const *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        kith__free((void *)(uintptr_t)list[i]);
    kith__free((void *)(uintptr_t)list);
}
