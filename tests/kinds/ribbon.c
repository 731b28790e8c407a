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

static bly_filter *ribbon_at(const char *kind, double rate,
                             const uint64_t *hashes, size_t n)
{
    bly_filter *filter = NULL;
    bly_spec spec = { .rate = rate };
    assert_status(bly_build(&filter, kind, &spec,
                            &(bly_keys){ .n = n, .hashes = hashes }), BLY_OK);
    return filter;
}

static bly_filter *ribbon_of(const char *kind, const uint64_t *hashes, size_t n)
{
    return ribbon_at(kind, 0.01, hashes, n);
}

static const uint8_t *ribbon_image(const bly_filter *filter)
{
    return bly_image(filter, NULL);
}

static uint64_t ribbon_distinct(const bly_filter *filter)
{
    return image_geometry(ribbon_image(filter), 0) << 16 >> 16;
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
        "ribbon", "ribbon:form=homogeneous",
    };
    const size_t all = sizeof sizes / sizeof *sizes;
    for (size_t i = 0; i < test_work(all, all, all - 1); i++)
        for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++) {
            uint64_t *hashes = ribbon_keys(i, sizes[i]);
            bly_filter *filter = ribbon_of(kinds[j], hashes, sizes[i]);
            ribbon_finds(filter, hashes, sizes[i]);
            assert_int_equal(ribbon_distinct(filter), sizes[i]);
            bly_free(filter);
            free(hashes);
        }
}

/* Measures the mean rate of several filters; returns the planned one. */
static double ribbon_rate_is(const char *kind, double rate, size_t n,
                             unsigned filters)
{
    bly_plan_t plan;
    bly_info_t stat;
    bly_spec spec = { .capacity = n, .rate = rate };
    uint64_t hits = 0, asked = 1000000 / filters;
    double sum = 0;
    assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
    for (unsigned i = 0; i < filters; i++) {
        uint64_t *hashes = ribbon_keys((uint64_t)(1 / rate) + 100 * i, n);
        bly_filter *filter = ribbon_at(kind, rate, hashes, n);
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_true(fabs(stat.rate - plan.rate) <= 5 * plan.rate_sd);
        sum += stat.rate;
        hits += ribbon_strangers(filter, asked);
        bly_free(filter);
        free(hashes);
    }
    bool bumped = strstr(kind, "homogeneous") == NULL;
    assert_within(hits, filters * asked, sum / filters,
                  bumped ? 0 : plan.rate_sd / sqrt(filters));
    return plan.rate;
}

static void ribbon_bits_are(const char *form, unsigned bits, size_t n,
                            unsigned filters)
{
    char kind[64];
    double rate = ldexp(1, -(int)bits);
    snprintf(kind, sizeof kind, "ribbon:form=%s,bits=%u", form, bits);
    assert_close(ribbon_rate_is(kind, rate, n, filters), rate, 0.0051);
}

/* A filter of the homogeneous form may have an unlucky area of slots and a far
 * higher rate: only the mean is guaranteed.
 */
static void test_rate_is_two_to_minus_bits(void **state)
{
    (void)state;
    TEST_STATISTICS();
    for (unsigned bits = 1; bits <= 20; bits++) {
        ribbon_bits_are("bumped", bits, 700, 1);
        ribbon_bits_are("bumped", bits, 30000, 1);
        ribbon_bits_are("homogeneous", bits, 30000, 20);
    }
}

/* Between the powers of two, the planned rate is the requested one but for
 * rounding to tiles, which never makes it higher. */
static void test_any_rate_is_met(void **state)
{
    (void)state;
    TEST_STATISTICS();
    static const double rates[] = { 0.45, 0.3, 0.1, 0.07, 0.03, 0.01, 0.007,
                                    0.005, 0.003, 0.001, 1e-4 };
    static const struct { size_t n; double least; } sizes[] = {
        { 100, 0.75 }, { 700, 0.94 }, { 30000, 0.998 },
    };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        double rate = rates[i];
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            double met = ribbon_rate_is("ribbon", rate, sizes[j].n, 10);
            assert_true(met <= rate && met >= sizes[j].least * rate);
        }
        double met = ribbon_rate_is("ribbon:form=homogeneous", rate, 30000, 20);
        assert_true(met <= rate && met >= 0.998 * rate);
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

/* A rate between two powers of two takes at most 0.0861 bits more than its
 * logarithm, for the two widths of tiles, and the overhead of whole bits. */
