#ifndef KITH_CLI_SETTINGS_H
#define KITH_CLI_SETTINGS_H

#include "cli/cli.h"

enum { SETTING_OPTION = 1000 };

/* A command's own options and one for each setting; to be freed. NULL where memory is short. */
struct option *setting_options(const struct option *own, size_t own_count);
/* The setting that an option stands for, NULL if none. */
const char *setting_of_option(int option);
void print_settings_help(void);

#endif
