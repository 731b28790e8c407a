/* dleft.c - tests specific to kind `dleft`: the place of a key, bit by bit; one
 * cell per fingerprint; loads, fullness, saturation and doubling; levels of
 * vector instructions; hostile payloads.
 */
#include "forged.h"

#include "base/cpu.h"
#include "bits/bits.h"
#include "bits/hash.h"
#include "image/image.h"

enum { TABLES = 4, CELLS = 8 };

static bly_filter *dleft_new(const char *kind, uint64_t capacity, double rate)
{
    bly_spec spec = { .capacity = capacity, .rate = rate };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

/* ---- The format, read bit by bit --------------------------------------- */

typedef struct {
    const uint8_t *payload;
    uint64_t base, buckets, width, rest, bits;
} table;

static table table_of(const bly_filter *filter)
{
    const uint8_t *image = bly_image(filter, NULL);
    table t = {
        .payload = image_payload(image), .base = image_geometry(image, 0),
        .width = image_geometry(image, 1), .rest = image_geometry(image, 2),
        .bits = image_geometry(image, 3),
    };
    t.buckets = t.base << (t.width - t.rest);
    return t;
}

/* Reads bits `first` … `first + n - 1` of a cell. */
static uint64_t cell_bits(const table *t, uint64_t bucket, unsigned cell,
                          uint64_t first, uint64_t n)
{
    const uint8_t *bytes = t->payload + bucket * (t->bits + t->rest);
    uint64_t value = 0;
    for (uint64_t i = 0; i < n; i++)
        value |= (uint64_t)(bytes[first + i] >> cell & 1) << i;
    return value;
}

static uint64_t cell_count(const table *t, uint64_t bucket, unsigned cell)
{
    return cell_bits(t, bucket, cell, 0, t->bits);
}

static uint64_t cell_rest(const table *t, uint64_t bucket, unsigned cell)
{
    return cell_bits(t, bucket, cell, t->bits, t->rest);
}

static uint64_t load(const table *t, uint64_t bucket)
{
    uint64_t used = 0;
    for (unsigned cell = 0; cell < CELLS; cell++)
        used += cell_count(t, bucket, cell) > 0;
    return used;
}

/* Computes the essay's (2) for a hash: the remainder and the four buckets,
 * numbered through all subtables. */
static uint64_t where(const table *t, uint64_t hash, uint64_t at[TABLES])
{
    uint64_t s = hash_spread(hash), b = bits_range(s, t->base);
    uint64_t low = s * t->base >> (64 - t->width), mixed = hash_mix(low);
    uint64_t power = 1;
    for (unsigned i = 0; i < TABLES; i++) {
        uint64_t shift = i == 0 ? 0 : bits_range(mixed, t->base);
        uint64_t product = power * low & ((UINT64_C(1) << t->width) - 1);
        at[i] = (b + shift) % t->base << (t->width - t->rest);
        at[i] += (product >> t->rest) + i * t->buckets;
        mixed *= HASH_STEP;
        power *= HASH_STEP;
    }
    return low & ((UINT64_C(1) << t->rest) - 1);
}

/* Counts the cells that hold a key; *count is the last one's counter. */
static unsigned cells_of(const table *t, uint64_t hash, uint64_t *count)
{
    uint64_t at[TABLES], rest = where(t, hash, at);
    unsigned found = 0;
    for (unsigned i = 0; i < TABLES; i++)
        for (unsigned cell = 0; cell < CELLS; cell++)
            if (cell_count(t, at[i], cell) > 0
                && cell_rest(t, at[i], cell) == rest) {
                *count = cell_count(t, at[i], cell);
                found++;
            }
    return found;
}

/* Sums all counters; free cells must be 0 throughout. */
static uint64_t sum_counts(const table *t)
{
    uint64_t sum = 0;
    for (uint64_t bucket = 0; bucket < TABLES * t->buckets; bucket++)
        for (unsigned cell = 0; cell < CELLS; cell++) {
            uint64_t count = cell_count(t, bucket, cell);
            sum += count;
            if (count == 0)
                assert_int_equal(cell_rest(t, bucket, cell), 0);
        }
    return sum;
}

/* The first keys of a filter with one bucket per subtable, byte by byte. */
static void test_layout(void **state)
{
    (void)state;
    bly_filter *filter = dleft_new("dleft", 20, 0.01);
    table t = table_of(filter);
    assert_true(t.base == 1 && t.width == t.rest && t.bits == 2);
    uint64_t rest[5];
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t hash = test_random(1, i);
        rest[i] = hash_spread(hash) >> (64 - t.rest);
        assert_status(bly_add_hash(filter, hash), BLY_OK);
    }
    assert_status(bly_add_hash(filter, test_random(1, 4)), BLY_SEEN);

    t = table_of(filter);
    for (unsigned i = 0; i < 5; i++) {  /* left to right, then cell 1 */
        assert_int_equal(cell_rest(&t, i % 4, i / 4), rest[i]);
        assert_int_equal(cell_count(&t, i % 4, i / 4), i == 4 ? 2 : 1);
    }
    assert_int_equal(t.payload[0], 1);  /* cell 0 counts 1, cell 1 counts 2 */
    assert_int_equal(t.payload[1], 2);
    assert_int_equal(t.payload[2], (rest[0] & 1) | (rest[4] & 1) << 1);
    assert_int_equal(sum_counts(&t), 6);
    bly_free(filter);
}

