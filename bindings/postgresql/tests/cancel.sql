-- cancel.sql - a query is cancelled while a function of the extension runs.
--
-- The query cancels its own session just before the call. The server looks for
-- that between rows, not within an expression, so only the library's callback
-- can end the call. If it did not, nextval would mark that the end was reached:
-- sequences are not rolled back.
\set VERBOSITY sqlstate
CREATE SEQUENCE reached;
SET max_parallel_workers_per_gather = 0;

-- Functions: :given is the argument, after which the session is cancelled.
\set given '(CASE WHEN pg_cancel_backend(pg_backend_pid()) THEN f END)'
\set end 'IS NOT NULL THEN nextval(''reached'') END FROM (SELECT'
\set large 'bloomery_new(''blocked'', 2000000) f OFFSET 0) t'
\set counting 'bloomery_new(''counting'', 500000) f OFFSET 0) t'
\set packed 'bloomery_new(''compressed'', 2000000, 1e-3) f OFFSET 0) t'

SELECT CASE WHEN bloomery_info(:given) :end :large;
SELECT CASE WHEN bloomery_overlap(:given, f) :end :large;
SELECT CASE WHEN :given | f :end bloomery_new('blocked', 40000000) f OFFSET 0) t;
SELECT CASE WHEN :given | f :end :large;
SELECT CASE WHEN :given & f :end :large;
SELECT CASE WHEN :given::bytea::bloomery :end :large;
SELECT CASE WHEN bloomery_add(:given, 5) :end :large;
SELECT CASE WHEN bloomery_state_keys(:given, 'text') :end :large;
SELECT CASE WHEN bloomery_remove(:given, 5) :end bloomery_add(f, 5) f
    FROM (SELECT :counting OFFSET 0) s;
SELECT CASE WHEN bloomery_contains(:given, 5) :end :packed;
SELECT CASE WHEN bloomery_new('blocked', CASE WHEN
    pg_cancel_backend(pg_backend_pid()) THEN 2000000 END) :end 1 OFFSET 0) t;

-- Aggregates: their final functions are called in turn, without a row between.
CREATE AGGREGATE cancelling(int)
    (SFUNC = int4larger, STYPE = int, FINALFUNC = pg_cancel_backend);
CREATE FUNCTION any_of(regclass, regclass) RETURNS regclass
    LANGUAGE SQL STRICT IMMUTABLE AS 'SELECT $1';
CREATE AGGREGATE reaching(regclass)
    (SFUNC = any_of, STYPE = regclass, FINALFUNC = nextval);
\set first 'SELECT cancelling(pg_backend_pid()),'
\set last 'reaching(''reached'') FROM generate_series(1, 40000) i'
\set two 'reaching(''reached'') FROM (SELECT'

:first bloomery_build(i), :last;
:first bloomery_build(i, 'blocked'), :last;
:first bloomery_build(i, 'fuse'), :last;
:first bloomery_build(i, 'ribbon'), :last;
:first bloomery_build(i, 'gcs'), :last;
:first bloomery_build(i, 'cuckoo'), :last;
:first bloomery_build(i, 'quotient'), :last;
:first bloomery_build(i, 'invertible:key=9'), :last;
:first bloomery_build_labels(i, i % 7), :last;
:first bloomery_build_labels(i, (i < 9)::int, 'cascade'), :last;
:first bloomery_unite(f), :two :large;
:first bloomery_intersect(f), :two :large;

-- Nothing was reached, and the next query is answered.
SELECT is_called, bloomery_build(i) @> 5 FROM reached, generate_series(1, 9) i
    GROUP BY 1;
