/* shape.c - rates, sizes and estimates of plain bit filters, compared with
 * published tables, with every outcome of tiny filters, and with simulated
 * filters of all four shapes, whose bits are drawn at random as the formulas
 * assume.
 *
 * A mean of N filters must lie within TEST_SIGMAS of its standard error, and a
 * standard deviation within as many of its own: sd sqrt((q - 1) / 4N), where q
 * is the fourth moment over the square of the second.
 */
#include "test.h"

#include "bits/bits.h"
#include "maths/maths.h"
#include "bodies/rows.h"

/* Returns half a unit in the last of n digits, relative to a leading 1: no
 * rounding is coarser. */
static double digits(int n)
{
    return 0.5 * pow(10, 1 - n);
}

static const double EXACT = 1e-12;

/* Enough blocks for Poisson loads, as in the tables: the difference is of the
 * order of load / blocks. */
static const uint64_t MANY = 100000000;

static shape standard_of(uint64_t m, uint32_t k)
{
    return (shape){ .blocks = 1, .lanes = 1, .bits = m, .probes = k };
}

static shape partitioned_of(uint64_t lane_bits, uint64_t k)
{
    return (shape){ .blocks = 1, .lanes = k, .bits = lane_bits, .probes = 1 };
}

static shape blocked_of(uint64_t blocks, uint64_t bits, uint32_t k)
{
    return (shape){ .blocks = blocks, .lanes = 1, .bits = bits, .probes = k };
}

static shape split_of(uint64_t blocks)
{
    return (shape){ .blocks = blocks, .lanes = 8, .bits = 32, .probes = 1 };
}

/* ---- Published tables -------------------------------------------------- */

/* Returns the rate at c bits per key. */
static double rate_at(const shape *s, double c)
{
    return shape_rate(s, (uint64_t)round(shape_bits(s) / c), NULL);
}

static void check_blocked(double c, uint64_t bits, uint32_t k, double wanted)
{
    shape s = blocked_of(MANY, bits, k);
    assert_close(rate_at(&s, c), wanted, digits(5));
}

static void test_blocked_table(void **state)
{
    (void)state;
    static const struct {
        double c;
        uint32_t k512; double f512;
        uint32_t k256; double f256;
        uint32_t k64;  double f64;
    } rows[] = {
        { 4, 3, 0.148116, 3, 0.149333, 3, 0.156495 },
        { 6, 4, 0.057742, 4, 0.059412, 4, 0.069122 },
        { 8, 5, 0.023263, 5, 0.024842, 4, 0.033541 },
        { 10, 6, 9.6650e-3, 6, 1.0914e-2, 5, 1.7844e-2 },
        { 12, 8, 4.1349e-3, 7, 5.0457e-3, 5, 1.0352e-2 },
        { 14, 9, 1.8350e-3, 8, 2.4556e-3, 6, 6.2929e-3 },
        { 16, 10, 8.4612e-4, 9, 1.2573e-3, 6, 4.0523e-3 },
        { 20, 11, 1.9783e-4, 10, 3.6815e-4, 7, 1.8935e-3 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_blocked(rows[i].c, 512, rows[i].k512, rows[i].f512);
        check_blocked(rows[i].c, 256, rows[i].k256, rows[i].f256);
        check_blocked(rows[i].c, 64, rows[i].k64, rows[i].f64);
    }
    check_blocked(10, 512, 7, 9.6860e-3);
}

static void test_split_table(void **state)
{
    (void)state;
    static const struct { double c, rate; } rows[] = {
        { 5, 0.1792 }, { 6, 0.09934 }, { 8, 0.03321 }, { 10, 0.012648 },
        { 10.5, 0.010129 }, { 11.54, 0.006524 }, { 12, 0.0054196 },
        { 16, 0.0013156 }, { 16.9, 9.969e-4 }, { 20, 4.200e-4 },
        { 26.4, 9.885e-5 }, { 41, 9.98e-6 },
    };
    shape s = split_of(MANY);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_close(rate_at(&s, rows[i].c), rows[i].rate,
                     digits(i == 11 ? 3 : 4));
    shape official = split_of(1024);    /* the format's own examples */
    assert_close(shape_rate(&official, 26214, NULL), 0.0126, digits(3));
    assert_close(shape_rate(&official, 52428, NULL), 0.18, digits(2));
    assert_close(shape_rate(&official, 13107, NULL), 0.0004, digits(1));
}

static void test_split_bits_per_key(void **state)
{
    (void)state;
    static const struct { double rate, bits; int digits; } rows[] = {
        { 0.1, 5.989, 4 }, { 0.05, 7.225, 4 }, { 0.01, 10.529, 5 },
        { 0.005, 12.204, 5 }, { 0.001, 16.890, 5 }, { 0.0001, 26.342, 5 },
    };
    const uint64_t n = 1000000000;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        shape s = split_of(1);
        assert_true(shape_enough(&s.blocks, &s, n, rows[i].rate));
        assert_close(shape_bits(&s) / (double)n, rows[i].bits,
                     digits(rows[i].digits));
    }
}

/* m, n, k and the rate of k lanes of m/k bits, which the formula allows to be
 * fractional; if they are whole, the shape agrees. */
