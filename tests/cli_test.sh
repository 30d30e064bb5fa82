#!/bin/bash
# The command line as a person meets it: help, messages, exit statuses, JSON. Prints TAP.
#   KITH=build/kith tests/cli_test.sh
set -u
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

kith=${KITH:?says where the program is}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# ---- sources ----

mkdir folder
printf 'a\tr\tb\nb\tr\tc\nc\ts\ta\nx\tr\ta\nx\ts\tb\na\tr\tb\n' >folder/train
printf 'a\tr\tc\n' >folder/dev
printf 'x\tr\tb\n' >folder/test
printf 'a\tr\tb\nbad\nb\tr\tc\n' >bad.tsv
for i in $(seq 200); do
    printf 'e%d\tr%d\te%d\n' $((i % 40)) $((i % 3)) $(((i * 7 + i / 40) % 40))
done >single.tsv

# ---- help and version ----

check 'help lists the commands' 0 'stats .*' "$kith" help
check '--help is help' 0 'split .*unseen' "$kith" --help
check '-h is help' 0 'SOURCE is a folder' "$kith" -h
commands=$("$kith" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -vxE 'help|version')
for command in $commands; do
    check "help $command shows its usage" 0 "^usage: kith $command " "$kith" help "$command"
    check "help $command has examples" 0 '^examples:' "$kith" help "$command"
    check "$command --help is the same" 0 "^usage: kith $command " "$kith" "$command" --help
    check "$command -h is the same" 0 "^usage: kith $command " "$kith" "$command" -h
    check "$command without arguments says what it expects" 2 "^usage: kith $command " \
        "$kith" "$command"
    check "$command refuses an unknown option" 2 "'--nonsense'" "$kith" "$command" folder --nonsense
    check "$command refuses an unknown letter" 2 "'-Z'" "$kith" "$command" -Z folder
done
check 'help for stats tells of --json' 0 '--json' "$kith" help stats
check 'stats names a missing source' 1 'nowhere: cannot open: No such file' "$kith" stats nowhere
check 'split names a missing source' 1 'nowhere: cannot open: No such file' \
    "$kith" split nowhere -o c
check 'help for an unknown command' 2 "no command 'nonsense'" "$kith" help nonsense
check 'version' 0 '^kith [0-9]+\.[0-9]+\.[0-9]+$' "$kith" version
check '--version' 0 '^kith [0-9]' "$kith" --version
check 'no command at all' 2 '^usage: kith COMMAND' "$kith"
check 'an unknown command' 2 "no command 'nonsense'" "$kith" nonsense
check 'an option before the command' 2 "no command '--json'" "$kith" --json stats folder

# ---- stats ----

check 'stats prints the table' 0 'seen entities +4' "$kith" stats folder
check 'stats says what was recognised' 0 'folder of train, dev, test, aux' "$kith" stats folder
check 'stats draws a chart' 0 '█' "$kith" stats folder
check 'stats lists relations' 0 '60\.0 %  r' "$kith" stats folder
"$kith" stats folder >out 2>err
grep -q 'dropped 1 duplicate fact$' err
report $? 'duplicates are reported on stderr' "$(cat err)"
json 'stats --json has the stable keys' \
    'all(k in o for k in ("source layout relations seen unseen train dev test aux neighbors isolated '\
'duplicates_dropped bad_lines degrees commonest_relations duplicate_facts inverse_facts").split())' \
    "$kith" stats folder --json
json 'stats --json counts' \
    '(o["relations"], o["seen"], o["unseen"], o["train"], o["dev"], o["test"], o["aux"]) == '\
'(2, 4, 0, 5, 1, 1, 0) and o["neighbors"] == {"min": 2, "max": 3, "mean": 2.5}' \
    "$kith" stats --json folder
json 'stats --json gives the report' 'o["duplicates_dropped"] == 1 and o["bad_lines"] == 0' \
    "$kith" stats --json folder
json 'stats --json adds up' \
    'sum(d["entities"] for d in o["degrees"]) == 4 and '\
