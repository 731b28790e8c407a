/* laws.c - what every kind must obey, run over each one of the registry.
 *
 * A kind that is added to the registry is tested here without a line more.
 * What is special to one kind is in tests/kinds/.
 */
#include "test.h"
#include "bloomery/sketch.h"

#include <pthread.h>
#include <unistd.h>

#include "base/cpu.h"
#include "verbs/handle.h"
#include "verbs/registry.h"

/* The kind under test, of each run of the group. */
static const bly_kind *laws_kind;

/* Must this kind be built from all its keys? */
static bool laws_frozen(void)
{
    return laws_kind->add == NULL;
}

/* Is it without a false positive, whatever the rate that is asked for? */
static bool laws_exact(void)
{
    return KIND_HAS(laws_kind, hashing, integers);
}

/* n keys, or half of them, a quarter and so on: as many as the kind can plan
 * for, with 300 probes for each at most. */
static uint64_t laws_room(uint64_t n)
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

#define LAWS_NEED_ADD()                                                        \
    do {                                                                       \
        if (laws_frozen())                                                     \
            skip();                                                            \
    } while (0)

/* Does a filter planned for n keys surely find the last n of them? */
static bool laws_remembers(uint64_t n)
{
    bly_spec spec = { .capacity = laws_room(n) };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
    assert_int_equal(plan.window < UINT64_MAX, laws_kind->forgets);
    return plan.window >= n;
}

#define LAWS_NEED_MEMORY()                                                     \
    do {                                                                       \
        if (!laws_remembers(1000))                                             \
            skip();                                                            \
    } while (0)

/* Does a filter of this kind, with no option, count; does it remove? What
 * counts by its options only removes by them only. */
static bool laws_counts(void)
{
    return laws_kind->count != NULL && !KIND_HAS(laws_kind, varying, counts);
}

static bool laws_removes(void)
{
    return laws_kind->remove != NULL && !KIND_HAS(laws_kind, varying, counts);
}

/* An empty one. */
static bly_filter *laws_make(const bly_spec *wanted)
{
    bly_filter *filter = NULL;
    bly_spec spec = *wanted;
    spec.capacity = laws_room(spec.capacity);
    if (laws_frozen())
        assert_status(bly_build(&filter, laws_kind->name, &spec, NULL, NULL, 0),
                      BLY_OK);
    else
        assert_status(bly_new(&filter, laws_kind->name, &spec), BLY_OK);
    return filter;
}

static bly_filter *laws_new(uint64_t capacity, double rate, uint64_t seed,
                            int flags)
{
    bly_spec spec = { .capacity = capacity, .rate = rate, .seed = seed,
                      .flags = flags };
    return laws_make(&spec);
}

/* To plan a filter may take far longer than to copy one. */
static bly_filter *laws_copy(const bly_filter *filter)
{
    bly_filter *copy = NULL;
    assert_status(bly_copy(&copy, filter, NULL), BLY_OK);
    return copy;
}

/* Built of n keys of a stream. */
static bly_filter *laws_build(double rate, uint64_t stream, uint64_t n)
{
    bly_spec spec = { .rate = rate };
    bly_filter *filter = NULL;
    uint64_t *hashes = malloc((n + 1) * sizeof *hashes);
    assert_non_null(hashes);
    for (uint64_t i = 0; i < n; i++)
        hashes[i] = test_random(stream, i);
    assert_status(bly_build(&filter, laws_kind->name, &spec, hashes, NULL, n),
                  BLY_OK);
    free(hashes);
    return filter;
}

/* n keys of a stream into a copy of an empty one. */
static bly_filter *laws_fill(const bly_filter *empty, uint64_t stream,
                             uint64_t n)
{
    bly_filter *filter = laws_copy(empty);
    for (uint64_t i = 0; i < n; i++)
        assert_true(bly_add_hash(filter, test_random(stream, i)) >= 0);
    return filter;
}

/* n keys of a stream, in. */
static bly_filter *laws_of(uint64_t capacity, double rate, uint64_t stream,
                           uint64_t n)
{
    if (laws_frozen())
        return laws_build(rate, stream, n);
    bly_filter *filter = laws_new(capacity, rate, 0, 0);
    for (uint64_t i = 0; i < n; i++)
        assert_true(bly_add_hash(filter, test_random(stream, i)) >= 0);
    return filter;
}

static uint64_t laws_present(const bly_filter *filter, uint64_t stream,
                             uint64_t n)
{
    uint64_t present = 0;
    for (uint64_t i = 0; i < n; i++)
        present += bly_contains_hash(filter, test_random(stream, i));
    return present;
}

static bool laws_same_bytes(const bly_filter *a, const bly_filter *b)
{
    size_t a_bytes, b_bytes;
    const void *a_image = bly_image(a, &a_bytes);
    const void *b_image = bly_image(b, &b_bytes);
    return a_bytes == b_bytes && memcmp(a_image, b_image, a_bytes) == 0;
}

/* A kind that lists its keys is sized by how many it can list: its rate is what
 * comes of that, and only has to be the one that was planned. */
static bool laws_sized_by_rate(void)
{
    return !KIND_HAS(laws_kind, listing, keys);
}

/* The planned rate of a filter of n keys for which this one was asked. */
static double laws_rate(uint64_t n, double asked)
{
    bly_spec spec = { .capacity = n, .rate = asked };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
    return plan.rate;
}

/* Is a planned rate what was asked, to the part in a million that is allowed?
 */
static bool laws_kept(double rate, double asked)
{
    return !laws_sized_by_rate() || rate <= asked * (1 + 1.0 / (1 << 20));
}

/* ---- Members, strangers, the rate -------------------------------------- */

static void law_empty_knows_nothing(void **state)
{
    (void)state;
    bly_filter *filter = laws_new(1000, 0.01, 0, 0);
    assert_int_equal(laws_present(filter, 1, 10000), 0);
    bly_stat_t stat;
    assert_status(bly_stat(&stat, filter), BLY_OK);
    assert_true(stat.items == 0 && stat.items_exact);
    assert_true(stat.fill == 0 && stat.distinct == 0 && stat.rate == 0);
    bly_free(filter);
}

static void law_no_false_negative(void **state)
{
    (void)state;
    LAWS_NEED_MEMORY();
    static const uint64_t sizes[] = { 1, 2, 7, 64, 1000, 100000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bly_filter *filter = laws_of(sizes[i], 0.01, 1, sizes[i]);
        assert_int_equal(laws_present(filter, 1, sizes[i]), sizes[i]);
        bly_free(filter);
    }
}

/* Over capacity a filter either says full or goes on finding every key. One
 * that does not grow then errs more. */
