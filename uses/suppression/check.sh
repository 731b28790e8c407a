# check.sh - articles read before: none is recommended again, and new ones are
# left out at the filter's rate.
. "${1:?}/lib.sh"

# Real logs are private, so a package stands for a user, and the words of its
# copyright file for the articles read: some have ten, some thousands.
find "$MACHINE/usr/share/doc" -type f -name copyright -size -200k | sort |
    head -n "$(work 150 100000)" >files
[ "$(wc -l <files)" -ge 20 ] || { absent suppression 'no documents'; finish; }
tr '\n' '\0' <files | xargs -0 awk '
    FNR == 1 { n = split(FILENAME, p, "/"); user = p[n - 1] }
    { n = split($0, word, /[^A-Za-z]+/)
      for (i = 1; i <= n; i++) if (word[i] != "")
          print user "\t" tolower(word[i]) }' >log
sort -u log >read.tsv
cut -f 1 read.tsv | sort -u >users
cut -f 2 read.tsv | sort -u >articles
figure 'log' "$(wc -l <log) lines: $(wc -l <users) users have read \
$(wc -l <read.tsv) of $(wc -l <articles) articles"

# Candidates: every n-th article for each user, read or not.
awk -v step="$(work 37 31)" 'FNR == NR { article[n++] = $0; next }
    { for (i = FNR % step; i < n; i += step) print $0 "\t" article[i] }' \
    articles users | sort >candidates
comm -12 candidates read.tsv >again
comm -23 candidates read.tsv >new
check 'candidates of both sorts' test -s again -a -s new

# offered FILTER: the recommendations; judged NAME RATE: whether they are right.
judged() {
    check "$1: nothing that was read" test -z "$(comm -12 offered again)"
    check "$1: nothing that is no candidate" test -z "$(comm -23 offered new)"
    in_band "$1: new ones left out" "$(comm -13 offered new | wc -l)" \
        "$(wc -l <new)" "$2"
}

# A filter for all users, which starts small and grows with the log.
head -n 100 log | "$BLOOMERY" build -k scalable -p 0.01 -n 100 -o read.bly
split -l $(($(wc -l <log) / 5)) log part.
for part in part.*; do
    "$BLOOMERY" add read.bly "$part"
done
"$BLOOMERY" query -v read.bly candidates >offered
judged 'a single filter' "$(field read.bly rate)"
check 'no more than was asked' awk -v r="$(field read.bly rate)" \
    'BEGIN { exit r > 0.01 }'
before=$(wc -c <read.bly)
"$BLOOMERY" add read.bly log
check 'reading twice takes no room' test "$(wc -c <read.bly)" -eq "$before"
figure 'a single filter' "$before bytes, of which $(awk -v b="$before" \
    -v n="$(wc -l <read.tsv)" 'BEGIN { printf "%.1f", 8 * b / n }') bits for each \
article read; the list has $(wc -c <read.tsv) bytes"

# A filter planned for all users.
"$BLOOMERY" build -k scalable -p 0.01 -o planned.bly read.tsv
"$BLOOMERY" query -v planned.bly candidates >offered
judged 'planned for all' "$(field planned.bly rate)"
figure 'planned for all' "$(wc -c <planned.bly) bytes"

# A filter for each user.
mkdir users.d
head -n "$(work 40 400)" users >some
awk -F '\t' 'FNR == NR { some[$1]; next } $1 in some {
    if ($1 != user) { close(file); user = $1; file = "users.d/" user ".read" }
    print $2 > file }' some read.tsv
join -t "$(printf '\t')" some new >left && mv left new
join -t "$(printf '\t')" some again >left && mv left again
: >offered.all
: >rates
while read -r user; do
    "$BLOOMERY" build -k scalable -p 0.01 -n 100 -o "users.d/$user.bly" \
        "users.d/$user.read"
    awk -F '\t' -v u="$user" '$1 == u { print $2 }' candidates |
        "$BLOOMERY" query -v "users.d/$user.bly" >fresh || true
    sed "s/^/$user\t/" fresh >>offered.all
    echo "$user $(field "users.d/$user.bly" rate)" >>rates
done <some
sort offered.all >offered
cut -f 1 new | sort | uniq -c | awk 'FNR == NR { rate[$1] = $2; next }
    { all += $1; sum += $1 * rate[$2] } END { printf "%.9g", sum / all }' \
    rates - >rate
judged 'a filter for each' "$(cat rate)"
check 'no user has more than was asked' awk '$2 > 0.01 { exit 1 }' rates
figure 'a filter for each' "$(cat users.d/*.bly | wc -c) bytes for \
$(wc -l <some) users; their lists have $(cat users.d/*.read | wc -c)"

# A filter of fixed size, for 1000 articles at 1 %.
check '1000 articles at 1 %: 9586 bits, 1199 bytes' awk 'BEGIN {
    m = -1000 * log(0.01) / log(2) ^ 2; m = int(m) + (m > int(m))
    exit m != 9586 || int((m + 7) / 8) != 1199 }'
awk 'NR % 2' articles | head -n 1000 >thousand
"$BLOOMERY" build -k standard:m=9586,k=7 -n 1000 -o fixed.bly thousand
check 'a filter of so many bits, and a head' test \
    "$(wc -c <fixed.bly)" -eq $((1199 + 128))
check 'all 1000 are known' test \
    "$("$BLOOMERY" query -c fixed.bly thousand)" -eq "$(wc -l <thousand)"
sort thousand | comm -13 - articles >others
in_band 'new ones left out, 1000 of fixed size' \
    "$("$BLOOMERY" query -c fixed.bly others)" "$(wc -l <others)" \
    "$(field fixed.bly rate)"

refused 'no filter' 'none.bly.*No such file' "$BLOOMERY" query -v none.bly new
head -c 3000 read.bly >cut.bly
refused 'half a filter' 'cut.bly' "$BLOOMERY" query -v cut.bly new
refused 'a log that is not there' 'nolog.*No such file' \
    "$BLOOMERY" add read.bly nolog
check 'nothing is lost by that' test "$(wc -c <read.bly)" -eq "$before"
finish
