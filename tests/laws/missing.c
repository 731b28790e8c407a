/* missing.c - the law that verbs which a kind lacks report it. */
#include "laws/laws.h"

#include "bloomery/sketch.h"

/* Visits that never happen. */
static bool laws_visit_fingerprint(void *context, uint64_t hash, unsigned bits,
                                uint64_t count)
{
    (void)context, (void)hash, (void)bits, (void)count;
    return false;
}

static bool laws_visit_key(void *context, const bly_listed *listed)
{
    (void)context, (void)listed;
    return false;
}

static bool laws_visit_label(void *context, const bly_label_t *label)
{
    (void)context, (void)label;
    return false;
}

static void law_missing_verbs_say_so(void **state)
{
    (void)state;
    LAWS_NEED_MEMORY();
    bly_filter *filter = laws_of(1000, 0.001, 1, 500);
    uint64_t member = test_random(1, 3), label = 42;
    if (laws_frozen()) {
        bly_filter *none = NULL;
        bly_spec spec = { .capacity = 10 };
        assert_status(bly_new(&none, laws_kind->name, &spec),
                      BLY_EUNSUPPORTED);
        assert_status(bly_add_hash(filter, member), BLY_EUNSUPPORTED);
        assert_status(bly_add_hashes(filter, &member, 1, NULL, NULL),
                      BLY_EUNSUPPORTED);
    }
    if (!laws_removes())
        assert_status(bly_remove_hash(filter, member), BLY_EUNSUPPORTED);
    if (!laws_counts()) {
        assert_true(bly_count_hash(filter, member) == UINT64_MAX);
        bly_filter *empty = laws_new(1000, 0.001, 0, 0);
        assert_true(bly_count_hash(empty, member) == 0);
        bly_free(empty);
    }
    if (laws_frozen())
        assert_status(bly_add_hashes(filter, &member, 1, NULL, NULL),
                      BLY_EUNSUPPORTED);
    if (laws_kind->resizing == NULL)
        assert_status(bly_resize(filter, 5000), BLY_EUNSUPPORTED);
    if (!KIND_HAS(laws_kind, listing, fingerprints)) {
        assert_status(
            bly_list_fingerprints(filter, laws_visit_fingerprint, NULL),
            BLY_EUNSUPPORTED);
        assert_non_null(strstr(bly_why(), "cannot list fingerprints"));
    }
    if (!KIND_HAS(laws_kind, combining, unite_at))
        assert_status(bly_unite_at(filter, filter, 1), BLY_EUNSUPPORTED);
    if (!KIND_HAS(laws_kind, listing, keys))
        assert_status(bly_list_keys(filter, laws_visit_key, NULL),
                      BLY_EUNSUPPORTED);
    if (!KIND_HAS(laws_kind, combining, subtract))
        assert_status(bly_subtract(filter, filter), BLY_EUNSUPPORTED);
    if (!laws_removes())
        assert_status(bly_remove_hashes(filter, &member, 1, NULL),
                      BLY_EUNSUPPORTED);
    if (laws_kind->labels == NULL) {
        assert_status(bly_put_hash(filter, member, 7), BLY_EUNSUPPORTED);
        assert_status(bly_put_hashes(filter, &member, &label, 1, NULL),
                      BLY_EUNSUPPORTED);
        assert_false(bly_get_hash(filter, member, &label));
        assert_int_equal(label, 42);
    }
    if (!KIND_HAS(laws_kind, labels, each))
        assert_status(bly_list_labels(filter, laws_visit_label, NULL),
                      BLY_EUNSUPPORTED);
    assert_int_equal(laws_present(filter, 1, 500), 500);
    bly_free(filter);
}

static const struct CMUnitTest missing_laws[] = {
    cmocka_unit_test(law_missing_verbs_say_so),
};

const laws_group laws_missing = LAWS_GROUP(missing_laws);
