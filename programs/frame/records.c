/* records.c - finds the ends of CSV records, as RFC 4180 defines them.
 *
 * A newline within quotes does not end a record, so the meaning of a byte
 * depends on all quotes before it. 64 bytes at a time become words of bits:
 * quotes, separators, newlines. The exclusive or of each bit of `quotes` with
 * all lower ones shows which bytes lie within quotes:
 *
 *      text      a , " b \n c " \n d , " e " " f "
 *      quotes    0 0 1 0 0  0 1 0  0 0 1 0 1 1 0 1
 *      inside    0 0 1 1 1  1 0 0  0 0 1 1 0 1 1 0     (opening quotes too)
 *
 * A doubled quote closes and opens again at once, which is harmless. This is
 * correct if each opening quote is at the start of a column or follows a
 * closing one, and a separator, an end or another quote follows each closing
 * one. If not, the 64 bytes are scanned one by one: a quote within an unquoted
 * column is an ordinary byte, and any other byte after a closing quote is a
 * fault.
 */
#include "frame/records.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { RECORDS_BLOCK = 64 };

void records_begin(cli_records *r, int separator)
{
    *r = (cli_records){ .separator = separator };
}

/* ==== Record by record ================================================== */

/* Returns the state after a byte outside quotes. */
static records_state records_outside(const cli_records *r, unsigned char byte)
{
    return byte == r->separator || byte == '\n' ? RECORDS_START
                                                : RECORDS_PLAIN;
}

/* Returns the state after a byte that follows a closing quote. */
static records_state records_closed(const cli_records *r, unsigned char byte)
{
    return byte == '"' ? RECORDS_QUOTED
         : byte == '\r' ? RECORDS_RETURN
         : byte == r->separator || byte == '\n' ? RECORDS_START
         : RECORDS_FAULT;
}

static records_state records_step(cli_records *r, unsigned char byte)
{
    switch (r->state) {
    case RECORDS_START:
        if (byte != '"')
            return records_outside(r, byte);
        r->opened = r->lines + 1;
        return RECORDS_QUOTED;
    case RECORDS_QUOTED:
        return byte == '"' ? RECORDS_CLOSED : RECORDS_QUOTED;
    case RECORDS_CLOSED:
        return records_closed(r, byte);
    case RECORDS_RETURN:
        return byte == '\n' ? RECORDS_START : RECORDS_FAULT;
    default:
        r->stray |= byte == '"';
        return records_outside(r, byte);
    }
}

/* Returns the bits of the newlines that end a record, of at most 64 bytes, up
 * to a fault. */
static uint64_t records_slow(cli_records *r, const unsigned char *text,
                             size_t n)
{
    uint64_t ends = 0;

    for (size_t i = 0; i < n; i++) {
        r->quoted |= text[i] == '"';
        r->state = records_step(r, text[i]);
        if (r->state == RECORDS_FAULT)
            break;
        if (text[i] != '\n')
            continue;
        r->lines++;
        ends |= (uint64_t)(r->state == RECORDS_START) << i;
    }
    return ends;
}

/* ==== 64 at a time ====================================================== */

/* Returns the bits of the bytes, among 64, that equal this one. */
static inline uint64_t records_bits(const unsigned char *text, int byte)
{
    uint64_t bits = 0;
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8((char)byte);

    for (int part = 3; part >= 0; part--) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text
                                        + part);
        bits = bits << 16
             | (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted));
    }
#else
    for (int i = 0; i < RECORDS_BLOCK; i++)
        bits |= (uint64_t)(text[i] == byte) << i;
#endif
    return bits;
}

static inline uint64_t records_sum(uint64_t bits)
{
    const uint64_t fives = ~UINT64_C(0) / 3, threes = ~UINT64_C(0) / 5,
                   nibbles = ~UINT64_C(0) / 17;

    bits -= bits >> 1 & fives;
    bits = (bits & threes) + (bits >> 2 & threes);
    bits = (bits + (bits >> 4)) & nibbles;
    return bits * (~UINT64_C(0) / 255) >> 56;
}

/* Returns the exclusive or of each bit with all lower ones. */
static inline uint64_t records_prefix(uint64_t bits)
{
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    return bits ^ bits << 32;
}

static inline unsigned records_lowest(uint64_t bits)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(bits);
#else
    unsigned at = 0;

    for (; (bits & 1) == 0; bits >>= 1)
        at++;
    return at;
#endif
}

/* Returns the line of the last quote that opens a column, among the set
 * bits. */
