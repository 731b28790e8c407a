# shellcheck shell=sh
# check.sh - sourced by tools/make/postgresql: tests the extension on temporary
# servers.
# shellcheck disable=SC2154  # $work, $bin, $out, $build, $effort, $bindings
passed=0 failed=0
more=1 plain=
[ "$effort" = quick ] || { more=${BLOOMERY_EFFORT:-10} plain=plain; }
bloomery=$build/bloomery

# ok NAME COMMAND...: a test is a command.
ok() {
    told=$1
    shift
    if "$@" >"$work/out" 2>&1; then
        passed=$((passed + 1))
        echo "ok - $told"
    else
        failed=$((failed + 1))
        echo "not ok - $told"
        tail -n 20 "$work/out" | sed 's/^/    /'
    fi
}

figure() {
    echo "figure: $*"
}

# says CLUSTER QUERY ANSWER
says() {
    answer=$(sql "$1" -c "$2") || return 1
    [ "$answer" = "$3" ] && return
    echo "$2: $answer, and not $3"
    return 1
}

# alive CLUSTER: no process of the server has died.
alive() {
    ! grep -E 'terminated by signal|PANIC|server process.*exited' \
        "$work/$1/log"
}

# ---- Reports -----------------------------------------------------------------

regression() {
    extension installcheck PGHOST="$work/one" PGUSER=tester PGPORT=5432 && return
    cat "$out/source/regression.diffs"
    return 1
}

# true_rows DATABASE: the SQL in `shown` prints the rows that its lines "--> ROW"
# show. The foreign server in it is this one, and its folder /data is $work.
true_rows() {
    sed "s|'db.example.org'|'$work/one'|; s|'/data/|'$work/|" "$work/shown" \
        >"$work/run"
    sed -n 's/^--> //p' "$work/run" >"$work/rows"
    [ -s "$work/rows" ] && sql one -c "CREATE DATABASE $1" || return 1
    psql -X -qAt -h "$work/one" -U tester -d "$1" <"$work/run" \
        >"$work/said" 2>&1
    diff "$work/rows" "$work/said" && sql one -c "DROP DATABASE $1 (FORCE)"
}

# true_outputs DOCUMENT: its SQL returns the rows that it shows.
true_outputs() {
    awk '/^```sql$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$1" \
        >"$work/shown" && true_rows shop
}

# true_example FILE: the same for a file of SQL.
true_example() {
    cp "$1" "$work/shown" && true_rows shop
}

# The page in the book names every function and aggregate that a user calls.
every_function() {
    sql one -c "SELECT DISTINCT proname FROM pg_proc p JOIN pg_depend d
            ON d.objid = p.oid AND d.deptype = 'e' AND d.classid = 'pg_proc'::regclass
        WHERE pronamespace = 'public'::regnamespace
            AND proname LIKE 'bloomery\_%'" >"$work/names"
    [ "$(wc -l <"$work/names")" -ge 19 ] || return 1
    while read -r name; do
        grep -q "\`$name(" "$page" || { echo "$page lacks $name"; return 1; }
    done <"$work/names"
}

# ---- Build and update --------------------------------------------------------

# fails_clearly ARGUMENT...: `make` says in one line what to install.
fails_clearly() {
    ! make -s -C "$out/source" "$@" >"$work/said" 2>&1 && cat "$work/said" &&
        [ "$(wc -l <"$work/said")" -eq 1 ] && grep -q 'install' "$work/said"
}

# Without the server's headers, PostgreSQL, or the library.
one_clear_line() {
    printf '#!/bin/sh\necho "%s"\n' "$work/nowhere" >"$work/pg_config"
    chmod +x "$work/pg_config"
    fails_clearly PG_CONFIG="$work/pg_config" BLOOMERY_BUILD="$build" &&
        fails_clearly PG_CONFIG="$work/nowhere" BLOOMERY_BUILD="$build" || return 1
    (
        unset PKG_CONFIG_PATH
        export PKG_CONFIG_LIBDIR="$work/nowhere"
        fails_clearly PG_CONFIG="$pg_config"
    )
}

