/* attacks.c - attacks by an enemy who chooses keys, on each kind of filter, and
 * the proof that a secret seed stops them.
 *
 * The enemy works from outside, with <bloomery.h> and a replica of the victim.
 * He knows its plan, its members and the name of its hash function. Under
 * `xxh3` this determines where a key goes, so keys found on the replica work on
 * the victim. Under `siphash` he has to guess a secret, and his replica uses
 * the guess. Each attack runs both ways: the first run must succeed, or it
 * would not be an attack; the second must do no better than chance.
 *
 * The figures are printed; SECURITY.md quotes those of the full run. Bands are
 * five standard deviations, one-sided. There are about a hundred, some with
 * very few hits: by the binomial distribution, such a program with other keys
 * fails once in a thousand runs.
 *
 *   [Gerbet 2015]   Gerbet, Kumar & Lauradoux, The power of evil choices in
 *                   Bloom filters, DSN. Pollution, forged false positives,
 *                   deletion.
 *   [Clayton 2019]  Clayton, Patton & Shrimpton, Probabilistic data structures
 *                   in adversarial environments, CCS. What a secret is good for
 *                   where the enemy sees answers, and where he sees the filter.
 *   [Filić 2022]    Filić, Paterson, Unnikrishnan & Virdia, Adversarial
 *                   correctness and privacy for probabilistic data structures,
 *                   CCS. The same of Bloom and cuckoo filters, with proofs.
 */
#include "test.h"

#include "verbs/each.h"

enum {
    ATTACKS_KEY = 16,           /* bytes of a key                            */
    ATTACKS_MEMBERS = 1000      /* members of a filter filled by others      */
};

/* Streams of keys. */
enum {
    ATTACKS_IN = 1,             /* the members                               */
    ATTACKS_TRIED = 2,          /* the keys that the enemy tries             */
    ATTACKS_STRANGE = 3,        /* keys queried to measure a rate            */
    ATTACKS_SCRATCH = 4         /* keys for the enemy's own filters          */
};

static const uint8_t attacks_true[BLY_SECRET_BYTES] = {
    0x3B, 0xC8, 0x51, 0x0E, 0xF6, 0x97, 0x2D, 0x64,
    0xA9, 0x1C, 0xD2, 0x7F, 0x80, 0x45, 0xEB, 0x36,
};
static const uint8_t attacks_guess[BLY_SECRET_BYTES] = {
    0x62, 0x0F, 0xBD, 0x94, 0x28, 0x73, 0xC1, 0xEA,
    0x5E, 0xD7, 0x09, 0x86, 0x3C, 0xFA, 0x41, 0xB5,
};

/* Returns key i of a stream, the same bytes on every machine. It is valid until
 * the next call. */
static const void *attacks_key(uint64_t stream, uint64_t i)
{
    static uint8_t key[ATTACKS_KEY];
    for (unsigned b = 0; b < 8; b++) {
        key[b] = (uint8_t)(stream >> 8 * b);
        key[8 + b] = (uint8_t)(i >> 8 * b);
    }
    return key;
}

/* The owner's parameters, and those of the enemy's replica. */
typedef struct { bly_spec owner, enemy; } attacks_side;

static attacks_side attacks_open(uint64_t capacity, double rate)
{
    bly_spec spec = { .capacity = capacity, .rate = rate, .seed = 2026,
                      .hash = "xxh3" };
    return (attacks_side){ spec, spec };
}

static attacks_side attacks_hidden(uint64_t capacity, double rate)
{
    bly_spec spec = { .capacity = capacity, .rate = rate, .hash = "siphash",
                      .secret = attacks_true };
    attacks_side side = { spec, spec };
    side.enemy.secret = attacks_guess;
    return side;
}

static bly_filter *attacks_new(const char *kind, const bly_spec *spec)
{
    bly_filter *filter = NULL;
    each_status(kind, bly_new(&filter, kind, spec), BLY_OK);
    return filter;
}

