# check.sh - a web cache: every page is the right one, the filter loses no hit,
# and the disk is read in vain at the filter's rate.
. "${1:?}/lib.sh"

# The web is this machine's documents. Real requests are private, so they are
# drawn: the i-th page of every other one is requested in proportion to 1 / i.
web=$MACHINE/usr/share/doc
(cd "$web" && find . -type f -size -16k) | grep -v "[^A-Za-z0-9/._+-]" | sort |
    sed 's|^\./||' | awk "NR % $(work 5 1) == 0" | head -n 20000 >pages
[ "$(wc -l <pages)" -ge 200 ] || { absent webcache 'no documents'; finish; }
slots=$(($(wc -l <pages) / 8))
awk -v n="$(work 1500 60000)" 'NR % 2 { page[++pages] = $0 }
    END { for (x = 1; n > 0; n--) {
        x = x * 16807 % 2147483647
        i = int(exp(x / 2147483647 * log(pages + 1)))
        print page[i * 7919 % pages + 1] } }' pages >requests
(cd "$web" && xargs cat) <requests >wanted

# run FOLDER OPTIONS...: sends the requests through a cache; its messages go to
# `said`.
run() {
    run_folder=$1
    shift
    mkdir -p "$run_folder"
    "$PROGRAM" -v -n $slots "$@" "$web" "$run_folder" 2>said
}

said() {
    sed -n "s/^$1 //p" said
}

# The caches with a filter, and one that is always read. A repeated page errs
# again while the filter hardly changes, so the number of reads in vain is only
# a figure here, and is compared with the rate below.
run always -a <requests >told
check 'always: every page is the right one' cmp told wanted
hits=$(said hits)
dropped=$(said dropped)
check 'always: looked for each request' test "$(said looked)" -eq \
    "$(wc -l <requests)"
for kind in counting $(work '' 'cuckoo dleft'); do
    run $kind -k $kind <requests >told
    check "$kind: every page is the right one" cmp told wanted
    check "$kind: no hit is lost" test "$(said hits) $(said dropped)" = \
        "$hits $dropped"
    check "$kind: no more hits than looks" test "$(said looked)" -ge "$hits"
    check "$kind: the same cache" diff -r always $kind
    figure "$kind" "$(wc -l <requests) requests for $(sort -u requests | wc -l) \
pages, $slots slots: $hits hits, and looked $(said in-vain) times in vain \
(predicted $(said expected)) instead of $(($(wc -l <requests) - hits))"
done

# Compared with awk. A page's slot is found by loading it alone: request all,
# note the occupant, and request the others again.
cp pages unknown
: >slot
while [ -s unknown ]; do
    rm -rf alone
    run alone -a <unknown >told
    (cd alone && find . -type f -exec awk 'FNR == 1 {
        print $0 "\t" FILENAME; nextfile }' {} +) | sort >there
    cat there >>slot
    cut -f 1 there | sort | comm -13 - unknown >left
    [ "$(wc -l <left)" -lt "$(wc -l <unknown)" ] || break
    sort left >unknown
done
check 'every page has one slot' test "$(cut -f 1 slot | sort | uniq -d | wc -l) \
$(wc -l <slot)" = "0 $(wc -l <pages)"
awk -F '\t' 'FNR == NR { slot[$1] = $2; next }
    has[slot[$0]] == $0 { hits++; next }
    { dropped += slot[$0] in there; has[slot[$0]] = $0; there[slot[$0]] }
    END { print hits + 0, dropped + 0 }' slot requests >model
check 'as many hits as there are to be' test "$(cat model)" = "$hits $dropped"

# Pages never requested, each once: all are absent.
sort -u requests | comm -13 - pages >strangers
for rate in $(work 0.2 '0.01 0.2'); do
    rm -rf cold
    run cold -p $rate <requests >told
    run cold -p $rate <strangers >told
    check "$rate: none of them is there" test "$(said hits)" -eq 0
    in_band "looked in vain, asked for $rate" "$(said in-vain)" \
        "$(wc -l <strangers)" "$(awk -v e="$(said expected)" \
            -v n="$(wc -l <strangers)" 'BEGIN { print e / n }')"
done

# After a restart everything in the cache is found; with another number of
# slots, pages in the wrong slot are removed, but no other files.
find counting -name '*.page' -exec head -qn 1 {} + >there
echo 'mine' >counting/notes.txt
echo 'mine' >counting/2024
ln -s ../kept counting/new
echo 'mine' >kept
run counting <there >told
check 'after a new start all of it is found' test \
    "$(said hits) $(said dropped)" = "$(wc -l <there) 0"
slots=$((slots / 3))
rm -f counting/$slots.page
ln -s ../kept counting/$slots.page
run counting <requests >told
check 'in fewer slots every page is the right one' cmp told wanted
check 'no more files than slots' test \
    "$(find counting -name '*.page' | wc -l)" -le $slots
for mine in counting/notes.txt counting/2024 counting/new kept; do
    check "and nobody else's is touched: $mine" grep -qx mine $mine
done

refused 'no cache' 'none: No such file' "$PROGRAM" "$web" none
refused 'no folders' 'usage: webcache' "$PROGRAM"
refused 'slots that are none' 'usage: webcache' "$PROGRAM" -n few "$web" cold
refused 'a kind that only adds' 'standard: of this kind no key can be removed' \
    "$PROGRAM" -k standard "$web" cold
head -n 1 pages >one
{ cat one && printf '%s\n' ../../../etc/hostname . none && cat one; } >bad
refused 'pages that are none' 'origin has no such page' \
    sh -c '"$1" "$2" cold <bad >told' - "$PROGRAM" "$web"
(cd "$web" && cat "$(cat "$OLDPWD/one")" "$(cat "$OLDPWD/one")") >wanted
check 'the others are answered' cmp told wanted
finish
