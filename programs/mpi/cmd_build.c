/* cmd_build.c - `bloomery-mpi build`: builds one filter of all ranks' keys.
 *
 * Replicated: each rank fills a filter of its own with its share of the lines.
 * The ranks then exchange and unite them until all have the union
 * (replicate.c).
 *
 *     lines    |--- rank 0 ---|--- rank 1 ---|--- rank 2 ---|--- rank 3 ---|
 *     filters    0         1         2         3        each of full size
 *                  \_ unite _/         \_ unite _/
 *                       \______ unite ______/
 *
 * Partitioned: each rank owns a part of one filter (part.c). The hash of a key
 * is sent to its owner, in large batches.
 *
 *     lines    |--- rank 0 ---|--- rank 1 ---|--- rank 2 ---|--- rank 3 ---|
 *                      \  |  /    8 bytes a key, sorted by rank    |
 *     filter   |  part of 0   |  part of 1   |  part of 2   |  part of 3   |
 *
 * Rank 0 saves the file, which equals the one that `bloomery build` makes.
 */
#include "mpi/cluster.h"
#include "frame/options.h"

#include <bloomery/parts.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    const char *kind, *hash, *output, *key_file;
    uint64_t    items, seed;
    double      rate;
    cli_how     how;
    bool        partition, sparse, verbose, json, force, overfill;
} build_settings;

typedef struct {
    build_settings *want;
    bly_spec      spec;
    share         lines;
    share_reader *reader;
    bly_filter   *filter;
    part_map      parts;                /* if partitioned                    */
    part_mail     mail;
    cli_fed       fed;
    uint64_t      sent;                 /* by all ranks, before saving       */
} build_job;

static const cli_option build_options[] = {
    {'o', "output", "FILE", CLI_TEXT, offsetof(build_settings, output), true,
      "The file of the filter. An existing file is replaced only when the new "
      "one is complete.",
      .group = CLI_OUTPUT },
    CLI_FORCE_OPTION(build_settings, force),
    {'k', "kind", "KIND", CLI_TEXT, offsetof(build_settings, kind), false,
      "The kind of filter with its options, such as blocked or standard:k=5. "
      "It needs the ability \"unite\", or \"local\" with --partition "
      "('bloomery kinds'). Default: " BLY_DEFAULT_KIND "." },
    CLI_SPEC_OPTIONS(build_settings),
    {'H', "hash", "HASH", CLI_TEXT, offsetof(build_settings, hash), false,
      "The hash function: xxh3 (the default), xxh64, murmur2, murmur3, fnv1a; "
      "siphash, with --key-file, for keys that an enemy may choose." },
    CLI_SECRET_OPTION(build_settings, key_file),
    CLI_OVERFILL_OPTION(build_settings, overfill),
    {'P', "partition", NULL, CLI_FLAG, offsetof(build_settings, partition),
     false,
      "Each rank holds a part of the filter instead of all of it." },
    {0, "sparse", NULL, CLI_FLAG, offsetof(build_settings, sparse), false,
      "Send filters as lists of their bits while few are set. With 16 ranks "
      "and a filter of the best size this takes about half the bytes, and a "
      "tenth or less for few probes in many bits. Coding takes longer than "
      "sending, except for kinds such as standard:k=1 and on slow networks.",
      .excludes = "partition",
      .group = CLI_SPEED },
    CLI_HOW_OPTIONS(build_settings, how),
    {0, "verbose", NULL, CLI_FLAG, offsetof(build_settings, verbose), false,
      "Print on standard error what was built and how much was sent.",
      .group = CLI_OUTPUT },
    {0, "json", NULL, CLI_FLAG, offsetof(build_settings, json), false,
      "Print what was built as a JSON object, as 'bloomery build' does, with "
      "the number of ranks and the bytes that they sent.",
      .group = CLI_OUTPUT },
    { 0 }};

