/* gaps.c - sorted numbers as the gaps between them, in Golomb's code.
 *
 * WHAT IT IS
 *
 * What ranks of a job, or caches of a network, have to tell each other are
 * often sets of numbers that look random: hashes, cut to a range just large
 * enough. Sorted, only the gaps between neighbours need be sent, and no code
 * of them is shorter than Golomb's [Golomb 1966; Gallager 1975].
 *
 * THE PICTURE (divisor M = 5; the numbers 3, 12, 14, 31)
 *
 *      number     3       12       14       31
 *      gap        3        8        1       16       numbers passed over
 *      quotient   0        1        0        3       gap / M, in ones: so
 *      remainder  3        3        1        1       many zeros, then a one
 *
 *      bits, first to last:  1 110 | 01 110 | 1 10 | 0001 10
 *
 * A remainder takes b - 1 or b bits, where 2^b is the least power of two that
 * is not below M (truncated binary): of the 2^b - M smallest ones b - 1 bits,
 * lowest first; of an r above them the sum r + 2^b - M, whose b - 1 upper bits
 * come first, lowest of them first, and then its lowest bit. Here b = 3: 0, 1
 * and 2 take two bits, 3 and 4 three: 110 and 111. Where M is a power of two
 * this is Rice's code [Rice 1971].
 *
 * FORM
 *
 *      how many numbers n      seven bits a byte, the lowest first; the top
 *      the divisor M           bit says that more follow; the shortest form
 *      the code                bit i is bit i mod 8 of byte i / 8; the last
 *                              byte is filled with zeros
 *
 * MATHS
 *
 * Of n random numbers below R each place is taken with chance p = n / R, and
 * gaps are geometric. The best M is the least with
 *
 *      (1 - p)^M + (1 - p)^(M + 1) <= 1,  about ln 2 / p,                (1)
 *
 * and a number takes then log2(1/p) + 1.47 bits for small p, 0.03 more than
 * the entropy. Measured, two million numbers:
 *
 *      R / n         2      5.4     39      287     5649    10^5
 *      bits        2.54    3.91    6.77    9.64    13.94   18.23
 *      - log2 R/n  1.20    1.35    1.458   1.472   1.473   1.468
 *
 * The kind `gcs` lays its remainders apart, to be sifted without being
 * decoded; here the code is read from front to back, which needs no index and
 * takes any M.
 *
 * WHAT COMES BACK
 *
 * The reader trusts nothing: for any bytes the numbers it gives rise and are
 * below the range, and there are at most eight for each byte. It is a small
 * struct without memory of its own: a copy of it is a place to come back to.
 *
 * PAPERS
 *
 *  [Golomb 1966]    Run-length encodings, IEEE Trans. Information Theory 12(3)
 *  [Gallager 1975]  Gallager & Van Voorhis, Optimal source codes for
 *                   geometrically distributed integer alphabets, IEEE Trans.
 *                   Information Theory 21(2). (1), and that it is the best.
 *  [Rice 1971]      Rice & Plaunt, Adaptive variable-length coding for
 *                   efficient compression of spacecraft television data, IEEE
 *                   Trans. Communication Technology 19(6)
 */
#include "bloomery/gaps.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/platform.h"
#include "base/sizes.h"
#include "base/status.h"
#include "image/image.h"

#define GAPS_RANGE_MAX (UINT64_C(1) << 63)

enum { GAPS_NUMBER = 10 };              /* bytes of a number, at most */

/* ---- Divisor and sizes ------------------------------------------------- */

/* Bits of the longer remainders. */
static unsigned gaps_width(uint64_t divisor)
{
    unsigned width = 0;
    while (UINT64_C(1) << width < divisor)      /* 2^63 at most: it ends */
        width++;
    return width;
}

uint64_t bly_gaps_divisor(uint64_t n, uint64_t range)
{
    if (n == 0 || n >= range)
        return 1;
    double p = (double)n / (double)range;
    double best = ceil(-log1p(1 - p) / log1p(-p));
    return best > 1 && best < (double)range ? (uint64_t)best : 1;
}

static size_t gaps_number_bytes(uint64_t number)
{
    size_t bytes = 1;
    while (number >>= 7)
        bytes++;
    return bytes;
}

/* Returns the size of the head and that many bits of code; SIZE_MAX if too
   large. */
static size_t gaps_bytes(uint64_t n, uint64_t divisor, uint64_t bits)
{
    uint64_t bytes = gaps_number_bytes(n) + gaps_number_bytes(divisor)
                   + bits / 8 + (bits % 8 != 0);
    return sizes_fits(bytes) ? (size_t)bytes : SIZE_MAX;
}

size_t bly_gaps_room(uint64_t n, uint64_t range, uint64_t divisor)
{
    uint64_t bits;
    if (divisor == 0)
        divisor = bly_gaps_divisor(n, range);
    if (divisor > GAPS_RANGE_MAX              /* no list is packed with these */
        || !sizes_mul(&bits, n, gaps_width(divisor) + 1)
        || !sizes_add(&bits, bits, n > 0 ? range / divisor : 0))
        return SIZE_MAX;
    return gaps_bytes(n, divisor, bits);
}

