#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"

/* People who quote a whole fact for the shell write \t for a tab. */
static void make_tabs(char *text)
{
    char *to = text;

    if (strchr(text, '\t') || !strstr(text, "\\t")) /* a backslash may be part of a name */
        return;
    for (const char *from = text; *from; to++)
        if (from[0] == '\\' && from[1] == 't') {
            *to = '\t';
            from += 2;
        } else {
            *to = *from++;
        }
    *to = '\0';
}

/* One field, up to the mark or the end; a quoted one ends at the quote before it. */
static char *next_field(char **rest, char mark)
{
    char *field = *rest, *end;

    if (mark == ' ' && field[0] == '"' && (end = strchr(field + 1, '"')) &&
        (end[1] == ' ' || end[1] == '\0')) {
        *end = '\0';
        *rest = end[1] ? end + 2 : NULL;
        return field + 1;
    }
    end = strchr(field, mark);
    if (end)
        *end = '\0';
    *rest = end ? end + 1 : NULL;
    return field;
}

bool cut_fields(fields *out, const char *text, char why[256])
{
    char *rest = out->copy = strdup(text);
    size_t count = 0, empty = 0;

    if (!rest) {
        snprintf(why, 256, "out of memory");
        return false;
    }
    make_tabs(rest);
    char mark = strchr(rest, '\t') ? '\t' : ' ';
    while (rest) {
        const char *field = next_field(&rest, mark);
        empty += *field == '\0';
        if (count < 3)
            out->name[count] = field;
        count++;
    }
    if (count == 3 && empty == 0)
        return true;
    if (count != 3)
        snprintf(why, 256,
                 "found %zu field%s, expected 3: subject, relation and object, separated "
                 "by tabs, or by spaces with names that contain one in double quotes: "
                 "\"Ada Lovelace\" \"born in\" ?",
                 count, count == 1 ? "" : "s");
    else
        snprintf(why, 256, "found an empty field, expected subject, relation and object");
    free(out->copy);
    out->copy = NULL;
    return false;
}

bool cut_any_question(fields *out, const char *text, char why[256])
{
    if (!cut_fields(out, text, why))
        return false;
    for (int i = 0; i < 3; i++)
        if (strcmp(out->name[i], "?") == 0)
            out->name[i] = NULL;
    return true;
}

bool cut_question(fields *out, const char *text, char why[256])
{
    int asked = 0;

    if (!cut_fields(out, text, why))
        return false;
    for (int i = 0; i < 3; i++)
        if (strcmp(out->name[i], "?") == 0) {
            out->name[i] = NULL;
            asked++;
        }
    if (asked > 0)
        return true;
    snprintf(why, 256, "has no '?', expected one for the unknown");
    free(out->copy);
    out->copy = NULL;
    return false;
}
