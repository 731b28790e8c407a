/* cmd_search.c - `bloomery search`: an index and patterns -> the lines that
 * match.
 *
 *      files as they are now     a   b   c   d       b has changed: all of it
 *      in the index, unchanged   a       c   d
 *      may have a match          a           d       a and d: those parts
 *
 * The index only says what need not be read. A file that is new, or has another
 * state than the index knows, is read as a whole. Threads take file after file;
 * what they print goes out in the order of the files:
 *
 *      printed | 7: being searched, printed as it comes | 8: done | 9, 10: …
 *
 * Floor 8; includes search.h only.
 */
#include "search/commands/search.h"
#include "frame/inputs.h"
#include "frame/options.h"
#include "frame/output.h"
#include "frame/refuse.h"
#include "frame/work.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SEARCH_AHEAD = 64,                  /* files that may be done too early  */
    SEARCH_HELD = 1 << 18               /* bytes of one that may wait        */
};

typedef struct {
    cli_operands patterns, files;
    const char  *color;
    select_want  want;
    uint64_t     beside, jobs;
    cli_operands include, exclude;      /* names of files                    */
    const char  *from;
    bool         trust, known, silent, stats;
} search_settings;

#define SEARCH_FLAG(member) CLI_FLAG, offsetof(search_settings, member), false

static const cli_option search_options[] = {
    { 'e', "regexp", "PATTERN", CLI_LIST, offsetof(search_settings, patterns),
      false, "A pattern, instead of the operand; of several a line must match "
      "one." },
    { 'f', "file", "FILE", CLI_LIST, offsetof(search_settings, files), false,
      "Each line of FILE is a pattern; '-' is standard input." },
    { 'F', "fixed-strings", NULL, SEARCH_FLAG(want.how.fixed),
      "Patterns are texts, and not regular expressions." },
    { 'i', "ignore-case", NULL, SEARCH_FLAG(want.how.fold),
      "The letters A to Z match a to z." },
    { 'w', "word-regexp", NULL, SEARCH_FLAG(want.how.words),
      "Only matches with no letter, digit or _ right before or behind them." },
    { 'x', "line-regexp", NULL, SEARCH_FLAG(want.how.lines),
      "Only matches of the whole line." },
    { 'v', "invert-match", NULL, SEARCH_FLAG(want.invert),
      "Select the lines that do not match: reads all files." },
    { 'm', "max-count", "N", CLI_NUMBER, offsetof(search_settings, want.most),
      false, "Select at most N lines of each file." },
    { 'l', "files-with-matches", NULL, SEARCH_FLAG(want.files),
      "Print the names of files with a selected line, and no lines." },
    { 'L', "files-without-match", NULL, SEARCH_FLAG(want.others),
      "Print the names of the other files." },
    { 'c', "count", NULL, SEARCH_FLAG(want.count),
      "Print for each file how many lines are selected." },
    { 'o', "only-matching", NULL, SEARCH_FLAG(want.only),
      "Print the matches, each on a line, and not their lines." },
    { 'n', "line-number", NULL, SEARCH_FLAG(want.number),
      "Print the number of each line before it." },
    { 0, "no-filename", NULL, SEARCH_FLAG(want.nameless),
      "Print no names of files before lines and counts." },
    { 'Z', "null", NULL, SEARCH_FLAG(want.null),
      "Names end with a NUL byte." },
    { 'A', "after-context", "N", CLI_NUMBER,
      offsetof(search_settings, want.after), false,
      "Print N lines behind each selected one too." },
    { 'B', "before-context", "N", CLI_NUMBER,
      offsetof(search_settings, want.before), false,
      "Print N lines before each selected one too." },
    { 'C', "context", "N", CLI_NUMBER, offsetof(search_settings, beside), false,
      "Both." },
    { 0, "color", "WHEN", CLI_TEXT, offsetof(search_settings, color), false,
      "Mark names, numbers and matches by colors: always, never, or auto, "
      "where a terminal shows them. Default: auto." },
    { 'a', "text", NULL, SEARCH_FLAG(want.text),
      "Take files with a NUL in them for text, too." },
    { 0, "include", "GLOB", CLI_LIST, offsetof(search_settings, include), false,
      "Only files whose name, without folders, matches GLOB, as '*.c'; of "
      "several, one of them." },
    { 0, "exclude", "GLOB", CLI_LIST, offsetof(search_settings, exclude), false,
      "No files whose name matches GLOB." },
    { 's', "no-messages", NULL, SEARCH_FLAG(silent),
      "Say nothing of files that cannot be read; the exit status does." },
    { 0, "json", NULL, SEARCH_FLAG(want.json),
      "Print each line, or match, as a JSON object on a line of its own, with "
      "file, number, selected (false: it is beside one) and text; with -l and "
      "-L file; with -c file and count. Bytes that are no UTF-8 are U+FFFD." },
    { 'q', "quiet", NULL, SEARCH_FLAG(want.quiet),
      "Print nothing; the exit status says whether there is a selected line." },
    { 0, "trust", NULL, SEARCH_FLAG(trust),
      "Do not look which files are new, or have changed: only those are read "
      "that the index names. Of these one that has changed is read as a whole, "
      "and one that is gone is passed over; of files that were renamed, as "
      "logs are, nothing is found." },
    { 0, "trust-known", NULL, SEARCH_FLAG(known),
      "Look which files are new, and take it that those that the index knows "
      "have not changed." },
    { 0, "from", "FOLDER", CLI_TEXT, offsetof(search_settings, from), false,
      "The names in the index begin in FOLDER: where it was made somewhere "
      "else, or the files have moved." },
    { 0, "stats", NULL, SEARCH_FLAG(stats),
      "Say in the end how many files were read, and how much." },
    TEXT_JOBS_OPTION(search_settings, jobs),
    { 0, NULL, NULL, CLI_FLAG, 0, false, NULL }
};

