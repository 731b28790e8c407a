/* chains.h - chains of rows of bits that have the same two hashes of a key: it
 * is there if any row has it.
 *
 * Used by formats of growing filters. A key's bytes are here those of its two
 * hashes, made once for all rows. A kind gives a walk through its rows, and the
 * function that places a key's bits (bodies/probes.h) from state[0] and
 * state[1].
 */
#ifndef BLY_BODIES_CHAINS_H
#define BLY_BODIES_CHAINS_H

#include <string.h>

#include "bodies/probes.h"

/* Sets the next row of a walk; returns false if there is none. */
typedef bool chains_walk(void *walk, probes_row *row);

static inline void chains_begin(const probes_row *row, probes_key *key)
{
    (void)row;
    memcpy(key->state, key->bytes, 2 * sizeof *key->state);
}

PLATFORM_INLINE bool chains_have(void *walk, chains_walk *next,
                                 const uint64_t h[2], probes_next *place)
{
    probes_row row;
    while (next(walk, &row)) {
        probes_key key = { .bytes = h };
        if (probes_has(&row, &key, chains_begin, place))
            return true;
    }
    return false;
}

/* Sets the bits of a key. BLY_OK; BLY_SEEN: they were set. */
PLATFORM_INLINE bly_status chains_put(const probes_row *row,
                                      const uint64_t h[2], probes_next *place)
{
    probes_key key = { .bytes = h };
    return probes_put(row, &key, chains_begin, place);
}

/* Up to PROBES_GROUP keys on their way through the rows. */
typedef struct {
    uint64_t h[PROBES_GROUP][2];
    uint8_t  left[PROBES_GROUP];        /* those that no row had so far      */
    size_t   n;
} chains_keys;

/* Starts n keys, whose hashes are there. */
static inline void chains_start(chains_keys *of, size_t n, bool *present)
{
    for (size_t i = 0; i < n; i++) {
        of->left[i] = (uint8_t)i;
        present[i] = false;
    }
    of->n = n;
}

/* Looks up the keys that are left in this row. */
PLATFORM_INLINE void chains_query(chains_keys *of, const probes_row *row,
                                  bool *present, probes_next *place)
{
    probes_key asked[PROBES_GROUP];
    bool has[PROBES_GROUP];
    size_t some = of->n;
    for (size_t j = 0; j < some; j++)
        asked[j] = (probes_key){ .bytes = of->h[of->left[j]] };
    probes_group(row, asked, some, has, chains_begin, place, bits_test);
    of->n = 0;
    for (size_t j = 0; j < some; j++) {
        present[of->left[j]] = has[j];
        of->left[of->n] = of->left[j];
        of->n += !has[j];
    }
}

PLATFORM_INLINE void chains_group(void *walk, chains_walk *next,
                                  chains_keys *of, bool *present,
                                  probes_next *place)
{
    probes_row row;
    while (of->n > 0 && next(walk, &row))
        chains_query(of, &row, present, place);
}

/* Prefetches the bits of the keys that are left, which this row is to get. */
PLATFORM_INLINE void chains_bring(const chains_keys *of, const probes_row *row,
                                  probes_next *place)
{
    probes_key asked[PROBES_GROUP];
    for (size_t j = 0; j < of->n; j++)
        asked[j] = (probes_key){ .bytes = of->h[of->left[j]] };
    probes_bring(row, asked, of->n, chains_begin, place);
}

/* The chain of an image, for its statistics. */
typedef struct {
    uint64_t     rows;
    void        *walk;                  /* memory for one                    */
    void       (*start)(void *walk, const void *image);
    chains_walk *next;
    probes_next *place;
} chains;

/* Fills in what `stat` reports of a chain, except for its capacity. */
void chains_stat(bly_info_t *out, const void *image, const chains *chain);

#endif /* BLY_BODIES_CHAINS_H */