static void test_partitioned_table(void **state)
{
    (void)state;
    static const struct { unsigned m, n, k; double rate; } rows[] = {
        { 32, 3, 3, 1.6719634e-2 }, { 32, 4, 4, 2.9325067e-2 },
        { 64, 8, 6, 2.6212923e-2 }, { 64, 10, 4, 5.1138323e-2 },
        { 100, 10, 7, 9.7420902e-3 }, { 128, 16, 6, 2.3747228e-2 },
        { 256, 32, 6, 2.2628125e-2 }, { 512, 64, 6, 2.2094450e-2 },
        { 1000, 100, 7, 8.3338331e-3 }, { 1024, 128, 6, 2.1833790e-2 },
        { 8192, 1024, 6, 2.1609006e-2 }, { 9586, 1000, 7, 1.0051963e-2 },
        { 95851, 10000, 7, 1.0040753e-2 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned m = rows[i].m, n = rows[i].n, k = rows[i].k;
        double lane = (double)m / k;
        assert_close(pow(math_set_mean(lane, n) / lane, k), rows[i].rate,
                     digits(8));
        shape s = partitioned_of(m / k, k);
        if (m % k == 0)
            assert_close(shape_rate(&s, n, NULL), rows[i].rate, digits(8));
    }
}

static void test_one_block_is_the_standard_filter(void **state)
{
    (void)state;
    static const unsigned sizes[] = { 2, 64, 1000, 2048, 5000, 1000000 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (uint32_t k = 1; k <= 16; k++) {
            shape s = standard_of(sizes[i], k);
            uint64_t n = 1 + sizes[i] / (2 * k);
            assert_true(shape_rate(&s, n, NULL)
                        == math_rate(sizes[i], (double)n, k));
        }
}

/* ---- Every outcome of tiny filters ------------------------------------- */

enum { TINY_BITS = 16 };

typedef struct { double ways, rate, squares, set; } outcomes;

static double tiny_own_rate(const shape *s, const uint32_t *lane)
{
    double sum = 0;
    for (uint64_t block = 0; block < s->blocks; block++) {
        double chance = 1;
        for (uint64_t i = 0; i < s->lanes; i++) {
            uint32_t bits = lane[block * s->lanes + i];
            chance *= pow((double)platform_popcount(bits) / (double)s->bits,
                          s->probes);
        }
        sum += chance;
    }
    return sum / (double)s->blocks;
}

/* Adds a key: a choice of a block and of lanes x probes bits, as the digits of
 * `choice`. */
static void tiny_add(const shape *s, uint32_t *lane, uint64_t choice)
{
    uint64_t block = choice % s->blocks;
    choice /= s->blocks;
    for (uint64_t i = 0; i < s->lanes; i++)
        for (uint32_t j = 0; j < s->probes; j++, choice /= s->bits)
            lane[block * s->lanes + i] |= UINT32_C(1) << choice % s->bits;
}

static uint64_t tiny_choices(const shape *s)
{
    uint64_t choices = s->blocks;
    for (uint64_t i = 0; i < s->lanes * s->probes; i++)
        choices *= s->bits;
    return choices;
}

/* Tries all ways to add n more keys to these lanes. */
static void tiny_walk(outcomes *all, const shape *s, const uint32_t *lane,
                      unsigned n)
{
    if (n == 0) {
        double rate = tiny_own_rate(s, lane);
        all->ways++;
        all->rate += rate;
        all->squares += rate * rate;
        for (uint64_t i = 0; i < s->blocks * s->lanes; i++)
            all->set += platform_popcount(lane[i]);
        return;
    }
    for (uint64_t choice = 0; choice < tiny_choices(s); choice++) {
        uint32_t next[TINY_BITS];
        memcpy(next, lane, sizeof next);
        tiny_add(s, next, choice);
        tiny_walk(all, s, next, n - 1);
    }
}

static void check_tiny(shape s)
{
    for (unsigned n = 0; n <= 4 && pow((double)tiny_choices(&s), n) < 3e5;
         n++) {
        uint32_t none[TINY_BITS] = { 0 };
        outcomes all = { 0 };
        tiny_walk(&all, &s, none, n);
        assert_true(fabs(shape_rate(&s, n, NULL) - all.rate / all.ways)
                    <= EXACT);
        assert_true(fabs(shape_fill(&s, n) * shape_bits(&s)
                         - all.set / all.ways) <= 10 * EXACT);
    }
}

static void test_every_outcome_of_tiny_filters(void **state)
{
    (void)state;
    for (uint64_t blocks = 1; blocks <= 3; blocks++) {
        check_tiny((shape){ blocks, 1, 8, 1 });
        check_tiny((shape){ blocks, 1, 8, 2 });
        check_tiny((shape){ blocks, 1, 4, 3 });
        check_tiny((shape){ blocks, 1, 2, 2 });
        check_tiny((shape){ blocks, 1, 1, 1 });
        check_tiny((shape){ blocks, 2, 4, 1 });
        check_tiny((shape){ blocks, 2, 3, 2 });
        check_tiny((shape){ blocks, 3, 2, 1 });
        check_tiny((shape){ blocks, 4, 3, 1 });
    }
}

/* ---- Sizes ------------------------------------------------------------- */

/* The blocks suffice, and one fewer does not; a rate that equals p up to
 * rounding may go either way. */
static void check_enough(shape s, uint64_t n, double p)
{
    s.blocks = 77;                      /* not read */
    assert_true(shape_enough(&s.blocks, &s, n, p));
    if (!(shape_rate(&s, n, NULL) <= p))
        fail_msg("%d blocks are too few", (int)s.blocks);
    if (s.blocks == 1)
        return;
    s.blocks--;
    if (!(shape_rate(&s, n, NULL) > p * (1 - EXACT)))
        fail_msg("k=%d lanes=%d n=%d p=%g: %d blocks are one too many",
                 (int)s.probes, (int)s.lanes, (int)n, p, (int)s.blocks + 1);
}

static const double low_rates[] = { 0.3, 0.1, 0.01, 0.001, 1e-5, 1e-9 };
static const double high_rates[] = { 0.5, 0.7, 0.9, 0.99, 0.999 };
enum { LOW_RATES = sizeof low_rates / sizeof low_rates[0] };
enum { HIGH_RATES = sizeof high_rates / sizeof high_rates[0] };

static void check_enough_for(uint64_t n, const double *rates, int count)
{
    for (int i = 0; i < count; i++) {
        check_enough(split_of(1), n, rates[i]);
        for (uint32_t k = 1; k <= 13; k += 3)
            check_enough(blocked_of(1, 512, k), n, rates[i]);
    }
}

static void test_enough_is_least(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 2000000; n = n * 7 + 3)
        check_enough_for(n, low_rates, LOW_RATES);
    check_enough_for(1000000000000, low_rates, 4);
}

/* Repeats this for rates too high to be useful. */
static void test_enough_is_least_for_high_rates(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 2000000; n = n * 7 + 3)
        check_enough_for(n, high_rates, HIGH_RATES);
}

