# check.sh - signatures of rows: every query has the rows that awk finds, and
# others drop as often as superimposed bits do; compared with PostgreSQL's own
# index.
. "${1:?}/lib.sh"

command -v python3 >/dev/null || { skip signatures 'no python3'; finish; }

# ask TABLE INDEX QUESTIONS: the rows found, and the messages.
ask() {
    "$PROGRAM" ask "$1" "$2" <"$3" >answers 2>said
}

# exact TABLE QUESTIONS: the rows behind their queries' numbers, by a full scan.
exact() {
    awk -F '\t' -v questions="$2" 'BEGIN {
        while ((getline line < questions) > 0) question[++n] = line }
        { for (i = 1; i <= n; i++) {
            all = 1
            some = split(question[i], part, "\t")
            for (j = 1; j <= some && all; j++) {
                at = index(part[j], "=")
                all = ($substr(part[j], 1, at - 1) "") == \
                    substr(part[j], at + 1)
            }
            if (all) print i "\t" $0 > "exact.rows"
        } }' "$1"
    sort -s -n -k 1,1 exact.rows
}

told() {
    sed -n "s/.*[ :]\([0-9]*\) $1.*/\1/p" said
}

# made COLUMNS ROWS SEED: all values different.
made() {
    awk -v c="$1" -v n="$2" -v seed="$3" 'BEGIN {
        for (srand(seed); n > 0; n--)
            for (i = 1; i <= c; i++)
                printf "%d%s", rand() * 1e9, (i < c ? "\t" : "\n") }'
}

# within NAME DROPPED OF: agrees with drops.py on rows that lack the values.
within() {
    figure "$1: dropped in vain" "$(awk -v y="$2" -v n="$3" '{
        printf "%.4g of %d, predicted %.4g, by the formula %.4g", y / n, n, $2,
            $1 }' drops)"
    check "$1: dropped in vain as predicted, within 4 sigma" awk -v y="$2" \
        -v n="$3" '{ d = y / n - $2; exit d * d > 16 * $3 * $3 }' drops
}

# ---- A real table: packages -------------------------------------------------

if [ -r "$MACHINE/var/lib/dpkg/status" ]; then
    awk -F ': ' -v OFS='\t' 'function row() {
            if (name != "") print name, status, section, size, arch, version
            name = status = section = size = arch = version = "" }
        $1 == "Package" { row(); name = $2 }
        $1 == "Status" { status = $2 }    $1 == "Section" { section = $2 }
        $1 == "Installed-Size" { size = $2 }  $1 == "Architecture" { arch = $2 }
        $1 == "Version" { version = $2 }  END { row() }' "$MACHINE/var/lib/dpkg/status" |
        head -n "$(work 500 100000)" >packages
    "$PROGRAM" index packages packages.blx
    awk -F '\t' 'NR % 20 == 1 {
        print "1=" $1; print "3=" $3 "\t5=" $5; print "5=" $5 "\t4=" $4
        print "6=" $6 "\t3=" $3 "\t2=" $2; print "1=" $6; print "4=" $4 "0" }' \
        packages >questions
    ask packages packages.blx questions
    exact packages questions >wanted
    check 'packages: all rows that awk finds, and no other' cmp wanted answers
    check 'packages: some are found' test -s answers
    figure packages "$(wc -l <packages) rows: $(cat said)"
else
    absent packages 'this is no Debian'
fi

# ---- Published false drops --------------------------------------------------

