# check.sh - a list of bad URLs: names in a canonical form, exact verdicts, and
# no more confirmations than the rate says.
. "${1:?}/lib.sh"

# form URL WANTED: the expression of a list entry.
form() {
    printf '%s\n' "$1" | "$PROGRAM" --list >formed
    check "canonical form of $1" test "$(cat formed)" = "$2"
}

form 'http://Bad.ORG' 'bad.org/'
form 'bad.org' 'bad.org/'
form 'https://u:p@bad.org:8080/a#b' 'bad.org/a'
form 'http://..bad...org./a/' 'bad.org/a/'
form 'http://bad.org/a/./b/../../../c//d' 'bad.org/c/d'
form 'http://bad.org/a/b/..' 'bad.org/a/'
form 'http://bad.org//a?b//../c' 'bad.org/a?b//../c'
form 'http://bad.org?q' 'bad.org/?q'
form 'http://bad.org/%25%32%35' 'bad.org/%25'
form 'http://bad.org/%2525252525252525' 'bad.org/%25'
form 'http://bad.org/%%%25%32%35asd%%' 'bad.org/%25%25%25asd%25%25'
form 'http://bad.org/%41 b%23%7f' 'bad.org/A%20b%23%7F'
form 'http://3279880203/blah' '195.127.0.11/blah'
form 'http://0xc3.0177.11/' '195.127.0.11/'
form 'http://1.2.3.256/' '1.2.3.256/'

printf '%s\n' 'http://a.b.c/1/2.html?param=1' | "$PROGRAM" | cut -f 1 >told
check 'the eight names of the example' test "$(tr '\n' ' ' <told)" = \
    'a.b.c/1/2.html?param=1 a.b.c/1/2.html a.b.c/ a.b.c/1/ '\
'b.c/1/2.html?param=1 b.c/1/2.html b.c/ b.c/1/ '
echo 'http://a.b.c.d.e.f.g/1.html' | "$PROGRAM" | cut -f 1 >told
check 'five hosts of seven parts' test "$(tr '\n' ' ' <told)" = \
    'a.b.c.d.e.f.g/1.html a.b.c.d.e.f.g/ c.d.e.f.g/1.html c.d.e.f.g/ '\
'd.e.f.g/1.html d.e.f.g/ e.f.g/1.html e.f.g/ f.g/1.html f.g/ '
echo 'http://a.b.c.d.e.f/1/2/3/4/5?6' | "$PROGRAM" | cut -f 1 | sort -u >told
check 'thirty names at most' test "$(wc -l <told)" -eq 30
echo 'http://127.0.0.1/a' | "$PROGRAM" | cut -f 1 >told
check 'a single host for an address' test "$(tr '\n' ' ' <told)" = \
    '127.0.0.1/a 127.0.0.1/ '

refused 'an entry without a host' '^blocklist: .* the first is line 2$' sh -c \
    'printf "bad.org\nhttp:///a\nworse.org\n" | "$1" --list >told' - "$PROGRAM"
check 'the other entries are printed' test "$(wc -l <told)" -eq 2
# Lists in another syntax would never match anything.
printf '%s\n' '! Title: adverts' '||bad.org^' '0.0.0.0 bad.org' '*.bad.org' \
    "127.0.0.1$(printf '\t')bad.org" '@@||good.org^$third-party' \
    'bad.org##.advert' >other
refused 'lists of another syntax' 'other: no host or URL in 7 lines.*line 1$' \
    "$PROGRAM" --list other
printf '%s\n' '# comment' 'Bad.org  # why' '' 'worse.org/a/ # x' 'bäd.org' \
    '[2001:db8::1]:80/#top' >list
"$PROGRAM" --list list >told
check 'comments and blank lines of lists' test "$(tr '\n' ' ' <told)" = \
    'bad.org/ worse.org/a/ b%C3%A4d.org/ [2001:db8::1]/ '
refused 'no file' 'none: No such file' "$PROGRAM" none
refused 'an option that is none' 'usage: blocklist' "$PROGRAM" --lists

