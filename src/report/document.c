#include "report/document.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files.h"

/* ---- JSON ---- */

json_t *safe_string(const char *plain)
{
    json_t *value = json_string(plain);
    char *copy = value ? NULL : strdup(plain);

    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c > 0x7f)
            *c = '?';
    if (copy)
        value = json_string(copy);
    free(copy);
    return value;
}

static json_t *format_list(const char *format, va_list arguments)
{
    char *made = NULL;
    json_t *value = vasprintf(&made, format, arguments) < 0 ? NULL : safe_string(made);

    free(made);
    return value ? value : json_string("");
}

json_t *format_string(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    json_t *value = format_list(format, arguments);
    va_end(arguments);
    return value;
}

const char *text_of(const json_t *object, const char *key)
{
    const char *found = json_string_value(json_object_get(object, key));
    return found ? found : "";
}

double number_of(const json_t *object, const char *key)
{
    const json_t *found = json_object_get(object, key);
    return json_is_number(found) ? json_number_value(found) : NAN;
}

bool has_text(const json_t *list, const char *wanted)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(list, i, entry)
        if (strcmp(json_string_value(entry), wanted) == 0)
            return true;
    return false;
}

json_t *json_read(const char *path, json_error_t *where)
{
    FILE *in = kith__regular_open(path, false);
    json_t *value = in ? json_loadf(in, JSON_REJECT_DUPLICATES, where) : NULL;

    if (!in && where)
        *where = (json_error_t){.line = -1};
    if (in)
        fclose(in);
    return value;
}

kith_status json_write(const json_t *value, const char *path, kith_error *error)
{
    char *dumped = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    text_buffer out = {.failed = !dumped};

    if (dumped)
        text_add(&out, "%s\n", dumped);
    kith_status status = text_replace(&out, path, error);
    text_release(&out);
    free(dumped);
    return status;
}

/* ---- blocks ---- */

json_t *document_new(const char *title, const char *subtitle)
{
    return json_pack("{so so s[]}", "title", safe_string(title), "subtitle", safe_string(subtitle),
                     "blocks");
}

void document_add(json_t *document, json_t *block)
{
    json_array_append_new(json_object_get(document, "blocks"), block);
}

void document_heading(json_t *document, int level, const char *heading)
{
    document_add(document, json_pack("{ss si so}", "type", "heading", "level", level, "text",
                                     safe_string(heading)));
}

void document_text(json_t *document, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    document_add(document,
                 json_pack("{ss so}", "type", "text", "text", format_list(format, arguments)));
    va_end(arguments);
}

json_t *details_new(const char *summary)
{
    return json_pack("{ss so s[]}", "type", "details", "summary", safe_string(summary), "blocks");
}

void put_by_type(text_buffer *out, const json_t *value, const put_kind *kinds)
{
    while (kinds->type && strcmp(kinds->type, text_of(value, "type")) != 0)
        kinds++;
    if (kinds->type)
        kinds->put(out, value);
}

/* ---- tables ---- */

void table_add_column(json_t *table, const char *title, int number)
{
    json_array_append_new(json_object_get(table, "columns"),
                          json_pack("{so sb}", "title", safe_string(title), "number", number));
}

json_t *table_new(const char *caption, const char *columns)
{
    json_t *table = json_pack("{ss so s[] s[]}", "type", "table", "caption", safe_string(caption),
                              "columns", "rows");
    char *copy = strdup(columns), *rest = copy;

    for (const char *title; copy && *columns && (title = strsep(&rest, "|"));)
        table_add_column(table, title + (*title == '#'), *title == '#');
    free(copy);
    return table;
}

json_t *table_row(json_t *table)
{
    json_t *row = json_array();
    json_array_append_new(json_object_get(table, "rows"), row);
    return row;
}

void row_text(json_t *row, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    json_array_append_new(row, format_list(format, arguments));
    va_end(arguments);
}

/* ---- figures ---- */

json_t *figures_new(void)
{
    return json_pack("{ss s[]}", "type", "figures", "items");
}

void figures_add(json_t *figures, json_t *chart)
{
    json_array_append_new(json_object_get(figures, "items"), chart);
}

json_t *lines_new(const char *title, const char *x, const char *y)
{
    return json_pack("{ss so so so s[]}", "type", "lines", "title", safe_string(title), "x",
                     safe_string(x), "y", safe_string(y), "series");
}

json_t *lines_series(json_t *chart, const char *name)
{
    json_t *points = json_array();
    json_array_append_new(json_object_get(chart, "series"),
                          json_pack("{so so}", "name", safe_string(name), "points", points));
    return points;
}

void lines_color(json_t *chart, size_t place)
{
    json_t *series = json_object_get(chart, "series");
    size_t count = json_array_size(series);

    if (count > 0)
        json_object_set_new(json_array_get(series, count - 1), "color",
                            json_integer((json_int_t)place));
}

void points_add(json_t *points, double x, double y)
{
    if (isfinite(x) && isfinite(y))
        json_array_append_new(points, json_pack("[ff]", x, y));
}

void lines_category(json_t *chart, const char *name)
{
    if (!json_object_get(chart, "categories"))
        json_object_set_new(chart, "categories", json_array());
    json_array_append_new(json_object_get(chart, "categories"), safe_string(name));
}
