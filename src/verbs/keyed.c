/* keyed.c - a hash for tables in memory whose keys strangers choose.
 *
 * WHAT IT IS
 *
 * A strongly universal hash [Carter & Wegman 1979]: a multilinear form of the
 * key's words, of which the high half is kept [Lemire & Kaser 2014]. Its
 * constants are random numbers, drawn for each run. So no set of keys that was
 * chosen beforehand collides, whoever chose it. It takes no longer than xxh3
 * for the short keys that most tables hold. Hash functions for filters are in
 * src/bits/hash.h.
 *
 * THE FUNCTION
 *
 * Capitals are random numbers: S[0 .. 17], L, A, B and E of 128 bits, N[0 ..
 * 31] of 64, R below p = 2^61 - 1. A key of n bytes is hashed in 128 bits:
 *
 *      h = S[n] + (A + a)(B + b)                modulo 2^128, n <= 16    (1)
 *      h = S[17] + (A + a)(B + b) + L n + E e   longer keys              (2)
 *      hash = mix(high half of h)
 *
 *      n <= 16         a, b    the bytes as two words, which may overlap
 *      n <= 256        a, b    the halves of the sum, modulo 2^128, of
 *                              (w[2i] + N[2i])(w[2i + 1] + N[2i + 1]) over the
 *                              words w; the last two may overlap others (NH)
 *                      e       0
 *      longer          e       as many blocks of 256 bytes as leave a rest: the
 *                              sum of each in three parts below 2^43, which are
 *                              the coefficients of a polynomial at R, modulo p
 *                      a, b    the rest, as above
 *
 * PROOF
 *
 * 1. Take two keys for which (n, a, b, e) differ. If they have different S, the
 *    two h are independent and uniform. If not, let d be the difference of n,
 *    e, b or a, the first of these that differs, and X = L, E, A or B. The
 *    difference of the two h is X d and something without X, because A B is the
 *    same in both. d is an odd number times 2^t, t < 64. So all bits of X d
 *    from t on are random, the whole high half among them, and S makes the
 *    first h random, whatever the difference is: the two high halves are
 *    independent and uniform. mix is a bijection, so the hashes are, too.
 * 2. For n <= 16, (n, a, b) differ for different keys.
 * 3. For n <= 256, different keys of one length have the same (a, b) with
 *    probability 2^-64 at most [Black et al. 1999, theorem 4.2].
 * 4. For longer keys, let two keys of one length differ in a block: its sums
 *    are the same with probability 2^-64 at most. If they differ, so do the
 *    polynomials, whose degree is below 3 n / 256: they agree at R with
 *    probability 3 n / 256 / p, less than n / 2^67.
 *
 * What pairs of keys do says nothing of many keys at once. Numbers that count
 * up have high halves that rise by equal steps, which linear probing dislikes
 * for some steps [Patrascu & Thorup 2010]. So mix, a multiplication between two
 * xorshifts, breaks these steps. tests/keyed.c counts the probes of tables with
 * such keys.
 *
 * Words are read in the machine's order, since hashes are not stored.
 *
 * PAPERS
 *
 *  [Carter & Wegman 1979]  Universal classes of hash functions
 *  [Black et al. 1999]     UMAC: fast and secure message authentication
 *  [Patrascu & Thorup 2010] On the k-independence required by linear probing
 *                          and minwise independence
 *  [Lemire & Kaser 2014]   Strongly universal string hashing is fast
 */
#include "bloomery/keyed.h"

#include <string.h>

#include "base/system.h"
#include "base/status.h"
#include "bits/hash.h"

/* Indices of the random numbers; 128-bit ones have their low half first. */
enum {
    KEYED_FIRST, KEYED_SECOND = 2, KEYED_SUMS = 4, KEYED_LENGTH = 40,
    KEYED_EARLIER = 42, KEYED_POINT = 44, KEYED_WORDS = 46,
    KEYED_PAIR = 16, KEYED_BLOCK = 256          /* bytes */
};

#define KEYED_PRIME ((UINT64_C(1) << 61) - 1)

/* ---- Numbers of 128 bits ------------------------------------------------ */

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 keyed_wide;

