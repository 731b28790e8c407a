/* cmd_bly.c - BLY.*: filters of every kind, and their keys.
 *
 * The words that describe a filter (`wish`) are the same in BLY.NEW, BLY.BUILD
 * and BLY.PLAN. A command on one item and its form for many share a function
 * that replies one element or an array, unless batching helps. All items of a
 * command are parsed by the filter's form before any is used, so an invalid
 * item has no effect.
 */
#include "redis/items.h"
#include "redis/wish.h"
#include "redis/work.h"

#include <bloomery/form.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BLY_BATCH = 256 };               /* items handled together            */

/* ---- Making -------------------------------------------------------------- */

/* Sends replicas and files everything that determines the filter. */
static void bly_replicate_new(server_context *context, server_string *name,
                              const wish *wanted)
{
    char rate[32], seed[32], digits[SECRET_DIGITS + 1], keys[BLY_FORM_TEXT];
    long long capacity = (long long)wanted->spec.capacity;
    snprintf(rate, sizeof rate, "%.17g", wanted->spec.rate);
    snprintf(seed, sizeof seed, "%" PRIu64, wanted->spec.seed);
    redis_secret_write(digits, wanted->secret);
    bly_form_write(keys, wanted->spec.form);
    if (wanted->spec.secret != NULL)
        server_replicate_as(context, "BLY.NEW", "scclcccccc", name,
                            wanted->kind, "CAPACITY", capacity, "RATE", rate,
                            "KEYS", keys, "SECRET", digits);
    else if (wanted->spec.hash != NULL)
        server_replicate_as(context, "BLY.NEW", "scclcccccccc", name,
                            wanted->kind, "CAPACITY", capacity, "RATE", rate,
                            "KEYS", keys, "HASH", wanted->hash, "SEED", seed);
    else
        server_replicate_as(context, "BLY.NEW", "scclccccccc", name,
                            wanted->kind, "CAPACITY", capacity, "RATE", rate,
                            "KEYS", keys, "UNKEYED", "SEED", seed);
}

static bly_status bly_make(held **out, const wish *wanted,
                           const bly_progress *progress)
{
    held *value = redis_held_new(wanted->spec.secret);
    bly_spec spec = wanted->spec;
    spec.allocator = &value->allocator;
    spec.threads = 1;
    spec.progress = progress;
    bly_status status = bly_new(&value->filter, wanted->kind, &spec);
    if (status != BLY_OK) {
        redis_held_drop(value);
        value = NULL;
    }
    *out = value;
    return status;
}

/* Creates the filter, and replicates the words with all defaults filled in. */
static void bly_new_run(work *w)
{
    const bly_progress progress = redis_work_progress(w);
    redis_work_went(w, bly_make(&w->made, w->bytes, &progress));
}

static int bly_new_finish(work *w, server_context *context,
                          server_string **argv, int argc)
{
    void *old;
    server_key *key;
    (void)argc;
    found what = reply_find(&old, &key, context, argv[1], redis_held_type);
    if (what != FOUND_NONE)
        return reply_refuse(context, what);
    server_set_value(key, redis_held_type, redis_held_keep(w->made));
    bly_replicate_new(context, argv[1], w->bytes);
    server_notify(context, SERVER_NOTIFY_MODULE, "bly.new", argv[1]);
    return server_reply_simple(context, "OK");
}

static const redis_work_kind bly_new_work
    = { .run = bly_new_run, .finish = bly_new_finish, .changes = true };

static int bly_new_command(server_context *context, server_string **argv,
                           int argc)
{
    void *old;
    wish *wanted = server_allocate_zeroed(1, sizeof *wanted);
    bly_plan_t plan;
    found what = argc < 3 ? FOUND_NONE
               : reply_find(&old, NULL, context, argv[1], redis_held_type);
    int result = SERVER_OK;
    if (argc < 3)
        result = server_wrong_arity(context);
    else if (what != FOUND_NONE)
        result = reply_refuse(context, what);
    else if (wish_read(wanted, NULL, context, argv, 2, argc)
             && wish_plan(&plan, wanted, context)) {
        work *w = redis_work_new(&bly_new_work);
        w->bytes = wanted;
        return redis_work_do(w, context, argv, argc, plan.bytes);
    }
    server_release(wanted);
    return result;
}

