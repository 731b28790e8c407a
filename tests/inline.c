/* inline.c - views (bloomery/inline.h) answer and change a filter exactly as
 * the library does, with vectors of any length and without.
 *
 * Images are wrapped in memory of exactly their size, so that a sanitizer sees
 * reads beyond it.
 */
#include "test.h"
#include "views.h"

#include <unistd.h>

#include "base/cpu.h"

enum { INLINE_STRANGERS = 600, INLINE_BODIES = 5 };

static const views_body *inline_body[INLINE_BODIES] = { &views_plain };
static size_t inline_bodies = 1;

static void inline_find_bodies(void)
{
#ifdef INLINE_X86
    inline_body[inline_bodies++] = &views_portable;
    inline_body[inline_bodies++] = &views_sse2;
    if (cpu_now() >= CPU_AVX2)
        inline_body[inline_bodies++] = &views_avx2;
    if (cpu_now() >= CPU_AVX512)
        inline_body[inline_bodies++] = &views_avx512;
#endif
}

/* Checks each body against the library for hashes from..from + n of the stream.
 * Returns how many are found. */
static size_t inline_same(const bly_filter *filter, uint64_t stream,
                          uint64_t from, uint64_t n)
{
    size_t there = 0;
    for (size_t b = 0; b < inline_bodies; b++) {
        views_view view;
        assert_true(inline_body[b]->of(&view, filter));
        for (uint64_t i = from; i < from + n; i++) {
            uint64_t hash = test_random(stream, i);
            bool library = bly_contains_hash(filter, hash);
            if (inline_body[b]->contains(&view, hash) != library)
                fail_msg("body %zu of kind %s says %d of hash %llu", b,
                         bly_kind_of(filter), !library,
                         (unsigned long long)i);
            there += b == 0 && library;
        }
    }
    return there;
}

/* Copies the image to memory of exactly its size, `shift` bytes from a multiple
 * of 16; bly_free does not free it. */
static uint8_t *inline_copy(const bly_filter *filter, size_t shift,
                            size_t *bytes)
{
    const void *image = bly_image(filter, bytes);
    uint8_t *copy = malloc(*bytes + shift);
    assert_non_null(copy);
    memcpy(copy + shift, image, *bytes);
    return copy;
}

static void inline_wrapped(const bly_filter *filter, size_t shift, uint64_t n)
{
    size_t bytes;
    uint8_t *copy = inline_copy(filter, shift, &bytes);
    bly_filter *wrapped;
    assert_status(bly_wrap(&wrapped, copy + shift, bytes, NULL), BLY_OK);
    assert_true(inline_same(wrapped, 1, 0, n) == n);
    inline_same(wrapped, 2, 0, INLINE_STRANGERS);
    bly_free(wrapped);
    free(copy);
}

/* Answers agree with the library for any payload. */
static void inline_noise(const bly_filter *filter)
{
    size_t bytes;
    uint8_t *copy = inline_copy(filter, 0, &bytes);
    bly_filter *wrapped;
    for (uint64_t round = 0; round < 3; round++) {
        for (size_t i = BLY_HEADER_BYTES; i < bytes; i++) {
            uint8_t noise = (uint8_t)test_random(3 + round, i);
            copy[i] = round == 0 ? noise : round == 1 ? noise & copy[i]
                                                      : UINT8_MAX;
        }
        /* bits beyond the last of a "standard" filter */
        if (bly_wrap(&wrapped, copy, bytes, NULL) != BLY_OK)
            continue;
        inline_same(wrapped, 4, 0, INLINE_STRANGERS);
        bly_free(wrapped);
    }
    free(copy);
}

static bly_filter *inline_built(const char *kind, double rate, uint64_t n)
{
    uint64_t *hashes = malloc((n + 1) * sizeof *hashes);
    bly_spec want = { .capacity = n + (n == 0), .rate = rate };
    bly_filter *filter = NULL;
    assert_non_null(hashes);
    for (uint64_t i = 0; i < n; i++)
        hashes[i] = test_random(1, i);
    assert_status(bly_build(&filter, kind, &want,
                            &(bly_keys){ .n = n, .hashes = hashes }), BLY_OK);
    free(hashes);
    return filter;
}

