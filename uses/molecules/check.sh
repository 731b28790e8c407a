# check.sh - molecules: no part that RDKit finds atom by atom is screened out,
# the most similar rows are those of a full comparison, and parts equal the
# published ones.
. "${1:?}/lib.sh"

tab=$(printf '\t')

# ---- Published parts ---------------------------------------------------------

printf '%s\n' 'CO methanol' 'CCO ethanol' 'CC(=O)O acid' 'COC ether' 'CCC propane' \
    'C1CC1 cyclopropane' >small.smi
"$PROGRAM" -p small.smi | sort -u >parts.tsv
# paths NAME: without rings, which end in *, and numbers.
paths() {
    awk -F "$tab" -v name="$1" '$1 == name && $2 !~ /[* ]/ { print $2 }' parts.tsv
}
for known in 'methanol C C-O O' 'ethanol C C-C C-C-O C-O O' 'ether C C-O C-O-C O' \
             'acid C C-C C-C-O C-C=O C-O C=O O O-C=O'; do
    check "the paths of ${known%% *}" test "$(paths "${known%% *}" | xargs)" = \
        "${known#* }"
done
for name in methanol ethanol acid ether propane cyclopropane; do
    paths $name >"$name.paths"
done
check 'methanol is in ethanol' test -z "$(comm -23 methanol.paths ethanol.paths)"
check 'ethanol in acetic acid' test -z "$(comm -23 ethanol.paths acid.paths)"
check 'and not in dimethyl ether' test -n "$(comm -23 ethanol.paths ether.paths)"
check 'ethanol and acetic acid: .625' awk \
    -v both="$(comm -12 ethanol.paths acid.paths | wc -l)" \
    -v all="$(sort -u ethanol.paths acid.paths | wc -l)" \
    'BEGIN { exit both / all != .625 }'
check 'propane and cyclopropane have the same paths' \
    cmp propane.paths cyclopropane.paths
"$PROGRAM" small.smi >small.fps
"$BLOOMERY" similar --superset small.fps small.fps | sort >within
check 'but cyclopropane is not in propane' \
    test "$(grep -c "^cyclopropane$tab.*${tab}propane" within)" = 0
check 'while propane is in cyclopropane' \
    grep -q "^propane$tab.*${tab}cyclopropane" within

# Paths have up to seven bonds, rings up to eight atoms.
printf '%s\n' 'CCCCCCCCC nonane' 'C1CCCCCCC1 eight' 'C1CCCCCCCC1 nine' >long.smi
"$PROGRAM" -p long.smi | sort -u >parts.tsv
awk 'BEGIN { for (p = "C"; i++ < 8; p = p "-C") print p }' >wanted
for name in nonane eight nine; do
    paths $name | cmp - wanted >cmp.out 2>&1 || true
    check "the paths of $name" test ! -s cmp.out
done
check 'a ring of eight atoms, and none of nine' test \
    "$(grep '[*]' parts.tsv)" = "eight${tab}C-C-C-C-C-C-C-C-*"

printf '#FPS1\n#num_bits=16\n8103\tT\n' >target.fps
printf '#FPS1\n#num_bits=16\n0102\tQ\n' >bits.fps
check '16 bits: 0102 is within 8103, and the similarity 0.5' test \
    "$("$BLOOMERY" similar --superset bits.fps target.fps)" = "Q${tab}0.500000${tab}T"

# ---- Other spellings of the same molecule ------------------------------------

printf '%s\n' 'OCC a' 'C(O)C a' '[CH3][CH2][OH] a' 'C1.C1O a' 'C-C-O a' >ways.smi
"$PROGRAM" ways.smi | grep -v '^#' | sort -u | wc -l >ways
check 'ethanol, written in five ways, is one row' test "$(cat ways)" = 1
printf '%s\n' 'c1ccccc1Cl a' 'Clc%11ccccc%11 a' 'c:1c:c:c(Cl):c:c1 a' >ways.smi
"$PROGRAM" ways.smi | grep -v '^#' | sort -u | wc -l >ways
check 'a ring too' test "$(cat ways)" = 1

for wrong in 'C1CC' 'C(C' 'C)C' 'CC=' 'C%1C' '1C' 'Cx' '[C' 'C11' '(C)' '?'; do
    printf 'CC good\n%s bad\n' "$wrong" >wrong.smi
    refused "$wrong" 'line 2: no molecule' "$PROGRAM" wrong.smi
