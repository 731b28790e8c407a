/* scalable.c - tests specific to kind `scalable`: the rate stays below the
 * requested one, however much it grows, over every kind of slice.
 */
#include "test.h"

#include "image/image.h"
#include "forged.h"
#include "verbs/registry.h"

static bly_filter *scalable_new(const char *kind, uint64_t capacity,
                                double rate)
{
    bly_spec spec = { .capacity = capacity, .rate = rate };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static void scalable_fill(bly_filter *filter, uint64_t stream, uint64_t from,
                          uint64_t to)
{
    uint64_t hashes[1000];
    for (uint64_t i = from; i < to; ) {
        size_t n = 0;
        while (n < 1000 && i < to)
            hashes[n++] = test_random(stream, i++);
        assert_status(bly_add_hashes(filter, hashes, n, NULL, NULL), BLY_OK);
    }
}

static uint64_t scalable_found(const bly_filter *filter, uint64_t stream,
                               uint64_t n)
{
    static uint64_t hashes[1000];
    static bool present[1000];
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i += 1000) {
        for (uint64_t j = 0; j < 1000; j++)
            hashes[j] = test_random(stream, i + j);
        bly_contains_hashes(filter, hashes, 1000, present);
        for (size_t j = 0; j < 1000; j++)
            found += present[j];
    }
    return found;
}

/* Reads the directory of an image: the start of slice i, and its keys. */
static uint64_t scalable_at(const bly_filter *filter, size_t i, size_t field)
{
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    return image_u64(image + IMAGE_HEADER, 16 * i + 8 * field);
}

static size_t scalable_slices(const bly_filter *filter)
{
    size_t n = 0;
    while (n < 64 && scalable_at(filter, n, 0) != 0)
        n++;
    return n;
}

/* Up to a thousand times the first capacity. */
static void test_rate_holds_while_it_grows(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "scalable", "scalable:of=blocked", "scalable:of=standard,growth=4",
        "scalable:tightening=50", "scalable:of=cuckoo",
        "scalable:of=quotient",
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bly_filter *filter = scalable_new(kinds[k], 1000, 0.01);
        uint64_t in = 0;
        const uint64_t most = test_work(1000000, 1000000, 100000);
        for (uint64_t n = 1000; n <= most; n *= 10) {
            scalable_fill(filter, 1, in, n);
            in = n;
            bly_info_t stat;
            assert_status(bly_info(&stat, filter), BLY_OK);
            assert_within(scalable_found(filter, 2, most), most, stat.rate,
                          0);
            assert_true(stat.rate <= 0.01 && stat.items == in);
            assert_true(fabs(stat.distinct - (double)in)
                        <= 5 * stat.distinct_sd + 1);
            assert_int_equal(scalable_found(filter, 1, in), in);
        }
        size_t bytes;
        const void *image = bly_image(filter, &bytes);
        assert_status(bly_check(image, bytes, NULL), BLY_OK);
        bly_free(filter);
    }
}

/* Repeats never fill it: only new keys make it grow. */
static void test_repeats_do_not_grow_it(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        bly_filter *filter = scalable_new(k == 0 ? "scalable"
                                                 : "scalable:of=counting",
                                          500, 0.01);
        for (unsigned round = 0; round < 50; round++)
            scalable_fill(filter, 1, 0, 500);
        assert_int_equal(scalable_slices(filter), 1);
        assert_in_range(scalable_at(filter, 0, 1), 495, 500);
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_int_equal(stat.items, 25000);
        bly_free(filter);
    }
}

/* Slices of n, 2n, 4n, … keys, each filled before the next, planned for P (1-r)
 * r^i. In the catalogue's worked example, r = 1/2, they have 8, 9, 10, … probes
 * and at most k n / ln 2 bits. */
static void test_slices_follow_the_rule(void **state)
{
    (void)state;
    bly_filter *filter = scalable_new("scalable:tightening=50", 1000, 0.01);
    scalable_fill(filter, 1, 0, 63000);
    assert_int_equal(scalable_slices(filter), 6);
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    double rate = 0.005;
    uint64_t keys = 1000;
    for (size_t i = 0; i < 6; i++, rate /= 2, keys *= 2) {
        const uint8_t *slice = image + IMAGE_HEADER
                             + scalable_at(filter, i, 0);
        double bits = 8 * (double)image_payload_bytes(slice);
        double k = 8 + (double)i;
        assert_int_equal(image_u64(slice, IMAGE_CAPACITY), keys);
        assert_true(image_f64(slice, IMAGE_RATE) <= rate);
        assert_true(image_f64(slice, IMAGE_RATE) > 0.9 * rate);
        assert_true(bits <= k * (double)keys / log(2) + 8 * k);
        assert_true(scalable_at(filter, i, 1) == keys || i == 5);
    }
    bly_free(filter);
}

