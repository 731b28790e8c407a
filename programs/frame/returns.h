/* returns.h - files whose lines end with a CR alone. */
#ifndef FRAME_RETURNS_H
#define FRAME_RETURNS_H

#include "frame/how.h"
#include "frame/lines.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns whether a CR alone may end lines, by the options. */
bool returns_wanted(const cli_how *how);

/* Returns whether the bytes, the first of a file, hold a CR that may end a
 * line, but no newline. */
bool returns_only(const unsigned char *bytes, size_t n);

/* Replaces each CR that ends a line by a newline, in the bytes of the chunk
 * from `from` on. Sets lines->settled as soon as enough bytes are known, or if
 * the file has ended. Returns 0, or the error. */
int returns_replace(cli_lines *lines, cli_chunk *chunk, size_t from,
                    bool ended);

#endif
