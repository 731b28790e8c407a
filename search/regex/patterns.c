/* patterns.c - reads the patterns of a search: from the command line, and from
 * files. */
#include "search/regex/patterns.h"
#include "frame/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Adds the patterns of a text, which newlines separate. Returns false if memory
 * is short. */
static bool patterns_split(patterns *p, const char *text, size_t n)
{
    char *at = malloc(n + 1), *end = at + n;

    if (at == NULL)
        return false;
    memcpy(at, text, n);
    *end = '\0';
    if (!options_append(&p->texts, at)) {
        free(at);
        return false;
    }
    while (at <= end) {
        char *next = memchr(at, '\n', (size_t)(end - at));

        next = next != NULL ? next : end;
        *next = '\0';
        if (!options_append(&p->each, at))
            return false;
        at = next + 1;
    }
    return true;
}

/* Adds the patterns of a file. Its last newline ends a pattern, and does not
 * begin another. */
static int patterns_load(patterns *p, const char *path)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    cli_bytes text = { .from = 0 };
    bool loaded = fd >= 0 && bytes_load(&text, fd);
    int error = errno, status = CLI_GO;
    size_t n = text.to;

    if (fd > STDIN_FILENO)
        close(fd);
    if (!loaded)
        status = report_unread("read the patterns in",
                               is_stdin ? "standard input" : path, error);
    else if (n > 0 && memchr(text.data, '\0', n) != NULL)
        status = report_error("'%s' contains a NUL: give a file with one "
                              "pattern per line", path);
    else if (n > 0 && !patterns_split(p, (const char *)text.data,
                                      n - (text.data[n - 1] == '\n')))
        status = report_no_memory();
    bytes_free(&text);
    return status;
}

int patterns_read(patterns *p, const char *operand, const cli_operands *given,
                  const cli_operands *files)
{
    int status = CLI_GO;

    if (operand != NULL && !patterns_split(p, operand, strlen(operand)))
        return report_no_memory();
    for (size_t i = 0; i < given->count; i++) {
        const char *pattern = given->names[i];

        if (!patterns_split(p, pattern, strlen(pattern)))
            return report_no_memory();
    }
    for (size_t i = 0; status == CLI_GO && i < files->count; i++)
        status = patterns_load(p, files->names[i]);
    return status;
}

void patterns_free(patterns *p)
{
    free(p->each.names);
    for (size_t i = 0; i < p->texts.count; i++)
        free(p->texts.names[i]);
    free(p->texts.names);
}
