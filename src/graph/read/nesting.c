#include "graph/read/nesting.h"

static bool add_to_code(kith__nesting *n, char byte)
{
    switch (byte) {
    case '#':
        n->state = KITH__IN_COMMENT;
        break;
    case '<':
        n->state = KITH__IN_IRI;
        break;
    case '\\':
        n->state = KITH__IN_NAME_ESCAPE;
        break;
    case '"':
    case '\'':
        n->state = KITH__AFTER_QUOTE;
        n->quote = byte;
        break;
    case '[':
    case '(':
        return ++n->depth <= KITH__MOST_NESTED;
    case ']':
    case ')':
        n->depth -= n->depth > 0;
        break;
    default:
        break;
    }
    return true;
}

static void add_to_string(kith__nesting *n, char byte)
{
    n->state = byte == '\\'       ? KITH__IN_STRING_ESCAPE
               : byte == n->quote ? KITH__IN_CODE
                                  : KITH__IN_STRING;
}

static void add_to_long_string(kith__nesting *n, char byte)
{
    n->quotes = byte == n->quote ? n->quotes + 1 : 0;
    n->state = byte == '\\'     ? KITH__IN_LONG_STRING_ESCAPE
               : n->quotes == 3 ? KITH__IN_CODE
                                : KITH__IN_LONG_STRING;
}

bool kith__nesting_add(kith__nesting *n, char byte)
{
    switch (n->state) {
    case KITH__IN_CODE:
        return add_to_code(n, byte);
    case KITH__IN_COMMENT:
        if (byte == '\n' || byte == '\r')
            n->state = KITH__IN_CODE;
        break;
    case KITH__IN_IRI:
        if (byte == '>')
            n->state = KITH__IN_CODE;
        break;
    case KITH__IN_NAME_ESCAPE:
        n->state = KITH__IN_CODE;
        break;
    case KITH__AFTER_QUOTE:
        if (byte == n->quote)
            n->state = KITH__AFTER_TWO_QUOTES;
        else
            add_to_string(n, byte);
        break;
    case KITH__AFTER_TWO_QUOTES: /* an empty string, or the beginning of a long one */
        n->quotes = 0;
        n->state = byte == n->quote ? KITH__IN_LONG_STRING : KITH__IN_CODE;
        return byte == n->quote || add_to_code(n, byte);
    case KITH__IN_STRING:
        add_to_string(n, byte);
        break;
    case KITH__IN_STRING_ESCAPE:
        n->state = KITH__IN_STRING;
        break;
    case KITH__IN_LONG_STRING:
        add_to_long_string(n, byte);
        break;
    case KITH__IN_LONG_STRING_ESCAPE:
        n->quotes = 0;
        n->state = KITH__IN_LONG_STRING;
        break;
    }
    return true;
}
