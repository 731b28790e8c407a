/* layered.c - tests specific to kind `layered`: depths, and how often they are
 * too high.
 */
#include "test.h"

#include "image/image.h"
#include "kinds/compound/parts.h"
#include "forged.h"
#include "image/inner.h"

enum { LAYERS = 1 };

static bly_filter *layered_new(const char *kind, uint64_t n, double rate,
                               uint64_t seed)
{
    bly_spec spec = { .capacity = n, .rate = rate, .seed = seed };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

/* Returns the image of a layer; 0 is the first. */
static const uint8_t *layered_image(const bly_filter *filter, size_t layer)
{
    const uint8_t *at = bly_image(filter, NULL);
    for (at += IMAGE_HEADER; layer > 0; layer--)
        at += (image_u64(at, IMAGE_BYTES) + 63) / 64 * 64;
    return at;
}

static double layered_fill(const bly_filter *filter, size_t layer)
{
    bly_info_t stat = { .bytes = 0 };
    const uint8_t *image = layered_image(filter, layer);
    bly_kind_standard.stat(&stat, image);
    return stat.fill;
}

/* ---- The catalogue's two simulations ----------------------------------- */

enum { LAYERED_SEEN_LAYERS = 5, LAYERED_RUNS = 10 };

typedef struct {
    const char *kind;
    uint64_t n, layers;
    double   rate, m, k;
    uint64_t times[5];                  /* keys that occur so often          */
    double   fill[LAYERED_SEEN_LAYERS];
    double   exact, above;
    double   stranger[3];               /* of depth 0, 1, 2                  */
} layered_case;

static const layered_case layered_cases[] = {
    { .kind = "layered:of=standard,layers=5,repeated=100", .layers = 5,
      .n = 10000, .rate = 0.0561, .m = 60000, .k = 4,
      .times = { 6000, 2000, 1000, 500, 500 },
      .fill = { 0.4871, 0.2401, 0.1260, 0.0651, 0.0328 },
      .exact = 9829, .above = 171,
      .stranger = { 0.94326, 0.05660, 0.00014 } },
    { .kind = "layered:of=standard,layers=4,repeated=100", .layers = 4,
      .n = 9000, .rate = 0.1186, .m = 40000, .k = 3,
      .times = { 6000, 2000, 1000 },
      .fill = { 0.493, 0.2173, 0.0761, 0.0012 },
      .exact = 8626, .above = 374 },
};

typedef struct { double exact, above, asked, stranger[3]; } layered_sum;

/* Adds each key as often as it occurs, in random order. */
static void layered_fill_up(const layered_case *c, bly_filter *filter,
                            uint64_t stream)
{
    static uint64_t order[5 * 10000];
    uint64_t n = 0;
    for (uint64_t round = 0, first = 0; round < 5; round++) {
        for (uint64_t i = first; i < c->n; i++)
            order[n++] = i;
        first += c->times[round];
    }
    for (uint64_t i = n; i > 0; i--) {
        uint64_t *pick = &order[test_random(stream, i) % i];
        bly_add_hash(filter, test_random(stream + 1, *pick));
        *pick = order[i - 1];
    }
}

/* Then counts all of them. None is too low; a count of L is reported as
 * unknown. */
static void layered_run(layered_sum *sum, const layered_case *c,
                        bly_filter *filter, uint64_t stream)
{
    uint64_t times = 0, left = c->times[0];
    layered_fill_up(c, filter, stream);
    for (uint64_t i = 0; i < c->n; i++, left--) {
        while (left == 0)
            left = c->times[++times];
        uint64_t count = bly_count_hash(filter, test_random(stream + 1, i));
        uint64_t depth = count == UINT64_MAX ? c->layers : count;
        assert_true(depth > times && count != c->layers);
        sum->exact += depth == times + 1;
        sum->above += depth > times + 1;
    }
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t count = bly_count_hash(filter, test_random(stream + 2, i));
        sum->asked++;
        if (count < 3)
            sum->stranger[count]++;
    }
}

/* Several filters, compared with the catalogue's single one, whose excess
 * number deviates by its square root. Our m agrees to one in a hundred. */
