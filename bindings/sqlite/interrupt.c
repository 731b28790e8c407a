/* interrupt.c - makes sqlite3_interrupt end long calls of the library.
 *
 * SQLite looks for an interrupt between the steps of a statement, and a call of
 * a function is one step. So each call that may take long gets a callback,
 * which looks too. The callback is called as often as every 10 us, and looks at
 * most every 20 ms by SQLite's clock. */
#include "extension.h"

/* Calls of fewer keys or bytes are over at once, even if the bytes are packed.
 */
enum { INTERRUPT_MS = 20, INTERRUPT_SMALL = 4096 };

/* Returns whether to check again. A clock that was set back causes no delay. */
static bool interrupt_due(void)
{
    static _Thread_local sqlite3_int64 last;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    sqlite3_int64 now;
    if (vfs == NULL || vfs->iVersion < 2 || vfs->xCurrentTimeInt64 == NULL
        || vfs->xCurrentTimeInt64(vfs, &now) != SQLITE_OK)
        return true;
    if (now >= last && now - last < INTERRUPT_MS)
        return false;
    last = now;
    return true;
}

/* Returns whether the calling statement is interrupted. SQLite 3.41 and later
 * can say so. Earlier versions refuse to prepare even an empty statement then;
 * that takes about a microsecond, and is invisible to the program's authorizers
 * and traces. */
static bool interrupt_is_there(sqlite3 *db)
{
    sqlite3_stmt *none = NULL;
#if SQLITE_VERSION_NUMBER >= 3041000
    if (sqlite3_libversion_number() >= 3041000)
        return sqlite3_is_interrupted(db);
#endif
    int status = sqlite3_prepare_v2(db, "", -1, &none, NULL);
    sqlite3_finalize(none);
    return status == SQLITE_INTERRUPT;
}

bool interrupt_now(sqlite3 *db)
{
    return interrupt_due() && interrupt_is_there(db);
}

static int interrupt_report(void *db, uint64_t done, uint64_t total)
{
    (void)done;
    return total >= INTERRUPT_SMALL && interrupt_now(db);
}

bly_progress interrupt_progress(sqlite3 *db)
{
    return (bly_progress){ .report = interrupt_report, .context = db };
}

void interrupt_watch(bly_filter *filter, sqlite3 *db)
{
    const bly_progress progress = interrupt_progress(db);
    bly_progress_set(filter, &progress);
}