/* Every kind that can add, keeps its keys, and is not compound can be a
 * slice. */
static bool scalable_can_be(const bly_kind *kind)
{
    return kind->add != NULL && !kind->forgets
        && strcmp(kind->family, "compound") != 0
        && strcmp(kind->family, "labelled") != 0
        && strcmp(kind->family, "exact") != 0;
}

/* Fills a filter until `slices` of them are full. */
static bly_filter *scalable_full(const char *kind, uint64_t stream,
                                 uint64_t capacity, double rate,
                                 uint64_t slices)
{
    bly_filter *filter = scalable_new(kind, capacity, rate);
    uint64_t i = 0;
    while (scalable_at(filter, slices - 1, 1) < capacity << (slices - 1))
        assert_true(bly_add_hash(filter, test_random(stream, i++)) >= 0);
    assert_int_equal(scalable_slices(filter), slices);
    return filter;
}

/* Full slices keep the requested rate, also if nearly all of it is the first
 * one's, and many new keys are taken for present ones. The mean of many filters
 * is at most five of its standard deviations above the request: if it equalled
 * the request, 200 filters would exceed that once in 1.6 million times, and
 * ten, by Student's t, once in 2,700. */
static void test_rate_holds_where_it_is_high(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "tightening=1", "of=blocked,tightening=1", "of=standard,tightening=1",
        "of=split,tightening=1", "of=counting,tightening=1",
        "of=cuckoo,tightening=1", "of=quotient,tightening=1",
        "of=floom,tightening=1", "tightening=50",
    };
    static const double rates[] = { 0.03, 0.1, 0.5, 0.9 };
    const uint64_t filters = test_work(200, 20, 10), asked = 4000;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds * 4; k++) {
        double sum = 0, squares = 0, rate = rates[k % 4];
        char name[64];
        snprintf(name, sizeof name, "scalable:%s", kinds[k / 4]);
        for (uint64_t i = 0; i < filters; i++) {
            bly_filter *filter = scalable_full(name, 2 * i, 200, rate, 2);
            double found = (double)scalable_found(filter, 2 * i + 1, asked)
                         / (double)asked;
            sum += found;
            squares += found * found;
            bly_free(filter);
        }
        double n = (double)filters, mean = sum / n;
        double sd = sqrt((squares / n - mean * mean) / (n - 1));
        if (mean > rate + 5 * sd)
            fail_msg("%s: %g, asked for %g (sd %g)", name, mean, rate, sd);
    }
}

static void test_every_kind_that_adds_is_a_choice(void **state)
{
    (void)state;
    for (size_t i = 0; registry_kinds[i] != NULL; i++) {
        const bly_kind *kind = registry_kinds[i];
        if (!scalable_can_be(kind))
            continue;
        char name[64];
        snprintf(name, sizeof name, "scalable:of=%s", kind->name);
        bly_filter *filter = scalable_new(name, 300, 0.01);
        scalable_fill(filter, 1, 0, 5000);
        assert_true(scalable_slices(filter) >= 5);
        for (uint64_t j = 0; j < 5000; j++)
            assert_true(bly_contains_hash(filter, test_random(1, j)));
        assert_true(scalable_found(filter, 2, 100000) <= 1000);
        bly_free(filter);
    }
}

/* A batch equals its keys one after another, to the byte, over any slices, with
 * repeated keys and with collisions in a slice. */
static void test_a_batch_is_its_keys(void **state)
{
    (void)state;
    enum { N = 3000 };
    static uint64_t hashes[N];
    static bool seen[N];
    for (uint64_t i = 0; i < N; i++)
        hashes[i] = test_random(7, i % 3 == 2 ? i / 2 : i);
    for (size_t i = 0; registry_kinds[i] != NULL; i++) {
        if (!scalable_can_be(registry_kinds[i]))
            continue;
        char name[64];
        snprintf(name, sizeof name, "scalable:of=%s",
                 registry_kinds[i]->name);
        bly_filter *whole = scalable_new(name, 300, 0.1);
        bly_filter *single = scalable_new(name, 300, 0.1);
        assert_status(bly_add_hashes(whole, hashes, N, seen, NULL), BLY_OK);
        for (size_t j = 0; j < N; j++)
            assert_status(bly_add_hash(single, hashes[j]),
                          seen[j] ? BLY_SEEN : BLY_OK);
        size_t bytes, other;
        const void *image = bly_image(whole, &bytes);
        const void *like = bly_image(single, &other);
        assert_int_equal(bytes, other);
        assert_memory_equal(image, like, bytes);
        bly_free(whole);
        bly_free(single);
    }
}

