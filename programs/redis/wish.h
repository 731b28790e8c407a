/* wish.h - reads descriptions of filters in commands of BLY.*, and writes
 * common replies.
 */
#ifndef BLY_REDIS_WISH_H
#define BLY_REDIS_WISH_H

#include "redis/held.h"

#include <bloomery/fields.h>
#include <bloomery/form.h>

enum { WISH_KIND = 128, WISH_HASH = 16,
       WISH_FIRST = 1000 };             /* of kinds that need a number       */

/* The description of a filter. */
typedef struct {
    char          kind[WISH_KIND], hash[WISH_HASH];
    unsigned char secret[BLY_SECRET_BYTES];
    bly_spec      spec;                 /* points into this                  */
    bool          any_hash;             /* keys and hash were left open      */
} wish;

/* Reads the kind and the words after it:
 *
 *      kind [CAPACITY n] [RATE p] [KEYS form] [KEYED|UNKEYED] [HASH name]
 *      [SEED n] [SECRET digits]
 *
 * and ITEMS, if `items` is not NULL: *items becomes the index of the first one,
 * or `argc`. Returns false after an error reply. */
bool wish_read(wish *wanted, int *items, server_context *context,
               server_string **argv, int first, int argc);

/* Describes a filter that is created implicitly. Returns false after an error
 * reply. */
bool wish_standard(wish *wanted, server_context *context);

/* Hides each argument after a SECRET from logs, from argument `first` to ITEMS,
 * also in a command that is refused. */
void wish_hide(server_context *context, server_string **argv, int argc,
               int first);

/* Plans the filter. Kinds of integers and of other systems, which take no
 * secret, go without one unless it was requested. Returns false after an error
 * reply. */
bool wish_plan(bly_plan_t *plan, wish *wanted, server_context *context);

/* Replies a number of 64 bits as an integer, or the largest one. */
void wish_reply_number(server_context *context, uint64_t number);

/* Reply a name and a value of a map that was begun. */
void wish_reply_text (server_context *context, const char *name,
                      const char *text);
void wish_reply_count(server_context *context, const char *name,
                      uint64_t number);
void wish_reply_real (server_context *context, const char *name,
                      double number);

/* Replies an array of the names of abilities. */
void wish_reply_abilities(server_context *context, uint64_t can);

/* The reply of a record's fields. */
typedef struct {
    server_context *context;
    long            members;            /* of the present array              */
} wish_fields;

/* Replies a field of <bloomery/fields.h> to a wish_fields, unless it is absent:
 * a visitor. A number above 2^63 - 1 is its digits. */
bool wish_reply_field(void *reply, const bly_field *field);

/* Counts the fields that wish_reply_field would reply, in a long. */
bool wish_count_field(void *n, const bly_field *field);

/* Reads a whole number of 64 bits. */
bool wish_number(uint64_t *number, const server_string *argument);

/* Parses a form of keys. Returns false if it is not one. */
bool wish_form(uint64_t *form, const server_string *argument);
#define WISH_FORM_WRONG                                                        \
    "this is not a form of keys: the classes are" BLY_KEYS_WORDS "; text and " \
    "utf16 may have changes, such as text:case=lower,trim"

/* Checks that this build supports keys of the form. Returns false after an
 * error reply. */
bool wish_can(uint64_t form, server_context *context);

/* Looks up a filter for reading; NULL if the key is empty. Returns false after
 * an error reply if another type is there. */
bool wish_look(const held **value, server_context *context,
               server_string *name);

/* Replicate the filter as it is. */
void wish_replicate_image(server_context *context, server_string *name,
                          const held *value);

#endif
