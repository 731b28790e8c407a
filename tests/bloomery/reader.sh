# reader.sh - examples/reader.py finds the keys of filters with and without a
# form.
# shellcheck source=lib.sh
. "$1/lib.sh"

reader=$1/../../examples/reader.py
check 'the reader exists' [ -s "$reader" ]

# reads NAME KEY ASKED OTHER OPTIONS...: a filter of KEY, made with the options,
# finds ASKED but not OTHER.
reads() {
    name=$1 key=$2 asked=$3 other=$4
    shift 4
    try build --hash fnv1a -n 10 -p 1e-6 "$@" -o read.bly --key "$key"
    silent "$name: build"
    python3 "$reader" read.bly "$asked" "$other" >out 2>err
    echo $? >status
    out_is "$name" 0 'True\nFalse\n'
    rm -f read.bly
}
reads 'no form' A A a --as any
reads 'text' 'Café ' 'Café ' 'Café'
reads 'case=lower' 'ABC' 'aBc' 'ab' -i
reads 'case=upper' 'abc' 'aBc' 'ab' --upper
try build -i --unicode -o fold.bly --key a
[ "$(cat status)" -ne 0 ] || {
    reads 'case=fold' 'Straße' 'STRASSE' 'strase' -i --unicode
    reads 'utf16, case=fold' 'Ä' 'ä' 'a' -i --unicode --as utf16
}
reads 'trim' ' a	' 'a' 'b' --trim
reads 'trim and case' ' A' 'a ' 'b' --trim -i
reads 'number' 7 7.0 8 --as number
reads 'number: of no integer' 0.5 0.50 5 --as number
reads 'int32' -2 -2 2 --as int32
reads 'int64' 18446744073709551615 -1 1 --as int64
reads 'float' 0.5 0.5 5 --as float
reads 'double' 1e3 1000 100 --as double
reads 'utf16' 'é' 'é' e --as utf16
reads 'utf16, case=lower' A a b --as utf16 -i
reads 'hex' '0x00FF' 00ff 00fe --as hex
for kind in blocked partitioned counting cuckoo fuse xor gcs scalable; do
    reads "$kind" ABC abc ab -i -k $kind
    reads "$kind, no form" ABC ABC abc --as any -k $kind
done
