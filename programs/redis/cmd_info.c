/* cmd_info.c - BLY.INFO: what a filter is and how full it is. */
#include "redis/whole.h"
#include "redis/wish.h"

#include <bloomery/form.h>

static void info_run(work *w)
{
    work_went(w, bly_stat(&w->found.stat, w->reads[0]->filter));
}

static int info_finish(work *w, server_context *context,
                       server_string **argv, int argc)
{
    const bly_stat_t *stat = &w->found.stat;
    const held *value = w->reads[0];
    char keys[BLY_FORM_TEXT];
    (void)argv;
    (void)argc;
    server_reply_map(context, 15);
    wish_reply_text(context, "Kind", stat->kind);
    wish_reply_text(context, "Keys", bly_form_write(keys, stat->form));
    wish_reply_text(context, "Hash", stat->hash);
    wish_reply_text(context, "Keyed", value->keyed ? "yes" : "no");
    wish_reply_count(context, "Capacity", stat->capacity);
    wish_reply_count(context, "Bytes", stat->bytes);
    wish_reply_count(context, "Memory", held_bytes(value));
    wish_reply_real(context, "Bits per key", stat->bits_per_key);
    wish_reply_count(context, "Items", stat->items);
    wish_reply_text(context, "Items exact", stat->items_exact ? "yes" : "no");
    wish_reply_real(context, "Different keys", stat->distinct);
    wish_reply_real(context, "Fill", stat->fill);
    wish_reply_real(context, "Rate", stat->rate);
    wish_reply_real(context, "Planned rate", stat->planned_rate);
    server_reply_simple(context, "Can");
    wish_reply_abilities(context, bly_can(value->filter));
    return SERVER_OK;
}

static const work_kind info_work
    = { .run = info_run, .finish = info_finish };

static int info_command(server_context *context, server_string **argv, int argc)
{
    return argc != 2 ? server_wrong_arity(context)
         : whole_do(whole_work(&info_work, context, argv, 1, 2), context,
                    argv, argc);
}

const command info_commands[] = {
    { "bly.info", "key", "Tells what a filter is and how full it is", WHOLE_ALL,
      "1.0.0", info_command, "readonly", "read bloomery", 2 },
    { .name = NULL },
};
