/* settings.c - queries one table under several settings of the environment.
 *
 * The library reads the environment once per process, so each setting has its
 * own process. Filters built separately would differ in addresses and perhaps
 * page sizes, and building would take longer than all measurements. So the
 * measuring process calls no library function that decides anything: a child
 * builds the filter and sends its image. Then one child is forked per setting,
 * which sets its variable and wraps that image, whose pages all children share
 * as long as nobody writes. They are queried in turn, once a round, in another
 * order each time; the others sleep.
 *
 * A filter that accepts adds is built with 7/8 of the keys it has room for.
 * Adds go to a copy, whose pages the copying has touched.
 */
#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SETTINGS_BATCH = 4096, SETTINGS_HUGE = 2 << 20, SETTINGS_LEAST = 1000,
       SETTINGS_COPIES = 8 };

const char *const settings_verbs[SETTINGS_VERBS] = {
    [SETTINGS_MEMBERS] = "members", [SETTINGS_STRANGERS] = "strangers",
    [SETTINGS_ADDS] = "adds",
};

static size_t settings_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Between processes ------------------------------------------------- */

/* Reads everything; returns false if the other end is closed. */
static bool settings_read(int from, void *to, size_t bytes)
{
    for (unsigned char *at = to; bytes > 0;) {
        ssize_t got = read(from, at, bytes);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        at += got > 0 ? got : 0;
        bytes -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool settings_write(int to, const void *from, size_t bytes)
{
    for (const unsigned char *at = from; bytes > 0;) {
        ssize_t put = send(to, at, bytes, MSG_NOSIGNAL);
        if (put < 0 && errno != EINTR)
            return false;
        at += put > 0 ? put : 0;
        bytes -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* Forks a child at the other end of *line; returns 0 in the child, like fork.
 * Output is flushed before, so that it is not printed twice. */
static pid_t settings_fork(int *line)
{
    int ends[2];
    fflush(NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        bench_stop("processes", "the system gives no more");
    pid_t child = fork();
    if (child < 0)
        bench_stop("processes", "the system gives no more");
    close(ends[child == 0 ? 0 : 1]);
    *line = ends[child == 0 ? 1 : 0];
    return child;
}

/* A child that ends before it has answered has printed an error, unless it was
 * killed. The other children end with this process. */
static void settings_hear(int line, void *to, size_t bytes)
{
    int status;
    if (settings_read(line, to, bytes))
        return;
    if (wait(&status) > 0 && WIFSIGNALED(status))
        bench_stop("a measuring process", "was killed; is memory short?");
    exit(2);
}

static void settings_end(int line, pid_t child)
{
    close(line);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

bly_processor_t settings_processor(void)
{
    bly_processor_t processor;
    int line;
    pid_t child = settings_fork(&line);
    if (child == 0) {
        bly_processor(&processor);
        _exit(!settings_write(line, &processor, sizeof processor));
    }
    /* Its strings are constants, at equal addresses in both processes. */
    settings_hear(line, &processor, sizeof processor);
    settings_end(line, child);
    return processor;
}

/* ---- The table --------------------------------------------------------- */

/* A child's description of the filter that it has built; the image follows. */
typedef struct {
    uint64_t keys, bytes, can;
} settings_built;

/* The image, on huge pages if available, like the library's own. */
typedef struct {
    settings_built built;
    void  *image, *base;
    size_t mapped;
} settings_table;

/* Returns the most keys whose image is within the requested size. */
static uint64_t settings_capacity(const settings_subject *subject)
{
    uint64_t fits = SETTINGS_LEAST, over = 8 * subject->bytes;
    while (fits + 1 < over) {
        bly_plan_t plan;
        uint64_t middle = fits + (over - fits) / 2;
        bly_spec want = { .capacity = middle, .rate = subject->rate };
        if (bly_plan(&plan, subject->kind, &want) == BLY_OK
            && plan.bytes <= subject->bytes)
            fits = middle;
        else
            over = middle;
    }
    return fits;
}

static void settings_build(const settings_subject *subject, int line)
{
    bly_spec want = { .capacity = settings_capacity(subject),
                      .rate = subject->rate };
    settings_built built = { .can = bly_kind_find(subject->kind)->can };
    built.keys = built.can & BLY_CAN_ADD ? want.capacity - want.capacity / 8
                                         : want.capacity;
    uint64_t *hashes = bench_allocate((size_t)built.keys * sizeof *hashes);
    for (size_t i = 0; i < built.keys; i++)
        hashes[i] = bench_hash(i);
    bly_filter *filter;
    if (bly_build(&filter, subject->kind, &want,
                  &(bly_keys){ .n = (size_t)built.keys, .hashes = hashes }) < 0)
        bench_stop(subject->kind, bly_why());
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    built.bytes = bytes;
    _exit(!settings_write(line, &built, sizeof built)
          || !settings_write(line, image, bytes));
}

static settings_table settings_open(const settings_subject *subject)
{
    settings_table t;
    int line;
    pid_t child = settings_fork(&line);
    if (child == 0)
        settings_build(subject, line);
    settings_hear(line, &t.built, sizeof t.built);
    t.mapped = (size_t)t.built.bytes + SETTINGS_HUGE;
    t.base = mmap(NULL, t.mapped, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t.base == MAP_FAILED)
        bench_stop("memory", "not enough");
    size_t before = SETTINGS_HUGE - (uintptr_t)t.base % SETTINGS_HUGE;
    t.image = (unsigned char *)t.base + before % SETTINGS_HUGE;
#ifdef MADV_HUGEPAGE
    if (t.built.bytes >= SETTINGS_HUGE)
        (void)madvise(t.image, (size_t)t.built.bytes, MADV_HUGEPAGE);
#endif
    settings_hear(line, t.image, (size_t)t.built.bytes);
    settings_end(line, child);
    return t;
}

/* ---- Queries ----------------------------------------------------------- */

/* Numbers of keys that are not in the filter, far above the others. */
static const uint64_t SETTINGS_ABSENT = UINT64_C(1) << 40;
static const uint64_t SETTINGS_FRESH = UINT64_C(1) << 44;

/* Hashes of members, of strangers, and of keys to add. For a small table a few
 * are repeated, so that the table, not the hashes, fills the cache. */
typedef struct {
    uint64_t *hashes[SETTINGS_VERBS];
    size_t    n[SETTINGS_VERBS], repeats[SETTINGS_VERBS];
} settings_questions;

static settings_questions settings_ask(const settings_subject *subject,
                                       const settings_built *built)
{
    enum { FEWEST = 1 << 15 };
    settings_questions q;
    size_t some = (size_t)(built->bytes / 16 + FEWEST);
    size_t n = settings_smaller(subject->asked, some);
    size_t add = settings_smaller(n, (size_t)(built->keys / 16));
    for (size_t verb = 0; verb < SETTINGS_VERBS; verb++) {
        q.n[verb] = verb == SETTINGS_ADDS ? add : n;
        q.repeats[verb] = (subject->asked + n - 1) / n;
        q.hashes[verb] = bench_allocate(n * sizeof(uint64_t));
    }
    q.repeats[SETTINGS_ADDS] = settings_smaller(subject->asked / 4 / add + 1,
                                                SETTINGS_COPIES);
    for (size_t i = 0; i < n; i++) {
        uint64_t draw = bench_hash(~(uint64_t)i);
        q.hashes[SETTINGS_MEMBERS][i] = bench_hash(draw % built->keys);
        q.hashes[SETTINGS_STRANGERS][i] = bench_hash(SETTINGS_ABSENT + i);
        q.hashes[SETTINGS_ADDS][i] = bench_hash(SETTINGS_FRESH + i);
    }
    return q;
}

static void settings_forget(settings_questions *q)
{
    for (size_t verb = 0; verb < SETTINGS_VERBS; verb++)
        free(q->hashes[verb]);
}

/* ---- A setting's child ------------------------------------------------- */

typedef struct {
    bly_filter     *filter;
    const uint64_t *hashes;
    size_t          n, repeats;
} settings_job;

static uint64_t settings_lookups(void *context, unsigned part, unsigned parts)
{
    const settings_job *job = context;
    bool answers[SETTINGS_BATCH];
    uint64_t sum = 0;
    (void)part, (void)parts;
    for (size_t r = 0; r < job->repeats; r++)
        for (size_t i = 0, step; i < job->n; i += step) {
            step = settings_smaller(SETTINGS_BATCH, job->n - i);
            bly_contains_hashes(job->filter, job->hashes + i, step, answers);
            sum += answers[step - 1];
        }
    return sum;
}

static uint64_t settings_adds(void *context, unsigned part, unsigned parts)
{
    const settings_job *job = context;
    (void)part, (void)parts;
    for (size_t i = 0, step; i < job->n; i += step) {
        step = settings_smaller(SETTINGS_BATCH, job->n - i);
        if (bly_add_hashes(job->filter, job->hashes + i, step, NULL, NULL) < 0)
            bench_stop(bly_kind_of(job->filter), bly_why());
    }
    return 0;
}

/* No setting may make a filter lose a key. */
static void settings_verify(const settings_job *job, const char *setting)
{
    bool answers[SETTINGS_BATCH];
    char who[64];
    snprintf(who, sizeof who, "%s, %s", bly_kind_of(job->filter), setting);
    for (size_t i = 0, step; i < job->n; i += step) {
        step = settings_smaller(SETTINGS_BATCH, job->n - i);
        bly_contains_hashes(job->filter, job->hashes + i, step, answers);
        for (size_t j = 0; j < step; j++)
            if (!answers[j])
                bench_stop(who, "a key that was added is not found");
    }
}

/* Returns nanoseconds per key; the first lookups restore what other settings'
 * turns pushed out of the cache. */
static double settings_time_lookups(settings_job job)
{
    settings_job warm = job;
    warm.n = settings_smaller(job.n, 1 << 16);
    warm.repeats = 1;
    bench_sink += settings_lookups(&warm, 0, 1);
    return bench_cost(settings_lookups, &job)
         / ((double)job.n * (double)job.repeats);
}

static double settings_time_adds(settings_job job, const char *setting)
{
    const bly_filter *full = job.filter;
    double taken = 0;
    for (size_t r = 0; r < job.repeats; r++) {
        if (bly_copy(&job.filter, full, NULL) < 0)
            bench_stop(bly_kind_of(full), bly_why());
        taken += bench_cost(settings_adds, &job);
        settings_verify(&job, setting);
        bly_free(job.filter);
    }
    return taken / ((double)job.n * (double)job.repeats);
}

/* Measures the requested verbs until the requests end. */
static void settings_serve(int line, const settings_one *with,
                           const settings_table *table,
                           const settings_questions *q)
{
    settings_job job = { .n = q->n[SETTINGS_MEMBERS],
                         .hashes = q->hashes[SETTINGS_MEMBERS] };
    double ns = 0;
    if (with->variable != NULL && setenv(with->variable, with->value, 1) != 0)
        bench_stop(with->name, "no memory");
    if (bly_wrap(&job.filter, table->image, (size_t)table->built.bytes,
                 NULL) < 0)
        bench_stop(with->name, bly_why());
    settings_verify(&job, with->name);
    for (settings_verb verb; settings_write(line, &ns, sizeof ns)
                             && settings_read(line, &verb, sizeof verb);) {
        job.hashes = q->hashes[verb];
        job.n = q->n[verb];
        job.repeats = q->repeats[verb];
        ns = verb == SETTINGS_ADDS ? settings_time_adds(job, with->name)
                                   : settings_time_lookups(job);
    }
    _exit(0);
}

/* ---- Rounds ------------------------------------------------------------ */

typedef struct {
    pid_t child[SETTINGS_MAX];
    int   line[SETTINGS_MAX];
    size_t n;
} settings_crew;

/* A child must close the lines of earlier children, so that all end with this
 * process. */
static void settings_hire(settings_crew *crew, const settings_one *with,
                          const settings_table *table,
                          const settings_questions *q)
{
    size_t i = crew->n++;
    double ready;
    crew->child[i] = settings_fork(&crew->line[i]);
    if (crew->child[i] == 0) {
        for (size_t j = 0; j < i; j++)
            close(crew->line[j]);
        settings_serve(crew->line[i], with, table, q);
    }
    settings_hear(crew->line[i], &ready, sizeof ready);
}

static void settings_round(const settings_crew *crew, settings_verb verb,
                           size_t round, const bench_case *of,
                           const settings_one *settings)
{
    for (size_t i = 0; i < crew->n; i++) {
        size_t at = (i + 5 * round) % crew->n;
        char what[32];
        double ns;
        at = round % 2 == 0 ? at : crew->n - 1 - at;
        (void)settings_write(crew->line[at], &verb, sizeof verb);
        settings_hear(crew->line[at], &ns, sizeof ns);
        snprintf(what, sizeof what, "%s %s", settings_verbs[verb],
                 settings[at].name);
        table_add(of, what, ns);
    }
}

/* A fast kind has time for more rounds than requested, and needs them, as its
 * samples are short. */
static bool settings_more(const settings_subject *subject, size_t round,
                          double start)
{
    enum { TIMES = 8 };
    return round < subject->rounds
        || (round < TIMES * subject->rounds && round < BENCH_ROUNDS_MAX
            && bench_now() - start < subject->seconds * 1e9);
}

settings_measured settings_measure(const settings_subject *subject,
                                   const settings_one *settings, size_t n)
{
    settings_table table = settings_open(subject);
    settings_questions q = settings_ask(subject, &table.built);
    settings_crew crew = { .n = 0 };
    settings_measured m = {
        .of = { .subject = subject->kind, .keys = table.built.keys,
                .rate = subject->rate, .bytes = table.built.bytes },
        .adds = subject->adds && (table.built.can & BLY_CAN_ADD) != 0,
    };
    for (size_t i = 0; i < n; i++)
        settings_hire(&crew, &settings[i], &table, &q);
    double start = bench_now();
    for (size_t round = 0; settings_more(subject, round, start); round++)
        for (settings_verb verb = 0; verb < SETTINGS_VERBS; verb++)
            if (verb != SETTINGS_ADDS || m.adds)
                settings_round(&crew, verb, round, &m.of, settings);
    for (size_t i = 0; i < n; i++)
        settings_end(crew.line[i], crew.child[i]);
    settings_forget(&q);
    munmap(table.base, table.mapped);
    return m;
}
