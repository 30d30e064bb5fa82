#include "edits.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

/* ---- folders ---- */

static char *read_whole(const char *path, size_t *length)
{
    struct stat info;
    FILE *file = fopen(path, "rb");

    require(file && fstat(fileno(file), &info) == 0, "a file of the run can be read");
    *length = (size_t)info.st_size;
    char *bytes = malloc(*length + 1);
    require(bytes && fread(bytes, 1, *length, file) == *length, "a file of the run can be read");
    fclose(file);
    return bytes;
}

static void read_inner(stored_folder *to, const char *path, const char *prefix)
{
    DIR *entries = opendir(path);
    char full[512], name[300];
    struct stat info;

    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(full, sizeof full, "%.200s/%.255s", path, entry->d_name);
        snprintf(name, sizeof name, "%.40s%s", prefix, entry->d_name);
        if (stat(full, &info) == 0 && S_ISDIR(info.st_mode)) {
            strcat(name, "/");
            read_inner(to, full, name);
        } else if (to->count < MOST_FILES) {
            stored_file *f = &to->at[to->count++];
            snprintf(f->name, sizeof f->name, "%.63s", name);
            f->bytes = read_whole(full, &f->length);
        }
    }
    if (entries)
        closedir(entries);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const stored_file *)a)->name, ((const stored_file *)b)->name);
}

void folder_read(stored_folder *to, const char *path)
{
    memset(to, 0, sizeof *to);
    read_inner(to, path, "");
    qsort(to->at, to->count, sizeof *to->at, by_name);
}

void folder_write(const stored_folder *from, const char *path, bool all)
{
    char full[512];

    for (size_t i = 0; i < from->count; i++) {
        const stored_file *f = &from->at[i];
        if (!all && !f->edited)
            continue;
        snprintf(full, sizeof full, "%.200s/%s", path, f->name);
        if (f->gone)
            unlink(full);
        else
            write_file(full, f->bytes, f->length);
    }
}

void folder_copy(stored_folder *to, const stored_folder *from)
{
    *to = *from;
    for (size_t i = 0; i < to->count; i++) {
        to->at[i].bytes = malloc(from->at[i].length + 1);
        require(to->at[i].bytes != NULL, "there is memory for a copy");
        memcpy(to->at[i].bytes, from->at[i].bytes, from->at[i].length);
    }
}

void folder_release(stored_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        free(folder->at[i].bytes);
    folder->count = 0;
}

stored_file *folder_find(stored_folder *folder, const char *name)
{
    for (size_t i = 0; i < folder->count; i++)
        if (strcmp(folder->at[i].name, name) == 0)
            return &folder->at[i];
    return NULL;
}

/* ---- edits ---- */

/* Replace `cut` bytes by `count` others. */
static void splice(stored_file *f, size_t at, size_t cut, const char *bytes, size_t count)
{
    cut = cut > f->length - at ? f->length - at : cut;
    char *made = malloc(f->length - cut + count + 1);

    require(made != NULL, "there is memory for an edit");
    memcpy(made, f->bytes, at);
    memcpy(made + at, bytes, count);
    memcpy(made + at + count, f->bytes + at + cut, f->length - at - cut);
    free(f->bytes);
    f->bytes = made;
    f->length += count - cut;
    f->edited = true;
}

static size_t from_hex(char *bytes, size_t most, const char *text)
{
    size_t count = 0;
    unsigned value;

    for (; count < most && text[0] && text[1] && sscanf(text, "%2x", &value) == 1; text += 2)
        bytes[count++] = (char)value;
    return count;
}

static void say(stored_file *f, char *text)
{
    char *new = strchr(text, '|');

    if (!new || new == text)
        return;
    *new++ = '\0';
    char *found = memmem(f->bytes, f->length, text, strlen(text));
    if (found)
        splice(f, (size_t)(found - f->bytes), strlen(text), new, strlen(new));
}

