/* make.c - an index is built: documents in any order, by any threads.
 *
 * THE WAY OF A DOCUMENT
 *
 *      hashes -> different ones -> a column of bits -> those of its group
 *                                                         |  many of them, or
 *                                                         v  the end
 *                        header | rows of groups | … | list of documents
 *
 * Different hashes are found by a table of twice their number, whose slots
 * strangers cannot compute (bloomery/keyed.h). Their column is made before
 * anything is locked. When the columns of all groups together take as much
 * memory as they may, each group is written and begun anew: a group is all of
 * its documents that came between two such times. In a group they are in the
 * order of their names, and so it is the same whoever came first.
 *
 * Groups that are taken from another index are copied as they lie there. Where
 * many of their documents do not come along, or they are small, their rows are
 * turned into columns again, and join the others.
 */
#include "search/library/reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "base/status.h"
#include "base/task.h"
#include "bloomery/keyed.h"
#include "search/library/bitcolumns.h"
#include "io/replace.h"

enum {
    MAKE_CLASSES = 4 * 48 + 2, /* as in layout_most                 */
    MAKE_READ_BEHIND = 9,      /* bytes, see bitcolumns.h              */
    MAKE_SMALL = 64,           /* documents: such groups are joined */
    MAKE_PIECE = 4 << 20       /* bytes in one write call           */
};

#define MAKE_MEMORY (UINT64_C(256) << 20)

/* A growing array. */
typedef struct {
    void    *items;
    uint64_t n, room;
} make_list;

/* A document that was added. */
typedef struct {
    uint64_t name, extra;               /* their offsets                     */
    uint64_t length, keys;
    bool     dropped;
} make_document;

/* A document of a group: its number and column, and its sort key, once the
 * group is written. */
typedef struct {
    uint64_t       document;
    uint64_t      *column;
    const char    *name;
    const uint8_t *extra;
    uint64_t       length;
    uint32_t       extra_bytes;
} make_member;

/* The documents with about the same number of keys that are not written yet. */
typedef struct {
    uint64_t  most, rows;
    make_list members;
} make_class;

struct bly_index_maker {
    bly_allocator   allocator;
    double          rate;
    uint32_t        probes, extra;
    const hash_info *hash;
    uint64_t        seed;
    bly_keyed       keyed;              /* for tables of hashes              */
    uint64_t        memory, held;       /* bytes of columns                  */
    bly_progress    progress;
    pthread_mutex_t lock;               /* guards the fields below           */
    bly_status      broken;             /* status of a failed write          */
    replacement     file;
    uint64_t        at;                 /* offset of the next rows           */
    make_list       documents, names, extras, about;
    make_list       groups, sums;       /* as in the file                    */
    make_list       order;              /* documents as they are written     */
    uint64_t        keys, dropped;
    size_t          n;
    make_class      classes[MAKE_CLASSES];
};

/* ---- Lists -------------------------------------------------------------- */

/* Makes room for more items. */
static bool make_room(bly_index_maker *maker, make_list *list, uint64_t more,
                      size_t each)
{
    uint64_t room = 0, bytes = 0;
    if (list->room - list->n >= more)
        return true;
    if (!sizes_mul(&room, list->room, 2) || !sizes_add(&room, room, more + 16)
        || !sizes_mul(&bytes, room, each))
        return false;
    void *larger = memory_raw(&maker->allocator, bytes);
    if (larger == NULL)
        return false;
    if (list->n > 0)
        memcpy(larger, list->items, (size_t)(list->n * each));
    memory_release(&maker->allocator, list->items, (size_t)(list->room * each));
    list->items = larger;
    list->room = room;
    return true;
}

/* Appends items, for which there is room. */
static void make_append(make_list *list, const void *items, uint64_t n,
                        size_t each)
{
    if (n > 0)
        memcpy((uint8_t *)list->items + list->n * each, items,
               (size_t)(n * each));
    list->n += n;
}

