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
 * bytes, in every locale. The last line may lack its newline, and an empty line
 * is the empty key. In a file whose first bytes hold a CR but no newline, a CR
 * ends a line, and is replaced by a newline as it is read.
 *
 * What is no such text is known by the first bytes of a file, before a key is
 * made of it (keys.c): what is compressed is decompressed (source.c), a byte
 * order mark of UTF-8 is skipped, and NULs, UTF-16 and files that the program
 * itself writes are refused.
 */
#include "frame/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
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

int lines_member_check(const cli_how *how)
{
    const char *wrong;

    if (how->member == NULL)
        return CLI_GO;
    wrong = members_wrong(how->member);
    if (wrong != NULL)
        return report_error("--json-field '%s' %s", how->member, wrong);
    return members_open() ? CLI_GO : CLI_ERROR;
}

/* Refuses columns beside a label that cannot be one key. CLI_GO or
 * CLI_ERROR. */
static int lines_columns_check(const cli_command *command, const cli_how *how)
{
    if (how->label.n > 0 && how->field.n == 0 && (how->csv || how->blanks))
        return options_wrong(command, "with --csv or --blanks what stands "
                                      "beside the label is no key: give -f "
                                      "LIST too");
    return CLI_GO;
}

/* Verifies the values of options about the keys themselves. CLI_GO or
 * CLI_ERROR. */
static int lines_forms_check(const cli_command *command, const cli_how *how)
{
    if (how->comment != NULL && how->comment[0] == '\0')
        return options_wrong(command, "--comment is empty: give what comments "
                                      "begin with, such as '#'");
    if (keys_skips(how) && how->member != NULL)
        return options_wrong(command, "JSON has no comments, and blank lines "
                                      "have no member: --json-field excludes "
                                      "--skip-blank and --comment");
    if (how->as == BLY_KEYS_BYTES
        && (how->lower || how->upper || how->trim || how->keep_cr))
        return options_wrong(command, "--as bytes takes lines as they are: it "
                                      "excludes -i, --upper, --trim and "
                                      "--keep-cr");
    return CLI_GO;
}

