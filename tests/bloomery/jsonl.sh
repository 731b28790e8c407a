# jsonl.sh - keys that are members of JSON objects, one per line.
# shellcheck source=lib.sh
. "$1/lib.sh"

echo '{"k":"a"}' >one
try build --json-field k -o one.bly one
if [ "$(cat status)" = 2 ]; then      # built without BLY_JSON
    refused 'without JSON: --json-field' 'BLY_JSON=OFF: build it with'
    finish
fi
silent 'build'

# ---- the key of a line -------------------------------------------------------
# Line and key end with NUL, so that both may hold any other byte. join is
# exact. counted NAME WANTED MEMBER LINE KEY: lines with the key, 0 or 1.
counted() {
    printf '%s\0' "$4" >line
    printf '%b\0' "$5" >list
    try join -0 -c --json-field "$3" line list
    if [ "$(cat out)" = "$2" ]; then
        pass "$1"
    else
        fail "$1" "expected $2 of $4 with $5; $(details)"
    fi
}
# has NAME LINE KEY [MEMBER]; lacks NAME LINE KEY [MEMBER].
has() { counted "$1" 1 "${4:-k}" "$2" "$3"; }
lacks() { counted "$1" 0 "${4:-k}" "$2" "$3"; }

has 'a string' '{"k":"abc"}' abc
has 'an empty string' '{"k":""}' ''
has 'blanks everywhere' ' { "j" : [ 1 , 2 ] , "k" : "abc" } ' abc
has 'a late member' '{"a":{"k":1},"b":[{"k":2}],"c":"k","k":"x"}' x
lacks 'a member of a member is none' '{"a":{"k":"x"}}' x
lacks 'a string that looks like a member' '{"a":"\"k\":\"x\""}' x
has 'quotes and braces in strings' '{"a":"}\"{[\\","k":"x"}' x
has 'the short escapes' '{"k":"\"\\\/\b\f\n\r\t"}' '"\\/\b\f\n\r\t'
has 'an escape of ASCII' '{"k":"\u0041\u007f"}' 'A\0177'
has 'an escape of two bytes' '{"k":"\u00e9\u00E9"}' '\0303\0251\0303\0251'
has 'an escape of three bytes' '{"k":"\u20ac"}' '\0342\0202\0254'
has 'a pair of surrogates' '{"k":"x\ud83d\ude00y"}' 'x\0360\0237\0230\0200y'
has 'the last character' '{"k":"\udbff\udfff"}' '\0364\0217\0277\0277'
has 'half a pair, high' '{"k":"\ud83dx"}' '\0355\0240\0275x'
has 'half a pair, low' '{"k":"\ude00"}' '\0355\0270\0200'
has 'half a pair before another escape' '{"k":"\ud83d\u0041"}' \
    '\0355\0240\0275A'
has 'two high halves and a low one' '{"k":"\ud83d\ud83d\ude00"}' \
    '\0355\0240\0275\0360\0237\0230\0200'
has 'UTF-8 as it stands' "$(printf '{"k":"\303\251"}')" '\0303\0251'
has 'a number as it is written' '{"k":1.50e+2}' 1.50e+2
has 'a number of many digits' '{"k":123456789012345678901234567890123}' \
    123456789012345678901234567890123
has 'a number that no double holds' '{"k":-1e99999}' -1e99999
has 'a number before a blank' '{"k":10 }' 10
has 'true' '{"k":true}' true
has 'false' '{"k":false , "z":1}' false
lacks 'null is no key' '{"k":null}' null
lacks 'an object is no key' '{"k":{"a":1}}' '{"a":1}'
lacks 'an array is no key' '{"k":[1]}' '[1]'
has 'of two members the last one counts' '{"k":"a","k":"b"}' b
lacks 'of two members the first one does not' '{"k":"a","k":"b"}' a
lacks 'nor where the last one is null' '{"k":"a","k":null}' a
has 'an escaped name' '{"\u006b":"a"}' a
lacks 'an escaped name that goes on' '{"\u006bx":"a"}' a
has 'a name with a quote' '{"a\"b":"x"}' x 'a"b'
has 'a name with a slash is none' '{"a/b":"x"}' x a/b
has 'a name with a tilde' '{"a~1b":"x"}' x a~1b
has 'a long name' "{\"$(printf '%0300d' 7)\":1}" 1 "$(printf '%0300d' 7)"
lacks 'a longer name' '{"kk":"a"}' a
lacks 'a shorter name' '{"k":"a"}' a kk

