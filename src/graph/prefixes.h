/* Prefixes of IRIs: those that a source declares, and a few that everybody knows. */
#ifndef KITH_GRAPH_PREFIXES_H
#define KITH_GRAPH_PREFIXES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct kith__prefix {
    size_t name, iri; /* where they begin in `bytes` */
} kith__prefix;

typedef struct kith__prefixes {
    kith__prefix *at;
    size_t count, capacity;
    char *bytes;
    size_t used, byte_capacity;
} kith__prefixes;

/* All zero is an empty list. */
void kith__prefixes_release(kith__prefixes *prefixes);
/* Declare a prefix, which may be empty. The first declaration of a prefix counts; one that cannot be
 * written in a line, or is too long, is left out. -1 where memory is short. */
int kith__prefixes_add(kith__prefixes *prefixes, const char *name, size_t name_length,
                       const char *iri, size_t length);
int kith__prefixes_copy(kith__prefixes *to, const kith__prefixes *from);

/* "wd:Q42" for its IRI, with the longest prefix that fits; 0 where none does or `size` is too small,
 * else the length. */
size_t kith__prefixes_shorten(char *text, size_t size, const kith__prefixes *prefixes,
                              const char *iri);
/* The IRI of "wd:Q42"; 0 where its prefix is not known or `size` is too small, else the length. */
size_t kith__prefixes_expand(char *iri, size_t size, const kith__prefixes *prefixes,
                             const char *text);

#endif
