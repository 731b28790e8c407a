-- A filter knows the class of its keys: a key of another class is an error.
\pset format unaligned
CREATE EXTENSION bloomery;
CREATE FUNCTION form(f bloomery) RETURNS text LANGUAGE sql AS
    $$SELECT bloomery_info(f) ->> 'keys'$$;

-- Returns the answer of a query, or the error with its hint.
CREATE FUNCTION said(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
    hint text;
BEGIN
    EXECUTE query INTO answer;
    RETURN answer;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN SQLSTATE || ' ' || SQLERRM || CASE hint WHEN '' THEN '' ELSE ' | ' END
        || hint;
END $$;

-- The class is that of the type.
CREATE DOMAIN domain_id AS bigint;
CREATE DOMAIN domain_name AS varchar(9);
SELECT type, said(format($$SELECT form(bloomery_build('7'::%s))$$, type)) AS keys
    FROM unnest('{text,varchar,char(3),name,"char",domain_name,bytea,uuid,
                  smallint,integer,bigint,real,"double precision",numeric,oid,
                  domain_id,boolean,int[],json,money,xml}'::text[]) type
    WHERE type <> 'uuid'
UNION ALL SELECT 'uuid', form(bloomery_build(gen_random_uuid()));

-- Filters of all classes, and keys of all types, each of which is the member.
CREATE TABLE classes (keys text, f bloomery);
INSERT INTO classes VALUES
    ('text', (SELECT bloomery_build('7'::text, NULL, 1e-9))),
    ('number', (SELECT bloomery_build(7, NULL, 1e-9))),
    ('bytes', (SELECT bloomery_build('7'::bytea, NULL, 1e-9))),
    ('hex', (SELECT bloomery_build('37373737-3737-3737-3737-373737373737'::uuid,
                                 NULL, 1e-9))),
    ('any', (SELECT bloomery_build('7'::text, NULL, 1e-9, NULL, 'any'))),
    ('int32', (SELECT bloomery_build(7, NULL, 1e-9, NULL, 'int32'))),
    ('int64', (SELECT bloomery_build(7, NULL, 1e-9, NULL, 'int64'))),
    ('float', (SELECT bloomery_build(7, NULL, 1e-9, NULL, 'float'))),
    ('double', (SELECT bloomery_build(7, NULL, 1e-9, NULL, 'double'))),
    ('utf16', (SELECT bloomery_build('7'::text, NULL, 1e-9, NULL, 'utf16')));
CREATE FUNCTION short(said text) RETURNS text LANGUAGE sql AS
    $$SELECT CASE WHEN said ~ '^[0-9]{5} ' THEN left(said, 5) ELSE said END$$;
CREATE TABLE asked (n serial, key text);
INSERT INTO asked (key) VALUES
    ('7'), ('7::smallint'), ('7::bigint'), ('7.0'), ('7::real'),
    ('7::oid'), ('8'), ('7.5'),
    ($$'7'$$), ($$'7.0'$$), ($$' 7 '$$), ($$'seven'$$), ($$''$$), ($$'\x37'$$),
    ($$'37373737-3737-3737-3737-373737373737'$$),
    ($$'7'::text$$), ($$'7'::varchar$$), ($$'7'::char(3)$$), ($$'7'::name$$),
    ($$'7'::bytea$$), ($$'37373737-3737-3737-3737-373737373737'::uuid$$),
    ('true'), ('''infinity''::date'), ('ARRAY[7]'), ('NULL'), ('NULL::int');
SELECT key, text, number, bytes, hex, "any", int32, int64, float, double, utf16
FROM (SELECT a.n, a.key, s.* FROM asked a, LATERAL (
    SELECT max(said) FILTER (WHERE keys = 'text') AS text,
           max(said) FILTER (WHERE keys = 'number') AS number,
           max(said) FILTER (WHERE keys = 'bytes') AS bytes,
           max(said) FILTER (WHERE keys = 'hex') AS hex,
           max(said) FILTER (WHERE keys = 'any') AS "any",
           max(said) FILTER (WHERE keys = 'int32') AS int32,
           max(said) FILTER (WHERE keys = 'int64') AS int64,
           max(said) FILTER (WHERE keys = 'float') AS float,
           max(said) FILTER (WHERE keys = 'double') AS double,
           max(said) FILTER (WHERE keys = 'utf16') AS utf16
    FROM (SELECT keys, short(said(format(
              'SELECT f @> %s FROM classes WHERE keys = %L', a.key, keys)))
          FROM classes) q (keys, said)) s) r ORDER BY n;

-- A key that is equal in SQL is found, however it is written.
SELECT bloomery_build(r) @> 0.1 AS numeric, bloomery_build(r) @> '0.1' AS untyped,
       bloomery_build(r) @> 0.1::real AS real, bloomery_build(r) @> 7 AS integer,
       bloomery_build(r) @> '7.0' AS written,
       bloomery_build(r::float8) @> 0.1::real AS float8,
       bloomery_build(r, NULL, NULL, NULL, 'any') @> 0.1::real AS any,
       said($$SELECT bloomery_build(0.1::real) @> 'a'::text$$)
    FROM (VALUES (0.1::real), (7)) v (r);
SELECT bloomery_build(n) @> '9007199254740993.00' AS whole,
       bloomery_build(n) @> 9007199254740993 AS integer,
       bloomery_build(n) @> '1.50' AS half, bloomery_build(n) @> '-0.00' AS zero,
       bloomery_build(DISTINCT n) @> 0 AS once
    FROM (VALUES (9007199254740993.00), (1.5), (0)) v (n);

-- Every function says so, and how to convert.
CREATE TABLE maps AS SELECT bloomery_build_labels(i, i) AS m,
    (SELECT bloomery_build(i, 'counting') FROM generate_series(1, 9) i) AS c
    FROM generate_series(1, 9) i;
SELECT call, said('SELECT ' || call || ' FROM maps') AS said
    FROM unnest(ARRAY['m @> ''7''::text', 'bloomery_contains(m, ''7''::text)',
        'bloomery_count(c, ''7''::text)', 'bloomery_get(m, ''7''::text)',
        'bloomery_put(m, ''7''::text, 1)', 'bloomery_add(c, ''7''::text)',
        'bloomery_remove(c, ''7''::text)', 'bloomery_remove(c, ''seven'')',
        'bloomery_count(c, ''7'')', 'bloomery_get(m, ''7'')',
        'bloomery_get(bloomery_put(m, ''7'', 99), 7)',
        'bloomery_remove(c, ''7'') @> 7',
        'bloomery_add(c, ''77'') @> 77']) call;
SELECT keys, said(format('SELECT f @> %s FROM classes WHERE keys = %L', key, keys))
    FROM (VALUES ('text', '7'), ('bytes', '7'), ('hex', '''7''::text'),
                 ('bytes', '''7'''), ('hex', '''xyz'''), ('utf16', '7.5'),
                 ('int32', '''x'''), ('int32', '99999999999'),
                 ('text', 'ARRAY[7]')) v (keys, key);

-- A parameter whose type is not stated.
PREPARE one AS SELECT bloomery_build(i) @> $1 AS found FROM generate_series(1, 9) i;
SELECT parameter_types FROM pg_prepared_statements;
EXECUTE one(7);
EXECUTE one('7');
EXECUTE one(7.5);
EXECUTE one(77);
EXECUTE one('seven');
EXECUTE one(NULL);
PREPARE words AS SELECT f @> $1 AS found FROM classes WHERE keys = 'text';
EXECUTE words('7');
EXECUTE words(7);
EXECUTE words('8');
PREPARE within AS SELECT $1 <@ f AS found FROM classes WHERE keys = 'number';
SELECT name, parameter_types FROM pg_prepared_statements WHERE name = 'within';
EXECUTE within(7);
EXECUTE within('7.0');
EXECUTE within('seven');
SELECT said($$SELECT '7'::text <@ f FROM classes WHERE keys = 'number'$$);
SELECT 7 <@ ANY (array_agg(f)) AS some, 7 <@ ALL (array_agg(f)) AS each
FROM classes WHERE keys IN ('number', 'int32');
SELECT count(*) FROM generate_series(1, 9) i, maps WHERE m @> ANY ('{7,seven}');
SELECT m @> ANY ('{70,7}') AS some, m @> ALL ('{7,70}') AS each,
       m @> ANY (ARRAY[70, 7]) AS numbers FROM maps;
SELECT said($$SELECT m @> ANY (ARRAY['70', '7']) FROM maps$$);
SELECT said($$SELECT m @> CASE WHEN random() < 2 THEN '7' ELSE '8' END FROM maps$$);
CREATE FUNCTION ask(x text) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN RETURN m @> x FROM maps; END$$;
SELECT said($$SELECT ask('7')$$);

-- The form is the one that is asked for.
SELECT said($$SELECT bloomery_build(x, NULL, 1e-9, NULL, 'text:case=lower,trim') @> y
    FROM (VALUES (' Red', 'RED '::text)) v (x, y) GROUP BY y$$) AS typed,
    said($$SELECT bloomery_build(x, NULL, 1e-9, NULL, 'text:case=lower,trim') @> 'RED '
    FROM (VALUES (' Red')) v (x)$$) AS untyped;
SELECT keys, said(format('SELECT form(bloomery_build(%s, NULL, NULL, NULL, %L))', key, keys))
    FROM (VALUES ('7', 'text'), ('7', 'int64'), ('7.5', 'int64'), ('7', ''), ('7', NULL),
                 ('7', 'any'), ('7', 'words'), ('point(1, 2)', 'any'),
                 ('NULL::int', 'text')) v (key, keys);
SELECT said($$SELECT bloomery_build(i, NULL, NULL, NULL, CASE i WHEN 1 THEN 'int32' ELSE 'int64' END)
    FROM generate_series(1, 2) i$$);
SELECT form(bloomery_build_labels(i, i, 'bloomier', 0.01, 9, 'int64')) AS map
    FROM generate_series(1, 9) i;
SELECT said($$SELECT bloomery_build('a'::text, 'guava') @> 'a'$$) AS foreign,
       said($$SELECT bloomery_build('a'::text, 'guava', NULL, NULL, 'text')$$) AS form;

-- An empty filter takes the class of its first key, or the form that it states.
SELECT form(n) AS none, form(bloomery_add(n, 7)) AS number,
       form(bloomery_add(n, '7')) AS text, form(bloomery_add(n, '7'::bytea)) AS bytes,
       said($$SELECT bloomery_add(bloomery_add(bloomery_new('blocked', 9), 7), '8'::text)$$)
    FROM bloomery_new('blocked', 9) n;
SELECT form(bloomery_new('blocked', 9, 0.01, 'number')) AS number,
       bloomery_add(bloomery_new('blocked', 9, keys => 'text:case=upper'), 'a') @> 'A'
           AS upper,
       said($$SELECT bloomery_new('blocked', 9, 0.01, 'any')$$) AS any;
SELECT form(bloomery_state_keys(f, 'number')) AS stated,
       said($$SELECT bloomery_state_keys(bloomery_state_keys(f, 'number'), 'text')
              FROM classes WHERE keys = 'any'$$)
    FROM classes WHERE keys = 'any';

-- Filters of different forms are not combined.
SELECT said(format('SELECT form(%s) FROM classes a, classes b
        WHERE a.keys = %L AND b.keys = %L', call, one, other)) AS said
    FROM (VALUES ('a.f | b.f', 'text', 'number'), ('a.f & b.f', 'number', 'any'),
                 ('a.f | b.f', 'bytes', 'hex'), ('a.f | b.f', 'any', 'hex')) v (call, one, other)
UNION ALL SELECT said($$SELECT bloomery_overlap(a.f, b.f) FROM classes a, classes b
        WHERE a.keys = 'text' AND b.keys = 'int64'$$)
UNION ALL SELECT said($$SELECT bloomery_unite(f) FROM (SELECT f FROM classes
        WHERE keys IN ('text', 'bytes') ORDER BY keys) q$$)
UNION ALL SELECT said($$SELECT bloomery_intersect(f) FROM (SELECT f FROM classes
        WHERE keys IN ('int32', 'any') ORDER BY keys) q$$)
UNION ALL SELECT said($$SELECT count(*) FROM bloomery_diff(
        (SELECT bloomery_build(1, 'invertible:key=8', 0.01, 9)),
        (SELECT bloomery_build('1'::text, 'invertible:key=8', 0.01, 9)))$$);

-- NULL is not a key, of whatever type.
SELECT form(bloomery_build(x)) AS form, bloomery_info(bloomery_build(x)) ->> 'items' AS items,
       count(*) - count(x) AS nulls
    FROM (VALUES (1), (NULL), (3)) v (x);

SET client_min_messages = warning;
DROP EXTENSION bloomery CASCADE;
