/* table.c - a table that is a filter's file.
 *
 *      CREATE VIRTUAL TABLE f USING bloomery('words.bly'[, map][, verify]
 *                                            [, format=NAME])
 *      SELECT … FROM big JOIN f ON f.key = big.k
 *
 * It has a row for each key that it is asked for and that is perhaps there. It
 * cannot be listed: without `key = …` a statement is refused. Each statement
 * looks whether the file is still the one that was opened. */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_KEY, TABLE_LABEL, TABLE_COUNT };

/* An open file, kept as long as a cursor needs it. */
typedef struct {
    bly_filter *filter;
    int         users;
} sql_table_file;

typedef struct {
    sqlite3_vtab base;
    sqlite3     *db;
    sql_table_file  *file;              /* NULL: not opened yet              */
    char        *path, *format;
    int          flags;
    uint64_t     limit;                 /* of memory; 0 if not given         */
} table;

typedef struct {
    sqlite3_vtab_cursor base;
    sql_table_file    *file;
    sqlite3_value *asked;               /* NULL: no row                      */
} sql_table_cursor;

/* ---- The file ------------------------------------------------------------ */

static void sql_table_let_go(sql_table_file *file)
{
    if (file == NULL || --file->users > 0)
        return;
    bly_free(file->filter);
    sqlite3_free(file);
}

static int sql_table_open_file(table *t, sql_table_file **out)
{
    const bly_progress progress = interrupt_progress(t->db);
    bly_options options = sql_memory_options(t->limit);
    sql_table_file *file = sqlite3_malloc64(sizeof *file);
    if (file == NULL)
        return SQLITE_NOMEM;
    *file = (sql_table_file){ .users = 1 };
    options.format = t->format;
    options.progress = &progress;
    bly_status status = bly_open(&file->filter, t->path, t->flags, &options);
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
        bly_status status = bly_replaced(&replaced, t->file->filter, t->path);
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

/* Returns the text inside SQL quotes, or all of it. Returns NULL if out of
   memory or invalid. */
static char *sql_table_unquoted(const char *text, char **error)
{
    const char *all = text;
    char quote = *text, *out = sqlite3_mprintf("%s", text), *to = out;
    if (out == NULL || (quote != '\'' && quote != '"'))
        return out;
    for (text++; *text != '\0'; text++) {
        if (*text == quote && *++text != quote)
            break;
        *to++ = *text;
    }
    *to = '\0';
    if (*text == '\0')
        return out;
    *error = sqlite3_mprintf("nothing may follow the quotes in %s: put a comma "
                             "before an option", all);
    sqlite3_free(out);
    return NULL;
}

/* Parses a number of bytes, at least 1. */
static bool sql_table_limit(table *t, const char *text, char **error)
{
    char *end;
    t->limit = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && t->limit > 0)
        return true;
    *error = sqlite3_mprintf("limit=%s is not a number of bytes", text);
    return false;
}

static bool sql_table_option(table *t, const char *option, char **error)
{
    if (strcmp(option, "map") == 0) {
        t->flags |= BLY_MAP;
    } else if (strcmp(option, "verify") == 0) {
        t->flags |= BLY_VERIFY;
    } else if (strncmp(option, "format=", 7) == 0 && t->format == NULL) {
        t->format = sql_table_unquoted(option + 7, error);
        return t->format != NULL;
    } else if (strncmp(option, "limit=", 6) == 0) {
        return sql_table_limit(t, option + 6, error);
    } else {
        *error = sqlite3_mprintf("unknown option %s: use map, verify, "
                                 "format=NAME or limit=BYTES", option);
        return false;
    }
    return true;
}

static int sql_table_free(sqlite3_vtab *base)
{
    table *t = (table *)base;
    sql_table_let_go(t->file);
    sqlite3_free(t->path);
    sqlite3_free(t->format);
    sqlite3_free(t);
    return SQLITE_OK;
}

static bool sql_table_read_arguments(table *t, int n,
                                     const char *const *arguments, char **error)
{
    if (n < 4) {
        *error = sqlite3_mprintf("the file is missing: USING "
                                 "bloomery('words.bly')");
        return false;
    }
    t->path = sql_table_unquoted(arguments[3], error);
    if (t->path == NULL)
        return false;
    for (int i = 4; i < n; i++)
        if (!sql_table_option(t, arguments[i], error))
            return false;
    if ((t->flags & BLY_VERIFY) != 0 && (t->flags & BLY_MAP) == 0)
        t->flags &= ~BLY_VERIFY;        /* loaded bytes are always verified  */
    return true;
}

/* The file is opened by the first statement, so that a table whose file is
 * missing can still be dropped. Views and triggers may not use the table: an
 * untrusted database could otherwise open any file. */
