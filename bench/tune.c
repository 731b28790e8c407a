/* tune.c - finds the library's best settings for this processor.
 *
 *      tune [--quick] [--kinds KIND[,KIND…]] [--csv FILE] [--commit NAME]
 *
 *      --quick    smaller tables, fewer lookups, 3 rounds: a look, not a figure
 *      --kinds    of blocked, split, standard, cuckoo, fuse, ribbon, quotient,
 *                 gcs, counting, dleft, xor; default: all
 *      --csv      every number, one a line, as bench --csv writes them, so that
 *                 tools/bench/diff compares two machines
 *      --commit   the commit of the library, for the CSV
 *
 * The library knows a processor by three numbers (src/base/cpu.h), each of
 * which the environment can set:
 *
 *      BLY_AHEAD  keys of a batch on their way at a time; by default there are
 *                 two numbers, one for filters up to 8 times BLY_NEAR
 *      BLY_NEAR   KiB that count as near
 *      BLY_CPU    the highest level of vector instructions
 *
 * tune tries them on batches: lookups of members and of strangers, and adds, in
 * three tables. The small one has half the bytes of the second-level cache, and
 * the middle one four times as many as that cache. The large one is some times
 * as large as the last-level cache (four times, or 256 MiB if that is less, but
 * at least twice; never more than a sixteenth of the free memory). settings.c
 * explains how. The environment's own settings are ignored: everything is
 * compared with the library's defaults.
 *
 * A number is the minimum of its rounds; a fast kind gets more rounds. The
 * tables, the advice and, through the column "least", tools/bench/diff use it.
 * The default is measured twice, by two identical processes ("first" and
 * "again" in the CSV), and the reference is their geometric mean ("default"),
 * to avoid an unlucky one. Their distance over all rows is the noise. A setting
 * is called better only if the geometric mean of all rows gains three standard
 * errors of it, and at least 1 %.
 *
 * BLY_NEAR is tried on fuse and xor, whose batches choose between three ways by
 * it. If the table has at most 3/4 of the near bytes, nothing is prefetched; if
 * it has more than 8 times as many, many keys are prepared before their lines
 * are prefetched; in between, eight at a time. (Without AVX-512 there is only
 * one way, and nothing to gain.) A table of each size goes all three ways,
 * which shows what any number of KiB would cost.
 *
 * The last line is a setting for the environment, or "leave the defaults". Exit
 * status 2 for bad options, or if a setting lost a key.
 */
#include "machine.h"
#include "settings.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TUNE_COUNT(array) (sizeof (array) / sizeof *(array))

typedef struct {
    const char *name;
    double rate;
    bool   ahead, near;                 /* tried for BLY_AHEAD, BLY_NEAR     */
} tune_kind;

/* Low rates, if the kind supports them: a large table then needs fewer keys,
 * and less time. */
static const tune_kind tune_kinds[] = {
    { "blocked", 0.01, true, false },
    { "split", 0.01, true, false },
    { "standard", 0.01, true, false },
    { "cuckoo", 1e-4, true, false },
    { "fuse", 1.0 / 65536, true, true },
    { "xor", 1.0 / 65536, false, true },
    { "ribbon", 1.0 / 65536, true, false },
    { "quotient", 1e-4, true, false },
    { "gcs", 1.0 / 65536, true, false },
    { "counting", 0.01, true, false },
    { "dleft", 1e-4, true, false },
};

enum { TUNE_KINDS = TUNE_COUNT(tune_kinds), TUNE_ROWS = 128 };

typedef enum { TUNE_SMALL, TUNE_MIDDLE, TUNE_LARGE, TUNE_SIZES } tune_size;

static const char *const tune_sizes[TUNE_SIZES] = {
    [TUNE_SMALL] = "small", [TUNE_MIDDLE] = "middle", [TUNE_LARGE] = "large",
};

typedef struct {
    bool     wanted[TUNE_KINDS];
    bool     quick;
    size_t   asked, rounds;             /* as in settings_subject            */
    double   seconds;
    uint64_t bytes[TUNE_SIZES];         /* of the tables                     */
    uint64_t near_most;                 /* of the largest for BLY_NEAR       */
    const char *csv, *commit;
    bly_processor_t processor;
} tune_plan;

