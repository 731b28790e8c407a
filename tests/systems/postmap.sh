#!/bin/sh
# postmap.sh - Postfix's own table client queries `bloomery serve` in both
# protocols.
#
#   sh postmap.sh BLOOMERY POSTMAP FOLDER
#
# Works in the current folder. FOLDER/usr/lib/postfix holds the program's files
# if it is unpacked instead of installed. The script starts its own server and
# ends it.
set -eu
bloomery=$1 postmap=$2
mkdir -p mail
LD_LIBRARY_PATH=$3/usr/lib/postfix${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
{
    echo 'mail_owner = daemon'
    echo 'default_privs = nobody'
    echo 'setgid_group = mail'
    echo "queue_directory = $PWD/mail"
    echo "data_directory = $PWD/mail"
} >mail/main.cf
seq 100 | sed 's/$/ or so@example.org/' >mail/known
"$bloomery" build -p 1e-8 -o mail/known.bly mail/known
printf '192.0.2.0/24\n2001:db8::/32\n10.0.0.0/8\n' |
    "$bloomery" build --as cidr -n 10 -p 1e-8 -o mail/nets.bly
{ cat mail/known && echo nobody@example.org && echo '50% of all'; } >mail/asked

server=
trap '[ -z "$server" ] || kill "$server"' EXIT
trap 'exit 2' HUP INT TERM

# ask TABLE: queries all lines, retrying for a minute until the server listens.
# A fault of a server that listens is not retried.
ask() {
    end=$(($(date +%s) + 60))
    until "$postmap" -c mail -q - "$1" <mail/asked >mail/answers 2>mail/log; do
        if ! grep -q 'warning: connect to' mail/log \
            || [ "$(date +%s)" -ge "$end" ]; then
            tail -n 2 mail/log
            echo "not ok - Postfix: $1 has no answer"
            exit 1
        fi
        sleep 0.1
    done
}

# try NAME TABLE OPTIONS...: exactly the known keys are found.
try() {
    name=$1 table=$2
    shift 2
    "$bloomery" serve --protocol "$name" --value 'REJECT 1%' "$@" \
        mail/known.bly mail/nets.bly &
    server=$!
    ask "$table"
    sed 's/$/\tREJECT 1%/' "${wanted:-mail/known}" | cmp - mail/answers || {
        echo "not ok - Postfix: other answers by $name"
        exit 1
    }
    kill "$server"
    wait "$server" || { echo "not ok - Postfix: status $?"; exit 1; }
    server=
    echo "ok - Postfix: postmap finds what is known by $name, and no more"
}

# A port outside the system's client range: a client that retries until somebody
# listens could connect to itself.
port=$(awk 'BEGIN { srand(); print 10000 + int(22000 * rand()) }')
try socketmap "socketmap:unix:$PWD/mail/maps:known" --socket mail/maps
try tcp_table "tcp:127.0.0.1:$port" --listen "$port"

# Postfix asks for the name and the address of a client, and parts of both.
printf '%s\n' mail.example.org example.org org 192.0.2.7 192.0.2 192.0 192 \
    198.51.100.1 2001:db8::25 2001:db8 10.9.8.7 11.0.0.1 >mail/asked
printf '%s\n' 192.0.2.7 2001:db8::25 10.9.8.7 >mail/clients
wanted=mail/clients
try socketmap "socketmap:unix:$PWD/mail/maps:nets" --socket mail/maps
