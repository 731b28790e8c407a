/* pages.c - filters used in their file, page by page.
 *
 * For kinds made of pages (image/kind.h, kind_pages; `buffered`). The file is
 * neither mapped nor read as a whole. Only the head of the image is in memory,
 * and added keys wait there (io/paged/pending.h) until it is full. One pass
 * over the file, in rising order, then updates each page that gets keys: one
 * read and one write per page, with neighbours combined and the next pages
 * being read meanwhile. A lookup reads one page and adds the waiting keys to
 * its copy, so its answers equal the whole image's. A batch reads each page
 * once, many in parallel.
 *
 * DURABILITY
 *
 * Keys added before bly_sync or bly_seal returned BLY_OK survive any crash of
 * the process or machine, because:
 *
 * 1. Before the first page changes, the header on the disk says "open for
 *    writing". It says otherwise only when all pages are on the disk.
 * 2. Bits are only ever set. A torn page mixes its old and new contents, so
 *    it has every key that it had before; only its checksum is wrong.
 * 3. Whoever opens a file marked "open for writing" reads all its pages and
 *    recomputes their checksums. Adds that were not flushed may be there or
 *    not, and the number of keys is no longer known. A page that was empty
 *    may have bits but no header, and gets one. A page with any other
 *    header is not a torn one: BLY_ECORRUPT.
 * 4. Writes of the previous writer may be in the system's memory only, and
 *    never be retried, if its flush failed or it was killed. So header and
 *    pages are written again, the header first and flushed. Otherwise the
 *    disk could say "closed" while pages have changed, or have a checksum
 *    of pages that never reached it.
 *
 * In all other cases a wrong checksum means damage: lookups in such a page
 * answer "perhaps", and adds to it fail. A file with such a page is closed with
 * a wrong checksum of the whole, so that every reader is warned and no later
 * writer mistakes the page for a torn one and repairs it.
 *
 * When a write fails (a full disk), nothing is lost: all waiting keys stay, and
 * pages that got some of them get them again. When a flush fails, it is unknown
 * which pages are on the disk, and the system may report success on a second
 * attempt. So there is none: nothing more is written, every sync and seal
 * fails, and the file stays marked "open for writing" for the next writer, who
 * finds what was flushed before and writes it again.
 */
#include "io/paged/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/task.h"
#include "verbs/handle.h"
#include "io/access.h"
#include "io/replace.h"
#include "io/paged/pending.h"
#include "io/paged/queue.h"

enum {
    PAGES_MEMORY = 64 << 20,            /* default for waiting adds          */
    PAGES_MEMORY_LEAST = 4096,
    PAGES_WINDOW = 1 << 20,             /* bytes of pages in memory at a time */
    PAGES_ASK = 4096                    /* keys of a batch looked up together */
};

/* Some pages in memory in rising order; neighbours in the file are neighbours
 * here. */
typedef struct {
    queue   *reads;
    uint8_t *bytes;                     /* PAGES_WINDOW bytes                */
    uint64_t place[QUEUE_PIECES];       /* numbers of the pages              */
    size_t   n;
    queue_piece piece[QUEUE_PIECES];    /* runs of neighbours                */
    size_t   pieces;
    size_t   begin[QUEUE_PIECES + 1];   /* first key of each page            */
} pages_window;

/* A key of a batch. */
typedef struct {
    uint64_t place;
    size_t   key;
} pages_question;

/* Buffers of a querying thread, reused by later ones. */
typedef struct pages_asker pages_asker;
struct pages_asker {
    pages_asker   *next;
    pages_window   window;
    pages_question questions[PAGES_ASK];
    uint64_t       hashes[PAGES_ASK];
    bool           answers[PAGES_ASK];
};

typedef struct {
    const kind_pages *kind;
    uint8_t  *head;
    int       file;
    handle_file identity;               /* before anything was read          */
    char     *path;
    size_t    bytes;                    /* of a page                         */
    bool      writable;
    bool      begun;                    /* whether the file says "open for
                                           writing"                          */
    replacement *making;                /* until the new file is in its place */
    bool      failed;                   /* a write failed: pages may be torn */
    bool      unsure;                   /* a flush failed: see above         */
    pending   waiting;
    pages_window window[2];
    pages_counts counts;
    pthread_mutex_t poor;               /* guards `page`                     */
    uint8_t *page;                      /* for lookups when out of memory    */
    pthread_mutex_t lock;               /* guards the following fields       */
    pages_asker *askers;
    bool      trouble;                  /* whether a lookup could not read a
                                           page                              */
} pages;

static pages *pages_of(const bly_filter *filter)
{
    return filter->state;
}

/* ---- Errors ------------------------------------------------------------ */

static bly_status pages_failed(const char *what, const char *path)
{
    int error = errno;
    return status_system(BLY_EIO, error, "%s: cannot %s: %s: fix that, and try "
                         "again", path, what, error != 0 ? strerror(error)
                                    : "it has been cut short");
}

