/* ask.c - shared by `query`, `count` and `get`: looks up the key of each line.
 *
 * All threads split lines, hash keys, query filters and select lines of their
 * chunk; the selected lines are printed in input order. Lines that are printed
 * unchanged move to the front of the chunk; lines with a prefix are written to
 * a buffer. Before a read that may wait for a slow writer, all results so far
 * are printed. If there are several filters, each is queried for all keys.
 */
#include "bloomery/command.h"
#include "frame/bytes.h"
#include "frame/headers.h"
#include "frame/json.h"
#include "frame/measure.h"
#include "frame/options.h"
#include "frame/output.h"
#include "frame/progress.h"
#include "frame/refuse.h"
#include "frame/strange.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A worker's chunk: answers about its keys, and the lines to print. */
typedef struct {
    ask_tally tally;
    ask_text  text;             /* for unchanged lines only its length, at
                                   the front of the chunk */
    bool      there[BATCHES_MOST];
    uint64_t  numbers[BATCHES_MOST];
    bool     *rows;             /* for several filters: job->rows answers
                                   per batch (ask_number_rows)               */
    uint64_t *each_there;       /* and the number of keys in each */
    uint16_t *levels;           /* for keys that lie within others: of each
                                   filter, as by bly_nested_find             */
    bool      open;             /* a filter is missing: any key may be there */
} ask_own;

/* ==== A chunk, in any thread ============================================ */

static bool ask_prints(const ask_settings *s)
{
    return !s->count && !s->quiet && !s->summary && !s->json;
}

/* Usually there is only one filter. */
static bool ask_many(const ask_job *job)
{
    return job->n > 1;
}

static bool *ask_row(const ask_job *job, const ask_own *own, size_t f)
{
    return own->rows + job->places[f].row * BATCHES_MOST;
}

/* Looks up a batch in filter number f. */
static void ask_filter(const ask_job *job, const cli_batch *b, ask_own *own,
                       size_t f, bool *there)
{
    const bly_keys keys = { .n = b->n, .keys = b->keys };
    uint16_t *levels;

    if (own->levels == NULL) {
        job->how->ask(job->filters[f], &keys, there, own->numbers);
        return;
    }
    levels = own->levels + f * BATCHES_MOST;
    bly_nested_find(job->filters[f], job->want.how.form, b->keys, b->n, levels);
    for (size_t i = 0; i < b->n; i++)
        there[i] = levels[i] != BLY_NESTED_NONE;
}

/* Returns whether the key, or something that it lies within, is in the list of
 * --verify-with. *level becomes that of the innermost such entry. */
static bool ask_is_listed(ask_job *job, bly_key key, uint16_t *level)
{
    uint64_t form = job->want.how.form;
    char room[BLY_NESTED_TEXT];

    if (!bly_form_nests(form))
        return listed_has(&job->list, key);
    for (unsigned at = bly_nested_level(form, key) + 1; at-- > 0; ) {
        bly_key entry = bly_nested_entry(form, key, at, room);

        *level = (uint16_t)at;
        if (entry.data != NULL && listed_has(&job->list, entry))
            return true;
    }
    *level = BLY_NESTED_NONE;
    return false;
}

/* Keeps the keys that are listed. */
static void ask_verify(ask_job *job, const cli_batch *b, ask_own *own)
{
    uint16_t none = 0;

    for (size_t i = 0; i < b->n; i++) {
        uint16_t *level = own->levels != NULL ? &own->levels[i] : &none;

        if (!own->there[i] || b->keys[i].data == NULL)
            continue;
        own->there[i] = ask_is_listed(job, b->keys[i], level);
        own->tally.keys.unlisted += !own->there[i];
    }
}

/* Combines the answers of filter number f with those of the filters before it.
 * Without a filter, any key may be there. */
