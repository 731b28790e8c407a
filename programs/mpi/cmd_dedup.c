/* cmd_dedup.c - `bloomery-mpi dedup`: prints the first occurrence of each line.
 *
 * Each rank reads its share of the lines three times:
 *
 *     pass 1   keeps the 64-bit hash of every key, and nothing else.
 *              Rounds then remove hashes that are unique (rounds.c), at 8
 *              to 10 bits sent for most of them.
 *     pass 2   collects the keys in doubt, which are compared byte by byte
 *              on the ranks that their hashes choose (verify.c)
 *     pass 3   sends the lines to print to rank 0, rank by rank, in pieces
 *
 * Passes 2 and 3 must read the same lines as pass 1: a checksum of all hashes,
 * in order, is compared. A line whose key was not in doubt is printed without
 * further checks. No line is lost, and no repeated one kept.
 *
 * With --approximate the rounds continue until the rate is reached and pass 2
 * is skipped: a line in doubt counts as repeated, and no key is sent or kept.
 *
 * With --by, all of this is about the parts of documents
 * (documents/units.c). A rank has whole documents, and the order of the parts
 * is that of one process, so that the same parts are repeated.
 */
#include "mpi/dedup.h"
#include "documents/documents.h"
#include "frame/json.h"
#include "frame/options.h"
#include "frame/output.h"

#include <bloomery/keyed.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEDUP_PIECE = 1 << 20 };         /* bytes of output sent at once */

/* Default rate of --approximate; and the most lines per allowed error. Of n
 * lines a share n / 2^64 seems repeated because of equal 64-bit hashes; the
 * limit keeps this below a hundredth of the errors. */
#define DEDUP_RATE 0.001
#define DEDUP_LINES_MOST 0x1p57

/* Sent instead of a length at the end of the output, or of a rank's part. */
#define DEDUP_END    UINT64_MAX
#define DEDUP_FAILED (UINT64_MAX - 1)

typedef struct {
    cli_how     how;
    verify_want want;
    double      rate;
    bool        approximate, verbose, json;
    const char *key_file, *by, *remove;
    units_want  units;          /* read from them                          */
} dedup_settings;

/* Identifies the lines that pass 1 has read. */
typedef struct {
    uint64_t lines, keyless, key_bytes, order;
    uint64_t lacking;           /* lines without a key that are not skipped */
} dedup_text;

/* Predictions of the bytes sent, for comparison. */
typedef struct {
    uint64_t rounds, verify;    /* bytes                                   */
    verify_tally keys;
} dedup_sum;

typedef struct {
    const dedup_settings *want;
    share       share;
    cli_batch  *batch;
    dedup_units units;          /* the documents of a chunk, and their …   */
    dedup_rows  rows;           /* … parts                                 */
    size_t      row;            /* the part that is being handled          */
    dedup_tally tally;
    bly_filter *hasher;
    rounds      rounds;
    verify     *verify;
    dedup_text  text, all;      /* of this rank, and of all ranks          */
    dedup_sum   sum;
    uint64_t    printed;
    job_bytes   piece;
    bool        stop;           /* whether nobody reads the output any more */
} dedup_job;

