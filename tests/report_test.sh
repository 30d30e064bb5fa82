#!/bin/bash
# kith compare, pages of eval and explain, and kith reproduce. Prints TAP.
#   KITH=build/kith tests/report_test.sh
set -u
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

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
        if tag not in ("meta", "br"):
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
whole = " ".join(check.texts)
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
check 'compare needs two runs' 2 'expected 2' "$kith" compare lan
check 'compare says which run is missing' 1 'nowhere' "$kith" compare lan nowhere --threads 1

# ---- pages ----

"$kith" eval rules --html eval.html --threads 1 >/dev/null
page 'eval --html makes a page' eval.html 'rules on test' 'MRR by kind of relation' \
    'MRR by facts of the known entity' 'predicted probability'
"$kith" eval yes --html labelled.html --threads 1 >/dev/null
page 'eval --html of labelled facts says the accuracy' labelled.html 'accuracy'
"$kith" explain rules --fact '<i>new</i> born_in lyon' --fact '<i>new</i> speaks french' \
    --query '<i>new</i> citizen_of ?' --html explain.html --threads 1 >/dev/null
page 'explain --html makes a page with names escaped' explain.html '<i>new</i>' 'Lyon <b>&</b>' \
    'right in' 'What is known about it'
grep -Eq '<(b|i)>(&|new)' explain.html
report $((! $?)) 'names of the page are no markup' "$(grep -o '.\{40\}<b>&.\{9\}' explain.html | head -3)"
"$kith" explain lan --query 'p3 knows ?' --query 'p4 knows ?' --html two.html --threads 1 >/dev/null
page 'explain --html takes several questions' two.html '2 questions' 'p3' 'p4'
check 'predict has no page' 2 'html' "$kith" predict lan --query 'p3 knows ?' --html x.html
check 'a page that cannot be written is an error' 1 'nowhere' \
    "$kith" eval rules --html nowhere/x.html --threads 1

echo "1..$number"
[ "$failed" = 0 ]
