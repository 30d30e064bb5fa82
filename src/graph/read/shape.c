/* A first row is a header only if it is explicit: it has one word each that means subject, relation
 * and object, other rows follow, and none of the first of these has that relation. So a file
 * without a header loses no fact, unless its first fact links "subject" to "object" by a relation
 * "relation" that is used once. Of three columns, a word for the relation between two others is
 * enough ("dish,property,value"), and so is any word between one for the subject and one for the
 * object ("from,was,to"), if none of the three occurs again. That also goes for words that are
 * names of relations, too ("type"), and for single letters (s, p, o), which count only between
 * commas or semicolons, or as SPARQL's ?s. */
#include "graph/read/shape.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LOOKED_AT = 1000, COMPARED = 20 };

/* The words that other programs use in headers. */
static const char *const words[3][16] = {
    {"subject", "subj", "head", "source", "from", "item", "node1", "entity1", "subjekt",
     ":start_id", "s", "h"},
    {"relation", "rel", "predicate", "pred", "property", "prop", "edge", "interaction", "beziehung",
     "prädikat", "relationship", "attribute", ":type", "p", "r"},
    {"object", "obj", "tail", "target", "to", "value", "node2", "entity2", "objekt", ":end_id", "o",
     "t"}};

/* Words and endings that count only where there is none of the above. */
static const char *const weak_words[] = {"type", "label", "verb", NULL};
static const char *const suffixes[] = {"_id", "_name", "_type", NULL};

/* ---- rows ---- */

static kith__cut_problem cut_blanks(kith__cell *cells, size_t *count, kith__field line)
{
    kith__field fields[KITH__MOST_COLUMNS];

    *count = kith__cut_fields(fields, KITH__MOST_COLUMNS, line, false);
    for (size_t i = 0; i < *count && i < KITH__MOST_COLUMNS; i++)
        cells[i] = (kith__cell){fields[i], false};
    return KITH__CUT_WELL;
}

kith__cut_problem kith__cut_row(kith__cell *cells, size_t *count, kith__field line,
                                const kith__shape *shape)
{
    if (shape->separator == ' ')
        return cut_blanks(cells, count, line);
    return kith__cut_cells(cells, KITH__MOST_COLUMNS, count, line, shape->separator,
                           shape->separator == '\t');
}

/* The first rows of a file. */
typedef struct {
    const char *at, *end;
    size_t lines;
    kith__field row;
} rows;

static bool next_row(rows *r)
{
    while (r->at < r->end) {
        r->row = kith__next_line(&r->at, r->end);
        r->lines++;
        if (!kith__is_blank(r->row))
            return true;
    }
    return false;
}

/* ---- separators ---- */

/* The number of first rows in which a separator gives as many columns as in the first row, at least
 * three. */
static size_t agreement(rows r, char separator, size_t *columns)
{
    kith__cell cells[1];
    size_t agree = 0, count;

    kith__cut_cells(cells, 1, columns, r.row, separator, false);
    if (*columns < 3)
        return 0;
    for (size_t i = 0; i < COMPARED; i++) {
        kith__cut_cells(cells, 1, &count, r.row, separator, false);
        agree += count == *columns;
        if (!next_row(&r))
            break;
    }
    return agree;
}

static size_t blank_columns(kith__field row, bool *punctuated)
{
    kith__field fields[3];
    size_t count = kith__cut_fields(fields, 3, row, false);

    *punctuated = false;
    for (size_t i = 0; i < count && i < 2; i++)
        *punctuated |= strchr(",;", fields[i].text[fields[i].length - 1]) != NULL;
    return count;
}

static bool is_csv(const char *path)
{
    size_t length = strlen(path);

    for (const char *packed = ".gz\0.zst\0"; *packed; packed += strlen(packed) + 1)
        if (length > strlen(packed) &&
            strcasecmp(path + length - strlen(packed), packed) == 0) {
            length -= strlen(packed);
            break;
        }
    return length >= 4 && strncasecmp(path + length - 4, ".csv", 4) == 0;
}

/* Whether each of the first rows has three columns separated by spaces. */
static bool spaces_agree(rows r)
{
    bool agree = true, punctuated;

    for (size_t i = 0; i < COMPARED && agree; i++) {
        agree = blank_columns(r.row, &punctuated) == 3;
        if (!next_row(&r))
            break;
    }
    return agree;
}

static size_t count_compared(rows r)
{
    size_t count = 1;

    while (count < COMPARED && next_row(&r))
        count++;
    return count;
}

/* The mark that cuts each of the first rows into three columns although the first one has three by
 * spaces too, as in "Luc Besson;born in;Paris"; 0 if there is none. Names may contain commas, so
 * these count only if spaces do not separate all rows. */