int lines_how_check(const cli_command *command, cli_how *how)
{
    if (how->csv && (how->separator == '"' || how->separator == '\n'
                     || how->separator == '\r'))
        return options_wrong(command, "with --csv quotes and ends of lines "
                                      "have a meaning of their own: -t must "
                                      "be another byte");
    if (lines_forms_check(command, how) != CLI_GO)
        return CLI_ERROR;
    forms_choose(how);
    if (forms_can(how->form) != CLI_GO)
        return CLI_ERROR;
    if (how->csv)
        report_lack = (report_words){ "column", "its number and -t",
                                      "-f and -t", false };
    if (keys_skips(how) && how->field.n == 0 && how->label.n == 0
        && (how->form & BLY_FORM_CLASS) <= BLY_KEYS_TEXT)
        report_lack = (report_words){
            "key", "--skip-blank and --comment", "--skip-blank and --comment",
            true
        };
    if (how->label.n > 0)
        report_lack.options = how->field.n == 0 ? "-l and -t"
                            : how->csv ? "-f, -l and -t"
                            : "-f, -l, -t and --csv";
    return lines_columns_check(command, how) == CLI_GO
         ? lines_member_check(how) : CLI_ERROR;
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

/* 0, or what was wrong with the compressed file. */
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

/* ==== The first bytes =================================================== */

/* Those that are looked at for what no text has. */
enum { LINES_LOOK = 1 << 15 };

static bool lines_is_mark(const unsigned char *bytes, size_t n)
{
    static const unsigned char mark[] = { 0xef, 0xbb, 0xbf };

    return memcmp(bytes, mark, n < sizeof mark ? n : sizeof mark) == 0;
}

/* UTF-16 has NULs in every text with a newline, and UTF-32 everywhere. */
static bool lines_is_wide(const unsigned char *bytes, size_t n)
{
    return n >= 4 && (memcmp(bytes, "\xff\xfe", 2) == 0
                      || memcmp(bytes, "\xfe\xff", 2) == 0
                      || memcmp(bytes, "\0\0\xfe\xff", 4) == 0);
}

/* 0, or SOURCE_NUL or SOURCE_WIDE: has it bytes that no text has? */
static int lines_check_nul(const cli_how *how, const unsigned char *bytes,
                           size_t n)
{
    if (how->text || how->null || how->separator == '\0'
        || memchr(bytes, '\0', n) == NULL)
        return 0;
    return source_error(lines_is_wide(bytes, n) ? SOURCE_WIDE : SOURCE_NUL,
                        NULL);
}

/* 0, or why these are no lines. */
static int lines_check(const cli_how *how, const unsigned char *bytes, size_t n)
{
    n = n < LINES_LOOK ? n : LINES_LOOK;
    if (!how->text && program != NULL && program->knows != NULL
        && program->knows(bytes, n))
        return source_error(SOURCE_KNOWN, NULL);
    return lines_check_nul(how, bytes, n);
}

/* ==== Files ============================================================= */

static int lines_refuse_source(const char *path, int error)
{
    const codec *c;
    source_fault fault = source_fault_of(error, &c);
    const report_shown s = report_file(path);

    switch (fault) {
    case SOURCE_UNREAD:
        return report_error("%s%s%s is compressed by %s, which is not read "
                            "here: give it as a pipe from %s", s.quote, s.name,
                            s.quote, c->name, c->by_hand);
    case SOURCE_DAMAGED:
        return report_error("%s%s%s is damaged: what %s has compressed there "
                            "cannot be decompressed: get it once more",
                            s.quote, s.name, s.quote, c->name);
    case SOURCE_CUT:
        return report_error("%s%s%s is damaged: what %s has compressed there "
                            "ends too early: get it once more, and all of it",
                            s.quote, s.name, s.quote, c->name);
    case SOURCE_BEHIND:
        return report_error("%s%s%s is damaged: behind what %s has compressed "
                            "there stands something else: get it once more, "
                            "or give it as a pipe from %s", s.quote, s.name,
                            s.quote, c->name, c->by_hand);
    case SOURCE_MEMORY:
        return report_error("out of memory: %s%s%s takes too much to be "
                            "decompressed: close other programs and try again",
                            s.quote, s.name, s.quote);
    case SOURCE_DIVIDED:
        return report_error("%s%s%s is compressed by %s, and ranks cannot "
                            "divide it among them: write what '%s' gives to a "
                            "file first", s.quote, s.name, s.quote, c->name,
                            c->by_hand);
    case SOURCE_LONG:
        return report_error("a line of %s%s%s is too long for the memory: is "
                            "-0 missing, or not wanted?", s.quote, s.name,
                            s.quote);
    case SOURCE_RETURNS:
        return report_error("lines of %s%s%s end with a CR alone, and ranks "
                            "cannot divide them: write what tr '\\r' '\\n' "
                            "gives to a file first", s.quote, s.name, s.quote);
    case SOURCE_WIDE:
        return report_error("%s%s%s is UTF-16 or UTF-32, not lines of bytes: "
                            "give what 'iconv -t UTF-8' makes of it, or "
                            "--text to take its bytes as they are", s.quote,
                            s.name, s.quote);
    case SOURCE_KNOWN:
        return report_error("%s%s%s is %s, not a file of keys: name the keys, "
                            "or give --text to take its bytes for them",
                            s.quote, s.name, s.quote, program->own);
    default:
        return report_error("%s%s%s is no text: it has NUL bytes: name a file "
                            "of lines, or give -0 for keys that end with NUL, "
                            "or --text to take its bytes as they are", s.quote,
                            s.name, s.quote);
    }
}

/* A key that stands where a file is expected is a common mistake. */
static int lines_refuse_missing(const char *path)
{
    bool plain = strpbrk(path, " \t\n\"\\$&|;<>()*?[]#~`!{}") == NULL;
    const char *quote = plain ? "" : "'";

    return report_error("cannot read '%s': %s: check the name. To give a key "
                        "on the command line, use --key %s%s%s", path,
                        strerror(ENOENT), quote, path, quote);
}

int lines_refuse(const char *path, int error)
{
    if (error < 0)
        return lines_refuse_source(path, error);
    if (error == EISDIR && access(path, R_OK | X_OK) < 0)
        return report_unread("read the folder", path, errno);
    if (error == EISDIR)
        return report_error("'%s' is a folder: name the files of keys in it%s",
                            path, inputs_folders() ? ", or give -r" : "");
    if (error == ENOMEM)
        return report_no_memory();
    if (lines_is_stdin(path))
        return report_error("cannot read standard input: %s: send the keys to "
                            "it, or name a file of keys", strerror(error));
    if (error == ENOENT && inputs_keys() && strchr(path, '\'') == NULL)
        return lines_refuse_missing(path);
    return report_unread("read", path, error);
}

int lines_refuse_chunk(const cli_chunk *c)
{
    return c->error == source_error(SOURCE_TOLD, NULL)
         ? report_error("%s", c->why) : lines_refuse(c->path, c->error);
}

/* Keep what is wrong until it is the chunk's turn; its error. */
static int lines_tell(cli_chunk *c, const char *format, ...)
    CLI_PRINTF(2, 3);

static int lines_tell(cli_chunk *c, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(c->why, sizeof c->why, format, arguments);
    va_end(arguments);
    return source_error(SOURCE_TOLD, NULL);
}

/* A path of a length that leaves room for what is told of it. */
typedef struct { char text[260]; } lines_path;

static lines_path lines_told(const char *path)
{
    const report_shown s = report_file(path);
    lines_path told;

    snprintf(told.text, sizeof told.text, "%s%.250s%s", s.quote, s.name,
             s.quote);
    return told;
}

/* The first bytes of what there is to read of a file; how many, or -1. */
static ssize_t lines_peek(const char *path, off_t at, unsigned char *bytes,
                          size_t room)
{
    bool in = lines_is_stdin(path);
    int fd = in ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), error;
    ssize_t got = -1;

    if (fd < 0)
        return -1;
    do
        got = pread(fd, bytes, room, at);
    while (got < 0 && errno == EINTR);
    error = errno;
    if (!in)
        close(fd);
    errno = error;
    return got;
}

