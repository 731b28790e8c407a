/* thrift.h - reads Apache Thrift's compact protocol from memory.
 *
 * A structure consists of fields, each with a number and a type, up to a stop.
 * Numbers are varints of 7 bits per byte; signed ones use zigzag. All bytes are
 * untrusted: reads stay within the buffer, unwanted values are skipped to a
 * depth of THRIFT_DEPTH, and after an error nothing more is read. Every element
 * of a list takes at least a byte, so a count cannot cause more work than there
 * are bytes.
 */
#ifndef BLY_FORMATS_THRIFT_H
#define BLY_FORMATS_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { THRIFT_DEPTH = 32 };

typedef enum {
    THRIFT_STOP, THRIFT_TRUE, THRIFT_FALSE, THRIFT_BYTE, THRIFT_I16,
    THRIFT_I32, THRIFT_I64, THRIFT_DOUBLE, THRIFT_BINARY, THRIFT_LIST,
    THRIFT_SET, THRIFT_MAP, THRIFT_STRUCT, THRIFT_UUID
} thrift_type;

typedef struct {
    const uint8_t *at, *end;
    const uint8_t *bad;                 /* place of the first error, or NULL */
} thrift;

typedef struct {
    int64_t     id;                     /* 0 before the first one            */
    thrift_type type;
} thrift_field;

/* Reads the next field of a structure. Returns false at its end or after an
   error. */
bool thrift_next(thrift *t, thrift_field *field);

/* Skips a value of this type. */
void thrift_skip(thrift *t, thrift_type type);

/* Reads a value if the field has the right type; otherwise skips it and leaves
 * *out unchanged. */
void thrift_integer(thrift *t, const thrift_field *field, int64_t *out);

/* Returns how many elements of this type follow; if the field is different,
 * skips it and returns 0. */
uint64_t thrift_list(thrift *t, const thrift_field *field, thrift_type of);

/* Reads a text element of a list. Returns its length, 0 after an error. */
size_t thrift_element(thrift *t, const uint8_t **text);

#endif /* BLY_FORMATS_THRIFT_H */
