/* replace.c - replaces a file atomically.
 *
 * The new file is written in the old one's folder, without a name if the system
 * supports it (O_TMPFILE), so that nothing remains if the process dies. It is
 * then flushed, named, and renamed over the old file, and the folder is
 * flushed:
 *
 *     words.bly                               the old file
 *     .bloomery-5a0c9e7713f2d846-0.tmp        the new one, before renaming
 *
 * The temporary name is a hash of the old file's name, so it is valid wherever
 * that is, and the next writer of the same file finds what a killed writer has
 * left. A writer locks its file for as long as it lives; the next one removes
 * every file with such a name that it can lock. A file may be removed between
 * its creation and its locking: the writer then sees that the name is gone and
 * makes another.
 */
#include "io/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/task.h"
#include "bits/hash.h"

enum {
    REPLACE_LINKS = 40,                 /* links to follow, like Linux       */
    REPLACE_TRIES = 100,                /* names for the new file            */
    REPLACE_GAP = 4                     /* unused names in a row after which no
                                           more are searched                 */
};

bly_status replace_failed(const char *what, const char *path)
{
    const char *mend = errno == EACCES || errno == EPERM
                     ? "ask the owner of the folder for permission, or save to "
                       "another place"
                     : "fix that, or save to another place";
    int error = errno;
    if (error == ECANCELED && task_cancelled())
        return task_status();
    return status_system(BLY_EIO, error, "%s: cannot %s: %s: %s", path, what,
                         strerror(error), mend);
}

/* ---- Folders ------------------------------------------------------------- */

/* Returns the length of `path` up to and including its last slash. */
static size_t replace_folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

static int replace_open_folder(const char *path, int flags, mode_t mode)
{
    char folder[PATH_MAX];
    size_t n = replace_folder_length(path);
    memcpy(folder, n > 0 ? path : ".", n > 0 ? n : 1);
    folder[n > 0 ? n : 1] = '\0';
    return open(folder, flags | O_CLOEXEC, mode);
}

