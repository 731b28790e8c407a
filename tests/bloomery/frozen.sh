# frozen.sh - kinds that are built from all their keys at once.
# shellcheck source=lib.sh
. "$1/lib.sh"

span() {
    awk -v from="$1" -v to="$2" 'BEGIN { for (i = from; i < to; i++) print i }'
}
span 0 1000 >all
span 1000 3000 >none
printf 'only\n' >one
: >empty

for kind in fuse xor gcs ribbon; do
    try build -k "$kind" -p 1e-6 -o f.bly all
    silent "$kind: build"
    try query -c f.bly all
    out_is "$kind: finds all" 0 '1000\n'
    try query -c f.bly none
    out_is "$kind: and nothing else" 1 '0\n'
    try check f.bly
    status_is "$kind: the file is sound" 0
    # shellcheck disable=SC2002  # a pipe is what is tested
    cat all all | try build -k "$kind" -p 1e-6 -o piped.bly
    silent "$kind: build from a pipe, without -n and with repeats"
    try query -c piped.bly all
    out_is "$kind: which finds all too" 0 '1000\n'
    try build -k "$kind" -o one.bly one
    silent "$kind: build of a single key"
    try query one.bly one
    out_is "$kind: which is found" 0 'only\n'
    keeps "$kind: nothing can be added" 'takes no more keys' f.bly add f.bly none
    try build -k "$kind" -j 1 -p 1e-3 -o j1.bly all
    try build -k "$kind" -j 4 -p 1e-3 -o j4.bly all
    check "$kind: the same with one thread and with four" cmp j1.bly j4.bly
done
try build -k fuse:arity=9 -o x.bly all
refused 'a wrong option is told before anything is read' 'arity'
check 'and writes nothing' [ ! -e x.bly ]
try build -k fuse -o x.bly nowhere
refused 'a missing file' 'nowhere'
try build -k fuse -o x.bly empty
note 'a filter of no keys' 'note: the input has no keys: the filter is empty$'
try query -c x.bly all
out_is 'finds none' 1 '0\n'
finish
