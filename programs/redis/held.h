/* held.h - the values of BLY.*: filters of the library, of any kind. */
#ifndef BLY_REDIS_HELD_H
#define BLY_REDIS_HELD_H

#include "redis/module.h"

typedef struct {
    bly_filter   *filter;               /* NULL: it is still to be made      */
    bly_allocator allocator;            /* the server's; `taken` is by it    */
    uint64_t      taken;                /* bytes                             */
    unsigned char secret[BLY_SECRET_BYTES];
    bool          keyed;                /* hashed with the secret            */
    unsigned      owners;               /* the keyspace, and work that is under
                                           way; atomic, as the server lets
                                           values go in threads              */
    unsigned      jobs;                 /* works that read it; it is not to be
                                           changed then                      */
} held;

/* One without a filter, which the caller owns; NULL as a secret: not keyed. */
held *held_new(const void *secret);
held *held_keep(held *value);           /* another owner                     */
void  held_drop(void *value);           /* an owner less; NULL is fine       */

/* What bly_unpack, bly_copy and so on are to be given for it. */
bly_options held_options(const held *value);

/* How many bytes it has about, to tell whether what reads all of it is much. */
uint64_t held_bytes(const held *value);

/* ---- Secrets ------------------------------------------------------------- */

enum { SECRET_DIGITS = 2 * BLY_SECRET_BYTES };

/* 16 bytes of 32 hexadecimal digits, and back, with a NUL behind them. */
bool secret_read (unsigned char *secret, const char *digits, size_t n);
void secret_write(char *digits, const unsigned char *secret);

/* That of new filters: what the setting says, else the one of the first keyed
 * filter that was loaded, else drawn once. NULL: the system gave none. */
const unsigned char *secret_own(void);

/* A keyed filter came, of which this is the secret: where it is from the
 * server's own files or its master, and not from a client, the server goes on
 * with it. */
void secret_told(server_context *context, const unsigned char *secret);

/* The setting; false: it is none. */
bool secret_set(const char *digits, size_t n);

/* The setting of further secrets that RESTORE may need: 32 digits each, with a
 * blank between two. False: it is none. */
enum { SECRET_OTHERS = 64 };
bool           secret_set_others (const char *text, size_t n);
server_string *secret_show_others(void);

/* The secret of this mark (docs/format.md, section 3.1) among those that the
 * server knows: its own, that of secret_announced, and the others. NULL: it
 * knows none. */
const unsigned char *secret_of(uint64_t mark);

/* A master, or the append-only file, restores a filter of this secret next. */
void secret_announced(const unsigned char *secret);

/* Hides an argument that is a secret from SLOWLOG and MONITOR. */
void secret_hide(server_context *context, int argument);

/* Returns whether a filter that is saved gets its secret: in the files of the
 * server and for its replicas, but not in what DUMP gives. */
bool secret_is_saved(server_context *context);
bool secret_register(server_context *context);

#endif /* BLY_REDIS_HELD_H */
