/* wrap.h - helpers for intercepting the library's system calls.
 *
 * The linker's --wrap (CMakeLists.txt lists the calls) turns a call of NAME
 * into __wrap_NAME, which can call __real_NAME.
 */
#ifndef BLY_TEST_WRAP_H
#define BLY_TEST_WRAP_H

#include <fcntl.h>
#include <stdarg.h>

#define WRAP(type, name, ...)                                                  \
    type __real_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__)

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

/* Returns the last argument of open(), the mode, if it creates a file. */
static inline mode_t wrap_mode(int flags, va_list rest)
{
    bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    return makes ? va_arg(rest, mode_t) : 0;
}

#endif /* BLY_TEST_WRAP_H */