static void test_catalogue_simulations(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const layered_case *c = &layered_cases[i];
        layered_sum sum = { 0 };
        for (uint64_t run = 0; run < LAYERED_RUNS; run++) {
            bly_filter *filter = layered_new(c->kind, c->n, c->rate, 0);
            const uint8_t *first = layered_image(filter, 0);
            assert_close((double)image_geometry(first, 0), c->m, 0.01);
            assert_true((double)image_geometry(first, 1) == c->k);
            layered_run(&sum, c, filter, 3 * run + 10);
            for (size_t j = 0; run == 0 && j < c->layers; j++)
                assert_true(fabs(layered_fill(filter, j) - c->fill[j])
                            <= 0.01);
            bly_free(filter);
        }
        assert_true(fabs(sum.above / LAYERED_RUNS - c->above)
                    <= TEST_SIGMAS * sqrt(c->above * (1 + 1.0 / LAYERED_RUNS)));
        assert_true(sum.exact + sum.above == (double)(LAYERED_RUNS * c->n));
        for (size_t d = 0; c->stranger[0] > 0 && d < 3; d++)
            assert_within(sum.stranger[d], sum.asked, c->stranger[d],
                          0.02 * (1 - c->stranger[d]) * c->stranger[d]);
    }
}

/* ---- Layers that fill evenly --------------------------------------------- */

/* 3 of every 4 keys that occur j times occur once more, as layers are
 * planned. */
enum { EVEN_KEYS = 20000, EVEN_MOST = 7 };

typedef struct {
    uint64_t came[EVEN_KEYS];
    double   keys[EVEN_MOST + 2];       /* keys that occur so often          */
    double   m[EVEN_MOST + 1], k;       /* per layer; 0 is the first         */
} even_case;

static void even_start(even_case *e, const bly_filter *filter)
{
    memset(e, 0, sizeof *e);
    for (uint64_t i = 0; i < EVEN_KEYS; i++) {
        double times = 1 + floor(log((double)(i + 1) / EVEN_KEYS) / log(0.75));
        e->came[i] = (uint64_t)fmin(times, EVEN_MOST);
        e->keys[e->came[i]]++;
    }
    for (size_t j = 0; j <= EVEN_MOST; j++)
        e->m[j] = (double)image_geometry(layered_image(filter, j), 0);
    e->k = (double)image_geometry(layered_image(filter, 0), 1);
}

/* Returns the rate of layer j = 1, 2, … at time t, when it holds the keys that
 * have occurred j times. */
static double even_rate(const even_case *e, unsigned j, double t)
{
    double keys = 0;
    for (unsigned c = j; c <= EVEN_MOST; c++)
        for (unsigned i = j; i <= c; i++)
            keys += e->keys[c] * pow(t, i) * pow(1 - t, c - i)
                  * exp(lgamma(c + 1) - lgamma(i + 1) - lgamma(c - i + 1));
    return pow(1 - exp(-e->k * keys / e->m[j - 1]), e->k);
}

/* Computes (2), with (3) for g_j. */
static double even_too_high(const even_case *e, unsigned came)
{
    enum { STEPS = 200 };
    double sum = even_rate(e, came + 1, 1);
    for (unsigned j = 1; j <= came; j++) {
        double mean = 0, all = 0;
        for (unsigned i = 0; i < STEPS; i++) {
            double t = (i + 0.5) / STEPS;
            double density = pow(t, j - 1) * pow(1 - t, came - j);
            mean += density * even_rate(e, j, t);
            all += density;
        }
        sum += mean / all;
    }
    return sum;
}

static void even_add(const even_case *e, bly_filter *filter)
{
    static uint64_t order[EVEN_MOST * EVEN_KEYS];
    uint64_t n = 0;
    for (uint64_t i = 0; i < EVEN_KEYS; i++)
        for (uint64_t times = 0; times < e->came[i]; times++)
            order[n++] = i;
    for (uint64_t i = n; i > 0; i--) {
        uint64_t *pick = &order[test_random(5, i) % i];
        bly_add_hash(filter, test_random(6, *pick));
        *pick = order[i - 1];
    }
}

/* Counts are too high as often as (2) says, plus a tenth for keys that went too
 * deep before, which it omits. */
static void too_high_where_layers_fill_evenly(void **state)
{
    (void)state;
    static even_case e;
    double high[EVEN_MOST + 1] = { 0 };
    bly_filter *filter = layered_new("layered:of=standard", EVEN_KEYS, 0.1, 0);
    even_start(&e, filter);
    even_add(&e, filter);
    for (uint64_t i = 0; i < EVEN_KEYS; i++)
        high[e.came[i]] += bly_count_hash(filter, test_random(6, i))
                         > e.came[i];
    for (unsigned c = 1; c <= 5; c++) {
        double chance = even_too_high(&e, c);
        double counted = high[c] / e.keys[c];
        double error = sqrt(chance * (1 - chance) / e.keys[c]);
        assert_true(fabs(counted - chance)
                    <= 0.1 * chance + TEST_SIGMAS * error);
    }
    bly_free(filter);
}