/* Flushes; a signal may interrupt the wait. */
static bool replace_flush(int file)
{
    int result;
    do
        result = fsync(file);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

static bool replace_flush_open_folder(int folder)
{
    bool flushed = replace_flush(folder);
    int kept = errno;
    close(folder);
    errno = kept;
    return flushed;
}

/* Flushes the whole file system, if the folder can be written but not read
 * (EACCES) or the file system cannot flush folders. */
static bool replace_flush_system(int file)
{
#ifdef __linux__
    return syncfs(file) == 0;
#else
    (void)file;
    return errno != EACCES;
#endif
}

static bool replace_flush_folder(const replacement *r)
{
    int folder = replace_open_folder(r->path, O_RDONLY | O_DIRECTORY, 0);
    if (folder >= 0 && replace_flush_open_folder(folder))
        return true;
    bool cannot = folder < 0 ? errno == EACCES
                : errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
    return cannot && replace_flush_system(r->file);
}

/* ---- The old file -------------------------------------------------------- */

/* Replaces the last part of r->path by the target of the link there. */
static bool replace_follow_one(replacement *r, const char *target)
{
    size_t folder = target[0] == '/' ? 0 : replace_folder_length(r->path);
    size_t n = strlen(target);
    if (folder + n >= sizeof r->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(r->path + folder, target, n + 1);
    return true;
}

/* Follows links; the last one may point to a file that does not exist yet. */
static bool replace_follow(replacement *r)
{
    char target[PATH_MAX];
    for (int i = 0; i < REPLACE_LINKS; i++) {
        ssize_t n = readlink(r->path, target, sizeof target - 1);
        if (n < 0)
            return errno == EINVAL || errno == ENOENT;
        target[n] = '\0';
        if (!replace_follow_one(r, target))
            return false;
    }
    errno = ELOOP;
    return false;
}

/* Returns whether the links lead to a file. A link in /dev/fd does not if the
 * file was removed after opening, or is a pipe. */
static bool replace_leads(replacement *r)
{
    return !r->exists || !S_ISREG(r->old.st_mode)
        || stat(r->path, &r->old) == 0;
}

bly_status replace_find(replacement *r, const char *path)
{
    r->file = -1;
    r->placed = false;
    r->name[0] = r->path[0] = '\0';
    r->exists = stat(path, &r->old) == 0;
    if ((!r->exists && errno != ENOENT) || !replace_follow_one(r, path)
        || !replace_follow(r) || !replace_leads(r))
        return replace_failed("write", path);
    return BLY_OK;
}

/* ---- The new file -------------------------------------------------------- */

/* Returns false if the name would be too long. */
static bool replace_name(replacement *r, int number)
{
    size_t folder = replace_folder_length(r->path);
    uint64_t hash = hash_xxh3(r->path + folder, strlen(r->path + folder), 0);
    int n = snprintf(r->name, sizeof r->name,
                     "%.*s.bloomery-%016" PRIx64 "-%d.tmp", (int)folder,
                     r->path, hash, number);
    errno = ENAMETOOLONG;
    return n > 0 && (size_t)n < sizeof r->name;
}

/* Checks that the open file is the one with this name; EEXIST if not. */
static bool replace_is(int file, const char *name)
{
    struct stat there, here;
    if (fstat(file, &here) != 0)
        return false;
    bool same = lstat(name, &there) == 0 && S_ISREG(here.st_mode)
             && here.st_ino == there.st_ino && here.st_dev == there.st_dev;
    errno = EEXIST;
    return same;
}

/* Removes the file with this name if its writer is dead. It is locked
 * meanwhile, so that no other process mistakes it for a new file. */
static void replace_tidy_one(const char *name)
{
    int file = open(name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return;
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && replace_is(file, name))
        (void)unlink(name);
    close(file);
}

/* Removes the files that killed writers have left. */
static void replace_tidy(replacement *r)
{
    struct stat there;
    int gap = 0;
    for (int i = 0; i < REPLACE_TRIES && gap < REPLACE_GAP
                    && replace_name(r, i); i++) {
        bool found = lstat(r->name, &there) == 0;
        if (found)
            replace_tidy_one(r->name);
        gap = found ? 0 : gap + 1;
    }
    r->name[0] = '\0';
}

/* Tries names with `make`, which fails with EEXIST if another writer has one.
 */
static bool replace_try_names(replacement *r,
                              bool (*make)(replacement *r, mode_t mode),
                              mode_t mode)
{
    for (int i = 0; i < REPLACE_TRIES && replace_name(r, i); i++) {
        if (make(r, mode))
            return true;
        if (errno != EEXIST)
            break;
    }
    r->name[0] = '\0';
    return false;
}

/* On a file system without locks (ENOLCK, EOPNOTSUPP) no locks are taken, and
 * so nobody removes the file. */
static bool replace_make(replacement *r, mode_t mode)
{
    r->file = open(r->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (r->file < 0)
        return false;
    bool taken = flock(r->file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && replace_is(r->file, r->name))
        return true;
    int kept = taken ? EEXIST : errno;
    if (kept != EEXIST)
        unlink(r->name);
    close(r->file);
    r->file = -1;
    errno = kept;
    return false;
}

#ifdef O_TMPFILE
typedef struct { char text[40]; } replace_descriptor;

/* Returns the kernel's name of an open file, for linkat(). */
static replace_descriptor replace_by_number(const replacement *r)
{
    replace_descriptor d;
    snprintf(d.text, sizeof d.text, "/proc/self/fd/%d", r->file);
    return d;
}

static bool replace_link_to(const replacement *r, const char *name)
{
    return linkat(AT_FDCWD, replace_by_number(r).text, AT_FDCWD, name,
                  AT_SYMLINK_FOLLOW) == 0;
}

/* Opens a file without a name, if it can be named later. */
static bool replace_open_nameless(replacement *r, mode_t mode)
{
    r->file = replace_open_folder(r->path, O_TMPFILE | O_RDWR, mode);
    if (r->file >= 0 && access(replace_by_number(r).text, F_OK) != 0) {
        close(r->file);
        r->file = -1;
    }
    if (r->file >= 0)
        (void)flock(r->file, LOCK_EX | LOCK_NB);
    return r->file >= 0;
}
#else
static bool replace_link_to(const replacement *r, const char *name)
{
    (void)r, (void)name;
    errno = ENOSYS;
    return false;
}

static bool replace_open_nameless(replacement *r, mode_t mode)
{
    (void)mode;
    r->file = -1;
    return false;
}
#endif

/* Returns whether the owner may be lost: in a container, users and groups from
 * outside do not exist (EINVAL). */
static bool replace_may_not(void)
{
    return errno == EPERM || errno == EINVAL;
}

/* Copies owner, group and permissions of the old file. If the group cannot be
 * kept the new one gets everybody's permissions. Set-user-ID bits are dropped.
 */
static bool replace_own(const replacement *r)
{
    mode_t mode = r->old.st_mode & 0777;
    struct stat now;
    if (fstat(r->file, &now) != 0)
        return false;
    if (now.st_uid != r->old.st_uid
        && fchown(r->file, r->old.st_uid, (gid_t)-1) != 0
        && !replace_may_not())
        return false;
    if (now.st_gid != r->old.st_gid
        && fchown(r->file, (uid_t)-1, r->old.st_gid) != 0)
        mode &= ~(mode_t)070 | (mode & 07) << 3;
    return fchmod(r->file, mode) == 0;
}

bly_status replace_begin(replacement *r)
{
    mode_t mode = r->exists ? 0600 : 0666;
    replace_tidy(r);
    if (!replace_open_nameless(r, mode)
        && !replace_try_names(r, replace_make, mode))
        return replace_failed("create a file beside it", r->path);
    if (r->exists && !replace_own(r)) {
        bly_status status = replace_failed("keep the permissions of", r->path);
        replace_drop(r);
        return status;
    }
    return BLY_OK;
}

void replace_drop(replacement *r)
{
    int kept = errno;
    if (r->name[0] != '\0')
        unlink(r->name);                /* while nobody else can lock it */
    if (r->file >= 0)
        close(r->file);
    r->file = -1;
    errno = kept;
}

/* ---- In its place -------------------------------------------------------- */

static bool replace_link(replacement *r, mode_t mode)
{
    (void)mode;
    return replace_link_to(r, r->name);
}

/* Blocks signals between the two names of a file. */
static void replace_hold_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

/* Names a file directly if there is no old one. Otherwise it first gets a
 * temporary name, only once, since the system cannot name it twice. */
static bool replace_place(replacement *r)
{
    errno = EEXIST;
    if (r->name[0] == '\0' && !r->exists && replace_link_to(r, r->path))
        return true;
    if (r->name[0] == '\0'
        && (errno != EEXIST || !replace_try_names(r, replace_link, 0)))
        return false;
    return rename(r->name, r->path) == 0;
}

static bool replace_rename(replacement *r)
{
    sigset_t before;
    replace_hold_signals(&before);
    bool done = replace_place(r);
    int kept = errno;
    if (done)
        r->name[0] = '\0';
    r->placed = done;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = kept;
    return done;
}

bly_status replace_end(replacement *r)
{
    if (!r->placed && (!replace_flush(r->file) || !replace_rename(r)))
        return replace_failed("write", r->path);
    (void)flock(r->file, LOCK_UN);
    if (replace_flush_folder(r))
        return BLY_OK;
    int error = errno;
    return status_system(BLY_EUNFLUSHED, error, "%s: the new file is in its "
                         "place, but a crash may undo that: cannot flush its "
                         "folder: %s: fix that, and save again", r->path,
                         strerror(error));
}

/* ---- For programs -------------------------------------------------------- */

bly_status bly_replace(bly_replacement **out, int *file, const char *path)
{
    bly_allocator allocator = memory_allocator(NULL, 1);
    replacement *r = memory_raw(&allocator, sizeof *r);
    if (r == NULL)
        return status_plain(BLY_ENOMEM);
    bly_status status = replace_find(r, path);
    if (status == BLY_OK && r->exists && !S_ISREG(r->old.st_mode)) {
        errno = S_ISDIR(r->old.st_mode) ? EISDIR : EINVAL;
        status = replace_failed("replace a file other than a regular file",
                                path);
    }
    if (status == BLY_OK)
        status = replace_begin(r);
    if (status != BLY_OK) {
        memory_release(&allocator, r, sizeof *r);
        return status;
    }
    *out = r;
    *file = r->file;
    return BLY_OK;
}

void bly_replace_drop(bly_replacement *r)
{
    bly_allocator allocator = memory_allocator(NULL, 1);
    if (r != NULL)
        replace_drop(r);
    memory_release(&allocator, r, sizeof *r);
}

bly_status bly_replace_end(bly_replacement *r)
{
    bly_status status = replace_end(r);
    bly_replace_drop(r);
    return status;
}
