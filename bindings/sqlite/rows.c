/* rows.c - tables that functions are: bloomery_list(filter) and
 * bloomery_diff(a, b), whose rows are keys, and bloomery_kinds.
 *
 * The keys are gathered when a statement asks, and then handed out. */
#include "extension.h"

#include <bloomery/sketch.h>
#include <string.h>

/* ---- Keys of one filter, or of the difference of two --------------------- */

enum { ROWS_KEY, ROWS_INTEGER, ROWS_SIDE, ROWS_HASH, ROWS_FILTER, ROWS_OTHER };

static const char *const sql_rows_schema[] = {
    "CREATE TABLE x(key BLOB, integer INTEGER, side INTEGER, hash INTEGER, "
    "filter HIDDEN)",
    "CREATE TABLE x(key BLOB, integer INTEGER, side INTEGER, hash INTEGER, "
    "filter HIDDEN, other HIDDEN)",
};

typedef struct {
    sqlite3_vtab base;
    sqlite3     *db;
    int          filters;               /* 1 or 2                            */
} sql_rows_table;

typedef struct { uint64_t hash; size_t at, length; int side; bool kept; }
    sql_rows_key;

typedef struct {
    sqlite3_vtab_cursor base;
    sql_rows_key *keys;
    char     *data;
    size_t    n, room, used, data_room, now;
    bool      integers, failed;         /* the hashes are the keys           */
} sql_rows_cursor;

static const char sql_rows_limit[] = "SQLITE_LIMIT_LENGTH";
static const int sql_rows_one = 1, sql_rows_two = 2;

static int sql_rows_connect(sqlite3 *db, void *filters, int n,
                            const char *const *arguments, sqlite3_vtab **out,
                            char **error)
{
    (void)n;
    (void)arguments;
    (void)error;
    int wanted = *(const int *)filters;
    int status = sqlite3_declare_vtab(db, sql_rows_schema[wanted - 1]);
    if (status != SQLITE_OK)
        return status;
    sql_rows_table *table = sqlite3_malloc64(sizeof *table);
    if (table == NULL)
        return SQLITE_NOMEM;
    *table = (sql_rows_table){ .db = db, .filters = wanted };
    *out = &table->base;
    return sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
}

