/* extension.h - declarations shared by the files of the SQLite extension.
 *
 *     extension.c  SQLite's functions, and errors
 *     memory.c     the library's memory, from SQLite
 *     interrupt.c  lets sqlite3_interrupt end long calls
 *     keys.c       values of SQL as keys
 *     held.c       filters from blobs, and back
 *     scalar.c     functions of a filter and keys
 *     tell.c       functions that describe filters and plans in JSON
 *     build.c      aggregates that build a filter from keys
 *     sets.c       aggregates and functions that combine filters
 *     rows.c       tables of keys and of kinds
 *     table.c      tables of a filter, over a file or stored in the database
 *     arguments.c  arguments of CREATE VIRTUAL TABLE
 *     stored.c     the filter of a stored table
 *     pages.c      its shadow tables
 *     init.c       loading: registers all of these
 *
 * The library is used through its public headers only.
 */
#ifndef SQLITE_EXTENSION_H
#define SQLITE_EXTENSION_H

#include <bloomery/fields.h>
#include <bloomery/form.h>
#include <sqlite3ext.h>

extern const sqlite3_api_routines *sqlite3_api;

/* ---- extension.c --------------------------------------------------------- */

/* The flags of functions without side effects. */
enum { EXTENSION_PURE = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS };

/* The flag of functions that return JSON, which later versions require. */
#ifdef SQLITE_RESULT_SUBTYPE
enum { EXTENSION_SUBTYPE = SQLITE_RESULT_SUBTYPE };
#else
enum { EXTENSION_SUBTYPE = 0 };
#endif

/* Registers an aggregate that is also a window function. `value` gives the
 * result of the rows so far. A filter cannot take rows back, so a frame whose
 * begin moves is an error. */
int extension_aggregate(sqlite3 *db, const char *name, int n,
                        void (*step)(sqlite3_context *, int, sqlite3_value **),
                        void (*final)(sqlite3_context *),
                        void (*value)(sqlite3_context *));

/* Returns the library's message with the names of SQL. */
const char *extension_why(void);

/* Raises the error of a status: the library's message, out of memory, or an
   interrupt. */
void extension_fail(sqlite3_context *context, bly_status status);

/* Raises an error of our own, in one line. */
__attribute__((format(printf, 2, 3)))
void extension_error(sqlite3_context *context, const char *format, ...);

/* Raises SQLITE_TOOBIG with this message, and frees it. Returns whether there
   is one. */
bool extension_too_big(sqlite3_context *context, char *why);

/* Sets the error of a table; `limit` names its memory limit. */
int extension_fail_table(sqlite3_vtab *table, bly_status status,
                         const char *limit);

/* ---- memory.c ------------------------------------------------------------ */

extern const bly_allocator sql_memory_allocator;

/* Returns the options for filters here: SQLite's memory, no threads, and at
 * most `limit` bytes for filters that unpack to more than they were read from;
 * 0 is the default. */
bly_options sql_memory_options(uint64_t limit);

/* Returns the limit for a filter from a BLOB of that size: the library's,
 * capped by the connection's maximum for a BLOB (SQLITE_LIMIT_LENGTH). */
uint64_t sql_memory_limit(sqlite3 *db, uint64_t bytes);

/* Return why a filter of that size cannot be a BLOB, or be stored in a table,
 * for sqlite3_free. NULL: it can, or out of memory. */
char *sql_memory_blob_refused(sqlite3 *db, uint64_t bytes);
char *sql_memory_table_refused(uint64_t bytes);

/* Grows an array to at least `needed` elements. Returns NULL, with the array
 * unchanged, if out of memory. */
void *sql_memory_grow(void *old, size_t *room, size_t needed, size_t size);

/* ---- interrupt.c --------------------------------------------------------- */

/* Returns a callback for one long call in a statement of this connection, which
 * cancels it if the statement is interrupted. */
bly_progress interrupt_progress(sqlite3 *db);

/* Sets the callback for all later calls with a filter, while the connection is
   open. */
void interrupt_watch(bly_filter *filter, sqlite3 *db);

/* Returns whether the statement is interrupted, for long loops of our own;
 * checks at most every 20 ms, and returns false in between. */
bool interrupt_now(sqlite3 *db);

/* ---- keys.c -------------------------------------------------------------- */

typedef struct {
    const void   *data;
    size_t        length;
    unsigned char number[8];            /* holds the key of a number         */
    void         *room;                 /* holds the key of a changed text   */
    const char   *cast;                 /* KEYS_REFUSED: an expression of the
                                           right type; NULL: it has that     */
} sql_keys_key;

typedef enum {
    KEYS_NONE,
    KEYS_ONE,
    KEYS_NO_MEMORY,
    KEYS_REFUSED
} sql_keys_found;

