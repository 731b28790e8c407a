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
        bly_spec spec = { .rate = 1.0 / 128 };
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

static bool fuse_whole_bytes(uint64_t bits)
{
    return bits == 8 || bits == 16 || bits == 32;
}

/* A requested rate of 2^-f gives f bits, although two keys may share a hash. A
 * lower one gives another bit, which hardly any key lacks unless cells are
 * whole bytes with it. */
static void test_whole_bits(void **state)
{
    (void)state;
    bly_plan_t plan;
    for (unsigned f = 1; f <= 32; f++) {
        bly_spec spec = { .capacity = 1000, .rate = ldexp(1, -(int)f) };
        assert_status(bly_plan(&plan, "fuse", &spec), BLY_OK);
        assert_int_equal(plan.geometry[1] >> 40, f);
        assert_int_equal(plan.geometry[0], 1000);
        assert_true(plan.rate <= spec.rate * (1 + 1e-6));
        spec.rate *= 0.9999;
        bly_status status = bly_plan(&plan, "fuse", &spec);
        assert_int_equal(status, f < 32 ? BLY_OK : BLY_EPARAM);
        if (f == 32)
            continue;
        assert_int_equal(plan.geometry[1] >> 40, f + 1);
        assert_true(plan.geometry[0] >> 48
                    == (fuse_whole_bytes(f + 1) ? 0 : 65522));
    }
    assert_non_null(strstr(bly_why(), "2^-32"));
}

/* A rate between two powers of two is met, by a share of the keys that have a
 * bit less, unless cells are whole bytes. The bits are at most 0.0861 more than
 * the logarithm times the cells per key, but for the segments behind the places
 * where a key may begin. */
static void test_any_rate_is_planned(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 1000, 3000, 20000, 100000, 1000000,
                                      10000000 };
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++)
        for (double rate = 0.49; rate > 1e-9; rate *= 0.83) {
            bly_plan_t plan, whole;
            bly_spec spec = { .capacity = sizes[i / 2], .rate = rate };
            double bits = log2(1 / rate), most = ceil(bits);
            char kind[64];
            snprintf(kind, sizeof kind, "%s,bits=%.0f", fuse_arities[i % 2],
                     most);
            assert_status(bly_plan(&plan, fuse_arities[i % 2], &spec), BLY_OK);
            assert_status(bly_plan(&whole, kind, &spec), BLY_OK);
            assert_true(plan.rate <= rate && plan.bytes <= whole.bytes);
            if (fuse_whole_bytes((uint64_t)most)) {
                assert_int_equal(plan.bytes, whole.bytes);
                continue;
            }
            double places = (double)(plan.geometry[2] >> 32);
            double segments = places + 2.0 + (double)(i % 2);
            double cells = segments * (double)(plan.geometry[2] & UINT32_MAX);
            double less = (most - bits) * places / segments;
            assert_true(plan.rate >= 0.98 * rate);
            double rounded = cells / 65536 + 513;
            assert_true(8 * (double)plan.geometry[3]
                        <= cells * (most - less + 0.0861) + rounded);
        }
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

/* The rate of a filter, which is freed, is the one that it reports, and that
 * one is as given. */
static void fuse_rate_is(bly_filter *filter, double rate)
{
    enum { ASKED = 2000000 };
    static uint64_t asked[ASKED];
    static bool present[ASKED];
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_close(stat.rate, rate, 1e-8);
    assert_close(stat.planned_rate, rate, 1e-8);
    uint64_t hits = 0;
    for (uint64_t i = 0; i < ASKED; i++)
        asked[i] = test_random(2, i);
    bly_contains_hashes(filter, asked, ASKED, present);
    for (uint64_t i = 0; i < ASKED; i++)
        hits += present[i];
    assert_within(hits, ASKED, rate, 0);
    bly_free(filter);
}

