/* Files and folders that are there whole or not at all: written beside, synced, renamed. */
#ifndef KITH_CORE_FILES_H
#define KITH_CORE_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "core/status.h"

/* What is being written stands beside its place as "PATH.tmp-" and twelve hexadecimal digits
 * drawn at random, locked (flock) by whoever writes it. What is not locked was left by a process
 * that was killed, and the next one to write to PATH removes it. */

/* A file being written; it becomes PATH on commit. Where PATH is a pipe or a device it is
 * written to at once. */
typedef struct kith__new_file {
    FILE *stream;
    char *path, *temporary; /* NULL where there is none */
} kith__new_file;

kith_status kith__new_file_open(kith__new_file *file, const char *path, kith_error *error);
/* The same for a file of kith's own, in a folder that may come from a stranger: whatever has the name,
 * a link or a pipe too, is replaced and not written to. */
kith_status kith__new_file_replace(kith__new_file *file, const char *path, kith_error *error);
/* Flush, sync, rename. On failure nothing is left behind and an old file stays as it was. */
kith_status kith__new_file_commit(kith__new_file *file, kith_error *error);
/* Give up; does nothing after a commit. */
void kith__new_file_abandon(kith__new_file *file);

/* A file in a folder that may come from a stranger, to read or to add lines to; NULL and errno where
 * that fails. What is no regular file is refused, as a pipe would be waited for without end, and who
 * adds lines follows no link. */
FILE *kith__regular_open(const char *path, bool append);

/* Make the entries of a folder durable. */
kith_status kith__sync_folder(const char *path, kith_error *error);

/* A folder being written at `temporary`; it becomes PATH on commit. */
typedef struct kith__new_folder {
    char *path, *temporary;
    int lock;
} kith__new_folder;

kith_status kith__new_folder_open(kith__new_folder *folder, const char *path, kith_error *error);
/* Put it in its place, which must be missing or empty; with `replace` what is there is exchanged
 * in one step, then removed. On failure what was there stays as it was. */
kith_status kith__new_folder_commit(kith__new_folder *folder, bool replace, kith_error *error);
/* Give up and remove it; does nothing after a commit, or where all is zero. */
void kith__new_folder_abandon(kith__new_folder *folder);

/* Remove what was being written in a folder by processes that were killed, and nothing else. */
void kith__remove_leftovers(const char *path);
/* Remove a folder and the plain files in it; other things in it are left alone. */
void kith__remove_folder(const char *path);

#endif
