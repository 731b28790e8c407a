# lib.sh - helpers for the command's test scripts; sourced by each.
#
# Each script runs in an empty folder of its own; BLOOMERY is the command's
# path. `try` runs the command and keeps its output in the file `out`, its
# messages in `err` and its exit status in `status`. The checks inspect these
# and print `ok - NAME` or `not ok - NAME # DETAILS`.

set -u
: "${BLOOMERY:?set it to the path of the command}"
LC_ALL=C
export LC_ALL
failures=0

# work FULL FEW: prints FULL in a full run, as in tests/test.h, else FEW: every
# case, but fewer times.
work() {
    case ${BLY_TEST_WORK:-full} in
    full) printf '%s\n' "$1" ;;
    usual | paths) printf '%s\n' "$2" ;;
    *)  echo "BLY_TEST_WORK is full, usual or paths, not $BLY_TEST_WORK" >&2
        kill $$ ;;
    esac
}

pass() {
    printf 'ok - %s\n' "$1"
}

fail() {
    printf 'not ok - %s # %s\n' "$1" \
        "$(printf '%s' "$2" | tr -c '[:print:]' '?')"
    failures=$((failures + 1))
}

skip() {
    printf 'ok - %s # skip %s\n' "$1" "$2"
}

# try ARGUMENT...: runs the command, under $AS if that is set.
try() {
    # shellcheck disable=SC2086  # a command and its options
    ${AS:-} "$BLOOMERY" "$@" >out 2>err
    echo $? >status
}

# Prints the last run's result in one line.
details() {
    printf 'status %s, out %s bytes, err: %s' "$(cat status)" \
        "$(wc -c <out | tr -d ' ')" "$(head -c 300 err | tr '\n' '|')"
}

# check NAME COMMAND...: the command succeeds.
check() {
    name=$1
    shift
    if "$@" >/dev/null 2>&1; then
        pass "$name"
    else
        fail "$name" "failed: $*; $(details)"
    fi
}

status_is() {
    if [ "$(cat status)" = "$2" ]; then
        pass "$1"
    else
        fail "$1" "expected status $2; $(details)"
    fi
}

# out_is NAME STATUS TEXT: exactly this on stdout (with printf's \n \t \0
# \\), nothing on stderr.
out_is() {
    printf '%b' "$3" >want
    if [ "$(cat status)" != "$2" ]; then
        fail "$1" "expected status $2; $(details)"
    elif [ -s err ]; then
        fail "$1" "stderr is not empty; $(details)"
    elif ! cmp -s want out; then
        fail "$1" "expected $(od -An -c want | head -c 200 | tr '\n' ' ') got $(od -An -c out | head -c 200 | tr '\n' ' ')"
    else
        pass "$1"
    fi
}

# out_has NAME STATUS REGEX: a line on stdout matches.
out_has() {
    if [ "$(cat status)" != "$2" ]; then
        fail "$1" "expected status $2; $(details)"
    elif ! grep -Eq -e "$3" out; then
        fail "$1" "no line matches $3; out: $(head -c 300 out | tr '\n' '|')"
    else
        pass "$1"
    fi
}

# silent NAME: status 0, no message.
silent() {
    out_is "$1" 0 ''
}

# refused NAME REGEX: status 2, nothing on stdout, one line on stderr that
# begins with the program's name and matches.
refused() {
    if [ "$(cat status)" != 2 ]; then
        fail "$1" "expected status 2; $(details)"
    elif [ -s out ]; then
        fail "$1" "stdout is not empty; $(details)"
    elif [ "$(wc -l <err)" -ne 1 ]; then
        fail "$1" "expected one line on stderr; $(details)"
    elif ! grep -Eq '^bloomery(-mpi)?( [a-z]+)?: .*[a-z].*: .*' err; then
        fail "$1" "not 'bloomery: what: how to mend it'; $(details)"
    elif ! grep -Eiq -e "$2" err; then
        fail "$1" "no match for $2; $(details)"
    else
        pass "$1"
    fi
}

# keeps NAME REGEX FILE ARGUMENTS...: refused, and FILE does not change. Stdin
# goes to the command.
keeps() {
    keeps_name=$1
    keeps_regex=$2
    keeps_file=$3
    shift 3
    cp "$keeps_file" before
    try "$@"
    refused "$keeps_name" "$keeps_regex"
    if cmp -s before "$keeps_file"; then
        pass "$keeps_name: the file is untouched"
    else
        fail "$keeps_name: the file is untouched" "it was changed"
    fi
}

# note NAME REGEX: status 0 and one line on stderr that matches.
note() {
    if [ "$(cat status)" != 0 ] || [ "$(wc -l <err)" -ne 1 ] \
        || ! grep -Eq -e "$2" err; then
        fail "$1" "expected a note with $2; $(details)"
    else
        pass "$1"
    fi
}

# uncovered NAME: stderr has the note that one file is not covered, and nothing
# else. It is taken away.
uncovered() {
    check "$1: a note" test "$(grep -c 'does not cover all of 1 file' err) of $(
        wc -l <err)" = '1 of 1'
    : >err
}

finish() {
    [ "$failures" -eq 0 ]
    exit
}
