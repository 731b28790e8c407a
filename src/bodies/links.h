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

#include "bodies/chains.h"

enum {
    LINKS_AT_ITEMS = 0, LINKS_AT_LINKS = 8, LINKS_AT_OPTIONS = 12,
    LINKS_AT_GROWTH = 16,               /* in the header                     */
    LINKS_OF_ITEMS = 16,                /* in what it says of a link         */
    LINKS_ALL = 15,                     /* options                           */
    LINKS_K_MAX = 1100,                 /* above what the least rate has     */
    LINKS_GROWTH_MOST = 32768
};

/* Returns the place of a link in the header. */
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

/* Verifies the header's own numbers, and that it has room for so many links;
 * then, for each link, all its numbers and that its bits are 8 times its bytes.
 * `at` is the place of the links. BLY_ECORRUPT, BLY_EVERSION. */
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

/* Returns the scheme that places the keys of a link. */
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

static inline uint64_t links_place(const probes_row *row, probes_key *key,
                                   uint64_t i)
{
    uint64_t h = key->state[0];
    (void)i;
    key->state[0] += key->state[1];
    return probes_mod(row, h);
}

/* Starts a group of keys on their way through the links. */
static inline void links_start(chains_keys *of, const bly_key *keys, size_t n,
                               bool *present)
{
    for (size_t i = 0; i < n; i++)
        links_hash(of->h[i], keys[i].data, keys[i].length);
    chains_start(of, n, present);
}

PLATFORM_INLINE void links_group(void *walk, chains_walk *next,
                                 const bly_key *keys, size_t n, bool *present)
{
    chains_keys of;
    links_start(&of, keys, n, present);
    chains_group(walk, next, &of, present, links_place);
}

#endif /* BLY_BODIES_LINKS_H */
