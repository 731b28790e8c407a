/* fuse.c - tests specific to kind `fuse`: its sizes, its layout, and builds
 * from no keys, few, many, and repeated ones.
 */
#include "forged.h"
#include "fingerprints.h"

#include "base/cpu.h"
#include "verbs/registry.h"

static const char *const fuse_arities[] = { "fuse:arity=3", "fuse:arity=4" };

/* Bits per key with 8-bit fingerprints, as in the essay. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { uint64_t n; double three, four; } rows[] = {
        { 1000, 11.78, 12.80 }, { 10000, 10.09, 9.83 },
        { 100000, 9.34, 8.91 }, { 1000000, 9.01, 8.53 },
        { 10000000, 9.03, 8.55 }, { 100000000, 9.03, 8.55 },
        { 10000000000, 9.04, 8.56 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bly_spec spec = { .capacity = rows[i].n, .rate = 1.0 / 256 };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, "fuse", &spec), BLY_OK);
        assert_close(plan.bits_per_key, rows[i].three, 0.001);
        assert_status(bly_plan(&plan, "fuse:arity=4", &spec), BLY_OK);
        assert_close(plan.bits_per_key, rows[i].four, 0.001);
        assert_true(plan.scratch <= 8 * rows[i].n + (UINT64_C(56) << 20));
    }
}

/* More keys never take fewer bytes, even when another shard begins. */
static void test_sizes_rise(void **state)
{
    (void)state;
    for (size_t a = 0; a < 2; a++) {
        bly_spec spec = { .rate = 0.01 };
        uint64_t last = 0;
        for (uint64_t n = 1; n < UINT64_C(1) << 36; n += n / 97 + 1) {
            uint64_t edge = n >> 20 << 20;
            for (uint64_t i = 0; i < 3; i++) {
                uint64_t to = n > edge + 3 ? n - 2 + i : edge + i;
                bly_plan_t plan;
                if (to < spec.capacity || to == 0)
                    continue;
                spec.capacity = to;
                assert_status(bly_plan(&plan, fuse_arities[a], &spec), BLY_OK);
                assert_true(plan.bytes >= last);
                last = plan.bytes;
            }
        }
    }
}

/* A requested rate of 2^-f gives f bits, although two keys may share a hash. */
static void test_whole_bits(void **state)
{
    (void)state;
    bly_plan_t plan;
    for (unsigned f = 1; f <= 32; f++) {
        bly_spec spec = { .capacity = 1000, .rate = ldexp(1, -(int)f) };
        assert_status(bly_plan(&plan, "fuse", &spec), BLY_OK);
        assert_int_equal(plan.geometry[1] >> 40, f);
        assert_true(plan.rate <= spec.rate * (1 + 1e-6));
        spec.rate *= 0.9999;
        bly_status status = bly_plan(&plan, "fuse", &spec);
        assert_int_equal(status, f < 32 ? BLY_OK : BLY_EPARAM);
        if (f < 32)
            assert_int_equal(plan.geometry[1] >> 40, f + 1);
    }
    assert_non_null(strstr(bly_why(), "2^-32"));
}

/* The layout for every small number of keys and some larger, at any width. */
static void test_layout(void **state)
{
    (void)state;
    for (size_t a = 0; a < 2; a++)
        for (uint64_t n = 1; n <= 200000; n += n < 60 ? 1 : n * 2 / 3) {
            char kind[64];
            snprintf(kind, sizeof kind, "%s,bits=%u", fuse_arities[a],
                     (unsigned)(n % 32 + 1));
            uint64_t *hashes = fingerprint_keys(n, n, 1, 0);
            bly_filter *filter = fingerprint_of(kind, 0, hashes, n);
            const void *image = bly_image(filter, NULL);
            fingerprint_layout l = fingerprint_layout_of(image);
            assert_true(l.keys == n && l.label == 0);
            assert_int_equal(l.bits, n % 32 + 1);
            fingerprint_hold(filter, n, n);
            bly_free(filter);
            free(hashes);
        }
}

static void test_no_keys(void **state)
{
    (void)state;
    bly_filter *filter = fingerprint_of("fuse", 0.5, NULL, 0);
    for (uint64_t i = 0; i < 1000; i++)
        assert_false(bly_contains_hash(filter, test_random(1, i)));
    bly_free(filter);
}

