#include "graph/read/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/utf8.h"
#include "graph/duplicates.h"
#include "graph/labels.h"
#include "graph/read/fields.h"
#include "graph/read/merge.h"

enum {
    BATCH = 64,            /* lines whose names are looked up together */
    LEAST_PIECE = 1 << 20, /* bytes that justify another thread */
    SNIFF_LINES = 1000,    /* lines inspected to decide between names and ids */
    MOST_COLUMNS = 4
};

typedef struct {
    kith__field text[3]; /* subject, relation, object */
    uint64_t hash[3];
    int8_t truth;
    size_t line;
} row;

/* What the beginning of the file shows about the whole file. */
typedef struct {
    bool tabs;
    bool shaped; /* rows are cut according to `shape`, not by tabs or spaces alone */
    kith__shape shape;
    size_t columns;
    uint64_t declared; /* from the count line */
    bool has_count;
    uint64_t data_at; /* bytes and lines before the first fact */
    size_t data_line;
} layout;

/* One thread's part of the file. Piece 0 adds names to the graph itself; later pieces collect their
 * own names, which are added in order afterwards, so that ids do not depend on the cut. */
typedef struct {
    const kith__table_form *form;
    const layout *layout;
    const char *path;
    kith__names *entities, *relations; /* where new names are added and known ones looked up */
    kith__names own_entities, own_relations;
    kith__lines lines;
    kith__facts facts;
    kith__collector collector;
    kith__label_set labels; /* of entities, from label columns */
    bool labelled, skip_bad;
    bool plain; /* the current block is ASCII without NUL, so its lines need no check */
    row rows[BATCH];
    size_t row_count;
    size_t line; /* lines before the current one in this piece */
    size_t good, bad;
    size_t bad_line; /* line of the first bad one */
    char bad_text[640];
    const kith__loader *observer; /* gets every row; NULL: none */
    char problem[640];            /* of the last bad line, if there is an observer */
    kith_status status;
    kith_error error;
} piece;

/* ---- bad lines ---- */

__attribute__((format(printf, 2, 3)))
static bool bad(piece *p, const char *format, ...)
{
    /* Rows wait in a batch while later lines are cut, so the problem of an earlier line may be
     * found later. */
    if (p->bad++ == 0 || p->line < p->bad_line) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(p->bad_text, sizeof p->bad_text, format, arguments);
        va_end(arguments);
        p->bad_line = p->line;
    }
    if (p->observer) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(p->problem, sizeof p->problem, format, arguments);
        va_end(arguments);
    }
    return false;
}

static const char *column_hint(const piece *p)
{
    static const char *const hints[2][2] = {
        {"subject, relation, object", "subject, object, relation"},
        {"subject, relation, object, label", "subject, object, relation, label"}};
    return hints[p->labelled][p->form->object_second];
}

static bool wrong_columns(piece *p, kith__field line, size_t found)
{
    char quoted[KITH__QUOTED];
    const kith__shape *shape = &p->layout->shape;

    if (p->layout->shaped && shape->chosen)
        return bad(p, "found %zu column%s in %s, expected %zu as in the first row, separated by %s",
                   found, found == 1 ? "" : "s", kith__quote(quoted, line.text, line.length),
                   shape->columns, kith__separator_name(shape));
    if (p->form->any_shape && found > 3)
        return bad(p, "found %zu columns in %s, expected 3 separated by %s: subject, relation, "
                   "object; or a header row with these names; or --columns to name three", found,
                   kith__quote(quoted, line.text, line.length), kith__separator_name(shape));
    if (p->layout->shaped)
        return bad(p, "found %zu column%s in %s, expected 3: %s, separated by %s", found,
                   found == 1 ? "" : "s", kith__quote(quoted, line.text, line.length),
                   column_hint(p), kith__separator_name(shape));
    return bad(p, "found %zu column%s in %s, expected %d: %s, separated by %s", found,
               found == 1 ? "" : "s", kith__quote(quoted, line.text, line.length),
               p->labelled ? 4 : 3, column_hint(p), p->layout->tabs ? "tabs" : "spaces");
}

