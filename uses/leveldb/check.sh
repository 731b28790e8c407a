# check.sh - filters in a LevelDB database: answers equal awk's, and blocks are
# read in vain at the filters' rates.
. "${1:?}/lib.sh"

[ -x "$PROGRAM" ] || { skip leveldb 'no LevelDB (Debian: libleveldb-dev)'; finish; }
list=/usr/share/dict/american-english
[ -r $list ] || { skip leveldb 'no list of words (Debian: wamerican)'; finish; }

# Words with values of 80 bytes, in three loads: the second changes some, and
# the third deletes some. Closing LevelDB turns a load into a table.
awk -v every="$(work 30 1)" '!/\t/ && NR % every == 0' $list | sort -u >words
sed 's/$/~/' words >strangers
value='a row of a table, a message of a queue: most values are longer than keys'
awk -v v="$value" 'NR % 3 { print $0 "\t" v " " NR }' words >load.1
awk -v v="$value" 'NR % 3 == 0 { print $0 "\t" v " " NR }
    NR % 10 == 1 { print $0 "\t" v ", anew" }' words >load.2
awk 'NR % 7 == 0' words >load.3
cat load.1 load.2 load.3 | awk -F '\t' '{ line[$1] = NF > 1 ? $0 : "" }
    END { for (i in line) if (line[i] != "") print line[i] }' | sort >wanted
figure lines "$(cat load.? | wc -l) in $(cat load.? | wc -c) bytes"

# load DB OPTIONS...: makes all three; `filters` has the output about filters.
load() {
    load_to=$1
    shift
    for load_from in load.1 load.2 load.3; do
        "$PROGRAM" put "$@" "$load_to" <$load_from 2>said
        [ ! -s said ] || cp said filters
    done
}

# get DB KEYS OPTIONS...: sorted answers, and the output.
get() {
    get_db=$1 get_keys=$2
    shift 2
    "$PROGRAM" get "$@" "$get_db" "$get_keys" 2>said | sort >answers
}

# told PATTERN: the number in the output.
told() {
    sed -n "s/.*$1.*/\1/p" said
}

# in_vain NAME: the share of filters without the key that said yes. The fill
# gives only the minimum rate of LevelDB's filter, whose positions come from 32
# bits of hash and depend on each other.
in_vain() {
    asked=$(told 'of \([0-9]*\) filters') yes=$(told 'key \([0-9]*\) said')
    awk -v n="$asked" -v s="$(told ' \([0-9.]*\) expected')" \
        'BEGIN { print s / n }' >rate
    case $1 in
    theirs* | own)
        figure "$1: blocks read in vain" "$(awk -v n="$asked" -v y="$yes" \
            '{ printf "%.4g of %d, by its bits %.4g", y / n, n, $1 }' rate)"
        check "$1: not fewer blocks in vain than its bits say, by 4 sigma" awk \
            -v n="$asked" -v y="$yes" '{ d = n * $1 - y
                exit d > 0 && d * d > 16 * n * $1 * (1 - $1) + 1 }' rate ;;
    *)  in_band "$1: blocks read in vain" "$yes" "$asked" "$(cat rate)" ;;
    esac
}

# A filter for a block or two, and for more keys. LevelDB also makes tables
# while it is queried, so the options are the same.
while read -r name kind rate block; do
    options="-k $kind -p $rate -b $block"
    # shellcheck disable=SC2086  # several options
    {
        load "$name" $options
        get "$name" words $options
        check "$name: exact" cmp wanted answers
        check "$name: none is missing" test \
            "$(told 'keys, \([0-9]*\) found')" = "$(wc -l <wanted)"
        get "$name" strangers $options
    }
    check "$name: no stranger is found" test ! -s answers
    in_vain "$name"
    check "$name: filters are asked" test "$asked" -gt $(($(wc -l <words) / 2))
    figure "$name, $kind, blocks of $block" "$(sed 's/leveldb: //' filters)"
    echo "$name $yes $asked $(sed 's/.*, \(.*\) bits.*/\1/' filters)" >>table
