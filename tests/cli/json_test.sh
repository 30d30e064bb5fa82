#!/bin/bash
# What --json prints has the shapes that docs/JSON.md describes. Prints TAP.
#   KITH=build/kith tests/cli/json_test.sh
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../support/tap.sh"

kith=${KITH:?says where the program is}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

cat >shape.py <<'PYTHON'
import json, re, sys
blocks = dict(re.findall(r"```shape ([a-z-]+)\n(.*?)```", open(sys.argv[1]).read(), re.S))
shapes = {name: json.loads(text) for name, text in blocks.items()}
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None),
         "list": list, "object": dict}
def fits(shape, value, where):
    if isinstance(shape, str) and shape[0] == "@":
        return fits(shapes[shape[1:]], value, where)
    if isinstance(shape, str):
        for name in shape.split("|"):
            if isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool)):
                return
        sys.exit(f"{where}: {json.dumps(value)[:80]} is no {shape}")
    if isinstance(shape, list):
        if not isinstance(value, list):
            sys.exit(f"{where}: is no list")
        for i, one in enumerate(value):
            fits(shape[0], one, f"{where}[{i}]")
        return
    if not isinstance(value, dict):
        sys.exit(f"{where}: is no object")
    for key in shape:
        if key != "*" and key[-1] != "?" and key not in value:
            sys.exit(f"{where}: lacks {key}")
    for key, one in value.items():
        rule = shape.get(key, shape.get(key + "?", shape.get("*")))
        if rule is None:
            sys.exit(f"{where}: has {key}, which is not described")
        fits(rule, one, f"{where}.{key}")
name = sys.argv[2]
fits(shapes[name], json.load(open("out")), name)
PYTHON
# fits SHAPE COMMAND...: stdout is JSON of this shape.
fits() {
    local shape=$1 said
    shift
    "$@" >out 2>err </dev/null
    said=$(python3 shape.py "$root/docs/JSON.md" "$shape" 2>&1)
    report $? "$(basename "$1") ${*:2:4} ... is described as $shape" "$said
$(head -c 300 err)"
}

python3 - <<'PYTHON'
import os, random
random.seed(3)
os.mkdir("source")
cities = ["Chicago", "Los Angeles", "New York", "Boston"]
with open("source/train", "w") as out:
    for i in range(60):
        c = cities[i % 4]
        print(f"p{i}\tplays_for\tteam {c}\np{i}\tlives_in\t{c}\np{i}\tknows\tp{random.randrange(60)}", file=out)
    for c in cities:
        print(f"team {c}\tbased in\t{c}", file=out)
open("source/entity_name.txt", "w").write("p0\tAda Lovelace\nBoston\tBoston, MA\n")
open("source/dev", "w").write("p0\tknows\tp1\n")
open("source/test", "w").write("late\tlives_in\tBoston\n")
open("source/aux", "w").write("late\tplays_for\tteam Boston\n")
PYTHON
small=(--dim 8 --epochs 2 --quiet)
fits stats "$kith" stats source --json
fits split "$kith" split source -o by-rate --rate 100 --json
fits split "$kith" split source -o by-count --count 1 --json
"$kith" split source/train -o labelled --valid .2 --test .3 --labels >out 2>&1
fits rules "$kith" rules source --json
fits rules-kind "$kith" rules source --kind ABC --top 100 --json
fits train "$kith" train source -o kith "${small[@]}" --json
fits train "$kith" train --resume kith --json
fits train "$kith" train source -o lan --preset release "${small[@]}" --json
fits train "$kith" train labelled -o labels "${small[@]}" --json
fits tune "$kith" tune source -o tuned --grid dim=4,8 --grid normalize=on,off --epochs 2 --eval-every 1 --json
for run in kith lan; do
    fits info "$kith" info $run --json
    fits info "$kith" info $run --threads 1 --relation knows --json
    fits eval "$kith" eval $run --json
    fits eval "$kith" eval $run --filter source --split dev --json
    for query in 'new lives_in ?' '? knows new' 'new ? ?'; do
        new=(--fact 'new\tplays_for\tteam Boston' --fact 'new knows p1' --fact 'new dances p1')
        fits predict "$kith" predict $run "${new[@]}" --query "$query" --json
        fits explain "$kith" explain $run "${new[@]}" --query "$query" --json
    done
    for query in 'new ? Boston' 'new lives_in Boston' 'p0 knows p1' '? knows ?'; do
        fits predict "$kith" predict $run "${new[@]}" --query "$query" --json
        fits explain "$kith" explain $run "${new[@]}" --query "$query" --json
    done
    "$kith" predict $run "${new[@]}" --query 'new lives_in Boston' --json >predicted 2>err
    json 'explain has the verdict of predict' 'all(o["results"][0][key] == value for key, value in
        json.load(open("predicted"))["results"][0].items())' \
        "$kith" explain $run "${new[@]}" --query 'new lives_in Boston' --json
    fits predict "$kith" predict $run "${new[@]}" --about new --query 'nobody knows ?' --json
    for command in predict explain; do
        fits $command "$kith" $command $run --query 'nobody knows ?' --json
        json "$command: a query that fails alone has a result" '(len(o["results"]) == 1 and
            o["results"][0]["query"]["subject"] == "nobody" and "nobody" in o["results"][0]["error"])' \
            "$kith" $command $run --query 'nobody knows ?' --json
        json "$command: no new entity, no result" 'o["results"] == []' \
            "$kith" $command $run --query '* knows ?' --json
    done
    fits check "$kith" check $run --graph --top 5 --json
    fits predict "$kith" predict $run "${new[@]}" --query 'new ? ?' --query 'p0 knows ?' --json
    fits explain "$kith" explain $run "${new[@]}" --query 'new ? ?' --query 'p0 knows ?' --json
