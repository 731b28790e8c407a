/* native_keys.c - many keys of Python, as the library takes them.
 *
 * A batch is keys where they lie: in arrays of numpy, in the buffers of Arrow,
 * or in memory that native_gather.c fills from a list. Most layouts are those
 * of bly_keys, or become them without a copy of the keys:
 *
 *      PLAIN       bly_keys: rows of one width, or bytes divided by offsets
 *      VIEWS       Arrow's views: each row holds a short text, or says where
 *                  a long one is
 *      WORDS       Arrow's dictionaries: each row is an index
 *      NUMBERS     integers and reals of any width
 *      UCS4        texts of numpy: rows of 32-bit characters
 *
 * A large batch is made ready a slice at a time, in memory that is used again
 * for the next slice: so the copies stay in the processor's cache, and a batch
 * needs no memory in proportion to its size. Views, words and rows with missing
 * values become pointers to the keys. Numbers and texts of numpy are converted.
 */
#include <bloomery.h>
#include <bloomery/nested.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    HELD_MORE      = 1000,              /* a part of the keys is done        */
    HELD_CLOSED    = -1000,
    HELD_MIXED     = -1001,             /* a first batch of several classes  */
    HELD_BEYOND    = -1002,             /* an integer beyond the form's range*/
    HELD_FALLS     = -1003,             /* offsets that fall                 */
    HELD_BUSY      = -1004,             /* in use by a call of this thread   */
    HELD_RAISED    = -1005,             /* Python raised while it was asked  */
    HELD_OUTSIDE_V = -1006,             /* a view of bytes that do not exist */
    HELD_NO_WORD   = -1007,             /* an index outside the dictionary   */
    HELD_SURROGATE = -1008,             /* text with half a surrogate        */
    HELD_CUT       = -1009              /* a mapped file was cut short       */
};

/* Keys of a batch between two questions to Python: some milliseconds. Keys that
 * are made ready together. */
enum { HELD_PART = 1 << 17, HELD_SLICE = 1 << 11 };

/* The bytes of numpy's texts that are made ready together. */
enum { HELD_SLICE_BYTES = 1 << 16 };

/* Types of keys are those of bly_value, one for integers from 2^63 to 2^64 - 1,
 * and one for UUIDs, which are bytes that people write in hexadecimal digits.
 * Numbers are 8 bytes, the lowest first: an integer as such, a real number as a
 * double. Texts, bytes and integers are keys as they are, if the form of the
 * filter is the whole class or is not stated. */
enum { HELD_LARGE = BLY_REAL + 1, HELD_UUID, HELD_MISSING = -1 };

enum { HELD_PLAIN, HELD_VIEWS, HELD_WORDS, HELD_NUMBERS, HELD_UCS4 };

/* Keys of one type, or each of its own in `types`. valid[i] is 0 for a missing
 * value, which is not a key; NULL: none is missing. Without offsets, row i is
 * at data + i * width, in every layout. */
typedef struct held_batch held_batch;
struct held_batch {
    size_t               n;
    const void          *data;
    const uint32_t      *offsets32;
    const uint64_t      *offsets64;
    size_t               width;
    uint64_t             padded;
    int                  type;
    const unsigned char *types, *valid;
    size_t               done;          /* rows that are done                */
    size_t               before;        /* rows of batches before this one   */
    int                  layout;
    char                 number;        /* NUMBERS, WORDS: the type of a row,
                                           as Arrow's letter                 */
    const void *const   *buffers;       /* VIEWS: of long texts, …           */
    const int64_t       *sizes;         /* … their sizes, …                  */
    size_t               n_buffers;     /* … and how many there are          */
    const held_batch    *words;         /* WORDS: the dictionary, …          */
    const bly_key       *each;          /* … and its keys, or NULL           */
};

/* ---- Forms --------------------------------------------------------------- */

/* Returns whether keys of a type can have any length. */
static bool held_is_text(int type)
{
    return type == BLY_TEXT || type == BLY_BYTES || type == HELD_UUID;
}

