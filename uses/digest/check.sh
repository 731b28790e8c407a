# check.sh - cache digests: Squid's bytes, needless queries and misses, and two
# Squids that exchange a digest.
. "${1:?}/lib.sh"

# The set bits of a digest.
bits_of() {
    od -An -v -tu1 -w1 -j128 "$1" | awk '{ for (b = 0; b < 8; b++)
        if (int($1 / 2 ^ b) % 2) print (NR - 1) * 8 + b }'
}

# known URL MD5 BITS...: its places in a digest of 1000 entries, 5 bits each.
known() {
    known_url=$1 known_md5=$2
    shift 2
    printf '%s\n' "$known_url" >one
    "$BLOOMERY" build -k squid:bits=5 -p 0.1 -n 1000 -o one.digest --force one
    printf '%s\n' "$@" | sort -n >wanted
    bits_of one.digest >told
    check "the bits of $known_url" cmp told wanted
    check 'a mask of 625 bytes' test "$(wc -c <one.digest)" -eq $((128 + 625))
    check 'its MD5' test "$(printf '\001%s' "$known_url" | md5sum |
        cut -d ' ' -f 1)" = "$known_md5"
    ! command -v python3 >/dev/null ||
        check 'the model has the same' test \
            "$(python3 "$USE/model.py" "$known_url")" = "$known_md5 $*"
}

known http://www.example.com/ f3299be15c55cda929c4ad1fbc90f5c2 369 2081 231 1706
known http://example.org/index.html eaa3615b0bb01412cd3b85f28c12bae5 \
    835 3850 194 2733

# Rates at full capacity, by the formula and by the plan.
while read -r b wanted; do
    "$BLOOMERY" plan -k squid:bits="$b" -n 1000000 --json |
        sed -n 's/^ *"rate": \([^,]*\),*$/\1/p' >rate
    check "$b bits an entry: $wanted %" awk -v b="$b" -v w="$wanted" '{
        f = (1 - exp(-4 / b)) ^ 4
        exit sprintf("%.2f %.2f", 100 * $1, 100 * f) != w " " w }' rate
done <<'END'
4 15.97
5 9.20
6 5.61
8 2.40
END

# URLs named in this machine's documents. Neighbour A has cached the first half,
# except a fifth that it will get later.
grep -rhoaE 'https?://[A-Za-z0-9][^] <>"'"'"'`)}|,\^]*' "$MACHINE/usr/share/doc" | sort -u |
    awk "NR % $(work 4 1) == 0" >urls
[ "$(wc -l <urls)" -ge 1000 ] || { absent digest 'no documents'; finish; }
awk 'NR % 10 < 4' urls >cached
awk 'NR % 10 == 4' urls >later
awk 'NR % 10 > 4' urls >strangers
for b in 5 8; do
    "$BLOOMERY" build -k squid:bits=$b -p 0.1 -n "$(wc -l <cached)" \
        -o digest$b cached
    check "$b bits: 128 bytes and the mask" test "$(wc -c <digest$b)" -eq \
        $((128 + ($(wc -l <cached) * b + 7) / 8))
    check "$b bits: a fresh digest misses nothing" test \
        "$("$BLOOMERY" query -c digest$b cached)" -eq "$(wc -l <cached)"
    in_band "asked in vain, $b bits" \
        "$("$BLOOMERY" query -c digest$b strangers)" "$(wc -l <strangers)" \
        "$(field digest$b rate)"
    check "$b bits: its rate is that of the formula" awk -v b=$b \
        -v r="$(field digest$b rate)" -v n="$(wc -l <cached)" 'BEGIN {
        e = exp(-4 / b)                     # a bit is clear
        d = r / (1 - e) ^ 4 - 1
        exit d * d > 16 * 16 * e * (1 - (1 + 4 / b) * e) / (n * b) / (1 - e) ^ 2 }'
    ! command -v python3 >/dev/null || {
        python3 "$USE/model.py" cached $b wanted
        check "$b bits: Squid's bytes, all of them" cmp digest$b wanted
    }
done

# An hour later, A has dropped a fourth of it and fetched the others.
awk 'NR % 4 == 0' cached >dropped
sort cached later | comm -23 - dropped >now
sort cached later strangers >requests
"$BLOOMERY" query digest5 requests | sort >asked
missed=$(comm -23 now asked | wc -l)
in_band 'missed, of what A has got since' "$missed" "$(wc -l <later)" \
    "$(awk -v f="$(field digest5 rate)" 'BEGIN { print 1 - f }')"
check 'only new objects are missed' test -z "$(comm -23 now asked |
    comm -23 - later)"
check 'objects that A has dropped are requested' test \
    "$(comm -12 dropped asked | wc -l)" -eq "$(wc -l <dropped)"
figure 'an hour later' "of $(wc -l <requests) requests $(wc -l <asked) are asked \
for, where all would be without a digest; $(comm -23 asked now | wc -l) in vain, \
$(wc -l <dropped) of these because A has dropped them; $missed missed"

# Damaged digests that the program must refuse.
break_at() {
    cp digest5 broken
    # shellcheck disable=SC2059  # it has escapes
    printf "$2" | dd of=broken bs=1 seek="$1" conv=notrunc 2>dd.log
    refused "$3" 'broken' "$BLOOMERY" query --format squid --key x broken
}
break_at 2 '\000\006' 'a version that needs a later reader'
break_at 0 '\000\002' 'a version before ours'
break_at 4 '\000\000\000\000' 'no capacity'
break_at 4 '\377\377\377\377' 'a capacity below 0'
break_at 16 '\000\000\000\001' 'another size than its mask has'
break_at 20 '\006' 'bits an entry that do not match'
break_at 21 '\003' 'three probes'
head -c 200 digest5 >broken
refused 'half a digest' 'broken' "$BLOOMERY" query --format squid --key x broken

# Two Squids; the second queries the first.
squid=$(command -v squid || echo /usr/sbin/squid)
if [ "$EFFORT" = quick ]; then
    skip 'two Squids' 'only in full'
elif ! [ -x "$squid" ] || ! "$squid" -v | grep -q -e --enable-cache-digests ||
    ! command -v python3 >/dev/null
then
    skip 'two Squids' 'no squid with cache digests, or no python3'
else
    python3 "$USE/exchange.py" "$squid" published pages others asked \
        >sent 2>squid.log &
    running=$!
    trap 'kill "$running" 2>/dev/null && wait "$running"' EXIT
    trap 'exit 2' HUP INT TERM
    ended=0
    wait "$running" || ended=$?
    trap - EXIT HUP INT TERM
    check 'two Squids: they exchange a digest' test $ended -eq 0
    sort -u asked >told
    { "$BLOOMERY" query published others && cat pages; } | sort >wanted
    check 'the second asks for what the query names' cmp told wanted
    check 'the digest has all pages of the first' test \
        "$("$BLOOMERY" query -c published pages)" -eq "$(wc -l <pages)"
    check 'none of these is fetched again' test "$(cat sent)" -eq \
        "$(wc -l <others)"
    figure 'two Squids' "the second asked for all $(wc -l <pages) pages of the \
first, and for $("$BLOOMERY" query -c published others) of $(wc -l <others) others"
fi
finish
