/* keep.c - keeps the filters of the last calls.
 *
 * A query looks up a million keys in one filter, or in a few. An image that is
 * in memory as it is costs little: it is queried in place. Reading a filter
 * from TOAST, or unpacking it, touches all of its bytes, which is too much for
 * each key. Such filters are kept, and recognized by their pointer to TOAST or
 * by all of their bytes. The header does not suffice, because whoever makes
 * filters can give its checksum to another filter. The address does not
 * either, because the memory of a row is used again for the next one.
 *
 * Address and header together suffice for the handle of an image in place: a
 * handle of a simple kind holds what the header says and where the image is,
 * and reads all else from the image at each lookup. So the next image at this
 * address with this header needs no new handle.
 *
 * Filters come one after another, each for many keys, or in turns, all for each
 * key. So the first filters stay, as many as fit into work_mem, and the others
 * share one place: dropping the oldest filter would find none of those in
 * turns.
 */
#include "keep.h"

#include <string.h>

#include "access/detoast.h"
#include "miscadmin.h"

enum { kept_most = 400 };               /* a year of days, and more         */

typedef struct {
    MemoryContext      room;            /* of the copy and its filter        */
    bly_filter        *filter;          /* NULL: none                        */
    datum_bytes       image;            /* the copy                          */
    bool               toasted;         /* if toasted, its pointer:          */
    struct varatt_external toast;
} kept;

typedef struct {
    MemoryContext room;
    datum_memory  memory;               /* of the filter queried in place:   */
    bly_filter   *lying;
    const char   *kind;
    bool          simple;               /* see kept_is_simple                */
    datum_bytes   place;                /* 0 bytes: needs a new handle       */
    unsigned char head[BLY_HEADER_BYTES];
    key_source    source;               /* how to read the keys              */
    int           n, last;              /* how many, and which was asked     */
    kept         *some[kept_most];
} keeper;

static keeper *keeper_of(FmgrInfo *flinfo)
{
    keeper *all = flinfo->fn_extra;
    if (all == NULL) {
        all = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof *all);
        all->room = AllocSetContextCreate(flinfo->fn_mcxt, "bloomery filters",
                                          ALLOCSET_SMALL_SIZES);
        datum_memory_of(&all->memory, flinfo->fn_mcxt, FILTER_MOST);
        flinfo->fn_extra = all;
    }
    return all;
}

static bool kept_is_toast(const kept *k, const struct varatt_external *toast)
{
    return k->toasted && k->filter != NULL
        && toast->va_valueid == k->toast.va_valueid
        && toast->va_toastrelid == k->toast.va_toastrelid
        && toast->va_rawsize == k->toast.va_rawsize
        && toast->va_extinfo == k->toast.va_extinfo;
}

static bool kept_is_image(const kept *k, datum_bytes image)
{
    return k->filter != NULL && image.bytes == k->image.bytes
        && memcmp(image.at, k->image.at, image.bytes) == 0;
}

static kept *keeper_took(keeper *all, int which)
{
    all->last = which;
    return all->some[which];
}

/* Finds a kept filter, starting where the last search ended, so that a single
 * filter, or all in turn, are found quickly. Returns NULL if it is not kept. */
static kept *keeper_toast(keeper *all, const struct varatt_external *toast)
{
    for (int i = 0, at = all->last; i < all->n; i++, at = (at + 1) % all->n)
        if (kept_is_toast(all->some[at], toast))
            return keeper_took(all, at);
    return NULL;
}

static kept *keeper_image(keeper *all, datum_bytes image)
{
    for (int i = 0, at = all->last; i < all->n; i++, at = (at + 1) % all->n)
        if (kept_is_image(all->some[at], image))
            return keeper_took(all, at);
    return NULL;
}

static kept *keeper_place(keeper *all)
{
    bool room = all->n == 0 || (all->n < kept_most
        && MemoryContextMemAllocated(all->room, true) < (Size)work_mem * 1024);
    if (room) {
        kept *k = MemoryContextAllocZero(all->room, sizeof *k);
        k->room = AllocSetContextCreate(all->room, "bloomery filter",
                                        ALLOCSET_SMALL_SIZES);
        all->some[all->n++] = k;
    }
    return keeper_took(all, all->n - 1);
}