/* ---- Invariants -------------------------------------------------------- */

/* Every key is in one cell allowed by (2); counters sum to adds less
 * removes. */
static void check_keys(const bly_filter *filter, uint64_t from, uint64_t to)
{
    table t = table_of(filter);
    uint64_t count = 0;
    for (uint64_t i = from; i < to; i++) {
        assert_int_equal(cells_of(&t, test_random(1, i), &count), 1);
        assert_int_equal(bly_count_hash(filter, test_random(1, i)), count);
    }
    assert_int_equal(sum_counts(&t), to - from);
}

static void test_one_cell_a_fingerprint(void **state)
{
    (void)state;
    enum { N = 20000 };
    bly_filter *filter = dleft_new("dleft:bits=8", N, 0.05);
    for (uint64_t i = 0; i < N; i++)
        assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
    check_keys(filter, 0, N);
    for (uint64_t i = 0; i < N / 2; i++)
        assert_status(bly_remove_hash(filter, test_random(1, i)), BLY_OK);
    check_keys(filter, N / 2, N);
    bly_free(filter);
}

/* The catalogue's simulation: 8192 buckets of 14 bits, 196608 keys. */
static void test_loads(void **state)
{
    (void)state;
    enum { BUCKETS = 8192, KEYS = 24 * BUCKETS, ASKED = 2000000 };
    bly_filter *filter = dleft_new("dleft", 25 * BUCKETS, 25.0 / (1 << 14));
    for (uint64_t i = 0; i < KEYS; i++)
        assert_true(bly_add_hash(filter, test_random(3, i)) >= 0);

    table t = table_of(filter);
    assert_true(t.base == BUCKETS && t.rest == 14);
    double share[CELLS + 1] = { 0 };
    for (uint64_t bucket = 0; bucket < TABLES * BUCKETS; bucket++)
        share[load(&t, bucket)] += 1.0 / (TABLES * BUCKETS);
    assert_true(share[0] + share[1] + share[2] + share[3] == 0);
    assert_close(share[4], 0.0032, 0.5);
    assert_close(share[5], 0.1228, 0.03);
    assert_close(share[6], 0.7491, 0.01);
    assert_close(share[7], 0.1249, 0.03);
    assert_true(share[8] <= 1.0 / 32768);

    uint64_t hits = 0;
    for (uint64_t i = 0; i < ASKED; i++)
        hits += bly_contains_hash(filter, test_random(4, i));
    double range = (double)BUCKETS * (1 << 14);
    assert_within(hits, ASKED, -expm1(KEYS * log1p(-1 / range)), 5e-6);
    bly_free(filter);
}

