/* keyed.c - the keyed hash of tables: its formula, and its independence of
 * keys, with fixed draws.
 */
#include "test.h"

#include <bloomery/keyed.h>

/* Returns numbers as bly_keyed_draw would draw them. */
static bly_keyed keyed_draw(uint64_t stream)
{
    bly_keyed keyed;
    for (size_t i = 0; i < sizeof keyed.inside / sizeof *keyed.inside; i++)
        keyed.inside[i] = test_random(stream, i);
    keyed.inside[44] %= (UINT64_C(1) << 61) - 1;
    return keyed;
}

/* ==== The formula ======================================================= */

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 keyed_number;

static keyed_number keyed_constant(const bly_keyed *k, size_t at)
{
    return (keyed_number)k->inside[at + 1] << 64 | k->inside[at];
}

static uint64_t keyed_word(const uint8_t *p, size_t bytes)
{
    uint64_t word = 0;
    uint32_t half = 0;
    if (bytes == 8)
        memcpy(&word, p, sizeof word);
    else
        memcpy(&half, p, sizeof half);
    return bytes == 8 ? word : half;
}

/* Hashes the last `rest` bytes of n > 16. */
static keyed_number keyed_sum(const bly_keyed *k, const uint8_t *key,
                              size_t n, size_t rest)
{
    keyed_number sum = 0;
    for (size_t at = 0; at < rest; at += 16) {
        size_t from = at + 16 < rest ? n - rest + at : n - 16;
        uint64_t a = keyed_word(key + from, 8) + k->inside[46 + at / 8];
        uint64_t b = keyed_word(key + from + 8, 8) + k->inside[47 + at / 8];
        sum += (keyed_number)a * b;
    }
    return sum;
}

static keyed_number keyed_polynomial(const bly_keyed *k, const uint8_t *key,
                                     size_t blocks)
{
    const keyed_number p = ((keyed_number)1 << 61) - 1;
    const keyed_number part = ((keyed_number)1 << 43) - 1;
    keyed_number value = 0, point = k->inside[44];
    for (size_t i = 0; i < blocks; i++) {
        keyed_number sum = keyed_sum(k, key + 256 * i, 256, 256);
        for (unsigned shift = 0; shift < 129; shift += 43)
            value = (value * point + (sum >> shift & part)) % p;
    }
    return value;
}

static uint64_t keyed_expected(const bly_keyed *k, const uint8_t *key, size_t n)
{
    uint64_t a = 0, b = 0;
    keyed_number h = keyed_constant(k, 4 + 2 * (n <= 16 ? n : 17));
    if (n > 16) {
        size_t blocks = (n - 1) / 256;
        keyed_number rest = keyed_sum(k, key, n, n - 256 * blocks);
        h += keyed_constant(k, 40) * n
           + keyed_constant(k, 42) * keyed_polynomial(k, key, blocks);
        a = (uint64_t)rest;
        b = (uint64_t)(rest >> 64);
    } else if (n >= 4) {
        size_t bytes = n >= 8 ? 8 : 4;
        a = keyed_word(key, bytes);
        b = keyed_word(key + n - bytes, bytes);
    } else if (n > 0) {
        a = key[0] | (uint64_t)key[n / 2] << 8 | (uint64_t)key[n - 1] << 16;
    }
    h += (keyed_constant(k, 0) + a) * (keyed_constant(k, 2) + b);
    uint64_t high = (uint64_t)(h >> 64);
    high = (high ^ high >> 32) * UINT64_C(0xD1342543DE82EF95);
    return high ^ high >> 29;
}

/* The key lies in memory of exactly its size, for sanitizers. */
static void keyed_is_its_formula(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 1100; n++) {
        bly_keyed keyed = keyed_draw(n);
        uint8_t *key = malloc(n + (n == 0));
        assert_non_null(key);
        for (size_t i = 0; i < n; i++)
            key[i] = (uint8_t)(n % 3 == 0 ? 0xFF : test_random(7, n + i));
        assert_true(bly_keyed_hash(&keyed, n > 0 ? key : NULL, n)
                    == keyed_expected(&keyed, key, n));
        free(key);
    }
}
#endif

/* ==== Random bytes ====================================================== */

static void keyed_draws_differ(void **state)
{
    enum { BYTES = 700 };
    uint8_t one[BYTES] = { 0 }, two[BYTES] = { 0 };
    bly_keyed a, b;
    size_t zeros = 0, same = 0;
    (void)state;

    assert_status(bly_draw(one, BYTES - 1), BLY_OK);
    assert_status(bly_draw(two, BYTES - 1), BLY_OK);
    assert_true(one[BYTES - 1] == 0 && two[BYTES - 1] == 0);
    for (size_t i = 0; i < BYTES - 1; i++) {
        zeros += one[i] == 0;
        same += one[i] == two[i];
    }
    assert_true(zeros < 30 && same < 30);       /* 2.7 on average, each */
    assert_status(bly_draw(one, 0), BLY_OK);
    assert_status(bly_keyed_draw(&a), BLY_OK);
    assert_status(bly_keyed_draw(&b), BLY_OK);
    assert_true(bly_keyed_hash(&a, "", 0) != bly_keyed_hash(&b, "", 0));
    assert_true(bly_keyed_number(&a, 1) != bly_keyed_number(&b, 1));
}

/* ==== Bits ============================================================== */

/* Writes key i of a set: patterns that linear functions handle badly. */
static size_t keyed_pattern(uint8_t key[600], size_t set, uint64_t i)
{
    static const size_t lengths[] = { 8, 8, 16, 16, 40, 256, 600, 0 };
    size_t length = lengths[set];
    uint64_t word = set % 2 == 0 ? i : i << 48;

    memset(key, 0, 600);
    if (length == 0)                            /* zeros of other lengths */
        return (size_t)i;
    memcpy(key + (set == 3 ? 8 : 0), &word, sizeof word);
    if (set == 6)
        memcpy(key + 256, &word, sizeof word);  /* two equal blocks */
    return length;
}

/* Each bit, and the sum of each two neighbours, is set in half of a set's
 * hashes, within five standard deviations of the mean over all draws. */
static void keyed_bits_are_even(void **state)
{
    enum { KEYS = 512, SETS = 8 };
    const uint64_t draws = test_work(1000, 50, 20);
    (void)state;

    for (size_t set = 0; set < SETS; set++) {
        uint64_t ones[128] = { 0 };
        for (uint64_t draw = 0; draw < draws; draw++) {
            bly_keyed keyed = keyed_draw(1000 + draw);
            for (uint64_t i = 0; i < KEYS; i++) {
                uint8_t key[600];
                size_t n = keyed_pattern(key, set, i);
                uint64_t hash = bly_keyed_hash(&keyed, key, n);
                for (unsigned bit = 0; bit < 64; bit++) {
                    ones[bit] += hash >> bit & 1;
                    ones[64 + bit] += (hash ^ hash >> 1) >> bit & 1;
                }
            }
        }
        double n = (double)(draws * KEYS), band = 5 * sqrt(n) / 2;
        for (unsigned bit = 0; bit < 127; bit++)
            if (fabs((double)ones[bit] - n / 2) > band)
                fail_msg("set %zu: bit %u is set in %.4f of %g hashes", set,
                         bit, (double)ones[bit] / n, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(__SIZEOF_INT128__)
        cmocka_unit_test(keyed_is_its_formula),
#endif
        cmocka_unit_test(keyed_draws_differ),
        cmocka_unit_test(keyed_bits_are_even),
    };
    return cmocka_run_group_tests_name("keyed", tests, NULL, NULL);
}
