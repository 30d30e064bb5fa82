#include "run/json_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checksum.h"
#include "core/files.h"
#include "core/json.h"
#include "core/mem.h"
#include "graph/graph.h"

enum { LONGEST = 1 << 28 };

/* ---- writing ---- */

/* The checksum is the first member, so that it does not interrupt the rest for a reader. */
static json_t *with_checksum(json_t *object)
{
    json_t *whole = json_object();

    if (!object || json_object_set_new(whole, "checksum", json_string("0000000000000000")) != 0 ||
        json_object_update(whole, object) != 0) {
        json_decref(whole);
        return NULL;
    }
    return whole;
}

/* Fill in the checksum. It includes the line end of the file. */
static void seal(char *text)
{
    size_t length = strlen(text);
    char *digits = kith__checksum_digits(text, length);
    kith__checksum sum;

    kith__checksum_init(&sum);
    kith__checksum_add(&sum, text, length);
    kith__checksum_add(&sum, "\n", 1);
    if (digits)
        kith__checksum_print(digits, kith__checksum_value(&sum));
}

kith_status kith__json_save(const char *folder, const char *name, json_t *object, kith_error *error)
{
    json_t *whole = with_checksum(object);
    char *text = whole ? kith__json_text(whole, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;

    if (text)
        seal(text);
    kith_status status = kith__write_text(folder, name, text, error);
    kith__free(text);
    json_decref(whole);
    json_decref(object);
    return status;
}

/* ---- reading ---- */

static kith_status read_all(char **text, size_t *length, const char *path, kith_error *error)
{
    FILE *in = kith__regular_open(path, false);
    size_t capacity = 0;
    kith_status status = KITH_OK;

    *text = NULL;
    *length = 0;
    if (!in)
        return kith__fail(error, KITH_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    while (!feof(in) && status == KITH_OK) {
        if (*length > LONGEST)
            status = kith__fail(error, KITH_ERR_INPUT, "%s: is longer than %d bytes", path,
                                LONGEST);
        else if (kith__reserve(text, &capacity, *length + (1 << 14), 1))
            status = kith__no_memory(error);
        else
            *length += fread(*text + *length, 1, 1 << 14, in);
        if (ferror(in))
            status = kith__fail(error, KITH_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
    }
    fclose(in);
    return status;
}

/* Compare the checksum; leaves the digits as zeros. */
static kith_status check_sum(bool *checked, char *text, size_t length, const char *path,
                             bool required, kith_error *error)
{
    char *digits = kith__checksum_digits(text, length);
    uint64_t said;

    *checked = digits != NULL;
    if (!digits)
        return !required ? KITH_OK
                         : kith__fail(error, KITH_ERR_INPUT,
                                      "%s: has no checksum, expected one as kith train writes "
                                      "it: the file is damaged or was changed", path);
    bool good = kith__checksum_parse(&said, digits);
    memset(digits, '0', KITH__SUM_DIGITS);
    if (!good || kith__checksum_of(text, length) != said)
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s: its checksum is wrong, so it is damaged or was changed; restore it "
                          "from a copy, or train again", path);
    return KITH_OK;
}

kith_status kith__json_load(json_t **object, bool *checked, const char *folder, const char *name,
                            bool required, kith_error *error)
{
    char *path = kith__path_join(folder, name), *text = NULL;
    size_t length = 0;
    json_error_t why;
    bool has_sum = false;
    json_t *found = NULL, *again = NULL;
    kith_status status = KITH_OK;

    if (!path)
        TRY(kith__no_memory(error));
    TRY(read_all(&text, &length, path, error));
    TRY(check_sum(&has_sum, text, length, path, required, error));
    found = json_loadb(text, length, 0, &why);
    again = json_loadb(text, length, 0, NULL);
    /* Jansson 2.14 leaves out characters for which it finds no memory. */
    if ((found || again) && !json_equal(found, again))
        TRY(kith__no_memory(error));
    if (!json_is_object(found))
        TRY(kith__fail(error, KITH_ERR_INPUT, "%s:%d: %s, expected JSON as kith train writes it",
                       path, found ? 1 : why.line, found ? "is not an object" : why.text));
    *object = found;
    found = NULL;
    if (checked)
        *checked = has_sum;
cleanup:
    json_decref(found);
    json_decref(again);
    kith__free(text);
    kith__free(path);
    return status;
}
