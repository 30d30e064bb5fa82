#!/bin/bash
# What newcomers do with files of their own: an export of Wikidata, a semicolon CSV of a spreadsheet, Turtle, and
# files that are something else. Prints TAP.
#   KITH=build/kith tests/cli/first_day_test.sh
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../support/tap.sh"

kith=${KITH:?says where the program is}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
tab=$'\t'

python3 - <<'PYTHON'
cities = ["Chicago", "Los Angeles", "New York", "Boston"]
facts, labels = [], {}
for i, c in enumerate(cities):
    labels[f"Q{i}"] = c
    labels[f"Q1{i}"] = f"Team {c}"
    facts.append((f"Q1{i}", "P159", f"Q{i}"))
for i in range(60):
    labels[f"Q2{i:02}"] = f"Player {i}"
    facts.append((f"Q2{i:02}", "P54", f"Q1{i % 4}"))
    if i != 8:
        facts.append((f"Q2{i:02}", "P551", f"Q{i % 4}"))
e, p = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
with open("wikidata.csv", "w") as out:
    print("item,itemLabel,property,propertyLabel,value,valueLabel", file=out)
    for s, r, o in facts:
        print(f'{e}{s},"{labels[s]}",{p}{r},name of {r},{e}{o},"{labels[o]}"', file=out)
names = {"P54": "spielt für", "P551": "wohnt in", "P159": "Sitz"}
with open("Tabelle 1.csv", "w", encoding="utf-8-sig", newline="\r\n") as out:
    print("Subjekt;Beziehung;Objekt", file=out)
    for s, r, o in facts:
        print(f'{labels[s]};{names[r]};"{labels[o]}"', file=out)
with open("graph.ttl", "w") as out:
    print("@prefix ex: <http://example.org/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .", file=out)
    for s, r, o in facts:
        print(f"ex:{s} ex:{r} ex:{o} .", file=out)
    for s, label in labels.items():
        print(f'ex:{s} rdfs:label "{label}"@en, "{label} (de)"@de .', file=out)
    for r, label in names.items():
        print(f'ex:{r} <http://www.w3.org/2004/02/skos/core#prefLabel> "{label}"@de .', file=out)
with open("facts.json", "w") as out:
    print('[{"subject": "a", "relation": "r", "object": "b"}]', file=out)
with open("utf16.csv", "w", encoding="utf-16") as out:
    print("subject,relation,object\na,r,b", file=out)
PYTHON

# ---- an export of Wikidata ----

check 'the columns of an export are recognised' 0 'header row: item, property, value' "$kith" stats wikidata.csv
check 'labels beside names are no facts' 0 '^  labels +369  read as labels' "$kith" stats wikidata.csv
"$kith" train wikidata.csv -o a/b/wikidata --preset rules -q >told 2>err
report $? 'a run is made with its parent folders' "$(cat err)"
check 'IRIs are shown by prefix, beside labels' 0 '^Player 8 \(wd:Q208\)  name of P551 \(wdt:P551\)  \?$' \
    "$kith" predict a/b/wikidata --query 'wd:Q208 wdt:P551 ?'
check 'the answer is right' 0 '^ +1 .*  Chicago \(wd:Q0\)$' "$kith" predict a/b/wikidata --query 'wd:Q208 wdt:P551 ?'
check 'labels mean their entities' 0 '^Player 8 \(wd:Q208\)  name of P551' \
    "$kith" predict a/b/wikidata --query '"Player 8" wdt:P551 ?'
check 'facts about newcomers are typed with labels too' 0 '^ +1 .*  Chicago \(wd:Q0\)$' \
    "$kith" predict a/b/wikidata --fact 'dee wdt:P54 "Team Chicago"' --query 'dee wdt:P551 ?'
check 'labels mean their relations' 0 '^ +1 .*  Chicago \(wd:Q0\)$' \
    "$kith" predict a/b/wikidata --query '"Player 8" "name of P551" ?'
json 'JSON has labels of relations beside their names' \
    '{a.get("relation_label") for a in o["results"][0]["answers"]} <= {"name of P54", "name of P551", "name of P159"}' \
    "$kith" predict a/b/wikidata --query '"Player 8" ? ?' --json
check 'another graph is asked with them too' 0 '  name of P551 \(wdt:P551\)  ' \
    "$kith" predict a/b/wikidata --on wikidata.csv --query '"Player 8" "name of P551" ?'
"$kith" split a/b/wikidata/graph -o with-test --test 0.3 -q >out 2>err && grep -q 'P551.name of P551' with-test/relation_name.txt
report $? 'a split keeps them' "$(cat out err)"
json 'JSON has whole names' 'o["results"][0]["answers"][0]["entity"] == "http://www.wikidata.org/entity/Q0"' \
    "$kith" predict a/b/wikidata --query '"Player 8" wdt:P551 ?' --json
