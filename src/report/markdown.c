/* A document as Markdown. Charts become tables of their values. */
#include <math.h>
#include <string.h>

#include "report/document.h"

static void put_blocks(text_buffer *out, const json_t *blocks);

/* ---- tables ---- */

static void put_cell(text_buffer *out, const json_t *cell)
{
    const json_t *small = json_object_get(cell, "small"), *line;
    const char *plain = json_is_string(cell) ? json_string_value(cell) : text_of(cell, "text");
    bool strong = json_is_true(json_object_get(cell, "strong"));
    size_t i;

    text_put(out, strong ? " **" : " ");
    text_put_markdown(out, plain);
    text_put(out, strong ? "**" : "");
    json_array_foreach(small, i, line) {
        text_put(out, i == 0 ? " (" : ", ");
        text_put_markdown(out, json_string_value(line));
    }
    text_put(out, json_array_size(small) > 0 ? ") |" : " |");
}

static void put_table(text_buffer *out, const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns"), *column, *row, *cell;
    size_t i, k;

    if (*text_of(table, "caption")) {
        text_put_markdown(out, text_of(table, "caption"));
        text_put(out, "\n\n");
    }
    text_put(out, "|");
    json_array_foreach(columns, i, column) {
        text_put(out, " ");
        text_put_markdown(out, text_of(column, "title"));
        text_put(out, " |");
    }
    text_put(out, "\n|");
    json_array_foreach(columns, i, column)
        text_put(out, json_is_true(json_object_get(column, "number")) ? "---:|" : "---|");
    text_put(out, "\n");
    json_array_foreach(json_object_get(table, "rows"), i, row) {
        text_put(out, "|");
        json_array_foreach(row, k, cell)
            put_cell(out, cell);
        text_put(out, "\n");
    }
    text_put(out, "\n");
}

/* ---- charts ---- */

static double value_at(const json_t *series, double x)
{
    const json_t *point;
    size_t i;

    json_array_foreach(json_object_get(series, "points"), i, point)
        if (json_number_value(json_array_get(point, 0)) == x)
            return json_number_value(json_array_get(point, 1));
    return NAN;
}

/* Every x that occurs in some series, in the order in which they first occur. */
static json_t *all_x(const json_t *series)
{
    json_t *list = json_array();
    const json_t *one, *point;
    size_t i, k;

    json_array_foreach(series, i, one) {
        json_array_foreach(json_object_get(one, "points"), k, point) {
            double x = json_number_value(json_array_get(point, 0));
            size_t at = 0;
            while (at < json_array_size(list) && json_number_value(json_array_get(list, at)) < x)
                at++;
            if (at == json_array_size(list) || json_number_value(json_array_get(list, at)) != x)
                json_array_insert_new(list, at, json_real(x));
        }
    }
    return list;
}

static void put_lines(text_buffer *out, const json_t *chart)
{
    enum { MOST_ROWS = 24 };
    const json_t *series = json_object_get(chart, "series"), *one, *x;
    const json_t *categories = json_object_get(chart, "categories");
    json_t *table = table_new("", ""), *list = all_x(series);
    size_t i, k, count = json_array_size(list), every = count / MOST_ROWS + 1;

    table_add_column(table, text_of(chart, "x"), 1);
    json_array_foreach(series, i, one)
        table_add_column(table, text_of(one, "name"), 1);
    json_array_foreach(list, i, x) {
        double at = json_number_value(x);
        if (i % every != 0 && i + 1 < count)
            continue;
        json_t *row = table_row(table);
        const char *category =
            categories ? json_string_value(json_array_get(categories, (size_t)at)) : NULL;
        if (category)
            row_text(row, "%s", category);
        else
            row_text(row, "%.6g", at);
        json_array_foreach(series, k, one) {
            double value = value_at(one, at);
            if (isfinite(value))
                row_text(row, "%.4g", value);
            else
                row_text(row, "%s", "");
        }
    }
    put_table(out, table);
    json_decref(list);
    json_decref(table);
}

