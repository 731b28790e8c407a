/* invertible.c - tests specific to kind `invertible`: how often a table can be
 * listed, the list, subtraction, whole keys, estimates of the difference,
 * hostile cells.
 */
#include "test.h"
#include "bloomery/sketch.h"

#include "image/image.h"

enum { TIMES = TEST_SANITIZED ? 40 : 1 };       /* divisor of trials */

static bly_filter *make(const char *kind, uint64_t capacity)
{
    bly_filter *filter = NULL;
    bly_spec spec = { .capacity = capacity };
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static void fill(bly_filter *filter, uint64_t stream, uint64_t from,
                 uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        assert_true(bly_add_hash(filter, test_random(stream, i)) >= 0);
}

/* A list's results. */
typedef struct {
    uint64_t n, most, theirs;           /* theirs: from the subtracted one   */
    uint64_t hashes, keys;              /* sums that identify sets           */
} told;

static bool tell(void *context, const bly_listed *one)
{
    told *t = context;
    t->n++;
    assert_true(one->side == 1 || one->side == -1);
    t->theirs += one->side < 0;
    t->hashes += one->side > 0 ? one->hash : 3 * one->hash;
    for (size_t i = 0; i < one->length; i++)
        t->keys += ((const uint8_t *)one->key)[i];
    return t->n < t->most;
}

static told list(const bly_filter *filter, bly_status wanted)
{
    told t = { .most = UINT64_MAX };
    assert_status(bly_list_keys(filter, tell, &t), wanted);
    assert_true(wanted == BLY_OK || t.n == 0);
    return t;
}

static bool same_payload(const bly_filter *a, const bly_filter *b)
{
    size_t bytes;
    const uint8_t *x = bly_image(a, &bytes), *y = bly_image(b, NULL);
    return memcmp(x + IMAGE_HEADER, y + IMAGE_HEADER,
                  bytes - IMAGE_HEADER) == 0;
}

/* ---- Listing succeeds -------------------------------------------------- */

/* Counts the tables of d keys, out of `trials`, that cannot be listed. */
static uint64_t failures(const char *kind, uint64_t d, uint64_t trials)
{
    uint64_t failed = 0;
    bly_filter *filter = make(kind, d), *empty = NULL;
    assert_status(bly_copy(&empty, filter, NULL), BLY_OK);
    for (uint64_t i = 0; i < trials; i++) {
        told t = { .most = UINT64_MAX };
        fill(filter, i + 1, 0, d);
        bly_status status = bly_list_keys(filter, tell, &t);
        assert_true(status == BLY_EFULL || t.n == d);
        failed += status == BLY_EFULL;
        assert_status(bly_subtract(filter, filter), BLY_OK);
        assert_true(same_payload(filter, empty));
    }
    bly_free(filter);
    bly_free(empty);
    return failed;
}

/* By the rule, less than one failure in a hundred, for every number of keys. */
static void test_planned_tables_can_be_listed(void **state)
{
    (void)state;
    static const struct { uint64_t d, trials; } rows[] = {
        { 1, 20000 }, { 2, 20000 }, { 5, 20000 }, { 10, 20000 }, { 20, 20000 },
        { 40, 20000 }, { 41, 20000 }, { 100, 10000 }, { 300, 4000 },
        { 999, 2000 }, { 1000, 2000 }, { 3000, 1000 }, { 10000, 300 },
        { 100000, 20 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t fewer = TIMES * test_work(1, 1, 20);
        uint64_t trials = (rows[i].trials + fewer - 1) / fewer;
        uint64_t failed = failures("invertible", rows[i].d, trials);
        bly_filter *filter = make("invertible", rows[i].d);
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        uint64_t cells = stat.geometry[0] * stat.geometry[1];
        print_message("%6llu keys: %6llu cells, %.2f a key: %llu of %llu "
                      "failed, %.2f %%\n", (unsigned long long)rows[i].d,
                      (unsigned long long)cells,
                      (double)cells / (double)rows[i].d,
                      (unsigned long long)failed, (unsigned long long)trials,
                      100 * (double)failed / (double)trials);
        double n = (double)trials;
        assert_true((double)failed <= 0.01 * n + 5 * sqrt(0.01 * n));
        bly_free(filter);
    }
}

/* Compared with published simulations of peeling on random cells at given cells
 * per key: our hashes do as well. */
static void test_chances_are_those_of_random_cells(void **state)
{
    (void)state;
    static const struct { unsigned k; uint64_t d; double factor, success; }
    rows[] = {
        { 3, 10, 1.5, 0.486 }, { 3, 10, 2.0, 0.849 }, { 3, 10, 3.0, 0.952 },
        { 3, 100, 1.3, 0.688 }, { 3, 100, 1.5, 0.945 }, { 3, 100, 2.0, 0.981 },
        { 4, 10, 1.5, 0.537 }, { 4, 10, 2.0, 0.886 }, { 4, 10, 3.0, 0.983 },
        { 4, 50, 1.3, 0.447 }, { 4, 50, 1.5, 0.935 }, { 4, 100, 1.3, 0.338 },
        { 4, 100, 1.4, 0.828 }, { 4, 1000, 1.3, 0.410 },
    };
    const double theirs = 1000;         /* about as many trials */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char kind[64];
        uint64_t trials = 2000 / TIMES, k = rows[i].k;
        uint64_t w = (uint64_t)ceil((double)rows[i].d * rows[i].factor
                                    / (double)k - 1e-9);
        snprintf(kind, sizeof kind, "invertible:m=%llu,k=%u",
                 (unsigned long long)(k * w), rows[i].k);
        double p = rows[i].success;
        assert_within(trials - failures(kind, rows[i].d, trials), trials, p,
                      sqrt(p * (1 - p) / theirs));
    }
}

/* ---- The list ---------------------------------------------------------- */

/* A million keys on each side, ten of them different. */
static void test_the_difference_is_exact(void **state)
{
    (void)state;
    enum { N = TEST_SANITIZED ? 50000 : 1000000 };
    bly_filter *a = make("invertible", 10), *b = NULL;
    assert_status(bly_like(&b, a, NULL), BLY_OK);
    fill(a, 1, 0, N + 4);
    fill(b, 1, 0, N);
    fill(b, 2, 0, 6);
    assert_status(bly_subtract(a, b), BLY_OK);
    told t = list(a, BLY_OK), none = list(b, BLY_EFULL);
    assert_true(t.n == 10 && t.theirs == 6 && none.n == 0);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 4; i++)
        sum += test_random(1, N + i);
    for (uint64_t i = 0; i < 6; i++)
        sum += 3 * test_random(2, i);
    assert_true(t.hashes == sum);
    for (uint64_t i = 0; i < 6; i++)    /* whichever side it is from */
        assert_true(bly_contains_hash(a, test_random(2, i)));
    t = (told){ .most = 3 };
    assert_status(bly_list_keys(a, tell, &t), BLY_OK);
    assert_int_equal(t.n, 3);           /* stopped by the visitor */
    bly_info_t stat;
    assert_status(bly_info(&stat, a), BLY_OK);
    assert_false(stat.items_exact);
    bly_free(a);
    bly_free(b);
}