static void test_enough_gives_up(void **state)
{
    (void)state;
    uint64_t blocks = 5;
    shape s = split_of(1);
    assert_false(shape_enough(&blocks, &s, UINT64_MAX, 1e-9));
    assert_false(shape_enough(&blocks, &s, UINT64_C(1) << 62, 1e-6));
    assert_int_equal(blocks, 5);
    assert_true(shape_enough(&blocks, &s, UINT64_C(1) << 60, 0.01));
    assert_true(blocks < UINT64_C(1) << 58);
}

static void check_capacity(shape s)
{
    static const double rates[] = { 0.9, 0.5, 0.1, 0.01, 1e-3, 1e-6 };
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        uint64_t n = shape_capacity(&s, rates[i]);
        assert_true(n >= 1);
        assert_true(n == 1 || shape_rate(&s, n, NULL) <= rates[i]);
        assert_true(shape_rate(&s, n + 1, NULL) > rates[i]);
    }
}

static void test_capacity_is_most(void **state)
{
    (void)state;
    check_capacity(standard_of(64, 4));
    check_capacity(standard_of(1000, 7));
    check_capacity(standard_of(9586, 1));
    check_capacity(standard_of(UINT64_C(1) << 40, 7));
    check_capacity(partitioned_of(1371, 7));
    check_capacity(split_of(1));
    check_capacity(split_of(1000));
    check_capacity(blocked_of(2, 512, 6));
    check_capacity(blocked_of(1000, 512, 6));
    check_capacity(blocked_of(1000, 512, 1));
    check_capacity(blocked_of(1 << 20, 512, 14));
}

static void test_capacity_and_enough_agree(void **state)
{
    (void)state;
    for (uint64_t n = 1000; n < 10000000; n *= 10)
        for (uint32_t k = 2; k <= 10; k += 4) {
            shape s = blocked_of(1, 512, k);
            assert_true(shape_enough(&s.blocks, &s, n, 0.01));
            assert_true(shape_capacity(&s, 0.01) >= n);
            s.blocks--;
            assert_true(shape_capacity(&s, 0.01) < n);
        }
}

static void check_monotone(shape s, double load)
{
    double before = 0;
    for (double n = 1; n < load * 3 * (double)s.blocks;
         n += ceil(load / 50 * (double)s.blocks)) {
        double sd = -1, rate = shape_rate(&s, (uint64_t)n, &sd);
        if (!(rate >= before * (1 - EXACT) && rate <= 1 && sd >= 0))
            fail_msg("n=%g: rate %.17g, sd %g, after %.17g", n, rate, sd,
                     before);
        before = rate;
    }
}

/* More keys raise the rate, also beyond the load up to which blocks are
 * tabulated. */
static void test_rate_rises_with_n(void **state)
{
    (void)state;
    check_monotone(standard_of(1000, 7), 300);
    check_monotone(standard_of(100, 7), 30);
    check_monotone(partitioned_of(500, 4), 1000);
    check_monotone(split_of(100), 1000);
    check_monotone(blocked_of(2, 512, 5), 1000);
    check_monotone(blocked_of(100, 512, 1), 1000);
    check_monotone(blocked_of(1000000, 512, 7), 1000);
}

static void check_plan(shape s, uint64_t n)
{
    bly_plan_t plan = { .bytes = 12345 };
    double sd = -1, rate = shape_rate(&s, n, &sd);
    rows_plan(&plan, &s, n);
    assert_int_equal(plan.capacity, n);
    assert_true(plan.rate == rate && plan.rate_sd == sd);
    assert_true(plan.fill == shape_fill(&s, (double)n));
    assert_int_equal(plan.probes, s.lanes * s.probes);
    assert_int_equal(plan.bytes, 12345);
}