/* Reports a flush that failed, now or before: a retry would be useless. */
static bly_status pages_unflushed(const pages *p)
{
    int error = errno;
    return status_system(BLY_EIO, error, "%s: cannot be flushed: %s: the "
                         "contents of the file are unknown: close it, open it "
                         "again, and add again all keys since the last sync",
                         p->path, strerror(error));
}

static bly_status pages_no_more(const pages *p)
{
    errno = EIO;
    return pages_unflushed(p);
}

static bly_status pages_damaged(const pages *p, uint64_t place)
{
    return status_fail(BLY_ECORRUPT, "%s: page %llu is damaged: copy the file "
                       "again, or rebuild the filter", p->path,
                       (unsigned long long)place);
}

/* ---- Windows ----------------------------------------------------------- */

static bool pages_window_make(pages_window *w, const bly_allocator *allocator)
{
    w->reads = queue_make(allocator);
    w->bytes = memory_raw(allocator, PAGES_WINDOW);
    return w->reads != NULL && w->bytes != NULL;
}

static void pages_window_free(pages_window *w, const bly_allocator *allocator)
{
    queue_free(w->reads);
    memory_release(allocator, w->bytes, PAGES_WINDOW);
    w->reads = NULL;
    w->bytes = NULL;
}

static size_t pages_window_room(const pages *p)
{
    size_t room = PAGES_WINDOW / p->bytes;
    return room < QUEUE_PIECES ? room : QUEUE_PIECES;
}

static uint8_t *pages_slot(const pages *p, const pages_window *w, size_t slot)
{
    return w->bytes + slot * p->bytes;
}

static uint64_t pages_offset(const pages *p, uint64_t place)
{
    return (place + 1) * p->bytes;
}

static void pages_window_clear(pages_window *w)
{
    w->n = w->pieces = 0;
}

/* Appends a page, after those in the window; its keys begin at `begin`. */
static void pages_window_add(const pages *p, pages_window *w, uint64_t place,
                             size_t begin)
{
    queue_piece *last = &w->piece[w->pieces];
    if (w->n > 0 && w->place[w->n - 1] + 1 == place)
        last[-1].bytes += p->bytes;
    else {
        *last = (queue_piece){ pages_offset(p, place),
                               pages_slot(p, w, w->n), p->bytes };
        w->pieces++;
    }
    w->begin[w->n] = begin;
    w->place[w->n++] = place;
}

static void pages_window_start(const pages *p, pages_window *w)
{
    queue_start(w->reads, p->file, w->piece, w->pieces);
}

/* Writes all pages back. */
static bool pages_window_write(const pages *p, const pages_window *w)
{
    for (size_t i = 0; i < w->pieces; i++)
        if (!queue_write(p->file, w->piece[i].offset, w->piece[i].to,
                         w->piece[i].bytes))
            return false;
    return true;
}

/* ---- The header -------------------------------------------------------- */

static bool pages_flush_file(pages *p)
{
    p->unsure = !queue_flush(p->file);
    return !p->unsure;
}

static bool pages_write_header(pages *p)
{
    return queue_write(p->file, 0, p->head, IMAGE_HEADER)
        && pages_flush_file(p);
}

static bly_status pages_header_failed(const pages *p)
{
    return p->unsure ? pages_unflushed(p) : pages_failed("write", p->path);
}

static bly_status pages_begin(pages *p)
{
    if (p->begun)
        return BLY_OK;
    uint64_t sum = image_u64(p->head, IMAGE_PAYLOAD_SUM);
    image_unseal(p->head);
    p->begun = pages_write_header(p);
    if (p->begun)
        return BLY_OK;
    image_seal_by(p->head, sum);
    return pages_header_failed(p);
}

/* ---- Applying what waits ----------------------------------------------- */

/* Gathers the pages of n keys, sorted by page, from key `at` on, until the
 * window is full. Returns the first key left. */
static size_t pages_gather(const pages *p, pages_window *w,
                           const uint64_t *hashes, size_t n, size_t at)
{
    size_t room = pages_window_room(p);
    pages_window_clear(w);
    for (; at < n; at++) {
        uint64_t place;
        p->kind->place(p->head, &hashes[at], 1, &place);
        if (w->n > 0 && w->place[w->n - 1] == place)
            continue;
        if (w->n == room)
            break;
        pages_window_add(p, w, place, at);
    }
    w->begin[w->n] = at;
    return at;
}

/* Adds the keys to the pages of the window. */
static bly_status pages_merge(const pages *p, pages_window *w)
{
    for (size_t i = 0; i < w->n; i++) {
        uint8_t *page = pages_slot(p, w, i);
        kind_page is = p->kind->look(p->head, page);
        if (is == KIND_PAGE_BROKEN || (is == KIND_PAGE_TORN && !p->failed))
            return pages_damaged(p, w->place[i]);
        p->kind->add(p->head, page, p->waiting.hashes + w->begin[i],
                     w->begin[i + 1] - w->begin[i]);
        p->kind->seal(p->head, page);
    }
    return BLY_OK;
}

