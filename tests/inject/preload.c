/* preload.c - makes system calls and allocations of an unmodified command fail.
 *
 * Loaded first (LD_PRELOAD). INJECT_AT is the number of the failing call, from
 * 0; INJECT_WAY is "once", "on" (it and all later calls), "signal"
 * (interrupted), "half" (half of the bytes are transferred), "kill" (the
 * process is killed before it) or "named" (the same, on a file system without
 * unnamed files). INJECT_COUNT is the descriptor to which the number of calls
 * is written at the end. Messages are unbuffered, so calls on standard error do
 * not count.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t each);
void *__libc_realloc(void *old, size_t n);
void *__libc_memalign(size_t alignment, size_t n);

typedef enum { PRELOAD_ONCE, PRELOAD_ON, PRELOAD_SIGNAL, PRELOAD_HALF,
               PRELOAD_KILL, PRELOAD_NAMED, PRELOAD_NEVER } preload_way;

static bool          armed;
static preload_way   way = PRELOAD_NEVER;
static unsigned long at, calls;

__attribute__((constructor)) static void preload_begin(void)
{
    static const char *const names[] = { "once", "on", "signal", "half",
                                         "kill", "named" };
    const char *name = getenv("INJECT_WAY"), *number = getenv("INJECT_AT");
    for (int i = 0; name != NULL && number != NULL && i < PRELOAD_NEVER; i++)
        if (strcmp(name, names[i]) == 0) {
            way = (preload_way)i;
            at = strtoul(number, NULL, 10);
        }
    armed = true;
}

__attribute__((destructor)) static void preload_end(void)
{
    const char *to = getenv("INJECT_COUNT");
    armed = false;
    if (to != NULL)
        dprintf(atoi(to), "%lu\n", calls);
}

/* Returns whether this call fails: -1 with errno, or the number of bytes to
 * transfer. */
static ssize_t preload_turn(bool signal, size_t n, int error)
{
    if (!armed)
        return (ssize_t)n;
    unsigned long call = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    if (way == PRELOAD_NEVER || (way == PRELOAD_ON ? call < at : call != at)
        || (way == PRELOAD_SIGNAL && !signal)
        || (way == PRELOAD_HALF && n < 2))
        return (ssize_t)n;
    if (way == PRELOAD_KILL || way == PRELOAD_NAMED)
        raise(SIGKILL);
    if (way == PRELOAD_HALF)
        return (ssize_t)(n / 2);
    errno = way == PRELOAD_SIGNAL ? EINTR : error;
    return -1;
}

static bool preload_fails(bool signal, int error)
{
    return preload_turn(signal, 0, error) < 0;
}

