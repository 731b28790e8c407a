/* access.h - what the ways of opening a file have in common. */
#ifndef BLY_IO_ACCESS_H
#define BLY_IO_ACCESS_H

#include <sys/stat.h>
#include <sys/types.h>

#include "verbs/handle.h"

/* The file as bly_replaced() will know it again; `ours`: we write to it. */
handle_file access_identity(const struct stat *info, bool ours);

/* BLY_EIO by errno: what could not be done with the file, and what to do. Or
 * BLY_ECANCELED, after a call below that the caller has cancelled. */
bly_status access_failed(const char *what, const char *path);

/* Reads until n bytes are there or the file ends; returns how many, or -1. */
ssize_t access_read(int file, uint8_t *bytes, size_t n);

/* Waits until the disk has the n bytes before the file's present place, if the
 * caller has a task: nobody could cancel it while the whole file is flushed at
 * the end. */
void access_drain(int file, ssize_t n);

/* The size of a regular file; 0 for any other. */
uint64_t access_size(int file);

/* What comes into memory from a file, `have` bytes of it so far. How many will
 * come may be known at the end only: a pipe gets ACCESS_TRUST at once, and
 * after that ACCESS_GROW times what has come. */
enum { ACCESS_TRUST = 16 << 20, ACCESS_GROW = 4 };

typedef struct {
    const bly_allocator *allocator;
    uint8_t *image;
    size_t   room, have;
} access_coming;

/* Another room for it, larger or as large as what has come. */
bool access_make_room(access_coming *c, size_t room);

/* The size of a page here: a multiple of every real one. */
size_t access_page(void);

/* Keep other writers away from this open file, until it is closed and no longer
 * mapped. On a local file system it has nothing to do with flock(), so that a
 * program may hold that lock too. BLY_EIO: there is another writer, or there
 * are no locks there. */
bly_status access_lock(int file, const char *path);

#endif /* BLY_IO_ACCESS_H */
