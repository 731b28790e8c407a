/* handle.c - verbs as a program uses them, beyond the laws of every kind:
 * hashes, seeds, defaults, limits of 64-bit hashes, large filters.
 */
#include "verbs/handle.h"

#include <pthread.h>

#include "test.h"
#include "bloomery/parts.h"

static bly_filter *handle_new(const char *kind, bly_spec spec)
{
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static void test_defaults(void **state)
{
    (void)state;
    bly_filter *filter = handle_new("standard", (bly_spec){ .capacity = 500 });
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_string_equal(stat.kind, "standard");
    assert_string_equal(stat.hash, "xxh3");
    assert_int_equal(stat.seed, 0);
    assert_true(stat.planned_rate <= 0.01 && stat.planned_rate > 0.0095);
    bly_free(filter);
    bly_free(NULL);
}

/* A filter with each named hash finds its keys, records the name, and differs
 * from the others. */
static void test_hash_names(void **state)
{
    (void)state;
    static const char *const names[] = { "xxh3", "xxh64", "murmur2", "murmur3",
                                         "fnv1a", "identity" };
    uint64_t hashes[6];
    for (size_t i = 0; i < 6; i++) {
        bly_filter *filter = handle_new("blocked", (bly_spec){
            .capacity = 100, .hash = names[i], .seed = 3 });
        hashes[i] = bly_hash(filter, "swordfish", 9);
        assert_status(bly_add(filter, "swordfish", 9), BLY_OK);
        assert_true(bly_contains_hash(filter, hashes[i]));
        assert_int_equal(image_u64(bly_image(filter, NULL), IMAGE_SEED), 3);
        bly_info_t stat;
        bly_info(&stat, filter);
        assert_string_equal(stat.hash, names[i]);
        for (size_t j = 0; j < i; j++)
            assert_true(hashes[i] != hashes[j]);
        bly_free(filter);
    }
    bly_filter *filter = handle_new("standard", (bly_spec){
        .capacity = 9, .hash = "identity" });
    assert_true(bly_hash(filter, "\1\0\0\0\0\0\0\0", 8) == 1);
    bly_free(filter);
}

static void test_seed_changes_the_hash(void **state)
{
    (void)state;
    bly_filter *a = handle_new("standard", (bly_spec){ .capacity = 9 });
    bly_filter *b = handle_new("standard", (bly_spec){ .capacity = 9,
                                                       .seed = 1 });
    assert_true(bly_hash(a, "x", 1) != bly_hash(b, "x", 1));
    bly_free(a);
    bly_free(b);
}

/* Odd keys: empty, only NULs, differing in the last byte, long. */
static void test_odd_keys(void **state)
{
    (void)state;
    bly_filter *filter = handle_new("standard", (bly_spec){
        .capacity = 100, .rate = 1e-9 });
    assert_status(bly_add(filter, "", 0), BLY_OK);
    assert_true(bly_contains(filter, NULL, 0));
    assert_false(bly_contains(filter, "\0", 1));
    assert_status(bly_add(filter, "\0\0", 2), BLY_OK);
    assert_false(bly_contains(filter, "\0\0\0", 3));
    size_t length = 1 << 20;
    char *key = calloc(length, 1);
    assert_non_null(key);
    assert_status(bly_add(filter, key, length), BLY_OK);
    assert_false(bly_contains(filter, key, length - 1));
    key[length - 1] = 1;
    assert_false(bly_contains(filter, key, length));
    free(key);
    bly_free(filter);
}

/* Empty keys need no buffer. */
static void test_empty_keys(void **state)
{
    (void)state;
    static const uint32_t narrow[3];
    static const uint64_t wide[3];
    bly_keys short_of = { .n = 2, .offsets32 = narrow };
    bly_keys long_of = { .n = 2, .offsets64 = wide };
    bly_filter *filter = handle_new("standard", (bly_spec){ .capacity = 9 });
    bool present[2] = { false, false };
    assert_status(bly_add_many(filter, &short_of, NULL, NULL), BLY_OK);
    assert_status(bly_contains_many(filter, &long_of, present), BLY_OK);
    assert_true(present[0] && present[1] && bly_contains(filter, "", 0));
    bly_free(filter);
}

/* FNV-1a leaves the high bits of short keys weak; kinds that spread the hash
 * keep the rate of their bits, within 2 %. */
static void test_fnv1a_on_words(void **state)
{
    (void)state;
    static const char *const kinds[] = { "standard", "partitioned", "blocked" };
    for (size_t k = 0; k < 3; k++) {
        bly_filter *filter = handle_new(kinds[k], (bly_spec){
            .capacity = 20000, .hash = "fnv1a" });
        char key[16];
        for (int i = 0; i < 20000; i++) {
            int length = snprintf(key, sizeof key, "%d", i);
            bly_add(filter, key, (size_t)length);
        }
        uint64_t hits = 0;
        for (int i = 20000; i < 520000; i++) {
            int length = snprintf(key, sizeof key, "%d", i);
            hits += bly_contains(filter, key, (size_t)length);
        }
        bly_info_t stat;
        bly_info(&stat, filter);
        assert_within(hits, 500000, stat.rate, 0.02 * stat.rate);
        bly_free(filter);
    }
}

/* No rate below the chance of equal 64-bit hashes can be promised. */
static void test_rates_below_the_hash(void **state)
{
    (void)state;
    bly_plan_t plan;
    bly_spec spec = { .capacity = 1000000000, .rate = 1e-12 };
    assert_status(bly_plan(&plan, "standard", &spec), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "64-bit hashes"));
    spec.rate = 1e-10;
    assert_status(bly_plan(&plan, "standard", &spec), BLY_OK);
    assert_true(plan.rate <= 1e-10 && plan.rate > 5.4e-11);
}

