#!/bin/sh
# run.sh - all tests of the command: sh tests/cli/run.sh PATH_TO_BLOOMERY
#
# Prints `ok - NAME` or `not ok - NAME # DETAILS` for each, and exits 1 if any
# failed. Everything happens in a temporary folder, which is removed.

set -u
if [ $# -ne 1 ] || [ ! -x "$1" ]; then
    echo "usage: sh run.sh PATH_TO_BLOOMERY" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd) || exit 2
BLOOMERY=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
export BLOOMERY

failed=0
topics="keys query jobs show errors json sets save remove frozen labels packed
    paged grow dedup cascade diff integers advise"
for topic in $topics; do
    mkdir "$work/$topic"
    (cd "$work/$topic" && sh "$here/$topic.sh" "$here") >"$work/log"
    code=$?
    sed -e "s|^ok - |ok - $topic: |" -e "s|^not ok - |not ok - $topic: |" \
        "$work/log"
    if grep -q '^not ok' "$work/log"; then
        failed=1
    elif [ $code -ne 0 ] || ! grep -q '^ok' "$work/log"; then
        echo "not ok - $topic # the script ended with $code"
        failed=1
    fi
done
exit $failed
