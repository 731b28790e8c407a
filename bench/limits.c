/* limits.c - the machine's limits: lines of memory, streams, hashes.
 *
 * The limit is the time to read a random 64-byte line from a buffer as large as
 * the filter, on pages of the same kind (aligned and with huge pages requested,
 * as in the library), doing nothing but adding up one word of each line. A
 * counter and a multiplication choose the next line, so that no array of
 * indices competes for memory. Lines are prefetched `depth` ahead through a
 * ring of their numbers; depth 0 leaves it to the processor, which looks ahead
 * by itself. The limit is the minimum over depths; the survey finds it, and
 * each round measures the two best again beside every filter.
 *
 * "line fed" (in the CSV) reads the lines of an array of hashes, 64 ahead: it
 * shows how much of a lookup's distance from the limit is due to the array.
 *
 * "write" adds one to a word of each line, which is read, and written back when
 * it leaves the cache.
 */
#include "bench.h"

#include <bloomery.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__GNUC__)
#define LIMITS_INLINE static inline __attribute__((always_inline))
#define LIMITS_FETCH(address)       __builtin_prefetch(address, 0, 3)
#define LIMITS_FETCH_WRITE(address) __builtin_prefetch(address, 1, 3)
#else
#define LIMITS_INLINE static inline
#define LIMITS_FETCH(address)       ((void)(address))
#define LIMITS_FETCH_WRITE(address) ((void)(address))
#endif

enum { LIMITS_HUGE = 2 << 20, LIMITS_WORDS = 8, LIMITS_DEPTHS = 5,
       LIMITS_DEPTH_MAX = 128, LIMITS_FED = 64, LIMITS_SIZES = 64 };

static const unsigned limits_depths[LIMITS_DEPTHS] = { 0, 16, 32, 64, 128 };

/* ---- Buffers ----------------------------------------------------------- */

typedef struct {
    uint64_t *words;
    size_t    bytes, mapped;            /* mapped: 0 if from malloc          */
    void     *base;
} limits_buffer;

