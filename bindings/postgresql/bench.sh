#!/bin/sh
# bench.sh - measures what a lookup costs in PostgreSQL, beside the same query with
# `=`, in one run: `make bindings WHAT=postgresql` must have built the extension.
#
#   bindings/postgresql/bench.sh BUILD
#
# Prints the server's processor time per row, of a million rows. Each figure is
# the least of several runs, because other programs may use the machine as well.
# PG_CONFIG selects the PostgreSQL, as for tools/make/postgresql.
# shellcheck disable=SC2154  # server.sh sets $work and $prefix
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -ne 1 ] || ! [ -d "$1/postgresql/root" ]; then
    echo "usage: bench.sh BUILD, after: tools/make/postgresql BUILD" >&2
    exit 2
fi
root=$(cd "$1/postgresql/root" && pwd)
# shellcheck disable=SC2034  # server.sh uses it
pg_config=${PG_CONFIG:-pg_config}
# shellcheck source=bindings/postgresql/tests/server.sh
. "$here/tests/server.sh"
make_prefix
cp -R "$root/." "$prefix"
cluster one
sql one -c 'CREATE EXTENSION bloomery'

# Filters of 100,000 keys, 120 kB, and of a million keys, 1.2 MB, which are not in the
# table: about one row in a hundred is found, so that rows found cost little, as with
# `=`. A lookup in a filter that is larger than the processor's cache costs at least a
# read from memory.
sql one <<-'END'
	CREATE TABLE rows AS SELECT i, i::bigint AS b, 'key ' || i AS t
	    FROM generate_series(1, 1000000) i;
	CREATE TABLE filters AS
	    SELECT bloomery_build(i + 2000000) FILTER (WHERE i <= 100000) AS f,
	           bloomery_build('no ' || t) FILTER (WHERE i <= 100000) AS texts,
	           bloomery_build(i + 2000000) AS large,
	           bloomery_build(i + 2000000, 'blocked') AS blocked
	    FROM rows;
	VACUUM ANALYZE rows;
END

# spent CONDITION: the processor time of counting the rows, in ns a row.
spent() {
    clock="SELECT split_part(pg_read_file('/proc/' || pg_backend_pid()
        || '/schedstat', 0, 100), ' ', 1)"
    set -- "SELECT count(*) FROM rows WHERE $1"
    sql one -c 'SET max_parallel_workers_per_gather = 0' -c 'SET jit = off' \
        -c "$1" -c "$clock" -c "$1" -c "$clock" -c "$1" -c "$clock" \
        -c "$1" -c "$clock" | awk 'NR % 2 == 1 { next }
        NR > 2 && (!least || $1 - last < least) { least = $1 - last }
        { last = $1 } END { printf "%.1f\n", least / 1e6 }'
}

# Rounds of queries "NAME|CONDITION", so that a busy moment spoils none of them.
names='integers|i = -7
integers, a filter in a column|(SELECT f FROM filters) @> i
integers, one that was just made|(SELECT f::bytea::bloomery FROM filters) @> i
integers, of a million keys|(SELECT large FROM filters) @> i
integers, a million, kind blocked|(SELECT blocked FROM filters) @> i
bigint|b = -7
bigint, a filter in a column|(SELECT f FROM filters) @> b
text|t = '"'none'"'
text, a filter in a column|(SELECT texts FROM filters) @> t'
for _ in 1 2 3 4 5; do
    echo "$names" | while IFS='|' read -r name condition; do
        echo "$name|$(spent "$condition")"
    done
done >"$work/spent"
awk -F '|' '
    !($1 in least) { order[++n] = $1; least[$1] = $2 }
    $2 < least[$1] { least[$1] = $2 }
    END {
        for (i = 1; i <= n; i++) {
            name = order[i]
            if (name !~ /,/) {
                base = least[name]
                printf "%-34s %6.1f ns with =\n", name, base
            } else {
                printf "%-34s %6.1f ns, %5.1f more than =\n", name,
                       least[name], least[name] - base
            }
        }
    }' "$work/spent"