static bool lines_is_compressed(const char *path, off_t at)
{
    unsigned char bytes[16];
    ssize_t got = lines_peek(path, at, bytes, sizeof bytes);
    bool more;

    return got > 0 && codec_find(bytes, (size_t)got, &more) != NULL;
}

/* Bytes of one file, as lines_measure has it; errno where it is CLI_ERROR.
 * Stdin may be a regular file that has been read in part. CLI_GO: it can be
 * read twice, but is compressed. */
static int lines_measure_one(const cli_lines *l, const char *path,
                             uint64_t *bytes)
{
    bool in = lines_is_stdin(path);
    struct stat about;
    off_t at;

    *bytes = l->how.given.length;
    if (l->how.given.data != NULL)
        return CLI_OK;
    if ((in ? fstat(STDIN_FILENO, &about) : stat(path, &about)) < 0)
        return CLI_ERROR;
    errno = EISDIR;
    if (S_ISDIR(about.st_mode) || (!in && access(path, R_OK) < 0))
        return CLI_ERROR;
    if (!S_ISREG(about.st_mode))
        return CLI_NONE;
    at = in ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    *bytes = about.st_size > at ? (uint64_t)(about.st_size - at) : 0;
    return !l->how.compressed && lines_is_compressed(path, at) ? CLI_GO
                                                               : CLI_OK;
}

