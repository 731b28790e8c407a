/* cancel.c - every long verb of every kind is cancelled at many moments and
 * leaves everything unchanged.
 *
 * With one thread, the work between two callbacks is the same in every run. A
 * first run counts the callbacks, and later runs are cancelled at chosen ones:
 * no clock is involved, and failures can be repeated.
 */
#include "test.h"

#include <unistd.h>

#include "bloomery/foreign.h"
#include "bloomery/index.h"
#include "bloomery/paged.h"
#include "bloomery/similar.h"
#include "bloomery/sketch.h"
#include "verbs/each.h"

/* Enough keys for several steps in every loop of every kind. */
enum { CANCEL_KEYS = 100000, CANCEL_NEVER = -1 };

/* Moments at which a verb is cancelled. */
static int64_t cancel_moments(void)
{
    return (int64_t)test_work(20, 4, 3);
}

static const char cancel_path[] = "cancel.bly";

/* The progress a callback has seen, and the call at which it cancels. */
typedef struct {
    int64_t  calls, at;
    uint64_t done, total;
    bool     fell;
} cancel_watch;

static int cancel_report(void *context, uint64_t done, uint64_t total)
{
    cancel_watch *w = context;
    w->fell |= done < w->done || done > total
            || (w->calls > 0 && total != w->total);
    w->done = done;
    w->total = total;
    return w->calls++ == w->at;
}

/* A verb: `make` prepares its input, `run` calls it, and `same` says whether
 * nothing has changed. */
typedef struct {
    const char *kind;
    bly_spec    spec;
    size_t      n;
    uint64_t   *hashes, *labels;
    bly_filter *filter, *other, *before;
    uint8_t    *packed;
    size_t      room, bytes;
    bly_progress progress;
    cancel_watch watch;
} cancel_case;

typedef bly_status cancel_run(cancel_case *c);

static bly_options cancel_options(const cancel_case *c)
{
    return (bly_options){ .progress = &c->progress, .threads = 1 };
}

static bly_status cancel_build(cancel_case *c)
{
    bly_filter *built = NULL;
    bly_spec spec = c->spec;
    spec.progress = &c->progress;
    bly_status status = bly_build(&built, c->kind, &spec,
                                  &(bly_keys){ .n = c->n, .hashes = c->hashes,
                                               .labels = c->labels });
    each_true(c->kind, (built != NULL) == (status == BLY_OK));
    bly_free(built);
    return status;
}

static bly_status cancel_build_keys(cancel_case *c)
{
    bly_filter *built = NULL;
    bly_spec spec = c->spec;
    bly_keys keys = { .n = c->n, .data = c->hashes, .width = 8,
                      .labels = c->labels };
    spec.progress = &c->progress;
    bly_status status = bly_build(&built, c->kind, &spec, &keys);
    each_true(c->kind, (built != NULL) == (status == BLY_OK));
    bly_free(built);
    return status;
}

static bly_status cancel_copy(cancel_case *c)
{
    bly_filter *copy = NULL;
    bly_options options = cancel_options(c);
    bly_status status = bly_copy(&copy, c->filter, &options);
    each_true(c->kind, (copy != NULL) == (status == BLY_OK));
    bly_free(copy);
    return status;
}

static bly_status cancel_unite(cancel_case *c)
{
    return bly_unite(c->filter, c->other);
}

static bly_status cancel_intersect(cancel_case *c)
{
    return bly_intersect(c->filter, c->other);
}

static bly_status cancel_subtract(cancel_case *c)
{
    return bly_subtract(c->filter, c->other);
}

static bly_status cancel_overlap(cancel_case *c)
{
    bly_overlap_t out;
    return bly_overlap(&out, c->filter, c->other);
}

static bly_status cancel_resize(cancel_case *c)
{
    return bly_resize(c->filter, 2 * (uint64_t)c->n);
}

static bly_status cancel_fold(cancel_case *c)
{
    return bly_fold(c->filter, 2);
}