# The folder alone, as in a package of sources, is built against an installed
# library, which is not linked into it.
from_package() {
    mkdir -p "$work/library/lib"
    cp -R "$bindings" "$work/package"
    cp -R "$root/include" "$work/library"
    cp -P "$build"/libbloomery.so* "$work/library/lib/"
    sed "s|^prefix=.*|prefix=$work/library|; s|^libdir=.*|libdir=$work/library/lib|
         s|^includedir=.*|includedir=$work/library/include|" \
        "$build/bloomery.pc" >"$work/library/bloomery.pc"
    PKG_CONFIG_PATH=$work/library make -s -C "$work/package" \
        PG_CONFIG="$pg_config" WARN=-Werror &&
        LD_LIBRARY_PATH=$work/library/lib ldd "$work/package/bloomery.so" |
        grep "libbloomery.so.*$work/library"
}

# The distribution's META.json names files that exist, and this version.
meta() {
    "$python" - "$bindings" <<-'END'
	import json, os, re, sys
	here = sys.argv[1]
	meta = json.load(open(os.path.join(here, "META.json")))
	for field in ("name", "abstract", "version", "maintainer", "license",
	              "provides", "meta-spec"):
	    assert meta[field], field
	control = open(os.path.join(here, "bloomery.control")).read()
	version = re.search("default_version = '(.*)'", control).group(1)
	ours = meta["provides"][meta["name"]]
	assert meta["version"] == ours["version"] == version
	for field in ("file", "docfile"):
	    assert os.path.exists(os.path.join(here, ours[field])), field
	END
}

# The members of the extension, with their definitions and comments.
catalogue="SELECT pg_describe_object(classid, objid, 0),
        obj_description(objid, c.relname),
        CASE WHEN prokind <> 'a' THEN pg_get_functiondef(objid) END
    FROM pg_depend d JOIN pg_class c ON c.oid = classid
        LEFT JOIN pg_proc p ON p.oid = objid AND classid = 'pg_proc'::regclass
    WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomery')
    ORDER BY 1"

# An older version, which lacks the aggregates of keys, is updated to this one:
# its filters stay, and it has what a new installation has.
updated() {
    scripts=$prefix$("$pg_config" --sharedir)/extension
    version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" \
        "$bindings/bloomery.control")
    awk -v old="$scripts/bloomery--0.4.99.sql" \
        -v update="$scripts/bloomery--0.4.99--$version.sql" '
        BEGIN { to = old }
        /^-- The aggregates of keys/ { to = update }
        { print >to }' "$bindings/bloomery--$version.sql"
    sql one -c 'CREATE DATABASE updated' || return 1
    psql -X -qAt -v ON_ERROR_STOP=1 -h "$work/one" -U tester -d updated \
        >"$work/said" 2>&1 <<-END
	CREATE EXTENSION bloomery VERSION '0.4.99';
	CREATE TABLE older AS SELECT bloomery_add(bloomery_new('blocked', 9), 7) AS f;
	SELECT count(*) FROM pg_proc WHERE proname = 'bloomery_build';
	ALTER EXTENSION bloomery UPDATE;
	SELECT extversion = bloomery_version() FROM pg_extension
	    WHERE extname = 'bloomery';
	SELECT f @> 7, f @> 8, bloomery_build(i) @> 5 FROM older, generate_series(1, 9) i
	    GROUP BY f;
	\o $work/after
	$catalogue;
	END
    cat "$work/said"
    printf '0\nt\nt|f|t\n' | diff - "$work/said" &&
        sql one -c "$catalogue" >"$work/fresh" &&
        [ "$(wc -l <"$work/fresh")" -gt 300 ] &&
        diff "$work/fresh" "$work/after" &&
        sql one -c 'DROP DATABASE updated' &&
        rm "$scripts"/bloomery--0.4.99*
}

# ---- Filters equal to the command's ------------------------------------------

# The kinds that are built of keys alone, and some options.
kinds() {
    sql one -c "SELECT kind FROM bloomery_kinds() WHERE family <> 'foreign'
                    AND kind NOT IN ('egh', 'cascade')"
    echo standard:k=3
    echo invertible:key=9
}

# by_command KIND OPTION...: of the keys in the file `keys`.
by_command() {
    "$bloomery" build -k "$1" -n 500 -p 0.01 -j 1 --force \
        -o "$work/f.bly" "$work/keys" && od -An -v -tx1 "$work/f.bly" | tr -d ' \n'
}

# some_keys: into the file `keys`.
some_keys() {
    sql one -c "SELECT 'key ' || i FROM generate_series(1, 500) i" \
        >"$work/keys"
}

# Lines "KIND|the filter in hexadecimal digits".
of_kinds() {
    while read -r kind; do
        printf '%s|%s\n' "$kind" "$(by_command "$kind")" || return 1
    done <"$work/kinds"
}