static bly_status pages_settle(pages *p, pages_window *w)
{
    if (!queue_finish(w->reads))
        return pages_failed("read", p->path);
    bly_status status = pages_merge(p, w);
    if (status != BLY_OK)
        return status;
    p->counts.read += w->n;
    p->counts.written += w->n;
    if (pages_window_write(p, w))
        return BLY_OK;
    p->failed = true;
    return pages_failed("write", p->path);
}

/* Makes one pass over the file. While one window is processed the other is
 * being read. */
static bly_status pages_pass(pages *p)
{
    const uint64_t *hashes = p->waiting.hashes;
    size_t n = p->waiting.n, turn = 0;
    bly_status status = BLY_OK;
    size_t at = pages_gather(p, &p->window[0], hashes, n, 0);
    pages_window_start(p, &p->window[0]);
    for (bool more = true; more; turn++) {
        pages_window *now = &p->window[turn % 2];
        pages_window *then = &p->window[(turn + 1) % 2];
        more = at < n && status == BLY_OK;
        if (more) {
            at = pages_gather(p, then, hashes, n, at);
            pages_window_start(p, then);
        }
        if (status == BLY_OK)
            status = pages_settle(p, now);
        else
            (void)queue_finish(now->reads);
        if (status == BLY_OK && more && task_step(0))
            status = task_status();
    }
    return status;
}

/* Writes all waiting keys to the file; on an error they keep waiting. */
static bly_status pages_apply(pages *p)
{
    if (p->unsure)
        return pages_no_more(p);
    if (p->waiting.n == 0)
        return BLY_OK;
    bly_status status = pages_begin(p);
    if (status != BLY_OK)
        return status;
    pending_sort(&p->waiting);
    status = pages_pass(p);
    p->counts.passes++;
    if (status == BLY_OK) {
        p->failed = false;
        pending_clear(&p->waiting);
    }
    return status;
}

/* ---- Asking ------------------------------------------------------------ */

static void pages_note_trouble(pages *p)
{
    pthread_mutex_lock(&p->lock);
    p->trouble = true;
    pthread_mutex_unlock(&p->lock);
}

/* Looks up n keys in a page; with `adding`, each after those before it were
 * added to the copy. A damaged page may contain any key. */
static void pages_answer(pages *p, uint64_t place, uint8_t *page,
                         const uint64_t *hashes, size_t n, bool adding,
                         bool *present)
{
    kind_page is = p->kind->look(p->head, page);
    if (is == KIND_PAGE_BROKEN || (is == KIND_PAGE_TORN && !p->failed)) {
        memset(present, true, n * sizeof *present);
        pages_note_trouble(p);
        return;
    }
    pending_overlay(&p->waiting, place, page);
    if (adding)
        p->kind->add_each(p->head, page, hashes, n, present);
    else
        p->kind->contains(p->head, page, hashes, n, present);
}

/* Looks up keys one by one, in memory for one page, without adding. */
static void pages_ask_single(pages *p, uint8_t *page, const uint64_t *hashes,
                             size_t n, bool *present)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t place;
        p->kind->place(p->head, &hashes[i], 1, &place);
        if (queue_read(p->file, pages_offset(p, place), page, p->bytes)) {
            pages_answer(p, place, page, &hashes[i], 1, false,
                         &present[i]);
            continue;
        }
        present[i] = true;
        pages_note_trouble(p);
    }
}