/* Returns a filter that holds the members. */
static bly_filter *attacks_built(const char *kind, const bly_spec *spec)
{
    static uint8_t rows[ATTACKS_MEMBERS][ATTACKS_KEY];
    bly_keys keys = { .n = ATTACKS_MEMBERS, .data = rows,
                      .width = ATTACKS_KEY };
    bly_filter *filter = NULL;
    for (size_t i = 0; i < ATTACKS_MEMBERS; i++)
        memcpy(rows[i], attacks_key(ATTACKS_IN, i), ATTACKS_KEY);
    each_status(kind, bly_build(&filter, kind, spec, &keys),
                BLY_OK);
    return filter;
}

static bly_status attacks_add(bly_filter *filter, uint64_t stream, uint64_t i)
{
    return bly_add(filter, attacks_key(stream, i), ATTACKS_KEY);
}

static bly_status attacks_remove(bly_filter *filter, uint64_t stream,
                                 uint64_t i)
{
    return bly_remove(filter, attacks_key(stream, i), ATTACKS_KEY);
}

static bool attacks_perhaps(const bly_filter *filter, uint64_t stream,
                            uint64_t i)
{
    return bly_contains(filter, attacks_key(stream, i), ATTACKS_KEY);
}

/* Counts the keys found among the first n of a stream. */
static uint64_t attacks_found(const bly_filter *filter, uint64_t stream,
                              uint64_t n)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i++)
        found += attacks_perhaps(filter, stream, i);
    return found;
}

static bly_info_t attacks_stat(const bly_filter *filter)
{
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    return stat;
}

/* Returns whether the hits do not exceed a rate that varies between filters by
 * `sd`. */
static bool attacks_by_chance(uint64_t hits, uint64_t asked, double rate,
                              double sd)
{
    return (double)hits <= rate * (double)asked
        || test_within((double)hits, (double)asked, rate, sd);
}

/* Returns whether the enemy has nothing to gain: the kind's rate is 0, or means
 * nothing for keys unknown when it was built. */
static bool attacks_exact(const bly_kind_info *info)
{
    return (info->can & BLY_CAN_EXACT) != 0;
}

/* ---- Pollution ---------------------------------------------------------- */

enum { POLLUTION_KEYS = 256, POLLUTION_ASKED = 50000, POLLUTION_BEST = 1024 };

/* Returns the candidate, from `first` on, that raises the filter's rate
 * most. */
static uint64_t pollution_worst(const bly_filter *replica, uint64_t first,
                                uint64_t trials)
{
    uint64_t worst = first;
    double most = -1;
    for (uint64_t i = first; i < first + trials; i++) {
        bly_filter *copy = NULL;
        assert_status(bly_copy(&copy, replica, NULL), BLY_OK);
        assert_true(attacks_add(copy, ATTACKS_TRIED, i) >= 0);
        bly_info_t stat = attacks_stat(copy);
        bly_free(copy);
        if (stat.rate > most) {
            most = stat.rate;
            worst = i;
        }
    }
    return worst;
}

/* Returns the victim, filled to its planned number of keys with the enemy's. */
static bly_filter *pollution_of(const char *kind, const attacks_side *side,
                                uint64_t trials)
{
    bly_filter *replica = attacks_new(kind, &side->enemy);
    bly_filter *victim = attacks_new(kind, &side->owner);
    for (uint64_t i = 0; i < POLLUTION_KEYS; i++) {
        uint64_t worst = pollution_worst(replica, i * trials, trials);
        each_true(kind, attacks_add(replica, ATTACKS_TRIED, worst) >= 0
                        && attacks_add(victim, ATTACKS_TRIED, worst) >= 0);
    }
    bly_free(replica);
    return victim;
}

static uint64_t pollution_hits(const char *kind, const attacks_side *side,
                               uint64_t trials)
{
    bly_filter *victim = pollution_of(kind, side, trials);
    uint64_t hits = attacks_found(victim, ATTACKS_STRANGE, POLLUTION_ASKED);
    bly_free(victim);
    return hits;
}

/* Returns whether pollution fails: the rate depends on the number of keys
 * (dleft, cuckoo, expandable, golomb, quotient), each key sets one bit in many
 * (compressed), or the filter forgets (stable). */
static bool pollution_in_vain(const char *kind)
{
    static const char *const vain[] = { "compressed", "cuckoo", "dleft",
                                        "expandable", "golomb", "quotient",
                                        "stable" };
    for (size_t i = 0; i < sizeof vain / sizeof *vain; i++)
        if (strcmp(kind, vain[i]) == 0)
            return true;
    return false;
}

