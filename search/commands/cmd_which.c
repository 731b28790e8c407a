/* cmd_which.c - `bloomery which`: an index and words or values -> names of
 * files. */
#include "search/commands/search.h"
#include "frame/json.h"
#include "frame/options.h"
#include "frame/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    double least;
    bool   any, sequences, files, null, json;
    cli_operands values;
} which_settings;

static const cli_option which_options[] = {
    { 0, "field", "NAME=VALUE", CLI_LIST, offsetof(which_settings, values),
      false, "Instead of WORDS, a value of a member or column, in an index by "
      "json-field or column. It may be given several times.",
      .excludes = "at-least sequences" },
    { 0, "any", NULL, CLI_FLAG, offsetof(which_settings, any), false,
      "Name the documents that may have any of the WORDS or values. Default: "
      "all of them." },
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
    { "bloomery which traces.blx --field trace_id=4bf92f3577b34da6",
      "Name the files, or parts of files, that may have this trace." },
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
    const char  *path;          /* of the index                              */
    bool         unread;        /* a file with filters could not be queried  */
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

/* Adds the documents that may have all of the terms to the row. */
static int which_add(which_job *job, const terms *t, bool first)
{
    if (bly_index_which(job->one, job->index, t->hashes, t->n, t->n) < 0)
        return filter_error();
    for (size_t w = 0; w < which_words(job); w++)
        job->row[w] = first ? job->one[w]
                    : job->want->any ? job->row[w] | job->one[w]
                                     : job->row[w] & job->one[w];
    return CLI_GO;
}

/* Looks up each word as a whole: documents with all words, or with any. */
static int which_each(which_job *job, terms *t, const cli_operands *words)
{
    int status = CLI_GO;

    for (size_t i = 1; i < words->count && status == CLI_GO; i++) {
        status = which_terms(job, t, words->names[i]);
        if (status == CLI_GO)
            status = which_add(job, t, i == 1);
    }
    return status;
}

/* ==== Values ============================================================ */

/* Lists the names of an index, as far as there is room. */
static void which_list(char *out, size_t room, const values_names *names)
{
    size_t n = 0;

    for (size_t i = 0; i < names->n && n < room; i++) {
        int wrote = snprintf(out + n, room - n, "%s%s", i > 0 ? ", " : "",
                             names->names[i]);

        n += wrote > 0 ? (size_t)wrote : room;
    }
}

static int which_no_name(const which_job *job, const char *given)
{
    const char *equals = strchr(given, '=');
    char list[300] = "";

    which_list(list, sizeof list, &job->made.values);
    if (equals == NULL)
        return report_error("--field '%s' has no value: give NAME=VALUE, where "
                            "NAME is %s", given, list);
    return report_error("the index has no values of '%.*s': give NAME=VALUE, "
                        "where NAME is %s", (int)(equals - given), given,
                        list);
}

/* Verifies that the names of files are valid in this folder. CLI_GO or
 * CLI_ERROR. */
static int which_here(const which_job *job)
{
    char *folder = getcwd(NULL, 0);
    int status = folder == NULL ? report_unread("name", ".", errno)
               : settings_here(job->path, &job->made, job->index, folder);

    free(folder);
    return status;
}

/* Queries a file with filters inside, and sets the bit of its document. */
static int which_inside(which_job *job, const bly_document *document,
                        uint64_t number)
{
    const uint64_t bit = (uint64_t)1 << number % 64;
    char *name = strndup(document->name, document->length);
    bool may = false;

    if (name == NULL)
        return report_no_memory();
    if (rowgroups_query(&may, name, &job->made.values, &job->want->values,
                        job->want->any) != CLI_GO)
        job->unread = true;
    free(name);
    job->row[number / 64] &= ~bit;
    job->row[number / 64] |= may ? bit : 0;
    return CLI_GO;
}

/* Queries all files with filters inside. */
static int which_all_inside(which_job *job)
{
    bool any = false;
    int status = CLI_GO;

    for (uint64_t i = 0; i < job->documents && status == CLI_GO; i++) {
        bly_document document;
        settings_part part;

        if (bly_index_document(&document, job->index, i) < 0)
            return filter_error();
        settings_unpack(&part, document.extra);
        if (document.dropped || !part.inside)
            continue;
        if (!any)
            status = which_here(job);
        any = true;
        if (status == CLI_GO)
            status = which_inside(job, &document, i);
    }
    return status;
}

/* Looks up the values: documents with all of them, or with any. */
static int which_values(which_job *job, terms *t)
{
    const cli_operands *given = &job->want->values;
    int status = CLI_GO;

    t->values.names = &job->made.values;
    for (size_t i = 0; i < given->count && status == CLI_GO; i++) {
        const char *name = values_name(&job->made.values, given->names[i]);

        if (name == NULL)
            return which_no_name(job, given->names[i]);
        if (!values_hash(t, name, given->names[i] + strlen(name) + 1))
            return report_no_memory();
        status = which_add(job, t, i == 0);
    }
    return status == CLI_GO && job->made.rule == TERMS_COLUMNS
         ? which_all_inside(job) : status;
}

/* Verifies that words or values are given, as the index needs them. CLI_GO or
 * CLI_ERROR. */
static int which_check(const which_job *job)
{
    const bool values = job->want->values.count > 0;
    const char *path = job->path;

    if (terms_named(job->made.rule) && !values)
        return report_error("'%s' is an index by %s: give a value to look for, "
                            "--field %s=VALUE", path,
                            terms_name(job->made.rule),
                            job->made.values.names[0]);
    if (!terms_named(job->made.rule) && values)
        return report_error("'%s' is an index by %s, which has no --field: "
                            "give WORDS, or make one with 'bloomery index --by "
                            "json-field=NAME'", path,
                            terms_name(job->made.rule));
    return CLI_GO;
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
    return status != CLI_GO ? status : job->unread ? CLI_ERROR
         : job->found.n > 0 ? CLI_OK : CLI_NONE;
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
        status = job->want->values.count > 0 ? which_values(job, &t)
               : job->want->least > 0 ? which_share(job, &t, operands)
                                      : which_each(job, &t, operands);
    terms_close(&t);
    if (status == CLI_GO)
        status = found_make(&job->found, job->index, job->row);
    if (status == CLI_GO)
        status = found_note_uncovered(job->index, job->path);
    return status == CLI_GO ? which_name(job) : status;
}

static int which_run_settled(const cli_command *self, const which_settings *s,
                             const cli_operands *operands)
{
    which_job job = { .want = s };
    int status;

    if (operands->count > 1 && s->values.count > 0)
        return options_wrong(self, "with --field, this command takes only an "
                                   "INDEX");
    if (operands->count + s->values.count < 2 || operands->count == 0)
        return options_wrong(self, "this command takes an INDEX, made with "
                                   "'bloomery index', and WORDS to look for, "
                                   "or --field");
    if (s->least >= 0 && s->least <= 0)
        return options_wrong(self, "--at-least 0 would name every document: "
                                   "give a share above 0");
    if (s->sequences)
        return sequences_query(operands, s->least, s->json);
    job.path = operands->names[0];
    job.index = settings_open(job.path, &job.made);
    if (job.index == NULL)
        return CLI_ERROR;
    status = which_check(&job);
    if (status == CLI_GO)
        status = which_ask(&job, operands);
    free(job.made.paths.names);
    bly_index_free(job.index);
    free(job.row);
    free(job.one);
    free(job.found.all);
    return status;
}

static int which_run(const cli_command *self, int argc, char **argv)
{
    which_settings s = { .least = -1 };
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status == CLI_GO)
        status = which_run_settled(self, &s, &operands);
    free(s.values.names);
    return status;
}

const cli_command cmd_which = {
    .name = "which",
    .operands = "INDEX [WORDS...]",
    .summary = "name the files of an index that may have some words or values",
    .text =
        "Prints the names of the files that may have all of the WORDS, in the "
        "order of their bytes. A part of a file is named with a colon and its "
        "offset, in bytes of the decompressed file. A file that had the words "
        "when the index was made is always named; another file seldom, as "
        "'bloomery index --rate' has set.\n\n"
        "The index defines a word: a whole word or, for trigrams, a text of "
        "at least three bytes, both without regard to case; for lines, a "
        "line. An operand of several words stands for all of them, in any "
        "order.\n\n"
        "An index by json-field or column takes values instead, --field "
        "NAME=VALUE. A string is given without its quotes and escapes, a "
        "number as it is written in the file: 7 does not find 7.0. With "
        "several values, one part of a file must have all of them, not "
        "necessarily in one line. Parquet and ORC files are queried at this "
        "moment by the filters inside.",
    .options = which_options,
    .usual = "field any at-least files-with-matches null json",
    .examples = which_examples,
    .status = "0 if a file was named, 1 if none may have the words, 2 after "
              "an error.",
    .run = which_run,
};
