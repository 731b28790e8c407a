/* stamp.c - checks that a file read twice has not changed.
 *
 * All passes must see the same lines, so a file's inode, size and times are
 * compared. A log may grow meanwhile: every pass stops where it ended at first.
 * Input that was copied needs no stamp.
 */
#include "bloomery/exact/dedup.h"

#include <string.h>
#include <unistd.h>

bool stamp_take(struct stat *stamp, const char *path)
{
    memset(stamp, 0, sizeof *stamp);
    return (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, stamp)
                                   : stat(path, stamp)) == 0;
}

uint64_t stamp_end(const struct stat *stamp)
{
    return S_ISREG(stamp->st_mode) ? (uint64_t)stamp->st_size : UINT64_MAX;
}

bool stamp_holds(const struct stat *was, const char *path)
{
    struct stat is;

    if (!stamp_take(&is, path) || is.st_dev != was->st_dev
        || is.st_ino != was->st_ino)
        return false;
    return is.st_size > was->st_size
        || (is.st_size == was->st_size
            && is.st_mtim.tv_sec == was->st_mtim.tv_sec
            && is.st_mtim.tv_nsec == was->st_mtim.tv_nsec);
}
