/* table.c - a run's numbers: stored by name, printed, written as CSV. */
#include "bench.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_SERIES_MAX = 8192 };

static bench_series *table_all[TABLE_SERIES_MAX];
static size_t table_count;

static bench_series *table_look(const char *subject, uint64_t keys,
                                double rate, const char *what)
{
    for (size_t i = 0; i < table_count; i++) {
        bench_series *s = table_all[i];
        if (s->of.keys == keys && s->of.rate >= rate && s->of.rate <= rate
            && strcmp(s->of.subject, subject) == 0
            && strcmp(s->what, what) == 0)
            return s;
    }
    return NULL;
}

void table_add(const bench_case *of, const char *what, double value)
{
    bench_series *s = table_look(of->subject, of->keys, of->rate, what);
    if (s == NULL) {
        if (table_count == TABLE_SERIES_MAX)
            bench_stop("table", "too many numbers");
        s = bench_allocate(sizeof *s);
        s->of = *of;
        s->samples = 0;
        snprintf(s->what, sizeof s->what, "%s", what);
        table_all[table_count++] = s;
    }
    if (s->samples < BENCH_ROUNDS_MAX)
        s->sample[s->samples++] = value;
}

const bench_series *table_find(const char *subject, uint64_t keys, double rate,
                               const char *what)
{
    return table_look(subject, keys, rate, what);
}

/* ---- Medians ----------------------------------------------------------- */

