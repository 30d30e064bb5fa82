#!/bin/bash
# Compares kith with the exact values beside the checkout, and sees that a wrong value or a missing
# file does not pass. Prints TAP.
#   KITH_BUILD=build KITH_ROOT=. tests/project/golden_test.sh
set -u

program=${KITH_BUILD:?says where the program golden_test is}/golden_test
golden=${KITH_SHARED:-${KITH_ROOT:?says where the checkout is}/../shared}/golden
if [ ! -d "$golden" ]; then
    echo "ok 1 - golden values # SKIP $golden is not there"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$program" "$golden" >"$work/out"
status=$?
grep -v '^1\.\.' "$work/out"
number=$(grep -cE '^(not )?ok ' "$work/out")

# fails NAME: the program must end with an error, and say so in TAP, on the copy as it is now.
fails() {
    local found
    number=$((number + 1))
    "$program" "$work/copy" >"$work/out" 2>"$work/err"
    found=$?
    if [ "$found" = 1 ] && grep -q '^not ok' "$work/out"; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        echo "# found status $found, expected 1 and a line 'not ok'"
        sed 's/^/# /' "$work/err"
        status=1
    fi
}

fresh() {
    rm -rf "$work/copy"
    cp -r "$golden" "$work/copy"
}

# One number changed in each kind of file, by more than rounding and far less than a mistake makes.
fresh
for name in graph.json params.json encode_lan_release.json encode_lstm.json encode_max.json \
    case_lan_release_transe_normalised_margin.json case_mean_pad_complex_margin.json \
    case_lstm_distmult_margin.json adam.json ranking.json; do
    python3 - "$golden/$name" "$work/copy/$name" <<'PYTHON' || exit 1
import json, sys

def largest(node):
    """The largest number that is not whole, as (size, container, key)."""
    best = (0, None, None)
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        if isinstance(value, float) and value != int(value):
            best = max(best, (abs(value), node, key), key=lambda b: b[0])
        elif isinstance(value, (dict, list)):
            best = max(best, largest(value), key=lambda b: b[0])
    return best

data = json.load(open(sys.argv[1]))
size, node, key = largest(data)
assert size > 0, sys.argv[1]
node[key] += 1e-3 * size
json.dump(data, open(sys.argv[2], "w"))
PYTHON
    fails "a number changed in $name is noticed"
    cp "$golden/$name" "$work/copy/$name"
done

for name in graph.json params.json adam.json ranking.json encode_lan_release.json; do
    rm "$work/copy/$name"
    fails "$name missing is noticed"
    cp "$golden/$name" "$work/copy/$name"
done

rm -r "$work/copy"
fails 'a missing folder is noticed'
mkdir "$work/copy"
fails 'an empty folder is noticed'

number=$((number + 1))
"$program" >/dev/null 2>"$work/err"
if [ $? = 2 ] && grep -q '^usage: golden_test DIR' "$work/err"; then
    echo "ok $number - no folder given is a mistake in usage"
else
    echo "not ok $number - no folder given is a mistake in usage"
    status=1
fi
echo "1..$number"
exit $status
