/* cmd_secrets.c - BLY.SECRET and BLY.KNOWSECRET: the secrets of keyed
 * filters. */
#include "redis/held.h"

#include <string.h>

/* Returns whether the user may see secrets. Before Redis 7.2 a module cannot
 * query categories of commands, so users who may run CONFIG GET may: the
 * server's secret is one of its redis_settings. */
static bool secrets_may_see(server_context *context)
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

static int secrets_command(server_context *context, server_string **argv,
                           int argc)
{
    char digits[SECRET_DIGITS + 1];
    if (argc != 2)
        return server_wrong_arity(context);
    if (!secrets_may_see(context))
        return server_reply_error(context, "NOPERM only users who may run "
                                  "CONFIG GET can read secrets");
    const held *value = reply_value(context, argv[1], redis_held_type);
    if (value == NULL)
        return SERVER_OK;
    if (!value->keyed)
        return server_reply_null(context);
    redis_secret_write(digits, value->secret);
    return server_reply_bytes(context, digits, SECRET_DIGITS);
}

/* Learns a secret. Only masters and append-only files, which know it, send this
 * command. */
static int secrets_know_command(server_context *context, server_string **argv,
                                int argc)
{
    unsigned char secret[BLY_SECRET_BYTES];
    size_t n;
    if (argc != 2)
        return server_wrong_arity(context);
    redis_secret_hide(context, 1);
    if ((server_context_flags(context) & (SERVER_LOADING | SERVER_REPLICATED))
        == 0)
        return reply_error(context, "only a master announces secrets: add them "
                           "to bly-known-secrets");
    const char *digits = server_text(argv[1], &n);
    if (!redis_secret_read(secret, digits, n))
        return reply_error(context, "a secret must be 32 hexadecimal digits");
    redis_secret_announced(secret);
    redis_secret_told(context, secret);
    server_replicate(context);
    return server_reply_simple(context, "OK");
}

/* Announces the secret of a filter that RESTORE has just made. */
static int secrets_restored(server_context *context, int type,
                           const char *event, server_string *key)
{
    char digits[SECRET_DIGITS + 1];
    (void)type;
    if (strcmp(event, "restore") != 0)
        return SERVER_OK;
    const held *value = reply_look(context, key, redis_held_type);
    if (value == NULL || !value->keyed)
        return SERVER_OK;
    redis_secret_write(digits, value->secret);
    server_replicate_as(context, "BLY.KNOWSECRET", "c", digits);
    return SERVER_OK;
}

bool secrets_register(server_context *context)
{
    return server_on_keys(context, SERVER_NOTIFY_GENERIC, secrets_restored)
        == SERVER_OK;
}

const command secrets_commands[] = {
    { "bly.secret", "key", "Returns the secret of a keyed filter", "O(1)",
      "1.0.0", secrets_command, "readonly admin", "read admin dangerous "
      "bloomery", 2 },
    { "bly.knowsecret", "secret", "Announces the secret of a filter that a "
      "master restores next", "O(1)", "1.0.0", secrets_know_command,
      "write admin", "write admin dangerous bloomery", 2 },
    { .name = NULL },
};
