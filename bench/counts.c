/* counts.c - the instructions of a lookup, for each kind, under callgrind.
 *
 * tools/check/counts builds and runs this program once for each level of vector
 * instructions, and compares the counts with bench/counts.txt.
 *
 *      valgrind --tool=callgrind --instr-atstart=no counts
 *
 * Times vary between runs, which hides a slow path that has crept into a
 * lookup. Instruction counts do not: the keys are fixed, one thread builds the
 * filters, and callgrind simulates the processor. They say nothing about
 * memory, so the filters are small; bench.c measures times.
 *
 * A filter of COUNTS_KEYS keys, for each kind and each of counts_variants, is
 * queried for as many members and as many strangers: singly (bly_contains_hash)
 * and in one batch (bly_contains_hashes). A first, uncounted call does the
 * one-time work. After each of the four callgrind writes a dump named "VERB
 * SHARE LOOKUPS KIND". Single lookups include the loop around them, some six
 * instructions.
 */
#include "bench.h"

#include <bloomery.h>

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <valgrind/callgrind.h>

enum { COUNTS_KEYS = 4096, COUNTS_GROWN = 8, COUNTS_PROBES_MAX = 300,
       COUNTS_NAME = 96 };

/* Variants whose lookups take another path than the plain kind's. */
static const char *const counts_variants[] = {
    "standard:index=seeds", "standard:index=double,m=40960,k=7",
    "blocked:k=4", "blocked:k=16",
    "cuckoo:f=8", "cuckoo:f=12", "cuckoo:f=16", "cuckoo:sorted=yes",
    "cuckoo:f=24", "cuckoo:f=24,sorted=yes",
    "rehash:by=xxh64", "rehash:by=murmur3",
    "variable:set=4-6-7", "variable:set=8-12-14-15", "quotient:repeats=yes",
    "xor:bits=8", "xor:bits=16",
    "fuse:bits=8", "fuse:bits=16", "fuse:arity=4",
    "ribbon:bits=8", "ribbon:form=homogeneous",
    "gcs:block=16", "gcs:block=1024",
    "egh:moduli=primes",
    "twin:of=blocked", "scalable:of=standard", "aging:of=standard",
    "layered:of=partitioned", "attenuated:of=blocked", "cascade:of=fuse",
};

/* Members at [0], strangers at [1], as a kind needs them that is built from
 * both. */
static uint64_t counts_hashes[2][COUNTS_KEYS];
static uint64_t counts_labels[2][COUNTS_KEYS];
static bool counts_present[COUNTS_KEYS];

static void counts_draw(void)
{
    for (size_t i = 0; i < COUNTS_KEYS; i++) {
        counts_hashes[0][i] = bench_hash(i);
        counts_hashes[1][i] = bench_hash((UINT64_C(1) << 40) + i);
        counts_labels[0][i] = 1;
    }
}

/* ---- Build ------------------------------------------------------------- */

/* Returns COUNTS_KEYS, halved until a key has no more probes than in normal
 * use: egh's probes rise with the keys. */
static size_t counts_room(const char *kind)
{
    size_t keys = COUNTS_KEYS;
    for (; keys > 1; keys /= 2) {
        bly_plan_t plan;
        bly_spec want = { .capacity = keys };
        bly_status status = bly_plan(&plan, kind, &want);
        if (status >= 0 && plan.probes <= COUNTS_PROBES_MAX)
            break;
        if (status < 0 && status != BLY_ETOOBIG)
            bench_stop(kind, bly_why());
    }
    return keys;
}

/* Builds a filter; one that grows has grown, so that a lookup queries
 * several. */
static bly_filter *counts_build(const char *kind, uint64_t can, size_t keys)
{
    bool separate = (can & BLY_CAN_SEPARATE) != 0;
    bly_spec want = { .capacity = keys, .threads = 1 };
    bly_keys given = { .n = separate ? 2 * keys : keys,
                       .hashes = counts_hashes[0],
                       .labels = separate ? counts_labels[0] : NULL };
    bly_filter *filter = NULL;
    if (can & BLY_CAN_GROW)
        want.capacity /= COUNTS_GROWN;
    if (bly_build(&filter, kind, &want, &given) < 0)
        bench_stop(kind, bly_why());
    return filter;
}

/* ---- Query ------------------------------------------------------------- */

typedef void counts_ask(const bly_filter *filter, const uint64_t *hashes,
                        size_t n);

static void counts_single(const bly_filter *filter, const uint64_t *hashes,
                          size_t n)
{
    for (size_t i = 0; i < n; i++)
        counts_present[i] = bly_contains_hash(filter, hashes[i]);
}

static void counts_batch(const bly_filter *filter, const uint64_t *hashes,
                         size_t n)
{
    bly_contains_hashes(filter, hashes, n, counts_present);
}

static void counts_verify(const char *kind, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!counts_present[i])
            bench_stop(kind, "a key that was added is not found");
}

/* Prints the compiler, its major version and the processor, for the head of
 * counts.txt. */
static void counts_print_compiler(void)
{
#if defined(__clang__)
    printf("by clang %d", __clang_major__);
#else
    printf("by gcc %d", __GNUC__);
#endif
    struct utsname machine;
    printf(" %s\n", uname(&machine) == 0 ? machine.machine : "unknown");
}

/* Counts one verb, and keeps the answers alive. */
static void counts_one(const char *kind, const char *verb, counts_ask *ask,
                       const bly_filter *filter, bool strangers, size_t n)
{
    char name[COUNTS_NAME];
    snprintf(name, sizeof name, "%s %s %zu %s", verb,
             strangers ? "absent" : "present", n, kind);
    ask(filter, counts_hashes[strangers], n);
    memset(counts_present, 0, sizeof counts_present);
    CALLGRIND_START_INSTRUMENTATION;
    ask(filter, counts_hashes[strangers], n);
    CALLGRIND_STOP_INSTRUMENTATION;
    CALLGRIND_DUMP_STATS_AT(name);
}

static void counts_kind(const char *kind)
{
    uint64_t can = bly_kind_find(kind)->can;
    size_t keys = counts_room(kind);
    bly_filter *filter = counts_build(kind, can, keys);
    for (int strangers = 0; strangers < 2; strangers++) {
        counts_one(kind, "single", counts_single, filter, strangers, keys);
        if (!strangers && !(can & BLY_CAN_FORGET))
            counts_verify(kind, keys);
        counts_one(kind, "batch", counts_batch, filter, strangers, keys);
        if (!strangers && !(can & BLY_CAN_FORGET))
            counts_verify(kind, keys);
    }
    bly_free(filter);
}

int main(void)
{
    if (!RUNNING_ON_VALGRIND) {
        fputs("counts: there is nothing to count: tools/check/counts "
              "runs this\n", stderr);
        return 2;
    }
    counts_print_compiler();
    counts_draw();
    for (const bly_kind_info *const *kind = bly_kinds(NULL); *kind != NULL;
         kind++)
        counts_kind((*kind)->name);
    for (size_t i = 0; i < sizeof counts_variants / sizeof *counts_variants;
         i++)
        counts_kind(counts_variants[i]);
    return 0;
}
