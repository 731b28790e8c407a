/* cmd_bf.c - BF.*: Bloom filters, compatible with RedisBloom's clients.
 *
 * Error messages are RedisBloom's, several of which lack "ERR".
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "redis/bloom.h"

enum { BF_BATCH = 64 };                 /* items looked up together          */

/* ---- Plans of filters -------------------------------------------------- */

typedef struct {
    double    rate;
    long long capacity, growth;
    bool      nonscaling;
} bf_plan;

static bf_plan bf_standard(void)
{
    return (bf_plan){
        .rate = redis_settings.rate, .capacity = redis_settings.capacity,
        .growth = redis_settings.growth,
    };
}

static bool bf_is_fixed(const bf_plan *plan)
{
    return plan->nonscaling || plan->growth == 0;
}

/* Returns the growth to store. A fixed filter stores RedisBloom's default,
 * since other servers may have other redis_settings. */
static uint32_t bf_growth(const bf_plan *plan)
{
    enum { STANDARD = 2 };

    return plan->nonscaling && plan->growth > 0 ? STANDARD
                                                : (uint32_t)plan->growth;
}

static const char BF_RATE_OUT[]
    = "ERR error rate must be in the range (0.000000, 1.000000)";

static const reply_range bf_capacities = {
    1, MODULE_CAPACITY_MOST, "ERR capacity must be in the range [1, 1073741824]"
};
static const reply_range bf_growths = {
    0, MODULE_GROWTH_MOST, "ERR expansion must be in the range [0, 32768]"
};

/* Reads the rate, and lowers a large one. Returns false after an error reply.
 */
static bool bf_rate(double *out, server_context *context,
                    const server_string *argument, const char *bad)
{
    if (server_to_double(argument, out) != SERVER_OK) {
        server_reply_error(context, bad);
        return false;
    }
    if (!(*out > 0 && *out < 1)) {
        server_reply_error(context, BF_RATE_OUT);
        return false;
    }
    if (*out > MODULE_RATE_MOST) {
        server_log(context, "warning", "the error rate %g is above 0.25, so "
                   "0.25 is used", *out);
        *out = MODULE_RATE_MOST;
    }
    return true;
}

/* Creates a filter at an empty key. Returns NULL after an error reply. */
static bloom *bf_make(server_context *context, server_key *key,
                      const bf_plan *plan)
{
    bool fixed = bf_is_fixed(plan);
    uint32_t options = BLY_CHAIN_EXACT | BLY_CHAIN_LONG
                     | (fixed ? BLY_CHAIN_FIXED : 0);
    bloom *filter = bloom_new(options, bf_growth(plan));
    bly_link link;
    if (bly_chain_plan(&link, (uint64_t)plan->capacity,
                       fixed ? plan->rate : plan->rate / 2) != BLY_OK) {
        server_reply_error(context, "ERR could not create filter");
    } else if (!bloom_begin(filter, context, &link)) {
        server_reply_error(context, "ERR Insufficient memory to create filter");
    } else {
        server_set_value(key, bloom_type, filter);
        return filter;
    }
    bloom_free(filter);
    return NULL;
}

/* Logs the real rate of a new filter if it is above the one requested: small
 * links exceed their nominal rate. The first links, each full, are examined. */
static void bf_foresee(server_context *context, const bf_plan *plan)
{
    enum { LINKS = 8, LARGE = 10000 };

    bool fixed = bf_is_fixed(plan);
    bly_spec spec = { .capacity = (uint64_t)plan->capacity,
                      .rate = fixed ? plan->rate : plan->rate / 2 };
    bly_plan_t link;
    double none = 1;
    uint64_t items = 0;
    for (int i = 0; i < (fixed ? 1 : LINKS) && spec.capacity <= LARGE
         && bly_plan(&link, "redisbloom:growth=0", &spec) == BLY_OK; i++) {
        none *= 1 - link.rate;
        items += spec.capacity;
        spec.capacity *= (uint64_t)plan->growth;
        spec.rate /= 2;
    }
    if (1 - none > 1.1 * plan->rate)
        server_log(context, "warning", "a filter reserved for %lld items at an "
                   "error rate of %g has a rate of %.2g with %" PRIu64 " "
                   "items%s: reserve a larger capacity", plan->capacity,
                   plan->rate, 1 - none, items,
                   fixed ? "" : ", and a higher one as it grows");
}

