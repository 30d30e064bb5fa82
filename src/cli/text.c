#include "cli/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- characters ---- */

/* The well-formed UTF-8 character at `text` and its bytes; 0 if there is none. */
static int decode(uint32_t *character, const char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *t = (const unsigned char *)text;
    int bytes = t[0] < 0x80 ? 1 : t[0] >= 0xf0 ? 4 : t[0] >= 0xe0 ? 3 : t[0] >= 0xc0 ? 2 : 0;
    uint32_t c = bytes == 1 ? t[0] : t[0] & (0x7fu >> bytes);

    for (int i = 1; i < bytes; i++) {
        if ((t[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (t[i] & 0x3fu);
    }
    if (bytes == 0 || t[0] > 0xf4 || c < least[bytes] || c > 0x10ffff ||
        (c >= 0xd800 && c < 0xe000))
        return 0;
    *character = c;
    return bytes;
}

/* Controls act on a terminal; separators, bidirectional controls and invisible characters can make
 * text look like other text. Not among them are U+200C and U+200D, the joiners, which names in
 * Persian, in Indic scripts and with emoji need. */
static bool is_harmful(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},       {0x34f, 0x34f},    {0x61c, 0x61c},
        {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180e, 0x180e},   {0x200b, 0x200b},  {0x200e, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x206f}, {0x2800, 0x2800},   {0x3164, 0x3164},  {0xfeff, 0xfeff},
        {0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe007f}};

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && c >= ranges[i][0]; i++)
        if (c <= ranges[i][1])
            return true;
    return false;
}

enum { SHOWN = 12 }; /* bytes for the longest escape, "\U000e0041", and its end */

/* The character at `*text` as it is printed; advances `*text`. The result is valid until the next
 * call. */
static const char *next_shown(char shown[SHOWN], const char **text)
{
    uint32_t c = 0;
    int bytes = decode(&c, *text);

    if (bytes == 0)
        snprintf(shown, SHOWN, "\\x%02x", (unsigned char)**text);
    else if (!is_harmful(c))
        snprintf(shown, SHOWN, "%.*s", bytes, *text);
    else if (c == '\n' || c == '\t' || c == '\r')
        snprintf(shown, SHOWN, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    else
        snprintf(shown, SHOWN, c < 0x80 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x",
                 (unsigned)c);
    *text += bytes ? bytes : 1;
    return shown;
}

bool is_plain(const char *text)
{
    uint32_t c;
    for (int bytes; *text; text += bytes)
        if ((bytes = decode(&c, text)) == 0 || is_harmful(c))
            return false;
    return true;
}

void put_json_text(FILE *out, const char *text)
{
    uint32_t c;

    clear_status();
    for (int bytes; *text; text += bytes) {
        bytes = decode(&c, text);
        if (bytes > 0 && c >= 0x10000 && is_harmful(c)) /* as two surrogates */
            fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (unsigned)(c >> 10),
                    0xdc00 + (unsigned)(c & 0x3ff));
        else if (bytes > 0 && c >= 0x7f && is_harmful(c))
            fprintf(out, "\\u%04x", (unsigned)c);
        else
            fwrite(text, 1, (size_t)(bytes = bytes ? bytes : 1), out);
    }
}

/* ---- formats ---- */

typedef struct conversion {
    char flags[8], length[4], kind;
    int width, precision; /* -1: none */
} conversion;

typedef struct given {
    va_list at;
} given;

static int take_size(const char **format, given *g)
{
    int size = 0;

    if (**format == '*') {
        (*format)++;
        return va_arg(g->at, int);
    }
    while (**format >= '0' && **format <= '9')
        size = 10 * size + (*(*format)++ - '0');
    return size;
}

static void take_word(char *out, size_t size, const char **format, const char *letters)
{
    size_t length = strspn(*format, letters);
    assert(length < size);
    memcpy(out, *format, length);
    out[length] = '\0';
    *format += length;
}

static conversion take_conversion(const char **format, given *g)
{
    conversion c = {.precision = -1};

    (*format)++;
    take_word(c.flags, sizeof c.flags, format, "-+ #0");
    c.width = take_size(format, g);
    if (**format == '.') {
        (*format)++;
        c.precision = take_size(format, g);
    }
    take_word(c.length, sizeof c.length, format, "hlz");
    c.kind = *(*format)++;
    return c;
}

