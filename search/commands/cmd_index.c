/* cmd_index.c - `bloomery index`: indexes the contents of files.
 *
 * Threads take one file after another, find the terms of each block and pass
 * them to the index, whose bytes do not depend on their order. With --update
 * only changed files are read; the rest of the old index is copied.
 */
#include "search/commands/search.h"
#include "frame/inputs.h"
#include "frame/json.h"
#include "frame/members.h"
#include "frame/options.h"
#include "frame/progress.h"
#include "frame/refuse.h"
#include "frame/work.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INDEX_BLOCK = 1 << 18 };

typedef struct {
    const char *output;
    cli_operands by;
    int         separator;
    bool        tsv;
    double      rate;
    uint64_t    block, least, jobs, memory;
    cli_inputs  inputs;
    bool        update, plan, plain, force, quiet, json;
} index_settings;

static const cli_option index_options[] = {
    { 'o', "output", "FILE", CLI_TEXT, offsetof(index_settings, output), true,
      "The file of the index.",
      .group = CLI_OUTPUT },
    { 0, "by", "RULE", CLI_LIST, offsetof(index_settings, by), false,
      "The terms of the index: trigrams (the default), words, fields, lines, "
      "kmers=N, or the values of json-field=NAMES or column=NAMES." },
    { 't', "separator", "C", CLI_BYTE, offsetof(index_settings, separator),
      false, "The byte between columns, for --by column: a character or one "
      "of \\t \\n \\r \\0 \\\\ \\xHH. Default: a comma.",
      .excludes = "tsv", .needs = "by", .group = CLI_KEYS },
    { 0, "tsv", NULL, CLI_FLAG, offsetof(index_settings, tsv), false,
      "Columns end with TABs, and quotes are ordinary bytes. Default: only in "
      "files named .tsv.", .needs = "by", .group = CLI_KEYS },
    { 'b', "block", "SIZE", CLI_SIZE, offsetof(index_settings, block), false,
      "Split files that are longer, once decompressed, into documents of "
      "whole lines, so that 'which' can name a part. Default: 256K. Files of "
      "k-mers are never split." },
    { 0, "min-count", "N", CLI_NUMBER, offsetof(index_settings, least), false,
      "Leave out k-mers that occur fewer than N times in their file, as most "
      "errors of sequencing do: 2 for reads. Default: 1. About 1% of those "
      "that occur N - 1 times stay." },
    { 'p', "rate", "RATE", CLI_RATE, offsetof(index_settings, rate), false,
      "The share of documents that are named for a term that they do not have. "
      "Default: 1%; 30% for trigrams and k-mers, of which a query has many; "
      "0.01% for values of members and columns." },
    { 'r', "recursive", NULL, CLI_FLAG,
      offsetof(index_settings, inputs.recursive), false,
      "Index all files under the folders among PATHS, or under '.'. Links are "
      "not followed.",
      .group = CLI_INPUT },
    { 0, "files0-from", "LIST", CLI_TEXT, offsetof(index_settings, inputs.list),
      false, "Index the files whose names LIST holds, each ended by a NUL, as "
      "find -print0 prints them. '-' is standard input.",
      .group = CLI_INPUT },
    { 0, "git", NULL, CLI_FLAG, offsetof(index_settings, inputs.git), false,
      "As -r, but without files that .gitignore excludes.",
      .group = CLI_INPUT },
    { 0, "update", NULL, CLI_FLAG, offsetof(index_settings, update), false,
      "Update the index FILE: read only new files and files whose size, times "
      "or inode have changed, and drop files that are gone from the folders of "
      "-r or are not in PATHS. --by, --block and the rate stay as they were; "
      "so do -r, --git and PATHS if none are given. If FILE does not exist, it "
      "is made from PATHS.",
      .excludes = "plan by separator tsv block min-count rate "
                  "no-decompress" },
    { 0, "plan", NULL, CLI_FLAG, offsetof(index_settings, plan), false,
      "Write no index, but estimate its size from some of the files." },
    CLI_NO_DECOMPRESS_OPTION(index_settings, plain),
    { 0, "memory", "SIZE", CLI_SIZE, offsetof(index_settings, memory), false,
      "Keep about this much of the index in memory before writing. Default: "
      "256M.",
      .group = CLI_SPEED },
    { 0, "force", NULL, CLI_FLAG, offsetof(index_settings, force), false,
      "Replace FILE even if it is not an index.",
      .group = CLI_SAFETY },
    { 'q', "quiet", NULL, CLI_FLAG, offsetof(index_settings, quiet), false,
      "Print no report and no progress.",
      .group = CLI_OUTPUT },
    { 0, "json", NULL, CLI_FLAG, offsetof(index_settings, json), false,
      "Print the report as a JSON object.",
      .group = CLI_OUTPUT },
    TEXT_JOBS_OPTION(index_settings, jobs),
    { 0 }
};

