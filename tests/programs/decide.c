/* decide.c - parts of `dedup` that files of lines cannot reach:
 * different keys with one hash, streams across memory and disk, parts that
 * cannot be divided further.
 *
 * If all numbers of a keyed hash are 0, keys of less than 8 bytes hash to 0.
 */
#include "test.h"

#include "bloomery/exact/dedup.h"

static const bly_keyed decide_alike;

static bly_keyed decide_draw(void)
{
    bly_keyed keyed;

    for (size_t i = 0; i < sizeof keyed.inside / sizeof *keyed.inside; i++)
        keyed.inside[i] = test_random(6, i) >> 3;
    return keyed;
}

/* ==== Tables ============================================================ */

static void keytable_compares_bytes(void **state)
{
    dedup_table t = { .keyed = &decide_alike, .counting = true };
    const char keys[] = "a\0\0\0\0\0\0";
    size_t at = 0;
    uint64_t count;
    bly_key key;
    (void)state;

    assert_true(keytable_open(&t, 1, 1));
    for (size_t round = 0; round < 3; round++)
        for (size_t length = 1; length <= 7; length++) {
            uint64_t hash = bly_keyed_hash(&decide_alike, keys, length);

            assert_true(hash == 0);
            assert_int_equal(keytable_add(&t, hash, (bly_key){ keys, length }),
                             round == 0 ? TABLE_NEW : TABLE_OLD);
        }
    assert_int_equal(keytable_add(&t, 0, (bly_key){ "", 0 }), TABLE_NEW);
    for (size_t length = 1; length <= 7; length++) {
        assert_true(keytable_each(&t, &at, &key, &count));
        assert_true(count == 3 && key.length == length);
        assert_memory_equal(key.data, keys, length);
    }
    assert_true(keytable_each(&t, &at, &key, &count));
    assert_true(count == 1 && key.length == 0);
    assert_false(keytable_each(&t, &at, &key, &count));
    keytable_close(&t);
}

/* Writes key i: 1 to 300 bytes that begin with its number. */
static bly_key decide_key(unsigned char *room, uint64_t i)
{
    size_t length = 8 + (size_t)(test_random(3, i) % 293);

    memset(room, (int)(i & 0xff), length);
    memcpy(room, &i, sizeof i);
    return (bly_key){ room, length };
}

static void keytable_grows(void **state)
{
    const bly_keyed keyed = decide_draw();
    const uint64_t n = 50000;
    unsigned char room[301];
    (void)state;

    for (int counting = 0; counting < 2; counting++) {
        dedup_table t = { .keyed = &keyed, .counting = counting };

        assert_true(keytable_open(&t, 10, 10));
        for (uint64_t i = 0; i < 2 * n; i++) {
            bly_key key = decide_key(room, i % n);
            uint64_t hash = bly_keyed_hash(&keyed, key.data, key.length);

            assert_int_equal(keytable_add(&t, hash, key),
                             i < n ? TABLE_NEW : TABLE_OLD);
        }
        assert_true(t.keys == n);
        keytable_clear(&t);
        assert_int_equal(keytable_add(&t, 1, (bly_key){ "x", 1 }), TABLE_NEW);
        keytable_close(&t);
    }
}

/* Adding rows together equals adding them singly, although the table grows in
 * between, some rows are dropped, and some have no key. */
static void keytable_adds_rows(void **state)
{
    const bly_keyed keyed = decide_draw();
    enum { N = 20000 };
    dedup_rows rows = { .n = N, .room = N,
                        .keys = calloc(N, sizeof *rows.keys),
                        .hashes = calloc(N, sizeof *rows.hashes),
                        .drop = calloc(N, sizeof *rows.drop) };
    unsigned char *bytes = calloc(N, 301);
    size_t *picked = calloc(N, sizeof *picked);
    (void)state;

    for (int picks = 0; picks < 2; picks++) {
        dedup_table one = { .keyed = &keyed, .counting = true };
        dedup_table all = { .keyed = &keyed, .counting = true };
        keytable_picks some = { picked, 0 };
        bool want[N];

        assert_true(keytable_open(&one, 10, 10) && keytable_open(&all, 10, 10));
        for (size_t i = 0; i < N; i++) {
            bool out = test_random(5, i) % 7 == 0, none = i % 11 == 0;
            bly_key key = decide_key(bytes + 301 * i,
                                     test_random(4, i) % (N / 2));

            rows.keys[i] = none ? (bly_key){ NULL, 0 } : key;
            rows.hashes[i] = bly_keyed_hash(&keyed, key.data, key.length);
            rows.drop[i] = want[i] = out;
            if (!none && !out) {
                picked[some.n++] = i;
                want[i] = keytable_add(&one, rows.hashes[i], key) == TABLE_OLD;
            }
        }
        assert_int_equal(keytable_add_rows(&all, &rows, picks ? &some : NULL),
                         TABLE_NEW);
        assert_memory_equal(rows.drop, want, sizeof want);
        assert_true(all.keys == one.keys && all.used == one.used);
        assert_memory_equal(all.bytes, one.bytes, one.used);
        keytable_close(&one);
        keytable_close(&all);
    }
    free(rows.keys);
    free(rows.hashes);
    free(rows.drop);
    free(bytes);
    free(picked);
}

