#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"

/* Users who quote a whole fact for the shell write \t for a tab. */
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

/* A field in double quotes, in which "" stands for a double quote; NULL if the closing quote is
 * missing. */
static char *quoted_field(char **rest)
{
    char *field = *rest + 1, *to = field, *from = field;

    for (; *from && (from[0] != '"' || from[1] == '"'); from++)
        from += from[0] == '"';
    if (*from != '"' || (from[1] != ' ' && from[1] != '\0'))
        return NULL;
    *rest = from[1] ? from + 2 : NULL;
    *from = '\0';
    for (from = field; *from; from++) {
        *to++ = *from;
        from += from[0] == '"';
    }
    *to = '\0';
    return field;
}

/* The next field, up to the separator or the end. A run of spaces is one separator. */
static char *next_field(char **rest, char mark, bool *quoted)
{
    char *field = *rest, *end;

    *quoted = false;
    if (mark == ' ' && field[0] == '"' && (field = quoted_field(rest))) {
        *quoted = true;
        return field;
    }
    field = *rest;
    end = strchr(field, mark);
    if (end)
        *end = '\0';
    *rest = end ? end + 1 : NULL;
    return field;
}

/* There may be spaces after the last field. */
static char *skip_spaces(char *rest)
{
    if (rest)
        rest += strspn(rest, " ");
    return rest && *rest ? rest : NULL;
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
    if (mark == ' ')
        rest = skip_spaces(rest);
    while (rest) {
        bool quoted;
        const char *field = next_field(&rest, mark, &quoted);
        if (mark == ' ')
            rest = skip_spaces(rest);
        empty += *field == '\0';
        if (count < 3) {
            out->name[count] = field;
            out->quoted[count] = quoted;
        }
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

bool cut_name(fields *out, const char *text)
{
    char *rest = strdup(text), *field;

    *out = (fields){.copy = rest, .name = {rest}};
    if (!rest || rest[0] != '"' || !(field = quoted_field(&rest)))
        return out->copy != NULL;
    if (!skip_spaces(rest)) {
        out->name[0] = field;
        out->quoted[0] = true;
        return true;
    }
    strcpy(out->copy, text); /* the text as a whole is not in quotes */
    return true;
}

/* "?" in quotes is a name. */
static int drop_unknown(fields *f)
{
    int unknown = 0;

    for (int i = 0; i < 3; i++)
        if (!f->quoted[i] && strcmp(f->name[i], "?") == 0) {
            f->name[i] = NULL;
            unknown++;
        }
    return unknown;
}

bool cut_any_question(fields *out, const char *text, char why[256])
{
    if (!cut_fields(out, text, why))
        return false;
    drop_unknown(out);
    return true;
}

bool cut_question(fields *out, const char *text, char why[256])
{
    if (!cut_fields(out, text, why))
        return false;
    if (drop_unknown(out) > 0)
        return true;
    snprintf(why, 256, "has no '?', expected one for the unknown");
    free(out->copy);
    out->copy = NULL;
    return false;
}
