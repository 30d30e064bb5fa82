#!/bin/bash
# Every kind of question: whether a fact is true, which relation, what is missing, many from a file,
# and kith check. Prints TAP.
#   KITH=build/kith tests/cli/questions_test.sh
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../support/tap.sh"

kith=${KITH:?says where the program is}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
tab=$'\t'

# Players live where their team is based. Two of them lack a home, and one has a wrong one as well.
mkdir source
python3 - <<'PYTHON'
import random
random.seed(3)
cities = ["Chicago", "Los Angeles", "New York", "Boston"]
with open("source/train", "w") as out:
    for c in cities:
        print(f"team {c}\tbased in\t{c}", file=out)
    for i in range(60):
        c = cities[i % 4]
        print(f"p{i}\tplays_for\tteam {c}", file=out)
        if i not in (8, 13):
            print(f"p{i}\tlives_in\t{c}", file=out)
        print(f"p{i}\tknows\tp{random.randrange(60)}", file=out)
    print("p20\tlives_in\tNew York", file=out)
with open("source/dev", "w") as out:
    print("p0\tknows\tp1", file=out)
PYTHON
"$kith" train source -o rules --preset rules --quiet >/dev/null 2>err
report $? 'a run of rules is made' "$(cat err)"
"$kith" train source -o lan --preset release --dim 12 --batch 32 --lr 0.03 --epochs 60 --eval-every 0 --quiet \
    >/dev/null 2>err
report $? 'a run of an embedding is made' "$(cat err)"

# ---- S R O ----

json 'a true fact that nobody has said is likely' \
    '(o["results"][0]["verdict"] == "likely" and o["results"][0]["rank"] == 1 and not o["results"][0]["known"]
     and o["results"][0]["has"] > .5 and o["results"][0]["probability_if_any"] > .5)' \
    "$kith" predict rules --query 'p8 lives_in Chicago' --json
json 'a second home is unlikely' \
    'o["results"][0]["verdict"] == "unlikely" and o["results"][0]["probability"] < .1 and o["results"][0]["has"] < .2' \
    "$kith" predict rules --query 'p0 lives_in Boston' --json
json 'a known fact is said to be known, and judged with itself hidden' \
    'o["results"][0]["known"] and o["results"][0]["verdict"] == "known" and o["results"][0]["probability"] > .5' \
    "$kith" predict rules --query 'p0 lives_in Chicago' --json
check 'people get a verdict' 0 '^ +[0-9.]+ % \[[0-9]+-[0-9]+ %\]  likely$' "$kith" predict rules --query 'p8 lives_in Chicago'
"$kith" predict rules --query 'p8 lives_in ?' --top 100 --json >asked 2>err
"$kith" predict rules --query 'p8 lives_in Boston' --json >judged 2>err
python3 - <<'PYTHON' >out 2>&1
import json
asked = json.load(open("asked"))["results"][0]["answers"]
judged = json.load(open("judged"))["results"][0]
rank, answer = next((i + 1, a) for i, a in enumerate(asked) if a["entity"] == "Boston")
assert (rank, answer["probability"], answer["score"]) == (judged["rank"], judged["probability"], judged["score"]), \
    (rank, answer, judged)
PYTHON
report $? 'rank, score and probability are those of the answer to S R ?' "$(cat out)"
json 'a fact about a new entity' 'o["results"][0]["verdict"] == "likely"' \
    "$kith" predict rules --fact "new${tab}plays_for${tab}team Boston" --query 'new lives_in Boston' --json
json 'a new entity as the object is asked about' 'o["results"][0]["subject_asked"]' \
    "$kith" predict rules --fact 'p3 knows new' --query 'p4 knows new' --json
json 'without P(has r) there is a rank' \
    'o["results"][0]["verdict"] == "unknown" and "probability" not in o["results"][0] and o["results"][0]["rank"] > 0' \
    "$kith" predict lan --query 'p8 lives_in Chicago' --json
check 'a name that is none' 1 "nothing is known about 'nobody'" "$kith" predict rules --query 'p0 knows nobody'
json 'two new entities' 'o["results"][0]["rank"] > 0 and o["results"][0]["probability"] > 0' \
    "$kith" predict rules --fact 'n1 knows p1' --fact 'n2 knows p1' --query 'n1 knows n2' --json
check 'without rules a new entity cannot be the answer' 2 'neither the subject nor the object' "$kith" predict lan \
    --fact 'n1 knows p1' --fact 'n2 knows p1' --query 'n1 knows n2'
check 'explain says what speaks against a fact' 0 'against: p0 is unlikely to have another .lives_in. fact' \
    "$kith" explain rules --query 'p0 lives_in Boston'
check 'and for it' 0 'p8  plays_for  team Chicago$' "$kith" explain rules --query 'p8 lives_in Chicago'
json 'the reasons are those of the fact' \
    '(o["results"][0]["answers"][0]["entity"] == "Boston" and o["results"][0]["contributions"][0]["entity"] == "Boston"
     and o["results"][0]["verdict"] == "unlikely")' \
    "$kith" explain rules --query 'p8 lives_in Boston' --json
"$kith" explain rules --query 'p0 lives_in Chicago' >out 2>err
! grep -q 'p0  lives_in  Chicago  \[graph\]' out && grep -q 'p0  plays_for  team Chicago  \[graph\]' out
report $? 'a known fact is not a reason for itself' "$(cat out err)"