static const cli_option dedup_options[] = {
    { 'a', "approximate", NULL, CLI_FLAG,
      offsetof(dedup_settings, approximate), false,
      "Send hashes instead of keys. At most a share RATE of the lines that "
      "occur for the first time is taken for repeated lines and dropped; no "
      "repeated line is printed by mistake. With -u the same share of unique "
      "lines is dropped. With -d every line that may be repeated is printed "
      "each time, and a share RATE of the unique lines.",
      .excludes = "count" },
    { 'p', "rate", "RATE", CLI_RATE, offsetof(dedup_settings, rate), false,
      "With --approximate: the share of lines that may be taken for repeated "
      "ones: 0.001, 0.1%, 1e-6. Default: 0.1%.",
      .needs = "approximate" },
    { 'c', "count", NULL, CLI_FLAG, offsetof(dedup_settings, want.count),
      false, "Print each line after its number of occurrences and a TAB." },
    { 'd', "only-repeated", NULL, CLI_FLAG,
      offsetof(dedup_settings, want.repeated), false,
      "Print only lines that occur twice or more." },
    { 'u', "only-unique", NULL, CLI_FLAG,
      offsetof(dedup_settings, want.unique), false,
      "Print only lines that occur once." },
    UNITS_OPTIONS(dedup_settings, units, by, remove),
    { 0, "key-file", "FILE", CLI_TEXT, offsetof(dedup_settings, key_file),
      false, "The secret that lines are hashed with, 16 bytes or 32 "
      "hexadecimal digits. The same secret drops the same lines with "
      "--approximate. Default: a random secret.",
      .group = CLI_SAFETY },
    CLI_HOW_OPTIONS(dedup_settings, how),
    { 0, "verbose", NULL, CLI_FLAG, offsetof(dedup_settings, verbose), false,
      "Print on standard error, for each round, how many lines were in doubt "
      "and how much was sent, beside the prediction.",
      .group = CLI_OUTPUT },
    { 0, "json", NULL, CLI_FLAG, offsetof(dedup_settings, json), false,
      "Print only the report of --verbose, as JSON.",
      .group = CLI_OUTPUT },
    { 0 }
};

static const cli_example dedup_examples[] = {
    { "mpirun -n 4 bloomery-mpi dedup urls/*.txt > once.txt",
      "Print each line once, in the order of the files." },
    { "mpirun -n 16 bloomery-mpi dedup --verbose --only-repeated log > twice",
      "Print repeated lines, and report each round." },
    { "mpirun -n 16 bloomery-mpi dedup -a -d logs/* | bloomery dedup -d",
      "Leave the few lines that may be repeated to one process." },
    { "mpirun -n 16 bloomery-mpi dedup --json-field text --by paragraphs "
      "corpus/*.jsonl > clean.jsonl",
      "Remove paragraphs that occurred before from documents." },
    { NULL, NULL }
};

/* Handles a line or a part in a pass; key.data is NULL if it has no key. */
typedef void dedup_line(dedup_job *job, uint64_t hash, bly_key key,
                        bly_key line);

/* ==== Output ============================================================ */

/* Sends the piece to rank 0, which replies whether it wants more. */
static void dedup_send(dedup_job *job)
{
    uint64_t n = job->piece.n;
    unsigned char stop;

    if (n == 0 || job->stop)
        return;
    exchange_send(0, &n, sizeof n);
    exchange_send(0, job->piece.bytes, job->piece.n);
    exchange_receive(0, &stop, sizeof stop);
    job->stop = stop != 0;
    job->piece.n = 0;
}

static void dedup_put(dedup_job *job, const void *bytes, size_t n)
{
    if (job_rank == 0)
        job->stop = !output_bytes(bytes, n);
    else
        memcpy(exchange_extend(&job->piece, n), bytes, n);
}

static void dedup_print(dedup_job *job, bly_key line, uint64_t count)
{
    const unsigned char *end = line.data;
    unsigned char terminator = job->want->how.null ? '\0' : '\n';
    char text[24];

    if (job->want->want.count)
        dedup_put(job, text, (size_t)snprintf(text, sizeof text, "%llu\t",
                                              (unsigned long long)count));
    dedup_put(job, line.data, line.length);
    end += line.length - 1;
    if (*end != terminator)
        dedup_put(job, &terminator, 1);
    if (job->piece.n >= DEDUP_PIECE)
        dedup_send(job);
}

/* Returns whether to print the next line, with --approximate. */
static bool dedup_guess(dedup_job *job, uint64_t hash)
{
    const verify_want *want = &job->want->want;

    if (!want->repeated && !want->unique)
        return !rounds_again(&job->rounds, hash);
    return verify_wanted(want, rounds_doubt(&job->rounds, hash) ? 2 : 1);
}

/* Returns whether to print the next line, or to keep the next part, and how
 * often its key occurs. */
static bool dedup_decide(dedup_job *job, uint64_t hash, bly_key key,
                         uint64_t *count)
{
    *count = 1;
    if (key.data != NULL && job->want->approximate)
        return dedup_guess(job, hash);
    if (key.data != NULL && rounds_doubt(&job->rounds, hash))
        return verify_next(job->verify, hash, count);
    return verify_wanted(&job->want->want, 1);
}