static void make_free(bly_index_maker *maker, make_list *list, size_t each)
{
    memory_release(&maker->allocator, list->items, (size_t)(list->room * each));
    *list = (make_list){ .n = 0 };
}

static make_document *make_document_at(const bly_index_maker *maker,
                                       uint64_t i)
{
    return (make_document *)maker->documents.items + i;
}

/* ---- Different hashes --------------------------------------------------- */

/* Returns the distinct hashes, in *room bytes of memory that the caller frees.
 * Returns NULL if out of memory. The hash 0 marks an empty slot and is stored
 * separately. */
static uint64_t *make_different(bly_index_maker *maker, const uint64_t *hashes,
                                size_t n, uint64_t *count, uint64_t *room)
{
    uint64_t places = 16, mask, different = 0;
    bool zero = false;
    while (places < 2 * (uint64_t)n)
        places *= 2;
    *room = (places + 1) * sizeof *hashes;
    uint64_t *table = memory_zeroed(&maker->allocator, *room);
    if (table == NULL)
        return NULL;
    mask = places - 1;
    TASK_SPAN(i, 0, n) {
        uint64_t at = bly_keyed_number(&maker->keyed, hashes[i]) & mask;
        zero |= hashes[i] == 0;
        while (table[at] != 0 && table[at] != hashes[i])
            at = (at + 1) & mask;
        table[at] = hashes[i];
    }
    TASK_SPAN(i, 0, places)
        if (table[i] != 0)
            table[different++] = table[i];
    if (zero)
        table[different++] = 0;
    *count = different;
    return table;
}

static void make_column(uint64_t *column, const uint64_t *hashes, uint64_t n,
                        uint64_t rows, uint32_t probes)
{
    TASK_SPAN(i, 0, n) {
        uint64_t state = layout_first(hashes[i]);
        for (uint32_t j = 0; j < probes; j++) {
            uint64_t row = layout_row(state, rows);
            column[row / 64] |= UINT64_C(1) << row % 64;
            state = layout_next(state);
        }
    }
}

/* ---- Writing ------------------------------------------------------------ */

static bly_status make_broken(bly_index_maker *maker)
{
    maker->broken = replace_failed("write", maker->file.path);
    return maker->broken;
}

static bly_status make_write_at(bly_index_maker *maker, uint64_t at,
                                const void *bytes, uint64_t n)
{
    const uint8_t *from = bytes;
    while (n > 0) {
        ssize_t wrote = pwrite(maker->file.file, from,
                               n < MAKE_PIECE ? (size_t)n : MAKE_PIECE,
                               (off_t)at);
        if (wrote < 0 && errno != EINTR)
            return make_broken(maker);
        uint64_t some = wrote > 0 ? (uint64_t)wrote : 0;
        from += some;
        at += some;
        n -= some;
        if (task_step(some))
            return task_status();
    }
    return BLY_OK;
}

/* Rows, and what the list says of them; there is room for it. */
static bly_status make_write_rows(bly_index_maker *maker, const uint8_t *rows,
                                  const reader_group *group)
{
    uint8_t entry[LAYOUT_GROUP] = { 0 };
    uint64_t bytes = 0, next = 0;
    layout_bits(&bytes, group->rows, group->documents);
    if (!make_room(maker, &maker->sums, layout_pages(bytes), LAYOUT_SUM))
        return status_plain(BLY_ENOMEM);
    bly_status status = make_write_at(maker, maker->at, rows, bytes);
    if (status != BLY_OK)
        return status;
    image_set_u64(entry, LAYOUT_GROUP_OFFSET, maker->at);
    image_set_u64(entry, LAYOUT_GROUP_ROWS, group->rows);
    image_set_u64(entry, LAYOUT_GROUP_DOCUMENTS, group->documents);
    image_set_u64(entry, LAYOUT_GROUP_MOST, group->most);
    image_set_u64(entry, LAYOUT_GROUP_PAGE, maker->sums.n);
    make_append(&maker->groups, entry, 1, sizeof entry);
    for (uint64_t page = 0; page < layout_pages(bytes); page++) {
        uint8_t sum[LAYOUT_SUM];
        image_set_u64(sum, 0, layout_sum(rows, bytes, page));
        make_append(&maker->sums, sum, 1, sizeof sum);
    }
    if (!sizes_round_up(&next, maker->at + bytes, LAYOUT_LINE))
        return status_plain(BLY_ETOOBIG);
    maker->at = next;
    return BLY_OK;
}

