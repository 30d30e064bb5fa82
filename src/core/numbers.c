#include "core/numbers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static locale_t plain;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_plain(void)
{
    plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

locale_t kith__plain_numbers(void)
{
    pthread_once(&once, make_plain);
    return plain ? uselocale(plain) : (locale_t)0;
}

void kith__usual_numbers(locale_t before)
{
    if (before)
        uselocale(before);
}

bool kith__parse_digits(uint64_t *value, const char *text, size_t length, uint64_t high)
{
    uint64_t n = 0;

    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned char)text[i] - '0';
        if (digit > 9 || n > high / 10 || n * 10 > high - digit)
            return false;
        n = n * 10 + digit;
    }
    *value = n;
    return true;
}

bool kith__parse_count(uint64_t *value, const char *text, uint64_t low, uint64_t high)
{
    uint64_t n;

    if (!kith__parse_digits(&n, text, strlen(text), high) || n < low)
        return false;
    *value = n;
    return true;
}

static size_t skip_digits(const char **text)
{
    size_t count = strspn(*text, "0123456789");

    *text += count;
    return count;
}

/* [-]digits[.digits][e[+-]digits], with a digit before or after the point. */
static bool is_decimal(const char *text)
{
    text += *text == '-';
    size_t digits = skip_digits(&text);
    if (*text == '.') {
        text++;
        digits += skip_digits(&text);
    }
    if (digits == 0)
        return false;
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '+' || *text == '-';
        if (skip_digits(&text) == 0)
            return false;
    }
    return *text == '\0';
}

bool kith__parse_real(double *value, const char *text, double low, double high)
{
    if (!is_decimal(text))
        return false;
    locale_t before = kith__plain_numbers();
    double number = strtod(text, NULL);
    kith__usual_numbers(before);
    if (!(number >= low && number <= high)) /* overflow is out of every range */
        return false;
    *value = number;
    return true;
}
