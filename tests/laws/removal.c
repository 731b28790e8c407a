/* removal.c - laws about removing and counting keys. */
#include "laws/laws.h"

#include "base/cpu.h"

/* After half of the keys are removed, the others are found, and of the removed
 * ones only few. */
static void law_removed_is_gone(void **state)
{
    (void)state;
    if (!laws_removes())
        skip();
    bly_filter *filter = laws_of(4000, 0.001, 1, 2000);
    uint64_t removed = 0, gone = 0, lucky = 10; /* 1 accident expected */
    if (!laws_sized_by_rate())
        lucky = (uint64_t)(1000 * laws_rate(4000, 0.001));
    for (uint64_t i = 0; i < 2000; i += 2) {
        bly_status status = bly_remove_hash(filter, test_random(1, i));
        assert_true(status == BLY_OK || status == BLY_EUNSAFE);
        removed += status == BLY_OK;
        gone += status == BLY_OK
             && !bly_contains_hash(filter, test_random(1, i));
    }
    assert_in_range(removed, 900, 1000);
    assert_in_range(gone, removed - lucky, removed);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.items == 2000 - removed && stat.items_exact);
    if (strcmp(laws_kind->family, "removable") == 0)
        for (uint64_t i = 1; i < 2000; i += 2)
            assert_true(bly_contains_hash(filter, test_random(1, i)));
    bly_free(filter);
}

static void law_removing_the_absent_changes_nothing(void **state)
{
    (void)state;
    if (!laws_removes())
        skip();
    bly_filter *filter = laws_of(4000, 0.001, 1, 4000), *before = NULL;
    assert_status(bly_copy(&before, filter, NULL), BLY_OK);
    uint64_t absent = 0;
    for (uint64_t i = 0; i < 10000; i++)
        if (!bly_contains_hash(filter, test_random(2, i))) {
            assert_status(bly_remove_hash(filter, test_random(2, i)),
                          BLY_EABSENT);
            absent++;
        }
    if (laws_sized_by_rate())
        assert_in_range(absent, 9900, 10000);
    else
        assert_within(10000 - absent, 10000, laws_rate(4000, 0.001), 0.01);
    assert_true(laws_same_bytes(filter, before));
    bly_free(filter);
    bly_free(before);
}

/* In kinds that count, keys that were added and removed leave no trace. */
static void law_all_removed_is_empty(void **state)
{
    (void)state;
    if (!laws_removes() || !laws_counts())
        skip();
    bly_filter *filter = laws_of(3000, 0.01, 1, 3000);
    bly_filter *empty = laws_new(3000, 0.01, 0, 0);
    for (uint64_t i = 0; i < 3000; i++)
        assert_status(bly_remove_hash(filter, test_random(1, (i * 7) % 3000)),
                      BLY_OK);
    assert_true(laws_same_bytes(filter, empty));
    bly_free(filter);
    bly_free(empty);
}

static void laws_remove_many_is_one(void)
{
    enum { N = 3000 };
    static uint64_t hashes[N];
    static bly_status each[N];
    for (uint64_t i = 0; i < N; i++)    /* there, twice in the batch, absent */
        hashes[i] = test_random(i % 3 == 2 ? 9 : 1, i % 3 == 1 ? i - 1 : i);
    bly_filter *full = laws_of(N, 0.01, 1, N);
    for (size_t n = 1; n <= N; n = laws_next(n, 140, 2)) {
        bly_filter *one = laws_copy(full), *all = laws_copy(full);
        bly_status first = BLY_OK, status;
        bly_status got = bly_remove_hashes(all, hashes, n, each);
        for (size_t i = 0; i < n; i++) {
            status = bly_remove_hash(one, hashes[i]);
            assert_int_equal(each[i], status);
            first = first == BLY_OK ? status : first;
        }
        assert_int_equal(got, first);
        assert_true(laws_same_bytes(one, all));
        bly_free(one);
        bly_free(all);
    }
    bly_free(full);
}

static void law_remove_many_is_one(void **state)
{
    (void)state;
    if (!laws_removes())
        skip();
    for (cpu_level level = CPU_PORTABLE; level < CPU_LEVELS; level++)
        if (cpu_limit(level) == level)
            laws_remove_many_is_one();
}

/* Key i is added i mod 8 times, in turn with the others. A kind that keeps each
 * copy in one of a few places may have no room for the last ones. A counter of
 * two bits sticks at 3, and then reports that the count is unknown. */
static void law_count_is_never_too_low(void **state)
{
    (void)state;
    if (!laws_counts())
        skip();
    enum { N = 2000 };
    static uint64_t hashes[2 * N], counts[2 * N], truth[2 * N];
    bly_filter *filter = laws_new(4 * N, 0.01, 0, 0);
    uint64_t exact = 0, added = 0;
    memset(truth, 0, sizeof truth);
    for (uint64_t i = 0; i < 2 * N; i++)
        hashes[i] = test_random(1, i);
    for (uint64_t times = 1; times < 8; times++)
        for (uint64_t i = 0; i < N; i++)
            if (i % 8 >= times) {
                bly_status status = bly_add_hash(filter, hashes[i]);
                assert_true(status >= 0 || status == BLY_EFULL);
                truth[i] += status >= 0;
                added += status >= 0;
            }
    assert_in_range(added, 7 * N / 2 * 3 / 4, 7 * N / 2);
    bly_count_hashes(filter, hashes, 2 * N, counts);
    for (uint64_t i = 0; i < 2 * N; i++) {
        assert_true(counts[i] >= truth[i]);
        assert_true(counts[i] == bly_count_hash(filter, hashes[i]));
        assert_int_equal(counts[i] > 0, bly_contains_hash(filter, hashes[i]));
        exact += counts[i] == truth[i]
              || (truth[i] >= 3 && counts[i] == UINT64_MAX);
    }
    assert_true(exact > 2 * N * 9 / 10);
    bly_free(filter);
}

static const struct CMUnitTest removal_laws[] = {
    cmocka_unit_test(law_removed_is_gone),
    cmocka_unit_test(law_removing_the_absent_changes_nothing),
    cmocka_unit_test(law_all_removed_is_empty),
    cmocka_unit_test(law_remove_many_is_one),
    cmocka_unit_test(law_count_is_never_too_low),
};

const laws_group laws_removal = LAWS_GROUP(removal_laws);