static int table_compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double table_middle(const double *values, size_t n)
{
    double sorted[BENCH_ROUNDS_MAX];
    if (n == 0)
        return (double)NAN;
    memcpy(sorted, values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, table_compare);
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

double table_median(const bench_series *s)
{
    return s == NULL ? (double)NAN : table_middle(s->sample, s->samples);
}

double table_least(const bench_series *s)
{
    double least = (double)NAN;
    for (size_t i = 0; s != NULL && i < s->samples; i++)
        least = fmin(least, s->sample[i]);
    return least;
}

double table_ratio(const bench_series *a, const bench_series *b)
{
    double ratio[BENCH_ROUNDS_MAX];
    if (a == NULL || b == NULL || a->samples != b->samples)
        return table_median(a) / table_median(b);
    for (size_t i = 0; i < a->samples; i++)
        ratio[i] = a->sample[i] / b->sample[i];
    return table_middle(ratio, a->samples);
}

/* ---- Ratios to the limit ----------------------------------------------- */

/* Returns the limit of this number, as the lines it needs and the series of one
 * line's time; false if it has none. */
static bool table_limit(const bench_series *s, double *lines,
                        const bench_series **line)
{
    double present = table_median(table_look(s->of.subject, s->of.keys,
                                             s->of.rate, "lines present"));
    double absent = table_median(table_look(s->of.subject, s->of.keys,
                                            s->of.rate, "lines absent"));
    const char *space = strrchr(s->what, ' ');
    bool write = strncmp(s->what, "build", 5) == 0
              || strncmp(s->what, "add", 3) == 0;
    if (write)
        *lines = present;
    else if (space != NULL && strcmp(space, " 0") == 0)
        *lines = absent;
    else if (space != NULL && strcmp(space, " 50") == 0)
        *lines = (absent + present) / 2;
    else if (space != NULL && strcmp(space, " 100") == 0)
        *lines = present;
    else
        return false;
    const char *name = strstr(s->what, "threads") != NULL ? "line threads"
                     : write ? "line write" : "line";
    *line = table_look(s->of.subject, s->of.keys, s->of.rate, name);
    return *line != NULL && !isnan(*lines);
}

/* ---- The table --------------------------------------------------------- */

typedef struct { const char *what; int width, digits; } table_column;

static const table_column table_columns[] = {
    { "line", 6, 2 }, { "line write", 6, 2 },
    { "build", 7, 2 }, { "add", 6, 2 }, { "add single", 6, 1 },
    { "batch 0", 7, 2 }, { "batch 50", 6, 2 }, { "batch 100", 6, 2 },
    { "single 0", 7, 1 }, { "single 50", 6, 1 }, { "single 100", 6, 1 },
    { "inline 50", 7, 1 },
};

static void table_cell(double value, int width, int digits)
{
    if (isnan(value))
        printf("%*s", width, "-");
    else
        printf("%*.*f", width, digits, value);
}

static void table_limit_cell(const bench_case *of, const char *what)
{
    const bench_series *s = table_look(of->subject, of->keys, of->rate, what);
    const bench_series *line = NULL;
    double lines = 0, ratio = (double)NAN;
    if (s != NULL && table_limit(s, &lines, &line))
        ratio = table_ratio(s, line) / lines;
    table_cell(ratio, 6, 2);
}

static void table_speedup_cell(const bench_case *of, const char *one,
                               const char *several)
{
    table_cell(table_ratio(table_look(of->subject, of->keys, of->rate, one),
                           table_look(of->subject, of->keys, of->rate,
                                      several)), 6, 2);
}

static void table_row(const bench_case *of)
{
    const bench_series *measured = table_look(of->subject, of->keys, of->rate,
                                              "rate");
    printf("%-12s%6.0e%7.2g%%%7.2f%8.4f%%", of->subject, (double)of->keys,
           of->rate * 100, (double)of->bytes * 8 / (double)of->keys,
           table_median(measured) * 100);
    for (size_t i = 0; i < sizeof table_columns / sizeof *table_columns; i++)
        table_cell(table_median(table_look(of->subject, of->keys, of->rate,
                                           table_columns[i].what)),
                   table_columns[i].width, table_columns[i].digits);
    printf(" ");
    table_limit_cell(of, "build");
    table_limit_cell(of, "batch 0");
    table_limit_cell(of, "batch 50");
    table_limit_cell(of, "batch 100");
    printf(" ");
    table_speedup_cell(of, "alone 50", "threads 50");
    table_speedup_cell(of, "add shared", "add threads");
    printf("\n");
}

void table_print(const bench_plan *plan)
{
    printf("Filters: ns a key, medians of %zu rounds (%.1e lookups each)\n\n",
           plan->rounds, (double)plan->asked);
    printf("%40s %11s %19s %18s %19s %30s %8u threads\n", "", "the limit", "",
           "lookup, batch", "lookup, single", "times the limit", plan->threads);
    printf("%-12s%6s%8s%7s%9s%6s%6s%7s%6s%6s%7s%6s%6s%7s%6s%6s%7s %6s%6s%6s%6s"
           " %6s%6s\n", "filter", "keys", "asked", "bits", "rate", "read",
           "write", "build", "add", "add 1", "0 %", "50 %", "100 %", "0 %",
           "50 %", "100 %", "inline", "build", "0 %", "50 %", "100 %", "look",
           "add");
    uint64_t keys = 0;
    double rate = 0;
    for (size_t i = 0; i < table_count; i++) {
        const bench_case *of = &table_all[i]->of;
        if (strcmp(table_all[i]->what, "rate") != 0)
            continue;
        if (of->keys != keys || of->rate < rate || of->rate > rate)
            printf("\n");
        keys = of->keys;
        rate = of->rate;
        table_row(of);
    }
    printf("\n'inline': 50 %% by a view (bloomery/inline.h), where there is "
           "one.\n'times the limit': for each line of memory that the answer "
           "needs; build against lines\nwritten. 'threads': so many times "
           "as fast as one thread.\n\n");
}

/* Published numbers of other filters by their authors, one thread, 10^8 keys,
 * on a similar machine (Zen 5): for orientation, not for ratios. A range is
 * given by its middle. */
typedef struct {
    const char *name;
    double bits, rate, build, absent, half, present, remove;
} table_other;

#define TABLE_NONE ((double)NAN)

static const table_other table_others_removal[] = {
    { "cuckoo, 12 bits",     12.77, 0.00185, 203, 51, 51, 51, 60 },
    { "cuckoo, 16 bits",     17.02, 0.00011, 192, 45, 45, 45, 53 },
    { "counting quotient",   13.60, 0.00290, 244, 185, 185, 185, 412 },
    { "vector quotient",     11.47, 0.00432, 72, 49, 61, 62, TABLE_NONE },
    { "prefix (cuckoo 12)",  11.64, 0.00380, 51, 31, 41, 42, TABLE_NONE },
};

static const table_other table_others_frozen[] = {
    { "xor, 8 bits",          9.84, 0.0039, 269, 34, 34, 34, TABLE_NONE },
    { "binary fuse, 8 bits",  9.01, 0.0039, 99, 31, 31, 31, TABLE_NONE },
    { "binary fuse, 16 bits", 18.01, 0.000014, 102, 33, 33, 33, TABLE_NONE },
    { "BuRR 64, 8 bits",      8.02, 0.0039, 83, 98, 98, 98, TABLE_NONE },
    { "BuRR 128, 7 bits",     7.01, 0.0079, 150, 142, 142, 142, TABLE_NONE },
    { "Golomb-coded set",    10.05, 0.0039, 210, 318, 318, 318, TABLE_NONE },
};

/* A column of a table below: the measurement, its heading, and the index of the
 * published number, or SIZE_MAX. */
typedef struct {
    const char *what, *head;
    size_t other;
} table_part;

#define TABLE_OTHER(field) offsetof(table_other, field)

static const table_part table_parts_removal[] = {
    { "line", "line", SIZE_MAX }, { "build", "build", TABLE_OTHER(build) },
    { "add full", "again", SIZE_MAX }, { "remove", "remove",
                                         TABLE_OTHER(remove) },
    { "count", "count", SIZE_MAX }, { "batch 0", "0 %", TABLE_OTHER(absent) },
    { "batch 50", "50 %", TABLE_OTHER(half) },
    { "batch 100", "100 %", TABLE_OTHER(present) },
    { "single 50", "single", SIZE_MAX },
};

static const table_part table_parts_frozen[] = {
    { "line", "line", SIZE_MAX }, { "build 1", "build 1", TABLE_OTHER(build) },
    { "build", "build", SIZE_MAX }, { "batch 0", "0 %", TABLE_OTHER(absent) },
    { "batch 50", "50 %", TABLE_OTHER(half) },
    { "batch 100", "100 %", TABLE_OTHER(present) },
    { "threads 50", "threads", SIZE_MAX }, { "single 50", "single", SIZE_MAX },
};

static void table_part_row(const bench_case *of, const table_part *parts,
                           size_t n)
{
    printf("%-21s%6.0e%7.2f%8.4f%%", of->subject, (double)of->keys,
           (double)of->bytes * 8 / (double)of->keys,
           table_median(table_look(of->subject, of->keys, of->rate, "rate"))
           * 100);
    for (size_t i = 0; i < n; i++)
        table_cell(table_median(table_look(of->subject, of->keys, of->rate,
                                           parts[i].what)), 8, 1);
    printf("\n");
}

static void table_other_row(const table_other *other, const table_part *parts,
                            size_t n)
{
    printf("%-21s%6.0e%7.2f%8.4f%%", other->name, 1e8, other->bits,
           other->rate * 100);
    for (size_t i = 0; i < n; i++) {
        double value = TABLE_NONE;
        if (parts[i].other != SIZE_MAX)
            memcpy(&value, (const char *)other + parts[i].other, sizeof value);
        table_cell(value, 8, 1);
    }
    printf("\n");
}

/* Prints the filters for which `mark` was measured, beside published ones. */
static void table_print_parts(const char *title, const char *mark,
                              const table_part *parts, size_t n,
                              const table_other *others, size_t m)
{
    bool any = false;
    for (size_t i = 0; i < table_count; i++) {
        if (strcmp(table_all[i]->what, mark) != 0)
            continue;
        if (!any) {
            printf("%s\n\n%-21s%6s%7s%9s", title, "filter", "keys", "bits",
                   "rate");
            for (size_t j = 0; j < n; j++)
                printf("%8s", parts[j].head);
            printf("\n");
        }
        any = true;
        table_part_row(&table_all[i]->of, parts, n);
    }
    if (!any)
        return;
    printf("elsewhere:\n");
    for (size_t i = 0; i < m; i++)
        table_other_row(&others[i], parts, n);
    printf("\n");
}

#define TABLE_COUNT(array) (sizeof (array) / sizeof *(array))

void table_print_families(void)
{
    table_print_parts("Filters that remove: ns a key, in batches. 'again': "
                      "added to a filter that is full but for it", "remove",
                      table_parts_removal, TABLE_COUNT(table_parts_removal),
                      table_others_removal, TABLE_COUNT(table_others_removal));
    table_print_parts("Frozen filters: ns a key. 'build 1': one thread; "
                      "'threads': lookups by several, half present", "build 1",
                      table_parts_frozen, TABLE_COUNT(table_parts_frozen),
                      table_others_frozen, TABLE_COUNT(table_others_frozen));
}

void table_csv(FILE *out)
{
    fputs("subject,keys,rate,bytes,measured,median,least,samples,limit,"
          "lines,times_limit\n", out);
    for (size_t i = 0; i < table_count; i++) {
        const bench_series *s = table_all[i], *line = NULL;
        double lines = 0;
        fprintf(out, "%s,%" PRIu64 ",%g,%" PRIu64 ",%s,%.6g,%.6g,%zu",
                s->of.subject, s->of.keys, s->of.rate, s->of.bytes, s->what,
                table_median(s), table_least(s), s->samples);
        if (table_limit(s, &lines, &line))
            fprintf(out, ",%.6g,%.4g,%.4g\n", table_median(line), lines,
                    table_ratio(s, line) / lines);
        else
            fputs(",,,\n", out);
    }
}
