/* held.c - filters from blobs, and back.
 *
 * A function is called once per row, and must detect cheaply that the filter is
 * the same as in the previous row:
 *
 * - For an argument that is constant by its syntax, a parameter or a literal,
 *   SQLite keeps auxiliary data (sqlite3_set_auxdata). In the first row that
 *   is a mark. If the mark is there in the next row, it is replaced by a copy
 *   of the filter, which serves until the statement ends.
 * - Other filters are queried in place. Borrowing one (bly_wrap) takes a
 *   fraction of a microsecond per call, with all checks that keep lookups in
 *   bounds. Only the payload's checksum is not recomputed while address, size
 *   and header, which contains the checksum, are those of a verified blob. So
 *   an answer always reflects the bytes that were passed.
 * - However, SQLite copies the result of a subquery for each row. To avoid
 *   this, bloomery_open(blob) keeps the filter in the connection and returns
 *   only the filter's header. An unknown header is an error. */
#include "extension.h"

#include <string.h>

enum { HELD_BLOBS = 8, HELD_OPEN = 64 };

typedef struct {
    const void   *data;
    size_t        bytes;
    uint64_t      calls;                /* times it was used                 */
    unsigned char header[BLY_HEADER_BYTES];
} sql_held_blob;

typedef struct {
    bly_filter   *filter;
    uint64_t      asked;                /* when it was, last                 */
    unsigned char header[BLY_HEADER_BYTES];
} sql_held_open;

struct sql_held_home {
    int       users;
    sql_held_blob whole[HELD_BLOBS];    /* these were                        */
    unsigned  next;
    sql_held_open open[HELD_OPEN];
    int       last;                     /* the one that was asked last       */
    uint64_t  clock;
};

sql_held_home *sql_held_home_new(void)
{
    sql_held_home *home = sqlite3_malloc64(sizeof *home);
    if (home == NULL)
        return NULL;
    memset(home, 0, sizeof *home);
    home->users = 1;
    return home;
}

sql_held_home *sql_held_home_more(sql_held_home *home)
{
    home->users++;
    return home;
}

void sql_held_home_less(void *user)
{
    sql_held_home *home = user;
    if (--home->users > 0)
        return;
    for (int i = 0; i < HELD_OPEN; i++)
        bly_free(home->open[i].filter);
    sqlite3_free(home);
}

/* Returns whether this is a result of bloomery_open. Another system's filter
   may be equally small. */
static bool sql_held_is_header(const void *data, size_t bytes)
{
    return bytes == BLY_HEADER_BYTES && memcmp(data, "bloomery", 8) == 0;
}

char *sql_held_no_filter(sqlite3_value *value)
{
    if (sqlite3_value_type(value) == SQLITE_BLOB)
        return sqlite3_mprintf("a header alone is not a filter, and the result "
                               "of bloomery_open stands for one only where it "
                               "is queried: give the filter itself");
    return sqlite3_mprintf("a filter is a BLOB, not %s: make one with "
                           "bloomery_build", sql_keys_type(value));
}

static void sql_held_refuse(sqlite3_context *context, sqlite3_value *value)
{
    char *why = sql_held_no_filter(value);
    if (why != NULL)
        extension_error(context, "%s", why);
    else
        sqlite3_result_error_nomem(context);
    sqlite3_free(why);
}

/* Returns the bytes of a blob; NULL if out of memory. */
static const void *sql_held_bytes(sqlite3_value *value, size_t *bytes)
{
    const void *data = sqlite3_value_blob(value);
    *bytes = (size_t)sqlite3_value_bytes(value);
    return data == NULL && *bytes == 0 ? "" : data;
}

bly_filter *sql_held_copy(sqlite3 *db, sqlite3_value *value, bly_status *status)
{
    const bly_progress progress = interrupt_progress(db);
    bly_options options = sql_memory_options(0);
    bly_filter *filter = NULL;
    size_t bytes;
    *status = BLY_OK;
    if (sqlite3_value_type(value) != SQLITE_BLOB)
        return NULL;
    const void *data = sql_held_bytes(value, &bytes);
    options.progress = &progress;
    if (data == NULL)
        *status = BLY_ENOMEM;
    options.memory_limit = sql_memory_limit(db, bytes);
    if (*status == BLY_OK && !sql_held_is_header(data, bytes))
        *status = bly_unpack(&filter, data, bytes, &options);
    if (filter != NULL)
        interrupt_watch(filter, db);
    return filter;
}