/* Measurements under several settings. */
typedef struct {
    bench_case    of;
    settings_verb verb;
    tune_size     size;
} tune_row;

typedef struct {
    tune_row row[TUNE_ROWS];
    size_t   n;
} tune_table;

/* ---- Options ----------------------------------------------------------- */

static const char tune_usage[] =
    "usage: tune [--quick] [--kinds KIND[,KIND]] [--csv FILE]"
    " [--commit NAME]\n";

static void tune_help(void)
{
    printf("%skinds:", tune_usage);
    for (size_t k = 0; k < TUNE_KINDS; k++)
        printf(" %s", tune_kinds[k].name);
    printf("\n");
    exit(0);
}

_Noreturn static void tune_misuse(const char *what, const char *why)
{
    fprintf(stderr, "tune: '%s' %s\n", what, why);
    exit(2);
}

static void tune_want(tune_plan *plan, char *list)
{
    memset(plan->wanted, 0, sizeof plan->wanted);
    for (char *next = list, *name; next != NULL;) {
        size_t k = 0;
        name = next;
        next = strchr(name, ',');
        if (next != NULL)
            *next++ = '\0';
        while (k < TUNE_KINDS && strcmp(tune_kinds[k].name, name) != 0)
            k++;
        if (k == TUNE_KINDS)
            tune_misuse(name, "is no kind that can be tuned (tune --help)");
        plan->wanted[k] = true;
    }
}

static void tune_options(tune_plan *plan, int argc, char **argv)
{
    static const struct option options[] = {
        { "quick", no_argument, NULL, 'q' },
        { "kinds", required_argument, NULL, 'K' },
        { "csv", required_argument, NULL, 'c' },
        { "commit", required_argument, NULL, 'C' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    opterr = 0;
    for (int o; (o = getopt_long(argc, argv, ":h", options, NULL)) != -1;)
        switch (o) {
        case 'q': plan->quick = true; break;
        case 'K': tune_want(plan, optarg); break;
        case 'c': plan->csv = optarg; break;
        case 'C': plan->commit = optarg; break;
        case 'h': tune_help(); break;
        case ':': tune_misuse(argv[optind - 1], "wants a value");
        default:  tune_misuse(argv[optind - 1], "is no option of tune");
        }
    if (optind < argc)
        tune_misuse(argv[optind], "is no option of tune");
}

/* ---- The machine ------------------------------------------------------- */

/* Returns the bytes of the last-level cache, or 0 if unknown. */
static uint64_t tune_last_cache(void)
{
    long bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
#ifdef _SC_LEVEL4_CACHE_SIZE
    long fourth = sysconf(_SC_LEVEL4_CACHE_SIZE);
    bytes = fourth > bytes ? fourth : bytes;
#endif
    return bytes > 0 ? (uint64_t)bytes : 0;
}

/* Returns the available memory, including cached files if Linux reports it. */
static uint64_t tune_free_memory(void)
{
    char line[128];
    uint64_t kib = 0;
    FILE *memory = fopen("/proc/meminfo", "r");
    while (memory != NULL && fgets(line, sizeof line, memory) != NULL)
        if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
            break;
    if (memory != NULL)
        fclose(memory);
    if (kib > 0)
        return kib << 10;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : 0;
}

static void tune_plan_sizes(tune_plan *plan)
{
    const uint64_t mib = 1 << 20, usual = 256 * mib, quick = 64 * mib;
    uint64_t last = tune_last_cache(), room = tune_free_memory() / 16;
    uint64_t large = 4 * last < usual && last > 0 ? 4 * last : usual;
    large = 2 * last > large ? 2 * last : large;
    large = plan->quick && large > quick ? quick : large;
    large = large > room && room > mib ? room : large;
    plan->bytes[TUNE_SMALL] = plan->processor.near_bytes / 2;
    plan->bytes[TUNE_MIDDLE] = plan->processor.near_bytes * 4;
    plan->bytes[TUNE_LARGE] = large;
    plan->near_most = plan->quick ? 16 * mib : quick;
    if (plan->near_most > large)
        plan->near_most = large;
    plan->asked = plan->quick ? 1 << 18 : 1 << 19;
    plan->rounds = plan->quick ? 3 : 5;
    plan->seconds = plan->quick ? 1 : 4;
}

static void tune_cache(const char *name, long bytes)
{
    if (bytes > 0)
        printf(", %s %ld KiB", name, bytes >> 10);
}

static void tune_print_machine(const tune_plan *plan)
{
    machine_print(&plan->processor);
    printf("caches, as the system tells: 64-byte lines");
#ifdef _SC_LEVEL1_DCACHE_SIZE
    tune_cache("first level", sysconf(_SC_LEVEL1_DCACHE_SIZE));
    tune_cache("second", sysconf(_SC_LEVEL2_CACHE_SIZE));
#endif
    tune_cache("last", (long)tune_last_cache());
    printf("\n\nNanoseconds a key, the least of %zu rounds or more: less is "
           "better; * is the best of\na row, [] the default, and the last "
           "column how much longer the default takes than it.\nMeans are "
           "multiples of the default's. \"small\": filters of %" PRIu64
           " KiB, half of what is near;\n\"middle\": of %" PRIu64 " KiB, "
           "eight times that; \"large\": of %" PRIu64 " MiB.\n"
           "Batches are tuned, and not the views of bloomery/inline.h.\n",
           plan->rounds, plan->bytes[TUNE_SMALL] >> 10,
           plan->bytes[TUNE_MIDDLE] >> 10, plan->bytes[TUNE_LARGE] >> 20);
    fflush(stdout);
}

static void tune_progress(const char *what, size_t done, size_t all,
                          const tune_kind *kind, uint64_t bytes)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%s, %zu of %zu: %s, %" PRIu64 " KiB          ",
                what, done + 1, all, kind->name, bytes >> 10);
}