/* Loops over cells and over lines, each much shorter than a step. */
static bly_status cancel_stat(cancel_case *c)
{
    bly_info_t out;
    size_t bytes = 0;
    (void)bly_image(c->filter, &bytes);
    bly_status status = bly_info(&out, c->filter);
    each_true(c->kind, c->watch.calls < 32 + (int64_t)(bytes / 256));
    return status;
}

static bly_status cancel_save(cancel_case *c)
{
    return bly_save(c->filter, cancel_path);
}

static bly_status cancel_pack(cancel_case *c)
{
    return bly_pack(c->filter, c->packed, c->room, &c->bytes);
}

static bly_status cancel_unpack(cancel_case *c)
{
    bly_filter *out = NULL;
    bly_options options = cancel_options(c);
    bly_status status = bly_unpack(&out, c->packed, c->bytes, &options);
    each_true(c->kind, (out != NULL) == (status == BLY_OK));
    bly_free(out);
    return status;
}

static bly_status cancel_check(cancel_case *c)
{
    bly_options options = cancel_options(c);
    return bly_check(c->packed, c->bytes, &options);
}

static bly_status cancel_open_by(cancel_case *c, int flags)
{
    bly_filter *out = NULL;
    bly_options options = cancel_options(c);
    bly_status status = bly_open(&out, cancel_path, flags, &options);
    each_true(c->kind, (out != NULL) == (status == BLY_OK));
    bly_free(out);
    return status;
}

static bly_status cancel_open(cancel_case *c)
{
    return cancel_open_by(c, 0);
}

static bly_status cancel_map(cancel_case *c)
{
    return cancel_open_by(c, BLY_MAP | BLY_VERIFY);
}

/* Runs a verb with a callback that cancels call number `at`. Verbs with a
 * handle take the callback from the handle. */
static bly_status cancel_once(cancel_case *c, cancel_run *run, int64_t at)
{
    c->watch = (cancel_watch){ .at = at };
    bly_progress_set(c->filter, &c->progress);
    bly_status status = run(c);
    bly_progress_set(c->filter, NULL);
    each_true(c->kind, !c->watch.fell);
    return status;
}

static bool cancel_unchanged(const cancel_case *c)
{
    return each_same(c->filter, c->before);
}

/* Makes a fresh copy of the filter, already sealed so that no verb has to do
 * it. */
static void cancel_renew(cancel_case *c)
{
    assert_int_equal(bly_copy(&c->filter, c->before, NULL), BLY_OK);
    assert_non_null(bly_image(c->filter, NULL));
}

/* A complete run on a copy counts the callbacks. The verb is then cancelled at
 * some of them, and must report that and change nothing. */
static void cancel_verb(cancel_case *c, const char *verb, cancel_run *run)
{
    bly_filter *own = c->filter;
    int64_t moments = cancel_moments();
    cancel_renew(c);
    bly_status status = cancel_once(c, run, CANCEL_NEVER);
    int64_t calls = c->watch.calls;
    bly_free(c->filter);
    c->filter = own;
    if (status < 0)                     /* a kind without the verb */
        return;
    for (int64_t i = 0; i < moments && i < calls; i++) {
        int64_t at = calls <= moments ? i : i * (calls - 1) / (moments - 1);
        status = cancel_once(c, run, at);
        if (status >= 0 && at == calls - 1) {
            bly_free(c->filter);        /* too late to cancel: done */
            cancel_renew(c);
            continue;
        }
        if (status != BLY_ECANCELED || !cancel_unchanged(c))
            fail_msg("%s: %s cancelled at call %lld of %lld: status %d (%s), "
                     "%s", c->kind, verb, (long long)at, (long long)calls,
                     (int)status, bly_why(),
                     cancel_unchanged(c) ? "unchanged" : "changed");
    }
}

