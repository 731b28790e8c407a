/* egh.c - tests specific to kind `egh`: no false positive up to the planned
 * number of keys, for every possible set of a small universe; published sizes;
 * integers only.
 */
#include "test.h"
#include "bloomery/sketch.h"

#include "verbs/registry.h"

enum { ROOM = 1024 };                   /* of a small image */

static bly_filter *egh_make(const char *kind, uint64_t capacity)
{
    bly_spec spec = { .capacity = capacity };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static bly_plan_t egh_planned(const char *options, uint64_t universe,
                              uint64_t capacity)
{
    bly_spec spec = { .capacity = capacity };
    bly_plan_t plan;
    char kind[96];
    snprintf(kind, sizeof kind, "egh:universe=%llu%s",
             (unsigned long long)universe, options);
    assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
    assert_true(plan.rate == 0 && plan.rate_sd == 0);
    return plan;
}

static bly_info_t egh_look(const bly_filter *filter)
{
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    return stat;
}

/* ---- Sizes ------------------------------------------------------------- */

/* Number of primes and their sum, computed independently with big integers, for
 * products of at least U^n. */
static void test_published_sizes(void **state)
{
    (void)state;
    static const uint64_t keys[] = { 1, 2, 3, 5, 10, 20, 50, 100 };
    static const struct { uint64_t universe, k[8], m[8]; } rows[] = {
        { 100, { 4, 6, 8, 11, 17 }, { 17, 41, 77, 160, 440 } },
        { 1000, { 5, 8, 10, 14, 22, 37 }, { 28, 77, 129, 281, 791, 2584 } },
        { 10000, { 6, 9, 12, 17, 27, 46, 93 },
          { 41, 100, 197, 440, 1264, 4227, 20546 } },
        { 65536, { 7, 10, 13, 19, 31, 53, 108, 190 },
          { 58, 129, 238, 568, 1720, 5830, 28697, 99685 } },
        { 1000000, { 8, 12, 16, 22, 37, 62, 129, 228 },
          { 77, 197, 381, 791, 2584, 8275, 42468, 148827 } },
        { UINT64_C(1) << 24, { 9, 13, 18, 25, 42, 72, 150, 267 },
          { 100, 238, 501, 1060, 3447, 11599, 59269, 210094 } },
        { UINT64_C(1) << 32, { 10, 16, 22, 31, 53, 90, 190, 340 },
          { 129, 381, 791, 1720, 5830, 19113, 99685, 356389 } },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t i = 0; i < 8; i++) {
            uint64_t universe = rows[r].universe;
            bly_plan_t plan = egh_planned(",moduli=primes", universe, keys[i]);
            bool row = rows[r].m[i] == 0 || rows[r].m[i] >= universe;
            uint64_t k = row ? 1 : rows[r].k[i];
            uint64_t m = row ? universe : rows[r].m[i];
            assert_int_equal(plan.geometry[1], k);
            assert_int_equal(plan.geometry[2], m);
            assert_int_equal(plan.bytes, 128 + 8 + 16 * k + (m + 7) / 8);
            plan = egh_planned("", universe, keys[i]);
            assert_true(plan.geometry[2] <= m && plan.geometry[1] <= k);
        }
    assert_int_equal(egh_planned("", 1000000, 10).geometry[2], 2350);
}

static void test_limits(void **state)
{
    (void)state;
    bly_plan_t plan = egh_planned("", UINT64_C(1) << 32, 5000);
    assert_true(plan.probes == 1 && plan.geometry[2] == UINT64_C(1) << 32);
    bly_spec spec = { .capacity = 2000 };
    assert_status(bly_plan(&plan, "egh", &spec), BLY_ETOOBIG);
    assert_non_null(strstr(bly_why(), "8192 moduli"));
    spec.capacity = 5000;
    assert_status(bly_plan(&plan, "egh:universe=1000000000000", &spec),
                  BLY_ETOOBIG);
    assert_status(bly_plan(&plan, "egh:universe=1", &spec), BLY_EOPTION);
    assert_status(bly_plan(&plan, "egh:universe=18446744073709551615", &spec),
                  BLY_EOPTION);
    spec.capacity = 1;
    assert_status(bly_plan(&plan, "egh:universe=18446744073709551614", &spec),
                  BLY_OK);
}

/* ---- Every set of a small universe ------------------------------------- */

/* Forges an image with the first k primes, whether or not they suffice. */
static void egh_forge(uint8_t image[ROOM], uint64_t universe, size_t k)
{
    static const uint64_t primes[] = { 2, 3, 5, 7, 11, 13 };
    uint64_t m = 0, entry = 128 + 8;
    bly_filter *filter = egh_make("egh:universe=100,moduli=primes", 2);
    memset(image, 0, ROOM);
    memcpy(image, bly_image(filter, NULL), 128);
    bly_free(filter);
    for (size_t i = k; i-- > 0; entry += 16) {
        image_set_u64(image, (size_t)entry, primes[i]);
        image_set_u64(image, (size_t)entry + 8, UINT64_MAX / primes[i]);
        m += primes[i];
    }
    image_set_u64(image, IMAGE_GEOMETRY, universe);
    image_set_u64(image, IMAGE_GEOMETRY + 8, k);
    image_set_u64(image, IMAGE_GEOMETRY + 16, m);
    image_set_u64(image, IMAGE_BYTES, entry + (m + 7) / 8);
    image_seal(image);
    assert_status(bly_check(image, (size_t)(entry + (m + 7) / 8), NULL),
                  BLY_OK);
}

/* Counts false positives over all sets of `size` integers. */
static uint64_t egh_false(uint64_t universe, size_t k, unsigned size)
{
    uint8_t empty[ROOM], image[ROOM];
    uint64_t hits = 0, x[3], third = size == 3 ? universe : 1;
    egh_forge(empty, universe, k);
    for (x[0] = 0; x[0] < universe; x[0]++)
        for (x[1] = x[0] + 1; x[1] < universe; x[1]++)
            for (x[2] = size == 3 ? x[1] + 1 : 0; x[2] < third; x[2]++) {
                memcpy(image, empty, ROOM);
                for (unsigned i = 0; i < size; i++)
                    assert_true(bly_kind_egh.add(image, x[i]) >= 0);
                for (unsigned i = 0; i < size; i++)
                    assert_true(bly_kind_egh.contains(image, x[i]));
                for (uint64_t z = 0; z < universe; z++)
                    hits += bly_kind_egh.contains(image, z);
                hits -= size;
            }
    return hits;
}

/* Counts from the catalogue. */
static void test_all_pairs_and_triples(void **state)
{
    (void)state;
    assert_int_equal(egh_false(100, 6, 2), 0);
    assert_int_equal(egh_false(100, 5, 2), 430);
    assert_int_equal(egh_false(100, 4, 2), 11626);
    assert_int_equal(egh_false(100, 3, 2), 65210);
    assert_int_equal(egh_false(30, 6, 3), 0);
    assert_int_equal(egh_false(30, 5, 3), 200);
    assert_int_equal(egh_false(30, 4, 3), 5260);
    assert_int_equal(egh_false(30, 3, 3), 26370);
    assert_int_equal(egh_false(30, 2, 3), 65370);
}

/* Planned filters with either choice of moduli: all pairs. */
static void test_all_pairs_as_planned(void **state)
{
    (void)state;
    static const char *const kinds[] = { "egh:universe=90",
                                         "egh:universe=90,moduli=primes" };
    uint8_t image[ROOM];
    for (size_t i = 0; i < 2; i++) {
        bly_filter *filter = egh_make(kinds[i], 2);
        size_t bytes;
        const void *empty = bly_image(filter, &bytes);
        for (uint64_t a = 0; a < 90; a++)
            for (uint64_t b = 0; b < a; b++) {
                memcpy(image, empty, bytes);
                assert_status(bly_kind_egh.add(image, a), BLY_OK);
                assert_status(bly_kind_egh.add(image, b), BLY_OK);
                for (uint64_t z = 0; z < 90; z++)
                    assert_int_equal(bly_kind_egh.contains(image, z),
                                     z == a || z == b);
            }
        bly_free(filter);
    }
}

/* ---- Large universes --------------------------------------------------- */

/* A full filter, queried for a million strangers and for all integers congruent
 * to keys modulo many moduli. */
static void egh_exact_for(const char *kind, uint64_t n, uint64_t mask)
{
    bly_filter *filter = egh_make(kind, n);
    for (uint64_t i = 0; i < n; i++)
        assert_status(bly_add_hash(filter, test_random(1, i) & mask), BLY_OK);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x = test_random(1, i) & mask, step = 1;
        assert_status(bly_add_hash(filter, x), BLY_SEEN);
        for (uint64_t p = 2; step < mask / 60 / p; p++) {
            step *= p;
            assert_false(bly_contains_hash(filter, (x ^ step) & mask));
            assert_false(bly_contains_hash(filter, (x + step) & mask));
        }
    }
    for (uint64_t i = 0; i < 1000000; i++)
        assert_false(bly_contains_hash(filter, test_random(2, i) & mask));
    bly_info_t stat = egh_look(filter);
    assert_true(stat.distinct == (double)n && stat.distinct_sd == 0);
    assert_true(stat.items == 2 * n && stat.rate <= stat.planned_rate);
    bly_free(filter);
}

