/* costs.c - measures what lookups and adds cost on this machine.
 *
 * Batches of hashes are timed on one thread, in processor time, so that other
 * programs disturb little. (Kinds that take all keys at once may use several
 * threads to build.) Each filter is filled as planned. Rounds are short, a
 * millisecond or two, and the minimum counts. All kinds are measured at one
 * point before the next, and then once more, so that a disturbance of some
 * seconds spoils one of the two measurements only. The cost of a cache line is
 * measured with nearly empty filters of kind "blocked", whose lookups read one
 * line, in memory allocated like a filter's. The file:
 *
 *      bloomery costs 2 of VERSION
 *      line BYTES NS
 *      kind NAME  PRESENT ABSENT MIXED ADD  ... ... ... ...  (7 times)
 *      end
 *
 * with the version of Bloomery that was measured, and four numbers for each of
 * BLY_COST_POINTS. It can always be made again by measuring, so a file that is
 * not exactly like this is ignored.
 */
#include "filters/costs.h"
#include "frame/mix.h"

#include <bloomery/advice.h>
#include <bloomery/replace.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ==== Keys and time ===================================================== */

enum { COSTS_ASKED = 1 << 20, COSTS_FEW = 1 << 16, COSTS_BATCH = 4096,
       COSTS_LEAST = 1 << 14, COSTS_ROUNDS = 4, COSTS_QUESTIONS = 3,
       COSTS_AGAIN = 1000000 };

#define COSTS_SLICE 1.5e6               /* approximate ns of one round       */

struct costs_room {
    uint64_t series;                    /* of keys: each run uses others     */
    uint64_t keys;                      /* of the filters that are queried   */
    uint64_t asked[COSTS_QUESTIONS][COSTS_ASKED];
    uint64_t added[COSTS_FEW];
};

costs_room *costs_open(void)
{
    costs_room *room = malloc(sizeof *room);

    if (room != NULL)
        room->series = room->keys = 0;
    return room;
}

void costs_close(costs_room *room)
{
    free(room);
}

/* Returns the hash of key i < 2^56 of a series; distinct keys differ. */
static uint64_t costs_hash(uint64_t series, uint64_t i)
{
    return mix_hash(series << 56 | i);
}

static double costs_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ==== Lookups =========================================================== */

/* Makes keys that are present, absent, and both in random order. */
static void costs_questions(costs_room *room, uint64_t keys)
{
    const uint64_t absent = UINT64_C(1) << 48;
    uint64_t *there = room->asked[0], *not = room->asked[1],
             *mixed = room->asked[2];

    for (uint64_t i = 0; i < COSTS_ASKED && room->keys != keys; i++) {
        there[i] = costs_hash(room->series, mix_hash(i) % keys);
        not[i] = costs_hash(room->series, absent + i);
        mixed[i] = mix_hash(~i) >> 63 != 0 ? there[i]
                 : costs_hash(room->series, absent + COSTS_ASKED + i);
    }
    room->keys = keys;
}

/* Returns the nanoseconds per lookup. */
static double costs_ask(const bly_filter *filter, const uint64_t *hashes,
                        size_t n)
{
    bool answers[COSTS_BATCH];
    double start = costs_clock(CLOCK_THREAD_CPUTIME_ID);

    for (size_t i = 0; i < n; i += COSTS_BATCH)
        bly_contains_hashes(filter, hashes + i, COSTS_BATCH, answers);
    return (costs_clock(CLOCK_THREAD_CPUTIME_ID) - start) / (double)n;
}

/* Returns the number of keys per round. Each round uses other keys, so that
 * cache lines of the round before are not reused. */
static size_t costs_share(double ns)
{
    size_t n = COSTS_ASKED;

    while (n > COSTS_LEAST && (double)n * ns > COSTS_SLICE)
        n /= 2;
    return n;
}

/* Takes the minimum over some rounds, for each kind of query. */
static void costs_rounds(double *least, const bly_filter *filter,
                         const costs_room *room, size_t rounds,
                         size_t questions)
{
    size_t n[COSTS_QUESTIONS];

    for (size_t q = 0; q < questions; q++) {
        n[q] = costs_share(costs_ask(filter, room->asked[q], COSTS_LEAST));
        least[q] = 1e12;
    }
    for (size_t round = 0; round < rounds; round++)
        for (size_t q = 0; q < questions; q++) {
            size_t at = (round + 1) * n[q] % COSTS_ASKED;
            double ns = costs_ask(filter, room->asked[q] + at, n[q]);
            least[q] = ns < least[q] ? ns : least[q];
        }
}

/* ==== A filter ========================================================== */