/* Reads the words after the capacity. Returns false after an error reply. */
static bool bf_reserve_words(bf_plan *plan, server_context *context,
                             server_string **argv, int argc)
{
    bool grows = false;
    for (int i = 4; i < argc; i++) {
        if (reply_is_word(argv[i], "NONSCALING")) {
            plan->nonscaling = true;
        } else if (!reply_is_word(argv[i], "EXPANSION")) {
            server_reply_error(context, "Unknown argument received");
            return false;
        } else if (++i == argc) {
            server_reply_error(context, "ERR no expansion");
            return false;
        } else if (!reply_number(&plan->growth, context, argv[i], &bf_growths,
                                 "ERR bad expansion")) {
            return false;
        } else {
            grows = plan->growth > 0;
        }
    }
    if (!(plan->nonscaling && grows))
        return true;
    server_reply_error(context, "Nonscaling filters cannot expand");
    return false;
}

/* Replicates all properties of a new filter, including the implicit ones:
 * replicas may have other redis_settings. */
static void bf_replicate_made(server_context *context, server_string *name,
                              const bf_plan *plan)
{
    char rate[32];
    snprintf(rate, sizeof rate, "%.17g", plan->rate);
    if (plan->nonscaling && plan->growth > 0)
        server_replicate_as(context, "BF.RESERVE", "sclc", name, rate,
                            plan->capacity, "NONSCALING");
    else
        server_replicate_as(context, "BF.RESERVE", "sclcl", name, rate,
                            plan->capacity, "EXPANSION", plan->growth);
}

static int bf_reserve(server_context *context, server_string **argv, int argc)
{
    bf_plan plan = bf_standard();
    if (argc < 4 || argc > 7)
        return server_wrong_arity(context);
    if (!bf_rate(&plan.rate, context, argv[2], "ERR bad error rate")
        || !reply_number(&plan.capacity, context, argv[3], &bf_capacities,
                         "ERR bad capacity")
        || !bf_reserve_words(&plan, context, argv, argc))
        return SERVER_OK;
    void *filter;
    server_key *key;
    found what = reply_find(&filter, &key, context, argv[1], bloom_type);
    if (what != FOUND_NONE)
        return reply_refuse(context, what);
    if (bf_make(context, key, &plan) == NULL)
        return SERVER_OK;
    bf_foresee(context, &plan);
    bf_replicate_made(context, argv[1], &plan);
    server_notify(context, SERVER_NOTIFY_MODULE, "bf.reserve", argv[1]);
    return server_reply_simple(context, "OK");
}

/* ---- Adding -------------------------------------------------------------- */

/* Appends a link, as the last one is full. Returns BLY_EFULL if the filter does
 * not grow; other errors: out of memory, or the link would be too large. */
static bly_status bf_grow(server_context *context, bloom *filter)
{
    bly_link link;
    bly_status status = bly_chain_next(&link, filter);
    return status != BLY_OK || bloom_begin(filter, context, &link)
         ? status : BLY_ENOMEM;
}

static void bf_refuse(server_context *context, bly_status status)
{
    server_reply_error(context, status == BLY_EFULL
                       ? "ERR non scaling filter is full"
                       : "ERR problem inserting into filter");
}

/* Adds the items from argument `first` on and replies to each, up to the first
 * that does not fit a fixed filter. Returns whether the filter has changed. */
