/* module.h - bloomery.so, the module of Redis and Valkey: what its files share.
 *
 *   server.h    the server's functions
 *   settings.c  what the server was configured with
 *   module.c    loading: how settings are given, types, commands
 *   command.c   registering commands, and what COMMAND DOCS tells of them
 *   memory.c    memory of the server's, refused before it is taken
 *   reply.c     replies that several commands give, and keys in the keyspace
 *   bloom.c     the type of BF.*: a chain of Bloom filters
 *   cmd_bf.c    BF.*
 *   cuckoo.c    the type of CF.*: tables of fingerprints
 *   cmd_cf.c    CF.*
 *   held.c      the type of BLY.*: a filter of the library, of any kind
 *   secret.c    the secret of keyed filters
 *   items.c     the items of a command as keys, by the filter's form
 *   wish.c      what a filter of BLY.* is to be, and their replies
 *   work.c      what takes long, beside the server
 *   cmd_bly.c   BLY.* of keys
 *   cmd_sets.c  BLY.* of whole filters
 *
 * BF.* and CF.* answer as RedisBloom's do, bit for bit and word for word, so
 * that clients, dumps and append-only files of it go on as they are;
 * docs/redis.md says what differs: words that no command knows are refused,
 * nothing is replicated that changed nothing, a filter that comes to be by
 * itself is the same on a replica with other settings, keys can be copied,
 * digested and let go in the background, and a filter that memory is not there
 * for is refused.
 *
 * Floor 8 (programs); includes the public headers and server.h.
 */
#ifndef BLY_REDIS_MODULE_H
#define BLY_REDIS_MODULE_H

#include <bloomery/redis.h>

#include "redis/server.h"

/* ---- Settings ------------------------------------------------------------ */

/* What the server was configured with; each has its range in module.c. */
typedef struct {
    double    rate;                     /* of a filter that comes to be by
                                           itself; and so the others         */
    long long capacity, growth;
    long long cuckoo_slots, cuckoo_capacity, cuckoo_moves, cuckoo_expansion;
    long long cuckoo_tables;            /* at which one grows no more        */
    double    held_rate;                /* of BLY.*                          */
    long long held_capacity;
    char      held_kind[128];
    char      secret[33];               /* in hexadecimal digits, or empty   */
    bool      dump_secrets;             /* DUMP holds them                   */
} module_settings;

extern module_settings settings;

enum {
    MODULE_CAPACITY_MOST = 1 << 30, MODULE_GROWTH_MOST = 32768,
    MODULE_SLOTS_MOST = 255, MODULE_MOVES_MOST = 65535,
    MODULE_CHUNK = 16 << 20,            /* bytes of a dump that are sent at a
                                           time                              */
    MODULE_PAGE = 4096                  /* bytes that it is some effort to let
                                           go of                             */
};

#define MODULE_RATE_MOST 0.25           /* a higher one is taken for this    */

/* ---- Commands ------------------------------------------------------------ */

/* One command. `syntax` is what COMMAND DOCS tells, and the documentation: the
 * words of its arguments in their order, words in capitals as they are typed,
 * optional parts in brackets, and "…" behind what may be repeated. */
typedef struct {
    const char *name, *syntax, *summary, *complexity, *since;
    server_call *call;
    const char *flags;                  /* "write deny-oom"                  */
    const char *access;                 /* "write fast bloom"                */
    int arity;
} command;

/* All of a family, ended by one without a name. */
extern const command bf_commands[], cf_commands[], bly_commands[],
                     sets_commands[];

bool command_register(server_context *context, const command *commands);

/* The types of values. */
extern server_type *bloom_type, *cuckoo_type, *held_type;
bool bloom_register (server_context *context);
bool cuckoo_register(server_context *context);
bool held_register  (server_context *context);

/* Listens for filters that RESTORE makes. */
bool sets_register(server_context *context);

/* ---- Memory -------------------------------------------------------------- */

