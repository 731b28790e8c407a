/* access.c - shared by all ways of opening a file: errors, reading, memory for
 * what is read, and the lock against other writers.
 */
#include "io/access.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/task.h"

static_assert(sizeof(off_t) == sizeof(uint64_t),
              "compile with -D_FILE_OFFSET_BITS=64: a file may be larger than "
              "what can be addressed");

bly_status access_failed(const char *what, const char *path)
{
    const char *mend = errno == ENOENT ? "check the name"
                     : errno == EACCES ? "ask the owner of the file, or of a "
                                         "folder in its path, for permission"
                     : "check the name and the permissions";
    int error = errno;
    if (error == ECANCELED && task_cancelled())
        return task_status();
    return status_system(BLY_EIO, error, "%s: cannot %s: %s: %s", path, what,
                         strerror(error), mend);
}

ssize_t access_read(int file, uint8_t *bytes, size_t n)
{
    size_t have = 0;
    while (have < n) {
        size_t want = n - have < TASK_BYTES ? n - have : TASK_BYTES;
        ssize_t got = read(file, bytes + have, want);
        if (got < 0 && errno != EINTR)
            return -1;
        if (task_step(got > 0 ? (uint64_t)got : 0)) {
            errno = ECANCELED;
            return -1;
        }
        if (got == 0)
            break;
        have += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)have;
}

void access_drain(int file, ssize_t n)
{
#ifdef SYNC_FILE_RANGE_WRITE
    const unsigned all = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE
                       | SYNC_FILE_RANGE_WAIT_AFTER;
    off_t end = task_share() != NULL ? lseek(file, 0, SEEK_CUR) : -1;
    if (end >= n)
        (void)sync_file_range(file, end - n, n, all);
#else
    (void)file, (void)n;
#endif
}

uint64_t access_size(int file)
{
    struct stat info;
    return fstat(file, &info) == 0 && S_ISREG(info.st_mode)
         ? (uint64_t)info.st_size : 0;
}

bool access_make_room(access_coming *c, size_t room)
{
    uint8_t *image = memory_raw(c->allocator, room);
    if (image == NULL)
        return false;
    if (c->have > 0)
        memcpy(image, c->image, c->have);
    memory_release(c->allocator, c->image, c->room);
    c->image = image;
    c->room = room;
    return true;
}

size_t access_page(void)
{
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? (size_t)page : 4096;
}

/* Uses a lock of the open file, which a mapping keeps, where the system has
 * them; else a lock of the process. */
bly_status access_lock(int file, const char *path)
{
    struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
#ifdef F_OFD_SETLK
    int locked = fcntl(file, F_OFD_SETLK, &all);
#else
    int locked = fcntl(file, F_SETLK, &all);
#endif
    if (locked == 0)
        return BLY_OK;
    if (errno == EAGAIN || errno == EACCES)
        return status_fail(BLY_EIO, "%s: another writer has opened or locked "
                           "it: wait until that writer has ended", path);
    int error = errno;
    return status_system(BLY_EIO, error, "%s: cannot lock: %s: copy it to a "
                         "file system with locks", path, strerror(error));
}

handle_file access_identity(const struct stat *info, bool ours)
{
    return (handle_file){
        .known = true, .ours = ours,
        .device = (uint64_t)info->st_dev, .number = (uint64_t)info->st_ino,
        .bytes = (uint64_t)info->st_size,
        .seconds = (int64_t)info->st_mtim.tv_sec,
        .nanoseconds = (int64_t)info->st_mtim.tv_nsec,
    };
}