for command in predict explain; do
    check "$command: a fact is judged among all candidates" 0 '^      rank 1 of [0-9]+ objects, score ' \
        "$kith" $command rules --query 'p8 lives_in Chicago' --candidates new
done

# ---- S ? O, about S ----

json 'which relation' \
    '([a["relation"] for a in o["results"][0]["answers"]][0] == "lives_in" and len(o["results"][0]["answers"]) == 4
     and all(a["entity"] == "Chicago" for a in o["results"][0]["answers"]))' \
    "$kith" predict rules --query 'p8 ? Chicago' --json
json 'known relations can be left out' '"lives_in" not in [a["relation"] for a in o["results"][0]["answers"]]' \
    "$kith" predict rules --query 'p0 ? Chicago' --new-only --json
check 'relations are explained' 0 '^  Chicago: ' "$kith" explain rules --query 'p8 ? Chicago'
json 'about asks in both directions, likeliest first' \
    '({a["is_subject"] for a in o["results"][0]["answers"]} == {True, False}
     and [a["probability"] for a in o["results"][0]["answers"]] == sorted((a["probability"] for a in o["results"][0]["answers"]), reverse=True))' \
    "$kith" predict rules --about p8 --json
check 'the entity stands in its place' 0 '%\]?  [A-Za-z0-9]+  knows  p8$' "$kith" predict rules --about p8
json 'S ? ? asks for objects alone' 'not any(a["is_subject"] for a in o["results"][0]["answers"])' \
    "$kith" predict rules --query 'p8 ? ?' --json

# ---- missing facts ----

json 'the likeliest missing facts of a relation' \
    '([(f["subject"], f["object"]) for f in o["results"][0]["missing"]] == [("p13", "Los Angeles"), ("p8", "Chicago")]
     and o["results"][0]["complete"])' \
    "$kith" predict rules --query '? lives_in ?' --top 2 --json
json 'of all relations' \
    '{(f["subject"], f["relation"]) for f in o["results"][0]["missing"]} == {("p13", "lives_in"), ("p8", "lives_in")}' \
    "$kith" predict rules --query '? ? ?' --top 2 --json
json 'the work is bounded' 'o["results"][0]["queries"] == 3 and not o["results"][0]["complete"]' \
    "$kith" predict rules --query '? ? ?' --questions 3 --json
for threads in 1 3; do
    "$kith" predict rules --query '? ? ?' --top 20 --json --threads $threads >threads.$threads 2>err
done
cmp threads.1 threads.3 >out 2>&1
report $? 'threads make no difference' "$(cat out)"
check 'the likeliest is explained' 0 '^p13  lives_in  Los Angeles$' "$kith" explain rules --query '? lives_in ?'

home=(--fact "club${tab}based in${tab}Boston" --query '? plays_for ?' --top 500)
json 'a new entity in a missing fact has its name' \
    '"club" in {f["object"] for f in o["results"][0]["missing"]}' "$kith" predict rules "${home[@]}" --json
check 'in a table too' 0 "^1${tab}[0-9]+${tab}p[0-9]+${tab}plays_for${tab}club${tab}" \
    "$kith" predict rules "${home[@]}" --format tsv
check 'a new entity may be the subject of a missing fact' 0 "^1${tab}[0-9]+${tab}fresh${tab}lives_in${tab}Boston${tab}" \
    "$kith" predict rules --fact "fresh${tab}plays_for${tab}team Boston" --query '? lives_in ?' --top 500 --format tsv
json 'candidates are those of missing facts too' '{f["object"] for f in o["results"][0]["missing"]} == {"club"}' \
    "$kith" predict rules "${home[@]}" --candidates new --json
printf 'a\tr\tb\n' >one.tsv
"$kith" train one.tsv -o one --preset rules --quiet >/dev/null 2>err
report $? 'a run of one fact is made' "$(cat err)"
check 'and where it is explained' 0 '^(a  r  new|new  r  a)$' "$kith" explain one --fact 'new r b' --query '? r ?'

# ---- what is known has no probability ----

json 'known answers have no probability, and stay' \
    '[a["known"] for a in o["results"][0]["answers"]].count(True) == 1 and all(("probability" in a) != a["known"] and ("low" in a) != a["known"] and ("probability_if_any" in a) != a["known"] for r in o["results"] for a in r["answers"])' \
    "$kith" predict rules --query 'p0 lives_in ?' --query 'p0 ? ?' --query 'p0 ? Chicago' --min-probability 0.01 --json
json 'of pairs, they come last' \
    'sorted(a["known"] for a in o["results"][0]["answers"]) == [a["known"] for a in o["results"][0]["answers"]]' \
    "$kith" predict rules --query 'p0 ? ?' --top 1000 --json
json 'of relations, first' 'o["results"][0]["answers"][0]["relation"] == "lives_in" and o["results"][0]["answers"][0]["known"]' \
    "$kith" predict rules --query 'p0 ? Chicago' --json

# ---- what is not known is shown ----

printf 'a\tr\tb\nb\tr\tc\nc\tr\ta\nc\ts\td\n' >tiny.tsv
"$kith" train tiny.tsv -o tiny --preset rules --quiet >/dev/null 2>err
report $? 'a run that measured no interval is made' "$(cat err)"
check 'an answer has the interval of all' 0 '^ +2 +[-0-9.]+ +[0-9.]+ % \[0-100 %\] .*  c$' \
    "$kith" predict tiny --query 'a r ?'
