/* task.c - progress and cancellation of long calls. */
#include "base/task.h"

#ifndef BLY_WITHOUT_PROGRESS

static _Thread_local task *task_now;
static _Thread_local bool task_helping;

void task_start(task *t, const bly_progress *ask, uint64_t total)
{
    if (task_now != NULL)
        return;
    *t = (task){ .ask = *ask, .total = total, .all = total,
                 .part = { .span = 1, .share = 1 } };
    task_now = t;
}

void task_stop(void)
{
    task_now = NULL;
}

static double task_whole(const task *t)
{
    uint64_t done = platform_load64(&t->done);
    double part = t->all == 0 ? 0 : (double)done / (double)t->all;
    const task_part *p = &t->part;
    double at = p->at + p->share * (part < 1 ? part : 1);
    return p->from + p->span * (at < 1 ? at : 1);
}

/* The callback may call verbs itself, which are not part of this task. */
static void task_report(task *t)
{
    uint64_t done = (uint64_t)(task_whole(t) * (double)t->total);
    if (done > t->total)
        done = t->total;
    t->told = done > t->told ? done : t->told;
    task_now = NULL;
    if (t->ask.report(t->ask.context, t->told, t->total) != 0 && !t->committed)
        platform_store_flag(&t->cancelled, true);
    task_now = t;
}

task *task_aside(void)
{
    task *t = task_now;
    task_now = NULL;
    return t;
}

void task_back(task *t)
{
    task_now = t;
}

bool task_step(uint64_t n)
{
    task *t = task_now;
    if (t == NULL)
        return false;
    platform_add64(&t->done, n);
    if (!task_helping && !t->cancelled)
        task_report(t);
    return platform_load_flag(&t->cancelled);
}

void task_units(uint64_t units)
{
    if (task_now == NULL || task_helping)
        return;
    task_now->all = units;
    platform_store64(&task_now->done, 0);
}

uint64_t task_until(uint64_t at, uint64_t n)
{
    if (task_now == NULL || at >= n)
        return at < n ? n : at;
    if (task_step(at > 0 ? TASK_CELLS : 0))
        return at;
    return n - at < TASK_CELLS ? n : at + TASK_CELLS;
}

uint64_t task_until_whole(uint64_t at, uint64_t n)
{
    if (at == 0)
        task_units(n);
    return task_until(at, n);
}

bool task_cancelled(void)
{
    return task_now != NULL && platform_load_flag(&task_now->cancelled);
}

bly_status task_status(void)
{
    return !task_cancelled() ? BLY_OK
         : status_fail(BLY_ECANCELED, "cancelled by the caller's progress "
                       "callback");
}

bly_status task_status_or(bly_status status)
{
    return task_cancelled() ? task_status() : status;
}

void task_commit(void)
{
    if (task_now != NULL)
        task_now->committed = true;
}

void task_phase(double share, uint64_t units)
{
    task *t = task_now;
    if (t == NULL || task_helping)
        return;
    if (t->part.phased)
        t->part.at += t->part.share;
    t->part.phased = true;
    t->part.share = share;
    task_units(units);
}

task_part task_down(void)
{
    task *t = task_now;
    if (t == NULL || task_helping)
        return (task_part){ .from = 0 };
    task_part outer = t->part, *p = &t->part;
    *p = (task_part){ .from = outer.from + outer.span * outer.at,
                      .span = outer.span * outer.share, .share = 1 };
    return outer;
}

void task_up(task_part outer)
{
    if (task_now != NULL && !task_helping)
        task_now->part = outer;
}

void task_copy(void *into, const void *from, size_t bytes)
{
    uint8_t *to = into;
    const uint8_t *at = from;
    for (size_t n; bytes > 0 && !task_cancelled(); bytes -= n) {
        n = bytes < TASK_BYTES ? bytes : TASK_BYTES;
        memcpy(to, at, n);
        to += n;
        at += n;
        task_step(n);
    }
}

task *task_share(void)
{
    return task_now;
}

void task_help(task *t)
{
    task_now = t;
    task_helping = true;
}

#endif