# ---- pointers ----------------------------------------------------------------
deep='{"a":{"b":[10,{"c":"x"},[["y"]]]},"":"e","a/b":1,"m~n":2,"~1":3,"01":4}'
has 'pointer: a member' "$deep" 1 /a~1b
has 'pointer: within an array' "$deep" 10 /a/b/0
has 'pointer: within all' "$deep" x /a/b/1/c
has 'pointer: arrays of arrays' "$deep" y /a/b/2/0/0
has 'pointer: the empty name' "$deep" e /
has 'pointer: a tilde' "$deep" 2 /m~0n
has 'pointer: a tilde and a 1' "$deep" 3 /~01
has 'pointer: digits are a name too' "$deep" 4 /01
has 'pointer: an escaped name and a tilde' '{"m\u007en":"z"}' z /m~0n
lacks 'pointer: no number with a zero before it' '{"a":[8,9]}' 9 /a/01
lacks 'pointer: no place' '{"a":[8,9]}' 9 /a/-
lacks 'pointer: behind the end' '{"a":[8,9]}' 9 /a/2
lacks 'pointer: far behind the end' '{"a":[8,9]}' 9 /a/18446744073709551617
lacks 'pointer: through a string' '{"a":"b"}' b /a/0
has 'pointer: the last of equal ones' '{"a":{"b":1},"a":{"b":2}}' 2 /a/b
lacks 'pointer: the last one has none' '{"a":{"b":1},"a":3}' 1 /a/b
lacks 'pointer: a line that is an array' '["x"]' x /0

# ---- lines that are no JSON --------------------------------------------------
strange() {
    printf '%s\0' "$2" >line
    try join -0 -c --json-field "${3:-k}" line line
    if [ "$(cat out)" = 0 ] && grep -q 'no line is a JSON object: check' err; then
        pass "no JSON: $1"
    else
        fail "no JSON: $1" "$2; $(details)"
    fi
}
strange 'a word' 'hello'
strange 'a string' '"k"'
strange 'an array' '["k"]'
strange 'a number' '5'
strange 'cut in the string' '{"k":"abc'
strange 'cut behind the string' '{"k":"abc"'
strange 'cut behind the colon' '{"k":'
strange 'cut behind the comma' '{"k":"abc",'
strange 'cut within another object' '{"k":"abc","a":{"b":1}'
strange 'cut within another array' '{"k":"abc","a":[1'
strange 'something behind it' '{"k":"abc"} x'
strange 'another object behind it' '{"k":"abc"}{"k":"abc"}'
strange 'no comma' '{"k":"abc" "j":1}'
strange 'no colon' '{"k" "abc"}'
strange 'a name without quotes' '{k:"abc"}'
strange 'quotes of another kind' "{'k':'abc'}"
strange 'a word that there is not' '{"k":tru}'
strange 'another' '{"k":nul}'
strange 'a number with a zero before it' '{"k":01}'
strange 'a number without digits' '{"k":-}'
strange 'a number that ends in a point' '{"k":1.}'
strange 'a number that ends in e' '{"k":1e}'
strange 'a number with a letter' '{"k":1x}'
strange 'a number with a plus' '{"k":+1}'
strange 'an escape that there is not' '{"k":"\q"}'
strange 'an escape without its digits' '{"k":"\u00g0"}'
strange 'an escape that is cut' '{"k":"\u00"}'
strange 'a tabulator in a string' "$(printf '{"k":"a\tb"}')"
strange 'no UTF-8' "$(printf '{"k":"a\377b"}')"
strange 'no UTF-8 elsewhere' "$(printf '{"j":"\303","k":"a"}')"
strange 'no comma within the way' '{"a":{"b":1 "c":2}}' /a/b
strange 'an unclosed string' '{"a":"b,"k":"c"}'

