# shellcheck shell=sh
# tally.sh - counts passed and failed tests, and the time they took.
#
# Sourced by tools/check/run and tools/check/cross. The counts are in $tally_passed,
# $tally_failed and $tally_skipped. tally_start begins a part; the functions
# that end it print its duration in seconds.
tally_passed=0 tally_failed=0 tally_skipped=0

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

# Prints lines "note: …", also of ctest's log, and a tool's lines "skipped: …".
tally_notes() {
    sed -n -e 's/^\([0-9]*: \)\{0,1\}note: /       /p' \
        -e 's/^skipped: /       &/p'
}

# tally_run NAME COMMAND...: counts a command as one test. The output is printed
# only if the command fails, which is returned, except for its notes.
tally_run() {
    tally_name=$1
    shift
    tally_start
    if tally_output=$("$@" 2>&1); then
        tally_pass "$tally_name"
        printf '%s\n' "$tally_output" | tally_notes
    else
        printf '%s\n' "$tally_output"
        tally_fail "$tally_name"
        return 1
    fi
}

# Prints "PASSED FAILED LAWS STATISTICS PARTS" for a log of ctest -V; the last
# three are skipped tests. Each line of the log begins with the test's number.
# A test reports by cmocka's lines, or by lines "ok - …" and "not ok - …"; a line
# "N passed, N failed", which the tools print last, takes their place. A test that
# reports nothing counts as one, as does one that ended badly without reporting a
# failure. cmocka prints a failed or skipped test twice, at once and in a summary,
# which a program that dies does not reach.
tally_read() {
    awk '
        { number = $1 + 0; line = $0; sub(/^[0-9]+: /, "", line) }
        line ~ /^\[       OK \]/ { good[number]++ }
        line ~ /^ok - / {
            if (line ~ / # skip /) parts++; else good[number]++
        }
        line ~ /^not ok - / { bad[number] += 2 }
        line ~ /^\[  FAILED  \] [A-Za-z_][A-Za-z_0-9]*$/ { bad[number]++ }
        line ~ /^\[  SKIPPED \] [A-Za-z_][A-Za-z_0-9]*$/ {
            if (line ~ / law_/) laws++; else statistics++
        }
        line ~ /^[0-9]+ passed, [0-9]+ failed$/ {
            split(line, word, " ")
            good[number] = word[1]
            if (2 * word[3] > bad[number]) bad[number] = 2 * word[3]
        }
        line != $0 && line ~ /^(ok - |not ok - |[0-9]+ passed, |\[ )/ {
            reported[number]
        }
        / Test +#[0-9]+: / {
            match($0, /#[0-9]+:/)
            number = substr($0, RSTART + 1, RLENGTH - 2) + 0
            if (/\*\*\*/ && !bad[number]) bad[number] = 2
            if (/ Passed /  && !(number in reported)) good[number] = 1
        }
        END {
            for (number in good) passed += good[number]
            for (number in bad) failed += int((bad[number] + 1) / 2)
            print passed + 0, failed + 0, int((laws + 1) / 2),
                  int((statistics + 1) / 2), parts + 0
        }' "$1"
}

# Prints the lines of a log that say what failed, or, for a test that printed no
# such line, its last lines.
tally_failures() {
    awk '
        { number = $1 + 0 }
        /^[0-9]+: / { last[number] = last[number] $0 "\n"
                      if (++lines[number] > 20)
                          sub(/^[^\n]*\n/, "", last[number]) }
        /^[0-9]+: (\[  ERROR|\[   LINE|\[  FAILED|not ok|FAILED|ERROR)/ ||
        /^[0-9]+: .*(Sanitizer|runtime error)/ { print; told[number] }
        / Test +#[0-9]+: .*\*\*\*/ {
            match($0, /#[0-9]+:/)
            number = substr($0, RSTART + 1, RLENGTH - 2) + 0
            if (!(number in told)) printf "%s", last[number]
            print
        }' "$1"
}

# tally_log NAME LOG STATUS: counts the tests in a log of ctest -V, which exited
# with that status. A log that does not reach ctest's summary is a failure.
tally_log() {
    tally_name=$1 tally_from=$2 tally_status=$3
    # shellcheck disable=SC2046  # five numbers
    set -- $(tally_read "$tally_from")
    [ "$2" -eq 0 ] || tally_failures "$tally_from" | head -n 80
    tally_notes <"$tally_from"
    tally_passed=$((tally_passed + $1))
    tally_failed=$((tally_failed + $2))
    tally_skipped=$((tally_skipped + $3 + $4 + $5))
    echo "       $tally_name: $1 passed, $2 failed, $(($3 + $4 + $5)) skipped" \
        "($(tally_seconds) s; details in $tally_from)"
    [ $(($3 + $4 + $5)) -eq 0 ] ||
        echo "       skipped: $3 laws of abilities that a kind lacks," \
            "$4 statistics or vectors that another run measures," \
            "$5 parts that need more software or 'make check-all'"
    tally_slowest "$tally_from"
    if [ "$1" -eq 0 ]; then
        tally_fail "$tally_name: no test ran"
    elif [ "$tally_status" -ne 0 ] && [ "$2" -eq 0 ]; then
        tally_fail "$tally_name: ctest ended with $tally_status"
    elif ! grep -aq ' tests failed out of [1-9]' "$tally_from"; then
        tally_fail "$tally_name: ctest did not reach its end"
    fi
}

# tally_add NAME LOG STATUS: adds the counts of a tool that exited with that
# status, from the last line of its log.
tally_add() {
    tally_name=$1 tally_from=$2 tally_status=$3
    # shellcheck disable=SC2046  # two numbers
    set -- $(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' \
        "$tally_from" 2>/dev/null)
    if [ $# -ne 2 ] || { [ "$2" -eq 0 ] && [ "$tally_status" -ne 0 ]; }; then
        tally_fail "$tally_name: it did not reach its end"
        return
    elif [ $(($1 + $2)) -eq 0 ]; then
        tally_fail "$tally_name: no test ran; see $tally_from"
        return
    fi
    tally_passed=$((tally_passed + $1))
    tally_failed=$((tally_failed + $2))
    echo "       $tally_name: $1 passed, $2 failed ($(tally_seconds) s;" \
        "details in $tally_from)"
    tally_notes <"$tally_from"
    grep -a '^ok - .* # skip ' "$tally_from" | sed 's/^ok - /       skipped: /'
}

# tally_times LOG: "SECONDS TEST" for each test of a log of ctest, slowest first.
tally_times() {
    sed -n 's|^ *[0-9]*/[0-9]* Test *#[0-9]*: \([^ ]*\) .* \([0-9.]*\) sec.*|\2 \1|p' \
        "$1" | sort -rn
}

# Prints the ten slowest tests of a log.
tally_slowest() {
    tally_times "$1" | head -n 10 |
        awk '{ line = line (NR == 1 ? "" : NR == 6 ? ",\n                " : ", ") \
                   $2 " " $1 " s" }
             END { if (NR) print "       slowest: " line }'
}

# ---- Budgets -----------------------------------------------------------------

# Processor time that the whole machine has spent, in ticks, and the wall clock
# in seconds; fails on systems without /proc/stat.
tally_machine() {
    awk '$1 == "cpu" { print $2 + $3 + $4 + $7 + $8 + $9; found = 1 }
         END { exit !found }' /proc/stat 2>/dev/null && date +%s
}

# Sets $tally_user and $tally_system to the processor time, in seconds, of this
# shell's ended children, which are the second line of its `times`. Not to be
# called in a pipe or in $(): a subshell has children of its own.
tally_own() {
    tally_file=$(mktemp) && times >"$tally_file"
    # shellcheck disable=SC2046  # four numbers
    set -- $(sed -n '2s/[ms]/ /gp' "$tally_file")
    rm -f "$tally_file"
    tally_user=$(($1 * 60 + ${2%.*})) tally_system=$(($3 * 60 + ${4%.*}))
}

tally_watched=$(tally_machine | tr '\n' ' ')

# Sets $tally_busy to the share of the processors, in percent, that other
# processes have used since this file was sourced, and to nothing on systems
# that do not report it. Not to be called in a pipe or in $().
tally_others() {
    tally_busy=''
    [ -n "$tally_watched" ] || return 0
    tally_own
    # shellcheck disable=SC2046,SC2086  # four numbers
    set -- $tally_watched $(tally_machine)
    tally_all=$((($4 - $2 + 1) * $(getconf _NPROCESSORS_ONLN)))
    tally_busy=$(((($3 - $1) / $(getconf CLK_TCK) - tally_user - tally_system) \
        * 100 / tally_all))
    [ "$tally_busy" -ge 0 ] || tally_busy=0
}

# tally_late WHAT: something exceeded its limit. That is a failure on an idle
# machine; it is a warning if other processes used more than 10 % of the
# processors, or if their share is unknown.
tally_late() {
    if [ "${tally_busy:-100}" -le 10 ]; then
        tally_fail "$1"
    else
        echo "warning: $1 (not a failure: other processes were running)"
    fi
}

# tally_budget SECONDS LOG...: checks the duration of the whole run, and that no
# test in the logs took more than a quarter of it, since a test that long keeps one
# processor busy while the others have ended. The budget is for two idle cores of
# 2021 (Zen 3). Slower processors, and two threads of one core, may take twice as
# long. Time in the kernel does not count: in some virtual machines a call of the
# system costs many times what it does elsewhere. Call tally_others first.
tally_budget() {
    tally_most=$1
    shift
    tally_took=$(($(date +%s) - tally_begun))
    echo "       $tally_took s, budget $tally_most s; other processes used" \
        "${tally_busy:-an unknown share of the processors}${tally_busy:+ %}"
    tally_most=$((tally_most * 2)) tally_each=$((tally_took / 4))
    tally_kernel=$((${tally_system:-0} / $(getconf _NPROCESSORS_ONLN)))
    [ $((tally_took - tally_kernel)) -le $tally_most ] ||
        tally_late "the run took $tally_took s, $tally_kernel s of it in the \
kernel, and may take $tally_most s without: make tests faster, or move some to \
'make check-all'"
    tally_slow=$(for tally_from; do tally_times "$tally_from"; done |
        awk -v each="$tally_each" '
            $1 > each { printf "%s%s (%d s)", n++ ? ", " : "", $2, $1 }')
    [ -z "$tally_slow" ] ||
        tally_late "tests that took more than $tally_each s, a quarter of the run: \
$tally_slow: split them or make them faster"
}

tally_end() {
    tally_own
    echo
    echo "$(($(date +%s) - tally_begun)) s; processor time $tally_user s in" \
        "programs, $tally_system s in the kernel"
    echo "$tally_passed passed, $tally_failed failed"
    [ "$tally_failed" -eq 0 ]
}