static void keytable_keeps_its_limit(void **state)
{
    const bly_keyed keyed = decide_draw();
    dedup_table t = { .keyed = &keyed, .most = 100000 };
    keytable_answer answer = TABLE_NEW;
    unsigned char room[301];
    (void)state;

    assert_true(keytable_open(&t, 10, 10));
    for (uint64_t i = 0; answer == TABLE_NEW; i++) {
        bly_key key = decide_key(room, i);
        uint64_t hash = bly_keyed_hash(&keyed, key.data, key.length);
        answer = keytable_add(&t, hash, key);
        assert_true(t.room * sizeof *t.slots + t.used <= t.most);
    }
    assert_int_equal(answer, TABLE_FULL);
    bly_key first = decide_key(room, 0);
    uint64_t again = bly_keyed_hash(&keyed, first.data, first.length);
    assert_int_equal(keytable_add(&t, again, first), TABLE_OLD);
    keytable_close(&t);
}

/* ==== Streams =========================================================== */

/* Numbers and bytes of many lengths, through blocks in memory and on disk. */
static void spill_gives_back(void **state)
{
    enum { STREAMS = 3, RECORDS = 2000, BLOCK = 128 };
    unsigned char room[301], number[SPILL_NUMBER];
    (void)state;

    for (uint64_t blocks = 0; blocks <= 1000000; blocks += 500000) {
        uint64_t held = blocks == 500000 ? 1000 : blocks;
        spill_stream streams[STREAMS] = { { .n = 0 } };
        spill_store store;

        spill_open(&store, BLOCK, held * BLOCK);
        for (uint64_t i = 0; i < STREAMS * RECORDS; i++) {
            bly_key key = decide_key(room, i);
            spill_stream *s = &streams[i % STREAMS];

            assert_true(spill_append(&store, s, number,
                                     spill_number(number, test_random(1, i)
                                                          >> i % 64)));
            assert_true(spill_append(&store, s, key.data, key.length));
        }
        assert_true(store.held <= held);
        assert_true((store.fd >= 0) == (held < 1000000));
        for (uint64_t first = 0; first < STREAMS; first++) {
            spill_reader reader;
            uint64_t value;

            spill_finish(&streams[first]);
            spill_read(&reader, &store, &streams[first]);
            for (uint64_t i = first; i < STREAMS * RECORDS; i += STREAMS) {
                bly_key key = decide_key(room, i);

                assert_true(spill_get_number(&reader, &value));
                assert_true(value == test_random(1, i) >> i % 64);
                const unsigned char *got = spill_get(&reader, key.length);
                assert_non_null(got);
                assert_memory_equal(got, key.data, key.length);
            }
            assert_null(spill_get(&reader, 1));
            assert_non_null(spill_get(&reader, 0));
            assert_false(spill_get_number(&reader, &value));
            spill_read_end(&reader);
            spill_drop(&store, &streams[first]);
        }
        assert_true(store.held == 0 && store.spares == store.used);
        assert_false(spill_failed(&store));
        spill_close(&store);
    }
}

/* ==== Parts ============================================================= */

static uint64_t decide_append_key(decide_all *all, bly_key key)
{
    uint64_t hash = bly_keyed_hash(all->keyed, key.data, key.length);

    assert_true(decide_put(all, hash, key));
    return hash;
}

/* Decides 5 n records of n keys and checks the answers: key i is first in round
 * 0. */