static void ask_join(const ask_job *job, const cli_batch *b, ask_own *own,
                     size_t f)
{
    bool *row = ask_row(job, own, f);

    if (job->filters[f] == NULL) {
        for (size_t i = 0; !own->open && i < b->n; i++)
            row[i] = b->keys[i].data != NULL;
        own->each_there[f] += b->n - b->keyless;
        own->open = true;
        return;
    }
    ask_filter(job, b, own, f, row);
    for (size_t i = 0; i < b->n; i++) {
        row[i] &= b->keys[i].data != NULL;
        own->each_there[f] += row[i];
        own->there[i] = job->want.all ? (own->there[i] & row[i]) != 0
                                      : (own->there[i] | row[i]) != 0;
    }
}

static void ask_several(const ask_job *job, const cli_batch *b, ask_own *own)
{
    memset(own->there, job->want.all, b->n);
    own->open = false;
    for (size_t f = 0; f < job->n; f++)
        ask_join(job, b, own, f);
    if (own->open && !job->want.all)
        memset(own->there, true, b->n);
}

/* An empty file contains no key. */
static void ask_one(const ask_job *job, const cli_batch *b, ask_own *own)
{
    if (job->n > 0 && job->filters[0] != NULL)
        ask_filter(job, b, own, 0, own->there);
    else
        memset(own->there, job->n > 0, b->n);
}

/* Skipped lines, and those whose key cannot be read, are not selected, even
 * with -v: such a key may be in the filter. */
static void ask_skip(const ask_job *job, const cli_batch *b, ask_own *own)
{
    for (size_t i = 0; i < b->n; i++)
        if ((b->skips && b->skipped[i]) || (b->unreads && b->unread[i])) {
            own->there[i] = job->want.invert;
            own->tally.keys.selected -= job->want.invert;
        }
}

static void ask_filters(ask_job *job, const cli_batch *b, ask_own *own)
{
    if (own->levels != NULL)            /* BLY_NESTED_NONE                   */
        memset(own->levels, 0xFF, job->n * BATCHES_MOST * sizeof *own->levels);
    if (ask_many(job))
        ask_several(job, b, own);
    else
        ask_one(job, b, own);
    if (job->want.list != NULL)
        ask_verify(job, b, own);
    for (size_t i = 0; i < b->n; i++) {
        own->there[i] &= b->keys[i].data != NULL;
        own->tally.keys.there += own->there[i];
        own->tally.keys.selected += own->there[i] != job->want.invert;
    }
    if (b->skips || b->unreads)
        ask_skip(job, b, own);
    own->tally.keys.asked += b->n - b->keyless;
    own->tally.keys.keyless += b->lacking;
    own->tally.keys.lines += b->n;
    own->tally.groupless += digests_groupless(job, b);
    if (own->tally.letters < DIGESTS_OTHER)
        own->tally.letters |= digests_letters(b);
}

/* ---- Unchanged lines ---------------------------------------------------- */

/* Moves lines `from` to `to` of the batch, which are adjacent, to the end of
 * the selected lines, at or before their own place. */
static void ask_move(cli_worker *w, size_t from, size_t to)
{
    ask_own *own = w->own;
    const bly_key *lines = w->batch->lines, *last = &lines[to - 1];
    const unsigned char *first = lines[from].data;
    const unsigned char *end = (const unsigned char *)last->data + last->length;

    memmove(w->chunk.block + own->text.length, first, (size_t)(end - first));
    own->text.length += (size_t)(end - first);
}

static void ask_select(const ask_job *job, cli_worker *w)
{
    const ask_own *own = w->own;
    size_t n = w->batch->n, from, to;

    for (from = 0; from < n; from = to) {
        bool selected = own->there[from] != job->want.invert;

        for (to = from + 1; to < n; to++)
            if ((own->there[to] != job->want.invert) != selected)
                break;
        if (selected)
            ask_move(w, from, to);
    }
}

/* ---- Lines with a number before them ------------------------------------ */

