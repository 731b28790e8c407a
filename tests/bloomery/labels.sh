# labels.sh - build -l, get, put: keys with labels.
# shellcheck source=lib.sh
. "$1/lib.sh"

# A rate too low for false positives to disturb tests.
build() {
    try build -k bloomier -p 1e-9 "$@"
}

printf 'alice\t7\nbob\t0\ncarol\t0x2a\n' >map
printf 'bob\nmallory\ncarol\nalice\n' >ask

# ---- build, get -------------------------------------------------------------
build -l 2 -o m.bly map
silent 'build with labels'
build -l 2 -o none.bly ask
refused 'no line has a label' 'no line has a key: .*: check -l and -t$'
build -l 2 -f 1 -o none.bly ask
refused 'nor a label for its column' 'no line has a key: .*: check -f, -l, -t and --csv$'
try get m.bly ask
out_is 'get: those that are there, in their order' 0 '0\tbob\n42\tcarol\n7\talice\n'
printf 'mallory\ntrudy\n' | try get m.bly
out_is 'get of none that is there: status 1' 1 ''
printf 'x,alice\nx,zoe\nlonely\nx,bob' | try get -f 2 -t , m.bly
out_is 'get by a column; no key, no line; the last without its end' 0 \
    '7\tx,alice\n0\tx,bob'
printf 'bob\0alice\0' | try get -0 m.bly
out_is 'get -0' 0 '0\tbob\00007\talice\0'
try get --json m.bly ask
check 'get as JSON' sh -c 'grep -q "\"keys\": *4" out &&
    grep -q "\"present\": *3" out && ! grep -q sum out'
try get m.bly missing ask
status_is 'get: a missing file is an error' 2
check 'and the others are asked' sh -c 'test "$(wc -l <out)" -eq 3'
try query -c m.bly ask
out_is 'query works as for any kind' 0 '3\n'
try build --json -k bloomier:bits=6 -l 2 -o j.bly map
check 'the report tells the bits' grep -q '"label_bits": *6' out

# ---- which columns ----------------------------------------------------------
try get m.bly ask
cp out pairs
build -l 1 -o back.bly pairs
silent 'output of get can be built again'
try get back.bly ask
check 'with the same labels' cmp out pairs
printf 'one two\t3\nfour\tfive\t6\n' >rest
build -l 2 -o r.bly rest
refused 'a label is looked for in its column' "line 2 of 'rest': 'five' is not"
printf 'a,b,5,c\nd,e,6\n' >commas
build -l 3 -t , -o c.bly commas
silent 'build: the key is all before the label'
printf 'a,b\nd,e\na\n' | try get c.bly
out_is 'get: so it is' 0 '5\ta,b\n6\td,e\n'
build -l 3 -f 1 -t , -o c.bly commas
printf 'a\nd\na,b\n' | try get c.bly
out_is 'or just the column of -f' 0 '5\ta\n6\td\n'
printf '9\n8\tkey\tmore\n7\t\n' >first
build -l 1 -o f.bly first
note 'a label without a key is skipped' '1 line has no such column'
printf 'key\tmore\n\n9\n' | try get f.bly
out_is 'the key is all behind the label, or empty' 0 '8\tkey\tmore\n7\t\n'

# ---- invalid labels ---------------------------------------------------------
# bad NAME REGEX TEXT: these lines are refused.
bad() {
    printf '%b' "$3" >wrong
    try build -k bloomier:bits=8 -l 2 -o no.bly map wrong
    refused "$1" "$2"
    check "$1: nothing is written" [ ! -e no.bly ]
}
bad 'a label that is a word' "line 3 of 'wrong': 'x' is not a label" \
    'a\t1\nb\t2\nc\tx\nd\ty\n'
bad 'an empty one' "line 1 of 'wrong': '' is not a label" 'a\t\n'
bad 'a negative one' "'-1' is not" 'a\t-1\n'
bad 'a fraction' "'1.5' is not" 'a\t1.5\n'
bad 'bytes that are no text' "'\\?1' is not" 'a\t\00331\n'
bad 'a hexadecimal one without digits' "'0x' is not" 'a\t0x\n'
bad 'one of 65 bits' 'line 1 .*64 bits' 'a\t18446744073709551616\n'
bad 'one that does not fit' "line 2 of 'wrong': label '256' is not within .* 0 .. 255 " \
    'a\t255\nb\t256\n'
bad 'a key with two labels' 'two different labels' 'a\t1\na\t2\n'
awk 'BEGIN { for (i = 1; i <= 300000; i++) print "key" i "\t" i % 256
             print "last\tword" }' >long
for j in 1 4; do
    try build -k bloomier:bits=8 -l 2 -j $j -o no.bly map long
    refused "the line of a long file, -j $j" "line 300001 of 'long': 'word'"
done
try build -k bloomier:bits=64 -l 2 -o w.bly map
printf 'a\t18446744073709551615\nb\t0xFFFFFFFFFFFFFFFE\n' |
    try build -k bloomier:bits=64 -l 2 -o w.bly
silent 'the largest labels'
printf 'a\nb\n' | try get w.bly
out_is 'come back' 0 '18446744073709551615\ta\n18446744073709551614\tb\n'
sed '$d' long >many
try build -k bloomier:bits=8 -l 2 -j 1 -o one.bly many
try build -k bloomier:bits=8 -l 2 -j 4 -o four.bly many
check 'jobs make no difference to what is built' cmp one.bly four.bly
cut -f 1 many >names
"$BLOOMERY" get -j 1 one.bly names >one
"$BLOOMERY" get -j 4 one.bly names >four
check 'nor to what is printed' cmp one four
check 'every label is right' sh -c \
    'awk -F "\t" "{ print \$2 \"\\t\" \$1 }" many | cmp - one'

