/* output.c - standard output, through one buffer, with no error lost.
 *
 * stdio has two drawbacks here: lines of megabytes would be copied a second
 * time, and the first error and its reason would be lost. A reader that has
 * gone away (EPIPE, as with `| head`) is normal: the program cleans up and then
 * dies of SIGPIPE, as other programs do at once. If SIGPIPE was ignored at the
 * start, it prints a message.
 */
#include "frame/output.h"

#include "frame/packer.h"

#include <bloomery/replace.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUTPUT_BUFFER = 1 << 18 };

static struct {
    char   buffer[OUTPUT_BUFFER];
    size_t used;
    int    fd;
    int    error;               /* errno of the first failure, or 0 */
    bool   ignored;             /* SIGPIPE, when the program began  */
    const char *path;           /* of output_open, while it is open */
    bool   straight;            /* which is no plain file           */
    bly_replacement *file;      /* where it is one                  */
    cli_packer *packer;         /* that compresses it, or NULL      */
    bool   drops;               /* all is dropped                   */
    bool   keeps;               /* all goes to memory:              */
    char  *kept;
    size_t kept_length;
    bool   lost;                /* and there was too little         */
} output_state = { .fd = STDOUT_FILENO };

void output_start(void)
{
    output_state.ignored = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
}

/* ==== Memory ============================================================ */

static void output_append(const char *data, size_t n)
{
    char *more = output_state.lost
               ? NULL : realloc(output_state.kept,
                                output_state.kept_length + n + 1);

    output_state.lost = more == NULL;
    if (more == NULL)
        return;
    memcpy(more + output_state.kept_length, data, n);
    output_state.kept = more;
    output_state.kept_length += n;
}

/* ==== Writing =========================================================== */

static bool output_put(const char *data, size_t n)
{
    while (n > 0 && output_state.error == 0) {
        ssize_t wrote = write(output_state.fd, data, n);

        if (wrote > 0) {
            data += wrote;
            n -= (size_t)wrote;
        } else if (wrote == 0) {
            output_state.error = EIO;
        } else if (errno != EINTR) {
            output_state.error = errno;
        }
    }
    return output_state.error == 0;
}

static bool output_write(const char *data, size_t n)
{
    if (output_state.keeps) {
        output_append(data, n);
        return true;
    }
    if (output_state.drops)
        return true;
    if (output_state.packer == NULL)
        return output_put(data, n);
    if (!packer_put(output_state.packer, data, n, output_put)
        && output_state.error == 0)
        output_state.error = ENOMEM;
    return output_state.error == 0;
}

bool output_flush(void)
{
    size_t n = output_state.used;

    output_state.used = 0;
    return output_write(output_state.buffer, n);
}

bool output_keep(void)
{
    output_state.keeps = output_flush();
    output_state.kept = NULL;
    output_state.kept_length = 0;
    output_state.lost = false;
    return output_state.keeps;
}

char *output_kept(size_t *n)
{
    char *kept;

    output_flush();
    kept = output_state.kept;
    output_state.kept = NULL;
    output_state.keeps = false;
    *n = output_state.kept_length;
    if (!output_state.lost)
        return kept;
    free(kept);
    return NULL;
}

bool output_bytes(const void *data, size_t n)
{
    if (n > OUTPUT_BUFFER - output_state.used && !output_flush())
        return false;
    if (n >= OUTPUT_BUFFER)
        return output_write(data, n);
    if (n > 0)
        memcpy(output_state.buffer + output_state.used, data, n);
    output_state.used += n;
    return output_state.error == 0;
}

bool output_lines(const void *data, size_t n, char terminator, bool *unended)
{
    if (n == 0)
        return output_state.error == 0;
    if (*unended && !output_bytes(&terminator, 1))
        return false;
    *unended = ((const char *)data)[n - 1] != terminator;
    return output_bytes(data, n);
}

bool output_text(const char *text)
{
    return output_bytes(text, strlen(text));
}

/* Formats lines with numbers. A line that does not fit the buffer is cut, so
 * long names should go through output_text. */
bool output_format(const char *format, ...)
{
    char text[8192];
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n < 0)
        return false;
    if ((size_t)n >= sizeof text)
        n = (int)sizeof text - 1;
    return output_bytes(text, (size_t)n);
}

bool output_failed(void)
{
    return output_state.error != 0;
}

static bool output_is(const char *path)
{
    bool in = strcmp(path, "-") == 0;
    struct stat from, to;

    return fstat(STDOUT_FILENO, &to) == 0 && S_ISREG(to.st_mode)
        && (in ? fstat(STDIN_FILENO, &from) : stat(path, &from)) == 0
        && from.st_dev == to.st_dev && from.st_ino == to.st_ino;
}

