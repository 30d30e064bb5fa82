/* The readers of sources. To add one, write a file with its object and add a row here. */
#ifndef KITH_GRAPH_READ_READERS_H
#define KITH_GRAPH_READ_READERS_H

#include "graph/graph.h"
#include "graph/read/input.h"

typedef struct kith__reader {
    const char *name; /* shown to users as the kind of source; `read` may give more detail */
    /* For readers of folders: what such a folder contains, for users, and whether this is one. */
    const char *holds;
    bool (*is_folder)(const char *path);
    kith_status (*read_folder)(kith__loader *loader, const char *path);
    /* For readers of files: the endings of their names, without .gz or .zst, and, for names with no
     * known ending, whether the content is theirs. All facts go into train. */
    const char *const *endings;
    bool (*begins)(const char *text, size_t length);
    kith_status (*read_file)(kith__loader *loader, kith__input *input);
} kith__reader;

/* The first reader that recognises a source reads it. `columns` accepts every file, so it is
 * last. */
#define KITH__READERS(ROW) \
    ROW(openke) ROW(splits) ROW(wordnet) ROW(turtle) ROW(ntriples) ROW(columns)

#define KITH__DECLARE_READER(name) extern const kith__reader kith__reader_##name;
KITH__READERS(KITH__DECLARE_READER)
#undef KITH__DECLARE_READER

#endif
