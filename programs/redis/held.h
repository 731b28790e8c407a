/* held.h - the values of BLY.*: filters of any kind of the library. */
#ifndef BLY_REDIS_HELD_H
#define BLY_REDIS_HELD_H

#include "redis/module.h"

typedef struct {
    bly_filter   *filter;               /* NULL until it is made             */
    bly_allocator allocator;            /* the server's; counts in `taken`   */
    uint64_t      taken;                /* bytes allocated                   */
    unsigned char secret[BLY_SECRET_BYTES];
    bool          keyed;                /* whether keys are hashed with the
                                           secret                            */
    unsigned      owners;               /* the keyspace, and running works;
                                           atomic, since the server frees values
                                           in other threads                  */
    unsigned      jobs;                 /* works that read it; it must not
                                           change while any do               */
} held;

/* Creates a value without a filter, owned by the caller. With a NULL secret it
   is not keyed. */
held *redis_held_new(const void *secret);
held *redis_held_keep(held *value);     /* adds an owner                     */
void  redis_held_drop(void *value);     /* removes an owner; accepts NULL    */

/* Returns the options for bly_unpack, bly_copy and so on. */
bly_options redis_held_options(const held *value);

/* Returns its approximate size, which tells whether reading it takes long. */
uint64_t redis_held_bytes(const held *value);

/* ---- Secrets ------------------------------------------------------------- */

enum { SECRET_DIGITS = 2 * BLY_SECRET_BYTES };

/* Converts 32 hexadecimal digits to 16 bytes, and back with a final NUL. */
bool redis_secret_read (unsigned char *secret, const char *digits, size_t n);
void redis_secret_write(char *digits, const unsigned char *secret);

/* Returns the secret of new filters: the configured one, else that of the first
 * keyed filter loaded, else a random one. Returns NULL if the system cannot
 * provide one. */
const unsigned char *redis_secret_own(void);

/* Learns the secret of a keyed filter. If it comes from the server's own files
 * or its master, not from a client, the server adopts it for new filters. */
void redis_secret_told(server_context *context, const unsigned char *secret);

/* Parses the setting. Returns false if it is invalid. */
bool redis_secret_set(const char *digits, size_t n);

/* Parses the setting with further secrets that RESTORE may need: 32 digits
 * each, separated by blanks. Returns false if it is invalid. */
enum { SECRET_OTHERS = 64 };
bool           redis_secret_set_others (const char *text, size_t n);
server_string *redis_secret_show_others(void);

/* Returns the secret with this mark (docs/format/hashes.md) among those
 * the server knows: its own, the announced one, and the others. Returns NULL if
 * it is unknown. */
const unsigned char *redis_secret_of(uint64_t mark);

/* Announces the secret of a filter that the master or the append-only file
   restores next. */
void redis_secret_announced(const unsigned char *secret);

/* Hides an argument that is a secret from SLOWLOG and MONITOR. */
void redis_secret_hide(server_context *context, int argument);

/* Returns whether to save a filter with its secret: in the server's files and
 * for its replicas, but not in DUMP. */
bool redis_secret_is_saved(server_context *context);
bool redis_secret_register(server_context *context);

#endif
