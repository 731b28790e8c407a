# similar.sh - the most similar rows of bits: output compared with awk,
# refusals, and equal answers however they are computed.
. "${1:?}/lib.sh"

# ---- A small library ---------------------------------------------------------

# Bits of the query: 0, 7, 8, 9.
printf '#FPS1\n#num_bits=16\n#type=t\n8103\tq\n' >query.fps
{
    printf '#FPS1\n#num_bits=16\n#type=t\n#software=none\n'
    printf '0102\ttwo\n8103\tsame\tmore\nFFFF\tall\n0000\tnone\n'
    printf '8003\tthree\n0081\tother\n0082\tnine\n'
} >library.fps
cp library.fps kept.fps

try similar query.fps library.fps
out_is 'all rows, the most similar first' 0 \
    'q\t1.000000\tsame\nq\t0.750000\tthree\nq\t0.500000\ttwo\nq\t0.250000\tall\nq\t0.200000\tother\nq\t0.200000\tnine\nq\t0.000000\tnone\n'
try similar --rows 1 query.fps library.fps
out_is 'the most similar' 0 'q\t1.000000\tsame\n'
try similar --rows 5 query.fps library.fps
check 'the first of equal rows' test "$(tail -n 1 out | cut -f 3)" = other
try similar --threshold 0.5 query.fps library.fps
out_is 'at least so similar' 0 \
    'q\t1.000000\tsame\nq\t0.750000\tthree\nq\t0.500000\ttwo\n'
try similar --threshold 75% --rows 9 query.fps library.fps
out_is 'a percentage' 0 'q\t1.000000\tsame\nq\t0.750000\tthree\n'
try similar --measure dice --rows 3 query.fps library.fps
out_is 'Dice' 0 'q\t1.000000\tsame\nq\t0.857143\tthree\nq\t0.666667\ttwo\n'
try similar --measure contained --rows 3 query.fps library.fps
out_is 'contained' 0 'q\t1.000000\tsame\nq\t1.000000\tall\nq\t0.750000\tthree\n'
try similar --measure tversky=0,1 --rows 3 query.fps library.fps
out_is 'Tversky' 0 'q\t1.000000\ttwo\nq\t1.000000\tsame\nq\t1.000000\tthree\n'
try similar --measure tversky=1,1 query.fps library.fps
cp out tversky
try similar --measure tanimoto query.fps library.fps
check 'Tversky of 1 and 1 is Tanimoto' cmp -s tversky out
try similar --superset query.fps library.fps
out_is 'rows that have all bits' 0 'q\t1.000000\tsame\nq\t0.250000\tall\n'
try similar --superset --rows 1 --threshold 0.9 query.fps library.fps
out_is 'the first of those' 0 'q\t1.000000\tsame\n'
check 'the library is as it was' cmp -s library.fps kept.fps

# ---- Estimates and JSON ------------------------------------------------------

try similar --rows 4 --estimate query.fps library.fps
out_has 'estimates' 0 '^q	1\.000000	same	4\.5	4\.5	4\.5	1\.000000$'
out_has 'unknown where all bits are set' 0 \
    '^q	0\.250000	all	4\.5	unknown	unknown	unknown$'
try similar --rows 1 --json query.fps library.fps
out_has 'json: the query' 0 '^    "query": "q",$'
out_has 'json: the row' 0 '^        "id": "same",$'
out_has 'json: the similarity' 0 '^        "similarity": 1,$'
out_has 'json: bits' 0 '^        "bits": 4,$'
try similar --rows 4 --json --estimate query.fps library.fps
out_has 'json: no number' 0 '"value": null'
if command -v python3 >/dev/null; then
    check 'json: it is' python3 -m json.tool out
else
    skip 'json: it is' 'no python3'
fi
try similar --threshold 0.9 --json query.fps kept.fps
out_has 'json: an array' 0 '^\[$'

# ---- Forms of files ----------------------------------------------------------

