/* Files and folders that are there whole or not at all: written beside, synced, renamed. */
#ifndef KITH_CORE_FILES_H
#define KITH_CORE_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "core/status.h"

/* A file being written at "PATH.tmp-ID", with the thread's id; it becomes PATH on commit. Where
 * PATH is a pipe or a device it is written to at once. */
typedef struct kith__new_file {
    FILE *stream;
    char *path, *temporary; /* NULL where there is none */
} kith__new_file;

kith_status kith__new_file_open(kith__new_file *file, const char *path, kith_error *error);
/* Flush, sync, rename. On failure nothing is left behind and an old file stays as it was. */
kith_status kith__new_file_commit(kith__new_file *file, kith_error *error);
/* Give up; does nothing after a commit. */
void kith__new_file_abandon(kith__new_file *file);

/* Make the entries of a folder durable. */
kith_status kith__sync_folder(const char *path, kith_error *error);

/* A name beside `path` for work in progress, to be freed; NULL where memory is short. */
char *kith__name_beside(const char *path);

/* Put a finished folder in the place of `path`, which may be missing or empty; with `replace` what
 * is there is exchanged in one step, and left at `folder`. */
kith_status kith__place_folder(const char *folder, const char *path, bool replace,
                               kith_error *error);

/* Remove what was being written in a folder by a process that was killed. */
void kith__remove_leftovers(const char *path);
/* Remove a folder and the plain files in it; other things in it are left alone. */
void kith__remove_folder(const char *path);

#endif
