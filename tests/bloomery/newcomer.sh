# newcomer.sh - mistakes in the first minutes with the command, and names known
# from other tools.
# shellcheck source=lib.sh
. "$1/lib.sh"

seq 1 1000 >keys
seq 1 30 >few

# ---- names of kinds from elsewhere -------------------------------------------
kind_of() {
    try info --json "$1"
    sed -n 's/^  "kind": "\([a-z]*\)".*/\1/p' out
}

# tests/registry.c tries all of them.
for pair in bloom:standard sbbf:split cbf:counting binary-fuse:fuse; do
    alias=${pair%:*} kind=${pair#*:}
    try build -k "$alias" -n 1000 -o alias.bly keys
    status_is "build -k $alias" 0
    try build -k "$kind" -n 1000 -o own.bly keys
    check "and it is the file of kind $kind" cmp alias.bly own.bly
    check 'which names the kind by its own name' \
        [ "$(kind_of alias.bly)" = "$kind" ]
done
for pair in xor8:xor:bits=8 xor16:xor:bits=16 fuse8:fuse:bits=8 \
    binary-fuse16:fuse:bits=16 bloom:k=3,index=seeds:standard:k=3,index=seeds; do
    case $pair in
    bloom*) alias=${pair%:standard*} own=standard${pair#*:standard} ;;
    *) alias=${pair%%:*} own=${pair#*:} ;;
    esac
    try build -k "$alias" -p 1e-6 -n 1000 -o alias.bly keys
    try build -k "$own" -p 1e-6 -n 1000 -o own.bly keys
    check "$alias is $own, whatever the rate" cmp alias.bly own.bly
done
try plan -k xor8:bits=9 -n 10
refused 'an option that the name has given' 'option bits is given twice'
try plan -k scalable:of=bloom -n 10
out_has 'a kind made of another' 0 '^kind +scalable$'
for pair in blom:bloom counting-blom:counting-bloom xorr8:xor8 floon:floom; do
    try plan -n 10 -k "${pair%:*}"
    refused "near to ${pair#*:}" "did you mean '${pair#*:}'\?"
done
try plan -n 10 -k sbf
refused 'a name that may be several kinds' "unknown kind 'sbf': "
try kinds --all
out_has 'kinds: other names' 0 '^ +also called bloom, bloom-filter$'
out_has 'kinds: with what they imply' 0 'called xor8 \(bits=8\), xor16 \(bits=16\)$'
try kinds bloom
out_has 'kinds ALIAS' 0 '^standard: '
out_has 'kinds KIND: other names' 0 '^  also +bloom, bloom-filter$'
try kinds --json xor8
tr -d ' \n' <out >squeezed
check 'kinds --json' \
    grep -q '"aliases":\[{"name":"xor8","options":"bits=8"}' squeezed
cp own.bly before.bly
printf 'bloom\0\0\0' | dd of=own.bly bs=1 seek=16 conv=notrunc 2>/dev/null
try info own.bly
status_is 'a file that names its kind by an alias is not a filter' 2

# ---- a kind where none is named ----------------------------------------------
for command in build sketch; do
    try $command -n 1000 -o f.bly keys
    check "$command: kind standard" [ "$(kind_of f.bly)" = standard ]
    try $command --help
    check "$command --help names it" sh -c \
        "tr -s ' \n' ' ' <out | grep -q 'kind of filter.* Default: standard\.'"
done

# ---- options of other programs -----------------------------------------------
for pair in fpr:rate error-rate:rate capacity:items type:kind threads:jobs; do
    try build "--${pair%:*}=1" -o f.bly keys
    refused "build --${pair%:*}" "did you mean '--${pair#*:}'\?"
done
try query --capacity 5 f.bly
refused 'not where the command has no such option' \
    "unknown option '--capacity': see 'bloomery query --help'"

# ---- a key where a file is expected ------------------------------------------
try build -k counting -n 1000 -o counting.bly keys
awk '{ print $1 "\t1" }' keys >labelled
try build -k approximator:bits=8 -n 1000 -l 2 -o labels.bly labelled
for job in 'query f.bly' 'add f.bly' 'count counting.bly' 'remove counting.bly' \
    'get labels.bly' 'build -o new.bly'; do
    # shellcheck disable=SC2086  # a command and its operand
    try $job 10.0.0.1
    refused "${job%% *}: a key as an operand" \
        "cannot read '10.0.0.1': No such .*: check the name\. .*, use --key 10.0.0.1$"
done
try query f.bly 'two words'
refused 'a key with a blank is quoted' "use --key 'two words'$"
for job in 'dedup' 'join keys' 'sketch -o new.bly' 'put labels.bly'; do
    # shellcheck disable=SC2086
    try $job 10.0.0.1
    refused "${job%% *}, which has no --key, does not name it" \
        "cannot read '10.0.0.1': [^-]*check the name$"
done

# ---- operands in the wrong places --------------------------------------------
cp f.bly other.bly
for command in query count; do
    try $command keys f.bly
    refused "$command: keys before the filter" \
        "'keys' is not a filter, but 'f\.bly' is: put the filter first$"
done
try query f.bly other.bly keys
refused 'query: two filters as operands' \
    "'other\.bly' is a filter, .*: to query several filters, use -F f\.bly -F other\.bly$"
try query missing.bly other.bly
refused 'query: a missing filter before one' 'missing\.bly: cannot open'
try add nope.bly keys
refused 'add: a missing filter' \
    "there is no file 'nope\.bly': make it with 'bloomery build -o nope\.bly'$"
try convert --to guava counting.bly new.guava
refused 'convert: an unsuitable filter is named, not the output' \
    'convert: counting\.bly: a filter of kind counting cannot be written as guava'
for option in -v --vers; do
    try $option
    refused "$option before the command" "did you mean '--version'\?"
done
try --hel
refused '--hel before the command' "did you mean '--help'\?"

try build -k xor8 -p 0.01% -o xor8.bly few
note 'a rate that the name does not keep' \
    "warning: .* rate of 'xor8' is 0.391 %, not 0.01 %: use -k xor,"
try build -k xor8 -o xor8.bly few
silent 'a rate that it keeps'

# ---- many more keys than planned ---------------------------------------------
full="was planned for 10 keys and holds 20: .* rate is [0-9.]* %, not [0-9.]* %"
over='or use --overfill$' others='or add the other keys with --overfill$'
for kind in standard counting cuckoo twin; do
    rm -f over.bly
    try build -k $kind -n 10 -o over.bly keys
    refused "build: $kind" \
        "'over.bly' $full\. Only the first 20 keys .* larger -n, $over"
    head -n 20 keys >first
    try build -k $kind -n 10 -o first.bly first
    status_is "twice as many: $kind" 0
    check 'the filter has the keys up to there' cmp over.bly first.bly
    try add over.bly few
    refused "add: $kind" "'over.bly' $full\. No key .* larger -n, $others"
    check 'and the filter is as it was' cmp over.bly first.bly
done
# A filter of some of the keys does not replace one that may hold all of them.
try build -o old.bly keys
silent 'a filter of all keys'
cp old.bly whole.bly
for job in build sketch; do
    try $job -n 10 -o old.bly keys
    refused "$job: into a file that is there" \
        "more than twice as many keys .* 10: nothing was saved to 'old.bly': .*$over"
    check "$job: the old file stays" cmp old.bly whole.bly
done
rm over.bly
# shellcheck disable=SC2002  # a pipe is what is tested
cat keys | try build -n 10 -o over.bly
refused 'build: from a pipe' "$full"
try build -n 10 -o - keys
refused 'build: to standard output, which gets nothing' \
    "nothing was saved to 'standard output': .*$over"
try build -n 10 -o half.bly few
head -n 16 keys >some
try build -n 10 -o half.bly some
note 'build: up to twice as many' 'warning: 16 keys are in a filter planned for 10'
tail -n 16 keys >others
try add half.bly others
refused 'add: up to twice as many are added' "$full\. Only the first 4 keys of"
try build -n 10 --overfill -o all.bly keys
note 'build --overfill' 'warning: 1,000 keys are in a filter planned for 10'
try add --overfill over.bly keys
note 'add --overfill' 'warning: 1,020 keys'
rm over.bly
try sketch -n 10 -o over.bly keys
refused 'sketch' "nothing was saved to 'over.bly': .*$over"
check 'sketch: there is no file' [ ! -e over.bly ]
try sketch -n 10 --overfill -o over.bly keys
note 'sketch --overfill' 'warning'
rm over.bly
try build -k approximator:bits=8 -n 10 -l 2 -o over.bly labelled
refused 'build -l' "$full"
try put -l 2 over.bly labelled
refused 'put' "$full\. No key"
try put --overfill -l 2 over.bly labelled
note 'put --overfill' 'warning'
i=0
while [ $i -lt 200 ]; do cat few; i=$((i + 1)); done >repeats
for kind in standard blocked; do
    try build -n 30 -k $kind -o repeats.bly repeats
    silent "repeated keys take no room: $kind"
done
for kind in scalable stable aging; do
    try build -k $kind -n 10 -o free.bly keys
    silent "kinds that grow or forget have no limit: $kind"
done
for kind in fuse ribbon gcs; do
    try build -k $kind -n 10 -o free.bly keys
    silent "nor have those that are built of all keys at once: $kind"
done
try build -n 10 -j 1 -o one.bly keys
for jobs in 2 9; do
    try build -n 10 -j $jobs -o jobs.bly keys
    check "-j $jobs: the same filter" cmp jobs.bly one.bly
done

# ---- a file of another command -----------------------------------------------
try index -o t.blx keys few
for job in 'query' 'overlap counting.bly' 'add'; do
    # shellcheck disable=SC2086
    try $job t.blx </dev/null
    check "${job%% *} of an index names the commands for it" \
        grep -q "t\.blx: .*'bloomery which' or 'bloomery search'" err
    check 'and no function' sh -c "! grep -q bly_ err"
done
try info t.blx
out_has 'info of an index names the commands for it' 0 \
    "^  index +for 'bloomery which' and 'bloomery search'$"
printf 'PAR1 and no more of it' >cut.parquet
try info cut.parquet
refused 'a cut Parquet file: no function is named' 'its end says where$'

finish