awk 'BEGIN { for (i = 0; i < 10000; i++) print "{\"z\":1}"
    printf "{\"a\":[%c[1]],\"k\":\"v\"}\n", 0 }' >nuls
try dedup -o /dev/null --json-field k nuls
check 'no JSON: a NUL where a blank may be' grep -q '1 line is not a JSON object' err

# Faults in values outside the path of NAME.
while IFS= read -r line; do
    case $line in
    '') ;;
    *)  strange "elsewhere: $line" "$line"
        strange "elsewhere, asked for another member: $line" "$line" /x/0 ;;
    esac
done <<'END'
{"k":7,"x":[1 true]}
{"k":7,"x":nul}
{"k":7,"x":{]}
{"k":7,"x":[}]}
{"k":7,"x":[1,]}
{"k":7,"x":[,1]}
{"k":7,"x":[1,,2]}
{"k":7,"x":[1}
{"k":7,"x":{"a":1]}
{"k":7,"x":{"a":1,}}
{"k":7,"x":{"a"}}
{"k":7,"x":{"a":}}
{"k":7,"x":{"a" 1}}
{"k":7,"x":{"a"::1}}
{"k":7,"x":{a:1}}
{"k":7,"x":{1:1}}
{"k":7,"x":{"a":1 "b":2}}
{"k":7,"x":[1:2]}
{"k":7,"x":tru}
{"k":7,"x":True}
{"k":7,"x":NaN}
{"k":7,"x":-Infinity}
{"k":7,"x":undefined}
{"k":7,"x":01}
{"k":7,"x":-01}
{"k":7,"x":+1}
{"k":7,"x":-}
{"k":7,"x":.5}
{"k":7,"x":1.}
{"k":7,"x":1.e5}
{"k":7,"x":1e}
{"k":7,"x":1e+}
{"k":7,"x":0x1F}
{"k":7,"x":1_000}
{"k":7,"x":1 2}
{"k":7,"x":'a'}
{"k":7,"x":a"b"}
{"k":7,"x":"a"b}
{"k":7,"x":"\q"}
{"k":7,"x":"\u12g4"}
{"k":7,"x":["\u123"]}
{"k":7,"\x":1}
{"k":7,"x":{"\u00":1}}
{"k":7,"x":[1]]}
{"k":7,"x":[1]}}
{"k":7,"x":[1]},
{"k":7,"x":[1]} 1
{"k":7,"x":[1] /* why */}
{"k":7,,"x":[1]}
{,"k":7,"x":[1]}
{"k":7,"x":[1],}
END

# ---- lines without the member ------------------------------------------------
printf '%s\n' '' '{}' '{"ts":1,"req":{"client":{"ip":"::1"}},"a\u0062":2}' \
    '{"other":1}' >dotted
try dedup -o /dev/null --json-field req.client.ip dotted
check 'a name with dots: the JSON pointer and the members' grep -q \
    'or use --json-field /req/client/ip: the members are ts, req, a.u0062$' err
try dedup -o /dev/null --json-field req.client dotted
check 'a name with dots that leads to an object: the members only' grep -q \
    'check its name: the members are ts, req, ' err
try build -n 9 -o no.bly --json-field req.client.ip dotted
refused 'build: a name with dots' 'or use --json-field /req/client/ip:'
printf '{%s"z":1}\n' "$(awk 'BEGIN { for (i = 0; i < 200; i++)
    printf "\"member%d\":1,", i }')" >wide
