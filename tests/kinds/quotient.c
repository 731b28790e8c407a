/* quotient.c - tests specific to kind `quotient`: the payload is a pure
 * function of the multiset of fingerprints, computed independently and slowly
 * from the essay; fullness; counts; sizes; hostile bytes.
 */
#include "test.h"

#include <inttypes.h>

#include "bloomery/sketch.h"

#include "bits/bits.h"
#include "image/image.h"

enum { MULTISET_MOST = 8192, BYTES = 1 << 17 };

/* ---- The multiset, and the payload that the essay demands -------------- */

typedef struct {
    uint64_t slots, r, blocks;
    size_t   used;                      /* entries                           */
    uint64_t f[MULTISET_MOST], count[MULTISET_MOST];    /* rising            */
} multiset;

#include "canonical.h"

static size_t payload_bytes(const multiset *m)
{
    return (size_t)(m->blocks * (17 + 8 * m->r) + 8);
}

/* Writes the slots of a remainder that occurs `count` times. */
static size_t write_count(uint64_t out[200], uint64_t x, uint64_t count,
                          uint64_t r)
{
    uint64_t digit[64];
    size_t digits = 0, n = 0;
    for (uint64_t rest = count > 3 ? count - 3 : 0; rest > 0; rest >>= r)
        digit[digits++] = rest & ((UINT64_C(1) << r) - 1);
    for (size_t i = 0; i < (count > 3 ? digits + 3 : count); i++)
        out[n++] = x;
    for (size_t i = digits; i-- > 0; )
        out[n++] = i == digits - 1 && digit[i] == x ? 0 : digit[i];
    return n;
}

static void put_bits(uint8_t *row, uint64_t at, uint64_t bits, uint64_t value)
{
    for (uint64_t i = 0; i < bits; i++)
        if (value >> i & 1)
            bits_set(row, at + i);
}

/* Returns false if it does not fit. */
static bool multiset_payload(const multiset *m, uint8_t *payload)
{
    uint64_t stride = 17 + 8 * m->r, space = 64 * m->blocks;
    uint64_t at = 0, used = 0, item[200], block = 0;
    memset(payload, 0, payload_bytes(m));
    for (size_t i = 0; i < m->used; i++) {
        uint64_t quotient = m->f[i] >> m->r;
        size_t n = write_count(item, m->f[i] & ((UINT64_C(1) << m->r) - 1),
                               m->count[i], m->r);
        for (; block <= quotient / 64; block++)
            payload[block * stride + 16] = (uint8_t)(at <= 64 * block ? 0
                : at - 64 * block < 255 ? at - 64 * block : 255);
        if (at < quotient)
            at = quotient;
        if (at + n > space)
            return false;
        bits_set(payload + quotient / 64 * stride, quotient % 64);
        for (size_t j = 0; j < n; j++, at++)
            put_bits(payload + at / 64 * stride + 17, at % 64 * m->r, m->r,
                     item[j]);
        if (i + 1 == m->used || m->f[i + 1] >> m->r != quotient)
            bits_set(payload + (at - 1) / 64 * stride + 8, (at - 1) % 64);
        used += n;
    }
    for (; block < m->blocks; block++)
        payload[block * stride + 16] = (uint8_t)(at <= 64 * block ? 0
            : at - 64 * block < 255 ? at - 64 * block : 255);
    image_set_u64(payload, m->blocks * stride, used);
    return used <= m->slots - m->slots / 32 + 64;
}

/* ---- Filters of any geometry ------------------------------------------- */

