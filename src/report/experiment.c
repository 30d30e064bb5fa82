#include "report/experiment.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/compare.h"
#include "report/document.h"

/* ---- checking ---- */

/* Where in the file a problem is, for messages. */
typedef struct place {
    const char *path, *list;
    size_t index;
} place;

static kith_status wrong(const place *at, const char *what, kith_error *error)
{
    if (!at->list)
        return kith__fail(error, KITH_ERR_INPUT, "%s: %s", at->path, what);
    return kith__fail(error, KITH_ERR_INPUT, "%s: \"%s\", entry %zu: %s", at->path, at->list,
                      at->index + 1, what);
}

static bool is_one_of(const char *text, const char *const *choices)
{
    while (*choices && strcmp(*choices, text) != 0)
        choices++;
    return *choices != NULL;
}

/* Unknown keys are errors, because a mistyped setting would silently have no effect. */
static kith_status check_keys(const json_t *object, const char *const *known, const place *at,
                              kith_error *error)
{
    const char *key;
    json_t *value;
    char message[160];

    if (!json_is_object(object))
        return wrong(at, "expected an object", error);
    json_object_foreach((json_t *)object, key, value)
        if (!is_one_of(key, known)) {
            snprintf(message, sizeof message, "unknown key \"%.60s\"", key);
            return wrong(at, message, error);
        }
    return KITH_OK;
}

static kith_status check_settings(const json_t *settings, const place *at, kith_error *error)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)settings, key, value)
        if (!json_is_string(value) && !json_is_number(value))
            return wrong(at, "a setting is neither text nor a number", error);
    return KITH_OK;
}

static kith_status check_data(const json_t *entry, const place *at, kith_error *error)
{
    static const char *const known[] = {"path",     "name", "group", "x",
                                        "optional", "on",   "form",  NULL};
    kith_status status = check_keys(entry, known, at, error);

    if (status == KITH_OK && !*text_of(entry, "path"))
        return wrong(at, "\"path\" is missing", error);
    return status;
}

static kith_status check_seeds(const json_t *model, const place *at, kith_error *error)
{
    const json_t *seeds = json_object_get(model, "seeds"), *seed;
    size_t i;

    if (seeds && (!json_is_array(seeds) || json_array_size(seeds) == 0))
        return wrong(at, "\"seeds\" is not a list of numbers", error);
    json_array_foreach(seeds, i, seed)
        if (!json_is_integer(seed) || json_integer_value(seed) < 0)
            return wrong(at, "expected whole numbers from 0 in \"seeds\"", error);
    return KITH_OK;
}

/* Estimates, for 100,000 facts. */
static kith_status check_seconds(const json_t *model, const char *key, const place *at,
                                 kith_error *error)
{
    enum { MOST_SECONDS = 1000 * 1000 };
    const json_t *found = json_object_get(model, key);
    double seconds = json_number_value(found);
    char message[120];

    if (!found || (json_is_number(found) && seconds >= 0 && seconds <= MOST_SECONDS))
        return KITH_OK;
    snprintf(message, sizeof message, "expected a number of seconds from 0 to %d in \"%s\"",
             MOST_SECONDS, key);
    return wrong(at, message, error);
}

/* What --quick says of a model in place of what stands beside it. */
static kith_status check_quick(const json_t *quick, const place *at, kith_error *error)
{
    static const char *const known[] = {"settings", "seeds", "data", NULL};
    kith_status status = quick ? check_keys(quick, known, at, error) : KITH_OK;

    if (status == KITH_OK)
        status = check_seeds(quick, at, error);
    if (status == KITH_OK)
        status = check_settings(json_object_get(quick, "settings"), at, error);
    return status;
}

static kith_status check_model(const json_t *entry, const place *at, kith_error *error)
{
    static const char *const known[] = {"name",          "preset", "settings",
                                        "seeds",         "data",   "epoch_seconds",
                                        "fixed_seconds", "quick",  NULL};
    kith_status status = check_keys(entry, known, at, error);

    if (status == KITH_OK && !*text_of(entry, "name"))
        return wrong(at, "\"name\" is missing", error);
    if (status == KITH_OK)
        status = check_seeds(entry, at, error);
    if (status == KITH_OK)
        status = check_seconds(entry, "epoch_seconds", at, error);
    if (status == KITH_OK)
        status = check_seconds(entry, "fixed_seconds", at, error);
    if (status == KITH_OK)
        status = check_quick(json_object_get(entry, "quick"), at, error);
    if (status == KITH_OK)
        status = check_settings(json_object_get(entry, "settings"), at, error);
    return status;
}

