/* stack.c - runs every verb of every kind in a thread with a small stack.
 *
 * Threads of small systems have 128 or 64 KiB of stack; the library promises to
 * work with 64. Each kind, with each of its choices, goes through all verbs in
 * such a thread, next to a guard page. An overflow ends the program after it
 * has printed which kind was at work; otherwise it prints the depth reached.
 *
 * Verbs that a kind lacks run, too: their message is made on the same stack.
 */
#include "test.h"
#include "verbs/each.h"
#include "bloomery/advice.h"
#include "bloomery/foreign.h"
#include "bloomery/gaps.h"
#include "bloomery/inline.h"
#include "bloomery/sketch.h"
#include "bloomery/parts.h"
#include "bloomery/paged.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* Sanitizers put redzones around arrays, and without optimisation a compiler
 * gives each value of a vector body its own place. */
#if TEST_SANITIZED || !defined(__OPTIMIZE__)
enum { STACK_BYTES = 2 << 20 };
#else
enum { STACK_BYTES = 64 << 10 };
#endif

enum {
    GUARD = 64 << 10, PAINT = 0xA5,
    KEYS = 6000,                        /* more than any batch takes at once */
    SINGLE = 300,                       /* keys that are added one by one    */
    TEXT = 16, EQUAL = 3000
};

/* The thread's data: too large for its stack. */
static struct {
    char       text[KEYS][TEXT];
    bly_key    key[KEYS];
    uint64_t   hash[KEYS], label[KEYS], number[KEYS];
    bool       answer[KEYS];
    bly_status each[KEYS];
} work;

typedef struct {
    const char *kind;
    bly_spec    spec;                   /* except the capacity               */
    int         failed;                 /* line of the first failure         */
} stack_job;

/* cmocka's asserts use longjmp, which cannot cross threads. */
#define STACK_EXPECT(job, condition)                                           \
    do {                                                                       \
        if (!(condition) && (job)->failed == 0)                                \
            (job)->failed = __LINE__;                                          \
    } while (0)

/* A verb may return any status except BLY_ENOMEM. */
#define STACK_CALL(job, call) STACK_EXPECT(job, (call) != BLY_ENOMEM)

static char stack_path[] = "/tmp/bloomery-stack-XXXXXX";

/* ---- The verbs --------------------------------------------------------- */

static void stack_views(stack_job *job, const bly_filter *f)
{
    bly_inline_blocked blocked;
    bly_inline_split split;
    bly_inline_standard standard;
    bly_inline_fuse fuse;
    bly_inline_cuckoo cuckoo;
    bly_inline_counting counting;
    STACK_CALL(job, bly_inline_blocked_of(&blocked, f));
    STACK_CALL(job, bly_inline_split_of(&split, f));
    STACK_CALL(job, bly_inline_standard_of(&standard, f));
    STACK_CALL(job, bly_inline_fuse_of(&fuse, f));
    STACK_CALL(job, bly_inline_cuckoo_of(&cuckoo, f));
    STACK_CALL(job, bly_inline_counting_of(&counting, f));
}

/* Returns the largest number of keys that the kind can be planned for. */
static uint64_t stack_room(const stack_job *job)
{
    bly_spec spec = job->spec;
    bly_plan_t plan;
    spec.capacity = KEYS;
    while (spec.capacity > 1
           && (bly_plan(&plan, job->kind, &spec) == BLY_ETOOBIG
               || plan.probes > 300))
        spec.capacity /= 2;
    return spec.capacity;
}

static void stack_plans(stack_job *job)
{
    static const double rates[] = { 0, 0.8, 0.1, 1e-3, 1e-6, 1e-9, 2 };
    bly_plan_t plan;
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (uint64_t n = 1; n < UINT64_C(1) << 40; n = n * 1000 + 1) {
            bly_spec spec = job->spec;
            spec.capacity = n;
            spec.rate = rates[r];
            STACK_CALL(job, bly_plan(&plan, job->kind, &spec));
        }
    STACK_EXPECT(job, strlen(bly_why()) > 0);
}

static bool stack_visit(void *context, uint64_t hash, unsigned bits,
                        uint64_t count)
{
    (void)context, (void)hash, (void)bits, (void)count;
    return true;
}

