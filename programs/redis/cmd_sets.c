/* cmd_sets.c - BLY.*: whole filters, and what there is to choose from.
 *
 * What reads all of a filter is a work (work.h), which may be done beside the
 * server: it makes a new filter, or finds something out, and is then finished
 * in the server's thread.
 *
 * Floor 8 (programs); includes wish.h and work.h, and of the library advice.h,
 * form.h and sketch.h.
 */
#include <bloomery/advice.h>
#include <bloomery/form.h>
#include <bloomery/sketch.h>

#include <stdio.h>
#include <string.h>

#include "redis/wish.h"
#include "redis/work.h"

/* ---- What a work is of --------------------------------------------------- */

/* A work that reads the filters of these arguments. NULL: an error was replied.
 */
static work *sets_work(const work_kind *kind, server_context *context,
                       server_string **argv, int first, int end)
{
    if (end - first > WORK_VALUES) {
        reply_error(context, "no more than 64 filters at a time");
        return NULL;
    }
    work *w = work_new(kind);
    for (int i = first; i < end; i++) {
        held *value = reply_value(context, argv[i], held_type);
        if (value == NULL) {
            work_drop(w);
            return NULL;
        }
        work_reads(w, value);
    }
    return w;
}

static uint64_t sets_bytes(const work *w)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < w->n; i++)
        bytes += held_bytes(w->reads[i]);
    return bytes;
}

static int sets_do(work *w, server_context *context, server_string **argv,
                   int argc)
{
    return w == NULL ? SERVER_OK
         : work_do(w, context, argv, argc, sets_bytes(w));
}

/* The first filter's copy is what the work makes. */
static bool sets_copy(work *w)
{
    w->made = held_new(w->reads[0]->keyed ? w->reads[0]->secret : NULL);
    const bly_progress progress = work_progress(w);
    bly_options options = { .allocator = &w->made->allocator, .threads = 1,
                            .progress = &progress };
    return work_went(w, bly_copy(&w->made->filter, w->reads[0]->filter,
                                 &options));
}

/* The same, whose verbs end if the client goes away. */
static bool sets_copy_watched(work *w)
{
    bool well = sets_copy(w);
    if (well)
        work_watch_made(w);
    return well;
}

/* Are the values that were read still those of their keys? Others may have
 * deleted or renamed them meanwhile, and replicas have been told so. */
static bool sets_still(const work *w, server_context *context,
                       server_string **argv)
{
    for (size_t i = 0; i < w->n; i++)
        if (reply_look(context, argv[2 + i], held_type) != w->reads[i])
            return false;
    return true;
}

/* What was made of the filters from the third argument on comes to the key that
 * is the second, whatever is there. */
static int sets_store(work *w, server_context *context, server_string **argv,
                      int argc)
{
    (void)argc;
    bool still = sets_still(w, context, argv);
    const held *old = reply_look(context, argv[1], held_type);
    server_auto_memory(context);
    server_key *key = server_open_key(context, argv[1], SERVER_READ
                                                        | SERVER_WRITE);
    server_set_value(key, held_type, held_keep(w->made));
    work_wake(old);
    if (still)
        server_replicate(context);
    else
        wish_replicate_image(context, argv[1], w->made);
    server_notify(context, SERVER_NOTIFY_MODULE, w->kind->event, argv[1]);
    return server_reply_simple(context, "OK");
}

/* What was made takes the place of what was read, and of nothing else. */
static int sets_replace(work *w, server_context *context, server_string **argv,
                        int argc)
{
    void *value, *old;
    server_key *key;
    (void)argc;
    if (reply_find(&value, &key, context, argv[1], held_type) != FOUND_IT
        || value != w->reads[0])
        return reply_error(context, "the filter was replaced by another one "
                           "meanwhile: nothing was changed");
    server_replace_value(key, held_type, held_keep(w->made), &old);
    work_wake(old);
    held_drop(old);
    reply_changed(context, w->kind->event, argv[1]);
    return server_reply_simple(context, "OK");
}

/* ---- United, intersected, compared --------------------------------------- */

/* bly_unite or bly_intersect, of all that are read. If a filter is watched, its
 * verbs work on a copy: bits are combined fast enough without. */