/* Returns the smallest hash whose fingerprint is f. */
static uint64_t hash_of(const multiset *m, uint64_t f)
{
    uint64_t low = 0, high = UINT64_MAX;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (bits_range(middle, m->slots << m->r) >= f)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bly_filter *filter_of(const multiset *m, const uint8_t *payload)
{
    static uint8_t image[BYTES];
    size_t bytes = IMAGE_HEADER + payload_bytes(m);
    assert_true(bytes <= sizeof image);
    bly_spec spec = { .capacity = 10 };
    bly_filter *any = NULL, *wrapped = NULL, *filter = NULL;
    assert_status(bly_new(&any, "quotient", &spec), BLY_OK);
    memcpy(image, bly_image(any, NULL), IMAGE_HEADER);
    bly_free(any);
    image_set_u64(image, IMAGE_BYTES, bytes);
    image_set_u64(image, IMAGE_GEOMETRY, m->slots);
    image_set_u64(image, IMAGE_GEOMETRY + 8, m->r);
    image_set_u64(image, IMAGE_GEOMETRY + 16, m->blocks);
    memcpy(image + IMAGE_HEADER, payload, payload_bytes(m));
    image_seal(image);
    assert_status(bly_wrap(&wrapped, image, bytes, NULL), BLY_OK);
    assert_status(bly_copy(&filter, wrapped, NULL), BLY_OK);
    bly_free(wrapped);
    return filter;
}

/* ---- The layout -------------------------------------------------------- */

/* The essay's picture, which is the catalogue's example. */
static void test_picture(void **state)
{
    (void)state;
    static multiset m = { .slots = 8, .r = 4, .blocks = 1 };
    static const uint64_t fs[] = { 0x1A, 0x43, 0x7F, 0x1B, 0x25, 0x19 };
    static const uint8_t wanted[] = {
        0x96, 0, 0, 0, 0, 0, 0, 0, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0,
        0x90, 0xBA, 0x35, 0xF0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        6, 0, 0, 0, 0, 0, 0, 0,
    };
    bly_filter *filter = filter_empty(&m);
    for (size_t i = 0; i < sizeof fs / sizeof *fs; i++)
        add_one(filter, &m, fs[i]);
    const uint8_t *image = bly_image(filter, NULL);
    assert_int_equal(payload_bytes(&m), sizeof wanted);
    assert_memory_equal(image + IMAGE_HEADER, wanted, sizeof wanted);
    assert_is(filter, &m);
    bly_free(filter);
}

/* The essay's counts of remainder 7 in base 16. */
static void test_counts_written(void **state)
{
    (void)state;
    static const struct { uint64_t count, digits; } rows[] = {
        { 1, 0x7 }, { 2, 0x77 }, { 3, 0x777 }, { 4, 0x17777 },
        { 10, 0x07777 }, { 18, 0xF7777 }, { 20, 0x1177777 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        multiset m = { .slots = 8, .r = 4, .blocks = 1 };
        bly_filter *filter = filter_empty(&m);
        for (uint64_t c = 0; c < rows[i].count; c++)
            add_one(filter, &m, 0x07);
        assert_is(filter, &m);
        const uint8_t *image = bly_image(filter, NULL);
        assert_int_equal(image_u64(image, IMAGE_HEADER + 17), rows[i].digits);
        assert_int_equal(bly_count_hash(filter, hash_of(&m, 7)),
                         rows[i].count);
        bly_free(filter);
    }
}

/* Draws a fingerprint: anywhere, or in the first or the last quotients, to make
 * runs and clusters of all lengths. */
static uint64_t draw(const multiset *m, uint64_t stream, uint64_t i)
{
    uint64_t range = m->slots << m->r, v = test_random(stream, i);
    uint64_t near = UINT64_C(3) << m->r;
    if (near > range)
        near = range;
    switch (stream % 4) {
    case 0: return v % range;
    case 1: return v % near;
    case 2: return range - 1 - v % near;
    default: return v / 8 % 4 == 0 ? v % range : range / 2 + v % near / 2;
    }
}

static void test_layout_is_the_multisets(void **state)
{
    (void)state;
    static multiset m;
    static const uint64_t rs[] = { 1, 2, 3, 7, 8, 13, 28, 29, 56 };
    for (uint64_t stream = 0; stream < 108; stream++) {
        uint64_t slots = 1 + test_random(90, stream) % (stream < 54 ? 20 : 200);
        m = (multiset){ .slots = slots, .r = rs[stream % 9],
                        .blocks = slots / 64 + 1 + stream % 3 };
        if (m.r == 56 && slots > 16)
            m.slots = 16;
        run_program(&m, stream + stream / 9, 400);
    }
}

/* A spill too long for a byte. */
static void test_long_runs(void **state)
{
    (void)state;
    static multiset m;
    for (uint64_t spread = 1; spread <= 300; spread *= 6) {
        m = (multiset){ .slots = 2000, .r = 17, .blocks = 40 };
        bly_filter *filter = filter_empty(&m);
        for (uint64_t i = 0; i < 700; i++) {
            uint64_t v = test_random(spread, i);
            add_one(filter, &m, (3 + v % spread) << 17 | v >> 47);
            if (i % 50 == 0)
                assert_is(filter, &m);
        }
        assert_is(filter, &m);
        for (uint64_t i = 0; i < m.used; i++)
            assert_true(bly_contains_hash(filter, hash_of(&m, m.f[i])));
        for (uint64_t i = 0; m.used > 0; i++) {
            remove_one(filter, &m, m.f[test_random(5, i) % m.used]);
            if (i % 50 == 0)
                assert_is(filter, &m);
        }
        assert_is(filter, &m);
        bly_free(filter);
    }
}

/* A million copies of a key take nine slots. */
static void test_a_million_times(void **state)
{
    (void)state;
    static multiset m = { .slots = 100, .r = 7, .blocks = 2 };
    bly_filter *filter = filter_empty(&m);
    uint64_t f = 33 << 7 | 5, hash = hash_of(&m, f);
    for (uint64_t i = 0; i < 1000000; i++)
        assert_true(bly_add_hash(filter, hash) >= 0);
    multiset_add(&m, f, 1000000);
    assert_is(filter, &m);
    assert_int_equal(image_u64(bly_image(filter, NULL),
                               IMAGE_HEADER + payload_bytes(&m) - 8), 9);
    assert_int_equal(bly_count_hash(filter, hash), 1000000);
    for (uint64_t i = 0; i < 999999; i++)
        assert_status(bly_remove_hash(filter, hash), BLY_OK);
    m.count[0] = 1;
    assert_is(filter, &m);
    bly_free(filter);
}

/* ---- Sets and sizes ---------------------------------------------------- */

static bly_filter *filled(multiset *m, uint64_t stream, size_t n)
{
    bly_filter *filter = filter_empty(m);
    for (uint64_t i = 0; i < n; i++)
        add_one(filter, m, draw(m, stream, i));
    return filter;
}

static void test_unite(void **state)
{
    (void)state;
    static multiset a, b;
    static uint8_t payload[BYTES];
    for (uint64_t stream = 0; stream < 64; stream++) {
        a = b = (multiset){ .slots = 90, .r = 1 + stream % 9, .blocks = 3 };
        bly_filter *x = filled(&a, stream, 3 * stream % 100), *before = NULL;
        bly_filter *y = stream % 5 == 0 ? x : filled(&b, stream + 1, stream);
        assert_status(bly_copy(&before, x, NULL), BLY_OK);
        if (x == y)
            b = a;
        for (size_t i = 0; i < b.used; i++)
            multiset_add(&a, b.f[i], b.count[i]);
        if (multiset_payload(&a, payload)) {
            assert_status(bly_unite(x, y), BLY_OK);
            assert_is(x, &a);
        } else {
            assert_status(bly_unite(x, y), BLY_EFULL);
            assert_memory_equal(bly_image(x, NULL), bly_image(before, NULL),
                                IMAGE_HEADER + payload_bytes(&a));
        }
        if (x != y)
            bly_free(y);
        bly_free(x);
        bly_free(before);
    }
}

/* Counts end at 2^64 - 1: beyond that nothing changes; an item total that would
 * exceed it is not reported. */
static void test_counts_end(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 1000 };
    bly_filter *one = NULL, *other = NULL, *before = NULL;
    bly_info_t stat;
    assert_status(bly_new(&one, "quotient", &spec), BLY_OK);
    assert_status(bly_new(&other, "quotient", &spec), BLY_OK);
    bly_add_hash(one, test_random(1, 1));
    bly_add_hash(other, test_random(1, 2));
    for (int i = 0; i < 63; i++) {
        assert_status(bly_unite(one, one), BLY_OK);
        assert_status(bly_unite(other, other), BLY_OK);
    }
    assert_true(bly_count_hash(one, test_random(1, 1)) == UINT64_C(1) << 63);
    assert_status(bly_copy(&before, one, NULL), BLY_OK);
    assert_status(bly_unite(one, one), BLY_EFULL);
    size_t bytes;
    const void *image = bly_image(one, &bytes);
    assert_memory_equal(image, bly_image(before, NULL), bytes);
    assert_status(bly_unite(one, other), BLY_OK);
    assert_true(bly_count_hash(one, test_random(1, 2)) == UINT64_C(1) << 63);
    assert_status(bly_info(&stat, one), BLY_OK);
    assert_false(stat.items_exact);
    bly_free(one);
    bly_free(other);
    bly_free(before);
}

/* Growing and shrinking back gives the same filter, with the same contents. */
static void test_resize(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 1000, .rate = 1e-4 };
    bly_filter *filter = NULL, *before = NULL;
    bly_info_t was, now;
    assert_status(bly_new(&filter, "quotient", &spec), BLY_OK);
    for (uint64_t i = 0; i < 1000; i++)
        for (uint64_t j = 0; j <= i % 3 * i % 20; j++)
            bly_add_hash(filter, test_random(1, i));
    assert_status(bly_copy(&before, filter, NULL), BLY_OK);
    assert_status(bly_info(&was, filter), BLY_OK);
    for (uint64_t double_it = 2; double_it <= 64; double_it *= 2) {
        assert_status(bly_resize(filter, 1000 * double_it), BLY_OK);
        assert_status(bly_info(&now, filter), BLY_OK);
        assert_int_equal(now.geometry[0], was.geometry[0] * double_it);
        assert_true(now.geometry[0] << now.geometry[1]
                    == was.geometry[0] << was.geometry[1]);
        assert_true(now.distinct == was.distinct && now.rate == was.rate);
        for (uint64_t i = 0; i < 2000; i++)
            assert_int_equal(bly_count_hash(filter, test_random(1, i)),
                             bly_count_hash(before, test_random(1, i)));
    }
    assert_status(bly_resize(filter, UINT64_C(1) << 40), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "lower rate"));
    assert_status(bly_resize(filter, 1000), BLY_OK);
    assert_status(bly_info(&now, filter), BLY_OK);
    assert_int_equal(now.geometry[0], was.geometry[0]);
    assert_memory_equal((const uint8_t *)bly_image(filter, NULL) + IMAGE_HEADER,
                        (const uint8_t *)bly_image(before, NULL) + IMAGE_HEADER,
                        was.bytes - IMAGE_HEADER);
    bly_free(filter);
    bly_free(before);
}

