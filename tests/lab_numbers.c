/* lab_numbers.c - the intervals and verdicts of the lab.
 *
 * Expected values come from tables and from an independent program: quantiles
 * by integrating Student's density, Wilson's interval by solving its equation.
 */
#include "test.h"

#include "lab.h"

#include <unistd.h>

/* Checks a value to within a relative error of `part`. */
static void near(double value, double expected, double part)
{
    assert_true(fabs(value - expected) <= part * fabs(expected));
}

/* Returns the half width of the mean's interval for n numbers, half of them -1
 * and half 1, in standard errors: Student's quantile for 99.9 %. */
static double quantile(size_t n)
{
    double *x = calloc(n, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = i % 2 == 0 ? 1 : -1;
    lab_measure m = lab_mean(x, n);
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - m.value) * (x[i] - m.value);
    free(x);
    return (m.high - m.value)
         / sqrt(squares / (double)(n - 1) / (double)n);
}

static void test_student(void **state)
{
    (void)state;
    static const struct { size_t v; double t; } rows[] = {
        { 1, 636.61925 }, { 2, 31.59905 }, { 3, 12.92398 }, { 4, 8.61030 },
        { 5, 6.86883 },   { 7, 5.40788 },  { 9, 4.78091 },  { 10, 4.58689 },
        { 19, 3.88341 },  { 30, 3.64596 }, { 58, 3.46633 }, { 59, 3.46321 },
        { 60, 3.46020 },  { 61, 3.45729 }, { 99, 3.39153 },
        { 119, 3.37417 }, { 999, 3.30029 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        near(quantile(rows[i].v + 1), rows[i].t, 1e-5);
}

static void test_mean(void **state)
{
    (void)state;
    double one = 7;
    lab_measure m = lab_mean(&one, 1);
    assert_true(m.value == 7 && isinf(m.low) && isinf(m.high));
    double x[] = { 1, 2, 3, 4 };
    m = lab_mean(x, 4);
    assert_true(m.value == 2.5);
    near(m.high - 2.5, 12.92398 * sqrt(5.0 / 3 / 4), 1e-5);
    near(2.5 - m.low, m.high - 2.5, 1e-12);
}

static void test_wilson(void **state)
{
    (void)state;
    static const struct { uint64_t hits, trials; double low, high; } rows[] = {
        { 1, 1000, 7.844198622e-5, 1.2611720609e-2 },
        { 5, 10, 0.1394909545, 0.8605090456 },
        { 37, 1000, 2.1803551982e-2, 6.2115376437e-2 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_measure m = lab_wilson(rows[i].hits, rows[i].trials);
        assert_true(m.value == (double)rows[i].hits / (double)rows[i].trials);
        near(m.low, rows[i].low, 1e-6);
        near(m.high, rows[i].high, 1e-6);
    }
    lab_measure none = lab_wilson(0, 1000), all = lab_wilson(1000, 1000);
    assert_true(none.low == 0);
    near(none.high, 1.0711585767e-2, 1e-6);
    near(all.low, 0.9892884142, 1e-6);
    assert_true(all.high > 1 - 1e-12 && all.high <= 1);
}

/* Takes the wider interval: the spread between filters, or chance. */
static void test_shares(void **state)
{
    (void)state;
    double alike[] = { 0.037, 0.037, 0.037, 0.037 };
    lab_measure m = lab_shares(alike, 4, 250), pool = lab_wilson(37, 1000);
    near(m.value, 0.037, 1e-12);
    assert_true(m.low == pool.low && m.high == pool.high);
    double unlike[] = { 0.01, 0.02, 0.03, 0.04 };
    lab_measure mean = lab_mean(unlike, 4);
    m = lab_shares(unlike, 4, 100000);
    assert_true(m.low == 0 && mean.low < 0 && m.high == mean.high);
    double full[] = { 0.7, 0.8, 0.9, 1 };
    assert_true(lab_shares(full, 4, 100000).high == 1);
}

static void test_median(void **state)
{
    (void)state;
    double odd[] = { 5, 1, 4, 2, 3, 7, 6 }, even[] = { 8, 1, 2, 7 }, one = 3;
    lab_measure m = lab_median(odd, 7);
    assert_true(m.value == 4 && m.low == 2 && m.high == 6);
    m = lab_median(even, 4);
    assert_true(m.value == 4.5 && m.low == 2 && m.high == 7);
    m = lab_median(&one, 1);
    assert_true(m.value == 3 && m.low == 3 && m.high == 3);
}

static void test_fit(void **state)
{
    (void)state;
    double x[] = { 1, 2, 3, 4, 5, 6 };
    double y[] = { 2.1, 3.9, 6.2, 7.8, 10.1, 12.2 };
    lab_line line = lab_fit(x, y, 6);
    near(line.slope.value, 2.02, 1e-12);
    near(line.slope.high - line.slope.value, 0.36819198, 1e-5);
    near(line.slope.value - line.slope.low, 0.36819198, 1e-5);
    near(line.begin, -0.02, 1e-9);
    near(line.r2, 0.9982106661, 1e-9);
}

static void test_formulas(void **state)
{
    (void)state;
    near(lab_classic(8000, 1000, 6), 0.0215833, 1e-3);
    near(lab_classic(100, 1, 1), 0.01, 1e-12);
    assert_true(lab_entropy(0) == 0 && lab_entropy(1) == 0);
    near(lab_entropy(0.5), 1, 1e-12);
    near(lab_entropy(0.11), 0.499916, 1e-5);
    near(lab_choose(5, 2), log2(10), 1e-9);
    near(lab_choose(50, 6), log2(15890700), 1e-9);
}

/* The first few keys are drawn as often as chance predicts, no others are, and
 * another place draws others. */
static void test_draw(void **state)
{
    enum { OF = 50, DRAWN = 20000 };
    static uint64_t keys[DRAWN], others[DRAWN];
    size_t times[OF] = { 0 }, known = 0, same = 0;
    double share = 1.0 / OF, sd = sqrt(DRAWN * share * (1 - share));
    (void)state;
    lab_draw(keys, DRAWN, 3, OF, 0);
    lab_draw(others, DRAWN, 3, OF, DRAWN);
    for (size_t i = 0; i < DRAWN; i++) {
        for (size_t j = 0; j < OF; j++) {
            bool is = keys[i] == lab_key(3, j);
            times[j] += is;
            known += is;
        }
        same += keys[i] == others[i];
    }
    assert_int_equal(known, DRAWN);
    for (size_t j = 0; j < OF; j++)
        assert_true(fabs((double)times[j] - DRAWN * share) < 5 * sd);
    assert_true(fabs((double)same - DRAWN * share) < 5 * sd);
}

static void test_verdicts(void **state)
{
    (void)state;
    static const struct { double reported, within; const char *verdict; }
    rows[] = {
        { 2, 0, "holds" },     { 1, 0, "holds" },    { 3, 0, "holds" },
        { 0.9, 0, "differs" }, { 3.1, 0, "differs" },
        { 0.9, 0.2, "holds" }, { 3.1, 0.2, "holds" },
    };
    char folder[] = "lab_numbers_XXXXXX", csv[64], claims[64], line[256];
    assert_non_null(mkdtemp(folder));
    snprintf(csv, sizeof csv, "%s/a.csv", folder);
    snprintf(claims, sizeof claims, "%s/a.claims", folder);
    char *arguments[] = { "lab", folder, "tiny" };
    lab l = lab_open(3, arguments);
    assert_int_equal(lab_pick(&l, 1, 2, 3), 1);
    lab_figure(&l, "a", "x");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        lab_number(&l, "n", rows[i].reported, rows[i].within,
                   (lab_measure){ 2, 1, 3 });
    lab_number(&l, "n", 2, 0, lab_mean(&(double){ 2 }, 1));
    lab_size(&l, "s", 5, 0, 5);
    lab_size(&l, "s", 5, 0.5, 5.6);
    lab_says(&l, "t", false, "%d", 7);
    lab_close(&l);

    FILE *file = fopen(claims, "r");
    assert_non_null(file);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_non_null(fgets(line, sizeof line, file));
        line[strcspn(line, "\t")] = '\0';
        assert_string_equal(line, rows[i].verdict);
    }
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "differs\tn: 2\t2 (-inf … inf)\n");
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "holds\ts: 5\t5 exactly\n");
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "differs\ts: 5\t5.6 exactly\n");
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "does not hold\tt\t7\n");
    fclose(file);
    remove(csv);
    remove(claims);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_student), cmocka_unit_test(test_mean),
        cmocka_unit_test(test_wilson),  cmocka_unit_test(test_shares),
        cmocka_unit_test(test_median),  cmocka_unit_test(test_fit),
        cmocka_unit_test(test_formulas), cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
