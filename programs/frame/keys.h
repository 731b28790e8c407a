/* keys.h - makes keys from lines. */
#ifndef FRAME_KEYS_H
#define FRAME_KEYS_H

#include "frame/how.h"
#include "frame/lines.h"

#include <bloomery.h>

#include <stdbool.h>
#include <stddef.h>

/* The length of a key whose data is NULL, from keys_make: the line cannot be
 * read, or it is skipped as blank or a comment; otherwise 0. */
enum { KEYS_STRANGE = 1, KEYS_SKIPPED = 2 };

/* Returns whether the block of a chunk has a second half for keys. */
bool keys_two_parts(const cli_how *how);

/* Returns where in the block of a chunk with `capacity` bytes of lines the room
 * for keys in the form of the filter begins, and the size of the whole
 * block. */
size_t keys_parts(const cli_how *how, size_t capacity);
size_t keys_block(const cli_how *how, size_t capacity);

/* Returns whether blank lines or comments have no key. */
bool keys_skips(const cli_how *how);

/* Replaces lines of the chunk, without their ends, by their keys. A line
 * without a key gets data NULL and a length as above. Returns the number of
 * such lines. Not for LINES_WHOLE, unless the chunk has a CR that may be
 * cut. */
size_t keys_make(const cli_lines *lines, const cli_chunk *chunk, bly_key *keys,
                 bly_key *labels, size_t n);

/* Returns the next column of a line, as written; data NULL if there is none.
 * *at becomes NULL after the last one. */
bly_key keys_next(const cli_how *how, const unsigned char **at,
                  const unsigned char *end);

/* Returns the value of a column, without its quotes. */
bly_key keys_value(const cli_how *how, const cli_chunk *chunk, bly_key column);

#endif
