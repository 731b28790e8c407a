/* compaction.c - tests specific to kind `compaction`: the place of a signature,
 * the essay's sizes, BLY_SEEN, and a full table.
 */
#include "forged.h"

#include "bits/bits.h"
#include "bits/hash.h"
#include "image/image.h"

static bly_filter *compaction_new(const char *kind, uint64_t capacity,
                                  double rate)
{
    bly_spec spec = { .capacity = capacity, .rate = rate };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static bool compaction_bit(const uint8_t *payload, uint64_t at)
{
    return bits_test(payload, at);
}

/* A single key puts its signature into the first slot of its walk, and nothing
 * anywhere else. */
static void test_one_key(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 300; i++) {
        double rate = pow(10, -0.3 - (double)(i % 40) / 4);
        uint64_t hash = test_random(1, i), set = 0;
        bly_filter *filter = compaction_new("compaction", 5000, rate);
        assert_status(bly_add_hash(filter, hash), BLY_OK);
        assert_status(bly_add_hash(filter, hash), BLY_SEEN);
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        size_t bytes;
        const uint8_t *payload = (const uint8_t *)bly_image(filter, &bytes)
                               + IMAGE_HEADER;
        uint64_t lines = stat.geometry[0], bits = stat.geometry[1];
        uint64_t mixed = hash_mix(hash);
        uint64_t signature = 1 + bits_range(mixed, (UINT64_C(1) << bits) - 1);
        uint64_t at = bits_range(hash_spread(hash), lines) * 512
                    + bits_range(mixed * HASH_STEP, 512 / bits) * bits;
        for (uint64_t b = 0; b < bits; b++)
            assert_int_equal(compaction_bit(payload, at + b),
                             signature >> b & 1);
        for (uint64_t b = 0; b < bits; b++)
            set += signature >> b & 1;
        assert_int_equal(bits_count(payload, bytes - IMAGE_HEADER), set);
        bly_free(filter);
    }
}

/* The essay's table. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { double rate, bits, fill; uint64_t b; } rows[] = {
        { 0.1, 6.23, 0.62, 4 }, { 0.01, 11.60, 0.69, 8 },
        { 0.001, 16.02, 0.82, 13 }, { 1e-4, 20.34, 0.79, 16 },
        { 1e-6, 29.30, 0.79, 23 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bly_spec spec = { .capacity = 1000000000, .rate = rows[i].rate };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, "compaction", &spec), BLY_OK);
        assert_close(plan.bits_per_key, rows[i].bits, 0.001);
        assert_close(plan.fill, rows[i].fill, 0.01);
        assert_int_equal(plan.geometry[1], rows[i].b);
        assert_true(plan.lines_absent < 1.26);
    }
}

/* A given load is kept, at the requested rate, in no less than the optimal
 * size. */
static void test_options(void **state)
{
    (void)state;
    enum { N = 20000, ASKED = 200000 };
    static const unsigned loads[] = { 5, 30, 50, 70, 75 };
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        for (double rate = 0.1; rate > 1e-4; rate /= 10) {
            char kind[32];
            snprintf(kind, sizeof kind, "compaction:load=%u", loads[i]);
            bly_spec spec = { .capacity = N, .rate = rate };
            bly_plan_t plan, best;
            assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
            assert_status(bly_plan(&best, "compaction", &spec), BLY_OK);
            assert_true(plan.rate <= rate);
            assert_true((double)plan.bytes >= 0.99 * (double)best.bytes);
            double slots = (double)plan.geometry[0]
                         * (double)(512 / plan.geometry[1]);
            assert_close(100 * N / slots, loads[i], 0.02);
            bly_filter *filter = compaction_new(kind, N, rate);
            uint64_t hits = 0, stored = 0;
            for (uint64_t k = 0; k < N; k++)
                stored += bly_add_hash(filter, test_random(2, k)) == BLY_OK;
            for (uint64_t k = 0; k < ASKED; k++)
                hits += bly_contains_hash(filter, test_random(3, k));
            assert_within(hits, ASKED, plan.rate, plan.rate_sd);
            assert_close((double)stored / slots, plan.fill, 0.02);
            bly_free(filter);
        }
    }
}

/* The default load may be given explicitly; one that the lines cannot hold at
 * this rate is refused with a message. */
