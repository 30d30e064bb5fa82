#!/bin/bash
# kith compare, pages of eval and explain, and kith reproduce. Prints TAP.
#   KITH=build/kith tests/report/report_test.sh
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../support/tap.sh"

kith=${KITH:?says where the program is}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# page NAME FILE TEXT...: well-formed HTML that holds the texts, has no script and asks for nothing.
page() {
    local name=$1
    shift
    python3 - "$@" >out 2>&1 <<'PYTHON'
import re, sys, xml.dom.minidom
from html.parser import HTMLParser
page = open(sys.argv[1], encoding="utf-8").read()
class Check(HTMLParser):
    stack, texts = [], []
    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "img", "iframe", "object", "embed", "base"), tag
        for name, value in attributes:
            assert name not in ("src", "href", "srcset", "xlink:href", "action"), (tag, name)
            assert not name.startswith("on"), (tag, name)
        if tag not in ("meta", "br", "wbr"):
            self.stack.append(tag)
    def handle_startendtag(self, tag, attributes): pass
    def handle_endtag(self, tag):
        assert self.stack and self.stack.pop() == tag, tag
    def handle_data(self, data): self.texts.append(data)
check = Check()
check.feed(page)
assert not check.stack, check.stack
assert "://" not in page and "url(" not in page and "@import" not in page
for svg in re.findall(r"<svg.*?</svg>", page, re.S):
    xml.dom.minidom.parseString(svg)
whole = " ".join("".join(check.texts).split())
for text in sys.argv[2:]:
    assert text in whole, (text, whole[:3000])
PYTHON
    report $? "$name" "$(tail -5 out)"
}

# ---- a small graph of people and places, some of them new, with a name that is markup ----

make_graph() { # folder, unseen people
    python3 - "$1" "$2" <<'PYTHON'
import os, random, sys
random.seed(3)
folder, new = sys.argv[1], int(sys.argv[2])
city = {"lyon": "france", "paris": "france", "rome": "italy", "milan": "italy",
        "berlin": "germany", "munich": "germany"}
language = {"france": "french", "italy": "italian", "germany": "german"}
train = [(c, "located_in", k) for c, k in city.items()]
train += [(k, "language", l) for k, l in language.items()]
def person(i):
    c = random.choice(list(city))
    k = city[c]
    facts = [(f"p{i}", "born_in", c), (f"p{i}", "citizen_of", k), (f"p{i}", "speaks", language[k])]
    if random.random() < .6:
        facts.append((f"p{i}", "lives_in", random.choice([x for x in city if city[x] == k])))
    if i > 5:
        facts.append((f"p{i}", "knows", f"p{random.randrange(min(i, 120))}"))
    return facts
dev, test, aux = [], [], []
for i in range(120):
    for fact in person(i):
        (dev if random.random() < .08 else train).append(fact)
for i in range(120, 120 + new):
    facts = person(i)
    random.shuffle(facts)
    test.append(facts[0])
    aux += facts[1:]
os.makedirs(folder)
for name, facts in ("train", train), ("dev", dev), ("test", test), ("aux", aux):
    with open(f"{folder}/{name}", "w") as out:
        out.writelines("\t".join(fact) + "\n" for fact in facts)
with open(f"{folder}/entity_name.txt", "w") as out:
    out.write("lyon\tLyon <b>&</b>\nfrance\tFrance\n")
PYTHON
}
make_labelled() { # folder
    make_graph "$1" 20
    python3 - "$1" <<'PYTHON'
import random, sys
random.seed(5)
for part in "dev", "test":
    facts = [line.split("\t") for line in open(f"{sys.argv[1]}/{part}").read().splitlines()]
    objects = sorted({f[2] for f in facts})
    with open(f"{sys.argv[1]}/{part}", "w") as out:
        for s, r, o in facts:
            false = random.choice([x for x in objects if x != o])
            out.write(f"{s}\t{r}\t{o}\t1\n{s}\t{r}\t{false}\t0\n")
PYTHON
}
make_graph graph 30
make_labelled labelled
small=(--dim 8 --batch 64 --quiet --threads 1)
"$kith" train graph -o lan --preset release --epochs 3 "${small[@]}" >/dev/null
"$kith" train graph -o mean --preset release --aggregator mean --epochs 2 "${small[@]}" >/dev/null
"$kith" train graph -o rules --preset rules --quiet --threads 1 >/dev/null
"$kith" train labelled -o yes --preset rules --quiet --threads 1 >/dev/null
"$kith" train labelled -o no --preset release --epochs 1 "${small[@]}" >/dev/null

# ---- compare ----

check 'compare shows runs side by side' 0 'MRR +0\.[0-9]+ +0\.[0-9]+ [+-]0' \
    "$kith" compare lan rules --threads 1
check 'compare groups by kind of relation and by known facts' 0 'N-1 +[0-9]+ queries' \
    "$kith" compare lan rules mean --threads 1
