-- The planner's estimate of the rows that a filter finds, beside their number.
-- ANALYZE reads all rows of a table of 30000, so its statistics are no chance.
CREATE EXTENSION bloomery;
CREATE TABLE events AS
    SELECT i AS id, (i % 1000)::int AS shop,
           CASE WHEN i % 4 = 0 THEN NULL ELSE 'user ' || i % 50 END AS who,
           date '2020-01-01' + i % 2000 AS day
    FROM generate_series(1, 30000) i;

-- The estimate and the number of rows, or their quotient.
CREATE FUNCTION estimated(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
CREATE FUNCTION counted(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    EXECUTE 'SELECT count(*) FROM (' || query || ') q' INTO n;
    RETURN n;
END $$;
CREATE FUNCTION within_3(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    rows float8 := counted(query);
    guess float8 := estimated(query);
BEGIN
    RETURN CASE WHEN guess BETWEEN rows / 3 AND rows * 3 THEN 'within 3'
                ELSE guess || ' instead of ' || rows END;
END $$;
CREATE TABLE cases (n serial, keys text, condition text, rate float8);
INSERT INTO cases (keys, condition, rate) VALUES
    ('SELECT i FROM generate_series(1, 15000) i', 'F @> id', 0.01),
    ('SELECT i FROM generate_series(1, 15000) i', 'NOT F @> id', 0.01),
    ('SELECT 7 * i FROM generate_series(1, 4000) i', 'id <@ F', 0.01),
    ('SELECT i FROM generate_series(1, 300) i', 'F @> id', 0.01),
    ('SELECT i FROM generate_series(1, 300) i', 'bloomery_contains(F, id)', 0.01),
    ('SELECT -i FROM generate_series(1, 30000) i', 'F @> id', 0.01),
    ('SELECT -i FROM generate_series(1, 30000) i', 'F @> id', 0.2),
    ('SELECT i FROM generate_series(1, 500) i', 'F @> shop', 0.01),
    ('SELECT i FROM generate_series(1, 20) i', 'F @> shop', 0.001),
    ('SELECT ''user '' || i FROM generate_series(1, 10) i', 'F @> who', 0.01),
    ('SELECT date ''2020-01-01'' + i FROM generate_series(1, 365) i', 'F @> day', 0.01),
    ('SELECT i FROM generate_series(1, 15000) i', 'F @> (id + 0)', 0.01);
CREATE FUNCTION in_query(keys text, condition text, rate float8, kind text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE f bloomery;
BEGIN
    EXECUTE format('SELECT bloomery_build(k, %L, %s) FROM (%s) q (k)', kind, rate, keys)
        INTO f;
    RETURN format('SELECT FROM events WHERE %s',
                  replace(condition, 'F', format('%L::bloomery', f)));
END $$;
CREATE STATISTICS events_sum ON (id + 0) FROM events;
ANALYZE events;
SELECT keys, condition, within_3(in_query(keys, condition, rate, 'standard'))
FROM cases ORDER BY n;
SELECT kind, within_3(in_query('SELECT i FROM generate_series(1, 15000) i',
                               'F @> id', 0.01, kind))
FROM unnest('{blocked,fuse,compressed,cuckoo,scalable}'::text[]) kind;

-- A parameter is known when the query is planned, and so is a variable.
PREPARE found(bloomery) AS SELECT FROM events WHERE $1 @> id;
CREATE FUNCTION prepared() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    f bloomery := (SELECT bloomery_build(i) FROM generate_series(1, 12000) i);
    guess float8 := estimated(format('EXECUTE found(%L)', f));
BEGIN
    RETURN CASE WHEN guess BETWEEN 6000 AND 24000 THEN 'within 2' ELSE guess::text END;
END $$;
SELECT prepared();

-- Without statistics, with a filter that is not known, and of other classes.
CREATE TABLE unknown AS SELECT i AS id FROM generate_series(1, 1000) i;
ALTER TABLE unknown SET (autovacuum_enabled = off);
SELECT estimated('SELECT FROM events WHERE (SELECT bloomery_build(id) FROM events) @> id');
SELECT estimated('SELECT FROM events, (SELECT bloomery_build(id) AS f FROM events) q WHERE f @> id');
SELECT estimated(format('SELECT FROM events WHERE %L::bloomery @> id',
    (SELECT bloomery_build('a'::text)))) < 2000 AS other_class;
SELECT estimated('SELECT FROM events WHERE NULL::bloomery @> id') AS of_null;
SELECT estimated(format('SELECT FROM events WHERE %L::bloomery @> id',
    bloomery_new('blocked', 1000))) AS of_empty;

-- Only the header of a large filter is read: its rate, and its number of keys. The
-- result of a stable function is known when the query is planned.
CREATE TABLE larger AS SELECT f FROM bloomery_new('blocked', 9000000) f;
CREATE FUNCTION large() RETURNS bloomery STABLE LANGUAGE plpgsql AS
    'BEGIN RETURN f FROM larger; END';
SELECT length(large()::bytea) > 9000000 AS large,
       estimated('SELECT FROM events WHERE large() @> id') BETWEEN 200 AND 400 AS rate;
UPDATE larger SET f = (SELECT bloomery_build(i, 'blocked', 0.01, 9000000)
                      FROM generate_series(1, 3000) i);
SELECT estimated('SELECT FROM events WHERE large() @> id') BETWEEN 3200 AND 3400
    AS rate_and_keys;

-- A user who may not see all rows cannot find out by estimates which there are.
CREATE ROLE regress_bloomery_reader;
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
CREATE POLICY positive ON events USING (id > 0);
GRANT SELECT ON events TO regress_bloomery_reader;
SELECT bloomery_build(i) AS members, bloomery_build(-i) AS others
    FROM generate_series(1, 15000) i \gset
CREATE FUNCTION quotient(a bloomery, b bloomery) RETURNS numeric LANGUAGE sql AS $$
    SELECT round((estimated(format('SELECT FROM events WHERE %L::bloomery @> id', a))
         / estimated(format('SELECT FROM events WHERE %L::bloomery @> id', b)))::numeric) $$;
\set ECHO none
SELECT quotient(:'members', :'others') AS owner;
SET ROLE regress_bloomery_reader;
SELECT quotient(:'members', :'others') AS reader;
RESET ROLE;
\set ECHO all

-- An operator of another type may name the estimator, which then knows nothing.
CREATE FUNCTION stranger(bigint, int) RETURNS bool LANGUAGE plpgsql
    AS 'BEGIN RETURN $1 > $2; END';
CREATE OPERATOR @@#@ (LEFTARG = bigint, RIGHTARG = int, FUNCTION = stranger,
    RESTRICT = bloomery_internal.contains_sel);
CREATE TABLE strange AS SELECT 1 AS i;
EXPLAIN (COSTS OFF) SELECT * FROM strange WHERE 1234567::bigint @@#@ i;

SET client_min_messages = warning;
DROP OPERATOR IF EXISTS @@#@ (bigint, int);
DROP FUNCTION stranger;
DROP EXTENSION bloomery CASCADE;
DROP TABLE events, strange;
DROP ROLE regress_bloomery_reader;