/* A filter of more than 2^32 bits uses positions beyond 4 Gi and loses no key.
 * (600 MB each, one after another.) */
static void test_more_than_32_bits(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "standard:m=4831838217", "partitioned:m=4831838217,k=2",
        "blocked:m=4831838217", "split:m=4831838217",
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bly_spec spec = { .capacity = 1000 };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, kinds[k], &spec), BLY_OK);
        assert_true(plan.bytes > UINT64_C(603979776));
        bly_filter *filter = handle_new(kinds[k], spec);
        for (uint64_t i = 0; i < 50; i++)
            assert_status(bly_add_hash(filter, test_random(1, i)), BLY_OK);
        for (uint64_t i = 0; i < 50; i++)
            assert_true(bly_contains_hash(filter, test_random(1, i)));
        for (uint64_t i = 0; i < 1000; i++)
            assert_false(bly_contains_hash(filter, test_random(2, i)));
        bool high = false;              /* beyond bit 2^32 of the payload */
        for (size_t at = 128 + ((size_t)1 << 29); at < plan.bytes; at++)
            high |= filter->image[at] != 0;
        assert_true(high);
        bly_free(filter);
    }
}

/* The item count of threads that share a filter is exact. */
static void *handle_add_thousand(void *filter)
{
    uint64_t hashes[100] = { 0 };
    for (int i = 0; i < 10; i++)
        bly_add_hashes(filter, hashes, 100, NULL, NULL);
    return NULL;
}

static void test_shared_items(void **state)
{
    (void)state;
    bly_filter *filter = handle_new("standard", (bly_spec){
        .capacity = 10, .flags = BLY_SHARED });
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, handle_add_thousand,
                                        filter), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    bly_info_t stat;
    bly_info(&stat, filter);
    assert_true(stat.items == 4000 && stat.items_exact);
    bly_free(filter);
}

static void handle_items(const bly_filter *filter, uint64_t items, bool exact)
{
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.items_exact == exact);
    assert_true(!exact || stat.items == items);
}

/* A header may claim any count: it stops at its limits, and an unknown count
 * stays unknown. */
static void handle_items_end(const char *kind, int flags)
{
    bly_filter *filter = handle_new(kind, (bly_spec){ .capacity = 100,
                                                      .flags = flags });
    uint64_t hashes[4] = { 1, 2, 3, 4 };
    assert_status(bly_set_items(filter, UINT64_MAX - 5), BLY_OK);
    assert_status(bly_add_hashes(filter, hashes, 4, NULL, NULL), BLY_OK);
    handle_items(filter, UINT64_MAX - 1, true);
    assert_true(bly_add_hash(filter, 5) >= 0);
    handle_items(filter, 0, false);
    assert_status(bly_set_items(filter, UINT64_MAX - 2), BLY_OK);
    assert_status(bly_add_hashes(filter, hashes, 4, NULL, NULL), BLY_OK);
    handle_items(filter, 0, false);
    assert_true(bly_add_hash(filter, 5) >= 0);
    handle_items(filter, 0, false);
    bly_free(filter);
}

