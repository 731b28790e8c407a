/* earlier.c - finds what an existing index still knows about files.
 *
 *     files, sorted         a  b  c     e        read b, e
 *     documents, by name    a  b     d  d        keep a
 *
 * A document is kept if its file is still wanted and in the same state as when
 * it was read.
 */
#include "search/commands/search.h"
#include "frame/work.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* Returns the current state of a file. */
static uint64_t earlier_stamp(const char *file)
{
    struct timespec now;
    struct stat about;

    clock_gettime(CLOCK_REALTIME, &now);
    return stat(file, &about) == 0 ? text_stamp(&about, &now) : 0;
}

/* A file, and its documents in the index. */
typedef struct {
    char            *name;
    const found_one *some;
    size_t           n;
    bool             holds;
} earlier_file;

typedef struct {
    earlier_file   *files;
    size_t          n;
    bool            trust;
    const uint64_t *read;
    atomic_size_t   next;
} earlier_files;

static bool earlier_trusts(const earlier_files *all, const earlier_file *f)
{
    bool trusts = all->trust;

    for (size_t i = 0; i < f->n && !trusts && all->read != NULL; i++)
        trusts = found_is(all->read, f->some[i].number);
    return trusts;
}

/* Returns whether all documents of a file match its current contents. */
static bool earlier_holds(const earlier_files *all, const earlier_file *f)
{
    const found_one *some = f->some;
    uint64_t stamp;

    if (f->n == 0)
        return false;
    stamp = earlier_trusts(all, f) ? some->part.stamp : earlier_stamp(f->name);
    for (size_t i = 0; i < f->n; i++)
        if (some[i].part.stamp != stamp || stamp == 0)
            return false;
    return true;
}

static void *earlier_loop(void *argument)
{
    enum { STEP = 256 };
    earlier_files *all = argument;

    for (size_t i; (i = atomic_fetch_add(&all->next, STEP)) < all->n; )
        for (size_t end = all->n - i < STEP ? all->n : i + STEP; i < end; i++)
            all->files[i].holds = earlier_holds(all, &all->files[i]);
    return NULL;
}

/* Decides which documents stay, and which files must be read. */
static void earlier_settle(earlier *e, const earlier_files *all,
                           cli_operands *files)
{
    files->count = 0;
    for (size_t i = 0; i < all->n; i++) {
        const earlier_file *f = &all->files[i];

        if (!f->holds)
            files->names[files->count++] = f->name;
        for (size_t j = 0; f->holds && j < f->n; j++, e->documents++)
            e->stays[f->some[j].number] = true;
    }
}

int earlier_list(earlier *e)
{
    return e->list.all != NULL ? CLI_GO : found_make(&e->list, e->index, NULL);
}

int earlier_sift(earlier *e, cli_operands *files, bool trust,
                 const uint64_t *read, uint64_t jobs)
{
    bly_index_stat_t stat;
    int status = earlier_list(e);
    earlier_files all = { malloc((files->count + 1) * sizeof *all.files),
                          files->count, trust, read, 0 };
    size_t at = 0, named = 0;

    bly_index_stat(&stat, e->index);
    e->stays = calloc((size_t)stat.documents + 1, sizeof *e->stays);
    if (status == CLI_GO && (e->stays == NULL || all.files == NULL))
        status = report_no_memory();
    for (size_t i = 0; status == CLI_GO && i < all.n; i++) {
        size_t n = found_next(&e->list, &at, files->names[i]);

        all.files[i] = (earlier_file){ files->names[i], e->list.all + at, n,
                                       false };
        at += n;
        named += n;
    }
    e->gone = e->list.n - named;
    if (status == CLI_GO) {
        work_threads(text_jobs(jobs), earlier_loop, &all);
        earlier_settle(e, &all, files);
    }
    free(all.files);
    return status;
}

void earlier_free(earlier *e)
{
    if (e->index != NULL)
        free(e->made.paths.names);
    bly_index_free(e->index);
    free(e->list.all);
    free(e->stays);
}
