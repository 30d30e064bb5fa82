#!/bin/bash
# Answers about new entities from the command line: predict and explain, good and bad arguments.
# Prints TAP.
#   KITH=build/kith tests/cli/predict_test.sh
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../support/tap.sh"

kith=${KITH:?says where the program is}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# ---- runs to ask ----

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
        print(f"p{i}\tlives_in\t{c}", file=out)
        print(f"p{i}\tknows\tp{random.randrange(60)}", file=out)
with open("source/entity_name.txt", "w") as out:
    print("p0\tAda Lovelace\np1\tBob", file=out)
with open("source/dev", "w") as out:
    print("p0\tknows\tp1", file=out)
with open("source/test", "w") as out:
    print("late\tlives_in\tBoston", file=out)
with open("source/aux", "w") as out:
    print("late\tplays_for\tteam Boston", file=out)
PYTHON
aggregators=$("$kith" help --dump | awk -F '\t' '$2 == "train" && $3 == "--aggregator" { gsub(/\|/, " ", $5); print $5 }')
for aggregator in $aggregators; do
    "$kith" train source -o "$aggregator" --preset release --aggregator "$aggregator" --dim 12 --batch 32 --lr 0.03 \
        --epochs 150 --eval-every 0 --quiet >/dev/null 2>err
    report $? "a run of $aggregator is made" "$(cat err)"
done
tab=$'\t'

# ---- predict ----

player=(--fact "new${tab}plays_for${tab}team Boston")
new=("${player[@]}" --fact "new${tab}knows${tab}p4")
json 'a new player lives where the team is' \
    '(o["results"][0]["answers"][0]["entity"] == "Boston" and not o["results"][0]["answers"][0]["known"] and o["ignored"] == []
     and o["results"][0]["query"] == {"subject": "new", "relation": "lives_in", "object": None}
     and 0 < o["results"][0]["answers"][0]["probability_if_any"] < 1
     and "probability" not in o["results"][0]["answers"][0])' \
    "$kith" predict lan "${player[@]}" --query 'new lives_in ?' --json
check 'people get a list' 0 '^ +1 +-?[0-9.]+ +[0-9.]+ % if any  Boston$' \
    "$kith" predict lan "${player[@]}" --query 'new lives_in ?' --top 3
"$kith" predict lan "${player[@]}" --query 'p0 knows ?' >out 2>err &&
    grep -q 'new entities are not among the answers' err
report $? 'without rules new entities are not proposed, which is told' "$(cat err)"
"$kith" predict lan "${player[@]}" --query 'p0 knows ?' --candidates seen >out 2>err &&
    "$kith" predict lan --query 'p0 knows ?' >>out 2>>err && ! grep -q 'not among the answers' err
report $? 'but not where none could be' "$(cat err)"
json 'top says how many' 'len(o["results"][0]["answers"]) == 3' \
    "$kith" predict lan "${new[@]}" --query 'new lives_in ?' --top 3 --json
json '? may stand for the subject' 'o["results"][0]["query"]["subject"] is None and len(o["results"][0]["answers"]) == 10' \
    "$kith" predict lan --query "?${tab}based in${tab}Boston" --json
json '\t is a tab in a fact and a query' 'o["results"][0]["answers"][0]["entity"] == "Boston"' \
    "$kith" predict lan --fact 'new\tplays_for\tteam Boston' --query 'new\tlives_in\t?' --json
json 'a name with blanks can be quoted' 'o["results"][0]["answers"][0]["entity"] == "Boston"' \
    "$kith" predict lan --fact 'new plays_for "team Boston"' --query 'new lives_in ?' --json
json 'pairs come over all relations' \
    '({a["relation"] for a in o["results"][0]["answers"]} <= {"plays_for", "lives_in", "knows", "based in"}
     and len(o["results"][0]["answers"]) == 10)' \
    "$kith" predict lan "${new[@]}" --query 'new ? ?' --json
check 'the number of relations is told' 0 'over 2 of 4 relations' \
    "$kith" predict lan "${new[@]}" --query 'new ? ?' --relations 2
json 'all relations can be asked for' 'len(o["results"][0]["answers"]) == 5' \
    "$kith" predict lan "${new[@]}" --query '? ? new' --relations all --top 5 --json