static char hidden_mark(rows r)
{
    size_t compared = count_compared(r), columns;

    if (agreement(r, ';', &columns) == compared && columns == 3)
        return ';';
    if (agreement(r, ',', &columns) == compared && columns == 3 && !spaces_agree(r))
        return ',';
    return 0;
}

static char find_separator(rows r, const char *path)
{
    bool punctuated;
    size_t commas, semicolons;

    if (memchr(r.row.text, '\t', r.row.length))
        return '\t';
    if (blank_columns(r.row, &punctuated) == 3 && !punctuated && !is_csv(path)) {
        char mark = hidden_mark(r);
        return mark ? mark : ' ';
    }
    size_t by_comma = agreement(r, ',', &commas), by_semicolon = agreement(r, ';', &semicolons);
    if (by_comma == 0 && by_semicolon == 0)
        return is_csv(path) && blank_columns(r.row, &punctuated) != 3 ? ',' : ' ';
    return by_semicolon >= by_comma ? ';' : ',';
}

/* "sep=;", which spreadsheet programs write as a hint. */
static bool is_separator_line(char *separator, kith__field row)
{
    if (row.length != 5 || strncasecmp(row.text, "sep=", 4) != 0 || !row.text[4] ||
        !strchr(",;\t", row.text[4]))
        return false;
    *separator = row.text[4];
    return true;
}

const char *kith__separator_name(const kith__shape *shape)
{
    return shape->separator == '\t'  ? "tabs"
           : shape->separator == ',' ? "commas"
           : shape->separator == ';' ? "semicolons"
                                     : "spaces";
}

/* ---- headers ---- */

static bool is_word(kith__field field, const char *word)
{
    return field.length == strlen(word) && strncasecmp(field.text, word, field.length) == 0;
}

static bool is_any(kith__field field, const char *const *list)
{
    for (; *list; list++)
        if (is_word(field, *list))
            return true;
    return false;
}

static bool means(kith__field field, int role, char separator)
{
    bool variable = field.length > 1 && field.text[0] == '?';

    if (variable) {
        field.text++;
        field.length--;
    }
    if (field.length == 1 && !variable && separator != ',' && separator != ';')
        return false;
    return is_any(field, words[role]);
}

/* "type", or a word with an ending, as in subject_id. */
static bool may_mean(kith__field field, int role)
{
    if (role == 1 && is_any(field, weak_words))
        return true;
    for (const char *const *suffix = suffixes; *suffix; suffix++) {
        size_t length = strlen(*suffix);
        kith__field word = {field.text, field.length - length};
        if (field.length > length + 2 &&
            strncasecmp(field.text + word.length, *suffix, length) == 0 &&
            is_any(word, words[role]))
            return true;
    }
    return false;
}

