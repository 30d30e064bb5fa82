/* Numbers as text: one strict parser for options, settings and files, in any locale. */
#ifndef KITH_CORE_NUMBERS_H
#define KITH_CORE_NUMBERS_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole text must be the number, within the range; otherwise false, and the value stays
 * unchanged. A count consists of decimal digits only: no sign, no spaces, no 0x10, no 1e3. */
bool kith__parse_count(uint64_t *value, const char *text, uint64_t low, uint64_t high);
/* For text without a terminating NUL, such as a field of a line. */
bool kith__parse_digits(uint64_t *value, const char *text, size_t length, uint64_t high);
/* A real number is decimal too: -1, .5, 2.5e-3; not inf, nan or 0x1p3. */
bool kith__parse_real(double *value, const char *text, double low, double high);

/* Between these two calls the thread reads and writes numbers in the C locale. */
locale_t kith__plain_numbers(void);
void kith__usual_numbers(locale_t before);

#endif
