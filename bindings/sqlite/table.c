/* table.c - tables of a filter, over a file or stored in the database.
 *
 *      CREATE VIRTUAL TABLE f USING bloomery('words.bly'[, map][, verify]
 *                                            [, format=NAME])
 *      CREATE VIRTUAL TABLE f USING bloomery(kind=blocked, capacity=1000000,
 *                                            rate=0.01)
 *      SELECT … FROM big JOIN f ON f.key = big.k
 *
 * A table has a row for each key that it is asked for and that is perhaps
 * there. It cannot be listed: without `key = …` a statement is refused, unless
 * it reads nothing but the filter itself (the column `filter`).
 *
 * A table over a file is only read; each statement looks whether the file is
 * still the one that was opened. A stored filter takes INSERT, DELETE where its
 * kind can remove, and UPDATE of the label where its kind has labels. */
#include "extension.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

/* The columns. Only stored filters have the last one. */
enum { TABLE_KEY, TABLE_LABEL, TABLE_COUNT, TABLE_FILTER };

/* An open file, kept as long as a cursor needs it. */
typedef struct {
    bly_filter *filter;
    int         users;
} sql_table_file;

typedef struct {
    sqlite3_vtab   base;
    sqlite3       *db;
    sql_arguments  given;
    sql_table_file *file;               /* NULL: not opened yet, or stored   */
    sql_stored    *stored;              /* NULL: over a file                 */
} table;

typedef struct {
    sqlite3_vtab_cursor base;
    sql_table_file *file;
    sqlite3_value  *asked;              /* NULL: no row, or …                */
    bool            whole;              /* … one with the filter alone       */
} sql_table_cursor;

/* ---- The file ------------------------------------------------------------ */

static void sql_table_let_go(sql_table_file *file)
{
    if (file == NULL || --file->users > 0)
        return;
    bly_free(file->filter);
    sqlite3_free(file);
}

/* Refuses a FIFO or a device, which could block SQLite for ever. A file that
 * cannot be examined is left to bly_open, which says why. */
static int sql_table_check_file(table *t)
{
    struct stat info;
    if (stat(t->given.path, &info) != 0 || S_ISREG(info.st_mode))
        return SQLITE_OK;
    sqlite3_free(t->base.zErrMsg);
    t->base.zErrMsg = sqlite3_mprintf("cannot open '%s': not a regular file",
                                      t->given.path);
    return t->base.zErrMsg != NULL ? SQLITE_CANTOPEN : SQLITE_NOMEM;
}

static int sql_table_open_file(table *t, sql_table_file **out)
{
    int checked = sql_table_check_file(t);
    if (checked != SQLITE_OK)
        return checked;
    const bly_progress progress = interrupt_progress(t->db);
    bly_options options = sql_memory_options(t->given.limit);
    sql_table_file *file = sqlite3_malloc64(sizeof *file);
    if (file == NULL)
        return SQLITE_NOMEM;
    *file = (sql_table_file){ .users = 1 };
    options.format = t->given.format;
    options.progress = &progress;
    bly_status status = bly_open(&file->filter, t->given.path, t->given.flags,
                                 &options);
    if (status < 0) {
        sqlite3_free(file);
        return extension_fail_table(&t->base, status, "limit=");
    }
    *out = file;
    return SQLITE_OK;
}

/* Returns the current file, which is reopened if it was replaced. */
static int sql_table_current(table *t)
{
    bool replaced = true;
    if (t->file != NULL) {
        bly_status status = bly_replaced(&replaced, t->file->filter,
                                         t->given.path);
        if (status < 0)
            return extension_fail_table(&t->base, status, "limit=");
    }
    if (!replaced)
        return SQLITE_OK;
    sql_table_file *file = NULL;
    int status = sql_table_open_file(t, &file);
    if (status != SQLITE_OK)
        return status;
    sql_table_let_go(t->file);
    t->file = file;
    return SQLITE_OK;
}

/* ---- The table ----------------------------------------------------------- */

static int sql_table_free(sqlite3_vtab *base)
{
    table *t = (table *)base;
    sql_table_let_go(t->file);
    sql_stored_free(t->stored);
    sql_arguments_free(&t->given);
    sqlite3_free(t);
    return SQLITE_OK;
}

/* Declares the table to SQLite. Views and triggers may not use one over a file:
 * an untrusted database could otherwise open any file. */
