#include "core/options.h"

#include <stdbool.h>
#include <string.h>

static bool is_zero(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i])
            return false;
    return true;
}

kith_status kith__options_copy(void *own, size_t known, size_t first, const void *given,
                               kith_error *error)
{
    size_t size;

    if (!given)
        return KITH_OK;
    memcpy(&size, given, sizeof size);
    if (size == 0)
        size = first;
    if (size < sizeof size)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the options' size is %zu, expected that of their struct", size);
    if (size > known && !is_zero((const char *)given + known, size - known))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the options use what this version of the library does not know");
    memcpy(own, given, size < known ? size : known);
    memcpy(own, &known, sizeof known);
    return KITH_OK;
}

void(kith_work_options_init)(kith_work_options *options, size_t size)
{
    const kith_work_options defaults = {0};

    kith__options_give(options, size, &defaults, sizeof defaults);
}

void kith__options_give(void *options, size_t size, const void *defaults, size_t known)
{
    if (!options)
        return;
    memset(options, 0, size);
    memcpy(options, defaults, size < known ? size : known);
    if (size >= sizeof size)
        memcpy(options, &size, sizeof size);
}
