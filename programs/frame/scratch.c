/* scratch.c - a file under another name until it is complete.
 *
 * It stands beside the one that it is to be, and takes its name in one step:
 * who looks finds all of the old one or all of the new one. An interrupt takes
 * it away. One at a time. Floor 8; includes frame.h only.
 */
#include "frame/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The working file, while there is one. */
static char scratch_working[sizeof ((cli_scratch *)NULL)->work];

/* Only calls that are safe in a signal handler. */
static void scratch_interrupted(int number)
{
    unlink(scratch_working);
    signal(number, SIG_DFL);
    raise(number);
}

static const int scratch_signals[] = { SIGINT, SIGTERM, SIGHUP };
enum { SCRATCH_SIGNALS = sizeof scratch_signals / sizeof *scratch_signals };

/* Let them do this, unless they are to be ignored, as nohup wants it. */
static void scratch_upon_signals(void (*act)(int))
{
    for (size_t i = 0; i < SCRATCH_SIGNALS; i++)
        if (signal(scratch_signals[i], act) == SIG_IGN)
            signal(scratch_signals[i], SIG_IGN);
}

/* Replace the last part of the path by what a link there says. */
static bool scratch_follow_one(cli_scratch *s, const char *target)
{
    const char *slash = target[0] == '/' ? NULL : strrchr(s->path, '/');
    size_t folder = slash != NULL ? (size_t)(slash - s->path) + 1 : 0;

    errno = ENAMETOOLONG;
    if (folder + strlen(target) >= sizeof s->path)
        return false;
    strcpy(s->path + folder, target);
    return true;
}

/* The last one of a chain of links may lead to where no file is yet. */
static bool scratch_follow(cli_scratch *s, const char *output)
{
    enum { LINKS = 40 };                /* as many as Linux follows */
    char target[sizeof s->path];

    s->path[0] = '\0';
    if (!scratch_follow_one(s, output))
        return false;
    for (int i = 0; i < LINKS; i++) {
        ssize_t n = readlink(s->path, target, sizeof target - 1);

        if (n < 0)
            return errno == EINVAL || errno == ENOENT;
        target[n] = '\0';
        if (!scratch_follow_one(s, target))
            return false;
    }
    errno = ELOOP;
    return false;
}

/* The group, permissions and owner of the file whose place it takes, as far as
 * that is allowed: where the group is another one it gets no more than all do.
 * Bits that let a program run as another user are none of lines. */
static bool scratch_own(int fd, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;
    struct stat now;

    if (fstat(fd, &now) != 0)
        return false;
    if (now.st_gid != old->st_gid && fchown(fd, (uid_t)-1, old->st_gid) != 0)
        mode &= ~(mode_t)070 | (mode & 07) << 3;
    if (fchmod(fd, mode) != 0)
        return false;
    return now.st_uid == old->st_uid
        || fchown(fd, old->st_uid, (gid_t)-1) == 0 || errno == EPERM
        || errno == EINVAL;             /* a user whom there is not here */
}

/* Its name is short, so that it fits where the other one does, and one that
 * another program has left there is passed over. */
static int scratch_open(cli_scratch *s, mode_t mode)
{
    enum { TRIES = 100 };
    const char *slash = strrchr(s->path, '/');
    int folder = slash != NULL ? (int)(slash - s->path) + 1 : 0, fd = -1;

    for (int i = 0; fd < 0 && i < TRIES; i++) {
        snprintf(s->work, sizeof s->work, "%.*s.bloomery-%ld-%d.tmp", folder,
                 s->path, (long)getpid(), i);
        fd = open(s->work, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* Is the file found where the links lead? One of /dev/fd may lead nowhere: its
 * file can have been removed. */
static bool scratch_is_there(const cli_scratch *s, const struct stat *old)
{
    struct stat there;

    errno = ENOENT;
    return stat(s->path, &there) == 0 && there.st_ino == old->st_ino
        && there.st_dev == old->st_dev;
}

int scratch_make(cli_scratch *s, const char *output)
{
    struct stat old;
    bool exists = stat(output, &old) == 0;
    int fd, error;

    if (!scratch_follow(s, output) || (exists && !scratch_is_there(s, &old)))
        return -1;
    fd = scratch_open(s, exists ? 0600 : 0666);
    if (fd < 0)
        return -1;
    strcpy(scratch_working, s->work);
    scratch_upon_signals(scratch_interrupted);
    if (!exists || scratch_own(fd, &old))
        return fd;
    error = errno;
    close(fd);
    scratch_drop(s);
    errno = error;
    return -1;
}

void scratch_drop(const cli_scratch *s)
{
    unlink(s->work);
    scratch_upon_signals(SIG_DFL);
}

bool scratch_keep(const cli_scratch *s)
{
    if (rename(s->work, s->path) != 0)
        return false;
    scratch_upon_signals(SIG_DFL);
    return true;
}
