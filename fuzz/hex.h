/* hex.h - bytes as text: the corpus and the golden images.
 *
 * A file is lines of hex digits, two to a byte; blanks between bytes and
 * everything from a '#' to the end of its line are skipped. So there are no
 * binary files in the repository, and a change shows in a diff.
 */
#ifndef BLY_FUZZ_HEX_H
#define BLY_FUZZ_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a file of hex text into a block of exactly its size, to be freed.
 * Returns false, and sets nothing, if it cannot be read or is not hex. */
bool hex_read(const char *path, uint8_t **bytes, size_t *n);

/* Writes a file, with a comment as its first line. */
bool hex_write(const char *path, const char *comment, const uint8_t *bytes,
               size_t n);

#endif /* BLY_FUZZ_HEX_H */
