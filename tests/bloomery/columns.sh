# columns.sh - keys in columns: several, by number or by name, separated by TABs
# or runs of blanks. csv.sh covers quoted columns.
# shellcheck source=lib.sh
. "$1/lib.sh"

printf '1\tred\tx\n2\tgreen\ty\n1\tred\tz\n3\n' >table.tsv

# ---- lists ------------------------------------------------------------------
try dedup -f 1,2 table.tsv
check 'two columns: the first of each pair' \
    [ "$(cut -f 3 out | tr '\n' ' ')" = 'x y 3 ' ]
check 'a line that lacks one has no key' grep -q '1 line has no such' err
printf 'x\t1\nred\t1\n' >turned.tsv
printf '1\tred\nz\t1\n' >lines
try build -p 1e-9 -o pairs.bly lines
try query -f 2,1 pairs.bly turned.tsv
out_is 'the key is the line that the columns make, in their order' 0 'red\t1\n'
for list in 1,2,3 1-3 1-2,3 1,2-3; do
    try query -c -f "$list" pairs.bly table.tsv
    out_is "-f $list: all of a line" 1 '0\n'
done
try build -p 1e-9 -o whole.bly table.tsv
try query -c -f 1-3 whole.bly table.tsv
out_is 'a range of all columns is the line' 0 '3\n'
try query -c -f 3-3 whole.bly table.tsv
out_is 'a range of one column' 1 '0\n'
printf 'a,b;c\nA,b;c\n' >mixed
try dedup -t ';' -f 1,2 -i mixed
out_is 'several columns, without case' 0 'a,b;c\n'
printf 'RED\t1 \n' >spaced
try build -p 1e-9 --as any -o any.bly lines
try query -i -f 2,1 any.bly spaced
out_is 'no such pair' 1 ''
try query -i --trim -f 2,1 any.bly spaced
out_is '--trim, within the line that they make' 0 'RED\t1 \n'
try build -p 1e-9 -i --trim -o folded.bly lines
printf ' 1\tRED\tz\n' >spaced
try query -f 1,2 folded.bly spaced
out_is '--trim and -i of both' 0 ' 1\tRED\tz\n'
printf 'x\t\tp\n\tx\tq\n x\t \tr\n' >empty
try dedup --trim -f 1,2 empty
out_is '--trim takes no TAB that is between columns' 0 'x\t\tp\n\tx\tq\n'
printf 'Ann ,Smith\nAnn,Smith\nAnn, Smith\n' >names
try dedup --trim -t , -f 1,2 names
out_is '--trim of each of several columns' 0 'Ann ,Smith\n'
printf '" a;b ";c\n"a;b"; c\n" a ";c\na;"c "\n' >quoted
try dedup --trim --csv -t ';' -f 1,2 quoted
out_is '--trim of each, also of what is in quotes' 0 '" a;b ";c\n" a ";c\n'
try dedup --csv -t ';' -f 1,2 quoted
check 'without --trim all differ' cmp -s out quoted
seq 1 64 | tr '\n' '\t' >wide
try dedup -f 1-64 wide
check '64 columns' [ "$(cat status)" = 0 ]

bad_list() {
    try dedup -f "$1" table.tsv
    refused "-f '$1'" "$2"
}
bad_list 0 'has a column 0: the first column is 1'
bad_list 1,0 'has a column 0'
bad_list '' 'has a column without'
bad_list 1,,2 'has a column without'
bad_list 1, 'has a column without'
bad_list 3-1 'a descending range'
bad_list 2- 'a range without both ends'
bad_list -2 'a range without both ends'
bad_list 1-2-3 'a range without both ends'
bad_list 1,2,1 'lists a column twice'
bad_list 2-4,3 'lists a column twice'
bad_list a,b,a 'lists a column twice'
bad_list 1-65 'more than 64 columns'
bad_list 99999999999999999999 'a column number that is too large'
try put -l 1,2 pairs.bly table.tsv
refused 'two labels' '-l .1,2. is more than one column: '

# ---- names ------------------------------------------------------------------
printf 'id\temail\tcolour\n1\ta@x\tred\n2\tb@x\tred\n3\ta@x\tblue\n' >a.tsv
printf 'colour\tid\nred\t4\ngreen\t5\n' >b.tsv
printf 'a@x\n' >emails
printf 'red\n' >reds
try build -p 1e-9 -o emails.bly emails
try build -p 1e-9 -o reds.bly reds
try query -f email emails.bly a.tsv
out_is 'a name implies the header, which is printed' 0 \
    'id\temail\tcolour\n1\ta@x\tred\n3\ta@x\tblue\n'