/* The rate is 2^-f for every width that can be measured. */
static void test_rates(void **state)
{
    (void)state;
    enum { N = 20000, ASKED = 2000000 };
    static uint64_t asked[ASKED];
    static bool present[ASKED];
    uint64_t *hashes = fingerprint_keys(1, N, 1, 0);
    for (uint64_t i = 0; i < ASKED; i++)
        asked[i] = test_random(2, i);
    for (unsigned f = 1; f <= 20; f++) {
        char kind[64];
        snprintf(kind, sizeof kind, "%s,bits=%u", fuse_arities[f % 2], f);
        bly_filter *filter = fingerprint_of(kind, 0, hashes, N);
        uint64_t hits = 0;
        bly_contains_hashes(filter, asked, ASKED, present);
        for (uint64_t i = 0; i < ASKED; i++)
            hits += present[i];
        assert_within(hits, ASKED, ldexp(1, -(int)f), 0);
        bly_free(filter);
    }
    free(hashes);
}

/* The bytes depend only on the set of keys, and the number with repeats. */
static void test_order_is_forgotten(void **state)
{
    (void)state;
    for (uint64_t times = 1; times <= 16; times *= 4)
        for (uint64_t n = 2; n <= 20000; n *= 10) {
            uint64_t *up = fingerprint_keys(1, n, times, 0);
            uint64_t *mixed = fingerprint_keys(1, n, times, 5);
            bly_filter *a = fingerprint_of("fuse", 0.01, up, n * times);
            bly_filter *b = fingerprint_of("fuse", 0.01, mixed, n * times);
            size_t bytes;
            const void *image = bly_image(a, &bytes);
            assert_memory_equal(image, bly_image(b, NULL), bytes);
            bly_info_t stat;
            assert_status(bly_info(&stat, a), BLY_OK);
            assert_true(stat.distinct == (double)n && stat.items == n * times);
            fingerprint_hold(a, 1, n);
            bly_free(a);
            bly_free(b);
            free(up);
            free(mixed);
        }
}

/* A key that occurs a million and a half times, among a few others. */
static void test_one_key(void **state)
{
    (void)state;
    enum { N = 1500000 };
    uint64_t *hashes = fingerprint_keys(1, 1, N, 0);
    for (uint64_t others = 0; others <= 100; others += 100) {
        for (uint64_t i = 0; i < others; i++)
            hashes[i * 1000] = test_random(1, i);
        bly_filter *filter = fingerprint_of("fuse", 0.01, hashes, N);
        fingerprint_hold(filter, 1, others > 0 ? others : 1);
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_true(stat.distinct == (others > 0 ? 100 : 1));
        bly_free(filter);
    }
    free(hashes);
}

/* Looks up members and strangers by the image, a view and a batch, at every
 * vector level. */
static void fuse_same_answers(bly_filter *built, const uint64_t *hashes,
                              size_t members)
{
    enum { STRANGERS = 3000 };
    static bool many[3000 + STRANGERS];
    static uint64_t asked[3000 + STRANGERS];
    size_t n = members < 3000 ? members : 3000, bytes;
    const void *image = bly_image(built, &bytes);
    memcpy(asked, hashes, n * sizeof *asked);
    for (size_t i = 0; i < STRANGERS; i++)
        asked[n + i] = test_random(99, i);
    for (cpu_level level = CPU_PORTABLE; level < CPU_LEVELS; level++) {
        bly_filter *filter = NULL;
        if (cpu_limit(level) != level)
            continue;
        assert_status(bly_wrap(&filter, image, bytes, NULL), BLY_OK);
        bly_contains_hashes(filter, asked, n + STRANGERS, many);
        for (size_t i = 0; i < n + STRANGERS; i++) {
            assert_true(many[i] || i >= n);
            assert_int_equal(many[i], bly_contains_hash(filter, asked[i]));
            assert_int_equal(many[i], bly_kind_fuse.contains(image, asked[i]));
        }
        bly_free(filter);
    }
    cpu_limit(CPU_LEVELS);
}

/* Cells of every width in tables in the near cache; and of whole bytes and
 * others in larger tables, of one shard and of two. */