static uint64_t items(const bly_filter *filter)
{
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.items_exact);
    return stat.items;
}

/* Keys that went in come out and leave no trace; union and difference are
 * inverses; A - A is empty. */
static void test_algebra(void **state)
{
    (void)state;
    bly_filter *a = make("invertible", 300), *b = NULL, *was = NULL;
    assert_status(bly_like(&b, a, NULL), BLY_OK);
    fill(a, 1, 0, 5000);
    fill(b, 2, 0, 700);
    assert_status(bly_copy(&was, a, NULL), BLY_OK);
    assert_status(bly_unite(a, b), BLY_OK);
    assert_int_equal(items(a), 5700);
    assert_false(same_payload(a, was));
    assert_status(bly_subtract(a, b), BLY_OK);
    assert_true(same_payload(a, was));
    fill(a, 3, 0, 900);
    for (uint64_t i = 0; i < 900; i++)
        assert_status(bly_remove_hash(a, test_random(3, 899 - i)), BLY_OK);
    assert_true(same_payload(a, was));
    assert_status(bly_subtract(a, was), BLY_OK);
    assert_int_equal(list(a, BLY_OK).n, 0);
    assert_false(bly_contains_hash(a, test_random(1, 0)));
    bly_free(a);
    bly_free(b);
    bly_free(was);
}

