# serve.sh - serve: options, standard input and, if python3 is installed,
# clients at sockets (serve.py).
# shellcheck source=lib.sh
. "$1/lib.sh"

"$BLOOMERY" --help | grep -q '^  serve ' || {
    skip serve 'built without BLY_SERVE'
    finish
}

printf 'ant\nbee\na b\n\n' >keys
try build -p 1e-8 -o f.bly keys
silent 'build'
printf 'cat\n' >more
try build -p 1e-8 -o g.bly more
silent 'build of another'
cp f.bly other
mkdir folder
cp f.bly folder/f.bly

# ---- options ----------------------------------------------------------------
wrong() {
    name=$1 regex=$2
    shift 2
    try serve "$@" </dev/null
    refused "$name" "$regex"
}
wrong 'no file' 'the FILE to serve is missing'
wrong 'standard input as a file' 'cannot be standard input' -
wrong 'a file that is not there' 'none.bly: .*: check the name' none.bly
wrong 'not a filter' "'keys'|keys: " keys
wrong 'a folder' 'folder' folder
head -c 100 f.bly >cut.bly
wrong 'a file that was cut' 'cut.bly' f.bly cut.bly
wrong 'two files of one name' "two FILEs have the name 'f'" f.bly folder/f.bly
wrong 'an unknown protocol' "'http' is not a protocol: give lines" --protocol http f.bly
wrong 'a protocol with nobody to speak it' 'is for --socket' \
    --protocol squid --http 8080 f.bly
wrong 'squid alone has channels' 'are for --protocol squid' --channels f.bly
wrong 'squid alone has fields' 'are for --protocol squid' --field 2 f.bly
wrong 'lines alone have -0' 'is for --protocol lines' \
    -0 --protocol squid f.bly
wrong 'Postfix alone has a value' 'is for --protocol socketmap' \
    --value x f.bly
wrong 'a value of two lines' 'contains a control character' \
    --protocol tcp_table --value "$(printf 'a\nb')" f.bly
wrong 'a value too long' 'is too long' --protocol tcp_table \
    --value "$(printf '%01001d' 0)" f.bly
for place in 0 65536 x '' : 127.0.0.1: 127.0.0.1:x 127.0.0.1 :80 -1 1.5 \
    localhos:80 '[::1]' '::1:80' 127.0.0.1:99999999999999999999 ./s; do
    wrong "--listen '$place'" "--listen '.*' is not an address: give a port" \
        --listen "$place" f.bly
done
for place in 0.0.0.0:8080 '[::]:8080' 10.0.0.1:8080 '[fe80::1]:80'; do
    wrong "--listen $place" 'can be reached from other machines' \
        --listen "$place" f.bly
done
wrong '--http of other machines' 'can be reached from other machines' \
    --http 0.0.0.0:8080 f.bly
wrong '--host at a Unix socket' '--host is for --http on a port' \
    --http ./w --host a f.bly
for host in '' a:80 'a b' a/b '[::1]' '*'; do
    wrong "--host '$host'" 'is not a host name' \
        --http 8080 --host "$host" f.bly
done
wrong '--socket without a path' 'names no file: give its name' --socket '' f.bly
wrong '--socket with a long one' 'longer than the path of a socket' \
    --socket "$(printf '%0108d' 0)" f.bly
wrong 'a folder that is not there' "cannot listen on 'none/s': .*: create the" \
    --socket none/s f.bly
wrong 'a folder as socket' "'folder' exists and is not a socket" \
    --socket folder f.bly
for mode in 8 888 1000 rw -1 '' 0660x; do
    wrong "--mode '$mode'" 'is not a mode: give octal' \
        --socket s --mode "$mode" f.bly
done
wrong 'too many threads' 'at most 256' --socket s --jobs 257 f.bly
wrong 'too many clients' 'at most 100000' --socket s --clients 100001 f.bly
wrong 'a form that there is not' '--as' --as none f.bly
wrong 'a secret that is not there' 'none' --key-file none f.bly
check 'a refused start makes no socket' [ ! -e s ]
check 'nor changes a filter' cmp f.bly other

# ---- kinds ------------------------------------------------------------------
printf '1,7\n2,8\n' >labels
printf '1\n2\n' >lines
for kind in bloomier approximator; do
    try build -k $kind -f 1 -l 2 -t , -o label.bly labels
    silent "build of labels: $kind"
    try serve label.bly <lines
    out_is "keys with labels are there: $kind" 0 '1\n1\n'
