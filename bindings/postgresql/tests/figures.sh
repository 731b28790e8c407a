# shellcheck shell=sh
# figures.sh - sourced by check.sh: measures costs beside those of the same query
# without the extension, in one run. It tests nothing.
# shellcheck disable=SC2154

# ns_of QUERY: prints the processor time of the backend, the least of five runs,
# because other programs may use the machine as well.
ns_of() {
    spent="SELECT split_part(pg_read_file('/proc/' || pg_backend_pid()
        || '/schedstat', 0, 100), ' ', 1)"
    for _ in 1 2 3 4 5; do
        sql one -c "SET max_parallel_workers_per_gather = 0" -c "$spent" \
            -c "EXPLAIN (ANALYZE, TIMING off, SUMMARY off, FORMAT json) $1" \
            -c "$spent" | grep -x '[0-9]*' | tr '\n' ' '
        echo
    done | awk '{ print $2 - $1 }' | sort -n | head -n 1
}

# cost NAME QUERY BASE: prints the cost per row of a million rows.
cost() {
    figure "$1: $(echo "$(ns_of "$2") $(ns_of "$3")" |
        awk '{ printf "%.0f ns a row, beside %.0f of the same query without",
               ($1 - $2) / 1e6, $2 / 1e6 }')"
}

sql one <<-'END'
	CREATE TABLE million AS SELECT i, 'key ' || i AS t
	    FROM generate_series(1, 1000000) i;
	CREATE TABLE toasted AS SELECT bloomery_build(i) AS f, bloomery_build(t) AS g
	    FROM million;
	VACUUM ANALYZE million;
	ANALYZE toasted;
END
plain='SELECT count(*) FROM million WHERE i > 0'
texts="SELECT count(*) FROM million WHERE t > ''"
numbers='(SELECT f FROM toasted)'
words='(SELECT g FROM toasted)'
cost 'i in a filter of 1.2 MB' \
    "SELECT count(*) FROM million WHERE $numbers @> i" "$plain"
cost 'text in one of texts' "SELECT count(*) FROM million WHERE $words @> t" "$texts"
cost 'i IN a list by hash' "SELECT count(*) FROM million WHERE i IN
    (SELECT i FROM million)" "$plain"
cost 'bloomery_build(i)' 'SELECT bloomery_build(i) FROM million' \
    'SELECT max(i) FROM million'
cost 'bloomery_build(t)' 'SELECT bloomery_build(t) FROM million' \
    'SELECT max(t) FROM million'
cost "bloomery_build(i, 'fuse')" "SELECT bloomery_build(i, 'fuse') FROM million" \
    'SELECT max(i) FROM million'
cost 'count(DISTINCT i)' 'SELECT count(DISTINCT i) FROM million' \
    'SELECT max(i) FROM million'
cost 'array_agg(i)' 'SELECT array_agg(i) FROM million' \
    'SELECT max(i) FROM million'
