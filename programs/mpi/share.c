/* share.c - the lines of all files, divided among the ranks.
 *
 *     file A            file B                      file C
 *     |.........\n......|......\n.........\n........|...\n.....|
 *     |-- rank 0 ----------|-- rank 1 -----------|-- rank 2 ---|
 *
 * A part may begin and end at any byte. A line belongs to the part that
 * contains its first byte, so a reader skips the rest of a line that began
 * before its part, unless a file begins there, and reads its last line to the
 * end.
 */
#include "mpi/cluster.h"
#include "frame/keys.h"
#include "frame/mistakes.h"
#include "frame/refuse.h"
#include "frame/sniff.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHARE_CHUNK = 1 << 20 };

static int share_terminator(const share *s)
{
    return s->lines.how.null ? '\0' : '\n';
}

/* ==== Open and close ==================================================== */

static int share_no_files(void)
{
    return report_error("ranks cannot share standard input: name the files of "
                        "keys");
}

static int share_not_ordinary(const char *path)
{
    return report_error("'%s' is not a regular file, so ranks cannot each read "
                        "a part of it: write the keys to one first", path);
}

/* Refuses files made up by the kernel, which claim to be empty but are not. */
static int share_check_empty(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), error;
    ssize_t got;
    char byte;

    if (fd < 0)
        return refuse_file(path, errno);
    do
        got = read(fd, &byte, 1);
    while (got < 0 && errno == EINTR);
    error = errno;
    close(fd);
    if (got < 0)
        return refuse_file(path, error);
    return got == 0 ? CLI_GO : share_not_ordinary(path);
}

/* Checks that the file begins with text; rank 0 notes CRs like work_run. */
static int share_look(share *s, size_t file)
{
    const char *path = s->lines.paths[file];
    cli_chunk about;
    int error = sniff_file(&s->lines, path, &s->skip[file], &about);

    if (error != 0)
        return refuse_file(path, error);
    if (job_rank == 0)
        mistakes_note(&about);
    return CLI_GO;
}

/* Returns the length of a plain file. */
static int share_measure(const char *path, uint64_t *bytes)
{
    struct stat about;

    if (strcmp(path, "-") == 0)
        return share_no_files();
    if (stat(path, &about) < 0)
        return refuse_file(path, errno);
    if (S_ISDIR(about.st_mode))
        return refuse_file(path, EISDIR);
    if (!S_ISREG(about.st_mode))
        return share_not_ordinary(path);
    if (access(path, R_OK) < 0)
        return refuse_file(path, errno);
    *bytes = (uint64_t)about.st_size;
    return *bytes > 0 ? CLI_GO : share_check_empty(path);
}

int share_open(share *s, const cli_how *how, const cli_operands *operands,
               size_t first, bool keep)
{
    memset(s, 0, sizeof *s);
    s->fd = -1;
    if (how->csv)
        return report_error("ranks read parts of files, and a part of CSV may "
                            "begin within quotes: use 'bloomery', or use a "
                            "file without quotes, and -t ,");
    if (how->header || how->field.named || how->label.named)
        return report_error("ranks read parts of files, and only one part has "
                            "the header: use 'bloomery', or use a file without "
                            "a header, and the numbers of columns");
    lines_open(&s->lines, how, operands, first, keep);
    if (operands->count == first)
        return share_no_files();
    s->start = job_memory(NULL, (s->lines.count + 1) * sizeof *s->start);
    s->start[0] = 0;
    s->skip = job_memory(NULL, s->lines.count * sizeof *s->skip);
    for (size_t i = 0; i < s->lines.count; i++) {
        uint64_t bytes = 0;
        int status = share_measure(s->lines.paths[i], &bytes);

        if (status == CLI_GO)
            status = share_look(s, i);
        if (status != CLI_GO)
            return status;
        s->start[i + 1] = s->start[i] + bytes - s->skip[i];
    }
    return CLI_GO;
}

