#!/bin/bash
# The command line as a person meets it: help, messages, exit statuses, JSON. Prints TAP.
#   KITH=build/kith tests/cli/cli_test.sh
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../support/tap.sh"

kith=${KITH:?says where the program is}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
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
commands=$("$kith" help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -vxE 'help|version')
for command in $commands; do
    check "help $command shows its usage" 0 "^usage: kith $command " "$kith" help "$command"
    check "help $command has examples" 0 '^examples:' "$kith" help "$command"
    check "$command --help is the same" 0 "^usage: kith $command " "$kith" "$command" --help
    check "$command -h is the same" 0 "^usage: kith $command " "$kith" "$command" -h
    check "$command without arguments says what it expects" 2 "^usage: kith $command " \
        "$kith" "$command"
    check "$command refuses an unknown option" 2 "unknown option '--nonsense'" "$kith" "$command" folder --nonsense
    check "$command refuses an unknown letter" 2 "unknown option '-Z'" "$kith" "$command" -Z folder
done
check 'help for stats tells of --json' 0 '--json' "$kith" help stats
check 'stats names a missing source' 1 'nowhere: cannot open: No such file' "$kith" stats nowhere
check 'split names a missing source' 1 'nowhere: cannot open: No such file' \
    "$kith" split nowhere -o c
check 'help for help is the overview' 0 'usage: kith COMMAND' "$kith" help help
check 'help for version is the overview' 0 'usage: kith COMMAND' "$kith" help version
check 'help for an unknown command' 2 "unknown command 'nonsense'" "$kith" help nonsense
check 'version' 0 '^kith [0-9]+\.[0-9]+\.[0-9]+$' "$kith" version
check '--version' 0 '^kith [0-9]' "$kith" --version
check 'no command at all' 2 '^usage: kith COMMAND' "$kith"
check 'an unknown command' 2 "unknown command 'nonsense'" "$kith" nonsense
check 'an option before the command' 2 "unknown command '--json'" "$kith" --json stats folder

check 'a mistyped command' 2 "unknown command 'predcit' .did you mean 'predict'" "$kith" predcit
check 'a mistyped option' 2 "unknown option '--thrads'" \
    "$kith" stats folder --thrads 2
grep -q "did you mean '--threads'" err
report $? 'gets the nearest one' "$(cat err)"
check 'a command that goes on' 2 "did you mean 'eval'" "$kith" evaluate
check 'a long option with one dash' 2 "unknown option '-query' .did you mean '--query'" "$kith" predict x -query 'a b ?'
check 'a mistyped setting' 2 "unknown option '--dims' .did you mean '--dim'" "$kith" train folder -o x --dims 4
check 'short forms of shared options' 0 'e1|r' "$kith" rules single.tsv -n 2 -j 1 -q
check 'a short form without its value' 2 "option '-j' needs a value" "$kith" stats folder -j
check '-q prints no notes' 0 'seen entities' "$kith" stats folder -q
[ ! -s err ]
report $? 'on standard error' "$(cat err)"
for option in '--dim 1e3' '--dim 0x10' '--lr 0x10' '--epochs 1e1'; do
    # shellcheck disable=SC2086 # two words
    check "train $option" 2 "${option#--* }" "$kith" train folder -o x $option
done
"$root"/tools/man-options "$kith" --check >out 2>&1
report $? 'the option lists of the man pages are those of the program' "$(cat out)"
bash -c '
. "$1"/completions/kith.bash
COMP_WORDS=("$2" split x --strategy "") COMP_CWORD=4; _kith 2>/dev/null; echo "${COMPREPLY[*]}"
COMP_WORDS=("$2" train x --aggr) COMP_CWORD=3; _kith 2>/dev/null; echo "${COMPREPLY[*]}"
COMP_WORDS=("$2" ex) COMP_CWORD=1; _kith 2>/dev/null; echo "${COMPREPLY[*]}"' - "$root" "$kith" >out 2>&1
printf 'subject object both\n--aggregator\nexplain export\n' | cmp -s - out
report $? 'bash completes commands, options, settings and choices' "$(cat out)"

# ---- stats ----