static void test_plan(void **state)
{
    (void)state;
    check_plan(standard_of(1000, 7), 100);
    check_plan(partitioned_of(500, 4), 350);
    check_plan(blocked_of(12, 512, 5), 600);
    check_plan(split_of(12), 300);
}

/* ---- Simulated filters ------------------------------------------------- */

typedef struct { double count, sum, square, cube, fourth; } series;

static void series_add(series *s, double v)
{
    s->count++;
    s->sum += v;
    s->square += v * v;
    s->cube += v * v * v;
    s->fourth += v * v * v * v;
}

static double series_sd(const series *s)
{
    double mean = s->sum / s->count;
    return sqrt((s->square - s->sum * mean) / (s->count - 1));
}

/* Returns the fourth moment about the mean, over the square of the second. */
static double series_tails(const series *s)
{
    double n = s->count, mean = s->sum / n;
    double second = s->square / n - mean * mean;
    double fourth = s->fourth / n - 4 * mean * s->cube / n
                  + 6 * mean * mean * s->square / n - 3 * pow(mean, 4);
    return fourth / (second * second);
}

/* Powers are plain sums, so the numbers must not lie far from 0 relative to
 * their spread. */
static void check_series(const char *what, const series *s, double mean,
                         double sd)
{
    double got = s->sum / s->count, spread = series_sd(s);
    double error = spread / sqrt(s->count);
    double sd_error = spread * sqrt((series_tails(s) - 1) / 4 / s->count);
    if (fabs(got - mean) > TEST_SIGMAS * error)
        fail_msg("%s: mean %g +- %g, not %g", what, got, error, mean);
    if (sd >= 0 && fabs(spread - sd) > TEST_SIGMAS * sd_error)
        fail_msg("%s: sd %g +- %g, not %g", what, spread, sd_error, sd);
}

enum { PAYLOAD_MOST = 64000 };

static size_t payload_bytes(const shape *s)
{
    return (size_t)(s->blocks * s->lanes * ((s->bits + 7) / 8));
}

/* Adds random key `key` of a stream. */
static void sim_add(const shape *s, uint8_t *payload, uint64_t stream,
                    uint64_t key)
{
    uint64_t draw = key * 64, lane_bits = (s->bits + 7) / 8 * 8;
    uint64_t block = bits_range(test_random(stream, draw++), s->blocks);
    for (uint64_t lane = block * s->lanes; lane < (block + 1) * s->lanes;
         lane++)
        for (uint32_t i = 0; i < s->probes; i++)
            bits_set(payload, lane * lane_bits
                     + bits_range(test_random(stream, draw++), s->bits));
}

static void sim_add_range(const shape *s, uint8_t *payload, uint64_t stream,
                          uint64_t from, uint64_t to)
{
    for (uint64_t key = from; key < to; key++)
        sim_add(s, payload, stream, key);
}

/* ---- The spread of a filter's rate ------------------------------------- */

static void check_rate_sd(const char *what, shape s, uint64_t n,
                          uint64_t filters)
{
    static uint8_t payload[PAYLOAD_MOST];
    double sd = 0, rate = shape_rate(&s, n, &sd);
    series own = { 0 };
    assert_true(payload_bytes(&s) <= sizeof payload);
    for (uint64_t i = 0; i < filters; i++) {
        bly_info_t stat = { .rate = 0 };
        memset(payload, 0, payload_bytes(&s));
        sim_add_range(&s, payload, 1000 + i, 0, n);
        rows_stat(&stat, &s, payload);
        series_add(&own, stat.rate / rate);
    }
    print_message("%-20s rate %.4e, measured %.4f of it; sd %.4e, measured "
                  "%.3f of it\n", what, rate, own.sum / own.count, sd,
                  series_sd(&own) * rate / sd);
    check_series(what, &own, 1, sd / rate);
}

static void test_rate_and_its_sd(void **state)
{
    (void)state;
    TEST_STATISTICS();
    check_rate_sd("standard", standard_of(5000, 7), 500, 3000);
    check_rate_sd("standard, full", standard_of(5000, 7), 1500, 3000);
    check_rate_sd("partitioned", partitioned_of(715, 7), 500, 3000);
    check_rate_sd("blocked, 10", blocked_of(10, 512, 6), 510, 4000);
    check_rate_sd("blocked, 10, light", blocked_of(10, 512, 6), 250, 4000);
    check_rate_sd("blocked, 1000", blocked_of(1000, 512, 6), 51200, 400);
    check_rate_sd("split, 12", split_of(12), 300, 4000);
    check_rate_sd("split, 1000", split_of(1000), 25600, 400);
}

/* ---- Keys estimated from bits ------------------------------------------ */

static double log_clear(const shape *s)
{
    return log1p(-shape_fill(s, 1));
}

