/* cuckoo.c - tests specific to kind `cuckoo`: places of fingerprints, load,
 * copies, moved fingerprints, and sorted quads.
 */
#include "forged.h"

#include "base/cpu.h"
#include "bits/bits.h"
#include "bits/hash.h"
#include "image/image.h"

static bly_filter *make(const char *kind, uint64_t capacity)
{
    bly_spec spec = { .capacity = capacity };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static const uint8_t *payload_of(const bly_filter *filter)
{
    return (const uint8_t *)bly_image(filter, NULL) + IMAGE_HEADER;
}

static uint64_t geometry_of(const bly_filter *filter, size_t i)
{
    return image_geometry(bly_image(filter, NULL), i);
}

static bly_info_t stat_of(const bly_filter *filter)
{
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    return stat;
}

/* ---- The format, read independently ------------------------------------ */

/* Reads `width` bits of the payload from bit `at` on. */
static uint32_t cut(const uint8_t *payload, uint64_t at, uint32_t width)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < width; i++)
        value |= (uint32_t)bits_test(payload, at + i) << i;
    return value;
}

/* Finds the four sorted prefixes of a code by counting the fours before them;
 * false if none exist. */
static bool prefixes_of(uint32_t out[4], uint32_t code)
{
    for (uint32_t a = 0; a < 16; a++)
        for (uint32_t b = a; b < 16; b++)
            for (uint32_t c = b; c < 16; c++)
                for (uint32_t d = c; d < 16; d++)
                    if (code-- == 0) {
                        out[0] = a, out[1] = b, out[2] = c, out[3] = d;
                        return true;
                    }
    return false;
}

/* Reads the four fingerprints of a quad. */
static void read_quad(uint32_t out[4], const bly_filter *filter, uint64_t quad)
{
    const uint8_t *payload = payload_of(filter);
    uint32_t f = (uint32_t)geometry_of(filter, 1);
    bool sorted = geometry_of(filter, 2);
    uint64_t at = quad * 4 * (f - sorted);
    for (uint32_t i = 0; i < 4; i++)
        out[i] = sorted ? cut(payload, at + 12 + i * (f - 4), f - 4)
                        : cut(payload, at + i * f, f);
    if (!sorted)
        return;
    uint32_t prefixes[4];
    assert_true(prefixes_of(prefixes, cut(payload, at, 12)));
    for (uint32_t i = 0; i < 4; i++)
        out[i] |= prefixes[i] << (f - 4);
}

static uint32_t fingerprint(uint64_t hash, uint32_t f)
{
    uint64_t kinds = (UINT64_C(1) << f) - 1;
    return 1 + (uint32_t)((hash_spread(hash_spread(hash)) >> 32) * kinds >> 32);
}

static uint64_t first_bucket(uint64_t hash, uint64_t buckets)
{
    return bits_range(hash_spread(hash), buckets);
}

static uint64_t other_bucket(uint64_t bucket, uint32_t fp, uint64_t buckets)
{
    uint64_t mixed = hash_spread(fp * HASH_STEP);
    uint64_t sum = 2 * bits_range(mixed, buckets / 2) + 1;
    return (sum + buckets - bucket) % buckets;
}

/* ---- Places ------------------------------------------------------------ */

/* The other bucket of the other bucket is the first one, and differs from
 * it. */
static void test_two_buckets(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 2, 4, 6, 1000, 26316, 1 << 20,
                                      (UINT64_C(1) << 32) + 2,
                                      UINT64_C(1) << 48 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint64_t i = 0; i < 5000; i++) {
            uint32_t fp = fingerprint(test_random(2, i),
                                      6 + (uint32_t)(i % 27));
            uint64_t one = first_bucket(test_random(1, i), sizes[s]);
            uint64_t other = other_bucket(one, fp, sizes[s]);
            assert_true(one < sizes[s] && other < sizes[s]);
            assert_int_equal((one ^ other) & 1, 1);
            assert_int_equal(other_bucket(other, fp, sizes[s]), one);
        }
}

/* A single key is in the first slot of its emptier bucket; more copies follow
 * in turn, and everything else is zero. */
