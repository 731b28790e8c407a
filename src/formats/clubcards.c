/* clubcards.c - builds clubcards, the filters of Mozilla's CRLite, from members
 * and others that are read twice instead of held in memory.
 *
 * Members are held as their digests, 40 bytes each. Others are counted for each
 * block first, which gives the block's rank. Then the columns of X are solved.
 * When the others are read again, only those that pass X are held, which are
 * one or two per member. Y separates them from the members.
 *
 * The file does not depend on the order of keys or on threads: blocks are
 * sorted by their names and keys by their digests, and free bits come from the
 * seed.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "bits/hash.h"
#include "formats/formats.h"
#include "kinds/foreign/clubcard/clubcard_solve.h"
#include "verbs/handle.h"
#include "verbs/keylist.h"
#include "verbs/registry.h"

enum {
    CLUBCARDS_CHUNK = 128,              /* keys of a batch in hand           */
    CLUBCARDS_FIRST = 1 << 10,          /* room at first                     */
    CLUBCARDS_TRIES = 16                /* sizes of a block that are tried   */
};

/* A block of the file. */
typedef struct {
    uint8_t  id[CLUBCARD_ID];
    uint64_t members, others;           /* keys; others as they are counted  */
    size_t   first;                     /* of its members                    */
    uint64_t rows, at, exact_rows, exact_at;
    unsigned rank;
    bool     inverted;
} clubcards_block;

/* Memory that grows by doubling. */
typedef struct {
    void  *memory;
    size_t n, room, each;               /* items, and the bytes of one       */
} clubcards_list;

typedef struct clubcards clubcards;
struct clubcards {
    const bly_clubcard_spec *spec;
    bly_allocator  allocator;
    uint64_t       form, version;       /* of keys, and of the file          */
    threads_lock   lock;                /* of the rest, while keys come      */
    bly_status     status;              /* the first error                   */
    clubcards_list blocks, members, passing;
    uint64_t       others, again;       /* keys of either reading            */
    uint32_t      *table;               /* number of a block + 1, by name    */
    size_t         table_room;          /* a power of 2                      */
    clubcard_band  band;
    size_t         band_room;           /* rows                              */
    clubcard_solution column[CLUBCARD_COLUMNS + 1];     /* the last is Y     */
    size_t         words;               /* room of each column of X          */
    size_t         exact_words;
    unsigned       ranks;
};

/* ---- Memory ------------------------------------------------------------ */

static bly_status clubcards_no_memory(void)
{
    return status_fail(BLY_ENOMEM, "out of memory: a clubcard takes up to 250 "
                       "bytes per member while it is built");
}

static bool clubcards_room(const clubcards *w, clubcards_list *list,
                           size_t more)
{
    size_t room = list->room > 0 ? list->room : CLUBCARDS_FIRST;
    while (room - list->n < more)
        room *= 2;
    if (room == list->room)
        return true;
    void *memory = memory_raw(&w->allocator, (uint64_t)room * list->each);
    if (memory == NULL)
        return false;
    if (list->n > 0)
        memcpy(memory, list->memory, list->n * list->each);
    memory_release(&w->allocator, list->memory, list->room * list->each);
    list->memory = memory;
    list->room = room;
    return true;
}

static clubcards_block *clubcards_blocks(const clubcards *w)
{
    return w->blocks.memory;
}

/* ---- Blocks by name ---------------------------------------------------- */

static size_t clubcards_place(const clubcards *w, const uint8_t *id)
{
    uint64_t h = 0;
    for (size_t i = 0; i < CLUBCARD_ID; i += 8)
        h = hash_mix(h ^ image_u64(id, i));
    size_t at = (size_t)h & (w->table_room - 1);
    while (w->table[at] > 0
           && memcmp(clubcards_blocks(w)[w->table[at] - 1].id, id,
                     CLUBCARD_ID) != 0)
        at = (at + 1) & (w->table_room - 1);
    return at;
}

