/* large.c - compares the time per key of filters with a thousand million keys
 * and with a hundred million.
 *
 *      large [KIND,KIND,...] [KEYS,KEYS,...]
 *
 * For each kind and number of keys in turn, a filter for 1 % is built and
 * queried for all its members, and for as many strangers as the first number
 * says. Kinds that accept keys one by one get them in pieces, so that only the
 * filter is in memory; the others need all hashes at once, and scratch memory
 * as large. If that exceeds the machine's memory, hashes and scratch are two
 * mapped, unnamed files in TMPDIR or /var/tmp: scratch is used from front to
 * end, so a disk will do. Filters that do not fit in memory, or whose files do
 * not fit on disk, are reported and skipped. Times are ns a key of one thread's
 * processor time; "waited" is the time a frozen filter's build took beyond
 * that, for the disk or other programs.
 *
 * A member that is not found ends the program with status 1.
 */
#include "bench.h"

#include <bloomery.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { LARGE_PIECE = 1 << 16, LARGE_LIST = 8 };

static const char large_kinds[] = "blocked,standard,cuckoo,fuse,ribbon";
static const char large_keys[] = "1e8,1e9,4e9";

typedef struct {
    uint64_t hashes[LARGE_PIECE];
    bool     present[LARGE_PIECE];
} large_piece;

/* Draws the hashes of keys `from` .. `to`, all of them different. */
static size_t large_draw(large_piece *p, uint64_t from, uint64_t to)
{
    size_t n = to - from < LARGE_PIECE ? (size_t)(to - from) : LARGE_PIECE;
    for (size_t i = 0; i < n; i++)
        p->hashes[i] = bench_hash(from + i);
    return n;
}

/* ---- Memory, and files instead ----------------------------------------- */

enum { LARGE_HUGE = 2 << 20 };

/* Returns how much of the machine's memory a program may use. */
static double large_free(void)
{
    return 0.9 * (double)sysconf(_SC_PHYS_PAGES)
         * (double)sysconf(_SC_PAGESIZE);
}

static const char *large_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder != NULL && *folder != '\0' ? folder : "/var/tmp";
}

/* Returns the free bytes for files there. */
static double large_disk(void)
{
    struct statvfs is;
    if (statvfs(large_folder(), &is) < 0)
        bench_stop(large_folder(), strerror(errno));
    return (double)is.f_bavail * (double)is.f_frsize;
}

/* Maps an unnamed file whose disk space is reserved. */
static void *large_file(size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/bench-large-XXXXXX", large_folder());
    int file = mkstemp(path);
    if (file < 0)
        bench_stop(path, strerror(errno));
    unlink(path);
    int error = posix_fallocate(file, 0, (off_t)bytes);
    if (error != 0)
        bench_stop(large_folder(), strerror(error));
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                        0);
    if (memory == MAP_FAILED)
        bench_stop(large_folder(), strerror(errno));
    close(file);
    return memory;
}

/* Allocates for bly_spec: memory or, if the context says so, a file for
 * anything larger than half of it. */
