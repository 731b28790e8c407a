# values.sh - indexes by members of JSON and by columns, compared with values.py;
# notes about lines without a value, Parquet and ORC files, updates, and refusals.
# shellcheck source=lib.sh
. "$1/lib.sh"
here=$(dirname "$0")
oracle() { python3 "$here/values.py" "$@"; }

json=there
try index -q -o none.blx --by json-field=a "$here/values.py"
! grep -q 'is not built into' err || json=''
try index -q -o words.blx --by words "$here/values.py"

# ---- Random files ------------------------------------------------------------

for seed in $(seq "$(work 20 2)"); do
    mkdir "t$seed"
    oracle make "$seed" "t$seed"
    for kind in ${json:+json} csv; do
        what=$(oracle compare "t$seed" "$BLOOMERY" "$kind" "$(work 100 40)" 2>&1) \
            && what=''
        name="every record with a value, $kind, seed $seed"
        if [ -z "$what" ]; then pass "$name"; else fail "$name" "$what"; fi
    done
done

# which_is NAME INDEX NAMES NAME=VALUE...: exactly these documents.
which_is() {
    which_name=$1 which_index=$2 which_want=$3
    shift 3
    for given; do
        set -- "$@" --field "$given"
        shift
    done
    try which "$which_index" "$@"
    out_is "$which_name" "$([ -n "$which_want" ] && echo 0 || echo 1)" \
        "$which_want"
}

# ---- Members -----------------------------------------------------------------

if [ -n "$json" ]; then
    mkdir logs
    cat >logs/a.jsonl <<'END'
{"trace_id":"ab12","user":{"id":7},"ok":true}
{"trace_id":"caf\u00e9","user":{"id":7.0},"list":[1]}
oops
{"trace_id":null}
{"trace_id":"one","trace_id":"two"}
END
    echo '{"trace_id":"zz","a=b":"c=d"}' | gzip -c >logs/b.jsonl.gz
    find logs -exec touch -d '2020-01-01' {} +
    try index -o m.blx --by 'json-field=trace_id,/user/id,a=b' -r logs
    check 'a line that is not JSON is told' grep -q \
        "note: 1 line is not a JSON object: the first is line 3 of 'logs/a.jsonl'" \
        err
    check 'lines without a member are counted' grep -q \
        "note: 1 line has no value of the member 'trace_id'" err
    try info m.blx
    out_has 'info: the rule' 0 '^  by         json-field$'
    out_has 'info: the names' 0 '^  name       trace_id, /user/id, a=b$'
    try info --json m.blx
    out_has 'info: JSON' 0 '"name=trace_id"'
    which_is 'a string' m.blx 'logs/a.jsonl\n' trace_id=ab12
    which_is 'a string with an escape' m.blx 'logs/a.jsonl\n' \
        "$(printf 'trace_id=caf\303\251')"
    which_is 'a place' m.blx 'logs/a.jsonl\n' /user/id=7
    which_is 'a number as it is written' m.blx 'logs/a.jsonl\n' /user/id=7.0
    which_is 'and in no other way' m.blx '' /user/id=7e0
    which_is 'a value of another member' m.blx '' trace_id=7
    which_is 'no null' m.blx '' trace_id=null
    which_is 'of equal names the last' m.blx 'logs/a.jsonl\n' trace_id=two
    which_is 'and not the first' m.blx '' trace_id=one
    which_is 'a compressed file' m.blx 'logs/b.jsonl.gz\n' trace_id=zz
    which_is 'a name with an equals sign' m.blx 'logs/b.jsonl.gz\n' 'a=b=c=d'
    which_is 'both values' m.blx 'logs/a.jsonl\n' trace_id=ab12 /user/id=7.0
    which_is 'not both' m.blx '' trace_id=zz /user/id=7
    try which --any m.blx --field trace_id=zz --field /user/id=7
    out_is 'either value' 0 'logs/a.jsonl\nlogs/b.jsonl.gz\n'
    try which --json --any m.blx --field trace_id=zz
    out_has 'JSON' 0 '"file": *"logs/b.jsonl.gz"'

    # A file that grows is as it was indexed until an update.
    echo '{"trace_id":"grown"}' >>logs/a.jsonl
    which_is 'what was there' m.blx 'logs/a.jsonl\n' trace_id=ab12
    which_is 'what is not yet indexed' m.blx '' trace_id=grown
    rm logs/b.jsonl.gz
    sleep 0.1
    try index -o m.blx --update --json
    out_has 'an update reads what has changed' 0 '"read": 1'
    out_has 'and counts its lines' 0 '"lines": 6'
    out_has 'the broken ones, too' 0 '"not_objects": 1'
    out_has 'and those without a member' 0 '"trace_id": 1'
    which_is 'what is new' m.blx 'logs/a.jsonl\n' trace_id=grown
    which_is 'what is gone' m.blx '' trace_id=zz
    which_is 'what has stayed' m.blx 'logs/a.jsonl\n' /user/id=7

    try index -q -o typo.blx --by json-field=trase_id -r logs
    check 'a member that no line has' grep -q \
        "warning: no line has a value of the member 'trase_id': check its name: the members are trace_id" err
    check 'with status 0' test "$(cat status)" = 0
    echo 'no JSON' >text
    try index -q -o typo.blx --by json-field=trace_id text
    note 'no line is JSON' "1 line is not a JSON object"

    try which m.blx ab12
    refused 'words, in an index of members' \
        "index by json-field: give a value .* --field trace_id=VALUE"
    try which m.blx --field trace=ab12
    refused 'a member that is not indexed' \
        "no values of 'trace': give NAME=VALUE, where NAME is trace_id, /user/id"
    try which m.blx --field trace_id
    refused 'no value' "'trace_id' has no value: give NAME=VALUE"
    try which m.blx --field trace_id=ab12 word
    refused 'a value and words' 'takes only an INDEX'
    try which m.blx --at-least 0.5 --field trace_id=ab12
    refused 'a share of values' 'at-least'
    try which --sequences m.blx text
    refused 'sequences' 'is an index of json-field: --sequences needs one'
    if "$BLOOMERY" --help | grep -q '^ *search '; then
        try search m.blx ab12
        refused 'a search' 'index by json-field.*make one by trigrams or words'
    fi
    keeps 'an empty name' 'names no member: give' m.blx \
        index -o m.blx --by json-field= text
    keeps 'a pointer that is none' 'is not a JSON pointer: in' m.blx \
        index -o m.blx --by json-field=/a~ text
    keeps 'a separator' 'are for columns: give --by column' m.blx \
        index -o m.blx --by json-field=a -t ';' text