static void test_layout(void **state)
{
    (void)state;
    static const char *const kinds[] = { "cuckoo:f=6", "cuckoo:f=13",
        "cuckoo:f=16", "cuckoo:f=17", "cuckoo:f=31", "cuckoo:f=32",
        "cuckoo:f=7,sorted=yes", "cuckoo:f=12,sorted=yes",
        "cuckoo:f=17,sorted=yes", "cuckoo:f=18,sorted=yes",
        "cuckoo:f=32,sorted=yes" };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (uint64_t i = 0; i < 20; i++) {
            bly_filter *filter = make(kinds[k], 100);
            uint64_t hash = test_random(3, i), left = 8, slots = 0;
            uint64_t buckets = geometry_of(filter, 0);
            uint32_t fp = fingerprint(hash, (uint32_t)geometry_of(filter, 1));
            uint64_t one = first_bucket(hash, buckets);
            for (uint64_t c = 0; c < 5; c++, left--)
                assert_status(bly_add_hash(filter, hash), c > 0);
            for (uint64_t b = 0; b < buckets; b++) {
                uint32_t quad[4];
                uint64_t there = 0;
                read_quad(quad, filter, b);
                for (size_t j = 0; j < 4; j++) {
                    assert_true(quad[j] == fp || quad[j] == 0);
                    there += quad[j] == fp;
                }
                assert_int_equal(there, b == one ? 3
                                 : b == other_bucket(one, fp, buckets) ? 2 : 0);
                slots += there;
            }
            assert_int_equal(slots, 5);
            bly_free(filter);
        }
}

/* However often fingerprints moved, each is in one of its key's buckets, and
 * nothing else is stored. */
static void test_moved_stay_in_reach(void **state)
{
    (void)state;
    bly_filter *filter = make("cuckoo:f=11", 3000);
    uint64_t buckets = geometry_of(filter, 0), in = 0, stored = 0;
    while (bly_add_hash(filter, test_random(4, in)) >= 0)
        in++;
    assert_true((double)in > 0.94 * 4 * (double)buckets);
    for (uint64_t i = 0; i < in; i++) {
        uint32_t one[4], other[4], fp = fingerprint(test_random(4, i), 11);
        uint64_t bucket = first_bucket(test_random(4, i), buckets);
        read_quad(one, filter, bucket);
        read_quad(other, filter, other_bucket(bucket, fp, buckets));
        bool there = false;
        for (size_t j = 0; j < 4; j++)
            there |= one[j] == fp || other[j] == fp;
        assert_true(there);
    }
    for (uint64_t b = 0; b < buckets; b++) {
        uint32_t quad[4];
        read_quad(quad, filter, b);
        for (size_t j = 0; j < 4; j++)
            stored += quad[j] != 0;
    }
    assert_int_equal(stored, in);
    bly_free(filter);
}

/* ---- Sorted quads ------------------------------------------------------ */

static void test_codes(void **state)
{
    (void)state;
    static const struct { uint32_t code, prefixes[4]; } rows[] = {
        { 0, { 0, 0, 0, 0 } }, { 951, { 1, 2, 3, 4 } },
        { 3875, { 15, 15, 15, 15 } },
    };
    uint32_t prefixes[4];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(prefixes_of(prefixes, rows[i].code));
        assert_memory_equal(prefixes, rows[i].prefixes, sizeof prefixes);
    }
    assert_false(prefixes_of(prefixes, 3876));
}

/* Every code is read as its four prefixes, invalid ones as zeros, and a valid
 * one is written back unchanged. */
