#include "embed/tensors.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files.h"
#include "core/mem.h"

enum { HEADER_LIMIT = 1 << 24 };

static void tensor_name(char name[64], const kith__tensor_group *group, const kith__table *table)
{
    snprintf(name, 64, "%s%s", group->prefix, table->spec->name);
}

/* ---- saving ---- */

static json_t *header_with(const kith__note *notes, size_t count)
{
    json_t *header = json_object(), *metadata = json_object();

    for (size_t i = 0; i < count; i++)
        json_object_set_new(metadata, notes[i].key, json_string(notes[i].value));
    json_object_set_new(header, "__metadata__", metadata);
    return header;
}

/* A table of numbers of 4 bytes; returns where the next one begins. */
static json_int_t add_entry(json_t *header, const char *name, const char *type, size_t rows,
                            size_t cols, json_int_t used)
{
    json_int_t bytes = (json_int_t)(rows * cols * sizeof(uint32_t));

    json_object_set_new(header, name,
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
            used = add_entry(header, name, "F32", t->rows, t->cols, used);
        }
    return header;
}

/* The header is filled up with blanks, so that the data begins at a multiple of 8. */
static void write_header(FILE *out, const char *text)
{
    uint64_t length = strlen(text), padded = (length + 7) / 8 * 8;

    fwrite(&padded, sizeof padded, 1, out);
    fwrite(text, 1, length, out);
    fprintf(out, "%*s", (int)(padded - length), "");
}

static void write_tables(FILE *out, const kith__params *params)
{
    for (size_t i = 0; i < params->tables; i++) {
        const kith__table *t = &params->table[i];
        for (size_t r = 0; r < t->rows; r++)
            fwrite(kith__row(t, r), sizeof(float), t->cols, out);
    }
}

kith_status kith__tensors_save(const char *path, const kith__tensor_group *groups, size_t count,
                               const kith__note *notes, size_t note_count, kith_error *error)
{
    kith__new_file file = {0};
    json_t *header = header_of(groups, count, notes, note_count);
    char *text = header ? json_dumps(header, JSON_COMPACT) : NULL;
    kith_status status = KITH_OK;

    if (!text)
        TRY(kith__no_memory(error));
    TRY(kith__new_file_open(&file, path, error));
    write_header(file.stream, text);
    for (size_t g = 0; g < count; g++)
        write_tables(file.stream, groups[g].params);
    TRY(kith__new_file_commit(&file, error));
cleanup:
    kith__new_file_abandon(&file);
    free(text);
    json_decref(header);
    return status;
}

/* ---- loading ---- */

typedef struct {
    const char *path;
    FILE *in;
    json_t *header;
    uint64_t data_at, data_bytes;
} reading;

static kith_status damaged(const reading *r, kith_error *error, const char *what)
{
    return kith__fail(error, KITH_ERR_INPUT, "%s: %s, expected a safetensors file that kith wrote",
                      r->path, what);
}

static kith_status read_header(reading *r, kith_error *error)
{
    uint64_t length;
    char *text;
    kith_status status = KITH_OK;

    if (fread(&length, sizeof length, 1, r->in) != 1)
        return damaged(r, error, "is cut off in its first bytes");
    if (length < 2 || length > HEADER_LIMIT)
        return damaged(r, error, "has no header");
    text = malloc(length);
    if (!text)
        return kith__no_memory(error);
    if (fread(text, 1, length, r->in) != length)
        status = damaged(r, error, "is cut off in its header");
    else if (!(r->header = json_loadb(text, length, 0, NULL)) || !json_is_object(r->header))
        status = damaged(r, error, "has a header that is not JSON");
    free(text);
    r->data_at = length + sizeof length;
    if (status == KITH_OK && fseek(r->in, 0, SEEK_END) != 0)
        status = damaged(r, error, "cannot be read to its end");
    long end = ftell(r->in);
    if (status == KITH_OK && end < (long)r->data_at)
        status = damaged(r, error, "is cut off");
    r->data_bytes = (uint64_t)end - r->data_at;
    return status;
}

/* Rows were read in one go, without their padding: move them where they belong, the last one first. */
static void spread_rows(const kith__table *t)
{
    for (size_t i = t->rows; i-- > 0;) {
        memmove(kith__row(t, i), t->at + i * t->cols, t->cols * sizeof(float));
        memset(kith__row(t, i) + t->cols, 0, (t->stride - t->cols) * sizeof(float));
    }
}

