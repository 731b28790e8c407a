/* similar.c - the most similar rows, compared with a full search: each measure,
 * threshold, width, number of threads and vector level.
 */
#include "bloomery/similar.h"

#include "base/cpu.h"
#include "scarce.h"
#include "test.h"
#include "bits/bits.h"

enum { ROWS = 700, QUERIES = 12, NAME = 16 };

/* ---- Rows ---------------------------------------------------------------- */

/* Writes row i of a stream. The number of bits varies: some rows have none,
 * some all, and some equal the row before. */
static void make_row(uint8_t *row, uint64_t bits, uint64_t stream, uint64_t i)
{
    uint64_t draw = test_random(stream, 10 * i) % 10;
    uint64_t share = test_random(stream, 10 * i + 1) % 97;
    uint64_t of = draw == 2 && i > 0 ? i - 1 : i;
    memset(row, 0, (size_t)((bits + 7) / 8));
    for (uint64_t bit = 0; bit < bits; bit++) {
        uint64_t random = test_random(stream + 1 + of, bit) % 100;
        if (draw == 1 || (draw != 0 && random < share))
            bits_set(row, bit);
    }
}

static bly_rows *make_rows(uint64_t bits, uint64_t stream, uint64_t n)
{
    bly_rows *rows = NULL;
    uint8_t row[4096 / 8 + 1];
    char name[NAME];
    assert_status(bly_rows_new(&rows, bits, NULL), BLY_OK);
    for (uint64_t i = 0; i < n; i++) {
        make_row(row, bits, stream, i);
        snprintf(name, sizeof name, "row %u", (unsigned)i);
        assert_status(bly_rows_add(rows, row, name), BLY_OK);
    }
    return rows;
}

static uint64_t count_both(const uint8_t *a, const uint8_t *b, uint64_t bits)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < bits; i++)
        n += bits_test(a, i) && bits_test(b, i);
    return n;
}

/* ---- Slow search --------------------------------------------------------- */

/* Computes each measure by its definition. */
static double slow_similarity(const bly_similar_spec *spec, uint64_t a,
                              uint64_t b, uint64_t c)
{
    double x = (double)a, y = (double)b, z = (double)c;
    if (c == 0)
        return 0;
    switch (spec->measure) {
    case BLY_TANIMOTO:  return z / (x + y - z);
    case BLY_DICE:      return 2 * z / (x + y);
    case BLY_CONTAINED: return z / x;
    default:
        return z / (spec->alpha * (x - z) + spec->beta * (y - z) + z);
    }
}

static int slow_order(const void *left, const void *right)
{
    const bly_similar *x = left, *y = right;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Bits of each row and query, and common bits, counted once. */
static struct {
    uint64_t row[ROWS], query[QUERIES], both[QUERIES][ROWS];
} slow;

static void slow_count(const bly_rows *rows, const bly_rows *queries)
{
    uint64_t bits = bly_rows_bits(rows);
    for (uint64_t i = 0; i < bly_rows_count(rows); i++) {
        const uint8_t *row = bly_rows_at(rows, i);
        slow.row[i] = count_both(row, row, bits);
        for (uint64_t q = 0; q < bly_rows_count(queries); q++)
            slow.both[q][i] = count_both(row, bly_rows_at(queries, q), bits);
    }
    for (uint64_t q = 0; q < bly_rows_count(queries); q++) {
        const uint8_t *query = bly_rows_at(queries, q);
        slow.query[q] = count_both(query, query, bits);
    }
}

static size_t slow_find(bly_similar *out, uint64_t rows, size_t query,
                        const bly_similar_spec *spec)
{
    uint64_t a = slow.query[query];
    size_t n = 0;
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t b = slow.row[i], c = slow.both[query][i];
        double similarity = slow_similarity(spec, a, b, c);
        if (similarity < spec->least || (spec->within && c < a))
            continue;
        out[n++] = (bly_similar){ i, similarity, (uint32_t)b, (uint32_t)c };
    }
    qsort(out, n, sizeof *out, slow_order);
    return n < spec->most ? n : (size_t)spec->most;
}

