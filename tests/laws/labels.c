/* labels.c - laws about the labels of keys. */
#include "laws/laws.h"

/* The value of a label that was not written. */
static const uint64_t laws_no_label = UINT64_C(0x5EED5EED5EED5EED);

/* Returns some valid label. */
static uint64_t laws_label(const bly_info_t *stat, uint64_t i)
{
    uint64_t span = stat->label_most - stat->label_least;
    uint64_t any = test_random(4, i);
    return stat->label_least + (span == UINT64_MAX ? any : any % (span + 1));
}

/* Returns whether a key that was put with label `was` may have label `is`. */
static bool laws_not_worse(const bly_filter *filter, uint64_t is, uint64_t was)
{
    const kind_labels *labels = laws_kind->labels;
    if (labels->covers != NULL)
        return labels->covers(bly_image(filter, NULL), is, was);
    return labels->better == KIND_LABEL_LARGER ? is >= was
         : labels->better == KIND_LABEL_SMALLER ? is <= was : is == was;
}

/* Returns the labels that a filter of this kind can hold, planned as in all
 * these laws. */
static bly_info_t laws_can(void)
{
    bly_filter *filter = laws_new(2000, 0.01, 0, 0);
    bly_info_t stat;
    bly_plan_t plan;
    bly_spec spec = { .capacity = laws_room(2000), .rate = 0.01 };
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
    assert_int_equal(stat.label_bits > 0, laws_kind->labels != NULL);
    assert_int_equal(plan.label_bits, stat.label_bits);
    assert_true(plan.label_least == stat.label_least
                && plan.label_most == stat.label_most);
    assert_true(stat.label_bits == 0 || stat.label_bits == 64
                ? stat.label_bits == 64 || stat.label_most == 0
                : stat.label_most >> stat.label_bits == 0);
    bly_free(filter);
    return stat;
}

/* Half of the keys that are looked up are there, and have labels. */
static void laws_get_many_is_one(const bly_filter *filter, const bly_key *keys,
                                 const uint64_t *hashes, size_t n)
{
    enum { N = 2000 };
    static bool found[N + 1];
    static uint64_t labels[N + 1];
    assert_true(n <= N);
    for (int by_keys = 0; by_keys < 2; by_keys++) {
        for (size_t i = 0; i <= n; i++)
            labels[i] = laws_no_label;
        memset(found, 7, sizeof found);
        if (by_keys)
            bly_get_many(filter, &(bly_keys){.n = n, .keys = keys}, found,
                         labels);
        else
            bly_get_hashes(filter, hashes, n, found, labels);
        for (size_t i = 0; i < n; i++) {
            uint64_t label = laws_no_label;
            assert_int_equal(found[i], bly_get_hash(filter, hashes[i],
                                                    &label));
            assert_true(labels[i] == label);
        }
        assert_int_equal(*(unsigned char *)&found[n], 7);
        assert_true(labels[n] == laws_no_label);
    }
}

/* A kind without labels finds none. */
static void law_get_many_is_one(void **state)
{
    (void)state;
    enum { N = 2000 };
    static uint64_t numbers[N], hashes[N], labels[N];
    static bly_key keys[N];
    bly_spec spec = { .capacity = N, .rate = 0.01 };
    bly_filter *filter = laws_make(&spec);
    bly_info_t can = laws_can(), stat;
    for (size_t i = 0; i < N; i++) {
        numbers[i] = i;
        keys[i] = (bly_key){ &numbers[i], sizeof numbers[i] };
        hashes[i] = bly_hash(filter, keys[i].data, keys[i].length);
        labels[i] = laws_label(&can, i);
    }
    bly_free(filter);
    if (laws_kind->labels != NULL)
        assert_status(bly_build(&filter, laws_kind->name, &spec,
                                &(bly_keys){ .n = N / 2, .hashes = hashes,
                                             .labels = labels }), BLY_OK);
    else
        filter = laws_of(N, 0.01, 1, N / 2);
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.items, N / 2);
    for (size_t n = 0; n <= N; n = n < 300 ? laws_next(n, 300, 1) : n + 850)
        laws_get_many_is_one(filter, keys, hashes, n);
    for (size_t i = 0; i < N / 2 && laws_kind->labels != NULL; i++) {
        uint64_t label = 0;
        assert_true(bly_get_hash(filter, hashes[i], &label));
        assert_true(laws_not_worse(filter, label, labels[i]));
        assert_true(label >= can.label_least && label <= can.label_most);
    }
    bly_free(filter);
}

