# options.sh - options that exclude or need each other, and letters.
# shellcheck source=lib.sh
. "$1/lib.sh"
# shellcheck source=shared/options.sh
. "$1/shared/options.sh"

for command in $(options_commands); do
    options_kept "$command" 1
done
options_rules query >rules
check 'the rules are found' grep -qx 'excludes --csv --tsv' rules
check 'options that need one of others are found' \
    grep -q '^needs --separator=1 --field=1 --csv$' rules

# A letter has one meaning, except in search, whose letters are grep's.
for command in $(options_commands); do
    "$BLOOMERY" help --roff --section 1 "$command" | sed 's/\\-/-/g; s/\\f.//g' |
        sed -n 's/^-\(.\), --\([a-z0-9-]*\).*/\1 \2/p' >letters
    [ "$command" = search ] || cat letters >>all
done
sort -u all | awk 'seen[$1]++ { print $1 }' >twice
check 'each letter has one meaning' cmp /dev/null twice

# The book's table of options says which commands take each letter. A line of
# `letters` is "LETTER COMMAND...", with a value behind a letter that takes one.
awk -F '`' '/options begin/ { on = 1 } on && $2 ~ /^-.$/ {
    gsub(/[|,]/, " ", $5)
    print $2 ($4 ~ / / ? 1 : ""), $5
}' "$1/../../docs/reference/commands.md" >letters
check 'the book has a table of options' grep -q '^-o1 .* sketch' letters
known=" $(options_commands | tr '\n' ' ')"
while read -r letter commands; do
    for command in $commands; do
        case $known in
        *" $command "*) "$BLOOMERY" "$command" "$letter" --help </dev/null 2>&1 ;;
        esac
    done
done <letters | grep 'unknown option' >unknown
check 'commands take the letters that the book shows' cmp /dev/null unknown

# An option that takes the name of a file or a folder takes no empty one.
while read -r command option what; do
    try "$command" "$option" '' f.bly
    refused "$command $option: an empty name" \
        "^bloomery $command: $option '' names no $what: give its name"
done <<'TABLE'
dedup --output-dir folder
dedup --known file
dedup -o file
build --key-file file
build --without file
query -F file
query --verify-with file
query --files0-from file
remove --witness file
serve --socket file
convert --data file
TABLE

# Names that were others once, or are so elsewhere.
while read -r command wrong right; do
    try "$command" "$wrong" f.bly
    refused "$command $wrong: did you mean" "did you mean '$right'"
done <<'TABLE'
query -H --with-filename
join --anti --invert-match
build -v --verbose
build --lower --ignore-case
sketch -d --differences
convert -F --to
join -F --list-field
similar --within --superset
unite -l --level
serve --threads --jobs
TABLE
finish
