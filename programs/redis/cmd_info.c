/* cmd_info.c - BLY.INFO: what a filter is and how full it is. */
#include "redis/whole.h"
#include "redis/wish.h"

static void info_run(work *w)
{
    redis_work_went(w, bly_info(&w->found.stat, w->reads[0]->filter));
}

static int info_finish(work *w, server_context *context,
                       server_string **argv, int argc)
{
    const bly_info_t *stat = &w->found.stat;
    const held *value = w->reads[0];
    wish_fields reply = { .context = context };
    long fields = 0;
    (void)argv;
    (void)argc;
    bly_info_each(stat, NULL, wish_count_field, &fields);
    server_reply_map(context, fields + 3);
    bly_info_each(stat, NULL, wish_reply_field, &reply);
    server_reply_simple(context, "keyed");
    server_reply_bool(context, value->keyed);
    wish_reply_count(context, "memory", redis_held_bytes(value));
    server_reply_simple(context, "can");
    wish_reply_abilities(context, bly_can(value->filter));
    return SERVER_OK;
}

static const redis_work_kind info_work
    = { .run = info_run, .finish = info_finish };

static int info_command(server_context *context, server_string **argv, int argc)
{
    return argc != 2 ? server_wrong_arity(context)
         : whole_do(whole_work(&info_work, context, argv, 1, 2), context,
                    argv, argc);
}

const command info_commands[] = {
    { "bly.info", "key", "Returns what a filter is and how full it is",
      WHOLE_ALL, "1.0.0", info_command, "readonly", "read bloomery", 2 },
    { .name = NULL },
};