static void test_large_universes(void **state)
{
    (void)state;
    egh_exact_for("egh:universe=4294967296", 5, UINT32_MAX);
    egh_exact_for("egh:universe=4294967296,moduli=primes", 20, UINT32_MAX);
    egh_exact_for("egh", 40, UINT64_MAX);
}

/* ---- More keys than planned -------------------------------------------- */

static double egh_formula(const bly_info_t *stat, double n)
{
    static const double primes[] = {
        2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67,
        71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131, 137, 139,
        149, 151, 157,
    };
    double rate = 1;
    assert_int_equal(stat->probes, sizeof primes / sizeof *primes);
    for (size_t i = 0; i < stat->probes; i++)
        rate *= -expm1(n * log1p(-1 / primes[i]));
    return rate;
}

/* U = 10^6, primes for 10 keys: the rate at 20, …, 100 keys, on average and
 * measured. */
static void test_overfull(void **state)
{
    (void)state;
    enum { ASKED = 20000 };
    const uint64_t filters = test_work(400, 400, 60);
    for (uint64_t n = 20; n <= 100; n += 40) {
        double sum = 0, squares = 0, formula = 0;
        uint64_t hits = 0;
        for (uint64_t f = 0; f < filters; f++) {
            bly_filter *filter = egh_make(
                "egh:universe=1000000,moduli=primes", 10);
            for (uint64_t i = 0; i < n; i++)
                bly_add_hash(filter, test_random(f, i) % 1000000);
            for (uint64_t i = 0; i < n; i++)
                assert_true(bly_contains_hash(filter,
                                              test_random(f, i) % 1000000));
            for (uint64_t i = 0; i < ASKED; i++)
                hits += bly_contains_hash(filter, test_random(f, n + i)
                                                  % 1000000);
            bly_info_t stat = egh_look(filter);
            formula = egh_formula(&stat, (double)n);
            assert_true(stat.rate > 0 && stat.planned_rate == 0);
            assert_true(fabs(stat.distinct - (double)n)
                        <= 5 * stat.distinct_sd + 1);
            sum += stat.rate;
            squares += stat.rate * stat.rate;
            bly_free(filter);
        }
        double mean = sum / (double)filters;
        double sd = sqrt((squares / (double)filters - mean * mean)
                         / (double)filters);
        assert_true(fabs(mean - formula) <= 5 * sd);
        /* strangers, and members drawn among them */
        double members = (double)n / 1000000;
        assert_within(hits, (double)filters * ASKED, mean + members, sd);
    }
}