/* A batch that needs several slices loses nothing. */
static void test_a_batch_may_grow_it_often(void **state)
{
    (void)state;
    enum { N = 100000 };
    uint64_t *hashes = malloc(N * sizeof *hashes);
    bool *seen = malloc(N);
    assert_true(hashes != NULL && seen != NULL);
    for (uint64_t i = 0; i < N; i++)
        hashes[i] = test_random(1, i);
    bly_filter *filter = scalable_new("scalable:of=blocked", 1, 0.01);
    assert_status(bly_add_hashes(filter, hashes, N, seen, NULL), BLY_OK);
    uint64_t repeats = 0;
    for (uint64_t i = 0; i < N; i++)
        repeats += seen[i];
    assert_true(repeats <= N / 100);
    assert_in_range(scalable_slices(filter), 16, 18);
    assert_status(bly_add_hashes(filter, hashes, N, seen, NULL), BLY_OK);
    for (uint64_t i = 0; i < N; i++)
        assert_true(seen[i]);
    free(hashes);
    free(seen);
    bly_free(filter);
}

/* When no stricter slice is possible it is full, says how to avoid that, and
 * still has all added keys. */
static void test_full_when_slices_end(void **state)
{
    (void)state;
    bly_filter *filter = scalable_new("scalable:of=blocked,tightening=1", 10,
                                      0.001);
    bly_status status;
    uint64_t in = 0;
    while ((status = bly_add_hash(filter, test_random(1, in))) >= 0)
        in++;
    assert_int_equal(status, BLY_EFULL);
    assert_non_null(strstr(bly_why(), "of=standard"));
    assert_in_range(in, 70, 71);        /* 10, 20 and 40 keys */
    for (uint64_t i = 0; i < in; i++)
        assert_true(bly_contains_hash(filter, test_random(1, i)));
    uint64_t more[3] = { test_random(1, 0), test_random(1, 1),
                         test_random(2, 0) };
    bool seen[3] = { false, false, false };
    assert_status(bly_add_hashes(filter, &more[2], 1, NULL, NULL), BLY_EFULL);
    assert_status(bly_add_hashes(filter, more, 3, seen, NULL), BLY_EFULL);
    assert_true(seen[0] && seen[1]);    /* those again */
    in += 2;
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.items == in);
    bly_free(filter);
}

/* A mapped one cannot grow; the message says what to do, and it keeps its
 * keys. */
static void test_mapped_filters_cannot_grow(void **state)
{
    (void)state;
    char path[] = "scalable-test.bly";
    bly_filter *filter = scalable_new("scalable", 100, 0.01);
    assert_status(bly_save(filter, path), BLY_OK);
    bly_free(filter);
    assert_status(bly_open(&filter, path, BLY_MAP | BLY_WRITE, NULL), BLY_OK);
    uint64_t in = 0;
    bly_status status;
    while ((status = bly_add_hash(filter, test_random(1, in))) >= 0)
        in++;
    assert_int_equal(status, BLY_EFULL);
    assert_non_null(strstr(bly_why(), "without BLY_MAP"));
    assert_true(in >= 100 && in < 110);
    uint64_t fresh = test_random(1, in);
    assert_status(bly_add_hashes(filter, &fresh, 1, NULL, NULL), BLY_EFULL);
    bly_free(filter);
    assert_status(bly_open(&filter, path, 0, NULL), BLY_OK);
    scalable_fill(filter, 1, in, 1000);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(bly_contains_hash(filter, test_random(1, i)));
    bly_free(filter);
    assert_int_equal(remove(path), 0);
}

/* With any directory, the image is valid or refused. */
static void test_directory_is_checked(void **state)
{
    (void)state;
    bly_filter *filter = scalable_new("scalable", 50, 0.01), *none = NULL;
    scalable_fill(filter, 1, 0, 300);
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t *forged = malloc(bytes);
    assert_non_null(forged);
    for (size_t at = 0; at < 1024; at++)
        for (unsigned flip = 1; flip < 256; flip += 37) {
            memcpy(forged, image, bytes);
            forged[IMAGE_HEADER + at] ^= (uint8_t)flip;
            image_seal(forged);
            bly_status status = bly_wrap(&none, forged, bytes, NULL);
            bool keys = at % 16 >= 8 && at / 16 < scalable_slices(filter);
            assert_int_equal(status, keys ? BLY_OK : BLY_ECORRUPT);
            if (status != BLY_OK)
                continue;
            bly_filter *copy = NULL;
            assert_status(bly_copy(&copy, none, NULL), BLY_OK);
            for (uint64_t i = 0; i < 100; i++)
                assert_true(bly_add_hash(copy, test_random(2, i)) >= 0);
            bly_free(copy);
            bly_free(none);
        }
    free(forged);
    bly_free(filter);
}

