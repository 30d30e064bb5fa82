#!/usr/bin/env python3
"""Write C code that calls every function of the public header with hostile arguments:
tests/api/hostile.py kith.h hostile_calls.h. The result is part of tests/api/hostile_test.c, which has the
graph, model and session that the expressions below name.

What a header says by itself needs no row here: values of enums, results (NULL and a zeroed struct,
with the _free or _release call of its type), and outputs of plain types. Everything else does, so that
a new function fails here until its arguments are thought of:
  INPUTS    values by type, or by "FUNCTION.parameter" or "TYPE.parameter" where that
            is not enough
  OPTIONAL  parameters that may be NULL; NULL for any other must give KITH_ERR_ARGUMENT
"""
import itertools
import math
import random
import re
import sys

MOST_CALLS = 120  # of one function, unless a row of CALLS says otherwise
CALLS = {"kith_train": 60, "kith_train_consuming": 60, "kith_train_resume": 40,
         "kith_model_new": 60, "kith_dataset_make": 60, "kith_evaluate": 60}


class Once(str):
    """A value that takes long: in one call of the function alone."""


NAMES = ['"ann"', "NULL", '""', '"citizen_of"', '"no such name"', '"a\\tb\\nc"', '"\\033[31m\\007"',
         '"\\xff\\xfe"', "long_text", '"%s%n"', '"?"', '"\\xe2\\x80\\xae"']
PATHS = ['"facts.tsv"', "NULL", '""', '"missing"', '"missing/deep"', '"run"', '"."', '"/dev/null"',
         '"\\xff\\xfe\\n"', "long_text", '"%s%n"']
OUTPUTS = ["new_path()"] + PATHS[1:]
NUMBERS = ["0", "1", "2", "(size_t)-1", "(size_t)-1 / 2", "(size_t)UINT32_MAX"]