static void share_close_file(share *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

void share_close(share *s)
{
    share_close_file(s);
    lines_close(&s->lines);
    free(s->start);
    free(s->skip);
    s->start = NULL;
    s->skip = NULL;
}

uint64_t share_bytes(const share *s)
{
    return s->start[s->lines.count];
}

int share_same(const share *s)
{
    bool same = true;

    for (size_t i = 0; i < s->lines.count; i++)
        same = job_same(s->start[i + 1]) && same;
    return same ? CLI_GO
         : report_error("not all ranks see the same files: name files that "
                        "every machine of the job can read, by a path that is "
                        "the same on all of them");
}

/* ==== Reading =========================================================== */

/* Reads bytes of the current file at offset `at` of the text. Returns their
   number, or -1. */
static ssize_t share_read(const share *s, uint64_t at, void *into, size_t n)
{
    ssize_t got;

    do
        got = pread(s->fd, into, n, (off_t)(at - s->start[s->file]
                                            + s->skip[s->file]));
    while (got < 0 && errno == EINTR);
    return got;
}

static int share_refuse(const share *s, int error)
{
    return refuse_file(s->lines.paths[s->file], error);
}

/* Reports a file that has become shorter since it was measured. */
static int share_shorter(const share *s)
{
    return report_error("'%s' became shorter while it was read: leave it "
                        "unchanged until the job is done",
                        s->lines.paths[s->file]);
}

/* Opens the file that contains s->at. Returns CLI_GO or CLI_ERROR. */
static int share_open_file(share *s)
{
    while (s->at >= s->start[s->file + 1])
        s->file++;
    s->fd = open(s->lines.paths[s->file], O_RDONLY | O_CLOEXEC);
    return s->fd >= 0 ? CLI_GO : share_refuse(s, errno);
}

/* Moves past the line that contains the byte before s->at. */
static int share_skip(share *s)
{
    char block[4096];
    uint64_t at = s->at - 1, end = s->start[s->file + 1];

    while (at < end) {                  /* ignore data appended since       */
        size_t want = end - at < sizeof block ? (size_t)(end - at)
                                              : sizeof block;
        ssize_t got = share_read(s, at, block, want);
        char *hit;

        if (got <= 0)
            return got < 0 ? share_refuse(s, errno) : share_shorter(s);
        hit = memchr(block, share_terminator(s), (size_t)got);
        s->at = at + (uint64_t)(hit != NULL ? hit + 1 - block : got);
        if (hit != NULL)
            return CLI_GO;
        at = s->at;
    }
    return CLI_GO;
}

int share_begin(share *s, uint64_t from, uint64_t to)
{
    uint64_t end = share_bytes(s);
    int status = CLI_GO;

    share_close_file(s);
    s->file = 0;
    s->lines.strange = 0;
    s->at = from < end ? from : end;
    s->end = to < end ? to : end;
    if (s->at >= s->end)
        return CLI_GO;
    status = share_open_file(s);
    if (status == CLI_GO && s->at > s->start[s->file])
        status = share_skip(s);
    return status;
}

/* Returns n * part / parts, without overflow. */
static uint64_t share_bound(uint64_t n, uint64_t part, uint64_t parts)
{
    return n / parts * part + n % parts * part / parts;
}

int share_begin_mine(share *s)
{
    uint64_t n = share_bytes(s), ranks = (uint64_t)job_ranks;
    uint64_t rank = (uint64_t)job_rank;

    return share_begin(s, share_bound(n, rank, ranks),
                       share_bound(n, rank + 1, ranks));
}

/* ==== Chunks ============================================================ */

static void share_room(const share *s, cli_chunk *c)
{
    if (c->length < c->capacity)
        return;
    c->capacity = c->capacity == 0 ? SHARE_CHUNK : 2 * c->capacity;
    c->block = job_memory(c->block, keys_block(&s->lines.how, c->capacity));
}

/* Returns the length of the whole lines of this part in the chunk, which begins
 * at s->at; 0 if more must be read. With `last` the file ends with the chunk.
 */
static size_t share_whole(const share *s, const cli_chunk *c, bool last)
{
    uint64_t rest = s->end - s->at;     /* bytes until the next rank's lines */
    const unsigned char *hit;

    if (rest <= c->length) {
        size_t from = (size_t)rest - 1;

        hit = memchr(c->block + from, share_terminator(s), c->length - from);
    } else {
        hit = c->length > 0 ? memrchr(c->block, share_terminator(s), c->length)
                            : NULL;
    }
    if (hit != NULL && (rest <= c->length || !last))
        return (size_t)(hit + 1 - c->block);
    return last ? c->length : 0;
}

/* Reads from s->at until there are whole lines. Returns CLI_GO or CLI_ERROR. */
static int share_fill(share *s, cli_chunk *c)
{
    uint64_t end = s->start[s->file + 1];

    for (;;) {
        uint64_t at = s->at + c->length;
        size_t whole, want;
        ssize_t got;

        share_room(s, c);
        want = c->capacity - c->length;
        if (want > end - at)
            want = (size_t)(end - at);
        got = share_read(s, at, c->block + c->length, want);
        if (got <= 0)
            return got < 0 ? share_refuse(s, errno) : share_shorter(s);
        c->length += (size_t)got;
        whole = share_whole(s, c, at + (uint64_t)got == end);
        if (whole > 0) {
            c->length = whole;
            return CLI_GO;
        }
    }
}

int share_next(share *s, cli_chunk *c)
{
    int status;

    s->lines.strange += c->strange;
    c->strange = 0;
    c->error = 0;
    c->length = 0;
    c->quoted = false;
    if (s->at >= s->end) {
        share_close_file(s);
        return CLI_OK;
    }
    if (s->at >= s->start[s->file + 1]) {       /* the next file */
        share_close_file(s);
        status = share_open_file(s);
        if (status != CLI_GO)
            return status;
    }
    status = share_fill(s, c);
    if (status == CLI_GO) {
        c->path = s->lines.paths[s->file];
        s->at += c->length;
        if (mistakes_are_columns(&s->lines, c))
            status = report_error("%s", c->why);
    }
    return status;
}

int share_batch(share *s, share_reader *r)
{
    while (r->at == r->chunk.length) {
        int status = share_next(s, &r->chunk);

        r->at = 0;
        if (status != CLI_GO)
            return status;
    }
    batches_split(&s->lines, &r->chunk, &r->at, &r->batch);
    return CLI_GO;
}

void share_note_strange(const share *s)
{
    uint64_t lines = job_sum(s->lines.strange), form = s->lines.how.form;

    report_explain(lines);
    if (lines == 0 || job_rank != 0)
        return;
    if (forms_changes(form))
        report_note("note: %s %s no key of the form %s: %s",
                    report_count(lines).text, lines == 1 ? "line has"
                                                         : "lines have",
                    forms_name(form).text, forms_advice(form));
    else
        report_note("note: %s %s", report_count(lines).text,
                    lines == 1 ? "line is not a JSON object"
                               : "lines are not JSON objects");
}
