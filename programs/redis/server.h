/* server.h - the part of the Redis and Valkey module interface that we use.
 *
 * The servers' own headers declare hundreds of functions, and Debian packages
 * none of them. This header declares the functions that we call, under our own
 * names, with the documented types and numbers. A module looks them up by name
 * when it is loaded (server_bind). All functions of 7.0 are required. Later
 * ones are NULL in an older server, so callers must check.
 *
 * THREADS
 *
 * The server calls a module from its main thread, except for `free` of a value
 * released in the background, and for `rdb_save` and `aof_rewrite`, which run
 * in a child process. From its own threads a module may only call
 * `try_allocate`, `release` and `unblock`.
 */
#ifndef BLY_REDIS_SERVER_H
#define BLY_REDIS_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct server_context server_context;
typedef struct server_string  server_string;
typedef struct server_key     server_key;
typedef struct server_io      server_io;        /* a dump, or the AOF        */
typedef struct server_type    server_type;
typedef struct server_entry   server_entry;     /* a registered command      */
typedef struct server_digest  server_digest;
typedef struct server_defrag  server_defrag;
typedef struct server_figures server_figures;   /* of INFO                   */
typedef struct server_blocked server_blocked;   /* a waiting client          */
typedef struct server_user    server_user;

enum {
    SERVER_OK = 0, SERVER_ERR = 1, SERVER_API = 1,
    SERVER_READ = 1 << 0, SERVER_WRITE = 1 << 1,        /* open_key          */
    SERVER_EMPTY = 0,                                   /* key_type          */
    SERVER_POSTPONED = -1,                              /* reply_array       */
    SERVER_IN_SCRIPT = 1 << 0, SERVER_IN_MULTI = 1 << 1,
    SERVER_READ_ONLY = 1 << 4, SERVER_EVICTS = 1 << 9,
    SERVER_REPLICATED = 1 << 12, SERVER_LOADING = 1 << 13,
    SERVER_IS_CHILD = 1 << 20, SERVER_NEVER_BLOCKS = 1 << 21,
    SERVER_RESP3 = 1 << 22,                             /* context_flags     */
    SERVER_NOTIFY_GENERIC = 1 << 2,
    SERVER_NOTIFY_MODULE = 1 << 13,                     /* notify            */
    SERVER_PERSISTS = 1, SERVER_SAVED = 3, SERVER_NOT_SAVED = 4, /* on_event */
    SERVER_HANDLES_IO_ERRORS = 1 << 0,                  /* set_options       */
    SERVER_SECRET = 1 << 1, SERVER_UNPREFIXED = 1 << 9, /* register_…        */
    SERVER_TYPE_METHODS = 4                             /* version of 7.0    */
};

typedef int server_call(server_context *context, server_string **argv,
                        int argc);

/* The methods of a type of values. */
typedef struct {
    uint64_t version;
    void  *(*rdb_load)(server_io *rdb, int version);
    void   (*rdb_save)(server_io *rdb, void *value);
    void   (*aof_rewrite)(server_io *aof, server_string *key, void *value);
    size_t (*mem_usage)(const void *value);
    void   (*digest)(server_digest *digest, void *value);
    void   (*free)(void *value);
    void   (*unused[2])(void);          /* aux_load, aux_save                */
    int    triggers;
    size_t (*free_effort)(server_string *key, const void *value);
    void   (*unlink)(server_string *key, const void *value);
    void  *(*copy)(server_string *from, server_string *to, const void *value);
    int    (*defrag)(server_defrag *defrag, server_string *key, void **value);
    void   (*later[5])(void);           /* variants with other arguments     */
} server_methods;

/* ---- Documentation of a command --------------------------------------- */

typedef enum {
    SERVER_ARG_STRING, SERVER_ARG_INTEGER, SERVER_ARG_DOUBLE, SERVER_ARG_KEY,
    SERVER_ARG_PATTERN, SERVER_ARG_UNIX_TIME, SERVER_ARG_TOKEN,
    SERVER_ARG_ONE_OF, SERVER_ARG_BLOCK
} server_arg_type;