/* Writes the number, a TAB and the line. */
static bool ask_write(ask_text *t, uint64_t number, bool bounded,
                      const bly_key *line)
{
    enum { LONGEST = 24 };

    if (!prefix_room(t, LONGEST + line->length))
        return false;
    t->length += (size_t)(bounded
        ? snprintf(t->bytes + t->length, LONGEST, "%" PRIu64 "\t", number)
        : snprintf(t->bytes + t->length, LONGEST, "?\t"));
    memcpy(t->bytes + t->length, line->data, line->length);
    t->length += line->length;
    return true;
}

static bool ask_select_numbers(const ask_job *job, cli_worker *w)
{
    bool counts = job->how->answer == ASK_COUNTS;
    bool prints = ask_prints(&job->want);
    ask_own *own = w->own;

    for (size_t i = 0; i < w->batch->n; i++) {
        uint64_t number = own->there[i] ? own->numbers[i] : 0;
        bool bounded = !counts || number < UINT64_MAX;
        bool shown = counts ? number >= job->want.least : own->there[i];

        own->tally.often += shown;
        own->tally.unbounded += !bounded;
        own->tally.sum += bounded ? number : 0;
        if (shown && prints
            && !ask_write(&own->text, number, bounded, &w->batch->lines[i]))
            return false;
    }
    return true;
}

/* ---- Lines with marks, names and numbers of lines ----------------------- */

static bool ask_select_prefixed(const ask_job *job, cli_worker *w)
{
    const ask_settings *s = &job->want;
    const cli_batch *b = w->batch;
    ask_own *own = w->own;
    size_t n = b->n;
    uint64_t before = own->tally.keys.lines - n;
    const bool *marks = ask_many(job) ? own->rows : own->there;
    ask_prefix p = { .form = job->want.how.form,
                     .filters = s->mark || s->groups ? job->n : 0,
                     .places = job->places, .groups = s->groups,
                     .name = s->names ? prefix_name(w->chunk.path) : NULL };

    for (size_t i = 0; i < n; i++) {
        if (s->mark ? b->skips && b->skipped[i] : own->there[i] == s->invert)
            continue;
        p.marks = marks + i;
        p.number = s->numbers ? before + i + 1 : 0;
        p.key = b->keys[i];
        p.unread = b->unreads && b->unread[i];
        p.levels = own->levels != NULL ? own->levels + i : NULL;
        if (!prefix_line(&own->text, &p, &b->lines[i]))
            return false;
    }
    return true;
}

/* ---- All lines ---------------------------------------------------------- */

static bool ask_begin(const ask_job *job, ask_own *own)
{
    size_t n = job->n;

    own->tally = (ask_tally){ .sum = 0 };
    prefix_clear(&own->text);
    if (bly_form_nests(job->want.how.form) && own->levels == NULL
        && !bytes_grow(&own->levels, n + 1, BATCHES_MOST * sizeof *own->levels))
        return false;
    if (!ask_many(job))
        return true;
    if (own->rows == NULL && !bytes_grow(&own->rows, job->rows, BATCHES_MOST))
        return false;
    if (own->each_there == NULL
        && !bytes_grow(&own->each_there, n, sizeof *own->each_there))
        return false;
    memset(own->each_there, 0, n * sizeof *own->each_there);
    return true;
}

static bool ask_batch(const ask_job *job, cli_worker *w)
{
    if (job->how->answer != ASK_LINES)
        return ask_select_numbers(job, w);
    if (!ask_prints(&job->want))
        return true;
    if (prefix_wanted(&job->want))
        return ask_select_prefixed(job, w);
    ask_select(job, w);
    return true;
}

static bool ask_work(void *argument, cli_worker *w)
{
    ask_job *job = argument;
    ask_own *own = w->own;

    if (!ask_begin(job, own))
        return false;
    for (size_t at = 0; batches_split(w->lines, &w->chunk, &at, w->batch); ) {
        ask_filters(job, w->batch, own);
        if (!ask_batch(job, w))
            return false;
    }
    return true;
}

