-- fuzz.sql - forged images and wrong arguments: an error of SQL, never a crash
-- and never one of the server's own (XX000). psql -v forged=N -v calls=N -v seed=S
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
SELECT pg_backend_pid() AS pid \gset
SELECT setseed(:seed) \g /dev/null

CREATE TABLE whole AS
    SELECT row_number() OVER () AS n, kind, f, f::bytea AS image FROM (
        SELECT kind, (SELECT bloomery_build('key ' || i, kind, 0.01, 200)
                      FROM generate_series(1, 200) i) AS f
        FROM (SELECT kind FROM bloomery_kinds()
              WHERE kind NOT IN ('egh', 'cascade') AND family <> 'foreign'
              UNION ALL VALUES ('invertible:key=8'), ('rehash:by=xxh64,key=whole'),
                               ('counting'), ('spatial')) k
        UNION ALL
        SELECT 'cascade', bloomery_build_labels('key ' || i, i % 2, 'cascade')
        FROM generate_series(1, 200) i
        UNION ALL
        SELECT 'map', bloomery_build_labels('key ' || i, i % 7, 'bloomier')
        FROM generate_series(1, 200) i) q;

-- A value that nobody checked, as a damaged disk has: byteasend copies.
CREATE FUNCTION unchecked(bytea) RETURNS bloomery
    LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';

CREATE FUNCTION any_of(n int) RETURNS int LANGUAGE sql VOLATILE AS
    'SELECT floor(random() * n)::int';

CREATE FUNCTION forge(image bytea, header boolean) RETURNS bytea
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    from_byte int := CASE WHEN header THEN 0 ELSE 128 END;
    at int;
BEGIN
    FOR i IN 1 .. (ARRAY[1, 1, 1, 3, 30])[1 + any_of(5)] LOOP
        CONTINUE WHEN length(image) <= from_byte;
        at := from_byte + any_of(length(image) - from_byte);
        CASE any_of(CASE WHEN header THEN 4 ELSE 2 END)
        WHEN 0 THEN image := set_byte(image, at, any_of(256));
        WHEN 1 THEN image := set_bit(image, 8 * at + any_of(8),
                             1 - get_bit(image, 8 * at + any_of(8)));
        WHEN 2 THEN image := substr(image, 1, at)
                          || substr(image, at + 1 + any_of(200));
        ELSE image := substr(image, 1, at)
                   || decode(repeat(md5(random()::text), 1 + any_of(5)), 'hex')
                   || substr(image, at + 1);
        END CASE;
    END LOOP;
    RETURN image;
END $$;

-- The planner looks up the statistics of this table in the filter of a query.
CREATE TABLE looked AS SELECT 'key ' || i AS key, i FROM generate_series(1, 300) i;
ANALYZE looked;

