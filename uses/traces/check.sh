# check.sh - traces: all spans of a trace are found, one page of each block's
# filter is read, and blocks are opened in vain at the filters' rates.
. "${1:?}/lib.sh"
command -v python3 >found.python || { skip traces 'no python3'; finish; }

# ---- Tempo's plan: 1 %, shards of 100 KiB ------------------------------------

# plan ARGUMENTS...: its rate, its probes, and the first two numbers of its
# geometry: the bits of a row, or the size and number of pages.
plan() {
    "$BLOOMERY" plan --json "$@" | awk -F '[ ,:]+' '
        $2 == "\"rate\"" { rate = $3 }
        $2 == "\"probes\"" { probes = $3 }
        $2 == "\"geometry\"" { of = NR }
        of && NR == of + 1 { first = $2 }
        of && NR == of + 2 { print rate, probes, first, $2 }'
}

for known in '100000 958506 2' '1000000 9585059 12' '10000000 95850584 118'; do
    # shellcheck disable=SC2086  # words
    set -- $known
    n=$1 m=$2 shards=$3
    check "$n ids: $m bits by the formula" awk -v n="$n" -v m="$m" 'BEGIN {
        exact = -n * log(.01) / log(2) ^ 2; exit !(m - 1 < exact && exact <= m) }'
    check "$n ids: $shards shards" test "$shards" = $(((m + 819199) / 819200))
    # shellcheck disable=SC2046
    set -- $(plan -k "standard:m=$m" -n "$n")
    check "$n ids: seven probes" test "$2" = 7
    check "$n ids: a little above 1 %, for seven is not 6.64" awk -v p="$1" \
        'BEGIN { exit !(p > .01 && p < .01005) }'
    # shellcheck disable=SC2046
    set -- $(plan -k standard -p 1% -n "$n")
    check "$n ids: $shards shards for no more than 1 %, too" test \
        "$shards $2" = "$((($3 + 819199) / 819200)) 7"
    # shellcheck disable=SC2046
    set -- $(plan -k standard:m=819200,k=7 -n $(((n + shards - 1) / shards)))
    check "$n ids: with all shards whole, less" awk -v p="$1" \
        'BEGIN { exit !(p < .01) }'
    figure "$n ids" "$m bits, $shards shards of 100 KiB err at $1; here $(
        plan -k buffered:page=65536 -p 1% -n "$n" |
        awk '{ print $4 " pages of 64 KiB at " $1 }')"
done

# ---- Blocks, with a filter each, all queried for an id -----------------------

blocks=$(work 8 40) others=$(work 60000 400000) large=$(work 100000 1000000)
python3 "$USE/store.py" "$blocks" "$(work 25000 60000)" "$large" "$others"
# Without simdjson the id is the text in the second pair of quotes.
head -n 1 block.01.json >one
set -- --json-field trace_id
"$BLOOMERY" build "$@" --as hex -o one.bly one 2>json.err || set -- -t '"' -f 4
for block in block.*.json; do
    "$BLOOMERY" build -k buffered -p 1% "$@" --as hex \
        -o "${block%.json}.bly" "$block"
done
# shellcheck disable=SC2046  # words
set -- $(printf ' -F %s' block.*.bly)
figure 'blocks' "$(cat block.*.json | wc -l) spans in $blocks blocks, $(
    cat block.*.json | wc -c) bytes; filters of $(cat block.*.bly | wc -c) \
bytes, of $(wc -c block.*.bly | sed '$d' | sort -n | sed -n '1p;$p' |
    awk '{ printf "%s%d", (NR > 1 ? " to " : ""), $1 / 4096 - 1 }') pages"

# Present ids, and others. The spans tell which are where.
awk -F '"' '{ print $4, substr(FILENAME, 1, 8) }' block.*.json | sort -u >where
cut -d ' ' -f 1 where | uniq | awk 'NR % 8 == 1' | sort - strangers >asked
"$BLOOMERY" query --mark --as hex --paged "$@" asked >marked
tr -d '\t' <marked | sed 's/.\{32\}$/ &/' | awk -v blocks="$blocks" '
    { for (i = 1; i <= blocks; i++)
        if (substr($1, i, 1) == 1) printf "%s block.%02d\n", $2, i }
    ' | sort >named
join where asked >there
check 'all ids are asked for' test "$(wc -l <marked)" = "$(wc -l <asked)"
check 'no block that has the id is left out' test -z \
    "$(comm -23 there named | head -n 1)"
rate=$(for f in block.*.bly; do field "$f" rate; done |
    awk '{ s += $1 } END { printf "%.9f", s / NR }')
in_band 'blocks named in vain' "$(comm -13 there named | wc -l)" \
    $(($(wc -l <asked) * blocks - $(wc -l <there))) "$rate"
check 'at most 1 % is planned, but for what filters differ by' awk -v p="$rate" \
    'BEGIN { exit !(p < .011 && p > .001) }'
"$BLOOMERY" query --mark --as hex "$@" asked | cmp - marked >cmp.out 2>&1 || true
check 'mapped, the answers are the same' test ! -s cmp.out

# The page's commands: the spans of a trace, from the named blocks.
spans_of() {
    for block in block.*.json; do
        "$BLOOMERY" query -q --paged --as hex --key "$1" "${block%.json}.bly" &&
            grep -F "$1" "$block"
    done || true
}
awk -v n="$(work 12 1000)" 'NR % 7 == 0 && i++ < n' asked >few
head -n "$(work 2 15)" few >fewer
while read -r id; do
    spans_of "$id"
done <fewer >found
while read -r id; do
    cat block.*.json | grep -F "$id" || true
done <fewer >exact
check 'the spans are those of all blocks, in their order' cmp exact found
check 'there are some' test -s found