check 'a verdict too' 0 '^ +[0-9.]+ % \[0-100 %\]  unlikely$' "$kith" predict tiny --query 'a r c'
check 'and missing facts' 0 '^ +1 +[0-9.]+ % \[0-100 %\]  c  r  b$' "$kith" predict tiny --query '? r ?'
check 'and what speaks against a fact' 0 'against: c ranks above it, [0-9.]+ % \[0-100 %\]$' \
    "$kith" explain tiny --query 'a r d'
"$kith" train "$KITH_ROOT/examples/films.tsv" -o films --preset rules --quiet >/dev/null 2>err
check 'where one interval is wide' 0 '^ +1 .* % \[[0-9]+-[0-9]+ %\]  ' "$kith" predict films --query '"United States" ? ?'
[ "$(grep -c ' % \[[0-9]*-[0-9]* %\]  ' out)" = 10 ]
report $? 'those of all answers are shown' "$(cat out err)"
json 'JSON has the interval of a verdict' 'o["results"][0]["low"] == 0 and o["results"][0]["high"] == 1' \
    "$kith" predict tiny --query 'a r c' --json
json 'a measured one holds the probability' \
    'all(0 <= r["low"] <= r["probability"] <= r["high"] <= 1 for q in o["results"] for r in q.get("missing", [q]))' \
    "$kith" predict rules --query 'p8 lives_in Chicago' --query '? lives_in ?' --json

# ---- many at once ----

printf 'p8 lives_in ?\nnobody lives_in ?\np8 lives_in Chicago\nnonsense\np8 ? Boston\n' >questions
"$kith" predict rules --queries questions --format tsv --top 2 >out 2>err
[ $? = 1 ] && python3 - <<'PYTHON' >said 2>&1
rows = [line.rstrip("\n").split("\t") for line in open("out")]
assert rows[0] == "question rank subject relation object probability low high probability_if_any known verdict status".split(), rows[0]
assert [r[0] for r in rows[1:]] == list("1123455"), rows
assert all(len(r) == 12 for r in rows), rows
assert rows[1][2:5] == ["p8", "lives_in", "Chicago"] and float(rows[1][5]) > .5 and 0 < float(rows[1][8]) < 1
assert float(rows[1][6]) < float(rows[1][5]) < float(rows[1][7]) and rows[4][10] == "likely", rows
assert "nothing is known about 'nobody'" in rows[3][11] and "found 1 field" in rows[5][11], rows
PYTHON
report $? 'a question that fails does not stop the others' "$(cat said out err)"
"$kith" predict rules --queries - --format jsonl --min-probability 0.5 <questions >out 2>err
[ $? = 1 ] && python3 - <<'PYTHON' >said 2>&1
import json
lines = [json.loads(line) for line in open("out")]
assert lines[3]["query"] == {"subject": "nonsense", "relation": None, "object": None}, lines[3]
assert len(lines) == 5 and ["error" in l for l in lines] == [False, True, False, True, False], lines
assert [a["entity"] for a in lines[0]["answers"]] == ["Chicago"] and lines[4]["answers"] == [], lines
PYTHON
report $? 'as JSON lines, without unlikely answers' "$(cat said out err)"
printf 'p8 lives_in Boston\np8 lives_in Chicago\np0 lives_in Chicago\nChicago lives_in ?\n' >likely
"$kith" predict rules --queries likely --format tsv --min-probability 0.5 >out 2>err
cut -f 1,2,5,11,12 out | tr '\t' ' ' | tail -n +2 >said
printf '1  Boston  no answer\n2 1 Chicago likely ok\n3 1 Chicago known ok\n4  ?  no answer\n' | cmp - said >>err
report $? 'unlikely facts are omitted, and a question without an answer has a row' "$(cat said err out)"
printf 'about p8\nabout "team Boston"\n' >about
"$kith" predict rules --queries about >out 2>err &&
    grep -q '^p8  ?  ?$' out && grep -q '^team Boston  ?  ?$' out && grep -q 'team Boston$' out
report $? 'a line may ask about an entity' "$(cat out err)"
printf 'n1\tplays_for\tteam Boston\nn2\tplays_for\tteam Chicago\nn3\tdances\tp1\n' >new.tsv
printf 'p8 lives_in ?\n* lives_in ?\nnobody lives_in ?\n? knows *\n"*" lives_in ?\n* knows *\n' >stars
"$kith" predict rules --facts new.tsv --queries stars --format jsonl --top 1 >out 2>err
[ $? = 1 ] && python3 - <<'PYTHON' >said 2>&1
import json
lines = [json.loads(line) for line in open("out")]
asked = [(l["query"]["subject"], l["query"]["object"]) for l in lines]
assert asked == [("p8", None), ("n1", None), ("n2", None), ("nobody", None), (None, "n1"), (None, "n2"),
                 ("*", None), ("n1", "*"), ("n2", "*")], asked
assert ["error" in l for l in lines] == [False] * 3 + [True] + [False] * 2 + [True] * 3, lines
assert [lines[i]["answers"][0]["entity"] for i in (1, 2)] == ["Boston", "Chicago"], lines
PYTHON
report $? 'a star in a file stands for every new entity with usable facts' "$(cat said out err)"
"$kith" predict rules --facts new.tsv --query '* lives_in ?' >one-way 2>err
echo '* lives_in ?' | "$kith" predict rules --facts new.tsv --queries - >out 2>>err
cmp one-way out >said 2>&1
report $? 'as it does with --query' "$(cat said err)"
printf '* lives_in ?\np8 lives_in ?\n' >stars
"$kith" predict rules --queries stars >out 2>err
[ $? = 1 ] && grep -q "^kith: stars:1: question 1: no usable fact tells about a new entity, so '\*' stands for none" err \
    && grep -q '^p8  lives_in' out