static void put_bars(text_buffer *out, const json_t *chart)
{
    json_t *table = table_new("", "");
    const json_t *bar;
    size_t i;

    table_add_column(table, text_of(chart, "x"), 0);
    table_add_column(table, text_of(chart, "y"), 1);
    table_add_column(table, "", 0);
    json_array_foreach(json_object_get(chart, "bars"), i, bar) {
        json_t *row = table_row(table);
        row_text(row, "%s", text_of(bar, "name"));
        row_text(row, "%.4g", number_of(bar, "value"));
        row_text(row, "%s", text_of(bar, "note"));
    }
    put_table(out, table);
    json_decref(table);
}

static void put_reliability(text_buffer *out, const json_t *chart)
{
    json_t *table = table_new("", "#predicted probability|#correct|#answers");
    const json_t *bin;
    size_t i;

    json_array_foreach(json_object_get(chart, "bins"), i, bin) {
        if (!(number_of(bin, "answers") > 0))
            continue;
        json_t *row = table_row(table);
        row_text(row, "%.3f", number_of(bin, "predicted"));
        row_text(row, "%.3f", number_of(bin, "correct"));
        row_text(row, "%.0f", number_of(bin, "answers"));
    }
    put_table(out, table);
    json_decref(table);
}

static void put_graph(text_buffer *out, const json_t *chart)
{
    json_t *table = table_new("", "subject|relation|object|#weight");
    const json_t *edge;
    size_t i;

    json_array_foreach(json_object_get(chart, "edges"), i, edge) {
        bool inverse = json_is_true(json_object_get(edge, "inverse"));
        json_t *row = table_row(table);
        row_text(row, "%s", inverse ? text_of(edge, "entity") : text_of(chart, "center"));
        row_text(row, "%s", text_of(edge, "relation"));
        row_text(row, "%s", inverse ? text_of(chart, "center") : text_of(edge, "entity"));
        if (isfinite(number_of(edge, "weight")))
            row_text(row, "%.4f", number_of(edge, "weight"));
        else
            row_text(row, "%s", "");
    }
    put_table(out, table);
    json_decref(table);
}

static void put_figures(text_buffer *out, const json_t *figures)
{
    static const put_kind kinds[] = {{"lines", put_lines},
                                     {"bars", put_bars},
                                     {"reliability", put_reliability},
                                     {"graph", put_graph},
                                     {NULL}};
    const json_t *chart;
    size_t i;

    json_array_foreach(json_object_get(figures, "items"), i, chart) {
        text_put(out, "**");
        text_put_markdown(out, text_of(chart, "title"));
        text_put(out, "**\n\n");
        if (*text_of(chart, "note")) {
            text_put_markdown(out, text_of(chart, "note"));
            text_put(out, "\n\n");
        }
        put_by_type(out, chart, kinds);
    }
}

/* ---- blocks ---- */

static void put_heading(text_buffer *out, const json_t *block)
{
    text_put(out, json_integer_value(json_object_get(block, "level")) == 2 ? "## " : "### ");
    text_put_markdown(out, text_of(block, "text"));
    text_put(out, "\n\n");
}

static void put_text(text_buffer *out, const json_t *block)
{
    text_put_markdown(out, text_of(block, "text"));
    text_put(out, "\n\n");
}

static void put_list(text_buffer *out, const json_t *block)
{
    const json_t *item;
    size_t i;

    json_array_foreach(json_object_get(block, "items"), i, item) {
        text_put(out, "- ");
        text_put_markdown(out, json_string_value(item));
        text_put(out, "\n");
    }
    text_put(out, "\n");
}

static void put_details(text_buffer *out, const json_t *block)
{
    text_put(out, "### ");
    text_put_markdown(out, text_of(block, "summary"));
    text_put(out, "\n\n");
    put_blocks(out, json_object_get(block, "blocks"));
}

static void put_blocks(text_buffer *out, const json_t *blocks)
{
    static const put_kind kinds[] = {{"heading", put_heading},
                                     {"text", put_text},
                                     {"list", put_list},
                                     {"table", put_table},
                                     {"figures", put_figures},
                                     {"details", put_details},
                                     {NULL}};
    const json_t *block;
    size_t i;

    json_array_foreach(blocks, i, block)
        put_by_type(out, block, kinds);
}

void markdown_put(text_buffer *out, const json_t *document)
{
    text_put(out, "# ");
    text_put_markdown(out, text_of(document, "title"));
    text_put(out, "\n\n");
    text_put_markdown(out, text_of(document, "subtitle"));
    text_put(out, "\n\n");
    put_blocks(out, json_object_get(document, "blocks"));
}
