/* large.c - are filters of a thousand million keys as quick, for each key, as
 * those of a hundred million?
 *
 * Floor 8: a program, through <bloomery.h> only.
 *
 *      large [KIND,KIND,...] [KEYS,KEYS,...]
 *
 * Of each kind, and of each number of keys in turn, a filter for 1 % is built
 * and all its members are asked for, with as many strangers as the first number
 * says. Kinds that take one key after another get them in pieces, so that no
 * more is in memory than the filter; the others need all hashes at once, and
 * scratch memory as large. Where that is more than the machine has, hashes and
 * scratch are two files without a name in TMPDIR or /var/tmp, mapped: scratch
 * memory is used from its front to its end, and a disk will do. A filter that
 * does not fit into the memory, or files that there is no room for, are said
 * and left out. Times are ns a key of one thread's processor time; "waited" is
 * what a frozen filter's build took beyond that, for the disk or for others.
 *
 * A member that is not found ends the program, with status 1.
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

/* Keys `from` and on, of all of which none comes twice. */
static size_t large_draw(large_piece *p, uint64_t from, uint64_t to)
{
    size_t n = to - from < LARGE_PIECE ? (size_t)(to - from) : LARGE_PIECE;
    for (size_t i = 0; i < n; i++)
        p->hashes[i] = bench_hash(from + i);
    return n;
}

/* ---- Memory, and files in its place ------------------------------------ */

enum { LARGE_HUGE = 2 << 20 };

/* Of the memory that the machine has, what a program may have. */
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

/* Bytes that files there may have. */
static double large_disk(void)
{
    struct statvfs is;
    if (statvfs(large_folder(), &is) < 0)
        bench_stop(large_folder(), strerror(errno));
    return (double)is.f_bavail * (double)is.f_frsize;
}

/* A file without a name, mapped, its place on the disk taken. */
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

/* For bly_spec: memory, unless the context says that what takes more than half
 * of it is to be a file. */
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

/* ns, without the making of hashes. */
static double large_add(bly_filter *filter, large_piece *p, uint64_t keys)
{
    double spent = 0;
    for (uint64_t i = 0, n; i < keys; i += n) {
        n = large_draw(p, i, keys);
        double begin = bench_worked();
        if (bly_add_many(filter, p->hashes, (size_t)n, NULL, NULL) < 0)
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
    if (bly_build(out, kind, &want, hashes, NULL, (size_t)keys) < 0)
        bench_stop(kind, bly_why());
    double spent = bench_worked() - begin;
    *waited = bench_now() - wall - spent;
    large_release(allocator->context, hashes, bytes);
    return spent;
}

/* ---- Ask --------------------------------------------------------------- */

/* ns; *found: of the keys. */
static double large_ask(const bly_filter *filter, large_piece *p, uint64_t from,
                        uint64_t to, uint64_t *found)
{
    double spent = 0;
    *found = 0;
    for (uint64_t i = from, n; i < to; i += n) {
        n = large_draw(p, i, to);
        double begin = bench_worked();
        bly_contains_many(filter, p->hashes, (size_t)n, p->present);
        spent += bench_worked() - begin;
        for (size_t j = 0; j < n; j++)
            *found += p->present[j];
    }
    return spent;
}

/* ---- One row ----------------------------------------------------------- */

/* Is there no room for the filter, or for the rest of what a build needs? Says
 * so. *files: the rest is more than the memory. */
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

/* The parts of a list, which it is cut into. */
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
