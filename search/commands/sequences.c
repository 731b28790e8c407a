/* sequences.c - queries an index of k-mers with each record of FASTA and FASTQ
 * files.
 *
 *      a record -> its different k-mers -> how many of them each document has
 *
 * A document that has enough of them is printed with their number and share.
 * They include k-mers that the document has by chance. Their expected number,
 * if it had none, is printed beside them: the share of the bits of the
 * document that are set, for each k-mer.
 */
#include "search/commands/search.h"
#include "frame/json.h"
#include "frame/output.h"
#include "frame/refuse.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEQUENCES_BLOCK = 1 << 18 };

typedef struct {
    bly_index *index;
    settings   made;
    double     share;
    bool       json;
    bly_index_stat_t stat;
    uint32_t  *counts;          /* k-mers of each document                   */
    uint64_t  *row;             /* a bit for each that has enough            */
    uint64_t   printed, empty;  /* lines; records without a k-mer            */
} sequences_job;

/* ==== A record ========================================================== */

/* Returns the share of strange k-mers that a document has by chance: that of
 * its bits which are set, as far as its number of keys says. */
static double sequences_chance(const sequences_job *job,
                               const bly_document *document)
{
    const bly_index_spec spec = { .rate = job->stat.rate,
                                  .probes = job->stat.probes };
    double bits = (double)bly_index_bits(&spec, document->keys);
    double ones = (double)document->keys * spec.probes;

    return ones > 0 ? pow(-expm1(-ones / bits), spec.probes) : 0;
}

static int sequences_print(sequences_job *job, const char *name,
                              const found_one *f, uint32_t found, size_t asked)
{
    double share = (double)found / (double)asked;
    double chance = sequences_chance(job, &f->document) * (double)asked;
    char *file;

    if (!job->json) {
        output_format("%s\t", name);
        output_bytes(f->document.name, f->document.length);
        output_format("\t%" PRIu32 "\t%zu\t%.4f\t%.1f\n", found, asked, share,
                      chance);
        return CLI_GO;
    }
    file = strndup(f->document.name, f->document.length);
    if (file == NULL)
        return report_no_memory();
    json_open_object(NULL);
    json_string("query", name);
    json_string("file", file);
    json_count("found", found);
    json_count("asked", asked);
    json_real("share", share);
    json_real("by_chance", chance);
    json_close_object();
    free(file);
    return CLI_GO;
}

/* Prints the documents that have enough of n k-mers. */
static int sequences_found(sequences_job *job, const char *name, size_t n)
{
    const size_t enough = multiset_share(job->share, n);
    found_list found;
    int status;

    memset(job->row, 0, (size_t)(job->stat.documents + 63) / 64
                        * sizeof *job->row);
    for (uint64_t i = 0; i < job->stat.documents; i++)
        if (job->counts[i] >= enough)
            job->row[i / 64] |= (uint64_t)1 << i % 64;
    status = found_make(&found, job->index, job->row);
    for (size_t i = 0; status == CLI_GO && i < found.n; i++, job->printed++)
        status = sequences_print(job, name, &found.all[i],
                                 job->counts[found.all[i].number], n);
    free(found.all);
    return status;
}

/* Queries a record, which has just been read. */
static int sequences_record(sequences_job *job, terms *t)
{
    const size_t n = multiset_sift(t->hashes, t->n, 1, 1);
    cli_bytes *name = &t->sequences.name;

    t->n = 0;
    job->empty += n == 0;
    if (n == 0)
        return CLI_GO;
    if (!bytes_put(name, "", 1))
        return report_no_memory();
    if (bly_index_count(job->counts, job->index, t->hashes, n) < 0)
        return filter_error();
    return sequences_found(job, (char *)name->data + name->from, n);
}

/* ==== Files ============================================================= */

/* Queries the records of a block. Returns CLI_GO or CLI_ERROR; *error is an
 * error of the file. */
static int sequences_block(sequences_job *job, terms *t,
                           const text_block *block, int *error)
{
    const unsigned char *at = block->bytes, *end = at + block->n;
    kmers_result result;
    int status = CLI_GO;

    while (status == CLI_GO
           && (result = kmers_read(t, &at, end)) == KMERS_RECORD)
        status = sequences_record(job, t);
    *error = status == CLI_GO ? kmers_error(result) : 0;
    return status;
}

/* Queries the records of a file. */
static int sequences_file(sequences_job *job, terms *t, text_reader *text,
                      const char *path)
{
    int error = text_open(text, path), status = CLI_GO;
    text_block block;

    if (error == 0 && !kmers_begin(t))
        error = ENOMEM;
    while (status == CLI_GO && error == 0 && !output_failed()
           && text_next(text, &block, &error))
        status = sequences_block(job, t, &block, &error);
    if (status == CLI_GO && error == 0) {
        kmers_result result = kmers_end(t);

        error = kmers_error(result);
        if (result == KMERS_RECORD)
            status = sequences_record(job, t);
    }
    text_close(text);
    if (error == EBADMSG)
        return report_error("line %" PRIu64 " of '%s' %s: the records before "
                            "it were queried", t->sequences.line, path,
                            t->sequences.broken);
    return error != 0 ? refuse_file(path, error) : status;
}

/* Queries the records of all files. The first error ends it. */
static int sequences_files(sequences_job *job, terms *t,
                           const cli_operands *operands)
{
    text_reader text = { .block = SEQUENCES_BLOCK, .anywhere = true,
                         .pipes = true, .fd = -1 };
    int status = CLI_GO;

    t->sequences.named = true;
    if (job->json)
        json_open_array(NULL);
    for (size_t i = 1; i < operands->count && status == CLI_GO; i++)
        status = sequences_file(job, t, &text, operands->names[i]);
    if (job->json)
        json_close_array();
    if (job->empty > 0)
        report_note("%s record%s no k-mer: it takes %u bases in a row",
                    report_count(job->empty).text,
                    job->empty == 1 ? " has" : "s have", job->made.k);
    free(text.bytes);
    return status != CLI_GO ? status : job->printed > 0 ? CLI_OK : CLI_NONE;
}

static int sequences_open(sequences_job *job, const char *path)
{
    job->index = settings_open(path, &job->made);
    if (job->index == NULL)
        return CLI_ERROR;
    if (job->made.rule != TERMS_KMERS)
        return report_error("'%s' is an index of %s: --sequences needs one "
                            "made with 'bloomery index --by kmers=31'", path,
                            terms_name(job->made.rule));
    bly_index_stat(&job->stat, job->index);
    job->counts = calloc((size_t)job->stat.documents + 1, sizeof *job->counts);
    job->row = calloc((size_t)job->stat.documents / 64 + 1, sizeof *job->row);
    return job->counts != NULL && job->row != NULL ? CLI_GO
                                                   : report_no_memory();
}

int sequences_query(const cli_operands *operands, double share, bool json)
{
    sequences_job job = { .share = share, .json = json };
    int status = sequences_open(&job, operands->names[0]);
    terms t;

    if (status == CLI_GO) {
        status = terms_open(&t, job.made.rule, job.made.k)
               ? sequences_files(&job, &t, operands) : report_no_memory();
        terms_close(&t);
    }
    if (job.index != NULL)
        free(job.made.paths.names);
    bly_index_free(job.index);
    free(job.counts);
    free(job.row);
    return status;
}
