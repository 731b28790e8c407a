/* cuckoo.c - the type of CF.*: tables of fingerprints, each with memory of its
 * own.
 *
 * A dump has RedisBloom's format: type MBbloomCF, version 4: tables, buckets of
 * the first, keys, removed keys, slots per bucket, moves, expansion; and for
 * each table its buckets and its slots. All of it is verified before use, since
 * anyone who may send RESTORE can craft a dump.
 */
#include "redis/cuckoo.h"

#include <string.h>

enum { CUCKOO_VERSION = 4 };

server_type *redis_cuckoo_type;

/* ---- Values -------------------------------------------------------------- */

/* Creates a filter with room for the pointers of its tables, all NULL. */
static cuckoo *redis_cuckoo_bare(const bly_tables *tables)
{
    cuckoo *filter = server_allocate_zeroed(1, sizeof *filter);
    filter->tables = *tables;
    filter->tables.table = filter->table
        = server_allocate_zeroed((size_t)tables->n, sizeof *filter->table);
    return filter;
}

/* Frees a filter; accepts NULL. */
static void redis_cuckoo_free(void *value)
{
    cuckoo *filter = value;
    for (uint64_t i = 0; filter != NULL && i < filter->tables.n; i++)
        server_release(filter->table[i]);
    if (filter != NULL)
        server_release(filter->table);
    server_release(filter);
}

static uint64_t cuckoo_slots(const bly_tables *tables)
{
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < tables->n; i++)
        bytes += bly_tables_bytes(tables, i);
    return bytes;
}

cuckoo *redis_cuckoo_new(server_context *context, const bly_tables *tables)
{
    if (!redis_memory_room(context, cuckoo_slots(tables)))
        return NULL;
    cuckoo *filter = redis_cuckoo_bare(tables);
    for (uint64_t i = 0; i < tables->n; i++) {
        filter->table[i] =
            redis_memory_zeroed(context, bly_tables_bytes(tables, i));
        if (filter->table[i] == NULL) {
            redis_cuckoo_free(filter);
            return NULL;
        }
    }
    return filter;
}

bool redis_cuckoo_grow(cuckoo *filter, server_context *context)
{
    uint64_t n = filter->tables.n;
    uint64_t bytes = bly_tables_bytes(&filter->tables, n);
    void *more = bytes == 0 ? NULL : redis_memory_zeroed(context, bytes);
    if (more == NULL)
        return false;
    void **table = server_allocate((size_t)(n + 1) * sizeof *table);
    memcpy(table, filter->table, (size_t)n * sizeof *table);
    table[n] = more;
    server_release(filter->table);
    filter->tables.table = filter->table = table;
    filter->tables.n = n + 1;
    return true;
}

void redis_cuckoo_shrink(cuckoo *filter, uint64_t were)
{
    for (uint64_t i = filter->tables.n; i < were; i++) {
        server_release(filter->table[i]);
        filter->table[i] = NULL;
    }
}

uint64_t redis_cuckoo_bytes(const cuckoo *filter)
{
    return CUCKOO_OWN + filter->tables.n * CUCKOO_TABLE_OWN
         + cuckoo_slots(&filter->tables);
}

uint8_t *redis_cuckoo_at(const cuckoo *filter, uint64_t *at, uint64_t *bytes)
{
    for (uint64_t i = 0; i < filter->tables.n; i++) {
        *bytes = bly_tables_bytes(&filter->tables, i);
        if (*at < *bytes)
            return filter->table[i];
        *at -= *bytes;
    }
    return NULL;
}

/* ---- Dumps --------------------------------------------------------------- */

static void redis_cuckoo_save(server_io *rdb, void *value)
{
    const cuckoo *filter = value;
    const bly_tables *tables = &filter->tables;
    uint64_t buckets = tables->buckets;
    server_save_unsigned(rdb, tables->n);
    server_save_unsigned(rdb, tables->buckets);
    server_save_unsigned(rdb, tables->items);
    server_save_unsigned(rdb, tables->removed);
    server_save_unsigned(rdb, tables->slots);
    server_save_unsigned(rdb, tables->moves);
    server_save_unsigned(rdb, tables->expansion);
    for (uint64_t i = 0; i < tables->n; i++) {
        server_save_unsigned(rdb, buckets);
        server_save_bytes(rdb, filter->table[i],
                          (size_t)bly_tables_bytes(tables, i));
        buckets *= tables->expansion;
    }
}

static uint16_t redis_cuckoo_small(server_io *rdb, bool *right)
{
    uint64_t number = server_load_unsigned(rdb);
    *right &= number <= UINT16_MAX;
    return (uint16_t)number;
}

/* Reads the tables, and keeps the slots as the server allocated them. */
static bool redis_cuckoo_load_tables(cuckoo *filter, server_io *rdb)
{
    const bly_tables *tables = &filter->tables;
    uint64_t buckets = tables->buckets;
    for (uint64_t i = 0; i < tables->n; i++) {
        size_t bytes = 0;
        uint64_t said = server_load_unsigned(rdb);
        if (server_io_error(rdb))
            return false;
        filter->table[i] = server_load_bytes(rdb, &bytes);
        if (filter->table[i] == NULL || said != buckets
            || bytes != bly_tables_bytes(tables, i))
            return false;
        buckets *= tables->expansion;
    }
    return true;
}

