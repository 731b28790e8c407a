/* fuzz_names.c - any bytes as a list of files (--files0-from): the names
 * between NULs are read unchanged, or the list is refused for an empty name or
 * one that ends with a newline.
 */
#include "targets.h"

#include <string.h>

#include "bloomery/command.h"

static void names_silent(const char *line, size_t length)
{
    (void)line;
    (void)length;
}

static const char *names_same(const cli_operands *files, const uint8_t *bytes,
                              size_t n)
{
    const char *at = (const char *)bytes, *end = at + n;
    size_t i = 0;
    for (; at < end; i++) {
        size_t length = strnlen(at, (size_t)(end - at));
        if (i == files->count || strlen(files->names[i]) != length
            || memcmp(files->names[i], at, length) != 0)
            return "a name is read otherwise than it is written";
        at += length + 1;
    }
    return i == files->count ? NULL : "there are more names than were written";
}

/* Returns whether the list must be refused. */
static bool names_wrong(const uint8_t *bytes, size_t n)
{
    bool wrong = n == 0 || memchr(bytes, '\0', n) == NULL;
    for (size_t i = 0; i < n; i++)
        wrong |= bytes[i] == '\0' && (i == 0 || bytes[i - 1] == '\0');
    return wrong;
}

const char *fuzz_names(const uint8_t *bytes, size_t n)
{
    cli_inputs in = { .list = target_file(bytes, n) };
    cli_operands files = { .count = 0 };
    cli_how how = { .separator = -1 };
    const char *found = NULL;
    if (in.list == NULL)
        return NULL;
    report_to = names_silent;
    int status = inputs_take(&cmd_info, &in, &how, &files, 0);
    if (status == CLI_GO)
        found = names_same(&files, bytes, n);
    else if (!names_wrong(bytes, n))
        found = "a list of names is refused for no reason";
    inputs_end(&in, false);
    report_to = report_write;
    return found;
}
