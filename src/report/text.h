/* Growing text, and escaping of names for pages. A failed allocation is remembered and reported
 * once, when the text is written. */
#ifndef KITH_REPORT_TEXT_H
#define KITH_REPORT_TEXT_H

#include <stdbool.h>

#include "core/status.h"

/* U+200E, the left-to-right mark: keeps the text around a name in right-to-left script in order. */
#define MARK_LTR "\xe2\x80\x8e"

typedef struct text_buffer {
    char *at; /* NUL-terminated, or NULL while empty */
    size_t length, capacity;
    bool failed;
} text_buffer;

void text_add(text_buffer *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_put(text_buffer *t, const char *plain);
/* Append as HTML or SVG content or attribute value. Control characters, including those that change
 * the writing direction, become U+FFFD. */
void text_put_html(text_buffer *t, const char *name);
/* Append as the content of a Markdown table cell or paragraph. */
void text_put_markdown(text_buffer *t, const char *name);
void text_release(text_buffer *t);

/* Write a file that the user named, completely or not at all. */
kith_status text_write(const text_buffer *t, const char *path, kith_error *error);
/* The same for one of kith's own files in an untrusted folder. */
kith_status text_replace(const text_buffer *t, const char *path, kith_error *error);

#endif
