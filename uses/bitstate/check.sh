# check.sh - bitstate: reported errors are real, the share of missed states is
# as predicted, and SPIN finds the same states if none is missed.
. "${1:?}/lib.sh"

compile=${CC:-cc}
{ command -v "$compile" && command -v python3; } >programs || {
    skip bitstate 'no C compiler, or no python3'
    finish
}

# object NAME SOURCE FLAGS...: compiles NAME.so.
object() {
    name=$1 source=$2
    shift 2
    "$compile" -O2 -Wall -Wextra -Werror -shared -fPIC "$@" -I "$USE" \
        -o "$name.so" "$source"
}

# states: the number of states in a run's output.
states() {
    sed -n 's/^states: //p' "$1"
}

object puzzle "$USE/puzzle.c"
object lock "$USE/lock.c"
object broken "$USE/lock.c" -DBROKEN
python3 "$USE/exact.py" >exact
cut -d ' ' -f 1 exact | sort >boards
all=$(wc -l <boards)
check 'the puzzle has the known 181440 boards' test "$all" = 181440

# ---- Coverage ----------------------------------------------------------------

# k, B bits per state, the share by the formula, and the share published for the
# puzzle. The library spreads its hash in another way than the table's.
while read -r k share formula known; do
    case $EFFORT$share in
    quick2 | quick20 | quick50 | quick100) continue ;;
    esac
    "$PROGRAM" ./puzzle.so --breadth --bits $((share * all)) --probes "$k" >out
    found=$(states out)
    figure "k=$k, $share bits a state: share found" "$(awk -v n="$found" \
        -v m="$all" 'BEGIN { printf "%.6f", n / m }'), known $known"
    check "k=$k, B=$share: no more than there are" test "$found" -le "$all"
    check "k=$k, B=$share: the formula is as known" awk -v k="$k" -v B="$share" \
        -v known="$formula" 'BEGIN { n = 20000
            for (i = 0; i < n; i++)
                missed += (1 - exp(-k * (i + .5) / n / B)) ^ k / n
            unit = 10 ^ (1 - length(known))
            exit (1 - missed - known) ^ 2 > (.501 * unit) ^ 2 }'
    check "k=$k, B=$share: the hash factor" grep -q "^hash factor: $(awk \
        -v n="$found" -v m=$((share * all)) 'BEGIN {
            printf "%.2f", m / n }')\$" out
    [ "$share" -ge 5 ] || continue
    check "k=$k, B=$share: within 1 % of the known share" awk -v n="$found" \
        -v m="$all" -v known="$known" 'BEGIN {
            exit (n / m / known - 1) ^ 2 > .01 ^ 2 }'
    [ "$share" -ge 10 ] || continue
    in_band "k=$k, $share bits a state: left out" $((all - found)) "$all" \
        "$(awk -v m="$all" '/^missed/ { printf "%.12f", $3 / m }' out)"
done <<'END'
3 2 .8233 .7824
3 5 .97265 .9717
3 10 .99524 .99528
3 20 .99929 .99937
3 50 .99995 .99997
3 100 .9999935 1.000000
2 2 .8319 .7952
2 5 .9601 .9589
2 10 .98849 .98826
2 20 .99691 .99696
2 50 .99948 .99950
2 100 .99987 .99986
END
if [ "$EFFORT" = full ]; then
    # The table is reproduced with its own probes, to the digit.
    python3 "$USE/exact.py" known >found
    cat >known <<'END'
3 2 141962
3 5 176304
3 10 180584
3 20 181325
3 50 181434
3 100 181440
2 2 144284
2 5 173991
2 10 179310
2 20 180889
2 50 181349
2 100 181414
END
    check 'the known table, by its own probes' cmp found known
fi

# ---- A swarm -----------------------------------------------------------------

before=0
: >union
for seed in $(seq "$(work 2 8)"); do
    "$PROGRAM" ./puzzle.so --bits $((5 * all)) --seed "$seed" --list list >out
    sort list >sorted
    check "seed $seed: no state is taken for new twice" test \
        "$(uniq sorted | wc -l)" = "$(states out)"
    check "seed $seed: none that cannot be reached" test -z \
        "$(comm -23 sorted boards)"
    sort -mu sorted union >together
    mv together union
    check "seed $seed: it adds to what was found, if all was not" awk \
        -v before="$before" -v now="$(wc -l <union)" -v all="$all" \
        'BEGIN { exit !(now > before || before == all) }'
    before=$(wc -l <union)
    figure "5 bits a state, $seed seeds" "$(states out) by the last, \
$before together of $all"
done

