#include "core/checksum.h"

#include <stdio.h>
#include <string.h>

static const uint64_t odd = 0x9e3779b97f4a7c15u;

void kith__checksum_init(kith__checksum *sum)
{
    memset(sum, 0, sizeof *sum);
    for (uint64_t k = 0; k < 4; k++)
        sum->lane[k] = odd ^ k;
}

/* Four independent sums, so that a multiplication does not wait for the previous one. Each step is
 * a bijection, so two inputs that differ in one word always differ in a lane. */
static const unsigned char *add_blocks(uint64_t lane[4], const unsigned char *at, size_t blocks)
{
    uint64_t a = lane[0], b = lane[1], c = lane[2], d = lane[3], word[4];

    for (; blocks > 0; blocks--, at += KITH__SUM_BLOCK) {
        memcpy(word, at, sizeof word);
        a = (a ^ word[0]) * odd;
        b = (b ^ word[1]) * odd;
        c = (c ^ word[2]) * odd;
        d = (d ^ word[3]) * odd;
        a ^= a >> 32;
        b ^= b >> 32;
        c ^= c >> 32;
        d ^= d >> 32;
    }
    lane[0] = a;
    lane[1] = b;
    lane[2] = c;
    lane[3] = d;
    return at;
}

void kith__checksum_add(kith__checksum *sum, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;

    sum->total += count;
    if (sum->rest_count > 0) {
        size_t missing = KITH__SUM_BLOCK - sum->rest_count;
        size_t taken = count < missing ? count : missing;
        memcpy(sum->rest + sum->rest_count, at, taken);
        sum->rest_count += taken;
        at += taken;
        count -= taken;
        if (sum->rest_count < KITH__SUM_BLOCK)
            return;
        add_blocks(sum->lane, sum->rest, 1);
        sum->rest_count = 0;
    }
    at = add_blocks(sum->lane, at, count / KITH__SUM_BLOCK);
    sum->rest_count = count % KITH__SUM_BLOCK;
    if (sum->rest_count > 0)
        memcpy(sum->rest, at, sum->rest_count);
}

uint64_t kith__checksum_value(const kith__checksum *sum)
{
    kith__checksum last = *sum;
    uint64_t value = sum->total * odd;

    memset(last.rest + last.rest_count, 0, KITH__SUM_BLOCK - last.rest_count);
    add_blocks(last.lane, last.rest, 1);
    for (int k = 0; k < 4; k++) {
        value = (value ^ last.lane[k]) * 0xbf58476d1ce4e5b9u;
        value ^= value >> 29;
    }
    return value;
}

uint64_t kith__checksum_of(const void *bytes, size_t count)
{
    kith__checksum sum;

    kith__checksum_init(&sum);
    kith__checksum_add(&sum, bytes, count);
    return kith__checksum_value(&sum);
}

/* ---- text that contains its own checksum ---- */

char *kith__checksum_digits(char *text, size_t length)
{
    static const char key[] = "\"checksum\":";
    char *at = memmem(text, length, key, sizeof key - 1), *end = text + length;

    if (!at)
        return NULL;
    at += sizeof key - 1;
    if (at < end && *at == ' ')
        at++;
    if (end - at < KITH__SUM_DIGITS + 2 || at[0] != '"' || at[KITH__SUM_DIGITS + 1] != '"')
        return NULL;
    return at + 1;
}

bool kith__checksum_parse(uint64_t *value, const char *digits)
{
    static const char all[] = "0123456789abcdef";

    *value = 0;
    for (int i = 0; i < KITH__SUM_DIGITS; i++) {
        const char *found = digits[i] ? strchr(all, digits[i]) : NULL;
        if (!found)
            return false;
        *value = *value << 4 | (uint64_t)(found - all);
    }
    return true;
}

void kith__checksum_print(char *digits, uint64_t value)
{
    char text[KITH__SUM_DIGITS + 1];

    snprintf(text, sizeof text, "%016llx", (unsigned long long)value);
    memcpy(digits, text, KITH__SUM_DIGITS);
}
