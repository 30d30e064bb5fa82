/* Settings, checked. The public struct is in kith.h. */
#ifndef KITH_EMBED_SETTINGS_H
#define KITH_EMBED_SETTINGS_H

#include "core/status.h"

/* The attention layer's width in units. */
uint32_t kith__attention_width(const kith_settings *settings);
/* The preset "embedding", over settings that kith_settings_init made. */
void kith__settings_embedding(kith_settings *settings);
/* Values that do not go together, such as a ComplEx with an odd width. */
kith_status kith__settings_check(const kith_settings *settings, kith_error *error);

#endif
