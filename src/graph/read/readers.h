/* The readers of sources. A new one is a file with its object and a row here. */
#ifndef KITH_GRAPH_READ_READERS_H
#define KITH_GRAPH_READ_READERS_H

#include "graph/graph.h"
#include "graph/read/input.h"

typedef struct kith__reader {
    const char *name; /* what a person is told that the source is; `read` may say more */
    /* Of readers of folders: what such a folder holds, for people, and whether this is one. */
    const char *holds;
    bool (*is_folder)(const char *path);
    kith_status (*read_folder)(kith__loader *loader, const char *path);
    /* Of readers of files: the endings of their names, without .gz or .zst, and for names that end in none
     * of any reader's whether the file begins as theirs do. All facts go into train. */
    const char *const *endings;
    bool (*begins)(const char *text, size_t length);
    kith_status (*read_file)(kith__loader *loader, kith__input *input);
} kith__reader;

/* The first that recognises a source reads it. `columns` takes every file, so it is the last. */
#define KITH__READERS(ROW) \
    ROW(openke) ROW(splits) ROW(wordnet) ROW(turtle) ROW(ntriples) ROW(columns)

#define KITH__DECLARE_READER(name) extern const kith__reader kith__reader_##name;
KITH__READERS(KITH__DECLARE_READER)
#undef KITH__DECLARE_READER

#endif