static const cli_example search_examples[] = {
    { "bloomery search logs.blx 'refused|timed out'",
      "The lines, with the names of their files." },
    { "bloomery search -F -w -l logs.blx 10.0.0.7",
      "The names of files that have this address." },
    { "bloomery search -n -C 3 code.blx 'alloc\\w*\\(NULL'",
      "With the three lines before and behind each." },
    { NULL, NULL }
};

/* A file, and those documents of it that may match. */
typedef struct {
    const char      *name;
    const found_one *parts;
    size_t           n;
    bool             whole;     /* all of it is to be read                   */
} search_task;

/* What a file has printed, until its turn comes. */
typedef struct {
    cli_bytes out;
    bool      done;
} search_place;

/* How much was done. */
typedef struct { uint64_t files, false_files, bytes, selected; } search_counts;

typedef struct {
    const search_settings *set;
    earlier      index;
    cli_operands patterns;      /* one for each line of those given          */
    cli_operands texts;         /* that hold them, from malloc               */
    match       *match;
    cli_inputs   inputs;
    cli_operands all, changed;  /* files, in rising order                    */
    cli_bytes    names;         /* of those that the index knows             */
    char       **listed;        /* they, from malloc                         */
    uint64_t    *row;           /* of documents that may match               */
    found_list   found, known;  /* them; and all, for --trust                */
    search_task *tasks;
    size_t       n;
    struct stat  self;
    bool         unasked;
    atomic_size_t next;         /* task                                      */
    atomic_bool  stop, failed, unread, any;
    pthread_mutex_t lock;
    pthread_cond_t  moved;
    size_t       turn;          /* the task that is printed next             */
    bool         begun;         /* something of it is printed already        */
    bool         printed;       /* something is                              */
    search_place places[SEARCH_AHEAD];
    search_counts counts;
} search_job;

/* ==== Patterns ========================================================== */

/* A newline stands between two patterns. */
static bool search_split(search_job *job, const char *text, size_t n)
{
    char *at = malloc(n + 1), *end = at + n;

    if (at == NULL)
        return false;
    memcpy(at, text, n);
    *end = '\0';
    if (!options_append(&job->texts, at)) {
        free(at);
        return false;
    }
    while (at <= end) {
        char *next = memchr(at, '\n', (size_t)(end - at));

        next = next != NULL ? next : end;
        *next = '\0';
        if (!options_append(&job->patterns, at))
            return false;
        at = next + 1;
    }
    return true;
}

