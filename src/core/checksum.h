/* A 64-bit checksum over bytes that arrive in pieces of any length. It detects damage, not
 * tampering: anyone can compute it again. */
#ifndef KITH_CORE_CHECKSUM_H
#define KITH_CORE_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KITH__SUM_BLOCK = 32, KITH__SUM_DIGITS = 16 };

typedef struct kith__checksum {
    uint64_t lane[4];
    unsigned char rest[KITH__SUM_BLOCK]; /* bytes that do not fill a block yet */
    size_t rest_count;
    uint64_t total;
} kith__checksum;

void kith__checksum_init(kith__checksum *sum);
void kith__checksum_add(kith__checksum *sum, const void *bytes, size_t count);
uint64_t kith__checksum_value(const kith__checksum *sum);

/* The checksum of a single piece. */
uint64_t kith__checksum_of(const void *bytes, size_t count);

/* Text that contains its own checksum: 16 hexadecimal digits after the first "checksum": ", which
 * count as '0' in the sum. Returns where they begin, or NULL if there are none. */
char *kith__checksum_digits(char *text, size_t length);
bool kith__checksum_parse(uint64_t *value, const char *digits);
void kith__checksum_print(char *digits, uint64_t value);

#endif