static int sql_table_declare(table *t)
{
    int status = sqlite3_declare_vtab(t->db, t->given.stored
        ? "CREATE TABLE x(key PRIMARY KEY, label INTEGER HIDDEN, count INTEGER "
          "HIDDEN, filter HIDDEN) WITHOUT ROWID"
        : "CREATE TABLE x(key, label INTEGER HIDDEN, count INTEGER HIDDEN)");
    if (status == SQLITE_OK && t->given.stored)
        status = sqlite3_vtab_config(t->db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1);
    return status != SQLITE_OK ? status
         : sqlite3_vtab_config(t->db, t->given.stored ? SQLITE_VTAB_INNOCUOUS
                                                      : SQLITE_VTAB_DIRECTONLY);
}

/* A file is opened, and a stored filter read, by the first statement, so that a
 * table whose file is missing can still be dropped. */
static int sql_table_connect(sqlite3 *db, void *home, int n,
                             const char *const *arguments, sqlite3_vtab **out,
                             char **error)
{
    table *t = sqlite3_malloc64(sizeof *t);
    if (t == NULL)
        return SQLITE_NOMEM;
    memset(t, 0, sizeof *t);
    t->db = db;
    int status = SQLITE_OK;
    if (!sql_arguments_read(&t->given, db, n - 3, arguments + 3, error))
        status = *error != NULL ? SQLITE_ERROR : SQLITE_NOMEM;
    if (status == SQLITE_OK)
        status = sql_table_declare(t);
    if (status == SQLITE_OK && t->given.stored) {
        t->stored = sql_stored_new(db, home, &t->base, arguments[1],
                                   arguments[2], t->given.any);
        status = t->stored != NULL ? SQLITE_OK : SQLITE_NOMEM;
    }
    if (status == SQLITE_OK)
        *out = &t->base;
    else
        sql_table_free(&t->base);
    return status;
}

/* Refuses to create a table whose file is invalid, or a filter that cannot be
 * stored. */
static int sql_table_create(sqlite3 *db, void *home, int n,
                            const char *const *arguments, sqlite3_vtab **out,
                            char **error)
{
    int status = sql_table_connect(db, home, n, arguments, out, error);
    if (status != SQLITE_OK)
        return status;
    table *t = (table *)*out;
    status = t->stored != NULL
           ? sql_stored_create(t->stored, t->given.kind, &t->given.spec)
           : sql_table_current(t);
    if (status == SQLITE_OK)
        return SQLITE_OK;
    sqlite3_free(*error);
    *error = t->base.zErrMsg;
    sql_table_free(&t->base);
    *out = NULL;
    return status;
}

static int sql_table_destroy(sqlite3_vtab *base)
{
    table *t = (table *)base;
    int status = t->stored != NULL ? sql_stored_drop(t->stored) : SQLITE_OK;
    return status == SQLITE_OK ? sql_table_free(base) : status;
}

static int sql_table_rename(sqlite3_vtab *base, const char *name)
{
    table *t = (table *)base;
    return t->stored != NULL ? sql_stored_rename(t->stored, name) : SQLITE_OK;
}

/* ---- A plan -------------------------------------------------------------- */

/* The plans of statements. */
enum { TABLE_ALL, TABLE_COLLATED, TABLE_ONE, TABLE_WHOLE };

/* Keys are compared by their bytes, so other collations do not apply. */
static bool sql_table_is_binary(sqlite3_index_info *info, int i)
{
    const char *collation = sqlite3_vtab_collation(info, i);
    return collation == NULL || sqlite3_stricmp(collation, "BINARY") == 0;
}

/* Impossible requests get a plan of maximum cost, so that SQLite prefers any
 * other (an OR becomes one only afterwards), and fail when run. */
static void sql_table_best_refused(sqlite3_index_info *info, int number)
{
    info->idxNum = number;
    info->estimatedCost = 1e90;
    info->estimatedRows = INT64_MAX;
}

/* Returns whether a constraint is a condition on the key. A LIMIT is not. */
static bool sql_table_is_on_key(const sqlite3_index_info *info, int i)
{
#ifdef SQLITE_INDEX_CONSTRAINT_LIMIT
    if (info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_LIMIT
        || info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_OFFSET)
        return false;
#endif
    return info->aConstraint[i].iColumn == TABLE_KEY;
}

