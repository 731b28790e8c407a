/* fingerprints.h - for `fuse`, `xor` and `bloomier`: the layout, read
 * independently bit by bit from the description in src/bodies/fingerprints.h,
 * and builds in memory of the test's own.
 */
#ifndef BLY_TEST_FINGERPRINTS_H
#define BLY_TEST_FINGERPRINTS_H

#include "test.h"

#include "image/abilities.h"

typedef struct {
    const uint8_t *payload;
    uint64_t keys, shards, segment, windows, stride;
    uint64_t share, shorter;            /* cells that have a bit less        */
    unsigned arity, bits, label, field;
} fingerprint_layout;

static inline fingerprint_layout fingerprint_layout_of(const uint8_t *image)
{
    uint64_t g[4];
    for (size_t i = 0; i < 4; i++)
        g[i] = image_geometry(image, i);
    fingerprint_layout l = {
        .payload = image + IMAGE_HEADER,
        .keys = g[0] & 0xFFFFFFFFFFFF, .share = g[0] >> 48,
        .shards = g[1] & 0xFFFFFFFF, .arity = g[1] >> 32 & 255,
        .bits = g[1] >> 40 & 255, .label = g[1] >> 48 & 255,
        .segment = g[2] & 0xFFFFFFFF, .windows = g[2] >> 32, .stride = g[3],
    };
    l.field = l.bits + (l.label > 0 ? 2 : 0);
    l.shorter = l.windows * l.segment * l.share / 65536;
    return l;
}

static inline uint64_t fingerprint_bits_at(const uint8_t *row, uint64_t at,
                                           unsigned bits)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bits; i++, at++)
        v |= (uint64_t)(row[at / 8] >> at % 8 & 1) << i;
    return v;
}

static inline uint64_t fingerprint_state(uint64_t v)
{
    v = (v ^ v >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    v = (v ^ v >> 27) * UINT64_C(0x94D049BB133111EB);
    return v ^ v >> 31;
}

/* Returns the table of a hash, and its slots there. */
static inline const uint8_t *fingerprint_slots(const fingerprint_layout *l,
                                               uint64_t hash, uint64_t slot[4])
{
    uint64_t s = fingerprint_state(hash), high = (s >> 32) * l->shards;
    uint64_t shard = high >> 32;
    uint64_t window = (high & 0xFFFFFFFF) * l->windows >> 32;
    uint64_t salt = (l->payload[shard] + UINT64_C(1))
                  * UINT64_C(0xD1342543DE82EF95);
    uint64_t a = (s ^ salt) * UINT64_C(0xAEF17502108EF2D9);
    a ^= a >> 32;
    uint64_t b = a * UINT64_C(0xF1357AEA2E62A9C5);
    const uint64_t r[4] = { a >> 32, a & 0xFFFFFFFF, b >> 32, b & 0xFFFFFFFF };
    for (unsigned i = 0; i < l->arity; i++)
        slot[i] = (window + i) * l->segment + (r[i] * l->segment >> 32);
    return l->payload + (l->shards + 63) / 64 * 64 + shard * l->stride;
}

/* Returns the XOR of a hash's cells and its fingerprint: 0 for a key, except
 * for the two bits that select its own slot. If the first cell has a bit less,
 * so do the fingerprint and what is read of the others. */
static inline uint64_t fingerprint_rest(const fingerprint_layout *l,
                                        uint64_t hash)
{
    uint64_t slot[4] = { 0 }, rest = 0;
    const uint8_t *row = fingerprint_slots(l, hash, slot);
    unsigned less = slot[0] < l->shorter;
    for (unsigned i = 0; i < l->arity; i++) {
        uint64_t before = slot[i] < l->shorter ? slot[i] : l->shorter;
        rest ^= fingerprint_bits_at(row,
                                    slot[i] * (l->field + l->label) - before,
                                    l->field - less);
    }
    uint64_t mask = (UINT64_C(1) << (l->bits - less)) - 1;
    return rest ^ (fingerprint_state(hash) & mask);
}

/* Checks every key of the stream by the description and by the library. */
static inline void fingerprint_hold(const bly_filter *filter, uint64_t stream,
                                    uint64_t n)
{
    fingerprint_layout l = fingerprint_layout_of(bly_image(filter, NULL));
    for (uint64_t i = 0; i < n; i++) {
        uint64_t hash = test_random(stream, i);
        assert_true(bly_contains_hash(filter, hash));
        assert_int_equal(fingerprint_rest(&l, hash) >> l.bits << l.bits,
                         fingerprint_rest(&l, hash));
    }
}

/* Returns a stream of n hashes, each `times` times, in an order given by
 * `order`. */
static inline uint64_t *fingerprint_keys(uint64_t stream, uint64_t n,
                                         uint64_t times, uint64_t order)
{
    uint64_t *hashes = malloc((n * times + 1) * sizeof *hashes);
    assert_non_null(hashes);
    for (uint64_t i = 0; i < n * times; i++)
        hashes[i] = test_random(stream, i % n);
    for (uint64_t i = n * times; order > 0 && i > 1; i--) {
        uint64_t j = test_random(order, i) % i, v = hashes[j];
        hashes[j] = hashes[i - 1];
        hashes[i - 1] = v;
    }
    return hashes;
}

static inline bly_filter *fingerprint_of(const char *kind, double rate,
                                         const uint64_t *hashes, uint64_t n)
{
    bly_spec spec = { .capacity = 10, .rate = rate };
    bly_filter *filter = NULL;
    assert_status(bly_build(&filter, kind, &spec,
                            &(bly_keys){ .n = n, .hashes = hashes }), BLY_OK);
    return filter;
}

/* Builds an image with `threads` threads in exactly the planned scratch memory,
 * initially garbage, with guard bytes on both sides. */
static inline uint8_t *fingerprint_bench(const bly_kind *kind,
                                         const kind_keys *keys,
                                         unsigned threads, size_t *bytes)
{
    enum { GUARD = 64 };
    kind_spec spec = kind_spec_plain(kind, keys->n, 0.01);
    bly_plan_t plan = { .bytes = 0 };
    assert_status(kind->plan(&plan, &spec), BLY_OK);
    strcpy(plan.kind, kind->name);
    uint8_t *image = calloc(1, plan.bytes);
    uint8_t *room = aligned_alloc(64, (plan.scratch + 2 * GUARD + 63) / 64
                                      * 64);
    assert_non_null(image);
    assert_non_null(room);
    memset(room, 0xA5, plan.scratch + 2 * GUARD);
    image_format(image, &plan, kind->version, 0, "xxh3");
    kind_bench bench = { .scratch = room + GUARD, .bytes = plan.scratch,
                         .threads = threads };
    assert_status(kind->building->build(image, keys, &bench), BLY_OK);
    for (size_t i = 0; i < GUARD; i++)
        assert_true(room[i] == 0xA5
                    && room[GUARD + plan.scratch + i] == 0xA5);
    free(room);
    *bytes = plan.bytes;
    return image;
}

/* Any number of threads makes the same bytes. */
static inline void fingerprint_threads(const bly_kind *kind,
                                       const kind_keys *keys)
{
    size_t bytes;
    uint8_t *one = fingerprint_bench(kind, keys, 1, &bytes);
    for (unsigned threads = 2; threads <= 7; threads += 5) {
        uint8_t *many = fingerprint_bench(kind, keys, threads, &bytes);
        assert_memory_equal(one, many, bytes);
        free(many);
    }
    free(one);
}

#endif /* BLY_TEST_FINGERPRINTS_H */
