#!/bin/sh
# run.sh - runs the tests of bloomery-mpi, all or some scripts, under mpirun:
#
#   sh tests/mpi/run.sh MPIRUN PATH_TO_BLOOMERY_MPI PATH_TO_BLOOMERY [SCRIPT...]
#
# Prints `ok - NAME` or `not ok - NAME # DETAILS` for each, and exits 1 if any
# failed. Works in a temporary folder, which is removed. All ranks run on this
# machine, however few processors it has.

set -u
if [ $# -lt 3 ] || [ ! -x "$2" ] || [ ! -x "$3" ]; then
    echo "usage: sh run.sh MPIRUN PATH_TO_BLOOMERY_MPI" \
        "PATH_TO_BLOOMERY [SCRIPT...]" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd) || exit 2
MPIRUN=$1
BLOOMERY=$(cd "$(dirname "$2")" && pwd)/$(basename "$2") || exit 2
ONE=$(cd "$(dirname "$3")" && pwd)/$(basename "$3") || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
export MPIRUN BLOOMERY ONE

# Open MPI's settings: run as root in a container; allow more ranks than
# processors, which yield while they wait; do not read other processes' memory,
# which containers forbid. Startup takes half the time without looking for fast
# networks, and errors end a job at once without time for farewells. Its leaks
# are not reported. The jobs of a user share a folder that one may remove while
# another starts, so these have their own.
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_mpi_yield_when_idle=1
OMPI_MCA_pml=ob1
OMPI_MCA_odls_base_sigkill_timeout=0
OMPI_MCA_btl_vader_single_copy_mechanism=none
OMPI_MCA_orte_tmpdir_base=$work/jobs
ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM \
    OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle \
    OMPI_MCA_pml OMPI_MCA_odls_base_sigkill_timeout \
    OMPI_MCA_btl_vader_single_copy_mechanism OMPI_MCA_orte_tmpdir_base \
    ASAN_OPTIONS
mkdir "$work/jobs" || exit 2

if ! timeout 100 "$MPIRUN" -q -n 2 "$BLOOMERY" --version >"$work/log" 2>&1
then
    echo "not ok - mpirun # it cannot start two processes here: $(
        head -c 1000 "$work/log" | tr '\n' ' ')"
    exit 1
fi

# shellcheck source=../bloomery/topics.sh
. "$here/../bloomery/topics.sh"
shift 3
run_topics "$@"
