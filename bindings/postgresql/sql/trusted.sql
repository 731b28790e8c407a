-- A role that is no superuser, but may create things in the database, installs
-- the extension and uses all of it.
CREATE ROLE regress_bloomery_owner;
CREATE ROLE regress_bloomery_user;
CREATE SCHEMA regress_shop AUTHORIZATION regress_bloomery_owner;
GRANT USAGE ON SCHEMA regress_shop TO regress_bloomery_user;
DO $$ BEGIN
    EXECUTE format('GRANT CREATE ON DATABASE %I TO regress_bloomery_owner',
                   current_database());
END $$;
SET ROLE regress_bloomery_user;
CREATE EXTENSION bloomery SCHEMA regress_shop;
SET ROLE regress_bloomery_owner;
SET search_path = regress_shop;
CREATE EXTENSION bloomery SCHEMA regress_shop;
SELECT extowner::regrole AS owner, extversion = bloomery_version() AS version_of_library
FROM pg_extension WHERE extname = 'bloomery';

-- Nothing that exists is replaced: neither a schema nor a function.
DROP EXTENSION bloomery;
CREATE SCHEMA bloomery_internal;
CREATE EXTENSION bloomery SCHEMA regress_shop;
DROP SCHEMA bloomery_internal;
CREATE FUNCTION bloomery_version() RETURNS text LANGUAGE sql AS $$SELECT 'mine'$$;
CREATE EXTENSION bloomery SCHEMA regress_shop;
SELECT bloomery_version();
DROP FUNCTION bloomery_version();
CREATE EXTENSION bloomery SCHEMA regress_shop;

-- A user sees nothing internal, and everything has a comment.
SELECT count(*) AS functions FROM pg_proc p
WHERE pronamespace = 'regress_shop'::regnamespace
    AND 'internal'::regtype IN (SELECT unnest(proargtypes) UNION ALL SELECT prorettype);
CREATE VIEW members AS
    SELECT classid, objid, pg_describe_object(classid, objid, 0) AS what
    FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomery');
SELECT count(*) > 100 AS members,
       string_agg(what, ', ') FILTER (WHERE obj_description(objid,
           (SELECT relname FROM pg_class WHERE oid = classid)) IS NULL) AS without_comment
FROM members;
SELECT nspname AS schema, count(*) > 25 AS some, bool_and(proname ~ '^bloomery') AS named
FROM members JOIN pg_proc p ON p.oid = objid AND classid = 'pg_proc'::regclass
    JOIN pg_namespace n ON n.oid = pronamespace GROUP BY nspname ORDER BY 1;

-- Types, operators, aggregates and casts work without any right on the schema of
-- internals, for the owner and for another user.
SELECT has_schema_privilege('bloomery_internal', 'USAGE') AS usage;
CREATE TABLE held AS SELECT bloomery_build(i) AS f FROM generate_series(1, 100) i;
GRANT SELECT ON held TO regress_bloomery_user;
SET ROLE regress_bloomery_user;
SELECT f @> 7 AS has, 7 <@ f AS within, f @> '7' AS written, (f | f) @> 7 AS united,
       f::bytea::bloomery = f AS cast, f::text::bloomery = f AS text
FROM held;
SELECT count(DISTINCT f) AS different, bloomery_unite(f) @> 7 AS has FROM held;
SELECT bloomery_internal.gather(NULL, 1);

-- Nor can the owner put the internals to other uses.
SET ROLE regress_bloomery_owner;
CREATE OPERATOR ### (LEFTARG = integer, RIGHTARG = integer, FUNCTION = int4eq,
    RESTRICT = bloomery_internal.contains_sel);
CREATE AGGREGATE gathered(integer) (SFUNC = bloomery_internal.gather, STYPE = internal,
    FINALFUNC = bloomery_internal.build);
CREATE FUNCTION unchecked(bytea) RETURNS bloomery LANGUAGE internal AS 'byteasend';
CREATE CAST (text AS bloomery) WITHOUT FUNCTION;
GRANT USAGE ON SCHEMA bloomery_internal TO regress_bloomery_user;
RESET ROLE;

-- Dropping the extension drops the schema of internals.
SET ROLE regress_bloomery_owner;
SET client_min_messages = warning;
DROP EXTENSION bloomery CASCADE;
SELECT count(*) AS schemas FROM pg_namespace WHERE nspname = 'bloomery_internal';
RESET ROLE;
RESET search_path;
DROP SCHEMA regress_shop CASCADE;
DO $$ BEGIN
    EXECUTE format('REVOKE CREATE ON DATABASE %I FROM regress_bloomery_owner',
                   current_database());
END $$;
DROP ROLE regress_bloomery_owner, regress_bloomery_user;