/* ---- A group is written ------------------------------------------------- */

/* Compares names, then extra bytes, then the order of arrival. */
static int make_compare(const void *one, const void *two)
{
    const make_member *a = one, *b = two;
    task_step(0);
    uint64_t shorter = a->length < b->length ? a->length : b->length;
    int order = shorter == 0 ? 0 : memcmp(a->name, b->name, (size_t)shorter);
    if (order == 0)
        order = (a->length > b->length) - (a->length < b->length);
    if (order == 0 && a->extra_bytes > 0)
        order = memcmp(a->extra, b->extra, a->extra_bytes);
    return order != 0 ? order
         : (a->document > b->document) - (a->document < b->document);
}

static void make_sort(const bly_index_maker *maker, make_class *class)
{
    make_member *members = class->members.items;
    for (uint64_t i = 0; i < class->members.n; i++) {
        make_member *m = &members[i];
        const make_document *d = make_document_at(maker, m->document);
        m->length = d->length;
        m->extra_bytes = maker->extra;
        m->name = d->length > 0 ? (const char *)maker->names.items + d->name
                                : "";
        m->extra = maker->extra > 0
                 ? (const uint8_t *)maker->extras.items + d->extra : NULL;
    }
    qsort(members, (size_t)class->members.n, sizeof *members, make_compare);
}

/* Returns their columns as rows, in *bytes bytes of memory. */
static uint8_t *make_rows(bly_index_maker *maker, const make_class *class,
                          const uint64_t **columns, uint64_t *bytes)
{
    const make_member *members = class->members.items;
    if (!layout_bits(bytes, class->rows, class->members.n))
        return NULL;
    *bytes += MAKE_READ_BEHIND;
    uint8_t *rows = memory_zeroed(&maker->allocator, *bytes);
    if (rows == NULL)
        return NULL;
    for (uint64_t i = 0; i < class->members.n; i++)
        columns[i] = members[i].column;
    bitcolumns_to_rows(rows, columns, class->members.n, class->rows);
    return rows;
}

static void make_clear(bly_index_maker *maker, make_class *class)
{
    uint64_t bytes = 8 * bitcolumns_words(class->rows);
    const make_member *members = class->members.items;
    for (uint64_t i = 0; i < class->members.n; i++)
        memory_release(&maker->allocator, members[i].column, (size_t)bytes);
    maker->held -= class->members.n * bytes;
    class->members.n = 0;
}

static bly_status make_write_class(bly_index_maker *maker, make_class *class)
{
    uint64_t n = class->members.n, bytes = 0;
    const make_member *members = class->members.items;
    const reader_group group = { .rows = class->rows, .documents = n,
                                 .most = class->most };
    const uint64_t **columns;
    if (n == 0)
        return BLY_OK;
    columns = memory_raw(&maker->allocator, n * sizeof *columns);
    if (columns == NULL || !make_room(maker, &maker->groups, 1, LAYOUT_GROUP)
        || !make_room(maker, &maker->order, n, sizeof(uint64_t))) {
        memory_release(&maker->allocator, columns,
                       (size_t)n * sizeof *columns);
        return status_plain(BLY_ENOMEM);
    }
    make_sort(maker, class);
    uint8_t *rows = make_rows(maker, class, columns, &bytes);
    bly_status status = rows == NULL ? status_plain(BLY_ENOMEM)
                      : task_status();
    if (status == BLY_OK)
        status = make_write_rows(maker, rows, &group);
    memory_release(&maker->allocator, rows, (size_t)bytes);
    memory_release(&maker->allocator, columns, (size_t)n * sizeof *columns);
    if (status != BLY_OK)
        return status;
    for (uint64_t i = 0; i < n; i++)
        make_append(&maker->order, &members[i].document, 1, sizeof(uint64_t));
    make_clear(maker, class);
    return BLY_OK;
}