static int pages_by_place(const void *a, const void *b)
{
    const pages_question *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Sorts up to PAGES_ASK queries by page. */
static void pages_sort_questions(const pages *p, pages_asker *a,
                                 const uint64_t *hashes, size_t n)
{
    p->kind->place(p->head, hashes, n, a->hashes);
    for (size_t i = 0; i < n; i++)
        a->questions[i] = (pages_question){ a->hashes[i], i };
    qsort(a->questions, n, sizeof *a->questions, pages_by_place);
    for (size_t i = 0; i < n; i++)
        a->hashes[i] = hashes[a->questions[i].key];
}

/* Does the same without allocating, with a page kept for this. */
static void pages_ask_poor(pages *p, const uint64_t *hashes, size_t n,
                           bool *present)
{
    pthread_mutex_lock(&p->poor);
    pages_ask_single(p, p->page, hashes, n, present);
    pthread_mutex_unlock(&p->poor);
}

/* Looks pages up one by one if not all can be read; when adding, all answers
 * are then "perhaps". */
static void pages_ask_window(pages *p, pages_asker *a, bool adding)
{
    pages_window *w = &a->window;
    size_t first = w->begin[0], n = w->begin[w->n] - first;
    pages_window_start(p, w);
    bool there = queue_finish(w->reads);
    if (!there && adding) {
        memset(a->answers + first, true, n * sizeof *a->answers);
        pages_note_trouble(p);
    } else if (!there) {
        pages_ask_single(p, w->bytes, a->hashes + first, n,
                         a->answers + first);
    }
    for (size_t i = 0; there && i < w->n; i++)
        pages_answer(p, w->place[i], pages_slot(p, w, i),
                     a->hashes + w->begin[i], w->begin[i + 1] - w->begin[i],
                     adding, a->answers + w->begin[i]);
}

/* Looks up at most PAGES_ASK keys. */
static void pages_ask_some(pages *p, pages_asker *a, const uint64_t *hashes,
                           size_t n, bool adding, bool *present)
{
    pages_sort_questions(p, a, hashes, n);
    for (size_t at = 0; at < n; ) {
        at = pages_gather(p, &a->window, a->hashes, n, at);
        pages_ask_window(p, a, adding);
    }
    for (size_t i = 0; i < n; i++)
        present[a->questions[i].key] = a->answers[i];
}

static void pages_asker_free(pages_asker *a, const bly_allocator *allocator)
{
    pages_window_free(&a->window, allocator);
    memory_release(allocator, a, sizeof *a);
}

/* Returns an idle one or a new one, or NULL. */
static pages_asker *pages_asker_take(pages *p, const bly_allocator *allocator)
{
    pthread_mutex_lock(&p->lock);
    pages_asker *a = p->askers;
    if (a != NULL)
        p->askers = a->next;
    pthread_mutex_unlock(&p->lock);
    if (a == NULL) {
        a = memory_zeroed(allocator, sizeof *a);
        if (a != NULL && !pages_window_make(&a->window, allocator)) {
            pages_asker_free(a, allocator);
            a = NULL;
        }
    }
    return a;
}

static void pages_asker_give(pages *p, pages_asker *a)
{
    pthread_mutex_lock(&p->lock);
    a->next = p->askers;
    p->askers = a;
    pthread_mutex_unlock(&p->lock);
}

/* Links pending keys in one thread, as pending_overlay requires; others wait.
 */
static void pages_link(pages *p)
{
    pthread_mutex_lock(&p->lock);
    pending_link(&p->waiting);
    pthread_mutex_unlock(&p->lock);
}

static void pages_contains_many(const bly_filter *filter,
                                const uint64_t *hashes, size_t n,
                                bool *present)
{
    pages *p = pages_of(filter);
    pages_link(p);
    pages_asker *a = pages_asker_take(p, &filter->allocator);
    if (a == NULL) {
        pages_ask_poor(p, hashes, n, present);
        return;
    }
    if (n == 1) {
        pages_ask_single(p, a->window.bytes, hashes, n, present);
        pages_asker_give(p, a);
        return;
    }
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < PAGES_ASK ? n - at : PAGES_ASK;
        pages_ask_some(p, a, hashes + at, some, false, present + at);
    }
    pages_asker_give(p, a);
}

/* ---- Adding ------------------------------------------------------------ */

static bly_status pages_take(pages *p, const uint64_t *hashes, size_t n,
                             size_t *done)
{
    for (*done = 0;;) {
        *done += pending_take(&p->waiting, hashes + *done, n - *done);
        bly_status status = *done < n ? pages_apply(p) : BLY_OK;
        if (*done == n || status != BLY_OK)
            return status;
    }
}

/* Computes what adding the next keys would answer. Returns their number, 1 when
 * out of memory. */
static size_t pages_foretell(bly_filter *filter, const uint64_t *hashes,
                             size_t n, bool *seen)
{
    pages *p = pages_of(filter);
    pages_link(p);
    pages_asker *a = pages_asker_take(p, &filter->allocator);
    size_t some = a == NULL ? 1 : n < PAGES_ASK ? n : PAGES_ASK;
    if (a == NULL) {
        pages_ask_poor(p, hashes, 1, seen);
        return some;
    }
    pages_ask_some(p, a, hashes, some, true, seen);
    pages_asker_give(p, a);
    return some;
}

static bly_status pages_add_many(bly_filter *filter, const uint64_t *hashes,
                                 size_t n, bool *seen, size_t *done)
{
    pages *p = pages_of(filter);
    bly_status status = BLY_OK;
    *done = 0;
    if (p->unsure)
        return pages_no_more(p);
    if (seen == NULL)
        return pages_take(p, hashes, n, done);
    while (*done < n && status == BLY_OK) {
        size_t taken, some = pages_foretell(filter, hashes + *done, n - *done,
                                            seen + *done);
        status = pages_take(p, hashes + *done, some, &taken);
        *done += taken;
    }
    return status;
}

