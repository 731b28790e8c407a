/* sets.c - laws about unions, intersections and overlaps. */
#include "laws/laws.h"

static void law_union_is_built_of_both(void **state)
{
    (void)state;
    if (!KIND_HAS(laws_kind, combining, unite))
        skip();
    uint64_t room = laws_room(3000), in = room / 3, more = room / 2;
    bly_filter *a = laws_of(room, 0.01, 1, in);
    bly_filter *b = laws_of(room, 0.01, 2, more);
    bly_filter *both = laws_of(room, 0.01, 1, in);
    for (uint64_t i = 0; i < more; i++)
        bly_add_hash(both, test_random(2, i));
    assert_status(bly_unite(a, b), BLY_OK);
    size_t bytes;
    const uint8_t *united = bly_image(a, &bytes),
                  *built = bly_image(both, NULL);
    assert_memory_equal(united + IMAGE_HEADER, built + IMAGE_HEADER,
                        bytes - IMAGE_HEADER);
    bly_info_t stat;
    assert_status(bly_info(&stat, a), BLY_OK);
    bool counts = laws_counts() || KIND_HAS(laws_kind, combining, subtract);
    assert_int_equal(stat.items_exact, counts);
    assert_true(fabs((double)stat.items - (double)(in + more))
                <= (counts ? 0 : 5 * stat.distinct_sd + 1));
    assert_true(bly_add_hash(a, test_random(3, 0)) >= 0);
    assert_status(bly_info(&stat, a), BLY_OK);
    assert_int_equal(stat.items_exact, counts); /* once unknown, it stays so */
    bly_free(a);
    bly_free(b);
    bly_free(both);
}

static void law_intersection_keeps_the_common(void **state)
{
    (void)state;
    if (!KIND_HAS(laws_kind, combining, intersect))
        skip();
    bly_filter *a = laws_of(3000, 0.01, 1, 2000);
    bly_filter *b = laws_of(3000, 0.01, 1, 1000);
    for (uint64_t i = 0; i < 1000; i++)
        bly_add_hash(b, test_random(2, i));
    uint64_t a_hits = laws_present(a, 9, 100000);
    assert_status(bly_intersect(a, b), BLY_OK);
    assert_int_equal(laws_present(a, 1, 1000), 1000);
    assert_true(laws_present(a, 9, 100000) <= a_hits);
    bly_free(a);
    bly_free(b);
}

static void law_overlap_is_estimated(void **state)
{
    (void)state;
    if (!KIND_HAS(laws_kind, combining, overlap))
        skip();
    uint64_t unit = laws_exact() ? 100 : 5000;  /* over what it is exact for */
    bly_filter *a = laws_of(6 * unit, 0.01, 1, 4 * unit);
    bly_filter *b = laws_of(6 * unit, 0.01, 1, unit);
    for (uint64_t i = 0; i < 2 * unit; i++)
        bly_add_hash(b, test_random(2, i));
    bly_overlap_t o;
    assert_status(bly_overlap(&o, a, b), BLY_OK);
    double u = (double)unit;
    const struct { bly_estimate got; double truth; } rows[] = {
        { o.a, 4 * u }, { o.b, 3 * u }, { o.either, 6 * u }, { o.both, u },
        { o.differ, 5 * u }, { o.jaccard, 1.0 / 6 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(rows[i].got.sd > 0);
        assert_true(fabs(rows[i].got.value - rows[i].truth)
                    <= 5 * rows[i].got.sd);
    }
    bly_free(a);
    bly_free(b);
}

static void law_unlike_filters_do_not_mix(void **state)
{
    (void)state;
    bly_filter *a = laws_of(3000, 0.01, 1, 100);
    bly_spec specs[] = {
        { .capacity = 3000, .rate = 0.01, .seed = 1 },
        { .capacity = 9000, .rate = 0.01 },
        { .capacity = 3000, .rate = 0.01, .hash = "murmur3" },
        { .capacity = 3000, .rate = 0.0001 },
    };
    size_t n = sizeof specs / sizeof *specs - !laws_sized_by_rate();
    bly_overlap_t overlap;
    bly_filter *before;
    assert_status(bly_copy(&before, a, NULL), BLY_OK);
    for (size_t i = 0; i < n; i++) {
        if (laws_exact() && specs[i].rate != 0.01 && specs[i].rate != 0)
            continue;                   /* the rate makes no difference */
        if (KIND_HAS(laws_kind, combining, union_capacity)
            && specs[i].capacity != 3000)
            continue;                   /* nor the capacity             */
        bly_filter *b = laws_make(&specs[i]);
        assert_status(bly_unite(a, b), BLY_EMISMATCH);
        assert_status(bly_subtract(a, b), BLY_EMISMATCH);
        assert_status(bly_intersect(a, b), BLY_EMISMATCH);
        assert_status(bly_overlap(&overlap, a, b), BLY_EMISMATCH);
        bly_free(b);
    }
    assert_true(laws_same_bytes(a, before));
    bly_free(a);
    bly_free(before);
}

/* A filter without keys and form takes those of the other. */
static void law_an_empty_filter_takes_a_form(void **state)
{
    (void)state;
    if (!KIND_HAS(laws_kind, combining, unite))
        skip();
    uint64_t room = laws_room(3000), in = room / 3;
    bly_filter *blank = laws_of(room, 0.01, 1, 0);
    bly_filter *none = laws_of(room, 0.01, 1, 0);
    bly_filter *stated = laws_of(room, 0.01, 2, in);
    uint64_t found = laws_present(stated, 2, in);
    assert_status(bly_form_set(stated, BLY_KEYS_TEXT), BLY_OK);
    assert_status(bly_unite(stated, none), BLY_OK);
    assert_status(bly_unite(blank, stated), BLY_OK);
    assert_int_equal(laws_present(blank, 2, in), found);
    assert_int_equal(bly_form_of(blank), BLY_KEYS_TEXT);
    assert_int_equal(bly_form_of(stated), BLY_KEYS_TEXT);
    assert_int_equal(bly_form_of(none), BLY_KEYS_UNSTATED);
    if (KIND_HAS(laws_kind, combining, subtract)) {
        assert_status(bly_subtract(none, stated), BLY_OK);
        assert_int_equal(bly_form_of(none), BLY_KEYS_TEXT);
    }
    bly_free(blank);
    bly_free(none);
    bly_free(stated);
}

static const struct CMUnitTest sets_laws[] = {
    cmocka_unit_test(law_union_is_built_of_both),
    cmocka_unit_test(law_intersection_keeps_the_common),
    cmocka_unit_test(law_overlap_is_estimated),
    cmocka_unit_test(law_unlike_filters_do_not_mix),
    cmocka_unit_test(law_an_empty_filter_takes_a_form),
};

const laws_group laws_sets = LAWS_GROUP(sets_laws);
