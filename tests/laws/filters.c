/* filters.c - filters of the kind under test. */
#include "laws/laws.h"

const bly_kind *laws_kind;

bool laws_frozen(void)
{
    return laws_kind->add == NULL;
}

bool laws_exact(void)
{
    return KIND_HAS(laws_kind, hashing, integers);
}

uint64_t laws_room(uint64_t n)
{
    static uint64_t most = 0;           /* of the kind that is exact         */
    bly_plan_t plan = { .probes = 0 };
    if (!laws_exact())
        return n;
    while (plan.probes <= 300) {
        bly_spec spec = { .capacity = most + 1 };
        if (bly_plan(&plan, laws_kind->name, &spec) == BLY_ETOOBIG)
            break;
        most += plan.probes <= 300;
    }
    while (n > most)
        n /= 2;
    return n;
}

bool laws_unplanned(void)
{
    bly_plan_t plan;
    return laws_kind->growing != NULL
        && bly_plan(&plan, laws_kind->name, NULL) == BLY_OK;
}

bool laws_remembers(uint64_t n)
{
    bly_spec spec = { .capacity = laws_room(n) };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
    assert_int_equal(plan.window < UINT64_MAX, laws_kind->forgets);
    return plan.window >= n;
}

bool laws_counts(void)
{
    return laws_kind->count != NULL && !KIND_HAS(laws_kind, varying, counts);
}

bool laws_removes(void)
{
    return laws_kind->remove != NULL && !KIND_HAS(laws_kind, varying, counts);
}

bly_filter *laws_make(const bly_spec *wanted)
{
    bly_filter *filter = NULL;
    bly_spec spec = *wanted;
    spec.capacity = laws_room(spec.capacity);
    if (laws_frozen())
        assert_status(bly_build(&filter, laws_kind->name, &spec,
                                &(bly_keys){ 0 }),
                      BLY_OK);
    else
        assert_status(bly_new(&filter, laws_kind->name, &spec), BLY_OK);
    return filter;
}

bly_filter *laws_new(uint64_t capacity, double rate, uint64_t seed, int flags)
{
    bly_spec spec = { .capacity = capacity, .rate = rate, .seed = seed,
                      .flags = flags };
    return laws_make(&spec);
}

bly_filter *laws_copy(const bly_filter *filter)
{
    bly_filter *copy = NULL;
    assert_status(bly_copy(&copy, filter, NULL), BLY_OK);
    return copy;
}

bly_filter *laws_build(double rate, uint64_t stream, uint64_t n)
{
    bly_spec spec = { .rate = rate };
    bly_filter *filter = NULL;
    uint64_t *hashes = malloc((n + 1) * sizeof *hashes);
    assert_non_null(hashes);
    for (uint64_t i = 0; i < n; i++)
        hashes[i] = test_random(stream, i);
    assert_status(bly_build(&filter, laws_kind->name, &spec,
                            &(bly_keys){ .n = n, .hashes = hashes }),
                  BLY_OK);
    free(hashes);
    return filter;
}

bly_filter *laws_fill(const bly_filter *empty, uint64_t stream, uint64_t n)
{
    bly_filter *filter = laws_copy(empty);
    for (uint64_t i = 0; i < n; i++)
        assert_true(bly_add_hash(filter, test_random(stream, i)) >= 0);
    return filter;
}

bly_filter *laws_of(uint64_t capacity, double rate, uint64_t stream, uint64_t n)
{
    if (laws_frozen())
        return laws_build(rate, stream, n);
    bly_filter *filter = laws_new(capacity, rate, 0, 0);
    for (uint64_t i = 0; i < n; i++)
        assert_true(bly_add_hash(filter, test_random(stream, i)) >= 0);
    return filter;
}

uint64_t laws_present(const bly_filter *filter, uint64_t stream, uint64_t n)
{
    uint64_t present = 0;
    for (uint64_t i = 0; i < n; i++)
        present += bly_contains_hash(filter, test_random(stream, i));
    return present;
}

bool laws_same_bytes(const bly_filter *a, const bly_filter *b)
{
    size_t a_bytes, b_bytes;
    const void *a_image = bly_image(a, &a_bytes);
    const void *b_image = bly_image(b, &b_bytes);
    return a_bytes == b_bytes && memcmp(a_image, b_image, a_bytes) == 0;
}

bool laws_sized_by_rate(void)
{
    return !KIND_HAS(laws_kind, listing, keys);
}

double laws_rate(uint64_t n, double asked)
{
    bly_spec spec = { .capacity = n, .rate = asked };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
    return plan.rate;
}

bool laws_kept(double rate, double asked)
{
    return !laws_sized_by_rate() || rate <= asked * (1 + 1.0 / (1 << 20));
}

size_t laws_next(size_t n, size_t each, size_t times)
{
    if (n >= each)
        return n * times;
    if (test_work(1, 1, 0) == 1 || n < 20)
        return n + 1;
    return n % 16 == 1 ? n + 14 : n + 1;
}