/* Returns a filter to put labels into; a frozen kind is built from these
 * keys. */
static bly_filter *laws_to_put(const uint64_t *hashes, size_t n)
{
    bly_spec spec = { .capacity = n, .rate = 0.01 };
    bly_filter *filter = NULL;
    if (!laws_frozen())
        return laws_make(&spec);
    assert_status(bly_build(&filter, laws_kind->name, &spec,
                            &(bly_keys){ .n = n, .hashes = hashes }),
                  BLY_OK);
    return filter;
}

/* Batches equal single calls, with repeated keys that have other labels. */
static void law_put_many_is_one(void **state)
{
    (void)state;
    enum { N = 3000 };
    static uint64_t hashes[N], labels[N];
    if (laws_kind->labels == NULL)
        skip();
    bly_info_t can = laws_can(), stat;
    for (uint64_t i = 0; i < N; i++) {
        hashes[i] = test_random(3, i % 5 == 4 ? i / 2 : i);
        labels[i] = laws_label(&can, i);
    }
    for (size_t n = 0; n <= N; n = laws_next(n, 200, 2)) {
        bly_filter *one = laws_to_put(hashes, N);
        bly_filter *all = laws_to_put(hashes, N);
        for (size_t i = 0; i < n; i++)
            assert_true(bly_put_hash(one, hashes[i], labels[i]) >= 0);
        assert_status(bly_put_hashes(all, hashes, labels, n, NULL), BLY_OK);
        assert_true(laws_same_bytes(one, all));
        assert_status(bly_info(&stat, all), BLY_OK);
        assert_true(stat.items_exact);
        assert_int_equal(stat.items, laws_frozen() ? N : n);
        for (size_t i = 0; i < n && !laws_frozen(); i++) {
            uint64_t label = 0;
            assert_true(bly_get_hash(all, hashes[i], &label));
            assert_true(laws_not_worse(all, label, labels[i]));
            assert_status(bly_put_hash(one, hashes[i], labels[i]), BLY_SEEN);
        }
        bly_free(one);
        bly_free(all);
    }
}

/* An invalid label changes nothing. The ones before it in a batch are stored
 * and counted. */
static void law_wrong_labels_are_refused(void **state)
{
    (void)state;
    enum { N = 700, BAD = 500 };
    static uint64_t hashes[N], labels[N];
    if (laws_kind->labels == NULL)
        skip();
    bly_info_t can = laws_can(), stat;
    const struct { bool is; uint64_t label; } wrong[] = {
        { can.label_least > 0, can.label_least - 1 },
        { can.label_least > 0, 0 },
        { can.label_most < UINT64_MAX, can.label_most + 1 },
        { can.label_most < UINT64_MAX, UINT64_MAX },
    };
    for (uint64_t i = 0; i < N; i++) {
        hashes[i] = test_random(3, i);
        labels[i] = laws_label(&can, i);
    }
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        if (!wrong[w].is)
            continue;
        bly_filter *some = laws_to_put(hashes, N), *all = NULL;
        assert_status(bly_put_hashes(some, hashes, labels, BAD, NULL), BLY_OK);
        assert_status(bly_copy(&all, some, NULL), BLY_OK);
        assert_status(bly_put_hash(all, hashes[BAD], wrong[w].label),
                      BLY_EPARAM);
        assert_true(laws_same_bytes(some, all));
        bly_free(all);
        all = laws_to_put(hashes, N);
        uint64_t good = labels[BAD];
        labels[BAD] = wrong[w].label;
        assert_status(bly_put_hashes(all, hashes, labels, N, NULL), BLY_EPARAM);
        labels[BAD] = good;
        assert_true(laws_same_bytes(some, all));
        assert_status(bly_info(&stat, all), BLY_OK);
        assert_int_equal(stat.items, laws_frozen() ? N : BAD);
        bly_free(some);
        bly_free(all);
    }
}