static void test_every_code(void **state)
{
    (void)state;
    bly_filter *filter = make("cuckoo:f=8,sorted=yes", 7);
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    uint8_t *forged = malloc(bytes);
    assert_non_null(forged);
    memcpy(forged, image, bytes);
    for (uint32_t code = 0; code < 4096; code++) {
        memset(forged + IMAGE_HEADER, 0, bytes - IMAGE_HEADER);
        forged[IMAGE_HEADER] = (uint8_t)code;
        forged[IMAGE_HEADER + 1] = (uint8_t)(0x10 | code >> 8); /* first: 1 */
        image_seal(forged);
        bly_filter *wrapped = NULL, *copy = NULL;
        assert_status(bly_wrap(&wrapped, forged, bytes, NULL), BLY_OK);
        assert_status(bly_copy(&copy, wrapped, NULL), BLY_OK);
        uint32_t quad[4] = { 1, 0, 0, 0 };
        if (code < 3876)
            read_quad(quad, wrapped, 0);
        for (uint64_t i = 0; i < 400 && code % 61 == 0; i++) {
            uint32_t fp = fingerprint(test_random(6, i), 8);
            uint64_t copies = 0;
            for (size_t j = 0; j < 4; j++)
                copies += quad[j] == fp;
            assert_int_equal(bly_count_hash(wrapped, test_random(6, i)),
                             copies);
        }
        uint64_t hash = test_random(6, code);
        if (code < 3876 && bly_add_hash(copy, hash) == BLY_OK) {
            assert_status(bly_remove_hash(copy, hash), BLY_OK);
            if (quad[0] <= quad[1] && quad[1] <= quad[2] && quad[2] <= quad[3])
                assert_memory_equal(payload_of(copy), forged + IMAGE_HEADER,
                                    bytes - IMAGE_HEADER);
        }
        bly_free(copy);
        bly_free(wrapped);
    }
    free(forged);
    bly_free(filter);
}

/* Sorted or not, answers are the same. */
static void test_sorted_answers_the_same(void **state)
{
    (void)state;
    for (unsigned f = 6; f <= 32; f++) {
        char plain[32], sorted[32];
        snprintf(plain, sizeof plain, "cuckoo:f=%u", f);
        snprintf(sorted, sizeof sorted, "cuckoo:f=%u,sorted=yes", f);
        bly_filter *a = make(plain, 2000), *b = make(sorted, 2000);
        for (uint64_t i = 0; i < 2000; i++)
            assert_int_equal(bly_add_hash(a, test_random(7, i)),
                             bly_add_hash(b, test_random(7, i)));
        for (uint64_t i = 0; i < 20000; i++)
            assert_int_equal(bly_count_hash(a, test_random(7, i)),
                             bly_count_hash(b, test_random(7, i)));
        assert_true(stat_of(a).rate == stat_of(b).rate);
        bly_free(a);
        bly_free(b);
    }
}

/* ---- Full, copies ------------------------------------------------------ */

static bool same_bytes(const bly_filter *a, const bly_filter *b)
{
    size_t a_bytes, b_bytes;
    const void *x = bly_image(a, &a_bytes), *y = bly_image(b, &b_bytes);
    return a_bytes == b_bytes && memcmp(x, y, a_bytes) == 0;
}

/* Eight copies of a key fit, a ninth does not; a refused add changes no
 * byte. */
static void test_copies(void **state)
{
    (void)state;
    static const char *const kinds[] = { "cuckoo", "cuckoo:sorted=yes",
                                         "cuckoo:f=25" };
    for (size_t k = 0; k < 3; k++) {
        bly_filter *filter = make(kinds[k], 1000), *before = NULL;
        for (uint64_t i = 0; i < 300; i++)
            bly_add_hash(filter, test_random(8, i));
        for (uint64_t i = 1; i < 8; i++)
            assert_status(bly_add_hash(filter, test_random(8, 0)), BLY_SEEN);
        assert_status(bly_copy(&before, filter, NULL), BLY_OK);
        assert_status(bly_add_hash(filter, test_random(8, 0)), BLY_EFULL);
        assert_true(same_bytes(filter, before));
        assert_int_equal(bly_count_hash(filter, test_random(8, 0)), 8);
        for (uint64_t i = 0; i < 8; i++)
            assert_status(bly_remove_hash(filter, test_random(8, 0)), BLY_OK);
        assert_false(bly_contains_hash(filter, test_random(8, 0)));
        bly_free(before);
        bly_free(filter);
    }
}

/* Random adds and removes of up to eight copies beside an exact count, up to
 * full load and down: no count is ever too low, and the slots used are adds
 * less removes. */