# ---- Signatures of 40 bits ---------------------------------------------------

kind=compaction:load=70
# shellcheck disable=SC2046  # words
check 'the command of use.md can be' "$BLOOMERY" plan $(sed -n \
    's/^\$ .*--kind\( .*\) --states\( .*\) --rate\( .*\)/-k\1 -n\2 -p\3/p' \
    "$USE/use.md")
check 'signatures of 40 bits' sh -c "\"\$0\" plan --json -k $kind -n $all \
    -p 4e-12 | tr -d ' \n' | grep -q 'geometry\":\[[0-9]*,40,'" "$BLOOMERY"
"$PROGRAM" ./puzzle.so --kind $kind --states "$all" --rate 4e-12 --list list >out
sort list | cmp -s - boards && same=yes || same=no
check 'with them every state is found' test "$same" = yes
check 'and not one in a million searches misses one' awk '/^missed/ {
    exit !($3 < 1e-6) }' out
figure 'signatures of 40 bits' "$(sed -n 's/^bits: //p' out) bits, missed on \
average $(sed -n 's/^missed, expected: //p' out)"
"$PROGRAM" ./puzzle.so --breadth --kind $kind --states "$all" --rate .005 >out
in_band 'short signatures: left out' $((all - $(states out))) "$all" \
    "$(awk -v m="$all" '/^missed/ { printf "%.12f", $3 / m }' out)"

# ---- Ways to errors ----------------------------------------------------------

