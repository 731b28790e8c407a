/* expandable.c - tests specific to kind `expandable`: what it promises at every
 * size on its way, whatever is added and removed.
 */
#include "test.h"

#include <math.h>

#include "bloomery/sketch.h"
#include "image/image.h"

enum { ASKED = 200000, CHUNK = 1000 };

static bly_filter *expandable_new(uint64_t capacity, double rate)
{
    bly_spec spec = { .capacity = capacity, .rate = rate };
    bly_filter *filter = NULL;
    assert_said(bly_new(&filter, "expandable", &spec), BLY_OK);
    return filter;
}

static uint64_t expandable_key(uint64_t i)
{
    return test_random(1, i);
}

static void expandable_fill(bly_filter *filter, uint64_t from, uint64_t to)
{
    uint64_t hashes[CHUNK];
    while (from < to) {
        size_t n = 0;
        while (n < CHUNK && from < to)
            hashes[n++] = expandable_key(from++);
        assert_said(bly_add_hashes(filter, hashes, n, NULL, NULL), BLY_OK);
    }
}

static uint64_t expandable_found(const bly_filter *filter, uint64_t stream,
                                 uint64_t from, uint64_t to)
{
    uint64_t found = 0;
    for (uint64_t i = from; i < to; i++)
        found += bly_contains_hash(filter, test_random(stream, i));
    return found;
}

/* Checks that the first n keys are there and that the rate is what the filter
 * reports, and at most `rate`. */
static void expandable_holds(const bly_filter *filter, uint64_t n, double rate)
{
    bly_info_t info;
    assert_status(bly_info(&info, filter), BLY_OK);
    assert_int_equal(expandable_found(filter, 1, 0, n), n);
    double found = (double)expandable_found(filter, 2, 0, ASKED);
    double expected = info.rate * ASKED;
    assert_true(fabs(found - expected) <= 5 * sqrt(expected + 1));
    assert_true(info.rate <= rate);
}

/* ---- Growing ----------------------------------------------------------- */

/* At every size from one key on, planned for none or for far fewer, no key is
 * lost, and the rate is at most the one that was asked for. */
static void expandable_grows(uint64_t capacity, double rate, double most)
{
    bly_filter *filter = expandable_new(capacity, rate);
    uint64_t n = 0, end = test_work(1000000, 100000, 20000);
    while (n < end) {
        uint64_t next = n + n / 3 + 1;
        expandable_fill(filter, n, next);
        n = next;
        if (n < 100 && n % 7 != 0)
            continue;
        bly_info_t info;
        expandable_holds(filter, n, rate);
        assert_status(bly_info(&info, filter), BLY_OK);
        assert_true(fabs(info.distinct - (double)n)
                    <= 5 * info.distinct_sd + 1);
        double bits = 8 * (double)info.bytes / (double)n;
        if (n > 5000 && bits > most)
            fail_msg("%g bits per key at %g keys", bits, (double)n);
    }
    bly_free(filter);
}

static void test_the_rate_holds_at_every_size(void **state)
{
    (void)state;
    expandable_grows(0, 0.01, 16.9);
    expandable_grows(0, 0.001, 21);
    expandable_grows(1, 0.4, 20);
    expandable_grows(70, 0.1, 20);
}

/* A key that is added again after the filter has grown is counted again. So the
 * number of different keys is given as an upper bound from then on. */
static void test_repeated_keys_are_at_most(void **state)
{
    (void)state;
    bly_filter *filter = expandable_new(0, 0.01);
    bly_info_t info;
    expandable_fill(filter, 0, 400);
    expandable_fill(filter, 0, 400);
    assert_status(bly_info(&info, filter), BLY_OK);
    assert_true(fabs(info.distinct - 400) <= 5 * info.distinct_sd + 1);
    assert_true(isfinite(info.distinct_sd));
    expandable_fill(filter, 400, 3000);
    expandable_fill(filter, 0, 400);
    assert_status(bly_info(&info, filter), BLY_OK);
    assert_true(info.distinct > 3200 && isinf(info.distinct_sd));
    bly_free(filter);
}

/* Keys that are added again and again take many slots in a few places. A
 * segment that has no room for them must not keep the filter from growing. */