static void records_note_opened(cli_records *r, uint64_t opening,
                                uint64_t newlines)
{
    uint64_t below = 0;

    if (opening == 0)
        return;
    while (opening != 0) {
        below = (opening & -opening) - 1;
        opening &= opening - 1;
    }
    r->opened = r->lines + 1 + records_sum(newlines & below);
}

/* Scans 64 bytes that contain quotes. */
static uint64_t records_quoted(cli_records *r, const unsigned char *text,
                               uint64_t quotes, uint64_t newlines)
{
    const uint64_t high = UINT64_C(1) << 63;
    const records_state was = r->state;
    uint64_t marks = records_bits(text, r->separator) | newlines;
    uint64_t inside = records_prefix(quotes)
                    ^ (was == RECORDS_QUOTED ? ~UINT64_C(0) : 0);
    uint64_t open = quotes & inside, close = quotes & ~inside;
    uint64_t behind = close << 1 | (was == RECORDS_CLOSED);
    uint64_t stray = open & ~(marks << 1 | behind | (was == RECORDS_START));
    uint64_t loose = behind & ~(marks | quotes);

    if (loose != 0)
        loose &= ~(records_bits(text, '\r') & newlines >> 1);
    if ((stray | loose) != 0 || was == RECORDS_RETURN)
        return records_slow(r, text, RECORDS_BLOCK);
    r->quoted = true;
    if ((inside | close) & high)        /* a closed one may be a doubled one */
        records_note_opened(r, open & ~behind, newlines);
    r->state = inside & high ? RECORDS_QUOTED
             : close & high ? RECORDS_CLOSED
             : marks & high ? RECORDS_START : RECORDS_PLAIN;
    r->lines += records_sum(newlines);
    return newlines & ~inside;
}

static inline uint64_t records_block(cli_records *r, const unsigned char *text)
{
    uint64_t quotes = records_bits(text, '"');
    uint64_t newlines = records_bits(text, '\n');

    if (quotes != 0)
        return records_quoted(r, text, quotes, newlines);
    if (r->state >= RECORDS_CLOSED)
        return records_slow(r, text, RECORDS_BLOCK);
    r->lines += records_sum(newlines);
    if (r->state == RECORDS_QUOTED)
        return 0;
    r->state = records_outside(r, text[RECORDS_BLOCK - 1]);
    return newlines;
}

static inline uint64_t records_next(cli_records *r, const unsigned char *text,
                                    size_t left)
{
    return left < RECORDS_BLOCK ? records_slow(r, text, left)
                                : records_block(r, text);
}

/* ==== Texts ============================================================= */

size_t records_scan(cli_records *r, const unsigned char *text, size_t n)
{
    uint64_t last = 0;
    size_t from = 0;

    for (size_t at = 0; at < n && r->state != RECORDS_FAULT;
         at += RECORDS_BLOCK) {
        uint64_t ends = records_next(r, text + at, n - at);

        if (ends != 0) {
            last = ends;
            from = at;
        }
    }
    if (last == 0)
        return 0;
    while (last != 0) {
        last >>= 1;
        from++;
    }
    return from;
}

size_t records_ends_even(const unsigned char *text, size_t n, size_t *ends,
                         size_t most)
{
    uint64_t inside = 0;
    size_t found = 0, at = 0;

    for (; at + RECORDS_BLOCK <= n && found + RECORDS_BLOCK <= most;
         at += RECORDS_BLOCK) {
        uint64_t bits = records_bits(text + at, '\n');

        inside = records_prefix(records_bits(text + at, '"'))
               ^ (0 - (inside >> 63));
        for (bits &= ~inside; bits != 0; bits &= bits - 1)
            ends[found++] = at + records_lowest(bits);
    }
    if (at + RECORDS_BLOCK <= n)
        return found;
    inside >>= 63;
    for (; at < n && found < most; at++) {
        inside ^= text[at] == '"';
        if (inside == 0 && text[at] == '\n')
            ends[found++] = at;
    }
    return found;
}

size_t records_ends(int separator, const unsigned char *text, size_t n,
                    size_t *ends, size_t most)
{
    cli_records r;
    size_t found = 0;

    records_begin(&r, separator);
    for (size_t at = 0; at < n && found + RECORDS_BLOCK <= most;
         at += RECORDS_BLOCK) {
        uint64_t bits = records_next(&r, text + at, n - at);

        for (; bits != 0; bits &= bits - 1)
            ends[found++] = at + records_lowest(bits);
    }
    return found;
}
