/* Settings by name: a first line "preset NAME", then lines NAME=VALUE. Accepted values read back
 * unchanged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embed/settings.h"
#include "fuzz.h"

static void set(kith_settings *settings, char *line)
{
    char *value = strchr(line, '='), text[256], again[256];
    kith_error error = {0};

    if (!value)
        return;
    *value++ = 0;
    if (kith_settings_set(settings, line, value, &error) != KITH_OK) {
        require(error.message[0] != 0, "a refusal says why");
        return;
    }
    require(kith_settings_get(text, sizeof text, settings, line) != NULL,
            "what was set can be read");
    require(kith_settings_set(settings, line, text, &error) == KITH_OK,
            "a value that was read can be set");
    require(kith_settings_get(again, sizeof again, settings, line) != NULL &&
                strcmp(text, again) == 0,
            "and reads the same again");
}

/* Every setting can be read, whether it applies or not. */
static void read_all(const kith_settings *settings)
{
    const char *name, *help, *choices;
    char text[256];

    for (size_t i = 0; (name = kith_settings_name(i, &help, &choices)); i++) {
        require(kith_settings_get(text, sizeof text, settings, name) != NULL,
                "a setting can be read");
        (void)kith_settings_applies(settings, name);
    }
}

static kith_settings *open_preset(char **rest)
{
    kith_settings *settings = NULL;
    kith_error error = {0};

    if (strncmp(*rest, "preset ", 7) == 0) {
        const char *name = strsep(rest, "\n") + 7;
        if (kith_settings_new(&settings, name, &error) != KITH_OK)
            require(error.message[0] != 0, "a refusal says why");
    }
    if (!settings)
        require(kith_settings_new(&settings, "release", NULL) == KITH_OK, "a preset opens");
    return settings;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *rest = text;
    kith_error error = {0};

    require(text != NULL, "there is memory for the input");
    memcpy(text, data, size);
    text[size] = 0;
    kith_settings *settings = open_preset(&rest);
    for (char *line; (line = strsep(&rest, "\n"));)
        set(settings, line);
    read_all(settings);
    if (kith__settings_check(settings, &error) != KITH_OK)
        require(error.message[0] != 0, "a refusal says why");
    kith_settings_free(settings);
    free(text);
    return 0;
}
