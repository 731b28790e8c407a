/* scarce.c - the extension where memory is scarce: each call for it fails in
 * turn, and what was taken comes back.
 *
 *      sqlite_scarce EXTENSION
 *
 * SQLite's memory goes through functions of ours, as a program may have it
 * (SQLITE_CONFIG_MALLOC). All of a connection's is back when it is closed. */
#include <sqlite3.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* ---- Memory that fails --------------------------------------------------- */

static sqlite3_mem_methods scarce_system;
static int64_t scarce_left = -1;        /* calls that succeed; -1: all       */
static bool scarce_failed;

/* Fails one call; later ones succeed, as in a program that continues. */
static bool scarce_fails(void)
{
    if (scarce_left < 0 || scarce_left-- > 0)
        return false;
    scarce_failed = true;
    return true;
}

static void *scarce_take(int bytes)
{
    return scarce_fails() ? NULL : scarce_system.xMalloc(bytes);
}

static void *scarce_change(void *memory, int bytes)
{
    return scarce_fails() ? NULL : scarce_system.xRealloc(memory, bytes);
}

static void scarce_begin(void)
{
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &scarce_system);
    sqlite3_mem_methods ours = scarce_system;
    ours.xMalloc = scarce_take;
    ours.xRealloc = scarce_change;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1);
    sqlite3_initialize();
}

/* ---- Operations ---------------------------------------------------------- */

static const char scarce_prepared[] =
    "CREATE TABLE k(x);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
    "i < 100) INSERT INTO k SELECT i FROM n;"
    "CREATE TABLE f(kind, b);"
    "INSERT INTO f SELECT 'blocked', bloomery_build(x) FROM k;"
    "INSERT INTO f SELECT 'fuse', bloomery_build(x, 'fuse') FROM k;"
    "INSERT INTO f SELECT 'compressed', bloomery_build(x, 'compressed') FROM k;"
    "INSERT INTO f SELECT 'counting', bloomery_build(x, 'counting') FROM k;"
    "INSERT INTO f SELECT 'bloomier', bloomery_build_labels(x, x % 7) FROM k;"
    "INSERT INTO f SELECT 'sketch', bloomery_build(x, 'invertible:key=8', "
    "NULL, 400) FROM k;"
    "CREATE VIRTUAL TABLE stored USING bloomery(kind=counting, capacity=20000);"
    "INSERT INTO stored SELECT x FROM k;";

