/* knownfiles.c - says which files of a folder are known to a filter of hashes.
 *
 *   knownfiles [-0] [-a sha1|md5|sha256] [-j THREADS] [-e EARLIER]
 *              [-k upper|lower|bytes] FILTER FOLDER...
 *
 * Each file is a row of CSV: its verdict, name, hash and size. The verdict is
 *
 *   known    the filter has its hash, perhaps
 *   unknown  the filter does not have it, certainly
 *   changed  EARLIER, the output of sha1sum, has this name with another hash
 *   error    it cannot be read, or changed meanwhile; standard error says why
 *   skipped  a link, a device, a pipe or a socket
 *
 * With -0, columns end with a TAB, rows end with a NUL, names come last, and
 * EARLIER is read as sha1sum -z writes it.
 *
 * The main thread walks and prints; the others hash. The files between the one
 * that is found and the one that is printed are a ring, so memory is bounded.
 */
#define _DEFAULT_SOURCE                 /* fts, getdelim                     */

#include <bloomery.h>

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "earlier.h"
#include "hash.h"
#include "keys.h"

enum { RING = 1 << 12, MOST_THREADS = 256 };

typedef enum { KNOWN, UNKNOWN, CHANGED, FAILED, SKIPPED, VERDICTS } verdict;

static const char *const verdict_names[VERDICTS] = {
    "known", "unknown", "changed", "error", "skipped"
};

typedef struct {
    char   *path;
    char    why[64];                    /* of an error                       */
    int     flags;                      /* for open                          */
    hashed  hashed;
    verdict verdict;
    bool    done;
} entry;

static bool null;                       /* rows end with a NUL               */

static entry ring[RING];
static uint64_t found, taken, printed;  /* files so far; the last of main    */
static bool walked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;

/* Writes a name for a person: control characters cannot forge a line. */
static int stop(const char *what, const char *why)
{
    fputs("knownfiles: ", stderr);
    for (; *what != '\0'; what++)
        putc((unsigned char)*what < ' ' || *what == 0x7f ? '?' : *what, stderr);
    fprintf(stderr, ": %s\n", why);
    return 2;
}

/* Says why a file cannot be opened. The reason may begin with its name. */
static int stop_open(const char *name)
{
    const char *why = bly_why();
    size_t n = strlen(name);
    return stop(name, strncmp(why, name, n) == 0 && why[n] == ':'
                      ? why + n + 1 + strspn(why + n + 1, " ") : why);
}

static void *must(void *memory)
{
    if (memory == NULL)
        exit(stop("memory", strerror(ENOMEM)));
    return memory;
}

static verdict fail(entry *e, const char *why)
{
    snprintf(e->why, sizeof e->why, "%s", why);
    return FAILED;
}

/* ---- Hashing ------------------------------------------------------------- */

/* Judges a file with what a thread has for all of its files. */
static void judge(entry *e, EVP_MD_CTX *md, uint8_t *buffer)
{
    const char *why = hash_file(e->path, e->flags, &e->hashed, md, buffer);
    e->verdict = why != NULL ? fail(e, why)
               : changed(e->hashed.hash, e->path) ? CHANGED
               : is_known(e->hashed.hash) ? KNOWN : UNKNOWN;
}

static void *hash_files(void *unused)
{
    EVP_MD_CTX *md = must(EVP_MD_CTX_new());
    uint8_t *buffer = must(malloc(BUFFER));
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (taken == found && !walked)
            pthread_cond_wait(&work, &lock);
        if (taken == found)
            break;
        entry *e = &ring[taken++ % RING];
        if (e->done)
            continue;
        pthread_mutex_unlock(&lock);
        judge(e, md, buffer);
        pthread_mutex_lock(&lock);
        e->done = true;
        pthread_cond_signal(&ready);
    }
    pthread_mutex_unlock(&lock);
    free(buffer);
    EVP_MD_CTX_free(md);
    return NULL;
}

/* ---- Printing ------------------------------------------------------------ */

static void print_name(const char *name)
{
    bool quoted = !null && strpbrk(name, ",\"\r\n") != NULL;
    if (quoted)
        putchar('"');
    for (; *name != '\0'; name++) {
        if (quoted && *name == '"')
            putchar('"');
        putchar(*name);
    }
    if (quoted)
        putchar('"');
}

/* Waits for the oldest file, prints it, and frees its place. The caller holds
 * the lock. */
static void print_oldest(uintmax_t counts[VERDICTS])
{
    entry *e = &ring[printed % RING];
    while (!e->done)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    char size[24] = "";
    if (e->hashed.hash[0] != '\0')
        snprintf(size, sizeof size, "%" PRIu64, e->hashed.bytes);
    if (null) {
        printf("%s\t%s\t%s\t%s", verdict_names[e->verdict], e->hashed.hash,
               size, e->path);
        putchar('\0');
    } else {
        printf("%s,", verdict_names[e->verdict]);
        print_name(e->path);
        printf(",%s,%s\n", e->hashed.hash, size);
    }
    if (e->verdict == FAILED)
        stop(e->path, e->why);
    counts[e->verdict]++;
    free(e->path);
    pthread_mutex_lock(&lock);
    printed++;
    taken = taken < printed ? printed : taken;
}

