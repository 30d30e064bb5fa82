/* The atoms of a rule, parsed from kith_part_form of its kind. */
#ifndef KITH_REPORT_RULE_FORM_H
#define KITH_REPORT_RULE_FORM_H

#include <kith/kith.h>

enum { RULE_ATOMS = 3 };

/* Variables: s and o; x and y between them; c for a constant; _ for any entity. */
typedef struct rule_atom {
    char from, to;
} rule_atom;

typedef struct rule_form {
    rule_atom body[RULE_ATOMS], conclusion;
    size_t count; /* atoms of the body; 0 if there is no such kind */
} rule_form;

rule_form rule_form_of(kith_evidence_part kind);

#endif
