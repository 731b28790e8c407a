/* replace.h - replaces a file atomically. */
#ifndef BLY_IO_REPLACE_H
#define BLY_IO_REPLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "bloomery/replace.h"

/* A replacement in progress. */
typedef struct bly_replacement {
    char        path[PATH_MAX];         /* of the old file, links followed   */
    bool        exists;                 /* whether there is an old file      */
    struct stat old;                    /* its status                        */
    int         file;                   /* the new file, open for reading and
                                           writing; -1 if not open           */
    char        name[PATH_MAX];         /* its temporary name, or ""         */
    bool        placed;                 /* the old file was replaced         */
} replacement;

/* Finds the file at `path` and follows its links. Returns BLY_EIO if that is
 * impossible, for example because of a loop. */
bly_status replace_find(replacement *r, const char *path);

/* Opens the new file, with the old one's permissions, owner and group as far as
 * allowed. Returns BLY_EIO. */
bly_status replace_begin(replacement *r);

/* Flushes the new file, which stays open, and replaces the old one for good.
 * Returns BLY_EUNFLUSHED if that is done but the folder could not be flushed,
 * or BLY_EIO with the old file unchanged. Both may be retried. */
bly_status replace_end(replacement *r);

/* Closes the new file, which vanishes unless it is in its place. Preserves
 * errno. */
void replace_drop(replacement *r);

/* Returns BLY_EIO with the message that `what` failed, errno, and a remedy. */
bly_status replace_failed(const char *what, const char *path);

#endif /* BLY_IO_REPLACE_H */