static const cli_example build_examples[] = {
    { "mpirun -n 4 bloomery-mpi build -o words.bly *.txt",
      "Build with four processes; each reads a fourth of the lines." },
    { "mpirun -n 64 bloomery-mpi build -P -k blocked -n 100G -o all.bly *.txt",
      "Build a filter of 120 GB; each process holds 2 GB of it." },
    { NULL, NULL }
};

/* ==== How many keys ===================================================== */

/* Counts the lines of a batch. */
static void build_tally(cli_fed *fed, const cli_batch *b)
{
    fed->keys += b->n;
    fed->keyless += b->lacking;
    fed->skipped += b->keyless - b->lacking;
}

/* Sums up the counts of all ranks. */
static void build_sum(cli_fed *fed)
{
    fed->keys = job_sum(fed->keys);
    fed->keyless = job_sum(fed->keyless);
    fed->skipped = job_sum(fed->skipped);
}

/* Counts this rank's keys and its lines without one; also the distinct keys, as
 * `bloomery build` does, if `different` is not NULL. */
static int build_count(build_job *job, cli_fed *fed, cli_estimate *different)
{
    int status = share_begin_mine(&job->lines);

    memset(fed, 0, sizeof *fed);
    while (status == CLI_GO) {
        const cli_batch *b = &job->reader->batch;
        uint64_t hashes[BATCHES_MOST];

        status = share_batch(&job->lines, job->reader);
        if (status != CLI_GO)
            break;
        build_tally(fed, b);
        if (different == NULL || b->n == 0)
            continue;
        bly_hash_many(hashes, job->want->kind, &job->spec,
                      &(bly_keys){.n = b->n, .keys = b->keys});
        estimate_add(different, hashes, b->n);
    }
    return status == CLI_OK ? CLI_GO : status;
}

/* Checks the plan, except that the keys are not counted yet. */
static int build_plan(const build_job *job)
{
    bly_plan_t plan;
    bly_status status;

    if (filter_kind_check(job->want->kind) != CLI_GO
        || filter_hash_check(job->want->hash) != CLI_GO)
        return CLI_ERROR;
    status = bly_plan(&plan, job->want->kind, &job->spec);
    if (status < 0 && (job->spec.capacity > 0 || status != BLY_EPARAM))
        return filter_error();
    return CLI_GO;
}

static int build_size(build_job *job)
{
    bool once = estimate_serves(job->want->kind);
    cli_estimate different = {{0}};
    cli_fed all;
    int status;

    if (job->spec.capacity > 0)
        return CLI_GO;
    status = job_agree(build_count(job, &all, once ? &different : NULL));
    if (status != CLI_GO)
        return status;
    build_sum(&all);
    job_most_each(different.registers, sizeof different.registers);
    job->spec.capacity = all.keys == 0 ? 1
                       : once ? estimate_capacity(&different, all.keys)
                       : all.keys;
    status = feed_some(&all);
    if (status == CLI_GO && once && all.keys > 0 && job->want->verbose
        && job_rank == 0)
        feed_planned(&all, &different);
    return status;
}

/* ==== Replicating ======================================================= */

/* Adds all of this rank's lines to its own filter. */
static int build_fill(build_job *job)
{
    int status = share_begin_mine(&job->lines);

    while (status == CLI_GO) {
        const cli_batch *b = &job->reader->batch;

        status = share_batch(&job->lines, job->reader);
        if (status == CLI_GO)
            status = filter_check_numbers(job->filter, b->keys, b->n);
        if (status != CLI_GO)
            break;
        if (bly_add_many(job->filter, &(bly_keys){.n = b->n, .keys = b->keys},
                         NULL, NULL)
            < 0)
            return filter_error();
        build_tally(&job->fed, b);
    }
    return status == CLI_OK ? CLI_GO : status;
}

static int build_compare(const bly_filter *filter)
{
    bly_image(filter, NULL);            /* updates the checksum */
    return part_same(filter) ? CLI_GO
         : report_error("the ranks' filters differ after the exchange: the "
                        "machines or their network are faulty; nothing was "
                        "saved");
}

