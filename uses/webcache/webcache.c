/* webcache.c - a disk cache that is only read if it may have the page.
 *
 *   webcache [-av] [-n SLOTS] [-k KIND] [-p RATE] ORIGIN CACHE <URLS >PAGES
 *
 * URLS are paths of files under ORIGIN, one per line: the folder stands for
 * distant servers. All pages are written to standard output, in the order of
 * requests, from the folder CACHE if it has them. They are then kept there, in
 * the slot of their hash: a file whose first line names the page. The slot's
 * old page is dropped.
 *
 * Memory holds only a filter of the pages in CACHE. A certainly absent page is
 * fetched at once. The filter must be of a kind that removes, as dropped pages
 * are removed from it; it is rebuilt from CACHE when the program starts. With
 * -a the cache is always read; -v prints statistics.
 */
#include <bloomery.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096, OFTEN = 10 };

static const char *origin, *folder;
static bool always, verbose;
static uint64_t slots = 1000;
static bly_filter *filter;
static struct {
    unsigned long requests, hits, looked, missing, dropped;
    double        expected, rate;       /* reads in vain, as predicted       */
} counts;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "webcache: %s: %s\n", what, why);
    return 2;
}

/* ---- Slots -------------------------------------------------------------- */

static uint64_t slot_of(const char *page)
{
    return bly_hash(filter, page, strlen(page)) % slots;
}

static FILE *open_in(const char *where, const char *name, const char *how)
{
    char path[2 * PATH];
    int n = snprintf(path, sizeof path, "%s/%s", where, name);
    if (n >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    return fopen(path, how);
}

static FILE *open_slot(uint64_t slot, const char *how)
{
    char name[32];
    snprintf(name, sizeof name, "%llu.page", (unsigned long long)slot);
    return open_in(folder, name, how);
}

/* Reads the name of a slot's page, and moves to its first byte. */
static bool read_name(FILE *file, char *page)
{
    if (fgets(page, PATH, file) == NULL)
        return false;
    char *end = strchr(page, '\n');
    if (end != NULL)
        *end = '\0';
    return end != NULL;
}

static bool copy(FILE *from, FILE *to, FILE *too)
{
    char bytes[1 << 14];
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, from)) > 0; )
        if (fwrite(bytes, 1, n, to) < n ||
            (too != NULL && fwrite(bytes, 1, n, too) < n))
            return false;
    return !ferror(from);
}

/* ---- Requests ----------------------------------------------------------- */

/* Writes the page from the cache. */
static bool find(const char *page)
{
    char there[PATH];
    FILE *file = open_slot(slot_of(page), "r");
    counts.looked++;
    if (file == NULL)
        return false;
    bool found = read_name(file, there) && strcmp(there, page) == 0 &&
                 copy(file, stdout, NULL);
    fclose(file);
    return found;
}

/* Removes the slot's page from the filter. */
static bly_status drop(uint64_t slot)
{
    char there[PATH];
    FILE *file = open_slot(slot, "r");
    if (file == NULL)
        return BLY_OK;
    bly_status status = BLY_OK;
    if (read_name(file, there)) {
        status = bly_remove(filter, there, strlen(there));
        counts.dropped++;
    }
    fclose(file);
    return status;
}

/* Moves the file behind the last slot to its own, which is empty or
 * complete. */
static int keep(const char *page)
{
    char from[2 * PATH], to[2 * PATH];
    unsigned long long slot = slot_of(page), last = slots;
    snprintf(from, sizeof from, "%s/%llu.page", folder, last);
    snprintf(to, sizeof to, "%s/%llu.page", folder, slot);
    if (drop(slot) < 0 || bly_add(filter, page, strlen(page)) < 0)
        return stop("the filter", bly_why());
    unlink(to);         /* some systems flush a replaced file                */
    return rename(from, to) < 0 ? stop(to, strerror(errno)) : 0;
}

/* Returns whether this path stays below the origin. */
static bool is_below(const char *page)
{
    for (const char *at = page; at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return false;
    }
    return *page != '\0';
}

/* Opens a page; a folder is not a page. */
static FILE *open_page(const char *page)
{
    struct stat about;
    FILE *from = is_below(page) ? open_in(origin, page, "r") : NULL;
    if (from == NULL || (fstat(fileno(from), &about) == 0 &&
                         S_ISREG(about.st_mode)))
        return from;
    fclose(from);
    return NULL;
}

