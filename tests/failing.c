/* failing.c - running out of memory: every call that allocates is made with the
 * first, the second, … allocation failing, until it succeeds. Each failure is
 * BLY_ENOMEM, leaves the out-parameter alone, and frees everything.
 */
#include <unistd.h>

#include "test.h"

#include "verbs/registry.h"

typedef struct {
    uint64_t left;                      /* allocations that still succeed    */
    uint64_t live, bytes;               /* not yet freed                     */
} failing_state;

static void *failing_allocate(void *context, size_t alignment, size_t bytes)
{
    failing_state *s = context;
    void *memory = NULL;
    if (s->left == 0 || posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
    s->left--;
    s->live++;
    s->bytes += bytes;
    memset(memory, 0xA5, bytes);
    return memory;
}

static void failing_release(void *context, void *memory, size_t bytes)
{
    failing_state *s = context;
    s->live--;
    s->bytes -= bytes;
    free(memory);
}

/* A way to make a filter of a given kind. */
typedef bly_status failing_make(bly_filter **out, const char *kind,
                                const bly_allocator *allocator);

static const char failing_path[] = "failing-test.bly";
static bly_filter *failing_source;
static const uint64_t failing_hashes[] = { 1, 2, 3, 4, 5 };

static bly_status failing_new(bly_filter **out, const char *kind,
                              const bly_allocator *allocator)
{
    bly_spec spec = { .capacity = 1000, .allocator = allocator };
    return bly_new(out, kind, &spec);
}

static bly_status failing_build(bly_filter **out, const char *kind,
                                const bly_allocator *allocator)
{
    bly_spec spec = { .allocator = allocator };
    return bly_build(out, kind, &spec,
                     &(bly_keys){ .n = 5, .hashes = failing_hashes });
}

static bly_status failing_copy(bly_filter **out, const char *kind,
                               const bly_allocator *allocator)
{
    (void)kind;
    return bly_copy(out, failing_source,
                    &(bly_options){ .allocator = allocator });
}

static bly_status failing_read(bly_filter **out, const char *kind,
                               const bly_allocator *allocator)
{
    (void)kind;
    return bly_open(out, failing_path, 0,
                    &(bly_options){ .allocator = allocator });
}

static bly_status failing_map(bly_filter **out, const char *kind,
                              const bly_allocator *allocator)
{
    (void)kind;
    return bly_open(out, failing_path, BLY_MAP,
                    &(bly_options){ .allocator = allocator });
}

static bly_status failing_wrap(bly_filter **out, const char *kind,
                               const bly_allocator *allocator)
{
    (void)kind;
    size_t bytes;
    const void *image = bly_image(failing_source, &bytes);
    return bly_wrap(out, image, bytes,
                    &(bly_options){ .allocator = allocator });
}

/* A full filter needs memory to grow, and continues once it has it. */
static void failing_grow(bly_filter *filter, failing_state *s)
{
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.items, 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(bly_contains_hash(filter, failing_hashes[i]));
    s->left = 1;
    assert_true(bly_add(filter, "x", 1) >= 0);
    assert_true(bly_contains(filter, "x", 1) && s->left == 0);
}

static void failing_use(bly_filter *filter, bool may_change, failing_state *s)
{
    bly_status added = may_change ? bly_add(filter, "x", 1) : BLY_OK;
    if (added == BLY_ENOMEM)
        failing_grow(filter, s);
    else
        assert_true(added >= 0);
    for (size_t i = 0; i < 5; i++)
        bly_contains_hash(filter, failing_hashes[i]);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
}

static void failing_run(failing_make *make, const char *kind, bool may_change)
{
    failing_state s = { 0 };
    bly_allocator allocator = { failing_allocate, failing_release, &s };
    bly_filter *filter = NULL;
    uint64_t allowed = 0;
    for (;; allowed++) {
        s.left = allowed;
        bly_status status = make(&filter, kind, &allocator);
        if (status == BLY_OK)
            break;
        assert_said(status, BLY_ENOMEM);
        assert_null(filter);
        assert_true(s.live == 0 && s.bytes == 0);
        assert_true(allowed < 100);
    }
    assert_true(allowed >= 1);          /* it allocates through us */
    s.left = 0;                         /* queries allocate nothing */
    failing_use(filter, may_change, &s);
    bly_free(filter);
    assert_true(s.live == 0 && s.bytes == 0);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    for (size_t i = 0; registry_kinds[i] != NULL; i++) {
        const char *kind = registry_kinds[i]->name;
        bool adds = registry_kinds[i]->add != NULL;
        assert_status(
            bly_build(&failing_source, kind, NULL,
                      &(bly_keys){ .n = 5, .hashes = failing_hashes }),
            BLY_OK);
        assert_status(bly_save(failing_source, failing_path), BLY_OK);
        if (adds)
            failing_run(failing_new, kind, true);
        failing_run(failing_build, kind, adds);
        failing_run(failing_copy, kind, adds);
        failing_run(failing_read, kind, adds);
        failing_run(failing_map, kind, false);
        failing_run(failing_wrap, kind, false);
        bly_free(failing_source);
        unlink(failing_path);
    }
}

/* More than any machine has is refused with a message. */
static void test_too_much(void **state)
{
    (void)state;
    failing_state s = { .left = 0 };
    bly_allocator allocator = { failing_allocate, failing_release, &s };
    bly_spec spec = { .capacity = UINT64_C(1) << 50, .rate = 0.01,
                      .allocator = &allocator };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, "standard", &spec),
                  sizeof(size_t) > 4 ? BLY_ENOMEM : BLY_ETOOBIG);
    assert_non_null(strstr(bly_why(), "MiB"));
    assert_null(filter);
}

/* With 32-bit sizes a filter may fit although building it takes 4 GiB: the
 * build is refused instead of truncating the size. */
static void test_too_much_to_build(void **state)
{
    (void)state;
    int built = 0;
    if (sizeof(size_t) > 4)
        skip();                         /* 4 GiB are possible here           */
    for (size_t i = 0; registry_kinds[i] != NULL; i++) {
        bly_spec spec = { .capacity = UINT64_C(1) << 30, .rate = 0.5 };
        const bly_kind *kind = registry_kinds[i];
        bly_filter *filter = NULL;
        bly_plan_t plan;
        if (kind->building == NULL
            || bly_plan(&plan, kind->name, &spec) != BLY_OK
            || plan.bytes >> 30 != 0 || plan.scratch >> 32 == 0)
            continue;
        bly_status status = bly_build(&filter, kind->name, &spec,
                                      &(bly_keys){ .hashes = failing_hashes });
        if (status == BLY_OK)           /* scratch for the keys there are */
            bly_free(filter);
        else
            assert_said(status, BLY_ETOOBIG);
        built += status == BLY_ETOOBIG;
    }
    assert_true(built > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_too_much_to_build),
    };
    return cmocka_run_group_tests_name("failing", tests, NULL, NULL);
}
