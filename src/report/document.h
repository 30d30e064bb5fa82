/* A document is a JSON value: {"title", "subtitle", "blocks"}. Pages are built as documents and
 * then written as HTML or Markdown, so that both have the same content. Blocks by "type":
 *   heading   "level" (2 or 3), "text"
 *   text      "text"
 *   list      "items", strings
 *   table     "caption", "columns" ({"title", "number"}), "rows" of cells; a cell is a string or
 *             {"text", "small": [strings], "mark": "better" | "worse", "bar": 0..1, "strong",
 *             "code"}
 *   figures   "items", charts that are placed side by side if they fit
 *   details   "summary", "blocks": collapsed until opened
 * Charts, by "type", all with "title", and "note" if it needs an explanation:
 *   lines        "x", "y", "series" ({"name", "color", "points": [[x, y]...]}), and "categories"
 *                if x are indices of names; "color" is the index of the name among all names
 *   bars         "y", "bars" ({"name", "value", "error", "note"})
 *   reliability  "bins" ({"answers", "predicted", "correct"})
 *   graph        "center", "edges" ({"relation", "entity", "weight", "inverse", "note"}) */
#ifndef KITH_REPORT_DOCUMENT_H
#define KITH_REPORT_DOCUMENT_H

#include <jansson.h>

#include "core/status.h"
#include "report/text.h"

json_t *document_new(const char *title, const char *subtitle);
/* Append a block to a document or a details block. Takes ownership of the block. */
void document_add(json_t *document, json_t *block);
void document_heading(json_t *document, int level, const char *heading);
void document_text(json_t *document, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table. `columns` are titles separated by '|'; a '#' before a title marks a column of
 * numbers. */
json_t *table_new(const char *caption, const char *columns);
void table_add_column(json_t *table, const char *title, int number);
/* A new row, to which cells are appended. */
json_t *table_row(json_t *table);
void row_text(json_t *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

json_t *figures_new(void);
void figures_add(json_t *figures, json_t *chart);
json_t *details_new(const char *summary);

json_t *lines_new(const char *title, const char *x, const char *y);
/* A new series of a chart; returns its points, to which [x, y] are appended. */
json_t *lines_series(json_t *chart, const char *name);
void points_add(json_t *points, double x, double y);
/* Give the series that was added last the colour with this index. */
void lines_color(json_t *chart, size_t place);
void lines_category(json_t *chart, const char *name);

/* A string of a JSON object, or "" if it has none; and a number, or NAN if it has none. */
const char *text_of(const json_t *object, const char *key);
double number_of(const json_t *object, const char *key);
/* Whether a list of strings has this one. */
bool has_text(const json_t *list, const char *wanted);
/* Text that may not be valid UTF-8, as a JSON string. */
json_t *safe_string(const char *plain);
json_t *format_string(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Read JSON from a regular file in an untrusted folder; NULL if that fails. */
json_t *json_read(const char *path, json_error_t *where);
/* Write a JSON value to one of kith's own files (text_replace). */
kith_status json_write(const json_t *value, const char *path, kith_error *error);
/* Write a page to a file that the user named (text_write). */
kith_status html_write(const json_t *document, const char *path, kith_error *error);
void html_put(text_buffer *out, const json_t *document);
void markdown_put(text_buffer *out, const json_t *document);
/* How to write blocks or charts of a type. A list of these ends with an entry without a type. */
typedef struct put_kind {
    const char *type;
    void (*put)(text_buffer *out, const json_t *value);
} put_kind;
/* Write the value according to its "type"; does nothing if the list lacks the type. */
void put_by_type(text_buffer *out, const json_t *value, const put_kind *kinds);
/* The index of a series among all of them, which gives it its colour, dashes and marks. */
size_t series_place(const json_t *series, size_t otherwise);
/* A piece of its line, for the legend. */
void svg_put_sample(text_buffer *out, size_t place);
/* One chart as an <svg> element. */
void svg_put(text_buffer *out, const json_t *chart);

#endif
