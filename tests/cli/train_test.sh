#!/bin/bash
# Training, evaluation and rules from the command line, and what a run survives: kill -9 at any
# moment, Ctrl-C, a full disk. Prints TAP.
#   KITH=build/kith tests/cli/train_test.sh
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../support/tap.sh"

kith=${KITH:?says where the program is}
work=$(mktemp -d)
mounted=
trap '[ -z "$mounted" ] || umount "$mounted"; rm -rf "$work"' EXIT
cd "$work" || exit 1
# same NAME FILE FILE: the same bytes.
same() {
    cmp "$2" "$3" >out 2>&1
    report $? "$1" "$(cat out)"
}

# history NAME RUN EPOCHS: one line per epoch, in order, with what it must have.
history() {
    python3 -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert [l["epoch"] for l in lines] == list(range(1, int(sys.argv[2]) + 1)), lines
assert all(l["loss"] >= 0 and l["seconds"] >= 0 for l in lines), lines' \
        "$2/history.jsonl" "$3" >out 2>&1
    report $? "$1" "$(tail -3 out)"
}

# ---- sources ----

mkdir source labelled
python3 - <<'PYTHON'
import random
random.seed(7)
def fact(low, high):
    return (random.randrange(low, high), random.randrange(5), random.randrange(60))
def write(path, facts, label=""):
    with open(path, "w") as out:
        for i, (s, r, o) in enumerate(facts):
            extra = "" if not label else "\t1" if i % 2 else "\t-1"
            print(f"e{s}\tr{r}\te{o}{extra}", file=out)
train = sorted({fact(0, 60) for _ in range(400)})
random.shuffle(train)
known = set(train)
dev = [f for f in {fact(0, 60) for _ in range(60)} - known][:30]
test = [f for f in {fact(60, 70) for _ in range(60)}][:40]
aux = [f for f in {fact(60, 68) for _ in range(40)} - set(test)]
write("source/train", train), write("source/dev", dev)
write("source/test", test), write("source/aux", aux)
with open("source/train", "a") as out: # two entities that nothing tells apart
    print("tie1\tr0\te0\ntie2\tr0\te0", file=out)
with open("source/test", "a") as out:
    print("e60\tr0\ttie1", file=out)
write("labelled/train", train), write("labelled/dev", dev, "labels")
write("labelled/test", test, "labels"), write("labelled/aux", aux)
PYTHON
small=(--preset release --dim 8 --batch 64 --max-neighbors 8 --lr 0.02 --epochs 4 --eval-every 2)

# ---- train ----

check 'train makes a run' 0 'kith eval run$' "$kith" train source -o run "${small[@]}"
for name in config.json history.jsonl model.safetensors checkpoint.safetensors graph/train; do
    [ -s "run/$name" ]
    report $? "a run holds $name" "$(ls -R run)"
done
history 'history has a line per epoch' run 4
grep -q '"epoch": 4.*"mrr"' run/history.jsonl
report $? 'history has the figures of dev' "$(cat run/history.jsonl)"
python3 -c '
import json
c = json.load(open("run/config.json"))
assert c["format"] == 3 and len(c["data_hash"]) == 16 and c["kith"], c
s = c["settings"]
assert (s["aggregator"], s["decoder"], s["dim"], s["seed"], s["lr"], s["predict"]) == \
    ("lan", "transe", "8", "1", "0.02", "object"), s' 2>err
report $? 'config.json has every setting, with auto resolved' "$(cat err)"
cp -r run old
python3 - <<'PYTHON'
import json
c = json.load(open("old/config.json"))
del c["checksum"]
c["format"] = 2
c["settings"]["candidates"] = c["settings"].pop("candidate-vectors")
c["settings"]["hard-negatives"] = "0"
json.dump(c, open("old/config.json", "w"))
for i, (name, value) in enumerate([("hard-negatives", "2"), ("candidates", "mix"), ("schedule", "cosine")]):
    d = dict(c, settings=dict(c["settings"], **{name: value}))
    json.dump(d, open(f"old/config.{i}", "w"))
PYTHON
grep -q '"candidates"' old/config.json &&
    [ "$("$kith" eval old --json | grep mrr)" = "$("$kith" eval run --json | grep mrr)" ]
