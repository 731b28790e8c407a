/* golomb.c - tests specific to kind `golomb`: the payload is a pure function of
 * the multiset of values, computed independently from the essay, bit by bit;
 * room; counts; sizes; hostile bytes.
 */
#include "test.h"

#include <math.h>

#include "bloomery/sketch.h"

#include "image/image.h"
#include "maths/maths.h"

enum { MULTISET_MOST = 4096, BYTES = 1 << 18, TAIL = 16 };

/* ---- The multiset, and the payload that the essay demands -------------- */

typedef struct {
    uint64_t range, width, k, bytes, buckets;
    size_t   used;                      /* entries                           */
    uint64_t f[MULTISET_MOST], count[MULTISET_MOST];    /* rising            */
} multiset;

#include "canonical.h"

static uint64_t multiset_total(const multiset *m)
{
    return ((m->range - 1) >> m->width) + 1;
}

static uint64_t multiset_pages(const multiset *m)
{
    return (multiset_total(m) + m->buckets - 1) / m->buckets;
}

static size_t payload_bytes(const multiset *m)
{
    return (size_t)(multiset_pages(m) * m->bytes + TAIL);
}

static void put_bit(uint8_t *page, uint64_t at, uint64_t bit)
{
    page[at / 8] |= (uint8_t)(bit << at % 8);
}

static uint64_t entry_bits(const multiset *m)
{
    uint64_t e = 1;
    while (UINT64_C(1) << e <= 8 * m->bytes)
        e++;
    return e;
}

/* Quotients and remainders of a bucket, one bit a byte, for all gaps of entries
 * from *i on. */
typedef struct {
    uint8_t quotients[BYTES], remainders[BYTES];
    size_t  some, rest;
} codes;

static void write_gap(codes *c, uint64_t gap, uint64_t k)
{
    for (uint64_t q = gap >> k; q > 0; q--)
        c->quotients[c->some++] = 0;
    c->quotients[c->some++] = 1;
    for (uint64_t i = k; i-- > 0; )     /* reversed as a whole later */
        c->remainders[c->rest++] = gap >> i & 1;
}

static void write_count(codes *c, uint64_t count, uint64_t k)
{
    uint64_t bits = 0;
    if (count == 1)
        return;
    write_gap(c, 0, k);
    while ((count - 1) >> bits > 1)
        bits++;
    for (uint64_t i = 0; i < bits; i++)
        c->quotients[c->some++] = 0;
    c->quotients[c->some++] = 1;
    for (uint64_t i = 0; i < bits; i++)
        c->quotients[c->some++] = (count - 1) >> i & 1;
}

static void write_bucket(codes *c, const multiset *m, size_t *i,
                         uint64_t bucket)
{
    uint64_t before = bucket << m->width;
    c->some = c->rest = 0;
    for (; *i < m->used && m->f[*i] >> m->width == bucket; ++*i) {
        write_gap(c, m->f[*i] - before, m->k);
        write_count(c, m->count[*i], m->k);
        before = m->f[*i];
    }
}

/* Returns false if it does not fit. */
static bool multiset_payload(const multiset *m, uint8_t *payload)
{
    static codes c;
    uint64_t entry = entry_bits(m), at = 0;
    size_t i = 0;
    memset(payload, 0, payload_bytes(m));
    for (uint64_t b = 0; b < multiset_pages(m) * m->buckets; b++) {
        uint8_t *page = payload + b / m->buckets * m->bytes;
        at = b % m->buckets == 0 ? m->buckets * entry : at;
        write_bucket(&c, m, &i, b);
        if (at + c.some + c.rest > 8 * m->bytes)
            return false;
        for (size_t j = 0; j < c.some; j++)
            put_bit(page, at++, c.quotients[j]);
        for (size_t j = c.rest; j-- > 0; )
            put_bit(page, at++, c.remainders[j]);
        uint64_t end = at - m->buckets * entry;
        for (uint64_t j = 0; j < entry; j++)
            put_bit(page, b % m->buckets * entry + j, end >> j & 1);
    }
    return true;
}

static uint64_t hash_of(const multiset *m, uint64_t f)
{
    return math_least_hash(f, m->range);
}