static bly_status make_write_classes(bly_index_maker *maker)
{
    bly_status status = BLY_OK;
    for (size_t i = 0; i < maker->n && status == BLY_OK; i++)
        status = make_write_class(maker, &maker->classes[i]);
    return status;
}

/* ---- A document comes --------------------------------------------------- */

/* Returns the class of documents with that many keys. */
static make_class *make_class_of(bly_index_maker *maker, uint64_t most)
{
    size_t at = 0;
    while (at < maker->n && maker->classes[at].most < most)
        at++;
    if (at == maker->n || maker->classes[at].most != most) {
        memmove(&maker->classes[at + 1], &maker->classes[at],
                (maker->n - at) * sizeof *maker->classes);
        maker->classes[at] = (make_class){ .most = most };
        maker->n++;
    }
    return &maker->classes[at];
}

/* Sets the rows of a class. Rows from other machines, whose floating point
 * rounds differently, may differ by one, and then form a group of their own. */
static bly_status make_class_rows(bly_index_maker *maker, make_class *class,
                                  uint64_t rows)
{
    bly_status status = class->rows == rows ? BLY_OK
                      : make_write_class(maker, class);
    if (status == BLY_OK)
        class->rows = rows;
    return status;
}

/* Stores a document and returns its number; UINT64_MAX if out of memory. */
static uint64_t make_note(bly_index_maker *maker, const bly_document *document)
{
    make_document note = {
        .name = maker->names.n, .extra = maker->extras.n,
        .length = document->length, .keys = document->keys,
        .dropped = document->dropped,
    };
    if (!make_room(maker, &maker->documents, 1, sizeof note)
        || !make_room(maker, &maker->names, document->length, 1)
        || !make_room(maker, &maker->extras, maker->extra, 1))
        return UINT64_MAX;
    make_append(&maker->names, document->name, document->length, 1);
    make_append(&maker->extras, document->extra, maker->extra, 1);
    make_append(&maker->documents, &note, 1, sizeof note);
    maker->keys += note.keys;
    maker->dropped += note.dropped;
    return maker->documents.n - 1;
}

/* Adds a document and its column, which the maker owns if BLY_OK is returned.
 */
static bly_status make_join(bly_index_maker *maker, make_class *class,
                            const bly_document *document, uint64_t *column)
{
    make_member member = { .column = column };
    if (!make_room(maker, &class->members, 1, sizeof member))
        return status_plain(BLY_ENOMEM);
    member.document = make_note(maker, document);
    if (member.document == UINT64_MAX)
        return status_plain(BLY_ENOMEM);
    make_append(&class->members, &member, 1, sizeof member);
    maker->held += 8 * bitcolumns_words(class->rows);
    return BLY_OK;
}

/* Requires the lock. */
static bly_status make_add(bly_index_maker *maker, const bly_document *document,
                           uint64_t most, uint64_t rows, uint64_t *column)
{
    if (maker->broken != BLY_OK)
        return status_fail(maker->broken, "an earlier write of the index "
                           "failed: abort it");
    make_class *class = make_class_of(maker, most);
    bly_status status = maker->held < maker->memory
                      ? BLY_OK : make_write_classes(maker);
    if (status == BLY_OK)
        status = make_class_rows(maker, class, rows);
    return status == BLY_OK ? make_join(maker, class, document, column)
                            : status;
}

