/* The files that name ids (entity2id.txt, relation2id.txt), label names (entity_name.txt) and
 * declare prefixes (prefixes.txt). */
#include <string.h>

#include "core/mem.h"
#include "core/utf8.h"
#include "graph/labels.h"
#include "graph/read/fields.h"
#include "graph/read/table.h"

/* A reader of numbered lines that skips blank ones. */
typedef struct {
    kith__input *input;
    kith__lines lines;
    const char *text, *end;
    size_t number;
} reader;

static kith_status reader_open(reader *r, const char *path, kith__loader *loader)
{
    memset(r, 0, sizeof *r);
    kith_status status = kith__input_open(&r->input, path, loader->watch, loader->error);
    kith__lines_init(&r->lines, r->input);
    return status;
}

static void reader_close(reader *r)
{
    kith__lines_release(&r->lines);
    kith__input_close(r->input);
}

/* The next line that is not blank; line->text is NULL at the end. */
static kith_status reader_next(kith__field *line, reader *r, kith_error *error)
{
    for (;;) {
        if (r->text == r->end) {
            char *text;
            size_t length;
            kith_status status = kith__lines_next(&text, &length, &r->lines, error);
            line->text = NULL;
            if (status != KITH_OK || length == 0)
                return status;
            r->text = text + (r->number == 0 ? kith__skip_bom(text, length) : 0);
            r->end = text + length;
            continue;
        }
        *line = kith__next_line(&r->text, r->end);
        r->number++;
        if (!kith__is_blank(*line))
            return KITH_OK;
    }
}

/* Cut at the last tab, or at the last space if there is no tab. */
static bool cut_pair(kith__field *name, kith__field *value, kith__field line)
{
    const char *cut = memrchr(line.text, '\t', line.length);

    if (!cut)
        cut = memrchr(line.text, ' ', line.length);
    if (!cut || cut == line.text)
        return false;
    name->text = line.text;
    name->length = (size_t)(cut - line.text);
    value->text = cut + 1;
    value->length = line.length - name->length - 1;
    return value->length > 0;
}

/* The names of a vocabulary in file order, and the id that the file gives to each. */
typedef struct {
    kith__names names;
    struct entry {
        uint32_t id;
        size_t line;
    } *entries;
    size_t capacity;
    const char *what;
} listing;

static kith_status add_entry(listing *list, kith__loader *loader, const char *path, size_t number,
                             kith__field line)
{
    kith__field name, value;
    uint64_t id;
    char quoted[KITH__QUOTED];

    if (!kith__utf8_valid(line.text, line.length))
        return kith__bad_line(loader, path, number, "found %s, expected UTF-8 text without NUL",
                              kith__quote(quoted, line.text, line.length));
    if (!cut_pair(&name, &value, line) || !kith__parse_number(&id, value))
        return kith__bad_line(loader, path, number, "found %s, expected a name and its id",
                              kith__quote(quoted, line.text, line.length));
    if (id >= KITH__NO_ID)
        return kith__bad_line(loader, path, number,
                              "found the id %s, which is out of range: %s ids "
                              "are dense, from 0 to their number less 1",
                              kith__quote(quoted, value.text, value.length), list->what);
    uint32_t before = list->names.count;
    uint32_t at = kith__names_add(&list->names, name.text, name.length,
                                  kith__names_hash(name.text, name.length));
    if (at == KITH__NO_ID ||
        kith__reserve(&list->entries, &list->capacity, (size_t)at + 1, sizeof *list->entries))
        return kith__no_memory(loader->error);
    if (at != before)
        return kith__bad_line(loader, path, number,
                              "found %s a second time, expected each name once",
                              kith__quote(quoted, name.text, name.length));
    list->entries[at] = (struct entry){(uint32_t)id, number};
    return KITH_OK;
}

/* Gaps in the ids cannot be skipped, even with skip_bad: facts with such an id would have no
 * meaning. */
static kith_status bad_id(const listing *list, uint32_t i, kith__loader *loader, const char *path)
{
    char quoted[KITH__QUOTED];
    return kith__fail(
        loader->error, KITH_ERR_INPUT,
        "%s:%zu: found the id %u for %s, which is out of range: %u names are given, so "
        "ids must run from 0 to %u",
        path, list->entries[i].line, list->entries[i].id,
        kith__quote(quoted, kith__names_get(&list->names, i), kith__names_length(&list->names, i)),
        list->names.count, list->names.count - 1);
}

static kith_status id_twice(const listing *list, uint32_t first, uint32_t second,
                            kith__loader *loader, const char *path)
{
    char quoted[2][KITH__QUOTED];
    return kith__fail(
        loader->error, KITH_ERR_INPUT,
        "%s:%zu: found the id %u for %s, but line %zu gives it to %s, expected each id "
        "once",
        path, list->entries[second].line, list->entries[second].id,
        kith__quote(quoted[0], kith__names_get(&list->names, second),
                    kith__names_length(&list->names, second)),
        list->entries[first].line,
        kith__quote(quoted[1], kith__names_get(&list->names, first),
                    kith__names_length(&list->names, first)));
}

/* Put the names in the order of their ids, which must be 0..n-1, each once. */
static kith_status order_names(kith__names *names, const listing *list, kith__loader *loader,
                               const char *path)
{
    uint32_t count = list->names.count;
    uint32_t *at = kith__alloc(count, sizeof *at);
    kith_status status = KITH_OK;

    if (!at)
        return kith__no_memory(loader->error);
    memset(at, 0xff, count * sizeof *at);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = list->entries[i].id;
        if (id >= count)
            TRY(bad_id(list, i, loader, path));
        if (at[id] != KITH__NO_ID)
            TRY(id_twice(list, at[id], i, loader, path));
        at[id] = i;
    }
    for (uint32_t id = 0; id < count; id++) {
        const char *name = kith__names_get(&list->names, at[id]);
        size_t length = kith__names_length(&list->names, at[id]);
        if (kith__names_add(names, name, length, kith__names_hash(name, length)) == KITH__NO_ID)
            TRY(kith__no_memory(loader->error));
    }