static bly_filter *filter_of(const multiset *m, const uint8_t *payload)
{
    static uint64_t words[(IMAGE_HEADER + BYTES) / 8];
    uint8_t *image = (uint8_t *)words;
    size_t bytes = IMAGE_HEADER + payload_bytes(m);
    bly_plan_t plan = { .kind = "golomb", .bytes = bytes, .capacity = 100,
                        .rate = 0.01,
                        .geometry = { m->range, m->width | m->k << 8, m->bytes,
                                      m->buckets } };
    bly_filter *wrapped, *filter;
    memset(words, 0, sizeof words);
    image_format(image, &plan, 1, 0, "xxh3");
    memcpy(image + IMAGE_HEADER, payload, payload_bytes(m));
    image_seal(image);
    assert_status(bly_wrap(&wrapped, image, bytes, NULL), BLY_OK);
    assert_status(bly_copy(&filter, wrapped, NULL), BLY_OK);
    bly_free(wrapped);
    return filter;
}

/* ---- The layout -------------------------------------------------------- */

/* The essay's picture: a page of 64 bytes with two buckets of 64 values, whose
 * ends are ten-bit numbers. */
static void test_picture(void **state)
{
    (void)state;
    static multiset m = { .range = 128, .width = 6, .k = 2, .bytes = 64,
                          .buckets = 2 };
    static const uint64_t fs[] = { 12, 31, 3, 12, 14, 12 };
    static const char bits[] = "1" "001" "1" "010" "1" "00001"
                               "10" "01" "00" "10" "11";
    bly_filter *filter = filter_empty(&m);
    for (size_t i = 0; i < sizeof fs / sizeof *fs; i++)
        add_one(filter, &m, fs[i]);
    const uint8_t *page = (const uint8_t *)bly_image(filter, NULL)
                        + IMAGE_HEADER;
    assert_int_equal(image_u64(page, 0) & 0xFFFFF, 24 | 24 << 10);
    for (size_t i = 0; i + 1 < sizeof bits; i++)
        assert_int_equal(page[(20 + i) / 8] >> (20 + i) % 8 & 1,
                         bits[i] - '0');
    assert_is(filter, &m);
    bly_free(filter);
}

/* Draws a value: anywhere, in the first or the last bucket, or one of a few. */
static uint64_t draw(const multiset *m, uint64_t stream, uint64_t i)
{
    uint64_t v = test_random(stream, i), near = UINT64_C(1) << m->width;
    if (near > m->range)
        near = m->range;
    switch (stream % 4) {
    case 0: return v % m->range;
    case 1: return v % near;
    case 2: return m->range - 1 - v % near;
    default: return v / 8 % 4 == 0 ? v % m->range : v / 64 % 8 % m->range;
    }
}

/* Returns a shape of a few pages, small enough to fill up sometimes. */
static multiset *shape_of(uint64_t stream)
{
    static multiset m;
    uint64_t width = test_random(70, stream) % 12;
    m = (multiset){ .width = width, .bytes = 16 + 8 * (stream % 40) };
    m.k = width - test_random(71, stream) % (width < 7 ? width + 1 : 7);
    m.range = 1 + test_random(72, stream) % (UINT64_C(8) << width);
    m.buckets = 2 + stream % 3;
    if (stream % 10 == 9) {             /* long numbers, steep quotients */
        m.width = 56;
        m.k = 42 + stream / 10 % 3;
        m.range = (UINT64_C(1) << 58) - stream;
        m.bytes += 2048;
    }
    return &m;
}

static void test_layout_is_the_multisets(void **state)
{
    (void)state;
    uint64_t full = 0;
    for (uint64_t stream = 0; stream < test_work(120, 60, 60); stream++)
        full += run_program(shape_of(stream), stream + stream / 10, 300);
    assert_true(full > 100);
}

/* Buckets longer than one vector move, and a page of maximum size. */
static void test_large_pages(void **state)
{
    (void)state;
    static multiset m;
    for (uint64_t stream = 0; stream < 3; stream++) {
        m = (multiset){ .width = 12 + stream, .k = 6, .range = 200000,
                        .bytes = stream == 0 ? 65536 : 3000, .buckets = 40 };
        bly_filter *filter = filter_empty(&m);
        for (uint64_t i = 0; i < 1500; i++) {
            add_one(filter, &m, draw(&m, 4, i + 5000 * stream));
            if (i % 100 == 0)
                assert_is(filter, &m);
        }
        for (uint64_t i = 0; m.used > 0; i++) {
            remove_one(filter, &m, m.f[test_random(5, i) % m.used]);
            if (i % 100 == 0)
                assert_is(filter, &m);
        }
        assert_is(filter, &m);
        bly_free(filter);
    }
}

