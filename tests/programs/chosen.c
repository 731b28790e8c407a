/* chosen.c - lines chosen by an enemy who knows this code, but not the numbers
 * drawn for the run, cost the tables of `dedup`, `join` and `diff` at most
 * twice the work of random lines.
 *
 * Work is counted in branches of table.c and hashes.c, where the compiler
 * inserts calls (-fsanitize-coverage=trace-pc, as in tests/steps.c). Parts on
 * disk are counted by their keys.
 */
#include "test.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "bloomery/exact/dedup.h"
#include "bloomery/sketch/sketches.h"

enum { CHOSEN_KEYS = 20000, CHOSEN_MOST = 600, CHOSEN_PARTS = 16 };

static uint64_t chosen_steps;

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    chosen_steps++;
}

static bly_keyed chosen_draw(uint64_t stream)
{
    bly_keyed keyed;

    for (size_t i = 0; i < sizeof keyed.inside / sizeof *keyed.inside; i++)
        keyed.inside[i] = test_random(stream, i) >> 3;
    return keyed;
}

/* ==== Keys ============================================================== */

/* Writes key i of a set; returns its length. */
typedef size_t chosen_set(unsigned char key[CHOSEN_MOST], uint64_t i);

static size_t chosen_random(unsigned char *key, uint64_t i)
{
    for (size_t at = 0; at < 32; at += 8) {
        uint64_t word = test_random(11, 4 * i + at / 8);

        memcpy(key + at, &word, sizeof word);
    }
    return 32;
}

/* With this beginning xxh3 multiplies the first word by 0, and so ignores the
 * second. */
static size_t chosen_xxh3(unsigned char *key, uint64_t i)
{
    static const unsigned char first[] = { 0xb8, 0xfe, 0x6c, 0x39,
                                           0x23, 0xa4, 0x4b, 0xbe };

    memset(key, 0, 32);
    memcpy(key, first, sizeof first);
    memcpy(key + 8, &i, sizeof i);
    return 32;
}

/* A long key's words are multiplied and added: the first words of two stripes
 * give products of 0 and equal sums. */
static size_t chosen_xxh3_long(unsigned char *key, uint64_t i)
{
    uint32_t one[2], two[2], high;

    memset(key, 0, 300);
    memcpy(one, XXH3_kSecret, sizeof one);
    memcpy(two, XXH3_kSecret + 8, sizeof two);
    high = one[1] + two[1];
    one[1] ^= (uint32_t)i;
    two[1] = high - one[1];
    memcpy(key, one, sizeof one);
    memcpy(key + 64, two, sizeof two);
    return 300;
}

static size_t chosen_counted(unsigned char *key, uint64_t i)
{
    memcpy(key, &i, sizeof i);
    return 8;
}

static size_t chosen_steps_of(unsigned char *key, uint64_t i)
{
    i <<= 48;
    memset(key, 0, 16);
    memcpy(key + 8, &i, sizeof i);
    return 16;
}

static size_t chosen_text(unsigned char *key, uint64_t i)
{
    return (size_t)snprintf((char *)key, CHOSEN_MOST, "user-%llu",
                            (unsigned long long)i);
}

/* Keys that differ in the first of two blocks and end alike. */
static size_t chosen_blocks(unsigned char *key, uint64_t i)
{
    memset(key, 'x', CHOSEN_MOST);
    memcpy(key + 8 * (i % 32), &i, sizeof i);
    return CHOSEN_MOST;
}

/* Keys that share their slots and part under numbers that the enemy drew. */
static size_t chosen_tried(unsigned char *key, uint64_t i)
{
    static uint64_t next;
    static bly_keyed his;
    uint64_t hash;

    if (i == 0) {
        next = 0;
        his = chosen_draw(99);
    }
    do {
        memcpy(key, &next, sizeof next);
        next++;
        hash = bly_keyed_hash(&his, key, 8);
    } while ((uint32_t)hash >> 27 != 0 || hash >> 60 != 0);
    return 8;
}

static const struct {
    const char *name;
    chosen_set *key;
    bool        alike;          /* under xxh3 with the seed 0              */
} chosen_sets[] = {
    { "random", chosen_random, false }, { "xxh3", chosen_xxh3, true },
    { "long lines for xxh3", chosen_xxh3_long, true },
    { "counted", chosen_counted, false }, { "steps", chosen_steps_of, false },
    { "texts", chosen_text, false }, { "blocks", chosen_blocks, false },
    { "tried before", chosen_tried, false },
};

enum { CHOSEN_SETS = sizeof chosen_sets / sizeof *chosen_sets };