report $? 'one that stands for none does not stop the others' "$(cat out err)"
"$kith" predict rules --query '* lives_in ?' --query 'p8 lives_in ?' >out 2>err
[ $? = 2 ] && grep -q "^kith: query '\* lives_in ?': no usable fact" err && grep -q '^p8  lives_in' out
report $? 'nor on the command line' "$(cat out err)"
python3 -c '
for i in range(700): print(f"m{i}\tplays_for\tteam Boston")' >many.tsv
printf '* lives_in ?\n* lives_in "New York"\n' | "$kith" predict rules --facts many.tsv --queries - --format tsv --top 1 \
    >out 2>err
[ $? = 0 ] && [ "$(wc -l <out)" = 1401 ] \
    && [ "$(tail -1 out | cut -f 1,3-5)" = "1400${tab}m699${tab}lives_in${tab}New York" ]
report $? 'more new entities than are asked about at once' "$(tail -2 out; cat err)"
printf '\r\np8 lives_in ?\r\n' >windows
check 'empty lines that end as on Windows are none' 0 '^p8  lives_in' "$kith" predict rules --queries windows
printf 'p8 lives_in ?\n' >questions
check 'status 0 where all can be answered' 0 '^1.1.p8.lives_in.Chicago' \
    "$kith" predict rules --queries questions --format tsv
check 'a file that is not there' 1 "^kith: nowhere: cannot open: " "$kith" predict rules --queries nowhere
check 'no question at all' 2 'missing --query' "$kith" predict rules
check 'a probability that is none' 2 'min-probability' "$kith" predict rules --query 'p8 lives_in ?' \
    --min-probability 2

# ---- check ----

printf 'p8\tlives_in\tChicago\np8\tlives_in\tBoston\nzzz\tlives_in\tBoston\nnonsense\n' >facts
"$kith" check rules facts >out 2>err
[ $? = 1 ] && python3 - <<'PYTHON' >said 2>&1
rows = [line.rstrip("\n").split("\t") for line in open("out")]
assert rows[0] == "subject relation object probability low high rank verdict status".split(), rows
assert [r[7] for r in rows[1:]] == ["likely", "unlikely", "", ""], rows
assert float(rows[1][4]) < float(rows[1][3]) < float(rows[1][5]), rows
assert rows[1][8] == "ok" and "zzz" in rows[3][8] and all(len(r) == 9 for r in rows), rows
PYTHON
report $? 'facts of a file get probabilities, and what is wrong with a line' "$(cat said out err)"
json 'the wrong home is the least plausible one of the graph' \
    '[(f["subject"], f["object"], f["verdict"], f["known"]) for f in o["results"] if f["relation"] == "lives_in"][0] == ("p20", "New York", "unlikely", True) and len(o["results"]) == 5 and o["checked"] == 183' \
    "$kith" check rules --graph --top 5 --json
json 'so many facts drawn at random' 'o["checked"] == 20' "$kith" check rules --graph --sample 20 --json
check 'a run without probabilities checks by rank' 0 '^[^	]+	[^	]+	[^	]+				[0-9]+	unknown	ok$' \
    "$kith" check lan --graph --top 3
printf 'zoe\tlives_in\tBoston\n' >newcomer.tsv
"$kith" check rules newcomer.tsv >out 2>err
[ $? = 1 ] && grep -q "nothing is known about 'zoe'.*; facts about it can be given with --facts$" out
report $? 'the remedy for facts about a newcomer is said' "$(cat out err)"
check 'neither a file nor the graph' 2 'expected RUN and FILE' "$kith" check rules
check 'both' 2 'expected one of them' "$kith" check rules facts --graph
check 'facts that are not there' 1 'cannot open' "$kith" check rules nowhere

# ---- what to do ----

check 'explain names what ranks above a fact, whatever --top is' 0 'against: .* ranks above it' \
    "$kith" explain tiny --query 'a r d' --top 1
check 'a query in several arguments' 2 'put the whole query in single quotes' \
    "$kith" predict rules --query p8 'lives in' '?'
printf 'p8 lives_in ?\n' | iconv -f UTF-8 -t UTF-16 >wide
check 'queries in UTF-16 are refused with the way out' 1 "wide: found UTF-16 text.*iconv -f UTF-16 -t UTF-8 'wide'" \
    "$kith" predict rules --queries wide
"$kith" predict lan --query 'p8 ? ?' --min-probability 0.5 >out 2>err
grep -q 'the run has no probability that --min-probability' err
report $? 'a run without probabilities says so' "$(cat out err)"
mkdir partly
cp one.tsv partly/train
printf 'c\tr\tb\nb\tr\ta\n' >>partly/train
printf 'c\tr\ta\t1\na\tr\tc\t0\n' >partly/test
"$kith" train partly -o unfitted --preset rules --quiet >out 2>err
[ $? = 0 ] && grep -q "to query it: kith predict unfitted --query 'a r ?'" out
report $? 'labels without a classifier: train suggests a query' "$(cat out err)"
printf 'x\\y\tr\\s\tz\\w\nz\\w\tr\\s\tx\\y\n' >odd.tsv
"$kith" train odd.tsv -o odd --preset rules --quiet >out 2>err
[ $? = 0 ] && grep -q "kith predict odd --query '? ? ?'" out
report $? 'and where no name can be typed, one without names' "$(cat out err)"