fi
keeps 'no name' 'has no name: give json-field=NAME' words.blx \
    index -o words.blx --by json-field text
keeps 'names of words' 'has no names: leave out' words.blx \
    index -o words.blx --by words=a text
keeps 'a name twice' 'a name twice: list it once' words.blx \
    index -o words.blx --by column=a,b,a text
keeps 'seventeen names' 'more than 16 names: make' words.blx \
    index -o words.blx --by column=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q text
try which words.blx --field a=b
refused 'a value, in an index of words' 'index by words, which has no --field: give'

# ---- Columns -----------------------------------------------------------------

printf 'id,name,x\r\n1,"a,b",3\r\n2,"two\nlines ""q""",4\r\n3\r\n' >c.csv
printf 'id\tname\n5\t"q"\n' >d.tsv
: >empty.csv
try index -o c.blx --by column=id,name c.csv d.tsv empty.csv
check 'a row that is too short is told' grep -q \
    "note: 1 line has too few columns: the first is line 5 of 'c.csv'" err
which_is 'a column' c.blx 'c.csv\n' id=1
which_is 'the separator in quotes' c.blx 'c.csv\n' name=a,b
which_is 'a newline and quotes in quotes' c.blx 'c.csv\n' \
    "$(printf 'name=two\nlines "q"')"
which_is 'what a short row has' c.blx 'c.csv\n' id=3
which_is 'a file with TABs, by its name' c.blx 'd.tsv\n' id=5
which_is 'its quotes are ordinary' c.blx 'd.tsv\n' 'name="q"'
which_is 'no header' c.blx '' name=name
printf 'id;name\n6;"a;b"\n' >e.csv
try index -q -o e.blx --by column=name -t ';' e.csv
silent 'another separator'
which_is 'a column between semicolons' e.blx 'e.csv\n' 'name=a;b'
cp d.tsv d.txt
try index -q -o d.blx --by column=name --tsv d.txt
silent 'TABs in a file of another name'
which_is 'a column between TABs' d.blx 'd.txt\n' 'name="q"'
echo 'extra	one' >>d.txt
try index -q -o d.blx --update
silent 'an update knows how columns are separated'
which_is 'a new row' d.blx 'd.txt\n' name=one

# broken NAME MESSAGE TEXT: told, and the rest is indexed.
broken() {
    printf '%b' "$3" >broken.csv
    try index -q -o broken.blx --by column=id broken.csv c.csv
    refused "$1" "$2"
    try which broken.blx --field id=1
    uncovered "$1"
    out_is "$1: the rest is there" 0 'c.csv\n'
}
broken 'a column that is missing' \
    "no column 'id': did you mean 'idd'.*index does not cover this file" \
    'idd,name\n1,2\n'
