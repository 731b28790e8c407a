/* archive.c - a store that keeps every block once, like Venti.
 *
 *   archive new STORE BLOCKS RATE      an empty store
 *   archive save STORE <DATA >SCORES   store what is not there yet
 *   archive restore STORE <SCORES >DATA
 * DATA is cut where its content says so, about every 10 KiB; a block's name is
 * its SHA-1, the score. For a new block the filter answers "surely new", except
 * at its rate, so the index is read only for old blocks. STORE is a folder of
 *
 *   blocks   the blocks, one behind the other
 *   index    a hash table of what is where, by the score's first bytes
 *   bloom    the filter, as a Venti server has it
 *
 * made durable in this order, so that a crash loses bytes but no block.
 */
#include <bloomery.h>

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha1.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCORE = 20, LEAST = 2 << 10, MOST = 64 << 10, CUT = 13 };

typedef struct {                        /* length 0: a free slot             */
    uint8_t  score[SCORE];
    uint32_t length;
    uint64_t offset;
} entry;

static entry *table;
static uint64_t slots, used;            /* slots are a power of two          */
static int blocks_file, index_file;
static bly_filter *bloom;
static char bloom_path[4096];

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "archive: %s: %s\n", what, why);
    return 2;
}

static void score_of(uint8_t score[SCORE], const uint8_t *data, size_t n)
{
    struct sha1_ctx sha1;
    sha1_init(&sha1);
    sha1_update(&sha1, n, data);
    sha1_digest(&sha1, SCORE, score);
}

/* ---- Where to cut -------------------------------------------------------- */

/* Returns the first place from LEAST on where the 64 bytes before it say so: a
 * chance of one in 2^CUT, wherever they are in the data. */
static size_t cut(const uint8_t *data, size_t n)
{
    static uint64_t of_byte[256];
    uint64_t h = 0;
    for (uint64_t i = 0; of_byte[255] == 0 && i < 256; i++)
        of_byte[i] = bly_mix64(i + 1);
    for (size_t i = LEAST - 64; i < n; i++) {
        h = (h << 1) + of_byte[data[i]];
        if (i + 1 >= LEAST && h >> (64 - CUT) == 0)
            return i + 1;
    }
    return n;
}

/* ---- The store ----------------------------------------------------------- */

/* Returns the slot of the score, or the free one where it would go. */
static entry *find(const uint8_t score[SCORE])
{
    uint64_t at;
    memcpy(&at, score, sizeof at);
    for (;; at++) {
        entry *e = &table[at & (slots - 1)];
        if (e->length == 0 || memcmp(e->score, score, SCORE) == 0)
            return e;
    }
}

static int open_in(const char *store, const char *name, int flags)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", store, name);
    return open(path, flags | O_CLOEXEC, 0666);
}

static int new_store(const char *store, const char *blocks, const char *rate)
{
    char *end = NULL, *rate_end = NULL;
    bly_spec want = { .capacity = strtoull(blocks, &end, 10),
                      .rate = strtod(rate, &rate_end) };
    if (*end != '\0' || *rate_end != '\0' || want.capacity == 0 ||
        want.capacity > UINT64_C(1) << 32 || !(want.rate > 0))
        return stop(blocks, "1 .. 2^32 blocks, and a rate above 0");
    if (bly_new(&bloom, "venti", &want) < 0)
        return stop("the filter", bly_why());
    for (slots = 4; slots < want.capacity + want.capacity / 3 + 1; )
        slots *= 2;
    if (mkdir(store, 0777) < 0)
        return stop(store, strerror(errno));
    blocks_file = open_in(store, "blocks", O_WRONLY | O_CREAT | O_EXCL);
    index_file = open_in(store, "index", O_RDWR | O_CREAT | O_EXCL);
    if (blocks_file < 0 || index_file < 0 ||
        ftruncate(index_file, (off_t)(slots * sizeof(entry))) < 0)
        return stop(store, strerror(errno));
    return bly_save(bloom, bloom_path) < 0 ? stop("bloom", bly_why()) : 0;
}

/* The index is changed in memory only: see keep_index. */
static int open_store(const char *store)
{
    struct stat about;
    blocks_file = open_in(store, "blocks", O_RDWR | O_APPEND);
    index_file = open_in(store, "index", O_RDWR);
    if (blocks_file < 0 || index_file < 0 || fstat(index_file, &about) < 0)
        return stop(store, strerror(errno));
    if (flock(index_file, LOCK_EX | LOCK_NB) < 0)
        return stop(store, "in use");
    slots = (uint64_t)about.st_size / sizeof(entry);
    table = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE, index_file, 0);
    if (table == MAP_FAILED)
        return stop(store, strerror(errno));
    for (uint64_t i = 0; i < slots; i++)
        used += table[i].length != 0;
    if (slots < 4 || (slots & (slots - 1)) != 0 || used == slots)
        return stop(store, "the index is damaged");
    return bly_open(&bloom, bloom_path, 0, NULL) < 0
         ? stop(bloom_path, bly_why()) : 0;
}

