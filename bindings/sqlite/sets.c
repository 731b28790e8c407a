/* sets.c - bloomery_unite and bloomery_intersect: aggregates of one argument,
 * and functions of two, for filters of one plan, hash and seed. */
#include "extension.h"

#include <bloomery/parts.h>

/* Bytes of bits that are combined within some milliseconds. */
enum { SETS_QUICK = 32 << 20 };

typedef struct {
    bly_filter *into;
    bool        failed;
} sql_sets_state;

typedef bly_status sql_sets_verb(bly_filter *into, const bly_filter *other);

/* Verbs on a watched filter work on a copy. If they combine bits at the speed
 * of memory, that costs more than an interrupt could save. */
static void sql_sets_unwatch_quick(bly_filter *filter)
{
    size_t bytes;
    bly_raw(filter, &bytes);
    if ((bly_can(filter) & BLY_CAN_INTERSECT) != 0 && bytes < SETS_QUICK)
        bly_progress_set(filter, NULL);
}

/* Skips NULL, which is not a filter. */
static void sql_sets_row(sqlite3_context *context, sqlite3_value *value,
                         sql_sets_verb *verb)
{
    sql_sets_state *s = sqlite3_aggregate_context(context, sizeof *s);
    if (s == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (s->failed || sqlite3_value_type(value) == SQLITE_NULL)
        return;
    bly_filter *filter = sql_held_own(context, value);
    if (filter == NULL || s->into == NULL) {
        s->into = filter != NULL ? filter : s->into;
        s->failed = filter == NULL;
        if (filter != NULL)
            sql_sets_unwatch_quick(filter);
        return;
    }
    bly_status status = verb(s->into, filter);
    bly_free(filter);
    s->failed = status < 0;
    if (s->failed)
        extension_fail(context, status);
}

static void sql_sets_unite(sqlite3_context *context, int n,
                           sqlite3_value **values)
{
    (void)n;
    sql_sets_row(context, values[0], bly_unite);
}

static void sql_sets_intersect(sqlite3_context *context, int n,
                               sqlite3_value **values)
{
    (void)n;
    sql_sets_row(context, values[0], bly_intersect);
}

static void sql_sets_final(sqlite3_context *context)
{
    sql_sets_state *s = sqlite3_aggregate_context(context, 0);
    if (s == NULL || s->into == NULL)
        return;
    bly_filter *into = s->into;
    s->into = NULL;
    if (s->failed)
        bly_free(into);
    else
        sql_held_give(context, into);
}

/* Gives the result of the rows so far, for a window. */
static void sql_sets_value(sqlite3_context *context)
{
    sql_sets_state *s = sqlite3_aggregate_context(context, 0);
    if (s == NULL || s->into == NULL || s->failed)
        return;
    sql_held_show(context, s->into);
    sql_sets_unwatch_quick(s->into);
}

/* ---- Two filters --------------------------------------------------------- */

/* Gives NULL if one of them is NULL. */
static void sql_sets_two(sqlite3_context *context, sqlite3_value **values,
                         sql_sets_verb *verb)
{
    if (sqlite3_value_type(values[1]) == SQLITE_NULL)
        return;
    bly_filter *into = sql_held_own(context, values[0]);
    if (into == NULL)
        return;
    sql_sets_unwatch_quick(into);
    bly_filter *other = sql_held_own(context, values[1]);
    bly_status status = other != NULL ? verb(into, other) : BLY_OK;
    if (status < 0)
        extension_fail(context, status);
    else if (other != NULL)
        sql_held_show(context, into);
    bly_free(into);
    bly_free(other);
}

static void sql_sets_unite_two(sqlite3_context *context, int n,
                               sqlite3_value **values)
{
    (void)n;
    sql_sets_two(context, values, bly_unite);
}

static void sql_sets_intersect_two(sqlite3_context *context, int n,
                                   sqlite3_value **values)
{
    (void)n;
    sql_sets_two(context, values, bly_intersect);
}

int sql_sets_register(sqlite3 *db)
{
    int status = extension_aggregate(db, "bloomery_unite", 1, sql_sets_unite,
                                     sql_sets_final, sql_sets_value);
    if (status == SQLITE_OK)
        status = extension_aggregate(db, "bloomery_intersect", 1,
                                     sql_sets_intersect, sql_sets_final,
                                     sql_sets_value);
    if (status == SQLITE_OK)
        status = sqlite3_create_function_v2(db, "bloomery_unite", 2,
                                            EXTENSION_PURE, NULL,
                                            sql_sets_unite_two, NULL, NULL,
                                            NULL);
    if (status == SQLITE_OK)
        status = sqlite3_create_function_v2(db, "bloomery_intersect", 2,
                                            EXTENSION_PURE, NULL,
                                            sql_sets_intersect_two, NULL, NULL,
                                            NULL);
    return status;
}