/* ---- Comparisons --------------------------------------------------------- */

/* All queries have the slow search's answers. */
static void try_spec(const bly_rows *rows, const bly_rows *queries,
                     const bly_similar_spec *spec)
{
    static bly_similar slowly[ROWS];
    uint64_t n = bly_rows_count(queries);
    size_t most = (size_t)spec->most, found[QUERIES];
    bly_similar *out = malloc(QUERIES * most * sizeof *out);
    assert_non_null(out);
    assert_status(bly_similar_find(out, found, rows, queries, 0, (size_t)n,
                                   spec), BLY_OK);
    for (size_t q = 0; q < n; q++) {
        size_t wanted = slow_find(slowly, bly_rows_count(rows), q, spec);
        assert_int_equal(found[q], wanted);
        for (size_t i = 0; i < wanted; i++) {
            const bly_similar *got = &out[q * most + i];
            assert_int_equal(got->row, slowly[i].row);
            assert_int_equal(got->bits, slowly[i].bits);
            assert_int_equal(got->shared, slowly[i].shared);
            assert_true(got->similarity == slowly[i].similarity);
        }
    }
    free(out);
}

static const bly_similar_spec measures[] = {
    { .measure = BLY_TANIMOTO }, { .measure = BLY_DICE },
    { .measure = BLY_CONTAINED },
    { .measure = BLY_TVERSKY, .alpha = 0.5, .beta = 0.5 },
    { .measure = BLY_TVERSKY, .alpha = 0.9, .beta = 0.1 },
    { .measure = BLY_TVERSKY, .alpha = 0, .beta = 1 },
    { .measure = BLY_TVERSKY, .alpha = 0, .beta = 0 },
    { .measure = BLY_TVERSKY, .alpha = 3, .beta = 1e-17 },
    { .measure = BLY_TVERSKY, .alpha = 1e300, .beta = 1e300 },
};

static void try_measures(const bly_rows *rows, const bly_rows *queries,
                         uint32_t threads)
{
    static const double least[] = { 0, 0.3, 2.0 / 3, 0.95, 1 };
    static const uint64_t most[] = { 1, 10, ROWS, ROWS + 5 };
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        for (size_t t = 0; t < sizeof least / sizeof *least; t++)
            for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
                bly_similar_spec spec = measures[i];
                spec.least = least[t];
                spec.most = most[k];
                spec.threads = threads;
                spec.within = (t + k) % 2 != 0;
                try_spec(rows, queries, &spec);
            }
}

/* Makes queries, some of which are rows of the library. */
static bly_rows *make_queries(uint64_t bits, const bly_rows *rows, uint64_t n)
{
    bly_rows *queries = make_rows(bits, 77, n / 2);
    for (uint64_t i = n / 2; i < n; i++)
        assert_status(bly_rows_add(queries, bly_rows_at(rows, 13 * i),
                                   "a row"), BLY_OK);
    return queries;
}

static void try_width(uint64_t bits, uint64_t n, uint32_t threads)
{
    bly_rows *rows = make_rows(bits, bits, n);
    bly_rows *queries = make_queries(bits, rows, QUERIES);
    uint8_t before[4096 / 8];
    for (uint64_t i = 0; i < n; i += 31) {
        make_row(before, bits, bits, i);
        assert_memory_equal(bly_rows_at(rows, i), before,
                            (size_t)((bits + 7) / 8));
    }
    assert_status(bly_rows_sort(rows), BLY_OK);
    for (uint64_t i = 0; i < n; i++) {
        char name[NAME];
        snprintf(name, sizeof name, "row %u", (unsigned)i);
        assert_string_equal(bly_rows_name(rows, i), name);
        make_row(before, bits, bits, i);
        assert_memory_equal(bly_rows_at(rows, i), before,
                            (size_t)((bits + 7) / 8));
    }
    slow_count(rows, queries);
    try_measures(rows, queries, threads);
    bly_rows_free(rows);
    bly_rows_free(queries);
}