/* ---- one line ---- */

static bool parse_label(int8_t *truth, kith__field field)
{
    if (field.length == 1 && (field.text[0] == '1' || field.text[0] == '0')) {
        *truth = (int8_t)(field.text[0] - '0');
        return true;
    }
    *truth = 0;
    return field.length == 2 && memcmp(field.text, "-1", 2) == 0;
}

static bool check_text(piece *p, kith__field line)
{
    char quoted[KITH__QUOTED];

    if (p->plain || kith__utf8_valid(line.text, line.length))
        return true;
    if (memchr(line.text, '\0', line.length))
        return bad(p, "found a NUL byte in %s, expected text",
                   kith__quote(quoted, line.text, line.length));
    return bad(p, "found bytes that are not UTF-8 in %s, expected UTF-8 text; if it is Latin-1, "
               "convert it with: iconv -f WINDOWS-1252 -t UTF-8",
               kith__quote(quoted, line.text, line.length));
}

static bool check_names(const row *r, piece *p, kith__field line)
{
    static const char *const nouns[3] = {"subject", "relation", "object"};
    char quoted[KITH__QUOTED];

    for (int i = 0; i < 3; i++)
        if (r->text[i].length == 0)
            return bad(p, "found an empty %s in %s, expected a name; --skip-bad skips such lines",
                       nouns[i], kith__quote(quoted, line.text, line.length));
    return true;
}

static bool parse_plain_row(row *r, piece *p, kith__field line)
{
    kith__field fields[MOST_COLUMNS];
    char quoted[KITH__QUOTED];
    size_t found = kith__cut_fields(fields, MOST_COLUMNS, line, p->layout->tabs);

    if (!check_text(p, line))
        return false;
    if (found != (p->labelled ? 4u : 3u))
        return wrong_columns(p, line, found);
    r->text[0] = fields[0];
    r->text[1] = fields[p->form->object_second ? 2 : 1];
    r->text[2] = fields[p->form->object_second ? 1 : 2];
    if (!check_names(r, p, line))
        return false;
    if (p->labelled && !parse_label(&r->truth, fields[3]))
        return bad(p, "found the label %s, expected 1, 0 or -1",
                   kith__quote(quoted, fields[3].text, fields[3].length));
    return true;
}

/* A name must fit into a column of a line. */
static bool has_tab(piece *p, kith__field field)
{
    char quoted[KITH__QUOTED];

    return memchr(field.text, '\t', field.length) &&
           !bad(p, "found a tab in %s, expected a name without tabs",
                kith__quote(quoted, field.text, field.length));
}

/* If an item has no label, Wikidata repeats the last part of its IRI. */
static bool repeats_name(kith__field label, kith__field name)
{
    if (label.length > name.length ||
        memcmp(name.text + name.length - label.length, label.text, label.length) != 0)
        return false;
    return label.length == name.length ||
           strchr("/#:", name.text[name.length - label.length - 1]) != NULL;
}

/* The label of the subject, relation or object, from a column of its own. */
static bool keep_label(piece *p, const row *r, int which, const kith__cell *cells)
{
    size_t column = p->layout->shape.label[which];

    if (column == KITH__NO_COLUMN)
        return true;
    kith__field label = kith__cell_text(cells[column]), name = r->text[which];
    if (has_tab(p, label))
        return false;
    if (label.length == 0 || repeats_name(label, name))
        return true;
    if (kith__label_set_add(&p->labels, name.text, name.length, label.text, label.length, 0))
        p->status = kith__no_memory(&p->error);
    return p->status == KITH_OK;
}