/* ---- Counts, two filters ----------------------------------------------- */

/* Doubled until the count would overflow. */
static void test_counts_end(void **state)
{
    (void)state;
    static multiset m = { .range = 1000, .width = 7, .k = 4, .bytes = 256,
                          .buckets = 4 };
    bly_filter *filter = filter_empty(&m);
    add_one(filter, &m, 77);
    add_one(filter, &m, 80);
    add_one(filter, &m, 999);
    for (unsigned i = 1; i < 64; i++) {
        assert_status(bly_unite(filter, filter), BLY_OK);
        for (size_t j = 0; j < m.used; j++)
            m.count[j] *= 2;
        assert_is(filter, &m);
        assert_int_equal(bly_count_hash(filter, hash_of(&m, 80)),
                         UINT64_C(1) << i);
    }
    assert_status(bly_unite(filter, filter), BLY_EFULL);
    assert_is(filter, &m);
    remove_one(filter, &m, 77);
    add_one(filter, &m, 80);
    assert_is(filter, &m);
    bly_free(filter);
}

/* Filters of few values, down to one: if each is there, the number of keys has
 * no upper bound. */
static void test_all_values(void **state)
{
    (void)state;
    for (uint64_t range = 1; range < 9; range++) {
        multiset m = { .range = range, .width = 3, .k = 2, .bytes = 64,
                       .buckets = 2 };
        bly_filter *filter = filter_empty(&m);
        bly_info_t info;
        for (uint64_t f = 0; f < range; f++) {
            assert_status(bly_info(&info, filter), BLY_OK);
            assert_true(info.distinct >= (double)f && isfinite(info.distinct));
            assert_true(info.distinct_sd >= 0 && isfinite(info.distinct_sd));
            assert_close(info.rate, (double)f / (double)range, 1e-12);
            add_one(filter, &m, f);
        }
        assert_status(bly_info(&info, filter), BLY_OK);
        assert_true(isinf(info.distinct) && info.distinct > 0);
        assert_true(isinf(info.distinct_sd) && info.rate == 1);
        bly_free(filter);
    }
}

static void unite_one(uint64_t stream)
{
    static multiset a, b;
    static uint8_t payload[BYTES];
    a = b = *shape_of(stream);
    bly_filter *of_a = filter_empty(&a), *of_b = filter_empty(&b);
    for (uint64_t i = 0; i < 60; i++) {
        add_one(of_a, &a, draw(&a, stream, i));
        add_one(of_b, &b, draw(&a, stream + (i & 1), i / 2));
    }
    static multiset both;
    both = a;
    for (size_t i = 0; i < b.used; i++)
        multiset_add(&both, b.f[i], b.count[i]);
    bool fits = multiset_payload(&both, payload);
    assert_status(bly_unite(of_a, of_b), fits ? BLY_OK : BLY_EFULL);
    assert_is(of_a, fits ? &both : &a);
    assert_is(of_b, &b);
    bly_free(of_a);
    bly_free(of_b);
}

static void test_unite(void **state)
{
    (void)state;
    for (uint64_t stream = 0; stream < 200; stream++)
        unite_one(stream);
}

/* ---- Another size ------------------------------------------------------ */

static void geometry_of(multiset *m, const bly_filter *filter)
{
    const uint8_t *image = bly_image(filter, NULL);
    m->range = image_geometry(image, 0);
    m->width = image_geometry(image, 1) & 0xFF;
    m->k = image_geometry(image, 1) >> 8;
    m->bytes = image_geometry(image, 2);
    m->buckets = image_geometry(image, 3);
}