try dedup -o /dev/null --json-field k wide
check 'many members: the first ones' grep -q 'are member0, .*, \.\.\.$' err

# ---- notes -------------------------------------------------------------------
printf '{"k":"a"}\n\n \t\r\n{"k":1}\nno\n{"j":1}\n[]\n' >some
printf '{"k":"b"}\n{"k"\n' >more
try query --json-field k one.bly some more
out_has 'query: the lines' 0 '^."k":"a".$'
check 'query: and no other' test "$(wc -l <out)" -eq 1
check 'query: lines that are no JSON' grep -qx \
    "bloomery query: note: 3 lines are not JSON objects: the first is line 5 of 'some'" err
try query -c --json-field k one.bly more
check 'query: one line' grep -qx \
    "bloomery query: note: 1 line is not a JSON object: the first is line 2 of 'more'" err
try query -c --json-field k one.bly <some
check 'query: standard input' grep -q 'first is line 5 of standard input$' err
try build --json-field k -o two.bly some more
check 'build: once, though it reads twice' \
    test "$(grep -c 'not JSON objects: the first is line 5' err)" -eq 1
check 'build: lines without a key' grep -q \
    '3 lines have no such member and were skipped: check its name' err
printf '{"j":1}\n' >keyless
try build --json-field k -o no.bly keyless
refused 'build: no key at all' "no line has member 'k': check its name: the members are j"
printf '{"j":null}\n{"j":[1]}\n' >null.jsonl
try build -n 9 -o no.bly --json-field j null.jsonl
refused 'build: values that are no keys' \
    "no line has member 'j': check its value: a key is a string, a number, true or false"
try query -q --json-field k one.bly keyless
refused 'query -q: no key at all' "no line has member 'k': check"
printf '1,a\n2,b\n' >users.csv
for job in 'build -o no.bly' 'query one.bly' 'query -q one.bly' 'add one.bly' \
    'diff one.bly' 'sketch -o no.bly'; do
    # shellcheck disable=SC2086  # words
    try $job --json-field k users.csv
    refused "$job: no objects" 'no line is a JSON object: .* leave out --json-field$'
done
try dedup --json-field k users.csv
check 'dedup: no objects' grep -q ': no line is a JSON object: ' err
status_is 'dedup: which is an error' 2
check 'dedup: and every line is printed' cmp -s out users.csv
try dedup --json-field k some
check 'dedup: what has no key is kept' cmp -s some out
check 'dedup: says so' grep -q '3 lines have no such member and were treated as unique' err
# shellcheck disable=SC2002  # a pipe is what is tested
cat some | try dedup --json-field k
check 'dedup: a pipe: the note' grep -q \
    'note: 2 lines are not JSON objects: the first is line 5 of standard' err
# shellcheck disable=SC2002
cat some | try dedup -c --json-field k more -
check 'dedup -c: the note, once, and not about the copy' test \
    "$(grep 'not .*JSON object' err)" = "$(printf '%s' 'bloomery dedup: note: 3 ' \
    "lines are not JSON objects: the first is line 2 of 'more'")"
try dedup --approximate --json-field k some more
check 'dedup --approximate: the note, once' test "$(grep -c \
    "note: 3 lines are not JSON objects: the first is line 5 of 'some'" err)" = 1
try join --json-field k some one
check 'join: says so' grep -q \
    'lines of LINES have no such member and were left out: check its name' err
printf 'a\n1\n' >list
try join --json-field k some list
check 'join: LIST has plain lines' \
    test "$(cat out)" = "$(printf '{"k":"a"}\n{"k":1}')"
printf 'x\ta\n' >table
printf '{"k":1}\n{"k":2}\n' >objects
try join --json-field k --invert-match objects objects
note 'join: a LIST of objects has no values' \
    '^bloomery join: note: 2 lines of LIST begin with a brace, .*: use --list-json-field'