static limits_buffer limits_allocate(uint64_t bytes)
{
    limits_buffer b = { .bytes = (size_t)(bytes + 63) / 64 * 64 };
    if (b.bytes < LIMITS_HUGE) {
        if (posix_memalign(&b.base, 64, b.bytes) != 0)
            bench_stop("memory", "not enough");
        b.words = b.base;
    } else {
        b.mapped = b.bytes + LIMITS_HUGE;
        b.base = mmap(NULL, b.mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (b.base == MAP_FAILED)
            bench_stop("memory", "not enough");
        size_t before = LIMITS_HUGE - (uintptr_t)b.base % LIMITS_HUGE;
        b.words = (void *)((unsigned char *)b.base + before % LIMITS_HUGE);
#ifdef MADV_HUGEPAGE
        (void)madvise(b.words, b.bytes, MADV_HUGEPAGE);
#endif
    }
    memset(b.words, 1, b.bytes);
    return b;
}

static void limits_release(limits_buffer *b)
{
    if (b->mapped > 0)
        munmap(b->base, b->mapped);
    else
        free(b->base);
}

/* ---- Random lines ------------------------------------------------------ */

typedef struct {
    limits_buffer buffer;
    unsigned depth;
    bool     write;
    uint64_t count;                     /* lines, all parts together         */
    const uint64_t *hashes;             /* `count` of them, for limits_fed   */
} limits_job;

LIMITS_INLINE size_t limits_next(uint64_t *state, uint64_t lines)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t mixed = (*state ^ *state >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (size_t)((mixed >> 32) * lines >> 32) * LIMITS_WORDS;
}

LIMITS_INLINE void limits_fetch(const uint64_t *line, const bool write)
{
    if (write)
        LIMITS_FETCH_WRITE(line);
    else
        LIMITS_FETCH(line);
}

/* Callers pass constants for `depth` and `write`. */
LIMITS_INLINE uint64_t limits_lines(const limits_job *job, uint64_t count,
                                    uint64_t state, const unsigned depth,
                                    const bool write)
{
    uint64_t *words = job->buffer.words, lines = job->buffer.bytes / 64;
    uint64_t sum = 0;
    size_t ring[LIMITS_DEPTH_MAX];
    for (unsigned i = 0; i < depth; i++) {
        ring[i] = limits_next(&state, lines);
        limits_fetch(words + ring[i], write);
    }
    for (uint64_t i = 0; i < count; i++) {
        size_t at, new = limits_next(&state, lines);
        if (depth == 0) {
            at = new;
        } else {
            at = ring[i % (depth != 0 ? depth : 1)];
            ring[i % (depth != 0 ? depth : 1)] = new;
            limits_fetch(words + new, write);
        }
        sum += words[at];
        if (write)
            words[at]++;
    }
    return sum;
}

static uint64_t limits_read_at(const limits_job *job, uint64_t n, uint64_t s)
{
    switch (job->depth) {
    case 16:  return limits_lines(job, n, s, 16, false);
    case 32:  return limits_lines(job, n, s, 32, false);
    case 64:  return limits_lines(job, n, s, 64, false);
    case 128: return limits_lines(job, n, s, 128, false);
    default:  return limits_lines(job, n, s, 0, false);
    }
}

static uint64_t limits_write_at(const limits_job *job, uint64_t n, uint64_t s)
{
    switch (job->depth) {
    case 16:  return limits_lines(job, n, s, 16, true);
    case 32:  return limits_lines(job, n, s, 32, true);
    case 64:  return limits_lines(job, n, s, 64, true);
    case 128: return limits_lines(job, n, s, 128, true);
    default:  return limits_lines(job, n, s, 0, true);
    }
}

static uint64_t limits_random(void *context, unsigned part, unsigned parts)
{
    const limits_job *job = context;
    uint64_t start = bench_hash((uint64_t)bench_now() + part);
    uint64_t n = job->count / parts;
    return job->write ? limits_write_at(job, n, start)
                      : limits_read_at(job, n, start);
}

static uint64_t limits_stream(void *context, unsigned part, unsigned parts)
{
    const limits_job *job = context;
    size_t words = job->buffer.bytes / 8;
    uint64_t sum = 0;
    (void)part, (void)parts;
    for (uint64_t left = job->count; left > 0;)
        for (size_t i = 0; i < words && left > 0; i += LIMITS_WORDS, left--)
            sum += job->buffer.words[i];
    return sum;
}

/* Reads the lines of an array of hashes, like a batch: this includes the
 * array's own way through the cache. */
static uint64_t limits_fed(void *context, unsigned part, unsigned parts)
{
    const limits_job *job = context;
    const uint64_t *words = job->buffer.words;
    uint64_t lines = job->buffer.bytes / 64, sum = 0;
    size_t ring[LIMITS_FED] = { 0 };
    (void)part, (void)parts;
    for (uint64_t i = 0; i < job->count; i++) {
        size_t new = (size_t)((job->hashes[i] >> 32) * lines >> 32)
                   * LIMITS_WORDS;
        sum += words[ring[i % LIMITS_FED]];
        ring[i % LIMITS_FED] = new;
        LIMITS_FETCH(words + new);
    }
    return sum;
}

static double limits_line_time(limits_job *job, unsigned depth, bool write,
                               unsigned threads)
{
    job->depth = depth;
    job->write = write;
    double taken = threads > 1 ? bench_time(limits_random, job, threads)
                               : bench_cost(limits_random, job);
    return taken / (double)job->count;
}

/* ---- Survey ------------------------------------------------------------ */

/* The two best depths for reading and for writing, for sizes near `bytes`. */
typedef struct {
    uint64_t bytes;
    unsigned read[2], write[2];
} limits_choice;

static limits_choice limits_choices[LIMITS_SIZES];
static size_t limits_choice_count;

static const char *limits_name(unsigned depth, bool write)
{
    static char name[24];
    snprintf(name, sizeof name, "%s %u", write ? "write" : "read", depth);
    return name;
}

static double limits_measured(const bench_case *of, unsigned depth, bool write)
{
    return table_median(table_find(of->subject, of->keys, of->rate,
                                   limits_name(depth, write)));
}

static void limits_best(unsigned best[2], const bench_case *of, bool write)
{
    double time[2] = { INFINITY, INFINITY };
    best[0] = best[1] = 0;
    for (size_t i = 0; i < LIMITS_DEPTHS; i++) {
        double t = limits_measured(of, limits_depths[i], write);
        if (t < time[0]) {
            time[1] = time[0], best[1] = best[0];
            time[0] = t, best[0] = limits_depths[i];
        } else if (t < time[1]) {
            time[1] = t, best[1] = limits_depths[i];
        }
    }
}

static void limits_survey_round(const bench_case *of, limits_job *job,
                                unsigned threads)
{
    for (size_t i = 0; i < 2 * LIMITS_DEPTHS; i++) {
        unsigned depth = limits_depths[i / 2];
        bool write = i % 2 != 0;
        table_add(of, limits_name(depth, write),
                  limits_line_time(job, depth, write, 1));
    }
    table_add(of, "stream", bench_cost(limits_stream, job)
                            / (double)job->count);
    char name[24];
    snprintf(name, sizeof name, "read %u threads", threads);
    unsigned best[2];
    limits_best(best, of, false);
    table_add(of, name, limits_line_time(job, best[0], false, threads));
}

static void limits_survey_line(const bench_case *of, unsigned threads)
{
    char name[24];
    snprintf(name, sizeof name, "read %u threads", threads);
    printf("%9.1f ", (double)of->bytes / (1 << 20));
    for (size_t i = 0; i < LIMITS_DEPTHS; i++)
        printf("%6.2f", limits_measured(of, limits_depths[i], false));
    printf(" ");
    for (size_t i = 0; i < LIMITS_DEPTHS; i++)
        printf("%6.2f", limits_measured(of, limits_depths[i], true));
    printf("%9.2f%9.2f\n",
           table_median(table_find(of->subject, of->keys, of->rate, name)),
           table_median(table_find(of->subject, of->keys, of->rate,
                                   "stream")));
    fflush(stdout);
}

static void limits_survey_size(uint64_t keys, double rate,
                               const bench_plan *plan)
{
    bly_plan_t planned;
    bly_spec want = { .capacity = keys, .rate = rate };
    if (limits_choice_count == LIMITS_SIZES
        || bly_plan(&planned, "standard", &want) < 0)
        return;
    bench_case of = { .subject = "machine", .keys = keys, .rate = rate,
                      .bytes = planned.bytes };
    limits_job job = { .buffer = limits_allocate(planned.bytes),
                       .count = plan->asked };
    for (size_t round = 0; round < plan->rounds; round++)
        limits_survey_round(&of, &job, plan->threads);
    limits_choice *choice = &limits_choices[limits_choice_count++];
    choice->bytes = planned.bytes;
    limits_best(choice->read, &of, false);
    limits_best(choice->write, &of, true);
    limits_survey_line(&of, plan->threads);
    limits_release(&job.buffer);
}

/* ---- Hashing ----------------------------------------------------------- */

enum { LIMITS_TEXT = 1 << 16, LIMITS_KEY_MAX = 64 };

typedef struct {
    const bly_filter *filter;
    const unsigned char *text;
    size_t length;
    uint64_t count;
} limits_hashing;

static uint64_t limits_hash(void *context, unsigned part, unsigned parts)
{
    const limits_hashing *job = context;
    uint64_t sum = 0;
    (void)part, (void)parts;
    for (uint64_t i = 0; i < job->count; i++)
        sum += bly_hash(job->filter, job->text + i * 8 % LIMITS_TEXT,
                        job->length);
    return sum;
}

static void limits_hashes(const bench_plan *plan)
{
    static const size_t lengths[] = { 8, 32, 64 };
    const size_t room = LIMITS_TEXT + LIMITS_KEY_MAX;
    unsigned char *text = bench_allocate(room);
    for (size_t i = 0; i < room; i++)
        text[i] = (unsigned char)bench_hash(i);
    bly_filter *filter;
    bly_spec want = { .capacity = 1000 };
    if (bly_new(&filter, "standard", &want) < 0)
        bench_stop("hashing", bly_why());
    printf("\nXXH3 through bly_hash, ns a key:");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        limits_hashing job = { filter, text, lengths[i], plan->asked };
        char name[24];
        snprintf(name, sizeof name, "hash %zu", lengths[i]);
        bench_case of = { .subject = "machine", .bytes = lengths[i] };
        for (size_t round = 0; round < plan->rounds; round++)
            table_add(&of, name, bench_cost(limits_hash, &job)
                                 / (double)job.count);
        printf("  %zu bytes %.2f", lengths[i],
               table_median(table_find("machine", 0, 0, name)));
    }
    printf("\n\n");
    bly_free(filter);
    free(text);
}