# ---- put --------------------------------------------------------------------
printf '8\tbob\n0x10\talice\n9\tbob\n' | try put m.bly
silent 'put takes what get prints'
try get m.bly ask
out_is 'the later label stays' 0 '9\tbob\n42\tcarol\n16\talice\n'
printf 'carol,x,1\nmallory,x,2\n' | try put -f 1 -l 3 -t , m.bly
status_is 'put of a key that is not there: status 1' 1
check 'a note says so' grep -q 'note: 1 key was not in the filter' err
printf 'carol\n' | try get m.bly
out_is 'the others have their labels' 0 '1\tcarol\n'
printf '1\tmallory\n' >absent
cp m.bly before
try put m.bly absent
check 'nothing changed, nothing saved' cmp before m.bly
printf '1\tbob\nx\talice\n' >wrong
keeps 'put of a label that is none' "line 2 of 'wrong': 'x' is not a label" \
    m.bly put m.bly wrong
printf '1\tbob\n4294967296\talice\n' >wrong
keeps 'put of a label that does not fit' "line 2 .*is not within .* 0 .. 4294967295 " \
    m.bly put m.bly wrong
try put --json m.bly absent
check 'put as JSON' grep -q '"absent": *1' out

# ---- keys and labels as they come -------------------------------------------
printf '2\tinner\n1\touter\n1\tinner\n' >areas
try build -k spatial:areas=2 -l 1 -n 10 -o a.bly areas
silent 'build of a kind that takes labels with its keys'
printf 'outer\ninner\nnowhere\n' | try get a.bly
out_is 'a key has the larger of its labels' 0 '1\touter\n2\tinner\n'
printf '2\touter\n1\tnew\n' | try put a.bly
silent 'put adds a key that is not there'
printf 'outer\ninner\nnew\n' | try get a.bly
out_is 'and raises the label of one that is' 0 \
    '2\touter\n2\tinner\n1\tnew\n'
printf '1\touter\n' | try put a.bly
printf 'outer\n' | try get a.bly
out_is 'but lowers none' 0 '2\touter\n'
try info a.bly
check 'info tells the labels' grep -q 'labels  *1 \.\. 2$' out
check 'and shows them one by one' sh -c \
    'grep -q "^ *label  *cells" out && grep -q "^ *1  *[0-9.]*%\? " out &&
     grep -q "^ *2  *[0-9.]" out'
try info --json a.bly
check 'info as JSON' sh -c 'grep -q "\"label_most\": *2" out &&
    grep -q "\"labels\": *\[" out && grep -q "\"mistaken\": *0" out'
try info --json m.bly
check 'a kind that does not tell them has no table' sh -c \
    'grep -q "\"label_most\": *4294967295" out && ! grep -q "\"labels\"" out'
try plan -k approximator -n 1000
check 'plan tells the labels' grep -q 'labels  *1 \.\. 255$' out
try plan --json -k spatial:areas=9 -n 1000
check 'plan as JSON' sh -c 'grep -q "\"label_least\": *1" out &&
    grep -q "\"label_most\": *9" out'
printf '1\ta\n0\tb\n' >wrong
keeps 'put of label 0' "line 2 of 'wrong': label '0' is not within .* 1 .. 2 " \
    a.bly put a.bly wrong
printf '1\ta\n3\tb\n' >wrong
keeps 'put of an area that there is not' "line 2 .*'3' is not within .* 1 .. 2 " \
    a.bly put a.bly wrong
try build -k spatial:areas=2 -l 1 -o no.bly wrong
refused 'build with one' "line 2 of 'wrong': label '3' is not within"
check 'writes nothing' [ ! -e no.bly ]
sed '$d' long | awk -F '\t' '{ print $1 "\t" $2 + 1 }' >most
try build -k approximator:bits=9 -l 2 -j 1 -o one.bly most
silent 'build of many'
try build -k approximator:bits=9 -l 2 -j 4 -o four.bly most
check 'jobs make no difference to labels either' cmp one.bly four.bly
"$BLOOMERY" get one.bly names >one
check 'no label is below what was put' sh -c \
    'paste one most | awk "\$1 < \$4 { bad = 1 } END { exit bad }"'
try build -k approximator -n 10 -o k.bly ask
silent 'build without labels'
printf 'bob\n' | try get k.bly
out_is 'puts label 1' 0 '1\tbob\n'
try build -k approximator -l 2 -o p.bly - <most
status_is 'build from standard input that can be read twice' 2
cut -f 1 most | sed 's/$/\t7/' | try build -k approximator -l 2 -n 1M -o p.bly
silent 'build from a pipe'

# ---- mistakes ---------------------------------------------------------------
try build -n 10 -o s.bly ask
try get s.bly ask
refused 'get of a kind without labels' 'stores no labels'
keeps 'put into a kind without labels' "stores no labels: the kinds that can 'label' are bloomier, " s.bly put s.bly pairs
try build -l 2 -o x.bly map
refused 'build -l of a kind without labels' 'standard stores no labels'
try build -k bloomier:bits=65 -l 2 -o x.bly map
refused 'a wrong option is told' 'bits=65'
try get
refused 'get without a file' 'FILE to query is missing'
try get - - <m.bly
refused 'get with everything from stdin' 'both'
try put
refused 'put without a file' 'FILE to change is missing'
try put - <pairs
refused 'put into a pipe' 'pipe'
try get -t , m.bly ask
refused 'get -t without -f' '-f'
# ---- what help says ----------------------------------------------------------
for command in build put info; do
    try $command --help
    out_has "$command --help names attenuated" 0 'attenuated'
done
finish
