/* leveldb.c - a LevelDB database with filters of any kind.
 *
 *   leveldb put [-k KIND] [-p RATE] [-b BLOCK] DB <LINES leveldb get [-k KIND]
 *   [-p RATE] [-b BLOCK] DB KEYS >ANSWERS
 *
 * Lines are KEY<TAB>VALUE, and a KEY alone deletes; KEYS holds one per line. A
 * policy defines how LevelDB makes and queries filters: one for the keys of the
 * blocks that begin in the same 2 KiB of a table, which with blocks of BLOCK
 * bytes (4096) is one or two blocks. Here a filter is an image, which knows its
 * own kind, so one policy reads them all, and a database may mix kinds. LevelDB
 * also makes tables during queries: give both commands the same options.
 *
 * KIND leveldb reimplements LevelDB's own policy: the same bytes without a
 * header. KIND own is the real one, with 10 bits per key, without statistics;
 * these two read each other's tables. KIND none uses no filter.
 */
#define _POSIX_C_SOURCE 200809L
#include <bloomery.h>

#include <errno.h>
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *kind = "standard";
static double rate = 0.01;
static size_t block = 4096;
static bool theirs;                     /* LevelDB's bytes                   */
static unsigned long long filters, filter_keys, filter_bytes;
static unsigned long long asked, yes;
static double expected, last;           /* rates of queried ones: sum, last  */

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "leveldb: %s: %s\n", what, why);
    return 2;
}

/* ---- The policy ---------------------------------------------------------- */

/* Tables store this name; filters under another name are ignored. */
static const char *policy_name(void *state)
{
    (void)state;
    return theirs ? "leveldb.BuiltinBloomFilter2" : "bloomery.Image1";
}

static void policy_end(void *state)
{
    (void)state;
}

/* Makes a filter of these keys, from malloc. If none can be made it has no
 * bytes, which means "perhaps". */
static char *policy_create(void *state, const char *const *keys,
                           const size_t *lengths, int n, size_t *bytes)
{
    bly_filter *filter = NULL;
    bly_spec spec = { .rate = rate, .threads = 1 };
    bly_key *each = malloc(((size_t)n + 1) * sizeof *each);
    char *out = NULL;
    (void)state;
    *bytes = 0;
    for (int i = 0; each != NULL && i < n; i++)
        each[i] = (bly_key){ keys[i], lengths[i] };
    bly_keys all = { .n = (size_t)n, .keys = each };
    if (each != NULL && bly_build(&filter, kind, &spec, &all) >= 0) {
        size_t all_bytes, skip = theirs ? BLY_HEADER_BYTES : 0;
        const char *image = bly_image(filter, &all_bytes);
        out = malloc(all_bytes);
        if (out != NULL)
            memcpy(out, image + skip, *bytes = all_bytes - skip);
        filters++;
        filter_keys += (unsigned)n;
        filter_bytes += *bytes;
    }
    bly_free(filter);
    free(each);
    return out != NULL ? out : malloc(1);
}

/* Returns the planned rate, which our images store, or, for LevelDB's bytes,
 * that of the bits. */
static double rate_of(const bly_filter *filter, const void *bytes, size_t n)
{
    bly_header header;
    bly_info_t stat;
    if (theirs)
        return bly_info(&stat, filter) < 0 ? 1 : stat.rate;
    return bly_peek(&header, bytes, n) < 0 ? 1 : header.rate;
}

static uint8_t policy_ask(void *state, const char *key, size_t length,
                          const char *bytes, size_t n)
{
    static const bly_options bare = { .format = "leveldb" };
    bly_filter *filter = NULL;
    bly_status status = theirs ? bly_unpack(&filter, bytes, n, &bare)
                               : bly_wrap(&filter, bytes, n, NULL);
    bool perhaps = status < 0 || bly_contains(filter, key, length);
    (void)state;
    asked++;
    yes += perhaps;
    expected += last = status < 0 ? 1 : rate_of(filter, bytes, n);
    bly_free(filter);
    return perhaps;
}

static leveldb_filterpolicy_t *policy(void)
{
    if (strcmp(kind, "none") == 0)
        return NULL;
    if (strcmp(kind, "own") == 0)
        return leveldb_filterpolicy_create_bloom(10);
    theirs = strncmp(kind, "leveldb", 7) == 0;
    return leveldb_filterpolicy_create(NULL, policy_end, policy_create,
                                       policy_ask, policy_name);
}

/* ---- The database -------------------------------------------------------- */

static int put(leveldb_t *db)
{
    leveldb_writeoptions_t *how = leveldb_writeoptions_create();
    char *line = NULL, *error = NULL;
    size_t room = 0;
    for (ssize_t got; error == NULL && (got = getline(&line, &room, stdin)) > 0;
         ) {
        size_t n = (size_t)(got - (line[got - 1] == '\n'));
        const char *tab = memchr(line, '\t', n);
        size_t key = tab != NULL ? (size_t)(tab - line) : n;
        if (tab != NULL)
            leveldb_put(db, how, line, key, tab + 1, n - key - 1, &error);
        else
            leveldb_delete(db, how, line, key, &error);
    }
    leveldb_writeoptions_destroy(how);
    free(line);
    if (error != NULL)
        return stop("the database", error);
    return ferror(stdin) ? stop("standard input", "cannot be read") : 0;
}

