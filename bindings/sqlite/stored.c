/* stored.c - a filter that is stored in the database: each connection has it in
 * memory, and the shadow tables of pages.c have it on disk.
 *
 * An operation changes the filter in memory and is kept as a record. Records
 * are written to the log when a savepoint begins and when a transaction ends,
 * so that the shadow tables have the state in memory at every point to which
 * SQLite can return. SQLite itself makes them atomic, durable and visible to
 * other connections. After a rollback the filter in memory is read again if it
 * had changed. Operations depend on nothing but the filter, so a connection
 * that repeats the records of another one gets the same filter.
 *
 * A connection can have several objects for one table. If SQLite reads its
 * schema again in a transaction, the table gets a new object, and the old one
 * stays until the transaction ends. So each object writes the records of the
 * others before it reads the shadow tables. The object of a table that was
 * created and rolled back stays as well, and is not informed. Its mark is then
 * missing in the shadow tables of that name, if they exist, and its records are
 * dropped.
 *
 * A record is a letter and 8 bytes for each number, the lowest first:
 *
 *      f FORM                      states the form of the keys
 *      a HASH | A LENGTH KEY       adds a key
 *      r HASH | R LENGTH KEY       removes a key
 *      p LABEL HASH | P LABEL LENGTH KEY
 *
 * Kinds that keep or hash whole keys have records with keys, and others have
 * records with hashes. */
#include "extension.h"

#include <bloomery/parts.h>
#include <string.h>

enum {
    STORED_LOG = 32 << 10,              /* bytes of log that are always fine */
    STORED_LOG_MOST = 16 << 20,         /* bytes of log at most              */
    STORED_LOG_SHARE = 100,             /* else this part of the image       */
    STORED_PENDING = 1 << 20,           /* bytes of records in memory        */
    STORED_ROW = 64 << 10               /* … and in a row, if they are more  */
};

struct sql_stored {
    sqlite3       *db;
    sql_stored_home *home;
    sql_stored    *next, **back;        /* in its list                       */
    sqlite3_vtab  *table;               /* for messages                      */
    sql_pages     *pages;
    bly_filter    *filter;              /* NULL: to be read                  */
    sql_pages_mark at;                  /* the state that it has, and …      */
    unsigned char *pending;             /* … records that are not written    */
    size_t         used, room;
    uint64_t       logged;              /* bytes in the log                  */
    bool           any;                 /* keys of any class                 */
    bool           whole;               /* records have keys                 */
    bool           once;                /* adding a key twice changes nothing*/
    bool           takes_form;          /* the first key states the form     */
    bool           writing;             /* a transaction has begun           */
    bool           fresh;               /* checked in this transaction       */
    bool           rolled_back;         /* after the last check              */
    bool           rewrite;             /* the pages must be written         */
    bool           flushing;            /* statements of ours are running, … */
    bool           freed;               /* … and SQLite has let go of it     */
};

/* Puts the filter into the connection's list. */
static void sql_stored_enter(sql_stored *s, sql_stored_home *home)
{
    s->next = home->first;
    s->back = &home->first;
    if (s->next != NULL)
        s->next->back = &s->next;
    home->first = s;
}

static void sql_stored_leave(sql_stored *s)
{
    *s->back = s->next;
    if (s->next != NULL)
        s->next->back = s->back;
}

sql_stored *sql_stored_new(sqlite3 *db, sql_stored_home *home,
                           sqlite3_vtab *table, const char *schema,
                           const char *name, bool any)
{
    sql_stored *s = sqlite3_malloc64(sizeof *s);
    if (s == NULL)
        return NULL;
    *s = (sql_stored){ .db = db, .home = home, .table = table, .any = any,
                       .pages = sql_pages_new(db, schema, name) };
    if (s->pages == NULL) {
        sqlite3_free(s);
        return NULL;
    }
    sql_stored_enter(s, home);
    return s;
}

/* Forgets the filter in memory and all records. */
static void sql_stored_drop_memory(sql_stored *s)
{
    bly_free(s->filter);
    s->filter = NULL;
    s->used = 0;
    s->rewrite = false;
}

