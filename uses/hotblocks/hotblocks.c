/* hotblocks.c - finds disk blocks that deserve a place on an SSD: those that
 * are read twice.
 *
 *   hotblocks [-c BLOCKS] [-p PERIOD] [-r RATE] [-m BYTES] FOLDER <TRACE >MOVED
 *
 * TRACE has a block number for each read. The SSD has room for BLOCKS (65536).
 * A block that is read and not there is added to this period's filter; if that
 * one, or the previous period's, has it already, it is copied to the SSD, and
 * its number printed. A period is PERIOD (1000000) such blocks.
 *
 * The filters are on the SSD themselves, as files in FOLDER; memory holds BYTES
 * (64 MiB) of blocks not yet written into them. Blocks are queried in large
 * batches, so that each page of a filter is read once for all of them: the
 * decision to copy comes a little later, but nobody waits for it.
 */
#define _POSIX_C_SOURCE 200809L
#include <bloomery/paged.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 4096, WAYS = 64 };

/* A cache in sets of WAYS blocks; a full set evicts the least recently read,
 * with the smallest number among several. */
typedef struct { uint64_t block, read; } slot;      /* read 0: free          */
typedef struct {
    slot    *slots;
    uint64_t sets, hits, writes;
} cache;

static uint64_t reads, asked, known;
static uint64_t missing[BATCH];         /* blocks not yet queried            */
static size_t   n_missing;
static bly_filter *current, *previous;  /* this period's, the previous one's */
static char paths[2][4096];
static unsigned turn;
static uint64_t room = 65536, period = 1000000, period_asked;
static size_t buffer = (size_t)64 << 20;
static double rate = 0.01;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "hotblocks: %s: %s\n", what, why);
    return 2;
}

/* ---- The caches ---------------------------------------------------------- */

static bool cache_make(cache *c)
{
    c->sets = (room + WAYS - 1) / WAYS;
    c->slots = calloc((size_t)c->sets * WAYS, sizeof *c->slots);
    return c->slots != NULL;
}

static slot *cache_set(const cache *c, uint64_t block)
{
    return c->slots + bly_mix64(block) % c->sets * WAYS;
}

static bool cache_read(cache *c, uint64_t block)
{
    slot *set = cache_set(c, block);
    for (size_t i = 0; i < WAYS; i++)
        if (set[i].read > 0 && set[i].block == block) {
            set[i].read = reads;
            return true;
        }
    return false;
}

static void cache_write(cache *c, uint64_t block)
{
    slot *set = cache_set(c, block), *oldest = set;
    for (size_t i = 1; i < WAYS; i++)
        if (set[i].read < oldest->read
            || (set[i].read == oldest->read && set[i].block < oldest->block))
            oldest = &set[i];
    *oldest = (slot){ block, reads };
    c->writes++;
}

/* ---- The filters --------------------------------------------------------- */

/* Makes this period's filter, in the file of the one before the last. */
static int begin_period(void)
{
    bly_spec spec = { .capacity = period, .rate = rate };
    bly_free(previous);
    previous = current;
    current = NULL;
    if (previous != NULL && bly_sync(previous) < 0)
        return stop(paths[turn % 2], bly_why());
    turn++;
    if (bly_create(&current, paths[turn % 2], "buffered", &spec) < 0
        || bly_buffer(current, buffer) < 0)
        return stop(paths[turn % 2], bly_why());
    period_asked = 0;
    return 0;
}

/* Moves the missing blocks that were read before. */
static int ask(cache *c)
{
    static uint64_t hashes[BATCH];
    static bool now[BATCH], before[BATCH];
    size_t done = 0;
    if (period_asked + n_missing > period && begin_period() != 0)
        return 2;
    for (size_t i = 0; i < n_missing; i++)
        hashes[i] = bly_mix64(missing[i]);
    if (bly_add_hashes(current, hashes, n_missing, now, &done) < 0)
        return stop(paths[turn % 2], bly_why());
    memset(before, 0, sizeof before);
    if (previous != NULL)
        bly_contains_hashes(previous, hashes, n_missing, before);
    for (size_t i = 0; i < n_missing; i++) {
        if (!now[i] && !before[i])
            continue;
        known++;
        if (cache_read(c, missing[i]))
            continue;                   /* it was twice in the batch         */
        cache_write(c, missing[i]);
        printf("%" PRIu64 "\n", missing[i]);
    }
    period_asked += n_missing;
    asked += n_missing;
    n_missing = 0;
    return 0;
}