bly_filter *sql_held_own(sqlite3_context *context, sqlite3_value *value)
{
    bly_status status;
    bly_filter *filter =
        sql_held_copy(sqlite3_context_db_handle(context), value, &status);
    if (status < 0)
        extension_fail(context, status);
    else if (filter == NULL && sqlite3_value_type(value) != SQLITE_NULL)
        sql_held_refuse(context, value);
    return filter;
}

/* ---- Kept open ----------------------------------------------------------- */

static sql_held_open *sql_held_known(sql_held_home *home, const void *header)
{
    for (int i = 0; i < HELD_OPEN; i++) {
        int at = (home->last + i) % HELD_OPEN;
        sql_held_open *o = &home->open[at];
        if (o->filter != NULL
            && memcmp(o->header, header, sizeof o->header) == 0) {
            home->last = at;
            o->asked = ++home->clock;
            return o;
        }
    }
    return NULL;
}

/* Stores the filter in a free place, or replaces the least recently used one.
 */
static void sql_held_put(sql_held_home *home, bly_filter *filter,
                         const void *header)
{
    int at = 0;
    for (int i = 1; i < HELD_OPEN; i++)
        if (home->open[i].asked < home->open[at].asked)
            at = i;
    sql_held_open *o = &home->open[at];
    bly_free(o->filter);
    o->filter = filter;
    o->asked = ++home->clock;
    memcpy(o->header, header, sizeof o->header);
    home->last = at;
}

/* Returns the filter that was opened with this header. */
static sql_held_filter sql_held_opened(sqlite3_context *context,
                                       sql_held_home *home, const void *header)
{
    sql_held_open *o = sql_held_known(home, header);
    if (o == NULL)
        extension_error(context, "this is the result of bloomery_open for a "
                        "filter that is not open here, or no longer: open it "
                        "in the statement that queries it");
    return (sql_held_filter){ .filter = o != NULL ? o->filter : NULL };
}

/* A header only stands for a filter if no other filter has the same: an
 * attacker can craft a filter with the checksum of another. */
static bool sql_held_alike(const bly_filter *a, const bly_filter *b)
{
    size_t bytes, others;
    const void *image = bly_image(a, &bytes);
    const void *other = bly_image(b, &others);
    return bytes == others && memcmp(image, other, bytes) == 0;
}

void sql_held_open_call(sqlite3_context *context, int n, sqlite3_value **values)
{
    sql_held_home *home = sqlite3_user_data(context);
    size_t bytes;
    (void)n;
    if (sqlite3_value_type(values[0]) == SQLITE_BLOB) {
        const void *header = sql_held_bytes(values[0], &bytes);
        if (header != NULL && sql_held_is_header(header, bytes)) {
            if (sql_held_opened(context, home, header).filter != NULL)
                sqlite3_result_value(context, values[0]);
            return;
        }
    }
    bly_filter *filter = sql_held_own(context, values[0]);
    if (filter == NULL)
        return;
    const void *header = bly_image(filter, &bytes);
    const sql_held_open *known = sql_held_known(home, header);
    if (known != NULL && !sql_held_alike(known->filter, filter)) {
        extension_error(context, "another filter with the same header is open "
                        "here: one of the two was forged");
        bly_free(filter);
        return;
    }
    sqlite3_result_blob64(context, header, BLY_HEADER_BYTES, SQLITE_TRANSIENT);
    if (known != NULL)
        bly_free(filter);
    else
        sql_held_put(home, filter, header);
}

/* ---- To be asked --------------------------------------------------------- */

static sql_held_blob *sql_held_find(sql_held_home *home, const void *data,
                                    size_t bytes)
{
    for (unsigned i = 0; i < HELD_BLOBS; i++) {
        sql_held_blob *b = &home->whole[i];
        if (b->data == data && b->bytes == bytes
            && memcmp(b->header, data, sizeof b->header) == 0)
            return b;
    }
    return NULL;
}

/* Verifies the blob. Returns NULL after raising an error. */
static sql_held_blob *sql_held_check(sqlite3_context *context,
                                     sql_held_home *home, const void *data,
                                     size_t bytes)
{
    sql_held_blob *b = sql_held_find(home, data, bytes);
    if (b != NULL)
        return b;
    bly_status status = bly_check(data, bytes, NULL);
    if (status < 0) {
        extension_fail(context, status);
        return NULL;
    }
    b = &home->whole[home->next++ % HELD_BLOBS];
    *b = (sql_held_blob){ .data = data, .bytes = bytes };
    memcpy(b->header, data, sizeof b->header);
    return b;
}

/* Returns whether the image can be used in place. Packed ones, and those of
 * other systems, are unpacked for each row. */
static bool sql_held_is_image(const void *data, size_t bytes)
{
    bly_header header;
    return bytes > BLY_HEADER_BYTES && bly_peek(&header, data, bytes) == BLY_OK
        && !header.packed;
}