static void pollution_visit(const char *kind, const bly_kind_info *info)
{
    /* a page of `buffered` has room for all these keys and many more */
    if (!each_adds(info) || attacks_exact(info)
        || (info->can & BLY_CAN_PAGE) != 0)
        return;
    attacks_side open = attacks_open(POLLUTION_KEYS, 0.01);
    attacks_side hidden = attacks_hidden(POLLUTION_KEYS, 0.01);
    uint64_t trials = test_work(16, 5, 4);
    bly_plan_t plan;
    each_status(kind, bly_plan(&plan, kind, &open.owner), BLY_OK);
    uint64_t polluted = pollution_hits(kind, &open, trials);
    uint64_t guessed = pollution_hits(kind, &hidden, trials);
    print_message("    %-14s planned %.4f  polluted %.4f  guessed %.4f\n", kind,
                  plan.rate, (double)polluted / POLLUTION_ASKED,
                  (double)guessed / POLLUTION_ASKED);
    each_true(kind, attacks_by_chance(guessed, POLLUTION_ASKED, plan.rate,
                                      plan.rate_sd));
    if (pollution_in_vain(kind))
        each_true(kind, attacks_by_chance(polluted, POLLUTION_ASKED, plan.rate,
                                          plan.rate_sd));
    else
        each_true(kind, (double)polluted > 1.3 * (double)guessed);
}

static void attacks_pollute(void **state)
{
    (void)state;
    each_kind(pollution_visit);
}

/* With enough trials, nearly every bit of every key is a new one, and the rate
 * reaches its upper limit (k n / m)^k [Gerbet 2015]. */
static void attacks_pollute_to_the_end(void **state)
{
    (void)state;
    TEST_STATISTICS();
    attacks_side open = attacks_open(POLLUTION_KEYS, 0.01);
    bly_filter *victim = pollution_of("standard", &open, POLLUTION_BEST);
    bly_info_t stat = attacks_stat(victim);
    double k = stat.probes, m = (double)stat.geometry[0];
    double most = pow(k * POLLUTION_KEYS / m, k);
    print_message("    standard: %.4f of at most %.4f, planned %.4f\n",
                  stat.rate, most, stat.planned_rate);
    assert_true(stat.rate > 0.9 * most && stat.rate <= most);
    bly_free(victim);
}

/* ---- Forged false positives --------------------------------------------- */

enum { FORGERY_TRIED = 50000 };
#define FORGERY_RATE 0.02

typedef struct { uint64_t n, key[FORGERY_TRIED]; } forgery_keys;

/* Searches for keys that a filter finds although nobody added them. */
static forgery_keys *forgery_search(const bly_filter *filter)
{
    static forgery_keys forged;
    forged.n = 0;
    for (uint64_t i = 0; i < FORGERY_TRIED; i++)
        if (attacks_perhaps(filter, ATTACKS_TRIED, i))
            forged.key[forged.n++] = i;
    return &forged;
}

static uint64_t forgery_believed(const bly_filter *victim,
                                 const forgery_keys *forged)
{
    uint64_t believed = 0;
    for (uint64_t i = 0; i < forged->n; i++)
        believed += attacks_perhaps(victim, ATTACKS_TRIED, forged->key[i]);
    return believed;
}

/* Searches in a replica with the same members. */
static forgery_keys *forgery_of(const char *kind, const bly_spec *spec)
{
    bly_filter *replica = attacks_built(kind, spec);
    forgery_keys *forged = forgery_search(replica);
    bly_free(replica);
    return forged;
}

static void forgery_open(const char *kind)
{
    attacks_side side = attacks_open(ATTACKS_MEMBERS, FORGERY_RATE);
    forgery_keys *forged = forgery_of(kind, &side.enemy);
    bly_filter *victim = attacks_built(kind, &side.owner);
    uint64_t believed = forgery_believed(victim, forged);
    bly_free(victim);
    print_message("    %-14s forged %llu  believed %llu", kind,
                  (unsigned long long)forged->n, (unsigned long long)believed);
    each_true(kind, forged->n > 0 && believed == forged->n);
}