/* Returns whether a statement reads the filter itself, without a condition on
 * the key. Some versions of SQLite always count the key as used: a statement
 * that does read it fails in sql_table_column. */
static bool sql_table_is_whole(const sqlite3_vtab *base,
                               const sqlite3_index_info *info)
{
    const sqlite3_uint64 key = (sqlite3_uint64)1 << TABLE_KEY;
    for (int i = 0; i < info->nConstraint; i++) {
        if (sql_table_is_on_key(info, i))
            return false;
    }
    return ((const table *)base)->stored != NULL
        && (info->colUsed | key) == (key | (sqlite3_uint64)1 << TABLE_FILTER);
}

static int sql_table_best(sqlite3_vtab *base, sqlite3_index_info *info)
{
    bool there = false, collated = false;
    int at = -1;
    for (int i = 0; i < info->nConstraint && at < 0; i++) {
        if (info->aConstraint[i].iColumn != TABLE_KEY
            || (info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ
                && info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_IS))
            continue;
        if (!sql_table_is_binary(info, i))
            collated = true;
        else if (info->aConstraint[i].usable)
            at = i;
        else
            there = true;
    }
    if (at < 0 && there)
        return SQLITE_CONSTRAINT;       /* another order of tables has it    */
    if (at < 0 && sql_table_is_whole(base, info)) {
        info->idxNum = TABLE_WHOLE;
        info->estimatedCost = 1000;
        info->estimatedRows = 1;
        return SQLITE_OK;
    }
    if (at < 0) {
        sql_table_best_refused(info, collated ? TABLE_COLLATED : TABLE_ALL);
        return SQLITE_OK;
    }
    info->aConstraintUsage[at].argvIndex = 1;
    info->aConstraintUsage[at].omit = 1;
    info->idxNum = TABLE_ONE;
    info->estimatedCost = 1;
    info->estimatedRows = 1;
    info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    return SQLITE_OK;
}

static int sql_table_refuse(sqlite3_vtab *base, int number)
{
    sqlite3_free(base->zErrMsg);
    base->zErrMsg = sqlite3_mprintf("%s", number == TABLE_COLLATED
        ? "a filter compares keys by their bytes, as the collation BINARY does "
          "and others do not: write key = … COLLATE BINARY"
        : "a filter has no list of its keys: query one with key = …, or join "
          "it with a table by its key");
    return SQLITE_ERROR;
}

/* ---- A statement --------------------------------------------------------- */

static int sql_table_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    table *t = (table *)base;
    bly_filter *filter;
    int status = t->stored == NULL ? sql_table_current(t)
                                   : sql_stored_current(t->stored, &filter);
    if (status != SQLITE_OK)
        return status;
    sql_table_cursor *c = sqlite3_malloc64(sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    *c = (sql_table_cursor){ .file = t->file };
    if (t->file != NULL)
        t->file->users++;
    *out = &c->base;
    return SQLITE_OK;
}

static int sql_table_close(sqlite3_vtab_cursor *base)
{
    sql_table_cursor *c = (sql_table_cursor *)base;
    sqlite3_value_free(c->asked);
    sql_table_let_go(c->file);
    sqlite3_free(c);
    return SQLITE_OK;
}

/* Finds the filter of a cursor: the file that it began with, or the stored
 * filter as it is now. */
static int sql_table_of(const sql_table_cursor *c, bly_filter **out)
{
    table *t = (table *)c->base.pVtab;
    if (t->stored != NULL)
        return sql_stored_same(t->stored, out);
    *out = c->file->filter;
    return SQLITE_OK;
}

