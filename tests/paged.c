/* paged.c - a filter worked on inside its file (BLY_PAGED) equals one in
 * memory.
 *
 * A filter in memory gets the same adds; answers are compared at every moment,
 * and bytes after bly_seal. Then come kill -9 at any moment, full disks, and
 * damage.
 */
#include "test.h"
#include "bloomery/paged.h"
#include "bloomery/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/image.h"
#include "io/paged/pages.h"

static char paged_path[64];

static int paged_name(void **state)
{
    (void)state;
    snprintf(paged_path, sizeof paged_path, "paged-%ld.bly", (long)getpid());
    unlink(paged_path);
    return 0;
}

static int paged_remove(void **state)
{
    (void)state;
    unlink(paged_path);
    return 0;
}

static const bly_spec paged_spec = { .capacity = 200000, .rate = 0.01,
                                     .seed = 3 };

/* Creates a new paged filter in its file. */
static bly_filter *paged_create(const char *kind, const bly_spec *spec)
{
    bly_filter *filter = NULL;
    assert_status(bly_create(&filter, paged_path, kind, spec), BLY_OK);
    assert_status(bly_sync(filter), BLY_OK);
    return filter;
}

static bly_filter *paged_open(int flags)
{
    bly_filter *filter = NULL;
    assert_status(bly_open(&filter, paged_path, BLY_PAGED | flags, NULL),
                  BLY_OK);
    return filter;
}

static void paged_hashes(uint64_t *hashes, uint64_t stream, uint64_t first,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        hashes[i] = test_random(stream, first + i);
}

/* ---- Compared with memory ---------------------------------------------- */

static void paged_same_answers(const bly_filter *paged,
                               const bly_filter *whole, uint64_t stream,
                               size_t n)
{
    uint64_t *hashes = malloc(n * sizeof *hashes);
    bool *left = malloc(n), *right = malloc(n);
    assert_true(hashes != NULL && left != NULL && right != NULL);
    paged_hashes(hashes, stream, 0, n);
    bly_contains_hashes(paged, hashes, n, left);
    bly_contains_hashes(whole, hashes, n, right);
    assert_memory_equal(left, right, n);
    for (size_t i = 0; i < 200 && i < n; i++)
        assert_int_equal(bly_contains_hash(paged, hashes[i]), right[i]);
    free(hashes);
    free(left);
    free(right);
}

static void paged_same_stat(const bly_filter *paged, const bly_filter *whole)
{
    bly_info_t a, b;
    assert_status(bly_info(&a, paged), BLY_OK);
    assert_status(bly_info(&b, whole), BLY_OK);
    assert_true(a.items == b.items && a.items_exact == b.items_exact);
    assert_true(a.fill == b.fill && a.rate == b.rate && a.probes == b.probes);
    assert_true(a.distinct == b.distinct && a.distinct_sd == b.distinct_sd);
    assert_true(a.bytes == b.bytes && a.capacity == b.capacity);
}

/* Compares the file byte for byte. */
static void paged_same_file(const bly_filter *whole)
{
    size_t bytes;
    const void *image = bly_image(whole, &bytes);
    uint8_t *file = malloc(bytes + 1);
    FILE *in = fopen(paged_path, "rb");
    assert_true(file != NULL && in != NULL);
    assert_int_equal(fread(file, 1, bytes + 1, in), bytes);
    assert_memory_equal(file, image, bytes);
    fclose(in);
    free(file);
}

/* Adds keys, the last half twice in the same batch: both filters answer
 * alike. */
static void paged_add_each(bly_filter *paged, bly_filter *whole,
                           uint64_t *hashes, size_t n)
{
    bool left[8192], right[8192];
    memcpy(hashes, hashes + n / 2, n / 3 * sizeof *hashes);
    assert_status(bly_add_hashes(paged, hashes, n, left, NULL), BLY_OK);
    assert_status(bly_add_hashes(whole, hashes, n, right, NULL), BLY_OK);
    assert_memory_equal(left, right, n);
}

/* Adds in batches of all sizes; after each, answers equal those in memory,
 * whatever is applied or pending. */
