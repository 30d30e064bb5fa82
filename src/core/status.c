#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/utf8.h"

#define TEXT_OF(number) #number
#define TEXT(macro) TEXT_OF(macro)

const char *kith_version(void)
{
    return TEXT(KITH_VERSION_MAJOR) "." TEXT(KITH_VERSION_MINOR) "." TEXT(KITH_VERSION_PATCH);
}

kith_status kith__fail(kith_error *error, kith_status code, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        error->status = code;
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return code;
}

kith_status kith__no_memory(kith_error *error)
{
    return kith__fail(error, KITH_ERR_MEMORY, "out of memory");
}

kith_status kith__null_argument(kith_error *error, const char *call)
{
    return kith__fail(error, KITH_ERR_ARGUMENT, "%s: an argument that must be given is NULL", call);
}

const char *kith__quote(char out[KITH__QUOTED], const char *text, size_t length)
{
    /* Leave space for one more escape, the ellipsis, the quote and the NUL. */
    const size_t limit = KITH__QUOTED - 10;
    size_t used = 0, i = 0;

    out[used++] = '\'';
    while (i < length && used < limit) {
        size_t width = kith__utf8_width(text + i, length - i);
        unsigned char byte = (unsigned char)text[i];
        if (width == 0 || byte < 0x20 || byte == 0x7f) {
            used += (size_t)snprintf(out + used, 5, "\\x%02x", byte);
            i += 1;
        } else {
            memcpy(out + used, text + i, width);
            used += width;
            i += width;
        }
    }
    if (i < length) {
        memcpy(out + used, "...", 3);
        used += 3;
    }
    out[used++] = '\'';
    out[used] = '\0';
    return out;
}