static void test_clumps_grow(void **state)
{
    (void)state;
    enum { TIMES = 20, ADDS = 140000, KEYS = ADDS / TIMES + 10 };
    for (uint64_t seed = 1; seed <= 6; seed++) {
        bly_filter *filter = expandable_new(0, 0.01);
        uint64_t *added = calloc(KEYS, sizeof *added);
        assert_non_null(added);
        for (uint64_t i = 0; i < ADDS; i++) {
            uint64_t key = test_random(seed, i) % (i / TIMES + 10);
            assert_true(bly_add_hash(filter, test_random(100 + seed, key))
                        >= 0);
            added[key]++;
        }
        for (uint64_t key = 0; key < KEYS; key++)
            assert_true(bly_count_hash(filter, test_random(100 + seed, key))
                        >= added[key]);
        size_t bytes;
        const uint8_t *image = bly_image(filter, &bytes);
        assert_status(bly_check(image, bytes, NULL), BLY_OK);
        free(added);
        bly_free(filter);
    }
}

/* A union of filters with just as many keys as the next size is due for has
 * segments that are fuller than others. */
static void test_unions_find_room(void **state)
{
    (void)state;
    enum { SLOTS = 15 << 15, PAIRS = 6 };
    for (uint64_t i = 0; i < PAIRS; i++) {
        bly_filter *a = expandable_new(SLOTS / 2, 0.01);
        bly_filter *b = expandable_new(SLOTS / 2, 0.01);
        for (uint64_t j = 0; j < SLOTS; j++)
            assert_true(bly_add_hash(j % 2 == 0 ? a : b, test_random(i, j))
                        >= 0);
        assert_status(bly_unite(a, b), BLY_OK);
        for (uint64_t j = 0; j < SLOTS; j++)
            assert_true(bly_contains_hash(a, test_random(i, j)));
        assert_status(bly_resize(a, SLOTS), BLY_OK);
        assert_true(bly_contains_hash(a, test_random(i, 0)));
        bly_free(a);
        bly_free(b);
    }
}

/* Filters for other numbers of keys, or for none, are united both ways. */
static void test_unites_all_estimates(void **state)
{
    (void)state;
    static const uint64_t capacities[] = { 0, 50, 1000, 60000 };
    for (size_t i = 0; i < 16; i++) {
        bly_filter *a = expandable_new(capacities[i / 4], 0.01);
        bly_filter *b = expandable_new(capacities[i % 4], 0.01);
        expandable_fill(a, 0, 3000 * (1 + i / 4));
        for (uint64_t j = 0; j < 20000; j++)
            assert_true(bly_add_hash(b, test_random(7, j)) >= 0);
        assert_said(bly_unite(a, b), BLY_OK);
        assert_int_equal(expandable_found(a, 1, 0, 3000 * (1 + i / 4)),
                         3000 * (1 + i / 4));
        assert_int_equal(expandable_found(a, 7, 0, 20000), 20000);
        bly_info_t info;
        assert_status(bly_info(&info, a), BLY_OK);
        double found = (double)expandable_found(a, 2, 0, ASKED);
        assert_true(fabs(found - info.rate * ASKED)
                    <= 5 * sqrt(info.rate * ASKED + 1));
        assert_said(bly_resize(a, 200000), BLY_OK);
        assert_said(bly_unite(b, a), BLY_OK);
        assert_int_equal(expandable_found(b, 1, 0, 3000 * (1 + i / 4)),
                         3000 * (1 + i / 4));
        bly_free(a);
        bly_free(b);
    }
    bly_filter *a = expandable_new(0, 0.01), *b = expandable_new(0, 0.02);
    assert_status(bly_unite(a, b), BLY_EMISMATCH);
    bly_free(a);
    bly_free(b);
}

/* Single adds grow the filter just as batches do. */
static void test_single_adds_are_a_batch(void **state)
{
    (void)state;
    uint64_t n = test_work(200000, 60000, 20000);
    bly_filter *one = expandable_new(0, 0.01), *many = expandable_new(0, 0.01);
    size_t bytes, others;
    expandable_fill(many, 0, n);
    for (uint64_t i = 0; i < n; i++)
        assert_true(bly_add_hash(one, expandable_key(i)) >= 0);
    const uint8_t *image = bly_image(one, &bytes);
    const uint8_t *other = bly_image(many, &others);
    assert_int_equal(bytes, others);
    assert_memory_equal(image, other, bytes);
    bly_free(one);
    bly_free(many);
}

