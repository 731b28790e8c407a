/* cmd_cf.c - CF.*: cuckoo filters, compatible with RedisBloom's clients.
 *
 * Error messages are RedisBloom's, several of which lack "ERR".
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "redis/cuckoo.h"

/* ---- Plans of filters -------------------------------------------------- */

typedef struct {
    long long capacity, slots, moves, expansion;
} cf_plan;

static cf_plan cf_standard(void)
{
    return (cf_plan){
        .capacity = redis_settings.cuckoo_capacity,
        .slots = redis_settings.cuckoo_slots,
        .moves = redis_settings.cuckoo_moves,
        .expansion = redis_settings.cuckoo_expansion,
    };
}

static const char CF_CAPACITY_OUT[]
    = "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]";

static const reply_range cf_capacities = {
    2, MODULE_CAPACITY_MOST, CF_CAPACITY_OUT
};
static const reply_range cf_slots = {
    1, MODULE_SLOTS_MOST, "BUCKETSIZE: value must be in the range [1, 255]"
};
static const reply_range cf_moves = {
    1, MODULE_MOVES_MOST, "MAXITERATIONS: value must be in the range [1, 65535]"
};
static const reply_range cf_expansions = {
    0, MODULE_GROWTH_MOST, "EXPANSION: value must be in the range [0, 32768]"
};

/* Creates a filter at an empty key. Returns NULL after an error reply. */
static cuckoo *cf_make(server_context *context, server_key *key,
                       const cf_plan *plan)
{
    bly_tables tables;
    if (plan->capacity < 2 * plan->slots) {
        server_reply_error(context, CF_CAPACITY_OUT);
        return NULL;
    }
    if (bly_tables_plan(&tables, (uint64_t)plan->capacity,
                        (uint16_t)plan->slots, (uint16_t)plan->moves,
                        (uint16_t)plan->expansion) != BLY_OK) {
        server_reply_error(context, "ERR Could not create filter");
        return NULL;
    }
    cuckoo *filter = redis_cuckoo_new(context, &tables);
    if (filter == NULL)
        server_reply_error(context, "ERR Insufficient memory");
    else
        server_set_value(key, redis_cuckoo_type, filter);
    return filter;
}

/* Reads the pairs after the capacity. Returns false after an error reply. */
static bool cf_reserve_words(cf_plan *plan, server_context *context,
                             server_string **argv, int argc)
{
    const struct {
        const char *word, *bad;
        const reply_range *range;
        long long *into;
    } words[] = {
        { "BUCKETSIZE", "Couldn't parse BUCKETSIZE", &cf_slots, &plan->slots },
        { "MAXITERATIONS", "Couldn't parse MAXITERATIONS", &cf_moves,
          &plan->moves },
        { "EXPANSION", "Couldn't parse EXPANSION", &cf_expansions,
          &plan->expansion },
    };
    const size_t n = sizeof words / sizeof *words;
    for (int i = 3; i + 1 < argc; i += 2) {
        size_t w = 0;
        while (w < n && !reply_is_word(argv[i], words[w].word))
            w++;
        if (w == n) {
            server_reply_error(context, "Unknown argument received");
            return false;
        }
        if (!reply_number(words[w].into, context, argv[i + 1], words[w].range,
                          words[w].bad))
            return false;
    }
    return true;
}

/* Replicates a new filter, as bf_replicate_made does for BF.*. */
static void cf_replicate_made(server_context *context, server_string *name,
                              const cf_plan *plan)
{
    server_replicate_as(context, "CF.RESERVE", "slclclcl", name,
                        plan->capacity, "BUCKETSIZE", plan->slots,
                        "MAXITERATIONS", plan->moves, "EXPANSION",
                        plan->expansion);
}

static int cf_reserve(server_context *context, server_string **argv, int argc)
{
    cf_plan plan = cf_standard();
    if (argc < 3 || argc % 2 == 0)
        return server_wrong_arity(context);
    if (!reply_number(&plan.capacity, context, argv[2], &cf_capacities,
                      "Bad capacity")
        || !cf_reserve_words(&plan, context, argv, argc))
        return SERVER_OK;
    void *filter;
    server_key *key;
    found what = reply_find(&filter, &key, context, argv[1], redis_cuckoo_type);
    if (what != FOUND_NONE)
        return reply_refuse(context, what);
    if (cf_make(context, key, &plan) == NULL)
        return SERVER_OK;
    cf_replicate_made(context, argv[1], &plan);
    server_notify(context, SERVER_NOTIFY_MODULE, "cf.reserve", argv[1]);
    return server_reply_simple(context, "OK");
}

