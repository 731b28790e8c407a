/* pages.c - the shadow tables of a filter that is stored in the database.
 *
 *      NAME_pages(id INTEGER PRIMARY KEY, bytes BLOB)
 *      NAME_log(id INTEGER PRIMARY KEY, tag INTEGER, ops BLOB)
 *
 * The pages are the image of the filter, cut into chunks of one page of the
 * database each: id 1, 2, 3, … The log has the operations since the pages were
 * written, a row or more for each transaction, so that a transaction of one key
 * writes one row at the end of one table. When the log is long, the pages that
 * have changed are written, and the log begins anew with a row without
 * operations.
 *
 * The last row of the log is the change counter: its id rises with every change
 * and its tag is random. So a connection whose filter has the state of row
 * (id, tag) is up to date if that is the last row. If that row is still there,
 * the rows after it are all that is missing. Otherwise the filter is read
 * again. A row that was rolled back, and whose id was given to another, has
 * another tag. */
#include "extension.h"

#include <string.h>

enum {
    PAGES_LAST, PAGES_HAS, PAGES_SINCE, PAGES_LOG, PAGES_CUT, PAGES_SIZE,
    PAGES_READ, PAGES_PAGE, PAGES_PUT, PAGES_TAIL, PAGES_STATEMENTS
};

static const char *const sql_pages_text[PAGES_STATEMENTS]= {
    [PAGES_LAST] = "SELECT id, tag FROM \"%w\".\"%w_log\" ORDER BY id DESC "
                   "LIMIT 1",
    [PAGES_HAS]  = "SELECT 1 FROM \"%w\".\"%w_log\" WHERE id = ?1 AND "
                   "tag = ?2",
    [PAGES_SINCE]= "SELECT ops FROM \"%w\".\"%w_log\" WHERE id > ?1 "
                   "ORDER BY id",
    [PAGES_LOG]  = "INSERT INTO \"%w\".\"%w_log\"(id, tag, ops) "
                   "VALUES(?1, ?2, ?3)",
    [PAGES_CUT]  = "DELETE FROM \"%w\".\"%w_log\"",
    [PAGES_SIZE] = "SELECT sum(length(bytes)) FROM \"%w\".\"%w_pages\"",
    [PAGES_READ] = "SELECT bytes FROM \"%w\".\"%w_pages\" ORDER BY id",
    [PAGES_PAGE] = "SELECT bytes FROM \"%w\".\"%w_pages\" WHERE id = ?1",
    [PAGES_PUT]  = "REPLACE INTO \"%w\".\"%w_pages\"(id, bytes) "
                   "VALUES(?1, ?2)",
    [PAGES_TAIL] = "DELETE FROM \"%w\".\"%w_pages\" WHERE id > ?1",
};

struct sql_pages {
    sqlite3      *db;
    char         *schema, *name;
    char         *why;                  /* message of the last error, or NULL */
    sqlite3_stmt *statement[PAGES_STATEMENTS];
};

int sql_pages_is_shadow(const char *name)
{
    return sqlite3_stricmp(name, "pages") == 0
        || sqlite3_stricmp(name, "log") == 0;
}

static void sql_pages_finalize(sql_pages *p)
{
    for (int i = 0; i < PAGES_STATEMENTS; i++) {
        sqlite3_finalize(p->statement[i]);
        p->statement[i] = NULL;
    }
}

void sql_pages_free(sql_pages *p)
{
    if (p == NULL)
        return;
    sql_pages_finalize(p);
    sqlite3_free(p->schema);
    sqlite3_free(p->name);
    sqlite3_free(p->why);
    sqlite3_free(p);
}

sql_pages *sql_pages_new(sqlite3 *db, const char *schema, const char *name)
{
    sql_pages *p = sqlite3_malloc64(sizeof *p);
    if (p == NULL)
        return NULL;
    *p = (sql_pages){ .db = db, .schema = sqlite3_mprintf("%s", schema),
                      .name = sqlite3_mprintf("%s", name) };
    if (p->schema != NULL && p->name != NULL)
        return p;
    sql_pages_free(p);
    return NULL;
}

/* ---- Errors -------------------------------------------------------------- */

char *sql_pages_why(sql_pages *p)
{
    char *why = p->why;
    p->why = NULL;
    return why;
}

/* Takes a message of our own, which is NULL if out of memory. */
static int sql_pages_damaged(sql_pages *p, char *why)
{
    sqlite3_free(p->why);
    p->why = why;
    return why != NULL ? SQLITE_CORRUPT_VTAB : SQLITE_NOMEM;
}

