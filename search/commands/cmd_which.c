/* cmd_which.c - `bloomery which`: an index and words -> names of files. */
#include "search/commands/search.h"
#include "frame/json.h"
#include "frame/options.h"
#include "frame/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double least;
    bool   any, sequences, files, null, json;
} which_settings;

static const cli_option which_options[] = {
    { 0, "any", NULL, CLI_FLAG, offsetof(which_settings, any), false,
      "Name the documents that may have any of the WORDS. Default: all of "
      "them." },
    { 0, "at-least", "SHARE", CLI_SHARE, offsetof(which_settings, least),
      false, "Name documents that may have at least this share of the terms: "
      "0.8, 80%. For k-mers and for texts that are nearly alike.",
      .excludes = "any" },
    { 0, "sequences", NULL, CLI_FLAG, offsetof(which_settings, sequences),
      false, "Query each record of FASTA or FASTQ files, instead of WORDS, in "
      "an index of k-mers; '-' is standard input. Prints a line for each "
      "record and each file that may have its k-mers, with six columns: the "
      "name of the record, the file, the k-mers found, the different k-mers "
      "of the record, the share found, and how many k-mers would be found by "
      "chance.",
      .excludes = "any files-with-matches null" },
    { 0, "files-with-matches", NULL, CLI_FLAG,
      offsetof(which_settings, files), false,
      "Name each file once, without its parts." },
    { '0', "null", NULL, CLI_FLAG, offsetof(which_settings, null), false,
      "End names with a NUL byte instead of a newline.",
      .group = CLI_OUTPUT },
    { 0, "json", NULL, CLI_FLAG, offsetof(which_settings, json), false,
      "Print an array of objects with file, offset, bytes, lines_before and "
      "whole (true if the object is all of the file). With --sequences: query, "
      "file, found, asked, share and by_chance.",
      .group = CLI_OUTPUT },
    { 0 }
};

static const cli_example which_examples[] = {
    { "bloomery which logs.blx 10.0.0.7 refused",
      "Name the files, or parts of files, that may have both words." },
    { "bloomery which --files-with-matches logs.blx timeout",
      "Name each file once, as for 'xargs zgrep -w timeout'." },
    { "bloomery which --at-least 80% genomes.blx $(cat gene.txt)",
      "Name the genomes that may have most k-mers of a sequence." },
    { "bloomery which --sequences --at-least 80% genomes.blx reads.fq.gz",
      "Name the genomes that may have most k-mers of each read." },
    { NULL, NULL }
};

typedef struct {
    const which_settings *want;
    bly_index   *index;
    settings     made;
    uint64_t     documents;
    uint64_t    *row, *one;     /* a bit for each document                   */
    found_list   found;
} which_job;

/* ==== Asking ============================================================ */

static size_t which_words(const which_job *job)
{
    return (size_t)((job->documents + 63) / 64);
}

static int which_no_term(const which_job *job, const char *word)
{
    static const char *const why[TERMS_RULES] = {
        [TERMS_TRIGRAMS] = "the index is of trigrams, and it has no three "
                           "bytes in a line: give a longer text",
        [TERMS_WORDS] = "the index is of words, and it has no letter, digit "
                        "or _: give a word",
        [TERMS_FIELDS] = "the index is of fields, and there are only blanks: "
                         "give a field",
        [TERMS_LINES] = "the index is of lines, and it is empty: give a line",
        [TERMS_KMERS] = "the index is of k-mers, and there are not so many "
                        "bases in a row: give a longer sequence",
    };

    return report_error("'%s' has no term: %s", word, why[job->made.rule]);
}

/* Terms of a word: of `t`, until it is used again. */
static int which_terms(const which_job *job, terms *t, char *word)
{
    char *copy = strdup(word);
    bool found = copy != NULL && terms_find(t, (unsigned char *)copy,
                                            strlen(copy));

    free(copy);
    if (!found)
        return report_no_memory();
    return t->n > 0 ? CLI_GO : which_no_term(job, word);
}

/* Looks up each word as a whole: documents with all words, or with any. */
static int which_each(which_job *job, terms *t, const cli_operands *words)
{
    int status = CLI_GO;

    for (size_t i = 1; i < words->count && status == CLI_GO; i++) {
        status = which_terms(job, t, words->names[i]);
        if (status == CLI_GO
            && bly_index_which(job->one, job->index, t->hashes, t->n, t->n) < 0)
            status = filter_error();
        for (size_t w = 0; w < which_words(job); w++)
            job->row[w] = i == 1 ? job->one[w]
                        : job->want->any ? job->row[w] | job->one[w]
                                         : job->row[w] & job->one[w];
    }
    return status;
}

/* Looks up all terms of all words together; a share of them suffices. A term
 * that is repeated counts once. */
