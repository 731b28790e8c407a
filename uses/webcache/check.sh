# check.sh - webcache: logs of each format give what a model without a filter
# does, and the disk is read in vain at the filter's rate.
. "${1:?}/lib.sh"
command -v python3 >found.python || { skip webcache 'no python3'; finish; }

# compared NAME SIZES LOG...: the program's table beside the model's. Looks with
# the filter are those at objects that are there, and the ones in vain.
compared() {
    compared_name=$1 compared_sizes=$2
    shift 2
    "$PROGRAM" -p 0.1 "$compared_sizes" "$@" 2>said | tail -n +2 >table
    for size in $(echo "$compared_sizes" | tr , ' '); do
        python3 "$USE/model.py" cache "$size" "$@"
    done >model
    awk -F '\t' -v OFS='\t' '{ print $1, $2, $3, $4, $5, $6 - $7 }' table >found
    check "$compared_name: what the model says" cmp found model
}

# ---- Logs of known requests --------------------------------------------------

for format in common squid; do
    python3 "$USE/model.py" make $format "$(work 4000 200000)" \
        "$(work 1500 50000)" >$format.log
    compared $format "$(work 20000,200000,2000000 1000000,10000000,100000000)" \
        $format.log
    figure "$format" "$(awk -F '\t' '{ print $1 ": hits " $3 ", of bytes " $4 \
        ", looks " $6 " instead of " $5 ", filter of " $9 " bytes;" }' table |
        tr '\n' ' ')"
    check "$format: each line is understood" sh -c '! grep -q format said'
done
compared 'both at once' 200000 common.log squid.log
gzip -c common.log | zcat | "$PROGRAM" -p 0.1 200000 2>said | cut -f 1-5 >found
"$PROGRAM" -p 0.1 200000 common.log 2>said | cut -f 1-5 >wanted
check 'compressed, from standard input' cmp found wanted
printf '%s\n' 'not a log' '' '1.5 2 x y/200' >other
cat other common.log | "$PROGRAM" -p 0.1 200000 2>said | cut -f 1-5 >found
check 'other lines change nothing' cmp found wanted
check 'and are counted' grep -q '^webcache: 3 lines are in no known' said

# ---- Looks in vain -----------------------------------------------------------

# Each URL is requested once, so all are absent when they are, and none depends
# on another. Half of them fill the cache.
awk -v n="$(work 20000 200000)" 'BEGIN { for (i = 0; i < n; i++)
    print "h - - [t] \"GET /" i " HTTP/1.1\" 200 1000" }' >once.log
for kind in counting cuckoo; do
    for rate in $(work 0.1 '0.01 0.1'); do
        "$PROGRAM" -k $kind -p "$rate" 5000K once.log 2>said | tail -n 1 >row
        in_band "$kind at $rate: looks in vain" "$(cut -f 7 row)" \
            "$(wc -l <once.log)" "$(awk -F '\t' -v n="$(wc -l <once.log)" \
                '{ printf "%.9f", $8 / n }' row)"
        check "$kind at $rate: none is there" test "$(cut -f 3,6 row)" = \
            "$(printf '0.0000\t%s' "$(cut -f 7 row)")"
    done
done

refused 'no log' 'none: No such file' "$PROGRAM" 1M none
sed 's/GET/HEAD/' common.log >heads
refused 'a log without GETs' 'no GET' "$PROGRAM" 1M heads
for size in 0 none 1X 1M,, 99999999999G; do
    refused "a size of $size" 'usage: webcache' "$PROGRAM" "$size" common.log
done
refused 'no size' 'usage: webcache' "$PROGRAM"
refused 'a rate that is no number' 'usage: webcache' "$PROGRAM" -p few 1M \
    common.log
refused 'a kind that only adds' 'standard: of this kind no key can be removed' \
    "$PROGRAM" -k standard 1M common.log
finish
