#include "embed/tensors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checksum.h"
#include "core/files.h"
#include "core/json.h"
#include "core/mem.h"

enum { HEADER_LIMIT = 1 << 24, READ_AT_ONCE = 1 << 24 /* bytes between two ticks */ };

static void tensor_name(char name[64], const kith__tensor_group *group, const kith__table *table)
{
    snprintf(name, 64, "%s%s", group->prefix, table->spec->name);
}

/* ---- saving ---- */

static json_t *header_with(const kith__note *notes, size_t count)
{
    json_t *header = json_object(), *metadata = json_object();

    kith__json_set(&metadata, "checksum", json_string("0000000000000000"));
    for (size_t i = 0; i < count; i++)
        kith__json_set(&metadata, notes[i].key, json_string(notes[i].value));
    kith__json_set(&header, "__metadata__", metadata);
    return header;
}

/* Describes a table of 4-byte numbers; returns where the next one begins. */
static json_int_t add_entry(json_t **header, const char *name, const char *type, size_t rows,
                            size_t cols, json_int_t used)
{
    json_int_t bytes = (json_int_t)(rows * cols * sizeof(uint32_t));

    kith__json_set(header, name,
                   json_pack("{ss s[II] s[II]}", "dtype", type, "shape", (json_int_t)rows,
                             (json_int_t)cols, "data_offsets", used, used + bytes));
    return used + bytes;
}

static json_t *header_of(const kith__tensor_group *groups, size_t count, const kith__note *notes,
                         size_t note_count)
{
    json_t *header = header_with(notes, note_count);
    json_int_t used = 0;

    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].params->tables; i++) {
            const kith__table *t = &groups[g].params->table[i];
            char name[64];
            tensor_name(name, &groups[g], t);
            used = add_entry(&header, name, "F32", t->rows, t->cols, used);
        }
    return header;
}

/* Where the bytes of a file go: first into its checksum, then to disk. */
typedef struct {
    kith__checksum sum;
    FILE *out; /* NULL while the checksum is computed */
} sink;

static void emit(sink *to, const void *bytes, size_t count)
{
    if (to->out)
        fwrite(bytes, 1, count, to->out);
    else
        kith__checksum_add(&to->sum, bytes, count);
}

/* The header is padded with spaces, so that the data begins at a multiple of 8. */
static void emit_header(sink *to, const char *text)
{
    uint64_t length = strlen(text), padded = (length + 7) / 8 * 8;

    emit(to, &padded, sizeof padded);
    emit(to, text, length);
    emit(to, "        ", padded - length);
}

/* `data` emits what follows the header. It is called twice, because the header holds the checksum
 * of the whole file. */
static kith_status write_file(const char *path, json_t *header,
                              void (*data)(sink *to, const void *context), const void *context,
                              kith_error *error)
{
    kith__new_file file = {0};
    sink to = {.out = NULL};
    char *text = header ? kith__json_text(header, JSON_COMPACT) : NULL;
    char *digits = text ? kith__checksum_digits(text, strlen(text)) : NULL;
    kith_status status = KITH_OK;

    if (!digits)
        TRY(kith__no_memory(error));
    kith__checksum_init(&to.sum);
    emit_header(&to, text);
    data(&to, context);
    kith__checksum_print(digits, kith__checksum_value(&to.sum));
    TRY(kith__new_file_replace(&file, path, error));
    to.out = file.stream;
    emit_header(&to, text);
    data(&to, context);
    TRY(kith__new_file_commit(&file, error));
cleanup:
    kith__new_file_abandon(&file);
    kith__free(text);
    json_decref(header);
    return status;
}

typedef struct {
    const kith__tensor_group *groups;
    size_t count;
} group_list;

static void emit_table(sink *to, const kith__table *t)
{
    for (size_t r = 0; r < t->rows; r++)
        emit(to, kith__row(t, r), t->cols * sizeof(float));
}

