#include "graph/read/foreign.h"

#include <string.h>

#include "graph/read/fields.h"

/* Unsupported files that users try to open: how they begin, and what to do instead. */
static const struct {
    const char *begins, *what, *advice;
} others[] = {
    {"PK\003\004", "a ZIP archive, as spreadsheets are", "save the sheet as CSV"},
    {"SQLite format 3", "an SQLite database",
     "export a table: sqlite3 -csv FILE 'SELECT ...' > facts.csv"},
    {"<?xml", "XML", "convert RDF/XML with: rapper -i rdfxml -o ntriples FILE > facts.nt"},
    {"<rdf:RDF", "RDF/XML", "convert it with: rapper -i rdfxml -o ntriples FILE > facts.nt"},
    {"<!DOCTYPE", "a web page", "save the data itself, not the page that shows it"},
    {"<html", "a web page", "save the data itself, not the page that shows it"},
    {"%PDF-", "a PDF document", "save the data as CSV"},
};

/* Whether the text begins as a JSON object or array, and not with a fact in columns. */
static bool is_json(const char *text, size_t length)
{
    const char *end = text + length;
    char first = '\0';

    for (int i = 0; i < 2; i++) {
        while (text < end && *text && strchr(" \t\r\n", *text))
            text++;
        if (text == end || !*text || !strchr(i == 0 ? "{[" : "\"{}[]", *text))
            return false;
        first = i == 0 ? *text : first;
        text++;
    }
    return first == '[' || text[-1] == '"' || text[-1] == '}';
}

kith_status kith__refuse_foreign(kith__input *input, bool columns, kith_error *error)
{
    const char *text = "", *path = kith__input_path(input);
    size_t length = 0;
    kith_status status = kith__input_peek(&text, &length, input, error);

    if (status != KITH_OK)
        return status;
    size_t mark = kith__skip_bom(text, length);
    kith__field beginning = {text + mark, length - mark};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (kith__begins_with(beginning, others[i].begins))
            return kith__fail(error, KITH_ERR_INPUT,
                              "%s: found %s, expected a file of triples; %s", path, others[i].what,
                              others[i].advice);
    kith__field line = {"", 0};
    if (columns && is_json(beginning.text, beginning.length) &&
        kith__first_line(&line, beginning.text, beginning.length) &&
        !memchr(line.text, '\t', line.length))
        return kith__fail(
            error, KITH_ERR_INPUT,
            "%s: found JSON, expected a file of triples; make one of it, such as "
            "with: jq -r '.[] | [.subject, .relation, .object] | @tsv' FILE > facts.tsv",
            path);
    return KITH_OK;
}
