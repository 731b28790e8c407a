/* work.c - runs long work in one background thread, one work at a time. */
#include "redis/work.h"

#include <pthread.h>
#include <string.h>

/* ---- The thread ---------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;               /* guards the queue                  */
    pthread_cond_t  changed;
    pthread_mutex_t running;            /* held while a work runs            */
    work *first, **last;
    bool  idle, begun;
} work_queue = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER,
    .running = PTHREAD_MUTEX_INITIALIZER, .last = &work_queue.first,
    .idle = true,
};

bool work_is_gone(const work *w)
{
    return __atomic_load_n(&w->gone, __ATOMIC_RELAXED);
}

static void work_run(work *w)
{
    if (work_is_gone(w))
        work_failed(w, BLY_ECANCELED, "the client is gone");
    else
        w->kind->run(w);
    if (w->made != NULL && w->made->filter != NULL)
        bly_progress_set(w->made->filter, NULL);
}

static work *work_next(void)
{
    pthread_mutex_lock(&work_queue.lock);
    work_queue.idle = true;
    pthread_cond_broadcast(&work_queue.changed);
    while (work_queue.first == NULL)
        pthread_cond_wait(&work_queue.changed, &work_queue.lock);
    work *w = work_queue.first;
    work_queue.first = w->next;
    if (w->next == NULL)
        work_queue.last = &work_queue.first;
    work_queue.idle = false;
    pthread_mutex_unlock(&work_queue.lock);
    return w;
}

static void *work_thread(void *unused)
{
    (void)unused;
    for (;;) {
        work *w = work_next();
        memory_within(w->left);
        pthread_mutex_lock(&work_queue.running);
        work_run(w);
        pthread_mutex_unlock(&work_queue.running);
        server_unblock(w->client, w);
    }
    return NULL;
}

static void work_before_fork(void)
{
    pthread_mutex_lock(&work_queue.running);
}

static void work_after_fork(void)
{
    pthread_mutex_unlock(&work_queue.running);
}

/* Returns false if no thread can be created. */
static bool work_begin(void)
{
    pthread_attr_t detached;
    pthread_t thread;
    if (work_queue.begun)
        return true;
    if (pthread_attr_init(&detached) != 0)
        return false;
    work_queue.begun
        = pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED) == 0
       && pthread_atfork(work_before_fork, work_after_fork, work_after_fork)
          == 0
       && pthread_create(&thread, &detached, work_thread, NULL) == 0;
    pthread_attr_destroy(&detached);
    return work_queue.begun;
}

static void work_put(work *w)
{
    pthread_mutex_lock(&work_queue.lock);
    *work_queue.last = w;
    work_queue.last = &w->next;
    pthread_cond_broadcast(&work_queue.changed);
    pthread_mutex_unlock(&work_queue.lock);
}

/* Waits until no value is being read. */
static void work_wait(void)
{
    pthread_mutex_lock(&work_queue.lock);
    while (work_queue.first != NULL || !work_queue.idle)
        pthread_cond_wait(&work_queue.changed, &work_queue.lock);
    pthread_mutex_unlock(&work_queue.lock);
}

/* ---- Commands that were put off ------------------------------------------ */

typedef struct work_waiter {
    server_blocked *client;
    server_call    *again;
    const held     *on;
    struct work_waiter *next;
} work_waiter;

static work_waiter *work_waiters;
static bool work_again_now;             /* whether a command is being called
                                           again                             */

/* Number of postponed commands to be called again because the works that they
 * waited for have ended. Until then no other work may start reading. */
static uint64_t work_woken;
static work *work_delayed, **work_delayed_last = &work_delayed;

/* Marks the values as being read. */
static void work_start(work *w)
{
    for (size_t i = 0; i < w->n; i++)
        w->reads[i]->jobs++;
    w->begun = true;
    work_put(w);
}

static void work_start_delayed(void)
{
    while (work_delayed != NULL) {
        work *w = work_delayed;
        work_delayed = w->next;
        w->next = NULL;
        work_start(w);
    }
    work_delayed_last = &work_delayed;
}

/* Returns whether a client that has waited may still change anything: the
 * server may have become a replica, or be about to. */
static bool work_may_change(server_context *context)
{
    if (server_paused())
        server_reply_error(context, "BUSY the server is paused, and nothing "
                           "was changed: try again");
    else if ((server_context_flags(context) & SERVER_READ_ONLY) != 0)
        server_reply_error(context, "READONLY You can't write against a read "
                           "only replica.");
    else
        return true;
    return false;
}

static int work_call_again(server_context *context, server_string **argv,
                           int argc)
{
    work_waiter *waiter = server_blocked_data(context);
    if (!work_may_change(context))
        return SERVER_OK;
    work_again_now = true;
    int result = waiter->again(context, argv, argc);
    work_again_now = false;
    return result;
}

static void work_waiter_free(server_context *context, void *waiter)
{
    (void)context;
    server_release(waiter);
    if (--work_woken == 0)
        work_start_delayed();
}