try query --header -f 2 emails.bly a.tsv
out_is 'a number with --header' 0 \
    'id\temail\tcolour\n1\ta@x\tred\n3\ta@x\tblue\n'
try query --tsv -f 2 emails.bly a.tsv
out_is 'without it the first line is a line' 0 '1\ta@x\tred\n3\ta@x\tblue\n'
try query -c -f colour reds.bly a.tsv b.tsv
out_is 'a name is looked up in each file; -c counts no header' 0 '3\n'
try query -f id emails.bly a.tsv
out_is 'the header also where nothing is selected' 1 'id\temail\tcolour\n'
try query -q -f email emails.bly a.tsv
silent '-q prints no header'
try query -f colour reds.bly a.tsv a.tsv
out_is 'the header of two files comes once' 0 \
    'id\temail\tcolour\n1\ta@x\tred\n2\tb@x\tred\n1\ta@x\tred\n2\tb@x\tred\n'
try query -f colour reds.bly a.tsv b.tsv
check 'files of different headers: status 2' [ "$(cat status)" = 2 ]
check 'files of different headers: said' \
    grep -q "the header of 'b.tsv' differs from .*: process files" err
try dedup -f colour a.tsv b.tsv
refused 'dedup of files of different headers' "the header of 'b.tsv' differs"
try build -p 1e-9 -o x.bly -f colour a.tsv b.tsv
silent 'build takes files of different headers'
printf 'red\nred\nblue\nred\ngreen\n' >colours
try build -p 1e-9 -o y.bly colours
try build -p 1e-9 -o x.bly -f colour a.tsv b.tsv
check 'build: the keys of both' cmp -s x.bly y.bly
# shellcheck disable=SC2002
cat b.tsv | "$BLOOMERY" build -n 5 -p 1e-9 -o x.bly -f colour a.tsv -
try build -n 5 -p 1e-9 -o y.bly colours
check 'build: one of them from a pipe' cmp -s x.bly y.bly

try query -f emial emails.bly a.tsv
refused 'a name that is not there' \
    "'a.tsv' has no column 'emial': did you mean 'email'\\? .*id, email, colour"
try query -f price emails.bly a.tsv
refused 'a name like no other' \
    "'a.tsv' has no column 'price': its columns are: id, email, colour"
try query -f Email emails.bly a.tsv
refused 'a name in another case' "no column 'Email': did you mean 'email'\\?"
try query --Count emails.bly a.tsv
refused 'an option in another case' "did you mean '--count'"

# ---- a header that is cut in the wrong places --------------------------------
# apart_is HEADER HINT OPTIONS...: the error says which options cut it.
apart_is() {
    printf '%b\n1\n' "$1" >header
    hint=$2
    shift 2
    try dedup "$@" -f email header
    refused "a header for $hint, read with $*" \
        "only one column, and it is not 'email': use $hint to split it: "
}
apart_is 'id,email' --csv --tsv
apart_is 'id,email' --csv --blanks
apart_is 'id,email' '-t ,' -t ';'
apart_is 'id,email' '-t ,' --csv -t ';'
apart_is 'id;email' "--csv -t ';'" --tsv
apart_is 'id;email' "-t ';'" --csv
apart_is 'id|email' "-t '.'" --csv
apart_is 'id\temail' --tsv -t ,
apart_is 'id\temail' "-t '.t'" --csv

# ---- names in quotes ---------------------------------------------------------
printf '2019,"Last, First",id\n1,"a, b",7\n1,"a, c",8\n2,"a, b",9\n' >odd.csv
try dedup --csv -f '"2019"' odd.csv
out_is 'a name of digits' 0 '2019,"Last, First",id\n1,"a, b",7\n2,"a, b",9\n'
try dedup --csv -f '"Last, First"' odd.csv
out_is 'a name with a comma' 0 '2019,"Last, First",id\n1,"a, b",7\n1,"a, c",8\n'
try dedup --csv -f 'id,"Last, First","2019"' odd.csv
check 'several of them' cmp -s out odd.csv
try dedup --csv -f Last odd.csv
refused 'they are listed so' 'columns are: "2019", "Last, First", id$'
try dedup --csv -f '"id' odd.csv
refused 'a quote that does not close' "no column '\"id': did you mean 'id'"
printf 'a,"x""y","p,""q"\n1,2,3\n4,2,3\n' >doubled.csv
for name in '"x""y"' 'x"y' '"p,""q"' '"x""y","p,""q"'; do
    try dedup --csv -f "$name" doubled.csv
    out_is "a quote in a name: -f $name" 0 'a,"x""y","p,""q"\n1,2,3\n'
