/* lines.c - reads files and stdin as chunks of whole lines.
 *
 * A chunk is what one read brings, up to its last whole line. The start of an
 * unfinished line goes to the front of the next chunk, and a line longer than a
 * chunk makes the chunk grow. One thread reads at a time; then all threads
 * split chunks (batches.c) and work on them (work.c).
 *
 *      chunk   |-- whole lines ------------------------|-- unfinished --|
 *                                                      ^ goes to `rest`
 *
 * The first bytes of a file decide how it is read. Compressed bytes are
 * decompressed (source.c), a byte order mark of UTF-8 is skipped, files that
 * are not text are refused (sniff.c), and in files without newlines a CR ends a
 * line (returns.c).
 */
#include "frame/lines.h"

#include "frame/headers.h"
#include "frame/inputs.h"
#include "frame/keys.h"
#include "frame/mistakes.h"
#include "frame/refuse.h"
#include "frame/returns.h"
#include "frame/sniff.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The size of a chunk: large enough that the work on it dwarfs taking turns,
 * and small enough to stay in a second-level cache between its reading and its
 * use. */
enum { LINES_CHUNK = 1 << 20 };

/* ==== Open and close ==================================================== */

static cli_form lines_form(const cli_how *how)
{
    if (how->member != NULL)
        return LINES_MEMBERS;
    if (how->blanks || how->label.n > 0 || how->field.n > 1
        || keys_skips(how) || forms_changes(how->form))
        return LINES_CHANGED;
    return how->field.n == 1 ? LINES_COLUMNS
         : how->csv ? LINES_CHANGED : LINES_WHOLE;
}

static char *lines_stdin[] = { (char[]){ "-" } };

void lines_open(cli_lines *l, const cli_how *how, const cli_operands *operands,
                size_t first, bool keep)
{
    memset(l, 0, sizeof *l);
    l->how = *how;
    if (l->how.separator < 0)
        l->how.separator = how->csv ? ',' : '\t';
    l->how.header |= how->field.named || how->label.named;
    l->keep = keep;
    l->form = lines_form(how);
    l->fd = -1;
    l->paths = operands->names + first;
    l->count = operands->count - first;
    if (l->count == 0) {
        l->paths = lines_stdin;
        l->count = 1;
    }
}

void lines_name(cli_lines *l, const cli_operands *operands, size_t first)
{
    l->names = operands->count > first ? operands->names + first : lines_stdin;
}

void lines_until(cli_lines *l, const uint64_t *ends)
{
    l->ends = ends;
}

/* Returns 0, or what was wrong with the compressed file. */
static int lines_close_file(cli_lines *l)
{
    cli_source *source = l->source;

    if (l->fd > STDIN_FILENO)
        close(l->fd);
    l->fd = -1;
    l->source = NULL;
    return source != NULL ? source_close(source) : 0;
}

void lines_close(cli_lines *l)
{
    lines_close_file(l);
    free(l->rest);
    free(l->first);
    l->rest = l->first = NULL;
}

/* Returns how many bytes of file number i are to be read. */
static uint64_t lines_left(const cli_lines *l, size_t i)
{
    off_t at = l->ends != NULL ? lseek(l->fd, 0, SEEK_CUR) : -1;

    if (at < 0)
        return UINT64_MAX;
    return l->ends[i] > (uint64_t)at ? l->ends[i] - (uint64_t)at : 0;
}

/* Asks for a larger pipe, which wakes its reader less often. */
static void lines_widen_pipe(int fd)
{
#ifdef F_SETPIPE_SZ
    (void)fcntl(fd, F_SETPIPE_SZ, LINES_CHUNK);
#else
    (void)fd;
#endif
}

