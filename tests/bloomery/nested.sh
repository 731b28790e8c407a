# nested.sh - --as domain, cidr and path, compared with nested.py.
# shellcheck source=lib.sh
. "$1/lib.sh"
oracle() { python3 "$1/nested.py" "$2" "$3" "$4" "$5"; }
here=$1

# ---- one of each ------------------------------------------------------------
cat >hosts <<'END'
# advertising
0.0.0.0 ads.example

0.0.0.0 Track.example.org.  # since May
END
try build --as domain --comment '#' --skip-blank --blanks -f 2 -p 1e-9 \
    -o hosts.bly hosts
silent 'domains of a hosts file'
printf 'a.b.ADS.example\nexample\nbadads.example\ntrack.example.org\n' >asked
try query --mark hosts.bly asked
out_is 'what each name lies within' 0 'ads.example\ta.b.ADS.example\n\texample
\tbadads.example\ntrack.example.org\ttrack.example.org\n'
try query -v hosts.bly asked
out_is '-v: names that lie within none' 0 'example\nbadads.example\n'
try query -c hosts.bly asked
out_is 'how many lie within one' 0 '2\n'
printf 'a..b\n.\nads.example\n' >bad
try query -v hosts.bly bad
check 'a name that cannot be read is not printed by -v' test ! -s out
try query --mark hosts.bly bad
printf '?\ta..b\n?\t.\nads.example\tads.example\n' >want
check 'and is marked by ?' cmp out want
printf '192.0.2.1\n1.2\n7\n' | try build --as domain -n 9 -o none.bly
check 'an IPv4 address is no name' grep -q '3 lines have no key' err
try query hosts.bly bad
status_is 'a name that cannot be read is no "no"' 2
check 'and the note says how to write it' grep -q \
    "2 lines have no key of the form domain: the first is line 1 of 'bad': it must be a name such as example.com" err
printf '1.2.3.4-1.2.3.9\n10.0.0.0/8\n' >ranges
try build --as cidr -p 1e-9 -o nets.bly ranges
check 'a range is not read, and a note says so' grep -q \
    "1 line has no key of the form cidr.*such as 192.0.2.0/24" err
printf '/srv/www/\n' | try build --as path -n 10 -p 1e-9 -o paths.bly
printf '/srv/www/a\n/srv/www2\n//srv//./www\n' >asked
try query --mark paths.bly asked
out_is 'paths' 0 '/srv/www\t/srv/www/a\n\t/srv/www2\n/srv/www\t//srv//./www\n'
try query --mark -F paths.bly -F paths.bly --key /srv/www/b
out_is 'two filters' 0 '/srv/www\t/srv/www\t/srv/www/b\n'
try query --mark --line-number --with-filename paths.bly asked
out_is 'with names and numbers' 0 '/srv/www\tasked:1:/srv/www/a
\tasked:2:/srv/www2\n/srv/www\tasked:3://srv//./www\n'

seq -f '10.0.%.0f.0/24' 1 200 | cat hosts - >wrong
try build --as domain --comment '#' -n 300 -o none.bly wrong
check 'most lines have no key: a warning' grep -q \
    'warning: only [0-9]* of [0-9]* lines have a key: are -f' err
{ seq 1 50 | sed 's/^/# /'; seq 1 200 | sed 's/.*/0.0.0.0 h&.example/'; } >hosts2
try build --as domain --comment '#' -o x.bly hosts2
check 'skipped lines are not keys' grep -q \
    'warning: only 0 of 200 lines have a key' err
check 'and the error has the same count' grep -q 'no line has a key: 200 lines have no such key' err
echo a.example >>hosts2
try build --as domain --comment '#' -o most.bly hosts2
check 'nor do they count' grep -q 'warning: only 1 of 201 lines have a key' err