# A query whose bits coincide drops a tenth of all rows. Three seeds in a
# thousand have one among 1500, which no band allows for.
rows=$(work 4000 20000) questions=$(work 500 1500)
while read -r columns one two; do
    [ -n "$columns" ] || continue
    made "$columns" "$rows" 1 >table
    "$PROGRAM" index table table.blx
    made 2 "$questions" 3 | awk -F '\t' '{ print "1=" $1
        print "1=" $1 "\t2=" $2 > "two" }' >one
    for of in "1 one $one" "2 two $two"; do
        # shellcheck disable=SC2086  # its parts
        set -- $of
        python3 "$USE/drops.py" 80 "$columns" "$1" "$rows" "$questions" >drops
        [ "$3" = - ] || check "$columns columns, $1 asked: the known $3" \
            awk -v known="$3" '{ digits = length(known) - index(known, ".")
                here = sprintf(known ~ /e/ ? "%.1e" : "%." digits "f", $1)
                exit here + 0 != known + 0 }' drops
        ask table table.blx "$2"
        check "$columns columns, $1 asked: none is found" test ! -s answers
        within "$columns columns, $1 asked" "$(told 'read in vain')" \
            "$(told others)"
    done
    # Every row is found by its values.
    awk -F '\t' 'NR % 50 == 1 { print "2=" $2 "\t1=" $1 }' table >questions
    awk 'NR % 50 == 1 { print ++n "\t" $0 }' table >wanted
    ask table table.blx questions
    check "$columns columns: none is missing" cmp wanted answers
