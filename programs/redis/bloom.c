/* bloom.c - the type of BF.*: a chain of Bloom filters, each link with memory
 * of its own.
 *
 * A dump has RedisBloom's format: type MBbloom--, version 4, with numbers and
 * strings as the server writes them:
 *
 *      keys, links, options, growth; and for each link: capacity, rate, hash
 *      functions, bits a key, bits, 0 or the logarithm of its bits, the bits
 *      themselves, keys in it
 *
 * All of it is verified before use, since anyone who may send RESTORE can craft
 * a dump.
 */
#include "redis/bloom.h"

#include <string.h>

enum { BLOOM_VERSION = 4 };

server_type *bloom_type;

/* ---- Values -------------------------------------------------------------- */

bloom *bloom_new(uint32_t options, uint32_t growth)
{
    bloom *filter = server_allocate_zeroed(1, sizeof *filter);
    filter->options = options;
    filter->growth = growth;
    return filter;
}

void bloom_free(void *value)
{
    bloom *filter = value;
    for (uint32_t i = 0; filter != NULL && i < filter->n; i++)
        server_release(filter->links[i].bits);
    if (filter != NULL)
        server_release(filter->links);
    server_release(filter);
}

/* Appends a link as it is. */
static bly_link *bloom_more(bloom *filter, const bly_link *link)
{
    bly_link *links = server_allocate((filter->n + 1) * sizeof *links);
    if (filter->n > 0)
        memcpy(links, filter->links, filter->n * sizeof *links);
    links[filter->n] = *link;
    server_release(filter->links);
    filter->links = links;
    return &links[filter->n++];
}

bool bloom_begin(bloom *filter, server_context *context, const bly_link *link)
{
    void *bits = redis_memory_zeroed(context, link->bytes);
    if (bits == NULL)
        return false;
    bloom_more(filter, link)->bits = bits;
    return true;
}

uint64_t bloom_bytes(const bloom *filter)
{
    uint64_t bytes = BLOOM_OWN + (uint64_t)filter->n * BLOOM_LINK_OWN;
    for (uint32_t i = 0; i < filter->n; i++)
        bytes += filter->links[i].bytes;
    return bytes;
}

/* ---- Chunks -------------------------------------------------------------- */

void *bloom_head(const bloom *filter, size_t *bytes)
{
    *bytes = BLY_CHAIN_HEAD + (size_t)filter->n * BLY_CHAIN_HEAD_LINK;
    void *head = server_allocate(*bytes);
    bly_chain_write(head, filter);
    return head;
}

uint8_t *bloom_at(const bloom *filter, uint64_t at, uint64_t *left)
{
    for (uint32_t i = 0; i < filter->n; i++) {
        const bly_link *link = &filter->links[i];
        if (at < link->bytes) {
            *left = link->bytes - at;
            return (uint8_t *)link->bits + at;
        }
        at -= link->bytes;
    }
    return NULL;
}

/* Returns whether there is memory for all links together. */
static bool bloom_has_room(const bloom *filter, server_context *context)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < filter->n; i++)
        if (__builtin_add_overflow(bytes, filter->links[i].bytes, &bytes))
            return false;
    return redis_memory_room(context, bytes);
}

bloom *bloom_of_head(server_context *context, const void *head, size_t bytes)
{
    uint32_t links;
    if (bly_chain_check(&links, head, bytes) != BLY_OK)
        return NULL;
    bloom read = { .links = server_allocate(links * sizeof *read.links) };
    bly_chain_read(&read, head);
    bloom *filter = bloom_has_room(&read, context)
                  ? bloom_new(read.options, read.growth) : NULL;
    for (uint32_t i = 0; filter != NULL && i < links; i++)
        if (!bloom_begin(filter, context, &read.links[i])) {
            bloom_free(filter);
            filter = NULL;
        }
    server_release(read.links);
    return filter;
}

/* ---- Dumps --------------------------------------------------------------- */

static void bloom_save(server_io *rdb, void *value)
{
    const bloom *filter = value;
    server_save_unsigned(rdb, bly_chain_items(filter));
    server_save_unsigned(rdb, filter->n);
    server_save_unsigned(rdb, filter->options);
    server_save_unsigned(rdb, filter->growth);
    for (uint32_t i = 0; i < filter->n; i++) {
        const bly_link *link = &filter->links[i];
        server_save_unsigned(rdb, link->capacity);
        server_save_double(rdb, link->rate);
        server_save_unsigned(rdb, link->probes);
        server_save_double(rdb, link->per_key);
        server_save_unsigned(rdb, 8 * link->bytes);
        server_save_unsigned(rdb, link->power);
        server_save_bytes(rdb, link->bits, (size_t)link->bytes);
        server_save_unsigned(rdb, link->items);
    }
}