static void ask_clean(void *argument)
{
    ask_own *own = argument;

    prefix_free(&own->text);
    free(own->rows);
    free(own->each_there);
    free(own->levels);
}

/* ==== A chunk, in its turn ============================================== */

/* Returns false if output failed. */
static bool ask_print(ask_job *job, const cli_worker *w)
{
    const ask_own *own = w->own;
    const ask_text *t = &own->text;
    char terminator = job->want.how.null ? '\0' : '\n';
    bool printed;

    if (prefix_wanted(&job->want))
        printed = prefix_print(t, job->file.lines + job->lines.how.header,
                               terminator, &job->unended);
    else
        printed = output_lines(job->how->answer == ASK_LINES
                               ? (const void *)w->chunk.block : t->bytes,
                               t->length, terminator, &job->unended);
    return printed
        && ((!w->chunk.idle && !job->want.buffered) || output_flush());
}

static void ask_add_up(ask_tally *sum, const ask_tally *more)
{
    sum->keys.asked += more->keys.asked;
    sum->keys.there += more->keys.there;
    sum->keys.selected += more->keys.selected;
    sum->keys.keyless += more->keys.keyless;
    sum->keys.lines += more->keys.lines;
    sum->keys.unlisted += more->keys.unlisted;
    sum->often += more->often;
    sum->groupless += more->groupless;
    sum->letters |= more->letters;
    sum->unbounded += more->unbounded;
    sum->sum += more->sum;
}

/* Adds the results of a chunk to the totals, and to those of its file. */
static void ask_sum(ask_job *job, const ask_own *own)
{
    ask_add_up(&job->tally, &own->tally);
    for (size_t f = 0; ask_many(job) && f < job->n; f++)
        job->there[f] += own->each_there[f];
    job->file.lines += own->tally.keys.lines;
    job->file.selected += own->tally.keys.selected;
}

static int ask_commit(void *argument, cli_worker *w)
{
    ask_job *job = argument;
    const ask_own *own = w->own;
    bool printed;

    prefix_file(job, w->chunk.path);
    if (w->failed || w->chunk.error == ENOMEM)
        return report_no_memory();
    if (w->chunk.error != 0) {          /* the other files are still read */
        refuse_chunk(&w->chunk);
        job->failed = job->file.failed = true;
        return CLI_GO;
    }
    if (damage_seen())
        return CLI_ERROR;
    printed = ask_print(job, w);
    ask_sum(job, own);
    damage_asked(job->tally.keys.asked, w->chunk.idle && job->streams);
    progress_at(w->chunk.bytes);
    if (job->want.quiet && job->tally.keys.selected > 0)
        return CLI_OK;
    return printed ? CLI_GO : CLI_ERROR;
}

/* ==== Running =========================================================== */

/* With -q, one thread is used for pipes: another thread might wait for more
 * input although the first selected line ends the job. */
static size_t ask_jobs(const ask_job *job)
{
    return job->want.quiet && job->streams ? 1 : work_jobs(job->want.jobs);
}

static int ask_lines(ask_job *job)
{
    static const cli_work work = { sizeof(ask_own), ask_work, ask_commit,
                                   ask_clean };
    int status = work_run(&job->lines, &work, job, ask_jobs(job));

    job->stopped = status == CLI_ERROR;
    if (status != CLI_GO)
        return status;
    prefix_file(job, NULL);
    if (job->failed)
        return CLI_ERROR;
    if (job->want.least > 0)
        return job->tally.often > 0 ? CLI_OK : CLI_NONE;
    return job->tally.keys.selected > 0 ? CLI_OK : CLI_NONE;
}

/* Lines without a key are fine, unless all lines lack it. But a key that could
 * not be read by the form was not looked up, although it may be there. A note
 * has named the line (lines.c), and the exit status must not be that of
 * "certainly not". */
