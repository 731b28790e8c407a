# csv.sh - keys in CSV columns, by RFC 4180.
# shellcheck source=lib.sh
. "$1/lib.sh"

cat >a.csv <<'END'
id,email,name
1,a@x,"Smith, J"
2,"b@x","O ""Q"" P"
3,"c@x","two
lines"
4,d@x,5" disk
5,,""
END
printf 'b@x\nc@x\n' >emails
try build -p 1e-9 -o emails.bly emails

# ---- columns in quotes ------------------------------------------------------
try query --csv -f email emails.bly a.csv
out_is 'quotes are no part of the key; a record may span lines' 0 \
    'id,email,name\n2,"b@x","O ""Q"" P"\n3,"c@x","two\nlines"\n'
try query -v --csv -f email emails.bly a.csv
out_is '-v' 0 'id,email,name\n1,a@x,"Smith, J"\n4,d@x,5" disk\n5,,""\n'
try query -c --csv -f 2 emails.bly a.csv
out_is '-c' 0 '2\n'
key_is() {      # NAME KEY RECORD OPTIONS...: that is the record's key
    printf '%b\0' "$2" >key
    printf '%b' "$3" >record
    key_name=$1
    shift 3
    "$BLOOMERY" build -0 --as any -n 1 -p 1e-12 -o key.bly \
        key
    try query --csv "$@" key.bly record
    cp record want
    if cmp -s want out && [ "$(cat status)" = 0 ] && [ ! -s err ]; then
        pass "key: $key_name"
    else
        fail "key: $key_name" "$(details)"
    fi
}
key_is 'a separator' 'Smith, J' '1,"Smith, J"\n' -f 2
key_is 'doubled quotes' 'O "Q" P' '1,"O ""Q"" P"\n' -f 2
key_is 'only doubled quotes' '""' '1,""""""\n' -f 2
key_is 'a newline' 'two\nlines' '1,"two\nlines"\n' -f 2
key_is 'a CR LF in quotes stays' 'two\r\nlines' '1,"two\r\nlines"\r\n' -f 2
key_is 'CR LF ends a record' 'x' '1,x\r\n' -f 2
key_is 'CR LF behind quotes' 'x' '1,"x"\r\n' -f 2
key_is 'CR LF, and the end of the file' 'x' '1,"x"\r' -f 2
key_is 'no end' 'x' '1,"x"' -f 2
key_is 'nothing in quotes' '' '1,""\n' -f 2
key_is 'nothing' '' '1,\n' -f 2
key_is 'a quote in an unquoted column' '5" disk' '1,5" disk\n' -f 2
key_is 'quotes at the end of one' '5""' '1,5""\n' -f 2
key_is 'blanks belong to a column' ' x ' '1, x ,2\n' -f 2
key_is 'a column behind blanks is unquoted' ' "x"' '1, "x",2\n' -f 2
key_is 'with -t ;' 'a,b' '1;"a,b"\n' -t ';' -f 2
key_is 'with -t ; in quotes' 'a;b' '1;"a;b"\n' -t ';' -f 2
key_is 'with TABs' 'a\tb' '1\t"a\tb"\n' -t '\t' -f 2
key_is '-i of what was in quotes' 'o "q"' '1,"O ""Q"""\n' -i -f 2
key_is '--trim of what was in quotes' 'x' '1," x\t"\n' --trim -f 2
key_is 'the whole record, without -f' '1,"x"' '1,"x"\r\n'
key_is 'a whole record of two lines' '1,"x\ny"' '1,"x\ny"\n'
key_is 'two columns' 'b,a' 'a,b,c\n' -f 2,1
key_is 'two columns that need no quotes' 'b,a' '"a","b",c\n' -f 2,1
key_is 'a separator in one of two' '"b,",a' 'a,"b,",c\n' -f 2,1
key_is 'a quote at the start of one' '"""b",a' 'a,"""b",c\n' -f 2,1
key_is 'a quote within one of two' 'b"c,a' 'a,"b""c",c\n' -f 2,1
key_is 'the same without quotes' 'b"c,a' 'a,b"c,c\n' -f 2,1
key_is 'a newline in one of two' '"b\n",a' 'a,"b\n",c\n' -f 2,1
key_is 'two empty ones' ',' '"",,c\n' -f 2,1
key_is 'two columns, -i' '"b,",a' 'A,"B,",c\n' -i -f 2,1
printf 'id,"e""mail",x\n1,b@x,2\n' >odd.csv
try query --csv -f 'e"mail' emails.bly odd.csv
out_is 'a name in quotes' 0 'id,"e""mail",x\n1,b@x,2\n'
printf '"two\nlines",email\r\n1,b@x\r\n2,z\r\n' >odd.csv
try query --csv -f email emails.bly odd.csv
out_is 'a header of two lines' 0 '"two\nlines",email\r\n1,b@x\r\n'
printf '1,b@x' >odd.csv
try dedup --csv -f 2 odd.csv odd.csv
out_is 'a last record gets its newline' 0 '1,b@x\n'

