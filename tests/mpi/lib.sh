# lib.sh - helpers for the test scripts of bloomery-mpi; sourced by each.
#
# As tests/bloomery/lib.sh, but `try` runs bloomery-mpi with $RANKS ranks, and
# `one` runs the command `bloomery`, in one process. Set RANKS before each try.
# shellcheck source=../bloomery/lib.sh
. "$1/../bloomery/lib.sh"
: "${MPIRUN:?set it to the path of mpirun}" "${ONE:?set it to that of bloomery}"
RANKS=4

# start ARGUMENTS OF MPIRUN...: with -q, mpirun itself does not report a nonzero
# status; its library may still report the ranks that it ended.
start() {
    timeout 100 "$MPIRUN" -q -n "$RANKS" "$@" >out 2>err.all </dev/null
    echo $? >status
    sed '/^\[warn\] Epoll /d' err.all >err
}

try() {
    start "$BLOOMERY" "$@"
}

one() {
    "$ONE" "$@" >out 2>err </dev/null
    echo $? >status
}

# alone RANK COMMANDS ARGUMENTS...: like `try`, but that rank, or "all", runs
# the shell commands first. Uses TCP, as limits set by the shell would affect
# shared memory.
alone() {
    alone_script="case $1 in all | \$OMPI_COMM_WORLD_RANK) $2 ;; esac
        exec \"\$0\" \"\$@\""
    shift 2
    OMPI_MCA_btl=tcp,self start sh -c "$alone_script" "$BLOOMERY" "$@"
}

# is_still NAME FILE: FILE equals the file `before`.
is_still() {
    if cmp -s before "$2"; then
        pass "$1: the file is untouched"
    else
        fail "$1: the file is untouched" "it was changed"
    fi
}