static void sets_join(work *w,
                      bly_status (*verb)(bly_filter *into,
                                         const bly_filter *other))
{
    bool well = sets_copy(w);
    if (well && (bly_can(w->made->filter) & BLY_CAN_INTERSECT) == 0)
        work_watch_made(w);
    for (size_t i = 1; well && i < w->n; i++)
        well = work_went(w, work_is_gone(w) ? BLY_ECANCELED
                          : verb(w->made->filter, w->reads[i]->filter));
}

static void sets_unite_run(work *w)
{
    sets_join(w, bly_unite);
}

static void sets_intersect_run(work *w)
{
    sets_join(w, bly_intersect);
}

static const work_kind
    sets_unite_work = { .run = sets_unite_run, .finish = sets_store,
                        .changes = true, .event = "bly.unite" },
    sets_intersect_work = { .run = sets_intersect_run, .finish = sets_store,
                            .changes = true, .event = "bly.intersect" };

static int sets_joined(const work_kind *kind, server_context *context,
                       server_string **argv, int argc)
{
    return argc < 3 ? server_wrong_arity(context)
         : sets_do(sets_work(kind, context, argv, 2, argc), context, argv,
                   argc);
}

static int sets_unite_command(server_context *context, server_string **argv,
                              int argc)
{
    return sets_joined(&sets_unite_work, context, argv, argc);
}

static int sets_intersect_command(server_context *context,
                                  server_string **argv, int argc)
{
    return sets_joined(&sets_intersect_work, context, argv, argc);
}

static void sets_overlap_run(work *w)
{
    work_went(w, bly_overlap(&w->found.overlap, w->reads[0]->filter,
                             w->reads[1]->filter));
}

static void sets_estimate(server_context *context, const char *name,
                          bly_estimate estimate)
{
    server_reply_simple(context, name);
    server_reply_array(context, 2);
    server_reply_double(context, estimate.value);
    server_reply_double(context, estimate.sd);
}

static int sets_overlap_finish(work *w, server_context *context,
                               server_string **argv, int argc)
{
    const bly_overlap_t *overlap = &w->found.overlap;
    (void)argv;
    (void)argc;
    server_reply_map(context, 6);
    sets_estimate(context, "First", overlap->a);
    sets_estimate(context, "Second", overlap->b);
    sets_estimate(context, "Either", overlap->either);
    sets_estimate(context, "Both", overlap->both);
    sets_estimate(context, "Differ", overlap->differ);
    sets_estimate(context, "Jaccard", overlap->jaccard);
    return SERVER_OK;
}

static const work_kind sets_overlap_work
    = { .run = sets_overlap_run, .finish = sets_overlap_finish };

static int sets_overlap_command(server_context *context, server_string **argv,
                                int argc)
{
    return argc != 3 ? server_wrong_arity(context)
         : sets_do(sets_work(&sets_overlap_work, context, argv, 1, 3), context,
                   argv, argc);
}

/* ---- Another size -------------------------------------------------------- */

enum { SETS_RESIZE = 32 };              /* times what to read it takes       */

static void sets_resize_run(work *w)
{
    if (sets_copy_watched(w))
        work_went(w, bly_resize(w->made->filter, w->number));
}

static void sets_fold_run(work *w)
{
    if (sets_copy_watched(w))
        work_went(w, bly_fold(w->made->filter, w->number));
}

static const work_kind
    sets_resize_work = { .run = sets_resize_run, .finish = sets_replace,
                         .changes = true, .event = "bly.resize" },
    sets_fold_work = { .run = sets_fold_run, .finish = sets_replace,
                       .changes = true, .event = "bly.fold" };

static int sets_by_number(const work_kind *kind, server_context *context,
                          server_string **argv, int argc, const char *wrong)
{
    uint64_t number;
    if (argc != 3)
        return server_wrong_arity(context);
    if (!wish_number(&number, argv[2]))
        return reply_error(context, wrong);
    work *w = sets_work(kind, context, argv, 1, 2);
    if (w == NULL)
        return SERVER_OK;
    w->number = number;
    return work_do(w, context, argv, argc, SETS_RESIZE * sets_bytes(w));
}

static int sets_resize_command(server_context *context, server_string **argv,
                               int argc)
{
    return sets_by_number(&sets_resize_work, context, argv, argc,
                          "a capacity is a whole number of keys");
}

static int sets_fold_command(server_context *context, server_string **argv,
                             int argc)
{
    return sets_by_number(&sets_fold_work, context, argv, argc,
                          "how many times smaller is a whole number");
}

/* ---- Looked at ----------------------------------------------------------- */