check 'stats prints the table' 0 'seen entities +4' "$kith" stats folder
check 'stats says what was recognised' 0 'folder of train, dev, test, aux' "$kith" stats folder
check 'stats draws a chart' 0 '█' "$kith" stats folder
check 'stats lists relations' 0 '60\.0 %  r' "$kith" stats folder
printf 'a\tr\tb\na\ts\tb\nb\tt\ta\nc\tq\td\n' >repeated.tsv
check 'stats counts facts that others repeat' 0 '^  50\.0 % of facts: another relation links the same subject' \
    "$kith" stats repeated.tsv
check 'and the relations that consist of them' 0 'at least 80 % of the facts: 2 and 3$' "$kith" stats repeated.tsv
"$kith" stats folder >out 2>err
grep -q 'dropped 1 duplicate fact$' err
report $? 'duplicates are reported on stderr' "$(cat err)"
json 'stats --json has the stable keys' \
    'all(k in o for k in ("source layout relations seen_entities unseen_entities facts neighbors isolated_entities '\
'duplicates_dropped bad_lines degrees common_relations duplicate_facts inverse_facts").split())' \
    "$kith" stats folder --json
json 'stats --json counts' \
    '(o["relations"], o["seen_entities"], o["unseen_entities"], o["facts"]) == '\
'(2, 4, 0, {"train": 5, "dev": 1, "test": 1, "aux": 0}) and o["neighbors"] == {"min": 2, "max": 3, "mean": 2.5}' \
    "$kith" stats --json folder
json 'stats --json gives the report' 'o["duplicates_dropped"] == 1 and o["bad_lines"] == 0' \
    "$kith" stats --json folder
json 'stats --json adds up' \
    'sum(d["entities"] for d in o["degrees"]) == 4 and '\
'sum(c["fact_count"] for c in o["common_relations"]) == o["facts"]["train"]' \
    "$kith" stats --json folder
printf 'a"\\\t\xe2\x82\xac\x01\tb\n' >'odd "name".tsv'
json 'stats --json quotes what needs it' \
    'o["source"] == "odd \"name\".tsv" and o["common_relations"][0]["relation"] == "€\x01"' \
    "$kith" stats --json 'odd "name".tsv'
cp single.tsv "$(printf 'latin\xe9.tsv')"
json 'stats --json of a path that is not UTF-8' 'o["source"] == "latin?.tsv"' \
    "$kith" stats --json "$(printf 'latin\xe9.tsv')"
check 'stats of two sources' 2 'found 2 arguments, expected SOURCE' "$kith" stats folder folder
check 'stats stops at a bad line' 1 'bad.tsv:2: found 1 column' "$kith" stats bad.tsv
check 'stats --skip-bad goes on' 0 'train +2' "$kith" stats --skip-bad bad.tsv
grep -q 'skipped 1 bad line; the first: bad.tsv:2:' err
report $? 'stats --skip-bad reports on stderr' "$(cat err)"
json 'stats --skip-bad --json' 'o["bad_lines"] == 1' "$kith" stats --skip-bad --json bad.tsv
check 'stats --threads' 0 'train' "$kith" stats folder --threads 3
for bad in -1 x '' 1.5 99999 18446744073709551616; do
    check "stats --threads '$bad'" 2 "--threads: '$bad' is not an integer" "$kith" stats folder --threads "$bad"
done
check 'stats --threads without a number' 2 "'--threads' needs a value" \
    "$kith" stats folder --threads
check 'stats --json=yes' 2 "option '--json' takes no value" "$kith" stats folder --json=yes
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
    '(o["strategy"], o["seed"], o["count"], o["labels"], o["sampled_facts"], o["candidates"]) == '\
'("object", 5, 1, False, 1, 1) and all(k in o for k in "facts seen_entities unseen_entities".split())' \
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
check 'split --valid where there is a dev' 2 'omit --valid' \
    "$kith" split folder -o c --valid 0.1
check 'split --test where there is a test' 2 'omit --test' "$kith" split folder -o c --test 0.1
rm folder/dev
check 'split --valid where there is only a test' 0 '' \
    "$kith" split folder -o v --valid 0 --rate 100