static void tune_progress_end(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r                                                            "
              "\r", stderr);
}

/* ---- Numbers ----------------------------------------------------------- */

static double tune_ns(const tune_row *row, const char *setting)
{
    char what[32];
    snprintf(what, sizeof what, "%s %s", settings_verbs[row->verb], setting);
    return table_least(table_find(row->of.subject, row->of.keys, row->of.rate,
                                  what));
}

static double tune_log(const tune_row *row, const char *setting,
                       const char *base)
{
    return log(tune_ns(row, setting) / tune_ns(row, base));
}

/* Selects rows: of a kind, unless NULL, and of a size, unless TUNE_SIZES. */
typedef struct {
    const char *name, *kind;
    tune_size   size;
} tune_share;

static bool tune_in(const tune_row *row, const tune_share *share)
{
    return (share->kind == NULL || strcmp(share->kind, row->of.subject) == 0)
        && (share->size == TUNE_SIZES || share->size == row->size);
}

/* Returns the geometric mean of the rows' ratios of a setting to the default,
 * or NAN without rows. */
static double tune_mean(const tune_table *table, const tune_share *share,
                        const char *setting)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < table->n; i++)
        if (tune_in(&table->row[i], share)) {
            sum += tune_log(&table->row[i], setting, "default");
            n++;
        }
    return n > 0 ? exp(sum / n) : (double)NAN;
}

/* Returns how far the default's two processes differ in a row: the root of the
 * mean square. */
static double tune_row_noise(const tune_table *table)
{
    double squares = 0;
    for (size_t i = 0; i < table->n; i++) {
        double apart = tune_log(&table->row[i], "again", "first");
        squares += apart * apart;
    }
    return sqrt(squares / (double)table->n);
}

/* Returns the gain that a mean over all rows needs to be significant. */
static double tune_noise(double row, size_t rows)
{
    return fmax(0.01, 3 * row / sqrt((double)rows));
}

static void tune_add_rows(tune_table *table, const settings_measured *m,
                          tune_size size)
{
    for (settings_verb verb = 0; verb < SETTINGS_VERBS; verb++)
        if ((verb != SETTINGS_ADDS || m->adds) && table->n < TUNE_ROWS)
            table->row[table->n++] = (tune_row){ m->of, verb, size };
}

/* Adds the mean of the default's two processes as one more number to the rows
 * from `first` on, so that the CSV has what the tables show. */
static void tune_add_default(const tune_table *table, size_t first)
{
    for (size_t i = first; i < table->n; i++) {
        const tune_row *row = &table->row[i];
        char what[32];
        snprintf(what, sizeof what, "%s default", settings_verbs[row->verb]);
        table_add(&row->of, what,
                  sqrt(tune_ns(row, "first") * tune_ns(row, "again")));
    }
}

