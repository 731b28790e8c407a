/* secret.c - the secret of filters hashed by siphash.
 *
 * A program uses at most one secret. The file named by --key-file is read
 * before anything else, and its secret applies to all filters made or opened. A
 * filter that is never saved gets a random secret.
 */
#include "filters/filters.h"
#include "frame/output.h"

#include <bloomery/keyed.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECRET_DIGITS = 2 * BLY_SECRET_BYTES,
       SECRET_MOST = SECRET_DIGITS + 2 };       /* one more than allowed      */

static unsigned char secret_key[BLY_SECRET_BYTES];
static const char   *secret_file;

const void *secret_bytes(void)
{
    return format_how()->secret;
}

const char *secret_hash(void)
{
    return format_how()->secret != NULL ? "siphash" : NULL;
}

bool secret_is_in(const char *path)
{
    return secret_file != NULL && output_same(secret_file, path);
}

/* Overwrites text that is not read again. */
static void secret_wipe(char *text, size_t n)
{
    for (volatile char *at = text; n > 0; n--)
        *at++ = 0;
}

static int secret_digit(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = memchr(digits, c, sizeof digits - 1);

    return at != NULL ? (int)(at - digits) % 16 : -1;
}

static bool secret_hex(const char *text)
{
    for (size_t i = 0; i < BLY_SECRET_BYTES; i++) {
        int high = secret_digit(text[2 * i]);
        int low = secret_digit(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        secret_key[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

/* Takes the secret, raw or in digits. */
static bool secret_take(const char *text, size_t n)
{
    if (n == BLY_SECRET_BYTES) {
        memcpy(secret_key, text, n);
        return true;
    }
    return (n == SECRET_DIGITS
            || (n == SECRET_DIGITS + 1 && text[SECRET_DIGITS] == '\n'))
        && secret_hex(text);
}

/* Reads a short file, or the beginning of a longer one. Returns -1 and errno.
 */
static ssize_t secret_load(int fd, char text[SECRET_MOST])
{
    size_t n = 0;
    ssize_t got = 1;

    while (got != 0 && n < SECRET_MOST) {
        got = read(fd, text + n, SECRET_MOST - n);
        if (got < 0 && errno != EINTR)
            return -1;
        n += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)n;
}

static void secret_warn(int fd, const char *path)
{
    struct stat about;

    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)
        && (about.st_mode & 077) != 0)
        report_note("warning: others may read the secret in '%s': run 'chmod "
                    "600 %s'", path, path);
}

static int secret_refuse(const char *path)
{
    return report_unread("read the secret in", path, errno);
}

int secret_read(const char *path)
{
    char text[SECRET_MOST];
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n;
    bool taken;

    if (path == NULL)
        return CLI_GO;
    if (fd < 0)
        return secret_refuse(path);
    n = secret_load(fd, text);
    if (n < 0) {
        close(fd);
        return secret_refuse(path);
    }
    secret_warn(fd, path);
    close(fd);
    taken = secret_take(text, (size_t)n);
    secret_wipe(text, sizeof text);
    if (!taken)
        return report_error("'%s' does not hold a secret, which is 16 bytes or "
                            "32 hexadecimal digits: make one with '(umask 077; "
                            "head -c 16 /dev/urandom > FILE)'", path);
    format_how()->secret = secret_key;
    secret_file = path;
    return CLI_GO;
}

/* The mark is that of a filter with this secret. */
int secret_mark(uint64_t *mark)
{
    const bly_spec spec = { .capacity = 1, .rate = 0.5, .hash = secret_hash(),
                            .secret = secret_bytes() };
    bly_info_t stat = { .seed = 0 };
    bly_filter *filter;

    *mark = 0;
    if (spec.secret == NULL)
        return CLI_GO;
    if (bly_new(&filter, "standard", &spec) < 0)
        return report_error("%s", bly_why());
    if (bly_info(&stat, filter) < 0) {
        bly_free(filter);
        return report_error("%s", bly_why());
    }
    *mark = stat.seed;
    bly_free(filter);
    return CLI_GO;
}

int secret_draw(void)
{
    if (bly_draw(secret_key, sizeof secret_key) < 0)
        return report_error("%s", bly_why_in("command"));
    format_how()->secret = secret_key;
    return CLI_GO;
}
