# http.sh - serve --http: curl and, if python3 is installed, clients that send
# everything a client can (serve.py, http.txt).
# shellcheck source=lib.sh
. "$1/lib.sh"

"$BLOOMERY" --help | grep -q '^  serve ' || {
    skip serve 'built without BLY_SERVE'
    finish
}

printf 'ant\nbee\na b\n\n' >keys
try build -p 1e-8 -o f.bly keys
silent 'build'

# ---- curl -------------------------------------------------------------------
# Retried until the server listens.
if ! command -v curl >/dev/null 2>&1; then
    skip 'curl' 'it is not there'
else
    "$BLOOMERY" serve --http ./web --mode 600 f.bly 2>err &
    server=$!
    trap 'kill "$server" 2>/dev/null' EXIT
    curl -s --retry 600 --retry-delay 0 --retry-all-errors --retry-max-time 60 \
        --unix-socket web -G --data-urlencode 'key=a b' \
        http://localhost/contains >out
    echo 0 >status
    out_is 'curl: one key' 0 '{"contains": true}\n'
    curl -s --unix-socket web -d '["ant", "cat"]' http://localhost/contains >out
    out_is 'curl: two keys' 0 '[true, false]\n'
    "$BLOOMERY" info --json f.bly >want
    curl -s --unix-socket web http://localhost/info | cmp -s - want
    check 'curl: /info' [ $? -eq 0 ]
    curl -s --unix-socket web http://localhost/metrics >metrics
    check 'curl: /metrics' \
        grep -q '^bloomery_keys_total{protocol="http"} 3$' metrics
    check 'curl: only the owner may connect' \
        [ "$(ls -l web | cut -c 1-10)" = srw------- ]
    curl -s --unix-socket web -d '["swordfish"]' http://localhost/contains >out
    out_is 'curl: a password by POST' 0 '[false]\n'
    curl -s --unix-socket web http://localhost/range/ABCDE >out
    check 'curl: no range of hashes' grep -q 'this path is unknown' out
    curl -s --unix-socket web http://localhost/metrics >metrics
    kill "$server"
    wait "$server"
    check 'curl: a stop is status 0' [ $? -eq 0 ]
    trap - EXIT
    check 'curl: the socket is gone' [ ! -e web ]
    check 'curl: keys are not logged' \
        [ "$(cat err metrics | grep -c swordfish)" -eq 0 ]
fi

if command -v python3 >/dev/null 2>&1; then
    mkdir sockets
    (cd sockets && python3 "$1/serve.py" test_http)
    [ $? -eq 0 ] || failures=$((failures + 1))
else
    skip 'clients by HTTP' 'no python3'
fi
finish