static void emit_groups(sink *to, const void *context)
{
    const group_list *all = context;

    for (size_t g = 0; g < all->count; g++)
        for (size_t i = 0; i < all->groups[g].params->tables; i++)
            emit_table(to, &all->groups[g].params->table[i]);
}

kith_status kith__tensors_save(const char *path, const kith__tensor_group *groups, size_t count,
                               const kith__note *notes, size_t note_count, kith_error *error)
{
    const group_list all = {groups, count};

    return write_file(path, header_of(groups, count, notes, note_count), emit_groups, &all, error);
}

/* ---- loading ---- */

typedef struct {
    const char *path;
    FILE *in;
    kith__watch *watch;
    json_t *header;
    kith__checksum sum; /* of all bytes read so far */
    bool checked;       /* the file has a checksum: */
    uint64_t said;
    uint64_t data_bytes, used; /* bytes after the header; bytes read of them */
} reading;

static kith_status damaged(const reading *r, kith_error *error, const char *what)
{
    return kith__fail(error, KITH_ERR_INPUT, "%s: %s, expected a safetensors file that kith wrote",
                      r->path, what);
}

/* The header's text is added to the checksum with '0' for the digits of the checksum. */
static kith_status sum_header(reading *r, uint64_t length, char *text, bool required,
                              kith_error *error)
{
    char *digits = kith__checksum_digits(text, length);

    r->checked = digits != NULL;
    if (required && !digits)
        return damaged(r, error, "has no checksum");
    if (digits && !kith__checksum_parse(&r->said, digits))
        return damaged(r, error, "has a malformed checksum");
    if (digits)
        memset(digits, '0', KITH__SUM_DIGITS);
    kith__checksum_init(&r->sum);
    kith__checksum_add(&r->sum, &length, sizeof length);
    kith__checksum_add(&r->sum, text, length);
    return KITH_OK;
}

/* How many bytes follow the header. */
static kith_status measure(reading *r, uint64_t length, kith_error *error)
{
    long at = (long)(length + sizeof length);

    if (fseek(r->in, 0, SEEK_END) != 0)
        return damaged(r, error, "cannot be read to the end");
    long end = ftell(r->in);
    if (end < at || fseek(r->in, at, SEEK_SET) != 0)
        return damaged(r, error, "is truncated");
    r->data_bytes = (uint64_t)(end - at);
    return KITH_OK;
}

static kith_status read_header(reading *r, bool required, kith_error *error)
{
    uint64_t length;
    char *text = NULL;
    kith_status status = KITH_OK;

    if (fread(&length, sizeof length, 1, r->in) != 1)
        return damaged(r, error, "is truncated in its first bytes");
    if (length < 2 || length > HEADER_LIMIT)
        return damaged(r, error, "has no header");
    text = kith__alloc(length, 1);
    if (!text)
        return kith__no_memory(error);
    if (fread(text, 1, length, r->in) != length)
        TRY(damaged(r, error, "is truncated in its header"));
    TRY(sum_header(r, length, text, required, error));
    r->header = json_loadb(text, length, 0, NULL);
    if (!json_is_object(r->header))
        TRY(damaged(r, error, "has a header that is not JSON"));
    TRY(measure(r, length, error));
cleanup:
    kith__free(text);
    return status;
}

/* Tables follow each other without gaps, in the order of their names here. */
static kith_status read_data(reading *r, void *to, json_int_t from, json_int_t end,
                             const char *name, kith_error *error)
{
    size_t count = (size_t)(end - from);
    char *at = to;

    if (from < 0 || (uint64_t)from != r->used)
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s: the table '%s' does not begin where the previous one ends", r->path,
                          name);
    for (size_t some; count > 0; at += some, count -= some) {
        some = count < READ_AT_ONCE ? count : READ_AT_ONCE;
        if (fread(at, 1, some, r->in) != some)
            return damaged(r, error, "is truncated");
        kith__checksum_add(&r->sum, at, some);
        r->used += some;
        if (kith__watch_add(r->watch, 0))
            return kith__watch_status(r->watch, error);
    }
    return KITH_OK;
}