static void test_widths(void **state)
{
    static const uint64_t widths[] = { 1, 2, 7, 8, 9, 64, 166, 167, 255, 256,
                                       257, 881, 1024, 2048, 4095, 4096 };
    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        try_width(widths[i], test_work(300, 200, 170), 1);
}

static void test_threads(void **state)
{
    static const uint32_t threads[] = { 2, QUERIES + 1 };
    (void)state;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        try_width(167, 300, threads[i]);
}

static void test_levels(void **state)
{
    (void)state;
    const cpu_level has = cpu_limit(CPU_LEVELS - 1);
    for (int level = CPU_PORTABLE; level <= (int)has; level++) {
        assert_int_equal(cpu_limit((cpu_level)level), level);
        try_width(167, 200, 1);
        try_width(1000, ROWS, 1);
    }
}

/* ---- Equal and empty rows ------------------------------------------------ */

static bly_rows *rows_of(const uint8_t *bytes, size_t n)
{
    bly_rows *rows = NULL;
    assert_status(bly_rows_new(&rows, 8, NULL), BLY_OK);
    for (size_t i = 0; i < n; i++)
        assert_status(bly_rows_add(rows, &bytes[i], "x"), BLY_OK);
    return rows;
}

/* Tanimoto 1/2 = 2/4, with different numbers of bits: the first row added
 * wins. */
static void test_ties(void **state)
{
    static const uint8_t library[] = { 0x0F, 0x01, 0x07, 0x01, 0x0B, 0x03 };
    static const uint8_t query[] = { 0x03 };
    static const uint64_t order[] = { 5, 2, 4, 0, 1, 3 };
    (void)state;
    bly_rows *rows = rows_of(library, 6), *queries = rows_of(query, 1);
    bly_similar out[6];
    size_t found;
    assert_status(bly_rows_sort(rows), BLY_OK);
    for (size_t most = 1; most <= 6; most++)
        for (uint32_t threads = 1; threads < 4; threads++) {
            bly_similar_spec spec = { .most = most, .threads = threads };
            assert_status(bly_similar_find(out, &found, rows, queries, 0, 1,
                                           &spec), BLY_OK);
            assert_int_equal(found, most);
            for (size_t i = 0; i < most; i++)
                assert_int_equal(out[i].row, order[i]);
        }
    assert_true(out[0].similarity == 1 && out[5].similarity == 0.5);
    bly_rows_free(rows);
    bly_rows_free(queries);
}

static void test_no_bits(void **state)
{
    static const uint8_t library[] = { 0x00, 0x01 }, query[] = { 0x00 };
    (void)state;
    bly_rows *rows = rows_of(library, 2), *queries = rows_of(query, 1);
    bly_similar out[3];
    size_t found;
    assert_status(bly_rows_sort(rows), BLY_OK);
    bly_similar_spec spec = { .most = 3, .within = true };
    assert_status(bly_similar_find(out, &found, rows, queries, 0, 1, &spec),
                  BLY_OK);
    assert_int_equal(found, 2);         /* an empty row is within every row */
    assert_true(out[0].similarity == 0 && out[1].similarity == 0);
    spec.least = 1e-300;
    assert_status(bly_similar_find(out, &found, rows, queries, 0, 1, &spec),
                  BLY_OK);
    assert_int_equal(found, 0);
    bly_rows_free(rows);
    bly_rows_free(queries);
}

