/* sets.c - two filters or many, and the keys that filters list. */
#include "datum.h"

#include <string.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include <bloomery/sketch.h>

/* ---- Two ----------------------------------------------------------------- */

typedef bly_status verb(bly_filter *into, const bly_filter *other);

static bly_filter *two(Datum a, Datum b, verb *how)
{
    bly_filter *into = datum_own(a, CurrentMemoryContext);
    bly_filter *other = datum_read(b, CurrentMemoryContext);
    datum_unwatch_quick(into);
    datum_must_two(how(into, other), into, other);
    bly_free(other);
    return into;
}

static Datum two_value(FunctionCallInfo fcinfo, verb *how)
{
    bly_filter *into = two(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), how);
    Datum value = datum_value(into);
    bly_free(into);
    return value;
}

PG_FUNCTION_INFO_V1(bloomery_unite);
Datum bloomery_unite(PG_FUNCTION_ARGS)
{
    return two_value(fcinfo, bly_unite);
}

PG_FUNCTION_INFO_V1(bloomery_intersect);
Datum bloomery_intersect(PG_FUNCTION_ARGS)
{
    return two_value(fcinfo, bly_intersect);
}

/* ---- Many: aggregates ---------------------------------------------------- */

/* Combines the others into the first filter. */
static Datum many(FunctionCallInfo fcinfo, verb *how)
{
    MemoryContext room = datum_room(fcinfo), before;
    bly_filter *into, *other;
    into = PG_ARGISNULL(0) ? NULL : (bly_filter *)PG_GETARG_POINTER(0);
    if (PG_ARGISNULL(1) && into == NULL)
        PG_RETURN_NULL();
    if (PG_ARGISNULL(1))
        PG_RETURN_POINTER(into);
    if (into == NULL) {
        before = MemoryContextSwitchTo(room);
        into = datum_own(PG_GETARG_DATUM(1), room);
        datum_unwatch_quick(into);
        MemoryContextSwitchTo(before);
        PG_RETURN_POINTER(into);
    }
    other = datum_read(PG_GETARG_DATUM(1), CurrentMemoryContext);
    datum_must_two(how(into, other), into, other);
    bly_free(other);
    PG_RETURN_POINTER(into);
}

PG_FUNCTION_INFO_V1(bloomery_unite_next);
Datum bloomery_unite_next(PG_FUNCTION_ARGS)
{
    return many(fcinfo, bly_unite);
}

PG_FUNCTION_INFO_V1(bloomery_intersect_next);
Datum bloomery_intersect_next(PG_FUNCTION_ARGS)
{
    return many(fcinfo, bly_intersect);
}

/* Returns the state as a value: at the end, and for a worker's part. */
PG_FUNCTION_INFO_V1(bloomery_many_value);
Datum bloomery_many_value(PG_FUNCTION_ARGS)
{
    if (PG_ARGISNULL(0) || !AggCheckCallContext(fcinfo, NULL))
        PG_RETURN_NULL();
    return datum_value((bly_filter *)PG_GETARG_POINTER(0));
}

PG_FUNCTION_INFO_V1(bloomery_many_receive);
Datum bloomery_many_receive(PG_FUNCTION_ARGS)
{
    if (!AggCheckCallContext(fcinfo, NULL))
        PG_RETURN_NULL();
    PG_RETURN_POINTER(datum_own(PG_GETARG_DATUM(0), CurrentMemoryContext));
}

/* The part of another worker is a filter, not a value. */
static Datum many_combine(FunctionCallInfo fcinfo, verb *how)
{
    MemoryContext room = datum_room(fcinfo);
    bly_filter *into, *other, *copy = NULL;
    bly_options options = { .threads = datum_threads };
    into = PG_ARGISNULL(0) ? NULL : (bly_filter *)PG_GETARG_POINTER(0);
    other = PG_ARGISNULL(1) ? NULL : (bly_filter *)PG_GETARG_POINTER(1);
    if (other == NULL && into == NULL)
        PG_RETURN_NULL();
    if (other == NULL)
        PG_RETURN_POINTER(into);
    if (into != NULL) {
        datum_must_two(how(into, other), into, other);
        PG_RETURN_POINTER(into);
    }
    options.allocator = &datum_memory_in(room)->allocator;
    options.progress = &datum_progress;
    datum_must(bly_copy(&copy, other, &options));
    bly_progress_set(copy, &datum_progress);
    datum_unwatch_quick(copy);
    PG_RETURN_POINTER(copy);
}