static void test_keys_from_expected_bits(void **state)
{
    (void)state;
    const shape shapes[] = {
        standard_of(10000, 7), standard_of(UINT64_C(1) << 40, 7),
        partitioned_of(500, 4), partitioned_of(1371, 7), split_of(1),
        split_of(12), split_of(1 << 20), blocked_of(3, 512, 6),
        blocked_of(1 << 20, 512, 6), standard_of(64, 64),
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const shape *s = &shapes[i];
        double before = 0;
        for (double n = 1; n * -log_clear(s) < 3; n = n * 1.5 + 1) {
            double set = shape_fill(s, n) * shape_bits(s);
            shape_estimate keys = shape_keys(s, set);
            assert_close(keys.value, n, 1e-9);
            assert_true(keys.value > before);
            assert_true(isfinite(keys.sd) && keys.sd >= 0);
            before = keys.value;
        }
    }
}

/* The catalogue estimates by -(m/k) ln(1 - X/m), using 1 - 1/m for e^(-1/m);
 * the shape does not. */
static double keys_to_first_order(uint64_t m, uint32_t k, double set)
{
    shape s = standard_of(m, k);
    return shape_keys(&s, set).value * -(double)m * log1p(-1.0 / (double)m);
}

static void test_keys_of_the_catalogue(void **state)
{
    (void)state;
    assert_close(keys_to_first_order(10, 3, 6), 3.054, digits(4));
    assert_close(keys_to_first_order(479256, 7, 245664), 49203.084, digits(8));
    assert_close(keys_to_first_order(479256, 7, 248566), 50058.980, digits(8));
}

/* sqrt(m (e^L - 1 - L)) / k, the textbook form for large m. */
static void test_sd_of_keys_of_a_large_filter(void **state)
{
    (void)state;
    double m = 1e9;
    shape s = standard_of((uint64_t)m, 7);
    for (double load = 0.05; load < 5; load *= 1.5) {
        double wanted = sqrt(m * (expm1(load) - load)) / 7;
        assert_close(shape_keys(&s, m * -expm1(-load)).sd, wanted, 1e-6);
    }
}

/* Returns the known small bias: the mean estimate exceeds the truth by half its
 * variance times the logarithm's curvature. */
static double bias(const shape *s, double sd)
{
    return -log_clear(s) * sd * sd / 2;
}

static void check_keys(const char *what, shape s, uint64_t n,
                       uint64_t filters)
{
    static uint8_t payload[PAYLOAD_MOST];
    shape_estimate wanted = shape_keys(&s, shape_fill(&s, (double)n)
                                           * shape_bits(&s));
    series off = { 0 };
    for (uint64_t i = 0; i < filters; i++) {
        memset(payload, 0, payload_bytes(&s));
        sim_add_range(&s, payload, 20000 + i, 0, n);
        uint64_t set = bits_count(payload, payload_bytes(&s));
        series_add(&off, shape_keys(&s, (double)set).value - (double)n);
    }
    print_message("%-14s n %d %+.3f (se %.3f), sd %.3f, measured %.3f\n", what,
                  (int)n, off.sum / off.count,
                  series_sd(&off) / sqrt(off.count), wanted.sd,
                  series_sd(&off));
    check_series(what, &off, bias(&s, wanted.sd), wanted.sd);
}

static void test_keys_of_simulated_filters(void **state)
{
    (void)state;
    TEST_STATISTICS();
    check_keys("standard", standard_of(10000, 7), 1000, 2000);
    check_keys("standard", standard_of(1000, 3), 150, 4000);
    check_keys("standard", standard_of(1000, 3), 700, 4000);
    check_keys("partitioned", partitioned_of(500, 4), 350, 4000);
    check_keys("partitioned", partitioned_of(150, 7), 100, 4000);
    check_keys("blocked", blocked_of(10, 512, 5), 600, 4000);
    check_keys("blocked", blocked_of(100, 512, 7), 5000, 1000);
    check_keys("split", split_of(12), 300, 4000);
    check_keys("split", split_of(100), 1500, 2000);
}

/* The catalogue's own simulations, of 2000 filters. */
static void check_reference_sd(uint64_t m, uint32_t k, double n, double sd)
{
    shape s = standard_of(m, k);
    double predicted = shape_keys(&s, shape_fill(&s, n) * (double)m).sd;
    assert_true(fabs(predicted - sd)
                <= TEST_SIGMAS * sd / sqrt(2.0 * 2000) + 0.005);
}

static void test_sds_of_the_catalogue(void **state)
{
    (void)state;
    check_reference_sd(10000, 7, 1000, 7.95);
    check_reference_sd(1000, 3, 150, 3.67);
}

/* ---- Two filters ------------------------------------------------------- */

typedef struct {
    shape    s;
    uint64_t a_only, b_only, both, pairs;
} pairing;

enum { A, B, EITHER, BOTH, DIFFER, JACCARD, FIELDS };

static const bly_estimate *overlap_field(const bly_overlap_t *o, int i)
{
    return i == A ? &o->a : i == B ? &o->b : i == EITHER ? &o->either
         : i == BOTH ? &o->both : i == DIFFER ? &o->differ : &o->jaccard;
}