static int sql_table_filter(sqlite3_vtab_cursor *base, int number,
                            const char *text, int n, sqlite3_value **values)
{
    sql_table_cursor *c = (sql_table_cursor *)base;
    sql_keys_key key;
    bly_filter *filter;
    (void)text;
    (void)n;
    sqlite3_value_free(c->asked);
    c->asked = NULL;
    c->whole = number == TABLE_WHOLE;
    if (number != TABLE_ONE && !c->whole)
        return sql_table_refuse(base->pVtab, number);
    int status = sql_table_of(c, &filter);
    if (status != SQLITE_OK || c->whole)
        return status;
    sql_keys_found found = sql_keys_of(&key, bly_form_of(filter), values[0]);
    if (found == KEYS_REFUSED) {
        sqlite3_free(base->pVtab->zErrMsg);
        base->pVtab->zErrMsg = sql_keys_why(&key);
        return SQLITE_ERROR;
    }
    if (found == KEYS_NO_MEMORY)
        return SQLITE_NOMEM;
    if (found == KEYS_NONE)
        return SQLITE_OK;
    bool there = bly_contains(filter, key.data, key.length);
    sql_keys_done(&key);
    if (!there)
        return SQLITE_OK;
    c->asked = sqlite3_value_dup(values[0]);
    return c->asked != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static int sql_table_next(sqlite3_vtab_cursor *base)
{
    sql_table_cursor *c = (sql_table_cursor *)base;
    sqlite3_value_free(c->asked);
    c->asked = NULL;
    c->whole = false;
    return SQLITE_OK;
}

static int sql_table_eof(sqlite3_vtab_cursor *base)
{
    const sql_table_cursor *c = (const sql_table_cursor *)base;
    return c->asked == NULL && !c->whole;
}

static void sql_table_number(sqlite3_context *context, uint64_t number)
{
    if (number <= INT64_MAX)
        sqlite3_result_int64(context, (int64_t)number);
}

/* Gives a copy of the filter. */
static void sql_table_give(sqlite3_context *context, const bly_filter *filter)
{
    const bly_options options = sql_memory_options(0);
    bly_filter *copy = NULL;
    bly_status status = bly_copy(&copy, filter, &options);
    if (status < 0)
        extension_fail(context, status);
    else
        sql_held_give(context, copy);
}

static int sql_table_column(sqlite3_vtab_cursor *base, sqlite3_context *context,
                            int column)
{
    sql_table_cursor *c = (sql_table_cursor *)base;
    sql_keys_key key;
    bly_filter *filter;
    uint64_t label;
    if (column == TABLE_KEY && c->whole)
        return sql_table_refuse(base->pVtab, TABLE_ALL);
    if (column == TABLE_KEY && c->asked != NULL)
        sqlite3_result_value(context, c->asked);
    if (column == TABLE_KEY || sqlite3_vtab_nochange(context))
        return SQLITE_OK;
    int status = sql_table_of(c, &filter);
    if (status == SQLITE_OK && column == TABLE_FILTER)
        sql_table_give(context, filter);
    if (status != SQLITE_OK || column == TABLE_FILTER || c->asked == NULL)
        return status;
    if (sql_keys_of(&key, bly_form_of(filter), c->asked) != KEYS_ONE)
        return SQLITE_NOMEM;
    if (column == TABLE_COUNT)
        sql_table_number(context, bly_count(filter, key.data, key.length));
    else if (bly_get(filter, key.data, key.length, &label))
        sql_table_number(context, label);
    sql_keys_done(&key);
    return SQLITE_OK;
}

/* Rows that OR brings together are told apart by this: each key has its own, by
 * its type too. */
static int sql_table_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    sql_table_cursor *c = (sql_table_cursor *)base;
    sql_keys_key key;
    uint64_t hash;
    if (sql_keys_of(&key, BLY_KEYS_UNSTATED, c->asked) != KEYS_ONE)
        return SQLITE_NOMEM;
    bly_key one = { key.data, key.length };
    bly_keys keys = { .n = 1, .keys = &one };
    if (bly_hash_many(&hash, NULL, NULL, &keys) < 0)
        return SQLITE_ERROR;
    hash += (uint64_t)sqlite3_value_type(c->asked);
    *out = (sqlite3_int64)hash;
    return SQLITE_OK;
}

/* ---- Changes ------------------------------------------------------------- */

__attribute__((format(printf, 2, 3)))
static int sql_table_wrong(sqlite3_vtab *base, const char *format, ...)
{
    va_list arguments;
    sqlite3_free(base->zErrMsg);
    va_start(arguments, format);
    base->zErrMsg = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    return base->zErrMsg != NULL ? SQLITE_ERROR : SQLITE_NOMEM;
}

/* Reads a label; *given is false for NULL. */
static int sql_table_label(table *t, bool *given, uint64_t *label,
                           sqlite3_value *value)
{
    const int type = sqlite3_value_type(value);
    *given = type != SQLITE_NULL;
    if (*given && (type != SQLITE_INTEGER || sqlite3_value_int64(value) < 0))
        return sql_table_wrong(&t->base, "the label must be a whole number of "
                               "0 or more");
    *label = *given ? (uint64_t)sqlite3_value_int64(value) : 0;
    return SQLITE_OK;
}