report $? 'a run with the names of version 0.1 opens' "$(cat old/config.json)"
for i in 0 1 2; do
    cp old/config.$i old/config.json
    check "a run of version 0.1 that used a dropped setting is refused ($i)" 1 \
        'dropped; train it again' "$kith" eval old
done
"$kith" train source -o loud "${small[@]}" >out 2>err
[ -s err ] && ! grep -q $'\r' err && ! grep -q 'facts/s' err
report $? 'progress is for terminals alone' "$(cat -v err)"
check '--quiet says nothing but the end' 0 'finished' "$kith" train source -o quiet --quiet "${small[@]}"
[ ! -s err ]
report $? '--quiet leaves stderr empty' "$(cat err)"
json '--json tells where it ended' 'o == {"run": "told", "state": "finished"}' \
    "$kith" train source -o told --json "${small[@]}"
same 'the same settings give the same bytes' run/model.safetensors quiet/model.safetensors
"$kith" train source -o threads --threads 3 "${small[@]}" >out 2>err
same 'so do other numbers of threads' run/model.safetensors threads/model.safetensors
check 'a preset and an option beside it' 0 'finished' \
    "$kith" train source -o paper "${small[@]}" --preset paper --normalize on 
python3 -c '
import json
s = json.load(open("paper/config.json"))["settings"]
assert (s["normalize"], s["attention-width"], s["logic-denominator"], s["padding"]) == \
    ("on", "d", "max", "off"), s' 2>err
report $? 'the option overrides that point of the preset' "$(cat err)"

if python3 -c 'import pty; pty.openpty()' 2>err; then
python3 - "$kith" >tty.out 2>&1 <<'PYTHON'
import os, pty, sys
argv = [sys.argv[1]] + "train source -o tty --dim 16 --epochs 100000 --eval-every 0".split()
pty.spawn(["timeout", "-k", "20", "-s", "INT", "3"] + argv)
PYTHON
tr '\r' '\n' <tty.out | grep -Eq 'epoch [0-9]+/100000 +[0-9]+ %  loss [0-9.]+  [0-9,]+ facts/s  [0-9:]+ left'
report $? 'a terminal shows epoch, loss, facts/s and time left' "$(tail -c 300 tty.out | cat -v)"
else
    skip 'a terminal shows epoch, loss, facts/s and time left' 'no pseudo-terminal can be had'
fi

# ---- bad arguments ----

check 'train needs a source' 2 'missing SOURCE' "$kith" train -o x
check 'train needs an output folder' 2 'missing -o DIR' "$kith" train source
check 'an unknown setting' 2 "unknown option '--width'" "$kith" train source -o x --width 5
check 'a limit is a number that is accepted' 2 'epochs is .*, expected a whole number from 1 to 1000000000$' \
    "$kith" train source -o x --epochs 1e9
check 'a setting that is no number' 2 "dim is 'wide', expected a whole number" \
    "$kith" train source -o x --dim wide
check 'a setting out of its range' 2 "batch is '0'" "$kith" train source -o x --batch 0
check 'an aggregator that is none' 2 'mean\|sum\|max' "$kith" train source -o x --aggregator median
check 'a preset that is none' 2 'expected kith, triplets, rules, embedding, release, paper or paper-fast' "$kith" train source -o x --preset mine
check 'a width that the decoder cannot take' 2 'multiple of 4' \
    "$kith" train source -o x --decoder analogy --dim 6
check 'an lr of zero' 2 'lr' "$kith" train source -o x --lr 0
check 'threads that are no number' 2 '--threads' "$kith" train source -o x --threads many
check 'a setting beside --resume' 2 'from the run' "$kith" train --resume run --dim 5
check 'a run to start from beside --resume' 2 'from the run' "$kith" train --resume run --from run
check 'a run to start from that is not there' 1 'nowhere' \
    "$kith" train source -o x --from nowhere "${small[@]}"
check 'rules alone do not start from a run' 2 'new run has rules only' \
    "$kith" train source -o new --from run --preset rules
check 'another dim than that of the run to start from' 2 'has dim 8, and the new run 12' \
    "$kith" train source -o x --from run --dim 12
[ ! -e x ]
report $? 'what is refused leaves nothing' "$(ls -d x 2>&1)"
cp -r source grown
printf 'newcomer\t%s\n' "$(head -1 source/train* | tail -1 | cut -f2-)" >>"$(ls grown/train* | head -1)"
check 'a grown graph starts from the run, with its settings' 0 'finished' \
    "$kith" train grown -o grown-run --from run --epochs 1 --quiet
