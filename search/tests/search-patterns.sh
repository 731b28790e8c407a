# search-patterns.sh - `search` prints the same as grep for many expressions and
# texts.
. "${1:?}/lib.sh"
. "$(dirname "$0")/shared/grep.sh"

number=0
for pattern in quick 'QUICK' 'one' 'dog_1' 'fox$' '^lazy' 'q(ui|we)ck' 'qu?ick' \
    'qu*ick' 'zq?uick' 'quick{0}' '(quick)?' '(quick)*x?' '(lazy|quick) (fox|dog)' \
    '(?i)QUICK' '(?:quick|slow)\r' 'qu[a-i]ck' '[^]q]uick' '[[:alpha:]]+\d' '\bdog' \
    '\Bick\b' 'qu\Kick' '\x71uick' '\Qquick\E' 'a\{2\}b' 'a.b' 'a\.b' '\[x\]' '\$HOME' \
    '\^x\$' '\\n' '#1' '^$' '^' '$' '' '.' '(.)\1ull' '(?=quick).*fox' \
    '(?!quick)fox' '(?<=quick )fox' '(?<!slow )fox' '(?<n>fox)' '(?>quick|x) fox' \
    'caf.*ller' 'caf\xc3\xa9' '“quoted”' '\Wquoted\W' 'size_t [a-z]+ = 0;' \
    'return (NULL|false);' 'static (inline )?bool' 'nowhere_at_all' \
    'x{2,3}yz' '(ab){0,2}c' 'if \(.* \{' 'the|quick' 'lines?_next' '(a|)quick' \
    '((((quick))))' 'm(a(l(l(oc)?)?)?)?' '\w+_\w+_\w+' '^.{70,}$' '\tx' '[\w]+\('
do
    same P "$pattern"
    number=$((number + 1))
    [ "$(work 0 $((number % 3)))" != 0 ] || same P -nw "$pattern"
    [ "$(work 1 $((number % 3)))" != 1 ] || same P -x "$pattern"
    [ "$(work 2 $((number % 3)))" != 2 ] || same P -oi "$pattern"
done
for pattern in 'a{2}b' 'a.b' '[x]' '$HOME' '^x$' '\n' '#1' '--' '()' '->' '""' \
    '“' "caf$(printf '\303')" ' ' 'x' 'qu' '*/' '/*' '%'; do
    same F -n -e "$pattern"
    same F -w -e "$pattern"
    same F -xi -e "$pattern"
done
same F -e quick -e slow
same P -i '\Qthe quick'
same P '(?x) quick # fast'
try search -w trigrams.blx '\Qfox'
out_is 'a quotation without its end, as a word' 0 't/a:The quick fox\n'
same F -on -e qu -e quick -e q
same F -oi -e lines -e line -e li -e n

finish