"$kith" eval lan --ranks lan.tsv --threads 1 >/dev/null
"$kith" eval rules --ranks rules.tsv --threads 1 >/dev/null
"$kith" compare lan rules --json --threads 1 >compared.json
python3 - >out 2>&1 <<'PYTHON'
import csv, json, math
def ranks(path):
    return {(r["subject"], r["relation"], r["object"], r["hidden"]): float(r["realistic"])
            for r in csv.DictReader(open(path), delimiter="\t", quoting=csv.QUOTE_NONE)}
a, b = ranks("lan.tsv"), ranks("rules.tsv")
difference = [1 / b[q] - 1 / a[q] for q in a]
mean = sum(difference) / len(difference)
error = math.sqrt(sum((d - mean) ** 2 for d in difference) / (len(difference) - 1) / len(difference))
o = json.load(open("compared.json"))
found = o["runs"][1]["mrr"]
assert o["queries"] == len(a) == 30 and o["baseline"] == "lan", o
assert abs(found["difference"] - mean) < 1e-9, (found, mean)
assert abs(found["paired_standard_error"] - error) < 1e-9, (found, error)
assert found["significance"] == (3 if abs(mean) > 3 * error else 2 if abs(mean) > 2 * error else 0)
assert sum(g["queries"] for g in o["runs"][1]["by_relation_kind"].values()) == 30
assert sum(g["queries"] for g in o["runs"][1]["by_known_facts"].values()) == 30
PYTHON
report $? 'compare has the paired error of a plain computation' "$(tail -3 out)"
# A run on another graph, in which the same entities have more facts and relations are of other kinds.
cp -r graph richer
python3 - <<'PYTHON'
facts = [line.split("\t") for line in open("graph/aux").read().splitlines()]
with open("richer/aux", "a") as out:
    for s in sorted({f[0] for f in facts})[:20]:
        out.writelines(f"{s}\tknows\tp{i}\n" for i in range(9))
with open("richer/train", "a") as out:
    for i in range(100):
        out.writelines(f"p{i}\t{r}\t{o}\n" for r in ("citizen_of", "speaks") for o in ("italy", "french", "german"))
PYTHON
"$kith" train richer -o richer-rules --preset rules --quiet --threads 1 >/dev/null
json 'groups of runs on different graphs are those of the first' \
    'all([g["queries"] for g in o["runs"][0][by].values()] == [g["queries"] for g in o["runs"][1][by].values()]
         for by in ("by_relation_kind", "by_known_facts"))' \
    "$kith" compare rules richer-rules --json --threads 1
"$kith" compare rules richer-rules --threads 1 >out 2>err
! grep -q nan out
report $? 'and no group of theirs is without a value' "$(cat out err)"
mkdir one && cp -r rules one/model
check 'the folder of a run of reproduce has its name from above' 0 '^ +rules +one *$' \
    "$kith" compare rules one/model/ --threads 1
json 'a run does not differ from itself' \
    'o["runs"][1]["mrr"]["difference"] == 0 and o["runs"][1]["mrr"]["significance"] == 0' \
    "$kith" compare lan lan --json --threads 1
json 'compare takes labelled facts' \
    '(o["task"] == "classification" and 0 <= o["runs"][1]["accuracy"]["mean"] <= 1 and
     abs(o["runs"][0]["accuracy"]["mean"] + o["runs"][1]["accuracy"]["difference"] -
         o["runs"][1]["accuracy"]["mean"]) < 1e-9 and o["queries"] == 40)' \
    "$kith" compare no yes --json --threads 1
check 'compare refuses ranks against labels' 2 'cannot be compared' \
    "$kith" compare lan yes --threads 1
check 'compare needs two runs' 2 'expected two or more runs' "$kith" compare lan
check 'compare says which run is missing' 1 'nowhere' "$kith" compare lan nowhere --threads 1

# ---- pages ----

"$kith" eval rules --html eval.html --threads 1 >/dev/null
page 'eval --html makes a page' eval.html 'rules on test' 'MRR by kind of relation' \
    'MRR by facts of the known entity' 'predicted probability'
python3 - >out 2>&1 <<'PYTHON'
import json, re
page, lan = open("eval.html").read(), json.load(open("compared.json"))["runs"][1]
groups = [lan, *lan["by_known_facts"].values(), *lan["by_relation_kind"].values()]
wanted = ["%.3f<small>± %.3f" % (g["mrr"]["mean"], g["mrr"]["standard_error"])
          for g in groups if g["queries"] > 1]
assert len(wanted) > 2, wanted
for text in wanted:
    assert text in page, text
PYTHON
report $? 'standard errors of the page are those of compare' "$(tail -1 out)"
"$kith" eval yes --html labelled.html --threads 1 >/dev/null
page 'eval --html of labelled facts says the accuracy' labelled.html 'accuracy' \
    'Accuracy by facts of the known entity' 'Accuracy by kind of relation' 'Accuracy (%)'
"$kith" explain rules --fact 'new born_in lyon' --query 'new citizen_of france' --html fact.html \
    --threads 1 >/dev/null