/* ---- From end to end --------------------------------------------------- */

/* Reads the file after the head, window by window, and calls `visit` for each;
 * stops at the first error. */
typedef bly_status pages_visit(pages *p, pages_window *w, void *context);

static bly_status pages_walk(pages *p, const bly_allocator *allocator,
                             pages_visit *visit, void *context)
{
    pages_window w = { .n = 0 };
    uint64_t count = p->kind->count(p->head);
    bly_status status = pages_window_make(&w, allocator)
                      ? BLY_OK : status_plain(BLY_ENOMEM);
    (void)posix_fadvise(p->file, 0, 0, POSIX_FADV_SEQUENTIAL);
    for (uint64_t place = 0; place < count && status == BLY_OK; ) {
        pages_window_clear(&w);
        while (place < count && w.n < pages_window_room(p))
            pages_window_add(p, &w, place++, 0);
        errno = 0;
        status = queue_read(p->file, w.piece[0].offset, w.bytes,
                            w.piece[0].bytes)
               ? visit(p, &w, context) : pages_failed("read", p->path);
        if (task_step(w.n * p->bytes) && status == BLY_OK)
            status = task_status();
    }
    (void)posix_fadvise(p->file, 0, 0, POSIX_FADV_NORMAL);
    pages_window_free(&w, allocator);
    return status;
}

/* The result of a walk over all pages. */
typedef struct {
    hash_stream *stream;
    uint64_t     damaged;               /* a damaged page plus 1, or 0       */
} pages_found;

static bly_status pages_sum_window(pages *p, pages_window *w, void *context)
{
    pages_found *found = context;
    hash_stream_feed(found->stream, w->bytes, w->n * p->bytes);
    for (size_t i = 0; i < w->n; i++) {
        kind_page is = p->kind->look(p->head, pages_slot(p, w, i));
        if (is == KIND_PAGE_TORN || is == KIND_PAGE_BROKEN)
            found->damaged = w->place[i] + 1;
    }
    return BLY_OK;
}

/* Computes the XXH3-64 of the payload in the file, and finds damaged pages. */
static bly_status pages_sum(uint64_t *sum, uint64_t *damaged, pages *p,
                            const bly_allocator *allocator)
{
    pages_found found = { hash_stream_start(), 0 };
    if (found.stream == NULL)
        return status_plain(BLY_ENOMEM);
    hash_stream_feed(found.stream, image_payload(p->head),
                     p->bytes - IMAGE_HEADER);
    bly_status status = pages_walk(p, allocator, pages_sum_window, &found);
    uint64_t made = hash_stream_end(found.stream);
    if (status == BLY_OK) {
        *sum = made == 0 ? 1 : made;
        *damaged = found.damaged;
    }
    return status;
}

static bly_status pages_stat_window(pages *p, pages_window *w, void *context)
{
    for (size_t i = 0; i < w->n; i++) {
        uint8_t *page = pages_slot(p, w, i);
        pending_overlay(&p->waiting, w->place[i], page);
        p->kind->stat(context, p->head, page);
    }
    return BLY_OK;
}

static bly_status pages_stat(bly_info_t *out, const bly_filter *filter)
{
    pages *p = pages_of(filter);
    bly_info_t sum = { .bytes = 0 };
    pages_link(p);
    bly_status status = pages_walk(p, &filter->allocator, pages_stat_window,
                                   &sum);
    if (status != BLY_OK)
        return status;
    p->kind->stat_end(&sum, p->head);
    out->fill = sum.fill;
    out->rate = sum.rate;
    out->distinct = sum.distinct;
    out->distinct_sd = sum.distinct_sd;
    out->probes = sum.probes;
    return BLY_OK;
}

/* ---- Sync, seal -------------------------------------------------------- */

/* Reports once that some answers since the last report were "perhaps" because a
 * page was unreadable or damaged. */
static bly_status pages_tell_trouble(pages *p)
{
    bool trouble = p->trouble;
    p->trouble = false;
    return !trouble ? BLY_OK
         : status_fail(BLY_EIO, "%s: a page could not be read or is damaged, "
                       "so \"perhaps\" was the answer for its keys: check the "
                       "file", p->path);
}

static bly_status pages_flush(pages *p)
{
    bly_status status = pages_apply(p);
    if (status == BLY_OK && p->begun && !pages_flush_file(p))
        status = pages_unflushed(p);
    return status;
}

/* Puts a newly created file in its place. */
static bly_status pages_place(pages *p, const bly_allocator *allocator)
{
    if (p->making == NULL)
        return BLY_OK;
    bly_status status = replace_end(p->making);
    if (status != BLY_OK)
        return status;
    memory_release(allocator, p->making, sizeof *p->making);
    p->making = NULL;
    return BLY_OK;
}

