/* cmd_similar.c - `bloomery similar`: the rows of bits that are most like
 * others, of chemistry's fingerprints.
 *
 * Both files are read into memory (chemfp's FPS), the library is sorted, and
 * queries are answered some at a time, in their order.
 */
#include "bloomery/command.h"
#include "frame/json.h"
#include "frame/options.h"
#include "frame/output.h"
#include "frame/refuse.h"

#include <bloomery/similar.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are printed of a query where -n does not say, and those that are
 * found before they are printed. */
enum { SIMILAR_ROWS = 10, SIMILAR_FOUND = 1 << 18 };

typedef struct {
    uint64_t    rows, jobs;
    double      least;
    const char *measure;
    bool        within, estimate, json, any;
} similar_settings;

static const cli_option similar_options[] = {
    { 0, "rows", "K", CLI_NUMBER, offsetof(similar_settings, rows), false,
      "Print the K most similar rows for each query; equal rows in the order "
      "of LIBRARY. Default: 10, or all with --superset." },
    { 0, "threshold", "T", CLI_SHARE, offsetof(similar_settings, least),
      false, "Print only rows with a similarity of at least T, 0 to 1 or a "
      "percentage. Default: 0, which every row has." },
    { 0, "measure", "MEASURE", CLI_TEXT, offsetof(similar_settings, measure),
      false, "The similarity, with a bits in the query, b in the row and c in "
      "both: tanimoto, c / (a + b - c); dice, 2 c / (a + b); contained, c / a; "
      "or tversky=A,B, c / (A (a - c) + B (b - c) + c) with weights of at "
      "least 0. Default: tanimoto." },
    { 0, "superset", NULL, CLI_FLAG, offsetof(similar_settings, within), false,
      "Print only rows that have all bits of the query. If each bit stands "
      "for a part, no molecule that contains the query is missed. That does "
      "not hold for circular fingerprints (ECFP, Morgan)." },
    { 0, "estimate", NULL, CLI_FLAG, offsetof(similar_settings, estimate),
      false, "Print four more columns about the features behind the bits, "
      "where several may set the same bit: estimated features of the query, "
      "the row and both, and their Tanimoto similarity, or 'unknown'." },
    { 0, "any-type", NULL, CLI_FLAG, offsetof(similar_settings, any), false,
      "Compare rows even if their '#type' lines differ." },
    { 0, "json", NULL, CLI_FLAG, offsetof(similar_settings, json), false,
      "Print an array of objects, one for each query: query, and rows, each "
      "with id, similarity, bits and shared; with --estimate also a, b, both "
      "and jaccard, each with value and sd." },
    CLI_JOBS_OPTION(similar_settings, jobs),
    { 0 }
};

static const cli_example similar_examples[] = {
    { "bloomery similar --rows 10 --threshold 0.7 query.fps library.fps",
      "Print up to ten rows per query with a Tanimoto similarity of at least "
      "0.7." },
    { "bloomery similar --superset part.fps library.fps",
      "Print the molecules that may have this part." },
    { "zcat library.fps.gz | bloomery similar --measure tversky=0.9,0.1 "
      "query.fps -",
      "Weigh bits that the row lacks more than bits that the query lacks." },
    { NULL, NULL }
};

typedef struct {
    const similar_settings *want;
    bly_similar_spec  spec;
    bly_rows         *queries, *library;
    bly_similar      *found;            /* of a group of queries, …          */
    size_t           *counts;           /* and how many each has             */
    size_t            batch;
    bool              any;              /* whether any has some              */
} similar_job;

/* ==== The measure ======================================================= */

/* Parses a weight and moves *text past it. Returns false if there is none. */
static bool similar_weight(const char **text, double *out)
{
    char *end;

    if ((**text < '0' || **text > '9') && **text != '.')
        return false;
    *out = strtod(*text, &end);
    if (end == *text || !isfinite(*out))
        return false;
    *text = end;
    return true;
}

static bool similar_tversky(bly_similar_spec *spec, const char *text)
{
    spec->measure = BLY_TVERSKY;
    return similar_weight(&text, &spec->alpha) && *text++ == ','
        && similar_weight(&text, &spec->beta) && *text == '\0';
}

static int similar_measure(bly_similar_spec *spec, const char *text)
{
    static const char *const names[] = { "tanimoto", "dice", "contained" };
    static const bly_measure measures[] = { BLY_TANIMOTO, BLY_DICE,
                                            BLY_CONTAINED };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            spec->measure = measures[i];
            return CLI_GO;
        }
    if (strncmp(text, "tversky=", 8) != 0)
        return report_error("unknown measure '%s': give tanimoto, dice, "
                            "contained or tversky=A,B", text);
    return similar_tversky(spec, text + 8) ? CLI_GO
         : report_error("--measure '%s' does not have two weights: give two "
                        "numbers of at least 0, such as tversky=0.9,0.1", text);
}

/* ==== Reading =========================================================== */