/* The fill counts all bits, and the fullest layer is reported. */
static void tells_the_fullest_layer(void **state)
{
    (void)state;
    bly_filter *filter = layered_new("layered:of=standard,layers=3", 1000,
                                     0.01, 0);
    double set = 0, bits = 0, fullest = 0;
    bly_info_t stat;
    for (uint64_t i = 0; i < 4000; i++)
        bly_add_hash(filter, test_random(7, i % 1000));
    for (size_t j = 0; j < 3; j++) {
        double m = (double)image_payload_bytes(layered_image(filter, j));
        set += m * layered_fill(filter, j);
        bits += m;
        fullest = fmax(fullest, layered_fill(filter, j));
    }
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_close(stat.fill, set / bits, 1e-9);
    assert_close(stat.fullest, fullest, 1e-9);
    assert_true(fullest > layered_fill(filter, 0) + 0.1);
    bly_free(filter);
}

/* ---- Depths ------------------------------------------------------------ */

static const char *const layered_kinds[] = {
    "layered", "layered:of=standard,layers=2", "layered:of=split,layers=3",
    "layered:of=partitioned,layers=64,repeated=90",
};

/* At a low rate counts are exact below L, and unknown from L on. */
static void test_counts(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        bly_filter *filter = layered_new(layered_kinds[k], 1000, 1e-7, 0);
        uint64_t layers = image_geometry(bly_image(filter, NULL), LAYERS);
        for (uint64_t times = 0; times < layers + 5; times++) {
            uint64_t told = times < layers ? times : UINT64_MAX;
            for (uint64_t i = 0; i < 10; i++) {
                uint64_t hash = test_random(1, i);
                assert_true(bly_count_hash(filter, hash) == told);
                assert_status(bly_add_hash(filter, hash),
                              times == 0 ? BLY_OK : BLY_SEEN);
            }
        }
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_int_equal(stat.items, 10 * (layers + 5));
        assert_int_equal(stat.saturated, 10);
        assert_true(fabs(stat.distinct - 10) <= 5 * stat.distinct_sd + 1);
        bly_free(filter);
    }
}

/* No add lowers a count, and no count is below the truth. */
static void test_counts_never_fall(void **state)
{
    (void)state;
    enum { KEYS = 500 };
    static uint64_t last[KEYS], truth[KEYS];
    for (size_t k = 0; k < 4; k++) {
        bly_filter *filter = layered_new(layered_kinds[k], 100, 0.3, 0);
        memset(last, 0, sizeof last);
        memset(truth, 0, sizeof truth);
        for (uint64_t i = 0; i < 3000; i++) {
            uint64_t key = test_random(4, i) % KEYS
                         * (test_random(5, i) % 8) / 8;
            bly_add_hash(filter, test_random(1, key));
            truth[key]++;
            if (i % 50 != 0)
                continue;
            for (uint64_t j = 0; j < KEYS; j++) {
                uint64_t count = bly_count_hash(filter, test_random(1, j));
                assert_true(count >= truth[j] && count >= last[j]);
                last[j] = count;
            }
        }
        bly_free(filter);
    }
}

/* Layers are independent: of the strangers in one, its rate's share is in the
 * next. */
static void test_layers_are_independent(void **state)
{
    (void)state;
    enum { KEYS = 20000, ASKED = 1000000 };
    for (size_t k = 0; k < 4; k++) {
        static const char *const of[] = { "standard", "partitioned", "blocked",
                                          "split" };
        char kind[64];
        snprintf(kind, sizeof kind, "layered:of=%s,layers=3,repeated=100",
                 of[k]);
        bly_filter *filter = layered_new(kind, KEYS, 0.1, 0);
        for (uint64_t i = 0; i < 2 * KEYS; i++)
            bly_add_hash(filter, test_random(1, i % KEYS));
        uint64_t once = 0, twice = 0;
        for (uint64_t i = 0; i < ASKED; i++) {
            uint64_t count = bly_count_hash(filter, test_random(2, i));
            once += count >= 1;
            twice += count >= 2;
        }
        double rate = (double)once / ASKED;
        bly_plan_t plan;
        bly_spec spec = { .capacity = KEYS, .rate = 0.1 };
        assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
        assert_within(once, ASKED, plan.rate, plan.rate_sd);
        assert_within(twice, once, rate, 2 * plan.rate_sd);
        bly_free(filter);
    }
}

