/* status.c - the text of each status, and the last error's message. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local status_kept status_last;

static void status_write(const char *format, va_list arguments)
{
    vsnprintf(status_last.text, sizeof status_last.text, format, arguments);
    for (char *c = status_last.text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';                   /* file names may contain anything */
}

bly_status status_fail(bly_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    status_write(format, arguments);
    va_end(arguments);
    status_last.error = 0;
    return status;
}

bly_status status_system(bly_status status, int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    status_write(format, arguments);
    va_end(arguments);
    status_last.error = error;
    return status;
}

bly_status status_named(bly_status status, const char *name)
{
    status_kept before = status_last;
    return status_system(status, before.error, "%s: %s", name, before.text);
}

bly_status status_plain(bly_status status)
{
    return status_fail(status, "%s", bly_strerror(status));
}

status_kept status_keep(void)
{
    return status_last;
}

void status_restore(const status_kept *kept)
{
    status_last = *kept;
}

const char *bly_why(void)
{
    return status_last.text;
}

int bly_errno(void)
{
    return status_last.error;
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
