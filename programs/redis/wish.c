/* wish.c - reads descriptions of filters in commands of BLY.*, and writes
 * common replies.
 */
#include "redis/wish.h"

#include <bloomery/foreign.h>
#include <bloomery/nested.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Replies ------------------------------------------------------------- */

void wish_reply_number(server_context *context, uint64_t number)
{
    server_reply_number(context, number <= INT64_MAX ? (long long)number
                                                     : INT64_MAX);
}

void wish_reply_text(server_context *context, const char *name,
                     const char *text)
{
    server_reply_simple(context, name);
    server_reply_bytes(context, text, strlen(text));
}

void wish_reply_count(server_context *context, const char *name,
                      uint64_t number)
{
    server_reply_simple(context, name);
    wish_reply_number(context, number);
}

void wish_reply_real(server_context *context, const char *name, double number)
{
    server_reply_simple(context, name);
    server_reply_double(context, number);
}

void wish_reply_abilities(server_context *context, uint64_t can)
{
    long n = 0;
    server_reply_array(context, SERVER_POSTPONED);
    for (int i = 0; i < BLY_ABILITIES; i++)
        if ((can >> i & 1) != 0) {
            server_reply_simple(context, bly_ability(UINT64_C(1) << i));
            n++;
        }
    server_reply_array_was(context, n);
}

bool wish_count_field(void *n, const bly_field *field)
{
    *(long *)n += field->name != NULL && !field->absent;
    return true;
}

static void wish_reply_whole(server_context *context, uint64_t number)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, number);
    if (number <= INT64_MAX)
        wish_reply_number(context, number);
    else
        server_reply_bytes(context, digits, (size_t)n);
}

/* Replies a field or the member of an array. */
static void wish_reply_value(server_context *context, const bly_field *field)
{
    if (field->name != NULL)
        server_reply_simple(context, field->name);
    switch (field->type) {
    case BLY_FIELD_TEXT:
        server_reply_bytes(context, field->text, field->length);
        break;
    case BLY_FIELD_COUNT: wish_reply_whole(context, field->count); break;
    case BLY_FIELD_REAL:  server_reply_double(context, field->real); break;
    case BLY_FIELD_BOOL:  server_reply_bool(context, field->count != 0); break;
    default:              break;
    }
}

/* The arrays of a record have no others within. */
bool wish_reply_field(void *reply, const bly_field *field)
{
    wish_fields *w = reply;
    if (field->absent)
        return true;
    if (field->type == BLY_FIELD_END) {
        server_reply_array_was(w->context, w->members);
        return true;
    }
    w->members++;
    wish_reply_value(w->context, field);
    if (field->type == BLY_FIELD_ARRAY) {
        server_reply_array(w->context, SERVER_POSTPONED);
        w->members = 0;
    }
    return true;
}

bool wish_look(const held **value, server_context *context,
               server_string *name)
{
    void *there;
    found what = reply_find(&there, NULL, context, name, redis_held_type);
    *value = there;
    if (what == FOUND_OTHER)
        reply_refuse(context, what);
    return what != FOUND_OTHER;
}

void wish_replicate_image(server_context *context, server_string *name,
                          const held *value)
{
    size_t bytes;
    const void *image = bly_image(value->filter, &bytes);
    char digits[SECRET_DIGITS + 1];
    redis_secret_write(digits, value->secret);
    if (value->keyed)
        server_replicate_as(context, "BLY.RESTORE", "sbccc", name, image,
                            bytes, "REPLACE", "SECRET", digits);
    else
        server_replicate_as(context, "BLY.RESTORE", "sbc", name, image, bytes,
                            "REPLACE");
}

/* ---- Words --------------------------------------------------------------- */

bool wish_number(uint64_t *number, const server_string *argument)
{
    size_t n;
    const char *text = server_text(argument, &n);
    *number = 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] < '0' || text[i] > '9'
            || __builtin_mul_overflow(*number, UINT64_C(10), number)
            || __builtin_add_overflow(*number, (uint64_t)(text[i] - '0'),
                                      number))
            return false;
    return n > 0;
}