try similar --rows 2 query.fps library.fps
cp out want2
sed 's/$/\r/' library.fps >crlf.fps
try similar --rows 2 query.fps crlf.fps
check 'CR LF' cmp -s want2 out
gzip -c library.fps >library.fps.gz
try similar --rows 2 query.fps library.fps.gz
check 'compressed' cmp -s want2 out
try similar --rows 2 query.fps - <library.fps
check 'from standard input' cmp -s want2 out
cat query.fps | try similar --rows 2 - library.fps
check 'queries from a pipe' cmp -s want2 out
sed '/type/d' query.fps >untyped.fps
try similar --rows 2 untyped.fps library.fps
check 'a type that is not said' cmp -s want2 out
printf '#FPS1\n8103\tq' >short.fps
try similar --rows 2 short.fps library.fps
check 'the shortest head' cmp -s want2 out

# ---- Nothing -----------------------------------------------------------------

printf '#FPS1\n#num_bits=16\n0000\tempty\n' >zero.fps
try similar --threshold 0.01 zero.fps library.fps
out_is 'no row is similar' 1 ''
try similar --rows 1 zero.fps library.fps
out_is 'a row without bits' 0 'empty\t0.000000\ttwo\n'
try similar --superset zero.fps library.fps
check 'no bits are in every row' test "$(wc -l <out)" -eq 7
printf '#FPS1\n#num_bits=16\n' >rows0.fps
try similar query.fps rows0.fps
out_is 'an empty library' 1 ''
try similar rows0.fps library.fps
out_is 'no queries' 1 ''
try similar --json rows0.fps library.fps
out_is 'no queries: json' 1 '[]\n'

# ---- Refusals ----------------------------------------------------------------

# bad NAME REGEX TEXT: this library is refused, and so are such queries.
bad() {
    printf '%b' "$3" >bad.fps
    try similar query.fps bad.fps
    refused "$1" "bad.fps.*$2"
    try similar bad.fps library.fps
    refused "$1: queries" "bad.fps.*$2"
}
bad 'an empty file' 'has no fingerprints' ''
bad 'another file' "line 1 is not '#FPS1'" 'words\n'
bad 'a head without rows' 'has no fingerprints' '#FPS1\n'
bad 'no number of bits' 'line 2: num_bits' '#FPS1\n#num_bits=many\n'
bad 'num_bits twice' 'line 3 gives num_bits' '#FPS1\n#num_bits=8\n#num_bits=8\n'
bad 'a line of the head' 'line 2 begins with #' '#FPS1\n#remark\n'
bad 'no TAB' 'line 2 has no TAB' '#FPS1\n8103 name\n'
bad 'no name' 'line 2 has no name' '#FPS1\n8103\t\n'
bad 'no digits' 'line 2 has other characters' '#FPS1\n81zz\tname\n'
bad 'an odd number of digits' 'line 2 begins with 3' '#FPS1\n810\tname\n'
bad 'unlike rows' 'line 3 has 2 digits' '#FPS1\n8103\ta\n81\tb\n'
bad 'cut short' 'line 4 has no TAB' '#FPS1\n#num_bits=16\n8103\ta\n81'
bad 'a stray bit' 'line 3 has a bit' '#FPS1\n#num_bits=15\n8183\ta\n'
bad 'an empty line' 'line 3 is empty' '#FPS1\n8103\ta\n\n'
printf '#FPS1\n8103\ta\0b\n' >bad.fps
try similar query.fps bad.fps
refused 'a NUL' 'bad.fps'

printf '#FPS1\n810300\tq\n' >wide.fps
try similar wide.fps library.fps
refused 'other bits' 'wide.fps. has 24 bits and .*library.fps. has 16'
sed 's/type=t/type=u/' query.fps >typed.fps
try similar typed.fps library.fps
refused 'another type' "has type 'u'.*--any-type"
try similar --any-type --rows 2 typed.fps library.fps
check 'another type, all the same' cmp -s want2 out

