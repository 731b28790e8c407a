/* build.c - aggregates that build a filter from keys.
 *
 *     bloomery_build(x[, kind[, rate[, items[, seed[, hash[, keys]]]]]])
 *     bloomery_build_labels(x, label[, kind[, …[, keys]]])
 *
 * SQL passes one row at a time, but a filter is planned when all are known.
 * Keys are therefore gathered and hashed by the thousand, and only their 8-byte
 * hashes are kept. Kinds that store whole keys, or hash them in ways of their
 * own, keep the keys themselves.
 *
 * Without `items` the filter is planned for the number of distinct keys, which
 * is counted exactly with a table of hashes. The result equals `bloomery build
 * -n` with that number, byte for byte. */
#include "extension.h"

#include <bloomery/keyed.h>

#include <string.h>

enum {
    BUILD_BATCH = 4096, BUILD_BYTES = 1 << 18,
    BUILD_WIDEN = 8192                  /* slots between two looks           */
};

typedef struct {
    sqlite3  *db;
    char     *kind, *hash;              /* copies                            */
    bly_spec  spec;
    uint64_t  form;
    bool      stated;                   /* the form, by `keys`               */
    bool      started, labelled, whole, once, foreign, failed;
    char     *data;                     /* keys that are not hashed yet      */
    size_t    used, data_room;
    uint64_t *ends;                     /* key ends, after a leading 0       */
    size_t    keys, ends_room;
    uint64_t *hashes;
    size_t    hashed, hashes_room;
    uint64_t *labels;
    size_t    labels_room;
    bly_keyed keyed;                    /* chooses slots of …                */
    uint64_t *table;                    /* different hashes; 0: free         */
    size_t    slots, different;         /* the hash 0 counts, without a slot */
    bool      zero;
} build;

static void sql_build_end(build *b)
{
    sqlite3_free(b->kind);
    sqlite3_free(b->hash);
    sqlite3_free(b->data);
    sqlite3_free(b->ends);
    sqlite3_free(b->hashes);
    sqlite3_free(b->labels);
    sqlite3_free(b->table);
    memset(b, 0, sizeof *b);
}

/* ---- How many different keys --------------------------------------------- */

static void sql_build_note(const bly_keyed *keyed, uint64_t *table,
                           size_t slots, uint64_t hash, size_t *different)
{
    size_t at = (size_t)bly_keyed_number(keyed, hash) & (slots - 1);
    while (table[at] != 0 && table[at] != hash)
        at = (at + 1) & (slots - 1);
    *different += table[at] == 0;
    table[at] = hash;
}

static bly_status sql_build_widen(build *b)
{
    size_t slots = b->slots > 0 ? 2 * b->slots : 2 * BUILD_BATCH, n = 0;
    uint64_t *table = sqlite3_malloc64(slots * sizeof *table);
    bool cancelled = false;
    if (table == NULL)
        return BLY_ENOMEM;
    memset(table, 0, slots * sizeof *table);
    for (size_t i = 0; i < b->slots && !cancelled; i++) {
        if (b->table[i] != 0)
            sql_build_note(&b->keyed, table, slots, b->table[i], &n);
        cancelled = i % BUILD_WIDEN == 0 && interrupt_now(b->db);
    }
    sqlite3_free(cancelled ? table : b->table);
    if (cancelled)
        return BLY_ECANCELED;
    b->table = table;
    b->slots = slots;
    return BLY_OK;
}

static bly_status sql_build_tell_apart(build *b, const uint64_t *hashes,
                                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bly_status status = 2 * b->different < b->slots ? BLY_OK
                                                        : sql_build_widen(b);
        if (status < 0)
            return status;
        if (hashes[i] == 0)
            b->zero = true;
        else
            sql_build_note(&b->keyed, b->table, b->slots, hashes[i],
                           &b->different);
    }
    return BLY_OK;
}

/* ---- Gathering ----------------------------------------------------------- */

/* Keys of the batch become hashes. */
static bly_status sql_build_hash(build *b)
{
    bly_keys keys = { .n = b->keys, .data = b->data, .offsets64 = b->ends };
    uint64_t *grown = sql_memory_grow(b->hashes, &b->hashes_room,
                                      b->hashed + b->keys, sizeof *b->hashes);
    if (grown == NULL)
        return BLY_ENOMEM;
    b->hashes = grown;
    if (b->keys == 0)
        return BLY_OK;
    uint64_t *hashes = b->hashes + b->hashed;
    bly_status status = bly_hash_many(hashes, b->kind, &b->spec, &keys);
    if (status < 0)
        return status;
    if (b->once)
        status = sql_build_tell_apart(b, hashes, b->keys);
    b->hashed += b->keys;
    b->keys = b->used = 0;
    return status;
}

