#include "report/experiment.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/compare.h"
#include "report/document.h"

/* ---- checking ---- */

#define NO_ENTRY SIZE_MAX

/* Where in the file a problem is, for messages. */
typedef struct place {
    const char *path, *list;
    size_t index; /* NO_ENTRY: `list` is an object */
} place;

static kith_status wrong(const place *at, const char *what, kith_error *error)
{
    if (!at->list)
        return kith__fail(error, KITH_ERR_INPUT, "%s: %s", at->path, what);
    if (at->index == NO_ENTRY)
        return kith__fail(error, KITH_ERR_INPUT, "%s: \"%s\": %s", at->path, at->list, what);
    return kith__fail(error, KITH_ERR_INPUT, "%s: \"%s\", entry %zu: %s", at->path, at->list,
                      at->index + 1, what);
}

static bool is_one_of(const char *text, const char *const *choices)
{
    while (*choices && strcmp(*choices, text) != 0)
        choices++;
    return *choices != NULL;
}

/* A key that an object may have, and the type of its value. */
typedef struct known_key {
    const char *name;
    enum { ANY, TEXT, NUMBER, FLAG, LIST, OBJECT } holds; /* ANY: checked elsewhere */
} known_key;

static bool is_what_it_holds(const json_t *value, const known_key *k)
{
    switch (k->holds) {
    case TEXT:
        return json_is_string(value);
    case NUMBER:
        return json_is_number(value);
    case FLAG:
        return json_is_boolean(value);
    case LIST:
        return json_is_array(value);
    case OBJECT:
        return json_is_object(value);
    default:
        return true;
    }
}

/* Unknown keys are errors, because a mistyped setting would silently have no effect. Values that
 * would be ignored are errors for the same reason. The list ends with a key without a name. */
static kith_status check_keys(const json_t *object, const known_key *known, const place *at,
                              kith_error *error)
{
    static const char *const holds[] = {"",       "text",     "a number", "true or false",
                                        "a list", "an object"};
    const char *name;
    json_t *value;
    char message[160] = "";

    if (!json_is_object(object))
        return wrong(at, "expected an object", error);
    json_object_foreach((json_t *)object, name, value) {
        const known_key *k = known;
        while (k->name && strcmp(k->name, name) != 0)
            k++;
        if (!k->name)
            snprintf(message, sizeof message, "unknown key \"%.60s\"", name);
        else if (!is_what_it_holds(value, k))
            snprintf(message, sizeof message, "expected %s in \"%s\"", holds[k->holds], name);
        if (*message)
            return wrong(at, message, error);
    }
    return KITH_OK;
}

static kith_status check_settings(const json_t *settings, const place *at, kith_error *error)
{
    const char *key;
    json_t *value;

    if (json_object_get(settings, "seed"))
        return wrong(at, "found \"seed\" in \"settings\", expected it in \"seeds\"", error);
    json_object_foreach((json_t *)settings, key, value)
        if (!json_is_string(value) && !json_is_number(value))
            return wrong(at, "a setting is neither text nor a number", error);
    return KITH_OK;
}

static kith_status check_data(const json_t *entry, const place *at, kith_error *error)
{
    static const known_key known[] = {{"path", TEXT}, {"name", TEXT}, {"group", TEXT},
                                      {"x", NUMBER},  {"on", TEXT},   {"optional", FLAG},
                                      {"form", TEXT}, {NULL}};
    kith_status status = check_keys(entry, known, at, error);

    if (status == KITH_OK && !*text_of(entry, "path"))
        return wrong(at, "\"path\" is missing", error);
    return status;
}

static kith_status check_seeds_once(const json_t *seeds, const place *at, kith_error *error)
{
    char message[80];

    for (size_t i = 0; i < json_array_size(seeds); i++)
        for (size_t k = 0; k < i; k++)
            if (json_equal(json_array_get(seeds, i), json_array_get(seeds, k))) {
                snprintf(message, sizeof message,
                         "found %" JSON_INTEGER_FORMAT " in \"seeds\" a second time",
                         json_integer_value(json_array_get(seeds, i)));
                return wrong(at, message, error);
            }
    return KITH_OK;
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
    return check_seeds_once(seeds, at, error);
}

/* Check the estimated seconds per 100,000 facts. */
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

/* Check what "quick" overrides in the object that contains it. */
static kith_status check_quick(const json_t *quick, const place *at, kith_error *error)
{
    static const known_key known[] = {{"settings", OBJECT}, {"seeds", ANY}, {"data", LIST}, {NULL}};
    kith_status status = quick ? check_keys(quick, known, at, error) : KITH_OK;

    if (status == KITH_OK)
        status = check_seeds(quick, at, error);
    if (status == KITH_OK)
        status = check_settings(json_object_get(quick, "settings"), at, error);
    return status;
}

