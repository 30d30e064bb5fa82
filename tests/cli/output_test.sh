#!/bin/bash
# After any error the output is as it was: no file is changed, added or left behind, in it or beside it.
set -u
# shellcheck source=tests/support/tap.sh
. "$(dirname "$0")/../support/tap.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir place inputs

# Names, kinds, content and times of everything in place/; a folder's time changes with the lock in it.
state() {
    find place -type d -printf '%p\n' -o -printf '%p %y %l %T@ %s\n' | LC_ALL=C sort
    find place -type f -print0 | LC_ALL=C sort -z | xargs -0 -r cksum
}

# untouched NAME STATUS PATTERN COMMAND...: fails like that, and changes nothing in place/.
untouched() {
    local before after
    before=$(state)
    check "$@"
    after=$(state)
    [ "$before" = "$after" ]
    report $? "$1: nothing has changed" "$(diff <(printf '%s\n' "$before") <(printf '%s\n' "$after"))"
}

# ---- inputs, good and hostile ----

for i in $(seq 60); do printf 'e%d\tr%d\te%d\n' "$i" $((i % 3)) $((i * 7 % 60)); done >inputs/good.tsv
printf 'a\tr\tb\na\n' >inputs/bad.tsv
{ printf '@prefix e: <http://x/> .\ne:a e:b '; printf '[ e:b %.0s' $(seq 20000); } >inputs/nested.ttl
for i in $(seq 4200); do printf 'hub\tr%d\te%d\n' "$i" $((i % 9)); done >inputs/hub.tsv
gzip -c inputs/good.tsv | head -c 60 >inputs/cut.tsv.gz
printf 'a\tr\tb\n' | gzip -c >inputs/x.gz

mkdir inputs/splits
head -n 50 inputs/good.tsv >inputs/splits/train
sed -n 51,55p inputs/good.tsv >inputs/splits/dev
tail -n 5 inputs/good.tsv >inputs/splits/test

"$KITH" split inputs/splits -o place/data --rate 50 -q >/dev/null
"$KITH" train inputs/splits -o place/run --preset rules -q >/dev/null
"$KITH" train inputs/splits -o place/embedding --preset release --dim 4 --epochs 2 -q >/dev/null
"$KITH" predict place/run --query 'e1 r1 ?' >/dev/null # so that it has its cache
"$KITH" eval place/embedding --split dev >/dev/null
ln -s data place/link
mkdir place/mine
echo mine >place/mine/notes.txt
echo mine >place/file

# ---- splitting ----

untouched 'split: an output that exists' 2 'place/data' "$KITH" split inputs/good.tsv -o place/data
untouched 'split: a folder with other files' 2 'place/mine' \
    "$KITH" split inputs/good.tsv -o place/mine --force
untouched 'split: a file as output' 2 'place/file' "$KITH" split inputs/good.tsv -o place/file --force
untouched 'split: through a symbolic link' 2 'link' "$KITH" split inputs/good.tsv -o place/link --force
untouched 'split: onto its own source' 2 'source of these facts' "$KITH" split place/data -o place/data --force --rate 100
untouched 'split: a bad line' 1 'bad.tsv:2' "$KITH" split inputs/bad.tsv -o place/new
untouched 'split: a bad line, replacing' 1 'bad.tsv:2' \
    "$KITH" split inputs/bad.tsv -o place/data --force
untouched 'split: nested too deeply' 1 'nested' "$KITH" split inputs/nested.ttl -o place/new
untouched 'split: a file that is cut off' 1 'ends too early' "$KITH" split inputs/cut.tsv.gz -o place/new
untouched 'split: a number that is none' 2 'rate' \
    "$KITH" split inputs/good.tsv -o place/data --force --rate 0x10
untouched 'split: nothing to sample' 2 '' "$KITH" split inputs/x.gz -o place/data --force

# ---- training ----

untouched 'train: an output that exists' 2 'place/run' \
    "$KITH" train inputs/good.tsv -o place/run --preset rules -q
untouched 'train: a folder with other files' 2 'place/mine' \
    "$KITH" train inputs/good.tsv -o place/mine --preset rules --force -q
untouched 'train: a bad line, replacing' 1 'bad.tsv:2' \
    "$KITH" train inputs/bad.tsv -o place/run --preset rules --force -q
untouched 'train: too many pairs of relations' 2 'pairs of relations' \
    "$KITH" train inputs/hub.tsv -o place/embedding --preset release --force -q
untouched 'train: a setting out of range' 2 'dim' \
    "$KITH" train inputs/good.tsv -o place/embedding --dim 1e3 --force -q
untouched 'train: resuming what is no run' 1 'place/mine' "$KITH" train --resume place/mine -q

# ---- damaged runs ----