static bool bf_put_all(server_context *context, bloom *filter,
                       server_string **argv, int argc, int first, long *replies)
{
    bool changed = false, seen[BF_BATCH];
    bly_key key[BF_BATCH];
    *replies = 0;
    for (int i = first; i < argc; ) {
        bly_keys keys = { .n = BF_BATCH, .keys = key };
        size_t done;
        if (argc - i < BF_BATCH)
            keys.n = (size_t)(argc - i);
        reply_keys(key, argv + i, (int)keys.n);
        bly_status status = bly_chain_add_many(filter, &keys, seen, &done);
        for (size_t j = 0; j < done; j++) {
            server_reply_bool(context, !seen[j]);
            changed |= !seen[j];
        }
        i += (int)done;
        *replies += (long)done;
        if (status == BLY_EFULL)
            status = bf_grow(context, filter);
        if (status == BLY_OK)
            continue;
        bf_refuse(context, status);
        i++;
        ++*replies;
        if (status == BLY_EFULL)
            break;
    }
    return changed;
}

/* Ends all commands that add. `plan` is used to create a missing filter; if
 * NULL, that is an error. With `many` the reply is an array. */
static int bf_insert_into(server_context *context, server_string **argv,
                          int argc, int first, const bf_plan *plan, bool many,
                          const char *event)
{
    void *filter;
    server_key *key;
    found what = reply_find(&filter, &key, context, argv[1], bloom_type);
    bool made = what == FOUND_NONE && plan != NULL;
    if (made)
        filter = bf_make(context, key, plan);
    else if (what != FOUND_IT)
        return reply_refuse(context, what);
    if (filter == NULL)
        return SERVER_OK;
    long replies;
    if (many)
        server_reply_array(context, SERVER_POSTPONED);
    bool changed = bf_put_all(context, filter, argv, argc, first, &replies);
    if (many)
        server_reply_array_was(context, replies);
    if (made)
        bf_replicate_made(context, argv[1], plan);
    if (changed)
        reply_changed(context, event, argv[1]);
    return SERVER_OK;
}

static int bf_add(server_context *context, server_string **argv, int argc)
{
    bf_plan plan = bf_standard();
    return argc != 3 ? server_wrong_arity(context)
         : bf_insert_into(context, argv, argc, 2, &plan, false, "bf.add");
}

static int bf_madd(server_context *context, server_string **argv, int argc)
{
    bf_plan plan = bf_standard();
    return argc < 3 ? server_wrong_arity(context)
         : bf_insert_into(context, argv, argc, 2, &plan, true, "bf.madd");
}

typedef enum {
    BF_ITEMS, BF_ERROR, BF_CAPACITY, BF_EXPANSION, BF_NOCREATE, BF_NONSCALING,
    BF_UNKNOWN
} bf_word;

/* Recognises a word by its first letters, as RedisBloom does; clients may rely
 * on it. */
static bf_word bf_word_of(const server_string *argument)
{
    size_t length;
    const char *text = server_text(argument, &length);
    char letter[3] = { 0, 0, 0 };
    for (size_t i = 0; i < sizeof letter && i < length; i++)
        letter[i] = (char)(text[i] | 0x20);
    switch (letter[0]) {
    case 'i':
        return BF_ITEMS;
    case 'e':
        return letter[1] == 'x' ? BF_EXPANSION : BF_ERROR;
    case 'c':
        return BF_CAPACITY;
    case 'n':
        return letter[2] == 'c' ? BF_NOCREATE : BF_NONSCALING;
    default:
        return BF_UNKNOWN;
    }
}

/* Reads the words before the items. Returns the index of the first item; 0
 * after an error reply. */
static int bf_insert_words(bf_plan *plan, bool *create, server_context *context,
                           server_string **argv, int argc)
{
    for (int i = 2; i < argc; i++) {
        bf_word word = bf_word_of(argv[i]);
        bool takes = word == BF_ERROR || word == BF_CAPACITY
                  || word == BF_EXPANSION;
        if (word == BF_UNKNOWN) {
            server_reply_error(context, "Unknown argument received");
            return 0;
        }
        if (i + 1 == argc && (takes || word == BF_ITEMS))
            break;
        if (word == BF_ITEMS)
            return i + 1;
        if (word == BF_NOCREATE)
            *create = false;
        if (word == BF_NONSCALING)
            plan->nonscaling = true;
        i += takes;
        if ((word == BF_ERROR && !bf_rate(&plan->rate, context, argv[i],
                                          "Bad error rate"))
            || (word == BF_CAPACITY
                && !reply_number(&plan->capacity, context, argv[i],
                                 &bf_capacities, "Bad capacity"))
            || (word == BF_EXPANSION
                && !reply_number(&plan->growth, context, argv[i], &bf_growths,
                                 "Bad expansion")))
            return 0;
    }
    server_wrong_arity(context);
    return 0;
}