/* ---- Adding -------------------------------------------------------------- */

/* Adds an item. Returns BLY_OK, BLY_SEEN (with `once`, if it is present),
   BLY_EFULL or BLY_ENOMEM. */
static bly_status cf_put(server_context *context, cuckoo *filter,
                         const server_string *argument, bool once)
{
    bly_key key = reply_key(argument);
    bly_tables *tables = &filter->tables;
    if (once && bly_tables_contains(tables, key.data, key.length))
        return BLY_SEEN;
    bly_status status = bly_tables_add(tables, key.data, key.length);
    if (status != BLY_EFULL || tables->expansion == 0)
        return status;
    return redis_cuckoo_grow(filter, context)
         ? bly_tables_add(tables, key.data, key.length) : BLY_ENOMEM;
}

/* How to handle the items of a command. */
typedef struct {
    const cf_plan *plan;                /* used to create a missing filter; if
                                           NULL, that is an error            */
    const char *event;
    int  first;                         /* index of the first item           */
    bool once, many;
} cf_job;

static int cf_reply_put(server_context *context, const cf_job *job,
                        bly_status status)
{
    if (status == BLY_ENOMEM)
        return server_reply_error(context, "ERR Insufficient memory");
    if (!job->many)
        return status == BLY_EFULL
             ? server_reply_error(context, "Filter is full")
             : server_reply_bool(context, status == BLY_OK);
    if (!job->once && reply_is_3(context))
        return server_reply_bool(context, status == BLY_OK);
    return server_reply_number(context, status == BLY_OK ? 1
                               : status == BLY_SEEN ? 0 : -1);
}

/* Returns whether a client asks. Commands from a master or a file are never
 * refused, as their data would be lost. */
static bool cf_is_asked(server_context *context)
{
    return (server_context_flags(context)
            & (SERVER_REPLICATED | SERVER_LOADING)) == 0;
}

/* Returns whether the filter has reached its maximum size. */
static bool cf_is_widest(server_context *context, const cuckoo *filter)
{
    return filter->tables.n >= (uint64_t)redis_settings.cuckoo_tables
        && cf_is_asked(context);
}

/* Ends all commands that add. */
static int cf_insert_into(server_context *context, server_string **argv,
                          int argc, const cf_job *job)
{
    void *value;
    server_key *key;
    found what = reply_find(&value, &key, context, argv[1], redis_cuckoo_type);
    bool made = what == FOUND_NONE && job->plan != NULL, changed = false;
    if (made)
        value = cf_make(context, key, job->plan);
    else if (what != FOUND_IT)
        return reply_refuse(context, what);
    cuckoo *filter = value;
    if (filter == NULL)
        return SERVER_OK;
    if (!made && cf_is_widest(context, filter))
        return server_reply_error(context, "Maximum expansions reached");
    if (job->many)
        server_reply_array(context, argc - job->first);
    for (int i = job->first; i < argc; i++) {
        bly_status status = cf_put(context, filter, argv[i], job->once);
        changed |= status == BLY_OK;
        cf_reply_put(context, job, status);
    }
    if (made)
        cf_replicate_made(context, argv[1], job->plan);
    if (changed)
        reply_changed(context, job->event, argv[1]);
    return SERVER_OK;
}

static int cf_add_one(server_context *context, server_string **argv, int argc,
                      bool once)
{
    cf_plan plan = cf_standard();
    cf_job job = { .plan = &plan, .event = once ? "cf.addnx" : "cf.add",
                   .first = 2, .once = once };
    return argc != 3 ? server_wrong_arity(context)
         : cf_insert_into(context, argv, argc, &job);
}

static int cf_add(server_context *context, server_string **argv, int argc)
{
    return cf_add_one(context, argv, argc, false);
}

static int cf_addnx(server_context *context, server_string **argv, int argc)
{
    return cf_add_one(context, argv, argc, true);
}

/* Reads the words before the items. Returns false after an error reply. */
static bool cf_insert_words(cf_job *job, cf_plan *plan, server_context *context,
                            server_string **argv, int argc)
{
    for (int i = 2; i + 1 < argc; i++) {
        if (reply_is_word(argv[i], "ITEMS")) {
            job->first = i + 1;
            return true;
        }
        if (reply_is_word(argv[i], "NOCREATE")) {
            job->plan = NULL;
        } else if (!reply_is_word(argv[i], "CAPACITY")) {
            server_reply_error(context, "Unknown argument received");
            return false;
        } else if (!reply_number(&plan->capacity, context, argv[++i],
                                 &cf_capacities, "Bad capacity")) {
            return false;
        } else if (plan->capacity < 2 * plan->slots && cf_is_asked(context)) {
            server_reply_error(context, CF_CAPACITY_OUT);
            return false;
        }
    }
    server_wrong_arity(context);
    return false;
}

