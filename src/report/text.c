#include "report/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/files.h"
#include "core/mem.h"

static bool reserve(text_buffer *t, size_t more)
{
    if (!t->failed && kith__reserve(&t->at, &t->capacity, t->length + more + 1, 1))
        t->failed = true;
    return !t->failed;
}

static void put_bytes(text_buffer *t, const char *bytes, size_t count)
{
    if (!reserve(t, count))
        return;
    memcpy(t->at + t->length, bytes, count);
    t->length += count;
    t->at[t->length] = '\0';
}

void text_put(text_buffer *t, const char *plain)
{
    put_bytes(t, plain, strlen(plain));
}

void text_add(text_buffer *t, const char *format, ...)
{
    va_list arguments, again;

    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        t->failed = true;
    else if (reserve(t, (size_t)length)) {
        vsnprintf(t->at + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    }
    va_end(again);
}

/* ---- names ---- */

/* Whether three bytes are an invisible character other than the joiners, which some scripts need:
 * U+180E, U+200B, U+2060 to U+206F, U+FEFF or U+FFF9 to U+FFFB. */
static bool is_invisible(const unsigned char c[3])
{
    return (c[0] == 0xe1 && c[1] == 0xa0 && c[2] == 0x8e) ||
           (c[0] == 0xe2 && c[1] == 0x80 && c[2] == 0x8b) ||
           (c[0] == 0xe2 && c[1] == 0x81 && c[2] >= 0xa0 && c[2] <= 0xaf) ||
           (c[0] == 0xef && c[1] == 0xbb && c[2] == 0xbf) ||
           (c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xb9 && c[2] <= 0xbb);
}

/* The length of a character that must not appear on a page, or 0. */
static size_t unsafe_length(const unsigned char *c)
{
    if ((c[0] < 0x20 && c[0] != '\t' && c[0] != '\n') || c[0] == 0x7f)
        return 1;
    if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f) /* C1 */
        return 2;
    if (c[0] == 0xe2 && c[1] == 0x80 && c[2] >= 0xa8 && c[2] <= 0xae) /* U+2028 to U+202E */
        return 3;
    if (c[0] == 0xc2 && c[1] == 0xad) /* the soft hyphen */
        return 2;
    if (is_invisible(c))
        return 3;
    if (c[0] == 0xf3 && c[1] == 0xa0 && (c[2] == 0x80 || c[2] == 0x81) && c[3]) /* tags */
        return 4;
    return 0;
}

static void put_escaped(text_buffer *t, const char *name, const char *(*escape)(char))
{
    static const char unsafe[] = "\xef\xbf\xbd";

    while (*name) {
        size_t length = unsafe_length((const unsigned char *)name);
        const char *instead = escape(*name);
        if (length > 0)
            text_put(t, unsafe);
        else if (instead)
            text_put(t, instead);
        else
            put_bytes(t, name, 1);
        name += length > 0 ? length : 1;
    }
}

static const char *html_escape(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void text_put_html(text_buffer *t, const char *name)
{
    put_escaped(t, name, html_escape);
}

static const char *markdown_escape(char c)
{
    switch (c) {
    case '|':
        return "\\|";
    case '*':
        return "\\*";
    case '_':
        return "\\_";
    case '`':
        return "\\`";
    case '[':
        return "\\[";
    case ']':
        return "\\]";
    case '\\':
        return "\\\\";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '\n':
    case '\t':
        return " ";
    default:
        return NULL;
    }
}

void text_put_markdown(text_buffer *t, const char *name)
{
    put_escaped(t, name, markdown_escape);
}

void text_release(text_buffer *t)
{
    kith__free(t->at);
    *t = (text_buffer){0};
}

typedef kith_status open_call(kith__new_file *file, const char *path, kith_error *error);

static kith_status write_with(open_call *open, const text_buffer *t, const char *path,
                              kith_error *error)
{
    kith__new_file file;

    if (t->failed)
        return kith__no_memory(error);
    kith_status status = open(&file, path, error);
    if (status != KITH_OK)
        return status;
    fwrite(t->at ? t->at : "", 1, t->length, file.stream);
    return kith__new_file_commit(&file, error);
}

kith_status text_write(const text_buffer *t, const char *path, kith_error *error)
{
    return write_with(kith__new_file_open, t, path, error);
}

kith_status text_replace(const text_buffer *t, const char *path, kith_error *error)
{
    return write_with(kith__new_file_replace, t, path, error);
}