same_bytes() {
    some_keys
    kinds >"$work/kinds"
    [ "$(wc -l <"$work/kinds")" -gt 25 ] && of_kinds >"$work/commands" &&
        sql one <<-END >"$work/ours" || return 1
	CREATE TABLE asked (n serial, kind text);
	\\copy asked (kind) FROM '$work/kinds'
	SELECT kind, (SELECT encode(bloomery_build('key ' || i, kind, 0.01, 500)::bytea,
	                            'hex') FROM generate_series(1, 500) i)
	    FROM asked ORDER BY n;
	END
    diff "$work/commands" "$work/ours" | cut -c1-120
    cmp "$work/commands" "$work/ours"
}

same_numbers() {
    printf '%s\n' 1 2 -3 0.5 1e300 9007199254740993 >"$work/keys"
    "$bloomery" build --as number -k standard -n 6 --force -o "$work/f.bly" \
        "$work/keys" || return 1
    says one "SELECT encode(bloomery_build(x, 'standard', 0.01, 6)::bytea, 'hex')
        FROM (VALUES (1::numeric), (2), (-3), (0.5), (1e300),
                     (9007199254740993)) v (x)" \
        "$(od -An -v -tx1 "$work/f.bly" | tr -d ' \n')"
}

# form_of_command KEY ANSWERS QUERIES OPTION...: a filter f of the command, which
# states a form, is queried in SQL.
form_of_command() {
    printf '%s\n' "$1" >"$work/keys"
    answers=$2 queries=$3
    shift 3
    "$bloomery" build "$@" -p 1e-6 --force -o "$work/f.bly" "$work/keys" &&
        says one "SELECT $queries FROM (VALUES ('\\x$(
            od -An -v -tx1 "$work/f.bly" | tr -d ' \n')'::bloomery)) v (f)" \
            "$answers"
}

# form_of_ours KEY VALUE: the command finds the key in a filter of the value.
# The header and the trailer of the binary copy are cut off.
form_of_ours() {
    sql one -c "COPY (SELECT bloomery_build($2)) TO STDOUT (FORMAT binary)" |
        tail -c +26 | head -c -2 >"$work/f.bly"
    "$bloomery" query "$work/f.bly" --key "$1"
}

uuid=550e8400-e29b-41d4-a716-446655440000
same_forms() {
    form_of_command ' Red' 't|t|f' "f @> 'RED ', f @> 'red'::text, f @> 'r'" \
        -i --trim &&
        form_of_command 7 't|t|t|f' "f @> 7, f @> '7', f @> 7.0, f @> 8" \
            --as int32 &&
        form_of_command 0.1 't|t|t' "f @> 0.1, f @> '0.1', f @> 0.1::real" \
            --as float &&
        form_of_command blue 't|f' "f @> 'blue', f @> 'b'" --as utf16 &&
        form_of_command "$uuid" 't|t' "f @> '$uuid', f @> '$uuid'::uuid" \
            --as hex || return 1
    form_of_ours 7 7 && form_of_ours 7.00 7.0 && form_of_ours 0.1 0.1::real &&
        form_of_ours "$uuid" "'$uuid'::uuid" && form_of_ours a "'a'::text"
}

# A value of 256 KiB that unpacks to 2 GiB is accepted, and a query of it is refused
# before memory is allocated.
beyond_the_limit() {
    forged="SELECT ('\x$(cat "$root/tests/packed-2gib.hex")'::bytea
        || decode(repeat('00', 262016), 'hex'))::bloomery"
    for ask in "f @> 'a'" 'bloomery_info(f)' 'bloomery_add(f, 1)'; do
        sql one -v VERBOSITY=verbose -c "SELECT $ask FROM ($forged) v (f)" \
            >"$work/said" 2>&1
        grep -q 'ERROR:  54000: 2147[0-9]* bytes of memory .* is 107374[0-9]*$' \
            "$work/said" || { cat "$work/said"; return 1; }
    done
}

takes_files() {
    sed 's/|/|\\\\x/' "$work/commands" >"$work/files"
    sql one <<-END >"$work/said" && [ "$(cat "$work/said")" = t ]
	CREATE TABLE files (kind text, f bloomery);
	\\copy files FROM '$work/files' DELIMITER '|'
	SELECT bool_and(f @> ('key ' || i)) AND count(*) > 500 * 25
	    FROM files, generate_series(1, 500) i;
	END
}

