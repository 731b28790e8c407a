/* progress.c - the line that shows how far a long job is.
 *
 * Only where stderr is a terminal, only after a second, five times a second
 * at most; it is erased at the end and before every message. It is cut to the
 * terminal's width, for one that wraps cannot be erased. One job at a time, so
 * its state is one static; any thread may say something meanwhile.
 */
#include "frame/frame.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct {
    const char *what;
    uint64_t    total;
    double      start, shown;
    bool        active, visible;
} progress_state;

static pthread_mutex_t progress_lock = PTHREAD_MUTEX_INITIALIZER;

void progress_start(const char *what, uint64_t total_bytes, bool wanted)
{
    pthread_mutex_lock(&progress_lock);
    progress_state.what = what;
    progress_state.total = total_bytes;
    progress_state.start = report_clock();
    progress_state.shown = progress_state.start + 0.8;
    progress_state.visible = false;
    progress_state.active = wanted && isatty(STDERR_FILENO);
    pthread_mutex_unlock(&progress_lock);
}

bool progress_apart(void)
{
    return !isatty(STDOUT_FILENO);
}

static void progress_write(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        progress_state.active = false;
}

/* How many characters fit into a line of the terminal: the last column stays
 * free, for some terminals wrap as soon as it is written. */
static int progress_width(void)
{
    enum { USUAL = 80 };
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0
              && size.ws_col > 0;

    return (known ? size.ws_col : USUAL) - 1;
}

static void progress_line(const char *text)
{
    char line[256];

    snprintf(line, sizeof line, "\r%.*s\033[K", progress_width(), text);
    progress_write(line);
}

/* ", 42 %, 12 s to go"; nothing where that is not known. */
static void progress_ahead(char *text, size_t room, double share,
                           double seconds)
{
    if (!(share > 0 && share <= 1))
        text[0] = '\0';
    else
        snprintf(text, room, ", %.0f %%, %.0f s to go", 100 * share,
                 seconds * (1 - share) / share);
}

/* Is it time for another line? Then: seconds since the start. */
static bool progress_due(double *seconds)
{
    double now;

    if (!progress_state.active)
        return false;
    now = report_clock();
    if (now < progress_state.shown + 0.2)
        return false;
    *seconds = now - progress_state.start;
    progress_state.shown = now;
    progress_state.visible = true;
    return true;
}

static void progress_say(uint64_t keys, uint64_t bytes, double seconds)
{
    char line[200], ahead[64];

    progress_ahead(ahead, sizeof ahead, progress_state.total == 0 ? 0
                   : (double)bytes / (double)progress_state.total, seconds);
    snprintf(line, sizeof line, "%s: %s keys, %s%s",
             progress_state.what, report_count(keys).text,
             report_speed(report_per_second(keys, seconds)).text, ahead);
    progress_line(line);
}

void progress_at(uint64_t keys, uint64_t bytes)
{
    double seconds;

    pthread_mutex_lock(&progress_lock);
    if (progress_due(&seconds))
        progress_say(keys, bytes, seconds);
    pthread_mutex_unlock(&progress_lock);
}

static void progress_say_share(const char *part, double share, double seconds)
{
    char line[200], ahead[64];

    progress_ahead(ahead, sizeof ahead, share, seconds);
    snprintf(line, sizeof line, "%s: %s%s", progress_state.what, part, ahead);
    progress_line(line);
}

void progress_share(const char *part, double share)
{
    double seconds;

    pthread_mutex_lock(&progress_lock);
    if (progress_due(&seconds))
        progress_say_share(part, share, seconds);
    pthread_mutex_unlock(&progress_lock);
}

static void progress_take_away(void)
{
    if (progress_state.visible)
        progress_write("\r\033[K");
    progress_state.visible = false;
}

void progress_erase(void)
{
    pthread_mutex_lock(&progress_lock);
    progress_take_away();
    pthread_mutex_unlock(&progress_lock);
}

void progress_end(void)
{
    pthread_mutex_lock(&progress_lock);
    progress_take_away();
    progress_state.active = false;
    pthread_mutex_unlock(&progress_lock);
}
