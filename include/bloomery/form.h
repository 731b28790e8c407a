/* bloomery/form.h - key forms: how keys were made into bytes.
 *
 * A filter holds bytes. People have texts, numbers and lines of files, and
 * whoever asks a filter must make bytes of them exactly as whoever built it
 * did, or the filter denies its own keys. So the header of an image has room
 * for the *form* of its keys, and bly_form_key makes the bytes of any key by
 * that form, for every program and language alike.
 *
 * A form is a class and, of text, the changes that were made to it. As a
 * number it is one of the BLY_KEYS_… below, with the flags of BLY_FORM_…. As
 * text it reads
 *
 *      text:case=lower,trim        bytes        number
 *
 * 0 is "not stated": the filter was made by bytes alone, and whoever asks it
 * must know how. All functions that take or add keys as bytes (bly_add,
 * bly_contains, …) heed no form. A form is at most 2^16 - 1.
 *
 * Verbs that bring two filters together (bly_unite, bly_intersect, bly_overlap,
 * …) refuse two whose forms differ, BLY_EMISMATCH. Filters of family "foreign"
 * have no form: other systems' files have no room for it.
 *
 * All functions here are thread-safe but bly_form_set, which changes a filter.
 */
#ifndef BLOOMERY_FORM_H
#define BLOOMERY_FORM_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the keys of a filter are: one list, from which come the constants and
 * their names. */
#define BLY_KEYS_MAP(X)                                                        \
    X(UNSTATED, 0, "any",    "bytes, of keys of any class")                    \
    X(BYTES,    1, "bytes",  "bytes as they are")                              \
    X(TEXT,     2, "text",   "text in UTF-8, changed as the flags say")        \
    X(NUMBER,   3, "number", "numbers by value: bly_integer_key, bly_real_key")\
    X(INT32,    4, "int32",  "integers in 4 bytes, the lowest first")          \
    X(INT64,    5, "int64",  "integers in 8 bytes, the lowest first")          \
    X(FLOAT,    6, "float",  "IEEE 754 numbers in 4 bytes, the lowest first")  \
    X(DOUBLE,   7, "double", "IEEE 754 numbers in 8 bytes, the lowest first")  \
    X(UTF16,    8, "utf16",  "text in UTF-16, the lower byte first, changed as"\
                             " the flags say")                                 \
    X(HEX,      9, "hex",    "bytes, which people write as hexadecimal digits")

enum {
#define BLY_KEYS_ENUM(name, value, word, what) BLY_KEYS_##name = value,
    BLY_KEYS_MAP(BLY_KEYS_ENUM)
#undef BLY_KEYS_ENUM
    BLY_KEYS_CLASSES = 10,      /* how many there are; no class              */
    BLY_FORM_CLASS   = 0x000F   /* the bits of a form that are its class     */
};

/* The changes that were made to a text, in this order; only of the classes
 * "text" and "utf16". */
enum {
    BLY_FORM_CASE    = 0x0030,  /* of these bits at most one is set:         */
    BLY_FORM_LOWER   = 0x0010,  /* case=lower: A to Z became a to z          */
    BLY_FORM_UPPER   = 0x0020,  /* case=upper: a to z became A to Z          */
    BLY_FORM_FOLD    = 0x0030,  /* case=fold: full case folding of Unicode   */
    BLY_FORM_TRIM    = 0x0040,  /* trim: no blank and no TAB at either end   */
    BLY_FORM_KEEP_CR = 0x0080,  /* keep-cr: a CR at the end of a line is part
                                   of the key; without it, it is not         */
    BLY_FORM_JOIN    = 0x0700   /* join=…: the key is several columns, with
                                   this between them (and, of a comma, quotes
                                   where CSV must have them); 0: it is not   */
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

/* The form that a text names: a class, and behind a colon the changes, with
 * commas between them. "" is "any", 0. BLY_EPARAM. */
BLY_API bly_status bly_form_read(uint64_t *form, const char *text)
                                 BLY_GIVEN(1, 2);

/* The text of a form, which bly_form_read reads; returns `text`. */
enum { BLY_FORM_TEXT = 64 };
BLY_API char *bly_form_write(char text[BLY_FORM_TEXT], uint64_t form)
                             BLY_GIVEN(1);

/* Is this a form? BLY_EPARAM. */
BLY_API bly_status bly_form_check(uint64_t form);

/* Are keys of both forms the same bytes whenever the same is meant by them? So
 * are those of equal forms, and of "bytes" and "hex", which differ only in how
 * people write them. A form that is not stated is like no other. */
BLY_API bool bly_form_same(uint64_t a, uint64_t b);

/* The form of a filter's keys. */
BLY_API uint64_t bly_form_of(const bly_filter *filter) BLY_GIVEN(1);

/* State the form of a filter that states none, for the keys it holds and those
 * to come. BLY_EMISMATCH (it has another form), BLY_EPARAM (no form; a shared
 * filter), BLY_EREADONLY, BLY_EUNSUPPORTED (a filter of another system's
 * format; one that is open page by page), BLY_EIO. */
BLY_API bly_status bly_form_set(bly_filter *filter, uint64_t form)
                                BLY_GIVEN(1);

/* A key as a program has it. */
typedef enum {
    BLY_WRITTEN,                /* as people write it, in UTF-8: a line, an
                                   argument. It is read as the form says     */
    BLY_TEXT,                   /* a text, in UTF-8                          */
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

/* The most bytes that the key of a value of so many bytes takes; for numbers
 * give 0. SIZE_MAX: more than can be addressed. */
BLY_API size_t bly_form_room(uint64_t form, size_t length);

/* The key of a value, by a form. key->data is value->data where nothing
 * changes, or `room`, which has as many bytes as bly_form_room says and is not
 * where the value is.
 *
 * Where the form is not stated texts and bytes are keys as they are, and
 * numbers as bly_integer_key and bly_real_key have them.
 *
 * BLY_EFORM: the value is of another class than the form's, as a text is where
 * the keys are numbers: bly_why says what the filter holds. What is BLY_WRITTEN
 * is of any class but "bytes", which nobody can write: the text "7" or its
 * digits as bytes? Say BLY_BYTES, or use the form "hex".
 * BLY_EPARAM: it is of the class and out of its range: no number, no digits, no
 * UTF-8 where it must be read, an integer that the class does not hold.
 * BLY_EUNSUPPORTED: case=fold, in a library that was built without Unicode. */
BLY_API bly_status bly_form_key(bly_key *key, uint64_t form,
                                const bly_value *value, void *room)
                                BLY_MUST BLY_GIVEN(1, 3);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_FORM_H */