bool edit_apply(stored_folder *folder, char *line)
{
    const char *name = strsep(&line, " "), *what = strsep(&line, " ");
    stored_file *f = folder_find(folder, name);
    char bytes[256];

    if (!f || !what || f->gone)
        return false;
    if (strcmp(what, "delete") == 0)
        return f->gone = f->edited = true;
    if (!line)
        return false;
    if (strcmp(what, "say") == 0) {
        say(f, line);
        return true;
    }
    size_t at = strtoull(line, &line, 10) % (f->length + 1);
    line += *line == ' ';
    size_t count = from_hex(bytes, sizeof bytes, line);
    if (strcmp(what, "set") == 0)
        splice(f, at, count, bytes, count);
    else if (strcmp(what, "insert") == 0)
        splice(f, at, 0, bytes, count);
    else if (strcmp(what, "cut") == 0)
        splice(f, at, strtoull(line, NULL, 10), "", 0);
    else if (strcmp(what, "end") == 0)
        splice(f, at, f->length, "", 0);
    else
        return false;
    return true;
}

/* ---- random edits ---- */

uint64_t draw(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    return *random ^= *random << 17;
}

/* Bytes that often matter: numbers at the ends of ranges, and those close to the old value. */
static void draw_bytes(char *hex, const stored_file *f, size_t at, uint64_t *random)
{
    static const size_t widths[] = {1, 1, 2, 4, 8};
    size_t width = widths[draw(random) % 5];
    uint64_t was = 0;

    if (at < f->length)
        memcpy(&was, f->bytes + at, f->length - at < width ? f->length - at : width);
    const uint64_t values[] = {0, UINT64_MAX, 1, was + 1, was - 1, was * 2, was ^ 8, draw(random),
                               INT64_MAX, UINT32_MAX, 0x7ff0000000000000, 0x7fc000007f800000};
    uint64_t value = values[draw(random) % (sizeof values / sizeof *values)];
    for (size_t i = 0; i < width; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned)(value >> 8 * i & 255));
}

/* Replace a number in a JSON text by another. */
static bool draw_number(char *line, size_t size, const stored_file *f, size_t at, uint64_t *random)
{
    static const char *const numbers[] = {"0", "1", "-1", "1e308", "1e999", "4294967296", "0.5",
                                          "18446744073709551616", "null", "\"x\"", "[]", "{}"};
    const char *bytes = f->bytes;
    size_t end;

    while (at < f->length && !(bytes[at] >= '0' && bytes[at] <= '9'))
        at++;
    for (end = at; end < f->length && strchr("0123456789.eE+-", bytes[end]) && bytes[end]; end++)
        ;
    if (end == at || end - at > 40)
        return false;
    snprintf(line, size, "%s say %.*s|%s", f->name, (int)(end - at), bytes + at,
             numbers[draw(random) % (sizeof numbers / sizeof *numbers)]);
    return true;
}

void edit_draw(char *line, size_t size, const stored_folder *folder, uint64_t *random)
{
    const stored_file *f = &folder->at[draw(random) % folder->count];
    size_t near = f->length < 1024 || draw(random) % 2 ? f->length : 1024;
    size_t at = draw(random) % (near + 1), kind = draw(random) % 16;
    char hex[32] = "";

    draw_bytes(hex, f, at, random);
    if (kind < 5 && draw_number(line, size, f, at, random))
        return;
    if (kind == 5)
        snprintf(line, size, "%s delete", f->name);
    else if (kind == 6)
        snprintf(line, size, "%s end %zu", f->name, at);
    else if (kind < 9)
        snprintf(line, size, "%s cut %zu %zu", f->name, at, (size_t)(draw(random) % 64));
    else if (kind < 11)
        snprintf(line, size, "%s insert %zu %s", f->name, at, hex);
    else
        snprintf(line, size, "%s set %zu %s", f->name, at, hex);
}