static const char *const scarce_asked[] = {
    "SELECT bloomery_build(x, 'standard', 0.01, 500, 3, 'xxh64') FROM k",
    "SELECT bloomery_build('text ' || x, 'ribbon') FROM k",
    "SELECT bloomery_build(x, 'invertible:key=8') FROM k",
    "SELECT bloomery_build(x, 'cuckoo'), bloomery_build(x, 'scalable') FROM k",
    "SELECT bloomery_build_labels(x, x < 50, 'cascade') FROM k",
    "SELECT sum(bloomery_contains((SELECT b FROM f), x)) FROM k",
    "SELECT sum(bloomery_contains((SELECT bloomery_open(b) FROM f), x)) FROM k",
    "SELECT kind, sum(bloomery_contains(b, x)) FROM f, k GROUP BY kind",
    "SELECT sum(bloomery_get(b, x)) FROM f, k WHERE kind = 'bloomier'",
    "SELECT bloomery_count(b, 7), bloomery_add(b, 3, 2.5), "
    "bloomery_remove(b, 1) FROM f WHERE kind = 'counting'",
    "SELECT bloomery_put(b, 7, 3) FROM f WHERE kind = 'bloomier'",
    "SELECT bloomery_new('blocked', 1000)",
    "SELECT bloomery_info(b) FROM f",
    "SELECT bloomery_plan('blocked', 1000, 0.01)",
    "SELECT bloomery_unite(b) FROM (SELECT b FROM f WHERE kind = 'blocked' "
    "UNION ALL SELECT b FROM f WHERE kind = 'blocked')",
    "SELECT count(*), sum(integer) FROM f, bloomery_list_keys(b) WHERE "
    "kind = 'sketch'",
    "SELECT count(*) FROM f, bloomery_diff(b, b) WHERE kind = 'sketch'",
    "SELECT count(*), max(options), max(abilities) FROM bloomery_kinds",
    "SELECT bloomery_unite(a.b, b.b), bloomery_overlap(a.b, b.b) FROM f a, f b "
    "WHERE a.kind = 'blocked' AND b.kind = 'blocked'",
    "SELECT bloomery_unite(b) OVER (ORDER BY rowid) FROM f WHERE "
    "kind = 'blocked'",
    "SELECT bloomery_build(x) OVER (ORDER BY x) FROM k WHERE x < 5",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.made USING bloomery(kind=blocked, "
    "capacity=10, rate=0.01, seed=7, hash=xxh64, keys=text)",
    "SELECT count(*) FROM k JOIN stored ON stored.key = x",
    "INSERT INTO stored SELECT x + 1000 FROM k WHERE x < 9",
    "UPDATE f SET kind = kind WHERE rowid IN (SELECT key FROM stored WHERE "
    "key = 7)",
    "DELETE FROM stored WHERE key IN (1001, 1002)",
    "SELECT length(filter) FROM stored",
};

/* ---- The tests ----------------------------------------------------------- */

static bool scarce_all_right = true;

static void scarce_tell(bool right, const char *what, int64_t n)
{
    printf("%sok - %s (%lld)\n", right ? "" : "not ", what, (long long)n);
    scarce_all_right = scarce_all_right && right;
}

/* Each call for memory of a statement fails in turn, until none is left. */
static void scarce_statement(sqlite3 *db, const char *text)
{
    int status;
    uint64_t right = run_statement(db, text, &status);
    int64_t n = 0;
    bool fine = status == SQLITE_OK;
    for (scarce_failed = true; fine && scarce_failed; n++) {
        scarce_failed = false;
        scarce_left = n;
        uint64_t sum = run_statement(db, text, &status);
        scarce_left = -1;
        fine = status == SQLITE_OK ? sum == right
                                   : scarce_failed && status == SQLITE_NOMEM;
    }
    if (!fine)
        printf("# call %lld: status %d, %s\n", (long long)n, status,
               sqlite3_errmsg(db));
    scarce_tell(fine, text, n);
}

/* Memory fails in one of the statements that end a transaction of many keys, or
 * that read a stored filter again. Then the table has the state before. */
static bool scarce_stored_once(sqlite3 *db, int64_t n, const char *ends)
{
    static const char begins[] =
        "BEGIN; INSERT INTO stored SELECT x + 1000 * (n.x + 5) FROM k n, k";
    static const char here[] =
        "SELECT count(*) FROM k JOIN stored ON stored.key = x";
    int status;
    sqlite3_exec(db, ends[0] == 'R' ? "BEGIN; INSERT INTO stored VALUES (7); "
                 "ROLLBACK" : begins, NULL, NULL, NULL);
    scarce_failed = false;
    scarce_left = n;
    int ended = sqlite3_exec(db, ends[0] == 'R' ? here : ends, NULL, NULL,
                             NULL);
    scarce_left = -1;
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    uint64_t found = run_statement(db, here, &status);
    uint64_t right = run_statement(db, "SELECT count(*) FROM k", &status);
    return found == right && status == SQLITE_OK
        && (ended == SQLITE_OK || (scarce_failed && ended == SQLITE_NOMEM));
}

static void scarce_stored(sqlite3 *db)
{
    static const char *const ends[] = {
        "COMMIT", "SAVEPOINT s", "READ",
        "PRAGMA writable_schema = RESET; SELECT 1 FROM stored WHERE key = 1"
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int64_t n = 0;
        bool fine = true;
        for (scarce_failed = true; fine && scarce_failed; n++)
            fine = scarce_stored_once(db, n, ends[i]);
        if (!fine)
            printf("# call %lld: %s\n", (long long)n, sqlite3_errmsg(db));
        scarce_tell(fine, ends[i], n);
    }
}

static void scarce_load(const char *extension)
{
    int64_t n = 0;
    sqlite3 *db = NULL;
    for (scarce_failed = true; scarce_failed; n++) {
        sqlite3_close(db);
        scarce_failed = false;
        scarce_left = n;
        db = run_open(extension, false);
        scarce_left = -1;
    }
    sqlite3_close(db);
    scarce_tell(db != NULL, "memory fails while the extension is loaded", n);
}

/* Questions without end take no more memory than a few. */
static void scarce_flat(sqlite3 *db, int times)
{
    int64_t before = 0;
    int status;
    for (int i = 0; i < times; i++) {
        for (int j = 0; j < 2; j++)
            run_statement(db, j > 0 ? "SELECT bloomery_contains(b, 7) FROM f"
                       : "SELECT bloomery_contains(bloomery_add(b, 8), 'x') "
                         "FROM f WHERE kind = 'blocked'", &status);
        if (i % 100 == 0)
            run_statement(db, "SELECT bloomery_contains(bloomery_open("
                       "bloomery_new('blocked', 10 + random() % 10)), 1), "
                       "bloomery_contains(b, 'x', 1), bloomery_get(b, 1) "
                       "FROM f", &status);
        if (i == times / 2)
            before = sqlite3_memory_used();
    }
    int64_t more = sqlite3_memory_used() - before;
    scarce_tell(more < 65536, "many questions take no more memory", more);
}

int main(int argc, char **argv)
{
    const char *effort = getenv("BLOOMERY_EFFORT");
    int status, times = effort != NULL ? atoi(effort) : 1;
    if (argc != 2)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    scarce_begin();
    sqlite3 *db = run_open(argv[1], true);
    if (db == NULL)
        return 1;
    status = sqlite3_exec(db, scarce_prepared, NULL, NULL, NULL);
    if (status != SQLITE_OK)
        printf("# %s\n", sqlite3_errmsg(db));
    for (size_t i = 0; i < sizeof scarce_asked / sizeof *scarce_asked; i++)
        scarce_statement(db, scarce_asked[i]);
    scarce_stored(db);
    scarce_flat(db, 2500 * (times > 0 ? times : 1));
    sqlite3_close(db);
    scarce_load(argv[1]);
    int64_t kept = sqlite3_memory_used();
    scarce_tell(kept == 0, "all memory is back", kept);
    puts("end");
    return scarce_all_right ? 0 : 1;
}