static int cf_insert_many(server_context *context, server_string **argv,
                          int argc, bool once)
{
    cf_plan plan = cf_standard();
    cf_job job = { .plan = &plan, .event = once ? "cf.insertnx" : "cf.insert",
                   .once = once, .many = true };
    if (argc < 4)
        return server_wrong_arity(context);
    return cf_insert_words(&job, &plan, context, argv, argc)
         ? cf_insert_into(context, argv, argc, &job) : SERVER_OK;
}

static int cf_insert(server_context *context, server_string **argv, int argc)
{
    return cf_insert_many(context, argv, argc, false);
}

static int cf_insertnx(server_context *context, server_string **argv, int argc)
{
    return cf_insert_many(context, argv, argc, true);
}

/* ---- Asking -------------------------------------------------------------- */

/* Looks up items. As in RedisBloom, a missing key or one of another type
 * contains nothing; but a filter of BLY.* is refused. */
static int cf_exists(server_context *context, server_string **argv, int argc)
{
    void *value;
    if (argc != 3)
        return server_wrong_arity(context);
    if (!reply_asks(&value, context, argv[1], redis_cuckoo_type))
        return SERVER_OK;
    const cuckoo *filter = value;
    bly_key key = reply_key(argv[2]);
    return server_reply_bool(context, filter != NULL
                             && bly_tables_contains(&filter->tables, key.data,
                                                    key.length));
}

/* Implements reply_ask. */
static bly_status cf_ask(const void *filter, const bly_keys *keys,
                         bool *present)
{
    return bly_tables_contains_keys(&((const cuckoo *)filter)->tables, keys,
                                    present);
}

static int cf_mexists(server_context *context, server_string **argv, int argc)
{
    void *value;
    if (argc < 3)
        return server_wrong_arity(context);
    return reply_asks(&value, context, argv[1], redis_cuckoo_type)
         ? reply_each(context, argv, argc, value, cf_ask) : SERVER_OK;
}

static int cf_count(server_context *context, server_string **argv, int argc)
{
    void *value;
    if (argc != 3)
        return server_wrong_arity(context);
    if (!reply_asks(&value, context, argv[1], redis_cuckoo_type))
        return SERVER_OK;
    const cuckoo *filter = value;
    bly_key key = reply_key(argv[2]);
    return server_reply_number(context, filter == NULL ? 0
                               : (long long)bly_tables_count(&filter->tables,
                                                             key.data,
                                                             key.length));
}

/* ---- Removing ------------------------------------------------------------ */

static int cf_del(server_context *context, server_string **argv, int argc)
{
    void *value;
    server_key *key;
    if (argc != 3)
        return server_wrong_arity(context);
    if (reply_find(&value, &key, context, argv[1], redis_cuckoo_type)
        != FOUND_IT)
        return server_reply_error(context, "Not found");
    cuckoo *filter = value;
    uint64_t tables = filter->tables.n;
    bly_key item = reply_key(argv[2]);
    bool gone = bly_tables_remove(&filter->tables, item.data, item.length)
                == BLY_OK;
    redis_cuckoo_shrink(filter, tables);
    if (gone)
        reply_changed(context, "cf.del", argv[1]);
    return server_reply_bool(context, gone);
}

/* Compacts the filter. RedisBloom declares this command as read-only, but it
 * changes the filter and is replicated. It must be declared as a write, because
 * replication aborts a paused server. */
static int cf_compact(server_context *context, server_string **argv, int argc)
{
    if (argc != 2)
        return server_wrong_arity(context);
    cuckoo *filter = reply_look(context, argv[1], redis_cuckoo_type);
    if (filter == NULL)
        return server_reply_error(context, "Cuckoo filter was not found");
    uint64_t tables = filter->tables.n;
    bly_tables_compact(&filter->tables, true);
    redis_cuckoo_shrink(filter, tables);
    reply_changed(context, "cf.compact", argv[1]);
    return server_reply_simple(context, "OK");
}

/* ---- Looking inside ------------------------------------------------------ */