static bool same(kith__field a, kith__field b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* What the first rows after the header have. */
typedef struct {
    size_t rows, relations; /* different relations, counted up to MANY */
    bool relation_again;    /* one has the header's word for the relation as its relation */
    bool any_again;         /* one has one of the header's three words in the same column */
    bool anywhere;          /* one has one of them in any of the three columns */
} body;

enum { MANY = 64 };

static void count_relation(body *b, kith__field seen[MANY], kith__field relation)
{
    for (size_t i = 0; i < b->relations; i++)
        if (same(seen[i], relation))
            return;
    if (b->relations < MANY)
        seen[b->relations++] = relation;
}

static void look_for(body *b, kith__field found, int column, const kith__shape *shape,
                     const kith__cell *header)
{
    for (int role = 0; role < 3; role++)
        if (same(found, header[shape->place[role]].field)) {
            b->anywhere = true;
            b->any_again |= role == column;
            b->relation_again |= role == column && role == 1;
        }
}

static body look_at(rows r, const kith__shape *shape, const kith__cell *header)
{
    kith__cell cells[KITH__MOST_COLUMNS];
    kith__field seen[MANY];
    body b = {0};
    size_t count;

    while (b.rows < LOOKED_AT && next_row(&r)) {
        b.rows++;
        if (kith__cut_row(cells, &count, r.row, shape) != KITH__CUT_WELL)
            continue;
        for (int role = 0; role < 3; role++)
            if (shape->place[role] < count)
                look_for(&b, cells[shape->place[role]].field, role, shape, header);
        if (shape->place[1] < count)
            count_relation(&b, seen, cells[shape->place[1]].field);
    }
    return b;
}

/* How clearly three columns are named. */
typedef enum {
    UNNAMED,
    HALF_NAMED, /* a word that only may mean the relation, or a word for subject and object */
    RELATION,   /* a word for the relation */
    LETTERS,    /* all three, by letters or by words that only may mean them */
    NAMED
} naming;

/* Find the column of a role, by a word that means it or else by one that may; false if there is not
 * one. */
static bool find_role(size_t *place, bool *weak, const kith__cell *cells, size_t count, int role,
                      char separator)
{
    size_t sure = 0, likely = 0, at = 0;

    for (size_t i = 0; i < count; i++)
        if (means(cells[i].field, role, separator)) {
            *place = i;
            sure++;
        } else if (may_mean(cells[i].field, role)) {
            at = i;
            likely++;
        }
    if (sure == 0 && likely == 1) {
        *place = at;
        *weak = true;
    }
    return sure == 1 || (sure == 0 && likely == 1);
}

/* Find one column for each role; UNNAMED if one is missing or ambiguous. */
static naming find_roles(size_t place[3], const kith__cell *cells, size_t count, char separator)
{
    bool weak = false;

    for (int role = 0; role < 3; role++)
        if (!find_role(&place[role], &weak, cells, count, role, separator))
            return UNNAMED;
    return weak || cells[place[1]].field.length <= 2 ? LETTERS : NAMED;
}

static bool is_long(kith__field field, int role, char separator)
{
    return field.length > 1 && (means(field, role, separator) || may_mean(field, role));
}

/* "dish,property,value": of three columns, not all need a word that is known. */
static naming find_some(const kith__cell *cells, char separator)
{
    kith__field relation = cells[1].field;

    if (separator == ' ')
        return UNNAMED;
    if (relation.length > 2 && means(relation, 1, separator))
        return RELATION;
    return may_mean(relation, 1) || (is_long(cells[0].field, 0, separator) &&
                                     is_long(cells[2].field, 2, separator))
               ? HALF_NAMED
               : UNNAMED;
}

/* Whether a row is a header. A row that is only half named may be a fact that nothing else is said
 * about, so the relations of the others must be few. */
static bool is_header(const rows *r, const kith__shape *shape, const kith__cell *cells,
                      naming named)
{
    if (named == UNNAMED)
        return false;
    const body b = look_at(*r, shape, cells);
    if (b.rows == 0 || b.relation_again)
        return false;
    if (named == HALF_NAMED && (b.anywhere || (b.relations < MANY && b.rows < 2 * b.relations)))
        return false;
    return named == NAMED || !b.any_again;
}

static void recognise_header(kith__shape *shape, const rows *r, const kith__cell *cells,
                             size_t count)
{
    size_t place[3];
    naming named = find_roles(place, cells, count, shape->separator);

    if (named == UNNAMED && count != 3)
        return;
    for (size_t i = 0; i < 3; i++)
        shape->place[i] = named == UNNAMED ? i : place[i];
    if (named == UNNAMED)
        named = find_some(cells, shape->separator);
    shape->chosen = shape->header = is_header(r, shape, cells, named);
}

/* ---- columns chosen by the user ---- */

static kith_status bad_choice(kith__loader *loader, const char *wanted, const char *why)
{
    char quoted[KITH__QUOTED];

    return kith__fail(loader->error, KITH_ERR_ARGUMENT, "columns %s: %s",
                      kith__quote(quoted, wanted, strlen(wanted)), why);
}

static bool all_numbers(uint64_t numbers[3], const kith__cell names[3])
{
    for (int i = 0; i < 3; i++)
        if (!kith__parse_number(&numbers[i], names[i].field))
            return false;
    return true;
}

static size_t find_name(kith__field name, const kith__cell *cells, size_t count)
{
    size_t found = KITH__NO_COLUMN;

    for (size_t i = 0; i < count; i++)
        if (same(cells[i].field, name))
            return i;
    for (size_t i = 0; i < count; i++) /* SPARQL's ?s */
        if (cells[i].field.length == name.length + 1 && cells[i].field.text[0] == '?' &&
            memcmp(cells[i].field.text + 1, name.text, name.length) == 0)
            found = i;
    return found;
}

static kith_status choose_by_number(kith__shape *shape, kith__loader *loader, const char *wanted,
                                    const uint64_t numbers[3], const rows *r,
                                    const kith__cell *cells, size_t count)
{
    size_t place[3];

    for (int i = 0; i < 3; i++) {
        if (numbers[i] < 1 || numbers[i] > count)
            return bad_choice(loader, wanted, "a number is not a column of the first row");
        shape->place[i] = (size_t)numbers[i] - 1;
    }
    naming named = find_roles(place, cells, count, shape->separator);
    if (named != UNNAMED && memcmp(place, shape->place, sizeof place) != 0)
        named = UNNAMED;
    if (named == UNNAMED) {
        const kith__cell chosen[3] = {cells[shape->place[0]], cells[shape->place[1]],
                                      cells[shape->place[2]]};
        named = find_some(chosen, shape->separator);
    }
    shape->header = is_header(r, shape, cells, named);
    return KITH_OK;
}

static kith_status choose_by_name(kith__shape *shape, kith__loader *loader, const char *path,
                                  size_t line, const kith__cell names[3], const kith__cell *cells,
                                  size_t count, kith__field row)
{
    char quoted[2][KITH__QUOTED];

    for (int i = 0; i < 3; i++) {
        kith__field name = names[i].field;
        shape->place[i] = find_name(name, cells, count);
        if (shape->place[i] == KITH__NO_COLUMN)
            return kith__fail(loader->error, KITH_ERR_INPUT,
                              "%s:%zu: found %s as the header row, expected a column %s among them",
                              path, line, kith__quote(quoted[0], row.text, row.length),
                              kith__quote(quoted[1], name.text, name.length));
    }
    shape->header = true;
    return KITH_OK;
}

static kith_status choose(kith__shape *shape, kith__loader *loader, const char *path,
                          const rows *r, const kith__cell *cells, size_t count, const char *wanted)
{
    kith__cell names[3];
    size_t given;
    uint64_t numbers[3];
    kith_status status;

    if (kith__cut_cells(names, 3, &given, (kith__field){wanted, strlen(wanted)}, ',', false) !=
            KITH__CUT_WELL ||
        given != 3)
        return bad_choice(loader, wanted,
                          "expected three names or numbers of columns, for subject, relation and "
                          "object, separated by commas");
    shape->chosen = true;
    if (all_numbers(numbers, names))
        status = choose_by_number(shape, loader, wanted, numbers, r, cells, count);
    else
        status = choose_by_name(shape, loader, path, r->lines, names, cells, count, r->row);
    if (status == KITH_OK && (shape->place[0] == shape->place[1] ||
                              shape->place[0] == shape->place[2] ||
                              shape->place[1] == shape->place[2]))
        return bad_choice(loader, wanted, "a column is given twice");
    return status;
}

/* ---- labels, in columns named as in Wikidata's query service: item, itemLabel ---- */

static bool is_label_of(kith__field field, kith__field name)
{
    kith__field rest = {field.text + name.length, field.length - name.length};

    if (field.length <= name.length || memcmp(field.text, name.text, name.length) != 0)
        return false;
    if (strchr("_ ", rest.text[0])) {
        rest.text++;
        rest.length--;
    }
    return is_word(rest, "label");
}

static void find_labels(kith__shape *shape, const kith__cell *cells, size_t count)
{
    for (int role = 0; role < 3; role++) {
        kith__field name = cells[shape->place[role]].field;
        for (size_t i = 0; i < count; i++)
            if (is_label_of(cells[i].field, name))
                shape->label[role] = i;
        snprintf(shape->names[role], sizeof shape->names[role], "%.*s",
                 (int)(name.length < 40 ? name.length : 40), name.text);
    }
}

/* ---- the whole shape ---- */

kith_status kith__find_shape(kith__shape *shape, kith__loader *loader, const char *path,
                             const char *text, size_t length, const char *wanted)
{
    rows r = {text, text + length, 0, {text, 0}};
    kith__cell cells[KITH__MOST_COLUMNS];
    kith_status status = KITH_OK;
    char separator = '\0';
    bool any = next_row(&r);

    *shape = (kith__shape){.separator = ' ', .place = {0, 1, 2}};
    for (int role = 0; role < 3; role++)
        shape->label[role] = KITH__NO_COLUMN;
    if (any && is_separator_line(&separator, r.row)) {
        shape->skipped = (size_t)(r.at - text);
        shape->skipped_lines = r.lines;
        any = next_row(&r);
    }
    if (!any)
        return KITH_OK;
    shape->separator = separator ? separator : find_separator(r, path);
    shape->quotes = shape->separator == ',' || shape->separator == ';';
    kith__cut_problem problem = kith__cut_row(cells, &shape->columns, r.row, shape);
    size_t count =
        shape->columns < KITH__MOST_COLUMNS ? shape->columns : (size_t)KITH__MOST_COLUMNS;
    if (problem == KITH__CUT_WELL && wanted)
        status = choose(shape, loader, path, &r, cells, count, wanted);
    else if (problem == KITH__CUT_WELL)
        recognise_header(shape, &r, cells, count);
    if (status != KITH_OK || !shape->header)
        return status;
    shape->quotes = shape->quotes || shape->separator == '\t';
    shape->skipped = (size_t)(r.at - text);
    shape->skipped_lines = r.lines;
    find_labels(shape, cells, count);
    return KITH_OK;
}

void kith__shape_text(char *text, size_t size, const char *name, const kith__shape *shape)
{
    if (shape->header)
        snprintf(text, size, "%s, separated by %s, header row: %s, %s, %s", name,
                 kith__separator_name(shape), shape->names[0], shape->names[1], shape->names[2]);
    else if (shape->chosen || shape->separator == ',' || shape->separator == ';')
        snprintf(text, size, "%s, separated by %s, no header row", name,
                 kith__separator_name(shape));
    else
        snprintf(text, size, "%s", name);
}