/* ---- Adding and removing ----------------------------------------------- */

/* Keys are added several times and removed in any order while the filter grows
 * until many fingerprints are shorter than the address. No count is ever too
 * low, and at the end nothing is left. */
static void test_no_history_loses_a_key(void **state)
{
    (void)state;
    enum { KEYS = 1 << 15 };
    static uint8_t times[KEYS];
    bly_filter *filter = expandable_new(1, 0.4);
    uint64_t steps = test_work(10000000, 400000, 100000), range = 64;
    bly_info_t info;
    memset(times, 0, sizeof times);
    for (uint64_t i = 0; i < steps; i++) {
        if (i % (steps / 10 + 1) == 0 && range < KEYS)
            range *= 2;
        uint64_t draw = test_random(3, i), key = draw % range;
        bool more = draw >> 32 & 3;
        if (more && times[key] < 9) {
            assert_true(bly_add_hash(filter, expandable_key(key)) >= 0);
            times[key]++;
        } else if (times[key] > 0) {
            assert_said(bly_remove_hash(filter, expandable_key(key)), BLY_OK);
            times[key]--;
        }
        key = draw >> 40 & (range - 1);
        assert_true(bly_count_hash(filter, expandable_key(key)) >= times[key]);
    }
    for (uint64_t key = 0; key < KEYS; key++)
        for (; times[key] > 0; times[key]--)
            assert_said(bly_remove_hash(filter, expandable_key(key)), BLY_OK);
    assert_status(bly_info(&info, filter), BLY_OK);
    assert_true(info.distinct == 0 && info.rate == 0 && info.fill == 0);
    bly_free(filter);
}

/* ---- Other sizes ------------------------------------------------------- */

/* A filter that lost most of its keys shrinks, and keeps its rate. */
static void test_shrinks_and_grows(void **state)
{
    (void)state;
    uint64_t n = test_work(300000, 60000, 20000);
    bly_filter *filter = expandable_new(0, 0.01);
    bly_info_t before, after;
    expandable_fill(filter, 0, n);
    for (uint64_t i = n / 10; i < n; i++)
        assert_said(bly_remove_hash(filter, expandable_key(i)), BLY_OK);
    assert_status(bly_info(&before, filter), BLY_OK);
    assert_status(bly_resize(filter, n / 100), BLY_EFULL);
    assert_said(bly_resize(filter, n / 10), BLY_OK);
    assert_status(bly_info(&after, filter), BLY_OK);
    assert_true(after.bytes < before.bytes / 5);
    expandable_holds(filter, n / 10, 0.01);
    assert_said(bly_resize(filter, n), BLY_OK);
    expandable_holds(filter, n / 10, 0.01);
    expandable_fill(filter, n / 10, n);
    expandable_holds(filter, n, 0.01);
    bly_free(filter);
}

/* Filters of very different sizes are united, either into the other. */
static void test_unites_other_sizes(void **state)
{
    (void)state;
    uint64_t n = test_work(300000, 60000, 20000);
    for (int turn = 0; turn < 2; turn++) {
        bly_filter *small = expandable_new(0, 0.01);
        bly_filter *large = expandable_new(0, 0.01);
        expandable_fill(small, 0, n / 50);
        expandable_fill(large, n / 60, n);
        bly_filter *into = turn == 0 ? small : large;
        assert_said(bly_unite(into, turn == 0 ? large : small), BLY_OK);
        assert_int_equal(expandable_found(into, 1, 0, n), n);
        for (uint64_t i = n / 60; i < n / 50; i++)
            assert_true(bly_count_hash(into, expandable_key(i)) >= 2);
        assert_said(bly_unite(into, into), BLY_OK);
        assert_true(bly_count_hash(into, expandable_key(n / 60)) >= 4);
        expandable_fill(into, n, 2 * n);
        assert_int_equal(expandable_found(into, 1, 0, 2 * n), 2 * n);
        bly_free(small);
        bly_free(large);
    }
}

/* ---- Hostile keys and images ------------------------------------------- */

/* A hash whose bits 13 to 20, which will tell segments apart, are 0. */
static uint64_t expandable_crowd(uint64_t i)
{
    return test_random(4, i) & ~(UINT64_C(0xFF) << (64 - 21));
}