static int which_share(which_job *job, terms *t, const cli_operands *words)
{
    uint64_t *all = NULL;
    size_t n = 0;
    int status = CLI_GO;

    for (size_t i = 1; i < words->count && status == CLI_GO; i++) {
        status = which_terms(job, t, words->names[i]);
        if (status == CLI_GO && !bytes_grow(&all, n + t->n, sizeof *all))
            status = report_no_memory();
        if (status == CLI_GO)
            memcpy(all + n, t->hashes, t->n * sizeof *all);
        n += t->n;
    }
    if (status == CLI_GO) {
        n = multiset_sift(all, n, 1, 1);
        if (bly_index_which(job->row, job->index, all, n,
                            multiset_share(job->want->least, n)) < 0)
            status = filter_error();
    }
    free(all);
    return status;
}

/* ==== Naming ============================================================ */

static int which_print_json(const found_one *f)
{
    char *name = strndup(f->document.name, f->document.length);

    if (name == NULL)
        return report_no_memory();
    json_open_object(NULL);
    json_string("file", name);
    json_count("offset", f->part.offset);
    json_count("bytes", f->part.length);
    json_count("lines_before", f->part.lines);
    json_bool("whole", f->part.whole);
    json_close_object();
    free(name);
    return CLI_GO;
}

static void which_print(const which_job *job, const found_one *f)
{
    output_bytes(f->document.name, f->document.length);
    if (!f->part.whole && !job->want->files)
        output_format(":%" PRIu64, f->part.offset);
    output_bytes(job->want->null ? "\0" : "\n", 1);
}

static int which_name(which_job *job)
{
    int status = CLI_GO;

    if (job->want->json)
        json_open_array(NULL);
    for (size_t i = 0; i < job->found.n && status == CLI_GO && !output_failed();
         i++) {
        const found_one *f = &job->found.all[i];

        if (job->want->files && i > 0
            && found_order(&f[-1].document, &f->document) == 0)
            continue;
        if (job->want->json)
            status = which_print_json(f);
        else
            which_print(job, f);
    }
    if (job->want->json)
        json_close_array();
    return status != CLI_GO ? status : job->found.n > 0 ? CLI_OK : CLI_NONE;
}

/* ==== All of it ========================================================= */

static int which_ask(which_job *job, const cli_operands *operands)
{
    bly_index_stat_t stat;
    terms t;
    int status;

    bly_index_stat(&stat, job->index);
    job->documents = stat.documents;
    job->row = calloc(which_words(job) + 1, sizeof *job->row);
    job->one = calloc(which_words(job) + 1, sizeof *job->one);
    if (!terms_open(&t, job->made.rule, job->made.k)
        || job->row == NULL || job->one == NULL)
        status = report_no_memory();
    else
        status = job->want->least > 0 ? which_share(job, &t, operands)
                                      : which_each(job, &t, operands);
    terms_close(&t);
    if (status == CLI_GO)
        status = found_make(&job->found, job->index, job->row);
    return status == CLI_GO ? which_name(job) : status;
}

static int which_run(const cli_command *self, int argc, char **argv)
{
    which_settings s = { .least = -1 };
    which_job job = { .want = &s };
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    if (operands.count < 2)
        return options_wrong(self, "this command takes an INDEX, made with "
                                   "'bloomery index', and WORDS to look for");
    if (s.least >= 0 && s.least <= 0)
        return options_wrong(self, "--at-least 0 would name every document: "
                                   "give a share above 0");
    if (s.sequences)
        return sequences_query(&operands, s.least, s.json);
    job.index = settings_open(operands.names[0], &job.made);
    if (job.index == NULL)
        return CLI_ERROR;
    status = which_ask(&job, &operands);
    free(job.made.paths.names);
    bly_index_free(job.index);
    free(job.row);
    free(job.one);
    free(job.found.all);
    return status;
}

const cli_command cmd_which = {
    .name = "which",
    .operands = "INDEX WORDS...",
    .summary = "name the files of an index that may have some words",
    .text =
        "Prints the names of the files that may have all of the WORDS, in the "
        "order of their bytes. A part of a file is named with a colon and its "
        "offset, in bytes of the decompressed file. A file that had the words "
        "when the index was made is always named; another file seldom, as "
        "'bloomery index --rate' has set.\n\n"
        "The index defines a word: a whole word or, for trigrams, a text of "
        "at least three bytes, both without regard to case; for lines, a "
        "line. An operand of several words stands for all of them, in any "
        "order.",
    .options = which_options,
    .usual = "any at-least files-with-matches null json",
    .examples = which_examples,
    .status = "0 if a file was named, 1 if none may have the words, 2 after "
              "an error.",
    .run = which_run,
};