static void test_no_rows(void **state)
{
    static const uint8_t query[] = { 0x01 };
    (void)state;
    bly_rows *queries = rows_of(query, 1), *rows = NULL;
    bly_similar out[3];
    size_t found = 9;
    bly_similar_spec spec = { .most = 3 };
    assert_status(bly_rows_new(&rows, 0, NULL), BLY_OK);
    assert_int_equal(bly_rows_bits(rows), 0);
    assert_status(bly_rows_sort(rows), BLY_OK);
    assert_status(bly_rows_sort(rows), BLY_OK);
    for (spec.threads = 1; spec.threads < 3; spec.threads++) {
        found = 9;
        assert_status(bly_similar_find(out, &found, rows, queries, 0, 1, &spec),
                      BLY_OK);
        assert_int_equal(found, 0);
    }
    assert_status(bly_similar_find(NULL, NULL, rows, queries, 1, 0, &spec),
                  BLY_OK);
    bly_rows *wide = NULL;              /* no rows: any width will do */
    assert_status(bly_rows_new(&wide, BLY_ROW_BITS_MOST, NULL), BLY_OK);
    assert_status(bly_rows_sort(wide), BLY_OK);
    assert_status(bly_similar_find(out, &found, wide, queries, 0, 1, &spec),
                  BLY_OK);
    bly_rows_free(wide);
    assert_null(bly_rows_at(rows, 0));
    assert_null(bly_rows_name(rows, 0));
    assert_null(bly_rows_type(rows));
    bly_rows_free(rows);
    bly_rows_free(queries);
    bly_rows_free(NULL);
}

/* ---- Screening ----------------------------------------------------------- */

/* A part of a row is within it: no row from which a query was made is
 * missed. */
static void test_screening(void **state)
{
    enum { BITS = 300 };
    (void)state;
    bly_rows *rows = make_rows(BITS, 5, ROWS), *queries = NULL;
    bly_similar *out = malloc(ROWS * sizeof *out);
    bly_similar_spec spec = { .most = ROWS, .within = true };
    assert_non_null(out);
    assert_status(bly_rows_new(&queries, BITS, NULL), BLY_OK);
    for (uint64_t i = 0; i < ROWS; i++) {
        uint8_t part[(BITS + 7) / 8];
        const uint8_t *row = bly_rows_at(rows, i);
        for (size_t j = 0; j < sizeof part; j++)
            part[j] = (uint8_t)(row[j] & test_random(9, i * 64 + j));
        assert_status(bly_rows_add(queries, part, "part"), BLY_OK);
    }
    assert_status(bly_rows_sort(rows), BLY_OK);
    for (uint64_t i = 0; i < ROWS; i++) {
        size_t found;
        bool there = false;
        assert_status(bly_similar_find(out, &found, rows, queries, i, 1, &spec),
                      BLY_OK);
        for (size_t j = 0; j < found; j++)
            there |= out[j].row == i;
        assert_true(there);
    }
    bly_rows_free(rows);
    bly_rows_free(queries);
    free(out);
}

/* ---- Estimates ----------------------------------------------------------- */

/* The paper's formulas, -m ln(1 - x/m), for the sizes and, through their sum,
 * for the shared part. */
static void test_estimates(void **state)
{
    const double m = 1024, a = 300, b = 350, c = 120, u = a + b - c;
    bly_overlap_t o;
    (void)state;
    assert_status(bly_similar_estimate(&o, 1024, 300, 350, 120), BLY_OK);
    double x = -m * log(1 - a / m), y = -m * log(1 - b / m);
    double z = -m * log(1 - u / m);
    assert_close(o.a.value, x, 1 / m);
    assert_close(o.b.value, y, 1 / m);
    assert_close(o.either.value, z, 1 / m);
    assert_close(o.both.value, x + y - z, 4 / m);
    assert_close(o.jaccard.value, (x + y - z) / z, 1e-9);
    assert_true(o.jaccard.value < c / u);       /* shared by chance */
    assert_true(o.jaccard.sd > 0);
    assert_status(bly_similar_estimate(&o, 16, 16, 3, 3), BLY_OK);
    assert_true(isinf(o.a.value));
    assert_status(bly_similar_estimate(&o, 16, 0, 0, 0), BLY_OK);
    assert_true(o.a.value == 0 && o.either.value == 0);
}