static void test_widths(void **state)
{
    (void)state;
    static const struct { size_t bits, n; } far[] = {
        { 31, 950000 }, { 32, 950000 }, { 16, 950000 },
        { 7, 1500000 }, { 8, 1500000 }, { 16, 1500000 },
    };
    for (unsigned i = 0; i < 2 * (32 + sizeof far / sizeof *far); i++) {
        char kind[40];
        size_t bits = i / 2 < 32 ? i / 2 + 1 : far[i / 2 - 32].bits;
        size_t n = i / 2 < 32 ? 2000 : far[i / 2 - 32].n;
        snprintf(kind, sizeof kind, "%s,bits=%zu", fuse_arities[i % 2], bits);
        uint64_t *hashes = fingerprint_keys(4, n, 1, 0);
        bly_filter *filter = NULL;
        assert_status(bly_build(&filter, kind, NULL,
                                &(bly_keys){ .n = n, .hashes = hashes }),
                                             BLY_OK);
        fuse_same_answers(filter, hashes, n);
        bly_free(filter);
        free(hashes);
    }
}

static void test_threads(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 1, 1000, 150000, 2200000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t *hashes = fingerprint_keys(3, sizes[i], 1, 0);
        kind_keys keys = { .hashes = hashes, .n = sizes[i] };
        fingerprint_threads(&bly_kind_fuse, &keys);
        free(hashes);
    }
}

/* Consecutive numbers work like any hashes, as kinds mix them first. */
static void test_consecutive(void **state)
{
    (void)state;
    enum { N = 1200000 };
    uint64_t *hashes = malloc(N * sizeof *hashes);
    assert_non_null(hashes);
    for (unsigned shift = 0; shift <= 40; shift += 20) {
        for (uint64_t i = 0; i < N; i++)
            hashes[i] = i << shift;
        bly_filter *filter = fingerprint_of("fuse", 0.01, hashes, N);
        for (uint64_t i = 0; i < N; i += 7)
            assert_true(bly_contains_hash(filter, hashes[i]));
        bly_free(filter);
    }
    free(hashes);
}

/* Inverts fingerprint_state. */
static uint64_t fuse_hash_of(uint64_t v)
{
    v = (v ^ v >> 31 ^ v >> 62) * UINT64_C(0x319642B2D24D8EC3);
    v = (v ^ v >> 27 ^ v >> 54) * UINT64_C(0x96DE1B173F119089);
    return v ^ v >> 30 ^ v >> 60;
}

/* Hashes crafted to begin all at one place: the build gives up with a helpful
 * message. */
static void test_crafted(void **state)
{
    (void)state;
    enum { N = 5000 };
    uint64_t hashes[N];
    for (uint64_t i = 0; i < N; i++) {
        hashes[i] = fuse_hash_of(UINT64_C(42) << 32 | i);
        assert_true(fingerprint_state(hashes[i]) == (UINT64_C(42) << 32 | i));
    }
    bly_filter *none = NULL;
    assert_status(bly_build(&none, "fuse:arity=4", NULL,
                            &(bly_keys){ .n = N, .hashes = hashes }),
                  BLY_EFULL);
    assert_non_null(strstr(bly_why(), "another hash seed"));
    assert_null(none);
}

/* With any payload, a lookup stays inside and ends. */
static void test_hostile_payload(void **state)
{
    (void)state;
    static bool present[1000];
    uint64_t *hashes = fingerprint_keys(1, 1000, 1, 0);
    for (unsigned f = 1; f <= 32; f++) {
        char kind[64];
        snprintf(kind, sizeof kind, "%s,bits=%u", fuse_arities[f % 2], f);
        forged_image lie = forged_of(fingerprint_of(kind, 0, hashes, 1000),
                                     FORGED_ONES);
        bly_contains_hashes(lie.wrapped, hashes, 1000, present);
        for (size_t i = 0; i < 1000; i++)
            assert_int_equal(present[i],
                             bly_contains_hash(lie.wrapped, hashes[i]));
        forged_free(&lie);
    }
    free(hashes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sizes_rise),
        cmocka_unit_test(test_whole_bits),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_no_keys),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_order_is_forgotten),
        cmocka_unit_test(test_one_key),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_consecutive),
        cmocka_unit_test(test_crafted),
        cmocka_unit_test(test_hostile_payload),
    };
    return cmocka_run_group_tests_name("fuse", tests, NULL, NULL);
}