static void paged_differential(const char *kind, size_t memory)
{
    const uint64_t steps = test_work(60, 40, 20);
    bly_filter *paged = paged_create(kind, &paged_spec), *whole = NULL;
    assert_status(bly_new(&whole, kind, &paged_spec), BLY_OK);
    assert_status(bly_buffer(paged, memory), BLY_OK);
    uint64_t in = 0;
    for (uint64_t step = 0; step < steps; step++) {
        uint64_t hashes[8192];
        size_t n = (size_t)(test_random(90, step) % (step % 3 ? 40 : 8192));
        paged_hashes(hashes, 1, in, n);
        if (step % 4 == 2) {
            paged_add_each(paged, whole, hashes, n);
        } else {
            assert_status(bly_add_hashes(paged, hashes, n, NULL, NULL), BLY_OK);
            assert_status(bly_add_hashes(whole, hashes, n, NULL, NULL), BLY_OK);
        }
        in += n;
        paged_same_answers(paged, whole, 1, 3000);
        paged_same_answers(paged, whole, 2 + step, 3000);
        if (step % 20 == 7)
            assert_status(bly_sync(paged), BLY_OK);
        if (step % 20 == 13) {
            paged_same_stat(paged, whole);
            assert_status(bly_seal(paged), BLY_OK);
            paged_same_file(whole);
        }
    }
    bly_free(paged);
    paged_same_file(whole);
    paged = paged_open(BLY_VERIFY);
    paged_same_answers(paged, whole, 1, (size_t)in);
    paged_same_stat(paged, whole);
    assert_true(in > 20000);
    assert_status(bly_add_hash(paged, 1), BLY_EREADONLY);
    bly_free(paged);
    bly_free(whole);
    assert_int_equal(unlink(paged_path), 0);
}

static void paged_is_the_filter_in_memory(void **state)
{
    (void)state;
    static const char *const kinds[] = { "buffered", "buffered:page=16384",
                                         "buffered:page=65536" };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (uint64_t memory = 4096; memory <= 4 << 20;
             memory *= test_work(32, 32, 1024))
            paged_differential(kinds[i], (size_t)memory);
}

/* A saved filter is opened, gets more keys, and is mapped again. */
static void paged_file_is_any_file(void **state)
{
    (void)state;
    uint64_t hashes[5000];
    bly_filter *whole = NULL, *mapped = NULL;
    assert_status(bly_new(&whole, "buffered", &paged_spec), BLY_OK);
    paged_hashes(hashes, 1, 0, 5000);
    assert_status(bly_add_hashes(whole, hashes, 2500, NULL, NULL), BLY_OK);
    assert_status(bly_save(whole, paged_path), BLY_OK);
    bly_filter *paged = paged_open(BLY_WRITE);
    assert_status(bly_add_hashes(paged, hashes + 2500, 2500, NULL, NULL),
                  BLY_OK);
    bly_free(paged);
    assert_status(bly_add_hashes(whole, hashes + 2500, 2500, NULL, NULL),
                  BLY_OK);
    paged_same_file(whole);

    assert_status(bly_open(&mapped, paged_path, BLY_MAP | BLY_WRITE, NULL),
                  BLY_OK);
    paged_hashes(hashes, 2, 0, 100);
    assert_status(bly_add_hashes(mapped, hashes, 100, NULL, NULL), BLY_OK);
    assert_status(bly_add_hashes(whole, hashes, 100, NULL, NULL), BLY_OK);
    bly_free(mapped);
    paged_same_file(whole);
    bly_free(whole);
}

/* All threads find pending keys. */
static const bly_filter *paged_shared;

static void *paged_ask_all(void *answer)
{
    enum { N = 20000 };
    static const size_t piece = 700;
    uint64_t hashes[700];
    bool present[700];
    size_t there = 0;
    for (size_t i = 0; i < N; i += piece) {
        size_t some = N - i < piece ? N - i : piece;
        paged_hashes(hashes, 1, i, some);
        bly_contains_hashes(paged_shared, hashes, some, present);
        for (size_t j = 0; j < some; j++)
            there += present[j];
    }
    *(bool *)answer = there == N;
    return NULL;
}

static void paged_many_threads_ask(void **state)
{
    (void)state;
    enum { N = 20000, THREADS = 6 };
    static uint64_t hashes[N];
    pthread_t threads[THREADS];
    bool all[THREADS] = { false };
    bly_filter *paged = paged_create("buffered", &paged_spec);
    assert_status(bly_buffer(paged, 300000), BLY_OK);
    paged_hashes(hashes, 1, 0, N);
    assert_status(bly_add_hashes(paged, hashes, N, NULL, NULL), BLY_OK);
    paged_shared = paged;
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, paged_ask_all,
                                        &all[i]), 0);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(all[i]);
    }
    bly_free(paged);
}

/* ---- How much is written ----------------------------------------------- */

/* A pass writes no page twice, and none without a new key. */
static void paged_writes_are_bounded(void **state)
{
    (void)state;
    enum { N = 200000 };
    static uint64_t hashes[N];
    bly_filter *paged = paged_create("buffered", &paged_spec);
    bly_info_t stat;
    assert_status(bly_buffer(paged, 24 * 5000), BLY_OK);
    paged_hashes(hashes, 1, 0, N);
    for (size_t i = 0; i < N; i += 100)
        assert_status(bly_add_hashes(paged, hashes + i, 100, NULL, NULL),
                      BLY_OK);
    assert_status(bly_sync(paged), BLY_OK);
    pages_counts c = pages_count(paged);
    assert_status(bly_info(&stat, paged), BLY_OK);
    assert_true(c.room >= 5000);
    assert_true(c.passes <= N / c.room + 1);
    assert_true(c.written <= c.passes * stat.geometry[1]);
    assert_true(c.read == c.written);

    uint64_t before = c.written;
    assert_status(bly_add_hashes(paged, hashes, 3, NULL, NULL), BLY_OK);
    assert_int_equal(pages_count(paged).written, before);
    assert_status(bly_sync(paged), BLY_OK);
    assert_in_range(pages_count(paged).written, before + 1, before + 3);
    bly_free(paged);
}