/* It does not shrink below its contents. */
static void test_resize_when_full(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 7600, .rate = 0.01 };
    bly_filter *filter = NULL;
    bly_info_t stat;
    assert_status(bly_new(&filter, "quotient", &spec), BLY_OK);
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.geometry[0], 8000);
    for (uint64_t i = 0; i < 4500; i++)
        bly_add_hash(filter, test_random(1, i));
    assert_status(bly_resize(filter, 2000), BLY_EFULL);
    for (uint64_t i = 2000; i < 4500; i++)
        assert_status(bly_remove_hash(filter, test_random(1, i)), BLY_OK);
    assert_status(bly_resize(filter, 2000), BLY_OK);
    for (uint64_t i = 0; i < 2000; i++)
        assert_true(bly_contains_hash(filter, test_random(1, i)));
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_int_equal(stat.geometry[0], 4000);
    bly_free(filter);
}

typedef struct { const multiset *m; size_t i; uint64_t last; } visited;

static bool visit(void *context, uint64_t hash, unsigned bits, uint64_t count)
{
    visited *v = context;
    assert_true(v->i < v->m->used);
    assert_true(hash == hash_of(v->m, v->m->f[v->i]));
    assert_int_equal(count, v->m->count[v->i]);
    uint64_t range = v->m->slots << v->m->r;
    assert_true(UINT64_C(1) << bits >= range
                && UINT64_C(1) << (bits - 1) < range);
    return ++v->i < 40;
}