static int similar_take(bly_rows *rows, const cli_chunk *chunk)
{
    bly_status status;

    if (chunk->error != 0)
        return refuse_chunk(chunk);
    status = bly_rows_add_fps(rows, chunk->block, chunk->length);
    if (status == BLY_ENOMEM)
        return report_error("out of memory: '%s' has too many rows for this "
                            "machine: search it in parts", chunk->path);
    return status < 0 ? report_error("'%s': %s", chunk->path, filter_why())
                      : CLI_GO;
}

/* Reads all rows of a file. Returns NULL after reporting an error. */
static bly_rows *similar_read(char *path)
{
    const cli_how how = { .separator = -1 };
    const cli_operands one = { &path, 1 };
    cli_chunk chunk = { .block = NULL };
    bly_rows *rows = NULL;
    cli_lines lines;
    int status = bly_rows_new(&rows, 0, NULL) < 0 ? filter_error() : CLI_GO;

    lines_open(&lines, &how, &one, 0, true);
    while (status == CLI_GO && lines_next(&lines, &chunk))
        status = similar_take(rows, &chunk);
    lines_close(&lines);
    free(chunk.block);
    if (status == CLI_GO && bly_rows_bits(rows) == 0)
        status = report_error("'%s' has no fingerprints: give a file that "
                              "begins with '#FPS1'", path);
    if (status == CLI_GO)
        return rows;
    bly_rows_free(rows);
    return NULL;
}

/* Checks that both are fingerprints of one kind. Returns CLI_GO or CLI_ERROR.
 */
static int similar_alike(const similar_job *job, char **names)
{
    const char *a = bly_rows_type(job->queries);
    const char *b = bly_rows_type(job->library);

    if (bly_rows_bits(job->queries) != bly_rows_bits(job->library))
        return report_error("'%s' has %" PRIu64 " bits and '%s' has %" PRIu64
                            ": make both fingerprints in the same way",
                            names[0], bly_rows_bits(job->queries), names[1],
                            bly_rows_bits(job->library));
    if (!job->want->any && a != NULL && b != NULL && strcmp(a, b) != 0)
        return report_error("'%s' has type '%.120s' and '%s' has type "
                            "'%.120s', whose bits have different meanings: "
                            "make both in the same way, or use --any-type",
                            names[0], a, names[1], b);
    return CLI_GO;
}

/* ==== Printing ========================================================== */

static void similar_estimates(const similar_job *job, const uint64_t bits,
                              const bly_similar *found, bly_overlap_t *out)
{
    bly_similar_estimate(out, bly_rows_bits(job->library), bits, found->bits,
                         found->shared);
    out->both.value = fmax(out->both.value, 0);
    out->jaccard.value = fmax(out->jaccard.value, 0);
}

static void similar_column(const char *format, double value)
{
    output_text("\t");
    if (isfinite(value))
        output_format(format, value);
    else
        output_text("unknown");
}

static void similar_columns(const bly_overlap_t *o)
{
    similar_column("%.1f", o->a.value);
    similar_column("%.1f", o->b.value);
    similar_column("%.1f", o->both.value);
    similar_column("%.6f", o->jaccard.value);
}

static void similar_line(const similar_job *job, const char *query,
                         uint64_t bits, const bly_similar *found)
{
    bly_overlap_t overlap;

    output_text(query);
    output_format("\t%.6f\t", found->similarity);
    output_text(bly_rows_name(job->library, found->row));
    if (job->want->estimate) {
        similar_estimates(job, bits, found, &overlap);
        similar_columns(&overlap);
    }
    output_text("\n");
}

static void similar_json_one(const char *name, const bly_estimate *e)
{
    json_open_object(name);
    json_real("value", e->value);
    json_real("sd", e->sd);
    json_close_object();
}

static void similar_json_row(const similar_job *job, uint64_t bits,
                             const bly_similar *found)
{
    bly_overlap_t overlap;

    json_open_object(NULL);
    json_string("id", bly_rows_name(job->library, found->row));
    json_real("similarity", found->similarity);
    json_count("bits", found->bits);
    json_count("shared", found->shared);
    if (job->want->estimate) {
        similar_estimates(job, bits, found, &overlap);
        similar_json_one("a", &overlap.a);
        similar_json_one("b", &overlap.b);
        similar_json_one("both", &overlap.both);
        similar_json_one("jaccard", &overlap.jaccard);
    }
    json_close_object();
}

/* Returns the number of bits of a query. */
static uint64_t similar_bits(const similar_job *job, uint64_t query)
{
    const unsigned char *bytes = bly_rows_at(job->queries, query);
    uint64_t bits = 0;

    for (uint64_t i = 0; i < bly_rows_bits(job->queries); i++)
        bits += bytes[i / 8] >> (i % 8) & 1;
    return bits;
}

