#include "core/rng.h"

__extension__ typedef unsigned __int128 wide;

/* splitmix64 (Steele, Lea, Flood 2014), which spreads a seed over the state. */
static uint64_t spread(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

void kith__rng_init(kith__rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t mixed = spread(&seed) ^ (stream * 0xd1342543de82ef95u);
    for (int i = 0; i < 4; i++)
        rng->state[i] = spread(&mixed);
}

/* xoshiro256** (Blackman, Vigna 2018). */
uint64_t kith__rng_next(kith__rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t kith__rng_below(kith__rng *rng, uint64_t bound)
{
    /* Lemire 2019: the high half of a product; draws that would bias the result are repeated. */
    wide product = (wide)kith__rng_next(rng) * bound;
    uint64_t low = (uint64_t)product;
    if (low < bound) {
        uint64_t least = -bound % bound;
        while (low < least) {
            product = (wide)kith__rng_next(rng) * bound;
            low = (uint64_t)product;
        }
    }
    return (uint64_t)(product >> 64);
}

void kith__rng_order(kith__rng *rng, uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t other = (size_t)kith__rng_below(rng, i + 1);
        order[i] = order[other];
        order[other] = (uint32_t)i;
    }
}

double kith__rng_unit(kith__rng *rng)
{
    return (double)(kith__rng_next(rng) >> 11) * 0x1p-53;
}