# ---- what is no CSV ---------------------------------------------------------
printf 'id,x\n1,"a\nb"\n2,"a"b\n' >bad.csv
keeps 'a byte behind a quote that closes' "line 4 of 'bad.csv' is not CSV: " \
    emails.bly build --force -o emails.bly --csv -f 2 bad.csv
try dedup --csv -f 1 bad.csv
refused 'dedup' "line 4 of 'bad.csv' is not CSV: "
printf '1,"a"\rb\n' >bad.csv
try dedup --csv -f 1 bad.csv
refused 'a CR that ends no record' "line 1 of 'bad.csv' is not CSV: "
printf '1,2\n1,"a""\n\nb\n' >bad.csv
try dedup --csv -f 1 bad.csv
refused 'a quote that is never closed' \
    "the quote that opens in line 2 of 'bad.csv' is never closed: close it"
try dedup --csv -f 1 <bad.csv
refused 'on standard input' 'line 2 of standard input is never closed'
# A pipe without an end.
{ printf '"'; yes; } | try dedup --csv -f 1
refused 'a quote left open too long ends a pipe' \
    'in line 1 of standard input is not closed within 64 MiB'
try query --csv -c -f 2 emails.bly bad.csv a.csv
check 'query goes on with other files' [ "$(cat out)" = 2 ]
check 'but says so' [ "$(cat status)" = 2 ]

for byte in '"' '\n' '\r'; do
    try dedup --csv -t "$byte" -f 1 a.csv
    refused "--csv -t $byte" '-t must be another byte'
done
try put --csv emails.bly a.csv
refused 'put --csv without -f' 'use -f LIST too'

# ---- lines are counted as editors do ----------------------------------------
printf 'key,n\n"a\nb",3\nc,many\n' >labels.csv
try build -k bloomier:bits=8 -f key -l n --csv -o l.bly labels.csv
refused 'the line of a wrong label' "line 4 of 'labels.csv': 'many'"
awk 'BEGIN { for (i = 0; i < 50000; i++)
    printf "\"some\npadding of key\",%d\n", i; print "x,many" }' >labels.csv
try build -k bloomier:bits=20 -f 1 -l 2 --csv -o l.bly labels.csv
refused 'behind a chunk' "line 100001 of 'labels.csv': 'many'"
printf 'k\n"a\nb"\nc\n' >members.csv
printf 'z\n"a\nb"\n' >others.csv
try build -k cascade --csv -f 1 --without others.csv -o x.bly members.csv
refused 'a key of two lists' \
    "line 2 of 'members.csv', line 2 of 'others.csv'"

