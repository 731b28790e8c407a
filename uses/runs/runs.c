/* runs.c - looks keys up in sorted runs on disk, and reads no run whose filter
 * says no.
 *
 *   runs get KEYS RUN... >ANSWERS              the newest run first
 *   runs split [--even] KIND BITS RUN...       RUN, its keys, and the rate
 *
 * A run is a file of lines KEY<TAB>VALUE in the order of their bytes (LC_ALL=C
 * sort), each key once; a line with only a KEY deletes it. The first run that
 * has a key answers. Memory holds a run's filter, the file RUN.bly, and the
 * first key of every 4 KiB, so a run takes one read per key unless the filter
 * saves it. A run without a filter is always read.
 *
 * split divides BITS per key so that the fewest reads are in vain. Every run is
 * queried, however large, so a filter's rate should be proportional to the keys
 * of its run [Dayan 2017]; --even gives all the same rate. */
#define _POSIX_C_SOURCE 200809L
#include <bloomery.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 4096 };

/* A block begins with the first line that begins in its 4 KiB or later. */
typedef struct { bly_key first; uint64_t at; } fence;

typedef struct {
    const char *path;
    bly_filter *filter;                 /* NULL: none                        */
    uint64_t    keys, bytes;
    fence      *fences;
    size_t      blocks;
    double      rate;
    int         file;
} run;

static run *runs;
static size_t all;                      /* number of runs                    */
static uint64_t asked, reads, vain, found;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "runs: %s: %s\n", what, why);
    return 2;
}

static void *needed(void *memory)
{
    if (memory == NULL)
        exit(stop("memory", strerror(ENOMEM)));
    return memory;
}

static int order(bly_key a, bly_key b)
{
    size_t n = a.length < b.length ? a.length : b.length;
    int bytes = n > 0 ? memcmp(a.data, b.data, n) : 0;
    return bytes != 0 ? bytes : (a.length > b.length) - (a.length < b.length);
}

/* Returns the key of a line, without the newline. */
static bly_key key_of(const char *line, size_t n)
{
    const char *tab = memchr(line, '\t', n);
    return (bly_key){ line, tab != NULL ? (size_t)(tab - line) : n };
}

/* ---- Runs ---------------------------------------------------------------- */

static void note_block(run *r, bly_key key)
{
    char *copy = needed(malloc(key.length + 1));
    memcpy(copy, key.data, key.length);
    if ((r->blocks & (r->blocks - 1)) == 0)     /* a power of two: doubled   */
        r->fences = needed(realloc(r->fences, (2 * r->blocks + 1)
                                              * sizeof *r->fences));
    r->fences[r->blocks++] = (fence){ { copy, key.length }, r->bytes };
}

static int open_filter(run *r)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s.bly", r->path);
    if (n < 0 || (size_t)n >= sizeof path)
        return stop(r->path, "too long a name");
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return 0;
    if (bly_open(&r->filter, path, 0, NULL) < 0)
        return stop("a filter", bly_why());
    return (bly_can(r->filter) & BLY_CAN_CONTAINS) != 0
         ? 0 : stop(path, "it cannot be asked: build another kind");
}

/* Reads a run once. Its filter must have all of its keys. */
static int read_run(run *r)
{
    char *line = NULL, *last = NULL;
    size_t room = 0, last_room = 0, last_n = 0;
    int failed = 0;
    FILE *text = fopen(r->path, "r");
    if (text == NULL || (r->file = dup(fileno(text))) < 0)
        return stop(r->path, strerror(errno));
    for (ssize_t n; failed == 0 && (n = getline(&line, &room, text)) > 0; ) {
        bly_key key = key_of(line, (size_t)(n - (line[n - 1] == '\n')));
        if (r->keys > 0 && order((bly_key){ last, last_n }, key) >= 0) {
            fprintf(stderr, "runs: %s:%llu: not in the order of bytes, or "
                    "twice: LC_ALL=C sort\n", r->path,
                    (unsigned long long)r->keys + 1);
            failed = 2;
        }
        if (failed == 0 && r->filter != NULL
            && !bly_contains(r->filter, key.data, key.length))
            failed = stop(r->path, "its filter is not of this run: build anew");
        if (r->blocks == 0
            || r->bytes / BLOCK > r->fences[r->blocks - 1].at / BLOCK)
            note_block(r, key);
        r->keys++;
        r->bytes += (uint64_t)n;
        last_n = key.length;
        char *spare = last;             /* the line becomes the last one     */
        size_t spare_room = last_room;
        last = line, last_room = room;
        line = spare, room = spare_room;
    }
    failed = failed == 0 && ferror(text) ? stop(r->path, strerror(errno))
                                         : failed;
    free(line);
    free(last);
    fclose(text);
    return failed;
}

static int read_runs(char **paths, int n, bool filters)
{
    runs = needed(calloc((size_t)n, sizeof *runs));
    for (; all < (size_t)n; all++) {
        runs[all].path = paths[all];
        if ((filters && open_filter(&runs[all]) != 0)
            || read_run(&runs[all]) != 0)
            return 2;
    }
    return 0;
}

