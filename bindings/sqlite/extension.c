/* extension.c - SQLite's functions, by which all files call it, and errors. */
#include "extension.h"

#include <stdarg.h>

SQLITE_EXTENSION_INIT1

void extension_fail(sqlite3_context *context, bly_status status)
{
    if (status == BLY_ENOMEM)
        sqlite3_result_error_nomem(context);
    else if (status == BLY_ECANCELED)
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
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

int extension_fail_table(sqlite3_vtab *table, bly_status status)
{
    if (status == BLY_ENOMEM)
        return SQLITE_NOMEM;
    if (status == BLY_ECANCELED)
        return SQLITE_INTERRUPT;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", bly_why());
    return SQLITE_ERROR;
}