/* Memory that is all 0, or NULL: there is none, or the server's limit would be
 * passed. `context` may be NULL, where a value is loaded. Give it back by
 * server_release. */
void *memory_zeroed(server_context *context, uint64_t bytes);

/* Is there room for so much, to be taken piece by piece? */
bool memory_room(server_context *context, uint64_t bytes);

/* Memory of the server's for a filter of the library; *taken is how many bytes
 * it has, in whatever thread it takes and gives them. */
bly_allocator memory_allocator_of(uint64_t *taken);

/* Filters' memory is taken in this thread for a command, whose server's limit
 * is looked at then; or, with NULL, for a file. A thread that may not ask the
 * server has what was left when its work began. */
void     memory_for   (server_context *context);
uint64_t memory_left  (server_context *context);

/* The server's own limit of memory, maxmemory; UINT64_MAX: there is none. */
uint64_t memory_most(server_context *context);
void     memory_within(uint64_t left);

/* Let the server move it to where it lies better. */
void memory_move(server_defrag *defrag, void **memory);

/* ---- Replies and keys ---------------------------------------------------- */

/* What is at a key. */
typedef enum { FOUND_NONE, FOUND_OTHER, FOUND_IT } found;

/* Open a key and look whether a value of this type is there. Where it is not,
 * `*value` is NULL. With `key` it is opened for writing, comes back there, and
 * is closed at the end of the command; without it is only read. */
found reply_find(void **value, server_key **key, server_context *context,
                 server_string *name, server_type *type);

/* What is wrong with a key: "ERR not found", "ERR item exists", or that another
 * type is there. SERVER_OK. */
int reply_refuse(server_context *context, found what);

/* "ERR", and what is wrong. SERVER_OK. */
int reply_error(server_context *context, const char *why);

/* The value of a key that is only read. NULL: there is none of this type; and
 * by reply_value an error was replied. */
void *reply_look (server_context *context, server_string *name,
                  server_type *type);
void *reply_value(server_context *context, server_string *name,
                  server_type *type);

/* Looks up the value that BF.* or CF.* query, NULL if none of the type exists.
 * False: the key holds a filter of BLY.*, whose keys may have a form that only
 * BLY.* heeds, and an error was replied. */
bool reply_asks(void **value, server_context *context, server_string *name,
                server_type *type);

/* Does the client speak RESP3? */
bool reply_is_3(server_context *context);

/* One more pair of a map that was begun with server_reply_map. */
void reply_pair(server_context *context, const char *name, uint64_t number);

/* The command changed the key: replicate it as it came, and tell who listens.
 */
void reply_changed(server_context *context, const char *event,
                   server_string *name);

/* Is the argument this word, in any case? */
bool reply_is_word(const server_string *argument, const char *word);

/* The value of an argument as a key of a filter. */
bly_key reply_key(const server_string *argument);

/* Those of n arguments. */
void reply_keys(bly_key *keys, server_string **argv, int n);

/* Reply an array that tells of each argument from the third on whether it is in
 * the filter; NULL has nothing in it. */
typedef bly_status reply_ask(const void *filter, const bly_keys *keys,
                             bool *present);
int reply_each(server_context *context, server_string **argv, int argc,
               const void *filter, reply_ask *ask);

/* A rate, above 0 and below 1; false: it is none, and *rate is as it was. And
 * what is said of it by BLY.*. */
#define REPLY_RATE_WRONG "a rate is above 0 and below 1, as 0.01"
bool reply_rate(double *rate, const server_string *argument);

/* A whole number of an argument within its range. Else an error was replied:
 * `bad` where it is no number, `out` where it is out of the range. */
typedef struct {
    long long least, most;
    const char *out;
} reply_range;

bool reply_number(long long *out, server_context *context,
                  const server_string *argument, const reply_range *range,
                  const char *bad);

#endif /* BLY_REDIS_MODULE_H */
