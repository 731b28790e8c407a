/* filter.c - memory, errors, and values of type bloomery. */
#include "filter.h"

#include <string.h>

#include "access/detoast.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"

PG_MODULE_MAGIC;

/* ---- Memory -------------------------------------------------------------- */

void *filter_more(MemoryContext room, void *old, size_t had, size_t bytes)
{
    void *memory = NULL;
    if (AllocHugeSizeIsValid(bytes))
        memory = MemoryContextAllocExtended(room, bytes, MCXT_ALLOC_HUGE
                                            | MCXT_ALLOC_NO_OOM);
    if (memory != NULL && old != NULL) {
        memcpy(memory, old, had);
        pfree(old);
    }
    return memory;
}

/* A context's memory begins on a multiple of 8, and the library wants lines:
 * before what it gets is the place that is to be given back. */
static void *memory_take(void *context, size_t alignment, size_t bytes)
{
    const filter_memory *memory = context;
    const size_t more = alignment + sizeof(void *);
    char *whole, *at;
    if (bytes > memory->most || bytes > MaxAllocHugeSize - more)
        return NULL;
    whole = filter_more(memory->room, NULL, 0, bytes + more);
    if (whole == NULL)
        return NULL;
    at = (char *)TYPEALIGN(alignment, whole + sizeof(void *));
    memcpy(at - sizeof(void *), &whole, sizeof whole);
    return at;
}

static void memory_give(void *context, void *memory, size_t bytes)
{
    void *whole;
    (void)context;
    (void)bytes;
    memcpy(&whole, (char *)memory - sizeof(void *), sizeof whole);
    pfree(whole);
}

void filter_memory_of(filter_memory *memory, MemoryContext room, uint64_t most)
{
    *memory = (filter_memory){
        .allocator = { memory_take, memory_give, memory },
        .room = room, .most = most,
    };
}

filter_memory *filter_memory_in(MemoryContext room)
{
    filter_memory *memory = MemoryContextAlloc(room, sizeof *memory);
    filter_memory_of(memory, room, FILTER_MOST);
    return memory;
}

/* ---- Errors -------------------------------------------------------------- */

static int error_code(bly_status status)
{
    switch (status) {
    case BLY_ENOMEM:       return ERRCODE_OUT_OF_MEMORY;
    case BLY_ETOOBIG:
    case BLY_EFULL:        return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    case BLY_EFORMAT:
    case BLY_EVERSION:
    case BLY_ECORRUPT:
    case BLY_EUNSEALED:    return ERRCODE_INVALID_BINARY_REPRESENTATION;
    case BLY_ESECRET:
    case BLY_EUNSUPPORTED: return ERRCODE_FEATURE_NOT_SUPPORTED;
    case BLY_EABSENT:
    case BLY_EUNSAFE:
    case BLY_EREMOVED:
    case BLY_EREADONLY:    return ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    case BLY_EIO:
    case BLY_EUNFLUSHED:   return ERRCODE_IO_ERROR;
    default:               return ERRCODE_INVALID_PARAMETER_VALUE;
    }
}

/* What the library says may quote bytes that are no text here. */
static char *error_text(const char *why)
{
    char *text = pstrdup(why);
    if (GetDatabaseEncoding() == PG_UTF8
        && pg_verify_mbstr(PG_UTF8, text, (int)strlen(text), true))
        return text;
    for (char *at = text; *at != '\0'; at++)
        if (IS_HIGHBIT_SET(*at))
            *at = '?';
    return text;
}

/* What the library says of a full filter names its own ways out. */
void filter_must(bly_status status)
{
    filter_must_or(status, status == BLY_EFULL
                   ? "Build it for more items: the last argument of "
                     "bloomery_agg and bloomery_map_agg." : NULL);
}

void filter_must_or(bly_status status, const char *hint)
{
    if (status < 0)
        ereport(ERROR, (errcode(error_code(status)),
                        errmsg("%s", error_text(bly_why())),
                        hint != NULL ? errhint("%s", hint) : 0));
}

/* ---- Values -------------------------------------------------------------- */

filter_bytes filter_bytes_of(Datum value)
{
    struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
    return (filter_bytes){ (const unsigned char *)VARDATA_ANY(v),
                           VARSIZE_ANY_EXHDR(v) };
}

static bool bytes_packed(filter_bytes image)
{
    bly_header header;
    filter_must(bly_peek(&header, image.at, image.bytes));
    return header.packed;
}

