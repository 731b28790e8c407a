/* candidates.c - the files, and parts of files, that may have a match.
 *
 * The index only excludes documents. A file that is new, or has changed since
 * the index was made, is searched as a whole. The state of a file that may have
 * a match is checked by scan.c, which opens it anyway.
 */
#include "search/regex/candidates.h"
#include "frame/options.h"
#include "frame/work.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ==== Documents ========================================================= */

/* Finds the documents that may match one of the patterns. */
static int candidates_query(candidates *c, const cli_operands *patterns)
{
    const match_how *how = &c->set->want.how;
    const settings *made = &c->index.made;
    uint64_t *row = NULL;
    bly_index_stat_t stat;
    terms t;
    bool fine = terms_open(&t, made->rule, made->k);
    question q = { .index = c->index.index, .terms = &t, .failed = !fine };

    bly_index_stat(&stat, q.index);
    q.documents = stat.documents;
    t.apart = true;
    for (size_t i = 0; i < patterns->count && !c->set->want.invert
                       && !q.failed; i++) {
        uint64_t *one = question_ask(&q, patterns->names[i], how->fixed,
                                     how->words || how->lines);

        row = i == 0 ? one : question_any(&q, row, one);
    }
    terms_close(&t);
    c->unasked = row == NULL;
    if (row == NULL && !q.failed)
        row = question_all(&q);
    c->row = row;
    if (q.told)
        return CLI_ERROR;
    return q.failed ? report_no_memory() : CLI_GO;
}

/* Keeps the documents that may match and are unchanged. */
static void candidates_keep(candidates *c)
{
    found_list *list = &c->index.list;
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) {
        uint64_t number = list->all[i].number;

        if (found_is(c->row, number) && c->index.stays[number])
            list->all[n++] = list->all[i];
    }
    c->found = (found_list){ list->all, n };
    *list = (found_list){ NULL, 0 };
}

/* ==== Files ============================================================= */

/* Copies the names of these documents' files, each once, with a NUL, which they
 * lack in the index. */
static int candidates_names(candidates *c, const found_list *list)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++)
        n += list->all[i].document.length + 1;
    if (!bytes_room(&c->names, n))
        return report_no_memory();
    for (size_t i = 0; i < list->n; i++) {
        const bly_document *d = &list->all[i].document;
        char *name = (char *)c->names.data + c->names.to;

        if (i > 0 && found_order(d, &list->all[i - 1].document) == 0)
            continue;
        (void)!bytes_put(&c->names, d->name, d->length);
        (void)!bytes_put(&c->names, "", 1);
        if (!options_append(&c->changed, name))
            return report_no_memory();
    }
    c->all = c->changed;
    c->changed = (cli_operands){ NULL, 0 };
    return CLI_GO;
}

/* Finds the files that the index does not know in their present state. */
static int candidates_sift(candidates *c)
{
    size_t n = c->all.count * sizeof *c->all.names;

    c->changed = (cli_operands){ malloc(n + 1), c->all.count };
    if (c->changed.names == NULL)
        return report_no_memory();
    if (n > 0)
        memcpy(c->changed.names, c->all.names, n);
    if (earlier_sift(&c->index, &c->changed, c->set->known, c->row,
                     c->set->jobs) != CLI_GO)
        return CLI_ERROR;
    candidates_keep(c);
    return CLI_GO;
}

/* Takes the files of an index that was made of a list: new ones are unknown. */
static int candidates_known(candidates *c)
{
    int status = earlier_list(&c->index);

    if (status == CLI_GO)
        status = candidates_names(c, &c->index.list);
    c->listed = c->all.names;
    return status == CLI_GO ? candidates_sift(c) : status;
}

/* Takes all files that exist now. */
static int candidates_walk(const cli_command *self, candidates *c)
{
    const settings *made = &c->index.made;
    cli_how how = { .separator = -1 };

    if (made->paths.count == 0 && !made->recursive)
        return candidates_known(c);
    c->all = made->paths;
    c->inputs.recursive = made->recursive;
    c->inputs.git = made->git;
    c->inputs.jobs = text_jobs(c->set->jobs);
    c->inputs.threads = work_threads;
    if (inputs_take(self, &c->inputs, &how, &c->all, 0) != CLI_GO)
        return CLI_ERROR;
    inputs_sort(&c->all);
    return candidates_sift(c);
}

/* With --trust, takes the files of all documents, or, if the others print
 * nothing, of those that may match. */
static int candidates_trusted(candidates *c)
{
    const select_want *want = &c->set->want;
    bool all = want->count || want->others;
    int status = found_make(&c->found, c->index.index, c->row);

    if (status == CLI_GO && all)
        status = earlier_list(&c->index);
    if (status == CLI_GO)
        status = candidates_names(c, all ? &c->index.list : &c->found);
    c->listed = c->all.names;
    return status;
}

/* Returns whether the name, without its folders, matches one of the globs. */
static bool candidates_named(const cli_operands *globs, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;

    for (size_t i = 0; i < globs->count; i++)
        if (fnmatch(globs->names[i], name, 0) == 0)
            return true;
    return false;
}

static bool candidates_wants(const search_settings *set, const char *path)
{
    return (set->include.count == 0 || candidates_named(&set->include, path))
        && !candidates_named(&set->exclude, path);
}

/* Makes a task of each file to read or to report. */
static int candidates_list(candidates *c)
{
    const select_want *want = &c->set->want;
    size_t at = 0, next = 0;

    c->tasks = calloc(c->all.count + 1, sizeof *c->tasks);
    if (c->tasks == NULL)
        return report_no_memory();
    for (size_t i = 0; i < c->all.count; i++) {
        const char *name = c->all.names[i];
        bool changed = next < c->changed.count
                    && c->changed.names[next] == name;
        size_t n = found_next(&c->found, &at, name);

        next += changed;
        if ((changed || n > 0 || want->count || want->others)
            && candidates_wants(c->set, name))
            c->tasks[c->n++] = (search_task){ name, c->found.all + at, n,
                                                  changed };
        at += n;
    }
    return CLI_GO;
}

int candidates_find(candidates *c, const cli_command *self,
                    const cli_operands *patterns)
{
    int status = candidates_query(c, patterns);

    if (status == CLI_GO)
        status = c->set->trust ? candidates_trusted(c)
                               : candidates_walk(self, c);
    return status == CLI_GO ? candidates_list(c) : status;
}

void candidates_free(candidates *c)
{
    inputs_end(&c->inputs, false);
    free(c->listed);
    free(c->changed.names);
    bytes_free(&c->names);
    free(c->row);
    free(c->found.all);
    free(c->tasks);
    earlier_free(&c->index);
}
