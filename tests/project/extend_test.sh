#!/bin/bash
# Adding a part takes one new file and one row: each patch in tests/patches adds one. They are applied to
# a copy of the checkout, which is built once and runs the test programs that the patches name.
# Prints TAP.
#   KITH_ROOT=. tests/project/extend_test.sh
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../support/tap.sh"

root=${KITH_ROOT:?says where the checkout is}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

finish() {
    echo "1..$number"
    [ "$failed" = 0 ]
    exit
}

# The copy has a build of its own, so once is enough.
case $(basename "${KITH_BUILD:-build}") in
    *-*) echo "ok 1 - patches # SKIP they are tried with the plain build"; echo 1..1; exit 0 ;;
esac

mkdir "$work/copy"
(cd "$root" && tar cf - --exclude='./build*' --exclude=./.git --exclude=examples/data .) |
    tar xf - -C "$work/copy"
programs=
for patch in "$root"/tests/patches/*.patch; do
    name=$(basename "$patch" .patch)
    files=$(grep -c '^diff --git' "$patch")
    others=$(grep '^diff --git' "$patch" | grep -cv '^diff --git a/src/')
    [ "$files" -le 2 ] && [ "$others" = 0 ]
    report $? "$name: at most two files of src/" "$(grep '^diff --git' "$patch")"
    (cd "$work/copy" && patch -p1 --no-backup-if-mismatch <"$patch") >"$work/log" 2>&1
    report $? "$name: the patch applies" "$(tail -5 "$work/log")"
    programs+=" $(sed -n 's/^Runs: //p' "$patch")"
done
programs=$(printf '%s\n' $programs | sort -u)

(cd "$work/copy" && meson setup build -Dtests=true -Dwerror=true -Doptimization=1 &&
    ninja -C build kith $(printf 'tests/%s ' $programs)) >"$work/log" 2>&1
report $? 'the copy builds' "$(grep -E 'error|FAILED' -A5 "$work/log" | head -30)"
[ "$failed" = 0 ] || finish
for program in $programs; do
    KITH_ROOT="$work/copy" KITH="$work/copy/build/kith" KITH_BUILD="$work/copy/build" \
        CMOCKA_MESSAGE_OUTPUT=STDOUT "$work/copy/build/tests/$program" >"$work/log" 2>&1
    report $? "$program holds what was added to what it holds the others to" \
        "$(grep -E 'ERROR|LINE|FAILED' "$work/log" | head -20)"
done
"$work/copy/build/kith" train --help >"$work/log" 2>&1
grep -q '|root' "$work/log" && grep -q '|simple' "$work/log" && grep -q '|square' "$work/log"
report $? 'the command offers them' "$(grep -A1 -- '--aggregator\|--decoder\|--loss' "$work/log")"
kith=$work/copy/build/kith
"$kith" train "$root/examples/films.tsv" -o "$work/run" --preset rules -q >"$work/log" 2>&1
"$kith" info "$work/run" >"$work/log" 2>&1
grep -q 'open best' "$work/log" && grep -q 'degree x known answers' "$work/log"
report $? 'weights of the added features are fitted' "$(tail -5 "$work/log")"
"$kith" explain "$work/run" --fact '"Luc Besson" "born in" Paris' \
    --query '"Luc Besson" "citizen of" ?' >"$work/log" 2>&1
grep -Eq 'open +[0-9]+ of [0-9]+ +Luc Besson  born in  \(any\)' "$work/log"
report $? 'rules of the added kind are among the reasons' "$(cat "$work/log")"
printf 'a|r|b\nb|r|c\n' >"$work/g.bars"
"$work/copy/build/kith" stats "$work/g.bars" >"$work/log" 2>&1
grep -q 'file of triples between bars' "$work/log" && grep -Eq 'seen entities +3' "$work/log"
report $? 'the added reader reads its files' "$(head -5 "$work/log")"
finish