page 'explain --html of a fact has the verdict' fact.html 'Verdict: likely, probability' 'candidates.' \
    'Facts about new'
"$kith" explain rules --fact '<i>new</i> born_in lyon' --fact '<i>new</i> speaks french' \
    --query '<i>new</i> citizen_of ?' --html explain.html --threads 1 >/dev/null
page 'explain --html makes a page with names escaped' explain.html '<i>new</i>' 'Lyon <b>&</b>' \
    'Correct in' 'Facts about' '95 % interval' 'if any'
grep -Eq '<(b|i)>(&|new)' explain.html
report $((! $?)) 'names of the page are no markup' "$(grep -o '.\{40\}<b>&.\{9\}' explain.html | head -3)"
python3 - >out 2>&1 <<'PYTHON'
import re
found = re.findall(r"Score ([−\d.]+) = ([^<]*)\.</p>", open("explain.html").read())
number = lambda text: float(text.replace("−", "-"))
assert len(found) == 3, found
for score, parts in found:
    total = sum(number(part) for part in re.findall(r"[+−][\d.]+", parts))
    assert abs(number(score) - total) < .003, (score, parts)
PYTHON
report $? 'the parts of a score add up to it' "$(tail -1 out)"
"$kith" explain lan --query 'p3 knows ?' --query 'p4 knows ?' --html two.html --threads 1 >/dev/null
page 'explain --html takes several questions' two.html '2 questions' 'p3' 'p4'
check 'predict has no page' 2 'html' "$kith" predict lan --query 'p3 knows ?' --html x.html
check 'a page that cannot be written is an error' 1 'nowhere' \
    "$kith" eval rules --html nowhere/x.html --threads 1

# Where a link leads, and what stdout goes to, is written to; the link stays.
echo old >target.html && ln -s target.html link.html && ln -s /proc/self/fd/1 stdout
"$kith" eval rules --html link.html --threads 1 >/dev/null 2>err
[ -L link.html ] && grep -q '<title>rules on test' target.html
report $? 'a page is written to where a link leads' "$(ls -l link.html; cat err)"
"$kith" eval rules --ranks stdout --threads 1 >out 2>err
[ -L stdout ] && grep -q '^subject' out && grep -q 'MRR' out
report $? 'what goes to stdout stands beside what is printed' "$(ls -l stdout; cat out err)"
rm stdout

# ---- experiments ----

# The program's own experiments with trainings of a moment, over generated sets in the same folders.
shipped=$(dirname "${BASH_SOURCE[0]}")/../../experiments
[ -d "$shipped" ] || shipped=$KITH_ROOT/experiments
mkdir tiny
python3 - "$shipped" <<'PYTHON'
import glob, json, os, sys
for path in glob.glob(sys.argv[1] + "/*.json"):
    experiment = json.load(open(path))
    for model in experiment.get("models", []):
        model["settings"] = {**model.get("settings", {}), "epochs": 2, "eval-every": 1, "dim": 8,
                             "batch": 128, "max-neighbors": 8}
    json.dump(experiment, open("tiny/" + os.path.basename(path), "w"))
