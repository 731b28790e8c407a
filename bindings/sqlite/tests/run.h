/* run.h - runs statements with the extension, for the tests in C. */
#ifndef SQLITE_TESTS_RUN_H
#define SQLITE_TESTS_RUN_H

#include <sqlite3.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A sum of all that a statement gives, by which to see that it gives the same;
 * *status is SQLite's. */
static inline uint64_t run_statement(sqlite3 *db, const char *text, int *status)
{
    sqlite3_stmt *statement;
    uint64_t sum = 1;
    *status = sqlite3_prepare_v2(db, text, -1, &statement, NULL);
    if (*status != SQLITE_OK)
        return 0;
    while ((*status = sqlite3_step(statement)) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const unsigned char *bytes = sqlite3_column_blob(statement, i);
            int n = sqlite3_column_bytes(statement, i);
            if (bytes == NULL && sqlite3_column_type(statement, i)
                                 != SQLITE_NULL && n > 0)
                *status = SQLITE_NOMEM;
            for (int j = 0; bytes != NULL && j < n; j++)
                sum = (sum ^ bytes[j]) * UINT64_C(0x100000001b3);
        }
    int ended = sqlite3_finalize(statement);
    *status = ended != SQLITE_OK ? ended
            : *status == SQLITE_DONE ? SQLITE_OK : *status;
    return sum;
}

static inline sqlite3 *run_open(const char *extension, bool loud)
{
    sqlite3 *db = NULL;
    char *error = NULL;
    int status = sqlite3_open(":memory:", &db);
    if (status == SQLITE_OK)
        status = sqlite3_enable_load_extension(db, 1);
    if (status == SQLITE_OK)
        status = sqlite3_load_extension(db, extension, NULL, &error);
    if (status != SQLITE_OK && loud)
        printf("# %s\n", error != NULL ? error : sqlite3_errmsg(db));
    sqlite3_free(error);
    if (status == SQLITE_OK)
        return db;
    sqlite3_close(db);
    return NULL;
}

#endif /* SQLITE_TESTS_RUN_H */