static void test_items_do_not_wrap(void **state)
{
    (void)state;
    handle_items_end("standard", 0);
    handle_items_end("standard", BLY_SHARED);
    bly_filter *filter = handle_new("counting", (bly_spec){ .capacity = 100 });
    uint64_t hashes[4] = { 1, 2, 3, 4 };
    assert_status(bly_add_hashes(filter, hashes, 4, NULL, NULL), BLY_OK);
    assert_status(bly_set_items(filter, 1), BLY_OK);
    assert_status(bly_remove_hash(filter, 4), BLY_OK);
    handle_items(filter, 0, true);
    assert_status(bly_remove_hash(filter, 3), BLY_OK);
    handle_items(filter, 0, false);
    assert_status(bly_set_items(filter, 1), BLY_OK);
    assert_status(bly_remove_hashes(filter, hashes, 2, NULL), BLY_OK);
    handle_items(filter, 0, false);
    bly_free(filter);
}

static void test_unite_counts(void **state)
{
    (void)state;
    bly_filter *empty = handle_new("standard", (bly_spec){ .capacity = 100 });
    bly_filter *full = handle_new("standard", (bly_spec){ .capacity = 100 });
    for (uint64_t i = 0; i < 60; i++)
        bly_add_hash(full, test_random(1, i));
    bly_info_t stat;
    assert_status(bly_unite(empty, full), BLY_OK);
    bly_info(&stat, empty);
    assert_true(stat.items == 60 && stat.items_exact);
    assert_status(bly_unite(empty, full), BLY_OK);
    bly_info(&stat, empty);
    assert_false(stat.items_exact);
    bly_overlap_t overlap;
    assert_status(bly_overlap(&overlap, full, empty), BLY_OK);
    assert_close(overlap.jaccard.value, 1, 1e-12);
    bly_filter *other = handle_new("blocked", (bly_spec){ .capacity = 100 });
    assert_status(bly_unite(full, other), BLY_EMISMATCH);
    assert_non_null(strstr(bly_why(), "kind standard"));
    bly_free(other);
    bly_free(empty);
    bly_free(full);
}

static void *handle_fail_elsewhere(void *unused)
{
    bly_plan_t plan;
    bly_spec spec = { .capacity = 1 };
    bly_plan(&plan, "elsewhere", &spec);
    return unused;
}

/* Filters of equal size whose probes differ. */
static void test_unite_of_one_size(void **state)
{
    (void)state;
    static const char *const kinds[] = { "standard:m=1000,k=5",
                                         "standard:m=1000,k=6" };
    bly_spec spec = { .capacity = 100 };
    bly_filter *filters[2];
    bly_overlap_t overlap;
    for (size_t i = 0; i < 2; i++)
        assert_status(bly_new(&filters[i], kinds[i], &spec), BLY_OK);
    assert_status(bly_unite(filters[0], filters[1]), BLY_EMISMATCH);
    assert_non_null(strstr(bly_why(), "plans"));
    assert_status(bly_intersect(filters[0], filters[1]), BLY_EMISMATCH);
    assert_status(bly_overlap(&overlap, filters[0], filters[1]),
                  BLY_EMISMATCH);
    bly_free(filters[0]);
    bly_free(filters[1]);
}

/* Each thread has its own last error. */
static void test_why_is_per_thread(void **state)
{
    (void)state;
    bly_plan_t plan;
    bly_spec spec = { .capacity = 1 };
    assert_status(bly_plan(&plan, "here", &spec), BLY_EKIND);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, handle_fail_elsewhere,
                                    NULL), 0);
    pthread_join(thread, NULL);
    assert_non_null(strstr(bly_why(), "'here'"));
}

/* ---- From a plan --------------------------------------------------------- */

/* For every kind, this gives the filter that bly_new makes, or BLY_EUNSUPPORTED
 * if an empty one needs more than a plan. Some plans end within a byte that
 * `check` inspects, far behind the header. */
