/* bloomery/form.h - key forms: how a filter's keys were made into bytes.
 *
 * A filter holds bytes, but people have text, numbers and lines of files. The
 * caller who queries a filter must make the same bytes as the caller who built
 * it; otherwise the filter denies its own keys. The header of an image
 * therefore records the *form* of its keys, and bly_form_key makes key bytes by
 * a form.
 *
 * A form consists of a class and, for text, the changes that were made to it.
 * As a number, it is one of the constants BLY_KEYS_… below combined with flags
 * BLY_FORM_…; it is less than 2^16. As text, it is written like this:
 *
 *      text:case=lower,trim        bytes        number
 *
 * The form 0 means "not stated". The functions that take keys as bytes
 * (bly_add, bly_contains, …) ignore the form.
 *
 * Two filters can be united, intersected or compared only if they have the same
 * form: otherwise the call is BLY_EMISMATCH. One that has no keys and states no
 * form goes with any other, and takes the form with the keys. Filters of family
 * "foreign" have no form, because the files of other systems have no room for
 * one.
 *
 * All functions here are thread-safe except bly_form_set, which changes a
 * filter.
 */
#ifndef BLOOMERY_FORM_H
#define BLOOMERY_FORM_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The classes of keys: name, value, the word for bly_form_read, and a noun for
 * messages. Numbers are stored with the lowest byte first.
 *
 *      UNSTATED    bytes of keys of any class
 *      BYTES       bytes as they are
 *      TEXT        UTF-8, with the changes that the flags name
 *      NUMBER      numbers by value: bly_integer_key, bly_real_key
 *      INT32       integers in 4 bytes
 *      INT64       integers in 8 bytes
 *      FLOAT       IEEE 754 numbers in 4 bytes
 *      DOUBLE      IEEE 754 numbers in 8 bytes
 *      UTF16       UTF-16 with the lower byte first, with changes like TEXT
 *      HEX         bytes that people write as hexadecimal digits
 *      DOMAIN      names of domains, which lie within others: like the next
 *                  two, for the functions of <bloomery/nested.h>
 *      CIDR        networks of addresses, as in 192.0.2.0/24
 *      PATH        paths of files, or of URLs */
#define BLY_KEYS_MAP(X)                                                        \
    X(UNSTATED, 0, "any",    "keys of any class")                              \
    X(BYTES,    1, "bytes",  "bytes")                                          \
    X(TEXT,     2, "text",   "text")                                           \
    X(NUMBER,   3, "number", "numbers")                                        \
    X(INT32,    4, "int32",  "integers of 32 bits")                            \
    X(INT64,    5, "int64",  "integers of 64 bits")                            \
    X(FLOAT,    6, "float",  "real numbers of 32 bits")                        \
    X(DOUBLE,   7, "double", "real numbers of 64 bits")                        \
    X(UTF16,    8, "utf16",  "text in UTF-16")                                 \
    X(HEX,      9, "hex",    "bytes")                                          \
    X(DOMAIN,  10, "domain", "names of domains")                               \
    X(CIDR,    11, "cidr",   "networks of addresses")                          \
    X(PATH,    12, "path",   "paths")

/* The words for all classes, each after a blank, for messages. */
#define BLY_KEYS_WORD(name, value, word, what) " " word
#define BLY_KEYS_WORDS BLY_KEYS_MAP(BLY_KEYS_WORD)

enum {
#define BLY_KEYS_ENUM(name, value, word, what) BLY_KEYS_##name = value,
    BLY_KEYS_MAP(BLY_KEYS_ENUM)
#undef BLY_KEYS_ENUM
    BLY_KEYS_CLASSES = 13,      /* the number of classes                     */
    BLY_FORM_CLASS   = 0x000F   /* the bits of a form that hold its class    */
};

/* The changes made to text, for the classes "text" and "utf16" only. Text is
 * trimmed before its case changes.
 *
 * case=fold is the full case folding of Unicode, so that "STRASSE" and "straße"
 * are one key. Only a library that was built with ICU can make such keys. */
enum {
    BLY_FORM_CASE    = 0x0030,  /* the bits for the case: 0 is unchanged,    */
    BLY_FORM_LOWER   = 0x0010,  /* case=lower: A to Z became a to z          */
    BLY_FORM_UPPER   = 0x0020,  /* case=upper: a to z became A to Z          */
    BLY_FORM_FOLD    = 0x0030,  /* case=fold: case was folded by Unicode     */
    BLY_FORM_TRIM    = 0x0040,  /* trim: blanks and TABs at both ends were
                                   removed                                   */
    BLY_FORM_KEEP_CR = 0x0080,  /* keep-cr: a CR at the end of a line is part
                                   of the key; without this flag, it is not  */
    BLY_FORM_JOIN    = 0x0700   /* join=…: the key is several columns joined
                                   by this separator, and with a comma, quoted
                                   where CSV requires it; 0: it is not       */
};

