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
} redis_work_queue = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER,
    .running = PTHREAD_MUTEX_INITIALIZER, .last = &redis_work_queue.first,
    .idle = true,
};

bool redis_work_is_gone(const work *w)
{
    return __atomic_load_n(&w->gone, __ATOMIC_RELAXED);
}

static void redis_work_run(work *w)
{
    if (redis_work_is_gone(w))
        redis_work_failed(w, BLY_ECANCELED, "the client has disconnected");
    else
        w->kind->run(w);
    if (w->made != NULL && w->made->filter != NULL)
        bly_progress_set(w->made->filter, NULL);
}

static work *redis_work_next(void)
{
    pthread_mutex_lock(&redis_work_queue.lock);
    redis_work_queue.idle = true;
    pthread_cond_broadcast(&redis_work_queue.changed);
    while (redis_work_queue.first == NULL)
        pthread_cond_wait(&redis_work_queue.changed, &redis_work_queue.lock);
    work *w = redis_work_queue.first;
    redis_work_queue.first = w->next;
    if (w->next == NULL)
        redis_work_queue.last = &redis_work_queue.first;
    redis_work_queue.idle = false;
    pthread_mutex_unlock(&redis_work_queue.lock);
    return w;
}

static void *redis_work_thread(void *unused)
{
    (void)unused;
    for (;;) {
        work *w = redis_work_next();
        redis_memory_within(w->left);
        pthread_mutex_lock(&redis_work_queue.running);
        redis_work_run(w);
        pthread_mutex_unlock(&redis_work_queue.running);
        server_unblock(w->client, w);
    }
    return NULL;
}

static void redis_work_before_fork(void)
{
    pthread_mutex_lock(&redis_work_queue.running);
}

static void redis_work_after_fork(void)
{
    pthread_mutex_unlock(&redis_work_queue.running);
}

/* Returns false if no thread can be created. */
static bool redis_work_begin(void)
{
    pthread_attr_t detached;
    pthread_t thread;
    if (redis_work_queue.begun)
        return true;
    if (pthread_attr_init(&detached) != 0)
        return false;
    redis_work_queue.begun =
        pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED) == 0
        && pthread_atfork(redis_work_before_fork, redis_work_after_fork,
                          redis_work_after_fork)
               == 0
        && pthread_create(&thread, &detached, redis_work_thread, NULL) == 0;
    pthread_attr_destroy(&detached);
    return redis_work_queue.begun;
}

static void redis_work_put(work *w)
{
    pthread_mutex_lock(&redis_work_queue.lock);
    *redis_work_queue.last = w;
    redis_work_queue.last = &w->next;
    pthread_cond_broadcast(&redis_work_queue.changed);
    pthread_mutex_unlock(&redis_work_queue.lock);
}

/* Waits until no value is being read. */
static void redis_work_wait(void)
{
    pthread_mutex_lock(&redis_work_queue.lock);
    while (redis_work_queue.first != NULL || !redis_work_queue.idle)
        pthread_cond_wait(&redis_work_queue.changed, &redis_work_queue.lock);
    pthread_mutex_unlock(&redis_work_queue.lock);
}

/* ---- Commands that were put off ------------------------------------------ */

typedef struct redis_work_waiter {
    server_blocked *client;
    server_call    *again;
    const held     *on;
    struct redis_work_waiter *next;
} redis_work_waiter;

static redis_work_waiter *redis_work_waiters;
static bool redis_work_again_now;       /* whether a command is being called
                                           again                             */

/* Number of postponed commands to be called again because the works that they
 * waited for have ended. Until then no other work may start reading. */
static uint64_t redis_work_woken;
static work *redis_work_delayed,
    **redis_work_delayed_last = &redis_work_delayed;

/* Marks the values as being read. */
static void redis_work_start(work *w)
{
    for (size_t i = 0; i < w->n; i++)
        w->reads[i]->jobs++;
    w->begun = true;
    redis_work_put(w);
}

static void redis_work_start_delayed(void)
{
    while (redis_work_delayed != NULL) {
        work *w = redis_work_delayed;
        redis_work_delayed = w->next;
        w->next = NULL;
        redis_work_start(w);
    }
    redis_work_delayed_last = &redis_work_delayed;
}

/* Returns whether a client that has waited may still change anything: the
 * server may have become a replica, or be about to. */
static bool redis_work_may_change(server_context *context)
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

static int redis_work_call_again(server_context *context, server_string **argv,
                                 int argc)
{
    redis_work_waiter *waiter = server_blocked_data(context);
    if (!redis_work_may_change(context))
        return SERVER_OK;
    redis_work_again_now = true;
    int result = waiter->again(context, argv, argc);
    redis_work_again_now = false;
    return result;
}

static void redis_work_waiter_free(server_context *context, void *waiter)
{
    (void)context;
    server_release(waiter);
    if (--redis_work_woken == 0)
        redis_work_start_delayed();
}

/* Calls the commands in the order in which they were postponed. */
void redis_work_wake(const held *value)
{
    for (redis_work_waiter **at = &redis_work_waiters; *at != NULL;) {
        redis_work_waiter *waiter = *at;
        if (waiter->on != value) {
            at = &waiter->next;
            continue;
        }
        *at = waiter->next;
        redis_work_woken++;
        server_unblock(waiter->client, waiter);
    }
}

