/* guard.c - protection against files that are overwritten while mapped.
 *
 * Replacing a file by rename, as mv and the commands here do, leaves the mapped
 * filter intact. Writing into the file, as cp does, changes the filter's bytes:
 * truncation raises SIGBUS, and new contents make answers wrong. The file
 * therefore stays open and is checked after each batch. If it was written to
 * since the filter was opened, the answers of the batch are discarded. A SIGBUS
 * handler jumps back to before the batch.
 *
 * This is no guarantee: bytes that change during a lookup can lead it anywhere.
 */
#include "bloomery/serve/serve.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a thread continues after SIGBUS. */
static _Thread_local sigjmp_buf *volatile guard_back;
static struct sigaction guard_old;

static void guard_bus_error(int number)
{
    if (guard_back != NULL)
        siglongjmp(*guard_back, 1);
    guard_old.sa_handler(number);
}

void guard_start(void)
{
    struct sigaction own = { .sa_handler = guard_bus_error };

    sigemptyset(&own.sa_mask);
    sigaction(SIGBUS, &own, &guard_old);
}

/* Unblocks SIGBUS, which stays blocked because its handler never returned. */
static void guard_unblock(void)
{
    sigset_t bus_error;

    sigemptyset(&bus_error);
    sigaddset(&bus_error, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &bus_error, NULL);
}

bool guard_run(void (*work)(void *context), void *context)
{
    sigjmp_buf back;

    if (sigsetjmp(back, 0) != 0) {
        guard_back = NULL;
        guard_unblock();
        return false;
    }
    guard_back = &back;
    work(context);
    guard_back = NULL;
    return true;
}

/* ==== Files ============================================================= */

/* Opens plain files only: others cannot be mapped, and a pipe could block. */
void guard_open(serve_guard *g, const char *path)
{
    struct stat about;

    g->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (g->fd < 0)
        return;
    if (fstat(g->fd, &about) < 0 || !S_ISREG(about.st_mode)) {
        guard_close(g);
        return;
    }
    g->size = about.st_size;
    g->changed = about.st_mtim;
}

void guard_close(serve_guard *g)
{
    if (g->fd >= 0)
        close(g->fd);
    g->fd = -1;
}

/* Returns whether the file looks unchanged, as far as its status shows. */
static bool guard_whole(const serve_guard *g)
{
    struct stat about;

    return fstat(g->fd, &about) < 0
        || (about.st_size == g->size
            && about.st_mtim.tv_sec == g->changed.tv_sec
            && about.st_mtim.tv_nsec == g->changed.tv_nsec);
}

/* ==== Asking ============================================================ */

typedef struct {
    const bly_filter *filter;
    uint64_t          form;
    const bly_keys   *keys;
    bool             *there;
} guard_question;

/* Asks for keys that lie within others, some at a time. */
static void guard_find(const guard_question *q)
{
    enum { SOME = 128 };
    uint16_t found[SOME];

    for (size_t i = 0, n; i < q->keys->n; i += n) {
        n = q->keys->n - i < SOME ? q->keys->n - i : SOME;
        bly_nested_find(q->filter, q->form, q->keys->keys + i, n, found);
        for (size_t j = 0; j < n; j++)
            q->there[i + j] = found[j] != BLY_NESTED_NONE;
    }
}

static void guard_contains(void *context)
{
    const guard_question *q = context;

    if (bly_form_nests(q->form))
        guard_find(q);
    else
        bly_contains_many(q->filter, q->keys, q->there);
}

bool guard_ask(const serve_guard *g, const bly_filter *filter, uint64_t form,
               const bly_keys *keys, bool *there)
{
    guard_question q = { filter, form, keys, there };

    if (g->fd >= 0)
        return guard_run(guard_contains, &q) && guard_whole(g);
    guard_contains(&q);
    return true;
}