/* ---- Packing ----------------------------------------------------------- */

/* The parameters of the code; `brief` remainders are one bit shorter. */
typedef struct {
    uint64_t divisor, brief;
    unsigned width;
} gaps_code;

static gaps_code gaps_code_for(uint64_t divisor)
{
    unsigned width = gaps_width(divisor);
    return (gaps_code){ divisor, (UINT64_C(1) << width) - divisor, width };
}

/* Computes the bits of the code of all gaps. */
static bly_status gaps_measure(uint64_t *bits, const gaps_code *c,
                               const uint64_t *numbers, size_t n,
                               uint64_t range)
{
    uint64_t sum = 0, next = 0;
    for (size_t i = 0; i < n; i++) {
        if (numbers[i] < next || numbers[i] >= range)
            return status_fail(BLY_EPARAM, "number %zu of the list is not "
                               "above the one before, or not below the range: "
                               "sort the numbers, and remove duplicates", i);
        uint64_t gap = numbers[i] - next;
        sum += gap / c->divisor + c->width
             + (gap % c->divisor >= c->brief || c->width == 0);
        next = numbers[i] + 1;
    }
    *bits = sum;
    return BLY_OK;
}

/* Bits on their way to bytes: fewer than eight wait in `word`. */
typedef struct {
    uint8_t *out;
    uint64_t word;
    unsigned used;
} gaps_writer;

/* Appends `value`, of at most 32 bits. */
PLATFORM_INLINE void gaps_put(gaps_writer *w, uint64_t value, unsigned bits)
{
    w->word |= value << w->used;
    for (w->used += bits; w->used >= 8; w->used -= 8) {
        *w->out++ = (uint8_t)w->word;
        w->word >>= 8;
    }
}

static void gaps_put_long(gaps_writer *w, uint64_t value, unsigned bits)
{
    if (bits > 32) {
        gaps_put(w, value & UINT32_MAX, 32);
        value >>= 32;
        bits -= 32;
    }
    gaps_put(w, value, bits);
}

static void gaps_put_gap(gaps_writer *w, const gaps_code *c, uint64_t gap)
{
    uint64_t quotient = gap / c->divisor, rest = gap % c->divisor;
    for (; quotient >= 32; quotient -= 32)
        gaps_put(w, 0, 32);
    gaps_put(w, UINT64_C(1) << quotient, (unsigned)quotient + 1);
    if (c->width == 0)
        return;
    if (rest < c->brief) {
        gaps_put_long(w, rest, c->width - 1);
    } else {
        gaps_put_long(w, (rest + c->brief) >> 1, c->width - 1);
        gaps_put(w, (rest + c->brief) & 1, 1);
    }
}

static void gaps_put_number(gaps_writer *w, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *w->out++ = (uint8_t)(number | 0x80);
    *w->out++ = (uint8_t)number;
}

static bly_status gaps_check(uint64_t range, uint64_t divisor)
{
    if (range < 1 || range > GAPS_RANGE_MAX)
        return status_fail(BLY_EPARAM, "a list's range must be 1 .. 2^63");
    if (divisor < 1 || divisor > range)
        return status_fail(BLY_EPARAM, "a list's divisor must be 1 .. its "
                           "range, or 0 for the best one");
    return BLY_OK;
}

bly_status bly_gaps_pack(void *into, size_t room, size_t *bytes,
                         const uint64_t *numbers, size_t n, uint64_t range,
                         uint64_t divisor)
{
    if (divisor == 0)
        divisor = bly_gaps_divisor(n, range);
    bly_status status = gaps_check(range, divisor);
    if (status != BLY_OK)
        return status;
    gaps_code code = gaps_code_for(divisor);
    uint64_t bits = 0, next = 0;
    status = gaps_measure(&bits, &code, numbers, n, range);
    if (status != BLY_OK)
        return status;
    size_t need = gaps_bytes(n, divisor, bits);
    if (need > room)
        return status_fail(BLY_EPARAM, "there is room for %zu bytes, but the "
                           "list takes %zu: allocate the size that "
                           "bly_gaps_room returns", room, need);
    gaps_writer w = { .out = into };
    gaps_put_number(&w, n);
    gaps_put_number(&w, divisor);
    for (size_t i = 0; i < n; i++) {
        gaps_put_gap(&w, &code, numbers[i] - next);
        next = numbers[i] + 1;
    }
    if (w.used > 0)
        gaps_put(&w, 0, 8 - w.used);
    *bytes = need;
    return BLY_OK;
}

/* ---- Reading ----------------------------------------------------------- */

/* The contents of a bly_gaps. */
typedef struct {
    uint64_t left;
    const uint8_t *code;
    uint64_t at, bits, next, range, divisor;
    unsigned width;
    bool     damaged;
} gaps_list;