python3 -c '
import json
a, b = (json.load(open(f + "/config.json"))["settings"] for f in ("run", "grown-run"))
assert b["epochs"] == "1" and all(a[k] == b[k] for k in a if k not in ("epochs", "corrupt")), (a, b)' 2>err
report $? 'these are the settings of the run but for those given' "$(cat err)"
started_with() { # BATCH EPOCHS: what the settings of `started` must be
    python3 -c '
import json, sys
s = json.load(open("started/config.json"))["settings"]
assert [s["batch"], s["epochs"]] == sys.argv[1:], s' "$@" 2>err
    report $? "a run that starts from another has batches of $1 and $2 epochs" "$(cat err)"
    rm -rf started
}
softmax=(--preset kith --evidence none --dim 8 --eval-every 0 --quiet)
"$kith" train source -o softmax "${softmax[@]}" --epochs 3 >out 2>err
report $? 'a run to start from' "$(cat err)"
"$kith" train grown -o started --from softmax --quiet >out 2>err
started_with 512 1
"$kith" train grown -o started --from softmax "${softmax[@]}" >out 2>err
started_with 512 4
"$kith" train grown -o started --from softmax "${softmax[@]}" --epochs 2 --batch 100 >out 2>err
started_with 100 2
check 'a source beside --resume' 2 'from the run' "$kith" train source --resume run
check 'a source that is not there' 1 'nowhere: cannot open' "$kith" train nowhere -o x
[ ! -e x ]
report $? 'no folder is made for bad arguments' "$(ls x 2>&1)"
check 'a folder that cannot be made' 1 '/proc/nowhere/run' \
    "$kith" train source -o /proc/nowhere/run "${small[@]}"
check 'parents are made' 0 'finished' "$kith" train source -o a/b/run "${small[@]}" --seed 2
cmp -s a/b/run/model.safetensors run/model.safetensors
report $((! $?)) 'another seed gives another model' ''
check '--force replaces a run' 0 'finished' "$kith" train source -o a/b/run "${small[@]}" --force
same 'with the new model' run/model.safetensors a/b/run/model.safetensors
echo mine >a/b/run/notes
check '--force spares what is not part of a run' 2 'run/notes: is not part of a run' \
    "$kith" train source -o a/b/run "${small[@]}" --force

cp -r run before
check 'an existing run is not overwritten' 2 'already contains a run' \
    "$kith" train source -o run "${small[@]}" --seed 2