done
try build -k counting -p 1e-8 -o count.bly keys keys
silent 'build of counters'
printf 'ant\ncat\n' >lines
try serve count.bly <lines
out_is 'keys that are counted are there' 0 '1\n0\n'

# ---- standard input ---------------------------------------------------------
printf 'ant\ncat\n\na b\nbee' >lines
try serve f.bly <lines
out_is 'lines' 0 '1\n0\n1\n1\n1\n'
try serve f.bly g.bly <lines
out_is 'lines, of two files' 0 '1\n1\n1\n1\n1\n'
try serve --all f.bly g.bly <lines
out_is 'lines, --all' 0 '0\n0\n0\n0\n0\n'
try serve f.bly </dev/null
silent 'no line'
printf 'ant\0cat\0' >nul
try serve -0 f.bly <nul
printf '1\0000\0' | tr -d '\n' >want
check 'lines, -0' cmp want out
printf 'ANT\nCAT\n' >lines
printf 'Ant\n' | "$BLOOMERY" build -i -n 5 -p 1e-8 -o i.bly -
try serve -i i.bly <lines
out_is 'lines, -i' 0 '1\n0\n'
try serve i.bly <lines
out_is 'lines, a filter that was built with -i' 0 '1\n0\n'
try serve -i f.bly <lines
refused 'lines, -i of a filter built without it' \
    "'f.bly' has keys of the form text, which differs from -i: leave it out"
printf '616e74\n61\nzz\n616e74\n' >lines
try serve --as hex f.bly <lines
refused 'lines, --as hex of text' \
    "'f.bly' has keys of the form text, which differs from --as: leave it out"
try build --as any -p 1e-8 -o any.bly keys
silent 'build without a form'
try serve --as hex any.bly <lines
out_is 'lines, --as hex' 0 "1\n0\n? the filter holds bytes that are written in \
hexadecimal, and the key is not: write two digits for each byte\n1\n"
printf '0 a%%20b -\n1 cat\n2\n3 ant\n' >lines
try serve --protocol squid --channels f.bly <lines
out_is 'squid, --channels' 0 "0 OK\n1 ERR\n2 BH message=\"the line does not have this \
field: see --field\"\n3 OK\n"
printf '5:f ant,5:f cat,5:g ant,' >lines
try serve --protocol socketmap f.bly g.bly <lines
out_is 'socketmap' 0 '5:OK OK,9:NOTFOUND ,9:NOTFOUND ,'
printf 'get a%%20b\nget cat\nput\n' >lines
try serve --protocol tcp_table --value 'a b' f.bly <lines
out_is 'tcp_table' 0 "200 a%20b\n500 not%20found\n\
400 a%20request%20is%20'get',%20a%20space%20and%20a%20key\n"
printf '5:f ant,rubbish' >lines
try serve --protocol socketmap f.bly <lines
check 'garbage: what came before is answered' grep -q '^5:OK OK,' out
check 'garbage: it is told, and ends' grep -q 'not a request of this protocol' err
check 'garbage: status 2' [ "$(cat status)" = 2 ]
gzip -kf f.bly
printf 'ant\ncat\n' >lines
try serve f.bly.gz <lines
out_is 'a compressed filter' 0 '1\n0\n'
try serve --load --no-verify f.bly <lines
out_is '--load --no-verify' 0 '1\n0\n'
(umask 077 && head -c 16 /dev/urandom >secret)
try build -H siphash --key-file secret -p 1e-8 -o secret.bly keys
silent 'build with a secret'
try serve --key-file secret secret.bly <lines
out_is '--key-file' 0 '1\n0\n'
try serve secret.bly <lines
refused 'a secret that is not given' '--key-file'
if [ -e /dev/full ]; then
    "$BLOOMERY" serve f.bly <lines >/dev/full 2>err
    check 'output that cannot be written: status 2' [ $? -eq 2 ]
fi

# ---- sockets ----------------------------------------------------------------
if command -v python3 >/dev/null 2>&1; then
    mkdir sockets
    (cd sockets && python3 "$1/serve.py")
    [ $? -eq 0 ] || failures=$((failures + 1))
else
    skip 'clients at sockets' 'no python3'
fi
finish
