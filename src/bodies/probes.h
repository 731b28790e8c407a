/* probes.h - lookups and adds, of one key or many, for kinds in which a key
 * sets k bits of one row, however their places are computed.
 *
 * A kind gives two functions: one begins a key, which is where it is hashed,
 * and one returns its i-th bit. The second is called with i = 0, 1, 2, … in
 * turn, so that it may continue from the last call. Everything is inline, so
 * that the compiler can insert both functions.
 */
#ifndef BLY_BODIES_PROBES_H
#define BLY_BODIES_PROBES_H

#include "bloomery.h"

#include "base/platform.h"
#include "bits/bits.h"
#include "bodies/rows.h"

/* The fields that the places of keys depend on. A row without bits has no key;
 * if a key has no bits, all keys are there. */
typedef struct {
    uint8_t *row;                       /* bit i is bit i % 8 of byte i / 8  */
    size_t   bytes;                     /* that hold it, all else in them 0; or
                                           0 for who asks none of probes.c   */
    uint64_t m;                         /* bits of it                        */
    uint64_t k;                         /* a key's                           */
    uint64_t inverse;                   /* probes_inverse(m), for probes_mod */
    strides  from;                      /* how places are made of a hash; or
                                           m = 0: independently              */
    uint64_t turn;                      /* the row's bit x is place x ^ turn */
    uint64_t with[3];                   /* the kind's own                    */
} probes_row;

/* A key on its way through its bits. */
typedef struct {
    const void *bytes;
    size_t      length;
    uint64_t    state[4];               /* the kind's own                    */
} probes_key;

typedef void     probes_begin(const probes_row *row, probes_key *key);
typedef uint64_t probes_next (const probes_row *row, probes_key *key,
                              uint64_t i);
typedef bool     probes_test (const uint8_t *row, uint64_t at);

enum { PROBES_GROUP = 64 };             /* keys whose lines are on their way */

/* A row of an image that is not changed. */
static inline uint8_t *probes_bytes(const uint8_t *row)
{
    return (uint8_t *)(uintptr_t)row;
}

/* Remainders without a division: x v / 2^64, v being (2^64 - 1) / m rounded
 * down, is x / m rounded down, or one less. */
static inline uint64_t probes_inverse(uint64_t m)
{
    return m > 0 ? UINT64_MAX / m : 0;
}

PLATFORM_INLINE uint64_t probes_mod(const probes_row *row, uint64_t x)
{
    uint64_t rest = x - platform_mul_high(x, row->inverse) * row->m;
    return rest - (rest >= row->m ? row->m : 0);
}

/* BLY_EFULL, saying that there are none. */
bly_status probes_no_bits(void);

PLATFORM_INLINE bool probes_has(const probes_row *row, probes_key *key,
                                probes_begin *begin, probes_next *next)
{
    if (row->m == 0)
        return false;
    begin(row, key);
    for (uint64_t i = 0; i < row->k; i++)
        if (!bits_test(row->row, next(row, key, i)))
            return false;
    return true;
}

/* BLY_OK new, BLY_SEEN perhaps there before; BLY_EFULL: a row of no bits. */
PLATFORM_INLINE bly_status probes_put(const probes_row *row, probes_key *key,
                                      probes_begin *begin, probes_next *next)
{
    bool fresh = false;
    if (row->m == 0)
        return probes_no_bits();
    begin(row, key);
    for (uint64_t i = 0; i < row->k; i++)
        fresh |= bits_set(row->row, next(row, key, i));
    return fresh ? BLY_OK : BLY_SEEN;
}

/* A group of keys goes through its probes together, each time asking for the
 * lines of all that are left before the first of them is tested. `test` is
 * bits_test() if the row is plain; it reads byte at / 8. */
PLATFORM_INLINE void probes_group(const probes_row *row, probes_key *keys,
                                  size_t n, bool *present, probes_begin *begin,
                                  probes_next *next, probes_test *test)
{
    uint64_t at[PROBES_GROUP];
    uint8_t left[PROBES_GROUP];
    for (size_t j = 0; j < n; j++) {
        begin(row, &keys[j]);
        left[j] = (uint8_t)j;
        present[j] = false;
    }
    n = row->m > 0 ? n : 0;
    for (uint64_t i = 0; i < row->k && n > 0; i++) {
        size_t some = n;
        for (size_t j = 0; j < some; j++) {
            at[j] = next(row, &keys[left[j]], i);
            platform_prefetch(row->row + at[j] / 8);
        }
        n = 0;
        for (size_t j = 0; j < some; j++) {
            left[n] = left[j];
            n += test(row->row, at[j]);
        }
    }
    for (size_t j = 0; j < n; j++)
        present[left[j]] = true;
}