/* Prints the line of a key; one positive answer among the queries for it was
 * right. */
static bool get_one(leveldb_t *db, const leveldb_readoptions_t *how,
                    const char *key, size_t n, char **error)
{
    size_t length;
    unsigned long long before = asked;
    char *value = leveldb_get(db, how, key, n, &length, error);
    if (value == NULL)
        return false;
    if (asked > before) {               /* else it was in memory             */
        expected -= last;
        asked--;
        yes--;
    }
    fwrite(key, 1, n, stdout);
    putchar('\t');
    fwrite(value, 1, length, stdout);
    putchar('\n');
    leveldb_free(value);
    return true;
}

static int get(leveldb_t *db, FILE *keys, const char *path)
{
    leveldb_readoptions_t *how = leveldb_readoptions_create();
    char *line = NULL, *error = NULL;
    size_t room = 0;
    unsigned long long all = 0, found = 0;
    for (ssize_t got; error == NULL && (got = getline(&line, &room, keys)) > 0;
         all++)
        found += get_one(db, how, line,
                         (size_t)(got - (line[got - 1] == '\n')), &error);
    leveldb_readoptions_destroy(how);
    free(line);
    if (error != NULL)
        return stop("the database", error);
    if (ferror(keys))
        return stop(path, strerror(errno));
    fprintf(stderr, "leveldb: %llu keys, %llu found; of %llu filters asked "
            "that lack the key %llu said yes, %.1f expected\n", all, found,
            asked, yes, expected);
    return 0;
}

/* ---- The program --------------------------------------------------------- */

/* Reads a number or a percentage: 0.01 or 1%. */
static double read_rate(const char *text, char **end)
{
    double number = strtod(text, end);
    if (*end == text || **end != '%')
        return number;
    ++*end;
    return number / 100;
}

static int read_options(int n, char **arguments)
{
    int at = 0;
    for (; at + 1 < n && arguments[at][0] == '-'; at += 2) {
        char *value = arguments[at + 1], *end = value;
        if (strcmp(arguments[at], "-k") == 0)
            kind = value, end = value + strlen(value);
        else if (strcmp(arguments[at], "-p") == 0)
            rate = read_rate(value, &end);
        else if (strcmp(arguments[at], "-b") == 0)
            block = (size_t)strtoul(value, &end, 10);
        if (end == value || *end != '\0')
            exit(stop("usage", "-k KIND, -p RATE or -b BLOCK"));
    }
    return at;
}

/* Returns whether filters of this kind and rate can be built. */
static int try_kind(void)
{
    bly_filter *filter = NULL;
    bly_key key = { "key", 3 };
    if (strcmp(kind, "own") == 0 || strcmp(kind, "none") == 0)
        return 0;
    if (bly_build(&filter, kind, &(bly_spec){ .rate = rate },
                  &(bly_keys){ .n = 1, .keys = &key }) < 0)
        return stop("the filters", bly_why());
    bool able = (bly_can(filter) & BLY_CAN_CONTAINS) != 0;
    bly_free(filter);
    return able ? 0 : stop(kind, "it cannot be asked");
}

int main(int argc, char **argv)
{
    char *error = NULL;
    FILE *keys = stdin;
    bool puts = argc > 1 && strcmp(argv[1], "put") == 0;
    int at = argc > 1 ? 2 + read_options(argc - 2, argv + 2) : 0;
    if (argc < 3 || (!puts && strcmp(argv[1], "get") != 0)
        || argc != at + (puts ? 1 : 2))
        return stop("usage", "leveldb put [-k KIND] [-p RATE] [-b BLOCK] DB, "
                             "or leveldb get with the same DB KEYS");
    if (try_kind() != 0)
        return 2;
    if (!puts && (keys = fopen(argv[at + 1], "r")) == NULL)
        return stop(argv[at + 1], strerror(errno));
    leveldb_options_t *options = leveldb_options_create();
    leveldb_filterpolicy_t *filter_policy = policy();
    leveldb_options_set_filter_policy(options, filter_policy);
    leveldb_options_set_create_if_missing(options, puts);
    leveldb_options_set_block_size(options, block);
    leveldb_t *db = leveldb_open(options, argv[at], &error);
    int failed = error != NULL ? stop("the database", error)
               : puts ? put(db) : get(db, keys, argv[at + 1]);
    if (db != NULL)
        leveldb_close(db);
    leveldb_options_destroy(options);
    leveldb_filterpolicy_destroy(filter_policy);
    leveldb_free(error);
    if (filters > 0 && failed == 0)
        fprintf(stderr, "leveldb: filters of %.1f keys and %.1f bytes, %.2f "
                "bits a key\n", (double)filter_keys / (double)filters,
                (double)filter_bytes / (double)filters,
                8 * (double)filter_bytes / (double)filter_keys);
    if (keys != stdin)
        fclose(keys);
    if (failed == 0 && (fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed;
}
