# kmers.sh - k-mers of FASTA and FASTQ files, compared with kmers.py; broken
# files, rare k-mers, shares at their limits.
# shellcheck source=lib.sh
. "$1/lib.sh"
here=$(dirname "$0")
oracle() { python3 "$here/kmers.py" "$@"; }

# ---- Random files ------------------------------------------------------------

for seed in $(seq "$(work 4 1)"); do
    mkdir "t$seed"
    oracle make "$seed" "t$seed"
    set -- "t$seed"/[gr][0-9].f*
    wrong='' runs=0
    for k in 5 15 31; do
        for least in 1 2 3; do
            "$BLOOMERY" index -q -o t.blx --by kmers=$k --min-count $least "$@" \
                || wrong="$wrong; not made"
            for ask in 'fa 0.05' 'fq 0.8' 'fa 1'; do
                share=${ask#* } queries=t$seed/queries.${ask% *}
                "$BLOOMERY" which --sequences --at-least "$share" t.blx \
                    "$queries" >out 2>err
                what=$(oracle compare $k $least "$share" "$queries" "$@" \
                    <out 2>&1) ||
                    wrong="$wrong; k=$k, $least, $share: $what"
                runs=$((runs + 1))
            done
        done
    done
    name="the $runs answers of a slow count, seed $seed"
    if [ -z "$wrong" ]; then pass "$name"; else fail "$name" "$wrong"; fi
done

# ---- Rare k-mers -------------------------------------------------------------

# There are 3000 k-mers. A third of them occurs once, twice and three times each.
awk 'BEGIN {
    srand(7)
    for (i = 0; i < 3000; i++) {
        bases = ""
        for (j = 0; j < 31; j++)
            bases = bases substr("ACGT", 1 + int(4 * rand()), 1)
        for (j = 0; j <= i % 3; j++)
            printf "@r%d.%d\n%s\n+\n%s\n", i % 3 + 1, i, bases, bases
    }
}' >counted.fq
for least in 1 2 3 4; do
    try index -q -o counted.blx --by kmers=31 -p 0.1% --min-count $least \
        counted.fq
    "$BLOOMERY" which --sequences counted.blx counted.fq 2>err |
        cut -f 1 | sort -u >named
    for times in 1 2 3; do
        named=$(grep -c "^r$times" named)
        if [ $times -ge $least ]; then
            check "$times times, of at least $least: all are there" \
                test "$named" -eq 1000
        else        # 1 is expected, and six standard deviations
            check "$times times, of at least $least: $named are there" \
                test "$named" -le 7
        fi
    done
done

# ---- Long sequences ----------------------------------------------------------

# Lines longer than a block, and more k-mers than are held before repeats are
# removed; the same bases in lines, on the other strand, and as reads.
awk -v n="$(work 4400000 600000)" 'BEGIN {
    srand(3)
    for (i = 0; i < n; i++)
        printf "%s", substr("ACGT", 1 + int(4 * rand()), 1)
}' >bases
{ echo '>long'; cat bases; echo; } >long.fa
{ echo '>long'; fold -w 61 bases; echo; } | sed 's/$/\r/' >lines.fa
{ echo '>long'; rev bases | tr ACGTacgt TGCAtgca; echo; } | gzip -c >other.fa.gz
fold -w 100 bases | awk '{ printf "@r\n%s%s\n+\n%s%s\n", last, $0, last, $0
    last = substr($0, 71) }' >long.fq
cat long.fq long.fq | gzip -c >twice.fq.gz
for least in 1 2; do
    try index -q -o long.blx --by kmers=31 --min-count $least long.fa lines.fa \
        other.fa.gz long.fq twice.fq.gz
    try which --sequences long.blx long.fa
    cut -f 1,2,5 out >named
    printf 'long\t%s\t1.0000\n' lines.fa long.fa long.fq other.fa.gz \
        twice.fq.gz >want
    [ $least = 1 ] || printf 'long\ttwice.fq.gz\t1.0000\n' >want
    check "every k-mer of a long sequence, at least $least" cmp named want
done

# ---- What is printed ---------------------------------------------------------

printf '>one\nACGTACC\nTTGA\n>two GGGGGGGGGG\nCCCNCCC\n' >seq.fa
printf '@r1 x\nacgtaccuuga\n+ACGTACGTACGTACGT\n@>+IIIIIIII\n' >seq.fq
printf '@r2\nGGGACGTACCTT\n+\n>CCCCCCCCCCC' >>seq.fq
try index -q -o seq.blx --by kmers=7 -p 0.01% seq.fa seq.fq
silent 'files of FASTA and FASTQ'
try which --sequences seq.blx seq.fa
check 'a record without a k-mer is told of' \
    grep -q 'which: 1 record has no k-mer: it takes 7 bases in a row' err
rm err && : >err
out_is 'five k-mers in both files' 0 \
    'one\tseq.fa\t5\t5\t1.0000\t0.0\none\tseq.fq\t5\t5\t1.0000\t0.0\n'
try which --sequences --at-least 0.5 seq.blx seq.fq
out_is 'a share that is met exactly' 0 \
    'r1\tseq.fa\t5\t5\t1.0000\t0.0\nr1\tseq.fq\t5\t5\t1.0000\t0.0\nr2\tseq.fa\t3\t6\t0.5000\t0.0\nr2\tseq.fq\t6\t6\t1.0000\t0.0\n'
