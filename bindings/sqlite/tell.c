/* tell.c - functions that describe filters and plans in the JSON of
 * `bloomery info --json` and `bloomery plan --json`. */
#include "extension.h"

#include <string.h>

/* The subtype by which SQLite's JSON functions recognise JSON. */
enum { TELL_SUBTYPE = 'J' };

#ifndef SQLITE_RESULT_SUBTYPE
#define SQLITE_RESULT_SUBTYPE 0
#endif

static bool tell_put(void *text, const char *more, size_t length)
{
    sqlite3_str_append(text, more, (int)length);
    return sqlite3_str_errcode(text) == SQLITE_OK;
}

bly_json tell_json(sqlite3_context *context)
{
    sqlite3 *db = sqlite3_context_db_handle(context);
    return (bly_json){ .put = tell_put, .context = sqlite3_str_new(db) };
}

void tell_open(bly_json *json, bly_field_type type)
{
    bly_json_field(json, &(bly_field){ .type = type });
}

void tell_close(bly_json *json)
{
    tell_open(json, BLY_FIELD_END);
}

void tell_text(bly_json *json, const char *name, const char *text)
{
    bly_json_field(json, &(bly_field){
        .name = name, .type = BLY_FIELD_TEXT, .text = text,
        .length = text != NULL ? strlen(text) : 0,
    });
}

void tell_give(sqlite3_context *context, bly_json *json)
{
    int status = sqlite3_str_errcode(json->context);
    char *text = sqlite3_str_finish(json->context);
    if (text == NULL || status != SQLITE_OK) {
        sqlite3_free(text);
        sqlite3_result_error_nomem(context);
        return;
    }
    sqlite3_result_text(context, text, -1, sqlite3_free);
    sqlite3_result_subtype(context, TELL_SUBTYPE);
}

static void tell_info(sqlite3_context *context, int n, sqlite3_value **values)
{
    bly_info_t stat;
    (void)n;
    bly_filter *filter = sql_held_own(context, values[0]);
    if (filter == NULL)
        return;
    bly_status status = bly_info(&stat, filter);
    if (status < 0) {
        extension_fail(context, status);
    } else {
        bly_json json = tell_json(context);
        tell_open(&json, BLY_FIELD_OBJECT);
        bly_info_each(&stat, filter, bly_json_field, &json);
        tell_close(&json);
        tell_give(context, &json);
    }
    bly_free(filter);
}

static void tell_plan(sqlite3_context *context, int n, sqlite3_value **values)
{
    bly_spec spec = { .threads = 1 };
    bly_plan_t plan;
    const char *kind;
    if (!sql_keys_spec(context, &kind, &spec, n, values, true))
        return;
    bly_status status = bly_plan(&plan, kind, &spec);
    if (status < 0) {
        extension_fail(context, status);
        return;
    }
    bly_json json = tell_json(context);
    tell_open(&json, BLY_FIELD_OBJECT);
    bly_plan_each(&plan, bly_json_field, &json);
    tell_close(&json);
    tell_give(context, &json);
}

static void tell_version(sqlite3_context *context, int n,
                         sqlite3_value **values)
{
    (void)n;
    (void)values;
    sqlite3_result_text(context, bly_version(), -1, SQLITE_STATIC);
}

int tell_register(sqlite3 *db)
{
    int flags = EXTENSION_PURE | SQLITE_RESULT_SUBTYPE;
    int status = sqlite3_create_function_v2(db, "bloomery_info", 1, flags, NULL,
                                            tell_info, NULL, NULL, NULL);
    for (int n = 2; n <= 3 && status == SQLITE_OK; n++)
        status = sqlite3_create_function_v2(db, "bloomery_plan", n, flags, NULL,
                                            tell_plan, NULL, NULL, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_create_function_v2(db, "bloomery_version", 0,
                                            EXTENSION_PURE, NULL, tell_version,
                                            NULL, NULL, NULL);
    return status;
}
