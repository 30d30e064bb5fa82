#include "run/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checksum.h"
#include "core/json.h"
#include "core/mem.h"
#include "embed/settings.h"
#include "graph/graph.h"
#include "run/cache_check.h"
#include "run/json_file.h"

/* ---- which settings apply ---- */

bool kith__setting_applies(const char *name, const kith_settings *settings)
{
    static const char *const of_rules[] = {"evidence", "unseen-neighbors", "predict", "seed"};

    if (settings->evidence != KITH_EVIDENCE_RULES)
        return true;
    for (size_t i = 0; i < sizeof of_rules / sizeof *of_rules; i++)
        if (strcmp(name, of_rules[i]) == 0)
            return true;
    return false;
}

kith_status kith__settings_reduce(kith_settings *settings, kith_error *error)
{
    kith_settings reduced;
    const char *name;
    char text[64];
    kith_status status = KITH_OK;

    if (settings->evidence != KITH_EVIDENCE_RULES)
        return KITH_OK;
    TRY(kith__settings_init(&reduced, "rules", error));
    for (size_t i = 0; (name = kith_settings_name(i, NULL, NULL)); i++)
        if (kith__setting_applies(name, settings))
            TRY(kith_settings_set(&reduced, name,
                                  kith_settings_get(text, sizeof text, settings, name), error));
    *settings = reduced;
cleanup:
    return status;
}

/* ---- writing ---- */

static void set_hash(json_t **object, const char *key, uint64_t value)
{
    char digits[KITH__SUM_DIGITS + 1] = "";

    kith__checksum_print(digits, value);
    kith__json_set(object, key, json_string(digits));
}

kith_status kith__config_save(const char *folder, const kith_graph *graph,
                              const kith_settings *settings, uint64_t derived, kith_error *error)
{
    json_t *values = json_object(), *config;
    char text[64];
    const char *name;

    for (size_t i = 0; (name = kith_settings_name(i, NULL, NULL)); i++)
        if (kith__setting_applies(name, settings))
            kith__json_set(&values, name,
                           json_string(kith_settings_get(text, sizeof text, settings, name)));
    config = json_pack("{si ss}", "format", KITH__RUN_FORMAT, "kith", kith_version());
    set_hash(&config, "data_hash", kith_graph_hash(graph));
    set_hash(&config, "labels_hash", kith__labels_hash(graph));
    if (derived != 0)
        set_hash(&config, "derived_hash", derived);
    kith__json_set(&config, "settings", values);
    return kith__json_save(folder, "config.json", config, error);
}

/* ---- reading ---- */

static kith_status check_dropped(const json_t *values, const char *folder, kith_error *error)
{
    const char *name;
    kith_error why;

    for (size_t i = 0; (name = kith__settings_dropped(i)); i++)
        if (kith__settings_check_dropped(name, json_string_value(json_object_get(values, name)),
                                         &why) != KITH_OK)
            return kith__fail(error, KITH_ERR_INPUT, "%s/config.json: %s", folder, why.message);
    return KITH_OK;
}

static kith_status read_settings(kith__config *config, const json_t *values, const char *folder,
                                 kith_error *error)
{
    const char *evidence = json_string_value(json_object_get(values, "evidence")), *name;
    bool rules = evidence && strcmp(evidence, "rules") == 0;
    kith_settings *settings = &config->settings;
    kith_error why;
    kith_status status = kith__settings_init(settings, rules ? "rules" : "release", error);

    for (size_t i = 0; status == KITH_OK && (name = kith_settings_name(i, NULL, NULL)); i++) {
        const char *value = json_string_value(json_object_get(values, name));
        if (!value && config->format < 3)
            value = json_string_value(json_object_get(values, kith__settings_former_name(name)));
        if (!value)
            value = kith__settings_value_before(name);
        if (!value && !kith__setting_applies(name, settings))
            continue;
        if (!value)
            return kith__fail(error, KITH_ERR_INPUT, "%s/config.json: lacks the setting '%s'",
                              folder, name);
        if (kith_settings_set(settings, name, value, &why) != KITH_OK)
            return kith__fail(error, KITH_ERR_INPUT, "%s/config.json: %s", folder, why.message);
    }
    return status;
}

