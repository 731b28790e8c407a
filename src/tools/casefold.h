/* casefold.h - texts that differ only in the case of their letters, made equal,
 * in all alphabets.
 *
 * Floor 1. Only with -DBLY_UNICODE, of ICU; else nothing is there.
 */
#ifndef BLY_TOOLS_CASEFOLD_H
#define BLY_TOOLS_CASEFOLD_H

#include <stdbool.h>
#include <stddef.h>

/* Was the library built with it? */
bool casefold_there(void);

/* A text becomes at most so many times as long: U+0390 of 2 bytes is folded to
 * three characters of 2 bytes each. */
enum { CASEFOLD_TIMES = 3 };

/* The text, folded as CaseFolding.txt of Unicode says, statuses C and F; how
 * many bytes, at most `room`. SIZE_MAX: it is not valid UTF-8, or it does not
 * fit, or nothing is there. */
size_t casefold_utf8(char *to, size_t room, const char *from, size_t n);

#endif /* BLY_TOOLS_CASEFOLD_H */