static void law_overfull_loses_nothing(void **state)
{
    (void)state;
    LAWS_NEED_ADD();
    if (laws_kind->forgets)
        skip();
    bly_filter *filter = laws_new(100, 0.01, 0, 0);
    uint64_t in = 0;
    while (in < 20000 && bly_add_hash(filter, test_random(1, in)) >= 0)
        in++;
    assert_true(in >= 100);
    assert_int_equal(laws_present(filter, 1, in), in);
    bly_stat_t stat;
    assert_status(bly_stat(&stat, filter), BLY_OK);
    assert_int_equal(stat.items, in);
    if (laws_kind->growing != NULL)
        assert_true(in == 20000 && stat.rate <= 0.01);
    else if (in > 200)
        assert_true(stat.rate > 2 * stat.planned_rate);
    bly_free(filter);
}

/* The planned rate of a kind that grows or has a window holds at any number of
 * keys. One that forgets without a window comes to it in a long stream. */
static void laws_measure(uint64_t n, double rate, uint64_t filters,
                         uint64_t asked)
{
    n = laws_room(n);
    bly_spec spec = { .capacity = n, .rate = rate };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
    assert_true(laws_kept(plan.rate, rate));

    uint64_t hits = 0, in = plan.window == 0 ? 8 * n : n;
    bly_filter *empty = laws_new(n, rate, 0, 0);
    for (uint64_t f = 0; f < filters; f++) {
        bly_filter *filter = laws_frozen()
                           ? laws_build(rate, 2 * f + 10, in)
                           : laws_fill(empty, 2 * f + 10, in);
        hits += laws_present(filter, 2 * f + 11, asked);
        bly_free(filter);
    }
    bly_free(empty);
    bool most = laws_kind->growing != NULL
             || (laws_kind->forgets && plan.window > 0);
    /* the rate of many more keys: fewer hits are right */
    if (!most || (double)hits > plan.rate * (double)(filters * asked))
        assert_within(hits, filters * asked, plan.rate,
                      plan.rate_sd / sqrt((double)filters));
}

static void law_measured_rate_is_planned(void **state)
{
    (void)state;
    TEST_STATISTICS();
    static const double rates[] = { 0.5, 0.1, 0.01, 0.001, 0.0001 };
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        laws_measure(100, rates[r], test_work(200, 100, 100), 4000);
        laws_measure(10000, rates[r], test_work(10, 4, 4), 100000);
        laws_measure(test_work(300000, 100000, 100000), rates[r], 1,
                     test_work(1000000, 400000, 400000));
    }
}

/* bly_stat's rate, from the bits alone, is what is measured; over capacity
 * too, if the kind does not say full before. */
static void law_stat_tells_the_rate(void **state)
{
    (void)state;
    uint64_t room = laws_room(10000);
    uint64_t most = laws_kind->forgets ? room : 4 * room;
    for (uint64_t n = room / 2; n <= most; n *= 2) {
        bly_filter *filter = laws_frozen() ? laws_build(0.01, 5, n)
                                           : laws_new(room, 0.01, 0, 0);
        uint64_t in = laws_frozen() ? n : 0;
        while (in < n && bly_add_hash(filter, test_random(5, in)) >= 0)
            in++;
        assert_true(in == n || in >= room);
        bly_stat_t stat;
        assert_status(bly_stat(&stat, filter), BLY_OK);
        uint64_t asked = test_work(1000000, 300000, 50000);
        assert_within(laws_present(filter, 6, asked), asked, stat.rate, 0);
        assert_true(fabs(stat.distinct - (double)in)
                    <= 5 * stat.distinct_sd + 1);
        assert_true(stat.items == in && stat.items_exact);
        bly_free(filter);
    }
}

static void law_add_tells_new_from_seen(void **state)
{
    (void)state;
    LAWS_NEED_ADD();
    LAWS_NEED_MEMORY();
    bly_filter *filter = laws_new(3000, 0.001, 0, 0);
    uint64_t fresh = 0;
    for (uint64_t i = 0; i < 1000; i++)
        fresh += bly_add_hash(filter, test_random(1, i)) == BLY_OK;
    assert_true(fresh >= 990); /* false positives: 1 at most expected */
    for (uint64_t i = 0; i < 1000; i++)
        assert_status(bly_add_hash(filter, test_random(1, i)), BLY_SEEN);
    bly_stat_t stat;
    assert_status(bly_stat(&stat, filter), BLY_OK);
    assert_int_equal(stat.items, 2000);
    assert_true(fabs(stat.distinct - 1000) <= 5 * stat.distinct_sd + 1);
    bly_free(filter);
}

/* ---- Plan -------------------------------------------------------------- */

static void law_plan_is_kept(void **state)
{
    (void)state;
    uint64_t most = laws_exact() ? laws_room(1000000) : 1000000;
    for (uint64_t n = 1; n <= most; n = n * 10 + 3) {
        bly_spec spec = { .capacity = n, .rate = 0.003 };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
        bly_filter *filter = laws_frozen() ? laws_build(0.003, 1, n)
                                           : laws_new(n, 0.003, 0, 0);
        bly_stat_t stat;
        size_t bytes;
        assert_status(bly_stat(&stat, filter), BLY_OK);
        bly_image(filter, &bytes);
        assert_string_equal(plan.kind, laws_kind->name);
        assert_true(plan.bytes == bytes
                    || (laws_frozen() && plan.bytes > bytes));
        assert_int_equal(stat.bytes, bytes);
        assert_true(plan.capacity == n && stat.capacity == n);
        assert_true(laws_kept(plan.rate, 0.003));
        assert_true(plan.rate == stat.planned_rate);
        assert_true(plan.rate_sd >= 0 && plan.fill > 0 && plan.fill < 1);
        assert_close(plan.bits_per_key, 8 * (double)plan.bytes / (double)n,
                     1e-12);
        if (!laws_frozen())
            assert_memory_equal(plan.geometry, stat.geometry,
                                sizeof plan.geometry);
        bly_free(filter);
    }
}

/* To ask for just what a fingerprint of whole bits gives does not take a bit
 * more: the chance of equal hashes is too small for that. */
static void law_plan_takes_round_rates_at_their_word(void **state)
{
    (void)state;
    uint64_t n = laws_room(1000000);
    bly_spec round = { .capacity = n, .rate = 1.0 / 256 };
    bly_spec above = { .capacity = n, .rate = 1.0001 / 256 };
    bly_plan_t a, b;
    assert_status(bly_plan(&a, laws_kind->name, &round), BLY_OK);
    assert_status(bly_plan(&b, laws_kind->name, &above), BLY_OK);
    assert_true((double)a.bytes < 1.02 * (double)b.bytes);
}

/* What a kind makes small: the image, or what travels of it. */
static uint64_t laws_size(const bly_plan_t *plan)
{
    return plan->packed != 0 ? plan->packed : plan->bytes;
}

