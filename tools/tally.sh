# shellcheck shell=sh
# tally.sh - counting what passed and what failed, for tools/check.
#
# Sourced. Counts in $tally_passed and $tally_failed; tells how long each took,
# from tally_start on.
tally_passed=0 tally_failed=0

tally_start() {
    tally_since=$(date +%s)
}

tally_start
tally_begun=$tally_since

tally_seconds() {
    echo $(($(date +%s) - tally_since))
}

tally_pass() {
    tally_passed=$((tally_passed + 1))
    echo "ok     $1 ($(tally_seconds) s)"
}

tally_fail() {
    tally_failed=$((tally_failed + 1))
    echo "FAILED $1"
}

# tally_run NAME COMMAND...: one check that is a command. Where it passes, only
# what it says in lines "note: …" is told.
tally_run() {
    tally_name=$1
    shift
    tally_start
    if tally_output=$("$@" 2>&1); then
        tally_pass "$tally_name"
        printf '%s\n' "$tally_output" | sed -n 's/^note: /       /p'
    else
        printf '%s\n' "$tally_output"
        tally_fail "$tally_name"
    fi
}

# tally_log NAME LOG STATUS: the tests in a log of ctest -V, which ended with
# that: cmocka's lines, and the "ok - " lines of the shell tests. A test program
# that died before it could say so is a failure, and so is a ctest that did, or
# one whose log does not come to its end. What was skipped is neither passed nor
# failed.
tally_log() {
    ok=$(grep -aE '^[0-9]+: (\[       OK \]|ok - )' "$2" | grep -acv ' # skip ')
    # cmocka prints a test that failed or was skipped twice: at once and in its
    # summary, to which a program that dies does not come
    tally_told=$(awk '
        { number = $1 + 0 }
        /^[0-9]+: \[  SKIPPED \] [A-Za-z_][A-Za-z_0-9]*$/ { left[number]++ }
        /^[0-9]+: \[  FAILED  \] [A-Za-z_][A-Za-z_0-9]*$/ { wrong[number]++ }
        /^[0-9]+: ok - .* # skip / { skipped++ }
        /^[0-9]+: not ok - / { bad++; told[number] }
        /\*\*\*(Failed|Exception|Timeout|Not Run)/ {
            match($0, /#[0-9]+:/)
            dead[substr($0, RSTART + 1, RLENGTH - 2) + 0]
        }
        END {
            for (number in left)
                skipped += int((left[number] + 1) / 2)
            for (number in wrong)
                bad += int((wrong[number] + 1) / 2)
            for (number in dead)
                bad += !(number in told || number in wrong)
            print bad + 0, skipped + 0
        }' "$2")
    bad=${tally_told% *} skipped=${tally_told#* }
    if [ "$bad" -gt 0 ]; then
        grep -aE '^[0-9]+: (\[  ERROR|\[   LINE|\[  FAILED|not ok|ERROR|.*Sanitizer|.*runtime error)|\*\*\*' \
            "$2" | head -n 60
    fi
    tally_passed=$((tally_passed + ok))
    tally_failed=$((tally_failed + bad))
    echo "       $1: $ok passed, $bad failed, $skipped skipped" \
        "($(tally_seconds) s; details in $2)"
    tally_slowest "$2"
    if [ "$ok" -eq 0 ]; then
        tally_fail "$1: no test ran"
    elif [ "$3" -ne 0 ] && [ "$bad" -eq 0 ]; then
        tally_fail "$1: ctest ended with $3"
    elif ! grep -aq ' tests failed out of [1-9]' "$2"; then
        tally_fail "$1: ctest did not come to its end"
    fi
}

# tally_add NAME LOG STATUS: what another tool, which ended with that, has
# counted, as the last line of its log says.
tally_add() {
    tally_name=$1 tally_from=$2 tally_status=$3
    # shellcheck disable=SC2046  # two numbers
    set -- $(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' \
        "$tally_from" 2>/dev/null)
    if [ $# -ne 2 ] || { [ "$2" -eq 0 ] && [ "$tally_status" -ne 0 ]; }; then
        tally_fail "$tally_name: it did not come to its end"
        return
    fi
    tally_passed=$((tally_passed + $1))
    tally_failed=$((tally_failed + $2))
    echo "       $tally_name: $1 passed, $2 failed ($(tally_seconds) s;" \
        "details in $tally_from)"
}

# The five tests of a log that took longest.
tally_slowest() {
    sed -n 's|^ *[0-9]*/[0-9]* Test *#[0-9]*: \([^ ]*\) .* \([0-9.]*\) sec.*|\2 \1|p' \
        "$1" | sort -rn | head -n 5 |
        awk '{ line = line (NR > 1 ? ", " : "") $2 " " $1 " s" }
             END { if (NR) print "       longest: " line }'
}

# tally_write FILE: for tools/reliability, lines "name value"; not where something
# failed.
tally_write() {
    [ "$tally_failed" -eq 0 ] || return 0
    printf '%s %d\n' passed "$tally_passed" failed "$tally_failed" \
        seconds $(($(date +%s) - tally_begun)) >"$1"
}

# The shell's `times` has the children in its second line; those of a shell in a
# pipe or in $() would be none.
tally_end() {
    echo
    tally_times=$(mktemp) && times >"$tally_times"
    echo "$(($(date +%s) - tally_begun)) s, of processor time: $(
        sed -n '2s/ /, system /p' "$tally_times")"
    rm -f "$tally_times"
    echo "$tally_passed passed, $tally_failed failed"
    [ "$tally_failed" -eq 0 ]
}
