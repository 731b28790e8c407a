/* sizes.c - laws about resizing and folding filters. */
#include "laws/laws.h"

/* A filter folded by any possible factor holds the same keys in that many times
 * fewer bytes. */
static void law_folded_holds_the_same(void **state)
{
    (void)state;
    enum { N = 3000 };
    bly_filter *filter = laws_new(N, 0.001, 3, 0);
    bly_info_t before, after;
    if (laws_kind->folding == NULL) {
        assert_status(bly_fold(filter, 2), BLY_EUNSUPPORTED);
        bly_free(filter);
        return;
    }
    for (uint64_t i = 0; i < N; i++)
        assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
    for (uint64_t times = 0; times <= 12; times++) {
        bly_filter *copy = laws_copy(filter);
        bly_status status = bly_fold(copy, times);
        assert_status(bly_info(&before, filter), BLY_OK);
        assert_status(bly_info(&after, copy), BLY_OK);
        if (status != BLY_OK) {
            assert_said(status, BLY_EPARAM);
            assert_int_equal(after.bytes, before.bytes);
            assert_true(times != 1);
        } else {
            size_t left = before.bytes - 128;
            assert_true(after.bytes - 128 <= left / times + 1);
            assert_int_equal(after.items, before.items);
            assert_true(after.rate >= before.rate);
        }
        for (uint64_t i = 0; i < N; i++)
            assert_true(bly_contains_hash(copy, test_random(1, i)));
        assert_status(bly_check(bly_image(copy, NULL), (size_t)after.bytes,
                                NULL), BLY_OK);
        bly_free(copy);
    }
    bly_free(filter);
}

/* A full filter is resized without the keys, and filled again. */
static void law_resized_holds_the_same(void **state)
{
    (void)state;
    if (laws_kind->resizing == NULL)
        skip();
    bly_filter *filter = laws_of(5000, 0.001, 1, 5000);
    uint64_t in = 5000;
    for (uint64_t capacity = 10000; capacity <= 40000; capacity *= 2) {
        assert_status(bly_resize(filter, capacity), BLY_OK);
        bly_info_t stat;
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_true(stat.capacity >= capacity && stat.items == in);
        assert_int_equal(laws_present(filter, 1, in), in);
        for (; in < capacity; in++)
            assert_true(bly_add_hash(filter, test_random(1, in)) >= 0);
        assert_int_equal(laws_present(filter, 1, in), in);
        assert_status(bly_info(&stat, filter), BLY_OK);
        uint64_t asked = test_work(1000000, 300000, 50000);
        assert_within(laws_present(filter, 2, asked), asked, stat.rate, 0);
        assert_true(stat.rate <= 1.2 * stat.planned_rate);
    }
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    assert_status(bly_check(image, bytes, NULL), BLY_OK);
    assert_status(bly_resize(filter, 0), BLY_EPARAM);
    if (laws_removes())
        for (uint64_t i = 0; i < in; i++)
            assert_status(bly_remove_hash(filter, test_random(1, i)), BLY_OK);
    bly_free(filter);
}

static const struct CMUnitTest sizes_laws[] = {
    cmocka_unit_test(law_resized_holds_the_same),
    cmocka_unit_test(law_folded_holds_the_same),
};

const laws_group laws_sizes = LAWS_GROUP(sizes_laws);
