\echo Use "CREATE EXTENSION bloomery" to load this file. \quit

-- The type: an image, as in the files of `bloomery build`.

CREATE TYPE bloomery;

CREATE FUNCTION bloomery_in(cstring) RETURNS bloomery
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_out(bloomery) RETURNS cstring
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_recv(internal) RETURNS bloomery
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_send(bloomery) RETURNS bytea
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE bloomery (
    INPUT = bloomery_in, OUTPUT = bloomery_out,
    RECEIVE = bloomery_recv, SEND = bloomery_send,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = extended
);

CREATE FUNCTION bloomery(bytea) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_from_bytea'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (bytea AS bloomery) WITH FUNCTION bloomery(bytea);
CREATE CAST (bloomery AS bytea) WITHOUT FUNCTION;

COMMENT ON TYPE bloomery IS 'a filter: which keys are certainly not there';

-- Whole filters.

CREATE FUNCTION bloomery_new(kind text, items bigint,
                             rate double precision DEFAULT 0.01,
                             keys text DEFAULT '')
    RETURNS bloomery
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_state_keys(bloomery, keys text) RETURNS bloomery
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_info(bloomery) RETURNS json
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_plan(kind text, items bigint,
                              rate double precision DEFAULT 0.01)
    RETURNS json
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_kinds(OUT kind text, OUT family text,
                               OUT summary text, OUT can text[],
                               OUT tier text)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 30;
CREATE FUNCTION bloomery_version() RETURNS text
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Two of one plan.

CREATE FUNCTION bloomery_or(bloomery, bloomery) RETURNS bloomery
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_and(bloomery, bloomery) RETURNS bloomery
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR | (LEFTARG = bloomery, RIGHTARG = bloomery,
                   FUNCTION = bloomery_or);
CREATE OPERATOR & (LEFTARG = bloomery, RIGHTARG = bloomery,
                   FUNCTION = bloomery_and);
COMMENT ON OPERATOR | (bloomery, bloomery) IS 'the keys of both';
COMMENT ON OPERATOR & (bloomery, bloomery) IS 'the keys that are in both';
CREATE FUNCTION bloomery_overlap(bloomery, bloomery) RETURNS json
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Keys that filters list: side is 1, or -1 of those that only the second one of
-- two filters has.

CREATE FUNCTION bloomery_keys(bloomery, OUT key bytea, OUT hash bigint,
                              OUT side int)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_diff(bloomery, bloomery, OUT key bytea,
                              OUT hash bigint, OUT side int)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Many of one plan.

