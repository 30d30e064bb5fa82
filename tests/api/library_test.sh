#!/bin/bash
# The library as it is installed: symbols, soname, pkg-config, and the examples built against it.
# Prints TAP.
#   KITH_ROOT=. KITH_BUILD=build tests/api/library_test.sh
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../support/tap.sh"

root=${KITH_ROOT:?says where the checkout is}
build=${KITH_BUILD:?says where the build is}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

finish() {
    echo "1..$number"
    [ "$failed" = 0 ]
    exit
}

meson install -C "$build" --no-rebuild --destdir "$work/root" >"$work/log" 2>&1
report $? 'it installs' "$(tail -5 "$work/log")"
shared=$(find "$work/root" -name 'libkith.so.0.2' | head -1)
static=$(find "$work/root" -name 'libkith.a' | head -1)
header=$(find "$work/root" -path '*/include/kith/kith.h' | head -1)
pc=$(find "$work/root" -name 'kith.pc' | head -1)
program=$(find "$work/root" -path '*/bin/kith' | head -1)
[ -n "$shared" ] && [ -n "$static" ] && [ -n "$header" ] && [ -n "$pc" ] && [ -x "$program" ]
report $? 'library, archive, header, pkg-config file and program are there' \
    "$(cd "$work/root" && find . -type f)"
[ -n "$shared" ] || finish

# ---- symbols ----

readelf -d "$shared" | grep -q 'SONAME.*\[libkith\.so\.0\.2\]'
report $? 'the soname is libkith.so.0.2' "$(readelf -d "$shared" | grep SONAME)"
exported=$(nm -D --defined-only "$shared" | awk '{ print $3 }')
others=$(printf '%s\n' "$exported" | grep -Ev '^kith_')
[ -n "$exported" ] && [ -z "$others" ]
report $? 'only kith_ symbols are exported' "$others"
inner=$(printf '%s\n' "$exported" | grep '^kith__')
[ -z "$inner" ]
report $? 'no kith__ symbol is exported' "$inner"
declared=$(sed -n 's/.*KITH_API.*[ *]\(kith_[a-z0-9_]*\)(.*/\1/p' "$header" | sort -u)
missing=$(comm -23 <(printf '%s\n' "$declared") <(printf '%s\n' "$exported" | sort -u))
[ "$(printf '%s\n' "$declared" | wc -l)" -ge 18 ] && [ -z "$missing" ]
report $? 'all that the header declares is exported' "missing: $missing
declared: $declared"
undeclared=$(comm -13 <(printf '%s\n' "$declared") <(printf '%s\n' "$exported" | sort -u))
[ -z "$undeclared" ]
report $? 'all that is exported is declared in the header' "$undeclared"
# Only names that another object could clash with: globals, but for what a sanitizer adds.
clashing=$(nm -g --defined-only "$static" 2>/dev/null | awk 'NF == 3 { print $3 }' |
    grep -Ev '^(kith_|__asan_|__odr_asan|__ubsan_|__tsan_|_sub_[ID]_|__x86\.get_pc)')
[ -z "$clashing" ]
report $? 'the global names of the archive begin with kith_' "$clashing"

# Calls with hostile arguments (hostile_test.c) are made from the header and do not count.
# shellcheck disable=SC2046 # a list of files on purpose
tests=$(find "$root/tests" -name '*.c')
uncalled=$(python3 - "$header" $tests <<'PYTHON'
import re, sys
header = re.sub(r"/\*.*?\*/", " ", open(sys.argv[1]).read(), flags=re.S)
names = re.findall(r"KITH_API\s+[^;{}]*?[ *](kith_\w+)\s?\(", header)
tests = "".join(open(path).read() for path in sys.argv[2:] if "hostile" not in path)
print(*(name for name in names if not re.search(rf"\b{name}\(", tests)
        and not (name.endswith("_init") and f"check_init({name[:-5]})" in tests)))
PYTHON
)
[ -z "$uncalled" ]
report $? 'a C test calls each function of the header' "$uncalled"
# A failure is a status that the statement of the call expects.
unfailed=$(python3 - "$header" $tests <<'PYTHON'
import re, sys
header = re.sub(r"/\*.*?\*/", " ", open(sys.argv[1]).read(), flags=re.S)
names = re.findall(r"KITH_API\s+kith_status\s+(kith_\w+)\s?\(", header)
tests = "".join(open(path).read() for path in sys.argv[2:] if "hostile" not in path)
print(*(name for name in names if not re.search(rf"\b{name}\([^;]*KITH_ERR_", tests)))
PYTHON
)
[ -z "$unfailed" ]
report $? 'and sees each one fail that can' "$unfailed"

# ---- the header ----

wide=$(awk 'length > 100 { print FNR ": " $0 }' "$header")
[ -z "$wide" ]
report $? 'its lines have at most 100 columns' "$wide"
printf '#include <kith/kith.h>\n#include <kith/kith.h>\nint main(void) { return 0; }\n' >"$work/h.c"
include=$(dirname "$(dirname "$header")")
cc -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$include" -c "$work/h.c" -o "$work/h.o" \
    2>"$work/log"
