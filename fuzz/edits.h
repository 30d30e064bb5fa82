/* Files of a folder in memory, and lists of edits to them as text, one per line:
 *   FILE set AT HEX       overwrite bytes          FILE insert AT HEX
 *   FILE cut AT COUNT     take bytes out           FILE end AT      cut the file off there
 *   FILE say OLD|NEW      replace the first OLD    FILE delete
 * AT counts from 0 and wraps around at the file's end, so every number is a place. */
#ifndef KITH_FUZZ_EDITS_H
#define KITH_FUZZ_EDITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    char name[64]; /* with its folder, such as graph/train */
    char *bytes;
    size_t length;
    bool gone, edited;
} stored_file;

enum { MOST_FILES = 32, MOST_EDITS = 24 };

typedef struct {
    stored_file at[MOST_FILES];
    size_t count;
} stored_folder;

/* Read all regular files of a folder and of its subfolders. */
void folder_read(stored_folder *to, const char *path);
/* Write the edited files, or all. */
void folder_write(const stored_folder *from, const char *path, bool all);
void folder_copy(stored_folder *to, const stored_folder *from);
void folder_release(stored_folder *folder);
stored_file *folder_find(stored_folder *folder, const char *name);

/* Apply one line; returns whether it was an edit. */
bool edit_apply(stored_folder *folder, char *line);
/* A random line that edits one of the files. */
void edit_draw(char *line, size_t size, const stored_folder *folder, uint64_t *random);
/* The next random number of a state. */
uint64_t draw(uint64_t *random);

#endif
