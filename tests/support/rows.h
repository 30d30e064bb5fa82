/* Random rows of floats, and comparing them. */
#ifndef KITH_TESTS_ROWS_H
#define KITH_TESTS_ROWS_H

#include <float.h>

#include "core/rng.h"
#include "support.h"

enum { ROUNDS = 60 };
static const double unit = FLT_EPSILON;
extern kith__rng rng;
size_t between(size_t low, size_t high);

/* Widths of 1..300, with those around whole vectors more often. */
size_t some_width(void);

float some_value(double scale);

/* `rows` rows of `width` values, each filled up with zeros to `stride`. */
float *some_rows(size_t rows, size_t width, size_t stride, double scale);

float *some_row(size_t width, double scale);
float *copy_of(const float *from, size_t count);
void check_near(double found, double expected, double error, const char *what, size_t k);
void check_padding(const float *at, size_t width, const char *what);

#endif