static void sets_info_run(work *w)
{
    work_went(w, bly_stat(&w->found.stat, w->reads[0]->filter));
}

static void sets_abilities(server_context *context, uint64_t can)
{
    long n = 0;
    server_reply_array(context, SERVER_POSTPONED);
    for (int i = 0; i < BLY_ABILITIES; i++)
        if ((can >> i & 1) != 0) {
            server_reply_simple(context, bly_ability(UINT64_C(1) << i));
            n++;
        }
    server_reply_array_was(context, n);
}

static int sets_info_finish(work *w, server_context *context,
                            server_string **argv, int argc)
{
    const bly_stat_t *stat = &w->found.stat;
    const held *value = w->reads[0];
    long fields = 0;
    (void)argv;
    (void)argc;
    bly_stat_each(stat, NULL, wish_count_field, &fields);
    server_reply_map(context, fields + 3);
    bly_stat_each(stat, NULL, wish_reply_field, context);
    server_reply_simple(context, "keyed");
    server_reply_bool(context, value->keyed);
    wish_reply_count(context, "memory", held_bytes(value));
    server_reply_simple(context, "can");
    sets_abilities(context, bly_can(value->filter));
    return SERVER_OK;
}

static const work_kind sets_info_work
    = { .run = sets_info_run, .finish = sets_info_finish };

static int sets_info_command(server_context *context, server_string **argv,
                             int argc)
{
    return argc != 2 ? server_wrong_arity(context)
         : sets_do(sets_work(&sets_info_work, context, argv, 1, 2), context,
                   argv, argc);
}

/* ---- Images -------------------------------------------------------------- */

/* Its checksums are made; the image is then read where it is. */
static void sets_dump_run(work *w)
{
    bly_image(w->reads[0]->filter, &w->length);
}

static int sets_dump_finish(work *w, server_context *context,
                            server_string **argv, int argc)
{
    uint64_t offset = 0, most = UINT64_MAX;
    size_t bytes;
    const char *image = bly_image(w->reads[0]->filter, &bytes);
    if ((argc > 2 && !wish_number(&offset, argv[2]))
        || (argc > 3 && !wish_number(&most, argv[3])))
        return reply_error(context, "an offset and a number of bytes are whole "
                           "numbers");
    uint64_t left = offset < bytes ? bytes - offset : 0;
    return server_reply_bytes(context, left > 0 ? image + offset : "",
                              (size_t)(left < most ? left : most));
}

static const work_kind sets_dump_work
    = { .run = sets_dump_run, .finish = sets_dump_finish };

static int sets_dump_command(server_context *context, server_string **argv,
                             int argc)
{
    return argc > 4 ? server_wrong_arity(context)
         : sets_do(sets_work(&sets_dump_work, context, argv, 1, 2), context,
                   argv, argc);
}

typedef struct {
    bool replace, keyed, told;          /* told: it was given by SECRET      */
    unsigned char secret[BLY_SECRET_BYTES];
} sets_restore;

/* False: an error was replied. */
static bool sets_restore_words(sets_restore *how, server_context *context,
                               server_string **argv, int argc)
{
    *how = (sets_restore){ .replace = false };
    wish_hide(context, argv, argc, 3);
    for (int i = 3; i < argc; i++) {
        size_t n = 0;
        if (reply_is_word(argv[i], "REPLACE")) {
            how->replace = true;
            continue;
        }
        if (!reply_is_word(argv[i], "SECRET")) {
            reply_error(context, "an unknown word: REPLACE and SECRET are "
                        "known");
            return false;
        }
        const char *text = ++i < argc ? server_text(argv[i], &n) : "";
        if (!secret_read(how->secret, text, n)) {
            reply_error(context, "a secret is 32 hexadecimal digits");
            return false;
        }
        how->keyed = how->told = true;
        secret_told(context, how->secret);
    }
    return true;
}

static void sets_restore_run(work *w)
{
    const sets_restore *how = w->bytes;
    size_t n;
    const char *image = server_text(w->given, &n);
    w->made = held_new(how->keyed ? how->secret : NULL);
    const bly_progress progress = work_progress(w);
    bly_options options = held_options(w->made);
    options.progress = &progress;
    bly_status status = bly_unpack(&w->made->filter, image, n, &options);
    if (status == BLY_ESECRET && !how->told)
        work_failed(w, status, "it is keyed by the secret of another server: "
                    "give it by SECRET, as BLY.SECRET tells it there");
    else
        work_went(w, status);
}