PLATFORM_INLINE keyed_wide keyed_make(uint64_t low, uint64_t high)
{
    return (keyed_wide)high << 64 | low;
}

PLATFORM_INLINE uint64_t keyed_low(keyed_wide v)
{
    return (uint64_t)v;
}

PLATFORM_INLINE uint64_t keyed_high(keyed_wide v)
{
    return (uint64_t)(v >> 64);
}

PLATFORM_INLINE keyed_wide keyed_add(keyed_wide a, keyed_wide b)
{
    return a + b;
}

PLATFORM_INLINE keyed_wide keyed_product(uint64_t a, uint64_t b)
{
    return (keyed_wide)a * b;
}
#else
typedef struct { uint64_t low, high; } keyed_wide;

PLATFORM_INLINE keyed_wide keyed_make(uint64_t low, uint64_t high)
{
    return (keyed_wide){ low, high };
}

PLATFORM_INLINE uint64_t keyed_low(keyed_wide v)
{
    return v.low;
}

PLATFORM_INLINE uint64_t keyed_high(keyed_wide v)
{
    return v.high;
}

PLATFORM_INLINE keyed_wide keyed_add(keyed_wide a, keyed_wide b)
{
    uint64_t low = a.low + b.low;
    return (keyed_wide){ low, a.high + b.high + (low < b.low) };
}

PLATFORM_INLINE keyed_wide keyed_product(uint64_t a, uint64_t b)
{
    return (keyed_wide){ a * b, platform_mul_high(a, b) };
}
#endif

PLATFORM_INLINE keyed_wide keyed_times(keyed_wide a, keyed_wide b)
{
    uint64_t across = keyed_low(a) * keyed_high(b)
                    + keyed_high(a) * keyed_low(b);
    return keyed_add(keyed_product(keyed_low(a), keyed_low(b)),
                     keyed_make(0, across));
}

/* ---- Words -------------------------------------------------------------- */

