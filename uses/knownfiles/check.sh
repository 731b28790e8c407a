# check.sh - known files: the verdicts are those of sha1sum and grep, but for
# false positives at the filter's rate; no file is lost, and errors are told.
. "${1:?}/lib.sh"

[ -x "$PROGRAM" ] || { skip knownfiles 'no OpenSSL (Debian: libssl-dev)'; finish; }
[ -d "$MACHINE/usr/share/doc" ] || { absent knownfiles 'no documents'; finish; }

# judge STATUS ARGUMENT...: runs the program, which must end with this status.
judge() {
    wanted=$1
    shift
    status=0
    "$PROGRAM" "$@" >verdicts 2>said || status=$?
    check "status $wanted: $*" test $status -eq "$wanted"
}

# A disk with real files, of which the list has every second.
mkdir -p disk/deep
find "$MACHINE/usr/share/doc" -type f 2>find.err | sort |
    head -n "$(work 3000 20000)" >files
awk '{ printf "%s%c%s%c", $0, 0, "disk/deep/" NR, 0 }' files |
    xargs -0 -n 2 cp
find disk -type f -exec sha1sum {} + | sort -k 2 >sums
cut -c 1-40 sums | sort -u >hashes
awk 'NR % 2' hashes >listed
awk '{ print toupper($0) }' listed >LISTED
"$BLOOMERY" build --as hex -k ribbon -p 0.02 -o bytes.bly listed
"$BLOOMERY" build -k fuse -p 0.02 -o lower.bly listed
"$BLOOMERY" build -k standard -p 0.02 --upper -o upper.bly listed
"$BLOOMERY" build -k dcso -p 0.02 --upper -o circl.bloom listed 2>note
grep -F -f listed sums | cut -c 43- >known.exactly
grep -v -F -f listed sums | cut -c 43- >unknown.exactly
asked=$(wc -l <unknown.exactly)
check 'some files are known, and some are not' \
    test -s known.exactly -a "$asked" -gt 100
for filter in bytes.bly lower.bly upper.bly circl.bloom; do
    judge 1 $filter disk
    check "$filter: a row for each file" test "$(sed 1d verdicts | wc -l)" -eq \
        "$(wc -l <sums)"
    awk -F , '$1 == "unknown" { print $2 }' verdicts | sort >unknown.found
    sort unknown.exactly | comm -13 - unknown.found >wrong
    check "$filter: no known file is called unknown" test ! -s wrong
    awk -F , 'NR > 1 { print $3 "  " $2 }' verdicts | sort -k 2 >sums.found
    check "$filter: the hashes of sha1sum" cmp sums sums.found
    # Equal files have one verdict, so different hashes count.
    grep -v -F -f unknown.found unknown.exactly >mistaken || true
    grep -F -f listed -v hashes >strangers
    awk -F , '$1 == "known" { print $3 }' verdicts | sort -u |
        comm -12 - strangers >mistaken
    in_band "$filter: unknown files that are called known" \
        "$(wc -l <mistaken)" "$(wc -l <strangers)" "$(field $filter rate)"
done
finish
