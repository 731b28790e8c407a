/* bloomier.c - tests specific to kind `bloomier`: every label is right and
 * stays right when others change; strangers are rejected.
 */
#include "forged.h"
#include "fingerprints.h"

#include "base/cpu.h"
#include "verbs/registry.h"

enum { N = 3000 };

/* Returns a label of `bits` bits for key i. */
static uint64_t bloomier_label(uint64_t i, unsigned bits)
{
    return test_random(77, i) >> (64 - bits);
}

static bly_filter *bloomier_at(double rate, unsigned bits,
                               const uint64_t *hashes, uint64_t n)
{
    char kind[64];
    bly_spec spec = { .rate = rate };
    bly_filter *filter = NULL;
    uint64_t *labels = malloc((n + 1) * sizeof *labels);
    assert_non_null(labels);
    for (uint64_t i = 0; i < n; i++)
        labels[i] = bloomier_label(i, bits);
    snprintf(kind, sizeof kind, "bloomier:bits=%u", bits);
    assert_status(bly_build(&filter, kind, &spec,
                            &(bly_keys){ .n = n, .hashes = hashes,
                                         .labels = labels }),
                  BLY_OK);
    free(labels);
    return filter;
}

static bly_filter *bloomier_of(unsigned bits, const uint64_t *hashes,
                               uint64_t n)
{
    return bloomier_at(0.01, bits, hashes, n);
}

static void bloomier_has(const bly_filter *filter, uint64_t hash,
                         uint64_t label)
{
    uint64_t got = ~label;
    assert_true(bly_get_hash(filter, hash, &got));
    assert_true(got == label);
}

/* Labels of every width, read by the library and bit by bit. */
static void test_labels(void **state)
{
    (void)state;
    uint64_t *hashes = fingerprint_keys(1, N, 1, 0);
    for (unsigned bits = 1; bits <= 64; bits++) {
        bly_filter *filter = bloomier_of(bits, hashes, N);
        fingerprint_layout l = fingerprint_layout_of(bly_image(filter, NULL));
        fingerprint_hold(filter, 1, N);
        for (uint64_t i = 0; i < N; i++) {
            uint64_t slot[4], label = bloomier_label(i, bits);
            const uint8_t *row = fingerprint_slots(&l, hashes[i], slot);
            uint64_t own = slot[fingerprint_rest(&l, hashes[i]) >> l.bits];
            bloomier_has(filter, hashes[i], label);
            own = own * (l.field + bits) + l.field;
            assert_true(fingerprint_bits_at(row, own, bits) == label);
        }
        bly_free(filter);
    }
    free(hashes);
}

static void test_sizes_of_sets(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 1, 2, 3, 10, 100, 10000, 1300000 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint64_t *hashes = fingerprint_keys(2, sizes[s], 1, 0);
        bly_filter *filter = bloomier_of(20, hashes, sizes[s]);
        for (uint64_t i = 0; i < sizes[s]; i++)
            bloomier_has(filter, hashes[i], bloomier_label(i, 20));
        bly_free(filter);
        free(hashes);
    }
}

/* No two keys own the same slot. */
static void test_own_slots(void **state)
{
    (void)state;
    uint64_t *hashes = fingerprint_keys(1, N, 1, 0);
    bly_filter *filter = bloomier_of(8, hashes, N);
    fingerprint_layout l = fingerprint_layout_of(bly_image(filter, NULL));
    static bool used[2 * N];
    assert_int_equal(l.shards, 1);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t slot[4];
        fingerprint_slots(&l, hashes[i], slot);
        uint64_t own = slot[fingerprint_rest(&l, hashes[i]) >> l.bits];
        assert_in_range(own, 0, 2 * N - 1);
        assert_false(used[own]);
        used[own] = true;
    }
    bly_free(filter);
    free(hashes);
}

