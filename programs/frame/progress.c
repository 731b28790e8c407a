/* progress.c - the line that shows how far a command is.
 *
 * A command has one bar, and each phase of its work is a share of it. The bar
 * is shown only if stderr is a terminal, only after a second, and at most five
 * times a second. It is erased at the end and before every message. On a narrow
 * terminal the least important parts are left out, because a line that wraps
 * cannot be erased. Only one command runs at a time, so the state is one
 * static; any thread may report.
 */
#include "frame/progress.h"

#include "frame/report.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct {
    const char *what;
    unsigned    depth;              /* of progress_open and progress_start   */
    double      from, share;        /* of the present phase in the whole     */
    double      expected;           /* the next one's, of what is left then;
                                       0: all                                */
    uint64_t    total, done;        /* bytes of input in the phase; or 0     */
    double      start, begun;       /* of the command, and of the phase      */
    double      shown, best;        /* share of the whole: it never falls    */
    bool        active, visible;
} progress_state;

static pthread_mutex_t progress_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- The line ------------------------------------------------------------ */

bool progress_apart(void)
{
    return !isatty(STDOUT_FILENO);
}

static void progress_write(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        progress_state.active = false;
}

/* Returns how many characters fit into a line of the terminal. The last column
 * stays free, because some terminals wrap as soon as it is written. */
static size_t progress_width(void)
{
    enum { USUAL = 80 };
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0
              && size.ws_col > 0;

    return (known ? size.ws_col : USUAL) - 1;
}

enum { PROGRESS_LINE = 256, PROGRESS_PART = 64 };

/* Appends the part if it fits whole. */
static void progress_add(char line[PROGRESS_LINE], size_t width,
                         const char *part)
{
    size_t used = strlen(line), more = strlen(part);

    if (used + more <= width && used + more < PROGRESS_LINE)
        memcpy(line + used, part, more + 1);
}

/* Writes "812 MB". */
static void progress_size(char text[PROGRESS_PART], double bytes)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
    size_t unit = 0;

    for (; bytes >= 999.5 && unit < 4; unit++)
        bytes /= 1000;
    snprintf(text, PROGRESS_PART, "%.*f %s", unit > 0 && bytes < 99.5, bytes,
             units[unit]);
}

/* Writes ", 42 %" and ", 12 s left", if the total is known. */
static void progress_ahead(char line[PROGRESS_LINE], size_t width,
                           double whole, double seconds)
{
    char part[PROGRESS_PART];
    double left = whole > 0 ? seconds * (1 - whole) / whole : 0;

    if (!(whole > 0 && whole <= 1))
        return;
    snprintf(part, sizeof part, " %.0f %%", 100 * whole);
    progress_add(line, width, part);
    if (left < 1)
        snprintf(part, sizeof part, ", < 1 s left");
    else if (left < 99.5)
        snprintf(part, sizeof part, ", %.0f s left", left);
    else if (left < 5970)
        snprintf(part, sizeof part, ", %.0f min left", left / 60);
    else
        snprintf(part, sizeof part, ", %.1f h left", left / 3600);
    progress_add(line, width, part);
}

/* Writes ", 812 MB of 1.9 GB, 96 MB/s", in a first phase that reads input. */
static void progress_input(char line[PROGRESS_LINE], size_t width, double now)
{
    char done[PROGRESS_PART], total[PROGRESS_PART], part[2 * PROGRESS_PART + 8];
    double seconds = now - progress_state.begun;
    const char *comma = strchr(line, ' ') != NULL ? "," : "";

    progress_size(done, (double)progress_state.done);
    progress_size(total, (double)progress_state.total);
    if (progress_state.total > 0)
        snprintf(part, sizeof part, "%s %s of %s", comma, done, total);
    else
        snprintf(part, sizeof part, "%s %s", comma, done);
    progress_add(line, width, part);
    progress_size(done, seconds > 0 ? (double)progress_state.done / seconds
                                    : 0);
    snprintf(part, sizeof part, ", %s/s", done);
    progress_add(line, width, part);
}

static void progress_show(double within, double now)
{
    size_t width = progress_width();
    double whole = progress_state.from + progress_state.share * within;
    char line[PROGRESS_LINE] = "";

    if (whole > progress_state.best)
        progress_state.best = whole;
    progress_add(line, width, progress_state.what);
    progress_add(line, width, ":");
    progress_ahead(line, width, progress_state.best,
                   now - progress_state.start);
    if (progress_state.done > 0 && progress_state.from == 0)
        progress_input(line, width, now);
    progress_write("\r");
    progress_write(line);
    progress_write("\033[K");
}

/* Shows the line if it is due. `within` is the share of the phase that is done,
 * 0 to 1; 0 if it is unknown. */
static void progress_tell(double within)
{
    double now;

    if (!progress_state.active)
        return;
    now = report_clock();
    if (now < progress_state.shown + 0.2)
        return;
    progress_state.shown = now;
    progress_state.visible = true;
    progress_show(within, now);
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

/* ---- The command and its phases ------------------------------------------ */

void progress_open(const char *what, bool wanted)
{
    pthread_mutex_lock(&progress_lock);
    if (progress_state.depth++ == 0) {
        progress_state.what = what;
        progress_state.from = progress_state.share = 0;
        progress_state.expected = progress_state.best = 0;
        progress_state.start = report_clock();
        progress_state.shown = progress_state.start + 0.8;
        progress_state.visible = false;
        progress_state.active = wanted && isatty(STDERR_FILENO);
    }
    pthread_mutex_unlock(&progress_lock);
}

void progress_close(void)
{
    pthread_mutex_lock(&progress_lock);
    if (--progress_state.depth == 0) {
        progress_take_away();
        progress_state.active = false;
    }
    pthread_mutex_unlock(&progress_lock);
}

void progress_expect(double share)
{
    pthread_mutex_lock(&progress_lock);
    progress_state.expected = share;
    pthread_mutex_unlock(&progress_lock);
}

void progress_start(const char *what, uint64_t bytes, bool wanted)
{
    progress_open(what, wanted);
    pthread_mutex_lock(&progress_lock);
    progress_state.from += progress_state.share;
    progress_state.share = 1 - progress_state.from;
    if (progress_state.expected > 0)
        progress_state.share *= progress_state.expected;
    progress_state.expected = 0;
    progress_state.total = bytes;
    progress_state.done = 0;
    progress_state.begun = report_clock();
    pthread_mutex_unlock(&progress_lock);
}

void progress_at(uint64_t bytes)
{
    pthread_mutex_lock(&progress_lock);
    progress_state.done = bytes;
    double within = progress_state.total == 0 ? 0
                  : (double)bytes / (double)progress_state.total;
    progress_tell(within < 1 ? within : 1);
    pthread_mutex_unlock(&progress_lock);
}

void progress_share(double share)
{
    pthread_mutex_lock(&progress_lock);
    progress_tell(share);
    pthread_mutex_unlock(&progress_lock);
}

static int progress_report(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    if (total > 0)
        progress_share((double)done / (double)total);
    return 0;
}

const bly_progress *progress_library(void)
{
    static const bly_progress library = { progress_report, NULL };
    bool active;

    pthread_mutex_lock(&progress_lock);
    active = progress_state.active;
    pthread_mutex_unlock(&progress_lock);
    return active ? &library : NULL;
}