/* Copies a name, which must not contain a NUL. */
static bool wish_name(char *name, size_t room, const server_string *argument)
{
    size_t n;
    const char *text = server_text(argument, &n);
    if (n == 0 || n >= room || memchr(text, '\0', n) != NULL)
        return false;
    memcpy(name, text, n);
    name[n] = '\0';
    return true;
}

bool wish_form(uint64_t *form, const server_string *argument)
{
    char text[BLY_FORM_TEXT];
    return wish_name(text, sizeof text, argument)
        && bly_form_read(form, text) == BLY_OK;
}

/* The properties of a filter that a command may state. */
enum {
    WISH_CAPACITY, WISH_RATE, WISH_KEYS, WISH_KEYED, WISH_UNKEYED, WISH_HASHED,
    WISH_SEED, WISH_SECRET, WISH_ITEMS, WISH_UNKNOWN
};

static const struct {
    const char *word, *wrong;           /* for a bad value; NULL: none       */
} wish_words[] = {
    [WISH_CAPACITY] = { "CAPACITY", "a capacity must be a whole number of "
                                    "keys" },
    [WISH_RATE]     = { "RATE", REPLY_RATE_WRONG },
    [WISH_KEYS]     = { "KEYS", WISH_FORM_WRONG },
    [WISH_KEYED]    = { "KEYED", NULL },
    [WISH_UNKEYED]  = { "UNKEYED", NULL },
    [WISH_HASHED]   = { "HASH", "a hash function must be a name, such as "
                                "xxh3" },
    [WISH_SEED]     = { "SEED", "a seed must be a whole number, 0 .. 2^64 - "
                                "1" },
    [WISH_SECRET]   = { "SECRET", "a secret must be 32 hexadecimal digits" },
    [WISH_ITEMS]    = { "ITEMS", NULL },
};

static int wish_word(const server_string *argument)
{
    int word = 0;
    while (word < WISH_UNKNOWN
           && !reply_is_word(argument, wish_words[word].word))
        word++;
    return word;
}

static bool wish_value(wish *wanted, int word, const server_string *argument)
{
    size_t n;
    const char *text;
    switch (word) {
    case WISH_CAPACITY:
        return wish_number(&wanted->spec.capacity, argument);
    case WISH_RATE:
        return reply_rate(&wanted->spec.rate, argument);
    case WISH_KEYS:
        return wish_form(&wanted->spec.form, argument);
    case WISH_HASHED:
        return wish_name(wanted->hash, sizeof wanted->hash, argument);
    case WISH_SEED:
        return wish_number(&wanted->spec.seed, argument);
    default:
        text = server_text(argument, &n);
        return redis_secret_read(wanted->secret, text, n);
    }
}

/* Chooses the secret after all words were read; `said` has a bit for each.
 * Returns false after an error reply. */
static bool wish_hashing(wish *wanted, server_context *context, unsigned said)
{
    bool keyed = (said & (1U << WISH_KEYED | 1U << WISH_SECRET)) != 0;
    bool plain = (said & (1U << WISH_UNKEYED | 1U << WISH_HASHED
                          | 1U << WISH_SEED)) != 0;
    if ((said & 1U << WISH_HASHED) != 0
        && strcmp(wanted->hash, "siphash") == 0) {
        keyed = true;
        plain = (said & (1U << WISH_UNKEYED | 1U << WISH_SEED)) != 0;
    }
    if (keyed && plain) {
        reply_error(context, "a keyed filter is hashed by siphash with its "
                    "secret, without a seed: leave out KEYED and SECRET, or "
                    "HASH, SEED and UNKEYED");
        return false;
    }
    wanted->any_hash = !keyed && !plain;
    if (plain) {
        if ((said & 1U << WISH_HASHED) != 0)
            wanted->spec.hash = wanted->hash;
        return true;
    }
    if ((said & 1U << WISH_SECRET) == 0) {
        const unsigned char *own = redis_secret_own();
        if (own == NULL) {
            reply_error(context, "the system provides no random bytes for a "
                        "secret: set bly-secret, or use UNKEYED");
            return false;
        }
        memcpy(wanted->secret, own, sizeof wanted->secret);
    } else {
        redis_secret_told(context, wanted->secret);
    }
    wanted->spec.secret = wanted->secret;
    wanted->spec.hash = "siphash";
    return true;
}