/* Opens the next file. Returns false if that fails, with errno set. */
static bool lines_open_file(cli_lines *l)
{
    const char *path = l->paths[l->next];

    l->path = l->names != NULL ? l->names[l->next] : path;
    l->next++;
    l->fresh = l->settled = true;
    l->returns = false;
    l->headed = !l->how.header;
    l->before = 0;
    records_begin(&l->records, l->how.separator);
    if (l->how.given.data != NULL) {
        l->fd = STDIN_FILENO;           /* is neither read nor closed */
        l->begun = true;
        l->looked = SNIFF_MOST;
        l->left = l->how.given.length;
        return true;
    }
    l->fd = inputs_is_stdin(path) ? STDIN_FILENO
                                 : open(path, O_RDONLY | O_CLOEXEC);
    l->begun = l->how.copy;
    l->looked = l->how.copy ? SNIFF_MOST : 0;
    l->settled = !returns_wanted(&l->how);
    if (l->fd < 0)
        return false;                   /* errno says why */
    l->left = lines_left(l, l->next - 1);
    lines_widen_pipe(l->fd);
    return true;
}

static void lines_fail(cli_lines *l, cli_chunk *c, int error)
{
    c->error = error;
    c->length = l->rest_length = 0;
    lines_close_file(l);
}

/* ==== Room in a chunk =================================================== */

/* Returns the longest line that is allowed. A small compressed file may expand
 * without limit, so a line of it may take at most a quarter of the memory. */
static size_t lines_longest(const cli_lines *l)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

    return l->source == NULL || pages <= 0 || bytes <= 0
         ? SIZE_MAX / 4 : (size_t)pages / 8 * (size_t)bytes;
}

/* Returns the error for a lack of room. */
static int lines_no_room(const cli_chunk *c)
{
    return c->capacity > LINES_CHUNK ? source_error(SOURCE_LONG, NULL) : ENOMEM;
}

static bool lines_room(const cli_lines *l, cli_chunk *c)
{
    size_t capacity = c->capacity == 0 ? LINES_CHUNK : 2 * c->capacity;
    unsigned char *grown;

    if (c->length < c->capacity)
        return true;
    if (c->capacity > lines_longest(l))
        return false;
    grown = realloc(c->block, keys_block(&l->how, capacity));
    if (grown == NULL)
        return false;
    c->block = grown;
    c->capacity = capacity;
    return true;
}

/* Begins a chunk with the unfinished line of the last one. */
static bool lines_take_rest(cli_lines *l, cli_chunk *c)
{
    size_t n = l->rest_length;

    c->length = 0;
    while (c->capacity <= n) {
        c->length = c->capacity;
        if (!lines_room(l, c))
            return false;
    }
    if (n > 0)
        memcpy(c->block, l->rest, n);
    c->length = n;
    l->rest_length = 0;
    return true;
}

/* Keeps the bytes after the last whole line for the next chunk. */
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
    l->records.quoted = l->how.csv && n > 0 && memchr(l->rest, '"', n) != NULL;
    l->records.stray &= l->records.quoted;
    return true;
}

/* ==== Reading =========================================================== */

/* Copies lines that are in memory already. */
static ssize_t lines_read_given(cli_lines *l, cli_chunk *c, size_t room)
{
    const bly_key *given = &l->how.given;
    const unsigned char *end = (const unsigned char *)given->data
                             + given->length;

    memcpy(c->block + c->length, end - l->left, room);
    l->bytes += room;
    l->left -= room;
    return (ssize_t)room;
}

static ssize_t lines_read(cli_lines *l, cli_chunk *c)
{
    size_t room = c->capacity - c->length;
    ssize_t got;

    if (room > l->left)
        room = (size_t)l->left;
    if (l->how.given.data != NULL)
        return lines_read_given(l, c, room);
    do
        got = read(l->fd, c->block + c->length, room);
    while (got < 0 && errno == EINTR);
    if (got > 0) {
        l->bytes += (uint64_t)got;
        l->left -= (uint64_t)got;
    }
    return got;
}

/* Returns whether the next read would not wait. */
static bool lines_ready(const cli_lines *l)
{
    return l->how.given.data != NULL
        || poll(&(struct pollfd){ l->fd, POLLIN, 0 }, 1, 0) != 0;
}