/* Inserts a row of the columns of the table: a key, with a label or without
 * one, or a filter. It cannot have both, because SQLite does not undo the first
 * change of a row if the second one fails. INSERT OR IGNORE of a key that is
 * perhaps there counts no row. */
static int sql_table_insert(table *t, sqlite3_value **columns)
{
    uint64_t label;
    bool given, seen;
    if (sqlite3_value_type(columns[TABLE_COUNT]) != SQLITE_NULL)
        return sql_table_wrong(&t->base, "the column count cannot be written: "
                               "insert the key several times");
    if (sqlite3_value_type(columns[TABLE_FILTER]) != SQLITE_NULL) {
        if (sqlite3_value_type(columns[TABLE_KEY]) != SQLITE_NULL
            || sqlite3_value_type(columns[TABLE_LABEL]) != SQLITE_NULL)
            return sql_table_wrong(&t->base, "a row has a key or a filter: "
                                   "insert them in two rows");
        return sql_stored_unite(t->stored, columns[TABLE_FILTER]);
    }
    int status = sql_table_label(t, &given, &label, columns[TABLE_LABEL]);
    if (status != SQLITE_OK)
        return status;
    status = sql_stored_change(t->stored, given ? 'p' : 'a',
                               columns[TABLE_KEY], label, &seen);
    if (status == SQLITE_OK && seen
        && sqlite3_vtab_on_conflict(t->db) == SQLITE_IGNORE)
        return SQLITE_CONSTRAINT;
    return status;
}

/* Returns whether two values are the same key of SQL. */
static bool sql_table_same(sqlite3_value *a, sqlite3_value *b)
{
    const int bytes = sqlite3_value_bytes(a);
    if (sqlite3_value_type(a) != sqlite3_value_type(b)
        || sqlite3_value_bytes(b) != bytes)
        return false;
    const void *one = sqlite3_value_blob(a), *other = sqlite3_value_blob(b);
    return bytes == 0 || (one != NULL && other != NULL
                          && memcmp(one, other, (size_t)bytes) == 0);
}

/* Refuses an UPDATE of a key's count. UPDATE FROM gives the present one. */
static int sql_table_check_count(table *t, sqlite3_value *asked,
                                 sqlite3_value *count)
{
    bly_filter *filter;
    sql_keys_key key;
    if (sqlite3_value_nochange(count))
        return SQLITE_OK;
    int status = sql_stored_current(t->stored, &filter);
    if (status != SQLITE_OK)
        return status;
    if (sql_keys_of(&key, bly_form_of(filter), asked) != KEYS_ONE)
        return SQLITE_NOMEM;
    const uint64_t now = bly_count(filter, key.data, key.length);
    sql_keys_done(&key);
    const bool same = now <= INT64_MAX
        ? sqlite3_value_type(count) == SQLITE_INTEGER
          && (uint64_t)sqlite3_value_int64(count) == now
        : sqlite3_value_type(count) == SQLITE_NULL;
    return same ? SQLITE_OK
         : sql_table_wrong(&t->base, "the column count cannot be updated: only "
                           "a label can");
}

/* Changes the label of a key. */
static int sql_table_relabel(table *t, sqlite3_value *key,
                             sqlite3_value **columns)
{
    uint64_t label;
    bool given, seen;
    if (!sql_table_same(key, columns[TABLE_KEY]))
        return sql_table_wrong(&t->base, "a filter cannot change a key: delete "
                               "it and insert the other one");
    int status = sql_table_check_count(t, key, columns[TABLE_COUNT]);
    if (status != SQLITE_OK)
        return status;
    status = sql_table_label(t, &given, &label, columns[TABLE_LABEL]);
    if (status == SQLITE_OK && !given)
        return sql_table_wrong(&t->base, "only a label can be updated, and not "
                               "to NULL");
    return status != SQLITE_OK ? status
         : sql_stored_change(t->stored, 'p', key, label, &seen);
}