static void put_string(FILE *out, const conversion *c, const char *text)
{
    const char *end =
        text + (c->precision < 0 ? strlen(text) : strnlen(text, (size_t)c->precision));
    char shown[SHOWN];
    int columns = 0;

    for (const char *at = text; at < end;)
        for (const char *s = next_shown(shown, &at); *s; s++)
            columns += (*s & 0xc0) != 0x80;
    if (!strchr(c->flags, '-'))
        fprintf(out, "%*s", c->width > columns ? c->width - columns : 0, "");
    for (const char *at = text; at < end;)
        fputs(next_shown(shown, &at), out);
    if (strchr(c->flags, '-'))
        fprintf(out, "%*s", c->width > columns ? c->width - columns : 0, "");
}

static void put_number(FILE *out, const conversion *c, given *g)
{
    char format[48];
    size_t used = (size_t)snprintf(format, sizeof format, "%%%s", c->flags);
    bool whole = strchr("dux", c->kind) != NULL;

    if (c->width)
        used += (size_t)snprintf(format + used, sizeof format - used, "%d", c->width);
    if (c->precision >= 0)
        used += (size_t)snprintf(format + used, sizeof format - used, ".%d", c->precision);
    snprintf(format + used, sizeof format - used, "%s%c", whole ? "ll" : "", c->kind);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (!whole)
        fprintf(out, format, va_arg(g->at, double));
    else if (c->kind == 'd')
        fprintf(out, format,
                c->length[0] != 'l'   ? (long long)va_arg(g->at, int)
                : c->length[1] == 'l' ? va_arg(g->at, long long)
                                      : (long long)va_arg(g->at, long));
    else
        fprintf(out, format,
                c->length[0] == 'z'   ? (unsigned long long)va_arg(g->at, size_t)
                : c->length[0] != 'l' ? (unsigned long long)va_arg(g->at, unsigned)
                : c->length[1] == 'l' ? va_arg(g->at, unsigned long long)
                                      : (unsigned long long)va_arg(g->at, unsigned long));
#pragma GCC diagnostic pop
}

static void put_conversion(FILE *out, const char **format, given *g)
{
    conversion c = take_conversion(format, g);

    switch (c.kind) {
    case '%':
        putc('%', out);
        break;
    case 's':
        put_string(out, &c, va_arg(g->at, const char *));
        break;
    case 'c':
        put_string(out, &c, (char[]){(char)va_arg(g->at, int), '\0'});
        break;
    default:
        assert(c.kind && strchr("duxfg", c.kind));
        put_number(out, &c, g);
    }
}

static bool status_shown;

void clear_status(void)
{
    if (status_shown)
        fputs("\r\033[K", stderr);
    status_shown = false;
}

void show_status(const char *text)
{
    status_shown = false;
    put(stderr, "\r\033[K%s", text);
    status_shown = true;
}

void vput(FILE *out, const char *format, va_list arguments)
{
    given g;

    clear_status();
    va_copy(g.at, arguments);
    while (*format) {
        size_t plain = strcspn(format, "%");
        fwrite(format, 1, plain, out);
        format += plain;
        if (*format)
            put_conversion(out, &format, &g);
    }
    va_end(g.at);
}

void put(FILE *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vput(out, format, arguments);
    va_end(arguments);
}

void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vput(stdout, format, arguments);
    va_end(arguments);
}

static bool is_quiet;

void set_quiet(bool quiet)
{
    is_quiet = quiet;
}

void note(const char *format, ...)
{
    va_list arguments;

    if (is_quiet)
        return;
    clear_status();
    fputs("kith: ", stderr);
    va_start(arguments, format);
    vput(stderr, format, arguments);
    va_end(arguments);
}

/* ---- numbers and charts ---- */

const char *grouped(char out[GROUPED], uint64_t number)
{
    char digits[GROUPED];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number), to = 0;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[to++] = ',';
        out[to++] = digits[i];
    }
    out[to] = '\0';
    return out;
}

const char *bar(char *out, double share, int width)
{
    /* Eighths of a block: U+2588 down to U+258F. */
    int eighths = (int)(share * width * 8 + .5), to = 0;

    if (share > 0 && eighths == 0)
        eighths = 1;
    for (; eighths >= 8; eighths -= 8)
        to += sprintf(out + to, "\xe2\x96\x88");
    if (eighths > 0)
        to += sprintf(out + to, "\xe2\x96%c", 0x90 - eighths);
    out[to] = '\0';
    return out;
}