/* After a cancelled batch the first *done keys are in, and no others. */
static void cancel_add(cancel_case *c)
{
    bly_filter *some = NULL, *same = NULL;
    size_t done = 0;
    assert_int_equal(bly_new(&some, c->kind, &c->spec), BLY_OK);
    assert_int_equal(bly_new(&same, c->kind, &c->spec), BLY_OK);
    c->watch = (cancel_watch){ .at = 3 };
    bly_progress_set(some, &c->progress);
    bly_status status = bly_add_hashes(some, c->hashes, c->n, NULL, &done);
    bly_progress_set(some, NULL);
    if (c->watch.calls > 3) {
        each_status(c->kind, status, BLY_ECANCELED);
        each_true(c->kind, done > 0 && done < c->n);
    }
    each_status(c->kind, bly_add_hashes(same, c->hashes, done, NULL, NULL),
                BLY_OK);
    each_true(c->kind, each_same(some, same));
    each_status(c->kind, bly_add_hashes(some, c->hashes + done, c->n - done,
                                        NULL, NULL), BLY_OK);
    bly_free(some);
    bly_free(same);
}

/* A cancelled save leaves the old file and nothing else. */
static void cancel_saves(cancel_case *c)
{
    assert_int_equal(bly_save(c->before, cancel_path), BLY_OK);
    cancel_verb(c, "save", cancel_save);
    bly_filter *old = NULL;
    each_status(c->kind, bly_open(&old, cancel_path, 0, NULL), BLY_OK);
    bly_free(old);
    cancel_verb(c, "open", cancel_open);
    cancel_verb(c, "map", cancel_map);
    unlink(cancel_path);
}

static void cancel_verbs(cancel_case *c)
{
    cancel_verb(c, "build", cancel_build);
    cancel_verb(c, "build_keys", cancel_build_keys);
    cancel_verb(c, "copy", cancel_copy);
    cancel_verb(c, "unite", cancel_unite);
    cancel_verb(c, "intersect", cancel_intersect);
    cancel_verb(c, "subtract", cancel_subtract);
    cancel_verb(c, "overlap", cancel_overlap);
    cancel_verb(c, "resize", cancel_resize);
    cancel_verb(c, "fold", cancel_fold);
    cancel_verb(c, "stat", cancel_stat);
    c->room = c->bytes = 0;
    (void)bly_image(c->filter, &c->room);
    c->packed = malloc(c->room);
    assert_non_null(c->packed);
    cancel_verb(c, "pack", cancel_pack);
    each_status(c->kind, bly_pack(c->before, c->packed, c->room, &c->bytes),
                BLY_OK);
    cancel_verb(c, "unpack", cancel_unpack);
    cancel_verb(c, "check", cancel_check);
    free(c->packed);
    cancel_saves(c);
}

static void cancel_kind(const char *kind, const bly_kind_info *info)
{
    cancel_case c = { .kind = kind, .n = (size_t)each_room(kind, CANCEL_KEYS) };
    bool labels = (info->can & BLY_CAN_LABEL) != 0;
    c.spec = (bly_spec){ .capacity = c.n, .threads = 1 };
    c.progress = (bly_progress){ cancel_report, &c.watch };
    c.hashes = malloc(c.n * sizeof *c.hashes);
    c.labels = labels ? malloc(c.n * sizeof *c.labels) : NULL;
    assert_true(c.hashes != NULL && (!labels || c.labels != NULL));
    for (size_t i = 0; i < c.n; i++) {
        c.hashes[i] = test_random(1, i);
        if (labels)
            c.labels[i] = 1;
    }
    c.before = each_built(kind, &c.spec, 1, c.n / 2);
    c.other = each_built(kind, &c.spec, 2, c.n / 2);
    cancel_renew(&c);
    cancel_verbs(&c);
    if (each_adds(info))
        cancel_add(&c);
    bly_free(c.filter);
    bly_free(c.other);
    bly_free(c.before);
    free(c.hashes);
    free(c.labels);
}

/* Builds from keys, which all of these accept. */
static void cancel_format(const char *kind)
{
    cancel_case c = { .kind = kind, .n = (size_t)each_room(kind, CANCEL_KEYS) };
    c.spec = (bly_spec){ .capacity = c.n, .threads = 1 };
    c.progress = (bly_progress){ cancel_report, &c.watch };
    c.hashes = malloc(c.n * sizeof *c.hashes);
    assert_non_null(c.hashes);
    for (size_t i = 0; i < c.n; i++)
        c.hashes[i] = test_random(1, i);
    for (int64_t i = 0, calls = 1; i < cancel_moments() && i < calls; i++) {
        c.watch = (cancel_watch){ .at = CANCEL_NEVER };
        if (i == 0 && cancel_build_keys(&c) < 0)
            break;                      /* a kind without building */
        calls = i == 0 ? c.watch.calls : calls;
        c.watch = (cancel_watch){ .at = i * (calls - 1) / cancel_moments() };
        if (calls > 0)
            each_status(kind, cancel_build_keys(&c), BLY_ECANCELED);
    }
    free(c.hashes);
}