CREATE FUNCTION bloomery_unite_next(internal, bloomery) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloomery_intersect_next(internal, bloomery) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloomery_many_value(internal) RETURNS bloomery
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloomery_many_send(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'bloomery_many_value'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_many_receive(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_unite_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloomery_intersect_combine(internal, internal)
    RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE bloomery_unite(bloomery) (
    SFUNC = bloomery_unite_next, STYPE = internal,
    FINALFUNC = bloomery_many_value, COMBINEFUNC = bloomery_unite_combine,
    SERIALFUNC = bloomery_many_send, DESERIALFUNC = bloomery_many_receive,
    PARALLEL = SAFE
);
CREATE AGGREGATE bloomery_intersect(bloomery) (
    SFUNC = bloomery_intersect_next, STYPE = internal,
    FINALFUNC = bloomery_many_value,
    COMBINEFUNC = bloomery_intersect_combine,
    SERIALFUNC = bloomery_many_send, DESERIALFUNC = bloomery_many_receive,
    PARALLEL = SAFE
);

-- A key whose type is not stated, as in f @> '7' and f @> $1: the form of the
-- filter says how the text is read. PostgreSQL chooses this type by itself,
-- because no other one here is of the category of strings. Columns of type text
-- go to the functions of anyelement.

CREATE TYPE bloomery_key;

CREATE FUNCTION bloomery_key_in(cstring) RETURNS bloomery_key
    AS 'textin' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_key_out(bloomery_key) RETURNS cstring
    AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_key_recv(internal) RETURNS bloomery_key
    AS 'textrecv' LANGUAGE internal STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_key_send(bloomery_key) RETURNS bytea
    AS 'textsend' LANGUAGE internal STABLE STRICT PARALLEL SAFE;

CREATE TYPE bloomery_key (
    INPUT = bloomery_key_in, OUTPUT = bloomery_key_out,
    RECEIVE = bloomery_key_recv, SEND = bloomery_key_send,
    LIKE = text, CATEGORY = 'S'
);

COMMENT ON TYPE bloomery_key IS
    'a key whose type is not stated: the filter says how it is read';

-- One key of one filter.

CREATE FUNCTION bloomery_contains(bloomery, anyelement) RETURNS boolean
    AS 'MODULE_PATHNAME', 'bloomery_contains'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_contains(bloomery, bloomery_key) RETURNS boolean
    AS 'MODULE_PATHNAME', 'bloomery_contains_written'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR @> (LEFTARG = bloomery, RIGHTARG = anyelement,
    FUNCTION = bloomery_contains, RESTRICT = contsel, JOIN = contjoinsel);
COMMENT ON OPERATOR @> (bloomery, anyelement) IS
    'perhaps contains; false: certainly not';
CREATE OPERATOR @> (LEFTARG = bloomery, RIGHTARG = bloomery_key,
    FUNCTION = bloomery_contains, RESTRICT = contsel, JOIN = contjoinsel);
COMMENT ON OPERATOR @> (bloomery, bloomery_key) IS
    'perhaps contains; false: certainly not';
CREATE FUNCTION bloomery_count(bloomery, anyelement) RETURNS bigint
    AS 'MODULE_PATHNAME', 'bloomery_count'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_count(bloomery, bloomery_key) RETURNS bigint
    AS 'MODULE_PATHNAME', 'bloomery_count_written'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_get(bloomery, anyelement) RETURNS bigint
    AS 'MODULE_PATHNAME', 'bloomery_get'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_get(bloomery, bloomery_key) RETURNS bigint
    AS 'MODULE_PATHNAME', 'bloomery_get_written'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_add(bloomery, anyelement) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_add'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_add(bloomery, bloomery_key) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_add_written'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_remove(bloomery, anyelement) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_remove'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_remove(bloomery, bloomery_key) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_remove_written'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_put(bloomery, anyelement, label bigint) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_put'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_put(bloomery, bloomery_key, label bigint) RETURNS bloomery
    AS 'MODULE_PATHNAME', 'bloomery_put_written'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The aggregates of keys.

CREATE FUNCTION bloomery_build(internal) RETURNS bloomery
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloomery_gather_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloomery_gather_send(internal) RETURNS bytea
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloomery_gather_receive(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomery_gather(internal, anyelement)
    RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE bloomery_agg(key anyelement) (
    SFUNC = bloomery_gather, STYPE = internal,
    FINALFUNC = bloomery_build, COMBINEFUNC = bloomery_gather_combine,
    SERIALFUNC = bloomery_gather_send,
    DESERIALFUNC = bloomery_gather_receive, PARALLEL = SAFE
);

CREATE FUNCTION bloomery_gather(internal, anyelement, text)
    RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE bloomery_agg(key anyelement, kind text) (
    SFUNC = bloomery_gather, STYPE = internal,
    FINALFUNC = bloomery_build, COMBINEFUNC = bloomery_gather_combine,
    SERIALFUNC = bloomery_gather_send,
    DESERIALFUNC = bloomery_gather_receive, PARALLEL = SAFE
);

CREATE FUNCTION bloomery_gather(internal, anyelement, text, double precision)
    RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE bloomery_agg(key anyelement, kind text,
                              rate double precision) (
    SFUNC = bloomery_gather, STYPE = internal,
    FINALFUNC = bloomery_build, COMBINEFUNC = bloomery_gather_combine,
    SERIALFUNC = bloomery_gather_send,
    DESERIALFUNC = bloomery_gather_receive, PARALLEL = SAFE
);

CREATE FUNCTION bloomery_gather(internal, anyelement, text, double precision,
                                bigint)
    RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE bloomery_agg(key anyelement, kind text, rate double precision,
                              items bigint) (
    SFUNC = bloomery_gather, STYPE = internal,
    FINALFUNC = bloomery_build, COMBINEFUNC = bloomery_gather_combine,
    SERIALFUNC = bloomery_gather_send,
    DESERIALFUNC = bloomery_gather_receive, PARALLEL = SAFE
);

CREATE FUNCTION bloomery_gather(internal, anyelement, text, double precision,
                                bigint, text)
    RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE bloomery_agg(key anyelement, kind text, rate double precision,
                              items bigint, keys text) (
    SFUNC = bloomery_gather, STYPE = internal,
    FINALFUNC = bloomery_build, COMBINEFUNC = bloomery_gather_combine,
    SERIALFUNC = bloomery_gather_send,
    DESERIALFUNC = bloomery_gather_receive, PARALLEL = SAFE
);

CREATE FUNCTION bloomery_gather_labels(internal, anyelement, bigint)
    RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE bloomery_map_agg(key anyelement, label bigint) (
    SFUNC = bloomery_gather_labels, STYPE = internal,
    FINALFUNC = bloomery_build, COMBINEFUNC = bloomery_gather_combine,
    SERIALFUNC = bloomery_gather_send,
    DESERIALFUNC = bloomery_gather_receive, PARALLEL = SAFE
);

CREATE FUNCTION bloomery_gather_labels(internal, anyelement, bigint, text)
    RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE bloomery_map_agg(key anyelement, label bigint, kind text) (
    SFUNC = bloomery_gather_labels, STYPE = internal,
    FINALFUNC = bloomery_build, COMBINEFUNC = bloomery_gather_combine,
    SERIALFUNC = bloomery_gather_send,
    DESERIALFUNC = bloomery_gather_receive, PARALLEL = SAFE
);

CREATE FUNCTION bloomery_gather_labels(internal, anyelement, bigint, text,
                                       double precision)
    RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE bloomery_map_agg(key anyelement, label bigint, kind text,
                                  rate double precision) (
    SFUNC = bloomery_gather_labels, STYPE = internal,
    FINALFUNC = bloomery_build, COMBINEFUNC = bloomery_gather_combine,
    SERIALFUNC = bloomery_gather_send,
    DESERIALFUNC = bloomery_gather_receive, PARALLEL = SAFE
);

CREATE FUNCTION bloomery_gather_labels(internal, anyelement, bigint, text,
                                       double precision, bigint)
    RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE bloomery_map_agg(key anyelement, label bigint, kind text,
                                  rate double precision, items bigint) (
    SFUNC = bloomery_gather_labels, STYPE = internal,
    FINALFUNC = bloomery_build, COMBINEFUNC = bloomery_gather_combine,
    SERIALFUNC = bloomery_gather_send,
    DESERIALFUNC = bloomery_gather_receive, PARALLEL = SAFE
);

CREATE FUNCTION bloomery_gather_labels(internal, anyelement, bigint, text,
                                       double precision, bigint, text)
    RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE bloomery_map_agg(key anyelement, label bigint, kind text,
                                  rate double precision, items bigint,
                                  keys text) (
    SFUNC = bloomery_gather_labels, STYPE = internal,
    FINALFUNC = bloomery_build, COMBINEFUNC = bloomery_gather_combine,
    SERIALFUNC = bloomery_gather_send,
    DESERIALFUNC = bloomery_gather_receive, PARALLEL = SAFE
);
