/* sniff.h - tells by the first bytes of a file whether it is text. */
#ifndef FRAME_SNIFF_H
#define FRAME_SNIFF_H

#include "frame/how.h"
#include "frame/lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The number of bytes that are checked. */
enum { SNIFF_MOST = 1 << 15 };

/* Returns whether the bytes begin with the byte order mark of UTF-8, or with as
 * much of it as there are bytes. */
bool sniff_mark(const unsigned char *bytes, size_t n);

/* Verify that the bytes are lines: that the program did not write them, and
 * that they have no NULs. Return 0, or a source_error. sniff_nul verifies the
 * latter only, for later pieces of the first SNIFF_MOST bytes. */
int sniff_check(const cli_how *how, const unsigned char *bytes, size_t n);
int sniff_nul(const cli_how *how, const unsigned char *bytes, size_t n);

/* Reads bytes of a file or of stdin from position `at`, without moving on.
 * Returns their number, or -1 with errno set. */
ssize_t sniff_peek(const char *path, off_t at, unsigned char *bytes,
                   size_t room);

/* Verifies that an ordinary file can be read in parts. Returns 0, or the reason
 * for refuse_file. *skip is the length of its byte order mark; about->mistake
 * is set. */
int sniff_file(const cli_lines *lines, const char *path, size_t *skip,
               cli_chunk *about);

#endif
