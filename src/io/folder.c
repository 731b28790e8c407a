/* folder.c - what makes a file's name last.
 *
 * Floor 6.
 */
#include "io/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool folder_flush(char *path)
{
    char *slash = strrchr(path, '/');
    const char *folder = slash == NULL ? "." : slash == path ? "/" : path;
    if (slash != NULL && slash != path)
        *slash = '\0';
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (slash != NULL)
        *slash = '/';
    if (file < 0)
        return errno == EACCES;         /* writable but not readable: go on */
    bool flushed = fsync(file) == 0 || errno == EINVAL;
    close(file);
    return flushed;
}