static void forgery_hidden(const char *kind)
{
    attacks_side side = attacks_hidden(ATTACKS_MEMBERS, FORGERY_RATE);
    forgery_keys *forged = forgery_of(kind, &side.enemy);
    bly_filter *victim = attacks_built(kind, &side.owner);
    uint64_t believed = forgery_believed(victim, forged);
    bly_info_t stat = attacks_stat(victim);
    bly_free(victim);
    print_message("  guessed: forged %llu  believed %llu\n",
                  (unsigned long long)forged->n, (unsigned long long)believed);
    each_true(kind, attacks_by_chance(believed, forged->n, stat.rate, 0));
}

static void forgery_visit(const char *kind, const bly_kind_info *info)
{
    if (attacks_exact(info))
        return;
    forgery_open(kind);
    forgery_hidden(kind);
}

static void attacks_forge(void **state)
{
    (void)state;
    each_kind(forgery_visit);
}

/* A secret does not prevent replay: anyone who sees answers finds false
 * positives at the filter's rate, and each of them stays one. */
static void replay_visit(const char *kind, const bly_kind_info *info)
{
    if (attacks_exact(info))
        return;
    attacks_side side = attacks_hidden(ATTACKS_MEMBERS, FORGERY_RATE);
    bly_filter *victim = attacks_built(kind, &side.owner);
    forgery_keys *seen = forgery_search(victim);
    each_true(kind, forgery_believed(victim, seen) == seen->n);
    each_true(kind, attacks_by_chance(seen->n, FORGERY_TRIED,
                                      attacks_stat(victim).rate, 0));
    bly_free(victim);
}

static void attacks_replay(void **state)
{
    (void)state;
    each_kind(replay_visit);
}

/* ---- Removal of others' keys -------------------------------------------- */

enum { REMOVAL_TRIED = 100 };

typedef struct { uint64_t tried, removed, lost; } removal_done;

/* Removes forged keys that nobody added; reports how many members that
 * costs. */
static removal_done removal_of(const char *kind, const attacks_side *side)
{
    forgery_keys *forged = forgery_of(kind, &side->enemy);
    bly_filter *victim = attacks_built(kind, &side->owner);
    removal_done done = { .lost = ATTACKS_MEMBERS };
    done.tried = forged->n < REMOVAL_TRIED ? forged->n : REMOVAL_TRIED;
    each_true(kind, done.tried >= REMOVAL_TRIED / 4);
    for (uint64_t i = 0; i < done.tried; i++)
        done.removed += attacks_remove(victim, ATTACKS_TRIED, forged->key[i])
                     == BLY_OK;
    done.lost -= attacks_found(victim, ATTACKS_IN, ATTACKS_MEMBERS);
    bly_free(victim);
    return done;
}

/* Returns whether removing a key leaves the other keys alone: `twin` notes
 * removals; `invertible` counts below 0 and lists wrong keys. */
static bool removal_loses_none(const char *kind)
{
    return strcmp(kind, "twin") == 0 || strcmp(kind, "invertible") == 0;
}

static void removal_visit(const char *kind, const bly_kind_info *info)
{
    if ((info->can & BLY_CAN_REMOVE) == 0)
        return;
    attacks_side open = attacks_open(ATTACKS_MEMBERS, FORGERY_RATE);
    attacks_side hidden = attacks_hidden(ATTACKS_MEMBERS, FORGERY_RATE);
    bly_filter *victim = attacks_built(kind, &hidden.owner);
    double rate = attacks_stat(victim).rate;
    bly_free(victim);
    removal_done known = removal_of(kind, &open);
    removal_done guessed = removal_of(kind, &hidden);
    print_message("    %-14s removed %llu  lost %llu  guessed: removed %llu  "
                  "lost %llu\n", kind, (unsigned long long)known.removed,
                  (unsigned long long)known.lost,
                  (unsigned long long)guessed.removed,
                  (unsigned long long)guessed.lost);
    each_true(kind, known.removed >= known.tried / 2);
    each_true(kind, removal_loses_none(kind) == (known.lost == 0));
    each_true(kind, attacks_by_chance(guessed.removed, guessed.tried, rate, 0));
}

static void attacks_remove_others(void **state)
{
    (void)state;
    each_kind(removal_visit);
}

/* ---- Crowding ----------------------------------------------------------- */

enum { CROWD_CAPACITY = 1000, CROWD_MOST = 400, CROWD_BUCKET = 8 };