static void test_planned(void **state)
{
    (void)state;
    for (const bly_kind_info *const *kind = bly_kinds(NULL); *kind != NULL;
         kind++) {
        bly_spec spec = { .capacity = 997, .threads = 1, .seed = 5 };
        bly_plan_t plan;
        bly_filter *filter = NULL, *other = NULL;
        if (bly_plan(&plan, (*kind)->name, &spec) != BLY_OK)
            continue;
        bly_status status = bly_new_planned(&filter, &plan, &spec);
        if (status == BLY_EUNSUPPORTED)
            continue;
        assert_said(status, BLY_OK);
        assert_status(bly_new(&other, (*kind)->name, &spec), BLY_OK);
        size_t bytes, others;
        const void *image = bly_image(filter, &bytes);
        const void *wanted = bly_image(other, &others);
        assert_int_equal(bytes, others);
        assert_memory_equal(image, wanted, bytes);
        bly_free(filter);
        bly_free(other);
    }
}

static void test_planned_refused(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 997 };
    bly_plan_t good;
    bly_filter *filter = NULL;
    assert_status(bly_plan(&good, "standard", &spec), BLY_OK);
    bly_plan_t none = good, wrong = good, short_of = good;
    none.capacity = 0;
    wrong.geometry[1] = 0;
    short_of.bytes -= 1;
    assert_status(bly_new_planned(&filter, &none, &spec), BLY_EPARAM);
    assert_status(bly_new_planned(&filter, &wrong, &spec), BLY_EPARAM);
    assert_status(bly_new_planned(&filter, &short_of, &spec), BLY_EPARAM);
    bly_plan_t option = good, endless = good, minus = good, newer = good;
    strcpy(option.kind, "standard:index=double");
    memset(endless.kind, ':', sizeof endless.kind);
    memcpy(endless.kind, "standard", 8);
    minus.rate = -0.0;
    newer.reserved[8] = 1;
    assert_status(bly_new_planned(&filter, &option, &spec), BLY_EPARAM);
    assert_true(bly_new_planned(&filter, &endless, &spec) < 0);
    assert_status(bly_new_planned(&filter, &minus, &spec), BLY_EPARAM);
    assert_status(bly_new_planned(&filter, &newer, &spec), BLY_EPARAM);
    assert_null(filter);
}

/* ---- Headers ------------------------------------------------------------- */

/* A packed filter that did not shrink, with nothing behind its header. */
static void test_peek_reads_the_header(void **state)
{
    (void)state;
    bly_filter *filter = handle_new("compressed:k=1", (bly_spec){
        .capacity = 1000, .rate = 0.4, .threads = 1 });
    for (uint64_t i = 0; i < 1500; i++)
        assert_true(bly_add_hash(filter, test_random(3, i)) >= 0);
    size_t room, bytes;
    assert_non_null(bly_image(filter, &room));
    uint8_t *packed = malloc(room), *start = malloc(BLY_HEADER_BYTES);
    assert_non_null(packed);
    assert_non_null(start);
    assert_status(bly_pack(filter, packed, room, &bytes), BLY_OK);
    memcpy(start, packed, BLY_HEADER_BYTES);
    bly_header header;
    assert_status(bly_peek(&header, start, BLY_HEADER_BYTES), BLY_OK);
    assert_true(header.packed && header.known);
    assert_int_equal(header.bytes, bytes);
    free(start);
    free(packed);
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_hash_names),
        cmocka_unit_test(test_seed_changes_the_hash),
        cmocka_unit_test(test_odd_keys),
        cmocka_unit_test(test_empty_keys),
        cmocka_unit_test(test_fnv1a_on_words),
        cmocka_unit_test(test_rates_below_the_hash),
        cmocka_unit_test(test_more_than_32_bits),
        cmocka_unit_test(test_shared_items),
        cmocka_unit_test(test_items_do_not_wrap),
        cmocka_unit_test(test_unite_counts),
        cmocka_unit_test(test_unite_of_one_size),
        cmocka_unit_test(test_why_is_per_thread),
        cmocka_unit_test(test_planned),
        cmocka_unit_test(test_planned_refused),
        cmocka_unit_test(test_peek_reads_the_header),
    };
    return cmocka_run_group_tests_name("handle", tests, NULL, NULL);
}