static void dedup_print_line(dedup_job *job, uint64_t hash, bly_key key,
                             bly_key line)
{
    uint64_t count;
    bool print = dedup_decide(job, hash, key, &count);

    job->printed += print;
    if (print && !job->want->json && !job->stop)
        dedup_print(job, line, count);
}

/* Decides about a part. */
static void dedup_mark(dedup_job *job, uint64_t hash, bly_key key,
                       bly_key line)
{
    uint64_t count;

    (void)line;
    job->rows.drop[job->row] = !dedup_decide(job, hash, key, &count);
}

/* Prints the documents of a chunk, whose parts are marked; on other ranks than
 * 0 into the piece. */
static int dedup_print_units(dedup_job *job, const cli_worker *w)
{
    char *text;
    size_t n;
    int status;

    if (!output_keep())
        return CLI_ERROR;
    status = units_print(&job->units, &job->rows, w, &job->want->units,
                         &job->tally);
    text = output_kept(&n);
    job->printed = job->tally.kept;
    if (text == NULL && n > 0)
        status = report_no_memory();
    if (status == CLI_GO && n > 0 && !job->want->json && !job->stop)
        dedup_put(job, text, n);
    free(text);
    if (job->piece.n >= DEDUP_PIECE)
        dedup_send(job);
    return status;
}

/* ==== Passes ============================================================ */

static void dedup_note(dedup_text *t, uint64_t hash, bly_key key)
{
    t->order = (t->order ^ hash) * UINT64_C(0xD1342543DE82EF95) + 1;
    t->lines++;
    t->keyless += key.data == NULL;
    t->key_bytes += key.length;
}

static void dedup_each(dedup_job *job, dedup_line *each, dedup_text *text,
                       bly_key key, bly_key line)
{
    uint64_t hash = key.data == NULL ? 0
                  : bly_hash(job->hasher, key.data, key.length);

    dedup_note(text, hash, key);
    each(job, hash, key, line);
}

static void dedup_chunk_lines(dedup_job *job, cli_chunk *chunk,
                              dedup_line *each, dedup_text *text)
{
    const cli_batch *b = job->batch;

    for (size_t at = 0; batches_split(&job->share.lines, chunk, &at,
                                      job->batch); ) {
        text->lacking += b->lacking;
        for (size_t i = 0; i < b->n; i++)
            dedup_each(job, each, text, b->keys[i], b->lines[i]);
    }
}

/* Handles the parts of all documents of a chunk, in order. */
static int dedup_chunk_units(dedup_job *job, cli_chunk *chunk, dedup_line *each,
                             dedup_text *text)
{
    const grams_hasher by = { .filter = job->hasher };
    cli_worker w = { .lines = &job->share.lines, .chunk = *chunk,
                     .batch = job->batch };
    bool fits = units_fill(&job->units, &job->rows, &w, &job->want->units, &by);

    *chunk = w.chunk;
    if (!fits)
        return report_no_memory();
    text->lacking += job->units.lacking;
    for (job->row = 0; job->row < job->rows.n; job->row++)
        dedup_each(job, each, text, job->rows.keys[job->row],
                   (bly_key){ NULL, 0 });
    return each == dedup_mark ? dedup_print_units(job, &w) : CLI_GO;
}

/* Reads this rank's share line by line, or part by part. Returns CLI_GO or
 * CLI_ERROR. */
static int dedup_pass(dedup_job *job, dedup_line *each, dedup_text *text)
{
    cli_chunk chunk = { .block = NULL };
    int status = share_begin_mine(&job->share);

    memset(text, 0, sizeof *text);
    while (status == CLI_GO
           && (status = share_next(&job->share, &chunk)) == CLI_GO
           && !job->stop)
        if (job->want->by != NULL)
            status = dedup_chunk_units(job, &chunk, each, text);
        else
            dedup_chunk_lines(job, &chunk, each, text);
    free(chunk.block);
    return status == CLI_ERROR ? CLI_ERROR : CLI_GO;
}

