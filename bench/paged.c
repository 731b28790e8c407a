/* paged.c - adds to a filter four times as large as memory: mapped, and page by
 * page.
 *
 *      paged FOLDER [MIB [real]]
 *
 * Makes a `buffered` filter of MIB (default 512) in a file in FOLDER, which is
 * deleted at the end, and adds keys to it in both ways by turns, as if the
 * memory were a fourth of MIB:
 *
 *      mapped  BLY_MAP | BLY_WRITE; all that memory holds pages of the file
 *      paged   BLY_PAGED | BLY_WRITE; half of it holds adds that wait
 *
 * The limit is simulated, because a program cannot limit the system's cache of
 * a single file. Instead of page by page, as the kernel would, the whole file
 * is written to the disk and dropped (fdatasync, POSIX_FADV_DONTNEED) once as
 * much of it as allowed is in memory. For `mapped` that is when half of the
 * file has been touched, so that a fourth is cached on average, as in a cache
 * of that size with random pages. For `paged` it is after each pass, which
 * leaves nothing useful for the next. Both wait for their writes.
 *
 * Then come lookups, in batches of 512 whose pages are not in memory.
 *
 * With `real` nothing is simulated: run it in a container or a control group
 * with limited memory.
 */
#include "bench.h"

#include <bloomery.h>
#include <bloomery/paged.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGED_ROUNDS = 3, PAGED_SHARE = 4,
    PAGED_WAITS = 24,                   /* bytes of a pending add            */
    PAGED_BATCH = 4096,                 /* adds                              */
    PAGED_ASK = 512, PAGED_BATCHES = 20 /* lookups                           */
};

static const double PAGED_SECONDS = 8;  /* of mapped adds in a round         */

typedef struct {
    char     path[4096];
    uint64_t bytes;                     /* of the file                       */
    uint64_t pages;
    uint64_t next, asked;               /* keys so far                       */
    int      file;
    bool     real;
} paged_bench;

static void paged_need(bly_status status, const char *doing)
{
    if (status < 0)
        bench_stop(doing, bly_why());
}

static void paged_forget(const paged_bench *b, const void *image)
{
    if (b->real)
        return;
    if (image != NULL && madvise((void *)(uintptr_t)image, b->bytes,
                                 MADV_DONTNEED) != 0)
        bench_stop("forgetting", "madvise refused");
    if (fdatasync(b->file) != 0
        || posix_fadvise(b->file, 0, 0, POSIX_FADV_DONTNEED) != 0)
        bench_stop("forgetting", "the file cannot be flushed");
}

static void paged_add(paged_bench *b, bly_filter *filter, uint64_t n)
{
    uint64_t hashes[PAGED_BATCH];
    for (uint64_t i = 0, some; i < n; i += some) {
        some = n - i < PAGED_BATCH ? n - i : PAGED_BATCH;
        for (uint64_t j = 0; j < some; j++)
            hashes[j] = bench_hash(b->next++);
        paged_need(bly_add_hashes(filter, hashes, (size_t)some, NULL, NULL),
                   "adding");
    }
}

/* Returns adds per second by passes over the file. */
static double paged_by_page(paged_bench *b, unsigned passes)
{
    bly_filter *filter;
    size_t memory = (size_t)b->bytes / PAGED_SHARE / 2;
    uint64_t n = memory / PAGED_WAITS;
    paged_need(bly_open(&filter, b->path, BLY_PAGED | BLY_WRITE, NULL),
               "opening");
    paged_need(bly_buffer(filter, memory), "opening");
    paged_forget(b, NULL);
    double start = bench_now();
    for (unsigned i = 0; i < passes; i++) {
        paged_add(b, filter, n);
        paged_need(bly_sync(filter), "flushing");
        paged_forget(b, NULL);
    }
    double seconds = (bench_now() - start) / 1e9;
    bly_free(filter);
    return (double)(passes * n) / seconds;
}

/* Returns adds per second over some seconds, or until the file has been through
 * memory. */