# Each board of a way differs from the one before by one tile.
cat >way.awk <<'AWK'
/^step / {
    if ($2 != n + 0 ":" || (n == 0 ? $3 != "123456780" : !slides(last, $3)))
        bad = 1
    last = $3
    n++
}
function slides(a, b,  i, j) {
    i = index(a, "0"); j = index(b, "0")
    if (i - j != 3 && j - i != 3 && (int((i - 1) / 3) != int((j - 1) / 3) ||
        (i - j != 1 && j - i != 1)))
        return 0
    return substr(b, i, 1) == substr(a, j, 1) && length(b) == 9 &&
           without(a, i, j) == without(b, i, j)
}
function without(a, i, j) {
    if (i > j) return without(a, j, i)
    return substr(a, 1, i - 1) " " substr(a, i + 1, j - i - 1) " " \
           substr(a, j + 1)
}
END { exit bad || last != wanted || (moves && n - 1 != moves) }
AWK
far=$(sort -n -k 2 exact | tail -n 1)
board=${far% *} moves=${far#* }
check 'the farthest board is 31 moves away' test "$moves" = 31
object wanted "$USE/puzzle.c" "-DWANTED=\"$board\""
status=0
"$PROGRAM" ./wanted.so --breadth --bits 8000000 --probes 8 >way || status=$?
check 'an error is told by the status' test $status = 1
check 'by breadth: 31 moves, each of which can be made' \
    awk -v wanted="$board" -v moves="$moves" -f way.awk way
"$PROGRAM" ./wanted.so --bits 8000000 --probes 8 >way || true
check 'deep first: each move can be made' awk -v wanted="$board" -f way.awk way
figure 'the way, deep first' "$(grep -c '^step ' way) boards"
for seed in $(seq "$(work 1 3)"); do
    "$PROGRAM" ./wanted.so --breadth --bits $((3 * all)) --seed $seed >way || true
    grep -q '^error: ' way || continue
    check "3 bits a state, seed $seed: each move can be made" \
        awk -v wanted="$board" -f way.awk way
done

# A correct lock, whatever is skipped, and a broken one.
for bits in 10000 30000 100000 3000000; do
    "$PROGRAM" ./lock.so --bits $bits >out || true
    check "the lock: no error is made up ($bits bits)" grep -qx 'errors: 0' out
done
check 'the lock: the known 9272 states' test "$(states out)" = 9272
check 'and 25792 steps' grep -qx 'steps: 25792' out
"$PROGRAM" ./broken.so --breadth --bits 2e7 --probes 8 >out || true
check 'the broken lock: the known 329140 states' test "$(states out)" = 329140
check 'in each step one process moves, and at the end two are inside' awk '
    /^step / {
        moved = inside = 0
        for (i = 1; i <= 4; i++) {
            moved += now[i] "" != $(i + 2)
            now[i] = $(i + 2)
            inside += now[i] == "3.3"
        }
        bad += moved != (n++ > 0 ? 1 : 4)
    }
    END { exit bad || inside != 2 || n < 3 }' out

# ---- Compared with SPIN ------------------------------------------------------

# spun MODEL FLAGS...: "states transitions errors" of SPIN's search; KEEP and
# RUN are SPIN flags.
spun() {
    cp "$USE/$1.pml" .
    # shellcheck disable=SC2086 # flags are words
    spin ${BROKEN:-} -a "$1.pml" >spin.out
    # shellcheck disable=SC2086 # flags are words
    "$compile" -O2 -w -DSAFETY -DNOREDUCE ${KEEP:-} -o pan pan.c
    # shellcheck disable=SC2086 # flags are words
    ./pan -m1000000 -c0 ${RUN:-} | awk '/states, stored/ { s = $1 }
        / transitions / { t = $1 }
        /errors:/ { e = $NF }
        END { print s, t, e }'
}
if [ "$EFFORT" != full ]; then
    skip 'beside SPIN' 'full runs only'
elif ! command -v spin >spin.path; then
    skip 'beside SPIN' 'no spin (Debian: spin)'
else
    # SPIN sets up its first board in a step, and counts its first state as a
    # transition.
    check 'SPIN: as many boards, and one before them' \
        test "$(spun puzzle)" = '181441 483842 0'
    check 'SPIN: the lock has as many states and steps' \
        test "$(spun lock)" = '9272 25793 0'
    BROKEN=-DBROKEN
    check 'SPIN: so has the broken one, and errors' expr \
        "$(spun lock)" : '329140 1202045 [1-9]'
    BROKEN=''
    for log in 19 20 21 22; do
        spins=$(KEEP=-DBITSTATE RUN="-k3 -w$log" spun puzzle)
        "$PROGRAM" ./puzzle.so --bits $((1 << log)) >out
        figure "2^$log bits, k=3: left out by SPIN" \
            "$((all + 1 - ${spins%% *})), here $((all - $(states out)))"
        check "2^$log bits: SPIN finds no more than there are" \
            test "${spins%% *}" -le $((all + 1))
        [ $log -ge 21 ] || continue
        in_band "2^$log bits: left out" $((all - $(states out))) "$all" \
            "$(awk -v m="$all" '/^missed/ { printf "%.12f", $3 / m }' out)"
    done
    object five "$USE/lock.c" -DN=5
    figure 'the lock of 5, 2^27 bits' "$("$PROGRAM" ./five.so | tr '\n' ' ')"
fi

# ---- Refusals ----------------------------------------------------------------

echo 'int nothing;' >nothing.c
"$compile" -shared -fPIC -o nothing.so nothing.c
"$PROGRAM" puzzle.so >here
check 'a model in this folder needs no ./' grep -q '^states: 181440$' here
refused 'no model' 'none.so.*No such file' "$PROGRAM" ./none.so
refused 'a text for a model' 'exact' "$PROGRAM" ./exact
refused 'an object without one' 'it has no model' "$PROGRAM" ./nothing.so
refused 'no bits' '--bits: another number' "$PROGRAM" ./puzzle.so --bits 0
refused 'an option that is none' 'no such option' "$PROGRAM" ./puzzle.so --x 1
refused 'no value' 'a value is wanted' "$PROGRAM" ./puzzle.so --bits
refused 'a kind that takes no keys one by one' 'xor' "$PROGRAM" ./puzzle.so \
    --kind xor --states 1000
refused 'a table that is full' 'full' "$PROGRAM" ./puzzle.so --kind $kind \
    --states 1000 --rate 1e-9
refused 'a list that cannot be written' 'none/list: No such' "$PROGRAM" \
    ./puzzle.so --list none/list
refused 'nothing' 'usage: bitstate MODEL' "$PROGRAM"
finish
