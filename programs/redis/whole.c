/* whole.c - work on whole filters, shared by the commands that read all bytes
 * of a filter.
 *
 * Such a command is a work (work.h), which may run in another thread: it makes
 * a new filter, or computes a result. The server's thread then stores or
 * replies.
 */
#include "redis/whole.h"

#include "redis/wish.h"

work *whole_work(const redis_work_kind *kind, server_context *context,
                 server_string **argv, int first, int end)
{
    if (end - first > WORK_VALUES) {
        reply_error(context, "at most 64 filters can be given at a time");
        return NULL;
    }
    work *w = redis_work_new(kind);
    for (int i = first; i < end; i++) {
        held *value = reply_value(context, argv[i], redis_held_type);
        if (value == NULL) {
            redis_work_drop(w);
            return NULL;
        }
        redis_work_reads(w, value);
    }
    return w;
}

uint64_t whole_bytes(const work *w)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < w->n; i++)
        bytes += redis_held_bytes(w->reads[i]);
    return bytes;
}

int whole_do(work *w, server_context *context, server_string **argv, int argc)
{
    return w == NULL ? SERVER_OK
         : redis_work_do(w, context, argv, argc, whole_bytes(w));
}

bool whole_copy(work *w)
{
    w->made = redis_held_new(w->reads[0]->keyed ? w->reads[0]->secret : NULL);
    const bly_progress progress = redis_work_progress(w);
    bly_options options = { .allocator = &w->made->allocator, .threads = 1,
                            .progress = &progress };
    return redis_work_went(w, bly_copy(&w->made->filter, w->reads[0]->filter,
                                       &options));
}

bool whole_copy_watched(work *w)
{
    bool well = whole_copy(w);
    if (well)
        redis_work_watch_made(w);
    return well;
}

/* Returns whether the filters that were read are still at their keys. Another
 * client may have deleted or renamed them meanwhile, and replicas know that. */
static bool whole_still(const work *w, server_context *context,
                        server_string **argv)
{
    for (size_t i = 0; i < w->n; i++)
        if (reply_look(context, argv[2 + i], redis_held_type) != w->reads[i])
            return false;
    return true;
}

int whole_store(work *w, server_context *context, server_string **argv,
                int argc)
{
    (void)argc;
    bool still = whole_still(w, context, argv);
    const held *old = reply_look(context, argv[1], redis_held_type);
    server_auto_memory(context);
    server_key *key = server_open_key(context, argv[1], SERVER_READ
                                                        | SERVER_WRITE);
    server_set_value(key, redis_held_type, redis_held_keep(w->made));
    redis_work_wake(old);
    if (still)
        server_replicate(context);
    else
        wish_replicate_image(context, argv[1], w->made);
    server_notify(context, SERVER_NOTIFY_MODULE, w->kind->event, argv[1]);
    return server_reply_simple(context, "OK");
}

int whole_replace(work *w, server_context *context, server_string **argv,
                  int argc)
{
    void *value, *old;
    server_key *key;
    (void)argc;
    if (reply_find(&value, &key, context, argv[1], redis_held_type) != FOUND_IT
        || value != w->reads[0])
        return reply_error(context, "the filter was replaced by another one in "
                           "the meantime: nothing was changed");
    server_replace_value(key, redis_held_type, redis_held_keep(w->made), &old);
    redis_work_wake(old);
    redis_held_drop(old);
    reply_changed(context, w->kind->event, argv[1]);
    return server_reply_simple(context, "OK");
}
