/* keys.c - converts values of SQL to keys, and reads arguments for new filters.
 *
 * TEXT is its UTF-8, whatever the database's encoding; a BLOB is itself; a
 * number is the 8 bytes of bly_integer_key or bly_real_key, so that 1 and 1.0
 * are the same key, as in SQL. NULL is not a key. If the filter states a form
 * that changes keys, bly_form_key makes them. */
#include "extension.h"

#include <math.h>
#include <string.h>

/* An empty value has no address. */
static sql_keys_found sql_keys_bytes(sql_keys_key *out, sqlite3_value *value,
                                     const void *data)
{
    int length = sqlite3_value_bytes(value);
    if (data == NULL && length > 0)
        return KEYS_NO_MEMORY;
    out->data = length > 0 ? data : "";
    out->length = (size_t)length;
    return KEYS_ONE;
}

static sql_keys_found sql_keys_text_of(sql_keys_key *out, sqlite3_value *value)
{
    const unsigned char *text = sqlite3_value_text(value);
    return text != NULL ? sql_keys_bytes(out, value, text) : KEYS_NO_MEMORY;
}

/* Makes a plain key, if no form is stated or the form does not change its
   class. */
static sql_keys_found sql_keys_plain(sql_keys_key *out, sqlite3_value *value,
                                     int type)
{
    switch (type) {
    case SQLITE_TEXT:
        return sql_keys_text_of(out, value);
    case SQLITE_BLOB:
        return sql_keys_bytes(out, value, sqlite3_value_blob(value));
    case SQLITE_INTEGER:
        bly_integer_key(out->number, sqlite3_value_int64(value));
        break;
    case SQLITE_FLOAT:
        bly_real_key(out->number, sqlite3_value_double(value));
        break;
    default:
        return KEYS_NONE;
    }
    out->data = out->number;
    out->length = sizeof out->number;
    return KEYS_ONE;
}

static uint64_t sql_keys_class_of(int type)
{
    switch (type) {
    case SQLITE_TEXT: return BLY_KEYS_TEXT;
    case SQLITE_BLOB: return BLY_KEYS_BYTES;
    case SQLITE_NULL: return BLY_KEYS_UNSTATED;
    default:          return BLY_KEYS_NUMBER;
    }
}

uint64_t sql_keys_class(sqlite3_value *value)
{
    return sql_keys_class_of(sqlite3_value_type(value));
}

/* Returns an expression that makes a value x such a key, or NULL. */
static const char *sql_keys_cast(uint64_t form)
{
    switch (form & BLY_FORM_CLASS) {
    case BLY_KEYS_TEXT: case BLY_KEYS_UTF16: return "CAST(x AS TEXT)";
    case BLY_KEYS_BYTES:                     return "CAST(x AS BLOB)";
    case BLY_KEYS_HEX:                       return "x'0123' or unhex(x)";
    case BLY_KEYS_DOMAIN: case BLY_KEYS_CIDR:
    case BLY_KEYS_PATH:                      return NULL;
    default:                                 return "CAST(x AS NUMERIC)";
    }
}

static sql_keys_found sql_keys_changed(sql_keys_key *out, uint64_t form,
                                       sqlite3_value *value)
{
    bly_value given = { .type = BLY_TEXT };
    bly_key key;
    size_t bytes;
    sql_keys_found found =
        sql_keys_plain(out, value, sqlite3_value_type(value));
    if (found != KEYS_ONE)
        return found;
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        given.type = BLY_INTEGER;
        given.integer = sqlite3_value_int64(value);
        break;
    case SQLITE_FLOAT:
        given.type = BLY_REAL;
        given.real = sqlite3_value_double(value);
        break;
    case SQLITE_BLOB:
        given.type = BLY_BYTES;         /* fall through                      */
    default:
        given.data = out->data;
        given.length = out->length;
    }
    bytes = bly_form_room(form, given.length);
    out->room = bytes < SIZE_MAX ? sqlite3_malloc64(bytes + 1) : NULL;
    if (out->room == NULL)
        return KEYS_NO_MEMORY;
    bly_status status = bly_form_key(&key, form, &given, out->room);
    if (status < 0) {
        sql_keys_done(out);
        out->cast = status == BLY_EFORM ? sql_keys_cast(form) : NULL;
        return status == BLY_ENOMEM ? KEYS_NO_MEMORY : KEYS_REFUSED;
    }
    out->data = key.data;
    out->length = key.length;
    return KEYS_ONE;
}

sql_keys_found sql_keys_of(sql_keys_key *out, uint64_t form,
                           sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    out->room = NULL;
    if (form == BLY_KEYS_UNSTATED || form == sql_keys_class_of(type))
        return sql_keys_plain(out, value, type);
    return sql_keys_changed(out, form, value);
}

