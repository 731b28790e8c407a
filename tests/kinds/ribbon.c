/* ribbon.c - tests specific to kind `ribbon`: its size, its layout read
 * independently from the essay, that order, repeats and threads do not matter,
 * and that any set of keys works.
 */
#include "forged.h"

#include "base/cpu.h"
#include "base/threads.h"
#include "bits/hash.h"
#include "image/abilities.h"
#include "verbs/registry.h"

static uint64_t *ribbon_keys(uint64_t stream, size_t n)
{
    uint64_t *hashes = malloc((n + 1) * sizeof *hashes);
    assert_non_null(hashes);
    for (size_t i = 0; i < n; i++)
        hashes[i] = test_random(stream, i);
    return hashes;
}

static bly_filter *ribbon_of(const char *kind, const uint64_t *hashes, size_t n)
{
    bly_filter *filter = NULL;
    assert_status(bly_build(&filter, kind, NULL,
                            &(bly_keys){ .n = n, .hashes = hashes }), BLY_OK);
    return filter;
}

static const uint8_t *ribbon_image(const bly_filter *filter)
{
    return bly_image(filter, NULL);
}

static void ribbon_finds(const bly_filter *filter, const uint64_t *hashes,
                         size_t n)
{
    bool *present = malloc(n + 1);
    assert_non_null(present);
    bly_contains_hashes(filter, hashes, n, present);
    for (size_t i = 0; i < n; i++)
        assert_true(present[i] && bly_contains_hash(filter, hashes[i]));
    free(present);
}

static uint64_t ribbon_strangers(const bly_filter *filter, size_t n)
{
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += bly_contains_hash(filter, test_random(99, i));
    return found;
}

/* ---- Members and strangers --------------------------------------------- */

static void test_every_key_is_found(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1, 2, 3, 10, 100, 499, 500, 501, 502, 1000,
                                    10000, 65536, 100000, 1000000 };
    static const char *const kinds[] = {
        "ribbon:bits=1", "ribbon:bits=7", "ribbon:bits=8", "ribbon:bits=13",
        "ribbon:bits=32", "ribbon:bits=8,form=homogeneous",
    };
    const size_t all = sizeof sizes / sizeof *sizes;
    for (size_t i = 0; i < test_work(all, all, all - 1); i++)
        for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++) {
            uint64_t *hashes = ribbon_keys(i, sizes[i]);
            bly_filter *filter = ribbon_of(kinds[j], hashes, sizes[i]);
            ribbon_finds(filter, hashes, sizes[i]);
            assert_int_equal(image_geometry(ribbon_image(filter), 0),
                             sizes[i]);
            bly_free(filter);
            free(hashes);
        }
}

/* Measures the mean rate of several filters. */
static void ribbon_rate_is(const char *form, unsigned bits, size_t n,
                           unsigned filters)
{
    char kind[64];
    bly_plan_t plan;
    bly_info_t stat;
    bly_spec spec = { .capacity = n };
    uint64_t hits = 0, asked = 1000000 / filters;
    snprintf(kind, sizeof kind, "ribbon:form=%s,bits=%u", form, bits);
    assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
    for (unsigned i = 0; i < filters; i++) {
        uint64_t *hashes = ribbon_keys(bits + 100 * i, n);
        bly_filter *filter = ribbon_of(kind, hashes, n);
        assert_status(bly_info(&stat, filter), BLY_OK);
        hits += ribbon_strangers(filter, asked);
        bly_free(filter);
        free(hashes);
    }
    assert_true(stat.rate == plan.rate);
    assert_close(stat.rate, ldexp(1, -(int)bits), 0.0051);
    assert_within(hits, filters * asked, plan.rate,
                  plan.rate_sd / sqrt(filters));
}

/* A filter of the homogeneous form may have an unlucky area of slots and a far
 * higher rate: only the mean is guaranteed.
 */
static void test_rate_is_two_to_minus_bits(void **state)
{
    (void)state;
    TEST_STATISTICS();
    for (unsigned bits = 1; bits <= 20; bits++) {
        ribbon_rate_is("bumped", bits, 700, 1);
        ribbon_rate_is("bumped", bits, 30000, 1);
        ribbon_rate_is("homogeneous", bits, 30000, 20);
    }
}

/* ---- Sizes ------------------------------------------------------------- */