void sql_stored_free(sql_stored *s)
{
    if (s == NULL)
        return;
    if (s->flushing) {
        s->freed = true;
        return;
    }
    sql_stored_leave(s);
    sql_stored_drop_memory(s);
    sqlite3_free(s->pending);
    sql_pages_free(s->pages);
    sqlite3_free(s);
}

/* Returns a status of SQLite, with the message of a statement of ours. */
static int sql_stored_sql(sql_stored *s, int status)
{
    if (status == SQLITE_OK || status == SQLITE_NOMEM || s->table->zErrMsg)
        return status;
    s->table->zErrMsg = sql_pages_why(s->pages);
    if (s->table->zErrMsg == NULL)
        s->table->zErrMsg = sqlite3_mprintf("%s", sqlite3_errmsg(s->db));
    return status;
}

static int sql_stored_fail(sql_stored *s, bly_status status)
{
    return extension_fail_table(s->table, status, "SQLITE_LIMIT_LENGTH");
}

static int sql_stored_damaged(sql_stored *s, const char *what)
{
    sqlite3_free(s->table->zErrMsg);
    s->table->zErrMsg = sqlite3_mprintf(
        "the log of this filter is damaged, or a later version of bloomery "
        "wrote it: %s", what);
    return s->table->zErrMsg != NULL ? SQLITE_CORRUPT_VTAB : SQLITE_NOMEM;
}

static int sql_stored_changed(sql_stored *s)
{
    sqlite3_free(s->table->zErrMsg);
    s->table->zErrMsg = sqlite3_mprintf(
        "other statements have changed the shadow tables of this filter during "
        "the transaction: roll it back, and write to the filter only");
    return s->table->zErrMsg != NULL ? SQLITE_CORRUPT_VTAB : SQLITE_NOMEM;
}

/* ---- Records ------------------------------------------------------------- */

typedef struct {
    char        op;                     /* as in the file comment, lower case */
    uint64_t    number;                 /* a form, or the key's hash         */
    uint64_t    label;
    const void *key;                    /* of a whole key; or NULL           */
    size_t      length;
} sql_stored_record;

static void sql_stored_number(unsigned char *to, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(number >> 8 * i);
}

/* Reads a number and moves *from behind it; false if it is cut short. */
static bool sql_stored_read_number(uint64_t *out, const unsigned char **from,
                                   const unsigned char *end)
{
    if (end - *from < 8)
        return false;
    *out = 0;
    for (int i = 8; i-- > 0;)
        *out = *out << 8 | (*from)[i];
    *from += 8;
    return true;
}

/* Appends a record to those that are to be written. Afterwards there is room
 * for a record of a form, which follows the first key. */
static int sql_stored_keep(sql_stored *s, const sql_stored_record *record)
{
    enum { MOST = 1 + 8 + 8 };
    const bool whole = record->key != NULL;
    const size_t length = whole ? record->length : 0;
    unsigned char *grown =
        sql_memory_grow(s->pending, &s->room, s->used + 2 * MOST + length, 1);
    if (grown == NULL)
        return SQLITE_NOMEM;
    s->pending = grown;
    unsigned char *to = grown + s->used;
    *to++ = (unsigned char)(whole ? record->op - 'a' + 'A' : record->op);
    if (record->op == 'p') {
        sql_stored_number(to, record->label);
        to += 8;
    }
    sql_stored_number(to, whole ? length : record->number);
    to += 8;
    if (length > 0)
        memcpy(to, record->key, length);
    s->used = (size_t)(to - grown) + length;
    return SQLITE_OK;
}

/* Reads one record and moves *from behind it. */
static bool sql_stored_read(sql_stored_record *out, const unsigned char **from,
                            const unsigned char *end)
{
    const char letter = (char)*(*from)++;
    const bool whole = letter < 'a';
    *out = (sql_stored_record){ .op = (char)(whole ? letter - 'A' + 'a'
                                                   : letter) };
    if (out->op == 'p' && !sql_stored_read_number(&out->label, from, end))
        return false;
    if (!sql_stored_read_number(&out->number, from, end))
        return false;
    if (!whole)
        return true;
    if (out->number > (uint64_t)(end - *from))
        return false;
    out->key = *from;
    out->length = (size_t)out->number;
    *from += out->length;
    return true;
}