static int bf_insert(server_context *context, server_string **argv, int argc)
{
    bf_plan plan = bf_standard();
    bool create = true;
    if (argc < 4)
        return server_wrong_arity(context);
    int first = bf_insert_words(&plan, &create, context, argv, argc);
    return first == 0 ? SERVER_OK
         : bf_insert_into(context, argv, argc, first, create ? &plan : NULL,
                          true, "bf.insert");
}

/* ---- Asking -------------------------------------------------------------- */

/* Looks up items. As in RedisBloom, a missing key or one of another type
 * contains nothing; but a filter of BLY.* is refused. */
static int bf_exists(server_context *context, server_string **argv, int argc)
{
    void *value;
    if (argc != 3)
        return server_wrong_arity(context);
    if (!reply_asks(&value, context, argv[1], bloom_type))
        return SERVER_OK;
    const bloom *filter = value;
    bly_key key = reply_key(argv[2]);
    return server_reply_bool(context, filter != NULL
                             && bly_chain_contains(filter, key.data,
                                                   key.length));
}

/* Implements reply_ask. */
static bly_status bf_ask(const void *filter, const bly_keys *keys,
                         bool *present)
{
    return bly_chain_contains_many(filter, keys, present);
}

static int bf_mexists(server_context *context, server_string **argv, int argc)
{
    void *value;
    if (argc < 3)
        return server_wrong_arity(context);
    return reply_asks(&value, context, argv[1], bloom_type)
         ? reply_each(context, argv, argc, value, bf_ask) : SERVER_OK;
}

/* ---- Looking inside ------------------------------------------------------ */

static uint64_t bf_capacity(const bloom *filter)
{
    uint64_t capacity = 0;
    for (uint32_t i = 0; i < filter->n; i++)
        capacity += filter->links[i].capacity;
    return capacity;
}

/* Replies the growth; a fixed filter has none. */
static void bf_reply_growth(server_context *context, const bloom *filter)
{
    if ((filter->options & BLY_CHAIN_FIXED) != 0)
        server_reply_null(context);
    else
        server_reply_number(context, filter->growth);
}

static void bf_reply_capacity(server_context *context, const bloom *filter)
{
    server_reply_number(context, (long long)bf_capacity(filter));
}

static void bf_reply_bytes(server_context *context, const bloom *filter)
{
    server_reply_number(context, (long long)bloom_bytes(filter));
}

static void bf_reply_links(server_context *context, const bloom *filter)
{
    server_reply_number(context, filter->n);
}

static void bf_reply_items(server_context *context, const bloom *filter)
{
    server_reply_number(context, (long long)bly_chain_items(filter));
}

static const struct {
    const char *word, *name;
    void (*reply)(server_context *context, const bloom *filter);
} bf_fields[] = {
    { "CAPACITY", "Capacity", bf_reply_capacity },
    { "SIZE", "Size", bf_reply_bytes },
    { "FILTERS", "Number of filters", bf_reply_links },
    { "ITEMS", "Number of items inserted", bf_reply_items },
    { "EXPANSION", "Expansion rate", bf_reply_growth },
};

enum { BF_FIELDS = sizeof bf_fields / sizeof *bf_fields };

static int bf_info_of(server_context *context, const bloom *filter,
                      const server_string *word)
{
    for (size_t i = 0; i < BF_FIELDS; i++)
        if (reply_is_word(word, bf_fields[i].word)) {
            if (reply_is_3(context)) {
                server_reply_map(context, 1);
                server_reply_simple(context, bf_fields[i].name);
            } else {
                server_reply_array(context, 1);
            }
            bf_fields[i].reply(context, filter);
            return SERVER_OK;
        }
    return server_reply_error(context, "Invalid information value");
}