/* Reads the share again, and checks that it has not changed. */
static int dedup_pass_again(dedup_job *job, dedup_line *each)
{
    dedup_text text;
    int status = dedup_pass(job, each, &text);

    if (status == CLI_GO && !job->stop
        && (text.order != job->text.order || text.lines != job->text.lines))
        return report_error("the files changed while they were being read: "
                            "leave them unchanged until the job is done, and "
                            "try again");
    return status;
}

static void dedup_survey_line(dedup_job *job, uint64_t hash, bly_key key,
                              bly_key line)
{
    (void)line;
    if (key.data != NULL)
        rounds_add(&job->rounds, hash);
}

static void dedup_collect_line(dedup_job *job, uint64_t hash, bly_key key,
                               bly_key line)
{
    (void)line;
    if (key.data != NULL && rounds_doubt(&job->rounds, hash))
        verify_add(job->verify, hash, key);
}

/* ==== All output ======================================================== */

/* Receives the pieces of another rank, on rank 0. */
static void dedup_receive(dedup_job *job, int rank)
{
    for (;;) {
        unsigned char stop;
        uint64_t n;

        exchange_receive(rank, &n, sizeof n);
        if (n == DEDUP_FAILED)
            job->stop = true;           /* or there would be a gap */
        if (n == DEDUP_END || n == DEDUP_FAILED)
            return;
        job->piece.n = 0;
        exchange_receive(rank, exchange_extend(&job->piece, (size_t)n),
                         (size_t)n);
        stop = job->stop || !output_bytes(job->piece.bytes, (size_t)n);
        job->stop = stop != 0;
        exchange_send(rank, &stop, sizeof stop);
    }
}

/* Sends the output. Rank 0 is always told of the end, since it waits for it. If
 * one rank fails, the output of later ranks is not printed. */
static int dedup_output(dedup_job *job)
{
    dedup_line *each = job->want->by != NULL ? dedup_mark : dedup_print_line;
    int status = dedup_pass_again(job, each);
    uint64_t end = status == CLI_GO ? DEDUP_END : DEDUP_FAILED;

    if (status != CLI_GO)
        job->stop = true;
    if (job_rank != 0) {
        dedup_send(job);                /* sends nothing once it is to stop */
        exchange_send(0, &end, sizeof end);
    }
    for (int rank = 1; job_rank == 0 && rank < job_ranks; rank++)
        dedup_receive(job, rank);
    return status;
}

/* ==== The report ======================================================== */

static double dedup_bits(uint64_t bytes, uint64_t n)
{
    return n > 0 ? 8 * (double)bytes / (double)n : 0;
}

/* Returns how many elements a round should leave: equal ones share a position.
 */
static double dedup_left(const rounds_about *a, const verify_tally *keys)
{
    double elements = (double)a->elements;

    return elements
         * volume_left((double)keys->repeated / elements,
                       (elements - (double)keys->again)
                       / (double)a->positions);
}

/* Returns the counts of the exact step; NULL if it was skipped. */
static const verify_tally *dedup_keys(const dedup_job *job)
{
    return job->want->approximate ? NULL : &job->sum.keys;
}

/* Returns how much of that goes to other ranks if destinations are random. */
static double dedup_away(double bytes)
{
    return bytes * (job_ranks - 1) / job_ranks;
}

/* Returns the bytes of keys with their lengths. */
static double dedup_key_bytes(const dedup_job *job)
{
    return (double)job->all.key_bytes
         + (double)(job->all.lines - job->all.keyless);
}

/* … where the exact step has told which are equal. */
static void dedup_say_round(const rounds_about *a, size_t number,
                            const verify_tally *keys)
{
    char formula[64] = "";

    if (keys != NULL)
        snprintf(formula, sizeof formula, " (%s)",
                 report_estimate(dedup_left(a, keys)).text);
    report_note("round %zu (1/%.3g): %s in doubt, %s sent: %.3f bits a value "
                "(formula %.3f) and %.3f its answer (%.3f); %s left%s",
                number, 1 / a->f, report_count(a->elements).text,
                report_bytes(a->value_bytes + a->answer_bytes).text,
                dedup_bits(a->value_bytes, a->values), a->value_bits,
                dedup_bits(a->answer_bytes, a->values), a->answer_bits,
                report_count(a->left).text, formula);
}