# The first value of each list is one that will do.
INPUTS = {
    "const kith_graph *": ["graph", "NULL", "other_graph"],
    "const kith_model *": ["model", "NULL", "table_model"],
    "kith_model *": ["model", "NULL", "table_model"],
    "const kith_session *": ["session", "NULL", "table_session"],
    "kith_session *": ["session", "NULL", "table_session"],
    "kith_session_encode.session": ["table_session", "NULL", "session"],
    "const kith_settings *": ["settings", "NULL"],
    "kith_settings *": ["settings", "NULL"],
    "kith_builder *": ["a_builder()", "NULL"],
    "const char *const *": ["names", "NULL", "names_missing"],
    "uint32_t *.ids": ["ids", "NULL"],
    "kith_builder_add_entities.count": ["2", "0", "1"],
    "kith_builder_add_relations.count": ["2", "0", "1"],
    "kith_facts": ["((kith_facts){&(kith_triple){0, 0, 0}, NULL, 1})", "((kith_facts){0})",
                   "((kith_facts){NULL, NULL, 5})", "((kith_facts){NULL, NULL, (size_t)-1})",
                   "((kith_facts){&(kith_triple){UINT32_MAX, 0, 9}, NULL, 1})",
                   "((kith_facts){&(kith_triple){0, 0, 0}, &(int8_t){77}, 1})"],
    "const char *": NAMES,
    "const char *.path": PATHS,
    "const char *.folder": OUTPUTS,
    "const char *.stem": OUTPUTS,
    "kith_model_open.folder": ['"run"'] + PATHS[1:],
    "kith_train_resume.folder": ['"run"'] + PATHS[1:],
    "kith_eval_write_ranks.path": OUTPUTS,
    "kith_session_save.path": OUTPUTS,
    "kith_settings_new.preset": ['"rules"', '"release"'] + NAMES[1:],
    "kith_settings_set.value": ['"5"', '"-1"', '"nan"', '"1e999"', '"0x10"'] + NAMES[1:],
    "kith_settings_get.name": ['"dim"', '"aggregator"'] + NAMES[1:],
    "kith_settings_set.name": ['"dim"', '"aggregator"', '"margin"'] + NAMES[1:],
    "kith_part_find.name": ['"path"', "NULL", '"\\xff\\xfe"', "long_text"],
    "kith_part_find.length": ["2", "0", "1"],
    "kith_error *": ["&error", "NULL"],
    "uint32_t": ["0", "1", "4", "1000", "INT32_MAX", "UINT32_MAX - 1", "UINT32_MAX"],
    "uint64_t": ["1", "0", "UINT64_MAX"],
    "double": ["0.5", "0", "-1", "1", "NAN", "INFINITY", "1e300"],
    "unsigned": ["1", "0", "2", Once("UINT_MAX")],
    "int": ["0", "1", "-1", "9999", "INT_MIN", "INT_MAX"],
    "size_t": NUMBERS,
    "size_t.most": ["8", "0", "1"],
    "kith_graph_suggest_entities.most": ["8", "0", "1", "(size_t)-1"], # never more than there is room for here
    "kith_graph_suggest_relations.most": ["8", "0", "1", "(size_t)-1"],
    "uint32_t *.entities": ["ids", "NULL"],
    "uint32_t *.relations": ["ids", "NULL"],
    "char *.text": ["text", "NULL"],
    "size_t.size": ["sizeof text", "0", "1", "3"],
    "kith_graph_suggest_entities.text": NAMES,
    "kith_graph_suggest_relations.text": NAMES,
    "kith_graph_resolve_entity.text": NAMES,
    "kith_graph_resolve_relation.text": NAMES,
    "kith_session_ask_all.count": ["2", "0", "1", "(size_t)-1", "(size_t)UINT32_MAX + 1"],
    "kith_triple": ["((kith_triple){0, 0, UINT32_MAX})", "((kith_triple){0, 0, 1})", "((kith_triple){UINT32_MAX, 0, 0})",
                    "((kith_triple){UINT32_MAX, UINT32_MAX, UINT32_MAX})", "((kith_triple){0, UINT32_MAX, 1})",
                    "((kith_triple){0, UINT32_MAX, UINT32_MAX})",
                    "((kith_triple){0, 1000, 0})", "((kith_triple){0, 0, UINT32_MAX - 1})"],
    "kith_session_judge_ids.fact": ["((kith_triple){0, 0, 1})", "((kith_triple){UINT32_MAX, 0, 0})",
                    "((kith_triple){0, 1000, 0})", "((kith_triple){0, 0, UINT32_MAX - 1})"],
    "const kith_triple *": ["(const kith_triple[]){{0, 0, 1}, {UINT32_MAX, 1000, 0}}", "NULL"],
    "kith_session_ask_all_ids.count": ["2", "0", "1", "(size_t)-1", "(size_t)UINT32_MAX + 1"],
    "kith_session_judge_all_ids.count": ["2", "0", "1", "(size_t)-1", "(size_t)UINT32_MAX + 1"],
    "kith_session_explain_all.count": ["2", "0", "1", "(size_t)-1", "(size_t)UINT32_MAX + 1"],
    "kith_session_explain_all_ids.count": ["2", "0", "1", "(size_t)-1", "(size_t)UINT32_MAX + 1"],
    "float *": ["vector", "NULL"],
    "const kith_open_options *": [
        "&(kith_open_options){.threads = 1}", "NULL",
        "&(kith_open_options){.skip_bad = -1}", "&(kith_open_options){.columns = \"1,2,3\"}", "&(kith_open_options){.columns = long_text}",
        "&(kith_open_options){.size = 3}", "&(kith_open_options){.size = 24, .watch = stop_at_once}",
        "&(kith_open_options){.size = sizeof(kith_open_options), .watch = stop_at_once}", Once("&(kith_open_options){.threads = UINT_MAX}")],
    "const kith_save_options *": [
        "&(kith_save_options){0}", "NULL", "&(kith_save_options){.size = 9}", "&(kith_save_options){.ids = -1, .replace = 9999}",
        '&(kith_save_options){.note = "\\xff\\n"}', "&(kith_save_options){.note = long_text}",
        "&(kith_save_options){.watch = stop_at_once}"],
    "const kith_dataset_options *": [
        "usual_dataset(0, 0, 0, 1)", "NULL", "&(kith_dataset_options){0}",
        "usual_dataset(9999, 10, 0, 0)", "usual_dataset(-1, 10, 0, 0)",
        "usual_dataset(0, NAN, 0, 0)", "usual_dataset(1, -1, 0, 0)",
        "usual_dataset(2, 1e300, 0, 0)", "usual_dataset(2, INFINITY, NAN, -1)",
        "usual_dataset(0, 10, 0.6, 0.6)", "&(kith_dataset_options){.size = 3}",
        "&(kith_dataset_options){.size = offsetof(kith_dataset_options, valid), .rate = 50}",
        "&(kith_dataset_options){.size = offsetof(kith_dataset_options, watch), .rate = 50, .valid = 0.2, "
        ".test = 0.2, .seed = 1, .watch = stop_at_once}",
        Once("&(kith_dataset_options){.size = sizeof(kith_dataset_options), .rate = 50, .valid = 0.2, "
             ".test = 0.2, .seed = 1, .threads = UINT_MAX}")],
    "const kith_rules_options *": [
        "&(kith_rules_options){.conclusion = UINT32_MAX, .top = 5, .threads = 1}", "NULL",
        "&(kith_rules_options){0}", "&(kith_rules_options){.size = 2}",
        "&(kith_rules_options){.top = 3, .watch = stop_at_once}", "&(kith_rules_options){.kinds = UINT_MAX, .top = (size_t)-1, "
        ".conclusion = UINT32_MAX, .threads = 2}",
        "&(kith_rules_options){.conclusion = 1000, .min_support = UINT32_MAX, .top = 1}"],
    "const kith_train_options *": [
        "&(kith_train_options){.threads = 1}", "NULL", "&(kith_train_options){.size = 4}",
        "&(kith_train_options){.threads = 1, .watch = stop_at_once}",
        "&(kith_train_options){.threads = 1, .progress = stop_training}",
        "&(kith_train_options){.threads = 2, .checkpoint_seconds = NAN}"],
    "const kith_work_options *": [
        "&(kith_work_options){.threads = 1}", "NULL", "&(kith_work_options){.size = 3}",
        "&(kith_work_options){.threads = 1, .watch = stop_at_once}"],
    "const kith_vectors *": [
        "&(kith_vectors){0, vector, 2, 3, 3, names, names}", "NULL", "&(kith_vectors){0}",
        "&(kith_vectors){.size = 5}", "&(kith_vectors){0, NULL, 2, 3, 3, NULL, NULL}",
        "&(kith_vectors){0, vector, 2, 3, 0, NULL, NULL}",
        "&(kith_vectors){0, vector, 0, (size_t)-1, 3, NULL, NULL}",
        "&(kith_vectors){0, vector, 2, 3, 3, names_missing, names_missing}",
        "&(kith_vectors){0, vector, (size_t)-1, (size_t)-1, (size_t)-1, NULL, NULL}"],
    "const kith_probability_options *": [
        "&(kith_probability_options){.entities = 3}", "NULL",
        "&(kith_probability_options){.size = 9}", "&(kith_probability_options){0}",
        "&(kith_probability_options){.entities = (size_t)-1, .watch = stop_at_once}"],
    "const kith_eval_options *": [
        "&(kith_eval_options){.split = KITH_TEST}", "NULL", "&(kith_eval_options){.size = 7}",
        "&(kith_eval_options){.split = KITH_TEST, .watch = stop_at_once}",
        "&(kith_eval_options){.split = (kith_split)9999}",
        "&(kith_eval_options){.split = (kith_split)-1}", "&(kith_eval_options){.split = KITH_SPLITS}",
        "&(kith_eval_options){.split = KITH_TRAIN}",
        "&(kith_eval_options){.split = KITH_TEST, .without = UINT_MAX, .candidates = (kith_candidate_set)-1}",
        "&(kith_eval_options){.split = KITH_DEV, .filter = other_graph, .sample = (size_t)-1}"],
    "const kith_eval *": [
        "&(kith_eval){0}", "NULL", "&(kith_eval){.rank_count = 3}",
        "a_rank((kith_rank){.fact = {9, 9, 9}}, 0)", "a_rank((kith_rank){.kind = 99, .facts = -7}, 0)",
        "a_rank((kith_rank){.fact = {UINT32_MAX, 0, 0}, .answer_count = SIZE_MAX}, 9)"],
    "const kith_question *": [
        'questions("ann", "citizen_of", NULL)', "NULL", "questions(NULL, NULL, NULL)",
        'questions("ann", NULL, NULL)', 'questions(NULL, NULL, "france")',
        'questions("ann", "citizen_of", "france")', 'questions("", "", NULL)',
        'questions("\\xff", "citizen_of", NULL)', 'questions("ann", "\\xff\\n", NULL)',
        "questions(long_text, long_text, NULL)", 'questions(NULL, "citizen_of", NULL)'],
    "const kith_ask_options *": [
        "&(kith_ask_options){.threads = 1}", "NULL", "&(kith_ask_options){.size = 3}",
        "&(kith_ask_options){.size = 16, .top = 2}",
        "&(kith_ask_options){.top = (size_t)-1, .relations = (size_t)-1, .new_only = -1, .threads = 2}",
        "&(kith_ask_options){.top = (size_t)-1 / 2, .relations = 1, .threads = 3}",
        "&(kith_ask_options){.min_probability = NAN, .watch = stop_at_once}"],
    "kith_session_judge_all.count": ["2", "0", "1", "(size_t)-1", "(size_t)UINT32_MAX + 1"],
    "const kith_missing_options *": [
        "&(kith_missing_options){.threads = 1}", "NULL", "&(kith_missing_options){.size = 9}",
        "&(kith_missing_options){.size = sizeof(kith_missing_options), .top = (size_t)-1, "
        ".min_probability = NAN, .threads = 1}",
        "&(kith_missing_options){.size = sizeof(kith_missing_options), .watch = stop_at_once}"],
    "void *": ["NULL"],
}
# Given away, or changed so that nobody could use it after: made for each call.
INPUTS["kith_graph_free.graph"] = ["NULL", "new_graph()"]
INPUTS["kith_train_consuming.graph"] = ["new_graph()", "NULL"]

