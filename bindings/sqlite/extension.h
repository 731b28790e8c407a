/* extension.h - what the files of SQLite's extension have in common.
 *
 *      extension.c  SQLite's functions, and errors
 *      memory.c     memory of the library's, from SQLite
 *      interrupt.c  makes sqlite3_interrupt end long calls
 *      keys.c       values of SQL as keys
 *      held.c       filters out of blobs, and back
 *      scalar.c     functions of a filter and keys
 *      tell.c       functions that describe filters and plans in JSON
 *      build.c      aggregates that make a filter of keys
 *      sets.c       aggregates that make a filter of filters
 *      rows.c       tables of keys and of kinds
 *      table.c      a table that is a filter's file
 *      init.c       loading: it registers all of these
 *
 * Each file includes this, and only the public headers of the library.
 */
#ifndef SQLITE_EXTENSION_H
#define SQLITE_EXTENSION_H

#include <bloomery/fields.h>
#include <bloomery/form.h>
#include <sqlite3ext.h>

extern const sqlite3_api_routines *sqlite3_api;

/* ---- extension.c --------------------------------------------------------- */

/* What a function may be used for: it has no effect beside its result. */
enum { EXTENSION_PURE = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS };

/* The error that a status is: the library's line, no memory, or an interrupt.
 */
void extension_fail(sqlite3_context *context, bly_status status);

/* An error of our own, in one line. */
__attribute__((format(printf, 2, 3)))
void extension_error(sqlite3_context *context, const char *format, ...);

/* The same as the error of a table; `limit`: what its limit of memory is. */
int extension_fail_table(sqlite3_vtab *table, bly_status status,
                         const char *limit);

/* ---- memory.c ------------------------------------------------------------ */

extern const bly_allocator memory_allocator;

/* How a filter is held here: SQLite's memory, no thread beside, and no more
 * than `limit` bytes of what takes more than it was read from; 0: the
 * default. */
bly_options memory_options(uint64_t limit);

/* The limit for a filter of a BLOB of so many bytes: that of the library, and
 * what the connection takes for a BLOB (SQLITE_LIMIT_LENGTH). */
uint64_t memory_limit(sqlite3 *db, uint64_t bytes);

/* Room for at least `needed` of `size` bytes, where there is for *room; NULL:
 * no memory, and what there was stays. */
void *memory_grow(void *old, size_t *room, size_t needed, size_t size);

/* ---- interrupt.c --------------------------------------------------------- */

/* The callback for one long call in a statement of this connection: it cancels
 * the call if the statement is interrupted. */
bly_progress interrupt_progress(sqlite3 *db);

/* The same for all later calls with a filter, while the connection is open. */
void interrupt_watch(bly_filter *filter, sqlite3 *db);

/* Is the statement interrupted? For long loops of our own; looks at most every
 * 20 ms, and returns false in between. */
bool interrupt_now(sqlite3 *db);

/* ---- keys.c -------------------------------------------------------------- */

typedef struct {
    const void   *data;
    size_t        length;
    unsigned char number[8];            /* where `data` is, of a number      */
    void         *room;                 /* where it is, of a changed text    */
    const char   *cast;                 /* KEYS_REFUSED: an expression of the
                                           right type; NULL: it has that     */
} keys_key;

typedef enum { KEYS_NONE, KEYS_ONE, KEYS_NO_MEMORY, KEYS_REFUSED } keys_found;

/* The key that a value is in a filter of this form; KEYS_NONE: it is NULL;
 * KEYS_REFUSED: it is of another class or out of range: see keys_why. Its
 * bytes are the value's, or `out`'s, and keys_done is due after KEYS_ONE. */
keys_found keys_of(keys_key *out, uint64_t form, sqlite3_value *value);
void keys_done(keys_key *key);

/* Why keys_of refused, for sqlite3_free; NULL: no memory. */
char *keys_why(const keys_key *key);

/* The error of a function to which keys_of gave no key. */
void keys_fail(sqlite3_context *context, keys_found found,
               const keys_key *key);

/* The form of filters whose keys are all of a value's class; 0: it is NULL. */
uint64_t keys_class(sqlite3_value *value);

/* The form that a value names; NULL leaves *given false. */
bool keys_form(sqlite3_context *context, uint64_t *form, bool *given,
               sqlite3_value *value);

/* "TEXT" */
const char *keys_type(sqlite3_value *value);

/* A whole number of 0 or more, as INTEGER or as REAL such as 1e6; false, and an
 * error: it is none. NULL is 0. */
bool keys_count(sqlite3_context *context, uint64_t *out, const char *what,
                sqlite3_value *value);

/* A rate; NULL is 0. */
bool keys_rate(sqlite3_context *context, double *out, sqlite3_value *value);

/* A text without a zero byte; NULL is NULL. */
bool keys_text(sqlite3_context *context, const char **out, const char *what,
               sqlite3_value *value);

/* What kind, items, rate, seed and hash say, of which the last ones may be
 * missing; `items_first`: in that order, else with the rate before the items.
 * What is NULL is chosen by us. False, and an error: something is wrong. */
bool keys_spec(sqlite3_context *context, const char **kind, bly_spec *spec,
               int n, sqlite3_value **values, bool items_first);

/* ---- held.c -------------------------------------------------------------- */

/* The filter of an argument, to be asked. `filter` is NULL where the argument
 * is NULL, or is wrong, which is an error then. */
typedef struct {
    bly_filter *filter;
    bool        ours;                   /* it goes back in held_end          */
} held_filter;

/* What a connection remembers of the blobs it was given: the pApp of functions
 * that ask. Each of them is a user of it. */
typedef struct held_home held_home;
held_home *held_home_new(void);
held_home *held_home_more(held_home *home);
void held_home_less(void *home);

/* bloomery_open(blob) */
void held_open_call(sqlite3_context *context, int n, sqlite3_value **values);

/* A filter to be asked for one key, quick where the blob is the same as in the
 * row before. */
held_filter held_begin(sqlite3_context *context, int argument,
                       sqlite3_value *value);
void held_end(held_filter held);

/* A filter of its own, of all that is checked. NULL: the value is NULL, or
 * `status` is an error, or, where that is BLY_OK, held_no_filter says why. */
bly_filter *held_copy(sqlite3 *db, sqlite3_value *value, bly_status *status);

/* Why a value is none, for sqlite3_free; NULL: no memory. */
char *held_no_filter(sqlite3_value *value);

/* The same for a function, which gets the error. */
bly_filter *held_own(sqlite3_context *context, sqlite3_value *value);

/* The bytes that bly_save writes become the result, and the filter goes. */
void held_give(sqlite3_context *context, bly_filter *filter);

/* ---- What each file registers -------------------------------------------- */

int scalar_register(sqlite3 *db);
int tell_register(sqlite3 *db);
int build_register(sqlite3 *db);
int sets_register(sqlite3 *db);
int rows_register(sqlite3 *db);
int table_register(sqlite3 *db);

/* ---- tell.c -------------------------------------------------------------- */

/* Begins a JSON text for the result. tell_give makes it the result, or an
 * error if there is no memory. */
bly_json tell_json(sqlite3_context *context);
void tell_give(sqlite3_context *context, bly_json *json);

/* Write the beginning of an array or object, its end, and a text. */
void tell_open(bly_json *json, bly_field_type type);
void tell_close(bly_json *json);
void tell_text(bly_json *json, const char *name, const char *text);

#endif /* SQLITE_EXTENSION_H */
