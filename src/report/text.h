/* Text that grows, and names made safe for pages. A failed allocation is remembered, and told once
 * at the end, when the text is written. */
#ifndef KITH_REPORT_TEXT_H
#define KITH_REPORT_TEXT_H

#include <stdbool.h>

#include "core/status.h"

/* U+200E: what follows and what precedes stays in order beside names written from right to left. */
#define MARK_LTR "\xe2\x80\x8e"

typedef struct text_buffer {
    char *at; /* NUL-terminated, or NULL while empty */
    size_t length, capacity;
    bool failed;
} text_buffer;

void text_add(text_buffer *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_put(text_buffer *t, const char *plain);
/* As HTML or SVG content and attribute values. Control characters, also those that reverse the
 * direction of writing, become U+FFFD. */
void text_put_html(text_buffer *t, const char *name);
/* As the content of a Markdown table cell or paragraph. */
void text_put_markdown(text_buffer *t, const char *name);
void text_release(text_buffer *t);

/* Write a file that the user named, whole or not at all. */
kith_status text_write(const text_buffer *t, const char *path, kith_error *error);
/* The same for kith's own file in a folder that may come from a stranger. */
kith_status text_replace(const text_buffer *t, const char *path, kith_error *error);

#endif