static bly_status make_add_different(bly_index_maker *maker,
                                     const bly_document *document,
                                     const uint64_t *hashes, uint64_t n)
{
    bly_document known = *document;
    uint64_t most = layout_most(n > 0 ? n : 1);
    uint64_t rows = layout_rows(maker->rate, maker->probes, most);
    if (rows == 0)
        return status_fail(BLY_ETOOBIG, "a document has more keys than an "
                           "index supports: split it into several");
    uint64_t bytes = 8 * bitcolumns_words(rows);
    uint64_t *column = memory_zeroed(&maker->allocator, bytes);
    if (column == NULL)
        return status_plain(BLY_ENOMEM);
    known.keys = n;
    known.dropped = false;
    make_column(column, hashes, n, rows, maker->probes);
    bly_status status = task_status();
    pthread_mutex_lock(&maker->lock);
    if (status == BLY_OK)
        status = make_add(maker, &known, most, rows, column);
    pthread_mutex_unlock(&maker->lock);
    if (status != BLY_OK)
        memory_release(&maker->allocator, column, (size_t)bytes);
    return status;
}

bly_status bly_index_add(bly_index_maker *maker, const bly_document *document,
                         const uint64_t *hashes, size_t n)
{
    uint64_t count = 0, room = 0;
    task t;
    task_begin(&t, &maker->progress, 8 * (uint64_t)n);
    uint64_t *different = make_different(maker, hashes, n, &count, &room);
    bly_status status = different == NULL ? status_plain(BLY_ENOMEM)
                      : task_status();
    if (status == BLY_OK)
        status = make_add_different(maker, document, different, count);
    memory_release(&maker->allocator, different, (size_t)room);
    return task_end(&t, status);
}

/* ---- Taken from another one --------------------------------------------- */

typedef struct {
    const bly_index *from;
    bly_index_keep  *keep;
    void            *context;
} make_source;

static bool make_kept(const make_source *source, uint64_t document)
{
    if (reader_dropped(source->from, document))
        return false;
    if (source->keep == NULL)
        return true;
    task *outer = task_aside();         /* the callback may call the library */
    bool kept = source->keep(source->context, document);
    task_back(outer);
    return kept;
}

/* Copies a group as it is; documents that are not kept are marked as dropped.
 */
static bly_status make_copy_group(bly_index_maker *maker,
                                  const make_source *source,
                                  const reader_group *group, uint64_t first)
{
    if (!make_room(maker, &maker->groups, 1, LAYOUT_GROUP)
        || !make_room(maker, &maker->order, group->documents,
                      sizeof(uint64_t)))
        return status_plain(BLY_ENOMEM);
    for (uint64_t i = 0; i < group->documents; i++) {
        bly_document document;
        (void)bly_index_document(&document, source->from, first + i);
        document.dropped = !make_kept(source, first + i);
        uint64_t number = make_note(maker, &document);
        if (number == UINT64_MAX) {
            maker->broken = BLY_ENOMEM;
            return status_plain(BLY_ENOMEM);
        }
        make_append(&maker->order, &number, 1, sizeof number);
    }
    return make_write_rows(maker, group->bits, group);
}

/* Takes up to 64 documents as columns, without those that are not kept. */
static bly_status make_take_columns(bly_index_maker *maker,
                                    const make_source *source,
                                    const reader_group *group, uint64_t first,
                                    uint64_t at, size_t n)
{
    uint64_t *columns[64];
    uint64_t bytes = 8 * bitcolumns_words(group->rows);
    size_t made = 0;
    while (made < n && (columns[made] = memory_zeroed(&maker->allocator, bytes))
                       != NULL)
        made++;
    bly_status status = made == n ? BLY_OK : status_plain(BLY_ENOMEM);
    if (status == BLY_OK)
        bitcolumns_of_rows(columns, group->bits, at, n, group->documents,
                           group->rows);
    for (size_t i = 0; i < made; i++) {
        bly_document document;
        (void)bly_index_document(&document, source->from, first + at + i);
        bool kept = status == BLY_OK && make_kept(source, first + at + i);
        if (kept)
            status = make_add(maker, &document, group->most, group->rows,
                              columns[i]);
        if (!kept || status != BLY_OK)
            memory_release(&maker->allocator, columns[i], (size_t)bytes);
    }
    return status;
}

