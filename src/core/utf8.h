#ifndef KITH_CORE_UTF8_H
#define KITH_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length in bytes of the well-formed UTF-8 character at `text`, 0 if there is none. */
size_t kith__utf8_width(const char *text, size_t length);

/* Whether the whole text is well-formed UTF-8 without NUL bytes. */
bool kith__utf8_valid(const char *text, size_t length);

#endif