/* Reports the exact step, or what skipping it saved. */
static void dedup_say_end(const dedup_job *job)
{
    const dedup_sum *sum = &job->sum;
    const verify_want *want = &job->want->want;

    if (job->want->approximate)
        report_note("approximate: about %s %s treated as repeated, judging by "
                    "the share of positions that were taken; %s of them may be",
                    report_estimate(job->rounds.lost).text,
                    want->repeated || want->unique
                    ? "lines that come once were"
                    : "lines that came for the first time were",
                    report_percent(job->want->rate).text);
    else
        report_note("exact: %s different keys of ranks in doubt, %s of them "
                    "repeated; %s sent", report_count(sum->keys.sent).text,
                    report_count(sum->keys.repeated).text,
                    report_bytes(sum->verify).text);
}

static void dedup_say(const dedup_job *job, double seconds)
{
    const dedup_sum *sum = &job->sum;
    uint64_t keys = job->all.lines - job->all.keyless;
    double all = (double)(sum->rounds + sum->verify);

    for (size_t i = 0; i < job->rounds.rounds; i++)
        dedup_say_round(&job->rounds.about[i], i + 1, dedup_keys(job));
    dedup_say_end(job);
    report_note("%s lines by %d ranks in %s, %s printed; %s sent, %.3f bits a "
                "line: %s of all hashes, %s of all keys",
                report_count(job->all.lines).text, job_ranks,
                report_seconds(seconds).text,
                report_count(job->printed).text,
                report_bytes(sum->rounds + sum->verify).text,
                dedup_bits(sum->rounds + sum->verify, keys),
                report_percent(all / dedup_away(8 * (double)keys)).text,
                report_percent(all / dedup_away(dedup_key_bytes(job))).text);
}

static void dedup_json_round(const rounds_about *a, const verify_tally *keys)
{
    json_open_object(NULL);
    json_real("values_per_position", a->f);
    json_count("elements", a->elements);
    json_count("values_sent", a->values);
    json_count("value_bytes", a->value_bytes);
    json_real("value_bits", dedup_bits(a->value_bytes, a->values));
    json_real("value_bits_formula", a->value_bits);
    json_count("answer_bytes", a->answer_bytes);
    json_real("answer_bits", dedup_bits(a->answer_bytes, a->values));
    json_real("answer_bits_formula", a->answer_bits);
    json_count("left", a->left);
    if (keys != NULL)
        json_real("left_formula", dedup_left(a, keys));
    else
        json_real("positions_taken", a->chance);
    json_close_object();
}

static void dedup_json_end(const dedup_job *job)
{
    const dedup_sum *sum = &job->sum;

    json_open_object(job->want->approximate ? "approximate" : "exact");
    if (job->want->approximate) {
        json_real("rate", job->want->rate);
        json_real("errors_expected", job->rounds.lost);
    } else {
        json_count("elements", sum->keys.sent);
        json_count("repeated", sum->keys.repeated);
        json_count("sent_bytes", sum->verify);
    }
    json_close_object();
}

static void dedup_json(const dedup_job *job, double seconds)
{
    const dedup_sum *sum = &job->sum;
    uint64_t keys = job->all.lines - job->all.keyless;

    json_open_object(NULL);
    json_count("ranks", (uint64_t)job_ranks);
    json_count("lines", job->all.lines);
    json_count("keyless", job->all.lacking);
    json_count("printed", job->printed);
    json_real("seconds", seconds);
    json_open_array("rounds");
    for (size_t i = 0; i < job->rounds.rounds; i++)
        dedup_json_round(&job->rounds.about[i], dedup_keys(job));
    json_close_array();
    dedup_json_end(job);
    json_count("sent_bytes", sum->rounds + sum->verify);
    json_real("bits_per_line", dedup_bits(sum->rounds + sum->verify, keys));
    json_real("bytes_of_hashes", dedup_away(8 * (double)keys));
    json_real("bytes_of_keys", dedup_away(dedup_key_bytes(job)));
    json_close_object();
}

