# shellcheck shell=sh
# help.sh - sourced by each tool before it does anything:
#
#   . "$(dirname "$0")/../lib/help.sh"
#   help_arguments OPTIONS LEAST MOST "$@"
#
# --help and -h print the comment at the head of the tool, in which each line
# that begins with "#   tools/" is a way to call it; three spaces end that.
# OPTIONS are the words that may come first, such as '--marked --band='; one
# that ends in = takes the next word as its value. LEAST to MOST other arguments
# may follow; MOST is '' where a command follows or a list. Wrong arguments give
# one line on stderr and exit status 2.
#
# $help_root is the top folder of the source tree.
#
# Tools run in the locale C, so that sorting, printing and case conversion are
# the same on every machine.
LC_ALL=C
export LC_ALL
help_name=$(basename "$0")
# shellcheck disable=SC2034  # used by the tools
help_root=$(cd "$(dirname "$0")/.." && pwd)
[ -e "$help_root/CMakeLists.txt" ] || help_root=${help_root%/*}
help_file=$(cd "$(dirname "$0")" && pwd)/$help_name

help_text() {
    sed -n -e 1d -e '/^#/!q' -e 's/^# \{0,1\}//p' "$help_file"
}

# help_refuse WORD...: what is wrong with the call, and what to do.
help_refuse() {
    echo "$help_name: $*" >&2
    exit 2
}

# Refuses a call, with [WHAT is wrong and] the ways to call the tool.
help_usage() {
    sed -n -e 1d -e '/^#/!q' -e 's/^#   \(tools\/.*\)/\1/p' \
        "$help_file" | {
        help_ways=
        while IFS= read -r help_way; do
            help_ways="${help_ways:+$help_ways | }${help_way%%   *}"
        done
        echo "${1:+$help_name: $1; }usage: $help_ways" >&2
    }
    exit 2
}

help_arguments() {
    help_options=" $1 " help_least=$2 help_most=$3
    shift 3
    while [ $# -gt 0 ]; do
        case $1 in
        -h | --help) help_text; exit 0 ;;
        -*) ;;
        *) break ;;
        esac
        case $help_options in
        *" $1 "*) shift ;;
        *" $1= "*) [ $# -ge 2 ] || help_usage "$1 needs a value"; shift 2 ;;
        *) help_usage "unknown option '$1'" ;;
        esac
    done
    [ $# -ge "$help_least" ] && [ $# -le "${help_most:-$#}" ] || help_usage
}