/* Hashes that crowd in one place end in "full", with all keys there. */
static void test_crowded_keys_are_refused(void **state)
{
    (void)state;
    bly_filter *filter = expandable_new(0, 0.01);
    bly_status status = BLY_OK;
    size_t bytes;
    uint64_t n = 0;
    for (; status >= 0 && n < 1000000; n++)
        status = bly_add_hash(filter, expandable_crowd(n));
    assert_said(status, BLY_EFULL);
    assert_non_null(strstr(bly_why(), "crowd"));
    for (uint64_t i = 0; i + 1 < n; i++)
        assert_true(bly_contains_hash(filter, expandable_crowd(i)));
    bly_image(filter, &bytes);
    assert_true(bytes < 100 * n);
    bly_free(filter);
}

/* An image is sound at every step of its growth; one with another layout or
 * more segments left than it has is not. */
static void test_layouts_are_checked(void **state)
{
    (void)state;
    enum { LEFT = IMAGE_HEADER, OLD = LEFT + 24, NEW = LEFT + 32 };
    bly_filter *filter = expandable_new(0, 0.01);
    uint64_t moving = 0;
    for (uint64_t i = 0; i < 60000; i++) {
        assert_true(bly_add_hash(filter, expandable_key(i)) >= 0);
        if (i % 64 != 0)
            continue;
        size_t bytes;
        const uint8_t *image = bly_image(filter, &bytes);
        assert_said(bly_check(image, bytes, NULL), BLY_OK);
        if (image_u64(image, LEFT) == 0 || moving++ > 5)
            continue;
        for (unsigned field = LEFT; field <= NEW; field += 8) {
            if (field != LEFT && field != OLD && field != NEW)
                continue;
            uint8_t *forged = malloc(bytes);
            assert_non_null(forged);
            memcpy(forged, image, bytes);
            image_set_u64(forged, field, image_u64(image, field) + 64);
            image_seal(forged);
            assert_status(bly_check(forged, bytes, NULL), BLY_ECORRUPT);
            free(forged);
        }
    }
    assert_true(moving > 0);
    bly_free(filter);
}

static bool expandable_visited(void *context, uint64_t hash, unsigned bits,
                               uint64_t count)
{
    (void)hash;
    (void)bits;
    (void)count;
    return ++*(uint64_t *)context < 100000;
}

/* Whatever the segments hold, every verb stays inside and ends. */
static void expandable_hostile(uint64_t keys, uint64_t stream)
{
    enum { HEAD = IMAGE_HEADER + 64 };
    bly_filter *filter = expandable_new(0, 0.01), *forged = NULL;
    bly_filter *other = expandable_new(0, 0.01);
    bly_info_t info;
    size_t bytes;
    uint64_t visits = 0;
    expandable_fill(filter, 0, keys);
    expandable_fill(other, 0, 5000);
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t *bad = malloc(bytes);
    assert_non_null(bad);
    memcpy(bad, image, bytes);
    for (size_t i = HEAD; i < bytes; i++)
        if (stream % 3 == 0 || test_random(stream, i) % 64 == 0)
            bad[i] = stream == 0 ? 0xFF : (uint8_t)test_random(stream + 1, i);
    if (stream % 4 > 1)                 /* slots in use: none, or all but one */
        image_set_u64(bad, IMAGE_HEADER + 8, stream % 4 == 2 ? 0
                      : image_u64(bad, IMAGE_HEADER + 16) - 1);
    image_seal(bad);
    assert_said(bly_unpack(&forged, bad, bytes, NULL), BLY_OK);
    for (uint64_t i = 0; i < 300; i++) {
        uint64_t hash = test_random(9, i);
        (void)bly_contains_hash(forged, hash);
        (void)bly_count_hash(forged, hash);
        (void)bly_remove_hash(forged, hash);
        (void)bly_add_hash(forged, hash);
    }
    image = bly_image(forged, &bytes);
    assert_status(bly_check(image, bytes, NULL), BLY_OK);
    (void)bly_list_fingerprints(forged, expandable_visited, &visits);
    assert_status(bly_info(&info, forged), BLY_OK);
    (void)bly_unite(other, forged);
    (void)bly_unite(forged, other);
    (void)bly_resize(forged, 200000);
    image = bly_image(forged, &bytes);
    assert_status(bly_check(image, bytes, NULL), BLY_OK);
    bly_free(forged);
    bly_free(other);
    bly_free(filter);
    free(bad);
}

