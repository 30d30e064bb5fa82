#!/bin/bash
# Ctrl-C and SIGTERM end every command that can take long within half a second, with status 130 and
# 143. They leave nothing half-written, and training can be resumed. Prints TAP.
#   KITH_ROOT=. KITH=build/kith tests/cli/signals_test.sh
set -u
# shellcheck source=tests/support/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/tap.sh"

kith=${KITH:?says where the program is}
case $kith in /*) ;; *) kith=$PWD/$kith ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# Large enough that every stage takes longer than half a second, in a sanitized build too.
people=2500 seen=2000
grep -q __asan_init "$kith" && people=260 seen=148
mkdir source
python3 - "$people" "$seen" <<'PYTHON'
import random, sys
rng = random.Random(1)
people, seen = int(sys.argv[1]), int(sys.argv[2])
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

# Runs a command, sends it a signal once it has used so many seconds of CPU, and prints its exit status,
# the milliseconds that it then took, and its seconds of CPU in all. Where other programs want the cores,
# its CPU time says what it would take without them.
cat >stop.py <<'PYTHON'
import os, signal, subprocess, sys, time

def used(pid):  # seconds of CPU, with those of its children
    try:
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            children = f.read().split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(used, children))

name, delay, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
with open("out", "w") as out, open("err", "w") as err:
    process = subprocess.Popen(command, stdout=out, stderr=err)
before = 0
while before < delay and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
    time.sleep(.01)
    before = used(process.pid)
began = time.monotonic()
os.kill(process.pid, getattr(signal, "SIG" + name))
_, ended, usage = os.wait4(process.pid, 0)
cpu = usage.ru_utime + usage.ru_stime
took = min(time.monotonic() - began, max(0, cpu - before))
status = os.waitstatus_to_exitcode(ended)
print(status, int(1000 * took), f"{cpu:.2f}")
PYTHON
stop_once() { # SIGNAL COMMAND...: sets status, took and cpu
    read -r status took cpu < <(python3 stop.py "$1" "$delay" "${@:2}" 2>&1)
}

# The best of a few tries counts. A command that ends before the signal comes gets it earlier.
stops() { # NAME SIGNAL COMMAND...
    local name=$1 signal=$2 expected least=999999 tries before good=1 delay=.5
    shift 2
    expected=$([ "$signal" = INT ] && echo 130 || echo 143)
    for tries in 1 2 3 4 5 6; do
        before=$(find . | sort)
        if [ "$input" = endless ]; then
            stop_once "$signal" "$@" < <(yes $'a\tr\tb' 2>/dev/null)
        else
            stop_once "$signal" "$@" <"${input:-/dev/null}"
        fi
        # Ranks are written whole before probabilities are measured.
        if [ "$status" = 0 ] || [ -e ranks.tsv ]; then
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
# So many facts that no question can be left out; explain looks for one at a time.
both 'predict, missing facts' "$kith" predict rules --query '? ? ?' --questions 100000 --top 100000
mapfile -t missing < <(for _ in {1..300}; do printf '%s\n' --query '? ? ?'; done)
both 'explain, missing facts' "$kith" explain rules "${missing[@]}" --questions 100000
both 'check, a file' "$kith" check rules facts
both 'check, the graph' "$kith" check rules --graph
yes 'p1 ? ?' | head -20000 >script
input=script
both 'shell, a script' "$kith" shell rules --threads 1
input=
both 'export, encodings' "$kith" export vectors -o . --relation knows --entities names --format tsv

# ---- training ----

# At several moments of a training, which goes through mining, fitting and training proper.
stops_training() { # NAME FOLDER FRACTION SIGNAL COMMAND...: FOLDER must be there afterwards
    local name=$1 folder=$2 fraction=$3 signal=$4 expected least=999999 delay
    shift 4
    expected=$([ "$signal" = INT ] && echo 130 || echo 143)
    delay=$(awk "BEGIN { print $fraction * $whole }")
    for _ in 1 2 3 4; do
        rm -rf "$folder"
        stop_once "$signal" "$@" </dev/null
        if [ "$status" = 0 ]; then # it was faster this time
            delay=$(awk "BEGIN { print .8 * $delay }")
            continue
        fi
        [ "$status" = "$expected" ] || break
        [ "$took" -lt "$least" ] && least=$took
        [ "$least" -le 500 ] && break
    done
    [ "$status" = "$expected" ] && [ "$least" -le 500 ] && [ -d "$folder" ] &&
        ! find "$folder" | grep -q 'tmp'
    report $? "$name, at $fraction: SIG$signal" \
        "status $status, expected $expected; $least ms; $(tail -2 err); $(find "$folder" | head -20)"
}
measure() { # COMMAND...: sets whole, the seconds of CPU of the whole command
    rm -rf whole
    delay=100000 stop_once TERM "$@" </dev/null
    whole=$cpu
    [ "$status" = 0 ]
    report $? 'a training that is not stopped' "status $status; $(tail -2 err)"
}

mine=(--preset rules --threads 1 --quiet)
measure "$kith" train source -o whole "${mine[@]}"
for moment in .1:INT .3:TERM .5:INT .7:TERM .9:INT; do
    stops_training 'train, rules' stopped "${moment%:*}" "${moment#*:}" \
        "$kith" train source -o stopped "${mine[@]}"
done
"$kith" train --resume stopped --quiet >out 2>&1 && cmp stopped/fusion.json whole/fusion.json >>out 2>&1
report $? 'what was kept is resumed, with the same weights' "$(tail -2 out)"

learn=(--preset kith --epochs 1 --dim 8 --threads 1 --quiet)
measure "$kith" train source -o whole "${learn[@]}"
for moment in .2:TERM .45:INT .7:TERM .95:INT; do
    stops_training 'train, an embedding too' stopped "${moment%:*}" "${moment#*:}" \
        "$kith" train source -o stopped "${learn[@]}"
done
"$kith" train --resume stopped --quiet >out 2>&1 &&
    cmp stopped/model.safetensors whole/model.safetensors >>out 2>&1
report $? 'what was kept is resumed, with the same vectors' "$(tail -2 out)"
"$kith" predict whole --query 'p1 ? ?' --quiet >out 2>&1
report $? 'and can be asked' "$(tail -2 out)"

mkdir dev && cp source/train source/aux source/test dev && head -200 source/test >dev/dev
grid=(--preset embedding --epochs 3 --grid dim=8,16 --eval-every 1 --threads 1 --quiet)
measure "$kith" tune dev -o whole "${grid[@]}"
for moment in .3:INT .7:TERM; do
    stops_training tune grid "${moment%:*}" "${moment#*:}" "$kith" tune dev -o grid "${grid[@]}"
done
mkdir -p data/toy && cp source/train source/aux source/test data/toy
cat >toy.json <<'JSON'
{"title": "toy", "data": [{"name": "toy", "path": "toy"}],
 "models": [{"name": "rules", "preset": "rules"}]}
JSON
again=(--data data --threads 1 --quiet)
measure "$kith" reproduce ./toy.json -o whole "${again[@]}"
for moment in .2:INT .6:TERM; do
    stops_training reproduce results "${moment%:*}" "${moment#*:}" \
        "$kith" reproduce ./toy.json -o results "${again[@]}"
done
echo "1..$number"
[ "$failed" = 0 ]