/* The count may be 0 although there are keys, whose form is not known. */
static void test_a_count_of_0_is_not_empty(void **state)
{
    (void)state;
    bly_filter *a = make("invertible:m=30,k=3", 20), *stated = NULL;
    assert_status(bly_like(&stated, a, NULL), BLY_OK);
    fill(stated, 1, 0, 5);
    assert_status(bly_form_set(stated, BLY_KEYS_TEXT), BLY_OK);
    fill(a, 2, 0, 300);
    for (uint64_t i = 0; i < 300; i++)  /* found, since all cells are full   */
        assert_status(bly_remove_hash(a, test_random(3, i)), BLY_OK);
    assert_int_equal(items(a), 0);
    assert_status(bly_unite(a, stated), BLY_EMISMATCH);
    assert_status(bly_subtract(stated, a), BLY_EMISMATCH);
    fill(a, 3, 0, 300);
    for (uint64_t i = 0; i < 300; i++)
        assert_status(bly_remove_hash(a, test_random(2, i)), BLY_OK);
    assert_int_equal(items(a), 0);
    assert_status(bly_subtract(a, stated), BLY_OK);
    assert_int_equal(bly_form_of(a), BLY_KEYS_TEXT);
    assert_int_equal(list(a, BLY_OK).theirs, 5);
    bly_free(a);
    bly_free(stated);
}

/* A key added twice is contained, but cannot be listed. */
static void test_repeats_are_not_listed(void **state)
{
    (void)state;
    bly_filter *a = make("invertible", 20);
    fill(a, 1, 0, 10);
    assert_int_equal(list(a, BLY_OK).n, 10);
    assert_status(bly_add_hash(a, test_random(1, 3)), BLY_SEEN);
    list(a, BLY_EFULL);
    assert_non_null(strstr(bly_why(), "make it for 40"));
    assert_status(bly_remove_hash(a, test_random(1, 3)), BLY_OK);
    assert_int_equal(list(a, BLY_OK).n, 10);
    bly_free(a);
}

/* ---- Keys carried whole ------------------------------------------------ */

static void test_whole_keys(void **state)
{
    (void)state;
    char text[300];
    bly_filter *a = make("invertible:key=12", 30), *b = NULL;
    assert_status(bly_like(&b, a, NULL), BLY_OK);
    uint64_t sum = 0;
    for (unsigned i = 0; i < 2000; i++) {
        int n = snprintf(text, sizeof text, "key %u", i);
        assert_true(bly_add(a, text, (size_t)n) >= 0);
        bly_key key = { text, (size_t)n };
        if (i % 100 != 7)
            assert_status(
                bly_add_many(b, &(bly_keys){.n = 1, .keys = &key}, NULL, NULL),
                BLY_OK);
        for (int j = 0; j < n && i % 100 == 7; j++)
            sum += (uint8_t)text[j];
    }
    assert_true(bly_add(b, NULL, 0) >= 0);      /* the empty key is one */
    assert_status(bly_subtract(a, b), BLY_OK);
    told t = list(a, BLY_OK);
    assert_true(t.n == 21 && t.theirs == 1 && t.keys == sum);
    assert_true(bly_contains(a, "key 107", 7));
    assert_status(bly_remove(a, "key 107", 7), BLY_OK);
    assert_int_equal(list(a, BLY_OK).n, 20);
    bly_free(a);
    bly_free(b);
}

/* Hashes alone, or keys that are too long, are refused; nothing changes. */
static void test_whole_keys_are_needed(void **state)
{
    (void)state;
    bly_filter *a = make("invertible:key=4", 30), *none = NULL, *was = NULL;
    uint64_t hash = 1;
    bool seen = true;
    bly_key keys[] = { { "b", 1 }, { "abcde", 5 }, { "c", 1 } };
    assert_status(bly_add(a, "abcd", 4), BLY_OK);
    assert_status(bly_copy(&was, a, NULL), BLY_OK);
    assert_status(bly_add(a, "abcde", 5), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "key=5"));
    assert_status(bly_add_hash(a, hash), BLY_EUNSUPPORTED);
    assert_status(bly_add_hashes(a, &hash, 1, NULL, NULL), BLY_EUNSUPPORTED);
    assert_status(bly_add_hashes(a, &hash, 1, &seen, NULL), BLY_EUNSUPPORTED);
    assert_status(bly_remove_hash(a, hash), BLY_EUNSUPPORTED);
    bly_status each[3] = { BLY_EIO };
    assert_status(bly_remove_hashes(a, &hash, 1, each), BLY_EUNSUPPORTED);
    assert_status(bly_remove_hashes(a, &hash, 1, NULL), BLY_EUNSUPPORTED);
    assert_int_equal(each[0], BLY_EIO);         /* untouched */
    assert_true(seen);
    assert_status(bly_remove(a, "abcde", 5), BLY_EABSENT);
    assert_true(same_payload(a, was));
    assert_status(
        bly_add_many(a, &(bly_keys){.n = 3, .keys = keys}, NULL, NULL),
        BLY_EPARAM);
    assert_int_equal(list(a, BLY_OK).n, 2);     /* those before it are in */
    assert_status(bly_remove_many(a, &(bly_keys){.n = 3, .keys = keys}, each),
                  BLY_EABSENT);
    assert_true(each[0] == BLY_OK && each[2] == BLY_EABSENT);
    assert_true(same_payload(a, was));
    bly_spec spec = { .capacity = 10 };
    assert_status(bly_build(&none, "invertible:key=4", &spec,
                            &(bly_keys){ .n = 1, .hashes = &hash }),
                  BLY_EUNSUPPORTED);
    assert_status(bly_new(&none, "invertible:k=3", &spec), BLY_EPARAM);
    assert_status(bly_new(&none, "invertible:key=256", &spec), BLY_EOPTION);
    assert_null(none);
    bly_free(a);
    bly_free(was);
}