static int bf_info(server_context *context, server_string **argv, int argc)
{
    if (argc < 2 || argc > 3)
        return server_wrong_arity(context);
    const bloom *filter = reply_value(context, argv[1], bloom_type);
    if (filter == NULL)
        return SERVER_OK;
    if (argc == 3)
        return bf_info_of(context, filter, argv[2]);
    server_reply_map(context, BF_FIELDS);
    for (size_t i = 0; i < BF_FIELDS; i++) {
        server_reply_simple(context, bf_fields[i].name);
        bf_fields[i].reply(context, filter);
    }
    return SERVER_OK;
}

static int bf_card(server_context *context, server_string **argv, int argc)
{
    void *filter;
    if (argc != 2)
        return server_wrong_arity(context);
    found what = reply_find(&filter, NULL, context, argv[1], bloom_type);
    if (what == FOUND_OTHER)
        return reply_refuse(context, what);
    return server_reply_number(context, what == FOUND_NONE ? 0
                               : (long long)bly_chain_items(filter));
}

static int bf_debug(server_context *context, server_string **argv, int argc)
{
    char line[256];
    if (argc != 2)
        return server_wrong_arity(context);
    const bloom *filter = reply_value(context, argv[1], bloom_type);
    if (filter == NULL)
        return SERVER_OK;
    server_reply_array(context, 1 + (long)filter->n);
    int n = snprintf(line, sizeof line, "size:%" PRIu64,
                     bly_chain_items(filter));
    server_reply_bytes(context, line, (size_t)n);
    for (uint32_t i = 0; i < filter->n; i++) {
        const bly_link *link = &filter->links[i];
        n = snprintf(line, sizeof line, "bytes:%" PRIu64 " bits:%" PRIu64
                     " hashes:%" PRIu32 " hashwidth:64 capacity:%" PRIu64
                     " size:%" PRIu64 " ratio:%g", link->bytes,
                     8 * link->bytes, link->probes, link->capacity,
                     link->items, link->rate);
        server_reply_bytes(context, line, (size_t)n);
    }
    return SERVER_OK;
}

/* ---- Chunks -------------------------------------------------------------- */

static int bf_scandump(server_context *context, server_string **argv, int argc)
{
    long long at;
    if (argc != 3)
        return server_wrong_arity(context);
    const bloom *filter = reply_value(context, argv[1], bloom_type);
    if (filter == NULL)
        return SERVER_OK;
    if (server_to_number(argv[2], &at) != SERVER_OK)
        return server_reply_error(context, "Second argument must be numeric");
    server_reply_array(context, 2);
    uint64_t left = 0;
    const uint8_t *bits = at < 1 ? NULL
                        : bloom_at(filter, (uint64_t)at - 1, &left);
    if (at == 0) {
        size_t bytes;
        void *head = bloom_head(filter, &bytes);
        server_reply_number(context, 1);
        server_reply_bytes(context, head, bytes);
        server_release(head);
    } else if (bits == NULL) {
        server_reply_number(context, 0);
        server_reply_bytes(context, "", 0);
    } else {
        size_t some = left < MODULE_CHUNK ? (size_t)left : MODULE_CHUNK;
        server_reply_number(context, at + (long long)some);
        server_reply_bytes(context, (const char *)bits, some);
    }
    return SERVER_OK;
}

/* Stores a chunk; `at` is the position of its end. */
static const char *bf_load(bloom *filter, long long at, bly_key chunk)
{
    uint64_t left = 0;
    uint64_t end = at < 1 ? 0 : (uint64_t)at - 1;
    uint8_t *bits = at < 1 || chunk.length > end ? NULL
                  : bloom_at(filter, end - chunk.length, &left);
    if (bits == NULL)
        return "ERR invalid offset - no link found";
    if (chunk.length > left)
        return "ERR invalid chunk - Too big for current filter";
    memcpy(bits, chunk.data, chunk.length);
    return NULL;
}

