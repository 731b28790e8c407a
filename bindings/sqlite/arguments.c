/* arguments.c - the arguments of CREATE VIRTUAL TABLE … USING bloomery(…).
 *
 * Either the first one is a file and options follow, or all are NAME=VALUE and
 * describe a filter that is stored in the database. SQLite passes each as
 * text, with its quotes. */
#include "extension.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sql_arguments_free(sql_arguments *a)
{
    sqlite3_free(a->path);
    sqlite3_free(a->format);
    sqlite3_free(a->kind);
    sqlite3_free(a->hash);
}

/* Returns the text inside SQL quotes, or all of it. Returns NULL if out of
   memory or invalid. */
static char *sql_arguments_unquoted(const char *text, char **error)
{
    const char *all = text;
    char quote = *text, *out = sqlite3_mprintf("%s", text), *to = out;
    if (out == NULL || (quote != '\'' && quote != '"'))
        return out;
    for (text++; *text != '\0'; text++) {
        if (*text == quote && *++text != quote)
            break;
        *to++ = *text;
    }
    *to = '\0';
    if (*text == '\0')
        return out;
    *error = sqlite3_mprintf("nothing may follow the quotes in %s: put a comma "
                             "before an option", all);
    sqlite3_free(out);
    return NULL;
}

/* ---- A file -------------------------------------------------------------- */

/* Parses a number of bytes, at least 1. */
static bool sql_arguments_limit(sql_arguments *a, const char *text,
                                char **error)
{
    char *end;
    a->limit = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && a->limit > 0)
        return true;
    *error = sqlite3_mprintf("limit=%s is not a number of bytes", text);
    return false;
}

static bool sql_arguments_option(sql_arguments *a, const char *option,
                                 char **error)
{
    if (strcmp(option, "map") == 0) {
        a->flags |= BLY_MAP;
    } else if (strcmp(option, "verify") == 0) {
        a->flags |= BLY_VERIFY;
    } else if (strncmp(option, "format=", 7) == 0 && a->format == NULL) {
        a->format = sql_arguments_unquoted(option + 7, error);
        return a->format != NULL;
    } else if (strncmp(option, "limit=", 6) == 0) {
        return sql_arguments_limit(a, option + 6, error);
    } else {
        *error = sqlite3_mprintf("unknown option %s: use map, verify, "
                                 "format=NAME or limit=BYTES", option);
        return false;
    }
    return true;
}

static bool sql_arguments_of_file(sql_arguments *a, int n,
                                  const char *const *arguments, char **error)
{
    a->path = sql_arguments_unquoted(arguments[0], error);
    if (a->path == NULL)
        return false;
    for (int i = 1; i < n; i++)
        if (!sql_arguments_option(a, arguments[i], error))
            return false;
    if ((a->flags & BLY_VERIFY) != 0 && (a->flags & BLY_MAP) == 0)
        a->flags &= ~BLY_VERIFY;        /* loaded bytes are always verified  */
    return true;
}

/* ---- A stored filter ----------------------------------------------------- */

enum { ARGUMENTS_KIND, ARGUMENTS_CAPACITY, ARGUMENTS_RATE, ARGUMENTS_SEED,
       ARGUMENTS_HASH, ARGUMENTS_KEYS, ARGUMENTS_NAMES };

static const char *const sql_arguments_names[ARGUMENTS_NAMES] = {
    "kind", "capacity", "rate", "seed", "hash", "keys",
};

/* Returns which name an argument NAME=VALUE has, and where the value begins; or
   ARGUMENTS_NAMES. */
static int sql_arguments_name(const char *argument, const char **value)
{
    for (int i = 0; i < ARGUMENTS_NAMES; i++) {
        const size_t n = strlen(sql_arguments_names[i]);
        if (sqlite3_strnicmp(argument, sql_arguments_names[i], (int)n) != 0)
            continue;
        const char *at = argument + n + strspn(argument + n, " \t\r\n");
        if (*at != '=')
            continue;
        *value = at + 1 + strspn(at + 1, " \t\r\n");
        return i;
    }
    return ARGUMENTS_NAMES;
}

/* Returns whether a text is a number: digits with a point and an exponent, as
 * SQL has them. */
static bool sql_arguments_is_number(const char *text)
{
    static const char digits[] = "0123456789";
    text += *text == '-' || *text == '+';
    size_t whole = strspn(text, digits), part = 0;
    text += whole;
    if (*text == '.') {
        part = strspn(++text, digits);
        text += part;
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '-' || *text == '+';
        size_t power = strspn(text, digits);
        whole = power > 0 ? whole : 0;
        part = power > 0 ? part : 0;
        text += power;
    }
    return whole + part > 0 && *text == '\0';
}

