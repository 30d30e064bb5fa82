/* What the fuzz targets share. A target is one file that defines LLVMFuzzerTestOneInput; libFuzzer
 * runs it with inputs that it makes up (`make fuzz`), replay.c with those of corpus/ (`make test`).
 * A target whose source is a folder reads its input as an archive: a line "=== NAME" begins a
 * file. */
#ifndef KITH_FUZZ_FUZZ_H
#define KITH_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <kith/kith.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An empty folder of this process, in memory if possible. */
const char *scratch_folder(void);
/* The same folder without emptying it. */
const char *scratch_folder_kept(void);
/* "FOLDER/NAME" in a buffer of this process, valid until the next call. */
const char *scratch_path(const char *name);
/* Make a folder of that name in the scratch folder. */
void scratch_keep_folder(const char *name);
void write_file(const char *path, const void *bytes, size_t length);
/* Write an input to a file; an input that begins with a form feed is repeated until the file is
 * large enough to be read in several pieces. */
void write_input(const char *path, const uint8_t *data, size_t size);
/* Unpack an archive into the scratch folder. */
void unpack(const uint8_t *data, size_t size);

/* Open a source strictly and with bad lines skipped, on one and on two threads. A graph that opens
 * must be consistent: every id of a fact has a name, neighbourhoods hold each fact of train twice,
 * and the number of threads makes no difference. Aborts otherwise. */
void try_source(const char *path);
/* The same with chosen columns, as in kith_open_options; NULL: detect them. */
void try_columns(const char *path, const char *columns);

/* Abort with a message that says what is violated. */
void require(int condition, const char *what);

#endif
