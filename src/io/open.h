/* open.h - what the ways of opening a file have in common.
 *
 * Floor 6.
 */
#ifndef BLY_IO_OPEN_H
#define BLY_IO_OPEN_H

#include <sys/stat.h>
#include <sys/types.h>

#include "verbs/handle.h"

/* The file as bly_replaced() will know it again; `ours`: we write to it. */
handle_file open_identity(const struct stat *info, bool ours);

/* BLY_EIO by errno: what could not be done with the file, and what to do. */
bly_status open_failed(const char *what, const char *path);

/* Read until n bytes are there or the file ends; how many, or -1. */
ssize_t open_read(int file, uint8_t *bytes, size_t n);

/* What comes into memory from a file, `have` bytes of it so far. How many will
 * come may be known at the end only: a pipe gets OPEN_TRUST at once, and after
 * that OPEN_GROW times what has come. */
enum { OPEN_TRUST = 16 << 20, OPEN_GROW = 4 };

typedef struct {
    const bly_allocator *allocator;
    uint8_t *image;
    size_t   room, have;
} open_coming;

/* Another room for it, larger or as large as what has come. */
bool open_make_room(open_coming *c, size_t room);

/* The size of a page here: a multiple of every real one. */
size_t open_page(void);

/* Keep other writers away from this open file, until it is closed and no longer
 * mapped. On a local file system it has nothing to do with flock(), so that a
 * program may hold that lock too. BLY_EIO: there is another writer, or there
 * are no locks there. */
bly_status open_lock(int file, const char *path);

#endif /* BLY_IO_OPEN_H */