/* ---- Building ------------------------------------------------------------ */

static bly_status bly_build_of(held **out, const wish *wanted, items *from)
{
    held *value = redis_held_new(wanted->spec.secret);
    bly_keys keys = { .n = (size_t)from->n, .keys = items_all(from) };
    bly_spec spec = wanted->spec;
    spec.allocator = &value->allocator;
    spec.threads = 1;
    bly_status status = bly_build(&value->filter, wanted->kind, &spec, &keys);
    if (status != BLY_OK) {
        redis_held_drop(value);
        value = NULL;
    }
    *out = value;
    return status;
}

static int bly_build_command(server_context *context, server_string **argv,
                             int argc)
{
    void *old;
    server_key *key;
    held *value;
    wish wanted;
    items all;
    bly_plan_t plan;
    if (argc < 5)
        return server_wrong_arity(context);
    int first;
    if (!wish_read(&wanted, &first, context, argv, 2, argc))
        return SERVER_OK;
    if (first == argc)
        return server_wrong_arity(context);
    found what = reply_find(&old, &key, context, argv[1], redis_held_type);
    if (what != FOUND_NONE)
        return reply_refuse(context, what);
    if (wanted.spec.capacity < (uint64_t)(argc - first))
        wanted.spec.capacity = (uint64_t)(argc - first);
    if (!wish_plan(&plan, &wanted, context)
        || !items_read(&all, context, wanted.spec.form, argv + first,
                       argc - first, 1))
        return SERVER_OK;
    redis_memory_for(context);
    bly_status status = bly_build_of(&value, &wanted, &all);
    items_free(&all);
    if (status != BLY_OK)
        return reply_why(context);
    server_set_value(key, redis_held_type, value);
    wish_replicate_image(context, argv[1], value);
    server_notify(context, SERVER_NOTIFY_MODULE, "bly.build", argv[1]);
    return server_reply_simple(context, "OK");
}

/* ---- Finding ------------------------------------------------------------- */

/* Returns the filter at a key, for changing it. Returns NULL after an error
 * reply, or if the command was postponed. */
static held *bly_to_change(server_context *context, server_string *name,
                           server_call *again)
{
    void *value;
    server_key *key;
    found what = reply_find(&value, &key, context, name, redis_held_type);
    if (what != FOUND_IT) {
        reply_refuse(context, what);
        return NULL;
    }
    redis_memory_for(context);
    return redis_work_reads_it(context, value, again) ? NULL : value;
}

/* The target of an add: the existing filter, or a new one, which is stored at
 * the key once it contains something. */
typedef struct {
    held       *value;
    server_key *key;
    bool        made;
    wish        wanted;
} bly_adding;

/* Returns false after an error reply, or if the command was postponed. */
static bool bly_to_add(bly_adding *out, server_context *context,
                       server_string *name, server_call *again)
{
    void *there;
    found what = reply_find(&there, &out->key, context, name, redis_held_type);
    out->made = false;
    if (what == FOUND_OTHER) {
        reply_refuse(context, what);
        return false;
    }
    redis_memory_for(context);
    out->value = there;
    if (what == FOUND_IT)
        return !redis_work_reads_it(context, there, again);
    if (!wish_standard(&out->wanted, context))
        return false;
    out->made = bly_make(&out->value, &out->wanted, NULL) == BLY_OK;
    if (!out->made)
        reply_why(context);
    return out->made;
}

/* Keeps the target after items were added. */
static void bly_added(bly_adding *adding, server_context *context,
                      server_string *name)
{
    if (!adding->made)
        return;
    server_set_value(adding->key, redis_held_type, adding->value);
    bly_replicate_new(context, name, &adding->wanted);
}