/* Reads a number that has 32 bits here; no larger value can be valid. */
static uint32_t bloom_small(server_io *rdb)
{
    uint64_t number = server_load_unsigned(rdb);
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* Reads a link, and keeps the bits as the server allocated them. Returns false
 * if reading fails or the number of bits is wrong. */
static bool bloom_load_link(bloom *filter, server_io *rdb)
{
    bly_link link = { .capacity = server_load_unsigned(rdb) };
    link.rate = server_load_double(rdb);
    link.probes = bloom_small(rdb);
    link.per_key = server_load_double(rdb);
    uint64_t bits = server_load_unsigned(rdb);
    link.power = bloom_small(rdb);
    if (server_io_error(rdb))
        return false;
    size_t bytes = 0;
    link.bits = server_load_bytes(rdb, &bytes);
    if (link.bits == NULL)
        return false;
    link.bytes = bytes;
    link.items = server_load_unsigned(rdb);
    bloom_more(filter, &link);
    return !server_io_error(rdb) && bits % 8 == 0 && bits / 8 == bytes;
}

static void *bloom_load(server_io *rdb, int version)
{
    if (version != BLOOM_VERSION) {
        server_log_io(rdb, "warning", "a Bloom filter has version %d of its "
                      "format, but only 4 is known: load it into the module "
                      "that wrote it, and dump it with BF.SCANDUMP", version);
        return NULL;
    }
    uint64_t items = server_load_unsigned(rdb);
    uint64_t links = server_load_unsigned(rdb);
    uint32_t options = bloom_small(rdb), growth = bloom_small(rdb);
    if (server_io_error(rdb) || links == 0 || links > BLY_CHAIN_LINKS)
        return NULL;
    bloom *filter = bloom_new(options, growth);
    const char *wrong = NULL;
    for (uint64_t i = 0; wrong == NULL && i < links; i++)
        if (!bloom_load_link(filter, rdb))
            wrong = "the number of its bits does not match its header";
    if (wrong == NULL && bly_chain_verify(filter) != BLY_OK)
        wrong = bly_why_in("redis");
    if (wrong == NULL && bly_chain_items(filter) != items)
        wrong = "the number of its items is not the sum of those of its links";
    if (wrong == NULL)
        return filter;
    if (!server_io_error(rdb))
        server_log_io(rdb, "warning", "a Bloom filter is damaged: %s", wrong);
    bloom_free(filter);
    return NULL;
}

/* Writes the same chunks as BF.SCANDUMP to the append-only file. */
static void bloom_rewrite(server_io *aof, server_string *key, void *value)
{
    const bloom *filter = value;
    size_t bytes;
    void *head = bloom_head(filter, &bytes);
    server_emit(aof, "BF.LOADCHUNK", "slb", key, 1LL, head, bytes);
    server_release(head);
    uint64_t left;
    const uint8_t *bits;
    for (uint64_t at = 0; (bits = bloom_at(filter, at, &left)) != NULL;) {
        size_t some = left < MODULE_CHUNK ? (size_t)left : MODULE_CHUNK;
        at += some;
        server_emit(aof, "BF.LOADCHUNK", "slb", key, (long long)(1 + at), bits,
                    some);
    }
}

/* ---- Memory, copies and digests ---------------------------------------- */

static size_t bloom_usage(const void *value)
{
    return (size_t)bloom_bytes(value);
}

static size_t bloom_effort(server_string *key, const void *value)
{
    (void)key;
    return (size_t)(bloom_bytes(value) / MODULE_PAGE) + 1;
}

static void bloom_digest(server_digest *digest, void *value)
{
    const bloom *filter = value;
    size_t bytes;
    void *head = bloom_head(filter, &bytes);
    server_digest_bytes(digest, head, bytes);
    server_release(head);
    for (uint32_t i = 0; i < filter->n; i++)
        server_digest_bytes(digest, filter->links[i].bits,
                            (size_t)filter->links[i].bytes);
    server_digest_end(digest);
}

static void *bloom_copy(server_string *from, server_string *to,
                        const void *value)
{
    const bloom *filter = value;
    bloom *copy = bloom_new(filter->options, filter->growth);
    (void)from;
    (void)to;
    for (uint32_t i = 0; i < filter->n; i++) {
        const bly_link *link = &filter->links[i];
        void *bits = server_try_allocate((size_t)link->bytes);
        if (bits == NULL) {
            bloom_free(copy);
            return NULL;
        }
        memcpy(bits, link->bits, (size_t)link->bytes);
        bloom_more(copy, link)->bits = bits;
    }
    return copy;
}

static int bloom_defrag(server_defrag *defrag, server_string *key,
                        void **value)
{
    (void)key;
    redis_memory_move(defrag, value);
    bloom *filter = *value;
    void *links = filter->links;
    redis_memory_move(defrag, &links);
    filter->links = links;
    for (uint32_t i = 0; i < filter->n; i++)
        redis_memory_move(defrag, &filter->links[i].bits);
    return 0;
}

bool bloom_register(server_context *context)
{
    server_methods methods = {
        .version = SERVER_TYPE_METHODS,
        .rdb_load = bloom_load, .rdb_save = bloom_save,
        .aof_rewrite = bloom_rewrite, .mem_usage = bloom_usage,
        .digest = bloom_digest, .free = bloom_free,
        .free_effort = bloom_effort, .copy = bloom_copy,
        .defrag = bloom_defrag,
    };
    bloom_type = server_create_type(context, "MBbloom--", BLOOM_VERSION,
                                    &methods);
    return bloom_type != NULL;
}