static_assert(sizeof(gaps_list) <= sizeof(bly_gaps), "it fits");

static gaps_list gaps_read(const bly_gaps *list)
{
    gaps_list g;
    memcpy(&g, list, sizeof g);
    return g;
}

static bly_status gaps_damaged(void)
{
    return status_fail(BLY_ECORRUPT, "the list of numbers is damaged, cut "
                       "short, or has another range: fetch it again");
}

/* Reads a number of the head, in its shortest form. */
static bool gaps_take_number(const uint8_t **at, const uint8_t *end,
                             uint64_t *number)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < GAPS_NUMBER && *at < end; i++) {
        uint8_t byte = *(*at)++;
        if (i == GAPS_NUMBER - 1 && byte > 1)
            return false;
        sum |= (uint64_t)(byte & 0x7F) << 7 * i;
        if (byte < 0x80) {
            *number = sum;
            return byte != 0 || i == 0;
        }
    }
    return false;
}

bly_status bly_gaps_open(bly_gaps *list, const void *packed, size_t bytes,
                         uint64_t range)
{
    const uint8_t *at = packed, *end = at + bytes;
    uint64_t n, divisor;
    if (range < 1 || range > GAPS_RANGE_MAX)
        return gaps_check(range, 1);
    if (!gaps_take_number(&at, end, &n)
        || !gaps_take_number(&at, end, &divisor)
        || divisor < 1 || divisor > range || n > range
        || (uint64_t)(end - at) > UINT64_MAX / 8
        || n > 8 * (uint64_t)(end - at))
        return gaps_damaged();
    gaps_list g = { .left = n, .code = at, .bits = 8 * (uint64_t)(end - at),
                    .range = range, .divisor = divisor,
                    .width = gaps_width(divisor) };
    *list = (bly_gaps){ .left = n };
    memcpy(list, &g, sizeof g);
    return BLY_OK;
}

/* Returns at least 57 bits from bit `at` on; bits beyond the end are 0. */
PLATFORM_INLINE uint64_t gaps_window(const gaps_list *g, uint64_t at)
{
    uint64_t byte = at >> 3, bytes = g->bits >> 3, word = 0;
    if (byte + 8 <= bytes)
        return image_u64(g->code, (size_t)byte) >> (at & 7);
    for (unsigned i = 0; i < 8 && byte + i < bytes; i++)
        word |= (uint64_t)g->code[byte + i] << 8 * i;
    return word >> (at & 7);
}

/* Skips zeros and the one after them. Returns the number of zeros; more than
 * `most` if the code is invalid. */
PLATFORM_INLINE uint64_t gaps_zeros(gaps_list *g, uint64_t most)
{
    uint64_t from = g->at, window;
    while ((window = gaps_window(g, g->at)) == 0) {
        g->at += 64 - (g->at & 7);
        if (g->at >= g->bits || g->at - from > most)
            return UINT64_MAX;
    }
    g->at += platform_trailing_zeros(window) + 1;
    return g->at - from - 1;
}

/* Reads `bits` bits, at most 63. */
PLATFORM_INLINE uint64_t gaps_take(gaps_list *g, unsigned bits)
{
    uint64_t low = gaps_window(g, g->at);
    if (bits > 56)
        low = (low & UINT32_MAX) | gaps_window(g, g->at + 32) << 32;
    g->at += bits;
    return low & ((UINT64_C(1) << bits) - 1);
}

static bool gaps_next(gaps_list *g, uint64_t *number)
{
    if (g->left == 0 || g->damaged)
        return false;
    uint64_t room = g->range - g->next, most = g->range / g->divisor;
    uint64_t quotient = gaps_zeros(g, most), rest = 0;
    if (g->width > 0 && quotient <= most) {
        uint64_t brief = (UINT64_C(1) << g->width) - g->divisor;
        rest = gaps_take(g, g->width - 1);
        if (rest >= brief)
            rest = 2 * rest + gaps_take(g, 1) - brief;
    }
    if (quotient > most || g->at > g->bits
        || quotient * g->divisor + rest >= room) {
        g->damaged = true;
        return false;
    }
    *number = g->next + quotient * g->divisor + rest;
    g->next = *number + 1;
    g->left--;
    return true;
}

bool bly_gaps_next(bly_gaps *list, uint64_t *number)
{
    gaps_list g = gaps_read(list);
    bool more = gaps_next(&g, number);
    memcpy(list, &g, sizeof g);
    return more;
}

bly_status bly_gaps_end(const bly_gaps *list)
{
    gaps_list inside = gaps_read(list), *g = &inside;
    bool whole = !g->damaged && g->left == 0 && g->bits - g->at < 8;
    if (whole && g->at < g->bits)
        whole = gaps_window(g, g->at) == 0;
    return whole ? BLY_OK : gaps_damaged();
}