/* Drops a new target if no items were added. */
static void bly_not_added(bly_adding *adding)
{
    if (adding->made)
        redis_held_drop(adding->value);
}

/* Returns whether the filter has this ability, or replies an error. */
static bool bly_able(server_context *context, const held *value,
                     uint64_t ability, const char *verb)
{
    if ((bly_can(value->filter) & ability) != 0)
        return true;
    char text[128];
    snprintf(text, sizeof text, "a filter of kind %s cannot do %s: BLY.KINDS "
             "lists the kinds that can \"%s\"", bly_kind_of(value->filter),
             verb, bly_ability(ability));
    reply_error(context, text);
    return false;
}

/* Replicates a command on many items that stopped early, as if it had only had
 * the arguments up to `end`: a replica may have more memory and accept the
 * rest. */
static void bly_changed_by(server_context *context, const char *verb,
                           const char *event, server_string **argv, int end)
{
    server_replicate_as(context, verb, "v", argv + 1, (size_t)(end - 1));
    server_notify(context, SERVER_NOTIFY_MODULE, event, argv[1]);
}

/* ---- Adding and asking --------------------------------------------------- */

static int bly_add_command(server_context *context, server_string **argv,
                           int argc)
{
    if (argc != 3)
        return server_wrong_arity(context);
    bly_adding to;
    items all;
    if (!bly_to_add(&to, context, argv[1], bly_add_command))
        return SERVER_OK;
    if (!items_read(&all, context, items_form(to.value), argv + 2, 1, 1)) {
        bly_not_added(&to);
        return SERVER_OK;
    }
    bly_key key = items_key(&all, 0);
    bly_status status = bly_add(to.value->filter, key.data, key.length);
    items_free(&all);
    if (status < 0) {
        bly_not_added(&to);
        return reply_why(context);
    }
    bly_added(&to, context, argv[1]);
    reply_changed(context, "bly.add", argv[1]);
    return server_reply_bool(context, status == BLY_OK);
}

/* Adds items and replies for each, up to the first that fails. Returns the
 * number added; *status < 0 is the error of the next one. */
static int bly_add_items(bly_status *status, server_context *context,
                         bly_filter *filter, const items *all)
{
    int added = 0;
    *status = BLY_OK;
    for (int i = 0, some; i < all->n && *status >= 0; i += some) {
        bly_key key[BLY_BATCH];
        bool seen[BLY_BATCH];
        size_t done = 0;
        some = all->n - i < BLY_BATCH ? all->n - i : BLY_BATCH;
        bly_keys keys = { .n = (size_t)some,
                          .keys = items_some(all, i, some, key) };
        *status = bly_add_many(filter, &keys, seen, &done);
        for (size_t j = 0; j < done; j++)
            server_reply_bool(context, !seen[j]);
        added += (int)done;
    }
    return added;
}

static int bly_madd_command(server_context *context, server_string **argv,
                            int argc)
{
    if (argc < 3)
        return server_wrong_arity(context);
    bly_adding to;
    items all;
    bly_status status;
    if (!bly_to_add(&to, context, argv[1], bly_madd_command))
        return SERVER_OK;
    if (!items_read(&all, context, items_form(to.value), argv + 2, argc - 2,
                    1)) {
        bly_not_added(&to);
        return SERVER_OK;
    }
    server_reply_array(context, SERVER_POSTPONED);
    int added = bly_add_items(&status, context, to.value->filter, &all);
    items_free(&all);
    if (status < 0)
        reply_why(context);
    server_reply_array_was(context, added + (status < 0));
    if (added == 0) {
        bly_not_added(&to);
        return SERVER_OK;
    }
    bly_added(&to, context, argv[1]);
    bly_changed_by(context, "BLY.MADD", "bly.add", argv, 2 + added);
    return SERVER_OK;
}