/* All of a file of patterns: its last newline ends one, and begins none. */
static int search_load(search_job *job, const char *path)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    cli_bytes text = { .from = 0 };
    bool loaded = fd >= 0 && bytes_load(&text, fd);
    int error = errno, status = CLI_GO;
    size_t n = text.to;

    if (fd > STDIN_FILENO)
        close(fd);
    if (!loaded)
        status = report_unread("read the patterns in",
                               is_stdin ? "standard input" : path, error);
    else if (n > 0 && memchr(text.data, '\0', n) != NULL)
        status = report_error("'%s' has a NUL in it: give a file of patterns, "
                              "each on a line", path);
    else if (n > 0 && !search_split(job, (const char *)text.data,
                                    n - (text.data[n - 1] == '\n')))
        status = report_no_memory();
    bytes_free(&text);
    return status;
}

static int search_patterns(search_job *job, const char *operand)
{
    const search_settings *set = job->set;
    int status = CLI_GO;

    if (operand != NULL && !search_split(job, operand, strlen(operand)))
        return report_no_memory();
    for (size_t i = 0; i < set->patterns.count; i++) {
        const char *pattern = set->patterns.names[i];

        if (!search_split(job, pattern, strlen(pattern)))
            return report_no_memory();
    }
    for (size_t i = 0; status == CLI_GO && i < set->files.count; i++)
        status = search_load(job, set->files.names[i]);
    return status;
}

/* ==== Documents that may match ========================================== */

/* All those that are as they were. */
static uint64_t *search_row(const search_job *job, uint64_t documents)
{
    uint64_t *row = calloc((size_t)(documents / 64) + 1, sizeof *row);
    bly_document about;

    for (uint64_t i = 0; row != NULL && i < documents; i++) {
        bool stays = job->index.stays != NULL ? job->index.stays[i]
                   : bly_index_document(&about, job->index.index, i) >= 0
                     && !about.dropped;

        row[i / 64] |= (uint64_t)stays << i % 64;
    }
    return row;
}

/* Those of them that may have a match of one of the patterns. */
static int search_ask(search_job *job)
{
    const match_how *how = &job->set->want.how;
    const settings *made = &job->index.made;
    uint64_t *row = NULL;
    bly_index_stat_t stat;
    terms t;
    bool fine = terms_open(&t, made->rule, made->k);
    question q = { .index = job->index.index, .terms = &t, .failed = !fine };

    bly_index_stat(&stat, q.index);
    q.documents = stat.documents;
    t.apart = true;
    for (size_t i = 0; i < job->patterns.count && !job->set->want.invert
                       && !q.failed; i++) {
        uint64_t *one = question_ask(&q, job->patterns.names[i], how->fixed,
                                     how->words || how->lines);

        row = i == 0 ? one : question_any(&q, row, one);
    }
    terms_close(&t);
    job->unasked = row == NULL;
    job->row = search_row(job, q.documents);
    if (job->row == NULL)
        q.failed = true;
    for (uint64_t i = 0; row != NULL && !q.failed && i < q.documents; i += 64)
        job->row[i / 64] &= row[i / 64];
    free(row);
    if (q.told)
        return CLI_ERROR;
    return q.failed ? report_no_memory()
                    : found_make(&job->found, q.index, job->row);
}

/* ==== Files ============================================================= */

/* The names of these documents' files, each once. They are of the index's and
 * end with no NUL there. */
static int search_names(search_job *job, const found_list *list)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++)
        n += list->all[i].document.length + 1;
    if (!bytes_room(&job->names, n))
        return report_no_memory();
    for (size_t i = 0; i < list->n; i++) {
        const bly_document *d = &list->all[i].document;
        char *name = (char *)job->names.data + job->names.to;

        if (i > 0 && found_order(d, &list->all[i - 1].document) == 0)
            continue;
        (void)!bytes_put(&job->names, d->name, d->length);
        (void)!bytes_put(&job->names, "", 1);
        if (!options_append(&job->changed, name))
            return report_no_memory();
    }
    job->all = job->changed;
    job->changed = (cli_operands){ NULL, 0 };
    return CLI_GO;
}