done
try dedup --csv -f b doubled.csv
refused 'a name with a quote is listed so' 'are: a, "x""y", "p,""q"$'
printf 'x;"id"\n1;2\n3;2\n' >raw
try dedup -t ';' -f '"id"' raw
out_is 'quotes that are in the name' 0 'x;"id"\n1;2\n'
seq 1000 2000 | tr '\n' '\t' >long.tsv
try query -f price emails.bly long.tsv
refused 'lists the first of many names' '"1000", "1001", .*, \.\.\.$'
printf 'id\tid\tx\n1\t2\t3\n' >twice.tsv
try query -f id emails.bly twice.tsv
refused 'a name that is there twice' "two columns 'id': .* 1 or 2"
try query -f 2,email emails.bly a.tsv
refused 'a column by number and by name' 'column 2 of .* list it once'
try query -f 'price	x' emails.bly <a.tsv
refused 'standard input has no such column' 'standard input has no column'

# ---- headers ----------------------------------------------------------------
printf 'id\temail\n' >head.tsv
: >empty
for way in '' '-c' '-d'; do
    # shellcheck disable=SC2086  # an option or none
    try dedup $way -f email head.tsv
    want='id\temail\n'
    [ "$way" != -c ] || want='count\tid\temail\n'
    out_is "dedup $way of a header" 0 "$want"
    # shellcheck disable=SC2002,SC2086
    cat head.tsv | try dedup $way -f email
    out_is "dedup $way of a header, from a pipe" 0 "$want"
done
try dedup -f email empty head.tsv
out_is 'an empty file has no header' 0 'id\temail\n'
printf 'id\temail' >unended.tsv
try dedup -f email unended.tsv a.tsv
refused 'a header without an end is compared' "the header of 'a.tsv' differs"
try dedup -f email unended.tsv head.tsv
out_is 'and gets one' 0 'id\temail\n'
printf '\357\273\277email\tid\na@x\t1\n' >bom.tsv
try query -f email emails.bly bom.tsv
out_is 'a byte order mark is no part of a name' 0 'email\tid\na@x\t1\n'
printf 'id\temail\r\n1\ta@x\r\n' >dos.tsv
try query --crlf -f email emails.bly dos.tsv
out_is 'nor is a CR at its end' 0 'id\temail\r\n1\ta@x\r\n'
printf 'id\temail\0001\ta@x\000' >nul.tsv
try query -0 -f email emails.bly nul.tsv
out_is 'a header that ends with NUL' 0 'id\temail\00001\ta@x\0000'
try dedup --approximate -p 1e-9 -f colour a.tsv
out_is 'dedup --approximate' 0 'id\temail\tcolour\n1\ta@x\tred\n3\ta@x\tblue\n'
for way in cat pipe; do
    if [ $way = cat ]; then
        try dedup -f colour a.tsv
    else
        # shellcheck disable=SC2002
        cat a.tsv | try dedup -f colour
    fi
    out_is "dedup by name, $way" 0 \
        'id\temail\tcolour\n1\ta@x\tred\n3\ta@x\tblue\n'
done
# shellcheck disable=SC2002
cat a.tsv | try dedup -c -f colour - a.tsv
out_is 'dedup -c of a pipe and a file' 0 \
    'count\tid\temail\tcolour\n4\t1\ta@x\tred\n2\t3\ta@x\tblue\n'
awk 'BEGIN { print "n\tkey"
    for (i = 0; i < 60000; i++) print i "\t" i % 7000 + 100000 }' >many.tsv
awk -F '\t' '!seen[$2]++' many.tsv >once
for way in '' '-M 1M' '-j 1'; do
    # shellcheck disable=SC2086
    "$BLOOMERY" dedup $way -f key many.tsv >out
    check "dedup $way -f key: as awk" cmp -s once out