/* Tells how many parts were removed: the share may be a surprise. */
static void dedup_tell_parts(const dedup_job *job)
{
    static const char *const names[] = { "lines", "paragraphs",
                                         "lines by their n-grams" };
    const dedup_tally *t = &job->tally;

    report_note("note: %s that occurred before: %s of %s; documents printed: "
                "%s of %s", names[job->want->units.by],
                report_count(t->repeated).text, report_count(t->parts).text,
                report_count(t->kept).text, report_count(t->lines).text);
}

static void dedup_report(dedup_job *job, double seconds)
{
    job->tally.repeated = job_sum(job->tally.repeated);
    job->tally.parts = job_sum(job->tally.parts);
    job->tally.kept = job_sum(job->tally.kept);
    job->tally.lines = job_sum(job->tally.lines);
    job->printed = job_sum(job->printed);
    share_note_strange(&job->share);
    if (job->want->verbose)
        dedup_say(job, seconds);
    if (job->want->json)
        dedup_json(job, seconds);
    if (job->want->by == NULL)
        report_unique(job->all.lacking);
    else if (job_rank == 0)
        dedup_tell_parts(job);
}

/* ==== The command ======================================================= */

static void dedup_sum_up(dedup_job *job)
{
    job->all.lines = job_sum(job->text.lines);
    job->all.keyless = job_sum(job->text.keyless);
    job->all.lacking = job_sum(job->text.lacking);
    job->all.key_bytes = job_sum(job->text.key_bytes);
}

/* Returns the cost of an element that the rounds leave: its key, a byte of
 * length, and a bit of answer. */
static double dedup_key_bits(const dedup_job *job)
{
    double keys = (double)(job->all.lines - job->all.keyless);

    return 8 * ((double)job->all.key_bytes / fmax(1, keys) + 1) + 1;
}

/* Checks that 64-bit hashes suffice for the rate, alike on all ranks. */
static int dedup_check_rate(const dedup_job *job)
{
    const dedup_settings *s = job->want;
    double lines = (double)job->all.lines;

    if (!s->approximate || lines <= s->rate * DEDUP_LINES_MOST)
        return CLI_GO;
    return report_error("--rate %g is too small for %s lines, which are "
                        "compared by hashes of 64 bits: give %.0e or more, or "
                        "leave out --approximate", s->rate,
                        report_count(job->all.lines).text,
                        1.1 * lines / DEDUP_LINES_MOST);
}

/* Compares the keys in doubt byte by byte. */
static int dedup_exactly(dedup_job *job)
{
    uint64_t before;
    int status;

    job->verify = verify_open(&job->want->want, job->hasher);
    status = job_agree(dedup_pass_again(job, dedup_collect_line));
    if (status != CLI_GO)
        return status;
    before = exchange_sent;
    verify_run(job->verify);
    job->sum.verify = job_sum(exchange_sent - before);
    job->sum.keys = verify_sum_up(job->verify);
    return CLI_GO;
}

/* Runs all passes and the collective steps between them. */
static int dedup_all(dedup_job *job)
{
    const dedup_settings *s = job->want;
    uint64_t before = exchange_sent;
    int status = job_agree(dedup_pass(job, dedup_survey_line, &job->text));
    rounds_goal goal = { .first = !s->want.repeated && !s->want.unique };

    if (status != CLI_GO)
        return status;
    dedup_sum_up(job);
    status = dedup_check_rate(job);
    if (status != CLI_GO)
        return status;
    goal.key_bits = dedup_key_bits(job);
    goal.rate = s->approximate ? s->rate : 0;
    goal.first &= s->approximate;
    rounds_run(&job->rounds, &goal);
    job->sum.rounds = job_sum(exchange_sent - before);
    if (!s->approximate)
        status = dedup_exactly(job);
    return status == CLI_GO ? job_agree(dedup_output(job)) : status;
}

static int dedup_open(dedup_job *job, const cli_operands *operands)
{
    if (secret_read(job->want->key_file) != CLI_GO)
        return CLI_ERROR;
    job->batch = job_memory(NULL, sizeof *job->batch);
    return share_open(&job->share, &job->want->how, operands, 0, true);
}