/* Those of all files that the index does not know as they are. */
static int search_sift(search_job *job)
{
    size_t n = job->all.count * sizeof *job->all.names;

    job->changed = (cli_operands){ malloc(n + 1), job->all.count };
    if (job->changed.names == NULL)
        return report_no_memory();
    if (n > 0)
        memcpy(job->changed.names, job->all.names, n);
    return earlier_sift(&job->index, &job->changed, job->set->known,
                        job->set->jobs);
}

/* Of an index of a list of files those are known, and no new ones. */
static int search_known(search_job *job)
{
    int status = found_make(&job->known, job->index.index, NULL);

    if (status == CLI_GO)
        status = search_names(job, &job->known);
    job->listed = job->all.names;
    return status == CLI_GO ? search_sift(job) : status;
}

/* All files that there are now, and those that the index does not know so. */
static int search_walk(const cli_command *self, search_job *job)
{
    const settings *made = &job->index.made;
    cli_how how = { .separator = -1 };

    if (made->paths.count == 0 && !made->recursive)
        return search_known(job);
    job->all = made->paths;
    job->inputs.recursive = made->recursive;
    job->inputs.git = made->git;
    if (inputs_take(self, &job->inputs, &how, &job->all, 0) != CLI_GO)
        return CLI_ERROR;
    inputs_sort(&job->all);
    return search_sift(job);
}

/* With --trust: files of all documents, or of those that may match where the
 * others print nothing. */
static int search_trusted(search_job *job)
{
    const select_want *want = &job->set->want;
    int status = CLI_GO;

    if (want->count || want->others)
        status = found_make(&job->known, job->index.index, NULL);
    if (status == CLI_GO)
        status = search_names(job, want->count || want->others ? &job->known
                                                               : &job->found);
    job->listed = job->all.names;
    return status;
}

/* Is the name, without its folders, one of these? */
static bool search_named(const cli_operands *globs, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;

    for (size_t i = 0; i < globs->count; i++)
        if (fnmatch(globs->names[i], name, 0) == 0)
            return true;
    return false;
}

static bool search_wants(const search_settings *set, const char *path)
{
    return (set->include.count == 0 || search_named(&set->include, path))
        && !search_named(&set->exclude, path);
}

/* A task for each file of which something is to be read or said. */
static int search_list(search_job *job)
{
    const select_want *want = &job->set->want;
    size_t at = 0, next = 0;

    job->tasks = calloc(job->all.count + 1, sizeof *job->tasks);
    if (job->tasks == NULL)
        return report_no_memory();
    for (size_t i = 0; i < job->all.count; i++) {
        const char *name = job->all.names[i];
        bool changed = next < job->changed.count
                    && strcmp(job->changed.names[next], name) == 0;
        size_t n = found_next(&job->found, &at, name);

        next += changed;
        if ((changed || n > 0 || want->count || want->others)
            && search_wants(job->set, name))
            job->tasks[job->n++] = (search_task){ name, job->found.all + at, n,
                                                  changed };
        at += n;
    }
    return CLI_GO;
}

/* ==== Printing, in the order of the files =============================== */

/* Bytes of the file whose turn it is; under the lock. */
static void search_print(search_job *job, cli_bytes *out)
{
    const select_want *want = &job->set->want;
    size_t n = bytes_waiting(out);

    if (n > 0) {
        if (!job->begun && job->printed && want->before + want->after > 0
            && !want->json)
            output_text(select_break(want));
        output_bytes(out->data + out->from, n);
        job->begun = job->printed = true;
    }
    bytes_free(out);
    if (output_failed())
        job->stop = true;
}

/* Much waits: print it when the file's turn has come. */
static void search_drain(search_job *job, size_t task, cli_bytes *out)
{
    if (bytes_waiting(out) < SEARCH_HELD)
        return;
    pthread_mutex_lock(&job->lock);
    while (job->turn != task)
        pthread_cond_wait(&job->moved, &job->lock);
    search_print(job, out);
    pthread_mutex_unlock(&job->lock);
}

/* A file is done with: print it, and those behind it that are, if it is its
 * turn. */
