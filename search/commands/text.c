/* text.c - a file -> blocks of whole lines.
 *
 *      read:    | a line | another line | one that is not at its e
 *      given:   |-----------------------|  the rest begins the next block
 *
 * Compressed files are known by their first bytes and read through a pipe. A
 * line that is longer than a block makes the block longer, so that a line is
 * in one block, but no longer than 64 MiB: then it ends at a NUL, as in files
 * that are no text it does anyway, or is refused. Sequences need no whole
 * lines: their blocks end anywhere. Blocks of CSV end where records end.
 */
#include "search/commands/search.h"
#include "frame/inputs.h"
#include "frame/members.h"
#include "frame/progress.h"
#include "frame/records.h"
#include "frame/work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    TEXT_FIRST = 1 << 14,               /* bytes of the first read: all of
                                           most files                        */
    TEXT_LINE = 1 << 26                 /* of a line, more than a block has  */
};

/* ==== The state of a file =============================================== */

/* Nanoseconds; of a file system's times before 1970 too. */
static uint64_t text_time(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* Returns whether a later change could have the same time: file times advance
 * in steps of milliseconds, in some file systems of two seconds. */
static bool text_fresh(const struct timespec *changed,
                       const struct timespec *now)
{
    uint64_t step = changed->tv_nsec != 0 ? 50000000u : 2000000000u;

    return text_time(changed) + step > text_time(now);
}

uint64_t text_stamp(const struct stat *about, const struct timespec *now)
{
    uint64_t state[] = { (uint64_t)about->st_size, text_time(&about->st_mtim),
                         text_time(&about->st_ctim), (uint64_t)about->st_ino };
    uint64_t stamp = 0;

    if (text_fresh(&about->st_mtim, now) || text_fresh(&about->st_ctim, now))
        return 0;
    for (size_t i = 0; i < sizeof state / sizeof *state; i++)
        stamp = bly_mix64(stamp ^ state[i]) + 1;
    return stamp != 0 ? stamp : 1;
}

/* ==== Reading =========================================================== */

/* Closes the file, and checks that decompressed input was complete. Returns 0
   or an error. */
static int text_finish(text_reader *t)
{
    int error = 0;

    close(t->fd);
    t->fd = -1;
    if (t->source != NULL)
        error = source_close(t->source);
    t->source = NULL;
    return error;
}

/* Reads up to that many bytes. A read of fewer bytes ends a file if they reach
 * its size, so that no other read is needed. Returns 0 or an error. */
static int text_read(text_reader *t, size_t wanted)
{
    ssize_t got;

    do
        got = read(t->fd, t->bytes + t->n, wanted - t->n);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno;
    t->n += (size_t)got;
    t->ended = got == 0
            || (t->n < wanted && t->source == NULL
                && t->offset + t->n == (uint64_t)t->about.st_size);
    return t->ended && t->source != NULL ? text_finish(t) : 0;
}

/* Reads until there are that many bytes, or to the end. Returns 0 or an error.
 */
static int text_want(text_reader *t, size_t wanted)
{
    int error = 0;

    if (wanted > t->room) {
        if (!bytes_grow(&t->bytes, t->keys ? 2 * wanted + CLI_MEMBER_PADDING
                                           : wanted, 1))
            return ENOMEM;
        t->room = wanted;
    }
    while (error == 0 && !t->ended && t->n < wanted)
        error = text_read(t, wanted);
    return error;
}

/* Detects compression from the first bytes. Returns 0 or an error. */
static int text_begin(text_reader *t)
{
    const codec *c;
    bool more;
    int error = t->plain ? 0 : text_want(t, TEXT_FIRST);

    if (t->plain || error != 0)
        return error;
    c = codec_find(t->bytes, t->n, &more);
    if (c == NULL)
        return 0;
    t->decoded = true;
    error = source_open(&t->source, c, &t->fd, t->bytes, t->n);
    t->n = 0;
    t->ended = false;
    return error;
}

int text_open(text_reader *t, const char *path)
{
    struct timespec now;

    t->source = NULL;
    t->begun = t->ended = t->binary = t->decoded = false;
    t->broken = NULL;
    t->n = t->given = 0;
    t->offset = t->lines = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    t->fd = t->pipes && inputs_is_stdin(path)
          ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
          : open(path, O_RDONLY | O_CLOEXEC | (t->pipes ? 0 : O_NONBLOCK));
    if (t->fd < 0 || fstat(t->fd, &t->about) < 0)
        return errno;
    t->stamp = text_stamp(&t->about, &now);
    if (S_ISDIR(t->about.st_mode))
        return EISDIR;
    if (!S_ISREG(t->about.st_mode) && !t->pipes)
        return ESPIPE;
    return text_begin(t);
}

/* Returns the position of the last such byte, counted from 1; 0 if none. */
static size_t text_last(const unsigned char *bytes, size_t n,
                        unsigned char wanted)
{
    while (n > 0 && bytes[n - 1] != wanted)
        n--;
    return n;
}

/* Returns where the last record of CSV ends, among n bytes; 0: nowhere, or
 * t->broken says what is wrong with the first record. `all`: nothing follows.
 */
static size_t text_last_record(text_reader *t, size_t n, bool all)
{
    cli_records r;
    size_t last;

    records_begin(&r, t->separator);
    last = records_scan(&r, t->bytes, n);
    if (all && r.state != RECORDS_FAULT && r.state != RECORDS_QUOTED)
        return n;
    if (last == 0 && r.state == RECORDS_FAULT) {
        t->broken = "is not CSV, as a closing quote is followed by neither a "
                    "separator nor the end of the line";
        t->broken_line = t->lines + r.lines + 1;
    } else if (last == 0 && r.state == RECORDS_QUOTED
               && (all || n >= TEXT_LINE)) {
        t->broken = all ? "opens a quote that is never closed"
                        : "opens a quote that is not closed within 64 MiB";
        t->broken_line = t->lines + r.opened;
    }
    return last;
}

/* Returns where a block of at most n bytes ends, 0 if it must be longer. */
static size_t text_cut(text_reader *t, size_t n, bool all)
{
    size_t cut;

    if (t->records)
        return text_last_record(t, n, all);
    if (all || t->anywhere)
        return n;
    cut = text_last(t->bytes, n, '\n');
    return cut == 0 && !t->text && n >= TEXT_LINE
         ? text_last(t->bytes, n, '\0') : cut;
}

/* Reads until there is a block and returns its length; 0 at the end or on an
 * error. Beyond a block, the length grows by doubling whatever was read before,
 * so that blocks are reproducible. */
static size_t text_fill(text_reader *t, int *error)
{
    for (size_t most = t->block; ; most *= 2) {
        bool all;
        size_t cut;

        *error = text_want(t, most);
        if (*error != 0)
            return 0;
        all = t->ended && t->n <= most;
        cut = text_cut(t, all ? t->n : most, all);
        if (t->broken != NULL)
            *error = EBADMSG;
        else if (!all && cut == 0 && most >= TEXT_LINE)
            *error = EFBIG;
        if (cut > 0 || *error != 0 || t->n == 0)
            return cut;
    }
}

static uint64_t text_count(const unsigned char *bytes, size_t n)
{
    uint64_t lines = 0;

    for (size_t i = 0; i < n; i++)
        lines += bytes[i] == '\n';
    return lines;
}

int text_next(text_reader *t, text_block *out, int *error)
{
    bool first = !t->begun;

    *error = 0;
    t->begun = true;
    t->n -= t->given;
    if (t->n > 0)
        memmove(t->bytes, t->bytes + t->given, t->n);
    t->offset += t->given;
    t->given = text_fill(t, error);
    t->binary |= t->given > 0 && memchr(t->bytes, '\0', t->given) != NULL;
    *out = (text_block){ .bytes = t->bytes, .n = t->given, .offset = t->offset,
                         .lines = t->lines, .binary = t->binary,
                         .whole = first && t->given == t->n && t->ended };
    if (t->total != NULL)
        progress_at(atomic_fetch_add(t->total, t->given) + t->given);
    if (!out->whole && t->numbers)
        t->lines += text_count(t->bytes, t->given);
    return *error == 0 && (t->given > 0 || first);
}

bool text_seek(text_reader *t, uint64_t offset, uint64_t lines, bool binary)
{
    if (text_at(t) == offset)
        return true;
    if (t->decoded || lseek(t->fd, (off_t)offset, SEEK_SET) < 0)
        return false;
    t->begun = true;
    t->ended = false;
    t->n = t->given = 0;
    t->offset = offset;
    t->lines = lines;
    t->binary = binary;
    return true;
}

size_t text_jobs(uint64_t wanted)
{
    return work_jobs(wanted > 0 ? wanted : 2 * (uint64_t)work_jobs(0));
}

void text_close(text_reader *t)
{
    if (t->fd >= 0)
        text_finish(t);
}
