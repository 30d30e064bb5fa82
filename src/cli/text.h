/* Text output. Names, paths and messages come from files and command lines that kith does not
 * trust, so everything printed goes through put(), which escapes control characters. */
#ifndef KITH_CLI_TEXT_H
#define KITH_CLI_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Like fprintf, but strings given for %s and characters for %c are escaped: control characters
 * (C0, DEL, C1), line and paragraph separators, bidirectional controls and invisible characters
 * except joiners as \n, \x1b or \u202e, bytes that are not UTF-8 as \xff. The format itself is
 * printed as it is. Widths count characters. Knows the conversions that the program uses: s c d u x
 * f g with h, l, ll and z, and %%. */
void put(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void vput(FILE *out, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

void say(const char *format, ...) __attribute__((format(printf, 1, 2))); /* put() on stdout */

/* Print a note on stderr, after "kith: "; does nothing after set_quiet(true). */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void set_quiet(bool quiet);

/* Show a status line on the terminal until it is replaced or cleared, or something else is
 * printed. */
void show_status(const char *text);
void clear_status(void);

/* Whether put() prints the text unchanged. */
bool is_plain(const char *text);

/* Write JSON text. Characters that put() escapes but JSON allows become \u escapes. */
void put_json_text(FILE *out, const char *text);

/* 1234567 as 1,234,567; the text is in `out`. */
#define GROUPED 32
const char *grouped(char out[GROUPED], uint64_t number);

/* A bar of a text chart; a share of 1 is `width` columns. `out` must have 3 * width + 4 bytes. */
const char *bar(char *out, double share, int width);

#endif