static int bf_loadchunk(server_context *context, server_string **argv,
                        int argc)
{
    void *filter;
    server_key *key;
    long long at;
    if (argc != 4)
        return server_wrong_arity(context);
    if (server_to_number(argv[2], &at) != SERVER_OK)
        return server_reply_error(context,
                                  "ERR Second argument must be numeric");
    found what = reply_find(&filter, &key, context, argv[1], bloom_type);
    bly_key chunk = reply_key(argv[3]);
    if (what == FOUND_NONE && at == 1) {
        filter = bloom_of_head(context, chunk.data, chunk.length);
        if (filter == NULL)
            return server_reply_error(context, "ERR received bad data");
        server_set_value(key, bloom_type, filter);
    } else if (what != FOUND_IT) {
        return reply_refuse(context, what);
    } else {
        const char *wrong = bf_load(filter, at, chunk);
        if (wrong != NULL)
            return server_reply_error(context, wrong);
    }
    reply_changed(context, "bf.loadchunk", argv[1]);
    return server_reply_simple(context, "OK");
}

const command bf_commands[] = {
    { "bf.reserve", "key error_rate capacity [EXPANSION expansion] "
      "[NONSCALING]", "Creates an empty Bloom filter", "O(1)", "1.0.0",
      bf_reserve, "write deny-oom", "write fast bloom", -4 },
    { "bf.add", "key item", "Adds an item to a Bloom filter, which is created "
      "if it does not exist", "O(k), where k is the number of hash functions",
      "1.0.0", bf_add, "write deny-oom", "write bloom", 3 },
    { "bf.madd", "key item…", "Adds items to a Bloom filter, which is created "
      "if it does not exist", "O(k n), where k is the number of hash functions "
      "and n the number of items", "1.0.0", bf_madd, "write deny-oom",
      "write bloom", -3 },
    { "bf.insert", "key [CAPACITY capacity] [ERROR error_rate] [EXPANSION "
      "expansion] [NOCREATE] [NONSCALING] ITEMS item…", "Adds items to a Bloom "
      "filter, with options for creating it if it does not exist", "O(k n), "
      "where k is the number of hash functions and n the number of items",
      "1.0.0", bf_insert, "write deny-oom", "write bloom", -4 },
    { "bf.exists", "key item", "Returns whether an item was perhaps added to a "
      "Bloom filter", "O(k), where k is the number of hash functions", "1.0.0",
      bf_exists, "readonly fast", "read bloom", 3 },
    { "bf.mexists", "key item…", "Returns whether each item was perhaps added "
      "to a Bloom filter", "O(k n), where k is the number of hash functions "
      "and n the number of items", "1.0.0", bf_mexists, "readonly fast",
      "read bloom", -3 },
    { "bf.info", "key [CAPACITY|SIZE|FILTERS|ITEMS|EXPANSION]", "Returns the "
      "size and the contents of a Bloom filter", "O(1)", "1.0.0", bf_info,
      "readonly fast", "read fast bloom", -2 },
    { "bf.card", "key", "Returns how many items of a Bloom filter were new "
      "when they were added", "O(1)", "2.4.4", bf_card, "readonly fast",
      "read fast bloom", 2 },
    { "bf.scandump", "key iterator", "Returns the next chunk of a Bloom filter",
      "O(n), where n is the bytes of the chunk", "1.0.0", bf_scandump,
      "readonly fast", "read bloom", 3 },
    { "bf.loadchunk", "key iterator data", "Restores a chunk that BF.SCANDUMP "
      "returned", "O(n), where n is the bytes of the chunk", "1.0.0",
      bf_loadchunk, "write deny-oom", "write bloom", 4 },
    { "bf.debug", "key", "Returns the numbers of each link of a Bloom filter",
      "O(n), where n is the number of links", "1.0.0", bf_debug,
      "readonly fast", "read bloom", 2 },
    { .name = NULL },
};