/* Checks the first bytes of a file, which are in the chunk, and removes those
 * that are not part of its lines. Sets l->begun once enough bytes are known.
 * Returns 0, or why the file is refused. */
static int lines_begin(cli_lines *l, cli_chunk *c)
{
    const codec *found = NULL;
    bool more = false;
    int error;

    if (l->source == NULL && !l->how.compressed)
        found = codec_find(c->block, c->length, &more);
    if (found != NULL) {
        error = source_open(&l->source, found, &l->fd, c->block, c->length);
        l->left = UINT64_MAX;           /* of what it holds */
        c->length = 0;
        return error;
    }
    more |= c->length < 3 && sniff_mark(c->block, c->length);
    if (more)
        return 0;
    l->begun = true;
    l->looked = c->length;
    error = sniff_check(&l->how, c->block, c->length);
    if (error == 0 && sniff_mark(c->block, c->length)) {
        c->length -= 3;
        memmove(c->block, c->block + 3, c->length);
    }
    return error;
}

/* Checks later pieces of the first bytes from a pipe, so that the result does
 * not depend on how the input is delivered. */
static int lines_look_on(cli_lines *l, const unsigned char *bytes, size_t n)
{
    size_t more = SNIFF_MOST - l->looked;

    n = n < more ? n : more;
    l->looked += n;
    return sniff_nul(&l->how, bytes, n);
}

/* The longest CSV record that continues within quotes: a quote that is never
 * closed must not make a chunk of the rest of a file. */
enum { LINES_RECORD = 1 << 26 };

/* Checks the CSV so far, of which the last `open` bytes are a record without an
 * end. Returns 0, or the error. */
static int lines_check_records(const cli_lines *l, cli_chunk *c, size_t open,
                               bool ended)
{
    const cli_records *r = &l->records;
    const cli_short_path path = refuse_path(l->path);

    if (r->state == RECORDS_FAULT)
        return refuse_later(c, "line %llu of %s is not CSV: a closing quote is "
                            "followed by neither a separator nor the end of "
                            "the line: write a quote within quotes twice, or "
                            "leave out --csv", (unsigned long long)r->lines + 1,
                            path.text);
    if (r->state != RECORDS_QUOTED || (!ended && open <= LINES_RECORD))
        return 0;
    return refuse_later(c, "the quote that opens in line %llu of %s is %s: "
                        "close it, or leave out --csv if quotes have no "
                        "meaning there", (unsigned long long)r->opened,
                        path.text,
                        ended ? "never closed" : "not closed within 64 MiB");
}

/* Returns where the last whole line of the chunk ends, 0 if there is none. The
 * bytes from `from` on are new. */
static size_t lines_whole(cli_lines *l, cli_chunk *c, size_t from)
{
    const unsigned char *text = c->block + from, *last;
    size_t n = c->length - from, whole;

    if (l->how.csv) {
        whole = records_scan(&l->records, text, n);
        c->quoted = l->records.quoted;
        c->stray = l->records.stray;
        return whole > 0 ? from + whole : 0;
    }
    last = memrchr(text, l->how.null ? '\0' : '\n', n);
    return last != NULL ? (size_t)(last + 1 - c->block) : 0;
}

/* Handles the end of a file, or an error of reading it. */
static void lines_end(cli_lines *l, cli_chunk *c, int error)
{
    int also = lines_close_file(l);

    if (error == 0)
        error = also;
    if (error == 0 && !l->settled) {
        error = returns_replace(l, c, 0, true);
        if (error == 0)
            lines_whole(l, c, 0);
    }
    if (error == 0 && l->how.csv)
        error = lines_check_records(l, c, c->length, true);
    c->quoted = l->records.quoted;
    c->stray = l->records.stray;
    if (error != 0)
        lines_fail(l, c, error);
}