static void test_bit_for_each_integer(void **state)
{
    (void)state;
    bly_filter *filter = egh_make("egh:universe=1000", 50);
    bly_info_t stat = egh_look(filter);
    assert_true(stat.probes == 1 && stat.geometry[2] == 1000);
    for (uint64_t i = 0; i < 1000; i += 3)
        assert_status(bly_add_hash(filter, i), BLY_OK);
    for (uint64_t i = 0; i < 3000; i++)
        assert_int_equal(bly_contains_hash(filter, i), i < 1000 && i % 3 == 0);
    stat = egh_look(filter);
    assert_true(stat.rate == 0 && stat.distinct == 334
                && stat.distinct_sd == 0);
    for (uint64_t i = 0; i < 1000; i++)
        bly_add_hash(filter, i);
    stat = egh_look(filter);
    assert_true(stat.rate == 0 && stat.distinct == 1000);
    bly_free(filter);
}

/* ---- Integers only ----------------------------------------------------- */

static void test_outside_is_refused(void **state)
{
    (void)state;
    bly_filter *filter = egh_make("egh:universe=1000000", 10), *before = NULL;
    static const char *const none[] = { "1000000", "-1", "", "1e3", "x",
                                        "18446744073709551615" };
    assert_string_equal(egh_look(filter).hash, "decimal");
    assert_status(bly_add(filter, "999999", 6), BLY_OK);
    assert_status(bly_add(filter, "0999999", 7), BLY_SEEN);
    assert_true(bly_contains_hash(filter, 999999));
    assert_status(bly_copy(&before, filter, NULL), BLY_OK);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_status(bly_add(filter, none[i], strlen(none[i])), BLY_EPARAM);
        assert_false(bly_contains(filter, none[i], strlen(none[i])));
    }
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    assert_memory_equal(image, bly_image(before, NULL), bytes);

    const uint64_t batch[] = { 5, 6, 1000000, 7 };
    bool seen[4];
    assert_status(bly_add_hashes(filter, batch, 4, NULL, NULL), BLY_EPARAM);
    assert_status(bly_add_hashes(filter, batch, 4, seen, NULL), BLY_EPARAM);
    assert_true(seen[0] && seen[1]);
    assert_true(bly_contains_hash(filter, 6) && !bly_contains_hash(filter, 7));
    bly_info_t stat = egh_look(filter);
    assert_true(stat.items == 6 && stat.distinct == 3);
    bly_free(filter);
    bly_free(before);
}

