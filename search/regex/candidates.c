/* candidates.c - the files, and parts of files, that may have a match.
 *
 * The index only excludes documents. A file that is new, or has changed since
 * the index was made, is searched as a whole.
 */
#include "search/regex/candidates.h"
#include "frame/options.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ==== Documents ========================================================= */

/* Returns a row of all documents that are unchanged. */
static uint64_t *candidates_row(const candidates *c, uint64_t documents)
{
    uint64_t *row = calloc((size_t)(documents / 64) + 1, sizeof *row);
    bly_document about;

    for (uint64_t i = 0; row != NULL && i < documents; i++) {
        bool stays = c->index.stays != NULL ? c->index.stays[i]
                   : bly_index_document(&about, c->index.index, i) >= 0
                     && !about.dropped;

        row[i / 64] |= (uint64_t)stays << i % 64;
    }
    return row;
}

/* Keeps those of them that may match one of the patterns. */
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
    c->row = candidates_row(c, q.documents);
    if (c->row == NULL)
        q.failed = true;
    for (uint64_t i = 0; row != NULL && !q.failed && i < q.documents; i += 64)
        c->row[i / 64] &= row[i / 64];
    free(row);
    if (q.told)
        return CLI_ERROR;
    return q.failed ? report_no_memory()
                    : found_make(&c->found, q.index, c->row);
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
    return earlier_sift(&c->index, &c->changed, c->set->known,
                        c->set->jobs);
}

/* Takes the files of an index that was made of a list: new ones are unknown. */
static int candidates_known(candidates *c)
{
    int status = found_make(&c->known, c->index.index, NULL);

    if (status == CLI_GO)
        status = candidates_names(c, &c->known);
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
    int status = CLI_GO;

    if (want->count || want->others)
        status = found_make(&c->known, c->index.index, NULL);
    if (status == CLI_GO)
        status = candidates_names(c, want->count || want->others ? &c->known
                                                               : &c->found);
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
                    && strcmp(c->changed.names[next], name) == 0;
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
    bool trust = c->set->trust;
    int status = trust ? CLI_GO : candidates_walk(self, c);

    if (status == CLI_GO)
        status = candidates_query(c, patterns);
    if (status == CLI_GO && trust)
        status = candidates_trusted(c);
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
    free(c->known.all);
    free(c->tasks);
    if (c->index.index != NULL)
        free(c->index.made.paths.names);
    bly_index_free(c->index.index);
    free(c->index.stays);
}
