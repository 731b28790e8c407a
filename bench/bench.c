/* bench.c - the speed of every kind, compared with the machine's limits and
 * with peers.
 *
 *      bench [--keys N[,N…]] [--rates P[,P…]] [--kinds KIND[,KIND…]]
 *            [--rounds R] [--threads T] [--csv FILE] [--commit NAME]
 *            [--quick] [--no-peers] [--formats]
 *
 *      --keys     sizes of filters, in keys; default 1e6,1e8, with --formats
 *                 1e4,1e6,1e7
 *      --rates    false-positive rates, 1% or 0.01; default 1%,0.1%
 *      --kinds    default: all
 *      --rounds   samples of each number; default 5
 *      --threads  of the measurements with several; default 2
 *      --csv      every number, one a line, also those not in the table;
 *                 above them, in lines "# name: value", what they are of
 *      --commit   the commit of the library, for the CSV
 *      --quick    fewer lookups and 3 rounds: a look, not a figure
 *      --no-peers leave the other libraries out
 *      --formats  measure the formats of other systems instead, each beside our
 *                 kind of the same shape (formats.c)
 *
 * WHAT IS MEASURED
 *
 * limits.c measures the machine: the time to read a random line of memory from
 * a buffer of the filter's size, with the best of several prefetch distances.
 * No filter larger than the cache can be faster than its lines, so the table
 * gives each lookup as a multiple of this limit, per line that the answer needs
 * (bly_plan's lines_present and lines_absent).
 *
 * A number is the median of its rounds. A round measures everything once, in
 * another order each time, so that other load on the machine affects all alike.
 * Ratios are computed within rounds, and their median is taken last, so they
 * can differ slightly from the ratio of two numbers in the table.
 *
 * Single-threaded numbers are processor time, which other programs disturb
 * less. "build", and several threads with the single thread they are compared
 * with ("alone", "add shared"), are wall-clock time.
 *
 * Keys are numbers through the finaliser of splitmix64. Lookups use keys of all
 * ages in random order; "50" mixes present and absent ones at random. Hashes
 * are in an array that is read in order. A batch is 4096 hashes ("batch64k", in
 * the CSV: 65536). "single" is bly_contains_hash; "inline" is the same through
 * a view (bloomery/inline.h), with the vectors that bench itself is compiled
 * for; "key" (CSV) is bly_contains with a key of eight bytes, including
 * hashing, for comparison with the peers. Every filter's own keys are verified
 * before it is timed; a lost key ends the program.
 *
 * PEERS
 *
 * libbloom (peers_libbloom.c). RocksDB's filters are missing although its
 * library is packaged: since RocksDB 7.0 the builder and reader of a filter are
 * internal. The public <rocksdb/filter_policy.h> only declares
 * FilterBitsBuilder and FilterBitsReader, the headers that define them are not
 * installed, and going through a table file or a database would measure the
 * table reader and its cache instead of the filter.
 */
#include "bench.h"
#include "machine.h"

#include <bloomery.h>
#include <bloomery/foreign.h>

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BENCH_ASKED = 1 << 22, BENCH_ASKED_QUICK = 1 << 20 };

/* ---- Options ----------------------------------------------------------- */

static const char bench_usage[] =
    "usage: bench [--keys N[,N]] [--rates P[,P]] [--kinds KIND[,KIND]]\n"
    "             [--rounds R] [--threads T] [--csv FILE]"
    " [--commit NAME]\n"
    "             [--quick] [--no-peers] [--formats]\n";

static void bench_misuse(const char *text)
{
    fprintf(stderr, "bench: '%s' is out of place or range\n%s", text,
            bench_usage);
    exit(2);
}

/* Parses a number, perhaps with a per cent sign, in [least, most]. */
static double bench_number(const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);
    if (*end == '%') {
        value /= 100;
        end++;
    }
    if (end == text || *end != '\0' || !(value >= least && value <= most))
        bench_misuse(text);
    return value;
}

/* Splits at commas, in place. */
static size_t bench_list(char *text, char *part[BENCH_LIST_MAX])
{
    size_t n = 0;
    for (char *p = strtok(text, ","); p != NULL; p = strtok(NULL, ",")) {
        if (n == BENCH_LIST_MAX)
            bench_misuse(p);
        part[n++] = p;
    }
    return n;
}

static void bench_keys(bench_plan *plan, char *text)
{
    char *part[BENCH_LIST_MAX];
    plan->key_count = bench_list(text, part);
    for (size_t i = 0; i < plan->key_count; i++)
        plan->keys[i] = (uint64_t)bench_number(part[i], 1000, 1e12);
}

static void bench_rates(bench_plan *plan, char *text)
{
    char *part[BENCH_LIST_MAX];
    plan->rate_count = bench_list(text, part);
    for (size_t i = 0; i < plan->rate_count; i++)
        plan->rates[i] = bench_number(part[i], 1e-12, 0.9);
}

static void bench_kinds(bench_plan *plan, char *text)
{
    char *part[BENCH_LIST_MAX];
    plan->kind_count = bench_list(text, part);
    for (size_t i = 0; i < plan->kind_count; i++)
        plan->kinds[i] = part[i];
}

static void bench_all_kinds(bench_plan *plan)
{
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    for (size_t i = 0; i < n && plan->kind_count < BENCH_LIST_MAX; i++)
        plan->kinds[plan->kind_count++] = kinds[i]->name;
}

static void bench_all_formats(bench_plan *plan)
{
    size_t n;
    const bly_format_info *const *formats = bly_formats(&n);
    for (size_t i = 0; i < n && plan->kind_count < BENCH_LIST_MAX; i++)
        plan->kinds[plan->kind_count++] = formats[i]->kind->name;
}

