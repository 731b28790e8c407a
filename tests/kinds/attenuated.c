/* attenuated.c - tests specific to kind `attenuated`: levels, their rates, and
 * networks of filters that advertise what they can reach.
 */
#include "test.h"

#include "image/image.h"
#include "image/inner.h"
#include "kinds/compound/parts.h"
#include "forged.h"

enum { DEPTH = 1, STRIDE = 2 };

static bly_filter *attenuated_new(const char *kind, uint64_t n, double rate,
                                  uint64_t seed)
{
    bly_spec spec = { .capacity = n, .rate = rate, .seed = seed };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

/* Returns the image of a level; 1 is the nearest. */
static const uint8_t *attenuated_level(const bly_filter *filter, uint64_t level)
{
    const uint8_t *image = bly_image(filter, NULL);
    return image + IMAGE_HEADER + (level - 1) * image_geometry(image, STRIDE);
}

static bool attenuated_same(const bly_filter *a, const bly_filter *b)
{
    size_t bytes, others;
    const uint8_t *x = bly_image(a, &bytes), *y = bly_image(b, &others);
    return bytes == others && memcmp(x + IMAGE_HEADER, y + IMAGE_HEADER,
                                     bytes - IMAGE_HEADER) == 0;
}

static const char *const attenuated_kinds[] = {
    "attenuated", "attenuated:of=blocked,depth=3", "attenuated:of=split",
    "attenuated:of=partitioned,depth=64", "attenuated:depth=1",
};
enum { ATTENUATED_KINDS = 5 };

static const char *const attenuated_plain[] = {
    "standard", "blocked", "split", "partitioned", "standard",
};

/* ---- Labels ------------------------------------------------------------ */

/* Returns the nearest level put: exactly at a low rate, never a farther one at
 * a high rate. */
static void test_nearest_level(void **state)
{
    (void)state;
    enum { N = 3000 };
    for (size_t k = 0; k < ATTENUATED_KINDS; k++)
        for (int low = 0; low < 2; low++) {
            bly_filter *f = attenuated_new(attenuated_kinds[k], N,
                                           low ? 1e-8 : 0.2, 0);
            uint64_t depth = image_geometry(bly_image(f, NULL), DEPTH);
            for (uint64_t i = 0; i < 2 * N; i++)
                assert_true(bly_put_hash(f, test_random(1, i / 2),
                                         1 + test_random(2, i) % depth) >= 0);
            for (uint64_t i = 0; i < N; i++) {
                uint64_t a = 1 + test_random(2, 2 * i) % depth;
                uint64_t b = 1 + test_random(2, 2 * i + 1) % depth, got = 0;
                assert_true(bly_get_hash(f, test_random(1, i), &got));
                assert_true(got >= 1 && got <= (a < b ? a : b));
                assert_true(!low || got == (a < b ? a : b));
            }
            bly_free(f);
        }
}

/* The results of put and add, and where they write. */
static void test_put_and_add(void **state)
{
    (void)state;
    bly_filter *f = attenuated_new("attenuated", 1000, 1e-8, 0);
    uint64_t label = 42;
    assert_status(bly_add_hash(f, 7), BLY_OK);
    assert_true(bly_get_hash(f, 7, &label) && label == 4);
    assert_status(bly_put_hash(f, 7, 4), BLY_SEEN);
    assert_status(bly_put_hash(f, 7, 2), BLY_OK);
    assert_true(bly_get_hash(f, 7, &label) && label == 2);
    assert_status(bly_put_hash(f, 7, 3), BLY_OK);
    assert_true(bly_get_hash(f, 7, &label) && label == 2);
    assert_status(bly_put_hash(f, 8, 1), BLY_OK);
    assert_status(bly_add_hash(f, 8), BLY_SEEN);
    bly_filter *before = NULL;
    assert_status(bly_copy(&before, f, NULL), BLY_OK);
    static const uint64_t wrong[] = { 0, 5, UINT64_MAX };
    for (size_t i = 0; i < 3; i++) {
        assert_status(bly_put_hash(f, 9, wrong[i]), BLY_EPARAM);
        assert_status(bly_unite_at(f, f, wrong[i]), BLY_EPARAM);
    }
    assert_true(attenuated_same(f, before));
    bly_info_t stat;
    assert_status(bly_info(&stat, f), BLY_OK);
    assert_int_equal(stat.items, 6);
    assert_true(stat.label_least == 1 && stat.label_most == 4);
    assert_int_equal(stat.label_bits, 3);
    assert_true(fabs(stat.distinct - 2) <= 5 * stat.distinct_sd + 1);
    bly_free(f);
    bly_free(before);
}

/* Batches over all levels equal single verbs, up to an invalid label. */
static void test_batches(void **state)
{
    (void)state;
    enum { N = 7000 };
    static uint64_t hashes[N], labels[N], got[N];
    static bool found[N], seen[N];
    for (size_t k = 0; k < ATTENUATED_KINDS; k++) {
        bly_filter *one = attenuated_new(attenuated_kinds[k], 2000, 0.1, 0);
        bly_filter *many = attenuated_new(attenuated_kinds[k], 2000, 0.1, 0);
        uint64_t depth = image_geometry(bly_image(one, NULL), DEPTH);
        for (uint64_t i = 0; i < N; i++) {
            hashes[i] = test_random(1, i);
            labels[i] = 1 + test_random(3, i) % depth;
        }
        labels[3000] = k % 2 == 0 ? 0 : depth + 1;
        for (uint64_t i = 0; i < 3000; i++)
            assert_true(bly_put_hash(one, hashes[i], labels[i]) >= 0);
        assert_status(bly_put_hashes(many, hashes, labels, N, NULL),
                      BLY_EPARAM);
        assert_true(attenuated_same(one, many));
        assert_status(bly_put_hashes(many, hashes, labels, 3000, NULL), BLY_OK);
        assert_true(attenuated_same(one, many));
        bly_get_hashes(one, hashes, N, found, got);
        for (size_t i = 0; i < N; i++) {
            uint64_t label = 0;
            assert_int_equal(bly_get_hash(one, hashes[i], &label), found[i]);
            assert_true(!found[i] || got[i] == label);
        }
        assert_status(bly_add_hashes(many, hashes, N, seen, NULL), BLY_OK);
        for (size_t i = 0; i < N; i++)
            assert_int_equal(bly_add_hash(one, hashes[i]) == BLY_SEEN, seen[i]);
        assert_true(attenuated_same(one, many));
        bly_free(one);
        bly_free(many);
    }
}

/* ---- Rates ------------------------------------------------------------- */

/* However keys are spread over levels, strangers pass no more often than in a
 * plain filter of all keys. */
static void test_spread_keys_keep_the_rate(void **state)
{
    (void)state;
    enum { N = 5000, ASKED = 200000 };
    for (size_t k = 0; k < ATTENUATED_KINDS; k++)
        for (uint64_t spread = 1; spread <= 4; spread++) {
            bly_filter *f = attenuated_new(attenuated_kinds[k], N, 0.02, 0);
            bly_filter *plain = attenuated_new(attenuated_plain[k], N, 0.02, 0);
            uint64_t depth = image_geometry(bly_image(f, NULL), DEPTH);
            uint64_t hits = 0;
            for (uint64_t i = 0; i < N; i++) {
                bly_put_hash(f, test_random(1, i),
                             depth - i % spread % depth);
                bly_add_hash(plain, test_random(1, i));
            }
            for (uint64_t i = 0; i < ASKED; i++) {
                bool there = bly_contains_hash(f, test_random(2, i));
                hits += there;
                assert_true(!there
                            || bly_contains_hash(plain, test_random(2, i)));
            }
            bly_info_t stat;
            assert_status(bly_info(&stat, f), BLY_OK);
            assert_within(hits, ASKED, stat.rate, 0);
            assert_true(fabs(stat.distinct - N) <= 5 * stat.distinct_sd + 1);
            bly_free(f);
            bly_free(plain);
        }
}

/* 512 bits and 4 probes at each level, as in the catalogue. */
static const struct { uint64_t n; double rate, digit; } attenuated_rates[] = {
    { 10, 3.2e-5, 0.1e-5 }, { 20, 4.4e-4, 0.1e-4 }, { 50, 0.0109, 0.0001 },
    { 100, 0.0864, 0.0001 }, { 200, 0.390, 0.001 },
};
enum { ATTENUATED_RATES = 5 };

/* The false-positive rate of each level by itself. */
static void test_catalogue_rates(void **state)
{
    (void)state;
    enum { FILTERS = 100, ASKED = 20000 };
    const bly_kind *kind = &bly_kind_standard;
    uint64_t hits[ATTENUATED_RATES] = { 0 };
    for (uint64_t run = 0; run < FILTERS; run++) {
        bly_filter *f = attenuated_new("attenuated:m=512,k=4,depth=5", 200, 0,
                                       0);
        for (uint64_t level = 1; level <= ATTENUATED_RATES; level++)
            for (uint64_t i = 0; i < attenuated_rates[level - 1].n; i++)
                bly_put_hash(f, test_random(10 * run + level, i), level);
        for (uint64_t level = 1; level <= ATTENUATED_RATES; level++)
            for (uint64_t i = 0; i < ASKED; i++)
                hits[level - 1] += kind->contains(attenuated_level(f, level),
                                                  test_random(10 * run, i));
        bly_free(f);
    }
    for (size_t i = 0; i < ATTENUATED_RATES; i++) {
        double n = (double)attenuated_rates[i].n;
        double formula = pow(1 - exp(-4 * n / 512), 4);
        bly_spec spec = { .capacity = attenuated_rates[i].n };
        bly_plan_t plan;
        assert_status(bly_plan(&plan, "standard:m=512,k=4", &spec), BLY_OK);
        assert_true(fabs(formula - attenuated_rates[i].rate)
                    <= attenuated_rates[i].digit / 2);
        assert_true(formula <= plan.rate);      /* a little low: [Bose 2008] */
        assert_within(hits[i], FILTERS * ASKED, plan.rate,
                      plan.rate_sd / sqrt(FILTERS));
    }
}

enum { LABEL_LEVELS = 6, LABEL_TOLD = 4, LABEL_KEYS = 1000,
       LABEL_ASKED = 50000 };

typedef struct {
    uint64_t n;
    bly_label_t label[LABEL_TOLD];
} attenuated_seen;

static bool attenuated_see(void *context, const bly_label_t *label)
{
    attenuated_seen *seen = context;
    seen->label[seen->n++] = *label;
    return seen->n < LABEL_TOLD;        /* beyond the last level */
}

/* Differences between measured and reported values, over several filters. */
typedef struct { double n, sum, squares; } attenuated_off;

static void attenuated_differ(attenuated_off *off, double by)
{
    off->n++;
    off->sum += by;
    off->squares += by * by;
}

/* Checks that they average to zero, given their own spread. */
static bool attenuated_right(const attenuated_off *off)
{
    double mean = off->sum / off->n, square = off->squares / off->n;
    return fabs(mean) <= TEST_SIGMAS
                         * sqrt((square - mean * mean) / (off->n - 1));
}

/* Measures a filter from stream `run`: level i has i * LABEL_KEYS keys. */
static void attenuated_measure(attenuated_off *strange, attenuated_off *wrong,
                               uint64_t run)
{
    bly_filter *f = attenuated_new("attenuated:depth=6", 6 * LABEL_KEYS, 0.4,
                                   0);
    attenuated_seen seen = { .n = 0 };
    uint64_t strangers[LABEL_LEVELS + 1] = { 0 }, label = 0;
    for (uint64_t level = 1; level <= LABEL_LEVELS; level++)
        for (uint64_t i = 0; i < LABEL_KEYS * level; i++)
            bly_put_hash(f, test_random(run + level, i), level);
    assert_status(bly_list_labels(f, attenuated_see, &seen), BLY_OK);
    assert_int_equal(seen.n, LABEL_TOLD);       /* stopped by the visitor */
    for (uint64_t i = 0; i < LABEL_ASKED; i++)
        if (bly_get_hash(f, test_random(run, i), &label))
            strangers[label]++;
    for (uint64_t level = 1; level <= LABEL_TOLD; level++) {
        const bly_label_t *told = &seen.label[level - 1];
        uint64_t n = LABEL_KEYS * level, nearer = 0;
        for (uint64_t i = 0; i < n; i++) {
            assert_true(bly_get_hash(f, test_random(run + level, i), &label));
            assert_true(label <= level);
            nearer += label < level;
        }
        assert_int_equal(told->label, level);
        assert_true(told->fill > 0 && told->fill < 1.0 / LABEL_LEVELS);
        assert_true((told->mistaken == 0) == (level == 1));
        attenuated_differ(&strange[level],
                          (double)strangers[level] / LABEL_ASKED - told->rate);
        attenuated_differ(&wrong[level],
                          (double)nearer / (double)n - told->mistaken);
    }
    bly_free(f);
}

static bool attenuated_see_rare(void *context, const bly_label_t *label)
{
    double *nearer = context;           /* the rate of the level before      */
    if (label->label == 2)
        assert_close(label->mistaken, *nearer, 1e-9);
    *nearer = label->rate;
    return label->label < 2;
}

/* Chances below the rounding of 1 are reported too. */
static void test_each_label_of_nearly_empty(void **state)
{
    (void)state;
    bly_filter *f = attenuated_new("attenuated:depth=2", 100000, 0.0001, 0);
    double nearer = 0;
    bly_put_hash(f, test_random(1, 0), 1);
    assert_status(bly_list_labels(f, attenuated_see_rare, &nearer), BLY_OK);
    bly_free(f);
}

/* each_label reports the measured chances of strangers and members, on average
 * over filters: in one filter, bits of two levels may overlap more or less by
 * accident. */
static void test_each_label(void **state)
{
    (void)state;
    attenuated_off strange[LABEL_TOLD + 1] = { { 0, 0, 0 } };
    attenuated_off wrong[LABEL_TOLD + 1] = { { 0, 0, 0 } };
    for (uint64_t run = 0; run < 30; run++)
        attenuated_measure(strange, wrong, 10 * run);
    for (size_t level = 1; level <= LABEL_TOLD; level++) {
        assert_true(attenuated_right(&strange[level]));
        assert_true(attenuated_right(&wrong[level]));
    }
}

/* Keys in several levels count once. */
static void test_distinct_keys(void **state)
{
    (void)state;
    enum { N = 20000 };
    for (size_t k = 0; k < ATTENUATED_KINDS; k++)
        for (uint64_t in = 1; in <= 3; in++) {
            bly_filter *f = attenuated_new(attenuated_kinds[k], N, 0.01, 0);
            uint64_t depth = image_geometry(bly_image(f, NULL), DEPTH);
            for (uint64_t i = 0; i < N; i++)
                for (uint64_t j = 0; j < in; j++)
                    bly_put_hash(f, test_random(1, i),
                                 1 + test_random(2 + j, i) % depth);
            bly_info_t stat;
            assert_status(bly_info(&stat, f), BLY_OK);
            assert_true(stat.distinct_sd > 0 && stat.distinct_sd < N / 50.0);
            assert_true(fabs(stat.distinct - N) <= 5 * stat.distinct_sd);
            bly_free(f);
        }
}

/* ---- Sets -------------------------------------------------------------- */

/* Unites a level with a plain filter of the same capacity and rate, or shifted
 * with another filter of its kind, even itself. */
static void test_unite_at(void **state)
{
    (void)state;
    for (size_t k = 0; k < ATTENUATED_KINDS; k++) {
        bly_filter *f = attenuated_new(attenuated_kinds[k], 900, 0.01, 3);
        bly_filter *wanted = attenuated_new(attenuated_kinds[k], 900, 0.01, 3);
        bly_filter *plain = attenuated_new(attenuated_plain[k], 900, 0.01, 3);
        uint64_t depth = image_geometry(bly_image(f, NULL), DEPTH);
        for (uint64_t i = 0; i < 300; i++) {
            bly_add_hash(plain, test_random(1, i));
            bly_put_hash(wanted, test_random(1, i), 1);
        }
        bly_info_t stat;
        assert_status(bly_unite_at(f, plain, 1), BLY_OK);
        assert_true(attenuated_same(f, wanted));
        assert_status(bly_info(&stat, f), BLY_OK);
        assert_true(stat.items == 300 && stat.items_exact);
        for (uint64_t i = 0; i < 300 && depth > 1; i++) {
            bly_put_hash(f, test_random(2, i), 2);
            bly_put_hash(wanted, test_random(2, i), 2);
        }
        for (uint64_t i = 0; i < 300; i++)      /* the expected shifted copy */
            for (uint64_t l = 1; l <= 2 && l + 1 <= depth; l++)
                bly_put_hash(wanted, test_random(l, i), l + 1);
        assert_status(bly_unite_at(f, f, 1), BLY_OK);
        assert_true(attenuated_same(f, wanted));
        assert_status(bly_info(&stat, f), BLY_OK);
        assert_false(stat.items_exact);
        assert_status(bly_unite_at(f, f, depth), BLY_OK);
        assert_true(attenuated_same(f, wanted));
        bly_free(f);
        bly_free(wanted);
        bly_free(plain);
    }
}

/* Other plans, kinds, seeds and hashes are refused, even if only the inner
 * images differ; nothing changes. */
static void test_unlike_filters(void **state)
{
    (void)state;
    bly_filter *f = attenuated_new("attenuated:m=1000,k=5", 0, 0.01, 0);
    bly_filter *before = NULL;
    bly_put_hash(f, 1, 2);
    assert_status(bly_copy(&before, f, NULL), BLY_OK);
    const struct { const char *kind; uint64_t seed; const char *hash; } o[] = {
        { "attenuated:m=1000,k=4", 0, NULL },
        { "attenuated:m=1001,k=5", 0, NULL },
        { "attenuated:m=9000,k=5", 0, NULL },
        { "attenuated:m=1000,k=5,depth=3", 0, NULL },
        { "attenuated:m=1000,k=5", 1, NULL },
        { "attenuated:m=1000,k=5", 0, "murmur3" },
        { "standard:m=1000,k=4", 0, NULL }, { "standard:m=1001,k=5", 0, NULL },
        { "standard:m=1000,k=5,index=seeds", 0, NULL },
        { "standard:m=1000,k=5", 1, NULL },
        { "standard:m=1000,k=5", 0, "murmur3" },
        { "partitioned:m=1000,k=5", 0, NULL }, { "counting:m=1000", 0, NULL },
    };
    for (size_t i = 0; i < sizeof o / sizeof *o; i++) {
        bly_spec spec = { .seed = o[i].seed, .hash = o[i].hash };
        bly_filter *other = NULL;
        assert_status(bly_new(&other, o[i].kind, &spec), BLY_OK);
        assert_status(bly_unite_at(f, other, 1), BLY_EMISMATCH);
        assert_status(bly_unite(f, other), BLY_EMISMATCH);
        bly_free(other);
    }
    assert_true(attenuated_same(f, before));
    size_t bytes;
    const void *image = bly_image(before, &bytes);
    bly_filter *borrowed = NULL, *plain = NULL;
    assert_status(bly_wrap(&borrowed, image, bytes, NULL), BLY_OK);
    assert_status(bly_unite_at(borrowed, f, 1), BLY_EREADONLY);
    plain = attenuated_new("standard:m=1000,k=5", 0, 0, 0);
    assert_status(bly_unite_at(plain, f, 1), BLY_EUNSUPPORTED);
    bly_free(plain);
    bly_free(borrowed);
    bly_free(f);
    bly_free(before);
}

/* Messages in any order, any number of times, give the same filter. */
static void test_union_has_no_order(void **state)
{
    (void)state;
    bly_filter *f[3], *one = attenuated_new("attenuated", 500, 0.05, 0);
    bly_filter *two = attenuated_new("attenuated", 500, 0.05, 0);
    for (uint64_t j = 0; j < 3; j++) {
        f[j] = attenuated_new("attenuated", 500, 0.05, 0);
        for (uint64_t i = 0; i < 200; i++)
            bly_put_hash(f[j], test_random(j, i), 1 + test_random(9, i) % 4);
    }
    for (size_t j = 0; j < 3; j++) {
        assert_status(bly_unite(one, f[j]), BLY_OK);
        assert_status(bly_unite(two, f[2 - j]), BLY_OK);
        assert_status(bly_unite(two, f[2]), BLY_OK);
    }
    assert_true(attenuated_same(one, two));
    for (size_t j = 0; j < 3; j++)
        bly_free(f[j]);
    bly_free(one);
    bly_free(two);
}

/* ---- Networks ---------------------------------------------------------- */

enum { NET_NODES = 24 };

/* Nodes with a plain filter each, and an attenuated one for each link. */
typedef struct {
    size_t      nodes;
    const char *kind;                   /* of the links                      */
    uint64_t    n;
    double      rate;
    bool        joined[NET_NODES][NET_NODES];
    bly_filter *own[NET_NODES];
    bly_filter *link[NET_NODES][NET_NODES];     /* u's, for its link to v    */
} net;

static void net_make(net *w, const char *plain)
{
    for (size_t u = 0; u < w->nodes; u++) {
        w->own[u] = attenuated_new(plain, w->n, w->rate, 0);
        for (size_t v = 0; v < w->nodes; v++)
            w->link[u][v] = w->joined[u][v]
                          ? attenuated_new(w->kind, w->n, w->rate, 0) : NULL;
    }
}

static void net_free(net *w)
{
    for (size_t u = 0; u < w->nodes; u++) {
        bly_free(w->own[u]);
        for (size_t v = 0; v < w->nodes; v++)
            bly_free(w->link[u][v]);
    }
}

static void net_join(net *w, size_t u, size_t v)
{
    w->joined[u][v] = w->joined[v][u] = u != v;
}

/* Returns what v sends to u. */
static bly_filter *net_message(const net *w, size_t v, size_t u)
{
    bly_filter *message = attenuated_new(w->kind, w->n, w->rate, 0);
    assert_status(bly_unite_at(message, w->own[v], 1), BLY_OK);
    for (size_t x = 0; x < w->nodes; x++)
        if (x != u && w->joined[v][x])
            assert_status(bly_unite_at(message, w->link[v][x], 1), BLY_OK);
    return message;
}

/* Every node sends to all neighbours at once. */
static void net_round(net *w)
{
    static bly_filter *heard[NET_NODES][NET_NODES];
    for (size_t u = 0; u < w->nodes; u++)
        for (size_t v = 0; v < w->nodes; v++)
            heard[u][v] = w->joined[u][v] ? net_message(w, v, u) : NULL;
    for (size_t u = 0; u < w->nodes; u++)
        for (size_t v = 0; v < w->nodes; v++) {
            bly_free(w->link[u][v]);
            w->link[u][v] = heard[u][v];
        }
}

/* A query on its way: depth first, to the nearest link, then the emptier one,
 * then the lowest number; back if none is left. */
typedef struct {
    const net *w;
    uint64_t   hash;
    size_t     target, hops, path[4 * NET_NODES];
    bool       visited[NET_NODES];
} net_query;

static double net_fill(const bly_filter *filter)
{
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    return stat.fill;
}

/* Returns u's best link to an unvisited node, or the number of nodes. */
static size_t net_choose(const net_query *q, size_t u)
{
    size_t best = q->w->nodes;
    uint64_t level = 0, best_level = 0;
    for (size_t v = 0; v < q->w->nodes; v++) {
        const bly_filter *link = q->w->link[u][v];
        if (link == NULL || q->visited[v]
            || !bly_get_hash(link, q->hash, &level))
            continue;
        if (best == q->w->nodes || level < best_level
            || (level == best_level
                && net_fill(link) < net_fill(q->w->link[u][best]))) {
            best = v;
            best_level = level;
        }
    }
    return best;
}

static bool net_search(net_query *q, size_t u)
{
    q->visited[u] = true;
    q->path[q->hops++] = u;
    if (u == q->target && bly_contains_hash(q->w->own[u], q->hash))
        return true;
    for (size_t v; (v = net_choose(q, u)) < q->w->nodes; )
        if (net_search(q, v))
            return true;
    return false;
}

/* ---- The catalogue's example ------------------------------------------- */

/* A pattern of 5 bits, bit 0 on the left, set by three probes. */
static uint64_t net_pattern(const char *bits)
{
    uint8_t wanted = 0;
    for (unsigned i = 0; i < 5; i++)
        wanted |= (uint8_t)((bits[i] == '1') << i);
    for (uint64_t i = 0; ; i++) {
        bly_filter *f = attenuated_new("standard:m=5,k=3", 1, 0, 0);
        bly_add_hash(f, test_random(1, i));
        uint8_t got = *((const uint8_t *)bly_image(f, NULL) + IMAGE_HEADER);
        bly_free(f);
        if (got == wanted)
            return test_random(1, i);
    }
}

static void net_expect(const bly_filter *link, uint64_t level,
                       const char *bits)
{
    uint8_t got = *(attenuated_level(link, level) + IMAGE_HEADER);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(got >> i & 1, bits[i] == '1');
}

/* Four nodes; a query travels from n1 over n2 to n3. One filter for all links
 * of a node would also send it to n2 at level 1, which does not have it. */
static void test_catalogue_example(void **state)
{
    (void)state;
    static const char *const own[] = { "00101", "10010", "11010", "01001" };
    static const struct { size_t u, v; const char *level[3]; } links[] = {
        { 0, 1, { "10010", "11010", "00000" } },
        { 0, 3, { "01001", "00000", "00000" } },
        { 1, 0, { "00101", "01001", "00000" } },
        { 1, 2, { "11010", "00000", "00000" } },
        { 2, 1, { "10010", "00101", "01001" } },
        { 3, 0, { "00101", "10010", "11010" } },
    };
    net w = { .nodes = 4, .kind = "attenuated:m=5,k=3,depth=3", .n = 1 };
    net_join(&w, 0, 1);
    net_join(&w, 0, 3);
    net_join(&w, 1, 2);
    net_make(&w, "standard:m=5,k=3");
    for (size_t u = 0; u < 4; u++)
        bly_add_hash(w.own[u], net_pattern(own[u]));
    for (int round = 0; round < 3; round++)
        net_round(&w);
    for (size_t i = 0; i < 6; i++)
        for (uint64_t level = 1; level <= 3; level++)
            net_expect(w.link[links[i].u][links[i].v], level,
                       links[i].level[level - 1]);

    uint64_t label = 0, hash = net_pattern("11010");
    assert_false(bly_contains_hash(w.own[0], hash));
    assert_true(bly_get_hash(w.link[0][1], hash, &label) && label == 2);
    assert_false(bly_contains_hash(w.link[0][3], hash));
    net_query q = { .w = &w, .hash = hash, .target = 2 };
    assert_true(net_search(&q, 0) && q.hops == 3);
    assert_true(q.path[0] == 0 && q.path[1] == 1 && q.path[2] == 2);

    bly_filter *node = attenuated_new(w.kind, 1, 0, 0);
    assert_status(bly_unite(node, w.link[0][1]), BLY_OK);
    assert_status(bly_unite(node, w.link[0][3]), BLY_OK);
    net_expect(node, 1, "11011");
    assert_true(bly_get_hash(node, hash, &label) && label == 1);
    bly_free(node);
    net_free(&w);
}

/* ---- Random networks --------------------------------------------------- */

enum { NET_KEYS = 5 };                  /* of each node                      */

/* Makes a tree plus `more` links, some of which exist already. */
static void net_random(net *w, uint64_t stream, size_t more)
{
    memset(w->joined, 0, sizeof w->joined);
    for (size_t u = 1; u < w->nodes; u++)
        net_join(w, u, test_random(stream, u) % u);
    for (size_t i = 0; i < more; i++)
        net_join(w, test_random(stream + 1, i) % w->nodes,
                 test_random(stream + 2, i) % w->nodes);
}

static uint64_t net_key(size_t node, uint64_t i)
{
    return test_random(50 + node, i);
}

/* Returns, as a row of bits, the nodes where walks of that many steps over u's
 * link to v end, without turning straight back. */
static uint32_t net_ends(const net *w, size_t u, size_t v, uint64_t steps)
{
    if (steps == 1)
        return UINT32_C(1) << v;
    uint32_t ends = 0;
    for (size_t x = 0; x < w->nodes; x++)
        if (x != u && w->joined[v][x])
            ends |= net_ends(w, v, x, steps - 1);
    return ends;
}

/* Each level of each link is the OR of the nodes at that distance over it. */
static void net_check_levels(const net *w, const char *plain, uint64_t depth)
{
    for (size_t u = 0; u < w->nodes; u++)
        for (size_t v = 0; v < w->nodes; v++)
            for (uint64_t d = 1; w->joined[u][v] && d <= depth; d++) {
                bly_filter *wanted = attenuated_new(plain, w->n, w->rate, 0);
                uint32_t ends = net_ends(w, u, v, d);
                for (size_t x = 0; x < w->nodes; x++)
                    if (ends >> x & 1)
                        assert_status(bly_unite(wanted, w->own[x]), BLY_OK);
                const uint8_t *level = attenuated_level(w->link[u][v], d);
                size_t bytes;
                const uint8_t *image = bly_image(wanted, &bytes);
                assert_memory_equal(level + IMAGE_HEADER, image + IMAGE_HEADER,
                                    bytes - IMAGE_HEADER);
                bly_free(wanted);
            }
}

/* Computes the distance from u to every node, breadth first. */
static void net_distances(const net *w, size_t u, uint64_t distance[NET_NODES])
{
    size_t queue[NET_NODES] = { u }, end = 1;
    for (size_t v = 0; v < w->nodes; v++)
        distance[v] = UINT64_MAX;
    distance[u] = 0;
    for (size_t at = 0; at < end; at++)
        for (size_t v = 0; v < w->nodes; v++)
            if (w->joined[queue[at]][v] && distance[v] == UINT64_MAX) {
                distance[v] = distance[queue[at]] + 1;
                queue[end++] = v;
            }
}

/* Each key within D hops is reported by some link at its distance, or nearer by
 * accident, and the search reaches it. */
static void net_check_keys(const net *w, uint64_t depth, bool exact)
{
    uint64_t distance[NET_NODES], label;
    for (size_t u = 0; u < w->nodes; u++) {
        net_distances(w, u, distance);
        for (size_t x = 0; x < w->nodes; x++) {
            uint64_t nearest = UINT64_MAX;
            for (size_t v = 0; v < w->nodes; v++)
                if (w->joined[u][v]
                    && bly_get_hash(w->link[u][v], net_key(x, 0), &label)
                    && label < nearest)
                    nearest = label;
            if (distance[x] < 1 || distance[x] > depth)
                continue;
            assert_true(nearest <= distance[x]);
            assert_true(!exact || nearest == distance[x]);
            net_query q = { .w = w, .hash = net_key(x, 0), .target = x };
            assert_true(net_search(&q, u));
            assert_true(!exact || q.hops == distance[x] + 1);
        }
    }
}

static void test_random_networks(void **state)
{
    (void)state;
    static const struct { const char *links, *plain; uint64_t depth; } o[] = {
        { "attenuated:depth=4", "standard", 4 },
        { "attenuated:of=blocked,depth=3", "blocked", 3 },
        { "attenuated:of=partitioned,depth=1", "partitioned", 1 },
    };
    for (size_t k = 0; k < 3; k++)
        for (size_t run = 0; run < test_work(6, 6, 2); run++) {
            net w = { .nodes = 4 + 4 * run, .kind = o[k].links,
                      .n = NET_NODES * NET_KEYS,
                      .rate = run % 2 == 0 ? 1e-7 : 0.05 };
            net_random(&w, 100 * k + 10 * run, 3 * run);
            net_make(&w, o[k].plain);
            for (size_t u = 0; u < w.nodes; u++)
                for (uint64_t i = 0; i < NET_KEYS; i++)
                    bly_add_hash(w.own[u], net_key(u, i));
            for (uint64_t round = 0; round < o[k].depth; round++)
                net_round(&w);
            net_check_levels(&w, o[k].plain, o[k].depth);
            net_check_keys(&w, o[k].depth, run % 2 == 0);
            net_free(&w);
        }
}

/* ---- Options, bad bytes ------------------------------------------------ */

/* A single level is a plain filter, and each level is planned like one. */
static void test_plans(void **state)
{
    (void)state;
    for (size_t k = 0; k < ATTENUATED_KINDS; k++) {
        bly_spec spec = { .capacity = 12345, .rate = 0.003 };
        bly_plan_t plan, one;
        assert_status(bly_plan(&plan, attenuated_kinds[k], &spec), BLY_OK);
        assert_status(bly_plan(&one, attenuated_plain[k], &spec), BLY_OK);
        double depth = (double)plan.label_most;
        assert_close(plan.rate, one.rate, 1e-12);
        assert_close(plan.rate_sd, one.rate_sd, 1e-12);
        assert_close(plan.fill, one.fill / depth, 1e-12);
        assert_true(plan.bytes < plan.label_most * (one.bytes + 64)
                                 + IMAGE_HEADER);
        assert_int_equal(plan.label_least, 1);
        assert_true(plan.label_most >> plan.label_bits == 0
                    && plan.label_most >> (plan.label_bits - 1) == 1);
    }
}

static void test_options(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "attenuated:depth=0", "attenuated:depth=65", "attenuated:k=65",
        "attenuated:of=xor",
    };
    bly_spec spec = { .capacity = 100 };
    bly_plan_t plan;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_status(bly_plan(&plan, wrong[i], &spec), BLY_EOPTION);
    assert_status(bly_plan(&plan, "attenuated:of=split,k=3", &spec),
                  BLY_EPARAM);
    assert_status(bly_plan(&plan, "attenuated:of=split,m=2048", &spec), BLY_OK);
    spec = (bly_spec){ .hash = "fnv1a", .capacity = 100 };
    bly_filter *none = NULL;
    assert_status(bly_new(&none, "attenuated:of=split", &spec), BLY_EHASH);
}

static void test_inner_headers_are_checked(void **state)
{
    (void)state;
    bly_filter *f = attenuated_new("attenuated:depth=3", 50, 0.01, 0);
    const uint8_t *image = bly_image(f, NULL);
    for (uint64_t level = 1; level <= 3; level++)
        forged_inner_header(f, (size_t)(attenuated_level(f, level) - image));
    bly_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_level),
        cmocka_unit_test(test_put_and_add),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_spread_keys_keep_the_rate),
        cmocka_unit_test(test_catalogue_rates),
        cmocka_unit_test(test_each_label),
        cmocka_unit_test(test_each_label_of_nearly_empty),
        cmocka_unit_test(test_distinct_keys),
        cmocka_unit_test(test_unite_at),
        cmocka_unit_test(test_unlike_filters),
        cmocka_unit_test(test_union_has_no_order),
        cmocka_unit_test(test_catalogue_example),
        cmocka_unit_test(test_random_networks),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_inner_headers_are_checked),
    };
    return cmocka_run_group_tests_name("attenuated", tests, NULL, NULL);
}