static void test_hash_functions(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 10, .hash = "xxh3" };
    bly_filter *filter = NULL;
    bly_plan_t plan;
    assert_status(bly_plan(&plan, "egh:universe=1000", &spec), BLY_EHASH);
    assert_status(bly_new(&filter, "egh:universe=1000", &spec), BLY_EHASH);
    assert_status(bly_build(&filter, "egh:universe=1000", &spec,
                            &(bly_keys){ 0 }),
                  BLY_EHASH);
    assert_non_null(strstr(bly_why(), "decimal or identity"));
    assert_status(bly_plan(&plan, "egh", &spec), BLY_OK);
    assert_close(plan.rate, 10 * 0x1p-64, 1e-6);    /* two keys, one hash */
    spec.hash = "decimal";
    assert_status(bly_plan(&plan, "egh", &spec), BLY_OK);
    assert_true(plan.rate == 0);
    spec.hash = "identity";
    assert_status(bly_new(&filter, "egh:universe=1000000", &spec), BLY_OK);
    assert_status(bly_add(filter, "\x3f\x42\x0f", 3), BLY_OK);
    assert_true(bly_contains_hash(filter, 999999));
    assert_status(bly_add(filter, "\x40\x42\x0f", 3), BLY_EPARAM);
    bly_free(filter);
    spec.hash = NULL;
    assert_status(bly_new(&filter, "egh", &spec), BLY_OK);
    assert_string_equal(egh_look(filter).hash, "xxh3");
    bly_free(filter);
}

/* ---- Union ------------------------------------------------------------- */

static void egh_add_from(bly_filter *filter, uint64_t first, uint64_t n)
{
    for (uint64_t i = first; i < first + n; i++)
        assert_true(bly_add_hash(filter, i * 1000) >= 0);
}

/* The guarantee holds for the union of all parts, and counts recognise
 * subsets. */
static void test_union_keeps_the_promise(void **state)
{
    (void)state;
    bly_filter *part[3];
    for (uint64_t i = 0; i < 3; i++)
        egh_add_from(part[i] = egh_make("egh:universe=1000000", 12),
                     4 * i, 4);
    assert_status(bly_unite(part[0], part[1]), BLY_OK);
    assert_status(bly_unite(part[0], part[1]), BLY_OK);     /* nothing new */
    assert_status(bly_unite(part[0], part[0]), BLY_OK);
    assert_status(bly_unite(part[1], part[0]), BLY_OK);     /* contains both */
    assert_status(bly_unite(part[0], part[2]), BLY_OK);
    for (uint64_t x = 0; x < 1000000; x++)
        assert_int_equal(bly_contains_hash(part[0], x),
                         x % 1000 == 0 && x < 12000);
    bly_info_t stat = egh_look(part[0]);
    assert_true(stat.rate == 0 && !stat.items_exact && stat.distinct <= 12);
    assert_status(bly_add_hash(part[0], 77), BLY_OK);
    assert_true(egh_look(part[0]).rate > 0);
    for (size_t i = 0; i < 3; i++)
        bly_free(part[i]);
}

/* Random keys: 60 and 60, 30 of them shared. */
static void test_overlap(void **state)
{
    (void)state;
    bly_filter *a = egh_make("egh:universe=4294967296", 100);
    bly_filter *b = egh_make("egh:universe=4294967296", 100);
    for (uint64_t i = 0; i < 90; i++) {
        if (i < 60)
            bly_add_hash(a, test_random(1, i) >> 32);
        if (i >= 30)
            bly_add_hash(b, test_random(1, i) >> 32);
    }
    bly_overlap_t o;
    assert_status(bly_overlap(&o, a, b), BLY_OK);
    assert_true(fabs(o.a.value - 60) <= 5 * o.a.sd + 0.1);
    assert_true(fabs(o.either.value - 90) <= 5 * o.either.sd + 0.1);
    assert_true(fabs(o.both.value - 30) <= 5 * o.both.sd + 0.1);
    assert_true(fabs(o.jaccard.value - 30.0 / 90) <= 5 * o.jaccard.sd + 0.01);
    assert_true(o.both.sd > 0 && o.both.sd < 2);
    bly_free(a);
    bly_free(b);
}

/* ---- Listing ------------------------------------------------------------ */

enum { LISTED = 512 };

typedef struct {
    uint64_t key[LISTED];
    size_t   n;
} egh_keys_listed;

