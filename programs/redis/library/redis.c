/* redis.c - implements <bloomery/redis.h>: filters of Redis' module, piece by
 * piece.
 */
#include "bloomery/redis.h"

#include "base/status.h"
#include "bodies/links.h"
#include "bodies/tables.h"
#include "image/image.h"
#include "verbs/keylist.h"

/* ---- A chain ------------------------------------------------------------ */

static bly_status redis_too_big(const char *what)
{
    return status_fail(BLY_ETOOBIG, "%s would have more than 2^63 bits: divide "
                       "the keys among several filters", what);
}

static bly_status redis_no_keys(void)
{
    return status_fail(BLY_EPARAM, "the filter has no capacity: give the "
                       "number of keys that it should hold");
}

bly_status bly_chain_plan(bly_link *out, uint64_t capacity, double rate)
{
    if (capacity == 0)
        return redis_no_keys();
    if (!(rate > 0 && rate < 1))
        return status_fail(BLY_EPARAM, "the rate %g is not between 0 and 1: "
                           "give one such as 0.01", rate);
    return links_plan(out, capacity, rate) ? BLY_OK
         : redis_too_big("the filter");
}

bly_status bly_chain_next(bly_link *out, const bly_chain *chain)
{
    if (chain->growth == 0 || (chain->options & BLY_CHAIN_FIXED) != 0)
        return status_fail(BLY_EFULL, "the filter is full and does not grow: "
                           "make one for more keys");
    return chain->n < BLY_CHAIN_LINKS
        && links_next(out, &chain->links[chain->n - 1], chain->growth)
         ? BLY_OK : redis_too_big("the filter is full, and its next link");
}

/* Walks the links from the last to the first. */
typedef struct {
    const bly_link *link;
    uint32_t        left;
} redis_walk;

/* Implements chains_walk. */
static bool redis_before(void *context, probes_row *row)
{
    redis_walk *walk = context;
    if (walk->left == 0)
        return false;
    const bly_link *link = &walk->link[--walk->left];
    *row = links_row(link, link->bits, link->bytes);
    return true;
}

static redis_walk redis_start(const bly_chain *chain)
{
    return (redis_walk){ chain->links, chain->n };
}

bool bly_chain_contains(const bly_chain *chain, const void *key, size_t length)
{
    redis_walk walk = redis_start(chain);
    uint64_t h[2];
    links_hash(h, key, length);
    return chains_have(&walk, redis_before, h, links_place);
}

static bly_status redis_keys(const bly_keys *keys, bool *present)
{
    bly_status status = keylist_check(keys);
    for (size_t i = 0; status != BLY_OK && i < keys->n; i++)
        present[i] = true;
    return status;
}

bly_status bly_chain_contains_many(const bly_chain *chain, const bly_keys *keys,
                                   bool *present)
{
    bly_status status = redis_keys(keys, present);
    for (size_t i = 0, some; status == BLY_OK && i < keys->n; i += some) {
        redis_walk walk = redis_start(chain);
        bly_key group[PROBES_GROUP];
        some = keys->n - i < PROBES_GROUP ? keys->n - i : PROBES_GROUP;
        for (size_t j = 0; j < some; j++)
            group[j] = keylist_at(keys, i + j);
        links_group(&walk, redis_before, group, some, present + i);
    }
    return status;
}

/* Adds to a link a key that no older one contains. */
static bly_status redis_put(bly_link *link, const probes_row *row,
                            const uint64_t h[2])
{
    probes_key key = { .bytes = h };
    if (link->items >= link->capacity)
        return probes_has(row, &key, chains_begin, links_place)
             ? BLY_SEEN : status_plain(BLY_EFULL);
    bly_status status = chains_put(row, h, links_place);
    link->items += status == BLY_OK;
    return status;
}

/* Adds up to PROBES_GROUP keys: queries all links but the last for all of them,
 * and prefetches from the last one what the rest need. */