/* The keys found, and the number of trials. */
typedef struct { uint64_t n, trials, key[CROWD_MOST]; } crowd_keys;

typedef void crowd_search(crowd_keys *out, const bly_spec *enemy);

/* Finds nine keys for one pair of `cuckoo` buckets of four slots, using filters
 * that hold a single key. */
static void crowd_cuckoo(crowd_keys *out, const bly_spec *enemy)
{
    bly_filter *one = attacks_new("cuckoo", enemy);
    assert_status(attacks_add(one, ATTACKS_TRIED, 0), BLY_OK);
    out->n = out->trials = 0;
    for (; out->n < 9; out->trials++)
        if (attacks_perhaps(one, ATTACKS_TRIED, out->trials))
            out->key[out->n++] = out->trials;
    bly_free(one);
}

/* Returns the bucket of the last change, from the first payload byte that
 * differs, and remembers the payload. */
static uint64_t crowd_changed(const bly_filter *filter, uint8_t *before,
                              size_t bytes, size_t bucket)
{
    size_t image_bytes, at = 0;
    const uint8_t *image = bly_image(filter, &image_bytes);
    const uint8_t *payload = image + image_bytes - bytes;
    while (at < bytes && payload[at] == before[at])
        at++;
    memcpy(before, payload, bytes);
    return at / bucket;
}

enum { CROWD_FILL = 1 << 12, CROWD_BYTES = 1 << 14 };

/* Fills all cells of a `dleft` filter. where[i] is the bucket of key i in its
 * subtable, or UINT64_MAX if it was not stored. */
static void crowd_fill(bly_filter *filter, uint64_t where[CROWD_FILL])
{
    static uint8_t before[CROWD_BYTES];
    bly_info_t stat = attacks_stat(filter);
    uint64_t buckets = stat.geometry[0];
    size_t bucket = (size_t)(stat.geometry[2] + stat.geometry[3]);
    size_t bytes = (size_t)(4 * buckets * bucket + 8);
    assert_true(bytes <= sizeof before);
    memset(before, 0, sizeof before);
    for (uint64_t i = 0; i < CROWD_FILL; i++) {
        bly_status status = attacks_add(filter, ATTACKS_SCRATCH, i);
        where[i] = UINT64_MAX;
        if (status == BLY_OK)
            where[i] = crowd_changed(filter, before, bytes, bucket) % buckets;
        else if (status == BLY_SEEN)    /* counted with another key: undo     */
            assert_status(attacks_remove(filter, ATTACKS_SCRATCH, i), BLY_OK);
    }
    assert_true(attacks_stat(filter).fill == 1);
}

/* Returns a filter whose first buckets in each subtable (`most` in total) are
 * full and the others empty: it refuses exactly the keys without another
 * bucket. */
static bly_filter *crowd_trap(const bly_spec *enemy, uint64_t most)
{
    static uint64_t where[CROWD_FILL];
    bly_filter *trap = attacks_new("dleft", enemy);
    uint64_t few = attacks_stat(trap).geometry[0] / most;
    crowd_fill(trap, where);
    for (uint64_t i = 0; i < CROWD_FILL; i++)
        if (where[i] >= few && where[i] != UINT64_MAX)
            assert_status(attacks_remove(trap, ATTACKS_SCRATCH, i), BLY_OK);
    return trap;
}

/* Returns the next key, from `trials` on, that the trap refuses. */
static uint64_t crowd_trapped(bly_filter *trap, uint64_t *trials)
{
    while (attacks_add(trap, ATTACKS_TRIED, *trials) != BLY_EFULL) {
        assert_status(attacks_remove(trap, ATTACKS_TRIED, *trials), BLY_OK);
        ++*trials;
    }
    return (*trials)++;
}

/* Collects keys for few buckets until a replica is full, skipping equal
 * fingerprints, which would only be counted. */
static void crowd_dleft(crowd_keys *out, const bly_spec *enemy)
{
    bly_filter *trap = crowd_trap(enemy, test_work(8, 8, 4));
    bly_filter *replica = attacks_new("dleft", enemy);
    bly_status status = BLY_OK;
    out->n = out->trials = 0;
    while (status != BLY_EFULL && out->n < CROWD_MOST) {
        out->key[out->n] = crowd_trapped(trap, &out->trials);
        status = attacks_add(replica, ATTACKS_TRIED, out->key[out->n]);
        out->n += status != BLY_SEEN;
    }
    bly_free(replica);
    bly_free(trap);
}

