/* reply.c - replies that several commands give, and keys of the keyspace. */
#include "redis/module.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { REPLY_BATCH = 64 };              /* keys that are asked together      */

found reply_find(void **value, server_key **key, server_context *context,
                 server_string *name, server_type *type)
{
    found what = FOUND_NONE;
    if (key != NULL)
        server_auto_memory(context);
    server_key *open = server_open_key(context, name, SERVER_READ
                                       | (key != NULL ? SERVER_WRITE : 0));
    *value = NULL;
    if (open != NULL && server_key_type(open) != SERVER_EMPTY)
        what = server_value_type(open) == type ? FOUND_IT : FOUND_OTHER;
    if (what == FOUND_IT)
        *value = server_value(open);
    if (key != NULL)
        *key = open;
    else
        server_close_key(open);
    return what;
}

int reply_refuse(server_context *context, found what)
{
    static const char *const words[] = {
        [FOUND_NONE] = "ERR not found",
        [FOUND_OTHER] = ("WRONGTYPE Operation against a key holding the wrong "
                         "kind of value"),
        [FOUND_IT] = "ERR item exists",
    };
    return server_reply_error(context, words[what]);
}

/* Messages of the library name its functions. "bly_resize" is BLY.RESIZE here.
 */
static void reply_verbs(char *text)
{
    for (char *at = text; (at = strstr(at, "bly_")) != NULL; ) {
        at[3] = '.';
        for (; (*at >= 'a' && *at <= 'z') || *at == '.'; at++)
            *at = (char)toupper((unsigned char)*at);
    }
}

int reply_error(server_context *context, const char *why)
{
    static const char set[] = "bly_form_set";   /* BLY.STATEKEYS here        */
    const char *at = strstr(why, set);
    size_t before = at != NULL ? (size_t)(at - why) : strlen(why);
    char text[600];
    snprintf(text, sizeof text, "ERR %.*s%s%s", (int)before, why,
             at != NULL ? "BLY.STATEKEYS" : "",
             at != NULL ? at + sizeof set - 1 : "");
    reply_verbs(text);
    return server_reply_error(context, text);
}

int reply_why(server_context *context)
{
    return reply_error(context, bly_why_in("redis"));
}

void *reply_look(server_context *context, server_string *name,
                 server_type *type)
{
    void *value;
    reply_find(&value, NULL, context, name, type);
    return value;
}

void *reply_value(server_context *context, server_string *name,
                  server_type *type)
{
    void *value;
    found what = reply_find(&value, NULL, context, name, type);
    if (what != FOUND_IT)
        reply_refuse(context, what);
    return value;
}

bool reply_asks(void **value, server_context *context, server_string *name,
                server_type *type)
{
    found what = reply_find(value, NULL, context, name, type);
    if (what != FOUND_OTHER
        || reply_look(context, name, redis_held_type) == NULL)
        return true;
    reply_refuse(context, what);
    return false;
}

bool reply_is_3(server_context *context)
{
    return (server_context_flags(context) & SERVER_RESP3) != 0;
}

void reply_pair(server_context *context, const char *name, uint64_t number)
{
    server_reply_simple(context, name);
    server_reply_number(context, (long long)number);
}

void reply_changed(server_context *context, const char *event,
                   server_string *name)
{
    server_replicate(context);
    server_notify(context, SERVER_NOTIFY_MODULE, event, name);
}

bool reply_is_word(const server_string *argument, const char *word)
{
    size_t length;
    const char *text = server_text(argument, &length);
    return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

bly_key reply_key(const server_string *argument)
{
    bly_key key;
    key.data = server_text(argument, &key.length);
    return key;
}

void reply_keys(bly_key *keys, server_string **argv, int n)
{
    for (int i = 0; i < n; i++)
        keys[i] = reply_key(argv[i]);
}

int reply_each(server_context *context, server_string **argv, int argc,
               const void *filter, reply_ask *ask)
{
    server_reply_array(context, argc - 2);
    for (int i = 2, some; i < argc; i += some) {
        bly_key key[REPLY_BATCH];
        bool present[REPLY_BATCH] = { false };
        some = argc - i < REPLY_BATCH ? argc - i : REPLY_BATCH;
        bly_keys keys = { .n = (size_t)some, .keys = key };
        reply_keys(key, argv + i, some);
        if (filter != NULL)
            (void)ask(filter, &keys, present);
        for (int j = 0; j < some; j++)
            server_reply_bool(context, present[j]);
    }
    return SERVER_OK;
}

bool reply_rate(double *rate, const server_string *argument)
{
    double told;
    if (server_to_double(argument, &told) != SERVER_OK
        || !(told > 0 && told < 1))
        return false;
    *rate = told;
    return true;
}

bool reply_number(long long *out, server_context *context,
                  const server_string *argument, const reply_range *range,
                  const char *bad)
{
    if (server_to_number(argument, out) != SERVER_OK)
        server_reply_error(context, bad);
    else if (*out < range->least || *out > range->most)
        server_reply_error(context, range->out);
    else
        return true;
    return false;
}
