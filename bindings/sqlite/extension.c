/* extension.c - SQLite's functions, by which all files call it, and errors. */
#include "extension.h"

#include <stdarg.h>
#include <string.h>

SQLITE_EXTENSION_INIT1

const char *extension_why(void)
{
    return bly_why_in("sqlite");
}

/* Returns the library's message with this name of the memory limit; NULL if out
   of memory. */
static char *extension_why_of(const char *limit)
{
    static const char name[] = "(SQLITE_LIMIT_LENGTH)";
    const char *why = extension_why(), *at = strstr(why, name);
    return at == NULL ? sqlite3_mprintf("%s", why)
         : sqlite3_mprintf("%.*s(%s)%s", (int)(at - why), why, limit,
                           at + sizeof name - 1);
}

void extension_fail(sqlite3_context *context, bly_status status)
{
    char *why = status == BLY_ENOMEM
              ? NULL : sqlite3_mprintf("%s", extension_why());
    if (why == NULL)
        sqlite3_result_error_nomem(context);
    else if (status == BLY_ECANCELED)
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    else
        sqlite3_result_error(context, why, -1);
    if (status == BLY_ELIMIT)
        sqlite3_result_error_code(context, SQLITE_TOOBIG);
    sqlite3_free(why);
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

bool extension_too_big(sqlite3_context *context, char *why)
{
    if (why == NULL)
        return false;
    sqlite3_result_error(context, why, -1);
    sqlite3_result_error_code(context, SQLITE_TOOBIG);
    sqlite3_free(why);
    return true;
}

int extension_fail_table(sqlite3_vtab *table, bly_status status,
                         const char *limit)
{
    if (status == BLY_ENOMEM)
        return SQLITE_NOMEM;
    if (status == BLY_ECANCELED)
        return SQLITE_INTERRUPT;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = extension_why_of(limit);
    return status == BLY_ELIMIT ? SQLITE_TOOBIG : SQLITE_ERROR;
}

static void extension_inverse(sqlite3_context *context, int n,
                              sqlite3_value **values)
{
    (void)n;
    (void)values;
    extension_error(context, "a filter cannot take rows back, as this window "
                    "requires: begin its frame with UNBOUNDED PRECEDING");
}

int extension_aggregate(sqlite3 *db, const char *name, int n,
                        void (*step)(sqlite3_context *, int, sqlite3_value **),
                        void (*final)(sqlite3_context *),
                        void (*value)(sqlite3_context *))
{
    return sqlite3_create_window_function(
        db, name, n, SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL, step, final, value,
        extension_inverse, NULL);
}