/* Finds the filter that a command queries, or NULL, and reads the items.
 * Returns false after an error reply. Otherwise call items_free. */
static bool bly_to_ask(const held **value, items *all, server_context *context,
                       server_string **argv, int argc)
{
    return wish_look(value, context, argv[1])
        && items_read(all, context, items_form(*value), argv + 2, argc - 2, 1);
}

/* Does the same for a command that needs an ability. */
static bool bly_to_ask_of(const held **value, items *all, uint64_t ability,
                          const char *verb, server_context *context,
                          server_string **argv, int argc)
{
    return wish_look(value, context, argv[1])
        && (*value == NULL || bly_able(context, *value, ability, verb))
        && items_read(all, context, items_form(*value), argv + 2, argc - 2, 1);
}

static int bly_exists_command(server_context *context, server_string **argv,
                              int argc)
{
    const held *value;
    items all;
    if (argc != 3)
        return server_wrong_arity(context);
    if (!bly_to_ask(&value, &all, context, argv, argc))
        return SERVER_OK;
    bly_key key = items_key(&all, 0);
    bool present = value != NULL
                && bly_contains(value->filter, key.data, key.length);
    items_free(&all);
    return server_reply_bool(context, present);
}

static int bly_mexists_command(server_context *context, server_string **argv,
                               int argc)
{
    const held *value;
    items all;
    if (argc < 3)
        return server_wrong_arity(context);
    if (!bly_to_ask(&value, &all, context, argv, argc))
        return SERVER_OK;
    server_reply_array(context, all.n);
    for (int i = 0, some; i < all.n; i += some) {
        bly_key key[BLY_BATCH];
        bool present[BLY_BATCH] = { false };
        some = all.n - i < BLY_BATCH ? all.n - i : BLY_BATCH;
        bly_keys keys = { .n = (size_t)some,
                          .keys = items_some(&all, i, some, key) };
        if (value != NULL)
            (void)bly_contains_many(value->filter, &keys, present);
        for (int j = 0; j < some; j++)
            server_reply_bool(context, present[j]);
    }
    items_free(&all);
    return SERVER_OK;
}

/* ---- Removing and counting ----------------------------------------------- */

/* Replies 1 if removed, 0 if absent. */
static int bly_reply_removed(server_context *context, bly_status status,
                             const char *why)
{
    return status == BLY_OK ? server_reply_bool(context, 1)
         : status == BLY_EABSENT ? server_reply_bool(context, 0)
         : reply_error(context, why);
}

static int bly_remove_items(server_context *context, server_string **argv,
                            int argc, bool many, server_call *again)
{
    items all;
    held *value = bly_to_change(context, argv[1], again);
    if (value == NULL
        || !bly_able(context, value, BLY_CAN_REMOVE,
                     many ? "BLY.MREMOVE" : "BLY.REMOVE")
        || !items_read(&all, context, items_form(value), argv + 2, argc - 2,
                       1))
        return SERVER_OK;
    bool changed = false;
    if (many)
        server_reply_array(context, all.n);
    for (int i = 0; i < all.n; i++) {
        bly_key key = items_key(&all, i);
        bly_status status = bly_remove(value->filter, key.data, key.length);
        changed |= status == BLY_OK;
        bly_reply_removed(context, status, bly_why_in("redis"));
    }
    items_free(&all);
    if (changed)
        reply_changed(context, "bly.remove", argv[1]);
    return SERVER_OK;
}

static int bly_remove_command(server_context *context, server_string **argv,
                              int argc)
{
    return argc != 3 ? server_wrong_arity(context)
         : bly_remove_items(context, argv, argc, false, bly_remove_command);
}

static int bly_mremove_command(server_context *context, server_string **argv,
                               int argc)
{
    return argc < 3 ? server_wrong_arity(context)
         : bly_remove_items(context, argv, argc, true, bly_mremove_command);
}