/* Sets a mark beside a repeated blob's argument at calls 1, 2, 4, 8, …, since a
 * mark costs more than borrowing. */
static bool sql_held_is_power(uint64_t n)
{
    return (n & (n - 1)) == 0;
}

static sql_held_filter sql_held_borrow(sqlite3_context *context,
                                       sqlite3_value *value, bool *mark)
{
    sql_held_filter held = { .ours = true };
    sql_held_home *home = sqlite3_user_data(context);
    bly_options options = sql_memory_options(0);
    size_t bytes;
    const void *data = sql_held_bytes(value, &bytes);
    bly_status status = BLY_ENOMEM;
    *mark = true;
    if (data != NULL && sql_held_is_header(data, bytes)) {
        *mark = false;
        return sql_held_opened(context, home, data);
    }
    if (data != NULL && (sql_held_find(home, data, bytes) != NULL
                         || sql_held_is_image(data, bytes))) {
        sql_held_blob *b = sql_held_check(context, home, data, bytes);
        if (b == NULL)
            return held;
        *mark = sql_held_is_power(++b->calls);
        status = bly_wrap(&held.filter, data, bytes, &options);
    } else if (data != NULL) {
        sqlite3 *db = sqlite3_context_db_handle(context);
        const bly_progress progress = interrupt_progress(db);
        options.memory_limit = sql_memory_limit(db, bytes);
        options.progress = &progress;
        status = bly_unpack(&held.filter, data, bytes, &options);
    }
    if (status < 0)
        extension_fail(context, status);
    return held;
}

/* The mark set beside an argument in its first row. */
static char sql_held_mark;

static void sql_held_drop(void *filter)
{
    bly_free(filter);
}

/* Keeps a copy: the mark shows that the argument is constant. */
static sql_held_filter sql_held_keep(sqlite3_context *context, int argument,
                                     sqlite3_value *value)
{
    sql_held_filter held = { .filter = sql_held_own(context, value) };
    if (held.filter == NULL)
        return held;
    sqlite3_set_auxdata(context, argument, held.filter, sql_held_drop);
    /* if SQLite could not keep it, it has already freed it */
    if (sqlite3_get_auxdata(context, argument) != held.filter) {
        held.filter = NULL;
        sqlite3_result_error_nomem(context);
    }
    return held;
}

sql_held_filter sql_held_begin(sqlite3_context *context, int argument,
                               sqlite3_value *value)
{
    void *beside = sqlite3_get_auxdata(context, argument);
    if (beside != NULL && beside != &sql_held_mark)
        return (sql_held_filter){ .filter = beside };
    if (sqlite3_value_type(value) == SQLITE_NULL)
        return (sql_held_filter){ .filter = NULL };
    if (sqlite3_value_type(value) != SQLITE_BLOB) {
        sql_held_refuse(context, value);
        return (sql_held_filter){ .filter = NULL };
    }
    if (beside == &sql_held_mark)
        return sql_held_keep(context, argument, value);
    bool mark;
    sql_held_filter held = sql_held_borrow(context, value, &mark);
    if (mark)
        sqlite3_set_auxdata(context, argument, &sql_held_mark, NULL);
    return held;
}

void sql_held_end(sql_held_filter held)
{
    if (held.ours)
        bly_free(held.filter);
}

/* ---- Back ---------------------------------------------------------------- */

void sql_held_show(sqlite3_context *context, bly_filter *filter)
{
    sqlite3 *db = sqlite3_context_db_handle(context);
    size_t room = 0, bytes = 0;
    interrupt_watch(filter, db);
    const void *image = bly_image(filter, &room);
    void *out = image != NULL ? sqlite3_malloc64(room) : NULL;
    bly_status status = image == NULL ? BLY_ECANCELED
                      : out == NULL ? BLY_ENOMEM
                      : bly_pack(filter, out, room, &bytes);
    if (status == BLY_ECANCELED
        || !extension_too_big(context, sql_memory_blob_refused(
               db, status == BLY_OK ? bytes : room))) {
        if (status < 0)
            extension_fail(context, status);
    } else {
        status = BLY_ETOOBIG;
    }
    if (status < 0) {
        sqlite3_free(out);
        return;
    }
    void *cut = bytes < room ? sqlite3_realloc64(out, bytes) : out;
    sqlite3_result_blob64(context, cut != NULL ? cut : out, bytes,
                          sqlite3_free);
}

void sql_held_give(sqlite3_context *context, bly_filter *filter)
{
    sql_held_show(context, filter);
    bly_free(filter);
}