static void test_each_kind(void **state)
{
    (void)state;
    if (test_work(true, false, false))
        each_choice(cancel_kind);
    else
        each_kind(cancel_kind);
}

/* Other systems' kinds; some are built from all keys at once, and sort. */
static void test_each_format(void **state)
{
    const bly_format_info *const *format = bly_formats(NULL);
    size_t built = 0;
    (void)state;
    for (; *format != NULL; format++) {
        const char *kind = (*format)->kind->name;
        bly_spec spec = { .capacity = 10 };
        bly_plan_t plan;
        if (strcmp(kind, "bip158") == 0)
            kind = "bip158:block=000102030405060708090a0b0c0d0e0f";
        if (bly_plan(&plan, kind, &spec) < 0)
            continue;                   /* it is read only */
        cancel_format(kind);
        built++;
    }
    assert_true(built > 5);
}

/* Only the caller's thread calls the callback, whichever thread is at work, and
 * cancelling a build ends all of them. */
static void test_threads(void **state)
{
    const char *kinds[] = { "fuse", "ribbon", "gcs", "bloomier", "quotient",
                            "standard" };
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        cancel_case c = { .kind = kinds[i], .n = 4 * CANCEL_KEYS,
                          .spec = { .threads = 4 } };
        c.progress = (bly_progress){ cancel_report, &c.watch };
        c.hashes = malloc(c.n * sizeof *c.hashes);
        assert_non_null(c.hashes);
        for (size_t k = 0; k < c.n; k++)
            c.hashes[k] = test_random(1, k);
        for (int64_t at = 0; at < 20; at++) {
            c.watch = (cancel_watch){ .at = at };
            bly_status status = cancel_build(&c);
            each_true(c.kind, !c.watch.fell);
            each_true(c.kind, status == BLY_ECANCELED
                              || (status == BLY_OK && c.watch.calls <= at));
        }
        free(c.hashes);
    }
}

/* A callback may use the library for other filters: their work does not count
 * here, and they have their own callbacks. */
static int cancel_nested(void *context, uint64_t done, uint64_t total)
{
    cancel_watch *w = context, inner = { .at = 0 };
    const bly_progress progress = { cancel_report, &inner };
    bly_filter *filter = NULL;
    uint64_t hashes[2000];
    for (size_t i = 0; i < 2000; i++)
        hashes[i] = test_random(3, i);
    bly_spec spec = { .progress = &progress };
    bly_status status = bly_build(&filter, "fuse", &spec,
                                  &(bly_keys){ .n = 2000, .hashes = hashes });
    assert_true(status == BLY_ECANCELED || inner.calls == 0);
    bly_free(filter);
    return cancel_report(w, done, total);
}

static void test_nested(void **state)
{
    cancel_watch watch = { .at = CANCEL_NEVER };
    const bly_progress progress = { cancel_nested, &watch };
    bly_spec spec = { .capacity = CANCEL_KEYS, .progress = &progress };
    bly_filter *filter = NULL;
    uint64_t *hashes = malloc(CANCEL_KEYS * sizeof *hashes);
    (void)state;
    assert_non_null(hashes);
    for (size_t i = 0; i < CANCEL_KEYS; i++)
        hashes[i] = test_random(4, i);
    assert_status(bly_build(&filter, "standard", &spec,
                            &(bly_keys){ .n = CANCEL_KEYS, .hashes = hashes }),
                                         BLY_OK);
    assert_true(watch.calls > 3 && !watch.fell);
    for (size_t i = 0; i < CANCEL_KEYS; i++)
        assert_true(bly_contains_hash(filter, hashes[i]));
    bly_free(filter);
    free(hashes);
}

