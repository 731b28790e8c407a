/* scan.c - searches files with all threads, which take file after file. */
#include "search/regex/scan.h"
#include "frame/refuse.h"
#include "frame/work.h"

#include <errno.h>
#include <stdlib.h>

/* Bytes of the blocks where a file is read only to its first match: few at
 * first, then as many as are read fast, but stay in the cache. */
enum { SCAN_FIRST = 1 << 14, SCAN_MORE = 1 << 16 };

/* The state of a thread. */
typedef struct {
    scan         *scan;
    size_t        task;         /* its number                                */
    text_reader   text;
    select_file   file;
    turns_counts  counts;       /* of the file                               */
    bool          first;        /* only the first match matters              */
} scan_thread;

/* Takes the next task, once there is a place for its output. Returns false if
 * there is none. */
static bool scan_take(scan *s, size_t *task)
{
    if (s->turns.stop || (*task = s->next++) >= s->from->n)
        return false;
    turns_wait(&s->turns, *task);
    return true;
}

/* Sets the size of the next block: that of the index's, or `most` if it is less
 * and only the first match matters. Compressed files are still read as far as
 * an index's block, so that damage there is reported. */
static void scan_block(scan_thread *t, size_t most)
{
    const size_t block = (size_t)t->scan->from->index.made.block;

    t->text.block = t->first && !t->text.decoded && most < block ? most : block;
}

/* Reads the next block. Returns false if there is none. */
static bool scan_next(scan_thread *t, text_block *block, int *error)
{
    if (!text_next(&t->text, block, error))
        return false;
    scan_block(t, SCAN_MORE);
    t->counts.bytes += block->n;
    return true;
}

/* Searches all of the file. */
static int scan_whole(scan_thread *t, int *error)
{
    int status = CLI_GO;
    text_block block;

    while (status == CLI_GO && !t->file.done && !t->scan->turns.stop
           && scan_next(t, &block, error)) {
        status = select_block(&t->file, &block);
        turns_drain(&t->scan->turns, t->task, &t->file.out);
    }
    return status;
}

/* Returns the place behind a part of a file. */
static uint64_t scan_end(const settings_part *part)
{
    return part->offset + part->length;
}

/* Moves to a part, unless the last block ended in it. */
static void scan_seek(scan_thread *t, const settings_part *part)
{
    uint64_t at = text_at(&t->text);

    if (at < part->offset || at >= scan_end(part))
        (void)!text_seek(&t->text, part->offset, part->lines, part->binary);
}

/* Searches the parts of the file that may match and, if lines beside matches
 * are wanted, the bytes between them. */
static int scan_parts(scan_thread *t, const search_task *task, int *error)
{
    size_t part = 0;
    int status = CLI_GO;
    text_block block;

    while (status == CLI_GO && !t->file.done && !t->scan->turns.stop
           && (part < task->n || t->file.after > 0)) {
        const settings_part *next = part < task->n ? &task->parts[part].part
                                                   : NULL;

        if (next != NULL && !select_waits(&t->file))
            scan_seek(t, next);
        if (!scan_next(t, &block, error))
            break;
        if ((next != NULL && block.offset + block.n > next->offset)
            || select_waits(&t->file))
            status = select_block(&t->file, &block);
        while (part < task->n
               && block.offset + block.n >= scan_end(&task->parts[part].part))
            part++;
        turns_drain(&t->scan->turns, t->task, &t->file.out);
    }
    return status;
}

/* Opens the file. Returns false if there is nothing to read or to report. */
static bool scan_open(scan_thread *t, const search_task *task)
{
    scan *s = t->scan;
    int error = text_open(&t->text, task->name);

    scan_block(t, SCAN_FIRST);

    if (error == 0)
        return s->self.st_ino != t->text.about.st_ino
            || s->self.st_dev != t->text.about.st_dev;
    if (s->from->listed != NULL && error == ENOENT)
        return false;
    s->unread = true;
    if (s->set->silent)
        return false;
    if (error == ESPIPE)
        report_error("'%s' is not a regular file: make the index again without "
                     "it", task->name);
    else
        refuse_file(task->name, error);
    return false;
}

static int scan_read(scan_thread *t, const search_task *task)
{
    bool parts = !task->whole && t->text.stamp != 0
              && task->parts->part.stamp == t->text.stamp;
    int error = 0, status;

    t->counts.files = 1;
    t->counts.changed = !task->whole && !parts;
    status = parts ? scan_parts(t, task, &error) : scan_whole(t, &error);
    t->counts.false_files = t->file.selected == 0;
    if (status == CLI_GO && error != 0) {
        t->scan->unread = true;
        if (t->scan->set->silent)
            return status;
        if (error == EFBIG)
            report_error("'%s' has a line of more than 64 MiB: the rest of the "
                         "file was not searched", task->name);
        else
            refuse_file(task->name, error);
    }
    return status;
}

static int scan_file(scan_thread *t, const search_task *task)
{
    bool reads = task->whole || task->n > 0, said = true;
    int status = CLI_GO;

    t->counts = (turns_counts){ 0 };
    select_begin(&t->file, task->name);
    if (reads) {
        said = scan_open(t, task);
        if (said)
            status = scan_read(t, task);
        text_close(&t->text);
    }
    if (status == CLI_GO && said && !t->file.refused && !t->scan->turns.stop)
        status = select_end(&t->file);
    if (t->file.refused)
        t->scan->unread = true;
    t->counts.selected = t->file.selected;
    if (t->file.selected > 0) {
        t->scan->any = true;
        if (t->scan->set->want.quiet)
            t->scan->turns.stop = true;
    }
    return status;
}

static void *scan_loop(void *argument)
{
    scan *s = argument;
    const select_want *want = &s->set->want;
    scan_thread t = { .scan = s, .file.want = want,
                        .first = want->files || want->others || want->quiet,
                        .text = { .plain = s->from->index.made.plain,
                                  .text = want->text,
                                  .numbers = select_counts(want), .fd = -1 } };

    t.file.match = match_share(s->match);
    if (t.file.match == NULL)
        s->failed = s->turns.stop = report_no_memory() != CLI_GO;
    while (scan_take(s, &t.task)) {
        if (scan_file(&t, &s->from->tasks[t.task]) != CLI_GO)
            s->failed = s->turns.stop = true;
        turns_hand_in(&s->turns, t.task, &t.file.out, &t.counts);
    }
    select_begin(&t.file, NULL);
    match_close(t.file.match);
    free(t.text.bytes);
    return NULL;
}

void scan_run(scan *s)
{
    size_t jobs = text_jobs(s->set->jobs);

    work_threads(jobs < s->from->n ? jobs : s->from->n, scan_loop, s);
}
