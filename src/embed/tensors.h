/* Tables in a safetensors file: a JSON header and raw rows of 32-bit floats. The header's metadata
 * holds "checksum", the sum of the whole file with '0' for those digits (core/checksum.h). */
#ifndef KITH_EMBED_TENSORS_H
#define KITH_EMBED_TENSORS_H

#include "core/stages.h"
#include "embed/params.h"

/* The content of one file. Tensors are named PREFIX + table name. */
typedef struct kith__tensor_group {
    const char *prefix;
    const kith__params *params;
} kith__tensor_group;

typedef struct kith__note {
    char key[32], value[64];
} kith__note;

/* Writes a temporary file, syncs and renames it. */
kith_status kith__tensors_save(const char *path, const kith__tensor_group *groups, size_t count,
                               const kith__note *notes, size_t note_count, kith_error *error);
/* Fill the groups' tables, which must all exist with the same shapes and nothing else, and the
 * values of notes (empty if the file lacks them). A wrong checksum is an error; with `required`, a
 * missing one is too. The watch may stop it; NULL: none. */
kith_status kith__tensors_load(const char *path, const kith__tensor_group *groups, size_t count,
                               kith__note *notes, size_t note_count, bool required,
                               kith__watch *watch, kith_error *error);

/* A table of whole numbers. */
typedef struct kith__array {
    const char *name;
    uint32_t *at;
    size_t rows, cols;
    bool optional; /* when reading: if the file lacks it, it has no rows */
} kith__array;

kith_status kith__arrays_save(const char *path, const kith__array *arrays, size_t count,
                              const kith__note *notes, size_t note_count, kith_error *error);
/* Read arrays whose names and cols are given; `at` is to be freed with kith__free. */
kith_status kith__arrays_load(const char *path, kith__array *arrays, size_t count,
                              kith__note *notes, size_t note_count, bool required,
                              kith__watch *watch, kith_error *error);

#endif
