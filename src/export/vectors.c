/* Exporting tables and vectors for other programs. */
#include <stdio.h>
#include <string.h>

#include "core/files.h"
#include "core/lists.h"
#include "core/mem.h"
#include "core/numbers.h"
#include "core/options.h"
#include "core/stages.h"
#include "model/model.h"

static kith_table describe(const kith__table *t)
{
    kith_rows of = t->spec->rows == KITH__ENTITIES    ? KITH_ROWS_ENTITIES
                   : t->spec->rows == KITH__RELATIONS ? KITH_ROWS_RELATIONS
                   : t->spec->rows == KITH__DIRECTED  ? KITH_ROWS_DIRECTED
                                                      : KITH_ROWS_OTHER;
    return (kith_table){t->spec->name, of, t->at, t->rows, t->cols, t->stride};
}

kith_status kith_model_tables(kith_tables **tables, const kith_model *model, kith_error *error)
{
    if (!tables || !model)
        return kith__null_argument(error, __func__);

    size_t count = model->params.tables;
    kith_tables *out = kith__calloc(1, sizeof *out);
    kith_table **at = kith__list_new(count, sizeof **at);

    if (!out || !at) {
        kith__free(out);
        kith__list_free(at);
        return kith__no_memory(error);
    }
    for (size_t i = 0; i < count; i++)
        *at[i] = describe(&model->params.table[i]);
    *out = (kith_tables){.at = (const kith_table *const *)at, .count = count};
    *tables = out;
    return KITH_OK;
}

void kith_tables_free(kith_tables *tables)
{
    if (tables)
        kith__list_free(tables->at);
    kith__free(tables);
}

/* ---- rows ---- */

/* What is written, and whether to continue. */
typedef struct {
    kith_vectors vectors;
    kith__watch *watch;
} writing;

static bool is_stopped(const writing *w)
{
    return kith__watch_add(w->watch, 1) != 0;
}

/* A name as one field: characters that would end the field or the line become `instead`. */
static void put_name(FILE *out, const char *name, const char *marks, int instead)
{
    for (; *name; name++)
        putc(strchr(marks, *name) ? instead : *name, out);
}

static void put_row(FILE *out, const kith_vectors *v, size_t row, char mark)
{
    for (size_t c = 0; c < v->columns; c++)
        fprintf(out, "%s%.9g", c ? (char[]){mark, '\0'} : "", v->at[row * v->stride + c]);
    putc('\n', out);
}

/* ---- one function per file ---- */

/* numpy's format 1.0: the header is padded so that the data begins at a multiple of 64. */
static void write_npy(FILE *out, const writing *w)
{
    const kith_vectors *v = &w->vectors;
    enum { ALIGNED = 64, HEAD = 10 };
    const uint16_t one = 1;
    char order = *(const char *)&one ? '<' : '>', header[256];
    int length = snprintf(header, sizeof header,
                          "{'descr': '%cf4', 'fortran_order': False, 'shape': (%zu, %zu), }", order,
                          v->rows, v->columns);
    int padded = (HEAD + length + 1 + ALIGNED - 1) / ALIGNED * ALIGNED - HEAD;

    fprintf(out, "\x93NUMPY%c%c%c%c%s%*s\n", 1, 0, padded & 0xff, padded >> 8, header,
            padded - length - 1, "");
    for (size_t r = 0; r < v->rows && !is_stopped(w); r++)
        fwrite(v->at + r * v->stride, sizeof *v->at, v->columns, out);
}

static void write_names(FILE *out, const writing *w)
{
    const kith_vectors *v = &w->vectors;

    for (size_t r = 0; r < v->rows && !is_stopped(w); r++) {
        put_name(out, v->names[r], "\t\n\r", ' ');
        if (v->labels) {
            putc('\t', out);
            put_name(out, v->labels[r], "\t\n\r", ' ');
        }
        putc('\n', out);
    }
}

/* Viewers read the first line as column names if, and only if, there are several columns. */
static void write_metadata(FILE *out, const writing *w)
{
    if (w->vectors.labels)
        fputs("name\tlabel\n", out);
    write_names(out, w);
}

static void write_vectors(FILE *out, const writing *w)
{
    for (size_t r = 0; r < w->vectors.rows && !is_stopped(w); r++)
        put_row(out, &w->vectors, r, '\t');
}