static const char *const inline_kinds[] = {
    "blocked", "blocked:k=1", "blocked:k=7", "blocked:k=8", "blocked:k=9",
    "blocked:k=16", "blocked:k=17", "blocked:k=24", "blocked:k=32",
    "blocked:m=1,k=3", "split", "split:m=1",
    "standard", "standard:k=1", "standard:k=2", "standard:k=64",
    "standard:m=1,k=3", "standard:m=4096,k=7", "standard:index=seeds",
    "standard:m=4001,k=7,index=seeds", "standard:m=4001,k=7,index=double",
    "standard:m=4000,k=7,index=enhanced", "standard:m=4001,k=7,index=triple",
    "standard:m=4001,k=7,index=step", "standard:m=1,k=3,index=double",
    "standard:m=2,k=9,index=enhanced", "standard:m=2,k=9,index=triple",
    "fuse", "fuse:bits=1", "fuse:bits=7", "fuse:bits=8", "fuse:bits=9",
    "fuse:bits=15", "fuse:bits=16", "fuse:bits=17", "fuse:bits=25",
    "fuse:bits=31", "fuse:bits=32",
    "fuse:arity=3", "fuse:arity=3,bits=1", "fuse:arity=3,bits=8",
    "fuse:arity=3,bits=11", "fuse:arity=3,bits=16", "fuse:arity=3,bits=32",
    "xor", "xor:bits=8", "xor:bits=13", "xor:bits=32",
    "cuckoo", "cuckoo:f=7", "cuckoo:f=8", "cuckoo:f=11", "cuckoo:f=12",
    "cuckoo:f=15", "cuckoo:f=16", "cuckoo:f=17", "cuckoo:f=18", "cuckoo:f=25",
    "cuckoo:f=32", "cuckoo:sorted=yes", "cuckoo:f=7,sorted=yes",
    "cuckoo:f=8,sorted=yes", "cuckoo:f=13,sorted=yes", "cuckoo:f=16,sorted=yes",
    "cuckoo:f=17,sorted=yes", "cuckoo:f=18,sorted=yes",
    "cuckoo:f=25,sorted=yes", "cuckoo:f=32,sorted=yes",
    "counting", "counting:bits=1", "counting:bits=3", "counting:bits=16",
    "counting:k=1", "counting:k=2", "counting:k=64", "counting:m=1,k=3",
    "counting:rule=least",
};

enum { INLINE_KINDS = sizeof inline_kinds / sizeof *inline_kinds };

/* Every kind and choice, sizes from none to many, at every alignment. */
static void test_answers(void **state)
{
    static const uint64_t sizes[] = { 0, 1, 6, 63, 2000 };
    (void)state;
    for (size_t k = 0; k < INLINE_KINDS; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            bly_filter *filter = inline_built(inline_kinds[k], 0.02, sizes[s]);
            assert_true(inline_same(filter, 1, 0, sizes[s]) == sizes[s]);
            inline_same(filter, 2, 0, INLINE_STRANGERS);
            inline_wrapped(filter, 0, sizes[s]);
            inline_wrapped(filter, 1, sizes[s]);
            inline_wrapped(filter, 37, sizes[s]);
            inline_noise(filter);
            bly_free(filter);
        }
}

/* Every value of a numeric option. */
static void test_widths(void **state)
{
    static const struct {
        const char *form;
        unsigned least, most;
    } options[] = {
        { "blocked:k=%u", 1, 32 }, { "standard:m=5000,k=%u", 1, 64 },
        { "fuse:bits=%u", 1, 32 }, { "fuse:arity=3,bits=%u", 1, 32 },
        { "xor:bits=%u", 1, 32 }, { "cuckoo:f=%u", 7, 32 },
        { "cuckoo:f=%u,sorted=yes", 7, 32 }, { "counting:bits=%u", 1, 16 },
        { "counting:m=5000,k=%u", 1, 64 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        for (unsigned n = options[i].least; n <= options[i].most; n++) {
            char kind[64];
            snprintf(kind, sizeof kind, options[i].form, n);
            bly_filter *filter = inline_built(kind, 0.02, 200);
            assert_true(inline_same(filter, 1, 0, 200) == 200);
            inline_same(filter, 2, 0, INLINE_STRANGERS);
            inline_noise(filter);
            bly_free(filter);
        }
}

/* Rates select other options; and a "fuse" has more than one shard. */
static void test_rates_and_sizes(void **state)
{
    static const char *const kinds[] = { "blocked", "split", "standard", "fuse",
                                         "fuse:arity=3", "xor", "cuckoo",
                                         "cuckoo:sorted=yes", "counting" };
    static const double rates[] = { 0.3, 0.01, 1e-3, 1e-6 };
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            bly_filter *filter = inline_built(kinds[k], rates[r], 20000);
            assert_true(inline_same(filter, 1, 0, 20000) == 20000);
            inline_same(filter, 2, 0, 20000);
            bly_free(filter);
        }
        uint64_t large = strncmp(kinds[k], "fuse", 4) == 0 ? 1300000 : 100000;
        bly_filter *filter = inline_built(kinds[k], 0.01, large);
        assert_true(inline_same(filter, 1, 0, large) == large);
        assert_true(inline_same(filter, 2, 0, 100000) < 2000);
        bly_free(filter);
    }
}