PG_FUNCTION_INFO_V1(bloomery_unite_combine);
Datum bloomery_unite_combine(PG_FUNCTION_ARGS)
{
    return many_combine(fcinfo, bly_unite);
}

PG_FUNCTION_INFO_V1(bloomery_intersect_combine);
Datum bloomery_intersect_combine(PG_FUNCTION_ARGS)
{
    return many_combine(fcinfo, bly_intersect);
}

/* ---- Keys ---------------------------------------------------------------- */

/* A visited key, followed by its bytes. */
typedef struct {
    uint64_t hash;
    uint64_t length;                    /* UINT64_MAX: hash only             */
    int64    side;
} visited;

/* Keys stored by a visitor: rows are made later, where errors may be raised. */
typedef struct {
    MemoryContext room;
    char         *at;
    size_t        used, size;
    bool          failed;
} listing;

static bool list_visit(void *context, const bly_listed *listed)
{
    listing *l = context;
    visited v = { listed->hash,
                  listed->key != NULL ? listed->length : UINT64_MAX,
                  listed->side };
    size_t length = listed->key != NULL ? listed->length : 0;
    size_t bytes = sizeof v + length;
    if (bytes > l->size - l->used) {
        size_t size = 2 * l->size + bytes + 1024;
        char *more = datum_more(l->room, l->at, l->used, size);
        l->failed = more == NULL;
        if (l->failed)
            return false;
        l->at = more;
        l->size = size;
    }
    memcpy(l->at + l->used, &v, sizeof v);
    if (length > 0)
        memcpy(l->at + l->used + sizeof v, listed->key, length);
    l->used += bytes;
    return true;
}

static Datum list_bytes(const void *bytes, size_t n)
{
    bytea *value = palloc(n + VARHDRSZ);
    SET_VARSIZE(value, n + VARHDRSZ);
    memcpy(VARDATA(value), bytes, n);
    return PointerGetDatum(value);
}

static void list_row(ReturnSetInfo *set, const char *at, const visited *v)
{
    Datum values[3] = { 0 };
    bool nulls[3] = { false };
    nulls[0] = v->length == UINT64_MAX;
    if (!nulls[0])
        values[0] = list_bytes(at + sizeof *v, (size_t)v->length);
    values[1] = Int64GetDatum((int64)v->hash);
    values[2] = Int32GetDatum((int32)v->side);
    tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
    if (!nulls[0])
        pfree(DatumGetPointer(values[0]));
}

static Datum list_rows(FunctionCallInfo fcinfo, const bly_filter *filter)
{
    listing l = { .room = CurrentMemoryContext };
    size_t at = 0;
    datum_must(bly_list_keys(filter, list_visit, &l));
    if (l.failed)
        ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY),
                        errmsg("out of memory for the keys of a filter")));
    InitMaterializedSRF(fcinfo, 0);
    while (at < l.used) {
        visited v;
        memcpy(&v, l.at + at, sizeof v);
        list_row((ReturnSetInfo *)fcinfo->resultinfo, l.at + at, &v);
        at += sizeof v + (v.length != UINT64_MAX ? (size_t)v.length : 0);
        CHECK_FOR_INTERRUPTS();
    }
    PG_RETURN_NULL();
}

PG_FUNCTION_INFO_V1(bloomery_list_keys);
Datum bloomery_list_keys(PG_FUNCTION_ARGS)
{
    return list_rows(fcinfo, datum_read(PG_GETARG_DATUM(0),
                                        CurrentMemoryContext));
}

PG_FUNCTION_INFO_V1(bloomery_diff);
Datum bloomery_diff(PG_FUNCTION_ARGS)
{
    return list_rows(fcinfo, two(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1),
                                 bly_subtract));
}