static double paged_by_map(paged_bench *b)
{
    bly_filter *filter;
    paged_need(bly_open(&filter, b->path, BLY_MAP | BLY_WRITE, NULL),
               "mapping");
    const void *image = bly_image(filter, NULL);
    /* This many random pages are half of all: n = pages ln 2. */
    uint64_t half = (uint64_t)((double)b->pages * 0.6931), n = 0, since = 0;
    paged_forget(b, image);
    double start = bench_now();
    while ((bench_now() - start) / 1e9 < PAGED_SECONDS && n < 8 * half) {
        paged_add(b, filter, PAGED_BATCH);
        n += PAGED_BATCH;
        since += PAGED_BATCH;
        if (since >= half) {
            paged_forget(b, image);
            since = 0;
        }
    }
    paged_forget(b, image);
    double seconds = (bench_now() - start) / 1e9;
    bly_free(filter);
    return (double)n / seconds;
}

/* Returns lookups per second in batches whose pages are not in memory. */
static double paged_asked(paged_bench *b, int flags)
{
    uint64_t hashes[PAGED_ASK];
    bool present[PAGED_ASK];
    bly_filter *filter;
    double taken = 0;
    paged_need(bly_open(&filter, b->path, flags, NULL), "opening");
    const void *image = flags & BLY_MAP ? bly_image(filter, NULL) : NULL;
    for (unsigned i = 0; i < PAGED_BATCHES; i++) {
        for (uint64_t j = 0; j < PAGED_ASK; j++)
            hashes[j] = bench_hash(b->asked++ * 7);
        paged_forget(b, image);
        double start = bench_now();
        bly_contains_hashes(filter, hashes, PAGED_ASK, present);
        taken += bench_now() - start;
    }
    bly_free(filter);
    return PAGED_BATCHES * PAGED_ASK / (taken / 1e9);
}

/* Makes a file of that size, with all of its pages on the disk. */
static void paged_make(paged_bench *b, const char *folder, uint64_t bytes)
{
    bly_spec spec = { .rate = 0.01, .capacity = bytes / 5 * 4 };
    bly_filter *filter;
    bly_info_t stat;
    if ((size_t)snprintf(b->path, sizeof b->path, "%s/paged-bench-%ld.bly",
                         folder, (long)getpid()) >= sizeof b->path)
        bench_stop("making", "the folder's name is too long");
    paged_need(bly_create(&filter, b->path, "buffered", &spec), "making");
    paged_need(bly_sync(filter), "making");
    paged_need(bly_info(&stat, filter), "making");
    b->bytes = stat.bytes;
    b->pages = stat.geometry[1];
    b->file = open(b->path, O_RDWR | O_CLOEXEC);
    if (b->file < 0)
        bench_stop("making", "the file cannot be opened");
    paged_add(b, filter, 16 * b->pages);
    bly_free(filter);
    printf("filter of %.0f MiB in pages of %llu bytes, as if there were %.0f "
           "MiB of memory%s\n", (double)b->bytes / (1 << 20),
           (unsigned long long)stat.geometry[0],
           (double)b->bytes / PAGED_SHARE / (1 << 20),
           b->real ? " (not simulated)" : "");
}

static int paged_by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
    paged_bench b = { .next = 0 };
    double ratio[PAGED_ROUNDS];
    uint64_t mib = argc > 2 ? strtoull(argv[2], NULL, 10) : 512;
    b.real = argc > 3 && strcmp(argv[3], "real") == 0;
    if (argc < 2 || argc > 4 || mib < 16 || mib > 1 << 24
        || (argc == 4 && !b.real)) {
        fprintf(stderr, "usage: paged FOLDER [MIB [real]]\n");
        return 2;
    }
    paged_make(&b, argv[1], mib << 20);
    for (unsigned i = 0; i < PAGED_ROUNDS; i++) {
        double paged = paged_by_page(&b, 2), mapped = paged_by_map(&b);
        ratio[i] = paged / mapped;
        printf("round %u   mapped %8.0f adds/s   paged %8.0f adds/s   "
               "%.1f times\n", i + 1, mapped, paged, ratio[i]);
        fflush(stdout);
    }
    for (unsigned i = 0; i < PAGED_ROUNDS; i++) {
        double paged = paged_asked(&b, BLY_PAGED);
        double mapped = paged_asked(&b, BLY_MAP);
        printf("round %u   mapped %8.0f lookups/s   paged %8.0f lookups/s   "
               "%.1f times\n", i + 1, mapped, paged, paged / mapped);
    }
    qsort(ratio, PAGED_ROUNDS, sizeof *ratio, paged_by_size);
    printf("paged adds are %.1f times as many (median; wanted: 5)\n",
           ratio[PAGED_ROUNDS / 2]);
    close(b.file);
    unlink(b.path);
    return 0;
}