done <<END
2 .00241 -
4 .00916 8.4e-5
$(work '' '8 .03323 .0011
16 .1098 .0121')
END
figure "an index of $rows rows" "$(wc -c <table.blx) bytes, of which 80 bits a \
row are signatures; the table has $(wc -c <table)"

# ---- PostgreSQL's own -------------------------------------------------------

# ended: stops the server that this check started.
ended() {
    [ ! -s server/postmaster.pid ] ||
        kill -INT "$(head -n 1 server/postmaster.pid)" 2>kill.err || true
}

as_user() {
    if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

psql() {
    command psql -X -q -A -t -h 127.0.0.1 -p "$port" -U tester postgres "$@"
}

# served: starts a server on loopback, or fails.
served() {
    # shellcheck disable=SC2012  # versions
    bin=$(ls -d /usr/lib/postgresql/*/bin 2>ls.err | sort -V | tail -n 1)
    [ -n "$bin" ] && [ -e "${bin%/bin}/lib/bloom.so" ] || return 1
    [ "$(id -u)" -ne 0 ] || { mkdir -m 700 server && chown postgres server; } ||
        return 1
    as_user "$bin/initdb" -D "$PWD/server" -U tester -A trust -N -E SQL_ASCII \
        --locale=C >initdb.out 2>&1 || return 1
    port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    trap ended EXIT
    as_user "$bin/postgres" -D "$PWD/server" -p "$port" -F \
        -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
        >server.out 2>&1 &
    for tries in $(seq 100); do
        psql -c 'SELECT 1' >psql.out 2>&1 && return 0
        sleep 0.1
    done
    echo "no answer after $tries tries" >>server.out
    return 1
}

if [ "$EFFORT" = quick ]; then
    skip "PostgreSQL's index" 'only in full'
elif served; then
    psql -c 'CREATE EXTENSION bloom'
    # loaded TABLE COLUMNS: a table with columns c1 … and an index on all.
    loaded() {
        all=$(seq -s ', ' -f 'c%.0f' "$2")
        psql -c "CREATE TABLE $1 ($(seq -s ', ' -f 'c%.0f text' "$2"))"
        psql -c "COPY $1 FROM STDIN" <"$1"
        psql -c "CREATE INDEX ON $1 USING bloom ($all) WITH (length = 80)"
        psql -c "VACUUM ANALYZE $1"
    }
    # sql FORM TABLE QUESTIONS: a statement for each query.
    sql() {
        echo 'SET enable_seqscan = off; SET jit = off;'
        awk -F '\t' -v form="$1" -v table="$2" '{
            all = ""
            for (i = 1; i <= NF; i++) {
                at = index($i, "=")
                value = substr($i, at + 1)
                gsub(/\047/, "\047\047", value)
                all = all (i > 1 ? " AND " : "") "c" substr($i, 1, at - 1) \
                    " = \047" value "\047"
            }
            print form (form ~ /,/ ? NR ", * " : "* ") "FROM " table \
                " WHERE " all ";" }' "$3"
    }
    made 4 20000 1 >made4
    loaded made4 4
    made 2 2000 2 | awk -F '\t' '{ print "1=" $1
        print "1=" $1 "\t2=" $2 > "two" }' >one
    for of in '1 one' '2 two'; do
        sql 'EXPLAIN (ANALYZE, TIMING off) SELECT ' made4 "${of#* }" |
            psql >explained
        check "PostgreSQL asks its index, ${of% *} asked" test 2000 = \
            "$(grep -c 'Bitmap Index Scan on made4' explained)"
        python3 "$USE/drops.py" 80 4 "${of% *}" 20000 2000 >drops
        within "PostgreSQL, 4 columns, ${of% *} asked" "$(awk -F ': ' '
            /Removed by Index Recheck/ { n += $2 } END { print n + 0 }' \
            explained)" 40000000
    done
    figure "PostgreSQL's index of 20000 rows" "$(psql -c \
        "SELECT pg_relation_size(indexrelid) FROM pg_index
            WHERE indrelid = 'made4'::regclass") bytes"
    if [ -r packages ]; then
        loaded packages 6
        awk -F '\t' 'NR % 20 == 1 { print "1=" $1; print "3=" $3 "\t5=" $5
            print "6=" $6 "\t3=" $3 "\t2=" $2 }' packages >questions
        sql 'SELECT 0 + ,' packages questions | sed 's/0 + ,//' |
            psql -F "$(printf '\t')" | sort >theirs
        ask packages packages.blx questions
        sort answers | cmp - theirs >cmp.out 2>&1 || true
        check 'PostgreSQL finds the same packages' test ! -s cmp.out
        figure 'questions of packages' "$(wc -l <questions): $(seconds \
            "$PROGRAM" ask packages packages.blx <questions) s"
    fi
    ended
    wait
else
    skip "PostgreSQL's index" 'no server can be started (Debian: postgresql)'
fi

# ---- Errors -----------------------------------------------------------------

printf 'a\tb\nc\td\n' >small
"$PROGRAM" index small small.blx
printf '2=b\n2=d\t1=c\n1=b\n' >questions
ask small small.blx questions
check 'columns are told apart' test "$(tr '\t\n' '. ' <answers)" = '1.a.b 2.c.d '
: >empty
"$PROGRAM" index empty empty.blx
echo 1=a >question
ask empty empty.blx question
check 'a table without rows' test ! -s answers
printf 'a\tb\nc\n' >uneven
refused 'a row that is short' 'line 2: 1 columns' \
    "$PROGRAM" index uneven uneven.blx
check 'and no index is written' test ! -e uneven.blx
# asked QUESTION TABLE INDEX: with this line on standard input.
asked() {
    echo "$1" | "$PROGRAM" ask "$2" "$3"
}
cp small small.before
refused 'a table in the place of an index' 'small: .*not an index' \
    "$PROGRAM" index small.blx small
check 'which is kept' cmp small small.before
refused 'no table' 'none: No such file' "$PROGRAM" index none none.blx
refused 'no index' 'none.blx: ' asked 1=a small none.blx
refused 'a table for an index' 'small: ' asked 1=a small small
refused 'no question' 'COLUMN=VALUE' asked a small small.blx
refused 'a column that is not there' 'COLUMN=VALUE' asked 3=a small small.blx
echo 'e	f' >>small
refused 'a table that has changed' 'not of this table' asked 1=a small small.blx
refused 'a length that is none' 'usage' "$PROGRAM" index -b 0 small small.blx
"$PROGRAM" index small small.blx
awk 'BEGIN { while (i++ < 1025) printf "1=a\t"; print "2=z" }' >many
refused 'a question of too many' 'COLUMN=VALUE' sh -c \
    '"$0" ask small small.blx <many' "$PROGRAM"
refused 'too many columns' 'line 1: 1025 col.*at most 1024' \
    "$PROGRAM" index many many.blx
cp small kept
refused 'an index in the place of the table' 'small: .*not an index' \
    "$PROGRAM" index small small
check 'which stays' cmp small kept
refused 'nothing' 'usage' "$PROGRAM"
finish