'sum(c["facts"] for c in o["commonest_relations"]) == o["train"]' \
    "$kith" stats --json folder
printf 'a"\\\t\xe2\x82\xac\x01\tb\n' >'odd "name".tsv'
json 'stats --json quotes what needs it' \
    'o["source"] == "odd \"name\".tsv" and o["commonest_relations"][0]["relation"] == "€\x01"' \
    "$kith" stats --json 'odd "name".tsv'
cp single.tsv "$(printf 'latin\xe9.tsv')"
json 'stats --json of a path that is not UTF-8' 'o["source"] == "latin?.tsv"' \
    "$kith" stats --json "$(printf 'latin\xe9.tsv')"
check 'stats of two sources' 2 'found 2 sources, expected one' "$kith" stats folder folder
check 'stats stops at a bad line' 1 'bad.tsv:2: found 1 column' "$kith" stats bad.tsv
check 'stats --skip-bad goes on' 0 'train +2' "$kith" stats --skip-bad bad.tsv
grep -q 'skipped 1 bad line; the first: bad.tsv:2:' err
report $? 'stats --skip-bad reports on stderr' "$(cat err)"
json 'stats --skip-bad --json' 'o["bad_lines"] == 1' "$kith" stats --skip-bad --json bad.tsv
check 'stats --threads' 0 'train' "$kith" stats folder --threads 3
for bad in -1 x '' 1.5 99999 18446744073709551616; do
    check "stats --threads '$bad'" 2 "--threads is '$bad'" "$kith" stats folder --threads "$bad"
done
check 'stats --threads without a number' 2 "'--threads' needs a value" \
    "$kith" stats folder --threads
check 'stats --json=yes' 2 "--json=yes" "$kith" stats folder --json=yes
check 'a source that begins with a dash, after --' 1 '^kith: -x: cannot open' "$kith" stats -- -x

# ---- split ----

check 'split tells what it did' 0 '1 test facts sampled, 1 candidates' \
    "$kith" split folder -o a --rate 100
check 'stats of a split' 0 'unseen entities +1' "$kith" stats a
printf 'a\tr\tb\nb\tr\tc\nc\ts\ta\n' | cmp -s - a/train
report $? 'split writes train with names' "$(cat a/train)"
printf 'x\tr\ta\nx\ts\tb\n' | cmp -s - a/aux
report $? 'split writes aux' "$(cat a/aux)"
printf 'x\tr\tb\n' | cmp -s - a/test
report $? 'split writes test' "$(cat a/test)"
printf 'a\tr\tc\n' | cmp -s - a/dev
report $? 'split writes dev' "$(cat a/dev)"
python3 -c 'import json; o = json.load(open("a/split.json")); assert o["seed"] == 1 and o["rate"] == 100'
report $? 'split records its settings' "$(cat a/split.json)"
json 'split --json' \
    '(o["strategy"], o["seed"], o["count"], o["labels"], o["sampled"], o["candidates"]) == '\
'("object", 5, 1, False, 1, 1) and all(k in o for k in "train dev test aux seen unseen".split())' \
    "$kith" split folder -o b --strategy object --count 1 --seed 5 --json
check 'split refuses a folder with something in it' 2 'a: exists and is not empty' \
    "$kith" split folder -o a --rate 100
check 'split --force replaces its own' 0 'sampled' "$kith" split folder -o a --rate 100 --force
mkdir mine && touch mine/precious
check 'split --force leaves others alone' 2 'not a folder that kith wrote' \
    "$kith" split folder -o mine --rate 100 --force
[ -e mine/precious ] && [ "$(ls mine)" = precious ]
report $? 'and really does' "$(ls mine)"
check 'split --ids' 0 '' "$kith" split folder -o ids --rate 100 --ids
[ -s ids/entity2id.txt ] && [ -s ids/relation2id.txt ] && grep -q '^[0-9]*	[0-9]*	[0-9]*$' ids/train
report $? 'split --ids writes ids and their names' "$(head ids/*)"
for strategy in subject object both; do
    for n in 1 2; do
        "$kith" split single.tsv -o "$strategy$n" --strategy $strategy --rate 20 --seed 3 --labels \
            >/dev/null 2>&1
    done
    diff -r ${strategy}1 ${strategy}2 >out 2>&1 && [ -s ${strategy}1/train ]
    report $? "split --strategy $strategy: the same seed gives the same bytes" "$(cat out)"
