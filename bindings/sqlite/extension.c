/* extension.c - what the extension registers, and its errors. */
#include "extension.h"

#include <stdarg.h>

SQLITE_EXTENSION_INIT1

void extension_fail(sqlite3_context *context, bly_status status)
{
    if (status == BLY_ENOMEM)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_error(context, bly_why(), -1);
}

void extension_error(sqlite3_context *context, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *line = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    if (line == NULL)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_error(context, line, -1);
    sqlite3_free(line);
}

bool extension_spec(sqlite3_context *context, const char **kind, bly_spec *spec,
                    int n, sqlite3_value **values, bool items_first)
{
    int items = items_first ? 1 : 2, rate = items_first ? 2 : 1;
    *kind = NULL;
    if ((n > 0 && !keys_text(context, kind, "kind", values[0]))
        || (n > items && !keys_count(context, &spec->capacity, "items",
                                     values[items]))
        || (n > rate && !keys_rate(context, &spec->rate, values[rate]))
        || (n > 4 && !keys_text(context, &spec->hash, "hash", values[4])))
        return false;
    if (n > 3 && sqlite3_value_type(values[3]) != SQLITE_NULL) {
        if (sqlite3_value_type(values[3]) != SQLITE_INTEGER) {
            extension_error(context, "the seed must be an INTEGER, and not %s",
                            keys_type(values[3]));
            return false;
        }
        spec->seed = (uint64_t)sqlite3_value_int64(values[3]);
    }
    if (*kind == NULL)
        *kind = BLY_DEFAULT_KIND;
    return true;
}

int extension_fail_table(sqlite3_vtab *table, bly_status status)
{
    if (status == BLY_ENOMEM)
        return SQLITE_NOMEM;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", bly_why());
    return SQLITE_ERROR;
}

/* SQLite finds this by the name of the file, and a program that has the
 * extension inside gives it to sqlite3_auto_extension. */
__attribute__((visibility("default")))
int sqlite3_bloomerysqlite_init(sqlite3 *db, char **error,
                                const sqlite3_api_routines *api);

int sqlite3_bloomerysqlite_init(sqlite3 *db, char **error,
                                const sqlite3_api_routines *api)
{
    static int (*const parts[])(sqlite3 *) = {
        scalar_register, tell_register, build_register, sets_register,
        rows_register, table_register,
    };
    int status = SQLITE_OK;
    SQLITE_EXTENSION_INIT2(api)
    if (sqlite3_libversion_number() < 3031000) {
        *error = sqlite3_mprintf("bloomery needs SQLite 3.31 or later, and "
                                 "this is %s", sqlite3_libversion());
        return SQLITE_ERROR;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (status == SQLITE_OK)
            status = parts[i](db);
    return status;
}