static void *large_allocate(void *context, size_t alignment, size_t bytes)
{
    const bool *files = context;
    void *memory = NULL;
    if (*files && (double)bytes > large_free() / 2)
        return large_file(bytes);
    if (alignment < LARGE_HUGE && bytes >= LARGE_HUGE)
        alignment = LARGE_HUGE;
    if (posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= LARGE_HUGE)
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

static void large_release(void *context, void *memory, size_t bytes)
{
    const bool *files = context;
    if (*files && (double)bytes > large_free() / 2)
        munmap(memory, bytes);
    else
        free(memory);
}

/* ---- Build ------------------------------------------------------------- */

/* Returns ns without the time to make hashes. */
static double large_add(bly_filter *filter, large_piece *p, uint64_t keys)
{
    double spent = 0;
    for (uint64_t i = 0, n; i < keys; i += n) {
        n = large_draw(p, i, keys);
        double begin = bench_worked();
        if (bly_add_hashes(filter, p->hashes, (size_t)n, NULL, NULL) < 0)
            bench_stop(bly_kind_of(filter), bly_why());
        spent += bench_worked() - begin;
    }
    return spent;
}

static double large_build(bly_filter **out, const char *kind, uint64_t keys,
                          bly_allocator *allocator, double *waited)
{
    bly_spec want = { .threads = 1, .allocator = allocator };
    size_t bytes = (size_t)keys * sizeof(uint64_t);
    uint64_t *hashes = large_allocate(allocator->context, sizeof *hashes,
                                      bytes);
    if (hashes == NULL)
        bench_stop(kind, "no memory for the hashes");
    for (uint64_t i = 0; i < keys; i++)
        hashes[i] = bench_hash(i);
    double begin = bench_worked(), wall = bench_now();
    if (bly_build(out, kind, &want,
                  &(bly_keys){ .n = (size_t)keys, .hashes = hashes }) < 0)
        bench_stop(kind, bly_why());
    double spent = bench_worked() - begin;
    *waited = bench_now() - wall - spent;
    large_release(allocator->context, hashes, bytes);
    return spent;
}

/* ---- Query ------------------------------------------------------------- */

/* Returns ns; *found counts the keys found. */
static double large_ask(const bly_filter *filter, large_piece *p, uint64_t from,
                        uint64_t to, uint64_t *found)
{
    double spent = 0;
    *found = 0;
    for (uint64_t i = from, n; i < to; i += n) {
        n = large_draw(p, i, to);
        double begin = bench_worked();
        bly_contains_hashes(filter, p->hashes, (size_t)n, p->present);
        spent += bench_worked() - begin;
        for (size_t j = 0; j < n; j++)
            *found += p->present[j];
    }
    return spent;
}

/* ---- A row ------------------------------------------------------------- */

/* Returns, with a message, whether the filter, or the rest that a build needs,
 * does not fit. *files: the rest exceeds the memory. */
static bool large_too_large(const bly_plan_t *plan, double rest, bool *files)
{
    *files = (double)plan->bytes + rest > large_free();
    bool filter = (double)plan->bytes > large_free() / 2;
    if (!*files || (!filter && rest <= large_disk()))
        return false;
    printf("   takes %.1f GiB of memory, of which there are %.1f, and %.1f of "
           "disk, of which there are %.1f\n",
           (double)plan->bytes / (1 << 30), large_free() / (1 << 30),
           rest / (1 << 30), large_disk() / (1 << 30));
    return true;
}

static void large_row(const char *kind, uint64_t keys, uint64_t strangers)
{
    const bly_kind_info *info = bly_kind_find(kind);
    bly_spec want = { .capacity = keys, .threads = 1 };
    bly_plan_t plan;
    if (info == NULL)
        bench_stop(kind, "is no kind");
    if (bly_plan(&plan, kind, &want) < 0)
        bench_stop(kind, bly_why());
    bool frozen = !(info->can & BLY_CAN_ADD);
    double rest = frozen ? (double)plan.scratch + (double)keys * 8 : 0;
    bool files;
    bly_allocator allocator = { .allocate = large_allocate,
                                .release = large_release, .context = &files };
    printf("%-10s %8.0e", kind, (double)keys);
    if (large_too_large(&plan, rest, &files))
        return;
    static large_piece piece;
    bly_filter *filter = NULL;
    double build, waited = 0;
    uint64_t members, others;
    if (!frozen && bly_new(&filter, kind, &want) < 0)
        bench_stop(kind, bly_why());
    build = frozen ? large_build(&filter, kind, keys, &allocator, &waited)
                   : large_add(filter, &piece, keys);
    double there = large_ask(filter, &piece, 0, keys, &members);
    double absent = large_ask(filter, &piece, UINT64_C(1) << 40,
                              (UINT64_C(1) << 40) + strangers, &others);
    printf(" %8.2f %8.2f %8.2f %8.2f %8.2f %9.4f %% %7.2f %7.2f\n",
           build / (double)keys, waited / (double)keys, there / (double)keys,
           absent / (double)strangers, 8 * (double)plan.bytes / (double)keys,
           100 * (double)others / (double)strangers,
           ((double)plan.bytes + (files ? 0 : rest)) / (1 << 30),
           (files ? rest : 0) / (1 << 30));
    fflush(stdout);
    bly_free(filter);
    if (members != keys)
        bench_stop(kind, "a key that was added is not found");
}

/* ---- Lists ------------------------------------------------------------- */

/* Splits a list in place; returns the number of parts. */
static size_t large_parts(char *list, const char *part[LARGE_LIST])
{
    size_t n = 0;
    for (char *at = strtok(list, ","); at != NULL; at = strtok(NULL, ",")) {
        if (n == LARGE_LIST)
            bench_stop("large", "a list has eight parts at most");
        part[n++] = at;
    }
    return n;
}

static uint64_t large_number(const char *text)
{
    char *end;
    double n = strtod(text, &end);
    if (end == text || *end != '\0' || !(n >= 1 && n <= 1e12))
        bench_stop(text, "is no number of keys, 1 to 1e12");
    return (uint64_t)n;
}

int main(int argc, char **argv)
{
    char kinds[256], keys[256];
    const char *kind[LARGE_LIST], *number[LARGE_LIST];
    if (argc > 3) {
        fputs("usage: large [KIND,KIND,...] [KEYS,KEYS,...]\n", stderr);
        return 2;
    }
    snprintf(kinds, sizeof kinds, "%s", argc > 1 ? argv[1] : large_kinds);
    snprintf(keys, sizeof keys, "%s", argc > 2 ? argv[2] : large_keys);
    size_t n_kinds = large_parts(kinds, kind);
    size_t n_keys = large_parts(keys, number);
    printf("%-10s %8s %8s %8s %8s %8s %8s %11s %7s %7s\n", "kind", "keys",
           "build", "waited", "members", "absent", "bits", "rate", "GiB",
           "of disk");
    for (size_t i = 0; i < n_kinds; i++)
        for (size_t j = 0; j < n_keys; j++)
            large_row(kind[i], large_number(number[j]),
                      large_number(number[0]));
    return 0;
}
