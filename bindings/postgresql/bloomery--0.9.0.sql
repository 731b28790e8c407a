\echo Use "CREATE EXTENSION bloomery" to load this file. \quit

-- The schema for functions that no user calls: those of types, casts, operators
-- and aggregates. It exists only while the extension does.

CREATE SCHEMA bloomery_internal;
COMMENT ON SCHEMA bloomery_internal IS
    'functions that the types, operators and aggregates of bloomery consist of';

-- The type: an image, as in the files of `bloomery build`.

CREATE TYPE bloomery;

CREATE FUNCTION bloomery_internal.filter_in(cstring) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_in' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.filter_in(cstring) IS
    'reads a filter from hexadecimal digits, and checks it';
CREATE FUNCTION bloomery_internal.filter_out(bloomery) RETURNS cstring
    AS 'MODULE_PATHNAME', 'bloomery_out' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.filter_out(bloomery) IS
    'writes a filter as hexadecimal digits';
CREATE FUNCTION bloomery_internal.filter_recv(internal) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_recv' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.filter_recv(internal) IS
    'reads a filter from its bytes, and checks it';
CREATE FUNCTION bloomery_internal.filter_send(bloomery) RETURNS bytea
    AS 'MODULE_PATHNAME', 'bloomery_send' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.filter_send(bloomery) IS
    'sends a filter as its bytes';

CREATE TYPE bloomery (
    INPUT = bloomery_internal.filter_in, OUTPUT = bloomery_internal.filter_out,
    RECEIVE = bloomery_internal.filter_recv,
    SEND = bloomery_internal.filter_send,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = extended
);
COMMENT ON TYPE bloomery IS 'a filter: which keys are certainly not there';

CREATE FUNCTION bloomery(bytea) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_from_bytea' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery(bytea) IS
    'a filter from the bytes of a file, which are checked';
CREATE CAST (bytea AS bloomery) WITH FUNCTION bloomery(bytea);
COMMENT ON CAST (bytea AS bloomery) IS
    'a filter from the bytes of a file, which are checked';
CREATE CAST (bloomery AS bytea) WITHOUT FUNCTION;
COMMENT ON CAST (bloomery AS bytea) IS
    'the bytes of a file of `bloomery build`';

-- Equality and order are those of the bytes. The order has no meaning of its
-- own: with it, filters can be sorted, grouped and merged.

CREATE FUNCTION bloomery_internal.eq(bloomery, bloomery) RETURNS boolean
    AS 'byteaeq' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.eq(bloomery, bloomery) IS
    'implements the operator = of filters';
CREATE FUNCTION bloomery_internal.ne(bloomery, bloomery) RETURNS boolean
    AS 'byteane' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.ne(bloomery, bloomery) IS
    'implements the operator <> of filters';
CREATE FUNCTION bloomery_internal.lt(bloomery, bloomery) RETURNS boolean
    AS 'bytealt' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.lt(bloomery, bloomery) IS
    'implements the operator < of filters';
CREATE FUNCTION bloomery_internal.le(bloomery, bloomery) RETURNS boolean
    AS 'byteale' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.le(bloomery, bloomery) IS
    'implements the operator <= of filters';
CREATE FUNCTION bloomery_internal.gt(bloomery, bloomery) RETURNS boolean
    AS 'byteagt' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gt(bloomery, bloomery) IS
    'implements the operator > of filters';
CREATE FUNCTION bloomery_internal.ge(bloomery, bloomery) RETURNS boolean
    AS 'byteage' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.ge(bloomery, bloomery) IS
    'implements the operator >= of filters';
CREATE FUNCTION bloomery_internal.cmp(bloomery, bloomery) RETURNS integer
    AS 'byteacmp' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.cmp(bloomery, bloomery) IS
    'compares the bytes of two filters';
CREATE FUNCTION bloomery_internal.hash(bloomery) RETURNS integer
    AS 'hashvarlena' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.hash(bloomery) IS
    'hashes the bytes of a filter';