printf '{"id":"b"}\n{"id":1}\n{"x":2}\n' >ids
try join --json-field k --list-json-field id some ids
out_has 'join: LIST has objects' 0 '^{"k":1}'
check 'join: those of LIST without the member are told' grep -q \
    'line of LIST has no such member and was left out: check --list-json' err
printf 'a,"1"\nb,"2"\n' >quoted.csv
try join --csv -f 2 --list-json-field id quoted.csv ids
out_has 'join: LINES have columns, LIST objects' 0 '^a,"1"$'
try join --list-json-field /a~ some ids
refused 'join: a wrong pointer for LIST' "^bloomery join: --list-json-field '/a~' "
try join objects objects
out_is 'join: whole lines are what they are' 0 '{"k":1}\n{"k":2}\n'
try join --json-field k --list-field 2 some table
out_has 'join: LIST has columns' 0 '"k":"a"'

# ---- options -----------------------------------------------------------------
try query --json-field '' one.bly some
refused 'an empty name' 'names no member: give its name'
for name in /a~ /a~2 /~/b; do
    try query --json-field $name one.bly some
    refused "no pointer: $name" 'is not a JSON pointer: in one that begins with /'
done
printf '{"k":" \\u0041bC\\t"}\r\n' >changed
try build --as any --json-field k -o any.bly one
try query --json-field k --trim -i any.bly changed
out_is '--trim and -i: other letters are another key' 1 ''
printf 'abc\n' >abc
try build --as any -o abc.bly abc
try query --json-field k --trim -i abc.bly changed
check '--trim and -i apply to what is decoded' cmp -s out changed
printf '{"k":"ABC"}\n' >changed
try query --json-field k -i abc.bly changed
check '-i without an escape' cmp -s out changed
printf '\357\273\277{"k":"a"}\n' >marked
try query -c --json-field k one.bly marked
out_is 'a byte order mark' 0 '1\n'
printf '{"k":"a"}' >unended
try query -c --json-field k one.bly unended
out_is 'the last line without its end' 0 '1\n'

# ---- generated lines, with known keys ----------------------------------------
# The file `keys` has the key, if any, of each line; it contains the line's
# number. tests: the shapes before and after the member, the ways to write a
# character, and broken lines.
lines=$(work 30000 6000)
awk -v n="$lines" '
function pick(list,   part, many) {
    many = split(list, part, "|")
    return part[1 + int(rand() * many)]
}
function blank() { return rand() < 0.8 ? "" : pick(" |\t|  ") }
function other(depth,   kind, i, text, many) {
    kind = int(rand() * (depth > 3 ? 5 : 7))
    if (kind == 0) return pick("0|-1|1.5e9|12345678901234567890123|1E-7")
    if (kind == 1) return pick("true|false|null")
    if (kind < 5)
        return "\"" pick("|k|a b|\\\"k\\\":|}{][|\\\\|\\u0000|\303\251|\\ud83d") \
            substr("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" \
                   "xxxxxxxxxxxxxxxxxxx", 1, rand() * 76) "\""
    many = int(rand() * 4)
    for (i = 0; i < many; i++)
        text = text (i ? "," : "") blank() \
            (kind == 5 ? "\"" pick("k|kk|j") "\":" blank() : "") \
            other(depth + 1) blank()
    return kind == 5 ? "{" text "}" : "[" text "]"
}
function letters(   i, c) {
    written = stood = ""
    for (i = int(rand() * 12); i > 0; i--) {
        c = 1 + int(rand() * 9)
        written = written w[c]
        stood = stood s[c]
    }
}
BEGIN {
    srand(17)
    split("a|\\u0062|\\u00e9|\303\251|\\\"|\\\\|\\/|\\ud83d\\ude00|\\u20AC", w, "|")
    split("a|b|\303\251|\303\251|\"|\\|/|\360\237\230\200|\342\202\254", s, "|")
    for (i = 1; i <= n; i++) {
        kind = int(rand() * 12)
        letters()
        text = kind < 8 ? "\"" i written "\"" : kind == 8 ? i ".5" \
             : kind == 9 ? "null" : other(0)
        key = kind < 8 ? i stood : i ".5"
        line = "{" blank()
        for (j = int(rand() * 5); j > 0; j--)
            line = line "\"" pick("j|kk|\\u006b\\u006b|") "\":" other(0) "," \
                blank()
        if (rand() < 0.1)
            line = line "\"k\":\"" i "no\","
        if (kind < 11)
            line = line pick("\"k\"|\"\\u006b\"") blank() ":" blank() text \
                blank() ","
        for (j = int(rand() * 5); j > 0; j--)
            line = line "\"" pick("j|K|kk") "\":" blank() other(0) blank() ","
        line = line "\"end\":" i "}"
        if (kind < 9 && rand() < 0.05) {
            kind = 9
            line = substr(line, 1, 1 + int(rand() * (length(line) - 1)))
            cut++
        }
        print line >"lines"
        if (kind < 9)
            print key >"keys"
        if (kind < 9)
            print line >"keyed"
    }
    print cut >"cut"
}'
for jobs in 1 5; do
    try join -j $jobs --json-field k lines keys
    check "generated: -j $jobs: exactly the lines with a key" cmp -s keyed out
    check "generated: -j $jobs: the cut lines are told" grep -q \
        "note: $(sed -e :a -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta' cut) lines are not JSON objects" err
