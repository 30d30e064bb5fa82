/* The nesting depth of brackets in a Turtle file, byte by byte. serd's reader recurses for each
 * level, so a file of some hundred kilobytes could overflow the stack. */
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
        KITH__IN_NAME_ESCAPE, /* after the \ of a prefixed name */
        KITH__AFTER_QUOTE,
        KITH__AFTER_TWO_QUOTES,
        KITH__IN_STRING,
        KITH__IN_STRING_ESCAPE,
        KITH__IN_LONG_STRING,
        KITH__IN_LONG_STRING_ESCAPE
    } state;
    char quote;
    unsigned quotes; /* consecutive quotes in a long string */
    unsigned depth;
} kith__nesting;

/* Process the next byte; false if it is one bracket too many. */
bool kith__nesting_add(kith__nesting *nesting, char byte);

#endif