static int sets_restore_finish(work *w, server_context *context,
                               server_string **argv, int argc)
{
    const sets_restore *how = w->bytes;
    char digits[SECRET_DIGITS + 1];
    (void)argc;
    server_auto_memory(context);
    server_key *key = server_open_key(context, argv[1],
                                      SERVER_READ | SERVER_WRITE);
    if (!how->replace && server_key_type(key) != SERVER_EMPTY)
        return reply_refuse(context, FOUND_IT);
    server_set_value(key, held_type, held_keep(w->made));
    secret_write(digits, how->secret);
    if (how->keyed)
        server_replicate_as(context, "BLY.RESTORE", "ssccc", argv[1], argv[2],
                            "REPLACE", "SECRET", digits);
    else
        server_replicate_as(context, "BLY.RESTORE", "ssc", argv[1], argv[2],
                            "REPLACE");
    server_notify(context, SERVER_NOTIFY_MODULE, "bly.restore", argv[1]);
    return server_reply_simple(context, "OK");
}

static const work_kind sets_restore_work
    = { .run = sets_restore_run,
        .finish = sets_restore_finish, .changes = true };

static int sets_restore_command(server_context *context, server_string **argv,
                                int argc)
{
    sets_restore how;
    bly_header header;
    size_t n;
    if (argc < 3)
        return server_wrong_arity(context);
    if (!sets_restore_words(&how, context, argv, argc))
        return SERVER_OK;
    const char *image = server_text(argv[2], &n);
    if (bly_peek(&header, image, n) < 0)
        return reply_error(context, bly_why());
    if (!how.keyed && strcmp(header.hash, "siphash") == 0) {
        const unsigned char *secret = secret_of(header.seed);
        how.keyed = secret != NULL;
        if (how.keyed)
            memcpy(how.secret, secret, sizeof how.secret);
    }
    work *w = work_new(&sets_restore_work);
    work_given(w, argv[2]);
    w->bytes = server_allocate(sizeof how);
    memcpy(w->bytes, &how, sizeof how);
    return work_do(w, context, argv, argc,
                   header.bytes > n ? header.bytes : n);
}

/* Categories of commands are not to be had before Redis 7.2: the secret is told
 * to users who may read the server's settings, of which it is one. */
static bool sets_may_see(server_context *context)
{
    server_string *name = server_user_name(context);
    server_string *words[2] = { server_printed(NULL, "CONFIG"),
                                server_printed(NULL, "GET") };
    server_user *user = name != NULL ? server_user_of(name) : NULL;
    bool may = user != NULL && server_user_may(user, words, 2) == SERVER_OK;
    if (user != NULL)
        server_user_free(user);
    if (name != NULL)
        server_free_string(context, name);
    server_free_string(NULL, words[0]);
    server_free_string(NULL, words[1]);
    return may;
}

static int sets_secret_command(server_context *context, server_string **argv,
                               int argc)
{
    char digits[SECRET_DIGITS + 1];
    if (argc != 2)
        return server_wrong_arity(context);
    if (!sets_may_see(context))
        return server_reply_error(context, "NOPERM secrets are for users who "
                                  "may run CONFIG GET");
    const held *value = reply_value(context, argv[1], held_type);
    if (value == NULL)
        return SERVER_OK;
    if (!value->keyed)
        return server_reply_null(context);
    secret_write(digits, value->secret);
    return server_reply_bytes(context, digits, SECRET_DIGITS);
}

/* Only masters and files say it, who know the secret and pass it on. */
static int sets_know_command(server_context *context, server_string **argv,
                             int argc)
{
    unsigned char secret[BLY_SECRET_BYTES];
    size_t n;
    if (argc != 2)
        return server_wrong_arity(context);
    secret_hide(context, 1);
    if ((server_context_flags(context) & (SERVER_LOADING | SERVER_REPLICATED))
        == 0)
        return reply_error(context, "only a master announces secrets: add them "
                           "to bly-known-secrets");
    const char *digits = server_text(argv[1], &n);
    if (!secret_read(secret, digits, n))
        return reply_error(context, "a secret is 32 hexadecimal digits");
    secret_announced(secret);
    secret_told(context, secret);
    server_replicate(context);
    return server_reply_simple(context, "OK");
}

