#!/bin/bash
# Every input of fuzz/corpus once more: seeds, and those that once broke something.
set -u
# shellcheck source=tests/support/tap.sh
. "$(dirname "$0")/../support/tap.sh"

for folder in "$KITH_ROOT"/fuzz/corpus/*/; do
    name=$(basename "$folder")
    output=$("$KITH_BUILD/fuzz/replay-$name" "$folder" 2>&1)
    status=$?
    printf '%s\n' "$output" | sed -nE "s#^(ok|not ok) - .*/corpus/#\1 - fuzz: #p"
    if [ "$status" -ne 0 ]; then
        printf '%s\n' "$output" | tail -n 20 | sed 's/^/# /'
        echo "not ok - fuzz: $name ended with status $status"
    fi
done