int lines_measure(const cli_lines *l, uint64_t *total)
{
    uint64_t sum = 0, bytes;
    bool known = true, twice = true;

    for (size_t i = 0; i < l->count; i++) {
        int status = lines_measure_one(l, l->paths[i], &bytes);

        if (status == CLI_ERROR)
            return lines_refuse(l->paths[i], errno);
        twice = twice && status != CLI_NONE;
        known = known && status == CLI_OK;
        sum += status == CLI_OK ? bytes : 0;
    }
    *total = known ? sum : 0;
    return twice ? CLI_OK : CLI_NONE;
}

uint64_t lines_size(const cli_lines *l)
{
    uint64_t sum = 0, bytes;

    for (size_t i = 0; i < l->count; i++) {
        if (lines_measure_one(l, l->paths[i], &bytes) != CLI_OK)
            return 0;
        sum += bytes;
    }
    return sum;
}

/* ==== CR alone ========================================================== */

/* Do these bytes, the first of a file, hold a CR that may end a line, but no
 * newline? A CR at their end may be half of CR LF. */
static bool lines_only_returns(const unsigned char *bytes, size_t n)
{
    return n > 0 && memchr(bytes, '\r', n - 1) != NULL
        && memchr(bytes, '\n', n) == NULL;
}

static bool lines_wants_returns(const cli_how *how)
{
    return !how->null && !how->text && !how->keep_cr && !how->copy
        && how->given.data == NULL;
}

/* Decides by the first bytes of a file, all of which are in the chunk, whether
 * a CR alone ends its lines. */
static void lines_settle(cli_lines *l, const cli_chunk *c, bool ended)
{
    size_t n = c->length < LINES_LOOK ? c->length : LINES_LOOK;

    if (n < LINES_LOOK && !ended && memchr(c->block, '\n', n) == NULL)
        return;
    l->settled = true;
    l->returns = lines_only_returns(c->block, n);
}

/* Replaces each CR from byte `from` of the chunk by a newline. 0, or what is
 * wrong. */
static int lines_end_returns(const cli_lines *l, cli_chunk *c, size_t from)
{
    unsigned char *at = c->block + from, *end = c->block + c->length;

    if (memchr(at, '\n', c->length - from) != NULL)
        return lines_tell(c, "the first lines of %s end with a CR alone, and "
                          "later ones with a newline: give what tr '\\r' "
                          "'\\n' makes of it, or --text to read only "
                          "newlines", lines_told(l->path).text);
    for (; (at = memchr(at, '\r', (size_t)(end - at))) != NULL; at++)
        *at = '\n';
    return 0;
}

/* Replaces a CR that ends a line by a newline, in the bytes of the chunk from
 * `from` on. 0, or what is wrong. */
static int lines_make_newlines(cli_lines *l, cli_chunk *c, size_t from,
                               bool ended)
{
    if (!l->settled)
        lines_settle(l, c, ended);
    return l->returns ? lines_end_returns(l, c, from) : 0;
}

/* ==== Reading =========================================================== */

size_t lines_block(const cli_how *how, size_t capacity)
{
    return keys_parts(how, capacity)
         + (forms_changes(how->form) ? forms_times(how->form) * capacity : 0);
}

/* Nobody knows what a small compressed file may hold: no line of it may take
 * more than a quarter of the memory there is. */
static size_t lines_longest(const cli_lines *l)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

    return l->source == NULL || pages <= 0 || bytes <= 0
         ? SIZE_MAX / 4 : (size_t)pages / 8 * (size_t)bytes;
}

/* What is wrong where there was no room. */
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
    grown = realloc(c->block, lines_block(&l->how, capacity));
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
        if (!lines_room(l, c))
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
    l->records.quoted = l->how.csv && n > 0 && memchr(l->rest, '"', n) != NULL;
    l->records.stray &= l->records.quoted;
    return true;
}

/* Of lines that are given as they are. */
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

