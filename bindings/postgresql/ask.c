/* ask.c - one key of one filter: ask for it, or make a filter that has it. */
#include "filter.h"
#include "key.h"

/* ---- Ask ----------------------------------------------------------------- */

/* Some keys are refused by what they are (of a kind of integers): a filter that
 * cannot hold them does not. */
static Datum ask_contains(FunctionCallInfo fcinfo, key_reader *read)
{
    key k;
    bly_filter *filter = filter_argument(fcinfo, 0);
    read(&k, PG_GETARG_DATUM(1));
    PG_RETURN_BOOL(bly_contains(filter, k.data, k.length));
}

/* How often, at most; NULL where the filter cannot bound it. */
static Datum ask_count(FunctionCallInfo fcinfo, key_reader *read)
{
    key k;
    uint64_t count;
    bly_filter *filter = filter_argument(fcinfo, 0);
    read(&k, PG_GETARG_DATUM(1));
    count = bly_count(filter, k.data, k.length);
    if (count == UINT64_MAX)
        PG_RETURN_NULL();
    PG_RETURN_INT64(count > PG_INT64_MAX ? PG_INT64_MAX : (int64)count);
}

static Datum ask_get(FunctionCallInfo fcinfo, key_reader *read)
{
    key k;
    uint64_t label = 0;
    bly_filter *filter = filter_argument(fcinfo, 0);
    if (!(bly_can(filter) & BLY_CAN_LABEL))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("kind \"%s\" carries no labels: build one of "
                               "bloomier or approximator",
                               bly_kind_of(filter))));
    read(&k, PG_GETARG_DATUM(1));
    if (!bly_get(filter, k.data, k.length, &label))
        PG_RETURN_NULL();
    PG_RETURN_INT64((int64)label);
}

KEY_FUNCTIONS(bloomery_contains, ask_contains)
KEY_FUNCTIONS(bloomery_count, ask_count)
KEY_FUNCTIONS(bloomery_get, ask_get)

/* ---- Change -------------------------------------------------------------- */

/* The filter, to be changed, and the key. */
static bly_filter *change_of(FunctionCallInfo fcinfo, key_reader *read, key *k)
{
    read(k, PG_GETARG_DATUM(1));
    return filter_own(PG_GETARG_DATUM(0), CurrentMemoryContext);
}

/* The value of the changed filter, which goes. */
static Datum change_made(bly_filter *filter, bly_status status)
{
    Datum value;
    filter_must(status);
    value = filter_value(filter);
    bly_free(filter);
    return value;
}

static Datum change_add(FunctionCallInfo fcinfo, key_reader *read)
{
    key k;
    bly_filter *filter = change_of(fcinfo, read, &k);
    return change_made(filter, bly_add(filter, k.data, k.length));
}

static Datum change_remove(FunctionCallInfo fcinfo, key_reader *read)
{
    key k;
    bly_filter *filter = change_of(fcinfo, read, &k);
    return change_made(filter, bly_remove(filter, k.data, k.length));
}

static Datum change_put(FunctionCallInfo fcinfo, key_reader *read)
{
    key k;
    bly_filter *filter = change_of(fcinfo, read, &k);
    return change_made(filter, bly_put(filter, k.data, k.length,
                                       (uint64_t)PG_GETARG_INT64(2)));
}

KEY_FUNCTIONS(bloomery_add, change_add)
KEY_FUNCTIONS(bloomery_remove, change_remove)
KEY_FUNCTIONS(bloomery_put, change_put)

/* An empty filter. */
PG_FUNCTION_INFO_V1(bloomery_new);
Datum bloomery_new(PG_FUNCTION_ARGS)
{
    char *kind = filter_string(PG_GETARG_DATUM(0));
    filter_memory memory;
    bly_filter *filter = NULL;
    bly_status status;
    bly_spec spec;
    filter_memory_of(&memory, CurrentMemoryContext, FILTER_MOST);
    spec = filter_spec(filter_items(PG_GETARG_INT64(1)),
                       filter_rate(PG_GETARG_FLOAT8(2)), &memory);
    filter_fits(kind, &spec);
    status = bly_new(&filter, kind, &spec);
    filter_must_or(status, status == BLY_EUNSUPPORTED
                   ? "bloomery_agg and bloomery_map_agg build it." : NULL);
    return change_made(filter, BLY_OK);
}
