#include "graph/read/fields.h"

#include <string.h>
#include <strings.h>

kith__field kith__next_line(const char **text, const char *end)
{
    const char *begin = *text;
    const char *newline = memchr(begin, '\n', (size_t)(end - begin));
    const char *stop = newline ? newline : end;

    *text = newline ? newline + 1 : end;
    if (stop > begin && stop[-1] == '\r')
        stop--;
    return (kith__field){begin, (size_t)(stop - begin)};
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

bool kith__is_blank(kith__field line)
{
    for (size_t i = 0; i < line.length; i++)
        if (!is_space(line.text[i]))
            return false;
    return true;
}

size_t kith__skip_bom(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static size_t cut_at_tabs(kith__field *fields, size_t limit, kith__field line)
{
    const char *at = line.text, *end = line.text + line.length;
    size_t count = 0;

    for (;;) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        const char *stop = tab ? tab : end;
        if (count < limit)
            fields[count] = (kith__field){at, (size_t)(stop - at)};
        count++;
        if (!tab)
            return count;
        at = tab + 1;
    }
}

static size_t cut_at_blanks(kith__field *fields, size_t limit, kith__field line)
{
    const char *at = line.text, *end = line.text + line.length;
    size_t count = 0;

    for (;;) {
        while (at < end && is_space(*at))
            at++;
        if (at == end)
            return count;
        const char *begin = at;
        while (at < end && !is_space(*at))
            at++;
        if (count < limit)
            fields[count] = (kith__field){begin, (size_t)(at - begin)};
        count++;
    }
}

size_t kith__cut_fields(kith__field *fields, size_t limit, kith__field line, bool tabs)
{
    return tabs ? cut_at_tabs(fields, limit, line) : cut_at_blanks(fields, limit, line);
}

bool kith__parse_number(uint64_t *value, kith__field field)
{
    uint64_t n = 0;

    if (field.length == 0)
        return false;
    for (size_t i = 0; i < field.length; i++) {
        unsigned digit = (unsigned char)field.text[i] - '0';
        if (digit > 9)
            return false;
        n = n > (UINT64_MAX - digit) / 10 ? UINT64_MAX : n * 10 + digit;
    }
    *value = n;
    return true;
}

bool kith__first_line(kith__field *line, const char *text, size_t length)
{
    const char *end = text + length;

    text += kith__skip_bom(text, length);
    while (text < end) {
        *line = kith__next_line(&text, end);
        if (kith__is_blank(*line) || line->text[0] == '#')
            continue;
        while (is_space(line->text[line->length - 1]))
            line->length--;
        return true;
    }
    return false;
}

bool kith__begins_with(kith__field line, const char *word)
{
    size_t length = strlen(word);

    return line.length >= length && strncasecmp(line.text, word, length) == 0;
}