# ---- suggestions ----

check 'an unfinished word is completed' 1 "did you mean 'team Boston'" \
    "$kith" predict rules --query '"team Bost" lives_in ?'
check 'a word of a name' 1 "did you mean .*'New York'" "$kith" predict rules --query 'york lives_in ?'
check 'names of the session are suggested' 1 "did you mean 'zebulon'" \
    "$kith" predict rules --fact 'zebulon knows p1' --query 'zebulo lives_in ?'

check 'a word of a relation' 1 "did you mean 'lives_in'" "$kith" predict rules --query 'p1 livse ?'
check 'a name of the session wins a tie' 1 "did you mean 'p1z'" \
    "$kith" predict rules --fact 'p1z knows p1' --query 'p1y lives_in ?'

# ---- the shell asks every kind of question ----

ask_shell() { # lines: into out and err
    printf '%s\n' "$@" | "$kith" shell rules >out 2>err
}
ask_shell 'new plays_for "team Boston"' 'new lives_in ?' 'new ? Boston' 'new ? ?' '? ? Boston' 'about new' \
    '? lives_in ?' '? ? ?' 'check new lives_in Boston' 'check p0 lives_in Boston'
report $? 'the shell takes every kind of question' "$(cat err)"
for pattern in '^new  lives_in  \?$' '^new  \?  Boston$' '^\?  lives_in  \?$' '^\?  \?  \?$' \
    '^new  lives_in  Boston$' ' %\]  likely$' ' %\]  unlikely$'; do
    grep -Eq "$pattern" out
    report $? "the shell prints /$pattern/" "$(cat out)"
done
ask_shell 'n1 plays_for "team Boston"' 'n2 plays_for "team Chicago"' 'top 1' '* lives_in ?' why \
    && [ "$(grep -c '^n[12]  lives_in  ?$' out)" = 4 ] && grep -q '^   1 .*  Chicago$' out
report $? 'a star stands for every new entity in the shell' "$(cat out err)"
! ask_shell '* lives_in ?' && grep -q "so '\*' stands for none" err
report $? 'or for none' "$(cat out err)"
ask_shell 'check p0 lives_in Boston' why
grep -Eq 'against: .*p0' out && grep -q 'against: Chicago\|against: p0 is unlikely' out
report $? 'why tells what speaks against a fact' "$(cat out)"
ask_shell 'why p8 lives_in Chicago' && grep -q 'plays_for  team Chicago' out
report $? 'why takes a fact' "$(cat out err)"
ask_shell '? lives_in ?' why && grep -q '^p13  lives_in  Los Angeles$' out
report $? 'why explains the likeliest missing fact' "$(cat out err)"
ask_shell 'newcomer plays_for "team Boston"' 'find comer' && grep -q '^  newcomer  \[added\]$' out
report $? 'find finds new entities' "$(cat out err)"
ask_shell 'newcomer plays_for "team Boston"' 'save "my facts.tsv"' && [ -f 'my facts.tsv' ] \
    && ask_shell 'load "my facts.tsv"' && grep -q '^added 1 fact$' out
report $? 'a path with spaces may stand in quotes' "$(cat out err)"
! ask_shell 'abuot p8' && grep -q "did you mean 'about'" err
report $? 'a mistyped command of the shell gets a suggestion' "$(cat err)"
! ask_shell 'check p8' && grep -q 'check: found 1 field' err
report $? 'an incomplete check is refused' "$(cat err)"

# ---- missing facts come one by one ----

"$kith" predict rules --query '? ? ?' --top 20 --format tsv >whole 2>err
"$kith" predict rules --query '? ? ?' --top 20 --json >out 2>err
python3 - <<'PYTHON' >said 2>&1
import json
rows = [line.rstrip("\n").split("\t") for line in open("whole")][1:]
facts = json.load(open("out"))["results"][0]["missing"]
assert [r[2:5] for r in rows] == [[f["subject"], f["relation"], f["object"]] for f in facts], (rows, facts)
assert [int(r[1]) for r in rows] == list(range(1, len(rows) + 1)), rows
PYTHON
report $? 'facts that are printed as they come are those of the result, in its order' "$(cat said)"
printf 'p8 lives_in ?\np8 lives_in Chicago\n? lives_in ?\nnonsense\np8 ? ?\n' >questions
"$kith" predict rules --queries questions --top 2 >out 2>err
[ $? = 1 ] && [ "$(grep -c '^      from' out)" = 1 ] && grep -q '^p8  ?  ?$' out && grep -q '^kith: questions:4: question 4: found 1 field' err
report $? 'every kind of question in one file' "$(cat out err)"

printf '\n# a comment\np8 lives_in ?\n\nnobody lives_in ?\n' | "$kith" predict rules --queries - >out 2>err
[ $? = 1 ] && grep -q '^kith: /dev/stdin:5: question 2: nothing is known about' err
report $? 'a question that fails is named by its line' "$(cat err)"
printf '\xef\xbb\xbfp8 lives_in ?\n' >marked
check 'questions after a byte order mark' 0 '^p8  lives_in' "$kith" predict rules --queries marked
{ echo '# long' && head -c 70000000 /dev/zero | tr '\0' x; } >long
check 'a query of many megabytes is refused with its line' 1 '^kith: long:2: is longer than 64 MiB' \
    "$kith" predict rules --queries long
check 'also if it is the name of an entity' 1 '^kith: long:2: is longer than 64 MiB' \
    "$kith" export lan -o vectors --relation lives_in --entities long
