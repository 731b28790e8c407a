/* casefold.c - case folding of text in all alphabets, by ICU.
 *
 * Floor 1. Full case folding does not depend on what stands around a character,
 * so each is folded by itself, on the stack. ICU's functions for whole texts
 * count in 32 bits, and the one for UTF-8 allocates and replaces broken bytes.
 */
#include "tools/casefold.h"

#include <stdint.h>

#ifdef BLY_WITH_ICU

#include <string.h>
#include <unicode/uchar.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

/* Unicode's most is three characters: of two units of UTF-16 each, at most, and
 * of four bytes of UTF-8. */
enum { CASEFOLD_UNITS = 6, CASEFOLD_BYTES = 12 };

bool casefold_there(void)
{
    return true;
}

/* Writes a character folded, in UTF-8, and returns its number of bytes. */
static size_t casefold_character(char to[CASEFOLD_BYTES], UChar32 c)
{
    UErrorCode error = U_ZERO_ERROR;
    UChar plain[2], folded[CASEFOLD_UNITS];
    int32_t units = 0, bytes = 0;
    U16_APPEND_UNSAFE(plain, units, c);
    units = u_strFoldCase(folded, CASEFOLD_UNITS, plain, units,
                          U_FOLD_CASE_DEFAULT, &error);
    u_strToUTF8(to, CASEFOLD_BYTES, &bytes, folded, units, &error);
    return U_SUCCESS(error) ? (size_t)bytes : SIZE_MAX;
}

size_t casefold_utf8(char *to, size_t room, const char *from, size_t n)
{
    const uint8_t *text = (const uint8_t *)from;
    char folded[CASEFOLD_BYTES];
    size_t used = 0;
    for (size_t i = 0; i < n; ) {
        UChar32 c;
        size_t some = 1;
        U8_NEXT(text, i, n, c);
        if (c < 0)
            return SIZE_MAX;
        if (c < 0x80)
            folded[0] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
        else
            some = casefold_character(folded, c);
        if (some > room - used)
            return SIZE_MAX;
        memcpy(to + used, folded, some);
        used += some;
    }
    return used;
}

#else

bool casefold_there(void)
{
    return false;
}

size_t casefold_utf8(char *to, size_t room, const char *from, size_t n)
{
    (void)to;
    (void)room;
    (void)from;
    (void)n;
    return SIZE_MAX;
}

#endif