static int sql_table_connect(sqlite3 *db, void *unused, int n,
                             const char *const *arguments, sqlite3_vtab **out,
                             char **error)
{
    (void)unused;
    int status = sqlite3_declare_vtab(
        db, "CREATE TABLE x(key, label INTEGER HIDDEN, count INTEGER HIDDEN)");
    if (status != SQLITE_OK)
        return status;
    table *t = sqlite3_malloc64(sizeof *t);
    if (t == NULL)
        return SQLITE_NOMEM;
    memset(t, 0, sizeof *t);
    t->db = db;
    if (!sql_table_read_arguments(t, n, arguments, error)) {
        sql_table_free(&t->base);
        return *error != NULL ? SQLITE_ERROR : SQLITE_NOMEM;
    }
    *out = &t->base;
    return sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
}

/* Refuses to create a table whose file is invalid. */
static int sql_table_create(sqlite3 *db, void *unused, int n,
                            const char *const *arguments, sqlite3_vtab **out,
                            char **error)
{
    int status = sql_table_connect(db, unused, n, arguments, out, error);
    if (status != SQLITE_OK)
        return status;
    table *t = (table *)*out;
    status = sql_table_current(t);
    if (status == SQLITE_OK)
        return SQLITE_OK;
    sqlite3_free(*error);
    *error = t->base.zErrMsg;
    sql_table_free(&t->base);
    *out = NULL;
    return status;
}

/* ---- A plan -------------------------------------------------------------- */

/* The plans of statements. */
enum { TABLE_ALL, TABLE_COLLATED, TABLE_ONE };

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

static int sql_table_best(sqlite3_vtab *base, sqlite3_index_info *info)
{
    bool there = false, collated = false;
    int at = -1;
    (void)base;
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
    int status = sql_table_current(t);
    if (status != SQLITE_OK)
        return status;
    sql_table_cursor *c = sqlite3_malloc64(sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    *c = (sql_table_cursor){ .file = t->file };
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

static int sql_table_filter(sqlite3_vtab_cursor *base, int number,
                            const char *text, int n, sqlite3_value **values)
{
    sql_table_cursor *c = (sql_table_cursor *)base;
    sql_keys_key key;
    (void)text;
    (void)n;
    sqlite3_value_free(c->asked);
    c->asked = NULL;
    if (number != TABLE_ONE)
        return sql_table_refuse(base->pVtab, number);
    sql_keys_found found =
        sql_keys_of(&key, bly_form_of(c->file->filter), values[0]);
    if (found == KEYS_REFUSED) {
        sqlite3_free(base->pVtab->zErrMsg);
        base->pVtab->zErrMsg = sql_keys_why(&key);
        return SQLITE_ERROR;
    }
    if (found == KEYS_NO_MEMORY)
        return SQLITE_NOMEM;
    if (found == KEYS_NONE)
        return SQLITE_OK;
    bool there = bly_contains(c->file->filter, key.data, key.length);
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
    return SQLITE_OK;
}

static int sql_table_eof(sqlite3_vtab_cursor *base)
{
    return ((sql_table_cursor *)base)->asked == NULL;
}

static void sql_table_number(sqlite3_context *context, uint64_t number)
{
    if (number <= INT64_MAX)
        sqlite3_result_int64(context, (int64_t)number);
}

static int sql_table_column(sqlite3_vtab_cursor *base, sqlite3_context *context,
                            int column)
{
    sql_table_cursor *c = (sql_table_cursor *)base;
    sql_keys_key key;
    uint64_t label;
    if (column == TABLE_KEY) {
        sqlite3_result_value(context, c->asked);
        return SQLITE_OK;
    }
    if (sql_keys_of(&key, bly_form_of(c->file->filter), c->asked) != KEYS_ONE)
        return SQLITE_NOMEM;
    if (column == TABLE_COUNT)
        sql_table_number(context,
                         bly_count(c->file->filter, key.data, key.length));
    else if (bly_get(c->file->filter, key.data, key.length, &label))
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

static int sql_table_rename(sqlite3_vtab *base, const char *name)
{
    (void)base;
    (void)name;
    return SQLITE_OK;
}

static const sqlite3_module sql_table_module = {
    .xCreate = sql_table_create,
    .xConnect = sql_table_connect,
    .xBestIndex = sql_table_best,
    .xDisconnect = sql_table_free,
    .xDestroy = sql_table_free,
    .xOpen = sql_table_open,
    .xClose = sql_table_close,
    .xFilter = sql_table_filter,
    .xNext = sql_table_next,
    .xEof = sql_table_eof,
    .xColumn = sql_table_column,
    .xRowid = sql_table_rowid,
    .xRename = sql_table_rename,
};

int sql_table_register(sqlite3 *db)
{
    return sqlite3_create_module_v2(db, "bloomery", &sql_table_module, NULL,
                                    NULL);
}