static int cf_info(server_context *context, server_string **argv, int argc)
{
    if (argc != 2)
        return server_wrong_arity(context);
    const cuckoo *filter = reply_value(context, argv[1], redis_cuckoo_type);
    if (filter == NULL)
        return SERVER_OK;
    const bly_tables *tables = &filter->tables;
    server_reply_map(context, 8);
    reply_pair(context, "Size", redis_cuckoo_bytes(filter));
    reply_pair(context, "Number of buckets", tables->buckets);
    reply_pair(context, "Number of filters", tables->n);
    reply_pair(context, "Number of items inserted", tables->items);
    reply_pair(context, "Number of items deleted", tables->removed);
    reply_pair(context, "Bucket size", tables->slots);
    reply_pair(context, "Expansion rate", tables->expansion);
    reply_pair(context, "Max iterations", tables->moves);
    return SERVER_OK;
}

static int cf_debug(server_context *context, server_string **argv, int argc)
{
    char line[256];
    if (argc != 2)
        return server_wrong_arity(context);
    const cuckoo *filter = reply_value(context, argv[1], redis_cuckoo_type);
    if (filter == NULL)
        return SERVER_OK;
    const bly_tables *tables = &filter->tables;
    int n = snprintf(line, sizeof line, "bktsize:%u buckets:%" PRIu64
                     " items:%" PRIu64 " deletes:%" PRIu64 " filters:%" PRIu64
                     " max_iterations:%u expansion:%u", tables->slots,
                     tables->buckets, tables->items, tables->removed,
                     tables->n, tables->moves, tables->expansion);
    return server_reply_bytes(context, line, (size_t)n);
}

/* ---- Chunks -------------------------------------------------------------- */

static int cf_scandump(server_context *context, server_string **argv, int argc)
{
    long long at;
    if (argc != 3)
        return server_wrong_arity(context);
    if (server_to_number(argv[2], &at) != SERVER_OK || at < 0)
        return server_reply_error(context, "Invalid position");
    const cuckoo *filter = reply_value(context, argv[1], redis_cuckoo_type);
    if (filter == NULL)
        return SERVER_OK;
    uint64_t inside = at == 0 ? 0 : (uint64_t)at - 1, bytes = 0;
    const uint8_t *table = filter->tables.items == 0 ? NULL
                         : redis_cuckoo_at(filter, &inside, &bytes);
    server_reply_array(context, 2);
    if (table == NULL) {
        server_reply_number(context, 0);
        server_reply_null(context);
    } else if (at == 0) {
        char head[BLY_TABLES_HEAD];
        bly_tables_write(head, &filter->tables);
        server_reply_number(context, 1);
        server_reply_bytes(context, head, sizeof head);
    } else {
        /* A table that fits into one chunk is sent whole, wherever in it the
         * position is. */
        uint64_t from = bytes <= MODULE_CHUNK ? 0 : inside;
        uint64_t some = bytes - from < MODULE_CHUNK ? bytes - from
                                                    : MODULE_CHUNK;
        server_reply_number(context, at + (long long)some);
        server_reply_bytes(context, (const char *)table + from, (size_t)some);
    }
    return SERVER_OK;
}

/* Stores a chunk; `at` is the position of its end. */
static bool cf_load(cuckoo *filter, long long at, bly_key chunk)
{
    uint64_t end = (uint64_t)at - 1, bytes = 0;
    if (chunk.length == 0 || chunk.length > end)
        return false;
    uint64_t inside = end - chunk.length;
    uint8_t *table = redis_cuckoo_at(filter, &inside, &bytes);
    if (table == NULL || chunk.length > bytes - inside)
        return false;
    memcpy(table + inside, chunk.data, chunk.length);
    return true;
}

/* Creates a filter with empty tables from a header. Returns NULL after an error
   reply. */
static cuckoo *cf_of_head(server_context *context, bly_key head)
{
    bly_tables tables;
    if (head.length != BLY_TABLES_HEAD) {
        server_reply_error(context, "Invalid header");
        return NULL;
    }
    cuckoo *filter = bly_tables_read(&tables, head.data, head.length) == BLY_OK
                   ? redis_cuckoo_new(context, &tables) : NULL;
    if (filter == NULL)
        server_reply_error(context, "Couldn't create filter!");
    return filter;
}

