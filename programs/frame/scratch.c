/* scratch.c - a file under another name until it is complete.
 *
 * It stands beside the one that it is to be, and takes its name in one step:
 * who looks finds all of the old one or all of the new one. An interrupt takes
 * it away. One at a time. Floor 8; includes frame.h only.
 */
#include "frame/frame.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The working file, while there is one. */
static char scratch_working[sizeof ((cli_scratch *)NULL)->work];

/* Only calls that are safe in a signal handler. */
static void scratch_interrupted(int number)
{
    unlink(scratch_working);
    signal(number, SIG_DFL);
    raise(number);
}

static const int scratch_signals[] = { SIGINT, SIGTERM, SIGHUP };
enum { SCRATCH_SIGNALS = sizeof scratch_signals / sizeof *scratch_signals };

/* Let them do this, unless they are to be ignored, as nohup wants it. */
static void scratch_upon_signals(void (*act)(int))
{
    for (size_t i = 0; i < SCRATCH_SIGNALS; i++)
        if (signal(scratch_signals[i], act) == SIG_IGN)
            signal(scratch_signals[i], SIG_IGN);
}

bool scratch_name(cli_scratch *s, const char *output)
{
    int length;

    if (realpath(output, s->path) == NULL
        && (errno != ENOENT || strlen(output) >= sizeof s->path))
        return false;
    if (access(output, F_OK) != 0)
        strcpy(s->path, output);
    length = snprintf(s->work, sizeof s->work, "%s.%ld.tmp", s->path,
                      (long)getpid());
    return length > 0 && (size_t)length < sizeof s->work;
}

void scratch_watch(const cli_scratch *s)
{
    strcpy(scratch_working, s->work);
    scratch_upon_signals(scratch_interrupted);
}

void scratch_drop(const cli_scratch *s)
{
    unlink(s->work);
    scratch_upon_signals(SIG_DFL);
}

bool scratch_keep(const cli_scratch *s)
{
    struct stat old;

    if ((stat(s->path, &old) == 0 && chmod(s->work, old.st_mode & 07777) != 0)
        || rename(s->work, s->path) != 0)
        return false;
    scratch_upon_signals(SIG_DFL);
    return true;
}