static void test_resize(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 10, 100, 700, 1000, 3000, 5000, 1000 };
    static multiset m;
    bly_filter *filter = NULL;
    bly_spec spec = { .capacity = 1000, .rate = 1e-4 };
    assert_status(bly_new(&filter, "golomb:page=4", &spec), BLY_OK);
    geometry_of(&m, filter);
    uint64_t range = m.range;
    for (uint64_t i = 0; i < 700; i++)
        add_one(filter, &m, test_random(9, i) % range);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bool fits = sizes[i] >= 700;
        assert_status(bly_resize(filter, sizes[i]), fits ? BLY_OK : BLY_EFULL);
        geometry_of(&m, filter);
        assert_int_equal(m.range, range);
        assert_is(filter, &m);
    }
    assert_status(bly_resize(filter, UINT64_C(1) << 60), BLY_EPARAM);
    assert_is(filter, &m);
    bly_free(filter);
}

typedef struct {
    const multiset *m;
    size_t          seen;
} each_told;

static bool each_one(void *context, uint64_t least, unsigned bits,
                     uint64_t count)
{
    each_told *told = context;
    const multiset *m = told->m;
    assert_int_equal(least, hash_of(m, m->f[told->seen]));
    assert_int_equal(count, m->count[told->seen]);
    assert_true((m->range - 1) >> bits == 0);
    return ++told->seen < 50;
}

static void test_each(void **state)
{
    (void)state;
    for (uint64_t stream = 0; stream < 40; stream++) {
        multiset *m = shape_of(stream);
        bly_filter *filter = filter_empty(m);
        for (uint64_t i = 0; i < 100; i++)
            add_one(filter, m, draw(m, stream, i));
        each_told told = { m, 0 };
        assert_status(bly_list_fingerprints(filter, each_one, &told), BLY_OK);
        assert_int_equal(told.seen, m->used < 50 ? m->used : 50);
        bly_free(filter);
    }
}

/* ---- The plan ---------------------------------------------------------- */

/* The essay's table, for 10^6 keys. */
static const struct { double rate, small, usual, large; } sizes[] = {
    { 0.1, 5.50, 5.32, 5.26 },      { 0.01, 9.13, 8.70, 8.52 },
    { 0.001, 13.15, 12.32, 12.07 }, { 0.0001, 17.37, 15.88, 15.62 },
    { 1e-6, 25.67, 22.82, 22.57 },
};

static double bits_of(const char *kind, double rate)
{
    bly_plan_t plan;
    bly_spec spec = { .capacity = 1000000, .rate = rate };
    assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
    double collisions = ldexp((double)spec.capacity, -64);  /* of hashes */
    assert_true(plan.rate <= rate * (1 + 1e-12) + collisions);
    return plan.bits_per_key;
}

/* Sizes match the table, and are below those of any other kind with removal. */
static void test_sizes(void **state)
{
    (void)state;
    static const char *const others[] = {
        "quotient", "cuckoo", "cuckoo:sorted=yes", "dleft", "counting",
        "variable", "deletable",
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double rate = sizes[i].rate, usual = bits_of("golomb", rate);
        assert_true(fabs(bits_of("golomb:page=4", rate) - sizes[i].small)
                    <= 0.005);
        assert_true(fabs(usual - sizes[i].usual) <= 0.005);
        assert_true(fabs(bits_of("golomb:page=64", rate) - sizes[i].large)
                    <= 0.005);
        for (size_t j = 0; j < sizeof others / sizeof *others; j++)
            assert_true(usual < bits_of(others[j], rate));
    }
}

/* All n keys fit, and the share of code bits used is as planned, within five
 * standard deviations: half a bit per key by the essay, twenty bits for each
 * key that repeats another's value, up to ten for the first gap; a page's ends
 * take up to half of it. */
static void fill_one(const char *kind, uint64_t n, double rate, uint64_t stream)
{
    bly_filter *filter = NULL;
    bly_info_t stat;
    bly_plan_t plan;
    bly_spec spec = { .capacity = n, .rate = rate, .seed = stream };
    assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    for (uint64_t i = 0; i < n; i++)
        assert_true(bly_add_hash(filter, test_random(stream, i)) >= 0);
    bly_info(&stat, filter);
    double bits = (double)plan.bytes * 8;
    double band = 5 * sqrt((double)n / 4 + (double)n * rate * 20 + 100) / bits;
    assert_true(fabs(stat.fill - plan.fill) < 2 * band + 0.001);
    bly_free(filter);
}

