# check.sh - notched cards: all cards with the descriptors drop, and others as
# often as computed.
. "${1:?}/lib.sh"

tab=$(printf '\t')

# drop CARDS.fps DESCRIPTORS: the titles of cards that drop.
drop() {
    printf 'needles\t%s\n' "$2" >needles.tsv
    "$PROGRAM" needles.tsv >needles.fps
    "$BLOOMERY" similar --superset needles.fps "$1" | cut -f 3 | sort
}

# ---- The table of 40 sites with 4 notches for each descriptor ----------------

# D descriptors on a card, and the chance that it drops for one or two others:
# by the density alone, and as found in 20000 trials.
while read -r d formula1 found1 formula2 found2; do
    for q in 1 2; do
        if [ $q = 1 ]; then formula=$formula1 found=$found1
        else formula=$formula2 found=$found2; fi
        check "$d on a card, $q asked: the density says $formula" awk -v d="$d" \
            -v q=$q -v known="$formula" 'BEGIN {
                off = (1 - .9 ^ d) ^ (4 * q) - known
                exit off * off > (.6 * 10 ^ -(length(known) - 1)) ^ 2 }'
        exact=$(awk -v d="$d" -v asked=$q -f "$USE/drops.awk")
        check "$d on a card, $q asked: exactly it is near the trials" awk \
            -v p="$exact" -v found="$found" 'BEGIN { off = found - p
                exit off * off > 16 * p * (1 - p) / 20000 + .00005 ^ 2 }'
    done
done <<'END'
4 .0140 .0108 .0002 .0001
6 .0482 .0431 .0023 .0018
7 .0741 .0656 .0055 .0047
8 .105 .101 .0111 .0111
10 .180 .169 .0324 .0333
12 .265 .257 .0703 .0724
END
check 'half of the sites are notched with 6.9 descriptors' awk \
    'BEGIN { off = log(2) * 40 / 4 - 6.9; exit off * off > .05 * .05 }'

# Cards of D descriptors each, all different. A card independently has all of
# the needles' sites by chance.
for d in $(work '4 7 12' '4 6 7 8 10 12'); do
    cards=$(work 20000 100000)
    awk -v d="$d" -v n="$cards" 'BEGIN { for (i = 1; i <= n; i++) {
        printf "%d\t", i
        for (j = 1; j <= d; j++) printf "%d/%d%s", i, j, j < d ? "," : "\n" } }' >on.tsv
    "$PROGRAM" on.tsv >on.fps
    for asked in one one,two; do
        in_vain=$(drop on.fps $asked | wc -l)
        needles=$("$PROGRAM" -l needles.tsv | cut -f 2 | wc -w)
        q=$(echo $asked | tr ',' '\n' | wc -l)
        in_band "$d on a card: drop for $needles needles of $q" "$in_vain" "$cards" \
            "$(awk -v d="$d" -v needles="$needles" -f "$USE/drops.awk")"
    done
    drop on.fps 77/1,77/3 >dropped
    check "$d on a card: the one that has them drops" grep -qx 77 dropped
done

# ---- A card for each installed package ---------------------------------------

if [ -r "$MACHINE/var/lib/dpkg/status" ]; then
    awk 'function put(what) { on = on (on == "" ? "" : ",") what }
        /^Package: /      { title = $2; on = "" }
        /^Section: /      { put($2) }
        /^Priority: /     { put($2) }
        /^Architecture: / { put($2) }
        /^Multi-Arch: /   { put("multi " $2) }
        /^Maintainer: /   { sub(/[^:]*: /, ""); gsub(/,/, ""); put($0) }
        /^Source: /       { put("of " $2) }
        /^$/ && title     { print title "\t" on; title = "" }' \
        "$MACHINE/var/lib/dpkg/status" >packages.tsv
    "$PROGRAM" packages.tsv >packages.fps
    figure 'packages' "$(wc -l <packages.tsv)"
    for asked in libs perl,all optional,devel,amd64 'multi foreign,all,python' nothing; do
        drop packages.fps "$asked" >dropped
        awk -F "$tab" -v asked="$asked" '{ n = split(asked, each, ",")
            for (i = 1; i <= n; i++)
                if (index("," $2 ",", "," each[i] ",") == 0) next
            print $1 }' packages.tsv | sort >exact
        check "$asked: all that have them drop" test -z "$(comm -23 exact dropped)"
        figure "$asked" "$(wc -l <dropped) drop, of which $(comm -13 exact dropped |
            wc -l) in vain"
        # Reading the dropped cards leaves the right ones.
        awk -F "$tab" -v asked="$asked" 'FNR == NR { has[$1] = "," $2 ","; next }
            { n = split(asked, each, ",")
              for (i = 1; i <= n; i++) if (!index(has[$1], "," each[i] ",")) next
              print $1 }' packages.tsv dropped >looked
        check "$asked: those that were looked at are right" cmp exact looked
    done
else
    absent packages 'this is no Debian'
fi

# ---- Cards for people --------------------------------------------------------

printf 'ferry\tboat,Kent\nbarge\tboat,Essex\n' >two.tsv
"$PROGRAM" -l two.tsv >two
"$PROGRAM" -l - <needles.tsv | cut -f 2 | wc -w >four
check 'a descriptor has four sites' test "$(cat four)" = 4
printf 'boat\tboat\n' | "$PROGRAM" -l - | cut -f 2 | tr ' ' '\n' | sort >boat
for title in ferry barge; do
    grep "^$title$tab" two | cut -f 2 | tr ' ' '\n' | sort >sites
    check "$title has the notches of boat" test -z "$(comm -23 boat sites)"
done
"$PROGRAM" -s 13 -n 13 -l two.tsv | cut -f 2 | sort -u >full
check 'all sites may be notched' test "$(cat full)" = '1 2 3 4 5 6 7 8 9 10 11 12 13'

refused 'no cards' 'none.tsv: No such file' "$PROGRAM" none.tsv
refused 'a card without a TAB' 'line 2: no TAB' "$PROGRAM" - <<END
good${tab}boat
bad
END
printf 'a\tboat,river\n' | "$PROGRAM" - >near.fps
printf 'a\t boat , river\n' | "$PROGRAM" - >far.fps
check 'blanks around a descriptor are no part of it' cmp near.fps far.fps
refused 'a folder' '[.]: Is a directory' "$PROGRAM" .
printf 'a\tb\000,c\n' >nul
refused 'a NUL byte' 'line 1: it has a NUL' "$PROGRAM" nul
check 'a CR within a line hides nothing' test "$(printf 'a\tb\r,c\n' |
    "$PROGRAM" -n 1 -s 1024 -l - | cut -f 2 | wc -w)" = 2
refused 'sites that are no number' 'usage' "$PROGRAM" -s 40x two.tsv
refused 'more notches than sites' 'usage' "$PROGRAM" -s 3 two.tsv
"$PROGRAM" -s 80 two.tsv >wide.fps
refused 'needles for other cards' 'bits' "$BLOOMERY" similar needles.fps wide.fps
finish