/* Announces the secret of a filter that RESTORE has just made. */
static int sets_restored(server_context *context, int type,
                           const char *event, server_string *key)
{
    char digits[SECRET_DIGITS + 1];
    (void)type;
    if (strcmp(event, "restore") != 0)
        return SERVER_OK;
    const held *value = reply_look(context, key, held_type);
    if (value == NULL || !value->keyed)
        return SERVER_OK;
    secret_write(digits, value->secret);
    server_replicate_as(context, "BLY.KNOWSECRET", "c", digits);
    return SERVER_OK;
}

bool sets_register(server_context *context)
{
    return server_on_keys(context, SERVER_NOTIFY_GENERIC, sets_restored)
        == SERVER_OK;
}

/* ---- What two servers have not in common --------------------------------- */

static bool sets_lists_keys(server_context *context, const work *w)
{
    if ((bly_can(w->reads[0]->filter) & BLY_CAN_SUBTRACT) != 0)
        return true;
    reply_error(context, "only filters that list what they hold tell how sets "
                "differ: make one of kind invertible, for as many keys as may "
                "differ");
    return false;
}

static void sets_sketch_run(work *w)
{
    size_t bytes;
    bly_image(w->reads[0]->filter, &bytes);
    w->bytes = server_try_allocate(bytes);
    if (w->bytes == NULL)
        work_failed(w, BLY_ENOMEM, "out of memory");
    else
        work_went(w, bly_pack(w->reads[0]->filter, w->bytes, bytes,
                              &w->length));
}

static int sets_sketch_finish(work *w, server_context *context,
                              server_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    return server_reply_bytes(context, w->bytes, w->length);
}

static const work_kind sets_sketch_work
    = { .run = sets_sketch_run, .finish = sets_sketch_finish };

static int sets_sketch_command(server_context *context, server_string **argv,
                               int argc)
{
    if (argc != 2)
        return server_wrong_arity(context);
    work *w = sets_work(&sets_sketch_work, context, argv, 1, 2);
    if (w == NULL || sets_lists_keys(context, w))
        return sets_do(w, context, argv, argc);
    work_drop(w);
    return SERVER_OK;
}

/* A key of the difference, as it stands one after the other in the work's
 * bytes: the side, how long it is, and the key itself, or 16 digits of its hash
 * where the filter does not keep it. */
typedef struct {
    int    side;
    size_t length;
} sets_listed;

static bool sets_room(work *w, size_t bytes)
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

/* bly_visit_key. */
static bool sets_list(void *of, const bly_listed *key)
{
    work *w = of;
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)key->hash);
    const void *text = key->key != NULL ? key->key : hash;
    sets_listed entry = { key->side, key->key != NULL ? key->length : 16 };
    if (!sets_room(w, sizeof entry + entry.length)) {
        work_failed(w, BLY_ENOMEM, "out of memory");
        return false;
    }
    char *at = (char *)w->bytes + w->length;
    memcpy(at, &entry, sizeof entry);
    if (entry.length > 0)
        memcpy(at + sizeof entry, text, entry.length);
    w->length += sizeof entry + entry.length;
    return true;
}

static void sets_diff_run(work *w)
{
    const held *mine = w->reads[0];
    size_t n;
    const char *sketch = server_text(w->given, &n);
    held *other = held_new(mine->keyed ? mine->secret : NULL);
    const bly_progress progress = work_progress(w);
    bly_options options = held_options(other);
    options.progress = &progress;
    if (work_went(w, bly_unpack(&other->filter, sketch, n, &options))
        && sets_copy_watched(w)
        && work_went(w, bly_subtract(w->made->filter, other->filter))) {
        bly_status status = bly_list_keys(w->made->filter, sets_list, w);
        if (status < 0)
            work_went(w, status);
    }
    held_drop(other);
}