/* Makes the table for all blocks, twice as large as they need. */
static bool clubcards_table(clubcards *w)
{
    size_t room = w->table_room;
    while (room < 2 * (w->blocks.n + 1))
        room *= 2;
    uint32_t *table = memory_zeroed(&w->allocator, room * sizeof *table);
    if (table == NULL)
        return false;
    memory_release(&w->allocator, w->table, w->table_room * sizeof *w->table);
    w->table = table;
    w->table_room = room;
    for (size_t i = 0; i < w->blocks.n; i++)
        w->table[clubcards_place(w, clubcards_blocks(w)[i].id)]
            = (uint32_t)i + 1;
    return true;
}

/* Finds the number of a block, or makes it. False: memory is short. */
static bool clubcards_block_of(clubcards *w, const uint8_t *id, size_t *number)
{
    if (2 * (w->blocks.n + 1) > w->table_room && !clubcards_table(w))
        return false;
    size_t at = clubcards_place(w, id);
    if (w->table[at] == 0) {
        if (!clubcards_room(w, &w->blocks, 1))
            return false;
        clubcards_blocks(w)[w->blocks.n] = (clubcards_block){ .members = 0 };
        memcpy(clubcards_blocks(w)[w->blocks.n].id, id, CLUBCARD_ID);
        w->table[at] = (uint32_t)++w->blocks.n;
    }
    *number = w->table[at] - 1;
    return true;
}

/* ---- Keys -------------------------------------------------------------- */

/* Some keys that were divided, and their digests. */
typedef struct {
    clubcard_key  key[CLUBCARDS_CHUNK];
    clubcard_item item[CLUBCARDS_CHUNK];
    size_t        n;
} clubcards_chunk;

static bly_status clubcards_unnamed(void)
{
    return status_fail(BLY_EPARAM, "a key does not name its block: it must "
                       "begin with 32 bytes, or with a group and a separator "
                       "(clubcard:keys=tab, keys=comma)");
}

/* Divides keys from number `from` on. False: a key names no block. */
static bool clubcards_split(clubcards_chunk *chunk, const clubcards *w,
                            const bly_keys *keys, size_t from)
{
    size_t left = keys->n - from;
    chunk->n = left < CLUBCARDS_CHUNK ? left : CLUBCARDS_CHUNK;
    for (size_t i = 0; i < chunk->n; i++) {
        bly_key key = keylist_at(keys, from + i);
        if (!clubcard_split(&chunk->key[i], w->form, key.data, key.length))
            return false;
    }
    return true;
}

static void clubcards_digest(clubcard_item *item, const clubcard_key *key)
{
    uint8_t digest[DIGEST_SHA256];
    digest_sha256(digest, key->id, CLUBCARD_ID, key->item, key->length);
    for (size_t i = 0; i < CLUBCARD_LIMBS; i++)
        item->a[i] = image_u64(digest, 8 * i);
}

/* A step that takes the keys of a chunk, in many threads at once. */
typedef bly_status clubcards_step(clubcards *w, clubcards_chunk *chunk);

static bly_status clubcards_each(clubcards *w, const bly_keys *keys,
                                 clubcards_step *step)
{
    clubcards_chunk chunk;
    bly_status status = keylist_check(keys);
    for (size_t i = 0; i < keys->n && status == BLY_OK; i += chunk.n)
        status = clubcards_split(&chunk, w, keys, i) ? step(w, &chunk)
                                                     : clubcards_unnamed();
    if (status != BLY_OK) {
        threads_lock_take(&w->lock);
        w->status = w->status == BLY_OK ? status : w->status;
        threads_lock_give(&w->lock);
    }
    return status;
}

/* Appends items to a list. */
static bool clubcards_append(clubcards *w, clubcards_list *list,
                             const clubcard_item *items, size_t n)
{
    if (!clubcards_room(w, list, n))
        return false;
    memcpy((clubcard_item *)list->memory + list->n, items, n * sizeof *items);
    list->n += n;
    return true;
}