static bly_status pages_durable(bly_filter *filter)
{
    pages *p = pages_of(filter);
    bly_status status = pages_flush(p);
    if (status == BLY_OK)
        status = pages_place(p, &filter->allocator);
    return status == BLY_OK ? pages_tell_trouble(p) : status;
}

/* Writes the header last, when all pages are on the disk. Trouble of lookups is
 * reported after that: in a file left open, the next writer would repair the
 * damaged page as a torn one. The header is not sealed while adds wait that
 * could not be applied. */
static bly_status pages_seal_file(bly_filter *filter)
{
    pages *p = pages_of(filter);
    uint64_t sum = 0, damaged = 0;
    if (!filter->changed && p->waiting.n == 0)
        return pages_tell_trouble(p);
    bly_status status = pages_flush(p);
    if (status == BLY_OK || (status == BLY_ECORRUPT && !p->failed))
        status = pages_sum(&sum, &damaged, p, &filter->allocator);
    if (status != BLY_OK)
        return status;
    if (damaged != 0)
        sum = sum != 1 ? sum ^ 1 : 2;   /* a wrong one: see above             */
    image_set_u64(p->head, IMAGE_ITEMS, filter->items);
    image_seal_by(p->head, sum);
    if (!pages_write_header(p)) {
        image_unseal(p->head);
        return pages_header_failed(p);
    }
    p->begun = filter->changed = false;
    return damaged != 0 ? pages_damaged(p, damaged - 1)
                        : pages_tell_trouble(p);
}

static bly_status pages_seal(bly_filter *filter)
{
    bly_status status = pages_seal_file(filter);
    return status == BLY_OK ? pages_place(pages_of(filter), &filter->allocator)
                            : status;
}

/* ---- Make and free ----------------------------------------------------- */

static void pages_free(pages *p, const bly_allocator *allocator)
{
    while (p->askers != NULL) {
        pages_asker *a = p->askers;
        p->askers = a->next;
        pages_asker_free(a, allocator);
    }
    for (size_t i = 0; i < 2; i++)
        pages_window_free(&p->window[i], allocator);
    pending_release(&p->waiting);
    pthread_mutex_destroy(&p->poor);
    pthread_mutex_destroy(&p->lock);
    if (p->making != NULL) {
        replace_drop(p->making);
        memory_release(allocator, p->making, sizeof *p->making);
    } else if (p->file >= 0) {
        close(p->file);
    }
    memory_release(allocator, p->head, KIND_PAGE_MOST);
    memory_release(allocator, p->page, KIND_PAGE_MOST);
    if (p->path != NULL)
        memory_release(allocator, p->path, strlen(p->path) + 1);
    memory_release(allocator, p, sizeof *p);
}

static void pages_release(bly_filter *filter)
{
    pages *p = pages_of(filter);
    if (p->making == NULL || p->making->placed)
        (void)pages_seal(filter);
    pages_free(p, &filter->allocator);
}

static const handle_source pages_source = { .release = pages_release };

static const handle_away pages_away = {
    .add_many      = pages_add_many,
    .contains_many = pages_contains_many,
    .stat          = pages_stat,
    .sync          = pages_durable,
    .seal          = pages_seal,
};

/* Makes one with a copy of the path and no file yet. Returns NULL if out of
   memory. */
static pages *pages_new(const char *path, const bly_allocator *allocator)
{
    size_t length = strlen(path) + 1;
    pages *p = memory_zeroed(allocator, sizeof *p);
    if (p == NULL)
        return NULL;
    p->file = -1;
    pthread_mutex_init(&p->poor, NULL);
    pthread_mutex_init(&p->lock, NULL);
    p->path = memory_raw(allocator, length);
    p->page = memory_raw(allocator, KIND_PAGE_MOST);
    if (p->path != NULL)
        memcpy(p->path, path, length);
    if (p->path != NULL && p->page != NULL)
        return p;
    pages_free(p, allocator);
    return NULL;
}

/* Allocates buffers that only writers need. */
static bly_status pages_prepare(pages *p, const bly_allocator *allocator)
{
    return pages_window_make(&p->window[0], allocator)
        && pages_window_make(&p->window[1], allocator)
        && pending_make(&p->waiting, p->kind, p->head, PAGES_MEMORY, allocator)
         ? BLY_OK
         : status_fail(BLY_ENOMEM, "%s: out of memory: %d MiB are needed for "
                       "keys that are not yet written", p->path,
                       PAGES_MEMORY >> 20);
}

/* Stores the file's identity, so that bly_replaced sees later writes by others.
 */
static bly_status pages_identify(pages *p)
{
    struct stat info;
    if (fstat(p->file, &info) != 0)
        return pages_failed("examine", p->path);
    if (!S_ISREG(info.st_mode))
        return status_fail(BLY_EIO, "%s: is not a regular file, so it cannot "
                           "be used page by page: copy it to one", p->path);
    p->identity = access_identity(&info, p->writable);
    return BLY_OK;
}

