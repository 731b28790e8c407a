/* multiset.c - ten million random adds and removes on every kind with removal,
 * compared with an exact multiset.
 *
 * A key added more often than removed is found and its count is not too low,
 * whatever happened in between. A refused add or remove changes nothing. Most
 * keys occur once or twice, some a hundred times. A third of the work is done
 * at half load, a third at the rated load, and a third when the filter reports
 * that it is full. BLY_TEST_SEED draws other programs (tools/check/soak).
 */
#include "test.h"

#include "verbs/registry.h"

enum {
    CAPACITY = 20000,
    UNIVERSE = 40000,           /* different keys                            */
    HOT = 16,                   /* frequent keys, up to HOT_MOST copies      */
    HOT_MOST = 100,
    STEPS = 10000000,           /* for each kind                             */
    STEPS_LEAST = 60000,        /* per phase: enough to fill it              */
    LOOKS = 20                  /* at all keys, in a phase                   */
};

/* Sanitizers make it many times slower. */
enum { DIVIDE = TEST_SANITIZED ? 20 : 1 };

typedef struct {
    const bly_kind *kind;
    bly_filter *filter;
    uint64_t count[UNIVERSE];   /* the truth                                 */
    uint64_t in;                /* their sum                                 */
    uint64_t stream;            /* the random stream                         */
    uint64_t draws, full, unsafe;
} multiset;

static uint64_t multiset_steps, multiset_asked;     /* over all kinds        */

static uint64_t multiset_draw(multiset *m)
{
    return test_random(m->stream + 1, m->draws++);
}

static uint64_t multiset_hash(const multiset *m, uint64_t id)
{
    return test_random(m->stream + 2, id);
}

/* Returns a frequent key one time in 32. */
static uint64_t multiset_id(multiset *m)
{
    uint64_t draw = multiset_draw(m);
    return draw % 32 == 0 ? (draw >> 32) % HOT : (draw >> 32) % UNIVERSE;
}

static void multiset_look(const multiset *m, uint64_t id)
{
    uint64_t hash = multiset_hash(m, id),
             counted = bly_count_hash(m->filter, hash);
    multiset_asked += m->count[id] > 0;
    if (m->count[id] > 0 && !bly_contains_hash(m->filter, hash))
        fail_msg("%s: a key that was added %llu times is lost", m->kind->name,
                 (unsigned long long)m->count[id]);
    if (counted < m->count[id])
        fail_msg("%s: a key that was added %llu times counts %llu",
                 m->kind->name, (unsigned long long)m->count[id],
                 (unsigned long long)counted);
}

static void multiset_add(multiset *m, uint64_t id)
{
    if (m->count[id] >= (id < HOT ? HOT_MOST : 2))
        return;
    bly_status status = bly_add_hash(m->filter, multiset_hash(m, id));
    if (status == BLY_EFULL) {
        m->full++;
        return;
    }
    assert_true(status == BLY_OK || status == BLY_SEEN);
    m->count[id]++;
    m->in++;
}

/* Removes a key that was added, or one that is certainly absent. */
static void multiset_remove(multiset *m, uint64_t id)
{
    uint64_t hash = multiset_hash(m, id);
    if (m->count[id] == 0) {
        if (!bly_contains_hash(m->filter, hash))
            assert_status(bly_remove_hash(m->filter, hash), BLY_EABSENT);
        return;
    }
    bly_status status = bly_remove_hash(m->filter, hash);
    assert_true(status == BLY_OK || status == BLY_EUNSAFE);
    m->unsafe += status == BLY_EUNSAFE;
    if (status == BLY_OK) {
        m->count[id]--;
        m->in--;
    }
}

/* Works around `load` keys: below it two adds for each remove, above it two
 * removes for each add. */
static void multiset_phase(multiset *m, uint64_t load, uint64_t steps)
{
    const uint64_t looks = test_work(LOOKS, LOOKS, LOOKS / 4);
    multiset_steps += steps;
    for (uint64_t step = 0; step < steps; step++) {
        uint64_t draw = multiset_draw(m), id = multiset_id(m);
        bool below = m->in < load, add = draw % 3 == 0 ? !below : below;
        if (draw >> 62 == 0)
            multiset_look(m, id);
        else if (add)
            multiset_add(m, id);
        else
            multiset_remove(m, id);
        if (step % (steps / looks) == 0)
            for (id = 0; id < UNIVERSE; id++)
                multiset_look(m, id);
    }
}

static void multiset_run(const bly_kind *kind)
{
    static multiset m;
    memset(&m, 0, sizeof m);
    m.kind = kind;
    m.stream = test_random(0, test_seed());     /* 0 for seed 0 */
    bly_spec spec = { .capacity = CAPACITY };
    assert_status(bly_new(&m.filter, kind->name, &spec), BLY_OK);

    uint64_t steps = test_work(STEPS, STEPS / 50, STEPS / 150) / 3 / DIVIDE;
    steps = steps < STEPS_LEAST ? STEPS_LEAST : steps;
    multiset_phase(&m, CAPACITY / 2, steps);
    multiset_phase(&m, CAPACITY, steps);
    multiset_phase(&m, UNIVERSE, steps);
    for (uint64_t id = 0; id < UNIVERSE; id++)
        multiset_look(&m, id);

    bly_info_t stat;
    assert_status(bly_info(&stat, m.filter), BLY_OK);
    assert_true(stat.items_exact && stat.items == m.in);
    print_message("%s: %llu keys in at the end, %llu times full, %llu removes "
                  "refused, %llu counters stuck\n", kind->name,
                  (unsigned long long)m.in, (unsigned long long)m.full,
                  (unsigned long long)m.unsafe,
                  (unsigned long long)stat.saturated);
    bly_free(m.filter);
}

static void test_no_key_is_lost(void **state)
{
    (void)state;
    for (size_t i = 0; registry_kinds[i] != NULL; i++)
        if (strcmp(registry_kinds[i]->family, "removable") == 0)
            multiset_run(registry_kinds[i]);
    print_message("total changes %llu\ntotal answers %llu\n",
                  (unsigned long long)multiset_steps,
                  (unsigned long long)multiset_asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_key_is_lost),
    };
    return cmocka_run_group_tests_name("multiset", tests, NULL, NULL);
}
