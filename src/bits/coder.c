/* coder.c - the arithmetic coder of coder.h. */
#include "bits/coder.h"

#include <assert.h>

#include "base/platform.h"
#include "base/task.h"

enum {
    CODER_WORD = 64,                    /* bits handled at a time            */
    CODER_LEVELS = 6                    /* a group is a word at most         */
};

#define CODER_ONE   (UINT64_C(1) << 32) /* the chance 1                      */
#define CODER_LEAST (UINT64_C(1) << 56) /* of a range                        */

/* The chance that a group of each size is empty. */
typedef struct {
    uint64_t flip;                      /* all ones: clear bits are coded    */
    unsigned top;                       /* a group is 2^top bits             */
    uint64_t empty[CODER_LEVELS + 1];   /* q(j)                              */
    uint64_t split[CODER_LEVELS];       /* (2)                               */
} coder_odds;

/* Divides set * 2^32, which may not fit, by long division, and rounds to
   nearest. */
uint32_t coder_chance(uint64_t set, uint64_t bits)
{
    uint64_t rest = set, chance = 0;
    assert(bits >= 1 && set <= bits && bits <= UINT64_C(1) << 60);
    for (unsigned i = 0; i < 32; i++) {
        rest *= 2;
        chance = chance * 2 + (rest >= bits);
        rest -= rest >= bits ? bits : 0;
    }
    chance += 2 * rest >= bits;
    if (chance == 0)
        return 1;
    return chance < CODER_ONE ? (uint32_t)chance : UINT32_MAX;
}

static coder_odds coder_odds_for(uint32_t chance)
{
    coder_odds o = { .flip = chance > CODER_ONE / 2 ? UINT64_MAX : 0 };
    uint64_t q = o.flip != 0 ? chance : CODER_ONE - chance;
    o.empty[0] = q;
    while (o.top < CODER_LEVELS && (q * q) >> 32 >= CODER_ONE / 2) {
        o.split[o.top] = (q << 32) / (CODER_ONE + q);
        q = (q * q) >> 32;
        o.empty[++o.top] = q;
    }
    return o;
}

/* ---- Words of the row -------------------------------------------------- */

/* Loads up to eight bytes as a little-endian number. */
static uint64_t coder_load(const uint8_t *row, size_t bytes)
{
    uint64_t word = 0;
    for (size_t i = bytes; i-- > 0; )
        word = word << 8 | row[i];
    return word;
}

static void coder_store(uint8_t *row, size_t bytes, uint64_t word)
{
    for (size_t i = 0; i < bytes; i++)
        row[i] = (uint8_t)(word >> (8 * i));
}

