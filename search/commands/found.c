/* found.c - documents of an index, in the order of their files. */
#include "search/commands/search.h"

#include <stdlib.h>
#include <string.h>

int found_order(const bly_document *a, const bly_document *b)
{
    int order = memcmp(a->name, b->name, a->length < b->length ? a->length
                                                               : b->length);

    return order != 0 ? order : (a->length > b->length)
                                - (a->length < b->length);
}

static int found_compare(const void *a, const void *b)
{
    const found_one *x = a, *y = b;
    int order = found_order(&x->document, &y->document);

    return order != 0 ? order : (x->part.offset > y->part.offset)
                                - (x->part.offset < y->part.offset);
}

/* Returns the first document from i on that the row has, or `end`. */
static uint64_t found_from(const uint64_t *row, uint64_t i, uint64_t end)
{
    while (i < end && row != NULL && !found_is(row, i))
        i = row[i / 64] == 0 ? i / 64 * 64 + 64 : i + 1;
    return i < end ? i : end;
}

int found_make(found_list *out, const bly_index *index, const uint64_t *row)
{
    bly_index_stat_t stat;
    size_t n = 0;

    bly_index_stat(&stat, index);
    for (uint64_t i = 0; (i = found_from(row, i, stat.documents))
                         < stat.documents; i++)
        n++;
    out->all = calloc(n + 1, sizeof *out->all);
    out->n = 0;
    if (out->all == NULL)
        return report_no_memory();
    for (uint64_t i = 0; (i = found_from(row, i, stat.documents))
                         < stat.documents; i++) {
        found_one *f = &out->all[out->n];

        if (bly_index_document(&f->document, index, i) < 0)
            return filter_error();
        settings_unpack(&f->part, f->document.extra);
        f->number = i;
        out->n += !f->document.dropped;
    }
    qsort(out->all, out->n, sizeof *out->all, found_compare);
    return CLI_GO;
}

size_t found_next(const found_list *list, size_t *at, const char *name)
{
    const bly_document wanted = { .name = name, .length = strlen(name) };
    size_t end;

    while (*at < list->n
           && found_order(&list->all[*at].document, &wanted) < 0)
        ++*at;
    for (end = *at; end < list->n
                    && found_order(&list->all[end].document, &wanted) == 0; )
        end++;
    return end - *at;
}

int found_note_uncovered(const bly_index *index, const char *path)
{
    bly_document document, first = { .length = 0 };
    bly_index_stat_t stat;
    settings_part part;
    uint64_t n = 0;

    bly_index_stat(&stat, index);
    for (uint64_t i = 0; i < stat.documents; i++) {
        if (bly_index_document(&document, index, i) < 0)
            return filter_error();
        settings_unpack(&part, document.extra);
        if (document.dropped || !part.cut)
            continue;
        if (n++ == 0)
            first = document;
    }
    if (n > 0)
        report_note("note: '%s' does not cover all of %s file%s, such as "
                    "'%.*s', which may have them too: see what 'index "
                    "--update' says", path, report_count(n).text,
                    n == 1 ? "" : "s", (int)first.length, first.name);
    return CLI_GO;
}