static const cli_example index_examples[] = {
    { "bloomery index -o logs.blx --by words -r logs",
      "Index all files under a folder by their words." },
    { "bloomery index -o code.blx -r src",
      "Index all texts of three bytes, for 'bloomery search'." },
    { "bloomery index -o logs.blx --update", "Read only what has changed." },
    { "bloomery index -o genomes.blx --by kmers=31 genomes/*.fa",
      "Index sequences of 31 bases in FASTA files." },
    { "bloomery index -o runs.blx --by kmers=31 --min-count 2 runs/*.fq.gz",
      "Index reads, without most errors of sequencing." },
    { "bloomery index -o traces.blx --by json-field=trace_id -r logs",
      "Index lines of JSON by a member." },
    { "bloomery index -o ids.blx --by column=id,email tables/*.csv",
      "Index tables by two of their columns." },
    { NULL, NULL }
};

typedef struct {
    const index_settings *want;
    settings         made;
    earlier          before;
    cli_operands     files;     /* to be read; from malloc                   */
    struct stat      self;      /* the index itself, which is not; st_ino 0:
                                   it is not there yet                       */
    bly_index_maker *maker;
    char            *about, *by;
    values_tally     tally;
    pthread_mutex_t  lock;      /* of the tally                              */
    atomic_size_t    next;      /* file                                      */
    atomic_uint_fast64_t bytes, documents, uncovered;
    atomic_bool      unread;    /* a file could not be read                  */
    atomic_bool      failed;    /* nor the index be made                     */
} index_job;

/* ==== Reading =========================================================== */

static int index_add(index_job *job, const char *name,
                     const settings_part *part, const terms *t)
{
    unsigned char extra[SETTINGS_EXTRA];
    bly_document document = { .name = name, .length = strlen(name),
                              .extra = extra };

    settings_pack(extra, part);
    if (bly_index_add(job->maker, &document, t->hashes, t->n) < 0)
        return atomic_exchange(&job->failed, true) ? CLI_ERROR
                                                   : filter_error();
    job->documents++;
    return CLI_GO;
}

/* Is it us who have too little, so that other files would be missing, too? */
static bool index_lacks(int error)
{
    return error == ENOMEM || error == EMFILE || error == ENFILE
        || error == EAGAIN;
}

static int index_refuse(index_job *job, const char *name,
                        const text_reader *text, const terms *t, int error)
{
    job->unread = true;
    if (index_lacks(error))
        return refuse_file(name, error);
    if (error == ENOENT || error == ENOTDIR)
        report_error("'%s' does not exist: the index does not cover it", name);
    else if (error == ESPIPE)
        report_error("'%s' is not a regular file: an index needs files that "
                     "can be read again", name);
    else if (error == EISDIR)
        report_error("'%s' is a folder: use -r, or name files in it", name);
    else if (error == EFBIG)
        report_error("'%s' has a line of more than 64 MiB: the index does not "
                     "cover the rest of the file", name);
    else if (error == EBADMSG && text->broken != NULL)
        report_error("line %" PRIu64 " of '%s' %s: the index does not cover "
                     "the rest of the file", text->broken_line, name,
                     text->broken);
    else if (error == EBADMSG && terms_named(t->rule))
        report_error("%s. The index does not cover this file", t->values.why);
    else if (error == EBADMSG)
        report_error("line %" PRIu64 " of '%s' %s: the index does not cover "
                     "this file", t->sequences.line, name,
                     t->sequences.broken);
    else
        refuse_file(name, error);
    return CLI_GO;
}