# ---- who cannot -------------------------------------------------------------
for command in 'count hosts.bly' 'get hosts.bly' 'put hosts.bly' \
    'dedup -a --known hosts.bly' 'join --as cidr hosts' 'dedup --as path' \
    'sketch --as domain -o x'; do
    # shellcheck disable=SC2086  # a command and its arguments
    try $command hosts </dev/null
    status_is "$command is refused" 2
done
for options in '-l 1 -k bloomier:bits=4' '--without hosts -k cascade'; do
    # shellcheck disable=SC2086  # options
    try build --as domain $options -o x.bly hosts
    refused "build $options" 'keys that stand alone'
done
for options in -i --trim --upper --keep-cr; do
    try build --as cidr $options -o x.bly hosts
    refused "build $options" 'for keys that are text'
done
try query --as text hosts.bly asked
refused 'another class than the filter states' 'differs from --as'
try unite -o x.bly hosts.bly paths.bly
refused 'other keys to unite' 'form'

# ---- exact answers ----------------------------------------------------------
# At a rate of 30 % the filter alone errs often.
printf '%s\n' a.example b.a.example sub.b.example x >list
try build --as domain -p 30% -o rough.bly list
try query --mark rough.bly list
cut -f 1 out | sort -u >sorted
seq 1 3000 | sed 's/$/.a.example/; p; s/[.]a/.b/; p; s/^/b.a.example./' >asked
grep -E '(^|[.])(a[.]example|sub[.]b[.]example)$' asked >want
try query --verify-with sorted rough.bly asked
check '--verify-with: no line by mistake' cmp out want
"$BLOOMERY" query -v --verify-with sorted rough.bly asked >out
grep -vxFf want asked >wanted
check '--verify-with -v' cmp out wanted
try query --verify-with sorted --json rough.bly asked
check 'how many the filter alone would find' \
    sh -c 'sed -n "s/.*\"unlisted\": *\([0-9]*\).*/\1/p" out | grep -qx "[1-9][0-9]*"'
try query --verify-with sorted --mark rough.bly --key 7.b.a.example
out_is 'the innermost entry that is listed' 0 'b.a.example\t7.b.a.example\n'
printf '# a list\n\n0 a.example # old\n0 B.a.example\n0 no/name\n0\n' >raw
columns="--comment # --skip-blank --blanks -f 2"
# shellcheck disable=SC2086  # options
try build --as domain -p 30% $columns -o raw.bly raw
# shellcheck disable=SC2086
"$BLOOMERY" query --mark $columns raw.bly raw 2>note | cut -f 1 |
    LC_ALL=C sort -u >marked
printf '\n?\na.example\nb.a.example\n' >want
check 'a list from --mark: bad lines' cmp marked want
printf '%s\n' a.example c.a.example '?' '' z.example >asks
try query --verify-with marked raw.bly asks
check 'they do no harm' [ "$(cat status)" -eq 2 ]
printf 'a.example\nc.a.example\n' >want
check 'and the entries are found' cmp out want
printf '?\na\n' >marked
try build --as path -n 9 -p 30% -o marked.bly marked
try query --verify-with marked --mark marked.bly --key '?/b' --key a
out_is 'a path may be ?' 0 '?\t?/b\na\ta\n'
seq 1 2 9999 | sort >odd
try build -p 20% -o odd.bly odd
seq 1 10000 >all
try query --verify-with odd odd.bly all
seq 1 2 9999 >want
check '--verify-with of plain lines' cmp out want
: >nothing
try query --verify-with nothing odd.bly all
out_is 'an empty list' 1 ''
try query --verify-with all odd.bly all
refused 'a list that is not sorted' "line 10 of 'all' is not in order"
tr a-z A-Z <sorted >upper
try query --verify-with upper rough.bly asked
refused 'a list that is written otherwise' "line 1 of 'upper' is not written as keys of the form domain are compared: make the list with 'query --mark"
printf 'B\na\n' >mixed
try build -i -n 9 -o folded.bly mixed
try query --verify-with mixed folded.bly all
refused 'a list in another case' "line 1 of 'mixed' is not written as keys of the form text:case=lower are compared: change"
printf '1\r\n3\r\n' >crlf
try query --verify-with crlf odd.bly all
refused 'a list with CR LF' "line 1 of 'crlf' ends with CR LF"
try query --verify-with - odd.bly all
refused 'a list from a pipe' 'cannot be standard input'
try query --verify-with none odd.bly all
refused 'a list that is not there' "cannot read 'none': .*: check the name"
printf '61\n' | try build --as hex -n 10 -o hex.bly
try query --verify-with odd hex.bly all
refused 'keys that are no text' 'for keys that are text'