static bly_status clubcards_member_step(clubcards *w, clubcards_chunk *chunk)
{
    bool fits = true;
    for (size_t i = 0; i < chunk->n; i++) {
        clubcards_digest(&chunk->item[i], &chunk->key[i]);
        chunk->item[i].a[0] &= ~UINT64_C(1);
    }
    threads_lock_take(&w->lock);
    for (size_t i = 0; i < chunk->n && fits; i++) {
        size_t number = 0;
        fits = clubcards_block_of(w, chunk->key[i].id, &number);
        chunk->item[i].key = number;
    }
    fits = fits && clubcards_append(w, &w->members, chunk->item, chunk->n);
    threads_lock_give(&w->lock);
    return fits ? BLY_OK : clubcards_no_memory();
}

static bly_status clubcards_count_step(clubcards *w, clubcards_chunk *chunk)
{
    bool fits = true;
    threads_lock_take(&w->lock);
    for (size_t i = 0; i < chunk->n && fits; i++) {
        size_t number;
        fits = clubcards_block_of(w, chunk->key[i].id, &number);
        if (fits)
            clubcards_blocks(w)[number].others++;
    }
    w->others += chunk->n;
    threads_lock_give(&w->lock);
    return fits ? BLY_OK : clubcards_no_memory();
}

/* Returns the sum of a key in a column that is being built. */
static unsigned clubcards_sum(const clubcard_solution *column, uint64_t at,
                              const uint64_t *a)
{
    const uint64_t *words = column->words + at / 64;
    uint64_t sum = 0;
    for (unsigned i = 0; i < CLUBCARD_LIMBS; i++)
        sum ^= a[i] & clubcard_shift(words[i], words[i + 1], at % 64);
    return platform_popcount(sum) & 1;
}

/* Does a key of the others pass X? */
static bool clubcards_passes(const clubcards *w, const clubcards_block *b,
                             const clubcard_item *item)
{
    clubcard_equation e;
    memcpy(e.a, item->a, sizeof e.a);
    e.a[0] |= 1;
    e.start = e.a[3];
    uint64_t at = b->at + clubcard_start(&e, b->rows);
    for (unsigned i = 0; i < b->rank; i++)
        if (clubcards_sum(&w->column[i], at, e.a))
            return false;
    return true;
}

static bly_status clubcards_changed(void)
{
    return status_fail(BLY_EPARAM, "the others changed while the clubcard was "
                       "built: give the same keys when they are read again");
}

static bly_status clubcards_pass_step(clubcards *w, clubcards_chunk *chunk)
{
    size_t n = 0;
    for (size_t i = 0; i < chunk->n; i++) {
        size_t number = w->table[clubcards_place(w, chunk->key[i].id)];
        if (number == 0)
            return clubcards_changed();
        const clubcards_block *b = &clubcards_blocks(w)[number - 1];
        if (b->members == 0)
            continue;
        clubcards_digest(&chunk->item[n], &chunk->key[i]);
        chunk->item[n].a[0] |= 1;
        chunk->item[n].key = number - 1;
        n += clubcards_passes(w, b, &chunk->item[n]);
    }
    threads_lock_take(&w->lock);
    bool fits = clubcards_append(w, &w->passing, chunk->item, n);
    w->again += chunk->n;
    threads_lock_give(&w->lock);
    return fits ? BLY_OK : clubcards_no_memory();
}

static bly_status clubcards_take_members(void *into, const bly_keys *keys)
{
    return clubcards_each(into, keys, clubcards_member_step);
}

static bly_status clubcards_take_counts(void *into, const bly_keys *keys)
{
    return clubcards_each(into, keys, clubcards_count_step);
}

static bly_status clubcards_take_passing(void *into, const bly_keys *keys)
{
    return clubcards_each(into, keys, clubcards_pass_step);
}

/* Reads all keys of a source. An error in another thread has left its message
 * there. */
