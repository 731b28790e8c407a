/* interrupt.c - every long call of the extension is interrupted at many moments
 * (sqlite3_interrupt), and leaves everything as it was.
 *
 *      sqlite_interrupt EXTENSION FILE
 *
 * The extension looks at SQLite's clock before it looks for an interrupt. Here
 * the clock is ours, and a minute passes at each look. So a first run of a
 * statement counts the looks, and the runs after it are interrupted at chosen
 * ones: no time decides, and a failure can be repeated. FILE is written. */
#include <sqlite3.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* ---- A clock that interrupts --------------------------------------------- */

enum { CLOCK_NEVER = -1, CLOCK_STEP = 60000 };

static sqlite3 *clock_db;
static int64_t clock_at = CLOCK_NEVER;  /* the look that is interrupted      */
static int64_t clock_looks;             /* of this run                       */

static int clock_now(sqlite3_vfs *vfs, sqlite3_int64 *now)
{
    static sqlite3_int64 time = INT64_C(212000000000000);
    (void)vfs;
    *now = time += CLOCK_STEP;
    if (clock_looks++ == clock_at)
        sqlite3_interrupt(clock_db);
    return SQLITE_OK;
}

static void clock_begin(void)
{
    static sqlite3_vfs ours;
    ours = *sqlite3_vfs_find(NULL);
    ours.zName = "clock";
    ours.xCurrentTimeInt64 = clock_now;
    sqlite3_vfs_register(&ours, 1);
}

/* ---- Operations ---------------------------------------------------------- */

/* Keys and bytes of filters: enough for some steps of every loop. */
static const char interrupt_prepared[] =
    "CREATE TABLE k(x);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
    "i < 40000) INSERT INTO k SELECT i FROM n;"
    "CREATE TABLE f(kind, b);"
    "INSERT INTO f SELECT 'large', bloomery_new('blocked', 2000000);"
    "INSERT INTO f SELECT 'packed', bloomery_build(x, 'compressed', 1e-3, "
    "2000000) FROM k;"
    "INSERT INTO f SELECT 'quotient', bloomery_build(x, 'quotient', 0.01, "
    "80000) FROM k;"
    "CREATE VIRTUAL TABLE stored USING bloomery(kind=blocked, "
    "capacity=2000000);"
    "INSERT INTO f SELECT 'counting', bloomery_build(x, 'counting', 0.01, "
    "400000) FROM k;"
    "INSERT INTO f SELECT 'sketch', bloomery_build(x, 'invertible:key=8', "
    "NULL, 40000) FROM k;"
    /* now it is read again whenever it is used, as after each run */
    "BEGIN; INSERT INTO stored VALUES (1); ROLLBACK;";

static const char *const interrupt_asked[] = {
    "SELECT bloomery_build(x) FROM k",
    "SELECT bloomery_build(x, 'blocked', 0.01, 40000) FROM k",
    "SELECT bloomery_build(x, 'fuse') FROM k",
    "SELECT bloomery_build('text ' || x, 'ribbon') FROM k",
    "SELECT bloomery_build(x, 'gcs') FROM k",
    "SELECT bloomery_build(x, 'invertible:key=8') FROM k",
    "SELECT bloomery_build_labels(x, x % 7) FROM k",
    "SELECT bloomery_build_labels(x, x < 50, 'cascade') FROM k",
    "SELECT bloomery_unite(b) FROM (SELECT b FROM f WHERE kind = 'large' "
    "UNION ALL SELECT b FROM f WHERE kind = 'large')",
    "SELECT bloomery_unite(b) FROM (SELECT b FROM f WHERE kind = 'quotient' "
    "UNION ALL SELECT b FROM f WHERE kind = 'quotient')",
    "SELECT bloomery_intersect(b) FROM (SELECT b FROM f WHERE kind = 'large' "
    "UNION ALL SELECT b FROM f WHERE kind = 'large')",
    "SELECT bloomery_new('blocked', 2000000)",
    "SELECT bloomery_state_keys(b, 'text') FROM f WHERE kind = 'large'",
    "SELECT bloomery_add(b, 3, 25) FROM f WHERE kind = 'large'",
    "SELECT bloomery_remove(b, 1) FROM f WHERE kind = 'counting'",
    "SELECT bloomery_info(b) FROM f WHERE kind = 'large'",
    "SELECT bloomery_contains(b, 7) FROM f WHERE kind = 'packed'",
    "SELECT bloomery_contains(bloomery_add(b, random()), 7) FROM f WHERE "
    "kind = 'large'",
    "SELECT bloomery_contains(bloomery_open(b), 7) FROM f WHERE "
    "kind = 'large'",
    "SELECT count(*), sum(integer) FROM f, bloomery_list_keys(b) WHERE "
    "kind = 'sketch'",
    "SELECT count(*) FROM f, bloomery_diff(b, b) WHERE kind = 'sketch'",
    "UPDATE f SET b = bloomery_add(b, 5) WHERE kind = 'large'",
    "SELECT bloomery_unite(b, b), bloomery_overlap(b, b) FROM f WHERE "
    "kind = 'large'",
    "INSERT INTO stored(filter) SELECT b FROM f WHERE kind = 'large'",
};