OPTIONAL = {".error", ".options", ".report", ".use", ".help", ".choices", ".end", ".weight", ".part",
            ".ids", ".label", ".names", "kith_session_ask_all.questions",
            "kith_session_judge_all.facts", "kith_session_ask_all_ids.questions",
            "kith_session_judge_all_ids.facts", "kith_session_explain_all.questions",
            "kith_session_explain_all_ids.questions",
            "kith_session_find_missing.relation"}


def fail(message):
    sys.exit(f"tests/api/hostile.py: {message}; add a row to the tables there")


class Header:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
        self.structs = set(re.findall(r"typedef struct (\w+) \{", text))
        self.enums = set(re.findall(r"typedef enum (\w+) \{", text))
        self.functions = [self.parse(" ".join(found.split()))
                          for found in re.findall(r"KITH_API\s+([^;{}]*?\)\s*);", text)]
        expected = text.count("KITH_API") - 1  # its own definition
        if len(self.functions) != expected:
            fail(f"{expected} functions are marked KITH_API, {len(self.functions)} could be read")
        # What frees a result: kith_x_free(kith_x *).
        self.frees = {parameters[0][0]: name for _, name, parameters in self.functions
                      if re.search("_(free|release)$", name)}

    @staticmethod
    def parse(prototype):
        result, name, inside = re.fullmatch(r"(.*?)(\w+)\s?\((.*)\)", prototype).groups()
        parameters = []
        for text in [] if inside == "void" else inside.split(","):
            kind, parameter = re.fullmatch(r"\s*(.*?)(\w+)(?:\[\w*\])?\s*", text).groups()
            parameters.append((kind.strip(), parameter))
        return result.strip(), name, parameters