/* ---- Tables ------------------------------------------------------------ */

/* The columns: their headings, values, and the settings whose numbers they
 * show. `own` is the default's. */
typedef struct {
    char head[16], value[12], setting[16];
} tune_column;

typedef struct {
    tune_column column[SETTINGS_MAX];
    size_t n, own;
} tune_columns;

static void tune_print_heads(const tune_columns *c, const char *title)
{
    printf("\n%s\n\n%-10s%9s %-10s", title, "kind", "KiB", "verb");
    for (size_t i = 0; i < c->n; i++)
        printf("%9s", c->column[i].head);
    printf("   default takes more by\n");
}

static void tune_print_row(const tune_row *row, const tune_columns *c)
{
    double ns[SETTINGS_MAX];
    size_t best = 0;
    for (size_t i = 0; i < c->n; i++) {
        ns[i] = tune_ns(row, c->column[i].setting);
        best = ns[i] < ns[best] ? i : best;
    }
    printf("%-10s%9" PRIu64 " %-10s", row->of.subject, row->of.bytes >> 10,
           settings_verbs[row->verb]);
    for (size_t i = 0; i < c->n; i++)
        printf("%8.2f%c", ns[i], i == best ? '*' : ' ');
    printf("%8.1f %%\n", (ns[c->own] / ns[best] - 1) * 100);
}

/* Prints the means of a share of rows, as multiples of the default; returns the
 * best column. */
static size_t tune_print_means(const tune_table *table, const tune_columns *c,
                               const tune_share *share)
{
    double mean[SETTINGS_MAX] = { 0 };
    size_t best = c->own;
    for (size_t i = 0; i < c->n; i++)
        mean[i] = tune_mean(table, share, c->column[i].setting);
    for (size_t i = 0; i < c->n; i++)
        best = mean[i] < mean[best] ? i : best;
    if (isnan(mean[best]))
        return best;
    printf("%-10s%9s %-10s", share->name, "", "mean");
    for (size_t i = 0; i < c->n; i++)
        printf("%8.3f%c", mean[i], i == best ? '*' : ' ');
    printf("%8.1f %%\n", (1 / mean[best] - 1) * 100);
    return best;
}

/* Prints whether anything beats the default, and by how much. Returns true if
 * by more than the noise of a mean over all rows. */
static bool tune_judge(const char *variable, const char *own, const char *best,
                       double gain, double noise)
{
    const double busy = 0.05;
    bool better = gain > noise;
    if (better)
        printf("\n%s: %s is better than %s, by %.1f %% (noise %.1f %%)\n",
               variable, best, own, gain * 100, noise * 100);
    else if (strcmp(best, own) == 0)
        printf("\n%s: nothing is better than %s (noise %.1f %%): leave it\n",
               variable, own, noise * 100);
    else
        printf("\n%s: nothing is better than %s beyond the noise (%s: %.1f %%; "
               "noise %.1f %%): leave it\n", variable, own, best, gain * 100,
               noise * 100);
    if (noise > busy)
        printf("the machine is busy, or few rows were measured: run it again "
               "when it is not, with all\nkinds and without QUICK\n");
    return better;
}

/* Prints all rows under all columns; returns the best column, or the default's
 * unless it is beaten by more than the noise. */
static size_t tune_print(const tune_table *table, const tune_columns *c,
                         const char *variable, const char *title)
{
    static const tune_share all = { "all", NULL, TUNE_SIZES };
    tune_print_heads(c, title);
    for (size_t i = 0; i < table->n; i++)
        tune_print_row(&table->row[i], c);
    printf("\n");
    for (size_t k = 0; k < TUNE_KINDS; k++) {
        const char *kind = tune_kinds[k].name;
        tune_print_means(table, c, &(tune_share){ kind, kind, TUNE_SIZES });
    }
    for (tune_size s = 0; s < TUNE_SIZES; s++)
        tune_print_means(table, c, &(tune_share){ tune_sizes[s], NULL, s });
    size_t best = tune_print_means(table, c, &all);
    double gain = 1 / tune_mean(table, &all, c->column[best].setting) - 1;
    bool better = tune_judge(variable, c->column[c->own].value,
                             c->column[best].value, gain,
                             tune_noise(tune_row_noise(table), table->n));
    return better ? best : c->own;
}

