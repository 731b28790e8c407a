# search-random.sh - `search` finds the same as grep for random expressions and
# pieces of the text, before and after every kind of change.
. "${1:?}/lib.sh"
. "$(dirname "$0")/shared/grep.sh"

# ---- Random expressions ------------------------------------------------------

# expressions N SEED: expressions of the parts that determine which texts a
# match must contain.
expressions() {
    awk -v n="$1" -v seed="$2" '
        function one_of(list,  items) {
            return items[int(rand() * split(list, items, " ")) + 1]
        }
        function atom(deep) {
            chance = rand()
            if (deep == 0 || chance < 0.5)
                return one_of("quick fox lazy dog return static size bytes " \
                              "the int QUICK Fox siz qui ck _t 1 x")
            if (chance < 0.6)
                return one_of(". \\w \\d \\s \\b \\B ^ $ \\K \\x66 \\. \\( \\_ " \
                              "\\Qa.b\\E [a-z] [^x] []a] [[:alpha:]] [a\\]b] [()|] " \
                              "[[:]fo|x] [\\\\c]q]u [[.]q] [^[:digit:]q] [[:q[:]u]")
            return one_of("( ( (?: (?: (?= (?! (?<= (?<! (?> (?<n> (?i: (?#c)(") \
                   either(deep - 1) ")"
        }
        function sequence(deep,  text, i) {
            for (i = int(rand() * 4); i >= 0; i--) {
                text = text atom(deep)
                if (rand() < 0.4)
                    text = text one_of("* + ? {0} {1} {2,} {0,3} *? +? ?? ++ {x")
            }
            return text
        }
        function either(deep,  text) {
            text = sequence(deep)
            while (rand() < 0.3)
                text = text "|" sequence(deep)
            return text
        }
        BEGIN {
            srand(seed)
            for (i = 0; i < n; i++)
                print either(3)
        }'
}
expressions "$(work 400 15)" 7 >expressions
tried=0 bad=
while IFS= read -r pattern; do
    for option in -n -w -x -i; do
        wanted P $option -e "$pattern"
        # grep refused the expression, or it is too much for one line.
        if grep -qv 'binary file matches' grep.err; then
            continue
        fi
        tried=$((tried + 1))
        for rule in trigrams words; do
            if differs --trust $option $rule.blx -e "$pattern"; then
                bad="$bad $rule $option $pattern;"
            fi
        done
    done
done <expressions
check 'expressions by chance: enough are some' test "$tried" -ge "$(work 400 10)"
if [ -z "$bad" ]; then
    pass 'expressions by chance'
else
    fail 'expressions by chance' "$bad"
fi
same F -n -e 'nowhere' -e 'lazy'
same F -n "$(printf 'quick\nfox\n')"
same F -w -e 10 -e 'dog_1' -e ''

# ---- Patterns from the text, through changes ---------------------------------

# pieces N FILE: pieces of lines of the text, of 3 to 22 bytes.
pieces() {
    find t -type f ! -name program ! -name binary | sort | xargs -d '\n' cat |
        awk -v n="$1" -v seed="$2" 'length >= 3 { line[++lines] = $0 }
            END {
                srand(seed)
                for (i = 0; i < n; i++) {
                    l = line[int(rand() * lines) + 1]
                    m = 3 + int(rand() * 20)
                    print substr(l, int(rand() * length(l)) + 1, m)
                }
            }' >pieces
}

# absent N: texts that do not occur, made of bytes and words that do.
absent() {
    sed 's/\(.\)\(.*\)/\2\1q9/' pieces | head -n "$1" >gone
}

# compare NAME WAY ARGUMENTS...: all pieces, and absent texts.
compare() {
    compare_name=$1 compare_bad=0 compare_n=0
    shift
    for list in pieces gone; do
        while IFS= read -r piece; do
            wanted F -n -e "$piece"
            for rule in trigrams words; do
                if differs "$@" $rule.blx -F -n -e "$piece"; then
                    compare_bad=$((compare_bad + 1))
                    printf '%s\n' "$rule: $piece" >>bad
                fi
                compare_n=$((compare_n + 1))
            done
        done <$list
    done
    if [ "$compare_bad" -eq 0 ]; then
        pass "$compare_name"
    else
        fail "$compare_name" "$compare_bad of $compare_n: $(head -n 3 bad)"
    fi
}
number=$(work 250 8)
pieces "$number" 1
absent "$number"
compare 'pieces of the text' -j2
compare 'pieces of the text, trusted' --trust

# Edits that keep the size and that do not, and new, renamed and deleted files.
sed 's/return/exeunt/' t/select.c >edited && cat edited >t/select.c
echo 'one more quick line' >>t/match.c
mkdir t/new
sed 's/static/public/' t/work.c >t/new/work.c
mv t/json.c t/new/
rm t/sort.c t/deep/long
ways='trigrams,-j2 words,-j2'
same F -n quick
same P -n 'exeunt|public (bool|int)'
same F -l static
pieces "$number" 2
absent "$number"
compare 'after edits, the index as it was' -j2
try search -l --trust-known trigrams.blx 'one more quick line'
out_is 'changed files, known files trusted' 1 ''
try search -l --trust-known trigrams.blx 'public bool'
out_has 'and a new file' 0 '^t/new/work.c$'
for rule in trigrams words; do
    try index -q -o $rule.blx --update
    silent "an update by $rule"
done
compare 'after an update' -j2
find t -exec touch -d '2021-01-01' {} +
sleep 0.1
try search --stats words.blx -F nowhere_at_all
check 'all that was touched counts as changed' \
    grep -Eq 'files: ([0-9]+); new or changed: \1$' err
index_all
compare 'and made anew' --trust

finish