/* More keys or a lower rate never take fewer bytes. */
static void law_plan_is_monotone(void **state)
{
    (void)state;
    uint64_t last = 0, most = laws_room(3000);
    const double factor = (double)test_work(8, 5, 3) / 10;
    for (uint64_t n = 1; n < most; n += test_work(7, 30, 70)) {
        bly_spec spec = { .capacity = n, .rate = 0.02 };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
        assert_true(laws_size(&plan) >= last);
        last = laws_size(&plan);
    }
    last = 0;
    for (double rate = 0.9; rate > 1e-6; rate *= factor) {
        bly_spec spec = { .capacity = laws_room(50000), .rate = rate };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
        assert_true(laws_size(&plan) >= last);
        last = laws_size(&plan);
    }
}

/* Planned without being built: a thousand million keys, and too many. Kinds
 * of whole bits a fingerprint may have to take up to one bit too many. */
static void law_plan_knows_big_sizes(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 1000000000, .rate = 0.01 };
    bly_plan_t plan;
    if (laws_exact()) {
        assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_ETOOBIG);
        return;
    }
    assert_status(bly_plan(&plan, laws_kind->name, &spec), BLY_OK);
    bool bits = strcmp(laws_kind->family, "sets") == 0;
    assert_true(plan.bytes > UINT64_C(830000000));      /* log2(1/rate) bits */
    assert_true(plan.bytes > UINT64_C(1150000000) || !bits);
    assert_true(laws_kept(plan.rate, 0.01));
    assert_true(plan.rate > (bits ? 0.0099 : 0.0024));

    spec.capacity = UINT64_MAX;
    spec.rate = 0.9999;
    bly_status status = bly_plan(&plan, laws_kind->name, &spec);
    assert_true(status == BLY_ETOOBIG || status == BLY_EPARAM);
    assert_true(strlen(bly_why()) > 20);
}

static void law_bad_specs_are_refused(void **state)
{
    (void)state;
    static const double rates[] = { -1, 1, 2, 1e300, 1e-300 };
    bly_filter *untouched = (bly_filter *)state;
    bly_spec spec = { .capacity = 100 };
    for (size_t i = 0; i <= sizeof rates / sizeof *rates; i++) {
        spec.rate = i < sizeof rates / sizeof *rates ? rates[i] : (double)NAN;
        assert_status(bly_new(&untouched, laws_kind->name, &spec), BLY_EPARAM);
    }
    spec = (bly_spec){ .rate = 0.01 };
    assert_status(bly_new(&untouched, laws_kind->name, &spec), BLY_EPARAM);
    spec = (bly_spec){ .capacity = 10, .hash = "md5" };
    assert_status(bly_new(&untouched, laws_kind->name, &spec), BLY_EHASH);
    spec = (bly_spec){ .capacity = 10, .flags = BLY_MAP };
    assert_status(bly_new(&untouched, laws_kind->name, &spec), BLY_EPARAM);
    char name[64];
    snprintf(name, sizeof name, "%s:nonsense=1", laws_kind->name);
    spec = (bly_spec){ .capacity = 10 };
    assert_status(bly_new(&untouched, name, &spec), BLY_EOPTION);
    assert_ptr_equal(untouched, state);
}

/* ---- One, many, keys, threads ------------------------------------------ */

/* The length of a batch after n: each up to `each`, or the few about every
 * multiple of 16, where vectors and blocks of keys end; then `times` as
 * many. */
static size_t laws_next(size_t n, size_t each, size_t times)
{
    if (n >= each)
        return n * times;
    if (test_work(1, 1, 0) == 1 || n < 20)
        return n + 1;
    return n % 16 == 1 ? n + 14 : n + 1;
}

/* At one level of the processor: the batch forms are the single ones. */
static void laws_many_is_one(void)
{
    enum { N = 5000 };
    static uint64_t hashes[N];
    static bool many[2 * N];
    for (uint64_t i = 0; i < N; i++)
        hashes[i] = test_random(3, i);
    if (laws_frozen()) {
        bly_filter *all = laws_build(0.02, 3, N / 2);
        for (size_t n = 0; n <= N; n = laws_next(n, 300, 3)) {
            memset(many, 7, sizeof many);
            bly_contains_many(all, hashes, n, many);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(many[i], bly_contains_hash(all, hashes[i]));
            assert_int_equal(*(unsigned char *)&many[n], 7);
        }
        bly_free(all);
        return;
    }
    bly_filter *empty = laws_new(N, 0.02, 0, 0);
    for (size_t n = 0; n <= N; n = laws_next(n, 300, 3)) {
        size_t count = n < N ? n : N;
        size_t asked = count + 100 < N ? count + 100 : N;
        bly_filter *one = laws_fill(empty, 3, count);
        bly_filter *all = laws_copy(empty);
        assert_status(bly_add_many(all, hashes, count, NULL, NULL), BLY_OK);
        assert_true(laws_same_bytes(one, all));
        for (size_t i = 0; i < 2 * N; i++)
            many[i] = true;
        bly_contains_many(all, hashes, asked, many);
        for (size_t i = 0; i < asked; i++)
            assert_int_equal(many[i], bly_contains_hash(one, hashes[i]));
        assert_true(many[asked]);       /* not a byte beyond */
        bly_free(one);
        bly_free(all);
    }
    bly_free(empty);
}

/* Whatever vector instructions there are, and without. */
static void law_many_is_one(void **state)
{
    (void)state;
    for (cpu_level level = CPU_PORTABLE; level < CPU_LEVELS; level++)
        if (cpu_limit(level) == level)
            laws_many_is_one();
}

/* The batch that tells of each key is the single form, repeats and growth and
 * all. */
static void laws_each_is_one(void)
{
    enum { N = 6000 };
    static uint64_t hashes[N];
    static bool seen[N + 1];
    for (uint64_t i = 0; i < N; i++)
        hashes[i] = test_random(3, i % 5 == 4 ? i / 2 : i);
    bly_filter *empty = laws_new(laws_kind->growing != NULL ? 100 : N, 0.02, 0,
                                 0);
    for (size_t n = 0; n <= N; n = laws_next(n, 300, 2)) {
        bly_filter *one = laws_copy(empty), *all = laws_copy(empty);
        memset(seen, 7, sizeof seen);
        assert_status(bly_add_many(all, hashes, n, seen, NULL), BLY_OK);
        assert_int_equal(*(unsigned char *)&seen[n], 7);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(bly_add_hash(one, hashes[i]) == BLY_SEEN,
                             seen[i]);
        assert_true(laws_same_bytes(one, all));
        bly_free(one);
        bly_free(all);
    }
    bly_free(empty);
}

static void law_each_is_one(void **state)
{
    (void)state;
    LAWS_NEED_ADD();
    for (cpu_level level = CPU_PORTABLE; level < CPU_LEVELS; level++)
        if (cpu_limit(level) == level)
            laws_each_is_one();
}