static void test_each(void **state)
{
    (void)state;
    static multiset m;
    for (uint64_t stream = 0; stream < 40; stream++) {
        m = (multiset){ .slots = 1 + stream * 5, .r = 1 + stream, .blocks = 5 };
        bly_filter *filter = filled(&m, stream, stream * 3);
        visited v = { .m = &m };
        assert_status(bly_list_fingerprints(filter, visit, &v), BLY_OK);
        assert_int_equal(v.i, m.used < 40 ? m.used : 40);
        bly_free(filter);
    }
}

/* Bits per key at the round rates match the essay, for unique keys and for
 * any. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct { double rate, bits, any; uint64_t r; } rows[] = {
        { 0.1, 6.08, 6.61, 3 }, { 0.01, 9.61, 11.78, 7 },
        { 0.0075, 9.61, 11.78, 7 }, { 0.001, 12.76, 15.65, 10 },
        { 0.0001, 16.97, 19.52, 14 }, { 1e-6, 23.29, 28.55, 20 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bly_spec spec = { .capacity = 100000000, .rate = rows[i].rate };
        bly_plan_t once, any;
        assert_status(bly_plan(&once, "quotient", &spec), BLY_OK);
        assert_int_equal(once.geometry[1], rows[i].r);
        assert_close(once.bits_per_key, rows[i].bits, 0.001);
        assert_status(bly_plan(&any, "quotient:repeats=yes", &spec), BLY_OK);
        assert_close(any.bits_per_key, rows[i].any, 0.001);
    }
}

/* Adds keys `times` times each to a filter with room for them: none is
 * refused. */