# The library's golden images keep their bytes, say what they are, and have the
# keys that they were made of: 100, or 10 of kind egh. Lines "KIND|the image in
# hexadecimal digits".
golden_images() {
    for file in "$root"/tests/golden/*.hex; do
        sed -n '1s/^# \(packed \)*\([^: ]*\).*/\2|\\\\x/p' "$file" | tr -d '\n'
        sed 1d "$file" | tr -d '\n'
        echo
    done >"$work/golden"
    [ "$(wc -l <"$work/golden")" -gt 50 ] &&
        sql one <<-END >"$work/said" && [ "$(cat "$work/said")" = 't|t|t|t' ] &&
	CREATE TABLE golden (kind text, image bytea);
	\\copy golden FROM '$work/golden' DELIMITER '|'
	SELECT bool_and(image::bloomery::bytea = image),
	       bool_and(bloomery_info(image::bloomery) ->> 'kind' = kind),
	       bool_and((bloomery_info(image::bloomery) ->> 'items')::int = keys),
	       bool_and((SELECT bool_and(image::bloomery @> ('key-' || i))
	                FROM generate_series(0, keys - 1) i))
	    FROM (SELECT *, CASE kind WHEN 'egh' THEN 10 ELSE 100 END AS keys
	          FROM golden) g;
	END
        return
    cat "$work/said"
    return 1
}

