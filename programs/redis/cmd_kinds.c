/* cmd_kinds.c - BLY.PLAN, BLY.ADVISE and BLY.KINDS: which filter to choose. */
#include "redis/wish.h"
#include "redis/work.h"

#include <bloomery/advice.h>

#include <string.h>

/* ---- BLY.PLAN ------------------------------------------------------------ */

static int redis_kinds_plan_command(server_context *context,
                                    server_string **argv, int argc)
{
    wish wanted;
    bly_plan_t plan;
    wish_fields reply = { .context = context };
    long fields = 0;
    if (argc < 2)
        return server_wrong_arity(context);
    if (!wish_read(&wanted, NULL, context, argv, 1, argc)
        || !wish_plan(&plan, &wanted, context))
        return SERVER_OK;
    bly_plan_each(&plan, wish_count_field, &fields);
    server_reply_map(context, fields);
    bly_plan_each(&plan, wish_reply_field, &reply);
    return SERVER_OK;
}

/* ---- BLY.KINDS ----------------------------------------------------------- */

static bool redis_kinds_is_named(const bly_kind_info *kind,
                                 const server_string *name)
{
    const bly_alias_info *const *alias = kind->aliases;
    while (*alias != NULL && !reply_is_word(name, (*alias)->name))
        alias++;
    return *alias != NULL || reply_is_word(name, kind->name);
}

static const bly_kind_info *redis_kinds_find(const server_string *name)
{
    const bly_kind_info *const *kinds = bly_kinds(NULL);
    while (*kinds != NULL && !redis_kinds_is_named(*kinds, name))
        kinds++;
    return *kinds;
}

static void redis_kinds_options(server_context *context,
                                const bly_kind_info *kind)
{
    long n = 0;
    server_reply_simple(context, "Options");
    server_reply_array(context, SERVER_POSTPONED);
    for (; kind->options[n] != NULL; n++) {
        const bly_option_info *option = kind->options[n];
        server_reply_map(context, 4);
        wish_reply_text(context, "Name", option->name);
        wish_reply_text(context, "Range", option->range);
        wish_reply_text(context, "Standard", option->standard);
        wish_reply_text(context, "Help", option->help);
    }
    server_reply_array_was(context, n);
}

static int redis_kinds_command(server_context *context, server_string **argv,
                               int argc)
{
    long n = 0;
    if (argc > 2)
        return server_wrong_arity(context);
    if (argc == 2) {
        const bly_kind_info *kind = redis_kinds_find(argv[1]);
        if (kind == NULL)
            return reply_error(context, "unknown kind: BLY.KINDS lists the "
                               "kinds");
        server_reply_map(context, 5);
        wish_reply_text(context, "Kind", kind->name);
        wish_reply_text(context, "Family", kind->family);
        wish_reply_text(context, "Summary", kind->summary);
        server_reply_simple(context, "Can");
        wish_reply_abilities(context, kind->can);
        redis_kinds_options(context, kind);
        return SERVER_OK;
    }
    server_reply_array(context, SERVER_POSTPONED);
    for (const bly_kind_info *const *kind = bly_kinds(NULL); *kind != NULL;
         kind++) {
        if (strcmp((*kind)->family, "foreign") == 0)
            continue;
        server_reply_map(context, 3);
        wish_reply_text(context, "Kind", (*kind)->name);
        wish_reply_text(context, "Summary", (*kind)->summary);
        server_reply_simple(context, "Can");
        wish_reply_abilities(context, (*kind)->can);
        n++;
    }
    server_reply_array_was(context, n);
    return SERVER_OK;
}

/* ---- BLY.ADVISE ---------------------------------------------------------- */

/* Reads the abilities after the word CAN. Returns false after an error
 * reply. */
static bool redis_kinds_needs(uint64_t *can, server_context *context,
                              server_string **argv, int first, int argc)
{
    for (int i = first; i < argc; i++) {
        int bit = 0;
        while (bit < BLY_ABILITIES
               && !reply_is_word(argv[i], bly_ability(UINT64_C(1) << bit)))
            bit++;
        if (bit == BLY_ABILITIES) {
            reply_error(context, "unknown ability: BLY.KINDS lists the "
                        "abilities");
            return false;
        }
        *can |= UINT64_C(1) << bit;
    }
    return true;
}

/* Reads CAPACITY n [RATE p] [FIXED|UNKNOWN] [SMALL|FAST] [CAN ability…].
 * Returns false after an error reply. */
