/* cmd_unite.c - BLY.UNITE, BLY.INTERSECT and BLY.OVERLAP: several filters. */
#include "redis/whole.h"

/* Applies bly_unite or bly_intersect to all filters. Kinds that combine bits
 * are fast enough not to watch the client. */
static void unite_join(work *w,
                       bly_status (*verb)(bly_filter *into,
                                          const bly_filter *other))
{
    bool well = whole_copy(w);
    if (well && (bly_can(w->made->filter) & BLY_CAN_INTERSECT) == 0)
        redis_work_watch_made(w);
    for (size_t i = 1; well && i < w->n; i++)
        well = redis_work_went(w, redis_work_is_gone(w) ? BLY_ECANCELED
                          : verb(w->made->filter, w->reads[i]->filter));
}

static void unite_run(work *w)
{
    unite_join(w, bly_unite);
}

static void unite_intersect_run(work *w)
{
    unite_join(w, bly_intersect);
}

static const redis_work_kind
    unite_work = { .run = unite_run, .finish = whole_store,
                        .changes = true, .event = "bly.unite" },
    unite_intersect_work = { .run = unite_intersect_run, .finish = whole_store,
                            .changes = true, .event = "bly.intersect" };

static int unite_joined(const redis_work_kind *kind, server_context *context,
                        server_string **argv, int argc)
{
    return argc < 4 ? server_wrong_arity(context)
         : whole_do(whole_work(kind, context, argv, 2, argc), context, argv,
                    argc);
}

static int unite_command(server_context *context, server_string **argv,
                         int argc)
{
    return unite_joined(&unite_work, context, argv, argc);
}

static int unite_intersect_command(server_context *context,
                                   server_string **argv, int argc)
{
    return unite_joined(&unite_intersect_work, context, argv, argc);
}

static void unite_overlap_run(work *w)
{
    redis_work_went(w, bly_overlap(&w->found.overlap, w->reads[0]->filter,
                                   w->reads[1]->filter));
}

static void unite_estimate(server_context *context, const char *name,
                           bly_estimate estimate)
{
    server_reply_simple(context, name);
    server_reply_array(context, 2);
    server_reply_double(context, estimate.value);
    server_reply_double(context, estimate.sd);
}

static int unite_overlap_finish(work *w, server_context *context,
                                server_string **argv, int argc)
{
    const bly_overlap_t *overlap = &w->found.overlap;
    (void)argv;
    (void)argc;
    server_reply_map(context, 6);
    unite_estimate(context, "First", overlap->a);
    unite_estimate(context, "Second", overlap->b);
    unite_estimate(context, "Either", overlap->either);
    unite_estimate(context, "Both", overlap->both);
    unite_estimate(context, "Differ", overlap->differ);
    unite_estimate(context, "Jaccard", overlap->jaccard);
    return SERVER_OK;
}

static const redis_work_kind unite_overlap_work
    = { .run = unite_overlap_run, .finish = unite_overlap_finish };

static int unite_overlap_command(server_context *context, server_string **argv,
                                 int argc)
{
    return argc != 3 ? server_wrong_arity(context)
         : whole_do(whole_work(&unite_overlap_work, context, argv, 1, 3),
                    context, argv, argc);
}

const command unite_commands[] = {
    { "bly.unite", "dest source source…", "Makes a filter of the items that "
      "are in any of several", WHOLE_EACH, "1.0.0", unite_command,
      "write deny-oom", "write bloomery", -4 },
    { "bly.intersect", "dest source source…", "Makes a filter of the items "
      "that are in all of several", WHOLE_EACH, "1.0.0",
      unite_intersect_command, "write deny-oom", "write bloomery", -4 },
    { "bly.overlap", "key other", "Estimates how many items two filters have "
      "in common", WHOLE_EACH, "1.0.0", unite_overlap_command, "readonly",
      "read bloomery", 3 },
    { .name = NULL },
};