static bly_status clubcards_source(clubcards *w, const bly_key_source *source,
                                   bly_take_keys *take)
{
    bly_status status = source->each(source->context, take, w);
    if (w->status == BLY_ENOMEM)
        return clubcards_no_memory();
    if (w->status == BLY_EPARAM)
        return take == clubcards_take_passing ? clubcards_changed()
                                              : clubcards_unnamed();
    return status != BLY_OK ? status : w->status;
}

/* ---- Order ------------------------------------------------------------- */

/* Drops items that are there twice. */
static void clubcards_distinct(clubcards_list *list)
{
    clubcard_item *items = list->memory;
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (n == 0 || clubcard_compare(&items[n - 1], &items[i]) != 0)
            items[n++] = items[i];
    list->n = n;
}

/* Sorts the numbers of blocks by their names. */
static void clubcards_sort_names(const clubcards *w, clubcard_item *order)
{
    const clubcards_block *blocks = clubcards_blocks(w);
    for (size_t i = 0; i < w->blocks.n; i++) {
        for (size_t j = 0; j < CLUBCARD_LIMBS; j++)
            order[i].a[j] = 0;
        order[i].key = clubcard_swap(image_u64(blocks[i].id, 0));
        for (size_t j = 1; j < CLUBCARD_LIMBS; j++)
            order[i].a[j] = clubcard_swap(image_u64(blocks[i].id, 8 * j));
        order[i].a[0] = i << 1;
    }
    clubcard_sort(order, w->blocks.n);
}

/* Puts the blocks in the order of their names, and the members in the order of
 * blocks. */
static bly_status clubcards_arrange(clubcards *w)
{
    size_t n = w->blocks.n, bytes = (n + 1) * sizeof(clubcard_item);
    clubcards_list sorted = { .each = sizeof(clubcards_block) };
    clubcard_item *order = memory_raw(&w->allocator, bytes);
    clubcard_item *members = w->members.memory;
    uint32_t *now = w->table;           /* the table is made again           */
    bool fits = order != NULL && clubcards_room(w, &sorted, n + 1);
    if (fits) {
        clubcards_sort_names(w, order);
        for (size_t i = 0; i < n; i++) {
            size_t was = (size_t)(order[i].a[0] >> 1);
            ((clubcards_block *)sorted.memory)[i] = clubcards_blocks(w)[was];
            now[was] = (uint32_t)i;
        }
        for (size_t i = 0; i < w->members.n; i++)
            members[i].key = now[members[i].key];
        memory_release(&w->allocator, w->blocks.memory,
                       w->blocks.room * w->blocks.each);
        sorted.n = n;
        w->blocks = sorted;
        fits = clubcards_table(w);
    }
    memory_release(&w->allocator, order, bytes);
    if (!fits)
        return clubcards_no_memory();
    clubcard_sort(members, w->members.n);
    clubcards_distinct(&w->members);
    for (size_t i = w->members.n; i-- > 0; ) {
        clubcards_block *b = &clubcards_blocks(w)[members[i].key];
        b->members++;
        b->first = i;
    }
    return BLY_OK;
}

/* ---- X ----------------------------------------------------------------- */

static uint64_t clubcards_rows(uint64_t n)
{
    return n / 50 + n;                  /* 2 % more                          */
}

/* Chooses the rank and the rows of a block. */
static void clubcards_plan(const clubcards *w, clubcards_block *b)
{
    uint64_t others = !w->spec->within ? b->others
                    : b->others > b->members ? b->others - b->members : 0;
    b->inverted = b->members > 0 && others == 0;
    b->rows = b->inverted ? 0 : clubcards_rows(b->members);
    if (b->members > 0)
        while (others / b->members >> b->rank >= 2)
            b->rank++;
    b->rank = b->members == 0 ? 0 : b->rank;
}

static void clubcards_keys_of(clubcard_item *items, size_t n, uint64_t rows)
{
    for (size_t i = 0; i < n; i++)
        items[i].key = rows > 1 ? items[i].a[3] % rows : 0;
    clubcard_sort(items, n);
}