/* A file that could not be read, or only in part, is there without terms and
 * without a state, so that it counts as changed, and queries can tell. */
static int index_uncovered(index_job *job, const char *name, terms *t)
{
    job->unread = true;
    job->uncovered++;
    t->n = 0;
    return index_add(job, name, &(settings_part){ .cut = true }, t);
}

/* Reports an error of reading. What is not a file leaves no trace. */
static int index_cut(index_job *job, const char *name,
                     const text_reader *text, terms *t, int error)
{
    const bool file = error != ENOENT && error != ENOTDIR && error != EISDIR
                   && error != ESPIPE;

    if (index_refuse(job, name, text, t, error) != CLI_GO)
        return CLI_ERROR;
    return file ? index_uncovered(job, name, t) : CLI_GO;
}

static int index_blocks(index_job *job, const char *name, text_reader *text,
                        terms *t)
{
    settings_part part;
    int error, status = CLI_GO;

    while (status == CLI_GO && terms_next(t, text, &part, &error))
        status = index_add(job, name, &part, t);
    return status == CLI_GO && error != 0
         ? index_cut(job, name, text, t, error) : status;
}

/* A file with filters inside is a document without terms. */
static int index_inside(index_job *job, const char *name,
                        const text_reader *text, terms *t)
{
    const settings_part part = { .stamp = text->stamp,
                                 .length = (uint64_t)text->about.st_size,
                                 .whole = true, .inside = true };

    if (rowgroups_check(name, &job->made.values) != CLI_GO)
        return index_uncovered(job, name, t);
    t->n = 0;
    return index_add(job, name, &part, t);
}

static int index_file(index_job *job, const char *name, text_reader *text,
                      terms *t)
{
    int error = terms_file(t, text, name), status = CLI_GO;

    if (error != 0)
        status = index_cut(job, name, text, t, error);
    else if (job->self.st_ino == text->about.st_ino
             && job->self.st_dev == text->about.st_dev)
        status = CLI_GO;
    else if (t->rule == TERMS_COLUMNS && container_is(name))
        status = index_inside(job, name, text, t);
    else
        status = index_blocks(job, name, text, t);
    text_close(text);
    return status;
}

static void *index_loop(void *argument)
{
    index_job *job = argument;
    text_reader text = { .block = (size_t)job->made.block,
                         .anywhere = job->made.rule == TERMS_KMERS,
                         .plain = job->made.plain, .numbers = true,
                         .total = &job->bytes, .fd = -1 };
    terms t;
    bool fine = terms_open(&t, job->made.rule, job->made.k);
    int status = fine ? CLI_GO : report_no_memory();

    t.sequences.least = job->made.least;
    t.values.names = &job->made.values;
    for (size_t i; status == CLI_GO && !job->failed
         && (i = job->next++) < job->files.count; ) {
        t.values.file = i;
        status = index_file(job, job->files.names[i], &text, &t);
    }
    if (status != CLI_GO)
        job->failed = true;
    pthread_mutex_lock(&job->lock);
    values_merge(&job->tally, &t.values.tally);
    pthread_mutex_unlock(&job->lock);
    free(text.bytes);
    terms_close(&t);
    return NULL;
}

static void index_read(index_job *job)
{
    size_t n = text_jobs(job->want->jobs);

    work_threads(n < job->files.count ? n : job->files.count, index_loop, job);
}

/* ==== Files ============================================================= */

static int index_find(const cli_command *self, index_job *job,
                      cli_inputs *inputs, cli_operands *operands)
{
    cli_how how = { .separator = -1 };
    cli_operands taken;

    if (inputs->list != NULL && operands->count > 0)
        return options_wrong(self, "--files0-from and PATHS cannot be used "
                                   "together: leave one out");
    for (size_t i = 0; i < operands->count; i++)
        if (strcmp(operands->names[i], "-") == 0)
            return report_error("'-' is standard input, which cannot be read "
                                "again: name files");
    taken = *operands;
    inputs->jobs = text_jobs(job->want->jobs);
    inputs->threads = work_threads;
    if (inputs_take(self, inputs, &how, &taken, 0) != CLI_GO)
        return CLI_ERROR;
    for (size_t i = 0; i < taken.count; i++)    /* PATHS stay as they are    */
        if (!options_append(&job->files, taken.names[i]))
            return report_no_memory();
    inputs_sort(&job->files);
    return CLI_GO;
}

