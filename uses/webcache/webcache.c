/* webcache.c - what a cache of some size would do for the requests of a log,
 * and how many looks at its disk a filter saves.
 *
 *   webcache [-k KIND] [-p RATE] SIZE[,SIZE...] [LOG...]
 *
 * LOG is an access log of Apache, nginx or Squid; without one, standard input.
 * Its GETs that were answered by 200 or 304 are replayed through a cache of
 * SIZE bytes (such as 500M or 20G), which evicts the least recently requested
 * object. An object whose size has changed is fetched anew. A filter has the
 * cached URLs, so it must be of a kind that removes; it is planned for the
 * largest number of objects that the cache ever has.
 *
 * A line of the output is a cache: its size; the largest number of objects; the
 * shares of requests and of bytes that it answers; looks at the disk without
 * and with the filter; how many of these are in vain, and as predicted; and the
 * bytes of the filter.
 */
#include "cache.h"
#include "log.h"

#include <bloomery.h>
#include <bloomery/keyed.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { OFTEN = 64 };                    /* requests per reading of the rate  */

static request *requests;
static size_t all, room;
static uint64_t others, unread;         /* lines: other requests, no request */
static bly_keyed keyed;                 /* URLs are untrusted                */
static const char *kind = "counting";
static double rate = 0.01;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "webcache: %s: %s\n", what, why);
    return 2;
}

/* ---- Logs ---------------------------------------------------------------- */

static bool keep(request r)
{
    if (all == room) {
        size_t more = room == 0 ? 1024 : 2 * room;
        request *larger = realloc(requests, more * sizeof *larger);
        if (larger == NULL)
            return false;
        requests = larger;
        room = more;
    }
    requests[all++] = r;
    return true;
}

static bool read_line(const char *line)
{
    log_request r;
    if (!log_read(&r, line)) {
        unread++;
        return true;
    }
    if (r.method_n != 3 || memcmp(r.method, "GET", 3) != 0 ||
        (r.status != 200 && r.status != 304)) {
        others++;
        return true;
    }
    return keep((request){ bly_keyed_hash(&keyed, r.url, r.url_n),
                           r.status == 304 ? UNKNOWN : r.bytes });
}

static int read_log(FILE *file, const char *name)
{
    char *line = NULL;
    size_t bytes = 0;
    int failed = 0;
    while (failed == 0 && getline(&line, &bytes, file) >= 0)
        if (!read_line(line))
            failed = stop(name, strerror(ENOMEM));
    if (failed == 0 && ferror(file))
        failed = stop(name, strerror(errno));
    free(line);
    return failed;
}

static int read_logs(int n, char **names)
{
    int failed = n == 0 ? read_log(stdin, "standard input") : 0;
    for (int i = 0; i < n && failed == 0; i++) {
        FILE *file = fopen(names[i], "r");
        if (file == NULL)
            return stop(names[i], strerror(errno));
        failed = read_log(file, names[i]);
        fclose(file);
    }
    if (failed == 0 && unread > 0)
        fprintf(stderr, "webcache: %" PRIu64 " lines are in no known format\n",
                unread);
    if (failed == 0 && all == 0)
        failed = stop("the log", "no GET with status 200 or 304 in it");
    return failed;
}

/* ---- The replay ---------------------------------------------------------- */

static int replay(cache *c)
{
    double expected = 1;
    for (size_t i = 0; i < all; i++) {
        bly_info_t info;
        if (c->filter != NULL && i % OFTEN == 0 &&
            bly_info(&info, c->filter) == BLY_OK)
            expected = info.rate;
        if (cache_request(c, &requests[i], expected) < 0)
            return stop(kind, bly_why());
    }
    return 0;
}

/* ---- The program --------------------------------------------------------- */

/* Returns a number with K, M, G or T behind it, or 0. */
static uint64_t size_of(const char *text, size_t n)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    uint64_t size = strtoull(text, &end, 10);
    const char *unit = end < text + n ? strchr(units, *end) : NULL;
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    end += unit != NULL;
    return *text < '0' || *text > '9' || end != text + n || errno != 0 ||
           size > UINT64_MAX >> (shift + 1) ? 0 : size << shift;
}

static int measure(uint64_t size)
{
    cache plain, c = { .filter = NULL };
    bly_filter *filter = NULL;
    if (!cache_open(&plain, all, size, NULL))
        return stop("the cache", strerror(ENOMEM));
    int failed = replay(&plain);
    bly_spec spec = { .capacity = plain.peak > 0 ? plain.peak : 1,
                      .rate = rate };
    if (failed == 0 && bly_new(&filter, kind, &spec) < 0)
        failed = stop(kind, bly_why());
    else if (failed == 0 && (bly_can(filter) & BLY_CAN_REMOVE) == 0)
        failed = stop(kind, "of this kind no key can be removed: take counting "
                            "or cuckoo");
    if (failed == 0 && !cache_open(&c, all, size, filter))
        failed = stop("the cache", strerror(ENOMEM));
    failed = failed == 0 ? replay(&c) : failed;
    double bytes = 0;
    for (size_t i = 0; i < all; i++)
        bytes += requests[i].bytes == UNKNOWN ? 0 : (double)requests[i].bytes;
    size_t image = 0;
    if (failed == 0 && bly_image(filter, &image) != NULL)
        printf("%" PRIu64 "\t%" PRIu32 "\t%.4f\t%.4f\t%" PRIu64 "\t%" PRIu64
               "\t%" PRIu64 "\t%.1f\t%zu\n", size, c.peak,
               (double)c.hits / (double)all,
               bytes > 0 ? (double)c.bytes_hit / bytes : 0, plain.looks,
               c.looks, c.vain, c.expected, image);
    cache_close(&plain);
    cache_close(&c);
    bly_free(filter);
    return failed;
}

static int measure_all(const char *sizes)
{
    int failed = 0;
    puts("size\tobjects\thits\tbytes\tlooks\tfiltered\tvain\tpredicted\t"
         "filter");
    for (const char *at = sizes; failed == 0 && at != NULL; ) {
        size_t n = strcspn(at, ",");
        failed = measure(size_of(at, n));
        at = at[n] == ',' ? at + n + 1 : NULL;
    }
    return failed;
}

static bool are_sizes(const char *at)
{
    for (size_t n; ; at += n + 1) {
        n = strcspn(at, ",");
        if (size_of(at, n) == 0)
            return false;
        if (at[n] == '\0')
            return true;
    }
}

int main(int argc, char **argv)
{
    bool wrong = false;
    char *end;
    for (int o; (o = getopt(argc, argv, "+:k:p:")) != -1; ) {
        if (o == 'k')
            kind = optarg;
        else if (o == 'p')
            rate = strtod(optarg, &end), wrong |= end == optarg || *end != '\0';
        else
            wrong = true;
    }
    if (wrong || optind >= argc || !are_sizes(argv[optind]))
        return stop("usage", "webcache [-k KIND] [-p RATE] SIZE[,SIZE...] "
                             "[LOG...], SIZE such as 500M or 20G");
    if (bly_keyed_draw(&keyed) < 0)
        return stop("a secret", bly_why());
    int failed = read_logs(argc - optind - 1, argv + optind + 1);
    failed = failed == 0 ? measure_all(argv[optind]) : failed;
    free(requests);
    if (failed == 0 && (fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    if (failed == 0)
        fprintf(stderr, "%zu requests; %" PRIu64 " lines with other methods or "
                "statuses\n", all, others);
    return failed;
}
