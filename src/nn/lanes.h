/* What the kernel files share. They are compiled with their own flags (see meson.build): no errno,
 * no traps, no NaN or signed zeros, so that clamps become min and max. Callers check the output for
 * NaN. */
#ifndef KITH_NN_LANES_H
#define KITH_NN_LANES_H

#include <stddef.h>
#include <stdint.h>

/* Sanitizer builds use the plain version, which compiles in a fraction of the time. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#define CLONED
#else
#define CLONES
#endif
#define INLINE static inline __attribute__((always_inline))

/* Eight floats; on a machine without such registers gcc uses two or more. */
typedef float lanes __attribute__((vector_size(32)));
typedef uint32_t bits __attribute__((vector_size(32)));
enum { WIDE = 8 };

INLINE lanes at(const float *x)
{
    return *(const lanes *)x;
}

/* A rational minimax approximation, odd of degree 13 over even of degree 6, on the range where tanh
 * differs from 1 in single precision. */
INLINE float tanh_one(float x)
{
    const float most = 7.90531110763549805f;
    x = x > most ? most : x;
    x = x < -most ? -most : x;
    float y = x * x;
    float p = -2.76076847742355e-16f;
    p = p * y + 2.00018790482477e-13f;
    p = p * y - 8.60467152213735e-11f;
    p = p * y + 5.12229709037114e-08f;
    p = p * y + 1.48572235717979e-05f;
    p = p * y + 6.37261928875436e-04f;
    p = p * y + 4.89352455891786e-03f;
    float q = 1.19825839466702e-06f;
    q = q * y + 1.18534705686654e-04f;
    q = q * y + 2.26843463243900e-03f;
    q = q * y + 4.89352518554385e-03f;
    return p * x / q;
}

INLINE float sum_eight(lanes a)
{
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

/* Long dependency chains are interleaved four columns at a time: a single column would fill the
 * processor's queues with operations that wait for the previous one. */
enum { ABREAST = 4 };
#define EACH(k, n) _Pragma("GCC unroll 4") for (int k = 0; k < (n); k++)

/* 2^x = 2^n 2^f: adding 1.5 2^23 rounds x to n, a polynomial gives 2^f, and n is added to its
 * exponent. A NaN stays a NaN. */
INLINE void power(lanes *restrict y, lanes *restrict x, int n)
{
    const float magic = 12582912;
    lanes sum[ABREAST], p[ABREAST];
    EACH(k, n) sum[k] = x[k] + magic;
    EACH(k, n) x[k] = x[k] - (sum[k] - magic);
    EACH(k, n) p[k] = 1.327647154e-03f * x[k] + 9.675541371e-03f;
    EACH(k, n) p[k] = p[k] * x[k] + 5.550713276e-02f;
    EACH(k, n) p[k] = p[k] * x[k] + 2.402211972e-01f;
    EACH(k, n) p[k] = p[k] * x[k] + 6.931469671e-01f;
    EACH(k, n) p[k] = p[k] * x[k] + 1.000000072e+00f;
    EACH(k, n) y[k] = (lanes)((bits)p[k] + ((bits)sum[k] << 23));
}

#endif