/* Returns whether a kind, with or without options, is a foreign format. */
static bool wish_is_foreign(const char *kind)
{
    size_t n, length = strcspn(kind, ":");
    const bly_format_info *const *formats = bly_formats(&n);
    for (size_t i = 0; i < n; i++) {
        const char *name = formats[i]->kind->name;
        if (strlen(name) == length && memcmp(name, kind, length) == 0)
            return true;
    }
    return false;
}

/* Chooses the form: text, unless KEYS says otherwise. Formats of other systems
 * cannot store one. Returns false after an error reply. */
static bool wish_forming(wish *wanted, server_context *context, bool said)
{
    if (!wish_is_foreign(wanted->kind))
        return true;
    if (said && wanted->spec.form != BLY_KEYS_UNSTATED) {
        reply_error(context, "filters in the format of another system cannot "
                    "record the form of their keys: leave out KEYS, or choose "
                    "another kind");
        return false;
    }
    wanted->spec.form = BLY_KEYS_UNSTATED;
    return true;
}

bool wish_can(uint64_t form, server_context *context)
{
    const bly_value empty = { .type = BLY_WRITTEN, .data = "" };
    unsigned char room[8];
    bly_key key;
    bly_status status = bly_form_key(&key, form, &empty, room);
    if (status != BLY_EUNSUPPORTED && !bly_form_nests(form))
        return true;
    reply_why(context);
    return false;
}

void wish_hide(server_context *context, server_string **argv, int argc,
               int first)
{
    for (int i = first; i + 1 < argc && !reply_is_word(argv[i], "ITEMS"); i++)
        if (reply_is_word(argv[i], "SECRET"))
            redis_secret_hide(context, ++i);
}

bool wish_read(wish *wanted, int *items, server_context *context,
               server_string **argv, int first, int argc)
{
    unsigned said = 0;
    int i = first + 1;
    wish_hide(context, argv, argc, i);
    *wanted = (wish){ .spec = { .rate = redis_settings.held_rate,
                                .form = BLY_KEYS_TEXT } };
    if (!wish_name(wanted->kind, sizeof wanted->kind, argv[first])) {
        reply_error(context, "a kind must be a name, as BLY.KINDS lists them");
        return false;
    }
    for (; i < argc; i++) {
        int word = wish_word(argv[i]);
        if (word == WISH_ITEMS && items != NULL)
            break;
        if (word == WISH_UNKNOWN || word == WISH_ITEMS) {
            reply_error(context, "unknown word: use CAPACITY, RATE, KEYS, "
                        "KEYED, UNKEYED, HASH, SEED or SECRET");
            return false;
        }
        said |= 1U << word;
        if (wish_words[word].wrong == NULL)
            continue;
        if (++i == argc || !wish_value(wanted, word, argv[i])) {
            reply_error(context, wish_words[word].wrong);
            return false;
        }
    }
    if (items != NULL)
        *items = i < argc ? i + 1 : argc;
    return wish_can(wanted->spec.form, context)
        && wish_forming(wanted, context, (said & 1U << WISH_KEYS) != 0)
        && wish_hashing(wanted, context, said);
}

bool wish_standard(wish *wanted, server_context *context)
{
    bly_plan_t plan;
    *wanted = (wish){ .spec = { .rate = redis_settings.held_rate,
                                .form = BLY_KEYS_TEXT } };
    wanted->spec.capacity = (uint64_t)redis_settings.held_capacity;
    memcpy(wanted->kind, redis_settings.held_kind, sizeof wanted->kind);
    if (wanted->spec.capacity == 0
        && bly_plan(&plan, wanted->kind, &wanted->spec) == BLY_EPARAM)
        wanted->spec.capacity = WISH_FIRST;
    return wish_forming(wanted, context, false)
        && wish_hashing(wanted, context, 0)
        && wish_plan(&plan, wanted, context);
}

bool wish_plan(bly_plan_t *plan, wish *wanted, server_context *context)
{
    bly_status status = bly_plan(plan, wanted->kind, &wanted->spec);
    if (status != BLY_OK && wanted->any_hash) {
        wanted->spec.hash = NULL;
        wanted->spec.secret = NULL;
        status = bly_plan(plan, wanted->kind, &wanted->spec);
    }
    if (status != BLY_OK) {
        reply_why(context);
        return false;
    }
    return true;
}