static void fill_with_repeats(bly_filter *filter, uint64_t from, uint64_t to,
                              uint64_t times, uint64_t stream)
{
    for (uint64_t i = from; i < to; i++) {
        uint64_t key = test_random(stream, i / times);
        bly_status status = bly_add_hash(filter, key);
        if (status < 0)
            fail_msg("add %" PRIu64 " of %" PRIu64 ", %" PRIu64 " times each: "
                     "%s", i, to, times, bly_why());
    }
    assert_true(bly_count_hash(filter, test_random(stream, 0))
                >= (to < times ? to : times));
}

/* A plan for n adds holds n adds of any keys, however repeated, and so does one
 * of twice the size. The room behind the last home slot is too small with a
 * chance of e^-28 per filter: 1e-9 for all. */
static void test_room_for_repeats(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 1, 4, 63, 100, 103, 129, 500, 4000,
                                      50000 };
    static const double rates[] = { 0.6, 0.3, 0.1, 0.012, 0.0075, 1e-4 };
    enum { SIZES = sizeof sizes / sizeof *sizes,
           RATES = sizeof rates / sizeof *rates };
    size_t most = test_work(SIZES, SIZES, SIZES - 1);
    for (size_t i = 0; i < most * RATES; i++)
        for (uint64_t times = 1; times <= 9; times++) {
            uint64_t n = sizes[i / RATES];
            bly_spec spec = { .capacity = n, .rate = rates[i % RATES] };
            bly_filter *filter = NULL;
            assert_status(bly_new(&filter, "quotient:repeats=yes", &spec),
                          BLY_OK);
            fill_with_repeats(filter, 0, n, times, i);
            if (bly_resize(filter, 2 * n) == BLY_OK)
                fill_with_repeats(filter, n, 2 * n, times, i);
            bly_free(filter);
        }
}

/* The catalogue's rates: 2^16 slots of 8 bits at three loads. */
static void test_rates(void **state)
{
    (void)state;
    static multiset m = { .slots = 1024, .r = 8, .blocks = 24 };
    static const struct { double load, rate; } rows[] = {
        { 0.75, 2.9254e-3 }, { 0.9, 3.5095e-3 }, { 0.95, 3.7041e-3 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double rate = 0;
        for (uint64_t stream = 0; stream < 20; stream++) {
            bly_filter *filter = filter_empty(&m);
            bly_info_t stat;
            for (uint64_t n = 0; (double)n < 1024 * rows[i].load; n++)
                assert_true(bly_add_hash(filter, test_random(stream, n)) >= 0);
            assert_status(bly_info(&stat, filter), BLY_OK);
            rate += stat.rate / 20;
            bly_free(filter);
        }
        assert_close(rate, rows[i].rate, 0.002);
    }
}

/* ---- Hostile payloads -------------------------------------------------- */

static bool visit_all(void *context, uint64_t hash, unsigned bits,
                      uint64_t count)
{
    uint64_t *last = context;
    assert_true(count > 0 && bits > 0 && (*last == 0 || hash > *last));
    *last = hash;
    return true;
}

static void abuse(bly_filter *filter, uint64_t stream)
{
    enum { N = 300 };
    uint64_t hashes[N], last = 0;
    bool present[N];
    bly_status each[N];
    bly_info_t stat;
    bly_filter *other = NULL;
    for (uint64_t i = 0; i < N; i++)
        hashes[i] = i == 0 ? 0 : i == 1 ? UINT64_MAX : test_random(stream, i);
    bly_contains_hashes(filter, hashes, N, present);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(present[i], bly_contains_hash(filter, hashes[i]));
        assert_int_equal(present[i], bly_count_hash(filter, hashes[i]) > 0);
    }
    assert_status(bly_list_fingerprints(filter, visit_all, &last), BLY_OK);
    assert_status(bly_copy(&other, filter, NULL), BLY_OK);
    for (size_t i = 0; i < N; i++)
        bly_add_hash(filter, hashes[i]);
    bly_remove_hashes(filter, hashes, N, each);
    bly_add_hashes(filter, hashes, N, NULL, NULL);
    bly_unite(filter, other);
    bly_unite(filter, filter);
    bly_info(&stat, filter);
    bly_resize(filter, stat.geometry[0] * 2);
    bly_resize(filter, stat.geometry[0] / 4 + 1);
    bly_info(&stat, filter);
    bly_free(filter);
    bly_free(other);
}