static void redis_work_put_off(server_context *context, const held *value,
                               server_call *again)
{
    redis_work_waiter *waiter = server_allocate_zeroed(1, sizeof *waiter);
    redis_work_waiter **last = &redis_work_waiters;
    *waiter = (redis_work_waiter){ .again = again, .on = value };
    waiter->client = server_block(context, redis_work_call_again, NULL,
                                  redis_work_waiter_free, 0);
    while (*last != NULL)
        last = &(*last)->next;
    *last = waiter;
}

static bool redis_work_can_wait(server_context *context)
{
    return (server_context_flags(context)
            & (SERVER_IN_SCRIPT | SERVER_IN_MULTI | SERVER_NEVER_BLOCKS
               | SERVER_REPLICATED | SERVER_LOADING)) == 0
        && !redis_work_again_now;
}

bool redis_work_reads_it(server_context *context, held *value,
                         server_call *again)
{
    if (value->jobs == 0)
        return false;
    if (redis_work_can_wait(context)) {
        redis_work_put_off(context, value, again);
        return true;
    }
    if ((server_context_flags(context) & SERVER_REPLICATED) != 0) {
        redis_work_wait();
        return false;
    }
    server_reply_error(context, "BUSY another client's command is reading the "
                       "filter: try again");
    return true;
}

/* ---- Works --------------------------------------------------------------- */

work *redis_work_new(const redis_work_kind *kind)
{
    work *w = server_allocate_zeroed(1, sizeof *w);
    w->kind = kind;
    return w;
}

void redis_work_reads(work *w, held *value)
{
    w->reads[w->n++] = redis_held_keep(value);
}

void redis_work_given(work *w, server_string *argument)
{
    server_keep_string(NULL, argument);
    w->given = argument;
}

bool redis_work_went(work *w, bly_status status)
{
    w->status = status;
    if (status >= 0)
        return true;
    redis_work_failed(w, status, bly_why_in("redis"));
    return false;
}

void redis_work_failed(work *w, bly_status status, const char *why)
{
    w->status = status;
    strncpy(w->why, why, sizeof w->why - 1);
}

void redis_work_drop(work *w)
{
    if (w->kind->forget != NULL)
        w->kind->forget(w);
    for (size_t i = 0; i < w->n; i++)
        redis_held_drop(w->reads[i]);
    redis_held_drop(w->made);
    if (w->given != NULL)
        server_free_string(NULL, w->given);
    server_release(w->bytes);
    server_release(w);
}

static int redis_work_finish(work *w, server_context *context,
                             server_string **argv, int argc)
{
    return w->status < 0 ? reply_error(context, w->why)
                         : w->kind->finish(w, context, argv, argc);
}

/* ---- Clients that go away ------------------------------------------------ */

static work *redis_work_blocked;        /* those whose clients wait          */

static void redis_work_gone(server_context *context, server_blocked *client)
{
    (void)context;
    for (work *w = redis_work_blocked; w != NULL; w = w->next_blocked)
        if (w->client == client)
            __atomic_store_n(&w->gone, true, __ATOMIC_RELAXED);
}

static void redis_work_unblock(work *w)
{
    work **at = &redis_work_blocked;
    while (*at != w)
        at = &(*at)->next_blocked;
    *at = w->next_blocked;
}

static int redis_work_report(void *of, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return redis_work_is_gone(of);
}

bly_progress redis_work_progress(work *w)
{
    return (bly_progress){ .report = redis_work_report, .context = w };
}

void redis_work_watch_made(work *w)
{
    const bly_progress progress = redis_work_progress(w);
    bly_progress_set(w->made->filter, &progress);
}

/* Replies to a waiting client when its work has ended. */
static int redis_work_reply(server_context *context, server_string **argv,
                            int argc)
{
    work *w = server_blocked_data(context);
    if (w->kind->changes && !redis_work_may_change(context))
        return SERVER_OK;
    redis_memory_for(context);
    return redis_work_finish(w, context, argv, argc);
}

/* Ends a work; it has no effect if the client is gone. */
static void redis_work_over(server_context *context, void *data)
{
    work *w = data;
    if (w->status == BLY_ECANCELED)
        server_log(context, "verbose", "a command of BLY.* ended early, "
                   "because its client disconnected");
    redis_work_unblock(w);
    for (size_t i = 0; w->begun && i < w->n; i++)
        if (--w->reads[i]->jobs == 0)
            redis_work_wake(w->reads[i]);
    redis_work_drop(w);
}

static void redis_work_block(work *w, server_context *context)
{
    w->left = redis_memory_left(context);
    w->client =
        server_block(context, redis_work_reply, NULL, redis_work_over, 0);
    server_when_gone(w->client, redis_work_gone);
    w->next_blocked = redis_work_blocked;
    redis_work_blocked = w;
}

int redis_work_do(work *w, server_context *context, server_string **argv,
                  int argc, uint64_t bytes)
{
    if (bytes < WORK_LARGE || !redis_work_can_wait(context)
        || !redis_work_begin()) {
        redis_memory_for(context);
        redis_work_run(w);
        int result = redis_work_finish(w, context, argv, argc);
        redis_work_drop(w);
        return result;
    }
    redis_work_block(w, context);
    if (redis_work_woken == 0) {
        redis_work_start(w);
    } else {
        *redis_work_delayed_last = w;
        redis_work_delayed_last = &w->next;
    }
    return SERVER_OK;
}
