/* scalar.c - functions of a filter and keys: queries, and changes that return a
 * new filter.
 *
 * A blob is a value in SQL, so a change copies all of it. For many keys use the
 * aggregates of build.c. */
#include "extension.h"

/* ---- Asked --------------------------------------------------------------- */

typedef void scalar_answer(sqlite3_context *context, const bly_filter *filter,
                           const sql_keys_key *key);

/* Returns NULL if the filter or the key is NULL. */
static void scalar_ask(sqlite3_context *context, sqlite3_value **values,
                       scalar_answer *answer)
{
    sql_keys_key key;
    sql_held_filter held = sql_held_begin(context, 0, values[0]);
    if (held.filter == NULL)
        return;
    sql_keys_found found =
        sql_keys_of(&key, bly_form_of(held.filter), values[1]);
    if (found == KEYS_ONE) {
        answer(context, held.filter, &key);
        sql_keys_done(&key);
    } else if (found != KEYS_NONE) {
        sql_keys_fail(context, found, &key);
    }
    sql_held_end(held);
}

static void scalar_contains_answer(sqlite3_context *context,
                                   const bly_filter *filter,
                                   const sql_keys_key *key)
{
    sqlite3_result_int(context, bly_contains(filter, key->data, key->length));
}

static void scalar_contains(sqlite3_context *context, int n,
                            sqlite3_value **values)
{
    (void)n;
    scalar_ask(context, values, scalar_contains_answer);
}

/* Returns the count, or NULL if it has no bound. */
static void scalar_count_answer(sqlite3_context *context,
                                const bly_filter *filter,
                                const sql_keys_key *key)
{
    uint64_t count = bly_count(filter, key->data, key->length);
    if (count <= INT64_MAX)
        sqlite3_result_int64(context, (int64_t)count);
}

static void scalar_count(sqlite3_context *context, int n,
                         sqlite3_value **values)
{
    (void)n;
    scalar_ask(context, values, scalar_count_answer);
}

static void scalar_get_answer(sqlite3_context *context,
                              const bly_filter *filter, const sql_keys_key *key)
{
    uint64_t label;
    if ((bly_can(filter) & BLY_CAN_LABEL) == 0) {
        extension_error(context, "a filter of kind %s stores no labels",
                        bly_kind_of(filter));
        return;
    }
    if (!bly_get(filter, key->data, key->length, &label))
        return;
    if (label > INT64_MAX)
        extension_error(context, "the label %llu does not fit in SQL's "
                        "integers", (unsigned long long)label);
    else
        sqlite3_result_int64(context, (int64_t)label);
}

static void scalar_get(sqlite3_context *context, int n, sqlite3_value **values)
{
    (void)n;
    scalar_ask(context, values, scalar_get_answer);
}

/* ---- Changed ------------------------------------------------------------- */

/* Changes a filter by one key; `label` is for scalar_put_key alone. */
typedef bly_status scalar_verb(bly_filter *filter, const sql_keys_key *key,
                               uint64_t label);

static bly_status scalar_add_key(bly_filter *filter, const sql_keys_key *key,
                                 uint64_t label)
{
    (void)label;
    return bly_add(filter, key->data, key->length);
}

static bly_status scalar_remove_key(bly_filter *filter, const sql_keys_key *key,
                                    uint64_t label)
{
    (void)label;
    return bly_remove(filter, key->data, key->length);
}

static bly_status scalar_put_key(bly_filter *filter, const sql_keys_key *key,
                                 uint64_t label)
{
    return bly_put(filter, key->data, key->length, label);
}

/* Sets the form from the class of the first key of an empty filter; other
 * systems' files cannot store one. */
static bly_status scalar_state(bly_filter *filter, sqlite3_value *value)
{
    bly_info_t stat;
    if (bly_form_of(filter) != BLY_KEYS_UNSTATED)
        return BLY_OK;
    bly_status status = bly_info(&stat, filter);
    if (status < 0 || stat.items > 0)
        return status;
    status = bly_form_set(filter, sql_keys_class(value));
    return status == BLY_EUNSUPPORTED ? BLY_OK : status;
}

/* Changes the filter by one value. Returns false after an error. */
static bool scalar_change_one(sqlite3_context *context, bly_filter *filter,
                              sqlite3_value *value, scalar_verb *verb,
                              uint64_t label)
{
    sql_keys_key key;
    bly_status status = scalar_state(filter, value);
    if (status >= 0) {
        sql_keys_found found = sql_keys_of(&key, bly_form_of(filter), value);
        if (found == KEYS_NONE)
            return true;
        if (found != KEYS_ONE) {
            sql_keys_fail(context, found, &key);
            return false;
        }
        status = verb(filter, &key, label);
        sql_keys_done(&key);
    }
    if (status < 0)
        extension_fail(context, status);
    return status >= 0;
}

/* Gives the filter once it is changed by all values: by all of them or none,
 * for an error gives no filter. */
static void scalar_change(sqlite3_context *context, sqlite3_value *from, int n,
                          sqlite3_value **values, scalar_verb *verb,
                          uint64_t label)
{
    bly_filter *filter = sql_held_own(context, from);
    if (filter == NULL)
        return;
    bool done = true;
    for (int i = 0; i < n && done; i++)
        done = scalar_change_one(context, filter, values[i], verb, label);
    if (done)
        sql_held_give(context, filter);
    else
        bly_free(filter);
}