# Filters that are queried in turns are each read from TOAST once. That reads some
# hundred blocks; reading them for each lookup would take 36000.
in_turns() {
    sql one <<-'END' >"$work/said" && [ "$(cat "$work/said")" = 't

t' ] && return
	CREATE TABLE turns AS SELECT i % 7 AS part, bloomery_build(i) AS f
	    FROM generate_series(1, 70000) i GROUP BY 1;
	SELECT bool_and((SELECT bool_or(f @> i AND part = i % 7) FROM turns))
	    FROM generate_series(1, 2000) i;
	SELECT pg_stat_force_next_flush();
	SELECT toast_blks_read + toast_blks_hit BETWEEN 1 AND 5000
	    FROM pg_statio_user_tables WHERE relname = 'turns';
	END
    cat "$work/said"
    return 1
}

# ---- In and out --------------------------------------------------------------

make_filters() {
    sql one -c "CREATE TABLE stored AS
        SELECT g AS id, bloomery_build(g * 1000000 + i,
            (ARRAY['blocked', 'fuse', 'compressed', 'standard'])[1 + g % 4]) AS f
        FROM generate_series(1, 8) g, generate_series(1, (3 * 4 ^ g)::int) i
        GROUP BY g;
        ALTER TABLE stored ADD PRIMARY KEY (id)"
}

digest="SELECT count(*) || ' ' || md5(string_agg(md5(f::bytea), ' ' ORDER BY id))
    FROM stored"

# restored DATABASE: it has the same filters as the first one.
restored() {
    [ "$(psql -X -qAt -h "$work/one" -U tester -d "$1" -c "$digest")" = \
        "$(sql one -c "$digest")" ]
}

dump_restore() {
    for format in custom $plain; do
        sql one -c "CREATE DATABASE $format" &&
            pg_dump -h "$work/one" -U tester -F "$format" -t stored -e bloomery \
                postgres >"$work/dump" || return 1
        if [ "$format" = custom ]; then
            pg_restore -h "$work/one" -U tester -d custom "$work/dump"
        else
            psql -X -q -v ON_ERROR_STOP=1 -h "$work/one" -U tester -d plain \
                -f "$work/dump"
        fi || return 1
        restored "$format" || return 1
    done
}

binary_copy() {
    sql one -c 'COPY stored TO STDOUT (FORMAT binary)' >"$work/binary" &&
        sql one -c 'CREATE TABLE again (LIKE stored)' \
            -c 'COPY again FROM STDIN (FORMAT binary)' <"$work/binary" &&
        says one 'SELECT count(*) FROM stored s JOIN again a USING (id)
            WHERE s.f::bytea = a.f::bytea' 8 || return 1
    tr 'b' 'c' <"$work/binary" >"$work/forged"
    ! sql one -c 'COPY again FROM STDIN (FORMAT binary)' <"$work/forged" \
        2>"$work/said" && grep -q 'Bloomery\|damaged' "$work/said"
}

# The key of a text is its UTF-8, whatever the encoding of the database is.
encodings() {
    printf 'caf\303\251\n' >"$work/keys"
    by_command standard >"$work/hex" || return 1
    for encoding in LATIN1 SQL_ASCII; do
        sql one -c "CREATE DATABASE $encoding TEMPLATE template0
            ENCODING $encoding LC_COLLATE 'C' LC_CTYPE 'C'" || return 1
        printf "CREATE EXTENSION bloomery; SELECT '\\\\x%s'::bloomery @> 'caf\303\251';
            CREATE TYPE places AS ENUM ('caf\303\251');
            SELECT '\\\\x%s'::bloomery @> 'caf\303\251'::places;
            SELECT bloomery_build(1, 'stand\303\251');" "$(cat "$work/hex")" \
            "$(cat "$work/hex")" |
            PGCLIENTENCODING=UTF8 psql -X -qAt -h "$work/one" -U tester \
                -d "$(echo $encoding | tr '[:upper:]' '[:lower:]')" \
                >"$work/said" 2>&1
        if [ "$(grep -cx t "$work/said")" -ne 2 ] ||
            ! grep -q 'unknown kind' "$work/said"; then
            cat "$work/said"
            return 1
        fi
    done
}

# ---- Nothing ends the server -------------------------------------------------

fuzz() {
    sql one -c 'CREATE DATABASE fuzz' || return 1
    {
        echo 'CREATE EXTENSION bloomery;'
        cat "$bindings/tests/fuzz.sql"
    } | psql -X -qAt -v ON_ERROR_STOP=1 -h "$work/one" -U tester -d fuzz \
        -v forged=$((1000 * more)) -v calls=$((2500 * more)) \
        -v seed="${BLOOMERY_SEED:-0.5}" >"$work/told" 2>&1
    cat "$work/told"
    tail -n 1 "$work/told" | grep -qx 't|t|t|t' && alive one
}

# Prints the queries of one session, some of which are refused, and queries of its
# memory near the beginning and at the end.
memory_queries() {
    watch="SELECT 'memory ' || sum(total_bytes)
               || ' contexts ' || count(*) FROM pg_backend_memory_contexts;
           SELECT 'rss ' || (regexp_match(pg_read_file('/proc/' ||
               pg_backend_pid() || '/status', 0, 100000),
               'VmRSS:\s+(\d+)'))[1];"
    some="SELECT f @> 5 FROM stored;
          SELECT bloomery_build(i) @> 3 FROM generate_series(1, 50) i;
          SELECT bloomery_build(i, 'fuse') @> 3 FROM generate_series(1, 50) i;
          SELECT bloomery_remove(f, 5) FROM stored WHERE id = 1;
          SELECT '\\x00'::bloomery;
          SELECT bloomery_build(i, 'blocket') FROM generate_series(1, 50) i;
          SELECT a.f | b.f FROM stored a, stored b WHERE a.id = 1 AND b.id = 2;
          SELECT bloomery_info(f | f) FROM stored WHERE id IN (4, 7);
          SELECT bloomery_get(f, 5) FROM stored WHERE id = 2;
          SELECT * FROM bloomery_list_keys((SELECT bloomery_build(i,
              'invertible:key=8', 0.01, 3) FROM generate_series(1, 90) i));"
    round=0
    while [ $round -lt $((250 * more)) ]; do
        echo "$some"
        round=$((round + 1))
        case $round in 50 | $((250 * more))) echo "$watch" ;; esac
    done
}

# At the end the session has no more memory than near the beginning, except for
# 1 MiB that the server's caches and malloc may take.
memory() {
    memory_queries >"$work/queries"
    sql one -v ON_ERROR_STOP=0 -f "$work/queries" >"$work/said" 2>"$work/errors"
    grep -E '^(memory|rss) ' "$work/said"
    [ "$(grep -c ERROR "$work/errors")" -ge $((1000 * more)) ] &&
        [ "$(grep -cE '^(memory|rss) ' "$work/said")" -eq 4 ] && alive one &&
        awk '$1 == "memory" { if (!m) m = $2; else if ($2 > m + 65536) exit 1 }
             $1 == "rss" { if (!r) r = $2; else if ($2 > r + 1024) exit 1 }
            ' "$work/said"
}