static bly_status pages_handle(bly_filter **out, pages *p,
                               const bly_kind *kind,
                               const handle_options *options)
{
    size_t bytes = (size_t)image_u64(p->head, IMAGE_BYTES);
    bly_filter *filter;
    bly_status status = handle_make(&filter, kind, p->head, bytes,
                                    &pages_source, options);
    if (status != BLY_OK)
        return status_named(status, p->path);
    filter->file = p->identity;
    filter->state = p;
    filter->away = &pages_away;
    handle_choose(filter);
    filter->writable = p->writable;
    filter->changed = p->begun;
    *out = filter;
    return BLY_OK;
}

/* ---- Open -------------------------------------------------------------- */

/* Reads the head, zero-filled if the file is shorter, and the file's size. */
static bly_status pages_read_head(pages *p, uint64_t *size)
{
    bly_status status = pages_identify(p);
    if (status != BLY_OK)
        return status;
    *size = p->identity.bytes;
    size_t some = *size < KIND_PAGE_MOST ? (size_t)*size : KIND_PAGE_MOST;
    errno = 0;
    return queue_read(p->file, 0, p->head, some)
         ? BLY_OK : pages_failed("read", p->path);
}

/* Checks the head and the secret, before anything is repaired. */
static bly_status pages_check_head(const bly_kind **kind, pages *p,
                                   uint64_t size, const void *secret)
{
    bly_status status = image_check_header(p->head, size);
    if (status == BLY_OK)
        status = handle_check_head(kind, p->head, size);
    if (status == BLY_OK)
        status = handle_check_secret(p->head, secret);
    if (status != BLY_OK)
        return status_named(status, p->path);
    p->kind = (*kind)->pages;
    p->bytes = p->kind->bytes(p->head);
    return BLY_OK;
}

/* Writes pages `from` up to but excluding `to` of a complete window. */
static bool pages_write_slots(const pages *p, const pages_window *w,
                              size_t from, size_t to)
{
    return from == to
        || queue_write(p->file, pages_offset(p, w->place[from]),
                       pages_slot(p, w, from), (to - from) * p->bytes);
}

/* Skips empty pages, which take no space on the disk. */
static bly_status pages_recover_window(pages *p, pages_window *w,
                                       void *context)
{
    (void)context;
    bool written = true;
    size_t from = 0;
    for (size_t i = 0; i < w->n; i++) {
        uint8_t *page = pages_slot(p, w, i);
        kind_page is = p->kind->look(p->head, page);
        if (is == KIND_PAGE_BROKEN)
            return pages_damaged(p, w->place[i]);
        if (is == KIND_PAGE_TORN || is == KIND_PAGE_OPEN) {
            p->kind->seal(p->head, page);
            p->counts.torn++;
        }
        if (is == KIND_PAGE_EMPTY) {
            written &= pages_write_slots(p, w, from, i);
            from = i + 1;
        }
    }
    written &= pages_write_slots(p, w, from, w->n);
    return written ? BLY_OK : pages_failed("write", p->path);
}

/* Recovers a file that its last writer has not closed: see 3 and 4 above. */
static bly_status pages_recover(pages *p, const bly_allocator *allocator)
{
    if (!p->writable)
        return status_fail(BLY_EUNSEALED, "%s: the filter is open for writing, "
                           "or its writer ended without closing it: close it, "
                           "or open it with BLY_PAGED | BLY_WRITE, which "
                           "recovers all that was flushed", p->path);
    image_set_u64(p->head, IMAGE_ITEMS, IMAGE_ITEMS_UNKNOWN);
    image_unseal(p->head);
    p->begun = pages_write_header(p);
    return p->begun ? pages_walk(p, allocator, pages_recover_window, NULL)
                    : pages_header_failed(p);
}

static bly_status pages_verify(pages *p, const bly_allocator *allocator)
{
    uint64_t sum = 0, damaged = 0;
    bly_status status = pages_sum(&sum, &damaged, p, allocator);
    if (status == BLY_OK && sum != image_u64(p->head, IMAGE_PAYLOAD_SUM))
        status = status_fail(BLY_ECORRUPT, "%s: the payload is damaged (its "
                             "checksum does not match): rebuild the filter",
                             p->path);
    return status;
}