PYTHON
for set in subject-10 object-10 subject-15; do
    make_graph data/fb15k/$set $((${#set} * 2))
done
for set in head tail both; do make_labelled data/wn11/$set-1000; done
for set in WN18RR_v1 WN18RR_v3 fb237_v1 fb237_v3 nell_v1 nell_v3 ilpc_small; do
    make_graph data/inductive/$set/known 10
    make_graph data/inductive/$set/new 12
done
reproduce=("$kith" reproduce --experiments tiny --data data --jobs 2 --threads 1)

check 'reproduce --list names the experiments' 0 '^link +Link prediction' "$kith" reproduce --list
for name in statistics classification link ablation decoders unseen cases inductive; do
    "$kith" reproduce --list >out
    grep -q "^$name " out
    report $? "$name is an experiment" "$(cat out)"
    "${reproduce[@]}" "$name" --dry-run >out 2>err </dev/null
    report $? "$name: --dry-run says how long it takes" "$(tail -3 err)"
done
[ ! -e reproduction ]
report $? '--dry-run writes nothing' "$(ls reproduction 2>&1)"

# reproduced NAME EXPRESSION TEXT...: an experiment runs from end to end; report.json is `o`.
reproduced() {
    local name=$1 expression=$2
    shift 2
    "${reproduce[@]}" "$name" -o "out-$name" >out 2>err </dev/null
    python3 -c '
import json, sys
o = json.load(open(sys.argv[1] + "/report.json"))
e = o["experiments"][0]
assert eval("(" + sys.argv[2] + ")"), json.dumps(e)[:3000]
assert "# " + e["title"] in open(sys.argv[1] + "/report.md").read()' "out-$name" "$expression" >found 2>&1
    report $? "$name runs from end to end" "$(tail -3 found) $(tail -5 err)"
    page "$name has a page" "out-$name/report.html" "$@"
}
reproduced statistics 'len(e["results"]) == 3 and e["results"][0]["relations"]["ours"] == 7 and
    e["results"][0]["relations"]["published"] == 1170 and
    e["results"][0]["seen"]["ours"] > 100 and e["results"][0]["unseen"]["ours"] == 20' 'seen entities' 'Subject-10'
reproduced link 'len(e["runs"]) == 22 and
    [r for r in e["results"] if r["model"] == "LAN"][0]["seeds"] == 3 and
    abs([r for r in e["results"] if r["model"] == "LAN"][0]["mrr"]["published"] - .394) < 1e-9 and
    all(abs(r["mrr"]["ours"] - r["mrr"]["published"] - r["mrr"]["difference"]) < 1e-9
        for r in e["results"] if r["model"] == "MEAN") and len(e["comparisons"]) == 8' \
    'published 0.394' 'Training on Subject-10' 'MRR on dev' '3 seeds, 2 epochs' 'MRR on Object-10 by facts' 'Reliability: kith' 'max-neighbors' \
    'kith train data/fb15k/subject-10'
python3 - >found 2>&1 <<'PYTHON'
import glob, json
chart = next(c for b in json.load(open("out-link/report.json"))["document"]["blocks"] if b["type"] == "figures"
             for c in b["items"] if c["title"] == "MRR on Subject-10 by facts of the unseen entity")
evals = [json.load(open(p))["eval"] for p in glob.glob("out-link/runs/subject-10.lan.*/results.json")]
points = next(s for s in chart["series"] if s["name"] == "LAN")["points"]
assert len(evals) == 3 and len(points) > 0, (evals, points)
for x, mrr in points:
    group = chart["categories"][int(x)]
    found = [e["by_known_facts"][group] for e in evals]
    assert abs(mrr - sum(g["mrr"] for g in found) / 3) < 1e-9, (group, mrr, found)
    assert f"{group}: {found[0]['queries']}" in chart["note"], chart["note"]
PYTHON
report $? 'a point of a chart is the mean over seeds, and its queries are counted' "$(tail -1 found)"
python3 - out-link/runs/*/results.json >found 2>&1 <<'PYTHON'
import json, sys
for path in sys.argv[1:]:
    settings = json.load(open(path))["identity"].get("settings", {"hard-negatives": "0"})
    assert settings["hard-negatives"] == "0", path
PYTHON
report $? 'finished runs are found again by the settings of the version before' "$(tail -1 found)"
reproduced ablation 'len(e["runs"]) == 5' 'Logic Rules Only' 'published 0.375'
reproduced decoders 'len(e["runs"]) == 8' 'LAN, Analogy'
reproduced unseen 'len(e["runs"]) == 14 and len(e["missing"]) == 7' 'sampling rate R (%)'
reproduced cases 'len(e["results"]) >= 3 and len(e["results"][0]["models"]) == 2 and
    len(e["results"][0]["models"][0]["answers"]) >= 5' 'their weights in LAN' 'Correct by the test set'

# The same run under another name, two seeds, two data sets, and a question that test does not answer.
python3 - <<'PYTHON'
import json
experiment = json.load(open("tiny/cases.json"))
model = experiment["models"][0]
train = [line.split("\t") for line in open("data/fb15k/subject-10/train").read().splitlines()]
test = [line.split("\t") for line in open("data/fb15k/subject-10/test").read().splitlines()]
known = next(f for f in train if f[1] == "citizen_of")
asked = next(f for f in test if f[1] == "citizen_of")
json.dump({**experiment, "models": [{**model, "name": "renamed", "seeds": [1, 2]}],
           "data": [*experiment["data"], {"path": "fb15k/object-10", "name": "Other"}],
           "cases": {"questions": [[known[0], known[1], None], [asked[0], asked[1], None]]}},
          open("renamed.json", "w"))
json.dump([known, asked], open("asked.json", "w"))
PYTHON
"$kith" reproduce ./renamed.json --data data -o out-cases --threads 1 >out 2>err </dev/null
python3 - >found 2>&1 <<'PYTHON'
import json
e = json.load(open("out-cases/report.json"))["experiments"][0]
page = open("out-cases/report.md").read()
known, asked = json.load(open("asked.json"))
assert "| renamed, seed 1 | renamed, seed 2 |" in page and "weights in renamed, seed 1" in page, page
assert "| LAN" not in page, page
assert "The test set has no answer." in page and "test set: ." not in page, page
assert "### Subject-10: " in page and "### Other: " in page, page
assert len(e["runs"]) == 4 and "kith train data/fb15k/subject-10 " in page, e["runs"]
first, second = e["results"][:2]
for model in first["models"]:
    assert not any(a["known"] or a["entity"] == known[2] for a in model["answers"]), model
correct = lambda m: asked[2] in [a["entity"] for a in m["answers"][:5]]
assert "rank " in page or all(correct(m) for r in e["results"] for m in r["models"]), page
PYTHON
report $? 'cases have the names of their experiment, new answers and ranks' "$(tail -3 found | cut -c1-3000) $(tail -3 err)"

reproduced classification 'len(e["runs"]) == 15 and len(e["comparisons"]) == 12 and
    all(abs(c["difference"]) <= 1 for c in e["comparisons"]) and len(e["missing"]) == 6 and
    0 <= [r for r in e["results"] if r["model"] == "kith"][0]["accuracy"]["ours"] <= 100' 'Accuracy' \
    'Both-1000'
"${reproduce[@]}" inductive -o out-inductive >out 2>err </dev/null
status=$?
if "$kith" eval --help | grep -q -- '--on '; then
    [ $status = 0 ] && grep -q '"on"' out-inductive/report.json
    report $? 'inductive runs from end to end' "$(tail -5 err)"
else
    [ $status = 1 ] && grep -q 'cannot evaluate a run on another graph' err
    report $? 'inductive says that this version cannot do it' "$(tail -5 err)"
fi
page 'inductive has a page' out-inductive/report.html 'RED-GNN'

# A researcher's own experiment, from a file outside: one model fails, the other goes on.
mkdir elsewhere
cat >elsewhere/mine.json <<'JSON'
{
  "title": "Mine <&>",
  "metrics": ["mrr", "hits1"],
  "data": [{"path": "fb15k/subject-10", "name": "people"}, {"path": "nowhere", "form": "a file of triples"}],
  "models": [
    {"name": "too wide", "preset": "release", "settings": {"dim": 9, "decoder": "complex", "epochs": 1}},
    {"name": "sum", "preset": "release", "settings": {"aggregator": "sum", "dim": 8, "epochs": 400,
     "batch": 32, "eval-every": 0}, "seeds": [1, 2]}
  ],
  "published": [{"model": "sum", "data": "people", "mrr": 0.5, "source": "a letter"}],
  "charts": ["training"]
}
JSON
own=("$kith" reproduce elsewhere/mine.json --data data -o own --threads 1)
check 'an experiment of one'"'"'s own is planned' 0 'sum, people, seed 2' "${own[@]}" --dry-run
"${own[@]}" >out 2>err </dev/null &
parent=$!
for _ in $(seq 600); do
    run=$(ls -d own/runs/people.sum.seed1.*/model 2>/dev/null)
    [ -n "$run" ] && [ -s "$run/history.jsonl" ] && break
    sleep .05
done
kill -9 $parent 2>/dev/null
wait $parent 2>/dev/null
before=$(wc -l <"$run/history.jsonl")
[ ! -e own/report.json ] && ! ls own/runs/people.sum.seed1.*/results.json >/dev/null 2>&1
report $? 'killed in the middle, a training is not done' "$(ls own/runs)"
"${own[@]}" >out 2>err </dev/null
[ $? = 1 ] && grep -q 'nowhere is missing' err && grep -q 'expected a file of triples' err
report $? 'a missing set is named, with what it must look like' "$(cat err)"
grep -q 'too wide, people, seed 1 failed: the decoder .*multiple of' err && grep -q 'sum, people, seed 2: done' err
report $? 'a training that fails does not stop the others' "$(cat err)"
python3 - "$run/history.jsonl" "$before" >out 2>&1 <<'PYTHON'
import json, sys
epochs = [json.loads(line)["epoch"] for line in open(sys.argv[1])]
assert epochs == list(range(1, 401)), epochs[:9]
assert 0 < int(sys.argv[2]) < 400, sys.argv[2]
PYTHON
report $? 'a killed training goes on where it was' "$(tail -1 out)"
page 'the report names what failed' own/report.html 'Mine <&>' 'multiple of' 'nowhere is not at' 'published 0.500'
grep -q '"command' own/runs/people.sum.seed1.*/results.json
report $? 'results.json has the commands' "$(cat own/runs/people.sum.seed1.*/results.json | head -30)"
touch -d '2000-01-01' own/runs/people.sum.*/results.json
"${own[@]}" >out 2>err </dev/null
[ -z "$(find own/runs -name results.json -newermt 2001-01-01)" ] && ! grep -q 'sum.*done' err
report $? 'finished runs are not repeated' "$(cat err)"
sed 's/"name": "sum"/"name": "another name"/; s/"people"/"folk"/; s/"model": "sum"/"model": "another name"/' elsewhere/mine.json >renamed.json
"$kith" reproduce ./renamed.json --data data -o own --threads 1 >out 2>err </dev/null
! grep -q 'another name.*done' err && ! ls own/runs | grep -q another-name &&
    grep -q 'another name' own/report.md
report $? 'nor if another experiment gives model and data other names' "$(cat err; ls own/runs)"
sed -i 's/"dim": 8/"dim": 4/; s/400/2/' elsewhere/mine.json
"${own[@]}" >out 2>err </dev/null
grep -q 'sum, people, seed 1: done' err
report $? 'other settings are another run' "$(cat err)"
echo 'p1	knows	p2' >>data/fb15k/subject-10/train
"${own[@]}" >out 2>err </dev/null
grep -q 'sum, people, seed 1: done' err
report $? 'other data are another run' "$(cat err)"

for wrong in '{}' '{"data": [], "models": []}' '{"data": [{"path": "x"}], "models": [{"nmae": "x"}]}' \
    '{"data": [{"path": "x"}], "models": [{"name": "x"}], "charts": ["pie"]}' '[' \
    '{"data": [{"path": "fb15k/subject-10"}], "models": [{"name": "x", "settings": {"dimm": 3}}]}'; do
    echo "$wrong" >wrong.json
    "$kith" reproduce ./wrong.json --data data -o none >out 2>err </dev/null
    found=$?
    [ $found != 0 ] && [ $found -lt 128 ] && [ -s err ] && [ ! -e none ]
    report $? "an experiment that is wrong is refused: $wrong" "$found $(cat err)"
done
# refused NAME PATTERN MODEL...: an experiment with this model is an error that says what was expected.
refused() {
    echo "{\"data\": [{\"path\": \"fb15k/subject-10\"}], \"models\": [{\"name\": \"x\", $3}]}" >wrong.json
    check "$1" 1 "wrong.json: \"models\", entry 1: $2" \
        "$kith" reproduce ./wrong.json --data data -o none --dry-run
}
for seeds in '"x"' -1 1.5 null '[1]' 1e3; do
    refused "a seed that is $seeds is refused" 'expected whole numbers from 0 in "seeds"' \
        "\"seeds\": [$seeds]"
    refused "a seed of --quick that is $seeds is refused" 'expected whole numbers' \
        "\"quick\": {\"seeds\": [$seeds]}"
done
for seconds in 1e300 -1 '"x"' null; do
    refused "epoch_seconds of $seconds are refused" 'expected a number of seconds .*"epoch_seconds"' \
        "\"epoch_seconds\": $seconds"
    refused "fixed_seconds of $seconds are refused" 'expected a number of seconds .*"fixed_seconds"' \
        "\"fixed_seconds\": $seconds"
done
refused 'a data set that the experiment lacks' 'found "q" in "data", expected the name of a data set' \
    '"data": ["q"]'
refused 'a data set of --quick that it lacks' 'found "q" in "data"' '"quick": {"data": ["q"]}'
refused 'settings in a list' 'expected an object in "settings"' '"settings": ["seed", 2]'
refused 'a preset that is a number' 'expected text in "preset"' '"preset": 5'
set='{"path": "fb15k/subject-10", "name": "a"}' model='{"name": "x", "preset": "rules"}'
while read -r pattern rest; do
    echo "{$rest}" >wrong.json
    check "an experiment that is wrong is refused: $rest" 1 "^kith: [.]/wrong.json: ${pattern//_/ }" \
        "$kith" reproduce ./wrong.json --data data -o none --dry-run --quick
done <<PATTERNS
"models",_entry_2:_found_the_name_"x"_a_second_time "data": [$set], "models": [$model, $model]
"data",_entry_2:_found_the_name_"a"_a_second_time "data": [$set, $set], "models": [$model]
"quick":_found_"b"_in_"only" "data": [$set], "models": [$model], "quick": {"only": ["b"]}
"quick":_unknown_key_"onyl" "data": [$set], "models": [$model], "quick": {"onyl": ["a"]}
"cases":_unknown_key_"top" "data": [$set], "models": [$model], "cases": {"top": 3}
"cases":_expected_a_whole_number "data": [$set], "models": [$model], "cases": {"count": 1.5}
"questions",_entry_2:_expected_subject "data": [$set], "models": [$model], "cases": {"questions": [["p1", "knows", null], ["p1", "knows"]]}
"charts":_found_"x",_but_no_data_set "data": [$set], "models": [$model], "charts": ["x"]
"models",_entry_1:_found_2_in_"seeds"_a_second_time "data": [$set], "models": [{"name": "x", "seeds": [2, 1, 2]}]
"models",_entry_1:_found_"seed"_in_"settings" "data": [$set], "models": [{"name": "x", "settings": {"seed": 2}}]
"published",_entry_1:_unknown_key_"mmr" "data": [$set], "models": [$model], "published": [{"model": "x", "data": "a", "mmr": 0.3}]
"published",_entry_1:_found_"b"_in_"data" "data": [$set], "models": [$model], "published": [{"model": "x", "data": "b", "mrr": 0.3}]
"published",_entry_1:_expected_a_number_of_at_most_1_in_"mrr" "data": [$set], "models": [$model], "published": [{"model": "x", "data": "a", "mrr": 31}]
"published",_entry_1:_expected_a_number_of_at_least_1_in_"mr" "data": [$set], "models": [$model], "published": [{"model": "x", "data": "a", "mr": 0.3}]
"published",_entry_1:_"model"_is_missing "data": [$set], "models": [$model], "published": [{"data": "a", "mrr": 0.3}]
expected_a_list_in_"charts" "data": [$set], "models": [$model], "charts": "facts"
PATTERNS
python3 - <<'PYTHON'
import json
known = [line.split("\t")[0] for line in open("data/fb15k/subject-10/train") if line.startswith("p")]
json.dump({"kind": "cases", "cases": {"questions": [[p, "citizen_of", None] for p in known[:150]]},
           "data": [{"path": "fb15k/subject-10", "name": "d"}],
           "models": [{"name": "x", "preset": "rules"}]}, open("many.json", "w"))
PYTHON
check 'as many questions as there are are asked' 0 '2 of 2 runs done' \
    "$kith" reproduce ./many.json --data data -o many --threads 1
cp -r data/fb15k/subject-10 data/single && head -n 1 data/fb15k/subject-10/test >data/single/test
echo '{"data": [{"path": "single"}], "models": [{"name": "x", "preset": "rules"},
    {"name": "y", "preset": "rules", "seeds": [2]}]}' >single.json
