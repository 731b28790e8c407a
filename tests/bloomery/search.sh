# search.sh - `search`: what grep prints of the same files, byte for byte, with
# every option, of every kind of index, after every kind of change.
. "${1:?}/lib.sh"

if ! "$BLOOMERY" --help | grep -q '^ *search '; then
    skip 'search' 'built without BLY_SEARCH'
    finish
fi

# ---- Some files --------------------------------------------------------------

source=$(dirname "$1")/..
mkdir -p t/deep 'ways'
cp "$source"/programs/search/*.c "$source"/programs/frame/*.c t/
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

# wanted KIND ARGUMENTS...: what grep -F or -P says of all files, in the order of
# their names.
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

# differs ARGUMENTS...: is something else said of them than what is wanted?
differs() {
    "$BLOOMERY" search "$@" >out 2>err
    echo $? >status
    ! cmp -s want out || ! cmp -s want.status status
}

# same KIND ARGUMENTS...: as grep -F or -P, in each of these ways.
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

# In colors, which are grep's; and patterns of a file.
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
refused 'patterns with a NUL' "'nul' has a NUL in it"
try search --color red trigrams.blx lazy
refused 'a color' '--color is always, never or auto'

# Classes whose end is not where it seems to be; what goes to a group's number
# or ends others; flags at the beginning, and comments.
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
out_is 'one that would end the others' 0 'aa\nac\n'
try search --no-filename trigrams.blx -o -e '(?<n>oo)' -e '(?<n>)f' -e '^x]y f'
check 'the first match of all is printed' grep -qx 'x]y f' out
timeout 20 "$BLOOMERY" search -o trigrams.blx \
    '(?(DEFINE)(?<g>\Ka))(?<=(?&g))' >out 2>err
check 'a match that goes backwards ends' test $? -le 1
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%07d\n", i * 2718 % 9999991 }' \
    >patterns
{ cat patterns && echo 'The quick'; } >more
same F -f more
# Many texts at once: words of the files, and what is in none.
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
    '-nA 9' '-nB 9' '-nC 40' '-m 1 -nA 3' '-m 2 -nC 2' '-nv -C 1' '-nw -C 1' \
    '-l -C 1' '-c -A 1' '-m 1 -v -B 2'; do
    for pattern in quick 'text'; do
        # shellcheck disable=SC2086  # none, or one, or two
        same F $option "$pattern"
    done
    # shellcheck disable=SC2086
    same P $option '(bytes|lines)_[a-z]+\('
done
number=0
for pattern in quick 'QUICK' 'one' 'dog_1' 'fox$' '^lazy' 'q(ui|we)ck' 'qu?ick' \
    'qu*ick' 'zq?uick' 'quick{0}' '(quick)?' '(quick)*x?' '(lazy|quick) (fox|dog)' \
    '(?i)QUICK' '(?:quick|slow)\r' 'qu[a-i]ck' '[^]q]uick' '[[:alpha:]]+\d' '\bdog' \
    '\Bick\b' 'qu\Kick' '\x71uick' '\Qquick\E' 'a\{2\}b' 'a.b' 'a\.b' '\[x\]' '\$HOME' \
    '\^x\$' '\\n' '#1' '^$' '^' '$' '' '.' '(.)\1ull' '(?=quick).*fox' \
    '(?!quick)fox' '(?<=quick )fox' '(?<!slow )fox' '(?<n>fox)' '(?>quick|x) fox' \
    'caf.*ller' 'caf\xc3\xa9' '“quoted”' '\Wquoted\W' 'size_t [a-z]+ = 0;' \
    'return (NULL|false);' 'static (inline )?bool' 'nowhere_at_all' \
    'x{2,3}yz' '(ab){0,2}c' 'if \(.* \{' 'the|quick' 'lines?_next' '(a|)quick' \
    '((((quick))))' 'm(a(l(l(oc)?)?)?)?' '\w+_\w+_\w+' '^.{70,}$' '\tx' '[\w]+\('
do
    same P "$pattern"
    number=$((number + 1))
    [ "$(work 0 $((number % 3)))" != 0 ] || same P -nw "$pattern"
    [ "$(work 1 $((number % 3)))" != 1 ] || same P -x "$pattern"
    [ "$(work 2 $((number % 3)))" != 2 ] || same P -oi "$pattern"
done
for pattern in 'a{2}b' 'a.b' '[x]' '$HOME' '^x$' '\n' '#1' '--' '()' '->' '""' \
    '“' "caf$(printf '\303')" ' ' 'x' 'qu' '*/' '/*' '%'; do
    same F -n -e "$pattern"
    same F -w -e "$pattern"
    same F -xi -e "$pattern"
done
same F -e quick -e slow
same P -i '\Qthe quick'
same P '(?x) quick # fast'
try search -w trigrams.blx '\Qfox'
out_is 'a quotation without its end, as a word' 0 't/a:The quick fox\n'

# ---- Expressions by chance ---------------------------------------------------

# expressions N SEED: of what matters to which texts a match must have.
expressions() {
    awk -v n="$1" -v seed="$2" '
        function one_of(list,  items) {
            return items[int(rand() * split(list, items, " ")) + 1]
        }
        function atom(deep) {
            chance = rand()
            if (deep == 0 || chance < 0.5)
                return one_of("quick fox lazy dog return static size bytes " \
                              "the int QUICK Fox siz qui ck _t 1 x")
            if (chance < 0.6)
                return one_of(". \\w \\d \\s \\b \\B ^ $ \\K \\x66 \\. \\( \\_ " \
                              "\\Qa.b\\E [a-z] [^x] []a] [[:alpha:]] [a\\]b] [()|] " \
                              "[[:]fo|x] [\\\\c]q]u [[.]q] [^[:digit:]q] [[:q[:]u]")
            return one_of("( ( (?: (?: (?= (?! (?<= (?<! (?> (?<n> (?i: (?#c)(") \
                   either(deep - 1) ")"
        }
        function sequence(deep,  text, i) {
            for (i = int(rand() * 4); i >= 0; i--) {
                text = text atom(deep)
                if (rand() < 0.4)
                    text = text one_of("* + ? {0} {1} {2,} {0,3} *? +? ?? ++ {x")
            }
            return text
        }
        function either(deep,  text) {
            text = sequence(deep)
            while (rand() < 0.3)
                text = text "|" sequence(deep)
            return text
        }
        BEGIN {
            srand(seed)
            for (i = 0; i < n; i++)
                print either(3)
        }'
}
expressions "$(work 400 15)" 7 >expressions
tried=0 bad=
while IFS= read -r pattern; do
    for option in -n -w -x -i; do
        wanted P $option -e "$pattern"
        # It is no expression, or too much for one line.
        if grep -qv 'binary file matches' grep.err; then
            continue
        fi
        tried=$((tried + 1))
        for rule in trigrams words; do
            if differs --trust $option $rule.blx -e "$pattern"; then
                bad="$bad $rule $option $pattern;"
            fi
        done
    done
done <expressions
check 'expressions by chance: enough are some' test "$tried" -ge "$(work 400 10)"
if [ -z "$bad" ]; then
    pass 'expressions by chance'
else
    fail 'expressions by chance' "$bad"
fi
same F -n -e 'nowhere' -e 'lazy'
same F -n "$(printf 'quick\nfox\n')"
same F -w -e 10 -e 'dog_1' -e ''

# ---- Patterns from the text, through changes ---------------------------------

# pieces N FILE: pieces of lines of the text, of 3 to 22 bytes.
pieces() {
    find t -type f ! -name program ! -name binary | sort | xargs -d '\n' cat |
        awk -v n="$1" -v seed="$2" 'length >= 3 { line[++lines] = $0 }
            END {
                srand(seed)
                for (i = 0; i < n; i++) {
                    l = line[int(rand() * lines) + 1]
                    m = 3 + int(rand() * 20)
                    print substr(l, int(rand() * length(l)) + 1, m)
                }
            }' >pieces
}

# absent N: texts that are in none, of bytes and words that are.
absent() {
    sed 's/\(.\)\(.*\)/\2\1q9/' pieces | head -n "$1" >gone
}

# compare NAME WAY ARGUMENTS...: all pieces, and what is absent.
compare() {
    compare_name=$1 compare_bad=0 compare_n=0
    shift
    for list in pieces gone; do
        while IFS= read -r piece; do
            wanted F -n -e "$piece"
            for rule in trigrams words; do
                if differs "$@" $rule.blx -F -n -e "$piece"; then
                    compare_bad=$((compare_bad + 1))
                    printf '%s\n' "$rule: $piece" >>bad
                fi
                compare_n=$((compare_n + 1))
            done
        done <$list
    done
    if [ "$compare_bad" -eq 0 ]; then
        pass "$compare_name"
    else
        fail "$compare_name" "$compare_bad of $compare_n: $(head -n 3 bad)"
    fi
}
number=$(work 250 8)
pieces "$number" 1
absent "$number"
compare 'pieces of the text' -j2
compare 'pieces of the text, trusted' --trust

# Edits that keep the size, that do not, files that are new, renamed and gone.
sed 's/return/exeunt/' t/select.c >edited && cat edited >t/select.c
echo 'one more quick line' >>t/match.c
mkdir t/new
sed 's/static/public/' t/work.c >t/new/work.c
mv t/json.c t/new/
rm t/sort.c t/deep/long
ways='trigrams,-j2 words,-j2'
same F -n quick
same P -n 'exeunt|public (bool|int)'
same F -l static
pieces "$number" 2
absent "$number"
compare 'after edits, the index as it was' -j2
try search -l --trust-known trigrams.blx 'one more quick line'
out_is 'what has changed, known files trusted' 1 ''
try search -l --trust-known trigrams.blx 'public bool'
out_has 'and a new file' 0 '^t/new/work.c$'
try search --trust --trust-known trigrams.blx x
refused 'trusted twice' 'exclude each other'
for rule in trigrams words; do
    try index -q -o $rule.blx --update
    silent "an update by $rule"
done
compare 'after an update' -j2
find t -exec touch -d '2021-01-01' {} +
sleep 0.1
try search --stats words.blx -F nowhere_at_all
check 'all that was touched counts as changed' \
    grep -Eq 'files: ([0-9]+); new or changed: \1$' err
index_all
compare 'and made anew' --trust

# ---- What is said beside -----------------------------------------------------

try search trigrams.blx lazy
out_is 'a line' 0 't/a:lazy dog_1\n'
try search --no-filename trigrams.blx lazy
out_is 'without names' 0 'lazy dog_1\n'
try search --json trigrams.blx lazy
out_is 'a line as JSON' 0 \
    '{"file":"t/a","number":2,"selected":true,"text":"lazy dog_1"}\n'
try search --json -o -A1 trigrams.blx lazy
refused 'no lines beside matches' 'excludes'
try search --json -B1 trigrams.blx lazy
out_is 'and one beside it' 0 '{"file":"t/a","number":1,"selected":false,"text":"The quick fox"}\n{"file":"t/a","number":2,"selected":true,"text":"lazy dog_1"}\n'
try search --json -l trigrams.blx lazy
out_is 'a name as JSON' 0 '{"file":"t/a"}\n'
try search --json -a -m 1 trigrams.blx 'QUICK.one'
out_is 'what is no text as JSON' 0 \
    '{"file":"t/deep/binary","number":1,"selected":true,"text":"a QUICK\\u0000one"}\n'
try search --json -c trigrams.blx 'lazy dog_1'
out_has 'counts as JSON' 0 '^{"file":"t/a","count":1}$'
try search --json -Z trigrams.blx lazy
refused 'two ways to end a name' '--json excludes'
try search -q trigrams.blx lazy
silent 'quietly'
try search -q trigrams.blx nowhere_at_all
out_is 'quietly, and there is none' 1 ''
try search -l trigrams.blx 'and quick'
out_is 'a file that is no text' 0 't/deep/binary\n'
try search trigrams.blx 'and quick'
note 'it has a match' "'t/deep/binary' is no text"
try search --stats trigrams.blx 'lazy dog_1'
check 'little is read' grep -Eq 'candidates: 1; files read: 1, of them in vain: 0' err
try search --stats trigrams.blx '[0-9]'
check 'no text is known' grep -q 'all files are read' err
# The state of a file whose time is to come is never known.
touch -d tomorrow t/a
try index -q -o packed.blx -r t
sed 's/^The/the/' t/a >ways/a && cat ways/a >t/a && touch -d tomorrow t/a
try search --trust packed.blx 'the quick'
out_is 'changed, with a time to come' 0 't/a:the quick fox\n'
printf 'The quick fox\nlazy dog_1\n' >t/a && touch -d 2020-01-01 t/a
gzip -k t/a t/deep/utf && mv t/a.gz t/deep/packed
try index -q -o packed.blx -r t
try search -l packed.blx 'lazy dog'
out_is 'what is compressed' 0 't/a\nt/deep/packed\n'
try search -n packed.blx 'M.*ller'
out_is 'and its lines' 0 't/deep/utf:1:before “quoted” and café Müller\nt/deep/utf.gz:1:before “quoted” and café Müller\n'
try index -q -o plain.blx --no-decompress -r t
try search -l plain.blx 'lazy dog'
out_is 'unless it is taken as it is' 0 't/a\n'
rm t/deep/packed t/deep/utf.gz
try search -l --trust packed.blx 'lazy dog'
out_is 'a file that is gone, trusted' 0 't/a\n'
try search -l packed.blx 'lazy dog'
out_is 'a file that is gone' 0 't/a\n'
mv t/a a && mkfifo t/a
try search --trust packed.blx 'lazy dog'
refused 'a pipe in its place' "'t/a' is no ordinary file: make the index again"
rm t/a && mv a t/a
try index -q -o t/own.blx -r t
try search -L t/own.blx ''
out_is 'the index is no file of it' 0 't/empty\n'
rm t/own.blx

# A line of more than 64 MiB; what comes before it is found.
mkdir -p huge
{ echo 'a needle' && head -c 70000000 /dev/zero | tr '\0' x; } >huge/line
{ echo 'another needle' && head -c 70000000 /dev/zero; } >huge/zeros
try index -q -o huge.blx -r huge
check 'a line of 70 MB is told' grep -q "'huge/line' has a line of more" err
check 'once' test "$(wc -l <err)" = 1
try search -c huge.blx needle
check 'what is before it is searched' \
    grep -q "'huge/line' has a line of more than 64 MiB" err
check 'zeros are lines' grep -qx 'huge/zeros:1' out
rm -r huge

same F -on -e qu -e quick -e q
same F -oi -e lines -e line -e li -e n
try search --include 'a*' --include '*.blx' -l trigrams.blx lazy
out_is 'of these names only' 0 't/a\n'
try search --include '*.c' -l trigrams.blx lazy
out_is 'of no such name' 1 ''
try search --exclude '[a-m]' -l trigrams.blx 'quick|QUICK'
check 'not of this name' grep -vqx t/a out
printf '\037\213x' >t/broken.gz
try search -l trigrams.blx 'lazy dog'
check 'what cannot be decompressed is told' grep -q "'t/broken.gz'" err
try search -s -l trigrams.blx 'lazy dog'
check 'or not' test ! -s err
check 'but it shows' test "$(cat status)" = 2
rm t/broken.gz

# Rows that are damaged hide nothing.
size=$(wc -c <trigrams.blx)
for at in 200 $((size / 8)) $((size / 4)) $((size / 3)); do
    cp trigrams.blx hurt.blx
    head -c 3000 /dev/zero |
        dd of=hurt.blx bs=1 seek="$at" conv=notrunc 2>/dev/null
    for pattern in quick 'lazy dog' lines_next; do
        wanted F -e "$pattern"
        "$BLOOMERY" search -F hurt.blx -e "$pattern" >out 2>err
        if [ $? -eq 2 ]; then
            check "damage at $at: $pattern" grep -q 'is damaged' err
        else
            check "damage at $at, unseen: $pattern" cmp want out
        fi
    done
    try check hurt.blx
    refused "damage at $at is found" 'is damaged, or cut short'
    cp hurt.blx before.blx
    find t -name select.c -exec touch {} +
    try index -q -o hurt.blx --update
    refused "and not taken over, at $at" 'is damaged, or cut short'
    check "the file is as it was, at $at" cmp before.blx hurt.blx
done
try check trigrams.blx
out_is 'an index that is whole' 0 'trigrams.blx: ok\n'

# ---- Refused -----------------------------------------------------------------

try search trigrams.blx
refused 'no pattern' 'takes an INDEX and a PATTERN'
try search -e a trigrams.blx b
refused 'a pattern too many' 'takes an INDEX only'
try search trigrams.blx 'a(b'
refused 'a pattern that is wrong' "'a\(b' is wrong at its byte 3: .*-F takes it"
try search trigrams.blx -e 'a' -e 'b)'
refused 'one of two' "'b\)' is wrong"
try search -l -c trigrams.blx a
refused 'two ways to print' 'exclude each other'
try search -o -C1 trigrams.blx a
refused 'matches have no lines beside them' 'excludes -A, -B and -C'
try search -m 0 trigrams.blx a
refused 'no lines at all' 'at least 1: give one'
try search t/a a
refused 'no index' 'index'
try search none.blx a
refused 'no file' 'No such file'
try index -q -o lines.blx --by lines -r t
try search lines.blx a
refused 'an index of another kind' 'by lines, .*: make an index by trigrams or words'
cp trigrams.blx ways/
cd ways || exit 1
try search trigrams.blx a
refused 'another folder' 'go there'
try search --from .. -l trigrams.blx 'lazy'
out_is 'another folder that is named' 0 't/a\n'
try search --from nowhere -l trigrams.blx 'lazy'
refused 'a folder that is not there' "cannot go to 'nowhere'"
try index -q -o all.blx -r "$PWD/../t"
cd ..
try search -l ways/all.blx lazy
out_is 'absolute names, from anywhere' 0 "$PWD/ways/../t/a\n"
(cd t && "$BLOOMERY" index -q -o ../ways/all.blx --update) || exit 2
printf 't/a\0' >list
try index -q -o list.blx --files0-from list
try search list.blx lazy
out_is 'a list of files' 0 't/a:lazy dog_1\n'
sed 's/lazy/busy/' t/a >ways/a && cat ways/a >t/a
try search list.blx busy
out_is 'one of them has changed' 0 't/a:busy dog_1\n'
printf 'The quick fox\nlazy dog_1\n' >t/a
try search --trust list.blx lazy
out_is 'which trust does without' 0 't/a:lazy dog_1\n'
awk 'BEGIN { for (i = 0; i < 60; i++) printf "a"; print "b" }' >t/hard
try index -q -o hard.blx t/hard
echo aaac >t/easy
try index -q -o hard.blx t/hard t/easy
try search -j1 hard.blx '(a|aa)+c|^(a+)+$'
check 'other files are searched all the same' grep -qx 't/easy:aaac' out
check 'and it is an error' test "$(cat status)" = 2
try search hard.blx '^(a|aa)+$'
refused 'a pattern that never ends' 'too much for the pattern .*: make the pattern simpler'

finish
