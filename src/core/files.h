/* Files and folders that appear whole or not at all: written under a temporary name, synced,
 * renamed. */
#ifndef KITH_CORE_FILES_H
#define KITH_CORE_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "core/status.h"

/* A file or folder that is being written is named "PATH.tmp-" plus twelve random hexadecimal
 * digits, and its writer locks it (flock). One that is not locked was left by a killed process; the
 * next process that writes to PATH removes it. */

/* A file being written; commit renames it to PATH, or to what PATH links to. A pipe, a device and
 * the file that stdout or stderr goes to are written to directly. */
typedef struct kith__new_file {
    FILE *stream;
    char *path, *temporary; /* NULL if there is none */
} kith__new_file;

kith_status kith__new_file_open(kith__new_file *file, const char *path, kith_error *error);
/* The same for kith's own files in an untrusted folder: replaces what has the name, even a link or
 * a pipe, and never writes to it. */
kith_status kith__new_file_replace(kith__new_file *file, const char *path, kith_error *error);
/* Flush, sync, rename. On failure nothing is left behind and an existing file stays unchanged. */
kith_status kith__new_file_commit(kith__new_file *file, kith_error *error);
/* Remove the temporary file; does nothing after a commit. */
void kith__new_file_abandon(kith__new_file *file);

/* Open a file in an untrusted folder, to read it or to append lines; NULL and errno on failure.
 * Anything but a regular file is refused, because opening a pipe could block forever. Symbolic
 * links are not followed when lines are appended. */
FILE *kith__regular_open(const char *path, bool append);

/* Make the entries of a folder durable. */
kith_status kith__sync_folder(const char *path, kith_error *error);

/* A folder that is being written at `temporary`; commit renames it to PATH. */
typedef struct kith__new_folder {
    char *path, *temporary;
    int lock;
} kith__new_folder;

kith_status kith__new_folder_open(kith__new_folder *folder, const char *path, kith_error *error);
/* Move the folder to PATH, which must be missing or empty; with `replace` an existing folder is
 * exchanged in one step, then removed. On failure an existing folder stays unchanged. */
kith_status kith__new_folder_commit(kith__new_folder *folder, bool replace, kith_error *error);
/* Remove the temporary folder; does nothing after a commit, or on a zeroed struct. */
void kith__new_folder_abandon(kith__new_folder *folder);

/* Remove the temporary files and folders that killed processes left in a folder, and nothing
 * else. */
void kith__remove_leftovers(const char *path);
/* Remove a folder and the plain files in it; anything else in it is left alone. */
void kith__remove_folder(const char *path);

#endif
