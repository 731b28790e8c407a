/* queue.h - reading many pieces of a file at once.
 *
 * A disk answers one read after another slowly and many together
 * fast. Where the build has liburing and the system lets it, the pieces go to
 * the kernel in one call (io_uring) and come as they come; elsewhere the
 * kernel is told which pieces will be wanted, begins with all of them, and
 * they are read one by one. Pieces that lie close together are always read
 * the second way: the kernel then fetches what is between them too, in one go.
 *
 *   [Axboe 2019]  Efficient IO with io_uring
 */
#ifndef BLY_IO_PAGED_QUEUE_H
#define BLY_IO_PAGED_QUEUE_H

#include "bloomery.h"

enum { QUEUE_PIECES = 256 };            /* at a time, at most                */

typedef struct {
    uint64_t offset;
    uint8_t *to;
    size_t   bytes;
} queue_piece;

typedef struct queue queue;

/* NULL: no memory. */
queue *queue_make(const bly_allocator *allocator);
void   queue_free(queue *q);

/* Begin to read n pieces, in rising order of their offsets; they and the
 * array must stay until queue_finish, which must follow. */
void queue_start(queue *q, int file, const queue_piece *pieces, size_t n);

/* Wait until all pieces are there. False: not all could be read; errno says
 * why, 0 that the file is too short. */
bool queue_finish(queue *q);

/* Read or write one piece, all of it. Errors as above. */
bool queue_read(int file, uint64_t offset, void *to, size_t bytes);
bool queue_write(int file, uint64_t offset, const void *from, size_t bytes);

/* Bring what was written to the disk; give the file another length. False:
 * errno says why, and that is no signal. */
bool queue_flush(int file);
bool queue_cut(int file, uint64_t bytes);

#endif /* BLY_IO_PAGED_QUEUE_H */