static bool costs_adds(const char *kind)
{
    const bly_kind_info *info = bly_kind_find(kind);

    return info != NULL && (info->can & BLY_CAN_ADD) != 0;
}

/* Fills a filter. Returns nanoseconds per key, or a negative number. */
static double costs_fill(bly_filter *filter, costs_room *room, uint64_t keys)
{
    double taken = 0;

    for (uint64_t i = 0, n; i < keys; i += n) {
        n = keys - i < COSTS_FEW ? keys - i : COSTS_FEW;
        for (uint64_t j = 0; j < n; j++)
            room->added[j] = costs_hash(room->series, i + j);
        double start = costs_clock(CLOCK_THREAD_CPUTIME_ID);
        if (bly_add_hashes(filter, room->added, (size_t)n, NULL, NULL) < 0)
            return -1;
        taken += costs_clock(CLOCK_THREAD_CPUTIME_ID) - start;
    }
    return taken / (double)keys;
}

/* Builds a filter of all keys at once, and counts the time of all threads. */
static double costs_build(bly_filter **out, const char *kind,
                          const bly_spec *spec, uint64_t series)
{
    size_t n = (size_t)spec->capacity;
    uint64_t *hashes = malloc(n * sizeof *hashes);
    double taken = -1;

    if (hashes == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        hashes[i] = costs_hash(series, i);
    double start = costs_clock(CLOCK_PROCESS_CPUTIME_ID);
    if (bly_build(out, kind, spec, &(bly_keys){ .n = n,
                                                .hashes = hashes }) >= 0)
        taken = (costs_clock(CLOCK_PROCESS_CPUTIME_ID) - start) / (double)n;
    free(hashes);
    return taken;
}

static bly_filter *costs_filter(double *add, const char *kind,
                                const bly_spec *spec, costs_room *room)
{
    bly_filter *filter = NULL;

    if (!costs_adds(kind)) {
        *add = costs_build(&filter, kind, spec, room->series);
        return filter;
    }
    if (bly_new(&filter, kind, spec) < 0)
        return NULL;
    *add = costs_fill(filter, room, spec->capacity);
    if (*add >= 0)
        return filter;
    bly_free(filter);
    return NULL;
}

/* A filter that takes long to fill is filled once and queried more often. */
bool costs_point(bly_cost_point *out, costs_room *room, const char *kind,
                 uint64_t keys, double rate)
{
    bly_spec spec = { .capacity = keys, .rate = rate };
    double least[COSTS_QUESTIONS], add = 0;
    bly_filter *filter = costs_filter(&add, kind, &spec, room);

    if (filter == NULL)
        return false;
    costs_questions(room, keys);
    costs_rounds(least, filter, room,
                 keys > COSTS_AGAIN ? 4 * COSTS_ROUNDS : COSTS_ROUNDS,
                 COSTS_QUESTIONS);
    *out = (bly_cost_point){ least[0], least[1], least[2], add };
    bly_free(filter);
    return true;
}

/* ==== All that the advice is made of ==================================== */

static const uint64_t costs_sizes[] = {
    64 << 10, 512 << 10, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20,
    64 << 20, 256 << 20,
};

/* Adds so few keys that no line is full, but enough that each page has one: the
 * system maps pages that were never written to one shared page of zeros, which
 * stays in a cache. */
static bool costs_touch(bly_filter *filter, uint64_t bytes, costs_room *room)
{
    return costs_fill(filter, room, bytes / 512) >= 0;
}

static bool costs_line(bly_line_cost *out, uint64_t bytes, costs_room *room)
{
    bly_spec spec = { .capacity = bytes * 4 / 5, .rate = 0.01 };
    bly_filter *filter;         /* about ten bits per key */
    bool good;

    if (bly_new(&filter, "blocked", &spec) < 0)
        return false;
    good = costs_touch(filter, bytes, room);
    out->bytes = bytes;
    costs_rounds(&out->ns, filter, room, 2 * COSTS_ROUNDS, 1);
    bly_free(filter);
    return good;
}

/* Measures as many sizes as there is memory for, and keeps the minimum with
 * earlier results. A larger size cannot be faster, whatever the clock said. */
static bool costs_measure_lines(costs_table *t, costs_room *room)
{
    size_t i = 0, n = sizeof costs_sizes / sizeof *costs_sizes;
    bly_line_cost now;

    costs_questions(room, UINT64_C(1) << 40);
    for (; i < n && costs_line(&now, costs_sizes[i], room); i++) {
        if (i >= t->costs.lines || now.ns < t->line[i].ns)
            t->line[i] = now;
        if (i > 0 && t->line[i].ns < t->line[i - 1].ns)
            t->line[i].ns = t->line[i - 1].ns;
    }
    t->costs.lines = i;
    return i >= 2;
}

static const struct { uint64_t keys; double rate; } costs_points[] = {
#define COSTS_POINT(keys, rate) { keys, rate },
    BLY_COST_POINTS(COSTS_POINT)
#undef COSTS_POINT
};

enum { COSTS_POINTS = sizeof costs_points / sizeof *costs_points };

void costs_least(bly_cost_point *least, const bly_cost_point *other)
{
    least->present = fmin(least->present, other->present);
    least->absent = fmin(least->absent, other->absent);
    least->mixed = fmin(least->mixed, other->mixed);
    least->add = fmin(least->add, other->add);
}

/* Progress through all points. */
typedef struct {
    costs_room        *room;
    const costs_watch *watch;
    double             done, all;       /* in units of costs_effort()        */
    bool               again;           /* whether to combine with earlier
                                           results                           */
} costs_run;

/* Estimates the time of a point, in keys added. */
static double costs_effort(size_t point)
{
    return (double)costs_points[point].keys + 500000;
}

static bool costs_measured_again(size_t point)
{
    return costs_points[point].keys <= COSTS_AGAIN;
}

static bool costs_measure_point(bly_cost *cost, size_t i, costs_run *run)
{
    bly_cost_point p, *at = &cost->at[i];

    if (run->watch != NULL)
        run->watch->tell(run->watch->context, cost->kind,
                         run->done / run->all);
    run->done += costs_effort(i);
    if (!costs_point(&p, run->room, cost->kind, costs_points[i].keys,
                     costs_points[i].rate))
        return false;
    if (run->again)
        costs_least(at, &p);
    else
        *at = p;
    return true;
}

/* Measures one point of every kind; skips kinds that cannot be built. */
static void costs_measure_kinds(costs_table *t, size_t point, costs_run *run)
{
    size_t n = 0;

    for (size_t i = 0; i < t->costs.kinds; i++) {
        if (n < i)
            t->kind[n] = t->kind[i];
        n += costs_measure_point(&t->kind[n], point, run);
    }
    t->costs.kinds = n;
}

static void costs_measure_points(costs_table *t, costs_room *room,
                                 const costs_watch *watch)
{
    costs_run run = { .room = room, .watch = watch };

    for (size_t i = 0; i < COSTS_POINTS; i++)
        run.all += costs_effort(i) * (double)t->costs.kinds
                 * (costs_measured_again(i) ? 2 : 1);
    for (size_t i = 0; i < COSTS_POINTS; i++)
        costs_measure_kinds(t, i, &run);
    run.again = true;           /* other keys: some sets are hard to build    */
    room->series++;
    room->keys = 0;
    for (size_t i = 0; i < COSTS_POINTS; i++)
        if (costs_measured_again(i))
            costs_measure_kinds(t, i, &run);
}

static void costs_point_into(costs_table *t)
{
    for (size_t i = 0; i < COSTS_LINES; i++)
        t->lines[i] = &t->line[i];
    for (size_t i = 0; i < COSTS_KINDS; i++)
        t->kinds[i] = &t->kind[i];
    t->costs.line = t->lines;
    t->costs.kind = t->kinds;
}

/* Takes the names from an advice on a need that every kind might serve. */
static bool costs_names(costs_table *t)
{
    bly_need any = { .capacity = 1000 };
    bly_ranking *all;
    size_t n;

    if (bly_advise(&all, &any) < 0)
        return false;
    n = bly_ranking_count(all) < COSTS_KINDS ? bly_ranking_count(all)
                                             : COSTS_KINDS;
    for (size_t i = 0; i < n; i++)
        snprintf(t->kind[i].kind, sizeof t->kind[i].kind, "%.47s",
                 bly_ranking_at(all, i)->kind);
    bly_ranking_free(all);
    t->costs.kinds = n;
    return true;
}

bool costs_measure(costs_table *t, const costs_watch *watch)
{
    costs_room *room = costs_open();
    bool good;

    *t = (costs_table){ .costs = { .lines = 0 } };
    costs_point_into(t);
    good = room != NULL && costs_measure_lines(t, room) && costs_names(t);
    if (good) {
        costs_measure_points(t, room, watch);
        good = costs_measure_lines(t, room) && costs_lacks(t) == NULL;
    }
    costs_close(room);
    return good;
}

/* ==== The file ========================================================== */

const char costs_missing[] = "does not exist";

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
    size_t i = t->costs.lines;
    bly_line_cost *l = &t->line[i];
    char end;

    t->costs.lines += i < COSTS_LINES;
    return i < COSTS_LINES
        && sscanf(row, "line %" SCNu64 " %lf%c", &l->bytes, &l->ns, &end) == 3
        && end == '\n' && l->ns > 0 && l->ns < 1e6 && l->bytes > 0
        && (i == 0 || l->bytes > l[-1].bytes);
}

