#!/bin/sh
# run.sh - all tests of the command: sh tests/bloomery/run.sh PATH_TO_BLOOMERY
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

# shellcheck source=topics.sh
. "$here/topics.sh"
run_topics keys key query jobs show errors json sets save remove frozen labels \
    packed paged grow dedup cascade diff integers advise