"$kith" shell rules <long >out 2>err
[ $? = 1 ] && grep -q '^kith: /dev/stdin:2: is longer than 64 MiB' err
report $? 'also in a script of the shell' "$(cat err)"
rm long
printf '# zero\np8\0lives_in ?\n' >zero
check 'a NUL does not end a query' 1 '^kith: zero:2: holds a NUL byte, expected text$' "$kith" predict rules --queries zero
printf 'p0\tlives_in\0\tBoston\np8\tlives_in\tChicago\n' >zero
"$kith" check rules zero >out 2>err
[ $? = 1 ] && grep -q "^p0.*found a NUL byte\$" out && grep -q "^p8${tab}lives_in${tab}Chicago.*ok\$" out
report $? 'a line with a NUL does not stop the check of the others' "$(cat out err)"
printf '#p8\tlives_in\tChicago\n# p8 lives_in\n#1 lives_in Boston\n#\n' >numbered
"$kith" check rules numbered >out 2>err
[ $? = 1 ] && grep -q "^#p8${tab}lives_in${tab}Chicago${tab}" out && grep -q "^#1${tab}lives_in${tab}Boston" out &&
    [ "$(wc -l <out)" = 3 ]
report $? 'a fact whose subject begins with # is checked, and is no comment' "$(cat out err)"
printf '\xef\xbb\xbfp8\tlives_in\tChicago\np0\tlives_in\tBoston\n' >marked.tsv
rows="^p8${tab}lives_in${tab}Chicago${tab}0[.][0-9]+${tab}0[.][0-9]+${tab}[01].*${tab}1${tab}likely${tab}ok\$"
gzip -c marked.tsv >packed.tsv.gz
check 'facts after a byte order mark are checked' 0 "$rows" "$kith" check rules marked.tsv
check 'and those of a compressed file' 0 "$rows" "$kith" check rules packed.tsv.gz
check 'and those of a pipe' 0 "$rows" "$kith" check rules <(cat marked.tsv)
printf 'object,subject,relation\n"Chicago",p8,lives_in\n"New York",p0,lives_in\n' >table.csv
gzip -c table.csv >table.gz
printf '<http://e/p8> <http://e/lives_in> <http://e/Chicago> .\n' >facts.nt
for file in table.csv table.gz facts.nt marked.tsv; do
    row=$rows
    [ $file = facts.nt ] && row="^http://e/p8${tab}http://e/lives_in${tab}http://e/Chicago${tab}"
    "$kith" check rules $file >wanted 2>err
    "$kith" check rules - <$file >out 2>>err
    cat $file | "$kith" check rules - >piped 2>>err
    cmp wanted out >>err && cmp wanted piped >>err && grep -Eq "$row" out
    report $? "standard input is read as the file is: $file" "$(cat err wanted out)"
done
{ read -r _ && "$kith" check rules - --json >out; } <marked.tsv 2>err
[ $? = 0 ] && python3 -c 'import json; assert json.load(open("out"))["checked"] == 1'
report $? 'what was read from it before is not read again' "$(cat out err)"
check 'nothing on standard input' 1 '^kith: /dev/stdin: is empty, expected facts$' "$kith" check rules -
"$kith" check rules - <&- >out 2>err
[ $? = 1 ] && grep -q '^kith: /dev/stdin: cannot ' err
report $? 'no standard input' "$(cat out err)"
check 'facts and known facts from standard input' 2 '--facts and FILE both read' "$kith" check rules - --facts -
printf 'p8\tlives_in\tChicago\nonly\ttwo\n' >short.tsv
"$kith" check rules short.tsv >out 2>err
[ $? = 1 ] && grep -q "${tab}found 2 fields, expected 3" out
report $? 'what is wrong with a line is said' "$(cat out err)"
fact='p8,lives_in,Chicago'
printf 'subject,relation,object\n%s\n%s\np8,lives_in\n"p8,lives_in,x\n' $fact $fact >rows.csv
tr , '\t' <rows.csv | tr -d '"' >rows.tsv
gzip -c rows.csv >rows.csv.gz
for file in rows.csv rows.tsv rows.csv.gz; do
    "$kith" check rules $file >out 2>err
    [ $? = 1 ] && [ "$(grep -c "^p8${tab}lives_in${tab}Chicago${tab}.*${tab}ok$" out)" = 2 ] &&
        [ "$(wc -l <out)" = 5 ] && grep -q "${tab}found 2 columns in 'p8.*lives_in'" out &&
        grep -q '^kith: 2 of 4 facts cannot be checked' err
    report $? "every line of a file with a header row is reported: $file" "$(cat out err)"
done
{ cat facts.nt && echo '<http://e/p8> <http://e/lives_in>'; } >short.nt
"$kith" check rules short.nt --json >out 2>err
[ $? = 1 ] && python3 -c 'import json; assert json.load(open("out"))["failed"] == 2'
report $? 'lines of RDF that cannot be read have failed' "$(cat out err)"
yes 'p8 lives_in Chicago' | timeout 60 "$kith" predict rules --queries - >/dev/full 2>err
[ "${PIPESTATUS[1]}" = 1 ] && [ "$(grep -c 'cannot write the output' err)" = 1 ]
report $? 'no more questions are read where answers cannot be written' "$(cat err)"
check 'a folder has no questions' 1 '^kith: source: cannot read: ' "$kith" predict rules --queries source
check 'two readers of standard input' 2 '--facts and --queries both read' "$kith" predict rules --queries - --facts -
check 'a folder has no names' 1 '^kith: source: cannot read: ' "$kith" export lan -o vectors --relation lives_in \
    --entities source
