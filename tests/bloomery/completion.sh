# completion.sh - shell completion: bash's script is called the way bash does;
# zsh and fish read theirs, if installed.
# shellcheck source=lib.sh
. "$1/lib.sh"

PATH=$(dirname "$BLOOMERY"):$PATH
export PATH

# complete_is NAME WORDS... -- COMPLETIONS: checks how the last of WORDS is
# completed.
complete_is() {
    name=$1
    shift
    want=
    words=
    while [ "$1" != -- ]; do
        words="$words '$1'"
        shift
    done
    shift
    want="$*"
    bash -c "set -u
        source <(bloomery help --completion bash)
        COMP_WORDS=(bloomery $words)
        COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1))
        _bloomery
        echo \"\${COMPREPLY[*]-}\"" >out 2>err
    if [ "$(cat out)" = "$want" ] && [ ! -s err ]; then
        pass "$name"
    else
        fail "$name" "expected '$want', got '$(cat out)'; $(head -n 3 err)"
    fi
}

echo 0 >status
if command -v bash >/dev/null; then
    complete_is 'bash: a command' ov -- overlap
    complete_is 'bash: several commands' un -- unite
    complete_is 'bash: two commands' co -- count convert
    complete_is 'bash: a long option' build --out -- --output
    complete_is 'bash: options after others' query -c --inv -- --invert-match
    complete_is 'bash: not those of another command' query --out --
    complete_is 'bash: help' build --hel -- --help
    complete_is 'bash: kinds after -k' build -k sp -- split spatial
    complete_is 'bash: a kind after --kind' plan --kind rib -- ribbon
    complete_is 'bash: a kind after --kind=' plan --kind = rib -- ribbon
    complete_is 'bash: after --kind=' plan --kind = cas -- cascade
    complete_is 'bash: a kind as operand' kinds blocke -- blocked
    complete_is 'bash: a command as operand' help inter -- intersect
    complete_is 'bash: a topic as operand' help exi -- exit-status
    complete_is 'bash: a topic with the name of a command, once' help form -- formats
    complete_is 'bash: a file is left to bash' build -o wo --
    complete_is 'bash: an operand too' query wo --
    check 'bash: all kinds' sh -c '
        bloomery kinds --json | sed -n "s/^    \"name\": \"\(.*\)\",/\1/p" |
            sort > want
        bash -c "source <(bloomery help --completion bash)
            _bloomery_list kinds --all" | sort > got
        [ -s want ] && cmp want got'
else
    skip 'bash' 'it is not there'
fi

for shell in bash zsh fish; do
    try help --completion $shell
    out_has "$shell: a script" 0 bloomery
    for command in $(bloomery --help |
        sed -n '/^Topics/q;s/^  \([a-z][a-z]*\)  .*/\1/p'); do
        bloomery "$command" --help |
            sed -n 's/^  [- ][^-][, ] --\([a-z-]*\).*/\1/p' >options
        cat options >>all-options
        while read -r option; do
            grep -Eq -e "$command.*(--|-l )$option" -e "^ .*--$option" out ||
                echo "$command --$option" >>missing
        done <options
    done
    check "$shell: at least 100 options" [ "$(wc -l <all-options)" -ge 100 ]
    if [ -e missing ]; then
        fail "$shell: every option" "without $(tr '\n' ' ' <missing)"
    else
        pass "$shell: every option"
    fi
    if command -v $shell >/dev/null; then
        check "$shell reads it" $shell -n out
    else
        skip "$shell reads it" 'it is not there'
    fi
done

try help --completion tcsh
refused 'no such shell' 'bash, zsh and fish'
try help --completion bash build
refused 'not of one command' 'all commands'
finish