/* Applies a record to the filter. */
static bly_status sql_stored_apply(bly_filter *f, const sql_stored_record *r)
{
    switch (r->op) {
    case 'f':
        return bly_form_set(f, r->number);
    case 'a':
        return r->key != NULL ? bly_add(f, r->key, r->length)
                              : bly_add_hash(f, r->number);
    case 'r':
        return r->key != NULL ? bly_remove(f, r->key, r->length)
                              : bly_remove_hash(f, r->number);
    default:
        return r->key != NULL ? bly_put(f, r->key, r->length, r->label)
                              : bly_put_hash(f, r->number, r->label);
    }
}

/* Repeats the records of a row of the log. */
static int sql_stored_repeat(void *context, const void *ops, size_t bytes)
{
    sql_stored *s = context;
    const unsigned char *from = ops, *end = from + bytes;
    while (bytes > 0 && from < end) {
        sql_stored_record record;
        if (strchr("farpARP", *from) == NULL || *from == '\0'
            || !sql_stored_read(&record, &from, end))
            return sql_stored_damaged(s, "a record is not known");
        bly_status status = sql_stored_apply(s->filter, &record);
        if (status == BLY_ENOMEM)
            return SQLITE_NOMEM;
        if (status < 0)
            return sql_stored_damaged(s, extension_why());
        s->takes_form = false;
    }
    s->logged += bytes;
    return SQLITE_OK;
}

/* ---- Reading ------------------------------------------------------------- */

/* Learns about a filter that was read or made. */
static void sql_stored_learn(sql_stored *s, uint64_t items)
{
    const uint64_t can = bly_can(s->filter);
    s->whole = (can & BLY_CAN_WHOLE_KEYS) != 0;
    s->once = (can & (BLY_CAN_REMOVE | BLY_CAN_COUNT | BLY_CAN_FORGET
                      | BLY_CAN_EXACT | BLY_CAN_LABEL)) == 0;
    s->takes_form = !s->any && items == 0
                 && bly_form_of(s->filter) == BLY_KEYS_UNSTATED;
}

static int sql_stored_unpack(sql_stored *s)
{
    const bly_progress progress = interrupt_progress(s->db);
    bly_options options = sql_memory_options(0);
    bly_header header;
    void *image = NULL;
    size_t bytes = 0;
    int status = sql_stored_sql(s, sql_pages_read(s->pages, &image, &bytes));
    if (status != SQLITE_OK)
        return status;
    options.progress = &progress;
    options.format = "bloomery";
    options.memory_limit = sql_memory_limit(s->db, bytes);
    bly_status done = bly_peek(&header, image, bytes);
    if (done >= 0)
        done = bly_unpack(&s->filter, image, bytes, &options);
    sqlite3_free(image);
    if (done < 0)
        return sql_stored_fail(s, done);
    sql_stored_learn(s, header.items);
    return SQLITE_OK;
}

/* Reads the whole filter. */
static int sql_stored_load(sql_stored *s)
{
    const sql_pages_mark begin = { .id = 0 };
    sql_stored_drop_memory(s);
    s->logged = 0;
    int status = sql_stored_unpack(s);
    if (status == SQLITE_OK)
        status = sql_stored_sql(s, sql_pages_since(s->pages, &begin,
                                                   sql_stored_repeat, s));
    if (status != SQLITE_OK)
        sql_stored_drop_memory(s);
    return status;
}

/* Repeats what other connections have logged. If the log began anew, the whole
 * filter is read. */