check 'a fact of a CSV file is checked' 0 '0\.[0-9]+	1	known	ok$' "$kith" check a/b/wikidata wikidata.csv
check 'explanations show short names' 0 'Player 8 \(wd:Q208\)  name of P54 \(wdt:P54\)  Team Chicago \(wd:Q10\)' \
    "$kith" explain a/b/wikidata --query '"Player 8" wdt:P551 ?'

# What train prints at its end works as it stands.
sed -n 's/.*to query it: //p' told >line
{ echo "kith() { \"$kith\" \"\$@\"; }"; cat line; } >script
bash script >out 2>err
report $? 'the command that train prints works' "$(cat told out err)"
grep -q '^ *1 ' out
report $? 'and has an answer' "$(cat told out)"

# ---- a spreadsheet's CSV ----

check 'semicolons, a byte order mark and CRLF are fine' 0 'separated by semicolons, header row: Subjekt' \
    "$kith" stats 'Tabelle 1.csv'
"$kith" train 'Tabelle 1.csv' -o 'mein lauf' --preset rules -q >told 2>err
report $? 'a run is made of it' "$(cat err)"
{ echo "kith() { \"$kith\" \"\$@\"; }"; sed -n 's/.*to query it: //p' told; } >script
bash script >out 2>err
report $? 'the command that train prints works with spaces in all names' "$(cat told out err)"
check 'names with spaces are quoted' 0 '^ +1 .*  Chicago$' \
    "$kith" predict 'mein lauf' --query '"Player 8" "wohnt in" ?'
printf '"Player 8" "wohnt in" ?\nwhy\n' | "$kith" shell 'mein lauf' >out 2>err
report $? 'names with spaces are quoted in the shell' "$(cat err)"
grep -q 'spielt für  Team Chicago' out
report $? 'and why tells the reason' "$(cat out)"

# ---- Turtle ----

check 'labels of Turtle are no facts' 0 '^  labels +139  read as labels' "$kith" stats graph.ttl
"$kith" train graph.ttl -o turtle --preset rules -q >told 2>err
report $? 'a run is made of Turtle' "$(cat err)"
check 'its prefixes are kept with the run' 0 '^ +1 .*  Chicago \(ex:Q0\)$' \
    "$kith" predict turtle --query 'ex:Q208 ex:P551 ?'
check 'again from the cache' 0 '^ +1 .*  Chicago \(ex:Q0\)$' \
    "$kith" predict turtle --query '<http://example.org/Q208> http://example.org/P551 ?'
check 'relations have labels there too' 0 '^Player 8 \(ex:Q208\)  wohnt in \(ex:P551\)  \?$' \
    "$kith" predict turtle --query '"Player 8" "wohnt in" ?'
cp -r turtle changed && sed -i 's/wohnt in/wohnt an/' changed/graph/relation_name.txt
check 'labels that were changed are noticed' 1 'hash differs' "$kith" predict changed --query 'ex:Q208 ex:P551 ?'
"$kith" train graph.ttl -o turtle --preset rules --force -q >out 2>err
report $? 'a run with prefixes and labels is replaced' "$(cat err)"
printf '@prefix ex: <http://example.org/> .\nex:new ex:P551 ex:Q0 .\n' >new.ttl
for said in "--facts new.ttl" "--fact ex:new${tab}ex:P551${tab}ex:Q0" "--fact <http://example.org/new>${tab}ex:P551${tab}ex:Q0"; do
    for asked in 'ex:new' '<http://example.org/new>' 'http://example.org/new'; do
        check "$asked: a new entity of $said" 0 'Chicago \(ex:Q0\)  \[known\]$' \
            "$kith" predict turtle "${said%% *}" "${said#* }" --query "$asked ex:P551 ?"
    done
done
printf 'load new.ttl\nex:new ex:P551 ex:Q1\nremove <http://example.org/new> ex:P551 ex:Q0\nfacts\n' \
    | "$kith" shell turtle >out 2>err
[ $? = 0 ] && [ "$(tail -n 1 out)" = '   1  http://example.org/new  http://example.org/P551  http://example.org/Q1' ]
report $? 'a new entity is one, in whatever form its IRI is typed' "$(cat out err)"
sed -i 's/example.org/example.com/' turtle/graph/prefixes.txt
check 'prefixes that were changed are noticed' 1 'hash differs' "$kith" predict turtle --query 'ex:Q208 ex:P551 ?'

# ---- names that are not quite right ----

check 'a mistyped prefix name gets a suggestion' 1 "did you mean 'wd:Q208'|did you mean .*'wd:Q208'" \
    "$kith" predict a/b/wikidata --query 'wd:Q2088 wdt:P551 ?'