check 'known answers are marked' 0 'Chicago  \[known\]' \
    "$kith" predict lan --query 'p0 lives_in ?'
json 'known answers can be left out' \
    'all(not a["known"] and a["entity"] != "Chicago" for a in o["results"][0]["answers"])' \
    "$kith" predict lan --query 'p0 lives_in ?' --new-only --json
json 'facts of dev are not known' \
    '[a["known"] for a in o["results"][0]["answers"] if a["entity"] == "p1"] == [False]' \
    "$kith" predict lan --query 'p0 knows ?' --top 100 --json
json 'labels are told beside names' \
    '[a["label"] for a in o["results"][0]["answers"] if a["entity"] == "p0"] == ["Ada Lovelace"]' \
    "$kith" predict lan --query '? lives_in Chicago' --top 100 --json
json 'an entity of aux needs no facts' 'o["results"][0]["answers"][0]["entity"] == "Boston"' \
    "$kith" predict lan --query 'late lives_in ?' --json
json 'what is of no use is named with the reason' \
    '([i["relation"] for i in o["ignored"]] == ["dances", "lives_in", "plays_for"]
     and "relation" in o["ignored"][0]["why"] and "neither" in o["ignored"][1]["why"]
     and "already" in o["ignored"][2]["why"] and len(o["results"][0]["answers"]) == 10)' \
    "$kith" predict lan "${new[@]}" --fact 'new dances p1' --fact 'new lives_in Paris' \
    --fact 'new\tplays_for\tteam Boston' --query 'new lives_in ?' --json
check 'people are told on stderr' 0 '' \
    "$kith" predict lan "${new[@]}" --fact 'new lives_on p1' --query 'new lives_in ?'
grep -q "^kith: ignored 'new lives_on p1': training has no fact with this relation; did you mean 'lives_in'?" err
report $? 'with what may have been meant' "$(cat err)"

# ---- facts from files ----

printf 'n1\tplays_for\tteam Boston\nn2\tplays_for\tteam Chicago\nn3\tdances\tp1\n' >new.tsv
json 'a star stands for every new entity that has usable facts' \
    '([r["query"]["subject"] for r in o["results"]] == ["n1", "n2"]
     and o["results"][0]["answers"][0]["entity"] == "Boston" and len(o["ignored"]) == 1)' \
    "$kith" predict lan --facts new.tsv --query '* lives_in ?' --json
json 'a star may be the object' 'len(o["results"]) == 2' \
    "$kith" predict lan --facts new.tsv --query '? knows *' --json
json 'several questions' '[r["query"]["relation"] for r in o["results"]] == ["lives_in", "knows"]' \
    "$kith" predict lan --facts new.tsv --query 'n1 lives_in ?' --query 'n2 knows ?' --json
"$kith" predict lan --facts - --query 'n1 lives_in ?' --top 1 <new.tsv >out 2>err
[ $? = 0 ] && grep -q Boston out
report $? 'facts from standard input' "$(cat out err)"
gzip -k new.tsv
check 'facts from a packed file' 0 'Boston' "$kith" predict lan --facts new.tsv.gz \
    --query 'n1 lives_in ?' --top 1
mkdir folder && cp new.tsv folder/train
check 'facts from a folder' 0 'Boston' "$kith" predict lan --facts folder \
    --query 'n1 lives_in ?' --top 1
for threads in 1 2 3; do
    "$kith" predict lan --facts new.tsv --query '* lives_in ?' --json --threads $threads \
        >threads.$threads 2>err
done
cmp threads.1 threads.2 >out 2>&1 && cmp threads.1 threads.3 >out 2>&1
report $? 'threads make no difference' "$(cat out)"
python3 -c '
with open("million.tsv", "w") as out:
    for i in range(1000000): print(f"big\tknows{i}\tp1" if i % 2 else f"big\tknows\tx{i}", file=out)
    print("big\tplays_for\tteam Boston", file=out)'
check 'a million facts about one entity' 0 'Boston' \
    "$kith" predict lan --facts million.tsv --query 'big lives_in ?' --top 1
