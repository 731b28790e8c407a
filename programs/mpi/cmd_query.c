/* cmd_query.c - `bloomery-mpi query`: prints lines whose key may be present.
 *
 * The text is handled in rounds with one slice for each rank, so that selected
 * lines are printed in input order and no rank holds more than a slice:
 *
 *     text     | 0 | 1 | 2 | 3 | 0 | 1 | 2 | 3 | 0 | 1 | 2 | 3 |
 *              |--- round 0 ---|--- round 1 ---|--- round 2 ---|
 *
 * If the filter's keys are local (part.c), each rank answers for its part of
 * the filter only. Hashes are sent to their owners and answers return as bits.
 * Each rank maps the file but touches only its own pages, so the filter may be
 * as large as the memory of all machines together. For other kinds, each rank
 * queries the whole filter itself.
 *
 *     rank r   lines -> hashes -- 8 bytes a key --> owner
 *              lines <- selected <- 1 bit a key --- looks it up
 */
#include "mpi/cluster.h"
#include "frame/options.h"
#include "frame/output.h"

#include <bloomery/parts.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    cli_how how;
    bool    invert, count, quiet, summary, json;
    const char *key_file;
    uint64_t    unpack_limit;
    cli_verify verify;
} query_settings;

/* A line of the slice: its end, and the owner of its key. */
typedef struct {
    uint64_t end;
    int      owner;                     /* of its key, or: */
} query_line;

enum { QUERY_KEYLESS = -1, QUERY_SKIPPED = -2 };

typedef struct {
    query_settings *want;
    const char   *file;
    bly_filter   *filter;
    bool          local;
    part_map      parts;                /* if keys are local                */
    share         text;
    share_reader *reader;
    job_bytes     slice, lines;         /* text, and its query_line entries */
    job_bytes     answers, selected;
    part_mail     hashes, bits;
    cli_asked     tally;
    bool          unended;              /* the last line has no newline      */
} query_job;

static const cli_option query_options[] = {
    { 'v', "invert-match", NULL, CLI_FLAG, offsetof(query_settings, invert),
      false, "Select the lines whose key is certainly not in FILE." },
    { 'c', "count", NULL, CLI_FLAG, offsetof(query_settings, count), false,
      "Print only the number of selected lines.",
      .group = CLI_OUTPUT },
    { 'q', "quiet", NULL, CLI_FLAG, offsetof(query_settings, quiet), false,
      "Print nothing and stop after the first round in which a line was "
      "selected.",
      .group = CLI_OUTPUT },
    { 'S', "summary", NULL, CLI_FLAG, offsetof(query_settings, summary), false,
      "Print only a summary: keys, the share that is perhaps present with its "
      "95 % interval, the speed, and the bytes that ranks sent.",
      .excludes = "invert-match count quiet",
      .group = CLI_OUTPUT },
    { 0, "json", NULL, CLI_FLAG, offsetof(query_settings, json), false,
      "Print the summary as a JSON object.",
      .excludes = "invert-match count quiet",
      .group = CLI_OUTPUT },
    CLI_HOW_OPTIONS(query_settings, how),
    CLI_SECRET_OPTION(query_settings, key_file),
    CLI_UNPACK_OPTION(query_settings, unpack_limit),
    CLI_VERIFY_OPTIONS(query_settings, verify),
    { 0 }
};

static const cli_example query_examples[] = {
    { "mpirun -n 4 bloomery-mpi query words.bly *.txt",
      "Print the lines of all files that are perhaps in words.bly." },
    { "mpirun -n 64 bloomery-mpi query -c all.bly huge.txt",
      "Count them, with a filter larger than the memory of a machine." },
    { NULL, NULL }
};

/* ==== A slice =========================================================== */

/* Hashes the batch, into the owners' messages or, if the filter is not divided,
 * into this rank's own. */
