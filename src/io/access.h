/* access.h - shared by all ways of opening a file. */
#ifndef BLY_IO_ACCESS_H
#define BLY_IO_ACCESS_H

#include <sys/stat.h>
#include <sys/types.h>

#include "verbs/handle.h"

/* Returns the identity by which bly_replaced() recognises the file; `ours` if
   we write to it. */
handle_file access_identity(const struct stat *info, bool ours);

/* Returns BLY_EIO with a message from errno: what failed, and what to do.
 * Returns BLY_ECANCELED if the caller has cancelled a call below. */
bly_status access_failed(const char *what, const char *path);

/* Reads n bytes, or fewer at the end of the file. Returns their number, or -1.
 */
ssize_t access_read(int file, uint8_t *bytes, size_t n);

/* Waits until the n bytes before the current offset are on the disk, if the
 * caller has a task: flushing the whole file at the end could not be cancelled.
 */
void access_drain(int file, ssize_t n);

/* Returns the size of a regular file; 0 for any other. */
uint64_t access_size(int file);

/* A file being read into memory, `have` bytes of it so far. A pipe's size is
 * only known at its end: it gets ACCESS_TRUST bytes at first, and then
 * ACCESS_GROW times what has been read. */
enum { ACCESS_TRUST = 16 << 20, ACCESS_GROW = 4 };

typedef struct {
    const bly_allocator *allocator;
    uint8_t *image;
    size_t   room, have;
} access_coming;

/* Moves it to memory of that size, which is at least what has been read. */
bool access_make_room(access_coming *c, size_t room);

/* Returns a multiple of every real page size. */
size_t access_page(void);

/* Locks this open file against other writers until it is closed and unmapped.
 * On a local file system this is independent of flock(), which a program may
 * use too. Returns BLY_EIO if another writer exists or the file system has no
 * locks. */
bly_status access_lock(int file, const char *path);

#endif /* BLY_IO_ACCESS_H */