static void test_hostile_payloads(void **state)
{
    (void)state;
    static uint8_t payload[BYTES];
    static multiset m;
    for (uint64_t stream = 0; stream < 300; stream++) {
        uint64_t slots = 1 + test_random(80, stream) % 400;
        m = (multiset){ .slots = slots, .r = 1 + stream % 50,
                        .blocks = slots / 64 + 1 + stream % 4 };
        uint64_t stride = 17 + 8 * m.r, and = stream % 7;
        for (size_t i = 0; i < payload_bytes(&m); i++) {
            uint64_t v = test_random(stream, i);
            payload[i] = (uint8_t)(and == 0 ? 0xFF : and == 1 ? v & v >> 8
                                   : and == 2 ? v | v >> 8 : v);
            if (and > 3 && i % stride == 16)
                payload[i] &= (uint8_t)test_random(81, stream);
        }
        if (stream % 2 == 0)            /* or every add is refused */
            image_set_u64(payload, payload_bytes(&m) - 8, stream % 3);
        abuse(filter_of(&m, payload), stream);
    }
}

/* A build makes the image that adds make: of random keys in many parts, of keys
 * that repeat, and of keys in one part, more than are sorted at a time. */
static void test_build(void **state)
{
    enum { N = 20000 };
    static const unsigned shifts[] = { 0, 6, 30 };
    uint64_t *hashes = malloc(N * sizeof *hashes);
    (void)state;
    assert_non_null(hashes);
    for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++)
        for (uint64_t part = 1; part <= 3; part++) {
            bly_spec want = { .capacity = N, .rate = s == 2 ? 1e-9 : 0.01 };
            bly_filter *built, *added;
            size_t bytes, wanted;
            for (uint64_t i = 0; i < N; i++)
                hashes[i] = test_random(part, i % (N / part))
                         >> (i % 8 == 0 ? 0 : shifts[s]);
            bly_keys keys = { .n = N, .hashes = hashes };
            assert_status(bly_new(&added, "quotient:repeats=yes", &want),
                          BLY_OK);
            assert_status(bly_add_hashes(added, hashes, N, NULL, NULL),
                          BLY_OK);
            assert_status(bly_build(&built, "quotient:repeats=yes", &want,
                                    &keys), BLY_OK);
            const void *image = bly_image(built, &bytes);
            const void *other = bly_image(added, &wanted);
            assert_int_equal(bytes, wanted);
            assert_memory_equal(image, other, bytes);
            bly_free(built);
            bly_free(added);
        }
    free(hashes);
}

static void *allocate_little(void *context, size_t alignment, size_t bytes)
{
    void *memory = NULL;
    bool refused = bytes > *(const size_t *)context
                || posix_memalign(&memory, alignment, bytes) != 0;
    return refused ? NULL : memory;
}

static void release_little(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    free(memory);
}

/* A few keys of many planned: a build takes no more memory than the filter. */
static void test_build_with_little_memory(void **state)
{
    enum { KEYS = 1000, PLANNED = 1000000 };
    size_t most = 0;
    uint64_t hashes[KEYS];
    bly_plan_t plan;
    bly_filter *filter = NULL;
    const bly_allocator little = { allocate_little, release_little, &most };
    const bly_spec spec = { .capacity = PLANNED, .allocator = &little };
    (void)state;
    for (size_t i = 0; i < KEYS; i++)
        hashes[i] = test_random(3, i);
    assert_status(bly_plan(&plan, "quotient", &spec), BLY_OK);
    most = (size_t)plan.bytes;
    assert_true(plan.scratch > plan.bytes);
    assert_status(bly_build(&filter, "quotient", &spec,
                            &(bly_keys){ .n = KEYS, .hashes = hashes }),
                  BLY_OK);
    for (size_t i = 0; i < KEYS; i++)
        assert_true(bly_contains_hash(filter, hashes[i]));
    bly_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picture),
        cmocka_unit_test(test_counts_written),
        cmocka_unit_test(test_layout_is_the_multisets),
        cmocka_unit_test(test_long_runs),
        cmocka_unit_test(test_a_million_times),
        cmocka_unit_test(test_unite),
        cmocka_unit_test(test_counts_end),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_resize_when_full),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_room_for_repeats),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_hostile_payloads),
        cmocka_unit_test(test_build),
        cmocka_unit_test(test_build_with_little_memory),
    };
    return cmocka_run_group_tests_name("quotient", tests, NULL, NULL);
}