/* Putting a label changes that label only. */
static void test_put(void **state)
{
    (void)state;
    uint64_t *hashes = fingerprint_keys(1, N, 1, 0);
    static const unsigned widths[] = { 1, 13, 32, 33, 57, 64 };
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        unsigned bits = widths[w];
        bly_filter *filter = bloomier_of(bits, hashes, N);
        for (uint64_t i = 0; i < N; i += 2)
            assert_status(bly_put_hash(filter, hashes[i],
                                       bloomier_label(i + N, bits)), BLY_OK);
        for (uint64_t i = 0; i < N; i++)
            bloomier_has(filter, hashes[i],
                         bloomier_label(i % 2 == 0 ? i + N : i, bits));
        if (bits < 64)
            assert_status(bly_put_hash(filter, hashes[0], UINT64_C(1) << bits),
                          BLY_EPARAM);
        bly_free(filter);
    }
    free(hashes);
}

/* Strangers are rejected at the requested rate, by get and contains; put then
 * changes nothing. */
static void test_strangers(void **state)
{
    (void)state;
    enum { ASKED = 1000000 };
    uint64_t *hashes = fingerprint_keys(1, N, 1, 0), hits = 0;
    bly_filter *filter = bloomier_of(16, hashes, N), *before = NULL;
    assert_status(bly_copy(&before, filter, NULL), BLY_OK);
    for (uint64_t i = 0; i < ASKED; i++) {
        uint64_t hash = test_random(9, i), label = 5;
        bool there = bly_get_hash(filter, hash, &label);
        assert_int_equal(there, bly_contains_hash(filter, hash));
        if (!there) {
            assert_int_equal(label, 5);
            if (i < 10000)
                assert_status(bly_put_hash(filter, hash, 1), BLY_EABSENT);
        }
        hits += there;
    }
    assert_within(hits, ASKED, 1.0 / 128, 0);
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    assert_memory_equal(image, bly_image(before, NULL), bytes);
    bly_free(before);
    bly_free(filter);
    free(hashes);
}

/* Missing labels are 0. */
static void test_no_labels(void **state)
{
    (void)state;
    uint64_t *hashes = fingerprint_keys(1, N, 1, 0);
    bly_filter *filter = fingerprint_of("bloomier", 0.01, hashes, N);
    for (uint64_t i = 0; i < N; i++)
        bloomier_has(filter, hashes[i], 0);
    assert_status(bly_put_hash(filter, hashes[7], 7), BLY_OK);
    bloomier_has(filter, hashes[7], 7);
    bly_free(filter);
    filter = fingerprint_of("bloomier", 0.01, hashes, 0);
    uint64_t label;
    assert_false(bly_get_hash(filter, hashes[0], &label));
    assert_status(bly_put_hash(filter, hashes[0], 7), BLY_EABSENT);
    bly_free(filter);
    free(hashes);
}

/* A key given twice with one label counts once; with two labels it is an error,
 * as is a label that does not fit. */
static void test_bad_labels(void **state)
{
    (void)state;
    uint64_t *hashes = fingerprint_keys(1, N, 2, 0), labels[2 * N];
    bly_filter *filter = NULL;
    for (uint64_t i = 0; i < 2 * N; i++)
        labels[i] = bloomier_label(i % N, 9);
    assert_status(bly_build(&filter, "bloomier:bits=9", NULL,
                            &(bly_keys){ .n = 2 * N, .hashes = hashes,
                                         .labels = labels }), BLY_OK);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.distinct == N);
    bly_free(filter);
    filter = NULL;
    for (uint64_t i = 0; i < 2 * N; i += 1777) {
        labels[i] ^= 1;
        assert_status(bly_build(&filter, "bloomier:bits=9", NULL,
                                &(bly_keys){ .n = 2 * N, .hashes = hashes,
                                             .labels = labels }), BLY_EPARAM);
        assert_non_null(strstr(bly_why(), "two different labels"));
        labels[i] ^= 1;
    }
    labels[5] = 512;
    assert_status(bly_build(&filter, "bloomier:bits=9", NULL,
                            &(bly_keys){ .n = 2 * N, .hashes = hashes,
                                         .labels = labels }), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "does not fit"));
    assert_null(filter);
    free(hashes);
}