static kith_status check_end(const reading *r, kith_error *error)
{
    if (r->used != r->data_bytes)
        return damaged(r, error, "is longer than its header says");
    if (r->checked && kith__checksum_value(&r->sum) != r->said)
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s: its checksum is wrong, so it is damaged or was changed; restore it "
                          "from a copy, or train again", r->path);
    return KITH_OK;
}

/* Rows were read in one block, without padding: move each to its place, the last one first. */
static void spread_rows(const kith__table *t)
{
    for (size_t i = t->rows; i-- > 0;) {
        memmove(kith__row(t, i), t->at + i * t->cols, t->cols * sizeof(float));
        memset(kith__row(t, i) + t->cols, 0, (t->stride - t->cols) * sizeof(float));
    }
}

static kith_status read_table(reading *r, const char *name, const kith__table *t,
                              kith_error *error)
{
    kith_status status;
    json_int_t rows, cols, from, to;
    const char *type;
    json_t *entry = json_object_get(r->header, name);

    if (!entry || json_unpack(entry, "{ss s[II] s[II]}", "dtype", &type, "shape", &rows, &cols,
                              "data_offsets", &from, &to) != 0)
        return kith__fail(error, KITH_ERR_INPUT, "%s: has no table '%s', expected one of %zu x %zu",
                          r->path, name, t->rows, t->cols);
    if (strcmp(type, "F32") != 0 || rows != (json_int_t)t->rows || cols != (json_int_t)t->cols)
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s: the table '%s' is %" PRId64 " x %" PRId64
                          " of %s, expected %zu x %zu "
                          "of F32",
                          r->path, name, (int64_t)rows, (int64_t)cols, type, t->rows, t->cols);
    if (from < 0 || to < from || to - from != rows * cols * (json_int_t)sizeof(float) ||
        (uint64_t)to > r->data_bytes)
        return kith__fail(error, KITH_ERR_INPUT, "%s: is truncated in the table '%s'", r->path,
                          name);
    TRY(read_data(r, t->at, from, to, name, error));
    spread_rows(t);
cleanup:
    return status;
}

/* An extra table means that the file belongs to another kind of model. */
static kith_status check_names(const reading *r, const kith__tensor_group *groups, size_t count,
                               kith_error *error)
{
    const char *key;
    json_t *entry;

    json_object_foreach(r->header, key, entry) {
        bool known = strcmp(key, "__metadata__") == 0;
        for (size_t g = 0; g < count && !known; g++)
            for (size_t i = 0; i < groups[g].params->tables && !known; i++) {
                char name[64];
                tensor_name(name, &groups[g], &groups[g].params->table[i]);
                known = strcmp(key, name) == 0;
            }
        if (!known)
            return kith__fail(error, KITH_ERR_INPUT,
                              "%s: has a table '%.64s', which a model with these settings lacks",
                              r->path, key);
    }
    return KITH_OK;
}

static void read_notes(const reading *r, kith__note *notes, size_t count)
{
    const json_t *metadata = json_object_get(r->header, "__metadata__");

    for (size_t i = 0; i < count; i++) {
        const char *value = json_string_value(json_object_get(metadata, notes[i].key));
        snprintf(notes[i].value, sizeof notes[i].value, "%s", value ? value : "");
    }
}

kith_status kith__tensors_load(const char *path, const kith__tensor_group *groups, size_t count,
                               kith__note *notes, size_t note_count, bool required,
                               kith__watch *watch, kith_error *error)
{
    reading r = {.path = path, .in = kith__regular_open(path, false), .watch = watch};
    kith_status status = KITH_OK;

    if (!r.in)
        return kith__fail(error, KITH_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    TRY(read_header(&r, required, error));
    TRY(check_names(&r, groups, count, error));
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].params->tables; i++) {
            char name[64];
            tensor_name(name, &groups[g], &groups[g].params->table[i]);
            TRY(read_table(&r, name, &groups[g].params->table[i], error));
        }
    TRY(check_end(&r, error));
    read_notes(&r, notes, note_count);