/* ==== The index ========================================================= */

static bool index_keep(void *context, uint64_t document)
{
    const earlier *e = context;

    return e->stays[document];
}

static int index_begin(index_job *job)
{
    const index_settings *want = job->want;
    bly_index_spec spec = { .rate = want->rate, .memory = want->memory,
                            .probes = terms_probes(job->made.rule),
                            .extra = SETTINGS_EXTRA };
    bly_index_stat_t stat;

    if (job->before.index != NULL) {
        bly_index_stat(&stat, job->before.index);
        spec.rate = stat.rate;
        spec.probes = stat.probes;
    }
    job->about = settings_write(&job->made, &spec.about_bytes);
    if (job->about == NULL)
        return report_no_memory();
    spec.about = job->about;
    return bly_index_begin(&job->maker, want->output, &spec) < 0
         ? filter_error() : CLI_GO;
}

static void index_report(const index_job *job)
{
    struct stat about = { .st_size = 0 };
    uint64_t size = stat(job->want->output, &about) == 0
                  ? (uint64_t)about.st_size : 0;
    uint64_t all = job->documents + job->before.documents;

    if (job->want->json) {
        json_open_object(NULL);
        json_string("index", job->want->output);
        json_count("bytes", size);
        json_count("documents", all);
        json_count("kept", job->before.documents);
        json_count("dropped", job->before.gone);
        json_count("uncovered", job->uncovered);
        json_count("read", job->documents);
        json_count("read_bytes", job->bytes);
        if (terms_named(job->made.rule))
            values_json(&job->made.values, job->made.rule, &job->tally);
        json_close_object();
    } else if (!job->want->quiet)
        report_note("%s document%s in %s; read: %s%s%s",
                    report_count(all).text, all == 1 ? "" : "s",
                    report_bytes(size).text, report_bytes(job->bytes).text,
                    job->before.gone > 0 ? "; dropped, as their files are gone "
                                           "or not in PATHS: " : "",
                    job->before.gone > 0 ? report_count(job->before.gone).text
                                         : "");
}

/* Bytes of all files; 0 if some are not files. */
static uint64_t index_measure(const index_job *job)
{
    struct stat about;
    uint64_t bytes = 0;

    for (size_t i = 0; i < job->files.count; i++) {
        if (stat(job->files.names[i], &about) < 0 || !S_ISREG(about.st_mode))
            return 0;
        bytes += (uint64_t)about.st_size;
    }
    return bytes;
}

static int index_make(index_job *job)
{
    earlier *e = &job->before;

    progress_expect(0.9);
    progress_start("index", index_measure(job), !job->want->quiet);
    index_read(job);
    progress_close();
    if (!job->failed && e->index != NULL
        && bly_index_take(job->maker, e->index, index_keep, e) < 0) {
        job->failed = true;
        filter_error();
    }
    if (job->failed) {
        bly_index_abort(job->maker);
        return CLI_ERROR;
    }
    if (bly_index_end(job->maker) < 0)
        return filter_error();
    if (terms_named(job->made.rule) && job->tally.lines > 0)
        values_note(&job->made.values, job->made.rule, &job->tally,
                    job->files.names[job->tally.file], job->want->quiet);
    index_report(job);
    return job->unread ? CLI_ERROR : CLI_OK;
}

static int index_all(const cli_command *self, index_job *job,
                     cli_inputs *inputs, cli_operands *operands)
{
    int status = index_find(self, job, inputs, operands);

    if (stat(job->want->output, &job->self) < 0)
        job->self.st_ino = 0;
    if (status == CLI_GO && job->want->plan)
        return plan_index(&job->made, job->want->rate, &job->files,
                          job->want->json);
    if (status == CLI_GO && job->before.index != NULL)
        status = earlier_sift(&job->before, &job->files, false, NULL,
                              job->want->jobs);
    if (status == CLI_GO)
        status = index_begin(job);
    return status == CLI_GO ? index_make(job) : status;
}

