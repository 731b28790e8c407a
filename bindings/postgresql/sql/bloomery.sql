-- Every function of the extension, in SQL.
CREATE EXTENSION bloomery;
SET extra_float_digits = 0;
CREATE FUNCTION refusal(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE query;
    RETURN 'it was not refused';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || left(SQLERRM, 56);
END $$;

CREATE FUNCTION hint(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE said text;
BEGIN
    EXECUTE query;
    RETURN 'it was not refused';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS said = PG_EXCEPTION_HINT;
    RETURN said;
END $$;
-- A filter finds the keys that it was built from, and few others.
CREATE TABLE words AS SELECT 'word ' || i AS word FROM generate_series(1, 1000) i;
CREATE TABLE filters AS
    SELECT kind, bloomery_build(word, kind, 0.01) AS f
    FROM words, (VALUES ('standard'), ('blocked'), ('fuse'), ('cuckoo'),
                        ('compressed')) AS k (kind) GROUP BY kind;
SELECT kind, bool_and(f @> word) AS all,
       count(*) FILTER (WHERE f @> ('no ' || word)) < 40 AS few
    FROM filters, words GROUP BY kind ORDER BY kind;
SELECT bloomery_contains(f, 'word 7'), f @> 'word 1001' FROM filters
    WHERE kind = 'blocked';

-- The default kind, and a kind by another name.
SELECT bloomery_info(bloomery_build(word)) ->> 'kind' AS usual,
       bloomery_info(bloomery_build(word, 'cbf')) ->> 'kind' AS other FROM words;
-- Equal numbers are one key, whatever their type.
CREATE TABLE numbers AS SELECT bloomery_build(i, 'standard', 1e-6) AS f
    FROM generate_series(1, 100) i;
SELECT f @> 7, f @> 7::bigint, f @> 7::smallint, f @> 7.0, f @> 7::real,
       f @> 7::double precision, f @> 7.5, f @> '7'
    FROM numbers;
SELECT bloomery_build(x) @> 9007199254740993 AS big,
       bloomery_build(x) @> 9007199254740992 AS other
    FROM (VALUES (9007199254740993::numeric)) v (x);
SELECT bloomery_build(x) @> 'NaN'::float8, bloomery_build(x) @> 1e19::float8,
       bloomery_build(x) @> 'Infinity'::numeric, bloomery_build(x) @> 0.5::float8,
       bloomery_build(x) @> (-9223372036854775808)::bigint
    FROM (VALUES ('NaN'::numeric), ('1e19'), ('Infinity'), ('0.5'),
                 ('-9223372036854775808')) v (x);
SELECT bloomery_build(x) @> 'Infinity'::float8 AS infinite,
       bloomery_build(x) @> 1e400::numeric AS itself,
       bloomery_build(x) @> '1e400' AS written,
       bloomery_build(x) @> '-Infinity'::float8 AS least,
       bloomery_build(x) @> 0 AS zero, bloomery_build(x) @> 5e-324::float8 AS denormal,
       bloomery_build(x) @> (-0.0)::float8 AS minus_zero
    FROM (VALUES (1e400::numeric), (-1e131071::numeric),
                 (('0.' || repeat('0', 16000) || '1')::numeric),
                 (5e-324::numeric)) v (x);

-- Bytes, ids, and types that are cast to text.
SELECT bloomery_build(u) @> '2f1b5d0e-0000-4000-8000-0123456789ab'::uuid AS id,
       bloomery_build(u) @> decode('2f1b5d0e0000400080000123456789ab', 'hex')
           AS bytes
    FROM (VALUES ('2f1b5d0e-0000-4000-8000-0123456789ab'::uuid)) v (u);
SELECT bloomery_build(x::varchar) @> 'a'::char(9) AS a,
       bloomery_build(x) @> 'b'::name AS b, bloomery_build(x) @> '' AS empty
    FROM (VALUES ('a'), ('b'), ('')) v (x);
SELECT refusal($$SELECT f @> point(1, 2) FROM filters$$);

-- NULL is no key.
SELECT bloomery_build(x) IS NULL AS none FROM (VALUES (1)) v (x) WHERE x > 1;
SELECT bloomery_info(bloomery_build(x)) ->> 'items' AS items,
       bloomery_build(x) @> 1 AS one
    FROM (VALUES (NULL::int), (NULL)) v (x);
SELECT bloomery_info(bloomery_build(x)) ->> 'items' AS items
    FROM (VALUES (NULL::int), (3)) v (x);
SELECT f @> NULL::text IS NULL AS unknown FROM numbers;
SELECT bloomery_build(x, NULL, NULL, NULL) @> 1 FROM (VALUES (1)) v (x);

-- Information about filters and plans.
SELECT i ->> 'kind' AS kind, i ->> 'items' AS items, i ->> 'bytes' AS bytes,
       (i ->> 'rate')::float8 < 1e-5 AS rare
    FROM (SELECT bloomery_info(f) AS i FROM numbers) q;
SELECT bloomery_plan('fuse', 1000000, 0.001) ->> 'bytes' AS bytes;
SELECT count(*) > 25 AS kinds, bool_and(summary <> '') AS told,
       bool_or('remove' = ANY (can)) AS some_remove FROM bloomery_kinds();
SELECT bloomery_version() ~ '^[0-9]+\.[0-9]+\.[0-9]+$' AS version;

-- Change.
SELECT bloomery_add(f, 'late') @> 'late' AS added, f @> 'late' AS before
    FROM filters WHERE kind = 'blocked';
SELECT bloomery_remove(f, 'word 5') @> 'word 5' AS removed
    FROM filters WHERE kind = 'cuckoo';
SELECT refusal($$SELECT bloomery_remove(f, 'word 5') FROM filters WHERE kind = 'blocked'$$);
SELECT refusal($$SELECT bloomery_remove(f, 'no word') FROM filters WHERE kind = 'cuckoo'$$);
SELECT refusal($$SELECT bloomery_add(f, 'late') FROM filters WHERE kind = 'fuse'$$);
SELECT bloomery_count(bloomery_build(x, 'counting', 1e-6, 10), 'a') AS twice,
       bloomery_count(bloomery_build(x, 'counting', 1e-6, 10), 'c') AS never,
       bloomery_count(bloomery_build(x, 'standard', 1e-6, 10), 'a') AS unknown,
       bloomery_count(bloomery_build(x, 'standard', 1e-6, 10), 'c') AS never
    FROM (VALUES ('a'), ('a'), ('b')) v (x);
SELECT bloomery_new('blocked', 100) @> 'a' AS a;
SELECT refusal($$SELECT bloomery_new('fuse', 100)$$);
SELECT hint($$SELECT bloomery_new('fuse', 100)$$);
SELECT hint($$SELECT bloomery_build(i, 'cuckoo', 0.01, 10) FROM generate_series(1, 1000) i$$);

-- Labels.
SELECT bloomery_get(f, 'b') AS b, bloomery_get(bloomery_put(f, 'b', 9), 'b') AS put
    FROM (SELECT bloomery_build_labels(x, l, 'bloomier', 1e-6) AS f
          FROM (VALUES ('a', 5), ('b', 6), ('c', 11)) v (x, l)) q;
SELECT bloomery_get(bloomery_build_labels(x, l), 'b') AS b
    FROM (VALUES ('a', 5), ('b', 6)) v (x, l);
SELECT refusal($$SELECT bloomery_build_labels(x, NULL, 'bloomier') FROM (VALUES ('a')) v (x)$$);
SELECT refusal($$SELECT bloomery_build_labels(x, i, 'bloomier') FROM (VALUES ('a', 1), ('a', 2)) v (x, i)$$);
SELECT refusal($$SELECT bloomery_get(f, 'b') FROM filters WHERE kind = 'fuse'$$);

-- Two filters of one plan, and many.
CREATE TABLE parts AS
    SELECT i % 4 AS part, bloomery_build(i, 'blocked', 0.001, 1000) AS f
    FROM generate_series(1, 1000) i GROUP BY 1;
SELECT bool_and(u @> i) AS all FROM generate_series(1, 1000) i,
    (SELECT bloomery_unite(f) AS u FROM parts) q;
SELECT substr((SELECT bloomery_unite(f) FROM parts) ::bytea, 129)
     = substr((SELECT bloomery_build(i, 'blocked', 0.001, 1000)
               FROM generate_series(1, 1000) i) ::bytea, 129) AS same_bits;
SELECT bool_and((a.f | b.f) @> i) AS or FROM parts a, parts b,
    generate_series(1, 1000) i WHERE a.part = 1 AND b.part = 3 AND i % 2 = 1;
SELECT (a.f & b.f) @> 2 AS and FROM parts a, parts b
    WHERE a.part = 2 AND b.part = 2;
SELECT bloomery_intersect(f) @> 2 AS none FROM parts;
SELECT refusal($$SELECT a.f | b.f FROM filters a, filters b
    WHERE a.kind = 'blocked' AND b.kind = 'fuse'$$);
SELECT refusal($$SELECT bloomery_unite(f ORDER BY kind) FROM filters$$);
SELECT bloomery_unite(f) IS NULL AS none FROM parts WHERE part > 9;
SELECT round((bloomery_overlap(a.f, a.f) ->> 'jaccard')::numeric, 2) AS jaccard
    FROM parts a WHERE part = 1;

-- Keys that can be listed.
SELECT convert_from(key, 'UTF8') AS key, side FROM bloomery_list_keys(
    (SELECT bloomery_build(x, 'invertible:key=3', 0.01, 20)
     FROM (VALUES ('red'), ('sky')) v (x))) ORDER BY 1;
SELECT convert_from(key, 'UTF8') AS key, side FROM bloomery_diff(
    (SELECT bloomery_build('k' || i, 'invertible:key=5', 0.01, 20)
     FROM generate_series(1, 1000) i),
    (SELECT bloomery_build('k' || i, 'invertible:key=5', 0.01, 20)
     FROM generate_series(3, 1001) i)) ORDER BY 1;
SELECT refusal($$SELECT count(*) FROM bloomery_list_keys(
    (SELECT bloomery_build(i, 'invertible:key=8', 0.01, 20)
     FROM generate_series(1, 1000) i))$$);
SELECT refusal($$SELECT * FROM bloomery_list_keys((SELECT f FROM numbers))$$);

-- Bytes from elsewhere are checked.
SELECT f::bytea::bloomery::bytea = f::bytea AS same,
       f::text::bloomery::bytea = f::bytea AS hex FROM filters;
SELECT refusal($$SELECT '\x00'::bloomery$$);
SELECT refusal($$SELECT ''::bloomery$$);
SELECT refusal($$SELECT 'xyz'::bloomery$$);
SELECT refusal($$SELECT set_byte(f::bytea, 200, get_byte(f::bytea, 200) # 1)::bloomery
    FROM numbers$$);
SELECT refusal($$SELECT substr(f::bytea, 1, 100)::bloomery FROM numbers$$);

-- Wrong arguments are refused.
SELECT refusal($$SELECT bloomery_build(1, 'blocket')$$);
SELECT refusal($$SELECT bloomery_build(1, 'blocked:k=x')$$);
SELECT refusal($$SELECT bloomery_build(1, 'blocked', 0)$$);
SELECT refusal($$SELECT bloomery_build(1, 'blocked', 0.01, 0)$$);
SELECT refusal($$SELECT bloomery_plan('blocked', 9, 0)$$);
SELECT refusal($$SELECT bloomery_build(1, 'blocked', 7)$$);
SELECT refusal($$SELECT bloomery_build(1, 'blocked', 0.01, -1)$$);
SELECT refusal($$SELECT bloomery_build(1, 'blocked', 0.01, 1000000000000)$$);
SELECT refusal($$SELECT bloomery_build(i, 'blocked', 0.01, i) FROM generate_series(1, 2) i$$);
SELECT refusal($$SELECT bloomery_new('blocked', 0)$$);
SELECT refusal($$SELECT bloomery_internal.build(NULL)$$);
SELECT refusal($$SELECT bloomery_internal.gather(NULL, 1)$$);

-- Rows of many filters, in and out of TOAST, and in loops of PL/pgSQL.
CREATE TABLE many AS
    SELECT g, bloomery_build(g * 10000 + i, 'standard', 0.001) AS f
    FROM generate_series(1, 30) g, generate_series(1, 5000 / g) i GROUP BY g;
SELECT bool_and(f @> (g * 10000 + i)) AS all
    FROM many, generate_series(1, 5) AS i WHERE i <= 5000 / g;
SELECT count(*) < 5 AS few FROM many a, many b
    WHERE a.g <> b.g AND a.f @> (b.g * 10000 + 1);
DO $$
DECLARE
    filter bloomery;
    row record;
BEGIN
    FOR row IN SELECT * FROM many ORDER BY g LOOP
        filter := row.f;
        IF NOT filter @> (row.g * 10000 + 1) OR NOT row.f @> (row.g * 10000 + 2)
        THEN RAISE 'lost %', row.g; END IF;
    END LOOP;
END $$;

-- A filter of another one's header is not taken for that one. (What was not
-- checked stands here for one whose checksum was made to be the same.)
CREATE FUNCTION unchecked(bytea) RETURNS bloomery
    LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE TABLE twins (n serial, f bloomery);
CREATE FUNCTION asked(kind text, storage text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    EXECUTE 'ALTER TABLE twins ALTER f SET STORAGE ' || storage;
    TRUNCATE twins;
    INSERT INTO twins (f)
        SELECT CASE WHEN n = 2 THEN b::bloomery
                    ELSE unchecked(substr(b, 1, 160) || decode(
                        repeat('00', length(b) - 160), 'hex')) END
        FROM (SELECT bloomery_build(i, kind)::bytea AS b
              FROM generate_series(1, 500) i) q, generate_series(1, 3) n;
    SELECT string_agg((f @> 7)::text, ' ' ORDER BY n) INTO said FROM twins;
    RETURN said;
END $$;
SELECT storage, asked('standard', storage)
    FROM unnest('{plain,main,extended,external}'::text[]) storage;

-- Nor is one that comes to the same place in memory, of any simple kind: a scan
-- of all rows answers like a query for each row.
CREATE TABLE halves AS
    SELECT kind, g, bloomery_build(g * 100 + i, kind, 0.01, 64)::bytea AS image
    FROM bloomery_kinds(), generate_series(0, 1) g, generate_series(1, 50) i
    WHERE family IN ('sets', 'removable', 'frozen') GROUP BY kind, g;
CREATE TABLE places AS
    SELECT a.kind, n, substr(a.image, 1, 128)
               || substr(CASE n % 2 WHEN 0 THEN a.image ELSE b.image END, 129) AS image
    FROM halves a JOIN halves b USING (kind), generate_series(1, 6) n
    WHERE a.g = 0 AND b.g = 1 AND length(a.image) = length(b.image)
    ORDER BY kind, n;
CREATE FUNCTION alone(image bytea) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE answer boolean;
BEGIN
    EXECUTE 'SELECT unchecked($1) @> 7' INTO answer USING image;
    RETURN answer;
END $$;
SELECT count(DISTINCT kind) > 12 AS kinds, bool_and(together = alone(image)) AS same,
       count(*) FILTER (WHERE together <> (n % 2 = 0)) < 6 AS as_built
FROM (SELECT *, unchecked(image) @> 7 AS together FROM places OFFSET 0) q;

-- A window asks for the filter of each row and those before it.
SELECT bool_and(f @> i AND f @> 1) AS all, bool_or(f @> (i + 1)) AS none
FROM (SELECT i, bloomery_build(i, 'standard', 1e-9) OVER (ORDER BY i) AS f
      FROM generate_series(1, 1500, 10) i) q;
SELECT bool_and(u @> part) AS all
FROM (SELECT part, bloomery_unite(f) OVER (ORDER BY part DESC) AS u FROM parts) q
WHERE part > 0;

-- Workers gather what one process would.
CREATE TABLE large AS SELECT i, 'key ' || i AS t FROM generate_series(1, 60000) i;
ANALYZE large;
CREATE FUNCTION both_ways(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    alone bytea;
    shared bytea;
    plan json;
BEGIN
    SET LOCAL max_parallel_workers_per_gather = 0;
    EXECUTE query INTO alone;
    SET LOCAL max_parallel_workers_per_gather = 3;
    SET LOCAL parallel_setup_cost = 0;
    SET LOCAL parallel_tuple_cost = 0;
    SET LOCAL min_parallel_table_scan_size = 0;
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    EXECUTE query INTO shared;
    RETURN plan::text LIKE '%Partial%' AND alone = shared;
END $$;
SELECT both_ways('SELECT bloomery_build(i) FROM large');
SELECT both_ways('SELECT bloomery_build(t, ''fuse'', 0.001) FROM large');
SELECT both_ways('SELECT bloomery_build(t, ''standard'', 0.1, 70000) FROM large');
SELECT both_ways('SELECT bloomery_build(t, NULL, NULL, 70000, ''text:case=upper'') FROM large');
SELECT both_ways('SELECT bloomery_build_labels(t, i % 4, ''bloomier'') FROM large');
SELECT both_ways('SELECT bloomery_build(t, ''invertible:key=9'', 0.1, 90000) FROM large');
CREATE TABLE large_parts AS
    SELECT bloomery_build(i, 'standard', 0.1, 60000) AS f FROM large GROUP BY i % 50;
ANALYZE large_parts;
SELECT both_ways('SELECT bloomery_unite(f) FROM large_parts');
SELECT both_ways('SELECT bloomery_intersect(f) FROM large_parts');

-- An aggregate takes 8 bytes per key, or 16 with labels, and some room to grow.
CREATE FUNCTION used() RETURNS bigint LANGUAGE sql VOLATILE AS
    'SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts';
SET max_parallel_workers_per_gather = 0;
SELECT max(CASE i WHEN 60000 THEN used() END) - min(CASE i WHEN 1000 THEN used() END)
           BETWEEN 8 * 59000 AND 20 * 59000 AS keys, bloomery_build(i) IS NULL AS none
FROM large;
SELECT max(CASE i WHEN 60000 THEN used() END) - min(CASE i WHEN 1000 THEN used() END)
           BETWEEN 16 * 59000 AND 40 * 59000 AS labels,
       bloomery_build_labels(i, i) IS NULL AS none
FROM large;

SELECT refusal($$DROP EXTENSION bloomery$$);
SET client_min_messages = warning;
DROP EXTENSION bloomery CASCADE;