static bool held_is_key(uint64_t form, int type)
{
    uint64_t class = form & BLY_FORM_CLASS;
    if (form == BLY_KEYS_UNSTATED)
        return held_is_text(type) || type == BLY_INTEGER;
    switch (type) {
    case BLY_TEXT:
        return class == BLY_KEYS_TEXT
            && (form & (BLY_FORM_CASE | BLY_FORM_TRIM)) == 0;
    case BLY_BYTES:
    case HELD_UUID:
        return class == BLY_KEYS_BYTES || class == BLY_KEYS_HEX;
    case BLY_INTEGER:
        return class == BLY_KEYS_NUMBER || class == BLY_KEYS_INT64;
    default:
        return false;
    }
}

/* Returns the form set by the first keys of a filter, from their type. */
static uint64_t held_form_of_type(int type)
{
    return type == BLY_TEXT ? BLY_KEYS_TEXT
         : type == BLY_BYTES ? BLY_KEYS_BYTES
         : type == HELD_UUID ? BLY_KEYS_HEX : BLY_KEYS_NUMBER;
}

static inline bool held_lowest_first(void)
{
    const uint16_t one = 1;
    char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static inline uint64_t held_swap(uint64_t number)
{
    number = (number & UINT64_C(0x00FF00FF00FF00FF)) << 8
           | (number >> 8 & UINT64_C(0x00FF00FF00FF00FF));
    number = (number & UINT64_C(0x0000FFFF0000FFFF)) << 16
           | (number >> 16 & UINT64_C(0x0000FFFF0000FFFF));
    return number << 32 | number >> 32;
}

static inline uint64_t held_u64(const char *data)
{
    uint64_t number;
    memcpy(&number, data, sizeof number);
    return held_lowest_first() ? number : held_swap(number);
}

static inline void held_set_u64(char *data, uint64_t number)
{
    if (!held_lowest_first())
        number = held_swap(number);
    memcpy(data, &number, sizeof number);
}

static uint64_t held_bits(double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static double held_real(const char *data)
{
    uint64_t bits = held_u64(data);
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

/* Returns the key of a real number, equal to that of bly_real_key. */
static uint64_t held_real_key(double real)
{
    if (real >= -0x1p63 && real < 0x1p63) {
        int64_t whole = (int64_t)real;
        if ((double)whole == real)
            return (uint64_t)whole;
    }
    return isnan(real) ? UINT64_C(0x7FF8) << 48 : held_bits(real);
}

/* Makes the key of an integer from 2^63 to 2^64 - 1. Classes of other keys
 * refuse it whatever its value. */
static int held_large_key(bly_key *key, uint64_t form, const char *data,
                          void *room)
{
    uint64_t class = form & BLY_FORM_CLASS, large = held_u64(data);
    double real = (double)large;
    bly_value value = { .type = BLY_INTEGER };
    switch (class) {
    case BLY_KEYS_INT64:
        *key = (bly_key){ data, 8 };
        return BLY_OK;
    case BLY_KEYS_FLOAT:
    case BLY_KEYS_DOUBLE:
        if (!(real < 0x1p64) || (uint64_t)real != large)
            return HELD_BEYOND;
        value.type = BLY_REAL;
        value.real = real;
        break;
    case BLY_KEYS_UNSTATED:
    case BLY_KEYS_NUMBER:
    case BLY_KEYS_INT32:
        return HELD_BEYOND;
    }
    return (int)bly_form_key(key, form, &value, room);
}

/* Makes the key of a value in a form; `room` has bly_form_room bytes. */
static int held_key_by(bly_key *key, uint64_t form, int type, const char *data,
                       size_t length, void *room)
{
    *key = (bly_key){ data, length };
    if (held_is_key(form, type))
        return BLY_OK;
    if (type == HELD_LARGE)
        return held_large_key(key, form, data, room);
    bly_value value = {
        .type = type == HELD_UUID ? BLY_BYTES : (bly_value_type)type,
    };
    if (type == BLY_INTEGER) {
        value.integer = (int64_t)held_u64(data);
    } else if (type == BLY_REAL) {
        value.real = held_real(data);
    } else {
        value.data = data;
        value.length = length;
    }
    return (int)(bly_form_nests(form) ? bly_nested_key : bly_form_key)(
        key, form, &value, room);
}

/* ---- Rows ---------------------------------------------------------------- */

static bool held_is_there(const held_batch *b, size_t i)
{
    return b->valid == NULL || b->valid[i] != 0;
}

static size_t held_missing(const held_batch *b)
{
    size_t n = 0;
    for (size_t i = 0; b->valid != NULL && i < b->n; i++)
        n += b->valid[i] == 0;
    return n;
}

/* Returns the type of the values of row i. */
static int held_type(const held_batch *b, size_t i)
{
    return b->types != NULL ? b->types[i] : b->type;
}

/* Reads a number of the host, sign-extended. Reals have held_widen. */
static inline uint64_t held_integer(const char *at, char number)
{
    union {
        int8_t   c;
        uint8_t  C;
        int16_t  s;
        uint16_t S;
        int32_t  i;
        uint32_t I;
        uint64_t L;
    } as;
    switch (number) {
    case 'c': memcpy(&as.c, at, 1); return (uint64_t)(int64_t)as.c;
    case 'C': memcpy(&as.C, at, 1); return as.C;
    case 's': memcpy(&as.s, at, 2); return (uint64_t)(int64_t)as.s;
    case 'S': memcpy(&as.S, at, 2); return as.S;
    case 'i': memcpy(&as.i, at, 4); return (uint64_t)(int64_t)as.i;
    case 'I': memcpy(&as.I, at, 4); return as.I;
    default:  memcpy(&as.L, at, 8); return as.L;
    }
}

static inline int held_plain_at(bly_key *key, const held_batch *b, size_t i)
{
    const char *data = b->data;
    uint64_t begin = i * b->width, end = begin + b->width, last = end;
    if (b->offsets32 != NULL) {
        begin = b->offsets32[i];
        end = b->offsets32[i + 1];
        last = b->offsets32[b->n];
    } else if (b->offsets64 != NULL) {
        begin = b->offsets64[i];
        end = b->offsets64[i + 1];
        last = b->offsets64[b->n];
    }
    if (begin > end || end > last)
        return HELD_FALLS;
    while (b->padded != 0 && end > begin && data[end - 1] == 0)
        end--;
    *key = (bly_key){ end > begin ? data + begin : "", (size_t)(end - begin) };
    return held_type(b, i);
}

/* A row of Arrow's views, of which the beginning of a long text is not needed.
 */
enum { HELD_VIEW = 16, HELD_VIEW_SHORT = 12 };

static inline int held_view_at(bly_key *key, const held_batch *b, size_t i)
{
    const char *view = (const char *)b->data + i * HELD_VIEW;
    int32_t part[4];                    /* length, beginning, buffer, place  */
    memcpy(part, view, sizeof part);
    int64_t length = part[0], at = part[3];
    if (length >= 0 && length <= HELD_VIEW_SHORT) {
        *key = (bly_key){ view + 4, (size_t)length };
        return b->type;
    }
    size_t buffer = (uint32_t)part[2];
    if (length < 0 || buffer >= b->n_buffers || at < 0
        || at > b->sizes[buffer] - length)
        return HELD_OUTSIDE_V;
    *key = (bly_key){ (const char *)b->buffers[buffer] + at, (size_t)length };
    return b->type;
}

/* Finds the value of row i, of a batch in this layout, which is not one of rows
 * to convert. Returns its type, HELD_MISSING, or an error. */
static inline int held_at(bly_key *key, const held_batch *b, int layout,
                          size_t i)
{
    if (!held_is_there(b, i))
        return HELD_MISSING;
    if (layout != HELD_WORDS)
        return layout == HELD_VIEWS ? held_view_at(key, b, i)
                                    : held_plain_at(key, b, i);
    i = (size_t)held_integer((const char *)b->data + i * b->width, b->number);
    if (i >= b->words->n)
        return HELD_NO_WORD;
    if (b->each != NULL) {
        *key = b->each[i];
        return held_type(b->words, i);
    }
    return b->words->layout == HELD_VIEWS ? held_view_at(key, b->words, i)
                                          : held_plain_at(key, b->words, i);
}

/* ---- Memory that is used again ------------------------------------------- */

typedef struct { void *at; size_t bytes; } held_space;

/* Returns at least this much memory, with what it held, or NULL. */
static void *held_grow(held_space *space, size_t bytes)
{
    if (bytes <= space->bytes && space->at != NULL)
        return space->at;
    size_t most = bytes <= SIZE_MAX / 4 ? bytes + bytes / 2 + 64 : 0;
    void *at = most > 0 ? realloc(space->at, most) : NULL;
    if (at != NULL)
        *space = (held_space){ at, most };
    return at;
}

/* Keys of a slice, made by a form, in memory of its own where they had to be
 * changed. Where one of them cannot be, `status` says why, and those before it
 * are here. */
typedef struct {
    bly_keys   keys;
    int        status;
    held_space each;                    /* bly_key of rows that are changed
                                           nowhere                           */
    held_space plain, plain_ends, types;/* rows that were converted          */
    held_space data, ends;              /* keys that the form changed        */
    size_t     used;
} held_ready;

static void held_ready_free(held_ready *r)
{
    free(r->each.at);
    free(r->plain.at);
    free(r->plain_ends.at);
    free(r->types.at);
    free(r->data.at);
    free(r->ends.at);
}

/* ---- Numbers and texts of numpy ------------------------------------------ */

/* Converts a number of IEEE 754 in 16 bits. */
static double held_half(const char *at)
{
    uint16_t half;
    memcpy(&half, at, sizeof half);
    uint64_t sign = (uint64_t)(half >> 15) << 63, part = half & 0x3FF;
    int power = half >> 10 & 0x1F;
    double real;
    if (power == 0) {
        real = (double)part * 0x1p-24;
        return sign != 0 ? -real : real;
    }
    uint64_t bits = sign | part << 42
                  | (power == 31 ? UINT64_C(0x7FF) : (uint64_t)power + 1008)
                    << 52;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static void held_widen_reals(char *out, const held_batch *b)
{
    const char *from = b->data;
    for (size_t i = 0; i < b->n; i++) {
        float narrow;
        double real;
        if (b->number == 'f') {
            memcpy(&narrow, from + 4 * i, sizeof narrow);
            real = (double)narrow;
        } else if (b->number == 'e') {
            real = held_half(from + 2 * i);
        } else {
            memcpy(&real, from + 8 * i, sizeof real);
        }
        held_set_u64(out + 8 * i, held_bits(real));
    }
}

/* Marks integers from 2^63 on, if there are any. */
static bool held_mark_large(held_ready *r, held_batch *b)
{
    const char *rows = b->data;
    uint64_t any = 0;
    for (size_t i = 0; i < b->n; i++)
        any |= held_u64(rows + 8 * i);
    if (any >> 63 == 0)
        return true;
    unsigned char *types = held_grow(&r->types, b->n);
    for (size_t i = 0; types != NULL && i < b->n; i++)
        types[i] = held_u64(rows + 8 * i) >> 63 != 0 ? HELD_LARGE : BLY_INTEGER;
    b->types = types;
    return types != NULL;
}

/* Converts numbers to 8 bytes each. */
static int held_widen(held_ready *r, held_batch *b)
{
    const char *from = b->data;
    char *out = held_grow(&r->plain, 8 * b->n), number = b->number;
    if (out == NULL)
        return BLY_ENOMEM;
    if (b->type == BLY_REAL)
        held_widen_reals(out, b);
#define HELD_WIDEN(letter, size)                                               \
    else if (number == (letter))                                               \
        for (size_t i = 0; i < b->n; i++)                                      \
            held_set_u64(out + 8 * i, held_integer(from + (size) * i, letter))
    HELD_WIDEN('c', 1);
    HELD_WIDEN('C', 1);
    HELD_WIDEN('s', 2);
    HELD_WIDEN('S', 2);
    HELD_WIDEN('i', 4);
    HELD_WIDEN('I', 4);
    else
        for (size_t i = 0; i < b->n; i++)
            held_set_u64(out + 8 * i, held_integer(from + 8 * i, 'l'));
#undef HELD_WIDEN
    b->layout = HELD_PLAIN;
    b->data = out;
    b->width = 8;
    return number != 'L' || held_mark_large(r, b) ? BLY_OK : BLY_ENOMEM;
}

static size_t held_put_utf8(char *out, uint32_t c)
{
    unsigned char *to = (unsigned char *)out;
    if (c < 0x80) {
        to[0] = (unsigned char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (unsigned char)(0xC0 | c >> 6);
        to[1] = (unsigned char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (unsigned char)(0xE0 | c >> 12);
        to[1] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
        to[2] = (unsigned char)(0x80 | (c & 0x3F));
        return 3;
    }
    to[0] = (unsigned char)(0xF0 | (c >> 18 & 7));
    to[1] = (unsigned char)(0x80 | (c >> 12 & 0x3F));
    to[2] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
    to[3] = (unsigned char)(0x80 | (c & 0x3F));
    return 4;
}

static uint64_t held_two(const char *text)
{
    uint64_t two;
    memcpy(&two, text, sizeof two);
    return two;
}

/* Writes the characters before the first four that are not all ASCII. Returns
 * how many they are, a multiple of 4. Two characters are read as one number. */
static size_t held_ascii(char *out, const char *text, size_t length)
{
    const uint64_t beyond = UINT64_C(0xFFFFFF80FFFFFF80);
    const unsigned high = held_lowest_first() ? 32 : 0, low = 32 - high;
    size_t i = 0;
    for (; i + 4 <= length; i += 4) {
        uint64_t a = held_two(text + 4 * i), b = held_two(text + 4 * i + 8);
        if (((a | b) & beyond) != 0)
            break;
        out[i] = (char)(a >> low);
        out[i + 1] = (char)(a >> high);
        out[i + 2] = (char)(b >> low);
        out[i + 3] = (char)(b >> high);
    }
    return i;
}

/* Writes the UTF-8 of a text, of which escaped bytes (surrogateescape) become
 * the original bytes. Returns its length; SIZE_MAX: something is not a
 * character. */
static size_t held_utf8(char *out, const char *text, size_t length)
{
    size_t used = held_ascii(out, text, length);
    for (size_t i = used; i < length; i++) {
        uint32_t c;
        memcpy(&c, text + 4 * i, 4);
        if (c >= 0xDC80 && c <= 0xDCFF)
            out[used++] = (char)(c & 0xFF);
        else if ((c >= 0xD800 && c <= 0xDFFF) || c > 0x10FFFF)
            return SIZE_MAX;
        else
            used += held_put_utf8(out + used, c);
    }
    return used;
}

/* Returns the characters of a row before the zeros at its end. */
static size_t held_ucs4_length(const char *text, size_t width)
{
    uint32_t last;
    while (width >= 8 && held_two(text + width - 8) == 0)
        width -= 8;
    if (width >= 4) {
        memcpy(&last, text + width - 4, sizeof last);
        width -= last == 0 ? 4 : 0;
    }
    return width / 4;
}

/* Converts numpy's texts to UTF-8, which has at most as many bytes. */
static int held_narrow(held_ready *r, held_batch *b)
{
    const char *from = b->data;
    size_t n = b->n, used = 0, width = b->width;
    char *out = held_grow(&r->plain, n * width + 1);
    uint64_t *ends = held_grow(&r->plain_ends, (n + 1) * sizeof *ends);
    b->n = 0;
    if (out == NULL || ends == NULL)
        return BLY_ENOMEM;
    b->layout = HELD_PLAIN;
    b->data = out;
    b->offsets64 = ends;
    b->width = 0;
    ends[0] = 0;
    for (size_t i = 0; i < n; i++) {
        const char *text = from + i * width;
        size_t length = held_utf8(out + used, text,
                                  held_ucs4_length(text, width));
        if (length == SIZE_MAX && held_is_there(b, i))
            return HELD_SURROGATE;
        used += length != SIZE_MAX ? length : 0;
        ends[++b->n] = used;
    }
    return BLY_OK;
}

/* ---- Keys made ready ----------------------------------------------------- */

/* Appends the key that the form makes of a value. */
static int held_append(held_ready *r, uint64_t form, int type, bly_key from)
{
    size_t room = bly_form_room(form, held_is_text(type) ? from.length : 0);
    bly_key key;
    if (room < from.length)
        room = from.length;
    if (room > SIZE_MAX / 4 || held_grow(&r->data, r->used + room) == NULL)
        return BLY_ENOMEM;
    char *to = (char *)r->data.at + r->used;
    int status = held_key_by(&key, form, type, from.data, from.length, to);
    if (status < 0)
        return status;
    if (key.data != to && key.length > 0)
        memmove(to, key.data, key.length);
    r->used += key.length;
    ((uint64_t *)r->ends.at)[++r->keys.n] = r->used;
    return BLY_OK;
}

static int held_append_all(held_ready *r, uint64_t form, const held_batch *b)
{
    uint64_t *ends = held_grow(&r->ends, (b->n + 1) * sizeof *ends);
    int status = ends == NULL ? BLY_ENOMEM : BLY_OK;
    r->used = 0;
    r->keys = (bly_keys){ .offsets64 = ends };
    if (ends != NULL)
        ends[0] = 0;
    for (size_t i = 0; status >= 0 && i < b->n; i++) {
        bly_key from;
        int type = held_at(&from, b, b->layout, i);
        if (type >= 0)
            status = held_append(r, form, type, from);
        else if (type != HELD_MISSING)
            status = type;
    }
    r->keys.data = r->data.at != NULL ? r->data.at : "";
    return status;
}

/* Makes keys of real numbers, equal to those of bly_form_key but faster, for a
 * filter whose numbers are keys by value, or without a form. Returns false in
 * other cases. */
static bool held_make_reals(held_ready *r, uint64_t form, const held_batch *b)
{
    const char *from = b->data;
    if (b->layout != HELD_PLAIN || b->types != NULL || b->type != BLY_REAL
        || b->width != 8 || b->offsets64 != NULL
        || (form != BLY_KEYS_UNSTATED && form != BLY_KEYS_NUMBER)
        || held_grow(&r->data, 8 * b->n) == NULL)
        return false;
    char *to = r->data.at;
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        held_set_u64(to + 8 * n, held_real_key(held_real(from + 8 * i)));
        n += held_is_there(b, i);
    }
    r->keys = (bly_keys){ .data = to, .width = 8, .n = n };
    return true;
}

static inline int held_point_in(held_ready *r, const held_batch *from,
                                int layout)
{
    const held_batch b = *from;         /* which no store below can change   */
    bly_key *to = r->each.at;
    int status = BLY_OK;
    size_t n = 0;
    for (size_t i = 0; i < b.n; i++) {
        int type = held_at(&to[n], &b, layout, i);
        if (type < HELD_MISSING) {
            status = type;
            break;
        }
        n += type >= 0;
    }
    r->keys.n = n;
    return status;
}

/* Points to text or bytes between offsets. */
static inline int held_point_between(held_ready *r, const held_batch *from,
                                     bool large)
{
    const held_batch b = *from;
    const char *data = b.data;
    bly_key *to = r->each.at;
    uint64_t last = large ? b.offsets64[b.n] : b.offsets32[b.n];
    bool falls = false;
    size_t n = 0;
    for (size_t i = 0; i < b.n; i++) {
        uint64_t begin = large ? b.offsets64[i] : b.offsets32[i];
        uint64_t end = large ? b.offsets64[i + 1] : b.offsets32[i + 1];
        falls |= begin > end || end > last;
        to[n] = (bly_key){ data + begin, (size_t)(end - begin) };
        n += held_is_there(&b, i);
    }
    r->keys.n = falls ? 0 : n;
    return falls ? HELD_FALLS : BLY_OK;
}

/* Points to keys that no form changes, without the missing ones. */
static int held_point(held_ready *r, const held_batch *b)
{
    r->keys.keys = held_grow(&r->each, (b->n + 1) * sizeof(bly_key));
    if (r->keys.keys == NULL)
        return BLY_ENOMEM;
    if (b->layout == HELD_VIEWS)
        return held_point_in(r, b, HELD_VIEWS);
    if (b->layout == HELD_WORDS)
        return held_point_in(r, b, HELD_WORDS);
    if (b->offsets32 != NULL)
        return held_point_between(r, b, false);
    if (b->offsets64 != NULL)
        return held_point_between(r, b, true);
    return held_point_in(r, b, HELD_PLAIN);
}

/* Returns whether the values of a batch are keys as they are, missing ones
 * aside. */
static bool held_is_keys(const held_batch *b, uint64_t form)
{
    return b->types == NULL && held_is_key(form, b->type)
        && (b->layout != HELD_WORDS || b->words->types == NULL);
}

/* Returns whether the library can take a batch where it lies. */
static bool held_is_direct(const held_batch *b, uint64_t form)
{
    return b->layout == HELD_PLAIN && b->valid == NULL && held_is_keys(b, form)
        && (b->width > 0 || b->offsets32 != NULL || b->offsets64 != NULL);
}

/* Returns key i of those that held_append_all made. */
static bly_key held_key_at(const bly_keys *keys, size_t i)
{
    uint64_t begin = keys->offsets64[i];
    return (bly_key){ (const char *)keys->data + begin,
                      (size_t)(keys->offsets64[i + 1] - begin) };
}

/* Makes the keys of a slice. */
static void held_make_ready(held_ready *r, uint64_t form, held_batch *b)
{
    r->status = b->layout == HELD_NUMBERS ? held_widen(r, b)
              : b->layout == HELD_UCS4 ? held_narrow(r, b) : BLY_OK;
    int status;
    r->keys = (bly_keys){ .n = 0 };
    if (r->status == BLY_ENOMEM)
        return;
    if (held_is_direct(b, form)) {
        r->keys = (bly_keys){
            .n = b->n, .data = b->data, .offsets32 = b->offsets32,
            .offsets64 = b->offsets64, .width = b->width, .padded = b->padded,
        };
        return;
    }
    if (held_make_reals(r, form, b))
        return;
    status = held_is_keys(b, form) ? held_point(r, b)
                                   : held_append_all(r, form, b);
    if (status < 0)
        r->status = status;
}

/* Takes rows of a batch from `at` on that are made ready together. Returns
 * false if its offsets decrease, as they might lead beyond its data. */
static bool held_slice(held_batch *slice, const held_batch *b, size_t at,
                       uint64_t form)
{
    size_t most = held_is_direct(b, form) ? HELD_PART : HELD_SLICE;
    if (b->layout == HELD_UCS4 && b->width > HELD_SLICE_BYTES / HELD_SLICE)
        most = HELD_SLICE_BYTES / b->width + 1;
    *slice = *b;
    slice->n = b->n - at < most ? b->n - at : most;
    if (b->types != NULL)
        slice->types += at;
    if (b->valid != NULL)
        slice->valid += at;
    if (b->offsets32 != NULL) {
        slice->offsets32 += at;
        return slice->offsets32[slice->n] <= b->offsets32[b->n];
    }
    if (b->offsets64 != NULL) {
        slice->offsets64 += at;
        return slice->offsets64[slice->n] <= b->offsets64[b->n];
    }
    if (b->width > 0)
        slice->data = (const char *)b->data + at * b->width;
    return true;
}

/* Returns the type of the values of row i, in any layout. */
static int held_type_of_row(const held_batch *b, size_t i)
{
    if (b->layout != HELD_WORDS)
        return held_type(b, i);
    i = (size_t)held_integer((const char *)b->data + i * b->width, b->number);
    return i < b->words->n ? held_type(b->words, i) : b->type;
}

/* Returns the form that a first batch sets. */
static int held_first_form(uint64_t *form, const held_batch *b)
{
    bool several = b->types != NULL
                || (b->layout == HELD_WORDS && b->words->types != NULL);
    *form = BLY_KEYS_UNSTATED;
    for (size_t i = 0; i < b->n; i++) {
        if (!held_is_there(b, i))
            continue;
        uint64_t states = held_form_of_type(held_type_of_row(b, i));
        if (*form == BLY_KEYS_UNSTATED)
            *form = states;
        else if (!bly_form_same(states, *form))
            return HELD_MIXED;
        if (!several)
            break;
    }
    return BLY_OK;
}

/* Moves the answers of the keys to the rows where the keys are; a missing one
 * has the answer 0. Key `left` is the last one of the first i + 1 rows. */
static void held_spread_flags(bool *answers, const held_batch *b)
{
    size_t left = b->n - held_missing(b);
    for (size_t i = b->n; b->valid != NULL && i-- > 0; ) {
        left -= b->valid[i] != 0;
        answers[i] = (b->valid[i] != 0) & answers[left];
    }
}

static void held_spread_numbers(uint64_t *answers, const held_batch *b)
{
    size_t left = b->n - held_missing(b);
    for (size_t i = b->n; b->valid != NULL && i-- > 0; ) {
        left -= b->valid[i] != 0;
        answers[i] = b->valid[i] != 0 ? answers[left] : 0;
    }
}
