/* wish.h - what a command of BLY.* is told of a filter, and what all of them
 * reply.
 */
#ifndef BLY_REDIS_WISH_H
#define BLY_REDIS_WISH_H

#include "redis/held.h"

#include <bloomery/form.h>

enum { WISH_KIND = 128, WISH_HASH = 16 };

/* A filter that somebody wants. */
typedef struct {
    char          kind[WISH_KIND], hash[WISH_HASH];
    unsigned char secret[BLY_SECRET_BYTES];
    bly_spec      spec;                 /* points into this                  */
    bool          any_hash;             /* nothing was said of keys or hash  */
} wish;

/* The kind, and the words behind it:
 *
 *      kind [CAPACITY n] [RATE p] [KEYS form] [KEYED|UNKEYED] [HASH name]
 *      [SEED n] [SECRET digits]
 *
 * and ITEMS, if `*items` is not NULL: where they begin, or `argc`. False: an
 * error was replied. */
bool wish_read(wish *wanted, int *items, server_context *context,
               server_string **argv, int first, int argc);

/* That of a filter which comes to be by itself; false: an error was replied. */
bool wish_standard(wish *wanted, server_context *context);

/* Hides each argument behind a SECRET, from argument `first` to ITEMS, also in
 * a command that is refused. */
void wish_hide(server_context *context, server_string **argv, int argc,
               int first);

/* What it costs. Kinds of integers, and those of other systems, which have no
 * secret, go without if nothing was said. False: an error was replied. */
bool wish_plan(bly_plan_t *plan, wish *wanted, server_context *context);

/* A number of 64 bits as an integer; one that has none is the largest. */
void wish_reply_number(server_context *context, uint64_t number);

/* A name and a value of a map that was begun. */
void wish_reply_text (server_context *context, const char *name,
                      const char *text);
void wish_reply_count(server_context *context, const char *name,
                      uint64_t number);
void wish_reply_real (server_context *context, const char *name,
                      double number);

/* Replies an array of the names of abilities. */
void wish_reply_abilities(server_context *context, uint64_t can);

/* A whole number of 64 bits, in digits. */
bool wish_number(uint64_t *number, const server_string *argument);

/* Reads the text of a form of keys. False: it is not one, and the message
 * below says so. */
bool wish_form(uint64_t *form, const server_string *argument);
#define WISH_FORM_WRONG                                                        \
    "this is not a form of keys: the classes are" BLY_KEYS_WORDS "; text and " \
    "utf16 may have changes, as in text:case=lower,trim"

/* Verifies that keys of the form can be made. False: the library was built
 * without what it takes, and an error was replied. */
bool wish_can(uint64_t form, server_context *context);

/* The filter of a key that is only read; NULL: there is none. False: another
 * type is there, and an error was replied. */
bool wish_look(const held **value, server_context *context,
               server_string *name);

/* Tell replicas and files of a filter as it is. */
void wish_replicate_image(server_context *context, server_string *name,
                          const held *value);

#endif /* BLY_REDIS_WISH_H */