command -v python3 >/dev/null || { skip 'the model' 'no python3'; finish; }

# URLs named in this machine's documents, and odd ones.
grep -rhoaE 'https?://[A-Za-z0-9][^] <>"'"'"'`)}|,\^]*' "$MACHINE/usr/share/doc" |
    sort -u | awk "NR % $(work 8 1) == 0" >real
python3 "$USE/model.py" urls "$(work 4000 200000)" 7 >odd
[ "$(wc -l <real)" -ge 500 ] || {
    absent 'URLs of documents' 'there are too few'
    cp odd real
}
for urls in real odd; do
    "$PROGRAM" $urls >told 2>note || true
    python3 "$USE/model.py" expressions $urls >wanted
    check "$urls: the model's names" cmp told wanted
    figure "$urls URLs" "$(wc -l <$urls), $(wc -l <told) names"
done

# A list of pages, folders and hosts, from every fiftieth of the real ones.
awk 'NR % 50 == 0 { print; next }
    /github/ { next }
    NR % 50 == 20 { sub(/[^\/]*$/, ""); print; next }
    NR % 500 == 30 { split($0, p, "/"); if (!many[p[3]]++) print p[3] }' real \
    >entries
"$PROGRAM" --list entries 2>note | sort -u >bad || true
cat real odd >visits
"$BLOOMERY" build -k fuse -p 1e-6 -o bad.bly bad
"$PROGRAM" visits 2>note | "$BLOOMERY" query -f 1 bad.bly |
    "$BLOOMERY" join -f 1 - bad | cut -f 2- | uniq | sort -u >blocked
python3 "$USE/model.py" bad visits | sort -u >wanted
check 'the verdicts are exact' cmp blocked wanted
check 'some are blocked, and some are not' test -s blocked -a \
    "$(wc -l <blocked)" -lt "$(sort -u visits | wc -l)"
"$PROGRAM" entries 2>note | "$BLOOMERY" query -f 1 bad.bly | cut -f 2- |
    sort -u >found || true
sort -u entries | comm -23 - found >missed
"$PROGRAM" --list missed >told 2>note || true
check 'no entry that has a host is passed over' test ! -s told
figure 'verdicts' "$(wc -l <blocked) of $(wc -l <visits) URLs are blocked, by \
$(wc -l <bad) entries in $(wc -c <bad.bly) bytes"

# Needless confirmations, with a filter of a high rate.
"$BLOOMERY" build -p 0.01 -o rough.bly bad
"$PROGRAM" visits 2>note | cut -f 1 | sort -u | comm -23 - bad >clean
in_band 'names that are confirmed without need' \
    "$("$BLOOMERY" query -c rough.bly clean)" "$(wc -l <clean)" \
    "$(field rough.bly rate)"

# Chrome's filter of 2009: 25 bits for each 32-bit prefix, and 20 probes.
check '6.57e-6, and 6.08e-6 with 17 probes' awk 'BEGIN {
    f = (1 - exp(-20 / 25)) ^ 20; g = (1 - exp(-17 / 25)) ^ 17
    exit sprintf("%.3g %.3g", f, g) != "6.57e-06 6.08e-06" }'
check '10^6 prefixes of 2^32: 2.3e-4' awk 'BEGIN {
    exit sprintf("%.1e", 1e6 / 2 ^ 32) != "2.3e-04" }'
for k in 20 17; do
    "$BLOOMERY" plan -k standard:m=25000000,k=$k -n 1e6 --json |
        sed -n 's/^ *"rate": \([^,]*\),*$/\1/p'
done >rates
check 'the plan says the same' test "$(awk '{ printf "%.3g ", $1 }' rates)" = \
    '6.57e-06 6.08e-06 '
n=$(work 40000 1000000)
asked=$(work 100000 2000000)
python3 "$USE/model.py" prefixes 0 "$n" >prefixes
python3 "$USE/model.py" prefixes "$n" $((n + asked)) >strangers
"$BLOOMERY" build -k standard:m=$((25 * n)),k=20 --as hex -n "$n" -o old.bly \
    prefixes