static int sql_stored_follow(sql_stored *s, const sql_pages_mark *last)
{
    bool has = false;
    int status = SQLITE_OK;
    if (s->filter != NULL && s->at.id == last->id && s->at.tag == last->tag)
        return SQLITE_OK;
    if (s->filter != NULL)
        status = sql_stored_sql(s, sql_pages_has(s->pages, &s->at, &has));
    if (status != SQLITE_OK)
        return status;
    if (!has)
        return sql_stored_load(s);
    status = sql_stored_sql(s, sql_pages_since(s->pages, &s->at,
                                               sql_stored_repeat, s));
    if (status != SQLITE_OK)
        sql_stored_drop_memory(s);
    return status;
}

/* ---- Writing ------------------------------------------------------------- */

/* Returns how long the log may be. */
static uint64_t sql_stored_most(const sql_stored *s)
{
    size_t bytes;
    bly_raw(s->filter, &bytes);
    uint64_t most = bytes / STORED_LOG_SHARE;
    return most < STORED_LOG ? STORED_LOG
         : most > STORED_LOG_MOST ? STORED_LOG_MOST : most;
}

/* Writes the pages that have changed. If that fails midway, only another
 * writing makes them whole again, unless the transaction is rolled back. */
static int sql_stored_write_pages(sql_stored *s)
{
    size_t bytes;
    const void *image = bly_image(s->filter, &bytes);
    if (image == NULL)
        return sql_stored_fail(s, BLY_ECANCELED);
    s->rewrite = true;
    int status = sql_stored_sql(s, sql_pages_write(s->pages, &s->at, image,
                                                   bytes));
    if (status != SQLITE_OK)
        return status;
    s->rewrite = false;
    s->logged = 0;
    s->used = 0;
    return SQLITE_OK;
}

/* Returns the bytes of the records from `from` that go into one row. */
static size_t sql_stored_row(const sql_stored *s, size_t from)
{
    const unsigned char *begin = s->pending + from, *at = begin, *read = begin;
    const unsigned char *end = s->pending + s->used;
    sql_stored_record record;
    while (read < end && sql_stored_read(&record, &read, end)
           && (at == begin || read - begin <= STORED_ROW))
        at = read;
    return (size_t)(at - begin);
}

/* Writes the records to the log, in rows that each connection can read whatever
 * its SQLITE_LIMIT_LENGTH. If that fails midway, the other records remain. */
static int sql_stored_write_log(sql_stored *s)
{
    size_t done = 0;
    int status = SQLITE_OK;
    while (status == SQLITE_OK && done < s->used) {
        size_t row = sql_stored_row(s, done);
        status = sql_stored_sql(s, sql_pages_log(s->pages, &s->at,
                                                 s->pending + done, row));
        if (status == SQLITE_OK)
            done += row;
    }
    if (s->filter == NULL)              /* the transaction was rolled back   */
        return status;
    s->logged += done;
    s->used -= done;
    if (done > 0 && s->used > 0)
        memmove(s->pending, s->pending + done, s->used);
    return status;
}

/* Finds out whether the shadow tables have the state to which the records
 * belong. A writing of pages that failed leaves an empty log. */
static int sql_stored_is_theirs(sql_stored *s, bool *out)
{
    sql_pages_mark last;
    int status = sql_stored_sql(s, sql_pages_exist(s->pages, out));
    if (status != SQLITE_OK || !*out)
        return status;
    status = sql_stored_sql(s, sql_pages_last(s->pages, &last));
    *out = (last.id == s->at.id && last.tag == s->at.tag)
        || (last.id == 0 && s->rewrite);
    return status;
}

static int sql_stored_write(sql_stored *s)
{
    bool theirs;
    int status = sql_stored_is_theirs(s, &theirs);
    if (status != SQLITE_OK)
        return status;
    if (!theirs && !s->writing) {       /* created and rolled back           */
        sql_stored_drop_memory(s);
        return SQLITE_OK;
    }
    if (!theirs)
        return sql_stored_changed(s);
    if (s->rewrite || s->logged + s->used > sql_stored_most(s))
        return sql_stored_write_pages(s);
    return sql_stored_write_log(s);
}

/* Statements of ours that run a trigger can begin a savepoint themselves. */
int sql_stored_flush(sql_stored *s)
{
    if (s->flushing || s->filter == NULL || (s->used == 0 && !s->rewrite))
        return SQLITE_OK;
    s->flushing = true;
    int status = sql_stored_write(s);
    s->flushing = false;
    return status;
}