done
"$BLOOMERY" dedup -M 1M -f key <many.tsv >out
check 'dedup -M 1M -f key < file' cmp -s once out

# ---- join -------------------------------------------------------------------
printf 'name\tmail\nAnn\ta@x\n' >people.tsv
try join -f email --list-field mail a.tsv people.tsv
out_is 'join by names' 0 'id\temail\tcolour\n1\ta@x\tred\n3\ta@x\tblue\n'
printf 'who\temail\nAnn\ta@x\n' >list.tsv
try join -f email a.tsv list.tsv
out_is 'join: one name for both files' 0 \
    'id\temail\tcolour\n1\ta@x\tred\n3\ta@x\tblue\n'
try join --invert-match -f email a.tsv list.tsv
out_is 'join --invert-match: one name for both files' 0 \
    'id\temail\tcolour\n2\tb@x\tred\n'
try join -f email a.tsv people.tsv
refused 'join: a list without the column' \
    "'people.tsv' has no column 'email': .*name, mail\. .*, use --list-field 1$"
check 'join: nothing is printed before it' [ ! -s out ]
try join -f 1,email a.tsv list.tsv
refused 'join: a number and a name alone' 'by number and by name.*use --list-field'
try join -f email --list-field 1 a.tsv emails
out_is 'join by a name, with a list without a header' 0 \
    'id\temail\tcolour\n1\ta@x\tred\n3\ta@x\tblue\n'
try join -c -f email --list-field 1 a.tsv emails
out_is 'join -c counts no header' 0 '2\n'
try join --header -f 1 --list-field 2 b.tsv people.tsv
out_is 'join that finds nothing prints the header' 1 'colour\tid\n'
awk 'BEGIN { print "key"; for (i = 0; i < 40000; i++) print i "-padding" }' \
    >big
for way in '' '-M 1M'; do
    # shellcheck disable=SC2086
    try join $way --header -f key --list-field key big big
    check "join $way of large files: the header once" cmp -s big out
done
# shellcheck disable=SC2002
cat big | try join -M 1M --header -f key - big
check 'join -M 1M of a pipe: the header once' cmp -s big out

# ---- labels and numbers -----------------------------------------------------
printf 'key\tn\nred\t3\nblue\t250\n' >labels.tsv
try build -k bloomier:bits=8 -p 1e-6 -f key -l n -o l.bly labels.tsv
silent 'a label by name'
try get -f key l.bly labels.tsv
out_is 'get: the label of the header' 0 \
    'label\tkey\tn\n3\tred\t3\n250\tblue\t250\n'
printf 'key\tn\nred\t3\nblue\tmany\n' >labels.tsv
try build -k bloomier:bits=8 -f key -l n -o l.bly --force labels.tsv
refused 'a label that is none: its line counts the header' "line 3 of .*'many'"
printf 'k\nred\nred\n' >reds.txt
try build -k counting -n 10 -p 1e-9 -f k -o c.bly reds.txt
try count -f k c.bly reds.txt
out_is 'count: the header too' 0 'count\tk\n2\tred\n2\tred\n'
try build -k cascade --header --without reds.txt -o x.bly --force reds.txt
refused 'lists with a key in common: its line counts the header' "line 2 of"

# ---- blanks -----------------------------------------------------------------
printf 'a  b\n  c\td  e\n\n   \nf\n' >blanks
printf 'b\nd\n' >words
try build -p 1e-9 -o words.bly words
try query --blanks -f 2 words.bly blanks
out_is 'runs of blanks and TABs, and those at the start' 0 'a  b\n  c\td  e\n'
awk '{ print $2 }' blanks | grep . | sort >want
"$BLOOMERY" dedup --blanks -f 2 blanks 2>err | awk '{ print $2 }' | grep . \
    | sort >got
check 'as awk cuts them' cmp -s want got
check 'lines that are too short' grep -q '3 lines have no such column' err
printf 'e c\n' >pair
try build -p 1e-9 -o pair.bly pair
try query --blanks -f 3,1 pair.bly blanks
out_is 'several columns are joined by a blank' 0 '  c\td  e\n'
printf 'x   y\nb   1\n' >named
try query --blanks -f x words.bly named
out_is 'names between blanks' 0 'x   y\nb   1\n'

finish