static bool redis_kinds_need(bly_need *need, server_context *context,
                             server_string **argv, int argc)
{
    *need = (bly_need){ .rate = redis_settings.held_rate, .present = 0.5 };
    for (int i = 1; i < argc; i++) {
        bool valued = i + 1 < argc;
        if (reply_is_word(argv[i], "FIXED"))
            need->fixed = true;
        else if (reply_is_word(argv[i], "UNKNOWN"))
            need->unknown = true;
        else if (reply_is_word(argv[i], "SMALL"))
            need->aim = BLY_AIM_SMALL;
        else if (reply_is_word(argv[i], "FAST"))
            need->aim = BLY_AIM_FAST;
        else if (reply_is_word(argv[i], "CAN") && valued)
            return redis_kinds_needs(&need->can, context, argv, i + 1, argc);
        else if (reply_is_word(argv[i], "CAPACITY") && valued
                 && wish_number(&need->capacity, argv[i + 1]))
            i++;
        else if (reply_is_word(argv[i], "RATE") && valued) {
            if (!reply_rate(&need->rate, argv[++i])) {
                reply_error(context, REPLY_RATE_WRONG);
                return false;
            }
        } else {
            reply_error(context, "unknown need: use CAPACITY n, RATE p, FIXED "
                        "or UNKNOWN, SMALL or FAST, and CAN with abilities");
            return false;
        }
    }
    return true;
}

static void redis_kinds_advise_run(work *w)
{
    bly_ranking *ranking;
    if (redis_work_went(w, bly_advise(&ranking, w->bytes)))
        w->found.other = ranking;
}

static int redis_kinds_advise_finish(work *w, server_context *context,
                                     server_string **argv, int argc)
{
    const bly_advice *advice;
    long n = 0;
    (void)argv;
    (void)argc;
    server_reply_array(context, SERVER_POSTPONED);
    for (size_t i = 0;
         (advice = bly_ranking_at(w->found.other, i)) != NULL; i++) {
        if (!advice->fits || advice->beaten)
            continue;
        server_reply_map(context, 7);
        wish_reply_text(context, "Kind", advice->kind);
        wish_reply_count(context, "Bytes", advice->plan.bytes);
        wish_reply_real(context, "Bits per key", advice->plan.bits_per_key);
        wish_reply_real(context, "Rate", advice->plan.rate);
        wish_reply_real(context, "Nanoseconds to ask", advice->ns_lookup);
        wish_reply_real(context, "Nanoseconds to add", advice->ns_add);
        wish_reply_text(context, "Why", advice->why);
        n++;
    }
    server_reply_array_was(context, n);
    return SERVER_OK;
}

static void redis_kinds_advise_forget(work *w)
{
    bly_ranking_free(w->found.other);
}

static const redis_work_kind redis_kinds_advise_work
    = { .run = redis_kinds_advise_run, .finish = redis_kinds_advise_finish,
        .forget = redis_kinds_advise_forget };

/* Ranks the kinds as a work: it takes tens of milliseconds, whatever the
 * need. */
static int redis_kinds_advise_command(server_context *context,
                                      server_string **argv, int argc)
{
    bly_need need;
    if (!redis_kinds_need(&need, context, argv, argc))
        return SERVER_OK;
    work *w = redis_work_new(&redis_kinds_advise_work);
    w->bytes = server_allocate(sizeof need);
    memcpy(w->bytes, &need, sizeof need);
    return redis_work_do(w, context, argv, argc, WORK_LARGE);
}

const command redis_kinds_commands[] = {
    { "bly.plan", "kind [CAPACITY capacity] [RATE rate]", "Returns the cost of "
      "a filter before it is built", "O(1)", "1.0.0", redis_kinds_plan_command,
      "readonly fast", "read fast bloomery", -2 },
    { "bly.advise", "[CAPACITY capacity] [RATE rate] [FIXED|UNKNOWN] "
      "[SMALL|FAST] [CAN ability…]",
      "Returns the kinds that suit a need, the best first",
      "O(1), a few tens of milliseconds", "1.0.0", redis_kinds_advise_command,
      "readonly", "read bloomery", -2 },
    { "bly.kinds", "[kind]", "Returns the list of kinds, or the options of one",
      "O(1)", "1.0.0", redis_kinds_command, "readonly fast", "read fast "
      "bloomery", -1 },
    { .name = NULL },
};
