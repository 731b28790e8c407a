/* cascade.c - tests specific to kind `cascade`: no error in a closed universe,
 * and small sizes.
 */
#include "test.h"

#include "image/image.h"
#include "forged.h"

static const char *const cascade_kinds[] = {
    "cascade", "cascade:of=standard", "cascade:of=xor", "cascade:of=fuse",
};
enum { CASCADE_KINDS = sizeof cascade_kinds / sizeof *cascade_kinds };

/* Keys of a closed universe; the first ones are members. */
typedef struct {
    uint64_t *hashes, *labels;
    size_t members, n;
} cascade_keys;

static cascade_keys cascade_draw(size_t members, size_t others, uint64_t stream)
{
    cascade_keys k = { .members = members, .n = members + others };
    k.hashes = malloc((k.n + 1) * sizeof *k.hashes);
    k.labels = malloc((k.n + 1) * sizeof *k.labels);
    assert_true(k.hashes != NULL && k.labels != NULL);
    for (size_t i = 0; i < k.n; i++) {
        k.hashes[i] = test_random(stream, i);
        k.labels[i] = i < members;
    }
    return k;
}

static void cascade_drop(cascade_keys *k)
{
    free(k->hashes);
    free(k->labels);
}

/* Counts wrong answers, in batches or one by one. */
static size_t cascade_errors(const bly_filter *filter, const cascade_keys *k,
                             bool batches)
{
    bool *present = malloc(k->n + 1);
    size_t errors = 0;
    assert_non_null(present);
    if (batches)
        bly_contains_hashes(filter, k->hashes, k->n, present);
    for (size_t i = 0; i < k->n; i++) {
        if (!batches)
            present[i] = bly_contains_hash(filter, k->hashes[i]);
        errors += present[i] != k->labels[i];
    }
    free(present);
    return errors;
}

static bly_filter *cascade_make(const char *kind, const cascade_keys *k,
                                uint64_t seed)
{
    bly_spec spec = { .seed = seed };
    bly_filter *filter = NULL;
    assert_status(bly_build(&filter, kind, &spec,
                            &(bly_keys){ .n = k->n, .hashes = k->hashes,
                                         .labels = k->labels }), BLY_OK);
    return filter;
}

/* Returns the numbers of levels that are images and that are rows. */
static unsigned cascade_shape(const bly_filter *filter, unsigned at)
{
    return image_geometry(bly_image(filter, NULL), 0) >> at & 255;
}

enum { INVERTED = 8, SALT = 16, IMAGES = 24, ROWS = 32 };

/* ---- No error ---------------------------------------------------------- */

static void cascade_without_error(const char *kind, const cascade_keys *keys)
{
    bly_filter *filter = cascade_make(kind, keys, 0);
    bly_info_t stat;
    size_t bytes;
    assert_int_equal(cascade_errors(filter, keys, true), 0);
    assert_int_equal(cascade_errors(filter, keys, false), 0);
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.items, keys->members);
    const void *image = bly_image(filter, &bytes);
    assert_status(bly_check(image, bytes, NULL), BLY_OK);
    bly_free(filter);
}

/* Universes of every shape: more members than others, none, few; and with the
 * lists swapped. */
static void test_no_errors(void **state)
{
    (void)state;
    static const struct { size_t members, others; } rows[] = {
        { 1, 1 }, { 0, 1 }, { 0, 1000 }, { 1, 100000 }, { 2, 3 },
        { 10, 1000 }, { 500, 500 }, { 1000, 100000 }, { 2000, 20000 },
        { 5000, 200000 }, { 100000, 150000 },
    };
    for (size_t k = 0; k < CASCADE_KINDS; k++)
        for (size_t i = 0; i < test_work(11, 11, 9); i++) {
            cascade_keys keys = cascade_draw(rows[i].members, rows[i].others,
                                             i + 1);
            cascade_without_error(cascade_kinds[k], &keys);
            for (size_t j = 0; j < keys.n; j++)
                keys.labels[j] = !keys.labels[j];
            keys.members = rows[i].others;
            cascade_without_error(cascade_kinds[k], &keys);
            cascade_drop(&keys);
        }
}

/* Small universes, whose levels end soon or have a few bits, under many seeds:
 * the planned size is enough, nearly always at once. */
static void test_small_universes(void **state)
{
    (void)state;
    unsigned again = 0;
    for (uint64_t run = 0; run < 1000; run++) {
        size_t members = test_random(1, run) % 40;
        size_t others = test_random(2, run) % 3000;
        cascade_keys keys = cascade_draw(members, others + 1, run + 5);
        bly_filter *filter = cascade_make(cascade_kinds[run % CASCADE_KINDS],
                                          &keys, run);
        assert_int_equal(cascade_errors(filter, &keys, true), 0);
        again += cascade_shape(filter, SALT) > 0;
        bly_free(filter);
        cascade_drop(&keys);
    }
    assert_true(again <= 1);
}