static bool stack_visit_label(void *context, const bly_label_t *label)
{
    (void)context;
    return label->label < 100000;
}

static bool stack_visit_listed(void *context, const bly_listed *listed)
{
    (void)context, (void)listed;
    return true;
}

static bool stack_part(void *context, uint64_t from, void *into, size_t n)
{
    memcpy(into, (const uint8_t *)context + from, n);
    return true;
}

static void stack_ask(stack_job *job, const bly_filter *f, size_t n)
{
    uint64_t label;
    bly_hash(f, work.text[0], 3);
    bly_contains(f, work.text[0], 3);
    bly_contains_hash(f, work.hash[0]);
    bly_contains_hashes(f, work.hash, KEYS, work.answer);
    bly_contains_many(f, &(bly_keys){.n = KEYS, .keys = work.key}, work.answer);
    bly_contains_hashes(f, work.hash, n, work.answer);
    bly_contains_mask(f, work.hash, n, NULL);
    bly_count(f, work.text[0], 3);
    bly_count_hash(f, work.hash[0]);
    bly_count_hashes(f, work.hash, KEYS, work.number);
    bly_count_many(f, &(bly_keys){ .n = KEYS, .keys = work.key }, work.number);
    bly_get(f, work.text[0], 3, &label);
    bly_get_hash(f, work.hash[0], &label);
    bly_get_hashes(f, work.hash, KEYS, work.answer, work.number);
    bly_get_many(f, &(bly_keys){.n = KEYS, .keys = work.key}, work.answer,
                 work.number);
    STACK_EXPECT(job, strlen(bly_kind_of(f)) > 0);
}

static void stack_look(stack_job *job, const bly_filter *f)
{
    bly_info_t stat;
    size_t bytes;
    STACK_CALL(job, bly_info(&stat, f));
    STACK_CALL(job, bly_list_fingerprints(f, stack_visit, NULL));
    STACK_CALL(job, bly_list_labels(f, stack_visit_label, NULL));
    STACK_CALL(job, bly_list_keys(f, stack_visit_listed, NULL));
    STACK_CALL(job, bly_places(f, work.hash, KEYS, work.number, &bytes));
    bly_raw(f, &bytes);
    stack_views(job, f);
}

static void stack_change(stack_job *job, bly_filter *f, size_t n)
{
    STACK_CALL(job, bly_add(f, work.text[0], 3));
    STACK_CALL(job, bly_add_hash(f, work.hash[0]));
    STACK_CALL(job, bly_add_hashes(f, work.hash, n, NULL, NULL));
    STACK_CALL(job, bly_add_many(f, &(bly_keys){.n = n, .keys = work.key}, NULL,
                                 NULL));
    STACK_CALL(job, bly_add_hashes(f, work.hash, n, work.answer, NULL));
    STACK_CALL(job, bly_add_many(f, &(bly_keys){.n = n, .keys = work.key},
                                 work.answer, NULL));
    STACK_CALL(job, bly_put(f, work.text[0], 3, 1));
    STACK_CALL(job, bly_put_hash(f, work.hash[0], 1));
    STACK_CALL(job, bly_put_hashes(f, work.hash, work.label, n, NULL));
    STACK_CALL(job, bly_put_many(f, &(bly_keys){.n = n, .keys = work.key},
                                 work.label, NULL));
    STACK_CALL(job, bly_remove(f, work.text[0], 3));
    STACK_CALL(job, bly_remove_hash(f, work.hash[0]));
    STACK_CALL(job, bly_remove_hashes(f, work.hash, n, work.each));
    STACK_CALL(job, bly_remove_hashes(f, work.hash, n, NULL));
    STACK_CALL(job, bly_remove_many(f, &(bly_keys){.n = n, .keys = work.key},
                                    work.each));
    /* until it is full, or well beyond its plan */
    STACK_CALL(job, bly_add_hashes(f, work.hash, KEYS, NULL, NULL));
    for (size_t i = 0; i < SINGLE; i++)
        STACK_CALL(job, bly_add_hash(f, work.hash[KEYS - 1 - i]));
    STACK_CALL(job, bly_resize(f, 2 * n));
    STACK_CALL(job, bly_fold(f, 1));
    STACK_CALL(job, bly_set_items(f, 3));
    STACK_CALL(job, bly_clear(f));
    if (bly_inline_begin(f) == BLY_OK)
        bly_inline_end(f, 0);
    STACK_CALL(job, bly_seal(f));
    STACK_CALL(job, bly_seal(f));
}