[ "$(wc -l <err)" -lt 20 ] && grep -q 'ignored 999990 more facts' err
report $? 'of which not each is told on stderr' "$(head -5 err)"
long=$(printf 'x%.0s' {1..10000})
json 'a name of 10,000 bytes' 'len(o["results"][0]["query"]["subject"]) == 10000 and len(o["results"][0]["answers"]) == 10' \
    "$kith" predict lan --fact "$long plays_for p1" --query "$long lives_in ?" --json

# ---- what is refused ----

check 'no run' 2 'missing RUN' "$kith" predict --query 'a b ?'
check 'two runs' 2 'found 2 arguments' "$kith" predict lan mean --query 'a b ?'
check 'no question' 2 'missing --query' "$kith" predict lan
check 'an unknown option' 2 "unknown option '--why'" "$kith" predict lan --why
check 'a top beyond the limit' 2 "--top: '99999999999' is not 4294967295 or less" \
    "$kith" predict lan "${player[@]}" --query 'new lives_in ?' --top 99999999999
check 'a top of nothing' 2 "--top: '0' is not a positive integer" \
    "$kith" predict lan --query 'p0 knows ?' --top 0
check 'a top that is no number' 2 "--top: 'x' is not" "$kith" predict lan --query 'p0 knows ?' --top x
check 'a fact with two fields, by its number' 2 "fact 2, 'new knows': found 2 fields, expected 3" \
    "$kith" predict lan --fact 'new knows p1' --fact 'new knows' --query 'new knows ?'
check 'a fact with four fields' 2 'found 4 fields, expected 3' \
    "$kith" predict lan --fact 'new plays_for team Boston' --query 'new knows ?'
check 'a fact with an empty field' 2 'found an empty field' \
    "$kith" predict lan --fact "new${tab}${tab}p1" --query 'new knows ?'
check 'a fact that is not UTF-8' 2 'fact 1: the object .* is not UTF-8' \
    "$kith" predict lan --fact $'new knows p\xff' --query 'new knows ?'
check 'a question with two fields' 2 'found 2 fields' "$kith" predict lan --query 'p0 ?'
check 'an unknown relation' 1 "relation 'live_in'; did you mean 'lives_in'\?" \
    "$kith" predict lan --query 'p0 live_in ?'
check 'an unknown entity' 1 "about 'Ada Lovlace'.*did you mean 'p0'" \
    "$kith" predict lan --query "Ada Lovlace${tab}knows${tab}?"
check 'an entity without a usable fact' 2 "no usable fact tells about 'new'" \
    "$kith" predict lan --fact 'new dances p1' --query 'new knows ?'
check 'a star for nobody' 2 "stands for none" "$kith" predict lan --query '* knows ?'
printf 'n1\tplays_for\n' >bad.tsv
check 'a bad line of a file' 1 'bad.tsv:1: found 2 columns' \
    "$kith" predict lan --facts bad.tsv --query 'n1 knows ?'
check 'a file that is not there' 1 'nowhere.tsv: cannot open' \
    "$kith" predict lan --facts nowhere.tsv --query 'n1 knows ?'
check 'a folder that is no run' 1 'is not a run' "$kith" predict source --query 'p0 knows ?'
for file in entity2id.txt relation2id.txt; do
    rm -rf nameless && cp -r lan nameless && rm "nameless/graph/$file"
    check "a run without $file" 1 "nameless/graph: has no $file" \
        "$kith" predict nameless --query 'p0 knows ?'
done

# ---- the cache of a run ----