/* Untouched pages take no space: a filter of 100 GB can be made. */
static void paged_file_is_sparse(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = UINT64_C(80000000000), .rate = 0.01 };
    bly_filter *paged = NULL;
    bly_status status = bly_create(&paged, paged_path, "buffered", &spec);
    if (sizeof(size_t) == 4) {
        assert_said(status, BLY_ETOOBIG);
        assert_true(access(paged_path, F_OK) != 0);
        skip();
    }
    if (status == BLY_EIO)
        skip();                         /* the file system's limit is smaller */
    assert_said(status, BLY_OK);
    uint64_t hashes[100];
    bool present[100];
    paged_hashes(hashes, 1, 0, 100);
    assert_status(bly_add_hashes(paged, hashes, 100, NULL, NULL), BLY_OK);
    assert_status(bly_sync(paged), BLY_OK);
    bly_contains_hashes(paged, hashes, 100, present);
    for (size_t i = 0; i < 100; i++)
        assert_true(present[i]);
    struct stat info;
    assert_int_equal(stat(paged_path, &info), 0);
    assert_true(info.st_size > INT64_C(90000000000));
    assert_true(info.st_blocks < 100000);

    /* Closing it properly would read 100 GB of zeros. */
    assert_int_equal(truncate(paged_path, 0), 0);
    assert_status(bly_seal(paged), BLY_EIO);
    bly_free(paged);
}

/* ---- kill -9 ----------------------------------------------------------- */

enum { PAGED_BATCH = 500 };

/* Adds for ever, flushes now and then, and reports the number flushed. */
static void paged_victim(int tell, uint64_t in, uint64_t seed)
{
    bly_filter *filter;
    if (bly_open(&filter, paged_path, BLY_PAGED | BLY_WRITE, NULL) != BLY_OK
        || bly_buffer(filter, 24 * 3000) != BLY_OK)
        _exit(3);
    for (uint64_t turn = 0;; turn++) {
        uint64_t hashes[PAGED_BATCH], what = test_random(seed, turn) % 8;
        paged_hashes(hashes, 1, in, PAGED_BATCH);
        if (bly_add_hashes(filter, hashes, PAGED_BATCH, NULL, NULL) != BLY_OK)
            _exit(4);
        in += PAGED_BATCH;
        if (what > 1)
            continue;
        if ((what == 0 ? bly_seal(filter) : bly_sync(filter)) != BLY_OK
            || write(tell, &in, sizeof in) != sizeof in)
            _exit(5);
    }
}

/* Returns the last number reported by the dead child. */
static uint64_t paged_told(int heard, uint64_t before)
{
    uint64_t in;
    while (read(heard, &in, sizeof in) == sizeof in)
        before = in;
    close(heard);
    return before;
}

static void paged_all_there(const bly_filter *filter, uint64_t n)
{
    uint64_t hashes[PAGED_BATCH];
    bool present[PAGED_BATCH];
    for (uint64_t i = 0; i < n; i += PAGED_BATCH) {
        paged_hashes(hashes, 1, i, PAGED_BATCH);
        bly_contains_hashes(filter, hashes, PAGED_BATCH, present);
        for (size_t j = 0; j < PAGED_BATCH; j++)
            if (!present[j])
                fail_msg("flushed key %llu is lost",
                         (unsigned long long)(i + j));
    }
}

/* Checks what others see of a killed writer's file, and its keys once it has
 * been opened for writing and closed. */
static void paged_after_kill(uint64_t flushed)
{
    bly_filter *filter = NULL;
    bly_status status = bly_open(&filter, paged_path, BLY_PAGED, NULL);
    assert_true(status == BLY_OK || status == BLY_EUNSEALED);
    if (status == BLY_OK)
        bly_free(filter);
    filter = paged_open(BLY_WRITE);
    paged_all_there(filter, flushed);
    bly_free(filter);
    assert_status(bly_open(&filter, paged_path, BLY_MAP | BLY_VERIFY, NULL),
                  BLY_OK);
    paged_all_there(filter, flushed);
    bly_free(filter);
}

static void paged_survives_kill(void **state)
{
    (void)state;
    const uint64_t rounds = test_work(120, 60, 30);
    uint64_t flushed = 0, told = 0, reach = 25000;      /* microseconds */
    bly_free(paged_create("buffered:page=8192", &paged_spec));
    for (uint64_t round = 0; round < rounds; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            paged_victim(ends[1], flushed, round);
        }
        close(ends[1]);
        usleep((useconds_t)(test_random(91, round) % reach));
        kill(child, SIGKILL);
        int how;
        waitpid(child, &how, 0);
        assert_true(WIFSIGNALED(how));
        uint64_t now = paged_told(ends[0], flushed);
        told += now > flushed;
        if (now <= flushed && reach < 1000000)
            reach *= 2;                 /* a slow machine */
        flushed = now;
        paged_after_kill(flushed);
        if (flushed > 2 * paged_spec.capacity) {
            unlink(paged_path);
            flushed = 0;
            bly_free(paged_create("buffered:page=8192", &paged_spec));
        }
    }
    assert_true(told > rounds / 10);    /* reached often enough */
}

