-- Keys of the built-in types, by their rules. The keys of a table of columns of
-- these types are listed with the class that each filter states.
\pset format unaligned
CREATE EXTENSION bloomery;
SET timezone = 'America/St_Johns';
SET datestyle = 'German';
SET intervalstyle = 'iso_8601';
CREATE TYPE mood AS ENUM ('sad', 'größte Freude');
CREATE DOMAIN birthday AS date;

-- The key of a value as text or number, and the class.
CREATE FUNCTION key_of(type text, value text, OUT keys text, OUT key text)
LANGUAGE plpgsql AS $$
DECLARE
    f bloomery;
    bytes bytea;
BEGIN
    EXECUTE format('SELECT bloomery_build(%L::%s, %L, 0.01, 3)', value, type,
                   'invertible:key=48') INTO f;
    keys := bloomery_info(f) ->> 'keys';
    SELECT l.key INTO bytes FROM bloomery_list_keys(f) l;
    key := CASE WHEN keys = 'text' THEN convert_from(bytes, 'UTF8')
                ELSE bytes::text END;
END $$;
CREATE FUNCTION short_error(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE query;
    RETURN 'not refused';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE samples (n serial, type text, value text);
INSERT INTO samples (type, value) VALUES
    ('date', '2026-11-27'), ('date', '0044-03-15 BC'), ('date', 'infinity'),
    ('date', '12345-01-02'), ('birthday', '1990-01-01'),
    ('timestamp', '2026-11-27 08:00'), ('timestamp', '2026-11-27 08:00:00.5'),
    ('timestamp', '0001-01-01 00:00 BC'), ('timestamp', '-infinity'),
    ('timestamptz', '2026-11-27 08:00+01'),
    ('timestamptz', '2026-11-27 08:00:00.000001+01'),
    ('time', '08:00'), ('time', '24:00'), ('time', '08:00:00.25'),
    ('timetz', '08:00+01'), ('timetz', '08:00-03:30'),
    ('interval', '90 seconds'), ('interval', '1 month'), ('interval', '-1.5 seconds'),
    ('interval', '1 day -1 second'), ('boolean', 'true'), ('boolean', 'false'),
    ('mood', 'sad'), ('mood', 'größte Freude'),
    ('inet', '10.0.0.1'), ('inet', '10.0.0.1/24'), ('inet', '2001:DB8::1'),
    ('cidr', '10.0.0.0/8'), ('cidr', '10.0.0.1/32'),
    ('macaddr', '08-00-2B-01-02-03'), ('macaddr8', '08002b0102030405'),
    ('bit(4)', '0101'), ('varbit', '101'), ('bytea', '\x0102'),
    ('uuid', '550e8400-e29b-41d4-a716-446655440000'),
    ('char(3)', 'a'), ('name', 'a'), ('"char"', 'a'), ('varchar', 'a '),
    ('oid', '7'), ('regclass', 'pg_class'), ('numeric', '7.0'), ('real', '0.1'),
    ('smallint', '-1');
SELECT type, value, keys, key FROM samples, key_of(type, value) ORDER BY n;

-- Values that are equal in SQL have equal keys, and a filter finds them.
SELECT bloomery_build(i) @> '720:00:00'::interval AS hours,
       bloomery_build(i) @> '30 days'::interval AS days,
       bloomery_build(i) @> 2592000 AS seconds
FROM (VALUES ('1 month'::interval)) v (i);
SELECT bloomery_build(i) @> '285 years 0.1 seconds'::interval AS exact
FROM (VALUES ('285 years 0.1 seconds'::interval)) v (i);
SELECT bloomery_build(t) @> '2026-11-27 07:00+00'::timestamptz AS moment
FROM (VALUES ('2026-11-27 08:00+01'::timestamptz)) v (t);
SELECT bloomery_build(a) @> '10.0.0.1/32'::cidr AS cidr,
       bloomery_build(a) @> '10.0.0.1' AS written
FROM (VALUES ('10.0.0.1'::inet)) v (a);
SELECT bloomery_build(d) @> '2026-11-27' AS written, d <@ bloomery_build(d) AS typed
FROM (VALUES ('2026-11-27'::date)) v (d) GROUP BY d;

-- A text that may be a timestamp needs a type: each has another key.
SELECT short_error(format('SELECT bloomery_build(t) @> %s FROM (SELECT timestamp
    ''2026-11-27 08:00'' AS t) q', key)) AS said
FROM (VALUES ($$'2026-11-27 08:00:00'$$), ($$'2026-11-27T08:00:00.000Z'$$),
             ($$'2026-11-27 08:00:00'::text$$), ($$'2026-11-27T08:00:00'$$),
             ($$'2026-11-27T08:00:00.250000+00:00'$$), ($$'2026-11-27T08:00:00+01:00'$$),
             ($$'2026-11-27t08:00:00z'$$), ($$'2026-11-27T08:00:00.000000'$$),
             ($$'2026-11-27 8'$$), ($$'2026-11-27 later'$$)) k (key);

-- Every scalar type of PostgreSQL has a rule or is refused.
SELECT string_agg(typname, ' ' ORDER BY typname COLLATE "C")
           FILTER (WHERE said NOT LIKE '42804 a key cannot have the type %') AS keys,
       string_agg(typname, ' ' ORDER BY typname COLLATE "C")
           FILTER (WHERE said LIKE '42804 a key cannot have the type %') AS refused
FROM (SELECT typname, short_error(format(
          'SELECT bloomery_build(NULL::%s)', format_type(oid, NULL))) AS said
      FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace
          AND typtype = 'b' AND typcategory <> 'A' AND typname !~ '^pg_(dep|mcv|ndis|brin|node|snap)'
          AND typname NOT IN ('aclitem', 'txid_snapshot', 'regcollation')) q;
SELECT short_error('SELECT bloomery_build(point(1, 2))') AS said;
SET client_min_messages = warning;
DROP EXTENSION bloomery CASCADE;