/* The planned number of keys always fits; small tables are the risky ones. */
static void test_capacity_fits(void **state)
{
    (void)state;
    static uint64_t hashes[1600];
    for (uint64_t n = 1; n <= 1600; n += n < 200 ? 1 : 70)
        for (uint64_t stream = 0; stream < 20; stream++) {
            bly_filter *filter = dleft_new("dleft", n, 1e-6);
            for (uint64_t i = 0; i < n; i++)
                hashes[i] = test_random(100 + stream, i + 10000 * n);
            assert_status(bly_add_hashes(filter, hashes, n, NULL, NULL),
                          BLY_OK);
            bly_free(filter);
        }
}

/* A full table, with half of the keys replaced ten times over. */
static void test_turnover_fits(void **state)
{
    (void)state;
    enum { N = 5000 };
    bly_filter *filter = dleft_new("dleft", N, 1e-6);
    for (uint64_t i = 0; i < N; i++)
        assert_status(bly_add_hash(filter, test_random(1, i)), BLY_OK);
    for (uint64_t i = 0; i < 10 * N; i++) {
        assert_status(bly_remove_hash(filter, test_random(1, i)), BLY_OK);
        assert_status(bly_add_hash(filter, test_random(1, i + N)), BLY_OK);
    }
    check_keys(filter, 10 * N, 11 * N);
    bly_free(filter);
}

/* Bits per key and rates match the essay's table. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { double asked, rate, bits; uint64_t rest; } rows[] = {
        { 0.1, 0.0931, 12.80, 8 }, { 0.01, 0.00608, 17.92, 12 },
        { 0.001, 0.000763, 21.76, 15 }, { 0.0001, 0.0000954, 25.60, 18 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bly_spec spec = { .capacity = 100000000, .rate = rows[i].asked };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, "dleft", &spec), BLY_OK);
        assert_close(plan.rate, rows[i].rate, 0.005);
        assert_close(plan.bits_per_key, rows[i].bits, 0.001);
        assert_int_equal(plan.geometry[2], rows[i].rest);
    }
}

/* ---- Full and saturated ------------------------------------------------ */

static void test_full_changes_nothing(void **state)
{
    (void)state;
    bly_filter *filter = dleft_new("dleft", 25, 1e-6), *before = NULL;
    uint64_t hashes[40];
    for (uint64_t i = 0; i < 40; i++)
        hashes[i] = test_random(1, i);
    assert_status(bly_add_hashes(filter, hashes, 32, NULL, NULL), BLY_OK);
    assert_status(bly_copy(&before, filter, NULL), BLY_OK);
    assert_status(bly_add_hash(filter, hashes[32]), BLY_EFULL);
    assert_non_null(strstr(bly_why(), "resize"));
    assert_status(bly_add_hashes(filter, hashes + 32, 8, NULL, NULL),
                  BLY_EFULL);
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    assert_memory_equal(image, bly_image(before, NULL), bytes);

    assert_status(bly_add_hash(filter, hashes[5]), BLY_SEEN);
    assert_status(bly_remove_hash(filter, hashes[6]), BLY_OK);
    assert_status(bly_add_hash(filter, hashes[32]), BLY_OK);
    assert_status(bly_resize(filter, 50), BLY_OK);
    assert_status(bly_add_hashes(filter, hashes + 33, 7, NULL, NULL), BLY_OK);
    assert_int_equal(bly_count_hash(filter, hashes[5]), 2);
    bly_free(filter);
    bly_free(before);
}

