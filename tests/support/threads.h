/* How many threads were made, in programs that tests/meson.build links with
 * --wrap=pthread_create. */
#ifndef KITH_TESTS_THREADS_H
#define KITH_TESTS_THREADS_H

#include <stddef.h>

extern size_t threads_made;

#endif
