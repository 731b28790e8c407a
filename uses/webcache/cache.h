/* cache.h - a cache of some bytes that evicts the least recently requested
 * object, and a filter of its URLs.
 */
#ifndef CACHE_H
#define CACHE_H

#include <bloomery.h>

#include <stdlib.h>

/* A request; bytes are UNKNOWN if the answer was 304. */
typedef struct { uint64_t url, bytes; } request;
static const uint64_t UNKNOWN = UINT64_MAX;

/* Entry 0 is both ends of the list; 0 ends a chain of the table. */
typedef struct {
    uint64_t url, bytes;
    uint32_t newer, older, next;
} entry;

typedef struct {
    entry      *entries;
    uint32_t   *chains, mask, used, free, n, peak;
    uint64_t    size, bytes, hits, bytes_hit;
    uint64_t    looks, vain;
    double      expected;
    bly_filter *filter;                 /* of the cached URLs, or NULL       */
} cache;

/* Opens a cache for that many different objects at most. */
static bool cache_open(cache *c, size_t most, uint64_t size,
                       bly_filter *filter)
{
    uint32_t chains = 1;
    while (chains < most && chains < (uint32_t)1 << 31)
        chains *= 2;
    *c = (cache){ .mask = chains - 1, .size = size, .filter = filter };
    c->entries = calloc(most + 1, sizeof *c->entries);
    c->chains = calloc(chains, sizeof *c->chains);
    return c->entries != NULL && c->chains != NULL;
}

static void cache_close(cache *c)
{
    free(c->entries);
    free(c->chains);
}

/* Returns the link to the URL's entry, existing or not. */
static uint32_t *cache_place(cache *c, uint64_t url)
{
    uint32_t *at = &c->chains[bly_mix64(url) & c->mask];
    while (*at != 0 && c->entries[*at].url != url)
        at = &c->entries[*at].next;
    return at;
}

static void cache_unlist(cache *c, uint32_t e)
{
    entry *list = c->entries;
    list[list[e].newer].older = list[e].older;
    list[list[e].older].newer = list[e].newer;
}

static void cache_make_newest(cache *c, uint32_t e)
{
    entry *list = c->entries;
    list[e].newer = 0;
    list[e].older = list[0].older;
    list[list[e].older].newer = e;
    list[0].older = e;
}

static bly_status cache_drop(cache *c, uint32_t e)
{
    uint32_t *link = cache_place(c, c->entries[e].url);
    *link = c->entries[e].next;
    cache_unlist(c, e);
    c->bytes -= c->entries[e].bytes;
    c->n--;
    c->entries[e].next = c->free;
    c->free = e;
    return c->filter != NULL ? bly_remove_hash(c->filter, c->entries[e].url)
                             : BLY_OK;
}

static bly_status cache_store(cache *c, const request *r)
{
    bly_status status = BLY_OK;
    while (status == BLY_OK && c->bytes + r->bytes > c->size)
        status = cache_drop(c, c->entries[0].newer);
    if (status != BLY_OK)
        return status;
    uint32_t e = c->free != 0 ? c->free : ++c->used;
    uint32_t *link = cache_place(c, r->url);
    c->free = c->free != 0 ? c->entries[e].next : 0;
    *link = e;
    c->entries[e] = (entry){ .url = r->url, .bytes = r->bytes };
    cache_make_newest(c, e);
    c->bytes += r->bytes;
    c->peak = ++c->n > c->peak ? c->n : c->peak;
    return c->filter != NULL ? bly_add_hash(c->filter, r->url) : BLY_OK;
}

/* Counts whether the filter sends this request to the disk. */
static void cache_ask(cache *c, const request *r, bool there, double expected)
{
    bool perhaps = c->filter == NULL || bly_contains_hash(c->filter, r->url);
    c->looks += perhaps;
    c->vain += perhaps && !there;
    c->expected += there ? 0 : expected;
}

/* Replays a request. An object that is larger than the cache is not kept. */
static bly_status cache_request(cache *c, const request *r, double expected)
{
    uint32_t e = *cache_place(c, r->url);
    cache_ask(c, r, e != 0, expected);
    if (e != 0 && (r->bytes == UNKNOWN || r->bytes == c->entries[e].bytes)) {
        c->hits++;
        c->bytes_hit += r->bytes == UNKNOWN ? 0 : r->bytes;
        cache_unlist(c, e);
        cache_make_newest(c, e);
        return BLY_OK;
    }
    bly_status status = e != 0 ? cache_drop(c, e) : BLY_OK;
    return status >= 0 && r->bytes <= c->size ? cache_store(c, r) : status;
}

#endif
