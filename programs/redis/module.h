/* module.h - bloomery.so, the module of Redis and Valkey: declarations that its
 * files share.
 *
 *   server.h    the server's functions
 *   module.c    loading: settings, types, commands (command.c)
 *   bloom.c     the type of BF.*: a chain of Bloom filters
 *   cuckoo.c    the type of CF.*: tables of fingerprints
 *   held.c      the type of BLY.*: a filter of the library, of any kind
 *   items.c     the items of a command as keys, in the form of the filter
 *   wish.c      the filter that a command describes
 *   work.c      long work beside the server; whole.c: on whole filters
 *   cmd_*.c     the commands
 *
 * BF.* and CF.* reply exactly as RedisBloom does, so that its clients, dumps
 * and append-only files keep working. docs/reference/redis.md lists the
 * differences: unknown words are refused, a command that changed nothing is not
 * replicated, a filter that is created implicitly is the same on a replica with
 * other settings, keys can be copied, digested and freed in the background, and
 * a filter that does not fit into memory is refused.
 */
#ifndef BLY_REDIS_MODULE_H
#define BLY_REDIS_MODULE_H

#include <bloomery/redis.h>

#include "redis/server.h"

/* ---- Settings ------------------------------------------------------------ */

/* The server's configuration. module.c has the range of each setting. */
typedef struct {
    double    rate;                     /* of a filter that is created
                                           implicitly, like the others       */
    long long capacity, growth;
    long long cuckoo_slots, cuckoo_capacity, cuckoo_moves,
        cuckoo_expansion;
    long long cuckoo_tables;      /* the most that a filter grows to   */
    double    held_rate;          /* of BLY.*                          */
    long long held_capacity;        /* 0: not known                      */
    char      held_kind[128];
    char      secret[33];               /* in hexadecimal digits, or empty   */
    bool      dump_secrets;             /* DUMP includes them                */
} module_settings;

extern module_settings redis_settings;

enum {
    MODULE_CAPACITY_MOST = 1 << 30, MODULE_GROWTH_MOST = 32768,
    MODULE_SLOTS_MOST = 255, MODULE_MOVES_MOST = 65535,
    MODULE_CHUNK = 16 << 20,            /* bytes of a part of a dump         */
    MODULE_PAGE = 4096                  /* bytes that take an effort to free */
};

#define MODULE_RATE_MOST 0.25           /* higher rates are lowered to this  */

/* ---- Commands ------------------------------------------------------------ */

/* A command. `syntax` is for COMMAND DOCS and the documentation: the
 * arguments in their order, literal words in capitals, optional parts in
 * brackets, and "…" after a part that may be repeated. */
typedef struct {
    const char *name, *syntax, *summary, *complexity, *since;
    server_call *call;
    const char *flags;                  /* "write deny-oom"                  */
    const char *access;                 /* "write fast bloom"                */
    int arity;
} command;

/* The commands of each cmd_*.c. A command without a name ends them. */
extern const command bf_commands[], cf_commands[], bly_commands[],
                     unite_commands[], resize_commands[], info_commands[],
                     dump_commands[], secrets_commands[], diff_commands[],
                     redis_kinds_commands[];

/* All of these lists; NULL ends them. */
extern const command *const module_families[];

bool command_register(server_context *context, const command *commands);

/* The types of values. */
extern server_type *bloom_type, *redis_cuckoo_type, *redis_held_type;
bool bloom_register (server_context *context);
bool redis_cuckoo_register(server_context *context);
bool redis_held_register  (server_context *context);

/* Subscribes to filters that RESTORE makes, to announce their secrets. */
bool secrets_register(server_context *context);

/* ---- Memory -------------------------------------------------------------- */

/* Allocates zeroed memory, which server_release frees. Returns NULL if memory
 * is short or the server's limit would be exceeded. `context` may be NULL while
 * a value is loaded. */
void *redis_memory_zeroed(server_context *context, uint64_t bytes);

