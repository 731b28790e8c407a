/* disk.h - a simulated disk that loses power.
 *
 * Between disk_begin and disk_end, the library's file operations are both
 * carried out and recorded: what is on the disk for good, and what is only on
 * its way there. After each call that changes something, power is cut: a judge
 * sees, one after the other, the states in which the disk may be found.
 *
 * THE MODEL follows POSIX and the common file systems of Linux:
 *
 *  - A page (4096 bytes) written since the last flush of its file (fsync,
 *    fdatasync, msync) holds its content at that flush or after any write
 *    since, independently of other pages.
 *  - A file's length behaves likewise, on its own: missing pages within it are
 *    zeros, and data beyond it is lost.
 *  - Names created, moved or removed since the last flush of their folder
 *    change in that order, as in a journal: a cut keeps some first part of the
 *    changes. Flushing a file flushes none of its names.
 *  - rename moves a name at once or not at all, whether or not the file's data
 *    are there. A file without a name is gone.
 *  - A failed flush has flushed nothing, but its data count as flushed from
 *    then on: another flush does not retry them.
 *
 * A harsh disk writes sectors of 512 bytes, not pages, in any order, and names
 * in any order too. Neither disk tears a single sector, writes memory as it was
 * in the middle of a call, or damages flushed data.
 *
 * If there are few states, all are shown. Otherwise a selection: all parts new,
 * or none, or all but one, or only one, and some drawn at random.
 */
#ifndef BLY_TEST_DISK_H
#define BLY_TEST_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The contents found after a cut: the one file that matters, and any other of
 * the library's names. */
typedef struct {
    bool           there;
    const uint8_t *bytes;
    size_t         n;
    const char    *left;                /* NULL: none                        */
} disk_state;

typedef void disk_judge(const disk_state *state);

typedef struct {
    bool harsh;
    bool named;                         /* O_TMPFILE is missing              */
    int  open_folder, flush_folder;     /* an errno to fail with             */
    int  flush_file;                    /* number of the failing one */
} disk_how;

typedef struct {
    uint64_t cuts, states;
    int      flushes;                   /* of files                          */
} disk_counts;

/* Begins with the file at `path`, if it exists, safely on the disk. */
void disk_begin(const char *path, const disk_how *how, disk_judge *judge);

/* Cuts the power now, too: after a change in what was promised, or to see
 * stores to a mapped file. Does nothing without a disk. */
void disk_cut(void);

/* Fails the test if the files differ from the records: then a call has bypassed
 * these functions. */
disk_counts disk_end(void);

#endif /* BLY_TEST_DISK_H */
