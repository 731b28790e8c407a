/* queue.c - reading many pieces of a file at once. */
#include "io/paged/queue.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

#ifdef BLY_WITH_URING
#include <liburing.h>
#endif

enum {
    QUEUE_CALL = 1 << 30,               /* bytes in one call                 */
    QUEUE_DENSE = 4                     /* pieces that fill a quarter of their
                                           span are close together           */
};

struct queue {
    bly_allocator allocator;
    int    file;
    const queue_piece *pieces;
    size_t n;
    bool   there[QUEUE_PIECES];         /* whether each piece was read       */
#ifdef BLY_WITH_URING
    struct io_uring ring;
    bool   rings;                       /* whether io_uring is available     */
    bool   spent;                       /* whether it is no longer used      */
    size_t flying;                      /* pieces submitted to the ring      */
#endif
};

/* ---- A piece ----------------------------------------------------------- */

bool queue_read(int file, uint64_t offset, void *to, size_t bytes)
{
    uint8_t *at = to;
    while (bytes > 0) {
        ssize_t got = pread(file, at, bytes < QUEUE_CALL ? bytes : QUEUE_CALL,
                            (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = 0;
        if (got <= 0)
            return false;
        at += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return true;
}

bool queue_write(int file, uint64_t offset, const void *from, size_t bytes)
{
    const uint8_t *at = from;
    while (bytes > 0) {
        ssize_t put = pwrite(file, at, bytes < QUEUE_CALL ? bytes : QUEUE_CALL,
                             (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        at += put;
        offset += (uint64_t)put;
        bytes -= (size_t)put;
    }
    return true;
}

bool queue_flush(int file)
{
    int result;
    do
        result = fdatasync(file);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

bool queue_cut(int file, uint64_t bytes)
{
    int result;
    do
        result = ftruncate(file, (off_t)bytes);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

/* ---- Many, by hints ---------------------------------------------------- */

/* Hints may fail; reads then only take longer. */
static void queue_hint(int file, uint64_t offset, uint64_t bytes)
{
    (void)posix_fadvise(file, (off_t)offset, (off_t)bytes,
                        POSIX_FADV_WILLNEED);
}

static uint64_t queue_span(const queue_piece *pieces, size_t n)
{
    return pieces[n - 1].offset + pieces[n - 1].bytes - pieces[0].offset;
}

static bool queue_is_dense(const queue_piece *pieces, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += pieces[i].bytes;
    return sum * QUEUE_DENSE >= queue_span(pieces, n);
}

/* ---- Many, by io_uring ------------------------------------------------- */

#ifdef BLY_WITH_URING
static void queue_ring_make(queue *q)
{
    q->rings = io_uring_queue_init(QUEUE_PIECES, &q->ring, 0) == 0;
}

static void queue_ring_free(queue *q)
{
    if (q->rings)
        io_uring_queue_exit(&q->ring);
}

/* Submits the prepared pieces. */
static void queue_ring_send(queue *q)
{
    while (io_uring_sq_ready(&q->ring) > 0) {
        int sent = io_uring_submit(&q->ring);
        if (sent > 0)
            q->flying += (size_t)sent;
        else if (sent != -EINTR) {
            q->spent = true;
            return;
        }
    }
}

/* Submits pieces to the ring; queue_finish reads the rest. Returns false if it
   took none. */
static bool queue_ring_start(queue *q)
{
    if (!q->rings)
        return false;
    for (size_t i = 0; i < q->n; i++) {
        const queue_piece *piece = &q->pieces[i];
        struct io_uring_sqe *entry = io_uring_get_sqe(&q->ring);
        if (entry == NULL)
            break;
        io_uring_prep_read(entry, q->file, piece->to, (unsigned)piece->bytes,
                           piece->offset);
        io_uring_sqe_set_data(entry, &q->there[i]);
    }
    queue_ring_send(q);
    return q->flying > 0;
}

/* Returns the next completion. If the system refuses to wait, this polls: the
 * kernel is still writing to the pieces, so their memory must not be freed. */
static struct io_uring_cqe *queue_ring_wait(queue *q)
{
    static const struct timespec pause = { .tv_nsec = 100000 };
    struct io_uring_cqe *entry = NULL;
    for (;;) {
        int waited = io_uring_wait_cqe(&q->ring, &entry);
        if (waited == 0)
            return entry;
        if (waited == -EINTR)
            continue;
        q->spent = true;
        if (io_uring_peek_cqe(&q->ring, &entry) == 0)
            return entry;
        nanosleep(&pause, NULL);
    }
}

/* Marks complete pieces. Others are read again, which yields their errors. A
 * ring that has refused something is not used again. */
static void queue_ring_finish(queue *q)
{
    for (; q->flying > 0; q->flying--) {
        struct io_uring_cqe *entry = queue_ring_wait(q);
        bool *there = io_uring_cqe_get_data(entry);
        const queue_piece *piece = &q->pieces[there - q->there];
        *there = entry->res >= 0 && (size_t)entry->res == piece->bytes;
        io_uring_cqe_seen(&q->ring, entry);
    }
    if (q->rings && q->spent) {
        queue_ring_free(q);
        q->rings = false;
    }
}
#else
static void queue_ring_make(queue *q)   { (void)q; }
static void queue_ring_free(queue *q)   { (void)q; }
static bool queue_ring_start(queue *q)  { (void)q; return false; }
static void queue_ring_finish(queue *q) { (void)q; }
#endif

/* ---- Many -------------------------------------------------------------- */

queue *queue_make(const bly_allocator *allocator)
{
    queue *q = memory_zeroed(allocator, sizeof *q);
    if (q != NULL) {
        q->allocator = *allocator;
        queue_ring_make(q);
    }
    return q;
}

void queue_free(queue *q)
{
    if (q == NULL)
        return;
    bly_allocator allocator = q->allocator;
    queue_ring_free(q);
    memory_release(&allocator, q, sizeof *q);
}

void queue_start(queue *q, int file, const queue_piece *pieces, size_t n)
{
    assert(n <= QUEUE_PIECES);
    q->file = file;
    q->pieces = pieces;
    q->n = n;
    for (size_t i = 0; i < n; i++)
        q->there[i] = false;
    if (n == 0)
        return;
    if (queue_is_dense(pieces, n))
        queue_hint(file, pieces[0].offset, queue_span(pieces, n));
    else if (!queue_ring_start(q))
        for (size_t i = 0; i < n; i++)
            queue_hint(file, pieces[i].offset, pieces[i].bytes);
}

bool queue_finish(queue *q)
{
    queue_ring_finish(q);
    for (size_t i = 0; i < q->n; i++) {
        const queue_piece *piece = &q->pieces[i];
        if (!q->there[i]
            && !queue_read(q->file, piece->offset, piece->to, piece->bytes))
            return false;
    }
    return true;
}
