/* The bytes of a file, decompressed if its first bytes are those of gzip or zstd. */
#ifndef KITH_GRAPH_READ_INPUT_H
#define KITH_GRAPH_READ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/stages.h"

typedef struct kith__input kith__input;

/* Fails for a folder, an unreadable file and an empty file. The watch, which may be NULL, counts
 * the bytes read; once it stops, reading fails with KITH_ERR_STOPPED. */
kith_status kith__input_open(kith__input **input, const char *path, kith__watch *watch,
                             kith_error *error);
void kith__input_close(kith__input *input);
const char *kith__input_path(const kith__input *input);

/* Read up to `size` bytes; *got is 0 only at the end. A truncated or damaged stream is an error. */
kith_status kith__input_read(size_t *got, kith__input *input, char *buffer, size_t size,
                             kith_error *error);

/* The first bytes of the content, at most a block, without consuming them. */
kith_status kith__input_peek(const char **text, size_t *length, kith__input *input,
                             kith_error *error);

/* An error, with how to convert it, if the content begins like UTF-16. */
kith_status kith__input_refuse_utf16(kith__input *input, kith_error *error);

/* For plain, seekable files: their size, and reading at an offset, from any thread.
 * kith__input_size is 0 for all other files. */
uint64_t kith__input_size(const kith__input *input);
kith_status kith__input_read_at(size_t *got, const kith__input *input, char *buffer, size_t size,
                                uint64_t place, kith_error *error);

/* Whole lines at a time. */
typedef struct kith__lines {
    kith__input *input;
    uint64_t place, end; /* the range still to read of a plain file; else unused */
    bool ranged;
    char *buffer;
    size_t capacity, kept, filled;
    bool ended;
} kith__lines;

/* All lines of an input, or those in a byte range that begins and ends at line starts. */
void kith__lines_init(kith__lines *lines, kith__input *input);
void kith__lines_init_range(kith__lines *lines, kith__input *input, uint64_t from, uint64_t to);
void kith__lines_release(kith__lines *lines);
/* The next block of lines, each with its '\n' except perhaps the last; *length is 0 at the end. The
 * block is valid until the next call. */
kith_status kith__lines_next(char **text, size_t *length, kith__lines *lines, kith_error *error);

#endif