/* The labels visited so far. */
typedef struct { uint64_t next, left; double fill, rate; } laws_told;

static bool laws_tell(void *context, const bly_label_t *label)
{
    laws_told *told = context;
    assert_true(label->label == told->next++);
    assert_true(label->fill >= 0 && label->fill <= 1);
    assert_true(label->rate >= 0 && label->rate <= 1);
    assert_true(label->mistaken >= 0 && label->mistaken <= 1);
    told->fill += label->fill;
    told->rate += label->rate;
    return --told->left > 0;
}

/* All labels are visited in rising order, or as many as wanted. */
static void law_each_label_is_told(void **state)
{
    (void)state;
    if (!KIND_HAS(laws_kind, labels, each))
        skip();
    bly_info_t can = laws_can(), stat;
    bly_filter *filter = laws_new(2000, 0.01, 0, 0);
    for (uint64_t i = 0; i < 2500; i++)
        assert_true(bly_put_hash(filter, test_random(1, i),
                                 laws_label(&can, i)) >= 0);
    assert_status(bly_info(&stat, filter), BLY_OK);
    laws_told all = { .next = can.label_least, .left = UINT64_MAX };
    assert_status(bly_list_labels(filter, laws_tell, &all), BLY_OK);
    assert_true(all.next == can.label_most + 1);
    assert_close(all.rate, stat.rate, 1e-9);
    assert_close(all.fill, stat.fill, 1e-9);
    laws_told some = { .next = can.label_least, .left = 2 };
    assert_status(bly_list_labels(filter, laws_tell, &some), BLY_OK);
    assert_true(some.next == can.label_least + 2);
    bly_free(filter);
}

/* A union has the better of two labels. */
static void law_union_has_both_labels(void **state)
{
    (void)state;
    enum { N = 2500 };
    static uint64_t hashes[N], labels[N];
    if (!KIND_HAS(laws_kind, combining, unite) || laws_kind->labels == NULL)
        skip();
    bly_info_t can = laws_can();
    for (uint64_t i = 0; i < N; i++) {
        hashes[i] = test_random(1, i % 2000);
        labels[i] = laws_label(&can, i);
    }
    bly_filter *a = laws_to_put(hashes, N), *b = laws_to_put(hashes, N);
    bly_filter *both = laws_to_put(hashes, N);
    assert_status(bly_put_hashes(a, hashes, labels, 1100, NULL), BLY_OK);
    assert_status(bly_put_hashes(b, hashes + 1100, labels + 1100, N - 1100,
                                 NULL),
                  BLY_OK);
    assert_status(bly_put_hashes(both, hashes, labels, N, NULL), BLY_OK);
    assert_status(bly_unite(a, b), BLY_OK);
    size_t bytes;
    const uint8_t *united = bly_image(a, &bytes), *put = bly_image(both, NULL);
    assert_memory_equal(united + IMAGE_HEADER, put + IMAGE_HEADER,
                        bytes - IMAGE_HEADER);
    bly_free(a);
    bly_free(b);
    bly_free(both);
}

static const struct CMUnitTest labels_laws[] = {
    cmocka_unit_test(law_get_many_is_one),
    cmocka_unit_test(law_put_many_is_one),
    cmocka_unit_test(law_wrong_labels_are_refused),
    cmocka_unit_test(law_each_label_is_told),
    cmocka_unit_test(law_union_has_both_labels),
};

const laws_group laws_labels = LAWS_GROUP(labels_laws);