# ---- A single page of each block is read -------------------------------------

# reads NAME PAGE: filter reads seen by strace: how many pages of that size, how
# many heads, and what else, except the last 8 bytes, which would identify
# another system's file.
reads() {
    cat "$1".[0-9]* | awk -v page="$2" '
        /\.bly>/ && /^(pread64|read|readv|preadv|mmap)/ {
        if (!/^pread64/) { other++; next }
        at = $0
        sub(/\) += [0-9]+$/, "", at)
        sub(/.*, /, "", at)
        at += 0
        if (at > 0 && at % page == 0 && $NF == page) pages++
        else if (at == 0 && $NF <= 65536) heads++
        else if ($NF > 8) other++
    } END { print pages + 0, heads + 0, other + 0 }'
}

# watched NAME COMMAND...: records its file reads. Leak checking must be off.
watched() {
    watched=$1
    shift
    ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -ff -y -s 0 \
        -e trace=pread64,read,readv,preadv,mmap,io_uring_enter \
        -o "$watched" "$@"
}

traced=
if watched try true 2>try.err; then
    traced=yes
    watched once "$BLOOMERY" query -c --paged --as hex "$@" \
        --key "$(head -n 1 asked)" >count || true
    check 'a query reads a page and the head of each filter' test \
        "$(reads once 4096)" = "$blocks $blocks 0"
    # A process that keeps the filters open is given ids one after the other.
    mkfifo ask answer
    questions=$(work 20 200)
    watched kept "$BLOOMERY" query --mark --paged --as hex "$@" \
        <ask >answer &
    keeper=$!
    exec 3>ask 4<answer
    tail -n "$questions" asked | while read -r id; do
        echo "$id" >&3
        read -r line <&4
        echo "$line"
    done >answers
    exec 3>&- 4<&-
    wait $keeper
    check 'kept open: a page of each for a question, and nothing else' test \
        "$(reads kept 4096)" = "$((questions * blocks)) $blocks 0"
    check 'and the ring of the system is not used' test -z \
        "$(cat once.[0-9]* kept.[0-9]* | grep io_uring_enter)"
    tail -n "$questions" marked | cmp - answers >cmp.out 2>&1 || true
    check 'the answers are the same' test ! -s cmp.out
    figure 'read for a question' "4096 bytes of each of $blocks filters"
else
    skip 'one page of each block' 'strace is not there, or may not trace'
fi

# ---- Larger pages, larger blocks ---------------------------------------------

"$BLOOMERY" build -k buffered:page=65536 -n "$large" -p 1% --as hex \
    -o large.bly large
check 'a large block: no id is left out' test 0 = \
    "$("$BLOOMERY" query -cv --paged --as hex large.bly large || true)"
in_band 'a large block: named in vain' \
    "$("$BLOOMERY" query -c --paged --as hex large.bly others)" \
    "$(wc -l <others)" "$(field large.bly rate)"
if [ -n "$traced" ]; then
    watched page "$BLOOMERY" query -c --paged --as hex large.bly \
        --key "$(head -n 1 large)" >count
    check 'a large block: a page is read, and the head' test \
        "$(reads page 65536)" = '1 1 0'
    figure 'a large block' "131072 bytes of $(wc -c <large.bly) are read"
fi

# ---- The origin of the shard -------------------------------------------------

while read -r word missed found rate; do
    check "shard by a word that is $word: no key is missed" test "$missed" = 0
    in_band "shard by a word that is $word" "$found" "$others" "$rate"
done <shards
check 'a word that is shared has cost more than chance' awk -v n="$others" '
    { got[$1] = $3; p[$1] = $4 }
    END { d = got["shared"] - n * p["own"]
          exit !(d > 0 && d * d > 16 * n * p["own"] * (1 - p["own"])) }' shards

# ---- All blocks in one index -------------------------------------------------

"$BLOOMERY" index -q --by lines -b 1G -p 1% -o ids.blx -r ids
while read -r id; do
    { "$BLOOMERY" which ids.blx "$id" || true; } | sed "s,^ids/,$id ,"
done <few | sort >named
join where few >there
check 'an index: no block that has the id is left out' test -z \
    "$(comm -23 there named | head -n 1)"
check 'an index: some blocks are asked for' test -s there
pairs=$(($(wc -l <few) * blocks - $(wc -l <there)))
check 'an index: no more in vain than 1 %, within 4 sigma' awk -v m="$pairs" \
    -v n="$(comm -13 there named | wc -l)" \
    'BEGIN { d = n - m * .01; exit d > 0 && d * d > 16 * m * .0099 }'
figure 'an index of all' "$(wc -c <ids.blx) bytes; named in vain \
$(comm -13 there named | wc -l) of $pairs"

# ---- Errors ------------------------------------------------------------------

first=block.01.bly
id=$(head -n 1 asked)
refused 'an id that is no id' 'no key of the form hex' \
    "$BLOOMERY" query -q --paged --as hex --key none $first
"$BLOOMERY" build --as hex -o row.bly asked
refused 'a filter without pages' 'row.bly: kind standard cannot be opened page' \
    "$BLOOMERY" query -q --paged --as hex --key "$id" row.bly
head -c 8000 $first >cut.bly
refused 'half a filter' 'cut.bly: cut short' "$BLOOMERY" query -q --paged \
    --as hex --key "$id" cut.bly
{ head -c 4500 $first; printf '\377\377\377\377'; tail -c +4505 $first; } >bad.bly
awk '$2 == "block.01" { print $1 }' where >members
refused 'a damaged page' 'bad.bly: a page could not be read' "$BLOOMERY" \
    query -v --paged --as hex bad.bly members
check 'and no id is left out for it' test ! -s refused.out
finish
