/* lines.c - files and stdin -> batches of keys.
 *
 * A file is read in big blocks; memchr finds the ends of its lines, and the
 * batch handed out points into the block: no line is copied. What is left of
 * an unfinished line moves to the front of the block before the next read,
 * and a line longer than the block makes the block grow; `scanned` remembers
 * how far its end was looked for, so a long line is looked through once.
 *
 *      block   |-- handed out --|-- lines to come --|-- unfinished --|  free |
 *              0              start                               end  capacity
 *
 * Bytes are bytes: no locale, CR is one like any other, the last line may lack
 * its newline, an empty line is the empty key. Floor 7; includes cli.h only.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES_BLOCK = 1 << 20, LINES_MOST = 4096 };

int lines_how_check(const cli_command *command, const cli_how *how)
{
    if (how->separator >= 0 && how->field == 0)
        return options_wrong(command,
                             "-t says what lies between columns, but no "
                             "column is chosen: give -f N too");
    return CLI_GO;
}

/* ==== Open and close ==================================================== */

static char *lines_stdin[] = { (char[]){ "-" } };

bool lines_open(cli_lines *l, const cli_how *how, const cli_operands *operands,
                size_t first, bool keep)
{
    memset(l, 0, sizeof *l);
    l->how = *how;
    if (l->how.separator < 0)
        l->how.separator = '\t';
    l->keep = keep;
    l->fd = -1;
    l->paths = operands->names + first;
    l->count = operands->count - first;
    if (l->count == 0) {
        l->paths = lines_stdin;
        l->count = 1;
    }
    l->capacity = LINES_BLOCK;
    l->block = malloc(l->capacity);
    l->keys = malloc(LINES_MOST * sizeof *l->keys);
    l->lines = malloc(LINES_MOST * sizeof *l->lines);
    if (l->block != NULL && l->keys != NULL && l->lines != NULL)
        return true;
    lines_close(l);
    report_error("out of memory: close other programs and try again");
    return false;
}

static void lines_close_file(cli_lines *l)
{
    if (l->fd > STDIN_FILENO)
        close(l->fd);
    l->fd = -1;
    l->start = l->scanned = l->end = 0;
    l->ended = l->short_read = false;
}

void lines_close(cli_lines *l)
{
    lines_close_file(l);
    free(l->block);
    free(l->keys);
    free(l->lines);
    l->block = NULL;
    l->keys = l->lines = NULL;
}

/* ==== Files ============================================================= */

static bool lines_is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

static int lines_refuse(const char *path, int error)
{
    if (error == EISDIR)
        return report_error("'%s' is a folder: name the files of keys in it",
                            path);
    if (lines_is_stdin(path))
        return report_error("cannot read standard input: %s: send the keys to "
                            "it, or name a file of keys", strerror(error));
    return report_error("cannot read '%s': %s: check the name and the "
                        "permissions", path, strerror(error));
}

static lines_result lines_open_file(cli_lines *l)
{
    if (l->next == l->count)
        return LINES_END;
    l->path = l->paths[l->next++];
    if (lines_is_stdin(l->path))
        l->fd = STDIN_FILENO;
    else
        l->fd = open(l->path, O_RDONLY | O_CLOEXEC);
    if (l->fd >= 0)
        return LINES_BATCH;
    lines_refuse(l->path, errno);
    return LINES_ERROR;
}

/* Bytes of one file, as lines_measure has it; errno where it is CLI_ERROR.
 * Stdin may be a regular file that has been read in part. */
static int lines_measure_one(const char *path, uint64_t *bytes)
{
    bool in = lines_is_stdin(path);
    struct stat about;
    off_t at;

    if ((in ? fstat(STDIN_FILENO, &about) : stat(path, &about)) < 0)
        return CLI_ERROR;
    errno = EISDIR;
    if (S_ISDIR(about.st_mode) || (!in && access(path, R_OK) < 0))
        return CLI_ERROR;
    if (!S_ISREG(about.st_mode))
        return CLI_NONE;
    at = in ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    *bytes = about.st_size > at ? (uint64_t)(about.st_size - at) : 0;
    return CLI_OK;
}

int lines_measure(const cli_lines *l, uint64_t *total)
{
    uint64_t sum = 0, bytes;
    int worst = CLI_OK;

    for (size_t i = 0; i < l->count; i++) {
        int status = lines_measure_one(l->paths[i], &bytes);

        if (status == CLI_ERROR)
            return lines_refuse(l->paths[i], errno);
        if (status == CLI_NONE)
            worst = CLI_NONE;
        else
            sum += bytes;
    }
    *total = worst == CLI_OK ? sum : 0;
    return worst;
}