static int bly_count_items(server_context *context, server_string **argv,
                           int argc, bool many)
{
    const held *value;
    items all;
    if (!bly_to_ask_of(&value, &all, BLY_CAN_COUNT,
                       many ? "BLY.MCOUNT" : "BLY.COUNT", context, argv, argc))
        return SERVER_OK;
    if (many)
        server_reply_array(context, all.n);
    for (int i = 0; i < all.n; i++) {
        bly_key key = items_key(&all, i);
        wish_reply_number(context, value == NULL ? 0
                          : bly_count(value->filter, key.data, key.length));
    }
    items_free(&all);
    return SERVER_OK;
}

static int bly_count_command(server_context *context, server_string **argv,
                             int argc)
{
    return argc != 3 ? server_wrong_arity(context)
         : bly_count_items(context, argv, argc, false);
}

static int bly_mcount_command(server_context *context, server_string **argv,
                              int argc)
{
    return argc < 3 ? server_wrong_arity(context)
         : bly_count_items(context, argv, argc, true);
}

/* ---- Labels -------------------------------------------------------------- */

/* Reads all labels before the first is stored. */
static bool bly_labels(uint64_t *labels, server_context *context,
                       server_string **argv, int argc)
{
    for (int i = 3; i < argc; i += 2)
        if (!wish_number(&labels[(i - 3) / 2], argv[i])) {
            reply_error(context, "a label must be a whole number, 0 or more");
            return false;
        }
    return true;
}

static int bly_put_command(server_context *context, server_string **argv,
                           int argc)
{
    if (argc < 4 || argc % 2 != 0)
        return server_wrong_arity(context);
    items all;
    held *value = bly_to_change(context, argv[1], bly_put_command);
    if (value == NULL || !bly_able(context, value, BLY_CAN_LABEL, "BLY.PUT")
        || !items_read(&all, context, items_form(value), argv + 2,
                       (argc - 2) / 2, 2))
        return SERVER_OK;
    uint64_t *labels = server_allocate((size_t)all.n * sizeof *labels);
    if (bly_labels(labels, context, argv, argc)) {
        bly_keys keys = { .n = (size_t)all.n, .keys = items_all(&all) };
        size_t done = 0;
        bly_status status = bly_put_many(value->filter, &keys, labels, &done);
        if (done > 0)
            bly_changed_by(context, "BLY.PUT", "bly.put", argv,
                           2 + 2 * (int)done);
        if (status < 0)
            reply_why(context);
        else
            server_reply_number(context, (long long)done);
    }
    items_free(&all);
    server_release(labels);
    return SERVER_OK;
}

static int bly_get_items(server_context *context, server_string **argv,
                         int argc, bool many)
{
    const held *value;
    items all;
    if (!bly_to_ask_of(&value, &all, BLY_CAN_LABEL,
                       many ? "BLY.MGET" : "BLY.GET", context, argv, argc))
        return SERVER_OK;
    if (many)
        server_reply_array(context, all.n);
    for (int i = 0; i < all.n; i++) {
        bly_key key = items_key(&all, i);
        uint64_t label;
        if (value != NULL
            && bly_get(value->filter, key.data, key.length, &label))
            wish_reply_number(context, label);
        else
            server_reply_null(context);
    }
    items_free(&all);
    return SERVER_OK;
}

static int bly_get_command(server_context *context, server_string **argv,
                           int argc)
{
    return argc != 3 ? server_wrong_arity(context)
         : bly_get_items(context, argv, argc, false);
}

static int bly_mget_command(server_context *context, server_string **argv,
                            int argc)
{
    return argc < 3 ? server_wrong_arity(context)
         : bly_get_items(context, argv, argc, true);
}

/* ---- The form of keys ---------------------------------------------------- */