/* A union into a mapped filter happens in its file and cannot be cancelled. */
static void test_mapped(void **state)
{
    cancel_watch watch = { .at = 0 };
    const bly_progress progress = { cancel_report, &watch };
    bly_spec spec = { .capacity = CANCEL_KEYS };
    bly_filter *a = each_built("standard", &spec, 1, CANCEL_KEYS / 2);
    bly_filter *b = each_built("standard", &spec, 2, CANCEL_KEYS / 2);
    bly_filter *mapped = NULL;
    (void)state;
    assert_status(bly_save(a, cancel_path), BLY_OK);
    assert_status(bly_open(&mapped, cancel_path, BLY_MAP | BLY_WRITE, NULL),
                  BLY_OK);
    bly_progress_set(mapped, &progress);
    assert_status(bly_unite(mapped, b), BLY_OK);
    assert_true(watch.calls > 0);
    bly_progress_set(mapped, NULL);
    assert_status(bly_unite(a, b), BLY_OK);
    assert_true(each_same(a, mapped));
    bly_free(mapped);
    bly_free(a);
    bly_free(b);
    unlink(cancel_path);
}

/* ---- Files that are worked on page by page ------------------------------- */

/* Some adds and syncs of a paged filter are cancelled; all accepted keys are
 * there in the end. */
static void test_paged(void **state)
{
    bly_spec spec = { .capacity = 80 * CANCEL_KEYS };
    bly_filter *filter = NULL;
    size_t taken = 0;
    int cancelled = 0;
    (void)state;
    assert_status(bly_create(&filter, cancel_path, "buffered", &spec), BLY_OK);
    assert_status(bly_buffer(filter, 65536), BLY_OK);
    for (int64_t at = 0; taken < CANCEL_KEYS; at = (at + 1) % 8) {
        cancel_watch watch = { .at = at };
        const bly_progress progress = { cancel_report, &watch };
        uint64_t hashes[4096];
        size_t n = CANCEL_KEYS - taken < 4096 ? CANCEL_KEYS - taken : 4096;
        size_t done = 0;
        for (size_t i = 0; i < n; i++)
            hashes[i] = test_random(5, taken + i);
        bly_progress_set(filter, &progress);
        bly_status status = bly_add_hashes(filter, hashes, n, NULL, &done);
        if (status == BLY_OK)
            status = at % 2 == 0 ? bly_sync(filter) : bly_seal(filter);
        bly_progress_set(filter, NULL);
        assert_true(status == BLY_OK || status == BLY_ECANCELED);
        cancelled += status == BLY_ECANCELED;
        taken += done;
    }
    assert_true(cancelled > 0);
    assert_status(bly_seal(filter), BLY_OK);
    bly_free(filter);
    assert_status(bly_open(&filter, cancel_path, BLY_PAGED | BLY_VERIFY, NULL),
                  BLY_OK);
    for (size_t i = 0; i < CANCEL_KEYS; i++)
        assert_true(bly_contains_hash(filter, test_random(5, i)));
    bly_free(filter);
    unlink(cancel_path);
}

/* ---- Indexes, and similar rows ------------------------------------------ */

enum { CANCEL_DOCUMENTS = 300, CANCEL_DOCUMENT = 2000 };

/* Makes an index with a callback that cancels call number `at`, and repeats a
 * cancelled add. */
static bly_status cancel_index(cancel_watch *watch, int64_t at)
{
    const bly_progress progress = { cancel_report, watch };
    const bly_index_spec spec = { .memory = 1 << 20, .progress = &progress };
    bly_index_maker *maker = NULL;
    uint64_t hashes[CANCEL_DOCUMENT];
    *watch = (cancel_watch){ .at = at };
    assert_status(bly_index_begin(&maker, cancel_path, &spec), BLY_OK);
    for (uint64_t d = 0; d < CANCEL_DOCUMENTS; ) {
        char name[24];
        int length = snprintf(name, sizeof name, "%u", (unsigned)d);
        const bly_document document = { .name = name,
                                        .length = (size_t)length };
        for (size_t i = 0; i < CANCEL_DOCUMENT; i++)
            hashes[i] = test_random(d, i);
        bly_status status = bly_index_add(maker, &document, hashes,
                                          CANCEL_DOCUMENT);
        assert_true(status == BLY_OK || status == BLY_ECANCELED);
        watch->done = watch->total = 0;
        d += status == BLY_OK;
    }
    return bly_index_end(maker);
}

