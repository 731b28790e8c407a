/* lines.c - files and stdin -> chunks of whole lines -> batches of keys.
 *
 * A chunk is what one read brings, up to its last whole line; what is left of
 * an unfinished line goes to the front of the next chunk, and a line longer
 * than a chunk makes the chunk grow. Reading is done by one thread at a time;
 * chunks are then split and worked on by all of them (work.c).
 *
 *      chunk   |-- whole lines ------------------------|-- unfinished --|
 *                                                      ^ goes to `rest`
 *
 * The ends of lines are found 64 bytes at a time, as bits of a word, where the
 * processor has vectors (SSE2: every x86-64); no line is copied. Bytes are
 * bytes: no locale, CR is one like any other, the last line may lack its
 * newline, an empty line is the empty key. Floor 8; includes frame.h only.
 */
#include "frame/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* A chunk: large enough that the work on it dwarfs taking turns, and small
 * enough to stay in a second-level cache between its reading and its use. */
enum { LINES_CHUNK = 1 << 20 };

int lines_how_check(const cli_command *command, const cli_how *how)
{
    if (how->separator >= 0 && how->field == 0 && how->label == 0)
        return options_wrong(command,
                             "-t says what lies between columns, but no "
                             "column is chosen: give -f N too");
    return CLI_GO;
}

static bool lines_is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Are there keys to be read from stdin? */
static bool lines_want_stdin(const cli_operands *operands, size_t first)
{
    for (size_t i = first; i < operands->count; i++)
        if (lines_is_stdin(operands->names[i]))
            return true;
    return operands->count == first;
}

int lines_asked_check(const cli_command *command, const cli_operands *operands)
{
    if (operands->count == 0)
        return options_wrong(command, "the FILE to ask is missing");
    if (lines_is_stdin(operands->names[0]) && lines_want_stdin(operands, 1))
        return options_wrong(command, "the filter and the keys cannot both "
                                      "come from standard input");
    return CLI_GO;
}

/* ==== Open and close ==================================================== */

static char *lines_stdin[] = { (char[]){ "-" } };

void lines_open(cli_lines *l, const cli_how *how, const cli_operands *operands,
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
}

static void lines_close_file(cli_lines *l)
{
    if (l->fd > STDIN_FILENO)
        close(l->fd);
    l->fd = -1;
}

void lines_close(cli_lines *l)
{
    lines_close_file(l);
    free(l->rest);
    l->rest = NULL;
}

/* ==== Files ============================================================= */

int lines_refuse(const char *path, int error)
{
    if (error == EISDIR)
        return report_error("'%s' is a folder: name the files of keys in it",
                            path);
    if (error == ENOMEM)
        return report_error("out of memory: a line of '%s' is too long: is -0 "
                            "missing, or not wanted?", path);
    if (lines_is_stdin(path))
        return report_error("cannot read standard input: %s: send the keys to "
                            "it, or name a file of keys", strerror(error));
    return report_unread("read", path, error);
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

/* ==== Reading =========================================================== */

static bool lines_room(cli_chunk *c)
{
    size_t capacity = c->capacity == 0 ? LINES_CHUNK : 2 * c->capacity;
    unsigned char *grown;

    if (c->length < c->capacity)
        return true;
    if (c->capacity > SIZE_MAX / 4)
        return false;
    grown = realloc(c->block, capacity);
    if (grown == NULL)
        return false;
    c->block = grown;
    c->capacity = capacity;
    return true;
}

/* What the last chunk left of an unfinished line begins this one. */
static bool lines_take_rest(cli_lines *l, cli_chunk *c)
{
    size_t n = l->rest_length;

    c->length = 0;
    while (c->capacity <= n) {
        c->length = c->capacity;
        if (!lines_room(c))
            return false;
    }
    if (n > 0)
        memcpy(c->block, l->rest, n);
    c->length = n;
    l->rest_length = 0;
    return true;
}

/* Keep what stands behind the last whole line for the next chunk. */
static bool lines_keep_rest(cli_lines *l, cli_chunk *c, size_t whole)
{
    size_t n = c->length - whole;

    if (n > l->rest_capacity) {
        unsigned char *grown = realloc(l->rest, 2 * n);

        if (grown == NULL)
            return false;
        l->rest = grown;
        l->rest_capacity = 2 * n;
    }
    if (n > 0)
        memcpy(l->rest, c->block + whole, n);
    l->rest_length = n;
    c->length = whole;
    return true;
}

static ssize_t lines_read(cli_lines *l, cli_chunk *c)
{
    ssize_t got;

    do
        got = read(l->fd, c->block + c->length, c->capacity - c->length);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        l->bytes += (uint64_t)got;
    return got;
}

/* A pipe that can hold more wakes its reader less often; a wish. */
static void lines_widen_pipe(int fd)
{
#ifdef F_SETPIPE_SZ
    (void)fcntl(fd, F_SETPIPE_SZ, LINES_CHUNK);
#else
    (void)fd;
#endif
}

static bool lines_open_file(cli_lines *l)
{
    l->path = l->paths[l->next++];
    l->fd = lines_is_stdin(l->path) ? STDIN_FILENO
                                    : open(l->path, O_RDONLY | O_CLOEXEC);
    if (l->fd >= 0)
        lines_widen_pipe(l->fd);
    return l->fd >= 0;
}

static void lines_fail(cli_lines *l, cli_chunk *c, int error)
{
    c->error = error;
    c->length = l->rest_length = 0;
    lines_close_file(l);
}

/* Read until there is a whole line or the file ends. */
static void lines_fill(cli_lines *l, cli_chunk *c)
{
    int terminator = l->how.null ? '\0' : '\n';

    if (!lines_take_rest(l, c)) {
        lines_fail(l, c, ENOMEM);
        return;
    }
    for (;;) {
        const unsigned char *from, *last;
        ssize_t got;

        if (!lines_room(c)) {
            lines_fail(l, c, ENOMEM);
            return;
        }
        from = c->block + c->length;
        got = lines_read(l, c);
        if (got <= 0) {
            if (got < 0)
                lines_fail(l, c, errno);
            lines_close_file(l);
            return;
        }
        c->length += (size_t)got;
        last = memrchr(from, terminator, (size_t)got);
        c->idle = c->length < c->capacity;
        if (last == NULL)
            continue;
        if (!lines_keep_rest(l, c, (size_t)(last + 1 - c->block)))
            lines_fail(l, c, ENOMEM);
        return;
    }
}

bool lines_next(cli_lines *l, cli_chunk *c)
{
    c->error = 0;
    c->length = 0;
    while (c->length == 0 && c->error == 0) {
        if (l->fd < 0 && l->next == l->count)
            return false;
        c->idle = false;
        if (l->fd < 0 && !lines_open_file(l))
            c->error = errno;
        else
            lines_fill(l, c);
    }
    c->path = l->path;
    c->bytes = l->bytes;
    return true;
}

/* ==== Splitting ========================================================= */

/* Where the lines in [0, n) end: the places of the terminators, `most` of
 * them at most; how many. */
static size_t lines_ends(const unsigned char *text, size_t n, int terminator,
                         size_t *ends, size_t most)
{
    size_t found = 0, at = 0;
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8((char)terminator);

    for (; at + 64 <= n && found + 64 <= most; at += 64) {
        uint64_t bits = 0;

        for (int part = 3; part >= 0; part--) {
            __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)
                                            (text + at) + part);
            bits = bits << 16
                 | (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted));
        }
        for (; bits != 0; bits &= bits - 1)
            ends[found++] = at + (size_t)__builtin_ctzll(bits);
    }
    if (at + 64 <= n)
        return found;