/* Overwrites the file from byte `at` on. */
static void paged_overwrite(off_t at, const void *bytes, size_t n)
{
    int file = open(paged_path, O_RDWR);
    assert_int_equal(pwrite(file, bytes, n, at), n);
    assert_int_equal(close(file), 0);
}

/* Torn pages: some sectors are old and some new. */
static void paged_torn_pages_are_mended(void **state)
{
    (void)state;
    enum { N = 20000, SECTOR = 512 };
    static uint64_t hashes[2 * N];
    bly_filter *paged = paged_create("buffered", &paged_spec), *later = NULL;
    paged_hashes(hashes, 1, 0, 2 * N);
    assert_status(bly_add_hashes(paged, hashes, N, NULL, NULL), BLY_OK);
    bly_free(paged);
    assert_status(bly_open(&later, paged_path, 0, NULL), BLY_OK);
    assert_status(bly_add_hashes(later, hashes + N, N, NULL, NULL), BLY_OK);
    size_t bytes;
    uint8_t *to_be = (uint8_t *)(uintptr_t)bly_image(later, &bytes);

    int file = open(paged_path, O_RDWR);
    for (size_t at = 4096; at < bytes; at += SECTOR)
        if (test_random(92, at) % 2 == 0)
            assert_int_equal(pwrite(file, to_be + at, SECTOR, (off_t)at),
                             SECTOR);
    image_unseal(to_be);
    assert_int_equal(pwrite(file, to_be, IMAGE_HEADER, 0), IMAGE_HEADER);
    close(file);

    bly_filter *none = NULL;
    assert_status(bly_open(&none, paged_path, BLY_MAP, NULL), BLY_EUNSEALED);
    assert_status(bly_open(&none, paged_path, BLY_PAGED, NULL), BLY_EUNSEALED);
    paged = paged_open(BLY_WRITE);
    assert_true(pages_count(paged).torn > 10);
    bly_info_t stat;
    assert_status(bly_info(&stat, paged), BLY_OK);
    assert_false(stat.items_exact);
    for (size_t i = 0; i < N; i++)
        assert_true(bly_contains_hash(paged, hashes[i]));
    bly_free(paged);
    assert_status(bly_open(&none, paged_path, BLY_MAP | BLY_VERIFY, NULL),
                  BLY_OK);
    bly_free(none);
    bly_free(later);
}

/* An empty page whose first sector was not written while others were is
 * half-written like any other, and its keys are kept. */
static void paged_torn_empty_pages_are_mended(void **state)
{
    (void)state;
    static uint64_t hashes[20000];
    static bool present[20000];
    static const uint8_t zeros[4096];
    size_t there = 0, bytes;
    bly_filter *paged = paged_create("buffered", &paged_spec), *whole = NULL;
    paged_hashes(hashes, 1, 0, 20000);
    assert_status(bly_add_hashes(paged, hashes, 20000, NULL, NULL), BLY_OK);
    bly_free(paged);
    assert_status(bly_open(&whole, paged_path, 0, NULL), BLY_OK);
    uint8_t *head = (uint8_t *)(uintptr_t)bly_image(whole, &bytes);
    for (off_t page = 1; page <= 2; page++)
        paged_overwrite(4096 * page, zeros, 512);
    paged_overwrite(4096 * 3, zeros, 4096);     /* an empty page */
    image_unseal(head);
    paged_overwrite(0, head, IMAGE_HEADER);
    paged = paged_open(BLY_WRITE);
    assert_int_equal(pages_count(paged).torn, 2);
    bly_contains_hashes(paged, hashes, 20000, present);
    for (size_t i = 0; i < 20000; i++) {
        uint64_t place;
        assert_status(bly_places(paged, &hashes[i], 1, &place, &bytes),
                      BLY_OK);
        there += present[i] && place < 3 * 4096;
        assert_true(place < 3 * 4096 || present[i] == (place > 3 * 4096));
    }
    assert_true(there > 0);             /* keys with all bits in the rest */
    assert_status(bly_add_hashes(paged, hashes, 20000, NULL, NULL), BLY_OK);
    assert_status(bly_seal(paged), BLY_OK);
    paged_all_there(paged, 20000);
    bly_free(paged);
    paged = paged_open(BLY_VERIFY);
    bly_free(paged);
    bly_free(whole);
}

/* ---- When writing fails ------------------------------------------------ */

