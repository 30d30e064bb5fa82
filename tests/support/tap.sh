# Reporting in TAP, for the tests that are shell scripts: `. tap.sh` at their beginning.
# shellcheck shell=bash

number=0 failed=0
# Makes the checksum of a changed file of a run right again.
reseal=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/reseal
export reseal

report() { # good?, name, what was found
    number=$((number + 1))
    if [ "$1" = 0 ]; then
        echo "ok $number - $2"
    else
        failed=$((failed + 1))
        echo "not ok $number - $2"
        printf '%s\n' "$3" | sed 's/^/# /'
    fi
}

# check NAME STATUS PATTERN COMMAND...: the status, and a pattern (extended, may be empty) that
# stdout has where the status is 0, else stderr; then stdout must be empty.
check() {
    local name=$1 status=$2 pattern=$3 found good=0 said
    shift 3
    "$@" >out 2>err </dev/null
    found=$?
    said=out
    [ "$status" = 0 ] || said=err
    [ "$found" = "$status" ] || good=1
    grep -Eq -- "$pattern" "$said" || good=1
    [ "$status" = 0 ] || [ ! -s out ] || good=1
    report $good "$name" "found status $found, expected $status and /$pattern/ on std$said
stdout: $(head -c 600 out)
stderr: $(head -c 600 err)"
}

# json NAME EXPRESSION COMMAND...: stdout is one JSON object `o` for which the expression holds.
json() {
    local name=$1 expression=$2 said
    shift 2
    "$@" >out 2>err </dev/null
    said=$(python3 -c '
import json, sys
o = json.load(open("out", encoding="utf-8"))
ok = eval(sys.argv[1])
if not ok: print(o)
sys.exit(0 if ok else 1)' "$expression" 2>&1)
    report $? "$name" "expected: $expression
found: $said
stderr: $(cat err)"
}

skip() { # name, why
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}