report $? 'the header compiles alone, twice, as pedantic C99' "$(cat "$work/log")"
if command -v c++ >/dev/null; then
    c++ -Wall -Wextra -Werror -I"$include" -x c++ -c "$work/h.c" -o "$work/h.o" 2>"$work/log"
    report $? 'the header compiles as C++' "$(cat "$work/log")"
else
    skip 'the header compiles as C++' 'there is no C++ compiler'
fi

# ---- programs against the installed library ----

export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$work/root
PKG_CONFIG_PATH=$(dirname "$pc")
version=$(pkg-config --modversion kith)
[ "kith $version" = "$("$program" version)" ]
report $? 'pkg-config gives the version of the program' "$version"
# Programs of users lack the sanitizers, and a library with them does not load without.
sanitized=$(nm -D "$shared" | grep -c '__asan_init')
preload=
[ "$sanitized" = 0 ] || preload=$(cc -print-file-name=libasan.so)
printf '%s\n' '#include <kith/kith.h>' '#include <stdio.h>' 'int main(void) {' \
    'printf("%d.%d.%d %d %s\n", KITH_VERSION_MAJOR, KITH_VERSION_MINOR, KITH_VERSION_PATCH,' \
    'KITH_VERSION, kith_version()); return 0; }' >"$work/v.c"
# shellcheck disable=SC2046
cc $(pkg-config --cflags kith) "$work/v.c" $(pkg-config --libs kith) -o "$work/v" 2>"$work/log" &&
    LD_PRELOAD=$preload LD_LIBRARY_PATH=$(dirname "$shared") "$work/v" >"$work/versions"
IFS=. read -r major minor patch <<<"$version"
[ "$(cat "$work/versions")" = "$version $((10#$major * 10000 + 10#$minor * 100 + 10#$patch)) $version" ]
report $? 'KITH_VERSION_*, KITH_VERSION and kith_version say the same' \
    "$(cat "$work/log" "$work/versions")"

mkdir "$work/graph"
printf 'rex\tis a\tdog\nrex\tlives with\tann\ndog\tis a\tanimal\n' >"$work/graph/train"
printf 'bo\tis a\tdog\n' >"$work/graph/test"
printf 'bo\tlives with\tann\n' >"$work/graph/aux"

"$program" train "$work/graph" -o "$work/run" --dim 8 --epochs 2 --eval-every 0 --quiet \
    >"$work/log" 2>&1
report $? 'the installed program trains' "$(cat "$work/log")"

# One example, shared and static: it compiles without a warning, runs on a small graph or run, says
# something, and fails where there is none.
try_example() { # source, shared or static
    local name kind=$2 flags source=$work/graph arguments=()
    name=$(basename "$1" .c)
    if [ "$name" = newcomer ]; then
        source=$work/run arguments=(fido 'is a' dog fido 'lives with' ann 'is a')
    fi
    if [ "$kind" = static ]; then
        flags="-static-libgcc $(pkg-config --cflags --libs --static kith |
            sed "s| -lkith | $static |")"
    else
        flags="$(pkg-config --cflags --libs kith) -Wl,-rpath,$(dirname "$shared")"
    fi
    # shellcheck disable=SC2086 # a list of words on purpose
    cc -std=c99 -Wall -Wextra -Werror "$1" -o "$work/$name" $flags 2>"$work/log"
    report $? "$name compiles against the $kind library" "$(cat "$work/log")"
    "$work/$name" "$source" "${arguments[@]}" >"$work/out" 2>"$work/log" && [ -s "$work/out" ]
    report $? "$name runs with the $kind library" "$(cat "$work/out" "$work/log")"
    "$work/$name" "$work/nowhere" "${arguments[@]}" >"$work/out" 2>"$work/log"
    [ $? -ne 0 ] && grep -q 'nowhere' "$work/log"
    report $? "$name tells why it fails with the $kind library" "$(cat "$work/out" "$work/log")"
    if [ "$kind" = static ]; then
        ! readelf -d "$work/$name" | grep -q 'NEEDED.*libkith'
    else
        readelf -d "$work/$name" | grep -q 'NEEDED.*libkith\.so\.0'
    fi
    report $? "$name is linked with the $kind library" "$(readelf -d "$work/$name" | grep NEEDED)"
}

found=no
for example in "$root"/examples/*.c; do
    [ -e "$example" ] || continue
    found=yes
    for kind in shared static; do
        if [ "$sanitized" != 0 ]; then
            skip "$(basename "$example") against the $kind library" \
                'this build needs the sanitizers, which users of an installed library lack'
        else
            try_example "$example" "$kind"
        fi
    done
done
[ $found = yes ] || skip 'the examples' 'there are none'
finish