static void test_threads(void **state)
{
    (void)state;
    enum { MANY = 1500000 };
    uint64_t *hashes = fingerprint_keys(3, MANY, 1, 0);
    uint64_t *labels = malloc(MANY * sizeof *labels);
    assert_non_null(labels);
    for (uint64_t i = 0; i < MANY; i++)
        labels[i] = bloomier_label(i, 32);
    kind_keys keys = { .hashes = hashes, .labels = labels, .n = MANY };
    fingerprint_threads(&bly_kind_bloomier, &keys);
    free(labels);
    free(hashes);
}

/* With any payload, nothing is read or written out of bounds. */
static void test_hostile_payload(void **state)
{
    (void)state;
    static bool found[N];
    static uint64_t labels[N];
    uint64_t *hashes = fingerprint_keys(1, N, 1, 0);
    for (unsigned bits = 1; bits <= 64; bits += 9) {
        forged_image f = forged_of(bloomier_of(bits, hashes, N), 6);
        bly_get_hashes(f.wrapped, hashes, N, found, labels);
        for (uint64_t i = 0; i < N; i++) {
            uint64_t label = 0;
            bool there = bly_get_hash(f.copy, hashes[i], &label);
            assert_int_equal(found[i], there);
            assert_true(!there || labels[i] == label);
            assert_int_equal(bly_put_hash(f.copy, hashes[i], i & 1),
                             there ? BLY_OK : BLY_EABSENT);
        }
        forged_free(&f);
    }
    free(hashes);
}

/* Compares a batch of members and strangers with single lookups, at every
 * vector level. */
static void bloomier_same_labels(const bly_filter *filter,
                                 const uint64_t *hashes)
{
    enum { ASKED = 2 * N + 3 };
    static uint64_t asked[ASKED], labels[ASKED];
    static bool found[ASKED], present[ASKED];
    for (uint64_t i = 0; i < ASKED; i++)
        asked[i] = i % 2 == 0 ? hashes[i / 2] : test_random(98, i);
    for (cpu_level level = CPU_PORTABLE; level < CPU_LEVELS; level++) {
        if (cpu_limit(level) != level)
            continue;
        bly_get_hashes(filter, asked, ASKED, found, labels);
        bly_contains_hashes(filter, asked, ASKED, present);
        for (uint64_t i = 0; i < ASKED; i++) {
            uint64_t label = 0;
            assert_int_equal(found[i], bly_get_hash(filter, asked[i], &label));
            assert_int_equal(present[i], found[i]);
            assert_true(found[i] ? labels[i] == label : i % 2 == 1);
        }
    }
    cpu_limit(CPU_LEVELS);
}

/* Fields that are narrow and others, in tables near and far. */
static void test_batches(void **state)
{
    (void)state;
    static const struct { double rate; unsigned bits; uint64_t n; } rows[] = {
        { 0.01, 1, 2 * N }, { 0.01, 8, 2 * N }, { 0.01, 64, 2 * N },
        { 1e-6, 1, 2 * N }, { 1e-6, 8, 2 * N }, { 1e-6, 64, 2 * N },
        { 0.5, 5, 2 * N }, { 0.01, 32, 1100000 }, { 1e-6, 64, 1100000 },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        uint64_t *hashes = fingerprint_keys(6, rows[r].n, 1, 0);
        bly_filter *filter = bloomier_at(rows[r].rate, rows[r].bits, hashes,
                                         rows[r].n);
        bloomier_same_labels(filter, hashes);
        bly_free(filter);
        free(hashes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_sizes_of_sets),
        cmocka_unit_test(test_own_slots),
        cmocka_unit_test(test_put),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_no_labels),
        cmocka_unit_test(test_bad_labels),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_hostile_payload),
        cmocka_unit_test(test_batches),
    };
    return cmocka_run_group_tests_name("bloomier", tests, NULL, NULL);
}