PLATFORM_INLINE uint64_t keyed_read(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

PLATFORM_INLINE uint64_t keyed_read_half(const uint8_t *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* Hashes a key of up to 16 bytes; with its length, its words are unique. */
PLATFORM_INLINE keyed_wide keyed_short(const uint8_t *p, size_t n)
{
    if (n >= 8)
        return keyed_make(keyed_read(p), keyed_read(p + n - 8));
    if (n >= 4)
        return keyed_make(keyed_read_half(p), keyed_read_half(p + n - 4));
    if (n == 0)
        return keyed_make(0, 0);
    return keyed_make(p[0] | (uint64_t)p[n / 2] << 8
                           | (uint64_t)p[n - 1] << 16, 0);
}

PLATFORM_INLINE keyed_wide keyed_pair(const uint64_t *random, const uint8_t *p)
{
    return keyed_product(keyed_read(p) + random[0],
                         keyed_read(p + 8) + random[1]);
}

/* Hashes the last n bytes, 1 .. 256, of a key of more than 16. */
PLATFORM_INLINE keyed_wide keyed_rest(const uint64_t *random,
                                      const uint8_t *end, size_t n)
{
    const uint8_t *p = end - n;
    keyed_wide sum = keyed_make(0, 0);
    for (; end - p > KEYED_PAIR; p += KEYED_PAIR, random += 2)
        sum = keyed_add(sum, keyed_pair(random, p));
    return keyed_add(sum, keyed_pair(random, end - KEYED_PAIR));
}

/* ---- Blocks ------------------------------------------------------------- */

/* Returns value * point + part, partly reduced: below 2^62. */
static uint64_t keyed_step(uint64_t value, uint64_t point, uint64_t part)
{
    keyed_wide product = keyed_product(value, point);
    uint64_t folded = (keyed_low(product) & KEYED_PRIME)
                    + (keyed_low(product) >> 61 | keyed_high(product) << 3);
    folded = (folded & KEYED_PRIME) + (folded >> 61);
    return folded + part;
}

/* Returns the value of all blocks before `end`, below p. */
static uint64_t keyed_earlier(const uint64_t *in, const uint8_t *p,
                              const uint8_t *end)
{
    const uint64_t part = (UINT64_C(1) << 43) - 1, point = in[KEYED_POINT];
    uint64_t value = 0;
    for (; p < end; p += KEYED_BLOCK) {
        keyed_wide s = keyed_rest(in + KEYED_WORDS, p + KEYED_BLOCK,
                                  KEYED_BLOCK);
        uint64_t low = keyed_low(s), high = keyed_high(s);
        value = keyed_step(value, point, low & part);
        value = keyed_step(value, point, (low >> 43 | high << 21) & part);
        value = keyed_step(value, point, high >> 22);
    }
    return value % KEYED_PRIME;
}

/* ---- The hash ----------------------------------------------------------- */

PLATFORM_INLINE keyed_wide keyed_wide_at(const uint64_t *in, size_t at)
{
    return keyed_make(in[at], in[at + 1]);
}

/* Returns sum + X * number. */
PLATFORM_INLINE keyed_wide keyed_line(const uint64_t *in, keyed_wide sum,
                                      unsigned at, uint64_t number)
{
    return keyed_add(sum, keyed_times(keyed_wide_at(in, at),
                                      keyed_make(number, 0)));
}

/* Applies a bijection that breaks up equal steps between numbers. */
PLATFORM_INLINE uint64_t keyed_mix(uint64_t v)
{
    v = (v ^ v >> 32) * HASH_STEP;
    return v ^ v >> 29;
}

PLATFORM_INLINE uint64_t keyed_finish(const uint64_t *in, keyed_wide sum,
                                      keyed_wide words)
{
    keyed_wide a = keyed_add(keyed_wide_at(in, KEYED_FIRST),
                             keyed_make(keyed_low(words), 0));
    keyed_wide b = keyed_add(keyed_wide_at(in, KEYED_SECOND),
                             keyed_make(keyed_high(words), 0));
    return keyed_mix(keyed_high(keyed_add(sum, keyed_times(a, b))));
}

/* Computes (2) without blocks. */
PLATFORM_INLINE keyed_wide keyed_lengths(const uint64_t *in, size_t n)
{
    return keyed_line(in, keyed_wide_at(in, KEYED_SUMS + 2 * (KEYED_PAIR + 1)),
                      KEYED_LENGTH, n);
}

/* A separate function, because short keys are faster that way. */
PLATFORM_APART static uint64_t keyed_medium(const uint64_t *in,
                                            const uint8_t *p, size_t n)
{
    return keyed_finish(in, keyed_lengths(in, n),
                        keyed_rest(in + KEYED_WORDS, p + n, n));
}

PLATFORM_APART static uint64_t keyed_long(const uint64_t *in, const uint8_t *p,
                                          size_t n)
{
    const uint8_t *end = p + n;
    size_t rest = (n - 1) % KEYED_BLOCK + 1;
    keyed_wide sum = keyed_line(in, keyed_lengths(in, n), KEYED_EARLIER,
                                keyed_earlier(in, p, end - rest));
    return keyed_finish(in, sum, keyed_rest(in + KEYED_WORDS, end, rest));
}

uint64_t bly_keyed_hash(const bly_keyed *keyed, const void *key, size_t length)
{
    const uint64_t *in = keyed->inside;
    if (length > KEYED_BLOCK)
        return keyed_long(in, key, length);
    if (length > KEYED_PAIR)
        return keyed_medium(in, key, length);
    return keyed_finish(in, keyed_wide_at(in, KEYED_SUMS + 2 * length),
                        keyed_short(key, length));
}

uint64_t bly_keyed_number(const bly_keyed *keyed, uint64_t number)
{
    const uint64_t *in = keyed->inside;
    return keyed_mix(keyed_high(keyed_line(in, keyed_wide_at(in, KEYED_SUMS),
                                           KEYED_FIRST, number)));
}

/* ---- Drawing ------------------------------------------------------------ */

bly_status bly_draw(void *bytes, size_t n)
{
    return system_draw(bytes, n);
}

bly_status bly_keyed_draw(bly_keyed *keyed)
{
    bly_status status = bly_draw(keyed, sizeof *keyed);
    if (status == BLY_OK)
        keyed->inside[KEYED_POINT] %= KEYED_PRIME;
    return status;
}