static int ask_keyless(const ask_job *job, int status)
{
    bool unread = strange_lost();

    if (status != CLI_ERROR
        && report_some(job->tally.keys.asked, job->tally.keys.keyless)
               == CLI_ERROR)
        return CLI_ERROR;
    return unread && !(job->want.quiet && status == CLI_OK) ? CLI_ERROR
                                                            : status;
}

int ask_run(ask_job *job)
{
    double start = report_clock();
    uint64_t total;
    int status;

    lines_open(&job->lines, &job->want.how, &job->operands, job->want.first,
               true);
    if (ask_prints(&job->want) && !job->want.names && !job->want.numbers)
        headers_print(&job->lines, job->want.mark ? "mark\t" : job->how->words);
    total = measure_progress(&job->lines);
    job->streams = total == 0;
    progress_start(job->how->doing, total,
                   !job->want.no_progress
                   && (!ask_prints(&job->want) || progress_apart()));
    status = ask_lines(job);
    progress_close();
    status = ask_keyless(job, status);
    if (job->want.list != NULL && listed_verdict(&job->list) != CLI_GO)
        status = CLI_ERROR;
    lines_close(&job->lines);
    job->seconds = report_clock() - start;
    return damage_verdict(job->filters, job->n, status);
}

/* ==== Options and operands ============================================== */

/* Refuses an output that is a filter's file, and lines that would be written to
 * the keys' file. */
static int ask_check_output(const ask_settings *want,
                            const cli_operands *operands)
{
    int status = output_check_inputs(want->asked.names, want->asked.count);

    return status == CLI_GO && ask_prints(want)
         ? output_check_inputs(operands->names + want->first,
                               operands->count - want->first)
         : status;
}

/* Refuses more than one input from standard input. */
static int ask_check_stdin(const cli_command *self, const ask_settings *want,
                           const cli_operands *operands)
{
    size_t n = 0;

    for (size_t i = 0; i < want->asked.count; i++)
        n += strcmp(want->asked.names[i], "-") == 0;
    if (n > 1)
        return options_wrong(self, "only one filter can be read from standard "
                                   "input");
    if (n > 0 && inputs_stdin(&want->inputs, operands, want->first))
        return options_wrong(self, "the filter and the keys cannot both be "
                                   "read from standard input");
    return CLI_GO;
}

/* Splits the operands into filters and files. */
static int ask_operands(const cli_command *self, ask_settings *want,
                        cli_operands *operands)
{
    want->first = want->filters.count == 0;
    if (operands->count < want->first)
        return options_wrong(self, "the FILE to query is missing");
    if (inputs_take(self, &want->inputs, &want->how, operands, want->first)
        != CLI_GO)
        return CLI_ERROR;
    want->asked = want->first ? (cli_operands){ operands->names, 1 }
                              : want->filters;
    if (ask_check_stdin(self, want, operands) != CLI_GO)
        return CLI_ERROR;
    return ask_check_output(want, operands);
}

/* Returns whether the file is or contains a filter; true if that is unknown. */
static bool ask_is_filter(const char *path)
{
    bly_filter *filter;
    bly_status status;

    if (container_is(path))
        return true;
    status = bly_open(&filter, path, BLY_MAP, format_how());
    if (status < 0)
        return status != BLY_EFORMAT;
    bly_free(filter);
    return true;
}

/* Refuses a filter in the place of the first KEYS. CLI_GO or CLI_ERROR. */
static int ask_check_keys(const cli_command *self, const ask_settings *want,
                          const cli_operands *operands)
{
    bly_header header;
    const char *file, *keys;

    if (!want->first || operands->count < 2 || want->inputs.recursive
        || want->how.text || want->format != NULL
        || !filter_is_file(operands->names[0])
        || !filter_peek(&header, operands->names[1]))
        return CLI_GO;
    file = operands->names[0];
    keys = operands->names[1];
    if (!ask_is_filter(file))
        return report_error("'%s' is not a filter, but '%s' is: put the filter "
                            "first", file, keys);
    if (strcmp(self->name, "query") != 0 || output_same(file, keys))
        return CLI_GO;
    return report_error("'%s' is a filter, not a file of keys: to query "
                        "several filters, use -F %s -F %s", keys, file, keys);
}

