/* strict.h - checks whether a text is JSON, strictly by the grammar of RFC 8259
 * and in UTF-8, for comparison with writers and readers.
 */
#ifndef BLY_FUZZ_STRICT_H
#define BLY_FUZZ_STRICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STRICT_DEEPEST = 200 };

/* Returns whether the text is one value between blanks, at most STRICT_DEEPEST
 * brackets deep. */
bool strict_json(const uint8_t *text, size_t n);

#endif /* BLY_FUZZ_STRICT_H */
