/* thrift.h - the compact protocol of Apache Thrift, read from memory.
 *
 * A structure is fields, each with a number and a type, up to a stop; numbers
 * are varints, 7 bits a byte, signed ones by zigzag. Every byte is from an
 * enemy: nothing is read behind the end, what is not wanted is skipped to a
 * depth of THRIFT_DEPTH, and an error sticks: from then on there is nothing
 * more to read. Every element of a list takes a byte at least, so that a count
 * cannot make more work than there are bytes.
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
    const uint8_t *bad;                 /* where it first was; NULL: nowhere */
} thrift;

typedef struct {
    int64_t     id;                     /* 0 before the first one            */
    thrift_type type;
} thrift_field;

/* The next field of a structure; false: it has ended, or is bad. */
bool thrift_next(thrift *t, thrift_field *field);

/* Past a value of this type. */
void thrift_skip(thrift *t, thrift_type type);

/* A value, where the field has the type for it; or it is skipped, and what was
 * in *out stays. */
void thrift_integer(thrift *t, const thrift_field *field, int64_t *out);
void thrift_text(thrift *t, const thrift_field *field, const uint8_t **text,
                 size_t *n);

/* How many elements of this type follow; of another field 0, and it is
 * skipped. */
uint64_t thrift_list(thrift *t, const thrift_field *field, thrift_type of);

/* The text of an element of a list; its length, 0 where it is bad. */
size_t thrift_element(thrift *t, const uint8_t **text);

#endif /* BLY_FORMATS_THRIFT_H */
