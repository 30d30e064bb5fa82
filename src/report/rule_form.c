#include "report/rule_form.h"

#include <string.h>

/* An atom is "r1(s, x)", with its variables at fixed offsets from the bracket. */
rule_form rule_form_of(kith_evidence_part kind)
{
    const char *form = kith_part_form(kind);
    const char *arrow = form ? strstr(form, "=>") : NULL;
    rule_form made = {.count = 0};

    for (const char *at = form; arrow && (at = strchr(at, '(')) && strlen(at) > 5; at++) {
        rule_atom atom = {at[1], at[4]};
        if (at > arrow)
            made.conclusion = atom;
        else if (made.count < RULE_ATOMS)
            made.body[made.count++] = atom;
    }
    return made;
}