static void run_multiset(const char *kind, uint64_t top)
{
    enum { KEYS = 9000 };
    static uint8_t exact[KEYS];
    bly_filter *filter = make(kind, 8000), *before = NULL;
    double slots = 4.0 * (double)geometry_of(filter, 0);
    uint64_t in = 0, refused = 0;
    memset(exact, 0, sizeof exact);
    const uint64_t steps = test_work(60000, 30000, 12000);
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t r = test_random(9, i), key = r % KEYS;
        bool down = exact[key] > 0 && (in >= top || r >> 60 < 3);
        if (down) {
            assert_status(bly_remove_hash(filter, test_random(10, key)),
                          BLY_OK);
            exact[key]--;
            in--;
        } else if (in < top && exact[key] < (r >> 50 & 31 ? 2 : 8)) {
            if (refused < 3)
                assert_status(bly_copy(&before, filter, NULL), BLY_OK);
            bly_status status = bly_add_hash(filter, test_random(10, key));
            assert_true(status >= 0 || status == BLY_EFULL);
            if (status < 0 && refused++ < 3)
                assert_true(same_bytes(filter, before));
            exact[key] = (uint8_t)(exact[key] + (status >= 0));
            in += status >= 0;
            bly_free(before);
            before = NULL;
        }
    }
    for (uint64_t key = 0; key < KEYS; key++)
        assert_true(bly_count_hash(filter, test_random(10, key))
                    >= exact[key]);
    assert_close(stat_of(filter).fill, (double)in / slots, 1e-12);
    for (uint64_t key = 0; key < KEYS; key++)
        for (; exact[key] > 0; exact[key]--)
            assert_status(bly_remove_hash(filter, test_random(10, key)),
                          BLY_OK);
    assert_true(stat_of(filter).fill == 0 && stat_of(filter).items == 0);
    bly_free(filter);
}

static void test_multiset(void **state)
{
    (void)state;
    run_multiset("cuckoo:f=12", 4000);
    run_multiset("cuckoo:f=12", 7600);
    run_multiset("cuckoo:f=12,sorted=yes", UINT64_MAX);
    run_multiset("cuckoo:f=20", UINT64_MAX);
}

/* It fills to 97 % before the first refusal. */
static void test_first_failure(void **state)
{
    (void)state;
    static const char *const kinds[] = { "cuckoo:f=12", "cuckoo:f=7" };
    for (size_t k = 0; k < 2; k++)
        for (uint64_t stream = 0; stream < 3; stream++) {
            bly_filter *filter = make(kinds[k], 245000);
            uint64_t in = 0;
            while (bly_add_hash(filter, test_random(stream, in)) >= 0)
                in++;
            double load = (double)in / 4 / (double)geometry_of(filter, 0);
            assert_true(load > 0.968 && load < 0.98);
            bly_free(filter);
        }
}

/* Small filters hold every planned key, whichever they are. */
static void test_small_ones_fit(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 300; n += 1 + n / 8)
        for (uint64_t stream = 0; stream < 200; stream++) {
            bly_spec spec = { .capacity = n, .rate = stream % 2 ? 0.5 : 1e-4 };
            bly_filter *filter = NULL;
            assert_status(bly_new(&filter, "cuckoo", &spec), BLY_OK);
            for (uint64_t i = 0; i < n; i++)
                assert_true(bly_add_hash(filter, test_random(stream, i)) >= 0);
            bly_free(filter);
        }
}

/* ---- Rate and size ----------------------------------------------------- */

/* Rates at a load, from an independent simulation: f, load, rate. */
static void test_rate_at_load(void **state)
{
    (void)state;
    static const struct { const char *kind; double load, rate; } rows[] = {
        { "cuckoo:f=12", 0.95, 1.853e-3 }, { "cuckoo:f=8", 0.90, 2.796e-2 },
        { "cuckoo:f=12,sorted=yes", 0.95, 1.853e-3 },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        bly_filter *filter = make(rows[r].kind, 400000);
        double slots = 4.0 * (double)geometry_of(filter, 0);
        uint64_t in = (uint64_t)(rows[r].load * slots), hits = 0;
        for (uint64_t i = 0; i < in; i++)
            assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
        for (uint64_t i = 0; i < 2000000; i++)
            hits += bly_contains_hash(filter, test_random(2, i));
        assert_within(hits, 2e6, stat_of(filter).rate, 0);
        assert_close((double)hits / 2e6, rows[r].rate, 0.1);
        assert_close(stat_of(filter).rate, rows[r].rate, 0.02);
        bly_free(filter);
    }
}

/* log2(1/rate) + 3 bits per key, divided by a load of 0.95; one bit less if
 * sorted. */