/* The mask is the answers, bit by bit, and nothing is written behind it. */
static void law_mask_is_many(void **state)
{
    (void)state;
    enum { N = 7000 };
    static uint64_t hashes[N];
    static bool many[N];
    static uint8_t mask[N / 8 + 2];
    bly_filter *filter = laws_of(N, 0.02, 3, N / 2);
    for (uint64_t i = 0; i < N; i++)
        hashes[i] = test_random(3, (i * 2654435761u) % N);
    for (size_t n = 0; n <= N; n = laws_next(n, 20, 5)) {
        uint64_t ones = 0;
        memset(mask, 0xA5, sizeof mask);
        bly_contains_many(filter, hashes, n, many);
        uint64_t told = bly_contains_mask(filter, hashes, n, mask);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(mask[i / 8] >> i % 8 & 1, many[i]);
            ones += many[i];
        }
        if (n % 8 != 0)
            assert_int_equal(mask[n / 8] >> n % 8, 0);
        assert_int_equal(mask[(n + 7) / 8], 0xA5);
        assert_true(told == ones);
        assert_true(bly_contains_mask(filter, hashes, n, NULL) == ones);
    }
    bly_free(filter);
}

/* What a filter's batches leave and say: the image after adds and removals, and
 * answers about members and strangers. */
enum { LAWS_FAR = 600 };
static const double LAWS_FAR_RATE = 0.2;
typedef struct {
    bly_filter *filter;
    bool present[LAWS_FAR], seen[LAWS_FAR], found[LAWS_FAR];
    uint64_t counts[LAWS_FAR], labels[LAWS_FAR];
} laws_batches;

/* With so many keys ahead. */
static void laws_take(laws_batches *b, const uint64_t *hashes, int ahead)
{
    memset(b, 0, sizeof *b);
    cpu_look_ahead(ahead);
    if (laws_frozen()) {
        b->filter = laws_build(LAWS_FAR_RATE, 3, LAWS_FAR / 2);
    } else {
        b->filter = laws_new(LAWS_FAR, LAWS_FAR_RATE, 0, 0);
        bly_add_many(b->filter, hashes, LAWS_FAR / 4, NULL, NULL);
        bly_add_many(b->filter, hashes, LAWS_FAR / 2, b->seen, NULL);
        if (laws_removes())
            bly_remove_many(b->filter, hashes, LAWS_FAR / 8, NULL);
    }
    bly_contains_many(b->filter, hashes, LAWS_FAR, b->present);
    bly_count_many(b->filter, hashes, LAWS_FAR, b->counts);
    bly_get_many(b->filter, hashes, LAWS_FAR, b->found, b->labels);
}

/* Neither how many keys ahead lines are asked for nor the vector instructions
 * change anything. Many strangers are called present, so that who looked at a
 * bit too few, or at a wrong one, would say otherwise of some. */
static void law_far_is_near(void **state)
{
    (void)state;
    static const int far[] = { 1, 2, 7, 33, 127, 1 << 16 };
    static laws_batches near, other;
    uint64_t hashes[LAWS_FAR];
    for (uint64_t i = 0; i < LAWS_FAR; i++)
        hashes[i] = test_random(3, i);
    cpu_limit(CPU_PORTABLE);
    laws_take(&near, hashes, CPU_AHEAD);
    for (cpu_level level = CPU_PORTABLE; level < CPU_LEVELS; level++) {
        if (cpu_limit(level) != level)
            continue;
        for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
            laws_take(&other, hashes, far[i]);
            assert_true(laws_same_bytes(near.filter, other.filter));
            bly_free(other.filter);
            other.filter = near.filter;
            assert_memory_equal(&near, &other, sizeof near);
        }
    }
    bly_free(near.filter);
    cpu_look_ahead(CPU_AHEAD);
}

/* The batch of each level is the portable single form for every number of
 * probes and some unround sizes, in which many strangers are called present. */
static void law_many_is_one_for_all_options(void **state)
{
    (void)state;
    enum { N = 700 };
    uint64_t hashes[N];
    bool many[N];
    for (uint64_t i = 0; i < N; i++)
        hashes[i] = test_random(8, i);
    for (unsigned k = 1; k <= 64; k++)
        for (cpu_level level = CPU_PORTABLE; level < CPU_LEVELS; level++) {
            char kind[64];
            snprintf(kind, sizeof kind, "%s:m=%u,k=%u", laws_kind->name,
                     1007 + 64 * k, k);
            bly_spec spec = { .capacity = N };
            bly_filter *one = NULL, *all = NULL;
            cpu_limit(CPU_PORTABLE);
            if (bly_new(&one, kind, &spec) != BLY_OK)
                continue;
            if (cpu_limit(level) != level) {
                bly_free(one);
                continue;
            }
            assert_status(bly_new(&all, kind, &spec), BLY_OK);
            for (size_t i = 0; i < N / 2; i++)
                bly_add_hash(one, hashes[i]);
            assert_status(bly_add_many(all, hashes, N / 2, NULL, NULL), BLY_OK);
            assert_true(laws_same_bytes(one, all));
            bly_contains_many(all, hashes, N, many);
            for (size_t i = 0; i < N; i++)
                assert_int_equal(many[i], bly_contains_hash(one, hashes[i]));
            bly_free(one);
            bly_free(all);
        }
}

static void law_keys_are_hashes(void **state)
{
    (void)state;
    enum { N = 1500 };
    static char text[N][16];
    static bly_key keys[2 * N];
    static bool present[2 * N];
    LAWS_NEED_ADD();
    bly_filter *by_keys = laws_new(N, 0.001, 99, 0);
    bly_filter *by_one = laws_new(N, 0.001, 99, 0);
    bly_filter *by_hash = laws_new(N, 0.001, 99, 0);
    for (size_t i = 0; i < N; i++) {
        int length = snprintf(text[i], sizeof text[i], "%zu", i * i);
        keys[i] = (bly_key){ text[i], (size_t)length };
        assert_true(bly_add(by_one, text[i], (size_t)length) >= 0);
        uint64_t hash = bly_hash(by_hash, text[i], (size_t)length);
        assert_true(bly_add_hash(by_hash, hash) >= 0);
    }
    assert_status(
        bly_add_keys(by_keys, &(bly_keys){.n = N, .keys = keys}, NULL, NULL),
        BLY_OK);
    assert_true(laws_same_bytes(by_keys, by_one));
    assert_true(laws_same_bytes(by_keys, by_hash));
    bly_contains_keys(by_keys, &(bly_keys){ .n = N, .keys = keys }, present);
    bool all = laws_remembers(N);
    for (size_t i = 0; i < N; i++) {
        assert_true(present[i] || !all);
        assert_int_equal(present[i], bly_contains(by_one, keys[i].data,
                                                  keys[i].length));
    }
    bly_free(by_keys);
    bly_free(by_one);
    bly_free(by_hash);
}

enum { LAWS_THREADS = 4, LAWS_EACH = 20000 };