def is_optional(function, parameter):
    full = f"{function}.{parameter}"
    return full in OPTIONAL or f".{parameter}" in OPTIONAL


def values(header, function, kind, parameter):
    """C expressions, and what to declare before and do after a call with the first of them."""
    if function.endswith("_init") and parameter == "size":
        return [f"sizeof({function[:-5]})", "0", "1", "9"], "", ""
    for key in (f"{function}.{parameter}", f"{kind}.{parameter}", kind):
        if function.endswith("_free") and key not in INPUTS:
            return ["NULL"], "", ""
        if key in INPUTS:
            return INPUTS[key], "", ""
    slot = f"out_{parameter}"
    if kind in header.enums:
        return [f"({kind}){n}" for n in (1, 0, -1, 2, 3, 4, 9999, "INT_MIN")], "", ""
    base = kind[:-1].strip()
    if kind.endswith("**") and not kind.startswith("const char"):
        if base not in header.frees:
            fail(f"{function}: nothing frees the result {parameter} of type {kind}")
        return (["&" + slot, "NULL"], f"{base} {slot} = NULL;", f"{header.frees[base]}({slot});")
    if kind.endswith("*") and base in header.structs and not kind.startswith("const"):
        after = f"{header.frees[kind]}(&{slot});" if kind in header.frees else ""
        if header.frees.get(kind) == function:
            after = ""
        return ["&" + slot, "NULL"], f"{base} {slot} = {{0}};", after
    if kind.endswith("*") and not (kind.startswith("const") and base.count("*") == 0):
        return ["&" + slot, "NULL"], f"{base} {slot} = 0;", f"(void){slot};"
    fail(f"{function}: unknown type '{kind}' of {parameter}")