/* ==== Checks of the output ============================================= */

/* Refuses to overwrite a file that is not an index: it may be the only copy.
 * Returns CLI_GO or CLI_ERROR. */
static int index_check_output(const index_settings *s)
{
    struct stat about;

    if (s->force || s->plan || stat(s->output, &about) < 0
        || !S_ISREG(about.st_mode) || about.st_size == 0
        || filter_is_index(s->output))
        return CLI_GO;
    return report_error("'%s' exists and is not an index: name another output, "
                        "or use --force to replace it", s->output);
}

/* Refuses an update if a path is missing: without a folder that is not mounted,
 * for example, all of its files would leave the index. CLI_GO or CLI_ERROR. */
static int index_check_paths(const index_job *job, const cli_operands *paths)
{
    for (size_t i = 0; i < paths->count && job->before.index != NULL; i++)
        if (access(paths->names[i], F_OK) < 0)
            return report_error("'%s' does not exist: restore it, or give the "
                                "PATHS that are left: then its files leave the "
                                "index", paths->names[i]);
    return CLI_GO;
}

/* ==== Options =========================================================== */

/* Takes the settings of an update from the old index. CLI_GO or CLI_ERROR. */
static int index_renew(index_settings *s, index_job *job,
                       cli_operands *operands)
{
    earlier *e = &job->before;

    e->index = settings_open(s->output, &e->made);
    if (e->index == NULL)
        return CLI_ERROR;
    if (settings_here(s->output, &e->made, e->index, job->made.folder)
        != CLI_GO)
        return CLI_ERROR;
    if (operands->count == 0 && s->inputs.list == NULL) {
        if (e->made.paths.count == 0 && !e->made.recursive)
            return report_error("'%s' was made from a list of files: use "
                                "--files0-from, or give PATHS", s->output);
        *operands = e->made.paths;
        s->inputs.recursive |= e->made.recursive;
        s->inputs.git |= e->made.git;
    }
    job->made.rule = e->made.rule;
    job->made.k = e->made.k;
    job->made.block = e->made.block;
    job->made.least = e->made.least;
    job->made.plain = e->made.plain;
    job->made.values = e->made.values;
    return CLI_GO;
}

/* Reads --by and the options about columns. Returns CLI_GO or CLI_ERROR. */
static int index_rule(const cli_command *self, const index_settings *s,
                      index_job *job)
{
    settings *made = &job->made;
    const char *wrong;

    if (s->by.count == 0)
        return CLI_GO;
    if (s->by.count > 1)
        return options_wrong(self, "--by is given once: several members or "
                                   "columns are named together, as in "
                                   "json-field=trace_id,span_id");
    job->by = strdup(s->by.names[0]);
    if (job->by == NULL)
        return report_no_memory();
    made->values.separator = s->separator;
    made->values.tsv = s->tsv;
    wrong = settings_rule(job->by, made);
    if (wrong != NULL)
        return report_error("--by '%s' %s", s->by.names[0], wrong);
    if (made->rule != TERMS_COLUMNS && (s->separator >= 0 || s->tsv))
        return options_wrong(self, "-t and --tsv are for columns: give --by "
                                   "column=NAME");
    if (s->separator == '"' || s->separator == '\n' || s->separator == '\r')
        return options_wrong(self, "quotes and line ends have a meaning of "
                                   "their own in CSV: -t must be another byte");
    return CLI_GO;
}