static bly_status make_take_group(bly_index_maker *maker,
                                  const make_source *source,
                                  const reader_group *group, uint64_t first)
{
    uint64_t kept = 0;
    bly_status status = BLY_OK;
    for (uint64_t i = 0; i < group->documents; i++)
        kept += make_kept(source, first + i);
    if (kept > 0)
        status = reader_check_rows(source->from, group);
    if (kept == 0 || status != BLY_OK)
        return status;
    if (group->documents >= MAKE_SMALL && kept / 3 >= group->documents / 4)
        return make_copy_group(maker, source, group, first);
    for (uint64_t at = 0; at < group->documents && status == BLY_OK; at += 64) {
        uint64_t left = group->documents - at;
        status = make_take_columns(maker, source, group, first, at,
                                   left < 64 ? (size_t)left : 64);
    }
    return status;
}

bly_status bly_index_take(bly_index_maker *maker, const bly_index *from,
                          bly_index_keep *keep, void *context)
{
    const make_source source = { from, keep, context };
    bly_index_stat_t stat;
    uint64_t first = 0;
    bly_index_stat(&stat, from);
    if (stat.rate != maker->rate || stat.probes != maker->probes
        || stat.extra != maker->extra || stat.seed != maker->seed
        || strcmp(stat.hash, maker->hash->name) != 0)
        return status_fail(BLY_EMISMATCH, "the index has another rate, hash, "
                           "or number of probes or extra bytes: rebuild it");
    task t;
    task_begin(&t, &maker->progress, from->n);
    pthread_mutex_lock(&maker->lock);
    bly_status status = maker->broken;
    for (uint64_t i = 0; i < from->groups && status == BLY_OK; i++) {
        reader_group group = reader_group_of(from, i);
        status = make_take_group(maker, &source, &group, first);
        first += group.documents;
    }
    pthread_mutex_unlock(&maker->lock);
    return task_end(&t, status);
}

/* ---- Begin and end ------------------------------------------------------ */

static const char *make_hash(const bly_index_spec *spec)
{
    return spec->hash != NULL ? spec->hash : hash_list[0].name;
}

static bly_status make_check(const bly_index_spec *spec)
{
    for (size_t i = 0; i < sizeof spec->reserved / sizeof *spec->reserved; i++)
        if (spec->reserved[i] != 0)
            return status_fail(BLY_EPARAM, "reserved fields must be 0");
    if (!(spec->rate >= 0 && spec->rate < 1))
        return status_fail(BLY_EPARAM, "the share %g is not between 0 and 1: "
                           "0.01 means one document in a hundred", spec->rate);
    if (spec->probes > LAYOUT_PROBES_MOST || spec->extra > LAYOUT_EXTRA_MOST)
        return status_fail(BLY_EPARAM, "a key has 1 .. %d probes, and a "
                           "document 0 .. %d bytes besides its name",
                           LAYOUT_PROBES_MOST, LAYOUT_EXTRA_MOST);
    const hash_info *hash = hash_find(make_hash(spec));
    if (hash == NULL || hash->keyed)
        return status_fail(BLY_EHASH, "an index cannot record that its keys "
                           "are hashed by '%.40s': choose a function without a "
                           "secret, such as xxh3", make_hash(spec));
    return BLY_OK;
}