# A query that takes long can be ended, and one that takes too much memory ends.
cancelled() {
    sql one -v ON_ERROR_STOP=0 >"$work/said" 2>&1 <<-'END'
	SET statement_timeout = '100ms';
	SELECT bloomery_build(i, 'fuse') @> 1 FROM generate_series(1, 100000000) i;
	SET statement_timeout = 0;
	SELECT bloomery_build(i, 'fuse') @> 1 FROM generate_series(1, 1000) i;
	END
    grep -q 'canceling statement' "$work/said" &&
        tail -n 1 "$work/said" | grep -qx t && alive one
}

# A cancel is pending when the library is called, and is heeded in there: what
# follows in the same expression is not reached.
cancelled_within() {
    sql one -v ON_ERROR_STOP=0 -f "$bindings/tests/cancel.sql" \
        >"$work/said" 2>&1
    cat "$work/said"
    [ "$(grep -c '^psql:.*57014$' "$work/said")" -eq 23 ] &&
        [ "$(grep -cx 'f|t' "$work/said")" -eq 1 ] &&
        ! grep 'ERROR' "$work/said" | grep -v 57014 && alive one
}

# A call also ends when the server ends the session.
terminated_within() {
    ! sql one -v VERBOSITY=sqlstate >"$work/said" 2>&1 -c "
        SELECT CASE WHEN bloomery_info(CASE WHEN pg_terminate_backend(
            pg_backend_pid()) THEN f END) IS NOT NULL
            THEN nextval('reached') END
        FROM (SELECT bloomery_new('blocked', 2000000) f OFFSET 0) t" || return 1
    grep 57P01 "$work/said" && says one 'SELECT is_called FROM reached' f &&
        alive one
}

# cancel_moments: queries of all that takes long, each ended after some
# milliseconds, or done before that.
cancel_moments() {
    cat <<-'END'
	\set VERBOSITY sqlstate
	SET min_parallel_table_scan_size = 0;
	SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0;
	END
    for after in $(seq 1 $((20 < more * 4 ? 20 : more * 4))); do
        for kind in standard fuse ribbon gcs quotient 'invertible:key=9'; do
            echo "SET statement_timeout = $((after * after * 2 + 3));
                SELECT bloomery_build(i, '$kind') @> 5 FROM many_keys;"
        done
        echo "SELECT bloomery_unite(f) @> 5 FROM many_filters;
            SELECT bloomery_intersect(f) @> 5 FROM many_filters;
            SELECT bloomery_build_labels(i, i % 7) @> 5 FROM many_keys;
            SELECT count(*) > 1 FROM bloomery_list_keys((SELECT bloomery_build(i,
                'invertible:key=8', 0.01, 50000) FROM many_keys
                WHERE i < 50000));
            UPDATE many_filters SET f = bloomery_add(f, 5);
            SET statement_timeout = 0;"
    done
}

# Whatever is ended leaves what was there, and the next query is answered. The
# first line is the number of moments. How many keys were added to a union is
# unknown, so an update that comes to its end changes nothing either.
cancelled_anywhere() {
    digest_many="SELECT md5(string_agg(md5(f::bytea), '' ORDER BY id))
        FROM many_filters"
    sql one -c 'CREATE TABLE many_keys AS SELECT i
            FROM generate_series(1, 300000) i; ANALYZE many_keys' \
        -c "CREATE TABLE many_filters AS SELECT id, bloomery_build(i * 20 + id,
            'blocked', 0.01, 1000000) f FROM generate_series(1, 5) id, many_keys
            WHERE i < 20000 GROUP BY id" \
        -c 'UPDATE many_filters SET f = bloomery_add(f | f, 5)' || return 1
    before=$(sql one -c "$digest_many")
    cancel_moments >"$work/queries"
    sql one -v ON_ERROR_STOP=0 -f "$work/queries" >"$work/said" 2>&1
    sort "$work/said" | sed 's/.*ERROR/ERROR/' | uniq -c
    ! grep ERROR "$work/said" | grep -v 57014 &&
        ! grep -x f "$work/said" && grep -q 57014 "$work/said" &&
        says one 'SELECT bloomery_build(i) @> 5 FROM many_keys' t &&
        says one "UPDATE many_filters SET f = bloomery_add(f, 5) WHERE id < 0;
            $digest_many" "$before" && alive one
}

