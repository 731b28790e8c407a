/* disk.h - a disk that loses power.
 *
 * Between disk_begin and disk_end what the library does to its files is done,
 * and noted too: what is on the disk for good, and what is only on its way
 * there. After each call that changes something the power is cut: a judge is
 * shown, one after the other, the states in which the disk may then be found.
 *
 * THE MODEL is what POSIX allows and the common file systems of Linux do:
 *
 *  - A page of a file (4096 bytes) that was written since the file was last
 *    flushed (fsync, fdatasync, msync) is found as it was at that flush, or as
 *    any write since has left it, whatever became of other pages.
 *  - So is the length of a file, by itself: pages that are not there within it
 *    are zeros, and what is beyond it is lost.
 *  - A name that was made, moved or removed since its folder was last flushed
 *    is found so or not, in the order in which that was done: as in a journal.
 *    The flush of a file flushes none of its names.
 *  - rename moves a name at once or not at all, whether its file's data are
 *    there or not. A file without a name is gone.
 *  - A flush that failed has flushed nothing, and what it was to flush counts
 *    as flushed from then on: another flush does not try it again.
 *
 * A harsh disk writes sectors of 512 bytes in any order, not pages, and names
 * in any order, too. Both leave out a sector that is torn itself, or that holds
 * what stood in memory in the middle of a call, and damage of what was flushed.
 *
 * Where there are few states all are shown. Else those are in which all, or
 * nothing, or all but one, or nothing but one of the parts are new, and some
 * that are drawn.
 */
#ifndef BLY_TEST_DISK_H
#define BLY_TEST_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is found after a cut: under the one name that matters, and what other
 * name there is of those that the library makes. */
typedef struct {
    bool           there;
    const uint8_t *bytes;
    size_t         n;
    const char    *left;                /* NULL: none                        */
} disk_state;

typedef void disk_judge(const disk_state *state);

typedef struct {
    bool harsh;
    bool named;                         /* there is no O_TMPFILE             */
    int  open_folder, flush_folder;     /* an errno: fails so                */
    int  flush_file;                    /* the number of the one that fails,
                                           from 1 on                         */
} disk_how;

typedef struct {
    uint64_t cuts, states;
    int      flushes;                   /* of files                          */
} disk_counts;

/* A disk on which the file at `path`, if there is one, is there for good. */
void disk_begin(const char *path, const disk_how *how, disk_judge *judge);

/* The power is cut now, too: for a change in what is promised, and to see what
 * has been done to a mapped file. Nothing where there is no disk. */
void disk_cut(void);

/* Fails the test where the files are not as the notes say: then a call went to
 * the system past these. */
disk_counts disk_end(void);

#endif /* BLY_TEST_DISK_H */