broken 'the wrong separator' 'only one column, and it is not' 'id;name\n1;2\n'
broken 'a column that is there twice' \
    "two columns 'id': rename one .* header.*index does not cover this file" \
    'id,id\n1,2\n'
broken 'lines that end with CR' 'end with CR alone: end them' 'id,x\r1,2\r'
broken 'a quote that is never closed' \
    "line 3 of 'broken.csv' opens a quote that is never closed: the index" \
    'id\n5\n"6\n7\n'
try which broken.blx --field id=5
uncovered 'the end'
out_is 'what is before the quote' 0 'broken.csv:0\n'
broken 'a closing quote within a column' "line 2 of 'broken.csv' is not CSV" \
    'id,x\n"6"7,8\n'
keeps 'two rules' '--by is given once' c.blx \
    index -o c.blx --by column=id --by column=name c.csv
keeps 'a quote as separator' '-t must be another byte' c.blx \
    index -o c.blx --by column=id -t '"' c.csv

# ---- Parquet and ORC files ---------------------------------------------------

# from_corpus NAME FILE: writes a file with filters inside.
from_corpus() {
    grep -v '^#' "$(dirname "$BLOOMERY")/corpus/container-$1.hex" |
        tr -d '\n ' | fold -w 2 | awk '{ d = "0123456789abcdef"
            v = 16 * (index(d, substr($0, 1, 1)) - 1) \
              + index(d, substr($0, 2, 1)) - 1
            printf "\\0%03o", v }' >octal
    printf '%b' "$(cat octal)" >"$2"
}
# Its columns are numbers x and texts s of 100 rows.
from_corpus orc rows.orc
try index -q -o orc.blx --by column=x,s rows.orc
silent 'an ORC file'
which_is 'a row of it' orc.blx 'rows.orc\n' x=-50000000 s=text-0
which_is 'numbers and texts that it lacks' orc.blx '' x=7 s=other
# This file has a column `a` with the keys k0 and k1.
from_corpus measured a.parquet
printf 'a\nk0\n' >k.csv
find . -name '[ak].*' -exec touch -d '2020-01-01' {} +
sleep 0.1
try index -q -o p.blx --by column=a a.parquet k.csv
silent 'a Parquet file'
which_is 'what both have' p.blx 'a.parquet\nk.csv\n' a=k0
which_is 'what its filter has' p.blx 'a.parquet\n' a=k1
which_is 'what no filter has' p.blx '' a=other
which_is 'two values of a row group' p.blx 'a.parquet\n' a=k0 a=k1
which_is 'one of them is not there' p.blx '' a=k1 a=other
try which --any p.blx --field a=k1 --field a=other
out_is 'but either' 0 'a.parquet\n'
try index -q -o p.blx --update --json
out_has 'an update keeps it' 0 '"read": 0'
# Its type is INT64 instead of BYTE_ARRAY.
printf '%b' "$(sed 's/\\0026\\0014\\0031/\\0026\\0004\\0031/' octal)" >int.parquet
try index -q -o int.blx --by column=a int.parquet
silent 'a column of numbers'
which_is 'a number' int.blx '' a=7
try which int.blx --field a=k0
refused 'what is not a number' "'k0' is not a value of the form int64.*: check"
(cd logs 2>/dev/null || cd t1 || exit
    "$BLOOMERY" which ../p.blx --field a=k1) >out 2>err
echo $? >status
refused 'from another folder' 'run the command there'
mv a.parquet gone
try which p.blx --field a=k0
check 'a file that is gone is told' grep -q 'a.parquet: cannot open' err
check 'the others are named' grep -qx k.csv out
check 'and the status is 2' test "$(cat status)" = 2
mv gone a.parquet
try index -q -o p2.blx --by column=b a.parquet
refused 'a column that is not there' "no column 'b': the columns with filters"
# Two columns of these row groups have the same name.
for value in x p q z r w; do
    echo "$value" | "$BLOOMERY" build -k parquet -n 100 -o "$value.filter" 2>err
done
python3 "$here/parquet.py" twins.parquet a.b=x.filter a/b=p.filter c=q.filter \
    + a.b=z.filter a/b=r.filter c=w.filter
try index -q -o twins.blx --by column=a.b,c twins.parquet
silent 'two columns of one name'
for row in 'x q' 'p q' 'z w' 'r w'; do
    which_is "a row of either: $row" twins.blx 'twins.parquet\n' \
        "a.b=${row% *}" "c=${row#* }"
done
for row in 'x w' 'p w' 'z q' 'r q'; do
    which_is "no row of either: $row" twins.blx '' \
        "a.b=${row% *}" "c=${row#* }"
done
finish
