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
 * scratch memory. Times are ns a key, by one thread; what does not fit into the
 * machine's memory is said and left out.
 *
 * A member that is not found ends the program, with status 1.
 */
#include "bench.h"

#include <bloomery.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

/* ---- Build ------------------------------------------------------------- */

/* ns, without the making of hashes. */
static double large_add(bly_filter *filter, large_piece *p, uint64_t keys)
{
    double spent = 0;
    for (uint64_t i = 0, n; i < keys; i += n) {
        n = large_draw(p, i, keys);
        double begin = bench_now();
        if (bly_add_many(filter, p->hashes, (size_t)n, NULL, NULL) < 0)
            bench_stop(bly_kind_of(filter), bly_why());
        spent += bench_now() - begin;
    }
    return spent;
}

static double large_build(bly_filter **out, const char *kind, uint64_t keys)
{
    bly_spec want = { .threads = 1 };
    uint64_t *hashes = malloc((size_t)keys * sizeof *hashes);
    if (hashes == NULL)
        bench_stop(kind, "no memory for the hashes");
    for (uint64_t i = 0; i < keys; i++)
        hashes[i] = bench_hash(i);
    double begin = bench_now();
    if (bly_build(out, kind, &want, hashes, NULL, (size_t)keys) < 0)
        bench_stop(kind, bly_why());
    double spent = bench_now() - begin;
    free(hashes);
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
        double begin = bench_now();
        bly_contains_many(filter, p->hashes, (size_t)n, p->present);
        spent += bench_now() - begin;
        for (size_t j = 0; j < n; j++)
            *found += p->present[j];
    }
    return spent;
}

/* ---- One row ----------------------------------------------------------- */

/* Bytes that it takes at most: the image, scratch memory, hashes. */
static double large_needs(const bly_plan_t *plan, bool frozen, uint64_t keys)
{
    return (double)plan->bytes
         + (frozen ? (double)plan->scratch + (double)keys * 8 : 0);
}

/* Of the memory that the machine has, what a program may have. */
static double large_free(void)
{
    return 0.9 * (double)sysconf(_SC_PHYS_PAGES)
         * (double)sysconf(_SC_PAGESIZE);
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
    double needs = large_needs(&plan, frozen, keys);
    printf("%-10s %8.0e", kind, (double)keys);
    if (needs > large_free()) {
        printf("   takes %.1f GiB, and there are %.1f\n", needs / (1 << 30),
               large_free() / (1 << 30));
        return;
    }
    static large_piece piece;
    bly_filter *filter = NULL;
    double build;
    uint64_t members, others;
    if (!frozen && bly_new(&filter, kind, &want) < 0)
        bench_stop(kind, bly_why());
    build = frozen ? large_build(&filter, kind, keys)
                   : large_add(filter, &piece, keys);
    double there = large_ask(filter, &piece, 0, keys, &members);
    double absent = large_ask(filter, &piece, UINT64_C(1) << 40,
                              (UINT64_C(1) << 40) + strangers, &others);
    printf(" %8.2f %8.2f %8.2f %8.2f %9.4f %% %7.2f\n", build / (double)keys,
           there / (double)keys, absent / (double)strangers,
           8 * (double)plan.bytes / (double)keys,
           100 * (double)others / (double)strangers, needs / (1 << 30));
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
    printf("%-10s %8s %8s %8s %8s %8s %11s %7s\n", "kind", "keys", "build",
           "members", "absent", "bits", "rate", "GiB");
    for (size_t i = 0; i < n_kinds; i++)
        for (size_t j = 0; j < n_keys; j++)
            large_row(kind[i], large_number(number[j]),
                      large_number(number[0]));
    return 0;
}
