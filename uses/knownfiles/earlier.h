/* earlier.h - reads an earlier list of hashes and names, as sha1sum prints it,
 * and says which files have changed since. */
#ifndef EARLIER_H
#define EARLIER_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct { char *hash, *path; } listed;

static listed *earlier;                 /* by name, then by hash             */
static size_t n_earlier;
static atomic_bool met;                 /* one of its names was asked for    */

static int stop(const char *what, const char *why);     /* the program's     */
static void *must(void *memory);

static int by_path(const void *a, const void *b)
{
    return strcmp(((const listed *)a)->path, ((const listed *)b)->path);
}

static int by_both(const void *a, const void *b)
{
    int order = by_path(a, b);
    return order != 0 ? order
         : strcasecmp(((const listed *)a)->hash, ((const listed *)b)->hash);
}

/* Undoes the escapes of sha1sum in a name: \n, \r and \\. */
static bool unescape(char *to)
{
    for (const char *from = to; *from != '\0'; from++, to++) {
        *to = *from;
        if (*from == '\\') {
            from++;
            if (*from != 'n' && *from != 'r' && *from != '\\')
                return false;
            *to = *from == 'n' ? '\n' : *from == 'r' ? '\r' : '\\';
        }
    }
    *to = '\0';
    return true;
}

/* Splits a line "HASH  NAME" or "HASH *NAME", perhaps after a backslash. */
static bool read_line(listed *one, char *line, size_t digits, bool null)
{
    bool escaped = !null && *line == '\\';
    *one = (listed){ line + escaped, line + escaped + digits + 2 };
    if (strspn(one->hash, "0123456789abcdefABCDEF") != digits ||
        one->hash[digits] != ' ' || strchr(" *", one->path[-1]) == NULL ||
        *one->path == '\0')
        return false;
    one->hash[digits] = '\0';
    return !escaped || unescape(one->path);
}

/* Reads a list of hashes with this number of digits; `null`: its lines end with
 * a NUL. */
static int read_earlier(const char *name, size_t digits, bool null)
{
    FILE *file = fopen(name, "r");
    if (file == NULL)
        return stop(name, strerror(errno));
    for (size_t room = 0; ; n_earlier++) {
        char *line = NULL;
        size_t size = 0;
        ssize_t n = getdelim(&line, &size, null ? '\0' : '\n', file);
        if (n < 0) {
            free(line);
            break;
        }
        if (!null && line[n - 1] == '\n')
            line[n - 1] = '\0';
        if (n_earlier == room) {
            room = 2 * room + 64;
            earlier = must(realloc(earlier, room * sizeof *earlier));
        }
        if (!read_line(&earlier[n_earlier], line, digits, null)) {
            fprintf(stderr, "knownfiles: line %zu of the earlier list: it is "
                    "not a hash of %zu digits, two blanks and a name: make the "
                    "list with sha1sum or the like\n", n_earlier + 1, digits);
            return 2;
        }
    }
    bool failed = ferror(file) != 0;
    fclose(file);
    if (n_earlier > 0)
        qsort(earlier, n_earlier, sizeof *earlier, by_both);
    return failed ? stop(name, strerror(errno)) : 0;
}

/* Returns whether the list has this name, but not with this hash. */
static bool changed(char *hash, char *path)
{
    const listed one = { hash, path };
    if (n_earlier == 0 ||
        bsearch(&one, earlier, n_earlier, sizeof one, by_path) == NULL)
        return false;
    atomic_store(&met, true);
    return bsearch(&one, earlier, n_earlier, sizeof one, by_both) == NULL;
}

#endif
