/* blocklist.c - the names under which a URL may stand in a list of bad ones.
 *
 *   blocklist [--list] [URLS...]
 *
 * Prints for each URL, one per line, up to 30 expressions to be looked up, each
 * on a line with a TAB and the URL as written. With --list it prints the single
 * expression of a list entry: `bad.org` covers all of that host and of its
 * subdomains, `bad.org/a/` everything in this folder. Invalid lines are
 * counted, and the status is 2.
 *
 * An expression is a host, a path and perhaps a query, in a canonical form.
 * Escapes are undone, even nested ones; fragment, user, port and scheme are
 * dropped; hosts are in lower case, and numeric ones four decimal numbers;
 * paths lose . and .. and double slashes. Then everything except printable
 * ASCII is escaped, and so are # and %.
 */
#include "url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS = 4, PREFIXES = 4 };       /* beside the host, the path         */

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "blocklist: %s: %s\n", what, why);
    return 2;
}

/* ---- Entries of lists --------------------------------------------------- */

/* Reads a list entry without the comment behind it. false: it is not a host or
 * a URL but has another syntax, such as hosts(5) or an ad blocker's. */
static bool read_entry(const char *line, size_t n)
{
    size_t end = 0;
    while (end < n && (line[end] != '#' || (end > 0 && line[end - 1] != ' ' &&
                                            line[end - 1] != '\t')))
        end++;
    while (end > 0 && strchr(" \t\r", line[end - 1]) != NULL)
        end--;
    const char *hides = strchr(line, '#');     /* hides page elements       */
    if (hides != NULL && hides < line + end && hides[1] != '\0' &&
        strchr("#@?$", hides[1]) != NULL)
        return false;
    return memchr(line, '\t', end) == NULL && read_line(line, end) &&
           plain_host();
}

/* Returns whether a line is blank or a comment. */
static bool is_blank(const char *line)
{
    line += strspn(line, " \t\r");
    return *line == '\0' || *line == '#';
}

/* ---- Expressions -------------------------------------------------------- */

static void tell(const char *from, size_t n, const char *line)
{
    printf("%s%.*s\t%s\n", from, (int)n, path.bytes, line);
}

/* Prints the path with and without its query, and the folders containing it. */
static void tell_paths(const char *from, const char *line)
{
    size_t n = 0;
    tell(from, path.n, line);
    if (query < path.n)
        tell(from, query, line);
    for (int i = 0; i < PREFIXES; i++) {
        n += strcspn(path.bytes + n, "/") + 1;
        if (n >= query)
            return;
        tell(from, n, line);
    }
}

static void tell_all(const char *line)
{
    const char *from[HOSTS];            /* its last two parts, three, ...  */
    int n = 0, dots = 0;
    for (size_t i = host.n; i > 0 && n < HOSTS && !numeric; i--)
        if (host.bytes[i - 1] == '.' && ++dots > 1)
            from[n++] = host.bytes + i;
    tell_paths(host.bytes, line);
    while (n-- > 0)
        tell_paths(from[n], line);
}

/* ---- The command -------------------------------------------------------- */

static int read_all(FILE *urls, const char *name, bool list)
{
    char *line = NULL;
    size_t room = 0;
    unsigned long number = 0, bad = 0, first = 0;
    for (ssize_t n; (n = getline(&line, &room, urls)) > 0; ) {
        number++;
        if (line[n - 1] == '\n')
            line[--n] = '\0';
        if (list && is_blank(line))
            continue;
        if (!(list ? read_entry : read_line)(line, (size_t)n)) {
            first = bad++ == 0 ? number : first;
        } else if (list) {
            printf("%s%s\n", host.bytes, path.bytes);
        } else {
            tell_all(line);
        }
    }
    free(line);
    if (ferror(urls))
        return stop(name, "cannot be read");
    if (bad > 0)
        fprintf(stderr, "blocklist: %s: %s in %lu lines, the first is line "
                "%lu\n", name, list ? "no host or URL" : "no host", bad,
                first);
    return bad > 0 ? 2 : 0;
}

int main(int argc, char **argv)
{
    bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
    int first = list ? 2 : 1, failed = 0;
    if (argc > first && argv[first][0] == '-')
        return stop("usage", "blocklist [--list] [URLS...]");
    if (argc == first)
        failed = read_all(stdin, "standard input", list);
    for (int i = first; i < argc; i++) {
        FILE *urls = fopen(argv[i], "r");
        int wrong = urls == NULL ? stop(argv[i], strerror(errno))
                                 : read_all(urls, argv[i], list);
        failed = wrong > failed ? wrong : failed;
        if (urls != NULL)
            fclose(urls);
    }
    return (fflush(stdout) | ferror(stdout)) != 0
         ? stop("standard output", strerror(errno)) : failed;
}