diff -r run before >out
report $? 'and stays as it is' "$(cat out)"
mkdir mine && echo precious >mine/file
check 'nor is a folder with anything in it' 2 'mine' "$kith" train source -o mine "${small[@]}"
[ "$(ls mine)" = file ]
report $? 'and what is in it stays' "$(ls mine)"
ls -d ./*.tmp-* >out 2>&1
report $((! $?)) 'nothing half made is left behind' "$(cat out)"

check 'resuming a finished run says so' 0 'finished already' "$kith" train --resume run
diff -r run before >out
report $? 'and changes nothing' "$(cat out)"
check 'resuming what is no run' 1 'is not a run' "$kith" train --resume mine
check 'resuming what is not there' 1 'is not a run' "$kith" train --resume nowhere

# ---- eval ----

check 'eval prints a table' 0 'realistic +[0-9]+ ' "$kith" eval run
check 'eval breaks down by relation' 0 '^ +(1-1|1-N|N-1|N-N) ' "$kith" eval run
check 'eval takes dev' 0 'run: dev, 30 facts' "$kith" eval run --split dev
json 'eval --json has the stable keys' \
    'all(k in o for k in "mr mrr hits queries seconds".split()) and set(o["hits"]) == {"1","3","10"}' \
    "$kith" eval run --json
json 'figures lie where they can' \
    '1 <= o["mr"] <= 62 and 0 < o["mrr"] <= 1 and 0 <= o["hits"]["1"] <= o["hits"]["3"] <= '\
'o["hits"]["10"] <= 1 and o["queries"] == 41 and o["seconds"] >= 0 and '\
'o["optimistic"]["mr"] <= o["mr"] <= o["pessimistic"]["mr"]' \
    "$kith" eval run --json
json 'the parts of the breakdowns add up' \
    'sum(k["queries"] for k in o["by_relation_kind"].values()) == o["queries"] == '\
'sum(k["queries"] for k in o["by_known_facts"].values()) and set(o["by_relation_kind"]) == '\
'{"1-1","1-N","N-1","N-N"} and set(o["by_known_facts"]) == {"0","1","2","3-5","6-10","11-50","51+"}' \
    "$kith" eval run --json
json '--candidates all ranks unseen entities too' 'o["mr"] > 0 and o["queries"] == 41' \
    "$kith" eval run --candidates all --json
"$kith" eval run --json --threads 1 | grep -v seconds >one
"$kith" eval run --json --threads 3 | grep -v seconds >three
same 'eval gives the same at any number of threads' one three

"$kith" eval run --json --ranks ranks.tsv >figures 2>err
python3 - >out 2>&1 <<'PYTHON'
import csv, json
o = json.load(open("figures"))
rows = list(csv.DictReader(open("ranks.tsv"), delimiter="\t"))
assert list(rows[0]) == ["subject", "relation", "object", "hidden", "optimistic", "pessimistic",
                         "realistic", "candidates"], rows[0]
ranks = [float(r["realistic"]) for r in rows]
assert len(rows) == o["queries"]
for r in rows:
    low, high, mean = int(r["optimistic"]), int(r["pessimistic"]), float(r["realistic"])
    assert mean == (low + high) / 2 and 1 <= low <= high <= int(r["candidates"]) <= 62, r
    assert r["hidden"] == "object", r
    assert high - low == (r["object"] == "tie1"), r
close = lambda a, b: abs(a - b) < 1e-8 * max(1, b) # ten digits are printed
assert close(o["mr"], sum(ranks) / len(ranks)), o["mr"]
assert close(o["mrr"], sum(1 / r for r in ranks) / len(ranks)), o["mrr"]
for k in "1", "3", "10":
    assert close(o["hits"][k], sum(r <= int(k) for r in ranks) / len(ranks)), (k, o["hits"])
facts = {tuple(line.split()) for line in open("source/test")}
assert {(r["subject"], r["relation"], r["object"]) for r in rows} == facts
known = facts | {tuple(l.split()) for p in ("train", "dev", "aux") for l in open("source/" + p)}
seen = {e for l in open("source/train") for e in (l.split()[0], l.split()[2])}
for r in rows:
    others = sum((r["subject"], r["relation"], e) in known for e in seen) - 1
    assert int(r["candidates"]) == len(seen) - others, r
PYTHON
report $? '--ranks recomputes every figure and candidate count' "$(tail -3 out)"
check 'ranks that cannot be written' 1 'nowhere/ranks' "$kith" eval run --ranks nowhere/ranks
check 'a full disk under --ranks is noticed' 1 '/dev/full' "$kith" eval run --ranks /dev/full

check 'train on labels' 0 finished "$kith" train labelled -o sorted "${small[@]}"
grep -q '"accuracy"' sorted/history.jsonl
report $? 'history has the accuracy on dev' "$(cat sorted/history.jsonl)"
json 'labels are classified' \
    '0 <= o["accuracy"] <= 1 and o["task"] == "classification" and o["queries"] == 40 and '\
'"seconds" in o and "mrr" not in o and o["without_neighbors"] > 0' \
    "$kith" eval sorted --json
check 'eval says how many had no neighbour' 0 'no usable neighbour' "$kith" eval sorted

check 'eval needs a run' 2 'missing RUN' "$kith" eval
check 'a split that is none' 2 "--split: 'train' is not dev or test" "$kith" eval run --split train
check 'candidates that are none' 2 "--candidates: 'some' is not seen, all or new" "$kith" eval run --candidates some
check 'eval of what is no run' 1 'is not a run' "$kith" eval mine
cp -r run damaged && truncate -s 500 damaged/model.safetensors
check 'eval of a damaged run' 1 'damaged/model.safetensors: .*truncated' "$kith" eval damaged
sed -i 's/"format": 3/"format": 99/' damaged/config.json
check 'eval of a run whose settings were changed' 1 'config.json: its checksum is wrong' \
    "$kith" eval damaged
"$reseal" damaged/config.json
check 'eval of a run of the future' 1 'has format 99' "$kith" eval damaged
mkdir alone && cp source/train alone
"$kith" train alone -o lonely "${small[@]}" >out 2>err
sed -n 's/.*to query it: //p' out | sed "s|^kith|$kith|" >next
[ -s next ] && bash next >answers 2>err && grep -Eq '^ +1 ' answers
report $? 'without test facts, the next command is a question that works' "$(cat next err)"
mkdir spaced && printf "it's a\tlives in\tNew York\nb\tlives in\tNew York\n" >spaced/train
"$kith" train spaced -o 'a run' "${small[@]}" >out 2>err
sed -n 's/.*to query it: //p' out | sed "s|^kith|$kith|" >next
[ -s next ] && bash next >answers 2>err && grep -Eq '^ +1 ' answers
report $? 'also with spaces and quotes in names' "$(cat next err)"
check 'eval without test facts shows what training measured' 0 'held-out' "$kith" eval lonely

# ---- rules ----

printf 'a\tborn\tx\na\tlives\tx\nb\tborn\ty\nb\tlives\ty\nc\tlives\tx\n' >rules.tsv
check 'rules are listed with names' 0 '^ +1\.0000 +2  born => lives$' "$kith" rules rules.tsv
json 'rules --json has confidence and support' \
    'next(r for r in o["rules"] if (r["premise"], r["conclusion"]) == '\
'({"relation": "lives", "inverse": False}, {"relation": "born", "inverse": False}))["confidence"] - 2 / 3 < 1e-6' \
    "$kith" rules rules.tsv --json
json 'the strongest rules come first' \
    '[r["confidence"] for r in o["rules"]] == sorted((r["confidence"] for r in o["rules"]), '\
'reverse=True) and len(o["rules"]) == 4' \
    "$kith" rules rules.tsv --json
json '--top cuts the list' 'len(o["rules"]) == 2' "$kith" rules rules.tsv --top 2 --json
json '--relation takes rules that conclude it' \
    'len(o["rules"]) == 2 and all(r["conclusion"]["relation"] == "born" for r in o["rules"])' \
    "$kith" rules rules.tsv --relation born --json
json '--min-support leaves out weak rules' \
    'all(r["support"] >= 2 for r in o["rules"]) and len(o["rules"]) == 4' \
    "$kith" rules rules.tsv --min-support 2 --json
check 'a relation that is none' 2 "no relation 'died'" "$kith" rules rules.tsv --relation died
check 'a number that is none' 2 "'many'" "$kith" rules rules.tsv --top many
check 'rules need a source' 2 'missing SOURCE' "$kith" rules

# ---- kill -9 ----

long=(--preset release --dim 20 --batch 64 --max-neighbors 8 --epochs 200 --eval-every 30 --patience 0
    --checkpoint-every 0 --quiet --threads 2)
began=$(date +%s%N)
"$kith" train source -o whole "${long[@]}" >out 2>err
took=$(($(date +%s%N) - began))
RANDOM=5
kills=0 sessions=0
while [ $sessions -lt 80 ]; do
    sessions=$((sessions + 1))
    if [ -d pieces ]; then
        "$kith" train --resume pieces --checkpoint-every 0 --quiet --threads 2 >out 2>err </dev/null &
    else
        "$kith" train source -o pieces "${long[@]}" >out 2>err </dev/null &
    fi
    child=$!
    # Some time between at once and a third of what the whole run takes.
    delay=$((took / 3000000 * RANDOM / 32768))
    sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
    if kill -9 $child 2>/dev/null; then
        wait $child 2>/dev/null
        [ $? = 137 ] || break
        kills=$((kills + 1))
    else
        wait $child
        break
    fi
done
[ $kills -ge 2 ]
report $? "training is killed at random moments" "$kills kills in $sessions sessions"
check 'and can go on to the end' 0 'finished' "$kith" train --resume pieces --quiet
same "$kills kills change no byte of the model" whole/model.safetensors pieces/model.safetensors
history 'history has a line per epoch after that' pieces 200
sed 's/, "seconds": [^,}]*//' whole/history.jsonl >one
sed 's/, "seconds": [^,}]*//' pieces/history.jsonl >three
same 'and the same losses and figures' one three

