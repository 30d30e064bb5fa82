/* Settings of a model as options of a command, generated from the library's table. */
#ifndef KITH_CLI_SETTINGS_H
#define KITH_CLI_SETTINGS_H

#include "cli/cli.h"

/* "a|b|c", from the library's table. */
const char *preset_names(void);

/* Set what was given on the command line. */
kith_status apply_settings(kith_settings *s, const setting_list *given, kith_error *error);
/* The settings of a preset, overridden by those given on the command line. */
kith_status make_settings(kith_settings **s, const char *preset, const setting_list *given,
                          kith_error *error);
/* The default preset of a command. */
const char *default_preset(const struct command *self);
/* The value of a setting in a preset; the text is in `out`. */
const char *setting_default(char *out, size_t size, const char *preset, const char *name);
void print_settings_help(const struct command *self);

#endif
