#include "rules/kinds.h"

#include <stdbool.h>
#include <string.h>

_Static_assert((int)KITH__PART_DIRECT == (int)KITH_PART_DIRECT &&
                   (int)KITH__PART_PATH == (int)KITH_PART_PATH &&
                   (int)KITH__PART_CONSTANT == (int)KITH_PART_CONSTANT &&
                   (int)KITH__PART_SHARED == (int)KITH_PART_SHARED &&
                   (int)KITH__PART_PATH3 == (int)KITH_PART_PATH3,
               "the table has the flags of the public header");

const kith__rule_kind *const kith__rule_kinds[KITH__RULE_KINDS] = {
#define OBJECT(use, name, object, bit, combined) &kith__##object##_rules,
    KITH__RULE_KINDS_TABLE(OBJECT, )
#undef OBJECT
};

kith_evidence_part kith__rule_feature_part(kith__rule_feature feature)
{
    static const unsigned own[] = {
#define PART(name, part) KITH__PART_##part,
        KITH__OWN_RULE_FEATURES(PART)
#undef PART
    };
    int of_kinds = KITH__RULE_KINDS * KITH__FEATURES_OF_KIND, i = (int)feature;

    return (kith_evidence_part)(i < of_kinds ? kith__rule_kinds[i / KITH__FEATURES_OF_KIND]->part
                                             : own[i - of_kinds]);
}

const kith__rule_kind *kith__rule_kind_of(unsigned part)
{
    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        if (kith__rule_kinds[i]->part == part)
            return kith__rule_kinds[i];
    return NULL;
}

unsigned kith__existing_parts(unsigned parts)
{
    unsigned existing = KITH_PART_PROXIMITY | KITH_PART_EMBEDDING;

    for (size_t i = 0; i < KITH__RULE_KINDS; i++)
        existing |= kith__rule_kinds[i]->part;
    return parts & existing;
}

/* ---- parts of the evidence, for users ---- */

/* Other parts and sets of parts that have names. If a set has two names, the first one is shown. */
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
    const kith__rule_kind *kind = kith__rule_kind_of(part);

    if (kind)
        return kind->name;
    for (size_t i = 0; i < OTHERS; i++)
        if (others[i].part == part)
            return others[i].name;
    return NULL;
}

char kith_part_letter(kith_evidence_part part)
{
    const kith__rule_kind *kind = kith__rule_kind_of(part);

    if (kind)
        return kind->letter;
    for (size_t i = 0; i < OTHERS; i++)
        if (others[i].part == part)
            return others[i].letter;
    return '\0';
}

const char *kith_part_form(kith_evidence_part part)
{
    const kith__rule_kind *kind = kith__rule_kind_of(part);
    return kind ? kind->form : NULL;
}

int kith_part_mined(kith_evidence_part part)
{
    const kith__rule_kind *kind = kith__rule_kind_of(part);
    return kind && kind->mine;
}

int kith_part_listed(kith_evidence_part part)
{
    const kith__rule_kind *kind = kith__rule_kind_of(part);
    return kind && (kind->steps > 0 || kind->list);
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
        if (is_called(kith__rule_kinds[i]->name, kith__rule_kinds[i]->letter, text, length))
            return (kith_evidence_part)kith__rule_kinds[i]->part;
    for (size_t i = 0; i < OTHERS; i++)
        if (is_called(others[i].name, others[i].letter, text, length))
            return others[i].part;
    return KITH_PART_NONE;
}