static bool egh_visit(void *context, const bly_listed *one)
{
    egh_keys_listed *all = context;
    assert_true(one->side == 1 && one->key == NULL && one->length == 0);
    assert_true(all->n < LISTED);
    all->key[all->n++] = one->hash;
    return true;
}

static bool egh_visit_two(void *context, const bly_listed *one)
{
    (void)one;
    return ++*(size_t *)context < 2;
}

/* The filter lists exactly these keys. */
static void egh_lists(const bly_filter *filter, const uint64_t *keys, size_t n)
{
    egh_keys_listed all = { .n = 0 };
    assert_status(bly_list_keys(filter, egh_visit, &all), BLY_OK);
    assert_int_equal(all.n, n);
    for (size_t i = 0; i < n; i++) {
        size_t found = 0;
        for (size_t j = 0; j < n; j++)
            found += all.key[j] == keys[i];
        assert_int_equal(found, 1);
    }
}

/* All sets of up to three integers of a small universe. */
static void egh_lists_all(const char *kind, uint64_t universe, uint64_t most)
{
    bly_filter *empty = egh_make(kind, most), *filter = NULL;
    egh_lists(empty, NULL, 0);
    for (uint64_t a = 0; a < universe; a++)
        for (uint64_t b = a; b < universe; b++)
            for (uint64_t c = b; c < (most < 3 ? b + 1 : universe); c++) {
                const uint64_t in[] = { a, b, c };
                uint64_t keys[] = { a, b, c };
                size_t n = (size_t)1 + (b != a) + (c != b);
                keys[1] = b != a ? b : c;
                assert_status(bly_copy(&filter, empty, NULL), BLY_OK);
                assert_status(bly_add_hashes(filter, in, 3, NULL, NULL),
                              BLY_OK);
                egh_lists(filter, keys, n);
                bly_free(filter);
            }
    bly_free(empty);
}

static void test_lists_all_small_sets(void **state)
{
    (void)state;
    egh_lists_all("egh:universe=100,moduli=primes", 100, 2);
    egh_lists_all("egh:universe=100,bits=3", 100, 2);
    egh_lists_all("egh:universe=30,moduli=primes,bits=4", 30, 3);
    egh_lists_all("egh:universe=7", 7, 3);      /* a bit for each integer */
    egh_lists_all("egh:universe=7,bits=2", 7, 3);
}

static void test_lists_large_universes(void **state)
{
    (void)state;
    static const struct { const char *kind; uint64_t universe, n; } rows[] = {
        { "egh:universe=1000000", 1000000, 10 },
        { "egh:universe=1000000,bits=4", 1000000, 100 },
        { "egh:universe=4294967296", UINT64_C(1) << 32, 100 },
        { "egh:universe=4294967296,moduli=primes,bits=2",
          UINT64_C(1) << 32, 60 },
        { "egh:universe=1000000000000", UINT64_C(1000000000000), 30 },
        { "egh", 0, 8 },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        uint64_t keys[LISTED];
        bly_filter *filter = egh_make(rows[r].kind, rows[r].n);
        for (uint64_t i = 0; i < rows[r].n; i++) {
            uint64_t key = test_random(70 + r, i);
            keys[i] = rows[r].universe == 0 ? key : key % rows[r].universe;
        }
        keys[0] = 0;
        keys[1] = rows[r].universe - 1;
        assert_status(bly_add_hashes(filter, keys, rows[r].n, NULL, NULL),
                      BLY_OK);
        egh_lists(filter, keys, rows[r].n);
        size_t visits = 0;
        assert_status(bly_list_keys(filter, egh_visit_two, &visits), BLY_OK);
        assert_int_equal(visits, 2);
        bly_free(filter);
    }
}

/* A list that would take too long or be ambiguous is refused, and no key is
 * visited. */
static void test_lists_refused(void **state)
{
    (void)state;
    size_t visits = 0;
    bly_filter *large = egh_make("egh", 100);
    for (uint64_t i = 0; i < 100; i++)
        bly_add_hash(large, test_random(80, i));
    assert_status(bly_list_keys(large, egh_visit_two, &visits), BLY_EFULL);
    assert_non_null(strstr(bly_why(), "listing the keys would take"));
    bly_free(large);
    bly_filter *full = egh_make("egh:universe=100000", 5);
    for (uint64_t i = 0; i < 6; i++)
        bly_add_hash(full, i * 10007);
    assert_status(bly_list_keys(full, egh_visit_two, &visits), BLY_EFULL);
    assert_non_null(strstr(bly_why(), "more integers than the 5 "));
    assert_int_equal(visits, 0);
    bly_free(full);
}

/* ---- Counters ----------------------------------------------------------- */

static bool egh_same(const bly_filter *a, const bly_filter *b)
{
    size_t a_bytes, b_bytes;
    const void *a_image = bly_image(a, &a_bytes);
    const void *b_image = bly_image(b, &b_bytes);
    return a_bytes == b_bytes && memcmp(a_image, b_image, a_bytes) == 0;
}