try similar query.fps
refused 'a single file' 'two files'
try similar query.fps library.fps library.fps
refused 'three files' 'two files'
try similar - - <library.fps
refused 'standard input twice' 'cannot both'
try similar query.fps missing.fps
refused 'no such file' 'missing.fps'
mkdir folder
try similar query.fps folder
refused 'a folder' 'folder'
try similar --rows 0 query.fps library.fps
refused 'no rows' "'0'"
try similar --threshold 1.1 query.fps library.fps
refused 'a threshold above 1' 'from 0 to 1'
try similar --measure cosine query.fps library.fps
refused 'no such measure' "unknown measure 'cosine'"
for weights in '' 1 1, ,1 1,2,3 -1,1 nan,1 1,inf 1e999,1 '1, 1'; do
    try similar --measure "tversky=$weights" query.fps library.fps
    refused "weights '$weights'" 'does not have two weights'
done

# ---- Equal answers every way, and awk's --------------------------------------

# Rows of 48 bits, with more bits set in some than in others.
rows=$(work 1000 300)
awk -v n="$rows" 'BEGIN {
    srand(7)
    print "#FPS1"
    for (i = 1; i <= n; i++) {
        share = rand()
        row = ""
        for (digit = 0; digit < 12; digit++) {
            value = 0
            for (bit = 1; bit < 16; bit *= 2)
                if (rand() < share) value += bit
            row = row sprintf("%x", value)
        }
        print row "\t" i
    }
}' >random.fps
{ echo '#FPS1'; sed -n '5,16p' random.fps; } >queries.fps
awk -F '\t' '
function ones(digit) { return digit in known ? known[digit] : 0 }
BEGIN {
    hex = "0123456789abcdef"
    for (i = 0; i < 16; i++) for (j = 0; j < 16; j++) {
        n = 0; a = i; b = j
        for (bit = 0; bit < 4; bit++) {
            if (a % 2 && b % 2) n++
            a = int(a / 2); b = int(b / 2)
        }
        known[substr(hex, i + 1, 1) substr(hex, j + 1, 1)] = n
    }
}
function shared(a, b,   k, n) {
    n = 0
    for (k = 1; k <= 12; k++) n += ones(substr(a, k, 1) substr(b, k, 1))
    return n
}
FNR == 1 { next }
NR == FNR { query[++queries] = $1; name[queries] = $2; next }
{
    b = shared($1, $1)
    for (q = 1; q <= queries; q++) {
        c = shared(query[q], $1)
        a = shared(query[q], query[q])
        printf "%d\t%.9f\t%d\t%s\n", q, c == 0 ? 0 : c / (a + b - c), FNR,
            name[q] "\t" $2
    }
}' queries.fps random.fps | sort -t '	' -k 1,1n -k 2,2nr -k 3,3n |
    awk -F '\t' '$1 != last { n = 0; last = $1 }
        ++n <= 10 { printf "%s\t%.6f\t%s\n", $4, $2, $5 }' >want10
try similar queries.fps random.fps
check 'as awk has it' cmp -s want10 out
for jobs in 1 3 40; do
    try similar -j $jobs queries.fps random.fps
    check "by $jobs threads" cmp -s want10 out
done
for level in portable sse2 avx2 neon; do
    BLY_CPU=$level
    export BLY_CPU
    try similar queries.fps random.fps
    check "by $level" cmp -s want10 out
    unset BLY_CPU
done
try similar --rows 100000 queries.fps random.fps
check 'more than there are' test "$(wc -l <out)" -eq $((12 * rows))
try similar --superset queries.fps random.fps
check 'each is within itself' \
    test "$(awk -F '\t' '$1 == $3' out | wc -l)" -eq 12

# ---- Another program's file --------------------------------------------------

vector=$1/../../../shared/data/fps/rdkit_maccs167.fps
if [ -r "$vector" ]; then
    try similar --rows 1 --threshold 1 "$vector" "$vector"
    check "RDKit's: each row is like itself" \
        test "$(wc -l <out)" -eq "$(grep -vc '^#' "$vector")"
else
    skip "RDKit's: each row is like itself" 'it is not here'
fi

finish
