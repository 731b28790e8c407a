# shellcheck shell=sh
# clients.sh - sourced by check.sh: tests clients that do not state the type of a
# parameter. A client that is not installed is skipped.
# shellcheck disable=SC2154

sql one -c "CREATE TABLE clients AS SELECT bloomery_build(i) AS number,
    bloomery_build(i::text) AS text FROM generate_series(1, 1000) i"

# client EXPECTED COMMAND...: the command prints the expected lines.
client() {
    expected=$1
    shift
    "$@" "$work/one" tester postgres >"$work/said" 2>&1
    printf '%s\n' "$expected" | diff - "$work/said"
}

# Lines "ANSWER|QUERY|PARAMETER…": client.py says how parameters are typed.
cat >"$work/asked" <<'END'
t|SELECT number @> $1 FROM clients|7
f|SELECT number @> $1 FROM clients|7777
22023|SELECT number @> $1 FROM clients|seven
t|SELECT number @> $1 FROM clients|20:7
42804|SELECT number @> $1 FROM clients|1043:7
t|SELECT text @> $1 FROM clients|7
42804|SELECT text @> $1 FROM clients|20:7
t|SELECT text @> $1 FROM clients|1043:7
t|SELECT number @> ANY ($1) FROM clients|{7777,7}
42804|SELECT number @> lower($1) FROM clients|7
t|SELECT bloomery_add(number, $1) @> $2 FROM clients|7777|20:7777
NULL|SELECT bloomery_get(bloomery_build_labels(i, i, 'bloomier', 1e-9), $1) FROM generate_series(1, 9) i|77
7|SELECT bloomery_get(bloomery_build_labels(i, i), $1) FROM generate_series(1, 9) i|7
END

protocol() {
    cut -d '|' -f 2- "$work/asked" | tr '|' '\t' |
        "$python" "$bindings/tests/client.py" "$work/one/.s.PGSQL.5432" tester \
            postgres >"$work/said"
    cut -d '|' -f 1 "$work/asked" | diff - "$work/said"
}

# A member that is not found divides by zero.
bench() {
    cat >"$work/bench.sql" <<-'END'
	\set k random(1, 1000)
	SELECT 1 / (number @> :k)::int, 1 / (text @> :k)::int FROM clients;
	END
    for mode in extended prepared; do
        "$bin/pgbench" -n -M "$mode" -t 100 -f "$work/bench.sql" \
            -h "$work/one" -U tester postgres || return 1
    done
}

if [ -x "$python" ]; then
    ok 'a parameter without a type has the class of the filter' protocol
else
    echo 'skipped: python3 is not installed'
fi
ok 'and so it has in both protocols of pgbench' bench
if "$python" -c 'import psycopg' 2>"$work/said"; then
    ok 'and so it has in psycopg' client 'integers 1000
numbers 1000
texts 1000
error 22023
error 42804' "$python" "$bindings/tests/client_psycopg.py"
else
    echo 'skipped: psycopg (python3-psycopg) is not installed'
fi
NODE_PATH=${NODE_PATH:-/usr/share/nodejs}
export NODE_PATH
if node -e 'require("pg")' 2>"$work/said"; then
    ok 'and so it has in node-postgres' client 'numbers 1000
texts 1000
error 22023' node "$bindings/tests/client.js"
else
    echo 'skipped: node-postgres (node-pg) is not installed'
fi