static int fetch(const char *page)
{
    FILE *from = open_page(page);
    if (from == NULL) {
        if (counts.missing++ == 0)
            stop(page, "the origin has no such page");
        return 0;
    }
    FILE *new = open_slot(slots, "wx");
    if (new == NULL) {
        fclose(from);
        return stop(folder, strerror(errno));
    }
    bool whole = fprintf(new, "%s\n", page) > 0 && copy(from, stdout, new);
    fclose(from);
    if (fclose(new) != 0 || !whole)
        return stop(page, "cannot be read, or written");
    return keep(page);
}

static int answer(const char *page)
{
    bly_info_t stat;
    if (counts.requests++ % OFTEN == 0 && verbose &&
        bly_info(&stat, filter) == BLY_OK)
        counts.rate = stat.rate;
    bool perhaps = bly_contains(filter, page, strlen(page));
    if ((always || perhaps) && find(page)) {
        counts.hits++;
        return perhaps ? 0 : stop(page, "is in the cache, not in the filter");
    }
    counts.expected += always ? 1 : counts.rate;
    return fetch(page);
}

static int answer_all(void)
{
    char page[PATH];
    int failed = 0;
    while (failed == 0 && fgets(page, sizeof page, stdin) != NULL) {
        size_t n = strlen(page);
        if (n > 0 && page[n - 1] == '\n')
            page[n - 1] = '\0';
        else if (!feof(stdin))
            return stop("a request", "it is longer than a path can be");
        failed = answer(page);
    }
    return failed == 0 && ferror(stdin)
         ? stop("standard input", "cannot be read") : failed;
}

/* ---- Start and end ------------------------------------------------------ */

/* Keeps a slot whose page belongs there, or removes it. */
static int load_slot(const char *name)
{
    char there[PATH], path[2 * PATH], *end;
    uint64_t slot = strtoull(name, &end, 10);
    if (*name < '0' || *name > '9' || strcmp(end, ".page") != 0)
        return 0;                       /* not a slot                        */
    FILE *file = open_in(folder, name, "r");
    if (file == NULL)
        return stop(name, strerror(errno));
    bool right = read_name(file, there) && slot_of(there) == slot;
    fclose(file);
    if (right)
        return bly_add(filter, there, strlen(there)) < 0
             ? stop("the filter", bly_why()) : 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return unlink(path) < 0 ? stop(path, strerror(errno)) : 0;
}

static int load(void)
{
    int failed = 0;
    DIR *all = opendir(folder);
    if (all == NULL)
        return stop(folder, strerror(errno));
    for (struct dirent *one; failed == 0 && (one = readdir(all)) != NULL; )
        failed = load_slot(one->d_name);
    closedir(all);
    return failed;
}

static int make_filter(const char *kind, double rate)
{
    bly_spec spec = { .capacity = slots, .rate = rate };
    if (bly_new(&filter, kind, &spec) < 0)
        return stop("the filter", bly_why());
    if ((bly_can(filter) & BLY_CAN_REMOVE) == 0)
        return stop(kind, "of this kind no key can be removed: take counting "
                          "or cuckoo");
    return load();
}

static int tell(void)
{
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    if (verbose)
        fprintf(stderr, "requests %lu\nhits %lu\nlooked %lu\nin-vain %lu\n"
                "expected %.3f\ndropped %lu\nmissing %lu\n",
                counts.requests, counts.hits, counts.looked,
                counts.looked - counts.hits, counts.expected, counts.dropped,
                counts.missing);
    return counts.missing > 0 ? 2 : 0;
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
    const char *kind = "counting";
    double rate = 0.01, n = (double)slots;
    for (int c; (c = getopt(argc, argv, "+:avn:k:p:")) != -1; ) {
        switch (c) {
        case 'a': always = true; break;
        case 'v': verbose = true; break;
        case 'n': n = number(optarg, 1, 1e9); break;
        case 'k': kind = optarg; break;
        case 'p': rate = number(optarg, 1e-9, 0.99); break;
        default:  n = -1; break;
        }
    }
    if (argc - optind != 2 || n < 0 || rate < 0 ||
        strlen(argv[optind + 1]) >= PATH)
        return stop("usage", "webcache [-av] [-n SLOTS] [-k KIND] [-p RATE] "
                             "ORIGIN CACHE <URLS >PAGES");
    origin = argv[optind];
    folder = argv[optind + 1];
    slots = (uint64_t)n;
    if (make_filter(kind, rate) != 0 || answer_all() != 0)
        return 2;
    bly_free(filter);
    return tell();
}