static void test_sizes(void **state)
{
    (void)state;
    for (double rate = 0.02; rate > 3e-9; rate *= 0.3) {
        bly_spec spec = { .capacity = 100000000, .rate = rate };
        bly_plan_t plain, sorted;
        assert_status(bly_plan(&plain, "cuckoo", &spec), BLY_OK);
        assert_status(bly_plan(&sorted, "cuckoo:sorted=yes", &spec), BLY_OK);
        assert_true(plain.rate <= rate && plain.rate > 0.45 * rate);
        assert_true(plain.rate == sorted.rate);
        assert_true(plain.bits_per_key <= 1.06 * (3 - log2(plain.rate)));
        assert_close(plain.bits_per_key - sorted.bits_per_key, 1 / 0.95, 0.01);
    }
    bly_spec spec = { .capacity = 1000, .rate = 1e-9 };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, "cuckoo", &spec), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "2e-9"));
}

/* ---- Growth ------------------------------------------------------------ */

/* A grown filter answers as before for its old keys, and takes more copies. */
static void test_growth(void **state)
{
    (void)state;
    static const char *const kinds[] = { "cuckoo:f=13", "cuckoo:f=27",
                                         "cuckoo:f=13,sorted=yes" };
    for (size_t k = 0; k < 3; k++) {
        bly_filter *filter = make(kinds[k], 1000), *before = NULL;
        for (uint64_t i = 0; i < 1000; i++)
            bly_add_hash(filter, test_random(1, i));
        assert_status(bly_copy(&before, filter, NULL), BLY_OK);
        assert_status(bly_resize(filter, 2500), BLY_OK);
        assert_int_equal(stat_of(filter).capacity, 3000);
        assert_int_equal(geometry_of(filter, 3), 3);
        for (uint64_t i = 0; i < 20000; i++)
            assert_int_equal(bly_count_hash(filter, test_random(1, i)),
                             bly_count_hash(before, test_random(1, i)));
        assert_true(stat_of(filter).rate == stat_of(before).rate);
        for (uint64_t i = 0; i < 24; i++)
            assert_true(bly_add_hash(filter, test_random(2, 1)) >= 0);
        assert_status(bly_add_hash(filter, test_random(2, 1)), BLY_EFULL);
        for (uint64_t i = 1000; i < 2900; i++)
            assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
        assert_status(bly_resize(filter, 3000), BLY_EPARAM);
        assert_non_null(strstr(bly_why(), "build a smaller one"));
        assert_status(bly_resize(filter, 64000), BLY_OK);
        assert_status(bly_resize(filter, 64001), BLY_EPARAM);
        assert_non_null(strstr(bly_why(), "64"));
        for (uint64_t i = 0; i < 2900; i++)
            assert_status(bly_remove_hash(filter, test_random(1, i)), BLY_OK);
        bly_free(before);
        bly_free(filter);
    }
}

/* ---- Every width, and hostile payloads --------------------------------- */

enum { MANY = 777 };

/* Batches equal single verbs, at every width and vector level. */
static void run_width(const char *kind, uint64_t planned, uint64_t capacity)
{
    uint64_t hashes[2 * MANY], counts[MANY];
    bool present[2 * MANY];
    bly_status each[MANY];
    for (uint64_t i = 0; i < 2 * MANY; i++)
        hashes[i] = test_random(11, i % 700 < 20 ? i % 4 : i);
    bly_filter *one = make(kind, planned), *all = make(kind, planned);
    if (capacity > planned) {
        assert_status(bly_resize(one, capacity), BLY_OK);
        assert_status(bly_resize(all, capacity), BLY_OK);
    }
    for (size_t i = 0; i < MANY; i++)
        if (bly_add_hash(one, hashes[i]) < 0)
            break;
    bly_add_hashes(all, hashes, MANY, NULL, NULL);
    assert_true(same_bytes(one, all));
    bly_contains_hashes(all, hashes, 2 * MANY, present);
    bly_count_hashes(all, hashes, MANY, counts);
    for (size_t i = 0; i < 2 * MANY; i++) {
        uint64_t count = bly_count_hash(one, hashes[i]);
        assert_int_equal(present[i], bly_contains_hash(one, hashes[i]));
        assert_int_equal(present[i], count > 0);
        assert_true(i >= MANY || counts[i] == count);
    }
    bly_remove_hashes(all, hashes, MANY, each);
    for (size_t i = 0; i < MANY; i++)
        assert_status(bly_remove_hash(one, hashes[i]), each[i]);
    assert_true(same_bytes(one, all));
    bly_free(one);
    bly_free(all);
}