static int ask_options(const cli_command *self, int argc, char **argv,
                       ask_job *job)
{
    ask_settings *want = &job->want;
    int status;

    want->how = (cli_how)CLI_HOW_UNSAID;
    want->how.nests = job->how->answer == ASK_LINES;
    status = options_read(self, argc, argv, want, &job->operands);
    if (status == CLI_GO)
        status = how_check(self, &want->how);
    if (status == CLI_GO)
        status = ask_operands(self, want, &job->operands);
    if (status == CLI_GO)
        status = filter_how_read(want->key_file, want->format,
                                 want->unpack_limit);
    if (status == CLI_GO)
        status = ask_check_keys(self, want, &job->operands);
    return status;
}

/* ==== Opening ============================================================ */

/* Makes room for so many more filters. */
static bool ask_room(ask_job *job, size_t more)
{
    size_t room = job->n + more;

    if (room <= job->room)
        return true;
    if (!bytes_grow(&job->filters, room, sizeof *job->filters)
        || !bytes_grow(&job->places, room, sizeof *job->places)
        || !bytes_grow(&job->there, room, sizeof *job->there)) {
        report_no_memory();
        return false;
    }
    job->room = room;
    return true;
}

static void ask_append(ask_job *job, bly_filter *filter, const char *path,
                       const char *group, uint64_t number)
{
    job->filters[job->n] = filter;
    job->there[job->n] = 0;
    job->places[job->n++] = (ask_place){ path, job->files, group, number, 0 };
}

/* Verifies that the keys of another file have the form of the files before it:
 * each key is made once, for all of them. */
static int ask_form(ask_job *job, uint64_t form, const char *path)
{
    if (job->form_of == NULL) {
        job->form_of = path;
        job->form = form;
    }
    return forms_join(&job->form, job->form_of, form, path,
                      job->want.assume);
}

/* Opens all filters inside a file, which also tells the type of its keys. */
static int ask_open_inside(ask_job *job, const char *path)
{
    cli_inside inside;
    int status = container_read(&inside, path, job->want.column,
                                job->want.how.as);

    job->inside = true;
    if (status == CLI_GO && !ask_room(job, inside.n))
        status = CLI_ERROR;
    if (status == CLI_GO) {
        for (size_t i = 0; i < inside.n; i++)
            ask_append(job, inside.filters[i], path, inside.group,
                       inside.numbers[i]);
        status = ask_form(job, inside.as != FORMS_UNSAID ? inside.as
                                                         : BLY_KEYS_UNSTATED,
                          path);
        inside.n = 0;
    }
    container_close(&inside);
    return status;
}

static int ask_open_file(ask_job *job, const char *path)
{
    bly_filter *filter;

    if (job->how->answer == ASK_LINES && container_is(path))
        return ask_open_inside(job, path);
    if (!ask_room(job, 1))
        return CLI_ERROR;
    filter = damage_open(path, &job->want.verify, job->want.paged);
    if (filter == NULL)
        return CLI_ERROR;
    ask_append(job, filter, path, NULL, 0);
    return ask_form(job, bly_form_of(filter), path);
}

/* Verifies that options and files fit each other. */
static int ask_check_inside(const cli_command *self, const ask_job *job)
{
    const ask_settings *s = &job->want;

    if (!job->inside && (s->column != NULL || s->groups))
        return options_wrong(self, "--column and --groups are for files that "
                                   "contain several filters, and no FILE does");
    if (job->inside && s->all)
        return options_wrong(self, "--all requires a key to be in every "
                                   "filter, but a FILE has one filter for each "
                                   "part of its keys: leave --all out");
    if (s->groups && s->asked.count > 1)
        return options_wrong(self, "--groups takes exactly one FILE");
    return CLI_GO;
}