# shellcheck disable=SC3045  # dash and bash have -v
no_memory() {
    (ulimit -v 350000 && cluster small 'shared_buffers = 16MB') || return 1
    clusters="$clusters small"
    sql small -v ON_ERROR_STOP=0 >"$work/said" 2>&1 <<-'END'
	CREATE EXTENSION bloomery;
	SELECT length(bloomery_new('blocked', 500000000)::bytea);
	SELECT bloomery_build(i, 'fuse') IS NULL FROM generate_series(1, 9000000) i;
	SELECT bloomery_build(i, 'fuse') @> 1 FROM generate_series(1, 1000) i;
	END
    cat "$work/said"
    [ "$(grep -c 'out of memory' "$work/said")" -eq 2 ] &&
        tail -n 1 "$work/said" | grep -qx t && alive small
}

# ---- Two servers -------------------------------------------------------------

replication() {
    sql one -c 'CREATE PUBLICATION filters FOR TABLE stored' &&
        sql two -c 'CREATE TABLE stored (id int PRIMARY KEY, f bloomery)' \
            -c "CREATE SUBSCRIPTION filters CONNECTION
                'host=$work/one user=tester dbname=postgres'
                PUBLICATION filters WITH (binary = $1)" &&
        sql one -c "UPDATE stored SET f = bloomery_add(f, 7)
            WHERE id = 3" -c "DELETE FROM stored WHERE id = 5" \
            -c "INSERT INTO stored SELECT 9, bloomery_build(i)
                FROM generate_series(1, 9000) i" || return 1
    tries=0
    until [ "$(sql two -c "$digest")" = "$(sql one -c "$digest")" ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { cat "$work/two/log"; return 1; }
        sleep 0.1
    done
    sql two -c 'DROP SUBSCRIPTION filters' -c 'DROP TABLE stored' &&
        sql one -c 'DROP PUBLICATION filters' -c 'DELETE FROM stored
            WHERE id = 9' -c "INSERT INTO stored SELECT 5, bloomery_build(i)
                FROM generate_series(1, 9) i"
}

# The time of a query in ms, the least of three.
time_of() {
    for _ in 1 2 3; do
        sql two -c "EXPLAIN (ANALYZE, FORMAT json, TIMING off) $1" |
            sed -n 's/.*"Execution Time": \([0-9.]*\).*/\1/p'
    done | sort -n | head -n 1
}

# A large table elsewhere and a small one here: the filter of the small one's
# keys goes there, and what comes are the rows that it finds.
foreign_server() {
    sql one <<-'END' &&
	CREATE TABLE orders AS SELECT i AS id, md5(i::text) AS note
	    FROM generate_series(1, 200000) i;
	ANALYZE orders;
	END
    sql two <<-END &&
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER one FOREIGN DATA WRAPPER postgres_fdw OPTIONS
	    (host '$work/one', dbname 'postgres', extensions 'bloomery',
	     fetch_size '10000');
	CREATE USER MAPPING FOR tester SERVER one OPTIONS (user 'tester');
	CREATE FOREIGN TABLE orders (id int, note text) SERVER one;
	CREATE TABLE wanted AS SELECT i * 499 AS id FROM generate_series(1, 800) i;
	ANALYZE wanted; ANALYZE orders;
	END
    plainly='SELECT count(*), md5(string_agg(note, NULL ORDER BY id))
        FROM orders JOIN wanted USING (id)'
    filtered="$plainly
        WHERE (SELECT bloomery_build(id, 'blocked', 0.001) FROM wanted) @> orders.id"
    says two "$filtered" "$(sql two -c "$plainly")" || return 1
    sql two -c "EXPLAIN (ANALYZE, VERBOSE, TIMING off, COSTS off) $filtered" \
        >"$work/plan" && cat "$work/plan" &&
        grep -q 'Remote SQL:.*bloomery.*@>' "$work/plan" || return 1
    rows=$(sed -n 's/.*Foreign Scan on.*rows=\([0-9]*\) .*/\1/p' "$work/plan")
    # 400 of the wanted ones are there; the rate, 0.001, adds some of 200000
    [ "$rows" -ge 400 ] && [ "$rows" -lt 800 ]
}

# The other way round: a filter here of the keys there answers for most strangers
# that nothing is there.
foreign_keys() {
    sql two -c "CREATE TABLE held AS SELECT bloomery_build(id, 'fuse') AS f
            FROM orders" -c "ANALYZE held" || return 1
    asked='SELECT count((SELECT note FROM orders o WHERE o.id = s.id))
        FROM (SELECT i * 1000 AS id FROM generate_series(1, 2000) i) s'
    spared='SELECT count(CASE WHEN held.f @> s.id THEN
            (SELECT note FROM orders o WHERE o.id = s.id) END)
        FROM held, (SELECT i * 1000 AS id FROM generate_series(1, 2000) i) s'
    sql one -c 'CREATE INDEX ON orders (id)' &&
        says two "$spared" "$(sql two -c "$asked")"
}

