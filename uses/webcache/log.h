/* log.h - reads requests from the access logs of web servers and proxies: the
 * Common and the Combined Log Format of Apache and nginx, and Squid's own.
 */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A request, whose URL is in the line. */
typedef struct {
    const char *method, *url;
    size_t      method_n, url_n;
    unsigned    status;
    uint64_t    bytes;                  /* sent to the client                */
} log_request;

/* Returns the next word of a line and moves behind it; *n is 0 at the end. */
static const char *log_word(const char **at, size_t *n)
{
    const char *word = *at + strspn(*at, " \t");
    *n = strcspn(word, " \t\r\n");
    *at = word + *n;
    return word;
}

/* Reads a number, or 0 for "-". */
static bool log_number(uint64_t *out, const char *word, size_t n)
{
    char *end = NULL;
    *out = 0;
    if (n == 1 && *word == '-')
        return true;
    if (n == 0 || *word < '0' || *word > '9')
        return false;
    *out = strtoull(word, &end, 10);
    return end == word + n;
}

static bool log_status(log_request *r, const char *word, size_t n)
{
    uint64_t status;
    bool good = n == 3 && log_number(&status, word, n);
    if (good)
        r->status = (unsigned)status;
    return good;
}

/* HOST IDENT USER [TIME] "METHOD URL VERSION" STATUS BYTES …; quotes in the
 * request are escaped. */
static bool log_common(log_request *r, const char *line)
{
    const char *at = strchr(line, '[');
    at = at != NULL ? strstr(at, "] \"") : NULL;
    if (at == NULL)
        return false;
    at += strlen("] \"");
    const char *end = at;
    while (*end != '"' && *end != '\0')
        end += *end == '\\' && end[1] != '\0' ? 2 : 1;
    if (*end == '\0')
        return false;
    r->method = log_word(&at, &r->method_n);
    r->url = log_word(&at, &r->url_n);
    if (at > end)                       /* a client that sent no request     */
        r->method_n = 0;
    size_t n;
    at = end + 1;
    const char *status = log_word(&at, &n);
    if (!log_status(r, status, n))
        return false;
    const char *bytes = log_word(&at, &n);
    return log_number(&r->bytes, bytes, n);
}

/* TIME ELAPSED CLIENT RESULT/STATUS BYTES METHOD URL … */
static bool log_squid(log_request *r, const char *line)
{
    const char *word[7], *at = line;
    size_t n[7];
    for (unsigned i = 0; i < 7; i++)
        word[i] = log_word(&at, &n[i]);
    const char *slash = n[6] > 0 ? memchr(word[3], '/', n[3]) : NULL;
    if (slash == NULL || memchr(word[0], '.', n[0]) == NULL ||
        strspn(word[0], "0123456789.") != n[0])
        return false;
    r->method = word[5], r->method_n = n[5];
    r->url = word[6], r->url_n = n[6];
    return log_status(r, slash + 1, n[3] - (size_t)(slash + 1 - word[3])) &&
           log_number(&r->bytes, word[4], n[4]);
}

/* Reads a line of any of these formats. */
static bool log_read(log_request *r, const char *line)
{
    return log_squid(r, line) || log_common(r, line);
}

#endif