/* Chooses the hash seed: the one in a file, or a random one from rank 0, so
 * that nobody can craft lines with equal hashes. Returns CLI_GO or CLI_ERROR on
 * all ranks. */
static int dedup_hasher(dedup_job *job)
{
    unsigned char secret[BLY_SECRET_BYTES] = { 0 };
    const bool drawn = job->want->key_file == NULL;
    const bly_spec any = { .capacity = 1, .hash = "siphash",
                           .secret = drawn ? secret : secret_bytes() };
    int status = drawn && job_rank == 0 && bly_draw(secret, sizeof secret) < 0
               ? filter_error() : CLI_GO;

    status = job_agree(status);
    if (status != CLI_GO)
        return status;
    job_spread(secret, sizeof secret);
    status = bly_new(&job->hasher, "standard", &any) < 0 ? filter_error()
                                                         : CLI_GO;
    status = job_agree(status);
    return status == CLI_GO ? part_same_key(job->hasher) : status;
}

static void dedup_close(dedup_job *job)
{
    if (job->verify != NULL)
        verify_close(job->verify);
    rounds_free(&job->rounds);
    exchange_free(&job->piece);
    share_close(&job->share);
    bly_free(job->hasher);
    units_free(&job->units);
    marked_free(&job->rows);
    free(job->batch);
}

/* Reads the options about the parts of documents. */
static int dedup_check_units(dedup_settings *s)
{
    if (s->want.count || s->want.repeated || s->want.unique)
        return report_error("-c, -d and -u are about lines: leave out --by");
    return units_check(&s->units, s->by, s->remove, &s->how);
}

static int dedup_run(const cli_command *self, int argc, char **argv)
{
    dedup_settings s = { .how = CLI_HOW_UNSAID, .units.overlap = -1 };
    dedup_job job = { .want = &s };
    double start = report_clock();
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status == CLI_GO)
        status = how_check(self, &s.how);
    if (status == CLI_GO && s.by != NULL)
        status = dedup_check_units(&s);
    if (status != CLI_GO)
        return status;
    if (s.approximate && s.rate <= 0)
        s.rate = DEDUP_RATE;
    status = job_agree(dedup_open(&job, &operands));
    if (status == CLI_GO)
        status = share_same(&job.share);
    if (status == CLI_GO)
        status = dedup_hasher(&job);
    if (status == CLI_GO)
        status = dedup_all(&job);
    if (status == CLI_GO)
        dedup_report(&job, report_clock() - start);
    dedup_close(&job);
    return status == CLI_GO ? CLI_OK : status;
}

const cli_command cmd_dedup = {
    .name = "dedup",
    .operands = "KEYS...",
    .summary = "print the first occurrence of each line",
    .text =
        "Prints each line of the files KEYS when it occurs for the first "
        "time, in the order of the input: the lines that 'bloomery dedup' "
        "prints, whatever the number of ranks. Each rank keeps 8 bytes for "
        "each line of its share, and the keys that may be repeated.\n\n"
        "In each round, the ranks exchange the places of the hashes of their "
        "keys in a filter that is distributed over all ranks, as coded gaps. "
        "A key that is alone at its place is unique; the others enter the "
        "next round with another hash. When another round would cost more "
        "than it saves, the remaining keys are sent to one rank each and "
        "compared byte by byte.\n\n"
        "With --approximate, rounds continue until so few unique lines are "
        "left that all remaining lines may count as repeated. Files are read "
        "twice, no key leaves its rank, and --verbose reports the expected "
        "number of errors.\n\n"
        "With -f, lines are compared by columns, and the first line with them "
        "is printed whole. A line that lacks a column is different from all "
        "others. A last line without a newline gets one.\n\n"
        "With --by, the parts of documents are compared, as by 'bloomery dedup "
        "--by', and the same documents are printed.\n\n"
        "The files are read several times and must not change until the end. "
        "A file that cannot be read ends the job before anything is printed.",
    .options = dedup_options,
    .usual = "field separator count only-repeated only-unique approximate "
             "rate verbose",
    .examples = dedup_examples,
    .status = "0, or 2 after an error.",
    .run = dedup_run,
};