/* Makes room for the rows of a block. */
static bool clubcards_band_room(clubcards *w, uint64_t m)
{
    size_t rows = (size_t)clubcard_most_rows(m);
    if (rows <= w->band_room)
        return true;
    memory_release(&w->allocator, w->band.rows,
                   w->band_room * sizeof *w->band.rows);
    memory_release(&w->allocator, w->band.sums, w->band_room);
    w->band_room = 0;
    w->band.rows = memory_raw(&w->allocator, rows * sizeof *w->band.rows);
    w->band.sums = memory_raw(&w->allocator, rows);
    if (w->band.rows == NULL || w->band.sums == NULL) {
        memory_release(&w->allocator, w->band.rows,
                       rows * sizeof *w->band.rows);
        memory_release(&w->allocator, w->band.sums, rows);
        w->band.rows = NULL;
        w->band.sums = NULL;
        return false;
    }
    w->band_room = rows;
    return true;
}

/* Begins a column that ends at bit `at`, with bits of noise behind it, which
 * the last windows reach. */
static bool clubcards_column_begin(clubcards *w, unsigned i, size_t words,
                                   uint64_t at)
{
    clubcard_solution *column = &w->column[i];
    column->words = memory_zeroed(&w->allocator, words * sizeof(uint64_t));
    if (column->words == NULL)
        return false;
    column->noise = hash_mix(w->spec->seed + i * HASH_STEP);
    column->at = column->end = at + 64;
    for (unsigned bit = 0; bit < 64; bit++)
        clubcard_solution_put(column, clubcard_solution_noise(column));
    return true;
}

/* Solves a block in its columns of X. */
static bool clubcards_approximate(clubcards *w, clubcards_block *b,
                                  uint64_t *at)
{
    clubcard_item *items = (clubcard_item *)w->members.memory + b->first;
    if (!clubcards_band_room(w, b->rows))
        return false;
    clubcards_keys_of(items, (size_t)b->members, b->rows);
    clubcard_band_begin(&w->band, b->rows);
    for (size_t i = 0; i < b->members; i++)
        clubcard_band_add(&w->band, items[i].key, items[i].a, 0);
    for (unsigned i = 0; i < b->rank; i++) {
        if (i >= w->ranks && !clubcards_column_begin(w, i, w->words, *at))
            return false;
        w->ranks = i >= w->ranks ? i + 1 : w->ranks;
        clubcard_solution_add(&w->column[i], &w->band);
    }
    b->at = *at -= w->band.n;
    return true;
}

/* Solves X from its end, where blocks of low rank are. */
static bly_status clubcards_solve(clubcards *w)
{
    uint64_t bits = 0, at;
    unsigned most = 0;
    clubcards_block *blocks = clubcards_blocks(w);
    for (size_t i = 0; i < w->blocks.n; i++) {
        clubcards_plan(w, &blocks[i]);
        bits += blocks[i].rank > 0 ? clubcard_most_rows(blocks[i].rows) : 0;
        most = blocks[i].rank > most ? blocks[i].rank : most;
    }
    w->words = (size_t)(bits / 64) + 2 + CLUBCARD_LIMBS + 2;
    at = bits;
    for (unsigned rank = 1; rank <= most; rank++)
        for (size_t i = w->blocks.n; i-- > 0; )
            if (blocks[i].rank == rank
                && !clubcards_approximate(w, &blocks[i], &at))
                return clubcards_no_memory();
    return BLY_OK;
}

/* ---- Y ----------------------------------------------------------------- */

static bly_status clubcards_both(void)
{
    return status_fail(BLY_EPARAM, "a key is both a member and one of the "
                       "others: remove it from one list");
}

static bly_status clubcards_lacks(void)
{
    return status_fail(BLY_EPARAM, "a member is not in the list of all keys: "
                       "add it there, or leave it out");
}

/* The members of a block, and its others that pass X. */
typedef struct {
    clubcard_item *members, *others;
    size_t         n, m;
    size_t         both;                /* others that are members           */
} clubcards_pair;

