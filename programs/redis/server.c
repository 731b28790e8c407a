/* server.c - finds the functions of the module interface by name. */
#include "redis/server.h"

#include <string.h>

#define SERVER_FUNCTION(ours, theirs, result, arguments)                       \
    result (*server_##ours) arguments;
SERVER_NEEDED(SERVER_FUNCTION)
SERVER_WANTED(SERVER_FUNCTION)
#undef SERVER_FUNCTION

typedef int server_find(const char *name, void *function);

/* A context begins with the function that finds the others. */
static server_find *server_finder(server_context *context)
{
    server_find *find;
    memcpy(&find, context, sizeof find);
    return find;
}

const char *server_bind(server_context *context)
{
    server_find *find = server_finder(context);
    const char *missing = NULL;
#define SERVER_FUNCTION(ours, theirs, result, arguments)                       \
    if (find("RedisModule_" #theirs, &server_##ours) != SERVER_OK)             \
        missing = #theirs;
    SERVER_NEEDED(SERVER_FUNCTION)
#undef SERVER_FUNCTION
#define SERVER_FUNCTION(ours, theirs, result, arguments)                       \
    if (find("RedisModule_" #theirs, &server_##ours) != SERVER_OK)             \
        server_##ours = NULL;
    SERVER_WANTED(SERVER_FUNCTION)
#undef SERVER_FUNCTION
    return missing;
}