cp -r lan cached && rm -f cached/cache.bin
ask=("$kith" predict cached "${new[@]}" --query 'new lives_in ?' --json)
"${ask[@]}" >first 2>err
[ -s cached/cache.bin ] && "${ask[@]}" >second 2>err && cmp first second
report $? 'the first use makes a cache, which changes nothing' "$(cat err)"
cp cached/cache.bin good
damaged() { # name: the cache as it is now is not used, and a good one comes in its place
    "${ask[@]}" >second 2>err && cmp first second >out 2>&1 && cmp good cached/cache.bin >out 2>&1
    report $? "$1" "$(cat out err)"
}
python3 - <<'PYTHON'
data = bytearray(open("good", "rb").read())
for place in range(100, len(data), len(data) // 50):
    data[place] ^= 0x41
open("cached/cache.bin", "wb").write(data)
PYTHON
damaged 'a damaged cache is made anew'
head -c 3000 good >cached/cache.bin
damaged 'a cut-off cache is made anew'
: >cached/cache.bin
damaged 'an empty cache is made anew'
printf 'x' | dd of=cached/cache.bin bs=1 seek=40 conv=notrunc 2>/dev/null
damaged 'a cache whose header is damaged is made anew'
sed -i 's/"max-neighbors": "[0-9]*"/"max-neighbors": "1"/' cached/config.json
"$reseal" cached/config.json
"${ask[@]}" >second 2>err && ! cmp -s good cached/cache.bin && ! cmp -s first second
report $? 'other settings make another cache' "$(cat err)"
sed -i '1s/^\([0-9]*\)/5/' cached/graph/train
check 'a graph that has changed is noticed' 1 'its hash differs' \
    "$kith" predict cached --query 'p0 knows ?'
rm -rf cached && cp -r lan cached && rm cached/cache.bin && mkdir cached/cache.bin
check 'a cache that cannot be written is done without' 0 'p' \
    "$kith" predict cached --query 'p0 knows ?'
[ -z "$(ls cached | grep tmp)" ]
report $? 'and leaves nothing behind' "$(ls cached)"

# ---- explain ----

"$kith" predict lan "${new[@]}" --query 'new lives_in ?' --json >predicted.json 2>err
json 'explain gives the answers of predict' \
    '(o["results"][0]["answers"] == json.load(open("predicted.json"))["results"][0]["answers"] and len(o["results"][0]["answers"]) == 10
     and o["results"][0]["explained"] == "lives_in" and o["ignored"] == [])' \
    "$kith" explain lan "${new[@]}" --query 'new lives_in ?' --json
json 'neighbours have weights, rules and what makes them redundant' \
    '(len(o["results"][0]["neighbors"]) == 2
     and all(abs(n["weight"] - n["logic"] - n["attention"]) < 1e-6 for n in o["results"][0]["neighbors"])
     and o["results"][0]["neighbors"][0]["weight"] >= o["results"][0]["neighbors"][1]["weight"]
     and all(n["rule"]["support"] > 0 and n["redundant_with"]["confidence"] > 0
             for n in o["results"][0]["neighbors"]))' \
    "$kith" explain lan "${new[@]}" --query 'new lives_in ?' --json
json 'without the team the place is lost' \
    '(max(w["answers"][0]["rank_masked"] for w in o["results"][0]["ablations"]) > 1
     and all(w["answers"][0]["rank"] == 1 for w in o["results"][0]["ablations"]))' \
    "$kith" explain lan "${new[@]}" --query 'new lives_in ?' --json
check 'people get bars' 0 '█.*new  plays_for  team Boston' \
    "$kith" explain lan "${new[@]}" --query 'new lives_in ?'
check 'and rules' 0 'plays_for => lives_in, confidence 1.0000, support 60' \
    "$kith" explain lan "${new[@]}" --query 'new lives_in ?'
check 'and labels' 0 'Ada Lovelace \(p0\)' "$kith" explain lan --query 'p0 lives_in ?'
json 'mean weighs all alike' \
    'len({n["weight"] for n in o["results"][0]["neighbors"]}) == 1 and "logic" not in o["results"][0]["neighbors"][0]' \
    "$kith" explain mean "${new[@]}" --query 'new lives_in ?' --json
json 'max counts coordinates' 'sum(n["wins"] for n in o["results"][0]["neighbors"]) == 12' \
    "$kith" explain max "${new[@]}" --query 'new lives_in ?' --json
json 'lstm has only what happens without a fact' \
    '"weight" not in o["results"][0]["neighbors"][0] and len(o["results"][0]["ablations"]) == 2' \
    "$kith" explain lstm "${new[@]}" --query 'new lives_in ?' --json
check 'max, for people' 0 'coordinates' "$kith" explain max "${new[@]}" --query 'new lives_in ?'
check 'lstm, for people' 0 'without  ' "$kith" explain lstm "${new[@]}" --query 'new lives_in ?'
check 'logic, for people' 0 'confidence' "$kith" explain logic "${new[@]}" --query 'new lives_in ?'
for aggregator in $aggregators; do
    check "$aggregator, for people" 0 'new  plays_for  team Boston' \
        "$kith" explain $aggregator "${new[@]}" --query 'new lives_in ?'