void sql_keys_done(sql_keys_key *key)
{
    if (key->room == NULL)
        return;
    sqlite3_free(key->room);
    key->room = NULL;
}

char *sql_keys_why(const sql_keys_key *key)
{
    return key->cast == NULL ? sqlite3_mprintf("%s", extension_why())
        : sqlite3_mprintf("%s, as by %s", extension_why(), key->cast);
}

void sql_keys_fail(sqlite3_context *context, sql_keys_found found,
                   const sql_keys_key *key)
{
    char *why = found == KEYS_REFUSED ? sql_keys_why(key) : NULL;
    if (why != NULL)
        extension_error(context, "%s", why);
    else
        sqlite3_result_error_nomem(context);
    sqlite3_free(why);
}

const char *sql_keys_type(sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: return "INTEGER";
    case SQLITE_FLOAT:   return "REAL";
    case SQLITE_TEXT:    return "TEXT";
    case SQLITE_BLOB:    return "BLOB";
    default:             return "NULL";
    }
}

/* Raises an error with the number itself or, for other values, their type. */
static bool sql_keys_wrong(sqlite3_context *context, const char *what,
                           const char *wanted, sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    const char *given = type == SQLITE_INTEGER || type == SQLITE_FLOAT
        ? (const char *)sqlite3_value_text(value) : NULL;
    extension_error(context, "the %s must be %s, not %s", what, wanted,
                    given != NULL ? given : sql_keys_type(value));
    return false;
}

bool sql_keys_count(sqlite3_context *context, uint64_t *out, const char *what,
                    sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    double real = type == SQLITE_FLOAT ? sqlite3_value_double(value) : 0;
    int64_t whole = type == SQLITE_INTEGER ? sqlite3_value_int64(value) : 0;
    if ((type != SQLITE_NULL && type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        || whole < 0 || !(real >= 0 && real < 0x1p63) || real != floor(real))
        return sql_keys_wrong(context, what, "a whole number of 0 or more",
                              value);
    *out = type == SQLITE_FLOAT ? (uint64_t)real : (uint64_t)whole;
    return true;
}

bool sql_keys_rate(sqlite3_context *context, double *out, sqlite3_value *value)
{
    int type = sqlite3_value_numeric_type(value);
    if (type == SQLITE_NULL) {
        *out = 0;
        return true;
    }
    *out = sqlite3_value_double(value);
    if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        || !(*out > 0 && *out < 1))
        return sql_keys_wrong(context, "rate", "a number between 0 and 1",
                              value);
    return true;
}

bool sql_keys_text(sqlite3_context *context, const char **out, const char *what,
                   sqlite3_value *value)
{
    *out = NULL;
    if (sqlite3_value_type(value) == SQLITE_NULL)
        return true;
    if (sqlite3_value_type(value) != SQLITE_TEXT)
        return sql_keys_wrong(context, what, "TEXT", value);
    *out = (const char *)sqlite3_value_text(value);
    if (*out == NULL) {
        sqlite3_result_error_nomem(context);
        return false;
    }
    if (strlen(*out) != (size_t)sqlite3_value_bytes(value)) {
        extension_error(context, "the %s contains a zero byte: leave it out",
                        what);
        return false;
    }
    return true;
}

bool sql_keys_form(sqlite3_context *context, uint64_t *form, bool *given,
                   sqlite3_value *value)
{
    const char *text;
    *form = BLY_KEYS_UNSTATED;
    if (!sql_keys_text(context, &text, "form of the keys", value))
        return false;
    *given = text != NULL;
    bly_status status = text != NULL ? bly_form_read(form, text) : BLY_OK;
    if (status < 0)
        extension_fail(context, status);
    return status >= 0;
}

bool sql_keys_spec(sqlite3_context *context, const char **kind, bly_spec *spec,
                   int n, sqlite3_value **values, bool items_first)
{
    int items = items_first ? 1 : 2, rate = items_first ? 2 : 1;
    *kind = NULL;
    if ((n > 0 && !sql_keys_text(context, kind, "kind", values[0]))
        || (n > items && !sql_keys_count(context, &spec->capacity, "items",
                                         values[items]))
        || (n > rate && !sql_keys_rate(context, &spec->rate, values[rate]))
        || (n > 4 && !sql_keys_text(context, &spec->hash, "hash", values[4])))
        return false;
    if (n > 3 && sqlite3_value_type(values[3]) != SQLITE_NULL) {
        if (sqlite3_value_type(values[3]) != SQLITE_INTEGER) {
            extension_error(context, "the seed must be an INTEGER, not %s",
                            sql_keys_type(values[3]));
            return false;
        }
        spec->seed = (uint64_t)sqlite3_value_int64(values[3]);
    }
    if (*kind == NULL)
        *kind = BLY_DEFAULT_KIND;
    return true;
}
