/* reread.c - makes pipes readable more than once.
 *
 * Input that is not a plain file is copied to an unnamed file and read from
 * there, through the name that the system gives to an open descriptor. Memory
 * use is bounded, whatever the input.
 */
#include "bloomery/sketch/sketches.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bloomery/exact/dedup.h"
#include "frame/refuse.h"

static bool reread_is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Returns whether the path is a stream. Missing files and folders are reported
   when they are read. */
static bool reread_is_stream(const char *path)
{
    struct stat about;
    int result = reread_is_stdin(path) ? fstat(STDIN_FILENO, &about)
                                      : stat(path, &about);

    return result == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

static int reread_pour(int from, int to, const char *path, char *block,
                       size_t room)
{
    for (;;) {
        ssize_t got = read(from, block, room);

        if (got == 0)
            return CLI_GO;
        if (got < 0 && errno != EINTR)
            return refuse_file(path, errno);
        if (got > 0
            && spill_write(to, block, (size_t)got, false) != CLI_GO)
            return CLI_ERROR;
    }
}

static int reread_copy(int to, const char *path)
{
    enum { BLOCK = 1 << 18 };
    int from = reread_is_stdin(path) ? STDIN_FILENO
                                    : open(path, O_RDONLY | O_CLOEXEC);
    char *block = malloc(BLOCK);
    int status = from < 0 ? refuse_file(path, errno)
               : block == NULL ? report_no_memory()
               : reread_pour(from, to, path, block, BLOCK);

    free(block);
    if (from > STDIN_FILENO)
        close(from);
    return status;
}

/* Replaces operand i by a copy. */
static int reread_replace(sketch_reread *a, size_t i)
{
    int fd = spill_file(false);

    if (fd < 0)
        return CLI_ERROR;
    a->files[i] = fd;
    if (reread_copy(fd, a->operands.names[i]) != CLI_GO)
        return CLI_ERROR;
    snprintf(a->names[i], sizeof a->names[i], "/dev/fd/%d", fd);
    a->operands.names[i] = a->names[i];
    return CLI_GO;
}

int reread_open(sketch_reread *a, const cli_operands *operands, size_t first)
{
    static char input[] = "-";
    size_t n = operands->count - first, room = n > 0 ? n : 1;

    *a = (sketch_reread){
        .operands = { malloc(room * sizeof *a->operands.names), room },
        .names = malloc(room * sizeof *a->names),
        .files = malloc(room * sizeof *a->files),
    };
    for (size_t i = 0; a->files != NULL && i < room; i++)
        a->files[i] = -1;               /* before anything may be closed */
    if (a->operands.names == NULL || a->names == NULL || a->files == NULL)
        return report_no_memory();
    for (size_t i = 0; i < room; i++)
        a->operands.names[i] = n > 0 ? operands->names[first + i] : input;
    for (size_t i = 0; i < room; i++)
        if (reread_is_stream(a->operands.names[i])
            && reread_replace(a, i) != CLI_GO)
            return CLI_ERROR;
    return CLI_GO;
}

void reread_close(sketch_reread *a)
{
    for (size_t i = 0; a->files != NULL && i < a->operands.count; i++)
        if (a->files[i] >= 0)
            close(a->files[i]);
    free(a->operands.names);
    free(a->names);
    free(a->files);
}