static void scalar_change_keys(sqlite3_context *context, int n,
                               sqlite3_value **values, scalar_verb *verb)
{
    if (n < 2)
        extension_error(context, "wrong number of arguments: give a filter and "
                        "at least one key");
    else
        scalar_change(context, values[0], n - 1, values + 1, verb, 0);
}

static void scalar_add(sqlite3_context *context, int n, sqlite3_value **values)
{
    scalar_change_keys(context, n, values, scalar_add_key);
}

static void scalar_remove(sqlite3_context *context, int n,
                          sqlite3_value **values)
{
    scalar_change_keys(context, n, values, scalar_remove_key);
}

static void scalar_put(sqlite3_context *context, int n, sqlite3_value **values)
{
    uint64_t label;
    (void)n;
    if (sqlite3_value_type(values[2]) == SQLITE_NULL)
        extension_error(context, "the label must be a whole number of 0 or "
                        "more, not NULL");
    else if (sql_keys_count(context, &label, "label", values[2]))
        scalar_change(context, values[0], 1, values + 1, scalar_put_key,
                      label);
}

/* ---- Made empty ---------------------------------------------------------- */

/* Keys of any class: what is empty and states no form takes that of the first
 * key, for bytes remember no wish. */
static bool scalar_is_any(sqlite3_context *context, uint64_t form, bool given)
{
    if (given && form == BLY_KEYS_UNSTATED)
        extension_error(context, "an empty filter takes keys of one class, "
                        "which the first key decides: use bloomery_build for "
                        "keys of any class");
    return given && form == BLY_KEYS_UNSTATED;
}

/* Implements bloomery_state_keys(filter, keys). */
static void scalar_state_keys(sqlite3_context *context, int n,
                              sqlite3_value **values)
{
    uint64_t form;
    bool given;
    (void)n;
    if (!sql_keys_form(context, &form, &given, values[1])
        || scalar_is_any(context, form, given))
        return;
    bly_filter *filter = sql_held_own(context, values[0]);
    if (filter == NULL)
        return;
    bly_status status = given ? bly_form_set(filter, form) : BLY_OK;
    if (status >= 0) {
        sql_held_give(context, filter);
        return;
    }
    extension_fail(context, status);
    bly_free(filter);
}

/* Implements bloomery_new(kind, items[, rate[, seed[, hash[, keys]]]]). */
static void scalar_new(sqlite3_context *context, int n, sqlite3_value **values)
{
    const bly_progress progress
        = interrupt_progress(sqlite3_context_db_handle(context));
    bly_spec spec = { .allocator = &sql_memory_allocator, .threads = 1,
                      .progress = &progress };
    const char *kind;
    bly_filter *filter = NULL;
    uint64_t form = BLY_KEYS_UNSTATED;
    bool given = false;
    if (!sql_keys_spec(context, &kind, &spec, n, values, true)
        || (n > 5 && !sql_keys_form(context, &form, &given, values[5]))
        || scalar_is_any(context, form, given))
        return;
    bly_status status = bly_new(&filter, kind, &spec);
    if (status >= 0)
        status = bly_form_set(filter, form);
    if (status >= 0) {
        sql_held_give(context, filter);
        return;
    }
    extension_fail(context, status);
    bly_free(filter);
}

/* ---- Registration -------------------------------------------------------- */

typedef void scalar_function(sqlite3_context *context, int n,
                             sqlite3_value **values);

/* Registers functions that are called for each row; they share remembered
   blobs. */
static int scalar_asked(sqlite3 *db, sql_held_home *home)
{
    static const struct {
        const char      *name;
        int              n, flags;
        scalar_function *call;
    } asked[] = {
        { "bloomery_contains", 2, EXTENSION_PURE, scalar_contains },
        { "bloomery_count",    2, EXTENSION_PURE, scalar_count },
        { "bloomery_get",      2, EXTENSION_PURE, scalar_get },
        { "bloomery_open",     1, SQLITE_UTF8 | SQLITE_INNOCUOUS,
          sql_held_open_call },
    };
    int status = SQLITE_OK;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (status == SQLITE_OK)
            /* SQLite frees it on failure too */
            status = sqlite3_create_function_v2(
                db, asked[i].name, asked[i].n, asked[i].flags,
                sql_held_home_more(home), asked[i].call, NULL, NULL,
                sql_held_home_less);
    return status;
}

static int scalar_plain(sqlite3 *db, const char *name, int n,
                        scalar_function *call)
{
    return sqlite3_create_function_v2(db, name, n, EXTENSION_PURE, NULL, call,
                                      NULL, NULL, NULL);
}

int scalar_register(sqlite3 *db)
{
    sql_held_home *home = sql_held_home_new();
    if (home == NULL)
        return SQLITE_NOMEM;
    int status = scalar_asked(db, home);
    sql_held_home_less(home);
    if (status == SQLITE_OK)
        status = scalar_plain(db, "bloomery_add", -1, scalar_add);
    if (status == SQLITE_OK)
        status = scalar_plain(db, "bloomery_remove", -1, scalar_remove);
    if (status == SQLITE_OK)
        status = scalar_plain(db, "bloomery_put", 3, scalar_put);
    if (status == SQLITE_OK)
        status = scalar_plain(db, "bloomery_state_keys", 2, scalar_state_keys);
    for (int n = 2; n <= 6 && status == SQLITE_OK; n++)
        status = scalar_plain(db, "bloomery_new", n, scalar_new);
    return status;
}