# ---- filters that go together -----------------------------------------------
echo evil.example | try build --as domain -n 100 -p 1e-9 -o names.bly
echo tracker | try build -n 100 -p 1e-9 --as any -o any.bly
echo example | try build --as domain -n 100 -p 1e-9 -o wide.bly
for command in unite overlap; do
    out='-o x.bly'
    [ $command = unite ] || out=
    for pair in 'names.bly any.bly' 'any.bly names.bly'; do
        # shellcheck disable=SC2086  # words
        try $command --assume-form $out $pair
        refused "$command: markers may be missing" \
            "'any.bly' does not state the form of its keys.*--as domain"
    done
done
check 'nothing was written' [ ! -e x.bly ]
try query --assume-form --mark -F names.bly -F any.bly --key a.tracker
out_is 'query: all entries of a filter without a form' 0 \
    '\ttracker\ta.tracker\n'
try intersect -o x.bly names.bly wide.bly
refused 'intersect: entries, not keys' 'of the form domain cannot be intersected'
try query -c --all -F names.bly -F wide.bly --key evil.example
out_is 'query --all: a key within an entry of each' 0 '1\n'

# ---- random lists -----------------------------------------------------------
entries=$(work 2000 700) asked=$(work 4000 1500)
for class in domain cidr path; do
    oracle "$here" make $class "$entries" "$asked"
    oracle "$here" mark $class '' '' >want
    for kind in standard blocked ribbon fuse quotient buffered cuckoo; do
        rate='-p 1e-9'
        [ $kind != cuckoo ] || rate='-p 1e-8'
        # shellcheck disable=SC2086  # an option and its value
        try build --as $class -k $kind $rate -j 3 -o f.bly list
        try query --mark f.bly asked
        check "$class, $kind: what each line lies within" cmp out want
    done
    half=$((entries / 2))
    head -n "$half" list | try build --as $class -n "$entries" -p 1e-9 -o g.bly
    try add g.bly list
    try query --mark g.bly asked
    check "$class: by build and add" cmp out want
    tail -n "+$half" list >rest
    try build --as $class -n "$entries" -p 1e-9 -o h.bly rest
    head -n "$half" list | try build --as $class -n "$entries" -p 1e-9 -o i.bly
    try unite -o u.bly h.bly i.bly
    try query --mark u.bly asked
    check "$class: united" cmp out want
    try build --as $class -k bitsandblooms -p 1e-9 -o foreign list
    try query --mark --as $class foreign asked
    check "$class: of another system, which states no form" cmp out want
done

# ---- removed ----------------------------------------------------------------
printf '10.0.0.0/8\n10.1.0.0/16\n' | try build --as cidr -k cuckoo -n 100 \
    -p 1e-8 -o moving.bly
echo 10.1.0.0/16 | try remove moving.bly
try query --mark moving.bly --key 10.1.2.3
out_is 'an entry is removed' 0 '10.0.0.0/8\t10.1.2.3\n'
for i in 1 2 3 4 5 6 7 8 9 10; do
    echo "10.$i.0.0/16" | try add moving.bly
done
status_is 'a marker is added once, however often keys are' 0

# ---- other alphabets --------------------------------------------------------
printf 'b\303\274cher.example\n' | try build --as domain -n 10 -o idna.bly
if grep -q 'no key of the form' err; then
    skip 'names in other alphabets' 'built without ICU'