/* The rate is 2^-f for every width that can be measured. */
static void test_rates(void **state)
{
    (void)state;
    enum { N = 20000 };
    uint64_t *hashes = fingerprint_keys(1, N, 1, 0);
    for (unsigned f = 1; f <= 20; f++) {
        char kind[64];
        snprintf(kind, sizeof kind, "%s,bits=%u", fuse_arities[f % 2], f);
        fuse_rate_is(fingerprint_of(kind, 0, hashes, N), ldexp(1, -(int)f));
    }
    free(hashes);
}

/* Between the powers of two, the rate is the planned one, which is exactly that
 * of the keys of f bits and of f - 1. */
static void test_any_rate_is_met(void **state)
{
    (void)state;
    static const double rates[] = { 0.45, 0.1, 0.01, 0.007, 0.005, 0.003, 0.001,
                                    1e-4 };
    static const uint64_t sizes[] = { 1000, 100000 };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (size_t j = 0; j < 4; j++) {
            uint64_t n = sizes[j / 2];
            uint64_t *hashes = fingerprint_keys(1, n, 1, 0);
            bly_filter *filter = fingerprint_of(fuse_arities[j % 2], rates[i],
                                                hashes, n);
            fingerprint_layout l =
                fingerprint_layout_of(bly_image(filter, NULL));
            double firsts = (double)(l.windows * l.segment);
            double part = (double)l.shorter / firsts;
            double met = part * ldexp(2, -(int)l.bits)
                       + (1 - part) * ldexp(1, -(int)l.bits);
            assert_true(met <= rates[i]);
            assert_true((l.shorter > 0) == !fuse_whole_bytes(l.bits));
            fingerprint_hold(filter, 1, n);
            fuse_rate_is(filter, ldexp(1 + part, -(int)l.bits));
            free(hashes);
        }
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

/* Tables with short cells are looked up alike on all processors, for cells of
 * every width in the near cache, and in larger tables of one shard and of two.
 */
static void test_shorter_cells(void **state)
{
    (void)state;
    static const struct { unsigned bits; size_t n; } rows[] = {
        { 7, 950000 }, { 31, 950000 }, { 9, 1500000 }, { 10, 1500000 },
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    for (unsigned i = 0; i < 2 * (30 + ROWS); i++) {
        unsigned bits = i / 2 < 30 ? i / 2 + 2 : rows[i / 2 - 30].bits;
        size_t n = i / 2 < 30 ? 2000 : rows[i / 2 - 30].n;
        double rate = ldexp(1.1 + i % 7 * 0.12, -(int)bits);
        uint64_t *hashes = fingerprint_keys(4, n, 1, 0);
        bly_filter *filter = fingerprint_of(fuse_arities[i % 2], rate, hashes,
                                            n);
        fingerprint_layout l = fingerprint_layout_of(bly_image(filter, NULL));
        assert_int_equal(l.bits, bits);
        assert_true((l.shorter > 0) == !fuse_whole_bytes(bits));
        fuse_same_answers(filter, hashes, n);
        bly_free(filter);
        free(hashes);
    }
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

/* Replaces the payload of a filter, which is freed: a lookup stays inside and
 * ends, and a batch gives the same answers. */
static void fuse_hostile(bly_filter *filter, uint64_t stream,
                         const uint64_t *hashes)
{
    static bool present[1000];
    forged_image lie = forged_of(filter, stream);
    bly_contains_hashes(lie.wrapped, hashes, 1000, present);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(present[i],
                         bly_contains_hash(lie.wrapped, hashes[i]));
    forged_free(&lie);
}

static void test_hostile_payload(void **state)
{
    (void)state;
    uint64_t *hashes = fingerprint_keys(1, 1000, 1, 0);
    for (unsigned f = 1; f <= 32; f++) {
        const char *arity = fuse_arities[f % 2];
        char kind[64];
        snprintf(kind, sizeof kind, "%s,bits=%u", arity, f);
        fuse_hostile(fingerprint_of(kind, 0, hashes, 1000), FORGED_ONES,
                     hashes);
        if (f == 32)
            continue;
        double rate = ldexp(1.02 + 0.03 * f, -(int)f);
        for (uint64_t stream = 0; stream < 3; stream++)
            fuse_hostile(fingerprint_of(arity, rate, hashes, 1000), stream,
                         hashes);
    }
    free(hashes);
}

/* A forged share is refused, unless the table has as many bytes with it; then
 * lookups do what the description says, inside the image. */
static void test_forged_shares(void **state)
{
    (void)state;
    enum { N = 1000 };
    static const double rates[] = { 0.49, 0.01, 1.0 / 256, 0.003 };
    uint64_t *hashes = fingerprint_keys(1, N, 1, 0);
    size_t accepted = 0, refused = 0, bytes;
    for (size_t i = 0; i < 4; i++) {
        bly_filter *filter = fingerprint_of(fuse_arities[i % 2], rates[i],
                                            hashes, N), *forged;
        const uint8_t *image = bly_image(filter, &bytes);
        uint8_t *copy = malloc(bytes);
        assert_non_null(copy);
        memcpy(copy, image, bytes);
        bly_free(filter);
        for (uint64_t share = 0; share < 65536; share += 1 + share % 61) {
            image_set_u64(copy, IMAGE_GEOMETRY, N | share << 48);
            image_seal(copy);
            fingerprint_layout l = fingerprint_layout_of(copy);
            uint64_t cells = (l.windows + l.arity - 1) * l.segment;
            uint64_t table = (cells * l.bits - l.shorter + 511) / 512 * 64;
            bly_status status = bly_wrap(&forged, copy, bytes, NULL);
            assert_int_equal(status, table == l.stride && l.bits > 1
                                     ? BLY_OK : BLY_ECORRUPT);
            refused += status != BLY_OK;
            accepted += status == BLY_OK;
            for (size_t j = 0; status == BLY_OK && j < N; j += 7)
                assert_int_equal(bly_contains_hash(forged, hashes[j]),
                                 fingerprint_rest(&l, hashes[j]) == 0);
            if (status == BLY_OK)
                bly_free(forged);
        }
        free(copy);
    }
    assert_true(accepted >= 100 && refused >= 100);
    free(hashes);
}

/* One bit is not shortened, nor is a cell of kind "xor". */
static void test_refused_shares(void **state)
{
    (void)state;
    static const char *const kinds[] = { "fuse:bits=1", "xor:bits=7",
                                         "fuse:bits=7" };
    uint64_t *hashes = fingerprint_keys(1, 100, 1, 0);
    for (size_t i = 0; i < 3; i++) {
        bly_filter *filter = fingerprint_of(kinds[i], 0, hashes, 100);
        uint8_t header[IMAGE_HEADER];
        memcpy(header, bly_image(filter, NULL), sizeof header);
        image_set_u64(header, IMAGE_GEOMETRY, 100 | UINT64_C(1) << 48);
        const bly_kind *kind = i == 1 ? &bly_kind_xor : &bly_kind_fuse;
        assert_status(kind->check(header), i == 2 ? BLY_OK : BLY_ECORRUPT);
        bly_free(filter);
    }
    free(hashes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sizes_rise),
        cmocka_unit_test(test_whole_bits),
        cmocka_unit_test(test_any_rate_is_planned),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_no_keys),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_any_rate_is_met),
        cmocka_unit_test(test_order_is_forgotten),
        cmocka_unit_test(test_one_key),
        cmocka_unit_test(test_shorter_cells),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_consecutive),
        cmocka_unit_test(test_crafted),
        cmocka_unit_test(test_hostile_payload),
        cmocka_unit_test(test_forged_shares),
        cmocka_unit_test(test_refused_shares),
    };
    return cmocka_run_group_tests_name("fuse", tests, NULL, NULL);
}