static void search_hand_in(search_job *job, size_t task, cli_bytes *out,
                           const search_counts *counts)
{
    search_place *place = &job->places[task % SEARCH_AHEAD];

    pthread_mutex_lock(&job->lock);
    *place = (search_place){ *out, true };
    *out = (cli_bytes){ .from = 0 };
    job->counts.files += counts->files;
    job->counts.false_files += counts->false_files;
    job->counts.bytes += counts->bytes;
    job->counts.selected += counts->selected;
    while ((place = &job->places[job->turn % SEARCH_AHEAD])->done) {
        search_print(job, &place->out);
        place->done = job->begun = false;
        job->turn++;
    }
    pthread_cond_broadcast(&job->moved);
    pthread_mutex_unlock(&job->lock);
}

/* The next task, once there is a place for what it prints; false: none. */
static bool search_take(search_job *job, size_t *task)
{
    if (job->stop || (*task = job->next++) >= job->n)
        return false;
    pthread_mutex_lock(&job->lock);
    while (*task >= job->turn + SEARCH_AHEAD)
        pthread_cond_wait(&job->moved, &job->lock);
    pthread_mutex_unlock(&job->lock);
    return true;
}

/* ==== Reading =========================================================== */

/* A thread's own. */
typedef struct {
    search_job   *job;
    size_t        task;         /* the number of it                          */
    text_reader   text;
    select_file   file;
    search_counts counts;       /* of the file                               */
} search_thread;

/* All of the file. */
static int search_whole(search_thread *t, int *error)
{
    int status = CLI_GO;
    text_block block;

    while (status == CLI_GO && !t->file.done && !t->job->stop
           && text_next(&t->text, &block, error)) {
        t->counts.bytes += block.n;
        status = select_block(&t->file, &block);
        search_drain(t->job, t->task, &t->file.out);
    }
    return status;
}

/* Those parts of it that may match, and what lies between them where lines
 * beside them are wanted. */
static int search_parts(search_thread *t, const search_task *task, int *error)
{
    size_t part = 0;
    int status = CLI_GO;
    text_block block;

    while (status == CLI_GO && !t->file.done && !t->job->stop
           && (part < task->n || t->file.after > 0)) {
        const settings_part *next = part < task->n ? &task->parts[part].part
                                                   : NULL;
        bool wanted;

        if (next != NULL && !select_waits(&t->file))
            (void)!text_seek(&t->text, next->offset, next->lines, next->binary);
        if (!text_next(&t->text, &block, error))
            break;
        t->counts.bytes += block.n;
        wanted = next != NULL && block.offset == next->offset;
        if (wanted || select_waits(&t->file))
            status = select_block(&t->file, &block);
        part += wanted;
        search_drain(t->job, t->task, &t->file.out);
    }
    return status;
}

/* False: there is nothing to read, and nothing to say of it. */
static bool search_open(search_thread *t, const search_task *task)
{
    search_job *job = t->job;
    int error = text_open(&t->text, task->name);

    if (error == 0)
        return job->self.st_ino != t->text.about.st_ino
            || job->self.st_dev != t->text.about.st_dev;
    if (job->listed != NULL && error == ENOENT)
        return false;
    job->unread = true;
    if (job->set->silent)
        return false;
    if (error == ESPIPE)
        report_error("'%s' is no ordinary file: make the index again without "
                     "it", task->name);
    else
        refuse_file(task->name, error);
    return false;
}

static int search_read(search_thread *t, const search_task *task)
{
    bool parts = !task->whole && t->text.stamp != 0
              && task->parts->part.stamp == t->text.stamp;
    int error = 0, status;

    t->counts.files = 1;
    status = parts ? search_parts(t, task, &error) : search_whole(t, &error);
    t->counts.false_files = t->file.selected == 0;
    if (status == CLI_GO && error != 0) {
        t->job->unread = true;
        if (t->job->set->silent)
            return status;
        if (error == EFBIG)
            report_error("'%s' has a line of more than 64 MiB: it is not "
                         "searched from there on", task->name);
        else
            refuse_file(task->name, error);
    }
    return status;
}

static int search_file(search_thread *t, const search_task *task)
{
    bool reads = task->whole || task->n > 0, said = true;
    int status = CLI_GO;

    t->counts = (search_counts){ 0 };
    select_begin(&t->file, task->name);
    if (reads) {
        said = search_open(t, task);
        if (said)
            status = search_read(t, task);
        text_close(&t->text);
    }
    if (status == CLI_GO && said && !t->file.refused && !t->job->stop)
        status = select_end(&t->file);
    if (t->file.refused)
        t->job->unread = true;
    t->counts.selected = t->file.selected;
    if (t->file.selected > 0) {
        t->job->any = true;
        if (t->job->set->want.quiet)
            t->job->stop = true;
    }
    return status;
}