/* ---- Statements ---------------------------------------------------------- */

/* Runs SQL that is used once; frees the text. */
static int sql_pages_run(sql_pages *p, char *text)
{
    int status = text == NULL ? SQLITE_NOMEM
               : sqlite3_exec(p->db, text, NULL, NULL, NULL);
    sqlite3_free(text);
    return status;
}

/* Finds out whether a table exists, and is not a view. */
static int sql_pages_find(sql_pages *p, const char *suffix, bool *out)
{
    char *name = sqlite3_mprintf("%s_%s", p->name, suffix);
    if (name == NULL)
        return SQLITE_NOMEM;
    int status = sqlite3_table_column_metadata(p->db, p->schema, name, NULL,
                                               NULL, NULL, NULL, NULL, NULL);
    sqlite3_free(name);
    *out = status == SQLITE_OK;
    return status == SQLITE_ERROR ? SQLITE_OK : status;
}

/* Refuses a view, which could have any number of rows. */
static int sql_pages_check(sql_pages *p, int which)
{
    const char *suffix = which < PAGES_SIZE ? "log" : "pages";
    bool there;
    int status = sql_pages_find(p, suffix, &there);
    return status != SQLITE_OK || there ? status
         : sql_pages_damaged(p, sqlite3_mprintf(
               "this filter is damaged: %s_%s is not a table", p->name,
               suffix));
}

/* Prepares a statement when it is first used, and binds an id. */
static int sql_pages_prepare(sql_pages *p, int which, sqlite3_int64 id)
{
    enum { FLAGS = SQLITE_PREPARE_PERSISTENT | SQLITE_PREPARE_NO_VTAB };
    sqlite3_stmt **statement = &p->statement[which];
    if (*statement == NULL) {
        char *text = sqlite3_mprintf(sql_pages_text[which], p->schema, p->name);
        int status = text == NULL ? SQLITE_NOMEM
                   : sqlite3_prepare_v3(p->db, text, -1, FLAGS, statement,
                                        NULL);
        sqlite3_free(text);
        if (status == SQLITE_OK)
            status = sql_pages_check(p, which);
        if (status != SQLITE_OK) {
            sqlite3_finalize(*statement);
            *statement = NULL;
            return status;
        }
    }
    return sqlite3_bind_parameter_count(*statement) == 0 ? SQLITE_OK
         : sqlite3_bind_int64(*statement, 1, id);
}