/* For hashed features, the estimate is right within its deviation, and the
 * plain share of bits is not. */
static void test_estimates_of_features(void **state)
{
    enum { M = 512, OWN = 100, BOTH = 150 };
    uint8_t a[M / 8] = { 0 }, b[M / 8] = { 0 };
    bly_overlap_t o;
    (void)state;
    for (uint64_t i = 0; i < BOTH + 2 * OWN; i++) {
        uint64_t bit = test_random(3, i) % M;
        if (i < BOTH + OWN)
            bits_set(a, bit);
        if (i < BOTH || i >= BOTH + OWN)
            bits_set(b, bit);
    }
    uint64_t c = count_both(a, b, M);
    assert_status(bly_similar_estimate(&o, M, count_both(a, a, M),
                                       count_both(b, b, M), c), BLY_OK);
    assert_true(fabs(o.a.value - (BOTH + OWN)) < TEST_SIGMAS * o.a.sd);
    assert_true(fabs(o.both.value - BOTH) < TEST_SIGMAS * o.both.sd);
    assert_true(fabs(o.jaccard.value - BOTH / (BOTH + 2.0 * OWN))
                < TEST_SIGMAS * o.jaccard.sd);
}

/* ---- Errors -------------------------------------------------------------- */

static void test_refused_estimates(void **state)
{
    bly_overlap_t o;
    (void)state;
    assert_status(bly_similar_estimate(&o, 0, 0, 0, 0), BLY_EPARAM);
    assert_status(bly_similar_estimate(&o, 1, 0, 0, 0), BLY_EPARAM);
    assert_status(bly_similar_estimate(&o, 9, 10, 1, 1), BLY_EPARAM);
    assert_status(bly_similar_estimate(&o, 9, 1, 10, 1), BLY_EPARAM);
    assert_status(bly_similar_estimate(&o, 9, 2, 3, 3), BLY_EPARAM);
    assert_status(bly_similar_estimate(&o, 9, 3, 2, 3), BLY_EPARAM);
    assert_status(bly_similar_estimate(&o, 9, 8, 8, 1), BLY_EPARAM);
    assert_status(bly_similar_estimate(&o, BLY_ROW_BITS_MOST + 1, 8, 8, 1),
                  BLY_EPARAM);
}

static void test_refused_rows(void **state)
{
    const uint8_t row[] = { 0x08 };
    bly_rows *rows = NULL;
    (void)state;
    assert_status(bly_rows_new(&rows, BLY_ROW_BITS_MOST + 1, NULL), BLY_EPARAM);
    assert_status(bly_rows_new(&rows, 0, NULL), BLY_OK);
    assert_status(bly_rows_add(rows, row, "x"), BLY_EPARAM);
    bly_rows_free(rows);
    assert_status(bly_rows_new(&rows, 3, NULL), BLY_OK);
    assert_status(bly_rows_add(rows, row, "x"), BLY_EPARAM);
    assert_int_equal(bly_rows_count(rows), 0);
    assert_status(bly_rows_sort(rows), BLY_OK);
    assert_status(bly_rows_add(rows, "\x01", "x"), BLY_EREADONLY);
    assert_status(bly_rows_add_fps(rows, "#FPS1\n", 6), BLY_EREADONLY);
    bly_rows_free(rows);
}

static void refuse(const bly_rows *rows, const bly_rows *queries, size_t n,
                   bly_similar_spec spec, bly_status wanted)
{
    bly_similar out[4];
    size_t found[4];
    spec.most = spec.most == 99 ? 0 : 1;
    assert_status(bly_similar_find(out, found, rows, queries, 0, n, &spec),
                  wanted);
}