static void query_post(query_job *job, const cli_batch *b)
{
    uint64_t hashes[BATCHES_MOST], places[BATCHES_MOST];
    query_line *lines = (query_line *)(void *)
                        exchange_extend(&job->lines, b->n * sizeof *lines);
    const unsigned char *begin = b->lines[0].data;
    uint64_t before = job->slice.n;
    size_t block;

    for (size_t i = 0; i < b->n; i++)
        hashes[i] = b->keys[i].data == NULL ? 0
                  : bly_hash(job->filter, b->keys[i].data, b->keys[i].length);
    if (job->local)
        bly_places(job->filter, hashes, b->n, places, &block);
    for (size_t i = 0; i < b->n; i++) {
        const unsigned char *line = b->lines[i].data;

        lines[i].end = before + (uint64_t)(line - begin) + b->lines[i].length;
        lines[i].owner = b->keys[i].data == NULL
                       ? b->skips && b->skipped[i] ? QUERY_SKIPPED
                                                   : QUERY_KEYLESS
                       : job->local ? part_owner(&job->parts, places[i])
                       : job_rank;
        if (lines[i].owner >= 0)
            memcpy(exchange_extend(&job->hashes.to[lines[i].owner],
                              sizeof hashes[i]), &hashes[i], sizeof hashes[i]);
    }
    job->tally.asked += b->n - b->keyless;
    job->tally.keyless += b->lacking;
}

/* Reads all lines whose first byte is in [from, to). */
static int query_read(query_job *job, uint64_t from, uint64_t to)
{
    int status = share_begin(&job->text, from, to);

    while (status == CLI_GO) {
        const cli_batch *b = &job->reader->batch;
        const bly_key *last;
        size_t n;

        status = share_batch(&job->text, job->reader);
        if (status != CLI_GO)
            break;
        query_post(job, b);
        last = &b->lines[b->n - 1];     /* lines are adjacent */
        n = (size_t)((const unsigned char *)last->data + last->length
                     - (const unsigned char *)b->lines[0].data);
        memcpy(exchange_extend(&job->slice, n), b->lines[0].data, n);
    }
    return status == CLI_OK ? CLI_GO : status;
}

static void query_empty(query_job *job)
{
    job->slice.n = job->lines.n = job->selected.n = 0;
    part_mail_empty(&job->hashes);
    part_mail_empty(&job->bits);
}

/* ==== Answers =========================================================== */

/* Appends one bit for each of the n hashes, in order. */
static void query_answer(query_job *job, const uint64_t *hashes, size_t n,
                         job_bytes *bits)
{
    unsigned char *to = exchange_extend(bits, (n + 7) / 8);
    bool *present;

    job->answers.n = 0;
    present = (bool *)exchange_extend(&job->answers, n);
    bly_contains_hashes(job->filter, hashes, n, present);
    for (size_t i = 0; i < n; i++) {
        if (i % 8 == 0)
            to[i / 8] = 0;
        to[i / 8] = (unsigned char)(to[i / 8] | present[i] << i % 8);
    }
}

/* Answers all hashes on this rank, for kinds without local keys. */
static void query_ask_here(query_job *job)
{
    const job_bytes *mine = &job->hashes.to[job_rank];
    const uint64_t *hashes = (const uint64_t *)(const void *)mine->bytes;

    job->bits.in.n = 0;
    query_answer(job, hashes, mine->n / sizeof *hashes, &job->bits.in);
    for (int r = 0; r < job_ranks; r++)
        job->bits.begin[r] = 0;
}

/* Sends hashes to their owners, answers those received, and receives the
 * answers in the order of the hashes. */
static void query_ask_owners(query_job *job)
{
    part_mail *hashes = &job->hashes, *bits = &job->bits;

    exchange_all(hashes->to, &hashes->in, hashes->begin);
    for (int r = 0; r < job_ranks; r++) {
        size_t n = (hashes->begin[r + 1] - hashes->begin[r])
                 / sizeof(uint64_t);

        if (n > 0)
            query_answer(job, (const uint64_t *)(const void *)
                              (hashes->in.bytes + hashes->begin[r]), n,
                         &bits->to[r]);
    }
    exchange_all(bits->to, &bits->in, bits->begin);
}

/* ==== Selected lines ==================================================== */

static bool query_prints_lines(const query_settings *s)
{
    return !s->count && !s->quiet && !s->summary && !s->json;
}

/* Appends a selected line, and a newline to one that lacks it. */
static void query_select(query_job *job, const unsigned char *line, size_t n)
{
    unsigned char end = job->want->how.null ? '\0' : '\n';
    job_bytes *out = &job->selected;

    if (out->n > 0 && out->bytes[out->n - 1] != end)
        *exchange_extend(out, 1) = end;
    memcpy(exchange_extend(out, n), line, n);
}