done
"$kith" split single.tsv -o other --rate 20 --seed 4 --labels >/dev/null 2>&1
! diff -r subject1 other >/dev/null
report $? 'split: another seed gives another split' ''
grep -q '	0$' subject1/dev && grep -q '	1$' subject1/test
report $? 'split --labels labels dev and test' "$(head subject1/dev subject1/test)"
check 'split --valid and --test' 0 'dev 0, test' \
    "$kith" split single.tsv -o shares --valid 0 --test 0.5 --rate 10
check 'split --valid where there is a dev' 2 'leave out --valid' \
    "$kith" split folder -o c --valid 0.1
check 'split --test where there is a test' 2 'leave out --test' "$kith" split folder -o c --test 0.1
rm folder/dev
check 'split --valid where there is only a test' 0 '' \
    "$kith" split folder -o v --valid 0 --rate 100
check 'split without -o' 2 'expected -o DIR' "$kith" split folder
check 'split without a source' 2 'found 0 sources' "$kith" split -o c
check 'split with both --rate and --count' 2 'both --rate and --count' \
    "$kith" split folder -o c --rate 10 --count 1
for option in -o --output --strategy --rate --count --valid --test --seed; do
    check "split $option without an argument" 2 "'$option' needs a value" \
        "$kith" split folder $option
done
for bad in -5 0 101 x '' nan inf 1e999; do
    check "split --rate '$bad'" 2 "--rate is '$bad'" "$kith" split folder -o c --rate "$bad"
done
for bad in -5 0 x '' 1.5 99999999999999999999; do
    check "split --count '$bad'" 2 "--count is '$bad'" "$kith" split folder -o c --count "$bad"
done
for bad in -1 x '' 1.5 99999999999999999999; do
    check "split --seed '$bad'" 2 "--seed is '$bad'" "$kith" split folder -o c --seed "$bad"
done
for bad in -0.1 1 x '' nan; do
    check "split --valid '$bad'" 2 "--valid is '$bad'" "$kith" split single.tsv -o c --valid "$bad"
    check "split --test '$bad'" 2 "--test is '$bad'" "$kith" split single.tsv -o c --test "$bad"
done
check 'split --strategy nonsense' 2 'expected subject, object or both' \
    "$kith" split folder -o c --strategy nonsense
check 'split --count past the end' 2 'asked for 9 test facts' "$kith" split folder -o c --count 9
check 'split of a bad file' 1 'bad.tsv:2:' "$kith" split bad.tsv -o c
check 'split into a missing parent' 1 'no/such' "$kith" split folder -o no/such --rate 100
[ ! -e c ] && [ ! -e no ] && ! ls -d ./*.tmp-* >/dev/null 2>&1
report $? 'nothing that failed left anything behind' "$(ls)"

# ---- output that cannot be written ----

"$kith" stats folder >/dev/full 2>err
[ $? = 1 ] && grep -q 'cannot write' err
report $? 'stats to a full disk fails' "$(cat err)"
"$kith" stats folder --json >/dev/full 2>err
[ $? = 1 ] && grep -q 'cannot write' err
report $? 'stats --json to a full disk fails' "$(cat err)"
"$kith" help >/dev/full 2>err
[ $? = 1 ] && grep -q 'cannot write' err
report $? 'help to a full disk fails' "$(cat err)"
(trap - PIPE; "$kith" stats folder 2>err; echo $? >status) | true
grep -qxE '0|141' status && ! grep -qiE 'sanitizer|abort' err
report $? 'a closed pipe ends it quietly' "$(cat status err)"

echo "1..$number"
[ "$failed" = 0 ]