static kith_status check_format(const kith__config *config, const char *folder, kith_error *error)
{
    if (config->format > KITH__RUN_FORMAT)
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s/config.json: has format %d, made by kith %s; this is kith %s, which "
                          "knows formats up to %d: use a newer kith", folder, config->format,
                          config->version, kith_version(), KITH__RUN_FORMAT);
    if (config->format < KITH__RUN_OLDEST)
        return kith__fail(error, KITH_ERR_INPUT,
                          "%s/config.json: has format %d, made by kith %s, which kith %s does not "
                          "open any more; train it again: kith train %s/graph -o NEW", folder,
                          config->format, config->version, kith_version(), folder);
    return KITH_OK;
}

static kith_status read_hash(uint64_t *hash, const json_t *config, const char *key,
                             const char *folder, kith_error *error)
{
    const char *text = json_string_value(json_object_get(config, key));

    if (!text || strlen(text) != KITH__SUM_DIGITS || !kith__checksum_parse(hash, text))
        return kith__fail(error, KITH_ERR_INPUT, "%s/config.json: has no %s of 16 digits", folder,
                          key);
    return KITH_OK;
}

static kith_status read_config(kith__config *config, const json_t *object, bool checked,
                               const char *folder, kith_error *error)
{
    const char *version;
    json_t *values;
    kith_status status = KITH_OK;

    if (json_unpack((json_t *)object, "{si ss so}", "format", &config->format, "kith", &version,
                    "settings", &values) != 0)
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s/config.json: lacks format, kith or settings, expected the settings of a "
                       "run", folder));
    snprintf(config->version, sizeof config->version, "%s", version);
    TRY(check_format(config, folder, error));
    if (config->format >= 3 && !checked)
        TRY(kith__fail(error, KITH_ERR_INPUT,
                       "%s/config.json: has no checksum, expected one as kith train writes it: the "
                       "file is damaged or was changed", folder));
    TRY(read_hash(&config->data_hash, object, "data_hash", folder, error));
    if (config->format >= 3)
        TRY(read_hash(&config->labels, object, "labels_hash", folder, error));
    if (json_object_get(object, "derived_hash"))
        TRY(read_hash(&config->derived, object, "derived_hash", folder, error));
    TRY(check_dropped(values, folder, error));
    TRY(read_settings(config, values, folder, error));
cleanup:
    return status;
}

kith_status kith__config_load(kith__config *config, const char *folder, kith__file_use use,
                              kith_error *error)
{
    json_t *object = NULL;
    bool checked = false;
    kith_status status;

    memset(config, 0, sizeof *config);
    TRY(kith__json_load(&object, &checked, folder, "config.json", false, error));
    TRY(read_config(config, object, checked, folder, error));
    TRY(kith__run_check_files(object, folder, use, error));
cleanup:
    json_decref(object);
    return status;
}

/* ---- comparing ---- */

kith_status kith__config_compare(const char **differs, const char *folder, const kith_graph *graph,
                                 const kith_settings *settings, kith_error *error)
{
    kith__config config;
    char wanted[64], found[64];
    const char *name;
    kith_status status;

    *differs = NULL;
    TRY(kith__config_load(&config, folder, KITH__TO_RESUME, error));
    if (config.data_hash != kith_graph_hash(graph) || config.labels != kith__labels_hash(graph))
        *differs = "graph";
    for (size_t i = 0; !*differs && (name = kith_settings_name(i, NULL, NULL)); i++)
        if (strcmp(kith_settings_get(wanted, sizeof wanted, settings, name),
                   kith_settings_get(found, sizeof found, &config.settings, name)) != 0)
            *differs = name;
cleanup:
    return status;
}