bool output_same(const char *a, const char *b)
{
    struct stat about_a, about_b;

    return stat(a, &about_a) == 0 && stat(b, &about_b) == 0
        && about_a.st_dev == about_b.st_dev
        && about_a.st_ino == about_b.st_ino;
}

static int output_refuse_input(const char *path)
{
    return report_error("'%s' is both the input and the output: send the "
                        "output to another file", path);
}

int output_check_inputs(char *const *paths, size_t n)
{
    if (n == 0 && output_is("-"))
        return output_refuse_input("-");
    for (size_t i = 0; i < n; i++)
        if (output_is(paths[i]))
            return output_refuse_input(paths[i]);
    return CLI_GO;
}

/* ==== A file ============================================================ */

static int output_unwritten(int error)
{
    const char *path = output_state.path;

    return report_error("cannot write '%s': %s: %s", path, strerror(error),
                        error == ENOENT ? "create the folder, or choose "
                                          "another path"
                        : error == ENOSPC || error == EDQUOT || error == EFBIG
                        ? "free some space there, or choose another path"
                        : "fix that, or choose another path");
}

/* Returns why the library could not write the file. */
static int output_why(void)
{
    return bly_errno() != 0 ? bly_errno() : ENOMEM;
}

int output_open(const char *path)
{
    struct stat about;
    int fd;

    if (path == NULL || strcmp(path, "-") == 0)
        return CLI_GO;
    output_state.path = path;
    output_state.straight = stat(path, &about) == 0 && !S_ISREG(about.st_mode);
    if (!output_state.straight) {
        if (bly_replace(&output_state.file, &fd, path) < 0)
            return output_unwritten(output_why());
    } else if ((fd = open(path, O_WRONLY | O_CLOEXEC)) < 0) {
        return output_unwritten(errno);
    }
    output_state.fd = fd;
    return CLI_GO;
}

int output_open_packed(const char *path)
{
    int status = output_open(path);

    if (status != CLI_GO || !packer_serves(path))
        return status;
    output_state.packer = packer_new(path);
    if (output_state.packer != NULL)
        return CLI_GO;
    output_close(CLI_ERROR);
    return report_no_memory();
}

void output_drop(void)
{
    output_flush();
    output_state.drops = true;
}

/* Writes the end of a compressed file. */
static void output_end_packed(int status)
{
    if (status != CLI_ERROR && output_state.error == 0
        && !packer_end(output_state.packer, output_put)
        && output_state.error == 0)
        output_state.error = ENOMEM;
    packer_free(output_state.packer);
    output_state.packer = NULL;
}

/* Replaces the file with all of the output, or leaves the old one. */
static int output_replace(int status)
{
    bly_status placed = BLY_OK;
    int error = output_state.error;

    if (status == CLI_ERROR || error != 0)
        bly_replace_drop(output_state.file);
    else
        placed = bly_replace_end(output_state.file);
    if (placed == BLY_EUNFLUSHED)
        return report_error("%s", bly_why_in("command"));
    error = placed < 0 ? output_why() : error;
    return error == 0 ? status : output_unwritten(error);
}

static int output_close_straight(int status)
{
    if (close(output_state.fd) < 0 && errno != EINTR && status != CLI_ERROR
        && output_state.error == 0)
        output_state.error = errno;
    return output_state.error == 0 ? status
                                   : output_unwritten(output_state.error);
}

int output_close(int status)
{
    if (output_state.drops)
        output_state.used = 0;
    output_state.drops = false;
    if (output_state.fd == STDOUT_FILENO)
        return status;
    if (status != CLI_ERROR)
        output_flush();
    if (output_state.packer != NULL)
        output_end_packed(status);
    status = output_state.straight ? output_close_straight(status)
                                   : output_replace(status);
    output_state.fd = STDOUT_FILENO;
    output_state.used = 0;
    output_state.error = 0;
    return status;
}

/* Raises SIGPIPE, now that nothing is left to clean up. Returns only if the
 * signal is blocked. */
static void output_die(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

/* Network and quota file systems may report errors only in close. */
int output_finish(int status)
{
    if (output_flush() && close(STDOUT_FILENO) < 0 && errno != EINTR)
        output_state.error = errno;
    if (output_state.error == 0)
        return status;
    if (output_state.error == EPIPE && !output_state.ignored)
        output_die();
    return report_error("cannot write to standard output: %s: %s",
                        strerror(output_state.error),
                        output_state.error == EPIPE
                        ? "let its reader read to the end"
                        : "free some space there, or send it elsewhere");
}