/* A library that does not know the later fields of a view leaves them 0. */
static void test_older_library(void **state)
{
    static const struct { const char *kind; uint64_t n; } rows[] = {
        { "fuse:bits=8", 0 }, { "fuse:bits=8", 2000 },
        { "fuse:bits=8", 1300000 }, { "fuse:bits=8,arity=4", 2000 },
        { "fuse:bits=7", 2000 }, { "fuse:bits=20", 2000 },
        { "xor:bits=8", 2000 }, { "cuckoo:f=12", 2000 },
    };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        bly_filter *filter = inline_built(rows[r].kind, 0.01, rows[r].n);
        inline_same(filter, 1, 0, rows[r].n);
        inline_same(filter, 2, 0, INLINE_STRANGERS);
        for (size_t b = 0; b < inline_bodies; b++) {
            views_view view;
            assert_true(inline_body[b]->of(&view, filter));
            if (strstr(rows[r].kind, "cuckoo") != NULL)
                view.as.cuckoo.ones = 0;
            else
                view.as.fuse.salt = view.as.fuse.bytes = 0;
            for (uint64_t i = 0; i < 2 * INLINE_STRANGERS; i++) {
                uint64_t hash = test_random(1 + i % 2, i);
                assert_int_equal(inline_body[b]->contains(&view, hash),
                                 bly_contains_hash(filter, hash));
            }
        }
        bly_free(filter);
    }
}

/* A "cuckoo" grows more quads in each bucket; the old view must be renewed. */
static void test_grown(void **state)
{
    static const char *const kinds[] = { "cuckoo", "cuckoo:f=11,sorted=yes",
                                         "cuckoo:f=24" };
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bly_filter *filter = inline_built(kinds[k], 0.01, 500);
        for (uint64_t n = 500; n < 4000; n += 1000) {
            assert_status(bly_resize(filter, n + 1000), BLY_OK);
            for (uint64_t i = n; i < n + 900; i++)
                assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
            assert_true(inline_same(filter, 1, 0, 500) == 500);
            assert_true(inline_same(filter, 1, n, 900) == 900);
            inline_same(filter, 2, 0, INLINE_STRANGERS);
            inline_noise(filter);
        }
        bly_free(filter);
    }
}

/* ---- Files --------------------------------------------------------------- */

static char inline_path[] = "/tmp/bloomery-inline-XXXXXX";

static void test_mapped(void **state)
{
    (void)state;
    for (size_t k = 0; k < INLINE_KINDS; k++) {
        bly_filter *filter = inline_built(inline_kinds[k], 0.02, 700), *mapped;
        assert_status(bly_save(filter, inline_path), BLY_OK);
        assert_status(bly_open(&mapped, inline_path, BLY_MAP, NULL), BLY_OK);
        assert_true(inline_same(mapped, 1, 0, 700) == 700);
        inline_same(mapped, 2, 0, INLINE_STRANGERS);
        bly_free(mapped);
        bly_free(filter);
    }
}

/* ---- Adding -------------------------------------------------------------- */

static bool inline_adds(const char *kind)
{
    return strncmp(kind, "blocked", 7) == 0 || strncmp(kind, "split", 5) == 0
        || strncmp(kind, "standard", 8) == 0;
}

/* Adds through a view and, to another filter, by the library, with library adds
 * in between: each answer, and finally the bytes with counts and checksums, are
 * equal. */