/* Returns the status of an image whose u64 number `at / 8`, and that of its
 * slice 0, are changed, with new checksums. */
static bly_status scalable_forged(const char *kind, size_t at, uint64_t value)
{
    bly_filter *filter = scalable_new(kind, 50, 0.01);
    size_t bytes, first = IMAGE_HEADER + 1024;
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t *forged = malloc(bytes);
    assert_non_null(forged);
    memcpy(forged, image, bytes);
    image_set_u64(forged, at, value);
    if (at == IMAGE_CAPACITY)
        image_set_u64(forged + first, at, value);
    image_unseal(forged + first);
    image_seal(forged);
    bly_status status = bly_check(forged, bytes, NULL);
    free(forged);
    bly_free(filter);
    return status;
}

/* A capacity other than slice 0's would give the next slice any size, and so
 * would one that slice 0 repeats but has no bits for. */
static void test_capacity_is_checked(void **state)
{
    (void)state;
    size_t inner = IMAGE_HEADER + 1024 + IMAGE_CAPACITY;
    static const char *const kinds[] = {
        "scalable", "scalable:of=quotient", "scalable:of=split",
        "scalable:tightening=1", "scalable:growth=16,tightening=99",
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_status(scalable_forged(kinds[i], IMAGE_CAPACITY, 50), BLY_OK);
        for (unsigned bit = 12; bit < 64; bit++) {
            uint64_t keys = UINT64_C(1) << bit;
            assert_status(scalable_forged(kinds[i], IMAGE_CAPACITY, keys),
                          BLY_ECORRUPT);
            assert_status(scalable_forged(kinds[i], inner, keys),
                          BLY_ECORRUPT);
        }
    }
}

/* Every plan is valid, also at its limits, and grows to valid filters. */
static void test_plans_are_sound(void **state)
{
    (void)state;
    static const double rates[] = { 0.999999, 0.9, 0.1, 1e-3, 1e-9 };
    static const char *const options[] = { "", ",tightening=1",
                                           ",tightening=99,growth=16" };
    static const char *const of[] = {
        "standard", "partitioned", "blocked", "split", "counting", "variable",
        "dleft", "deletable", "cuckoo", "quotient", "compaction", "floom",
    };
    static const uint64_t capacities[] = { 1, 2, 10, 82 };
    for (size_t i = 0; i < 12 * 5 * 3 * 4; i += test_work(1, 7, 7)) {
        char kind[80];
        bly_spec spec = { .capacity = capacities[i / 180],
                          .rate = rates[i / 12 % 5] };
        bly_filter *filter = NULL;
        size_t bytes;
        snprintf(kind, sizeof kind, "scalable:of=%s%s", of[i % 12],
                 options[i / 60 % 3]);
        if (bly_new(&filter, kind, &spec) != BLY_OK)
            continue;                   /* a rate that this kind cannot reach */
        for (uint64_t j = 0; j < 4 * spec.capacity; j++)
            bly_add_hash(filter, test_random(i, j));
        const void *image = bly_image(filter, &bytes);
        assert_status(bly_check(image, bytes, NULL), BLY_OK);
        bly_free(filter);
    }
}

static void test_slice_headers_are_checked(void **state)
{
    (void)state;
    bly_filter *filter = scalable_new("scalable:of=standard", 50, 0.01);
    scalable_fill(filter, 1, 0, 200);
    for (size_t i = 0; i < scalable_slices(filter); i++)
        forged_inner_header(filter, IMAGE_HEADER
                                    + (size_t)scalable_at(filter, i, 0));
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_holds_while_it_grows),
        cmocka_unit_test(test_repeats_do_not_grow_it),
        cmocka_unit_test(test_slices_follow_the_rule),
        cmocka_unit_test(test_every_kind_that_adds_is_a_choice),
        cmocka_unit_test(test_rate_holds_where_it_is_high),
        cmocka_unit_test(test_a_batch_is_its_keys),
        cmocka_unit_test(test_a_batch_may_grow_it_often),
        cmocka_unit_test(test_full_when_slices_end),
        cmocka_unit_test(test_mapped_filters_cannot_grow),
        cmocka_unit_test(test_directory_is_checked),
        cmocka_unit_test(test_capacity_is_checked),
        cmocka_unit_test(test_plans_are_sound),
        cmocka_unit_test(test_slice_headers_are_checked),
    };
    return cmocka_run_group_tests_name("scalable", tests, NULL, NULL);
}