static void test_sizes(void **state)
{
    (void)state;
    static const struct { uint64_t n; double bits; } rows[] = {
        { 10000, 8.342 }, { 100000, 8.060 }, { 1000000, 8.0295 },
        { 10000000, 8.025 }, { 100000000, 8.024 }, { 1000000000, 8.024 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bly_spec spec = { .capacity = rows[i].n };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, "ribbon:bits=8", &spec), BLY_OK);
        assert_true(plan.bits_per_key <= rows[i].bits);
        assert_true(plan.bits_per_key > 8);
        assert_true(plan.scratch <= 9 * rows[i].n + (64 << 20));
        spec.rate = 0.004;
        assert_status(bly_plan(&plan, "ribbon", &spec), BLY_OK);
        assert_true(plan.bits_per_key <= rows[i].bits);
    }
}

static void test_sizes_homogeneous(void **state)
{
    (void)state;
    static const struct { uint64_t n; double bits; } rows[] = {
        { 1000, 12.04 }, { 10000, 9.50 }, { 100000, 9.20 }, { 1000000, 8.97 },
        { 10000000, 8.97 }, { 100000000, 8.97 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bly_spec spec = { .capacity = rows[i].n };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, "ribbon:bits=8,form=homogeneous", &spec),
                      BLY_OK);
        assert_true(plan.bits_per_key <= rows[i].bits);
        assert_true(plan.rate <= 1.0051 / 256);
        assert_true(plan.rate_sd <= 0.1 * plan.rate);
    }
}

/* The last layer takes the rest of the payload. Unlucky values of n would need
 * another seed; none of these does. */
static void test_no_second_seed(void **state)
{
    (void)state;
    for (size_t n = 1; n < 200000; n += 1 + n / 13) {
        uint64_t *hashes = ribbon_keys(n, n);
        bly_filter *filter = ribbon_of("ribbon:bits=6", hashes, n);
        uint64_t first = image_geometry(ribbon_image(filter), 1);
        assert_int_equal(first >> 48 & 0xFF, 0);
        bly_free(filter);
        free(hashes);
    }
}

/* ---- The layout, read from the essay ----------------------------------- */

typedef struct {
    const uint8_t *at;
    unsigned bits;
} ribbon_place;

static unsigned ribbon_bit(ribbon_place p, uint64_t slot, unsigned column)
{
    size_t word = (size_t)(slot / 32) * p.bits + column;
    return p.at[4 * word + slot % 32 / 8] >> slot % 8 & 1;
}

static bool ribbon_solves(ribbon_place p, uint64_t slot, uint64_t state,
                          bool prints)
{
    uint64_t product = state * UINT64_C(0xE7A81F36B92D4C5D);
    uint64_t c = (product ^ product >> 32) | 1;
    uint64_t print = state * UINT64_C(0x9E3779B97F4A7C15) >> 32;
    for (unsigned column = 0; column < p.bits; column++) {
        unsigned sum = prints ? print >> column & 1 : 0;
        for (unsigned i = 0; i < 64; i++)
            if (c >> i & 1)
                sum ^= ribbon_bit(p, slot + i, column);
        if (sum != 0)
            return false;
    }
    return true;
}

static bool ribbon_reads(const uint8_t *image, uint64_t hash)
{
    static const unsigned thresholds[4] = { 0, 16, 36, 128 };
    uint64_t g[4], state = 0;
    for (size_t i = 0; i < 4; i++)
        g[i] = image_geometry(image, i);
    uint64_t buckets[4] = { g[1] & UINT32_MAX, g[2] & UINT32_MAX, g[2] >> 32,
                            g[3] & UINT32_MAX };
    bool bumped = (g[1] >> 40 & 0xFF) == 0;
    ribbon_place p = { image + 128, g[1] >> 32 & 0xFF };
    state = hash_mix(hash + (g[1] >> 48 & 0xFF) * HASH_STEP);
    for (size_t i = 0; i < 4 && buckets[i] > 0; i++) {
        state = i == 0 ? state : hash_mix(state + HASH_STEP);
        uint64_t start = platform_mul_high(state, buckets[i] * 128);
        uint64_t slots = buckets[i] * 128 + (buckets[i] + 511) / 512 * 64;
        const uint8_t *codes = p.at + slots * p.bits / 8;
        unsigned code = bumped ? codes[start / 512] >> start / 128 % 4 * 2 & 3
                               : 0;
        if (start % 128 >= thresholds[code])
            return ribbon_solves(p, start + start / 65536 * 64, state, bumped);
        p.at = codes + (buckets[i] + 3) / 4;
    }
    state = hash_mix(state + ((g[1] >> 56) + 2) * HASH_STEP);
    uint64_t tiles = g[3] >> 32 < 8192 ? g[3] >> 32 : 8192;
    return ribbon_solves(p, platform_mul_high(state, tiles * 32 - 64),
                         state, true);
}

