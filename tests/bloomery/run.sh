#!/bin/sh
# run.sh - runs the command's tests, all or some scripts:
#
#   sh tests/bloomery/run.sh PATH_TO_BLOOMERY [SCRIPT...]
#
# Prints `ok - NAME` or `not ok - NAME # DETAILS` for each, and exits 1 if any
# failed. Works in a temporary folder, which is removed.

set -u
if [ $# -lt 1 ] || [ ! -x "$1" ]; then
    echo "usage: sh run.sh PATH_TO_BLOOMERY [SCRIPT...]" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd) || exit 2
BLOOMERY=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
export BLOOMERY
# Leak checking takes as long as everything else in a short process. In a short
# run only the library's tests do it.
[ "${BLY_TEST_WORK:-}" != paths ] ||
    ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
[ -z "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS
# shellcheck source=topics.sh
. "$here/topics.sh"
shift
run_topics "$@"