/* Batches over all layers, with repeats, equal single verbs. */
static void test_batches(void **state)
{
    (void)state;
    enum { N = 9000 };
    static uint64_t hashes[N], counts[N];
    static bool seen[N];
    for (uint64_t i = 0; i < N; i++)
        hashes[i] = test_random(1, test_random(6, i) % 2000
                                   * (test_random(7, i) % 16) / 16);
    for (size_t k = 0; k < 4; k++) {
        bly_filter *one = layered_new(layered_kinds[k], 1000, 0.1, 0);
        bly_filter *each = layered_new(layered_kinds[k], 1000, 0.1, 0);
        bly_filter *many = layered_new(layered_kinds[k], 1000, 0.1, 0);
        for (size_t i = 0, n; i < N; i += n) {
            n = 1 + test_random(8, i) % 3000;
            n = n < N - i ? n : N - i;
            assert_status(bly_add_hashes(each, hashes + i, n, seen + i, NULL),
                          BLY_OK);
            assert_status(bly_add_hashes(many, hashes + i, n, NULL, NULL),
                          BLY_OK);
        }
        for (size_t i = 0; i < N; i++)
            assert_int_equal(bly_add_hash(one, hashes[i]) == BLY_SEEN,
                             seen[i]);
        size_t bytes;
        const void *image = bly_image(one, &bytes);
        assert_memory_equal(image, bly_image(each, NULL), bytes);
        assert_memory_equal(image, bly_image(many, NULL), bytes);
        bly_count_hashes(one, hashes, N, counts);
        for (size_t i = 0; i < N; i++)
            assert_true(counts[i] == bly_count_hash(one, hashes[i]));
        bly_free(one);
        bly_free(each);
        bly_free(many);
    }
}

/* ---- Sizes, bad bytes -------------------------------------------------- */

/* Each layer is planned for its share of the layer before, rounded up. */
static void test_layers_shrink(void **state)
{
    (void)state;
    static const uint64_t shares[] = { 1, 25, 50, 75, 99, 100 };
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        char kind[64];
        snprintf(kind, sizeof kind, "layered:layers=10,repeated=%d",
                 (int)shares[s]);
        bly_filter *filter = layered_new(kind, 12345, 0.01, 0);
        uint64_t n = 12345;
        for (size_t i = 0; i < 10; i++) {
            assert_int_equal(image_u64(layered_image(filter, i),
                                       IMAGE_CAPACITY), n);
            n = (n * shares[s] + 99) / 100;
        }
        bly_free(filter);
    }
}

static void test_inner_headers_are_checked(void **state)
{
    (void)state;
    bly_filter *filter = layered_new("layered:layers=3", 50, 0.01, 0);
    const uint8_t *image = bly_image(filter, NULL);
    for (size_t k = 0; k < 3; k++)
        forged_inner_header(filter,
                            (size_t)(layered_image(filter, k) - image));
    bly_free(filter);
}

/* The outer headers match, but the first layers differ by a few bits. */
static void test_unlike_layers_are_not_compared(void **state)
{
    (void)state;
    const char *kind = "layered:of=standard";
    bly_filter *a = layered_new(kind, 1000, 0.01, 0);
    bly_filter *b = layered_new(kind, 1001, 0.01, 0);
    bly_filter *c = layered_new(kind, 1000, 0.01, 0);
    const void *of_a = layered_image(a, 0), *of_b = layered_image(b, 0);
    size_t bytes_a, bytes_b;
    bly_overlap_t o;
    bly_image(a, &bytes_a);
    bly_image(b, &bytes_b);
    assert_int_equal(bytes_a, bytes_b);
    assert_true(image_geometry(of_a, 0) != image_geometry(of_b, 0));
    assert_status(bly_overlap(&o, a, b), BLY_EMISMATCH);
    assert_status(bly_overlap(&o, a, c), BLY_OK);
    bly_free(a);
    bly_free(b);
    bly_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_catalogue_simulations),
        cmocka_unit_test(too_high_where_layers_fill_evenly),
        cmocka_unit_test(tells_the_fullest_layer),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_counts_never_fall),
        cmocka_unit_test(test_layers_are_independent),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_layers_shrink),
        cmocka_unit_test(test_inner_headers_are_checked),
        cmocka_unit_test(test_unlike_layers_are_not_compared),
    };
    return cmocka_run_group_tests_name("layered", tests, NULL, NULL);
}