static bly_status pages_open_file(bly_filter **out, pages *p, int flags,
                                  const handle_options *options)
{
    const bly_allocator *allocator = &options->allocator;
    const bly_kind *kind;
    uint64_t size = 0;
    p->writable = (flags & BLY_WRITE) != 0;
    p->file = open(p->path, (p->writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (p->file < 0)
        return pages_failed("open", p->path);
    p->head = memory_zeroed(allocator, KIND_PAGE_MOST);
    if (p->head == NULL)
        return status_plain(BLY_ENOMEM);
    bly_status status = p->writable ? access_lock(p->file, p->path) : BLY_OK;
    if (status == BLY_OK)
        status = pages_read_head(p, &size);
    if (status == BLY_OK)
        status = pages_check_head(&kind, p, size, options->secret);
    if (status == BLY_OK && p->writable)
        status = pages_prepare(p, allocator);
    if (status == BLY_OK && image_u64(p->head, IMAGE_PAYLOAD_SUM) == 0)
        status = pages_recover(p, allocator);
    else if (status == BLY_OK && (flags & BLY_VERIFY))
        status = pages_verify(p, allocator);
    return status == BLY_OK ? pages_handle(out, p, kind, options) : status;
}

bly_status pages_open(bly_filter **out, const char *path, int flags,
                      const handle_options *options)
{
    pages *p = pages_new(path, &options->allocator);
    if (p == NULL)
        return status_plain(BLY_ENOMEM);
    bly_status status = pages_open_file(out, p, flags, options);
    if (status != BLY_OK)
        pages_free(p, &options->allocator);
    return status;
}

/* ---- Create ------------------------------------------------------------ */

/* Creates a sparse file: missing pages read as zeros, that is, empty. */
static bly_status pages_create_file(pages *p)
{
    uint64_t bytes = image_u64(p->head, IMAGE_BYTES);
    image_unseal(p->head);
    if (!queue_cut(p->file, bytes)
        || !queue_write(p->file, 0, p->head, p->bytes))
        return pages_failed("write", p->path);
    p->begun = true;
    return BLY_OK;
}

/* Opens a new file, which takes its place at p->path only when all is well. */
static bly_status pages_open_new(pages *p, const bly_allocator *allocator)
{
    replacement *r = p->making = memory_raw(allocator, sizeof *r);
    if (r == NULL)
        return status_plain(BLY_ENOMEM);
    bly_status status = replace_find(r, p->path);
    if (status == BLY_OK && r->exists && !S_ISREG(r->old.st_mode))
        status = status_fail(BLY_EIO, "%s: is not a regular file: name another",
                             p->path);
    if (status == BLY_OK)
        status = replace_begin(r);
    p->file = r->file;
    return status;
}

static bly_status pages_create(bly_filter **out, pages *p,
                               const bly_kind *kind,
                               const handle_options *options)
{
    const bly_allocator *allocator = &options->allocator;
    p->kind = kind->pages;
    p->bytes = p->kind->bytes(p->head);
    p->writable = true;
    bly_status status = pages_prepare(p, allocator);
    if (status == BLY_OK)
        status = pages_open_new(p, allocator);
    if (status == BLY_OK)
        status = access_lock(p->file, p->path);
    if (status == BLY_OK)
        status = pages_create_file(p);
    if (status == BLY_OK)
        status = pages_identify(p);
    return status == BLY_OK ? pages_handle(out, p, kind, options) : status;
}

bly_status bly_create(bly_filter **out, const char *path, const char *kind,
                      const bly_spec *spec)
{
    bly_options given = {
        .allocator = spec != NULL ? spec->allocator : NULL,
        .secret = spec != NULL ? spec->secret : NULL,
        .threads = spec != NULL ? spec->threads : 0,
    };
    handle_options options;
    const bly_kind *found;
    bly_status status = handle_options_read(&options, &given);
    pages *p = status == BLY_OK ? pages_new(path, &options.allocator) : NULL;
    if (p == NULL)
        return status == BLY_OK ? status_plain(BLY_ENOMEM) : status;
    status = make_head(&p->head, &found, kind, spec, &options.allocator);
    if (status == BLY_OK)
        status = pages_create(out, p, found, &options);
    if (status != BLY_OK)
        pages_free(p, &options.allocator);
    return status;
}

/* ---- The buffer -------------------------------------------------------- */

bly_status bly_buffer(bly_filter *filter, size_t bytes)
{
    if (filter->away != &pages_away)
        return status_fail(BLY_EUNSUPPORTED, "only a filter that is open page "
                           "by page can collect adds: open it with BLY_PAGED");
    if (!filter->writable)
        return handle_read_only();
    if (bytes < PAGES_MEMORY_LEAST)
        return status_fail(BLY_EPARAM, "%zu bytes are too few to collect adds: "
                           "give at least %d", bytes, PAGES_MEMORY_LEAST);
    pages *p = pages_of(filter);
    pending made;
    bly_status status = pages_apply(p);
    if (status != BLY_OK)
        return status;
    if (!pending_make(&made, p->kind, p->head, bytes, &filter->allocator))
        return status_plain(BLY_ENOMEM);
    pending_release(&p->waiting);
    p->waiting = made;
    return BLY_OK;
}

pages_counts pages_count(const bly_filter *filter)
{
    pages_counts counts = pages_of(filter)->counts;
    counts.room = pages_of(filter)->waiting.room;
    return counts;
}
