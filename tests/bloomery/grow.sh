# grow.sh - kinds that grow, and kinds that forget.
# shellcheck source=lib.sh
. "$1/lib.sh"

span() {
    awk -v from="$1" -v to="$2" 'BEGIN { for (i = from; i < to; i++) print i }'
}
span 0 200000 >first
span 200000 500000 >second
span 500000 600000 >none

for of in partitioned blocked cuckoo; do
    # shellcheck disable=SC2002  # a pipe is what is tested
    cat first | try build -k "scalable:of=$of" -o f.bly
    silent "$of: build from a pipe, without -n"
    try add f.bly second
    silent "$of: as many again, and no warning that it is too full"
    try query -c f.bly first second
    out_is "$of: finds all" 0 '500000\n'
    try query -c f.bly none
    check "$of: and at most one in a hundred others" [ "$(cat out)" -le 1000 ]
    try check f.bly
    status_is "$of: the file is sound" 0
done
try info f.bly
check 'info says for how many keys there is room' \
    grep -q 'keys  *500,000 added, planned for' out

# shellcheck disable=SC2002  # a pipe is what is tested
cat first | try build -o x.bly
refused 'a kind that does not grow wants to know how many' 'expandable'
for kind in egh spatial:areas=3 approximator attenuated; do
    # shellcheck disable=SC2002  # a pipe is what is tested
    cat first | try build -k $kind -o x.bly
    refused "$kind, too" 'give their maximum number with -n ITEMS$'
done

# shellcheck disable=SC2002  # a pipe is what is tested
cat first | try build -k cuckoo -o x.bly
refused 'a kind that removes is told of one that grows' '-k expandable.$'

span 0 3000 >stream
try build -k aging -n 1000 -p 0.1% -o window.bly stream
silent 'aging: build of more than the window'
tail -1000 stream >last
try query -c window.bly last
out_is 'aging: the last keys are there' 0 '1000\n'
head -1000 stream >early
try query -c window.bly early
check 'aging: the first are forgotten' [ "$(cat out)" -le 20 ]
try plan -k aging -n 1000
check 'aging: the plan tells the window' grep -q 'window  *the last 1,000' out
try plan --json -k stable -n 1000
check 'stable: the plan tells what is lost' grep -q '"lost": 0.0[01]' out
# A loaded filter does not grow beyond the memory limit.
seq 100 | "$BLOOMERY" build -k scalable -n 100 -o limited.bly
seq 100000 >many
cp limited.bly before.bly
try add --unpack-limit 8K limited.bly many
refused 'add: beyond the limit of memory' 'bytes of memory .*\(--unpack-limit\)'
check 'add: beyond the limit the file stays' cmp limited.bly before.bly
try add --unpack-limit 1G limited.bly many
silent 'add: within the limit of memory'
finish