/* Adds the equations of both, in the order of their starts. False: they
 * contradict each other. */
static bool clubcards_exact_rows(clubcards *w, clubcards_pair *p)
{
    size_t j = 0;
    p->both = 0;
    for (size_t i = 0; i < p->n || j < p->m; ) {
        int order = i == p->n ? 1 : j == p->m ? -1
                  : clubcard_compare(&p->members[i], &p->others[j]);
        const clubcard_item *item = order <= 0 ? &p->members[i]
                                               : &p->others[j];
        if (!clubcard_band_add(&w->band, item->key, item->a, order > 0))
            return false;
        i += order <= 0;
        j += order >= 0;
        p->both += order == 0;
    }
    return true;
}

/* Eliminates a block. If equations contradict each other, tries more rows. */
static bly_status clubcards_eliminate(clubcards *w, clubcards_block *b,
                                      clubcards_pair *p)
{
    uint64_t keys = p->n + p->m - (w->spec->within && p->m >= p->n ? p->n : 0);
    for (uint64_t more = 0; more < CLUBCARDS_TRIES; more++) {
        b->exact_rows = clubcards_rows(keys) + more;
        if (!clubcards_band_room(w, b->exact_rows))
            return clubcards_no_memory();
        clubcards_keys_of(p->members, p->n, b->exact_rows);
        clubcards_keys_of(p->others, p->m, b->exact_rows);
        clubcard_band_begin(&w->band, b->exact_rows);
        if (clubcards_exact_rows(w, p))
            return BLY_OK;
    }
    return status_fail(BLY_EFULL, "the equations of %d sizes of a block "
                       "contradict each other: leave out a key of it",
                       (int)CLUBCARDS_TRIES);
}

/* Solves the block of these keys in Y, unless all are members. */
static bly_status clubcards_exact(clubcards *w, clubcards_block *b,
                                  clubcards_pair *p, uint64_t *at)
{
    if (b->members == 0)
        return BLY_OK;
    bly_status status = clubcards_eliminate(w, b, p);
    if (status == BLY_OK && w->spec->within && p->both < p->n)
        status = clubcards_lacks();
    if (status == BLY_OK && !w->spec->within && p->both > 0)
        status = clubcards_both();
    if (status == BLY_OK && b->inverted && p->m > p->both)
        status = clubcards_changed();
    if (b->inverted)
        b->exact_rows = 0;
    if (status != BLY_OK || b->inverted)
        return status;
    clubcard_solution_add(&w->column[CLUBCARD_COLUMNS], &w->band);
    b->exact_at = *at -= w->band.n;
    return BLY_OK;
}

static bly_status clubcards_separate(clubcards *w)
{
    clubcard_item *passing = w->passing.memory;
    clubcard_sort(passing, w->passing.n);
    clubcards_distinct(&w->passing);
    size_t end = w->passing.n;
    uint64_t at = clubcards_rows(w->members.n + end)
                + w->blocks.n * (CLUBCARD_BAND + CLUBCARDS_TRIES);
    w->exact_words = (size_t)(at / 64) + 2 + CLUBCARD_LIMBS + 2;
    if (!clubcards_column_begin(w, CLUBCARD_COLUMNS, w->exact_words, at))
        return clubcards_no_memory();
    bly_status status = BLY_OK;
    for (size_t i = w->blocks.n; i-- > 0 && status == BLY_OK; ) {
        clubcards_block *b = &clubcards_blocks(w)[i];
        size_t from = end;
        while (from > 0 && passing[from - 1].key == i)
            from--;
        clubcards_pair p = {
            .members = (clubcard_item *)w->members.memory + b->first,
            .others = passing + from, .n = (size_t)b->members, .m = end - from,
        };
        end = from;
        status = clubcards_exact(w, b, &p, &at);
    }
    return status;
}

/* ---- The file ---------------------------------------------------------- */