void limits_survey(const bench_plan *plan)
{
    printf("The machine: random 64-byte lines, ns a line, by depth of "
           "prefetch\n\n%9s %30s %30s%9s%9s\n%9s ", "MiB", "read", "write",
           "read by", "stream", "");
    for (size_t i = 0; i < 2 * LIMITS_DEPTHS; i++)
        printf("%6u%s", limits_depths[i % LIMITS_DEPTHS],
               i + 1 == LIMITS_DEPTHS ? " " : "");
    printf("%3u %s\n", plan->threads, "threads");
    for (size_t k = 0; k < plan->key_count; k++)
        for (size_t r = 0; r < plan->rate_count; r++)
            limits_survey_size(plan->keys[k], plan->rates[r], plan);
    limits_hashes(plan);
}

static const limits_choice *limits_near(uint64_t bytes)
{
    const limits_choice *near = &limits_choices[0];
    for (size_t i = 1; i < limits_choice_count; i++)
        if (fabs(log((double)limits_choices[i].bytes / (double)bytes))
            < fabs(log((double)near->bytes / (double)bytes)))
            near = &limits_choices[i];
    return near;
}

void limits_again(const bench_case *of, const bench_plan *plan,
                  const bench_questions *questions)
{
    const limits_choice *choice = limits_near(of->bytes);
    limits_job job = { .buffer = limits_allocate(of->bytes),
                       .count = plan->asked };
    double read = INFINITY, write = INFINITY;
    for (size_t i = 0; i < 2; i++) {
        read = fmin(read, limits_line_time(&job, choice->read[i], false, 1));
        write = fmin(write, limits_line_time(&job, choice->write[i], true, 1));
    }
    table_add(of, "line", read);
    table_add(of, "line write", write);
    table_add(of, "line threads", limits_line_time(&job, choice->read[0],
                                                   false, plan->threads));
    job.hashes = questions->hashes[0];
    job.count = questions->n;
    table_add(of, "line fed", bench_cost(limits_fed, &job)
                              / (double)job.count);
    limits_release(&job.buffer);
}