static void test_layout(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1, 60, 700, 20000, 150000 };
    static const char *const kinds[] = {
        "ribbon:bits=3", "ribbon:bits=8", "ribbon:bits=17",
        "ribbon:bits=3,form=homogeneous",
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++) {
            uint64_t *hashes = ribbon_keys(5, sizes[i]);
            bly_filter *filter = ribbon_of(kinds[j], hashes, sizes[i]);
            const uint8_t *image = ribbon_image(filter);
            for (size_t k = 0; k < sizes[i]; k += 1 + sizes[i] / 1000)
                assert_true(ribbon_reads(image, hashes[k]));
            for (uint64_t k = 0; k < 3000; k++) {
                uint64_t stranger = test_random(6, k);
                assert_int_equal(ribbon_reads(image, stranger),
                                 bly_contains_hash(filter, stranger));
            }
            bly_free(filter);
            free(hashes);
        }
}

/* ---- Order, repeats, threads ------------------------------------------- */

static bool ribbon_same(const bly_filter *a, const bly_filter *b)
{
    size_t a_bytes, b_bytes;
    const void *a_image = bly_image(a, &a_bytes);
    const void *b_image = bly_image(b, &b_bytes);
    return a_bytes == b_bytes && memcmp(a_image, b_image, a_bytes) == 0;
}

/* The image depends only on the set of keys and their number. */
static void test_order_does_not_matter(void **state)
{
    (void)state;
    static const char *const kinds[] = { "ribbon:bits=5",
                                         "ribbon:bits=5,form=homogeneous" };
    static const size_t sizes[] = { 300, 4000, 140000 };
    for (size_t j = 0; j < 6; j++) {
        size_t n = sizes[j / 2];
        uint64_t *up = ribbon_keys(1, n), *down = ribbon_keys(1, n);
        for (size_t i = 0; i < n; i++)  /* each is a quarter of all, twice */
            down[n - 1 - i] = up[i] = test_random(1, i * 3 / 4);
        bly_filter *a = ribbon_of(kinds[j % 2], up, n);
        bly_filter *b = ribbon_of(kinds[j % 2], down, n);
        assert_true(ribbon_same(a, b));
        assert_int_equal(image_geometry(ribbon_image(a), 0),
                         (n - 1) * 3 / 4 + 1);
        ribbon_finds(a, up, n);
        bly_free(a);
        bly_free(b);
        free(up);
        free(down);
    }
}

/* A single key, two alternating, a few repeated. */
static void test_repeats(void **state)
{
    (void)state;
    enum { N = 300000 };
    static const size_t different[] = { 1, 2, 3, 100, 5000 };
    uint64_t *hashes = ribbon_keys(1, N);
    for (size_t i = 0; i < sizeof different / sizeof *different; i++) {
        for (size_t j = 0; j < N; j++)
            hashes[j] = test_random(2, j % different[i]);
        bly_filter *filter = ribbon_of("ribbon:bits=10", hashes, N);
        ribbon_finds(filter, hashes, N);
        assert_int_equal(image_geometry(ribbon_image(filter), 0),
                         different[i]);
        assert_within(ribbon_strangers(filter, 100000), 100000, 1 / 1024.0, 0);
        bly_free(filter);
    }
    free(hashes);
}

/* So many repeats that the last layer has more tiles than it uses. */
static void test_very_many_repeats(void **state)
{
    (void)state;
    enum { N = 6000000 };
    uint64_t *hashes = ribbon_keys(1, 10);
    hashes = realloc(hashes, N * sizeof *hashes);
    assert_non_null(hashes);
    for (size_t i = 10; i < N; i++)
        hashes[i] = hashes[i % 10];
    bly_filter *filter = ribbon_of("ribbon:bits=3", hashes, N);
    ribbon_finds(filter, hashes, 1000);
    assert_int_equal(image_geometry(ribbon_image(filter), 0), 10);
    assert_true(image_geometry(ribbon_image(filter), 3) >> 32 > 8192);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(bly_contains_hash(filter, test_random(9, i)),
                         ribbon_reads(ribbon_image(filter), test_random(9, i)));
    bly_free(filter);
    free(hashes);
}

/* A fiftieth of the keys are the same one, which may be bumped or not. */
static void test_repeats_among_others(void **state)
{
    (void)state;
    enum { N = 20000 };
    for (uint64_t stream = 0; stream < 40; stream++) {
        uint64_t *hashes = ribbon_keys(stream, N);
        for (size_t j = 0; j < N / 50; j++)
            hashes[50 * j] = hashes[1];
        bly_filter *filter = ribbon_of("ribbon", hashes, N);
        ribbon_finds(filter, hashes, N);
        bly_free(filter);
        free(hashes);
    }
}

