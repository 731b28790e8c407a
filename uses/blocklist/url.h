/* url.h - brings URLs into a canonical form: a host, a path and perhaps a
 * query. */
#ifndef URL_H
#define URL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { char *bytes; size_t n, room; } text;

static text url, host, path;            /* parts of a line; path and query */
static size_t query;                    /* its start in the path             */
static bool numeric;                    /* the host is an address            */

static void put(text *t, char c)
{
    if (t->n + 1 >= t->room) {
        t->room = 2 * t->room + 64;
        t->bytes = realloc(t->bytes, t->room);
        if (t->bytes == NULL) {
            fprintf(stderr, "blocklist: out of memory\n");
            exit(2);
        }
    }
    t->bytes[t->n++] = c;
    t->bytes[t->n] = '\0';
}

static void cut(text *t, size_t n)
{
    put(t, '\0');
    t->n = n;
    t->bytes[n] = '\0';
}

/* ---- Canonical form ----------------------------------------------------- */

static bool decimal(char c)
{
    return c >= '0' && c <= '9';
}

static int digit(char c)
{
    return decimal(c) ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Undoes an escape at the text's end, and any that this forms. */
static void unescape_end(text *t)
{
    while (t->n >= 3 && t->bytes[t->n - 3] == '%') {
        int high = digit(t->bytes[t->n - 2]), low = digit(t->bytes[t->n - 1]);
        if (high < 0 || low < 0)
            return;
        t->n -= 3;
        put(t, (char)(high * 16 + low));
    }
}

static void read_url(const char *line, size_t n)
{
    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\r'))
        n--;
    for (; n > 0 && *line == ' '; n--)
        line++;
    cut(&url, 0);
    for (size_t i = 0; i < n && line[i] != '#'; i++)
        if (line[i] != '\t' && line[i] != '\r') {
            put(&url, line[i]);
            unescape_end(&url);
        }
}

/* Returns the length of the scheme and "://", or 0 without one. */
static size_t scheme(void)
{
    const char *at = url.bytes;
    size_t n = 0;
    while (n < url.n && at[n] != ':' && at[n] != '/' && at[n] != '?')
        n++;
    return n + 3 <= url.n && memcmp(at + n, "://", 3) == 0 ? n + 3 : 0;
}

static void put_escaped(text *t, char c)
{
    static const char digits[] = "0123456789ABCDEF";
    unsigned byte = (unsigned char)c;
    if (byte <= 0x20 || byte >= 0x7f || c == '#' || c == '%') {
        put(t, '%');
        put(t, digits[byte >> 4]);
        c = digits[byte & 15];
    }
    put(t, c);
}

/* Reads one to four numbers, the last of which fills all remaining bytes. */
static bool read_address(uint64_t *address)
{
    const char *at = host.bytes;
    uint64_t all = 0;
    for (unsigned left = 4; ; left--, at++) {
        char *end;
        uint64_t part = decimal(*at) ? strtoull(at, &end, 0) : UINT64_MAX;
        if (part > UINT32_MAX || left == 0 || (*end != '.' && *end != '\0') ||
            (*end == '.' ? part > 255 : part >> 8 * left != 0))
            return false;
        all = *end == '.' ? all << 8 | part : all << 8 * left | part;
        at = end;
        if (*end == '\0')
            break;
    }
    *address = all;
    return at == host.bytes + host.n;
}

static void read_host(size_t from, size_t to)
{
    uint64_t a;
    cut(&host, 0);
    for (size_t i = from; i < to; i++) {
        char c = url.bytes[i];
        if (c != '.' || (host.n > 0 && host.bytes[host.n - 1] != '.'))
            put_escaped(&host, (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c));
    }
    while (host.n > 0 && host.bytes[host.n - 1] == '.')
        cut(&host, host.n - 1);
    numeric = host.n > 0 && host.bytes[0] == '[';
    if (read_address(&a)) {
        host.n = (size_t)snprintf(host.bytes, host.room, "%u.%u.%u.%u",
            (unsigned)(a >> 24 & 255), (unsigned)(a >> 16 & 255),
            (unsigned)(a >> 8 & 255), (unsigned)(a & 255));
        numeric = true;
    }
}

/* Finds the host's beginning and end before the path. */
static void trim_host(size_t *from, size_t *to)
{
    size_t digits = *to;
    for (size_t i = *from; i < *to; i++)
        if (url.bytes[i] == '@')
            *from = i + 1;
    while (digits > *from && decimal(url.bytes[digits - 1]))
        digits--;
    if (digits > *from && url.bytes[digits - 1] == ':')
        *to = digits - 1;
}

/* Removes the last component, but not the first slash. */
static void go_up(void)
{
    size_t n = path.n - 1;
    while (n > 0 && path.bytes[n - 1] != '/')
        n--;
    cut(&path, n > 0 ? n : 1);
}

static void read_path(size_t from)
{
    size_t to = from, next;
    while (to < url.n && url.bytes[to] != '?')
        to++;
    cut(&path, 0);
    put(&path, '/');
    for (size_t i = from; i < to; i = next + 1) {
        const char *part = url.bytes + i;
        for (next = i; next < to && url.bytes[next] != '/'; )
            next++;
        size_t n = next - i;
        if (n == 0 || (n == 1 && part[0] == '.'))
            continue;
        if (n == 2 && part[0] == '.' && part[1] == '.') {
            go_up();
            continue;
        }
        for (size_t j = 0; j < n; j++)
            put_escaped(&path, part[j]);
        if (next < to)
            put(&path, '/');
    }
    for (query = path.n; to < url.n; to++)
        put_escaped(&path, url.bytes[to]);
}

/* Returns whether the host has only characters of names and addresses. */
static bool plain_host(void)
{
    const char *at = host.bytes;
    while (digit(*at) >= 0 || (*at >= 'a' && *at <= 'z') ||
           (*at != '\0' && strchr("-._~[]:", *at) != NULL) ||
           (*at == '%' && digit(at[1]) >= 8))   /* a byte beyond ASCII      */
        at++;
    return *at == '\0';
}

static bool read_line(const char *line, size_t n)
{
    read_url(line, n);
    size_t from = scheme(), end = from;
    while (end < url.n && url.bytes[end] != '/' && url.bytes[end] != '?')
        end++;
    size_t to = end;
    trim_host(&from, &to);
    read_host(from, to);
    read_path(end);
    return host.n > 0;
}

#endif