/* ---- BLY_AHEAD and BLY_CPU --------------------------------------------- */

static const char *const tune_aheads[] = {
    "1", "8", "16", "32", "64", "96", "128", "192", "256", "512",
};

/* The levels of x86; other architectures have at most one beyond the first,
 * which is then the default. */
static const char *const tune_levels[] = {
    "portable", "sse2", "avx2", "avx512",
};

/* Returns whether the processor has this level, or another architecture's own
 * in place of the second one. */
static bool tune_reached(size_t level, const char *instructions)
{
    return strcmp(tune_levels[level], instructions) == 0
        || (level == 1 && strcmp(instructions, "neon") == 0);
}

/* The settings to try, and as columns of two tables. */
typedef struct {
    settings_one setting[SETTINGS_MAX];
    size_t       n;
    tune_columns ahead, level;
} tune_choices;

/* The default and its second process are far apart in the order of queries, so
 * that a disturbance does not hit both. */
enum { TUNE_AGAIN_AT = 7 };

/* Adds a setting, unless it is the default, and its column. */
static void tune_choose(tune_choices *c, tune_columns *columns,
                        const char *what, const char *variable,
                        const char *value, bool own)
{
    tune_column *column = &columns->column[columns->n];
    if (c->n == TUNE_AGAIN_AT)
        snprintf(c->setting[c->n++].name, sizeof c->setting->name, "again");
    settings_one *s = &c->setting[c->n];
    snprintf(column->head, sizeof column->head, own ? "[%s]" : "%s", value);
    snprintf(column->value, sizeof column->value, "%s", value);
    if (own) {
        snprintf(column->setting, sizeof column->setting, "default");
        columns->own = columns->n;
    } else {
        snprintf(s->name, sizeof s->name, "%s%s", what, value);
        snprintf(s->value, sizeof s->value, "%s", value);
        snprintf(column->setting, sizeof column->setting, "%s", s->name);
        s->variable = variable;
        c->n++;
    }
    columns->n++;
}

/* The default comes first. Its numbers of keys follow from the size. */
static tune_choices tune_all_choices(const bly_processor_t *processor)
{
    tune_choices c = {
        .setting = { { .name = "first" } }, .n = 1,
    };
    bool reached = false;
    tune_choose(&c, &c.ahead, NULL, NULL, "by size", true);
    for (size_t i = 0; i < TUNE_COUNT(tune_aheads); i++)
        tune_choose(&c, &c.ahead, "AHEAD=", "BLY_AHEAD", tune_aheads[i],
                    false);
    for (size_t i = 0; i < TUNE_COUNT(tune_levels) && !reached; i++) {
        reached = tune_reached(i, processor->instructions);
        tune_choose(&c, &c.level, "CPU=", "BLY_CPU",
                    reached ? processor->instructions : tune_levels[i],
                    reached);
    }
    return c;
}

static void tune_measure(const tune_plan *plan, const tune_choices *c,
                         tune_table *table)
{
    size_t done = 0, all = 0;
    for (size_t k = 0; k < TUNE_KINDS; k++)
        all += plan->wanted[k] && tune_kinds[k].ahead ? TUNE_SIZES : 0;
    for (size_t k = 0; k < TUNE_KINDS; k++)
        for (tune_size s = 0; s < TUNE_SIZES && plan->wanted[k]; s++) {
            const tune_kind *kind = &tune_kinds[k];
            settings_subject subject = {
                .kind = kind->name, .rate = kind->rate, .bytes = plan->bytes[s],
                .asked = plan->asked, .rounds = plan->rounds, .adds = true,
                .seconds = plan->seconds,
            };
            if (!kind->ahead)
                continue;
            tune_progress("BLY_AHEAD and BLY_CPU", done++, all, kind,
                          plan->bytes[s]);
            settings_measured m = settings_measure(&subject, c->setting, c->n);
            size_t first = table->n;
            tune_add_rows(table, &m, s);
            tune_add_default(table, first);
        }
    tune_progress_end();
}