static void inline_add(const views_body *body, bly_filter *filter,
                       bly_filter *other)
{
    views_view view;
    size_t bytes, other_bytes;
    assert_true(body->of(&view, filter));
    for (uint64_t from = 0; from < 900; from += 300) {
        assert_status(bly_inline_begin(filter), BLY_OK);
        for (uint64_t i = from; i < from + 310; i++) {
            uint64_t hash = test_random(1, i);
            assert_status(body->add(&view, hash), bly_add_hash(other, hash));
            assert_true(body->contains(&view, hash));
        }
        bly_inline_end(filter, 310);
        uint64_t hash = test_random(5, from);
        assert_status(bly_add_hash(filter, hash), bly_add_hash(other, hash));
        assert_true(body->contains(&view, hash));
    }
    const void *image = bly_image(filter, &bytes);
    const void *wanted = bly_image(other, &other_bytes);
    assert_true(bytes == other_bytes);
    assert_memory_equal(image, wanted, bytes);
    assert_status(bly_check(image, bytes, NULL), BLY_OK);
}

static uint64_t inline_items(const bly_filter *filter)
{
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    return stat.items;
}

static void test_adds(void **state)
{
    size_t kinds = 0;
    (void)state;
    for (size_t k = 0; k < INLINE_KINDS; k++) {
        bly_spec want = { .capacity = 600 };
        if (!inline_adds(inline_kinds[k]))
            continue;
        kinds++;
        for (size_t b = 0; b < inline_bodies; b++) {
            bly_filter *filter, *other;
            assert_status(bly_new(&filter, inline_kinds[k], &want), BLY_OK);
            assert_status(bly_like(&other, filter, NULL), BLY_OK);
            inline_add(inline_body[b], filter, other);
            assert_true(inline_items(filter) == 3 * 311);
            bly_free(filter);
            bly_free(other);
        }
    }
    assert_int_equal(kinds, 27);
}

static bool inline_sealed(void)
{
    bly_header header;
    assert_status(bly_peek_file(&header, inline_path), BLY_OK);
    return header.sealed;
}

/* A mapped file is marked "being written" from the start. */
static void test_adds_to_a_file(void **state)
{
    (void)state;
    for (size_t b = 0; b < inline_bodies; b++) {
        bly_filter *filter = inline_built("blocked", 0.01, 600), *mapped;
        assert_status(bly_save(filter, inline_path), BLY_OK);
        assert_status(bly_open(&mapped, inline_path, BLY_MAP | BLY_WRITE, NULL),
                      BLY_OK);
        assert_true(inline_sealed());
        assert_status(bly_inline_begin(mapped), BLY_OK);
        assert_false(inline_sealed());
        bly_inline_end(mapped, 0);
        inline_add(inline_body[b], mapped, filter);
        assert_status(bly_seal(mapped), BLY_OK);
        assert_true(inline_sealed());
        bly_free(mapped);
        assert_status(bly_open(&mapped, inline_path, 0, NULL), BLY_OK);
        assert_true(inline_same(mapped, 1, 0, 910) == 910);
        assert_true(inline_items(mapped) == 600 + 3 * 311);
        bly_free(mapped);
        bly_free(filter);
    }
}

/* A view shows changes by other verbs. */
static void test_view_stays(void **state)
{
    (void)state;
    for (size_t b = 0; b < inline_bodies; b++) {
        bly_filter *filter = inline_built("split", 0.01, 100), *other;
        uint64_t hash = test_random(5, 0);
        views_view view, copy;
        assert_status(bly_like(&other, filter, NULL), BLY_OK);
        assert_true(inline_body[b]->of(&view, filter));
        copy = view;
        assert_false(inline_body[b]->contains(&copy, hash));
        assert_true(bly_add_hash(other, hash) == BLY_OK);
        assert_status(bly_unite(filter, other), BLY_OK);
        assert_true(inline_body[b]->contains(&copy, hash));
        assert_status(bly_seal(filter), BLY_OK);
        assert_status(bly_intersect(filter, other), BLY_OK);
        assert_true(inline_body[b]->contains(&copy, hash));
        assert_false(inline_body[b]->contains(&copy, test_random(1, 0)));
        bly_free(filter);
        bly_free(other);
    }
}

/* ---- Refusals ------------------------------------------------------------ */

