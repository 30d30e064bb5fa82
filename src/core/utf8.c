#include "core/utf8.h"

#include <stdint.h>
#include <string.h>

static bool continues(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t kith__utf8_width(const char *text, size_t length)
{
    const unsigned char *t = (const unsigned char *)text;

    if (length == 0)
        return 0;
    if (t[0] < 0x80)
        return 1;
    /* Unicode 15, table 3-7: the second byte's range depends on the first. */
    if (t[0] >= 0xc2 && t[0] <= 0xdf)
        return length >= 2 && continues(t[1]) ? 2 : 0;
    if (t[0] >= 0xe0 && t[0] <= 0xef) {
        if (length < 3 || !continues(t[1]) || !continues(t[2]))
            return 0;
        return (t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xed && t[1] > 0x9f) ? 0 : 3;
    }
    if (t[0] >= 0xf0 && t[0] <= 0xf4) {
        if (length < 4 || !continues(t[1]) || !continues(t[2]) || !continues(t[3]))
            return 0;
        return (t[0] == 0xf0 && t[1] < 0x90) || (t[0] == 0xf4 && t[1] > 0x8f) ? 0 : 4;
    }
    return 0;
}

/* Whether eight bytes hold a NUL or a byte above 0x7f. */
static bool unusual(uint64_t word)
{
    const uint64_t low = 0x0101010101010101u, high = 0x8080808080808080u;
    return ((word & high) | ((word - low) & ~word & high)) != 0;
}

bool kith__utf8_valid(const char *text, size_t length)
{
    size_t i = 0;

    while (i < length) {
        uint64_t word;
        if (length - i >= sizeof word) {
            memcpy(&word, text + i, sizeof word);
            if (!unusual(word)) {
                i += sizeof word;
                continue;
            }
        }
        size_t width = kith__utf8_width(text + i, length - i);
        if (width == 0 || text[i] == '\0')
            return false;
        i += width;
    }
    return true;
}
