# check.sh - wanted: everybody on the list is found, others at the filter's
# rate, and the file tells a finder exactly as much as computed.
. "${1:?}/lib.sh"

words=/usr/share/dict/american-english
[ -r $words ] || { skip wanted 'no list of words (Debian: wamerican)'; finish; }

# Everybody: names from the dictionary with years of birth. One in 500 is
# wanted.
grep -x '[A-Z][a-z]*' $words | sort -u | awk -v years="$(work 10 70)" '{
    for (year = 1940; year < 1940 + years; year++)
        print $0 "," year }' >everybody
awk 'BEGIN { srand(28) } rand() < 1 / 500' everybody >wanted
comm -23 everybody wanted >others
all=$(wc -l <everybody) n=$(wc -l <wanted)
figure 'people' "$all, of whom $n are wanted"
umask 077
echo 000102030405060708090a0b0c0d0e0f >secret
echo 0f0e0d0c0b0a09080706050403020100 >guess

# ---- In the field ------------------------------------------------------------

for kind in standard blocked fuse gcs; do
    "$BLOOMERY" build -k $kind -H siphash --key-file secret -n "$n" -p 0.01 \
        -o $kind.bly wanted
    check "$kind: everybody who is wanted is found" test "$n" -eq \
        "$("$BLOOMERY" query -c --key-file secret $kind.bly wanted)"
    check "$kind: no name is in the file" \
        sh -c "cut -d , -f 1 wanted | awk 'length > 4' >names
               ! grep -q -a -F -f names $kind.bly"
    rate=$("$BLOOMERY" info --json --key-file secret $kind.bly |
        sed -n 's/^ *"rate": \([^,]*\),*$/\1/p')
    in_band "$kind: others who cost a call" \
        "$("$BLOOMERY" query -c --key-file secret $kind.bly others)" \
        "$((all - n))" "$rate"
done

# ---- A finder with the key, or with an unkeyed filter ------------------------

# The table of use.md.
check 'known: 500 of a million, at three rates' awk 'BEGIN {
    split(".01 .001 .000001", p, " ")
    split("10495 1500 501", pass, " "); split(".048 .333 .998", true, " ")
    for (i = 1; i <= 3; i++) {
        here = 500 + 999500 * p[i]; chance = 1 / (1 + (1e6 / 500 - 1) * p[i])
        if (here - pass[i] > .6 || pass[i] - here > .6 ||
            chance - true[i] > .0006 || true[i] - chance > .0006)
            exit 1 } }'
for p in 0.01 0.001 0.000001; do
    "$BLOOMERY" build -n "$n" -p $p -o plain.bly wanted
    "$BLOOMERY" query plain.bly everybody >pass
    check "$p: all who are wanted are among those who pass" \
        test -z "$(comm -13 pass wanted)"
    rate=$(field plain.bly rate)
    in_band "$p: others among those who pass" \
        $(($(wc -l <pass) - n)) $((all - n)) "$rate"
    figure "$p: of those who pass are wanted" "$(awk -v n="$n" -v all="$all" \
        -v pass="$(wc -l <pass)" -v p="$rate" 'BEGIN {
            printf "%.3f, computed %.3f", n / pass, 1 / (1 + (all / n - 1) * p)
        }')"
done

# ---- And without the key -----------------------------------------------------

refused 'no key' 'key-file|secret' "$BLOOMERY" query standard.bly wanted
refused 'another key' 'secret|key' \
    "$BLOOMERY" query --key-file guess standard.bly wanted
# The bits behind the header in a filter of the finder's own, queried with a
# guessed key: everyone looks alike.
"$BLOOMERY" build -H siphash --key-file guess -n "$n" -p 0.01 -o own.bly wanted
{ head -c 128 own.bly; tail -c +129 standard.bly; } >forged.bly
rate=$("$BLOOMERY" info --json --key-file secret standard.bly |
    sed -n 's/^ *"rate": \([^,]*\),*$/\1/p')
guessed() {
    "$BLOOMERY" query -c --no-verify --key-file guess forged.bly "$1" || true
}
in_band 'a guessed key: those who are wanted' "$(guessed wanted)" "$n" "$rate"
in_band 'a guessed key: others' "$(guessed others)" $((all - n)) "$rate"
check 'forged, it is told to be damaged otherwise' \
    sh -c "! \"$BLOOMERY\" check --key-file guess forged.bly"

# The number of entries: in the header, and from the set bits.
items=$("$BLOOMERY" info --json standard.bly 2>note |
    sed -n 's/^ *"items": \([0-9]*\),*/\1/p')
check 'the header tells how many' test "$items" -eq "$n"
geometry=$("$BLOOMERY" info --json standard.bly 2>note | tr -d ' \n' |
    sed 's/.*"geometry":\[\([0-9]*\),\([0-9]*\).*/\1 \2/')
m=${geometry% *} k=${geometry#* }
ones=$(tail -c +129 standard.bly | od -An -v -tu1 -w1 | awk '
    { while ($1 > 0) { n += $1 % 2; $1 = int($1 / 2) } } END { print n }')
about=$(awk -v m="$m" -v k="$k" -v x="$ones" \
    'BEGIN { printf "%.1f", -m / k * log(1 - x / m) }')
figure 'wanted, by the bits that are set' "$about, truly $n"
# m bits, each clear with a chance of q = e^(-k n / m).
check 'the bits tell it within 4 sigma' awk -v about="$about" -v n="$n" \
    -v m="$m" -v k="$k" 'BEGIN { d = about - n; a = k * n / m
        exit d * d > 16 * m / (k * k) * (exp(a) - 1 - a) + 1 }'

printf 'short' >short
refused 'a key too short' 'short' \
    "$BLOOMERY" build -H siphash --key-file short -o none.bly wanted
refused 'siphash without a key' 'siphash|key' \
    "$BLOOMERY" build -H siphash -o none.bly wanted
check 'nothing is written' test ! -e none.bly
finish
