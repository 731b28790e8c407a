#!/bin/sh
# cluster.sh - what bloomery-mpi sends, as tables for docs/cluster.md:
#
#   sh bench/cluster.sh MPIRUN PATH_TO_BLOOMERY_MPI [LINES]
#
# All ranks run on this machine; nothing here is about time. Each part is a
# function with its name in the list at the end.
set -eu
MPIRUN=$1
BLOOMERY=$2
LINES=${3:-1000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_mpi_yield_when_idle=1
OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM \
    OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle \
    OMPI_MCA_btl_vader_single_copy_mechanism

# ---- dedup ------------------------------------------------------------------

# urls SHARE: lines of 40 bytes or so, of which such a share repeats another.
urls() {
    awk -v n="$LINES" -v share="$1" 'BEGIN {
        srand(5)
        for (i = 0; i < n; i++)
            printf "https://www.example.org/archive/%d.html\n",
                   rand() < share ? int(rand() * i) : i
    }'
}

# row RANKS FILE: a line of the table of dedup, from its report.
row() {
    "$MPIRUN" -q -n "$1" "$BLOOMERY" dedup --json "$2" |
    awk -F '[:,]' -v ranks="$1" '
        { gsub(/[" ]/, "", $1) }
        $1 == "values_per_position" { f = $2; n++ }
        $1 == "elements" && !exact { elements = $2 }
        $1 == "elements" && exact { sent = $2 }
        $1 == "value_bits" { bits = $2 }
        $1 == "value_bits_formula" { bits = sprintf("%.3f (%.3f)", bits, $2) }
        $1 == "answer_bits" { answer = $2 }
        $1 == "answer_bits_formula" {
            answer = sprintf("%.3f (%.3f)", answer, $2)
        }
        $1 == "left" { left = $2 }
        $1 == "left_formula" {
            rounds = rounds sprintf("| %s | %d | 1/%.3g | %d | %s | %s | " \
                                    "%d (%.0f) |\n", n == 1 ? ranks : "", n,
                                    1 / f, elements, bits, answer, left, $2)
        }
        $1 == "exact" { exact = 1 }
        $1 == "bytes" { bytes = $2 }
        $1 == "bits_per_line" { line = $2 }
        $1 == "bytes_of_hashes" { hashes = $2 }
        $1 == "bytes_of_keys" { keys = $2 }
        END {
            printf "%s", rounds >"'"$work"'/rounds"
            printf "| %d | %d | %.2f | %.1f %% | %.1f %% |\n", ranks, sent,
                   line, 100 * bytes / hashes, 100 * bytes / keys
        }'
    cat "$work/rounds" >>"$work/all"
}

dedup() {
    for share in 0.01 0.1; do
        urls "$share" >"$work/urls"
        : >"$work/all"
        echo
        echo "$LINES lines, of which a share of $share repeats an earlier one:"
        echo
        echo '| ranks | keys sent | bits a line, in all | of all hashes | of all keys |'
        echo '|--:|--:|--:|--:|--:|'
        for ranks in 2 4 8 16; do
            row "$ranks" "$work/urls"
        done
        echo
        echo '| ranks | round | f | in doubt | bits a value | bits its answer | left |'
        echo '|--:|--:|--:|--:|--:|--:|--:|'
        cat "$work/all"
    done
}

parts="
    dedup
"
for part in $parts; do
    "$part"
done