/* Repeated keys with the same label, and batches of any length. */
static void test_repeats(void **state)
{
    (void)state;
    cascade_keys keys = cascade_draw(3000, 9000, 1);
    for (size_t i = 0; i < keys.n; i += 3) {
        size_t twin = i < 3000 ? test_random(2, i) % 3000
                               : 3000 + test_random(2, i) % 9000;
        keys.hashes[i] = keys.hashes[twin];
    }
    for (size_t k = 0; k < CASCADE_KINDS; k++)
        cascade_without_error(cascade_kinds[k], &keys);
    cascade_drop(&keys);
}

/* Consecutive integers, as `identity` gives them, are spread. */
static void test_plain_numbers(void **state)
{
    (void)state;
    cascade_keys keys = cascade_draw(4000, 50000, 1);
    for (size_t i = 0; i < keys.n; i++)
        keys.hashes[i] = i * 7;
    for (size_t k = 0; k < CASCADE_KINDS; k++)
        cascade_without_error(cascade_kinds[k], &keys);
    cascade_drop(&keys);
}

/* ---- Sizes ------------------------------------------------------------- */

/* Returns the levels' bits per key of the smaller list, without the two headers
 * and the lengths of rows. */
static double cascade_bits(const bly_filter *filter, size_t n)
{
    size_t bytes;
    bly_image(filter, &bytes);
    bytes -= IMAGE_HEADER + IMAGE_HEADER * cascade_shape(filter, IMAGES)
           + 4 * cascade_shape(filter, ROWS);
    return 8 * (double)bytes / (double)n;
}

/* log2 binom(n + others, n) / n */
static double cascade_bound(double n, double others)
{
    return (lgamma(n + others + 1) - lgamma(n + 1) - lgamma(others + 1))
         / log(2) / n;
}

/* Bloom filters match (2) of the essay within the catalogue's 3 %, including
 * large whole images; other kinds need less, none less than the bound. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { size_t members, others; } rows[] = {
        { 5000, 200000 }, { 10000, 1000000 }, { 100000, 4000000 },
        { 200000, 5000 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < CASCADE_KINDS; k++) {
            cascade_keys keys = cascade_draw(rows[i].members, rows[i].others,
                                             i + 1);
            bool inverted = rows[i].members > rows[i].others;
            size_t n = inverted ? rows[i].others : rows[i].members;
            double others = (double)(keys.n - n);
            double bloom = 1.4427 * log2(others / (double)n) + 4.204;
            bly_filter *filter = cascade_make(cascade_kinds[k], &keys, 0);
            double bits = cascade_bits(filter, n);
            assert_int_equal(cascade_shape(filter, INVERTED), inverted);
            assert_true(bits > cascade_bound((double)n, others));
            if (k == 1)
                assert_close(bits, bloom, 0.03);
            else
                assert_true(bits < 0.95 * bloom);
            bly_free(filter);
            cascade_drop(&keys);
        }
}

/* A plan is sufficient and not much too large. */
static void test_plan(void **state)
{
    (void)state;
    for (size_t k = 0; k < CASCADE_KINDS; k++)
        for (size_t n = 700; n < 100000; n = n * 5 + 1) {
            cascade_keys keys = cascade_draw(n, 9 * n, n);
            bly_filter *filter = cascade_make(cascade_kinds[k], &keys, 0);
            bly_spec spec = { .capacity = n };
            bly_plan_t plan;
            size_t bytes;
            char kind[64];
            snprintf(kind, sizeof kind, "%s%cothers=%zu", cascade_kinds[k],
                     k == 0 ? ':' : ',', 9 * n);
            assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
            bly_image(filter, &bytes);
            assert_in_range(bytes, plan.bytes * (n < 5000 ? 2 : 9)
                                   / (n < 5000 ? 3 : 10), plan.bytes);
            bly_info_t stat;
            assert_status(bly_info(&stat, filter), BLY_OK);
            assert_true(plan.rate == stat.planned_rate);
            bly_free(filter);
            cascade_drop(&keys);
        }
}