static void *search_loop(void *argument)
{
    search_job *job = argument;
    search_thread t = { .job = job, .file.want = &job->set->want,
                        .text = { .block = (size_t)job->index.made.block,
                                  .plain = job->index.made.plain,
                                  .text = job->set->want.text, .fd = -1 } };

    t.file.match = match_share(job->match);
    if (t.file.match == NULL)
        job->failed = job->stop = report_no_memory() != CLI_GO;
    while (search_take(job, &t.task)) {
        if (search_file(&t, &job->tasks[t.task]) != CLI_GO)
            job->failed = job->stop = true;
        search_hand_in(job, t.task, &t.file.out, &t.counts);
    }
    select_begin(&t.file, NULL);
    match_close(t.file.match);
    free(t.text.bytes);
    return NULL;
}

/* ==== All of it ========================================================= */

static void search_stats(const search_job *job)
{
    const search_counts *c = &job->counts;
    bly_index_stat_t stat;

    bly_index_stat(&stat, job->index.index);
    if (!job->set->trust)
        report_note("files: %s; new or changed: %s",
                    report_count(job->all.count).text,
                    report_count(job->changed.count).text);
    report_note("documents: %s; candidates: %s; files read: %s, of them in "
                "vain: %s; read: %s; lines selected: %s",
                report_count(stat.documents).text,
                report_count(job->found.n).text, report_count(c->files).text,
                report_count(c->false_files).text, report_bytes(c->bytes).text,
                report_count(c->selected).text);
}

static int search_check(const search_job *job, const char *path)
{
    const settings *made = &job->index.made;
    const char *from = job->set->from;
    char *folder;
    int status = CLI_GO;

    if (from != NULL && chdir(from) < 0)
        return report_unread("go to", from, errno);
    folder = getcwd(NULL, 0);
    if (made->rule != TERMS_TRIGRAMS && made->rule != TERMS_WORDS)
        status = report_error("'%s' is by %s, of which no pattern says what a "
                              "match has: make an index by trigrams or words",
                              path, terms_name(made->rule));
    else if (folder == NULL)
        status = report_unread("name", ".", errno);
    else if (from == NULL)
        status = settings_here(path, made, job->index.index, folder);
    free(folder);
    return status;
}

static void search_threads(search_job *job)
{
    size_t jobs = text_jobs(job->set->jobs);

    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->moved, NULL);
    work_threads(jobs < job->n ? jobs : job->n, search_loop, job);
    pthread_cond_destroy(&job->moved);
    pthread_mutex_destroy(&job->lock);
}

static int search_run_index(const cli_command *self, search_job *job,
                            const char *path)
{
    int status;

    if (stat(path, &job->self) < 0)
        job->self.st_ino = 0;
    status = search_check(job, path);
    if (status == CLI_GO) {
        job->match = match_open(&job->patterns, &job->set->want.how);
        status = job->match == NULL ? CLI_ERROR : CLI_GO;
    }
    if (status == CLI_GO && !job->set->trust)
        status = search_walk(self, job);
    if (status == CLI_GO)
        status = search_ask(job);
    if (status == CLI_GO && job->set->trust)
        status = search_trusted(job);
    if (status == CLI_GO)
        status = search_list(job);
    if (status != CLI_GO)
        return CLI_ERROR;
    if (job->unasked && !job->set->want.invert
        && (job->set->stats || isatty(STDERR_FILENO)))
        report_note("no text that each match must have is known: all files are "
                    "read%s", job->set->want.how.fixed ? ""
                    : " (-F takes a pattern as a text)");
    search_threads(job);
    if (job->set->stats)
        search_stats(job);
    if (job->set->want.quiet && job->any)
        return CLI_OK;
    return job->failed || job->unread ? CLI_ERROR
         : job->any ? CLI_OK : CLI_NONE;
}

