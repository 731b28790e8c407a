/* links.h - one link of RedisBloom's chains of Bloom filters: how large it is,
 * what is written of it, and the places of its keys. kinds/foreign/redisbloom.c
 * says why they are so.
 *
 * Used by kind redisbloom, whose links lie in one image, and by the verbs of
 * <bloomery/redis.h>, whose links are anywhere.
 */
#ifndef BLY_BODIES_LINKS_H
#define BLY_BODIES_LINKS_H

#include "bloomery/redis.h"

#include <string.h>

#include "bodies/probes.h"

enum {
    LINKS_AT_ITEMS = 0, LINKS_AT_LINKS = 8, LINKS_AT_OPTIONS = 12,
    LINKS_AT_GROWTH = 16,               /* in the header                     */
    LINKS_OF_ITEMS = 16,                /* in what it says of a link         */
    LINKS_ALL = 15,                     /* options                           */
    LINKS_K_MAX = 1100,                 /* above what the least rate has     */
    LINKS_GROWTH_MOST = 32768
};

/* Where in the header its bytes begin. */
static inline size_t links_at(uint64_t link)
{
    return (size_t)(BLY_CHAIN_HEAD + BLY_CHAIN_HEAD_LINK * link);
}

/* The numbers of a link for so many keys; false: there is none so large. */
bool links_plan(bly_link *out, uint64_t n, double rate);

/* The rate of a link that is full of keys; and what is planned for one. */
double links_rate(const bly_link *link);
void links_plan_row(bly_plan_t *plan, const bly_link *link);

/* The one behind `last`; false: there is none. */
bool links_next(bly_link *out, const bly_link *last, uint64_t growth);

/* Reads link number `link` from the header, with `bits` NULL. */
bly_link links_look (const uint8_t *head, uint64_t link);
void     links_write(uint8_t *head, uint64_t link, const bly_link *of);

/* Are the header's own numbers right, and are there so many links in so many
 * bytes? Those of each link then: that its bits are 8 times its bytes, and all
 * else; `at` is where they are. BLY_ECORRUPT, BLY_EVERSION. */
bly_status links_check_head(const uint8_t *head, uint64_t bytes,
                            uint64_t links);
bly_status links_check_options(uint32_t options, uint32_t growth);
bly_status links_check_bits(const uint8_t *head, uint64_t link);
bly_status links_check_link(const bly_link *link, size_t at);

/* BLY_ECORRUPT. */
bly_status links_wrong(uint64_t at, const char *what);

/* ---- Keys -------------------------------------------------------------- */

/* The two hashes of a key, from which its places in all links come. */
void links_hash(uint64_t h[2], const void *key, size_t length);

/* How the places of a link's keys are made. */
static inline strides links_strides(uint64_t m, uint32_t k)
{
    return (strides){ .m = m, .k = k, .form = STRIDES_PLAIN, .width = 64 };
}

/* The bits of a link. It may be one that was changed after it was checked: one
 * whose bits do not fit into `room` has none, and then all keys are there. */
static inline probes_row links_row(const bly_link *link, const uint8_t *bits,
                                   uint64_t room)
{
    bool fits = link->bytes >= 8 && link->bytes <= room;
    probes_row row = {
        .row = probes_bytes(bits), .bytes = fits ? (size_t)link->bytes : 0,
        .m = fits ? 8 * link->bytes : 1,
        .k = !fits ? 0 : link->probes < LINKS_K_MAX ? link->probes
                                                    : LINKS_K_MAX,
    };
    row.from = links_strides(row.m, (uint32_t)row.k);
    row.inverse = probes_inverse(row.m);
    return row;
}

/* A key's bytes are here those of its two hashes, made once for all links. */
static inline void links_begin(const probes_row *row, probes_key *key)
{
    (void)row;
    memcpy(key->state, key->bytes, 2 * sizeof *key->state);
}

static inline uint64_t links_place(const probes_row *row, probes_key *key,
                                   uint64_t i)
{
    uint64_t h = key->state[0];
    (void)i;
    key->state[0] += key->state[1];
    return probes_mod(row, h);
}

/* A way from the last link to the first: the bits of the next one, or false
 * where there is none. */
typedef bool links_walk(void *walk, probes_row *row);

PLATFORM_INLINE bool links_have(void *walk, links_walk *next,
                                const uint64_t h[2])
{
    probes_row row;
    while (next(walk, &row)) {
        probes_key key = { .bytes = h };
        if (probes_has(&row, &key, links_begin, links_place))
            return true;
    }
    return false;
}

/* Set the bits of a key. BLY_OK; BLY_SEEN: they were. */
static inline bly_status links_put(const probes_row *row, const uint64_t h[2])
{
    probes_key key = { .bytes = h };
    return probes_put(row, &key, links_begin, links_place);
}

/* Up to PROBES_GROUP keys on their way through the links. */
typedef struct {
    uint64_t h[PROBES_GROUP][2];
    uint8_t  left[PROBES_GROUP];        /* those that no link had so far     */
    size_t   n;
} links_keys;

static inline void links_keys_begin(links_keys *of, const bly_key *keys,
                                    size_t n, bool *present)
{
    for (size_t i = 0; i < n; i++) {
        links_hash(of->h[i], keys[i].data, keys[i].length);
        of->left[i] = (uint8_t)i;
        present[i] = false;
    }
    of->n = n;
}

/* Which of those that are left has this link? */
PLATFORM_INLINE void links_query(links_keys *of, const probes_row *row,
                                 bool *present)
{
    probes_key asked[PROBES_GROUP];
    bool has[PROBES_GROUP];
    size_t some = of->n;
    for (size_t j = 0; j < some; j++)
        asked[j] = (probes_key){ .bytes = of->h[of->left[j]] };
    probes_group(row, asked, some, has, links_begin, links_place);
    of->n = 0;
    for (size_t j = 0; j < some; j++) {
        present[of->left[j]] = has[j];
        of->left[of->n] = of->left[j];
        of->n += !has[j];
    }
}

PLATFORM_INLINE void links_group(void *walk, links_walk *next,
                                 const bly_key *keys, size_t n, bool *present)
{
    probes_row row;
    links_keys of;
    links_keys_begin(&of, keys, n, present);
    while (of.n > 0 && next(walk, &row))
        links_query(&of, &row, present);
}

/* Bring the bits of those that are left, which this link is to get. */
static inline void links_bring(const links_keys *of, const probes_row *row)
{
    probes_key asked[PROBES_GROUP];
    for (size_t j = 0; j < of->n; j++)
        asked[j] = (probes_key){ .bytes = of->h[of->left[j]] };
    probes_bring(row, asked, of->n, links_begin, links_place);
}

#endif /* BLY_BODIES_LINKS_H */