static void *redis_cuckoo_load(server_io *rdb, int version)
{
    uint8_t head[BLY_TABLES_HEAD];
    bool right = true;
    if (version != CUCKOO_VERSION) {
        server_log_io(rdb, "warning", "a cuckoo filter has version %d of its "
                      "format, but only 4 is known: load it into the module "
                      "that wrote it, and dump it with CF.SCANDUMP", version);
        return NULL;
    }
    bly_tables tables = { .n = server_load_unsigned(rdb) };
    tables.buckets = server_load_unsigned(rdb);
    tables.items = server_load_unsigned(rdb);
    tables.removed = server_load_unsigned(rdb);
    tables.slots = redis_cuckoo_small(rdb, &right);
    tables.moves = redis_cuckoo_small(rdb, &right);
    tables.expansion = redis_cuckoo_small(rdb, &right);
    if (server_io_error(rdb))
        return NULL;
    bly_tables_write(head, &tables);
    const char *wrong = right ? NULL : "a number has more than 16 bits";
    if (right && bly_tables_read(&tables, head, sizeof head) != BLY_OK)
        wrong = bly_why_in("redis");
    cuckoo *filter = wrong == NULL ? redis_cuckoo_bare(&tables) : NULL;
    if (wrong == NULL && redis_cuckoo_load_tables(filter, rdb))
        return filter;
    if (!server_io_error(rdb))
        server_log_io(rdb, "warning", "a cuckoo filter is damaged: %s",
                      wrong != NULL ? wrong : "the sizes of its tables do not "
                                              "match its header");
    redis_cuckoo_free(filter);
    return NULL;
}

/* Writes the chunks of CF.SCANDUMP to the append-only file, also for an empty
   filter. */
static void redis_cuckoo_rewrite(server_io *aof, server_string *key,
                                 void *value)
{
    const cuckoo *filter = value;
    uint8_t head[BLY_TABLES_HEAD];
    uint64_t before = 0;
    bly_tables_write(head, &filter->tables);
    server_emit(aof, "CF.LOADCHUNK", "slb", key, 1LL, head, sizeof head);
    for (uint64_t i = 0; i < filter->tables.n; i++) {
        uint64_t bytes = bly_tables_bytes(&filter->tables, i);
        const uint8_t *slots = filter->table[i];
        for (uint64_t at = 0; at < bytes;) {
            size_t some = bytes - at < MODULE_CHUNK ? (size_t)(bytes - at)
                                                    : MODULE_CHUNK;
            server_emit(aof, "CF.LOADCHUNK", "slb", key,
                        (long long)(1 + before + at + some), slots + at, some);
            at += some;
        }
        before += bytes;
    }
}

/* ---- Memory, copies and digests ---------------------------------------- */

static size_t redis_cuckoo_usage(const void *value)
{
    return (size_t)redis_cuckoo_bytes(value);
}

static size_t redis_cuckoo_effort(server_string *key, const void *value)
{
    (void)key;
    return (size_t)(redis_cuckoo_bytes(value) / MODULE_PAGE) + 1;
}

static void redis_cuckoo_digest(server_digest *digest, void *value)
{
    const cuckoo *filter = value;
    uint8_t head[BLY_TABLES_HEAD];
    bly_tables_write(head, &filter->tables);
    server_digest_bytes(digest, (const char *)head, sizeof head);
    for (uint64_t i = 0; i < filter->tables.n; i++)
        server_digest_bytes(digest, filter->table[i],
                            (size_t)bly_tables_bytes(&filter->tables, i));
    server_digest_end(digest);
}

static void *redis_cuckoo_copy(server_string *from, server_string *to,
                               const void *value)
{
    const cuckoo *filter = value;
    cuckoo *copy = redis_cuckoo_bare(&filter->tables);
    (void)from;
    (void)to;
    for (uint64_t i = 0; i < filter->tables.n; i++) {
        size_t bytes = (size_t)bly_tables_bytes(&filter->tables, i);
        copy->table[i] = server_try_allocate(bytes);
        if (copy->table[i] == NULL) {
            redis_cuckoo_free(copy);
            return NULL;
        }
        memcpy(copy->table[i], filter->table[i], bytes);
    }
    return copy;
}

static int redis_cuckoo_defrag(server_defrag *defrag, server_string *key,
                               void **value)
{
    (void)key;
    redis_memory_move(defrag, value);
    cuckoo *filter = *value;
    void *table = filter->table;
    redis_memory_move(defrag, &table);
    filter->tables.table = filter->table = table;
    for (uint64_t i = 0; i < filter->tables.n; i++)
        redis_memory_move(defrag, &filter->table[i]);
    return 0;
}

bool redis_cuckoo_register(server_context *context)
{
    server_methods methods = {
        .version = SERVER_TYPE_METHODS,
        .rdb_load = redis_cuckoo_load, .rdb_save = redis_cuckoo_save,
        .aof_rewrite = redis_cuckoo_rewrite, .mem_usage = redis_cuckoo_usage,
        .digest = redis_cuckoo_digest, .free = redis_cuckoo_free,
        .free_effort = redis_cuckoo_effort, .copy = redis_cuckoo_copy,
        .defrag = redis_cuckoo_defrag,
    };
    redis_cuckoo_type = server_create_type(context, "MBbloomCF", CUCKOO_VERSION,
                                           &methods);
    return redis_cuckoo_type != NULL;
}