/* Goes through the lines of the slice and their owners' answers in parallel. */
static void query_select_slice(query_job *job)
{
    const query_line *lines = (const query_line *)(const void *)
                              job->lines.bytes;
    size_t *answered = job_memory(NULL, (size_t)job_ranks * sizeof *answered);
    uint64_t from = 0;

    memset(answered, 0, (size_t)job_ranks * sizeof *answered);
    for (size_t i = 0; i < job->lines.n / sizeof *lines; i++) {
        int owner = lines[i].owner;
        bool there = false;

        if (owner >= 0) {
            size_t at = answered[owner]++;

            there = job->bits.in.bytes[job->bits.begin[owner] + at / 8]
                    >> at % 8 & 1;
        }
        job->tally.there += there;
        if (owner != QUERY_SKIPPED && there != job->want->invert) {
            job->tally.selected++;
            if (query_prints_lines(job->want))
                query_select(job, job->slice.bytes + from,
                             (size_t)(lines[i].end - from));
        }
        from = lines[i].end;
    }
    free(answered);
}

/* Prints the selected lines of all ranks in order, on rank 0. */
static int query_print(query_job *job)
{
    char end = job->want->how.null ? '\0' : '\n';
    job_bytes *mine = &job->selected;
    bool printed = true;

    if (job_rank != 0) {
        uint64_t n = mine->n;

        exchange_send(0, &n, sizeof n);
        exchange_send(0, mine->bytes, mine->n);
        return CLI_GO;
    }
    for (int r = 0; r < job_ranks; r++) {
        uint64_t n = mine->n;

        if (r > 0) {
            exchange_receive(r, &n, sizeof n);
            mine->n = 0;
            exchange_receive(r, exchange_extend(mine, (size_t)n), (size_t)n);
        }
        printed = output_lines(mine->bytes, (size_t)n, end, &job->unended);
    }
    return printed ? CLI_GO : CLI_ERROR;
}

/* ==== Rounds ============================================================ */

/* Bytes of text per rank and round: about half a million lines, whose hashes
 * take as much again. */
enum { QUERY_SLICE = 8 << 20 };

/* Runs one round. Returns CLI_OK if no more rounds are needed. */
static int query_round(query_job *job, uint64_t from, uint64_t to)
{
    int status;

    query_empty(job);
    status = job_agree(query_read(job, from, to));
    if (job_rank == 0)
        damage_asked(job->tally.asked, false);
    if (status != CLI_GO)
        return status;
    if (job->local)
        query_ask_owners(job);
    else
        query_ask_here(job);
    query_select_slice(job);
    if (query_prints_lines(job->want))
        status = job_agree(query_print(job));
    if (status == CLI_GO && job->want->quiet
        && job_sum(job->tally.selected) > 0)
        return CLI_OK;
    return status;
}

static int query_rounds(query_job *job)
{
    uint64_t all = share_bytes(&job->text), ranks = (uint64_t)job_ranks;
    uint64_t slice = all / ranks + 1;
    int status = CLI_GO;

    if (slice > QUERY_SLICE)
        slice = QUERY_SLICE;
    for (uint64_t at = 0; at < all && status == CLI_GO; at += ranks * slice) {
        uint64_t from = at + (uint64_t)job_rank * slice;

        status = query_round(job, from, from + slice);
    }
    return status == CLI_ERROR ? CLI_ERROR : CLI_GO;
}

/* ==== The report ======================================================== */

static void query_report(const query_job *job, double seconds)
{
    bly_header header = { .rate = 0 };
    double rate;

    bly_peek(&header, bly_raw(job->filter, NULL), BLY_HEADER_BYTES);
    rate = header.rate;         /* bly_info would read the whole filter */
    if (job->want->json)
        asked_json(&job->tally, job->file, rate, seconds);
    else if (job->want->summary)
        asked_text(&job->tally, rate, seconds);
    else if (job->want->count && !job->want->quiet)
        output_format("%" PRIu64 "\n", job->tally.selected);
}

/* ==== The command ======================================================= */

static int query_all(query_job *job)
{
    double start = report_clock();
    int status = query_rounds(job);

    if (job_rank == 0)
        status = damage_verdict(&job->filter, 1, status);
    status = job_agree(status);
    if (status != CLI_GO)
        return status;
    job->tally.asked = job_sum(job->tally.asked);
    job->tally.there = job_sum(job->tally.there);
    job->tally.selected = job_sum(job->tally.selected);
    job->tally.keyless = job_sum(job->tally.keyless);
    job->tally.ranks = (uint64_t)job_ranks;
    job->tally.sent = job_sum(exchange_sent);
    share_note_strange(&job->text);
    query_report(job, report_clock() - start);
    return job->tally.selected > 0 ? CLI_OK : CLI_NONE;
}