/* A view for a constant k refuses filters with another. */
static void test_of_k(void **state)
{
    bly_filter *filter = inline_built("blocked:k=7", 0.02, 100);
    bly_inline_blocked any, seven, eight = { .k = 8 };
    (void)state;
    assert_status(bly_inline_blocked_of(&any, filter), BLY_OK);
    assert_status(bly_inline_blocked_of_k(&seven, filter, 7), BLY_OK);
    assert_memory_equal(&seven, &any, sizeof any);
    assert_status(bly_inline_blocked_of_k(&eight, filter, 8),
                  BLY_EUNSUPPORTED);
    assert_non_null(strstr(bly_why(), "7 bits per key"));
    assert_true(eight.k == 8);
    bly_free(filter);
    filter = inline_built("split", 0.02, 100);
    assert_status(bly_inline_blocked_of_k(&eight, filter, 8),
                  BLY_EUNSUPPORTED);
    bly_free(filter);
}

/* Every view but the right one refuses a filter of a kind, and leaves it
 * untouched. */
static void test_other_kinds(void **state)
{
    size_t kinds, given = 0;
    const bly_kind_info *const *all = bly_kinds(&kinds);
    (void)state;
    for (size_t k = 0; k < kinds; k++) {
        bly_spec want = { .capacity = 100 };
        uint64_t hashes[100];
        views_view view;
        uint8_t untouched[sizeof view];
        bly_filter *filter;
        for (uint64_t i = 0; i < 100; i++)
            hashes[i] = i;
        if (strcmp(all[k]->name, "egh") != 0)
            for (uint64_t i = 0; i < 100; i++)
                hashes[i] = test_random(1, i);
        if (bly_build(&filter, all[k]->name, &want,
                      &(bly_keys){ .n = 100, .hashes = hashes }) < 0)
            continue;
        memset(&view, 0xA5, sizeof view);
        memcpy(untouched, &view, sizeof view);
        bly_status said[] = {
            bly_inline_blocked_of(&view.as.blocked, filter),
            bly_inline_split_of(&view.as.split, filter),
            bly_inline_standard_of(&view.as.standard, filter),
            bly_inline_fuse_of(&view.as.fuse, filter),
            bly_inline_cuckoo_of(&view.as.cuckoo, filter),
            bly_inline_counting_of(&view.as.counting, filter),
        };
        size_t fit = 0;
        for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
            fit += said[i] == BLY_OK;
            assert_true(said[i] == BLY_OK
                        || said[i] == BLY_EUNSUPPORTED);
        }
        if (fit == 0)
            assert_memory_equal(&view, untouched, sizeof view);
        assert_true(fit <= 1);
        given += fit;
        bly_free(filter);
    }
    assert_non_null(strstr(bly_why(), "bly_contains_hash"));
    assert_int_equal(given, 7);
}

static void test_no_adds(void **state)
{
    static const char *const kinds[] = { "fuse", "cuckoo", "counting" };
    bly_spec shared = { .capacity = 100, .flags = BLY_SHARED };
    bly_filter *filter, *wrapped;
    size_t bytes;
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        filter = inline_built(kinds[k], 0.01, 100);
        assert_status(bly_inline_begin(filter), BLY_EUNSUPPORTED);
        assert_non_null(strstr(bly_why(), kinds[k]));
        bly_free(filter);
    }
    assert_status(bly_new(&filter, "blocked", &shared), BLY_OK);
    assert_status(bly_inline_begin(filter), BLY_EUNSUPPORTED);
    assert_non_null(strstr(bly_why(), "BLY_SHARED"));
    for (uint64_t i = 0; i < 100; i++)
        assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
    assert_true(inline_same(filter, 1, 0, 100) == 100);
    const void *image = bly_image(filter, &bytes);
    assert_status(bly_wrap(&wrapped, image, bytes, NULL), BLY_OK);
    assert_status(bly_inline_begin(wrapped), BLY_EREADONLY);
    bly_free(wrapped);
    bly_free(filter);
}

static int inline_setup(void **state)
{
    int file = mkstemp(inline_path);
    (void)state;
    inline_find_bodies();
    return file < 0 ? -1 : close(file);
}

static int inline_teardown(void **state)
{
    (void)state;
    return remove(inline_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_rates_and_sizes),
        cmocka_unit_test(test_older_library),
        cmocka_unit_test(test_grown),
        cmocka_unit_test(test_mapped),
        cmocka_unit_test(test_adds),
        cmocka_unit_test(test_adds_to_a_file),
        cmocka_unit_test(test_view_stays),
        cmocka_unit_test(test_of_k),
        cmocka_unit_test(test_other_kinds),
        cmocka_unit_test(test_no_adds),
    };
    return cmocka_run_group_tests_name("inline", tests, inline_setup,
                                       inline_teardown);
}
