/* datum.c - memory, errors, and values of type bloomery. */
#include "datum.h"

#include <string.h>

#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include <bloomery/form.h>
#include <bloomery/parts.h>

PG_MODULE_MAGIC;

/* ---- Memory -------------------------------------------------------------- */

void *datum_more(MemoryContext room, void *old, size_t had, size_t bytes)
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

/* Memory contexts align to 8 bytes but the library wants cache lines, so the
 * address to free is stored in front of the aligned memory. */
static void *memory_take(void *context, size_t alignment, size_t bytes)
{
    const datum_memory *memory = context;
    const size_t more = alignment + sizeof(void *);
    char *whole, *at;
    if (bytes > memory->most || bytes > MaxAllocHugeSize - more)
        return NULL;
    whole = datum_more(memory->room, NULL, 0, bytes + more);
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

void datum_memory_of(datum_memory *memory, MemoryContext room, uint64_t most)
{
    *memory = (datum_memory){
        .allocator = { memory_take, memory_give, memory },
        .room = room, .most = most,
    };
}

datum_memory *datum_memory_in(MemoryContext room)
{
    datum_memory *memory = MemoryContextAlloc(room, sizeof *memory);
    datum_memory_of(memory, room, FILTER_MOST);
    return memory;
}

/* ---- Interrupts ---------------------------------------------------------- */

/* Bytes of bits that are combined within some milliseconds. */
enum { interrupt_quick = 32 << 20 };

/* Returns whether the server wants to end the query, and can do so here.
 * CHECK_FOR_INTERRUPTS itself would jump over the library's frames. Other
 * pending interrupts do not end the query and wait until the call is over. */
static int interrupt_report(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    (void)done;
    (void)total;
    return INTERRUPTS_PENDING_CONDITION()
        && (QueryCancelPending || ProcDiePending)
        && INTERRUPTS_CAN_BE_PROCESSED();
}

const bly_progress datum_progress = { interrupt_report, NULL };

void datum_unwatch_quick(bly_filter *filter)
{
    size_t bytes;
    bly_raw(filter, &bytes);
    if ((bly_can(filter) & BLY_CAN_INTERSECT) && bytes < interrupt_quick)
        bly_progress_set(filter, NULL);
}

/* ---- Errors -------------------------------------------------------------- */

static int error_code(bly_status status)
{
    switch (status) {
    case BLY_ENOMEM:       return ERRCODE_OUT_OF_MEMORY;
    case BLY_ECANCELED:    return ERRCODE_QUERY_CANCELED;
    case BLY_ETOOBIG:
    case BLY_ELIMIT:
    case BLY_EFULL:        return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    case BLY_EFORM:        return ERRCODE_DATATYPE_MISMATCH;
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

/* Returns the library's message for SQL. It may quote bytes that are not valid
 * text here. */
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

/* Replaces advice that the library gives on a full filter, or on a limit. */
void datum_must(bly_status status)
{
    datum_must_or(status, status == BLY_EFULL
                  ? "Build it for more items: give `items` to bloomery_build "
                    "or bloomery_build_labels."
                  : status == BLY_ELIMIT
                  ? "A value, and so a filter, has less than 1 GB." : NULL);
}

void datum_must_or(bly_status status, const char *hint)
{
    if (status == BLY_ECANCELED)
        CHECK_FOR_INTERRUPTS();         /* raises the server's own error */
    char *why = status < 0 ? error_text(bly_why_in("postgresql")) : NULL;
    char *advice = status == BLY_ELIMIT ? strstr(why, ": raise the limit")
                                        : NULL;
    if (advice != NULL)
        *advice = '\0';                 /* SQL has no such limit to raise */
    if (status < 0)
        ereport(ERROR, (errcode(error_code(status)), errmsg("%s", why),
                        hint != NULL ? errhint("%s", hint) : 0));
}

void datum_must_two(bly_status status, const bly_filter *a,
                    const bly_filter *b)
{
    bool one_states = (bly_form_of(a) == BLY_KEYS_UNSTATED)
                   != (bly_form_of(b) == BLY_KEYS_UNSTATED);
    datum_must_or(status, status == BLY_EMISMATCH && one_states
                  ? "If you know the form of the other filter's keys, state "
                     "it: bloomery_state_keys(filter, 'text')." : NULL);
}

/* ---- Values -------------------------------------------------------------- */

datum_bytes datum_bytes_of(Datum value)
{
    struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
    return (datum_bytes){ (const unsigned char *)VARDATA_ANY(v),
                           VARSIZE_ANY_EXHDR(v) };
}

bool datum_packed(datum_bytes image)
{
    bly_header header;
    datum_must(bly_peek(&header, image.at, image.bytes));
    return header.packed;
}

bly_filter *datum_unpack(datum_bytes image, MemoryContext room)
{
    datum_memory *memory = datum_memory_in(room);
    uint64_t limit = bly_memory_limit(NULL, image.bytes);
    bly_options how = { .allocator = &memory->allocator,
                        .threads = datum_threads, .format = "bloomery",
                        .memory_limit = limit < FILTER_MOST ? limit
                                                            : FILTER_MOST,
                        .progress = &datum_progress };
    bly_filter *filter = NULL;
    datum_must(bly_unpack(&filter, image.at, image.bytes, &how));
    bly_progress_set(filter, &datum_progress);
    return filter;
}

bly_filter *datum_wrap(datum_bytes image, const datum_memory *memory)
{
    bly_options how = { .allocator = &memory->allocator,
                        .threads = datum_threads };
    bly_filter *filter = NULL;
    datum_must(bly_wrap(&filter, image.at, image.bytes, &how));
    return filter;
}

bly_filter *datum_own(Datum value, MemoryContext room)
{
    return datum_unpack(datum_bytes_of(value), room);
}

bly_filter *datum_read(Datum value, MemoryContext room)
{
    datum_bytes image = datum_bytes_of(value);
    bly_filter *filter = datum_packed(image)
                       ? datum_unpack(image, room)
                       : datum_wrap(image, datum_memory_in(room));
    bly_progress_set(filter, &datum_progress);
    return filter;
}

MemoryContext datum_room(FunctionCallInfo fcinfo)
{
    MemoryContext room = NULL;
    if (!AggCheckCallContext(fcinfo, &room))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("this is a part of an aggregate: call the "
                               "aggregate")));
    return room;
}

Datum datum_value(bly_filter *filter)
{
    size_t bytes = 0, took = 0;
    bytea *value;
    const void *image;
    bly_progress_set(filter, &datum_progress);
    image = bly_image(filter, &bytes);
    datum_must(image != NULL ? BLY_OK : BLY_ECANCELED);
    if (bytes > FILTER_MOST)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the filter has %zu bytes, more than a value "
                               "may have: use fewer keys or a higher rate",
                               bytes)));
    value = palloc(bytes + VARHDRSZ);
    datum_must(bly_pack(filter, VARDATA(value), bytes, &took));
    SET_VARSIZE(value, took + VARHDRSZ);
    return PointerGetDatum(value);
}

