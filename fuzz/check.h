/* check.h - arbitrary bytes taken for an image: whatever bly_check and bly_wrap
 * accept must be safe to use.
 *
 * The bytes are tried as they are; with matching checksums; and with magic,
 * size and checksums corrected. Each time they lie in a block of exactly their
 * size, so that a sanitizer sees an overrun of one byte. The header is
 * inspected, and used as a plan of another, empty filter. An accepted image
 * goes through every verb that reads, and a copy of it through every verb that
 * writes.
 */
#ifndef BLY_FUZZ_CHECK_H
#define BLY_FUZZ_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns a description of the fault found, or NULL. *accepted, unless NULL,
 * reports whether bly_check accepts the bytes as they are. */
const char *check_run(const uint8_t *bytes, size_t n, bool *accepted);

/* Checks the bytes only as they are, as they are already repaired. */
const char *check_mended(const uint8_t *bytes, size_t n);

#endif /* BLY_FUZZ_CHECK_H */
