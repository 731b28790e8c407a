/* overlap.c - estimates of the keys that two filters share, compared with the
 * truth for every kind that supports them.
 *
 * For some hundred pairs of filters with known keys and independent hashes,
 * this compares the mean error with 0, and its variance with the mean of the
 * reported variances. All kinds of the registry are covered; `variants` adds
 * options that affect the bits. Errors of a fifth of a deviation fail;
 * tests/maths/shape.c is stricter.
 */
#include "test.h"

enum {
    PAIRS = TEST_SANITIZED ? 60 : 600,
    PAIRS_LEAST = 30,
    CAPACITY = 500,
    KEYS = 1 << 16                      /* in a filter, at most              */
};

/* Tolerance where the mathematics is only first-order: this share of a standard
 * deviation for means, and of itself for a variance. */
#define SLACK 0.1

/* ---- Compared quantities ----------------------------------------------- */

/* Keys only in a, only in b, and in both, in hundredths of the capacity. */
typedef struct {
    const char *name;
    uint64_t a_only, b_only, both;
} layout;

static const layout layouts[] = {
    { "equal",    25, 25, 25 },   { "unequal",  86, 6, 4 },
    { "disjoint", 50, 50, 0 },    { "nested",   60, 0, 20 },
    { "alike",    1, 1, 60 },     { "capacity", 50, 50, 50 },
    { "beyond",   120, 120, 80 }, { "small",    1, 1, 1 },
    { "none",     0, 40, 0 },
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* Variants beside each default kind. Pages are large: to have several, the
 * capacity is multiplied by `times`. */
static const struct { const char *name; uint64_t times; } variants[] = {
    { "standard:k=1", 1 },              { "blocked:k=2", 1 },
    { "standard:m=5000,index=double", 1 }, { "standard:m=5000,index=step", 1 },
    { "blocked:k=16", 1 },              { "blocked", 20 },
    { "counting:bits=2", 1 },           { "variable:l=8", 1 },
    { "deletable:region=64", 1 },       { "compressed:of=partitioned", 1 },
    { "layered:of=standard", 1 },       { "layered:of=split", 1 },
    { "buffered", 20 },                 { "quotient", 20 },
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Planning takes longer than filling, so it is done once. */
typedef struct {
    const char *name;
    uint64_t    capacity;
    bly_filter *empty;
} subject;

/* Adds n keys of a stream from number `from` on; returns false if they do not
 * fit. */
static bool overlap_add(bly_filter *filter, uint64_t stream, uint64_t from,
                        uint64_t n)
{
    static uint64_t hashes[KEYS];
    assert_true(n <= KEYS);
    for (uint64_t i = 0; i < n; i++)
        hashes[i] = test_random(stream, from + i);
    return bly_add_hashes(filter, hashes, n, NULL, NULL) >= 0;
}

static bly_filter *overlap_new(const subject *s)
{
    bly_filter *filter = NULL;
    assert_int_equal(bly_copy(&filter, s->empty, NULL), BLY_OK);
    return filter;
}

static uint64_t overlap_keys(const subject *s, uint64_t hundredths)
{
    return s->capacity * hundredths / 100;
}

/* Compares a pair; returns false if the keys do not fit. */
static bool overlap_pair(const subject *s, const layout *l, uint64_t stream,
                         bly_overlap_t *out)
{
    uint64_t both = overlap_keys(s, l->both);
    uint64_t a_only = overlap_keys(s, l->a_only);
    uint64_t b_only = overlap_keys(s, l->b_only);
    bly_filter *a = overlap_new(s), *b = overlap_new(s);
    bool fits = overlap_add(a, stream, 0, both + a_only)
             && overlap_add(b, stream, 0, both)
             && overlap_add(b, stream, both + a_only, b_only);
    if (fits)
        assert_int_equal(bly_overlap(out, a, b), BLY_OK);
    bly_free(a);
    bly_free(b);
    return fits;
}

/* ---- Mean and variance ------------------------------------------------- */

enum { A, B, EITHER, BOTH, DIFFER, JACCARD, FIELDS };

static const char *const fields[FIELDS] = { "a", "b", "either", "both",
                                            "differ", "jaccard" };

static bly_estimate overlap_field(const bly_overlap_t *o, int i)
{
    const bly_estimate all[FIELDS] = { o->a, o->b, o->either, o->both,
                                       o->differ, o->jaccard };
    return all[i];
}

static double overlap_truth(const subject *s, const layout *l, int i)
{
    double both = (double)overlap_keys(s, l->both);
    double a_only = (double)overlap_keys(s, l->a_only);
    double b_only = (double)overlap_keys(s, l->b_only);
    const double all[FIELDS] = {
        both + a_only, both + b_only, both + a_only + b_only, both,
        a_only + b_only, both / (both + a_only + b_only),
    };
    return all[i];
}

/* Sums of the powers of the errors, and of the reported variances. */
typedef struct { double n, one, two, three, four, told; } errors;

static void errors_add(errors *e, double off, double sd)
{
    e->n++;
    e->one += off;
    e->two += off * off;
    e->three += off * off * off;
    e->four += off * off * off * off;
    e->told += sd * sd;
}

/* Returns the deviation of the measured variance. Rare accidents may not have
 * been seen: each moves the estimate by about `step`. */
static double errors_variance_sd(const errors *e, double told, double step)
{
    double mean = e->one / e->n, two = e->two / e->n;
    double variance = two - mean * mean;
    double fourth = e->four / e->n - 4 * mean * e->three / e->n
                  + 6 * mean * mean * two - 3 * pow(mean, 4);
    double spread = fmax(fourth - variance * variance,
                         fmax(2 * told * told, told * step * step));
    return sqrt(spread / e->n);
}

/* Rounding error for some hundred keys. */
#define ROUNDING 1e-9

static void errors_check(const errors *e, const char *where, const char *field,
                         double step)
{
    double mean = e->one / e->n, told = e->told / e->n;
    double variance = e->two / e->n - mean * mean;
    double mean_band = sqrt(told) * (TEST_SIGMAS / sqrt(e->n) + SLACK);
    double band = TEST_SIGMAS * errors_variance_sd(e, told, step)
                + SLACK * told;
    if (!(fabs(mean) <= mean_band + ROUNDING))
        fail_msg("%s: %s is off by %g of %g in the mean", where, field, mean,
                 sqrt(told));
    if (!(fabs(variance - told) <= band + ROUNDING))
        fail_msg("%s: %s: standard deviation %g is told to be %g", where,
                 field, sqrt(variance), sqrt(told));
}

static void check_layout(const subject *s, const layout *l)
{
    errors sums[FIELDS] = { { 0 } };
    char where[80];
    snprintf(where, sizeof where, "%s %llu, %s", s->name,
             (unsigned long long)s->capacity, l->name);
    uint64_t pairs = test_work(PAIRS, PAIRS / 5, PAIRS_LEAST);
    if (pairs < PAIRS_LEAST)
        pairs = PAIRS_LEAST;
    if (s->capacity > CAPACITY)
        pairs /= 3;
    for (uint64_t i = 0; i < pairs; i++) {
        bly_overlap_t o;
        if (!overlap_pair(s, l, i + 1, &o))
            return;                     /* full, and reported so */
        for (int j = 0; j < FIELDS; j++) {
            bly_estimate got = overlap_field(&o, j);
            errors_add(&sums[j], got.value - overlap_truth(s, l, j), got.sd);
        }
    }
    double either = overlap_truth(s, l, EITHER);
    for (int j = 0; j < FIELDS; j++)
        errors_check(&sums[j], where, fields[j],
                     j == JACCARD ? 1 / either : 1);
}

/* Two filters with the same keys: all are shared, with certainty. */
static void check_equal(const subject *s)
{
    const layout equal = { "the same", 0, 0, 80 };
    bly_overlap_t o;
    assert_true(overlap_pair(s, &equal, 1, &o));
    assert_true(o.a.value == o.both.value && o.b.value == o.both.value);
    assert_true(o.either.value == o.both.value && o.a.sd == o.both.sd);
    assert_true(o.differ.value == 0 && o.differ.sd == 0);
    assert_true(o.jaccard.value == 1 && o.jaccard.sd == 0);
}

/* Two empty filters: nothing, with certainty. */
static void check_empty(const subject *s)
{
    const layout empty = { "empty", 0, 0, 0 };
    bly_overlap_t o;
    assert_true(overlap_pair(s, &empty, 1, &o));
    for (int j = 0; j < FIELDS; j++)
        assert_true(overlap_field(&o, j).value == 0
                    && overlap_field(&o, j).sd == 0);
}

static void check_subject(const char *name, uint64_t capacity)
{
    subject s = { .name = name, .capacity = capacity };
    bly_spec spec = { .capacity = capacity };
    if (bly_new(&s.empty, name, &spec) < 0)
        fail_msg("%s: %s", name, bly_why());
    check_equal(&s);
    check_empty(&s);
    for (int i = 0; i < LAYOUTS; i++)
        check_layout(&s, &layouts[i]);
    bly_free(s.empty);
}

/* ---- Over the registry ------------------------------------------------- */

/* Returns fewer keys for kinds with hundreds of probes per key, whose number
 * rises with the capacity. */
static uint64_t overlap_capacity(const char *name)
{
    bly_spec spec = { .capacity = CAPACITY };
    bly_plan_t plan;
    assert_int_equal(bly_plan(&plan, name, &spec), BLY_OK);
    return plan.probes > 100 ? CAPACITY / 4 : CAPACITY;
}

static void test_kinds(void **state)
{
    (void)state;
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    for (size_t i = 0; i < n; i++)
        if ((~kinds[i]->can & (BLY_CAN_OVERLAP | BLY_CAN_ADD)) == 0)
            check_subject(kinds[i]->name, overlap_capacity(kinds[i]->name));
}

static void test_variants(void **state)
{
    (void)state;
    for (int i = 0; i < VARIANTS; i++)
        check_subject(variants[i].name, CAPACITY * variants[i].times);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_variants),
    };
    return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
