/* onehit.c - the savings of a cache that stores only what is requested twice.
 *
 *   onehit -c OBJECTS [-n IDS] [-p RATE] [-k KIND] [-s SEED] TRACE...
 *
 * Replays a trace, one identifier per line in the order of requests, through
 * two caches of that many objects, each of which evicts the least recently
 * used. One stores every miss; the other only what a filter remembers from an
 * earlier request. Such a filter forgets: it surely knows the last IDS
 * different identifiers (-n; 10 for each object).
 *
 * A cache needs a single call: bly_add returns BLY_SEEN if the identifier was
 * perhaps there before, and then the object is stored.
 */
#include <bloomery/keyed.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "onehit: %s: %s\n", what, why);
    return 2;
}

/* ---- A cache ------------------------------------------------------------ */

enum { MOST = 1 << 30 };

/* Entry 0 is both ends of the list; 0 ends a chain of the table. */
typedef struct {
    uint64_t id;
    uint32_t newer, older;
    uint32_t next;                      /* in the chain                      */
} entry;

typedef struct {
    entry    *entries;
    uint32_t *chains;
    uint32_t  mask, n, most;
    bly_keyed keyed;                    /* identifiers are untrusted         */
    uint64_t  hits, writes;
} cache;

static bool cache_new(cache *c, uint32_t most)
{
    uint32_t chains = 1;
    while (chains < most)
        chains *= 2;
    *c = (cache){ .mask = chains - 1, .most = most };
    c->entries = calloc((size_t)most + 1, sizeof *c->entries);
    c->chains = calloc(chains, sizeof *c->chains);
    return c->entries != NULL && c->chains != NULL
        && bly_keyed_draw(&c->keyed) == BLY_OK;
}

static void cache_free(cache *c)
{
    free(c->entries);
    free(c->chains);
}

/* Returns the link to the identifier's entry, existing or not. */
static uint32_t *place(cache *c, uint64_t id)
{
    uint32_t *at = &c->chains[bly_keyed_number(&c->keyed, id) & c->mask];
    while (*at != 0 && c->entries[*at].id != id)
        at = &c->entries[*at].next;
    return at;
}

static void unlist(cache *c, uint32_t e)
{
    entry *all = c->entries;
    all[all[e].newer].older = all[e].older;
    all[all[e].older].newer = all[e].newer;
}

static void make_newest(cache *c, uint32_t e)
{
    entry *all = c->entries;
    all[e].newer = 0;
    all[e].older = all[0].older;
    all[all[e].older].newer = e;
    all[0].older = e;
}

static bool cache_hit(cache *c, uint64_t id)
{
    uint32_t e = *place(c, id);
    if (e == 0)
        return false;
    unlist(c, e);
    make_newest(c, e);
    c->hits++;
    return true;
}

/* Stores an absent object, replacing the oldest if the cache is full. */
static void cache_store(cache *c, uint64_t id)
{
    uint32_t e = c->entries[0].newer;
    if (c->n < c->most) {
        e = ++c->n;
    } else {
        *place(c, c->entries[e].id) = c->entries[e].next;
        unlist(c, e);
    }
    c->entries[e].id = id;
    c->entries[e].next = 0;
    *place(c, id) = e;
    make_newest(c, e);
    c->writes++;
}

/* ---- The trace ---------------------------------------------------------- */

typedef struct {
    cache       all, second;
    bly_filter *seen;
    uint64_t    requests;
} replay;

static bly_status ask(replay *r, const char *id, size_t n)
{
    uint64_t hash = bly_hash(r->seen, id, n);
    r->requests++;
    if (!cache_hit(&r->all, hash))
        cache_store(&r->all, hash);
    if (cache_hit(&r->second, hash))
        return BLY_OK;
    bly_status seen = bly_add_hash(r->seen, hash);
    if (seen == BLY_SEEN)
        cache_store(&r->second, hash);
    return seen;
}

static int read_trace(replay *r, const char *path)
{
    FILE *trace = fopen(path, "r");
    if (trace == NULL)
        return stop(path, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    bly_status status = BLY_OK;
    for (ssize_t n; status >= 0 && (n = getline(&line, &room, trace)) > 0; ) {
        n -= line[n - 1] == '\n';
        status = ask(r, line, (size_t)n);
    }
    int failed = status < 0 ? stop("the filter", bly_why())
               : ferror(trace) ? stop(path, "cannot be read") : 0;
    free(line);
    fclose(trace);
    return failed;
}

static void tell_cache(const char *name, const cache *c, uint64_t requests)
{
    printf("%-8s %12llu %10.4f %12llu\n", name, (unsigned long long)c->hits,
           requests > 0 ? (double)c->hits / (double)requests : 0.0,
           (unsigned long long)c->writes);
}

static int tell(const replay *r)
{
    bly_info_t stat;
    if (bly_info(&stat, r->seen) < 0)
        return stop("the filter", bly_why());
    printf("%llu requests\n%-8s %12s %10s %12s\n",
           (unsigned long long)r->requests, "stored", "hits", "of all",
           "writes");
    tell_cache("all", &r->all, r->requests);
    tell_cache("second", &r->second, r->requests);
    printf("filter: %llu bytes, and at most %.3g of those asked for once are "
           "stored\n", (unsigned long long)stat.bytes, stat.planned_rate);
    return 0;
}

/* ---- The command -------------------------------------------------------- */

static int replay_all(replay *r, uint32_t objects, const char *kind,
                      const bly_spec *spec, char **traces)
{
    if (bly_new(&r->seen, kind, spec) < 0)
        return stop("the filter", bly_why());
    if (!cache_new(&r->all, objects) || !cache_new(&r->second, objects))
        return stop("the caches", "there is not memory enough");
    for (; *traces != NULL; traces++) {
        int failed = read_trace(r, *traces);
        if (failed != 0)
            return failed;
    }
    int failed = tell(r);
    return failed == 0 && (fflush(stdout) | ferror(stdout)) != 0
         ? stop("standard output", strerror(errno)) : failed;
}

/* Returns a number from `least` to `most`, or -1. */
static double number(const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);
    return end != text && *end == '\0' && value >= least && value <= most
         ? value : -1;
}

int main(int argc, char **argv)
{
    const char *kind = "aging";
    double objects = -1, ids = 0, rate = 0.01, seed = 0;
    for (int c; (c = getopt(argc, argv, "+:c:n:p:k:s:")) != -1; ) {
        switch (c) {
        case 'c': objects = number(optarg, 1, MOST); break;
        case 'n': ids = number(optarg, 1, 1e15); break;
        case 'p': rate = number(optarg, 1e-15, 0.99); break;
        case 'k': kind = optarg; break;
        case 's': seed = number(optarg, 0, 1e15); break;
        default:  objects = -1; optind = argc; break;
        }
    }
    if (objects < 0 || ids < 0 || rate < 0 || seed < 0 || optind >= argc)
        return stop("usage", "onehit -c OBJECTS [-n IDS] [-p RATE] [-k KIND] "
                    "[-s SEED] TRACE...");
    bly_spec spec = {
        .capacity = (uint64_t)(ids > 0 ? ids : 10 * objects),
        .rate = rate, .seed = (uint64_t)seed,
    };
    replay r = { 0 };
    int failed = replay_all(&r, (uint32_t)objects, kind, &spec, argv + optind);
    cache_free(&r.all);
    cache_free(&r.second);
    bly_free(r.seen);
    return failed;
}