/* Reads until there is a whole line or the file ends. */
static void lines_fill(cli_lines *l, cli_chunk *c)
{
    if (!lines_take_rest(l, c)) {
        lines_fail(l, c, lines_no_room(c));
        return;
    }
    for (;;) {
        bool begins = !l->begun;
        size_t from, whole;
        ssize_t got;
        int error = 0;

        if (!lines_room(l, c)) {
            lines_fail(l, c, lines_no_room(c));
            return;
        }
        from = c->length;
        got = lines_read(l, c);
        if (got <= 0) {
            lines_end(l, c, got < 0 ? errno : 0);
            return;
        }
        c->length += (size_t)got;
        c->idle = c->length < c->capacity || !lines_ready(l);
        if (begins) {
            error = lines_begin(l, c);
            from = 0;
        } else if (l->looked < SNIFF_MOST) {
            error = lines_look_on(l, c->block + from, (size_t)got);
        }
        if (error == 0 && !l->begun)
            continue;
        if (!l->settled)
            from = 0;
        if (error == 0)
            error = returns_replace(l, c, from, false);
        if (error == 0 && !l->settled)
            continue;
        whole = error == 0 ? lines_whole(l, c, from) : 0;
        if (error == 0 && l->how.csv)
            error = lines_check_records(l, c, c->length - whole, false);
        if (error == 0 && whole == 0)
            continue;
        if (error == 0 && !lines_keep_rest(l, c, whole))
            error = lines_no_room(c);
        if (error != 0)
            lines_fail(l, c, error);
        return;
    }
}

/* ==== Chunks ============================================================ */

/* Reads the next lines of the open file, unless only its header arrives. */
static void lines_next_chunk(cli_lines *l, cli_chunk *c)
{
    int error = 0;

    c->before = l->before;
    lines_fill(l, c);
    if (l->how.csv)
        l->before = l->records.lines
                  - headers_newlines(l->rest, l->rest_length);
    if (c->error == 0 && c->length > 0 && !l->headed)
        error = headers_take(l, c);
    if (error != 0)
        lines_fail(l, c, error);
}

/* Returns whether the file that has just ended was found in a folder and is
 * skipped because it is not text. */
static bool lines_skip(const cli_lines *l, const cli_chunk *c)
{
    const codec *unused;
    source_fault fault = c->error < 0 ? source_fault_of(c->error, &unused)
                                      : SOURCE_FAULTS;

    return (fault == SOURCE_NUL || fault == SOURCE_WIDE
            || fault == SOURCE_KNOWN || fault == SOURCE_UNREAD)
        && inputs_skip(l->how.found, l->paths[l->next - 1]);
}

/* Returns whether the header is all there is to print so far. A reader of it
 * may wait for it before more input arrives, so it gets a chunk without
 * lines. */
static bool lines_only_heads(const cli_lines *l, const cli_chunk *c)
{
    return l->title != NULL && c->heads && c->idle;
}

bool lines_next(cli_lines *l, cli_chunk *c)
{
    c->error = 0;
    c->length = 0;
    c->heads = false;
    c->lines = c->skipped = c->strange = 0;
    c->advice = false;
    while (c->length == 0 && c->error == 0 && !lines_only_heads(l, c)) {
        if (l->fd < 0 && l->next == l->count)
            return false;
        c->idle = false;
        if (l->fd < 0 && !lines_open_file(l))
            c->error = errno;
        else
            lines_next_chunk(l, c);
        if (c->error < 0 && lines_skip(l, c))
            c->error = 0;
    }
    c->path = l->path;
    c->bytes = l->bytes;
    if (l->how.field.named || l->how.label.named) {
        memcpy(c->field, l->field, sizeof c->field);
        c->label = l->label;
    }
    c->begins = l->fresh;
    c->mistake = MISTAKE_NONE;
    if (c->error == 0 && mistakes_are_columns(l, c))
        lines_fail(l, c, source_error(SOURCE_TOLD, NULL));
    if (l->fresh)
        mistakes_look(l, c);
    l->fresh &= c->length == 0;
    return true;
}
