/* task.h - progress and cancellation of long calls.
 *
 * A verb begins a task with its caller's callback. Code called by the verb
 * counts its work with task_step. The task belongs to the thread, so functions
 * need not pass it on. Without a callback there is no task, and a step costs
 * one test.
 *
 * A step should cover at most about a millisecond of work, such as a few
 * thousand keys or TASK_BYTES bytes. It calls the callback, so it is too slow
 * for a loop over single keys.
 *
 * Progress goes from 0 to 1. A phase is a part of it; verbs whose phases have
 * phases of their own nest them with task_down and task_up.
 */
#ifndef BLY_BASE_TASK_H
#define BLY_BASE_TASK_H

#include "bloomery.h"

#include <string.h>

#include "base/status.h"

/* Bytes copied, combined or hashed between two steps. */
enum { TASK_BYTES = 1 << 20 };

/* Keys added or sorted between two steps, and smaller units. */
enum { TASK_KEYS = 8192, TASK_CELLS = 32768 };

/* A part of the progress that is divided into phases. */
typedef struct {
    double from, span;                  /* position in the whole             */
    double at, share;                   /* of the current phase, in the part */
    bool   phased;                      /* false if the part is one phase    */
} task_part;

typedef struct task task;
struct task {
    bly_progress  ask;                  /* no callback means no task         */
    uint64_t      total;                /* total passed to the callback      */
    task_part     part;
    uint64_t      done, all;            /* units of the current phase        */
    uint64_t      told;                 /* last value reported: it never
                                           decreases                         */
    bool          cancelled;
    bool          committed;            /* whether cancelling is no longer
                                           possible                          */
};

#ifdef BLY_WITHOUT_PROGRESS

/* Calls report no progress: what follows vanishes. */
static inline void task_begin(task *t, const bly_progress *ask, uint64_t total)
{
    (void)t, (void)ask, (void)total;
}

static inline bly_status task_end(const task *t, bly_status status)
{
    (void)t;
    return status;
}

static inline void task_phase(double share, uint64_t units)
{
    (void)share, (void)units;
}

static inline void task_units(uint64_t units)
{
    (void)units;
}

static inline task_part task_down(void)
{
    return (task_part){ .from = 0 };
}

static inline void task_up(task_part outer)
{
    (void)outer;
}

static inline bool task_step(uint64_t n)
{
    (void)n;
    return false;
}

static inline uint64_t task_until(uint64_t at, uint64_t n)
{
    return at < n ? n : at;
}

static inline uint64_t task_until_whole(uint64_t at, uint64_t n)
{
    return task_until(at, n);
}

static inline bool task_cancelled(void)
{
    return false;
}

static inline void task_commit(void)
{
}

static inline bly_status task_status(void)
{
    return BLY_OK;
}

static inline bly_status task_status_or(bly_status status)
{
    return status;
}

static inline void task_copy(void *into, const void *from, size_t bytes)
{
    memcpy(into, from, bytes);
}

static inline task *task_share(void)
{
    return NULL;
}

static inline task *task_aside(void)
{
    return NULL;
}

static inline void task_back(task *t)
{
    (void)t;
}

static inline void task_help(task *t)
{
    (void)t;
}

#else

void task_start(task *t, const bly_progress *ask, uint64_t total);
void task_stop(void);

/* Begins a task of this thread if `ask` has a callback and the thread has no
 * task yet; a verb called by another one is part of its work. `total` is the
 * whole work as reported to the callback, in keys or bytes. Until a phase
 * begins, all progress is counted in these units. */
static inline void task_begin(task *t, const bly_progress *ask, uint64_t total)
{
    t->ask.report = NULL;
    if (ask != NULL && ask->report != NULL)
        task_start(t, ask, total);
}

/* Ends it, and returns `status`. */
static inline bly_status task_end(const task *t, bly_status status)
{
    if (t->ask.report != NULL)
        task_stop();
    return status;
}

/* Ends the current phase and begins one that takes `share` (0 .. 1) of the part
 * and has `units` units. */
void task_phase(double share, uint64_t units);

/* Sets the number of units of the current phase, and none of them done. */
void task_units(uint64_t units);

/* Make the current phase the part in which phases begin; and undo this. */
task_part task_down(void);
void      task_up(task_part outer);

/* Counts n more units as done. Returns true if the call is cancelled; the
 * caller then returns as soon as it can. */
bool task_step(uint64_t n);

/* Divides a loop over many small units: returns the end of the piece that
 * starts at `at` of n, and counts it as done. Returns `at` if none is left or
 * the call is cancelled. Without a task there is one piece. */
uint64_t task_until(uint64_t at, uint64_t n);

/* Does the same for the only loop of the current phase, which has n units. */
uint64_t task_until_whole(uint64_t at, uint64_t n);

/* Returns whether the call is cancelled, without calling the callback. */
bool task_cancelled(void);

/* Makes the rest of the call impossible to cancel; the callback is still
   called. */
void task_commit(void);

/* Returns BLY_ECANCELED, with its message, if the call is cancelled, else
 * BLY_OK or the status given: what a cancelled loop left undone may look like
 * an error. */
bly_status task_status(void);
bly_status task_status_or(bly_status status);

/* Copies in steps; stops if the call is cancelled. */
void task_copy(void *into, const void *from, size_t bytes);

/* Suspends this thread's task while the caller's code runs, such as a visitor,
 * whose library calls are not part of the task; and resumes it. */
task *task_aside(void);
void  task_back(task *t);

/* Returns the task of this thread, or NULL; and adopts it in a worker thread,
 * whose steps are counted but never call the callback. */
task *task_share(void);
void  task_help(task *t);

#endif

/* Loops like for (uint64_t i = from; i < n; i++), but ends early if the call is
 * cancelled. */
#define TASK_SPAN(i, from, n)                                                  \
    for (uint64_t i##_at = (from), i##_end;                                    \
         (i##_end = task_until(i##_at, n)) > i##_at; i##_at = i##_end)         \
        for (uint64_t i = i##_at; i < i##_end; i++)

/* Does the same from 0, as the only loop of the current phase. */
#define TASK_EACH(i, n)                                                        \
    for (uint64_t i##_at = 0, i##_end;                                         \
         (i##_end = task_until_whole(i##_at, n)) > i##_at; i##_at = i##_end)   \
        for (uint64_t i = i##_at; i < i##_end; i++)

#endif /* BLY_BASE_TASK_H */