check 'a mistyped relation, too' 1 "did you mean .*'wdt:P551'" "$kith" predict a/b/wikidata --query 'wd:Q208 wdt:P5511 ?'
check 'a mistyped label, too' 1 "did you mean 'wd:Q208'" "$kith" predict a/b/wikidata --query '"Plaver 8" wdt:P551 ?'
check 'with its label' 1 "did you mean 'wd:Q208' .Player 8." \
    "$kith" predict a/b/wikidata --query '"Plaver 8" wdt:P551 ?'
check 'a mistyped command gets a suggestion' 2 "did you mean 'train'" "$kith" trian wikidata.csv -o x
check 'a mistyped option gets a suggestion' 2 "did you mean '--columns'" "$kith" stats wikidata.csv --colums 1,2,3

# ---- folders of runs ----

check 'a run is not replaced without --force' 2 'already contains a run' "$kith" train wikidata.csv -o a/b/wikidata -q
check 'with it, it is' 0 'finished' "$kith" train wikidata.csv -o a/b/wikidata --preset rules --force -q
mkdir own && echo mine >own/notes
check 'a folder of the user is never replaced' 2 'not empty and not a run.*only runs made by kith' \
    "$kith" train wikidata.csv -o own --preset rules --force -q
[ "$(cat own/notes)" = mine ]
report $? 'and keeps what is in it' "$(ls own)"
echo mine >a/b/wikidata/notes
check 'nor is a run with a file of the user' 2 'notes: is not part of a run' \
    "$kith" train wikidata.csv -o a/b/wikidata --preset rules --force -q

# ---- two things with one label ----

mkdir springfield
printf 'a%d\tlives_in\tm1\n' {1..9} >springfield/train
printf 'b%d\tlives_in\tm2\n' {1..9} >>springfield/train
printf 'm1\tSpringfield\nm2\tSpringfield\n' >springfield/entity_name.txt
"$kith" train springfield -o twice --preset rules -q >/dev/null 2>&1
check 'a label of two entities is refused' 1 "label of 2 entities: 'm1', 'm2'; give one of these" \
    "$kith" predict twice --query '? lives_in Springfield'
[ "$(grep -c Springfield err)" = 1 ]
report $? 'with one message' "$(cat err)"

# ---- header rows ----

printf 'dish,property,value\nPizza,cuisine,Italian\nPasta,cuisine,Italian\nTaco,cuisine,Mexican\n' >dishes.csv
check 'the word for the relation is enough of a header' 0 'header row: dish, property, value' "$kith" stats dishes.csv
check 'also with columns by number' 0 '^  train +3' "$kith" stats dishes.csv --columns 1,2,3
printf 'Pizza,property,Italian\nPasta,cuisine,Italian\nTaco,cuisine,Mexican\n' >dishes.csv
check 'a name that is used again is none' 0 'no header row' "$kith" stats dishes.csv

{ echo 'Person,worin,Ort'; printf 'p%d,wohnt in,o1\np%d,arbeitet in,o1\n' {1..8}; } >orte.csv
"$kith" train orte.csv -o orte --preset rules >out 2>err
grep -q 'orte.csv: file of triples in columns, separated by commas, no header row' err
report $? 'train says what it found' "$(cat err)"
grep -q "occur nowhere else; if it is a header row, name the columns: --columns 'Person,worin,Ort'" err
report $? 'and that the first row may be a header' "$(cat err)"
check 'the columns can be named' 0 '^  train +8' "$kith" stats orte.csv --columns Person,worin,Ort

# ---- something else ----

check 'JSON is refused with the way out' 1 'found JSON.*jq -r' "$kith" stats facts.json
check 'UTF-16 is refused with the way out' 1 'iconv -f UTF-16 -t UTF-8 utf16.csv > utf8-utf16.csv' \
    "$kith" train utf16.csv -o x
gzip -k utf16.csv
check 'also of a compressed file' 1 'zcat utf16.csv.gz . iconv -f UTF-16 -t UTF-8 > utf8-utf16.csv' "$kith" stats utf16.csv.gz
printf 'M\xfcller,knows,Anna\n' >latin.csv
check 'Latin-1, too' 1 'if it is Latin-1, convert it with: iconv -f WINDOWS-1252' "$kith" stats latin.csv
printf 'a,r,\na,r,b\n' >empty.csv
check 'an empty cell' 1 'found an empty object .*--skip-bad skips such lines' "$kith" stats empty.csv
iconv -f UTF-16 -t UTF-8 utf16.csv > utf8-utf16.csv
check 'which works' 0 'header row: subject, relation, object' "$kith" stats utf8-utf16.csv
check 'columns are chosen by name' 0 '^  train +123' "$kith" stats wikidata.csv --columns valueLabel,property,itemLabel
check 'columns that are not there are told' 1 "expected a column 'x'" "$kith" stats wikidata.csv --columns item,x,value
check 'columns of a folder are refused' 2 'a file in columns only' "$kith" stats turtle/graph --columns 1,2,3

echo "1..$number"
[ "$failed" = 0 ]