typedef struct { bly_filter *filter; uint64_t stream; uint64_t lost; } laws_job;

/* Add keys that overlap with the neighbours' and look each up at once. */
static void *laws_thread(void *argument)
{
    laws_job *job = argument;
    uint64_t batch[100];
    for (uint64_t i = 0; i < LAWS_EACH; i += 100) {
        for (uint64_t j = 0; j < 100; j++)
            batch[j] = test_random(77, job->stream * LAWS_EACH / 2 + i + j);
        bly_add_many(job->filter, batch, 50, NULL, NULL);
        for (uint64_t j = 50; j < 100; j++)
            bly_add_hash(job->filter, batch[j]);
        for (uint64_t j = 0; j < 100; j++)
            job->lost += !bly_contains_hash(job->filter, batch[j]);
    }
    return NULL;
}

static void law_shared_adds_lose_nothing(void **state)
{
    (void)state;
    if (laws_kind->sharing == NULL)
        skip();
    bly_filter *shared = laws_new(LAWS_THREADS * LAWS_EACH, 0.01, 0,
                                  BLY_SHARED);
    pthread_t threads[LAWS_THREADS];
    laws_job jobs[LAWS_THREADS];
    for (uint64_t t = 0; t < LAWS_THREADS; t++) {
        jobs[t] = (laws_job){ shared, t, 0 };
        assert_int_equal(pthread_create(&threads[t], NULL, laws_thread,
                                        &jobs[t]), 0);
    }
    for (size_t t = 0; t < LAWS_THREADS; t++) {
        pthread_join(threads[t], NULL);
        assert_int_equal(jobs[t].lost, 0);
    }
    bly_filter *alone = laws_new(LAWS_THREADS * LAWS_EACH, 0.01, 0, 0);
    for (uint64_t t = 0; t < LAWS_THREADS; t++)
        for (uint64_t i = 0; i < LAWS_EACH; i++)
            bly_add_hash(alone, test_random(77, t * LAWS_EACH / 2 + i));
    assert_true(laws_same_bytes(shared, alone));
    bly_free(shared);
    bly_free(alone);
}

/* Visits that do not come. */
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

