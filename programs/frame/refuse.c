/* refuse.c - reports why a file could not be read, and what to do about it. */
#include "frame/refuse.h"

#include "frame/inputs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int refuse_source(const char *path, int error)
{
    const codec *c;
    source_fault fault = source_fault_of(error, &c);
    const report_shown s = report_file(path);

    switch (fault) {
    case SOURCE_UNREAD:
        return report_error("%s%s%s is compressed by %s, which is not "
                            "supported here: use a pipe from %s", s.quote,
                            s.name, s.quote, c->name, c->by_hand);
    case SOURCE_DAMAGED:
        return report_error("%s%s%s is damaged: the data compressed by %s "
                            "cannot be decompressed: fetch it again", s.quote,
                            s.name, s.quote, c->name);
    case SOURCE_CUT:
        return report_error("%s%s%s is damaged: the data compressed by %s is "
                            "cut short: fetch it again", s.quote, s.name,
                            s.quote, c->name);
    case SOURCE_BEHIND:
        return report_error("%s%s%s is damaged: the data compressed by %s is "
                            "followed by other data: fetch it again, or use a "
                            "pipe from %s", s.quote, s.name, s.quote, c->name,
                            c->by_hand);
    case SOURCE_MEMORY:
        return report_error("out of memory: %s%s%s takes too much memory to "
                            "decompress: close other programs and try again",
                            s.quote, s.name, s.quote);
    case SOURCE_DIVIDED:
        return report_error("%s%s%s is compressed by %s, so ranks cannot "
                            "divide it: write the output of '%s' to a file "
                            "first", s.quote, s.name, s.quote, c->name,
                            c->by_hand);
    case SOURCE_LONG:
        return report_error("a line of %s%s%s does not fit in memory: is -0 "
                            "missing, or wrong?", s.quote, s.name, s.quote);
    case SOURCE_RETURNS:
        return report_error("lines of %s%s%s end with a CR alone, so ranks "
                            "cannot divide them: write the output of tr '\\r' "
                            "'\\n' to a file first", s.quote, s.name, s.quote);
    case SOURCE_WIDE:
        return report_error("%s%s%s is UTF-16 or UTF-32, not lines of bytes: "
                            "convert it with 'iconv -t UTF-8', or use --text "
                            "to take its bytes as they are", s.quote, s.name,
                            s.quote);
    case SOURCE_KNOWN:
        return report_error("%s%s%s is %s, not a file of keys: name the keys, "
                            "or use --text to read its bytes as lines", s.quote,
                            s.name, s.quote, report_program->own);
    default:
        return report_error("%s%s%s is not text, because it has NUL bytes: "
                            "name a file of lines, or use -0 for keys that end "
                            "with NUL, or --text to take its bytes as they are",
                            s.quote, s.name, s.quote);
    }
}

/* Reports a missing file. Keys that were meant for --key are a common cause. */
static int refuse_missing(const char *path)
{
    bool plain = strpbrk(path, " \t\n\"\\$&|;<>()*?[]#~`!{}") == NULL;
    const char *quote = plain ? "" : "'";

    return report_error("cannot read '%s': %s: check the name. To give a key "
                        "on the command line, use --key %s%s%s", path,
                        strerror(ENOENT), quote, path, quote);
}

int refuse_file(const char *path, int error)
{
    if (error < 0)
        return refuse_source(path, error);
    if (error == EISDIR && access(path, R_OK | X_OK) < 0)
        return report_unread("read the folder", path, errno);
    if (error == EISDIR)
        return report_error("'%s' is a folder: name the files of keys in it%s",
                            path, inputs_folders() ? ", or use -r" : "");
    if (error == ENOMEM)
        return report_no_memory();
    if (inputs_is_stdin(path))
        return report_error("cannot read standard input: %s: send the keys to "
                            "it, or name a file of keys", strerror(error));
    if (error == ENOENT && inputs_keys() && strchr(path, '\'') == NULL)
        return refuse_missing(path);
    return report_unread("read", path, error);
}

int refuse_chunk(const cli_chunk *c)
{
    return c->error == source_error(SOURCE_TOLD, NULL)
         ? report_error("%s", c->why) : refuse_file(c->path, c->error);
}

int refuse_later(cli_chunk *c, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(c->why, sizeof c->why, format, arguments);
    va_end(arguments);
    return source_error(SOURCE_TOLD, NULL);
}

cli_short_path refuse_path(const char *path)
{
    const report_shown s = report_file(path);
    cli_short_path told;

    snprintf(told.text, sizeof told.text, "%s%.250s%s", s.quote, s.name,
             s.quote);
    return told;
}