static void make_drop(bly_index_maker *maker)
{
    const bly_allocator allocator = maker->allocator;
    for (size_t i = 0; i < maker->n; i++) {
        make_clear(maker, &maker->classes[i]);
        make_free(maker, &maker->classes[i].members, sizeof(make_member));
    }
    make_free(maker, &maker->documents, sizeof(make_document));
    make_free(maker, &maker->names, 1);
    make_free(maker, &maker->extras, 1);
    make_free(maker, &maker->about, 1);
    make_free(maker, &maker->groups, LAYOUT_GROUP);
    make_free(maker, &maker->sums, LAYOUT_SUM);
    make_free(maker, &maker->order, sizeof(uint64_t));
    pthread_mutex_destroy(&maker->lock);
    memory_release(&allocator, maker, sizeof *maker);
}

static bly_status make_open(bly_index_maker *maker, const char *path,
                            const bly_index_spec *spec)
{
    bly_status status = replace_find(&maker->file, path);
    if (status == BLY_OK && maker->file.exists
        && !S_ISREG(maker->file.old.st_mode))
        status = status_fail(BLY_EIO, "%s: is not a regular file, and an index "
                             "can be saved only to one: name another", path);
    if (status == BLY_OK && !make_room(maker, &maker->about, spec->about_bytes,
                                       1))
        status = status_plain(BLY_ENOMEM);
    if (status != BLY_OK)
        return status;
    make_append(&maker->about, spec->about, spec->about_bytes, 1);
    return replace_begin(&maker->file);
}

bly_status bly_index_begin(bly_index_maker **out, const char *path,
                           const bly_index_spec *spec)
{
    bly_status status = make_check(spec);
    const bly_allocator allocator = memory_allocator(spec->allocator, 1);
    if (status != BLY_OK)
        return status;
    bly_index_maker *maker = memory_zeroed(&allocator, sizeof *maker);
    if (maker == NULL)
        return status_plain(BLY_ENOMEM);
    maker->allocator = allocator;
    maker->rate = spec->rate == 0 ? 0.01 : spec->rate;
    maker->probes = spec->probes > 0 ? spec->probes
                                     : layout_probes(maker->rate);
    maker->extra = spec->extra;
    maker->hash = hash_find(make_hash(spec));
    maker->seed = spec->seed;
    maker->memory = spec->memory > 0 ? spec->memory : MAKE_MEMORY;
    maker->at = LAYOUT_HEADER;
    if (spec->progress != NULL)
        maker->progress = *spec->progress;
    maker->file.file = -1;
    pthread_mutex_init(&maker->lock, NULL);
    status = bly_keyed_draw(&maker->keyed);
    if (status == BLY_OK)
        status = make_open(maker, path, spec);
    if (status == BLY_OK)
        *out = maker;
    else
        make_drop(maker);
    return status;
}

void bly_index_abort(bly_index_maker *maker)
{
    if (maker == NULL)
        return;
    replace_drop(&maker->file);
    make_drop(maker);
}

/* ---- The list ----------------------------------------------------------- */

/* Writes the documents in order, over zero bytes. */
static void make_list_documents(uint8_t *list, const layout_list *at,
                                const bly_index_maker *maker)
{
    const uint64_t *order = maker->order.items;
    uint64_t name = 0;
    for (uint64_t i = 0; i < maker->order.n; i++) {
        const make_document *d = make_document_at(maker, order[i]);
        uint8_t *entry = list + at->documents + i * LAYOUT_DOCUMENT;
        if (d->length > 0)
            memcpy(list + at->names + name,
                   (const char *)maker->names.items + d->name,
                   (size_t)d->length);
        if (maker->extra > 0)
            memcpy(list + at->extra + i * maker->extra,
                   (const uint8_t *)maker->extras.items + d->extra,
                   maker->extra);
        name += d->length;
        image_set_u64(entry, LAYOUT_DOCUMENT_END, name);
        image_set_u64(entry, LAYOUT_DOCUMENT_KEYS, d->keys);
        if (d->dropped)
            list[at->dropped + i / 8] |= (uint8_t)(1 << i % 8);
    }
}