/* ---- Estimates --------------------------------------------------------- */

/* Measures the estimate's mean and root mean square error with `common` keys in
 * both, `a` and `b` in one. */
static void estimate(uint64_t common, uint64_t in_a, uint64_t in_b,
                     const char *kind)
{
    enum { RUNS = 60 };
    double d = (double)(in_a + in_b), mean = 0, square = 0, told_sd = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        bly_filter *a = make(kind, 0), *b = NULL;
        bly_info_t stat;
        assert_status(bly_like(&b, a, NULL), BLY_OK);
        fill(a, 3 * run, 0, common);
        fill(b, 3 * run, 0, common);
        fill(a, 3 * run + 1, 0, in_a);
        fill(b, 3 * run + 2, 0, in_b);
        assert_status(bly_subtract(a, b), BLY_OK);
        assert_status(bly_info(&stat, a), BLY_OK);
        mean += stat.distinct / RUNS;
        square += (stat.distinct - d) * (stat.distinct - d) / RUNS;
        told_sd += stat.distinct_sd / RUNS;
        bly_free(a);
        bly_free(b);
    }
    print_message("%s, %.0f keys differ: %.1f, error %.1f (told: %.1f)\n",
                  kind, d, mean, sqrt(square), told_sd);
    assert_true(fabs(mean - d) <= 5 * told_sd / sqrt(RUNS) + 1e-9);
    /* the error of a deviation from RUNS runs is one in sqrt(2 RUNS) */
    assert_true(sqrt(square) <= told_sd * (1 + 5 / sqrt(2.0 * RUNS)) + 1e-9);
    assert_true(told_sd < 0.4 * d || d == 0);
}

static void test_estimates(void **state)
{
    (void)state;
    estimate(1900, 50, 50, "invertible:m=16000,k=4");
    estimate(1800, 200, 200, "invertible:m=16000,k=4");
    estimate(1000, 1000, 1000, "invertible:m=16000,k=4");
    estimate(1400, 600, 100, "invertible:m=16000,k=4");
    estimate(1800, 200, 200, "invertible:m=2000,k=4");
    estimate(1800, 200, 200, "invertible:m=2000,k=1");
    estimate(100, 5000, 5000, "invertible:m=200,k=4");  /* far overfull */
    estimate(100, 9000, 1000, "invertible:m=200,k=3");
    estimate(2000, 0, 0, "invertible:m=30,k=5");
}

/* With one cell per row, only the difference in the number of keys is known. */
static void test_one_cell_a_row(void **state)
{
    (void)state;
    bly_info_t stat;
    bly_filter *filter = make("invertible:m=3,k=3", 0);
    fill(filter, 1, 0, 5);
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.distinct == 5 && stat.distinct_sd == 5);
    bly_free(filter);
}

/* ---- Limits and hostile cells ------------------------------------------ */

