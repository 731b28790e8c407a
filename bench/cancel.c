/* cancel.c - how long a call continues after being cancelled.
 *
 *      cancel [KEYS [KIND]]
 *
 * Follows each long call on each kind with a progress callback, using one
 * thread, and prints the longest interval between callbacks, in ms of processor
 * time. <bloomery.h> promises 50 ms. Intervals below 1 ms are omitted. The last
 * line has the longest of all.
 */
#include "bench.h"

#include <bloomery.h>
#include <bloomery/foreign.h>
#include <bloomery/sketch.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    double begin, last, longest;
} cancel_gap;

static cancel_gap cancel_now;
static double cancel_longest;
static const char cancel_file[] = "bench-cancel.bly";

static int cancel_report(void *context, uint64_t done, uint64_t total)
{
    double now = bench_worked();
    (void)context, (void)done, (void)total;
    if (now - cancel_now.last > cancel_now.longest)
        cancel_now.longest = now - cancel_now.last;
    cancel_now.last = now;
    return 0;
}

static const bly_progress cancel_progress = { cancel_report, NULL };

static void cancel_start(void)
{
    cancel_now = (cancel_gap){ .begin = bench_worked() };
    cancel_now.last = cancel_now.begin;
}

static bool cancel_end(const char *kind, const char *call, bly_status status)
{
    (void)cancel_report(NULL, 0, 0);
    if (status < 0)                     /* most kinds lack some calls */
        return false;
    if (cancel_now.longest >= 1e6)
        printf("%-16s %-12s %9.1f ms of %9.1f ms\n", kind, call,
               cancel_now.longest / 1e6,
               (cancel_now.last - cancel_now.begin) / 1e6);
    if (cancel_now.longest > cancel_longest)
        cancel_longest = cancel_now.longest;
    return true;
}

/* Measures one call: an expression that returns a bly_status. */
#define CANCEL_CALL(kind, name, call)                                          \
    (cancel_start(), cancel_end((kind), (name), (call)))

typedef struct {
    uint64_t *hashes, *labels;
    size_t    n;
} cancel_keys;

/* Measures calls that change a filter. */
static void cancel_changes(const char *kind, const bly_filter *other,
                           const cancel_keys *keys, const bly_spec *spec)
{
    bly_filter *f;
    if (bly_new(&f, kind, spec) < 0)
        return;
    bly_progress_set(f, &cancel_progress);
    CANCEL_CALL(kind, "add", bly_add_hashes(f, keys->hashes, keys->n, NULL,
                                            NULL));
    CANCEL_CALL(kind, "unite", bly_unite(f, other));
    CANCEL_CALL(kind, "intersect", bly_intersect(f, other));
    CANCEL_CALL(kind, "subtract", bly_subtract(f, other));
    CANCEL_CALL(kind, "remove", bly_remove_hashes(f, keys->hashes, keys->n,
                                                  NULL));
    CANCEL_CALL(kind, "resize", bly_resize(f, 2 * (uint64_t)keys->n));
    CANCEL_CALL(kind, "fold", bly_fold(f, 2));
    bly_free(f);
}

/* Measures calls that read a filter, and its bytes. */
static void cancel_reads(const char *kind, const bly_filter *f,
                         const bly_options *options)
{
    bly_filter *other = NULL;
    bly_overlap_t overlap;
    bly_info_t stat;
    size_t room = 0, bytes = 0;
    if (CANCEL_CALL(kind, "copy", bly_copy(&other, f, options)))
        CANCEL_CALL(kind, "overlap", bly_overlap(&overlap, f, other));
    bly_free(other);
    CANCEL_CALL(kind, "stat", bly_info(&stat, f));
    cancel_start();
    (void)bly_image(f, &room);
    cancel_end(kind, "image", BLY_OK);
    void *packed = bench_allocate(room);
    if (CANCEL_CALL(kind, "pack", bly_pack(f, packed, room, &bytes))) {
        CANCEL_CALL(kind, "check", bly_check(packed, bytes, options));
        if (CANCEL_CALL(kind, "unpack", bly_unpack(&other, packed, bytes,
                                                   options)))
            bly_free(other);
    }
    free(packed);
}

static void cancel_files(const char *kind, const bly_filter *f,
                         const bly_options *options)
{
    bly_filter *other;
    if (!CANCEL_CALL(kind, "save", bly_save(f, cancel_file)))
        bench_stop(cancel_file, bly_why());
    if (CANCEL_CALL(kind, "open", bly_open(&other, cancel_file, 0, options)))
        bly_free(other);
    if (CANCEL_CALL(kind, "map", bly_open(&other, cancel_file,
                                          BLY_MAP | BLY_VERIFY, options)))
        bly_free(other);
    unlink(cancel_file);
}

static void cancel_kind(const bly_kind_info *info, cancel_keys keys)
{
    const bly_options options = { .progress = &cancel_progress, .threads = 1 };
    bly_filter *f;
    if (strcmp(info->name, "egh") == 0) /* its size is quadratic in the keys */
        keys.n = keys.n < 200 ? keys.n : 200;
    bly_spec spec = { .capacity = keys.n, .rate = 0.001, .threads = 1,
                      .progress = &cancel_progress };
    uint64_t *labels = (info->can & (BLY_CAN_LABEL | BLY_CAN_SEPARATE)) != 0
                     ? keys.labels : NULL;
    const bly_keys given = { .n = keys.n, .hashes = keys.hashes,
                             .labels = labels };
    if (!CANCEL_CALL(info->name, "build", bly_build(&f, info->name, &spec,
                                                    &given)))
        return;
    bly_progress_set(f, &cancel_progress);
    cancel_changes(info->name, f, &keys, &spec);
    cancel_reads(info->name, f, &options);
    cancel_files(info->name, f, &options);
    bly_free(f);
}

/* Other systems' kinds take keys. */
static void cancel_format(const bly_kind_info *info, const cancel_keys *keys)
{
    const bly_options options = { .progress = &cancel_progress, .threads = 1 };
    const bly_keys given = { .n = keys->n, .data = keys->hashes, .width = 8 };
    bly_spec spec = { .capacity = keys->n, .rate = 0.001, .threads = 1,
                      .progress = &cancel_progress };
    bly_filter *f;
    const char *kind = strcmp(info->name, "bip158") == 0
        ? "bip158:block=000102030405060708090a0b0c0d0e0f" : info->name;
    if (!CANCEL_CALL(info->name, "build", bly_build(&f, kind, &spec, &given)))
        return;
    bly_progress_set(f, &cancel_progress);
    cancel_reads(info->name, f, &options);
    cancel_files(info->name, f, &options);
    bly_free(f);
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? (size_t)strtod(argv[1], NULL) : 3000000;
    cancel_keys keys = { bench_allocate(n * sizeof(uint64_t)),
                         bench_allocate(n * sizeof(uint64_t)), n };
    for (size_t i = 0; i < n; i++) {
        keys.hashes[i] = bench_hash(i);
        keys.labels[i] = 1;
    }
    for (const bly_kind_info *const *k = bly_kinds(NULL); *k != NULL; k++)
        if (argc < 3 || strcmp(argv[2], (*k)->name) == 0)
            cancel_kind(*k, keys);
    for (const bly_format_info *const *f = bly_formats(NULL); *f != NULL; f++)
        if (argc < 3 || strcmp(argv[2], (*f)->kind->name) == 0)
            cancel_format((*f)->kind, &keys);
    printf("the longest: %.1f ms\n", cancel_longest / 1e6);
    free(keys.hashes);
    free(keys.labels);
    return 0;
}