/* ---- Split --------------------------------------------------------------- */

/* Returns the bits of all filters if the rate of a run is `each` for each of
 * its keys or, if even, for each run. A rate of 1 needs no filter. */
static double bits_at(const char *kind, double each, bool even)
{
    double bits = 0;
    for (run *r = runs; r < runs + all; r++) {
        bly_plan_t plan;
        r->rate = each * (even ? 1 : (double)r->keys);
        if (r->rate >= 1 || r->keys == 0)
            continue;
        bly_spec spec = { .capacity = r->keys, .rate = r->rate };
        if (bly_plan(&plan, kind, &spec) < 0)
            return INFINITY;            /* that rate is impossible           */
        bits += 8 * (double)plan.bytes;
    }
    return bits;
}

static int split(int n, char **arguments)
{
    bool even = n > 0 && strcmp(arguments[0], "--even") == 0;
    char *end = NULL, **rest = arguments + even;
    double bits = n - even > 2 ? strtod(rest[1], &end) : 0, keys = 0;
    double low = -64, high = 0;         /* exponents of 2                    */
    bly_plan_t plan;
    if (!(bits > 0) || *end != '\0')
        return stop("usage", "runs split [--even] KIND BITS RUN...");
    if (bly_plan(&plan, rest[0], &(bly_spec){ .capacity = 1000 }) < 0)
        return stop("the filters", bly_why());
    if (read_runs(rest + 2, n - even - 2, false) != 0)
        return 2;
    for (size_t i = 0; i < all; i++)
        keys += (double)runs[i].keys;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        bool more = bits_at(rest[0], exp2(middle), even) > bits * keys;
        *(more ? &low : &high) = middle;
    }
    bits_at(rest[0], exp2(high), even);
    for (size_t i = 0; i < all; i++)
        if (runs[i].rate < 1 && runs[i].keys > 0)
            printf("%s\t%llu\t%.9g\n", runs[i].path,
                   (unsigned long long)runs[i].keys, runs[i].rate * 1.0000001);
    return 0;
}

/* ---- Get ----------------------------------------------------------------- */

/* Reads the block where the key would be. If its line is there, prints it,
 * unless it is deleted. */
static bool look(const run *r, size_t block, bly_key key)
{
    static char *bytes;
    static size_t room;
    uint64_t at = r->fences[block].at;
    size_t n = (size_t)((block + 1 < r->blocks ? r->fences[block + 1].at
                                               : r->bytes) - at);
    if (n > room)
        bytes = needed(realloc(bytes, room = n));
    if (pread(r->file, bytes, n, (off_t)at) != (ssize_t)n)
        exit(stop(r->path, "it is shorter than it was, or cannot be read"));
    reads++;
    for (char *line = bytes, *end; line < bytes + n; line = end + 1) {
        end = memchr(line, '\n', (size_t)(bytes + n - line));
        if (end == NULL)
            end = bytes + n;
        if (order(key_of(line, (size_t)(end - line)), key) != 0)
            continue;
        if (line + key.length < end) {
            fwrite(line, 1, (size_t)(end - line), stdout);
            putchar('\n');
        }
        return true;
    }
    vain++;
    return false;
}

/* Returns the last block that begins with this key or an earlier one, counted
 * from 1, or 0. */
static size_t block_of(const run *r, bly_key key)
{
    size_t low = 0, high = r->blocks;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order(r->fences[middle].first, key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void answer(bly_key key)
{
    for (const run *r = runs; r < runs + all; r++) {
        size_t block = block_of(r, key);
        if (block == 0)
            continue;
        asked++;
        if (r->filter != NULL && !bly_contains(r->filter, key.data, key.length))
            continue;
        if (look(r, block - 1, key)) {
            found++;
            return;
        }
    }
}

static int get(int n, char **arguments)
{
    static char *line;
    size_t room = 0;
    unsigned long long keys = 0;
    if (n < 2)
        return stop("usage", "runs get KEYS RUN... >ANSWERS");
    FILE *text = fopen(arguments[0], "r");
    if (text == NULL)
        return stop(arguments[0], strerror(errno));
    if (read_runs(arguments + 1, n - 1, true) != 0)
        return 2;
    for (ssize_t got; (got = getline(&line, &room, text)) > 0; keys++) {
        size_t length = (size_t)(got - (line[got - 1] == '\n'));
        answer((bly_key){ line, length });
    }
    if (ferror(text))
        return stop(arguments[0], strerror(errno));
    fclose(text);
    fprintf(stderr, "runs: %llu keys, %llu found; %llu runs asked, %llu read, "
            "%llu of them in vain\n", keys, (unsigned long long)found,
            (unsigned long long)asked, (unsigned long long)reads,
            (unsigned long long)vain);
    return 0;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    int failed = strcmp(verb, "split") == 0 ? split(argc - 2, argv + 2)
               : strcmp(verb, "get") == 0 ? get(argc - 2, argv + 2)
               : stop("usage", "runs get or runs split");
    if (failed == 0 && (fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed;
}
