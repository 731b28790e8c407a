/* earlier.c - what an index has already of some files.
 *
 *      files, sorted         a  b  c     e        read b, e
 *      documents, by name    a  b     d  d        keep a
 *
 * A document stays if its file is still asked for and in the state that it had
 * when it was read. Floor 8; includes search.h only.
 */
#include "search/search.h"

#include <stdlib.h>
#include <time.h>

/* Were these documents, all those of a file, made of what it holds now? */
static bool earlier_holds(const found_one *some, size_t n, const char *file)
{
    struct timespec now;
    struct stat about;
    uint64_t stamp;

    if (n == 0)
        return false;
    clock_gettime(CLOCK_REALTIME, &now);
    stamp = stat(file, &about) == 0 ? text_stamp(&about, &now) : 0;
    for (size_t i = 0; i < n; i++)
        if (some[i].document.dropped || some[i].part.stamp != stamp
            || stamp == 0)
            return false;
    return true;
}

static void earlier_merge(earlier *e, const found_list *all,
                          cli_operands *files)
{
    size_t left = 0, at = 0;

    for (size_t i = 0; i < files->count; i++) {
        char *name = files->names[i];
        size_t n = found_next(all, &at, name);

        if (!earlier_holds(all->all + at, n, name)) {
            files->names[left++] = name;
            continue;
        }
        for (e->documents += n; n > 0; n--)
            e->stays[all->all[at++].number] = true;
    }
    files->count = left;
}

int earlier_sift(earlier *e, cli_operands *files)
{
    found_list all;
    bly_index_stat_t stat;
    int status = found_make(&all, e->index, NULL);

    bly_index_stat(&stat, e->index);
    e->stays = calloc((size_t)stat.documents + 1, sizeof *e->stays);
    if (status == CLI_GO && e->stays == NULL)
        status = work_no_memory();
    if (status == CLI_GO)
        earlier_merge(e, &all, files);
    free(all.all);
    return status;
}
