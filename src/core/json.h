/* Building JSON that is whole. When memory runs out, or a number is not finite, the container
 * becomes NULL, and stays NULL in later calls. */
#ifndef KITH_CORE_JSON_H
#define KITH_CORE_JSON_H

#include <jansson.h>

/* Add a member or an element, taking ownership of the value. */
void kith__json_set(json_t **object, const char *key, json_t *value);
void kith__json_append(json_t **array, json_t *value);

/* The text of a value, to be freed with kith__free; NULL if out of memory. json_dumps of
 * Jansson 2.14 leaves out keys for which it finds no memory. */
char *kith__json_text(const json_t *value, size_t flags);

#endif