/* ---- The trace ----------------------------------------------------------- */

static bool read_number(uint64_t *out, const char *text)
{
    char *end = NULL;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && (*end == '\0' || *end == '\n');
}

static int one_read(cache *all, cache *second, uint64_t block)
{
    reads++;
    if (cache_read(all, block))
        all->hits++;
    else
        cache_write(all, block);
    if (cache_read(second, block)) {
        second->hits++;
        return 0;
    }
    missing[n_missing++] = block;
    return n_missing == BATCH ? ask(second) : 0;
}

static int read_trace(cache *all, cache *second)
{
    char *line = NULL;
    size_t bytes = 0;
    int failed = begin_period();
    while (failed == 0 && getline(&line, &bytes, stdin) > 0) {
        uint64_t block;
        if (read_number(&block, line)) {
            failed = one_read(all, second, block);
            continue;
        }
        fprintf(stderr, "hotblocks: line %" PRIu64 ": the number of a block?\n",
                reads + 1);
        failed = 2;
    }
    free(line);
    if (failed == 0 && ferror(stdin))
        failed = stop("standard input", "cannot be read");
    return failed != 0 ? failed : ask(second);
}

static void tell(const char *rule, const cache *c)
{
    fprintf(stderr, "%-8s %12" PRIu64 " %10.4f %12" PRIu64 "\n", rule, c->hits,
            reads > 0 ? (double)c->hits / (double)reads : 0, c->writes);
}

/* ---- The program --------------------------------------------------------- */

/* Returns the number of arguments that are options, or a negative number after
 * an error. */
static int read_options(int n, char **arguments)
{
    int at = 0;
    for (; at + 1 < n && arguments[at][0] == '-'; at += 2) {
        uint64_t number = 0;
        char *value = arguments[at + 1], *end;
        bool whole = read_number(&number, value) && number > 0;
        if (strcmp(arguments[at], "-c") == 0 && whole && number < 1 << 30)
            room = number;
        else if (strcmp(arguments[at], "-p") == 0 && whole && number >= BATCH)
            period = number;
        else if (strcmp(arguments[at], "-m") == 0 && whole && number < 1 << 30)
            buffer = (size_t)number;
        else if (strcmp(arguments[at], "-r") == 0)
            rate = strtod(value, &end), whole = end != value && *end == '\0';
        else
            return -1;
        if (!whole)
            return -1;
    }
    return at;
}

int main(int argc, char **argv)
{
    cache all = { .slots = NULL }, second = { .slots = NULL };
    int at = read_options(argc - 1, argv + 1);
    if (at < 0 || argc != at + 2)
        return stop("usage", "hotblocks [-c BLOCKS] [-p PERIOD, 4096 or more] "
                             "[-r RATE] [-m BYTES] FOLDER <TRACE >MOVED");
    for (unsigned i = 0; i < 2; i++)
        if (snprintf(paths[i], sizeof *paths, "%s/read.%u.bly", argv[at + 1], i)
            >= (int)sizeof *paths)
            return stop(argv[at + 1], "too long a name");
    if (!cache_make(&all) || !cache_make(&second))
        return stop("the caches", strerror(ENOMEM));
    int failed = read_trace(&all, &second);
    if (failed == 0 && current != NULL && bly_seal(current) < 0)
        failed = stop(paths[turn % 2], bly_why());
    bly_free(previous);
    bly_free(current);
    free(all.slots);
    free(second.slots);
    if (failed != 0)
        return failed;
    fprintf(stderr, "%" PRIu64 " reads\nmoved            hits     of all       "
            "writes\n", reads);
    tell("all", &all);
    tell("second", &second);
    fprintf(stderr, "asked of the filters: %" PRIu64 ", known %" PRIu64 "\n",
            asked, known);
    return (fflush(stdout) | ferror(stdout)) != 0
         ? stop("standard output", strerror(errno)) : 0;
}
