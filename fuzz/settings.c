/* Settings by name: each line is NAME=VALUE. What is accepted reads back as itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    require(kith_settings_get(text, sizeof text, settings, line) != NULL, "what was set can be read");
    require(kith_settings_set(settings, line, text, &error) == KITH_OK, "a value that was read can be set");
    require(kith_settings_get(again, sizeof again, settings, line) != NULL && strcmp(text, again) == 0,
            "and reads the same again");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kith_settings *settings;
    char *text = malloc(size + 1), *rest = text;

    require(text && kith_settings_new(&settings, "release", NULL) == KITH_OK, "a preset opens");
    memcpy(text, data, size);
    text[size] = 0;
    for (char *line; (line = strsep(&rest, "\n"));)
        set(settings, line);
    kith_settings_free(settings);
    free(text);
    return 0;
}