done <<'END'
small standard 0.01 4096
large standard 1% 65536
ribbon ribbon 0.008 1048576
theirs leveldb:bits=10 0.01 4096
END

# bits NAME: per key.
bits() {
    awk -v name="$1" '$1 == name { print $4 }' table
}
header=$(awk -v s="$(bits small)" -v l="$(bits large)" 'BEGIN { print s - l }')
figure 'what the header costs in small blocks' "$header bits a key"
check 'the header costs more than a filter there' \
    awk -v h="$(bits small)" 'BEGIN { exit h < 2 * 9.6 }'
check 'and less than 2 bits a key in blocks of 64 KiB' \
    awk -v l="$(bits large)" 'BEGIN { exit l > 9.7 + 2 }'
if [ "$EFFORT" = full ]; then           # 10,000 keys for a filter
    check "ribbon in blocks of 1 MiB: fewer bits than LevelDB's" awk \
        -v r="$(bits ribbon)" -v t="$(bits theirs)" 'BEGIN { exit r >= t }'
    check 'and fewer blocks in vain' awk '{ through[$1] = $2 / $3 } END {
        exit through["ribbon"] >= through["theirs"] }' table
fi

# A database of three kinds: an image knows its own.
"$PROGRAM" put -k ribbon -p 0.001 both <load.1
"$PROGRAM" put -k fuse -p 0.01 both <load.2 2>said
"$PROGRAM" put -k split -p 0.01 both <load.3 2>said
get both words
check 'three kinds in one database: exact' cmp wanted answers

# LevelDB's own policy writes the same tables as kind leveldb, and reads them.
load own -k own
load same -k leveldb:bits=10
cat own/*.ldb >own.tables
cat same/*.ldb >same.tables
if [ "$EFFORT" = quick ]; then          # of more, threads decide which tables
    check "the real policy's tables, byte for byte" cmp own.tables same.tables
fi
get same words -k own
check 'the real policy finds all in ours' cmp wanted answers
get own words -k leveldb
check 'and ours in its' cmp wanted answers
get own strangers -k leveldb
in_vain own
"$BLOOMERY" query -c own/*.ldb words >count 2>said || true
check "the command finds in its tables all that is there" \
    test "$(cat count)" -ge "$(wc -l <wanted)"

load none -k none
get none words -k none
check 'no filters: exact' cmp wanted answers
for of in 'none none' 'own own' 'theirs leveldb' 'large standard' \
    'ribbon ribbon'; do
    figure "time for strangers: ${of% *}" \
        "$(seconds "$PROGRAM" get -k "${of#* }" "${of% *}" strangers) s"
done

# Filters of another policy are ignored.
get own words
check "another policy's filters: exact" cmp wanted answers
check 'and none of them asked' test "$(told 'of \([0-9]*\) filters')" = 0

# Keys may be any bytes.
printf 'a\000b\tvalue\000\n' >bytes
"$PROGRAM" put bytes.db <bytes
printf 'a\000b\n' >bytes.key
"$PROGRAM" get bytes.db bytes.key 2>said | cmp - bytes >cmp.out 2>&1 || true
check 'a key with a NUL byte' test ! -s cmp.out

refused 'no database' 'database: ' "$PROGRAM" get none.db words
refused 'no keys' 'none.keys: No such file' "$PROGRAM" get small none.keys
refused 'a kind that is none' 'filters: .*sieve' "$PROGRAM" get -k sieve small words
refused 'a rate that is none' 'filters: ' "$PROGRAM" put -p 2 new <load.1
check 'no database was made' test ! -e new
refused 'a rate with more behind it' 'usage' "$PROGRAM" put -p 1%% new
refused 'an option that is none' 'usage' "$PROGRAM" put -z 1 new
refused 'nothing' 'usage' "$PROGRAM"
finish