/* Is there more to read at once, if only the end? */
static bool lines_ready(const cli_lines *l)
{
    return l->how.given.data != NULL
        || poll(&(struct pollfd){ l->fd, POLLIN, 0 }, 1, 0) != 0;
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

/* Bytes of the file, number i, that are to be read. */
static uint64_t lines_left(const cli_lines *l, size_t i)
{
    off_t at = l->ends != NULL ? lseek(l->fd, 0, SEEK_CUR) : -1;

    if (at < 0)
        return UINT64_MAX;
    return l->ends[i] > (uint64_t)at ? l->ends[i] - (uint64_t)at : 0;
}

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
        l->looked = LINES_LOOK;
        l->left = l->how.given.length;
        return true;
    }
    l->fd = lines_is_stdin(path) ? STDIN_FILENO
                                 : open(path, O_RDONLY | O_CLOEXEC);
    l->begun = l->how.copy;
    l->looked = l->how.copy ? LINES_LOOK : 0;
    l->settled = !lines_wants_returns(&l->how);
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

/* Look at the first bytes of a file, which are in the chunk: those that are no
 * lines leave it, and l->begun says that the others are. 0, or why the file is
 * refused. */
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
    more |= c->length < 3 && lines_is_mark(c->block, c->length);
    if (more)
        return 0;
    l->begun = true;
    l->looked = c->length;
    error = lines_check(&l->how, c->block, c->length);
    if (error == 0 && lines_is_mark(c->block, c->length)) {
        c->length -= 3;
        memmove(c->block, c->block + 3, c->length);
    }
    return error;
}

/* What a pipe gave in a second piece or a later one is looked at as it would be
 * in the first: an input is text or not however it is delivered. */
static int lines_look_on(cli_lines *l, const unsigned char *bytes, size_t n)
{
    size_t more = LINES_LOOK - l->looked;

    n = n < more ? n : more;
    l->looked += n;
    return lines_check_nul(&l->how, bytes, n);
}

/* ==== Records =========================================================== */

/* Quotes that never close shall not make a chunk of the rest of a file: the
 * longest record that is in quotes where it goes on. */
enum { LINES_RECORD = 1 << 26 };

/* 0, or what is wrong with the CSV so far, `open` bytes of which are a record
 * without an end. */
static int lines_check_records(const cli_lines *l, cli_chunk *c, size_t open,
                               bool ended)
{
    const cli_records *r = &l->records;
    const lines_path path = lines_told(l->path);

    if (r->state == RECORDS_FAULT)
        return lines_tell(c, "line %llu of %s is no CSV: behind a quote that "
                          "closes stands neither a separator nor the end: "
                          "write a quote within quotes twice, or leave out "
                          "--csv", (unsigned long long)r->lines + 1, path.text);
    if (r->state != RECORDS_QUOTED || (!ended && open <= LINES_RECORD))
        return 0;
    return lines_tell(c, "the quote that opens in line %llu of %s is %s: close "
                      "it, or leave out --csv if quotes mean nothing there",
                      (unsigned long long)r->opened, path.text,
                      ended ? "never closed" : "not closed within 64 MiB");
}

/* Where the last whole line of the chunk ends, in which the bytes from `from`
 * on are new; 0: it has none. */
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

