# search.sh - `search` prints the same as grep for the same files, byte for
# byte, with every option and each kind of index.
. "${1:?}/lib.sh"
. "$(dirname "$0")/shared/grep.sh"

# Colors equal grep's; and patterns from a file.
try search --color always -l trigrams.blx lazy
LC_ALL=C grep --color=always -rlF lazy t >want
check 'names in color' cmp want out
export GREP_COLORS=
color() {
    for pattern in 'quick' $(work '[a-z]+ ^ x*' 'x*'); do
        same P --color=always "$@" "$pattern"
    done
}
color -n
color -c
color -Z
color -nA2
color -vC1
color -on
color -wi
printf 'quick\nlazy dog\n' >patterns
same F -n -f patterns
: >none
same F -f none
same F -cvf none
printf '\n' >one
same F -nf one
same F -e fox -f patterns
wanted F -f patterns
"$BLOOMERY" search -F trigrams.blx -f - <patterns >out 2>err
check 'patterns from standard input' cmp want out
try search -f none.txt trigrams.blx
refused 'no file of patterns' "cannot read the patterns in 'none.txt': No such"
printf 'a\0b' >nul
try search -f nul trigrams.blx
refused 'patterns with a NUL' "'nul' contains a NUL"
try search --color red trigrams.blx lazy
refused 'a color' '--color is always, never or auto'

# Classes with a misleading end, arguments of group numbers, flags at the
# beginning, and comments.
printf ':foo\nafoo\n\034foo\nx]y foo\naa\nbb\nac\naab\n' >t/deep/classes
touch -d '2020-01-01' t/deep/classes
sleep 0.1
index_all
for pattern in '[[:]foo|bar]needle' '[\c]abc]foo' '[\c\]foo|bar]needle' \
    '[[:a[:]x|y]zfoo' '[[:^alpha:]]foo' '[[.]foo' '[[=]foo' '[]a]foo' '[^]a]foo' \
    '[\]]foo' '[\Q]\E]foo' '[[:alpha:]foo]+' '(a)\1' '(?x)aa # two' \
    '(?<n>a)\k<n>' '(?(DEFINE)(?<g>\Ka))(?<=(?&g))a' 'a(*COMMIT)b|ac'; do
    same P "$pattern"
    [ "$(work all few)" = few ] || same P -i "$pattern"
done
same P -x '(*NO_JIT)aab'
same P -x '(?x)aa # two'
try search --no-filename trigrams.blx -x -e '(a)\1' -e '(b)\1'
out_is 'two patterns with groups' 0 'aa\nbb\n'
try search --no-filename trigrams.blx -x -e 'a(*COMMIT)b' -e 'ac' -e '(?x)aa # two'
out_is 'a pattern that would end the others' 0 'aa\nac\n'
try search --no-filename trigrams.blx -o -e '(?<n>oo)' -e '(?<n>)f' -e '^x]y f'
check 'the first match of all is printed' grep -qx 'x]y f' out
timeout 20 "$BLOOMERY" search -o trigrams.blx \
    '(?(DEFINE)(?<g>\Ka))(?<=(?&g))' >out 2>err
check 'a match that goes backwards ends' test $? -le 1
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%07d\n", i * 2718 % 9999991 }' \
    >patterns
{ cat patterns && echo 'The quick'; } >more
same F -f more
# Many texts at once: words of the files, and absent ones.
rm t/deep/classes
index_all
for length in $(work '3 4 9' 4); do
    cat t/*.c | tr -cs 'A-Za-z_' '\n' | awk -v n=$length 'length >= n' |
        sort -u | awk 'NR % 3 == 0 { print; print substr($0, 2) "q" }' \
        >patterns
    same F -f patterns
    same F -of patterns
    same F -cif patterns
    same F -nwf patterns
    same F -xf patterns
    same F -vcf patterns
done
for option in '' -n -c -l -L -v -o -i -w -x -a '-m 2' '-A 2' '-B 3' '-C 1' \
    -cv -lv -Lv -nv -no -ni -nw -nx -na -cm2 -vm3 -Zl -Zc -Zn -ioc -wio \
    '-m 0' -cm0 -lm0 -Lm0 -qm0 -vm0 '-m 0 -A 1' '-nA 0' '-nB 0' '-nC 0' \
    '-nA 0 -C 2' '-nC 2 -B 0' '-nC 0 -A 2' '-nA 9' '-nB 9' '-nC 40' '-m 1 -nA 3' '-m 2 -nC 2' '-nv -C 1' '-nw -C 1' \
    '-l -C 1' '-c -A 1' '-m 1 -v -B 2'; do
    for pattern in quick 'text'; do
        # shellcheck disable=SC2086  # none, or one, or two
        same F $option "$pattern"
    done
    # shellcheck disable=SC2086
    same P $option '(bytes|lines)_[a-z]+\('
done

finish
