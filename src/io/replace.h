/* replace.h - a new file in an old one's place, all of it or nothing. */
#ifndef BLY_IO_REPLACE_H
#define BLY_IO_REPLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "bloomery/replace.h"

/* One replacement at work. */
typedef struct bly_replacement {
    char        path[PATH_MAX];         /* of the old file, behind all links */
    bool        exists;                 /* there is an old one               */
    struct stat old;                    /* what it is                        */
    int         file;                   /* the new one, open to be read and
                                           written; -1: not open             */
    char        name[PATH_MAX];         /* its name so far; "": it has none  */
    bool        placed;                 /* it is in the old one's place      */
} replacement;

/* Find out what is at `path`, and where its links lead. BLY_EIO: that cannot
 * be found out, as of links in a circle. */
bly_status replace_find(replacement *r, const char *path);

/* Open the new file, with the old one's permissions, owner and group as far as
 * that is allowed. BLY_EIO. */
bly_status replace_begin(replacement *r);

/* Flush the new file, which stays open, and put it in the old one's place, for
 * good: BLY_EUNFLUSHED where it is there, but the folder could not be flushed.
 * BLY_EIO: the old file is as it was. Either may be tried again. */
bly_status replace_end(replacement *r);

/* Close the new file; where it is not in its place it is gone then. errno is
 * kept. */
void replace_drop(replacement *r);

/* BLY_EIO: it is not possible to `what` there, with errno and its remedy. */
bly_status replace_failed(const char *what, const char *path);

#endif /* BLY_IO_REPLACE_H */
