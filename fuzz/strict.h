/* strict.h - is a text JSON? By the grammar of RFC 8259 and nothing else, in
 * UTF-8, to hold writers and readers against.
 */
#ifndef BLY_FUZZ_STRICT_H
#define BLY_FUZZ_STRICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STRICT_DEEPEST = 200 };

/* One value and nothing but blanks beside it, at most STRICT_DEEPEST brackets
 * deep. */
bool strict_json(const uint8_t *text, size_t n);

#endif /* BLY_FUZZ_STRICT_H */
