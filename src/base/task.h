/* task.h - how far a long call has come, and whether its caller has
 * cancelled it.
 *
 * A verb begins a task with its caller's callback. Whatever runs in the verb
 * counts its work by task_step, wherever it is in the code: the task belongs
 * to the thread, so no function in between takes it as an argument. Without a
 * callback no task exists, and a step costs one test.
 *
 * A step should cover at most about a millisecond of work, such as a few
 * thousand keys or TASK_BYTES bytes. It calls the callback, so it is not
 * for a loop over single keys.
 *
 * The task's bar goes from 0 to 1. A phase is a part of it; a verb whose phases
 * have phases of their own nests them with task_down and task_up.
 */
#ifndef BLY_BASE_TASK_H
#define BLY_BASE_TASK_H

#include "bloomery.h"

#include <string.h>

#include "base/status.h"

/* Bytes of memory that are copied, combined or hashed between two steps. */
enum { TASK_BYTES = 1 << 20 };

/* Keys that are added or sorted between two steps, and smaller things. */
enum { TASK_KEYS = 8192, TASK_CELLS = 32768 };

/* A part of the bar that is divided into phases. */
typedef struct {
    double from, span;                  /* where it lies in the whole bar    */
    double at, share;                   /* of the present phase, in the part */
    bool   phased;                      /* else the part is one phase        */
} task_part;

typedef struct task task;
struct task {
    bly_progress  ask;                  /* no callback: there is no task     */
    uint64_t      total;                /* that the callback is told         */
    task_part     part;
    uint64_t      done, all;            /* units of the present phase        */
    uint64_t      told;                 /* the last `done`: it never falls   */
    bool          cancelled;
    bool          committed;            /* can no longer be cancelled        */
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

/* Begins a task of this thread, if `ask` has a callback and the thread has no
 * task: a verb that is called by another is a part of that one's work. `total`
 * is the whole work as the callback is told it, in keys or bytes. Until a phase
 * begins, the whole bar is counted in the same units. */
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

/* Ends the present phase and begins one that takes `share` (0 .. 1) of the part
 * and has `units` units. */
void task_phase(double share, uint64_t units);

/* Gives the present phase so many units, none of which is done yet. */
void task_units(uint64_t units);

/* Makes the present phase the part in which phases begin; and back. */
task_part task_down(void);
void      task_up(task_part outer);

/* Counts n more units as done. Returns true if the call is cancelled: then the
 * caller returns as soon as it can. */
bool task_step(uint64_t n);

/* For a loop over many small things in pieces: the end of the piece that begins
 * at `at` of n, which is counted as done; `at` itself if none is left or the
 * call is cancelled. Without a task one piece is all of them. */
uint64_t task_until(uint64_t at, uint64_t n);

/* The same, as the only loop of the present phase, whose units are the n. */
uint64_t task_until_whole(uint64_t at, uint64_t n);

/* Is the call cancelled? Asks nobody. */
bool task_cancelled(void);

/* From here on the callback is called, but cannot cancel. */
void task_commit(void);

/* BLY_ECANCELED, with its line, if the call is cancelled; else BLY_OK, or the
 * status given: what a cancelled loop left undone may look like an error. */
bly_status task_status(void);
bly_status task_status_or(bly_status status);

/* memcpy in steps of bytes; it stops where the call is cancelled. */
void task_copy(void *into, const void *from, size_t bytes);

/* Sets this thread's task aside while code of the caller's runs, such as a
 * visitor: calls of the library in it are not part of the task. And takes it up
 * again. */
task *task_aside(void);
void  task_back(task *t);

/* The task of this thread, or NULL; and the same in a thread that works for it,
 * whose steps are counted but never call the callback. */
task *task_share(void);
void  task_help(task *t);

#endif

/* for (uint64_t i = from; i < n; i++), which ends early if the call is
 * cancelled. */
#define TASK_SPAN(i, from, n)                                                  \
    for (uint64_t i##_at = (from), i##_end;                                    \
         (i##_end = task_until(i##_at, n)) > i##_at; i##_at = i##_end)         \
        for (uint64_t i = i##_at; i < i##_end; i++)

/* The same from 0, as the only loop of the present phase. */
#define TASK_EACH(i, n)                                                        \
    for (uint64_t i##_at = 0, i##_end;                                         \
         (i##_end = task_until_whole(i##_at, n)) > i##_at; i##_at = i##_end)   \
        for (uint64_t i = i##_at; i < i##_end; i++)

#endif /* BLY_BASE_TASK_H */
