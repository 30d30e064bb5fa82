#include "rules/kinds.h"

#include <string.h>

const kith__rule_kind kith__rule_kinds[KITH__RULE_KINDS] = {
    {KITH_PART_DIRECT, 'A', "direct", "r(s, o) => q(s, o)", true, "a", 4},
    {KITH_PART_PATH, 'B', "path", "r1(s, x), r2(x, o) => q(s, o)", true, "b", 5},
    {KITH_PART_CONSTANT, 'C', "constant", "r(s, c) => q(s, o), c and o constants", false, NULL, 0},
    {KITH_PART_SHARED, 'D', "shared-answer", "r(o, c) => q(s, o), c and s constants", false, NULL,
     0},
};

kith_evidence_part kith__rule_feature_part(kith__rule_feature feature)
{
    static const kith_evidence_part parts[] = {
#define PART(name, part) KITH_PART_##part,
        KITH__RULE_FEATURE_TABLE(PART)
#undef PART
    };
    return parts[feature];
}

/* ---- parts of the evidence, for users ---- */

/* Other parts and sets that have names; of a set with two, the first is the one that is shown. */
static const struct {
    kith_evidence_part part;
    char letter;
    const char *name;
} others[] = {{KITH_PART_PROXIMITY, 'N', "proximity"},
              {KITH_PART_PROXIMITY, 'N', "near"},
              {KITH_PART_EMBEDDING, 'E', "embedding"},
              {KITH_PART_RULES, '*', "rules"},
              {KITH_PART_NONE, '-', "prior"}};
enum { OTHERS = sizeof others / sizeof *others };

const char *kith_part_name(kith_evidence_part part)
{
    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        if (kith__rule_kinds[i].part == part)
            return kith__rule_kinds[i].name;
    for (size_t i = 0; i < OTHERS; i++)
        if (others[i].part == part)
            return others[i].name;
    return NULL;
}

char kith_part_letter(kith_evidence_part part)
{
    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        if (kith__rule_kinds[i].part == part)
            return kith__rule_kinds[i].letter;
    for (size_t i = 0; i < OTHERS; i++)
        if (others[i].part == part)
            return others[i].letter;
    return '\0';
}

const char *kith_part_form(kith_evidence_part part)
{
    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        if (kith__rule_kinds[i].part == part)
            return kith__rule_kinds[i].form;
    return NULL;
}

static bool is_called(const char *name, char letter, const char *text, size_t length)
{
    return (length == 1 && text[0] == letter) ||
           (strlen(name) == length && strncmp(name, text, length) == 0);
}

kith_evidence_part kith_part_find(const char *text, size_t length)
{
    if (!text)
        return 0;
    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        if (is_called(kith__rule_kinds[i].name, kith__rule_kinds[i].letter, text, length))
            return kith__rule_kinds[i].part;
    for (size_t i = 0; i < OTHERS; i++)
        if (is_called(others[i].name, others[i].letter, text, length))
            return others[i].part;
    return KITH_PART_NONE;
}
