# grep.sh - files, indexes of them, and comparison with grep, for the tests of
# `search`. Sourced, with $1 the folder of tests/bloomery.

if ! "$BLOOMERY" --help | grep -q '^ *search '; then
    skip 'search' 'built without BLY_SEARCH'
    finish
fi

# ---- Some files --------------------------------------------------------------

source=$(dirname "$1")/..
mkdir -p t/deep 'ways'
cp "$source"/search/commands/*.c "$source"/search/regex/*.c \
    "$source"/programs/frame/*.c t/
cat "$source"/src/*/*.c >t/deep/long
cp "$(command -v cat)" t/deep/program
printf 'The quick fox\nlazy dog_1\n' >t/a
: >t/empty
printf 'no newline at the end' >'t/two words'
printf 'a QUICK\0one\nand quick\n' >t/deep/binary
printf 'before \342\200\234quoted\342\200\235 and caf\303\251 M\303\274ller\n' >t/deep/utf
printf '\n\n\na{2}b a.b [x] $HOME ^x$ \\n #1 -v --\n' >t/deep/signs
printf 'quick\r\nslow\r\n' >t/deep/dos
find t -exec touch -d '2020-01-01' {} +
sleep 0.1                       # what was changed just now is not relied on

index_all() {
    for rule in trigrams words; do
        "$BLOOMERY" index -q -o $rule.blx --by $rule -b 4K -r t || exit 2
    done
}
index_all

# wanted KIND ARGUMENTS...: output of grep -F or -P for all files, by name.
wanted() {
    wanted_kind=$1
    shift
    find t -type f -print0 | sort -z |
        xargs -0 grep -H "-$wanted_kind" "$@" >want 2>grep.err
    case $? in
    0)   echo 0 >want.status ;;
    123) echo 1 >want.status ;;         # 1 from one of them, as xargs says it
    *)   echo 2 >want.status ;;
    esac
}

# differs ARGUMENTS...: whether the output is not the wanted one.
differs() {
    "$BLOOMERY" search "$@" >out 2>err
    echo $? >status
    ! cmp -s want out || ! cmp -s want.status status
}

# same KIND ARGUMENTS...: the same as grep -F or -P, in each of these ways.
ways=$(work 'trigrams,--stats words,--trust trigrams,--trust,-j1 words,-j4' \
    'trigrams,-j2 words,--trust')
same() {
    same_bad='' same_name=$(printf 'grep -%s' "$*" | tr '\n' '/') same_fixed=
    [ "$1" = P ] || same_fixed=-F
    wanted "$@"
    shift
    for way in $ways; do
        # shellcheck disable=SC2046,SC2086  # options
        if differs $(printf '%s' "${way#*,}" | tr ',' ' ') $same_fixed \
            "${way%%,*}.blx" "$@"; then
            same_bad="$same_bad $way"
            cp out out.bad
        fi
    done
    if [ -z "$same_bad" ]; then
        pass "as $same_name"
    else
        fail "as $same_name" "$same_bad $(diff want out.bad | head -n 5)"
    fi
}