/* Builds as the library does, with `threads` threads. */
static uint8_t *ribbon_build_with(unsigned threads, const char *kind,
                                  const uint64_t *hashes, size_t n)
{
    bly_spec spec = { .capacity = n };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
    uint8_t *image = calloc(1, (size_t)plan.bytes);
    void *scratch = NULL;
    assert_non_null(image);
    assert_int_equal(posix_memalign(&scratch, 64, (size_t)plan.scratch), 0);
    memset(scratch, 0xA5, (size_t)plan.scratch);
    image_format(image, &plan, bly_kind_ribbon.version, 0, "xxh3");
    kind_keys keys = { .hashes = hashes, .n = n };
    kind_bench bench = { scratch, (size_t)plan.scratch, threads };
    assert_status(bly_kind_ribbon.building->build(image, &keys, &bench),
                  BLY_OK);
    free(scratch);
    return image;
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    enum { N = 600000 };
    uint64_t *hashes = ribbon_keys(1, N);
    static const char *const kinds[] = { "ribbon:bits=9",
                                         "ribbon:bits=9,form=homogeneous" };
    for (size_t i = 0; i < test_work(2, 2, 1); i++) {
        uint8_t *one = ribbon_build_with(1, kinds[i], hashes, N);
        for (unsigned threads = 2; threads <= 64; threads *= 3) {
            uint8_t *more = ribbon_build_with(threads, kinds[i], hashes, N);
            assert_memory_equal(one, more, image_u64(one, IMAGE_BYTES));
            free(more);
        }
        free(one);
    }
    free(hashes);
}

/* ---- Strange keys, hostile bytes --------------------------------------- */

/* Returns the hash whose state under the first seed is v, by undoing
 * hash_mix. */
static uint64_t ribbon_unmix(uint64_t v)
{
    v ^= v >> 31 ^ v >> 62;
    v *= UINT64_C(0x319642B2D24D8EC3);
    v ^= v >> 27 ^ v >> 54;
    v *= UINT64_C(0x96DE1B173F119089);
    return v ^ v >> 30 ^ v >> 60;
}

/* All keys begin in one slot: the first seed fails, another works. */
static void test_crowds(void **state)
{
    (void)state;
    static const char *const kinds[] = { "ribbon:bits=8",
                                         "ribbon:bits=8,form=homogeneous" };
    for (size_t n = 100; n <= 300000; n = n * 3 + 70)
        for (size_t j = 0; j < 2; j++) {
            uint64_t *hashes = ribbon_keys(1, n);
            for (size_t i = 0; i < n; i++)
                hashes[i] = ribbon_unmix(hashes[i] >> 40
                                         | UINT64_C(0x1234567) << 36);
            assert_true(hash_mix(hashes[0]) >> 36 == 0x1234567);
            bly_filter *filter = ribbon_of(kinds[j], hashes, n);
            ribbon_finds(filter, hashes, n);
            bly_free(filter);
            free(hashes);
        }
}

/* With any payload lookups stay inside (the sanitizers watch). */
static void test_hostile_payloads(void **state)
{
    (void)state;
    enum { N = 3000 };
    uint64_t *hashes = ribbon_keys(1, N);
    bool present[N];
    for (unsigned bits = 1; bits <= 32; bits++)
        for (size_t form = 0; form < 2; form++) {
            char kind[64];
            snprintf(kind, sizeof kind, "ribbon:bits=%u,form=%s", bits,
                     form == 0 ? "bumped" : "homogeneous");
            forged_image f = forged_of(ribbon_of(kind, hashes, N),
                                 bits % 2 ? FORGED_ONES : bits);
            bly_contains_hashes(f.wrapped, hashes, N, present);
            for (size_t i = 0; i < N; i++)
                assert_int_equal(present[i],
                                 bly_contains_hash(f.wrapped, hashes[i]));
            forged_free(&f);
        }
    free(hashes);
}

/* Every geometry field incremented, decremented, or with a bit flipped is
 * refused, except the number of keys and the two seeds. */
