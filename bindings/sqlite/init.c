/* init.c - the entry point, which registers the whole extension. */
#include "extension.h"

/* SQLite finds this by the file's name. A program that contains the extension
 * passes it to sqlite3_auto_extension. */
__attribute__((visibility("default")))
int sqlite3_bloomerysqlite_init(sqlite3 *db, char **error,
                                const sqlite3_api_routines *api);

int sqlite3_bloomerysqlite_init(sqlite3 *db, char **error,
                                const sqlite3_api_routines *api)
{
    static int (*const parts[])(sqlite3 *) = {
        scalar_register, tell_register, sql_build_register, sql_sets_register,
        sql_rows_register, sql_table_register,
    };
    int status = SQLITE_OK;
    SQLITE_EXTENSION_INIT2(api)
    if (sqlite3_libversion_number() < 3031000) {
        *error = sqlite3_mprintf("bloomery needs SQLite 3.31 or later, but "
                                 "this is %s", sqlite3_libversion());
        return SQLITE_ERROR;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (status == SQLITE_OK)
            status = parts[i](db);
    return status;
}