static void test_every_width(void **state)
{
    (void)state;
    for (cpu_level level = CPU_PORTABLE; level < CPU_LEVELS; level++)
        for (unsigned f = 6; f <= 32 && cpu_limit(level) == level; f++)
            for (int sorted = 0; sorted < 2; sorted++) {
                char kind[48];
                snprintf(kind, sizeof kind, "cuckoo:f=%u,sorted=%s", f,
                         sorted ? "yes" : "no");
                run_width(kind, MANY, MANY);
                run_width(kind, MANY, 3 * MANY);
            }
    cpu_limit(CPU_AVX512);
}

/* Tables outside the core's own cache, where batches prefetch. */
static void test_large(void **state)
{
    (void)state;
    enum { LARGE = 4000000 };
    static const char *const kinds[] = {
        "cuckoo:f=8", "cuckoo:f=12", "cuckoo:f=13", "cuckoo:f=12,sorted=yes",
        "cuckoo:f=20",
    };
    for (cpu_level level = CPU_PORTABLE; level < CPU_LEVELS; level++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (cpu_limit(level) == level)
                run_width(kinds[k], LARGE, LARGE);
    cpu_limit(CPU_AVX512);
}

/* Buckets of several quads, filled by one key or many: found exactly if
 * counted. */
static void test_every_width_grown(void **state)
{
    (void)state;
    enum { KEYS = 300, ALL = 3000 };
    uint64_t hashes[ALL];
    bool present[ALL];
    for (uint64_t i = 0; i < ALL; i++)
        hashes[i] = test_random(14, i);
    for (unsigned f = 6; f <= 32; f++)
        for (int sorted = 0; sorted < 2; sorted++) {
            char kind[48];
            snprintf(kind, sizeof kind, "cuckoo:f=%u,sorted=%s", f,
                     sorted ? "yes" : "no");
            bly_filter *filter = make(kind, KEYS);
            bly_add_hashes(filter, hashes, KEYS, NULL, NULL);
            assert_status(bly_resize(filter, 7 * KEYS), BLY_OK);
            assert_true(geometry_of(filter, 3) > 2);
            bly_contains_hashes(filter, hashes, ALL, present);
            for (size_t i = 0; i < ALL; i++) {
                uint64_t count = bly_count_hash(filter, hashes[i]);
                assert_true(i >= KEYS || count > 0);
                assert_int_equal(present[i], count > 0);
                assert_int_equal(bly_contains_hash(filter, hashes[i]),
                                 present[i]);
            }
            bly_free(filter);
        }
}

/* Verbs on random payloads end and stay inside. */
static void test_hostile_payloads(void **state)
{
    (void)state;
    uint64_t hashes[300];
    bool present[300];
    bly_status each[300];
    for (uint64_t i = 0; i < 300; i++)
        hashes[i] = test_random(12, i);
    for (unsigned f = 6; f <= 32; f += (unsigned)test_work(1, 1, 3))
        for (int sorted = 0; sorted < 2; sorted++) {
            char kind[48];
            snprintf(kind, sizeof kind, "cuckoo:f=%u,sorted=%s", f,
                     sorted ? "yes" : "no");
            forged_image lie = forged_of(make(kind, 200), f);
            for (size_t i = 0; i < 300; i++)
                bly_add_hash(lie.copy, hashes[i]);
            bly_add_hashes(lie.copy, hashes, 300, NULL, NULL);
            bly_contains_hashes(lie.copy, hashes, 300, present);
            bly_remove_hashes(lie.copy, hashes, 300, each);
            assert_true(stat_of(lie.copy).rate <= 1);
            assert_status(bly_resize(lie.copy, 700), BLY_OK);
            forged_free(&lie);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_buckets),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_moved_stay_in_reach),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_every_code),
        cmocka_unit_test(test_sorted_answers_the_same),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_multiset),
        cmocka_unit_test(test_first_failure),
        cmocka_unit_test(test_small_ones_fit),
        cmocka_unit_test(test_rate_at_load),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_every_width),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_every_width_grown),
        cmocka_unit_test(test_hostile_payloads),
    };
    return cmocka_run_group_tests_name("cuckoo", tests, NULL, NULL);
}
