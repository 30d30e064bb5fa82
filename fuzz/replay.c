/* Run a fuzz target over the files of its corpus: REPLAY FILE|FOLDER... Prints TAP, one line per
 * file; a crash ends the program, so the offending file's line is missing. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t size = 0, capacity = 0;

    if (!file) {
        printf("not ok - %s cannot be read\n", path);
        return;
    }
    for (size_t got = 1; got > 0; size += got) {
        if (size == capacity) {
            capacity = capacity ? 2 * capacity : 4096;
            bytes = realloc(bytes, capacity);
            if (!bytes)
                abort();
        }
        got = fread(bytes + size, 1, capacity - size, file);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    printf("ok - %s\n", path);
    fflush(stdout);
}

static void replay(const char *path)
{
    struct stat info;
    struct dirent *entry;
    char *names[4096], full[1024];
    size_t count = 0;
    DIR *folder;

    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        replay_file(path);
        return;
    }
    folder = opendir(path);
    while (folder && count < 4096 && (entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            names[count++] = strdup(entry->d_name);
    if (folder)
        closedir(folder);
    qsort(names, count, sizeof *names, compare);
    for (size_t i = 0; i < count; i++) {
        snprintf(full, sizeof full, "%s/%s", path, names[i]);
        replay_file(full);
        free(names[i]);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    return 0;
}