/* ---- The tests ----------------------------------------------------------- */

static bool interrupt_all_right = true;

static void interrupt_tell(bool right, const char *what, int64_t n)
{
    printf("%sok - %s (%lld)\n", right ? "" : "not ", what, (long long)n);
    interrupt_all_right = interrupt_all_right && right;
}

/* A run in a transaction that is taken back, interrupted at this look. */
static uint64_t interrupt_run(const char *text, int64_t at, int *status)
{
    sqlite3_exec(clock_db, "BEGIN", NULL, NULL, NULL);
    clock_at = at;
    clock_looks = 0;
    uint64_t sum = run_statement(clock_db, text, status);
    clock_at = CLOCK_NEVER;
    if (!sqlite3_get_autocommit(clock_db))
        sqlite3_exec(clock_db, "ROLLBACK", NULL, NULL, NULL);
    return sum;
}

/* The sum of all filters. */
static uint64_t interrupt_filters(void)
{
    int status;
    return run_statement(clock_db, "SELECT kind, b FROM f", &status);
}

/* An interrupted statement ends with SQLITE_INTERRUPT at once, without another
 * look, and changes nothing. A look at the very end may be too late, and there
 * are fewer looks if the stored table need not be read again. */
static bool interrupt_at(const char *text, int64_t at, int64_t looks,
                         uint64_t right)
{
    int status;
    uint64_t before = interrupt_filters(), sum = interrupt_run(text, at,
                                                               &status);
    bool fine = status == SQLITE_INTERRUPT ? clock_looks == at + 1
              : status == SQLITE_OK && at >= clock_looks - 1 && sum == right;
    fine = fine && interrupt_filters() == before;
    if (!fine)
        printf("# look %lld of %lld: status %d after %lld, %s\n",
               (long long)at, (long long)looks, status,
               (long long)clock_looks, sqlite3_errmsg(clock_db));
    return fine;
}

/* A whole run counts the looks. */
static void interrupt_statement(const char *text, int64_t moments)
{
    int status;
    uint64_t right = interrupt_run(text, CLOCK_NEVER, &status);
    int64_t looks = clock_looks;
    bool fine = status == SQLITE_OK && looks > 1;
    if (status != SQLITE_OK)
        printf("# %s\n", sqlite3_errmsg(clock_db));
    for (int64_t i = 0; fine && i < moments && i < looks; i++)
        fine = interrupt_at(text, looks <= moments ? i
                            : i * (looks - 1) / (moments - 1), looks, right);
    fine = fine && interrupt_run(text, CLOCK_NEVER, &status) == right
        && status == SQLITE_OK && clock_looks <= looks;
    interrupt_tell(fine, text, looks);
}

/* A table of a file is not made if reading the file is interrupted. */
static void interrupt_table(const char *path, const char *options,
                            int64_t moments)
{
    char *text = sqlite3_mprintf("CREATE VIRTUAL TABLE file USING "
                                 "bloomery(%Q%s)", path, options);
    interrupt_statement(text, moments);
    sqlite3_free(text);
}

static bool interrupt_write(const char *path)
{
    sqlite3_stmt *statement;
    FILE *file = fopen(path, "wb");
    bool written = false;
    sqlite3_prepare_v2(clock_db, "SELECT b FROM f", -1, &statement, NULL);
    if (file != NULL && sqlite3_step(statement) == SQLITE_ROW) {
        size_t n = (size_t)sqlite3_column_bytes(statement, 0);
        written = fwrite(sqlite3_column_blob(statement, 0), 1, n, file) == n;
    }
    sqlite3_finalize(statement);
    return file != NULL && fclose(file) == 0 && written;
}

static void interrupt_all(const char *path, int64_t moments)
{
    const size_t n = sizeof interrupt_asked / sizeof *interrupt_asked;
    int status = sqlite3_exec(clock_db, interrupt_prepared, NULL, NULL, NULL);
    if (status != SQLITE_OK)
        printf("# %s\n", sqlite3_errmsg(clock_db));
    for (size_t i = 0; i < n; i++)
        interrupt_statement(interrupt_asked[i], moments);
    if (interrupt_write(path)) {
        interrupt_table(path, "", moments);
        interrupt_table(path, ", map, verify", moments);
    } else {
        interrupt_tell(false, path, 0);
    }
    remove(path);
}

int main(int argc, char **argv)
{
    const char *effort = getenv("BLOOMERY_EFFORT");
    if (argc != 3)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    clock_begin();
    clock_db = run_open(argv[1], true);
    if (clock_db == NULL)
        return 1;
    interrupt_all(argv[2], effort != NULL && atoi(effort) > 1 ? 20 : 4);
    sqlite3_close(clock_db);
    int64_t kept = sqlite3_memory_used();
    interrupt_tell(kept == 0, "all memory is back after interrupts", kept);
    puts("end");
    return interrupt_all_right ? 0 : 1;
}