#define PRELOAD_REAL(name)                                                     \
    static __typeof__(&name) real;                                             \
    if (real == NULL)                                                          \
        *(void **)&real = dlsym(RTLD_NEXT, #name)

int open(const char *path, int flags, ...)
{
    PRELOAD_REAL(open);
    va_list rest;
    va_start(rest, flags);
    bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    mode_t mode = makes ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (way == PRELOAD_NAMED && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return preload_fails(false, EMFILE) ? -1 : real(path, flags, mode);
}

ssize_t read(int file, void *to, size_t n)
{
    PRELOAD_REAL(read);
    ssize_t some = preload_turn(true, n, EIO);
    return some < 0 ? -1 : real(file, to, (size_t)some);
}

ssize_t write(int file, const void *from, size_t n)
{
    PRELOAD_REAL(write);
    ssize_t some = file == STDERR_FILENO ? (ssize_t)n
                                         : preload_turn(true, n, ENOSPC);
    return some < 0 ? -1 : real(file, from, (size_t)some);
}

ssize_t pread(int file, void *to, size_t n, off_t from)
{
    PRELOAD_REAL(pread);
    ssize_t some = preload_turn(true, n, EIO);
    return some < 0 ? -1 : real(file, to, (size_t)some, from);
}

ssize_t pwrite(int file, const void *from, size_t n, off_t to)
{
    PRELOAD_REAL(pwrite);
    ssize_t some = preload_turn(true, n, ENOSPC);
    return some < 0 ? -1 : real(file, from, (size_t)some, to);
}

int fsync(int file)
{
    (void)file;
    return preload_fails(true, EIO) ? -1 : 0;
}

int syncfs(int file)
{
    (void)file;
    return preload_fails(false, EIO) ? -1 : 0;
}

int getentropy(void *to, size_t n)
{
    PRELOAD_REAL(getentropy);
    return preload_fails(false, EIO) ? -1 : real(to, n);
}

int fdatasync(int file)
{
    (void)file;
    return preload_fails(true, EIO) ? -1 : 0;
}

int msync(void *from, size_t n, int flags)
{
    (void)from, (void)n, (void)flags;
    return preload_fails(false, EIO) ? -1 : 0;
}

int ftruncate(int file, off_t n)
{
    PRELOAD_REAL(ftruncate);
    return preload_fails(true, ENOSPC) ? -1 : real(file, n);
}

int fstat(int file, struct stat *out)
{
    PRELOAD_REAL(fstat);
    return file != STDERR_FILENO && preload_fails(false, EIO)
         ? -1 : real(file, out);
}

int stat(const char *path, struct stat *out)
{
    PRELOAD_REAL(stat);
    return preload_fails(false, EIO) ? -1 : real(path, out);
}

int lstat(const char *path, struct stat *out)
{
    PRELOAD_REAL(lstat);
    return preload_fails(false, EIO) ? -1 : real(path, out);
}

ssize_t readlink(const char *path, char *to, size_t n)
{
    PRELOAD_REAL(readlink);
    return preload_fails(false, EIO) ? -1 : real(path, to, n);
}

int fchmod(int file, mode_t mode)
{
    PRELOAD_REAL(fchmod);
    return preload_fails(false, EPERM) ? -1 : real(file, mode);
}

int linkat(int from, const char *old, int to, const char *new, int how)
{
    PRELOAD_REAL(linkat);
    return preload_fails(false, EIO) ? -1 : real(from, old, to, new, how);
}

int rename(const char *old, const char *new)
{
    PRELOAD_REAL(rename);
    return preload_fails(false, EIO) ? -1 : real(old, new);
}

int access(const char *path, int how)
{
    PRELOAD_REAL(access);
    return preload_fails(false, EIO) ? -1 : real(path, how);
}

int flock(int file, int how)
{
    PRELOAD_REAL(flock);
    return preload_fails(true, ENOLCK) ? -1 : real(file, how);
}

void *mmap(void *where, size_t n, int may, int how, int file, off_t from)
{
    PRELOAD_REAL(mmap);
    return preload_fails(false, ENOMEM) ? MAP_FAILED
                                        : real(where, n, may, how, file, from);
}

void *mremap(void *old, size_t had, size_t n, int how, ...)
{
    va_list rest;
    void *place;
    va_start(rest, how);
    place = va_arg(rest, void *);       /* its only caller passes this */
    va_end(rest);
    PRELOAD_REAL(mremap);
    return preload_fails(false, ENOMEM) ? MAP_FAILED
                                        : real(old, had, n, how, place);
}

int pipe2(int ends[2], int flags)
{
    PRELOAD_REAL(pipe2);
    return preload_fails(false, EMFILE) ? -1 : real(ends, flags);
}

void *malloc(size_t n)
{
    return preload_fails(false, ENOMEM) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t each)
{
    return preload_fails(false, ENOMEM) ? NULL : __libc_calloc(n, each);
}

void *realloc(void *old, size_t n)
{
    return preload_fails(false, ENOMEM) ? NULL : __libc_realloc(old, n);
}

int posix_memalign(void **out, size_t alignment, size_t n)
{
    if (preload_fails(false, ENOMEM))
        return ENOMEM;
    *out = __libc_memalign(alignment, n);
    return *out != NULL ? 0 : ENOMEM;
}