/* Writes the records of another object. Its messages go to our table, because
 * SQLite frees the other one if the transaction is rolled back meanwhile. */
static int sql_stored_flush_other(sql_stored *s, sql_stored *other)
{
    sqlite3_vtab *table = other->table;
    other->table = s->table;
    int status = sql_stored_flush(other);
    other->table = table;
    if (other->freed)
        sql_stored_free(other);
    return status;
}

/* Writes the records of other objects for the same table. */
static int sql_stored_settle(sql_stored *s)
{
    int status = SQLITE_OK;
    sql_stored *next;
    for (sql_stored *other = s->home->first; status == SQLITE_OK
         && other != NULL; other = next) {
        next = other->next;
        if (other != s && sql_pages_are_same(s->pages, other->pages))
            status = sql_stored_flush_other(s, other);
    }
    return status;
}

int sql_stored_current(sql_stored *s, bly_filter **out)
{
    sql_pages_mark last;
    if (s->filter == NULL || !s->fresh) {
        int status = sql_stored_settle(s);
        if (status == SQLITE_OK)
            status = sql_stored_sql(s, sql_pages_last(s->pages, &last));
        if (status == SQLITE_OK)
            status = sql_stored_follow(s, &last);
        if (status != SQLITE_OK)
            return status;
        s->at = last;
        s->fresh = s->writing;
        s->rolled_back = false;
    }
    *out = s->filter;
    return SQLITE_OK;
}

int sql_stored_same(sql_stored *s, bly_filter **out)
{
    if (s->filter == NULL || s->rolled_back)
        return sql_stored_current(s, out);
    *out = s->filter;
    return SQLITE_OK;
}

void sql_stored_begin(sql_stored *s)
{
    s->writing = true;
    s->fresh = false;
}

void sql_stored_end(sql_stored *s)
{
    s->writing = s->fresh = false;
}

void sql_stored_roll_back(sql_stored *s)
{
    if (s->used > 0 || s->rewrite)
        sql_stored_drop_memory(s);
    s->fresh = false;
    s->rolled_back = true;
}

void sql_stored_roll_back_to(sql_stored *s)
{
    if (!s->flushing)                   /* else only a statement of ours     */
        sql_stored_roll_back(s);
}

/* ---- Changes ------------------------------------------------------------- */

/* Applies an operation and keeps its record. The room for the record is made
 * first, so that no operation is without one. */
static int sql_stored_do(sql_stored *s, const sql_stored_record *record)
{
    const size_t used = s->used;
    int kept = sql_stored_keep(s, record);
    if (kept != SQLITE_OK)
        return kept;
    bly_status status = sql_stored_apply(s->filter, record);
    if (status >= 0)
        return SQLITE_OK;
    s->used = used;
    return sql_stored_fail(s, status);
}

/* States the form of the keys by the first one. Another system's filter cannot
 * store a form. */
static int sql_stored_state(sql_stored *s, uint64_t form)
{
    const sql_stored_record record = { .op = 'f', .number = form };
    if (!s->takes_form || form == BLY_KEYS_UNSTATED)
        return SQLITE_OK;
    s->takes_form = false;
    if (strcmp(bly_kind_find(bly_kind_of(s->filter))->family, "foreign") == 0)
        return SQLITE_OK;
    return sql_stored_do(s, &record);
}

static int sql_stored_refused(sql_stored *s, sql_keys_found found,
                              const sql_keys_key *key)
{
    if (found == KEYS_NONE)
        return SQLITE_OK;
    sqlite3_free(s->table->zErrMsg);
    s->table->zErrMsg = found == KEYS_REFUSED ? sql_keys_why(key) : NULL;
    return s->table->zErrMsg != NULL ? SQLITE_ERROR : SQLITE_NOMEM;
}

/* Returns whether adding the key would change nothing. */
static bool sql_stored_is_there(const sql_stored *s, const sql_keys_key *key,
                                uint64_t hash)
{
    return s->once && (s->whole ? bly_contains(s->filter, key->data,
                                               key->length)
                                : bly_contains_hash(s->filter, hash));
}