static int cf_loadchunk(server_context *context, server_string **argv,
                        int argc)
{
    void *filter;
    server_key *key;
    long long at;
    if (argc != 4)
        return server_wrong_arity(context);
    if (server_to_number(argv[2], &at) != SERVER_OK || at < 1)
        return server_reply_error(context, "Invalid position");
    found what = reply_find(&filter, &key, context, argv[1], redis_cuckoo_type);
    bly_key chunk = reply_key(argv[3]);
    if (at == 1) {
        if (what != FOUND_NONE)
            return reply_refuse(context, what);
        filter = cf_of_head(context, chunk);
        if (filter == NULL)
            return SERVER_OK;
        server_set_value(key, redis_cuckoo_type, filter);
    } else if (what != FOUND_IT) {
        return reply_refuse(context, what);
    } else if (!cf_load(filter, at, chunk)) {
        return server_reply_error(context, "Couldn't load chunk!");
    }
    reply_changed(context, "cf.loadchunk", argv[1]);
    return server_reply_simple(context, "OK");
}

#define CF_OF_TABLES "O(t), where t is the number of tables"
#define CF_OF_ITEMS  "O(n t), where n is the number of items and t that of " \
                     "tables"
#define CF_OF_CHUNK  "O(n), where n is the bytes of the chunk"

const command cf_commands[] = {
    { "cf.reserve", "key capacity [BUCKETSIZE bucketsize] [MAXITERATIONS "
      "maxiterations] [EXPANSION expansion]", "Creates an empty cuckoo filter",
      "O(1)", "1.0.0", cf_reserve, "write deny-oom", "write fast cuckoo", -3 },
    { "cf.add", "key item", "Adds an item to a cuckoo filter, which is created "
      "if it does not exist", CF_OF_TABLES, "1.0.0", cf_add, "write deny-oom",
      "write cuckoo", 3 },
    { "cf.addnx", "key item", "Adds an item to a cuckoo filter unless it is "
      "perhaps there", CF_OF_TABLES, "1.0.0", cf_addnx, "write deny-oom",
      "write cuckoo", 3 },
    { "cf.insert", "key [CAPACITY capacity] [NOCREATE] ITEMS item…", "Adds "
      "items to a cuckoo filter, with options for creating it if it does not "
      "exist", CF_OF_ITEMS, "1.0.0", cf_insert, "write deny-oom",
      "write cuckoo", -4 },
    { "cf.insertnx", "key [CAPACITY capacity] [NOCREATE] ITEMS item…", "Adds "
      "items to a cuckoo filter unless they are perhaps there, with options "
      "for creating it", CF_OF_ITEMS, "1.0.0", cf_insertnx, "write deny-oom",
      "write cuckoo", -4 },
    { "cf.exists", "key item", "Returns whether an item is perhaps in a cuckoo "
      "filter", CF_OF_TABLES, "1.0.0", cf_exists, "readonly fast",
      "read cuckoo", 3 },
    { "cf.mexists", "key item…", "Returns whether each item is perhaps in a "
      "cuckoo filter", CF_OF_ITEMS, "1.0.0", cf_mexists, "readonly fast",
      "read cuckoo", -3 },
    { "cf.count", "key item", "Returns an upper bound of how often an item is "
      "in a cuckoo filter", CF_OF_TABLES, "1.0.0", cf_count, "readonly fast",
      "read cuckoo", 3 },
    { "cf.del", "key item", "Removes one copy of an item from a cuckoo filter",
      CF_OF_TABLES, "1.0.0", cf_del, "write fast", "write cuckoo", 3 },
    { "cf.compact", "key", "Moves the fingerprints in a cuckoo filter's later "
      "tables to free slots of its earlier ones", "O(n), where n is the number "
      "of slots", "1.0.0", cf_compact, "write fast", "write cuckoo", -1 },
    { "cf.info", "key", "Returns the size and the contents of a cuckoo filter",
      "O(1)", "1.0.0", cf_info, "readonly fast", "read fast cuckoo", 2 },
    { "cf.scandump", "key iterator", "Returns the next chunk of a cuckoo "
      "filter", CF_OF_CHUNK, "1.0.0", cf_scandump, "readonly fast",
      "read cuckoo", 3 },
    { "cf.loadchunk", "key iterator data", "Restores a chunk that CF.SCANDUMP "
      "returned", CF_OF_CHUNK, "1.0.0", cf_loadchunk, "write deny-oom",
      "write cuckoo", 4 },
    { "cf.debug", "key", "Returns the numbers of a cuckoo filter", "O(1)",
      "1.0.0", cf_debug, "readonly fast", "read cuckoo", 2 },
    { .name = NULL },
};