uint64_t lines_size(const cli_lines *l)
{
    uint64_t sum = 0, bytes;

    for (size_t i = 0; i < l->count; i++) {
        if (lines_measure_one(l->paths[i], &bytes) != CLI_OK)
            return 0;
        sum += bytes;
    }
    return sum;
}

/* ==== Splitting ========================================================= */

/* Column `field` of the line; data stays NULL where the line is too short.
 * Its bytes lie in the block, so an empty key's data is not NULL. */
static bly_key lines_key(const cli_how *how, const unsigned char *line,
                         size_t length)
{
    bly_key key = { line, length };
    const unsigned char *end = line + length, *hit = NULL;

    if (how->field == 0)
        return key;
    for (uint64_t column = 1;; column++) {
        hit = memchr(line, how->separator, (size_t)(end - line));
        if (column == how->field)
            break;
        if (hit == NULL)
            return (bly_key){ NULL, 0 };
        line = hit + 1;
    }
    key.data = line;
    key.length = (size_t)((hit != NULL ? hit : end) - line);
    return key;
}

/* The line of `length` bytes at `start` and its end (0 or 1 byte). */
static void lines_take(cli_lines *l, size_t length, size_t ending)
{
    const unsigned char *line = l->block + l->start;
    bly_key key = lines_key(&l->how, line, length);

    l->start += length + ending;
    l->scanned = l->start;
    if (key.data == NULL) {
        l->keyless++;
        if (!l->keep)
            return;
    }
    l->keys[l->n] = key;
    l->lines[l->n] = (bly_key){ line, length + ending };
    l->n++;
}

/* Hand out what whole lines there are, as far as the batch has room. */
static void lines_split(cli_lines *l)
{
    int terminator = l->how.null ? '\0' : '\n';

    while (l->n < LINES_MOST && l->scanned < l->end) {
        const unsigned char *from = l->block + l->scanned;
        const unsigned char *hit = memchr(from, terminator,
                                          l->end - l->scanned);

        if (hit == NULL)
            l->scanned = l->end;
        else
            lines_take(l, (size_t)(hit - (l->block + l->start)), 1);
    }
    if (l->ended && l->n < LINES_MOST && l->start < l->end)
        lines_take(l, l->end - l->start, 0);
}

/* ==== Reading =========================================================== */

/* Room for more at the end of the block. */
static bool lines_room(cli_lines *l)
{
    unsigned char *grown;

    if (l->start > 0) {
        memmove(l->block, l->block + l->start, l->end - l->start);
        l->scanned -= l->start;
        l->end -= l->start;
        l->start = 0;
    }
    if (l->end < l->capacity)
        return true;
    if (l->capacity > SIZE_MAX / 4)
        return false;
    grown = realloc(l->block, 2 * l->capacity);
    if (grown == NULL)
        return false;
    l->block = grown;
    l->capacity *= 2;
    return true;
}

static lines_result lines_fill(cli_lines *l)
{
    ssize_t got;

    if (!lines_room(l)) {
        report_error("out of memory: a line of '%s' is longer than %s bytes: "
                     "is -0 missing, or not wanted?", l->path,
                     report_count(l->capacity).text);
        return LINES_ERROR;
    }
    do
        got = read(l->fd, l->block + l->end, l->capacity - l->end);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        lines_refuse(l->path, errno);
        return LINES_ERROR;
    }
    l->ended = got == 0;
    l->short_read = (size_t)got < l->capacity - l->end;
    l->end += (size_t)got;
    l->bytes += (uint64_t)got;
    return LINES_BATCH;
}

/* One step: open, split or read. LINES_BATCH with n == 0 means "go on". */
static lines_result lines_step(cli_lines *l)
{
    lines_result result = LINES_BATCH;

    if (l->fd < 0)
        return lines_open_file(l);
    lines_split(l);
    if (l->n > 0)
        return LINES_BATCH;
    if (!l->ended)
        result = lines_fill(l);
    if (result == LINES_ERROR || (l->ended && l->start == l->end))
        lines_close_file(l);
    return result;
}

lines_result lines_next(cli_lines *l)
{
    lines_result result;

    l->n = 0;
    do
        result = lines_step(l);
    while (result == LINES_BATCH && l->n == 0);
    l->idle = l->short_read && l->scanned == l->end;
    return result;
}