/* Limits the size of files; writes beyond it fail with EFBIG. */
static void paged_limit(rlim_t bytes)
{
    struct rlimit limit = { .rlim_cur = bytes, .rlim_max = RLIM_INFINITY };
    signal(SIGXFSZ, bytes == RLIM_INFINITY ? SIG_DFL : SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void paged_full_disk_loses_nothing(void **state)
{
    (void)state;
    enum { N = 30000 };
    static uint64_t hashes[N];
    static const char kind[] = "buffered:page=65536";
    bly_filter *paged = paged_create(kind, &paged_spec), *whole = NULL;
    assert_status(bly_new(&whole, kind, &paged_spec), BLY_OK);
    assert_status(bly_buffer(paged, 24 * 10000), BLY_OK);
    paged_hashes(hashes, 1, 0, N);
    for (size_t limit = 66000; limit < 250000; limit += 35000) {
        paged_limit(limit);
        for (size_t i = 0; i < N; i++) {
            bly_status status = bly_add_hash(paged, hashes[i]);
            assert_true(status == BLY_OK || status == BLY_EIO);
            if (status == BLY_EIO)
                break;
            assert_status(bly_add_hash(whole, hashes[i]), i < 10000
                          && limit > 66000 ? BLY_SEEN : BLY_OK);
        }
        assert_status(bly_sync(paged), BLY_EIO);
        paged_same_answers(paged, whole, 1, N);
        paged_same_answers(paged, whole, 7, N);
    }
    paged_limit(RLIM_INFINITY);
    assert_status(bly_seal(paged), BLY_OK);
    paged_same_file(whole);
    bly_free(paged);
    bly_free(whole);
}

/* ---- Permissions and refusals ------------------------------------------ */

static void paged_one_writer(void **state)
{
    (void)state;
    bly_filter *other = NULL;
    bly_filter *paged = paged_create("buffered", &paged_spec);
    assert_status(bly_open(&other, paged_path, BLY_PAGED | BLY_WRITE, NULL),
                  BLY_EIO);
    assert_non_null(strstr(bly_why(), "another writer"));
    assert_status(bly_open(&other, paged_path, BLY_PAGED, NULL), BLY_EUNSEALED);
    bly_free(paged);
    bly_filter *reader = paged_open(0);
    bly_filter *writer = paged_open(BLY_WRITE);
    assert_status(bly_add_hash(writer, 5), BLY_OK);
    assert_status(bly_sync(writer), BLY_OK);
    assert_true(bly_contains_hash(reader, 5));
    bly_free(reader);
    bly_free(writer);
    assert_null(other);
}

/* A new file appears when it is synced or sealed; until then an old one stays
 * as it was. */
static void paged_comes_whole(void **state)
{
    (void)state;
    bly_filter *made = NULL, *other = NULL;
    for (int round = 0; round < 2; round++) {
        assert_status(bly_create(&made, paged_path, "buffered", &paged_spec),
                      BLY_OK);
        assert_status(bly_add_hash(made, 5), BLY_OK);
        assert_int_equal(access(paged_path, F_OK), -1);
        if (round == 1)
            assert_status(bly_seal(made), BLY_OK);
        bly_free(made);
    }
    assert_int_equal(chmod(paged_path, 0640), 0);
    other = paged_open(0);
    assert_status(bly_create(&made, paged_path, "buffered", &paged_spec),
                  BLY_OK);
    assert_status(bly_add_hash(made, 6), BLY_OK);
    bly_free(made);
    assert_true(bly_contains_hash(other, 5));
    bly_free(other);
    other = paged_open(0);
    assert_true(bly_contains_hash(other, 5));
    assert_false(bly_contains_hash(other, 6));
    assert_status(bly_create(&made, paged_path, "buffered", &paged_spec),
                  BLY_OK);
    assert_status(bly_add_hash(made, 6), BLY_OK);
    assert_status(bly_seal(made), BLY_OK);
    assert_status(bly_add_hash(made, 7), BLY_OK);
    bly_free(made);
    assert_true(bly_contains_hash(other, 5));   /* in the old file            */
    bly_free(other);
    other = paged_open(0);
    assert_false(bly_contains_hash(other, 5));
    assert_true(bly_contains_hash(other, 6));
    assert_true(bly_contains_hash(other, 7));
    bly_free(other);
    struct stat info;
    assert_int_equal(stat(paged_path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_status(bly_create(&made, "/dev/null", "buffered", &paged_spec),
                  BLY_EIO);
    assert_non_null(strstr(bly_why(), "regular file"));
}

static void paged_refusals(void **state)
{
    (void)state;
    bly_filter *none = NULL, *plain = NULL;
    bly_overlap_t overlap;
    uint8_t byte = 0;
    size_t bytes = 7;
    assert_status(bly_create(&none, paged_path, "standard", &paged_spec),
                  BLY_EUNSUPPORTED);
    assert_status(bly_create(&none, paged_path, "nonsense", &paged_spec),
                  BLY_EKIND);
    assert_status(bly_create(&none, paged_path, "buffered", NULL),
                  BLY_EPARAM);          /* no capacity */
    assert_status(bly_create(&none, "no/such/folder", "buffered", &paged_spec),
                  BLY_EIO);
    assert_int_equal(access(paged_path, F_OK), -1);

    bly_filter *paged = paged_create("buffered", &paged_spec);
    assert_status(bly_buffer(paged, 4095), BLY_EPARAM);
    assert_status(bly_copy(&none, paged, NULL), BLY_EUNSUPPORTED);
    assert_status(bly_set_items(paged, 1), BLY_EUNSUPPORTED);
    assert_non_null(strstr(bly_why(), "cannot be given a number of adds"));
    assert_status(bly_save(paged, "elsewhere"), BLY_EUNSUPPORTED);
    assert_status(bly_unite(paged, paged), BLY_EUNSUPPORTED);
    assert_status(bly_intersect(paged, paged), BLY_EUNSUPPORTED);
    assert_status(bly_overlap(&overlap, paged, paged), BLY_EUNSUPPORTED);
    assert_status(bly_remove_hash(paged, 1), BLY_EUNSUPPORTED);
    assert_status(bly_resize(paged, 5), BLY_EUNSUPPORTED);
    assert_null(bly_image(paged, &bytes));
    assert_string_equal(bly_kind_of(paged), "buffered");
    assert_int_equal(bly_count_hash(paged, 1), 0);
    bly_free(paged);

    paged = paged_open(0);
    assert_status(bly_buffer(paged, 1 << 20), BLY_EREADONLY);
    assert_status(bly_seal(paged), BLY_OK);
    bly_free(paged);
    assert_status(bly_open(&none, paged_path, BLY_PAGED | BLY_MAP, NULL),
                  BLY_EPARAM);
    assert_status(bly_open(&none, paged_path, BLY_PAGED | BLY_SHARED, NULL),
                  BLY_EPARAM);
    assert_status(bly_open(&none, ".", BLY_PAGED, NULL), BLY_EIO);
    assert_status(bly_open(&none, "/dev/null", BLY_PAGED, NULL), BLY_EIO);

    assert_status(bly_new(&plain, "standard", &paged_spec), BLY_OK);
    assert_status(bly_buffer(plain, 1 << 20), BLY_EUNSUPPORTED);
    assert_status(bly_sync(plain), BLY_OK);
    assert_status(bly_save(plain, paged_path), BLY_OK);
    assert_status(bly_open(&none, paged_path, BLY_PAGED, NULL),
                  BLY_EUNSUPPORTED);
    bly_free(plain);
    assert_int_equal(truncate(paged_path, 100), 0);
    assert_status(bly_open(&none, paged_path, BLY_PAGED, NULL), BLY_ECORRUPT);
    FILE *out = fopen(paged_path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(&byte, 1, 1, out), 1);
    fclose(out);
    assert_status(bly_open(&none, paged_path, BLY_PAGED, NULL), BLY_EFORMAT);
    assert_null(none);
}

/* ---- Hostile files ----------------------------------------------------- */

static void paged_write_file(const uint8_t *image, size_t bytes)
{
    FILE *out = fopen(paged_path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(image, 1, bytes, out), bytes);
    assert_int_equal(fclose(out), 0);
}

/* Uses it whatever it claims; sanitizers watch. */
static void paged_use(int flags)
{
    uint64_t hashes[300];
    bool present[300];
    bly_info_t stat;
    bly_filter *filter = NULL;
    if (bly_open(&filter, paged_path, BLY_PAGED | flags, NULL) != BLY_OK)
        return;
    paged_hashes(hashes, 6, 0, 300);
    bly_contains_hashes(filter, hashes, 300, present);
    (void)bly_info(&stat, filter);
    if (flags & BLY_WRITE) {
        (void)bly_add_hashes(filter, hashes, 300, NULL, NULL);
        bly_contains_hashes(filter, hashes, 300, present);
        for (size_t i = 0; i < 300; i++)
            assert_true(present[i]);
        (void)bly_sync(filter);
        (void)bly_seal(filter);
    }
    bly_free(filter);
}

static void paged_hostile_files(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 9000, .rate = 0.01 };
    bly_filter *whole = NULL;
    assert_status(bly_new(&whole, "buffered", &spec), BLY_OK);
    for (uint64_t i = 0; i < 9000; i++)
        bly_add_hash(whole, test_random(1, i));
    size_t bytes;
    const void *good = bly_image(whole, &bytes);
    uint8_t *image = malloc(bytes);
    assert_non_null(image);
    for (uint64_t round = 0; round < 600; round++) {
        memcpy(image, good, bytes);
        for (uint64_t i = 0; i <= round % 5; i++) {
            uint64_t draw = test_random(93, 10 * round + i);
            uint64_t where = draw >> 8, range = draw % 4;
            size_t at = (size_t)(range == 0 ? IMAGE_GEOMETRY + where % 32
                               : range == 1 ? IMAGE_HEADER + where % 256
                               : range == 2 ? 4096 * (where % (bytes / 4096))
                                              + (where >> 20) % 128
                               : where % bytes);
            image[at] ^= (uint8_t)(draw | 1);
        }
        image_set_u64(image, IMAGE_BYTES, bytes);   /* or cannot be sealed    */
        if (round % 2 == 0)
            image_seal(image);
        else
            image_unseal(image);
        paged_write_file(image, bytes);
        paged_use(0);
        paged_use(BLY_VERIFY);
        paged_use(BLY_WRITE);
    }
    free(image);
    bly_free(whole);
}

/* Changes a byte of the file. */
static void paged_spoil(off_t at)
{
    int file = open(paged_path, O_RDWR);
    uint8_t byte;
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    close(file);
}

/* Makes a properly closed file of n keys, then damages its fourth page; returns
 * the hashes. */
static void paged_make_spoiled(uint64_t *hashes, size_t n)
{
    bly_filter *paged = paged_create("buffered", &paged_spec);
    paged_hashes(hashes, 1, 0, n);
    assert_status(bly_add_hashes(paged, hashes, n, NULL, NULL), BLY_OK);
    bly_free(paged);
    paged_spoil(3 * 4096 + 1000);
}

/* Checks that it can be closed, and that every verification fails. */
static void paged_is_known_as_damaged(void)
{
    bly_filter *none = NULL;
    assert_status(bly_open(&none, paged_path, BLY_PAGED | BLY_VERIFY, NULL),
                  BLY_ECORRUPT);
    assert_status(bly_open(&none, paged_path, 0, NULL), BLY_ECORRUPT);
    assert_null(none);
}

/* A damaged page answers "perhaps", and flushing reports it. */
static void paged_damage_is_told(void **state)
{
    (void)state;
    enum { N = 20000 };
    static uint64_t hashes[N];
    static bool present[N];
    bly_filter *paged;
    paged_make_spoiled(hashes, N);
    paged_is_known_as_damaged();
    paged = paged_open(BLY_WRITE);
    bly_contains_hashes(paged, hashes, N, present);
    for (size_t i = 0; i < N; i++)
        assert_true(present[i]);
    assert_status(bly_sync(paged), BLY_EIO);
    assert_status(bly_sync(paged), BLY_OK);
    assert_status(bly_add_hashes(paged, hashes, N, NULL, NULL), BLY_OK);
    assert_status(bly_sync(paged), BLY_ECORRUPT);
    assert_non_null(strstr(bly_why(), "page 2 is damaged"));
    bly_contains_hashes(paged, hashes, N, present);
    for (size_t i = 0; i < N; i++)
        assert_true(present[i]);
    bly_free(paged);
    paged_is_known_as_damaged();
}

/* Pages whose header is lost, or is another page's, do the same. */
static void paged_lost_headers_are_told(void **state)
{
    (void)state;
    enum { N = 20000 };
    static uint64_t hashes[N];
    static bool present[N];
    static uint8_t header[IMAGE_HEADER];
    for (int zero = 0; zero < 2; zero++) {
        memset(header, zero ? 0 : 7, sizeof header);
        unlink(paged_path);
        paged_make_spoiled(hashes, N);
        paged_spoil(3 * 4096 + 1000);   /* undone again */
        paged_overwrite(3 * 4096, header, sizeof header);
        bly_filter *paged = paged_open(BLY_WRITE);
        bly_contains_hashes(paged, hashes, N, present);
        for (size_t i = 0; i < N; i++)
            assert_true(present[i]);
        assert_status(bly_sync(paged), BLY_EIO);
        assert_non_null(strstr(bly_why(), "damaged"));
        assert_status(bly_sync(paged), BLY_OK);
        for (size_t i = 0; i < N; i++)
            assert_true(bly_contains_hash(paged, hashes[i]));
        assert_status(bly_seal(paged), BLY_EIO);
        assert_status(bly_add_hashes(paged, hashes, N, NULL, NULL), BLY_OK);
        assert_status(bly_sync(paged), BLY_ECORRUPT);
        bly_free(paged);
        paged_is_known_as_damaged();
    }
}

/* Adds to other pages do not hide damage, however often the file is opened. */
static void paged_damage_stays_known(void **state)
{
    (void)state;
    static uint64_t hashes[20000];
    bly_filter *paged;
    paged_make_spoiled(hashes, 20000);
    for (uint64_t i = 0; i < 12; i++) {
        uint64_t hash = test_random(7, i);
        paged = paged_open(BLY_WRITE);
        assert_status(bly_add_hash(paged, hash), BLY_OK);
        assert_status(bly_seal(paged), BLY_ECORRUPT);
        bly_free(paged);
        paged_is_known_as_damaged();
    }
}

/* Damage found by a lookup does not prevent closing: if left open, the next
 * writer would take the page for a half-written one. */
static void paged_damage_outlives_lookups(void **state)
{
    (void)state;
    static uint64_t hashes[20000];
    static bool present[20000];
    bly_filter *paged;
    paged_make_spoiled(hashes, 20000);
    for (int told = 0; told < 2; told++) {
        uint64_t hash = 0, place = 0;
        size_t bytes;
        paged = paged_open(BLY_WRITE);
        bly_contains_hashes(paged, hashes, 20000, present);
        for (uint64_t i = 0; place == 0 || place == 3 * 4096; i++) {
            hash = test_random(9, i);
            assert_status(bly_places(paged, &hash, 1, &place, &bytes), BLY_OK);
        }
        assert_status(bly_add_hash(paged, hash), BLY_OK);
        if (told)
            assert_status(bly_seal(paged), BLY_ECORRUPT);
        bly_free(paged);
        paged_is_known_as_damaged();
    }
}

/* Sealing fails every time while keys could not be applied. */
static void paged_seal_tells_again(void **state)
{
    (void)state;
    static uint64_t hashes[20000];
    bly_filter *paged;
    paged_make_spoiled(hashes, 20000);
    paged = paged_open(BLY_WRITE);
    assert_status(bly_add_hashes(paged, hashes, 20000, NULL, NULL), BLY_OK);
    assert_status(bly_seal(paged), BLY_ECORRUPT);
    assert_status(bly_seal(paged), BLY_ECORRUPT);
    bly_free(paged);
    paged_is_known_as_damaged();
}

/* ---- No memory --------------------------------------------------------- */

typedef struct { uint64_t left, live; } paged_memory;

static void *paged_allocate(void *context, size_t alignment, size_t bytes)
{
    paged_memory *m = context;
    void *memory = NULL;
    if (m->left == 0 || posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
    m->left--;
    m->live++;
    return memory;
}

static void paged_give_back(void *context, void *memory, size_t bytes)
{
    (void)bytes;
    ((paged_memory *)context)->live--;
    free(memory);
}

static void paged_without_memory(void **state)
{
    (void)state;
    paged_memory m = { 0, 0 };
    bly_allocator allocator = { paged_allocate, paged_give_back, &m };
    bly_spec spec = paged_spec;
    bly_options options = { .allocator = &allocator };
    bly_filter *paged = NULL;
    bly_status status = BLY_ENOMEM;
    spec.allocator = &allocator;
    for (uint64_t allowed = 0; status != BLY_OK; allowed++) {
        m.left = allowed;
        status = bly_create(&paged, paged_path, "buffered", &spec);
        assert_true(status == BLY_OK || status == BLY_ENOMEM);
        assert_true(status == BLY_OK || m.live == 0);
        assert_int_equal(access(paged_path, F_OK), -1);
    }
    uint64_t hashes[500];
    bool present[500];
    m.left = 0;                         /* queries go on, key by key */
    paged_hashes(hashes, 1, 0, 500);
    assert_status(bly_add_hashes(paged, hashes, 500, NULL, NULL), BLY_OK);
    bly_contains_hashes(paged, hashes, 500, present);
    for (size_t i = 0; i < 500; i++)
        assert_true(present[i]);
    assert_status(bly_sync(paged), BLY_OK);
    assert_status(bly_seal(paged), BLY_ENOMEM);
    m.left = 100;
    assert_status(bly_seal(paged), BLY_OK);
    bly_free(paged);
    assert_int_equal(m.live, 0);
    for (uint64_t allowed = 0, ok = false; !ok; allowed++) {
        m.left = allowed;
        status = bly_open(&paged, paged_path, BLY_PAGED | BLY_WRITE, &options);
        assert_true(status == BLY_OK || status == BLY_ENOMEM);
        ok = status == BLY_OK;
    }
    bly_free(paged);
    assert_int_equal(m.live, 0);
}

#define PAGED_TEST(name)                                                       \
    cmocka_unit_test_setup_teardown(name, paged_name, paged_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAGED_TEST(paged_is_the_filter_in_memory),
        PAGED_TEST(paged_file_is_any_file),
        PAGED_TEST(paged_many_threads_ask),
        PAGED_TEST(paged_writes_are_bounded),
        PAGED_TEST(paged_file_is_sparse),
        PAGED_TEST(paged_survives_kill),
        PAGED_TEST(paged_torn_pages_are_mended),
        PAGED_TEST(paged_torn_empty_pages_are_mended),
        PAGED_TEST(paged_full_disk_loses_nothing),
        PAGED_TEST(paged_one_writer),
        PAGED_TEST(paged_comes_whole),
        PAGED_TEST(paged_refusals),
        PAGED_TEST(paged_hostile_files),
        PAGED_TEST(paged_damage_is_told),
        PAGED_TEST(paged_lost_headers_are_told),
        PAGED_TEST(paged_damage_stays_known),
        PAGED_TEST(paged_damage_outlives_lookups),
        PAGED_TEST(paged_seal_tells_again),
        PAGED_TEST(paged_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