static void test_refused_searches(void **state)
{
    const uint8_t bytes[] = { 0x08, 0x01 };
    bly_rows *rows = rows_of(bytes, 2), *queries = rows_of(bytes, 2);
    bly_rows *others = NULL;
    (void)state;
    refuse(rows, queries, 2, (bly_similar_spec){ .most = 1 }, BLY_EPARAM);
    assert_status(bly_rows_sort(rows), BLY_OK);
    refuse(rows, queries, 2, (bly_similar_spec){ .most = 1 }, BLY_OK);
    refuse(rows, queries, 3, (bly_similar_spec){ .most = 1 }, BLY_EPARAM);
    refuse(rows, queries, 2, (bly_similar_spec){ .most = 99 }, BLY_EPARAM);
    refuse(rows, queries, 2, (bly_similar_spec){ .measure = (bly_measure)9 },
           BLY_EPARAM);
    refuse(rows, queries, 2, (bly_similar_spec){ .least = 1.01 }, BLY_EPARAM);
    refuse(rows, queries, 2, (bly_similar_spec){ .least = -0.1 }, BLY_EPARAM);
    refuse(rows, queries, 2, (bly_similar_spec){ .least = (double)NAN },
           BLY_EPARAM);
    refuse(rows, queries, 2, (bly_similar_spec){ .measure = BLY_TVERSKY,
           .alpha = -1 }, BLY_EPARAM);
    refuse(rows, queries, 2, (bly_similar_spec){ .measure = BLY_TVERSKY,
           .beta = (double)INFINITY }, BLY_EPARAM);
    assert_status(bly_rows_new(&others, 7, NULL), BLY_OK);
    assert_status(bly_rows_add(others, "\x01", "x"), BLY_OK);
    refuse(rows, others, 1, (bly_similar_spec){ .most = 1 }, BLY_EMISMATCH);
    assert_true(isnan(bly_similarity(&(bly_similar_spec){
        .measure = (bly_measure)9 }, 1, 1, 1)));
    bly_rows_free(rows);
    bly_rows_free(queries);
    bly_rows_free(others);
}

/* ---- Memory -------------------------------------------------------------- */

/* Runs everything with limited blocks; the status tells how far it came. */
static bly_status with_blocks(const bly_allocator *from)
{
    bly_rows *rows = NULL;
    bly_similar out[3];
    size_t found = 0;
    bly_similar_spec spec = { .most = 3, .threads = 2 };
    const char text[] = "#FPS1\n#type=t\n81\tone\n";
    bly_status status = bly_rows_new(&rows, 0, from);
    if (status == BLY_OK)
        status = bly_rows_add_fps(rows, text, sizeof text - 1);
    for (unsigned i = 0; status == BLY_OK && i < 600; i++) {
        status = bly_rows_add(rows, "\x01", "a name of some letters");
        assert_int_equal(bly_rows_count(rows), i + (status == BLY_OK ? 2 : 1));
    }
    if (status == BLY_OK)
        status = bly_rows_sort(rows);
    if (status == BLY_OK)
        status = bly_similar_find(out, &found, rows, rows, 0, 1, &spec);
    assert_int_equal(found, status == BLY_OK ? 3 : 0);
    bly_rows_free(rows);
    return status;
}

static void test_memory(void **state)
{
    scarce s = { .left = 0 };
    bly_allocator from = { scarce_allocate, scarce_release, &s };
    bly_status status = BLY_ENOMEM;
    size_t blocks = 0;
    (void)state;
    for (; status != BLY_OK; blocks++) {
        s.left = blocks;
        status = with_blocks(&from);
        assert_true(status == BLY_OK || status == BLY_ENOMEM);
        assert_true(s.held == 0 && s.bytes == 0);
    }
    assert_true(blocks > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_no_bits),
        cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_screening),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_estimates_of_features),
        cmocka_unit_test(test_refused_estimates),
        cmocka_unit_test(test_refused_rows),
        cmocka_unit_test(test_refused_searches),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
