/* secret.c - the secret of keyed filters.
 *
 * Who can choose keys and knows the hash function can choose keys that fill a
 * filter, or that it is mistaken of. So filters of BLY.* are hashed by SipHash,
 * with a secret that the server draws, unless they are made otherwise. All that
 * it makes have the same one, so that they can be united and compared.
 *
 * The secret goes with each filter into the server's own files and to replicas,
 * but not into what BLY.DUMP, DUMP and MIGRATE give, since many may use these
 * who are not to know it (unless `bly-dump-secrets` says so). There the image
 * has the mark of its secret (docs/format/hashes.md), by which RESTORE
 * finds it among the secrets that the server knows. A server whose files have a
 * secret goes on with it.
 *
 * The server writes files and DUMPs by the same function of a type. Files are
 * written between two events of persistence, or in a child process; so
 * everything else is a DUMP.
 *
 * A replica, and the append-only file, get a RESTORE as it came, and may not
 * know the secret. So it is announced to them by BLY.KNOWSECRET before.
 */
#include "redis/held.h"

#include <string.h>
#include <sys/random.h>

typedef struct {
    unsigned char bytes[BLY_SECRET_BYTES];
    uint64_t      mark;                 /* 0: there was no memory for it     */
} redis_secret_other;

static unsigned char redis_secret_bytes_own[BLY_SECRET_BYTES];
static bool redis_secret_known, redis_secret_saving;
/* Number 0 is the one announced. */
static redis_secret_other redis_secret_others[SECRET_OTHERS + 1];
static size_t redis_secret_others_n;                    /* the announced too */

static int redis_secret_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool redis_secret_read(unsigned char *secret, const char *digits, size_t n)
{
    unsigned char read[BLY_SECRET_BYTES];
    if (n != SECRET_DIGITS)
        return false;
    for (size_t i = 0; i < sizeof read; i++) {
        int high = redis_secret_digit(digits[2 * i]);
        int low = redis_secret_digit(digits[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        read[i] = (unsigned char)(16 * high + low);
    }
    memcpy(secret, read, sizeof read);
    return true;
}

void redis_secret_write(char *digits, const unsigned char *secret)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < BLY_SECRET_BYTES; i++) {
        digits[2 * i] = hex[secret[i] >> 4];
        digits[2 * i + 1] = hex[secret[i] & 15];
    }
    digits[SECRET_DIGITS] = '\0';
}

const unsigned char *redis_secret_own(void)
{
    if (!redis_secret_known)
        redis_secret_known =
            getrandom(redis_secret_bytes_own, sizeof redis_secret_bytes_own, 0)
            == (ssize_t)sizeof redis_secret_bytes_own;
    return redis_secret_known ? redis_secret_bytes_own : NULL;
}

void redis_secret_told(server_context *context, const unsigned char *secret)
{
    if (redis_secret_known || context == NULL
        || (server_context_flags(context)
            & (SERVER_LOADING | SERVER_REPLICATED)) == 0)
        return;
    memcpy(redis_secret_bytes_own, secret, sizeof redis_secret_bytes_own);
    redis_secret_known = true;
}

bool redis_secret_set(const char *digits, size_t n)
{
    if (n == 0) {
        redis_settings.secret[0] = '\0';
        return true;
    }
    if (!redis_secret_read(redis_secret_bytes_own, digits, n))
        return false;
    redis_secret_known = true;
    redis_secret_write(redis_settings.secret, redis_secret_bytes_own);
    return true;
}

/* ---- Secrets that are not its own ---------------------------------------- */

/* The mark of a secret is in the header of any filter of it. 0: no memory. */
static uint64_t redis_secret_mark(const unsigned char *secret)
{
    bly_filter *filter;
    bly_header header = { .seed = 0 };
    bly_spec spec = { .capacity = 1, .hash = "siphash", .secret = secret,
                      .threads = 1 };
    if (bly_new(&filter, "standard", &spec) != BLY_OK)
        return 0;
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    (void)bly_peek(&header, image, bytes);
    bly_free(filter);
    return header.seed;
}

bool redis_secret_set_others(const char *text, size_t n)
{
    unsigned char read[SECRET_OTHERS][BLY_SECRET_BYTES];
    size_t count = 0, at = 0;
    while (at < n) {
        if (count == SECRET_OTHERS || n - at < SECRET_DIGITS
            || !redis_secret_read(read[count++], text + at, SECRET_DIGITS))
            return false;
        at += SECRET_DIGITS;
        if (at < n && (text[at++] != ' ' || at == n))
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(redis_secret_others[1 + i].bytes, read[i], BLY_SECRET_BYTES);
        redis_secret_others[1 + i].mark = redis_secret_mark(read[i]);
    }
    redis_secret_others_n = 1 + count;
    return true;
}

server_string *redis_secret_show_others(void)
{
    char text[SECRET_OTHERS * (SECRET_DIGITS + 1) + 1] = "", *at = text;
    for (size_t i = 1; i < redis_secret_others_n; i++) {
        if (i > 1)
            *at++ = ' ';
        redis_secret_write(at, redis_secret_others[i].bytes);
        at += SECRET_DIGITS;
    }
    return server_printed(NULL, "%s", text);
}

const unsigned char *redis_secret_of(uint64_t mark)
{
    if (redis_secret_known && redis_secret_mark(redis_secret_bytes_own) == mark)
        return redis_secret_bytes_own;
    for (size_t i = 0; i < redis_secret_others_n; i++)
        if (mark != 0 && redis_secret_others[i].mark == mark)
            return redis_secret_others[i].bytes;
    return NULL;
}

void redis_secret_announced(const unsigned char *secret)
{
    memcpy(redis_secret_others[0].bytes, secret, BLY_SECRET_BYTES);
    redis_secret_others[0].mark = redis_secret_mark(secret);
    redis_secret_others_n =
        redis_secret_others_n > 0 ? redis_secret_others_n : 1;
}

/* ---- Where secrets go ---------------------------------------------------- */

void redis_secret_hide(server_context *context, int argument)
{
    if (server_redact != NULL)
        server_redact(context, argument);
}

bool redis_secret_is_saved(server_context *context)
{
    return redis_settings.dump_secrets || redis_secret_saving
        || (server_context_flags(context) & SERVER_IS_CHILD) != 0;
}

static void redis_secret_persists(server_context *context, server_event event,
                                  uint64_t what, void *data)
{
    (void)context;
    (void)event;
    (void)data;
    redis_secret_saving = what != SERVER_SAVED && what != SERVER_NOT_SAVED;
}

bool redis_secret_register(server_context *context)
{
    const server_event persists = { SERVER_PERSISTS, 1 };
    return server_on_event(context, persists, redis_secret_persists)
           == SERVER_OK;
}