/* An image that is longer than its layout keeps its length when it grows. */
static void test_longer_images_grow(void **state)
{
    (void)state;
    enum { MORE = 100000 };
    bly_filter *filter = expandable_new(0, 0.01), *longer = NULL;
    size_t bytes;
    expandable_fill(filter, 0, 400);
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t *copy = calloc(1, bytes + MORE);
    assert_non_null(copy);
    memcpy(copy, image, bytes);
    image_set_u64(copy, IMAGE_BYTES, bytes + MORE);
    image_seal(copy);
    assert_said(bly_unpack(&longer, copy, bytes + MORE, NULL), BLY_OK);
    expandable_fill(longer, 400, 60000);
    assert_int_equal(expandable_found(longer, 1, 0, 60000), 60000);
    bly_free(longer);
    bly_free(filter);
    free(copy);
}

/* Checks that an empty filter is refused with another number at an offset. */
static void expandable_refuses(uint64_t offset, uint64_t number)
{
    bly_filter *filter = expandable_new(0, 0.01);
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t *forged = malloc(bytes);
    assert_non_null(forged);
    memcpy(forged, image, bytes);
    image_set_u64(forged, offset, number);
    image_seal(forged);
    assert_status(bly_check(forged, bytes, NULL), BLY_ECORRUPT);
    free(forged);
    bly_free(filter);
}

/* More slots in use than there are would make a filter grow without end, and a
 * union is planned for the capacity. */
static void test_forged_numbers_are_refused(void **state)
{
    (void)state;
    expandable_refuses(IMAGE_HEADER + 8, UINT64_MAX / 2);
    expandable_refuses(IMAGE_HEADER + 16, UINT64_MAX / 2);
    expandable_refuses(IMAGE_CAPACITY, UINT64_MAX / 2);
    expandable_refuses(IMAGE_CAPACITY, 481);
}

/* A fingerprint of one bit would be at half of all places of a filter. */
static void test_forged_short_fingerprints_are_refused(void **state)
{
    (void)state;
    enum { BLOCK = IMAGE_HEADER + 64, SLOTS = BLOCK + 17, END = 8 };
    bly_filter *filter = expandable_new(50, 0.01), *forged = NULL;
    bly_filter *other = expandable_new(50, 0.01);
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t *bad = malloc(bytes);
    assert_non_null(bad);
    memcpy(bad, image, bytes);
    image_set_u64(bad, IMAGE_HEADER + 8, 2);    /* slots in use             */
    image_set_u64(bad, bytes - END, 2);
    image_set_u64(bad, BLOCK, 1);               /* a run of them            */
    image_set_u64(bad, BLOCK + 8, 2);
    image_set_u16(bad, SLOTS, 5 << 10);         /* 0, and five bits shorter */
    image_seal(bad);
    assert_said(bly_unpack(&forged, bad, bytes, NULL), BLY_OK);
    assert_true(bly_contains_hash(forged, 1));
    assert_status(bly_unite(other, forged), BLY_ECORRUPT);
    assert_status(bly_resize(forged, 1000000), BLY_ECORRUPT);
    bly_free(forged);
    bly_free(other);
    bly_free(filter);
    free(bad);
}

static void test_hostile_segments_are_survived(void **state)
{
    (void)state;
    uint64_t rounds = test_work(60, 12, 6);
    for (uint64_t i = 0; i < rounds; i++)
        expandable_hostile(i % 2 == 0 ? 3000 : 31000, i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_rate_holds_at_every_size),
        cmocka_unit_test(test_repeated_keys_are_at_most),
        cmocka_unit_test(test_clumps_grow),
        cmocka_unit_test(test_unions_find_room),
        cmocka_unit_test(test_unites_all_estimates),
        cmocka_unit_test(test_single_adds_are_a_batch),
        cmocka_unit_test(test_no_history_loses_a_key),
        cmocka_unit_test(test_shrinks_and_grows),
        cmocka_unit_test(test_unites_other_sizes),
        cmocka_unit_test(test_crowded_keys_are_refused),
        cmocka_unit_test(test_layouts_are_checked),
        cmocka_unit_test(test_hostile_segments_are_survived),
        cmocka_unit_test(test_longer_images_grow),
        cmocka_unit_test(test_forged_numbers_are_refused),
        cmocka_unit_test(test_forged_short_fingerprints_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