damage() { # file of place/embedding
    cp -p "place/embedding/$1" kept
    printf 'xxxx' | dd of="place/embedding/$1" bs=1 seek=400 conv=notrunc 2>/dev/null
}
for name in checkpoint.safetensors config.json graph/train; do
    damage "$name"
    untouched "train: resuming with a damaged $name" 1 "$(basename "$name")|graph" \
        "$KITH" train --resume place/embedding -q
    mv kept "place/embedding/$name"
done
damage model.safetensors
mkdir place/vectors
echo old >place/vectors/ent.npy
untouched 'export: a damaged run' 1 'model.safetensors' "$KITH" export place/embedding -o place/vectors
untouched 'export: a damaged run, to a new folder' 1 'model.safetensors' \
    "$KITH" export place/embedding -o place/new
untouched 'eval: ranks of a damaged run' 1 'model.safetensors' \
    "$KITH" eval place/embedding --ranks place/file
untouched 'predict: a damaged run' 1 'model.safetensors' "$KITH" predict place/embedding --query 'e1 r1 ?'
mv kept place/embedding/model.safetensors

# ---- other errors ----

untouched 'export: a table that is none' 2 'no table' \
    "$KITH" export place/embedding -o place/vectors --table none
untouched 'eval: ranks into a folder' 1 'place/mine' "$KITH" eval place/embedding --split dev --ranks place/mine
untouched 'eval: ranks below a file' 1 'place/file' \
    "$KITH" eval place/embedding --split dev --ranks place/file/ranks.tsv
untouched 'predict: a name that is none' 1 'nobody' "$KITH" predict place/run --query 'nobody r1 ?'

untouched 'explain: a page for a name that is none' 1 'nobody' \
    "$KITH" explain place/run --query 'nobody r1 ?' --html place/file
untouched 'explain: a page into a folder' 1 'place/mine' \
    sh -c '"$KITH" explain place/run --query "e1 r1 ?" --html place/mine -q >/dev/null'
untouched 'eval: a page below a file' 1 'place/file' \
    "$KITH" eval place/embedding --split dev --html place/file/page.html -q
untouched 'export: below a file' 1 'place/file' "$KITH" export place/embedding -o place/file/vectors
untouched 'export: vectors of an entity that is none' 1 'nobody' \
    "$KITH" export place/embedding -o place/vectors --relation r1 --entity nobody
untouched 'split: below a file' 1 'place/file' "$KITH" split inputs/good.tsv -o place/file/data
untouched 'train: below a file' 1 'place/file' \
    "$KITH" train inputs/good.tsv -o place/file/run --preset rules -q

for target in place/mine place/file/facts.tsv; do
    untouched "shell: saving to $target" 1 "$target" sh -c \
        'printf "new r1 e2\nsave %s\n" "$1" | "$KITH" shell place/run -q >/dev/null' - "$target"
done

# ---- several runs at once ----

untouched 'tune: a bad line' 1 'bad.tsv:2' "$KITH" tune inputs/bad.tsv -o place/new -q
untouched 'tune: a setting that is none' 2 'dimension' \
    "$KITH" tune inputs/splits -o place/new --grid dimension=1,2 -q
untouched 'tune: a value out of range' 2 'dim' "$KITH" tune inputs/splits -o place/new --grid dim=4,1e3 -q
untouched 'tune: nothing to choose on' 2 'dev' "$KITH" tune inputs/good.tsv -o place/new --grid dim=4 -q
untouched 'tune: a file as output' 1 'place/file' \
    "$KITH" tune inputs/splits -o place/file --grid dim=4 --epochs 1 -q
mkfifo place/pipe
untouched 'tune: a pipe as output' 1 'place/pipe: cannot create the folder' \
    timeout -s KILL 20 "$KITH" tune inputs/splits -o place/pipe --grid dim=4 --epochs 1 -q
rm place/pipe
mkdir -p place/tuned/dim=4
mkfifo place/tuned/dim=4/config.json place/tuned/dim=4/history.jsonl
untouched 'tune: pipes in place of a run' 1 'dim=4' \
    timeout -s KILL 20 "$KITH" tune inputs/splits -o place/tuned --grid dim=4 --epochs 1 --preset release -q
rm -r place/tuned
untouched 'tune: too many pairs of relations' 2 'pairs of relations|dev' \
    "$KITH" tune inputs/hub.tsv -o place/new --grid dim=4 -q

printf '{"title": 1}\n' >inputs/bad.json
printf '{' >inputs/cut.json
for name in none inputs/bad.json inputs/cut.json; do
    untouched "reproduce: $name" 1 '' "$KITH" reproduce "$name" --experiments "$KITH_ROOT/experiments" \
        --data inputs -o place/new -q
done

# Where another process holds the run, it stays as it is.
if command -v flock >/dev/null; then
    touch place/embedding/lock
    untouched 'train: a run that is being trained' 1 'is being trained|holds' \
        flock place/embedding/lock "$KITH" train --resume place/embedding -q
    rm place/embedding/lock
else
    skip 'train: a run that is being trained' 'there is no flock'
fi

exit $((failed > 0))