static void write_word2vec(FILE *out, const writing *w)
{
    const kith_vectors *v = &w->vectors;

    fprintf(out, "%zu %zu\n", v->rows, v->columns);
    for (size_t r = 0; r < v->rows && !is_stopped(w); r++) {
        if (v->names)
            put_name(out, v->names[r], " \t\n\r", '_');
        else
            fprintf(out, "%zu", r);
        putc(' ', out);
        put_row(out, v, r, ' ');
    }
}

static kith_status write_file(const writing *w, const char *stem, const char *ending,
                              void (*write)(FILE *, const writing *), kith_error *error)
{
    size_t length = strlen(stem) + strlen(ending) + 1;
    char *path = kith__alloc(length, 1);
    kith__new_file file = {0};
    kith_status status = KITH_OK;

    if (!path)
        return kith__no_memory(error);
    snprintf(path, length, "%s%s", stem, ending);
    TRY(kith__watch_begin(w->watch, "writing vectors", w->vectors.rows, error));
    TRY(kith__new_file_open(&file, path, error));
    locale_t before = kith__plain_numbers();
    write(file.stream, w);
    kith__usual_numbers(before);
    TRY(kith__watch_status(w->watch, error));
    TRY(kith__new_file_commit(&file, error));
cleanup:
    kith__new_file_abandon(&file);
    kith__free(path);
    return status;
}

/* The caller's memory cannot be checked, but impossible sizes are refused. */
static kith_status check_vectors(const kith_vectors *v, kith_error *error)
{
    size_t count;

    if (v->rows > 0 && (!v->at || v->columns == 0))
        return kith__fail(error, KITH_ERR_ARGUMENT, "%zu vectors have no dimensions", v->rows);
    if (v->rows > 1 && v->stride < v->columns)
        return kith__fail(
            error, KITH_ERR_ARGUMENT,
            "the stride of vectors of %zu numbers is %zu, expected at least their length",
            v->columns, v->stride);
    if (__builtin_mul_overflow(v->rows, v->stride > v->columns ? v->stride : v->columns, &count) ||
        count > PTRDIFF_MAX / sizeof *v->at)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "%zu vectors of %zu numbers do not fit in memory", v->rows, v->columns);
    for (size_t i = 0; i < v->rows; i++)
        if ((v->names && !v->names[i]) || (v->labels && !v->labels[i]))
            return kith__fail(error, KITH_ERR_ARGUMENT, "the name of vector %zu is NULL", i);
    return KITH_OK;
}

static kith_status save(const writing *w, const char *stem, kith_vector_format format,
                        kith_error *error)
{
    kith_status status = KITH_OK;

    TRY(check_vectors(&w->vectors, error));
    switch (format) {
    case KITH_VECTORS_NPY:
        TRY(write_file(w, stem, ".npy", write_npy, error));
        if (w->vectors.names)
            TRY(write_file(w, stem, ".names.tsv", write_names, error));
        break;
    case KITH_VECTORS_WORD2VEC:
        TRY(write_file(w, stem, ".txt", write_word2vec, error));
        break;
    case KITH_VECTORS_TSV:
        TRY(write_file(w, stem, ".vectors.tsv", write_vectors, error));
        if (w->vectors.names)
            TRY(write_file(w, stem, ".metadata.tsv", write_metadata, error));
        break;
    default:
        status = kith__fail(error, KITH_ERR_ARGUMENT, "there is no vector format %d", (int)format);
    }
cleanup:
    return status;
}

void(kith_vectors_init)(kith_vectors *vectors, size_t size)
{
    const kith_vectors defaults = {0};

    kith__options_give(vectors, size, &defaults, sizeof defaults);
}

kith_status kith_vectors_save(const kith_vectors *vectors, const char *stem,
                              kith_vector_format format, const kith_work_options *given,
                              kith_error *error)
{
    if (!vectors || !stem)
        return kith__null_argument(error, __func__);

    kith_work_options options = {0};
    kith__watch watch;
    writing w = {.watch = &watch};
    kith_status status =
        kith__options_copy(&options, sizeof options, sizeof options, given, error);

    kith__watch_init(&watch, options.watch, options.context);
    TRY(status);
    TRY(kith__options_copy(&w.vectors, sizeof w.vectors, sizeof w.vectors, vectors, error));
    TRY(save(&w, stem, format, error));
cleanup:
    kith__watch_release(&watch);
    return status;
}