static void kept_renew(kept *k, datum_bytes image)
{
    char *copy;
    k->filter = NULL;
    k->toasted = false;
    MemoryContextReset(k->room);
    copy = MemoryContextAllocHuge(k->room, image.bytes + PG_CACHE_LINE_SIZE);
    copy = (char *)TYPEALIGN(PG_CACHE_LINE_SIZE, copy);
    memcpy(copy, image.at, image.bytes);
    k->image = (datum_bytes){ (unsigned char *)copy, image.bytes };
    k->filter = datum_packed(image)
              ? datum_unpack(image, k->room)
              : datum_wrap(k->image, datum_memory_in(k->room));
}

/* Returns whether a handle of this kind depends on nothing but the header and
 * the address of the image. Compound kinds have headers in the payload. */
static bool kept_is_simple(const char *kind)
{
    const char *family = bly_kind_find(kind)->family;
    return strcmp(family, "sets") == 0 || strcmp(family, "removable") == 0
        || strcmp(family, "frozen") == 0;
}

/* Returns whether the handle for the last image in place serves this one. */
static bool keeper_lies(const keeper *all, datum_bytes image)
{
    return all->place.bytes >= sizeof all->head
        && image.bytes == all->place.bytes && image.at == all->place.at
        && memcmp(image.at, all->head, sizeof all->head) == 0;
}

/* Queries the image in place; valid until the next call. */
static bly_filter *keeper_in_place(keeper *all, datum_bytes image)
{
    bly_free(all->lying);
    all->lying = NULL;
    all->place.bytes = 0;
    all->lying = datum_wrap(image, &all->memory);
    if (bly_kind_of(all->lying) != all->kind) {
        all->kind = bly_kind_of(all->lying);
        all->simple = kept_is_simple(all->kind);
    }
    if (all->simple) {
        all->place = image;
        memcpy(all->head, image.at, sizeof all->head);
    }
    return all->lying;
}

/* Frees what was detoasted for this call only. */
static void kept_drop(struct varlena *v, datum_bytes image)
{
    if ((const char *)image.at < (const char *)v
        || (const char *)image.at > (const char *)v + VARHDRSZ)
        pfree((char *)(uintptr_t)image.at - VARHDRSZ);
}

/* Returns the filter that is the first argument, until the next call. */
static bly_filter *keeper_filter(keeper *all, Datum value)
{
    struct varlena *v = (struct varlena *)DatumGetPointer(value);
    bool toasted = VARATT_IS_EXTERNAL_ONDISK(v);
    struct varatt_external toast;
    datum_bytes image;
    kept *k = NULL;
    if (toasted) {
        VARATT_EXTERNAL_GET_POINTER(toast, v);
        k = keeper_toast(all, &toast);
    }
    if (k != NULL)
        return k->filter;
    image = datum_bytes_of(value);
    if (!VARATT_IS_EXTENDED(v) && keeper_lies(all, image))
        return all->lying;
    if (!VARATT_IS_EXTENDED(v) && !datum_packed(image))
        return keeper_in_place(all, image);
    k = keeper_image(all, image);
    if (k == NULL) {
        k = keeper_place(all);
        kept_renew(k, image);
    }
    k->toasted = toasted;
    if (toasted)
        k->toast = toast;
    kept_drop(v, image);
    return k->filter;
}

bly_filter *keep_asked(FunctionCallInfo fcinfo, int filter_at, int key_at,
                       bool written, key *k)
{
    keeper *all = keeper_of(fcinfo->flinfo);
    bly_filter *filter;
    if (all->source.read == NULL)
        key_find(&all->source, fcinfo, key_at, written,
                 fcinfo->flinfo->fn_mcxt);
    filter = keeper_filter(all, PG_GETARG_DATUM(filter_at));
    key_read(k, &all->source, bly_form_of(filter), PG_GETARG_DATUM(key_at));
    return filter;
}