static void similar_print(similar_job *job, uint64_t query,
                          const bly_similar *found, size_t n)
{
    const char *name = bly_rows_name(job->queries, query);
    uint64_t bits = job->want->estimate ? similar_bits(job, query) : 0;

    job->any |= n > 0;
    if (job->want->json) {
        json_open_object(NULL);
        json_string("query", name);
        json_open_array("rows");
    }
    for (size_t i = 0; i < n && !output_failed(); i++) {
        if (job->want->json)
            similar_json_row(job, bits, &found[i]);
        else
            similar_line(job, name, bits, &found[i]);
    }
    if (job->want->json) {
        json_close_array();
        json_close_object();
    }
}

/* ==== Searching ========================================================= */

static int similar_search(similar_job *job)
{
    uint64_t queries = bly_rows_count(job->queries), left;
    size_t most = (size_t)job->spec.most, n;

    for (uint64_t at = 0; at < queries && !output_failed(); at += n) {
        left = queries - at;
        n = left < job->batch ? (size_t)left : job->batch;
        if (bly_similar_find(job->found, job->counts, job->library,
                             job->queries, at, n, &job->spec) < 0)
            return filter_error();
        for (size_t i = 0; i < n; i++)
            similar_print(job, at + i, job->found + i * most, job->counts[i]);
    }
    return CLI_GO;
}

/* Allocates results for a group of queries, and returns its size. */
static int similar_room(similar_job *job)
{
    uint64_t rows = bly_rows_count(job->library);
    uint64_t most = job->want->rows != 0 ? job->want->rows
                  : job->want->within ? rows : SIMILAR_ROWS;

    most = most < rows ? most : rows;
    job->spec.most = most > 0 ? most : 1;
    job->batch = job->spec.most < SIMILAR_FOUND
               ? SIMILAR_FOUND / (size_t)job->spec.most : 1;
    job->found = calloc(job->batch * (size_t)job->spec.most,
                        sizeof *job->found);
    job->counts = calloc(job->batch, sizeof *job->counts);
    return job->found != NULL && job->counts != NULL ? CLI_GO
                                                     : report_no_memory();
}

static int similar_files(similar_job *job, char **names)
{
    int status;

    job->queries = similar_read(names[0]);
    job->library = job->queries != NULL ? similar_read(names[1]) : NULL;
    if (job->library == NULL)
        return CLI_ERROR;
    status = similar_alike(job, names);
    if (status == CLI_GO && bly_rows_sort(job->library) < 0)
        status = filter_error();
    if (status == CLI_GO)
        status = similar_room(job);
    if (status != CLI_GO)
        return status;
    if (job->want->json)
        json_open_array(NULL);
    status = similar_search(job);
    if (job->want->json)
        json_close_array();
    return status != CLI_GO ? status : job->any ? CLI_OK : CLI_NONE;
}

static int similar_run(const cli_command *self, int argc, char **argv)
{
    similar_settings s = { .measure = "tanimoto" };
    similar_job job = { .want = &s };
    cli_operands operands;
    int status = options_read(self, argc, argv, &s, &operands);

    if (status != CLI_GO)
        return status;
    if (operands.count != 2)
        return options_wrong(self, "this command takes two files, QUERIES and "
                             "LIBRARY");
    if (strcmp(operands.names[0], "-") == 0
        && strcmp(operands.names[1], "-") == 0)
        return options_wrong(self, "QUERIES and LIBRARY cannot both be read "
                                   "from standard input");
    if (similar_measure(&job.spec, s.measure) != CLI_GO)
        return CLI_ERROR;
    job.spec.least = s.least;
    job.spec.within = s.within;
    job.spec.threads = (uint32_t)work_jobs(s.jobs);
    status = similar_files(&job, operands.names);
    bly_rows_free(job.queries);
    bly_rows_free(job.library);
    free(job.found);
    free(job.counts);
    return status;
}

const cli_command cmd_similar = {
    .name = "similar",
    .operands = "QUERIES LIBRARY",
    .summary = "find the most similar fingerprints of molecules",
    .text =
        "For each row of bits in the file QUERIES, prints the most similar "
        "rows of LIBRARY, the most similar first: the query's name, the "
        "similarity and the row's name, separated by TABs. The answer is "
        "exact: only rows with too many or too few bits to be among the first "
        "are skipped.\n\n"
        "Both files have chemfp's text format FPS, as written by chemfp, "
        "RDKit and Open Babel, compressed or not; '-' is standard input. "
        "After a line '#FPS1' and lines such as '#num_bits=2048' and "
        "'#type=...', each row has its bytes in hexadecimal digits, a TAB and "
        "a name. Byte 0 comes first, and its lowest bit is bit 0. Rows of "
        "different lengths are refused. So are two files whose '#type' lines "
        "differ, because their bits mean different things.\n\n"
        "The similarity is between 0 and 1, and 0 if no bit is in both rows, "
        "even if neither has any. Both files are held in memory: the bits and "
        "the name of each row, and 32 bytes.",
    .options = similar_options,
    .usual = "rows threshold measure superset json jobs",
    .examples = similar_examples,
    .status = "0 if a row was printed, 1 if none is similar enough to any "
              "query, 2 after an error.",
    .run = similar_run,
};