static kith_status check_published(const json_t *entry, const place *at, kith_error *error)
{
    const char *key;
    json_t *value;

    if (!json_is_object(entry) || !*text_of(entry, "data"))
        return wrong(at, "expected an object with \"data\"", error);
    json_object_foreach((json_t *)entry, key, value)
        if (strcmp(key, "model") != 0 && strcmp(key, "data") != 0 && strcmp(key, "source") != 0 &&
            !json_is_number(value))
            return wrong(at, "a published result is not a number", error);
    return KITH_OK;
}

static kith_status check_lists(json_t *experiment, const char *path, kith_error *error)
{
    static const struct {
        const char *name;
        kith_status (*check)(const json_t *, const place *, kith_error *);
    } lists[] = {{"data", check_data}, {"models", check_model}, {"published", check_published}};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        json_t *list = json_object_get(experiment, lists[i].name), *entry;
        place at = {path, lists[i].name, 0};
        if (!list)
            json_object_set_new(experiment, lists[i].name, json_array());
        else if (!json_is_array(list))
            return wrong(&(place){path, NULL, 0}, "data, models and published must be lists",
                         error);
        json_array_foreach(list, at.index, entry) {
            kith_status status = lists[i].check(entry, &at, error);
            if (status != KITH_OK)
                return status;
        }
    }
    return KITH_OK;
}

static kith_status check_cases(const json_t *cases, const place *at, kith_error *error)
{
    static const char *const keys[] = {"count", "seed", "min_facts", "max_facts"};
    char message[120];

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *found = json_object_get(cases, keys[i]);
        if (found && (!json_is_integer(found) || json_integer_value(found) < 0)) {
            snprintf(message, sizeof message, "\"cases\": expected a whole number from 0 in \"%s\"",
                     keys[i]);
            return wrong(at, message, error);
        }
    }
    return KITH_OK;
}

static kith_status check_experiment(json_t *experiment, const char *path, kith_error *error)
{
    static const char *const known[] = {"name",    "title", "about",  "source", "kind",
                                        "metrics", "data",  "models", "quick",  "published",
                                        "charts",  "x",     "cases",  "form",   NULL};
    static const char *const kinds[] = {"", "train", "statistics", "cases", NULL};
    static const char *const charts[] = {"training", "facts", "reliability", "x", NULL};
    place at = {path, NULL, 0};
    kith_status status = check_keys(experiment, known, &at, error);
    const json_t *entry;
    size_t i;

    if (status == KITH_OK && !is_one_of(text_of(experiment, "kind"), kinds))
        return wrong(&at, "\"kind\" is not train, statistics or cases", error);
    json_array_foreach(json_object_get(experiment, "charts"), i, entry)
        if (status == KITH_OK &&
            (!json_is_string(entry) || !is_one_of(json_string_value(entry), charts)))
            return wrong(&at,
                         "\"charts\" may only have "
                         "training, facts, reliability "
                         "and x",
                         error);
    json_array_foreach(json_object_get(experiment, "metrics"), i, entry)
        if (status == KITH_OK &&
            (!json_is_string(entry) || metric_by_key(json_string_value(entry)) == METRICS))
            return wrong(&at,
                         "\"metrics\" may only have "
                         "mr, mrr, hits1, hits3, hits10 "
                         "and accuracy",
                         error);
    if (status == KITH_OK)
        status = check_cases(json_object_get(experiment, "cases"), &at, error);
    if (status == KITH_OK)
        status = check_lists(experiment, path, error);
    if (status == KITH_OK && json_array_size(json_object_get(experiment, "data")) == 0)
        return wrong(&at, "\"data\" has no data set", error);
    if (status == KITH_OK && strcmp(text_of(experiment, "kind"), "statistics") != 0 &&
        json_array_size(json_object_get(experiment, "models")) == 0)
        return wrong(&at, "\"models\" has no model", error);
    return status;
}

