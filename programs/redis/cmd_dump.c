/* cmd_dump.c - BLY.DUMP and BLY.RESTORE: the images of filters. */
#include "redis/whole.h"
#include "redis/wish.h"

#include <string.h>

/* Makes the checksums; the reply then reads the image in place. */
static void dump_run(work *w)
{
    bly_image(w->reads[0]->filter, &w->length);
}

static int dump_finish(work *w, server_context *context,
                       server_string **argv, int argc)
{
    uint64_t offset = 0, most = UINT64_MAX;
    size_t bytes;
    const char *image = bly_image(w->reads[0]->filter, &bytes);
    if ((argc > 2 && !wish_number(&offset, argv[2]))
        || (argc > 3 && !wish_number(&most, argv[3])))
        return reply_error(context, "the offset and the number of bytes must "
                           "be whole numbers");
    uint64_t left = offset < bytes ? bytes - offset : 0;
    return server_reply_bytes(context, left > 0 ? image + offset : "",
                              (size_t)(left < most ? left : most));
}

static const redis_work_kind dump_work
    = { .run = dump_run, .finish = dump_finish };

static int dump_command(server_context *context, server_string **argv, int argc)
{
    return argc > 4 ? server_wrong_arity(context)
         : whole_do(whole_work(&dump_work, context, argv, 1, 2), context,
                    argv, argc);
}

typedef struct {
    bool replace, keyed, told;          /* whether SECRET was given          */
    unsigned char secret[BLY_SECRET_BYTES];
} dump_restore;

/* Reads the words after the image. Returns false after an error reply. */
static bool dump_restore_words(dump_restore *how, server_context *context,
                               server_string **argv, int argc)
{
    *how = (dump_restore){ .replace = false };
    wish_hide(context, argv, argc, 3);
    for (int i = 3; i < argc; i++) {
        size_t n = 0;
        if (reply_is_word(argv[i], "REPLACE")) {
            how->replace = true;
            continue;
        }
        if (!reply_is_word(argv[i], "SECRET")) {
            reply_error(context, "unknown word: use REPLACE or SECRET");
            return false;
        }
        const char *text = ++i < argc ? server_text(argv[i], &n) : "";
        if (!redis_secret_read(how->secret, text, n)) {
            reply_error(context, "a secret must be 32 hexadecimal digits");
            return false;
        }
        how->keyed = how->told = true;
        redis_secret_told(context, how->secret);
    }
    return true;
}

static void dump_restore_run(work *w)
{
    const dump_restore *how = w->bytes;
    size_t n;
    const char *image = server_text(w->given, &n);
    w->made = redis_held_new(how->keyed ? how->secret : NULL);
    const bly_progress progress = redis_work_progress(w);
    bly_options options = redis_held_options(w->made);
    options.progress = &progress;
    bly_status status = bly_unpack(&w->made->filter, image, n, &options);
    if (status == BLY_ESECRET && !how->told)
        redis_work_failed(w, status,
                          "it is keyed with the secret of another server: give "
                          "that with SECRET, as BLY.SECRET prints it there");
    else
        redis_work_went(w, status);
}

static int dump_restore_finish(work *w, server_context *context,
                               server_string **argv, int argc)
{
    const dump_restore *how = w->bytes;
    char digits[SECRET_DIGITS + 1];
    (void)argc;
    server_auto_memory(context);
    server_key *key = server_open_key(context, argv[1],
                                      SERVER_READ | SERVER_WRITE);
    if (!how->replace && server_key_type(key) != SERVER_EMPTY)
        return reply_refuse(context, FOUND_IT);
    server_set_value(key, redis_held_type, redis_held_keep(w->made));
    redis_secret_write(digits, how->secret);
    if (how->keyed)
        server_replicate_as(context, "BLY.RESTORE", "ssccc", argv[1], argv[2],
                            "REPLACE", "SECRET", digits);
    else
        server_replicate_as(context, "BLY.RESTORE", "ssc", argv[1], argv[2],
                            "REPLACE");
    server_notify(context, SERVER_NOTIFY_MODULE, "bly.restore", argv[1]);
    return server_reply_simple(context, "OK");
}

static const redis_work_kind dump_restore_work
    = { .run = dump_restore_run,
        .finish = dump_restore_finish, .changes = true };

static int dump_restore_command(server_context *context, server_string **argv,
                                int argc)
{
    dump_restore how;
    bly_header header;
    size_t n;
    if (argc < 3)
        return server_wrong_arity(context);
    if (!dump_restore_words(&how, context, argv, argc))
        return SERVER_OK;
    const char *image = server_text(argv[2], &n);
    if (bly_peek(&header, image, n) < 0)
        return reply_why(context);
    if (!how.keyed && strcmp(header.hash, "siphash") == 0) {
        const unsigned char *secret = redis_secret_of(header.seed);
        how.keyed = secret != NULL;
        if (how.keyed)
            memcpy(how.secret, secret, sizeof how.secret);
    }
    work *w = redis_work_new(&dump_restore_work);
    redis_work_given(w, argv[2]);
    w->bytes = server_allocate(sizeof how);
    memcpy(w->bytes, &how, sizeof how);
    return redis_work_do(w, context, argv, argc,
                         header.bytes > n ? header.bytes : n);
}

const command dump_commands[] = {
    { "bly.dump", "key [offset] [bytes]", "Returns the bytes of a filter's "
      "file, or a part of them", WHOLE_ALL, "1.0.0", dump_command, "readonly",
      "read bloomery", -2 },
    { "bly.restore", "key image [REPLACE] [SECRET secret]", "Creates a filter "
      "from an image, or from the bytes of a bloomery file", WHOLE_ALL, "1.0.0",
      dump_restore_command, "write deny-oom", "write bloomery", -3 },
    { .name = NULL },
};