/* Returns a mask of the `bits` bits of a word that belong to the row. */
static uint64_t coder_mask(uint64_t bits)
{
    return bits >= CODER_WORD ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static size_t coder_word_bytes(uint64_t bits)
{
    return bits >= CODER_WORD ? CODER_WORD / 8 : (size_t)(bits + 7) / 8;
}

/* ---- Writing ----------------------------------------------------------- */

/* The number written so far is out[0 .. at-1] followed by `low`; it may still
 * grow by less than `range`. */
typedef struct {
    uint8_t *out;
    size_t   at, room;
    bool     full;
    uint64_t low, range;
} coder_writer;

static void coder_carry(coder_writer *w)
{
    size_t i = w->at;
    while (i > 0 && ++w->out[--i] == 0)
        ;
}

static void coder_put(coder_writer *w)
{
    if (w->at == w->room) {
        w->full = true;
        return;
    }
    w->out[w->at++] = (uint8_t)(w->low >> 56);
}

/* Encodes an answer that is yes with chance `yes`. */
PLATFORM_INLINE void coder_write(coder_writer *w, bool answer, uint64_t yes)
{
    uint64_t bound = (w->range >> 32) * yes;
    if (answer) {
        w->range = bound;
    } else {
        w->low += bound;
        w->range -= bound;
        if (w->low < bound)
            coder_carry(w);
    }
    while (w->range < CODER_LEAST) {
        coder_put(w);
        w->low <<= 8;
        w->range <<= 8;
    }
}

/* Encodes a group, or half of one, of 2^level bits that are not all clear. */
static void coder_write_some(coder_writer *w, const coder_odds *o,
                             unsigned level, uint64_t word)
{
    while (level-- > 0) {
        unsigned half = 1u << level;
        uint64_t first = word & coder_mask(half), second = word >> half;
        coder_write(w, first == 0, o->split[level]);
        if (first == 0) {
            word = second;
            continue;
        }
        coder_write(w, second == 0, o->empty[level]);
        if (second != 0)
            coder_write_some(w, o, level, second);
        word = first;
    }
}

/* Encodes a word whose first `bits` bits belong to the row. */
static void coder_write_word(coder_writer *w, const coder_odds *o,
                             uint64_t word, uint64_t bits)
{
    unsigned group = 1u << o->top;
    for (unsigned at = 0; at < CODER_WORD && at < bits; at += group) {
        uint64_t some = word >> at & coder_mask(group);
        coder_write(w, some == 0, o->empty[o->top]);
        if (some != 0)
            coder_write_some(w, o, o->top, some);
    }
}

/* Writes the shortest number in the remaining range. */
static void coder_finish(coder_writer *w)
{
    unsigned bytes = 0;
    uint64_t below = UINT64_MAX, low = w->low;
    while (((low + below) & ~below) - low >= w->range)
        below = ++bytes < 8 ? UINT64_MAX >> (8 * bytes) : 0;
    w->low = (low + below) & ~below;
    if (w->low < low)
        coder_carry(w);
    for (; bytes > 0; bytes--) {
        coder_put(w);
        w->low <<= 8;
    }
    while (w->at > 0 && w->out[w->at - 1] == 0)
        w->at--;
}

size_t coder_pack(uint8_t *out, size_t room, const uint8_t *row, uint64_t bits,
                  uint32_t chance)
{
    coder_odds o = coder_odds_for(chance);
    coder_writer w = { .out = out, .room = room, .range = UINT64_MAX };
    TASK_EACH(i, (bits + CODER_WORD - 1) / CODER_WORD) {
        uint64_t at = i * CODER_WORD, left = bits - at;
        if (w.full)
            break;
        uint64_t word = coder_load(row + at / 8, coder_word_bytes(left));
        coder_write_word(&w, &o, (word ^ o.flip) & coder_mask(left), left);
    }
    coder_finish(&w);
    return w.full ? SIZE_MAX : w.at;
}

/* ---- Reading ----------------------------------------------------------- */

/* `code` is the number minus everything skipped; it is less than `range` for
 * output of coder_pack, and arbitrary for other bytes. */
typedef struct {
    const uint8_t *in;
    size_t         at, bytes;
    uint64_t       code, range;
} coder_reader;

static void coder_take(coder_reader *r)
{
    r->code <<= 8;
    if (r->at < r->bytes)
        r->code |= r->in[r->at++];
}

PLATFORM_INLINE bool coder_read(coder_reader *r, uint64_t yes)
{
    uint64_t bound = (r->range >> 32) * yes;
    bool answer = r->code < bound;
    if (answer) {
        r->range = bound;
    } else {
        r->code -= bound;
        r->range -= bound;
    }
    while (r->range < CODER_LEAST) {
        coder_take(r);
        r->range <<= 8;
    }
    return answer;
}

static uint64_t coder_read_some(coder_reader *r, const coder_odds *o,
                                unsigned level)
{
    uint64_t word = 0;
    unsigned at = 0;
    while (level-- > 0) {
        unsigned half = 1u << level;
        if (coder_read(r, o->split[level]))
            at += half;
        else if (!coder_read(r, o->empty[level]))
            word |= coder_read_some(r, o, level) << (at + half);
    }
    return word | UINT64_C(1) << at;
}

static uint64_t coder_read_word(coder_reader *r, const coder_odds *o,
                                uint64_t bits)
{
    unsigned group = 1u << o->top;
    uint64_t word = 0;
    for (unsigned at = 0; at < CODER_WORD && at < bits; at += group)
        if (!coder_read(r, o->empty[o->top]))
            word |= coder_read_some(r, o, o->top) << at;
    return word;
}

void coder_unpack(uint8_t *row, uint64_t bits, const uint8_t *in, size_t bytes,
                  uint32_t chance)
{
    coder_odds o = coder_odds_for(chance);
    coder_reader r = { .in = in, .bytes = bytes, .range = UINT64_MAX };
    for (unsigned byte = 0; byte < 8; byte++)
        coder_take(&r);
    TASK_EACH(i, (bits + CODER_WORD - 1) / CODER_WORD) {
        uint64_t at = i * CODER_WORD, left = bits - at;
        uint64_t word = coder_read_word(&r, &o, left) ^ o.flip;
        coder_store(row + at / 8, coder_word_bytes(left),
                    word & coder_mask(left));
    }
}