printf 'p8\tlives_in\tChicago\n' >whole.tsv
check 'eval --on a graph without test facts' 2 'the graph has no test facts' "$kith" eval rules --on whole.tsv
mkdir onto && cp source/train onto/train && cp whole.tsv onto/test
check 'eval --on says what is not measured' 0 'percentages of kith predict are not measured on another graph' \
    "$kith" eval rules --on onto
check 'compare names the run that cannot be evaluated' 2 '^kith: rules: the graph has no test facts' \
    "$kith" compare rules lan

# ---- what training measured ----

check 'eval without test facts shows what training measured' 0 '^  realistic +[0-9]+ ' "$kith" eval rules
check 'and how to hold out a test' 0 'kith split rules/graph -o with-test' "$kith" eval rules
{ echo "kith() { \"$kith\" \"\$@\"; }"; "$kith" eval rules 2>err | sed -n 's/^    kith/kith/p'; } >script
bash -e script >out 2>err && grep -q '^NEW: test' out
report $? 'the commands that it prints work' "$(cat script out err)"
check 'it says what too few entities were held out for' 0 'percentages of kith predict were not measured: .* 50 ent' \
    "$kith" eval rules
json 'as JSON' 'o["held_out"]["queries"] > 0 and 0 < o["held_out"]["mrr"] <= 1 and o["fact_count"] == 0' \
    "$kith" eval rules --json
json 'info shows the same' 'o["held_out"]["entities"] > 0' "$kith" info rules --json
grep -q metrics.json rules/config.json && grep -q '"checksum"' rules/metrics.json
report $? 'it is a file of the run, with a checksum' "$(cat rules/config.json)"
check 'a run that measured nothing says so' 0 'measured nothing on held-out' "$kith" eval lan
check 'what takes facts of the split fails' 2 'no test facts, which --ranks needs' "$kith" eval rules --ranks x
cp -r rules damaged && sed -i 's/"queries": [0-9]*/"queries": 7/' damaged/metrics.json
check 'damage to it is noticed' 1 'metrics.json.*checksum' "$kith" eval damaged
rm damaged/metrics.json
check 'and its loss' 1 'metrics.json is missing' "$kith" eval damaged

# ---- small graphs ----

check 'predict repeats the warning of training' 0 '' "$kith" predict rules --query 'p8 lives_in ?'
[ "$(grep -c 'the graph is small' err)" = 1 ]
report $? 'once' "$(cat err)"
json 'and in JSON' 'any("small" in w for w in o["warnings"])' "$kith" predict rules --query 'p8 lives_in ?' --json
json 'explain has it too' 'any("small" in w for w in o["warnings"])' \
    "$kith" explain rules --query 'p8 lives_in ?' --json
json 'and check' 'any("small" in w for w in o["warnings"])' "$kith" check rules --graph --top 1 --json

# ---- what people type ----

check 'several spaces are as good as one' 0 '^p8  lives_in  \?$' "$kith" predict rules --query '  p8   lives_in  ? '
check 'a fact as kith prints it' 0 '^p8  lives_in  Chicago$' "$kith" predict rules --query 'p8  lives_in  Chicago'
check 'between tabs they are part of names' 1 "nothing is known about 'p8 '" \
    "$kith" predict rules --query "p8 ${tab}lives_in${tab}?"
check 'about takes a name in quotes' 0 '^team Boston  \?  \?$' "$kith" predict rules --about '"team Boston"'
printf '"A"\tr\tb\nb\tr\tc\n' >literal.tsv
"$kith" train literal.tsv -o literal --preset rules -q >out 2>err
check 'or quotes that are part of a name' 0 '^"A"  \?  \?$' "$kith" predict literal --about '"A"'
check 'quotes around less than the whole are part of the name' 1 'about ."A" or B' "$kith" predict literal --about '"A" or B'
check '--top has no effect on a file of facts' 2 '--top is for --graph' "$kith" check rules facts --top 3
check 'nor has --sample' 2 '--sample is for --graph' "$kith" check rules facts --sample 3
check 'a sample of nothing' 2 "--sample: '0' is not a positive integer" "$kith" check rules --graph --sample 0
check 'a relation that is almost one' 2 "no relation 'lives in'; did you mean 'lives_in'" \
    "$kith" rules rules --relation 'lives in'
check 'so with info' 2 "no relation 'lives in'; did you mean 'lives_in'" "$kith" info rules --relation 'lives in'
label='<http://www.w3.org/2000/01/rdf-schema#label>'
printf '<http://e/r> %s "knows" .\n<http://e/a> %s "Ada" .\n' "$label" "$label" >named.nt
sed 's|\([a-z]\)\t\([a-z]\)\t\([a-z]\)|<http://e/\1> <http://e/\2> <http://e/\3> .|' tiny.tsv >>named.nt
"$kith" train named.nt -o named --preset rules -q >out 2>err
check 'a verdict has labels' 0 "that Ada .http://e/a. has a 'knows .http://e/r.' fact" "$kith" predict named --query 'http://e/a knows http://e/b'
check 'a relation by its label' 0 '^confidence' "$kith" rules named.nt --relation knows
check 'a run is not a graph' 1 '^kith: rules is a run, expected a graph; its graph is rules/graph$' "$kith" stats rules
"$kith" stats - <facts.nt >out 2>err && grep -q '^- (N-Triples file)' out
report $? 'a graph from standard input' "$(cat out err)"
check 'train says what it needs' 2 '^usage: kith train SOURCE -o DIR ' "$kith" train tiny.tsv
"$kith" train tiny.tsv -o unused --preset rules --dim 9 --seed 3 >out 2>err
[ "$(sed '/^kith: tiny.tsv: /d' err)" = 'kith: --dim has no effect with the other settings of this run' ]
report $? 'a setting without effect is noted' "$(cat err)"
grep -q 'fitted on 1 fact of' out
report $? 'how many facts there were' "$(cat out)"
ask_shell 'find new york' 'about team Boston' 'find knows p1' exit nonsense && grep -q '^  New York$' out &&
    grep -q '^team Boston  ?  ?$' out && grep -q '^added (1 fact)$' out