static void stack_combine(stack_job *job, const bly_filter *f)
{
    bly_filter *a = NULL, *b = NULL, *like = NULL;
    bly_overlap_t overlap;
    STACK_CALL(job, bly_copy(&a, f, NULL));
    STACK_CALL(job, bly_copy(&b, f, NULL));
    STACK_CALL(job, bly_like(&like, f, NULL));
    if (a != NULL && b != NULL) {
        STACK_CALL(job, bly_overlap(&overlap, a, b));
        STACK_CALL(job, bly_unite(a, b));
        STACK_CALL(job, bly_unite_at(a, b, 1));
        STACK_CALL(job, bly_intersect(a, b));
        STACK_CALL(job, bly_subtract(a, b));
    }
    bly_free(a);
    bly_free(b);
    bly_free(like);
}

/* Makes the image, packed and unpacked, and reads it back. */
static void stack_images(stack_job *job, const bly_filter *f)
{
    size_t bytes, used = 0;
    const void *image = bly_image(f, &bytes);
    void *packed = malloc(bytes);
    bly_filter *other = NULL;
    STACK_EXPECT(job, bly_check(image, bytes, NULL) == BLY_OK);
    STACK_EXPECT(job, bly_check(image, bytes - 1, NULL) < 0);
    STACK_EXPECT(job, bly_wrap(&other, image, bytes, NULL) == BLY_OK);
    bly_free(other);
    if (packed == NULL
        || bly_pack(f, packed, bytes, &used) != BLY_OK
        || bly_unpack(&other, packed, used, NULL) != BLY_OK)
        job->failed = __LINE__;
    else
        bly_free(other);
    free(packed);
    STACK_CALL(job, bly_save_parts(f, stack_path, 3, stack_part,
                                   (void *)(uintptr_t)bly_raw(f, NULL)));
}

static void stack_files(stack_job *job, const bly_filter *f, size_t n)
{
    static const int flags[] = {
        0, BLY_MAP, BLY_MAP | BLY_VERIFY, BLY_MAP | BLY_WRITE, BLY_PAGED,
        BLY_PAGED | BLY_WRITE,
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        bly_filter *other = NULL;
        STACK_EXPECT(job, bly_save(f, stack_path) == BLY_OK);
        STACK_CALL(job, bly_open(&other, stack_path, flags[i], NULL));
        if (other == NULL)
            continue;
        STACK_CALL(job, bly_buffer(other, 4096));
        stack_ask(job, other, n);
        stack_look(job, other);
        stack_change(job, other, n);
        stack_ask(job, other, n);
        bly_free(other);
    }
}

static void stack_filter(stack_job *job, bly_filter *f, size_t n)
{
    stack_ask(job, f, n);
    stack_look(job, f);
    stack_images(job, f);
    stack_combine(job, f);
    stack_files(job, f, n);
    stack_change(job, f, n);
    stack_ask(job, f, n);
    stack_look(job, f);
    stack_combine(job, f);
    bly_free(f);
}

/* Makes it empty, in memory and in a file, and fills it. */
static void stack_made(stack_job *job, uint64_t room)
{
    bly_filter *f = NULL;
    bly_spec spec = job->spec;
    spec.capacity = room;
    STACK_CALL(job, bly_new(&f, job->kind, &spec));
    if (f != NULL)
        stack_filter(job, f, room);
    spec.flags = BLY_SHARED;
    f = NULL;
    STACK_CALL(job, bly_new(&f, job->kind, &spec));
    if (f != NULL)
        stack_change(job, f, room);
    bly_free(f);
    spec.flags = 0;
    f = NULL;
    unlink(stack_path);
    STACK_CALL(job, bly_create(&f, stack_path, job->kind, &spec));
    if (f != NULL) {
        stack_change(job, f, room);
        stack_ask(job, f, room);
        stack_look(job, f);
    }
    bly_free(f);
}