static bool parse_shaped_row(row *r, piece *p, kith__field line)
{
    const kith__shape *shape = &p->layout->shape;
    kith__cell cells[KITH__MOST_COLUMNS];
    char quoted[KITH__QUOTED];
    size_t found;
    kith__cut_problem problem = kith__cut_row(cells, &found, line, shape);

    if (!check_text(p, line))
        return false;
    if (problem != KITH__CUT_WELL)
        return bad(p, "found %s in %s, expected columns separated by %s",
                   kith__cut_problem_text(problem), kith__quote(quoted, line.text, line.length),
                   kith__separator_name(shape));
    if (found != (shape->chosen ? shape->columns : 3u))
        return wrong_columns(p, line, found);
    for (int i = 0; i < 3; i++) {
        r->text[i] = kith__cell_text(cells[shape->place[i]]);
        if (has_tab(p, r->text[i]))
            return false;
    }
    return check_names(r, p, line) && keep_label(p, r, 0, cells) &&
           keep_label(p, r, 1, cells) && keep_label(p, r, 2, cells);
}

static bool parse_row(row *r, piece *p, kith__field line)
{
    return p->layout->shaped ? parse_shaped_row(r, p, line) : parse_plain_row(r, p, line);
}

/* ---- names to ids, a batch at a time ---- */

static bool resolve_id(uint32_t *id, piece *p, kith__field field, const kith__names *names,
                       const char *noun)
{
    char quoted[KITH__QUOTED];
    uint64_t value;

    if (!kith__parse_number(&value, field))
        return bad(p, "found the %s %s, expected an id from 0 to %u", noun,
                   kith__quote(quoted, field.text, field.length), names->count - 1);
    if (value >= names->count)
        return bad(p, "found the %s id %s, which is out of range: %u names are given, so ids run "
                   "from 0 to %u", noun, kith__quote(quoted, field.text, field.length),
                   names->count, names->count - 1);
    *id = (uint32_t)value;
    return true;
}

static bool resolve(uint32_t *id, piece *p, const row *r, int which)
{
    bool relation = which == 1;
    kith__column column = relation ? p->form->relations : p->form->entities;
    kith__names *names = relation ? p->relations : p->entities;
    const char *noun = relation ? "relation" : "entity";
    kith__field field = r->text[which];
    char quoted[KITH__QUOTED];

    if (column == KITH__IDS)
        return resolve_id(id, p, field, names, noun);
    if (column == KITH__KNOWN_NAMES) {
        *id = kith__names_find(names, field.text, field.length, r->hash[which]);
        if (*id != KITH__NO_ID)
            return true;
        return bad(p, "found the %s %s, which is not in %s2id.txt", noun,
                   kith__quote(quoted, field.text, field.length), noun);
    }
    *id = kith__names_add(names, field.text, field.length, r->hash[which]);
    if (*id == KITH__NO_ID)
        p->status = kith__no_memory(&p->error);
    return *id != KITH__NO_ID;
}

/* Inlined by force, like the functions it calls. */
static inline __attribute__((always_inline)) void prefetch_rows(const piece *p, int stage)
{
    for (size_t i = 0; i < p->row_count; i++) {
        kith__names_prefetch(p->entities, p->rows[i].hash[0], stage);
        kith__names_prefetch(p->entities, p->rows[i].hash[2], stage);
    }
}

static bool stopped(const piece *p)
{
    return p->status != KITH_OK || (p->bad > 0 && !p->skip_bad);
}

static void store_row(piece *p, const row *r)
{
    /* Fields that may be refused come before fields that add a name, so that a bad line adds
     * none. */
    bool relation_first = p->form->relations != KITH__NEW_NAMES;
    kith_triple t;

    if ((relation_first && !resolve(&t.relation, p, r, 1)) || !resolve(&t.subject, p, r, 0) ||
        !resolve(&t.object, p, r, 2) || (!relation_first && !resolve(&t.relation, p, r, 1)))
        return;
    p->good++;
    if (kith__collect(&p->facts, &p->collector, t, p->labelled ? &r->truth : NULL))
        p->status = kith__no_memory(&p->error);
}

static void store_batch(piece *p)
{
    size_t line = p->line;

    for (int stage = 0; stage < 2; stage++)
        prefetch_rows(p, stage);
    for (size_t i = 0; i < p->row_count && p->status == KITH_OK; i++) {
        p->line = p->rows[i].line;
        store_row(p, &p->rows[i]);
    }
    p->line = line;
    p->row_count = 0;
}

/* ---- one piece ---- */