int sql_stored_change(sql_stored *s, char op, sqlite3_value *value,
                      uint64_t label, bool *seen)
{
    sql_keys_key key;
    bly_filter *filter;
    *seen = false;
    int status = sql_stored_current(s, &filter);
    if (status == SQLITE_OK && s->used >= STORED_PENDING)
        status = sql_stored_flush(s);
    if (status != SQLITE_OK)
        return status;
    sql_keys_found found = sql_keys_of(&key, bly_form_of(filter), value);
    if (found != KEYS_ONE)
        return sql_stored_refused(s, found, &key);
    sql_stored_record record = { .op = op, .label = label };
    if (s->whole) {
        record.key = key.data;
        record.length = key.length;
    } else {
        record.number = bly_hash(filter, key.data, key.length);
    }
    *seen = op == 'a' && sql_stored_is_there(s, &key, record.number);
    if (!*seen)
        status = sql_stored_do(s, &record);
    sql_keys_done(&key);
    return status == SQLITE_OK ? sql_stored_state(s, sql_keys_class(value))
                               : status;
}

int sql_stored_unite(sql_stored *s, sqlite3_value *value)
{
    bly_status done;
    bly_filter *filter;
    int status = sql_stored_current(s, &filter);
    if (status != SQLITE_OK)
        return status;
    bly_filter *other = sql_held_copy(s->db, value, &done);
    if (done < 0)
        return sql_stored_fail(s, done);
    if (other == NULL) {
        sqlite3_free(s->table->zErrMsg);
        s->table->zErrMsg = sql_held_no_filter(value);
        return s->table->zErrMsg != NULL ? SQLITE_ERROR : SQLITE_NOMEM;
    }
    const bool stated = !s->takes_form;
    status = sql_stored_state(s, bly_form_of(other));
    if (status == SQLITE_OK) {
        done = bly_unite(filter, other);
        if (done < 0)
            status = sql_stored_fail(s, done);
        else
            s->rewrite = true;
    }
    bly_free(other);
    if (status != SQLITE_OK && !stated)
        sql_stored_drop_memory(s);      /* it was empty, and has a form now  */
    return status;
}

/* ---- The tables ---------------------------------------------------------- */

int sql_stored_create(sql_stored *s, const char *kind, const bly_spec *wanted)
{
    const bly_progress progress = interrupt_progress(s->db);
    bly_spec spec = *wanted;
    bly_plan_t plan;
    spec.progress = &progress;
    bly_status done = bly_plan(&plan, kind, &spec);
    if (done >= 0) {
        s->table->zErrMsg = sql_memory_table_refused(plan.bytes);
        if (s->table->zErrMsg != NULL)
            return SQLITE_TOOBIG;
        done = bly_new(&s->filter, kind, &spec);
    }
    if (done < 0)
        return sql_stored_fail(s, done);
    sql_stored_learn(s, 0);
    int status = sql_stored_sql(s, sql_pages_create(s->pages));
    return status == SQLITE_OK ? sql_stored_write_pages(s) : status;
}

int sql_stored_drop(sql_stored *s)
{
    int status = sql_stored_settle(s);
    return status == SQLITE_OK
         ? sql_stored_sql(s, sql_pages_drop(s->pages)) : status;
}

int sql_stored_rename(sql_stored *s, const char *name)
{
    int status = sql_stored_settle(s);
    if (status == SQLITE_OK)
        status = sql_stored_flush(s);
    return status == SQLITE_OK
         ? sql_stored_sql(s, sql_pages_rename(s->pages, name)) : status;
}

int sql_stored_check(sqlite3 *db, sqlite3_vtab *table, const char *schema,
                     const char *name)
{
    sql_stored_home alone = { .first = NULL };
    bly_filter *filter;
    sql_stored *s = sql_stored_new(db, &alone, table, schema, name, false);
    int status = s != NULL ? sql_stored_current(s, &filter) : SQLITE_NOMEM;
    sql_stored_free(s);
    return status;
}
