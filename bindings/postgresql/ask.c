/* ask.c - one key of one filter: looks it up, or makes a filter that has it. */
#include "datum.h"
#include "keep.h"
#include "key.h"

/* ---- Ask ----------------------------------------------------------------- */

/* Keys that are invalid for a kind of integers are not in the filter. */
static Datum ask_contains(FunctionCallInfo fcinfo, bool written)
{
    key k;
    bly_filter *filter = keep_asked(fcinfo, written, &k);
    PG_RETURN_BOOL(bly_contains(filter, k.data, k.length));
}

/* Returns an upper bound, or NULL if the filter has none. */
static Datum ask_count(FunctionCallInfo fcinfo, bool written)
{
    key k;
    uint64_t count;
    bly_filter *filter = keep_asked(fcinfo, written, &k);
    count = bly_count(filter, k.data, k.length);
    if (count == UINT64_MAX)
        PG_RETURN_NULL();
    PG_RETURN_INT64(count > PG_INT64_MAX ? PG_INT64_MAX : (int64)count);
}

static Datum ask_get(FunctionCallInfo fcinfo, bool written)
{
    key k;
    uint64_t label = 0;
    bly_filter *filter = keep_asked(fcinfo, written, &k);
    if (!(bly_can(filter) & BLY_CAN_LABEL))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("kind \"%s\" stores no labels: build a filter "
                               "of kind bloomier or approximator",
                               bly_kind_of(filter))));
    if (!bly_get(filter, k.data, k.length, &label))
        PG_RETURN_NULL();
    PG_RETURN_INT64((int64)label);
}

KEY_FUNCTIONS(bloomery_contains, ask_contains)
KEY_FUNCTIONS(bloomery_count, ask_count)
KEY_FUNCTIONS(bloomery_get, ask_get)

/* ---- Change -------------------------------------------------------------- */

/* Sets the form of an empty filter from the class of its first key; other
 * systems' files cannot store one. */
static void change_state(bly_filter *filter, uint64_t class)
{
    bly_info_t stat;
    bly_status status;
    if (bly_form_of(filter) != BLY_KEYS_UNSTATED)
        return;
    datum_must(bly_info(&stat, filter));
    status = stat.items == 0 ? bly_form_set(filter, class) : BLY_OK;
    if (status != BLY_EUNSUPPORTED)
        datum_must(status);
}

/* Returns the filter, to be changed, and makes the key. */
static bly_filter *change_of(FunctionCallInfo fcinfo, bool written, bool adds,
                             key *k)
{
    bly_filter *filter = datum_own(PG_GETARG_DATUM(0), CurrentMemoryContext);
    key_source source;
    key_find(&source, fcinfo, 1, written, CurrentMemoryContext);
    if (adds)
        change_state(filter, source.class);
    key_read(k, &source, bly_form_of(filter), PG_GETARG_DATUM(1));
    return filter;
}

/* Returns the changed filter as a value, and frees it. */
static Datum change_made(bly_filter *filter, bly_status status)
{
    Datum value;
    datum_must(status);
    value = datum_value(filter);
    bly_free(filter);
    return value;
}

static Datum change_add(FunctionCallInfo fcinfo, bool written)
{
    key k;
    bly_filter *filter = change_of(fcinfo, written, true, &k);
    return change_made(filter, bly_add(filter, k.data, k.length));
}

static Datum change_remove(FunctionCallInfo fcinfo, bool written)
{
    key k;
    bly_filter *filter = change_of(fcinfo, written, false, &k);
    return change_made(filter, bly_remove(filter, k.data, k.length));
}

static Datum change_put(FunctionCallInfo fcinfo, bool written)
{
    key k;
    bly_filter *filter = change_of(fcinfo, written, true, &k);
    return change_made(filter, bly_put(filter, k.data, k.length,
                                       (uint64_t)PG_GETARG_INT64(2)));
}

KEY_FUNCTIONS(bloomery_add, change_add)
KEY_FUNCTIONS(bloomery_remove, change_remove)
KEY_FUNCTIONS(bloomery_put, change_put)

/* ---- Filters without keys ------------------------------------------------ */

/* Reads the form that an empty filter is to state. "": its first key decides,
 * which a value cannot tell from "any". */
static uint64_t new_form(Datum keys)
{
    char *name = datum_string(keys);
    uint64_t form = key_form(name);
    if (form == BLY_KEYS_UNSTATED && name[0] != '\0')
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("an empty filter takes keys of one class, which "
                               "the first key decides"),
                        errhint("bloomery_agg builds a filter for keys of any "
                                "class.")));
    return form;
}

PG_FUNCTION_INFO_V1(bloomery_new);
Datum bloomery_new(PG_FUNCTION_ARGS)
{
    char *kind = datum_string(PG_GETARG_DATUM(0));
    uint64_t form = new_form(PG_GETARG_DATUM(3));
    datum_memory memory;
    bly_filter *filter = NULL;
    bly_status status;
    bly_spec spec;
    datum_memory_of(&memory, CurrentMemoryContext, FILTER_MOST);
    spec = datum_spec(datum_items(PG_GETARG_INT64(1)),
                      datum_rate(PG_GETARG_FLOAT8(2)), &memory);
    datum_fits(kind, &spec);
    status = bly_new(&filter, kind, &spec);
    datum_must_or(status, status == BLY_EUNSUPPORTED
                  ? "bloomery_agg and bloomery_map_agg build it." : NULL);
    return change_made(filter, bly_form_set(filter, form));
}

PG_FUNCTION_INFO_V1(bloomery_state_keys);
Datum bloomery_state_keys(PG_FUNCTION_ARGS)
{
    uint64_t form = key_form(datum_string(PG_GETARG_DATUM(1)));
    bly_filter *filter = datum_own(PG_GETARG_DATUM(0), CurrentMemoryContext);
    return change_made(filter, bly_form_set(filter, form));
}