/* One pass over a whole block, which gcc vectorises. */
static bool is_plain(const char *text, const char *end)
{
    unsigned char high = 0, nul = 0;

    for (; text < end; text++) {
        high |= (unsigned char)*text;
        nul |= *text == '\0';
    }
    return high < 0x80 && !nul;
}

/* Pass a line on, with its names or what is wrong with it. */
static void tell_row(piece *p, const row *r, kith__field line, bool good)
{
    kith_row shown = {.line = p->layout->data_line + p->line,
                      .whole = line.text,
                      .whole_length = line.length,
                      .problem = good ? NULL : p->problem};

    for (int i = 0; good && i < 3; i++) {
        shown.text[i] = r->text[i].text;
        shown.length[i] = r->text[i].length;
    }
    if (p->status == KITH_OK && p->observer->row(p->observer->row_context, &shown))
        p->status = kith__fail(&p->error, KITH_ERR_STOPPED, "stopped");
}

static void parse_block(piece *p, const char *text, const char *end)
{
    p->plain = is_plain(text, end);
    while (text < end && !stopped(p)) {
        kith__field line = kith__next_line(&text, end);
        row *r = &p->rows[p->row_count];
        p->line++;
        if (kith__is_blank(line))
            continue;
        bool good = parse_row(r, p, line);
        if (p->observer)
            tell_row(p, r, line, good);
        if (!good)
            continue;
        r->line = p->line;
        for (int i = 0; i < 3; i++)
            r->hash[i] = kith__names_hash(r->text[i].text, r->text[i].length);
        if (++p->row_count == BATCH)
            store_batch(p);
    }
    /* The batch points into the block, which is about to be overwritten. */
    store_batch(p);
}

static void parse_piece(void *context, size_t index)
{
    piece *p = (piece *)context + index;
    bool first = index == 0;
    char *text;
    size_t length;

    while (!stopped(p)) {
        p->status = kith__lines_next(&text, &length, &p->lines, &p->error);
        if (p->status != KITH_OK || length == 0)
            return;
        size_t skip = 0;
        if (first) {
            /* A range begins at the facts; a stream still has the lines before them. */
            skip = p->lines.ranged ? 0 : (size_t)p->layout->data_at;
            first = false;
        }
        parse_block(p, text + skip, text + length);
    }
}

static kith_status piece_init(piece *p, size_t index, kith__loader *loader)
{
    p->skip_bad = loader->skip_bad;
    p->observer = loader->row && p->form->any_shape ? loader : NULL;
    p->entities = &loader->graph->entities;
    p->relations = &loader->graph->relations;
    if (index == 0)
        return KITH_OK;
    if (p->form->entities == KITH__NEW_NAMES) {
        if (kith__names_init(&p->own_entities))
            return kith__no_memory(loader->error);
        p->entities = &p->own_entities;
    }
    if (p->form->relations == KITH__NEW_NAMES) {
        if (kith__names_init(&p->own_relations))
            return kith__no_memory(loader->error);
        p->relations = &p->own_relations;
    }
    return KITH_OK;
}

static void piece_release(piece *p)
{
    kith__names_release(&p->own_entities);
    kith__names_release(&p->own_relations);
    kith__lines_release(&p->lines);
    kith__facts_release(&p->facts);
    kith__label_set_release(&p->labels);
}

/* ---- merging the pieces, in order ---- */