/* Prefetches the lines of all bits that a group of keys will set. */
PLATFORM_INLINE void probes_bring(const probes_row *row, probes_key *keys,
                                  size_t n, probes_begin *begin,
                                  probes_next *next)
{
    for (size_t j = 0; j < n && row->m > 0; j++) {
        begin(row, &keys[j]);
        for (uint64_t i = 0; i < row->k; i++)
            platform_prefetch_write(row->row + next(row, &keys[j], i) / 8);
    }
}

/* `contains_keys` of kind.h. */
PLATFORM_INLINE void probes_has_keys(const probes_row *row, const bly_key *keys,
                                     size_t n, bool *present,
                                     probes_begin *begin, probes_next *next,
                                     probes_test *test)
{
    probes_key group[PROBES_GROUP];
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < PROBES_GROUP ? n - i : PROBES_GROUP;
        for (size_t j = 0; j < some; j++)
            group[j] = (probes_key){ .bytes = keys[i + j].data,
                                     .length = keys[i + j].length };
        probes_group(row, group, some, present + i, begin, next, test);
    }
}

/* The number of keys that m and k are best for, at least 1. */
uint64_t probes_capacity(uint64_t m, uint64_t k);

/* `stat`, `overlap` and `unite` of kind.h; and the first two for numbers of set
 * bits that are known: of the row, which is read only if it is short; and of a,
 * of b, and of either. */
void probes_stat   (bly_info_t *out, const probes_row *row);
void probes_stat_of(bly_info_t *out, const probes_row *row, uint64_t set);
void probes_overlap(bly_overlap_t *out, const probes_row *a,
                    const probes_row *b);
void probes_overlap_of(bly_overlap_t *out, const probes_row *row, uint64_t a,
                       uint64_t b, uint64_t either);
void probes_unite  (const probes_row *into, const probes_row *other);

/* The slots of a kind that hashes whole keys, from its name_row(), which reads
 * the row from an image, name_begin() and name_next(). For the kind's file,
 * where image/kind.h is. A kind with a faster contains_keys takes the first of
 * these. */
#define PROBES_KEY(name)                                                       \
    static bool name##_contains_key(const void *image, uint64_t hash,          \
                                    const void *bytes, size_t length)          \
    {                                                                          \
        probes_row row = name##_row(image);                                    \
        probes_key key = { .bytes = bytes, .length = length };                 \
        (void)hash;                                                            \
        return probes_has(&row, &key, name##_begin, name##_next);              \
    }

#define PROBES_WHOLE(name)                                                     \
    PROBES_KEY(name)                                                           \
                                                                               \
    static void name##_contains_keys(const void *image,                        \
                                     const uint64_t *hashes,                   \
                                     const bly_key *keys, size_t n,            \
                                     bool *present)                            \
    {                                                                          \
        probes_row row = name##_row(image);                                    \
        (void)hashes;                                                          \
        probes_has_keys(&row, keys, n, present, name##_begin, name##_next,     \
                        bits_test);                                            \
    }

/* Its name_unite(), name_overlap() and name_stat(), of that row. */
#define PROBES_LOOKS(name)                                                     \
    static bly_status name##_unite(void *into, const void *other)              \
    {                                                                          \
        probes_row to = name##_row(into), from = name##_row(other);            \
        probes_unite(&to, &from);                                              \
        return BLY_OK;                                                         \
    }                                                                          \
                                                                               \
    static void name##_overlap(bly_overlap_t *out, const void *a,              \
                               const void *b)                                  \
    {                                                                          \
        probes_row in_a = name##_row(a), in_b = name##_row(b);                 \
        probes_overlap(out, &in_a, &in_b);                                     \
    }                                                                          \
                                                                               \
    static void name##_stat(bly_info_t *out, const void *image)                \
    {                                                                          \
        probes_row row = name##_row(image);                                    \
        probes_stat(out, &row);                                                \
    }

/* And name_put(), for an add_key; or the very add_key, where nothing else of
 * the file is to be changed. */
#define PROBES_PUT(name)                                                       \
    static bly_status name##_put(void *image, const void *bytes,               \
                                 size_t length)                                \
    {                                                                          \
        probes_row row = name##_row(image);                                    \
        probes_key key = { .bytes = bytes, .length = length };                 \
        return probes_put(&row, &key, name##_begin, name##_next);              \
    }

#define PROBES_ADD(name)                                                       \
    PROBES_PUT(name)                                                           \
                                                                               \
    static bly_status name##_add_key(void *image, uint64_t hash,               \
                                     const void *bytes, size_t length)         \
    {                                                                          \
        (void)hash;                                                            \
        return name##_put(image, bytes, length);                               \
    }

#endif /* BLY_BODIES_PROBES_H */
