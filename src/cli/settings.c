#include "cli/settings.h"

#include <stdlib.h>
#include <string.h>

kith_status apply_settings(kith_settings *s, const setting_list *given, kith_error *error)
{
    kith_status status = KITH_OK;

    for (size_t i = 0; i < given->names.count && status == KITH_OK; i++)
        status = kith_settings_set(s, given->names.at[i], given->values.at[i], error);
    return status;
}

kith_status make_settings(kith_settings **s, const char *preset, const setting_list *given,
                          kith_error *error)
{
    kith_settings_free(*s);
    *s = NULL;
    kith_status status = kith_settings_new(s, preset, error);

    return status == KITH_OK ? apply_settings(*s, given, error) : status;
}

const char *default_preset(const struct command *self)
{
    for (size_t i = 0; i < self->option_count; i++)
        if (strcmp(self->options[i].name, "preset") == 0 && self->options[i].initial)
            return self->options[i].initial;
    return "kith";
}

const char *setting_default(char *out, size_t size, const char *preset, const char *name)
{
    kith_settings *s = NULL;

    if (kith_settings_new(&s, preset, NULL) == KITH_OK)
        kith_settings_get(out, size, s, name);
    else
        snprintf(out, size, "?");
    kith_settings_free(s);
    return out;
}

const char *preset_names(void)
{
    static char names[256];
    const char *name;

    if (names[0] == '\0')
        for (size_t i = 0, used = 0; (name = kith_settings_preset(i, NULL)); i++)
            used += (size_t)snprintf(names + used, used < sizeof names ? sizeof names - used : 0,
                                     "%s%s", i ? "|" : "", name);
    return names;
}

static void print_presets_help(void)
{
    const char *name, *help;

    printf("presets:\n");
    for (size_t i = 0; (name = kith_settings_preset(i, &help)); i++)
        printf("  %-11s %s\n", name, help);
    printf("Settings given as options override those of the preset.\n\n");
}

void print_settings_help(const struct command *self)
{
    const char *name, *help, *choices, *preset = default_preset(self);
    char value[64];

    print_presets_help();
    printf("settings (in brackets the value in the preset %s):\n", preset);
    for (size_t i = 0; (name = kith_settings_name(i, &help, &choices)); i++)
        printf("  --%s %s\n        %s [%s]\n", name, choices, help,
               setting_default(value, sizeof value, preset, name));
}
