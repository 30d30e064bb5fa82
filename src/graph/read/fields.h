/* Cutting lines into fields. */
#ifndef KITH_GRAPH_READ_FIELDS_H
#define KITH_GRAPH_READ_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kith__field {
    const char *text;
    size_t length;
} kith__field;

/* The next line of a block without its line end; moves *text to the following line. */
kith__field kith__next_line(const char **text, const char *end);
bool kith__is_blank(kith__field line);
/* The first line that is neither blank nor a comment, without trailing spaces; false if there is
 * none. */
bool kith__first_line(kith__field *line, const char *text, size_t length);
/* Whether a line begins with a word, ignoring case. */
bool kith__begins_with(kith__field line, const char *word);
/* The length of a byte order mark at the beginning of the text, 0 if there is none. */
size_t kith__skip_bom(const char *text, size_t length);
/* Fields separated by tabs, or by runs of spaces; at most `limit` are stored, all are counted. */
size_t kith__cut_fields(kith__field *fields, size_t limit, kith__field line, bool tabs);
/* A decimal number; false if the text is not a number. Values past 2^64 become UINT64_MAX. */
bool kith__parse_number(uint64_t *value, kith__field field);

#endif