static int build_replicated(build_job *job)
{
    int status = job_agree(build_fill(job));

    if (status == CLI_GO)
        status = replicate(&job->filter, job->want->sparse);
    if (status != CLI_GO)
        return status;
    bly_set_items(job->filter, job_sum(job->fed.keys));
    return build_compare(job->filter);
}

/* ==== Partitioned ======================================================= */

/* Minimum number of keys to gather before sending, so that messages are long
 * with any number of ranks. */
enum { BUILD_KEYS = 1 << 20 };

/* Puts the hashes of a batch into the messages to their owners. */
static void build_post(build_job *job, const cli_batch *b)
{
    uint64_t hashes[BATCHES_MOST], places[BATCHES_MOST];
    size_t block;

    for (size_t i = 0; i < b->n; i++)
        hashes[i] = bly_hash(job->filter, b->keys[i].data, b->keys[i].length);
    bly_places(job->filter, hashes, b->n, places, &block);
    for (size_t i = 0; i < b->n; i++) {
        int owner = part_owner(&job->parts, places[i]);

        memcpy(exchange_extend(&job->mail.to[owner], sizeof hashes[i]),
               &hashes[i], sizeof hashes[i]);
    }
    build_tally(&job->fed, b);
}

/* Gathers the next keys of this rank's lines; *more tells whether any follow.
 */
static int build_gather(build_job *job, bool *more)
{
    uint64_t enough = job->fed.keys + BUILD_KEYS;
    int status = CLI_GO;

    part_mail_empty(&job->mail);
    while (status == CLI_GO && job->fed.keys < enough) {
        const cli_batch *b = &job->reader->batch;

        status = share_batch(&job->lines, job->reader);
        if (status == CLI_GO)
            status = filter_check_numbers(job->filter, b->keys, b->n);
        if (status == CLI_GO)
            build_post(job, b);
    }
    *more = status == CLI_GO;
    return status == CLI_OK ? CLI_GO : status;
}

static int build_add(build_job *job)
{
    const job_bytes *in = &job->mail.in;
    const uint64_t *hashes = (const uint64_t *)(const void *)in->bytes;

    return bly_add_hashes(job->filter, hashes, in->n / sizeof *hashes, NULL,
                          NULL)
                   < 0
               ? filter_error()
               : CLI_GO;
}

static int build_partitioned(build_job *job)
{
    int status = share_begin_mine(&job->lines);
    bool more = true;

    while (job_most(more) > 0) {
        if (status == CLI_GO && more)
            status = build_gather(job, &more);
        else
            part_mail_empty(&job->mail);
        status = job_agree(status);
        if (status != CLI_GO)
            return status;
        exchange_all(job->mail.to, &job->mail.in, job->mail.begin);
        status = build_add(job);
    }
    return job_agree(status);
}

/* ==== Save and report =================================================== */

static int build_save(build_job *job)
{
    const char *output = job->want->output;

    if (job->want->partition)
        return part_save(job->filter, &job->parts, output, job->fed.keys);
    return job_agree(job_rank == 0
                     && filter_save(job->filter, output) != CLI_OK ? CLI_ERROR
                                                                   : CLI_GO);
}

/* Returns the bytes that the ranks should send while building. One key in every
 * job_ranks stays with its rank. */
static uint64_t build_formula(const build_job *job, const bly_filter *filter)
{
    uint64_t ranks = (uint64_t)job_ranks;
    size_t bytes;
    const void *image = bly_raw(filter, &bytes);

    if (job->want->sparse)
        return replicate_bytes_sparse(bytes, (double)sparse_count(image, bytes)
                                             / (8 * (double)bytes));
    if (!job->want->partition)
        return replicate_bytes(bytes);
    return (uint64_t)(8 * (double)job->fed.keys * (double)(ranks - 1)
                      / (double)ranks);
}

