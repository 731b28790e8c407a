/* key.h - the keys of a filter, from values of SQL.
 *
 * The functions of SQL that take a key are declared twice:
 *
 *      f(bloomery, anyelement)     reads the key by its type
 *      f(bloomery, bloomery_key)   reads the key as a person wrote it
 *
 * PostgreSQL chooses the second one for a literal or parameter whose type is
 * not stated, such as '7' and $1. It is the only one that takes a type of
 * strings, and such types are preferred. So the form of the filter decides
 * whether '7' is a number or a text, and a column of type text remains text.
 */
#ifndef BLOOMERY_POSTGRESQL_KEY_H
#define BLOOMERY_POSTGRESQL_KEY_H

#include "postgres.h"

#include "fmgr.h"

#include <bloomery/form.h>

typedef struct {
    const void   *data;
    size_t        length;
    unsigned char number[8];            /* holds the key of a number         */
} key;

typedef void key_reader(bly_value *out, Datum value);

/* How to read the keys of an argument. */
typedef struct {
    key_reader *read;                   /* NULL: not found yet               */
    uint64_t    class;                  /* BLY_KEYS_…, of such keys          */
    FmgrInfo    cast;                   /* before reading, if fn_oid is set  */
} key_source;

/* Finds out how to read an argument, in memory that lives as long as `source`.
 * Raises an error for a type that cannot be a key. */
void key_find(key_source *source, FunctionCallInfo fcinfo, int argument,
              bool written, MemoryContext room);

/* Finds out how to read values of a type. Returns false if the type cannot be a
 * key. */
bool key_find_type(key_source *source, Oid type, MemoryContext room);

/* Makes the key of a value for a filter of this form. Returns the library's
 * error for a value that is not a key of this form. The key may point into the
 * value. */
bly_status key_try(key *out, const key_source *source, uint64_t form,
                   Datum value);

/* Does the same, and raises the error. */
void key_read(key *out, const key_source *source, uint64_t form, Datum value);

/* Reads the name of a form. */
uint64_t key_form(const char *name);

/* Defines both functions of SQL, of which the second is NAME_written. */
#define KEY_FUNCTIONS(name, body)                                              \
    PG_FUNCTION_INFO_V1(name);                                                 \
    Datum name(PG_FUNCTION_ARGS) { return body(fcinfo, false); }               \
    PG_FUNCTION_INFO_V1(name##_written);                                       \
    Datum name##_written(PG_FUNCTION_ARGS) { return body(fcinfo, true); }

#endif