static int bly_statekeys_command(server_context *context, server_string **argv,
                                 int argc)
{
    uint64_t form;
    if (argc != 3)
        return server_wrong_arity(context);
    if (!wish_form(&form, argv[2]))
        return reply_error(context, WISH_FORM_WRONG);
    if (!wish_can(form, context))
        return SERVER_OK;
    held *value = bly_to_change(context, argv[1], bly_statekeys_command);
    if (value == NULL)
        return SERVER_OK;
    bool changes = form != items_form(value);
    if (bly_form_set(value->filter, form) != BLY_OK)
        return reply_why(context);
    if (changes)
        reply_changed(context, "bly.statekeys", argv[1]);
    return server_reply_simple(context, "OK");
}

/* ---- The commands -------------------------------------------------------- */

const command bly_commands[] = {
    { "bly.new", "key kind [CAPACITY capacity] [RATE rate] [KEYS form] "
      "[KEYED|UNKEYED] [HASH hash] [SEED seed] [SECRET secret]", "Creates an "
      "empty filter of any kind that can add items", "O(n), where n is the "
      "bytes of the filter", "1.0.0", bly_new_command, "write deny-oom",
      "write bloomery", -3 },
    { "bly.build", "key kind [CAPACITY capacity] [RATE rate] [KEYS form] "
      "[KEYED|UNKEYED] [HASH hash] [SEED seed] [SECRET secret] ITEMS item…",
      "Builds a filter of any kind from all its items", "O(n), where n is the "
      "number of items", "1.0.0", bly_build_command, "write deny-oom",
      "write bloomery", -5 },
    { "bly.add", "key item", "Adds an item to a filter, which is created if it "
      "does not exist", "O(1), except when a filter of a growing kind grows",
      "1.0.0", bly_add_command, "write deny-oom", "write bloomery", 3 },
    { "bly.madd", "key item…", "Adds items to a filter, which is created if it "
      "does not exist", "O(n), where n is the number of items", "1.0.0",
      bly_madd_command, "write deny-oom", "write bloomery", -3 },
    { "bly.contains", "key item", "Returns whether an item is perhaps in a "
      "filter", "O(1)", "1.0.0", bly_exists_command, "readonly fast",
      "read fast bloomery", 3 },
    { "bly.mcontains", "key item…", "Returns whether each item is perhaps in a "
      "filter", "O(n), where n is the number of items", "1.0.0",
      bly_mexists_command, "readonly fast", "read bloomery", -3 },
    { "bly.remove", "key item", "Removes an item from a filter, once", "O(1)",
      "1.0.0", bly_remove_command, "write", "write bloomery", 3 },
    { "bly.mremove", "key item…", "Removes items from a filter, each once",
      "O(n), where n is the number of items", "1.0.0", bly_mremove_command,
      "write", "write bloomery", -3 },
    { "bly.count", "key item", "Returns an upper bound of how often an item "
      "was added to a filter", "O(1)", "1.0.0", bly_count_command,
      "readonly fast", "read fast bloomery", 3 },
    { "bly.mcount", "key item…", "Returns an upper bound of how often each "
      "item was added to a filter", "O(n), where n is the number of items",
      "1.0.0", bly_mcount_command, "readonly fast", "read bloomery", -3 },
    { "bly.put", "key item label…", "Stores labels for items of a filter",
      "O(n), where n is the number of items", "1.0.0", bly_put_command,
      "write deny-oom", "write bloomery", -4 },
    { "bly.get", "key item", "Returns the label of an item, or nothing if it "
      "is not in the filter", "O(1)", "1.0.0", bly_get_command, "readonly fast",
      "read fast bloomery", 3 },
    { "bly.mget", "key item…", "Returns the label of each item, or nothing if "
      "it is not in the filter", "O(n), where n is the number of items",
      "1.0.0", bly_mget_command, "readonly fast", "read bloomery", -3 },
    { "bly.statekeys", "key form", "Sets the form of keys in a filter that "
      "states none", "O(1)", "1.0.0", bly_statekeys_command, "write fast",
      "write fast bloomery", 3 },
    { .name = NULL },
};