done
json 'explain several' 'len(o["results"]) == 2 and "neighbors" in o["results"][1]' \
    "$kith" explain lan --facts new.tsv --query '* lives_in ?' --json
check 'explain refuses what predict refuses' 1 'did you mean' \
    "$kith" explain lan --query 'p0 live_in ?'

# ---- export ----

check 'export writes tables and says so' 0 'vectors/ent: 68 vectors of 12 numbers' \
    "$kith" export lan -o vectors
check 'export writes word2vec' 0 'vectors/rel' "$kith" export lan -o vectors --format word2vec
check 'export writes for viewers' 0 'vectors/trans' "$kith" export lan -o vectors --format tsv
for form in npy word2vec tsv; do
    check "encodings as $form" 0 'encodings: 2 vectors' "$kith" export lan -o new-$form \
        --relation lives_in --facts new.tsv --format $form
done
check 'encodings of named entities' 0 'encodings: 2 vectors' "$kith" export lan -o named \
    --relation lives_in --inverse --entity Boston --entity 'Los Angeles'
printf 'p0\np1\r\n\np2\n' >names
check 'encodings of entities in a file' 0 'encodings: 3 vectors' "$kith" export lan -o listed \
    --relation lives_in --entities names
check 'encodings of all entities' 0 'encodings: 68 vectors' "$kith" export lan -o all \
    --relation lives_in
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import numpy' 2>/dev/null && python=$candidate
done
if [ -n "$python" ]; then
    "$python" - >out 2>&1 <<'PYTHON'