# A filter there is queried there, by a literal without a type, too.
foreign_filters() {
    found="SELECT count(*) FROM clients WHERE number @> '7' AND text @> '7'
        AND number @> 7"
    sql two -c "CREATE FOREIGN TABLE clients (number bloomery, text bloomery)
            SERVER one" &&
        says two "$found" 1 &&
        sql two -c "EXPLAIN (VERBOSE, COSTS off) $found" >"$work/plan" &&
        grep "Remote SQL:.*'7'::public.bloomery_key" "$work/plan" || return 1
    ! sql two -c "SELECT FROM clients WHERE number @> '7'::text" \
        2>"$work/said" && grep 'HINT:.*bigint' "$work/said"
}

# ---- All ---------------------------------------------------------------------

make_prefix
extension install DESTDIR="$prefix"
cluster one 'wal_level = logical' 'max_connections = 20'
ok 'make installcheck passes' regression
sql one -c 'CREATE EXTENSION bloomery'
page=$root/docs/library/postgresql.md
sql one -c 'CREATE ROLE reader SUPERUSER LOGIN'
ok 'the README shows true outputs' true_outputs "$bindings/README.md"
seq 1 1000 >"$work/ids.txt"
"$bloomery" build --as number -o "$work/ids.bly" "$work/ids.txt"
ok 'the page in the book shows true outputs' true_outputs "$page"
ok 'the page about production shows true outputs' true_outputs \
    "$root/docs/library/postgresql-production.md"
ok 'the page in the book has every function' every_function
ok 'missing headers, PostgreSQL or library are one clear line' one_clear_line
python=/usr/bin/python3
if [ -x "$python" ]; then
    ok 'META.json is true' meta
else
    echo 'skipped: python3 is not installed'
fi
ok 'an older version is updated' updated
for example in "$bindings"/examples/*.sql; do
    ok "the example ${example##*/} is true" true_example "$example"
done
ok 'filters are the command'"'"'s, byte for byte, of every kind' same_bytes
ok 'numbers are keys as in the command' same_numbers
ok 'files of the command are values' takes_files
ok 'forms of keys are those of the command' same_forms
ok 'golden images of the library are values' golden_images
ok 'a filter of 2 GiB in a few bytes is refused' beyond_the_limit
ok 'filters that are asked in turns are kept' in_turns
# shellcheck source=bindings/postgresql/tests/clients.sh
. "$bindings/tests/clients.sh"
ok 'filters to store' make_filters
ok 'a dump restores the same bytes' dump_restore
ok 'binary copies come back, and forged ones do not' binary_copy
ok 'a long query can be ended' cancelled
ok 'a query can be ended within the library' cancelled_within
ok 'a session can be ended within the library' terminated_within
ok 'a query that is ended anywhere changes nothing' cancelled_anywhere
ok 'forged images and wrong calls are errors' fuzz
ok 'memory stays over many queries' memory
figure "memory: $(grep -E '^(memory|rss) ' "$work/said" | tr '\n' ' ')"
if [ "$effort" = full ]; then
    ok 'the folder alone is built against an installed library' from_package
    ok 'text is UTF-8 whatever the encoding of the database' encodings
    ok 'no memory is an error' no_memory
    cluster two
    sql two -c 'CREATE EXTENSION bloomery'
    ok 'a table with filters is replicated' replication false
    ok 'the same in binary' replication true
    ok 'a filter goes to a foreign server, and few rows come' foreign_server
    figure "join with a foreign table: $(time_of "$plainly") ms, with a filter" \
        "$(time_of "$filtered") ms, $rows rows of 200000 fetched"
    ok 'a filter of foreign keys spares questions' foreign_keys
    ok 'foreign filters are queried by keys of their class' foreign_filters
    figure "2000 foreign look-ups: $(time_of "$asked") ms, with a filter" \
        "$(time_of "$spared") ms"
    # shellcheck source=bindings/postgresql/tests/figures.sh
    . "$bindings/tests/figures.sh"
    ok 'both servers are alive' alive two
fi
ok 'the server is alive' alive one
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