/* No page is full before all keys are in, at any size and rate. */
static void test_capacity_fits(void **state)
{
    (void)state;
    static const double rates[] = { 0.5, 0.1, 0.01, 1e-4, 1e-9 };
    uint64_t rounds = test_work(40, 10, 4);
    for (uint64_t n = 1; n <= 40000; n = n * 3 + 1)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
            for (uint64_t i = 0; i * n < rounds * 1000 && i < rounds; i++)
                fill_one("golomb:page=4", n, rates[r], 100 * i + r + n);
    for (uint64_t i = 0; i < test_work(5, 1, 1); i++)
        fill_one("golomb:page=64", 200000, 0.01, i);
}

/* A plan for n adds holds n adds of any keys, however repeated, and so does its
 * resized copy. */
static void repeat_one(uint64_t n, double rate, uint64_t times, uint64_t stream)
{
    bly_filter *filter = NULL;
    bly_spec spec = { .capacity = n, .rate = rate };
    assert_status(bly_new(&filter, "golomb:page=4,repeats=yes", &spec), BLY_OK);
    for (uint64_t i = 0; i < n; i++)
        assert_true(bly_add_hash(filter, test_random(stream, i / times)) >= 0);
    assert_status(bly_resize(filter, 2 * n), BLY_OK);
    for (uint64_t i = n; i < 2 * n; i++)
        assert_true(bly_add_hash(filter, test_random(stream, i / times)) >= 0);
    bly_free(filter);
}

static void test_room_for_repeats(void **state)
{
    (void)state;
    static const double rates[] = { 0.5, 0.2, 0.01, 1e-6 };
    uint64_t rounds = test_work(10, 3, 1);
    for (uint64_t n = 6; n <= 30000; n *= 17)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
            for (uint64_t times = 1; times <= 6; times++)
                for (uint64_t i = 0; i < rounds; i++)
                    repeat_one(n, rates[r], times, 50 * i + times);
}

static void test_bad_options(void **state)
{
    (void)state;
    bly_filter *filter = NULL;
    bly_spec spec = { .capacity = 100, .rate = 0.01 };
    assert_status(bly_new(&filter, "golomb:page=3", &spec), BLY_EOPTION);
    assert_status(bly_new(&filter, "golomb:page=65", &spec), BLY_EOPTION);
    spec.capacity = UINT64_C(1) << 40;
    spec.rate = 1e-7;
    assert_status(bly_new(&filter, "golomb", &spec), BLY_ETOOBIG);
    spec.capacity = 1 << 20;
    spec.rate = 1e-13;
    assert_status(bly_new(&filter, "golomb", &spec), BLY_ETOOBIG);
    assert_null(filter);
}

/* ---- Forged bytes ------------------------------------------------------ */

static bool visit_all(void *context, uint64_t hash, unsigned bits,
                      uint64_t count)
{
    uint64_t *last = context;
    (void)bits;
    assert_true(count > 0 && (*last == 0 || hash > *last));
    *last = hash;
    return true;
}

/* Verbs stay inside and end; the sanitizers watch. */
static void abuse(bly_filter *filter, uint64_t stream)
{
    enum { ASKED = 200 };
    static uint64_t hashes[ASKED], counts[ASKED];
    static bly_status each[ASKED];
    static bool present[ASKED];
    bly_overlap_t overlap;
    bly_info_t stat;
    uint64_t last = 0;
    bly_filter *copy = NULL;
    for (size_t i = 0; i < ASKED; i++)
        hashes[i] = test_random(stream + 1000, i);
    bly_contains_hashes(filter, hashes, ASKED, present);
    bly_count_hashes(filter, hashes, ASKED, counts);
    for (size_t i = 0; i < ASKED; i++) {
        assert_int_equal(present[i], bly_contains_hash(filter, hashes[i]));
        assert_int_equal(present[i], counts[i] > 0);
    }
    assert_status(bly_list_fingerprints(filter, visit_all, &last), BLY_OK);
    bly_info(&stat, filter);
    assert_status(bly_copy(&copy, filter, NULL), BLY_OK);
    bly_overlap(&overlap, filter, copy);
    bly_unite(copy, filter);
    bly_unite(copy, copy);
    bly_resize(copy, 50 + stream);
    for (size_t i = 0; i < ASKED; i++)
        bly_add_hash(filter, hashes[i % 50]);
    bly_add_hashes(filter, hashes, ASKED, NULL, NULL);
    bly_remove_hashes(filter, hashes, ASKED, each);
    for (size_t i = 0; i < ASKED; i++)
        bly_remove_hash(filter, hashes[i]);
    bly_free(copy);
    bly_free(filter);
}