static void pair_overlap(const pairing *p, uint64_t stream, bly_overlap_t *out)
{
    static uint8_t a[PAYLOAD_MOST], b[PAYLOAD_MOST];
    uint64_t in_a = p->both + p->a_only;
    memset(a, 0, payload_bytes(&p->s));
    memset(b, 0, payload_bytes(&p->s));
    sim_add_range(&p->s, a, stream, 0, in_a);
    sim_add_range(&p->s, b, stream, 0, p->both);
    sim_add_range(&p->s, b, stream, in_a, in_a + p->b_only);
    rows_overlap(out, &p->s, a, b);
}

/* Computes the expected means, in the order of the fields. */
static void pair_truth(const pairing *p, const double sd[FIELDS],
                       double truth[FIELDS])
{
    double both = (double)p->both, either = both + (double)p->a_only
                                          + (double)p->b_only;
    double of_a = bias(&p->s, sd[A]), of_b = bias(&p->s, sd[B]);
    double of_either = bias(&p->s, sd[EITHER]);
    truth[A] = both + (double)p->a_only + of_a;
    truth[B] = both + (double)p->b_only + of_b;
    truth[EITHER] = either + of_either;
    truth[BOTH] = both + of_a + of_b - of_either;
    truth[DIFFER] = either - both + 2 * of_either - of_a - of_b;
    truth[JACCARD] = both / either;
}

static void check_overlap(const char *what, const pairing *p)
{
    static const char *const fields[] = { "a", "b", "either", "both",
                                          "differ", "jaccard" };
    double sd[FIELDS] = { 0 }, truth[FIELDS];
    series got[FIELDS] = { { 0 } };

    for (uint64_t i = 0; i < p->pairs; i++) {
        bly_overlap_t out;
        pair_overlap(p, 40000 + i, &out);
        for (int j = 0; j < FIELDS; j++) {
            series_add(&got[j], overlap_field(&out, j)->value);
            sd[j] += overlap_field(&out, j)->sd / (double)p->pairs;
        }
    }
    pair_truth(p, sd, truth);
    for (int j = 0; j < FIELDS; j++) {
        print_message("%-12s %-8s %9.4f, measured %9.4f; sd %8.4f, measured "
                      "%.3f of it\n", what, fields[j], truth[j],
                      got[j].sum / got[j].count, sd[j],
                      series_sd(&got[j]) / sd[j]);
    }
    for (int j = 0; j < FIELDS; j++)
        check_series(fields[j], &got[j], truth[j], sd[j]);
}

static void test_overlap_of_simulated_filters(void **state)
{
    (void)state;
    TEST_STATISTICS();
    const pairing standard = { standard_of(10000, 7), 500, 500, 500, 2000 };
    const pairing uneven = { standard_of(10000, 7), 900, 400, 100, 2000 };
    const pairing small = { standard_of(1000, 3), 100, 100, 50, 4000 };
    const pairing lanes = { partitioned_of(500, 4), 150, 100, 150, 3000 };
    const pairing lines = { blocked_of(10, 512, 5), 200, 150, 250, 3000 };
    const pairing split = { split_of(12), 80, 60, 120, 3000 };
    check_overlap("standard", &standard);
    check_overlap("uneven", &uneven);
    check_overlap("small", &small);
    check_overlap("partitioned", &lanes);
    check_overlap("blocked", &lines);
    check_overlap("split", &split);
}

/* The catalogue's simulated standard deviations of the intersection. */
static void check_reference_both(const pairing *p, double sd)
{
    double predicted = 0;
    for (uint64_t i = 0; i < 100; i++) {
        bly_overlap_t out;
        pair_overlap(p, 60000 + i, &out);
        predicted += out.both.sd / 100;
    }
    assert_true(fabs(predicted - sd)
                <= TEST_SIGMAS * sd / sqrt(2.0 * 2000) + 0.005);
}

static void test_intersections_of_the_catalogue(void **state)
{
    (void)state;
    const pairing even = { standard_of(10000, 7), 500, 500, 500, 0 };
    const pairing uneven = { standard_of(10000, 7), 900, 400, 100, 0 };
    const pairing small = { standard_of(1000, 3), 100, 100, 50, 0 };
    check_reference_both(&even, 8.01);
    check_reference_both(&uneven, 7.79);
    check_reference_both(&small, 4.14);
}

/* The catalogue's simulated means and errors of the keys in only one filter,
 * from 40 pairs, beside ours with equal keys and bits. `mean` includes
 * bias(). */
static void check_reference_differ(uint64_t a_only, uint64_t b_only,
                                   uint64_t both, shape s, double mean,
                                   double rmse)
{
    const pairing p = { s, a_only, b_only, both, 400 };
    double sd[FIELDS] = { 0 }, truth[FIELDS];
    series got = { 0 };
    for (uint64_t i = 0; i < p.pairs; i++) {
        bly_overlap_t out;
        pair_overlap(&p, 90000 + i, &out);
        series_add(&got, out.differ.value);
        for (int j = 0; j < FIELDS; j++)
            sd[j] += overlap_field(&out, j)->sd / (double)p.pairs;
    }
    pair_truth(&p, sd, truth);
    print_message("differ %.1f, measured %.2f (%.1f); sd %.2f, measured %.2f "
                  "(%.1f)\n", truth[DIFFER], got.sum / got.count, mean,
                  sd[DIFFER], series_sd(&got), rmse);
    check_series("differ", &got, truth[DIFFER], sd[DIFFER]);
    assert_true(fabs(truth[DIFFER] - mean)
                <= TEST_SIGMAS * sd[DIFFER] / sqrt(40) + 0.05);
    assert_true(fabs(sd[DIFFER] - rmse)
                <= TEST_SIGMAS * sd[DIFFER] / sqrt(2.0 * 40) + 0.05);
}