/* Takes the settings of a new index from the options. */
static int index_new(const cli_command *self, const index_settings *s,
                     index_job *job, const cli_operands *operands)
{
    settings *made = &job->made;
    int status = index_rule(self, s, job);

    if (status != CLI_GO)
        return status;
    if (made->rule == TERMS_KMERS && s->block != 0)
        return options_wrong(self, "--block cuts files into lines, but k-mers "
                                   "continue from line to line");
    if (made->rule != TERMS_KMERS && s->least != 0)
        return options_wrong(self, "--min-count is for k-mers: give --by "
                                   "kmers=31");
    if (s->least > KMERS_LEAST)
        return report_error("--min-count %" PRIu64 " is more than %d: give "
                            "less", s->least, KMERS_LEAST);
    made->least = s->least != 0 ? s->least : 1;
    if (operands->count == 0 && s->inputs.list == NULL && !s->inputs.recursive)
        return options_wrong(self, "there are no files to read: name files, or "
                                   "use -r");
    made->plain = s->plain;
    made->block = s->block != 0 ? s->block : INDEX_BLOCK;
    if (made->block > SIZE_MAX / 8)
        return report_error("--block %" PRIu64 " does not fit in memory: give "
                            "less", s->block);
    return CLI_GO;
}

static void index_free(index_job *job, index_settings *s, char *folder)
{
    inputs_end(&s->inputs, false);
    free(s->by.names);
    earlier_free(&job->before);
    free(job->files.names);
    free(job->about);
    free(job->by);
    pthread_mutex_destroy(&job->lock);
    free(folder);
}

static int index_run(const cli_command *self, int argc, char **argv)
{
    index_settings s = { .separator = -1 };
    index_job job = { .want = &s, .lock = PTHREAD_MUTEX_INITIALIZER,
                      .made = { .k = TERMS_KMER,
                                .values = { .separator = -1 } } };
    cli_operands operands;
    char *folder;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    s.inputs.recursive |= s.inputs.git;
    if (access(s.output, F_OK) < 0 && errno == ENOENT
        && (operands.count > 0 || s.inputs.list != NULL))
        s.update = false;               /* the first of many */
    folder = getcwd(NULL, 0);
    job.made.folder = folder;
    if (folder == NULL)
        status = report_unread("name", ".", errno);
    else
        status = s.update ? index_renew(&s, &job, &operands)
                          : index_new(self, &s, &job, &operands);
    if (status == CLI_GO)
        status = index_check_output(&s);
    if (status == CLI_GO)
        status = index_check_paths(&job, &operands);
    if (status == CLI_GO && job.made.rule == TERMS_MEMBERS && !members_open())
        status = CLI_ERROR;
    if (status == CLI_GO && s.rate == 0)
        s.rate = terms_rate(job.made.rule);
    job.made.recursive = s.inputs.recursive;
    job.made.git = s.inputs.git;
    job.made.paths = s.inputs.list == NULL ? operands : (cli_operands){ 0 };
    if (status == CLI_GO)
        status = index_all(self, &job, &s.inputs, &operands);
    index_free(&job, &s, folder);
    return status;
}

const cli_command cmd_index = {
    .name = "index",
    .operands = "[PATHS...]",
    .summary = "index what files contain, for 'which' and 'search'",
    .text =
        "Indexes the terms of many files. 'bloomery which' then names the "
        "files that may have some words without reading them: it names every "
        "file that has them, and a small share, --rate, of the others. "
        "'bloomery search' needs an index by trigrams or words. The index "
        "takes a few percent of the size of the text.\n\n"
        "The terms of --by are: trigrams, any text of three bytes or more "
        "within a line, without regard to case; words, runs of letters, digits "
        "and _, without regard to case, and also whole addresses and UUIDs; "
        "fields, which stand between blanks; lines; or kmers=31, so many bases "
        "in a row in files of FASTA, which begin with '>', or of FASTQ, which "
        "begin with '@', on either strand. Letters other than A, C, G, T and "
        "U, in either case, are in no k-mer.\n\n"
        "Compressed files are read decompressed. A file that cannot be read is "
        "left out with a message; the index is still made, and the exit status "
        "is 2.\n\n"
        "FILE is replaced in one step: until then, and after an error, the old "
        "index stays. Names are kept as PATHS give them: an index of absolute "
        "names can be used from anywhere, others from the folder where it was "
        "made. A program that changes a file by mapping it, as databases do, "
        "may leave its times as they were: --update does not see such a "
        "change.",
    .options = index_options,
    .usual = "output by recursive git update rate plan json",
    .examples = index_examples,
    .status = "0 if all files are in the index; 2 if a file could not be read, "
              "which is then missing from the index, or after another error, "
              "when FILE is as it was before.",
    .run = index_run,
};
