/* hex.h - bytes kept as text: the corpus and the golden images.
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

/* Read a file of hex text into a block of just its size, to be freed. False:
 * it cannot be read, or holds something else; nothing is set. */
bool hex_read(const char *path, uint8_t **bytes, size_t *n);

/* Write one, with a line of comment at its head. */
bool hex_write(const char *path, const char *comment, const uint8_t *bytes,
               size_t n);

#endif /* BLY_FUZZ_HEX_H */
