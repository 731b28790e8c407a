/* costs.c - what lookups and adds cost on this machine.
 *
 * Measured are batches of hashes on one thread (the builds of kinds that take
 * all keys at once may use several), in the time that the processor gave to it, so that other programs disturb little; of several rounds the
 * least counts. A filter is filled as planned. What a line of memory costs is
 * measured with empty filters of kind "blocked", of which a lookup reads just
 * one line, in the memory that filters really have. The file:
 *
 *      bloomery costs 1
 *      line BYTES NS
 *      kind NAME  PRESENT ABSENT MIXED ADD  ... ... ... ...  (7 times)
 *
 * with the four numbers of each point of BLY_COST_POINTS. Floor 7.
 */
#include "costs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ==== Keys and time ===================================================== */

enum { COSTS_ASKED = 1 << 20, COSTS_FEW = 1 << 16, COSTS_BATCH = 4096,
       COSTS_ROUNDS = 7, COSTS_QUESTIONS = 3, COSTS_AGAIN = 1000000 };

#define COSTS_SLICE 10e6                /* ns of one round, about            */

static uint64_t costs_mix(uint64_t i)
{
    i = (i ^ i >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    i = (i ^ i >> 27) * UINT64_C(0x94D049BB133111EB);
    return i ^ i >> 31;
}

/* The hash of key i; it is one to one. */
static uint64_t costs_hash(uint64_t i)
{
    return costs_mix(i + UINT64_C(0x9E3779B97F4A7C15));
}

static double costs_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ==== Lookups =========================================================== */

/* Keys that are there, that are not, and both in random order. */
static void costs_questions(uint64_t *hashes, uint64_t keys)
{
    const uint64_t absent = UINT64_C(1) << 48;
    uint64_t *there = hashes, *not = hashes + COSTS_ASKED,
             *mixed = not + COSTS_ASKED;

    for (uint64_t i = 0; i < COSTS_ASKED; i++) {
        there[i] = costs_hash(costs_mix(i) % keys);
        not[i] = costs_hash(absent + i);
        mixed[i] = costs_mix(~i) >> 63 != 0
                 ? there[i] : costs_hash(absent + COSTS_ASKED + i);
    }
}

/* Nanoseconds for each of n lookups. */
static double costs_ask(const bly_filter *filter, const uint64_t *hashes,
                        size_t n)
{
    bool answers[COSTS_BATCH];
    double start = costs_clock(CLOCK_THREAD_CPUTIME_ID);

    for (size_t i = 0; i < n; i += COSTS_BATCH)
        bly_contains_many(filter, hashes + i, COSTS_BATCH, answers);
    return (costs_clock(CLOCK_THREAD_CPUTIME_ID) - start) / (double)n;
}

/* So many keys that a round takes a moment; all of them where that is little,
 * so that lines of the round before are no longer in a cache. */
static size_t costs_share(double ns)
{
    size_t n = COSTS_ASKED;

    while (n > COSTS_FEW / 4 && (double)n * ns > COSTS_SLICE)
        n /= 2;
    return n;
}

/* The least of some rounds, for each question. */
static void costs_rounds(double *least, const bly_filter *filter,
                         const uint64_t *hashes, size_t questions)
{
    size_t n[COSTS_QUESTIONS];

    for (size_t q = 0; q < questions; q++) {
        least[q] = costs_ask(filter, hashes + q * COSTS_ASKED, COSTS_FEW / 4);
        n[q] = costs_share(least[q]);
        least[q] = 1e12;
    }
    for (size_t round = 0; round < COSTS_ROUNDS; round++)
        for (size_t q = 0; q < questions; q++) {
            size_t at = q * COSTS_ASKED + round * n[q] % COSTS_ASKED;
            double ns = costs_ask(filter, hashes + at, n[q]);
            least[q] = ns < least[q] ? ns : least[q];
        }
}

/* ==== A filter ========================================================== */

static bool costs_adds(const char *kind)
{
    const bly_kind_info *kinds;
    size_t length = strcspn(kind, ":");

    for (size_t n = bly_kinds(&kinds); n > 0; n--, kinds++)
        if (strlen(kinds->name) == length
            && memcmp(kinds->name, kind, length) == 0)
            return strcmp(kinds->abilities[0], "add") == 0;
    return false;
}

/* Fill a filter; nanoseconds of a key, or less than 0. */
static double costs_fill(bly_filter *filter, uint64_t *hashes, uint64_t keys)
{
    double taken = 0;

    for (uint64_t i = 0, n; i < keys; i += n) {
        n = keys - i < COSTS_FEW ? keys - i : COSTS_FEW;
        for (uint64_t j = 0; j < n; j++)
            hashes[j] = costs_hash(i + j);
        double start = costs_clock(CLOCK_THREAD_CPUTIME_ID);
        if (bly_add_many(filter, hashes, (size_t)n) < 0)
            return -1;
        taken += costs_clock(CLOCK_THREAD_CPUTIME_ID) - start;
    }
    return taken / (double)keys;
}

/* A filter of all keys at once, in the time of all threads that build it. */
static double costs_build(bly_filter **out, const char *kind,
                          const bly_spec *spec)
{
    size_t n = (size_t)spec->capacity;
    uint64_t *hashes = malloc(n * sizeof *hashes);
    double taken = -1;

    if (hashes == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        hashes[i] = costs_hash(i);
    double start = costs_clock(CLOCK_PROCESS_CPUTIME_ID);
    if (bly_build(out, kind, spec, hashes, n) >= 0)
        taken = (costs_clock(CLOCK_PROCESS_CPUTIME_ID) - start) / (double)n;
    free(hashes);
    return taken;
}

/* The filter; `hashes` is room for COSTS_FEW. */
static bly_filter *costs_filter(double *add, const char *kind,
                                const bly_spec *spec, uint64_t *hashes)
{
    bly_filter *filter = NULL;

    if (!costs_adds(kind)) {
        *add = costs_build(&filter, kind, spec);
        return filter;
    }
    if (bly_new(&filter, kind, spec) < 0)
        return NULL;
    *add = costs_fill(filter, hashes, spec->capacity);
    if (*add >= 0)
        return filter;
    bly_free(filter);
    return NULL;
}

bool costs_point(bly_cost_point *out, const char *kind, uint64_t keys,
                 double rate)
{
    bly_spec spec = { .capacity = keys, .rate = rate };
    double least[COSTS_QUESTIONS], add = 0;
    uint64_t *hashes = malloc(COSTS_QUESTIONS * COSTS_ASKED * sizeof *hashes);
    bly_filter *filter = NULL;

    if (hashes != NULL)
        filter = costs_filter(&add, kind, &spec, hashes);
    if (filter != NULL) {
        costs_questions(hashes, keys);
        costs_rounds(least, filter, hashes, COSTS_QUESTIONS);
        *out = (bly_cost_point){ least[0], least[1], least[2], add };
    }
    bly_free(filter);
    free(hashes);
    return filter != NULL;
}

/* ==== All that the advice is made of ==================================== */

static const uint64_t costs_sizes[] = {
    64 << 10, 512 << 10, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20,
    64 << 20, 256 << 20,
};

static bool costs_line(bly_line_cost *out, uint64_t bytes, uint64_t *hashes)
{
    bly_spec spec = { .capacity = bytes * 4 / 5, .rate = 0.01 };
    bly_filter *filter;         /* ten bits a key: so many bytes, about */

    costs_questions(hashes, spec.capacity);
    if (bly_new(&filter, "blocked", &spec) < 0)
        return false;
    out->bytes = bytes;
    costs_rounds(&out->ns, filter, hashes, 1);
    bly_free(filter);
    return true;
}

/* A larger size cannot be quicker, whatever the clock said. */
static bool costs_measure_lines(costs_table *t)
{
    uint64_t *hashes = malloc(COSTS_QUESTIONS * COSTS_ASKED * sizeof *hashes);
    size_t i = 0, n = sizeof costs_sizes / sizeof *costs_sizes;

    for (; hashes != NULL && i < n; i++) {
        if (!costs_line(&t->line[i], costs_sizes[i], hashes))
            break;
        if (i > 0 && t->line[i].ns < t->line[i - 1].ns)
            t->line[i].ns = t->line[i - 1].ns;
    }
    t->costs.lines = i;
    free(hashes);
    return i >= 2;
}

static const struct { uint64_t keys; double rate; } costs_points[] = {
#define COSTS_POINT(keys, rate) { keys, rate },
    BLY_COST_POINTS(COSTS_POINT)
#undef COSTS_POINT
};

enum { COSTS_POINTS = sizeof costs_points / sizeof *costs_points };

static bool costs_measure_kind(bly_cost *out, const char *kind)
{
    snprintf(out->kind, sizeof out->kind, "%.47s", kind);
    for (size_t i = 0; i < COSTS_POINTS; i++)
        if (!costs_point(&out->at[i], kind, costs_points[i].keys,
                         costs_points[i].rate))
            return false;
    return true;
}

static double costs_least(double a, double b)
{
    return a < b ? a : b;
}

/* Once more, some time later: what disturbed then may be over. Not those that
 * take long to build. */
static void costs_measure_again(bly_cost *cost)
{
    for (size_t i = 0; i < COSTS_POINTS; i++) {
        bly_cost_point p, *at = &cost->at[i];
        if (costs_points[i].keys > COSTS_AGAIN
            || !costs_point(&p, cost->kind, costs_points[i].keys,
                            costs_points[i].rate))
            continue;
        at->present = costs_least(at->present, p.present);
        at->absent = costs_least(at->absent, p.absent);
        at->mixed = costs_least(at->mixed, p.mixed);
        at->add = costs_least(at->add, p.add);
    }
}

static void costs_point_into(costs_table *t)
{
    t->costs.line = t->line;
    t->costs.kind = t->kind;
}

/* The names come from an advice on a need that every kind might serve. A kind
 * that cannot be built so is left out. */
bool costs_measure(costs_table *t)
{
    static bly_advice all[BLY_ADVICE_MOST];
    bly_need any = { .capacity = 1000 };
    size_t n = 0;

    *t = (costs_table){ .costs = { .lines = 0 } };
    costs_point_into(t);
    if (!costs_measure_lines(t) || bly_advise(all, BLY_ADVICE_MOST, &any) < 0)
        return false;
    for (size_t i = 0; i < BLY_ADVICE_MOST && all[i].kind[0] != '\0'; i++)
        n += costs_measure_kind(&t->kind[n], all[i].kind);
    t->costs.kinds = n;
    for (size_t i = 0; i < n; i++)
        costs_measure_again(&t->kind[i]);
    return true;
}

/* ==== The file ========================================================== */

const char costs_missing[] = "is not there";

bool costs_path(char *path, size_t room)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = cache != NULL && cache[0] == '/'
          ? snprintf(path, room, "%s/bloomery/costs", cache)
          : home != NULL && home[0] == '/'
          ? snprintf(path, room, "%s/.cache/bloomery/costs", home) : -1;

    return n > 0 && (size_t)n < room;
}

static bool costs_read_line(costs_table *t, const char *row)
{
    size_t i = t->costs.lines++;
    bly_line_cost *l = &t->line[i];

    return i < COSTS_LINES
        && sscanf(row, "line %" SCNu64 " %lf", &l->bytes, &l->ns) == 2
        && l->ns > 0 && l->ns < 1e6 && (i == 0 || l->bytes > l[-1].bytes);
}

/* The next of the numbers of a row. */
static bool costs_number(double *out, char **at)
{
    char *from = *at;

    *out = strtod(from, at);
    return *at != from && *out > 0 && *out < 1e9;
}

static bool costs_read_kind(costs_table *t, char *row)
{
    size_t i = t->costs.kinds++;
    int at = 0;

    if (i >= COSTS_KINDS
        || sscanf(row, "kind %47s%n", t->kind[i].kind, &at) != 1)
        return false;
    row += at;
    for (size_t p = 0; p < COSTS_POINTS; p++) {
        bly_cost_point *point = &t->kind[i].at[p];
        if (!costs_number(&point->present, &row)
            || !costs_number(&point->absent, &row)
            || !costs_number(&point->mixed, &row)
            || !costs_number(&point->add, &row))
            return false;
    }
    return *row == '\n';
}

static const char *costs_read_rows(costs_table *t, FILE *file)
{
    char row[512];

    if (fgets(row, sizeof row, file) == NULL
        || strcmp(row, "bloomery costs 1\n") != 0)
        return "is not a table of costs of this version";
    while (fgets(row, sizeof row, file) != NULL)
        if (!(row[0] == 'l' ? costs_read_line(t, row)
                            : costs_read_kind(t, row)))
            return "is damaged";
    return t->costs.lines >= 2 && !ferror(file) ? NULL : "is damaged";
}

const char *costs_read(costs_table *t, const char *path)
{
    FILE *file = fopen(path, "re");
    const char *wrong;

    *t = (costs_table){ .costs = { .lines = 0 } };
    costs_point_into(t);
    if (file == NULL)
        return errno == ENOENT || errno == ENOTDIR ? costs_missing
                                                   : "cannot be read";
    wrong = costs_read_rows(t, file);
    fclose(file);
    return wrong;
}

static void costs_write_rows(const costs_table *t, FILE *file)
{
    fprintf(file, "bloomery costs 1\n");
    for (size_t i = 0; i < t->costs.lines; i++)
        fprintf(file, "line %" PRIu64 " %.2f\n", t->line[i].bytes,
                t->line[i].ns);
    for (size_t i = 0; i < t->costs.kinds; i++) {
        fprintf(file, "kind %s", t->kind[i].kind);
        for (size_t j = 0; j < COSTS_POINTS; j++) {
            const bly_cost_point *p = &t->kind[i].at[j];
            fprintf(file, "  %.2f %.2f %.2f %.2f", p->present, p->absent,
                    p->mixed, p->add);
        }
        fprintf(file, "\n");
    }
}

/* The folders above a file, as far as they are missing. */
static void costs_folders(const char *path)
{
    char folder[4096];

    for (const char *at = strchr(path + 1, '/'); at != NULL;
         at = strchr(at + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(at - path), path);
        (void)mkdir(folder, 0700);
    }
}

bool costs_write(const costs_table *t, const char *path)
{
    char work[4096 + 16];
    FILE *file;
    int fd;

    costs_folders(path);
    snprintf(work, sizeof work, "%s.XXXXXX", path);
    fd = mkstemp(work);
    file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL)
        return false;
    costs_write_rows(t, file);
    bool good = !ferror(file);
    good = fclose(file) == 0 && good;
    if (good && rename(work, path) == 0)
        return true;
    (void)unlink(work);
    return false;
}