/* Collects keys for the last 64th of the slots of `quotient`. Overflow moves to
 * the next slots, and only a few follow the last. */
static void crowd_quotient(crowd_keys *out, const bly_spec *enemy)
{
    bly_filter *replica = attacks_new("quotient", enemy);
    out->n = out->trials = 0;
    for (; out->n < CROWD_MOST; out->trials++)
        if (bly_hash(replica, attacks_key(ATTACKS_TRIED, out->trials),
                     ATTACKS_KEY) >= UINT64_MAX / 64 * 63)
            out->key[out->n++] = out->trials;
    bly_free(replica);
}

/* Counts the keys added before one is refused. */
static uint64_t crowd_into(bly_filter *victim, const crowd_keys *keys)
{
    uint64_t in = 0;
    while (in < keys->n
           && attacks_add(victim, ATTACKS_TRIED, keys->key[in]) != BLY_EFULL)
        in++;
    return in;
}

static void crowd_one(const char *kind, double rate, crowd_search *search)
{
    crowd_keys keys;
    attacks_side open = attacks_open(CROWD_CAPACITY, rate);
    attacks_side hidden = attacks_hidden(CROWD_CAPACITY, rate);
    bly_filter *victim = attacks_new(kind, &open.owner);
    search(&keys, &open.enemy);
    uint64_t in = crowd_into(victim, &keys);
    each_true(kind, in < keys.n);
    print_message("    %-14s full after %llu keys of %d, %llu trials\n", kind,
                  (unsigned long long)in, CROWD_CAPACITY,
                  (unsigned long long)keys.key[in] + 1);
    bly_free(victim);

    victim = attacks_new(kind, &hidden.owner);
    search(&keys, &hidden.enemy);
    each_true(kind, crowd_into(victim, &keys) == keys.n);
    for (uint64_t i = keys.n; i < CROWD_CAPACITY; i++)
        each_true(kind, attacks_add(victim, ATTACKS_STRANGE, i) >= 0);
    bly_free(victim);
}

/* Kinds that refuse a key when its own place is full do so far below the
 * planned number of keys. Under a secret that number fits: first the enemy's
 * keys, then others. */
static void attacks_crowd(void **state)
{
    (void)state;
    crowd_one("cuckoo", 1 / (double)test_work(100, 30, 10), crowd_cuckoo);
    crowd_one("dleft", 0.001, crowd_dleft);
    crowd_one("quotient", 0.01, crowd_quotient);
}

/* Counts how often one key can be added under a secret, up to `most` times. */
static uint64_t repeat_of(const char *kind, uint64_t most)
{
    attacks_side hidden = attacks_hidden(CROWD_CAPACITY, 0.01);
    bly_filter *victim = attacks_new(kind, &hidden.owner);
    uint64_t in = 0;
    while (in < most && attacks_add(victim, ATTACKS_TRIED, 0) >= 0)
        in++;
    bly_free(victim);
    return in;
}

/* Adding one key repeatedly needs no hash collision, so a secret does not
 * protect `cuckoo`, which keeps copies. Counting kinds do not fill up. */
static void attacks_repeat(void **state)
{
    (void)state;
    assert_int_equal(repeat_of("cuckoo", CROWD_CAPACITY), 8);
    assert_int_equal(repeat_of("dleft", CROWD_CAPACITY), CROWD_CAPACITY);
    assert_int_equal(repeat_of("quotient", CROWD_CAPACITY), CROWD_CAPACITY);
    assert_int_equal(repeat_of("golomb", CROWD_CAPACITY), CROWD_CAPACITY);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attacks_pollute),
        cmocka_unit_test(attacks_pollute_to_the_end),
        cmocka_unit_test(attacks_forge),
        cmocka_unit_test(attacks_replay),
        cmocka_unit_test(attacks_remove_others),
        cmocka_unit_test(attacks_crowd),
        cmocka_unit_test(attacks_repeat),
    };
    return test_run(argc, argv, tests, sizeof tests / sizeof *tests);
}