CREATE FUNCTION work_on(f bloomery, other bloomery, verb int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    CASE verb
    WHEN 0 THEN PERFORM f @> ('key ' || i), f @> i FROM generate_series(1, 50) i;
    WHEN 1 THEN PERFORM bloomery_count(f, 'key ' || i) FROM generate_series(1, 50) i;
    WHEN 2 THEN PERFORM bloomery_get(f, 'key ' || i) FROM generate_series(1, 50) i;
    WHEN 3 THEN PERFORM bloomery_add(bloomery_add(f, 'late'), 5);
    WHEN 4 THEN PERFORM bloomery_remove(bloomery_remove(f, 'key 5'), 'key 6');
    WHEN 5 THEN PERFORM bloomery_put(f, 'key 5', any_of(9));
    WHEN 6 THEN PERFORM bloomery_info(f);
    WHEN 7 THEN PERFORM f | other, other | f;
    WHEN 8 THEN PERFORM f & other, bloomery_overlap(f, other);
    WHEN 9 THEN PERFORM * FROM bloomery_list_keys(f);
    WHEN 10 THEN PERFORM * FROM bloomery_diff(f, other);
    WHEN 11 THEN PERFORM bloomery_unite(v), bloomery_intersect(v)
                 FROM (VALUES (f), (other), (f)) q (v);
    WHEN 12 THEN PERFORM FROM looked WHERE f @> key;
                 PERFORM FROM looked WHERE i <@ f;
                 PERFORM f = other, f < other;
    ELSE PERFORM f::text::bloomery, f::bytea::bloomery;
    END CASE;
END $$;

CREATE TABLE told (what text, sqlstate text);

CREATE PROCEDURE forge_all(n int) LANGUAGE plpgsql AS $$
DECLARE
    one record;
    bytes bytea;
    f bloomery;
    at int;
    kinds int := (SELECT count(*) FROM whole);
BEGIN
    FOR round IN 1 .. n LOOP
        at := 1 + any_of(kinds);
        SELECT * INTO STRICT one FROM whole w WHERE w.n = at;
        BEGIN
            IF any_of(4) = 0 THEN
                f := forge(one.image, true)::bloomery;
            ELSE
                f := unchecked(forge(one.image, false));
            END IF;
            PERFORM work_on(f, one.f, any_of(14));
            INSERT INTO told VALUES ('forged', 'done');
        EXCEPTION WHEN OTHERS THEN
            INSERT INTO told VALUES ('forged', SQLSTATE);
            IF SQLSTATE LIKE 'XX%' OR SQLSTATE LIKE '58%' THEN RAISE; END IF;
        END;
        IF round % 1000 = 0 THEN COMMIT; END IF;
    END LOOP;
END $$;

-- Arguments of all types for all that the extension has in SQL.
CREATE TABLE functions AS
    SELECT row_number() OVER () AS n, p.oid::regproc::text AS name,
           proargtypes::regtype[] AS types
    FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass
        AND d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'bloomery';
CREATE TABLE arguments AS
    SELECT row_number() OVER () AS n, v AS value
    FROM unnest(ARRAY[
        'NULL', '''''', '''x''', '''\x00''', '0', '1', '-1', '2147483647',
        '9223372036854775807', '(-9223372036854775808)', '1e308::float8',
        '''NaN''::float8', '''-Infinity''::float8', '0.01::float8', '1e-300::float8',
        '1e30::numeric', '''NaN''::numeric', '''{}''::int[]', 'ARRAY[''a'', ''b'']',
        'now()', 'true', 'NULL::text', 'NULL::bloomery', 'NULL::bytea',
        '''\xff''::bytea', 'repeat(''y'', 100000)', 'repeat(''blocked:'', 100)',
        '''blocked''', '''fuse''', '''standard:k=3''', '''standard:m=1e18''',
        '''invertible:key=8''', '''counting''', '''cascade''',
        '''bloomier''', '''egh:universe=1000''', '''siphash''', '''1.5''::real',
        '''00000000-0000-0000-0000-000000000000''::uuid', '5::smallint',
        '(SELECT array_agg(f) FROM whole)', 'ROW(1, 2)', '''{}''::json', '''a''::"char"',
        '''x''::name', '''f''::cstring', '100', '3', '7::bigint', 'int4range(1, 3)',
        '1000000000', 'repeat(''z'', 3000)::bytea']) v
    UNION ALL
    SELECT 100 + n, format('(SELECT f FROM whole WHERE n = %s)', n) FROM whole
    UNION ALL
    SELECT 200 + n, format('(SELECT image FROM whole WHERE n = %s)', n) FROM whole
    WHERE n < 6;
CREATE TABLE numbered AS SELECT row_number() OVER () AS n, value FROM arguments;

-- Half of the arguments are of the type that is wanted.
CREATE FUNCTION argument(wanted regtype) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    at int := 1 + any_of((SELECT count(*)::int FROM numbered));
    chance text := (SELECT value FROM numbered WHERE n = at);
BEGIN
    IF wanted IS NULL OR any_of(8) = 0 THEN RETURN chance; END IF;
    RETURN CASE wanted::text
        WHEN 'bloomery' THEN format('(SELECT f FROM whole WHERE n = %s)',
                                    1 + any_of((SELECT count(*)::int FROM whole)))
        WHEN 'text' THEN (ARRAY['''blocked''', '''fuse''', '''standard:k=3''', '''x''',
            '''counting''', '''egh:universe=9999''', '''invertible:key=8''',
            '''bloomier''', '''scalable''', '''gcs''', '''cascade''', 'NULL'])[1 + any_of(12)]
        WHEN 'bigint' THEN (ARRAY['0', '1', '1000', '-1', '7', '9223372036854775807',
            '100000', 'NULL', '5'])[1 + any_of(9)] || '::bigint'
        WHEN 'integer' THEN any_of(1000)::text
        WHEN 'double precision' THEN (ARRAY['0.01', '0.5', '0', '1', '-1', '1e-9',
            '''NaN''', '1e-30', 'NULL'])[1 + any_of(9)] || '::float8'
        WHEN 'numeric' THEN (random() * 100)::numeric::text
        WHEN 'bytea' THEN '''\x' || md5(random()::text) || '''::bytea'
        WHEN 'uuid' THEN '''' || md5(random()::text)::uuid || '''::uuid'
        ELSE chance END;
END $$;

CREATE PROCEDURE call_all(n int) LANGUAGE plpgsql AS $$
DECLARE
    one record;
    types regtype[];
    list text;
    how text;
    at int;
    many int := (SELECT count(*) FROM functions);
BEGIN
    FOR round IN 1 .. n LOOP
        at := 1 + any_of(many);
        SELECT * INTO STRICT one FROM functions f WHERE f.n = at;
        list := '';
        types := one.types;
        FOR i IN 0 .. coalesce(array_upper(types, 1), -1) LOOP
            list := list || CASE WHEN list = '' THEN '' ELSE ', ' END
                 || argument(types[i]);
        END LOOP;
        IF any_of(20) = 0 THEN
            list := list || CASE WHEN list = '' THEN '' ELSE ', ' END
                 || argument(NULL);
        END IF;
        how := CASE WHEN any_of(20) = 0
            THEN format('SELECT %s %s %s', argument('bloomery'::regtype),
                        (ARRAY['@>', '|', '&', '=', '<@'])[1 + any_of(5)], argument(NULL))
            ELSE format('SELECT %s(%s)', one.name, list) END;
        BEGIN
            EXECUTE how;
            INSERT INTO told VALUES ('called', 'done');
        EXCEPTION WHEN OTHERS THEN
            INSERT INTO told VALUES ('called', SQLSTATE);
            IF SQLSTATE LIKE 'XX%' OR SQLSTATE LIKE '58%' THEN
                RAISE 'this is an error of the server''s own: % (%)', how, SQLERRM;
            END IF;
        END;
        IF round % 1000 = 0 THEN COMMIT; END IF;
    END LOOP;
END $$;

SET statement_timeout = '60min';
CALL forge_all(:forged);
CALL call_all(:calls);
SELECT what, sqlstate, count(*) FROM told GROUP BY 1, 2 ORDER BY 1, 3 DESC;
SELECT count(*) = :forged + :calls AS counted,
       pg_backend_pid() = :pid AS same_backend,
       count(*) FILTER (WHERE sqlstate = 'done' AND what = 'forged') > 0 AS some_went,
       count(*) FILTER (WHERE sqlstate = 'done' AND what = 'called') > 0 AS some_done
    FROM told;