static int sql_rows_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* The filters must be given; if a plan lacks them, SQLite tries another one. */
static int sql_rows_best(sqlite3_vtab *base, sqlite3_index_info *info)
{
    sql_rows_table *table = (sql_rows_table *)base;
    int at[2] = { -1, -1 };
    bool there[2] = { false, false };
    for (int i = 0; i < info->nConstraint; i++) {
        int which = info->aConstraint[i].iColumn - ROWS_FILTER;
        if (which < 0 || which >= table->filters
            || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        there[which] = true;
        if (info->aConstraint[i].usable)
            at[which] = i;
    }
    for (int i = 0; i < table->filters; i++) {
        if (!there[i]) {
            sqlite3_free(base->zErrMsg);
            base->zErrMsg = sqlite3_mprintf(
                table->filters == 1 ? "a filter is missing: bloomery_list(blob)"
                : "two filters are needed: bloomery_diff(blob, blob)");
            return SQLITE_ERROR;
        }
        if (at[i] < 0)
            return SQLITE_CONSTRAINT;
        info->aConstraintUsage[at[i]].argvIndex = i + 1;
        info->aConstraintUsage[at[i]].omit = 1;
    }
    info->estimatedCost = 1000;
    info->estimatedRows = 1000;
    return SQLITE_OK;
}

static int sql_rows_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    (void)table;
    sql_rows_cursor *c = sqlite3_malloc64(sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    memset(c, 0, sizeof *c);
    *out = &c->base;
    return SQLITE_OK;
}

static void sql_rows_empty(sql_rows_cursor *c)
{
    sqlite3_free(c->keys);
    sqlite3_free(c->data);
    *c = (sql_rows_cursor){ .base = c->base };
}

static int sql_rows_close(sqlite3_vtab_cursor *base)
{
    sql_rows_empty((sql_rows_cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

static bool sql_rows_gather(void *context, const bly_listed *listed)
{
    sql_rows_cursor *c = context;
    sql_rows_key *keys =
        sql_memory_grow(c->keys, &c->room, c->n + 1, sizeof *keys);
    c->failed = keys == NULL;
    if (c->failed)
        return false;
    c->keys = keys;
    char *data =
        sql_memory_grow(c->data, &c->data_room, c->used + listed->length, 1);
    c->failed = data == NULL;
    if (c->failed)
        return false;
    c->data = data;
    if (listed->length > 0)
        memcpy(data + c->used, listed->key, listed->length);
    c->keys[c->n++] = (sql_rows_key){
        .hash = listed->hash, .at = c->used, .length = listed->length,
        .side = listed->side, .kept = listed->key != NULL,
    };
    c->used += listed->length;
    return true;
}

/* Finds whether keys are integers that equal their hashes. */
static bly_status sql_rows_of_integers(bool *out, const bly_filter *filter)
{
    bly_info_t stat;
    bly_status status = bly_info(&stat, filter);
    *out = status >= 0 && (strcmp(stat.hash, "decimal") == 0
                           || strcmp(stat.hash, "identity") == 0);
    return status;
}

static bly_filter *sql_rows_filter(sql_rows_cursor *c, sqlite3_value *value,
                                   int *error)
{
    bly_status status;
    const sql_rows_table *table = (const sql_rows_table *)c->base.pVtab;
    bly_filter *filter = sql_held_copy(table->db, value, &status);
    *error = SQLITE_OK;
    if (status < 0) {
        *error = extension_fail_table(c->base.pVtab, status, sql_rows_limit);
    } else if (filter == NULL && sqlite3_value_type(value) != SQLITE_NULL) {
        sqlite3_free(c->base.pVtab->zErrMsg);
        c->base.pVtab->zErrMsg = sql_held_no_filter(value);
        *error = c->base.pVtab->zErrMsg != NULL ? SQLITE_ERROR : SQLITE_NOMEM;
    }
    return filter;
}

/* Computes into := into - the filter of a value; frees `into` on an error. */
static bly_filter *sql_rows_subtract(sql_rows_cursor *c, bly_filter *into,
                                     sqlite3_value *value, int *error)
{
    bly_filter *other = sql_rows_filter(c, value, error);
    if (other != NULL) {
        bly_status status = bly_subtract(into, other);
        bly_free(other);
        if (status >= 0)
            return into;
        *error = extension_fail_table(c->base.pVtab, status, sql_rows_limit);
    }
    bly_free(into);
    return NULL;
}

static int sql_rows_filter_rows(sqlite3_vtab_cursor *base, int number,
                                const char *text, int n, sqlite3_value **values)
{
    sql_rows_cursor *c = (sql_rows_cursor *)base;
    int error;
    (void)number;
    (void)text;
    sql_rows_empty(c);
    bly_filter *filter = sql_rows_filter(c, values[0], &error);
    if (filter != NULL && n > 1)
        filter = sql_rows_subtract(c, filter, values[1], &error);
    if (filter == NULL)
        return error;                   /* or NULL: no rows                  */
    bly_status status = sql_rows_of_integers(&c->integers, filter);
    if (status >= 0)
        status = bly_list_keys(filter, sql_rows_gather, c);
    bly_free(filter);
    if (status < 0)
        return extension_fail_table(base->pVtab, status, sql_rows_limit);
    return c->failed ? SQLITE_NOMEM : SQLITE_OK;
}

static int sql_rows_next(sqlite3_vtab_cursor *base)
{
    ((sql_rows_cursor *)base)->now++;
    return SQLITE_OK;
}

static int sql_rows_eof(sqlite3_vtab_cursor *base)
{
    sql_rows_cursor *c = (sql_rows_cursor *)base;
    return c->now >= c->n;
}

/* Returns the integer that the key stands for if it was one: the type of the 8
 * bytes is not stored. */
static void sql_rows_integer(sqlite3_context *context, const sql_rows_cursor *c,
                             const sql_rows_key *key)
{
    uint64_t integer = 0;
    if (key->kept && key->length == 8) {
        for (size_t i = 8; i-- > 0;)
            integer = integer << 8 | (unsigned char)c->data[key->at + i];
        sqlite3_result_int64(context, (int64_t)integer);
    } else if (!key->kept && c->integers) {
        sqlite3_result_int64(context, (int64_t)key->hash);
    }
}

static int sql_rows_column(sqlite3_vtab_cursor *base, sqlite3_context *context,
                           int column)
{
    sql_rows_cursor *c = (sql_rows_cursor *)base;
    const sql_rows_key *key = &c->keys[c->now];
    if (column == ROWS_KEY && key->kept)
        sqlite3_result_blob64(context, c->data + key->at, key->length,
                              SQLITE_TRANSIENT);
    else if (column == ROWS_INTEGER)
        sql_rows_integer(context, c, key);
    else if (column == ROWS_SIDE)
        sqlite3_result_int(context, key->side);
    else if (column == ROWS_HASH)
        sqlite3_result_int64(context, (int64_t)key->hash);
    return SQLITE_OK;
}

static int sql_rows_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((sql_rows_cursor *)base)->now;
    return SQLITE_OK;
}

static const sqlite3_module sql_rows_module = {
    .xConnect = sql_rows_connect,
    .xBestIndex = sql_rows_best,
    .xDisconnect = sql_rows_disconnect,
    .xOpen = sql_rows_open,
    .xClose = sql_rows_close,
    .xFilter = sql_rows_filter_rows,
    .xNext = sql_rows_next,
    .xEof = sql_rows_eof,
    .xColumn = sql_rows_column,
    .xRowid = sql_rows_rowid,
};

/* ---- Kinds --------------------------------------------------------------- */

typedef struct {
    sqlite3_vtab_cursor base;
    size_t now;
} kinds_cursor;

static int kinds_connect(sqlite3 *db, void *unused, int n,
                         const char *const *arguments, sqlite3_vtab **out,
                         char **error)
{
    (void)unused;
    (void)n;
    (void)arguments;
    (void)error;
    int status = sqlite3_declare_vtab(
        db, "CREATE TABLE x(name TEXT, family TEXT, summary TEXT, "
            "abilities TEXT, options TEXT, tier TEXT)");
    if (status != SQLITE_OK)
        return status;
    *out = sqlite3_malloc64(sizeof **out);
    if (*out == NULL)
        return SQLITE_NOMEM;
    memset(*out, 0, sizeof **out);
    return sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
}

static int kinds_best(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = 40;
    info->estimatedRows = 40;
    return SQLITE_OK;
}

static int kinds_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    (void)table;
    kinds_cursor *c = sqlite3_malloc64(sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    *c = (kinds_cursor){ .now = 0 };
    *out = &c->base;
    return SQLITE_OK;
}

static int kinds_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int kinds_filter(sqlite3_vtab_cursor *cursor, int number,
                        const char *text, int n, sqlite3_value **values)
{
    (void)number;
    (void)text;
    (void)n;
    (void)values;
    ((kinds_cursor *)cursor)->now = 0;
    return SQLITE_OK;
}

static int kinds_next(sqlite3_vtab_cursor *cursor)
{
    ((kinds_cursor *)cursor)->now++;
    return SQLITE_OK;
}

static int kinds_eof(sqlite3_vtab_cursor *cursor)
{
    size_t n;
    bly_kinds(&n);
    return ((kinds_cursor *)cursor)->now >= n;
}

static void kinds_abilities(bly_json *json, uint64_t can)
{
    for (int i = 0; i < BLY_ABILITIES; i++)
        if ((can >> i & 1) != 0)
            tell_text(json, NULL, bly_ability(UINT64_C(1) << i));
}

static void kinds_options(bly_json *json, const bly_option_info *const *option)
{
    for (; *option != NULL; option++) {
        tell_open(json, BLY_FIELD_OBJECT);
        tell_text(json, "name", (*option)->name);
        tell_text(json, "range", (*option)->range);
        tell_text(json, "default", (*option)->standard);
        tell_text(json, "help", (*option)->help);
        tell_close(json);
    }
}

static void kinds_json(sqlite3_context *context, const bly_kind_info *kind,
                       bool options)
{
    bly_json json = tell_json(context);
    tell_open(&json, BLY_FIELD_ARRAY);
    if (options)
        kinds_options(&json, kind->options);
    else
        kinds_abilities(&json, kind->can);
    tell_close(&json);
    tell_give(context, &json);
}

static int kinds_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context,
                        int column)
{
    const bly_kind_info *kind = bly_kinds(NULL)[((kinds_cursor *)cursor)->now];
    switch (column) {
    case 0:  sqlite3_result_text(context, kind->name, -1, SQLITE_STATIC); break;
    case 1:  sqlite3_result_text(context, kind->family, -1, SQLITE_STATIC);
             break;
    case 2:  sqlite3_result_text(context, kind->summary, -1, SQLITE_STATIC);
             break;
    case 3:  kinds_json(context, kind, false); break;
    case 4:  kinds_json(context, kind, true); break;
    default: sqlite3_result_text(context, kind->tier, -1, SQLITE_STATIC);
    }
    return SQLITE_OK;
}

static int kinds_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((kinds_cursor *)cursor)->now;
    return SQLITE_OK;
}

static const sqlite3_module kinds_module = {
    .xConnect = kinds_connect, .xBestIndex = kinds_best,
    .xDisconnect = sql_rows_disconnect, .xOpen = kinds_open,
    .xClose = kinds_close, .xFilter = kinds_filter, .xNext = kinds_next,
    .xEof = kinds_eof, .xColumn = kinds_column, .xRowid = kinds_rowid,
};

int sql_rows_register(sqlite3 *db)
{
    int status =
        sqlite3_create_module_v2(db, "bloomery_list", &sql_rows_module,
                                 (void *)(uintptr_t)&sql_rows_one, NULL);
    if (status == SQLITE_OK)
        status =
            sqlite3_create_module_v2(db, "bloomery_diff", &sql_rows_module,
                                     (void *)(uintptr_t)&sql_rows_two, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_create_module_v2(db, "bloomery_kinds", &kinds_module,
                                          NULL, NULL);
    return status;
}
