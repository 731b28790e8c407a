/* batches.c - laws that batches, keys and threads do what single calls do. */
#include "laws/laws.h"

#include "base/cpu.h"

#include <pthread.h>

/* At one level of the processor, batches equal single calls. */
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
            bly_contains_hashes(all, hashes, n, many);
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
        assert_status(bly_add_hashes(all, hashes, count, NULL, NULL), BLY_OK);
        assert_true(laws_same_bytes(one, all));
        for (size_t i = 0; i < 2 * N; i++)
            many[i] = true;
        bly_contains_hashes(all, hashes, asked, many);
        for (size_t i = 0; i < asked; i++)
            assert_int_equal(many[i], bly_contains_hash(one, hashes[i]));
        assert_true(many[asked]);       /* not a byte beyond */
        bly_free(one);
        bly_free(all);
    }
    bly_free(empty);
}

/* This holds with all vector instructions, and without. */
static void law_many_is_one(void **state)
{
    (void)state;
    for (cpu_level level = CPU_PORTABLE; level < CPU_LEVELS; level++)
        if (cpu_limit(level) == level)
            laws_many_is_one();
}

/* The batch that reports on each key equals single calls, with repeated keys
 * and growth. */
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
        assert_status(bly_add_hashes(all, hashes, n, seen, NULL), BLY_OK);
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

/* The mask has the answers bit by bit, and nothing is written after it. */
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
        bly_contains_hashes(filter, hashes, n, many);
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

/* The results of a filter's batches: the image after adds and removals, and
 * answers about members and strangers. */
enum { LAWS_FAR = 600 };
static const double LAWS_FAR_RATE = 0.2;
typedef struct {
    bly_filter *filter;
    bool present[LAWS_FAR], seen[LAWS_FAR], found[LAWS_FAR];
    uint64_t counts[LAWS_FAR], labels[LAWS_FAR];
} laws_results;

/* Runs the batches with `ahead` keys prefetched. */
static void laws_take(laws_results *b, const uint64_t *hashes, int ahead)
{
    memset(b, 0, sizeof *b);
    cpu_look_ahead(ahead);
    if (laws_frozen()) {
        b->filter = laws_build(LAWS_FAR_RATE, 3, LAWS_FAR / 2);
    } else {
        b->filter = laws_new(LAWS_FAR, LAWS_FAR_RATE, 0, 0);
        bly_add_hashes(b->filter, hashes, LAWS_FAR / 4, NULL, NULL);
        bly_add_hashes(b->filter, hashes, LAWS_FAR / 2, b->seen, NULL);
        if (laws_removes())
            bly_remove_hashes(b->filter, hashes, LAWS_FAR / 8, NULL);
    }
    bly_contains_hashes(b->filter, hashes, LAWS_FAR, b->present);
    bly_count_hashes(b->filter, hashes, LAWS_FAR, b->counts);
    bly_get_hashes(b->filter, hashes, LAWS_FAR, b->found, b->labels);
}

/* Neither the number of prefetched keys nor the vector instructions change
 * anything. Many strangers are false positives, so a body that tested one bit
 * too few, or a wrong one, would differ. */
static void law_far_is_near(void **state)
{
    (void)state;
    static const int far[] = { 1, 2, 7, 33, 127, 1 << 16 };
    static laws_results near, other;
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

/* The batch of each level equals the portable single call for every number of
 * probes and for odd sizes, with many false positives. */
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
            assert_status(bly_add_hashes(all, hashes, N / 2, NULL, NULL),
                          BLY_OK);
            assert_true(laws_same_bytes(one, all));
            bly_contains_hashes(all, hashes, N, many);
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
        bly_add_many(by_keys, &(bly_keys){.n = N, .keys = keys}, NULL, NULL),
        BLY_OK);
    assert_true(laws_same_bytes(by_keys, by_one));
    assert_true(laws_same_bytes(by_keys, by_hash));
    bly_contains_many(by_keys, &(bly_keys){ .n = N, .keys = keys }, present);
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

/* Adds keys, some of which the next thread adds too, and looks each up at
 * once. */
static void *laws_thread(void *argument)
{
    laws_job *job = argument;
    uint64_t batch[100];
    for (uint64_t i = 0; i < LAWS_EACH; i += 100) {
        for (uint64_t j = 0; j < 100; j++)
            batch[j] = test_random(77, job->stream * LAWS_EACH / 2 + i + j);
        bly_add_hashes(job->filter, batch, 50, NULL, NULL);
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

static const struct CMUnitTest batches_laws[] = {
    cmocka_unit_test(law_many_is_one),
    cmocka_unit_test(law_each_is_one),
    cmocka_unit_test(law_mask_is_many),
    cmocka_unit_test(law_far_is_near),
    cmocka_unit_test(law_many_is_one_for_all_options),
    cmocka_unit_test(law_keys_are_hashes),
    cmocka_unit_test(law_shared_adds_lose_nothing),
};

const laws_group laws_batches = LAWS_GROUP(batches_laws);