static bly_status redis_add_group(bly_chain *chain, const bly_key *keys,
                                  size_t n, bool *seen, size_t *done)
{
    bly_link *last = &chain->links[chain->n - 1];
    const probes_row to = links_row(last, last->bits, last->bytes);
    redis_walk walk = { chain->links, chain->n - 1 };
    chains_keys of;
    probes_row row;
    links_start(&of, keys, n, seen);
    while (of.n > 0 && redis_before(&walk, &row))
        chains_query(&of, &row, seen, links_place);
    chains_bring(&of, &to, links_place);
    for (size_t j = 0; j < of.n; j++) {
        size_t i = of.left[j];
        bly_status status = redis_put(last, &to, of.h[i]);
        *done = i;
        if (status < 0)
            return status;
        seen[i] = status == BLY_SEEN;
    }
    *done = n;
    return BLY_OK;
}

bly_status bly_chain_add_many(bly_chain *chain, const bly_keys *keys,
                              bool *seen, size_t *done)
{
    bly_status status = keylist_check(keys);
    *done = 0;
    for (size_t i = 0, some; status == BLY_OK && i < keys->n; i = *done) {
        bly_key group[PROBES_GROUP];
        size_t in;
        some = keys->n - i < PROBES_GROUP ? keys->n - i : PROBES_GROUP;
        for (size_t j = 0; j < some; j++)
            group[j] = keylist_at(keys, i + j);
        status = redis_add_group(chain, group, some, seen + i, &in);
        *done = i + in;
    }
    return status;
}

bly_status bly_chain_add(bly_chain *chain, const void *key, size_t length)
{
    const bly_key one = { key, length };
    size_t done;
    bool seen;
    bly_status status = redis_add_group(chain, &one, 1, &seen, &done);
    return status == BLY_OK && seen ? BLY_SEEN : status;
}

uint64_t bly_chain_items(const bly_chain *chain)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < chain->n; i++)
        items += chain->links[i].items;
    return items;
}

void bly_chain_write(void *into, const bly_chain *chain)
{
    image_set_u64(into, LINKS_AT_ITEMS, bly_chain_items(chain));
    image_set_u32(into, LINKS_AT_LINKS, chain->n);
    image_set_u32(into, LINKS_AT_OPTIONS, chain->options);
    image_set_u32(into, LINKS_AT_GROWTH, chain->growth);
    for (uint32_t i = 0; i < chain->n; i++)
        links_write(into, i, &chain->links[i]);
}

bly_status bly_chain_check(uint32_t *links, const void *head, size_t bytes)
{
    uint32_t n = bytes < BLY_CHAIN_HEAD ? 0 : image_u32(head, LINKS_AT_LINKS);
    bly_status status = links_check_head(head, bytes, n);
    uint64_t items = 0;
    if (status == BLY_OK && bytes != links_at(n))
        status = links_wrong(links_at(n), "the header continues after its last "
                             "link");
    for (uint32_t i = 0; status == BLY_OK && i < n; i++) {
        bly_link link = links_look(head, i);
        status = links_check_bits(head, i);
        if (status == BLY_OK)
            status = links_check_link(&link, links_at(i));
        items += link.items;
    }
    if (status == BLY_OK && items != image_u64(head, LINKS_AT_ITEMS))
        status = links_wrong(LINKS_AT_ITEMS, "the number of keys is not the "
                             "sum of those of the links");
    if (status == BLY_OK)
        *links = n;
    return status;
}

void bly_chain_read(bly_chain *chain, const void *head)
{
    chain->n = image_u32(head, LINKS_AT_LINKS);
    chain->options = image_u32(head, LINKS_AT_OPTIONS);
    chain->growth = image_u32(head, LINKS_AT_GROWTH);
    for (uint32_t i = 0; i < chain->n; i++)
        chain->links[i] = links_look(head, i);
}

bly_status bly_chain_verify(const bly_chain *chain)
{
    bly_status status = links_check_options(chain->options, chain->growth);
    if (chain->n == 0 || chain->n > BLY_CHAIN_LINKS)
        return links_wrong(LINKS_AT_LINKS, "it has no links, or more than "
                           "there are rates for");
    for (uint32_t i = 0; status == BLY_OK && i < chain->n; i++)
        status = links_check_link(&chain->links[i], links_at(i));
    return status;
}

/* ---- Tables ------------------------------------------------------------- */

