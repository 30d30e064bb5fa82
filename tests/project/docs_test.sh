#!/bin/bash
# The documentation is complete and uses the field's words.
set -u
# shellcheck source=tests/support/tap.sh
. "$(dirname "$0")/../support/tap.sh"
cd "$KITH_ROOT" || exit 1

# Files as docs/ARCHITECTURE.md lists them: `folder/name`, for a .h and a .c, or with its ending.
listed() { # prints what is wrong
    local architecture=docs/ARCHITECTURE.md file stem row
    while read -r file; do
        file=${file#src/}
        stem=${file%.[ch]}
        case $file in cli/cmd_*.c) continue ;; esac
        grep -qE "^\| \`($stem|$file)\` \|" $architecture ||
            echo "src/$file has no row in $architecture"
    done < <(find src -name '*.[ch]' | sort)
    while read -r row; do
        case $row in cli/cmd_NAME.c) continue ;; esac
        case $row in *.[ch]) [ -f "src/$row" ] ;; *) [ -f "src/$row.c" ] && [ -f "src/$row.h" ] ;; esac ||
            echo "$architecture lists $row, which does not exist (without an ending: a .h and a .c)"
    done < <(sed -n 's/^| `\([a-z_/]*\(\.[ch]\)\{0,1\}\)` |.*/\1/p' $architecture)
    for file in src/cli/cmd_*.c; do
        stem=${file#src/cli/cmd_}
        grep -E '^\| `cli/cmd_NAME.c`' $architecture | grep -qw "${stem%.c}" ||
            echo "$file has no mention in $architecture"
    done
}
wrong=$(listed)
[ -z "$wrong" ]
report $? "docs: ARCHITECTURE.md lists every source file" "$wrong"

# Also what is read first.
mapfile -t files < <(find src include bench examples -name '*.[ch]' | sort; ls README.md docs/*.md CONTRIBUTING.md man/*.1)
wrong=$(python3 tests/find_words.py tests/words.txt "${files[@]}" 2>&1)
[ -z "$wrong" ]
report $? "docs: no private words (tests/words.txt)" "$wrong"

# What the program prints as help, which is put together from several strings.
words=$(mktemp)
trap 'rm -f "$words" "$words.c"' EXIT
{
    "$KITH" help
    for command in src/cli/cmd_*.c; do
        command=${command#src/cli/cmd_}
        "$KITH" help "${command%.c}"
    done
} >"$words"
wrong=$(python3 tests/find_words.py tests/words.txt "$words" 2>&1)
[ -s "$words" ] && [ -z "$wrong" ]
report $? "docs: no private words in help" "$wrong"

# The test can fail: each word is found where it stands.
printf 'The rules that speak\nfor it, parted by blanks; nearness.\n' >"$words"
[ "$(python3 tests/find_words.py tests/words.txt "$words" | wc -l)" = 4 ]
report $? "docs: private words are found, also across lines" ""

printf '/* asked */ int f(int room, int subject_asked) { return g("near", x->asked) + room; }\n' >"$words.c"
found=$(python3 tests/find_words.py tests/words.txt "$words.c")
rm -f "$words.c"
[ "$(wc -l <<<"$found")" = 3 ] && [ "$(grep -c "'asked'" <<<"$found")" = 1 ]
report $? "docs: private words are found as identifiers, but not in other names, comments or strings" "$found"

# The kinds of rules: the stems in the table of kinds.h, and what their files say about themselves.
kinds() { # prints "name letter" per kind
    sed -n 's/^ *KIND(USE, [A-Z0-9]*, \([a-z0-9]*\),.*/\1/p' src/rules/kinds.h | while read -r stem; do
        sed -n 's/.*\.name = "\([^"]*\)".*/\1/p' "src/rules/kinds/$stem.c" | head -1 | tr '\n' ' '
        sed -n "s/.*\.letter = '\(.\)'.*/\1/p" "src/rules/kinds/$stem.c" | head -1
    done
}
undescribed() { # prints what is missing
    kinds | while read -r name letter; do
        grep -q "^| $name | $letter | " docs/MODEL.md || echo "$name ($letter): docs/MODEL.md has no row"
        grep -iqE "^(\.It )?$name( \($letter\)| rules)" man/kith-rules.1 || echo "$name: not in man/kith-rules.1"
        grep -q "^ \*   $name  *r" include/kith/kith.h || echo "$name: not in the comment on kith_evidence_part"
    done
    "$KITH" help --dump | awk -F '\t' '$2 == "train" && $3 ~ /^--(aggregator|decoder|loss|preset)$/ {
        print substr($3, 3), $5 }' | tr '|' ' ' | while read -r what names; do
        for name in $names; do
            grep -q "\`$name\`" docs/TRAINING.md || echo "$what $name: not in docs/TRAINING.md"
        done
    done
}
wrong=$(undescribed)
[ -z "$wrong" ] && [ "$(kinds | grep -c '^[a-z0-9-]* [A-Z]$')" -ge 5 ]
report $? "docs: every kind of rules, aggregator, decoder, loss and preset is described" "$wrong
kinds: $(kinds)"

wrong=$(tests/defects --check 2>&1)
report $? "tests: every row of tests/defects fits the source" "$wrong"

exit $((failed > 0))