static void test_forged_geometry(void **state)
{
    (void)state;
    uint64_t *hashes = ribbon_keys(1, 30000);
    bly_filter *filter = ribbon_of("ribbon:bits=8", hashes, 30000);
    const uint8_t *image = ribbon_image(filter);
    uint8_t header[IMAGE_HEADER];
    for (size_t field = 1; field < 4; field++)
        for (unsigned bit = 0; bit < 64; bit++) {
            bool seed = field == 1 && ((bit >= 48 && bit < 52)
                                       || (bit >= 56 && bit < 62));
            memcpy(header, image, sizeof header);
            image_set_u64(header, IMAGE_GEOMETRY + 8 * field,
                image_geometry(image, field) ^ UINT64_C(1) << bit);
            assert_status(bly_kind_ribbon.check(header),
                          seed ? BLY_OK : BLY_ECORRUPT);
        }
    memcpy(header, image, sizeof header);
    image_set_u64(header, IMAGE_GEOMETRY, (UINT64_C(1) << 34) + 1);
    assert_status(bly_kind_ribbon.check(header), BLY_ECORRUPT);
    bly_free(filter);
    free(hashes);
}

static void test_limits(void **state)
{
    (void)state;
    bly_plan_t plan;
    bly_spec spec = { .capacity = UINT64_C(1) << 34 };
    assert_status(bly_plan(&plan, "ribbon:bits=32", &spec), BLY_OK);
    assert_true(plan.bits_per_key < 32.2);
    spec.capacity++;
    assert_status(bly_plan(&plan, "ribbon", &spec), BLY_ETOOBIG);
    spec = (bly_spec){ .capacity = 10, .rate = 2e-10 };
    assert_status(bly_plan(&plan, "ribbon", &spec), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "2^-32"));
}

/* Inverts all words of a column in the tiles at the beginning of the
 * payload. */
static void ribbon_turn(uint8_t *image, size_t bytes, uint32_t bits,
                        uint32_t column)
{
    for (size_t at = IMAGE_HEADER + 4 * column; at + 4 <= bytes; at += 4 * bits)
        for (size_t i = 0; i < 4; i++)
            image[at + i] ^= 0xFF;
    image_seal(image);
}

/* Queries the keys at a vector level, singly and in a batch; returns how many
 * are found. */
static size_t ribbon_asked(const uint8_t *image, size_t bytes,
                           const uint64_t *hashes, size_t n, bool *present)
{
    bly_filter *filter = NULL;
    size_t found = 0;
    assert_status(bly_wrap(&filter, image, bytes, NULL), BLY_OK);
    bly_contains_hashes(filter, hashes, n, present);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(bly_contains_hash(filter, hashes[i]), present[i]);
        found += present[i];
    }
    bly_free(filter);
    return found;
}

/* With one wrong column half of the members are lost, and the same half at each
 * level, however many columns are beside it. */
static void test_every_column_is_looked_at(void **state)
{
    (void)state;
    enum { N = 203, BITS = 32, DEVIATIONS = 36 };   /* five sigma of N coins */
    uint64_t *hashes = ribbon_keys(1, N);
    bool portable[N], present[N];
    for (uint32_t bits = 1; bits <= BITS; bits++) {
        char kind[64];
        size_t bytes;
        snprintf(kind, sizeof kind, "ribbon:bits=%u", bits);
        bly_filter *filter = ribbon_of(kind, hashes, N);
        const uint8_t *good = bly_image(filter, &bytes);
        uint8_t *image = malloc(bytes);
        assert_non_null(image);
        memcpy(image, good, bytes);
        bly_free(filter);
        for (uint32_t column = 0; column < bits; column++) {
            ribbon_turn(image, bytes, bits, column);
            cpu_limit(CPU_PORTABLE);
            size_t found = ribbon_asked(image, bytes, hashes, N, portable);
            assert_in_range(found, N / 2 - DEVIATIONS, N / 2 + DEVIATIONS);
            for (cpu_level level = CPU_BASELINE; level < CPU_LEVELS; level++)
                if (cpu_limit(level) == level) {
                    ribbon_asked(image, bytes, hashes, N, present);
                    assert_memory_equal(present, portable, sizeof present);
                }
            ribbon_turn(image, bytes, bits, column);
        }
        free(image);
    }
    cpu_limit(CPU_LEVELS);
    free(hashes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key_is_found),
        cmocka_unit_test(test_rate_is_two_to_minus_bits),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sizes_homogeneous),
        cmocka_unit_test(test_no_second_seed),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_order_does_not_matter),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_very_many_repeats),
        cmocka_unit_test(test_repeats_among_others),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_crowds),
        cmocka_unit_test(test_hostile_payloads),
        cmocka_unit_test(test_forged_geometry),
        cmocka_unit_test(test_every_column_is_looked_at),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("ribbon", tests, NULL, NULL);
}