static void cancel_look(void)
{
    bly_index *index = NULL;
    uint64_t row[(CANCEL_DOCUMENTS + 63) / 64];
    assert_status(bly_index_open(&index, cancel_path, NULL), BLY_OK);
    assert_status(bly_index_verify(index, NULL), BLY_OK);
    for (uint64_t d = 0; d < CANCEL_DOCUMENTS; d++) {
        uint64_t hash = test_random(d, 7), number = CANCEL_DOCUMENTS;
        char name[24];
        bly_document document = { .length = 0 };
        snprintf(name, sizeof name, "%u", (unsigned)d);
        assert_status(bly_index_which(row, index, &hash, 1, 1), BLY_OK);
        for (uint64_t i = 0; i < CANCEL_DOCUMENTS; i++) {
            assert_status(bly_index_document(&document, index, i), BLY_OK);
            if (strlen(name) == document.length
                && memcmp(name, document.name, document.length) == 0)
                number = i;
        }
        assert_true(number < CANCEL_DOCUMENTS
                    && (row[number / 64] >> number % 64 & 1) != 0);
    }
    bly_index_free(index);
}

static void test_index(void **state)
{
    cancel_watch watch;
    int64_t moments = cancel_moments(), calls;
    int cancelled = 0;
    (void)state;
    assert_status(cancel_index(&watch, CANCEL_NEVER), BLY_OK);
    calls = watch.calls;
    for (int64_t i = 0; i < moments; i++) {
        int64_t at = calls - 1 - i * i * (calls - 1) / (moments * moments);
        bly_status status = cancel_index(&watch, at);
        assert_true(status == BLY_OK || status == BLY_ECANCELED);
        cancelled += status == BLY_ECANCELED;
        cancel_look();                  /* the old one, or a whole new one */
    }
    assert_true(cancelled > 0);
    bly_index *index = NULL;
    const bly_progress progress = { cancel_report, &watch };
    assert_status(bly_index_open(&index, cancel_path, NULL), BLY_OK);
    watch = (cancel_watch){ .at = 1 };
    assert_status(bly_index_verify(index, &progress), BLY_ECANCELED);
    assert_true(!watch.fell);
    bly_index_free(index);
    unlink(cancel_path);
}

static void test_similar(void **state)
{
    enum { ROWS = 20000, QUERIES = 16 };
    cancel_watch watch = { .at = CANCEL_NEVER };
    const bly_progress progress = { cancel_report, &watch };
    bly_similar_spec spec = { .most = 3, .threads = 1, .progress = &progress };
    bly_similar out[3 * QUERIES];
    size_t found[QUERIES];
    bly_rows *rows = NULL;
    (void)state;
    assert_status(bly_rows_new(&rows, 256, NULL), BLY_OK);
    for (uint64_t i = 0; i < ROWS; i++) {
        uint64_t bits[4];
        for (uint64_t w = 0; w < 4; w++)
            bits[w] = test_random(i, w);
        assert_status(bly_rows_add(rows, bits, "row"), BLY_OK);
    }
    assert_status(bly_rows_sort(rows), BLY_OK);
    assert_status(bly_similar_find(out, found, rows, rows, 0, QUERIES, &spec),
                  BLY_OK);
    assert_true(watch.calls > QUERIES && !watch.fell);
    for (int64_t at = 0, calls = watch.calls; at < calls; at += calls / 10) {
        watch = (cancel_watch){ .at = at };
        assert_status(bly_similar_find(out, found, rows, rows, 0, QUERIES,
                                       &spec), BLY_ECANCELED);
    }
    bly_rows_free(rows);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind),
        cmocka_unit_test(test_each_format),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_mapped),
        cmocka_unit_test(test_paged),
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_similar),
    };
    return test_run(argc, argv, tests, sizeof tests / sizeof *tests);
}