/* The end of a file, or an error of reading it. */
static void lines_end(cli_lines *l, cli_chunk *c, int error)
{
    int also = lines_close_file(l);

    if (error == 0)
        error = also;
    if (error == 0 && !l->settled) {
        error = lines_make_newlines(l, c, 0, true);
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

/* Read until there is a whole line or the file ends. */
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
        } else if (l->looked < LINES_LOOK) {
            error = lines_look_on(l, c->block + from, (size_t)got);
        }
        if (error == 0 && !l->begun)
            continue;
        if (!l->settled)
            from = 0;
        if (error == 0)
            error = lines_make_newlines(l, c, from, false);
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

/* ==== Headers =========================================================== */

void lines_same_header(cli_lines *l)
{
    l->alike = true;
}

void lines_print_header(cli_lines *l, const char *words)
{
    l->alike = true;
    l->title = words;
}

bool lines_title(cli_lines *l, const cli_chunk *c)
{
    const char end = l->how.null ? '\0' : '\n';

    if (l->title == NULL || l->titled
        || (c != NULL ? !c->heads : l->first == NULL))
        return true;
    l->titled = true;
    return output_text(l->title) && output_bytes(l->first, l->first_length)
        && output_bytes(&end, 1);
}

/* The first line of the chunk, with its end if it has one. */
static size_t lines_first(const cli_lines *l, const cli_chunk *c)
{
    const unsigned char *hit;
    size_t ends[64];

    if (l->how.csv)
        return records_ends(l->how.separator, c->block, c->length, ends, 64)
               > 0 ? ends[0] + 1 : c->length;
    hit = memchr(c->block, l->how.null ? '\0' : '\n', c->length);
    return hit != NULL ? (size_t)(hit + 1 - c->block) : c->length;
}

static uint64_t lines_newlines(const unsigned char *text, size_t n)
{
    uint64_t lines = 0;

    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    return lines;
}

/* Keep the first header; the others must be like it where all are printed as
 * one. 0, or what is wrong. */
static int lines_compare_header(cli_lines *l, cli_chunk *c, size_t length,
                                size_t bare)
{
    const lines_path path = lines_told(l->path);
    size_t first = l->first_length;

    if (l->first == NULL) {
        l->first = malloc(length + 1);
        if (l->first == NULL)
            return ENOMEM;
        memcpy(l->first, c->block, length);
        l->first_length = length;
        c->heads = true;
        return 0;
    }
    first -= first > 0 && l->first[first - 1] == '\r';
    if (!l->alike || (first == bare && memcmp(l->first, c->block, bare) == 0))
        return 0;
    return lines_tell(c, "the header of %s is not that of the file before it: "
                      "give files of different headers one by one", path.text);
}

/* The first line of a file names its columns, and leaves the chunk. 0, or what
 * is wrong with it. */
static int lines_take_header(cli_lines *l, cli_chunk *c)
{
    size_t n = lines_first(l, c), length = n, bare;
    int error;

    length -= c->block[n - 1] == (l->how.null ? '\0' : '\n');
    bare = length - (length > 0 && c->block[length - 1] == '\r');
    if ((l->how.field.named || l->how.label.named)
        && !columns_find(l, c, (bly_key){ c->block, bare },
                         lines_told(l->path).text, c->why, sizeof c->why))
        return source_error(SOURCE_TOLD, NULL);
    error = lines_compare_header(l, c, length, bare);
    if (error != 0)
        return error;
    l->headed = true;
    if (l->how.csv)
        c->before += lines_newlines(c->block, n);
    else
        c->before = l->before = 1;
    c->length -= n;
    memmove(c->block, c->block + n, c->length);
    return 0;
}

/* The next lines of the file that is open, unless only its header is read. */
static void lines_next_chunk(cli_lines *l, cli_chunk *c)
{
    int error = 0;

    c->before = l->before;
    lines_fill(l, c);
    if (l->how.csv)
        l->before = l->records.lines - lines_newlines(l->rest, l->rest_length);
    if (c->error == 0 && c->length > 0 && !l->headed)
        error = lines_take_header(l, c);
    if (error != 0)
        lines_fail(l, c, error);
}

/* Was the file, which is at its end now, one of a folder, and no text? */
static bool lines_skip(const cli_lines *l, const cli_chunk *c)
{
    const codec *unused;
    source_fault fault = c->error < 0 ? source_fault_of(c->error, &unused)
                                      : SOURCE_FAULTS;

    return (fault == SOURCE_NUL || fault == SOURCE_WIDE
            || fault == SOURCE_KNOWN || fault == SOURCE_UNREAD)
        && inputs_skip(l->how.found, l->paths[l->next - 1]);
}

/* Is the header all there is to print by now? Who waits for it before he writes
 * more gets a chunk of no lines. */
static bool lines_only_heads(const cli_lines *l, const cli_chunk *c)
{
    return l->title != NULL && c->heads && c->idle;
}

bool lines_next(cli_lines *l, cli_chunk *c)
{
    c->error = 0;
    c->length = 0;
    c->heads = false;
    c->lines = c->strange = 0;
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

int lines_look(const cli_lines *l, const char *path, size_t *skip,
               cli_chunk *about)
{
    unsigned char *bytes = malloc(lines_block(&l->how, LINES_LOOK));
    ssize_t got = bytes != NULL ? lines_peek(path, 0, bytes, LINES_LOOK) : -1;
    int error = bytes == NULL ? ENOMEM : got < 0 ? errno : 0;
    const codec *found = NULL;
    bool more;

    *skip = 0;
    if (error == 0 && !l->how.compressed)
        found = codec_find(bytes, (size_t)got, &more);
    if (found != NULL)
        error = source_error(SOURCE_DIVIDED, found);
    if (error == 0)
        error = lines_check(&l->how, bytes, (size_t)got);
    if (error == 0 && lines_wants_returns(&l->how)
        && lines_only_returns(bytes, (size_t)got))
        error = source_error(SOURCE_RETURNS, NULL);
    if (error == 0) {
        *skip = got >= 3 && lines_is_mark(bytes, 3) ? 3 : 0;
        *about = (cli_chunk){ .block = bytes, .length = (size_t)got,
                              .capacity = LINES_LOOK, .path = path };
        mistakes_look(l, about);
        about->block = NULL;
    }
    free(bytes);
    return error;
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

/* Lines without a key leave the batch. */
static void lines_drop_keyless(const cli_lines *l, cli_batch *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->n; i++) {
        b->keys[kept] = b->keys[i];
        b->lines[kept] = b->lines[i];
        if (l->how.label.n > 0)
            b->labels[kept] = b->labels[i];
        kept += b->keys[i].data != NULL;
    }
    b->n = kept;
}

uint64_t lines_number(const cli_lines *l, const cli_chunk *c, const void *bytes)
{
    const unsigned char *at = c->block, *end = bytes, *hit;
    uint64_t number = c->before + 1;

    if (forms_changes(l->how.form)
        && end >= c->block + keys_parts(&l->how, c->capacity))
        end = at + ((size_t)(end - at) - keys_parts(&l->how, c->capacity))
                 / forms_times(l->how.form);
    else if (keys_two_parts(&l->how) && end >= c->block + c->capacity)
        end -= c->capacity;
    for (; (hit = memchr(at, l->how.null ? '\0' : '\n', (size_t)(end - at)))
           != NULL; at = hit + 1)
        number++;
    return number;
}

static size_t lines_find_ends(const cli_lines *l, const cli_chunk *c,
                              const unsigned char *text, size_t n,
                              size_t *ends)
{
    enum { MOST = LINES_MOST - 1 };

    if (!c->quoted)
        return lines_ends(text, n, l->how.null ? '\0' : '\n', ends, MOST);
    return c->stray ? records_ends(l->how.separator, text, n, ends, MOST)
                    : records_ends_even(text, n, ends, MOST);
}

/* Count the lines of the batch that are no JSON objects; like others that have
 * no key they have no length from here on. What `query` has selected of earlier
 * batches lies at the front of the chunk by now, so its lines are no longer to
 * be counted there. */
static void lines_find_strange(cli_chunk *c, cli_batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->keys[i].data == NULL && b->keys[i].length == KEYS_STRANGE) {
            b->keys[i].length = 0;
            if (c->strange++ == 0)
                c->first_strange = c->lines - b->n + i + 1;
        }
}

/* Writes what to check in the first line of the chunk that lacks the member. */
static void lines_advise(const cli_lines *l, cli_chunk *c, const cli_batch *b)
{
    for (size_t i = 0; i < b->n && !c->advice; i++)
        if (b->keys[i].data == NULL && b->keys[i].length == 0)
            c->advice = members_advise(&l->how, b->lines[i], c->why,
                                       sizeof c->why);
}

/* Notes which lines are skipped; like others that have no key they have no
 * length from here on. */
static void lines_find_skipped(cli_batch *b)
{
    b->skips = true;
    for (size_t i = 0; i < b->n; i++) {
        b->skipped[i] = b->keys[i].data == NULL
                     && b->keys[i].length == KEYS_SKIPPED;
        if (b->skipped[i])
            b->keys[i].length = 0;
    }
}

bool lines_split(const cli_lines *l, cli_chunk *c, size_t *at, cli_batch *b)
{
    const unsigned char *text = c->block + *at;
    size_t rest = c->length - *at, from = 0, ending = 1;

    if (*at == 0) {
        c->lines = c->strange = 0;
        c->returns = l->how.cut_cr && !l->how.csv && l->form != LINES_MEMBERS
                  && memchr(c->block, '\r', c->length) != NULL;
    }
    b->keyless = 0;
    b->skips = false;
    b->n = lines_find_ends(l, c, text, rest, b->ends);
    if (rest == 0)
        return false;
    if (b->n == 0) {                    /* the last line, without its end */
        b->ends[b->n++] = rest;
        ending = 0;
    }
    for (size_t i = 0; i < b->n; i++) {
        b->keys[i] = (bly_key){ text + from, b->ends[i] - from };
        b->lines[i] = (bly_key){ text + from, b->ends[i] - from + ending };
        from = b->ends[i] + ending;
    }
    c->lines += b->n;
    if (l->form != LINES_WHOLE || c->returns)
        b->keyless = keys_make(l, c, b->keys, b->labels, b->n);
    if (b->keyless > 0 && keys_skips(&l->how))
        lines_find_skipped(b);
    if (b->keyless > 0)
        lines_find_strange(c, b);
    if (b->keyless > 0 && l->form == LINES_MEMBERS && !c->advice)
        lines_advise(l, c, b);
    if (b->keyless > 0 && !l->keep)
        lines_drop_keyless(l, b);
    *at += from;
    return true;
}

/* ==== Lines that are no JSON ============================================ */

void lines_tally(cli_lines *l, const cli_chunk *c)
{
    if (c->begins)
        l->passed = 0;
    if (c->advice)
        report_advise(c->why);
    if (c->strange > 0 && l->strange == 0) {
        l->first_strange = l->passed + c->first_strange;
        l->strange_path = c->path;
    }
    l->strange += c->strange;
    l->passed += c->lines;
}

static bool lines_lost;         /* see lines_lost_some */

bool lines_lost_some(void)
{
    return lines_lost;
}

void lines_note_strange(const cli_lines *l)
{
    static const char *path;            /* of the last note */
    static uint64_t lines, first;
    bool form = l->how.member == NULL || forms_changes(l->how.form);
    report_shown s;

    report_explain(l->strange);
    lines_lost |= l->strange > 0 && form;
    if (l->strange == 0 || l->how.copy
        || (l->strange_path == path && l->strange == lines
            && l->first_strange == first))
        return;
    path = l->strange_path;
    lines = l->strange;
    first = l->first_strange;
    s = report_file(path);
    if (form)
        report_note("note: %s %s%s no key of the form %s: the first is line %s "
                    "of %s%s%s: %s", report_count(lines).text,
                    lines == 1 ? "line " : "lines ",
                    l->how.member == NULL ? lines == 1 ? "has" : "have"
                    : lines == 1 ? "is no JSON object, or has"
                                 : "are no JSON objects, or have",
                    forms_name(l->how.form).text, report_count(first).text,
                    s.quote, s.name, s.quote, forms_advice(l->how.form));
    else
        report_note("note: %s %s: the first is line %s of %s%s%s",
                    report_count(lines).text,
                    lines == 1 ? "line is no JSON object"
                               : "lines are no JSON objects",
                    report_count(first).text, s.quote, s.name, s.quote);
}

uint64_t lines_counted(const cli_lines *l, const cli_batch *b)
{
    return l->how.csv ? 0 : b->n + (l->keep ? 0 : b->keyless);
}
