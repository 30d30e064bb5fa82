#include "core/json.h"

#include <stdbool.h>
#include <string.h>

#include "core/mem.h"

static void check(json_t **container, int failed)
{
    if (failed) {
        json_decref(*container);
        *container = NULL;
    }
}

void kith__json_set(json_t **object, const char *key, json_t *value)
{
    check(object, json_object_set_new(*object, key, value));
}

void kith__json_append(json_t **array, json_t *value)
{
    check(array, json_array_append_new(*array, value));
}

typedef struct {
    char *at;
    size_t length, capacity;
    bool failed;
} text;

static int add_text(const char *bytes, size_t count, void *context)
{
    text *t = context;

    if (t->failed || kith__reserve(&t->at, &t->capacity, t->length + count + 1, 1))
        t->failed = true;
    if (t->failed)
        return -1;
    memcpy(t->at + t->length, bytes, count);
    t->length += count;
    t->at[t->length] = '\0';
    return 0;
}

char *kith__json_text(const json_t *value, size_t flags)
{
    text t = {.at = NULL};

    if (json_dump_callback(value, add_text, &t, flags) == 0 && !t.failed)
        return t.at;
    kith__free(t.at);
    return NULL;
}
