/* What the fuzz targets share. A target is one file that defines LLVMFuzzerTestOneInput; libFuzzer
 * runs it with inputs that it makes up (`make fuzz`), replay.c with those of corpus/ (`make test`).
 *
 * A target whose source is a folder reads its input as an archive: a line "=== NAME" begins a file. */
#ifndef KITH_FUZZ_FUZZ_H
#define KITH_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <kith/kith.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A folder of this process, emptied; in memory where the system has such a place. */
const char *scratch_folder(void);
/* The same folder as it is. */
const char *scratch_folder_kept(void);
/* "FOLDER/NAME" in a buffer of this process, valid until the next call. */
const char *scratch_path(const char *name);
/* Make a folder of that name in it. */
void scratch_keep_folder(const char *name);
void write_file(const char *path, const void *bytes, size_t length);
/* The same for an input; one that begins with a form feed is repeated until the file is so large that
 * it is read in several pieces. */
void write_input(const char *path, const uint8_t *data, size_t size);
/* Unpack an archive into the scratch folder. */
void unpack(const uint8_t *data, size_t size);

/* Open a source strictly and with bad lines skipped, on one and on two threads. What opens must be
 * consistent: every id of a fact has a name, neighbourhoods hold each fact of train twice, and the
 * number of threads makes no difference. Aborts where that does not hold. */
void try_source(const char *path);
/* The same with columns chosen, as kith_open_options has them; NULL: found out. */
void try_columns(const char *path, const char *columns);

/* Abort with a line that says why. */
void require(int condition, const char *what);

#endif
