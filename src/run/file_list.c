#include "run/file_list.h"

#include <stdbool.h>
#include <string.h>

#include "core/json.h"
#include "graph/graph.h"
#include "run/json_file.h"

static const struct {
    const char *name;
    /* needed to answer; without it, the classifier is fitted when the run is opened, with a
     * warning */
    bool to_open;
    bool made_again; /* resuming creates it again */
} files[] = {
    {"model.safetensors", true, false},
    {"checkpoint.safetensors", false, false},
    {"calibration.json", true, true},
    {"rules.safetensors", true, true},
    {"fusion.json", true, true},
    {"has_relation.json", true, false},
    {"overall.json", true, false},
    {"metrics.json", true, false},
    {"classifier.json", false, true},
};
enum { FILES = sizeof files / sizeof *files };

static bool is_listed(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (text && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

kith_status kith__run_check_files(const json_t *config, const char *folder, kith__file_use use,
                                  kith_error *error)
{
    const json_t *list = json_object_get(config, "files");

    for (int i = 0; i < FILES; i++) {
        bool needed = use == KITH__TO_OPEN ? files[i].to_open : !files[i].made_again;
        if (!needed || !is_listed(list, files[i].name) || kith__path_exists(folder, files[i].name))
            continue;
        if (files[i].made_again)
            return kith__fail(
                error, KITH_ERR_INPUT,
                "%s: its %s is missing; restore it from a copy, or make it again: kith "
                "train --resume %s",
                folder, files[i].name, folder);
        return kith__fail(
            error, KITH_ERR_INPUT,
            "%s: its %s is missing; restore it from a copy, or train again: kith train "
            "%s/graph -o NEW",
            folder, files[i].name, folder);
    }
    return KITH_OK;
}

static json_t *list_present(const char *folder)
{
    json_t *list = json_array();

    for (int i = 0; i < FILES; i++)
        if (kith__path_exists(folder, files[i].name))
            kith__json_append(&list, json_string(files[i].name));
    return list;
}

kith_status kith__run_list_files(const char *folder, kith_error *error)
{
    json_t *config = NULL, *list = list_present(folder);
    bool checked = false;
    kith_status status = KITH_OK;

    if (!list)
        TRY(kith__no_memory(error));
    TRY(kith__json_load(&config, &checked, folder, "config.json", false, error));
    if (!checked || json_equal(json_object_get(config, "files"), list))
        goto cleanup;
    kith__json_set(&config, "files", json_incref(list));
    status = kith__json_save(folder, "config.json", config, error);
    config = NULL;
cleanup:
    json_decref(config);
    json_decref(list);
    return status;
}
