/* casefold.c - case folding of text in all alphabets, and names of domains, by
 * ICU.
 *
 * Full case folding does not depend on what stands around a character,
 * so each is folded by itself, on the stack. Few functions of ICU are used.
 * They are loaded when the first text is folded, because a program that is
 * linked with ICU starts 0.7 ms later, and the command without it in 1.5 ms.
 */
#include "bits/casefold.h"

#include <stdint.h>

#ifdef BLY_WITH_ICU

#include <assert.h>
#include <dlfcn.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/uidna.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include "base/threads.h"

/* A character becomes at most three. Each has one or two units of UTF-16, and
 * at most four bytes of UTF-8. */
enum { CASEFOLD_UNITS = 6, CASEFOLD_BYTES = 12 };

/* The most bytes of a domain's name as it is written: its at most 253
 * characters have at most four each. */
enum { CASEFOLD_NAME = 1024 };

/* Functions of ICU have its version in their names, and so has its file. */
#define CASEFOLD_TEXT_OF(name) #name
#define CASEFOLD_TEXT(name)    CASEFOLD_TEXT_OF(name)
#ifdef __APPLE__
#define CASEFOLD_FILE "libicuuc." U_ICU_VERSION_SHORT ".dylib"
#else
#define CASEFOLD_FILE "libicuuc.so." U_ICU_VERSION_SHORT
#endif

typedef int32_t casefold_icu(UChar *to, int32_t room, const UChar *from,
                             int32_t n, uint32_t options, UErrorCode *error);

typedef UIDNA  *casefold_open(uint32_t options, UErrorCode *error);
typedef int32_t casefold_ascii(const UIDNA *idna, const char *name, int32_t n,
                               char *to, int32_t room, UIDNAInfo *info,
                               UErrorCode *error);

static casefold_icu   *casefold_string;
static casefold_ascii *casefold_name;
static UIDNA          *casefold_idna;   /* may be used by several threads    */
static threads_once    casefold_once = THREADS_ONCE;

/* Stores a function of ICU, or NULL. */
static void casefold_find(void *function, size_t size, void *icu,
                          const char *name)
{
    void *found = icu != NULL ? dlsym(icu, name) : NULL;
    memcpy(function, &found, size);
}

static void casefold_load(void)
{
    void *icu = dlopen(CASEFOLD_FILE, RTLD_NOW | RTLD_LOCAL);
    casefold_open *open;
    UErrorCode error = U_ZERO_ERROR;
    casefold_find(&casefold_string, sizeof casefold_string, icu,
                  CASEFOLD_TEXT(u_strFoldCase));
    casefold_find(&casefold_name, sizeof casefold_name, icu,
                  CASEFOLD_TEXT(uidna_nameToASCII_UTF8));
    casefold_find(&open, sizeof open, icu, CASEFOLD_TEXT(uidna_openUTS46));
    if (open != NULL)
        casefold_idna = open(UIDNA_NONTRANSITIONAL_TO_ASCII | UIDNA_CHECK_BIDI
                             | UIDNA_CHECK_CONTEXTJ, &error);
}

const char *casefold_lacks(void)
{
    threads_do_once(&casefold_once, casefold_load);
    return casefold_string != NULL ? NULL
         : "install ICU " U_ICU_VERSION_SHORT ", whose file " CASEFOLD_FILE
           " cannot be loaded";
}

/* Writes a character folded, in UTF-8. Returns its number of bytes. */
static size_t casefold_character(char *to, UChar32 c)
{
    UErrorCode error = U_ZERO_ERROR;
    UChar plain[2], folded[CASEFOLD_UNITS];
    int32_t n = 0;
    size_t bytes = 0;
    U16_APPEND_UNSAFE(plain, n, c);
    n = casefold_string(folded, CASEFOLD_UNITS, plain, n, U_FOLD_CASE_DEFAULT,
                        &error);
    assert(U_SUCCESS(error));           /* there is room enough              */
    for (int32_t i = 0; i < n; ) {
        uint32_t one = folded[i++];
        if (U16_IS_LEAD(one))
            one = 0x10000 + ((one & 0x3FF) << 10) + (folded[i++] & 0x3FFu);
        U8_APPEND_UNSAFE((uint8_t *)to, bytes, one);
    }
    return bytes;
}

size_t casefold_utf8(char *to, size_t room, const char *from, size_t n)
{
    const uint8_t *text = (const uint8_t *)from;
    char folded[CASEFOLD_BYTES];
    size_t used = 0;
    if (casefold_lacks() != NULL)
        return SIZE_MAX;
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

/* Returns the small letter of a capital that older versions of UTS #46 map to
 * something else or refuse, and other characters as they are. Newer ones map
 * all of these capitals so. The small letter is never longer in UTF-8. */
static UChar32 casefold_small(UChar32 c)
{
    return c == 0x1E9E ? 0xDF           /* which was ss, unlike the small one */
         : c == 0x04C0 ? 0x04CF : c == 0x2132 ? 0x214E : c == 0x2183 ? 0x2184
         : c >= 0x10A0 && c <= 0x10C5 ? c - 0x10A0 + 0x2D00 : c;
}

/* Copies a name with these small letters. Returns its number of bytes; SIZE_MAX
 * if it is not UTF-8 or too long. */
static size_t casefold_small_name(char to[CASEFOLD_NAME], const char *from,
                                  size_t n)
{
    const uint8_t *text = (const uint8_t *)from;
    size_t used = 0;
    if (n > CASEFOLD_NAME)
        return SIZE_MAX;
    for (size_t i = 0; i < n; ) {
        UChar32 c;
        U8_NEXT(text, i, n, c);
        if (c < 0)
            return SIZE_MAX;
        uint32_t small = (uint32_t)casefold_small(c);
        U8_APPEND_UNSAFE((uint8_t *)to, used, small);
    }
    return used;
}

/* Faults of a name that do not matter. Names of hosts and lists of them have
 * hyphens in any place, and a name in ASCII is not examined for them. */
enum {
    CASEFOLD_FINE = UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN
                  | UIDNA_ERROR_HYPHEN_3_4
};

size_t casefold_domain(char *to, size_t room, const char *from, size_t n)
{
    char name[CASEFOLD_NAME];
    UIDNAInfo info = UIDNA_INFO_INITIALIZER;
    UErrorCode error = U_ZERO_ERROR;
    if (casefold_lacks() != NULL || casefold_idna == NULL || room > INT32_MAX)
        return SIZE_MAX;
    n = casefold_small_name(name, from, n);
    if (n == SIZE_MAX)
        return SIZE_MAX;
    int32_t used = casefold_name(casefold_idna, name, (int32_t)n, to,
                                 (int32_t)room, &info, &error);
    return U_FAILURE(error) || (info.errors & ~(uint32_t)CASEFOLD_FINE) != 0
        || (size_t)used > room
         ? SIZE_MAX : (size_t)used;
}

#else

const char *casefold_lacks(void)
{
    return "build it with ICU, -DBLY_UNICODE=ON";
}

size_t casefold_utf8(char *to, size_t room, const char *from, size_t n)
{
    (void)to;
    (void)room;
    (void)from;
    (void)n;
    return SIZE_MAX;
}

size_t casefold_domain(char *to, size_t room, const char *from, size_t n)
{
    return casefold_utf8(to, room, from, n);
}

#endif