static kith_status join_pieces(piece *pieces, size_t count, kith__loader *loader, kith_split split,
                               const char *path, const layout *l)
{
    size_t line = l->data_line, good = 0, bad_lines = 0;
    kith_status status = KITH_OK;

    for (size_t i = 0; i < count; i++) {
        piece *p = &pieces[i];
        if (p->bad > 0) {
            size_t more = p->bad - 1;
            TRY(kith__bad_line(loader, path, line + p->bad_line, "%s", p->bad_text));
            loader->graph->report.bad_lines += more;
        }
        if (p->status != KITH_OK) {
            if (loader->error)
                *loader->error = p->error;
            TRY(p->status);
        }
        TRY(kith__merge_piece(loader, split,
                              p->entities == &p->own_entities ? p->entities : NULL,
                              p->relations == &p->own_relations ? p->relations : NULL, &p->facts));
        if (kith__label_set_merge(loader->labels, &p->labels))
            TRY(kith__no_memory(loader->error));
        line += p->line;
        good += p->good;
        loader->graph->report.duplicates += p->collector.dropped;
        bad_lines += p->bad;
        piece_release(p);
    }
    if (l->has_count && l->declared != good + bad_lines)
        TRY(kith__bad_line(loader, path, 1, "the count line says %llu, but %zu facts follow",
                           (unsigned long long)l->declared, good + bad_lines));
    if (!l->has_count && good + bad_lines == 0)
        TRY(kith__bad_line(loader, path, 0, "holds no facts, expected at least one"));
cleanup:
    return status;
}

/* ---- the file's layout ---- */

static bool is_count(uint64_t *count, kith__field line)
{
    kith__field only;
    return kith__cut_fields(&only, 1, line, false) == 1 && kith__parse_number(count, only);
}

/* The next line that is not blank. */
static bool next_filled(kith__field *line, const char **text, const char *end, size_t *number)
{
    while (*text < end) {
        *line = kith__next_line(text, end);
        ++*number;
        if (!kith__is_blank(*line))
            return true;
    }
    return false;
}

static kith_status look_at_shape(layout *l, kith__loader *loader, const char *path,
                                 const char *text, size_t length)
{
    size_t mark = (size_t)l->data_at;
    kith_status status =
        kith__find_shape(&l->shape, loader, path, text + mark, length - mark, loader->columns);

    l->shaped = l->shape.chosen || l->shape.quotes;
    l->tabs = l->shape.separator == '\t';
    l->data_at += l->shape.skipped;
    l->data_line = l->shape.skipped_lines;
    return status;
}

static kith_status look_at_beginning(layout *l, kith__loader *loader, kith__input *input,
                                     const kith__table_form *form)
{
    const char *begin, *text, *end;
    size_t length, number = 0;
    kith__field line = {"", 0}, fields[MOST_COLUMNS];
    kith_status status = kith__input_peek(&begin, &length, input, loader->error);

    if (status != KITH_OK)
        return status;
    memset(l, 0, sizeof *l);
    text = begin + kith__skip_bom(begin, length);
    end = begin + length;
    l->data_at = (uint64_t)(text - begin);
    bool any = next_filled(&line, &text, end, &number);
    if (any && form->counted) {
        if (is_count(&l->declared, line)) {
            l->has_count = true;
            l->data_at = (uint64_t)(text - begin);
            l->data_line = number;
            any = next_filled(&line, &text, end, &number);
        } else {
            char quoted[KITH__QUOTED];
            status = kith__bad_line(loader, kith__input_path(input), number,
                                    "found %s, expected the number of facts that follow",
                                    kith__quote(quoted, line.text, line.length));
        }
    }
    l->tabs = any && memchr(line.text, '\t', line.length) != NULL;
    l->columns = any ? kith__cut_fields(fields, MOST_COLUMNS, line, l->tabs) : 0;
    if (status == KITH_OK && form->any_shape)
        status = look_at_shape(l, loader, kith__input_path(input), begin, length);
    return status;
}

static kith_status cut_file(piece *pieces, size_t count, kith__input *input, const layout *l,
                            kith_error *error)
{
    uint64_t size = kith__input_size(input), from = l->data_at;

    if (size == 0) {
        kith__lines_init(&pieces[0].lines, input);
        return KITH_OK;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t to = size;
        if (i + 1 < count) {
            uint64_t nominal = l->data_at + (size - l->data_at) / count * (i + 1);
            kith_status status =
                kith__line_start(&to, input, nominal < from ? from : nominal, error);
            if (status != KITH_OK)
                return status;
        }
        kith__lines_init_range(&pieces[i].lines, input, from, to);
        from = to;
    }
    return KITH_OK;
}

/* Reserve about as many facts as the file's size and its first lines suggest, so that arrays are
 * not moved as they grow; piece 0 gets space for all, because the other pieces' facts are added to
 * its own. */