/* Parses a number as SQL does, whatever the locale. *real is NAN if it is not a
   number, and *whole is 0 if it is not an INTEGER. */
static int sql_arguments_number(sqlite3 *db, const char *text, double *real,
                                sqlite3_int64 *whole)
{
    sqlite3_stmt *statement = NULL;
    *real = (double)NAN;
    *whole = 0;
    if (!sql_arguments_is_number(text))
        return SQLITE_OK;
    int status = sqlite3_prepare_v2(db, "SELECT CAST(?1 AS NUMERIC)", -1,
                                    &statement, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
    if (status == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        *real = sqlite3_column_double(statement, 0);
        if (sqlite3_column_type(statement, 0) == SQLITE_INTEGER)
            *whole = sqlite3_column_int64(statement, 0);
    }
    int ended = sqlite3_finalize(statement);
    return status == SQLITE_OK ? ended : status;
}

static bool sql_arguments_wrong(char **error, int name, const char *wanted,
                                const char *text)
{
    *error = sqlite3_mprintf("the %s must be %s, not %s",
                             sql_arguments_names[name], wanted, text);
    return false;
}

/* Reads capacity, rate or seed. */
static bool sql_arguments_numeric(sql_arguments *a, sqlite3 *db, int name,
                                  const char *text, char **error)
{
    double real;
    sqlite3_int64 whole;
    if (sql_arguments_number(db, text, &real, &whole) != SQLITE_OK)
        return false;
    if (name == ARGUMENTS_RATE) {
        a->spec.rate = real;
        return (real > 0 && real < 1)
            || sql_arguments_wrong(error, name, "a number between 0 and 1",
                                   text);
    }
    const bool integer = whole != 0 || (real <= 0 && real >= 0);
    if (name == ARGUMENTS_SEED) {
        a->spec.seed = (uint64_t)whole;
        return integer || sql_arguments_wrong(error, name, "an integer", text);
    }
    if (!(real >= 1 && real < 0x1p63) || real != floor(real))
        return sql_arguments_wrong(error, name, "a whole number of 1 or more",
                                   text);
    a->spec.capacity = whole > 0 ? (uint64_t)whole : (uint64_t)real;
    return true;
}

/* Keeps a text; false with no error if out of memory. */
static bool sql_arguments_keep(char **to, char *text)
{
    sqlite3_free(*to);
    *to = text;
    return true;
}

static bool sql_arguments_form(sql_arguments *a, const char *text, char **error)
{
    if (bly_form_read(&a->spec.form, text) < 0) {
        *error = sqlite3_mprintf("%s", extension_why());
        return false;
    }
    a->any = a->spec.form == BLY_KEYS_UNSTATED;
    return true;
}

static bool sql_arguments_value(sql_arguments *a, sqlite3 *db, int name,
                                char *text, char **error)
{
    if (name == ARGUMENTS_KIND)
        return sql_arguments_keep(&a->kind, text);
    if (name == ARGUMENTS_HASH)
        return sql_arguments_keep(&a->hash, text);
    const bool right = name == ARGUMENTS_KEYS
        ? sql_arguments_form(a, text, error)
        : sql_arguments_numeric(a, db, name, text, error);
    sqlite3_free(text);
    return right;
}

static bool sql_arguments_of_stored(sql_arguments *a, sqlite3 *db, int n,
                                    const char *const *arguments, char **error)
{
    a->stored = true;
    for (int i = 0; i < n; i++) {
        const char *value = "";
        int name = sql_arguments_name(arguments[i], &value);
        if (name == ARGUMENTS_NAMES) {
            *error = sqlite3_mprintf(
                "unknown argument %s: use kind=, capacity=, rate=, seed=, "
                "hash= or keys=", arguments[i]);
            return false;
        }
        char *text = sql_arguments_unquoted(value, error);
        if (text == NULL || !sql_arguments_value(a, db, name, text, error))
            return false;
    }
    if (a->kind == NULL)
        a->kind = sqlite3_mprintf("%s", BLY_DEFAULT_KIND);
    a->spec.hash = a->hash;
    return a->kind != NULL;
}

bool sql_arguments_read(sql_arguments *out, sqlite3 *db, int n,
                        const char *const *arguments, char **error)
{
    const char *value;
    *out = (sql_arguments){ .spec = { .allocator = &sql_memory_allocator,
                                      .threads = 1 } };
    if (n < 1) {
        *error = sqlite3_mprintf(
            "arguments are missing: USING bloomery('words.bly') for a filter "
            "in a file, USING bloomery(kind=blocked, capacity=1000000) for one "
            "in this database");
        return false;
    }
    return sql_arguments_name(arguments[0], &value) == ARGUMENTS_NAMES
         ? sql_arguments_of_file(out, n, arguments, error)
         : sql_arguments_of_stored(out, db, n, arguments, error);
}
