#include "graph/read/csv.h"

#include <string.h>

static const char *skip_spaces(const char *at, const char *end)
{
    while (at < end && *at == ' ')
        at++;
    return at;
}

/* The closing quote of a quoted field, given its text; NULL if there is none. */
static const char *closing_quote(const char *at, const char *end)
{
    for (; at < end && (at = memchr(at, '"', (size_t)(end - at))); at += 2)
        if (at + 1 == end || at[1] != '"')
            return at;
    return NULL;
}

/* Cut a field that begins with a quote at *at; moves *at to the separator or the end. */
static kith__cut_problem cut_quoted(kith__cell *cell, const char **at, const char *end,
                                    char separator, bool lenient)
{
    const char *begin = *at + 1, *close = closing_quote(begin, end);

    if (!close)
        return KITH__QUOTE_OPEN;
    const char *next = lenient ? close + 1 : skip_spaces(close + 1, end);
    if (next < end && *next != separator)
        return KITH__QUOTE_TEXT;
    *cell = (kith__cell){{begin, (size_t)(close - begin)}, true};
    *at = next;
    return KITH__CUT_WELL;
}

static kith__cut_problem cut_plain(kith__cell *cell, const char **at, const char *end,
                                   char separator, bool lenient)
{
    const char *begin = *at, *stop = begin;

    while (stop < end && *stop != separator)
        stop++;
    *at = stop;
    while (!lenient && stop > begin && stop[-1] == ' ')
        stop--;
    *cell = (kith__cell){{begin, (size_t)(stop - begin)}, false};
    return !lenient && memchr(begin, '"', cell->field.length) ? KITH__QUOTE_STRAY : KITH__CUT_WELL;
}

kith__cut_problem kith__cut_cells(kith__cell *cells, size_t limit, size_t *count, kith__field line,
                                  char separator, bool lenient)
{
    const char *at = line.text, *end = line.text + line.length;

    for (*count = 0;; at++) {
        kith__cell cell = {{at, 0}, false};
        kith__cut_problem problem = KITH__CUT_WELL;
        at = lenient ? at : skip_spaces(at, end);
        bool quoted = at < end && *at == '"';
        if (quoted)
            problem = cut_quoted(&cell, &at, end, separator, lenient);
        if (!quoted || (lenient && problem != KITH__CUT_WELL))
            problem = cut_plain(&cell, &at, end, separator, lenient);
        if (*count < limit)
            cells[*count] = cell;
        ++*count;
        if (problem != KITH__CUT_WELL || at == end)
            return problem;
    }
}

kith__field kith__cell_text(kith__cell cell)
{
    kith__field field = cell.field;
    char *text = (char *)field.text;
    size_t to = 0;

    if (!cell.quoted || !memchr(text, '"', field.length))
        return field;
    for (size_t from = 0; from < field.length; from++) {
        text[to++] = text[from];
        from += text[from] == '"' && from + 1 < field.length && text[from + 1] == '"';
    }
    field.length = to;
    return field;
}

const char *kith__cut_problem_text(kith__cut_problem problem)
{
    switch (problem) {
    case KITH__QUOTE_OPEN:
        return "a quoted field that does not end on its line (line breaks inside fields cannot be "
               "read)";
    case KITH__QUOTE_STRAY:
        return "a quote inside a field (write the field in quotes, with its own quotes doubled)";
    case KITH__QUOTE_TEXT:
        return "text after a closing quote (quotes inside a quoted field are doubled)";
    case KITH__CUT_WELL:
        break;
    }
    return "nothing wrong";
}