try which --sequences --at-least 0.51 seq.blx - <seq.fq
out_is 'a share that is just missed, from a pipe' 0 \
    'r1\tseq.fa\t5\t5\t1.0000\t0.0\nr1\tseq.fq\t5\t5\t1.0000\t0.0\nr2\tseq.fq\t6\t6\t1.0000\t0.0\n'
cat seq.fq | gzip -c | "$BLOOMERY" which --sequences --json seq.blx - >out 2>err
echo $? >status
out_has 'JSON, from a compressed pipe' 0 '"query": *"r2"'
which_is() {
    try which seq.blx "$2"
    out_is "$1" "$([ -n "$3" ] && echo 0 || echo 1)" "$3"
}
which_is 'a quality is no sequence' CCCCCCCCC ''
which_is 'nor is the line before it' ACGTACGTACGT ''
which_is 'no k-mer over the end of a record' TTGAGGGA ''
printf '>x\nTTTTTTTTTTTT\n' >none.fa
try which --sequences seq.blx none.fa
out_is 'no file has it' 1 ''

# ---- Updates -----------------------------------------------------------------

mkdir many
printf '@a\nACGTACCTTGA\n+\nIIIIIIIIIII\n' >many/a.fq
cat many/a.fq many/a.fq >many/b.fq
try index -q -o many.blx --by kmers=7 -p 0.01% --min-count 2 -r many
sed 's/ACG/TTT/' many/b.fq >many/c.fq
try index -q -o many.blx --update
silent 'an update keeps --min-count'
try which many.blx ACGTACC
out_is 'what occurs twice' 0 'many/b.fq\n'
try which many.blx TTTTACC
out_is 'and is new' 0 'many/c.fq\n'
try index --plan --by kmers=7 --min-count 2 -o plan.blx -r many
out_has 'a plan' 0 '^documents  about 3'

# ---- Broken files ------------------------------------------------------------

# broken NAME LINE WHY TEXT: the file is left out with this message, the other
# one is in the index; a query with it is refused.
broken() {
    printf '%b' "$4" >broken
    try index -q -o broken.blx --by kmers=7 broken seq.fa
    refused "$1" "line $2 of 'broken' .*$3.*: the index does not cover"
    try which broken.blx ACGTACCTT
    uncovered "$1"
    out_is "$1: the rest is there" 0 'seq.fa\n'
    try which --sequences seq.blx broken
    check "$1: a query is refused" grep -q "line $2 of 'broken' .*$3" err
    check "$1: with status 2" test "$(cat status)" = 2
}
good='@r\nACGTACCTTGA\n+\nIIIIIIIIIII\n'
four='four lines'
broken 'cut after a header' 5 "$four" "$good@r"
broken 'cut after a sequence' 6 "$four" "$good@r\nACGTACCTTGA\n"
broken 'cut after the third line' 7 "$four" "$good@r\nACGTACCTTGA\n+\n"
broken 'cut in a quality' 8 'another length' "$good@r\nACGTACCTTGA\n+\nIII"
broken 'a quality that is too long' 4 'another length' \
    "@r\nACGTACCTTGA\n+\nIIIIIIIIIIII\n$good"
broken 'a sequence of two lines' 7 "begin with '[+]'" \
    "$good@r\nACGTACC\nTTGA\n+\nIIIIIII\nIIII\n"
broken 'a line too many' 5 "begin with '@'" "${good}IIIII\n"
broken 'FASTA behind FASTQ' 5 "begin with '@'" "$good>r\nACGTACCTTGA\n"
broken 'FASTQ behind FASTA' 3 'belongs to FASTQ' ">r\nACGTACCTTGA\n$good"
broken 'a first line that is missing' 1 'neither' \
    'ACGTACCTTGA\n+\nIIIIIIIIIII\n'
broken 'another text' 2 'neither' '\nReads of 2026\n'
for text in '' '\n' '\r\n\n' '@r\n\n+\n\n' '@r\n\n+' '>r' '>r\n>s\n\n'; do
    printf '%b' "$text" >broken
    try index -q -o empty.blx --by kmers=7 broken
    silent "a file without k-mers: '$text'"
done
gzip -c long.fq | head -c 5000 >cut.fq.gz
try index -q -o broken.blx --by kmers=7 cut.fq.gz seq.fa
refused 'compressed data that is cut' "'cut.fq.gz'"
try which broken.blx ACGTACCTT
uncovered 'compressed data'
out_is 'and the rest is there' 0 'seq.fa\n'

# ---- Refusals ----------------------------------------------------------------

keeps 'a count of words' 'is for k-mers: give --by kmers' seq.blx \
    index -o seq.blx --by words --min-count 2 seq.fa
keeps 'a count of none' 'min-count' seq.blx \
    index -o seq.blx --by kmers=7 --min-count 0 seq.fa
keeps 'a count of too many' 'more than 255: give' seq.blx \
    index -o seq.blx --by kmers=7 --min-count 256 seq.fa
keeps 'a count for an update' 'min-count' seq.blx \
    index -o seq.blx --update --min-count 2
for share in 0 1.1 -1 x; do
    try which --sequences --at-least $share seq.blx seq.fa
    refused "a share of $share" 'at-least'
done
try which --sequences --any seq.blx seq.fa
refused 'any of the k-mers' 'any'
try which --sequences seq.blx
refused 'no file of queries' 'takes an INDEX'
try which --sequences seq.blx missing.fa
refused 'a file that is not there' 'missing.fa'
try which --sequences seq.blx .
refused 'a folder' "'\\.'"
try index -q -o words.blx --by words seq.fa
try which --sequences words.blx seq.fa
refused 'an index of words' 'is an index of words: .* --by kmers=31'