#endif
    while (at < n && found < most) {
        const unsigned char *hit = memchr(text + at, terminator, n - at);

        if (hit == NULL)
            break;
        ends[found++] = (size_t)(hit - text);
        at = (size_t)(hit - text) + 1;
    }
    return found;
}

static const bly_key lines_nothing = { NULL, 0 };

/* Column `wanted` of the line; data stays NULL where the line is too short.
 * Its bytes lie in the chunk, so an empty column's data is not NULL. */
static bly_key lines_column(const cli_how *how, uint64_t wanted,
                            const unsigned char *line, size_t length)
{
    const unsigned char *end = line + length, *hit = NULL;

    for (uint64_t column = 1;; column++) {
        hit = memchr(line, how->separator, (size_t)(end - line));
        if (column == wanted)
            break;
        if (hit == NULL)
            return lines_nothing;
        line = hit + 1;
    }
    return (bly_key){ line, (size_t)((hit != NULL ? hit : end) - line) };
}

/* What stands before the label's column, or behind it if that is the first. */
static bly_key lines_beside(bly_key label, const unsigned char *line,
                            size_t length)
{
    const unsigned char *from = label.data;
    size_t used = label.length + 1;     /* with what separates it */

    if (from == NULL)
        return lines_nothing;
    if (from > line)
        return (bly_key){ line, (size_t)(from - line) - 1 };
    return used > length ? lines_nothing
                         : (bly_key){ line + used, length - used };
}

/* Key and label of a line that has columns; a line without its label has no
 * key. */
static bly_key lines_key(const cli_how *how, const unsigned char *line,
                         size_t length, bly_key *label)
{
    if (how->label != 0) {
        *label = lines_column(how, how->label, line, length);
        if (label->data == NULL)
            return lines_nothing;
    }
    return how->field != 0 ? lines_column(how, how->field, line, length)
                           : lines_beside(*label, line, length);
}

/* A line of `length` bytes and its end (0 or 1 byte). */
static void lines_take(const cli_lines *l, cli_batch *b,
                       const unsigned char *line, size_t length, size_t ending)
{
    bly_key key = { line, length };

    if (l->how.field != 0 || l->how.label != 0)
        key = lines_key(&l->how, line, length, &b->labels[b->n]);
    if (key.data == NULL) {
        b->keyless++;
        if (!l->keep)
            return;
    }
    b->keys[b->n] = key;
    b->lines[b->n] = (bly_key){ line, length + ending };
    b->n++;
}

bool lines_split(const cli_lines *l, const cli_chunk *c, size_t *at,
                 cli_batch *b)
{
    const unsigned char *text = c->block + *at;
    size_t rest = c->length - *at, from = 0, found;

    b->n = 0;
    b->keyless = 0;
    if (rest == 0)
        return false;
    found = lines_ends(text, rest, l->how.null ? '\0' : '\n', b->ends,
                       LINES_MOST - 1);
    for (size_t i = 0; i < found; i++) {
        lines_take(l, b, text + from, b->ends[i] - from, 1);
        from = b->ends[i] + 1;
    }
    if (found == 0) {                   /* the last line, without its end */
        lines_take(l, b, text, rest, 0);
        from = rest;
    }
    *at += from;
    return true;
}

uint64_t lines_number(const cli_lines *l, const cli_chunk *c, const void *bytes)
{
    const unsigned char *at = c->block, *end = bytes, *hit;
    uint64_t number = 1;

    for (; (hit = memchr(at, l->how.null ? '\0' : '\n', (size_t)(end - at)))
           != NULL; at = hit + 1)
        number++;
    return number;
}