report $? 'a command may have two words after it, and exit leaves' "$(cat out err)"
ask_shell 'top' 'quit now'
grep -q '^kith: top: expected top N: how many answers$' err && grep -q '^kith: quit: expected nothing after it$' err
report $? 'how a command is used is said' "$(cat err)"

# ---- a run fitted on labels ----

"$kith" split source/train -o labelled --count 40 --labels --test 0.3 --valid 0.3 -q >out 2>err
report $? 'a data set with labels is made' "$(cat out err)"
cut -f 1-3 labelled/test >test.tsv
for preset in triplets release rules; do
    "$kith" train labelled -o labelled-$preset --preset $preset --epochs 20 -q >out 2>err
    "$kith" eval labelled-$preset --json >eval.json 2>>err
    "$kith" check labelled-$preset test.tsv --json >check.json 2>>err
    python3 - <<'PYTHON' >said 2>&1
import json
wanted, facts = json.load(open("eval.json")), json.load(open("check.json"))["results"]
labels = [line.rstrip("\n").split("\t")[3] == "1" for line in open("labelled/test")]
judged = [(f["verdict"] == "likely") == label for f, label in zip(facts, labels) if "error" not in f]
assert len(judged) == len(labels) == wanted["queries"], (len(judged), wanted)
assert not any({"has", "probability_if_any"} & set(f) for f in facts), facts[:3]
assert all(f["classified"] and 0 <= f["probability"] <= 1 for f in facts), facts[:3]
assert abs(sum(judged) / len(judged) - wanted["accuracy"]) < 1e-9, (sum(judged), len(judged), wanted)
PYTHON
    report $? "check classifies as eval does, with $preset" "$(cat said err)"
done
fact=$(head -1 test.tsv)
json 'predict gives the same verdict' \
    'o["results"][0]["classified"] and o["results"][0]["probability"] == __import__("json").load(open("check.json"))["results"][0]["probability"]' \
    "$kith" predict labelled-rules --query "$fact" --json
json 'so does explain' 'o["results"][0]["classified"] and not {"has", "probability_if_any"} & set(o["results"][0])' "$kith" explain labelled-rules --query "$fact" --json
check 'nor has a table what another probability consists of' 0 '^1'"$tab.*$tab$tab$tab$tab"'[01]'"$tab"'(un)?likely' \
    "$kith" predict labelled-rules --query "$fact" --new-only --format tsv
check 'people are told' 0 'likely, by the classifier fitted on labels' "$kith" predict labelled-triplets --query "$fact"
json 'a fact about a new entity is classified by what the session says' \
    'all(r["classified"] and 0 < r["probability"] < 1 for r in o["results"])' \
    "$kith" predict labelled-triplets --fact 'zoe plays_for "team Boston"' --query 'zoe lives_in Boston' --json
json 'also one between two of them' 'all(r["classified"] and 0 < r["probability"] < 1 for r in o["results"])' \
    "$kith" predict labelled-rules --fact 'zoe plays_for "team Boston"' --fact 'yan knows zoe' \
    --query 'zoe lives_in Boston' --query 'yan knows zoe' --json
printf 'check %s\nwhy\n' "$(awk -F'\t' 'NR == 1 { print "\"" $1 "\" \"" $2 "\" \"" $3 "\"" }' test.tsv)" | "$kith" shell labelled-triplets >out 2>err
[ "$(grep -c 'by the classifier' out)" = 2 ]
report $? 'the shell too' "$(cat out err)"

# ---- explain goes on behind a question that fails ----

"$kith" explain rules --query 'nobody lives_in ?' --query 'p8 lives_in ?' >out 2>err
[ $? = 1 ] && grep -q '^p8  lives_in  ?' out && grep -q nobody err
report $? 'explain answers the questions that can be' "$(cat out err)"
"$kith" explain rules --query 'nobody lives_in ?' --query 'p8 lives_in ?' --json >out 2>err
python3 -c '
import json
o = json.load(open("out"))["results"]
assert "nobody" in o[0]["error"] and o[0]["query"]["subject"] == "nobody", o[0]
assert o[1]["answers"][0]["entity"] == "Chicago", o[1]' >said 2>&1
report $? 'and says in JSON what failed' "$(cat said)"
for query in 'p8 lives_in ?' '? lives_in Boston' 'p8 ? ?' '? ? Boston' 'p8 ? Chicago' 'p0 lives_in Boston' '? lives_in ?' '? ? ?'; do
    check "explain takes '$query'" 0 'rules [+-]' "$kith" explain rules --query "$query"
done
check 'explain takes --about' 0 'rules [+-]' "$kith" explain rules --about p8

echo "1..$number"
[ "$failed" = 0 ]
