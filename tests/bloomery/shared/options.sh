# options.sh - the rules of the option tables, as the man pages show them, are
# kept by the built command: two options that cannot be used together, and an option
# without the one that it needs, are refused. A new row of a table is tested
# without a new line here. Also used by tests/mpi.

# options_commands: the names of the subcommands.
options_commands() {
    "$BLOOMERY" --help | sed -n '/^Topics/q;s/^  \([a-z]*\)  .*/\1/p'
}

# options_rules COMMAND: a line "excludes A B" for each pair of options, with
# values that can be read, and "needs A B C..." for each option that needs one
# of others.
options_rules() {
    "$BLOOMERY" help --roff --section 1 "$1" |
        sed -n '/^\.SH OPTIONS/,/^\.SH EX/{s/\\-/-/g;s/\\f.//g;p;}' | awk '
        function text(value) {
            return value == "" ? "" : value == "RATE" ? "=0.1" \
                 : value == "CLASS" ? "=text" : "=1"
        }
        /^\.TP/ { head = 1; next }
        head {
            head = 0
            match($0, /--[a-z0-9-]+/)
            option = substr($0, RSTART, RLENGTH)
            order[option] = ++n
            given[option] = option text(substr($0, RSTART + RLENGTH + 1))
            next
        }
        /^(Excludes|Needs) --/ { rule[option] = $0 }
        END {
            for (option in rule) {
                needs = ""
                words = split(rule[option], word, /[ ,.]+/)
                for (i = 1; i <= words; i++) {
                    other = word[i]
                    if (other == "Excludes" || other == "Needs")
                        kind = other
                    else if (other !~ /^--/)
                        continue
                    else if (kind == "Needs")
                        needs = needs " " given[other]
                    else if (order[option] < order[other])
                        print "excludes", given[option], given[other]
                }
                if (needs != "")
                    print "needs", given[option] needs
            }
        }' | sort
}

# options_said WANTED ARGUMENT...: the command says exactly this, and ends with
# status 2.
options_said() {
    options_wanted="${BLOOMERY##*/} $2: $1"
    shift
    "$BLOOMERY" "$@" </dev/null >out 2>err
    echo $? >status
    [ "$(cat status)" = 2 ] && [ ! -s out ] && [ "$(cat err)" = "$options_wanted" ]
}

# options_list OPTION...: "--a, --b or --c".
options_list() {
    options_text=${1%%=*}
    shift
    while [ $# -gt 1 ]; do
        options_text="$options_text, ${1%%=*}"
        shift
    done
    [ $# -eq 0 ] || options_text="$options_text or ${1%%=*}"
    printf '%s' "$options_text"
}

# options_kept COMMAND STEP: one rule of STEP is tried.
options_kept() {
    options_tried=0
    options_failed=$failures
    options_rules "$1" | awk -v step="$2" 'NR % step == 0' >rules
    while read -r rule one others; do
        options_tried=$((options_tried + 1))
        # shellcheck disable=SC2086  # options, without blanks in them
        set -- "$1" $others
        case $rule in
        excludes)
            # The message has the order of the table, which groups change.
            options_said "${2%%=*} and ${one%%=*} cannot be used together: leave one out" \
                "$1" "$one" "$2" && continue
            options_said "${one%%=*} and ${2%%=*} cannot be used together: leave one out" \
                "$1" "$one" "$2" && continue ;;
        needs)
            command=$1
            shift
            [ $# -gt 1 ] && give=one || give=that
            options_said "${one%%=*} needs $(options_list "$@"): use $give too" \
                "$command" "$one" && set -- "$command" && continue
            set -- "$command" ;;
        esac
        fail "$1: $rule $one $others" "expected '$options_wanted'; $(details)"
    done <rules
    [ "$failures" -ne "$options_failed" ] ||
        pass "$1: $options_tried rules of its options are kept"
}