/* Without non-members it is just its first level, at the same cost. */
static void test_plan_of_members_only(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 5000, .rate = 0.01 };
    bly_plan_t plan, first;
    assert_status(bly_plan(&first, "standard", &spec), BLY_OK);
    assert_status(bly_plan(&plan, "cascade:of=standard", &spec), BLY_OK);
    assert_true(plan.rate == first.rate && plan.probes == first.probes);
    assert_true(plan.lines_present == first.lines_present);
    assert_true(plan.lines_absent == first.lines_absent);
    spec.rate = 0;
    assert_status(bly_plan(&plan, "cascade:of=standard,others=50000", &spec),
                  BLY_OK);
    assert_true(plan.lines_present > plan.lines_absent);
}

/* ---- Unknown keys ------------------------------------------------------ */

/* Their rate is the one in stat, and about as planned. */
/* Level 1 of fuse filters has whole bits, as many as for the next power of
 * two. */
static void test_plan_of_whole_bits(void **state)
{
    (void)state;
    static const double rates[] = { 1, 1 - 1e-8, 1 - 1e-5, 0.6, 0.5 };
    bly_plan_t plan, whole;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        bly_spec spec = { .capacity = 100000, .rate = ldexp(rates[i], -7) };
        bly_spec next = { .capacity = 100000, .rate = i < 2 ? 1.0 / 128
                                                            : 1.0 / 256 };
        assert_status(bly_plan(&plan, "cascade:of=fuse", &spec), BLY_OK);
        assert_status(bly_plan(&whole, "cascade:of=fuse", &next), BLY_OK);
        assert_int_equal(plan.bytes, whole.bytes);
        assert_status(bly_plan(&whole, "fuse", &next), BLY_OK);
        assert_true(plan.bytes >= whole.bytes);
        assert_true(plan.bytes < whole.bytes + 1024);
    }
}

static void test_rate_outside(void **state)
{
    (void)state;
    enum { ASKED = 1000000 };
    static const size_t others[] = { 2000, 20000, 21000, 500000 };
    static uint64_t hashes[ASKED];
    static bool present[ASKED];
    for (uint64_t i = 0; i < ASKED; i++)
        hashes[i] = test_random(99, i);
    for (size_t k = 0; k < CASCADE_KINDS; k++)
        for (size_t i = 0; i < 4; i++) {
            cascade_keys keys = cascade_draw(20000, others[i], 7);
            bly_filter *filter = cascade_make(cascade_kinds[k], &keys, 3);
            bly_info_t stat;
            uint64_t hits = 0;
            assert_status(bly_info(&stat, filter), BLY_OK);
            bly_contains_hashes(filter, hashes, ASKED, present);
            for (size_t j = 0; j < ASKED; j++)
                hits += present[j];
            assert_within(hits, ASKED, stat.rate, 0);
            assert_close(fmin(stat.rate, 1 - stat.rate),
                         fmin(stat.planned_rate, 1 - stat.planned_rate), 0.05);
            bly_free(filter);
            cascade_drop(&keys);
        }
}

/* ---- Refusals ---------------------------------------------------------- */

static void cascade_refused(const char *kind, const cascade_keys *keys,
                            const char *why)
{
    bly_filter *none = NULL;
    assert_status(bly_build(&none, kind, NULL,
                            &(bly_keys){ .n = keys->n, .hashes = keys->hashes,
                                         .labels = keys->labels }), BLY_EPARAM);
    assert_null(none);
    assert_non_null(strstr(bly_why(), why));
}

static void test_refusals(void **state)
{
    (void)state;
    cascade_keys keys = cascade_draw(1000, 20000, 1);
    for (size_t k = 0; k < CASCADE_KINDS; k++) {
        for (size_t both = 1; both <= 1000; both *= 10) {   /* in both lists */
            size_t at = both % 7 == 1 ? keys.n - both : 1000;
            memcpy(keys.hashes + at, keys.hashes, both * sizeof *keys.hashes);
            cascade_refused(cascade_kinds[k], &keys, "one of the others");
            for (size_t i = 1000; i < keys.n; i++)
                keys.hashes[i] = test_random(1, i);
        }
        keys.labels[77] = 2;
        cascade_refused(cascade_kinds[k], &keys, "no label 2");
        keys.labels[77] = 1;
        cascade_without_error(cascade_kinds[k], &keys);
    }
    bly_filter *none = NULL;
    assert_status(
        bly_build(&none, "cascade:others=5", NULL,
                  &(bly_keys){ .n = 1000, .hashes = keys.hashes }),
        BLY_EPARAM);
    assert_status(
        bly_build(&none, "cascade:others=0", NULL,
                  &(bly_keys){ .n = 1000, .hashes = keys.hashes }),
        BLY_EOPTION);
    assert_status(bly_build(&none, "cascade", NULL,
                            &(bly_keys){ .hashes = keys.hashes,
                                         .labels = keys.labels }), BLY_EPARAM);
    assert_status(bly_build(&none, "ribbon", NULL,
                            &(bly_keys){ .n = 5, .hashes = keys.hashes,
                                         .labels = keys.labels }),
                                         BLY_EUNSUPPORTED);
    assert_null(none);
    cascade_drop(&keys);
}