# ---- Ctrl-C ----

endless=(--preset release --dim 16 --batch 32 --epochs 1000000 --eval-every 0 --checkpoint-every 1000 --quiet)
logged() { cat stopped/history.jsonl 2>/dev/null | wc -l; }
interrupt() { # signal, command...: sent once training is under way; the status is in $ended
    local lines name=$1 child guard
    lines=$(logged)
    shift
    "$@" >out 2>err </dev/null &
    child=$!
    for _ in $(seq 200); do
        [ "$(logged)" -gt $((lines + 3)) ] && break
        sleep .05
    done
    kill "-$name" $child
    (sleep 30; kill -9 $child 2>/dev/null) & # should it not heed the signal
    guard=$!
    wait $child
    ended=$?
    # By SIGKILL: a subshell that gets SIGTERM while it starts still runs this script's exit trap, which
    # removes the work folder.
    kill -9 $guard
    wait $guard 2>/dev/null
}
interrupt INT "$kith" train source -o stopped "${endless[@]}"
[ $ended = 130 ] && grep -q 'stopped; continue with: kith train --resume stopped' out
report $? 'Ctrl-C stops with a checkpoint and status 130' "status $ended $(cat out err)"
[ -s stopped/checkpoint.safetensors ]
report $? 'the checkpoint is there' "$(ls stopped)"
check 'a stopped run can be evaluated' 0 realistic "$kith" eval stopped
interrupt TERM "$kith" train --resume stopped --quiet
[ $ended = 143 ] && grep -q 'stopped; continue with' out
report $? 'a request to end does so too, with status 143, after resuming' "status $ended $(cat out err)"
check 'an unfinished run says so' 0 'r0' "$kith" predict stopped --query '? r0 e1' --query '? r1 e1'
[ "$(grep -c 'stopped: training was stopped after epoch [0-9]*; finish it with' err)" = 1 ]
report $? 'once' "$(cat err)"
history 'history goes on where it stopped' stopped "$(wc -l <stopped/history.jsonl)"

