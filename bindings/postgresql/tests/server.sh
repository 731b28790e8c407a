# shellcheck shell=sh
# server.sh - provides temporary servers of PostgreSQL with the extension. It is
# sourced by scripts that have `set -eu` and set $pg_config.
#
# Everything is in the folder $work. It has a copy of the installed PostgreSQL,
# whose programs find their files relative to themselves, so that the extension
# goes into the copy and not into the system's folders. The clusters listen on
# sockets in this folder, and on no network. Because a server refuses to run as
# root, it runs as the user postgres then. All servers end with the script.
work=$(mktemp -d "${TMPDIR:-/tmp}/bloomery.XXXXXX")
chmod 755 "$work"
prefix=$work/prefix
# shellcheck disable=SC2154
bin=$prefix$("$pg_config" --bindir)
clusters=

as_user() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && exec runuser -u postgres -- "$@")
    else
        "$@"
    fi
}

end_clusters() {
    for name in $clusters; do
        as_user "$bin/pg_ctl" -D "$work/$name/data" -m immediate stop \
            >"$work/$name/stop" 2>&1 || true
    done
    rm -rf "$work"
}
trap end_clusters EXIT
trap 'exit 130' INT TERM

# Copies the programs that look for files beside themselves, and links the others.
make_prefix() {
    bin_of=$("$pg_config" --bindir)
    share_of=$("$pg_config" --sharedir)
    lib_of=$("$pg_config" --pkglibdir)
    mkdir -p "$bin" "$prefix$lib_of" "$prefix$share_of/extension"
    ln -s "$bin_of"/* "$bin/"
    ln -sf "$lib_of"/* "$prefix$lib_of/"
    for file in "$share_of"/*; do
        [ "${file##*/}" = extension ] || set -- "$@" "$file"
    done
    ln -s "$@" "$prefix$share_of/"
    ln -s "$share_of"/extension/* "$prefix$share_of/extension/"
    for program in postgres initdb pg_ctl; do
        rm "$bin/$program"
        cp "$bin_of/$program" "$bin/"
    done
}

# cluster NAME [SETTING...]: starts a server that listens in $work/NAME.
cluster() {
    name=$1
    shift
    mkdir -m 700 "$work/$name"
    [ "$(id -u)" -ne 0 ] || chown postgres "$work/$name"
    chmod 755 "$work/$name"
    as_user "$bin/initdb" -D "$work/$name/data" -U tester -A trust -N -E UTF8 \
        --locale=C >"$work/$name.log" 2>&1 || {
        tail -n 20 "$work/$name.log" >&2
        return 1
    }
    {
        echo "listen_addresses = ''"
        echo "unix_socket_directories = '$work/$name'"
        echo "fsync = off"
        echo "max_wal_senders = 4"
        for setting in "$@"; do echo "$setting"; done
    } | as_user tee -a "$work/$name/data/postgresql.conf" >/dev/null
    clusters="$clusters $name"
    as_user "$bin/pg_ctl" -D "$work/$name/data" -w -t 60 \
        -l "$work/$name/log" start >"$work/$name.log" 2>&1 || {
        tail -n 20 "$work/$name/log" >&2
        return 1
    }
}

# sql CLUSTER [ARGUMENT...]: runs psql on it, with plain output.
sql() {
    in=$1
    shift
    psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$work/$in" -U tester -d postgres \
        "$@"
}
