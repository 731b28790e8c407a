# check.sh - revocation: no certificate of the universe is misjudged, on the
# first day and after a day's changes, in the published number of bytes.
. "${1:?}/lib.sh"

command -v python3 >program || { skip revocation 'no python3'; finish; }

# revoked FILTER SERIALS: the serials reported as revoked.
revoked() {
    case $1 in
    *.card) "$BLOOMERY" query --format "$card" "$1" "$2" ;;
    *) "$BLOOMERY" query "$1" "$2" ;;
    esac || test $? = 1
}

# A filter with a block for each authority: lines are AUTHORITY,SERIAL.
card=clubcard:keys=comma

# formula REVOKED OTHERS: published bits per revoked certificate.
formula() {
    awk -v r="$1" -v s="$2" 'BEGIN {
        print 1.44 * log(s / r) / log(2) + 1.44 * (1.5 + sqrt(2)) }'
}

# built NAME KIND ISSUED REVOKED: makes NAME.bly, or NAME.card of the kind
# $card, and sets BITS per revoked one; right for all. The formula omits headers
# and padding of levels to lines.
built() {
    [ "$2" = "$card" ] && file=$1.card || file=$1.bly
    "$BLOOMERY" build -k "$2" --within "$3" -o "$file" "$4"
    revoked "$file" "$3" >said
    sort said | cmp -s - "$4.sorted" && right=yes || right=no
    check "$1: right for all $(wc -l <"$3")" test $right = yes
    check "$1: the file is whole" "$BLOOMERY" check "$file"
    count=$(wc -l <"$4")
    known=$(formula "$count" $(($(wc -l <"$3") - count)))
    bytes=$(wc -c <"$file")
    bits=$(awk -v b="$bytes" -v n="$count" 'BEGIN { print 8 * b / n }')
    figure "$1" "$bytes bytes, $bits bits a revoked one, formula $known, list \
$(wc -c <"$4")"
}

# ---- Sizes -------------------------------------------------------------------

# serials SEED N: 20 bytes each, as random as the rules for certificates
# require.
cat >serials.py <<'END'
import random, sys
rng = random.Random(int(sys.argv[1]))
sys.stdout.writelines(f"{rng.getrandbits(160):040X}\n"
                      for i in range(int(sys.argv[2])))
END

# The published formula in bits; the bits of a cascade of Bloom filters; and
# that other kinds of levels take less.
while read -r r s known; do
    check "$r of $((r + s)): the known $known bits" awk -v f="$(formula "$r" "$s")" \
        -v known="$known" 'BEGIN { exit (f - known) ^ 2 > .006 ^ 2 }'
    [ "$EFFORT$r" != quick1000 ] && [ "$EFFORT$r" != quick5000 ] || continue
    python3 serials.py 7 $((r + s)) >issued
    head -n "$r" issued >some
    sort some >some.sorted
    built "Bloom filters, $r of $((r + s))" cascade:of=standard issued some
    images=$("$BLOOMERY" info --json "Bloom filters, $r of $((r + s)).bly" |
        sed -n '/geometry/{n;s/[ ,]//g;p;}' |
        awk '{ print int($1 / 16777216) % 256 }')
    bare=$((bytes - 128 * (1 + images)))
    figure "without $((1 + images)) headers" "$(awk -v b=$bare -v r="$r" \
        'BEGIN { print 8 * b / r }') bits"
    [ "$r" -lt 5000 ] || check "$r of $((r + s)): within 3 % of the formula" awk \
        -v b=$bare -v r="$r" -v f="$known" 'BEGIN {
            exit (8 * b / r / f - 1) ^ 2 > .03 ^ 2 }'
done <<END
1000 100000 13.764
2000 20000 8.980
5000 $(work '200000 11.860' '200000 11.860
10000 1000000 13.764
100000 600000 7.918')
END
if [ "$EFFORT" = full ]; then
    check 'a seventh revoked: less than a byte for each, as CRLite' awk \
        -v bits="$bits" 'BEGIN { exit bits >= 8 }'
fi

# ---- A day -------------------------------------------------------------------

all=$(work 60000 1000000) old=$((all / 100)) fresh=$((all / 200))
python3 serials.py 1 $((all + fresh)) |
    awk '{ print (NR % 10 ? "large" : "small") "," $0 }' >serials
head -n "$all" serials >issued
awk 'NR % 100 == 0' issued >first
sort first >first.sorted
figure 'certificates' "$all of two authorities, of which $(wc -l <first) are \
revoked, all by the small one; serials are made from a seed"
built 'one filter for all' cascade issued first
one=$bytes
built 'first day' "$card" issued first
[ "$EFFORT" = quick ] || check 'a block for each takes less' test "$bytes" -lt "$one"
[ "$EFFORT" = quick ] || check 'it takes less than the formula' awk \
    -v b="$bits" -v f="$known" 'BEGIN { exit b > f }'
check 'and a tenth of the list at most' test $((10 * bytes)) -le "$(wc -c <first)"

# A day later: certificates have expired and been issued, and some were revoked.
tail -n +$((fresh + 1)) serials >issued.2
sort issued.2 | comm -12 first.sorted - >still
awk -v n="$all" -v every="$(work 1500 4000)" \
    'NR % every == 7 || NR > n - 3' issued.2 | sort -u - still >second
cp second second.sorted
figure 'a day later' "$fresh ended, $fresh came, \
$(comm -13 first.sorted second | wc -l) were revoked"

# The change is the list of errors of the first filter.
revoked 'first day.card' issued.2 | sort >said.2
comm -3 second said.2 | tr -d '\t' | sort >changed
cp changed changed.sorted
built 'the day' "$card" issued.2 changed
daily=$bytes
built 'all anew' "$card" issued.2 second
figure 'what the day costs' "$daily bytes instead of $bytes"
check 'the day costs less than all anew' test "$daily" -lt "$bytes"
{ revoked 'first day.card' issued.2; revoked 'the day.card' issued.2; } | sort |
    uniq -u >both
check 'both together are right for all that are valid now' cmp both second
check 'new ones among them' test -n "$(tail -n "$fresh" serials | sort |
    comm -12 - second)"