/* ---- Walking ------------------------------------------------------------- */

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Returns what the walk says of a file: UNKNOWN if it is to be hashed, and
 * VERDICTS if it is a folder. */
static verdict look(const FTSENT *at, entry *e)
{
    switch (at->fts_info) {
    case FTS_D:
    case FTS_DP:
        return VERDICTS;
    case FTS_F:
        return UNKNOWN;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return fail(e, strerror(at->fts_errno));
    case FTS_SLNONE:
        return at->fts_level > 0 ? SKIPPED : fail(e, strerror(ENOENT));
    default:
        return SKIPPED;
    }
}

static int walk(char **folders, uintmax_t counts[VERDICTS])
{
    FTS *tree = fts_open(folders, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR,
                         by_name);
    FTSENT *at;
    must(tree);
    while (errno = 0, (at = fts_read(tree)) != NULL) {
        entry e = { .flags = at->fts_level > 0 ? O_NOFOLLOW : 0 };
        e.verdict = look(at, &e);
        if (e.verdict == VERDICTS)
            continue;
        e.done = e.verdict != UNKNOWN;
        e.path = must(strdup(at->fts_path));
        pthread_mutex_lock(&lock);
        if (found - printed == RING)
            print_oldest(counts);
        ring[found++ % RING] = e;
        pthread_cond_signal(&work);
        pthread_mutex_unlock(&lock);
    }
    int failed = errno != 0 ? stop("the walk", strerror(errno)) : 0;
    fts_close(tree);
    pthread_mutex_lock(&lock);
    walked = true;
    pthread_cond_broadcast(&work);
    while (printed < found)
        print_oldest(counts);
    pthread_mutex_unlock(&lock);
    return failed;
}

/* Judges all files. Status 0: all are known, 1: not all, 2: an error. */
static int judge_all(char **folders, long threads)
{
    static pthread_t workers[MOST_THREADS];
    uintmax_t counts[VERDICTS] = { 0 };
    for (long i = 0; i < threads; i++)
        if (pthread_create(&workers[i], NULL, hash_files, NULL) != 0)
            return stop("threads", "they cannot be started: use -j 1");
    int failed = walk(folders, counts);
    for (long i = 0; i < threads; i++)
        pthread_join(workers[i], NULL);
    if ((fflush(stdout) | ferror(stdout)) != 0)
        failed = stop("standard output", strerror(errno));
    if (is_chance(counts[KNOWN], counts[KNOWN] + counts[UNKNOWN]))
        stop("note", "no more files are known than by chance: has the filter "
             "other hashes (-a), or in another form (-k)?");
    if (n_earlier > 0 && !met)
        stop("note", "the earlier list names none of these files: make it in "
             "the same folder, of the same names");
    fprintf(stderr, "knownfiles: %ju known, %ju unknown, %ju changed, "
            "%ju errors, %ju skipped\n", counts[KNOWN], counts[UNKNOWN],
            counts[CHANGED], counts[FAILED], counts[SKIPPED]);
    return failed != 0 || counts[FAILED] > 0 ? 2
         : counts[UNKNOWN] + counts[CHANGED] > 0;
}

static int usage(void)
{
    return stop("usage", "knownfiles [-0] [-a sha1|md5|sha256] [-j THREADS] "
                "[-e EARLIER] [-k upper|lower|bytes] FILTER FOLDER...");
}

int main(int argc, char **argv)
{
    const char *hash = "sha1", *list = NULL, *keys = NULL;
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    char *end = "";
    for (int c; (c = getopt(argc, argv, "0a:e:j:k:")) != -1; )
        switch (c) {
        case '0': null = true; break;
        case 'a': hash = optarg; break;
        case 'e': list = optarg; break;
        case 'j': threads = strtol(optarg, &end, 10); break;
        case 'k': keys = optarg; break;
        default: return usage();
        }
    if (argc - optind < 2 || threads < 1 || *end != '\0' ||
        (strcmp(hash, "sha1") != 0 && strcmp(hash, "md5") != 0 &&
         strcmp(hash, "sha256") != 0) ||
        (keys != NULL && strcmp(keys, "upper") != 0 &&
         strcmp(keys, "lower") != 0 && strcmp(keys, "bytes") != 0))
        return usage();
    algorithm = EVP_get_digestbyname(hash);
    if (algorithm == NULL)
        return stop(hash, "OpenSSL does not offer this hash");
    digits = 2 * (size_t)EVP_MD_size(algorithm);
    const char *name = argv[optind];
    if (bly_open(&filter, name, BLY_MAP | BLY_VERIFY, NULL) < 0)
        return stop_open(name);
    int failed = read_form(name, keys);
    if (failed == 0 && list != NULL)
        failed = read_earlier(list, digits, null);
    if (failed == 0 && !null)
        printf("verdict,name,%s,bytes\n", hash);
    if (failed == 0)
        failed = judge_all(argv + optind + 1,
                           threads < MOST_THREADS ? threads : MOST_THREADS);
    bly_free(filter);
    return failed;
}
