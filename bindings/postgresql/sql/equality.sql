-- Filters are equal if their bytes are: DISTINCT, GROUP BY, joins and indexes.
CREATE EXTENSION bloomery;
CREATE TABLE equals AS
    SELECT g, bloomery_build(g % 3 * 1000 + i) AS f
    FROM generate_series(1, 9) g, generate_series(1, 100) i GROUP BY g;
SELECT count(*) AS rows, count(DISTINCT f) AS filters FROM equals;
SELECT a.f = b.f AS equal, a.f <> b.f AS differs, a.f IS DISTINCT FROM b.f AS distinct
FROM equals a, equals b WHERE a.g = 1 AND b.g IN (4, 5) ORDER BY b.g;

-- By hashing and by sorting, in a plan of each.
CREATE FUNCTION plan_has(query text, node text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan::text LIKE '%' || node || '%';
END $$;
SET enable_sort = off;
SELECT plan_has('SELECT f, count(*) FROM equals GROUP BY f', '"Hashed"') AS hashed;
SELECT array_agg(n ORDER BY n) FROM (SELECT count(*) AS n FROM equals GROUP BY f) q;
RESET enable_sort;
SET enable_hashagg = off;
SELECT plan_has('SELECT f, count(*) FROM equals GROUP BY f', '"Sorted"') AS sorted;
SELECT array_agg(n ORDER BY n) FROM (SELECT count(*) AS n FROM equals GROUP BY f) q;
RESET enable_hashagg;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT plan_has('SELECT FROM equals a JOIN equals b USING (f)', 'Hash Join') AS hash_join;
SELECT count(*) FROM equals a JOIN equals b USING (f);
SET enable_hashjoin = off;
RESET enable_mergejoin;
SELECT plan_has('SELECT FROM equals a JOIN equals b USING (f)', 'Merge Join') AS merge_join;
SELECT count(*) FROM equals a JOIN equals b USING (f);
RESET enable_nestloop;
RESET enable_hashjoin;
CREATE UNIQUE INDEX ON equals (f) WHERE g <= 3;
CREATE INDEX ON equals USING hash (f);
SELECT count(*) FROM (SELECT f FROM equals UNION SELECT f FROM equals) q;
SELECT bool_and((a.f < b.f) = (a.f::bytea < b.f::bytea)
                AND (a.f <= b.f) = (a.f::bytea <= b.f::bytea)
                AND (a.f > b.f) = (a.f::bytea > b.f::bytea)
                AND (a.f >= b.f) = (a.f::bytea >= b.f::bytea)) AS order_of_bytes
FROM equals a, equals b;
INSERT INTO equals SELECT 0, f FROM equals WHERE g = 3 ON CONFLICT DO NOTHING;
SELECT count(*) AS rows FROM equals;
SELECT amname, opcname, amvalidate(c.oid) FROM pg_opclass c
    JOIN pg_am a ON a.oid = opcmethod WHERE opcname = 'bloomery_ops' ORDER BY 1;

-- A materialised view of filters, with FILTER, by workers.
CREATE TABLE visits AS
    SELECT i AS visitor, i % 7 AS day, i % 2 = 0 AS paid FROM generate_series(1, 40000) i;
ANALYZE visits;
CREATE MATERIALIZED VIEW days AS
    SELECT day, bloomery_build(visitor) AS all_visitors,
           bloomery_build(visitor) FILTER (WHERE paid) AS buyers,
           bloomery_build(visitor) FILTER (WHERE visitor < 0) AS none
    FROM visits GROUP BY day;
SELECT bool_and(all_visitors @> visitor) AS all,
       bool_and(buyers @> visitor) FILTER (WHERE paid) AS buyers,
       count(*) FILTER (WHERE buyers @> visitor AND NOT paid) < 1000 AS few_others,
       bool_and(none IS NULL) AS none
FROM visits JOIN days USING (day);
INSERT INTO visits VALUES (50001, 1, true);
SELECT buyers @> 50001 AS before FROM days WHERE day = 1;
CREATE UNIQUE INDEX ON days (day);
REFRESH MATERIALIZED VIEW CONCURRENTLY days;
SELECT buyers @> 50001 AS after FROM days WHERE day = 1;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan_has('SELECT bloomery_build(visitor) FILTER (WHERE paid) FROM visits',
                'Gather') AS parallel;
SELECT count(*) FILTER (WHERE f @> visitor AND paid) AS buyers,
       count(*) FILTER (WHERE f @> visitor AND NOT paid) < 1000 AS few_others
FROM visits, (SELECT bloomery_build(visitor) FILTER (WHERE paid) AS f FROM visits) q;
SET client_min_messages = warning;
DROP EXTENSION bloomery CASCADE;
