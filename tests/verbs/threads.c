/* threads.c - the header's promises about threads, for every kind: many readers
 * of one filter, and many threads adding to a shared one. The thread sanitizer
 * watches if built in.
 */
#include "test.h"
#include "bloomery/paged.h"
#include "bloomery/sketch.h"

#include <pthread.h>
#include <unistd.h>

#include "verbs/each.h"

enum { THREADS = 4, KEYS = 600, STREAM = 61 };

static const char *threads_kind;
static char threads_path[64];

static int threads_setup(void **state)
{
    (void)state;
    snprintf(threads_path, sizeof threads_path, "verbs-threads-%ld.bly",
             (long)getpid());
    return 0;
}

/* A thread: its number, and its first error, as cmocka's asserts only work in
 * the main thread. */
typedef struct {
    bly_filter *filter;
    unsigned    number;
    unsigned    wrong;
    uint8_t    *image, *packed, *saved;
    size_t      bytes, packed_bytes, saved_bytes;
    bly_info_t  stat;
    pthread_barrier_t *start;
} threads_job;

static void threads_run_all(threads_job jobs[THREADS], void *(*work)(void *),
                            bly_filter *filter)
{
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    for (unsigned t = 0; t < THREADS; t++) {
        jobs[t] = (threads_job){ .filter = filter, .number = t,
                                 .start = &start };
        assert_int_equal(pthread_create(&threads[t], NULL, work, &jobs[t]), 0);
    }
    for (unsigned t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    pthread_barrier_destroy(&start);
    for (unsigned t = 0; t < THREADS; t++)
        each_true(threads_kind, jobs[t].wrong == 0);
}

/* ---- Many readers of an unsealed filter --------------------------------- */

static void threads_copy_image(threads_job *job, const bly_filter *filter)
{
    const void *image = bly_image(filter, &job->bytes);
    job->image = malloc(job->bytes);
    job->packed = malloc(job->bytes);
    if (job->image == NULL || job->packed == NULL) {
        job->wrong++;
        return;
    }
    memcpy(job->image, image, job->bytes);
    job->wrong += bly_pack(filter, job->packed, job->bytes,
                           &job->packed_bytes) != BLY_OK;
}

static void threads_save(threads_job *job)
{
    char path[96];
    bly_header h;
    snprintf(path, sizeof path, "%s.%u", threads_path, job->number);
    job->wrong += bly_save(job->filter, path) != BLY_OK;
    job->wrong += bly_peek_file(&h, path) != BLY_OK || !h.sealed;
    FILE *file = fopen(path, "rb");
    job->saved = malloc((size_t)h.bytes);
    if (file != NULL && job->saved != NULL)
        job->saved_bytes = fread(job->saved, 1, (size_t)h.bytes, file);
    if (file != NULL)
        fclose(file);
    unlink(path);
}

static void threads_ask(threads_job *job)
{
    bool present[KEYS], found[KEYS];
    uint64_t hashes[KEYS], counts[KEYS], labels[KEYS];
    for (size_t i = 0; i < KEYS; i++)
        hashes[i] = test_random(STREAM, i);
    bly_contains_hashes(job->filter, hashes, KEYS, present);
    bly_count_hashes(job->filter, hashes, KEYS, counts);
    bly_get_hashes(job->filter, hashes, KEYS, found, labels);
    for (size_t i = 0; i < KEYS; i++) {
        job->wrong += present[i] != bly_contains_hash(job->filter, hashes[i]);
        job->wrong += counts[i] != bly_count_hash(job->filter, hashes[i]);
    }
    job->wrong += bly_info(&job->stat, job->filter) != BLY_OK;
}

/* From the same filter, or like it. */
static void threads_make(threads_job *job)
{
    bly_filter *copy = NULL, *like = NULL;
    bly_overlap_t overlap;
    job->wrong += bly_copy(&copy, job->filter, NULL) != BLY_OK;
    bly_status status = bly_like(&like, job->filter, NULL);
    job->wrong += status != BLY_OK && status != BLY_EUNSUPPORTED;
    if (like != NULL && (bly_can(like) & BLY_CAN_UNITE) != 0)
        job->wrong += bly_unite(like, job->filter) != BLY_OK;
    if (like != NULL && (bly_can(like) & BLY_CAN_OVERLAP) != 0)
        job->wrong += bly_overlap(&overlap, like, job->filter) != BLY_OK;
    if (copy != NULL && job->image == NULL)
        threads_copy_image(job, copy);
    bly_free(copy);
    bly_free(like);
}

/* Each begins with another verb, so that all meet the first sealing. */
static void *threads_read(void *argument)
{
    threads_job *job = argument;
    pthread_barrier_wait(job->start);
    for (unsigned i = 0; i < THREADS; i++)
        switch ((job->number + i) % THREADS) {
        case 0: threads_ask(job);  break;
        case 1: threads_make(job); break;
        case 2: threads_save(job); break;
        default:
            if (job->image == NULL)
                threads_copy_image(job, job->filter);
            break;
        }
    return NULL;
}

static bool threads_equal(const threads_job *a, const threads_job *b)
{
    return a->bytes == b->bytes && a->packed_bytes == b->packed_bytes
        && a->saved_bytes == b->saved_bytes
        && a->saved_bytes == a->packed_bytes
        && memcmp(a->image, b->image, a->bytes) == 0
        && memcmp(a->packed, b->packed, a->packed_bytes) == 0
        && memcmp(a->saved, b->saved, a->saved_bytes) == 0
        && memcmp(a->saved, a->packed, a->saved_bytes) == 0
        && memcmp(&a->stat, &b->stat, sizeof a->stat) == 0;
}

static void threads_visit_read(const char *kind, const bly_kind_info *info)
{
    (void)info;
    threads_kind = kind;
    threads_job jobs[THREADS];
    bly_spec spec = { .rate = 0.001 };
    bly_filter *filter = each_built(kind, &spec, STREAM,
                                    (size_t)each_room(kind, KEYS));
    threads_run_all(jobs, threads_read, filter);
    for (unsigned t = 0; t < THREADS; t++) {
        each_true(kind, threads_equal(&jobs[0], &jobs[t]));
        each_status(kind, bly_check(jobs[t].image, jobs[t].bytes, NULL),
                    BLY_OK);
    }
    for (unsigned t = 0; t < THREADS; t++) {
        free(jobs[t].image);
        free(jobs[t].packed);
        free(jobs[t].saved);
    }
    bly_free(filter);
}

static void test_many_read(void **state)
{
    (void)state;
    each_choice(threads_visit_read);
}

/* ---- Beside a sealing thread -------------------------------------------- */

static bly_filter *threads_own[THREADS];        /* of a single thread */

/* The first makes the checksums; the others read the filter and take it into
 * their own, without locks that would make them wait. */
static void *threads_beside(void *argument)
{
    threads_job *job = argument;
    bly_filter *own = threads_own[job->number];
    bly_overlap_t overlap;
    pthread_barrier_wait(job->start);
    if (job->number == 0) {
        job->wrong += bly_image(job->filter, NULL) == NULL;
        return NULL;
    }
    job->wrong += bly_info(&job->stat, job->filter) != BLY_OK;
    bly_status said[] = {
        bly_unite(own, job->filter), bly_unite_at(own, job->filter, 1),
        bly_intersect(own, job->filter),
        bly_overlap(&overlap, own, job->filter),
        bly_subtract(own, job->filter),
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        job->wrong += said[i] != BLY_OK && said[i] != BLY_EUNSUPPORTED
                   && said[i] != BLY_EFULL;
    return NULL;
}

static void threads_visit_beside(const char *kind, const bly_kind_info *info)
{
    (void)info;
    threads_kind = kind;
    threads_job jobs[THREADS];
    bly_spec spec = { .rate = 0.001 };
    bly_filter *filter = each_built(kind, &spec, STREAM,
                                    (size_t)each_room(kind, KEYS));
    for (unsigned t = 0; t < THREADS; t++)
        each_status(kind, bly_copy(&threads_own[t], filter, NULL), BLY_OK);
    threads_run_all(jobs, threads_beside, filter);
    for (unsigned t = 0; t < THREADS; t++)
        bly_free(threads_own[t]);
    bly_free(filter);
}

static void test_many_take_from_one(void **state)
{
    (void)state;
    each_choice(threads_visit_beside);
}

/* ---- Many threads add --------------------------------------------------- */

/* Returns whether the file is marked as being written. */
static bool threads_unsealed(void)
{
    bly_header h;
    return bly_peek_file(&h, threads_path) == BLY_OK && !h.sealed;
}

static bool threads_filed;              /* is the filter in a file? */

static uint64_t threads_hash(unsigned thread, size_t i)
{
    return test_random(STREAM + 1, thread * (KEYS / 2) + i);
}

/* Adds keys, half of which a neighbour adds too; each is found once it is
 * in. */
static void *threads_add(void *argument)
{
    threads_job *job = argument;
    uint64_t hashes[KEYS];
    bool present[KEYS], seen[KEYS];
    for (size_t i = 0; i < KEYS; i++)
        hashes[i] = threads_hash(job->number, i);
    pthread_barrier_wait(job->start);
    job->wrong += bly_add_hash(job->filter, hashes[0]) < 0;
    job->wrong += threads_filed && !threads_unsealed();
    size_t third = KEYS / 3;
    job->wrong += bly_add_hashes(job->filter, hashes, third, NULL, NULL) < 0;
    job->wrong += bly_add_hashes(job->filter, hashes + third, third, seen, NULL)
                < 0;
    for (size_t i = 2 * third; i < KEYS; i++) {
        job->wrong += bly_add_hash(job->filter, hashes[i]) < 0;
        job->wrong += !bly_contains_hash(job->filter, hashes[i]);
    }
    bly_contains_hashes(job->filter, hashes, KEYS, present);
    for (size_t i = 0; i < KEYS; i++)
        job->wrong += !present[i];
    return NULL;
}

static void threads_all_there(const bly_filter *filter)
{
    bly_info_t stat;
    each_status(threads_kind, bly_info(&stat, filter), BLY_OK);
    each_true(threads_kind, stat.items_exact);
    each_true(threads_kind, stat.items == THREADS * (KEYS + 1));
    for (unsigned t = 0; t < THREADS; t++)
        for (size_t i = 0; i < KEYS; i++)
            each_true(threads_kind,
                      bly_contains_hash(filter, threads_hash(t, i)));
}

static void threads_visit_shared(const char *kind, const bly_kind_info *info)
{
    if ((info->can & BLY_CAN_SHARE) == 0)
        return;
    threads_job jobs[THREADS];
    threads_kind = kind;
    threads_filed = false;
    bly_spec spec = { .capacity = THREADS * KEYS, .flags = BLY_SHARED };
    bly_filter *filter = NULL;
    each_status(kind, bly_new(&filter, kind, &spec), BLY_OK);
    threads_run_all(jobs, threads_add, filter);
    threads_all_there(filter);
    bly_free(filter);
}

static void test_many_add(void **state)
{
    (void)state;
    each_choice(threads_visit_shared);
}

/* In a file: before the first add returns, whoever made it, the file is marked
 * as being written until it is sealed; and again afterwards. */
static void threads_in_a_file(const char *kind)
{
    threads_job jobs[THREADS];
    threads_kind = kind;
    threads_filed = true;
    bly_spec spec = { .capacity = THREADS * KEYS };
    bly_filter *filter = NULL;
    each_status(kind, bly_new(&filter, kind, &spec), BLY_OK);
    each_status(kind, bly_save(filter, threads_path), BLY_OK);
    bly_free(filter);
    each_status(kind, bly_open(&filter, threads_path,
                               BLY_MAP | BLY_WRITE | BLY_SHARED, NULL),
                BLY_OK);
    each_true(kind, !threads_unsealed());
    threads_run_all(jobs, threads_add, filter);
    each_true(kind, threads_unsealed());
    each_status(kind, bly_seal(filter), BLY_OK);
    each_true(kind, !threads_unsealed());
    threads_all_there(filter);
    each_true(kind, bly_add_hash(filter, threads_hash(0, 0)) == BLY_SEEN);
    each_true(kind, threads_unsealed());
    bly_free(filter);
    each_status(kind, bly_open(&filter, threads_path, 0, NULL), BLY_OK);
    for (unsigned t = 0; t < THREADS; t++)
        each_true(kind, bly_contains_hash(filter, threads_hash(t, KEYS - 1)));
    bly_free(filter);
    unlink(threads_path);
}

/* Repeats this, as another thread is first each time. */
static void threads_visit_mapped(const char *kind, const bly_kind_info *info)
{
    if ((info->can & BLY_CAN_SHARE) == 0 || (info->can & BLY_CAN_PACK) != 0)
        return;
    for (int turn = 0; turn < 5; turn++)
        threads_in_a_file(kind);
}

static void test_many_add_to_a_file(void **state)
{
    (void)state;
    each_choice(threads_visit_mapped);
}

/* ---- Page by page ------------------------------------------------------- */

static void *threads_ask_paged(void *argument)
{
    threads_job *job = argument;
    uint64_t hashes[KEYS];
    bool present[KEYS];
    for (size_t i = 0; i < KEYS; i++)
        hashes[i] = test_random(STREAM, i);
    pthread_barrier_wait(job->start);
    bly_contains_hashes(job->filter, hashes, KEYS, present);
    for (size_t i = 0; i < KEYS; i++)
        job->wrong += !present[i];
    for (size_t i = 0; i < 50; i++)
        job->wrong += !bly_contains_hash(job->filter, hashes[i]);
    job->wrong += bly_info(&job->stat, job->filter) != BLY_OK;
    return NULL;
}

static void threads_visit_paged(const char *kind, const bly_kind_info *info)
{
    if ((info->can & BLY_CAN_PAGE) == 0)
        return;
    threads_kind = kind;
    threads_job jobs[THREADS];
    bly_spec spec = { .capacity = 50 * KEYS };
    bly_filter *filter = NULL;
    unlink(threads_path);
    each_status(kind, bly_create(&filter, threads_path, kind, &spec), BLY_OK);
    for (size_t i = 0; i < KEYS; i++)
        each_status(kind, bly_add_hash(filter, test_random(STREAM, i)),
                    BLY_OK);
    threads_run_all(jobs, threads_ask_paged, filter);   /* not in any filter */
    each_status(kind, bly_sync(filter), BLY_OK);
    threads_run_all(jobs, threads_ask_paged, filter);
    bly_free(filter);
    each_status(kind, bly_open(&filter, threads_path, BLY_PAGED, NULL),
                BLY_OK);
    threads_run_all(jobs, threads_ask_paged, filter);
    bly_free(filter);
    unlink(threads_path);
}

static void test_many_ask_pages(void **state)
{
    (void)state;
    each_choice(threads_visit_paged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_read),
        cmocka_unit_test(test_many_take_from_one),
        cmocka_unit_test(test_many_add),
        cmocka_unit_test(test_many_add_to_a_file),
        cmocka_unit_test(test_many_ask_pages),
    };
    return cmocka_run_group_tests_name("threads", tests, threads_setup, NULL);
}