/* Writes the entries of blocks from `from` on, once these are on the disk. */
static int keep_index(uint64_t from)
{
    if (fsync(blocks_file) < 0)
        return stop("blocks", strerror(errno));
    for (uint64_t i = 0; i < slots; i++) {
        off_t at = (off_t)(i * sizeof(entry));
        if (table[i].length != 0 && table[i].offset >= from &&
            pwrite(index_file, &table[i], sizeof(entry), at) != sizeof(entry))
            return stop("index", strerror(errno));
    }
    return fsync(index_file) < 0 ? stop("index", strerror(errno))
         : bly_save(bloom, bloom_path) < 0 ? stop("bloom", bly_why()) : 0;
}

/* ---- Save ---------------------------------------------------------------- */

static struct { uintmax_t blocks, new, in_vain, bytes; } told;

/* Appends the block unless the index, if it must be read, has it. */
static int save_block(const uint8_t *data, size_t n, uint64_t *end)
{
    uint8_t score[SCORE];
    score_of(score, data, n);
    bool perhaps = bly_contains(bloom, score, SCORE);
    entry *e = perhaps ? find(score) : NULL;
    told.blocks++;
    if (e == NULL || e->length == 0) {
        if (used >= slots / 4 * 3)
            return stop("the store", "it is full: make a larger one");
        if (write(blocks_file, data, n) != (ssize_t)n)
            return stop("blocks", strerror(errno));
        if (bly_add(bloom, score, SCORE) < 0)
            return stop("the filter", bly_why());
        e = find(score);
        used += e->length == 0;
        memcpy(e->score, score, SCORE);
        e->length = (uint32_t)n;
        e->offset = *end;
        told.in_vain += perhaps;
        told.new++;
        told.bytes += n;
        *end += n;
    }
    for (int i = 0; i < SCORE; i++)
        printf("%02x", score[i]);
    printf(" %zu\n", n);
    return 0;
}

static int save(void)
{
    static uint8_t data[MOST];
    struct stat about;
    if (fstat(blocks_file, &about) < 0)
        return stop("blocks", strerror(errno));
    uint64_t from = (uint64_t)about.st_size, end = from;
    size_t n = 0;
    int failed = 0;
    while (failed == 0 && (n += fread(data + n, 1, MOST - n, stdin)) > 0) {
        size_t length = cut(data, n);
        failed = save_block(data, length, &end);
        n -= length;
        memmove(data, data + length, n);
    }
    if (failed == 0 && ferror(stdin))
        failed = stop("standard input", strerror(errno));
    if (keep_index(from) != 0)
        return 2;
    if (failed == 0)
        fprintf(stderr, "archive: %ju blocks, %ju new, %ju looked up in vain, "
                "%ju bytes stored\n", told.blocks, told.new, told.in_vain,
                told.bytes);
    return failed;
}

/* ---- Restore ------------------------------------------------------------- */

static int restore(void)
{
    static uint8_t data[MOST];
    char line[128];
    uint8_t score[SCORE], there[SCORE];
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, " \n")] = '\0';
        if (strspn(line, "0123456789abcdef") != 2 * SCORE)
            return stop("standard input", "it has a line without a score");
        for (int i = 0; i < SCORE; i++)
            sscanf(line + 2 * i, "%2hhx", &score[i]);
        const entry *e = find(score);
        if (e->length == 0)
            return stop(line, "no such block");
        if (e->length > MOST || pread(blocks_file, data, e->length,
                                      (off_t)e->offset) != e->length)
            return stop(line, "the block is damaged");
        score_of(there, data, e->length);
        if (memcmp(score, there, SCORE) != 0)
            return stop(line, "the block is damaged");
        fwrite(data, 1, e->length, stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    bool saves = argc == 3 && strcmp(argv[1], "save") == 0;
    snprintf(bloom_path, sizeof bloom_path, "%s/bloom",
             argc > 2 ? argv[2] : "");
    if (argc == 5 && strcmp(argv[1], "new") == 0)
        return new_store(argv[2], argv[3], argv[4]);
    if (!saves && !(argc == 3 && strcmp(argv[1], "restore") == 0))
        return stop("usage", "archive new STORE BLOCKS RATE | save STORE | "
                             "restore STORE");
    int failed = open_store(argv[2]);
    if (failed == 0)
        failed = saves ? save() : restore();
    bly_free(bloom);
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed;
}