/* Calls the commands in the order in which they were postponed. */
void work_wake(const held *value)
{
    for (work_waiter **at = &work_waiters; *at != NULL;) {
        work_waiter *waiter = *at;
        if (waiter->on != value) {
            at = &waiter->next;
            continue;
        }
        *at = waiter->next;
        work_woken++;
        server_unblock(waiter->client, waiter);
    }
}

static void work_put_off(server_context *context, const held *value,
                         server_call *again)
{
    work_waiter *waiter = server_allocate_zeroed(1, sizeof *waiter);
    work_waiter **last = &work_waiters;
    *waiter = (work_waiter){ .again = again, .on = value };
    waiter->client = server_block(context, work_call_again, NULL,
                                  work_waiter_free, 0);
    while (*last != NULL)
        last = &(*last)->next;
    *last = waiter;
}

static bool work_can_wait(server_context *context)
{
    return (server_context_flags(context)
            & (SERVER_IN_SCRIPT | SERVER_IN_MULTI | SERVER_NEVER_BLOCKS
               | SERVER_REPLICATED | SERVER_LOADING)) == 0
        && !work_again_now;
}

bool work_reads_it(server_context *context, held *value, server_call *again)
{
    if (value->jobs == 0)
        return false;
    if (work_can_wait(context)) {
        work_put_off(context, value, again);
        return true;
    }
    if ((server_context_flags(context) & SERVER_REPLICATED) != 0) {
        work_wait();
        return false;
    }
    server_reply_error(context, "BUSY another client's command reads the "
                       "filter: try again");
    return true;
}

/* ---- Works --------------------------------------------------------------- */

work *work_new(const work_kind *kind)
{
    work *w = server_allocate_zeroed(1, sizeof *w);
    w->kind = kind;
    return w;
}

void work_reads(work *w, held *value)
{
    w->reads[w->n++] = held_keep(value);
}

void work_given(work *w, server_string *argument)
{
    server_keep_string(NULL, argument);
    w->given = argument;
}

bool work_went(work *w, bly_status status)
{
    w->status = status;
    if (status >= 0)
        return true;
    work_failed(w, status, bly_why());
    return false;
}

void work_failed(work *w, bly_status status, const char *why)
{
    w->status = status;
    strncpy(w->why, why, sizeof w->why - 1);
}

void work_drop(work *w)
{
    if (w->kind->forget != NULL)
        w->kind->forget(w);
    for (size_t i = 0; i < w->n; i++)
        held_drop(w->reads[i]);
    held_drop(w->made);
    if (w->given != NULL)
        server_free_string(NULL, w->given);
    server_release(w->bytes);
    server_release(w);
}

static int work_finish(work *w, server_context *context, server_string **argv,
                       int argc)
{
    return w->status < 0 ? reply_error(context, w->why)
                         : w->kind->finish(w, context, argv, argc);
}

/* ---- Clients that go away ------------------------------------------------ */

static work *work_blocked;              /* those whose clients wait          */

static void work_gone(server_context *context, server_blocked *client)
{
    (void)context;
    for (work *w = work_blocked; w != NULL; w = w->next_blocked)
        if (w->client == client)
            __atomic_store_n(&w->gone, true, __ATOMIC_RELAXED);
}

static void work_unblock(work *w)
{
    work **at = &work_blocked;
    while (*at != w)
        at = &(*at)->next_blocked;
    *at = w->next_blocked;
}

static int work_report(void *of, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return work_is_gone(of);
}

bly_progress work_progress(work *w)
{
    return (bly_progress){ .report = work_report, .context = w };
}

void work_watch_made(work *w)
{
    const bly_progress progress = work_progress(w);
    bly_progress_set(w->made->filter, &progress);
}

/* Replies to a waiting client when its work has ended. */
static int work_reply(server_context *context, server_string **argv, int argc)
{
    work *w = server_blocked_data(context);
    if (w->kind->changes && !work_may_change(context))
        return SERVER_OK;
    memory_for(context);
    return work_finish(w, context, argv, argc);
}

/* Ends a work; it has no effect if the client is gone. */
static void work_over(server_context *context, void *data)
{
    work *w = data;
    if (w->status == BLY_ECANCELED)
        server_log(context, "verbose", "a command of BLY.* ended early, as its "
                   "client is gone");
    work_unblock(w);
    for (size_t i = 0; w->begun && i < w->n; i++)
        if (--w->reads[i]->jobs == 0)
            work_wake(w->reads[i]);
    work_drop(w);
}

static void work_block(work *w, server_context *context)
{
    w->left = memory_left(context);
    w->client = server_block(context, work_reply, NULL, work_over, 0);
    server_when_gone(w->client, work_gone);
    w->next_blocked = work_blocked;
    work_blocked = w;
}

int work_do(work *w, server_context *context, server_string **argv, int argc,
            uint64_t bytes)
{
    if (bytes < WORK_LARGE || !work_can_wait(context) || !work_begin()) {
        memory_for(context);
        work_run(w);
        int result = work_finish(w, context, argv, argc);
        work_drop(w);
        return result;
    }
    work_block(w, context);
    if (work_woken == 0) {
        work_start(w);
    } else {
        *work_delayed_last = w;
        work_delayed_last = &w->next;
    }
    return SERVER_OK;
}
