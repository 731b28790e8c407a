/* reply.c - replies that several commands give, and keys of the keyspace. */
#include "redis/module.h"

#include <string.h>
#include <strings.h>

static const char REPLY_OTHER[]
    = "WRONGTYPE Operation against a key holding the wrong kind of value";

found reply_find(void **value, server_key **key, server_context *context,
                 server_string *name, int mode, server_type *type)
{
    found what = FOUND_NONE;
    if ((mode & SERVER_WRITE) != 0)
        server_auto_memory(context);
    server_key *open = server_open_key(context, name, mode);
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

int reply_lacks(server_context *context, found what)
{
    return server_reply_error(context, what == FOUND_OTHER ? REPLY_OTHER
                                                           : "ERR not found");
}

int reply_exists(server_context *context, found what)
{
    return server_reply_error(context, what == FOUND_OTHER ? REPLY_OTHER
                                                           : "ERR item exists");
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

bool reply_number(long long *out, server_context *context,
                  const server_string *argument, const reply_range *range)
{
    if (server_to_number(argument, out) != SERVER_OK)
        server_reply_error(context, range->bad);
    else if (*out < range->least || *out > range->most)
        server_reply_error(context, range->out);
    else
        return true;
    return false;
}