static void test_hostile_payloads(void **state)
{
    (void)state;
    static uint8_t payload[BYTES];
    for (uint64_t stream = 0; stream < 400; stream++) {
        multiset *m = shape_of(stream);
        uint64_t and = stream % 5, entry = entry_bits(m);
        for (size_t i = 0; i < payload_bytes(m); i++) {
            uint64_t v = test_random(stream, i);
            payload[i] = (uint8_t)(and == 0 ? 0xFF : and == 1 ? v & v >> 8
                                   : and == 2 ? v | v >> 8
                                   : and == 3 ? v & v >> 8 & v >> 16 : v);
        }
        /* valid ends, without which nothing behind them would be read */
        for (uint64_t page = 0; stream % 7 > 1 && page < multiset_pages(m);
             page++) {
            uint8_t *p = payload + page * m->bytes;
            uint64_t room = 8 * m->bytes - m->buckets * entry;
            for (uint64_t at = 0; at < m->buckets * entry; at++)
                p[at / 8] &= (uint8_t)~(1u << at % 8);
            for (uint64_t b = 0; b < m->buckets; b++)
                for (uint64_t j = 0; j < entry; j++)
                    put_bit(p, b * entry + j,
                            room * (b + 1) / m->buckets >> j & 1);
        }
        abuse(filter_of(m, payload), stream);
    }
}

/* A filter's payload with one bit flipped. */
static void test_damaged_payloads(void **state)
{
    (void)state;
    static uint8_t payload[BYTES];
    for (uint64_t stream = 0; stream < 200; stream++) {
        multiset *m = shape_of(stream);
        bly_filter *filter = filter_empty(m);
        for (uint64_t i = 0; i < 60; i++)
            add_one(filter, m, draw(m, stream, i));
        bly_free(filter);
        assert_true(multiset_payload(m, payload));
        uint64_t bit = test_random(76, stream) % (8 * payload_bytes(m));
        payload[bit / 8] ^= (uint8_t)(1u << bit % 8);
        abuse(filter_of(m, payload), stream);
    }
}

/* Each geometry field out of range, under correct checksums. */
static void test_bad_geometry(void **state)
{
    (void)state;
    static const struct { size_t field; uint64_t value; } bad[] = {
        { 0, 0 }, { 0, (UINT64_C(1) << 60) + 1 }, { 0, 1 }, { 1, 61 },
        { 1, 6 | 7 << 8 }, { 1, 6 | 4 << 8 | 1 << 16 }, { 1, 58 | 57 << 8 },
        { 1, 40 | 4 << 8 }, { 2, 0 }, { 2, 65544 }, { 2, 60 }, { 2, 72 },
        { 2, 8 }, { 3, 0 }, { 3, 1 }, { 3, 65536 }, { 3, 60 },
    };
    static uint64_t words[100];
    static multiset m = { .range = 300, .width = 6, .k = 4, .bytes = 64,
                          .buckets = 2 };
    bly_filter *filter = filter_empty(&m), *none = NULL;
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    assert_true(bytes <= sizeof words);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy(words, image, bytes);
        image_set_u64(words, IMAGE_GEOMETRY + 8 * bad[i].field, bad[i].value);
        image_seal(words);
        assert_status(bly_wrap(&none, words, bytes, NULL), BLY_ECORRUPT);
    }
    assert_null(none);
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picture),
        cmocka_unit_test(test_layout_is_the_multisets),
        cmocka_unit_test(test_large_pages),
        cmocka_unit_test(test_counts_end),
        cmocka_unit_test(test_all_values),
        cmocka_unit_test(test_unite),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_capacity_fits),
        cmocka_unit_test(test_room_for_repeats),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_hostile_payloads),
        cmocka_unit_test(test_damaged_payloads),
        cmocka_unit_test(test_bad_geometry),
    };
    return cmocka_run_group_tests_name("golomb", tests, NULL, NULL);
}
