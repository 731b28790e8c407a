# clubcard.sh - builds clubcards, with the logs that they cover.
# shellcheck source=lib.sh
. "${1:?}/lib.sh"

seq 1 400 | awk '{ print "large\t" $1 }' >all.tsv
awk '$2 % 20 == 0' all.tsv >revoked.tsv
log=00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF
printf '%s 0 18446744073709551615\n%s\t7  8 \r\n' $log $log >ends
printf '%s 1650000000000 1749913600000\n' $log >logs

# build ARGUMENT...: builds the clubcard.
build() {
    try build -k clubcard:keys=tab --within all.tsv --force -o r.card "$@" \
        revoked.tsv
}

if "$BLOOMERY" --version | grep -q -e -digests; then
    skip 'clubcards' 'the command has no digests'
    finish
fi
build
silent 'build'
try query --format clubcard:keys=tab r.card all.tsv
check 'query: no key is misjudged' cmp out revoked.tsv
build --coverage ends
silent 'coverage: two logs, with the ends of time'
try info --format clubcard:keys=tab r.card
out_has 'coverage: info counts them' 0 '^  logs +2 '
build --coverage logs
silent 'coverage: one log'
try info r.card
out_has 'coverage: info prints its last day' 0 '^  until +20250614'
try convert --format clubcard:keys=tab --to bloomery r.card r.bly
silent 'convert: to an image'
try query r.bly all.tsv
check 'convert: which has the form of the keys' cmp out revoked.tsv

# wrong NAME LINE: the line, with the escapes of printf, is refused.
wrong() {
    printf '%b' "$2" >bad
    build --coverage bad
    refused "coverage: $1" "line 1 of 'bad' does not cover a log: "
}

wrong 'an empty line' '\n'
wrong 'a name that is too short' 'ab 1 2\n'
wrong 'a name that is too long' "${log}0 1 2\n"
wrong 'a name with a sign' "-${log#?} 1 2\n"
wrong 'no blank in front of the times' "${log}1 2\n"
wrong 'one time' "$log 1\n"
wrong 'three times' "$log 1 2 3\n"
wrong 'a negative time' "$log -5 2\n"
wrong 'a negative last time' "$log 1 -1\n"
wrong 'a time with a plus' "$log 1 +2\n"
wrong 'a time of 2^64' "$log 1 18446744073709551616\n"
wrong 'times the wrong way round' "$log 2 1\n"
wrong 'text behind a NUL' "$log 1 2\000more\n"
: >bad
build --coverage bad
refused 'coverage: an empty file' 'has no line'
build --coverage .
refused 'coverage: a folder' "cannot read '\.'"
build --coverage none
refused 'coverage: no such file' "cannot read 'none'"
printf '%s 1 2' $log >last
build --coverage last
silent 'coverage: a last line without its end'
finish