/* Up to the planned number of different keys, counts and results of remove are
 * exact for every integer. */
static void egh_counts(const bly_filter *filter, uint64_t universe,
                       const uint64_t *key, const uint64_t *times, size_t n)
{
    for (uint64_t x = 0; x < universe; x++) {
        uint64_t wanted = 0;
        for (size_t i = 0; i < n; i++)
            wanted += key[i] == x ? times[i] : 0;
        assert_int_equal(bly_count_hash(filter, x), wanted);
        assert_int_equal(bly_contains_hash(filter, x), wanted > 0);
    }
}

static void test_counts_are_exact(void **state)
{
    (void)state;
    enum { U = 25 };
    bly_filter *empty = egh_make("egh:universe=25,bits=4,moduli=primes", 2);
    bly_filter *filter = NULL;
    assert_true(egh_look(empty).geometry[1] == 1);      /* a bit for each */
    bly_free(empty);
    empty = egh_make("egh:universe=100,bits=4", 2);
    for (uint64_t a = 0; a < 100; a += 3)
        for (uint64_t b = a + 1; b < 100; b += 2) {
            const uint64_t key[] = { a, b }, times[] = { 1 + a % 3, 3 };
            assert_status(bly_copy(&filter, empty, NULL), BLY_OK);
            for (size_t i = 0; i < 2; i++)
                for (uint64_t t = 0; t < times[i]; t++)
                    assert_status(bly_add_hash(filter, key[i]),
                                  t == 0 ? BLY_OK : BLY_SEEN);
            egh_counts(filter, 100, key, times, 2);
            for (uint64_t t = 0; t < times[0]; t++)
                assert_status(bly_remove_hash(filter, a), BLY_OK);
            assert_status(bly_remove_hash(filter, a), BLY_EABSENT);
            egh_counts(filter, 100, key + 1, times + 1, 1);
            egh_lists(filter, &b, 1);
            assert_true(fabs(egh_look(filter).distinct - 1) < 0.01);
            for (uint64_t t = 0; t < times[1]; t++)
                assert_status(bly_remove_hash(filter, b), BLY_OK);
            assert_true(egh_same(filter, empty));
            bly_free(filter);
        }
    bly_free(empty);
}

/* Compared with an exact multiset, always at capacity: ids come and go. */
static void test_ids_come_and_go(void **state)
{
    (void)state;
    enum { N = 20, U = 1000000 };
    uint64_t key[N], times[N] = { 0 };
    bly_filter *filter = egh_make("egh:universe=1000000,bits=6", N);
    for (uint64_t i = 0; i < N; i++)
        key[i] = test_random(81, i) % U;
    for (uint64_t step = 0; step < test_work(200000, 200000, 5000); step++) {
        uint64_t draw = test_random(82, step), i = draw % N;
        bool add = times[i] < 3 && draw >> 40 & 1;
        if (add)
            assert_status(bly_add_hash(filter, key[i]),
                          times[i] == 0 ? BLY_OK : BLY_SEEN);
        else if (times[i] > 0)
            assert_status(bly_remove_hash(filter, key[i]), BLY_OK);
        else if (draw >> 41 & 1) {
            times[i] = 0;
            key[i] = (draw >> 20) % U;
            assert_status(bly_remove_hash(filter, key[i]), BLY_EABSENT);
        }
        times[i] += add ? 1 : times[i] > 0 ? (uint64_t)-1 : 0;
        assert_int_equal(bly_count_hash(filter, key[i]), times[i]);
        assert_false(times[i] == 0 && bly_contains_hash(filter, key[i]));
        assert_true(step % 64 != 0 || egh_look(filter).rate == 0);
    }
    bly_free(filter);
}

/* A saturated counter stays: a key added that often cannot be removed
 * completely, and its traces end the guarantee. */
static void test_counters_stick(void **state)
{
    (void)state;
    bly_filter *filter = egh_make("egh:universe=100000,bits=2", 5);
    bly_info_t stat;
    for (int i = 0; i < 3; i++)
        bly_add_hash(filter, 7);
    assert_true(bly_count_hash(filter, 7) == UINT64_MAX);
    assert_status(bly_remove_hash(filter, 7), BLY_EUNSAFE);
    assert_status(bly_add_hash(filter, 7), BLY_SEEN);
    stat = egh_look(filter);
    assert_true(stat.saturated == stat.probes && stat.rate == 0);
    assert_status(bly_add_hash(filter, 7 + 2 * 3 * 5 * 7 * 11), BLY_OK);
    assert_status(bly_remove_hash(filter, 7 + 2 * 3 * 5 * 7 * 11), BLY_OK);
    assert_true(egh_look(filter).rate > 0);
    assert_status(bly_list_keys(filter, egh_visit_two, &(size_t){ 0 }),
                  BLY_EFULL);
    assert_true(bly_contains_hash(filter, 7));
    bly_free(filter);
}