static kith_status check_model(const json_t *entry, const place *at, kith_error *error)
{
    static const known_key known[] = {
        {"name", TEXT},         {"preset", TEXT},       {"settings", OBJECT},
        {"seeds", ANY},         {"data", LIST},         {"quick", ANY},
        {"epoch_seconds", ANY}, {"fixed_seconds", ANY}, {NULL}};
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

/* The range of a published number; false for a key that is none of these. */
static bool published_range(double *low, double *high, const char *key)
{
    static const char *const statistics[] = {"relations", "seen", "unseen", "min",
                                             "max",       "mean", NULL};
    metric m = metric_by_key(key);

    *low = m == METRIC_MR ? 1 : 0;
    *high = m == METRIC_MR || m == METRICS ? INFINITY : metric_table[m].scale;
    return m < METRICS || is_one_of(key, statistics);
}

static kith_status check_published(const json_t *entry, const place *at, kith_error *error)
{
    static const char *const texts[] = {"model", "data", "source", NULL};
    const char *key;
    json_t *value;
    double low, high;
    char message[160] = "";

    if (!json_is_object(entry) || !*text_of(entry, "data"))
        return wrong(at, "expected an object with \"data\"", error);
    json_object_foreach((json_t *)entry, key, value) {
        double number = json_number_value(value);
        if (is_one_of(key, texts) && json_is_string(value))
            continue;
        if (is_one_of(key, texts))
            snprintf(message, sizeof message, "expected text in \"%s\"", key);
        else if (!published_range(&low, &high, key))
            snprintf(message, sizeof message, "unknown key \"%.60s\"", key);
        else if (!json_is_number(value))
            snprintf(message, sizeof message, "a published result is not a number");
        else if (number < low)
            snprintf(message, sizeof message, "expected a number of at least %g in \"%s\"", low,
                     key);
        else if (number > high)
            snprintf(message, sizeof message, "expected a number of at most %g in \"%s\"", high,
                     key);
        if (*message)
            return wrong(at, message, error);
    }
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

/* [subject, relation, object], where null marks the side to predict. */
static bool is_question(const json_t *question)
{
    size_t unknown = 0;

    for (size_t i = 0; i < 3; i++) {
        const json_t *name = json_array_get(question, i);
        if (!json_is_string(name) && !json_is_null(name))
            return false;
        unknown += json_is_null(name);
    }
    return unknown > 0 && json_array_size(question) == 3;
}

static kith_status check_cases(const json_t *cases, const char *path, kith_error *error)
{
    static const known_key known[] = {{"count", ANY},     {"seed", ANY},       {"min_facts", ANY},
                                      {"max_facts", ANY}, {"questions", LIST}, {NULL}};
    const place at = {path, "cases", NO_ENTRY};
    const json_t *question;
    char message[120];
    kith_status status = cases ? check_keys(cases, known, &at, error) : KITH_OK;

    for (size_t i = 0; status == KITH_OK && i < 4; i++) {
        const json_t *found = json_object_get(cases, known[i].name);
        if (found && (!json_is_integer(found) || json_integer_value(found) < 0)) {
            snprintf(message, sizeof message, "expected a whole number from 0 in \"%s\"",
                     known[i].name);
            status = wrong(&at, message, error);
        }
    }
    for (size_t i = 0; (question = json_array_get(json_object_get(cases, "questions"), i)); i++)
        if (status == KITH_OK && !is_question(question))
            status = wrong(&(place){path, "questions", i},
                           "expected subject, relation and object, of which one is null", error);
    return status;
}

static kith_status check_experiment(json_t *experiment, const char *path, kith_error *error)
{
    static const known_key known[] = {
        {"name", TEXT},  {"title", TEXT},    {"about", TEXT},   {"source", TEXT}, {"kind", TEXT},
        {"form", TEXT},  {"x", TEXT},        {"metrics", LIST}, {"charts", LIST}, {"data", ANY},
        {"models", ANY}, {"published", ANY}, {"quick", ANY},    {"cases", ANY},   {NULL}};
    static const known_key of_quick[] = {{"only", LIST}, {NULL}};
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
        status = check_cases(json_object_get(experiment, "cases"), path, error);
    if (status == KITH_OK && json_object_get(experiment, "quick"))
        status = check_keys(json_object_get(experiment, "quick"), of_quick,
                            &(place){path, "quick", NO_ENTRY}, error);
    if (status == KITH_OK)
        status = check_lists(experiment, path, error);
    if (status == KITH_OK && json_array_size(json_object_get(experiment, "data")) == 0)
        return wrong(&at, "\"data\" has no data set", error);
    if (status == KITH_OK && strcmp(text_of(experiment, "kind"), "statistics") != 0 &&
        json_array_size(json_object_get(experiment, "models")) == 0)
        return wrong(&at, "\"models\" has no model", error);
    return status;
}

/* ---- names ---- */

static const char *name_at(const json_t *list, size_t i)
{
    return text_of(json_array_get(list, i), "name");
}

static size_t find_name(const json_t *list, const char *name)
{
    size_t i = 0;

    while (i < json_array_size(list) && strcmp(name_at(list, i), name) != 0)
        i++;
    return i;
}

/* Results are gathered by name, so the same name twice would mix two models. */
static kith_status check_once(const json_t *list, place at, kith_error *error)
{
    char message[160];

    for (at.index = 0; at.index < json_array_size(list); at.index++)
        if (find_name(list, name_at(list, at.index)) < at.index) {
            snprintf(message, sizeof message,
                     "found the name \"%.80s\" a second time, expected "
                     "each once",
                     name_at(list, at.index));
            return wrong(&at, message, error);
        }
    return KITH_OK;
}

/* A list of names of data sets, which may be missing. */
static kith_status check_data_names(const json_t *names, const char *key, const json_t *datas,
                                    const place *at, kith_error *error)
{
    char message[160];

    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (name && find_name(datas, name) < json_array_size(datas))
            continue;
        snprintf(message, sizeof message,
                 "found \"%.80s\" in \"%s\", expected the name of a data "
                 "set",
                 name ? name : "something that is not text", key);
        return wrong(at, message, error);
    }
    return KITH_OK;
}

/* Published results of another data set would not be shown, nor would those without a model,
 * except statistics. */
static kith_status check_published_names(const json_t *experiment, const char *path,
                                         kith_error *error)
{
    bool statistics = strcmp(text_of(experiment, "kind"), "statistics") == 0;
    const json_t *datas = json_object_get(experiment, "data"), *entry;
    place at = {path, "published", 0};
    char message[160];

    json_array_foreach(json_object_get(experiment, "published"), at.index, entry) {
        if (!statistics && !*text_of(entry, "model"))
            return wrong(&at, "\"model\" is missing", error);
        if (find_name(datas, text_of(entry, "data")) < json_array_size(datas))
            continue;
        snprintf(message, sizeof message,
                 "found \"%.80s\" in \"data\", expected the name of a data set",
                 text_of(entry, "data"));
        return wrong(&at, message, error);
    }
    return KITH_OK;
}

/* The chart "x" has a point for every data set with an "x". */
static kith_status check_x_chart(const json_t *experiment, const char *path, kith_error *error)
{
    bool wanted = has_text(json_object_get(experiment, "charts"), "x");
    const json_t *data;
    size_t i;

    json_array_foreach(json_object_get(experiment, "data"), i, data)
        wanted &= !json_object_get(data, "x");
    return wanted ? wrong(&(place){path, "charts", NO_ENTRY},
                          "found \"x\", but no data set has a number \"x\"", error)
                  : KITH_OK;
}

/* To be called after missing names have been filled in. */
static kith_status check_names(const json_t *experiment, const char *path, kith_error *error)
{
    const json_t *datas = json_object_get(experiment, "data"), *model;
    const json_t *models = json_object_get(experiment, "models");
    place at = {path, "models", 0}, in_quick = {path, "quick", NO_ENTRY};
    kith_status status = check_once(datas, (place){path, "data", 0}, error);

    if (status == KITH_OK)
        status = check_once(models, at, error);
    if (status == KITH_OK)
        status = check_published_names(experiment, path, error);
    if (status == KITH_OK)
        status = check_x_chart(experiment, path, error);
    json_array_foreach(models, at.index, model) {
        const json_t *quick = json_object_get(model, "quick");
        if (status == KITH_OK)
            status = check_data_names(json_object_get(model, "data"), "data", datas, &at, error);
        if (status == KITH_OK)
            status = check_data_names(json_object_get(quick, "data"), "data", datas, &at, error);
    }
    if (status != KITH_OK)
        return status;
    return check_data_names(json_object_get(json_object_get(experiment, "quick"), "only"), "only",
                            datas, &in_quick, error);
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
    if (status == KITH_OK) {
        fill_in(experiment, path);
        status = check_names(experiment, path, error);
    }
    if (status == KITH_OK)
        *out = experiment;
    else
        json_decref(experiment);
    return status;
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