/* Returns whether so many bytes can be allocated, piece by piece. */
bool redis_memory_room(server_context *context, uint64_t bytes);

/* Returns an allocator of the server's memory for a filter of the library.
 * *taken is the number of bytes allocated, by any thread. */
bly_allocator redis_memory_allocator_of(uint64_t *taken);

/* Sets the limit for filters in this thread: the server's, if it works for a
 * command, or none, with NULL, for a file. */
void     redis_memory_for   (server_context *context);

/* Returns how much is left up to the server's limit. A thread that may not call
 * the server gets the value from the start of its work (redis_memory_within).
 */
uint64_t redis_memory_left  (server_context *context);
void     redis_memory_within(uint64_t left);

/* Returns the server's limit of memory, maxmemory; UINT64_MAX if none is
 * set. */
uint64_t redis_memory_most(server_context *context);

/* Lets the server move the memory, to defragment it. */
void redis_memory_move(server_defrag *defrag, void **memory);

/* ---- Replies and keys ---------------------------------------------------- */

/* The content of a key. */
typedef enum { FOUND_NONE, FOUND_OTHER, FOUND_IT } found;

/* Looks up a value of this type at a key; `*value` is NULL if none exists. With
 * `key` the key is opened for writing, and closed at the end of the command;
 * without it the value is only read. */
found reply_find(void **value, server_key **key, server_context *context,
                 server_string *name, server_type *type);

/* Replies what is wrong with a key: "ERR not found", "ERR item exists", or that
 * it holds another type. Returns SERVER_OK. */
int reply_refuse(server_context *context, found what);

/* Replies "ERR" and what is wrong. Returns SERVER_OK. */
int reply_error(server_context *context, const char *why);

/* Replies with the library's last error, in the words of the module. */
int reply_why(server_context *context);

/* Return the value of a key, only to be read, or NULL if the key has none of
 * this type; reply_value then replies an error. */
void *reply_look (server_context *context, server_string *name,
                  server_type *type);
void *reply_value(server_context *context, server_string *name,
                  server_type *type);

/* Looks up the value that BF.* or CF.* query, NULL if none of the type exists.
 * False: the key holds a filter of BLY.*, whose keys may have a form that only
 * BLY.* heeds, and an error was replied. */
bool reply_asks(void **value, server_context *context, server_string *name,
                server_type *type);

/* Returns whether the client speaks RESP3. */
bool reply_is_3(server_context *context);

/* Replies a pair of a map begun with server_reply_map. */
void reply_pair(server_context *context, const char *name, uint64_t number);

/* Replicates the command, which changed the key, and notifies subscribers. */
void reply_changed(server_context *context, const char *event,
                   server_string *name);

/* Returns whether the argument is this word, in any case. */
bool reply_is_word(const server_string *argument, const char *word);

/* Returns the value of an argument as a key of a filter. */
bly_key reply_key(const server_string *argument);

/* Converts n arguments to keys. */
void reply_keys(bly_key *keys, server_string **argv, int n);

/* Replies an array that states for each argument from the third on whether it
 * is in the filter. NULL is the empty filter. */
typedef bly_status reply_ask(const void *filter, const bly_keys *keys,
                             bool *present);
int reply_each(server_context *context, server_string **argv, int argc,
               const void *filter, reply_ask *ask);

/* Reads a rate, above 0 and below 1. Returns false, and leaves *rate, if it is
 * none. BLY.* then reply this error. */
#define REPLY_RATE_WRONG "a rate must be above 0 and below 1, such as 0.01"
bool reply_rate(double *rate, const server_string *argument);

/* Reads a whole number within its range. Returns false after an error reply:
 * `bad` if it is not a number, `out` if it is out of range. */
typedef struct {
    long long least, most;
    const char *out;
} reply_range;

bool reply_number(long long *out, server_context *context,
                  const server_string *argument, const reply_range *range,
                  const char *bad);

#endif /* BLY_REDIS_MODULE_H */