/* After too many keys the guarantee does not return, as some may have found no
 * counter at 0. */
static void test_the_promise_does_not_come_back(void **state)
{
    (void)state;
    bly_filter *filter = egh_make("egh:universe=100000,bits=4", 5);
    for (uint64_t i = 0; i < 5; i++)
        assert_status(bly_add_hash(filter, i * 10007), BLY_OK);
    assert_true(egh_look(filter).rate == 0);
    assert_status(bly_add_hash(filter, 5 * 10007), BLY_OK);
    assert_true(egh_look(filter).rate > 0);
    for (uint64_t i = 0; i < 6; i++)
        assert_status(bly_remove_hash(filter, i * 10007), BLY_OK);
    assert_true(egh_look(filter).fill == 0);
    assert_true(egh_look(filter).rate > 0);
    bly_free(filter);
}

/* A key added beyond capacity may find all counters above 0 and not be counted;
 * it is still contained when another is removed. */
static void test_an_uncounted_key_ends_the_promise(void **state)
{
    (void)state;
    static const struct { const char *kind; uint64_t n, in[5], unseen; }
    rows[] = {
        { "egh:universe=806,bits=8", 1, { 151, 516 }, 271 },
        { "egh:universe=1043,bits=8", 2, { 238, 237, 40 }, 105 },
        { "egh:universe=307,bits=8", 3, { 277, 248, 150, 170 }, 17 },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        bly_filter *filter = egh_make(rows[r].kind, rows[r].n);
        for (uint64_t i = 0; i <= rows[r].n; i++)
            assert_status(bly_add_hash(filter, rows[r].in[i]), BLY_OK);
        assert_status(bly_add_hash(filter, rows[r].unseen), BLY_SEEN);
        assert_status(bly_remove_hash(filter, rows[r].in[0]), BLY_OK);
        assert_true(egh_look(filter).rate > 0);
        bly_free(filter);
    }
}

static void test_unions_add_up(void **state)
{
    (void)state;
    bly_filter *a = egh_make("egh:universe=100000,bits=4", 5);
    bly_filter *b = egh_make("egh:universe=100000,bits=4", 5);
    bly_filter *bits = egh_make("egh:universe=100000", 5);
    static const uint64_t in_a[] = { 1, 2, 2 }, in_b[] = { 2, 99999 };
    static const uint64_t both[] = { 1, 2, 99999 }, times[] = { 1, 3, 1 };
    assert_status(bly_add_hashes(a, in_a, 3, NULL, NULL), BLY_OK);
    assert_status(bly_add_hashes(b, in_b, 2, NULL, NULL), BLY_OK);
    assert_status(bly_unite(a, bits), BLY_EMISMATCH);
    assert_status(bly_unite(a, b), BLY_OK);
    egh_counts(a, 100000, both, times, 3);
    egh_lists(a, both, 3);
    assert_true(egh_look(a).rate == 0 && egh_look(a).items == 5);
    assert_true(fabs(egh_look(a).distinct - 3) < 0.5);
    bly_free(a);
    bly_free(b);
    bly_free(bits);
}

static void test_bits_cannot_remove(void **state)
{
    (void)state;
    bly_filter *filter = egh_make("egh:universe=1000", 2);
    bly_add_hash(filter, 5);
    assert_status(bly_remove_hash(filter, 5), BLY_EUNSUPPORTED);
    assert_non_null(strstr(bly_why(), "egh:bits=8"));
    assert_true(bly_count_hash(filter, 5) == UINT64_MAX);
    assert_true(bly_count_hash(filter, 6) == 0);
    bly_free(filter);
}

/* ---- Forged bytes ------------------------------------------------------ */

static bool egh_accepted(const uint8_t *image, size_t bytes, size_t at,
                         uint64_t value)
{
    uint8_t forged[ROOM];
    memcpy(forged, image, bytes);
    image_set_u64(forged, at, value);
    image_seal(forged);
    return bly_check(forged, bytes, NULL) == BLY_OK;
}

/* Tables that are not moduli and their reciprocals are refused. Changes after
 * the check cause no access out of bounds (the sanitizers watch). */