static bly_filter *bytes_unpack(filter_bytes image, MemoryContext room)
{
    filter_memory *memory = filter_memory_in(room);
    bly_options how = { .allocator = &memory->allocator,
                        .threads = filter_threads, .format = "bloomery" };
    bly_filter *filter = NULL;
    filter_must(bly_unpack(&filter, image.at, image.bytes, &how));
    return filter;
}

/* The bytes stay where they are, and were checked when they came. */
static bly_filter *bytes_wrap(filter_bytes image, const filter_memory *memory)
{
    bly_options how = { .allocator = &memory->allocator,
                        .threads = filter_threads };
    bly_filter *filter = NULL;
    filter_must(bly_wrap(&filter, image.at, image.bytes, &how));
    return filter;
}

bly_filter *filter_own(Datum value, MemoryContext room)
{
    return bytes_unpack(filter_bytes_of(value), room);
}

bly_filter *filter_read(Datum value, MemoryContext room)
{
    filter_bytes image = filter_bytes_of(value);
    return bytes_packed(image) ? bytes_unpack(image, room)
                               : bytes_wrap(image, filter_memory_in(room));
}

MemoryContext filter_room(FunctionCallInfo fcinfo)
{
    MemoryContext room = NULL;
    if (!AggCheckCallContext(fcinfo, &room))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("this is a part of an aggregate: call that")));
    return room;
}

Datum filter_value(const bly_filter *filter)
{
    size_t bytes = 0, took = 0;
    bytea *value;
    const void *image = bly_image(filter, &bytes);
    if (image == NULL || bytes > FILTER_MOST)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the filter has %zu bytes, more than a value "
                               "may have: ask for fewer keys or a higher rate",
                               bytes)));
    value = palloc(bytes + VARHDRSZ);
    filter_must(bly_pack(filter, VARDATA(value), bytes, &took));
    SET_VARSIZE(value, took + VARHDRSZ);
    return PointerGetDatum(value);
}

/* ---- The filters of the last calls --------------------------------------- */

/* A query asks one filter for a million keys, or a few. What lies there as an
 * image is asked where it lies, which costs little. To take one out of TOAST,
 * or to unpack it, each time would read all of it for each key, so that these
 * are kept, and known again by the pointer to TOAST, or by all of their bytes.
 * A header does not tell: its checksum is one that whoever makes filters can
 * give to another one. Nor does the place, for a row's memory is used for the
 * next one.
 *
 * Filters come one after another, each for many keys, or in turns, all for each
 * key. So the first ones stay, as many as fit into work_mem, and the others
 * share one place: to let the oldest go would find none of those in turns. */
enum { kept_most = 400 };             /* a year of days, and some */

typedef struct {
    MemoryContext      room;            /* of the copy and its filter        */
    bly_filter        *filter;          /* NULL: none                        */
    filter_bytes       image;           /* the copy                          */
    bool               toasted;         /* it came by:                       */
    struct varatt_external toast;
} kept;

typedef struct {
    MemoryContext room;
    filter_memory memory;               /* of the one that is asked in place */
    bly_filter   *lying;
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
        filter_memory_of(&all->memory, flinfo->fn_mcxt, FILTER_MOST);
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

static bool kept_is_image(const kept *k, filter_bytes image)
{
    return k->filter != NULL && image.bytes == k->image.bytes
        && memcmp(image.at, k->image.at, image.bytes) == 0;
}

static kept *keeper_took(keeper *all, int which)
{
    all->last = which;
    return all->some[which];
}

/* The search begins where the last one ended, so that it is short where one
 * filter is asked, and where all are in turns. NULL: it is not kept. */
static kept *keeper_toast(keeper *all, const struct varatt_external *toast)
{
    for (int i = 0, at = all->last; i < all->n; i++, at = (at + 1) % all->n)
        if (kept_is_toast(all->some[at], toast))
            return keeper_took(all, at);
    return NULL;
}

static kept *keeper_image(keeper *all, filter_bytes image)
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

static void kept_renew(kept *k, filter_bytes image)
{
    char *copy;
    k->filter = NULL;
    k->toasted = false;
    MemoryContextReset(k->room);
    copy = MemoryContextAllocHuge(k->room, image.bytes + PG_CACHE_LINE_SIZE);
    copy = (char *)TYPEALIGN(PG_CACHE_LINE_SIZE, copy);
    memcpy(copy, image.at, image.bytes);
    k->image = (filter_bytes){ (unsigned char *)copy, image.bytes };
    k->filter = bytes_packed(image)
              ? bytes_unpack(image, k->room)
              : bytes_wrap(k->image, filter_memory_in(k->room));
}

/* The image where it lies, until the next call. */
static bly_filter *keeper_in_place(keeper *all, filter_bytes image)
{
    bly_free(all->lying);
    all->lying = NULL;
    all->lying = bytes_wrap(image, &all->memory);
    return all->lying;
}

/* What was taken out of TOAST for this call only. */
static void kept_drop(struct varlena *v, filter_bytes image)
{
    if ((const char *)image.at < (const char *)v
        || (const char *)image.at > (const char *)v + VARHDRSZ)
        pfree((char *)(uintptr_t)image.at - VARHDRSZ);
}

bly_filter *filter_argument(FunctionCallInfo fcinfo, int argument)
{
    Datum value = PG_GETARG_DATUM(argument);
    struct varlena *v = (struct varlena *)DatumGetPointer(value);
    bool toasted = VARATT_IS_EXTERNAL_ONDISK(v);
    struct varatt_external toast;
    filter_bytes image;
    keeper *all;
    kept *k = NULL;
    if (fcinfo->flinfo == NULL)
        return filter_read(value, CurrentMemoryContext);
    all = keeper_of(fcinfo->flinfo);
    if (toasted) {
        VARATT_EXTERNAL_GET_POINTER(toast, v);
        k = keeper_toast(all, &toast);
    }
    if (k != NULL)
        return k->filter;
    image = filter_bytes_of(value);
    if (!VARATT_IS_EXTENDED(v) && !bytes_packed(image))
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

/* ---- What is asked for --------------------------------------------------- */

char *filter_string(Datum value)
{
    return text_to_cstring(DatumGetTextPP(value));
}

int64 filter_items(int64 items)
{
    if (items < 1)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("a filter of %lld items is not possible: give 1 "
                               "or more", (long long)items)));
    return items;
}