static int query_check(const cli_command *self, query_settings *s,
                       const cli_operands *operands)
{
    int status = how_check(self, &s->how);

    if (status == CLI_GO)
        status = how_check_asked(self, operands);
    if (status != CLI_GO)
        return status;
    if (strcmp(operands->names[0], "-") == 0)
        return options_wrong(self, "the filter must be a file, which all "
                                   "ranks can read");
    return filter_how_read(s->key_file, NULL, s->unpack_limit);
}

/* Refuses a pipe: one rank would read it, and the others would wait. */
static int query_check_file(const char *path)
{
    struct stat about;

    if (stat(path, &about) < 0 || S_ISREG(about.st_mode)
        || S_ISDIR(about.st_mode))
        return CLI_GO;                  /* opening it reports the error      */
    return report_error("'%s' is not a regular file, so not all ranks can read "
                        "it: write the filter to one first", path);
}

/* Opens and divides the filter. */
static int query_open(query_job *job)
{
    if (query_check_file(job->file) != CLI_GO)
        return CLI_ERROR;
    job->filter = damage_map(job->file, &job->want->verify);
    if (job->filter == NULL)
        return CLI_ERROR;
    if (filter_can(job->filter, BLY_CAN_WHOLE_KEYS)
        && !filter_can(job->filter, BLY_CAN_SUBTRACT))
        return report_error("'%s' may hash keys in a way of its own, but ranks "
                            "exchange hashes: query it with 'bloomery query'",
                            job->file);
    job->local = filter_can(job->filter, BLY_CAN_LOCAL);
    return job->local ? part_divide(&job->parts, job->filter) : CLI_GO;
}

static int query_start(const cli_command *self, query_job *job,
                       const cli_operands *operands)
{
    int status = query_check(self, job->want, operands);

    if (status == CLI_GO)
        job->file = operands->names[0];
    if (status == CLI_GO)
        status = query_open(job);
    if (status == CLI_GO)
        status = forms_follow(&job->want->how, bly_form_of(job->filter),
                              job->file);
    if (status == CLI_GO)
        status = typed_check(job->filter, job->want->how.form, job->file);
    if (status == CLI_GO)
        status = share_open(&job->text, &job->want->how, operands, 1, true);
    status = job_agree(status);
    if (status == CLI_GO)
        status = share_same(&job->text);
    if (status == CLI_GO && !part_same(job->filter))
        status = report_error("not all ranks see the same filter '%s': name a "
                              "file that every machine of the job can read",
                              job->file);
    if (status == CLI_GO)
        status = query_all(job);
    share_close(&job->text);
    return status;
}

static void query_free(query_job *job)
{
    part_mail_close(&job->hashes);
    part_mail_close(&job->bits);
    exchange_free(&job->slice);
    exchange_free(&job->lines);
    exchange_free(&job->answers);
    exchange_free(&job->selected);
    free(job->reader->chunk.block);
    free(job->reader);
    bly_free(job->filter);
}

static int query_run(const cli_command *self, int argc, char **argv)
{
    query_settings s = { .how = CLI_HOW_UNSAID };
    query_job job = { .want = &s };
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    job.reader = job_memory(NULL, sizeof *job.reader);
    memset(job.reader, 0, sizeof *job.reader);
    part_mail_open(&job.hashes);
    part_mail_open(&job.bits);
    status = query_start(self, &job, &operands);
    query_free(&job);
    return status;
}

const cli_command cmd_query = {
    .name = "query",
    .operands = "FILE KEYS...",
    .summary = "print the lines whose key is perhaps in a filter",
    .text =
        "Reads lines from the files KEYS, of which each rank reads a part, "
        "and prints those whose key is perhaps in the filter FILE, in their "
        "order and unchanged: the lines that 'bloomery query' prints.\n\n"
        "If the kind of the filter has the ability \"local\" (see 'bloomery "
        "kinds'), such as blocked, each rank uses a part of the filter and "
        "gets the hashes of the keys that belong there. The filter may then "
        "be as large as the memory of all machines together. Otherwise each "
        "rank uses the whole filter.\n\n"
        "A line without the column of -f has no key: it is not in the filter, "
        "and -v prints it. A file that a rank cannot read ends the job.\n\n"
        CLI_VERIFY_TEXT
        " A larger file is verified by rank 0 alone, by the number of lines "
        "that it queries.",
    .options = query_options,
    .usual = "invert-match count quiet summary field separator json",
    .examples = query_examples,
    .status = "0 if a line was selected, 1 if none was, 2 after an error.",
    .run = query_run,
};