/* ---- Bad bytes --------------------------------------------------------- */

/* A changed byte is refused, or everything stays inside and ends. */
static void test_any_byte(void **state)
{
    (void)state;
    cascade_keys keys = cascade_draw(700, 5000, 1);
    bool *present = malloc(keys.n);
    assert_non_null(present);
    for (size_t k = 0; k < CASCADE_KINDS; k++) {
        bly_filter *filter = cascade_make(cascade_kinds[k], &keys, 0);
        size_t bytes;
        const void *good = bly_image(filter, &bytes);
        uint8_t *image = malloc(bytes);
        assert_non_null(image);
        for (size_t at = IMAGE_GEOMETRY; at < bytes;
             at += at < 2 * IMAGE_HEADER ? 1 : 5)
            for (uint64_t run = 0; run < 2; run++) {
                bly_filter *forged = NULL;
                bly_info_t stat;
                memcpy(image, good, bytes);
                image[at] = (uint8_t)(test_random(run, at) >> 20);
                image_seal(image);
                if (bly_wrap(&forged, image, bytes, NULL) != BLY_OK)
                    continue;
                bly_contains_hashes(forged, keys.hashes, 500, present);
                for (size_t i = 0; i < 50; i++)
                    bly_contains_hash(forged, keys.hashes[i]);
                assert_status(bly_info(&stat, forged), BLY_OK);
                bly_free(forged);
            }
        free(image);
        bly_free(filter);
    }
    free(present);
    cascade_drop(&keys);
}

/* The geometry follows from the size, so every changed field is refused. */
static void test_inner_headers_are_checked(void **state)
{
    (void)state;
    cascade_keys keys = cascade_draw(1000, 4000, 1);
    bly_filter *filter = cascade_make("cascade:of=standard", &keys, 0);
    forged_inner_header(filter, IMAGE_HEADER);
    bly_free(filter);
    cascade_drop(&keys);
}

/* Levels shrink: images first, while they are worth their headers. */
static void test_levels(void **state)
{
    (void)state;
    cascade_keys keys = cascade_draw(100000, 600000, 1);
    for (size_t k = 0; k < CASCADE_KINDS; k++) {
        bly_filter *filter = cascade_make(cascade_kinds[k], &keys, 0);
        const uint8_t *at = (const uint8_t *)bly_image(filter, NULL)
                          + IMAGE_HEADER;
        unsigned images = cascade_shape(filter, IMAGES);
        unsigned rows = cascade_shape(filter, ROWS);
        uint64_t before = UINT64_MAX;
        assert_true(k == 1 ? images == 1 : images >= 7);
        assert_in_range(images + rows, 25, 45);
        for (unsigned i = 0; i < images; i++) {
            uint64_t bytes = image_u64(at, IMAGE_BYTES);
            assert_true(bytes < before);
            before = bytes;
            at += (size_t)(bytes + 63) / 64 * 64;
        }
        for (unsigned i = 0; i < rows; i++) {
            uint64_t bytes = image_u32(at, 0);
            assert_true(bytes <= before + 4);   /* few keys, by chance */
            before = bytes;
            at += 4 + (size_t)bytes;
        }
        bly_free(filter);
    }
    cascade_drop(&keys);
}

/* The payload of ribbons and rows, whose rates are powers of two on every
 * machine, has this checksum. */
static void test_bytes_stay(void **state)
{
    (void)state;
    cascade_keys keys = cascade_draw(20000, 100000, 1);
    bly_filter *filter = cascade_make("cascade", &keys, 7);
    const void *image = bly_image(filter, NULL);
    assert_int_equal(cascade_shape(filter, IMAGES), 5);
    assert_int_equal(cascade_shape(filter, ROWS), 21);
    assert_true(image_u64(image, IMAGE_PAYLOAD_SUM)
                == UINT64_C(0x81681b540c85a767));
    bly_free(filter);
    cascade_drop(&keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_errors),
        cmocka_unit_test(test_small_universes),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_plain_numbers),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_plan_of_members_only),
        cmocka_unit_test(test_plan_of_whole_bits),
        cmocka_unit_test(test_rate_outside),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_any_byte),
        cmocka_unit_test(test_inner_headers_are_checked),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_bytes_stay),
    };
    return cmocka_run_group_tests_name("cascade", tests, NULL, NULL);
}