CREATE FUNCTION bloomery_internal.hash_extended(bloomery, bigint) RETURNS bigint
    AS 'hashvarlenaextended' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.hash_extended(bloomery, bigint) IS
    'hashes the bytes of a filter, with a seed';

CREATE OPERATOR = (LEFTARG = bloomery, RIGHTARG = bloomery,
    FUNCTION = bloomery_internal.eq, COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
COMMENT ON OPERATOR = (bloomery, bloomery) IS
    'the bytes of two filters are equal';
CREATE OPERATOR <> (LEFTARG = bloomery, RIGHTARG = bloomery,
    FUNCTION = bloomery_internal.ne, COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel);
COMMENT ON OPERATOR <> (bloomery, bloomery) IS
    'the bytes of two filters differ';
CREATE OPERATOR < (LEFTARG = bloomery, RIGHTARG = bloomery,
    FUNCTION = bloomery_internal.lt, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
COMMENT ON OPERATOR < (bloomery, bloomery) IS
    'comes before, in the order of bytes';
CREATE OPERATOR <= (LEFTARG = bloomery, RIGHTARG = bloomery,
    FUNCTION = bloomery_internal.le, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
COMMENT ON OPERATOR <= (bloomery, bloomery) IS
    'comes before or is equal, in the order of bytes';
CREATE OPERATOR > (LEFTARG = bloomery, RIGHTARG = bloomery,
    FUNCTION = bloomery_internal.gt, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
COMMENT ON OPERATOR > (bloomery, bloomery) IS
    'comes after, in the order of bytes';
CREATE OPERATOR >= (LEFTARG = bloomery, RIGHTARG = bloomery,
    FUNCTION = bloomery_internal.ge, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR >= (bloomery, bloomery) IS
    'comes after or is equal, in the order of bytes';

CREATE OPERATOR CLASS bloomery_ops DEFAULT FOR TYPE bloomery USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 bloomery_internal.cmp(bloomery, bloomery);
COMMENT ON OPERATOR CLASS bloomery_ops USING btree IS 'the order of bytes';
COMMENT ON OPERATOR FAMILY bloomery_ops USING btree IS 'the order of bytes';
CREATE OPERATOR CLASS bloomery_ops DEFAULT FOR TYPE bloomery USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 bloomery_internal.hash(bloomery),
    FUNCTION 2 bloomery_internal.hash_extended(bloomery, bigint);
COMMENT ON OPERATOR CLASS bloomery_ops USING hash IS 'equality of bytes';
COMMENT ON OPERATOR FAMILY bloomery_ops USING hash IS 'equality of bytes';

-- Whole filters.

CREATE FUNCTION bloomery_new(kind text, items bigint,
        rate double precision DEFAULT 0.01, keys text DEFAULT '')
    RETURNS bloomery
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_new(text, bigint, double precision, text) IS
    'an empty filter, planned for this many keys and this rate';
CREATE FUNCTION bloomery_state_keys(bloomery, keys text) RETURNS bloomery
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_state_keys(bloomery, text) IS
    'the filter, with this form of keys';
CREATE FUNCTION bloomery_info(bloomery) RETURNS json
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_info(bloomery) IS
    'describes a filter: kind, size, keys, fill and rate';
CREATE FUNCTION bloomery_plan(kind text, items bigint,
        rate double precision DEFAULT 0.01) RETURNS json
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_plan(text, bigint, double precision) IS
    'the size and rate that a filter of this many keys would have';
CREATE FUNCTION bloomery_kinds(OUT kind text, OUT family text, OUT summary text,
                               OUT can text[], OUT tier text)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 30;
COMMENT ON FUNCTION bloomery_kinds() IS
    'the kinds of filters, and their abilities';
CREATE FUNCTION bloomery_version() RETURNS text
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_version() IS 'the version of the library';

-- Two filters of one plan.

CREATE FUNCTION bloomery_internal.unite(bloomery, bloomery) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_unite' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.unite(bloomery, bloomery) IS
    'implements the operator | of filters';
CREATE FUNCTION bloomery_internal.intersect(bloomery, bloomery) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_intersect' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.intersect(bloomery, bloomery) IS
    'implements the operator & of filters';
CREATE OPERATOR | (LEFTARG = bloomery, RIGHTARG = bloomery,
    FUNCTION = bloomery_internal.unite);
COMMENT ON OPERATOR | (bloomery, bloomery) IS
    'the keys of both filters, which have one plan';
CREATE OPERATOR & (LEFTARG = bloomery, RIGHTARG = bloomery,
    FUNCTION = bloomery_internal.intersect);
COMMENT ON OPERATOR & (bloomery, bloomery) IS
    'the keys that are in both filters, which have one plan';
CREATE FUNCTION bloomery_overlap(bloomery, bloomery) RETURNS json
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_overlap(bloomery, bloomery) IS
    'estimates how many keys two filters have in common';

-- Keys that filters list: side is 1, or -1 for keys that only the second filter
-- has.

CREATE FUNCTION bloomery_list_keys(bloomery, OUT key bytea, OUT hash bigint,
                                   OUT side int)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_list_keys(bloomery) IS
    'the keys of a filter that can list them';
CREATE FUNCTION bloomery_diff(bloomery, bloomery, OUT key bytea,
                              OUT hash bigint, OUT side int)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_diff(bloomery, bloomery) IS
    'the keys that only one of two filters has';

-- Many filters of one plan.

CREATE FUNCTION bloomery_internal.unite_next(internal, bloomery)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_unite_next' LANGUAGE C
    IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.unite_next(internal, bloomery) IS
    'adds a filter to bloomery_unite';
CREATE FUNCTION bloomery_internal.intersect_next(internal, bloomery)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_intersect_next' LANGUAGE C
    IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.intersect_next(internal, bloomery) IS
    'adds a filter to bloomery_intersect';
CREATE FUNCTION bloomery_internal.many_value(internal) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_many_value' LANGUAGE C
    IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.many_value(internal) IS
    'ends bloomery_unite and bloomery_intersect';
CREATE FUNCTION bloomery_internal.many_send(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'bloomery_many_value' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.many_send(internal) IS
    'sends the state of a parallel worker';
CREATE FUNCTION bloomery_internal.many_receive(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_many_receive' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.many_receive(bytea, internal) IS
    'receives the state of a parallel worker';
CREATE FUNCTION bloomery_internal.unite_combine(internal, internal)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_unite_combine' LANGUAGE C
    IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.unite_combine(internal, internal) IS
    'joins two states of bloomery_unite';
CREATE FUNCTION bloomery_internal.intersect_combine(internal, internal)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_intersect_combine' LANGUAGE C
    IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.intersect_combine(internal, internal) IS
    'joins two states of bloomery_intersect';

CREATE AGGREGATE bloomery_unite(bloomery) (
    SFUNC = bloomery_internal.unite_next, STYPE = internal,
    FINALFUNC = bloomery_internal.many_value,
    COMBINEFUNC = bloomery_internal.unite_combine,
    SERIALFUNC = bloomery_internal.many_send,
    DESERIALFUNC = bloomery_internal.many_receive, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloomery_unite(bloomery) IS
    'the union of all filters, which have one plan';
CREATE AGGREGATE bloomery_intersect(bloomery) (
    SFUNC = bloomery_internal.intersect_next, STYPE = internal,
    FINALFUNC = bloomery_internal.many_value,
    COMBINEFUNC = bloomery_internal.intersect_combine,
    SERIALFUNC = bloomery_internal.many_send,
    DESERIALFUNC = bloomery_internal.many_receive, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloomery_intersect(bloomery) IS
    'the intersection of all filters, which have one plan';

-- A key whose type is not stated, as in f @> '7' and f @> $1: the form of the
-- filter says how the text is read. PostgreSQL chooses this type by itself,
-- because no other one here is of the category of strings. Columns of type text
-- go to the functions of anyelement.

CREATE TYPE bloomery_key;

CREATE FUNCTION bloomery_internal.key_in(cstring) RETURNS bloomery_key
    AS 'textin' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.key_in(cstring) IS
    'reads a key whose type is not stated';
CREATE FUNCTION bloomery_internal.key_out(bloomery_key) RETURNS cstring
    AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.key_out(bloomery_key) IS
    'writes a key whose type is not stated';
CREATE FUNCTION bloomery_internal.key_recv(internal) RETURNS bloomery_key
    AS 'textrecv' LANGUAGE internal STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.key_recv(internal) IS
    'receives a key whose type is not stated';
CREATE FUNCTION bloomery_internal.key_send(bloomery_key) RETURNS bytea
    AS 'textsend' LANGUAGE internal STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.key_send(bloomery_key) IS
    'sends a key whose type is not stated';

CREATE TYPE bloomery_key (
    INPUT = bloomery_internal.key_in, OUTPUT = bloomery_internal.key_out,
    RECEIVE = bloomery_internal.key_recv, SEND = bloomery_internal.key_send,
    LIKE = text, CATEGORY = 'S'
);
COMMENT ON TYPE bloomery_key IS
    'a key whose type is not stated: the filter says how it is read';

-- The planner's estimates of how many rows have a key that is in a filter.

CREATE FUNCTION bloomery_internal.contains_sel(internal, oid, internal, integer)
    RETURNS double precision
    AS 'MODULE_PATHNAME', 'bloomery_contains_sel' LANGUAGE C
    STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.contains_sel(internal, oid, internal,
    integer) IS
    'estimates the selectivity of filter @> key';
CREATE FUNCTION bloomery_internal.contained_sel(internal, oid, internal,
        integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'bloomery_contained_sel' LANGUAGE C
    STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.contained_sel(internal, oid, internal,
    integer) IS
    'estimates the selectivity of key <@ filter';
CREATE FUNCTION bloomery_internal.contains_joinsel(internal, oid, internal,
        smallint, internal) RETURNS double precision
    AS 'MODULE_PATHNAME', 'bloomery_contains_joinsel' LANGUAGE C
    STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.contains_joinsel(internal, oid, internal,
    smallint, internal) IS
    'estimates the selectivity of a join by @> or <@';
CREATE FUNCTION bloomery_internal.contains_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_contains_support' LANGUAGE C
    STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.contains_support(internal) IS
    'estimates the selectivity of bloomery_contains';

-- One key of one filter.

CREATE FUNCTION bloomery_contains(bloomery, anyelement) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE
    COST 10 SUPPORT bloomery_internal.contains_support;
COMMENT ON FUNCTION bloomery_contains(bloomery, anyelement) IS
    'false: the key is certainly not in the filter; true: perhaps';
CREATE FUNCTION bloomery_contains(bloomery, bloomery_key) RETURNS boolean
    AS 'MODULE_PATHNAME', 'bloomery_contains_written' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE
    COST 10 SUPPORT bloomery_internal.contains_support;
COMMENT ON FUNCTION bloomery_contains(bloomery, bloomery_key) IS
    'false: the key is certainly not in the filter; true: perhaps';
CREATE FUNCTION bloomery_internal.contained(anyelement, bloomery)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'bloomery_contained' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bloomery_internal.contained(anyelement, bloomery) IS
    'implements the operator <@ of filters';
CREATE FUNCTION bloomery_internal.contained(bloomery_key, bloomery)
    RETURNS boolean
    AS 'MODULE_PATHNAME', 'bloomery_contained_written' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bloomery_internal.contained(bloomery_key, bloomery) IS
    'implements the operator <@ of filters';
CREATE OPERATOR @> (LEFTARG = bloomery, RIGHTARG = anyelement,
    FUNCTION = bloomery_contains, COMMUTATOR = <@,
    RESTRICT = bloomery_internal.contains_sel,
    JOIN = bloomery_internal.contains_joinsel);
COMMENT ON OPERATOR @> (bloomery, anyelement) IS
    'false: the key is certainly not in the filter; true: perhaps';
CREATE OPERATOR <@ (LEFTARG = anyelement, RIGHTARG = bloomery,
    FUNCTION = bloomery_internal.contained, COMMUTATOR = @>,
    RESTRICT = bloomery_internal.contained_sel,
    JOIN = bloomery_internal.contains_joinsel);
COMMENT ON OPERATOR <@ (anyelement, bloomery) IS
    'false: the key is certainly not in the filter; true: perhaps';
CREATE OPERATOR @> (LEFTARG = bloomery, RIGHTARG = bloomery_key,
    FUNCTION = bloomery_contains, COMMUTATOR = <@,
    RESTRICT = bloomery_internal.contains_sel,
    JOIN = bloomery_internal.contains_joinsel);
COMMENT ON OPERATOR @> (bloomery, bloomery_key) IS
    'false: the key is certainly not in the filter; true: perhaps';
CREATE OPERATOR <@ (LEFTARG = bloomery_key, RIGHTARG = bloomery,
    FUNCTION = bloomery_internal.contained, COMMUTATOR = @>,
    RESTRICT = bloomery_internal.contained_sel,
    JOIN = bloomery_internal.contains_joinsel);
COMMENT ON OPERATOR <@ (bloomery_key, bloomery) IS
    'false: the key is certainly not in the filter; true: perhaps';
CREATE FUNCTION bloomery_count(bloomery, anyelement) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_count(bloomery, anyelement) IS
    'an upper bound of how often the key was added';
CREATE FUNCTION bloomery_count(bloomery, bloomery_key) RETURNS bigint
    AS 'MODULE_PATHNAME', 'bloomery_count_written' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_count(bloomery, bloomery_key) IS
    'an upper bound of how often the key was added';
CREATE FUNCTION bloomery_get(bloomery, anyelement) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_get(bloomery, anyelement) IS
    'the label of the key; null if it has none';
CREATE FUNCTION bloomery_get(bloomery, bloomery_key) RETURNS bigint
    AS 'MODULE_PATHNAME', 'bloomery_get_written' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_get(bloomery, bloomery_key) IS
    'the label of the key; null if it has none';
CREATE FUNCTION bloomery_add(bloomery, anyelement) RETURNS bloomery
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_add(bloomery, anyelement) IS
    'the filter with this key';
CREATE FUNCTION bloomery_add(bloomery, bloomery_key) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_add_written' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_add(bloomery, bloomery_key) IS
    'the filter with this key';
CREATE FUNCTION bloomery_remove(bloomery, anyelement) RETURNS bloomery
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_remove(bloomery, anyelement) IS
    'the filter without this key';
CREATE FUNCTION bloomery_remove(bloomery, bloomery_key) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_remove_written' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_remove(bloomery, bloomery_key) IS
    'the filter without this key';
CREATE FUNCTION bloomery_put(bloomery, anyelement, label bigint)
    RETURNS bloomery
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_put(bloomery, anyelement, bigint) IS
    'the filter with this label for the key';
CREATE FUNCTION bloomery_put(bloomery, bloomery_key, label bigint)
    RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_put_written' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_put(bloomery, bloomery_key, bigint) IS
    'the filter with this label for the key';

-- The aggregates of keys.

CREATE FUNCTION bloomery_internal.build(internal) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_build' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.build(internal) IS
    'ends bloomery_build and bloomery_build_labels';
CREATE FUNCTION bloomery_internal.gather_combine(internal, internal)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_gather_combine' LANGUAGE C
    IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gather_combine(internal, internal) IS
    'joins two states of bloomery_build';
CREATE FUNCTION bloomery_internal.gather_send(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'bloomery_gather_send' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gather_send(internal) IS
    'sends the state of a parallel worker';
CREATE FUNCTION bloomery_internal.gather_receive(bytea, internal)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_gather_receive' LANGUAGE C
    IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gather_receive(bytea, internal) IS
    'receives the state of a parallel worker';

CREATE FUNCTION bloomery_internal.gather(internal, anyelement) RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_gather' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gather(internal, anyelement) IS
    'adds a key to bloomery_build';
CREATE AGGREGATE bloomery_build(key anyelement) (
    SFUNC = bloomery_internal.gather, STYPE = internal,
    FINALFUNC = bloomery_internal.build,
    COMBINEFUNC = bloomery_internal.gather_combine,
    SERIALFUNC = bloomery_internal.gather_send,
    DESERIALFUNC = bloomery_internal.gather_receive, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloomery_build(anyelement) IS 'a filter of all keys';

CREATE FUNCTION bloomery_internal.gather(internal, anyelement, text)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_gather' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gather(internal, anyelement, text) IS
    'adds a key to bloomery_build';
CREATE AGGREGATE bloomery_build(key anyelement, kind text) (
    SFUNC = bloomery_internal.gather, STYPE = internal,
    FINALFUNC = bloomery_internal.build,
    COMBINEFUNC = bloomery_internal.gather_combine,
    SERIALFUNC = bloomery_internal.gather_send,
    DESERIALFUNC = bloomery_internal.gather_receive, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloomery_build(anyelement, text) IS 'a filter of all keys';

CREATE FUNCTION bloomery_internal.gather(internal, anyelement, text,
        double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_gather' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gather(internal, anyelement, text,
    double precision) IS
    'adds a key to bloomery_build';
CREATE AGGREGATE bloomery_build(key anyelement, kind text,
        rate double precision) (
    SFUNC = bloomery_internal.gather, STYPE = internal,
    FINALFUNC = bloomery_internal.build,
    COMBINEFUNC = bloomery_internal.gather_combine,
    SERIALFUNC = bloomery_internal.gather_send,
    DESERIALFUNC = bloomery_internal.gather_receive, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloomery_build(anyelement, text, double precision) IS
    'a filter of all keys';

CREATE FUNCTION bloomery_internal.gather(internal, anyelement, text,
        double precision, bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_gather' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gather(internal, anyelement, text,
    double precision, bigint) IS
    'adds a key to bloomery_build';
CREATE AGGREGATE bloomery_build(key anyelement, kind text,
        rate double precision, items bigint) (
    SFUNC = bloomery_internal.gather, STYPE = internal,
    FINALFUNC = bloomery_internal.build,
    COMBINEFUNC = bloomery_internal.gather_combine,
    SERIALFUNC = bloomery_internal.gather_send,
    DESERIALFUNC = bloomery_internal.gather_receive, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloomery_build(anyelement, text, double precision,
    bigint) IS
    'a filter of all keys';

CREATE FUNCTION bloomery_internal.gather(internal, anyelement, text,
        double precision, bigint, text) RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_gather' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gather(internal, anyelement, text,
    double precision, bigint, text) IS
    'adds a key to bloomery_build';
CREATE AGGREGATE bloomery_build(key anyelement, kind text,
        rate double precision, items bigint, keys text) (
    SFUNC = bloomery_internal.gather, STYPE = internal,
    FINALFUNC = bloomery_internal.build,
    COMBINEFUNC = bloomery_internal.gather_combine,
    SERIALFUNC = bloomery_internal.gather_send,
    DESERIALFUNC = bloomery_internal.gather_receive, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloomery_build(anyelement, text, double precision, bigint,
    text) IS
    'a filter of all keys';

CREATE FUNCTION bloomery_internal.gather_labels(internal, anyelement, bigint)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_gather_labels' LANGUAGE C
    IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gather_labels(internal, anyelement,
    bigint) IS
    'adds a key and its label to bloomery_build_labels';
CREATE AGGREGATE bloomery_build_labels(key anyelement, label bigint) (
    SFUNC = bloomery_internal.gather_labels, STYPE = internal,
    FINALFUNC = bloomery_internal.build,
    COMBINEFUNC = bloomery_internal.gather_combine,
    SERIALFUNC = bloomery_internal.gather_send,
    DESERIALFUNC = bloomery_internal.gather_receive, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloomery_build_labels(anyelement, bigint) IS
    'a filter that has a label for each key';

CREATE FUNCTION bloomery_internal.gather_labels(internal, anyelement, bigint,
        text) RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_gather_labels' LANGUAGE C
    IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gather_labels(internal, anyelement,
    bigint, text) IS
    'adds a key and its label to bloomery_build_labels';
CREATE AGGREGATE bloomery_build_labels(key anyelement, label bigint,
        kind text) (
    SFUNC = bloomery_internal.gather_labels, STYPE = internal,
    FINALFUNC = bloomery_internal.build,
    COMBINEFUNC = bloomery_internal.gather_combine,
    SERIALFUNC = bloomery_internal.gather_send,
    DESERIALFUNC = bloomery_internal.gather_receive, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloomery_build_labels(anyelement, bigint, text) IS
    'a filter that has a label for each key';

CREATE FUNCTION bloomery_internal.gather_labels(internal, anyelement, bigint,
        text, double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_gather_labels' LANGUAGE C
    IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gather_labels(internal, anyelement,
    bigint, text, double precision) IS
    'adds a key and its label to bloomery_build_labels';
CREATE AGGREGATE bloomery_build_labels(key anyelement, label bigint,
        kind text, rate double precision) (
    SFUNC = bloomery_internal.gather_labels, STYPE = internal,
    FINALFUNC = bloomery_internal.build,
    COMBINEFUNC = bloomery_internal.gather_combine,
    SERIALFUNC = bloomery_internal.gather_send,
    DESERIALFUNC = bloomery_internal.gather_receive, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloomery_build_labels(anyelement, bigint, text,
    double precision) IS
    'a filter that has a label for each key';

CREATE FUNCTION bloomery_internal.gather_labels(internal, anyelement, bigint,
        text, double precision, bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_gather_labels' LANGUAGE C
    IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gather_labels(internal, anyelement,
    bigint, text, double precision, bigint) IS
    'adds a key and its label to bloomery_build_labels';
CREATE AGGREGATE bloomery_build_labels(key anyelement, label bigint,
        kind text, rate double precision, items bigint) (
    SFUNC = bloomery_internal.gather_labels, STYPE = internal,
    FINALFUNC = bloomery_internal.build,
    COMBINEFUNC = bloomery_internal.gather_combine,
    SERIALFUNC = bloomery_internal.gather_send,
    DESERIALFUNC = bloomery_internal.gather_receive, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloomery_build_labels(anyelement, bigint, text,
    double precision, bigint) IS
    'a filter that has a label for each key';

CREATE FUNCTION bloomery_internal.gather_labels(internal, anyelement, bigint,
        text, double precision, bigint, text) RETURNS internal
    AS 'MODULE_PATHNAME', 'bloomery_gather_labels' LANGUAGE C
    IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomery_internal.gather_labels(internal, anyelement,
    bigint, text, double precision, bigint, text) IS
    'adds a key and its label to bloomery_build_labels';
CREATE AGGREGATE bloomery_build_labels(key anyelement, label bigint,
        kind text, rate double precision, items bigint, keys text) (
    SFUNC = bloomery_internal.gather_labels, STYPE = internal,
    FINALFUNC = bloomery_internal.build,
    COMBINEFUNC = bloomery_internal.gather_combine,
    SERIALFUNC = bloomery_internal.gather_send,
    DESERIALFUNC = bloomery_internal.gather_receive, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloomery_build_labels(anyelement, bigint, text,
    double precision, bigint, text) IS
    'a filter that has a label for each key';
