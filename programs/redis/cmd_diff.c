/* cmd_diff.c - BLY.SKETCH and BLY.DIFF: the items in which two servers
 * differ. */
#include "redis/whole.h"

#include <bloomery/sketch.h>

#include <stdio.h>
#include <string.h>

/* Returns whether the filter can list differences, false after an error
 * reply. */
static bool diff_lists_keys(server_context *context, const work *w)
{
    if ((bly_can(w->reads[0]->filter) & BLY_CAN_SUBTRACT) != 0)
        return true;
    reply_error(context, "only filters that list their keys can show how sets "
                "differ: make one of kind invertible, for as many keys as may "
                "differ");
    return false;
}

static void diff_sketch_run(work *w)
{
    size_t bytes;
    bly_image(w->reads[0]->filter, &bytes);
    w->bytes = server_try_allocate(bytes);
    if (w->bytes == NULL)
        redis_work_failed(w, BLY_ENOMEM, "out of memory");
    else
        redis_work_went(w, bly_pack(w->reads[0]->filter, w->bytes, bytes,
                                    &w->length));
}

static int diff_sketch_finish(work *w, server_context *context,
                              server_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    return server_reply_bytes(context, w->bytes, w->length);
}

static const redis_work_kind diff_sketch_work
    = { .run = diff_sketch_run, .finish = diff_sketch_finish };

static int diff_sketch_command(server_context *context, server_string **argv,
                               int argc)
{
    if (argc != 2)
        return server_wrong_arity(context);
    work *w = whole_work(&diff_sketch_work, context, argv, 1, 2);
    if (w == NULL || diff_lists_keys(context, w))
        return whole_do(w, context, argv, argc);
    redis_work_drop(w);
    return SERVER_OK;
}

/* Precedes each key of the difference in the bytes of the work: the side and
 * the length of the key. The key is 16 digits of its hash if the filter does
 * not keep keys. */
typedef struct {
    int    side;
    size_t length;
} diff_listed;

static bool diff_room(work *w, size_t bytes)
{
    if (w->room - w->length >= bytes)
        return true;
    size_t room = 2 * w->room + bytes + 1024;
    char *more = server_try_allocate(room);
    if (more == NULL)
        return false;
    if (w->length > 0)
        memcpy(more, w->bytes, w->length);
    server_release(w->bytes);
    w->bytes = more;
    w->room = room;
    return true;
}

/* Appends a key; a bly_visit_key. */
static bool diff_list(void *of, const bly_listed *key)
{
    work *w = of;
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)key->hash);
    const void *text = key->key != NULL ? key->key : hash;
    diff_listed entry = { key->side, key->key != NULL ? key->length : 16 };
    if (!diff_room(w, sizeof entry + entry.length)) {
        redis_work_failed(w, BLY_ENOMEM, "out of memory");
        return false;
    }
    char *at = (char *)w->bytes + w->length;
    memcpy(at, &entry, sizeof entry);
    if (entry.length > 0)
        memcpy(at + sizeof entry, text, entry.length);
    w->length += sizeof entry + entry.length;
    return true;
}

static void diff_run(work *w)
{
    const held *mine = w->reads[0];
    size_t n;
    const char *sketch = server_text(w->given, &n);
    held *other = redis_held_new(mine->keyed ? mine->secret : NULL);
    const bly_progress progress = redis_work_progress(w);
    bly_options options = redis_held_options(other);
    options.progress = &progress;
    if (redis_work_went(w, bly_unpack(&other->filter, sketch, n, &options))
        && whole_copy_watched(w)
        && redis_work_went(w, bly_subtract(w->made->filter, other->filter))) {
        bly_status status = bly_list_keys(w->made->filter, diff_list, w);
        if (status < 0)
            redis_work_went(w, status);
    }
    redis_held_drop(other);
}

/* Replies the keys of one side. */
static void diff_reply_side(const work *w, server_context *context, int side)
{
    long n = 0;
    diff_listed entry;
    server_reply_array(context, SERVER_POSTPONED);
    for (size_t at = 0; at < w->length; at += sizeof entry + entry.length) {
        const char *from = (const char *)w->bytes + at;
        memcpy(&entry, from, sizeof entry);
        if (entry.side != side)
            continue;
        server_reply_bytes(context, from + sizeof entry, entry.length);
        n++;
    }
    server_reply_array_was(context, n);
}

static int diff_finish(work *w, server_context *context,
                       server_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    server_reply_map(context, 2);
    server_reply_simple(context, "Here");
    diff_reply_side(w, context, 1);
    server_reply_simple(context, "There");
    diff_reply_side(w, context, -1);
    return SERVER_OK;
}

static const redis_work_kind diff_work
    = { .run = diff_run, .finish = diff_finish };

static int diff_command(server_context *context, server_string **argv, int argc)
{
    if (argc != 3)
        return server_wrong_arity(context);
    work *w = whole_work(&diff_work, context, argv, 1, 2);
    if (w == NULL)
        return SERVER_OK;
    redis_work_given(w, argv[2]);
    if (diff_lists_keys(context, w))
        return whole_do(w, context, argv, argc);
    redis_work_drop(w);
    return SERVER_OK;
}

const command diff_commands[] = {
    { "bly.sketch", "key", "Returns a filter of kind invertible for BLY.DIFF "
      "on another server", WHOLE_ALL, "1.0.0", diff_sketch_command, "readonly",
      "read bloomery", 2 },
    { "bly.diff", "key sketch", "Lists the items that only the filter or only "
      "a sketch has", WHOLE_ALL, "1.0.0", diff_command, "readonly",
      "read bloomery", 3 },
    { .name = NULL },
};