static void decide_rounds(decide_all *all, uint64_t n, uint64_t mask)
{
    const uint64_t rounds = 5;
    unsigned char room[301];
    uint64_t count = 0;
    bool first;

    assert_true(decide_open(all, 256, 20000));
    for (uint64_t i = 0; i < rounds * n; i++) {
        bly_key key = decide_key(room, i % n & mask);
        decide_append_key(all, mask == UINT64_MAX ? key
                                                  : (bly_key){ room, 3 });
    }
    assert_int_equal(decide_run(all, 3, false), CLI_GO);
    for (uint64_t i = 0; i < rounds * n; i++) {
        bly_key key = decide_key(room, i % n & mask);
        uint64_t hash = bly_keyed_hash(all->keyed, room, mask == UINT64_MAX
                                                    ? key.length : 3);

        assert_true(decide_next(all, hash, &first, &count));
        assert_int_equal(first, i < n);
        assert_true(!first || !all->counting || count == rounds);
    }
    unsigned char zero[3] = { 0 };
    uint64_t hash = bly_keyed_hash(all->keyed, zero, 3);
    while (decide_next(all, hash, &first, &count))
        assert_int_equal(first, false);     /* bits of the last byte only */
    decide_close(all);
}

static void decide_parts_again(void **state)
{
    const bly_keyed keyed = decide_draw();
    (void)state;

    for (int counting = 0; counting < 2; counting++) {
        decide_all all = { .keyed = &keyed, .counting = counting, .bits = 1,
                           .most = 10000, .keys = 100, .bytes = 1000 };
        decide_rounds(&all, 10000, UINT64_MAX);
    }
}

/* Keys of three bytes that all hash to 0 cannot be divided, and must be decided
 * together. */
static void decide_what_cannot_be_parted(void **state)
{
    decide_all all = { .keyed = &decide_alike, .counting = true, .bits = 3,
                       .most = 10000, .keys = 100, .bytes = 1000 };
    (void)state;

    decide_rounds(&all, 1500, 0xffffff);
}

/* Keys 0 .. n - 1 are members, some twice; 0 .. 2 n - 1 are queried, three
 * times. */
static void decide_joined_rounds(decide_all *all, uint64_t n, uint64_t mask)
{
    unsigned char room[301];
    uint64_t hash, count;
    bool in;

    assert_true(decide_open(all, 256, 20000));
    for (uint64_t i = 0; i < n + n / 3; i++) {
        bly_key key = decide_key(room, i % n & mask);
        hash = decide_append_key(all, mask == UINT64_MAX
                                      ? key : (bly_key){ room, 3 });
        all->parts[decide_number(all, hash)].members++;
    }
    for (uint64_t i = 0; i < 6 * n; i++) {
        bly_key key = decide_key(room, i % (2 * n) & mask);
        decide_append_key(all, mask == UINT64_MAX ? key
                                                  : (bly_key){ room, 3 });
    }
    assert_int_equal(decide_run(all, 3, false), CLI_GO);
    for (uint64_t i = 0; i < 6 * n; i++) {
        bly_key key = decide_key(room, i % (2 * n) & mask);
        hash = bly_keyed_hash(all->keyed, room,
                        mask == UINT64_MAX ? key.length : 3);
        assert_true(decide_next(all, hash, &in, &count));
        assert_int_equal(in, i % (2 * n) < n);
    }
    decide_close(all);
}

static void decide_joins(void **state)
{
    const bly_keyed keyed = decide_draw();
    decide_all all = { .keyed = &keyed, .joining = true, .bits = 1,
                       .most = 10000, .keys = 100, .bytes = 1000 };
    (void)state;

    decide_joined_rounds(&all, 10000, UINT64_MAX);
    all = (decide_all){ .keyed = &decide_alike, .joining = true, .bits = 3,
                        .most = 10000, .keys = 100, .bytes = 1000 };
    decide_joined_rounds(&all, 1500, 0xffffff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keytable_compares_bytes),
        cmocka_unit_test(keytable_grows),
        cmocka_unit_test(keytable_adds_rows),
        cmocka_unit_test(keytable_keeps_its_limit),
        cmocka_unit_test(spill_gives_back),
        cmocka_unit_test(decide_parts_again),
        cmocka_unit_test(decide_what_cannot_be_parted),
        cmocka_unit_test(decide_joins),
    };

    return cmocka_run_group_tests_name("programs/decide", tests, NULL, NULL);
}