# ---- random records, that end anywhere in a chunk ---------------------------
# Column 2 as written and as decoded, ended by NUL; the records that are the
# first of their key; and everything as plain columns.
awk -v n="$(work 120000 60000)" 'function column(value, quoted) {
    if (!quoted) return value
    gsub(/"/, "\"\"", value)
    return "\"" value "\""
}
BEGIN {
    srand(17)
    split("a|b| |\"|,|\n|\r\n|\"\"|word|,\n|a longer word|\"\n", part, "|")
    for (i = 1; i <= n; i++) {
        value = "k" int(rand() * n / 2)
        quoted = rand() < 0.5
        for (j = int(rand() * 12); quoted && j > 0; j--)
            value = value part[1 + int(rand() * 12)]
        record = column("first " i, rand() < 0.5) "," column(value, quoted) \
            "," column("x,\"\ny", 1) (rand() < 0.5 ? "\r\n" : "\n")
        printf "%s", record >"data.csv"
        if (i <= 100) printf "%s", record >"few.csv"
        printf "%s\001", value >"keys.001"
        if (!seen[value]++) printf "%s", record >"once.csv"
        if (i % 3 == 0) printf "%s\n", column(value, 1) >"list.csv"
    }
}'
tr '\001' '\0' <keys.001 >keys
check 'random records: more than a chunk' [ "$(wc -c <data.csv)" -gt 2000000 ]
try build --csv -f 2 -o csv.bly data.csv
silent 'build --csv'
try build -0 -o keys.bly keys
check 'build --csv: the filter of the very keys' cmp -s csv.bly keys.bly
n=$(tr -dc '\001' <keys.001 | wc -c)
try query --csv -f 2 csv.bly data.csv
check 'query --csv: every record, as it is' cmp -s out data.csv
for way in '' '-j 1' '-M 1M'; do
    # shellcheck disable=SC2086  # options
    try dedup --csv -f 2 $way data.csv
    check "dedup --csv $way: the first of each key" cmp -s out once.csv
done
# Pieces of unusual sizes.
odd_pieces() {
    dd if="$1" bs=7919 2>/dev/null
}
odd_pieces data.csv | try dedup --csv -f 2
check 'dedup --csv of a pipe' cmp -s out once.csv
odd_pieces data.csv | try dedup --csv -f 2 -M 1M
check 'dedup --csv -M 1M of a pipe' cmp -s out once.csv
odd_pieces data.csv | try build --csv -f 2 -n "$n" -o csv.bly
try build -0 -n "$n" -o keys.bly keys
check 'build --csv of a pipe' cmp -s csv.bly keys.bly
try dedup -c --csv -f 2 data.csv
check 'dedup -c: it counts all records' \
    [ "$(tr -d '\r' <out | awk -F '\t' '$1 + 0 > 0 && NF > 1 { s += $1 }
        END { print s }')" = "$n" ]
try join --csv -f 2 --list-field 1 data.csv list.csv
cp out joined
try join --csv -M 1M -f 2 --list-field 1 data.csv list.csv
check 'join --csv in parts: the same' cmp -s out joined
try join --csv --invert-match -f 2 --list-field 1 data.csv list.csv
check 'join --csv: every record is in or not' \
    [ $(($(wc -c <out) + $(wc -c <joined))) = "$(wc -c <data.csv)" ]
try dedup --csv -f 2 joined
cp out joined_once
try join --csv -f 2 --list-field 1 once.csv list.csv
check 'join --csv: then dedup, as dedup, then join' cmp -s out joined_once
dd if=few.csv bs=1 2>/dev/null | try dedup --csv
check 'byte by byte' cmp -s out few.csv

# ---- CSV that is cut without --csv ------------------------------------------
printf 'host,note\na,"x, y"\nb,z\na,w\n' >people.csv
printf 'a,1\nb,2\n' >unquoted.csv
for way in '-f host' '-f 1' '-f 1,2' '-f 2' '-f 1 -i'; do
    # shellcheck disable=SC2086
    try dedup $way -t , people.csv
    refused "quotes without --csv: dedup $way" \
        "quotes.*: bloomery dedup --csv $way -t , people.csv$"
done
eval "$(sed 's/.*: bloomery /try /' err)"
out_is 'the command that the message shows' 0 'host,note\na,"x, y"\nb,z\n'
for name in people.csv.gz PEOPLE.CSV; do
    case $name in
    *.gz) gzip -c people.csv >$name ;;
    *) cp people.csv $name ;;
    esac
    try dedup -f 1 -t , $name
    if grep -q 'compressed by gzip' err; then
        skip "quotes without --csv: $name" 'not built to read it'
    else
        refused "quotes without --csv: $name" 'use --csv'
    fi