def combinations(choices, most):
    """Each value with first ones beside it, then all or some of the rest."""
    seen = dict.fromkeys([tuple([0] * len(choices))])
    for place, choice in enumerate(choices):
        for i in range(len(choice)):
            seen[tuple(i if p == place else 0 for p in range(len(choices)))] = None
    usual = [[i for i, value in enumerate(c) if not isinstance(value, Once)] for c in choices]
    if math.prod(map(len, usual)) <= most:
        seen.update(dict.fromkeys(itertools.product(*usual)))
    rng = random.Random(1)
    for _ in range(most - len(seen)):
        seen[tuple(rng.choice(places) for places in usual)] = None
    return list(seen)


def escape(text):
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def write_call(function, result, parameters, chosen, before, after):
    text = ", ".join(chosen)
    null = any(value == "NULL" and kind.endswith("*") and not is_optional(function, name)
               for value, (kind, name) in zip(chosen, parameters))
    lines = [f'    begin_call("{escape(f"{function}({text})")}");', "    {"]
    lines += [f"        {line}" for line in before if line]
    call = f"({function})({text})"  # not the macro of that name
    if result == "kith_status":
        with_error = any(value == "&error" for value in chosen)
        lines.append(f"        check_status({call}, {int(null)}, {int(with_error)});")
    elif result == "const char *":
        lines.append(f"        check_text({call});")
    elif result == "void":
        lines.append(f"        {call};")
    else:
        lines.append(f"        (void){call};")
    lines += [f"        {line}" for line in after if line]
    return lines + ["    }"]


def write_function(header, result, function, parameters):
    rows = [values(header, function, kind, name) for kind, name in parameters]
    lines = [f"static void call_{function}(void)", "{"]
    chosen = combinations([row[0] for row in rows], CALLS.get(function, MOST_CALLS))
    for places in chosen:
        picked = [row[0][i] for row, i in zip(rows, places)]
        used = [row for row, i in zip(rows, places) if i == 0]
        lines += write_call(function, result, parameters, picked,
                            [row[1] for row in used], [row[2] for row in used])
    return lines + ["}", ""]


def main():
    header = Header(sys.argv[1])
    lines = ["/* Written by tests/api/hostile.py. */", ""]
    for result, function, parameters in header.functions:
        lines += write_function(header, result, function, parameters)
    lines.append("static const struct {\n    const char *name;\n    void (*run)(void);\n} calls[] = {")
    lines += [f'    {{"{name}", call_{name}}},' for _, name, _ in header.functions]
    lines.append("};")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