/* Chooses what the options left open. */
static void bench_complete(bench_plan *plan)
{
    static char sizes[] = "1e6,1e8", sizes_of_formats[] = "1e4,1e6,1e7";
    if (plan->key_count == 0)
        bench_keys(plan, plan->formats ? sizes_of_formats : sizes);
    if (plan->kind_count == 0 && plan->formats)
        bench_all_formats(plan);
    else if (plan->kind_count == 0)
        bench_all_kinds(plan);
}

/* Returns the path of the CSV, or NULL, and sets the commit's name. */
static const char *bench_options(bench_plan *plan, const char **commit,
                                 int argc, char **argv)
{
    static const struct option options[] = {
        { "keys", required_argument, NULL, 'k' },
        { "rates", required_argument, NULL, 'p' },
        { "kinds", required_argument, NULL, 'K' },
        { "rounds", required_argument, NULL, 'r' },
        { "threads", required_argument, NULL, 't' },
        { "csv", required_argument, NULL, 'c' },
        { "commit", required_argument, NULL, 'C' },
        { "quick", no_argument, NULL, 'q' },
        { "no-peers", no_argument, NULL, 'P' },
        { "formats", no_argument, NULL, 'f' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    const char *csv = NULL;
    for (int o; (o = getopt_long(argc, argv, "h", options, NULL)) != -1;)
        switch (o) {
        case 'k': bench_keys(plan, optarg); break;
        case 'p': bench_rates(plan, optarg); break;
        case 'K': bench_kinds(plan, optarg); break;
        case 'r': plan->rounds = (size_t)bench_number(optarg, 1,
                                                      BENCH_ROUNDS_MAX); break;
        case 't': plan->threads = (unsigned)bench_number(optarg, 1,
                                                   BENCH_THREADS_MAX); break;
        case 'c': csv = optarg; break;
        case 'C': *commit = optarg; break;
        case 'q': plan->asked = BENCH_ASKED_QUICK, plan->rounds = 3; break;
        case 'P': plan->peers = false; break;
        case 'f': plan->formats = true; break;
        case 'h': fputs(bench_usage, stdout); exit(0);
        default:  fputs(bench_usage, stderr); exit(2);
        }
    if (optind < argc)
        bench_misuse(argv[optind]);
    return csv;
}

/* ---- Queries ----------------------------------------------------------- */

/* Numbers of keys that are never added, far above the others. */
static const uint64_t BENCH_ABSENT = UINT64_C(1) << 40;
static const uint64_t BENCH_FRESH = UINT64_C(1) << 44;

static bench_questions bench_ask(uint64_t keys, uint64_t asked)
{
    bench_questions q = { .n = (size_t)(asked < keys ? asked : keys) };
    q.repeats = (unsigned)((asked + q.n - 1) / q.n);
    for (size_t s = 0; s < 3; s++)
        q.hashes[s] = bench_allocate(q.n * sizeof *q.hashes[s]);
    q.fresh = bench_allocate(q.n * sizeof *q.fresh);
    for (size_t i = 0; i < q.n; i++) {
        uint64_t draw = bench_hash(~(uint64_t)i);
        q.hashes[0][i] = bench_hash(BENCH_ABSENT + i);
        q.hashes[2][i] = bench_hash((draw >> 1) % keys);
        q.hashes[1][i] = q.hashes[(draw & 1) * 2][i];
        q.fresh[i] = bench_hash(BENCH_FRESH + i);
    }
    return q;
}

static void bench_forget(bench_questions *q)
{
    for (size_t s = 0; s < 3; s++)
        free(q->hashes[s]);
    free(q->fresh);
}

/* ---- Rounds ------------------------------------------------------------ */

static void bench_progress(uint64_t keys, double rate, size_t round)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%.0e keys, %g %%, round %zu   ", (double)keys,
                rate * 100, round + 1);
}

static void bench_size(const bench_plan *plan, uint64_t keys, double rate)
{
    bench_questions questions = bench_ask(keys, plan->asked);
    for (size_t round = 0; round < plan->rounds; round++) {
        bench_progress(keys, rate, round);
        kinds_round(plan, keys, rate, &questions, round);
        peers_round(plan, keys, rate, &questions, round);
    }
    kinds_free();
    peers_free();
    bench_forget(&questions);
}

static void bench_write_csv(const char *path, const bly_processor_t *used,
                            const char *commit)
{
    FILE *csv = fopen(path, "w");
    if (csv == NULL)
        bench_stop(path, "cannot be written");
    machine_write_head(csv, used, commit, "median");
    table_csv(csv);
    if (fclose(csv) != 0)
        bench_stop(path, "cannot be written");
}

/* Measures our kinds beside the machine and the peers. */
static void bench_measure(const bench_plan *plan)
{
    peers_print();
    limits_survey(plan);
    for (size_t k = 0; k < plan->key_count; k++)
        for (size_t r = 0; r < plan->rate_count; r++)
            bench_size(plan, plan->keys[k], plan->rates[r]);
    if (isatty(STDERR_FILENO))
        fputs("\r                                        \r", stderr);
    table_print(plan);
    table_print_families();
    bounds_print(plan);
}

int main(int argc, char **argv)
{
    bench_plan plan = {
        .rates = { 0.01, 0.001 }, .rate_count = 2,
        .rounds = 5, .asked = BENCH_ASKED, .threads = 2, .peers = true,
    };
    bly_processor_t used;
    const char *commit = "not said";
    const char *csv = bench_options(&plan, &commit, argc, argv);
    bench_complete(&plan);
    setvbuf(stdout, NULL, _IOLBF, 0);
    bly_processor(&used);
    machine_print(&used);
    if (plan.formats)
        formats_measure(&plan);
    else
        bench_measure(&plan);
    if (csv != NULL)
        bench_write_csv(csv, &used, commit);
    return 0;
}