/* Reads the next number of a row. */
static bool costs_number(double *out, char **at)
{
    char *from = *at;

    *out = strtod(from, at);
    return *at != from && *out > 0 && *out < 1e9;
}

static bool costs_read_kind(costs_table *t, char *row)
{
    size_t i = t->costs.kinds;
    int at = 0;

    t->costs.kinds += i < COSTS_KINDS;
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

static const char costs_head[] = "bloomery costs 2 of " BLY_VERSION "\n";
static const char costs_end[] = "end\n";

static const char *costs_read_rows(costs_table *t, FILE *file)
{
    char row[512] = "";

    if (fgets(row, sizeof row, file) == NULL || strcmp(row, costs_head) != 0)
        return "is not a table of costs of this version";
    while (fgets(row, sizeof row, file) != NULL && strcmp(row, costs_end) != 0)
        if (!(row[0] == 'l' ? costs_read_line(t, row)
                            : costs_read_kind(t, row)))
            return "is damaged";
    return t->costs.lines >= 2 && strcmp(row, costs_end) == 0
        && fgetc(file) == EOF && !ferror(file) ? NULL : "is damaged";
}

/* A kind of which no filter can be planned at the first point has no costs. */
const char *costs_lacks(const costs_table *t)
{
    static costs_table all;
    bly_spec spec = { .capacity = costs_points[0].keys,
                      .rate = costs_points[0].rate };
    bly_plan_t plan;

    if (!costs_names(&all))
        return NULL;
    for (size_t i = 0, j; i < all.costs.kinds; i++) {
        for (j = 0; j < t->costs.kinds; j++)
            if (strcmp(all.kind[i].kind, t->kind[j].kind) == 0)
                break;
        if (j == t->costs.kinds
            && bly_plan(&plan, all.kind[i].kind, &spec) == BLY_OK)
            return all.kind[i].kind;
    }
    return NULL;
}

/* Opens plain files only: others may block their reader. */
static FILE *costs_open_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat about;
    FILE *file = NULL;

    if (fd >= 0 && fstat(fd, &about) == 0) {
        errno = EINVAL;
        file = S_ISREG(about.st_mode) ? fdopen(fd, "r") : NULL;
    }
    if (fd >= 0 && file == NULL)
        close(fd);
    return file;
}