cleanup:
    kith__free(at);
    return status;
}

kith_status kith__read_vocabulary(kith__loader *loader, const char *path, kith__names *names,
                                  const char *what)
{
    reader r;
    listing list = {.what = what};
    kith__field line, only;
    uint64_t declared = 0;
    bool counted = false;
    kith_status status;

    TRY(reader_open(&r, path, loader));
    if (kith__names_init(&list.names))
        TRY(kith__no_memory(loader->error));
    for (size_t rows = 0;; rows++) {
        TRY(reader_next(&line, &r, loader->error));
        if (!line.text)
            break;
        /* If there is a tab, the text before it is a name, even if it is blank. */
        if (rows == 0 && !memchr(line.text, '\t', line.length) &&
            kith__cut_fields(&only, 1, line, false) == 1 && kith__parse_number(&declared, only))
            counted = true;
        else
            TRY(add_entry(&list, loader, path, r.number, line));
    }
    if (counted && declared != list.names.count)
        TRY(kith__bad_line(loader, path, 1, "the count line says %llu, but %u names follow",
                           (unsigned long long)declared, list.names.count));
    if (list.names.count == 0)
        TRY(kith__fail(loader->error, KITH_ERR_INPUT, "%s: holds no names, expected names and ids",
                       path));
    TRY(order_names(names, &list, loader, path));
cleanup:
    reader_close(&r);
    kith__names_release(&list.names);
    kith__free(list.entries);
    return status;
}

/* ---- labels and prefixes ---- */

/* A line of two columns; `second` has no text if the line has no tab. */
typedef struct {
    const char *path;
    size_t number;
    kith__field whole, first, second;
} pair;

static pair pair_of(kith__field line, const char *path, size_t number)
{
    const char *tab = memchr(line.text, '\t', line.length);
    size_t length = tab ? (size_t)(tab - line.text) : 0;

    return (pair){.path = path,
                  .number = number,
                  .whole = line,
                  .first = {line.text, length},
                  .second = {tab ? tab + 1 : NULL, tab ? line.length - length - 1 : 0}};
}

static kith_status bad_pair(kith__loader *loader, const pair *p, const char *expected)
{
    char quoted[KITH__QUOTED];

    return kith__bad_line(loader, p->path, p->number, "found %s, expected %s",
                          kith__quote(quoted, p->whole.text, p->whole.length), expected);
}

/* Call `add` for each line. */
static kith_status read_pairs(kith__loader *loader, const char *path,
                              kith_status (*add)(kith__loader *, void *context, const pair *),
                              void *context)
{
    reader r;
    kith__field line;
    kith_status status;

    TRY(reader_open(&r, path, loader));
    for (;;) {
        TRY(reader_next(&line, &r, loader->error));
        if (!line.text)
            break;
        const pair next = pair_of(line, path, r.number);
        TRY(add(loader, context, &next));
    }
cleanup:
    reader_close(&r);
    return status;
}

static const char label_line[] = "a name and its label, separated by a tab";

static bool is_label(const pair *p)
{
    return p->second.text && kith__utf8_valid(p->whole.text, p->whole.length);
}

static kith_status add_label(kith__loader *loader, void *context, const pair *p)
{
    kith__entity_labels *labels = context;
    const kith__names *entities = &loader->graph->entities;

    if (!is_label(p))
        return bad_pair(loader, p, label_line);
    uint32_t id = kith__names_find(entities, p->first.text, p->first.length,
                                   kith__names_hash(p->first.text, p->first.length));
    if (id == KITH__NO_ID || p->second.length == 0)
        return KITH_OK;
    return kith__entity_label_set(labels, id, p->second.text, p->second.length)
               ? kith__no_memory(loader->error)
               : KITH_OK;
}

kith_status kith__read_labels(kith__loader *loader, const char *path)
{
    kith__entity_labels labels;

    if (kith__entity_labels_begin(&labels, loader->graph))
        return kith__no_memory(loader->error);
    return read_pairs(loader, path, add_label, &labels);
}

static kith_status add_relation_label(kith__loader *loader, void *context, const pair *p)
{
    (void)context;
    if (!is_label(p))
        return bad_pair(loader, p, label_line);
    return p->second.length > 0 && kith__relation_label_add(loader->graph, p->first.text,
                                                            p->first.length, p->second.text,
                                                            p->second.length)
               ? kith__no_memory(loader->error)
               : KITH_OK;
}

kith_status kith__read_relation_labels(kith__loader *loader, const char *path)
{
    return read_pairs(loader, path, add_relation_label, NULL);
}

static kith_status add_prefix(kith__loader *loader, void *context, const pair *p)
{
    kith__prefixes *prefixes = &loader->graph->prefixes;
    size_t before = prefixes->count, length = p->first.length;

    (void)context;
    if (length > 0 && p->first.text[length - 1] == ':' &&
        kith__prefixes_add(prefixes, p->first.text, length - 1, p->second.text, p->second.length))
        return kith__no_memory(loader->error);
    return prefixes->count == before
               ? bad_pair(loader, p, "a prefix with its colon and its IRI, separated by a tab, "
                                     "each prefix once")
               : KITH_OK;
}

kith_status kith__read_prefixes(kith__loader *loader, const char *path)
{
    return read_pairs(loader, path, add_prefix, NULL);
}
