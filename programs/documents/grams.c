/* grams.c - hashes of n-grams, which are runs of N words.
 *
 * The hash of an n-gram has 61 bits. It is a polynomial of the words' hashes
 * modulo the prime 2^61 - 1, so each n-gram takes one step:
 *
 *     hash(i + 1) = hash(i) B + word(i + N) - word(i) B^N
 *
 * B depends on the secret, as the words' hashes do: without the secret, nobody
 * can choose n-grams whose polynomials are the same at B. Two n-grams that were
 * chosen before have the same hash with a probability of about N / 2^61 or
 * less. Modulo 2^64, two of 512 words can have it with 2^-10, and two of fewer
 * words always if B is known.
 *
 * Words end at blanks, which are the six of ASCII. From U+2E80 on, where
 * scripts have no blanks between words, each character is a word.
 */
#include "documents/documents.h"

/* ==== Modulo a prime ==================================================== */

/* A prime. Numbers are kept below it. */
#define GRAMS_PRIME ((UINT64_C(1) << 61) - 1)

static uint64_t grams_reduce(uint64_t x)
{
    x = (x & GRAMS_PRIME) + (x >> 61);
    return x >= GRAMS_PRIME ? x - GRAMS_PRIME : x;
}

/* Returns a b modulo the prime. With halves of 31 and 30 bits, no sum reaches
 * 2^64; 2^62 is 2. */
static uint64_t grams_times(uint64_t a, uint64_t b)
{
    const uint64_t low = (UINT64_C(1) << 31) - 1;
    uint64_t middle = (a >> 31) * (b & low) + (a & low) * (b >> 31);

    return grams_reduce(2 * (a >> 31) * (b >> 31) + (middle >> 30)
                        + ((middle & low >> 1) << 31) + (a & low) * (b & low));
}

/* ==== Words ============================================================= */

uint64_t grams_hash(const grams_hasher *by, const void *key, size_t length)
{
    return by->filter != NULL ? bly_hash(by->filter, key, length)
                              : bly_keyed_hash(by->keyed, key, length);
}

/* Returns the end of the word that begins at `at`. */
static const unsigned char *grams_word(const unsigned char *at,
                                       const unsigned char *end)
{
    enum { WIDE = 0xE2BA };             /* U+2E80 begins so */
    const unsigned char *from = at;

    for (; at < end && !grams_is_blank(*at); at++) {
        bool wide = *at > WIDE >> 8
                 || (*at == WIDE >> 8 && at + 1 < end && at[1] >= (WIDE & 255));

        if (wide && at > from)
            return at;
        if (wide) {
            for (at++; at < end && (*at & 0xC0) == 0x80; at++)
                ;
            return at;
        }
    }
    return at;
}

bool grams_read(grams_words *w, const grams_hasher *by, bly_key key)
{
    const unsigned char *at = key.data, *end = at + key.length;

    for (w->n = 0; ; w->n++) {
        const unsigned char *from;

        while (at < end && grams_is_blank(*at))
            at++;
        if (at == end)
            return true;
        if (w->n == w->room) {
            size_t room = 2 * w->room + 256;

            if (!bytes_grow(&w->hashes, room, sizeof *w->hashes))
                return false;
            w->room = room;
        }
        from = at;
        at = grams_word(at, end);
        w->hashes[w->n] = grams_reduce(grams_hash(by, from,
                                                       (size_t)(at - from)));
    }
}

/* ==== N-grams =========================================================== */

static uint64_t grams_mix(uint64_t x)
{
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

void grams_roll(const grams_words *w, size_t words, const grams_hasher *by,
                uint64_t *grams)
{
    const uint64_t base = grams_reduce(grams_hash(by, "base", 4));
    uint64_t power = 1, sum = 0;

    for (size_t i = 0; i < words; i++)
        power = grams_times(power, base);
    for (size_t i = 0; i < w->n; i++) {
        sum = grams_reduce(grams_times(sum, base) + w->hashes[i]);
        if (i >= words)
            sum = grams_reduce(sum + GRAMS_PRIME
                               - grams_times(w->hashes[i - words], power));
        if (i + 1 >= words)
            grams[i + 1 - words] = grams_mix(sum);
    }
}