static bly_status sql_build_add(build *b, const sql_keys_key *key,
                                uint64_t label)
{
    char *data =
        sql_memory_grow(b->data, &b->data_room, b->used + key->length, 1);
    if (data == NULL)
        return BLY_ENOMEM;
    b->data = data;
    uint64_t *ends = sql_memory_grow(b->ends, &b->ends_room, b->keys + 2,
                                     sizeof *b->ends);
    if (ends == NULL)
        return BLY_ENOMEM;
    b->ends = ends;
    if (b->labelled) {
        size_t n = b->hashed + b->keys;
        uint64_t *labels = sql_memory_grow(b->labels, &b->labels_room, n + 1,
                                           sizeof *b->labels);
        if (labels == NULL)
            return BLY_ENOMEM;
        b->labels = labels;
        b->labels[n] = label;
    }
    memcpy(b->data + b->used, key->data, key->length);
    b->used += key->length;
    b->ends[0] = 0;
    b->ends[++b->keys] = b->used;
    if (b->whole || (b->keys < BUILD_BATCH && b->used < BUILD_BYTES))
        return BLY_OK;
    return sql_build_hash(b);
}

/* ---- A row --------------------------------------------------------------- */

/* Kinds that can be planned for the distinct keys, as in the command; others
 * store something for each occurrence. */
static bool sql_build_is_once(uint64_t can)
{
    return (can & BLY_CAN_ADD) != 0
        && (can & (BLY_CAN_REMOVE | BLY_CAN_COUNT | BLY_CAN_FORGET
                   | BLY_CAN_EXACT | BLY_CAN_LABEL | BLY_CAN_WHOLE_KEYS)) == 0;
}

/* Checks everything that needs no keys. A kind whose size depends only on them
 * is planned for one key. */
static bly_status sql_build_try(const build *b)
{
    bly_spec spec = b->spec;
    bly_plan_t plan;
    if (spec.capacity == 0)
        spec.capacity = 1;
    return bly_plan(&plan, b->kind, &spec);
}

/* Reads the arguments of the first row. */
static bool sql_build_start(sqlite3_context *context, build *b, int n,
                            sqlite3_value **values)
{
    const char *kind;
    bly_spec spec = { .allocator = &sql_memory_allocator, .threads = 1 };
    if (!sql_keys_spec(context, &kind, &spec, n, values, false)
        || (n > 5 && !sql_keys_form(context, &b->form, &b->stated, values[5])))
        return false;
    if (b->labelled && (n < 1 || sqlite3_value_type(values[0]) == SQLITE_NULL))
        kind = "bloomier";
    b->spec = spec;
    b->kind = sqlite3_mprintf("%s", kind);
    b->hash = spec.hash != NULL ? sqlite3_mprintf("%s", spec.hash) : NULL;
    if (b->kind == NULL || (spec.hash != NULL && b->hash == NULL)) {
        sqlite3_result_error_nomem(context);
        return false;
    }
    b->spec.hash = b->hash;
    bly_status status = sql_build_try(b);
    if (status < 0) {
        extension_fail(context, status);
        return false;
    }
    const bly_kind_info *info = bly_kind_find(b->kind);
    b->whole = info == NULL || (info->can & BLY_CAN_WHOLE_KEYS) != 0
            || strcmp(info->family, "foreign") == 0;
    b->foreign = info != NULL && strcmp(info->family, "foreign") == 0;
    b->once = !b->whole && spec.capacity == 0 && sql_build_is_once(info->can);
    status = b->once ? bly_keyed_draw(&b->keyed) : BLY_OK;
    if (status < 0) {
        extension_fail(context, status);
        return false;
    }
    return b->started = true;
}

/* Checks that the arguments have not changed. */
static bool sql_build_same(sqlite3_context *context, build *b, int n,
                           sqlite3_value **values)
{
    const char *kind;
    bly_spec spec = { .capacity = 0 };
    uint64_t form = b->form;
    bool stated = false;
    if (!sql_keys_spec(context, &kind, &spec, n, values, false)
        || (n > 5 && !sql_keys_form(context, &form, &stated, values[5])))
        return false;
    if (b->labelled && (n < 1 || sqlite3_value_type(values[0]) == SQLITE_NULL))
        kind = "bloomier";
    if (strcmp(kind, b->kind) == 0 && spec.capacity == b->spec.capacity
        && !(spec.rate < b->spec.rate) && !(spec.rate > b->spec.rate)
        && spec.seed == b->spec.seed
        && stated == b->stated && (!stated || form == b->form)
        && (spec.hash == NULL ? b->hash == NULL
            : b->hash != NULL && strcmp(spec.hash, b->hash) == 0))
        return true;
    extension_error(context, "kind, rate, items, seed, hash and keys of a "
                    "filter must be the same in every row");
    return false;
}