/* Builds it with and without labels, and from keys with many duplicates. */
static void stack_built(stack_job *job, uint64_t room)
{
    bly_filter *f = NULL;
    STACK_CALL(job,
               bly_build(&f, job->kind, &job->spec,
                         &(bly_keys){ .n = room, .hashes = work.hash }));
    STACK_EXPECT(job, f != NULL);
    if (f != NULL)
        stack_filter(job, f, room);
    f = NULL;
    STACK_CALL(job, bly_build(&f, job->kind, &job->spec,
                              &(bly_keys){ .n = room, .hashes = work.hash,
                                           .labels = work.label }));
    if (f != NULL)
        stack_filter(job, f, room);
    for (size_t i = 0; i < KEYS; i++)
        work.number[i] = i < EQUAL ? 77 : work.hash[i];
    f = NULL;
    STACK_CALL(job, bly_build(&f, job->kind, &job->spec,
                              &(bly_keys){ .n = room > EQUAL ? room : 2,
                                           .hashes = work.number }));
    bly_free(f);
}

/* ---- The small stack --------------------------------------------------- */

static void *stack_run(void *context)
{
    stack_job *job = context;
    uint64_t room = stack_room(job);
    stack_plans(job);
    stack_made(job, room);
    stack_built(job, room);
    return NULL;
}

/* Returns how much of a painted, downward-growing stack has changed. */
static size_t stack_depth(const uint8_t *stack)
{
    size_t left = 0;
    while (left < STACK_BYTES && stack[left] == PAINT)
        left++;
    return STACK_BYTES - left;
}