static int sql_table_update(sqlite3_vtab *base, int n, sqlite3_value **values,
                            sqlite3_int64 *rowid)
{
    table *t = (table *)base;
    bool seen;
    *rowid = sqlite3_last_insert_rowid(t->db);  /* it remains that           */
    if (t->stored == NULL)
        return sql_table_wrong(base, "a table over a file may not be modified: "
                               "USING bloomery(kind=…, capacity=…) makes one "
                               "that may");
    if (n == 1)
        return sql_stored_change(t->stored, 'r', values[0], 0, &seen);
    return sqlite3_value_type(values[0]) == SQLITE_NULL
         ? sql_table_insert(t, values + 2)
         : sql_table_relabel(t, values[0], values + 2);
}

/* ---- Transactions -------------------------------------------------------- */

static int sql_table_begin(sqlite3_vtab *base)
{
    table *t = (table *)base;
    if (t->stored != NULL)
        sql_stored_begin(t->stored);
    return SQLITE_OK;
}

static int sql_table_sync(sqlite3_vtab *base)
{
    table *t = (table *)base;
    return t->stored != NULL ? sql_stored_flush(t->stored) : SQLITE_OK;
}

static int sql_table_commit(sqlite3_vtab *base)
{
    table *t = (table *)base;
    if (t->stored != NULL)
        sql_stored_end(t->stored);
    return SQLITE_OK;
}

static int sql_table_rollback(sqlite3_vtab *base)
{
    table *t = (table *)base;
    if (t->stored != NULL) {
        sql_stored_roll_back(t->stored);
        sql_stored_end(t->stored);
    }
    return SQLITE_OK;
}

static int sql_table_savepoint(sqlite3_vtab *base, int savepoint)
{
    (void)savepoint;
    return sql_table_sync(base);
}

static int sql_table_release(sqlite3_vtab *base, int savepoint)
{
    (void)base;
    (void)savepoint;
    return SQLITE_OK;
}

static int sql_table_rollback_to(sqlite3_vtab *base, int savepoint)
{
    table *t = (table *)base;
    (void)savepoint;
    if (t->stored != NULL)
        sql_stored_roll_back_to(t->stored);
    return SQLITE_OK;
}

/* ---- The module ---------------------------------------------------------- */

#if SQLITE_VERSION_NUMBER >= 3044000
/* Reads a stored filter completely, for PRAGMA integrity_check. */
static int sql_table_integrity(sqlite3_vtab *base, const char *schema,
                               const char *name, int quick, char **error)
{
    (void)quick;
    if (((table *)base)->stored == NULL)
        return SQLITE_OK;
    int status = sql_stored_check(((table *)base)->db, base, schema, name);
    if (status == SQLITE_OK || status == SQLITE_NOMEM
        || status == SQLITE_INTERRUPT)
        return status;
    *error = sqlite3_mprintf("the filter of %s.%s: %s", schema, name,
                             base->zErrMsg != NULL ? base->zErrMsg
                             : sqlite3_errstr(status));
    sqlite3_free(base->zErrMsg);
    base->zErrMsg = NULL;
    return *error != NULL ? SQLITE_OK : SQLITE_NOMEM;
}
#endif

static const sqlite3_module sql_table_module = {
#if SQLITE_VERSION_NUMBER >= 3044000
    .iVersion = 4,
    .xIntegrity = sql_table_integrity,
#else
    .iVersion = 3,
#endif
    .xCreate = sql_table_create,
    .xConnect = sql_table_connect,
    .xBestIndex = sql_table_best,
    .xDisconnect = sql_table_free,
    .xDestroy = sql_table_destroy,
    .xOpen = sql_table_open,
    .xClose = sql_table_close,
    .xFilter = sql_table_filter,
    .xNext = sql_table_next,
    .xEof = sql_table_eof,
    .xColumn = sql_table_column,
    .xRowid = sql_table_rowid,
    .xUpdate = sql_table_update,
    .xBegin = sql_table_begin,
    .xSync = sql_table_sync,
    .xCommit = sql_table_commit,
    .xRollback = sql_table_rollback,
    .xRename = sql_table_rename,
    .xSavepoint = sql_table_savepoint,
    .xRelease = sql_table_release,
    .xRollbackTo = sql_table_rollback_to,
    .xShadowName = sql_pages_is_shadow,
};

int sql_table_register(sqlite3 *db)
{
    sql_stored_home *home = sqlite3_malloc64(sizeof *home);
    if (home == NULL)
        return SQLITE_NOMEM;
    *home = (sql_stored_home){ .first = NULL };
    return sqlite3_create_module_v2(db, "bloomery", &sql_table_module, home,
                                    sqlite3_free);
}