static void search_free(search_job *job)
{
    inputs_end(&job->inputs, false);
    free(job->listed);
    free(job->changed.names);
    bytes_free(&job->names);
    free(job->row);
    free(job->found.all);
    free(job->known.all);
    free(job->tasks);
    free(job->patterns.names);
    for (size_t i = 0; i < job->texts.count; i++)
        free(job->texts.names[i]);
    free(job->texts.names);
    for (size_t i = 0; i < SEARCH_AHEAD; i++)
        bytes_free(&job->places[i].out);
    match_close(job->match);
    if (job->index.index != NULL)
        free(job->index.made.paths.names);
    bly_index_free(job->index.index);
    free(job->index.stays);
}

/* ==== Options =========================================================== */

static int search_settle(const cli_command *self, search_settings *s)
{
    select_want *want = &s->want;

    if (want->files + want->others + want->count + want->quiet > 1)
        return options_wrong(self, "-l, -L, -c and -q exclude each other");
    if (want->before == 0)
        want->before = s->beside;
    if (want->after == 0)
        want->after = s->beside;
    if (want->only && want->before + want->after > 0)
        return options_wrong(self, "-o prints no lines: it excludes -A, -B and "
                                   "-C");
    if (want->json && (want->null || want->nameless))
        return options_wrong(self, "--json excludes -Z and --no-filename");
    if (s->trust && s->known)
        return options_wrong(self, "--trust and --trust-known exclude each "
                                   "other");
    if (s->color == NULL || strcmp(s->color, "auto") == 0)
        want->color = report_colors(STDOUT_FILENO);
    else if (strcmp(s->color, "always") == 0)
        want->color = true;
    else if (strcmp(s->color, "never") != 0)
        return options_wrong(self, "--color is always, never or auto");
    if (want->files || want->others || want->count || want->quiet)
        want->before = want->after = 0;
    return CLI_GO;
}

static int search_run_settled(const cli_command *self, search_settings *s,
                              const cli_operands *operands)
{
    search_job job = { .set = s };
    bool given = s->patterns.count + s->files.count > 0;
    int status = search_settle(self, s);

    if (status != CLI_GO)
        return status;
    if (operands->count != (given ? 1 : 2))
        return options_wrong(self, given ? "with -e or -f it takes an INDEX "
                                           "only"
                                         : "it takes an INDEX and a PATTERN");
    status = search_patterns(&job, given ? NULL : operands->names[1]);
    if (status == CLI_GO) {
        job.index.index = settings_open(operands->names[0], &job.index.made);
        status = job.index.index == NULL ? CLI_ERROR
               : search_run_index(self, &job, operands->names[0]);
    }
    search_free(&job);
    return status;
}

static int search_run(const cli_command *self, int argc, char **argv)
{
    search_settings s = { .want.most = UINT64_MAX };
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status == CLI_GO)
        status = search_run_settled(self, &s, &operands);
    free(s.patterns.names);
    free(s.files.names);
    free(s.include.names);
    free(s.exclude.names);
    return status;
}

const cli_command cmd_search = {
    .name = "search",
    .operands = "INDEX PATTERN",
    .summary = "search files for lines that match, by their index",
    .text =
        "Prints the lines that match, as 'grep -r' does, in the order of the "
        "files' names, but reads only the files, and parts of files, that may "
        "have a match: 'bloomery index' knows which texts of three bytes, or "
        "which words, each has. A file that is new or has changed since is "
        "searched always, and one that is gone is not. Of an index that was "
        "made of a list of files (--files0-from) new ones are not known.\n\n"
        "PATTERN is a regular expression of PCRE2, over bytes: a dot is one "
        "byte, and letters are those of ASCII, as in 'LC_ALL=C grep -P'. Where "
        "nothing is known that a match must have (as for '[0-9]+', or of an "
        "index by words where no whole word is in it) all files are read; "
        "--stats says so.\n\n"
        "Compressed files are searched as what they hold, unless the index was "
        "made with --no-decompress. Of a file with a NUL in it, from the part "
        "on that has it (--block), no lines are printed, and a note says that "
        "it has a match. A line of more than 64 MiB ends at a NUL in it, or "
        "the file is searched up to it, which is an error.",
    .options = search_options,
    .examples = search_examples,
    .status = "0 if a line was selected; 1 if none was; 2 after an error, also "
              "where a file could not be read.",
    .run = search_run,
};