else
    printf 'www.B\303\234CHER.example\nXN--bcher-kva.example\n' >asked
    try query -c idna.bly asked
    out_is 'names in other alphabets' 0 '2\n'
fi

# ---- serve ------------------------------------------------------------------
"$BLOOMERY" --help | grep -q '^  serve ' || {
    skip serve 'built without BLY_SERVE'
    finish
}
printf '10.9.8.7\n11.0.0.1\nx\n' | try serve nets.bly
printf '1\n0\n' >want
check 'serve: addresses within a network' sh -c 'head -n 2 out | cmp - want'
check 'serve: a line that is no address' sh -c 'sed -n 3p out | grep -q address'

printf '%s' '9:nets 10.9,17:nets mail.example,17:nets 10.1.200.300,13:nets 10.9.8.7,13:nets 11.0.0.1,' |
    try serve --protocol socketmap nets.bly
out_is 'Postfix: names and parts of addresses are not found' 0 \
    '9:NOTFOUND ,9:NOTFOUND ,9:NOTFOUND ,5:OK OK,9:NOTFOUND ,'
printf '18:nets m\303\274ll.example,' | try serve --protocol socketmap nets.bly
check 'Postfix: what another library might read is a fault' grep -q ':PERM ' out
echo example.com | try build --as domain -p 1e-9 -n 10 -o names.bly
printf 'get a@x.example.com\nget 2001:db8::1\nget x.example.com\nget x!y.example.com\nget a/b.example.com\nget x..example.com\n' |
    try serve --protocol tcp_table names.bly
printf '500 not%%20found\n500 not%%20found\n200 OK\n400\n400\n400\n' >want
check 'Postfix: names that are none, within a domain, are faults' \
    sh -c 'sed "s/^400 .*/400/" out | cmp - want'
printf '192.0.2.7\n192.0.2.7\r\n2001:db8::1\n[2001:db8::1]\n[192.0.2.7]\n192.0.2\n[]\n' |
    try serve names.bly
printf '0\n0\n0\n0\n0\nerror\nerror\n' >want
check 'serve: addresses are within no domain' \
    sh -c 'sed "s/^[^01].*/error/" out | cmp - want'
printf 'get x!y.example.com\nget 10.9\nget mail.example\nget fe80::1%%25eth0\n' >asked
printf '400\n500 not%%20found\n500 not%%20found\n400\n' >want
for order in 'nets.bly names.bly' 'names.bly nets.bly'; do
    # shellcheck disable=SC2086  # two filters
    try serve --protocol tcp_table $order <asked
    check "Postfix: a fault of one filter is one of all, $order" \
        sh -c 'sed "s/^400 .*/400/" out | cmp - want'
done
echo 2001:db8::/32 | try build --as cidr -p 1e-9 -n 10 -o six.bly
printf 'get [10.9.8.7]\nget IPv6:2001:db8::1\nget [ipv6:2001:db8::1]\nget [2001:db8::1]\nget [11.0.0.1]\n' |
    try serve --protocol tcp_table nets.bly six.bly
printf '200 OK\n200 OK\n200 OK\n200 OK\n500 not%%20found\n' >want
check 'Postfix: addresses as mail and URLs write them' cmp out want
printf 'get 50%%25 of all\nget a%%25b.org@example.org\nget [fe80::1%%25eth0]\n' |
    try serve --protocol tcp_table nets.bly six.bly
printf '500 not%%20found\n500 not%%20found\n400\n' >want
check 'Postfix: a % is a fault only in what may be an address of IPv6' \
    sh -c 'sed "s/^400 .*/400/" out | cmp - want'
printf '192.0.2.7\n192.0.2\n' | try serve --protocol squid names.bly
check 'Squid: addresses are within no domain' \
    sh -c 'sed -n 1p out | grep -x ERR && sed -n 2p out | grep "^BH "'
echo 192.0.2.7 | try serve --all nets.bly names.bly
out_is 'serve --all: an address is within no domain' 0 '0\n'

finish
