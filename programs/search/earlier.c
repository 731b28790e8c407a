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
#include <string.h>
#include <time.h>

typedef struct {
    const char *name;
    size_t      length;
    uint64_t    number;
} earlier_document;

static int earlier_compare(const void *a, const void *b)
{
    const earlier_document *x = a, *y = b;
    size_t n = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->name, y->name, n);

    return order != 0 ? order : (x->length > y->length)
                                - (x->length < y->length);
}

/* All documents by their names; NULL: no memory. */
static earlier_document *earlier_list(const earlier *e, uint64_t n)
{
    earlier_document *all = malloc((size_t)n * sizeof *all + 1);
    bly_document about;

    for (uint64_t i = 0; all != NULL && i < n; i++) {
        (void)!bly_index_document(&about, e->index, i);
        all[i] = (earlier_document){ about.name, about.length, i };
    }
    if (all != NULL)
        qsort(all, (size_t)n, sizeof *all, earlier_compare);
    return all;
}

/* Were these documents, all those of a file, made of what it holds now? */
static bool earlier_holds(const earlier *e, const earlier_document *some,
                          size_t n, const char *file)
{
    struct timespec now;
    struct stat about;
    uint64_t stamp;

    clock_gettime(CLOCK_REALTIME, &now);
    stamp = stat(file, &about) == 0 ? text_stamp(&about, &now) : 0;
    for (size_t i = 0; i < n; i++) {
        bly_document document;
        settings_part part;

        (void)!bly_index_document(&document, e->index, some[i].number);
        settings_unpack(&part, document.extra);
        if (document.dropped || part.stamp != stamp || stamp == 0)
            return false;
    }
    return n > 0;
}

static void earlier_merge(earlier *e, const earlier_document *all, size_t n,
                          cli_operands *files)
{
    size_t left = 0, at = 0;

    for (size_t i = 0; i < files->count; i++) {
        char *name = files->names[i];
        earlier_document wanted = { name, strlen(name), 0 };
        size_t end;

        while (at < n && earlier_compare(&all[at], &wanted) < 0)
            at++;
        for (end = at; end < n && earlier_compare(&all[end], &wanted) == 0; )
            end++;
        if (!earlier_holds(e, all + at, end - at, name)) {
            files->names[left++] = name;
            continue;
        }
        for (; at < end; at++, e->documents++)
            e->stays[all[at].number] = true;
    }
    files->count = left;
}

int earlier_sift(earlier *e, cli_operands *files)
{
    earlier_document *all;
    bly_index_stat_t stat;

    bly_index_stat(&stat, e->index);
    all = earlier_list(e, stat.documents);
    e->stays = calloc((size_t)stat.documents + 1, sizeof *e->stays);
    if (all == NULL || e->stays == NULL) {
        free(all);
        return work_no_memory();
    }
    earlier_merge(e, all, (size_t)stat.documents, files);
    free(all);
    return CLI_GO;
}