/* Appends the recommended setting to `line`. */
static void tune_advise(char *line, size_t room, const char *variable,
                        const char *value)
{
    size_t used = strlen(line);
    snprintf(line + used, room - used, "%s%s=%s", used > 0 ? " " : "", variable,
             value);
}

static void tune_ahead_and_level(const tune_plan *plan, char *line, size_t room)
{
    static tune_table table;
    tune_choices c = tune_all_choices(&plan->processor);
    tune_measure(plan, &c, &table);
    if (table.n == 0)
        return;
    size_t best = tune_print(&table, &c.ahead, "BLY_AHEAD",
                             "Keys on their way (BLY_AHEAD)");
    if (best != c.ahead.own)
        tune_advise(line, room, "BLY_AHEAD", c.ahead.column[best].value);
    if (c.level.n < 2)
        return;
    best = tune_print(&table, &c.level, "BLY_CPU",
                      "Vector instructions (BLY_CPU)");
    if (best != c.level.own)
        tune_advise(line, room, "BLY_CPU", c.level.column[best].value);
}

/* ---- BLY_NEAR ---------------------------------------------------------- */

typedef enum { TUNE_NEAR, TUNE_BETWEEN, TUNE_FAR, TUNE_WAYS } tune_way;

static const char *const tune_ways[TUNE_WAYS] = {
    [TUNE_NEAR] = "NEAR=near", [TUNE_BETWEEN] = "NEAR=between",
    [TUNE_FAR] = "NEAR=far",
};

/* Returns the way of a table of that size, as fuse and xor choose it. */
static tune_way tune_way_of(uint64_t bytes, uint64_t near_bytes)
{
    return bytes / 3 <= near_bytes / 4 ? TUNE_NEAR
         : bytes / 8 <= near_bytes ? TUNE_BETWEEN : TUNE_FAR;
}

static void tune_near_setting(settings_one *s, tune_way way, uint64_t kib)
{
    snprintf(s->name, sizeof s->name, "%s", tune_ways[way]);
    snprintf(s->value, sizeof s->value, "%" PRIu64, kib);
    s->variable = "BLY_NEAR";
}

/* Each way follows from a number of KiB: almost none, a quarter of the table,
 * and more than any table. */
static void tune_near_size(const tune_plan *plan, const tune_kind *kind,
                           uint64_t bytes, tune_table *table)
{
    settings_one settings[TUNE_WAYS + 1] = {
        [TUNE_WAYS] = { .name = "NEAR=default" },
    };
    settings_subject subject = {
        .kind = kind->name, .rate = kind->rate, .bytes = bytes,
        .asked = plan->asked / 2, .rounds = plan->rounds,
        .seconds = plan->seconds / 4,
    };
    tune_near_setting(&settings[TUNE_NEAR], TUNE_NEAR, 1 << 30);
    tune_near_setting(&settings[TUNE_BETWEEN], TUNE_BETWEEN, bytes >> 12);
    tune_near_setting(&settings[TUNE_FAR], TUNE_FAR, 1);
    settings_measured m = settings_measure(&subject, settings, TUNE_WAYS + 1);
    tune_add_rows(table, &m, TUNE_SIZES);
}

/* Returns the cost of all rows with that many near bytes, as a multiple of the
 * default's. */
static double tune_near_mean(const tune_table *table, uint64_t near_bytes,
                             uint64_t own)
{
    double sum = 0;
    for (size_t i = 0; i < table->n; i++) {
        const tune_row *row = &table->row[i];
        tune_way way = tune_way_of(row->of.bytes, near_bytes);
        tune_way by_own = tune_way_of(row->of.bytes, own);
        sum += tune_log(row, tune_ways[way], tune_ways[by_own]);
    }
    return exp(sum / (double)table->n);
}

/* Returns the noise from the default's way, measured twice. */
static double tune_near_noise(const tune_table *table, uint64_t own)
{
    double squares = 0;
    for (size_t i = 0; i < table->n; i++) {
        const tune_row *row = &table->row[i];
        double apart = tune_log(row, tune_ways[tune_way_of(row->of.bytes, own)],
                                "NEAR=default");
        squares += apart * apart;
    }
    return sqrt(squares / (double)table->n);
}