static void test_loads(void **state)
{
    (void)state;
    for (double rate = 0.1; rate > 1e-7; rate /= 10) {
        bly_spec spec = { .capacity = 1000000, .rate = rate };
        bly_plan_t plan, same;
        char kind[32];
        assert_status(bly_plan(&plan, "compaction", &spec), BLY_OK);
        double slots = (double)plan.geometry[0]
                     * (double)(512 / plan.geometry[1]);
        snprintf(kind, sizeof kind, "compaction:load=%u",
                 (unsigned)(100 * 1000000 / slots));
        assert_status(bly_plan(&same, kind, &spec), BLY_OK);
        assert_true(same.rate <= rate);
    }
    bly_spec spec = { .capacity = 1000000, .rate = 1e-6 };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, "compaction:load=85", &spec), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "give a lower load"));
}

/* A run over n states omits as many as the table lacks. */
static void test_omissions(void **state)
{
    (void)state;
    enum { N = 400000 };
    bly_filter *filter = compaction_new("compaction", N, 0.02);
    uint64_t omitted = 0;
    for (uint64_t i = 0; i < N; i++)
        omitted += bly_add_hash(filter, test_random(4, i)) == BLY_SEEN;
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    double slots = (double)stat.geometry[0] * (double)(512 / stat.geometry[1]);
    assert_close(stat.fill * slots, (double)(N - omitted), 1e-9);
    assert_true(omitted > 0 && (double)omitted < 0.02 * N / 2);
    assert_true(fabs(stat.distinct - N) <= 5 * stat.distinct_sd);
    bly_free(filter);
}

/* Filled until it refuses: nothing is lost, and a refusal leaves no trace,
 * single or in a batch. One-bit signatures never refuse. */
static void test_full(void **state)
{
    (void)state;
    static const double rates[] = { 0.4, 0.05, 1e-3, 1e-7 };
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        bly_filter *filter = compaction_new("compaction", 500, rates[r]);
        bly_filter *copy;
        uint64_t in = 0;
        while (in < 20000 && bly_add_hash(filter, test_random(5, in)) >= 0)
            in++;
        assert_true(in >= 500 && (in < 20000 || r == 0));
        for (uint64_t i = 0; i < in; i++)
            assert_true(bly_contains_hash(filter, test_random(5, i)));
        uint64_t more[] = { test_random(5, 0), test_random(5, in) };
        if (in < 20000) {
            assert_status(bly_copy(&copy, filter, NULL), BLY_OK);
            assert_status(bly_add_hash(copy, more[1]), BLY_EFULL);
            assert_status(bly_add_hashes(copy, more, 2, NULL, NULL), BLY_EFULL);
            size_t bytes;
            const uint8_t *image = bly_image(filter, &bytes);
            assert_memory_equal(image + IMAGE_HEADER,
                                (const uint8_t *)bly_image(copy, NULL)
                                + IMAGE_HEADER, bytes - IMAGE_HEADER);
            bly_free(copy);
        }
        bly_free(filter);
    }
}

/* All verbs end on any payload. */
static void test_lies(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 12; round++) {
        bly_filter *filter = compaction_new("compaction", 3000,
                                            0.5 * pow(10, -(double)round));
        forged_image f = forged_of(filter, round % 2 != 0 ? FORGED_ONES : 7);
        for (uint64_t i = 0; i < 1000; i++) {
            bool there = bly_contains_hash(f.copy, test_random(8, i));
            bly_status status = bly_add_hash(f.copy, test_random(8, i));
            assert_int_equal(there, status == BLY_SEEN);
        }
        bly_info_t stat;
        bly_info(&stat, f.copy);
        assert_true(stat.rate >= 0 && stat.rate <= 1);
        forged_free(&f);
    }
}

/* An entry must have 1 to 48 bits. */
static void test_bits_of_an_entry(void **state)
{
    (void)state;
    enum { BITS_AT = IMAGE_GEOMETRY + 8 };
    size_t bytes;
    bly_filter *filter = compaction_new("compaction", 100, 0.01);
    const uint8_t *good = bly_image(filter, &bytes);
    uint8_t *image = malloc(bytes);
    assert_non_null(image);
    memcpy(image, good, bytes);
    for (uint64_t bits = 0; bits < 70; bits++) {
        image_set_u64(image, BITS_AT, bits);
        image_seal(image);
        assert_status(bly_check(image, bytes, NULL),
                      bits >= 1 && bits <= 48 ? BLY_OK : BLY_ECORRUPT);
    }
    free(image);
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_key),
        cmocka_unit_test(test_bits_of_an_entry),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_omissions),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_lies),
    };
    return cmocka_run_group_tests_name("compaction", tests, NULL, NULL);
}