done
aggregators=$("$kith" help --dump | awk -F '\t' '$1 == "setting" && $2 == "train" && $3 == "--aggregator" {
    gsub(/\|/, " ", $5); print $5 }')
for aggregator in $aggregators; do
    "$kith" train source -o $aggregator --preset release --aggregator $aggregator "${small[@]}" >out 2>&1
    fits explain "$kith" explain $aggregator --query 'p0 knows ?' --json
done
fits eval "$kith" eval labels --json
fits check "$kith" check labels source/train --json
"$kith" train source/train -o untested --preset rules -q >/dev/null 2>&1
fits eval "$kith" eval untested --json
fits eval "$kith" eval kith --without rules --json
fits compare "$kith" compare kith lan --json
fits compare "$kith" compare labels labels --json
json 'compare has the metrics of eval by the same keys' \
    'o["runs"][1]["hits"]["10"]["difference"] == 0 and "mrr" not in o["runs"][0]["by_known_facts"]["0"]' \
    "$kith" compare kith kith --json
json 'a group without queries has no metrics' 'o["by_known_facts"]["0"] == {"queries": 0}' "$kith" eval kith --json
"$kith" predict kith --query 'p0 knows ?' --json >out
python3 - >said 2>&1 <<'PYTHON'
import json
o = json.load(open("out"))
o["results"][0]["answers"][0]["surprise"] = 1
json.dump(o, open("out", "w"))
PYTHON
! python3 shape.py "$root/docs/JSON.md" predict >said 2>&1 && grep -q 'surprise, which is not described' said
report $? 'a key that is not described is noticed' "$(cat said)"

# A key has one type in all commands, except for those that docs/JSON.md names as exceptions.
cat >types.py <<'PYTHON'
import json, re, sys
text = open(sys.argv[1]).read()
shapes = {name: json.loads(block) for name, block in re.findall(r"```shape ([a-z-]+)\n(.*?)```", text, re.S)}
found = {}
def type_of(shape):
    if isinstance(shape, str) and shape[0] == "@":
        return type_of(shapes[shape[1:]])
    return shape.replace("|null", "") if isinstance(shape, str) else type(shape).__name__
def walk(shape):
    for key, one in shape.items() if isinstance(shape, dict) else []:
        found.setdefault(key.rstrip("?"), set()).add(type_of(one))
        walk(one)
    if isinstance(shape, list):
        walk(shape[0])
for shape in shapes.values():
    walk(shape)
excepted = re.findall(r"`(\w+)`", re.search(r"So have all others.*?\n\n", text, re.S)[0])
metrics = ["mr", "mrr", "1", "3", "10", "*"]
wrong = [key for key, types in found.items() if len(types) > 1 and key not in excepted + metrics]
needless = [key for key in excepted if len(found[key]) < 2]
sys.exit(f"several types: {wrong}, needless exceptions: {needless}" if wrong + needless else 0)
PYTHON
python3 types.py "$root/docs/JSON.md" >said 2>&1
report $? 'a key has the same type in every command' "$(cat said)"

echo '{"data": [{"path": "source"}], "models": [{"name": "r", "preset": "rules"}]}' >one.json
fits reproduce-list "$kith" reproduce ./one.json --list --json
fits reproduce-plan "$kith" reproduce ./one.json --data . --dry-run --json
fits reproduce "$kith" reproduce ./one.json --data . --json

echo "1..$number"
[ "$failed" = 0 ]