const char *costs_read(costs_table *t, const char *path)
{
    FILE *file = costs_open_file(path);
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
    fputs(costs_head, file);
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
    fputs(costs_end, file);
}

/* Makes missing parent folders. */
static void costs_folders(const char *path)
{
    char folder[COSTS_PATH];

    for (const char *at = strchr(path + 1, '/'); at != NULL;
         at = strchr(at + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(at - path), path);
        (void)mkdir(folder, 0700);
    }
}

/* Starts to replace the file at `path`. Returns NULL, and sets errno, if that
 * is impossible. */
static bly_replacement *costs_begin(const char *path, int *fd)
{
    bly_replacement *r;

    costs_folders(path);
    if (bly_replace(&r, fd, path) == BLY_OK)
        return r;
    errno = bly_errno() != 0 ? bly_errno() : ENOMEM;
    return NULL;
}

bool costs_writable(const char *path)
{
    int fd;
    bly_replacement *r = costs_begin(path, &fd);

    bly_replace_drop(r);
    return r != NULL;
}

/* Writes the rows through a stream of its own. */
static bool costs_print(const costs_table *t, int fd)
{
    int own = dup(fd);
    FILE *file = own >= 0 ? fdopen(own, "w") : NULL;
    bool good;

    if (file == NULL) {
        if (own >= 0)
            close(own);
        return false;
    }
    costs_write_rows(t, file);
    good = fflush(file) == 0 && !ferror(file);
    return fclose(file) == 0 && good;
}

bool costs_write(const costs_table *t, const char *path)
{
    int fd, why;
    bly_replacement *r = costs_begin(path, &fd);

    if (r == NULL)
        return false;
    if (costs_print(t, fd)) {
        bool good = bly_replace_end(r) == BLY_OK;

        errno = good ? 0 : bly_errno();
        return good;
    }
    why = errno;
    bly_replace_drop(r);
    errno = why;
    return false;
}
