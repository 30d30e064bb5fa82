#include "cli/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { MOST = 1 << 26 };

static bool fail(line_reader *r, const char *what)
{
    put(stderr, "kith: %s:%zu: %s\n", r->path, r->number, what);
    r->status = EXIT_FAILED;
    return false;
}

/* Make space for another byte and the end. */
static bool grow(line_reader *r)
{
    size_t wanted = r->capacity ? 2 * r->capacity : 256;
    char *text = realloc(r->text, wanted);

    if (!text)
        return fail(r, "out of memory");
    r->text = text;
    r->capacity = wanted;
    return true;
}

static bool add(line_reader *r, int byte)
{
    r->has_nul = r->has_nul || byte == '\0';
    if (r->has_nul && !r->takes_nul)
        return fail(r, "holds a NUL byte, expected text");
    if (r->length == MOST)
        return fail(r, "is longer than 64 MiB, expected lines of text");
    if (r->length + 2 > r->capacity && !grow(r))
        return false;
    r->text[r->length++] = (char)byte;
    return true;
}

/* By its byte order mark. */
static bool is_utf16(const line_reader *r)
{
    return r->number == 1 && r->length == 2 &&
           (memcmp(r->text, "\xff\xfe", 2) == 0 || memcmp(r->text, "\xfe\xff", 2) == 0);
}

static bool refuse_utf16(line_reader *r)
{
    put(stderr,
        "kith: %s: found UTF-16 text, expected UTF-8; convert it with: iconv -f UTF-16 "
        "-t UTF-8",
        r->path);
    put(stderr, r->in == stdin ? "\n" : " '%s'\n", r->path);
    r->status = EXIT_FAILED;
    return false;
}

static bool read_line(line_reader *r)
{
    int byte = EOF;

    r->number++;
    r->length = 0;
    r->has_nul = false;
    if (r->capacity == 0 && !grow(r))
        return false;
    while ((byte = getc_unlocked(r->in)) != EOF && byte != '\n') {
        if (is_utf16(r))
            return refuse_utf16(r);
        if (!add(r, byte))
            return false;
    }
    r->text[r->length] = '\0';
    if (byte == EOF && ferror(r->in)) {
        put(stderr, "kith: %s: cannot read: %s\n", r->path, strerror(errno));
        r->status = EXIT_FAILED;
        return false;
    }
    return byte == '\n' || r->length > 0;
}

bool next_line(line_reader *r)
{
    if (r->status != EXIT_SUCCESS || !read_line(r))
        return false;
    if (r->length > 0 && r->text[r->length - 1] == '\r')
        r->text[--r->length] = '\0';
    if (r->number == 1 && strncmp(r->text, "\xef\xbb\xbf", 3) == 0)
        memmove(r->text, r->text + 3, (r->length -= 3) + 1);
    return true;
}

int end_lines(line_reader *r)
{
    free(r->text);
    r->text = NULL;
    return r->status;
}
