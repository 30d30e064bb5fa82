/* Settings of version 0.1: names that changed, and settings that were dropped. */
#include <stdbool.h>
#include <string.h>

#include "embed/settings.h"

/* What version 0.1 had and was dropped: a value of a setting that still exists, or, if `value` is
 * NULL, a whole setting with the value that had no effect. */
static const struct {
    const char *name, *value, *unused;
} dropped[] = {
    {"hard-negatives", NULL, "0"},
    {"candidate-vectors", "mix", NULL},
    {"candidates", "mix", NULL},
    {"schedule", "cosine", NULL},
};
enum { DROPPED = sizeof dropped / sizeof *dropped };

kith_status kith__settings_check_dropped(const char *name, const char *value, kith_error *error)
{
    for (size_t i = 0; value && i < DROPPED; i++) {
        bool used = dropped[i].unused ? strcmp(value, dropped[i].unused) != 0
                                      : strcmp(value, dropped[i].value) == 0;
        if (strcmp(name, dropped[i].name) == 0 && used)
            return kith__fail(
                error, KITH_ERR_INPUT,
                "has %s %s, which kith %s dropped; train it again without: kith train "
                "SOURCE -o NEW",
                name, value, kith_version());
    }
    return KITH_OK;
}

const char *kith__settings_dropped(size_t index)
{
    return index < DROPPED ? dropped[index].name : NULL;
}

const char *kith__settings_value_before(const char *name)
{
    return strcmp(name, "unseen-neighbors") == 0 ? "off" : NULL;
}

const char *kith__settings_former_name(const char *name)
{
    return strcmp(name, "candidate-vectors") == 0 ? "candidates" : name;
}