done
printf 'CC  acetic acid\tmore\r\nC \n' >names.smi
"$PROGRAM" names.smi | grep -v '^#' | cut -f 2 >names
check 'a name may have blanks' test "$(tr '\n' '|' <names)" = 'acetic acid|line 2|'
refused 'a folder' '[.]: Is a directory' "$PROGRAM" .
refused 'no file' 'none.smi: No such file' "$PROGRAM" none.smi
refused 'rows of 1000 bits' 'power of two' "$PROGRAM" -m 1000 small.smi
refused 'no such option' 'usage' "$PROGRAM" -z small.smi
"$PROGRAM" -m 512 small.smi >narrow.fps
refused 'rows of unlike lengths' 'bits' "$BLOOMERY" similar narrow.fps small.fps

# ---- Parts of molecules, compared with RDKit ---------------------------------

python=/usr/bin/python3
if ! $python -c 'import rdkit' 2>rdkit.log; then
    skip 'parts in molecules' 'no RDKit (Debian: python3-rdkit)'
    finish
fi
$python "$USE/exact.py" "$(work 400 5000)" "$(work 40 400)"
sort hits -o hits
pairs=$(($(wc -l <library.smi) * $(wc -l <query.smi)))
figure 'molecules' "$(wc -l <library.smi), $(wc -l <query.smi) parts; \
$(wc -l <hits) of $pairs pairs match"

# screen NAME: writes the candidates to NAME, from NAME-query.fps.
screen() {
    "$BLOOMERY" similar --superset "$1-query.fps" "$1.fps" | cut -f 1,3 | sort >"$1"
    figure "$1: screened out, of the pairs that do not match" "$(awk \
        -v c="$(comm -13 hits "$1" | wc -l)" -v n=$((pairs - $(wc -l <hits))) \
        'BEGIN { printf "%.5f", 1 - c / n }'), missed $(comm -23 hits "$1" | wc -l)"
}
for bits in 2048 1024 512; do
    "$PROGRAM" -m $bits library.smi >paths-$bits.fps
    "$PROGRAM" -m $bits query.smi >paths-$bits-query.fps
    screen paths-$bits
    check "$bits bits: no match is missed" test -z "$(comm -23 hits paths-$bits)"
    check "$bits bits: more than 98 % of the others are left out" test \
        $(($(comm -13 hits paths-$bits | wc -l) * 50)) -lt $((pairs - $(wc -l <hits)))
    figure "$bits bits: set" "$($python "$USE/rows.py" ones paths-$bits.fps)"
done
$python "$USE/rows.py" fold paths-2048.fps >folded
grep -v '^#' paths-1024.fps | cmp - folded >cmp.out 2>&1 || true
check 'a row folded is the row of half the bits' test ! -s cmp.out
for each in 2 3; do
    "$PROGRAM" -m 512 -b $each library.smi >each-$each.fps
    "$PROGRAM" -m 512 -b $each query.smi >each-$each-query.fps
    screen each-$each
    check "$each bits for every part: no match is missed" \
        test -z "$(comm -23 hits each-$each)"
done
check 'more bits for small parts than for large ones leave fewer' \
    test "$(wc -l <paths-512)" -lt "$(wc -l <each-3)"
screen pattern
check "RDKit's pattern fingerprints miss none" test -z "$(comm -23 hits pattern)"
screen ecfp2
check 'circular ones do: they are not for this' test -n "$(comm -23 hits ecfp2)"

# ---- The most similar --------------------------------------------------------

head -n 3 paths-2048.fps >some.fps
sed 1,3d paths-2048.fps | awk -v n="$(work 80 100)" 'NR % n == 1' >>some.fps
head -n 3 rdkit.fps >rdkit-some.fps
sed 1,3d rdkit.fps | awk -v n="$(work 80 100)" 'NR % n == 1' >>rdkit-some.fps
for t in 0 0.7; do
    for row in 'some paths-2048' 'rdkit-some rdkit'; do
        query=${row% *}.fps library=${row#* }.fps
        $python "$USE/rows.py" most "$query" "$library" 10 $t >exact
        "$BLOOMERY" similar --rows 10 --threshold $t "$query" "$library" >found
        check "$library, $t: the ten most similar of all" cmp exact found
    done
done
check 'each molecule is like itself' test "$(grep -c "${tab}1.000000$tab" found)" -ge \
    $(($(wc -l <rdkit-some.fps) - 3))
for t in 0.5 0.7 0.9; do
    figure "similar by $t: left unread for their number of bits" \
        "$($python "$USE/rows.py" unread some.fps paths-2048.fps $t)"
done
finish