/* The enemy's keys collide as intended. */
static void chosen_keys_share_a_known_hash(void **state)
{
    unsigned char key[CHOSEN_MOST];
    (void)state;

    for (size_t set = 0; set < CHOSEN_SETS; set++) {
        uint64_t first = 0;

        for (uint64_t i = 0; chosen_sets[set].alike && i < 1000; i++) {
            size_t n = chosen_sets[set].key(key, i);
            uint64_t hash = 0;
            bly_key one = { key, n };

            bly_hash_many(&hash, NULL, NULL,
                          &(bly_keys){ .n = 1, .keys = &one });
            first = i == 0 ? hash : first;
            assert_true(hash == first);
        }
    }
}

/* ==== Tables and parts ================================================== */

/* Returns the steps of adding all keys and looking each up; *most is the number
 * of keys in the fullest part. */
static uint64_t chosen_work(chosen_set *set, const bly_keyed *keyed,
                            uint64_t *most)
{
    dedup_table table = { .keyed = keyed };
    uint64_t parts[CHOSEN_PARTS] = { 0 };
    unsigned char key[CHOSEN_MOST];

    chosen_steps = 0;
    *most = 0;
    assert_true(keytable_open(&table, 10, 10));
    for (uint64_t i = 0; i < CHOSEN_KEYS; i++) {
        size_t n = set(key, i);
        uint64_t hash = bly_keyed_hash(keyed, key, n);

        assert_int_equal(keytable_add(&table, hash, (bly_key){ key, n }),
                         TABLE_NEW);
        parts[hash >> 60]++;
    }
    for (uint64_t i = 0; i < CHOSEN_KEYS; i++) {
        size_t n = set(key, i);

        assert_true(keytable_has(&table, bly_keyed_hash(keyed, key, n),
                                 (bly_key){ key, n }));
    }
    for (size_t i = 0; i < CHOSEN_PARTS; i++)
        *most = parts[i] > *most ? parts[i] : *most;
    keytable_close(&table);
    return chosen_steps;
}

static void chosen_lines_cost_what_others_do(void **state)
{
    const uint64_t draws = test_work(50, 3, 1);
    (void)state;

    for (uint64_t draw = 0; draw < draws; draw++) {
        const bly_keyed keyed = chosen_draw(draw);
        uint64_t random = 0;

        for (size_t set = 0; set < CHOSEN_SETS; set++) {
            uint64_t most;
            uint64_t work = chosen_work(chosen_sets[set].key, &keyed, &most);

            random = set == 0 ? work : random;
            if (work > 2 * random)
                fail_msg("%s, draw %u: %.2f times the work of random lines",
                         chosen_sets[set].name, (unsigned)draw,
                         (double)work / (double)random);
            if (most > 2 * CHOSEN_KEYS / CHOSEN_PARTS)
                fail_msg("%s, draw %u: a part has %u keys of %d",
                         chosen_sets[set].name, (unsigned)draw,
                         (unsigned)most, CHOSEN_KEYS);
        }
        assert_true(random > CHOSEN_KEYS);      /* they are counted */
    }
}

/* ==== Sets of hashes ==================================================== */

/* Returns the i-th multiple of the inverse of an odd number. */
static uint64_t chosen_inverse(uint64_t factor, uint64_t i)
{
    uint64_t inverse = factor;

    for (int round = 0; round < 6; round++)
        inverse *= 2 - factor * inverse;
    return i * inverse;
}

/* Returns hashes that a multiplication by a known number would map to one
 * place. */
static uint64_t chosen_hash(unsigned set, uint64_t i)
{
    return set == 0 ? test_random(12, i)
         : set == 1 ? chosen_inverse(UINT64_C(0x9E3779B97F4A7C15), i)
         : set == 2 ? chosen_inverse(UINT64_C(0xD1342543DE82EF95), i)
         : set == 3 ? i : i << 40;
}

static void chosen_hashes_cost_what_others_do(void **state)
{
    const uint64_t draws = test_work(50, 3, 1);
    uint64_t random = 0;
    (void)state;

    for (unsigned run = 0; run < 5 * draws; run++) {
        sketch_hashes set;

        assert_int_equal(hashes_open(&set), CLI_GO);
        set.keyed = chosen_draw(run / 5);
        chosen_steps = 0;
        for (uint64_t i = 1; i <= CHOSEN_KEYS; i++) {
            assert_true(hashes_room(&set, 1));
            assert_true(hashes_add(&set, chosen_hash(run % 5, i)));
        }
        random = run == 0 ? chosen_steps : random;
        if (chosen_steps > 2 * random)
            fail_msg("set %u: %.2f times the work of random hashes", run % 5,
                     (double)chosen_steps / (double)random);
        hashes_free(&set);
    }
    assert_true(random > CHOSEN_KEYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_keys_share_a_known_hash),
        cmocka_unit_test(chosen_lines_cost_what_others_do),
        cmocka_unit_test(chosen_hashes_cost_what_others_do),
    };

    return cmocka_run_group_tests_name("programs/chosen", tests, NULL, NULL);
}