enum { SERVER_ARG_OPTIONAL = 1, SERVER_ARG_MULTIPLE = 2 };

typedef struct server_arg {
    const char *name;
    server_arg_type type;
    int key_spec;                       /* index of a key; else -1           */
    const char *token, *summary, *since;
    int flags;                          /* SERVER_ARG_…                      */
    const char *deprecated_since;
    struct server_arg *inner;
    const char *display;
} server_arg;

enum {
    SERVER_KEY_READ = 1 << 0, SERVER_KEY_CHANGE = 1 << 1,
    SERVER_KEY_ACCESS = 1 << 4, SERVER_KEY_UPDATE = 1 << 5,
    SERVER_KEY_INSERT = 1 << 6, SERVER_KEY_DELETE = 1 << 7,
    SERVER_KEYS_AT = 2,                 /* `begin`                           */
    SERVER_KEYS_TO = 2                  /* `find`                            */
};

typedef struct {
    const char *notes;
    uint64_t flags;                     /* SERVER_KEY_…                      */
    int begin;
    union {
        struct { int at; } index;
        struct { const char *word; int from; } keyword;
    } first;
    int find;
    union {
        struct { int last, step, limit; } range;
        struct { int count, first, step; } counted;
    } rest;
} server_keys;

typedef struct { const char *since, *changes; } server_history;

typedef struct {
    int version;
    size_t history_bytes, keys_bytes, arg_bytes;
} server_sizes;

typedef struct {
    const server_sizes *sizes;
    const char *summary, *complexity, *since;
    server_history *history;
    const char *tips;
    int arity;                          /* -n: n or more                     */
    server_keys *keys;                  /* a zeroed entry ends the list      */
    server_arg *args;                   /* an entry with a NULL name ends the
                                           list                              */
} server_docs;

/* ---- Functions ----------------------------------------------------------- */

typedef int server_set_number(const char *name, long long value, void *setting,
                              server_string **error);
typedef long long server_get_number(const char *name, void *setting);
typedef int server_set_text(const char *name, server_string *value,
                            void *setting, server_string **error);
typedef server_string *server_get_text(const char *name, void *setting);
typedef int server_apply(server_context *context, void *setting,
                         server_string **error);
/* An event in the server: SERVER_PERSISTS, with `what` as its step. */
typedef struct { uint64_t id, version; } server_event;
typedef void server_happens(server_context *context, server_event event,
                            uint64_t what, void *data);
typedef int  server_notices(server_context *context, int type,
                            const char *event, server_string *key);
typedef void server_forget(server_context *context, void *data);
typedef void server_gone(server_context *context, server_blocked *client);