/* A count that would exceed 2^31 - 1 is refused, and nothing changes. */
static void test_counts_end(void **state)
{
    (void)state;
    bly_filter *a = make("invertible", 3), *was = NULL;
    fill(a, 1, 0, 1);
    for (unsigned i = 0; i < 30; i++)
        assert_status(bly_unite(a, a), BLY_OK);
    assert_status(bly_copy(&was, a, NULL), BLY_OK);
    assert_status(bly_unite(a, a), BLY_EFULL);
    assert_true(same_payload(a, was));
    bly_filter *rest = NULL;
    assert_status(bly_like(&rest, a, NULL), BLY_OK);
    assert_status(bly_subtract(rest, a), BLY_OK);
    assert_status(bly_subtract(rest, a), BLY_EFULL);
    assert_status(bly_unite(rest, a), BLY_OK);
    assert_int_equal(list(rest, BLY_OK).n, 0);
    assert_status(bly_unite(rest, a), BLY_OK);
    bly_filter *one = NULL;
    assert_status(bly_like(&one, a, NULL), BLY_OK);
    for (uint64_t i = 0; i < (UINT64_C(1) << 30) - 1; i = 2 * i + 1) {
        assert_status(bly_unite(one, one), BLY_OK);     /* 2^j - 1 times */
        fill(one, 1, 0, 1);
    }
    assert_status(bly_unite(a, one), BLY_OK);
    bly_free(was);
    assert_status(bly_copy(&was, a, NULL), BLY_OK);
    assert_status(bly_add_hash(a, test_random(1, 0)), BLY_EFULL);
    assert_true(same_payload(a, was));
    bly_free(a);
    bly_free(was);
    bly_free(rest);
    bly_free(one);
}

/* Lets *left more allocations succeed. */
static void *allocate(void *left, size_t alignment, size_t bytes)
{
    void *memory = NULL;
    return (*(unsigned *)left)-- > 0
        && posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void release(void *left, void *memory, size_t bytes)
{
    (void)left, (void)bytes;
    free(memory);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    unsigned left = 2;
    bly_allocator allocator = { allocate, release, &left };
    bly_spec spec = { .capacity = 10, .allocator = &allocator };
    bly_filter *a = NULL, *like = NULL;
    assert_status(bly_new(&a, "invertible", &spec), BLY_OK);
    fill(a, 1, 0, 10);
    left = 0;
    list(a, BLY_ENOMEM);
    left = 1;
    assert_int_equal(list(a, BLY_OK).n, 10);
    bly_options options = { .allocator = &allocator };
    for (unsigned i = 0; i < 2; i++) {
        left = i;
        assert_status(bly_like(&like, a, &options), BLY_ENOMEM);
        assert_null(like);
    }
    bly_free(a);
}

/* Arbitrary cells: every verb ends within its bytes (the sanitizers watch).
 * Many cells look pure, with keys that were never added. */
static void test_hostile_cells(void **state)
{
    (void)state;
    static const char *const kinds[] = { "invertible", "invertible:key=9" };
    for (uint64_t run = 0; run < 400; run++) {
        bly_filter *a = make(kinds[run & 1], 50), *forged = NULL;
        for (uint64_t i = 0; i < run; i++) {
            uint64_t key = test_random(run, i);
            assert_true(bly_add(a, &key, i % 9) >= 0);
        }
        size_t bytes;
        uint8_t *image = (uint8_t *)(uintptr_t)bly_image(a, &bytes);
        for (uint64_t i = 0; i < 1 + run / 4; i++) {
            uint64_t r = test_random(run + 1000, i);
            size_t at = IMAGE_HEADER + r % (bytes - IMAGE_HEADER);
            size_t from = IMAGE_HEADER + (r >> 20) % (bytes - IMAGE_HEADER);
            if (r >> 62)
                image[at] = (uint8_t)(r >> 32);
            else                        /* copy a run of cells */
                memmove(image + at, image + from,
                        (bytes - (at > from ? at : from)) / 2);
        }
        image_seal(image);
        assert_status(bly_unpack(&forged, image, bytes, NULL), BLY_OK);
        told t = { .most = UINT64_MAX };
        bly_status status = bly_list_keys(forged, tell, &t);
        assert_true(status == BLY_OK || status == BLY_EFULL);
        bly_info_t stat;
        assert_status(bly_info(&stat, forged), BLY_OK);
        assert_true(stat.distinct >= 0 && stat.rate >= 0 && stat.rate <= 1);
        bly_subtract(forged, a);
        bly_unite(forged, forged);
        bly_list_keys(forged, tell, &t);
        bly_free(forged);
        bly_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planned_tables_can_be_listed),
        cmocka_unit_test(test_chances_are_those_of_random_cells),
        cmocka_unit_test(test_the_difference_is_exact),
        cmocka_unit_test(test_algebra),
        cmocka_unit_test(test_a_count_of_0_is_not_empty),
        cmocka_unit_test(test_repeats_are_not_listed),
        cmocka_unit_test(test_whole_keys),
        cmocka_unit_test(test_whole_keys_are_needed),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_one_cell_a_row),
        cmocka_unit_test(test_counts_end),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_hostile_cells),
    };
    return cmocka_run_group_tests_name("invertible", tests, NULL, NULL);
}