done
try build -p 1e-9 -o plain.bly keys
try build -p 1e-9 --json-field k -o json.bly keyed
check 'generated: build makes the filter of the keys' cmp -s plain.bly json.bly
# shellcheck disable=SC2002  # a pipe is what is tested
cat lines | dd bs=7 2>/dev/null | try query --json-field k plain.bly
check 'generated: some bytes at a time' \
    test "$(wc -l <out)" -ge "$(wc -l <keyed)"
gzip -c keyed >keyed.gz
try query -c --json-field k plain.bly keyed.gz
out_is 'generated: gzip' 0 "$(wc -l <keyed)\n"
# Many chunks, whose borders lie within lines.
i=0
while [ $i -lt 12 ]; do
    cat keyed
    i=$((i + 1))
done >many
try query -c --json-field k plain.bly many
out_is 'generated: many chunks' 0 "$((12 * $(wc -l <keyed)))\n"
for way in '' '--approximate -p 1e-9'; do
    # shellcheck disable=SC2086  # words
    try dedup $way --json-field k many
    check "generated: dedup $way" cmp -s keyed out
    # shellcheck disable=SC2086,SC2002
    cat many | "$BLOOMERY" dedup $way --json-field k >out 2>err
    check "generated: dedup $way, a pipe" cmp -s keyed out
done
(cat keyed keyed; echo '{"k"') >broken
cat many broken >late
try query -c --json-field k plain.bly late
check 'generated: the number of a late line' grep -q \
    "first is line $(wc -l <late | sed -e :a \
    -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta') of 'late'" err

# Printed lines have moved to the front of their chunk, over others.
seq 6000 | awk '{ print "{\"k\":\"" ($1 % 2 ? "a" : $1) "\"}" }
    END { print "{" }' >moved
try query --json-field k one.bly moved
check 'generated: the number of a line behind printed ones' grep -q \
    "first is line 6,001 of 'moved'" err

# Good lines with changed bytes: the command only has to survive and to report
# one of three results for each line.
awk 'BEGIN { srand(5) } NR <= 3000 {
    at = 1 + int(rand() * length($0))
    print substr($0, 1, at - 1) \
        substr("\"\\{}[]:,0eu\t \001", 1 + int(rand() * 14), 1) \
        substr($0, at + int(rand() * 3))
}' lines >mad
try query -vc --json-field k plain.bly mad
check 'changed bytes' test "$(cat status)" -le 1

