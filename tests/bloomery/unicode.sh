# unicode.sh - case folding by Unicode: -i --unicode, and filters that record it.
# shellcheck source=lib.sh
. "$1/lib.sh"

try build -i --unicode -n 10 -p 1e-9 -o fold.bly --key Straße
if [ "$(cat status)" -ne 0 ]; then
    refused 'without ICU' 'case=fold.*(BLY_UNICODE=ON|install ICU)'
    check 'and no filter is left' [ ! -e fold.bly ]
    exit 0
fi
silent 'build'
try info fold.bly
check 'info: the form' grep -q '^  form       text:case=fold$' out
printf 'STRASSE\nstrasse\nstraße\nStrase\n' >asked
try query fold.bly asked
out_is 'query' 0 'STRASSE\nstrasse\nstraße\n'
try query -i --unicode fold.bly --key STRASSE
out_is 'query, with the options of build' 0 'STRASSE\n'
for option in -i --upper; do
    try query $option fold.bly --key STRASSE
    refused "query $option" "form text:case=fold, which differs from $option: "
done
try add fold.bly --key ÄRGER --key Σίσυφος
silent 'add'
try query fold.bly --key ärger --key ΣΊΣΥΦΟΣ --key arger
out_is 'query: what add has folded' 0 'ärger\nΣΊΣΥΦΟΣ\n'
try build -i -p 1e-9 -n 10 -o lower.bly --key strasse
try unite -o no.bly fold.bly lower.bly
refused 'unite with another case' "'fold.bly' has keys of the form text:case=fold"
try query -i --unicode lower.bly --key strasse
refused 'query: contradicts lower' 'text:case=lower, which differs from --unicode'

# Joined columns that take more bytes than the line.
printf 'ΐΐΐΐ,İ,x\n' >lines
try build -i --unicode --csv -f 1,2 -p 1e-9 -o long.bly lines
silent 'build: keys that become longer'
try query --csv -f 1,2 long.bly lines
out_is 'query: keys that become longer' 0 'ΐΐΐΐ,İ,x\n'

printf 'Ä\nä\nA\n\344\nÄ\n\344\n' >lines
try dedup -i --unicode lines
check 'dedup: other bytes are all printed' \
    [ "$(od -An -tx1 out | tr -d ' \n')" = c3840a410ae40ae40a ]
check 'dedup: and told' grep -q \
    "2 lines have no key of the form text:case=fold: the first is line 4" err
printf 'x,ÄRGER\n' >people.csv
printf 'ärger\n' >list
try join -i --unicode --csv -f 2 --list-field 1 people.csv list
out_is 'join' 0 'x,ÄRGER\n'
try build --as utf16 -i --unicode -p 1e-9 -o utf16.bly --key ẞ
try query utf16.bly --key SS
out_is 'utf16' 0 'SS\n'
