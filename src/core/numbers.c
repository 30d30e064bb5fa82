#include "core/numbers.h"

#include <pthread.h>

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