/* Counters of every width are exact below their maximum, then saturate. */
static void test_sticking(void **state)
{
    (void)state;
    for (unsigned bits = 2; bits <= 8; bits++) {
        char kind[32];
        snprintf(kind, sizeof kind, "dleft:bits=%u", bits);
        bly_filter *filter = dleft_new(kind, 100, 0.001);
        uint64_t most = (UINT64_C(1) << bits) - 1, key = test_random(1, bits);
        bly_info_t stat;
        for (uint64_t i = 1; i < most; i++) {
            assert_true(bly_add_hash(filter, key) >= 0);
            assert_int_equal(bly_count_hash(filter, key), i);
        }
        for (uint64_t i = most - 1; i > 0; i--) {
            assert_int_equal(bly_count_hash(filter, key), i);
            assert_status(bly_remove_hash(filter, key), BLY_OK);
        }
        assert_status(bly_remove_hash(filter, key), BLY_EABSENT);
        for (uint64_t i = 0; i < most + 2; i++)
            assert_true(bly_add_hash(filter, key) >= 0);
        for (uint64_t i = 0; i < most + 2; i++)
            assert_status(bly_remove_hash(filter, key), BLY_EUNSAFE);
        assert_true(bly_count_hash(filter, key) == UINT64_MAX);
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_int_equal(stat.saturated, 1);
        bly_free(filter);
    }
}

/* ---- Another size ------------------------------------------------------ */

/* Doubled once or several times: the same keys and counts, and strangers stay
 * strangers. */
static void test_doubling(void **state)
{
    (void)state;
    enum { N = 3000, ASKED = 100000 };
    bly_filter *once = dleft_new("dleft:bits=4", N, 0.001), *twice = NULL;
    for (uint64_t i = 0; i < N; i++)
        assert_true(bly_add_hash(once, test_random(1, i)) >= 0);
    assert_status(bly_copy(&twice, once, NULL), BLY_OK);
    bool before[ASKED];
    for (uint64_t i = 0; i < ASKED; i++)
        before[i] = bly_contains_hash(once, test_random(2, i));

    assert_status(bly_resize(once, 8 * N), BLY_OK);
    assert_status(bly_resize(twice, 2 * N), BLY_OK);
    check_keys(twice, 0, N);
    assert_status(bly_resize(twice, 8 * N), BLY_OK);
    check_keys(once, 0, N);
    check_keys(twice, 0, N);
    for (uint64_t i = 0; i < ASKED; i++) {
        assert_int_equal(bly_contains_hash(once, test_random(2, i)),
                         before[i]);
        assert_int_equal(bly_contains_hash(twice, test_random(2, i)),
                         before[i]);
    }
    for (uint64_t i = N; i < 8 * N; i++)
        assert_true(bly_add_hash(twice, test_random(1, i)) >= 0);
    check_keys(twice, 0, 8 * N);
    bly_free(once);
    bly_free(twice);
}

static void test_sizes_that_are_refused(void **state)
{
    (void)state;
    bly_filter *filter = dleft_new("dleft", 2500, 0.1);
    table t = table_of(filter);
    assert_int_equal(t.rest, 8);
    assert_status(bly_resize(filter, 2500), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "build a smaller one"));
    assert_non_null(strstr(bly_why(), "only grow"));
    assert_status(bly_resize(filter, 40001), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "at most 40000 keys"));
    assert_status(bly_resize(filter, UINT64_MAX), BLY_EPARAM);
    assert_status(bly_resize(filter, 40000), BLY_OK);
    assert_int_equal(table_of(filter).rest, 4);
    bly_free(filter);
}

/* ---- Any payload ------------------------------------------------------- */

static void try_verbs(bly_filter *filter, uint64_t stream)
{
    enum { N = 300 };
    uint64_t hashes[N], counts[N];
    bool present[N];
    bly_status each[N];
    bly_info_t stat;
    for (uint64_t i = 0; i < N; i++)
        hashes[i] = test_random(stream, i);
    for (uint64_t i = 0; i < N; i++) {
        bly_status status = bly_add_hash(filter, hashes[i]);
        if (status >= 0)
            assert_true(bly_contains_hash(filter, hashes[i]));
        else
            assert_said(status, BLY_EFULL);
    }
    bly_contains_hashes(filter, hashes, N, present);
    bly_count_hashes(filter, hashes, N, counts);
    for (uint64_t i = 0; i < N; i++)
        assert_int_equal(present[i], counts[i] > 0);
    bly_remove_hashes(filter, hashes, N, each);
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.fill <= 1 && stat.rate <= 1);
}