done
{ awk 'BEGIN { for (i = 0; i < 300000; i++) print i % 10 ",x" }'
    printf 'a,"x"\n'; } >late.csv
try dedup -c -f 1 -t , late.csv
check 'quotes far behind: an error' [ "$(cat status)" = 2 ]
check 'quotes far behind: it says --csv' grep -q 'use --csv' err
try dedup --text -f 1 -t , people.csv
out_is 'quotes without --csv: --text' 0 'host,note\na,"x, y"\nb,z\n'
try dedup -f 1 -t , <people.csv
note 'quotes without --csv: a note if no name says that it is CSV' \
    'standard input have columns in quotes.*use --csv'
check 'quotes without --csv: and the lines' \
    sh -c 'printf "host,note\na,\"x, y\"\nb,z\n" | cmp - out'
try dedup -f 1 unquoted.csv
refused 'CSV cut at TABs' \
    'no TABs.*: use --csv, or -t .*: bloomery dedup --csv -f 1 unquoted.csv$'
for way in '--csv -f 1' '-t , -f 1' '--tsv -f 1' '--text -f 1'; do
    # shellcheck disable=SC2086
    try dedup $way unquoted.csv
    out_is "CSV cut as it is asked for: dedup $way" 0 'a,1\nb,2\n'
done
try build -o people.bly -f 1 -t , people.csv
refused 'quotes without --csv: build' 'bloomery build --csv -o people.bly'
try dedup people.csv
out_is 'whole lines of CSV need no --csv' 0 \
    'host,note\na,"x, y"\nb,z\na,w\n'
try dedup -f 3 -t , <people.csv
check 'the note about lines that are too short names --csv' \
    grep -q 'such column.*--csv' err

# ---- as plain columns where nothing is quoted -------------------------------
awk 'BEGIN { for (i = 0; i < 40000; i++) print i ",key " i % 9000 ",x y z" }' \
    >plain.csv
"$BLOOMERY" dedup -t , -f 2 plain.csv >want
for way in '' '-j 1' '-M 1M'; do
    # shellcheck disable=SC2086
    try dedup --csv -f 2 $way plain.csv
    check "no quotes: dedup $way as with -t ," cmp -s out want
done
sed 's/$/\r/' plain.csv >dos.csv
try dedup --csv -f 3 dos.csv
out_is 'CR LF, no quotes: the last column' 0 '0,key 0,x y z\r\n'
gzip -c data.csv >data.gz 2>/dev/null && {
    try dedup --csv -f 2 data.gz
    if grep -q 'compressed by gzip' err; then
        skip 'compressed CSV' 'not built to read it'
    else
        check 'compressed CSV' cmp -s out once.csv
    fi
}

# ---- a quote behind blanks, trimmed ------------------------------------------
printf '"""a",b\n' >spelled.csv
printf '"  ""a",b\n' >inner.csv
printf '  "a,b\n' >stray.csv
try build -n 10 -p 1e-6 --csv --trim -f 1,2 -o trimmed.bly spelled.csv
try query -c --csv --trim -f 1,2 trimmed.bly inner.csv
out_is 'trimmed columns in quotes are equal' 0 '1\n'
try query -c --csv --trim -f 1,2 trimmed.bly stray.csv
check 'a trimmed column that begins with a quote has no key' \
    grep -q '1 line has no key' err
check 'and the status says so' [ "$(cat status)" = 2 ]

finish
