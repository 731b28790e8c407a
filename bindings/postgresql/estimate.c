/* estimate.c - tells the planner how many rows have a key that a filter has.
 *
 * If the filter is known when the query is planned, the column's statistics are
 * looked up in it: the most common values, and the bounds of the histogram,
 * which are a sample of about a hundred other values. So many rows are found as
 * have such values. A sample of which few are found says little about small
 * shares. The share is then at least the filter's false-positive rate, and at
 * most this rate and the number of keys in the filter, divided by the number of
 * different values in the column.
 *
 * Without statistics, or if the filter is the result of a subquery or a column,
 * a tenth of the rows is assumed: filters serve to drop most rows, and planners
 * recover better from an estimate that is too high.
 *
 * Errors are left to the query: a value that cannot be a key counts as not
 * found.
 */
#include "datum.h"
#include "key.h"

#include <math.h>
#include <string.h>

#include "access/detoast.h"
#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#define ESTIMATE_UNKNOWN 0.1

extern Datum bloomery_in(PG_FUNCTION_ARGS);

enum {
    estimate_most = 8 << 20,            /* bytes of a filter that is read    */
    estimate_packed_most = 2 << 20,     /* … and that is unpacked            */
    estimate_enough = 10                /* found values that are a share     */
};

/* A filter, as far as the planner reads it. */
typedef struct {
    bly_filter *filter;                 /* NULL: too large to be read now    */
    double      rate;                   /* of false positives                */
    double      items;                  /* keys; infinity: not known         */
    uint64_t    form;
} estimated;

/* ---- The filter ---------------------------------------------------------- */

static void estimated_read(estimated *e, Datum value)
{
    bly_info_t info;
    e->filter = datum_read(value, CurrentMemoryContext);
    if (bly_info(&info, e->filter) < 0)
        return;
    e->rate = info.rate;
    e->items = info.items_exact ? (double)info.items : info.distinct;
}

/* Returns the header of a filter without reading all of a large one. */
static datum_bytes estimated_head(Datum value)
{
    struct varlena *head = PG_DETOAST_DATUM_SLICE(value, 0, BLY_HEADER_BYTES);
    return (datum_bytes){ (const unsigned char *)VARDATA_ANY(head),
                          VARSIZE_ANY_EXHDR(head) };
}

/* Reads a filter. One with a secret can only be queried elsewhere. */
static bool estimated_of(estimated *e, Datum value)
{
    datum_bytes head = estimated_head(value);
    bly_header header;
    if (bly_peek(&header, head.at, head.bytes) < 0
        || strcmp(header.hash, "siphash") == 0)
        return false;
    *e = (estimated){
        .rate = header.rate, .form = header.form,
        .items = header.items == UINT64_MAX ? INFINITY : (double)header.items
    };
    if (toast_raw_datum_size(value) <= estimate_most
        && header.unpacked <= estimate_packed_most)
        estimated_read(e, value);
    return true;
}

/* ---- The column ---------------------------------------------------------- */

static bool estimate_finds(const estimated *e, const key_source *source,
                           Datum value)
{
    key k;
    return key_try(&k, source, e->form, value) >= 0
        && bly_contains(e->filter, k.data, k.length);
}

/* Returns the share of rows whose value is a most common one and is found, and
 * adds the share of all most common values to *common. */
static double estimate_common(const estimated *e, const key_source *source,
                              HeapTuple stats, double *common)
{
    AttStatsSlot slot;
    double found = 0;
    if (!get_attstatsslot(&slot, stats, STATISTIC_KIND_MCV, InvalidOid,
                          ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS))
        return 0;
    for (int i = 0; i < slot.nvalues && i < slot.nnumbers; i++) {
        *common += slot.numbers[i];
        if (estimate_finds(e, source, slot.values[i]))
            found += slot.numbers[i];
    }
    free_attstatsslot(&slot);
    return found;
}

/* Counts the bounds of the histogram, and those that are found. */
static int estimate_sample(const estimated *e, const key_source *source,
                           HeapTuple stats, int *found)
{
    AttStatsSlot slot;
    int n;
    *found = 0;
    if (!get_attstatsslot(&slot, stats, STATISTIC_KIND_HISTOGRAM, InvalidOid,
                          ATTSTATSSLOT_VALUES))
        return 0;
    n = slot.nvalues;
    for (int i = 0; i < n; i++)
        *found += estimate_finds(e, source, slot.values[i]);
    free_attstatsslot(&slot);
    return n;
}

/* Returns the largest share of values that the filter can find: its keys, if
 * all of them are in the column, and its false positives. */
static double estimate_bound(const estimated *e, VariableStatData *column)
{
    bool guessed;
    double distinct = get_variable_numdistinct(column, &guessed);
    double members = guessed || distinct <= 0 ? 1
                   : Min(e->items / distinct, 1);
    return e->rate + (1 - e->rate) * members;
}

/* Returns the share of found values among those that are not most common. If
 * the few that were found may all be false positives, the truth is between
 * their share and the rate: the mean of the logarithms is near to both. */
