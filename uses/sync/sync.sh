#!/bin/sh
# sync.sh - finds the lines that only one of two lists on two machines has.
# Prints them like diff, "< " mine and "> " theirs, and sends some 60 bytes for
# each.
#
#   sync.sh MINE THEIRS [COMMAND...]
#
# COMMAND runs `bloomery` where THEIRS is, such as: ssh other bloomery. A shell
# there reads THEIRS once more: quote it for that one. Status 0 if no line
# differs, 1 if some do, 2 after an error.
set -eu
[ $# -ge 2 ] || { echo 'usage: sync.sh MINE THEIRS [COMMAND...]' >&2; exit 2; }
mine=$1 theirs=$2
shift 2
if [ ! -f "$mine" ] || [ "$theirs" = - ]; then
    printf 'sync.sh: %s: two files are wanted, to be read more than once\n' "$mine" >&2
    exit 2
fi
: "${BLOOMERY:=bloomery}"
[ $# -gt 0 ] || set -- "$BLOOMERY"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sketch=$folder/sketch said=$folder/said

# A small sketch estimates how many differ, with an error.
"$BLOOMERY" sketch --differences 100 -o "$sketch" -- "$mine" || exit 2
"$@" diff --estimate -- - "$theirs" <"$sketch" >"$said" || [ $? = 1 ] || exit 2
most=$(tr -d ',' <"$said" | awk '{ printf "%d", $1 + 2 * $3 + 10 }')

# A sketch made for that many lists each line. One in a hundred fails by chance:
# then a larger one is made.
for seed in 1 2 3 4; do
    status=0
    "$BLOOMERY" sketch -s "$seed" --differences "$most" -o "$sketch" -- "$mine" || exit 2
    "$@" diff --verbose -- - "$theirs" <"$sketch" >"$folder/theirs" 2>"$said" || status=$?
    [ "$status" -gt 1 ] || break
    most=$((2 * most))
done
[ "$status" -le 1 ] || { cat "$said" >&2; exit 2; }

# The number is now known, and the other side sends a sketch for exactly that
# many.
most=$(($(tr -d ',' <"$said" |
    sed -n 's/.*: \([0-9]*\) key.* \([0-9]*\) only here$/\1 + \2 + 1/p')))
for seed in 1 2 3 4; do
    status=0
    "$@" sketch -s "$seed" --differences "$most" -o - -- "$theirs" >"$sketch" || exit 2
    "$BLOOMERY" diff -- "$sketch" "$mine" >"$folder/mine" 2>"$said" || status=$?
    [ "$status" -gt 1 ] || break
    most=$((2 * most))
done
[ "$status" -le 1 ] || { cat "$said" >&2; exit 2; }
sed 's/^/< /' "$folder/mine"
sed 's/^/> /' "$folder/theirs"
[ ! -s "$folder/mine" ] && [ ! -s "$folder/theirs" ] || exit 1
