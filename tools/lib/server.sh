# shellcheck shell=sh
# server.sh - sourced: a Redis server with the module, in a folder of its own.
#
# serve MODULE starts one with a socket `s` in a folder that becomes the working
# folder, and waits until it answers; it is ended with the script. Who sources
# this has `set -eu`.
server=
work=$(mktemp -d)
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

serve() {
    cd "$work" || exit 1
    redis-server --port 0 --unixsocket s --save '' --loadmodule "$1" \
        >log 2>&1 &
    server=$!
    tries=0
    until redis-cli -s s PING >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ $tries -gt 200 ] || ! kill -0 $server 2>/dev/null; then
            echo "$(basename "$0"): the server does not answer:" >&2
            tail -n 5 log >&2
            exit 1
        fi
        sleep 0.05
    done
}
