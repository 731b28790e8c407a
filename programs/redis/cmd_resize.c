/* cmd_resize.c - BLY.RESIZE and BLY.FOLD: a filter of another size. */
#include "redis/whole.h"
#include "redis/wish.h"

/* Cost of resizing, relative to reading. */
enum { RESIZE_TIMES = 32 };

static void resize_run(work *w)
{
    if (whole_copy_watched(w))
        redis_work_went(w, bly_resize(w->made->filter, w->number));
}

static void resize_fold_run(work *w)
{
    if (whole_copy_watched(w))
        redis_work_went(w, bly_fold(w->made->filter, w->number));
}

static const redis_work_kind
    resize_work = { .run = resize_run, .finish = whole_replace,
                         .changes = true, .event = "bly.resize" },
    resize_fold_work = { .run = resize_fold_run, .finish = whole_replace,
                       .changes = true, .event = "bly.fold" };

static int resize_by_number(const redis_work_kind *kind,
                            server_context *context, server_string **argv,
                            int argc, const char *wrong)
{
    uint64_t number;
    if (argc != 3)
        return server_wrong_arity(context);
    if (!wish_number(&number, argv[2]))
        return reply_error(context, wrong);
    work *w = whole_work(kind, context, argv, 1, 2);
    if (w == NULL)
        return SERVER_OK;
    w->number = number;
    return redis_work_do(w, context, argv, argc, RESIZE_TIMES * whole_bytes(w));
}

static int resize_command(server_context *context, server_string **argv,
                          int argc)
{
    return resize_by_number(&resize_work, context, argv, argc,
                            "the capacity must be a whole number of keys");
}

static int resize_fold_command(server_context *context, server_string **argv,
                               int argc)
{
    return resize_by_number(&resize_fold_work, context, argv, argc,
                            "the number of times must be a whole number");
}

const command resize_commands[] = {
    { "bly.resize", "key capacity", "Makes room in a filter for another number "
      "of items", WHOLE_ALL, "1.0.0", resize_command, "write deny-oom",
      "write bloomery", 3 },
    { "bly.fold", "key times", "Makes a filter smaller by a whole factor",
      WHOLE_ALL, "1.0.0", resize_fold_command, "write", "write bloomery", 3 },
    { .name = NULL },
};