/* Runs a prepared statement that has no rows, and releases what is bound. */
static int sql_pages_step(sql_pages *p, int which)
{
    sqlite3_stmt *statement = p->statement[which];
    sqlite3_step(statement);
    int status = sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

static int sql_pages_do(sql_pages *p, int which, sqlite3_int64 id)
{
    int status = sql_pages_prepare(p, which, id);
    return status == SQLITE_OK ? sql_pages_step(p, which) : status;
}

/* ---- The tables ---------------------------------------------------------- */

int sql_pages_create(sql_pages *p)
{
    return sql_pages_run(p, sqlite3_mprintf(
        "CREATE TABLE \"%w\".\"%w_pages\"(id INTEGER PRIMARY KEY, bytes BLOB);"
        "CREATE TABLE \"%w\".\"%w_log\"(id INTEGER PRIMARY KEY, tag INTEGER, "
        "ops BLOB)", p->schema, p->name, p->schema, p->name));
}

int sql_pages_drop(sql_pages *p)
{
    sql_pages_finalize(p);
    return sql_pages_run(p, sqlite3_mprintf(
        "DROP TABLE IF EXISTS \"%w\".\"%w_pages\";"
        "DROP TABLE IF EXISTS \"%w\".\"%w_log\"",
        p->schema, p->name, p->schema, p->name));
}

int sql_pages_rename(sql_pages *p, const char *name)
{
    char *kept = sqlite3_mprintf("%s", name);
    if (kept == NULL)
        return SQLITE_NOMEM;
    sql_pages_finalize(p);
    int status = sql_pages_run(p, sqlite3_mprintf(
        "ALTER TABLE \"%w\".\"%w_pages\" RENAME TO \"%w_pages\";"
        "ALTER TABLE \"%w\".\"%w_log\" RENAME TO \"%w_log\"",
        p->schema, p->name, name, p->schema, p->name, name));
    if (status != SQLITE_OK) {
        sqlite3_free(kept);
        return status;
    }
    sqlite3_free(p->name);
    p->name = kept;
    return SQLITE_OK;
}

int sql_pages_exist(sql_pages *p, bool *out)
{
    int status = sql_pages_find(p, "pages", out);
    return status == SQLITE_OK && *out ? sql_pages_find(p, "log", out) : status;
}

bool sql_pages_are_same(const sql_pages *a, const sql_pages *b)
{
    return sqlite3_stricmp(a->name, b->name) == 0
        && sqlite3_stricmp(a->schema, b->schema) == 0;
}

/* ---- The change counter -------------------------------------------------- */

int sql_pages_last(sql_pages *p, sql_pages_mark *out)
{
    int status = sql_pages_prepare(p, PAGES_LAST, 0);
    if (status != SQLITE_OK)
        return status;
    sqlite3_stmt *statement = p->statement[PAGES_LAST];
    *out = (sql_pages_mark){ .id = 0 };
    if (sqlite3_step(statement) == SQLITE_ROW) {
        out->id = sqlite3_column_int64(statement, 0);
        out->tag = sqlite3_column_int64(statement, 1);
    }
    return sqlite3_reset(statement);
}

int sql_pages_has(sql_pages *p, const sql_pages_mark *mark, bool *out)
{
    int status = sql_pages_prepare(p, PAGES_HAS, mark->id);
    if (status != SQLITE_OK)
        return status;
    sqlite3_stmt *statement = p->statement[PAGES_HAS];
    sqlite3_bind_int64(statement, 2, mark->tag);
    *out = sqlite3_step(statement) == SQLITE_ROW;
    return sqlite3_reset(statement);
}

/* ---- The log ------------------------------------------------------------- */

int sql_pages_since(sql_pages *p, const sql_pages_mark *mark,
                    sql_pages_visit *visit, void *context)
{
    int status = sql_pages_prepare(p, PAGES_SINCE, mark->id), wrong = SQLITE_OK;
    if (status != SQLITE_OK)
        return status;
    sqlite3_stmt *statement = p->statement[PAGES_SINCE];
    while (wrong == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const void *ops = sqlite3_column_blob(statement, 0);
        int bytes = sqlite3_column_bytes(statement, 0);
        wrong = ops == NULL && bytes > 0 ? SQLITE_NOMEM
              : visit(context, ops, (size_t)bytes);
    }
    status = sqlite3_reset(statement);
    return wrong != SQLITE_OK ? wrong : status;
}

/* Adds a row to the log. Statements of ours do not count as the program's last
 * INSERT. */
int sql_pages_log(sql_pages *p, sql_pages_mark *mark, const void *ops,
                  size_t bytes)
{
    const sqlite3_int64 rowid = sqlite3_last_insert_rowid(p->db);
    if (mark->id == INT64_MAX)
        return sql_pages_damaged(p, sqlite3_mprintf(
            "the log of this filter is damaged: its last row has the largest "
            "id"));
    sql_pages_mark next = { .id = mark->id + 1 };
    sqlite3_randomness(sizeof next.tag, &next.tag);
    int status = sql_pages_prepare(p, PAGES_LOG, next.id);
    if (status == SQLITE_OK)
        status = sqlite3_bind_int64(p->statement[PAGES_LOG], 2, next.tag);
    if (status == SQLITE_OK && ops != NULL)
        status = sqlite3_bind_blob64(p->statement[PAGES_LOG], 3, ops, bytes,
                                     SQLITE_STATIC);
    if (status == SQLITE_OK)
        status = sql_pages_step(p, PAGES_LOG);
    sqlite3_set_last_insert_rowid(p->db, rowid);
    if (status == SQLITE_OK)
        *mark = next;
    return status;
}

/* ---- The image ----------------------------------------------------------- */

/* Adds up the bytes of all pages. */
static int sql_pages_size(sql_pages *p, size_t *out)
{
    int status = sql_pages_prepare(p, PAGES_SIZE, 0);
    if (status != SQLITE_OK)
        return status;
    sqlite3_stmt *statement = p->statement[PAGES_SIZE];
    const uint64_t size = sqlite3_step(statement) == SQLITE_ROW
                        ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    status = sqlite3_reset(statement);
    if (status != SQLITE_OK)
        return status;
    char *why = sql_memory_table_refused(size);
    if (why != NULL)
        return sql_pages_damaged(p, why);
    *out = (size_t)size;
    return SQLITE_OK;
}

int sql_pages_read(sql_pages *p, void **image, size_t *bytes)
{
    size_t used = 0, room = 0;
    int status = sql_pages_size(p, &room);
    if (status == SQLITE_OK)
        status = sql_pages_prepare(p, PAGES_READ, 0);
    if (status != SQLITE_OK)
        return status;
    char *all = sqlite3_malloc64(room + 1);
    if (all == NULL)
        return SQLITE_NOMEM;
    sqlite3_stmt *statement = p->statement[PAGES_READ];
    while (status == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const void *part = sqlite3_column_blob(statement, 0);
        size_t n = (size_t)sqlite3_column_bytes(statement, 0);
        if (part == NULL && n > 0)
            status = SQLITE_NOMEM;
        else if (n > room - used)       /* length() counts characters of TEXT */
            status = sql_pages_damaged(p, sqlite3_mprintf(
                "the pages of this filter are damaged: one is not a BLOB"));
        else if (n > 0)
            memcpy(all + used, part, n);
        used += status == SQLITE_OK ? n : 0;
    }
    int ended = sqlite3_reset(statement);
    status = status == SQLITE_OK ? ended : status;
    if (status != SQLITE_OK) {
        sqlite3_free(all);
        return status;
    }
    *image = all;
    *bytes = used;
    return SQLITE_OK;
}

/* Returns the bytes of a chunk such that its row fills one page of the
 * database. Cells of up to the page's size - 35 are stored whole. */
static int sql_pages_chunk(sql_pages *p, size_t *out)
{
    enum { CELL = 64, LEAST = 448 };
    sqlite3_stmt *statement = NULL;
    char *text = sqlite3_mprintf("PRAGMA \"%w\".page_size", p->schema);
    int status = text == NULL ? SQLITE_NOMEM
               : sqlite3_prepare_v2(p->db, text, -1, &statement, NULL);
    sqlite3_free(text);
    if (status != SQLITE_OK)
        return status;
    int size = sqlite3_step(statement) == SQLITE_ROW
             ? sqlite3_column_int(statement, 0) : 0;
    *out = size > CELL + LEAST ? (size_t)(size - CELL) : LEAST;
    return sqlite3_finalize(statement);
}

/* Compares a page with its row, which may be missing. */
static int sql_pages_compare(sql_pages *p, sqlite3_int64 id, const void *part,
                             size_t n, bool *same)
{
    int status = sql_pages_prepare(p, PAGES_PAGE, id);
    if (status != SQLITE_OK)
        return status;
    sqlite3_stmt *statement = p->statement[PAGES_PAGE];
    *same = false;
    if (sqlite3_step(statement) == SQLITE_ROW) {
        const void *old = sqlite3_column_blob(statement, 0);
        *same = old != NULL
             && (size_t)sqlite3_column_bytes(statement, 0) == n
             && memcmp(old, part, n) == 0;
    }
    return sqlite3_reset(statement);
}

static int sql_pages_put(sql_pages *p, sqlite3_int64 id, const void *part,
                         size_t n)
{
    int status = sql_pages_prepare(p, PAGES_PUT, id);
    if (status == SQLITE_OK)
        status = sqlite3_bind_blob64(p->statement[PAGES_PUT], 2, part, n,
                                     SQLITE_STATIC);
    return status == SQLITE_OK ? sql_pages_step(p, PAGES_PUT) : status;
}

int sql_pages_write(sql_pages *p, sql_pages_mark *mark, const void *image,
                    size_t bytes)
{
    const sqlite3_int64 rowid = sqlite3_last_insert_rowid(p->db);
    const char *all = image;
    size_t chunk;
    sqlite3_int64 id = 0;
    bool same;
    int status = sql_pages_chunk(p, &chunk);
    for (size_t at = 0; status == SQLITE_OK && at < bytes; at += chunk) {
        size_t n = bytes - at < chunk ? bytes - at : chunk;
        status = sql_pages_compare(p, ++id, all + at, n, &same);
        if (status == SQLITE_OK && !same)
            status = sql_pages_put(p, id, all + at, n);
    }
    if (status == SQLITE_OK)
        status = sql_pages_do(p, PAGES_TAIL, id);
    if (status == SQLITE_OK)
        status = sql_pages_do(p, PAGES_CUT, 0);
    sqlite3_set_last_insert_rowid(p->db, rowid);
    return status == SQLITE_OK ? sql_pages_log(p, mark, NULL, 0) : status;
}