typedef struct {
    uint8_t *to;                        /* NULL: only count                  */
    size_t   n;
    bool     big, fits;                 /* fits: no number was too large     */
} clubcards_file;

static void clubcards_bytes(clubcards_file *f, const void *bytes, size_t n)
{
    if (f->to != NULL)
        memcpy(f->to + f->n, bytes, n);
    f->n += n;
}

/* Writes a number in the width of either version; 0: it has none there. */
static void clubcards_number(clubcards_file *f, uint64_t v, unsigned little,
                             unsigned big)
{
    uint8_t bytes[8];
    unsigned width = f->big ? big : little;
    for (unsigned i = 0; i < width; i++)
        bytes[f->big ? width - 1 - i : i] = (uint8_t)(v >> 8 * i);
    f->fits = f->fits && (width == 0 || width == 8 || v >> 8 * width == 0);
    clubcards_bytes(f, bytes, width);
}

static void clubcards_write_block(clubcards_file *f, const clubcards_block *b)
{
    clubcards_number(f, CLUBCARD_ID, 8, 0);
    clubcards_bytes(f, b->id, CLUBCARD_ID);
    clubcards_number(f, b->rows, 8, 4);
    clubcards_number(f, f->big ? b->rank : b->exact_rows, 8, 1);
    clubcards_number(f, f->big ? b->at : b->rank, 8, 4);
    clubcards_number(f, f->big ? b->exact_rows : b->at, 8, 4);
    clubcards_number(f, b->exact_at, 8, 4);
    clubcards_number(f, b->inverted, 1, 1);
    clubcards_number(f, 0, 8, 2);
}

/* Writes the words of a column from its first bit, without zeros at its
 * end. */
static void clubcards_write_column(clubcards_file *f,
                                   const clubcard_solution *c)
{
    const uint64_t *words = c->words + c->at / 64;
    size_t n = (size_t)((c->end - c->at + 63) / 64);
    while (n > 0 && clubcard_shift(words[n - 1], words[n], c->at % 64) == 0)
        n--;
    clubcards_number(f, n, 8, 4);
    for (size_t i = 0; i < n; i++)
        clubcards_number(f, clubcard_shift(words[i], words[i + 1],
                                           c->at % 64), 8, 8);
}

static void clubcards_write_logs(clubcards_file *f,
                                 const bly_clubcard_spec *spec)
{
    clubcards_number(f, spec->n_logs, 8, 2);
    for (size_t i = 0; i < spec->n_logs; i++) {
        clubcards_bytes(f, spec->logs[i].log, CLUBCARD_ID);
        clubcards_number(f, spec->logs[i].from, 8, 8);
        clubcards_number(f, spec->logs[i].until, 8, 8);
    }
}

/* Writes the file, or counts its bytes. */
static void clubcards_write(clubcards_file *f, const clubcards *w)
{
    uint8_t head[] = { f->big ? CLUBCARD_BIG : CLUBCARD_LITTLE, 0 };
    clubcards_bytes(f, head, sizeof head);
    clubcards_write_logs(f, w->spec);
    clubcards_number(f, w->blocks.n, 8, 4);
    for (size_t i = 0; i < w->blocks.n; i++)
        clubcards_write_block(f, &clubcards_blocks(w)[i]);
    clubcards_number(f, w->ranks, 8, 1);
    for (unsigned i = 0; i < w->ranks; i++)
        clubcards_write_column(f, &w->column[i]);
    clubcards_write_column(f, &w->column[CLUBCARD_COLUMNS]);
}

/* Blocks begin where their columns do. Those without bits begin there too. */
static void clubcards_settle(clubcards *w)
{
    uint64_t first = w->column[0].at;
    uint64_t exact = w->column[CLUBCARD_COLUMNS].at;
    for (size_t i = 0; i < w->blocks.n; i++) {
        clubcards_block *b = &clubcards_blocks(w)[i];
        b->at = b->rank > 0 ? b->at - first : 0;
        b->exact_at = b->exact_rows > 0 ? b->exact_at - exact : 0;
    }
}

