/* casefold.h - case folding of text in all alphabets, and names of domains.
 *
 * Texts that differ only in the case of their letters have the same
 * folded text. ICU provides Unicode's tables, which have some 1500 rows and
 * grow. A library that is built without ICU (-DBLY_UNICODE=OFF, or WebAssembly)
 * folds nothing, and casefold_lacks() says so.
 */
#ifndef BLY_BITS_CASEFOLD_H
#define BLY_BITS_CASEFOLD_H

#include <stddef.h>

/* Returns NULL if text can be folded, and otherwise how to change that. */
const char *casefold_lacks(void);

/* Maximum growth of a folded text: U+0390, of 2 bytes, becomes three characters
 * of 2 bytes each. */
enum { CASEFOLD_TIMES = 3 };

/* Writes the folded text and returns its number of bytes. This is full case
 * folding: statuses C and F of Unicode's CaseFolding.txt, without the special
 * case of Turkic languages. The text is not normalized. `to` has `room` bytes
 * and does not overlap the text. Returns SIZE_MAX if the text is not valid
 * UTF-8, if the result does not fit, or if text cannot be folded; then what
 * `to` holds is undefined. Safe to call from several threads. */
size_t casefold_utf8(char *to, size_t room, const char *from, size_t n);

/* Writes a domain's name in lower case and ASCII (IDNA, by UTS #46), and
 * returns its number of bytes. SIZE_MAX: it is not such a name, it has more
 * than 1024 bytes, the result does not fit, or the library is built without
 * ICU. A capital gives what its small letter does, with two exceptions of IDNA:
 * I is i, not U+0131, and the capital of the final sigma is the other sigma. */
size_t casefold_domain(char *to, size_t room, const char *from, size_t n);

#endif /* BLY_BITS_CASEFOLD_H */