static bool sql_build_label(sqlite3_context *context, uint64_t *label,
                            sqlite3_value *value)
{
    if (sqlite3_value_type(value) == SQLITE_NULL) {
        extension_error(context, "a key has the label NULL: leave such keys "
                        "out, or give them a number");
        return false;
    }
    return sql_keys_count(context, label, "label", value);
}

/* Converts a key to the class named by `keys`, or to that of the first key. */
static bool sql_build_key(sqlite3_context *context, build *b, sql_keys_key *key,
                          sqlite3_value *value)
{
    uint64_t class = sql_keys_class(value);
    if (!b->stated && !b->foreign && b->form != class) {
        if (b->form != BLY_KEYS_UNSTATED) {
            extension_error(context, "the filter's keys are of one class, and "
                            "this one is %s: convert it with CAST, or make the "
                            "filter with keys 'any'", sql_keys_type(value));
            return false;
        }
        b->form = class;
    }
    sql_keys_found found = sql_keys_of(key, b->form, value);
    if (found != KEYS_ONE)
        sql_keys_fail(context, found, key);
    return found == KEYS_ONE;
}

/* Adds a row; NULL is not a key. */
static bool sql_build_take(sqlite3_context *context, build *b, int n,
                           sqlite3_value **values)
{
    int first = b->labelled ? 2 : 1;
    uint64_t label = 0;
    sql_keys_key key;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return true;
    if (!(b->started ? sql_build_same : sql_build_start)(context, b, n - first,
                                                         values + first))
        return false;
    if (b->labelled && !sql_build_label(context, &label, values[1]))
        return false;
    if (!sql_build_key(context, b, &key, values[0]))
        return false;
    bly_status status = sql_build_add(b, &key, label);
    sql_keys_done(&key);
    if (status < 0)
        extension_fail(context, status);
    return status >= 0;
}

static void sql_build_row(sqlite3_context *context, int n,
                          sqlite3_value **values, bool labelled)
{
    build *b = sqlite3_aggregate_context(context, sizeof *b);
    if (b == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    b->db = sqlite3_context_db_handle(context);
    b->labelled = labelled;
    if (!b->failed)
        b->failed = !sql_build_take(context, b, n, values);
}

static void sql_build_step(sqlite3_context *context, int n,
                           sqlite3_value **values)
{
    sql_build_row(context, n, values, false);
}

static void sql_build_step_labels(sqlite3_context *context, int n,
                                  sqlite3_value **values)
{
    sql_build_row(context, n, values, true);
}

/* ---- All rows ------------------------------------------------------------ */

static bly_status sql_build_of_hashes(bly_filter **out, build *b)
{
    bly_status status = sql_build_hash(b);
    if (status < 0)
        return status;
    sqlite3_free(b->data);
    sqlite3_free(b->table);
    b->data = NULL;
    b->table = NULL;
    if (b->once)
        b->spec.capacity = b->different + b->zero;
    return bly_build(out, b->kind, &b->spec, &(bly_keys){
        .n = b->hashed, .hashes = b->hashes,
        .labels = b->labelled ? b->labels : NULL });
}

static bly_status sql_build_make(bly_filter **out, build *b)
{
    const bly_progress progress = interrupt_progress(b->db);
    bly_keys keys = { .n = b->keys, .data = b->data, .offsets64 = b->ends,
                      .labels = b->labelled ? b->labels : NULL };
    b->spec.progress = &progress;
    if (!b->whole)
        return sql_build_of_hashes(out, b);
    if (b->spec.capacity == 0)
        b->spec.capacity = b->keys;
    return bly_build(out, b->kind, &b->spec, &keys);
}

/* Returns NULL if there were no keys, like sum(). */
static void sql_build_final(sqlite3_context *context)
{
    build *b = sqlite3_aggregate_context(context, 0);
    bly_filter *filter = NULL;
    if (b == NULL)
        return;
    bly_status status = BLY_OK;
    if (b->started && !b->failed)
        status = sql_build_make(&filter, b);
    if (filter != NULL && status >= 0)
        status = bly_form_set(filter, b->form);
    sql_build_end(b);
    if (status < 0)
        extension_fail(context, status);
    if (status < 0)
        bly_free(filter);
    else if (filter != NULL)
        sql_held_give(context, filter);
}

int sql_build_register(sqlite3 *db)
{
    int status = SQLITE_OK, flags = SQLITE_UTF8 | SQLITE_INNOCUOUS;
    for (int n = 1; n <= 7 && status == SQLITE_OK; n++) {
        status = sqlite3_create_function_v2(db, "bloomery_build", n, flags,
                                            NULL, NULL, sql_build_step,
                                            sql_build_final, NULL);
        if (status == SQLITE_OK)
            status = sqlite3_create_function_v2(
                db, "bloomery_build_labels", n + 1, flags, NULL, NULL,
                sql_build_step_labels, sql_build_final, NULL);
    }
    return status;
}
