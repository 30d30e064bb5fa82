/* How deep the brackets of a Turtle file are nested, byte by byte. serd's reader calls itself
 * for each level, so that a file of some hundred kilobytes could use up the stack. */
#ifndef KITH_GRAPH_READ_NESTING_H
#define KITH_GRAPH_READ_NESTING_H

#include <stdbool.h>

enum { KITH__MOST_NESTED = 128 };

/* All zero: at the beginning of a statement. */
typedef struct kith__nesting {
    enum {
        KITH__IN_CODE,
        KITH__IN_COMMENT,
        KITH__IN_IRI,
        KITH__IN_NAME_ESCAPE, /* behind the \ of a prefixed name */
        KITH__AFTER_QUOTE,
        KITH__AFTER_TWO_QUOTES,
        KITH__IN_STRING,
        KITH__IN_STRING_ESCAPE,
        KITH__IN_LONG_STRING,
        KITH__IN_LONG_STRING_ESCAPE
    } state;
    char quote;
    unsigned quotes; /* met one after the other in a long string */
    unsigned depth;
} kith__nesting;

/* Take in the next byte; false where it is a bracket too many. */
bool kith__nesting_add(kith__nesting *nesting, char byte);

#endif
