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

/* Returns whether all documents of a file match its current contents. */
static bool earlier_holds(const found_one *some, size_t n, const char *file,
                          bool trust)
{
    uint64_t stamp;

    if (n == 0)
        return false;
    stamp = trust ? some->part.stamp : earlier_stamp(file);
    for (size_t i = 0; i < n; i++)
        if (some[i].document.dropped || some[i].part.stamp != stamp
            || stamp == 0)
            return false;
    return true;
}

/* A file, and its documents in the index. */
typedef struct {
    char            *name;
    const found_one *some;
    size_t           n;
    bool             holds;
} earlier_file;

typedef struct {
    earlier_file *files;
    size_t        n;
    bool          trust;
    atomic_size_t next;
} earlier_files;

static void *earlier_loop(void *argument)
{
    enum { STEP = 256 };
    earlier_files *all = argument;

    for (size_t i; (i = atomic_fetch_add(&all->next, STEP)) < all->n; )
        for (size_t end = all->n - i < STEP ? all->n : i + STEP; i < end; i++) {
            earlier_file *f = &all->files[i];

            f->holds = earlier_holds(f->some, f->n, f->name, all->trust);
        }
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

int earlier_sift(earlier *e, cli_operands *files, bool trust, uint64_t jobs)
{
    found_list list;
    bly_index_stat_t stat;
    int status = found_make(&list, e->index, NULL);
    earlier_files all = { malloc((files->count + 1) * sizeof *all.files),
                          files->count, trust, 0 };
    size_t at = 0;

    bly_index_stat(&stat, e->index);
    e->stays = calloc((size_t)stat.documents + 1, sizeof *e->stays);
    if (status == CLI_GO && (e->stays == NULL || all.files == NULL))
        status = report_no_memory();
    for (size_t i = 0; status == CLI_GO && i < all.n; i++) {
        size_t n = found_next(&list, &at, files->names[i]);

        all.files[i] = (earlier_file){ files->names[i], list.all + at, n,
                                       false };
        at += n;
    }
    if (status == CLI_GO) {
        work_threads(text_jobs(jobs), earlier_loop, &all);
        earlier_settle(e, &all, files);
    }
    free(all.files);
    free(list.all);
    return status;
}