static void test_sizes_of_any_rate(void **state)
{
    (void)state;
    for (uint64_t n = 100000; n <= 1000000000; n *= 10)
        for (double rate = 0.49; rate > 1e-7; rate *= 0.83) {
            char kind[32];
            bly_plan_t plan, whole;
            bly_spec spec = { .capacity = n, .rate = rate };
            double bits = log2(1 / rate), next = ceil(bits);
            snprintf(kind, sizeof kind, "ribbon:bits=%.0f", next);
            assert_status(bly_plan(&plan, "ribbon", &spec), BLY_OK);
            assert_status(bly_plan(&whole, kind, &spec), BLY_OK);
            assert_true(plan.rate <= rate);
            assert_true(plan.bits_per_key <= whole.bits_per_key);
            assert_true(plan.bits_per_key <= bits + 0.0871
                        + whole.bits_per_key - next);
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
    uint64_t bits, wide;                /* the first `wide` tiles have one
                                           more bit                          */
} ribbon_place;

/* Returns the byte where a tile begins. */
static uint64_t ribbon_byte(ribbon_place p, uint64_t tile)
{
    return 4 * (tile * p.bits + (tile < p.wide ? tile : p.wide));
}

static unsigned ribbon_bit(ribbon_place p, uint64_t slot, unsigned column)
{
    uint64_t at = ribbon_byte(p, slot / 32) + 4 * column;
    return p.at[at + slot % 32 / 8] >> slot % 8 & 1;
}

static bool ribbon_solves(ribbon_place p, uint64_t slot, uint64_t state,
                          bool prints)
{
    uint64_t product = state * UINT64_C(0xE7A81F36B92D4C5D);
    uint64_t c = (product ^ product >> 32) | 1;
    uint64_t print = state * UINT64_C(0x9E3779B97F4A7C15) >> 32;
    uint64_t bits = p.bits + (slot / 32 + 2 < p.wide);
    for (unsigned column = 0; column < bits; column++) {
        unsigned sum = prints ? print >> column & 1 : 0;
        for (unsigned i = 0; i < 64; i++)
            if (c >> i & 1)
                sum ^= ribbon_bit(p, slot + i, column);
        if (sum != 0)
            return false;
    }
    return true;
}

/* Returns the wide tiles of a layer with so many starts in shards of so many.
 */
static uint64_t ribbon_wide(const uint8_t *image, uint64_t starts,
                            uint64_t shard)
{
    uint64_t share = image_geometry(image, 0) >> 48;
    uint64_t narrow = starts / 32 * (65536 - share) / 65536;
    uint64_t first = starts / 32 - narrow;
    return share == 0 ? 0 : first + first * 32 / shard * 2 + 2;
}

static ribbon_place ribbon_last(const uint8_t *image, const uint8_t *at)
{
    uint64_t g1 = image_geometry(image, 1), g3 = image_geometry(image, 3);
    uint64_t tiles = g3 >> 32 < 8192 ? g3 >> 32 : 8192;
    return (ribbon_place){ at, g1 >> 32 & 0xFF,
                           ribbon_wide(image, tiles * 32 - 64, UINT64_MAX) };
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
    ribbon_place p = { image + 128, g[1] >> 32 & 0xFF, 0 };
    state = hash_mix(hash + (g[1] >> 48 & 0xFF) * HASH_STEP);
    for (size_t i = 0; i < 4 && buckets[i] > 0; i++) {
        state = i == 0 ? state : hash_mix(state + HASH_STEP);
        uint64_t start = platform_mul_high(state, buckets[i] * 128);
        uint64_t slots = buckets[i] * 128 + (buckets[i] + 511) / 512 * 64;
        p.wide = ribbon_wide(image, buckets[i] * 128, 65536);
        const uint8_t *codes = p.at + ribbon_byte(p, slots / 32);
        unsigned code = bumped ? codes[start / 512] >> start / 128 % 4 * 2 & 3
                               : 0;
        if (start % 128 >= thresholds[code])
            return ribbon_solves(p, start + start / 65536 * 64, state, bumped);
        p.at = codes + (buckets[i] + 3) / 4;
    }
    state = hash_mix(state + ((g[1] >> 56) + 2) * HASH_STEP);
    uint64_t tiles = g[3] >> 32 < 8192 ? g[3] >> 32 : 8192;
    return ribbon_solves(ribbon_last(image, p.at),
                         platform_mul_high(state, tiles * 32 - 64), state,
                         true);
}

static void test_layout(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1, 60, 700, 20000, 150000 };
    static const struct { const char *kind; double rate; } kinds[] = {
        { "ribbon:bits=3", 0 }, { "ribbon:bits=8", 0 }, { "ribbon:bits=17", 0 },
        { "ribbon:bits=3,form=homogeneous", 0 }, { "ribbon", 0.47 },
        { "ribbon", 0.13 }, { "ribbon", 0.01 }, { "ribbon", 1.99 / 1024 },
        { "ribbon:form=homogeneous", 0.1 },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++) {
            uint64_t *hashes = ribbon_keys(5, sizes[i]);
            bly_filter *filter = ribbon_at(kinds[j].kind, kinds[j].rate, hashes,
                                           sizes[i]);
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
    static const char *const kinds[] = { "ribbon:bits=5", "ribbon",
                                         "ribbon:bits=5,form=homogeneous",
                                         "ribbon:form=homogeneous" };
    static const size_t sizes[] = { 300, 4000, 140000 };
    for (size_t j = 0; j < 12; j++) {
        size_t n = sizes[j / 4];
        uint64_t *up = ribbon_keys(1, n), *down = ribbon_keys(1, n);
        for (size_t i = 0; i < n; i++)  /* each is a quarter of all, twice */
            down[n - 1 - i] = up[i] = test_random(1, i * 3 / 4);
        bly_filter *a = ribbon_of(kinds[j % 4], up, n);
        bly_filter *b = ribbon_of(kinds[j % 4], down, n);
        assert_true(ribbon_same(a, b));
        assert_int_equal(ribbon_distinct(a), (n - 1) * 3 / 4 + 1);
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
        assert_int_equal(ribbon_distinct(filter), different[i]);
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
    static const char *const kinds[] = { "ribbon:bits=9", "ribbon",
                                         "ribbon:bits=9,form=homogeneous" };
    for (size_t i = 0; i < test_work(3, 3, 2); i++) {
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

/* Looks up keys in an image with a hostile payload. */
static void ribbon_ask_hostile(bly_filter *filter, unsigned noise,
                               const uint64_t *hashes, size_t n, bool *present)
{
    forged_image f = forged_of(filter, noise);
    bly_contains_hashes(f.wrapped, hashes, n, present);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(present[i], bly_contains_hash(f.wrapped, hashes[i]));
    forged_free(&f);
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
            const char *word = form == 0 ? "bumped" : "homogeneous";
            unsigned noise = bits % 2 ? FORGED_ONES : bits;
            snprintf(kind, sizeof kind, "ribbon:bits=%u,form=%s", bits, word);
            ribbon_ask_hostile(ribbon_of(kind, hashes, N), noise, hashes, N,
                               present);
            snprintf(kind, sizeof kind, "ribbon:form=%s", word);
            double rate = ldexp(0.5 + 0.015 * bits, -(int)bits);
            if (bits < 32)
                ribbon_ask_hostile(ribbon_at(kind, rate, hashes, N), noise,
                                   hashes, N, present);
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

/* Every share that is accepted, with few more or fewer bytes than planned,
 * keeps lookups inside (the sanitizers watch). */
static void test_forged_shares(void **state)
{
    (void)state;
    enum { N = 2000 };
    uint64_t *hashes = ribbon_keys(1, N);
    static const char *const kinds[] = { "ribbon", "ribbon:form=homogeneous",
                                         "ribbon:bits=32", "ribbon:bits=1" };
    size_t accepted = 0, bytes;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bly_filter *filter = ribbon_of(kinds[i], hashes, N), *forged;
        const uint8_t *image = bly_image(filter, &bytes);
        uint64_t share = image_geometry(image, 0) >> 48;
        uint8_t *copy = malloc(bytes);
        assert_non_null(copy);
        memcpy(copy, image, bytes);
        bly_free(filter);
        for (uint64_t other = 0; other < 65536; other += 1 + other / 7 % 13) {
            uint64_t now = other % 2 ? other : (share + other / 64) & 0xFFFF;
            image_set_u64(copy, IMAGE_GEOMETRY, N | now << 48);
            image_seal(copy);
            bly_status status = bly_wrap(&forged, copy, bytes, NULL);
            assert_true(status == BLY_OK || status == BLY_ECORRUPT);
            if (status != BLY_OK)
                continue;
            for (size_t j = 0; j < N; j += 7)
                assert_int_equal(bly_contains_hash(forged, hashes[j]),
                                 ribbon_reads(copy, hashes[j]));
            bly_free(forged);
            accepted++;
        }
        free(copy);
    }
    assert_true(accepted >= 100);
    free(hashes);
}

/* A share of a 33rd bit is refused, even for an image of that size. */
static void test_no_share_above_32_bits(void **state)
{
    (void)state;
    uint64_t *hashes = ribbon_keys(1, 100);
    bly_filter *filter = ribbon_at("ribbon", 3.5e-10, hashes, 100);
    uint8_t header[IMAGE_HEADER];
    memcpy(header, ribbon_image(filter), sizeof header);
    assert_true(image_geometry(header, 0) >> 48 > 0);
    assert_int_equal(image_geometry(header, 1) >> 32 & 0xFF, 31);
    assert_status(bly_kind_ribbon.check(header), BLY_OK);
    image_set_u64(header, IMAGE_GEOMETRY + 8,
                  image_geometry(header, 1) + (UINT64_C(1) << 32));
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

/* Inverts all words of a column in an image that has only the last layer. */
static void ribbon_turn(uint8_t *image, uint32_t column)
{
    ribbon_place p = ribbon_last(image, image + IMAGE_HEADER);
    uint64_t tiles = image_geometry(image, 3) >> 32;
    if (column == p.bits)
        tiles = p.wide;
    for (uint64_t tile = 0; tile < tiles; tile++)
        for (size_t i = 0; i < 4; i++)
            image[IMAGE_HEADER + ribbon_byte(p, tile) + 4 * column + i] ^= 0xFF;
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

/* Looks up N keys at each vector level in an image with one wrong column;
 * returns how many are found, the same at each. */
enum { TURNED = 203 };

static size_t ribbon_turned(uint8_t *image, size_t bytes,
                            const uint64_t *hashes, uint32_t column)
{
    bool portable[TURNED], present[TURNED];
    ribbon_turn(image, column);
    cpu_limit(CPU_PORTABLE);
    size_t found = ribbon_asked(image, bytes, hashes, TURNED, portable);
    for (size_t i = 0; i < TURNED; i++)
        assert_int_equal(portable[i], ribbon_reads(image, hashes[i]));
    for (cpu_level level = CPU_BASELINE; level < CPU_LEVELS; level++)
        if (cpu_limit(level) == level) {
            ribbon_asked(image, bytes, hashes, TURNED, present);
            assert_memory_equal(present, portable, sizeof present);
        }
    cpu_limit(CPU_LEVELS);
    ribbon_turn(image, column);
    return found;
}

static uint8_t *ribbon_copy(bly_filter *filter, size_t *bytes)
{
    const uint8_t *good = bly_image(filter, bytes);
    uint8_t *image = malloc(*bytes);
    assert_non_null(image);
    memcpy(image, good, *bytes);
    bly_free(filter);
    return image;
}

/* With one wrong column half of the members are lost, and the same half at each
 * level, however many columns are beside it. In an image with two widths, the
 * last column loses half of the keys that begin in a wide tile. */
static void test_every_column_is_looked_at(void **state)
{
    (void)state;
    enum { BITS = 32, DEVIATIONS = 36 };    /* five sigma of 203 coins */
    uint64_t *hashes = ribbon_keys(1, TURNED);
    for (uint32_t bits = 1; bits <= BITS; bits++) {
        char kind[64];
        size_t bytes, found;
        snprintf(kind, sizeof kind, "ribbon:bits=%u", bits);
        uint8_t *whole = ribbon_copy(ribbon_of(kind, hashes, TURNED), &bytes);
        for (uint32_t column = 0; column < bits; column++) {
            found = ribbon_turned(whole, bytes, hashes, column);
            assert_in_range(found, TURNED / 2 - DEVIATIONS,
                            TURNED / 2 + DEVIATIONS);
        }
        free(whole);
        if (bits == BITS)
            break;
        uint8_t *mixed = ribbon_copy(ribbon_at("ribbon", ldexp(0.7, -(int)bits),
                                               hashes, TURNED), &bytes);
        assert_int_equal(image_geometry(mixed, 1) >> 32 & 0xFF, bits);
        for (uint32_t column = 0; column <= bits; column++) {
            size_t middle = column < bits ? TURNED / 2 : TURNED * 7 / 10;
            found = ribbon_turned(mixed, bytes, hashes, column);
            assert_in_range(found, middle - DEVIATIONS, middle + DEVIATIONS);
        }
        free(mixed);
    }
    free(hashes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key_is_found),
        cmocka_unit_test(test_rate_is_two_to_minus_bits),
        cmocka_unit_test(test_any_rate_is_met),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sizes_of_any_rate),
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
        cmocka_unit_test(test_forged_shares),
        cmocka_unit_test(test_no_share_above_32_bits),
        cmocka_unit_test(test_every_column_is_looked_at),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("ribbon", tests, NULL, NULL);
}