static kith_status reserve_facts(piece *pieces, size_t count, kith__input *input,
                                 kith_error *error)
{
    const char *text, *end;
    size_t length, lines = 0;
    kith_status status = kith__input_peek(&text, &length, input, error);

    if (status != KITH_OK || count < 2)
        return status;
    end = text + length;
    for (const char *at = text; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    double all = (double)kith__input_size(input) / (double)length * (double)lines * 1.05;
    for (size_t i = 0; i < count; i++)
        if (kith__reserve_exactly(&pieces[i].facts.at, &pieces[i].facts.capacity,
                                  (size_t)(i == 0 ? all : all / (double)count) + 16,
                                  sizeof *pieces[i].facts.at))
            return kith__no_memory(error);
    return KITH_OK;
}

kith_status kith__read_table(kith__loader *loader, kith__input *input, kith_split split,
                             const kith__table_form *form, kith__shape *shape)
{
    layout l;
    kith_status status = look_at_beginning(&l, loader, input, form);
    size_t wanted = (size_t)(kith__input_size(input) / LEAST_PIECE) + 1;
    size_t count = kith__pool_size(loader->pool);
    piece *pieces = NULL;

    if (status != KITH_OK)
        return status;
    if (shape)
        *shape = l.shape;
    if (kith__input_size(input) == 0 || count > wanted)
        count = kith__input_size(input) == 0 ? 1 : wanted;
    pieces = kith__calloc(count, sizeof *pieces);
    if (!pieces)
        return kith__no_memory(loader->error);
    for (size_t i = 0; i < count; i++) {
        pieces[i].form = form;
        pieces[i].layout = &l;
        pieces[i].labelled = form->may_label && l.columns == 4;
        TRY(piece_init(&pieces[i], i, loader));
    }
    TRY(cut_file(pieces, count, input, &l, loader->error));
    TRY(reserve_facts(pieces, count, input, loader->error));
    kith__pool_run(loader->pool, parse_piece, pieces, count);
    TRY(join_pieces(pieces, count, loader, split, kith__input_path(input), &l));
cleanup:
    for (size_t i = 0; i < count; i++)
        piece_release(&pieces[i]);
    kith__free(pieces);
    return status;
}

/* ---- names or ids? ---- */

typedef struct {
    size_t names, ids;
} votes;

static void vote(votes *v, const kith__names *names, kith__field field)
{
    uint64_t value;
    uint64_t hash = kith__names_hash(field.text, field.length);
    v->names += kith__names_find(names, field.text, field.length, hash) != KITH__NO_ID;
    v->ids += kith__parse_number(&value, field) && value < names->count;
}

/* If names are numbers too, ids written by kith_graph_save must be read as ids. */
static kith__column winner(const votes *v, bool named)
{
    if (!named)
        return KITH__NEW_NAMES;
    return v->names > v->ids ? KITH__KNOWN_NAMES : KITH__IDS;
}

kith_status kith__recognise_columns(kith__table_form *form, kith__loader *loader,
                                    kith__input *input, bool entities_named, bool relations_named)
{
    const char *text, *end;
    size_t length, number = 0;
    votes entities = {0, 0}, relations = {0, 0};
    kith__field line, fields[MOST_COLUMNS];
    kith_status status = kith__input_peek(&text, &length, input, loader->error);

    if (status != KITH_OK)
        return status;
    end = text + length;
    text += kith__skip_bom(text, length);
    while (number < SNIFF_LINES && next_filled(&line, &text, end, &number)) {
        bool tabs = memchr(line.text, '\t', line.length) != NULL;
        if (kith__cut_fields(fields, MOST_COLUMNS, line, tabs) < 3)
            continue;
        vote(&entities, &loader->graph->entities, fields[0]);
        vote(&relations, &loader->graph->relations, fields[1]);
        vote(&entities, &loader->graph->entities, fields[2]);
    }
    form->entities = winner(&entities, entities_named);
    form->relations = winner(&relations, relations_named);
    return KITH_OK;
}