check 'every prefix is found' test "$(
    "$BLOOMERY" query -c --as hex old.bly prefixes)" -eq "$n"
different=$(sort -u prefixes | wc -l)
in_band 'strangers by their prefixes' \
    "$("$BLOOMERY" query -c --as hex old.bly strangers)" "$asked" \
    "$(awk -v n="$different" -v f="$(field old.bly rate)" \
        'BEGIN { s = n / 2 ^ 32; printf "%.9g", s + (1 - s) * f }')"
figure 'of these by the filter alone' "$(field old.bly rate)"

# The set of prefixes that replaced it: sorted, as 16-bit differences, with a
# full one for larger differences, or after a hundred. Exact.
sort -u prefixes >prefixes.set
cat >sizes.awk <<'END_AWK'
function value(hex,  i, v) {
    for (i = 1; i <= 8; i++)
        v = 16 * v + index("0123456789abcdef", substr(hex, i, 1)) - 1
    return v
}
{
    now = value($0)
    if (NR == 1 || now - last >= 65536 || ++run > 100) {
        whole++
        run = 0
    }
    last = now
}
END { print 8 * whole + 2 * (NR - whole) }      # a whole one says where, too
END_AWK
sets=$(awk -f sizes.awk prefixes.set)
sort strangers | join - prefixes.set | wc -l >false.prefixes
in_band 'strangers by the set of prefixes' "$(cat false.prefixes)" "$asked" \
    "$(awk -v n="$different" 'BEGIN { printf "%.9g", n / 2 ^ 32 }')"
check 'the old filter had all of these, too' test "$(
    "$BLOOMERY" query -c --as hex old.bly strangers)" -ge \
    "$(cat false.prefixes)"

# Coded gaps of whole names in the same range make equally few errors in fewer
# bits.
awk -v n="$n" 'BEGIN {
    for (i = 0; i < n; i++) print "host" i ".example.org/" }' >names
awk -v n="$n" -v m="$asked" 'BEGIN {
    for (i = n; i < n + m; i++) print "host" i ".example.org/" }' >names.other
"$BLOOMERY" build -k gcs -p "$(awk -v n="$n" 'BEGIN {
    printf "%.12g", n / 2 ^ 32 }')" -o gaps.bly names
check 'gaps: every name is found' test \
    "$("$BLOOMERY" query -c gaps.bly names)" -eq "$n"
in_band 'strangers by gaps' "$("$BLOOMERY" query -c gaps.bly names.other)" \
    "$asked" "$(field gaps.bly rate)"
check 'gaps: no more errors than prefixes have' awk -v n="$n" \
    -v f="$(field gaps.bly rate)" 'BEGIN { exit f > n / 2 ^ 32 * 1.00001 }'
check 'gaps: fewer bytes than prefixes, and these than the filter or whole ones' \
    test "$(wc -c <gaps.bly)" -lt "$sets" -a \
    "$(wc -c <gaps.bly)" -lt "$(wc -c <old.bly)"
for one in "25 bits a prefix:$(wc -c <old.bly)" "32 bits:$((4 * different))" \
    "differences of 16 bits:$sets" "gcs:$(wc -c <gaps.bly)"; do
    figure "$different prefixes, ${one%:*}" "$(awk -v n="$n" -v b="${one#*:}" \
        'BEGIN { printf "%d bytes, %.2f bits each", b, 8 * b / n }')"
done

# The hash of its probes, from a 64-bit key and a prefix.
python3 - >mixed <<'END'
def mix(key, c):
    a, b = key & 0xffffffff, key >> 32
    for right, left, last in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
        a = (a - b - c & 0xffffffff) ^ c >> right
        b = (b - c - a & 0xffffffff) ^ (a << left & 0xffffffff)
        c = (c - a - b & 0xffffffff) ^ b >> last
    return c


print("%08x %08x" % (mix(0x0123456789abcdef, 0xdeadbeef), mix(1, 1)))
END
check 'the hash of the probes' test "$(cat mixed)" = '2c687a25 5b2e34ee'
finish
