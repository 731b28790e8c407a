/* stable.c - tests specific to kind `stable`: its cells bit by bit, its stable
 * point, what it forgets and when, and that equal keys give equal bytes.
 */
#include "test.h"

#include "bits/bits.h"
#include "bits/counters.h"
#include "bits/hash.h"
#include "image/image.h"
#include "bits/index.h"

enum { HEAD = 64 };                     /* bytes of the payload before cells */

static bly_filter *stable_new(const char *kind, uint64_t capacity, double rate,
                              uint64_t seed)
{
    bly_spec spec = { .capacity = capacity, .rate = rate, .seed = seed };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static bly_plan_t stable_plan(const char *kind, uint64_t capacity, double rate)
{
    bly_spec spec = { .capacity = capacity, .rate = rate };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
    return plan;
}

static bool stable_same(const bly_filter *a, const bly_filter *b)
{
    size_t bytes;
    const uint8_t *image = bly_image(a, &bytes);
    return memcmp(image + IMAGE_HEADER, image_payload(bly_image(b, NULL)),
                  bytes - IMAGE_HEADER) == 0;
}

/* Adds keys from .. to - 1 of a stream. */
static void stable_pour(bly_filter *filter, uint64_t stream, uint64_t from,
                        uint64_t to)
{
    uint64_t hashes[512];
    while (from < to) {
        size_t n = to - from < 512 ? (size_t)(to - from) : 512;
        for (size_t i = 0; i < n; i++)
            hashes[i] = test_random(stream, from + i);
        assert_status(bly_add_hashes(filter, hashes, n, NULL, NULL), BLY_OK);
        from += n;
    }
}

/* Mean and standard error of independent numbers. */
typedef struct { double n, sum, squares; } tally;

static void tally_add(tally *t, double x)
{
    t->n++;
    t->sum += x;
    t->squares += x * x;
}

static double tally_mean(const tally *t)
{
    return t->sum / t->n;
}

static double tally_variance(const tally *t)
{
    return (t->squares - t->sum * t->sum / t->n) / (t->n - 1);
}

static double tally_error(const tally *t)
{
    return sqrt(tally_variance(t) / t->n);
}

/* ---- Cells ------------------------------------------------------------- */

/* The definition, with one byte per cell. */
enum { PLAIN_MOST = 1100 };

typedef struct {
    uint64_t m, p, seed, t;
    uint32_t k, max;
    uint8_t  cell[PLAIN_MOST];
} plain;

static bool plain_observe(plain *f, uint64_t hash)
{
    uint64_t at[64], start = hash_mix(hash_mix(f->seed)
                                      + ++f->t * INDEX_GOLDEN);
    bool seen = true;
    index_walk walk;
    index_start(&walk, INDEX_POWER, hash, f->m);
    for (uint32_t i = 0; i < f->k; i++) {
        at[i] = index_next(&walk, INDEX_POWER);
        seen &= f->cell[at[i]] > 0;
    }
    start = bits_range(start, f->m);
    for (uint64_t i = 0; i < f->p; i++) {
        uint8_t *cell = &f->cell[(start + i) % f->m];
        *cell = (uint8_t)(*cell - (*cell > 0));
    }
    for (uint32_t i = 0; i < f->k; i++)
        f->cell[at[i]] = (uint8_t)f->max;
    return seen;
}

static uint32_t plain_width(const plain *f)
{
    return f->max == 1 ? 1 : f->max <= 3 ? 2 : f->max <= 15 ? 4 : 8;
}

/* Compares with the filter's payload, to the last bit. */
static void plain_compare(const plain *f, const bly_filter *filter)
{
    size_t bytes;
    const uint8_t *payload = image_payload(bly_image(filter, &bytes));
    uint64_t bits = f->m * plain_width(f);
    assert_int_equal(bytes, IMAGE_HEADER + HEAD + (bits + 63) / 64 * 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(payload[i], f->t >> 8 * i & 0xFF);
    assert_true(bits_clear_from(payload, HEAD, 64));
    for (uint64_t i = 0; i < f->m; i++)
        assert_int_equal(counters_get(payload + HEAD, i, plain_width(f)),
                         f->cell[i]);
    assert_true(bits_clear_from(payload + HEAD, bytes - IMAGE_HEADER - HEAD,
                                bits));
}

static void check_cells(uint64_t m, uint32_t k, uint32_t max, uint64_t p)
{
    char kind[96];
    snprintf(kind, sizeof kind, "stable:m=%u,k=%u,max=%u,p=%u", (unsigned)m, k,
             max, (unsigned)p);
    plain f = { .m = m, .p = p, .seed = m + max, .k = k, .max = max };
    bly_filter *filter = stable_new(kind, 100, 0.01, f.seed);
    for (uint64_t i = 0; i < 40; i++) {
        uint64_t hash = test_random(p, i % 5 == 4 ? i / 2 : i);
        assert_int_equal(bly_add_hash(filter, hash) == BLY_SEEN,
                         plain_observe(&f, hash));
        assert_true(bly_contains_hash(filter, hash));
    }
    plain_compare(&f, filter);
    for (uint64_t i = 0; i < m; i++)
        assert_true(f.cell[i] <= max);
    bly_free(filter);
}

/* Every width; runs within a word, over many, and around the end. */
static void test_cells(void **state)
{
    (void)state;
    static const uint32_t maxima[] = { 1, 2, 3, 4, 7, 15, 16, 100, 255 };
    for (size_t i = 0; i < sizeof maxima / sizeof *maxima; i++)
        for (uint64_t m = 1; m <= PLAIN_MOST; m += 1 + m / 4)
            for (uint64_t p = 1; p <= m; p = p * 2 + m % 3)
                check_cells(m, 1 + (uint32_t)(m + p) % 9, maxima[i], p);
    check_cells(1000, 64, 15, 1000);
}

/* The first adds begin to lower cells at the places in docs/format/kinds. */
static void test_starts(void **state)
{
    (void)state;
    static const struct { uint64_t seed, start[5]; } rows[] = {
        { 0, { 88, 43, 2, 97, 10 } }, { 7, { 52, 30, 94, 88, 66 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint64_t t = 0; t < 5; t++)
            assert_int_equal(rows[i].start[t], bits_range(
                hash_mix(hash_mix(rows[i].seed) + (t + 1) * INDEX_GOLDEN),
                100));
}

/* Equal keys and seed give equal bytes, in batches of any size, with and
 * without a result per key. Another seed lowers other cells. The last case
 * lowers so many that only one key's lines are prefetched at a time. */
static void test_seed_decides(void **state)
{
    (void)state;
    enum { N = 4000 };
    static uint64_t hashes[N];
    static bool seen[N];
    for (size_t i = 0; i < N; i++)
        hashes[i] = test_random(3, i % 3 ? i : i / 2);
    for (uint64_t seed = 0; seed < 4; seed++) {
        const char *kind = seed < 3 ? "stable"
                         : "stable:m=20000,k=2,max=255,p=9000";
        bly_filter *one = stable_new(kind, 500, 0.01, seed);
        bly_filter *all = stable_new(kind, 500, 0.01, seed);
        bly_filter *other = stable_new(kind, 500, 0.01, seed + 1);
        for (size_t i = 0, n = 0; i < N; i += n) {
            n = test_random(4, i) % 300 % (N - i) + 1;
            if (i % 2)
                assert_status(bly_add_hashes(all, hashes + i, n, NULL, NULL),
                              BLY_OK);
            else
                assert_status(bly_add_hashes(all, hashes + i, n, seen, NULL),
                              BLY_OK);
            assert_status(bly_add_hashes(other, hashes + i, n, NULL, NULL),
                          BLY_OK);
            for (size_t j = i; j < i + n; j++)
                bly_add_hash(one, hashes[j]);
        }
        assert_true(stable_same(one, all));
        assert_false(stable_same(one, other));
        bly_free(one);
        bly_free(all);
        bly_free(other);
    }
}

/* A new key is found, and stays for max - 1 adds of any keys. */
static void test_new_keys_are_found(void **state)
{
    (void)state;
    enum { MAX = 15 };
    bly_filter *filter = stable_new("stable:m=3000,k=4,max=15,p=2999", 100,
                                    0.01, 0);
    for (uint64_t i = 0; i < 5000; i++) {
        bly_add_hash(filter, test_random(1, i));
        for (uint64_t j = 0; j < MAX && j <= i; j++)
            assert_true(bly_contains_hash(filter, test_random(1, i - j)));
    }
    bly_free(filter);
}

/* ---- The stable point -------------------------------------------------- */

/* The catalogue's P: the smallest that keeps the rate, and the rate of one
 * less. */
static void test_p_for_a_rate(void **state)
{
    (void)state;
    static const struct {
        unsigned m, k, max, p;
        double   rate, kept, less;
    } rows[] = {
        { 1000000, 3, 1, 4,  0.1,  0.078718, 0.125001 },
        { 1000000, 3, 3, 13, 0.1,  0.099655, 0.116215 },
        { 1000000, 3, 7, 86, 0.01, 0.009717, 0.010018 },
        { 10000,   2, 3, 39, 0.02, 0.019417, 0.020349 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char kind[96];
        snprintf(kind, sizeof kind, "stable:m=%u,k=%u,max=%u", rows[i].m,
                 rows[i].k, rows[i].max);
        bly_plan_t plan = stable_plan(kind, 1000, rows[i].rate);
        assert_int_equal(plan.geometry[3], rows[i].p);
        assert_close(plan.rate, rows[i].kept, 1e-3);
        snprintf(kind, sizeof kind, "stable:m=%u,k=%u,max=%u,p=%u", rows[i].m,
                 rows[i].k, rows[i].max, rows[i].p - 1);
        plan = stable_plan(kind, 1000, rows[i].rate);
        assert_close(plan.rate, rows[i].less, 1e-3);
    }
}

/* Filters at their stable point: their zeros, how these vary, and the
 * false-positive rate. */
static void check_stable_point(const char *kind, double zeros, double rate)
{
    enum { FILTERS = 120, ASKED = 4000 };
    bly_plan_t plan = stable_plan(kind, 1000, 0.01);
    double m = (double)plan.geometry[0], k = (double)plan.geometry[1];
    double sd = plan.rate_sd / (k * pow(plan.fill, k - 1));
    tally fill = { 0 }, hits = { 0 };
    for (uint64_t f = 0; f < FILTERS; f++) {
        bly_filter *filter = stable_new(kind, 1000, 0.01, f);
        bly_info_t stat;
        uint64_t found = 0;
        stable_pour(filter, f, 0, (uint64_t)(8 * m / k));
        bly_info(&stat, filter);
        for (uint64_t i = 0; i < ASKED; i++)
            found += bly_contains_hash(filter, test_random(f + 1000, i));
        tally_add(&fill, stat.fill);
        tally_add(&hits, (double)found / ASKED);
        bly_free(filter);
    }
    print_message("%s: zeros %.5f, by formula %.5f; their sd %.5f, %.5f; rate "
                  "%.5f, %.5f\n", kind, 1 - tally_mean(&fill), 1 - plan.fill,
                  sqrt(tally_variance(&fill)), sd, tally_mean(&hits),
                  plan.rate);
    assert_true(fabs(1 - plan.fill - zeros) < 1e-4);
    assert_close(plan.rate, rate, 2e-3);
    assert_true(fabs(tally_mean(&fill) - plan.fill)
                <= TEST_SIGMAS * sd / sqrt(FILTERS));
    assert_within(hits.sum * ASKED, FILTERS * ASKED, plan.rate,
                  plan.rate_sd / sqrt(FILTERS));
    assert_true(fabs(tally_variance(&fill) / (sd * sd) - 1)
                <= TEST_SIGMAS * sqrt(2.0 / (FILTERS - 1)));
}

/* The catalogue's four, and one with long runs for its k. */
static void test_stable_point(void **state)
{
    (void)state;
    TEST_STATISTICS();
    check_stable_point("stable:m=100000,k=3,max=1,p=10", 0.76923, 0.01229);
    check_stable_point("stable:m=100000,k=3,max=3,p=10", 0.45516, 0.16174);
    check_stable_point("stable:m=10000,k=2,max=3,p=35", 0.84642, 0.02359);
    check_stable_point("stable:m=10000,k=4,max=7,p=26", 0.36712, 0.16043);
    check_stable_point("stable:m=20000,k=11,max=1,p=111", 0.90979, 3.461e-12);
}

/* From empty, the share of zeros only falls, and the rate approaches its plan
 * from below; repeats do not raise it. */
static void test_rate_is_never_exceeded(void **state)
{
    (void)state;
    enum { N = 2000 };
    bly_plan_t plan = stable_plan("stable", N, 0.01);
    bly_filter *filter = stable_new("stable", N, 0.01, 0);
    bly_info_t stat;
    double last = 0;
    for (uint64_t i = 0; i < 60; i++) {
        stable_pour(filter, 1, i * N / 4, (i + 1) * N / 4);
        bly_info(&stat, filter);
        assert_true(stat.rate <= plan.rate + TEST_SIGMAS * plan.rate_sd);
        assert_true(i >= 4 || stat.rate > last);
        assert_true(i < 40 || fabs(stat.rate - plan.rate)
                              <= TEST_SIGMAS * plan.rate_sd);
        last = stat.rate;
    }
    for (uint64_t i = 0; i < 40; i++) {
        stable_pour(filter, 1, 0, N / 4);
        bly_info(&stat, filter);
        assert_true(stat.rate <= plan.rate + TEST_SIGMAS * plan.rate_sd);
    }
    assert_true(isinf(stat.distinct) && stat.window == 0);
    assert_true(stat.lost == plan.lost && stat.items == 25 * N);
    bly_free(filter);
}

/* ---- Losses ------------------------------------------------------------ */

/* Computes the catalogue's chain step by step: the states of a cell that was
 * just set, after `gap` adds; then all k cells. */
static double chain_lost(const bly_plan_t *plan, uint64_t gap)
{
    double m = (double)plan->geometry[0], k = (double)plan->geometry[1];
    double lower = (double)plan->geometry[3] / m, share[256] = { 0 };
    double set = -expm1(k * log1p(-1 / m));
    size_t max = (size_t)plan->geometry[2];
    share[max] = 1;
    for (uint64_t g = 0; g < gap; g++) {
        share[0] += lower * share[1];
        for (size_t i = 1; i <= max; i++)
            share[i] += lower * ((i < max ? share[i + 1] : 0) - share[i]);
        for (size_t i = 0; i <= max; i++)
            share[i] -= set * share[i];
        share[max] += set;
    }
    return 1 - pow(1 - share[0], k);
}

static void test_lost_is_the_chain(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "stable:m=10000,k=2,max=3,p=35", "stable:m=100,k=5,max=15,p=100",
        "stable:m=1000,k=3,max=1,p=10", "stable:m=3000,k=7,max=200,p=900",
        "stable", "stable:lost=50", "stable:max=7",
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (uint64_t gap = 1; gap < 4000; gap = gap * 3 + 1) {
            bly_plan_t plan = stable_plan(kinds[i], gap, 0.02);
            double chain = chain_lost(&plan, gap);
            assert_true(fabs(plan.lost - chain) <= 1e-9 * chain + 1e-12);
        }
    /* the catalogue's figures */
    const char *kind = "stable:m=10000,k=2,max=3,p=35";
    assert_true(fabs(stable_plan(kind, 199, 0.01).lost - 0.0639) < 1e-4);
    assert_true(fabs(stable_plan(kind, 499, 0.01).lost - 0.4199) < 1e-4);
    assert_true(fabs(stable_plan(kind, 999, 0.01).lost - 0.8437) < 1e-4);
}

/* Measures how many keys are lost `gap` adds later. Neighbours in a stream fade
 * together, so the error comes from blocks longer than any memory. */
static void check_lost(const char *kind, uint64_t gap, double rate)
{
    const size_t blocks = test_work(40, 40, 10);
    bly_plan_t plan = stable_plan(kind, gap, rate);
    bly_filter *filter = stable_new(kind, gap, rate, 0);
    uint64_t block = 10 * gap, at = block;
    tally lost = { 0 };
    stable_pour(filter, 1, 0, at);
    for (size_t b = 0; b < blocks; b++) {
        uint64_t gone = 0;
        for (uint64_t i = 0; i < block; i++, at++) {
            bly_add_hash(filter, test_random(1, at));
            gone += !bly_contains_hash(filter, test_random(1, at - gap));
        }
        tally_add(&lost, (double)gone / (double)block);
    }
    print_message("%s, gap %u: %.5f lost (+- %.5f), planned %.5f\n", kind,
                  (unsigned)gap, tally_mean(&lost), tally_error(&lost),
                  plan.lost);
    assert_true(fabs(tally_mean(&lost) - plan.lost)
                <= TEST_SIGMAS * tally_error(&lost));
    bly_free(filter);
}

static void test_lost_is_planned(void **state)
{
    (void)state;
    static const uint64_t gaps[] = { 199, 499, 999 };
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        check_lost("stable:m=10000,k=2,max=3,p=35", gaps[i], 0.01);
    check_lost("stable", 3000, 0.1);
    check_lost("stable", 3000, 0.01);
    check_lost("stable", 3000, 0.0001);
    check_lost("stable:lost=10", 3000, 0.01);
    check_lost("stable:lost=50", 3000, 0.01);
    check_lost("stable:max=1,lost=50", 3000, 0.01);
}

/* ---- Sizes ------------------------------------------------------------- */

/* The essay's table: bits per key, and the requested loss. */
static void test_sizes(void **state)
{
    (void)state;
    static const double rates[] = { 0.1, 0.01, 0.001, 0.0001 };
    static const struct { const char *kind; double lost, bits[4]; } rows[] = {
        { "stable:lost=50", 0.5,  { 13.3, 41.0, 73.7, 112.4 } },
        { "stable:lost=10", 0.1,  { 30.8, 68.1, 107.3, 148.6 } },
        { "stable",         0.01, { 41.9, 90.6, 141.3, 194.4 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t r = 0; r < 4; r++) {
            bly_plan_t plan = stable_plan(rows[i].kind, 10000000, rates[r]);
            assert_true(fabs(plan.bits_per_key - rows[i].bits[r]) < 0.051);
            assert_true(plan.lost <= rows[i].lost);
            assert_close(plan.lost, rows[i].lost, 1e-4);
            assert_true(plan.rate <= rates[r]);
            assert_true(plan.window == 0);
        }
}

/* A given size yields a capacity that is not one key too low. */
static void test_capacity_of_a_size(void **state)
{
    (void)state;
    for (uint64_t m = 1000; m < 1000000000; m *= 10) {
        char kind[96];
        snprintf(kind, sizeof kind, "stable:m=%llu,lost=5",
                 (unsigned long long)m);
        bly_plan_t plan = stable_plan(kind, 0, 0.01);
        assert_true(plan.rate <= 0.01 && plan.lost <= 0.05);
        assert_true(stable_plan(kind, plan.capacity + 1, 0.01).lost > 0.05);
        snprintf(kind, sizeof kind, "stable:lost=5,k=%u,max=%u",
                 (unsigned)plan.geometry[1], (unsigned)plan.geometry[2]);
        bly_plan_t back = stable_plan(kind, plan.capacity, 0.01);
        assert_true((double)back.geometry[0] <= (double)m * 1.000002);
        assert_true(m < 10000 || back.geometry[0] > m * 9 / 10);
    }
}

static void test_bad_options(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 1000 };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, "stable:m=10,p=11", &spec), BLY_EPARAM);
    assert_status(bly_plan(&plan, "stable:p=1", &spec), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "larger p"));
    assert_status(bly_plan(&plan, "stable:max=256", &spec), BLY_EOPTION);
    assert_status(bly_plan(&plan, "stable:max=0", &spec), BLY_EOPTION);
    assert_status(bly_plan(&plan, "stable:lost=0", &spec), BLY_EOPTION);
    assert_status(bly_plan(&plan, "stable:p=500", &spec), BLY_OK);
    assert_true(plan.geometry[3] == 500 && plan.rate <= 0.01);
    assert_status(bly_plan(&plan, "stable:m=5000,k=4,max=3,p=10", &spec),
                  BLY_OK);
    assert_true(plan.geometry[0] == 5000 && plan.geometry[1] == 4
                && plan.geometry[2] == 3 && plan.geometry[3] == 10);
    assert_status(bly_plan(&plan, "stable:m=72057594037927936,max=255",
                           &spec), BLY_OK);
    assert_int_equal(plan.geometry[2], 255);
    spec.capacity = 0;
    assert_status(bly_plan(&plan, "stable", &spec), BLY_EPARAM);
}

/* ---- The bound --------------------------------------------------------- */

/* No filter of `bits` bits has a smaller sum of both error rates after n
 * letters from an alphabet of that many [Geraud-Stewart 2020]. */
static double bound_of(double alphabet, double bits, double n)
{
    double log_other = log1p(-1 / alphabet);
    return 1 - expm1(bits * log_other) / expm1(n * log_other);
}

static void test_bound_figures(void **state)
{
    (void)state;
    static const struct { double alphabet, bits, n, bound; } rows[] = {
        { 1e6, 1000, 1e4, 0.899549 }, { 1e6, 1000, 1e6, 0.998419 },
        { 4294967296.0, 1e6, 1e7, 0.899895 },
        { 4294967296.0, 1e6, 17179869184.0, 0.999763 },
        { 1000, 100, 1e5, 0.904792 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(fabs(bound_of(rows[i].alphabet, rows[i].bits, rows[i].n)
                         - rows[i].bound) < 1e-6);
}

/* Measures the errors on the last of n letters, over many streams. */
static void check_bound(const char *kind, uint64_t alphabet, uint64_t n)
{
    enum { STREAMS = 6000 };
    double bits = 0;
    uint64_t fresh = 0, known = 0, false_yes = 0, false_no = 0;
    bool *met = malloc(alphabet * sizeof *met);
    assert_non_null(met);
    for (uint64_t s = 0; s < STREAMS; s++) {
        bly_filter *filter = stable_new(kind, 10, 0.1, s);
        memset(met, 0, alphabet * sizeof *met);
        for (uint64_t i = 0; i <= n; i++) {
            uint64_t letter = test_random(s, i) % alphabet;
            bool yes = bly_add_hash(filter, test_random(7, letter)) == BLY_SEEN;
            if (i == n) {
                fresh += !met[letter];
                known += met[letter];
                false_yes += !met[letter] && yes;
                false_no += met[letter] && !yes;
            }
            met[letter] = true;
        }
        bly_info_t stat;
        bly_info(&stat, filter);
        bits = 8.0 * (double)(stat.bytes - IMAGE_HEADER);
        bly_free(filter);
    }
    double yes = (double)false_yes / (double)fresh;
    double no = (double)false_no / (double)known;
    double error = sqrt(yes * (1 - yes) / (double)fresh
                        + no * (1 - no) / (double)known);
    double bound = bound_of((double)alphabet, bits, (double)n);
    print_message("%s: %.4f false yes + %.4f false no, at least %.4f\n", kind,
                  yes, no, bound);
    assert_true(fresh > 500 && known > 500 && bound > 0.1);
    assert_true(yes + no >= bound - TEST_SIGMAS * error);
    free(met);
}

static void test_bound(void **state)
{
    (void)state;
    TEST_STATISTICS();
    check_bound("stable:m=100,k=2,max=3,p=10", 2000, 1500);
    check_bound("stable:m=200,k=1,max=1,p=1", 2000, 1500);
    check_bound("stable:m=64,k=3,max=15,p=30", 3000, 3000);
}

/* ---- Hostile bytes ----------------------------------------------------- */

/* Any cells, some above max, and any count of adds under a correct header:
 * every verb stays inside and ends, and the image stays valid. */
static void test_any_payload(void **state)
{
    (void)state;
    static const unsigned maxima[] = { 1, 2, 3, 5, 15, 16, 255 };
    for (size_t x = 0; x < sizeof maxima / sizeof *maxima; x++) {
        char kind[64];
        snprintf(kind, sizeof kind, "stable:m=128,k=5,max=%u,p=127", maxima[x]);
        bly_filter *filter = stable_new(kind, 5, 0.1, 0), *wrapped = NULL;
        size_t bytes;
        const void *good = bly_image(filter, &bytes);
        uint8_t *image = malloc(bytes);
        assert_non_null(image);
        memcpy(image, good, bytes);
        for (size_t i = IMAGE_HEADER; i < bytes; i++)
            image[i] = (uint8_t)test_random(7, i);
        memset(image + IMAGE_HEADER + 8, 0, HEAD - 8);
        image_set_u64(image, IMAGE_HEADER, UINT64_MAX - 5);
        image_seal(image);
        assert_status(bly_wrap(&wrapped, image, bytes, NULL), BLY_OK);
        bly_free(filter);
        assert_status(bly_copy(&filter, wrapped, NULL), BLY_OK);
        for (uint64_t i = 0; i < 3000; i++) {
            bly_add_hash(filter, test_random(8, i));
            assert_true(bly_contains_hash(filter, test_random(8, i)));
        }
        good = bly_image(filter, &bytes);
        assert_status(bly_check(good, bytes, NULL), BLY_OK);
        assert_true(image_u64(good, IMAGE_HEADER) == 2994);
        bly_free(filter);
        bly_free(wrapped);
        free(image);
    }
}

/* Reserved bits must be zero. */
static void test_reserved_bits(void **state)
{
    (void)state;
    bly_filter *filter = stable_new("stable:m=13,k=2,max=7,p=3", 5, 0.1, 0);
    size_t bytes, cells = IMAGE_HEADER + HEAD;
    const void *good = bly_image(filter, &bytes);
    uint8_t *image = malloc(bytes);
    assert_non_null(image);
    assert_int_equal(bytes, cells + 8);
    for (size_t at = IMAGE_HEADER; at < bytes; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            bool free_bit = at < IMAGE_HEADER + 8
                         || (at >= cells && (at - cells) * 8 + bit < 13 * 4);
            memcpy(image, good, bytes);
            image[at] ^= (uint8_t)(1u << bit);
            image_seal(image);
            assert_status(bly_check(image, bytes, NULL),
                          free_bit ? BLY_OK : BLY_ECORRUPT);
        }
    free(image);
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_seed_decides),
        cmocka_unit_test(test_new_keys_are_found),
        cmocka_unit_test(test_p_for_a_rate),
        cmocka_unit_test(test_stable_point),
        cmocka_unit_test(test_rate_is_never_exceeded),
        cmocka_unit_test(test_lost_is_the_chain),
        cmocka_unit_test(test_lost_is_planned),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_capacity_of_a_size),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_bound_figures),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_any_payload),
        cmocka_unit_test(test_reserved_bits),
    };
    return cmocka_run_group_tests_name("stable", tests, NULL, NULL);
}
