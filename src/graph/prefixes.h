/* Prefixes of IRIs: those that a source declares, and some well-known ones. */
#ifndef KITH_GRAPH_PREFIXES_H
#define KITH_GRAPH_PREFIXES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct kith__prefix {
    size_t name, iri; /* offsets in `bytes` */
} kith__prefix;

typedef struct kith__prefixes {
    kith__prefix *at;
    size_t count, capacity;
    char *bytes;
    size_t used, byte_capacity;
} kith__prefixes;

/* All zero is an empty list. */
void kith__prefixes_release(kith__prefixes *prefixes);
/* Declare a prefix, which may be empty. The first declaration of a prefix counts; a declaration
 * that does not fit on a line, or is too long, is ignored. -1 if out of memory. */
int kith__prefixes_add(kith__prefixes *prefixes, const char *name, size_t name_length,
                       const char *iri, size_t length);
int kith__prefixes_copy(kith__prefixes *to, const kith__prefixes *from);

/* Writes "wd:Q42" for its IRI, using the longest matching prefix; returns the length, or 0 if no
 * prefix matches or `size` is too small. */
size_t kith__prefixes_shorten(char *text, size_t size, const kith__prefixes *prefixes,
                              const char *iri);
/* Writes the IRI of "wd:Q42"; returns the length, or 0 if the prefix is unknown or `size` is too
 * small. */
size_t kith__prefixes_expand(char *iri, size_t size, const kith__prefixes *prefixes,
                             const char *text);

#endif
