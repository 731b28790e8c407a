/* secret.c - the secret of keyed filters.
 *
 * Who can choose keys and knows the hash function can choose keys that fill a
 * filter, or that it is mistaken of. So filters of BLY.* are hashed by SipHash,
 * with a secret that the server draws, unless they are made otherwise. All that
 * it makes have the same one, so that they can be united and compared.
 *
 * The secret goes with each filter into dumps, the append-only file and to
 * replicas, never into what BLY.DUMP gives. A server whose files have one goes
 * on with it.
 *
 * Floor 8 (programs); includes held.h only.
 */
#include "redis/held.h"

#include <string.h>
#include <sys/random.h>

static unsigned char secret_bytes_own[BLY_SECRET_BYTES];
static bool secret_known;

static int secret_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool secret_read(unsigned char *secret, const char *digits, size_t n)
{
    unsigned char read[BLY_SECRET_BYTES];
    if (n != SECRET_DIGITS)
        return false;
    for (size_t i = 0; i < sizeof read; i++) {
        int high = secret_digit(digits[2 * i]);
        int low = secret_digit(digits[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        read[i] = (unsigned char)(16 * high + low);
    }
    memcpy(secret, read, sizeof read);
    return true;
}

void secret_write(char *digits, const unsigned char *secret)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < BLY_SECRET_BYTES; i++) {
        digits[2 * i] = hex[secret[i] >> 4];
        digits[2 * i + 1] = hex[secret[i] & 15];
    }
    digits[SECRET_DIGITS] = '\0';
}

const unsigned char *secret_own(void)
{
    if (!secret_known)
        secret_known = getrandom(secret_bytes_own, sizeof secret_bytes_own, 0)
                    == (ssize_t)sizeof secret_bytes_own;
    return secret_known ? secret_bytes_own : NULL;
}

void secret_told(server_context *context, const unsigned char *secret)
{
    if (secret_known || context == NULL
        || (server_context_flags(context)
            & (SERVER_LOADING | SERVER_REPLICATED)) == 0)
        return;
    memcpy(secret_bytes_own, secret, sizeof secret_bytes_own);
    secret_known = true;
}

bool secret_set(const char *digits, size_t n)
{
    if (n == 0) {
        settings.secret[0] = '\0';
        return true;
    }
    if (!secret_read(secret_bytes_own, digits, n))
        return false;
    secret_known = true;
    secret_write(settings.secret, secret_bytes_own);
    return true;
}