/* Makes the key of a value in a filter of this form. KEYS_NONE: it is NULL;
 * KEYS_REFUSED: it has another class or is out of range, see sql_keys_why. The
 * bytes belong to the value or to `out`; call sql_keys_done after KEYS_ONE. */
sql_keys_found sql_keys_of(sql_keys_key *out, uint64_t form,
                           sqlite3_value *value);
void sql_keys_done(sql_keys_key *key);

/* Returns why sql_keys_of refused, for sqlite3_free; NULL if out of memory. */
char *sql_keys_why(const sql_keys_key *key);

/* Raises the error if sql_keys_of made no key. */
void sql_keys_fail(sqlite3_context *context, sql_keys_found found,
                   const sql_keys_key *key);

/* Returns the form of filters whose keys all have the value's class; 0 for
   NULL. */
uint64_t sql_keys_class(sqlite3_value *value);

/* Reads the form that a value names; NULL leaves *given false. */
bool sql_keys_form(sqlite3_context *context, uint64_t *form, bool *given,
                   sqlite3_value *value);

/* Returns the value's type, such as "TEXT". */
const char *sql_keys_type(sqlite3_value *value);

/* Reads a non-negative integer, given as INTEGER or as a REAL such as 1e6.
 * Returns false after raising an error. NULL is 0. */
bool sql_keys_count(sqlite3_context *context, uint64_t *out, const char *what,
                    sqlite3_value *value);

/* Reads a rate; NULL is 0. */
bool sql_keys_rate(sqlite3_context *context, double *out, sqlite3_value *value);

/* Reads a text without a zero byte; NULL is NULL. */
bool sql_keys_text(sqlite3_context *context, const char **out, const char *what,
                   sqlite3_value *value);

/* Reads kind, items, rate, seed and hash, of which the last ones may be
 * missing, in that order if `items_first`, else with the rate before the items.
 * NULL means a default. Returns false after raising an error. */
bool sql_keys_spec(sqlite3_context *context, const char **kind, bly_spec *spec,
                   int n, sqlite3_value **values, bool items_first);

/* ---- held.c -------------------------------------------------------------- */

/* The filter of an argument, for queries. `filter` is NULL if the argument is
 * NULL, or after an error. */
typedef struct {
    bly_filter *filter;
    bool        ours;               /* whether sql_held_end frees it         */
} sql_held_filter;

/* The blobs that a connection remembers: the pApp of functions that query
 * filters, each of which counts as a user. */
typedef struct sql_held_home sql_held_home;
sql_held_home *sql_held_home_new(void);
sql_held_home *sql_held_home_more(sql_held_home *home);
void sql_held_home_less(void *home);

/* Implements bloomery_open(blob). */
void sql_held_open_call(sqlite3_context *context, int n,
                        sqlite3_value **values);

/* Returns a filter for looking up one key; fast if the blob is the same as in
 * the previous row. */
sql_held_filter sql_held_begin(sqlite3_context *context, int argument,
                               sqlite3_value *value);
void sql_held_end(sql_held_filter held);

/* Makes a new filter, fully checked. Returns NULL if the value is NULL, if
 * `status` is an error, or, with BLY_OK, if sql_held_no_filter says why. */
bly_filter *sql_held_copy(sqlite3 *db, sqlite3_value *value,
                          bly_status *status);

/* Returns why a value is not a filter, for sqlite3_free; NULL if out of memory.
 */
char *sql_held_no_filter(sqlite3_value *value);

/* Does the same for a function, and raises the error. */
bly_filter *sql_held_own(sqlite3_context *context, sqlite3_value *value);

/* Gives the filter as bly_save writes it, as the result. */
void sql_held_show(sqlite3_context *context, bly_filter *filter);

/* Does the same, and frees the filter. */
void sql_held_give(sqlite3_context *context, bly_filter *filter);

/* ---- arguments.c --------------------------------------------------------- */

/* The arguments of a table of filters. */
typedef struct {
    bool      stored;                   /* in the database, not over a file  */
    char     *path, *format;            /* of a file                         */
    int       flags;
    uint64_t  limit;                    /* of memory; 0 if not given         */
    char     *kind, *hash;              /* of a stored filter                */
    bly_spec  spec;                     /* its `hash` is the one above       */
    bool      any;                      /* keys of any class                 */
} sql_arguments;

/* Reads n arguments. Returns false with *error, or with NULL if out of memory;
 * the caller frees *out in any case. */
bool sql_arguments_read(sql_arguments *out, sqlite3 *db, int n,
                        const char *const *arguments, char **error);
void sql_arguments_free(sql_arguments *arguments);

/* ---- pages.c ------------------------------------------------------------- */

typedef struct sql_pages sql_pages;

/* A state of the shadow tables: the last row of the log. */
typedef struct { sqlite3_int64 id, tag; } sql_pages_mark;

/* Returns whether the name after NAME_ is that of a shadow table. */
int sql_pages_is_shadow(const char *name);