cleanup:
    fclose(r.in);
    json_decref(r.header);
    return status;
}

/* ---- whole numbers ---- */

static json_t *array_header(const kith__array *arrays, size_t count, const kith__note *notes,
                            size_t note_count)
{
    json_t *header = header_with(notes, note_count);
    json_int_t used = 0;

    for (size_t i = 0; i < count; i++)
        used = add_entry(&header, arrays[i].name, "U32", arrays[i].rows, arrays[i].cols, used);
    return header;
}

typedef struct {
    const kith__array *at;
    size_t count;
} array_list;

static void emit_arrays(sink *to, const void *context)
{
    const array_list *all = context;

    for (size_t i = 0; i < all->count; i++)
        emit(to, all->at[i].at, all->at[i].rows * all->at[i].cols * sizeof(uint32_t));
}

kith_status kith__arrays_save(const char *path, const kith__array *arrays, size_t count,
                              const kith__note *notes, size_t note_count, kith_error *error)
{
    const array_list all = {arrays, count};

    return write_file(path, array_header(arrays, count, notes, note_count), emit_arrays, &all,
                      error);
}

static kith_status read_array(reading *r, kith__array *a, kith_error *error)
{
    json_int_t rows, cols, from, to;
    const char *type;
    json_t *entry = json_object_get(r->header, a->name);

    if (!entry && a->optional) {
        a->rows = 0;
        a->at = kith__alloc(0, sizeof *a->at);
        return a->at ? KITH_OK : kith__no_memory(error);
    }
    if (!entry || json_unpack(entry, "{ss s[II] s[II]}", "dtype", &type, "shape", &rows, &cols,
                              "data_offsets", &from, &to) != 0)
        return kith__fail(error, KITH_ERR_INPUT, "%s: has no table '%s'", r->path, a->name);
    if (strcmp(type, "U32") != 0 || rows < 0 || cols != (json_int_t)a->cols)
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s: the table '%s' has %" PRId64 " columns of %s, expected %zu of U32",
                          r->path, a->name, (int64_t)cols, type, a->cols);
    if (from < 0 || to < from || (uint64_t)to > r->data_bytes ||
        (uint64_t)(to - from) != (uint64_t)rows * a->cols * sizeof(uint32_t))
        return kith__fail(error, KITH_ERR_INPUT, "%s: is truncated in the table '%s'", r->path,
                          a->name);
    a->rows = (size_t)rows;
    a->at = kith__alloc(a->rows * a->cols, sizeof *a->at);
    if (!a->at)
        return kith__no_memory(error);
    return read_data(r, a->at, from, to, a->name, error);
}

kith_status kith__arrays_load(const char *path, kith__array *arrays, size_t count,
                              kith__note *notes, size_t note_count, bool required,
                              kith__watch *watch, kith_error *error)
{
    reading r = {.path = path, .in = kith__regular_open(path, false), .watch = watch};
    kith_status status = KITH_OK;

    if (!r.in)
        return kith__fail(error, KITH_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    for (size_t i = 0; i < count; i++)
        arrays[i].at = NULL;
    TRY(read_header(&r, required, error));
    for (size_t i = 0; i < count; i++)
        TRY(read_array(&r, &arrays[i], error));
    TRY(check_end(&r, error));
    read_notes(&r, notes, note_count);
cleanup:
    fclose(r.in);
    json_decref(r.header);
    for (size_t i = 0; status != KITH_OK && i < count; i++) {
        kith__free(arrays[i].at);
        arrays[i].at = NULL;
    }
    return status;
}
