/* Numbers with a decimal point, in a process whose language has a decimal comma too. */
#ifndef KITH_CORE_NUMBERS_H
#define KITH_CORE_NUMBERS_H

#include <locale.h>

/* Between these two the thread reads and writes numbers as the C locale has them. */
locale_t kith__plain_numbers(void);
void kith__usual_numbers(locale_t before);

#endif