static void make_header(uint8_t header[LAYOUT_HEADER],
                        const bly_index_maker *maker, uint64_t bytes,
                        uint64_t sum)
{
    memset(header, 0, LAYOUT_HEADER);
    memcpy(header, LAYOUT_MAGIC, sizeof LAYOUT_MAGIC - 1);
    image_set_u32(header, LAYOUT_AT_VERSION, LAYOUT_VERSION);
    image_set_u32(header, LAYOUT_AT_PROBES, maker->probes);
    image_set_u64(header, LAYOUT_AT_BYTES, bytes);
    image_set_u64(header, LAYOUT_AT_DOCUMENTS, maker->order.n);
    image_set_u64(header, LAYOUT_AT_GROUPS, maker->groups.n);
    image_set_u64(header, LAYOUT_AT_KEYS, maker->keys);
    image_set_f64(header, LAYOUT_AT_RATE, maker->rate);
    image_set_u64(header, LAYOUT_AT_EXTRA, maker->extra);
    image_set_u64(header, LAYOUT_AT_LIST, maker->at);
    image_set_u64(header, LAYOUT_AT_NAMES, maker->names.n);
    image_set_u64(header, LAYOUT_AT_ABOUT, maker->about.n);
    image_set_u64(header, LAYOUT_AT_DROPPED, maker->dropped);
    memcpy(header + LAYOUT_AT_HASH, maker->hash->name,
           strlen(maker->hash->name));
    image_set_u64(header, LAYOUT_AT_SEED, maker->seed);
    image_set_u64(header, LAYOUT_AT_LIST_SUM, sum);
    image_set_u64(header, LAYOUT_AT_SUM, hash_xxh3(header, LAYOUT_AT_SUM, 0));
}

static bly_status make_finish(bly_index_maker *maker)
{
    uint8_t header[LAYOUT_HEADER];
    uint64_t sums = maker->sums.n * LAYOUT_SUM, n = 0, end = 0;
    layout_list at, whole;
    bool fits = layout_list_of(&at, 0, maker->groups.n, maker->order.n,
                               maker->extra, maker->names.n, maker->about.n)
             && layout_list_of(&whole, maker->at, maker->groups.n,
                               maker->order.n, maker->extra, maker->names.n,
                               maker->about.n)
             && sizes_add(&n, at.end, sums) && sizes_add(&end, whole.end, sums);
    uint8_t *list = fits ? memory_zeroed(&maker->allocator, n + 1) : NULL;
    if (list == NULL)
        return status_plain(BLY_ENOMEM);
    if (maker->groups.n > 0)
        memcpy(list, maker->groups.items,
               (size_t)maker->groups.n * LAYOUT_GROUP);
    make_list_documents(list, &at, maker);
    if (maker->about.n > 0)
        memcpy(list + at.about, maker->about.items, (size_t)maker->about.n);
    if (sums > 0)
        memcpy(list + at.end, maker->sums.items, (size_t)sums);
    make_header(header, maker, end, hash_xxh3(list, (size_t)n, 0));
    bly_status status = make_write_at(maker, maker->at, list, n);
    if (status == BLY_OK)
        status = make_write_at(maker, 0, header, sizeof header);
    memory_release(&maker->allocator, list, (size_t)n + 1);
    return status == BLY_OK ? replace_end(&maker->file) : status;
}

bly_status bly_index_end(bly_index_maker *maker)
{
    task t;
    task_begin(&t, &maker->progress, maker->held);
    bly_status status = maker->broken != BLY_OK
        ? status_fail(maker->broken, "an earlier write of the index failed: "
                      "the old file was kept")
        : make_write_classes(maker);
    if (status == BLY_OK)
        status = make_finish(maker);
    replace_drop(&maker->file);
    make_drop(maker);
    return task_end(&t, status);
}
