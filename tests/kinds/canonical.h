/* canonical.h - for kinds whose payload is a pure function of the multiset of
 * keys: the multiset as a sorted list, compared with a filter after every step.
 *
 * Before including this, define
 *
 *      enum { BYTES = …, MULTISET_MOST = … };  of a payload, entries, at most
 *      typedef struct { …; size_t used;  the kind's geometry; entries
 *                       uint64_t f[MULTISET_MOST], count[MULTISET_MOST];
 *                     } multiset;  rising, and how often each is there
 *
 * and afterwards the kind's own functions: a payload's bytes, the payload that
 * the essay demands (false: it does not fit), the smallest hash of an entry, a
 * filter with a payload, and random entries that often collide.
 */
#ifndef BLY_TEST_CANONICAL_H
#define BLY_TEST_CANONICAL_H

#include "image/image.h"

static size_t payload_bytes(const multiset *m);
static bool multiset_payload(const multiset *m, uint8_t *payload);
static uint64_t hash_of(const multiset *m, uint64_t f);
static bly_filter *filter_of(const multiset *m, const uint8_t *payload);
static uint64_t draw(const multiset *m, uint64_t stream, uint64_t i);

/* ---- The multiset ------------------------------------------------------ */

static inline size_t multiset_at(const multiset *m, uint64_t f)
{
    size_t at = 0;
    while (at < m->used && m->f[at] < f)
        at++;
    return at;
}

static inline uint64_t multiset_count(const multiset *m, uint64_t f)
{
    size_t at = multiset_at(m, f);
    return at < m->used && m->f[at] == f ? m->count[at] : 0;
}

static inline void multiset_add(multiset *m, uint64_t f, uint64_t count)
{
    size_t at = multiset_at(m, f);
    if (at == m->used || m->f[at] != f) {
        assert_true(m->used < MULTISET_MOST);
        memmove(m->f + at + 1, m->f + at, (m->used - at) * sizeof *m->f);
        memmove(m->count + at + 1, m->count + at,
                (m->used - at) * sizeof *m->count);
        m->f[at] = f;
        m->count[at] = 0;
        m->used++;
    }
    m->count[at] += count;
}

static inline void multiset_remove(multiset *m, uint64_t f)
{
    size_t at = multiset_at(m, f);
    if (--m->count[at] > 0)
        return;
    m->used--;
    memmove(m->f + at, m->f + at + 1, (m->used - at) * sizeof *m->f);
    memmove(m->count + at, m->count + at + 1,
            (m->used - at) * sizeof *m->count);
}

/* ---- A filter beside it ------------------------------------------------- */

static inline bly_filter *filter_empty(const multiset *m)
{
    static uint8_t payload[BYTES];
    memset(payload, 0, payload_bytes(m));
    return filter_of(m, payload);
}

static inline void assert_is(const bly_filter *filter, const multiset *m)
{
    static uint8_t payload[BYTES];
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    assert_true(multiset_payload(m, payload));
    assert_int_equal(bytes, IMAGE_HEADER + payload_bytes(m));
    assert_memory_equal(image + IMAGE_HEADER, payload, payload_bytes(m));
}

/* Adds f; it is refused exactly if the multiset says that it would not fit. */
static inline bool add_one(bly_filter *filter, multiset *m, uint64_t f)
{
    static uint8_t payload[BYTES];
    uint64_t before = multiset_count(m, f);
    bly_status status = bly_add_hash(filter, hash_of(m, f));
    multiset_add(m, f, 1);
    bool fits = multiset_payload(m, payload);
    if (!fits)
        multiset_remove(m, f);
    assert_said(status, !fits ? BLY_EFULL : before > 0 ? BLY_SEEN : BLY_OK);
    return fits;
}

static inline void remove_one(bly_filter *filter, multiset *m, uint64_t f)
{
    bool there = multiset_count(m, f) > 0;
    assert_status(bly_remove_hash(filter, hash_of(m, f)),
                  there ? BLY_OK : BLY_EABSENT);
    if (there)
        multiset_remove(m, f);
}

/* Alternates phases of mostly adds and mostly removes; returns the number of
 * refused adds. */
static inline uint64_t run_program(multiset *m, uint64_t stream, size_t steps)
{
    uint64_t full = 0;
    bly_filter *filter = filter_empty(m);
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t f = draw(m, stream, 2 * i),
                 dice = test_random(stream, 2 * i + 1);
        if (dice % 8 == 0 && m->used > 0)
            f = m->f[dice / 8 % m->used];
        if (dice / 1024 % 16 < (i / 128 % 2 == 0 ? 13u : 4u))
            full += !add_one(filter, m, f);
        else
            remove_one(filter, m, m->used > 0 && dice & 2048
                                  ? m->f[dice / 4096 % m->used] : f);
        assert_int_equal(bly_count_hash(filter, hash_of(m, f)),
                         multiset_count(m, f));
        assert_int_equal(bly_contains_hash(filter, hash_of(m, f)),
                         multiset_count(m, f) > 0);
        assert_is(filter, m);
    }
    while (m->used > 0)
        remove_one(filter, m, m->f[test_random(stream, m->used) % m->used]);
    assert_is(filter, m);
    bly_free(filter);
    return full;
}

#endif /* BLY_TEST_CANONICAL_H */