/* Runs it in a thread of its own; returns the depth reached. */
static size_t stack_thread(void *(*run)(void *context), void *context)
{
    pthread_t thread;
    pthread_attr_t attributes;
    uint8_t *all = mmap(NULL, GUARD + STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(all != MAP_FAILED);
    memset(all + GUARD, PAINT, STACK_BYTES);
    assert_int_equal(mprotect(all, GUARD, PROT_NONE), 0);
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstack(&attributes, all + GUARD,
                                           STACK_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run, context), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    size_t depth = stack_depth(all + GUARD);
    munmap(all, GUARD + STACK_BYTES);
    return depth;
}

static void stack_kind(const char *kind, const bly_spec *spec)
{
    stack_job job = { .kind = kind, .spec = *spec };
    printf("  %-40s", kind);
    fflush(stdout);
    size_t depth = stack_thread(stack_run, &job);
    printf(" %6zu bytes\n", depth);
    if (job.failed != 0)
        fail_msg("%s: not what was expected in line %d", kind, job.failed);
}

/* Tries each word of an option; an option without a rate gets a size. */
static void stack_option(const char *kind, const bly_option_info *o,
                         const bly_spec *spec)
{
    char range[256], name[EACH_NAME], *rest;
    snprintf(range, sizeof range, "%s", o->range);
    for (char *word = strtok_r(range, " |", &rest); word != NULL;
         word = strtok_r(NULL, " |", &rest)) {
        if (each_named(name, kind, o->name, word))
            stack_kind(name, spec);
    }
}

/* The program's arguments: its share of the work (test_mine). */
static int stack_argc;
static char **stack_argv;

/* Runs all kinds with every word of their options under this spec. */
static void stack_kinds(const bly_spec *spec)
{
    const bly_kind_info *const *kinds = bly_kinds(NULL);
    for (size_t i = 0; kinds[i] != NULL; i++) {
        const bly_option_info *const *o = kinds[i]->options;
        if (!test_mine(stack_argc, stack_argv, i))
            continue;
        stack_kind(kinds[i]->name, spec);
        for (; *o != NULL && test_work(true, true, false); o++)
            if (strchr((*o)->range, '|') != NULL)
                stack_option(kinds[i]->name, *o, spec);
    }
}

static void test_every_verb_of_every_kind(void **state)
{
    (void)state;
    bly_spec spec = { .seed = 7, .threads = 1 };
    stack_kinds(&spec);
}

/* Kinds and options that need more stack somewhere than any above. */
static void test_large_choices(void **state)
{
    (void)state;
    static const struct { const char *kind; double rate; } rows[] = {
        { "compaction", 0.4 }, { "compaction:load=85", 0.01 },
        { "cuckoo:f=32", 0 }, { "blocked", 0.9 }, { "standard:k=64", 0 },
        { "spatial:areas=65535", 0 }, { "gcs", 1e-6 }, { "gcs", 0.3 },
        { "ribbon", 1e-8 }, { "bloomier:bits=32", 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bly_spec spec = { .rate = rows[i].rate, .threads = 1 };
        if (!test_mine(stack_argc, stack_argv, i))
            continue;
        stack_kind(rows[i].kind, &spec);
    }
}

static void *stack_gaps(void *context)
{
    static uint8_t code[1 << 16];
    stack_job *job = context;
    size_t bytes = 0;
    uint64_t number;
    bly_gaps list;
    bly_filter *none = NULL;
    for (size_t i = 0; i < KEYS; i++)
        work.number[i] = 1000 * i;
    STACK_EXPECT(job, bly_gaps_room(KEYS, 1000 * KEYS, 0) <= sizeof code);
    STACK_EXPECT(job, bly_gaps_pack(code, sizeof code, &bytes, work.number,
                                    KEYS, 1000 * KEYS, 0) == BLY_OK);
    STACK_EXPECT(job, bly_gaps_open(&list, code, bytes, 1000 * KEYS) == BLY_OK);
    while (bly_gaps_next(&list, &number))
        STACK_EXPECT(job, number % 1000 == 0);
    STACK_EXPECT(job, bly_gaps_end(&list) == BLY_OK);
    STACK_EXPECT(job, strlen(bly_version()) > 0);
    STACK_EXPECT(job, strlen(bly_strerror(BLY_EFULL)) > 0);
    STACK_EXPECT(job, bly_open(&none, "/nowhere", 0, NULL) == BLY_EIO);
    STACK_EXPECT(job, strlen(bly_why()) > 0);
    bly_need need = { .capacity = 1000000 };
    bly_ranking *ranking;
    STACK_EXPECT(job, bly_advise(&ranking, &need) == BLY_OK);
    bly_threshold threshold = { .capacity = 1000000, .times = 65535 };
    bly_threshold_plan planned;
    STACK_EXPECT(job, bly_plan_threshold(&planned, &threshold) == BLY_OK);
    bly_ranking_free(ranking);
    return NULL;
}

/* Extra calls for other systems' filters. */
static void *stack_attach(void *context)
{
    stack_job *job = context;
    bly_spec spec = { .capacity = KEYS, .rate = 0.01 };
    bly_filter *f = NULL;
    const void *data;
    size_t bytes = 0;
    STACK_EXPECT(job, bly_new(&f, "dcso", &spec) == BLY_OK);
    STACK_EXPECT(job, bly_attach(f, work.text, sizeof work.text) == BLY_OK);
    STACK_EXPECT(job, bly_attached(&data, &bytes, f) == BLY_OK);
    STACK_EXPECT(job, bytes == sizeof work.text);
    STACK_EXPECT(job, bly_save_as(f, stack_path, "bloomery") == BLY_OK);
    STACK_EXPECT(job, bly_save_as(f, stack_path, "guava") < 0);
    STACK_EXPECT(job, bly_recognise(work.text, sizeof work.text, 4096) == NULL);
    STACK_EXPECT(job, bly_formats(&bytes) != NULL && bytes > 0);
    bly_free(f);
    return NULL;
}

static void test_verbs_of_no_kind(void **state)
{
    (void)state;
    stack_job job = { .failed = 0 };
    printf("  other systems' filters %zu bytes\n",
           stack_thread(stack_attach, &job));
    printf("  lists of numbers, advice %zu bytes\n",
           stack_thread(stack_gaps, &job));
    assert_int_equal(job.failed, 0);
}

static int stack_setup(void **state)
{
    (void)state;
    int file = mkstemp(stack_path);
    for (size_t i = 0; i < KEYS; i++) {
        int length = snprintf(work.text[i], TEXT, "%zu", 100 + i);
        work.key[i] = (bly_key){ work.text[i], (size_t)length };
        work.hash[i] = test_random(1, i);
        work.label[i] = i % 2;
    }
    return file < 0 ? -1 : close(file);
}

static int stack_teardown(void **state)
{
    (void)state;
    unlink(stack_path);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verbs_of_no_kind),
        cmocka_unit_test(test_every_verb_of_every_kind),
        cmocka_unit_test(test_large_choices),
    };
    stack_argc = argc, stack_argv = argv;
    return cmocka_run_group_tests_name("stack", tests, stack_setup,
                                       stack_teardown);
}