/* Numbers the rows of answers for several filters. Row 0 tells which lines have
 * a key, and is the answer where there is no filter. If marks or groups are
 * printed, each filter has a row of its own; otherwise all of them share row
 * 1. */
static void ask_number_rows(ask_job *job)
{
    bool apart = job->want.mark || job->want.groups;

    job->rows = apart ? 1 : 2;
    for (size_t i = 0; ask_many(job) && i < job->n; i++)
        if (job->filters[i] != NULL)
            job->places[i].row = apart ? job->rows++ : 1;
}

/* Opens the list of --verify-with. The keys must be what its lines are. */
static int ask_open_list(const cli_command *self, ask_job *job)
{
    const ask_settings *s = &job->want;
    uint64_t class = s->how.form & BLY_FORM_CLASS;

    job->tally.keys.listed = true;
    if (class != BLY_KEYS_TEXT && !bly_form_nests(class))
        return options_wrong(self, "--verify-with is for keys that are text, "
                                   "domains, networks or paths");
    if (inputs_is_stdin(s->list))
        return options_wrong(self, "--verify-with cannot be standard input");
    return listed_open(&job->list, s->list, &s->how);
}

int ask_open(const cli_command *self, int argc, char **argv, ask_job *job)
{
    int status = ask_options(self, argc, argv, job);

    for (; status == CLI_GO && job->files < job->want.asked.count; job->files++)
        status = ask_open_file(job, job->want.asked.names[job->files]);
    if (status == CLI_GO)
        status = ask_check_inside(self, job);
    ask_number_rows(job);
    digests_find_groups(job);
    if (status == CLI_GO)
        status = forms_follow(&job->want.how, job->form, job->form_of);
    for (size_t i = 0; status == CLI_GO && i < job->n; i++)
        if (job->filters[i] != NULL)
            status = typed_check(job->filters[i], job->want.how.form,
                                 job->places[i].path);
    return status == CLI_GO && job->want.list != NULL
         ? ask_open_list(self, job) : status;
}

int ask_close(ask_job *job, int status)
{
    for (size_t i = 0; i < job->n; i++)
        bly_free(job->filters[i]);
    free(job->filters);
    free(job->places);
    free(job->there);
    if (job->list.path != NULL)
        listed_close(&job->list);
    inputs_end(&job->want.inputs, status != CLI_ERROR && !job->want.quiet);
    free(job->want.filters.names);
    return status;
}

/* ==== Numbers =========================================================== */

static void ask_json(const ask_job *job)
{
    const ask_tally *t = &job->tally;

    json_open_object(NULL);
    json_string("file", job->want.asked.names[0]);
    json_count("keys", t->keys.asked);
    json_count("present", t->keys.there);
    if (job->how->answer == ASK_COUNTS) {
        json_count("sum", t->sum);
        json_count("unbounded", t->unbounded);
        if (job->want.least > 0)
            json_count("at_least", t->often);
    }
    json_count("keyless", t->keys.keyless);
    json_real("seconds", job->seconds);
    json_real("keys_per_second", report_per_second(t->keys.asked,
                                                   job->seconds));
    json_close_object();
}

static int ask_run_numbers(ask_job *job, uint64_t ability, const char *lacks)
{
    int status;

    if (!filter_can(job->filters[0], ability))
        return filter_cannot(job->filters[0], job->want.asked.names[0], lacks,
                             ability);
    status = ask_run(job);
    if (damage_seen() || job->stopped)
        return status;
    digests_note(job);
    if (job->want.json)
        ask_json(job);
    return status;
}

int ask_numbers(const cli_command *self, const ask_how *how,
                uint64_t ability, const char *lacks, int argc, char **argv)
{
    ask_job job = { .how = how };
    int status = ask_open(self, argc, argv, &job);

    if (status == CLI_GO)
        status = ask_run_numbers(&job, ability, lacks);
    return ask_close(&job, status);
}