static void test_differences_of_the_catalogue(void **state)
{
    (void)state;
    shape wide = standard_of(16000, 4), full = standard_of(2000, 4);
    check_reference_differ(50, 50, 1950, wide, 100.1, 3.5);
    check_reference_differ(200, 200, 1800, wide, 400.8, 10.0);
    check_reference_differ(1000, 1000, 1000, wide, 1990.1, 28.9);
    check_reference_differ(600, 100, 1400, wide, 699.9, 9.4);
    check_reference_differ(200, 200, 1800, full, 405.2, 84.2);
    check_reference_differ(200, 200, 1800, standard_of(16000, 1), 401.0, 6.8);
    check_reference_differ(200, 200, 1800, standard_of(2000, 1), 399.1, 30.2);
}

/* A filter and itself: everything is shared, and only the number of keys is
 * uncertain. */
static void test_overlap_with_itself(void **state)
{
    (void)state;
    const pairing p = { blocked_of(10, 512, 5), 0, 0, 300, 0 };
    bly_overlap_t out;
    pair_overlap(&p, 7, &out);
    assert_true(out.a.value == out.b.value);
    assert_true(out.a.value == out.either.value);
    assert_true(out.a.value == out.both.value);
    assert_true(out.jaccard.value == 1);
    assert_true(out.both.sd == out.a.sd);
    assert_true(out.differ.value == 0 && out.differ.sd == 0);
    assert_true(out.jaccard.sd == 0);
}

/* Nothing is shared except by chance: that estimate may be below 0, so its mean
 * is not too high; all others stay in range. */
static void test_overlap_of_disjoint_filters(void **state)
{
    (void)state;
    const pairing p = { standard_of(1000, 3), 100, 60, 0, 0 };
    series both = { 0 };
    double sd = 0;
    for (uint64_t i = 0; i < 200; i++) {
        bly_overlap_t out;
        pair_overlap(&p, 70000 + i, &out);
        series_add(&both, out.both.value);
        sd += out.both.sd / 200;
        assert_true(out.jaccard.value <= 1);
        assert_true(out.either.value >= out.a.value);
        assert_true(out.either.value >= out.b.value);
        assert_true(out.differ.value >= 0);
        for (int j = 0; j < FIELDS; j++)
            assert_true(isfinite(overlap_field(&out, j)->sd)
                        && overlap_field(&out, j)->sd >= 0);
    }
    check_series("disjoint", &both, 0, sd);
}

/* ---- Reading the bits -------------------------------------------------- */

/* Counts the set bits and rate of a payload, one bit at a time. */
static void naive_stat(const shape *s, const uint8_t *payload, double *set,
                       double *rate)
{
    uint64_t lane_bits = (s->bits + 7) / 8 * 8, lane = 0;
    *set = *rate = 0;
    for (uint64_t block = 0; block < s->blocks; block++) {
        double chance = 1;
        for (uint64_t i = 0; i < s->lanes; i++, lane++) {
            double x = 0;
            for (uint64_t at = 0; at < s->bits; at++)
                x += bits_test(payload, lane * lane_bits + at);
            *set += x;
            chance *= pow(x / (double)s->bits, s->probes);
        }
        *rate += chance / (double)s->blocks;
    }
}

static void check_stat(shape s, uint64_t n)
{
    uint8_t *payload = calloc(1, payload_bytes(&s));
    assert_non_null(payload);
    sim_add_range(&s, payload, 9, 0, n);
    bly_info_t stat = { .items = 12345 };
    double set = 0, rate = 0;
    rows_stat(&stat, &s, payload);
    naive_stat(&s, payload, &set, &rate);
    assert_close(stat.fill, set / shape_bits(&s), EXACT);
    assert_close(stat.rate, rate, EXACT);
    assert_true(stat.distinct == shape_keys(&s, set).value);
    assert_true(stat.distinct_sd == shape_keys(&s, set).sd);
    assert_int_equal(stat.probes, s.lanes * s.probes);
    assert_int_equal(stat.items, 12345);
    free(payload);
}

static void test_stat(void **state)
{
    (void)state;
    check_stat(standard_of(1, 1), 1);
    check_stat(standard_of(7, 3), 2);
    check_stat(standard_of(512, 7), 50);
    check_stat(standard_of(513, 7), 50);
    check_stat(standard_of(9999, 5), 1000);
    check_stat(partitioned_of(143, 7), 100);
    check_stat(partitioned_of(1001, 7), 800);
    check_stat(blocked_of(1, 512, 6), 40);
    check_stat(blocked_of(37, 512, 6), 2000);
    check_stat(split_of(1), 20);
    check_stat(split_of(50), 1200);
}

/* ---- Empty and full ---------------------------------------------------- */

static const shape ends[] = {
    { 1, 1, 1, 1 }, { 1, 1, 1000, 7 }, { 1, 1, 2, 3 }, { 1, 4, 504, 1 },
    { 10, 1, 512, 6 }, { 12, 8, 32, 1 }, { 3, 1, 1, 1 },
};
enum { ENDS = sizeof ends / sizeof ends[0] };