/* ---- Verbs that a kind may lack ---------------------------------------- */

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
        assert_status(bly_add_many(filter, &member, 1, NULL, NULL),
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
        assert_status(bly_add_many(filter, &member, 1, NULL, NULL),
                      BLY_EUNSUPPORTED);
    if (laws_kind->resizing == NULL)
        assert_status(bly_resize(filter, 5000), BLY_EUNSUPPORTED);
    if (!KIND_HAS(laws_kind, listing, fingerprints))
        assert_status(
            bly_list_fingerprints(filter, laws_visit_fingerprint, NULL),
            BLY_EUNSUPPORTED);
    if (!KIND_HAS(laws_kind, combining, unite_at))
        assert_status(bly_unite_at(filter, filter, 1), BLY_EUNSUPPORTED);
    if (!KIND_HAS(laws_kind, listing, keys))
        assert_status(bly_list_keys(filter, laws_visit_key, NULL),
                      BLY_EUNSUPPORTED);
    if (!KIND_HAS(laws_kind, combining, subtract))
        assert_status(bly_subtract(filter, filter), BLY_EUNSUPPORTED);
    if (!laws_removes())
        assert_status(bly_remove_many(filter, &member, 1, NULL),
                      BLY_EUNSUPPORTED);
    if (laws_kind->labels == NULL) {
        assert_status(bly_put_hash(filter, member, 7), BLY_EUNSUPPORTED);
        assert_status(bly_put_many(filter, &member, &label, 1, NULL),
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

/* ---- Remove, count ----------------------------------------------------- */

/* Half of the keys taken out: the others are found, and of those gone few. */
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
    bly_stat_t stat;
    assert_status(bly_stat(&stat, filter), BLY_OK);
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

/* For kinds that count: what was added and taken out leaves no trace. */
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
        bly_status got = bly_remove_many(all, hashes, n, each);
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
 * copy in one of a few places may have no room for the last ones. A counter may
 * be as narrow as two bits and stick at 3: then it says that it does not
 * know. */
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
    bly_count_many(filter, hashes, 2 * N, counts);
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

/* ---- Labels ------------------------------------------------------------ */

/* What stands where no label is written. */
static const uint64_t laws_no_label = UINT64_C(0x5EED5EED5EED5EED);

/* Some label that there may be. */
static uint64_t laws_label(const bly_stat_t *stat, uint64_t i)
{
    uint64_t span = stat->label_most - stat->label_least;
    uint64_t any = test_random(4, i);
    return stat->label_least + (span == UINT64_MAX ? any : any % (span + 1));
}

/* May a key that was put with `was` have the label `is`? */
static bool laws_not_worse(const bly_filter *filter, uint64_t is, uint64_t was)
{
    const kind_labels *labels = laws_kind->labels;
    if (labels->covers != NULL)
        return labels->covers(bly_image(filter, NULL), is, was);
    return labels->better == KIND_LABEL_LARGER ? is >= was
         : labels->better == KIND_LABEL_SMALLER ? is <= was : is == was;
}

/* What a filter of this kind can hold, planned as all in these laws. */
static bly_stat_t laws_labels(void)
{
    bly_filter *filter = laws_new(2000, 0.01, 0, 0);
    bly_stat_t stat;
    bly_plan_t plan;
    bly_spec spec = { .capacity = laws_room(2000), .rate = 0.01 };
    assert_status(bly_stat(&stat, filter), BLY_OK);
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

/* Half of the keys asked for are there, and have labels. */
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
            bly_get_keys(filter, &(bly_keys){.n = n, .keys = keys}, found,
                         labels);
        else
            bly_get_many(filter, hashes, n, found, labels);
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
    bly_stat_t can = laws_labels(), stat;
    for (size_t i = 0; i < N; i++) {
        numbers[i] = i;
        keys[i] = (bly_key){ &numbers[i], sizeof numbers[i] };
        hashes[i] = bly_hash(filter, keys[i].data, keys[i].length);
        labels[i] = laws_label(&can, i);
    }
    bly_free(filter);
    if (laws_kind->labels != NULL)
        assert_status(bly_build(&filter, laws_kind->name, &spec, hashes,
                                       labels, N / 2), BLY_OK);
    else
        filter = laws_of(N, 0.01, 1, N / 2);
    assert_status(bly_stat(&stat, filter), BLY_OK);
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

/* To be put into: of a kind that is built, with these keys. */
static bly_filter *laws_to_put(const uint64_t *hashes, size_t n)
{
    bly_spec spec = { .capacity = n, .rate = 0.01 };
    bly_filter *filter = NULL;
    if (!laws_frozen())
        return laws_make(&spec);
    assert_status(bly_build(&filter, laws_kind->name, &spec, hashes, NULL, n),
                  BLY_OK);
    return filter;
}

/* Repeats too, with another label. */
static void law_put_many_is_one(void **state)
{
    (void)state;
    enum { N = 3000 };
    static uint64_t hashes[N], labels[N];
    if (laws_kind->labels == NULL)
        skip();
    bly_stat_t can = laws_labels(), stat;
    for (uint64_t i = 0; i < N; i++) {
        hashes[i] = test_random(3, i % 5 == 4 ? i / 2 : i);
        labels[i] = laws_label(&can, i);
    }
    for (size_t n = 0; n <= N; n = laws_next(n, 200, 2)) {
        bly_filter *one = laws_to_put(hashes, N);
        bly_filter *all = laws_to_put(hashes, N);
        for (size_t i = 0; i < n; i++)
            assert_true(bly_put_hash(one, hashes[i], labels[i]) >= 0);
        assert_status(bly_put_many(all, hashes, labels, n, NULL), BLY_OK);
        assert_true(laws_same_bytes(one, all));
        assert_status(bly_stat(&stat, all), BLY_OK);
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

/* A label that there may not be changes nothing; the ones before it in a batch
 * are in, and counted. */
static void law_wrong_labels_are_refused(void **state)
{
    (void)state;
    enum { N = 700, BAD = 500 };
    static uint64_t hashes[N], labels[N];
    if (laws_kind->labels == NULL)
        skip();
    bly_stat_t can = laws_labels(), stat;
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
        assert_status(bly_put_many(some, hashes, labels, BAD, NULL), BLY_OK);
        assert_status(bly_copy(&all, some, NULL), BLY_OK);
        assert_status(bly_put_hash(all, hashes[BAD], wrong[w].label),
                      BLY_EPARAM);
        assert_true(laws_same_bytes(some, all));
        bly_free(all);
        all = laws_to_put(hashes, N);
        uint64_t good = labels[BAD];
        labels[BAD] = wrong[w].label;
        assert_status(bly_put_many(all, hashes, labels, N, NULL), BLY_EPARAM);
        labels[BAD] = good;
        assert_true(laws_same_bytes(some, all));
        assert_status(bly_stat(&stat, all), BLY_OK);
        assert_int_equal(stat.items, laws_frozen() ? N : BAD);
        bly_free(some);
        bly_free(all);
    }
}

/* What has been told of the labels so far. */
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

/* All labels in rising order, or as many as are wanted. */
static void law_each_label_is_told(void **state)
{
    (void)state;
    if (!KIND_HAS(laws_kind, labels, each))
        skip();
    bly_stat_t can = laws_labels(), stat;
    bly_filter *filter = laws_new(2000, 0.01, 0, 0);
    for (uint64_t i = 0; i < 2500; i++)
        assert_true(bly_put_hash(filter, test_random(1, i),
                                 laws_label(&can, i)) >= 0);
    assert_status(bly_stat(&stat, filter), BLY_OK);
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

/* ---- Another size ------------------------------------------------------ */

/* Full, then made larger without the keys, and filled again. */
/* Folded by any number that goes, it holds what it held, in so many fewer
 * bytes. */
static void law_folded_holds_the_same(void **state)
{
    (void)state;
    enum { N = 3000 };
    bly_filter *filter = laws_new(N, 0.001, 3, 0);
    bly_stat_t before, after;
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
        assert_status(bly_stat(&before, filter), BLY_OK);
        assert_status(bly_stat(&after, copy), BLY_OK);
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

static void law_resized_holds_the_same(void **state)
{
    (void)state;
    if (laws_kind->resizing == NULL)
        skip();
    bly_filter *filter = laws_of(5000, 0.001, 1, 5000);
    uint64_t in = 5000;
    for (uint64_t capacity = 10000; capacity <= 40000; capacity *= 2) {
        assert_status(bly_resize(filter, capacity), BLY_OK);
        bly_stat_t stat;
        assert_status(bly_stat(&stat, filter), BLY_OK);
        assert_true(stat.capacity >= capacity && stat.items == in);
        assert_int_equal(laws_present(filter, 1, in), in);
        for (; in < capacity; in++)
            assert_true(bly_add_hash(filter, test_random(1, in)) >= 0);
        assert_int_equal(laws_present(filter, 1, in), in);
        assert_status(bly_stat(&stat, filter), BLY_OK);
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

/* ---- Sets -------------------------------------------------------------- */

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
    bly_stat_t stat;
    assert_status(bly_stat(&stat, a), BLY_OK);
    bool counts = laws_counts() || KIND_HAS(laws_kind, combining, subtract);
    assert_int_equal(stat.items_exact, counts);
    assert_true(fabs((double)stat.items - (double)(in + more))
                <= (counts ? 0 : 5 * stat.distinct_sd + 1));
    assert_true(bly_add_hash(a, test_random(3, 0)) >= 0);
    assert_status(bly_stat(&stat, a), BLY_OK);
    assert_int_equal(stat.items_exact, counts); /* once unknown, it stays so */
    bly_free(a);
    bly_free(b);
    bly_free(both);
}

/* The better of two labels. */
static void law_union_has_both_labels(void **state)
{
    (void)state;
    enum { N = 2500 };
    static uint64_t hashes[N], labels[N];
    if (!KIND_HAS(laws_kind, combining, unite) || laws_kind->labels == NULL)
        skip();
    bly_stat_t can = laws_labels();
    for (uint64_t i = 0; i < N; i++) {
        hashes[i] = test_random(1, i % 2000);
        labels[i] = laws_label(&can, i);
    }
    bly_filter *a = laws_to_put(hashes, N), *b = laws_to_put(hashes, N);
    bly_filter *both = laws_to_put(hashes, N);
    assert_status(bly_put_many(a, hashes, labels, 1100, NULL), BLY_OK);
    assert_status(bly_put_many(b, hashes + 1100, labels + 1100, N - 1100, NULL),
                  BLY_OK);
    assert_status(bly_put_many(both, hashes, labels, N, NULL), BLY_OK);
    assert_status(bly_unite(a, b), BLY_OK);
    size_t bytes;
    const uint8_t *united = bly_image(a, &bytes), *put = bly_image(both, NULL);
    assert_memory_equal(united + IMAGE_HEADER, put + IMAGE_HEADER,
                        bytes - IMAGE_HEADER);
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

/* ---- Images ------------------------------------------------------------ */

/* The same answers to 20 000 questions. */
static void laws_same_answers(const bly_filter *a, const bly_filter *b)
{
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t hash = test_random(1, i);
        assert_int_equal(bly_contains_hash(a, hash),
                         bly_contains_hash(b, hash));
    }
}

#ifndef BLY_WITHOUT_SYSTEM
/* A packed file cannot be changed in its place. */
static void laws_round_trip(const bly_filter *filter, const char *path,
                            int flags)
{
    bly_filter *again = NULL;
    if (laws_kind->packing != NULL && (flags & BLY_WRITE)) {
        assert_status(bly_open(&again, path, flags, NULL), BLY_EUNSUPPORTED);
        assert_null(again);
        return;
    }
    assert_status(bly_open(&again, path, flags, NULL), BLY_OK);
    laws_same_answers(filter, again);
    assert_true(laws_same_bytes(filter, again));
    bly_free(again);
}

static void law_save_load_map(void **state)
{
    (void)state;
    bly_filter *filter = laws_of(3000, 0.02, 1, 3000);
    char path[64];
    snprintf(path, sizeof path, "laws-%ld.bly", (long)getpid());
    assert_status(bly_save(filter, path), BLY_OK);
    laws_round_trip(filter, path, 0);
    laws_round_trip(filter, path, BLY_MAP);
    laws_round_trip(filter, path, BLY_MAP | BLY_VERIFY);
    laws_round_trip(filter, path, BLY_MAP | BLY_WRITE);
    assert_int_equal(unlink(path), 0);
    bly_free(filter);
}
#endif

static void law_wrap(void **state)
{
    (void)state;
    bly_filter *filter = laws_of(3000, 0.02, 1, 3000);
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    for (size_t shift = 0; shift < 9; shift++) {
        uint8_t *room = malloc(bytes + shift);
        assert_non_null(room);
        memcpy(room + shift, image, bytes);
        bly_filter *borrowed = NULL;
        assert_status(bly_wrap(&borrowed, room + shift, bytes, NULL), BLY_OK);
        laws_same_answers(filter, borrowed);
        assert_status(bly_add_hash(borrowed, 1),
                      laws_frozen() ? BLY_EUNSUPPORTED : BLY_EREADONLY);
        bly_free(borrowed);
        free(room);
    }
    bly_free(filter);
}

/* The same through memory, in as many bytes as stat says; of a kind that does
 * not pack it is the image itself. Truncations and damage are refused. */
static void law_packed_and_unpacked(void **state)
{
    (void)state;
    bly_filter *filter = laws_of(3000, 0.02, 1, 3000), *again = NULL;
    size_t bytes, used = 0;
    bly_stat_t stat;
    bly_image(filter, &bytes);
    bly_stat(&stat, filter);
    uint8_t *packed = malloc(bytes);
    assert_non_null(packed);
    assert_status(bly_pack(filter, packed, bytes - 1, &used), BLY_EPARAM);
    assert_status(bly_pack(filter, packed, bytes, &used), BLY_OK);
    assert_true(used <= bytes);
    if (laws_kind->packing == NULL) {
        assert_true(stat.packed == 0 && used == bytes);
        assert_memory_equal(packed, bly_image(filter, NULL), bytes);
    } else {
        assert_true(fabs((double)used - (double)stat.packed) <= 2);
        assert_status(bly_wrap(&again, packed, used, NULL), BLY_EUNSUPPORTED);
    }
    assert_status(bly_check(packed, used, NULL), BLY_OK);
    assert_status(bly_unpack(&again, packed, used, NULL), BLY_OK);
    laws_same_answers(filter, again);
    assert_true(laws_same_bytes(filter, again));
    bly_free(again);
    again = NULL;
    for (size_t cut = 0; cut < used; cut += 1 + cut / 9) {
        uint8_t *part = malloc(cut + 1);
        assert_non_null(part);
        memcpy(part, packed, cut);
        assert_true(bly_unpack(&again, part, cut, NULL) < 0);
        free(part);
    }
    for (size_t at = 0; at < used; at += at < IMAGE_HEADER ? 1 : 7) {
        packed[at] ^= 0x10;
        assert_true(bly_unpack(&again, packed, used, NULL) < 0);
        packed[at] ^= 0x10;
    }
    assert_null(again);
    free(packed);
    bly_free(filter);
}

/* An empty filter of the same plan: filled alike it is the same. */
static void law_like_is_the_same_plan(void **state)
{
    (void)state;
    LAWS_NEED_ADD();
    bly_filter *filter = laws_of(3000, 0.02, 1, 3000), *like = NULL;
    bly_status status = bly_like(&like, filter, NULL);
    if (KIND_HAS(laws_kind, combining, overlap) && laws_kind->growing == NULL)
        assert_said(status, BLY_OK);  /* to compare keys with a filter */
    if (status != BLY_EUNSUPPORTED) {
        assert_said(status, BLY_OK);
        assert_int_equal(laws_present(like, 1, 3000), 0);
        for (uint64_t i = 0; i < 3000; i++)
            assert_true(bly_add_hash(like, test_random(1, i)) >= 0);
        assert_true(laws_same_bytes(like, filter));
        bly_free(like);
    }
    bly_free(filter);
}

/* A cleared filter is one that nothing was added to, in the same memory; one
 * that cannot be cleared is as it was. */
static void law_clear_takes_all_out(void **state)
{
    (void)state;
    LAWS_NEED_ADD();
    bly_filter *filter = laws_of(3000, 0.02, 1, 3000), *like = NULL;
    bly_filter *before = NULL;
    bly_status status = bly_like(&like, filter, NULL);
    assert_said(bly_copy(&before, filter, NULL), BLY_OK);
    assert_said(bly_clear(filter), status);
    if (status == BLY_OK) {
        bly_stat_t stat;
        assert_true(laws_same_bytes(like, filter));
        assert_status(bly_stat(&stat, filter), BLY_OK);
        assert_true(stat.items == 0 && stat.items_exact);
        for (uint64_t i = 0; i < 3000; i++)
            assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
    }
    assert_true(laws_same_bytes(before, filter));
    bly_free(before);
    bly_free(like);
    bly_free(filter);
}

static void law_build_and_copy(void **state)
{
    (void)state;
    static uint64_t hashes[2000];
    uint64_t n = laws_room(2000), different = n - n / 20;
    for (uint64_t i = 0; i < n; i++)
        hashes[i] = test_random(1, i % different);  /* some of them twice */
    static uint64_t before[2000];
    memcpy(before, hashes, sizeof before);
    bly_filter *built = NULL, *copy = NULL;
    assert_status(bly_build(&built, laws_kind->name, NULL, hashes, NULL, n),
                  BLY_OK);
    assert_memory_equal(hashes, before, sizeof before);
    uint64_t found = laws_present(built, 1, different);
    assert_true(found == different || !laws_remembers(n));
    assert_status(bly_copy(&copy, built, NULL), BLY_OK);
    assert_true(laws_same_bytes(built, copy));
    bly_free(built);
    assert_int_equal(laws_present(copy, 1, different), found);
    bly_free(copy);
    assert_status(bly_build(&built, laws_kind->name, NULL, hashes, NULL, 0),
                  BLY_EPARAM);
}

/* Every truncation, and every change of one byte of the header, is refused
 * by all that take an image; damage to the payload by bly_check. */
static void law_damage_is_found(void **state)
{
    (void)state;
    uint64_t n = laws_exact() ? 12 : 200;       /* all of it, for each bit */
    bly_filter *filter = laws_of(n, 0.01, 1, n), *none = NULL;
    size_t bytes;
    const uint8_t *good = bly_image(filter, &bytes);
    uint8_t *image = malloc(bytes);
    assert_non_null(image);
    memcpy(image, good, bytes);
    assert_status(bly_check(image, bytes, NULL), BLY_OK);
    for (size_t cut = 0; cut < bytes; cut++) {
        uint8_t *part = malloc(cut + 1);
        assert_non_null(part);
        memcpy(part, image, cut);
        assert_true(bly_check(part, cut, NULL) < 0);
        assert_true(bly_wrap(&none, part, cut, NULL) < 0);
        free(part);
    }
    for (size_t at = 0; at < IMAGE_HEADER; at++)
        for (unsigned flip = 1; flip < 256; flip++) {
            image[at] ^= (uint8_t)flip;
            assert_true(bly_check(image, bytes, NULL) < 0);
            assert_true(bly_wrap(&none, image, bytes, NULL) < 0);
            image[at] ^= (uint8_t)flip;
        }
    for (size_t at = IMAGE_HEADER; at < bytes; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            image[at] ^= (uint8_t)(1u << bit);
            assert_status(bly_check(image, bytes, NULL), BLY_ECORRUPT);
            image[at] ^= (uint8_t)(1u << bit);
        }
    assert_null(none);
    assert_status(bly_check(image, bytes, NULL), BLY_OK);
    free(image);
    bly_free(filter);
}

/* Forged geometry with right checksums: whatever is accepted stays inside
 * its bytes (the sanitizers watch). */
static void law_forged_geometry_stays_inside(void **state)
{
    (void)state;
    static const uint64_t values[] = {
        0, 1, 2, 7, 8, 31, 32, 33, 63, 64, 65, 255, 256, 511, 512, 1000,
        UINT64_C(1) << 31, (UINT64_C(1) << 32) + 1, UINT64_C(1) << 48,
        UINT64_C(1) << 60, UINT64_C(1) << 63, UINT64_MAX,
    };
    bly_filter *filter = laws_of(200, 0.01, 1, 200);
    size_t bytes;
    const void *good = bly_image(filter, &bytes);
    uint8_t *image = malloc(bytes);
    assert_non_null(image);
    for (size_t field = 0; field < IMAGE_GEOMETRY_FIELDS; field++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            memcpy(image, good, bytes);
            image_set_u64(image, IMAGE_GEOMETRY + 8 * field, values[v]);
            image_seal(image);
            bly_filter *forged = NULL, *copy = NULL;
            if (bly_wrap(&forged, image, bytes, NULL) != BLY_OK)
                continue;
            assert_status(bly_copy(&copy, forged, NULL), BLY_OK);
            laws_present(forged, 5, 2000);
            for (uint64_t i = 0; i < 2000; i++)
                bly_add_hash(copy, test_random(6, i));
            bly_stat_t stat;
            bly_stat(&stat, copy);
            bly_free(copy);
            bly_free(forged);
        }
    free(image);
    bly_free(filter);
}

/* The state does not depend on the order of the keys, nor on repeats, for
 * kinds of nothing but bits. */
static void law_bits_forget_the_order(void **state)
{
    (void)state;
    if (strcmp(laws_kind->family, "sets") != 0
        || !KIND_HAS(laws_kind, combining, unite))
        skip();
    bly_filter *up = laws_new(1000, 0.01, 0, 0);
    bly_filter *down = laws_new(1000, 0.01, 0, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        bly_add_hash(up, test_random(1, i));
        bly_add_hash(down, test_random(1, 999 - i));
    }
    assert_true(laws_same_bytes(up, down));
    bly_free(up);
    bly_free(down);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest laws[] = {
        cmocka_unit_test(law_empty_knows_nothing),
        cmocka_unit_test(law_no_false_negative),
        cmocka_unit_test(law_overfull_loses_nothing),
        cmocka_unit_test(law_measured_rate_is_planned),
        cmocka_unit_test(law_stat_tells_the_rate),
        cmocka_unit_test(law_add_tells_new_from_seen),
        cmocka_unit_test(law_plan_is_kept),
        cmocka_unit_test(law_plan_takes_round_rates_at_their_word),
        cmocka_unit_test(law_plan_is_monotone),
        cmocka_unit_test(law_plan_knows_big_sizes),
        cmocka_unit_test(law_bad_specs_are_refused),
        cmocka_unit_test(law_many_is_one),
        cmocka_unit_test(law_each_is_one),
        cmocka_unit_test(law_mask_is_many),
        cmocka_unit_test(law_far_is_near),
        cmocka_unit_test(law_many_is_one_for_all_options),
        cmocka_unit_test(law_keys_are_hashes),
        cmocka_unit_test(law_shared_adds_lose_nothing),
        cmocka_unit_test(law_missing_verbs_say_so),
        cmocka_unit_test(law_removed_is_gone),
        cmocka_unit_test(law_removing_the_absent_changes_nothing),
        cmocka_unit_test(law_all_removed_is_empty),
        cmocka_unit_test(law_remove_many_is_one),
        cmocka_unit_test(law_count_is_never_too_low),
        cmocka_unit_test(law_get_many_is_one),
        cmocka_unit_test(law_put_many_is_one),
        cmocka_unit_test(law_wrong_labels_are_refused),
        cmocka_unit_test(law_each_label_is_told),
        cmocka_unit_test(law_resized_holds_the_same),
        cmocka_unit_test(law_folded_holds_the_same),
        cmocka_unit_test(law_union_is_built_of_both),
        cmocka_unit_test(law_union_has_both_labels),
        cmocka_unit_test(law_intersection_keeps_the_common),
        cmocka_unit_test(law_overlap_is_estimated),
        cmocka_unit_test(law_unlike_filters_do_not_mix),
#ifndef BLY_WITHOUT_SYSTEM
        cmocka_unit_test(law_save_load_map),
#endif
        cmocka_unit_test(law_wrap),
        cmocka_unit_test(law_packed_and_unpacked),
        cmocka_unit_test(law_like_is_the_same_plan),
        cmocka_unit_test(law_clear_takes_all_out),
        cmocka_unit_test(law_build_and_copy),
        cmocka_unit_test(law_damage_is_found),
        cmocka_unit_test(law_forged_geometry_stays_inside),
        cmocka_unit_test(law_bits_forget_the_order),
    };
    int failed = 0;
    for (size_t i = 0; registry_kinds[i] != NULL; i++) {
        if (!test_mine(argc, argv, i))
            continue;
        laws_kind = registry_kinds[i];
        print_message("[ kind     ] %s\n", laws_kind->name);
        failed += cmocka_run_group_tests_name(laws_kind->name, laws, NULL,
                                              NULL);
    }
    return failed;
}