static int build_report_on(build_job *job, const bly_filter *filter)
{
    const build_settings *s = job->want;
    char advice[80];
    int status;
    cli_feed_report how = { .output = s->output, .advice = advice,
                            .overfill = "use --overfill", .verbose = s->verbose,
                            .json = s->json,
                            .ranks = (uint64_t)job_ranks, .sent = job->sent };

    snprintf(advice, sizeof advice, "build it again with -n %" PRIu64,
             job->fed.keys);
    job->fed.over = !s->overfill && feed_overfull(filter);
    status = feed_report(filter, &job->fed, &how);
    if (job->fed.keys == 0 && s->items == 0)
        feed_none(filter);
    if (s->verbose)
        report_note("%s: %d %s sent %s bytes to each other; by the formula "
                    "for a %s filter it is %s", s->output, job_ranks,
                    job_ranks == 1 ? "rank" : "ranks",
                    report_count(job->sent).text,
                    s->partition ? "partitioned"
                    : s->sparse ? "sparse" : "replicating",
                    report_count(build_formula(job, filter)).text);
    return status;
}

/* Prints the report, on rank 0. A partitioned filter is opened from its file,
 * as rank 0 has only a part of it. */
static int build_report(build_job *job)
{
    const build_settings *s = job->want;
    bly_filter *saved;
    int status;

    if (job_rank != 0)
        return CLI_GO;
    if (!s->partition)
        return build_report_on(job, job->filter);
    if (!s->verbose && !s->json && job->fed.keyless == 0
        && job->fed.keys <= job->spec.capacity)
        return CLI_GO;
    saved = load_mapped(s->output, 0);
    if (saved == NULL)
        return CLI_ERROR;
    status = build_report_on(job, saved);
    bly_free(saved);
    return status;
}

/* ==== The command ======================================================= */

/* Creates an empty filter, and divides it. */
static int build_new(build_job *job)
{
    if (job->want->partition)
        job->spec.flags = BLY_SPARSE;
    if (bly_new(&job->filter, job->want->kind, &job->spec) < 0)
        return filter_error();
    return job->want->partition ? part_divide(&job->parts, job->filter)
                                : CLI_GO;
}

static int build_both(build_job *job)
{
    double start;
    int status = build_size(job);

    if (status == CLI_GO)
        status = job_agree(build_new(job));
    if (status == CLI_GO)
        status = part_same_key(job->filter);
    if (status != CLI_GO)
        return status;
    start = report_clock();
    status = job->want->partition ? build_partitioned(job)
                                  : build_replicated(job);
    if (status != CLI_GO)
        return status;
    job->fed.seconds = report_clock() - start;
    build_sum(&job->fed);
    job->fed.bytes = share_bytes(&job->lines);
    job->sent = job_sum(exchange_sent);
    share_note_strange(&job->lines);
    status = feed_some(&job->fed);
    if (status != CLI_GO)
        return status;
    status = build_save(job);
    return status == CLI_GO ? build_report(job) : status;
}

/* Checks that the kind can be built this way. */
static int build_check_kind(const build_settings *s)
{
    const char *kind = s->kind;

    if (!s->partition && !filter_kind_can(kind, BLY_CAN_UNITE))
        return report_error("filters of kind %s cannot be united, but each "
                            "rank makes one: choose a kind with the ability "
                            "\"unite\" (see 'bloomery kinds')", kind);
    if (s->partition && !filter_kind_can(kind, BLY_CAN_LOCAL))
        return report_error("a filter of kind %s cannot be divided among "
                            "ranks, because a key sets bits all over it: "
                            "choose blocked or split, or leave out --partition",
                            kind);
    if (s->partition && filter_kind_can(kind, BLY_CAN_PAGE))
        return report_error("a filter of kind %s is built in its file with "
                            "'bloomery build': choose blocked or split, or "
                            "leave out --partition", kind);
    return CLI_GO;
}

