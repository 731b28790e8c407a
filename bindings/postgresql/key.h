/* key.h - the bytes that are the key of a value of SQL. */
#ifndef BLOOMERY_POSTGRESQL_KEY_H
#define BLOOMERY_POSTGRESQL_KEY_H

#include "postgres.h"

#include "fmgr.h"

typedef struct {
    const void   *data;
    size_t        length;
    unsigned char number[8];            /* data, of a number                 */
} key;

typedef void key_reader(key *out, Datum value);

key_reader key_text, key_bytea, key_int8, key_int4, key_float8, key_numeric,
           key_uuid;

/* The functions of SQL that are there once for each type of key: NAME_text
 * calls body(fcinfo, key_text), and so on. */
#define KEY_FUNCTION(name, type, body)                                         \
    PG_FUNCTION_INFO_V1(name##_##type);                                        \
    Datum name##_##type(PG_FUNCTION_ARGS) { return body(fcinfo, key_##type); }

#define KEY_FUNCTIONS(name, body)                                              \
    KEY_FUNCTION(name, text, body)                                             \
    KEY_FUNCTION(name, bytea, body)                                            \
    KEY_FUNCTION(name, int8, body)                                             \
    KEY_FUNCTION(name, int4, body)                                             \
    KEY_FUNCTION(name, float8, body)                                           \
    KEY_FUNCTION(name, numeric, body)                                          \
    KEY_FUNCTION(name, uuid, body)

#endif