# ---- hostile lines -----------------------------------------------------------
# repeat TEXT N: prints TEXT N times.
repeat() {
    awk -v text="$1" -v n="$2" 'BEGIN { while (n-- > 0) printf "%s", text }'
}
hostile() {
    try query -c --json-field k one.bly hostile
    if [ "$(cat out)" = "$2" ] && { [ "$(cat status)" -le 1 ] ||
        grep -q 'no line is a JSON object: check' err; }; then
        pass "hostile: $1"
    else
        fail "hostile: $1" "expected $2; $(details)"
    fi
}
{ printf '{"j":'; repeat '[' 1023; repeat ']' 1023; printf ',"k":"a"}\n'; } \
    >hostile
hostile 'arrays within 1023 others' 1
{ printf '{"j":'; repeat '[' 1024; repeat ']' 1024; printf ',"k":"a"}\n'; } \
    >hostile
hostile 'arrays within 1024 others' 0
{ printf '{"j":'; repeat '[' 100000; repeat ']' 100000; printf ',"k":"a"}\n'; } \
    >hostile
hostile 'arrays of depth 100000' 0
try query -c --trust-json --json-field k one.bly hostile
out_is '--trust-json reads no arrays of depth 100000' 0 '1\n'
printf '{"k":"a","x":nul}\n' >hostile
try query -c --trust-json --json-field k one.bly hostile
out_is '--trust-json takes a line whose other members are no JSON' 0 '1\n'
try query -c --trust-json one.bly hostile
refused '--trust-json without --json-field' 'use that too'
{ printf '{"j":'; repeat '[' 100000; printf ',"k":"a"}\n'; } >hostile
hostile 'arrays that are never closed' 0
repeat '{"k":' 100000 >hostile
hostile 'objects that are never closed' 0
repeat '}' 100000 >hostile
hostile 'what was never opened' 0
{ repeat '{"k":' 100000; printf 1; repeat '}' 100000; } >hostile
hostile 'objects of depth 100000' 0
try query -c --json-field "$(repeat /k 100)" one.bly hostile
check 'hostile: a pointer of depth 100' grep -q 'no line is a JSON object' err
try query -c --json-field "$(repeat /k 101)" one.bly hostile
refused 'hostile: a deeper pointer' 'is nested too deeply: give .* at most 100 names'
{ repeat '{"k":' 100; printf '"a"'; repeat '}' 100; } >deep
try query -c --json-field "$(repeat /k 100)" one.bly deep
out_is 'a pointer of depth 100 that leads to a key' 0 '1\n'
{ printf '{"k":'; repeat 1234567890 100000; printf '}\n'; } >hostile
hostile 'a number of a million digits' 0
megabytes=$(work 50 5)
{ printf '{"j":"'; repeat xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx \
    $((megabytes * 32768)); printf '","k":"a"}\n{"k":"a"}\n'; } >hostile
hostile "a line of $megabytes MB" 2
{ printf '{"k":"'; repeat '\\u0061' $((megabytes * 160000)); printf '"}\n'; } \
    >hostile
repeat a $((megabytes * 160000)) >long
try build -o long.bly long
try query -c --json-field k long.bly hostile
out_is 'hostile: a long key, all of it escapes' 0 '1\n'
printf '{"k":"a"}\n{"k":"\000"}\n{"k":"a"}\000\n' >hostile
try query --json-field k one.bly hostile
refused 'hostile: NULs' 'NUL bytes'
try query -c --json-field k --text one.bly hostile
check 'hostile: NULs with --text' test "$(cat out)" = 1
printf '{"k":"\\u0000"}\n' >hostile
printf '\0\n' >nul
try build --text -o nul.bly nul
try query -c --json-field k nul.bly hostile
out_is 'an escaped NUL is a byte of the key' 0 '1\n'
finish
