/* held.c - filters out of blobs, and back.
 *
 * A function is called for each row, and has to see cheaply that the filter is
 * the one of the row before:
 *
 * - An argument that is the same in all rows by its form, a parameter or a
 *   literal, keeps what SQLite lets us lay beside it (sqlite3_set_auxdata). At
 *   the first row that is a mark; if the mark is there at the next one, it is a
 *   copy of the filter, which serves until the statement ends.
 * - Any other, such as that of a subquery, is asked where it lies. To borrow it
 *   (bly_wrap) takes a fraction of a microsecond each time, with all the checks
 *   that keep lookups within its bytes. Only the payload's checksum is not
 *   computed again while address, size and header, which has that checksum, are
 *   those of a blob that was found whole.
 *
 * So an answer is always that of the bytes that were given. */
#include "extension.h"

#include <string.h>

enum { HELD_BLOBS = 8 };

typedef struct {
    const void   *data;
    size_t        bytes;
    unsigned char header[BLY_HEADER_BYTES];
} held_blob;

struct held_blobs {
    held_blob whole[HELD_BLOBS];        /* these were                        */
    unsigned  next;
};

held_blobs *held_blobs_new(void)
{
    held_blobs *blobs = sqlite3_malloc64(sizeof *blobs);
    if (blobs != NULL)
        memset(blobs, 0, sizeof *blobs);
    return blobs;
}

void held_blobs_free(void *blobs)
{
    sqlite3_free(blobs);
}

static void held_no_blob(sqlite3_context *context, sqlite3_value *value)
{
    extension_error(context, "a filter is a BLOB, and not %s: make one by "
                    "bloomery_build", keys_type(value));
}

/* The bytes of a blob; NULL: there is no memory for them. */
static const void *held_bytes(sqlite3_value *value, size_t *bytes)
{
    const void *data = sqlite3_value_blob(value);
    *bytes = (size_t)sqlite3_value_bytes(value);
    return data == NULL && *bytes == 0 ? "" : data;
}

bly_filter *held_copy(sqlite3_value *value, bly_status *status)
{
    bly_options options = memory_options();
    bly_filter *filter = NULL;
    size_t bytes;
    *status = BLY_OK;
    if (sqlite3_value_type(value) != SQLITE_BLOB)
        return NULL;
    const void *data = held_bytes(value, &bytes);
    *status = data == NULL ? BLY_ENOMEM
            : bly_unpack(&filter, data, bytes, &options);
    return filter;
}

bly_filter *held_own(sqlite3_context *context, sqlite3_value *value)
{
    bly_status status;
    bly_filter *filter = held_copy(value, &status);
    if (status < 0)
        extension_fail(context, status);
    else if (filter == NULL && sqlite3_value_type(value) != SQLITE_NULL)
        held_no_blob(context, value);
    return filter;
}

/* ---- To be asked --------------------------------------------------------- */

static bool held_is_whole(const held_blobs *blobs, const void *data,
                          size_t bytes)
{
    for (unsigned i = 0; i < HELD_BLOBS; i++) {
        const held_blob *b = &blobs->whole[i];
        if (b->data == data && b->bytes == bytes
            && memcmp(b->header, data, sizeof b->header) == 0)
            return true;
    }
    return false;
}

static bly_status held_check(held_blobs *blobs, const void *data, size_t bytes)
{
    if (held_is_whole(blobs, data, bytes))
        return BLY_OK;
    bly_status status = bly_check(data, bytes);
    if (status < 0)
        return status;
    held_blob *b = &blobs->whole[blobs->next++ % HELD_BLOBS];
    b->data = data;
    b->bytes = bytes;
    memcpy(b->header, data, sizeof b->header);
    return BLY_OK;
}

/* Is this an image as it lies there? What is packed, or another system's, is
 * unpacked for each row. */
static bool held_is_image(const void *data, size_t bytes)
{
    bly_header header;
    return bytes >= BLY_HEADER_BYTES && bly_peek(&header, data, bytes) == BLY_OK
        && !header.packed;
}

static held_filter held_borrow(sqlite3_context *context, sqlite3_value *value)
{
    held_filter held = { .ours = true };
    bly_options options = memory_options();
    size_t bytes;
    const void *data = held_bytes(value, &bytes);
    bly_status status = BLY_ENOMEM;
    if (data != NULL && held_is_image(data, bytes)) {
        status = held_check(sqlite3_user_data(context), data, bytes);
        if (status >= 0)
            status = bly_wrap(&held.filter, data, bytes, &options);
    } else if (data != NULL) {
        status = bly_unpack(&held.filter, data, bytes, &options);
    }
    if (status < 0)
        extension_fail(context, status);
    return held;
}

/* What is laid beside an argument at its first row. */
static char held_mark;

static void held_drop(void *filter)
{
    bly_free(filter);
}

/* The argument is the same in all rows, as the mark is still there. */
static held_filter held_keep(sqlite3_context *context, int argument,
                             sqlite3_value *value)
{
    held_filter held = { .filter = held_own(context, value) };
    if (held.filter == NULL)
        return held;
    sqlite3_set_auxdata(context, argument, held.filter, held_drop);
    /* where SQLite has no memory to keep it, it has let it go already */
    if (sqlite3_get_auxdata(context, argument) != held.filter) {
        held.filter = NULL;
        sqlite3_result_error_nomem(context);
    }
    return held;
}

held_filter held_begin(sqlite3_context *context, int argument,
                       sqlite3_value *value)
{
    void *beside = sqlite3_get_auxdata(context, argument);
    if (beside != NULL && beside != &held_mark)
        return (held_filter){ .filter = beside };
    if (sqlite3_value_type(value) == SQLITE_NULL)
        return (held_filter){ .filter = NULL };
    if (sqlite3_value_type(value) != SQLITE_BLOB) {
        held_no_blob(context, value);
        return (held_filter){ .filter = NULL };
    }
    if (beside == &held_mark)
        return held_keep(context, argument, value);
    sqlite3_set_auxdata(context, argument, &held_mark, NULL);
    return held_borrow(context, value);
}

void held_end(held_filter held)
{
    if (held.ours)
        bly_free(held.filter);
}

/* ---- Back ---------------------------------------------------------------- */

void held_give(sqlite3_context *context, bly_filter *filter)
{
    size_t room = 0, bytes = 0;
    const void *image = bly_image(filter, &room);
    void *out = image != NULL ? sqlite3_malloc64(room) : NULL;
    bly_status status = out != NULL ? bly_pack(filter, out, room, &bytes)
                                    : BLY_ENOMEM;
    bly_free(filter);
    if (status < 0) {
        extension_fail(context, status);
        sqlite3_free(out);
        return;
    }
    void *cut = bytes < room ? sqlite3_realloc64(out, bytes) : out;
    sqlite3_result_blob64(context, cut != NULL ? cut : out, bytes,
                          sqlite3_free);
}
