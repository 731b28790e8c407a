/* bytes.h - a queue of bytes that are waiting to be read or written, and arrays
 * that grow. */
#ifndef FRAME_BYTES_H
#define FRAME_BYTES_H

#include "frame/report.h"

#include <stdbool.h>
#include <stddef.h>

/* A queue in one block: the bytes from `from` to `to`. Initially all zero. */
typedef struct {
    unsigned char *data;
    size_t from, to, room;
} cli_bytes;

size_t bytes_waiting(const cli_bytes *b);

/* Makes room for `more` bytes at the end. Returns false if memory is short. */
bool bytes_room(cli_bytes *b, size_t more);

/* Append to the queue. Return false if memory is short. */
bool bytes_put(cli_bytes *b, const void *from, size_t n);
bool bytes_text(cli_bytes *b, const char *text);
bool bytes_format(cli_bytes *b, const char *format, ...) CLI_PRINTF(2, 3);

/* Makes room for `room` elements of `size` bytes in the array from malloc whose
 * pointer is at `array`. Returns false, with the array as it was, if memory is
 * short. */
bool bytes_grow(void *array, size_t room, size_t size);

/* Appends everything that is left to read from `fd`. Returns false after an
 * error, with errno set. */
bool bytes_load(cli_bytes *b, int fd);

/* Removes the first n bytes. An empty queue frees its block, so that an idle
 * client holds no memory. */
void bytes_done(cli_bytes *b, size_t n);
void bytes_free(cli_bytes *b);

#endif
