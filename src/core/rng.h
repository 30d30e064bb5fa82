/* Random numbers as a parameter: the caller owns the state, the seed determines the sequence. */
#ifndef KITH_CORE_RNG_H
#define KITH_CORE_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct kith__rng {
    uint64_t state[4];
} kith__rng;

/* Different values of `stream` give independent sequences for one seed. */
void kith__rng_init(kith__rng *rng, uint64_t seed, uint64_t stream);
uint64_t kith__rng_next(kith__rng *rng);
/* Uniform in 0..bound-1, without bias; bound > 0. */
uint64_t kith__rng_below(kith__rng *rng, uint64_t bound);
/* The numbers 0..count-1 in random order; there are fewer than 2^32. */
void kith__rng_order(kith__rng *rng, uint32_t *order, size_t count);
/* Uniform in [0, 1). */
double kith__rng_unit(kith__rng *rng);

#endif
