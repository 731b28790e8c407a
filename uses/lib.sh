# shellcheck shell=sh
# lib.sh - helpers sourced by each use's check.sh.
#
# tools/make/uses runs it in an empty folder, with BLOOMERY the command, PROGRAM the
# use's own program if it has one, USE the use's folder, and EFFORT quick or
# full. Files of the system are read below MACHINE: in a quick run that is a
# small machine that is the same everywhere (machine.sh), and in a full run the
# real one, where it is empty. What is checked comes as a line "ok - …" or "not
# ok - …", and a figure for the report as "figure NAME: VALUE". Input that is
# not there skips what needs it.
set -eu
: "${BLOOMERY:?}" "${USE:?}" "${EFFORT:?}"
PROGRAM=${PROGRAM:-} MACHINE=${MACHINE:-}
LC_ALL=C
export LC_ALL
failures=0

# work QUICK FULL: prints one of them.
work() {
    if [ "$EFFORT" = full ]; then echo "$2"; else echo "$1"; fi
}

# check NAME COMMAND...: the command succeeds.
check() {
    checked=$1
    shift
    if "$@" >check.out 2>&1; then
        echo "ok - $checked"
    else
        echo "not ok - $checked # $* $(head -c 200 check.out | tr '\n' '|')"
        failures=$((failures + 1))
    fi
}

skip() {
    echo "ok - $1 # skip $2"
}

# absent NAME WHAT: skips checks whose input this machine lacks. The made
# machine must have it.
absent() {
    if [ -n "$MACHINE" ]; then
        check "$1: $2" false
    else
        skip "$1" "$2"
    fi
}

figure() {
    echo "figure $1: $2"
}

# field FILTER NAME: a number of 'bloomery info --json'.
field() {
    "$BLOOMERY" info --json "$1" | sed -n "s/^ *\"$2\": \([^,]*\),*$/\1/p"
}

# in_band NAME FOUND ASKED RATE [VARIANCE]: FOUND of ASKED agree with the rate,
# within four standard deviations. The variance of one that is asked is RATE (1 -
# RATE), if they do not depend on each other.
in_band() {
    figure "$1" "$(awk -v n="$2" -v m="$3" -v p="$4" 'BEGIN {
        printf "%.4g of %d, predicted %.4g", n / m, m, p }')"
    check "$1: as predicted, within 4 sigma" awk -v n="$2" -v m="$3" -v p="$4" \
        -v s="${5:-}" 'BEGIN { s = s == "" ? p * (1 - p) : s; d = n - m * p
            exit d * d > 16 * m * s + 1 }'
}

# refused NAME PATTERN COMMAND...: one line that matches, and status 2.
refused() {
    refused_name=$1 refused_pattern=$2
    shift 2
    refused_status=0
    "$@" >refused.out 2>refused.err || refused_status=$?
    check "refused: $refused_name" test $refused_status = 2
    check "in one line: $refused_name" test "$(wc -l <refused.err)" -eq 1
    check "which says why: $refused_name" \
        grep -Eq -e "$refused_pattern" refused.err
}

# folds: whether Bloomery ignores the case of all letters, which needs ICU.
folds() {
    echo | "$BLOOMERY" dedup -i --unicode >folds.out 2>&1
}

# seconds COMMAND...: wall-clock time; output is discarded.
seconds() {
    begun=$(date +%s%N)
    "$@" >/dev/null 2>&1 || true
    ended=$(date +%s%N)
    awk -v t="$((ended - begun))" 'BEGIN { printf "%.3f", t / 1e9 }'
}

finish() {
    [ "$failures" -eq 0 ] || exit 1
    exit 0
}