/* Checks the output: parts are written at their offsets in any order, so it
   must be a plain file. */
static int build_check_output(const build_settings *s,
                              const cli_operands *operands)
{
    struct stat about;

    if (s->partition && stat(s->output, &about) == 0
        && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return report_error("'%s' is not a regular file, which --partition "
                            "needs to write the filter in parts: name one with "
                            "-o, or leave out --partition", s->output);
    return filter_check_output(s->output, s->force, operands, 0);
}

static int build_check(const cli_command *self, build_job *job,
                       const cli_operands *operands)
{
    build_settings *s = job->want;
    int status;

    s->how.listing = true;
    status = how_check(self, &s->how);

    if (status != CLI_GO)
        return status;
    job->spec.form = s->how.stated ? s->how.form : BLY_KEYS_UNSTATED;
    if (strcmp(s->output, "-") == 0)    /* mpirun may make a terminal of it */
        return options_wrong(self, "the filter cannot be written to standard "
                                   "output: name a file with -o");
    status = filter_how_read(s->key_file, NULL, UINT64_MAX);    /* its own */
    job->spec.secret = secret_bytes();
    if (status == CLI_GO)
        status = build_plan(job);       /* the kind may not exist */
    if (status == CLI_GO)
        status = build_check_kind(s);
    if (status == CLI_GO && job_rank == 0)
        status = build_check_output(s, operands);
    return status;
}

static int build_start(const cli_command *self, build_job *job,
                       const cli_operands *operands)
{
    int status = build_check(self, job, operands);

    if (status == CLI_GO)
        status = share_open(&job->lines, &job->want->how, operands, 0, false);
    status = job_agree(status);
    if (status == CLI_GO)
        status = share_same(&job->lines);
    if (status == CLI_GO)
        status = build_both(job);
    share_close(&job->lines);
    return status == CLI_GO ? CLI_OK : status;
}

static int build_run(const cli_command *self, int argc, char **argv)
{
    build_settings s = { .kind = BLY_DEFAULT_KIND, .rate = 0.01,
                         .how = CLI_HOW_UNSAID };
    build_job job = { .want = &s };
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    job.spec = (bly_spec){ .capacity = s.items, .rate = s.rate, .seed = s.seed,
                           .hash = s.hash };
    job.reader = job_memory(NULL, sizeof *job.reader);
    memset(job.reader, 0, sizeof *job.reader);
    part_mail_open(&job.mail);
    status = build_start(self, &job, &operands);
    part_mail_close(&job.mail);
    bly_free(job.filter);
    free(job.reader->chunk.block);
    free(job.reader);
    return status;
}

const cli_command cmd_build = {
    .name = "build",
    .operands = "KEYS...",
    .summary = "make one filter from the keys of lines, by many processes",
    .text =
        "Reads keys, one per line, from the files KEYS, of which each rank "
        "reads an equal part, and writes a filter of them to FILE: the same "
        "bytes that 'bloomery build' writes. 'bloomery help keys' explains "
        "how lines become keys.\n\n"
        "Without --partition, each rank makes a filter as large as the whole "
        "one, and the ranks exchange and unite their filters. Each rank sends "
        "the filter as often as the number of ranks has bits, however many "
        "keys there are.\n\n"
        "With --partition, each rank holds its part of the filter, which may "
        "then be larger than the memory of any machine. Keys are sent to "
        "their rank as hashes of 8 bytes. This needs a kind with the ability "
        "\"local\", such as blocked.\n\n"
        "If a rank cannot read a file, the job ends and nothing is saved. "
        "Kinds that are built from all keys at once, labels and growing "
        "filters are for 'bloomery build'.",
    .options = build_options,
    .usual = "output kind rate items field separator partition verbose",
    .examples = build_examples,
    .status = "0 if the filter was built, " CLI_KEPT("FILE"),
    .run = build_run,
};