#define BLY_JOIN_MAP(X)                                                        \
    X(COMMA,     1, "comma")                                                   \
    X(TAB,       2, "tab")                                                     \
    X(BLANK,     3, "blank")                                                   \
    X(SEMICOLON, 4, "semicolon")                                               \
    X(BAR,       5, "bar")                                                     \
    X(COLON,     6, "colon")                                                   \
    X(OTHER,     7, "other")

enum {
#define BLY_JOIN_ENUM(name, value, word) BLY_JOIN_##name = value << 8,
    BLY_JOIN_MAP(BLY_JOIN_ENUM)
#undef BLY_JOIN_ENUM
};

/* Reads the form of keys from its text: the word for a class, then a colon and
 * the changes, separated by commas. "" is "any", 0. BLY_EPARAM. */
BLY_API bly_status bly_form_read(uint64_t *form, const char *text)
                                 BLY_GIVEN(1, 2);

/* Writes the text of a form. bly_form_read reads it. Returns `text`. */
enum { BLY_FORM_TEXT = 64 };
BLY_API char *bly_form_write(char text[BLY_FORM_TEXT], uint64_t form)
                             BLY_GIVEN(1);

/* Verifies that a number is a form. BLY_EPARAM: it is not. */
BLY_API bly_status bly_form_check(uint64_t form);

/* Returns whether two forms make the same bytes from the same key. They do if
 * they are equal and stated. So do "bytes" and "hex", which differ only in how
 * people write the bytes. */
BLY_API bool bly_form_same(uint64_t a, uint64_t b);

/* Returns the form of a filter's keys. */
BLY_API uint64_t bly_form_of(const bly_filter *filter) BLY_GIVEN(1);

/* Sets the form of a filter's keys, both of present and of later ones. The
 * filter must not have a form yet, and no keys if those of the form lie within
 * others (<bloomery/nested.h>): it may lack their markers. BLY_EMISMATCH (the
 * filter has another form), BLY_EPARAM (not a form; such keys; a shared
 * filter), BLY_EREADONLY, BLY_EUNSUPPORTED (a filter of family "foreign", or
 * open page by page), BLY_EIO. */
BLY_API bly_status bly_form_set(bly_filter *filter, uint64_t form)
                                BLY_GIVEN(1);

/* The type of a key in a program. */
typedef enum {
    BLY_WRITTEN,                /* UTF-8 that a person wrote, such as a line or
                                   an argument; the form says how to read it */
    BLY_TEXT,                   /* UTF-8                                     */
    BLY_BYTES,
    BLY_INTEGER,
    BLY_REAL
} bly_value_type;

typedef struct {
    bly_value_type type;
    const void    *data;        /* BLY_WRITTEN, BLY_TEXT, BLY_BYTES; may be
                                   NULL where length is 0                    */
    size_t         length;      /* bytes                                     */
    int64_t        integer;     /* BLY_INTEGER                               */
    double         real;        /* BLY_REAL                                  */
} bly_value;

/* Returns the room that bly_form_key needs: the largest size in bytes of the
 * key of a value of `length` bytes. For numbers, `length` is 0. SIZE_MAX: more
 * than can be addressed. */
BLY_API size_t bly_form_room(uint64_t form, size_t length);

/* Makes the bytes of a key from a value, by a form. key->data is value->data if
 * the form changes nothing. Otherwise it is `room`, a buffer of bly_form_room
 * bytes that does not overlap the value.
 *
 * With form 0, text and bytes are keys as they are, and numbers are the keys of
 * bly_integer_key and bly_real_key.
 *
 * BLY_EFORM: the value has another class than the form, for example text where
 * the keys are numbers, or the form is for bly_nested_key. bly_why names the
 * class of the filter. A BLY_WRITTEN
 * value is accepted by all classes but "bytes", because the text "7" may mean
 * its byte or its digits: use BLY_BYTES, or the form "hex". BLY_EPARAM: the
 * value is not in the range of the class, such as text that is not a number, an
 * integer that is too large, or invalid UTF-8 where it must be read ("utf16",
 * case=fold). BLY_EUNSUPPORTED: the form has case=fold, and the library was
 * built without ICU. */
BLY_API bly_status bly_form_key(bly_key *key, uint64_t form,
                                const bly_value *value, void *room)
                                BLY_MUST BLY_GIVEN(1, 3);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_FORM_H */