/* Answers and bytes after a batch of each verb, and single lookups. */
enum { ANSWERS = 900 };
typedef struct {
    bool present[ANSWERS], single[ANSWERS];
    uint64_t counts[ANSWERS];
    bly_status each[ANSWERS];
} answers;

static bly_filter *answers_of(answers *out, const char *kind, double rate,
                              const uint64_t *hashes)
{
    bly_filter *filter = dleft_new(kind, ANSWERS, rate);
    memset(out, 0, sizeof *out);
    for (size_t twice = 0; twice < 2; twice++)
        assert_true(bly_add_hashes(filter, hashes, ANSWERS / 2, NULL, NULL)
                    >= 0);
    bly_contains_hashes(filter, hashes, ANSWERS, out->present);
    bly_count_hashes(filter, hashes, ANSWERS, out->counts);
    for (size_t i = 0; i < ANSWERS; i++)
        out->single[i] = bly_contains_hash(filter, hashes[i]);
    bly_remove_hashes(filter, hashes + ANSWERS / 4, ANSWERS / 2, out->each);
    return filter;
}

/* Buckets of all sizes, with each level of vector instructions. */
static void test_processors(void **state)
{
    (void)state;
    static const char *const kinds[] = { "dleft", "dleft:bits=8" };
    uint64_t hashes[ANSWERS];
    answers expected, got;
    for (uint64_t i = 0; i < ANSWERS; i++)
        hashes[i] = test_random(5, i);
    for (double rate = 0.9; rate > 1e-15; rate /= 2)
        for (size_t k = 0; k < 2; k++) {
            cpu_limit(CPU_PORTABLE);
            bly_filter *plain = answers_of(&expected, kinds[k], rate, hashes);
            for (cpu_level level = CPU_BASELINE; level < CPU_LEVELS; level++) {
                if (cpu_limit(level) != level)
                    continue;
                bly_filter *filter = answers_of(&got, kinds[k], rate, hashes);
                assert_memory_equal(&got, &expected, sizeof got);
                size_t bytes;
                const void *image = bly_image(plain, &bytes);
                assert_memory_equal(bly_image(filter, NULL), image, bytes);
                bly_free(filter);
            }
            bly_free(plain);
        }
    cpu_limit(CPU_LEVELS);
}

/* Random bytes, or all ones, then doubled. */
static void test_any_payload(void **state)
{
    (void)state;
    static const char *const kinds[] = { "dleft", "dleft:bits=8" };
    static const double rates[] = { 0.9, 0.01, 1e-15 };
    for (uint64_t trial = 0; trial < 60; trial++) {
        bly_filter *plain = dleft_new(kinds[trial % 2], 1 + trial,
                                      rates[trial % 3]);
        forged_image f = forged_of(plain, trial % 5 == 0 ? FORGED_ONES
                                                         : 9 + trial);
        try_verbs(f.copy, 1000 + trial);
        bly_status grown = bly_resize(f.copy, 200 + 5 * trial);
        assert_true(grown == BLY_OK || grown == BLY_EPARAM);
        try_verbs(f.copy, 2000 + trial);
        forged_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_one_cell_a_fingerprint),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_capacity_fits),
        cmocka_unit_test(test_turnover_fits),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_full_changes_nothing),
        cmocka_unit_test(test_sticking),
        cmocka_unit_test(test_doubling),
        cmocka_unit_test(test_sizes_that_are_refused),
        cmocka_unit_test(test_processors),
        cmocka_unit_test(test_any_payload),
    };
    return cmocka_run_group_tests_name("dleft", tests, NULL, NULL);
}