bly_status bly_tables_plan(bly_tables *out, uint64_t capacity, uint16_t slots,
                           uint16_t moves, uint16_t expansion)
{
    if (capacity == 0)
        return redis_no_keys();
    if (slots == 0 || slots > TABLES_SLOTS_MOST || moves == 0
        || expansion > TABLES_EXPANSION_MOST)
        return status_fail(BLY_EPARAM, "a bucket has 1 .. 255 slots, an "
                           "insertion moves 1 .. 65535 fingerprints, and the "
                           "expansion is 0 .. 32768");
    bly_tables tables = {
        .n = 1, .buckets = tables_power_above(capacity / slots),
        .slots = slots, .moves = moves,
        .expansion = expansion == 0 ? 0
                   : (uint16_t)tables_power_above(expansion),
    };
    if (bly_tables_bytes(&tables, 0) == 0)
        return redis_too_big("the filter");
    *out = tables;
    return BLY_OK;
}

uint64_t bly_tables_bytes(const bly_tables *tables, uint64_t i)
{
    uint64_t before = 0, all = 0;
    return i < BLY_TABLES_MOST && (i == 0 || tables->expansion > 0)
        && tables_slots(&before, tables, i)
        && tables_slots(&all, tables, i + 1) ? all - before : 0;
}

static tables_walk redis_last(const bly_tables *tables)
{
    return tables_last(tables, NULL);
}

bly_status bly_tables_add(bly_tables *tables, const void *key, size_t length)
{
    if (!tables_put(redis_last(tables), tables_hash(key, length),
                    tables->moves))
        return status_plain(BLY_EFULL);
    tables->items++;
    return BLY_OK;
}

bool bly_tables_contains(const bly_tables *tables, const void *key,
                         size_t length)
{
    return tables_contain(redis_last(tables), tables_hash(key, length));
}

bly_status bly_tables_contains_keys(const bly_tables *tables,
                                    const bly_keys *keys, bool *present)
{
    bly_status status = redis_keys(keys, present);
    for (size_t i = 0, some; status == BLY_OK && i < keys->n; i += some) {
        uint64_t hashes[PROBES_GROUP];
        some = keys->n - i < PROBES_GROUP ? keys->n - i : PROBES_GROUP;
        for (size_t j = 0; j < some; j++) {
            bly_key key = keylist_at(keys, i + j);
            hashes[j] = tables_hash(key.data, key.length);
        }
        tables_contain_many(redis_last(tables), hashes, some, present + i);
    }
    return status;
}

uint64_t bly_tables_count(const bly_tables *tables, const void *key,
                          size_t length)
{
    return tables_count(redis_last(tables), tables_hash(key, length));
}

bly_status bly_tables_remove(bly_tables *tables, const void *key,
                             size_t length)
{
    if (!tables_take(redis_last(tables), tables_hash(key, length)))
        return status_plain(BLY_EABSENT);
    tables->items -= tables->items > 0;
    tables->removed++;
    if (tables->n > 1 && (double)tables->removed > (double)tables->items * 0.10)
        bly_tables_compact(tables, false);
    return BLY_OK;
}

void bly_tables_compact(bly_tables *tables, bool all)
{
    tables_walk newer = redis_last(tables);
    while (newer.left > 0) {
        bool emptied = tables_empty(tables, &newer);
        if (emptied && newer.left == tables->n - 1)
            tables->n--;
        if (!(emptied || all))
            break;
        (void)tables_before(&newer);
    }
    tables->removed = 0;
}

void bly_tables_write(void *into, const bly_tables *tables)
{
    tables_write(into, tables);
}

bly_status bly_tables_read(bly_tables *tables, const void *head, size_t bytes)
{
    if (bytes != BLY_TABLES_HEAD)
        return status_fail(BLY_ECORRUPT, "a cuckoo filter of RedisBloom begins "
                           "with a header of 38 bytes, but there are %llu: "
                           "dump it again", (unsigned long long)bytes);
    bly_tables read = tables_look(head);
    bly_status status = tables_check(&read);
    if (status == BLY_OK)
        status = tables_check_items(&read);
    if (status == BLY_OK)
        *tables = read;
    return status;
}