static void test_lying_tables(void **state)
{
    (void)state;
    bly_filter *filter = egh_make("egh:universe=1000000", 10);
    size_t bytes;
    const uint8_t *good = bly_image(filter, &bytes);
    uint8_t *image = malloc(bytes);
    assert_non_null(image);
    assert_true(bytes < ROOM && egh_accepted(good, bytes, 128, 99));
    for (size_t at = 136; at < 136 + 16 * 35; at += 8)
        for (unsigned i = 0; i < 3; i++)
            assert_false(egh_accepted(good, bytes, at,
                                      image_u64(good, at) + 1 - 2 * (i % 2)
                                      + test_random(i, at) * (i / 2)));
    for (uint64_t round = 0; round < 300; round++) {
        bool present[40];
        uint64_t hashes[40];
        bly_info_t stat = { .items_exact = round % 2 };
        bly_overlap_t overlap;
        memcpy(image, good, bytes);
        for (size_t i = 0; i < 40; i++) {
            hashes[i] = test_random(round, i) % 1000000;
            if (i <= round % 40)
                image[128 + test_random(round, 100 + i) % (bytes - 128)]
                    ^= (uint8_t)test_random(round, 200 + i);
        }
        bly_kind_egh.contains_many(image, hashes, 40, present);
        size_t done;
        bly_kind_egh.add_many(image, hashes, 40, &done);
        assert_int_equal(done, 40);
        for (size_t i = 0; i < 40; i++)
            (void)bly_kind_egh.contains(image, hashes[i]);
        bly_kind_egh.stat(&stat, image);
        bly_kind_egh.combining->overlap(&overlap, image, good);
        bly_kind_egh.combining->unite(image, good);
        uint8_t *scratch = malloc(bly_kind_egh.listing->keys_scratch(image));
        size_t visits = 0;
        assert_non_null(scratch);
        bly_kind_egh.listing->keys(image, scratch, NULL, egh_visit_two,
                                   &visits);
        free(scratch);
    }
    free(image);
    bly_free(filter);
}

/* A table forged so that almost everything passes until the last block is
 * detected early, not after an hour. */
static void test_lists_of_forged_tables_end(void **state)
{
    (void)state;
    enum { K = 2000, FIRST = 1 << 20 };
    uint64_t m = FIRST, used = 1;
    for (uint64_t q = K + 2; used < K; q--, used++)
        m += q;
    size_t bytes = (size_t)(128 + 8 + 16 * K + (m + 7) / 8);
    uint8_t *image = calloc(1, bytes);
    assert_non_null(image);
    bly_plan_t plan = {
        .kind = "egh", .capacity = 1000, .bytes = bytes,
        .geometry = { FIRST << 4, K, m, 0 },
    };
    image_format(image, &plan, 1, 0, "decimal");
    uint64_t q = FIRST;
    for (size_t i = 0; i < K; i++, q = i == 1 ? K + 2 : q - 1) {
        image_set_u64(image, 136 + 16 * i, q);
        image_set_u64(image, 144 + 16 * i, UINT64_MAX / q);
    }
    uint8_t *row = image + 136 + 16 * K;
    memset(row, 0xFF, (size_t)((m + 7) / 8));
    for (uint64_t at = 0; at < FIRST; at += 2)
        row[at / 8] &= (uint8_t)~(1u << at % 8);
    for (uint64_t at = m - 1; at < 8 * ((m + 7) / 8); at++)
        row[at / 8] &= (uint8_t)~(1u << at % 8);
    image_seal(image);
    bly_filter *filter = NULL;
    size_t visits = 0;
    assert_status(bly_wrap(&filter, image, bytes, NULL), BLY_OK);
    assert_status(bly_list_keys(filter, egh_visit_two, &visits), BLY_EFULL);
    assert_int_equal(visits, 0);
    bly_free(filter);
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_of_forged_tables_end),
        cmocka_unit_test(test_published_sizes),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_all_pairs_and_triples),
        cmocka_unit_test(test_all_pairs_as_planned),
        cmocka_unit_test(test_large_universes),
        cmocka_unit_test(test_overfull),
        cmocka_unit_test(test_bit_for_each_integer),
        cmocka_unit_test(test_outside_is_refused),
        cmocka_unit_test(test_hash_functions),
        cmocka_unit_test(test_union_keeps_the_promise),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_lists_all_small_sets),
        cmocka_unit_test(test_lists_large_universes),
        cmocka_unit_test(test_lists_refused),
        cmocka_unit_test(test_counts_are_exact),
        cmocka_unit_test(test_ids_come_and_go),
        cmocka_unit_test(test_counters_stick),
        cmocka_unit_test(test_the_promise_does_not_come_back),
        cmocka_unit_test(test_an_uncounted_key_ends_the_promise),
        cmocka_unit_test(test_unions_add_up),
        cmocka_unit_test(test_bits_cannot_remove),
        cmocka_unit_test(test_lying_tables),
    };
    return cmocka_run_group_tests_name("egh", tests, NULL, NULL);
}
