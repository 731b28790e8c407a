/* queue.h - reads many pieces of a file in parallel.
 *
 * Disks serve many reads at once much faster than one after another. With
 * liburing and a system that allows it, the pieces are submitted in one call
 * (io_uring). Otherwise the kernel is told in advance which pieces are needed,
 * and they are read one by one. Pieces close together are always read this way,
 * since the kernel then fetches what lies between them too, in one go.
 *
 *   [Axboe 2019]  Efficient IO with io_uring
 */
#ifndef BLY_IO_PAGED_QUEUE_H
#define BLY_IO_PAGED_QUEUE_H

#include "bloomery.h"

enum { QUEUE_PIECES = 256 };            /* maximum number at a time          */

typedef struct {
    uint64_t offset;
    uint8_t *to;
    size_t   bytes;
} queue_piece;

typedef struct queue queue;

/* Returns NULL if out of memory. */
queue *queue_make(const bly_allocator *allocator);
void   queue_free(queue *q);

/* Starts reading n pieces in rising order of offset. They and the array must
 * stay until queue_finish, which must follow. */
void queue_start(queue *q, int file, const queue_piece *pieces, size_t n);

/* Waits for all pieces. Returns false if not all could be read, with errno,
 * which is 0 if the file is too short. */
bool queue_finish(queue *q);

/* Read or write a whole piece. Errors as above. */
bool queue_read(int file, uint64_t offset, void *to, size_t bytes);
bool queue_write(int file, uint64_t offset, const void *from, size_t bytes);

/* Flush the file to the disk; change its length. Return false with errno, never
 * EINTR. */
bool queue_flush(int file);
bool queue_cut(int file, uint64_t bytes);

#endif /* BLY_IO_PAGED_QUEUE_H */