static void tune_print_near(const tune_table *table, uint64_t own)
{
    tune_columns c = { .n = TUNE_WAYS };
    for (size_t way = 0; way < TUNE_WAYS; way++) {
        tune_column *column = &c.column[way];
        snprintf(column->setting, sizeof column->setting, "%s", tune_ways[way]);
        snprintf(column->head, sizeof column->head, "%s",
                 strchr(tune_ways[way], '=') + 1);
    }
    tune_print_heads(&c, "What is near (BLY_NEAR): the ways that a batch may "
                     "go. \"near\": nothing is asked for\nahead, as the "
                     "default has it up to 3/4 of BLY_NEAR; \"far\": many keys "
                     "ahead, above\n8 times BLY_NEAR; \"between\": eight keys "
                     "ahead");
    for (size_t i = 0; i < table->n; i++) {
        c.own = tune_way_of(table->row[i].of.bytes, own);
        tune_print_row(&table->row[i], &c);
    }
}

/* Prints the best number of KiB among powers of two, or the default unless it
 * is beaten. */
static void tune_judge_near(const tune_table *table, uint64_t own, char *line,
                            size_t room)
{
    enum { LEAST = 64, MOST = 64 << 10 };
    uint64_t best = own >> 10;
    double least = 1;
    printf("\n%10s%10s\n", "KiB near", "mean");
    for (uint64_t kib = LEAST; kib <= MOST; kib *= 2) {
        double mean = tune_near_mean(table, kib << 10, own);
        printf("%10" PRIu64 "%10.3f%s\n", kib, mean,
               kib == own >> 10 ? "  default" : "");
        if (mean < least) {
            least = mean;
            best = kib;
        }
    }
    char value[24], by_own[24];
    snprintf(value, sizeof value, "%" PRIu64, best);
    snprintf(by_own, sizeof by_own, "%" PRIu64, own >> 10);
    if (tune_judge("BLY_NEAR", by_own, value, 1 / least - 1,
                   tune_noise(tune_near_noise(table, own), table->n)))
        tune_advise(line, room, "BLY_NEAR", value);
}

static void tune_near(const tune_plan *plan, char *line, size_t room)
{
    static tune_table table;
    const uint64_t least = 256 << 10, own = plan->processor.near_bytes;
    size_t done = 0, all = 0;
    for (size_t k = 0; k < TUNE_KINDS; k++)
        for (uint64_t bytes = least; bytes <= plan->near_most; bytes *= 2)
            all += plan->wanted[k] && tune_kinds[k].near;
    for (size_t k = 0; k < TUNE_KINDS; k++)
        for (uint64_t bytes = least; bytes <= plan->near_most; bytes *= 2)
            if (plan->wanted[k] && tune_kinds[k].near) {
                tune_progress("BLY_NEAR", done++, all, &tune_kinds[k], bytes);
                tune_near_size(plan, &tune_kinds[k], bytes, &table);
            }
    tune_progress_end();
    if (table.n == 0)
        return;
    tune_print_near(&table, own);
    tune_judge_near(&table, own, line, room);
}

/* ---- All together ------------------------------------------------------ */

/* Settings in the environment would be measured as the default. */
static void tune_clear_environment(void)
{
    unsetenv("BLY_AHEAD");
    unsetenv("BLY_NEAR");
    unsetenv("BLY_CPU");
}

static void tune_write_csv(const tune_plan *plan, FILE *csv)
{
    machine_write_head(csv, &plan->processor, plan->commit, "least");
    table_csv(csv);
    if (fclose(csv) != 0)
        tune_misuse(plan->csv, "cannot be written");
}

int main(int argc, char **argv)
{
    tune_plan plan = { .commit = "not said" };
    char line[96] = "";
    FILE *csv = NULL;
    memset(plan.wanted, true, sizeof plan.wanted);
    tune_options(&plan, argc, argv);
    if (plan.csv != NULL && (csv = fopen(plan.csv, "w")) == NULL)
        tune_misuse(plan.csv, "cannot be written");
    tune_clear_environment();
    plan.processor = settings_processor();
    tune_plan_sizes(&plan);
    tune_print_machine(&plan);
    tune_ahead_and_level(&plan, line, sizeof line);
    tune_near(&plan, line, sizeof line);
    if (csv != NULL)
        tune_write_csv(&plan, csv);
    printf("\n%s\n", line[0] != '\0' ? line : "leave the defaults");
    return 0;
}
