/* held.h - the values of BLY.*: filters of the library, of any kind.
 *
 * Floor 8 (programs); includes module.h only.
 */
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

#endif /* BLY_REDIS_HELD_H */