check 'split without -o' 2 'missing -o DIR' "$kith" split folder
check 'split without a source' 2 'missing SOURCE' "$kith" split -o c
check 'split with both --rate and --count' 2 'both --rate and --count' \
    "$kith" split folder -o c --rate 10 --count 1
for option in -o --output --strategy --rate --count --valid --test --seed; do
    check "split $option without an argument" 2 "'$option' needs a value" \
        "$kith" split folder $option
done
for bad in -5 0 101 x '' nan inf 1e999 0x10; do
    check "split --rate '$bad'" 2 "--rate: '$bad' is not" "$kith" split folder -o c --rate "$bad"
done
for bad in -5 0 x '' 1.5 99999999999999999999 0x10 1e3 ' 5'; do
    check "split --count '$bad'" 2 "--count: '$bad' is not" "$kith" split folder -o c --count "$bad"
done
for bad in -1 x '' 1.5 99999999999999999999; do
    check "split --seed '$bad'" 2 "--seed: '$bad' is not" "$kith" split folder -o c --seed "$bad"
done
for bad in -0.1 1 x '' nan; do
    check "split --valid '$bad'" 2 "--valid: '$bad' is not" "$kith" split single.tsv -o c --valid "$bad"
    check "split --test '$bad'" 2 "--test: '$bad' is not" "$kith" split single.tsv -o c --test "$bad"
done
check 'split --strategy nonsense' 2 'nonsense. is not subject, object or both' \
    "$kith" split folder -o c --strategy nonsense