revoked 'all anew.card' issued.2 | sort | cmp -s - both && right=yes || right=no
check 'and agree with one that is built anew' test $right = yes

# The page's commands for the next day, on lists with duplicate lines.
mkdir day
cp 'first day.card' day/revoked.card
cat issued.2 second >day/serials.txt
head -n 9 issued.2 | cat issued.2 - >day/issued.txt
cat second second >day/revoked.txt
sed -n '/^\*\*The next day/,/^Of a million/s/^\$ //p' "$USE/use.md" >day/commands
(
    cd day
    PATH=$(dirname "$BLOOMERY"):$PATH
    export PATH
    sh commands >told
)
check "the page's commands do the same, though lines come twice" cmp day/told second

# ---- A real authority --------------------------------------------------------

if command -v openssl >program; then
    cat >ca.cnf <<'END'
[ca]
default_ca = it
[it]
database = index.txt
new_certs_dir = .
certificate = ca.pem
private_key = ca.key
rand_serial = yes
default_md = sha256
default_days = 30
default_crl_days = 30
policy = any
[any]
commonName = supplied
END
    : >index.txt
    for who in ca host; do
        openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 \
            -out $who.key 2>>ssl.err || openssl genpkey -algorithm EC \
            -pkeyopt ec_paramgen_curve:P-256 -out $who.key 2>>ssl.err
    done
    openssl req -x509 -config ca.cnf -key ca.key -subj /CN=ca -out ca.pem \
        2>>ssl.err || openssl req -x509 -key ca.key -subj /CN=ca -out ca.pem \
        2>>ssl.err
    openssl req -new -key host.key -subj /CN=host -out host.csr 2>>ssl.err
    hosts=$(work 8 200)
    for i in $(seq "$hosts"); do
        openssl ca -batch -config ca.cnf -subj "/CN=host$i" -in host.csr \
            -out "host$i.pem" -notext 2>>ssl.err
        [ $((i % 4)) != 0 ] || openssl ca -config ca.cnf -revoke "host$i.pem" \
            2>>ssl.err
    done
    openssl ca -config ca.cnf -gencrl -out ca.crl 2>>ssl.err
    for pem in host*.pem; do
        openssl x509 -in "$pem" -noout -serial
    done | sed 's/^serial=/ca,/' >issued
    openssl crl -in ca.crl -noout -text | sed -n 's/^ *Serial Number: /ca,/p' >crl
    sort crl >crl.sorted
    check 'the list of the authority has every fourth' test "$(wc -l <crl)" = \
        $((hosts / 4))
    built 'an authority' "$card" issued crl
    figure 'its list' "$(wc -c <ca.crl) bytes as it comes"
    wrong=0
    for i in $(seq "$hosts"); do
        valid=yes told=yes
        openssl verify -CAfile ca.pem -CRLfile ca.crl -crl_check \
            "host$i.pem" >>ssl.err 2>&1 || valid=no
        "$BLOOMERY" query -q --format "$card" 'an authority.card' \
            --key "ca,$(openssl x509 -noout -serial -in "host$i.pem" |
                cut -d = -f 2)" && told=no
        [ $valid = $told ] || wrong=$((wrong + 1))
    done
    check 'each certificate is what openssl verify says' test $wrong = 0
else
    skip 'a real authority' 'no openssl'
fi

# ---- Refusals ----------------------------------------------------------------

printf 'ca,A\nca,B\n' >issued
printf 'ca,A\nca,C\n' >some
refused 'a revoked one that was not issued' 'ca,C|1 of' "$BLOOMERY" build \
    -k cascade --within issued -o bad.bly some
refused 'the same, in a block' 'not in the list' "$BLOOMERY" build \
    -k clubcard:keys=comma --within issued -o bad.bly some
check 'and nothing is written' test ! -e bad.bly
refused 'no other certificates' 'within|without|other' "$BLOOMERY" build \
    -k cascade -o bad.bly some
refused 'no list' 'none.*No such file' "$BLOOMERY" build -k cascade \
    --within issued -o bad.bly none
head -c 100 'all anew.card' >cut.card
refused 'a filter that was cut short' 'cut.card' "$BLOOMERY" query \
    --format "$card" cut.card some
finish