/* ---- Arguments ----------------------------------------------------------- */

char *datum_string(Datum value)
{
    return text_to_cstring(DatumGetTextPP(value));
}

int64 datum_items(int64 items)
{
    if (items < 1)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("a filter of %lld items is not possible: give 1 "
                               "or more", (long long)items)));
    return items;
}

double datum_rate(double rate)
{
    if (!(rate > 0 && rate < 1))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("a false-positive rate of %g is not possible: "
                               "give one between 0 and 1, such as 0.01",
                               rate)));
    return rate;
}

bly_spec datum_spec(int64 items, double rate, const datum_memory *memory)
{
    return (bly_spec){ .capacity = (uint64_t)items, .rate = rate,
                       .allocator = memory != NULL ? &memory->allocator : NULL,
                       .threads = datum_threads,
                       .progress = &datum_progress };
}

void datum_fits(const char *kind, const bly_spec *spec)
{
    bly_plan_t plan;
    datum_must(bly_plan(&plan, kind, spec));
    if (plan.bytes > FILTER_MOST)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the filter would have %llu bytes, more than a "
                               "value may have: use fewer keys or a higher "
                               "rate", (unsigned long long)plan.bytes)));
}

/* ---- The type ------------------------------------------------------------ */

/* Checks untrusted bytes. */
static Datum type_checked(bytea *value)
{
    const bly_options how = { .progress = &datum_progress };
    datum_must(bly_check(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), &how));
    return PointerGetDatum(value);
}

PG_FUNCTION_INFO_V1(bloomery_in);
Datum bloomery_in(PG_FUNCTION_ARGS)
{
    Datum bytes = DirectFunctionCall1(byteain, PG_GETARG_DATUM(0));
    return type_checked(DatumGetByteaPP(bytes));
}

/* Prints like bytea with bytea_output = hex, whatever the setting. */
PG_FUNCTION_INFO_V1(bloomery_out);
Datum bloomery_out(PG_FUNCTION_ARGS)
{
    datum_bytes image = datum_bytes_of(PG_GETARG_DATUM(0));
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