/* X(our name, their name, result, arguments). */
#define SERVER_NEEDED(X)                                                       \
    X(attributes, SetModuleAttribs, void, (server_context *context,            \
                                           const char *name, int version,      \
                                           int api))                           \
    X(name_busy, IsModuleNameBusy, int, (const char *name))                    \
    X(set_options, SetModuleOptions, void, (server_context *context,           \
                                            int options))                      \
    X(log, Log, void, (server_context *context, const char *level,             \
                       const char *format, ...))                               \
    X(log_io, LogIOError, void, (server_io *io, const char *level,             \
                                 const char *format, ...))                     \
    X(context_flags, GetContextFlags, int, (server_context *context))          \
    X(auto_memory, AutoMemory, void, (server_context *context))                \
    X(allocate, Alloc, void *, (size_t bytes))                                 \
    X(allocate_zeroed, Calloc, void *, (size_t n, size_t bytes))               \
    X(release, Free, void, (void *memory))                                     \
    X(try_allocate, TryAlloc, void *, (size_t bytes))                          \
    X(figures_of, GetServerInfo, server_figures *, (server_context *context,   \
                                                 const char *section))         \
    X(figure, ServerInfoGetFieldUnsigned, unsigned long long,                  \
      (server_figures *figures, const char *name, int *error))                 \
    X(figures_free, FreeServerInfo, void, (server_context *context,            \
                                           server_figures *figures))           \
    X(create_command, CreateCommand, int, (server_context *context,            \
                                           const char *name,                   \
                                           server_call *call,                  \
                                           const char *flags, int first,       \
                                           int last, int step))                \
    X(command, GetCommand, server_entry *, (server_context *context,           \
                                            const char *name))                 \
    X(set_docs, SetCommandInfo, int, (server_entry *command,                   \
                                      const server_docs *docs))                \
    X(create_type, CreateDataType, server_type *, (server_context *context,    \
                                                   const char *name,           \
                                                   int version,                \
                                                   server_methods *methods))   \
    X(register_number, RegisterNumericConfig, int,                             \
      (server_context *context, const char *name, long long standard,          \
       unsigned flags, long long least, long long most,                        \
       server_get_number *get, server_set_number *set, server_apply *apply,    \
       void *setting))                                                         \
    X(register_text, RegisterStringConfig, int,                                \
      (server_context *context, const char *name, const char *standard,        \
       unsigned flags, server_get_text *get, server_set_text *set,             \
       server_apply *apply, void *setting))                                    \
    X(load_settings, LoadConfigs, int, (server_context *context))              \
    X(open_key, OpenKey, server_key *, (server_context *context,               \
                                        server_string *name, int mode))        \
    X(close_key, CloseKey, void, (server_key *key))                            \
    X(key_type, KeyType, int, (server_key *key))                               \
    X(value_type, ModuleTypeGetType, server_type *, (server_key *key))         \
    X(value, ModuleTypeGetValue, void *, (server_key *key))                    \
    X(set_value, ModuleTypeSetValue, int, (server_key *key,                    \
                                           server_type *type, void *value))    \
    X(replace_value, ModuleTypeReplaceValue, int, (server_key *key,            \
                                                   server_type *type,          \
                                                   void *value, void **old))   \
    X(keep_string, RetainString, void, (server_context *context,               \
                                        server_string *string))                \
    X(text, StringPtrLen, const char *, (const server_string *string,          \
                                         size_t *length))                      \
    X(to_number, StringToLongLong, int, (const server_string *string,          \
                                         long long *number))                   \
    X(to_double, StringToDouble, int, (const server_string *string,            \
                                       double *number))                        \
    X(printed, CreateStringPrintf, server_string *, (server_context *context,  \
                                                     const char *format, ...)) \
    X(free_string, FreeString, void, (server_context *context,                 \
                                      server_string *string))                  \
    X(wrong_arity, WrongArity, int, (server_context *context))                 \
    X(reply_number, ReplyWithLongLong, int, (server_context *context,          \
                                             long long number))                \
    X(reply_bool, ReplyWithBool, int, (server_context *context, int is))       \
    X(reply_double, ReplyWithDouble, int, (server_context *context,            \
                                           double number))                     \
    X(reply_null, ReplyWithNull, int, (server_context *context))               \
    X(reply_error, ReplyWithError, int, (server_context *context,              \
                                         const char *text))                    \
    X(reply_simple, ReplyWithSimpleString, int, (server_context *context,      \
                                                 const char *text))            \
    X(reply_bytes, ReplyWithStringBuffer, int, (server_context *context,       \
                                                const char *bytes,             \
                                                size_t n))                     \
    X(reply_array, ReplyWithArray, int, (server_context *context, long n))     \
    X(reply_map, ReplyWithMap, int, (server_context *context, long n))         \
    X(reply_array_was, ReplySetArrayLength, void, (server_context *context,    \
                                                   long n))                    \
    X(replicate, ReplicateVerbatim, int, (server_context *context))            \
    X(replicate_as, Replicate, int, (server_context *context,                  \
                                     const char *command,                      \
                                     const char *format, ...))                 \
    X(notify, NotifyKeyspaceEvent, int, (server_context *context, int type,    \
                                         const char *event,                    \
                                         server_string *key))                  \
    X(on_event, SubscribeToServerEvent, int, (server_context *context,         \
                                              server_event event,              \
                                              server_happens *call))           \
    X(on_keys, SubscribeToKeyspaceEvents, int, (server_context *context,       \
                                                int types,                     \
                                                server_notices *call))         \
    X(save_unsigned, SaveUnsigned, void, (server_io *rdb, uint64_t number))    \
    X(load_unsigned, LoadUnsigned, uint64_t, (server_io *rdb))                 \
    X(save_double, SaveDouble, void, (server_io *rdb, double number))          \
    X(load_double, LoadDouble, double, (server_io *rdb))                       \
    X(save_bytes, SaveStringBuffer, void, (server_io *rdb, const char *bytes,  \
                                           size_t n))                          \
    X(load_bytes, LoadStringBuffer, char *, (server_io *rdb, size_t *n))       \
    X(io_error, IsIOError, int, (server_io *rdb))                              \
    X(emit, EmitAOF, void, (server_io *aof, const char *command,               \
                            const char *format, ...))                          \
    X(digest_bytes, DigestAddStringBuffer, void, (server_digest *digest,       \
                                                  const char *bytes,           \
                                                  size_t n))                   \
    X(digest_end, DigestEndSequence, void, (server_digest *digest))            \
    X(moved, DefragAlloc, void *, (server_defrag *defrag, void *memory))       \
    X(paused, AvoidReplicaTraffic, int, (void))                                \
    X(of_io, GetContextFromIO, server_context *, (server_io *io))              \
    X(block, BlockClient, server_blocked *, (server_context *context,          \
                                             server_call *reply,               \
                                             server_call *late,                \
                                             server_forget *forget,            \
                                             long long milliseconds))          \
    X(unblock, UnblockClient, int, (server_blocked *client, void *data))       \
    X(blocked_data, GetBlockedClientPrivateData, void *,                       \
      (server_context *context))                                               \
    X(when_gone, SetDisconnectCallback, void, (server_blocked *client,         \
                                               server_gone *gone))             \
    X(user_name, GetCurrentUserName, server_string *,                          \
      (server_context *context))                                               \
    X(user_of, GetModuleUserFromUserName, server_user *,                       \
      (server_string *name))                                                   \
    X(user_free, FreeModuleUser, void, (server_user *user))                    \
    X(user_may, ACLCheckCommandPermissions, int,                               \
      (server_user *user, server_string **argv, int argc))

/* Optional functions: try_zeroed came with 7.4, access categories with 7.2 and
 * 7.4, and load_standards with 8. Some servers that grew from older ones lack
 * redact. */
#define SERVER_WANTED(X)                                                       \
    X(redact, RedactClientCommandArgument, int, (server_context *context,      \
                                                 int argument))                \
    X(try_zeroed, TryCalloc, void *, (size_t n, size_t bytes))                 \
    X(set_access, SetCommandACLCategories, int, (server_entry *command,        \
                                                 const char *categories))      \
    X(add_access, AddACLCategory, int, (server_context *context,               \
                                        const char *category))                 \
    X(load_standards, LoadDefaultConfigs, int, (server_context *context))

#define SERVER_FUNCTION(ours, theirs, result, arguments)                       \
    extern result (*server_##ours) arguments;
SERVER_NEEDED(SERVER_FUNCTION)
SERVER_WANTED(SERVER_FUNCTION)
#undef SERVER_FUNCTION

/* Looks up all functions. Returns NULL, or the name of a required one that is
 * missing. */
const char *server_bind(server_context *context);

#endif