# ---- a full disk ----

# A run that was stopped, with two epochs left.
python3 - <<'PYTHON'
import json
c = json.load(open("stopped/config.json"))
c["settings"]["epochs"] = str(sum(1 for _ in open("stopped/history.jsonl")) + 2)
json.dump(c, open("stopped/config.json", "w"))
PYTHON
"$reseal" stopped/config.json
cp stopped/checkpoint.safetensors old.safetensors
cp stopped/model.safetensors old.model.safetensors
cp -r stopped roomy
# Files larger than 8 KiB cannot be written, as if the disk were full.
(trap '' XFSZ; ulimit -f 8; "$kith" train --resume stopped --quiet >out 2>err)
[ $? = 1 ] && grep -q 'stopped/model.safetensors: cannot write: File too large' err
report $? 'what cannot be written ends training with the reason' "$(cat out err)"
same 'the old checkpoint is whole' stopped/checkpoint.safetensors old.safetensors
same 'so is the old model' stopped/model.safetensors old.model.safetensors
ls stopped | grep tmp >out
report $((! $?)) 'nothing half written is left behind' "$(cat out)"
"$kith" train --resume stopped --quiet >out 2>err && "$kith" train --resume roomy --quiet >out 2>err
same 'with room it goes on as if nothing had been' stopped/model.safetensors roomy/model.safetensors

mkdir tiny
if mount -t tmpfs -o size=256k tmpfs tiny 2>/dev/null; then
    mounted=$work/tiny
    "$kith" train source -o tiny/run --preset release --dim 16 --epochs 2 --eval-every 0 --quiet >out 2>err
    cp tiny/run/config.json config.json
    sed -i 's/"epochs": "2"/"epochs": "2000"/' config.json && rm tiny/run/checkpoint.safetensors
    sed -i -z 's/,[[:space:]]*"checkpoint.safetensors"//' config.json # so that it is not missed
    "$reseal" config.json
    cp config.json tiny/run/config.json
    cp tiny/run/model.safetensors old.model.safetensors
    head -c 1m /dev/zero >tiny/filler 2>/dev/null
    check 'a full disk ends training with the reason' 1 'tiny/run.*No space left' \
        "$kith" train --resume tiny/run --checkpoint-every 0 --quiet
    same 'the old model is whole' tiny/run/model.safetensors old.model.safetensors
    umount tiny && mounted=
else
    number=$((number + 1))
    echo "ok $number - a full disk ends training with the reason # SKIP no small disk can be mounted here"
fi

echo "1..$number"
[ $failed = 0 ]