"$kith" reproduce ./single.json --data data -o single --threads 1 >out 2>err </dev/null
[ -s single/report.md ] && ! grep -q nan single/report.md
report $? 'one query has no standard error' "$(cat err; grep nan single/report.md)"
grep -q 'x, single, seed 1: done in 0:0[0-9] (1 of 2, about 0:' err
report $? 'a line about a run says how long the others will take' "$(cat err)"
grep -q 'kith train data/single .*; kith eval single/runs/single.x.seed1' single/report.md &&
    grep -q '| x | single | 1 | 0 | 0:[0-9][0-9] | 0:[0-9][0-9] |' single/report.md
report $? 'the report has both commands, and times in minutes and seconds' "$(grep 'kith train' single/report.md)"
python3 - single/runs/*/results.json >found 2>&1 <<'PYTHON'
import json, sys
for path in sys.argv[1:]:
    results = json.load(open(path))
    assert 0 < results["training_seconds"] < results["seconds"], results
PYTHON
report $? 'mining rules is training too' "$(tail -1 found)"
"$kith" reproduce ./single.json --data data -o single --threads 1 --quick >out 2>err </dev/null
! grep -q 'Quick runs' single/report.md
report $? '--quick is not mentioned where it changes nothing' "$(head -5 single/report.md)"
rm -r single/runs/single.y.*
(exec 9>>single/lock && flock 9 && exec sleep 25) &
holder=$!
while flock -n single/lock true; do sleep .05; done
"$kith" reproduce ./single.json --data data -o single --threads 1 >out 2>err </dev/null &
parent=$!
for _ in $(seq 400); do
    grep -q 'waiting for another kith reproduce' err && break
    sleep .05
done
kill $holder 2>/dev/null
wait $parent
[ $? = 0 ] && grep -q 'waiting for another kith reproduce' err && grep -q '2 of 2 runs done' out
report $? 'waiting for another process is said' "$(cat out err)"
check 'the folder of the report has any name' 0 '3 of 3 runs done' \
    "${reproduce[@]}" statistics -o $'a \xff folder'
echo '{"data": [{"path": "fb15k/subject-10", "name": "d"}], "models": [{"name": "x", "preset": "rules",
    "seeds": [1234567890123456789]}]}' >long.json
check 'a long seed is planned with all its digits' 0 'seed 1234567890123456789$' \
    "$kith" reproduce ./long.json --data data -o long --dry-run
"$kith" reproduce ./long.json --data data -o long --threads 1 >out 2>err </dev/null
grep -q -- '--seed 1234567890123456789 ' long/report.json
report $? 'a long seed is written with all its digits' "$(cat err; grep -o -- '--seed [^ ]*' long/report.json)"

# Data sets that cannot be used do not stop the others, and are named before anything is trained.
cp -r data/fb15k/subject-10 data/torn && echo 'a	b' >>data/torn/train
mkdir data/untested && cp data/fb15k/subject-10/train data/untested
echo '{"data": [{"path": "torn"}, {"path": "untested"}, {"path": "fb15k/subject-10", "on": "untested", "name": "on"},
    {"path": "single"}], "models": [{"name": "x", "preset": "rules"}]}' >unusable.json
"$kith" reproduce ./unusable.json --data data -o unusable --threads 1 >out 2>err </dev/null
[ $? = 1 ] && grep -q '1 of 1 runs done, 2 data sets missing or unusable' out
report $? 'data sets that cannot be used do not stop the others' "$(cat out err)"
"$kith" reproduce ./unusable.json --data data -o unusable --dry-run >out 2>err
grep -q 'torn cannot be used: data/torn/train:.*: found 2 columns' err &&
    grep -q 'untested has no test facts; make some with `kith split`' err &&
    grep -q -- '- on: data/untested has no test facts' unusable/report.md
report $? 'and are named with the reason' "$(cat err)"
echo '{"data": [{"path": "untested"}], "models": [{"name": "x", "preset": "rules"}]}' >none.json
check 'nothing is run if no data set can be used' 1 'nothing can be run' "$kith" reproduce ./none.json --data data -o none
check 'the form of optional sets is said if all are missing' 1 'expected a folder with train, dev, test and aux' \
    "$kith" reproduce unseen --experiments tiny --data . -o none
echo '{"data": [{"path": "wn11/head-1000", "name": "L"}], "charts": ["training", "facts"], "metrics": [],
    "models": [{"name": "x", "preset": "release", "settings": {"epochs": 4, "eval-every": 1, "dim": 8}}]}' >labels.json
"$kith" reproduce ./labels.json --data data -o labels --threads 1 >out 2>err </dev/null
grep -q 'Accuracy (%)' labels/report.md && grep -q 'accuracy on dev' labels/report.html &&
    ! grep -q 'MRR [(bo]\|no figures yet' labels/report.html
report $? 'labelled facts have an accuracy by default, and no chart of ranks' "$(cat err; head -40 labels/report.md)"

# A folder of a stranger: links to elsewhere, pipes.
run=$(cd long/runs && echo d.x.*)
echo precious >precious
for name in train.json eval.json log.txt ranks.tsv results.json commands.json; do
    for kind in link pipe; do
        rm -rf strange && mkdir -p "strange/runs/$run"
        if [ $kind = link ]; then
            ln -s "$PWD/precious" "strange/runs/$run/$name"
        else
            mkfifo "strange/runs/$run/$name"
        fi
        timeout 20 "$kith" reproduce ./long.json --data data -o strange --threads 1 >out 2>err </dev/null
        found=$?
        [ $found = 1 ] && [ "$(cat precious)" = precious ] && grep -q "$name: found .*expected a regular file" err
        report $? "reproduce: a $kind in place of $name is refused" "$found $(cat err) $(head -c 200 precious)"
    done
done
for name in lock report.html report.md report.json; do
    rm -rf strange && mkdir strange && mkfifo "strange/$name"
    check "reproduce: a pipe in place of $name is refused" 1 "$name: found .*expected a regular file" \
        timeout 20 "$kith" reproduce ./long.json --data data -o strange --threads 1
    rm "strange/$name" && ln -s "$PWD/precious" "strange/$name"
    check "reproduce: a link in place of $name is refused" 1 "$name: found a symbolic link" \
        timeout 20 "$kith" reproduce ./long.json --data data -o strange --threads 1
done
for name in runs "runs/$run" "runs/$run/model"; do
    rm -rf strange outside && mkdir -p outside "strange/$(dirname "$name")" && ln -s "$PWD/outside" "strange/$name"
    timeout 20 "$kith" reproduce ./long.json --data data -o strange --threads 1 >out 2>err </dev/null
    found=$?
    [ $found = 1 ] && [ -z "$(ls outside)" ] && grep -q "found a symbolic link, expected a folder" err
    report $? "reproduce: a link in place of the folder $(basename "$name") is refused" "$found $(cat err; ls outside)"
done
mkdir -p results && ln -sfn results linked
check 'reproduce -o takes a link to a folder' 0 '1 of 1 runs done' \
    "$kith" reproduce ./long.json --data data -o linked --threads 1
# What was done is read from the same folder.
rm "long/runs/$run/ranks.tsv" && mkfifo "long/runs/$run/ranks.tsv"
check 'reproduce: a pipe is not waited for when results are read' 1 'ranks.tsv: cannot read' \
    timeout 20 "$kith" reproduce ./long.json --data data -o long --threads 1

echo '{"data": [{"path": "fb15k/subject-10"}], "models": [{"name": "mean", "preset": "release", "settings":
    {"aggregator": "mean"}}, {"name": "lstm", "preset": "release", "settings": {"aggregator": "lstm"}},
    {"name": "rules", "preset": "rules"}]}' >estimates.json
json 'an estimate without seconds in the file goes by what is trained' \
    'o["runs"][1]["estimate_seconds"] > 50 * o["runs"][2]["estimate_seconds"] and o["runs"][0]["estimate_seconds"] < o["runs"][1]["estimate_seconds"] / 5' \
    "$kith" reproduce ./estimates.json --data data -o none --dry-run --json
check 'an experiment that does not exist is named' 1 "no experiment 'nothing'" "$kith" reproduce nothing
check 'and so is a file of an experiment' 1 '^kith: ./nowhere.json: cannot open: ' "$kith" reproduce ./nowhere.json
mkdir folder.json
check 'a folder is not an experiment' 1 '^kith: folder.json: cannot read: ' "$kith" reproduce folder.json

# Ctrl-C stops trainings with a checkpoint.
sed -i 's/"epochs": 2,/"epochs": 4000,/' elsewhere/mine.json
rm own/report.json
"${own[@]}" >out 2>err </dev/null &
parent=$!
sleep 1
kill -TERM $parent
wait $parent
found=$?
[ $found = 143 ] && grep -q 'run the same command again' err && [ -s own/report.json ]
report $? 'SIGTERM stops with status 143 and a report of what is done' "$found $(cat err)"

echo "1..$number"
[ "$failed" = 0 ]
