# lib.sh - what the test scripts of bloomery-mpi share; sourced by each.
#
# As tests/cli/lib.sh, but `try` runs bloomery-mpi with $RANKS ranks, and `one`
# runs the command `bloomery`, in one process. Set RANKS before each try.
# shellcheck source=../cli/lib.sh
. "$1/../cli/lib.sh"
: "${MPIRUN:?set it to the path of mpirun}" "${ONE:?set it to that of bloomery}"
RANKS=4

# -q: mpirun itself says nothing of a status that is not 0.
try() {
    timeout 100 "$MPIRUN" -q -n "$RANKS" "$BLOOMERY" "$@" >out 2>err </dev/null
    echo $? >status
}

one() {
    "$ONE" "$@" >out 2>err </dev/null
    echo $? >status
}
