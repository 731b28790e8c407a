/* check.h - any bytes at all, taken for an image: whatever bly_check and
 * bly_wrap accept must then be safe to use.
 *
 * The bytes are tried as they are; with checksums that match; and with magic,
 * size and checksums put right. Each time they lie in a block of just their
 * size, so that a sanitizer sees the first byte beyond. The header is peeked
 * at, and taken for a plan of another filter, empty. What is accepted is
 * read by every verb that reads, and a copy of it changed by every verb that
 * writes.
 */
#ifndef BLY_FUZZ_CHECK_H
#define BLY_FUZZ_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is wrong, in words; NULL if nothing is. *accepted, unless NULL: does
 * bly_check accept the bytes as they are? */
const char *check_run(const uint8_t *bytes, size_t n, bool *accepted);

/* The same of the bytes as they are and no more: they are mended already. */
const char *check_mended(const uint8_t *bytes, size_t n);

#endif /* BLY_FUZZ_CHECK_H */