double filter_rate(double rate)
{
    if (!(rate > 0 && rate < 1))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("a false-positive rate of %g is not possible: "
                               "give one between 0 and 1, such as 0.01",
                               rate)));
    return rate;
}

bly_spec filter_spec(int64 items, double rate, const filter_memory *memory)
{
    return (bly_spec){ .capacity = (uint64_t)items, .rate = rate,
                       .allocator = memory != NULL ? &memory->allocator : NULL,
                       .threads = filter_threads };
}

void filter_fits(const char *kind, const bly_spec *spec)
{
    bly_plan_t plan;
    filter_must(bly_plan(&plan, kind, spec));
    if (plan.bytes > FILTER_MOST)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the filter would have %llu bytes, more than a "
                               "value may have: ask for fewer keys or a higher "
                               "rate", (unsigned long long)plan.bytes)));
}

/* ---- The type ------------------------------------------------------------ */

/* Bytes that come from anywhere. */
static Datum type_checked(bytea *value)
{
    filter_must(bly_check(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)));
    return PointerGetDatum(value);
}

PG_FUNCTION_INFO_V1(bloomery_in);
Datum bloomery_in(PG_FUNCTION_ARGS)
{
    Datum bytes = DirectFunctionCall1(byteain, PG_GETARG_DATUM(0));
    return type_checked(DatumGetByteaPP(bytes));
}

/* As bytea with bytea_output = hex, whatever that is. */
PG_FUNCTION_INFO_V1(bloomery_out);
Datum bloomery_out(PG_FUNCTION_ARGS)
{
    filter_bytes image = filter_bytes_of(PG_GETARG_DATUM(0));
    char *text = palloc(2 * image.bytes + 3);
    text[0] = '\\';
    text[1] = 'x';
    text[2 + hex_encode((const char *)image.at, image.bytes, text + 2)] = '\0';
    PG_RETURN_CSTRING(text);
}

PG_FUNCTION_INFO_V1(bloomery_recv);
Datum bloomery_recv(PG_FUNCTION_ARGS)
{
    StringInfo message = (StringInfo)PG_GETARG_POINTER(0);
    int bytes = message->len - message->cursor;
    bytea *value = palloc((Size)bytes + VARHDRSZ);
    SET_VARSIZE(value, bytes + VARHDRSZ);
    pq_copymsgbytes(message, VARDATA(value), bytes);
    return type_checked(value);
}

PG_FUNCTION_INFO_V1(bloomery_send);
Datum bloomery_send(PG_FUNCTION_ARGS)
{
    PG_RETURN_BYTEA_P(PG_GETARG_BYTEA_P_COPY(0));
}

PG_FUNCTION_INFO_V1(bloomery_from_bytea);
Datum bloomery_from_bytea(PG_FUNCTION_ARGS)
{
    return type_checked(PG_GETARG_BYTEA_PP(0));
}