static bly_status clubcards_save(bly_filter **out, clubcards *w)
{
    clubcards_file f = { .big = w->version == CLUBCARD_BIG,
                         .fits = true };
    bly_options options = { .format = w->spec->kind,
                            .allocator = w->spec->allocator };
    clubcards_settle(w);
    clubcards_write(&f, w);
    if (!f.fits)
        return status_fail(BLY_ETOOBIG, "a clubcard of version 4 has at most "
                           "65535 logs, and columns of 2^32 bits: use version "
                           "3");
    size_t bytes = f.n;
    f.to = memory_raw(&w->allocator, bytes);
    if (f.to == NULL)
        return clubcards_no_memory();
    f.n = 0;
    clubcards_write(&f, w);
    bly_status status = bly_unpack(out, f.to, bytes, &options);
    memory_release(&w->allocator, f.to, bytes);
    return status;
}

/* ---- All of it --------------------------------------------------------- */

static void clubcards_release(clubcards *w, clubcards_list *list)
{
    memory_release(&w->allocator, list->memory, list->room * list->each);
}

static void clubcards_end(clubcards *w)
{
    for (unsigned i = 0; i <= CLUBCARD_COLUMNS; i++)
        memory_release(&w->allocator, w->column[i].words,
                       (i < CLUBCARD_COLUMNS ? w->words : w->exact_words)
                       * sizeof(uint64_t));
    memory_release(&w->allocator, w->band.rows,
                   w->band_room * sizeof *w->band.rows);
    memory_release(&w->allocator, w->band.sums, w->band_room);
    memory_release(&w->allocator, w->table, w->table_room * sizeof *w->table);
    clubcards_release(w, &w->blocks);
    clubcards_release(w, &w->members);
    clubcards_release(w, &w->passing);
    threads_lock_end(&w->lock);
}

static bly_status clubcards_make(bly_filter **out, clubcards *w)
{
    bly_status status = BLY_OK;
    if (!clubcards_table(w) || !clubcards_room(w, &w->members, 1)
        || !clubcards_room(w, &w->passing, 1))
        status = clubcards_no_memory();
    if (status == BLY_OK)
        status = clubcards_source(w, &w->spec->members,
                                  clubcards_take_members);
    if (status == BLY_OK)
        status = clubcards_source(w, &w->spec->others, clubcards_take_counts);
    if (status == BLY_OK)
        status = clubcards_arrange(w);
    if (status == BLY_OK)
        status = clubcards_solve(w);
    if (status == BLY_OK)
        status = clubcards_source(w, &w->spec->others, clubcards_take_passing);
    if (status == BLY_OK && w->again != w->others)
        status = clubcards_changed();
    if (status == BLY_OK)
        status = clubcards_separate(w);
    return status == BLY_OK ? clubcards_save(out, w) : status;
}

bly_status bly_build_clubcard(bly_filter **out, const bly_clubcard_spec *spec)
{
    uint64_t option[KIND_OPTIONS];
    const bly_kind *kind;
    bly_status status = registry_parse(&kind, option, spec->kind);
    if (status == BLY_OK && strcmp(kind->name, "clubcard") != 0)
        status = status_fail(BLY_EPARAM, "kind %s is not a clubcard "
                             "(bly_build_clubcard)", kind->name);
    if (status == BLY_OK)
        status = digest_check("a clubcard");
    if (status != BLY_OK)
        return status;
    clubcards w = {
        .spec = spec, .form = option[CLUBCARD_OPTION_KEYS],
        .version = option[CLUBCARD_OPTION_VERSION],
        .table_room = CLUBCARDS_FIRST,
        .allocator = memory_allocator(spec->allocator, 0),
        .blocks.each = sizeof(clubcards_block),
        .members.each = sizeof(clubcard_item),
        .passing.each = sizeof(clubcard_item),
    };
    threads_lock_make(&w.lock);
    status = clubcards_make(out, &w);
    clubcards_end(&w);
    return status;
}
