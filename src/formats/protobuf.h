/* protobuf.h - reads messages of Protocol Buffers from memory.
 *
 * A message consists of fields, each with a number and a wire type, up to its
 * end. Numbers are varints of 7 bits per byte, or have 4 or 8 bytes. All bytes
 * are untrusted: reads stay within the buffer, and after an error nothing more
 * is read. Unknown fields need no skipping, as their ends are known; groups,
 * which only the oldest messages have, are errors.
 */
#ifndef BLY_FORMATS_PROTOBUF_H
#define BLY_FORMATS_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const uint8_t *at, *end;
    const uint8_t *bad;                 /* place of the first error, or NULL */
} protobuf;

typedef struct {
    uint64_t       id;
    bool           is_number;           /* else it has bytes                 */
    uint64_t       number;
    const uint8_t *bytes;
    size_t         n;
} protobuf_field;

/* Returns a reader of the message in a field; an empty one if the field is a
 * number. */
protobuf protobuf_within(const protobuf_field *field);

/* Reads the next field of a message. Returns false at its end or after an
 * error. */
bool protobuf_next(protobuf *p, protobuf_field *field);

/* Takes the next number out of a field that may be packed. Returns false after
 * the last one, or after an error, which is one of *p. */
bool protobuf_packed(protobuf *p, protobuf_field *field, uint64_t *out);

/* Marks the bytes at the present place as wrong. */
void protobuf_fail(protobuf *p);

#endif /* BLY_FORMATS_PROTOBUF_H */