static bly_estimate told(shape_estimate e)
{
    return (bly_estimate){ e.value, e.sd };
}

static bool all_zero(bly_estimate e)
{
    return e.value == 0 && e.sd == 0;
}

static void test_empty_filters(void **state)
{
    (void)state;
    static const uint8_t payload[1 << 10] = { 0 };
    for (int i = 0; i < ENDS; i++) {
        bly_info_t stat = { .rate = 1 };
        bly_overlap_t o;
        double sd = -1;
        assert_true(all_zero(told(shape_keys(&ends[i], 0))));
        rows_stat(&stat, &ends[i], payload);
        assert_true(stat.fill == 0 && stat.rate == 0 && stat.distinct == 0);
        assert_true(stat.distinct_sd == 0);
        rows_overlap(&o, &ends[i], payload, payload);
        assert_true(all_zero(o.a) && all_zero(o.b) && all_zero(o.either));
        assert_true(all_zero(o.both) && all_zero(o.jaccard));
        assert_true(all_zero(o.differ));
        assert_true(shape_fill(&ends[i], 0) == 0);
        assert_true(shape_rate(&ends[i], 0, &sd) == 0);
        assert_true(sd == 0);
    }
}

static bool all_infinite(bly_estimate e)
{
    return isinf(e.value) && e.value > 0 && isinf(e.sd) && e.sd > 0;
}

/* Fills the payload, but not the padding of lanes. */
static void saturate(const shape *s, uint8_t *payload)
{
    uint64_t lane_bits = (s->bits + 7) / 8 * 8;
    for (uint64_t lane = 0; lane < s->blocks * s->lanes; lane++)
        for (uint64_t at = 0; at < s->bits; at++)
            bits_set(payload, lane * lane_bits + at);
}

static void test_saturated_filters(void **state)
{
    (void)state;
    static const uint8_t none[1 << 10] = { 0 };
    for (int i = 0; i < ENDS; i++) {
        uint8_t full[1 << 10] = { 0 };
        bly_info_t stat = { .rate = 0 };
        bly_overlap_t o;
        saturate(&ends[i], full);
        shape_estimate most = shape_keys(&ends[i], shape_bits(&ends[i]));
        assert_true(all_infinite(told(most)));
        rows_stat(&stat, &ends[i], full);
        assert_true(stat.fill == 1 && stat.rate == 1);
        assert_true(isinf(stat.distinct) && isinf(stat.distinct_sd));
        rows_overlap(&o, &ends[i], full, full);
        assert_true(all_infinite(o.a) && all_infinite(o.b));
        assert_true(all_infinite(o.either) && all_infinite(o.both));
        assert_true(all_infinite(o.jaccard) && all_infinite(o.differ));
        rows_overlap(&o, &ends[i], full, none);
        assert_true(all_infinite(o.a) && all_zero(o.b));
        assert_true(all_infinite(o.either) && all_infinite(o.both));
    }
}

/* All bits set but one, and one bit set: finite and sensible numbers. */
static void test_nearly_empty_and_nearly_full(void **state)
{
    (void)state;
    for (int i = 1; i < ENDS; i++) {
        double all = shape_bits(&ends[i]);
        shape_estimate one = shape_keys(&ends[i], 1);
        shape_estimate most = shape_keys(&ends[i], all - 1);
        assert_true(one.value > 0 && isfinite(one.value));
        assert_true(isfinite(one.sd) && isfinite(most.sd));
        assert_true(most.value >= one.value && isfinite(most.value));
        assert_true(shape_fill(&ends[i], 1e6) <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocked_table),
        cmocka_unit_test(test_split_table),
        cmocka_unit_test(test_split_bits_per_key),
        cmocka_unit_test(test_partitioned_table),
        cmocka_unit_test(test_one_block_is_the_standard_filter),
        cmocka_unit_test(test_every_outcome_of_tiny_filters),
        cmocka_unit_test(test_enough_is_least),
        cmocka_unit_test(test_enough_is_least_for_high_rates),
        cmocka_unit_test(test_enough_gives_up),
        cmocka_unit_test(test_capacity_is_most),
        cmocka_unit_test(test_capacity_and_enough_agree),
        cmocka_unit_test(test_rate_rises_with_n),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_rate_and_its_sd),
        cmocka_unit_test(test_keys_from_expected_bits),
        cmocka_unit_test(test_keys_of_the_catalogue),
        cmocka_unit_test(test_sd_of_keys_of_a_large_filter),
        cmocka_unit_test(test_keys_of_simulated_filters),
        cmocka_unit_test(test_sds_of_the_catalogue),
        cmocka_unit_test(test_overlap_of_simulated_filters),
        cmocka_unit_test(test_intersections_of_the_catalogue),
        cmocka_unit_test(test_differences_of_the_catalogue),
        cmocka_unit_test(test_overlap_with_itself),
        cmocka_unit_test(test_overlap_of_disjoint_filters),
        cmocka_unit_test(test_stat),
        cmocka_unit_test(test_empty_filters),
        cmocka_unit_test(test_saturated_filters),
        cmocka_unit_test(test_nearly_empty_and_nearly_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
