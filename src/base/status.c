/* status.c - the texts of the statuses, and the last failure's own line.
 *
 * Floor 0.
 */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char status_line[STATUS_LINE];

bly_status status_fail(bly_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(status_line, sizeof status_line, format, arguments);
    va_end(arguments);
    for (char *c = status_line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';                   /* a file's name may hold anything */
    return status;
}

bly_status status_named(bly_status status, const char *name)
{
    char line[STATUS_LINE];
    memcpy(line, status_line, sizeof line);
    return status_fail(status, "%s: %s", name, line);
}

bly_status status_plain(bly_status status)
{
    return status_fail(status, "%s", bly_strerror(status));
}

status_kept status_keep(void)
{
    status_kept kept;
    memcpy(kept.text, status_line, sizeof kept.text);
    return kept;
}

void status_restore(const status_kept *kept)
{
    memcpy(status_line, kept->text, sizeof status_line);
}

const char *bly_why(void)
{
    return status_line;
}

const char *bly_strerror(bly_status status)
{
    switch ((int)status) {
#define STATUS_TEXT(name, value, text) case value: return text;
    BLY_STATUS_MAP(STATUS_TEXT)
#undef STATUS_TEXT
    default:
        return "unknown status";
    }
}
