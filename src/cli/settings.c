/* Settings of a model as options of a command, made from the library's table. */
#include "cli/settings.h"

#include <stdlib.h>
#include <string.h>

struct option *setting_options(const struct option *own, size_t own_count)
{
    size_t count = 0;
    const char *name;

    while (kith_settings_name(count, NULL, NULL))
        count++;
    struct option *all = calloc(count + own_count + 1, sizeof *all);
    for (size_t i = 0; all && i < own_count; i++)
        all[i] = own[i];
    for (size_t i = 0; all && (name = kith_settings_name(i, NULL, NULL)); i++)
        all[own_count + i] = (struct option){name, required_argument, NULL,
                                             SETTING_OPTION + (int)i};
    return all;
}

const char *setting_of_option(int option)
{
    return option >= SETTING_OPTION
               ? kith_settings_name((size_t)(option - SETTING_OPTION), NULL, NULL)
               : NULL;
}

void print_settings_help(void)
{
    const char *name, *help, *choices;
    kith_settings *s;
    kith_error error;
    char value[64];

    if (kith_settings_new(&s, kith_settings_preset(0, NULL), &error) != KITH_OK)
        return;
    say("settings (defaults of --preset kith in brackets):\n");
    for (size_t i = 0; (name = kith_settings_name(i, &help, &choices)); i++) {
        kith_settings_get(value, sizeof value, s, name);
        say("  --%s %s\n        %s [%s]\n", name, choices, help, value);
    }
    kith_settings_free(s);
}