check 'split --count past the end' 2 '9 test facts requested' "$kith" split folder -o c --count 9
check 'split of a bad file' 1 'bad.tsv:2:' "$kith" split bad.tsv -o c
check 'split into a missing parent' 1 'no/such' "$kith" split folder -o no/such --rate 100
[ ! -e c ] && [ ! -e no ] && ! ls -d ./*.tmp-* >/dev/null 2>&1
report $? 'nothing that failed left anything behind' "$(ls)"

# ---- hostile names ----

# The same graph twice: with plain names, and with names that hold every kind of harmful character.
python3 - <<'PYTHON'
import os
harmful = ["\x1b[2J", "\a", "\b", "\x7f", "\x9b31m", "\u202e", "\u2066", "\u2028", "\u2029",
           "\u200f", "\u061c", "\x85", "\x01", "\u200b", "\ufeff", "\xad", "\u2060", "\u2064", "\u180e",
           "\U000e0041", "\u3164", "\u2800", "\u034f"]
def write(folder, bad):
    os.mkdir(folder)
    name = lambda kind, i: f"{kind}{i}{harmful[i % len(harmful)]}!" if bad else f"{kind}{i}!"
    with open(folder + "/train", "w") as out:
        for i in range(60):
            print(name("p", i), name("plays", 0), name("team", i % 4), sep="\t", file=out)
            print(name("p", i), name("lives", 1), name("city", i % 4), sep="\t", file=out)
            print(name("p", i), name("knows", 5), name("p", i * 7 % 60), sep="\t", file=out)
    for split, i in ("dev", 3), ("test", 8):
        with open(f"{folder}/{split}", "w") as out:
            print(name("p", i), name("knows", 5), name("p", i + 1), sep="\t", file=out)
    with open(folder + "/entity_name.txt", "w") as out:
        for i in range(4):
            print(name("p", i), name("label", i + 1), sep="\t", file=out)
    with open(folder + "/new.tsv", "w") as out:
        print(name("new", 0), name("plays", 0), name("team", 1), sep="\t", file=out)
        print(name("new", 1), name("unknown", 2), name("team", 1), sep="\t", file=out)
    with open(folder + "/names.sh", "w") as out:
        for variable, value in ("new", name("new", 0)), ("plays", name("plays", 0)), \
                ("lives", name("lives", 1)), ("team", name("team", 1)), ("odd", name("odd", 2)), \
                ("split", name("p", 5).replace("/", "")):
            print(f"{variable}=$'" + "".join(f"\\x{b:02x}" for b in value.encode()) + "'", file=out)
write("plain", False)
write("hostile", True)
PYTHON
# every_command FOLDER: all that people read, of every command, with the folder's names.
every_command() {
    local new plays lives team odd split run="$1-run $(printf '\033[1m')" command
    . "./$1/names.sh"
    "$kith" stats "$1"
    "$kith" stats "nowhere$odd"
    "$kith" stats "$1" "--$odd"
    "$kith" stats "$1" "-$odd"
    "$kith" "$odd"
    "$kith" help "$odd"
    "$kith" stats "$1" --threads "$odd"
    "$kith" split "$1" -o "$1-split$odd" --rate 100 --force
    "$kith" split "$1" -o x --strategy "$odd"
    "$kith" rules "$1"
    "$kith" rules "$1" --kind ABC --examples --top 100
    "$kith" rules "$1" --relation "$odd"
    "$kith" train "$1" -o "$run" --dim 8 --epochs 2
    "$kith" train "$1" -o "$run"
    "$kith" train "$1" -o lan-$1 --preset release --dim 8 --epochs 2 --eval-every 0
    "$kith" train "$1" -o x --preset "$odd"
    "$kith" train "$1" -o x --aggregator "$odd"
    "$kith" train --resume "nothing$odd"
    "$kith" tune "$1" -o "$1-tuned$odd" --grid dim=4,8 --epochs 1
    "$kith" tune "$1" -o x --grid "$odd=3"
    "$kith" eval "$run"
    "$kith" eval "$run" --filter "$1" --without "$odd"
    "$kith" info "$run" --relation "$plays"
    "$kith" info "$run" --relation "$odd"
    for command in predict explain; do
        for run in "$run" lan-$1; do
            "$kith" $command "$run" --facts "$1/new.tsv" --query "$new	$lives	?"
            "$kith" $command "$run" --facts "$1/new.tsv" --query "$new	?	?"
            "$kith" $command "$run" --query "$split	$lives	?" --top 100
            "$kith" $command "$run" --query "$odd	$lives	?"
            "$kith" $command "$run" --query "$new	$odd	?" --fact "$new	$plays	$team"
            "$kith" $command "$run" --fact "$new	$odd	$team" --query "$odd"
            "$kith" $command "$run" --fact "$odd" --query "$new	$lives	?"
        done
    done
    printf '%s\n' "$new	$plays	$team" "$new	$odd	$team" "$new	$lives	?" why facts "find team" \
        "find $odd" "$odd" undo | "$kith" shell "$run"
    "$kith" export lan-$1 -o "vectors$odd" --table "$odd"
    "$kith" export lan-$1 -o "vectors$odd" --relation "$lives" --facts "$1/new.tsv"
    "$kith" export lan-$1 -o "vectors$odd" --relation "$lives" --entity "$odd"
}
for names in plain hostile; do
    every_command $names >$names.out 2>&1 </dev/null
done
python3 - >out 2>&1 <<'PYTHON'
plain, hostile = (open(f + ".out", encoding="utf-8", newline="\n").read() for f in ("plain", "hostile"))
harmful = [c for c in hostile if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or
           c in "\xad\u034f\u061c\u180e\u200b\u200e\u200f\u2800\u3164\ufeff" or "\u2028" <= c <= "\u202e" or "\u2060" <= c <= "\u206f" or
           "\U000e0000" <= c <= "\U000e007f")]
assert not harmful, (set(harmful), [l for l in hostile.split("\n") if harmful[0] in l][:3])
for escape in r"\x1b[2J", r"\x07", r"\x08", r"\x7f", r"\u009b", r"\u202e", r"\u2028", r"\u200f", \
        r"\u200b", r"\ufeff", r"\u00ad", r"\u2060", r"\u180e", r"\U000e0041", r"\u3164":
    assert escape in hostile, escape
assert len(plain) > 10000 and plain.count("\n") == hostile.count("\n"), \
    (len(plain), plain.count("\n"), hostile.count("\n"))
PYTHON
report $? 'no command prints a control character of a name' "$(tail -3 out)"
joined=$(printf '\331\205\333\214\342\200\214\330\256\331\210\330\247\331\207\331\205 \360\237\221\251\342\200\215\360\237\224\254')
"$kith" predict lan-plain --query "\"$joined\" lives1! ?" >out 2>&1
grep -qF "'$joined'" out
report $? 'joiners in a name are printed as they are' "$(cat out)"
lives=$(. ./plain/names.sh; printf %s "$lives")
"$kith" predict lan-plain --fact $'new\nkith: all is well\t'"plays0!	team1!" \
    --fact $'new\nfalse line\tno\nrelation\tx' --query $'new\nkith: all is well\t'"$lives	?" >out 2>&1
grep -qF 'new\nkith: all is well  lives1!  ?' out && grep -qF "ignored 'new\\nfalse line no\\nrelation x'" out &&
    ! grep -qE '^(kith: all is well|false line|relation)' out
report $? 'a line end in the name of a fact forges no line' "$(cat out)"
"$kith" stats $'a\nkith: b' >out 2>&1
[ "$(wc -l <out)" = 1 ] && grep -qF 'a\nkith: b: cannot open' out
report $? 'nor does one in a path' "$(cat out)"
. ./hostile/names.sh
for command in "stats hostile" "rules hostile" "rules hostile --kind ABC" "info lan-hostile" \
    "eval lan-hostile --filter hostile"; do
    # shellcheck disable=SC2086 # words on purpose
    "$kith" $command --json
done >all.json 2>err
for command in predict explain; do
    "$kith" $command lan-hostile --facts hostile/new.tsv --query "$new	$lives	?" --top 100 --json
    "$kith" $command lan-hostile --facts hostile/new.tsv --query "$new	$lives	?" --query "$new	?	?" --json
done >>all.json 2>>err
python3 - >out 2>&1 <<'PYTHON'
import json
text = open("all.json", encoding="utf-8", newline="\n").read()
harmful = [c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or
           c in "\xad\u034f\u061c\u180e\u200b\u200e\u200f\u2800\u3164\ufeff" or "\u2028" <= c <= "\u202e" or "\u2060" <= c <= "\u206f" or
           "\U000e0000" <= c <= "\U000e007f")]
assert not harmful, set(harmful)
decoder, at, count = json.JSONDecoder(), 0, 0
names = set()
def walk(o):
    for v in (o.values() if isinstance(o, dict) else o if isinstance(o, list) else ()):
        walk(v)
    if isinstance(o, str):
        names.add(o)
while text[at:].strip():
    o, at = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
    count += 1
    walk(o)
assert count == 9, count
assert "city1\a!" in names and "lives1\a!" in names and "knows5\u202e!" in names, names
assert any("\ufeff!" in n for n in names) and any("\U000e0041!" in n for n in names), names
PYTHON
report $? '--json escapes them, and gives the names back' "$(cat out err)"
"$kith" eval lan-hostile --ranks ranks.tsv >out 2>err
[ "$(awk -F'\t' '{ print NF }' ranks.tsv | sort -u)" = 8 ] && grep -q "$(printf 'p8\342\200\251!')" ranks.tsv
report $? 'ranks for programs keep names as they are' "$(cat -v ranks.tsv)"
! grep -nE '\b(f?printf|puts|fputs|perror|putc)\(' "$root"/src/cli/cmd_*.c
report $? 'commands print through the function that escapes' ''

# ---- signals ----

# signalled NAME STATUS COMMAND...: while the command waits for the pipe, it is told to end.
mkfifo pipe
signalled() {
    local name=$1 status=$2 pid
    shift 2
    "$@" >out 2>err <pipe &
    pid=$!
    exec 7>pipe
    for _ in $(seq 100); do # until it is far enough to heed it
        sleep .1
        kill "-$name" $pid 2>/dev/null || break
    done
    kill -9 $pid 2>/dev/null
    wait $pid
    [ $? = "$status" ]
    report $? "$2, stopped by $name, ends with status $status" "$(cat out err)"
    exec 7>&-
}
for signal in INT:130 TERM:143; do
    for command in "stats /dev/stdin" "rules /dev/stdin" "split /dev/stdin -o s" "train /dev/stdin -o s" \
        "tune /dev/stdin -o s" "eval lan-plain --filter /dev/stdin" "shell lan-plain" \
        "predict lan-plain --facts - --query x" "explain lan-plain --facts - --query x" \
        "export lan-plain -o s --relation lives1! --entities -"; do
        # shellcheck disable=SC2086 # words on purpose
        signalled ${signal%:*} ${signal#*:} "$kith" $command
    done
done

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