/* Returns NULL if out of memory. */
sql_pages *sql_pages_new(sqlite3 *db, const char *schema, const char *name);
void sql_pages_free(sql_pages *pages);

/* Returns the message of an error for sqlite3_free, once. NULL: it is SQLite's.
 */
char *sql_pages_why(sql_pages *pages);

/* These return a status of SQLite, like all functions below. */
int sql_pages_create(sql_pages *pages);
int sql_pages_drop(sql_pages *pages);
int sql_pages_rename(sql_pages *pages, const char *name);

/* Finds out whether both tables exist, and are not views. */
int sql_pages_exist(sql_pages *pages, bool *out);

/* Returns whether both have the shadow tables of one filter. */
bool sql_pages_are_same(const sql_pages *a, const sql_pages *b);

/* Reads the last mark, and whether the log still has an earlier one. */
int sql_pages_last(sql_pages *pages, sql_pages_mark *out);
int sql_pages_has(sql_pages *pages, const sql_pages_mark *mark, bool *out);

/* Visits the rows of the log after a mark. */
typedef int sql_pages_visit(void *context, const void *ops, size_t bytes);
int sql_pages_since(sql_pages *pages, const sql_pages_mark *mark,
                    sql_pages_visit *visit, void *context);

/* Adds a row to the log; *mark is the last mark and then the new one. */
int sql_pages_log(sql_pages *pages, sql_pages_mark *mark, const void *ops,
                  size_t bytes);

/* Reads the image, for sqlite3_free. */
int sql_pages_read(sql_pages *pages, void **image, size_t *bytes);

/* Writes the pages of an image that have changed, and begins the log anew. */
int sql_pages_write(sql_pages *pages, sql_pages_mark *mark, const void *image,
                    size_t bytes);

/* ---- stored.c ------------------------------------------------------------ */

typedef struct sql_stored sql_stored;

/* The stored filters of a connection. */
typedef struct { sql_stored *first; } sql_stored_home;

/* Returns NULL if out of memory. Messages go to `table`. All functions that
 * return an int return a status of SQLite. */
sql_stored *sql_stored_new(sqlite3 *db, sql_stored_home *home,
                           sqlite3_vtab *table, const char *schema,
                           const char *name, bool any);
void sql_stored_free(sql_stored *stored);

/* Makes a new filter and its shadow tables, drops them, or renames them. */
int sql_stored_create(sql_stored *stored, const char *kind,
                      const bly_spec *spec);
int sql_stored_drop(sql_stored *stored);
int sql_stored_rename(sql_stored *stored, const char *name);

/* Returns the filter in its present state, valid until the statement ends or a
 * transaction is rolled back. */
int sql_stored_current(sql_stored *stored, bly_filter **out);

/* Does the same later in a statement that has called it, without a look at what
 * others have committed: the statement does not see that. */
int sql_stored_same(sql_stored *stored, bly_filter **out);

/* Adds ('a') or removes ('r') a key, or puts a label with it ('p'). NULL is not
 * a key. *seen: adding it would have changed nothing. */
int sql_stored_change(sql_stored *stored, char op, sqlite3_value *value,
                      uint64_t label, bool *seen);

/* Unites the filter with one of a value. */
int sql_stored_unite(sql_stored *stored, sqlite3_value *value);

/* Begins a transaction, writes all changes to the shadow tables, notes that
 * changes were rolled back, and ends the transaction. */
void sql_stored_begin(sql_stored *stored);
int sql_stored_flush(sql_stored *stored);
void sql_stored_roll_back(sql_stored *stored);
void sql_stored_roll_back_to(sql_stored *stored);
void sql_stored_end(sql_stored *stored);

/* Reads shadow tables completely, to check them. */
int sql_stored_check(sqlite3 *db, sqlite3_vtab *table, const char *schema,
                     const char *name);

/* ---- Registration -------------------------------------------------------- */

int scalar_register(sqlite3 *db);
int tell_register(sqlite3 *db);
int sql_build_register(sqlite3 *db);
int sql_sets_register(sqlite3 *db);
int sql_rows_register(sqlite3 *db);
int sql_table_register(sqlite3 *db);

/* ---- tell.c -------------------------------------------------------------- */

/* Begins a JSON text for the result. tell_give makes it the result, or an
 * error if there is no memory. */
bly_json tell_json(sqlite3_context *context);
void tell_give(sqlite3_context *context, bly_json *json);

/* Write the beginning of an array or object, its end, and a text. */
void tell_open(bly_json *json, bly_field_type type);
void tell_close(bly_json *json);
void tell_text(bly_json *json, const char *name, const char *text);

/* Implements bloomery_overlap(a, b), whose pApp is a sql_held_home. */
void tell_overlap(sqlite3_context *context, int n, sqlite3_value **values);

#endif /* SQLITE_EXTENSION_H */