static double estimate_others(const estimated *e, const key_source *source,
                              VariableStatData *column)
{
    double bound = estimate_bound(e, column), share = ESTIMATE_UNKNOWN;
    int found, n = estimate_sample(e, source, column->statsTuple, &found);
    if (found >= estimate_enough)
        return (double)found / n;
    if (n > 0)
        share = (found + 0.5) / n;
    if (n > 0 && found <= 4 * e->rate * n)
        share = sqrt(share * e->rate);
    return Max(Min(share, bound), e->rate);
}

static double estimate_by_statistics(const estimated *e,
                                     const key_source *source,
                                     VariableStatData *column)
{
    Form_pg_statistic stats = (Form_pg_statistic)GETSTRUCT(column->statsTuple);
    double common = 0;
    double found = estimate_common(e, source, column->statsTuple, &common);
    double others = 1 - stats->stanullfrac - common;
    return found + Max(others, 0) * estimate_others(e, source, column);
}

/* Statistics are used only if the user may see all rows. */
static double estimate_column(const estimated *e, Node *key,
                              VariableStatData *column)
{
    key_source source;
    double bound = estimate_bound(e, column);
    if (e->filter == NULL || !HeapTupleIsValid(column->statsTuple)
        || !column->acl_ok
        || !key_find_type(&source, exprType(key), CurrentMemoryContext))
        return bound < 1 ? bound : Max(ESTIMATE_UNKNOWN, e->rate);
    return estimate_by_statistics(e, &source, column);
}

/* ---- Calls by the planner ------------------------------------------------ */

static double estimate_within(PlannerInfo *root, Const *filter, Node *key,
                              int relation)
{
    VariableStatData column;
    estimated e;
    double share;
    if (filter->constisnull)
        return 0;
    if (!estimated_of(&e, filter->constvalue))
        return ESTIMATE_UNKNOWN;
    examine_variable(root, key, relation, &column);
    share = estimate_column(&e, key, &column);
    ReleaseVariableStats(column);
    bly_free(e.filter);
    CLAMP_PROBABILITY(share);
    return share;
}

/* Returns whether a type is that of filters: others may name the estimators for
 * operators of their own. */
static bool estimate_is_filter(Oid type)
{
    Oid input, parameter;
    FmgrInfo function;
    getTypeInputInfo(type, &input, &parameter);
    fmgr_info(input, &function);
    return function.fn_addr == bloomery_in;
}

static double estimate(PlannerInfo *root, List *args, int filter_at,
                       int relation)
{
    MemoryContext room, before;
    Node *filter;
    double share;
    if (list_length(args) != 2)
        return ESTIMATE_UNKNOWN;
    filter = estimate_expression_value(root, list_nth(args, filter_at));
    if (!IsA(filter, Const)
        || !estimate_is_filter(((Const *)filter)->consttype))
        return ESTIMATE_UNKNOWN;
    room = AllocSetContextCreate(CurrentMemoryContext, "bloomery",
                                 ALLOCSET_SMALL_SIZES);
    before = MemoryContextSwitchTo(room);
    share = estimate_within(root, (Const *)filter,
                            list_nth(args, 1 - filter_at), relation);
    MemoryContextSwitchTo(before);
    MemoryContextDelete(room);
    return share;
}

PG_FUNCTION_INFO_V1(bloomery_contains_sel);
Datum bloomery_contains_sel(PG_FUNCTION_ARGS)
{
    PG_RETURN_FLOAT8(estimate((PlannerInfo *)PG_GETARG_POINTER(0),
                              (List *)PG_GETARG_POINTER(2), 0,
                              PG_GETARG_INT32(3)));
}

PG_FUNCTION_INFO_V1(bloomery_contained_sel);
Datum bloomery_contained_sel(PG_FUNCTION_ARGS)
{
    PG_RETURN_FLOAT8(estimate((PlannerInfo *)PG_GETARG_POINTER(0),
                              (List *)PG_GETARG_POINTER(2), 1,
                              PG_GETARG_INT32(3)));
}

/* In a join the filter is a column, about which nothing is known. */
PG_FUNCTION_INFO_V1(bloomery_contains_joinsel);
Datum bloomery_contains_joinsel(PG_FUNCTION_ARGS)
{
    (void)fcinfo;
    PG_RETURN_FLOAT8(ESTIMATE_UNKNOWN);
}

/* Estimates calls of bloomery_contains, which the operator does not go through.
 */
PG_FUNCTION_INFO_V1(bloomery_contains_support);
Datum bloomery_contains_support(PG_FUNCTION_ARGS)
{
    Node *request = (Node *)PG_GETARG_POINTER(0);
    SupportRequestSelectivity *s = (SupportRequestSelectivity *)request;
    if (!IsA(request, SupportRequestSelectivity))
        PG_RETURN_POINTER(NULL);
    s->selectivity = s->is_join
        ? ESTIMATE_UNKNOWN
        : estimate(s->root, s->args, 0, s->varRelid);
    PG_RETURN_POINTER(s);
}
