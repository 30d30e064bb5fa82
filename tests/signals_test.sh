#!/bin/bash
# Ctrl-C and SIGTERM end every command that can take long within half a second, with status 130 and
# 143, and leave nothing half-written. Prints TAP.
#   KITH_ROOT=. KITH=build/kith tests/signals_test.sh
set -u
# shellcheck source=tests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

kith=${KITH:?says where the program is}
case $kith in /*) ;; *) kith=$PWD/$kith ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

mkdir source
python3 - <<'PYTHON'
import random
rng = random.Random(1)
people, seen = 5000, 4000
train, test, aux = (open("source/" + name, "w") for name in ("train", "test", "aux"))
for city in range(200):
    train.write(f"city{city}\tin\tcountry{city % 20}\n")
for p in range(people):
    city = rng.randrange(200)
    facts = [f"p{p}\tborn\tcity{city}\n", f"p{p}\tcitizen\tcountry{city % 20}\n"]
    facts += [f"p{p}\tknows\tp{rng.randrange(seen)}\n" for _ in range(6)]
    facts += [f"p{p}\tlikes\tthing{rng.randrange(1000)}\n" for _ in range(4)]
    for fact in facts:
        (train if p < seen else rng.choice((aux, test))).write(fact)
with open("queries", "w") as out:
    for i in range(60000):
        out.write(f"p{rng.randrange(seen)}\tknows\t?\n")
with open("facts", "w") as out:
    for i in range(60000):
        out.write(f"p{rng.randrange(seen)}\tknows\tp{rng.randrange(seen)}\n")
with open("names", "w") as out:
    for i in range(400000):
        out.write(f"p{rng.randrange(seen)}\n")
PYTHON
"$kith" train source -o rules --preset rules --quiet >out 2>&1 &&
    "$kith" train source -o vectors --preset embedding --epochs 1 --dim 8 --eval-every 0 --quiet \
        >>out 2>&1
report $? 'two runs to use' "$(tail -3 out)"
"$kith" info rules >out 2>&1 # opened once, so that there is a cache
"$kith" info vectors >out 2>&1

# The exit status of a process that gets SIGNAL after `delay` seconds, and the milliseconds it took.
stop_once() { # SIGNAL COMMAND...
    local signal=$1 began pid
    shift
    "$@" >out 2>err </dev/stdin &
    pid=$!
    sleep "$delay"
    began=$(date +%s%N)
    kill -s "$signal" "$pid" 2>/dev/null
    wait "$pid"
    status=$?
    took=$((($(date +%s%N) - began) / 1000000))
}

# Other programs may want the cores: the best of a few tries counts. A command that ends before the
# signal comes gets it earlier.
stops() { # NAME SIGNAL COMMAND...
    local name=$1 signal=$2 expected least=999999 tries before good=1 delay=.7
    shift 2
    expected=$([ "$signal" = INT ] && echo 130 || echo 143)
    for tries in 1 2 3 4 5 6; do
        before=$(find . | sort)
        if [ "$input" = endless ]; then
            stop_once "$signal" "$@" < <(yes $'a\tr\tb' 2>/dev/null)
        else
            stop_once "$signal" "$@" </dev/null
        fi
        if [ "$status" = 0 ]; then
            rm -f ranks.tsv
            delay=$(awk "BEGIN { print $delay / 2 }")
            continue
        fi
        if [ "$status" != "$expected" ] || [ "$before" != "$(find . | sort)" ]; then
            good=0
            break
        fi
        [ "$took" -lt "$least" ] && least=$took
        [ "$least" -le 500 ] && break
    done
    [ "$good" = 1 ] && [ "$least" -le 500 ]
    report $? "$name: SIG$signal" "status $status, expected $expected; $least ms
$(diff <(echo "$before") <(find . | sort)); $(tail -2 err)"
}
input=
touch out err

# While a source is read: it has no end.
both() { # NAME COMMAND...: with both signals
    stops "$1" INT "${@:2}"
    stops "$1" TERM "${@:2}"
}
endless() { # NAME COMMAND...
    input=endless
    both "$@"
    input=
}
endless 'stats, reading' "$kith" stats /dev/stdin
endless 'rules, reading' "$kith" rules /dev/stdin
endless 'split, reading' "$kith" split /dev/stdin -o new
endless 'predict, reading facts' "$kith" predict rules --facts - --query 'x r ?'

# While it works.
both eval "$kith" eval rules --ranks ranks.tsv
both 'eval of vectors' "$kith" eval vectors --candidates all --ranks ranks.tsv
both compare "$kith" compare rules rules vectors
both 'predict, a file of questions' "$kith" predict rules --queries queries
both 'predict, missing facts' "$kith" predict rules --query '? ? ?' --questions 100000
both 'explain, missing facts' "$kith" explain rules --query '? ? ?' --questions 100000
both 'check, a file' "$kith" check rules facts
both 'check, the graph' "$kith" check rules --graph
both 'export, encodings' "$kith" export vectors -o . --relation knows --entities names --format tsv
echo "1..$number"
[ "$failed" = 0 ]