static kith_status read_table(const reading *r, const char *name, const kith__table *t,
                              kith_error *error)
{
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
        return kith__fail(error, KITH_ERR_INPUT, "%s: is cut off in the table '%s'", r->path, name);
    if (fseek(r->in, (long)(r->data_at + (uint64_t)from), SEEK_SET) != 0)
        return damaged(r, error, "cannot be read");
    if (fread(t->at, sizeof(float), t->rows * t->cols, r->in) != t->rows * t->cols)
        return damaged(r, error, "is cut off");
    spread_rows(t);
    return KITH_OK;
}

/* A table too many means that the file belongs to another kind of model. */
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
                               kith__note *notes, size_t note_count, kith_error *error)
{
    reading r = {.path = path, .in = fopen(path, "re")};
    kith_status status = KITH_OK;

    if (!r.in)
        return kith__fail(error, KITH_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    TRY(read_header(&r, error));
    TRY(check_names(&r, groups, count, error));
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].params->tables; i++) {
            char name[64];
            tensor_name(name, &groups[g], &groups[g].params->table[i]);
            TRY(read_table(&r, name, &groups[g].params->table[i], error));
        }
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
        used = add_entry(header, arrays[i].name, "U32", arrays[i].rows, arrays[i].cols, used);
    return header;
}

kith_status kith__arrays_save(const char *path, const kith__array *arrays, size_t count,
                              const kith__note *notes, size_t note_count, kith_error *error)
{
    kith__new_file file = {0};
    json_t *header = array_header(arrays, count, notes, note_count);
    char *text = header ? json_dumps(header, JSON_COMPACT) : NULL;
    kith_status status = KITH_OK;

    if (!text)
        TRY(kith__no_memory(error));
    TRY(kith__new_file_open(&file, path, error));
    write_header(file.stream, text);
    for (size_t i = 0; i < count; i++)
        fwrite(arrays[i].at, sizeof(uint32_t), arrays[i].rows * arrays[i].cols, file.stream);
    TRY(kith__new_file_commit(&file, error));
cleanup:
    kith__new_file_abandon(&file);
    free(text);
    json_decref(header);
    return status;
}

static kith_status read_array(const reading *r, kith__array *a, kith_error *error)
{
    json_int_t rows, cols, from, to;
    const char *type;
    json_t *entry = json_object_get(r->header, a->name);

    if (!entry || json_unpack(entry, "{ss s[II] s[II]}", "dtype", &type, "shape", &rows, &cols,
                              "data_offsets", &from, &to) != 0)
        return kith__fail(error, KITH_ERR_INPUT, "%s: has no table '%s'", r->path, a->name);
    if (strcmp(type, "U32") != 0 || rows < 0 || cols != (json_int_t)a->cols)
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s: the table '%s' has %" PRId64 " columns of %s, expected %zu of U32",
                          r->path, a->name, (int64_t)cols, type, a->cols);
    if (from < 0 || to < from || (uint64_t)to > r->data_bytes ||
        (uint64_t)(to - from) != (uint64_t)rows * a->cols * sizeof(uint32_t))
        return kith__fail(error, KITH_ERR_INPUT, "%s: is cut off in the table '%s'", r->path,
                          a->name);
    a->rows = (size_t)rows;
    a->at = kith__alloc(a->rows * a->cols, sizeof *a->at);
    if (!a->at)
        return kith__no_memory(error);
    if (fseek(r->in, (long)(r->data_at + (uint64_t)from), SEEK_SET) != 0 ||
        fread(a->at, sizeof *a->at, a->rows * a->cols, r->in) != a->rows * a->cols)
        return damaged(r, error, "is cut off");
    return KITH_OK;
}

kith_status kith__arrays_load(const char *path, kith__array *arrays, size_t count,
                              kith__note *notes, size_t note_count, kith_error *error)
{
    reading r = {.path = path, .in = fopen(path, "re")};
    kith_status status = KITH_OK;

    if (!r.in)
        return kith__fail(error, KITH_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    for (size_t i = 0; i < count; i++)
        arrays[i].at = NULL;
    TRY(read_header(&r, error));
    for (size_t i = 0; i < count; i++)
        TRY(read_array(&r, &arrays[i], error));
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