import json, struct
import numpy as np
with open("lan/model.safetensors", "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    data = file.read()
def table(name):
    start, end = header[name]["data_offsets"]
    return np.frombuffer(data[start:end], "<f4").reshape(header[name]["shape"])
for name in "ent rel trans query".split():
    expected = table(name)
    found = np.load(f"vectors/{name}.npy")
    assert found.dtype == np.float32 and np.array_equal(found, expected), name
    names = [line.rstrip("\n").split("\t")[0] for line in open(f"vectors/{name}.names.tsv")]
    assert len(names) == len(expected), name
    viewed = np.loadtxt(f"vectors/{name}.vectors.tsv", dtype=np.float32, delimiter="\t")
    assert np.array_equal(viewed, expected), name
    metadata = open(f"vectors/{name}.metadata.tsv").read().splitlines()
    assert len(metadata) == len(expected) + (name == "ent"), name
    with open(f"vectors/{name}.txt") as file:
        assert file.readline() == f"{len(expected)} {expected.shape[1]}\n"
        for row, line in zip(expected, file):
            word, *numbers = line.rstrip("\n").split(" ")
            assert np.array_equal(np.array(numbers, np.float32), row), (name, word)
assert open("vectors/ent.metadata.tsv").readline() == "name\tlabel\n"
assert "p0\tAda Lovelace\n" in open("vectors/ent.names.tsv").readlines()
assert open("vectors/trans.names.tsv").read().count(" (inverse)\n") == 4
assert "team_Boston " in open("vectors/ent.txt").read()
new = np.load("new-npy/encodings.npy")
assert new.shape == (2, 12) and np.abs(new).sum() > 0 and not np.array_equal(new[0], new[1])
assert np.array_equal(np.loadtxt("new-tsv/encodings.vectors.tsv", dtype=np.float32), new)
assert np.load("named/encodings.npy").shape == (2, 12)
listed, everything = np.load("listed/encodings.npy"), np.load("all/encodings.npy")
order = [line.split("\t")[0] for line in open("all/encodings.names.tsv")]
assert np.array_equal(listed[0], everything[order.index("p0")])
PYTHON
    report $? 'numpy reads all of it back' "$(cat out)"
else
    skip 'numpy reads all of it back' 'python3-numpy is not there'
fi
check 'one table alone' 0 '^one/att_u: 1 vectors of 24 numbers$' "$kith" export lan -o one \
    --table att_u
[ "$(ls one)" = att_u.npy ]
report $? 'and nothing beside it' "$(ls one)"
check 'export without a folder' 2 'missing -o DIR' "$kith" export lan
check 'export of a table that is none' 2 "no table 'nonsense'" "$kith" export lan -o one \
    --table nonsense
check 'export in a format that is none' 2 "--format: 'x' is not npy, word2vec or tsv" "$kith" export lan -o one --format x
check 'entities without a relation' 2 'expected --relation' "$kith" export lan -o one --entity p0
check 'encodings for a relation that is none' 1 "did you mean 'lives_in'" \
    "$kith" export lan -o one --relation live_in
check 'encodings of an entity that is none' 1 "nothing is known about 'nobody'" \
    "$kith" export lan -o one --relation lives_in --entity nobody
check 'names from a file that is not there' 1 'nowhere: cannot open' \
    "$kith" export lan -o one --relation lives_in --entities nowhere
check 'export to where nothing can be' 1 'cannot create the folder' "$kith" export lan -o /proc/kith/x
ls one vectors | grep tmp >out
report $((1 - $?)) 'export leaves no half files' "$(cat out)"

# ---- shell ----

script() { # name, status, pattern on stdout, lines
    printf '%b' "$4" | "$kith" shell lan >out 2>err
    local found=$?
    [ $found = "$2" ] && { [ -z "$3" ] || grep -Eq -- "$3" out; }
    report $? "$1" "found status $found, expected $2 and /$3/
stdout: $(head -c 800 out)
stderr: $(head -c 400 err)"
}
script 'a script says and asks' 0 '^ +1 .*  Boston$' \
    '# a comment\nnew plays_for "team Boston"\n\ntop 3\nnew lives_in ?\n'
script 'a script may part names by tabs' 0 '  Boston$' \
    'new\tplays_for\tteam Boston\nnew\tlives_in\t?\n'
script 'why explains the last question' 0 'plays_for => lives_in, confidence' \
    'new\tplays_for\tteam Boston\nnew lives_in ?\nwhy\n'
script 'why takes a question' 0 'lives_in => knows' 'why p0 knows ?\n'
script 'undo takes back' 1 'removed: new  knows  p1' \
    'new plays_for "team Boston"\nnew knows p1\nundo\nundo\nnew lives_in ?\n'
grep -q "nothing is known about 'new'" err
report $? 'and then nothing is known' "$(cat err)"
script 'facts are listed' 0 '2  new  hates  p1  \[ignored: training has no fact' \
    'new knows p1\nnew hates p1\nfacts\n'
script 'new-only hides what is known' 0 'p0.*lives_in' 'new-only on\ntop 68\np0 lives_in ?\n'
! grep -q 'known' out
report $? 'which it does' "$(cat out)"
script 'find finds' 0 'Ada Lovelace \(p0\)' 'find lovelace\n'
printf '%s\t%s\t%s\n' new knows p1 new knows p1 p0 plays_for 'team Chicago' new hates p1 here knows there >mixed.tsv
printf 'new\tknows\tp1\n' >one.tsv
script 'save and load' 0 '^added 1 fact, ignored 1 \(between entities that training has not seen\)$' \
    'new knows p1\n"two words" knows new\nsave said.tsv\nundo\nundo\nload said.tsv\nnew knows ?\n'
[ "$(cat said.tsv)" = "subject${tab}relation${tab}object
new${tab}knows${tab}p1
two words${tab}knows${tab}new" ]
report $? 'what is saved' "$(cat said.tsv)"
script 'the first saved fact is not read as a header row' 0 \
    '^added 0 facts, ignored 1 \(with a relation that training has not seen\)$' \
    'geneC\tinteraction\tA\nsave genes.tsv\nundo\nload genes.tsv\n'
"$kith" predict lan --facts genes.tsv --query 'p0 knows ?' --top 1 >out 2>err &&
    grep -q 'genes.tsv: added 0 facts, ignored 1 ' err
report $? 'nor by --facts' "$(cat err genes.tsv)"
"$kith" check lan said.tsv --json >out 2>err
[ "$(grep -c '"subject": "new"' out)" = 1 ] && ! grep -q '"subject": "subject"' out
report $? 'nor is its header row checked' "$(cat out err)"
script 'load counts what is new, and what is ignored and why' 0 \
    '^added 1 fact, ignored 4 \(1 known already, 1 with a relation that training has not seen, 1 between entities that training has not seen, 1 repeated in the source\)$' \
    'load mixed.tsv\nload mixed.tsv\nnew knows p2\nremove new knows p1\nnew knows p3\n'
grep -q '^added 0 facts, ignored 5 (2 known already, 1 with .*, 1 between .*, 1 repeated in the source)$' out &&
    [ "$(grep -c '^added (2 facts)$' out)" = 2 ]
report $? 'facts that are used are counted alone' "$(cat out)"
script 'one reason has no number' 0 '^added 0 facts, ignored 1 \(known already\)$' 'load said.tsv\nload one.tsv\n'
script 'dev and test of a folder are not added' 0 '^added 0 facts, ignored [0-9]+ \([0-9]+ known already, 2 of dev or test\)$' \
    'load source\n'
"$kith" predict lan --facts mixed.tsv --query 'new knows ?' --top 1 >out 2>err
grep -q '^kith: mixed.tsv: added 1 fact, ignored 4 (1 known already, 1 with ' err
report $? 'so does --facts' "$(cat err)"
"$kith" predict lan --facts one.tsv --query 'new knows ?' --top 1 >out 2>err
! grep -q 'added' err
report $? 'where some are ignored' "$(cat err)"
script 'load what is missing' 1 '' 'load nowhere.tsv\n'
grep -q 'load: nowhere.tsv: cannot open' err
report $? 'and why it cannot' "$(cat err)"
script 'save where nothing can be' 1 'added' 'new knows p1\nsave nowhere/said.tsv\n'
grep -q 'save: nowhere/said.tsv: cannot write' err
report $? 'and why it cannot be written' "$(cat err)"
script 'help helps' 0 'remove the last fact' 'help\n'
script 'quit leaves' 0 '' '\nquit\nnonsense\n'
script 'a line that cannot be done is told, and the next is done' 1 'added' 'nonsense\nnew knows p1\n'
grep -q 'not a command, a fact or a question' err
report $? 'with the reason' "$(cat err)"
script 'a top that is no number' 1 '' 'top many\n'
script 'undo of nothing' 1 '' 'undo\n'
script 'why of nothing' 1 '' 'why\n'
script 'an entity may have the name of a command' 0 '\[known\]' 'undo knows p1\nundo knows ?\n'
check 'shell without a run' 2 'missing RUN' "$kith" shell
check 'shell on what is no run' 1 'is not a run' "$kith" shell source

# A person at a terminal: completion, history, the end of input.
# Keys are typed only when the prompt is there. The end of input is typed until it is heard, because
# a terminal that is still being set up makes something else of it.
KITH_HISTORY=$work/history timeout 100 python3 - "$kith" >out 2>&1 <<'PYTHON'
import os, pty, select, sys, time
def session(*typed):
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "dumb"
        os.execv(sys.argv[1], [sys.argv[1], "shell", "lan"])
    said = b""
    def wait_for(text):
        nonlocal said
        until = time.time() + 20
        while text not in said and time.time() < until:
            if select.select([terminal], [], [], .2)[0]:
                try:
                    said += os.read(terminal, 4096)
                except OSError:
                    break
        assert text in said, (text, said)
    for keys, text in typed:
        os.write(terminal, keys)
        wait_for(text)
        said = said.split(text, 1)[1]
        if keys.endswith(b"\n"):
            wait_for(b"kith> ")
            said = said.split(b"kith> ", 1)[1]
    for _ in range(40):
        try:
            os.write(terminal, b"\x15\x04") # clear the line, then end
        except OSError:
            pass
        time.sleep(.2)
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.WEXITSTATUS(status) == 0, status
            return
    assert False, "the end of input does not end it"
session((b"", b"kith> "), (b"new plays_\t", b"plays_for"), (b'"team B\t', b'oston"'),
        (b"\n", b"added (1 fact)"), (b"ne\t", b"new"), (b"lives\t", b"lives_in"),
        (b"?\n", b"Boston"))
assert 'new plays_for "team Boston"' in open(os.environ["KITH_HISTORY"]).read().replace("\\040", " ")
session((b"", b"kith> "), (b"\x10\x10", b"team Boston"), (b"\n", b"added"))
PYTHON
report $? 'at a terminal names are completed and lines are kept' "$(tail -5 out)"

echo "1..$number"
[ "$failed" = 0 ]