/* ---- loading ---- */

/* "link" of "experiments/link.json". */
static json_t *name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);

    if (length > 5 && strcmp(name + length - 5, ".json") == 0)
        length -= 5;
    return format_string("%.*s", (int)length, name);
}

static void fill_in(json_t *experiment, const char *path)
{
    json_t *entry;
    size_t i;

    if (!json_object_get(experiment, "name"))
        json_object_set_new(experiment, "name", name_of(path));
    if (!json_object_get(experiment, "title"))
        json_object_set(experiment, "title", json_object_get(experiment, "name"));
    json_array_foreach(json_object_get(experiment, "data"), i, entry)
        if (!json_object_get(entry, "name"))
            json_object_set(entry, "name", json_object_get(entry, "path"));
}

kith_status experiment_load(json_t **out, const char *path, kith_error *error)
{
    json_error_t where;
    FILE *in = fopen(path, "re");
    json_t *experiment = in ? json_loadf(in, JSON_REJECT_DUPLICATES, &where) : NULL;
    kith_status status = KITH_OK;

    if (!in)
        status = kith__fail(error, KITH_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    else if (!experiment && ferror(in))
        status = kith__fail(error, KITH_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
    else if (!experiment)
        status = kith__fail(error, KITH_ERR_INPUT, "%s: line %d: %s", path, where.line, where.text);
    if (in)
        fclose(in);
    if (status == KITH_OK)
        status = check_experiment(experiment, path, error);
    if (status != KITH_OK) {
        json_decref(experiment);
        return status;
    }
    fill_in(experiment, path);
    *out = experiment;
    return KITH_OK;
}

kith_status experiment_find(json_t **experiment, const char *folder, const char *name,
                            kith_error *error)
{
    size_t length = strlen(name);
    bool is_path = strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".json") == 0);
    char *path = NULL;

    if (is_path)
        return experiment_load(experiment, name, error);
    if (!folder)
        return kith__fail(error, KITH_ERR_NOT_FOUND,
                          "no folder of experiments found; give it with --experiments DIR");
    if (asprintf(&path, "%s/%s.json", folder, name) < 0)
        return kith__no_memory(error);
    kith_status status = access(path, F_OK)
                             ? kith__fail(error, KITH_ERR_NOT_FOUND,
                                          "there is no experiment '%s' in %s; see kith reproduce "
                                          "--list",
                                          name, folder)
                             : experiment_load(experiment, path, error);
    free(path);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

kith_status experiment_names(json_t **names, const char *folder, kith_error *error)
{
    enum { MOST = 512 };
    DIR *entries = opendir(folder);
    char *found[MOST];
    size_t count = 0;

    if (!entries)
        return kith__fail(error, KITH_ERR_IO, "%s: cannot read: %s", folder, strerror(errno));
    for (const struct dirent *e; count < MOST && (e = readdir(entries));) {
        size_t length = strlen(e->d_name);
        if (e->d_name[0] != '.' && length > 5 && strcmp(e->d_name + length - 5, ".json") == 0)
            found[count++] = strndup(e->d_name, length - 5);
    }
    closedir(entries);
    qsort(found, count, sizeof *found, by_name);
    *names = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(*names, safe_string(found[i]));
        free(found[i]);
    }
    return KITH_OK;
}

static char *if_folder(char *path)
{
    struct stat there;

    if (path && stat(path, &there) == 0 && S_ISDIR(there.st_mode))
        return path;
    free(path);
    return NULL;
}

char *experiment_folder(const char *compiled_in)
{
    static const char *const beside[] = {"../experiments", "../share/kith/experiments"};
    char program[4096], *path = NULL;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash;

    program[length > 0 ? length : 0] = '\0';
    slash = strrchr(program, '/');
    for (size_t i = 0; slash && !path && i < 2; i++)
        if (asprintf(&path, "%.*s/%s", (int)(slash - program), program, beside[i]) < 0)
            path = NULL;
        else
            path = if_folder(path);
    return path ? path : if_folder(strdup(compiled_in));
}

const json_t *experiment_choice(const json_t *object, const char *key, bool quick)
{
    const json_t *other = quick ? json_object_get(json_object_get(object, "quick"), key) : NULL;
    return other ? other : json_object_get(object, key);
}