/* The keys of one side. */
static void sets_reply_side(const work *w, server_context *context, int side)
{
    long n = 0;
    sets_listed entry;
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

static int sets_diff_finish(work *w, server_context *context,
                            server_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    server_reply_map(context, 2);
    server_reply_simple(context, "Here");
    sets_reply_side(w, context, 1);
    server_reply_simple(context, "There");
    sets_reply_side(w, context, -1);
    return SERVER_OK;
}

static const work_kind sets_diff_work
    = { .run = sets_diff_run, .finish = sets_diff_finish };

static int sets_diff_command(server_context *context, server_string **argv,
                             int argc)
{
    if (argc != 3)
        return server_wrong_arity(context);
    work *w = sets_work(&sets_diff_work, context, argv, 1, 2);
    if (w == NULL)
        return SERVER_OK;
    work_given(w, argv[2]);
    if (sets_lists_keys(context, w))
        return sets_do(w, context, argv, argc);
    work_drop(w);
    return SERVER_OK;
}

/* ---- What there is ------------------------------------------------------- */

static int sets_plan_command(server_context *context, server_string **argv,
                             int argc)
{
    wish wanted;
    bly_plan_t plan;
    long fields = 0;
    if (argc < 2)
        return server_wrong_arity(context);
    if (!wish_read(&wanted, NULL, context, argv, 1, argc)
        || !wish_plan(&plan, &wanted, context))
        return SERVER_OK;
    bly_plan_each(&plan, wish_count_field, &fields);
    server_reply_map(context, fields);
    bly_plan_each(&plan, wish_reply_field, context);
    return SERVER_OK;
}

static bool sets_is_named(const bly_kind_info *kind, const server_string *name)
{
    const bly_alias_info *const *alias = kind->aliases;
    while (*alias != NULL && !reply_is_word(name, (*alias)->name))
        alias++;
    return *alias != NULL || reply_is_word(name, kind->name);
}

static const bly_kind_info *sets_kind(const server_string *name)
{
    const bly_kind_info *const *kinds = bly_kinds(NULL);
    while (*kinds != NULL && !sets_is_named(*kinds, name))
        kinds++;
    return *kinds;
}

static void sets_options(server_context *context, const bly_kind_info *kind)
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

static int sets_kinds_command(server_context *context, server_string **argv,
                              int argc)
{
    long n = 0;
    if (argc > 2)
        return server_wrong_arity(context);
    if (argc == 2) {
        const bly_kind_info *kind = sets_kind(argv[1]);
        if (kind == NULL)
            return reply_error(context, "there is no such kind: BLY.KINDS "
                               "lists them");
        server_reply_map(context, 5);
        wish_reply_text(context, "Kind", kind->name);
        wish_reply_text(context, "Family", kind->family);
        wish_reply_text(context, "Summary", kind->summary);
        server_reply_simple(context, "Can");
        sets_abilities(context, kind->can);
        sets_options(context, kind);
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
        sets_abilities(context, (*kind)->can);
        n++;
    }
    server_reply_array_was(context, n);
    return SERVER_OK;
}

/* The abilities behind the word CAN. False: an error was replied. */
static bool sets_needs(uint64_t *can, server_context *context,
                       server_string **argv, int first, int argc)
{
    for (int i = first; i < argc; i++) {
        int bit = 0;
        while (bit < BLY_ABILITIES
               && !reply_is_word(argv[i], bly_ability(UINT64_C(1) << bit)))
            bit++;
        if (bit == BLY_ABILITIES) {
            reply_error(context, "an unknown ability: BLY.KINDS tells what "
                        "kinds can");
            return false;
        }
        *can |= UINT64_C(1) << bit;
    }
    return true;
}

/* CAPACITY n [RATE p] [FIXED] [SMALL|FAST] [CAN ability…] */
static bool sets_need(bly_need *need, server_context *context,
                      server_string **argv, int argc)
{
    *need = (bly_need){ .rate = settings.held_rate, .present = 0.5 };
    for (int i = 1; i < argc; i++) {
        bool valued = i + 1 < argc;
        if (reply_is_word(argv[i], "FIXED"))
            need->fixed = true;
        else if (reply_is_word(argv[i], "SMALL"))
            need->aim = BLY_AIM_SMALL;
        else if (reply_is_word(argv[i], "FAST"))
            need->aim = BLY_AIM_FAST;
        else if (reply_is_word(argv[i], "CAN") && valued)
            return sets_needs(&need->can, context, argv, i + 1, argc);
        else if (reply_is_word(argv[i], "CAPACITY") && valued
                 && wish_number(&need->capacity, argv[i + 1]))
            i++;
        else if (reply_is_word(argv[i], "RATE") && valued) {
            if (!reply_rate(&need->rate, argv[++i])) {
                reply_error(context, REPLY_RATE_WRONG);
                return false;
            }
        } else {
            reply_error(context, "what is needed is told by CAPACITY n, RATE "
                        "p, FIXED, SMALL or FAST, and CAN with abilities");
            return false;
        }
    }
    return true;
}

static void sets_advise_run(work *w)
{
    bly_ranking *ranking;
    if (work_went(w, bly_advise(&ranking, w->bytes)))
        w->found.other = ranking;
}

static int sets_advise_finish(work *w, server_context *context,
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

static void sets_advise_forget(work *w)
{
    bly_ranking_free(w->found.other);
}

static const work_kind sets_advise_work
    = { .run = sets_advise_run, .finish = sets_advise_finish,
        .forget = sets_advise_forget };

/* It takes tens of milliseconds, whatever the need. */
static int sets_advise_command(server_context *context, server_string **argv,
                               int argc)
{
    bly_need need;
    if (argc < 3)
        return server_wrong_arity(context);
    if (!sets_need(&need, context, argv, argc))
        return SERVER_OK;
    work *w = work_new(&sets_advise_work);
    w->bytes = server_allocate(sizeof need);
    memcpy(w->bytes, &need, sizeof need);
    return work_do(w, context, argv, argc, WORK_LARGE);
}

/* ---- The commands -------------------------------------------------------- */

#define SETS_ALL "O(n), where n is the bytes of the filter"
#define SETS_EACH "O(n), where n is the bytes of all filters"

const command sets_commands[] = {
    { "bly.unite", "dest source…", "Makes a filter of the items that are in "
      "any of several", SETS_EACH, "1.0.0", sets_unite_command,
      "write deny-oom", "write bloomery", -3 },
    { "bly.intersect", "dest source…", "Makes a filter of the items that are "
      "in all of several", SETS_EACH, "1.0.0", sets_intersect_command,
      "write deny-oom", "write bloomery", -3 },
    { "bly.overlap", "key other", "Estimates how many items two filters have "
      "in common", SETS_EACH, "1.0.0", sets_overlap_command, "readonly",
      "read bloomery", 3 },
    { "bly.resize", "key capacity", "Gives a filter room for another number of "
      "items", SETS_ALL, "1.0.0", sets_resize_command, "write deny-oom",
      "write bloomery", 3 },
    { "bly.fold", "key times", "Makes a filter so many times smaller",
      SETS_ALL, "1.0.0", sets_fold_command, "write", "write bloomery", 3 },
    { "bly.info", "key", "Tells what a filter is and how full it is", SETS_ALL,
      "1.0.0", sets_info_command, "readonly", "read bloomery", 2 },
    { "bly.dump", "key [offset] [bytes]", "Gives a filter's image, or a part "
      "of it: what its file would be", SETS_ALL, "1.0.0", sets_dump_command,
      "readonly", "read bloomery", -2 },
    { "bly.restore", "key image [REPLACE] [SECRET secret]", "Makes a filter of "
      "an image, or of a file that bloomery wrote", SETS_ALL, "1.0.0",
      sets_restore_command, "write deny-oom", "write bloomery", -3 },
    { "bly.secret", "key", "Tells the secret of a keyed filter", "O(1)",
      "1.0.0", sets_secret_command, "readonly admin",
      "read admin dangerous bloomery", 2 },
    { "bly.knowsecret", "secret", "Announces the secret of a filter that a "
      "master restores next", "O(1)", "1.0.0", sets_know_command,
      "write admin", "write admin dangerous bloomery", 2 },
    { "bly.sketch", "key", "Gives a filter of kind invertible for BLY.DIFF of "
      "another server", SETS_ALL, "1.0.0", sets_sketch_command, "readonly",
      "read bloomery", 2 },
    { "bly.diff", "key sketch", "Lists the items that are here and not in a "
      "sketch, and the other way round", SETS_ALL, "1.0.0", sets_diff_command,
      "readonly", "read bloomery", 3 },
    { "bly.plan", "kind [CAPACITY capacity] [RATE rate]", "Tells what a filter "
      "would cost", "O(1)", "1.0.0", sets_plan_command, "readonly fast",
      "read fast bloomery", -2 },
    { "bly.advise", "CAPACITY capacity [RATE rate] [FIXED] [SMALL|FAST] [CAN "
      "ability…]", "Tells which kinds suit a need, the best first",
      "O(1), some tens of milliseconds", "1.0.0", sets_advise_command,
      "readonly", "read bloomery", -3 },
    { "bly.kinds", "[kind]", "Lists the kinds, or the options of one", "O(1)",
      "1.0.0", sets_kinds_command, "readonly fast", "read fast bloomery", -1 },
    { .name = NULL },
};
